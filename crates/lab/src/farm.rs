//! Jobs that other ranks of MPI do for this one: runs of experiments, pairs of tournaments.
//!
//! The first rank runs a command as if it were alone. [`on_ranks`](crate::seeds::on_ranks) has a thread for each slot on
//! another rank beside those of its own. Where a job on such a thread trains or plays a pair, the other rank does it. If that
//! rank is lost, or asked to stop, the thread does the job itself, from the last checkpoint of its run: what comes out does not depend on who
//! did what. The ranks share the file system.

use crate::catalogue::{AnyGame, Catalogue};
use crate::tournament::{Player, Tournament, on_one_thread};
use adept_arena::matches::Tally;
use adept_ranks::slots::{Desk, Slot, Slots, work};
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Event, Init, Observer, Record, Silent, TrainError, TrainOptions};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The slots of this process, as rayon has its global pool.
static SLOTS: Slots = Slots::closed();

thread_local! {
    /// The slot that does the jobs of this thread.
    static SLOT: RefCell<Option<Slot>> = const { RefCell::new(None) };
}

/// A job for another rank.
#[derive(Serialize, Deserialize)]
enum Job {
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
        tournament: Box<Tournament>,
        pair: Box<(Player, Player)>,
    },
}

#[derive(Serialize, Deserialize)]
enum Done {
    Train { path: PathBuf, record: Box<Record>, began: bool },
    Pair { tally: Tally, share: f64 },
    Diverged { name: String, seed: u64, step: u64, what: String, rate: f64, more: String },
    Failed(String),
}

/// Lets other ranks do jobs of this process from now on.
pub fn employ(slots: Vec<Slot>) {
    SLOTS.open(slots);
}

/// Whether other ranks do jobs of this process.
pub(crate) fn is_employed() -> bool {
    SLOTS.are_open()
}

/// Tells the other ranks that there are no more jobs.
pub fn dismiss() {
    SLOTS.close();
}

/// The slots that no thread uses.
pub(crate) fn free() -> Vec<Slot> {
    SLOTS.take()
}

/// Runs `f` while `slot` does the jobs of this thread; `f` is told whether the slot is still there.
pub(crate) fn with<R>(slot: Slot, f: impl FnOnce(&dyn Fn() -> bool) -> R) -> R {
    SLOT.with(|own| own.replace(Some(slot)));
    let there = || SLOT.with(|own| own.borrow().as_ref().is_some_and(|slot| !slot.is_lost()));
    let result = f(&there);
    if let Some(slot) = SLOT.with(RefCell::take) {
        SLOTS.give_back(slot);
    }
    result
}

/// Why a job is to be done on this thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Here {
    /// The thread has no slot.
    Always,
    /// Its rank was lost, or left, and may have begun.
    Again,
}

/// Has a job done by the slot of this thread.
fn call(job: impl FnOnce() -> Job) -> Result<Done, Here> {
    SLOT.with(|own| {
        let mut own = own.borrow_mut();
        let slot = own.as_mut().filter(|slot| !slot.is_lost()).ok_or(Here::Always)?;
        let job = serde_json::to_vec(&job()).map_err(|_| Here::Always)?;
        let done = slot.call(&job).ok_or(Here::Again)?;
        serde_json::from_slice(&done).map_err(|_| Here::Again)
    })
}

/// Has a run done elsewhere, if this thread has a slot.
pub(crate) fn train(
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
) -> Result<Result<(PathBuf, Record), TrainError>, Here> {
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
        Done::Pair { .. } => return Err(Here::Again),
    })
}

/// Has a pair of a tournament played elsewhere, if this thread has a slot.
pub(crate) fn play_pair(
    tournament: &Tournament,
    (a, b): (&Player, &Player),
) -> Option<Result<(Tally, f64), TrainError>> {
    let pair = || Box::new((a.clone(), b.clone()));
    match call(|| Job::Pair { tournament: Box::new(tournament.clone()), pair: pair() }).ok()? {
        Done::Pair { tally, share } => Some(Ok((tally, share))),
        Done::Failed(text) => Some(Err(TrainError::Elsewhere(text))),
        _ => None,
    }
}

/// Works on jobs of the first rank until there are no more. If `cancel` is requested, what is left of them is done elsewhere.
pub fn serve(games: &dyn Catalogue, desks: Vec<Desk>, cancel: &Cancel) {
    let job = |job: &[u8]| {
        let done = match serde_json::from_slice(job) {
            Ok(job) => done(games, job, cancel),
            Err(error) => Done::Failed(error.to_string()),
        };
        serde_json::to_vec(&done).unwrap_or_default()
    };
    work(desks, job, || cancel.requested());
}

/// Sees whether a run has begun.
struct Began(AtomicBool);

impl Observer for Began {
    fn event(&self, seed: u64, event: Event<'_>) {
        if matches!(event, Event::Started { .. }) {
            self.0.store(true, Ordering::Relaxed);
        }
        Silent.event(seed, event);
    }
}

fn done(games: &dyn Catalogue, job: Job, cancel: &Cancel) -> Done {
    match job {
        Job::Train { config, seed, out, resume, extend, init, max_seconds, tensorboard } => {
            let own = TrainOptions { threads: 1, ..TrainOptions::default() };
            let options = TrainOptions { out, resume, extend, init, max_seconds, tensorboard, ..own };
            let began = Began(AtomicBool::new(false));
            let game = games.find(&config.game.rules).map_err(TrainError::from);
            match game.and_then(|game| game.train(&config, seed, &options, &began, cancel)) {
                Ok((path, record)) => {
                    Done::Train { path, record: Box::new(record), began: began.0.into_inner() }
                }
                Err(TrainError::Diverged { name, seed, step, what, rate, more }) => {
                    Done::Diverged { name, seed, step, what, rate, more }
                }
                Err(error) => Done::Failed(error.to_string()),
            }
        }
        Job::Pair { tournament, pair } => {
            let game = games.find(&tournament.game).map_err(TrainError::from);
            let play = |game: Arc<dyn AnyGame>| {
                Ok(on_one_thread(|| game.play_pair(&tournament, (&pair.0, &pair.1), cancel))??)
            };
            match game.and_then(play) {
                Ok((tally, share)) => Done::Pair { tally, share },
                Err(error) => Done::Failed(error.to_string()),
            }
        }
    }
}
