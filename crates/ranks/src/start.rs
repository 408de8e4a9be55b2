//! How this process was started: alone, or as a rank of several.

use crate::watch::Watch;
use crate::{Link, Ranks};
use std::any::Any;
use std::sync::Arc;
use thiserror::Error;

/// Why the ranks cannot work together.
#[derive(Debug, Error)]
pub enum StartError {
    /// Several processes were started, but the program cannot speak MPI.
    #[error(
        "{0} copies of this program were started together, but it was built without MPI, so each would do all the work: \
         build it with `--features mpi`, or start one"
    )]
    NoMpi(usize),
    /// MPI is there, but does not start.
    #[error("MPI does not start: {0}")]
    Failed(String),
}

/// Called with a rank that has ended without a word.
pub(crate) type OnDeath = Arc<dyn Fn(Dead) + Send + Sync>;

/// A rank that has ended without a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dead {
    /// Its number.
    pub rank: usize,
    /// Its process and machine, as far as they are known.
    pub place: String,
    /// Whether it has reported an error before, which ends all ranks.
    pub spoke: bool,
}

/// Where a rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The machine.
    pub node: String,
    /// Threads that the rank may use at a time.
    pub threads: usize,
}

/// The places of all ranks.
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

/// Processes that have found each other.
pub struct Connected {
    /// What connects them.
    pub link: Arc<dyn Link>,
    /// What ends the connection when it is dropped.
    pub until: Box<dyn Any>,
}

/// Connects the processes that a launcher has started together.
pub type Connect = fn() -> Result<Connected, StartError>;

/// The ranks of this process. MPI ends when it is dropped, which must be in `main`.
pub struct World {
    /// The ranks.
    pub ranks: Ranks,
    /// Where each of them runs.
    pub places: Vec<Place>,
    watch: Option<Watch>,
    /// Dropped last.
    _until: Option<Box<dyn Any>>,
}

/// How many processes a launcher has started together; `None` if no launcher was found. Launchers: Open MPI, MPICH and its
/// relatives, and srun of Slurm.
fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let number = |name: &str| variable(name)?.parse::<usize>().ok();
    // A shell that srun has started with one task starts programs that are alone.
    let slurm = || number("SLURM_STEP_NUM_TASKS").filter(|&n| n > 1);
    number("OMPI_COMM_WORLD_SIZE").or_else(|| number("PMI_SIZE")).or_else(slurm)
}

/// Finds the ranks of this process. Call it once, at the start of `main`. `connect` is needed where a launcher has started several.
/// `on_death` is told of a rank that ends without a word, on a thread of its own; what waits for that rank waits forever.
///
/// # Errors
/// [`StartError`], if several processes were started that cannot find each other.
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
        // The others would wait for this rank.
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

    /// Ends this process and the other ranks without MPI, which would wait for a rank that is missing.
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
