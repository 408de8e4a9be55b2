//! Training, and runs as data.

use crate::model::Model;
use crate::{fault, plain};
use adept_library::{Builtin, Catalogue};
use adept_trainer::config;
use adept_trainer::run::{Cancel, Event, Observer, Record, TrainOptions, measurements, record_of};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A run folder. See `adept.pyi`.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Run {
    #[pyo3(get)]
    path: PathBuf,
    record: Record,
}

impl Run {
    fn at(path: &Path) -> PyResult<Self> {
        let record = record_of(path).map_err(fault)?;
        let record = record.ok_or_else(|| fault(format!("{}: there is no run", path.display())))?;
        Ok(Self { path: path.into(), record })
    }
}

#[pymethods]
impl Run {
    #[new]
    fn new(path: PathBuf) -> PyResult<Self> {
        Self::at(&path)
    }

    /// What the run says of itself: config, steps, the final and the best measurement.
    #[getter]
    fn record<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.record)
    }

    #[getter]
    fn finished(&self) -> bool {
        self.record.finished
    }

    /// The measurements as a list of dicts, for `pandas.DataFrame`.
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &measurements(&self.path, &self.record).map_err(fault)?)
    }

    /// Opens the latest, or the best, checkpoint.
    #[pyo3(signature = (best = false))]
    fn open(&self, py: Python<'_>, best: bool) -> PyResult<Model> {
        Model::at(py, &self.path, best)
    }

    fn __repr__(&self) -> String {
        let Record { name, seed, step, finished, .. } = &self.record;
        let state = if *finished { "finished" } else { "stopped" };
        format!("<adept.Run {name}, seed {seed}, {state} after {step}>")
    }
}

/// Hands events to Python, and stops the run where Python raises an exception.
struct Watch {
    callback: Option<Py<PyAny>>,
    cancel: Cancel,
    raised: Mutex<Option<PyErr>>,
}

impl Watch {
    fn tell(&self, event: &Event<'_>) -> PyResult<()> {
        let unit = |step: u64| serde_json::json!({ "kind": "progress", "step": step });
        let value = match event {
            Event::Progress { step, rate } => {
                let mut value = unit(*step);
                value["rate"] = (*rate).into();
                value
            }
            Event::Evaluated(evaluation) => {
                let mut value = serde_json::to_value(evaluation).map_err(fault)?;
                value["kind"] = "measured".into();
                value
            }
            Event::Preparing(what) => serde_json::json!({ "kind": "preparing", "what": what }),
            _ => return Ok(()),
        };
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(callback) = &self.callback {
                callback.call1(py, (plain(py, &value)?,))?;
            }
            Ok(())
        })
    }
}

impl Observer for Watch {
    fn event(&self, _: u64, event: Event<'_>) {
        if let Err(error) = self.tell(&event) {
            self.cancel.cancel();
            self.raised.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }
}

/// Trains by a config file. Ctrl-C, or an exception in `on_progress`, stops the run after it has saved a checkpoint.
#[pyfunction]
#[pyo3(signature = (config, *, out = None, seed = None, settings = Vec::new(), resume = false, on_progress = None, threads = 0))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn train(
    py: Python<'_>,
    config: PathBuf,
    out: Option<PathBuf>,
    seed: Option<u64>,
    settings: Vec<String>,
    resume: bool,
    on_progress: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<Run> {
    let config = config::load(&config, &settings, &Builtin).map_err(fault)?;
    let game = Builtin.find(&config.game.rules).map_err(fault)?;
    let options = TrainOptions { out, resume, extend: resume, threads, ..TrainOptions::default() };
    let watch = Watch { callback: on_progress, cancel: Cancel::default(), raised: Mutex::default() };
    let seed = seed.unwrap_or(config.seed);
    let trained = py.detach(|| game.train(&config, seed, &options, &watch, &watch.cancel));
    if let Some(error) = watch.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let interrupted = error.is_instance_of::<PyKeyboardInterrupt>(py);
        let saved = trained.ok().filter(|_| interrupted);
        return Err(match saved {
            Some((path, record)) => PyKeyboardInterrupt::new_err(format!(
                "stopped after {} of {} {}: go on with resume=True, out={:?}",
                record.step,
                record.games,
                config.learn.unit(),
                path.display().to_string()
            )),
            None => error,
        });
    }
    let (path, _) = trained.map_err(fault)?;
    Run::at(&path)
}
