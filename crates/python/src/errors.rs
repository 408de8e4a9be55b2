//! Errors as exceptions of Python, and values as Python has them.

use pyo3::prelude::*;
use pythonize::pythonize;
use serde::Serialize;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pyo3::create_exception!(
    adept,
    AdeptError,
    pyo3::exceptions::PyException,
    "A fault, with what is wrong and what to do."
);

/// An error of adept as a Python exception, with the same text.
pub(crate) fn fault(error: impl std::fmt::Display) -> PyErr {
    AdeptError::new_err(error.to_string())
}

/// A value as dicts, lists and numbers.
pub(crate) fn plain<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    pythonize(py, value).map_err(fault)
}

/// An exception on its way to the call from Python.
struct Raised(PyErr);

/// Ends a call from Python with this exception. See [`guarded`].
pub(crate) fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(Raised(error)))
}

/// Calls `f`. An exception in a game written in Python becomes the error.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(other) => resume_unwind(other),
    })
}
