//! The exact bear-off.

use crate::long::on_its_own;
use crate::{fault, given, plain};
use adept_builtin::bearoff::two_sided::{Precision, Settings, Table};
use adept_builtin::bearoff::{DicePosition, Roll, Side, Situation};
use adept_trainer::run::Cancel;
use pyo3::prelude::*;
use pyo3::types::PyType;
use std::path::PathBuf;

/// Exact values of the bear-off: solves the table of at most `checkers` checkers a side, or opens a `file` of `adept oracle
/// build`.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Oracle(Table, Option<PathBuf>);

#[pymethods]
impl Oracle {
    /// Solves the table of at most this many checkers a side, or opens a file of `adept oracle build`.
    #[new]
    #[pyo3(signature = (checkers = 6, file = None))]
    fn new(py: Python<'_>, checkers: u8, file: Option<PathBuf>) -> PyResult<Self> {
        let precision = if checkers <= 8 { Precision::Bits64 } else { Precision::Bits16 };
        let settings = Settings { precision, ..Settings::new(checkers) };
        let place = file.as_ref().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone()));
        let table = on_its_own(py, &Cancel::default(), move || match &file {
            Some(path) => Table::open(path),
            None => Table::solve(settings, &mut |_| {}).map(|(table, _)| table),
        });
        Ok(Self(table?.map_err(fault)?, place))
    }

    #[getter]
    fn checkers(&self) -> u8 {
        self.0.checkers()
    }

    /// P(win) − P(lose) of the side to roll, as in `1,1,0,0,0,0/0,2,0,0,0,0`, in a gnubg Position ID or in an XGID. With a
    /// roll behind it, or dice in the XGID, the value of the best move.
    fn value(&self, position: &str) -> PyResult<f64> {
        let situation: Situation = position.parse().map_err(fault)?;
        match situation.roll {
            Some(_) => Ok(self.best_first(situation)?.first().map_or(f64::NAN, |&(_, value)| value)),
            None => self.0.value(situation.position).map_err(fault),
        }
    }

    /// The sides after each move, best first: dicts with `after`, and its `value` for the side that moves. `dice` may be left
    /// out if the position has them.
    #[pyo3(signature = (position, dice = None))]
    fn moves<'py>(
        &self,
        py: Python<'py>,
        position: &str,
        dice: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let dice: Option<Roll> = given::dice(dice)?.map(|dice| dice.parse()).transpose().map_err(fault)?;
        let situation = position.parse::<Situation>().and_then(|read| read.with_dice(dice)).map_err(fault)?;
        let all: Vec<_> = self
            .best_first(situation)?
            .iter()
            .map(|(side, value)| serde_json::json!({ "after": side.to_string(), "value": value }))
            .collect();
        plain(py, &all)
    }

    /// A pickle has the file, or the number of checkers: the table is solved anew.
    #[allow(clippy::type_complexity, reason = "a class and its arguments")]
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, (u8, Option<PathBuf>)) {
        (slf.get_type(), (slf.get().0.checkers(), slf.get().1.clone()))
    }

    /// Nothing changes an oracle, so that it is a copy of itself.
    fn __copy__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __deepcopy__(slf: Py<Self>, _memo: &Bound<'_, PyAny>) -> Py<Self> {
        slf
    }

    fn __repr__(&self) -> String {
        format!("<adept.Oracle of {} checkers a side>", self.0.checkers())
    }
}

impl Oracle {
    /// The sides after each move and their values, best first.
    fn best_first(&self, situation: Situation) -> PyResult<Vec<(Side, f64)>> {
        let Situation { position, roll } = situation;
        let roll = roll.ok_or_else(|| fault(format!("{position}: which roll? Give the dice, such as 65")))?;
        if position.is_over() {
            return Err(fault(format!("{position}: the game is over, so there are no moves")));
        }
        let mut found = Vec::new();
        self.0.moves(DicePosition { position, roll }, &mut found).map_err(fault)?;
        Ok(found)
    }
}
