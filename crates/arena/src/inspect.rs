//! Values of positions and moves: with gates and experts for people, in batches for programs.

use crate::agents::softmax;
use crate::evaluator::{Evaluator, GameModel};
use crate::open::OpenError;
use adept_game::{Afterstate, Kit, Read, Turn};
use adept_model::checkpoint::Output;
use adept_model::{Explanation, Rows};
use serde::Serialize;

/// A checkpoint's value of a position.
#[derive(Debug, Serialize)]
pub struct PositionValue {
    /// The position as text.
    pub position: String,
    /// Value for the player to move, in [−1, 1]. This is the value of the best move, or of the position itself before a
    /// chance event. For a finished game, it is the exact result for player 1.
    pub value: f32,
    /// Player to move, at once or after a chance event, counted from 1. None if the game is over.
    pub to_move: Option<usize>,
    /// The position itself, valued for the player who made the last move. None at the start, right after a chance
    /// event, and if a required last move is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Explanation>,
    /// Each legal move, best first.
    pub moves: Vec<MoveValue>,
}

/// A checkpoint's value of a move.
#[derive(Debug, Serialize)]
pub struct MoveValue {
    /// The move.
    pub action: String,
    /// Probability of the move, if the checkpoint's outputs are policy logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Value for the player who makes the move, with gates and experts. Exact if the move ends the game. For a policy,
    /// the logit.
    #[serde(flatten)]
    pub explanation: Explanation,
}

/// Evaluates a position and all its moves. `position` is its text in the report.
///
/// # Errors
/// [`OpenError::Unknown`] for a position before a chance event if the player to move next is not known.
pub fn inspect<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    (state, last): &Read<G>,
    position: String,
) -> Result<PositionValue, OpenError> {
    let exact = |value: f64| Explanation { value: value as f32, ..Explanation::default() };
    let knows = last.is_some() || !bound.encoder().needs_action();
    let mover = game.just_acted(state).filter(|_| knows);
    let mut after = |mover| bound.learner.explain(&bound.encode(game, state, last.as_ref(), mover));
    let player = match game.turn(state) {
        Turn::Player(player) => player,
        Turn::Over => {
            let value = (game.utility(state, 0) / game.scale()) as f32;
            return Ok(PositionValue { position, value, to_move: None, after: None, moves: Vec::new() });
        }
        Turn::Chance => {
            let Some(mover) = mover.filter(|_| game.zero_sum() && !game.hides()) else {
                let message =
                    format!("`{position}`: a chance event comes next; give a position with a player to move");
                return Err(OpenError::Unknown(message));
            };
            // Zero-sum: change the sign for the other player.
            let after = after(mover);
            let (value, player) = (-after.value, 1 - mover);
            let to_move = Some(player + 1);
            return Ok(PositionValue { position, value, to_move, after: Some(after), moves: Vec::new() });
        }
    };
    if game.hides() {
        complete(game, state, player, &position)?;
        return Ok(hidden(game, bound, state, player, position));
    }
    let after = mover.map(after);
    let mut actions = Vec::new();
    game.actions(state, &mut actions);
    let mut moves: Vec<MoveValue> = actions
        .iter()
        .map(|action| {
            let mut next = state.clone();
            game.apply(&mut next, action);
            let explanation = if game.turn(&next) == Turn::Over {
                exact(game.utility(&next, player) / game.scale())
            } else {
                let rows = bound.encode(game, &next, Some(action), player);
                bound.learner.explain(&rows)
            };
            MoveValue { action: game.action_text(state, action), probability: None, explanation }
        })
        .collect();
    moves.sort_by(|a, b| b.explanation.value.total_cmp(&a.explanation.value));
    let value = moves.first().map_or(0.0, |m| m.explanation.value);
    Ok(PositionValue { position, value, to_move: Some(player + 1), after, moves })
}

/// [`inspect`] for games with hidden information. Actions are valued before they are applied, because the state after
/// an action could reveal more than the player knows.
fn hidden<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    state: &G::State,
    player: usize,
    position: String,
) -> PositionValue {
    let (mut actions, mut values) = (Vec::new(), Vec::new());
    bound.weigh(game, state, player, &mut actions, &mut values);
    let policy = (bound.output == Output::Logits).then(|| policy_of(&values));
    let thought = |(i, action): (usize, &G::Action)| {
        let without = || Explanation { value: values[i], ..Explanation::default() };
        MoveValue {
            action: game.action_text(state, action),
            probability: policy.as_ref().map(|p| p[i]),
            explanation: bound.explain(game, state, action, player).unwrap_or_else(without),
        }
    };
    let mut moves: Vec<MoveValue> = actions.iter().enumerate().map(thought).collect();
    moves.sort_by(|a, b| b.explanation.value.total_cmp(&a.explanation.value));
    let value = moves.first().map_or(0.0, |m| m.explanation.value);
    PositionValue { position, value, to_move: Some(player + 1), after: None, moves }
}

/// Checks that the player to move knows all that a decision needs.
fn complete<G: Kit>(game: &G, state: &G::State, player: usize, text: &str) -> Result<(), OpenError> {
    match game.missing(state, player) {
        None => Ok(()),
        Some(what) => Err(OpenError::Unknown(format!(
            "`{text}`: player {} is to move, and {what} are missing: a value depends on them",
            player + 1
        ))),
    }
}

/// The softmax of these logits.
pub fn policy_of(logits: &[f32]) -> Vec<f64> {
    let mut policy = vec![0.0; logits.len()];
    softmax(logits, 1.0, &mut policy);
    policy
}

/// Error: positions of a game with hidden information have no rows.
fn hides<G: Kit>(game: &G) -> OpenError {
    OpenError::Unknown(format!(
        "{} has hidden information, so it has rows for decisions but not for positions; request the moves",
        game.name()
    ))
}

/// Reads positions in the game's text form.
///
/// # Errors
/// [`OpenError::Unknown`] with the text that is not a position.
pub fn read<G: Kit>(game: &G, texts: &[impl AsRef<str>]) -> Result<Vec<Read<G>>, OpenError> {
    let read = |text: &str| game.parse_position(text).map_err(OpenError::from);
    texts.iter().map(|text| read(text.as_ref())).collect()
}

/// The exact result of a finished game for the player who would move next, or for player 0 if that is not known.
fn over<G: Kit>(game: &G, state: &G::State) -> f32 {
    let utility = match game.just_acted(state).filter(|_| game.zero_sum()) {
        Some(player) => -game.utility(state, player),
        None => game.utility(state, 0),
    };
    (utility / game.scale()) as f32
}

/// Replaces `values` by the value of each position for the player to move, as in [`inspect`]. Only a finished game
/// differs: its exact result is for the player who would move next. All rows are evaluated in one batch.
///
/// # Errors
/// [`OpenError::Unknown`] for a position before a chance event if the player to move next is not known, and for a
/// checkpoint whose outputs are logits.
pub fn values<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    positions: &[Read<G>],
    values: &mut Vec<f32>,
) -> Result<(), OpenError> {
    if bound.output == Output::Logits {
        let message = "this checkpoint outputs policy logits, not values; request the moves";
        return Err(OpenError::Unknown(message.into()));
    }
    if game.hides() {
        return hidden_values(game, bound, positions, values);
    }
    let mut rows = Rows::new(bound.learner.channels());
    let encoder = bound.encoder().clone();
    // For each position: the best exact value, the sign of its rows, and the end of its rows.
    let mut parts: Vec<(f32, f32, usize)> = Vec::with_capacity(positions.len());
    let mut actions = Vec::new();
    let mut push = |state: &G::State, action: Option<&G::Action>, player: usize| {
        encoder.encode(game, Afterstate { state, action, player }, rows.push());
        rows.len()
    };
    let mut end = 0;
    for (state, last) in positions {
        let (mut exact, mut sign) = (f32::NEG_INFINITY, 1.0);
        match game.turn(state) {
            Turn::Over => exact = over(game, state),
            Turn::Chance if !game.zero_sum() => {
                let text = game.position_text(state);
                return Err(OpenError::Unknown(format!(
                    "`{text}`: a chance event comes next; give a position with a player to move"
                )));
            }
            Turn::Chance => {
                end = push(state, last.as_ref(), mover(game, bound, state, last.is_some())?);
                sign = -1.0;
            }
            Turn::Player(player) => {
                game.actions(state, &mut actions);
                for action in &actions {
                    let mut next = state.clone();
                    game.apply(&mut next, action);
                    if game.turn(&next) == Turn::Over {
                        exact = exact.max((game.utility(&next, player) / game.scale()) as f32);
                    } else {
                        end = push(&next, Some(action), player);
                    }
                }
            }
        }
        parts.push((exact, sign, end));
    }
    let mut found = Vec::new();
    if !rows.is_empty() {
        bound.learner.evaluate(&rows, &mut found);
    }
    values.clear();
    let mut first = 0;
    for (exact, sign, end) in parts {
        // NaN propagates, so that divergence cannot hide behind another move.
        let best = |a: f32, b: f32| if b.is_nan() || b > a { b } else { a };
        let value = found[first..end].iter().map(|v| sign * v).fold(exact, best);
        values.push(if value == f32::NEG_INFINITY { 0.0 } else { value });
        first = end;
    }
    Ok(())
}

/// [`values`] for games with hidden information.
fn hidden_values<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    positions: &[Read<G>],
    values: &mut Vec<f32>,
) -> Result<(), OpenError> {
    values.clear();
    let (mut actions, mut found) = (Vec::new(), Vec::new());
    for (state, _) in positions {
        match game.turn(state) {
            Turn::Over => values.push(over(game, state)),
            Turn::Chance => {
                let text = game.position_text(state);
                let message =
                    format!("`{text}`: a chance event comes next; give a position with a player to move");
                return Err(OpenError::Unknown(message));
            }
            Turn::Player(player) => {
                complete(game, state, player, &game.position_text(state))?;
                bound.weigh(game, state, player, &mut actions, &mut found);
                let best = |a: f32, b: &f32| if b.is_nan() || *b > a { *b } else { a };
                values.push(found.iter().fold(f32::NEG_INFINITY, best));
            }
        }
    }
    Ok(())
}

/// Replaces `rows` by the rows of these positions, for the player who just moved.
///
/// # Errors
/// [`OpenError::Unknown`] if the last player, or a last move that the encoder needs, is not known.
pub fn encode<G: Kit>(
    game: &G,
    bound: &GameModel<G>,
    positions: &[Read<G>],
    rows: &mut Rows,
) -> Result<(), OpenError> {
    rows.clear();
    if game.hides() {
        return Err(hides(game));
    }
    for (state, last) in positions {
        let player = mover(game, bound, state, last.is_some())?;
        bound.encoder().encode(game, Afterstate { state, action: last.as_ref(), player }, rows.push());
    }
    Ok(())
}

/// A legal move and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The move as people write it.
    pub action: String,
    /// The position after it.
    pub after: String,
    /// Value for the player who makes the move, in [−1, 1].
    pub value: f32,
}

/// The legal moves of a position, best first. Equal moves keep the game's order.
///
/// # Errors
/// [`OpenError::Unknown`] if the text is not a position, or no player is to move.
pub fn choices<G: Kit>(game: &G, bound: &mut GameModel<G>, text: &str) -> Result<Vec<Choice>, OpenError> {
    let (state, _) = game.parse_position(text)?;
    let player = match game.turn(&state) {
        Turn::Player(player) => player,
        Turn::Over => return Err(OpenError::Unknown(format!("`{text}`: the game is over"))),
        Turn::Chance => {
            return Err(OpenError::Unknown(format!(
                "`{text}`: no player is to move; the roll may be missing"
            )));
        }
    };
    complete(game, &state, player, text)?;
    let (mut actions, mut found) = (Vec::new(), Vec::new());
    game.actions(&state, &mut actions);
    bound.values(game, &state, player, &actions, &mut found);
    let choice = |(action, &value): (&G::Action, &f32)| {
        let mut after = state.clone();
        game.apply(&mut after, action);
        let text = game.afterstate_text(&after, Some(action));
        Choice { action: game.action_text(&state, action), after: text, value }
    };
    let mut choices: Vec<Choice> = actions.iter().zip(&found).map(choice).collect();
    choices.sort_by(|a, b| b.value.total_cmp(&a.value));
    Ok(choices)
}

/// The player who moved last, if the position has a row.
fn mover<G: Kit>(
    game: &G,
    bound: &GameModel<G>,
    state: &G::State,
    knows_action: bool,
) -> Result<usize, OpenError> {
    let fault = |what: &str| Err(OpenError::Unknown(format!("`{}`: {what}", game.position_text(state))));
    match game.just_acted(state) {
        None => fault("the player who moved last is not known; request the moves"),
        Some(_) if bound.encoder().needs_action() && !knows_action => {
            fault("the encoder needs the last move; write it after the position")
        }
        Some(_) if game.turn(state) == Turn::Over => fault("the game is over; use its result"),
        Some(player) => Ok(player),
    }
}
