//! One run: games, steps, measurements, checkpoints.

use super::folder::{Folder, Found, Record, Score};
use super::observe::{Cancel, Event, Observer};
use crate::config::{Config, SELF, TraceKind};
use crate::td::{Settings, TdPlayer};
use adept_arena::{Agent, Bound, Equity, ExactError, Greedy, OpenError, equity, model_channels, open};
use adept_game::registry::Registered;
use adept_game::{Stream, Visitor, stream, with_game};
use adept_model::checkpoint::{self, Manifest, Origin};
use adept_model::{ModelError, Tensor, Usage};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How a run is started, beside its config.
#[derive(Clone, Debug, Default)]
pub struct TrainOptions {
    /// Folder; `checkpoints/runs/NAME-SEED` without one.
    pub out: Option<PathBuf>,
    /// Go on from the latest checkpoint, if there is one.
    pub resume: bool,
    /// Start from the weights of this checkpoint.
    pub init: Option<PathBuf>,
    /// Write a checkpoint and stop after that many seconds.
    pub max_seconds: Option<f64>,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A file or the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An opponent or a checkpoint to start from.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A measurement.
    #[error(transparent)]
    Exact(#[from] ExactError),
    /// The folder is taken.
    #[error("{}: {message}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },
    /// Learning left the finite numbers.
    #[error(
        "{name}, seed {seed}: diverged after {step} games, the {what} is not finite: lower `learn.rate` (now {rate}){more}"
    )]
    Diverged {
        /// Name of the experiment.
        name: String,
        /// Seed.
        seed: u64,
        /// Games learned from.
        step: u64,
        /// What left the finite numbers.
        what: String,
        /// Learning rate at that time.
        rate: f64,
        /// Another setting that may be the cause.
        more: String,
    },
    /// A suite that the game does not have.
    #[error("{0}")]
    Suite(String),
    /// There is no such game.
    #[error("there is no game `{0}`")]
    Game(String),
}

/// A measurement during a run: one line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Games learned from.
    pub step: u64,
    /// Mean loss of a sample since the last measurement.
    pub loss: f64,
    /// Learning rate at this step.
    pub rate: f64,
    /// ε at this step.
    pub explore: f64,
    /// λ at this step.
    pub lambda: f64,
    /// Exact match equity by opponent.
    pub equity: Vec<(String, Equity)>,
    /// How often each expert was run while measuring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Seconds since the start, over all resumes.
    pub seconds: f64,
}

/// Runs an experiment with that seed, to its end or until it is cancelled.
///
/// # Errors
/// See [`TrainError`]. What was written before stays valid.
pub fn train(
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<(PathBuf, Record), TrainError> {
    struct Train<'a>(&'a Config, u64, &'a TrainOptions, &'a dyn Observer, &'a Cancel);
    impl Visitor for Train<'_> {
        type Output = Result<(PathBuf, Record), TrainError>;
        fn visit<G: Registered>(self, game: G) -> Self::Output {
            let Self(config, seed, options, observer, cancel) = self;
            run(&game, config, seed, options, observer, cancel)
        }
    }
    with_game(&config.game.rules, Train(config, seed, options, observer, cancel))
        .unwrap_or_else(|| Err(TrainError::Game(config.game.rules.clone())))
}

/// Between two checkpoints where the config does not count games. Where they fall changes nothing in a run.
const CHECKPOINT_PAUSE: Duration = Duration::from_secs(10);

/// What of a run is not in the learner.
#[derive(Debug, Serialize, Deserialize)]
struct Progress {
    play: Stream,
    loss: f64,
    samples: u64,
}

fn run<G: Registered>(
    game: &G,
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<(PathBuf, Record), TrainError> {
    let path = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("checkpoints/runs").join(format!("{}-{seed}", config.name)));
    let folder = Folder::new(path.clone());
    let taken = |message: String| Err(TrainError::Folder { path: path.clone(), message });
    let config = &Config { seed, ..config.clone() };
    let start = options.init.as_deref().map(|path| Start::read(game, config, path)).transpose()?;
    let origin = start.as_ref().map(|s| &s.origin);
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
        Found::Run(record)
            if origin.is_some_and(|o| record.init.as_ref().is_none_or(|i| i.checksum != o.checksum)) =>
        {
            return taken(format!(
                "holds the run `{}` from another start: leave --init out, or name another folder with --out",
                record.name
            ));
        }
        Found::Run(record) if record.config == *config && record.finished => {
            observer.event(seed, Event::Ended(&record));
            return Ok((path, *record));
        }
        Found::Run(record) if record.config != *config => {
            return taken(format!(
                "holds the run `{}` (seed {}) of another config: name another folder with --out, or remove it",
                record.name, record.seed
            ));
        }
        Found::Run(record) if options.resume => Some(*record),
        Found::Run(record) => {
            return taken(format!(
                "holds this run, stopped after {} of {} games: go on with --resume, or name another folder with --out",
                record.step, record.games
            ));
        }
        Found::Other(why) => return taken(format!("is no folder for a run, {why}: name another with --out")),
    };
    let mut experiment = Experiment::new(game, config, seed, folder, start)?;
    match record {
        Some(record) => experiment.resume(record)?,
        None => experiment.folder.create(&experiment.record)?,
    }
    experiment.learn(options.max_seconds, observer, cancel)?;
    observer.event(seed, Event::Ended(&experiment.record));
    Ok((path, experiment.record))
}

/// Weights to begin with.
struct Start {
    origin: Origin,
    weights: Vec<Tensor>,
}

impl Start {
    /// Reads a checkpoint, or the latest of a run, that must be of the same game and encoder.
    fn read<G: Registered>(game: &G, config: &Config, path: &Path) -> Result<Self, TrainError> {
        let located = checkpoint::locate(path, false)?;
        let from = checkpoint::read(&located)?;
        let encoder = open::encoder::<G>(config.game.encoder.as_deref())?;
        let (found, channels) = (&from.manifest, model_channels(encoder.channels()));
        if found.game != game.name() || found.encoder != encoder.name() || found.channels != channels {
            let message = format!(
                "is of {} with the encoder `{}`, this experiment of {} with `{}`: its weights would mean something else",
                found.game,
                found.encoder,
                game.name(),
                encoder.name()
            );
            return Err(OpenError::Mismatch { path: located, message }.into());
        }
        let origin = Origin { path: located, checksum: found.checksum.clone() };
        let weights = from.tensors.into_iter().filter(|t| !t.name.starts_with("optimiser.")).collect();
        Ok(Self { origin, weights })
    }
}

struct Experiment<'a, G: Registered> {
    game: &'a G,
    config: &'a Config,
    bound: Bound<G>,
    player: TdPlayer<G>,
    opponent: Option<Box<dyn Agent<G>>>,
    judges: Vec<(String, Box<dyn Agent<G>>)>,
    folder: Folder,
    record: Record,
    progress: Progress,
    /// Score and tensors of the best checkpoint, until they are written.
    best: Option<(Score, Vec<Tensor>)>,
    /// Metrics not yet written.
    lines: String,
    started: Instant,
    seconds_before: f64,
}

impl<'a, G: Registered> Experiment<'a, G> {
    fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        folder: Folder,
        start: Option<Start>,
    ) -> Result<Self, TrainError> {
        let encoder = open::encoder::<G>(config.game.encoder.as_deref())?;
        let channels = model_channels(encoder.channels());
        let mut rng = stream(seed, "init", 0);
        let mut learner =
            adept_model::build(&config.architecture, &channels, config.learn.optimiser, &mut rng)?;
        if let Some(start) = &start {
            learner.restore(&start.weights).map_err(|e| OpenError::Mismatch {
                path: start.origin.path.clone(),
                message: format!("cannot start this architecture: {e}"),
            })?;
        }
        let agent = |name: &str| open::agent(game, name);
        let opponent = if config.learn.against == SELF { None } else { Some(agent(&config.learn.against)?) };
        let judges: Result<Vec<_>, OpenError> =
            config.evaluate_against().into_iter().map(|name| Ok((name.clone(), agent(&name)?))).collect();
        let bound = Bound::new(game, encoder, learner);
        let record = Record {
            format: 1,
            name: config.name.clone(),
            seed,
            config: config.clone(),
            finished: false,
            step: 0,
            games: config.learn.games,
            init: start.map(|s| s.origin),
            seconds: 0.0,
            latest: None,
            best: None,
            r#final: None,
            metrics_bytes: 0,
        };
        Ok(Self {
            game,
            config,
            player: TdPlayer::new(game, &*bound.learner),
            bound,
            opponent,
            judges: judges?,
            folder,
            record,
            progress: Progress { play: stream(seed, "play", 0), loss: 0.0, samples: 0 },
            best: None,
            lines: String::new(),
            started: Instant::now(),
            seconds_before: 0.0,
        })
    }

    /// Takes up the latest checkpoint of this run.
    fn resume(&mut self, record: Record) -> Result<(), TrainError> {
        if let Some(latest) = &record.latest {
            let path = self.folder.checkpoint_path(latest);
            let checkpoint = checkpoint::read(&path)?;
            let fail = |message: String| ModelError::Checkpoint { path: path.clone(), message };
            let Some(training) = checkpoint.manifest.training else {
                return Err(fail("has no training state: the run cannot go on from it".into()).into());
            };
            self.progress =
                serde_json::from_value(training).map_err(|e| fail(format!("training state: {e}")))?;
            self.bound.learner.restore(&checkpoint.tensors).map_err(|e| fail(e.to_string()))?;
        }
        self.folder.cut_metrics(record.metrics_bytes)?;
        self.seconds_before = record.seconds;
        self.record = record;
        Ok(())
    }

    fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    fn settings(&self, step: u64) -> Settings {
        let learn = &self.config.learn;
        let share = step as f64 / learn.games as f64;
        Settings {
            lambda: learn.lambda.at(share) as f32,
            explore: learn.explore.at(share),
            rate: learn.rate.at(share) as f32,
            traces: learn.traces,
        }
    }

    fn learn(
        &mut self,
        max_seconds: Option<f64>,
        observer: &dyn Observer,
        cancel: &Cancel,
    ) -> Result<(), TrainError> {
        let (seed, from, games) = (self.record.seed, self.record.step, self.config.learn.games);
        let every = self.config.evaluate_every();
        let mut written = Instant::now();
        observer.event(seed, Event::Started { from, games });
        let tick = (games / 1000).clamp(1, 5000);
        let mut step = from;
        while step < games {
            let end = (step + self.config.learn.batch).min(games);
            self.batch(step, end)?;
            // Whether a multiple of n lies in (begin, end].
            let begin = step;
            let crosses = |n: u64| end / n > begin / n || end == games;
            step = end;
            if crosses(tick) {
                let rate = (step - from) as f64 / self.started.elapsed().as_secs_f64();
                observer.event(seed, Event::Progress { step, rate });
            }
            if crosses(every) {
                let evaluation = self.evaluate(step)?;
                observer.event(seed, Event::Evaluated(&evaluation));
            }
            let out_of_time =
                crosses(tick) && max_seconds.is_some_and(|s| self.started.elapsed().as_secs_f64() >= s);
            let stop = step < games && (out_of_time || cancel.requested());
            let due = match self.config.evaluate.checkpoint {
                Some(games) => crosses(games),
                None => crosses(tick) && written.elapsed() >= CHECKPOINT_PAUSE,
            };
            if stop || due || step == games {
                self.checkpoint(step)?;
                written = Instant::now();
            }
            if stop {
                break;
            }
        }
        Ok(())
    }

    /// Plays the games `step..end` and learns from them.
    fn batch(&mut self, step: u64, end: u64) -> Result<(), TrainError> {
        let settings = self.settings(step);
        for g in step..end {
            let seat = (g % self.game.players() as u64) as usize;
            let opponent = self.opponent.as_mut().map(|o| &mut **o as &mut dyn Agent<G>);
            let settings = Settings {
                explore: self.config.learn.explore.at(g as f64 / self.record.games as f64),
                ..settings
            };
            let play = self.player.play(
                self.game,
                &mut self.bound,
                seat,
                opponent,
                settings,
                &mut self.progress.play,
            );
            let stats = play.map_err(|e| self.named(e, g))?;
            self.progress.loss += stats.loss;
            self.progress.samples += stats.samples;
        }
        if settings.traces == TraceKind::Backward && !self.player.samples.is_empty() {
            let update = self.bound.learner.update(&self.player.samples, settings.rate);
            self.progress.loss += update.map_err(|e| self.named(e, step))?;
            self.progress.samples += self.player.samples.len() as u64;
            self.player.samples.clear();
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

    fn diverged(&self, what: String, step: u64) -> TrainError {
        let more = match self.config.learn.optimiser {
            adept_model::Optimiser::Sgd(sgd) if sgd.momentum > 0.0 => {
                format!(" or `learn.optimiser.sgd.momentum` (now {})", sgd.momentum)
            }
            _ => String::new(),
        };
        let rate = f64::from(self.settings(step).rate);
        TrainError::Diverged {
            name: self.record.name.clone(),
            seed: self.record.seed,
            step,
            what,
            rate,
            more,
        }
    }

    fn evaluate(&mut self, step: u64) -> Result<Evaluation, TrainError> {
        self.bound.learner.reset_usage();
        let mut equities = Vec::with_capacity(self.judges.len());
        for (name, judge) in &mut self.judges {
            let mut greedy = Greedy::new(&mut self.bound);
            match equity(self.game, &mut greedy, judge) {
                Ok(found) => equities.push((name.clone(), found)),
                // Nobody else in a measurement can give no policy.
                Err(ExactError::Policy(_)) => return Err(self.diverged("value of a position".into(), step)),
                Err(other) => return Err(other.into()),
            }
        }
        let settings = self.settings(step);
        let evaluation = Evaluation {
            step,
            loss: self.progress.loss / self.progress.samples.max(1) as f64,
            rate: f64::from(settings.rate),
            explore: settings.explore,
            lambda: f64::from(settings.lambda),
            equity: equities,
            usage: self.bound.learner.usage(),
            seconds: self.seconds(),
        };
        (self.progress.loss, self.progress.samples) = (0.0, 0);
        // Without equity no checkpoint is better than another.
        if let Some((_, first)) = evaluation.equity.first() {
            let score =
                |checkpoint| Score { checkpoint, step, equity: first.equity, seats: first.seats.clone() };
            let best = self.best.as_ref().map(|b| &b.0).or(self.record.best.as_ref());
            if best.is_none_or(|b| first.equity > b.equity) {
                self.best = Some((score(checkpoint_name(step)), self.bound.learner.state(false)?));
            }
            if step == self.record.games {
                self.record.r#final = Some(score(checkpoint_name(step)));
            }
        }
        let line = serde_json::to_string(&evaluation).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        self.lines.push_str(&line);
        self.lines.push('\n');
        Ok(evaluation)
    }

    /// Writes metrics and checkpoints, then the record that makes them count.
    fn checkpoint(&mut self, step: u64) -> Result<(), TrainError> {
        self.record.step = step;
        self.record.seconds = self.seconds();
        self.record.finished = step == self.record.games;
        self.record.metrics_bytes = self.folder.append_metrics(&self.lines, true)?;
        self.lines.clear();
        let latest = checkpoint_name(step);
        let state = self.bound.learner.state(true)?;
        if let Some(bad) = state.iter().find(|t| !t.is_finite()) {
            return Err(self.diverged(format!("parameter {}", bad.name), step));
        }
        let training =
            serde_json::to_value(&self.progress).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        let score = self.best.as_ref().map(|b| &b.0).filter(|b| b.checkpoint == latest);
        let metrics = serde_json::to_value(score.or(self.record.r#final.as_ref()))
            .map_err(|e| ModelError::Unsupported(e.to_string()))?;
        self.write_checkpoint(&latest, step, Some(training), metrics, &state)?;
        if let Some((score, state)) = self.best.take() {
            if score.checkpoint != latest {
                let metrics =
                    serde_json::to_value(&score).map_err(|e| ModelError::Unsupported(e.to_string()))?;
                self.write_checkpoint(&score.checkpoint, score.step, None, metrics, &state)?;
            }
            self.record.best = Some(score);
        }
        self.record.latest = Some(latest);
        self.folder.write_record(&self.record)?;
        self.folder.prune(&self.record)?;
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
        if path.exists() {
            // The rest of an interrupted step, or the same state with less beside it.
            std::fs::remove_dir_all(&path).map_err(|source| ModelError::Io { path: path.clone(), source })?;
        }
        let encoder = self.bound.encoder();
        let config = serde_json::to_value(self.config).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        let manifest = Manifest {
            format: checkpoint::FORMAT,
            kind: if self.config.architecture.kind() == "lookup" { "table" } else { "network" }.into(),
            game: self.game.name().into(),
            encoder: encoder.name().into(),
            channels: model_channels(encoder.channels()),
            architecture: self.config.architecture.clone(),
            config,
            seed: self.record.seed,
            step,
            init: self.record.init.clone(),
            revision: crate::REVISION.into(),
            metrics,
            training,
            checksums: Default::default(),
            checksum: String::new(),
        };
        checkpoint::write(&path, manifest, tensors)?;
        Ok(())
    }
}

fn checkpoint_name(step: u64) -> String {
    format!("{step:012}")
}
