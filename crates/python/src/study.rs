//! Studies: sweeps of several configs at once, as in the command `sweep`.

use crate::config::{config_text, source_of};
use crate::errors::guarded;
use crate::games::ALL;
use crate::long::{Reports, Stop, long_answered, told};
use crate::{fault, given, plain};
use adept_lab::compare::{MetricChange, measured};
use adept_lab::files;
use adept_lab::statistics::interval95;
use adept_lab::sweep::{Grid, SweepError, SweepEvent, SweepSpec, Together, What, together};
use adept_library::Catalogue;
use adept_library::ground::limits;
use adept_trainer::config::{Config, Figure, Source, folder_name};
use adept_trainer::run::{Cancel, Event, Observer, TrainError, TrainOptions};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Pause between two reports of the progress of a run.
const PAUSE: Duration = Duration::from_millis(100);

/// The values of a grid: pairs of a key and its values, each as the text of a config.
fn axes(grid: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, Vec<String>)>> {
    let Some(grid) = grid else { return Ok(Vec::new()) };
    let grid = grid
        .cast::<PyDict>()
        .map_err(|_| PyTypeError::new_err("grid: a dict of keys and lists of values is needed"))?;
    let mut axes = Vec::new();
    for (key, values) in grid.iter() {
        let key = key.str()?.to_string();
        let wrong = || {
            format!(
                "grid: `{key}` needs a list of values, found {}",
                values.repr().map_or("?".into(), |r| r.to_string())
            )
        };
        if values.is_instance_of::<PyString>() || values.is_instance_of::<PyDict>() {
            return Err(PyTypeError::new_err(wrong()));
        }
        let mut texts = Vec::new();
        for value in values.try_iter().map_err(|_| PyTypeError::new_err(wrong()))? {
            texts.push(given::toml_of(&key, &value?)?.to_string());
            if texts.len() as u64 > limits::COMBINATIONS {
                return Err(fault(format!(
                    "grid: `{key}` has more than {} values: use fewer",
                    limits::COMBINATIONS
                )));
            }
        }
        if texts.is_empty() {
            return Err(fault(format!("grid: `{key}` has no value: give at least one, or leave it out")));
        }
        axes.push((key, texts));
    }
    Ok(axes)
}

/// Refuses more runs than a sweep may have, before any of them is looked at.
fn check_size(configs: usize, axes: &[(String, Vec<String>)], seeds: usize) -> PyResult<()> {
    let combinations = axes.iter().fold(1, |n: u128, (_, values)| n.saturating_mul(values.len() as u128));
    if combinations > u128::from(limits::COMBINATIONS) {
        let most = limits::COMBINATIONS;
        return Err(fault(format!(
            "the grid has {combinations} combinations, more than {most}: use fewer values"
        )));
    }
    let runs = combinations * configs as u128 * seeds as u128;
    if runs > u128::from(limits::RUNS) {
        return Err(fault(format!(
            "this makes {runs} runs (configs × combinations × seeds: {configs} × {combinations} × {seeds}), more than {}: use \
             fewer values or seeds",
            limits::RUNS
        )));
    }
    Ok(())
}

/// A fault of a grid in the words of Python.
fn grid_fault(name: &str, error: SweepError, source: &str) -> PyErr {
    fault(match error {
        SweepError::Config(error) => format!("{name}: {}", config_text(error, source)),
        SweepError::Combination { combination, source: error } => {
            format!("{name}, {combination}: {}", config_text(error, source))
        }
        other => format!("{name}: {other}"),
    })
}

/// Opens the files that the combinations name, before there is a folder. Most of them name the same.
fn check_files(name: &str, source: &Source, grid: &Grid) -> PyResult<()> {
    let source = Source { set: Vec::new(), ..source.clone() };
    let mut checked = HashSet::new();
    for config in grid.combinations.iter().map(|combination| &combination.config) {
        let named = format!("{:?}", (&config.game.rules, config.learn.files(), config.opponents()));
        if checked.insert(named) {
            files::check_files(&source, config, &ALL)
                .map_err(|placed| fault(format!("{name}: {}", config_text(placed.at, &source.text))))?;
        }
    }
    Ok(())
}

/// The column of a frame by which runs of a config are compared, and whether more is better.
fn figure(config: &Config) -> (String, bool) {
    let against = || config.evaluate_against().into_iter().next().unwrap_or_default();
    let figure = config.figure();
    let column = match figure {
        Some(Figure::Equity) => format!("equity/{}/equity", against()),
        Some(Figure::Matches) => format!("matches/{}/score", against()),
        Some(Figure::Rms) => "rms/rms".into(),
        Some(Figure::Exploitability) => "exploitability".into(),
        None => "loss".into(),
    };
    (column, figure.is_some_and(|figure| !figure.is_error()))
}

/// Reports the events of a study, and progress of each run now and then.
struct Watch<'a> {
    reports: &'a Reports,
    names: &'a [String],
    last: Mutex<HashMap<String, Instant>>,
}

impl Watch<'_> {
    fn is_due(&self, run: &str) -> bool {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last.get(run).is_none_or(|last| last.elapsed() >= PAUSE);
        if due {
            last.insert(run.into(), Instant::now());
        }
        due
    }

    fn tell(&self, event: &SweepEvent<'_>) {
        let name = &self.names[event.sweep];
        let run = format!("{name}/{}", event.run);
        let value = match &event.what {
            What::Begins { from, total } => Some(json!({ "kind": "study", "from": from, "total": total })),
            What::Found => None,
            What::Run(Event::Progress { .. }) if !self.is_due(&run) => None,
            What::Run(what) => told(what).map(|mut value| {
                if let Event::Ended(record) = what {
                    value["finished"] = record.finished.into();
                }
                value
            }),
            What::Failed(reason) => Some(json!({ "kind": "failed", "reason": reason })),
        };
        let Some(mut value) = value else { return };
        (value["runs"], value["done"]) = (event.runs.into(), event.ended.into());
        if !event.run.is_empty() {
            (value["run"], value["config"], value["seed"]) =
                (run.into(), name.as_str().into(), event.seed.into());
        }
        self.reports.tell(value);
    }
}

/// Runs all configs with all seeds over all combinations of a grid, in this process, and says what came of it: a dict that
/// `adept.Study` shows.
#[pyfunction]
#[pyo3(signature = (configs, seeds, grid, out, processes, settings, on_progress))]
#[allow(clippy::too_many_arguments, reason = "arguments of `adept.study`")]
pub(crate) fn study<'py>(
    py: Python<'py>,
    configs: Vec<(String, Bound<'py, PyAny>)>,
    seeds: Vec<i128>,
    grid: Option<&Bound<'py, PyAny>>,
    out: PathBuf,
    processes: i128,
    settings: Option<&Bound<'py, PyAny>>,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let at_once = usize::try_from(processes).ok().filter(|n| *n <= limits::THREADS).ok_or_else(|| {
        fault(format!("processes = {processes}: from 0, which takes all cores, to {}", limits::THREADS))
    })?;
    let seeds = seeds.into_iter().map(given::seed).collect::<PyResult<Vec<u64>>>()?;
    let axes = axes(grid)?;
    check_size(configs.len(), &axes, seeds.len())?;
    let mut set = given::settings(settings)?;
    set.extend(axes.iter().map(|(key, values)| format!("{key}={}", values.join(","))));
    let stop = Stop::default();
    let (mut names, mut grids) = (Vec::new(), Vec::new());
    for (name, config) in &configs {
        folder_name(name).map_err(|why| fault(format!("`{name}`: {why}")))?;
        let source = source_of(config, set.clone())?;
        let grid = guarded(|| stop.within(|| Grid::new(&source, &ALL)))?;
        let grid = grid.map_err(|error| grid_fault(name, error, &source.text))?;
        guarded(|| stop.within(|| check_files(name, &source, &grid)))??;
        names.push(name.clone());
        grids.push(grid);
    }
    let parts: Vec<SweepSpec<'_>> =
        names.iter().zip(&grids).map(|(name, grid)| SweepSpec { grid, out: out.join(name) }).collect();
    let cancel = Cancel::default();
    let raised_in: Mutex<HashMap<PathBuf, PyErr>> = Mutex::default();
    let train = |config: &Config, seed: u64, options: &TrainOptions, observer: &dyn Observer| {
        // Games that this thread finds obey the second Ctrl-C.
        let train = || ALL.find(&config.game.rules)?.train(config, seed, options, observer, &cancel);
        // The thread keeps its state in the interpreter: a game in Python attaches for each call.
        match Python::attach(|py| py.detach(|| stop.within(|| guarded(train)))) {
            Ok(trained) => trained,
            Err(raised) => {
                let text = raised.to_string();
                let mut all = raised_in.lock().unwrap_or_else(PoisonError::into_inner);
                all.extend(options.out.clone().map(|path| (path, raised)));
                Err(TrainError::Elsewhere(text))
            }
        }
    };
    let how = Together { seeds: &seeds, threads: at_once, resume: true, other_seeds: true, train: &train };
    let work = |reports: &Reports| {
        let watch = Watch { reports, names: &names, last: Mutex::default() };
        together(&ALL, &parts, &how, &|event| watch.tell(&event), &cancel)
    };
    let mut answer = |answer: &Bound<'_, PyAny>| match answer.is_instance_of::<PyDict>() {
        true => {
            Err(fault("on_progress: a study compares configs as they are: change settings in `adept.train`"))
        }
        false => Ok(()),
    };
    let heard = (on_progress.as_ref(), &mut answer as _);
    let (found, raised) = long_answered(py, heard, &cancel, &stop, work)?;
    if let Some(error) = raised {
        let Ok(found) = found else { return Err(error) };
        if !error.is_instance_of::<PyKeyboardInterrupt>(py) {
            return Err(error);
        }
        let runs: Vec<bool> = found.iter().flat_map(|one| &one.runs).map(|run| run.finished).collect();
        let done = runs.iter().filter(|finished| **finished).count();
        return Err(PyKeyboardInterrupt::new_err(format!(
            "stopped after {done} of {} runs: call it again to go on",
            runs.len()
        )));
    }
    let found = found.map_err(fault)?;
    let mut raised_in = raised_in.into_inner().unwrap_or_else(PoisonError::into_inner);
    let runs = pyo3::types::PyList::empty(py);
    for ((name, grid), done) in names.iter().zip(&grids).zip(&found) {
        for run in &done.runs {
            let about = json!({
                "config": name,
                "settings": grid.combinations[run.combination].settings,
                "seed": run.seed,
                "finished": run.finished,
                "reason": run.failure.as_ref().map(|failure| &failure.reason),
                "diverged": run.failure.as_ref().is_some_and(|failure| failure.diverged),
            });
            let about = plain(py, &about)?.cast_into::<PyDict>()?;
            about.set_item("path", &run.path)?;
            about.set_item("error", raised_in.remove(&run.path))?;
            runs.append(about)?;
        }
    }
    let of_config = |grid: &Grid| -> Value {
        let first = &grid.combinations[0].config;
        let (column, more_is_better) = figure(first);
        json!({ "figure": column, "more_is_better": more_is_better, "measured": measured(first), "unit": first.learn.unit() })
    };
    let about: serde_json::Map<String, Value> =
        names.iter().cloned().zip(grids.iter().map(of_config)).collect();
    let study = PyDict::new(py);
    study.set_item("out", out)?;
    study.set_item("runs", runs)?;
    study.set_item("configs", plain(py, &about)?)?;
    Ok(study)
}

/// The change of a figure from one sample to another, each a list of pairs of a seed and a value, with the statistics of `adept runs
/// compare`: a dict with `n`, `mean` and `sd` of the second, the 95 % `interval` of its mean, and the `difference`, its interval `ci95`,
/// `p`, the `test` of both, the `correlation` of runs of the same seed, and `bootstrap95`. Without the first, only those of the second.
#[pyfunction]
pub(crate) fn change<'py>(
    py: Python<'py>,
    from: Option<Vec<(u64, f64)>>,
    to: Vec<(u64, f64)>,
    comparable: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let values: Vec<f64> = to.iter().map(|(_, value)| *value).collect();
    let change =
        MetricChange::new("", from.as_deref().unwrap_or_default(), &to, comparable && from.is_some());
    plain(
        py,
        &json!({
            "n": change.b.n, "mean": change.b.mean, "sd": change.b.sd, "interval": interval95(&values),
            "difference": change.difference, "ci95": change.ci95, "p": change.p, "test": change.test,
            "correlation": change.correlation, "bootstrap95": change.bootstrap95,
        }),
    )
}
