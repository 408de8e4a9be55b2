//! Self-play without learning: TD(λ) targets for PyTorch and others.

use crate::exchange;
use crate::game::guarded;
use crate::games::{ALL, registered};
use crate::long::{Stop, long};
use crate::run::config_of;
use crate::{fault, given, plain};
use adept_library::Catalogue;
use adept_library::game::{Kit, Visitor};
use adept_library::model::program::Program;
use adept_library::model::{ModelError, Samples};
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Targets, TrainError};
use numpy::{IntoPyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Games that one call may play.
const MOST: u64 = 1_000_000;
/// Games between two looks for Ctrl-C.
const PART: u64 = 256;

/// [`Targets`] without the type of the game.
trait AnyTargets: Send {
    fn play(&mut self, games: u64) -> Result<Samples, ModelError>;
    fn played(&self) -> u64;
    fn program(&self) -> Option<&Arc<Program>>;
    fn weights(&mut self) -> Result<Vec<f32>, ModelError>;
    fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError>;
}

impl<G: Kit> AnyTargets for Targets<G> {
    fn play(&mut self, games: u64) -> Result<Samples, ModelError> {
        Targets::play(self, games)
    }

    fn played(&self) -> u64 {
        Targets::played(self)
    }

    fn program(&self) -> Option<&Arc<Program>> {
        Targets::program(self)
    }

    fn weights(&mut self) -> Result<Vec<f32>, ModelError> {
        Targets::weights(self)
    }

    fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError> {
        Targets::adopt(self, flat)
    }
}

struct Opening(Config, u64);

impl Visitor for Opening {
    type Output = Result<Box<dyn AnyTargets>, TrainError>;

    fn visit<G: Kit>(self, game: G) -> Self::Output {
        Ok(Box::new(Targets::new(game, self.0, self.1)?))
    }
}

/// Plays the games of a config with `[learn.td]`, and hands out TD(λ) targets for a learner elsewhere.
#[pyclass(frozen, module = "adept")]
pub(crate) struct SelfPlay {
    config: Config,
    targets: Mutex<Box<dyn AnyTargets>>,
    stop: Stop,
}

impl SelfPlay {
    /// Waits for other threads without the interpreter lock, which they may need.
    fn with<R: Send>(
        &self,
        py: Python<'_>,
        f: impl FnOnce(&mut MutexGuard<'_, Box<dyn AnyTargets>>) -> R + Send,
    ) -> PyResult<R> {
        py.detach(|| guarded(|| f(&mut self.targets.lock().unwrap_or_else(PoisonError::into_inner))))
    }
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
        let (name, opening) = (config.game.rules.clone(), Opening(config.clone(), config.seed));
        let stop = Stop::default();
        let opened = py.detach(|| {
            guarded(|| match stop.within(|| registered(&name)) {
                Some(game) => Some(Ok(opening.visit(game))),
                None => adept_builtin::visit(&name, opening),
            })
        })?;
        let targets = opened.ok_or_else(|| fault(format!("no game named `{name}`")))?;
        let targets = targets.map_err(fault)?.map_err(fault)?;
        Ok(Self { config, targets: Mutex::new(targets), stop })
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
    fn play<'py>(&self, py: Python<'py>, games: i128) -> PyResult<Bound<'py, PyDict>> {
        let games = given::games(games, MOST)?;
        let samples = match games <= PART {
            true => self.with(py, |found| found.play(games))?.map_err(fault)?,
            false => {
                let cancel = Cancel::default();
                let (samples, raised) = long(py, None, &cancel, &self.stop, |_| {
                    let mut found = self.targets.lock().unwrap_or_else(PoisonError::into_inner);
                    let mut all = found.play(0)?;
                    let mut left = games;
                    while left > 0 && !cancel.requested() {
                        all.append(&found.play(left.min(PART))?);
                        left -= left.min(PART);
                    }
                    Ok::<_, ModelError>(all)
                })?;
                if let Some(error) = raised {
                    return Err(error);
                }
                samples.map_err(fault)?
            }
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
        Ok(samples)
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
        exchange::save(py, (manifest, Path::new(&self.config.name)), weights, &out)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<adept.SelfPlay {} after {} games>", self.config.name, self.played(py)?))
    }
}
