//! Exact equities at the end of games, where models of the cube are worst.

use super::super::{Position, known};
use super::{HIGHEST, MatchEquities, Score, Scoring, Terms};
use crate::bearoff;
use crate::bearoff::two_sided::{CubePlace, CubeStep, CubeTable, ScoreEquities, ScoreTables};
use crate::doubling::CubeOwner;
use std::collections::VecDeque;
use std::iter;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

/// Largest number of checkers a side in money games: 21 MB, solved in a thirtieth of a second when it is first needed.
const CHECKERS: u8 = 6;

/// Largest number of checkers a side in matches: 2 to 4 MB for each score, solved in some ten milliseconds.
const MATCH_CHECKERS: u8 = 4;

/// Number of scores whose tables are kept.
const SCORES: usize = 32;

/// A bear-off that a table holds, in which no gammon is possible, and the cube.
pub(in crate::backgammon) struct End {
    table: Solved,
    position: bearoff::Position,
    terms: Terms,
}

/// The table of an end.
enum Solved {
    Money(&'static CubeTable),
    /// The tables of a score, where the cube is, and the player to roll.
    Match(Arc<ScoreTables>, CubePlace, usize),
}

impl End {
    /// The end that a position is. None if it is another position, there is no memory for its table, or the cube cannot come where it is.
    pub(in crate::backgammon) fn of(
        equities: &MatchEquities,
        position: Position,
        terms: Terms,
    ) -> Option<Self> {
        let Scoring::Match { away: [own, other], .. } = terms.scoring else {
            static TABLE: LazyLock<Option<CubeTable>> =
                LazyLock::new(|| CubeTable::solve(CHECKERS, 1, &mut |_| ()).ok().map(|(table, _)| table));
            // The table turns the cube without a limit.
            let position = known::bearoff_of(position, CHECKERS).filter(|_| terms.cube < HIGHEST)?;
            return Some(Self { table: Solved::Money(TABLE.as_ref()?), position, terms });
        };
        let position = known::bearoff_of(position, MATCH_CHECKERS)?;
        // Player 0 is the one who needs fewer points, so that the turns of both players have the same tables.
        let player = usize::from(own > other);
        let first = if player == 0 { terms } else { terms.other() };
        let owner = match terms.owner {
            CubeOwner::Centred => None,
            CubeOwner::Own => Some(player),
            CubeOwner::Theirs => Some(1 - player),
        };
        let place = CubePlace { step: terms.cube.trailing_zeros() as usize, owner };
        let tables = tables(equities.cube_steps(Terms { cube: 1, ..first })?)?;
        tables.view(place, player)?;
        Some(Self { table: Solved::Match(tables, place, player), position, terms })
    }

    /// The equity of the side to roll if both sides decide best, in points for each unit of the cube.
    pub(in crate::backgammon) fn value(&self) -> Option<f64> {
        match &self.table {
            Solved::Money(table) => table.value(self.position, self.terms.owner).ok(),
            Solved::Match(tables, place, player) => tables.view(*place, *player)?.value(self.position).ok(),
        }
    }

    /// The equity of the side to roll after it has doubled and its opponent has taken, for each unit of the cube before the double.
    pub(in crate::backgammon) fn after_take(&self) -> Option<f64> {
        match &self.table {
            Solved::Money(table) => Some(2.0 * table.value(self.position, CubeOwner::Theirs).ok()?),
            Solved::Match(..) => self.equities()?.double_take,
        }
    }

    /// The equities with and without a double, which take more time.
    pub(in crate::backgammon) fn equities(&self) -> Option<ScoreEquities> {
        match &self.table {
            Solved::Money(table) => {
                let found = table.equities(self.position).ok()?;
                let double_take = self.terms.may_double().then(|| found.double_take());
                Some(ScoreEquities { no_double: found.no_double(self.terms.owner), double_take })
            }
            Solved::Match(tables, place, player) => {
                tables.view(*place, *player)?.equities(self.position).ok()
            }
        }
    }
}

/// The tables of a score from the start of a game on, which are kept for the scores that were asked for last.
fn tables(steps: Vec<CubeStep>) -> Option<Arc<ScoreTables>> {
    static KEPT: Mutex<VecDeque<(Vec<CubeStep>, Arc<ScoreTables>)>> = Mutex::new(VecDeque::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(at) = kept.iter().position(|(known, _)| *known == steps) {
        if let Some(found) = kept.remove(at) {
            kept.push_front(found);
        }
    } else {
        let (tables, _) = ScoreTables::solve(MATCH_CHECKERS, 1, steps.clone(), None, &mut |_| ()).ok()?;
        kept.truncate(SCORES - 1);
        kept.push_front((steps, Arc::new(tables.compacted().ok()?)));
    }
    kept.front().map(|(_, tables)| tables.clone())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::Backgammon;
    use adept_game::Game;

    fn parse(text: &str) -> Position {
        Backgammon::default().parse_position(text).unwrap().0.position()
    }

    fn terms(away: [u32; 2], cube: u32, owner: CubeOwner) -> Terms {
        Terms { cube, owner, scoring: Scoring::Match { away, crawford: false } }
    }

    fn end(position: &str, terms: Terms) -> Option<End> {
        End::of(MatchEquities::usual(), parse(position), terms)
    }

    /// The last roll of 4 and 2 against 1 wins with 23 of 36 throws. Which player needs fewer points does not matter.
    #[test]
    fn last_rolls_of_matches_are_exact() {
        let p = 23.0 / 36.0;
        let chance = |a: i32, b: i32| MatchEquities::usual().chance([a, b], false);
        for [own, other] in [[4, 6], [6, 4], [5, 5]] {
            let terms = terms([own, other], 1, CubeOwner::Centred);
            let found = end("4:1 2:1/1:1", terms).unwrap().equities().unwrap();
            // A cube of 2 has no further use: the opponent passes or wins at once.
            let [won, lost] = [chance(own as i32 - 1, other as i32), chance(own as i32, other as i32 - 1)];
            let [won_2, lost_2] =
                [chance(own as i32 - 2, other as i32), chance(own as i32, other as i32 - 2)];
            let emg = |m: f64| (2.0 * m - won - lost) / (won - lost);
            assert!((found.no_double - (2.0 * p - 1.0)).abs() < 1e-5, "{found:?}");
            let take = found.double_take.unwrap();
            assert!((take - emg(p * won_2 + (1.0 - p) * lost_2)).abs() < 3e-4, "{found:?}");
        }
    }

    #[test]
    fn ends_are_short_bear_offs_where_the_cube_can_be() {
        let money = Terms::money(false);
        assert!(end("4:1 2:1/1:1", money).is_some() && end("6:1 5:2 4:3/1:5", money).is_some());
        let five = terms([5, 5], 1, CubeOwner::Centred);
        assert!(end("6:1 4:3/1:4", five).is_some() && end("6:1 5:1 4:3/1:4", five).is_none());
        assert!(end("7:1 4:1/1:1", five).is_none());
        // A leader who needs one point never gets the cube by a double of its own.
        assert!(end("4:1 2:1/1:1", terms([3, 1], 2, CubeOwner::Theirs)).is_some());
        for away in (2..).take(SCORES + 2).flat_map(|points| [[3, points], [points, 3]]) {
            let end = end("5:2/4:2", terms(away, 2, CubeOwner::Own)).unwrap();
            let (value, found) = (end.value().unwrap(), end.equities().unwrap());
            assert!((value - found.value()).abs() < 1e-4, "{away:?}: {value} {found:?}");
            assert!(away[0] > 2 || found.double_take.is_none(), "{away:?}: {found:?}");
        }
    }
}
