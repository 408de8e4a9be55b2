//! Long work: on a thread of its own, while the caller's thread hands events to Python and looks for Ctrl-C.

use crate::errors::guarded;
use crate::forks::with_own_threads;
use crate::plain;
use adept_trainer::run::{Cancel, Event, Observer};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Pause between two looks for signals, and between two reports of progress.
const PAUSE: Duration = Duration::from_millis(50);
/// Stack of a thread that works, of which only what is used takes memory: exact walks go as deep as the longest game.
const STACK: usize = 64 << 20;
/// Time that work may take to stop before a word is said.
const PATIENCE: Duration = Duration::from_secs(2);

/// A request to the games in Python of one work to give up: a game that never ends does not see that its work is to stop.
#[derive(Clone, Default)]
pub(crate) struct Stop(Arc<Request>);

#[derive(Default)]
struct Request {
    made: AtomicBool,
    /// The threads that are in a call of a game, as Python numbers them.
    threads: Mutex<Vec<u64>>,
}

thread_local! {
    /// The request that games found on this thread obey.
    static STOP: RefCell<Option<Stop>> = const { RefCell::new(None) };
    /// This thread, as Python numbers it; 0 before it is known.
    static THREAD: Cell<u64> = const { Cell::new(0) };
}

fn this_thread(py: Python<'_>) -> PyResult<u64> {
    if THREAD.get() == 0 {
        THREAD.set(py.import("threading")?.call_method0("get_ident")?.extract()?);
    }
    Ok(THREAD.get())
}

/// A thread in a call of a game, until it is dropped.
pub(crate) struct Calls<'a>(&'a Stop, u64);

impl Drop for Calls<'_> {
    fn drop(&mut self) {
        let mut threads = self.0.threads();
        if let Some(place) = threads.iter().rposition(|thread| *thread == self.1) {
            threads.swap_remove(place);
        }
    }
}

impl Stop {
    pub(crate) fn requested(&self) -> bool {
        self.0.made.load(Ordering::Relaxed)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<u64>> {
        self.0.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that this thread calls a game.
    pub(crate) fn calls(&self, py: Python<'_>) -> PyResult<Calls<'_>> {
        let thread = this_thread(py)?;
        self.threads().push(thread);
        Ok(Calls(self, thread))
    }

    /// Makes the request. A method that is at work on another thread gets an exception, like one that Ctrl-C interrupts.
    fn request(&self, py: Python<'_>) {
        self.0.made.store(true, Ordering::Relaxed);
        let raise = || -> PyResult<()> {
            let ctypes = py.import("ctypes")?;
            let raise = ctypes.getattr("pythonapi")?.getattr("PyThreadState_SetAsyncExc")?;
            let error = ctypes.call_method1("py_object", (py.get_type::<PyKeyboardInterrupt>(),))?;
            let (own, threads) = (this_thread(py)?, self.threads().clone());
            for thread in threads.into_iter().filter(|thread| *thread != own) {
                raise.call1((ctypes.call_method1("c_ulong", (thread,))?, &error))?;
            }
            Ok(())
        };
        // The games still give up at their next call.
        drop(raise());
    }

    fn take_back(&self) {
        self.0.made.store(false, Ordering::Relaxed);
    }

    /// Games that `f` finds obey this request.
    pub(crate) fn within<R>(&self, f: impl FnOnce() -> R) -> R {
        /// Also where an exception of a game passes.
        struct Restore(Option<Stop>);
        impl Drop for Restore {
            fn drop(&mut self) {
                STOP.set(self.0.take());
            }
        }
        let _restore = Restore(STOP.replace(Some(self.clone())));
        f()
    }

    /// The request of the work on this thread, or one that nobody makes.
    pub(crate) fn current() -> Self {
        STOP.with_borrow(|stop| stop.clone().unwrap_or_default())
    }
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
        if matches!(event, Event::Progress { .. }) && !self.is_due() {
            return;
        }
        if let Some(value) = told(&event) {
            self.tell(value);
        }
    }
}

/// An event as Python hears of it.
pub(crate) fn told(event: &Event<'_>) -> Option<Value> {
    Some(match event {
        Event::Started { from, games, unit } => {
            json!({ "kind": "started", "from": from, "total": games, "unit": unit })
        }
        Event::Progress { step, rate } => json!({ "kind": "progress", "step": step, "rate": rate }),
        Event::Evaluated(evaluation) => {
            let mut value = serde_json::to_value(evaluation).ok()?;
            value["kind"] = "measured".into();
            value
        }
        Event::Preparing(what) => json!({ "kind": "preparing", "what": what }),
        Event::SetBack { why, step } => json!({ "kind": "set_back", "why": why.to_string(), "step": step }),
        Event::Ended(record) => json!({ "kind": "ended", "step": record.step }),
    })
}

/// The type of `adept.STOP`.
#[pyclass(frozen, module = "adept", name = "_Stop")]
pub(crate) struct StopSign;

#[pymethods]
impl StopSign {
    fn __repr__(&self) -> &'static str {
        "adept.STOP"
    }

    /// There is one, also after pickling.
    fn __reduce__(&self) -> &'static str {
        "STOP"
    }
}

/// What a callback answers to an event. An error is like an exception in the callback.
pub(crate) type Answer<'a> = dyn FnMut(&Bound<'_, PyAny>) -> PyResult<()> + Send + 'a;

/// Whether a callback answers with `adept.STOP`.
pub(crate) fn stops(answer: &Bound<'_, PyAny>) -> bool {
    answer.is_instance_of::<StopSign>()
}

/// Does work without progress. Ctrl-C requests `cancel` and leaves the work to itself: its result is dropped when it comes.
pub(crate) fn on_its_own<T: Send + 'static>(
    py: Python<'_>,
    cancel: &Cancel,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (send, mut receive) = mpsc::channel();
    let worker = std::thread::Builder::new().name("adept".into()).stack_size(STACK).spawn(move || {
        // Nobody waits any more after Ctrl-C.
        let _ = send.send(with_own_threads(work));
    })?;
    loop {
        let waiting = &mut receive;
        match py.detach(move || waiting.recv_timeout(PAUSE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| cancel.cancel())?,
            Err(RecvTimeoutError::Disconnected) => match worker.join() {
                Err(payload) => std::panic::resume_unwind(payload),
                Ok(()) => return Err(crate::fault("the work ended without a result")),
            },
        }
    }
}

/// Says on `sys.stderr` why nothing seems to happen.
fn say_that_it_stops(py: Python<'_>) {
    const WORDS: &str =
        "adept: stopping at the end of this step; another interrupt ends a game in Python at once\n";
    let written = py.import("sys").and_then(|sys| sys.getattr("stderr")?.call_method1("write", (WORDS,)));
    // Without a place to write to, the work stops all the same.
    drop(written);
}

/// What was told of a work with progress.
#[derive(Default)]
struct Told {
    /// The callback has heard of the start, and of the end.
    started: bool,
    ended: bool,
    step: u64,
}

impl Told {
    fn of(&mut self, event: &Value) {
        self.step = event["step"].as_u64().or(event["from"].as_u64()).unwrap_or(self.step);
    }
}

/// How long work is stopped.
struct Stopping<'a> {
    /// Requested by Ctrl-C, and by an exception in the callback.
    cancel: Option<&'a Cancel>,
    /// Games in Python give up at the next Ctrl-C, or at the first where nothing can be saved.
    stop: &'a Stop,
}

/// Does long work. If Ctrl-C is pressed or the callback raises an exception, `cancel` is requested. Returns the result of the
/// work, and the exception. A work that has told of its start tells of its end whatever happens. Games in Python that the work
/// finds give up at the second Ctrl-C; those that were found before, if they were found within `stop`.
pub(crate) fn long<T: Send>(
    py: Python<'_>,
    callback: Option<&Py<PyAny>>,
    cancel: &Cancel,
    stop: &Stop,
    work: impl FnOnce(&Reports) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    long_answered(py, (callback, &mut |_| Ok(())), cancel, stop, work)
}

/// Like [`long`], with what the callback answers. `adept.STOP` requests `cancel` in any case.
pub(crate) fn long_answered<T: Send>(
    py: Python<'_>,
    (callback, answer): (Option<&Py<PyAny>>, &mut Answer<'_>),
    cancel: &Cancel,
    stop: &Stop,
    work: impl FnOnce(&Reports) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    long_until(py, (callback, answer), Stopping { cancel: Some(cancel), stop }, work)
}

/// Does long work of a game in Python that has nothing to save: Ctrl-C ends it.
pub(crate) fn until_interrupted<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let stopping = Stopping { cancel: None, stop: &Stop::default() };
    let (result, raised) = long_until(py, (None, &mut |_| Ok(())), stopping, |_| work())?;
    raised.map_or(Ok(result), Err)
}

fn long_until<T: Send>(
    py: Python<'_>,
    (callback, answer): (Option<&Py<PyAny>>, &mut Answer<'_>),
    Stopping { cancel, stop }: Stopping<'_>,
    work: impl FnOnce(&Reports) -> T + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let (send, receive) = mpsc::sync_channel::<(Value, SyncSender<()>)>(0);
    let reports = Reports { send, last: Mutex::new(None) };
    let (mut raised, mut told): (Option<PyErr>, Told) = (None, Told::default());
    let (raised_here, told_here) = (&mut raised, &mut told);
    stop.take_back();
    let result = py.detach(move || {
        let (raised, told) = (raised_here, told_here);
        let mut since: Option<Instant> = None;
        std::thread::scope(move |scope| {
            let handle = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                // Attached once, so that the thread keeps its state in the interpreter: a game in Python attaches for each call.
                with_own_threads(|| {
                    Python::attach(|py| py.detach(|| stop.within(|| guarded(|| work(&reports)))))
                })
            })?;
            loop {
                let event = receive.recv_timeout(PAUSE);
                if matches!(event, Err(RecvTimeoutError::Disconnected)) {
                    break;
                }
                if let Ok((value, _)) = &event {
                    told.of(value);
                }
                let heard = Python::attach(|py| {
                    let signal = py.check_signals();
                    if signal.is_err() && (raised.is_some() || cancel.is_none()) {
                        stop.request(py);
                    }
                    if raised.is_some() {
                        if cancel.is_some() && since.is_some_and(|since| since.elapsed() > PATIENCE) {
                            since = None;
                            say_that_it_stops(py);
                        }
                        return Ok(());
                    }
                    signal?;
                    if let (Ok((value, _)), Some(callback)) = (&event, callback) {
                        // A study has many runs, and tells of its own end.
                        told.started |= value["kind"] == "started" && value["run"].is_null();
                        told.ended |= value["kind"] == "ended";
                        let answered = callback.bind(py).call1((plain(py, value)?,))?;
                        match cancel.filter(|_| stops(&answered)) {
                            Some(cancel) => cancel.cancel(),
                            None => answer(&answered)?,
                        }
                    }
                    Ok(())
                });
                if let Err(error) = heard {
                    if let Some(cancel) = cancel {
                        cancel.cancel();
                    }
                    *raised = Some(error);
                    since = Some(Instant::now());
                }
            }
            Ok::<_, std::io::Error>(handle.join())
        })
    });
    // Games that live longer than this work go on.
    stop.take_back();
    if let (Some(callback), true) = (callback, told.started && !told.ended) {
        let event = json!({ "kind": "ended", "step": told.step });
        // The first exception counts.
        drop(plain(py, &event).and_then(|event| callback.call1(py, (event,))));
    }
    match result? {
        // The first exception counts, not one that follows from it.
        Ok(Err(_)) if raised.is_some() => Err(raised.unwrap_or_else(|| unreachable!("it was looked at"))),
        Ok(result) => Ok((result?, raised)),
        Err(payload) => std::panic::resume_unwind(payload),
    }
}
