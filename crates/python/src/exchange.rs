//! Files for other programs, and checkpoints from them; matches between agents.

use crate::errors::guarded;
use crate::games::{ALL, registered};
use crate::long::{Reports, Stop, long, on_its_own, until_interrupted};
use crate::stepping::State;
use crate::{fault, given, plain};
use adept_library::Catalogue;
use adept_library::arena::naming;
use adept_library::ground::limits;
use adept_library::lab::checkpoints;
use adept_library::lab::exchange;
use adept_library::lab::export::Format;
use adept_library::lab::measure::EvaluateOptions;
use adept_library::lab::rollouts::RolloutOptions;
use adept_library::lab::tournament::{self, Tournament, TournamentEvent, TournamentOptions};
use adept_library::model::checkpoint::{self, Manifest};
use adept_trainer::run::Cancel;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyString;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Writes a checkpoint of the network in this manifest with these parameters.
pub(crate) fn save<'py>(
    py: Python<'py>,
    manifest: Manifest,
    from: &Path,
    weights: &Bound<'py, PyAny>,
    out: &Path,
) -> PyResult<Bound<'py, PyAny>> {
    let flat = given::numbers("weights", weights)?.as_array().to_vec();
    let written = py.detach(|| guarded(|| exchange::with_weights(&ALL, manifest, from, &flat, out)))?;
    plain(py, &written.map_err(fault)?)
}

/// Exports a checkpoint to a file for other programs: `onnx`, `safetensors` in the layout of PyTorch, or source text in `c` or
/// `rust`; or to a new folder, as a checkpoint that plays faster and does not learn: `quantised` in whole numbers, `bf16` with large layers in
/// bfloat16.
#[pyfunction]
#[pyo3(signature = (path, out, *, format = "onnx", best = false))]
pub(crate) fn export<'py>(
    py: Python<'py>,
    path: PathBuf,
    out: PathBuf,
    format: &str,
    best: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let format = match format {
        "onnx" => Format::Onnx,
        "safetensors" => Format::Safetensors,
        "c" => Format::C,
        "rust" => Format::Rust,
        "quantised" => Format::Quantised,
        "bf16" => Format::Bf16,
        other => {
            return Err(fault(format!(
                "format = `{other}`: `onnx`, `safetensors`, `c`, `rust`, `quantised` or `bf16`"
            )));
        }
    };
    let export = || guarded(|| exchange::export(&ALL, &path, best, format, &out));
    plain(py, &py.detach(export)?.map_err(fault)?)
}

/// Creates a checkpoint from a safetensors file. `like` is a checkpoint or a config of the same network; a file from `export` needs
/// none. `strip` is left out at the start of tensor names, such as `module.`.
#[pyfunction]
#[pyo3(signature = (file, out, *, like = None, strip = None))]
pub(crate) fn import_checkpoint(
    py: Python<'_>,
    file: PathBuf,
    out: PathBuf,
    like: Option<PathBuf>,
    strip: Option<String>,
) -> PyResult<Bound<'_, PyAny>> {
    let import = || guarded(|| exchange::import(&ALL, &file, like.as_deref(), strip.as_deref(), &out));
    plain(py, &py.detach(import)?.map_err(fault)?)
}

/// Plays positions out, `trials` times each, with luck taken out of the results: `adept rollout`. `by` plays both sides: a
/// checkpoint, a search such as `search:1:PATH`, or a valuation, for which `game` is named. `truncate` cuts games off after so
/// many moves. Returns a dict for each position: `equity` for the player to move, its interval `ci95`, `raw`, `classes` and more.
/// `on_progress` gets dicts with `kind` `progress` and the finished `share`.
#[pyfunction]
#[pyo3(signature = (
    positions, by, *, game = None, trials = 1296, truncate = None, seed = 1, threads = 0, best = false, on_progress = None
))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn rollout<'py>(
    py: Python<'py>,
    positions: &Bound<'py, PyAny>,
    by: PathBuf,
    game: Option<String>,
    trials: i128,
    truncate: Option<u32>,
    seed: i128,
    threads: i128,
    best: bool,
    on_progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let is_one = positions.is_instance_of::<PyString>() || positions.is_instance_of::<State>();
    let positions = match is_one {
        true => vec![positions.str()?.to_string()],
        false => {
            positions.try_iter()?.map(|one| Ok(one?.str()?.to_string())).collect::<PyResult<Vec<_>>>()?
        }
    };
    let trials = u64::try_from(trials).ok().filter(|n| (2..=limits::LENGTH).contains(n));
    let trials = trials.ok_or_else(|| fault(format!("trials: must lie in 2..{}", limits::LENGTH)))?;
    let (agent, _) = naming::path_and_search(&by).map_err(fault)?;
    let name = match game {
        Some(name) => name,
        None => {
            let of_it = || -> Result<String, adept_library::model::ModelError> {
                Ok(checkpoint::manifest(&checkpoint::locate(&agent, best)?)?.game)
            };
            py.detach(of_it)
                .map_err(|error| fault(format!("{error}; or name the `game` of an agent without one")))?
        }
    };
    let options = RolloutOptions {
        agent: by.to_str().ok_or_else(|| fault(format!("{}: is not text", by.display())))?.into(),
        best,
        positions,
        trials,
        truncate,
        seed: given::seed(seed)?,
        threads: given::threads(threads)?,
        ..RolloutOptions::default()
    };
    let (cancel, stop) = (Cancel::default(), Stop::default());
    let rules = stop.within(|| ALL.find(&name)).map_err(fault)?;
    let work = |reports: &Reports| {
        let tell = |share: f64| reports.tell(json!({ "kind": "progress", "share": share }));
        rules.roll_out(&options, &cancel, &tell)
    };
    let (found, raised) = long(py, on_progress.as_ref(), &cancel, &stop, work)?;
    match raised {
        Some(error) => Err(error),
        None => plain(py, &found.map_err(fault)?.rollouts),
    }
}

/// Measures a checkpoint, or the latest (or best) checkpoint of a run, as `adept evaluate` does.
///
/// `suites` are `equity`, `grade`, `rms`, `move-loss`, `matches`, `exploitability` and `speed`; by default the main suite of the
/// game. `against` are opponents; `samples` is the number of positions, or of games per opponent; `distribution` is that of the
/// positions. Returns a dict with an entry for each suite, such as `move_loss`. Ctrl-C ends matches, and leaves other suites to
/// end by themselves.
#[pyfunction]
#[pyo3(signature = (path, suites = None, *, against = None, samples = None, distribution = None, best = false))]
pub(crate) fn evaluate<'py>(
    py: Python<'py>,
    path: PathBuf,
    suites: Option<&Bound<'py, PyAny>>,
    against: Option<&Bound<'py, PyAny>>,
    samples: Option<i128>,
    distribution: Option<String>,
    best: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let suites = given::names("suites", suites)?;
    let options = EvaluateOptions {
        suites: suites.iter().map(|name| name.parse().map_err(fault)).collect::<PyResult<_>>()?,
        against: given::names("against", against)?,
        distribution,
        samples: samples.map(given::samples).transpose()?,
        ..EvaluateOptions::default()
    };
    let cancel = options.cancel.clone();
    let found = py.detach(|| checkpoint::locate(&path, best)).map_err(fault)?;
    let manifest = py.detach(|| checkpoint::manifest(&found)).map_err(fault)?;
    let in_python = registered(&manifest.game).is_some();
    let work = move || checkpoints::evaluate(&ALL, &path, best, &options);
    let report = match in_python {
        true => until_interrupted(py, work)?,
        false => on_its_own(py, &cancel, work)?,
    };
    plain(py, &report.map_err(fault)?)
}

/// Plays the matches of a tournament: a file, a dict, or the text of a TOML file.
///
/// Returns `pairs`, each with its score and interval, and `standings`. `on_progress` gets dicts: `kind` is `played` (with a
/// pair), `learns` (with an `agent`), or `opens` (with `random_plies`, if games would repeat each other). After Ctrl-C, `resume=True` goes
/// on with the remaining pairs.
#[pyfunction]
#[pyo3(signature = (config, *, out = None, settings = None, resume = false, on_progress = None, threads = 0))]
pub(crate) fn arena<'py>(
    py: Python<'py>,
    config: &Bound<'py, PyAny>,
    out: Option<PathBuf>,
    settings: Option<&Bound<'py, PyAny>>,
    resume: bool,
    on_progress: Option<Py<PyAny>>,
    threads: i128,
) -> PyResult<Bound<'py, PyAny>> {
    let source = crate::config::source_of(config, given::settings(settings)?)?;
    let tournament = guarded(|| Tournament::parse(&source, &ALL))?
        .map_err(|error| crate::config::config_fault(error, &source.text))?;
    let folder = || Path::new("checkpoints/runs").join(format!("arena-{}", tournament.name));
    let threads = given::threads(threads)?;
    let options = TournamentOptions {
        out: out.unwrap_or_else(folder),
        resume,
        threads,
        ..TournamentOptions::default()
    };
    let cancel = Cancel::default();
    let (table, raised) = long(py, on_progress.as_ref(), &cancel, &Stop::default(), |reports| {
        let watch = |event: TournamentEvent<'_>| {
            reports.tell(match event {
                TournamentEvent::Learns(name) => json!({ "kind": "learns", "agent": name }),
                TournamentEvent::Opens(plies) => json!({ "kind": "opens", "random_plies": plies }),
                TournamentEvent::Played(pair, _) => {
                    let mut value = serde_json::to_value(pair).unwrap_or_default();
                    value["kind"] = "played".into();
                    value
                }
            });
        };
        tournament::tournament(&ALL, &tournament, &options, &watch, &cancel)
    })?;
    match raised {
        Some(error) if table.is_ok() && error.is_instance_of::<PyKeyboardInterrupt>(py) => {
            Err(PyKeyboardInterrupt::new_err(format!(
                "stopped: go on with resume=True, out={:?}",
                options.out.display().to_string()
            )))
        }
        Some(error) => Err(error),
        None => plain(py, &table.map_err(fault)?),
    }
}
