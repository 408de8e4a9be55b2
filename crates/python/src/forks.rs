//! Processes that were forked: threads of the process before do not come along, and a pool of threads that waits for them waits
//! for ever.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The process that imported the module.
static FIRST: OnceLock<u32> = OnceLock::new();
/// The pool of a forked process. One that came along with a fork belongs to another process.
static POOL: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);

/// Notes that this process imports the module.
pub(crate) fn begin() {
    FIRST.get_or_init(std::process::id);
}

/// Does work whose threads are those of this process. In a process that was forked, rayon's global pool may be one without
/// threads, so the work gets a pool of its own. The interpreter lock must be free, since the work may move to another thread.
pub(crate) fn with_own_threads<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let here = std::process::id();
    if FIRST.get().is_none_or(|first| *first == here) {
        return work();
    }
    match pool(here) {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// The pool of this process; none if the machine gives no threads.
fn pool(here: u32) -> Option<Arc<rayon::ThreadPool>> {
    let mut found = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*found {
        Some((owner, pool)) if *owner == here => Some(pool.clone()),
        _ => {
            let pool = Arc::new(rayon::ThreadPoolBuilder::new().build().ok()?);
            // The threads of the one before are not here, so it cannot be taken down.
            std::mem::forget(found.replace((here, pool.clone())));
            Some(pool)
        }
    }
}
