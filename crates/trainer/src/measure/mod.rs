//! Measuring checkpoints: exact equity, errors against exact values, speed, and what they think of a position.

mod decisions;
mod exhaustive;
mod positions;
mod speed;

pub use decisions::{DecisionsReport, DecisionsRow, Peer};
pub use exhaustive::ExhaustiveReport;
pub use positions::{Errors, FileReport, MoveLossReport, RmsReport};
pub use speed::{Cost, SpeedCell};
pub(crate) use speed::{cost, rows_of_random_games};

use crate::config::{Config, no_equity};
use crate::run::TrainError;
use adept_arena::{Bound, Equity, Greedy, OpenError, Random, equity, open};
use adept_game::registry::Registered;
use adept_game::{Turn, Visitor, stream, with_game};
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::{Description, Explanation, ModelError, Usage};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What `evaluate` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Exact match equity of greedy play.
    Equity,
    /// Errors of V against exact values.
    Rms,
    /// What choices lose by exact values.
    MoveLoss,
    /// Evaluations a second on this machine.
    Speed,
}

/// What to measure, beside the suites.
#[derive(Clone, Debug, Default)]
pub struct EvaluateOptions {
    /// Suites; none takes the one that suits the game.
    pub suites: Vec<Suite>,
    /// Opponents of the suite `equity`; none takes those of the checkpoint's config, then random and minimax.
    pub against: Vec<String>,
    /// Distribution of the positions of `rms` and `move-loss`; the game's first if none.
    pub distribution: Option<String>,
    /// Positions of `rms`, 100,000 if none, and of `move-loss`, 250,000 if none.
    pub samples: Option<u64>,
    /// A CSV file of positions with values to compare with.
    pub positions: Option<PathBuf>,
    /// A CSV file of positions: errors on them, and what choices lose on all their rolls.
    pub decisions: Option<PathBuf>,
    /// Other programs to measure on these positions and decisions.
    pub peers: Vec<Peer>,
    /// Whether to measure errors over all positions; without suites nothing else is then measured.
    pub exhaustive: bool,
}

/// What `evaluate` found.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The checkpoint.
    pub checkpoint: PathBuf,
    /// Its game.
    pub game: String,
    /// Games it learned from, or samples.
    pub step: u64,
    /// `games` or `samples`.
    pub unit: &'static str,
    /// Exact match equity of greedy play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equity: Option<EquityReport>,
    /// Errors of V.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rms: Option<RmsReport>,
    /// What choices lose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_loss: Option<MoveLossReport>,
    /// Errors on the positions of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positions: Option<FileReport>,
    /// Errors on the positions of another file, and what choices lose there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<DecisionsReport>,
    /// Errors over all positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<ExhaustiveReport>,
    /// Evaluations a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Vec<SpeedCell>>,
}

/// Exact match equity against each opponent; the first one's figures stand at the top.
#[derive(Debug, Serialize)]
pub struct EquityReport {
    /// The first opponent.
    pub against: String,
    /// (wins − losses) / games, the mean over the seats.
    pub equity: f64,
    /// Playing first.
    pub first: f64,
    /// Playing last.
    pub second: f64,
    /// A random player's and the best possible equity against the same opponent.
    pub baseline: Baseline,
    /// All opponents.
    pub opponents: Vec<(String, Equity)>,
    /// How often each expert was run, where there is a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Equities that put a figure in its place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// Of a uniformly random player.
    pub random: f64,
    /// Of the exact best response.
    pub optimal: f64,
}

/// The baseline against that opponent.
///
/// # Errors
/// [`TrainError`] if there is no such opponent or the game is too large to solve.
pub fn baseline(game: &str, against: &str) -> Result<Baseline, TrainError> {
    struct Against<'a>(&'a str);
    impl Visitor for Against<'_> {
        type Output = Result<Baseline, TrainError>;
        fn visit<G: Registered>(self, game: G) -> Self::Output {
            baseline_of(&game, self.0)
        }
    }
    with_game(game, Against(against)).unwrap_or_else(|| Err(TrainError::Game(game.into())))
}

fn baseline_of<G: Registered>(game: &G, against: &str) -> Result<Baseline, TrainError> {
    let mut other = open::agent(game, against)?;
    let random = equity(game, &mut Random, &mut other)?.equity;
    let mut best = open::agent(game, &format!("optimal:{against}"))?;
    Ok(Baseline { random, optimal: equity(game, &mut best, &mut other)?.equity })
}

/// Opens the checkpoint that the path names and hands it with its game to `f`.
pub(crate) fn with_checkpoint<V: OnCheckpoint>(
    path: &Path,
    best: bool,
    f: V,
) -> Result<V::Output, TrainError> {
    struct Open<V>(Checkpoint, V);
    impl<V: OnCheckpoint> Visitor for Open<V> {
        type Output = Result<V::Output, TrainError>;
        fn visit<G: Registered>(self, game: G) -> Self::Output {
            let (bound, manifest) = open::bind(&game, self.0)?;
            self.1.with(&game, bound, manifest)
        }
    }
    let located = checkpoint::locate(path, best)?;
    let checkpoint = checkpoint::read(&located)?;
    let game = checkpoint.manifest.game.clone();
    with_game(&game, Open(checkpoint, f)).unwrap_or_else(|| {
        Err(OpenError::Mismatch { path: located, message: format!("is of the unknown game `{game}`") }.into())
    })
}

/// Code that works for a checkpoint of any game.
pub(crate) trait OnCheckpoint {
    type Output;
    fn with<G: Registered>(
        self,
        game: &G,
        bound: Bound<G>,
        manifest: Manifest,
    ) -> Result<Self::Output, TrainError>;
}

/// Measures a checkpoint, or the latest (or best) one of a run.
///
/// # Errors
/// See [`TrainError`].
pub fn evaluate(path: &Path, best: bool, options: &EvaluateOptions) -> Result<Report, TrainError> {
    evaluate_watched(path, best, options, &Unwatched)
}

/// Sees what a measurement is about, from any thread.
pub trait Watch: Sync {
    /// What it waits for before it begins.
    fn preparing(&self, _what: &str) {}

    /// Which share, in [0, 1], of all positions is measured.
    fn share(&self, _share: f64) {}
}

struct Unwatched;

impl Watch for Unwatched {}

/// Where exact values come from, for whoever waits.
pub(crate) const EXACT_VALUES: &str = "exact values: from a file in datasets, or solved in memory";

/// The same, watched.
///
/// # Errors
/// See [`TrainError`].
pub fn evaluate_watched(
    path: &Path,
    best: bool,
    options: &EvaluateOptions,
    watch: &dyn Watch,
) -> Result<Report, TrainError> {
    struct Evaluate<'a>(PathBuf, &'a EvaluateOptions, &'a dyn Watch);
    impl OnCheckpoint for Evaluate<'_> {
        type Output = Report;
        fn with<G: Registered>(
            self,
            game: &G,
            mut bound: Bound<G>,
            manifest: Manifest,
        ) -> Result<Report, TrainError> {
            let Self(checkpoint, options, watch) = self;
            let files = [&options.positions, &options.decisions];
            let elsewhere = options.exhaustive || files.iter().any(|file| file.is_some());
            let usual = || match (elsewhere, game.start_is_listed(), G::distributions()) {
                (true, ..) | (false, false, []) => vec![],
                (false, true, _) => vec![Suite::Equity],
                (false, false, _) => vec![Suite::Rms],
            };
            let suites = if options.suites.is_empty() { usual() } else { options.suites.clone() };
            let exact = |s: &Suite| matches!(s, Suite::Rms | Suite::MoveLoss);
            let known = !G::distributions().is_empty();
            if known && (suites.iter().any(exact) || options.exhaustive || options.decisions.is_some()) {
                watch.preparing(EXACT_VALUES);
            }
            let distribution = options.distribution.as_deref();
            let unit = Config::from_saved(manifest.config.clone()).map_or("games", |c| c.learn.unit());
            let mut report = Report {
                checkpoint,
                game: manifest.game.clone(),
                step: manifest.step,
                unit,
                equity: None,
                rms: None,
                move_loss: None,
                positions: None,
                decisions: None,
                exhaustive: None,
                speed: None,
            };
            for suite in suites {
                match suite {
                    Suite::Equity if !game.start_is_listed() => {
                        let why = no_equity(game.name());
                        let message = format!("{why}: measure another suite, such as `rms` or `speed`");
                        return Err(TrainError::Suite(message));
                    }
                    Suite::Rms | Suite::MoveLoss if G::distributions().is_empty() => {
                        let message =
                            format!("{} has no exact values of positions: measure `equity`", game.name());
                        return Err(TrainError::Suite(message));
                    }
                    Suite::Equity => {
                        let own = || judges(game, &manifest);
                        let against =
                            if options.against.is_empty() { own() } else { options.against.clone() };
                        report.equity = Some(measure_equity(game, &mut bound, &against)?);
                    }
                    Suite::Rms => {
                        let count = options.samples.unwrap_or(100_000);
                        report.rms = Some(positions::rms(game, &mut bound, distribution, count)?);
                    }
                    Suite::MoveLoss => {
                        let count = options.samples.unwrap_or(250_000);
                        report.move_loss = Some(positions::moves(game, &mut bound, distribution, count)?);
                    }
                    Suite::Speed => report.speed = Some(speed::speed(game, &mut bound)),
                }
            }
            if let Some(path) = &options.positions {
                report.positions = Some(positions::file(game, &mut bound, path)?);
            }
            if let Some(path) = &options.decisions {
                report.decisions = Some(decisions::decisions(game, &mut bound, path, &options.peers)?);
            }
            if options.exhaustive {
                report.exhaustive =
                    Some(exhaustive::exhaustive(game, &mut bound, &|share| watch.share(share))?);
            }
            Ok(report)
        }
    }
    let located = checkpoint::locate(path, best)?;
    with_checkpoint(&located, best, Evaluate(located.clone(), options, watch))
}

fn judges<G: Registered>(game: &G, manifest: &Manifest) -> Vec<String> {
    let own = Config::from_saved(manifest.config.clone()).map(|c| c.evaluate_against());
    let mut judges = own.unwrap_or_default();
    let others = if game.zero_sum() { &["random", "minimax"][..] } else { &["random"] };
    for other in others {
        if !judges.iter().any(|j| j == other) {
            judges.push((*other).into());
        }
    }
    judges
}

fn measure_equity<G: Registered>(
    game: &G,
    bound: &mut Bound<G>,
    opponents: &[String],
) -> Result<EquityReport, TrainError> {
    let mut found = Vec::with_capacity(opponents.len());
    let mut usage = None;
    for name in opponents {
        let mut opponent = open::agent(game, name)?;
        bound.learner.reset_usage();
        found.push((name.clone(), equity(game, &mut Greedy::new(&mut *bound), &mut opponent)?));
        usage = usage.or_else(|| bound.learner.usage());
    }
    let (against, first) = found[0].clone();
    Ok(EquityReport {
        baseline: baseline_of(game, &against)?,
        against,
        equity: first.equity,
        first: first.seats[0],
        second: first.seats[first.seats.len() - 1],
        opponents: found,
        usage,
    })
}

/// What a checkpoint thinks of a position.
#[derive(Debug, Serialize)]
pub struct PositionValue {
    /// The position as given.
    pub position: String,
    /// Value for the player to move, in [−1, 1]: of the best move; of the position itself where chance comes before
    /// that move; or the exact result of a finished game for player 1.
    pub value: f32,
    /// Player to move, at once or after chance, from 1; none if the game is over.
    pub to_move: Option<usize>,
    /// The position itself, valued for the player who made the last move; none where that is not known and matters, at
    /// the start, and right after chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Explanation>,
    /// Each legal move, best first.
    pub moves: Vec<MoveValue>,
}

/// What a checkpoint thinks of a move.
#[derive(Debug, Serialize)]
pub struct MoveValue {
    /// The move.
    pub action: String,
    /// Value for the player who makes it, with the gates and experts behind it; exact if it ends the game.
    #[serde(flatten)]
    pub explanation: Explanation,
}

/// What the checkpoint thinks of positions.
///
/// # Errors
/// [`TrainError`] if the checkpoint cannot be opened or a text is no position.
pub fn value(path: &Path, best: bool, positions: &[String]) -> Result<Vec<PositionValue>, TrainError> {
    struct Value<'a>(&'a [String]);
    impl OnCheckpoint for Value<'_> {
        type Output = Vec<PositionValue>;
        fn with<G: Registered>(
            self,
            game: &G,
            mut bound: Bound<G>,
            _: Manifest,
        ) -> Result<Self::Output, TrainError> {
            self.0.iter().map(|text| position_value(game, &mut bound, text)).collect()
        }
    }
    with_checkpoint(path, best, Value(positions))
}

fn position_value<G: Registered>(
    game: &G,
    bound: &mut Bound<G>,
    text: &str,
) -> Result<PositionValue, TrainError> {
    let (state, last) = game.parse_position(text).map_err(|e| OpenError::Unknown(e.to_string()))?;
    let position = text.to_string();
    let exact = |value: f64| Explanation { value: value as f32, gates: vec![], experts: vec![] };
    let knows = last.is_some() || !bound.encoder().needs_action();
    let mover = game.just_acted(&state).filter(|_| knows);
    let mut after = |mover| bound.learner.explain(&bound.encode(game, &state, last.as_ref(), mover));
    let player = match game.turn(&state) {
        Turn::Player(player) => player,
        Turn::Over => {
            let value = (game.utility(&state, 0) / game.scale()) as f32;
            return Ok(PositionValue { position, value, to_move: None, after: None, moves: Vec::new() });
        }
        Turn::Chance => {
            let Some(mover) = mover.filter(|_| game.zero_sum()) else {
                let message =
                    format!("`{position}`: chance is to come: name a position in which a player moves");
                return Err(OpenError::Unknown(message).into());
            };
            // What one of two players wins the other loses.
            let after = after(mover);
            let (value, player) = (-after.value, 1 - mover);
            let to_move = Some(player + 1);
            return Ok(PositionValue { position, value, to_move, after: Some(after), moves: Vec::new() });
        }
    };
    let after = mover.map(after);
    let mut actions = Vec::new();
    game.actions(&state, &mut actions);
    let mut moves: Vec<MoveValue> = actions
        .iter()
        .map(|action| {
            let mut next = state.clone();
            game.apply(&mut next, action);
            let explanation = if game.turn(&next) == Turn::Over {
                exact(game.utility(&next, player) / game.scale())
            } else {
                let rows = bound.encode(game, &next, Some(action), player);
                bound.learner.explain(&rows)
            };
            MoveValue { action: game.action_text(&state, action), explanation }
        })
        .collect();
    moves.sort_by(|a, b| b.explanation.value.total_cmp(&a.explanation.value));
    let value = moves.first().map_or(0.0, |m| m.explanation.value);
    Ok(PositionValue { position, value, to_move: Some(player + 1), after, moves })
}

/// A checkpoint's own words and its size.
#[derive(Debug, Serialize)]
pub struct Described {
    /// Where it lies; none for a config that was not trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<PathBuf>,
    /// Name of the experiment.
    pub name: String,
    /// Rule set and encoder.
    pub game: String,
    /// Encoder.
    pub encoder: String,
    /// Channels with the meaning of each input.
    pub channels: Vec<ChannelAbout>,
    /// Games learned from, or samples.
    pub step: u64,
    /// Which.
    pub unit: &'static str,
    /// Seed.
    pub seed: u64,
    /// Revision of the program that trained it.
    pub revision: String,
    /// Size and cost.
    #[serde(flatten)]
    pub size: Description,
}

/// A channel and what it means.
#[derive(Debug, Serialize)]
pub struct ChannelAbout {
    /// Name.
    pub name: String,
    /// What it carries.
    pub kind: String,
    /// What each input means.
    pub about: String,
}

/// Describes a checkpoint, the latest (or best) of a run, or a config file with fresh parameters.
///
/// # Errors
/// [`TrainError`] if it can be read as neither.
pub fn describe(path: &Path, best: bool) -> Result<Described, TrainError> {
    struct Describe(PathBuf);
    impl OnCheckpoint for Describe {
        type Output = Described;
        fn with<G: Registered>(
            self,
            _: &G,
            bound: Bound<G>,
            manifest: Manifest,
        ) -> Result<Described, TrainError> {
            let unit = Config::from_saved(manifest.config.clone()).map_or("games", |c| c.learn.unit());
            Ok(described(
                &bound,
                Some(self.0),
                manifest.config["name"].as_str().unwrap_or_default(),
                manifest.game.clone(),
                (manifest.step, unit, manifest.seed, manifest.revision),
            ))
        }
    }
    struct Fresh(Config);
    impl Visitor for Fresh {
        type Output = Result<Described, TrainError>;
        fn visit<G: Registered>(self, game: G) -> Self::Output {
            let config = self.0;
            let encoder = open::encoder(&game, config.game.encoder.as_deref())?;
            let channels = adept_arena::model_channels(encoder.channels());
            let mut rng = stream(config.seed, "init", 0);
            let learner =
                adept_model::build(&config.architecture, &channels, config.learn.optimiser, &mut rng)?;
            let bound = Bound::new(&game, encoder, learner);
            let about = (0, config.learn.unit(), config.seed, crate::REVISION.to_string());
            Ok(described(&bound, None, &config.name, config.game.rules.clone(), about))
        }
    }
    if path.extension().is_some_and(|e| e == "toml") {
        let config = crate::config::load(path, &[]).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        let game = config.game.rules.clone();
        return with_game(&game, Fresh(config)).unwrap_or(Err(TrainError::Game(game)));
    }
    let located = checkpoint::locate(path, best)?;
    with_checkpoint(&located, best, Describe(located.clone()))
}

fn described<G: Registered>(
    bound: &Bound<G>,
    checkpoint: Option<PathBuf>,
    name: &str,
    game: String,
    (step, unit, seed, revision): (u64, &'static str, u64, String),
) -> Described {
    let channels = bound.encoder().channels().iter();
    Described {
        checkpoint,
        name: name.into(),
        game,
        encoder: bound.encoder().name().into(),
        channels: channels
            .map(|c| ChannelAbout {
                name: c.name.into(),
                kind: format!("{:?}", c.kind),
                about: c.about.to_string(),
            })
            .collect(),
        step,
        unit,
        seed,
        revision,
        size: bound.learner.describe(),
    }
}
