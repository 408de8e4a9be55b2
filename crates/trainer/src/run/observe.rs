//! Watching a run, and stopping it.

use super::error::TrainError;
use super::evaluation::Evaluation;
use super::folder::Record;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What happens in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// It starts, or goes on, at that game.
    Started {
        /// Games played before, or samples.
        from: u64,
        /// Games of the whole run, or samples.
        games: u64,
        /// `games` or `samples`.
        unit: &'static str,
    },
    /// Something is got ready that may take a while.
    Preparing(&'a str),
    /// Games were played, or samples learned from.
    Progress {
        /// Games played so far, or samples.
        step: u64,
        /// Games a second, or samples, since the start or the resume.
        rate: f64,
    },
    /// Its latest checkpoint cannot be read; it goes on from an older one.
    SetBack {
        /// What is wrong with the latest.
        why: &'a TrainError,
        /// Games played at the older one, or samples.
        step: u64,
    },
    /// It was measured.
    Evaluated(&'a Evaluation),
    /// It is over, or was stopped.
    Ended(&'a Record),
}

/// Is told what happens, from the thread of the run.
pub trait Observer: Sync {
    /// Something happened in the run with that seed.
    fn event(&self, seed: u64, event: Event<'_>);
}

/// Does not care.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: u64, _: Event<'_>) {}
}

/// Asks runs to write a checkpoint and stop.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked.
    pub fn requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
