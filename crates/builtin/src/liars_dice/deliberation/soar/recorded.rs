//! Compares the published agents with their decisions recorded in Soar.

use super::process::{self, bits};
use super::situation::Situation;
use super::values::Values;
use super::{Generation, Published, Scratch, propose};
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::{Action, LiarsDice, RuleSet, Target};
use crate::liars_dice::state::{Act, Bid, Phase, Said, State};
use adept_game::deliberation::Deliberation;
use adept_game::{Difference, Game, GameError, Recorded};
use adept_ground::limits;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Number of simulated runs that estimate an old agent's probabilities.
const RUNS: u64 = 1000;

/// Simulated outcomes below this frequency do not count as a match.
const RARE: f64 = 0.01;

/// Compares an agent with the decisions in a CSV file. A row agrees if the agent proposes the same actions with the
/// same outcome: for the newer agents, equal values and equal remaining actions; for the older ones, every recorded run
/// is a likely one.
///
/// # Errors
/// The file and line that cannot be read.
pub(super) fn agreement(agent: &Published, path: &Path) -> Result<Recorded, GameError> {
    let fault = |what: String| GameError::data(path, what);
    let text = limits::read_list(path).map_err(GameError::file(path))?;
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| fault(e.to_string()))?.clone();
    let mut recorded = Recorded::default();
    for record in reader.records() {
        let record = record.map_err(|e| fault(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let at = |why: String| fault(format!("line {line}, {why}"));
        let row: BTreeMap<&str, &str> = header.iter().zip(record.iter()).collect();
        let column =
            |name: &str| row.get(name).copied().ok_or_else(|| format!("the column {name} is missing"));
        let letters: String = agent.letters_text();
        let old = agent.generation == Generation::Old;
        let suffix = if old && !agent.letters.expects { "_old" } else { "" };
        let outcome = match column(&format!("{letters}{suffix}")).map_err(at)? {
            "=" => column(&format!("{}{suffix}", letters.replace('M', ""))).map_err(at)?,
            outcome => outcome,
        };
        if outcome.is_empty() {
            continue;
        }
        let (game, state) = situation(&column).map_err(at)?;
        let cand = match row.get("cand_old").copied().filter(|text| old && !text.is_empty()) {
            Some(cand) => cand,
            None => column("cand").map_err(at)?,
        };
        let proposed: Result<Vec<Action>, String> =
            cand.split(' ').map(|text| action(&game, &state, text)).collect();
        let proposed = proposed.map_err(|why| at(format!("column cand: {why}")))?;
        recorded.rows += 1;
        match compare(agent, &game, &state, &proposed, outcome).map_err(at)? {
            None => recorded.agree += 1,
            Some(chosen) => recorded.differences.push(Difference {
                line,
                position: game.position_text(&state),
                recorded: format!("{cand}: {outcome}"),
                chosen,
            }),
        }
    }
    if recorded.rows == 0 {
        return Err(fault(format!("has no decisions of {}", agent.name)));
    }
    recorded.share = recorded.agree as f64 / recorded.rows as f64;
    Ok(recorded)
}

/// The game and state of a row.
fn situation<'a>(column: &impl Fn(&str) -> Result<&'a str, String>) -> Result<(LiarsDice, State), String> {
    let get = column;
    let seats: Vec<&str> = get("seats")?.split(' ').collect();
    let game = LiarsDice::new(RuleSet::Soar, &vec![5; seats.len()], 6)?;
    let mut state = game.start();
    for (seat, text) in state.seats.iter_mut().zip(&seats) {
        let (cup, exposed) = text.split_once('/').ok_or_else(|| format!("column seats: `{text}`"))?;
        let parse = |text: &str| match text {
            "-" => Ok(Dice::default()),
            _ => Dice::parse(text, 6),
        };
        (seat.cup, seat.pushed) = (parse(cup)?, parse(exposed)?);
        seat.dice = seat.cup.total() + seat.pushed.total();
        if seat.cup.is_empty() || seat.dice > 5 {
            return Err(format!("column seats: `{text}` is not a hand of one to five dice"));
        }
    }
    let number = |text: &str| text.parse::<u8>().ok();
    let player = |text: &str| {
        number(text)
            .filter(|p| usize::from(*p) < seats.len())
            .ok_or_else(|| format!("`{text}` is not a seat"))
    };
    let dice = state.dice_in_play();
    let acts = get("acts")?;
    for text in acts.split(' ').filter(|text| *text != "-") {
        let fault = || format!("column acts: `{text}`");
        let (by, said) = text.split_once(':').ok_or_else(fault)?;
        let by = player(by)?;
        let seat = &mut state.seats[usize::from(by)];
        let said = if said == "pass" {
            seat.passed = true;
            Said::Pass { valid: seat.cup.with(&seat.pushed).uniform().is_some() }
        } else {
            let (bid, push) = parse_bid(said).ok_or_else(fault)?;
            if !(1..=dice).contains(&bid.count) {
                return Err(format!("column acts: `{text}` is not a bid of at most {dice} dice"));
            }
            seat.passed &= push.is_empty();
            Said::Bid { bid, push }
        };
        state.acts.push(Act { player: by, said });
    }
    state.special = match get("special")? {
        "1" => true,
        "0" => false,
        other => return Err(format!("column special: `{other}` is not 0 or 1")),
    };
    state.mover = player(get("me")?)?;
    if state.acts.last().is_some_and(|act| act.player == state.mover) {
        return Err("column me: the player of the last act is not to move".into());
    }
    state.seats[usize::from(state.mover)].exacted = get("exact")? != "1";
    state.phase = Phase::Act;
    Ok((game, state))
}

/// `3x4^14`: a bid and the dice pushed with it.
fn parse_bid(text: &str) -> Option<(Bid, Dice)> {
    let (bid, push) = text.split_once('^').unwrap_or((text, ""));
    let (count, face) = bid.split_once('x')?;
    let bid = Bid { count: count.parse().ok()?, face: face.parse().ok().filter(|f| (1..=6).contains(f))? };
    Some((bid, Dice::parse(push, 6).ok()?))
}

fn action(game: &LiarsDice, state: &State, text: &str) -> Result<Action, String> {
    match text {
        "pass" => return Ok(Action::Pass),
        "exact" => return Ok(Action::Exact),
        _ => {}
    }
    if let Some(target) = text.strip_prefix('c').and_then(|seat| seat.parse::<u8>().ok()) {
        let all = [Target::Bid, Target::Pass, Target::PassBefore];
        let found =
            all.into_iter().find(|t| game.challenged(state, *t).is_ok_and(|act| act.player == target));
        return found.map(Action::Challenge).ok_or_else(|| format!("nothing to challenge of seat {target}"));
    }
    parse_bid(text)
        .map(|(bid, push)| Action::Bid { bid, push })
        .ok_or_else(|| format!("`{text}` is not an action"))
}

/// Describes the agent's difference from a record, if any.
fn compare(
    agent: &Published,
    game: &LiarsDice,
    state: &State,
    proposed: &[Action],
    outcome: &str,
) -> Result<Option<String>, String> {
    let situation = Situation::new(game, state, state.mover.into());
    let own = agent.proposals(&situation);
    let text =
        |actions: &[Action]| actions.iter().map(|a| game.action_text(state, a)).collect::<Vec<_>>().join(" ");
    let Some(places) = places(&own, proposed) else {
        return Ok(Some(format!("proposes {}", text(&own))));
    };
    if agent.generation == Generation::Old {
        return compare_runs(agent, &situation, &places, outcome);
    }
    let mut found = Deliberation::default();
    agent.weigh(&situation, &mut Scratch::default(), &mut found);
    let hangs = agent.letters.model && propose::never_evaluated(&situation, &own);
    if outcome == "stuck" {
        return Ok((!hangs).then(|| "decides".into()));
    }
    if agent.letters.heuristics {
        let left = (0..own.len()).filter(|i| found.candidates[*i].dropped.is_none());
        let left: BTreeSet<usize> = left.map(|i| places[i]).collect();
        let recorded = letters(outcome)?;
        return Ok((left != recorded).then(|| format!("leaves {}", letters_text(&left))));
    }
    let values = agent.values(&situation);
    let evaluated = |i: usize| found.candidates[i].dropped.is_none().then(|| values[i]);
    different_values(&situation, &own, &places, outcome, evaluated)
}

/// Maps own proposals to the record's. None if they differ.
fn places(own: &[Action], proposed: &[Action]) -> Option<Vec<usize>> {
    if own.len() != proposed.len() {
        return None;
    }
    let mut free = vec![true; proposed.len()];
    let place = |action: &Action| {
        let place = (0..free.len()).find(|k| free[*k] && proposed[*k] == *action)?;
        free[place] = false;
        Some(place)
    };
    own.iter().map(place).collect()
}

/// Outcomes of an old agent's runs: how often each set of actions remained, and the probability of every action, by the
/// record's numbering.
struct Ends {
    left: BTreeMap<BTreeSet<usize>, u64>,
    chosen: Vec<f64>,
}

impl Ends {
    fn new(agent: &Published, situation: &Situation<'_>, places: &[usize]) -> Self {
        let mut rng = adept_game::stream(0, "recorded", 0);
        let mut scratch = Scratch::default();
        let mut ends = Self { left: BTreeMap::new(), chosen: vec![0.0; places.len()] };
        for _ in 0..RUNS {
            let left = agent.run(situation, &mut scratch, &mut rng);
            *ends.left.entry(bits(left).map(|i| places[i]).collect()).or_default() += 1;
            scratch.run.probabilities(left, &mut scratch.probabilities);
            for (place, p) in places.iter().zip(&scratch.probabilities) {
                ends.chosen[*place] += p / RUNS as f64;
            }
        }
        ends
    }

    fn share(&self, end: &BTreeSet<usize>) -> f64 {
        self.left.get(end).map_or(0.0, |n| *n as f64 / RUNS as f64)
    }
}

/// Parses recorded outcomes with their numbers of runs: `aefgi*3`, `a*2/j`.
fn recorded_ends(outcome: &str) -> Result<Vec<(BTreeSet<usize>, u32)>, String> {
    let ends = outcome.split('|').next_back().unwrap_or("").trim();
    let end = |text: &str| {
        let (set, runs) = text.split_once('*').unwrap_or((text, "1"));
        Ok((letters(set)?, runs.parse().map_err(|_| format!("`{text}` is not a number of runs"))?))
    };
    ends.split('/').map(end).collect()
}

/// Compares an old agent: every recorded run must be likely, and recorded probabilities must match those of its runs.
fn compare_runs(
    agent: &Published,
    situation: &Situation<'_>,
    places: &[usize],
    outcome: &str,
) -> Result<Option<String>, String> {
    if outcome == "stuck" {
        let hangs = agent.letters.model && propose::never_evaluated(situation, &agent.proposals(situation));
        return Ok((!hangs).then(|| "decides".into()));
    }
    if !agent.letters.expects && !agent.letters.heuristics {
        return compare_values(agent, situation, places, outcome);
    }
    let ends = Ends::new(agent, situation, places);
    if let Some(chances) = outcome.strip_prefix('~') {
        // Unequal probabilities in per cent.
        let mut theirs = vec![0.0; places.len()];
        for part in chances.split(' ') {
            let letter = part.trim_end_matches(|c: char| c.is_ascii_digit());
            let value: f64 = part[letter.len()..].parse().map_err(|_| format!("`{part}` is not a chance"))?;
            for place in letters(letter)? {
                *theirs.get_mut(place).ok_or_else(|| format!("`{part}` is not an action"))? = value / 100.0;
            }
        }
        let far = theirs.iter().zip(&ends.chosen).any(|(a, b)| (a - b).abs() > 0.02);
        let likely = ends.chosen.iter().enumerate().filter(|(_, p)| **p >= 0.005);
        let ours = likely.map(|(i, p)| format!("{}{:.0}", letters_text(&BTreeSet::from([i])), 100.0 * p));
        return Ok(far.then(|| ours.collect::<Vec<_>>().join(" ")));
    }
    if recorded_ends(outcome)?.iter().all(|(end, _)| ends.share(end) >= RARE) {
        return Ok(None);
    }
    let mut all: Vec<_> = ends.left.keys().map(|end| (ends.share(end), end)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let text = all.iter().map(|(share, end)| format!("{} {:.0} %", letters_text(end), 100.0 * share));
    Ok(Some(text.collect::<Vec<_>>().join(", ")))
}

/// The values of an old agent with P.
fn compare_values(
    agent: &Published,
    situation: &Situation<'_>,
    places: &[usize],
    outcome: &str,
) -> Result<Option<String>, String> {
    let model = situation.model(agent.letters.model, Generation::Old);
    let value = |action: &Action| process::old_values(situation, agent.letters, action, model);
    let own = agent.proposals(situation);
    different_values(situation, &own, places, outcome, |i| Some(value(&own[i])))
}

/// The actions whose values differ from the record, such as `4213 0 200+0`. `value` is none where the agent evaluates
/// nothing.
fn different_values(
    situation: &Situation<'_>,
    own: &[Action],
    places: &[usize],
    outcome: &str,
    value: impl Fn(usize) -> Option<Values>,
) -> Result<Option<String>, String> {
    let recorded: Vec<&str> = outcome.split(' ').collect();
    let mut differences = Vec::new();
    for (i, action) in own.iter().enumerate() {
        let theirs = recorded.get(places[i]).copied().unwrap_or("");
        if theirs == "?" {
            continue;
        }
        let parsed: Option<Vec<i64>> = theirs.split('+').map(|v| v.parse().ok()).collect();
        let mut parsed = parsed.ok_or_else(|| format!("`{theirs}` is not a value"))?;
        let ours = value(i).unwrap_or_default();
        let mut ours: Vec<i64> = ours.iter().map(|p| (10_000.0 * p).round() as i64).collect();
        ours.sort_unstable();
        parsed.sort_unstable();
        if ours.len() != parsed.len() || ours.iter().zip(&parsed).any(|(a, b)| (a - b).abs() > 1) {
            let ours: Vec<String> = ours.iter().map(i64::to_string).collect();
            let name = situation.game.action_text(situation.state, action);
            differences.push(format!("{name} {}", ours.join("+")));
        }
    }
    Ok((!differences.is_empty()).then(|| differences.join(", ")))
}

const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

fn letters(text: &str) -> Result<BTreeSet<usize>, String> {
    let place = |c: char| ALPHABET.find(c).ok_or_else(|| format!("`{text}` are not letters"));
    text.trim().chars().map(place).collect()
}

fn letters_text(set: &BTreeSet<usize>) -> String {
    set.iter().filter_map(|i| ALPHABET.chars().nth(*i)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::Letters;
    use super::*;

    const FILE: &str = include_str!("../../../../../../datasets/soar-dice-decisions.csv");

    /// Checks for outcomes that the original never has: they would be missing from the record.
    #[test]
    fn the_likeliest_end_of_a_run_is_recorded_as_often_as_it_should_be() {
        for name in ["E", "EM", "EH", "EMH"] {
            let agent = Published::new(name, Generation::Old, Letters::parse(name).unwrap());
            let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(FILE.as_bytes());
            let header = reader.headers().unwrap().clone();
            let (mut excess, mut variance) = (0.0, 0.0);
            for record in reader.records().map(Result::unwrap) {
                let row: BTreeMap<&str, &str> = header.iter().zip(record.iter()).collect();
                let column = |name: &str| Ok(row[name]);
                let (game, state) = situation(&column).unwrap();
                let found = Situation::new(&game, &state, state.mover.into());
                let cand = if row["cand_old"].is_empty() { row["cand"] } else { row["cand_old"] };
                let proposed: Vec<Action> =
                    cand.split(' ').map(|text| action(&game, &state, text).unwrap()).collect();
                let places = places(&agent.proposals(&found), &proposed).unwrap();
                let ends = Ends::new(&agent, &found, &places);
                let (end, p) = ends
                    .left
                    .keys()
                    .map(|end| (end, ends.share(end)))
                    .max_by(|a, b| a.1.total_cmp(&b.1))
                    .unwrap();
                for (recorded, runs) in recorded_ends(row[name]).unwrap() {
                    excess += f64::from(runs) * (f64::from(u8::from(recorded == *end)) - p);
                    variance += f64::from(runs) * p * (1.0 - p);
                }
            }
            let z = excess / variance.sqrt();
            assert!(z.abs() < 4.0, "{name}: {z:.1} standard deviations");
        }
    }
}
