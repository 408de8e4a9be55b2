//! One run, from its options to its last checkpoint: plan, source, learner, measure, save.

use super::agreement::{agree, check_same_machines, check_same_parameters};
use super::disk::DiskSpace;
use super::earlier::{Earlier, changed_opponent, earlier, locked, opponents, refused};
use super::error::TrainError;
use super::evaluation::Evaluation;
use super::events::EventFile;
use super::folder::{FORMAT, Folder, Record};
use super::host::Stopwatch;
use super::learning::Learning;
use super::measuring::{Measuring, Moment, Patience};
use super::observe::{Cancel, Event, Observer};
use super::options::TrainOptions;
use super::plan::{Batch, Plan};
use super::saves::{Progress, Save, Saves};
use super::source::{BatchTime, Snapshot};
use super::start::{Start, begin_with_cells, fresh_model};
use super::steer::{ON_RANKS, Steered};
use crate::config::{Config, Examples, Suite};
use crate::positions::oracle;
use adept_arena::open;
use adept_game::Kit;
use adept_ground::profile::{self, Phase, Profiler, Seconds};
use adept_model::checkpoint::{self, Manifest};
use adept_model::{ModelError, Optimiser};
use adept_ranks::Ranks;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Pause between two checkpoints if the config does not count games. Results do not depend on it.
const CHECKPOINT_PAUSE: Duration = Duration::from_secs(10);

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
    let ranks = &options.ranks;
    check_same_machines(ranks)?;
    let is_steered = options.steering.begin(ranks.are_several());
    if ranks.any(u8::from(is_steered)) > 0 {
        return Err(TrainError::Ranks(ON_RANKS.into()));
    }
    let config = &Config { seed, ..config.clone() };
    let mut experiment = Experiment::new(game, config, seed, options)?;
    let path = experiment.saves.folder.path.clone();
    // Examples and test positions are read before there is a folder, so that a fault in them leaves none.
    let anew = agree(ranks, ranks.is_first().then(|| experiment.is_new(options)))?;
    if anew {
        experiment.prepare(&|what| observer.event(seed, Event::Preparing(what)))?;
        agree(ranks, ranks.is_first().then(|| experiment.check_space()))?;
    }
    // Only the first rank looks at the folder and writes to it.
    let mut _lock = None;
    let mut begin = || -> Result<Earlier, TrainError> {
        _lock = Some(locked(&experiment.saves.folder)?);
        experiment.take_folder(options, anew, observer)
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

/// A run.
pub(super) struct Experiment<'a, G: Kit> {
    game: &'a G,
    pub(super) config: &'a Config,
    pub(super) learning: Learning<'a, G>,
    measuring: Measuring<'a, G>,
    steered: Steered,
    pub(super) saves: Saves,
    pub(super) record: Record,
    pub(super) ranks: Ranks,
    pub(super) time: Stopwatch,
    profiler: Option<Arc<Profiler>>,
    /// Whether [`Self::prepare`] is done.
    is_prepared: bool,
}

impl<'a, G: Kit> Experiment<'a, G> {
    /// Prepares everything for the start of a run; writes nothing.
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let folder = Folder::new(options.folder(config, seed), options.host.files.clone());
        let starts = Start::read_all(game, config, &options.init)?;
        let mut bound = fresh_model(game, config, seed, config.learn.compute())?;
        for start in &starts {
            start.apply(&mut *bound.model)?;
        }
        let rivals = opponents(game, config)?;
        let measuring = Measuring::new(game, config, seed, &bound)?;
        let learning = Learning::new(game, config, seed, bound, measuring.decisions.as_ref(), options)?;
        // Another process may have trained one of them further meanwhile.
        if let Some(changed) = changed_opponent(&rivals, &opponents(game, config)?) {
            let message = format!("cannot begin a run {changed}, or name a checkpoint in its folder");
            return Err(refused(&folder, message));
        }
        let record = Record {
            format: FORMAT,
            name: config.name.clone(),
            seed,
            config: config.clone(),
            folder: config.folder_of_paths(),
            rules: adept_game::fingerprint(game),
            finished: false,
            early: None,
            optimal: None,
            step: 0,
            games: config.learn.length(),
            init: starts.into_iter().map(|start| start.origin).collect(),
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
        Ok(Self {
            game,
            config,
            learning,
            measuring,
            steered: Steered::new(options.steering.clone()),
            saves: Saves::new(folder),
            record,
            ranks: options.ranks.clone(),
            time: Stopwatch::new(options.host.clock.clone()),
            profiler: None,
            is_prepared: false,
        })
    }

    fn plan(&self) -> Plan<'a> {
        Plan::new(self.config)
    }

    /// Prepares what learning and measuring need besides the model. The time of the run starts here.
    pub(super) fn prepare(&mut self, say: &dyn Fn(&str)) -> Result<(), TrainError> {
        let (game, config, is_first) = (self.game, self.config, self.ranks.is_first());
        // Held while examples and test positions are drawn, so that a table is solved once for both.
        let is_drawn = config.learn.examples().and_then(Examples::file).is_none();
        let shows = config.learn.shows_examples() || config.measures(Suite::Rms) && is_first;
        let _exact = if is_drawn && shows { Some(oracle(game)?) } else { None };
        if is_first {
            self.measuring.prepare(&self.learning.bound, say)?;
        }
        // Resumed runs have their cells from the checkpoint.
        let bound = &mut self.learning.bound;
        if config.architecture.has_cells(bound.model.channels()) && self.record.latest.is_none() {
            begin_with_cells(game, config, self.record.seed, bound, &self.record.init)?;
            self.learning.publish()?;
        }
        self.learning.prepare(config)?;
        self.time.start();
        self.is_prepared = true;
        Ok(())
    }

    /// Learns batch by batch until the run ends or is stopped.
    fn learn(
        &mut self,
        max_seconds: Option<f64>,
        observer: &dyn Observer,
        cancel: &Cancel,
    ) -> Result<(), TrainError> {
        let (seed, from, plan) = (self.record.seed, self.record.step, self.plan());
        if !self.is_prepared {
            self.prepare(&|what| observer.event(seed, Event::Preparing(what)))?;
        }
        let mut saved = self.time.now();
        let unit = self.config.learn.unit();
        observer.event(seed, Event::Started { from, games: plan.length(), unit });
        self.steer(from, false, observer);
        for batch in plan.batches(from) {
            let step = batch.end();
            self.learn_from(&batch)?;
            self.reassign(&batch)?;
            let seconds = self.time.here();
            if batch.reaches(plan.tick()) {
                let rate = (step - from) as f64 / seconds.max(1e-9);
                observer.event(seed, Event::Progress { step, rate });
            }
            let over = self.measure_if_due(&batch, observer)?;
            self.steer(step, over, observer);
            let out_of_time = max_seconds.is_some_and(|most| seconds >= most);
            let stop = cancel.requested() || out_of_time && self.ranks.is_first();
            let Due { stop, save, is_milestone } = self.due(&batch, stop, saved);
            let stop = stop && !over;
            if stop || over || save {
                let _saving = cancel.saving();
                let profiler = self.profiler.clone();
                let _writing = profiler.as_deref().map(|p| p.whole(Phase::Writing));
                self.save(step, over, is_milestone)?;
                saved = self.time.now();
            }
            if stop || over {
                break;
            }
        }
        Ok(())
    }

    /// Gets the samples of a batch and learns from them.
    pub(super) fn learn_from(&mut self, batch: &Batch) -> Result<(), TrainError> {
        let _games = profile::span(Phase::Games);
        let (time, pace) = (&self.time, self.steered.pace(&self.config.learn));
        let learned = self.learning.learn(batch, pace, &|| time.here());
        let learned = learned.map_err(|failed| self.named(failed.error.into(), failed.step))?;
        if let Some(BatchTime { learning, waiting }) = learned.time {
            let timing = self.record.timing.get_or_insert_default();
            timing.samples += learned.samples;
            timing.learning += learning;
            timing.waiting += waiting;
        }
        Ok(())
    }

    /// Reassigns learned cells, if this is due after a batch.
    fn reassign(&mut self, batch: &Batch) -> Result<(), TrainError> {
        let times = self.config.architecture.reassigns(self.learning.bound.model.channels());
        for time in self.plan().reassignments(batch, times) {
            self.learning.reassign(self.game, self.config, self.record.seed, time)?;
        }
        Ok(())
    }

    /// Measures the network if this is due after a batch. Returns whether the run is over.
    fn measure_if_due(&mut self, batch: &Batch, observer: &dyn Observer) -> Result<bool, TrainError> {
        let (step, is_last) = (batch.end(), batch.end() == self.plan().length());
        if !batch.reaches(self.config.evaluate_every()) {
            return Ok(is_last);
        }
        let profiler = self.profiler.clone();
        let _measuring = profiler.as_deref().map(|p| p.whole(Phase::Measuring));
        let ranks = self.ranks.clone();
        let ends_early = ranks.is_first().then(|| {
            let evaluation = self.evaluate(step)?;
            observer.event(self.record.seed, Event::Evaluated(&evaluation));
            Ok(self.record.early.is_some())
        });
        Ok(agree(&ranks, ends_early)? || is_last)
    }

    /// Measures the network after this step, with averaged weights if there are any.
    pub(super) fn evaluate(&mut self, step: u64) -> Result<Evaluation, TrainError> {
        self.learning.trade_average()?;
        let found = self.measure(step);
        self.learning.trade_average()?;
        found.map_err(|error| self.named(error, step))
    }

    fn measure(&mut self, step: u64) -> Result<Evaluation, TrainError> {
        let Self { config, learning, measuring, saves, record, time, .. } = self;
        let pace = self.steered.pace(&config.learn);
        let moment = Moment { step, pace, loss: learning.mean_loss(), time };
        let mut evaluation = measuring.measure(&mut learning.bound, &moment)?;
        (learning.loss, learning.samples) = (0.0, 0);
        let is_optimal = evaluation.grade.as_ref().is_some_and(|grade| grade.optimal);
        record.optimal = record.optimal.or(is_optimal.then_some(step));
        if let Some(why) = measuring.ends_early(&evaluation) {
            record.early = Some(why);
        }
        if record.early.is_some() && evaluation.experts.is_none() {
            evaluation.experts = measuring.expert_use(&mut learning.bound)?;
        }
        let score = measuring.score(&evaluation);
        if measuring.is_better(&score, saves.best(record)) {
            saves.add_best(score.clone(), learning.bound.model.tensors()?);
        }
        let over = step == record.games || record.early.is_some();
        if over && config.figure().is_some() {
            record.r#final = Some(score);
        }
        saves.add(&evaluation)?;
        Ok(evaluation)
    }

    /// Grants the changes of settings that were requested until this step. A run that is `over` has nothing left to change.
    fn steer(&mut self, step: u64, over: bool, observer: &dyn Observer) {
        if let Some(warning) = self.steered.grant(&mut self.record.changed, step, over) {
            observer.event(self.record.seed, Event::Preparing(&warning));
        }
    }

    /// Agrees with all ranks on the end of a batch. Times are those of the first rank. A request to `stop` may reach any.
    fn due(&self, batch: &Batch, stop: bool, saved: Duration) -> Due {
        let checkpoints = &self.config.checkpoints;
        let save = match checkpoints.every {
            Some(games) => batch.reaches(games),
            None => {
                self.ranks.is_first()
                    && batch.reaches(self.plan().tick())
                    && self.time.since(saved) >= CHECKPOINT_PAUSE
            }
        };
        let asked = self.ranks.any(u8::from(stop) | u8::from(save) << 1);
        let is_milestone = checkpoints.milestones.is_some_and(|n| batch.reaches(n));
        Due { stop: asked & 1 > 0, save: asked & 2 > 0 || is_milestone, is_milestone }
    }

    /// Writes metrics and checkpoints, then the record that makes them valid.
    fn save(&mut self, step: u64, over: bool, is_milestone: bool) -> Result<(), TrainError> {
        self.record.step = step;
        self.record.finished = over;
        if over {
            self.learning.source.forget();
        }
        let ranks = self.ranks.clone();
        let source = self.learning.source.state(&ranks)?;
        check_same_parameters(&ranks, &mut *self.learning.bound.model, step, self.config.learn.unit())?;
        agree(&ranks, ranks.is_first().then(|| self.write(source, is_milestone)))
    }

    /// The part of [`Self::save`] that the first rank does.
    fn write(&mut self, source: Snapshot, is_milestone: bool) -> Result<(), TrainError> {
        self.record.seconds = self.time.seconds();
        if let Some(profiler) = &self.profiler {
            self.record.profile = profiler.seconds();
        }
        self.saves.write_measurements(&mut self.record)?;
        let mut tensors = self.learning.tensors()?;
        tensors.extend(source.tensors);
        if let Some(bad) = tensors.iter().find(|t| !t.is_finite()) {
            let error = ModelError::Diverged { what: format!("tensor `{}`", bad.name) };
            return Err(self.named(error.into(), self.record.step));
        }
        let progress = Progress {
            source: source.state,
            loss: self.learning.loss,
            samples: self.learning.samples,
            patience: self.measuring.patience,
            examples: self.learning.examples,
            stagnant_evaluations: self.measuring.stagnation.stagnant_evaluations,
        };
        let save = Save { manifest: self.manifest()?, tensors, progress, is_milestone };
        self.saves.write(&mut self.record, save)
    }

    /// The manifest of a checkpoint of the run, without step, metrics and training state.
    fn manifest(&self) -> Result<Manifest, ModelError> {
        let (config, bound) = (self.config, &self.learning.bound);
        let encoder = bound.encoder();
        let manifest = Manifest::new(
            self.game.name(),
            encoder.name(),
            encoder.channels().to_vec(),
            &config.architecture,
        )
        .of(serde_json::to_value(config)?, self.record.seed, crate::REVISION);
        Ok(Manifest { head: bound.model.head().clone(), init: self.record.init.clone(), ..manifest })
    }

    /// Whether there is no earlier run to follow.
    fn is_new(&self, options: &TrainOptions) -> Result<bool, TrainError> {
        let folder = &self.saves.folder;
        let anew = matches!(earlier(folder, self.config, options, Some(&self.record))?, Earlier::Nothing);
        if anew {
            folder.check_place()?;
        }
        Ok(anew)
    }

    /// Begins the run in its folder, which is locked, or goes on with the earlier run there. `anew` says that there was no earlier run before the preparations.
    fn take_folder(
        &mut self,
        options: &TrainOptions,
        anew: bool,
        observer: &dyn Observer,
    ) -> Result<Earlier, TrainError> {
        let (config, seed) = (self.config, self.record.seed);
        let earlier = earlier(&self.saves.folder, config, options, Some(&self.record))?;
        if matches!(earlier, Earlier::Nothing) != anew {
            let message = "changed while this run was prepared: another process has used it";
            return Err(refused(&self.saves.folder, message));
        }
        match &earlier {
            Earlier::Nothing => self.saves.folder.create(&self.record)?,
            Earlier::Finished(record) => {
                // Removes files left by a process that was killed at its very end. The result is valid without
                // this.
                let folder = &self.saves.folder;
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
            Earlier::Stopped(record) => self.resume((**record).clone(), observer)?,
            Earlier::Shorter(record) => {
                let (unit, length) = (config.learn.unit(), config.learn.length());
                let what = format!("extending the run from {} to {length} {unit}", record.games);
                observer.event(seed, Event::Preparing(&what));
                self.resume(Folder::extended((**record).clone(), length), observer)?;
                self.measuring.patience = Patience::default();
                self.check_space()?;
            }
        }
        // A run that has the file keeps it.
        if options.tensorboard || EventFile::is_in(&self.saves.folder) {
            let record = match &earlier {
                Earlier::Finished(record) => record,
                _ => &self.record,
            };
            self.saves.events = Some(EventFile::write(&self.saves.folder, record)?);
        }
        Ok(earlier)
    }

    /// Restores the latest checkpoint of this run. If it is damaged or missing, restores the newest one before
    /// it.
    fn resume(&mut self, record: Record, observer: &dyn Observer) -> Result<(), TrainError> {
        // The config may now keep other checkpoints than before, or be longer.
        let folder = self.config.folder_of_paths();
        let mut record = Record { config: self.config.clone(), folder, ..record };
        if let Some(latest) = record.latest.clone()
            && let Err(error) = self.restore(&latest)
        {
            if !error.is_loss() {
                return Err(error);
            }
            let older = self.saves.folder.whole_before(&latest)?;
            let found = older.into_iter().find_map(|name| self.restore(&name).ok().map(|step| (name, step)));
            let Some((name, step)) = found else { return Err(error) };
            observer.event(record.seed, Event::SetBack { why: &error, step });
            self.saves.folder.set_back(&mut record, name, step)?;
        }
        self.saves.folder.complete(&record)?;
        self.saves.folder.prune(&record, None)?;
        self.time.before = record.seconds;
        self.steered.restore(&record.changed);
        self.record = record;
        Ok(())
    }

    /// Goes on where the first rank does, whose record this is.
    fn follow(&mut self, record: Record) -> Result<(), TrainError> {
        if let Some(latest) = &record.latest {
            self.restore(latest)?;
        }
        self.steered.restore(&record.changed);
        self.record = record;
        Ok(())
    }

    /// Restores a checkpoint; returns its step.
    fn restore(&mut self, name: &str) -> Result<u64, TrainError> {
        let path = self.saves.folder.checkpoint_path(name);
        let checkpoint = checkpoint::read(&path)?;
        let fail = |message: String| ModelError::Checkpoint { path: path.clone(), message };
        // If the prior is a checkpoint, its checksum is part of the encoder's name.
        let (before, now) = (&checkpoint.manifest.encoder, self.learning.bound.encoder().name());
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
        self.measuring.patience = progress.patience;
        self.measuring.stagnation.stagnant_evaluations = progress.stagnant_evaluations;
        let learning = &mut self.learning;
        (learning.loss, learning.samples) = (progress.loss, progress.samples);
        learning.examples = progress.examples;
        learning.restore(progress.source, &checkpoint.tensors).map_err(fail)?;
        learning.publish()?;
        Ok(checkpoint.manifest.step)
    }

    /// Fails if the disk has too little space for the run.
    fn check_space(&mut self) -> Result<(), TrainError> {
        let space = DiskSpace::of(&mut self.learning, self.config, &self.ranks)?;
        space.check(&self.saves.folder.path)
    }

    /// Adds the step, and the setting to change, to an error about numbers that are not finite.
    fn named(&self, error: TrainError, step: u64) -> TrainError {
        let TrainError::Model(ModelError::Diverged { what }) = error else { return error };
        let learn = &self.config.learn;
        let more = match learn.optimiser {
            Optimiser::Sgd(sgd) if sgd.momentum > 0.0 => {
                format!(" or `learn.optimiser.sgd.momentum` (now {})", sgd.momentum)
            }
            _ => String::new(),
        };
        let rate = f64::from(self.steered.pace(learn).rate(step));
        TrainError::Diverged {
            name: self.record.name.clone(),
            seed: self.record.seed,
            step,
            what,
            rate,
            more,
        }
    }
}

/// Actions at the end of a batch, the same on all ranks.
struct Due {
    stop: bool,
    save: bool,
    /// Whether the checkpoint is kept for good.
    is_milestone: bool,
}
