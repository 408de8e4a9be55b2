//! Checkpoints that value positions and rows.

use crate::errors::guarded;
use crate::exchange;
use crate::games;
use crate::{fault, given, plain};
use adept_library::arena::naming;
use adept_library::arena::opened::{AnyModel, Error, Network, Opening};
use adept_library::game::GameError;
use adept_library::model::checkpoint::{self, Manifest};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::path::{Path, PathBuf};

/// An opened checkpoint. Several threads may use it at once.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Model {
    model: Box<dyn AnyModel>,
    /// The folder of the checkpoint, as it was given.
    path: PathBuf,
    /// What opens it from any folder, with its search.
    name: PathBuf,
    /// The rule set that it was opened for, if one was named.
    rules: Option<String>,
    manifest: Manifest,
}

impl Model {
    /// Opens the latest or best checkpoint of a run, or a checkpoint, which may look ahead, for its own rule set or another.
    pub(crate) fn at(py: Python<'_>, path: &Path, best: bool, rules: Option<String>) -> PyResult<Self> {
        let open = || -> Result<Self, Error> {
            let fault = |e: adept_library::model::ModelError| Error::Checkpoint(e.to_string());
            let (path, search) = naming::path_and_search(path).map_err(Error::Checkpoint)?;
            let path = checkpoint::locate(&path, best).map_err(fault)?;
            let named = |path: &Path| match &search {
                Some(search) => PathBuf::from(format!("search:{search}:{}", path.display())),
                None => path.to_path_buf(),
            };
            let absolute = || std::path::absolute(&path).ok().filter(|_| !checkpoint::is_inside(&path));
            let whole = named(&absolute().unwrap_or_else(|| path.clone()));
            let named = named(&path);
            let manifest = checkpoint::manifest(&path).map_err(fault)?;
            let name = rules.as_ref().unwrap_or(&manifest.game);
            let game = games::named(name).ok_or_else(|| match rules {
                Some(_) => Error::Game(format!("no game named `{name}` is built in or registered")),
                None => Error::Checkpoint(format!(
                    "{}: is of the game `{name}`, which is neither built in nor registered: call adept.register first",
                    path.display()
                )),
            })?;
            let opening = Opening::at(&named, false)?;
            let unknown = |error: GameError| match rules {
                Some(_) => Error::Game(error.to_string()),
                None => opening.unknown()(&error.to_string()),
            };
            let model = game.map_err(unknown)?.model(opening)?;
            Ok(Self { model, path, name: whole, rules, manifest })
        };
        py.detach(|| guarded(open))?.map_err(fault)
    }

    fn network(&self) -> PyResult<Network> {
        let network = self.model.network().map_err(fault)?;
        network.ok_or_else(|| {
            let what = match self.manifest.quantised {
                Some(_) => {
                    "is quantised and has no weights in floats: open the checkpoint that it was made from"
                }
                None => "is a table, not a network",
            };
            fault(format!("{}: {what}", self.path.display()))
        })
    }
}

/// Opens a checkpoint folder, or the latest (or best) checkpoint of a run folder.
///
/// With `search:4:PATH` (plies), `search:100ms:PATH` (time) or `search:10000n:PATH` (valued positions), `values`, `moves` and
/// `explain` look ahead. A search cannot be interrupted: prefer a time.
///
/// `game` is the rule set to play, if it is not the checkpoint's own: networks of backgammon and hypergammon that give outcomes play those
/// with the doubling cube, such as `backgammon:money` and `backgammon:match-7`. Positions are then XGIDs, or Position IDs with a
/// Match ID, with their cube, score and offered double. Rows stay those of the network, without the cube.
#[pyfunction]
#[pyo3(signature = (path, best = false, game = None))]
pub(crate) fn open(py: Python<'_>, path: PathBuf, best: bool, game: Option<String>) -> PyResult<Model> {
    Model::at(py, &path, best, game)
}

fn slices(positions: &[String]) -> Vec<&str> {
    positions.iter().map(String::as_str).collect()
}

/// What a model computes of rows.
type OfRows<T> = fn(&(dyn AnyModel + 'static), usize, &[f32], &[u64]) -> Result<T, Error>;

impl Model {
    /// What is computed of rows, and how many rows there are.
    fn of_rows<T: Send>(
        &self,
        py: Python<'_>,
        (dense, index): (&Bound<'_, PyAny>, Option<&Bound<'_, PyAny>>),
        of: OfRows<T>,
    ) -> PyResult<(T, usize)> {
        let dense = given::rows("dense", dense)?;
        let index = index.map(|index| given::indices("index", index)).transpose()?;
        let [rows, width] = [dense.shape()[0], dense.shape()[1]];
        let about = self.model.describe();
        let there = index.as_ref().map_or((rows, 0), |index| (index.shape()[0], index.shape()[1]));
        if width != about.dense_width || there != (rows, about.index_width) {
            return Err(fault(Error::Rows(format!(
                "rows of shapes {:?} and {there:?} given; this model needs (n, {}) and (n, {})",
                (rows, width),
                about.dense_width,
                about.index_width
            ))));
        }
        let numbers = dense.as_slice()?;
        // A copy, since another thread must not change an index after it was checked.
        let index: Vec<u64> = index.map_or_else(Vec::new, |index| index.as_array().iter().copied().collect());
        let found = py.detach(|| of(&*self.model, rows, numbers, &index)).map_err(fault)?;
        Ok((found, rows))
    }
}

#[pymethods]
impl Model {
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, self.model.describe())
    }

    #[getter]
    fn game(&self) -> &str {
        &self.model.describe().game
    }

    #[getter]
    fn encoder(&self) -> &str {
        &self.model.describe().encoder
    }

    /// Values of rows for the player who just moved: shape `(n,)`, in the `range` of `description`.
    ///
    /// `dense` has shape `(n, dense_width)` and `index` has shape `(n, index_width)`, as `encode` returns them. Dense rows of
    /// `float32` are not copied if they are contiguous; other types are converted. Raises `AdeptError` for other shapes, and
    /// for numbers that are not finite or out of range: dense numbers are refused if they are infinite or not a number, and an index
    /// if it is not from 0 to `size − 1` of its channel in `description["channels"]`.
    #[pyo3(signature = (dense, index = None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        dense: &Bound<'py, PyAny>,
        index: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let (values, _) = self.of_rows(py, (dense, index), <dyn AnyModel>::evaluate)?;
        Ok(PyArray1::from_slice(py, &values))
    }

    /// Probabilities of the outcomes after rows, for the player who just moved: shape `(n, classes)`, in the order of
    /// `description["head"]["outcomes"]`. Rows are those of `evaluate`. A row does not tell which classes are impossible, so that
    /// these have a probability here too; in `explain` they have none. Raises `AdeptError` for a model that gives values alone.
    #[pyo3(signature = (dense, index = None))]
    fn outcomes<'py>(
        &self,
        py: Python<'py>,
        dense: &Bound<'py, PyAny>,
        index: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (outcomes, rows) = self.of_rows(py, (dense, index), <dyn AnyModel>::outcomes)?;
        let classes = self.model.describe().head.classes().map_or(0, <[_]>::len);
        outcomes.into_pyarray(py).reshape([rows, classes])
    }

    /// The rows of positions for the player who just moved: `(dense, index)`.
    #[allow(clippy::type_complexity, reason = "two arrays")]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<u64>>)> {
        let positions = given::texts(positions)?;
        let rows = py.detach(|| guarded(|| self.model.encode(&slices(&positions))))?.map_err(fault)?;
        let (n, dense, index) = (rows.len(), rows.dense_width(), rows.index_width());
        Ok((
            rows.dense.into_pyarray(py).reshape([n, dense])?,
            rows.index.into_pyarray(py).reshape([n, index])?,
        ))
    }

    /// Values of positions for the player to move, shape `(n,)`, in the `range` of `description`: that of the best move. A position
    /// before a chance event has its value for the opponent of the player who has just acted. A finished game has its exact result,
    /// for that opponent too, or for the first player if `just_acted` does not tell. Raises `AdeptError` that names a text that is
    /// not a position.
    fn values<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let positions = given::texts(positions)?;
        let values = py.detach(|| guarded(|| self.model.values(&slices(&positions))))?;
        values.map(|values| values.into_pyarray(py)).map_err(fault)
    }

    /// The legal moves of a position, best first: dicts with `action`, the position `after` it, and its `value` for the player
    /// who makes it.
    #[pyo3(signature = (position, dice = None))]
    fn moves<'py>(
        &self,
        py: Python<'py>,
        position: &str,
        dice: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let text =
            given::dice(dice)?.map_or_else(|| position.to_string(), |dice| format!("{position} {dice}"));
        let moves = py.detach(|| guarded(|| self.model.moves(&text)))?.map_err(fault)?;
        let all: Vec<_> = moves
            .iter()
            .map(|one| serde_json::json!({ "action": one.action, "after": one.after, "value": one.value }))
            .collect();
        plain(py, &all)
    }

    /// What gates and experts think of a position, or what a search found: `search` has its `plies`, `nodes`, `solved` and `line`.
    /// `to_move` counts players from 1. The value of a finished game is that for the first player. With the doubling cube, before a
    /// roll and without a search, `reading` has the `advice`, such as `double, take`, and the `figures` by name, such as `no double` and
    /// `double, take`, in points for each unit of the cube (in a match, EMG).
    fn explain<'py>(&self, py: Python<'py>, position: &str) -> PyResult<Bound<'py, PyAny>> {
        let explained = py.detach(|| guarded(|| self.model.explain(position)))?.map_err(fault)?;
        plain(py, &explained)
    }

    /// Weights and outputs of the experts on positions, or on rows as `evaluate` takes them: a dict with `experts`, their names;
    /// `shares` `(n, experts)`, the weight of each expert in the blend; and `outputs` `(n, experts)`, what each gives, or `(n, experts,
    /// classes)` if the model gives outcomes. An expert that did not run has the share 0 and the output NaN. With nested gates an expert is
    /// a leaf such as `1.0`, the first below the second, and its share is the product of the gates on its path. Raises `AdeptError` for a model
    /// without experts.
    #[pyo3(signature = (positions, index = None))]
    fn gates<'py>(
        &self,
        py: Python<'py>,
        positions: &Bound<'py, PyAny>,
        index: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (found, rows) = match positions.extract::<Vec<String>>() {
            Ok(texts) if index.is_none() => {
                let gates = || {
                    let rows = self.model.encode(&slices(&texts))?;
                    Ok((self.model.gates(rows.len(), &rows.dense, &rows.index)?, rows.len()))
                };
                py.detach(|| guarded(gates))?.map_err(|error: Error| fault(error))?
            }
            _ if positions.is_instance_of::<PyString>() => return Err(given::texts(positions).unwrap_err()),
            _ => self.of_rows(py, (positions, index), <dyn AnyModel>::gates)?,
        };
        let found = found.ok_or_else(|| fault(format!("{}: has no experts", self.path.display())))?;
        let (experts, gates) = (found.experts.len(), PyDict::new(py));
        gates.set_item("experts", found.experts)?;
        gates.set_item("shares", found.shares.into_pyarray(py).reshape([rows, experts])?)?;
        let outputs = found.outputs.into_pyarray(py);
        match found.width {
            1 => gates.set_item("outputs", outputs.reshape([rows, experts])?)?,
            classes => gates.set_item("outputs", outputs.reshape([rows, experts, classes])?)?,
        }
        Ok(gates)
    }

    /// The program of the network, as dicts and lists. `adept.torch.Network` runs it.
    fn program<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain(py, &*self.network()?.program)
    }

    /// A copy of the parameters as one array, in the order of the program.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        Ok(self.network()?.weights.into_pyarray(py))
    }

    /// Writes a checkpoint of the same network with other parameters, to a new folder.
    fn save<'py>(
        &self,
        py: Python<'py>,
        out: PathBuf,
        weights: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        exchange::save(py, self.manifest.clone(), &self.path, weights, &out)
    }

    /// A pickle has the path of the checkpoint, which must still be there, and a game in Python that it is of.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let to = intern!(py, "reduced_model");
        let played = self.rules.as_ref();
        py.import(intern!(py, "adept._processes"))?
            .call_method1(to, (&self.name, played.unwrap_or(&self.manifest.game), played))
    }

    /// Nothing changes a model, so that it is a copy of itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let about = self.model.describe();
        format!("<adept.Model {} of {}, {} parameters>", about.experiment, about.game, about.parameters)
    }
}
