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

/// Does long work. If Ctrl-C is pressed or the callback raises an exception, `cancel` is requested. Returns the result of the
/// work, and the exception.
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    cancel: &Cancel,
    work: impl FnOnce(&Reports) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (send, receive) = mpsc::sync_channel::<(Value, SyncSender<()>)>(0);
    let reports = Reports { send, last: Mutex::new(None) };
    let mut raised: Option<PyErr> = None;
    let raised_here = &mut raised;
    AT_WORK.fetch_add(1, Ordering::Relaxed);
    let result = py.detach(move || {
        let raised = raised_here;
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
                    if Python::attach(|py| py.check_signals()).is_err() {
                        GIVES_UP.store(true, Ordering::Relaxed);
                    }
                    continue;
                }
                let told = Python::attach(|py| {
                    py.check_signals()?;
                    if let (Ok((value, _)), Some(callback)) = (&event, callback) {
                        callback.call1(py, (plain(py, value)?,))?;
                    }
                    Ok(())
                });
                if let Err(error) = told {
                    cancel.cancel();
                    *raised = Some(error);
                }
            }
            handle.join()
        })
    });
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
