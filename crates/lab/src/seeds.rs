//! Runs the same experiment with several seeds in parallel.

use crate::catalogue::AnyGame;
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Observer, Record, TrainError, TrainOptions, obstacle};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Calls `f` with each job on this many threads (0: one per core) and returns the results in the order of the
/// jobs. Threads take one job at a time, as jobs differ in duration.
pub fn in_parallel<J: Sync, R: Send>(
    jobs: &[J],
    threads: usize,
    f: impl Fn(&J) -> R + Send + Sync,
) -> Vec<R> {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads }.min(jobs.len());
    let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(jobs.len())));
    let work = || {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(i) else { break };
            let result = f(job);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((i, result));
        }
    };
    // Not a rayon pool: there, a run that waits for its own workers would start another run inside it.
    std::thread::scope(|scope| {
        for _ in 1..threads {
            let started = std::thread::Builder::new().spawn_scoped(scope, work);
            // If the machine gives no more threads, the existing ones do the work.
            if started.is_err() {
                break;
            }
        }
        work();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}

/// Which seeds to run, and how many at a time.
#[derive(Clone, Copy, Debug)]
pub struct Seeds {
    /// The first seed; the others follow one by one.
    pub first: u64,
    /// Number of seeds.
    pub count: u64,
    /// Threads; 0 uses all cores.
    pub threads: usize,
}

/// A seed, and the result of its run.
pub type SeedResult = (u64, Result<(PathBuf, Record), TrainError>);

/// Runs the seeds in parallel, each in its own folder; `options.out` is their parent. Results do not depend on the number of
/// threads. After a cancellation no further seed starts. If any seed cannot begin in its folder, nothing starts, and only
/// such seeds are returned.
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
        TrainOptions { out, ..options.clone() }
    };
    let blocked = |&seed: &u64| Some((seed, Err(obstacle(config, seed, &of_seed(seed))?)));
    let obstacles: Vec<SeedResult> = all.iter().filter_map(blocked).collect();
    if !obstacles.is_empty() {
        return obstacles;
    }
    let train = |seed: u64| game.train(config, seed, &of_seed(seed), observer, cancel);
    let one = |seed: &u64| (!cancel.requested()).then(|| (*seed, train(*seed)));
    in_parallel(&all, seeds.threads, |seed| one(seed)).into_iter().flatten().collect()
}
