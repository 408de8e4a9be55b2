//! Checkpoints that value positions and rows.

use crate::{fault, plain};
use adept_embed::Error;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use std::path::PathBuf;

/// An opened checkpoint. See `adept.pyi`.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Model(adept_embed::Model);

impl Model {
    /// Opens the latest or best checkpoint of a run, or a checkpoint.
    pub(crate) fn at(py: Python<'_>, path: &std::path::Path, best: bool) -> PyResult<Self> {
        let open = || if best { adept_embed::Model::open_best(path) } else { adept_embed::Model::open(path) };
        py.detach(open).map(Self).map_err(fault)
    }
}

/// Opens a checkpoint folder, or the latest (or best) checkpoint of a run folder.
#[pyfunction]
#[pyo3(signature = (path, best = false))]
pub(crate) fn open(py: Python<'_>, path: PathBuf, best: bool) -> PyResult<Model> {
    Model::at(py, &path, best)
}

fn texts(positions: &[String]) -> Vec<&str> {
    positions.iter().map(String::as_str).collect()
}

/// The entries of an array of rows, row by row.
fn entries<T: numpy::Element + Clone>(array: &PyReadonlyArray2<'_, T>) -> Vec<T> {
    match array.as_slice() {
        Ok(slice) => slice.to_vec(),
        // Not contiguous: a slice of another array.
        Err(_) => array.as_array().iter().cloned().collect(),
    }
}

#[pymethods]
impl Model {
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, self.0.describe())
    }

    #[getter]
    fn game(&self) -> &str {
        &self.0.describe().game
    }

    #[getter]
    fn encoder(&self) -> &str {
        &self.0.describe().encoder
    }

    /// Values of rows for the player who just moved.
    #[pyo3(signature = (dense, index = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        dense: PyReadonlyArray2<'py, f32>,
        index: Option<PyReadonlyArray2<'py, u64>>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let [rows, width] = [dense.shape()[0], dense.shape()[1]];
        let about = self.0.describe();
        let there = index.as_ref().map_or((rows, 0), |index| (index.shape()[0], index.shape()[1]));
        if width != about.dense_width || there != (rows, about.index_width) {
            return Err(fault(Error::Rows(format!(
                "rows of shapes {:?} and {there:?} given; this model needs (n, {}) and (n, {})",
                (rows, width),
                about.dense_width,
                about.index_width
            ))));
        }
        let (dense, index) = (entries(&dense), index.as_ref().map(entries).unwrap_or_default());
        let evaluate = || self.0.evaluate(&self.0.rows(rows, dense, index)?);
        py.detach(evaluate).map(|values| values.into_pyarray(py)).map_err(fault)
    }

    /// The rows of positions, for the player who just moved: `(dense, index)`.
    #[allow(clippy::type_complexity, reason = "two arrays")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        positions: Vec<String>,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<u64>>)> {
        let rows = py.detach(|| self.0.encode(&texts(&positions))).map_err(fault)?;
        let (n, dense, index) = (rows.len(), rows.dense_width(), rows.index_width());
        Ok((
            rows.dense.clone().into_pyarray(py).reshape([n, dense])?,
            rows.index.clone().into_pyarray(py).reshape([n, index])?,
        ))
    }

    /// Values of positions for the player to move.
    fn values<'py>(&self, py: Python<'py>, positions: Vec<String>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let values = py.detach(|| self.0.values(&texts(&positions)));
        values.map(|values| values.into_pyarray(py)).map_err(fault)
    }

    /// The legal moves of a position, best first: dicts with `action`, `after`, `value`.
    #[pyo3(signature = (position, dice = None))]
    fn moves<'py>(&self, py: Python<'py>, position: &str, dice: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let text = dice.map_or_else(|| position.to_string(), |dice| format!("{position} {dice}"));
        let moves = py.detach(|| self.0.moves(&text)).map_err(fault)?;
        let all: Vec<_> = moves
            .iter()
            .map(|one| serde_json::json!({ "action": one.action, "after": one.after, "value": one.value }))
            .collect();
        plain(py, &all)
    }

    /// What gates and experts think of a position.
    fn explain<'py>(&self, py: Python<'py>, position: &str) -> PyResult<Bound<'py, PyAny>> {
        let explained = py.detach(|| self.0.explain(position)).map_err(fault)?;
        plain(py, &explained)
    }

    fn __repr__(&self) -> String {
        let about = self.0.describe();
        format!("<adept.Model {} of {}, {} parameters>", about.experiment, about.game, about.parameters)
    }
}
