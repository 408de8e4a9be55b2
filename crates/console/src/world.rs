//! The ranks that work on this command together, and what they say: the first speaks for all.

use crate::interrupt::{self, SAVING, on_interrupt};
use crate::output::{self, say};
use adept_lab::{Catalogue, farm, worker};
use adept_ranks::slots::{self, Part};
use adept_ranks::{Connect, Dead, Place, Ranks, StartError, World};
use adept_trainer::run::TrainError;
use anyhow::Result;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

static RANKS: OnceLock<(Ranks, Vec<Place>)> = OnceLock::new();

/// How long a rank that has failed waits for the first one, which may have failed for the same reason.
const PATIENCE: Duration = Duration::from_secs(2);

/// The ranks of this process; one if it was not started with others.
pub fn ranks() -> Ranks {
    RANKS.get().map(|(ranks, _)| ranks.clone()).unwrap_or_default()
}

/// The ranks by machine and threads in words; None for a process that is alone.
pub(crate) fn places() -> Option<String> {
    let (ranks, places) = RANKS.get().filter(|(ranks, _)| ranks.are_several())?;
    let mut nodes: Vec<(&Place, usize)> = Vec::new();
    for place in places {
        match nodes.iter_mut().find(|(known, _)| *known == place) {
            Some((_, count)) => *count += 1,
            None => nodes.push((place, 1)),
        }
    }
    let threads = |n: usize| if n == 1 { "1 thread".to_string() } else { format!("{n} threads") };
    let node = |(place, count): &(&Place, usize)| {
        format!("{count} on {} with {}", place.node, threads(place.threads))
    };
    let list: Vec<String> = nodes.iter().map(node).collect();
    Some(format!("{} ranks: {}", ranks.size(), list.join(", ")))
}

#[cfg(feature = "mpi")]
const CONNECT: Option<Connect> = Some(crate::mpi::connect);
#[cfg(not(feature = "mpi"))]
const CONNECT: Option<Connect> = None;

/// Finds the ranks of this process.
pub(crate) fn start() -> std::result::Result<World, StartError> {
    let world = adept_ranks::start(CONNECT, Arc::new(missed))?;
    let _ = RANKS.set((world.ranks.clone(), world.places.clone()));
    if world.ranks.are_several() {
        interrupt::wait_for_ranks();
    }
    if !world.ranks.is_first() {
        output::be_quiet();
    }
    Ok(world)
}

/// Whether ranks work on jobs of their own, so that the others go on without one.
static APART: AtomicBool = AtomicBool::new(false);

/// Whether a rank was lost: then MPI, where ranks wait for each other, must not be ended.
static LOST: AtomicBool = AtomicBool::new(false);

/// Tells the other ranks at the end, also after a panic, that there are no more jobs.
struct Dismissed;

impl Drop for Dismissed {
    fn drop(&mut self) {
        farm::dismiss();
    }
}

/// Lets the other ranks do jobs of the first one, until `f` ends there. `f` is the command, which the first rank alone runs;
/// `threads` are those of each rank, 0 for one per core.
pub(crate) fn with_jobs(games: &dyn Catalogue, threads: usize, f: impl FnOnce() -> Result<()>) -> Result<()> {
    let ranks = ranks();
    if !ranks.are_several() {
        return f();
    }
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = if threads == 0 { cores() } else { threads };
    let part = slots::connect(&ranks, threads)?;
    // From here on no rank waits for another one by MPI.
    APART.store(true, Ordering::Relaxed);
    match part {
        Part::First(slots) => {
            say(format!("{} ranks work on it, {} jobs at a time", ranks.size(), slots.len() + threads));
            farm::employ(slots);
            let _dismissed = Dismissed;
            f()
        }
        Part::Other(links) => {
            worker::serve(games, links, &on_interrupt(SAVING));
            Ok(())
        }
    }
}

/// Ends this rank when another one has ended without a word.
fn missed(dead: Dead) {
    if interrupt::is_ending() {
        return;
    }
    let ranks = ranks();
    if APART.load(Ordering::Relaxed) && dead.rank != 0 && !dead.spoke {
        LOST.store(true, Ordering::Relaxed);
        say(format!("rank {} ended without a word ({}): its jobs are done again", dead.rank, dead.place));
        return;
    }
    // One speaks for those that are left.
    if !dead.spoke && (ranks.is_first() || dead.rank == 0 && ranks.rank() == 1) {
        output::speak_up();
        say(format!(
            "error: rank {} of {} ended without a word ({}): the others stop. What was saved is intact",
            dead.rank,
            ranks.size(),
            dead.place
        ));
    }
    adept_ground::files::remove_unfinished();
    std::process::exit(1);
}

/// What all ranks do together, so that all end alike: not an error of one of them.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Together(pub(crate) String);

/// The end of a command with this exit status. Ends the process at once where a rank is missing that MPI would wait for.
pub(crate) fn leave(world: &World, status: ExitCode) -> ExitCode {
    if LOST.load(Ordering::Relaxed) {
        world.leave(i32::from(status != ExitCode::SUCCESS));
    }
    status
}

/// The exit status after an error. The first rank has said it. Other ranks say their own, unless the first one failed for the
/// same reason. Who fails alone ends all others, which would wait for it.
pub(crate) fn failed(world: &World, error: &anyhow::Error) -> ExitCode {
    let ranks = &world.ranks;
    // The others have no jobs any more, or stop too.
    let dismissed = ranks.is_first() && APART.load(Ordering::Relaxed);
    let of_all = |cause: &(dyn std::error::Error + 'static)| {
        cause.is::<Together>() || cause.downcast_ref::<TrainError>().is_some_and(TrainError::is_of_all)
    };
    if !ranks.are_several() || dismissed || error.chain().any(of_all) {
        return ExitCode::FAILURE;
    }
    if !ranks.is_first() {
        std::thread::sleep(PATIENCE);
        output::speak_up();
        say(format!("error of rank {} on {}: {error}", ranks.rank(), ranks.link().node()));
    }
    // Nobody is missed who ends because of it.
    interrupt::set_ending();
    world.fail()
}
