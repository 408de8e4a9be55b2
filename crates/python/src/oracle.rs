//! The exact bear-off.

use crate::long::on_its_own;
use crate::{fault, plain};
use adept_builtin::bearoff::two_sided::{Precision, Settings, Table};
use adept_builtin::bearoff::{DicePosition, Position, Roll};
use adept_trainer::run::Cancel;
use pyo3::prelude::*;
use std::path::PathBuf;

/// Exact values of the bear-off: solves the table of at most `checkers` checkers a side, or opens a `file` of `adept oracle
/// build`.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Oracle(Table);

#[pymethods]
impl Oracle {
    /// Solves the table of at most this many checkers a side, or opens a file of `adept oracle build`.
    #[new]
    #[pyo3(signature = (checkers = 6, file = None))]
    fn new(py: Python<'_>, checkers: u8, file: Option<PathBuf>) -> PyResult<Self> {
        let precision = if checkers <= 8 { Precision::Bits64 } else { Precision::Bits16 };
        let settings = Settings { precision, ..Settings::new(checkers) };
        let table = on_its_own(py, &Cancel::default(), move || match &file {
            Some(path) => Table::open(path),
            None => Table::solve(settings, &mut |_| {}).map(|(table, _)| table),
        });
        table?.map(Self).map_err(fault)
    }

    #[getter]
    fn checkers(&self) -> u8 {
        self.0.checkers()
    }

    /// P(win) − P(lose) of the side to roll, as in `1,1,0,0,0,0/0,2,0,0,0,0`.
    fn value(&self, position: &str) -> PyResult<f64> {
        let position: Position = position.parse().map_err(fault)?;
        self.0.value(position).map_err(fault)
    }

    /// The sides after each move, best first: dicts with `after`, and its `value` for the side that moves.
    fn moves<'py>(&self, py: Python<'py>, position: &str, dice: &str) -> PyResult<Bound<'py, PyAny>> {
        let position: Position = position.parse().map_err(fault)?;
        let roll: Roll = dice.parse().map_err(fault)?;
        let mut found = Vec::new();
        self.0.moves(DicePosition { position, roll }, &mut found).map_err(fault)?;
        let all: Vec<_> = found
            .iter()
            .map(|(side, value)| serde_json::json!({ "after": side.to_string(), "value": value }))
            .collect();
        plain(py, &all)
    }

    fn __repr__(&self) -> String {
        format!("<adept.Oracle of {} checkers a side>", self.0.checkers())
    }
}
