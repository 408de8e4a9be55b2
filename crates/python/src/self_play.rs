//! Self-play without learning: TD(λ) targets and trajectories for PyTorch and others.

use crate::config::config_of;
use crate::errors::guarded;
use crate::exchange;
use crate::games::{ALL, named};
use crate::long::{Stop, long};
use crate::shared::Shared;
use crate::trajectories::into_python;
use crate::{fault, given, plain};
use adept_library::Catalogue;
use adept_library::model::{ModelError, Samples};
use adept_trainer::config::{Config, Method};
use adept_trainer::run::{AnyTargets, Cancel, PART};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

/// Games that one call may play.
const MOST: u64 = 1_000_000;

/// Plays the games of a config with `[learn.td]`, and hands out TD(λ) targets, or the games themselves, for a learner elsewhere.
///
/// A pickle or a copy has the config, the parameters and the place in the games: it goes on with the same games. Agents that learn
/// or remember across games begin anew.
#[pyclass(frozen, module = "adept")]
pub(crate) struct SelfPlay {
    config: Config,
    targets: Shared<Box<dyn AnyTargets>>,
    stop: Stop,
}

impl SelfPlay {
    /// Waits for other threads without the interpreter lock, which they may need.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut Box<dyn AnyTargets>) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| guarded(|| self.targets.with(f)))?
    }
}

impl SelfPlay {
    fn of(py: Python<'_>, config: Config) -> PyResult<Self> {
        let (name, stop) = (&config.game.rules, Stop::default());
        let open = || Some(named(name)?.map(|game| game.targets(config.clone(), config.seed)));
        let opened = py.detach(|| guarded(|| stop.within(open)))?;
        let targets = opened.ok_or_else(|| fault(format!("no game named `{name}`")))?;
        let targets = targets.map_err(fault)?.map_err(fault)?;
        Ok(Self { config, targets: Shared::new(targets), stop })
    }

    /// Does work that may take long, and hears of Ctrl-C.
    fn at_length<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Box<dyn AnyTargets>, &Cancel) -> Result<R, ModelError> + Send,
    ) -> PyResult<R> {
        let cancel = Cancel::default();
        let (done, raised) =
            long(py, None, &cancel, &self.stop, |_| self.targets.with(|targets| work(targets, &cancel)))?;
        raised.map_or_else(|| done?.map_err(fault), Err)
    }

    fn state(&self, py: Python<'_>) -> PyResult<State> {
        let found = self.with(py, |targets| {
            let weights = targets.program().is_some().then(|| targets.weights()).transpose()?;
            Ok::<_, ModelError>((targets.played(), targets.generator()?, weights))
        })?;
        let (played, generator, weights) = found.map_err(fault)?;
        let config = serde_json::to_string(&self.config).map_err(fault)?;
        Ok((config, std::env::current_dir()?, played, generator, weights))
    }

    /// Goes on as the self-play whose state this is.
    fn of_state(py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (config, folder, played, generator, weights): State = state.extract()?;
        let mut config: Config = serde_json::from_str(&config).map_err(fault)?;
        // Paths of a config are relative to the current folder.
        if let Ok(here) = std::env::current_dir()
            && here != folder
        {
            config = config.for_folder(&here, &folder);
        }
        let found = Self::of(py, config)?;
        found
            .with(py, |targets| {
                if let Some(weights) = weights {
                    targets.adopt(&weights)?;
                }
                targets.go_on(played, &generator)
            })?
            .map_err(fault)?;
        Ok(found)
    }
}

/// What self-play goes on from: its config as JSON, the folder that paths are relative to, the number of games played, the generator of
/// the next one, and the parameters, which a table does not have.
type State = (String, PathBuf, u64, String, Option<Vec<f32>>);

/// The self-play whose state this is.
#[pyfunction]
pub(crate) fn restored(py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<SelfPlay> {
    SelfPlay::of_state(py, state)
}

#[pymethods]
impl SelfPlay {
    #[new]
    #[pyo3(signature = (config, *, seed = None, settings = None))]
    fn new(
        py: Python<'_>,
        config: &Bound<'_, PyAny>,
        seed: Option<i128>,
        settings: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let mut config = config_of(config, given::settings(settings)?)?;
        config.seed = seed.map_or(Ok(config.seed), given::seed)?;
        Self::of(py, config)
    }

    /// Number of games played.
    #[getter]
    fn played(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |targets| targets.played())
    }

    /// Plays games with the present parameters, at most a million. Returns the rows, `dense` `(n, dense_width)` and `index`
    /// `(n, index_width)`; `targets`, the λ-returns for the player who just moved, and `weights`, both of shape `(n,)`. With
    /// `head = "outcomes"` targets are distributions of shape `(n, classes)`.
    /// Schedules of the config go on over all games.
    ///
    /// With `trajectories=True`, returns the same games as `Trajectories`, with all that was done in them.
    #[pyo3(signature = (games, *, trajectories = false))]
    fn play<'py>(&self, py: Python<'py>, games: i128, trajectories: bool) -> PyResult<Bound<'py, PyAny>> {
        let games = given::games(games, MOST)?;
        if trajectories {
            let recorded = match games <= PART {
                true => self.with(py, |found| found.record(games, &|| true))?.map_err(fault)?,
                false => self.at_length(py, |found, cancel| found.record(games, &|| !cancel.requested()))?,
            };
            let Method::Td(td) = &self.config.learn.method else { return Err(fault("no games")) };
            return into_python(py, recorded, td);
        }
        let samples = match games <= PART {
            true => self.with(py, |found| found.play(games, &|| true))?.map_err(fault)?,
            false => self.at_length(py, |found, cancel| found.play(games, &|| !cancel.requested()))?,
        };
        let outputs = samples.outputs();
        let Samples { rows, targets, weights } = samples;
        let (n, dense, index) = (rows.len(), rows.dense_width(), rows.index_width());
        let samples = PyDict::new(py);
        samples.set_item("dense", rows.dense.into_pyarray(py).reshape([n, dense])?)?;
        samples.set_item("index", rows.index.into_pyarray(py).reshape([n, index])?)?;
        match outputs {
            1 => samples.set_item("targets", targets.into_pyarray(py))?,
            classes => samples.set_item("targets", targets.into_pyarray(py).reshape([n, classes])?)?,
        }
        samples.set_item("weights", weights.into_pyarray(py))?;
        Ok(samples.into_any())
    }

    /// The program of the network, as dicts and lists.
    fn program<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let program = self.with(py, |targets| targets.program().cloned())?;
        plain(py, &*program.ok_or_else(|| fault("the model is a table, not a network"))?)
    }

    /// A copy of the parameters as one array, in the order of the program.
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        Ok(self.with(py, |targets| targets.weights())?.map_err(fault)?.into_pyarray(py))
    }

    /// Plays with these parameters from now on.
    fn adopt(&self, py: Python<'_>, weights: &Bound<'_, PyAny>) -> PyResult<()> {
        let flat = given::numbers("weights", weights)?.as_array().to_vec();
        self.with(py, |targets| targets.adopt(&flat))?.map_err(fault)
    }

    /// Writes a checkpoint of the network with these parameters.
    fn save<'py>(
        &self,
        py: Python<'py>,
        out: PathBuf,
        weights: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let game = ALL.find(&self.config.game.rules).map_err(fault)?;
        let manifest = guarded(|| game.manifest(&self.config))?.map_err(fault)?;
        exchange::save(py, manifest, Path::new(&self.config.name), weights, &out)
    }

    /// A pickle has the config, the parameters and the place in the games: self-play goes on there with the same games.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (state, name) = (self.state(py)?, &self.config.game.rules);
        let to = intern!(py, "reduced_self_play");
        py.import(intern!(py, "adept._processes"))?.call_method1(to, (state, name))
    }

    /// A copy plays on by itself.
    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        Self::of_state(py, self.state(py)?.into_pyobject(py)?.as_any())
    }

    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.__copy__(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<adept.SelfPlay {} after {} games>", self.config.name, self.played(py)?))
    }
}
