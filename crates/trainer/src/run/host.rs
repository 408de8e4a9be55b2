//! What a run needs from the machine, so that tests can stand in for it.

use adept_model::files::Files;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Files and time.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Where a run is written.
    pub files: Files,
    /// What its pauses and seconds go by.
    pub clock: Clock,
}

/// Time since some moment in the past.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// A clock that shows what `now` returns. It may jump: results do not depend on it.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// What it shows.
    pub fn now(&self) -> Duration {
        (self.0)()
    }

    /// Time since it showed `then`; none if it has been put back.
    pub fn since(&self, then: Duration) -> Duration {
        self.now().saturating_sub(then)
    }
}

impl Default for Clock {
    /// The monotonic clock of the system.
    fn default() -> Self {
        let start = Instant::now();
        Self::new(move || start.elapsed())
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&self.now()).finish()
    }
}
