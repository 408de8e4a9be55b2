//! Transport between ranks.

use std::fmt::Debug;

/// A group of processes that call the same collective operations in the same order. All sizes are known to all ranks.
pub trait Link: Debug + Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Name of the machine that this rank runs on.
    fn node(&self) -> String;

    /// Sends the i-th piece of `send`, of `sends[i]` bytes, to rank i. Receives pieces of `receives[i]` bytes from rank
    /// i, concatenated in order.
    fn exchange(&self, send: &[u8], sends: &[usize], receive: &mut [u8], receives: &[usize]);

    /// All-gather: receives the message of each rank, `counts[i]` bytes from rank i, concatenated in order.
    fn gather(&self, send: &[u8], receive: &mut [u8], counts: &[usize]);

    /// Terminates all ranks with this exit status.
    fn abort(&self, status: i32) -> !;
}

/// A single process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleProcess;

impl Link for SingleProcess {
    fn rank(&self) -> usize {
        0
    }

    fn size(&self) -> usize {
        1
    }

    fn node(&self) -> String {
        String::new()
    }

    fn exchange(&self, send: &[u8], _: &[usize], receive: &mut [u8], _: &[usize]) {
        receive.copy_from_slice(send);
    }

    fn gather(&self, send: &[u8], receive: &mut [u8], _: &[usize]) {
        receive.copy_from_slice(send);
    }

    fn abort(&self, status: i32) -> ! {
        std::process::exit(status)
    }
}
