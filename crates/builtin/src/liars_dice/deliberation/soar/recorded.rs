//! Agreement with decisions of the published agents that were recorded in Soar.

use super::process::bits;
use super::situation::Situation;
use super::{Generation, Published, Scratch};
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::{Action, LiarsDice, RuleSet, Target};
use crate::liars_dice::state::{Act, Bid, Phase, Said, State};
use adept_game::deliberation::Deliberation;
use adept_game::{Difference, Game, GameError, Recorded, limits};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Runs of an old agent in which a recorded outcome must come up.
const RUNS: u64 = 4000;

/// Compares an agent with the decisions in a CSV file. A row agrees if the agent proposes the same actions and they
/// fare the same: for the newer agents the values and what symbolic preferences leave, for the older
/// ones if every recorded run is a run that the agent can have.
///
/// # Errors
/// The file and line that cannot be read.
pub(in crate::liars_dice) fn agreement(agent: &Published, path: &Path) -> Result<Recorded, GameError> {
    let fault = |what: String| GameError(format!("{}: {what}", path.display()));
    let text = limits::read_list(path).map_err(|e| fault(e.to_string()))?;
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| fault(e.to_string()))?.clone();
    let mut recorded = Recorded::default();
    for record in reader.records() {
        let record = record.map_err(|e| fault(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let at = |why: String| fault(format!("line {line}, {why}"));
        let row: BTreeMap<&str, &str> = header.iter().zip(record.iter()).collect();
        let column = |name: &str| {
            row.get(name).copied().ok_or_else(|| at(format!("the column {name} is missing")))
        };
        let letters: String = agent.letters_text();
        let old = agent.generation == Generation::Old;
        let suffix = if old && !agent.letters.expects { "_old" } else { "" };
        let outcome = match column(&format!("{letters}{suffix}"))? {
            "=" => column(&format!("{}{suffix}", letters.replace('M', "")))?,
            outcome => outcome,
        };
        if outcome.is_empty() {
            continue;
        }
        let (game, state) = situation(&column).map_err(at)?;
        let cand = match row.get("cand_old").copied().filter(|text| old && !text.is_empty()) {
            Some(cand) => cand,
            None => column("cand")?,
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
fn situation<'a>(
    column: &impl Fn(&str) -> Result<&'a str, GameError>,
) -> Result<(LiarsDice, State), String> {
    let get = |name: &str| column(name).map_err(|e| e.to_string());
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
        number(text).filter(|p| usize::from(*p) < seats.len()).ok_or_else(|| format!("`{text}` is not a seat"))
    };
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
            seat.passed &= push.is_empty();
            Said::Bid { bid, push }
        };
        state.acts.push(Act { player: by, said });
    }
    state.special = get("special")? == "1";
    state.mover = player(get("me")?)?;
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
        let found = all.into_iter().find(|t| game.challenged(state, *t).is_ok_and(|act| act.player == target));
        return found.map(Action::Challenge).ok_or_else(|| format!("nothing to challenge of seat {target}"));
    }
    parse_bid(text)
        .map(|(bid, push)| Action::Bid { bid, push })
        .ok_or_else(|| format!("`{text}` is not an action"))
}

/// What the agent does otherwise, if it does.
fn compare(
    agent: &Published,
    game: &LiarsDice,
    state: &State,
    proposed: &[Action],
    outcome: &str,
) -> Result<Option<String>, String> {
    let situation = Situation::new(game, state, state.mover.into());
    let own = agent.proposals(&situation);
    let text = |actions: &[Action]| {
        actions.iter().map(|a| game.action_text(state, a)).collect::<Vec<_>>().join(" ")
    };
    // The record's place of each own proposal. One that is proposed several times stands as often in both.
    let mut free: Vec<bool> = vec![true; proposed.len()];
    let mut places = Vec::with_capacity(own.len());
    for action in &own {
        let place = (0..proposed.len()).find(|k| free[*k] && proposed[*k] == *action);
        let Some(place) = place else { return Ok(Some(format!("proposes {}", text(&own)))) };
        free[place] = false;
        places.push(place);
    }
    if own.len() != proposed.len() {
        return Ok(Some(format!("proposes {}", text(&own))));
    }
    if agent.generation == Generation::Old {
        return compare_runs(agent, &situation, &places, outcome);
    }
    let mut found = Deliberation::default();
    agent.weigh(&situation, &mut Scratch::default(), &mut found);
    let hangs = agent.letters.model && super::propose::never_evaluated(&situation, &own);
    if outcome == "stuck" {
        return Ok((!hangs).then(|| "decides".into()));
    }
    if agent.letters.heuristics {
        let left = (0..own.len()).filter(|i| found.candidates[*i].dropped.is_none());
        let left: BTreeSet<usize> = left.map(|i| places[i]).collect();
        let recorded = letters(outcome)?;
        return Ok((left != recorded).then(|| format!("leaves {}", letters_text(&left))));
    }
    let recorded: Vec<&str> = outcome.split(' ').collect();
    let mut differences = Vec::new();
    for (i, value) in agent.values(&situation).iter().enumerate() {
        let mut ours: Vec<i64> = value.iter().map(|p| (10_000.0 * p).round() as i64).collect();
        let theirs = recorded.get(places[i]).copied().unwrap_or("");
        let parsed: Option<Vec<i64>> = theirs.split('+').map(|v| v.parse().ok()).collect();
        let mut parsed = match parsed {
            Some(parsed) => parsed,
            // A single proposal is not evaluated.
            None if theirs == "?" && (own.len() == 1 || found.candidates[i].dropped.is_some()) => continue,
            None => return Err(format!("`{theirs}` is not a value")),
        };
        ours.sort_unstable();
        parsed.sort_unstable();
        let near = ours.len() == parsed.len() && ours.iter().zip(&parsed).all(|(a, b)| (a - b).abs() <= 1);
        if !near {
            let ours: Vec<String> = ours.iter().map(i64::to_string).collect();
            differences.push(format!("{} {}", game.action_text(state, &own[i]), ours.join("+")));
        }
    }
    Ok((!differences.is_empty()).then(|| differences.join(", ")))
}

/// An old agent: every recorded run must be possible.
fn compare_runs(
    agent: &Published,
    situation: &Situation<'_>,
    places: &[usize],
    outcome: &str,
) -> Result<Option<String>, String> {
    let mut rng = adept_game::stream(0, "recorded", 0);
    let mut scratch = Scratch::default();
    let mut ends: BTreeMap<BTreeSet<usize>, u64> = BTreeMap::new();
    let mut chosen = vec![0.0; places.len()];
    for _ in 0..RUNS {
        let left = agent.run(situation, &mut scratch, &mut rng);
        *ends.entry(bits(left).map(|i| places[i]).collect()).or_default() += 1;
        scratch.run.probabilities(left, &mut scratch.probabilities);
        scratch.probabilities.iter().enumerate().for_each(|(i, p)| chosen[places[i]] += p / RUNS as f64);
    }
    let all = || {
        let mut all: Vec<_> = ends.iter().collect();
        all.sort_by_key(|(_, n)| std::cmp::Reverse(**n));
        let text = all.iter().map(|(set, n)| {
            format!("{} {:.0} %", letters_text(set), 100.0 * **n as f64 / RUNS as f64)
        });
        text.collect::<Vec<_>>().join(", ")
    };
    if outcome == "stuck" {
        return Ok(None);
    }
    if !agent.letters.expects && !agent.letters.heuristics {
        return compare_values(agent, situation, places, outcome);
    }
    let ends_text = outcome.split('|').next_back().unwrap_or("").trim();
    if let Some(chances) = ends_text.strip_prefix('~') {
        // Unequal chances in per cent.
        let mut theirs = vec![0.0; places.len()];
        for part in chances.split(' ') {
            let (letter, percent) = part.split_at_checked(1).ok_or("an empty chance")?;
            let set = letters(letter)?;
            let value: f64 = percent.parse().map_err(|_| format!("`{part}` is not a chance"))?;
            for place in set {
                *theirs.get_mut(place).ok_or_else(|| format!("`{part}` is not an action"))? = value / 100.0;
            }
        }
        let far = theirs.iter().zip(&chosen).any(|(a, b)| (a - b).abs() > 0.02);
        let ours: Vec<String> = chosen
            .iter()
            .enumerate()
            .filter(|(_, p)| **p >= 0.005)
            .map(|(i, p)| format!("{}{:.0}", letters_text(&BTreeSet::from([i])), 100.0 * p))
            .collect();
        return Ok(far.then(|| ours.join(" ")));
    }
    for end in ends_text.split('/') {
        let set = letters(end.split('*').next().unwrap_or(end))?;
        if !ends.contains_key(&set) {
            return Ok(Some(all()));
        }
    }
    Ok(None)
}

/// The values of an old agent with P.
fn compare_values(
    agent: &Published,
    situation: &Situation<'_>,
    places: &[usize],
    outcome: &str,
) -> Result<Option<String>, String> {
    let recorded: Vec<&str> = outcome.split(' ').collect();
    let model = situation.model(agent.letters.model, Generation::Old);
    let mut differences = Vec::new();
    for (i, action) in agent.proposals(situation).iter().enumerate() {
        let ours = super::process::old_values(situation, agent.letters, action, model);
        let mut ours: Vec<i64> = ours.iter().map(|p| (10_000.0 * p).round() as i64).collect();
        let theirs = recorded.get(places[i]).copied().unwrap_or("");
        if theirs == "?" { continue; }
        let mut parsed: Vec<i64> = theirs.split('+').map(|v| v.parse().unwrap_or(-1)).collect();
        ours.sort_unstable();
        parsed.sort_unstable();
        let near = ours.len() == parsed.len() && ours.iter().zip(&parsed).all(|(a, b)| (a - b).abs() <= 1);
        if !near {
            differences.push(format!("{} {ours:?} for {theirs}", situation.game.action_text(situation.state, action)));
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
