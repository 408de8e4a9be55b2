//! What several calls share, and one thread at a time works with: agents, batches, self-play.

use crate::fault;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// A value behind a lock. A second thread waits. A call from within the work itself, or in a process that was forked while another thread
/// was at work, would wait for ever: both are errors.
pub(crate) struct Shared<T> {
    value: Mutex<T>,
    /// The process and the thread at work, or 0.
    owner: AtomicU64,
}

/// This process in the upper half, this thread in the lower.
fn this_thread() -> u64 {
    static THREADS: AtomicU32 = AtomicU32::new(1);
    thread_local! {
        static THREAD: Cell<u32> = const { Cell::new(0) };
    }
    if THREAD.get() == 0 {
        THREAD.set(THREADS.fetch_add(1, Ordering::Relaxed));
    }
    u64::from(std::process::id()) << 32 | u64::from(THREAD.get())
}

/// Says that nobody is at work any more, also where an exception of a game passes.
struct Done<'a>(&'a AtomicU64);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}

impl<T> Shared<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Mutex::new(value), owner: AtomicU64::new(0) }
    }

    /// Works with the value. The interpreter lock must be free, since the thread at work may need it.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> PyResult<R> {
        let (here, owner) = (this_thread(), self.owner.load(Ordering::Acquire));
        if owner == here {
            return Err(fault("it is at work: a game that it calls cannot ask it"));
        }
        if owner != 0 && owner >> 32 != here >> 32 {
            return Err(fault(
                "another thread was at work with it when this process was forked: make it anew here",
            ));
        }
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        self.owner.store(here, Ordering::Release);
        let _done = Done(&self.owner);
        Ok(work(&mut value))
    }
}
