//! Runs a sweep: keeps finished runs, and trains the others in parallel.

use super::SweepError;
use super::folder::{Plan, TABLE, has_results};
use super::grid::{Combination, Grid};
use super::job::{Failure, Job, State};
use super::table::Sweep;
use crate::catalogue::Catalogue;
use crate::seeds::{Seeds, on_ranks};
use adept_ground::{files::Files, limits};
use adept_model::ModelError;
use adept_trainer::config::Config;
use adept_trainer::run::{
    Cancel, Event, Lock, Observer, Record, Remedy, TrainError, TrainOptions, lock_of, record_of,
};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options of a sweep besides its grid and seeds.
#[derive(Clone, Debug, Default)]
pub struct SweepOptions {
    /// Folder; `checkpoints/runs/sweep-NAME` if `None`.
    pub out: Option<PathBuf>,
    /// Continue an earlier call.
    pub resume: bool,
}

/// An event in a run of a sweep, sent from the thread of the run.
#[derive(Debug)]
pub struct SweepEvent<'a> {
    /// Index of the sweep among those that run together.
    pub sweep: usize,
    /// Seed of the run.
    pub seed: u64,
    /// Name of the run's folder.
    pub run: &'a str,
    /// Number of ended runs.
    pub ended: usize,
    /// Number of runs in the sweep.
    pub runs: usize,
    /// The event of the run.
    pub what: What<'a>,
}

/// Events in a run of a sweep.
#[derive(Debug)]
pub enum What<'a> {
    /// An event of the run.
    Run(Event<'a>),
    /// Total work of all runs of the sweeps that run together, in games, samples or iterations.
    Begins {
        /// Work of the ended runs.
        from: u64,
        /// Work of all runs.
        total: u64,
    },
    /// An earlier call ended some of the runs.
    Found,
    /// The run failed for this reason.
    Failed(&'a str),
}

/// Receives the events.
pub type SweepWatch<'a> = dyn Fn(SweepEvent<'_>) + Sync + 'a;

/// Runs a grid with `seeds.count` seeds per combination on `seeds.threads` threads. Results do not depend on
/// the threads. If the sweep is already finished, returns its result. After a cancellation, active runs write
/// checkpoints, no others start, and the result covers the finished runs.
///
/// # Errors
/// [`SweepError`]. A run that fails is recorded in its row instead.
pub fn sweep(
    games: &dyn Catalogue,
    grid: &Grid,
    seeds: Seeds,
    options: &SweepOptions,
    watch: &SweepWatch<'_>,
    cancel: &Cancel,
) -> Result<Sweep, SweepError> {
    let usual = || PathBuf::from("checkpoints/runs").join(format!("sweep-{}", grid.name));
    let part = SweepSpec { grid, out: options.out.clone().unwrap_or_else(usual) };
    // A list of more seeds would be refused later anyway, but it must fit into memory.
    let count = seeds.count.min(limits::RUNS + 1);
    let list: Vec<u64> = (seeds.first..seeds.first.saturating_add(count)).collect();
    let train = |config: &Config, seed: u64, options: &TrainOptions, observer: &dyn Observer| {
        games.find(&config.game.rules)?.train(config, seed, options, observer, cancel)
    };
    let how = Together {
        seeds: &list,
        threads: seeds.threads,
        resume: options.resume,
        other_seeds: false,
        train: &train,
    };
    let watch = |event: SweepEvent<'_>| {
        if !matches!(event.what, What::Begins { .. }) {
            watch(event);
        }
    };
    let mut found = together(games, &[part], &how, &watch, cancel)?;
    Ok(found.remove(0).table)
}

/// One of several sweeps that run together.
#[derive(Clone, Debug)]
pub struct SweepSpec<'a> {
    /// Its combinations.
    pub grid: &'a Grid,
    /// Its folder.
    pub out: PathBuf,
}

/// Trains a run, with the cancellation of the sweeps.
pub(crate) type TrainRun<'a> =
    dyn Fn(&Config, u64, &TrainOptions, &dyn Observer) -> Result<(PathBuf, Record), TrainError> + Sync + 'a;

/// Options of sweeps that run together.
#[derive(Clone, Copy)]
pub struct Together<'a> {
    /// The seeds of each combination, without repeats, at least one.
    pub seeds: &'a [u64],
    /// Runs at a time; 0 for one per core.
    pub threads: usize,
    /// Resumes an earlier call.
    pub resume: bool,
    /// Whether an earlier call may have had other seeds. Its runs stay, and shared seeds are not run again.
    pub other_seeds: bool,
    /// Trains a run.
    pub train: &'a TrainRun<'a>,
}

/// Result of one of the sweeps that ran together.
#[derive(Clone, Debug)]
pub struct Done {
    /// Its table.
    pub table: Sweep,
    /// Its runs, by combination in the order of the grid, then by seed.
    pub runs: Vec<DoneRun>,
}

/// Result of a run.
#[derive(Clone, Debug)]
pub struct DoneRun {
    /// Index of its combination in the grid.
    pub combination: usize,
    /// Its seed.
    pub seed: u64,
    /// Its folder, which may not exist yet.
    pub path: PathBuf,
    /// Whether it has ended.
    pub finished: bool,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
}

/// A sweep with a locked folder and known states of its runs.
struct LockedSweep {
    _lock: Lock,
    plan: Plan,
    /// With the names of the run folders.
    combinations: Vec<Combination>,
    continues: bool,
    /// Whether the plan differs from the one in the folder.
    is_new: bool,
}

impl LockedSweep {
    /// Locks the folder. Refuses one in which the sweep cannot continue; writes nothing.
    fn new(part: &SweepSpec<'_>, how: &Together<'_>) -> Result<Self, SweepError> {
        let plan = Plan::new(part.grid, how.seeds);
        plan.look(&part.out, how.other_seeds)?;
        let Some(lock) = lock_of(&part.out)? else {
            let message = "another process is using this sweep: wait for it, or choose another folder";
            return Err(part.taken(message.into()));
        };
        let earlier = plan.look(&part.out, how.other_seeds)?;
        let continues = earlier.is_some();
        let (plan, is_new) = earlier.map_or((plan, true), |earlier| earlier.with_seeds(how.seeds));
        if !plan.is_small() {
            return Err(part.taken(format!(
                "would have more than {} runs with those of earlier calls: choose another folder",
                limits::RUNS
            )));
        }
        let combinations = plan.named(&part.grid.combinations);
        Ok(Self { _lock: lock, plan, combinations, continues, is_new })
    }

    /// The runs of these seeds.
    fn jobs(&self, sweep: usize, part: &SweepSpec<'_>, seeds: &[u64]) -> Vec<Job<'_>> {
        let all = self.combinations.iter().enumerate();
        let jobs =
            |(number, one)| seeds.iter().map(move |seed| Job::new(sweep, number, one, *seed, &part.out));
        all.flat_map(jobs).collect()
    }

    /// States that earlier calls left these runs in.
    fn states(&self, jobs: &[Job<'_>]) -> Vec<State> {
        match self.continues {
            true => jobs.iter().map(|job| state(job, &self.plan)).collect(),
            false => jobs.iter().map(|_| State::Open).collect(),
        }
    }

    /// Refuses a sweep that cannot continue: `states` are those of this call's runs, `others` those of the other runs
    /// of the plan.
    fn check(
        &self,
        part: &SweepSpec<'_>,
        states: &[State],
        others: &[State],
        resume: bool,
    ) -> Result<(), SweepError> {
        // The table would be overwritten.
        if states.iter().chain(others).all(State::is_open) && has_results(&part.out)? {
            return Err(part.taken(format!(
                "its {TABLE} has results of missing runs: restore them, choose another folder, or remove it"
            )));
        }
        let ended = states.iter().filter(|s| !s.is_open()).count();
        if self.continues && ended < states.len() && !resume {
            return Err(part.taken(format!(
                "holds this sweep, stopped after {ended} of {} runs: resume it, or choose another folder",
                states.len()
            )));
        }
        Ok(())
    }
}

/// One sweep's share of the runs.
struct Share<'a> {
    own: Range<usize>,
    /// The runs of seeds that only earlier calls had, which are also in its table.
    others: (Vec<Job<'a>>, Vec<State>),
}

impl SweepSpec<'_> {
    fn taken(&self, message: String) -> SweepError {
        SweepError::Folder { path: self.out.clone(), message }
    }
}

/// Runs several sweeps on common threads. Nothing starts if one of them cannot start in its folder.
///
/// # Errors
/// As for [`sweep`].
pub fn together(
    games: &dyn Catalogue,
    parts: &[SweepSpec<'_>],
    how: &Together<'_>,
    watch: &SweepWatch<'_>,
    cancel: &Cancel,
) -> Result<Vec<Done>, SweepError> {
    let of =
        |part: &SweepSpec<'_>| (part.grid.combinations.len() as u64).saturating_mul(how.seeds.len() as u64);
    let runs = parts.iter().map(of).fold(0, u64::saturating_add);
    if runs > limits::RUNS {
        return Err(SweepError::Grid(format!(
            "this makes more than {} runs: use fewer values or seeds",
            limits::RUNS
        )));
    }
    // Inspect all folders before creating the first.
    for part in parts {
        Plan::new(part.grid, how.seeds).look(&part.out, how.other_seeds)?;
    }
    let begun = parts.iter().map(|part| LockedSweep::new(part, how)).collect::<Result<Vec<_>, _>>()?;
    let (mut jobs, mut states, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for (i, (one, part)) in begun.iter().zip(parts).enumerate() {
        let own = one.jobs(i, part, how.seeds);
        let others = one.jobs(i, part, &one.plan.seeds_beside(how.seeds));
        let (own_states, other_states) = (one.states(&own), one.states(&others));
        one.check(part, &own_states, &other_states, how.resume)?;
        shares.push(Share { own: jobs.len()..jobs.len() + own.len(), others: (others, other_states) });
        jobs.extend(own);
        states.extend(own_states);
    }
    for (one, part) in begun.iter().zip(parts) {
        if !one.continues {
            Plan::discard(&part.out)?;
        }
        if one.is_new {
            one.plan.write(&part.out)?;
        }
    }
    let open: Vec<usize> = (0..jobs.len()).filter(|i| states[*i].is_open()).collect();
    let done = jobs.len() - open.len();
    let tell = |what| watch(SweepEvent { sweep: 0, run: "", seed: 0, ended: done, runs: jobs.len(), what });
    let steps = |all: &mut dyn Iterator<Item = usize>| {
        all.map(|i| jobs[i].combination.config.learn.length()).fold(0, u64::saturating_add)
    };
    let total = steps(&mut (0..jobs.len()));
    tell(What::Begins { from: total - steps(&mut open.iter().copied()), total });
    if done > 0 {
        tell(What::Found);
    }
    let ended = AtomicUsize::new(done);
    let work = |i: &usize| one(how.train, &jobs[*i], jobs.len(), &ended, watch, cancel);
    let results = on_ranks(&open, how.threads, work);
    let mut diverged = Vec::new();
    for (i, result) in open.into_iter().zip(results) {
        if let State::Failed(Failure { reason, diverged: true, .. }) = &result {
            diverged.push((jobs[i].sweep, jobs[i].name.clone(), reason.clone()));
        }
        states[i] = result;
    }
    // Save before building the tables, which read all runs again: results of one sweep must survive a damaged file of
    // another.
    for (i, (one, part)) in begun.iter().zip(parts).enumerate() {
        let own = diverged.iter().filter(|(sweep, ..)| *sweep == i);
        let own: Vec<_> = own.map(|(_, name, reason)| (name.clone(), reason.clone())).collect();
        if !own.is_empty() {
            let mut plan = one.plan.clone();
            plan.diverged.extend(own);
            plan.write(&part.out)?;
        }
    }
    let mut found = Vec::new();
    for (part, Share { own, others }) in parts.iter().zip(&shares) {
        let own: Vec<(&Job<'_>, &State)> = jobs[own.clone()].iter().zip(&states[own.clone()]).collect();
        let table = Sweep::new(games, &part.out, part.grid, how.seeds, &own)?;
        let text = match others.0.is_empty() {
            true => table.markdown(),
            // The file contains the runs of all calls.
            false => {
                let mut all = own.clone();
                all.extend(others.0.iter().zip(&others.1));
                all.sort_by_key(|(job, _)| (job.number, job.seed));
                let first = all[0].0.number;
                let seeds: Vec<u64> =
                    all.iter().take_while(|(job, _)| job.number == first).map(|(job, _)| job.seed).collect();
                Sweep::new(games, &part.out, part.grid, &seeds, &all)?.markdown()
            }
        };
        Files::default().replace(&part.out.join(TABLE), text.as_bytes()).map_err(ModelError::from)?;
        let runs = own.iter().map(|(job, state)| DoneRun {
            combination: job.number,
            seed: job.seed,
            path: job.path.clone(),
            finished: matches!(state, State::Finished(_)),
            failure: match state {
                State::Failed(failure) => Some(failure.clone()),
                _ => None,
            },
        });
        found.push(Done { runs: runs.collect(), table });
    }
    Ok(found)
}

/// Determines the state that an earlier call left a run in.
fn state(job: &Job<'_>, plan: &Plan) -> State {
    if let Some(reason) = plan.diverged.get(&job.name) {
        return State::Failed(job.failure(reason.clone(), true));
    }
    // A run of another config stays open: starting it reports the fault.
    let config = Config { seed: job.seed, ..job.combination.config.clone() };
    match record_of(&job.path) {
        Ok(Some(record)) if record.finished && record.changed.is_empty() && record.is_of(&config) => {
            State::Finished(Box::new(record))
        }
        // So does a run that was changed meanwhile, or whose record cannot be read.
        _ => State::Open,
    }
}

/// Runs or resumes one of the open runs.
fn one(
    train: &TrainRun<'_>,
    job: &Job<'_>,
    runs: usize,
    ended: &AtomicUsize,
    watch: &SweepWatch<'_>,
    cancel: &Cancel,
) -> State {
    if cancel.requested() {
        return State::Open;
    }
    let named = Named { job, runs, ended, watch };
    let options = TrainOptions { out: Some(job.path.clone()), resume: true, ..Default::default() };
    if let Ok(Some(record)) = record_of(&job.path)
        && !record.changed.is_empty()
    {
        let what =
            "holds a run whose settings were changed while it learned (`changed` in run.json): remove it";
        let reason = format!("{}: {what}", job.path.display());
        named.tell(What::Failed(&reason), true);
        return State::Failed(job.failure(reason, false));
    }
    let config = &job.combination.config;
    match train(config, job.seed, &options, &named) {
        Ok((_, record)) if record.finished => State::Finished(Box::new(record)),
        Ok(_) => State::Open,
        Err(error) => {
            let error = error.with_remedies(&[Remedy::Resume]);
            let text = error.to_string();
            // The row already names the run.
            let own = format!("{}, seed {}: ", job.combination.config.name, job.seed);
            let reason = text.strip_prefix(&own).unwrap_or(&text);
            named.tell(What::Failed(reason), true);
            State::Failed(job.failure(reason.into(), matches!(error, TrainError::Diverged { .. })))
        }
    }
}

/// Forwards the events of a run under its name.
struct Named<'a> {
    job: &'a Job<'a>,
    runs: usize,
    ended: &'a AtomicUsize,
    watch: &'a SweepWatch<'a>,
}

impl Named<'_> {
    fn tell(&self, what: What<'_>, ends: bool) {
        let before = self.ended.fetch_add(usize::from(ends), Ordering::Relaxed);
        let ended = before + usize::from(ends);
        let Job { sweep, seed, .. } = *self.job;
        (self.watch)(SweepEvent { sweep, run: &self.job.name, seed, ended, runs: self.runs, what });
    }
}

impl Observer for Named<'_> {
    fn event(&self, _: u64, event: Event<'_>) {
        let ends = matches!(&event, Event::Ended(record) if record.finished);
        self.tell(What::Run(event), ends);
    }
}
