//! A sampling profiler: threads record their phase, and a sampler reads it about a thousand times a second.
//!
//! A phase is a single byte written by a thread, so even short phases are measured without slowing them down. While
//! profiling is off, a [`Span`] costs one read.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// An activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Games: rules, choices, targets; or sampling examples.
    Games = 1,
    /// Encoding positions as rows.
    Encoding,
    /// Forward passes, in play and in learning.
    Forward,
    /// Backward passes.
    Backward,
    /// Parameter updates.
    Optimiser,
    /// Learning of models without separate phases.
    Learning,
    /// Measurements of a run.
    Measuring,
    /// Records and checkpoints.
    Writing,
}

impl Phase {
    /// All phases, in order.
    pub const ALL: [Self; 8] = [
        Self::Games,
        Self::Encoding,
        Self::Forward,
        Self::Backward,
        Self::Optimiser,
        Self::Learning,
        Self::Measuring,
        Self::Writing,
    ];

    /// Its name in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Games => "games",
            Self::Encoding => "encoding",
            Self::Forward => "forward",
            Self::Backward => "backward",
            Self::Optimiser => "optimiser",
            Self::Learning => "learning",
            Self::Measuring => "measuring",
            Self::Writing => "writing",
        }
    }
}

/// Code of a thread outside all phases.
const NOTHING: u8 = 0;

static IS_ON: AtomicBool = AtomicBool::new(false);
/// Overrides the phase of all threads in a phase.
static ALL: AtomicU8 = AtomicU8::new(NOTHING);
static THREADS: Mutex<Vec<Arc<AtomicU8>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: Arc<AtomicU8> = {
        let mine = Arc::new(AtomicU8::new(NOTHING));
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).push(mine.clone());
        mine
    };
}

/// Whether profiling is on.
#[inline]
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Relaxed)
}

/// Guard: while it lives, this thread is in a phase; then it returns to the previous one.
#[must_use]
#[derive(Debug)]
pub struct Span {
    before: Option<u8>,
    /// A span belongs to its thread.
    _thread: PhantomData<*const ()>,
}

/// Enters a phase. Does nothing while profiling is off.
#[inline]
pub fn span(phase: Phase) -> Span {
    enter(phase as u8)
}

/// Leaves all phases while this thread waits for others.
#[inline]
pub fn pause() -> Span {
    enter(NOTHING)
}

#[inline]
fn enter(phase: u8) -> Span {
    let before = is_on().then(|| {
        MINE.with(|mine| {
            // No other thread writes it, so no atomic exchange is needed.
            let before = mine.load(Ordering::Relaxed);
            mine.store(phase, Ordering::Relaxed);
            before
        })
    });
    Span { before, _thread: PhantomData }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // A thread that is ending may have lost its byte.
            let _ = MINE.try_with(|mine| mine.store(before, Ordering::Relaxed));
        }
    }
}

/// Guard: while it lives, the phases of all threads count as one.
#[must_use]
#[derive(Debug)]
pub struct Whole {
    _mine: Span,
}

impl Drop for Whole {
    fn drop(&mut self) {
        ALL.store(NOTHING, Ordering::Relaxed);
    }
}

/// Seconds of thread time by phase, outside of which time is not recorded.
pub type Seconds = BTreeMap<String, f64>;

/// A running sampler. A process has at most one.
#[derive(Debug)]
pub struct Profiler {
    found: Arc<Mutex<[f64; Phase::ALL.len()]>>,
    stop: Arc<AtomicBool>,
    sampler: Option<JoinHandle<()>>,
}

impl Profiler {
    /// Starts a sampler; `None` if one is running, or if no thread can start.
    pub fn start() -> Option<Self> {
        if IS_ON.swap(true, Ordering::Relaxed) {
            return None;
        }
        let found = Arc::new(Mutex::new([0.0; Phase::ALL.len()]));
        let stop = Arc::new(AtomicBool::new(false));
        let (seconds, stopped) = (found.clone(), stop.clone());
        let sampler =
            std::thread::Builder::new().name("profile".into()).spawn(move || sample(&seconds, &stopped));
        match sampler {
            Ok(sampler) => Some(Self { found, stop, sampler: Some(sampler) }),
            Err(_) => {
                IS_ON.store(false, Ordering::Relaxed);
                None
            }
        }
    }

    /// Counts the phases of all threads as this one. One at a time.
    pub fn whole(&self, phase: Phase) -> Whole {
        ALL.store(phase as u8, Ordering::Relaxed);
        Whole { _mine: span(phase) }
    }

    /// The measurements so far.
    pub fn seconds(&self) -> Seconds {
        let found = *self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let named = Phase::ALL.into_iter().zip(found).filter(|(_, seconds)| *seconds > 0.0);
        named.map(|(phase, seconds)| (phase.name().to_string(), seconds)).collect()
    }
}

impl Drop for Profiler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(sampler) = self.sampler.take() {
            let _ = sampler.join();
        }
        IS_ON.store(false, Ordering::Relaxed);
    }
}

fn sample(found: &Mutex<[f64; Phase::ALL.len()]>, stop: &AtomicBool) {
    let (mut last, mut turn) = (Instant::now(), 0u64);
    while !stop.load(Ordering::Relaxed) {
        // Random intervals of .7 to 1.3 ms avoid aliasing with periodic work.
        turn = turn.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_micros(700 + (turn >> 32) % 600));
        let now = Instant::now();
        // A suspended process did no work meanwhile.
        let passed = (now - last).as_secs_f64().min(0.1);
        last = now;
        let all = ALL.load(Ordering::Relaxed);
        let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
        THREADS.lock().unwrap_or_else(PoisonError::into_inner).retain(|thread| {
            let phase = match thread.load(Ordering::Relaxed) {
                NOTHING => NOTHING,
                _ if all != NOTHING => all,
                phase => phase,
            };
            if phase != NOTHING {
                found[usize::from(phase) - 1] += passed;
            }
            // The other owner is the thread itself.
            Arc::strong_count(thread) > 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sampler sees nested phases, phases of another thread, and phases of all threads.
    #[test]
    fn phases_nest_and_may_be_of_all_threads() {
        let state = || MINE.with(|mine| mine.load(Ordering::Relaxed));
        {
            let _off = span(Phase::Games);
            assert_eq!(state(), NOTHING);
        }
        let profiler = Profiler::start().unwrap();
        assert!(Profiler::start().is_none());
        {
            let _games = span(Phase::Games);
            {
                let _rows = span(Phase::Encoding);
                assert_eq!(state(), Phase::Encoding as u8);
            }
            assert_eq!(state(), Phase::Games as u8);
            {
                let _waits = pause();
                assert_eq!(state(), NOTHING);
            }
            let is_seen = |name: &str| profiler.seconds().get(name).is_some_and(|s| *s > 0.0);
            while !is_seen("games") {
                std::thread::yield_now();
            }
            let _writing = profiler.whole(Phase::Writing);
            let done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    let _forward = span(Phase::Forward);
                    while !done.load(Ordering::Relaxed) {
                        std::thread::yield_now();
                    }
                });
                while !is_seen("writing") {
                    std::thread::yield_now();
                }
                done.store(true, Ordering::Relaxed);
            });
            assert!(!is_seen("forward"));
        }
        assert_eq!(state(), NOTHING);
        drop(profiler);
        assert!(!is_on());
        assert!(Profiler::start().is_some());
    }
}
