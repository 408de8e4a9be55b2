//! One run: plays games, takes optimiser steps, measures, and writes checkpoints.

use super::error::{TrainError, Way};
use super::evaluation::{EvalOpponent, Match, Patience};
use super::events::EventFile;
use super::folder::{FORMAT, Folder, Found, Lock, Opponent, Record, Score};
use super::games::{SelfPlayState, Span};
use super::host::{Clock, Host};
use super::observe::{Cancel, Event, Observer};
use super::source::{Source, source};
use super::start::{Init, Start, begin_with_cells, begin_with_clusters, reassign_cells};
use super::steer::{CHANGES, Changed, Changes, ON_RANKS, Pace, Steering};
use crate::average::Average;
use crate::config::{Config, Examples, Method, SCREEN, Suite};
use crate::labels::{self, LabelReport};
use crate::positions::{Tests, With, oracle};
use crate::shards::Shards;
use adept_arena::cfr::Decisions;
use adept_arena::{LearnerModel, OpenError, naming, open};
use adept_game::{GameError, Kit, stream};
use adept_ground::profile::{self, Phase, Profiler, Seconds};
use adept_model::checkpoint::{self, Manifest, Origin};
use adept_model::native::Isa;
use adept_model::{Engine, ModelError, Rows, Tensor};
use adept_ranks::Ranks;
use rustc_hash::FxHasher;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::hash::Hasher;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options of a run besides its config.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// Run folder; `checkpoints/runs/NAME-SEED` if `None`.
    pub out: Option<PathBuf>,
    /// Continue from the latest checkpoint, if there is one.
    pub resume: bool,
    /// With `resume`: if the config differs from the run's only in a larger length, make the run longer.
    pub extend: bool,
    /// Start anew in place of an unfinished run: its record, measurements, pictures and checkpoints are removed. A finished run is
    /// refused, and so are foreign files.
    pub fresh: bool,
    /// Start from the weights of these checkpoints.
    pub init: Vec<Init>,
    /// The command has no other run, so that it is finished when this one is.
    pub is_alone: bool,
    /// Write a checkpoint and stop after this many seconds.
    pub max_seconds: Option<f64>,
    /// Where other settings are requested while it learns. A run on several ranks refuses that.
    pub steering: Steering,
    /// Also write an event file for TensorBoard. A run that has one keeps it up to date without being told again.
    pub tensorboard: bool,
    /// Threads that compute the shards of a batch; 0 for one per core. Results do not depend on it.
    pub threads: usize,
    /// Also find out where the time goes, for the record. What other runs in this process do at the same time counts too, and one of
    /// them has the profile.
    pub profile: bool,
    /// The ranks that share the work. Every one of them must call the same functions. The first writes the files.
    pub ranks: Ranks,
    /// File system and clock.
    pub host: Host,
}

/// Pause between two checkpoints if the config does not count games. Results do not depend on it.
const CHECKPOINT_PAUSE: Duration = Duration::from_secs(10);

/// State of a run outside the learner.
#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    #[serde(flatten)]
    games: SelfPlayState,
    /// Sum of losses, and number of samples, since the last measurement.
    loss: f64,
    samples: u64,
    /// Best measurement, and number of measurements since then.
    #[serde(default)]
    patience: Patience,
    /// Hash of the examples, if they come from a file. A resumed run must have the same ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    examples: Option<u64>,
    /// Measurements in a row that did not tell positions apart.
    #[serde(default, skip_serializing_if = "is_none")]
    standing: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Runs an experiment until it ends or is cancelled. Returns its folder and record. The config's `game.rules`
/// must be the name of `game`.
///
/// # Errors
/// See [`TrainError`]. Files written before stay valid.
pub fn train<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<(PathBuf, Record), TrainError> {
    run(game, config, seed, options, observer, cancel).map_err(TrainError::of_run)
}

fn run<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<(PathBuf, Record), TrainError> {
    let (path, ranks) = (folder_of(config, seed, options), &options.ranks);
    check_alike(ranks)?;
    let is_steered = options.steering.begin(ranks.are_several());
    if ranks.any(u8::from(is_steered)) > 0 {
        return Err(TrainError::Ranks(ON_RANKS.into()));
    }
    let folder = Folder::new(path.clone(), options.host.files.clone());
    let config = &Config { seed, ..config.clone() };
    let mut experiment = experiment(game, config, seed, options)?;
    let begins = experiment.record.clone();
    // Examples and test positions are read before there is a folder, so that a fault in them leaves none.
    let peek = || -> Result<bool, TrainError> {
        let anew = matches!(earlier(&folder, config, options, Some(&begins))?, Earlier::Nothing);
        if anew {
            folder.check_place()?;
        }
        Ok(anew)
    };
    let anew = agree(ranks, ranks.is_first().then(peek))?;
    if anew {
        experiment.prepare(&|what| observer.event(seed, Event::Preparing(what)))?;
        agree(ranks, ranks.is_first().then(|| experiment.check_space()))?;
    }
    // Only the first rank looks at the folder and writes to it.
    let mut _lock = None;
    let mut begin = || -> Result<Earlier, TrainError> {
        _lock = Some(locked(&folder)?);
        let earlier = earlier(&folder, config, options, Some(&begins))?;
        if matches!(earlier, Earlier::Nothing) != anew {
            return Err(refused(&folder, "changed while this run was prepared: another process has used it"));
        }
        match &earlier {
            Earlier::Nothing => experiment.folder.create(&experiment.record)?,
            Earlier::Finished(record) => {
                // Removes files left by a process that was killed at its very end. The result is valid without
                // this.
                let _ = folder.complete(record).and_then(|()| folder.prune(record, None));
                if !record.changed.is_empty() {
                    let what = format!(
                        "settings of the finished run `{}` (seed {seed}) were changed while it learned ({}): its config alone gives \
                         another run",
                        record.name,
                        record.changes()
                    );
                    observer.event(seed, Event::Preparing(&what));
                }
            }
            Earlier::Stopped(record) => experiment.resume((**record).clone(), observer)?,
            Earlier::Shorter(record) => {
                let (unit, length) = (config.learn.unit(), config.learn.length());
                let what = format!("extending the run from {} to {length} {unit}", record.games);
                observer.event(seed, Event::Preparing(&what));
                experiment.resume(Folder::extended((**record).clone(), length), observer)?;
                experiment.patience = Patience::default();
                experiment.check_space()?;
            }
        }
        // A run that has the file keeps it.
        if options.tensorboard || EventFile::is_in(&folder) {
            let record = match &earlier {
                Earlier::Finished(record) => record,
                _ => &experiment.record,
            };
            experiment.events = Some(EventFile::write(&folder, record)?);
        }
        Ok(earlier)
    };
    let earlier = agree(ranks, ranks.is_first().then(&mut begin))?;
    if let Earlier::Finished(record) = earlier {
        observer.event(seed, Event::Ended(&record));
        return Ok((path, *record));
    }
    if ranks.are_several() {
        let record = agree(ranks, ranks.is_first().then(|| Ok(experiment.record.clone())))?;
        if !ranks.is_first() {
            experiment.follow(record)?;
        }
    }
    experiment.record.profile.clear();
    experiment.profiler = options.profile.then(Profiler::start).flatten().map(Arc::new);
    experiment.learn(options.max_seconds, observer, cancel)?;
    observer.event(seed, Event::Ended(&experiment.record));
    Ok((path, experiment.record))
}

/// Checks that all ranks round alike: that their processors have the same instructions, and that they run the same program.
fn check_alike(ranks: &Ranks) -> Result<(), TrainError> {
    if !ranks.are_several() {
        return Ok(());
    }
    let mine = format!("{:?}, revision {}", Isa::detect(), crate::REVISION);
    let all = ranks.collect(mine.as_bytes());
    let Some(other) = all.iter().position(|one| *one != all[0]) else { return Ok(()) };
    let text = |rank: usize| String::from_utf8_lossy(&all[rank]).into_owned();
    Err(TrainError::Ranks(format!(
        "rank 0 computes with {}, rank {other} with {}: results would depend on who computes what. Choose machines of one kind, \
         and one program",
        text(0),
        text(other)
    )))
}

/// The result of the first rank, which alone has one. The others fail where it fails.
pub(super) fn agree<T: Serialize + DeserializeOwned>(
    ranks: &Ranks,
    mine: Option<Result<T, TrainError>>,
) -> Result<T, TrainError> {
    let unreadable = |e: serde_json::Error| TrainError::Elsewhere(e.to_string());
    if !ranks.are_several() {
        return mine.unwrap_or_else(|| Err(TrainError::Elsewhere("no rank has a result".into())));
    }
    let said = match &mine {
        Some(Ok(result)) => Some(serde_json::to_vec(&Ok::<_, String>(result)).map_err(unreadable)?),
        Some(Err(error)) => Some(serde_json::to_vec(&Err::<T, _>(error.to_string())).map_err(unreadable)?),
        None => None,
    };
    let heard = ranks.from_first(said);
    if let Some(mine) = mine {
        return mine;
    }
    serde_json::from_slice::<Result<T, String>>(&heard).map_err(unreadable)?.map_err(TrainError::Elsewhere)
}

/// What the folder of a run holds before it begins.
#[derive(Serialize, Deserialize)]
enum Earlier {
    Nothing,
    Finished(Box<Record>),
    Stopped(Box<Record>),
    /// A finished or stopped run that the config makes longer.
    Shorter(Box<Record>),
}

fn refused(folder: &Folder, message: impl Into<String>) -> TrainError {
    TrainError::Folder { path: folder.path.clone(), message: message.into() }
}

fn no_run_folder(folder: &Folder, why: &str) -> TrainError {
    refused(folder, format!("cannot be used as a run folder, {why}: choose another"))
}

/// Keeps other processes out of the folder of a run.
fn locked(folder: &Folder) -> Result<Lock, TrainError> {
    if let Found::Other(why) = folder.look()? {
        return Err(no_run_folder(folder, &why));
    }
    let in_use = "another process is using this run: wait for it, or choose another folder";
    folder.lock()?.ok_or_else(|| refused(folder, in_use))
}

/// Looks for an earlier run. Fails if this one may not follow it. Without the record with which this one begins, its origins and
/// rules are not compared.
fn earlier(
    folder: &Folder,
    config: &Config,
    options: &TrainOptions,
    begins: Option<&Record>,
) -> Result<Earlier, TrainError> {
    let taken = |ways: &[Way], message: String| {
        Err(TrainError::Taken { path: folder.path.clone(), message, ways: ways.to_vec() })
    };
    let record = match folder.look()? {
        Found::Nothing => return Ok(Earlier::Nothing),
        Found::Other(why) => return Err(no_run_folder(folder, &why)),
        Found::Run(record) => record,
    };
    let name = &record.name;
    if options.fresh {
        return match record.finished {
            true => taken(&[Way::Init], format!("holds the finished run `{name}`, which is never replaced")),
            false => Ok(Earlier::Nothing),
        };
    }
    // Nothing has been learned since the start, so initial weights must be given again to go on.
    let origins = begins.map(|begins| &begins.init[..]);
    let has_nothing = record.latest.is_none() && !record.finished;
    if has_nothing && options.resume && origins.is_some_and(|o| !same_origins(o, &record.init)) {
        let before: Vec<String> = record.init.iter().map(|o| o.path.display().to_string()).collect();
        let message = match before.is_empty() {
            true => format!("holds the run `{name}`, which began without the weights of another"),
            false => format!("holds the run `{name}`, which began with the weights of {}", before.join(", ")),
        };
        let ways: &[Way] = if before.is_empty() { &[Way::Fresh] } else { &[Way::Again, Way::Fresh] };
        return taken(ways, message);
    }
    // Without a checkpoint there is nothing to lose.
    if has_nothing {
        return Ok(Earlier::Nothing);
    }
    let unfinished = |ways: &'static [Way]| if record.finished { &[] } else { ways };
    if let Some((then, now)) = record.rules.as_ref().zip(begins.and_then(|begins| begins.rules.as_ref()))
        && then != now
    {
        let what = format!(
            "holds the run `{name}` of a game `{}` with other rules or inputs",
            record.config.game.rules
        );
        return taken(unfinished(&[Way::Fresh]), what);
    }
    if origins.is_some_and(|o| !o.is_empty() && !same_origins(o, &record.init)) {
        let what = format!("holds the run `{name}`, which started from other weights: start without them");
        return taken(unfinished(&[Way::Fresh]), what);
    }
    if let Some(changed) = begins.and_then(|begins| other_opponent(&record.opponents, &begins.opponents)) {
        return taken(unfinished(&[Way::Fresh]), format!("holds the run `{name}`, {changed}"));
    }
    // Paths may have been given from another folder.
    let then = record.config_beside(config, None);
    let (same, longer) = (then.same_experiment(config), then.is_extended_by(config));
    match (same, record.finished) {
        (true, true) => Ok(Earlier::Finished(record)),
        (false, _) if options.resume && options.extend && longer => Ok(Earlier::Shorter(record)),
        (false, finished) => {
            let (step, games, unit) = (record.step, record.games, record.config.learn.unit());
            let stopped =
                if finished { String::new() } else { format!(", stopped after {step} of {games} {unit}") };
            let what = format!(
                "holds the run `{name}` (seed {}) of another config ({}){stopped}{}",
                record.seed,
                then.differences(config),
                match longer {
                    true => "",
                    // An extended run whose config file has the old length.
                    false if config.is_extended_by(&then) =>
                        "; it was made longer, so give its length in the config or with --set",
                    false if matches!(config.learn.method, Method::Regrets(_)) && options.resume =>
                        "; runs of regrets cannot be made longer",
                    false => "",
                }
            );
            let ways: &[Way] = match (longer, finished) {
                (true, true) => &[Way::Longer, Way::Init],
                (true, false) => &[Way::Longer, Way::Fresh, Way::Init],
                (false, true) => &[Way::Init],
                (false, false) => &[Way::Fresh, Way::Init],
            };
            taken(ways, what)
        }
        (true, false) if options.resume => Ok(Earlier::Stopped(record)),
        (true, false) => {
            let (step, games, unit) = (record.step, record.games, record.config.learn.unit());
            let what = format!("holds this run, stopped after {step} of {games} {unit}");
            taken(&[Way::Resume, Way::Fresh], what)
        }
    }
}

/// Why a run may not begin in its folder, as far as that can be said without its initial weights.
pub fn obstacle(config: &Config, seed: u64, options: &TrainOptions) -> Option<TrainError> {
    let folder = Folder::new(folder_of(config, seed, options), options.host.files.clone());
    let begin = || -> Result<(), TrainError> {
        if let Found::Run(_) = folder.look()? {
            locked(&folder)?;
        }
        earlier(&folder, &Config { seed, ..config.clone() }, options, None).map(drop)
    };
    begin().err()
}

/// The folder of this run.
fn folder_of(config: &Config, seed: u64, options: &TrainOptions) -> PathBuf {
    let usual = || PathBuf::from("checkpoints/runs").join(format!("{}-{seed}", config.name));
    options.out.clone().unwrap_or_else(usual)
}

/// Prepares everything for the start of a run; writes nothing.
pub(super) fn experiment<'a, G: Kit>(
    game: &'a G,
    config: &'a Config,
    seed: u64,
    options: &TrainOptions,
) -> Result<Experiment<'a, G>, TrainError> {
    let mut starts: Vec<Start> = Vec::new();
    for init in &options.init {
        let taken: Vec<Option<String>> = starts.iter().map(|s| s.origin.part.clone()).collect();
        starts.extend(Start::read(game, config, init, &taken)?);
    }
    let folder = Folder::new(folder_of(config, seed, options), options.host.files.clone());
    Experiment::new(game, config, seed, folder, &starts, options)
}

/// Whether two runs began with the same weights in the same parts.
fn same_origins(a: &[Origin], b: &[Origin]) -> bool {
    let key = |o: &Origin| (o.part.clone(), o.checksum.clone());
    a.iter().map(key).eq(b.iter().map(key))
}

/// How the checkpoints that a run has as opponents differ from those that it had.
fn other_opponent(then: &[Opponent], now: &[Opponent]) -> Option<String> {
    let of = |all: &[Opponent], setting: &str| -> Option<Opponent> {
        all.iter().find(|opponent| opponent.setting == setting).cloned()
    };
    let what = |opponent: Option<Opponent>| match opponent {
        Some(Opponent { agent, checksum, .. }) => {
            format!("`{agent}`, checkpoint {}", open::Prior::pin(&checksum))
        }
        None => "an agent of the game".into(),
    };
    let settings = then.iter().chain(now).map(|opponent| &opponent.setting);
    settings.map(|setting| (setting, of(then, setting), of(now, setting))).find_map(|(setting, then, now)| {
        let sum = |opponent: &Option<Opponent>| opponent.as_ref().map(|o| o.checksum.clone());
        (sum(&then) != sum(&now)).then(|| {
            let role = if setting == SCREEN { "screen" } else { "opponent" };
            format!("whose {role} `{setting}` was {} and is now {}: put it back", what(then), what(now))
        })
    })
}

/// The checkpoints that a config names as agents, as they are now.
fn opponents<G: Kit>(game: &G, config: &Config) -> Result<Vec<Opponent>, OpenError> {
    let named = config.opponents().into_iter().map(|(setting, agent)| (setting, agent.to_string()));
    // Without a setting, it may still be `random`, of which a folder may have the name.
    let usual = config.evaluate_against().into_iter().filter(|_| config.evaluate.against.is_none());
    let all = named.chain(usual.map(|agent| ("evaluate.against".to_string(), agent)));
    let mut found = Vec::new();
    for (setting, agent) in all {
        let resolved = naming::resolve(game, &agent, &[])?;
        let screen = resolved.screen.as_deref().map(|folder| (format!("{setting} (its screen)"), folder));
        for (setting, folder) in resolved.folder().map(|folder| (setting, folder)).into_iter().chain(screen) {
            let checksum = checkpoint::manifest(&checkpoint::locate(folder, false)?)?.checksum;
            found.push(Opponent { setting, agent: agent.clone(), checksum });
        }
    }
    Ok(found)
}

pub(super) struct Experiment<'a, G: Kit> {
    pub(super) game: &'a G,
    pub(super) config: &'a Config,
    pub(super) bound: LearnerModel<G>,
    pub(super) source: Box<dyn Source<G> + 'a>,
    pub(super) shards: Shards,
    pub(super) ranks: Ranks,
    /// All decisions of the game, if it can list them.
    pub(super) decisions: Option<Arc<Decisions>>,
    pub(super) tests: Option<Tests>,
    pub(super) values: Vec<f32>,
    /// Rows on which the use of experts is measured, once they are drawn.
    pub(super) shared: Rows,
    pub(super) eval_opponents: Vec<EvalOpponent<G>>,
    /// What perfect play is sure of in each seat, once greedy play is graded.
    pub(super) sure: Option<Vec<f64>>,
    /// Random play against the measured opponents.
    pub(super) floors: Vec<Match>,
    /// The least moves to the solution, in a game for one player.
    pub(super) optimum: Option<u64>,
    pub(super) folder: Folder,
    pub(super) record: Record,
    /// Sum of losses since the last measurement.
    pub(super) loss: f64,
    pub(super) samples: u64,
    pub(super) patience: Patience,
    /// What the file of examples holds, if there is one.
    pub(super) labels: Option<Arc<LabelReport>>,
    /// Rows of random games on which it is seen whether learning stands still.
    pub(super) still: Rows,
    /// Measurements in a row that did not tell positions apart.
    pub(super) standing: u64,
    /// Hash of the examples of a file.
    examples: Option<u64>,
    /// Score and tensors of the best checkpoint, until they are written.
    pub(super) best: Option<(Score, Vec<Tensor>)>,
    /// Metrics not yet written.
    pub(super) lines: String,
    events: Option<EventFile>,
    /// Whether [`Self::prepare`] is done.
    prepared: bool,
    pub(super) clock: Clock,
    steering: Steering,
    /// Those of the record.
    changes: Changes,
    /// Whether it was said that there is no room for more of them.
    is_full_said: bool,
    started: Duration,
    seconds_before: f64,
    profiler: Option<Arc<Profiler>>,
}

impl<'a, G: Kit> Experiment<'a, G> {
    fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        folder: Folder,
        starts: &[Start],
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let clock = options.host.clock.clone();
        let shards = || {
            // A device has one queue of work.
            let threads = match (config.learn.engine, options.threads) {
                (Engine::Burn, _) => 1,
                (Engine::Native, 0) => std::thread::available_parallelism().map_or(1, usize::from),
                (Engine::Native, threads) => threads,
            };
            Shards::new(config.learn.shards, options.ranks.clone(), threads)
        };
        let encoder = open::encoder(game, config.game.encoder.as_deref())?;
        let channels = encoder.channels().to_vec();
        let mut rng = stream(seed, "init", 0);
        let (optimiser, compute) = (config.learn.optimiser, config.learn.compute());
        let head = config.head_of(game.outcome_classes()).map_err(OpenError::from)?;
        let learner =
            adept_model::build_on(&config.architecture, &channels, &head, optimiser, compute, &mut rng)?;
        let mut bound = LearnerModel::learning(game, encoder, learner);
        begin_with_clusters(game, config, seed, &mut bound)?;
        for start in starts {
            start.apply(&mut *bound.model)?;
        }
        let rivals = opponents(game, config)?;
        let measured = config.evaluate_against();
        let measured = measured.iter().map(|name| EvalOpponent::open(game, name, config, seed));
        let measured: Vec<_> = measured.collect::<Result<_, _>>()?;
        let decisions = match config.lists_decisions() {
            true => Some(Arc::new(Decisions::of(game, &**bound.encoder())?)),
            false => None,
        };
        let source = source(game, config, seed, &mut bound, decisions.as_ref(), &shards)?;
        // Another process may have trained one of them further meanwhile.
        if let Some(changed) = other_opponent(&rivals, &opponents(game, config)?) {
            return Err(refused(
                &folder,
                format!("cannot begin a run {changed}, or name a checkpoint in its folder"),
            ));
        }
        let record = Record {
            format: FORMAT,
            name: config.name.clone(),
            seed,
            config: config.clone(),
            folder: config.folder_of_paths(),
            rules: game.fingerprint(),
            finished: false,
            early: None,
            optimal: None,
            step: 0,
            games: config.learn.length(),
            init: starts.iter().map(|s| s.origin.clone()).collect(),
            opponents: rivals,
            seconds: 0.0,
            timing: None,
            profile: Seconds::new(),
            latest: None,
            milestones: Vec::new(),
            best: None,
            r#final: None,
            extended: Vec::new(),
            changed: Vec::new(),
            metrics_bytes: 0,
        };
        let mut shards = shards();
        shards.average = Average::new(config.learn.average);
        Ok(Self {
            game,
            config,
            bound,
            source,
            shards,
            ranks: options.ranks.clone(),
            decisions,
            tests: None,
            values: Vec::new(),
            shared: Rows::new(&channels),
            eval_opponents: measured,
            sure: None,
            floors: Vec::new(),
            optimum: None,
            folder,
            record,
            loss: 0.0,
            samples: 0,
            patience: Patience::default(),
            labels: None,
            still: Rows::new(&channels),
            standing: 0,
            examples: None,
            best: None,
            lines: String::new(),
            events: None,
            prepared: false,
            started: clock.now(),
            clock,
            steering: options.steering.clone(),
            profiler: None,
            changes: Changes::default(),
            is_full_said: false,
            seconds_before: 0.0,
        })
    }

    /// Restores the latest checkpoint of this run. If it is damaged or missing, restores the newest one before
    /// it.
    fn resume(&mut self, record: Record, observer: &dyn Observer) -> Result<(), TrainError> {
        // The config may now keep other checkpoints than before, or be longer.
        let folder = self.config.folder_of_paths();
        let mut record = Record { config: self.config.clone(), folder, ..record };
        if let Some(latest) = record.latest.clone()
            && let Err(error) = self.take_up(&latest)
        {
            if !error.is_loss() {
                return Err(error);
            }
            let older = self.folder.whole_before(&latest)?;
            let found = older.into_iter().find_map(|name| self.take_up(&name).ok().map(|step| (name, step)));
            let Some((name, step)) = found else { return Err(error) };
            observer.event(record.seed, Event::SetBack { why: &error, step });
            self.folder.set_back(&mut record, name, step)?;
        }
        self.folder.complete(&record)?;
        self.folder.prune(&record, None)?;
        self.seconds_before = record.seconds;
        self.changes = Changes::of(&record.changed);
        self.record = record;
        Ok(())
    }

    /// Goes on where the first rank does, whose record this is.
    fn follow(&mut self, record: Record) -> Result<(), TrainError> {
        if let Some(latest) = &record.latest {
            self.take_up(latest)?;
        }
        self.changes = Changes::of(&record.changed);
        self.record = record;
        Ok(())
    }

    /// Restores a checkpoint; returns its step.
    fn take_up(&mut self, name: &str) -> Result<u64, TrainError> {
        let path = self.folder.checkpoint_path(name);
        let checkpoint = checkpoint::read(&path)?;
        let fail = |message: String| ModelError::Checkpoint { path: path.clone(), message };
        // If the prior is a checkpoint, its checksum is part of the encoder's name.
        let (before, now) = (&checkpoint.manifest.encoder, self.bound.encoder().name());
        if !open::same_encoder(before, now) {
            let message =
                format!("was trained with the encoder `{before}`, which is now `{now}`: put its prior back");
            return Err(fail(message).into());
        }
        let Some(training) = checkpoint.manifest.training else {
            return Err(fail("has no training state: the run cannot continue from it".into()).into());
        };
        let progress: Progress =
            serde_json::from_value(training).map_err(|e| fail(format!("training state: {e}")))?;
        (self.loss, self.samples, self.patience) = (progress.loss, progress.samples, progress.patience);
        (self.examples, self.standing) = (progress.examples, progress.standing);
        let restored = self.shards.average.restore(&mut *self.bound.model, &checkpoint.tensors);
        restored.map_err(|e| fail(e.to_string()))?;
        let learner = &*self.bound.model;
        let games = self.source.restore(progress.games, &checkpoint.tensors, learner, &self.shards);
        games.map_err(|e| fail(format!("training state: {e}")))?;
        self.source.publish(&mut *self.bound.model)?;
        Ok(checkpoint.manifest.step)
    }

    pub(super) fn seconds(&self) -> f64 {
        self.seconds_before + self.clock.since(self.started).as_secs_f64()
    }

    fn learn(
        &mut self,
        max_seconds: Option<f64>,
        observer: &dyn Observer,
        cancel: &Cancel,
    ) -> Result<(), TrainError> {
        let (seed, from, games) = (self.record.seed, self.record.step, self.config.learn.length());
        if !self.prepared {
            self.prepare(&|what| observer.event(seed, Event::Preparing(what)))?;
        }
        let every = self.config.evaluate_every();
        let clock = self.clock.clone();
        let mut written = clock.now();
        observer.event(seed, Event::Started { from, games, unit: self.config.learn.unit() });
        self.steer(from, false, observer);
        let tick = (games / 1000).clamp(1, 5000);
        let mut step = from;
        while step < games {
            let begin = step;
            let (end, then) = (self.batch_end(begin), self.batch_end(self.batch_end(begin)));
            self.batch(begin..end, end..then)?;
            self.reassign(begin, end)?;
            // Whether a multiple of n lies in (begin, end].
            let crosses = |n: u64| end / n > begin / n || end == games;
            step = end;
            let spent = || clock.since(self.started).as_secs_f64();
            if crosses(tick) {
                observer
                    .event(seed, Event::Progress { step, rate: (step - from) as f64 / spent().max(1e-9) });
            }
            let out_of_time = max_seconds.is_some_and(|s| spent() >= s);
            let mut over = step == games;
            if crosses(every) {
                let profiler = self.profiler.clone();
                let _measuring = profiler.as_deref().map(|p| p.whole(Phase::Measuring));
                let first = self.ranks.is_first();
                let found = first.then(|| {
                    let evaluation = self.evaluate(step)?;
                    observer.event(seed, Event::Evaluated(&evaluation));
                    Ok(self.record.early.is_some())
                });
                over = agree(&self.ranks, found)? || over;
            }
            self.steer(step, over, observer);
            let milestone = self.config.checkpoints.milestones.is_some_and(crosses);
            // Times are those of the first rank. A signal may reach any.
            let first = self.ranks.is_first();
            let due = match self.config.checkpoints.every {
                Some(games) => crosses(games),
                None => first && crosses(tick) && clock.since(written) >= CHECKPOINT_PAUSE,
            };
            let stop = cancel.requested() || first && out_of_time;
            let asked = self.ranks.any(u8::from(stop) | u8::from(due) << 1);
            let (stop, due) = (!over && asked & 1 > 0, asked & 2 > 0);
            if stop || due || over || milestone {
                let _saving = cancel.saving();
                let profiler = self.profiler.clone();
                let _writing = profiler.as_deref().map(|p| p.whole(Phase::Writing));
                self.checkpoint(step, over, milestone)?;
                written = clock.now();
            }
            if stop || over {
                break;
            }
        }
        Ok(())
    }

    /// Reassigns learned cells, if this is due after the batch that ends at `end`: evenly over the first half of the run.
    fn reassign(&mut self, begin: u64, end: u64) -> Result<(), TrainError> {
        let times = self.config.architecture.reassigns(self.bound.model.channels());
        let due = |time: &u64| {
            let at = (u128::from(self.record.games) * u128::from(*time) / (2 * u128::from(times))) as u64;
            (begin + 1..=end).contains(&at)
        };
        for time in (1..=times).filter(due).collect::<Vec<_>>() {
            reassign_cells(self.game, self.config, self.record.seed, &mut self.bound, time)?;
            self.source.publish(&mut *self.bound.model)?;
        }
        Ok(())
    }

    /// Prepares what learning and measuring need besides the model. The time of the run starts here.
    pub(super) fn prepare(&mut self, say: &dyn Fn(&str)) -> Result<(), TrainError> {
        let (game, config) = (self.game, self.config);
        let drawn = !matches!(config.learn.examples(), Some(Examples::File(_)));
        // Held while examples and test positions are drawn, so that a table is solved once for both.
        let measures = config.measures(Suite::Rms) && self.ranks.is_first();
        let needed = drawn && (config.learn.shows_examples() || measures);
        let _exact = if needed { Some(oracle(game)?) } else { None };
        if let Some(Examples::File(path)) = config.learn.examples()
            && self.ranks.is_first()
            && self.labels.is_none()
        {
            let labels = labels::of_run(game, path)?;
            labels.notes(path).iter().for_each(|note| say(note));
            labels.warnings(path, game.name()).iter().for_each(|warning| say(&format!("warning: {warning}")));
            self.labels = Some(labels);
        }
        if measures && self.tests.is_none() {
            let tests = Tests::new(game, config, With::of(&self.bound))?;
            let (test, rows) = (tests.test.distinct, tests.test.samples.len());
            // Any distribution repeats some positions; a small one repeats many. What a file repeats has been said.
            if drawn && test * 20 < rows * 19 {
                say(&format!("only {test} of {rows} test positions are distinct: the game has few of them"));
            }
            if !tests.apart {
                say("the game has so few positions that examples and test positions overlap");
            }
            self.tests = Some(tests);
        }
        // Resumed runs have their cells from the checkpoint.
        if config.architecture.has_cells(self.bound.model.channels()) && self.record.latest.is_none() {
            begin_with_cells(game, config, self.record.seed, &mut self.bound, &self.record.init)?;
            self.source.publish(&mut *self.bound.model)?;
        }
        self.source.prepare(&self.bound)?;
        let found = self.source.digest();
        let files = config.learn.files();
        if let Some((_, path)) = files.first()
            && self.examples.is_some_and(|before| Some(before) != found)
        {
            let also = files
                .get(1)
                .map_or_else(String::new, |(_, other)| format!(", or those of {},", other.display()));
            let what = format!(
                "its positions{also} changed after this run began: restore the file, or start another run"
            );
            return Err(GameError::data(*path, what).into());
        }
        self.examples = found;
        self.started = self.clock.now();
        self.prepared = true;
        Ok(())
    }

    /// The schedules of the run, with what was changed while it learned.
    pub(super) fn pace(&self) -> Pace<'_> {
        Pace::new(&self.config.learn, &self.changes)
    }

    /// Grants what was requested until this step. The next record says so. A run that is `over` has nothing left to change.
    fn steer(&mut self, step: u64, over: bool, observer: &dyn Observer) {
        let asked = self.steering.take();
        for (key, value) in asked.into_iter().filter(|_| !over) {
            let has_room = self.changes.add(&mut self.record.changed, Changed { step, key, value });
            if !has_room && !std::mem::replace(&mut self.is_full_said, true) {
                let what = format!(
                    "warning: its settings were changed {CHANGES} times, and a record has no more: they stay as they are from \
                     step {step} on"
                );
                observer.event(self.record.seed, Event::Preparing(&what));
            }
        }
    }

    /// The end (exclusive) of the batch that starts with game `begin`.
    pub(super) fn batch_end(&self, begin: u64) -> u64 {
        begin.saturating_add(self.config.learn.batch).min(self.record.games)
    }

    /// Plays the games `span` and learns from them.
    pub(super) fn batch(&mut self, span: Span, next: Span) -> Result<(), TrainError> {
        let (clock, started) = (&self.clock, self.started);
        let now = || clock.since(started).as_secs_f64();
        let pace = Pace::new(&self.config.learn, &self.changes);
        let _games = profile::span(Phase::Games);
        let learned = self.source.batch(&mut self.bound, span, next, &mut self.shards, pace, &now);
        let learned = learned.map_err(|(error, game)| self.named(error, game))?;
        self.loss += learned.loss;
        self.samples += learned.samples;
        if let Some((learning, waiting)) = learned.seconds {
            let timing = self.record.timing.get_or_insert_default();
            timing.samples += learned.samples;
            timing.learning += learning;
            timing.waiting += waiting;
        }
        Ok(())
    }

    /// Adds the step, and the setting to change, to an error about numbers that are not finite.
    fn named(&self, error: ModelError, step: u64) -> TrainError {
        match error {
            ModelError::Diverged { what } => self.diverged(what, step),
            other => other.into(),
        }
    }

    pub(super) fn diverged(&self, what: String, step: u64) -> TrainError {
        let more = match self.config.learn.optimiser {
            adept_model::Optimiser::Sgd(sgd) if sgd.momentum > 0.0 => {
                format!(" or `learn.optimiser.sgd.momentum` (now {})", sgd.momentum)
            }
            _ => String::new(),
        };
        let rate = f64::from(self.pace().rate(step));
        TrainError::Diverged {
            name: self.record.name.clone(),
            seed: self.record.seed,
            step,
            what,
            rate,
            more,
        }
    }

    /// Writes metrics and checkpoints, then the record that makes them valid.
    fn checkpoint(&mut self, step: u64, over: bool, milestone: bool) -> Result<(), TrainError> {
        self.record.step = step;
        self.record.finished = over;
        if over {
            self.source.forget();
        }
        let source = self.source.state(&self.ranks)?;
        self.check_parameters(step)?;
        let first = self.ranks.is_first();
        let written = first.then(|| self.write(source, step, over, milestone));
        agree(&self.ranks, written)
    }

    /// Checks that all ranks have the same parameters.
    fn check_parameters(&mut self, step: u64) -> Result<(), TrainError> {
        if !self.ranks.are_several() || self.bound.model.program().is_none() {
            return Ok(());
        }
        let mut flat = Vec::new();
        self.bound.model.weights(&mut flat)?;
        let mut hash = FxHasher::default();
        flat.iter().for_each(|x| hash.write_u32(x.to_bits()));
        let all = self.ranks.collect(&hash.finish().to_ne_bytes());
        match all.iter().position(|one| *one != all[0]) {
            None => Ok(()),
            Some(rank) => Err(TrainError::Ranks(format!(
                "rank {rank} has other parameters than rank 0 after {step} {}: its machine computes differently. The last \
                 checkpoint is intact",
                self.config.learn.unit()
            ))),
        }
    }

    /// The part of [`Self::checkpoint`] that the first rank does.
    fn write(
        &mut self,
        (games, ahead): (SelfPlayState, Vec<Tensor>),
        step: u64,
        over: bool,
        milestone: bool,
    ) -> Result<(), TrainError> {
        self.record.seconds = self.seconds();
        if let Some(profiler) = &self.profiler {
            self.record.profile = profiler.seconds();
        }
        self.record.metrics_bytes = self.folder.append_metrics(&self.lines)?;
        if let Some(events) = &self.events {
            events.append(&self.folder, &self.lines)?;
        }
        self.lines.clear();
        let latest = checkpoint_name(step);
        let mut state = self.shards.average.state(&mut *self.bound.model)?;
        state.extend(ahead);
        if let Some(bad) = state.iter().find(|t| !t.is_finite()) {
            return Err(self.diverged(format!("tensor `{}`", bad.name), step));
        }
        let Self { loss, samples, patience, examples, standing, .. } = *self;
        let progress = Progress { games, loss, samples, patience, examples, standing };
        let training = serde_json::to_value(&progress).map_err(ModelError::from)?;
        let score = self.best.as_ref().map(|b| &b.0).filter(|b| b.checkpoint == latest);
        let metrics =
            serde_json::to_value(score.or(self.record.r#final.as_ref())).map_err(ModelError::from)?;
        self.write_checkpoint(&latest, step, Some(training), metrics, &state)?;
        // The files at the end do not depend on earlier interruptions.
        let replaced = self.record.best.as_ref().map(|b| b.checkpoint.clone()).filter(|_| !over);
        if let Some((score, state)) = self.best.take() {
            if score.checkpoint != latest {
                let metrics = serde_json::to_value(&score).map_err(ModelError::from)?;
                self.write_checkpoint(&score.checkpoint, score.step, None, metrics, &state)?;
            }
            self.record.best = Some(score);
        }
        if milestone {
            self.record.milestones.push(latest.clone());
        }
        self.record.latest = Some(latest);
        self.folder.write_record(&self.record)?;
        self.folder.prune(&self.record, replaced.as_deref())?;
        Ok(())
    }

    fn write_checkpoint(
        &self,
        name: &str,
        step: u64,
        training: Option<serde_json::Value>,
        metrics: serde_json::Value,
        tensors: &[Tensor],
    ) -> Result<(), TrainError> {
        let path = self.folder.checkpoint_path(name);
        let encoder = self.bound.encoder();
        let config = serde_json::to_value(self.config).map_err(ModelError::from)?;
        let channels = encoder.channels().to_vec();
        let manifest = Manifest {
            step,
            head: self.bound.model.head().clone(),
            init: self.record.init.clone(),
            metrics,
            training,
            ..Manifest::new(self.game.name(), encoder.name(), channels, &self.config.architecture).of(
                config,
                self.record.seed,
                crate::REVISION,
            )
        };
        checkpoint::write(&self.folder.files, &path, manifest, tensors)?;
        Ok(())
    }
}

pub(super) fn checkpoint_name(step: u64) -> String {
    format!("{step:012}")
}
