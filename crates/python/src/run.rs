//! Training, and runs as data.

use crate::config::config_of;
use crate::games::ALL;
use crate::long::{Reports, Stop, long_answered};
use crate::model::Model;
use crate::{fault, given, plain};
use adept_library::Catalogue;
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Record, Steering, TrainOptions, measurements, numbers, record_of};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The numbers of a measurement by name.
type Flat = serde_json::Map<String, serde_json::Value>;

/// A run folder. Functions take it as a path.
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

    /// Numbers of the measurements that have `entry`, as arrays. A list of numbers becomes a row.
    fn of_experts<'py>(
        &self,
        py: Python<'py>,
        entry: &str,
        keys: &[(&str, &str)],
    ) -> PyResult<Bound<'py, PyDict>> {
        let all = measurements(&self.path, &self.record).map_err(fault)?;
        let all: Vec<_> = all.iter().filter(|line| line[entry].is_object()).collect();
        if all.is_empty() {
            let name = &self.record.name;
            return Err(fault(format!(
                "{}: no measurement of `{name}` tells of `{entry}`",
                self.path.display()
            )));
        }
        let arrays = PyDict::new(py);
        let steps: Vec<u64> = all.iter().map(|line| line["step"].as_u64().unwrap_or(0)).collect();
        arrays.set_item("step", steps.into_pyarray(py))?;
        for (name, key) in keys {
            let found = all.iter().map(|line| &line[entry][key]);
            let width = found.clone().find_map(|value| Some(value.as_array()?.len()));
            let numbers: Vec<f64> = match width {
                Some(width) => found
                    .flat_map(|value| (0..width).map(|i| value[i].as_f64().unwrap_or(f64::NAN)))
                    .collect(),
                None => found.map(|value| value.as_f64().unwrap_or(f64::NAN)).collect(),
            };
            match width {
                Some(width) => {
                    arrays.set_item(name, numbers.into_pyarray(py).reshape([all.len(), width])?)?
                }
                None => arrays.set_item(name, numbers.into_pyarray(py))?,
            }
        }
        Ok(arrays)
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

    /// The measurements as a list of dicts, for `pandas.DataFrame(run.metrics())`. With `flat`, all numbers of a
    /// measurement stand side by side, under names such as `equity/random/equity`.
    #[pyo3(signature = (flat = false))]
    fn metrics<'py>(&self, py: Python<'py>, flat: bool) -> PyResult<Bound<'py, PyAny>> {
        let all = measurements(&self.path, &self.record).map_err(fault)?;
        match flat {
            false => plain(py, &all),
            true => plain(
                py,
                &all.iter()
                    .map(|one| numbers(one).into_iter().map(|(name, number)| (name, number.into())).collect())
                    .collect::<Vec<Flat>>(),
            ),
        }
    }

    /// Settings that a callback changed while the run learned: dicts with `step`, `key` and `value`, which is None for the schedule of
    /// the config.
    #[getter]
    fn changed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &self.record.changed)
    }

    /// How the experts share positions, at ten points of the run, as arrays: `step` `(n,)`; `shares` `(n, experts)`, the share of the
    /// positions that each expert wins; `live` `(n,)`, how many win at least 1 %; `multiply_adds` `(n,)`, the mean cost of a
    /// position. Raises `AdeptError` for a network without experts.
    fn experts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.of_experts(
            py,
            "experts",
            &[("shares", "shares"), ("live", "live"), ("multiply_adds", "multiply_adds")],
        )
    }

    /// How often experts ran during each measurement, as arrays: `step` `(n,)`; `rows` `(n,)`, the rows that reached the outermost
    /// gate that picks among experts; `share` `(n, experts)`, the share of them on which each expert ran. Raises `AdeptError` for a
    /// network whose experts all run.
    fn usage<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.of_experts(py, "usage", &[("rows", "rows"), ("share", "share")])
    }

    /// Opens the latest, or the best, checkpoint.
    #[pyo3(signature = (best = false))]
    fn open(&self, py: Python<'_>, best: bool) -> PyResult<Model> {
        Model::at(py, &self.path, best, None)
    }

    /// A run stands for its folder.
    fn __fspath__(&self) -> OsString {
        self.path.clone().into()
    }

    /// A pickle has the path, and reads the folder anew.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, (PathBuf,))> {
        let path = &slf.get().path;
        Ok((slf.get_type(), (std::path::absolute(path).unwrap_or_else(|_| path.clone()),)))
    }

    /// A run stands for its folder, so that it is a copy of itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let Record { name, seed, step, finished, .. } = &self.record;
        let state = if *finished { "finished" } else { "stopped" };
        let changed = if self.record.changed.is_empty() { "" } else { ", changed on the way" };
        format!("<adept.Run {name}, seed {seed}, {state} after {step}{changed}>")
    }
}

/// Changes settings of a run as a callback answers. What is not a dict says nothing.
fn steer(steering: &Steering, config: &Config, answer: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(changes) = answer.cast::<PyDict>() else { return Ok(()) };
    for (key, value) in changes.iter() {
        let wrong = || {
            format!("on_progress returned {{{key:?}: {value:?}}}: a key and a number, or None, are needed")
        };
        let name: String = key.extract().map_err(|_| PyTypeError::new_err(wrong()))?;
        let value: Option<f64> = value.extract().map_err(|_| PyTypeError::new_err(wrong()))?;
        steering.change(config, &name, value).map_err(|why| fault(format!("on_progress: {why}")))?;
    }
    Ok(())
}

/// Trains by a config and returns the run.
///
/// `config` is a file, a dict, or the text of a TOML file. `settings` change keys of it, such as `{"learn.td.games": 10000}` or
/// `["learn.td.games=10000"]`; `seed` replaces its seed. `out` is the run folder, by default `checkpoints/runs/NAME-SEED`. A
/// run there that is finished, with the same config and seed, is returned as it is. `threads` compute shards, all cores by
/// default; `max_seconds` stops the run after a time; `tensorboard` adds an event file to its folder. `fresh=True` starts anew in
/// place of an unfinished run.
///
/// `on_progress` gets dicts. `kind` is `started` (with `from`, `total`, `unit`), `progress` (with `step` and `rate` per
/// second), `measured` (a line of `Run.metrics`), `preparing`, `set_back` (a damaged checkpoint was left for an older one) or
/// `ended`, which always follows on `started`. `progress_bar()` is such a callback.
///
/// If it returns `adept.STOP`, the run saves a checkpoint and ends, and is returned unfinished; `resume=True` goes on. If it
/// returns a dict such as `{"learn.rate": 1e-4}`, the run goes on with that from the next batch: `learn.rate`, `learn.td.explore`,
/// `learn.td.temperature` and `learn.expectation.explore` may be changed, and None goes back to the schedule of the config. `Run.changed`
/// lists the changes, and a resumed run keeps them. Answers to `measured` come at fixed steps, so the same answers give the same
/// bits; `progress` comes by the clock.
///
/// Ctrl-C, or an exception in `on_progress`, stops the run after it has saved a checkpoint; `resume=True` goes on to the same
/// bits. The interpreter lock is free meanwhile. Raises `AdeptError`.
#[pyfunction]
#[pyo3(signature = (
    config, *, out = None, seed = None, settings = None, resume = false, on_progress = None, threads = 0,
    max_seconds = None, tensorboard = false, fresh = false
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn train(
    py: Python<'_>,
    config: &Bound<'_, PyAny>,
    out: Option<PathBuf>,
    seed: Option<i128>,
    settings: Option<&Bound<'_, PyAny>>,
    resume: bool,
    on_progress: Option<Py<PyAny>>,
    threads: i128,
    max_seconds: Option<f64>,
    tensorboard: bool,
    fresh: bool,
) -> PyResult<Run> {
    let (threads, max_seconds) = (given::threads(threads)?, given::seconds(max_seconds)?);
    let config = config_of(config, given::settings(settings)?)?;
    let stop = Stop::default();
    let game = stop.within(|| ALL.find(&config.game.rules)).map_err(fault)?;
    let extend = resume;
    let options = TrainOptions {
        out,
        resume,
        extend,
        fresh,
        threads,
        max_seconds,
        tensorboard,
        ..TrainOptions::default()
    };
    let (cancel, seed) = (Cancel::default(), seed.map_or(Ok(config.seed), given::seed)?);
    let steering = options.steering.clone();
    let mut answer = |answer: &Bound<'_, PyAny>| steer(&steering, &config, answer);
    let work = |reports: &Reports| game.train(&config, seed, &options, reports, &cancel);
    let heard = (on_progress.as_ref(), &mut answer as _);
    let (trained, raised) = long_answered(py, heard, &cancel, &stop, work)?;
    if let Some(error) = raised {
        let interrupted = error.is_instance_of::<PyKeyboardInterrupt>(py);
        let saved = match trained {
            Ok(saved) => Some(saved).filter(|_| interrupted),
            Err(failed) => {
                error.set_cause(py, Some(fault(failed)));
                None
            }
        };
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
