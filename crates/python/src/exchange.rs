//! Files for other programs, and checkpoints from them; matches between agents.

use crate::game::guarded;
use crate::games::ALL;
use crate::long::long;
use crate::{fault, given, plain};
use adept_library::lab::exchange::{self, Format};
use adept_library::lab::tournament::{self, Tournament, TournamentEvent, TournamentOptions};
use adept_library::model::checkpoint::Manifest;
use adept_trainer::run::Cancel;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use serde_json::json;
use std::path::{Path, PathBuf};

/// Writes a checkpoint of the network in this manifest with these parameters.
pub(crate) fn save<'py>(
    py: Python<'py>,
    like: (Manifest, &Path),
    weights: &Bound<'py, PyAny>,
    out: &Path,
) -> PyResult<Bound<'py, PyAny>> {
    let flat = given::numbers("weights", weights)?.as_array().to_vec();
    let written = py.detach(|| guarded(|| exchange::with_weights(&ALL, like, &flat, out)))?;
    plain(py, &written.map_err(fault)?)
}

/// Exports a checkpoint to a file for other programs: `onnx`, or `safetensors` in the layout of PyTorch.
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
        other => return Err(fault(format!("format = `{other}`: `onnx` or `safetensors`"))),
    };
    let export = || guarded(|| exchange::export(&ALL, &path, best, format, &out));
    plain(py, &py.detach(export)?.map_err(fault)?)
}

/// Creates a checkpoint from a safetensors file. `like` is a checkpoint or a config of the same network; a file from `export` needs
/// none.
#[pyfunction]
#[pyo3(signature = (file, out, *, like = None))]
pub(crate) fn import_checkpoint(
    py: Python<'_>,
    file: PathBuf,
    out: PathBuf,
    like: Option<PathBuf>,
) -> PyResult<Bound<'_, PyAny>> {
    let import = || guarded(|| exchange::import(&ALL, &file, like.as_deref(), &out));
    plain(py, &py.detach(import)?.map_err(fault)?)
}

/// Plays the matches of a tournament, a file or a dict.
///
/// Returns `pairs`, each with its score, interval and p, and `standings`. `on_progress` gets a dict for each pair that has played.
/// After Ctrl-C, `resume=True` goes on with the remaining pairs.
#[pyfunction]
#[pyo3(signature = (config, *, out = None, settings = None, resume = false, on_progress = None, threads = 0))]
pub(crate) fn arena<'py>(
    py: Python<'py>,
    config: &Bound<'py, PyAny>,
    out: Option<PathBuf>,
    settings: Option<&Bound<'py, PyAny>>,
    resume: bool,
    on_progress: Option<Py<PyAny>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let source = crate::run::source_of(config, given::settings(settings)?)?;
    let tournament = guarded(|| Tournament::parse(&source, &ALL))?.map_err(fault)?;
    let folder = || Path::new("checkpoints/runs").join(format!("arena-{}", tournament.name));
    let threads = given::threads(threads)?;
    let options = TournamentOptions {
        out: out.unwrap_or_else(folder),
        resume,
        threads,
        ..TournamentOptions::default()
    };
    let cancel = Cancel::default();
    let (table, raised) = long(py, on_progress.as_ref(), &cancel, |reports| {
        let watch = |event: TournamentEvent<'_>| {
            reports.tell(match event {
                TournamentEvent::Learns(name) => json!({ "kind": "learns", "agent": name }),
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
