//! Observing and cancelling a run.

use super::error::TrainError;
use super::evaluation::Evaluation;
use super::folder::Record;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Events of a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The run starts or resumes at this game.
    Started {
        /// Games played before, or samples.
        from: u64,
        /// Games of the whole run, or samples.
        games: u64,
        /// `games` or `samples`.
        unit: &'static str,
    },
    /// Something that may take a while is being prepared.
    Preparing(&'a str),
    /// Games were played, or samples learned from.
    Progress {
        /// Games played so far, or samples.
        step: u64,
        /// Games a second, or samples, since the start or the resume.
        rate: f64,
    },
    /// The latest checkpoint cannot be read; the run continues from an older one.
    SetBack {
        /// The fault of the latest checkpoint.
        why: &'a TrainError,
        /// Games played at the older one, or samples.
        step: u64,
    },
    /// A measurement was taken.
    Evaluated(&'a Evaluation),
    /// The run ended or was stopped.
    Ended(&'a Record),
}

/// Receives the events of runs, on the thread of the run.
pub trait Observer: Sync {
    /// Called for an event of the run with this seed.
    fn event(&self, seed: u64, event: Event<'_>);
}

/// Ignores all events.
#[derive(Clone, Copy, Debug)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _: u64, _: Event<'_>) {}
}

/// A request to runs to write a checkpoint and stop.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<State>);

#[derive(Debug, Default)]
struct State {
    requested: AtomicBool,
    saving: AtomicUsize,
    finished: AtomicBool,
}

impl Cancel {
    /// Requests cancellation.
    pub fn cancel(&self) {
        self.0.requested.store(true, Ordering::Relaxed);
    }

    /// Whether cancellation was requested.
    pub fn requested(&self) -> bool {
        self.0.requested.load(Ordering::Relaxed)
    }

    /// Says that all that was asked for is finished and saved; what is still done may be left out.
    pub fn finish(&self) {
        self.0.finished.store(true, Ordering::Relaxed);
    }

    /// Whether only what may be left out is still done.
    pub fn is_finished(&self) -> bool {
        self.0.finished.load(Ordering::Relaxed)
    }

    /// Says that a checkpoint is being written, until the result is dropped.
    pub fn saving(&self) -> Saving<'_> {
        self.0.saving.fetch_add(1, Ordering::Relaxed);
        Saving(&self.0)
    }

    /// Whether a checkpoint is being written, for which a stop should wait.
    pub fn is_saving(&self) -> bool {
        self.0.saving.load(Ordering::Relaxed) > 0
    }
}

/// A checkpoint is being written.
#[derive(Debug)]
pub struct Saving<'a>(&'a State);

impl Drop for Saving<'_> {
    fn drop(&mut self) {
        self.0.saving.fetch_sub(1, Ordering::Relaxed);
    }
}
