//! Access of a run to the file system and the clock, which tests can replace.

use adept_ground::files::Files;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// File system and clock.
#[derive(Clone, Debug, Default)]
pub struct Host {
    /// Where a run writes its files.
    pub files: Files,
    /// Clock for pauses and seconds.
    pub clock: Clock,
}

/// Time since some fixed moment.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Duration + Send + Sync>);

impl Clock {
    /// A clock that shows what `now` returns. It may jump: results do not depend on it.
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// The current time.
    pub fn now(&self) -> Duration {
        (self.0)()
    }

    /// Time since `then`; zero if the clock has been set back.
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

/// The time of a run, over all resumes.
pub(super) struct Stopwatch {
    clock: Clock,
    started: Duration,
    /// Seconds before this process.
    pub(super) before: f64,
}

impl Stopwatch {
    pub(super) fn new(clock: Clock) -> Self {
        Self { started: clock.now(), clock, before: 0.0 }
    }

    /// The current time.
    pub(super) fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Time since `then`.
    pub(super) fn since(&self, then: Duration) -> Duration {
        self.clock.since(then)
    }

    /// Learning starts now.
    pub(super) fn start(&mut self) {
        self.started = self.clock.now();
    }

    /// Seconds of learning in this process.
    pub(super) fn here(&self) -> f64 {
        self.clock.since(self.started).as_secs_f64()
    }

    /// Seconds of learning, over all resumes.
    pub(super) fn seconds(&self) -> f64 {
        self.before + self.here()
    }
}
