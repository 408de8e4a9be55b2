//! Whole games of any players as an evaluator sees them: what each decision lost, and the luck of each player.

use crate::agents::Decision;
use crate::evaluator::Evaluator;
use crate::judge::TIE;
use crate::luck::{Fortune, Luck};
use adept_game::{GameError, Kit, Turn, WholeGame};
use adept_ground::order::sort_by_highest;

/// What one player did and got, in units of utility.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Account {
    /// Decisions with more than one action.
    pub decisions: u64,
    /// Sum of the values of the best actions less those of the actions played.
    pub loss: f64,
    /// Decisions that lost more than [`TIE`] of the scale.
    pub wrong: u64,
    /// Sum of the luck of all chance outcomes.
    pub luck: f64,
    /// Games with a result.
    pub games: u64,
    /// Sum of their results.
    pub result: f64,
    /// Sum of their results, each less the luck of its game.
    pub adjusted: f64,
}

impl Account {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            decisions: self.decisions + other.decisions,
            loss: self.loss + other.loss,
            wrong: self.wrong + other.wrong,
            luck: self.luck + other.luck,
            games: self.games + other.games,
            result: self.result + other.result,
            adjusted: self.adjusted + other.adjusted,
        }
    }
}

/// An action that was not the best.
#[derive(Clone, Debug, PartialEq)]
pub struct Slip {
    /// The number that the file gives to the move.
    pub number: u64,
    /// The player, from 0.
    pub player: usize,
    /// The position before it, as [`Kit::short_text`] writes it.
    pub position: String,
    /// What was played.
    pub played: String,
    /// The best action, of equal ones the first.
    pub best: String,
    /// The value of the best action less that of this one, in units of utility.
    pub loss: f64,
}

/// A game that was reviewed.
#[derive(Clone, Debug, PartialEq)]
pub struct Reviewed {
    /// What each player did and got.
    pub players: [Account; 2],
    /// The actions that lost most, the worst first.
    pub slips: Vec<Slip>,
}

/// What an evaluator finds at one action of a game.
pub enum Judged<'a, G: Kit> {
    /// A chance event, and the luck that its outcome was for player 0, in units of utility.
    Chance(f64),
    /// A decision between several actions.
    Decision(Weighed<'a, G>),
}

/// A decision between several actions, as an evaluator sees it.
pub struct Weighed<'a, G: Kit> {
    /// The state before it.
    pub state: &'a G::State,
    /// The player, from 0.
    pub player: usize,
    /// What was played.
    pub action: &'a G::Action,
    /// The actions that the evaluator considers.
    pub actions: &'a [G::Action],
    /// Their values for the player, in [−1, 1].
    pub values: &'a [f32],
    /// The place of the best one, of equal ones the first.
    pub best: usize,
    /// The value of the best action less that of this one, in [0, 2].
    pub lost: f64,
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
    for (place, action) in played.enumerate() {
        let mut goes_on = true;
        match game.turn(&state) {
            Turn::Over => break,
            Turn::Chance => goes_on = visit(place, Judged::Chance(luck.luck(game, &state, action)?)),
            Turn::Player(player) => {
                let at = Decision::new(game, &state, player);
                evaluator.study(at, &mut actions, &mut values);
                let best =
                    (0..actions.len()).reduce(|best, i| if values[i] > values[best] { i } else { best });
                let listed = actions.iter().position(|other| other == action).map(|i| values[i]);
                let value = listed.unwrap_or_else(|| {
                    evaluator.values(at, std::slice::from_ref(action), &mut own);
                    own[0]
                });
                if let Some(best) = best.filter(|_| actions.len() + usize::from(listed.is_none()) > 1) {
                    if !(values[best].is_finite() && value.is_finite()) {
                        let text = game.position_text(&state);
                        return Err(GameError::new(format!("`{text}`: not all moves have a value")));
                    }
                    // What an evaluator leaves out may be better than what it lists.
                    let lost = (f64::from(values[best]) - f64::from(value)).max(0.0);
                    let (state, actions, values) = (&state, &actions[..], &values[..]);
                    let weighed = Weighed { state, player, action, actions, values, best, lost };
                    goes_on = visit(place, Judged::Decision(weighed));
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

/// Reviews a game of two players, zero-sum, by the values of an evaluator and by the luck that the same values tell. Keeps `most` slips. None
/// if it was to stop; `stop` is asked at every action that is judged.
///
/// # Errors
/// See [`judge_each`].
pub fn review<G: Kit>(
    game: &G,
    whole: &WholeGame<G::Action>,
    by: (&mut dyn Evaluator<G>, &mut Luck<G>),
    most: usize,
    mut stop: impl FnMut() -> bool,
) -> Result<Option<Reviewed>, GameError> {
    let mut players = [Account::default(); 2];
    let mut slips = Vec::new();
    let played = whole.actions.iter().map(|(_, action)| action);
    let last = judge_each(game, game.start(), played, by, |place, judged| {
        match judged {
            Judged::Chance(gained) => {
                players[0].luck += gained;
                players[1].luck -= gained;
            }
            Judged::Decision(Weighed { state, player, action, actions, best, lost, .. }) => {
                let account = &mut players[player];
                account.decisions += 1;
                account.loss += lost * game.scale();
                if lost > TIE {
                    account.wrong += 1;
                    slips.push(Slip {
                        number: whole.actions[place].0,
                        player,
                        position: game.short_text(state),
                        played: game.action_text(state, action),
                        best: game.action_text(state, &actions[best]),
                        loss: lost * game.scale(),
                    });
                }
            }
        }
        !stop()
    })?;
    let Some(state) = last else { return Ok(None) };
    let result = match game.turn(&state) {
        Turn::Over => Some(game.utility(&state, 0)),
        Turn::Chance | Turn::Player(_) => whole.result,
    };
    if let Some(result) = result {
        for (account, result) in players.iter_mut().zip([result, -result]) {
            (account.games, account.result, account.adjusted) = (1, result, result - account.luck);
        }
    }
    sort_by_highest(&mut slips, &|slip| slip.loss);
    slips.truncate(most);
    Ok(Some(Reviewed { players, slips }))
}
