//! Detects whether this process was started alone or as one of several ranks.

use crate::watch::{OnDeath, Watch};
use crate::{Link, Ranks};
use std::any::Any;
use std::sync::Arc;
use thiserror::Error;

/// Why the ranks cannot work together.
#[derive(Debug, Error)]
pub enum StartError {
    /// Several processes were started, but the program was built without MPI.
    #[error(
        "{0} copies of this program were started together, but it was built without MPI, so each would do all the work: \
         build it with `--features mpi`, or start one"
    )]
    NoMpi(usize),
    /// MPI is present but fails to start.
    #[error("MPI does not start: {0}")]
    Failed(String),
}

/// Location of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The machine.
    pub node: String,
    /// Number of threads that the rank may use.
    pub threads: usize,
}

/// The locations of all ranks.
fn places(ranks: &Ranks) -> Vec<Place> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let all = ranks.collect(format!("{threads} {}", ranks.link().node()).as_bytes());
    let place = |said: Vec<u8>| {
        let said = String::from_utf8_lossy(&said).into_owned();
        let (threads, node) = said.split_once(' ').unwrap_or(("1", &said));
        Place { node: node.into(), threads: threads.parse().unwrap_or(1) }
    };
    all.into_iter().map(place).collect()
}

/// Connected processes.
pub struct Connected {
    /// The link between them.
    pub link: Arc<dyn Link>,
    /// Guard that ends the connection when dropped.
    pub until: Box<dyn Any>,
}

/// Connects the processes that a launcher has started together.
pub type Connect = fn() -> Result<Connected, StartError>;

/// The ranks of this process. MPI ends when this is dropped, which must happen in `main`.
pub struct World {
    /// The ranks.
    pub ranks: Ranks,
    /// Location of each rank.
    pub places: Vec<Place>,
    watch: Option<Watch>,
    /// Dropped last.
    _until: Option<Box<dyn Any>>,
}

/// Number of processes that a launcher has started together; `None` without a launcher. Supports Open MPI, MPICH and
/// its relatives, and Slurm's srun.
fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let number = |name: &str| variable(name)?.parse::<usize>().ok();
    // A shell that srun has started as a single task starts independent programs.
    let slurm = || number("SLURM_STEP_NUM_TASKS").filter(|&n| n > 1);
    number("OMPI_COMM_WORLD_SIZE").or_else(|| number("PMI_SIZE")).or_else(slurm)
}

/// Finds the ranks of this process. Call it once, at the start of `main`. `connect` is needed if a launcher has started
/// several. `on_death` is called on a separate thread for a rank that ends unexpectedly; whatever waits for that rank
/// waits forever.
///
/// # Errors
/// [`StartError`], if several processes were started that cannot connect.
pub fn start(connect: Option<Connect>, on_death: OnDeath) -> Result<World, StartError> {
    let Some(n) = launched(|name| std::env::var(name).ok()) else { return Ok(World::alone()) };
    let Some(connect) = connect else {
        return if n > 1 { Err(StartError::NoMpi(n)) } else { Ok(World::alone()) };
    };
    let Connected { link, until } = connect()?;
    let ranks = Ranks::new(link);
    let watch = if ranks.are_several() { Watch::new(&ranks, on_death) } else { None };
    let places = places(&ranks);
    Ok(World { ranks, places, watch, _until: Some(until) })
}

impl Drop for World {
    fn drop(&mut self) {
        // Otherwise the other ranks would wait for this one.
        if self.ranks.are_several() && std::thread::panicking() {
            self.fail();
        }
        // Before MPI ends, where ranks wait for each other.
        self.watch.take();
    }
}

impl World {
    /// Ends all ranks because of an error that this one has reported.
    pub fn fail(&self) -> ! {
        if let Some(watch) = &self.watch {
            watch.fail();
        }
        self.ranks.link().abort(1)
    }

    /// Ends this process and the other ranks without MPI, which would wait for a missing rank.
    pub fn leave(&self, status: i32) -> ! {
        if let Some(watch) = &self.watch {
            watch.leave();
        }
        std::process::exit(status)
    }

    fn alone() -> Self {
        Self { ranks: Ranks::default(), places: Vec::new(), watch: None, _until: None }
    }
}

#[cfg(test)]
mod tests {
    use super::launched;

    #[test]
    fn launchers_are_known_by_their_variables() {
        let found = |given: &[(&str, &str)]| {
            launched(|name| given.iter().find(|(key, _)| *key == name).map(|(_, value)| value.to_string()))
        };
        assert_eq!(found(&[]), None);
        assert_eq!(found(&[("OMPI_COMM_WORLD_SIZE", "4"), ("SLURM_STEP_NUM_TASKS", "1")]), Some(4));
        assert_eq!(found(&[("PMI_SIZE", "1")]), Some(1));
        assert_eq!(found(&[("SLURM_STEP_NUM_TASKS", "8")]), Some(8));
        assert_eq!(found(&[("SLURM_STEP_NUM_TASKS", "1")]), None);
    }
}
