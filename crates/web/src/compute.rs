//! Work for processors: as much at a time as there are, and a queue with an end.

use crate::fault::{Fault, Kind};
use crate::limits;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

pub(crate) struct Compute {
    free: Arc<Semaphore>,
    waiting: AtomicUsize,
}

impl Compute {
    pub(crate) fn new(threads: usize) -> Self {
        Self { free: Arc::new(Semaphore::new(threads)), waiting: AtomicUsize::new(0) }
    }

    /// Runs `f` on a thread of its own when a processor is free. If the client has waited too long, the work goes on without it.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        f: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= limits::WAITING {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Fault::busy("too many requests are waiting: ask again later"));
        }
        let _waits = Waits(&self.waiting);
        let done = async {
            let stopping = |_| Fault::busy("the server is stopping");
            let permit = self.free.clone().acquire_owned().await.map_err(stopping)?;
            let work = move || {
                let found = f();
                drop(permit);
                found
            };
            tokio::task::spawn_blocking(work).await.map_err(|error| {
                Fault::new(
                    axum::http::StatusCode::INTERNAL_SERVER_ERROR,
                    Kind::Failed,
                    format!("a fault of the server: {error}"),
                )
            })?
        };
        let late = |_| {
            Fault::busy(format!(
                "no answer within {} seconds; it may be there when you ask again",
                limits::ANSWERING.as_secs()
            ))
        };
        tokio::time::timeout(limits::ANSWERING, done).await.map_err(late)?
    }
}

struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
