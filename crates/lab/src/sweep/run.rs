//! Runs a sweep: keeps finished runs, and trains the others in parallel.

use super::SweepError;
use super::folder::{Plan, TABLE, has_results};
use super::grid::{Combination, Grid};
use super::table::{Failure, Sweep};
use crate::catalogue::Catalogue;
use crate::seeds::{Seeds, on_ranks};
use adept_ground::{files::Files, limits};
use adept_model::ModelError;
use adept_trainer::config::Config;
use adept_trainer::run::{
    Cancel, Event, Observer, Record, TrainError, TrainOptions, Way, lock_of, record_of,
};
use std::path::{Path, PathBuf};
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
    /// Name of the run's folder.
    pub run: &'a str,
    /// Number of finished runs.
    pub ended: usize,
    /// Number of runs in the sweep.
    pub runs: usize,
    /// The event.
    pub what: What<'a>,
}

/// What happened in a run of a sweep.
#[derive(Debug)]
pub enum What<'a> {
    /// An event of the run.
    Run(Event<'a>),
    /// An earlier call ended some of the runs.
    Found,
    /// The run failed, for this reason.
    Failed(&'a str),
}

/// Receives the events.
pub type SweepWatch<'a> = dyn Fn(SweepEvent<'_>) + Sync + 'a;

/// A run of the sweep.
pub(super) struct Job<'a> {
    pub(super) combination: &'a Combination,
    pub(super) seed: u64,
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// State of a run.
pub(super) enum State {
    /// Not started, or stopped.
    Open,
    Finished(Box<Record>),
    Failed(Failure),
}

impl Job<'_> {
    fn failure(&self, reason: String, diverged: bool) -> Failure {
        Failure { run: self.path.clone(), seed: self.seed, reason, diverged }
    }
}

impl State {
    /// Whether it failed for a temporary reason, such as a full disk.
    pub(super) fn failed_for_now(&self) -> bool {
        matches!(self, Self::Failed(failure) if !failure.diverged)
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self, Self::Open)
    }
}

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
    if (grid.combinations.len() as u64).saturating_mul(seeds.count) > limits::RUNS {
        return Err(SweepError::Grid(format!(
            "this makes more than {} runs: use fewer values or seeds",
            limits::RUNS
        )));
    }
    let path = options
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("checkpoints/runs").join(format!("sweep-{}", grid.name)));
    let taken = |message: String| SweepError::Folder { path: path.clone(), message };
    let mut plan = Plan::new(grid, seeds);
    plan.look(&path)?;
    let Some(_lock) = lock_of(&path)? else {
        let message = "another process is using this sweep: wait for it, or choose another folder";
        return Err(taken(message.into()));
    };
    let earlier = plan.look(&path)?;
    let continues = earlier.is_some();
    plan = earlier.unwrap_or(plan);
    let combinations = plan.named(&grid.combinations);
    let jobs: Vec<Job<'_>> = combinations.iter().flat_map(|c| jobs_of(c, seeds, &path)).collect();
    let mut states = Vec::with_capacity(jobs.len());
    // The table would be replaced.
    let keep_table = |states: &[State]| match states.iter().all(State::is_open) && has_results(&path)? {
        true => Err(taken(format!(
            "its {TABLE} has results of runs that are gone: put them back, choose another folder, or remove it"
        ))),
        false => Ok(()),
    };
    match continues {
        false => {
            keep_table(&[])?;
            Plan::discard(&path)?;
            plan.write(&path)?;
            states.extend(jobs.iter().map(|_| State::Open));
        }
        true => {
            for job in &jobs {
                states.push(state(job, &plan)?);
            }
            keep_table(&states)?;
            let ended = states.iter().filter(|s| !s.is_open()).count();
            if ended < jobs.len() && !options.resume {
                return Err(taken(format!(
                    "holds this sweep, stopped after {ended} of {} runs: resume it, or choose another folder",
                    jobs.len()
                )));
            }
        }
    }
    let open: Vec<usize> = (0..jobs.len()).filter(|i| states[*i].is_open()).collect();
    if open.len() < jobs.len() {
        watch(SweepEvent { run: "", ended: jobs.len() - open.len(), runs: jobs.len(), what: What::Found });
    }
    let ended = AtomicUsize::new(jobs.len() - open.len());
    let results =
        on_ranks(&open, seeds.threads, |i| one(games, &jobs[*i], (jobs.len(), &ended), watch, cancel));
    let known = plan.diverged.len();
    for (i, result) in open.into_iter().zip(results) {
        if let State::Failed(Failure { reason, diverged: true, .. }) = &result {
            plan.diverged.insert(jobs[i].name.clone(), reason.clone());
        }
        states[i] = result;
    }
    if plan.diverged.len() > known {
        plan.write(&path)?;
    }
    let table = Sweep::new(games, &path, grid, seeds, &jobs, &states)?;
    Files::default().replace(&path.join(TABLE), table.markdown().as_bytes()).map_err(ModelError::from)?;
    Ok(table)
}

fn jobs_of<'a>(combination: &'a Combination, seeds: Seeds, folder: &Path) -> Vec<Job<'a>> {
    (seeds.first..seeds.first.saturating_add(seeds.count))
        .map(|seed| {
            let name = format!("{}-{seed}", combination.name);
            Job { combination, seed, path: folder.join(&name), name }
        })
        .collect()
}

/// Finds out how far an earlier call came with a run.
fn state(job: &Job<'_>, plan: &Plan) -> Result<State, SweepError> {
    if let Some(reason) = plan.diverged.get(&job.name) {
        return Ok(State::Failed(job.failure(reason.clone(), true)));
    }
    // A run of another config stays open: starting it reports the fault.
    let config = Config { seed: job.seed, ..job.combination.config.clone() };
    Ok(match record_of(&job.path) {
        Ok(Some(record)) if record.finished && record.is_of(&config) => State::Finished(Box::new(record)),
        // So does a run whose record cannot be read.
        _ => State::Open,
    })
}

/// Runs or resumes one of the open runs.
fn one(
    games: &dyn Catalogue,
    job: &Job<'_>,
    (runs, ended): (usize, &AtomicUsize),
    watch: &SweepWatch<'_>,
    cancel: &Cancel,
) -> State {
    if cancel.requested() {
        return State::Open;
    }
    let named = Named { job, runs, ended, watch };
    let options = TrainOptions { out: Some(job.path.clone()), resume: true, ..Default::default() };
    let config = &job.combination.config;
    let game = games.find(&config.game.rules).map_err(TrainError::from);
    match game.and_then(|game| game.train(config, job.seed, &options, &named, cancel)) {
        Ok((_, record)) if record.finished => State::Finished(Box::new(record)),
        Ok(_) => State::Open,
        Err(error) => {
            let error = error.with_ways(&[Way::Resume]);
            let text = error.to_string();
            // The row already names the run.
            let own = format!("{}, seed {}: ", job.combination.config.name, job.seed);
            let reason = text.strip_prefix(&own).unwrap_or(&text);
            named.tell(What::Failed(reason), true);
            State::Failed(job.failure(reason.into(), matches!(error, TrainError::Diverged { .. })))
        }
    }
}

/// Passes on the events of a run under its name.
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
        (self.watch)(SweepEvent { run: &self.job.name, ended, runs: self.runs, what });
    }
}

impl Observer for Named<'_> {
    fn event(&self, _: u64, event: Event<'_>) {
        let ends = matches!(&event, Event::Ended(record) if record.finished);
        self.tell(What::Run(event), ends);
    }
}
