//! Long work: on a thread of its own, while the caller's thread hands events to Python and looks for Ctrl-C.

use crate::game::guarded;
use crate::plain;
use adept_trainer::run::{Cancel, Event, Observer};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pause between two looks for signals, and between two reports of progress.
const PAUSE: Duration = Duration::from_millis(50);
/// Time that work may take to stop before a word is said.
const PATIENCE: Duration = Duration::from_secs(2);

/// Long works under way, and whether Ctrl-C was pressed again while one of them was to stop.
static AT_WORK: AtomicUsize = AtomicUsize::new(0);
static GIVES_UP: AtomicBool = AtomicBool::new(false);

/// Whether games in Python should give up at once: a game that never ends does not see that its run is to stop.
pub(crate) fn gives_up() -> bool {
    GIVES_UP.load(Ordering::Relaxed)
}

/// Where the work reports events.
pub(crate) struct Reports {
    send: SyncSender<(Value, SyncSender<()>)>,
    last: Mutex<Option<Instant>>,
}

impl Reports {
    /// Hands an event over, and waits until Python has dealt with it.
    pub(crate) fn tell(&self, value: Value) {
        let (done, wait) = mpsc::sync_channel(1);
        if self.send.send((value, done)).is_ok() {
            // Nothing comes: the sender is dropped.
            let _ = wait.recv();
        }
    }

    fn is_due(&self) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.is_none_or(|last| last.elapsed() >= PAUSE);
        if due {
            *last = Some(Instant::now());
        }
        due
    }
}

impl Observer for Reports {
    fn event(&self, _: u64, event: Event<'_>) {
        match event {
            Event::Started { from, games, unit } => {
                self.tell(json!({ "kind": "started", "from": from, "total": games, "unit": unit }));
            }
            Event::Progress { step, rate } if self.is_due() => {
                self.tell(json!({ "kind": "progress", "step": step, "rate": rate }));
            }
            Event::Evaluated(evaluation) => {
                if let Ok(mut value) = serde_json::to_value(evaluation) {
                    value["kind"] = "measured".into();
                    self.tell(value);
                }
            }
            Event::Preparing(what) => self.tell(json!({ "kind": "preparing", "what": what })),
            Event::SetBack { why, step } => {
                self.tell(json!({ "kind": "set_back", "why": why.to_string(), "step": step }));
            }
            Event::Ended(record) => self.tell(json!({ "kind": "ended", "step": record.step })),
            Event::Progress { .. } => {}
        }
    }
}

/// Does work that cannot be stopped. Ctrl-C leaves it to itself: its result is dropped when it comes.
pub(crate) fn on_its_own<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut receive) = mpsc::channel();
    let worker = std::thread::Builder::new().name("adept".into()).spawn(move || {
        // Nobody waits any more after Ctrl-C.
        let _ = send.send(work());
    })?;
    loop {
        let waiting = &mut receive;
        match py.detach(move || waiting.recv_timeout(PAUSE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(payload) => std::panic::resume_unwind(payload),
                Ok(()) => return Err(crate::fault("the work ended without a result")),
            },
        }
    }
}

/// Says on `sys.stderr` how to stop work that does not stop by itself.
fn say_how_to_stop(py: Python<'_>) {
    const WORDS: &str =
        "adept: stopping at the end of this step; interrupt again to stop a game in Python at once\n";
    let written = py.import("sys").and_then(|sys| sys.getattr("stderr")?.call_method1("write", (WORDS,)));
    // Without a place to write to, the work stops all the same.
    drop(written);
}

/// What was told of a work with progress.
#[derive(Default)]
struct Told {
    started: bool,
    ended: bool,
    step: u64,
}

impl Told {
    fn of(&mut self, event: &Value) {
        self.started |= event["kind"] == "started";
        self.ended |= event["kind"] == "ended";
        self.step = event["step"].as_u64().or(event["from"].as_u64()).unwrap_or(self.step);
    }
}

/// Does long work. If Ctrl-C is pressed or the callback raises an exception, `cancel` is requested. Returns the result of the
/// work, and the exception. A work that has told of its start tells of its end whatever happens.
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    cancel: &Cancel,
    work: impl FnOnce(&Reports) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    long_until(py, callback, || cancel.cancel(), work)
}

/// Does long work of a game in Python that has nothing to save: Ctrl-C ends it at the next call of the game.
pub(crate) fn until_interrupted<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let stop = || GIVES_UP.store(true, Ordering::Relaxed);
    let (result, raised) = long_until(py, None, stop, |_| work())?;
    raised.map_or(Ok(result), Err)
}

fn long_until<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    stop: impl Fn() + Send,
    work: impl FnOnce(&Reports) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (send, receive) = mpsc::sync_channel::<(Value, SyncSender<()>)>(0);
    let reports = Reports { send, last: Mutex::new(None) };
    let (mut raised, mut told): (Option<PyErr>, Told) = (None, Told::default());
    let (raised_here, told_here) = (&mut raised, &mut told);
    AT_WORK.fetch_add(1, Ordering::Relaxed);
    let result = py.detach(move || {
        let (raised, told) = (raised_here, told_here);
        let mut stopping: Option<Instant> = None;
        std::thread::scope(move |scope| {
            let handle = scope.spawn(move || {
                // Attached once, so that the thread keeps its state in the interpreter: a game in Python attaches for each call.
                Python::attach(|py| py.detach(|| guarded(|| work(&reports))))
            });
            loop {
                let event = receive.recv_timeout(PAUSE);
                if matches!(event, Err(RecvTimeoutError::Disconnected)) {
                    break;
                }
                if raised.is_some() {
                    Python::attach(|py| {
                        if stopping.is_some_and(|since| since.elapsed() > PATIENCE) {
                            stopping = None;
                            say_how_to_stop(py);
                        }
                        if py.check_signals().is_err() {
                            GIVES_UP.store(true, Ordering::Relaxed);
                        }
                    });
                    continue;
                }
                let heard = Python::attach(|py| {
                    py.check_signals()?;
                    if let (Ok((value, _)), Some(callback)) = (&event, callback) {
                        told.of(value);
                        callback.call1(py, (plain(py, value)?,))?;
                    }
                    Ok(())
                });
                if let Err(error) = heard {
                    stop();
                    *raised = Some(error);
                    stopping = Some(Instant::now());
                }
            }
            handle.join()
        })
    });
    if let (Some(callback), true) = (callback, told.started && !told.ended) {
        let event = json!({ "kind": "ended", "step": told.step });
        // The first exception counts.
        drop(plain(py, &event).and_then(|event| callback.call1(py, (event,))));
    }
    if AT_WORK.fetch_sub(1, Ordering::Relaxed) == 1 {
        GIVES_UP.store(false, Ordering::Relaxed);
    }
    match result {
        // The first exception counts, not one that follows from it.
        Ok(Err(_)) if raised.is_some() => Err(raised.unwrap_or_else(|| unreachable!("it was looked at"))),
        Ok(result) => Ok((result?, raised)),
        Err(payload) => std::panic::resume_unwind(payload),
    }
}
