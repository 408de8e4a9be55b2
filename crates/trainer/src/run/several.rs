//! The same experiment with several seeds, in parallel.

use super::experiment::{TrainError, TrainOptions, train};
use super::folder::Record;
use super::observe::{Cancel, Observer};
use crate::config::Config;
use rayon::prelude::*;
use serde::Serialize;
use std::path::PathBuf;

/// Mean and standard deviation of a few numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Mean.
    pub mean: f64,
    /// Standard deviation of the sample (n − 1); 0 of a single number.
    pub sd: f64,
}

/// Mean and standard deviation; NaN of no numbers.
pub fn mean_sd(values: &[f64]) -> Summary {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    Summary { mean, sd: if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 } }
}

/// Runs the seeds `first .. first + count`, each in its own folder; `options.out` is the folder around
/// them. Results do not depend on the number of threads.
///
/// # Errors
/// The error of the first seed that has one; the others run to their end.
pub fn train_seeds(
    config: &Config,
    first: u64,
    count: u64,
    threads: usize,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<Vec<(PathBuf, Record)>, TrainError> {
    let one = |seed: u64| {
        let name = format!("{}-{seed}", config.name);
        let out = options.out.as_ref().map(|out| if count == 1 { out.clone() } else { out.join(name) });
        train(config, seed, &TrainOptions { out, ..options.clone() }, observer, cancel)
    };
    let seeds: Vec<u64> = (first..first.saturating_add(count)).collect();
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        // One run after the other is what a machine without threads can do.
        Err(_) => seeds.into_iter().map(one).collect(),
        Ok(pool) => {
            // Single pieces: seeds differ in time, and none should wait behind another.
            let all: Vec<_> = pool.install(|| seeds.into_par_iter().with_max_len(1).map(one).collect());
            all.into_iter().collect()
        }
    }
}
