//! What connects ranks.

use std::fmt::Debug;

/// A group of processes that call the same collective operations in the same order. All counts are known to all.
pub trait Link: Debug + Send + Sync {
    /// The number of this rank, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Name of the machine that this rank runs on.
    fn node(&self) -> String;

    /// Sends the i-th piece of `send`, of `sends[i]` bytes, to rank i. Receives a piece of `receives[i]` bytes from rank i, one
    /// after the other.
    fn exchange(&self, send: &[u8], sends: &[usize], receive: &mut [u8], receives: &[usize]);

    /// Receives what each rank sends to all, `counts[i]` bytes from rank i, one after the other.
    fn gather(&self, send: &[u8], receive: &mut [u8], counts: &[usize]);

    /// Ends all ranks at once with this exit status.
    fn abort(&self, status: i32) -> !;
}

/// A single process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone;

impl Link for Alone {
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
