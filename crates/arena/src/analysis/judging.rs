//! Judges each action of a game by an evaluator.

use super::judge::TIE;
use crate::values::{Decision, Evaluator, Fortune, Luck, Reach};
use adept_game::{GameError, Kit, Standard, Turn};
use adept_ground::order::places_by;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

/// Number of the best actions that a decision lists, besides the one that was played.
const CANDIDATES: usize = 5;

/// Standard errors on each side of a 95 % interval.
pub const CI95: f64 = 1.96;

/// Points that an error loses to be doubtful, bad, or very bad: the marks of GNU Backgammon as it is installed.
pub const MARKS: [f64; 3] = [0.03, 0.06, 0.12];

/// The place among [`MARKS`] of a loss in points; none if it is too small.
pub fn mark_of(lost: f64) -> Option<usize> {
    MARKS.iter().rposition(|mark| lost >= *mark)
}

/// The verdict on a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It lost nothing.
    Right,
    /// The loss lies within the error of the estimates.
    Undecided,
    /// It lost something.
    Wrong,
}

/// A judged action of a game.
pub enum Judged<'a, G: Kit> {
    /// A chance event.
    Chance {
        /// The state before it.
        state: &'a G::State,
        /// The luck that its outcome was for player 0, in units of utility.
        luck: f64,
        /// Its standard error; 0 if the values are not estimates from samples.
        error: f64,
        /// The mean value over all outcomes for player 0, in units of utility; none if the chance event could not be judged.
        expected: Option<f64>,
    },
    /// A decision between several actions.
    Decision(Weighed<'a, G>),
    /// The only action of a player.
    Forced {
        /// The state before it.
        state: &'a G::State,
        /// The player, from 0.
        player: usize,
        /// The value of the action for the player, in [−1, 1].
        value: f32,
    },
}

impl<G: Kit> Judged<'_, G> {
    /// How players of the game count errors here; none if they have no customs.
    pub fn standard(&self, game: &G) -> Option<Standard> {
        let state = match self {
            Self::Chance { state, .. } | Self::Forced { state, .. } => *state,
            Self::Decision(weighed) => weighed.state,
        };
        let standard = game.records().standard(game, state);
        standard.filter(|standard| standard.point > 0.0 && standard.point.is_finite())
    }
}

/// A decision between several actions, as an evaluator sees it.
pub struct Weighed<'a, G: Kit> {
    /// The state before it.
    pub state: &'a G::State,
    /// The player, from 0.
    pub player: usize,
    /// The action that was played.
    pub action: &'a G::Action,
    /// The actions that the evaluator considers.
    pub actions: &'a [G::Action],
    /// Their values for the player, in [−1, 1].
    pub values: &'a [f32],
    /// The place of the best one, of equal ones the first.
    pub best: usize,
    /// The value of what was played.
    pub value: f32,
    /// The value of the best action less that of this one, in [0, 2].
    pub lost: f64,
    /// The standard error of that difference; 0 if the values are not estimates from samples.
    pub error: f64,
    /// The standard errors of `values`; empty if they are not estimates from samples.
    pub errors: &'a [f32],
    /// How far a search looked; none without one.
    pub reach: Option<Reach>,
    /// The judge of the values, from 0, if several judge one after another.
    pub judge: usize,
}

/// An action, its value, and the standard error of the value.
type Ranked<'a, A> = (&'a A, f32, f32);

impl<G: Kit> Weighed<'_, G> {
    /// The players' name of the error, if it has one.
    pub(super) fn error_name(&self, game: &G) -> Option<&'static str> {
        let value = f64::from(self.values[self.best]) * game.scale();
        game.records().error_name(game, self.state, self.action, (&self.actions[self.best], value))
    }

    /// The best actions, the best first, and the one that was played, with their values and the standard errors of these; and the place of
    /// the one that was played in this list.
    pub(super) fn candidates(&self) -> (Vec<Ranked<'_, G::Action>>, usize) {
        let mut listed = places_by(self.values);
        let own = listed.iter().position(|&i| self.actions[i] == *self.action);
        let own_error = own.and_then(|own| self.errors.get(listed[own]).copied()).unwrap_or(0.0);
        listed.truncate(CANDIDATES);
        let candidate =
            |&i: &usize| (&self.actions[i], self.values[i], self.errors.get(i).copied().unwrap_or(0.0));
        let mut all: Vec<(&G::Action, f32, f32)> = listed.iter().map(candidate).collect();
        let played = own.filter(|own| *own < CANDIDATES).unwrap_or(all.len());
        if played == all.len() {
            all.push((self.action, self.value, own_error));
        }
        (all, played)
    }

    /// By how much the worst action is behind the best, in [0, 2], and whether the last one is the best.
    pub(super) fn spread(&self) -> (f64, bool) {
        let bounded = |value: f32| f64::from(value).clamp(-1.0, 1.0);
        let least = self.values.iter().copied().map(bounded).fold(f64::INFINITY, f64::min);
        (bounded(self.values[self.best]) - least, self.best + 1 == self.values.len())
    }

    /// The verdict. Of many noisy values the highest is too high, so the level of 5 % is shared by all comparisons with
    /// the action that was played (Bonferroni).
    pub fn verdict(&self) -> Verdict {
        match () {
            () if self.lost <= TIE => Verdict::Right,
            () if self.error > 0.0 && self.lost <= self.error * quantile(self.actions.len().max(2) - 1) => {
                Verdict::Undecided
            }
            () => Verdict::Wrong,
        }
    }
}

/// The two-sided quantile of the normal distribution at a level of 5 % for so many comparisons: [`CI95`] for one.
fn quantile(comparisons: usize) -> f64 {
    if comparisons <= 1 { CI95 } else { Normal::standard().inverse_cdf(1.0 - 0.025 / comparisons as f64) }
}

/// Judges the actions of a game of two players, zero-sum, by the values of an evaluator, and by the luck that the same values tell.
/// `visit` gets the place of each action that there is something to say about; it returns whether to go on. Returns the last state;
/// none if it was to stop.
///
/// # Errors
/// If an outcome is not one of those that the game lists, or the evaluator has no value of an action.
pub fn judge_each<'a, G: Kit>(
    game: &G,
    mut state: G::State,
    played: impl Iterator<Item = &'a G::Action>,
    (evaluator, luck): (&mut dyn Evaluator<G>, &mut Luck<G>),
    mut visit: impl FnMut(usize, Judged<'_, G>) -> bool,
) -> Result<Option<G::State>, GameError> {
    let (mut actions, mut values, mut own) = (Vec::new(), Vec::new(), Vec::new());
    let mut errors: Vec<f32> = Vec::new();
    for (place, action) in played.enumerate() {
        let goes_on;
        match game.turn(&state) {
            Turn::Over => break,
            Turn::Chance => {
                let gained = luck.luck(game, &state, action)?;
                let (error, expected) = (luck.error(), luck.expected());
                goes_on = visit(place, Judged::Chance { state: &state, luck: gained, error, expected });
            }
            Turn::Player(player) => {
                let at = Decision::new(game, &state, player);
                evaluator.compare(at, action, &mut actions, &mut values);
                let judge = evaluator.stage();
                let mut reach = evaluator.reach();
                let best =
                    (0..actions.len()).reduce(|best, i| if values[i] > values[best] { i } else { best });
                let listed = actions.iter().position(|other| other == action).map(|i| values[i]);
                errors.clear();
                errors.extend_from_slice(evaluator.errors());
                if errors.len() != actions.len() {
                    errors.clear();
                }
                let mut error =
                    actions.iter().position(|other| other == action).and_then(|i| errors.get(i).copied());
                let value = listed.unwrap_or_else(|| {
                    evaluator.values(at, std::slice::from_ref(action), &mut own);
                    error = evaluator.errors().first().copied();
                    // It may have been valued without a search.
                    reach = reach
                        .and_then(|best| Some(if best.is_searched() { evaluator.reach()? } else { best }));
                    own[0]
                });
                if let Some(best) = best.filter(|_| actions.len() + usize::from(listed.is_none()) > 1) {
                    if !(values[best].is_finite() && value.is_finite()) {
                        let text = game.position_text(&state);
                        return Err(GameError::new(format!("`{text}`: not all moves have a value")));
                    }
                    // What an evaluator leaves out may be better than what it lists.
                    let bounded = |value: f32| f64::from(value).clamp(-1.0, 1.0);
                    let lost = (bounded(values[best]) - bounded(value)).max(0.0);
                    let of_best = errors.get(best).copied().filter(|_| actions[best] != *action);
                    let error = match of_best {
                        Some(of_best) => f64::from(of_best).hypot(error.unwrap_or(0.0).into()),
                        None => 0.0,
                    };
                    let (state, actions, values, errors) = (&state, &actions[..], &values[..], &errors[..]);
                    let weighed = Weighed {
                        state,
                        player,
                        action,
                        actions,
                        values,
                        best,
                        value,
                        lost,
                        error,
                        errors,
                        reach,
                        judge,
                    };
                    goes_on = visit(place, Judged::Decision(weighed));
                } else {
                    goes_on = visit(place, Judged::Forced { state: &state, player, value });
                }
            }
        }
        if !goes_on {
            return Ok(None);
        }
        game.apply(&mut state, action);
    }
    Ok(Some(state))
}
