//! Jobs that other MPI ranks do for the first one: runs of experiments and pairs of tournaments.
//!
//! The first rank runs a command as if it were alone. [`on_ranks`](crate::seeds::on_ranks) adds a thread for each slot
//! of another rank to its own threads. A job on such a thread that trains or plays a pair is sent to that rank. If the
//! rank is lost or asked to stop, the thread does the job itself, from the last checkpoint of its run: the result does
//! not depend on who computed it. The ranks share the file system.

use crate::pairing::Pairing;
use adept_arena::matches::Tally;
use adept_model::ModelError;
use adept_ranks::slots::{Slot, Slots};
use adept_trainer::config::Config;
use adept_trainer::run::{Event, Init, Observer, Record, TrainError, TrainOptions};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::path::PathBuf;

/// The slots of this process; global like rayon's thread pool.
static SLOTS: Slots = Slots::closed();

thread_local! {
    /// The slot of this thread.
    static SLOT: RefCell<Option<Slot>> = const { RefCell::new(None) };
}

/// A job for another rank.
#[derive(Serialize, Deserialize)]
pub(crate) enum Job {
    Train {
        config: Box<Config>,
        seed: u64,
        out: Option<PathBuf>,
        resume: bool,
        extend: bool,
        init: Vec<Init>,
        max_seconds: Option<f64>,
        tensorboard: bool,
    },
    Pair {
        game: String,
        pairing: Box<Pairing>,
    },
}

/// The result of a job.
#[derive(Serialize, Deserialize)]
pub(crate) enum Done {
    Train { path: PathBuf, record: Box<Record>, began: bool },
    Pair(Tally),
    Diverged { name: String, seed: u64, step: u64, what: String, rate: f64, more: String },
    Failed(String),
}

/// Makes slots of other ranks available to this process.
pub fn open(slots: Vec<Slot>) {
    SLOTS.open(slots);
}

/// Whether slots of other ranks are available.
pub(crate) fn is_open() -> bool {
    SLOTS.are_open()
}

/// Releases the other ranks: there are no more jobs.
pub fn close() {
    SLOTS.close();
}

/// The unused slots.
pub(crate) fn free() -> Vec<Slot> {
    SLOTS.take()
}

/// Runs `f` on this thread with a slot for its jobs. `f` receives a function that tests whether the slot still works.
pub(crate) fn with<R>(slot: Slot, f: impl FnOnce(&dyn Fn() -> bool) -> R) -> R {
    SLOT.with(|own| own.replace(Some(slot)));
    let there = || SLOT.with(|own| own.borrow().as_ref().is_some_and(|slot| !slot.is_lost()));
    let result = f(&there);
    if let Some(slot) = SLOT.with(RefCell::take) {
        SLOTS.give_back(slot);
    }
    result
}

/// How this thread runs a job that no other rank has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locally {
    /// From the start: the thread has no slot.
    Start,
    /// By resuming: the rank of its slot was lost or left, and may have started the job.
    Resume,
}

/// Sends a job to the slot of this thread.
fn call(job: impl FnOnce() -> Job) -> Result<Done, Locally> {
    SLOT.with(|own| {
        let mut own = own.borrow_mut();
        let slot = own.as_mut().filter(|slot| !slot.is_lost()).ok_or(Locally::Start)?;
        let job = serde_json::to_vec(&job()).map_err(|_| Locally::Start)?;
        let done = slot.call(&job).ok_or(Locally::Resume)?;
        serde_json::from_slice(&done).map_err(|_| Locally::Resume)
    })
}

/// Trains on another rank if this thread has a slot.
pub(crate) fn train(
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
) -> Result<Result<(PathBuf, Record), TrainError>, Locally> {
    let job = || Job::Train {
        config: Box::new(config.clone()),
        seed,
        out: options.out.clone(),
        resume: options.resume,
        extend: options.extend,
        init: options.init.clone(),
        max_seconds: options.max_seconds,
        tensorboard: options.tensorboard,
    };
    Ok(match call(job)? {
        Done::Train { path, record, began } => {
            if began {
                let (games, unit) = (record.games, config.learn.unit());
                observer.event(seed, Event::Started { from: 0, games, unit });
            }
            observer.event(seed, Event::Ended(&record));
            Ok((path, *record))
        }
        Done::Diverged { name, seed, step, what, rate, more } => {
            Err(TrainError::Diverged { name, seed, step, what, rate, more })
        }
        Done::Failed(text) => Err(TrainError::Elsewhere(text)),
        Done::Pair(_) => return Err(Locally::Resume),
    })
}

/// Plays a pair of a tournament on another rank if this thread has a slot.
pub(crate) fn play_pair(game: &str, pairing: &Pairing) -> Option<Result<Tally, TrainError>> {
    match call(|| Job::Pair { game: game.into(), pairing: Box::new(pairing.clone()) }).ok()? {
        Done::Pair(tally) => Some(Ok(tally)),
        Done::Failed(text) => Some(Err(TrainError::Elsewhere(text))),
        _ => None,
    }
}

/// A pool of this many threads; 0 for all cores.
///
/// # Errors
/// If the system starts no threads.
pub(crate) fn pool_of(threads: usize) -> Result<rayon::ThreadPool, ModelError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| ModelError::Unsupported(format!("threads: {e}")))
}

/// Runs `f` on one thread, including its parallel parts.
///
/// # Errors
/// If the system starts no thread.
pub(crate) fn on_one_thread<R: Send>(f: impl FnOnce() -> R + Send) -> Result<R, ModelError> {
    Ok(pool_of(1)?.install(f))
}
