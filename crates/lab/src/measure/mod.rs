//! Measures checkpoints: exact equity, errors against exact values, speed, and values of given positions.

mod decisions;
mod exhaustive;
mod experts;
mod grade;
mod kinds;
mod outcomes;
mod play;
mod positions;
mod rules;
mod speed;

pub use decisions::{DecisionsReport, DecisionsRow, Peer};
pub use exhaustive::ExhaustiveReport;
pub use experts::{ExpertsReport, Single, Trained};
pub use grade::GradeReport;
pub use kinds::{Kinds, Weakness};
pub use outcomes::{Bin, ClassErrors, OutcomesReport};
pub use play::{ExploitabilityReport, MatchesReport};
pub(crate) use positions::best_formula;
pub(crate) use positions::class_shares_of;
pub use positions::{ClassShares, ErrorsOf, FileReport, MoveLossReport, RmsReport};
pub use rules::Rule;
pub(crate) use rules::rules_of;
pub(crate) use speed::cost_of;
pub use speed::{Cost, SpeedCell};

use adept_arena::inspect::{self, PositionValue};
use adept_arena::search::{self, Search, SearchOptions};
use adept_arena::{
    Equity, Evaluator, GameModel, Greedy, OpenError, Random, equity, has_oracle, naming, open,
};
use adept_erased::erased;
pub use adept_game::Suite;
use adept_game::{GameError, Kit, ParsedPosition, has_public_tree, outcome_classes, stream};
use adept_ground::files::Files;
use adept_ground::{limits, notes, work};
use adept_model::checkpoint::{Checkpoint, Manifest};
use adept_model::{Description, Head, ModelError, Quantisation, Usage};
use adept_trainer::config::{Config, no_equity};
use adept_trainer::positions::Positions;
use adept_trainer::run::{Cancel, TrainError};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Options of `evaluate`.
#[derive(Clone, Debug, Default)]
pub struct EvaluateOptions {
    /// Suites; if empty, the main suite of the game.
    pub suites: Vec<Suite>,
    /// Opponents for the suites `equity` and `matches`; if empty, those in the checkpoint's config, then random
    /// and, for `equity`, minimax.
    pub against: Vec<String>,
    /// Distribution of the positions for `rms` and `move-loss`; the game's first if `None`.
    pub distribution: Option<String>,
    /// Number of positions for `rms` (100,000 if `None`) and `move-loss` (250,000 if `None`), or of games per
    /// opponent for `matches` (4,000 if `None`).
    pub samples: Option<u64>,
    /// A file of positions. If it has values, they are compared; otherwise the checkpoint's values are written.
    pub positions: Option<PathBuf>,
    /// File for positions with the checkpoint's values; NAME.values.csv beside the input file if `None`.
    pub out: Option<PathBuf>,
    /// A CSV file of positions, for errors on them and the value lost by choices on all their rolls.
    pub decisions: Option<PathBuf>,
    /// Other programs to measure on the same positions and decisions.
    pub peers: Vec<Peer>,
    /// Whether to measure errors over all positions. Without suites, nothing else is then measured.
    pub exhaustive: bool,
    /// Search depth for choices; none if they follow the checkpoint's own values.
    pub search: Option<SearchOptions>,
    /// Whether to measure outcome probabilities, if the network has them, in addition to named suites.
    pub outcomes: bool,
    /// Cancels matches.
    pub cancel: Cancel,
}

/// The number of positions to sample.
fn sampled(options: &EvaluateOptions, usual: u64) -> Result<u64, TrainError> {
    match options.samples.unwrap_or(usual) {
        count if (1..=limits::POSITIONS).contains(&count) => Ok(count),
        count => {
            let most = limits::POSITIONS;
            Err(TrainError::Suite(format!("measure 1 to {most} positions, not {count}")))
        }
    }
}

/// Result of `evaluate`.
#[derive(Debug, Default, Serialize)]
pub struct Report {
    /// The checkpoint.
    pub checkpoint: PathBuf,
    /// Its game.
    pub game: String,
    /// Games or samples it learned from.
    pub step: u64,
    /// `games` or `samples`.
    pub unit: &'static str,
    /// Exact match equity of greedy play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equity: Option<EquityReport>,
    /// Exact grades of greedy play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<GradeReport>,
    /// Errors of V.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rms: Option<RmsReport>,
    /// Value lost by choices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_loss: Option<MoveLossReport>,
    /// Results of games against opponents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matches: Option<MatchesReport>,
    /// Exploitability: the mean gain of best responses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exploitability: Option<ExploitabilityReport>,
    /// Errors on the positions of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positions: Option<FileReport>,
    /// Positions of a file, with the checkpoint's values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valued: Option<Valued>,
    /// Errors and lost value on the positions of another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decisions: Option<DecisionsReport>,
    /// Errors over all positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exhaustive: Option<ExhaustiveReport>,
    /// Errors of the probabilities of outcomes, if the network gives them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcomes: Option<OutcomesReport>,
    /// Use of experts in a mixture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experts: Option<ExpertsReport>,
    /// Evaluations per second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speed: Option<Vec<SpeedCell>>,
}

/// Exact match equity against each opponent. The top-level figures are for the first one.
#[derive(Debug, Serialize)]
pub struct EquityReport {
    /// The first opponent.
    pub against: String,
    /// (wins − losses) / games, averaged over the seats.
    pub equity: f64,
    /// Equity when playing first.
    pub first: f64,
    /// Equity when playing last.
    pub second: f64,
    /// Equities of a random player and of best play against the same opponent.
    pub baseline: Baseline,
    /// All opponents.
    pub opponents: Vec<(String, Equity)>,
    /// Frequency of each expert, if there is a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

/// Reference equities against an opponent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Baseline {
    /// Equity of a uniformly random player.
    pub random: f64,
    /// Equity of the exact best response.
    pub optimal: f64,
}

/// What a game measures of checkpoints.
#[erased(pub trait MeasureOps)]
impl<G: Kit> MeasureOps for G {
    /// The baseline of a game against this opponent.
    ///
    /// # Errors
    /// If the opponent is unknown, or the game is too large to solve.
    fn baseline(&self, against: &str) -> Result<Baseline, TrainError> {
        if !self.is_small() {
            return Err(TrainError::Suite(no_equity(self.name())));
        }
        let mut other = open::agent(self, against)?;
        let random = equity(self, &mut Random, &mut other)?.equity;
        let mut best = open::agent(self, &format!("optimal:{against}"))?;
        Ok(Baseline { random, optimal: equity(self, &mut best, &mut other)?.equity })
    }

    /// Measures a checkpoint of this game.
    ///
    /// # Errors
    /// See [`TrainError`].
    fn evaluate(&self, checkpoint: Checkpoint, options: &EvaluateOptions) -> Result<Report, TrainError> {
        let path = checkpoint.path.clone();
        let (mut bound, manifest) = open::bind(self, checkpoint)?;
        let search = options.search.as_ref();
        if search.is_some() {
            search::fits(self)?;
            if *bound.model.head() == Head::Policy {
                let message = "is a policy: its outputs are not values, which `search:` compares".into();
                return Err(OpenError::Mismatch { path, message }.into());
            }
        }
        let files = [&options.positions, &options.decisions];
        for path in files.into_iter().flatten() {
            // Fail early, before expensive work.
            std::fs::metadata(path).map_err(ModelError::io(path))?;
        }
        let elsewhere = options.exhaustive || files.iter().any(|file| file.is_some());
        let usual = || if elsewhere { Vec::new() } else { self.card().suites };
        let suites = if options.suites.is_empty() { usual() } else { options.suites.clone() };
        let distribution = options.distribution.as_deref();
        let unit = Config::from_saved(manifest.config.clone()).map_or("games", |c| c.learn.unit());
        if let Some(name) = distribution {
            // Fail early, before expensive work.
            Positions::new(self, Some(name))?;
        }
        let (name, step) = (manifest.game.clone(), manifest.step);
        let mut report = Report { checkpoint: path, game: name, step, unit, ..Report::default() };
        let measures_values = options.exhaustive || suites.iter().any(|suite| needs_exact_values(*suite));
        if let Some(kinds) = Kinds::beside(&report.checkpoint).filter(|_| measures_values) {
            let main = positions::named(self, distribution);
            kinds.caution(&report.checkpoint, &[&main], &[]);
        }
        if let Some(suite) = suites.iter().find(|suite| search.is_some() && !chooses(**suite)) {
            let message = format!(
                "`{}` measures the checkpoint's own values: leave out `search:`, or measure equity, grade, move-loss or matches",
                suite.name()
            );
            return Err(TrainError::Suite(message));
        }
        if search.is_some() && elsewhere {
            let message = "errors of values are those of the checkpoint itself: leave out `search:`".into();
            return Err(TrainError::Suite(message));
        }
        for suite in suites {
            check_suite(self, suite)?;
            measure(self, &mut bound, &manifest, suite, options, &mut report)?;
        }
        if !elsewhere && (options.outcomes || options.suites.is_empty()) {
            report.outcomes = outcomes::outcomes(self, &mut bound, distribution, options.samples)?;
        }
        if !elsewhere {
            report.experts = experts::experts(self, &mut bound, &manifest, distribution)?;
        }
        let has_values = |path: &PathBuf| self.files().has_values(self, path).map_err(OpenError::from);
        if let Some(path) = &options.positions
            && !has_values(path)?
        {
            report.valued = Some(value_file(self, &mut bound, path, options.out.as_deref())?);
        } else if let Some(path) = &options.positions {
            if options.out.is_some() {
                let what = "has values to compare with, so nothing is written: name no output file, or leave the values out";
                return Err(GameError::data(path, what).into());
            }
            report.positions = Some(positions::file(self, &mut bound, path)?);
        }
        if let Some(path) = &options.decisions {
            report.decisions = Some(decisions::decisions(self, &mut bound, path, &options.peers)?);
        }
        if options.exhaustive {
            const WHAT: &str = "measuring all positions";
            work::share(WHAT, 0.0);
            // The last thread to report is not necessarily the last to finish.
            let found =
                exhaustive::exhaustive(self, &mut bound, &|share| work::share(WHAT, share.min(0.999)));
            work::share(WHAT, 1.0);
            report.exhaustive = Some(found?);
        }
        Ok(report)
    }

    /// The checkpoint's values of positions in the game's text form, then of the positions of a file. `inputs` adds the
    /// encoded rows.
    ///
    /// # Errors
    /// [`TrainError`] if the checkpoint cannot be opened or a text is not a position.
    fn value(
        &self,
        checkpoint: Checkpoint,
        texts: &[String],
        file: Option<&Path>,
        inputs: bool,
    ) -> Result<Vec<PositionValue>, TrainError> {
        let (path, mut checkpoint) = (checkpoint.path.clone(), checkpoint);
        open::with_usual_tables(self, &mut checkpoint.manifest);
        let (mut bound, _) = open::bind(self, checkpoint)?;
        let named = named_positions(self, texts, file)?;
        if let Some(kinds) = Kinds::beside(&path) {
            let class = self.positions().class;
            let classes: BTreeSet<u64> = named.iter().map(|(_, (state, _))| class(state)).collect();
            let classes: Vec<String> = classes.iter().map(u64::to_string).collect();
            kinds.caution(&path, &[], &classes);
        }
        inspected(self, &mut bound, named, inputs)
    }

    /// Values of positions by an agent: a valuation, or a checkpoint with search.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] if it has no values, or cannot search in this game.
    fn value_by(
        &self,
        agent: &str,
        best: bool,
        texts: &[String],
        file: Option<&Path>,
    ) -> Result<Vec<PositionValue>, TrainError> {
        let found = naming::resolve(self, agent, &[])?;
        // A checkpoint with other tables values positions itself.
        if let (Some(folder), Some(tables)) = (found.plain_folder(), found.spec.tables()) {
            let (mut bound, _) = open::open_with(self, folder, best, Some(tables))?;
            return inspected(self, &mut bound, named_positions(self, texts, file)?, false);
        }
        let named = named_positions(self, texts, file)?;
        let states: Vec<G::State> = named.iter().map(|(_, (state, _))| state.clone()).collect();
        let Some(mut search) = naming::evaluator_for(self, &found, best, Some(&states))? else {
            let message =
                format!("`{agent}` is an agent without values: `adept play {agent}` shows how it plays");
            return Err(OpenError::Unknown(message).into());
        };
        let values =
            named.into_iter().map(|(name, p)| inspect::inspect_by(self, &mut search, &p, name, true));
        Ok(values.collect::<Result<_, _>>()?)
    }

    /// Describes a checkpoint of this game.
    ///
    /// # Errors
    /// [`TrainError`] if it does not fit.
    fn describe(&self, checkpoint: Checkpoint) -> Result<Described, TrainError> {
        let path = checkpoint.path.clone();
        let (bound, manifest) = open::bind(self, checkpoint)?;
        let unit = Config::from_saved(manifest.config.clone()).map_or("games", |c| c.learn.unit());
        let about =
            Progress { step: manifest.step, unit, seed: manifest.seed, revision: manifest.revision.clone() };
        let described =
            described(&bound, Some(path), manifest.experiment("name"), manifest.game.clone(), about);
        Ok(Described { quantised: manifest.quantised, ..described })
    }

    /// Describes the untrained network of a config of this game.
    ///
    /// # Errors
    /// If the game has no such encoder, or the architecture is invalid.
    fn describe_config(&self, config: &Config) -> Result<Described, TrainError> {
        let encoder = open::encoder(self, config.game.encoder.as_deref())?;
        let mut rng = stream(config.seed, "init", 0);
        let head = config.head_of(outcome_classes(self)).map_err(OpenError::from)?;
        let learner = adept_model::build(
            &config.architecture,
            encoder.channels(),
            &head,
            config.learn.optimiser,
            &mut rng,
        )?;
        let bound = GameModel::new(self, encoder, learner);
        let revision = adept_trainer::REVISION.to_string();
        let about = Progress { step: 0, unit: config.learn.unit(), seed: config.seed, revision };
        Ok(described(&bound, None, &config.name, config.game.rules.clone(), about))
    }
}

/// Whether a suite measures choices, which may use a search.
fn chooses(suite: Suite) -> bool {
    match suite {
        Suite::Equity | Suite::Grade | Suite::MoveLoss | Suite::Matches => true,
        Suite::Rms | Suite::Exploitability | Suite::Speed => false,
    }
}

/// Whether a suite compares with exact values of positions.
fn needs_exact_values(suite: Suite) -> bool {
    match suite {
        Suite::Rms | Suite::MoveLoss => true,
        Suite::Equity | Suite::Grade | Suite::Matches | Suite::Exploitability | Suite::Speed => false,
    }
}

/// Refuses a suite that the game does not support.
fn check_suite<G: Kit>(game: &G, suite: Suite) -> Result<(), TrainError> {
    match suite {
        Suite::Equity if !game.is_small() => {
            let why = no_equity(game.name());
            let message = format!("{why}: measure {}", suites_of(game));
            Err(TrainError::Suite(message))
        }
        Suite::Equity if game.hides() => {
            let instead = if has_public_tree(game) { "`exploitability` or `matches`" } else { "`matches`" };
            let message = format!(
                "{} has hidden information, so there is no best play to compare with: measure {instead}",
                game.name()
            );
            Err(TrainError::Suite(message))
        }
        _ if needs_exact_values(suite) && !has_oracle(game) => {
            let message =
                format!("{} has no exact values of positions: measure {}", game.name(), suites_of(game));
            Err(TrainError::Suite(message))
        }
        // Grades and best responses say themselves what they lack.
        Suite::Equity | Suite::Rms | Suite::MoveLoss => Ok(()),
        Suite::Grade | Suite::Matches | Suite::Exploitability | Suite::Speed => Ok(()),
    }
}

/// Measures one suite.
fn measure<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    manifest: &Manifest,
    suite: Suite,
    options: &EvaluateOptions,
    report: &mut Report,
) -> Result<(), TrainError> {
    let (search, distribution) = (options.search.as_ref(), options.distribution.as_deref());
    match suite {
        Suite::Equity => {
            let own = || eval_opponents(game, manifest);
            let against = if options.against.is_empty() { own() } else { options.against.clone() };
            let asked = !options.against.is_empty();
            report.equity = Some(measure_equity(game, bound, search, &against, asked)?);
        }
        Suite::Grade => report.grade = Some(grade::grade(game, &mut chooser(game, bound, search))?),
        Suite::Rms => {
            let count = sampled(options, 100_000)?;
            report.rms = Some(positions::rms(game, bound, distribution, count)?);
        }
        Suite::MoveLoss => {
            let count = sampled(options, 250_000)?;
            let mut chooser = chooser(game, bound, search);
            report.move_loss = Some(positions::moves(game, &mut chooser, distribution, count)?);
        }
        Suite::Matches => {
            let mut against = options.against.clone();
            if against.is_empty() {
                against = eval_opponents(game, manifest);
                against.retain(|name| name != "minimax");
            }
            let games = options.samples.unwrap_or(4_000);
            report.matches =
                Some(play::matches(game, &report.checkpoint, search, &against, games, &options.cancel)?);
        }
        Suite::Exploitability => {
            report.exploitability = Some(play::exploitability(game, bound, manifest)?);
        }
        Suite::Speed => {
            let cells = speed::speed(game, bound);
            report.speed = (!cells.is_empty()).then_some(cells);
        }
    }
    Ok(())
}

/// The opponents against which a checkpoint is measured by default: those of its config that can be opened, and simple agents.
fn eval_opponents<G: Kit>(game: &G, manifest: &Manifest) -> Vec<String> {
    let own = Config::from_saved(manifest.config.clone()).map(|c| c.evaluate_against());
    let mut opponents = own.unwrap_or_default();
    // A checkpoint that was moved may have lost its opponents' files.
    opponents.retain(|name| match naming::resolve(game, name, &[]) {
        Ok(_) => true,
        Err(error) => {
            notes::note(&format!("not measured against an opponent of its config: {error}"));
            false
        }
    });
    let others = if game.zero_sum() && !game.hides() { &["random", "minimax"][..] } else { &["random"] };
    for other in others {
        if !opponents.iter().any(|j| j == other) {
            opponents.push((*other).into());
        }
    }
    opponents
}

fn measure_equity<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    search: Option<&SearchOptions>,
    opponents: &[String],
    asked: bool,
) -> Result<EquityReport, TrainError> {
    let mut found = Vec::with_capacity(opponents.len());
    let mut usage = None;
    for name in opponents {
        let mut opponent = match open::agent(game, name) {
            // The default opponent is skipped silently: whether a game has later dice is not known in advance.
            Err(_) if !asked && name == "minimax" => continue,
            opponent => opponent?,
        };
        bound.model.reset_usage();
        found.push((
            name.clone(),
            equity(game, &mut Greedy::new(chooser(game, bound, search)), &mut opponent)?,
        ));
        usage = usage.or_else(|| bound.model.usage());
    }
    let (against, first) = found[0].clone();
    Ok(EquityReport {
        baseline: game.baseline(&against)?,
        against,
        equity: first.equity,
        first: first.seats[0],
        second: first.seats[first.seats.len() - 1],
        opponents: found,
        usage,
    })
}

/// The policy that chooses moves: the checkpoint, or a search with its values.
fn chooser<'a, G: Kit>(
    game: &G,
    bound: &'a mut GameModel<G>,
    search: Option<&SearchOptions>,
) -> Box<dyn Evaluator<G> + 'a> {
    // Boxed, so that the search is compiled only once per game.
    let values: Box<dyn Evaluator<G> + 'a> = Box::new(bound);
    match search {
        Some(options) => Box::new(Search::new(game, values, options.clone())),
        None => values,
    }
}

/// Checks that a file has positions.
fn has_positions(path: &Path, count: usize) -> Result<(), TrainError> {
    match count {
        0 => Err(OpenError::Unknown(format!("{}: has no positions", path.display())).into()),
        _ => Ok(()),
    }
}

/// The suites that a game has, for messages.
fn suites_of<G: Kit>(game: &G) -> String {
    let names: Vec<String> = game.card().suites.iter().map(|suite| format!("`{}`", suite.name())).collect();
    names.join(" or ")
}

/// Values of named positions by a checkpoint.
fn inspected<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    named: Vec<(String, ParsedPosition<G>)>,
    inputs: bool,
) -> Result<Vec<PositionValue>, TrainError> {
    let detail = inspect::Detail { inputs, ..inspect::Detail::default() };
    let values = named.into_iter().map(|(name, at)| inspect::inspect(game, bound, &at, name, detail));
    Ok(values.collect::<Result<_, _>>()?)
}

/// Positions in the game's text form, then those of a file, with their texts.
fn named_positions<G: Kit>(
    game: &G,
    texts: &[String],
    file: Option<&Path>,
) -> Result<Vec<(String, ParsedPosition<G>)>, TrainError> {
    let mut named: Vec<(String, ParsedPosition<G>)> =
        texts.iter().cloned().zip(inspect::read(game, texts)?).collect();
    if let Some(file) = file {
        let read = game.files().read(game, file)?;
        has_positions(file, read.len())?;
        named.extend(read.into_iter().map(|p| (game.position_text(&p.0), p)));
    }
    Ok(named)
}

/// A file of positions with added values.
#[derive(Clone, Debug, Serialize)]
pub struct Valued {
    /// The file with the values.
    pub path: PathBuf,
    /// Number of positions.
    pub rows: u64,
    /// Mean value for the player to move.
    pub mean: f64,
    /// Mean probability of winning, in games that always have one winner.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_win_probability: Option<f64>,
}

/// Writes the values of a file's positions, for the player to move.
fn value_file<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    path: &Path,
    out: Option<&Path>,
) -> Result<Valued, TrainError> {
    let read = game.files().read(game, path)?;
    has_positions(path, read.len())?;
    let mut values = Vec::new();
    inspect::values(game, bound, &read, &mut values)?;
    let usual = path.with_extension("values.csv");
    let refuse = |message: &str| {
        Err(TrainError::Folder { path: out.unwrap_or(&usual).into(), message: message.into() })
    };
    let same = |out: &Path| out.canonicalize().is_ok_and(|out| path.canonicalize().is_ok_and(|p| p == out));
    match out {
        None if usual.exists() => return refuse("already exists: choose a file"),
        Some(out) if same(out) => return refuse("holds the positions: choose another file"),
        _ => {}
    }
    let out = out.map_or_else(|| usual.clone(), Path::to_path_buf);
    Files::default().replace(&out, game.files().write(game, &read, &values).as_bytes())?;
    let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / values.len().max(1) as f64;
    let mean_win_probability = game.counting().win_probability(mean);
    Ok(Valued { path: out, rows: values.len() as u64, mean, mean_win_probability })
}

/// Description of a checkpoint or config.
#[derive(Debug, Serialize)]
pub struct Described {
    /// Its path; `None` for an untrained config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<PathBuf>,
    /// Name of the experiment.
    pub name: String,
    /// Rule set.
    pub game: String,
    /// Encoder.
    pub encoder: String,
    /// Channels with the meaning of each input.
    pub channels: Vec<ChannelAbout>,
    /// Meaning of its output: a value, the logit of a policy, or outcome classes.
    pub head: adept_model::Head,
    /// Number of games or samples it learned from.
    pub step: u64,
    /// `games` or `samples`.
    pub unit: &'static str,
    /// Seed.
    pub seed: u64,
    /// Revision of the program that trained it.
    pub revision: String,
    /// Quantisation of a quantised checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantised: Option<Quantisation>,
    /// Size and cost.
    #[serde(flatten)]
    pub size: Description,
}

/// A channel and its meaning.
#[derive(Debug, Serialize)]
pub struct ChannelAbout {
    /// Name.
    pub name: String,
    /// Kind of values.
    pub kind: String,
    /// Meaning of each input.
    pub about: String,
}

/// How far a network was trained, and by which program.
struct Progress {
    step: u64,
    unit: &'static str,
    seed: u64,
    revision: String,
}

fn described<G: Kit>(
    bound: &GameModel<G>,
    checkpoint: Option<PathBuf>,
    name: &str,
    game: String,
    about: Progress,
) -> Described {
    let Progress { step, unit, seed, revision } = about;
    let channels = bound.encoder().channels().iter();
    Described {
        checkpoint,
        name: name.into(),
        game,
        encoder: bound.encoder().name().into(),
        channels: channels
            .map(|c| ChannelAbout {
                name: c.name.to_string(),
                kind: format!("{:?}", c.kind),
                about: c.about.to_string(),
            })
            .collect(),
        head: bound.model.head().clone(),
        step,
        unit,
        seed,
        revision,
        quantised: None,
        size: bound.model.describe(),
    }
}
