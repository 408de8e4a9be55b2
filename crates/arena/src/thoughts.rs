//! What an evaluator thinks of positions: for people with every gate and expert, for programs in batches.

use crate::agents::softmax;
use crate::evaluator::{Bound, Evaluator};
use crate::open::OpenError;
use adept_game::{Afterstate, Kit, Read, Turn};
use adept_model::checkpoint::Output;
use adept_model::{Explanation, Rows};
use serde::Serialize;

/// What a checkpoint thinks of a position.
#[derive(Debug, Serialize)]
pub struct PositionValue {
    /// The position as given.
    pub position: String,
    /// Value for the player to move, in [−1, 1]: of the best move; of the position itself where chance comes before
    /// that move; or the exact result of a finished game for player 1.
    pub value: f32,
    /// Player to move, at once or after chance, from 1; none if the game is over.
    pub to_move: Option<usize>,
    /// The position itself, valued for the player who made the last move; none where that is not known and matters, at
    /// the start, and right after chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Explanation>,
    /// Each legal move, best first.
    pub moves: Vec<MoveValue>,
}

/// What a checkpoint thinks of a move.
#[derive(Debug, Serialize)]
pub struct MoveValue {
    /// The move.
    pub action: String,
    /// How often it is to be taken, where the outputs of the checkpoint are logits of a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Value for the player who makes it, with the gates and experts behind it; exact if it ends the game. The logit of a
    /// policy.
    #[serde(flatten)]
    pub explanation: Explanation,
}

/// What an evaluator thinks of a position, which the report calls by that text.
///
/// # Errors
/// [`OpenError::Unknown`] for a position in which chance is to come and nobody's turn follows from it.
pub fn thoughts<G: Kit>(
    game: &G,
    bound: &mut Bound<G>,
    (state, last): &Read<G>,
    position: String,
) -> Result<PositionValue, OpenError> {
    let exact = |value: f64| Explanation { value: value as f32, gates: vec![], experts: vec![] };
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
                    format!("`{position}`: chance is to come: name a position in which a player moves");
                return Err(OpenError::Unknown(message));
            };
            // What one of two players wins the other loses.
            let after = after(mover);
            let (value, player) = (-after.value, 1 - mover);
            let to_move = Some(player + 1);
            return Ok(PositionValue { position, value, to_move, after: Some(after), moves: Vec::new() });
        }
    };
    if game.hides() {
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

/// The same where players do not see all of a state: what an action leads to would tell more than the player knows, so that
/// it is valued before it.
fn hidden<G: Kit>(
    game: &G,
    bound: &mut Bound<G>,
    state: &G::State,
    player: usize,
    position: String,
) -> PositionValue {
    let (mut actions, mut values) = (Vec::new(), Vec::new());
    bound.weigh(game, state, player, &mut actions, &mut values);
    let policy = (bound.output == Output::Logits).then(|| policy_of(&values));
    let thought = |(i, action): (usize, &G::Action)| {
        let without = || Explanation { value: values[i], gates: vec![], experts: vec![] };
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

/// The policy of these logits.
pub fn policy_of(logits: &[f32]) -> Vec<f64> {
    let mut policy = vec![0.0; logits.len()];
    softmax(logits, 1.0, &mut policy);
    policy
}

/// Why no row can be made of a position.
fn hides<G: Kit>(game: &G) -> OpenError {
    OpenError::Unknown(format!(
        "players of {} do not see all of a state, so that rows are of decisions and not of positions: ask for the moves",
        game.name()
    ))
}

/// Reads positions in the game's text form.
///
/// # Errors
/// [`OpenError::Unknown`] that names the one that is none.
pub fn read<G: Kit>(game: &G, texts: &[impl AsRef<str>]) -> Result<Vec<Read<G>>, OpenError> {
    let read = |text: &str| game.parse_position(text).map_err(|e| OpenError::Unknown(e.to_string()));
    texts.iter().map(|text| read(text.as_ref())).collect()
}

/// The exact result of a finished game for the player who would be to move; for the first one where that is not known.
fn over<G: Kit>(game: &G, state: &G::State) -> f32 {
    let utility = match game.just_acted(state).filter(|_| game.zero_sum()) {
        Some(player) => -game.utility(state, player),
        None => game.utility(state, 0),
    };
    (utility / game.scale()) as f32
}

/// Replaces `values` by the value of each position for the player to move, as [`thoughts`] says it but for a finished game: its
/// exact result is for the player who would be to move. All rows are asked of the model at once.
///
/// # Errors
/// [`OpenError::Unknown`] for a position in which chance is to come and nobody's turn follows from it, and for a checkpoint whose
/// outputs are logits.
pub fn values<G: Kit>(
    game: &G,
    bound: &mut Bound<G>,
    positions: &[Read<G>],
    values: &mut Vec<f32>,
) -> Result<(), OpenError> {
    if bound.output == Output::Logits {
        let message =
            "the outputs of this checkpoint are logits of a policy and no values: ask for the moves";
        return Err(OpenError::Unknown(message.into()));
    }
    if game.hides() {
        return hidden_values(game, bound, positions, values);
    }
    let mut rows = Rows::new(bound.learner.channels());
    let encoder = bound.encoder().clone();
    // Of each position what is exact, the sign of its rows, and where they end.
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
                    "`{text}`: chance is to come: name a position in which a player moves"
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
        // A value that is no number is passed on: divergence must not hide behind another move.
        let best = |a: f32, b: f32| if b.is_nan() || b > a { b } else { a };
        let value = found[first..end].iter().map(|v| sign * v).fold(exact, best);
        values.push(if value == f32::NEG_INFINITY { 0.0 } else { value });
        first = end;
    }
    Ok(())
}

/// The same where players do not see all of a state.
fn hidden_values<G: Kit>(
    game: &G,
    bound: &mut Bound<G>,
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
                let message = format!("`{text}`: chance is to come: name a position in which a player moves");
                return Err(OpenError::Unknown(message));
            }
            Turn::Player(player) => {
                bound.weigh(game, state, player, &mut actions, &mut found);
                let best = |a: f32, b: &f32| if b.is_nan() || *b > a { *b } else { a };
                values.push(found.iter().fold(f32::NEG_INFINITY, best));
            }
        }
    }
    Ok(())
}

/// Replaces `rows` by those of positions as they stand, for the player who just moved.
///
/// # Errors
/// [`OpenError::Unknown`] for a position of which it is not known who moved, or how where the encoder asks for that.
pub fn encode<G: Kit>(
    game: &G,
    bound: &Bound<G>,
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

/// A legal move and what an evaluator thinks of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The move as people write it.
    pub action: String,
    /// The position after it.
    pub after: String,
    /// Value for the player who makes it, in [−1, 1].
    pub value: f32,
}

/// The legal moves of a position, best first, in the game's order among equals.
///
/// # Errors
/// [`OpenError::Unknown`] for a text that is no position, or one in which no player is to move.
pub fn choices<G: Kit>(game: &G, bound: &mut Bound<G>, text: &str) -> Result<Vec<Choice>, OpenError> {
    let (state, _) = game.parse_position(text).map_err(|e| OpenError::Unknown(e.to_string()))?;
    let Turn::Player(player) = game.turn(&state) else {
        return Err(OpenError::Unknown(format!("`{text}`: no player is to move; a roll may be missing")));
    };
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

/// Who moved last, if a row of the position can be made.
fn mover<G: Kit>(
    game: &G,
    bound: &Bound<G>,
    state: &G::State,
    knows_action: bool,
) -> Result<usize, OpenError> {
    let fault = |what: &str| Err(OpenError::Unknown(format!("`{}`: {what}", game.position_text(state))));
    match game.just_acted(state) {
        None => fault("it is not known who moved last"),
        Some(_) if bound.encoder().needs_action() && !knows_action => {
            fault("the encoder asks for the last move: write it behind the position")
        }
        Some(_) if game.turn(state) == Turn::Over => fault("the game is over: take its result"),
        Some(player) => Ok(player),
    }
}
