//! Runs an experiment with several seeds in parallel.

use crate::catalogue::AnyGame;
use crate::farm;
use adept_ranks::slots::Slot;
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Observer, Record, TrainError, TrainOptions, obstacle};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `f` with each job on this many threads (0: one per core) and returns the results in the order of the jobs.
/// Threads take one job at a time, because jobs differ in duration.
pub fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    f: impl Fn(&J) -> R + Send + Sync,
) -> Vec<R> {
    let mut results = Vec::with_capacity(jobs.len());
    share_out(jobs, threads, Vec::new(), f, |result| results.push(result));
    results
}

/// Like [`in_parallel`], for jobs that train: other ranks help, if there are any ([`crate::farm`]).
pub fn on_ranks<J: Sync, R: Send>(jobs: &[J], threads: usize, f: impl Fn(&J) -> R + Send + Sync) -> Vec<R> {
    let mut results = Vec::with_capacity(jobs.len());
    in_turn(jobs, threads, f, |result| results.push(result));
    results
}

/// Like [`on_ranks`], but delivers each result as soon as it and all earlier ones are complete.
pub(crate) fn in_turn<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    f: impl Fn(&J) -> R + Send + Sync,
    each: impl FnMut(R) + Send,
) {
    share_out(jobs, threads, farm::free(), f, each);
}

/// Distributes jobs over threads of this process, with one more thread for each slot of another rank.
fn share_out<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    slots: Vec<Slot>,
    f: impl Fn(&J) -> R + Send + Sync,
    each: impl FnMut(R) + Send,
) {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads }.min(jobs.len());
    let (next, waiting) = (AtomicUsize::new(0), Mutex::new((0, BTreeMap::new(), each)));
    let work = |goes_on: &dyn Fn() -> bool| {
        while goes_on() {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { break };
            let result = f(job);
            let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let (due, results, each) = &mut *waiting;
            results.insert(i, result);
            while let Some(result) = results.remove(due) {
                each(result);
                *due += 1;
            }
        }
    };
    // Not a rayon pool: a run that waits for its own workers would start another run inside it.
    std::thread::scope(|scope| {
        for slot in slots {
            let work = &work;
            scope.spawn(move || farm::with(slot, |there| work(there)));
        }
        for _ in 1..threads {
            let started = std::thread::Builder::new().spawn_scoped(scope, || work(&|| true));
            // If the system starts no more threads, the existing ones do the work.
            if started.is_err() {
                break;
            }
        }
        work(&|| true);
    });
}

/// Seeds to run, and how many at a time.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// The first seed; the others are consecutive.
    pub first: u64,
    /// Number of seeds.
    pub count: u64,
    /// Number of threads; 0 for all cores.
    pub threads: usize,
}

/// A seed with the result of its run.
pub type SeedResult = (u64, Result<(PathBuf, Record), TrainError>);

/// Runs the seeds in parallel, each in its own folder below `options.out`. Results do not depend on the number of
/// threads. After a cancellation no further seed starts. If any seed cannot start in its folder, nothing starts, and
/// only such seeds are returned.
pub fn train_seeds(
    game: &dyn AnyGame,
    config: &Config,
    seeds: Seeds,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Vec<SeedResult> {
    let all: Vec<u64> = (seeds.first..seeds.first.saturating_add(seeds.count)).collect();
    let of_seed = |seed: u64| {
        let out = options.out.as_ref().map(|out| out.join(format!("{}-{seed}", config.name)));
        // Each run has one thread, because several run in parallel.
        TrainOptions { out, threads: 1, ..options.clone() }
    };
    let ranks = &options.ranks;
    let blocked = |&seed: &u64| Some((seed, Err(obstacle(config, seed, &of_seed(seed))?)));
    // Only the first rank inspects folders.
    let obstacles: Vec<SeedResult> =
        if ranks.is_first() { all.iter().filter_map(blocked).collect() } else { Vec::new() };
    if ranks.any(u8::from(!obstacles.is_empty())) > 0 {
        return obstacles;
    }
    let train = |seed: u64| game.train(config, seed, &of_seed(seed), observer, cancel);
    if ranks.are_several() {
        // All ranks work together on one run at a time. An error of a single rank must stop here, where the others
        // wait.
        let mut results = Vec::new();
        for seed in all {
            if ranks.any(u8::from(cancel.requested())) > 0 {
                break;
            }
            let result = train(seed);
            let ends = result.as_ref().is_err_and(|error| !error.is_of_all());
            results.push((seed, result));
            if ends {
                break;
            }
        }
        return results;
    }
    let one = |seed: &u64| (!cancel.requested()).then(|| (*seed, train(*seed)));
    on_ranks(&all, seeds.threads, one).into_iter().flatten().collect()
}
