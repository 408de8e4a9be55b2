//! One run: games, steps, measurements, checkpoints.

use super::error::TrainError;
use super::evaluation::Patience;
use super::folder::{FORMAT, Folder, Found, Record, Score};
use super::games::{GamesState, Span};
use super::host::{Clock, Host};
use super::observe::{Cancel, Event, Observer};
use super::source::Source;
use super::start::{Init, Start, begin_with_clusters};
use crate::config::{Config, Examples, Suite};
use crate::positions::{EXACT_VALUES, Tests};
use adept_arena::cfr::Decisions;
use adept_arena::{Agent, Bound, OpenError, open};
use adept_game::{Kit, stream};
use adept_model::checkpoint::{self, Manifest, Origin};
use adept_model::{ModelError, Tensor};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a run is started, beside its config.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// Folder; `checkpoints/runs/NAME-SEED` without one.
    pub out: Option<PathBuf>,
    /// Go on from the latest checkpoint, if there is one.
    pub resume: bool,
    /// Start from the weights of these checkpoints.
    pub init: Vec<Init>,
    /// Write a checkpoint and stop after that many seconds.
    pub max_seconds: Option<f64>,
    /// Files and time.
    pub host: Host,
}

/// Between two checkpoints where the config does not count games. Where they fall changes nothing in a run.
const CHECKPOINT_PAUSE: Duration = Duration::from_secs(10);

/// What of a run is not in the learner.
#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    #[serde(flatten)]
    games: GamesState,
    /// Σ loss and samples since the last measurement.
    loss: f64,
    samples: u64,
    /// Measurements since the best one, and what that was.
    #[serde(default)]
    patience: Patience,
    /// A number for the examples, where they come from a file: a run goes on with the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    examples: Option<u64>,
}

/// Runs an experiment of that game with that seed, to its end or until it is cancelled: its folder and record. The
/// config's `game.rules` is the name of the game.
///
/// # Errors
/// See [`TrainError`]. What was written before stays valid.
pub fn train<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<(PathBuf, Record), TrainError> {
    let path = folder_of(config, seed, options);
    let folder = Folder::new(path.clone(), options.host.files.clone());
    let taken = |message: String| Err(TrainError::Folder { path: path.clone(), message });
    let config = &Config { seed, ..config.clone() };
    let mut experiment = experiment(game, config, seed, options)?;
    let origins = experiment.record.init.clone();
    if let Found::Other(why) = folder.look()? {
        return taken(format!("is no folder for a run, {why}: name another with --out"));
    }
    let Some(_lock) = folder.lock()? else {
        return taken(
            "another process is at work on this run: wait for it, or name another folder with --out".into(),
        );
    };
    let record = match folder.look()? {
        Found::Nothing => None,
        Found::Run(record) if !origins.is_empty() && !same_origins(&origins, &record.init) => {
            return taken(format!(
                "holds the run `{}` from another start: leave --init out, or name another folder with --out",
                record.name
            ));
        }
        // Nothing was learned from the start yet: it must be given again.
        Found::Run(record) if record.latest.is_none() && !same_origins(&origins, &record.init) => {
            return taken(format!(
                "holds the beginning of the run `{}` with weights of {} (--init) that are not given now: give them again, or \
                 remove the folder",
                record.name,
                record.init.iter().map(|o| o.path.display().to_string()).collect::<Vec<_>>().join(", ")
            ));
        }
        Found::Run(record) if record.config.same_experiment(config) && record.finished => {
            // What a process left behind that was killed at its very end. The result stands without this.
            let _ = folder.complete(&record).and_then(|()| folder.prune(&record, None));
            observer.event(seed, Event::Ended(&record));
            return Ok((path, *record));
        }
        Found::Run(record) if !record.config.same_experiment(config) => {
            return taken(format!(
                "holds the run `{}` (seed {}) of another config ({}): name another folder with --out, or remove it",
                record.name,
                record.seed,
                record.config.differences(config)
            ));
        }
        Found::Run(record) if options.resume => Some(*record),
        Found::Run(record) => {
            return taken(format!(
                "holds this run, stopped after {} of {} {}: go on with --resume, or name another folder with --out",
                record.step,
                record.games,
                record.config.learn.unit()
            ));
        }
        Found::Other(why) => return taken(format!("is no folder for a run, {why}: name another with --out")),
    };
    match record {
        Some(record) => experiment.resume(record, observer)?,
        None => {
            experiment.check_space()?;
            experiment.folder.create(&experiment.record)?;
        }
    }
    experiment.learn(options.max_seconds, observer, cancel)?;
    observer.event(seed, Event::Ended(&experiment.record));
    Ok((path, experiment.record))
}

/// The folder of a run.
fn folder_of(config: &Config, seed: u64, options: &TrainOptions) -> PathBuf {
    let usual = || PathBuf::from("checkpoints/runs").join(format!("{}-{seed}", config.name));
    options.out.clone().unwrap_or_else(usual)
}

/// Everything that a run needs, at its beginning; nothing is written yet.
pub(super) fn experiment<'a, G: Kit>(
    game: &'a G,
    config: &'a Config,
    seed: u64,
    options: &TrainOptions,
) -> Result<Experiment<'a, G>, TrainError> {
    let mut starts: Vec<Start> = Vec::new();
    for init in &options.init {
        let taken: Vec<Option<String>> = starts.iter().map(|s| s.origin.part.clone()).collect();
        starts.push(Start::read(game, config, init, &taken)?);
    }
    let folder = Folder::new(folder_of(config, seed, options), options.host.files.clone());
    Experiment::new(game, config, seed, folder, &starts, options.host.clock.clone())
}

/// Whether two runs began with the same weights in the same places.
fn same_origins(a: &[Origin], b: &[Origin]) -> bool {
    let key = |o: &Origin| (o.part.clone(), o.checksum.clone());
    a.iter().map(key).eq(b.iter().map(key))
}

pub(super) struct Experiment<'a, G: Kit> {
    pub(super) game: &'a G,
    pub(super) config: &'a Config,
    pub(super) bound: Bound<G>,
    pub(super) source: Source<'a, G>,
    /// All there is to decide, in a game where that is listed.
    pub(super) decisions: Option<Arc<Decisions>>,
    pub(super) tests: Option<Tests>,
    pub(super) values: Vec<f32>,
    pub(super) judges: Vec<(String, Box<dyn Agent<G>>)>,
    pub(super) folder: Folder,
    pub(super) record: Record,
    /// Σ loss and samples since the last measurement.
    pub(super) loss: f64,
    pub(super) samples: u64,
    pub(super) patience: Patience,
    /// A number for the examples of a file.
    examples: Option<u64>,
    /// Score and tensors of the best checkpoint, until they are written.
    pub(super) best: Option<(Score, Vec<Tensor>)>,
    /// Metrics not yet written.
    pub(super) lines: String,
    pub(super) clock: Clock,
    started: Duration,
    seconds_before: f64,
}

impl<'a, G: Kit> Experiment<'a, G> {
    fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        folder: Folder,
        starts: &[Start],
        clock: Clock,
    ) -> Result<Self, TrainError> {
        let encoder = open::encoder(game, config.game.encoder.as_deref())?;
        let channels = encoder.channels().to_vec();
        let mut rng = stream(seed, "init", 0);
        let (optimiser, compute) = (config.learn.optimiser, config.learn.compute());
        let learner = adept_model::build_on(&config.architecture, &channels, optimiser, compute, &mut rng)?;
        let mut bound = Bound::new(game, encoder, learner);
        begin_with_clusters(game, config, seed, &mut bound)?;
        for start in starts {
            start.apply(&mut *bound.learner)?;
        }
        let agent = |name: &str| open::agent(game, name);
        let judges: Result<Vec<_>, OpenError> =
            config.evaluate_against().into_iter().map(|name| Ok((name.clone(), agent(&name)?))).collect();
        let decisions = match config.lists_decisions() {
            true => Some(Arc::new(Decisions::of(game, &**bound.encoder())?)),
            false => None,
        };
        let source = Source::new(game, config, seed, &mut bound, decisions.as_ref())?;
        let record = Record {
            format: FORMAT,
            name: config.name.clone(),
            seed,
            config: config.clone(),
            finished: false,
            early: None,
            step: 0,
            games: config.learn.length(),
            init: starts.iter().map(|s| s.origin.clone()).collect(),
            seconds: 0.0,
            timing: None,
            latest: None,
            milestones: Vec::new(),
            best: None,
            r#final: None,
            metrics_bytes: 0,
        };
        Ok(Self {
            game,
            config,
            bound,
            source,
            decisions,
            tests: None,
            values: Vec::new(),
            judges: judges?,
            folder,
            record,
            loss: 0.0,
            samples: 0,
            patience: Patience::default(),
            examples: None,
            best: None,
            lines: String::new(),
            started: clock.now(),
            clock,
            seconds_before: 0.0,
        })
    }

    /// Takes up the latest checkpoint of this run, or where that is damaged or gone the newest before it.
    fn resume(&mut self, record: Record, observer: &dyn Observer) -> Result<(), TrainError> {
        // What is kept may be asked for differently than before.
        let mut record = Record { config: self.config.clone(), ..record };
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
        self.record = record;
        Ok(())
    }

    /// Takes up a checkpoint; returns its step.
    fn take_up(&mut self, name: &str) -> Result<u64, TrainError> {
        let path = self.folder.checkpoint_path(name);
        let checkpoint = checkpoint::read(&path)?;
        let fail = |message: String| ModelError::Checkpoint { path: path.clone(), message };
        // A prior that is a checkpoint is part of the encoder's name with its checksum.
        let (before, now) = (&checkpoint.manifest.encoder, self.bound.encoder().name());
        if before != now {
            let message =
                format!("learned with the encoder `{before}`, which is now `{now}`: put its prior back");
            return Err(fail(message).into());
        }
        let Some(training) = checkpoint.manifest.training else {
            return Err(fail("has no training state: the run cannot go on from it".into()).into());
        };
        let progress: Progress =
            serde_json::from_value(training).map_err(|e| fail(format!("training state: {e}")))?;
        (self.loss, self.samples, self.patience) = (progress.loss, progress.samples, progress.patience);
        self.examples = progress.examples;
        self.bound.learner.restore(&checkpoint.tensors).map_err(|e| fail(e.to_string()))?;
        let games = self.source.restore(progress.games, &checkpoint.tensors, &*self.bound.learner);
        games.map_err(|e| fail(format!("training state: {e}")))?;
        self.source.publish(&mut *self.bound.learner)?;
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
        self.prepare(&|what| observer.event(seed, Event::Preparing(what)))?;
        let every = self.config.evaluate_every();
        let clock = self.clock.clone();
        let mut written = clock.now();
        observer.event(seed, Event::Started { from, games, unit: self.config.learn.unit() });
        let tick = (games / 1000).clamp(1, 5000);
        let mut step = from;
        while step < games {
            let begin = step;
            let (end, then) = (self.batch_end(begin), self.batch_end(self.batch_end(begin)));
            self.batch(begin..end, end..then)?;
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
                let evaluation = self.evaluate(step)?;
                observer.event(seed, Event::Evaluated(&evaluation));
                over = over || self.record.early.is_some();
            }
            let stop = !over && (out_of_time || cancel.requested());
            let milestone = self.config.checkpoints.milestones.is_some_and(crosses);
            let due = match self.config.checkpoints.every {
                Some(games) => crosses(games),
                None => crosses(tick) && clock.since(written) >= CHECKPOINT_PAUSE,
            };
            if stop || due || over || milestone {
                self.checkpoint(step, over, milestone)?;
                written = clock.now();
            }
            if stop || over {
                break;
            }
        }
        Ok(())
    }

    /// Gets ready what learning and measuring need beside the model. The time of the run starts here.
    pub(super) fn prepare(&mut self, say: &dyn Fn(&str)) -> Result<(), TrainError> {
        let (game, config) = (self.game, self.config);
        let drawn = !matches!(config.learn.examples(), Some(Examples::File(_)));
        if drawn && (config.learn.shows_examples() || config.measures(Suite::Rms)) {
            say(EXACT_VALUES);
        }
        if config.measures(Suite::Rms) && self.tests.is_none() {
            let with = (&**self.bound.encoder(), self.bound.learner.channels());
            let tests = Tests::new(game, config, with)?;
            let (test, rows) = (tests.test.distinct, tests.test.samples.len());
            // From any distribution some are drawn twice; where it is small, many are.
            if test * 20 < rows * 19 {
                say(&format!(
                    "of {rows} test positions only {test} are different ones: there are few of them"
                ));
            }
            if !tests.apart {
                say("so few positions there are that examples and test positions overlap");
            }
            self.tests = Some(tests);
        }
        self.source.prepare(game, config, self.record.seed, &self.bound)?;
        let found = self.source.digest(config);
        if let Some(Examples::File(path)) = config.learn.examples()
            && self.examples.is_some_and(|before| Some(before) != found)
        {
            return Err(OpenError::Unknown(format!(
                "{}: holds other examples than when this run began: put the file back, or begin another run with --out",
                path.display()
            ))
            .into());
        }
        self.examples = found;
        self.started = self.clock.now();
        Ok(())
    }

    /// The last game, exclusive, of the batch that begins with that one.
    pub(super) fn batch_end(&self, begin: u64) -> u64 {
        begin.saturating_add(self.config.learn.batch).min(self.record.games)
    }

    /// Plays the games `span` and learns from them.
    pub(super) fn batch(&mut self, span: Span, next: Span) -> Result<(), TrainError> {
        let (clock, started) = (&self.clock, self.started);
        let now = || clock.since(started).as_secs_f64();
        let rate = |step| self.config.learn.rate_at(step);
        let learned = self.source.batch(&mut self.bound, span, next, rate, now);
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

    /// Names the step and the setting to change where learning left the finite numbers.
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
        let rate = f64::from(self.config.learn.rate_at(step));
        TrainError::Diverged {
            name: self.record.name.clone(),
            seed: self.record.seed,
            step,
            what,
            rate,
            more,
        }
    }

    /// Writes metrics and checkpoints, then the record that makes them count.
    fn checkpoint(&mut self, step: u64, over: bool, milestone: bool) -> Result<(), TrainError> {
        self.record.step = step;
        self.record.seconds = self.seconds();
        self.record.finished = over;
        self.record.metrics_bytes = self.folder.append_metrics(&self.lines)?;
        self.lines.clear();
        let latest = checkpoint_name(step);
        let mut state = self.bound.learner.state(true)?;
        if over {
            self.source.forget();
        }
        let (games, ahead) = self.source.state()?;
        state.extend(ahead);
        if let Some(bad) = state.iter().find(|t| !t.is_finite()) {
            return Err(self.diverged(format!("tensor `{}`", bad.name), step));
        }
        let Self { loss, samples, patience, examples, .. } = *self;
        let progress = Progress { games, loss, samples, patience, examples };
        let training = serde_json::to_value(&progress).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        let score = self.best.as_ref().map(|b| &b.0).filter(|b| b.checkpoint == latest);
        let metrics = serde_json::to_value(score.or(self.record.r#final.as_ref()))
            .map_err(|e| ModelError::Unsupported(e.to_string()))?;
        self.write_checkpoint(&latest, step, Some(training), metrics, &state)?;
        // What is left at the end does not depend on the way there.
        let replaced = self.record.best.as_ref().map(|b| b.checkpoint.clone()).filter(|_| !over);
        if let Some((score, state)) = self.best.take() {
            if score.checkpoint != latest {
                let metrics =
                    serde_json::to_value(&score).map_err(|e| ModelError::Unsupported(e.to_string()))?;
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
        let config = serde_json::to_value(self.config).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        let channels = encoder.channels().to_vec();
        let manifest = Manifest {
            step,
            output: self.config.learn.output(),
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
