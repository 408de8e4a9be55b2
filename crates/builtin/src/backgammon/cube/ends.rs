//! Exact equities at the end of money games, where models of the cube are worst.

use super::super::{Position, known};
use crate::bearoff;
use crate::bearoff::two_sided::{CubeEquities, CubeTable};
use crate::doubling::CubeOwner;
use std::sync::LazyLock;

/// Largest number of checkers a side: 21 MB, solved in a thirtieth of a second when it is first needed.
const CHECKERS: u8 = 6;

/// A bear-off that the table holds, in which no gammon is possible.
pub(in crate::backgammon) struct End {
    table: &'static CubeTable,
    position: bearoff::Position,
}

impl End {
    /// The end that a position is. None if it is another position, or there is no memory for the table.
    pub(in crate::backgammon) fn of(position: Position) -> Option<Self> {
        static TABLE: LazyLock<Option<CubeTable>> =
            LazyLock::new(|| CubeTable::solve(CHECKERS, 1, &mut |_| ()).ok().map(|(table, _)| table));
        let position = known::bearoff_of(position, CHECKERS)?;
        Some(Self { table: TABLE.as_ref()?, position })
    }

    /// The equity of the side to roll if both sides decide best, in points for each unit of the cube.
    pub(in crate::backgammon) fn value(&self, owner: CubeOwner) -> Option<f64> {
        self.table.value(self.position, owner).ok()
    }

    /// The equities with and without a double, which take more time.
    pub(in crate::backgammon) fn equities(&self) -> Option<CubeEquities> {
        self.table.equities(self.position).ok()
    }
}
