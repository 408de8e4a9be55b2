//! Labelled positions from self-play of an agent, with its own values, with those of looking one ply ahead, or with rollouts.
//!
//! The file is a table for supervised learning, or, if its name ends in `.labels`, [binary](adept_trainer::label_file). Lines that begin
//! with `#` record how it was made and the number of games so far. It is named `FILE.part` until it is complete.

use crate::decisions::quoted;
use crate::farm::pool_of;
use crate::{own_games, rollouts};
use adept_arena::rollout::{Options, roll_out, viewer};
use adept_arena::{Decision, Evaluator, GameModel, Luck, OpenError, Resolved, Screen, Successors, naming};
use adept_erased::erased;
use adept_game::sheet::VALUE;
use adept_game::{Kit, OutcomeClass, Stream, Turn, stream};
use adept_ground::files::Files;
use adept_ground::jobs;
use adept_ground::order::highest_first;
use adept_ground::{limits, work};
use adept_model::{ModelError, checkpoint};
use adept_trainer::label_file::{self, LabelFile, LabelledRow};
use adept_trainer::positions::{Part, Positions};
use adept_trainer::run::{Cancel, TrainError};
use rand::RngExt;
use rand::seq::SliceRandom;
use serde::Serialize;
use std::fmt::Write;
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Options for labelling positions.
#[derive(Clone, Debug)]
pub struct LabelOptions {
    /// The agent that plays the games and labels positions: a checkpoint, a search, or a valuation.
    pub agent: String,
    /// Whether to use the best checkpoint of a run instead of the latest.
    pub best: bool,
    /// Smallest number of rows: the last game is played to its end.
    pub count: u64,
    /// Number of labelled moves per decision: the one that is played, and others drawn from the rest.
    pub moves: usize,
    /// Starting positions: distributions of the game, or `rules`, each as often as its weight, `NAME=WEIGHT`, says. Empty for the rules
    /// alone.
    pub starts: Vec<String>,
    /// Whether labels are what the agent's network sees one ply ahead: the mean over all outcomes of chance after the best replies.
    pub one_ply: bool,
    /// Share of the rows, below 1, from games that begin where the network and its look ahead disagree; only with `one_ply`.
    pub hard: f64,
    /// Number of games per rollout of a position; none for the agent's own value.
    pub trials: Option<u64>,
    /// Number of moves after which rollouts are truncated; none to play to the end.
    pub truncate: Option<u32>,
    /// Seed of games and dice.
    pub seed: u64,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
    /// The file.
    pub out: PathBuf,
    /// Whether to resume this file.
    pub resume: bool,
}

/// The name of the regular start of the game in [`LabelOptions::starts`].
pub(crate) const RULES: &str = "rules";

/// Result of labelling.
#[derive(Clone, Debug, Serialize)]
pub struct Labelled {
    /// The file; `FILE.part` while it is incomplete.
    pub path: PathBuf,
    /// Number of rows.
    pub rows: u64,
    /// Number of games.
    pub games: u64,
    /// Whether all rows are present.
    pub finished: bool,
}

/// Games per task, which one evaluator plays.
const GAMES: u64 = 8;

/// Number of consecutive games without a row after which labelling gives up.
const FRUITLESS: u64 = 4096;

/// Interval of progress reports and of writing the file.
const ROUND: Duration = Duration::from_secs(4);

/// Longest branch that begins where the network and its look ahead disagree.
const BRANCH: usize = 8;

/// Most moves of a game whose positions are valued one ply ahead.
const MOVES: usize = 10_000;

/// State of labelling positions.
struct Labels<'a, G: Kit> {
    game: &'a G,
    options: &'a LabelOptions,
    agent: Resolved,
    /// Checksums of the agent's checkpoints at the start of the work.
    checksums: Vec<String>,
    classes: Vec<OutcomeClass>,
    /// Weights of the starting positions, and where they come from: none for the regular start.
    starts: Vec<(u32, Option<Positions<G>>)>,
    cancel: &'a Cancel,
}

/// Labelled positions of a game.
#[erased(pub trait LabelOps)]
impl<G: Kit> LabelOps for G {
    /// Plays games and writes labelled positions, or resumes a file.
    ///
    /// # Errors
    /// If the agent has no values, the game hides information or cannot read such files, or the file belongs to other
    /// labels or cannot be written.
    fn label_positions(&self, options: &LabelOptions, cancel: &Cancel) -> Result<Labelled, TrainError> {
        if let Some(why) = adept_game::files::no_examples(self) {
            return Err(
                OpenError::Unknown(format!("{} has no labelled positions: {why}", self.name())).into()
            );
        }
        let agent = naming::resolve(self, &options.agent, &[])?;
        let classes = match options.trials {
            Some(_) => Luck::open(self, &agent, options.best)?.classes().to_vec(),
            None if options.one_ply => naming::network(self, &agent, options.best)?.0.classes().to_vec(),
            None => own_games::evaluator(self, &options.agent, options.best)?.classes().to_vec(),
        };
        let start = |start: &String| {
            let (name, weight) = start.split_once('=').unwrap_or((start, "1"));
            let weight = weight.parse().ok().filter(|weight| (1..=1_000_000).contains(weight));
            let weight = weight.ok_or_else(|| {
                OpenError::Unknown(format!(
                    "`{start}`: write NAME or NAME=WEIGHT, with a weight of 1 to 1000000"
                ))
            })?;
            match name {
                RULES => Ok((weight, None)),
                name => Positions::new(self, Some(name)).map(|positions| (weight, Some(positions))),
            }
        };
        let starts = options.starts.iter().map(start).collect::<Result<_, OpenError>>()?;
        let checksums = checksums_of(&agent, options.best)?;
        let head = head_of(self, options, &classes, &checksums);
        let labels = Labels { game: self, options, agent, checksums, classes, starts, cancel };
        write(self.name(), options, cancel, &head, &|games| labels.games(games))
    }
}

/// Writes the rows of games until there are enough of them. `play` makes those of each game, up to a stopped one.
fn write(
    game: &str,
    options: &LabelOptions,
    cancel: &Cancel,
    head: &str,
    play: &(dyn Fn(Range<u64>) -> Result<Vec<Vec<LabelledRow>>, TrainError> + Sync),
) -> Result<Labelled, TrainError> {
    let (part, files) = (part_of(&options.out), Files::default());
    let form = Form::of(&options.out);
    let Begun { mut rows, mut games, mut bytes, _lock } = begin(&files, options, &part, head)?;
    let (rows_before, games_before) = (rows, games);
    // Rolling out every position takes long, and an interrupt keeps complete games.
    let at_a_time = if options.trials.is_some() { 1 } else { GAMES };
    let (pool, what) = (pool_of(options.threads)?, format!("labelling {} positions", options.count));
    work::share(&what, (rows as f64 / options.count as f64).min(0.999));
    let (mut new, mut written, mut at_once) = (Vec::new(), Instant::now(), pool.current_num_threads() as u64);
    while rows < options.count && !cancel.requested() {
        let (begun, first) = (Instant::now(), games / at_a_time);
        let task = |number: u64| play(number * at_a_time..(number + 1) * at_a_time);
        let tasks: Vec<u64> = (first..first + at_once).collect();
        let found = jobs::all(Some(&pool), tasks, &task);
        for (number, found) in (first..).zip(found) {
            // Games after a stopped one do not count, and neither do more than enough.
            for (game, mut of_game) in (number * at_a_time..).zip(found?) {
                if rows < options.count && game == games {
                    rows += of_game.len() as u64;
                    new.append(&mut of_game);
                    games += 1;
                }
            }
        }
        work::share(&what, (rows as f64 / options.count as f64).min(0.999));
        if rows == rows_before && games - games_before >= FRUITLESS {
            let message = format!("{FRUITLESS} games of {game} gave no position to label");
            return Err(OpenError::Unknown(message).into());
        }
        if written.elapsed() >= ROUND || rows >= options.count || cancel.requested() {
            let text = form.bytes(&new, games);
            if bytes + text.len() as u64 > form.limit() {
                let message = format!(
                    "would be longer than the {} MB that a run reads: ask for fewer than {rows} rows",
                    form.limit() >> 20
                );
                return Err(TrainError::Folder { path: part, message });
            }
            bytes = files.append(&part, &text).map_err(ModelError::from)?;
            new.clear();
            written = Instant::now();
        }
        let share = ROUND.as_secs_f64() / begun.elapsed().as_secs_f64().max(1e-3);
        at_once = ((share * at_once as f64) as u64).clamp(pool.current_num_threads() as u64, 4 * at_once);
    }
    work::share(&what, 1.0);
    let finished = rows >= options.count;
    if finished {
        files.rename(&part, &options.out).map_err(ModelError::from)?;
    }
    Ok(Labelled { path: if finished { options.out.clone() } else { part }, rows, games, finished })
}

/// Prefix of the line with the number of games in a file so far.
const MARK: &str = "# games: ";

/// The form of a file.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Table,
    Binary,
}

impl Form {
    fn of(path: &Path) -> Self {
        if label_file::is_label_file(path) { Self::Binary } else { Self::Table }
    }

    /// Largest number of bytes of a file that a run reads.
    fn limit(self) -> u64 {
        match self {
            Self::Table => limits::LIST_BYTES,
            Self::Binary => limits::LABEL_BYTES,
        }
    }

    /// What is appended for these rows, with which so many games are complete.
    fn bytes(self, rows: &[LabelledRow], games: u64) -> Vec<u8> {
        if self == Self::Binary {
            return label_file::blocks(rows, games);
        }
        let mut text = String::new();
        for LabelledRow { position, value, outcomes, .. } in rows {
            let _ = write!(text, "{},{:.6}", quoted(position), value.clamp(-1.0, 1.0));
            for p in outcomes {
                let _ = write!(text, ",{p:.6}");
            }
            text.push('\n');
        }
        let _ = writeln!(text, "{MARK}{games}");
        text.into_bytes()
    }
}

/// A network that looks one ply ahead.
struct Looker<G: Kit> {
    model: GameModel<G>,
    screen: Option<Screen<G>>,
    found: Successors<G>,
}

/// A position of a game whose positions are valued one ply ahead, with the network's own value for the player who moved to it.
struct Seen<G: Kit> {
    state: G::State,
    /// None for a position that the network was not asked about.
    own: Option<f32>,
    /// What tables know of it in place of the look ahead: its label.
    known: Option<Vec<f32>>,
}

/// The name of an incomplete file.
fn part_of(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_os_string();
    name.push(".part");
    out.with_file_name(name)
}

/// A decision of the games that are labelled.
#[derive(Clone, Copy)]
struct DecisionPlace {
    /// Number of the game.
    game: u64,
    /// Number of the decision in it.
    decision: u64,
}

impl<G: Kit> Labels<'_, G> {
    /// The rows of each of these games, up to a stopped one.
    fn games(&self, numbers: Range<u64>) -> Result<Vec<Vec<LabelledRow>>, TrainError> {
        let Self { game, options, cancel, .. } = *self;
        let mut all = Vec::with_capacity(GAMES as usize);
        if cancel.requested() {
            return Ok(all);
        }
        if checksums_of(&self.agent, options.best)? != self.checksums {
            return Err(OpenError::Unknown(format!(
                "the checkpoint of `{}` has changed since labelling began: name one that stays, such as RUN/checkpoints/STEP",
                options.agent
            ))
            .into());
        }
        if options.one_ply {
            let (model, screen) = naming::network(game, &self.agent, options.best)?;
            let mut looker = Looker { found: Successors::new(game, &*model.model), model, screen };
            for number in numbers {
                let mut rng = stream(options.seed, "games for labels", number);
                let start = self.start(&mut rng);
                let rows = self.one_ply(&mut looker, start, &mut rng)?;
                if cancel.requested() {
                    break;
                }
                all.push(rows);
            }
            return Ok(all);
        }
        let mut evaluator = own_games::evaluator(game, &options.agent, options.best)?;
        for number in numbers {
            let mut rng = stream(options.seed, "games for labels", number);
            let start = self.start(&mut rng);
            let (mut lines, others, mut decision) = (Vec::new(), options.moves > 1, 0);
            let stop = || cancel.requested();
            // Exact values are needed for all moves, or only for the best one.
            let all_values = others && options.trials.is_none();
            own_games::play(game, &mut *evaluator, start, &mut rng, all_values, &stop, |met, by, rng| {
                let next = own_games::mostly_best(met.order, rng);
                decision += 1;
                let mut places = vec![next];
                if others {
                    let mut rest: Vec<usize> = (0..met.actions.len()).filter(|&i| i != next).collect();
                    let (some, _) = rest.partial_shuffle(rng, options.moves - 1);
                    places.extend_from_slice(some);
                }
                for place in places {
                    if all_values || options.trials.is_some() || place == met.order[0] {
                        self.label(&met, place, by, DecisionPlace { game: number, decision }, &mut lines)?;
                    }
                }
                Ok(Some(next))
            })?;
            if cancel.requested() {
                break;
            }
            all.push(lines);
        }
        Ok(all)
    }

    /// Where a game begins.
    fn start(&self, rng: &mut Stream) -> G::State {
        let start = match self.starts.len() {
            0 => None,
            _ => {
                let total: u32 = self.starts.iter().map(|(weight, _)| weight).sum();
                let mut left = rng.random_range(0..total);
                let is_met = |(weight, _): &&(u32, _)| match left.checked_sub(*weight) {
                    Some(rest) => {
                        left = rest;
                        false
                    }
                    None => true,
                };
                self.starts.iter().find(is_met).and_then(|(_, positions)| positions.as_ref())
            }
        };
        start.map_or_else(|| self.game.start(), |positions| positions.any(self.game, rng))
    }

    /// The rows of a game that looks one ply ahead at each position, and of branches of it that begin where the network disagrees
    /// with what it sees there.
    fn one_ply(
        &self,
        looker: &mut Looker<G>,
        start: G::State,
        rng: &mut Stream,
    ) -> Result<Vec<LabelledRow>, TrainError> {
        let (mut rows, mut branches) = (Vec::new(), Vec::new());
        let first = Seen { state: start, own: None, known: None };
        self.follow(looker, first, MOVES, rng, &mut rows, &mut branches)?;
        let share = self.options.hard;
        let wanted = rows.len() + (rows.len() as f64 * share / (1.0 - share)).round() as usize;
        while rows.len() < wanted && !branches.is_empty() && !self.cancel.requested() {
            let sum: f64 = branches.iter().map(|(weight, _)| weight).sum();
            let mut left = rng.random::<f64>() * sum;
            let drawn = branches.iter().position(|(weight, _)| {
                left -= weight;
                left < 0.0
            });
            let (_, first) = branches.swap_remove(drawn.unwrap_or(branches.len() - 1));
            let plies = BRANCH.min(wanted - rows.len());
            self.follow(looker, first, plies, rng, &mut rows, &mut branches)?;
        }
        Ok(rows)
    }

    /// Plays on from a position for at most so many moves, and adds the rows of all positions from it on. `branches` receives other
    /// continuations, each with the difference of the network's value and of its label in the position before.
    fn follow(
        &self,
        Looker { model, screen, found }: &mut Looker<G>,
        first: Seen<G>,
        plies: usize,
        rng: &mut Stream,
        rows: &mut Vec<LabelledRow>,
        branches: &mut Vec<(f64, Seen<G>)>,
    ) -> Result<(), TrainError> {
        let (game, head) = (self.game, model.model.head().clone());
        let mut next = Some(first);
        for _ in 0..plies {
            let Some(Seen { state, own, known }) = next.take() else { break };
            if self.cancel.requested() {
                break;
            }
            found.expand_behind(screen.as_mut(), game, &**model.encoder(), &state)?;
            found.evaluate(&mut *model.model);
            let (mut difference, is_known) = (0.0, known.is_some());
            if game.just_acted(&state).is_some() {
                let label = known.unwrap_or_else(|| {
                    let mut label = Vec::new();
                    found.expectation(&mut label);
                    label
                });
                let value = f64::from(head.value_of(&label));
                difference = own.filter(|_| !is_known).map_or(0.0, |own| (value - f64::from(own)).abs());
                rows.push(self.row(&state, value, &label));
            }
            let best_of = |values: &[f32], rng: &mut Stream| {
                let mut order: Vec<usize> = (0..values.len()).collect();
                highest_first(values, &mut order);
                Some(own_games::mostly_best(&order, rng))
            };
            let seen = |(state, row): (&G::State, u32)| {
                let known = found.known(row).map(|(value, outcomes)| match outcomes {
                    [] => vec![value],
                    all => all.to_vec(),
                });
                Seen { state: state.clone(), own: found.row_values().get(row as usize).copied(), known }
            };
            if difference > 0.0 && self.options.hard > 0.0 {
                branches.extend(found.follow(best_of, rng).map(|next| (difference, seen(next))));
            }
            // Tables know the rest of such a game too, so that few of its positions are enough.
            let goes_on = !is_known || rng.random::<bool>();
            next = found.follow(best_of, rng).map(seen).filter(|_| goes_on);
        }
        Ok(())
    }

    /// The row of a position, by its value and label for the player who acted last.
    fn row(&self, state: &G::State, value: f64, label: &[f32]) -> LabelledRow {
        let mirrored = |class: &OutcomeClass| f64::from(label[class.mirror]);
        LabelledRow {
            position: self.game.position_text(state),
            part: Part::of((self.game.positions().number)(state)),
            value: -value,
            outcomes: plain(self.classes.iter().map(mirrored).collect()),
        }
    }

    /// Adds the row of the position after a move, unless the game is over.
    fn label(
        &self,
        met: &own_games::SelfPlayDecision<'_, G>,
        place: usize,
        by: &mut dyn Evaluator<G>,
        when: DecisionPlace,
        rows: &mut Vec<LabelledRow>,
    ) -> Result<(), TrainError> {
        let (game, action) = (self.game, &met.actions[place]);
        let mut after = met.state.clone();
        game.apply(&mut after, action);
        if game.turn(&after) == Turn::Over || game.just_acted(&after).is_none() {
            return Ok(());
        }
        // For the player to move.
        let (value, outcomes) = match self.options.trials {
            Some(_) => match self.rolled_out(&after, met.player, when)? {
                Some(found) => found,
                None => return Ok(()),
            },
            None => {
                let (at, mut own) = (Decision::new(game, met.state, met.player), Vec::new());
                let mut value = met.values[place];
                if met.actions.len() == 1 {
                    // A search decides a forced move without a value, so the value is requested here.
                    let (mut listed, mut values) = (Vec::new(), Vec::new());
                    by.study(at, &mut listed, &mut values);
                    value = values[0];
                }
                by.outcomes(at, action, &mut own);
                let mirrored = self.classes.iter().map(|class| own.get(class.mirror).copied().unwrap_or(0.0));
                (-f64::from(value), mirrored.map(f64::from).collect())
            }
        };
        let part = Part::of((game.positions().number)(&after));
        rows.push(LabelledRow {
            position: game.position_text(&after),
            part,
            value,
            outcomes: plain(outcomes),
        });
        Ok(())
    }

    /// The mean result of a rollout and the share of each class, for the player who did not act last. None if stopped.
    fn rolled_out(
        &self,
        after: &G::State,
        acted: usize,
        when: DecisionPlace,
    ) -> Result<Option<(f64, Vec<f64>)>, TrainError> {
        let Self { game, options, agent, cancel, .. } = self;
        let Some(viewer) = viewer(*game, after) else {
            let message = format!(
                "{}: chance is not listed after a move, so that it cannot be rolled out",
                game.name()
            );
            return Err(OpenError::Unknown(message).into());
        };
        // Each decision has its own dice, so that residual luck averages out over the rows.
        let mut dice = stream(options.seed, "rollouts for labels", when.game);
        let seed = (0..when.decision).fold(0, |_, _| dice.random::<u64>());
        let how = Options { trials: options.trials.unwrap_or(0), truncate: options.truncate, seed };
        let open = || Luck::open(*game, agent, options.best);
        let stop = || cancel.requested();
        let sums = roll_out(*game, &open, (after, viewer), &how, Default::default(), &stop, &mut |_| Ok(()))?;
        if sums.equity.deals < how.trials {
            return Ok(None);
        }
        let means: Vec<f64> = sums.classes.iter().map(|net| net.mean()).collect();
        if viewer != acted {
            return Ok(Some((sums.equity.mean(), means)));
        }
        let mirrored = self.classes.iter().map(|class| means.get(class.mirror).copied().unwrap_or(0.0));
        Ok(Some((-sums.equity.mean(), mirrored.collect())))
    }
}

/// Projects estimates onto a distribution: nonnegative, with sum 1. With variance reduction, means of a few games may
/// be negative.
fn plain(mut all: Vec<f64>) -> Vec<f64> {
    all.iter_mut().for_each(|p| *p = p.max(0.0));
    let sum: f64 = all.iter().sum();
    all.iter_mut().for_each(|p| *p /= sum.max(f64::MIN_POSITIVE));
    all
}

/// Header that records how the file was made; it must match to resume.
fn head_of<G: Kit>(
    game: &G,
    options: &LabelOptions,
    classes: &[OutcomeClass],
    checksums: &[String],
) -> String {
    let LabelOptions { agent, moves, starts, one_ply, hard, trials, truncate, seed, .. } = options;
    let begun = match &starts[..] {
        [] => String::new(),
        starts => format!(" Games begin at {}.", starts.join(", ")),
    };
    let cut =
        truncate.map_or_else(|| "played to the end".into(), |plies| format!("cut off after {plies} moves"));
    let values = match trials {
        Some(trials) => format!("Rollouts by {agent}: {trials} games each, {cut}."),
        None if *one_ply => {
            let hard = match *hard {
                0.0 => String::new(),
                share => {
                    format!(" {share} of the rows are of branches where it disagrees with its own values.")
                }
            };
            format!("Values by {agent}, which looks one ply ahead.{hard}")
        }
        None => format!("Values by {agent}."),
    };
    let checkpoint = match checksums {
        [] => String::new(),
        all => format!(" By checksum: {}.", all.join(", ")),
    };
    let columns: String = classes.iter().map(|class| format!(",{}", class.name)).collect();
    format!(
        "# Positions of {}, of games of {agent} with itself, up to {moves} of each decision; seed {seed}.{begun}\n\
         # {values}{checkpoint}\n\
         # Values are for the player to move.\nposition,{VALUE}{columns}\n",
        game.name()
    )
}

/// Checksums of the checkpoints that an agent uses, the move filter's last.
fn checksums_of(agent: &Resolved, best: bool) -> Result<Vec<String>, ModelError> {
    let screen = agent.screen.as_deref().map(|folder| checkpoint::locate(folder, false)).transpose()?;
    let screen = screen.map(|at| Ok::<_, ModelError>(checkpoint::manifest(&at)?.checksum)).transpose()?;
    Ok(rollouts::checksum_of(agent, best)?.into_iter().chain(screen).collect())
}

/// A file opened for appending.
struct Begun {
    rows: u64,
    games: u64,
    bytes: u64,
    /// Excludes other processes while it is open.
    _lock: File,
}

/// Creates the file, or truncates it to its last complete game.
fn begin(files: &Files, options: &LabelOptions, part: &Path, head: &str) -> Result<Begun, TrainError> {
    let out = &options.out;
    let refuse =
        |path: &Path, message: &str| Err(TrainError::Folder { path: path.into(), message: message.into() });
    files.try_file(out)?;
    let locked = |path: &Path| -> Result<File, TrainError> {
        let file = File::open(path).map_err(ModelError::io(path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(TrainError::Folder {
                path: path.into(),
                message: "is being written by another process: wait for it, or name another file".into(),
            }),
            // Some file systems do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
        }
    };
    let there = [out, part].into_iter().find(|path| path.exists());
    let Some(there) = there else {
        let bytes = match Form::of(out) {
            Form::Table => head.as_bytes().to_vec(),
            Form::Binary => label_file::header(head),
        };
        files.replace(part, &bytes).map_err(ModelError::from)?;
        let _lock = locked(part)?;
        return Ok(Begun { rows: 0, games: 0, bytes: bytes.len() as u64, _lock });
    };
    if !options.resume {
        return refuse(there, "exists: continue it with --resume, or name another file");
    }
    let _lock = locked(there)?;
    const OTHER: &str = "holds other positions, or was made with other options: name another file";
    if Form::of(out) == Form::Binary {
        let file = LabelFile::read_begun(there).map_err(OpenError::from)?;
        if file.text() != head {
            return refuse(there, OTHER);
        }
        if there == out {
            files.rename(out, part).map_err(ModelError::from)?;
        }
        files.cut(part, file.whole()).map_err(ModelError::from)?;
        return Ok(Begun { rows: file.len(), games: file.games(), bytes: file.whole(), _lock });
    }
    let fault = |source: std::io::Error| TrainError::from(ModelError::io(there)(source));
    if std::fs::metadata(there).map_err(fault)?.len() > limits::LIST_BYTES {
        return refuse(there, "is longer than any list that a run reads: name another file");
    }
    let mut reader = BufReader::new(File::open(there).map_err(fault)?);
    let (mut line, mut length) = (Vec::new(), 0);
    let mut headed = Vec::new();
    let (mut rows, mut whole) = (0, None);
    loop {
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(n) => length += n as u64,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(fault(e)),
        }
        if headed.len() < head.len() {
            headed.extend_from_slice(&line);
            if !head.as_bytes().starts_with(&headed) {
                return refuse(there, OTHER);
            }
            if headed.len() == head.len() {
                whole = Some((0, 0, length));
            }
        } else if let Some(games) = line.strip_prefix(MARK.as_bytes()).filter(|rest| rest.ends_with(b"\n")) {
            let games = std::str::from_utf8(games).ok().and_then(|games| games.trim().parse::<u64>().ok());
            whole = games.map(|games| (rows, games, length)).or(whole);
        } else {
            rows += 1;
        }
    }
    let Some((rows, games, length)) = whole else {
        return refuse(there, "was not started by `data build`: name another file");
    };
    if there == out {
        files.rename(out, part).map_err(ModelError::from)?;
    }
    // Drops what a killed process wrote after its last mark.
    files.cut(part, length).map_err(ModelError::from)?;
    Ok(Begun { rows, games, bytes: length, _lock })
}
