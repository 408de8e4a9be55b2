//! Ranks of MPI.

use ::mpi::datatype::PartitionMut;
use ::mpi::environment::{Universe, processor_name};
use ::mpi::request::{WaitGuard, scope};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use adept_ranks::{Connected, Link, StartError};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Starts MPI, which ends when what is returned is dropped.
pub(crate) fn connect() -> Result<Connected, StartError> {
    // A thread may compute while another one, which never calls MPI, plays.
    let Some((universe, _)) = ::mpi::initialize_with_threading(::mpi::Threading::Serialized) else {
        return Err(StartError::Failed("it runs already".into()));
    };
    Ok(Connected { link: Arc::new(Mpi::new(&universe)), until: Box::new(universe) })
}

struct Mpi {
    rank: usize,
    size: usize,
    /// One thread at a time calls MPI.
    turn: Mutex<()>,
}

impl Mpi {
    fn new(universe: &Universe) -> Self {
        let world = universe.world();
        Self { rank: world.rank() as usize, size: world.size() as usize, turn: Mutex::new(()) }
    }

    fn call<R>(&self, f: impl FnOnce(SimpleCommunicator) -> R) -> R {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        f(SimpleCommunicator::world())
    }
}

impl fmt::Debug for Mpi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank, self.size)
    }
}

/// Most bytes of a message.
const MESSAGE: usize = 1 << 30;

/// Counts and displacements as MPI has them.
fn places(counts: &[usize]) -> (Vec<i32>, Vec<i32>) {
    let int = |n: usize| i32::try_from(n).expect("a message of MPI has less than 2 GiB");
    let mut at = 0;
    let starts = counts.iter().map(|&n| {
        at += n;
        int(at - n)
    });
    let starts = starts.collect();
    (counts.iter().map(|&n| int(n)).collect(), starts)
}

impl Link for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn node(&self) -> String {
        processor_name().unwrap_or_default()
    }

    fn exchange(&self, send: &[u8], sends: &[usize], receive: &mut [u8], receives: &[usize]) {
        // Not MPI_Alltoallv: that of Open MPI 4.1 fails where a rank sends nothing to anyone.
        self.call(|world| {
            scope(|scope| {
                let mut open = Vec::new();
                let (mut unread, mut own): (&mut [u8], &mut [u8]) = (receive, &mut []);
                for (rank, &n) in receives.iter().enumerate() {
                    let (piece, rest) = unread.split_at_mut(n);
                    unread = rest;
                    if rank == self.rank {
                        own = piece;
                        continue;
                    }
                    for part in piece.chunks_mut(MESSAGE) {
                        open.push(WaitGuard::from(
                            world.process_at_rank(rank as i32).immediate_receive_into(scope, part),
                        ));
                    }
                }
                let (mut unsent, mut waits) = (send, Vec::new());
                for (rank, &n) in sends.iter().enumerate() {
                    let (piece, rest) = unsent.split_at(n);
                    unsent = rest;
                    if rank == self.rank {
                        own.copy_from_slice(piece);
                        continue;
                    }
                    for part in piece.chunks(MESSAGE) {
                        waits.push(WaitGuard::from(
                            world.process_at_rank(rank as i32).immediate_send(scope, part),
                        ));
                    }
                }
                drop((waits, open));
            });
        });
    }

    fn gather(&self, send: &[u8], receive: &mut [u8], counts: &[usize]) {
        // MPI takes the address 1, which Rust gives to what is empty, for MPI_IN_PLACE.
        if receive.is_empty() {
            return;
        }
        let send = if send.is_empty() { &[0][..0] } else { send };
        let (counts, starts) = places(counts);
        let mut receive = PartitionMut::new(receive, counts, starts);
        self.call(|world| world.all_gather_varcount_into(send, &mut receive));
    }

    fn abort(&self, status: i32) -> ! {
        SimpleCommunicator::world().abort(status)
    }
}
