//! What callers give: arrays of any type, configs as dicts, settings.

use crate::fault;
use adept_library::ground::limits;
use numpy::{
    Element, Ix1, Ix2, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods, dtype,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::path::PathBuf;

/// Rows of numbers, in C order. An array of another type or order, or a list of lists, is converted.
pub(crate) fn rows<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, f32>> {
    array::<f32, Ix2>(name, "(rows, columns)", given)
}

/// An array of one dimension, converted likewise.
pub(crate) fn numbers<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray1<'py, f32>> {
    array::<f32, Ix1>(name, "(n,)", given)
}

/// Rows of whole numbers, converted likewise. Negative numbers and fractions are refused.
pub(crate) fn indices<'py>(name: &str, given: &Bound<'py, PyAny>) -> PyResult<PyReadonlyArray2<'py, u64>> {
    if let Some(array) = as_it_is(given) {
        return Ok(array);
    }
    let found = given.py().import("numpy")?.call_method1("asarray", (given,))?;
    let kind: String = found.getattr("dtype")?.getattr("kind")?.extract()?;
    let is_empty = found.getattr("size")?.extract::<usize>()? == 0;
    if !is_empty && !matches!(&*kind, "i" | "u") {
        let found = found.getattr("dtype")?;
        return Err(PyTypeError::new_err(format!("{name}: whole numbers are needed, found {found}")));
    }
    if !is_empty && found.call_method0("min")?.lt(0)? {
        let least = found.call_method0("min")?;
        return Err(fault(format!("{name}: numbers from 0 are needed, found {least}")));
    }
    array::<u64, Ix2>(name, "(rows, columns)", given)
}

/// An array that needs no conversion.
fn as_it_is<'py, T: Element, D: numpy::ndarray::Dimension>(
    given: &Bound<'py, PyAny>,
) -> Option<PyReadonlyArray<'py, T, D>> {
    let array: PyReadonlyArray<'py, T, D> = given.extract().ok()?;
    (array.is_c_contiguous() && array.data().is_aligned()).then_some(array)
}

fn array<'py, T: Element, D: numpy::ndarray::Dimension>(
    name: &str,
    shape: &str,
    given: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    if let Some(array) = as_it_is(given) {
        return Ok(array);
    }
    let py = given.py();
    let converted = py.import("numpy")?.call_method1("require", (given, dtype::<T>(py), ["C", "A"]))?;
    let found = converted.getattr("shape")?.to_string();
    let wrong =
        |_| PyTypeError::new_err(format!("{name}: an array of shape {shape} is needed, found {found}"));
    converted.extract().map_err(wrong)
}

/// Texts of positions.
pub(crate) fn texts(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    given
        .extract()
        .map_err(|_| PyTypeError::new_err("positions: a list of texts is needed, such as [\"X........\"]"))
}

/// Dice, as a text such as `31`, or as two numbers.
pub(crate) fn dice(given: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
    let Some(given) = given else { return Ok(None) };
    if let Ok(text) = given.extract::<String>() {
        return Ok(Some(text));
    }
    let numbers =
        given.try_iter().and_then(|all| all.map(|die| die?.extract::<i64>()).collect::<PyResult<Vec<_>>>());
    match numbers.as_deref() {
        Ok([a, b]) if (1..=6).contains(a) && (1..=6).contains(b) => Ok(Some(format!("{a}{b}"))),
        Ok([a, b]) => Err(fault(format!("dice = ({a}, {b}): a die shows 1 to 6"))),
        _ => Err(PyTypeError::new_err(format!(
            "dice = {}: a text such as \"31\", or two numbers such as (3, 1), are needed",
            given.repr()?
        ))),
    }
}

/// A name, or a list of names.
pub(crate) fn names(name: &str, given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Ok(one) = given.extract() {
        return Ok(vec![one]);
    }
    given
        .extract()
        .map_err(|_| PyTypeError::new_err(format!("{name}: a name, or a list of names, is needed")))
}

/// Changes of a config: a text `KEY=VALUE`, a list of such texts, or a dict.
pub(crate) fn settings(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    let Some(given) = given else { return Ok(Vec::new()) };
    if let Ok(text) = given.extract::<String>() {
        return Ok(vec![text]);
    }
    if let Ok(dict) = given.cast::<PyDict>() {
        let setting = |(key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            let key = key.str()?.to_string();
            Ok(format!("{key}={}", toml_of(&key, &value)?))
        };
        return dict.iter().map(setting).collect();
    }
    let wrong = |_| {
        PyTypeError::new_err(
            "settings: a dict, or a list of texts such as \"learn.td.games=1000\", is needed",
        )
    };
    given.extract().map_err(wrong)
}

/// A Python value as one of TOML. `key` is its place, for messages.
pub(crate) fn toml_of(key: &str, value: &Bound<'_, PyAny>) -> PyResult<toml::Value> {
    // Names may have dots of their own, so this is never too few.
    if key.split('.').count() > limits::KEY_PARTS {
        let start: String = key.chars().take(60).collect();
        return Err(fault(format!("{start}…: a config has keys of at most {} parts", limits::KEY_PARTS)));
    }
    let below = |name: &str| if key.is_empty() { name.to_string() } else { format!("{key}.{name}") };
    if let Ok(dict) = value.cast::<PyDict>() {
        let mut table = toml::Table::new();
        for (name, entry) in dict.iter() {
            let name = name.str()?.to_string();
            let entry = toml_of(&below(&name), &entry)?;
            table.insert(name, entry);
        }
        return Ok(toml::Value::Table(table));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let entries = value.try_iter()?.enumerate();
        let list: PyResult<_> = entries.map(|(i, entry)| toml_of(&below(&i.to_string()), &entry?)).collect();
        return Ok(toml::Value::Array(list?));
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(toml::Value::Boolean(value.extract()?));
    }
    if value.is_instance_of::<PyInt>() {
        let wrong = |_| fault(format!("{key}: {value} is too large"));
        return Ok(toml::Value::Integer(value.extract().map_err(wrong)?));
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(toml::Value::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(toml::Value::String(value.extract()?));
    }
    if let Ok(path) = value.extract::<PathBuf>() {
        return Ok(toml::Value::String(path.display().to_string()));
    }
    // Numbers and arrays of NumPy.
    if let Ok(plain) = value.call_method0("tolist")
        && !plain.is(value)
        && !plain.hasattr("tolist")?
    {
        return toml_of(key, &plain);
    }
    let hint = if value.is_none() { ": leave the key out" } else { "" };
    Err(fault(format!("{key}: {} is not a value of a config{hint}", value.repr()?)))
}

/// A number of threads, if it is not too large.
pub(crate) fn threads(given: i128) -> PyResult<usize> {
    let fits = usize::try_from(given).ok().filter(|n| *n <= limits::THREADS);
    fits.ok_or_else(|| {
        fault(format!("threads = {given}: from 0, which takes all cores, to {}", limits::THREADS))
    })
}

/// A seed, if it is not too large.
pub(crate) fn seed(given: i128) -> PyResult<u64> {
    let fits = u64::try_from(given).ok().filter(|n| *n <= limits::SEED);
    fits.ok_or_else(|| fault(format!("seed = {given}: must lie in 0..{}", limits::SEED)))
}

/// A number of positions or games to measure.
pub(crate) fn samples(given: i128) -> PyResult<u64> {
    let fits = u64::try_from(given).ok().filter(|n| (1..=limits::LENGTH).contains(n));
    fits.ok_or_else(|| fault(format!("samples = {given}: must lie in 1..{}", limits::LENGTH)))
}

/// A number of games, if it is not too large.
pub(crate) fn games(given: i128, most: u64) -> PyResult<u64> {
    let fits = u64::try_from(given).ok().filter(|n| *n <= most);
    fits.ok_or_else(|| fault(format!("games = {given}: from 0 to {most} in a call")))
}

/// Seconds, if they are positive.
pub(crate) fn seconds(given: Option<f64>) -> PyResult<Option<f64>> {
    match given {
        Some(s) if !(s.is_finite() && s > 0.0) => {
            Err(fault(format!("max_seconds = {s}: must be a positive number")))
        }
        _ => Ok(given),
    }
}
