//! Exact equities at the end of games, where models of the cube are worst: in money games, and the scores by which bear-offs of matches are
//! solved.

use super::super::{Position, known};
use super::{HIGHEST, MatchEquities, Score, Terms};
use crate::bearoff;
use crate::bearoff::two_sided::{CubeEquities, CubeStep, CubeTable};
use crate::doubling::CubeOwner;
use std::iter;
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

impl MatchEquities {
    /// The cube as it is at this score, and all cubes that can follow. Player 0 is the side to roll. None in money games.
    ///
    /// In published tables the chances of both players may not add up to 1 in the last digit: the mean of both is taken.
    pub fn cube_steps(&self, terms: Terms) -> Option<Vec<CubeStep>> {
        let score = Score::of(self, terms)?;
        let chance = |points: i32| (score.after(points) + 1.0 - score.other().after(-points)) / 2.0;
        let step = |cube: u32| {
            let terms = Terms { cube, owner: CubeOwner::Centred, ..terms };
            CubeStep {
                chances: [-1, 1].map(|sign| chance(sign * cube as i32)),
                may_double: [terms, terms.other()].map(|terms| terms.may_double()),
            }
        };
        let cubes = iter::successors(Some(terms.cube), |cube| (*cube < HIGHEST).then_some(2 * cube));
        Some(cubes.map(step).collect())
    }
}
