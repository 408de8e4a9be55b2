//! The native part of the Python module `adept`. Its documentation for Python is in `python/adept/__init__.pyi`.

mod config;
mod errors;
mod exchange;
mod forks;
mod game;
mod games;
mod given;
mod held;
mod lanes;
mod long;
mod model;
mod oracle;
mod run;
mod self_play;
mod shared;
mod stepping;
mod study;
mod trajectories;
mod typed;

use errors::{AdeptError, fault, plain};
use pyo3::prelude::*;
use pyo3::types::PyModule;

#[pymodule]
fn _adept(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // NumPy's interface is looked up at its first use; an interrupt there would be a panic.
    drop(numpy::PyArray1::<f32>::zeros(module.py(), 0, false));
    forks::begin();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("AdeptError", module.py().get_type::<AdeptError>())?;
    module.add("STOP", Py::new(module.py(), long::StopSign)?)?;
    module.add_class::<stepping::Agent>()?;
    module.add_class::<stepping::Batch>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<oracle::Oracle>()?;
    module.add_class::<run::Run>()?;
    module.add_class::<self_play::SelfPlay>()?;
    module.add_class::<stepping::Action>()?;
    module.add_class::<stepping::Actions>()?;
    module.add_class::<stepping::Info>()?;
    module.add_class::<stepping::Rules>()?;
    module.add_class::<stepping::State>()?;
    module.add_class::<trajectories::Texts>()?;
    module.add_function(wrap_pyfunction!(exchange::arena, module)?)?;
    module.add_function(wrap_pyfunction!(exchange::evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(exchange::export, module)?)?;
    module.add_function(wrap_pyfunction!(exchange::import_checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(exchange::rollout, module)?)?;
    module.add_function(wrap_pyfunction!(games::add_game, module)?)?;
    module.add_function(wrap_pyfunction!(games::check_laws, module)?)?;
    module.add_function(wrap_pyfunction!(games::encoders, module)?)?;
    module.add_function(wrap_pyfunction!(games::games, module)?)?;
    module.add_function(wrap_pyfunction!(games::look_at, module)?)?;
    module.add_function(wrap_pyfunction!(games::registered_game, module)?)?;
    module.add_function(wrap_pyfunction!(games::rehearse, module)?)?;
    module.add_function(wrap_pyfunction!(games::starter, module)?)?;
    module.add_function(wrap_pyfunction!(model::open, module)?)?;
    module.add_function(wrap_pyfunction!(run::train, module)?)?;
    module.add_function(wrap_pyfunction!(self_play::restored, module)?)?;
    module.add_function(wrap_pyfunction!(stepping::action_at, module)?)?;
    module.add_function(wrap_pyfunction!(stepping::find_game, module)?)?;
    module.add_function(wrap_pyfunction!(study::change, module)?)?;
    module.add_function(wrap_pyfunction!(study::study, module)?)?;
    module.add_function(wrap_pyfunction!(trajectories::lambda_returns, module)?)?;
    Ok(())
}
