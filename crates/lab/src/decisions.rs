//! A benchmark of decisions: positions from games with the rollout equities of their moves, and the losses of agents on
//! them.
//!
//! The file is a table with a line for each move that was rolled out, the best by the agent's values first, with the
//! decision's number, kind and position. Lines that begin with `#` record how it was made.

use crate::farm::pool_of;
use crate::review::{Candidate as Reviewed, Worst};
use crate::{own_games, rollouts};
use adept_arena::matches::Net;
use adept_arena::review::KINDS;
use adept_arena::rollout::{Options, Sums, roll_out, viewer};
use adept_arena::{Agent, Decision, Luck, OpenError, Scratch, naming};
use adept_erased::erased;
use adept_game::sheet::Sheet;
use adept_game::{Game, GameError, Kit, Turn, number_of, stream};
use adept_ground::files::Files;
use adept_ground::jobs;
use adept_ground::{limits, work};
use adept_model::ModelError;
use adept_trainer::run::{Cancel, TrainError};
use rand::RngExt;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Options for building a benchmark.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// The agent that plays the games and the rollouts: a checkpoint, a search, or a valuation.
    pub agent: String,
    /// Whether to use the best checkpoint of a run instead of the latest.
    pub best: bool,
    /// Number of decisions of each kind.
    pub count: usize,
    /// Largest number of games that are played to find them.
    pub games: u64,
    /// Largest number of moves of a decision that are rolled out.
    pub moves: usize,
    /// Largest difference between the two best moves by the agent's values, in the unit of the game; clearer decisions
    /// are skipped.
    pub gap: f64,
    /// Number of games per rollout.
    pub trials: u64,
    /// Number of moves after which rollouts are truncated; none to play to the end.
    pub truncate: Option<u32>,
    /// Seed of games and dice.
    pub seed: u64,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
    /// A file of decisions whose moves are rolled out, in place of decisions of games.
    pub from: Option<PathBuf>,
    /// The file.
    pub out: PathBuf,
    /// Whether to resume this file.
    pub resume: bool,
}

/// Result of building a benchmark.
#[derive(Clone, Debug, Serialize)]
pub struct Built {
    /// The file.
    pub path: PathBuf,
    /// Number of decisions in the file, by kind.
    pub kinds: BTreeMap<String, usize>,
    /// Kinds with fewer decisions than requested.
    pub short: Vec<String>,
    /// Whether all decisions are present.
    pub finished: bool,
}

/// Losses of an agent on decisions of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct Lost {
    /// The kind; `all` for all.
    pub kind: String,
    /// Number of decisions.
    pub decisions: u64,
    /// Mean loss per decision, in the unit of the game.
    pub loss: f64,
    /// Its 95 % interval, over decisions; none for a single one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Share of decisions in which the agent does not choose the best move.
    pub wrong: f64,
}

/// The losses of an agent.
#[derive(Clone, Debug, Serialize)]
pub struct Graded {
    /// The agent.
    pub agent: String,
    /// By kind, and of all decisions.
    pub kinds: Vec<Lost>,
    /// The unit, such as points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
}

/// The kind of all decisions in games without classes.
const ANY: &str = "any";

/// The kinds of decisions: the named classes of positions, or a single one.
fn kinds_of<G: Kit>(game: &G) -> &'static [&'static str] {
    match game.positions().class_names {
        [] => &[ANY],
        names => names,
    }
}

/// The size of the game's unit on the scale of values, [−1, 1].
pub(crate) fn size<G: Game>(game: &G) -> f64 {
    game.scale() / game.counting().unit().map_or(1.0, |unit| unit.size)
}

/// A decision with its candidate moves, best first.
struct Candidate<G: Game> {
    kind: Cow<'static, str>,
    state: G::State,
    actions: Vec<G::Action>,
}

/// Plays games of the agent against itself until there are enough decisions of each kind that the game has, or the
/// games are used up. A game contributes at most one decision of a kind.
fn found<G: Kit>(game: &G, options: &BuildOptions, cancel: &Cancel) -> Result<Vec<Candidate<G>>, TrainError> {
    let mut values = own_games::evaluator(game, &options.agent, options.best)?;
    let what = "playing games for decisions";
    let (kinds, class) = (kinds_of(game), game.positions().class);
    let mut by_kind: BTreeMap<&'static str, Vec<Candidate<G>>> = BTreeMap::new();
    for number in 0..options.games {
        if cancel.requested() {
            break;
        }
        work::share(what, number as f64 / options.games as f64);
        let mut rng = stream(options.seed, "games for decisions", number);
        // Reservoir sampling of one decision per kind: the number so far, and the kept one.
        let mut here: BTreeMap<&'static str, (u32, Candidate<G>)> = BTreeMap::new();
        let stop = || cancel.requested();
        own_games::play(game, &mut *values, game.start(), &mut rng, true, &stop, |met, _, rng| {
            let own_games::SelfPlayDecision { state, actions, values, order, .. } = met;
            let gap = |second: usize| f64::from(values[order[0]] - values[second]) * size(game);
            if order.get(1).is_some_and(|&second| gap(second) <= options.gap) {
                let kind = kinds.get(class(state) as usize).copied().unwrap_or(ANY);
                let seen = here.get(kind).map_or(0, |(seen, _)| *seen) + 1;
                if rng.random_range(0..seen) == 0 {
                    let actions = order.iter().take(options.moves).map(|&i| actions[i].clone()).collect();
                    let kept = Candidate { kind: kind.into(), state: state.clone(), actions };
                    here.insert(kind, (seen, kept));
                } else if let Some((count, _)) = here.get_mut(kind) {
                    *count = seen;
                }
            }
            Ok(Some(own_games::mostly_best(order, rng)))
        })?;
        for (kind, (_, candidate)) in here {
            let all = by_kind.entry(kind).or_default();
            if all.len() < options.count {
                all.push(candidate);
            }
        }
        let is_full = |kind: &&'static str| by_kind.get(kind).is_some_and(|all| all.len() == options.count);
        if kinds.iter().all(is_full) {
            break;
        }
    }
    work::share(what, 1.0);
    Ok(by_kind.into_values().flatten().collect())
}

/// The names of the columns.
const COLUMNS: [&str; 6] = ["decision", "kind", "position", "move", "equity", "error"];

/// Benchmarks of decisions of a game.
#[erased(pub trait DecisionOps)]
impl<G: Kit> DecisionOps for G {
    /// Builds or resumes a benchmark. It is written after every decision.
    ///
    /// # Errors
    /// If the agent has no values, the game hides information or is not zero-sum, or the file belongs to another benchmark
    /// or cannot be written.
    fn build_decisions(&self, options: &BuildOptions, cancel: &Cancel) -> Result<Built, TrainError> {
        let agent = naming::resolve(self, &options.agent, &[])?;
        let open = || Luck::open(self, &agent, options.best);
        open()?;
        let named = options.from.as_deref().map(|path| read(self, path)).transpose()?;
        let checksum = rollouts::checksum_of(&agent, options.best)?;
        let head = head_of(self, options, named.as_deref(), checksum);
        let begun = begin(options, &head)?;
        // A file has the kinds that it has.
        let wanted = if named.is_some() { &[] } else { kinds_of(self) };
        let all = match named {
            Some(named) => named.into_iter().map(Candidate::from).collect(),
            None => found(self, options, cancel)?,
        };
        let pool = pool_of(options.threads)?;
        let how = Options { trials: options.trials, truncate: options.truncate, seed: options.seed };
        let stop = || cancel.requested();
        let row = |number: usize, place: usize| -> Result<Option<String>, TrainError> {
            let Candidate { state, actions, .. } = &all[number];
            let (player, mut after) = (viewer(self, state).unwrap_or(0), state.clone());
            self.apply(&mut after, &actions[place]);
            let (equity, error) = match viewer(self, &after) {
                None => (self.utility(&after, player) / self.scale(), 0.0),
                Some(next) => {
                    let mut report = |_: &Sums| Ok(());
                    let sums = pool.install(|| {
                        roll_out(self, &open, (&after, next), &how, Sums::default(), &stop, &mut report)
                    })?;
                    if sums.equity.deals < options.trials {
                        return Ok(None);
                    }
                    let mean = sums.equity.mean();
                    (if next == player { mean } else { -mean }, sums.equity.error())
                }
            };
            let (position, play) = (self.position_text(state), self.action_text(state, &actions[place]));
            let (equity, error) = (equity * size(self), error * size(self));
            Ok(Some(format!("{},{},{equity:.5},{error:.5}", quoted(&position), quoted(&play))))
        };
        let moves: Vec<_> = all.iter().map(|candidate| (&*candidate.kind, candidate.actions.len())).collect();
        build(options, wanted, begun, &moves, !cancel.requested(), &row)
    }

    /// Measures an agent's losses on a benchmark, against the best of the moves that were rolled out. A move that was not
    /// rolled out counts as the worst of them. `seed` seeds agents with random play. `threads` is the number of threads, 0
    /// for all cores.
    ///
    /// # Errors
    /// A fault of the file, or an agent that is not available.
    fn grade_decisions(
        &self,
        path: &Path,
        agent: &str,
        seed: u64,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<Graded, TrainError> {
        let questions = read(self, path)?;
        let resolved = naming::resolve(self, agent, &[])?;
        let what = format!("asking {agent}");
        let lost = |(number, question): (usize, &Question<G>),
                    by: &mut Box<dyn Agent<G>>|
         -> Result<(f64, bool), GameError> {
            let Turn::Player(player) = self.turn(&question.state) else { return Ok((0.0, false)) };
            let mut rng = stream(seed, "agent in decisions", number as u64);
            let at = Decision::new(self, &question.state, player);
            let chosen = by.choose(at, &mut Scratch::default(), &mut rng)?;
            let best = question.moves.iter().map(|(_, equity)| *equity).fold(f64::NEG_INFINITY, f64::max);
            let worst = question.moves.iter().map(|(_, equity)| *equity).fold(f64::INFINITY, f64::min);
            let found = question.moves.iter().find(|(action, _)| *action == chosen);
            let equity = found.map_or(worst, |(_, equity)| *equity);
            Ok((best - equity, best > equity))
        };
        // External programs answer one question at a time.
        let mut losses = Vec::with_capacity(questions.len());
        let single = resolved.meaning == adept_arena::Meaning::Peer;
        let pool = pool_of(threads)?;
        let chunk = if single { 1 } else { CHUNK * pool.current_num_threads() };
        let mut first = single.then(|| naming::build(self, &resolved, false)).transpose()?;
        for (block, part) in questions.chunks(chunk).enumerate() {
            if cancel.requested() {
                let message = "stopped before all decisions were graded".into();
                return Err(TrainError::Interrupted { path: path.into(), message });
            }
            work::share(&what, (block * chunk) as f64 / questions.len() as f64);
            let numbered = part.iter().enumerate().map(|(i, question)| (block * chunk + i, question));
            match &mut first {
                Some(agent) => {
                    for item in numbered {
                        losses.push(lost(item, agent).map_err(OpenError::from)?);
                    }
                }
                None => {
                    let numbered: Vec<_> = numbered.collect();
                    // Searching agents keep a cache, so each chunk has its own agent instance, whatever the number of
                    // threads.
                    let of_chunk = |chunk: &[(usize, &Question<G>)]| -> Result<Vec<(f64, bool)>, OpenError> {
                        let mut agent = naming::build(self, &resolved, false)?;
                        chunk.iter().map(|item| Ok(lost(*item, &mut agent)?)).collect()
                    };
                    let found = jobs::all(Some(&pool), numbered.chunks(CHUNK), &of_chunk);
                    for losses_of_chunk in found {
                        losses.extend(losses_of_chunk?);
                    }
                }
            }
        }
        work::share(&what, 1.0);
        let kinds: Vec<&str> = questions.iter().map(|question| &*question.kind).collect();
        let unit = self.counting().unit().map(|unit| unit.name);
        Ok(Graded { agent: agent.into(), kinds: by_kind(&kinds, &losses), unit })
    }
}

/// Adds what decisions lost, and whether their moves were wrong: of each kind, and the total last.
fn by_kind(kinds: &[&str], losses: &[(f64, bool)]) -> Vec<Lost> {
    let mut nets: BTreeMap<&str, (Net, u64)> = BTreeMap::new();
    for (kind, &(loss, wrong)) in kinds.iter().zip(losses) {
        for kind in [*kind, ""] {
            let (net, count) = nets.entry(kind).or_default();
            net.add(loss);
            *count += u64::from(wrong);
        }
    }
    let (all, kinds): (Vec<_>, Vec<_>) = nets.into_iter().partition(|(kind, _)| kind.is_empty());
    let lost = |(kind, (net, wrong)): (&str, (Net, u64))| Lost {
        kind: if kind.is_empty() { "all" } else { kind }.into(),
        decisions: net.deals,
        loss: net.mean(),
        ci95: (net.deals > 1).then(|| net.ci95()),
        wrong: wrong as f64 / net.deals as f64,
    };
    kinds.into_iter().chain(all).map(lost).collect()
}

/// Builds a benchmark of decisions of these kinds, each with its number of moves. It has the text of those that are `done`.
/// `row` rolls out a move of a decision, none if it was stopped: the columns after the kind.
fn build(
    options: &BuildOptions,
    wanted: &[&str],
    (mut text, done): (String, usize),
    all: &[(&str, usize)],
    mut finished: bool,
    row: &dyn Fn(usize, usize) -> Result<Option<String>, TrainError>,
) -> Result<Built, TrainError> {
    let what = format!("rolling out {} decisions", all.len());
    work::share(&what, 0.0);
    let (mut kinds, files) = (BTreeMap::new(), Files::default());
    for (number, &(kind, moves)) in all.iter().enumerate() {
        if number >= done {
            let mut lines = String::new();
            for place in 0..moves {
                let Some(row) = finished.then(|| row(number, place)).transpose()?.flatten() else {
                    finished = false;
                    break;
                };
                let _ = writeln!(lines, "{},{},{row}", number + 1, quoted(kind));
                work::share(&what, (number as f64 + place as f64 / moves as f64) / all.len() as f64);
            }
            if !finished {
                break;
            }
            text.push_str(&lines);
            files.replace(&options.out, text.as_bytes()).map_err(ModelError::from)?;
        }
        *kinds.entry(kind.to_string()).or_default() += 1;
    }
    work::share(&what, 1.0);
    files.replace(&options.out, text.as_bytes()).map_err(ModelError::from)?;
    let is_short = |kind: &&&str| kinds.get(**kind).is_none_or(|&found| found < options.count);
    let short = wanted.iter().filter(is_short).map(|kind| (*kind).to_string()).collect();
    Ok(Built { path: options.out.clone(), kinds, short, finished })
}

/// Quotes a CSV field if necessary.
pub(crate) fn quoted(text: &str) -> Cow<'_, str> {
    match text.contains([',', '"']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")).into(),
        false => text.into(),
    }
}

/// Header that records how a benchmark was made; it must match to resume.
fn head_of<G: Kit>(
    game: &G,
    options: &BuildOptions,
    named: Option<&[Question<G>]>,
    checksum: Option<String>,
) -> String {
    let BuildOptions { agent, count, games, moves, gap, trials, seed, .. } = options;
    let cut = options
        .truncate
        .map_or_else(|| "played to the end".into(), |plies| format!("cut off after {plies} moves"));
    let checkpoint = checksum.map_or_else(String::new, |sum| format!("# The checkpoint is {sum}.\n"));
    let unit = game.counting().unit().map_or_else(String::new, |unit| format!(" {}", unit.name));
    let source = match named {
        Some(all) => {
            format!("The {} decisions of a file, with the number {:016x}.", all.len(), number_of_all(all))
        }
        None => format!(
            "Of at most {games} games of that agent, up to {count} of each kind; the {moves} best moves, the best two within {gap}{unit}."
        ),
    };
    format!(
        "# Decisions of {} by rollouts of {agent}: {trials} games each, {cut}, seed {seed}.\n\
         # {source}\n\
         {checkpoint}# The equity is that of the player to move, with the standard error of the rollout.\n{}\n",
        game.name(),
        COLUMNS.join(",")
    )
}

/// The text of the file so far, and its number of complete decisions.
fn begin(options: &BuildOptions, head: &str) -> Result<(String, usize), TrainError> {
    let out = &options.out;
    let refuse = |message: &str| Err(TrainError::Folder { path: out.clone(), message: message.into() });
    Files::default().try_file(out)?;
    let text = match limits::read(out, limits::RECORD_BYTES) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok((head.into(), 0)),
        Err(source) => return Err(ModelError::io(out)(source).into()),
    };
    if !options.resume {
        return refuse("exists: continue it with --resume, or name another file");
    }
    let Some(rows) = text.strip_prefix(head) else {
        return refuse("holds other decisions, or was made with other options: name another file");
    };
    let last = rows.lines().last().and_then(|line| line.split(',').next()?.parse().ok());
    Ok((text.clone(), last.unwrap_or(0)))
}

/// A decision of a benchmark.
struct Question<G: Game> {
    kind: String,
    state: G::State,
    /// The moves that were rolled out, with their equities.
    moves: Vec<(G::Action, f64)>,
}

impl<G: Game> From<Question<G>> for Candidate<G> {
    fn from(Question { kind, state, moves }: Question<G>) -> Self {
        Self { kind: kind.into(), state, actions: moves.into_iter().map(|(action, _)| action).collect() }
    }
}

/// A hash of the states and moves of decisions, the same in every process.
fn number_of_all<G: Game>(all: &[Question<G>]) -> u64 {
    let moves = |question: &Question<G>| question.moves.iter().map(|(action, _)| action.clone()).collect();
    let all: Vec<(G::State, Vec<G::Action>)> =
        all.iter().map(|question| (question.state.clone(), moves(question))).collect();
    number_of(&all)
}

/// The worst decisions of a review in the format of a benchmark, with the equities of the judge, in the unit of the review. All are of one
/// rule set. `by` names the judge.
pub fn worst_decisions(worst: &[&Worst], by: &str, unit: Option<&str>) -> String {
    let rules = worst.first().map_or("", |first| &*first.rules);
    let unit = unit.map_or_else(String::new, |unit| format!(" in {unit}"));
    let mut text = format!(
        "# Decisions of {rules} that lost most, by a review by {by}.\n\
         # The equity{unit} is that of the player to move, with its standard error, 0 without samples.\n{}\n",
        COLUMNS.join(",")
    );
    for (number, one) in worst.iter().enumerate() {
        let kind = if one.decision == KINDS[0] { &*one.class } else { one.decision };
        for Reviewed { action, equity, error, .. } in &one.candidates {
            let (number, kind) = (number + 1, quoted(kind));
            let (position, play) = (quoted(&one.position), quoted(action));
            let _ = writeln!(text, "{number},{kind},{position},{play},{equity:.5},{error:.5}");
        }
    }
    text
}

/// The rule set that the first line of a file by [`worst_decisions`] names.
fn rules_of(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix("# Decisions of ")?.split(' ').next()
}

/// Reads a benchmark.
fn read<G: Kit>(game: &G, path: &Path) -> Result<Vec<Question<G>>, GameError> {
    let text = limits::read_list(path).map_err(GameError::file(path))?;
    read_rows(game, &Sheet::parse(path, &text)).map_err(|why| match rules_of(&text) {
        Some(rules) if rules != game.name() => {
            GameError::new(format!("{why}; these are decisions of {rules}: add `--game {rules}`"))
        }
        _ => why,
    })
}

fn read_rows<G: Kit>(game: &G, sheet: &Sheet) -> Result<Vec<Question<G>>, GameError> {
    let mut columns = Vec::with_capacity(5);
    for name in &COLUMNS[..5] {
        let column = sheet.column(&[name])?;
        columns.push(column.ok_or_else(|| {
            sheet
                .fault(&format!("has no column `{name}`: it is not a benchmark that `decisions build` wrote"))
        })?);
    }
    let (mut all, mut last): (Vec<Question<G>>, String) = (Vec::new(), String::new());
    let mut legal = Vec::new();
    for row in sheet.rows() {
        let row = row?;
        let [decision, kind, position, play, equity] = [0, 1, 2, 3, 4].map(|i| columns[i]);
        if row.text(decision) != last {
            last = row.text(decision).to_string();
            let (state, _) = game
                .parse_position(row.text(position))
                .map_err(|e| row.fault_at(position, &e.to_string()))?;
            if !matches!(game.turn(&state), Turn::Player(_)) {
                return Err(row.fault_at(position, "is not a position in which a player is to move"));
            }
            all.push(Question { kind: row.text(kind).into(), state, moves: Vec::new() });
        }
        let Some(question) = all.last_mut() else { continue };
        game.actions(&question.state, &mut legal);
        let action = legal.iter().find(|action| game.action_text(&question.state, action) == row.text(play));
        let action = action.ok_or_else(|| row.fault_at(play, "is not a legal move of this position"))?;
        let equity = row
            .number(equity)
            .filter(|equity| equity.is_finite())
            .ok_or_else(|| row.fault_at(equity, "is not a number"))?;
        question.moves.push((action.clone(), equity));
    }
    match all.is_empty() {
        true => Err(sheet.fault("has no decisions")),
        false => Ok(all),
    }
}

/// Number of consecutive decisions that the same agent instance is asked.
const CHUNK: usize = 16;
