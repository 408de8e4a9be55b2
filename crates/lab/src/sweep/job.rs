//! The runs of a sweep, and their states.

use super::grid::Combination;
use adept_trainer::run::Record;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A run of the sweep.
pub(super) struct Job<'a> {
    /// Index of its sweep.
    pub(super) sweep: usize,
    /// Index of its combination in the grid.
    pub(super) number: usize,
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

impl<'a> Job<'a> {
    pub(super) fn new(
        sweep: usize,
        number: usize,
        combination: &'a Combination,
        seed: u64,
        folder: &Path,
    ) -> Self {
        let name = format!("{}-{seed}", combination.name);
        Self { sweep, number, combination, seed, path: folder.join(&name), name }
    }

    pub(super) fn failure(&self, reason: String, diverged: bool) -> Failure {
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

/// A failed run.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    /// Its folder.
    pub run: PathBuf,
    /// Its seed.
    pub seed: u64,
    /// The reason.
    pub reason: String,
    /// Whether learning diverged, as it would again.
    pub diverged: bool,
}
