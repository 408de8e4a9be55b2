//! The Python module `adept`. Its documentation for Python is in `adept.pyi`.

mod model;
mod oracle;
mod run;

use adept_library::{Builtin, Catalogue};
use pyo3::prelude::*;
use pyo3::types::PyModule;
use pythonize::pythonize;
use serde::Serialize;

pyo3::create_exception!(
    adept,
    AdeptError,
    pyo3::exceptions::PyException,
    "A fault, with what is wrong and what to do."
);

/// An error of adept as a Python exception, with the same text.
fn fault(error: impl std::fmt::Display) -> PyErr {
    AdeptError::new_err(error.to_string())
}

/// A value as dicts, lists and numbers.
fn plain<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    pythonize(py, value).map_err(fault)
}

/// A name with what it means.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    about: &'a str,
}

/// The built-in games: dicts with `name` and `about`.
#[pyfunction]
fn games(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let infos: Result<Vec<_>, _> =
        adept_trainer::config::Games::names(&Builtin).iter().map(|name| Builtin.find(name)).collect();
    let infos: Vec<_> = infos.map_err(fault)?.iter().map(|game| game.info()).collect();
    let all: Vec<Entry<'_>> =
        infos.iter().map(|info| Entry { name: &info.name, about: &info.about }).collect();
    plain(py, &all)
}

/// The encoders of a game: dicts with `name` and `about`.
#[pyfunction]
fn encoders<'py>(py: Python<'py>, game: &str) -> PyResult<Bound<'py, PyAny>> {
    let info = Builtin.find(game).map_err(fault)?.info();
    let all: Vec<Entry<'_>> =
        info.encoders.iter().map(|one| Entry { name: &one.name, about: &one.about }).collect();
    plain(py, &all)
}

#[pymodule]
fn adept(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("AdeptError", module.py().get_type::<AdeptError>())?;
    module.add_class::<model::Model>()?;
    module.add_class::<oracle::Oracle>()?;
    module.add_class::<run::Run>()?;
    module.add_function(wrap_pyfunction!(games, module)?)?;
    module.add_function(wrap_pyfunction!(encoders, module)?)?;
    module.add_function(wrap_pyfunction!(model::open, module)?)?;
    module.add_function(wrap_pyfunction!(run::train, module)?)?;
    Ok(())
}
