//! The analysis of a game by another program, as its file holds it beside the moves.

use crate::backgammon::cube::CubeModel;
use crate::backgammon::{Action, Backgammon, Position, Stage, State};
use adept_game::Says;
use std::sync::Arc;

/// Largest equity, error and luck that is believed, in points.
const MOST: f64 = 32.0;

/// A number of a file, if it may be an equity, an error or luck in points.
pub(super) fn sane(number: f64) -> Option<f64> {
    // NaN is not in the range.
    (-MOST..=MOST).contains(&number).then_some(number)
}

/// What another program says of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// The decision to double or not, or the answer to a double.
    pub(super) cube: Option<ToldCube>,
    /// The move.
    pub(super) play: Option<ToldPlay>,
    /// The luck of the roll in points, for the player who rolled.
    pub(super) luck: Option<f64>,
}

/// What another program says of a move.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToldPlay {
    /// The program and its depth.
    pub(super) judge: Arc<str>,
    /// The position after the best move, in the view of the player who moved.
    pub(super) best: Position,
    /// The equity of the best move less that of the one that was played, in points.
    pub(super) lost: f64,
}

/// What another program says of a double.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ToldCube {
    /// The program and its depth.
    pub(super) judge: Arc<str>,
    /// The values, for the player who may double, of no double and of a double that is taken.
    pub(super) values: [f64; 2],
    /// Whether these are chances to win the match, and not points of the present cube.
    pub(super) are_chances: bool,
    /// The points that the double, or leaving it out, lost, and those that the answer lost, if the program tells them.
    pub(super) lost: [Option<f64>; 2],
}

impl Told {
    /// The luck or the judgement of a move, for an action of this player. None for others.
    pub(super) fn of_checkers(&self, player: usize, action: &Action) -> Option<Says<Action>> {
        match action {
            Action::Opening(..) | Action::Roll(_) => {
                let luck = self.luck.and_then(sane)?;
                Some(Says::Luck(if player == 0 { luck } else { -luck }))
            }
            Action::Move(_) => {
                let ToldPlay { judge, best, lost } = self.play.as_ref()?;
                let lost = sane(*lost)?.max(0.0);
                Some(Says::Decision { judge: judge.clone(), best: Action::Move(*best), lost, behind: lost })
            }
            _ => None,
        }
    }

    /// The judgement of an action about the cube in a state. None for others.
    pub(super) fn of_cube(&self, game: &Backgammon, state: &State, action: &Action) -> Option<Says<Action>> {
        // Nobody judges the answer to a beaver.
        let told = self.cube.as_ref().filter(|_| matches!(state.stage, Stage::Cube | Stage::Doubled))?;
        let [none, taken] = told.points(game, state)?;
        // A drop is worth a point.
        let doubled = taken.min(1.0);
        let first_or = |first: Action, loss: f64, other: Action| match () {
            () if loss > 0.0 => other,
            () if loss < 0.0 => first,
            () => *action,
        };
        // Equal actions are both the best.
        let (best, by, value) = match action {
            Action::NoDouble => (first_or(Action::NoDouble, doubled - none, Action::Double), 0, none),
            Action::Double => (first_or(Action::NoDouble, doubled - none, Action::Double), 0, doubled),
            Action::Take => (first_or(Action::Take, taken - 1.0, Action::Drop), 1, -taken),
            Action::Drop => (first_or(Action::Take, taken - 1.0, Action::Drop), 1, -1.0),
            _ => return None,
        };
        let (highest, lowest) = match by {
            0 => (none.max(doubled), none.min(doubled)),
            _ => (-doubled, -taken.max(1.0)),
        };
        let lost = match told.lost[by] {
            Some(lost) => sane(lost)?.abs(),
            None => highest - value,
        };
        Some(Says::Decision { judge: told.judge.clone(), best, lost, behind: highest - lowest })
    }
}

impl ToldCube {
    /// The values of no double and of a double that is taken, in points of the present cube.
    fn points(&self, game: &Backgammon, state: &State) -> Option<[f64; 2]> {
        let [none, taken] = self.values;
        if !self.are_chances {
            return Some([sane(none)?, sane(taken)?]);
        }
        let terms = game.terms(state);
        let model = CubeModel::of(game.checkers());
        let (won, lost) = model.match_chance_of(1.0, terms).zip(model.match_chance_of(-1.0, terms))?;
        let points = |chance: f64| {
            let is_chance = (0.0..=1.0).contains(&chance);
            is_chance.then(|| (2.0 * chance - won - lost) / (won - lost)).and_then(sane)
        };
        Some([points(none)?, points(taken)?])
    }
}
