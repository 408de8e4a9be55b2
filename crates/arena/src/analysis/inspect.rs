//! Values of positions and moves: with gates and experts for people, in batches for programs.

use super::review::CI95;
use crate::agents::{line_texts, softmax};
use crate::error::OpenError;
use crate::search::Search;
use crate::values::{Decision, Evaluator, GameModel, Successors, state_after};
use adept_game::{Afterstate, Kit, ParsedPosition, Reading, Turn, Worth, outcome_of};
use adept_ground::order::{places_by, sort_by_highest};
use adept_model::{Explanation, Layout, OutcomeClass, Rows};
use serde::ser::{SerializeMap, Serializer};
use std::ops::Range;
use std::sync::Arc;

/// A checkpoint's value of a position.
#[derive(Debug, Default, serde::Serialize)]
pub struct PositionValue {
    /// The position as text.
    pub position: String,
    /// Value for the player to move, in the range of the network. This is the value of the best move, or of the position itself before a
    /// chance event. For a finished game, it is the exact result for player 1.
    pub value: f32,
    /// The value in the unit of the game, such as points; the value itself if the game has no unit. None for a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equity: Option<f64>,
    /// What the value means in the game.
    #[serde(flatten)]
    pub worth: Worth,
    /// How probable each class of results is for the player to move, with the best move; empty if that is not known. In JSON `classes`.
    #[serde(rename = "classes", skip_serializing_if = "Chances::is_empty")]
    pub chances: Chances,
    /// Player to move, at once or after a chance event, counted from 1. None if the game is over.
    pub to_move: Option<usize>,
    /// The position itself, valued for the player who made the last move. None at the start, right after a chance
    /// event, and if a required last move is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Explanation>,
    /// Figures of the position in words of the game, such as those of the cube.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// The row of the position itself, if it was asked for and there is one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The classes of outcomes, in the order of the numbers of each `outcomes`; empty if the network gives values alone. In JSON
    /// `class_names`.
    #[serde(rename = "class_names", skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<String>,
    /// Each legal move, best first.
    pub moves: Vec<MoveValue>,
    /// What a search did, if the values come from one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<Searched>,
    /// Before a chance event: the position after one of its outcomes, whose moves can be shown.
    #[serde(skip)]
    pub next: Option<String>,
}

/// Positions after chance events that are looked at to find who moves next.
const CHANCES: usize = 1000;

/// How far a search looked.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Searched {
    /// Plies searched completely. At 1 ply nothing was searched: the values are those of the evaluator alone.
    pub plies: u32,
    /// Plies that were asked for; none for a search that ends by time or by positions. In JSON `asked_plies`.
    #[serde(rename = "asked_plies", skip_serializing_if = "Option::is_none")]
    pub asked: Option<u32>,
    /// Whether it looked as far as it was asked to.
    pub finished: bool,
    /// What is missing, in words, such as `stopped after 2 of 3 plies`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortfall: Option<String>,
    /// Positions valued.
    pub nodes: u64,
    /// Whether every line was searched to the end of the game.
    pub solved: bool,
    /// The moves that it expects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub line: Vec<String>,
}

/// A checkpoint's value of a move.
#[derive(Debug, serde::Serialize)]
pub struct MoveValue {
    /// The move. In JSON it is both `move` and `action`.
    #[serde(flatten, serialize_with = "move_and_action")]
    pub action: String,
    /// The position after the move as text, which shows the player to move next first if the game's texts do.
    pub afterstate: String,
    /// The value in the unit of the game, such as points; the value itself if the game has no unit. None for a policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub equity: Option<f64>,
    /// What the value means in the game.
    #[serde(flatten)]
    pub worth: Worth,
    /// How probable each class of results is for the player who makes the move; empty if that is not known. In JSON `classes`.
    #[serde(rename = "classes", skip_serializing_if = "Chances::is_empty")]
    pub chances: Chances,
    /// Half the width of the 95 % interval of `equity`, in its unit, if the value is an estimate from samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ci95: Option<f64>,
    /// Probability of the move, if the checkpoint's outputs are policy logits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Value for the player who makes the move, with gates and experts. Exact if the move ends the game. For a policy,
    /// the logit.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// The row of the move, if it was asked for and there is one: a move that ends the game has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
}

/// Probabilities of the classes of results, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chances(pub Vec<(Arc<str>, f32)>);

impl Chances {
    fn of(classes: &[Arc<str>], outcomes: &[f32]) -> Self {
        Self(classes.iter().cloned().zip(outcomes.iter().copied()).collect())
    }

    /// Whether none is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl serde::Serialize for Chances {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, p)| (&**name, p)))
    }
}

fn names(classes: &[OutcomeClass]) -> Vec<Arc<str>> {
    classes.iter().map(|class| Arc::from(&*class.name)).collect()
}

/// The class of a finished game for a player, which is certain; empty if it is in none.
fn ended<G: Kit>(game: &G, classes: &[OutcomeClass], state: &G::State, player: usize) -> Chances {
    // The classes of another rule set are not results of this one.
    let class = outcome_of(game, classes, state, player).filter(|_| game.results().adapted.is_none());
    let probability = |(i, class_of): (usize, &OutcomeClass)| {
        (Arc::from(&*class_of.name), f32::from(u8::from(Some(i) == class)))
    };
    match class {
        Some(_) => Chances(classes.iter().enumerate().map(probability).collect()),
        None => Chances::default(),
    }
}

/// Gives the experts' values in the unit of the game, too.
fn score_experts<G: Kit>(game: &G, explanation: &mut Explanation) {
    for expert in explanation.experts.iter_mut().flatten() {
        expert.score = Some(in_unit(&Worth::of(game, expert.value.into()), expert.value));
        score_experts(game, expert);
    }
}

/// A value in the unit of the game.
fn in_unit(worth: &Worth, value: f32) -> f64 {
    worth.score.unwrap_or(value.into())
}

fn move_and_action<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("move", text)?;
    map.serialize_entry("action", text)?;
    map.end()
}

/// What a row holds in one channel.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Input {
    /// Name of the channel.
    pub name: String,
    /// Kind of its values, such as `Dense(15)`.
    pub kind: String,
    /// Its numbers.
    pub values: Numbers,
    /// Meaning of an index or a key, if the encoder knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The numbers of a channel: real numbers, or one index or key.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(untagged)]
pub enum Numbers {
    /// Dense numbers, bits, or a value.
    Real(Vec<f32>),
    /// An index or a key.
    Whole(Vec<u64>),
}

/// The first row, by channel.
fn inputs_of<G: Kit>(game: &G, bound: &GameModel<G>, rows: &Rows) -> Vec<Input> {
    let channels = bound.model.channels();
    let input = |(channel, first): (&adept_model::Channel, usize)| {
        let (dense, whole) = (channel.kind.dense_width(), channel.kind.index_width());
        let values = match whole {
            0 => Numbers::Real(rows.dense_row(0)[first..first + dense].to_vec()),
            _ => Numbers::Whole(rows.index_row(0)[first..first + whole].to_vec()),
        };
        let text = match &values {
            Numbers::Whole(keys) => bound.encoder().key_text(game, &channel.name, keys[0]),
            Numbers::Real(_) => None,
        };
        Input { name: channel.name.to_string(), kind: format!("{:?}", channel.kind), values, text }
    };
    channels.iter().zip(Layout::new(channels).offsets).map(input).collect()
}

/// What [`inspect`] tells beside values.
#[derive(Clone, Copy, Debug)]
pub struct Detail {
    /// The rows.
    pub inputs: bool,
    /// Gates and experts.
    pub experts: bool,
    /// The best moves up to this number.
    pub moves: usize,
}

impl Default for Detail {
    fn default() -> Self {
        Self { inputs: false, experts: true, moves: usize::MAX }
    }
}

/// Evaluates a position and all its moves. `position` is its text in the report.
///
/// # Errors
/// [`OpenError::Unknown`] for a position before a chance event if the player to move next is not known.
pub fn inspect<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    (state, last): &ParsedPosition<G>,
    position: String,
    detail: Detail,
) -> Result<PositionValue, OpenError> {
    let knows = last.is_some() || !bound.encoder().needs_action();
    let classes = bound.model.head().classes().unwrap_or_default();
    let names = names(classes);
    // The output of a policy is a logit.
    let is_policy = bound.model.head().is_policy();
    let worth = |value: f32| if is_policy { Worth::default() } else { Worth::of(game, value.into()) };
    let equity = |value: f32| (!is_policy).then(|| in_unit(&worth(value), value));
    let mover = game.just_acted(state).filter(|_| knows && !game.hides());
    let found = |value: f32, to_move: Option<usize>, moves: Vec<MoveValue>| PositionValue {
        position: position.clone(),
        value,
        equity: equity(value),
        worth: worth(value),
        chances: moves.first().map(|best| best.chances.clone()).unwrap_or_default(),
        to_move,
        classes: names.iter().map(|name| (**name).into()).collect(),
        moves,
        ..PositionValue::default()
    };
    let turn = game.turn(state);
    if turn == Turn::Over {
        return Ok(found((game.utility(state, 0) / game.scale()) as f32, None, Vec::new()));
    }
    let row = mover.map(|mover| bound.encode(game, state, last.as_ref(), mover));
    let after = row.as_ref().zip(mover).map(|(row, player)| {
        let mut found = bound.explained(game, Afterstate { state, action: last.as_ref(), player }, row);
        if !is_policy {
            found.score = equity(found.value);
            score_experts(game, &mut found);
        }
        found
    });
    let reading = after
        .as_ref()
        .zip(mover)
        .zip(game.results().adapted)
        .and_then(|((after, mover), adapted)| (adapted.reading)(game, state, mover, &after.outcomes));
    let inputs_after = match &row {
        Some(row) if detail.inputs => inputs_of(game, bound, row),
        _ => Vec::new(),
    };
    let player = match turn {
        Turn::Player(player) => player,
        _ => {
            let (Some(after), Some(mover), true) = (after, mover, game.zero_sum()) else {
                let untold = knows && !game.hides() && game.just_acted(state).is_none();
                return Err(chance_next(game, state, &position, untold));
            };
            // Zero-sum: change the sign for the other player.
            let mut found = found(-after.value, Some(2 - mover), Vec::new());
            if !after.outcomes.is_empty() && !is_policy {
                let mut mirrored = Vec::new();
                bound.model.head().mirrored(&after.outcomes, &mut mirrored);
                found.chances = Chances::of(&names, &mirrored);
            }
            (found.after, found.inputs, found.next) = (Some(after), inputs_after, after_chance(game, state));
            found.reading = reading;
            return Ok(found);
        }
    };
    if game.hides() {
        complete(game, state, player, &position)?;
    }
    let encoder = bound.encoder().clone();
    let mut listed = bound.spare.take().unwrap_or_else(|| Successors::new(game, &*bound.model));
    listed.clear();
    listed.list(&*encoder, Decision::new(game, state, player));
    listed.evaluate(&mut *bound.model);
    let policy = (game.hides() && is_policy).then(|| policy_of(&listed.values));
    let experts = detail.experts && bound.model.has_parts();
    let outputs = bound.model.head().classes().map_or(0, <[_]>::len);
    // Only what is told is put into words and explained.
    let mut order = places_by(&listed.values[..listed.actions.len()]);
    order.truncate(detail.moves);
    let actions: Vec<G::Action> = order.iter().map(|&i| listed.actions[i].clone()).collect();
    let texts = game.texts().actions(game, state, &actions);
    let mut moves: Vec<MoveValue> = Vec::with_capacity(order.len());
    for ((i, action), text) in order.into_iter().zip(&actions).zip(texts) {
        let next = state_after(game, state, action);
        let place = listed.row_of[i].map(|row| row as usize);
        let row = place.filter(|_| experts || detail.inputs).map(|place| {
            let mut one = listed.rows.empty();
            one.push_from(&listed.rows, place);
            one
        });
        let mut explanation = match (&row, place) {
            (Some(row), _) if experts => {
                let state = if game.hides() { state } else { &next };
                bound.explained(game, Afterstate { state, action: Some(action), player }, row)
            }
            (_, Some(place)) => Explanation {
                value: listed.values[i],
                outcomes: listed.outcomes[place * outputs..][..outputs].to_vec(),
                ..Explanation::default()
            },
            (_, None) => Explanation { value: listed.values[i], ..Explanation::default() },
        };
        if !is_policy {
            score_experts(game, &mut explanation);
        }
        moves.push(MoveValue {
            action: text,
            afterstate: game.texts().afterstate(game, &next, Some(action)),
            equity: equity(explanation.value),
            worth: worth(explanation.value),
            chances: match place {
                Some(_) => Chances::of(&names, &explanation.outcomes),
                None => ended(game, bound.model.head().classes().unwrap_or_default(), &next, player),
            },
            ci95: None,
            probability: policy.as_ref().map(|p| p[i]),
            explanation,
            inputs: row.filter(|_| detail.inputs).map_or_else(Vec::new, |row| inputs_of(game, bound, &row)),
        });
    }
    bound.spare = Some(listed);
    sort_by_highest(&mut moves, &|m| m.explanation.value.into());
    let value = moves.first().map_or(0.0, |m| m.explanation.value);
    Ok(PositionValue { after, reading, inputs: inputs_after, ..found(value, Some(player + 1), moves) })
}

/// Values a position and all its moves by looking ahead. `position` is its text in the report. `outcomes` asks for the probability of each
/// class of results after each move that does not end the game, which is a search of its own, without a budget.
///
/// # Errors
/// [`OpenError::Unknown`] for a position before a chance event if the player to move next is not known.
pub fn inspect_by<G: Kit, E: Evaluator<G>>(
    game: &G,
    search: &mut Search<G, E>,
    (state, _): &ParsedPosition<G>,
    position: String,
    outcomes: bool,
) -> Result<PositionValue, OpenError> {
    let mut found = PositionValue { position, ..PositionValue::default() };
    let turn = game.turn(state);
    match turn {
        Turn::Over => found.value = (game.utility(state, 0) / game.scale()) as f32,
        Turn::Chance => {
            let Some(next) = next_player(game, state) else {
                return Err(OpenError::Unknown(format!(
                    "`{}`: a chance event comes next; give a position with a player to move",
                    found.position
                )));
            };
            found.value = search.before_chance(game, state, next);
            if search.found().plies == 0 {
                return Err(OpenError::Unknown(format!(
                    "`{}`: there was no time to look so far ahead",
                    found.position
                )));
            }
            (found.to_move, found.next) = (Some(next + 1), after_chance(game, state));
        }
        Turn::Player(player) => {
            let (mut actions, mut values) = (Vec::new(), Vec::new());
            let at = Decision::new(game, state, player);
            search.study(at, &mut actions, &mut values);
            let errors = search.errors().to_vec();
            let names = if outcomes { names(search.evaluator.classes()) } else { Vec::new() };
            found.classes = names.iter().map(|name| (**name).into()).collect();
            let texts = game.texts().actions(game, state, &actions);
            for (i, ((action, value), text)) in actions.iter().zip(&values).zip(texts).enumerate() {
                let next = state_after(game, state, action);
                let mut outcomes = Vec::new();
                let is_over = game.turn(&next) == Turn::Over;
                if !found.classes.is_empty() && !is_over {
                    search.outcomes_after(at, action, &mut outcomes);
                }
                let worth = Worth::of(game, (*value).into());
                found.moves.push(MoveValue {
                    action: text,
                    afterstate: game.texts().afterstate(game, &next, Some(action)),
                    equity: Some(in_unit(&worth, *value)),
                    worth,
                    chances: match is_over && !found.classes.is_empty() {
                        true => ended(game, search.evaluator.classes(), &next, player),
                        false => Chances::of(&names, &outcomes),
                    },
                    ci95: errors
                        .get(i)
                        .map(|error| CI95 * in_unit(&Worth::of(game, (*error).into()), *error)),
                    probability: None,
                    explanation: Explanation { value: *value, outcomes, ..Explanation::default() },
                    inputs: Vec::new(),
                });
            }
            sort_by_highest(&mut found.moves, &|m| m.explanation.value.into());
            found.value = found.moves.first().map_or(0.0, |m| m.explanation.value);
            found.chances = found.moves.first().map(|best| best.chances.clone()).unwrap_or_default();
            found.to_move = Some(player + 1);
        }
    }
    found.worth = Worth::of(game, found.value.into());
    found.equity = Some(in_unit(&found.worth, found.value));
    if turn == Turn::Over {
        return Ok(found);
    }
    let seen = search.found();
    found.search = search.looked().map(|reach| Searched {
        plies: seen.plies,
        asked: reach.asked,
        finished: reach.is_finished(),
        shortfall: reach.shortfall(),
        nodes: seen.nodes,
        solved: seen.solved,
        line: line_texts(game, state, &seen.line),
    });
    Ok(found)
}

/// The player to move after chance events, along the first of their outcomes that leads to one.
pub(crate) fn next_player<G: Kit>(game: &G, state: &G::State) -> Option<usize> {
    let (mut outcomes, mut left) = (Vec::new(), vec![state.clone()]);
    for _ in 0..CHANCES {
        let state = left.pop()?;
        match game.turn(&state) {
            Turn::Player(player) => return Some(player),
            Turn::Over => continue,
            Turn::Chance => {}
        }
        if game.outcomes(&state, &mut outcomes) {
            left.extend(outcomes.iter().rev().map(|(outcome, _)| state_after(game, &state, outcome)));
        }
    }
    None
}

/// The position after a chance event, with the first of its outcomes, if a player is then to move.
fn after_chance<G: Kit>(game: &G, state: &G::State) -> Option<String> {
    let mut outcomes = Vec::new();
    if !game.outcomes(state, &mut outcomes) {
        return None;
    }
    let next = state_after(game, state, &outcomes.first()?.0);
    matches!(game.turn(&next), Turn::Player(_)).then(|| game.position_text(&next))
}

/// The refusal of a position before a chance event; `untold` says that nobody is known to have acted last.
fn chance_next<G: Kit>(game: &G, state: &G::State, position: &str, untold: bool) -> OpenError {
    let why = match untold && game.zero_sum() && *state != game.start() {
        true => ", and the game does not tell who acted last (`just_acted`)",
        false => "",
    };
    let such = after_chance(game, state).map_or_else(String::new, |text| format!(", such as `{text}`"));
    OpenError::Unknown(format!(
        "`{position}`: a chance event comes next{why}; give a position with a player to move{such}"
    ))
}

/// Checks that the player to move knows all that a decision needs.
fn complete<G: Kit>(game: &G, state: &G::State, player: usize, text: &str) -> Result<(), OpenError> {
    match game.texts().missing(game, state, player) {
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
pub fn read<G: Kit>(game: &G, texts: &[impl AsRef<str>]) -> Result<Vec<ParsedPosition<G>>, OpenError> {
    let read = |text: &str| game.parse_position(text).map_err(OpenError::from);
    texts.iter().map(|text| read(text.as_ref())).collect()
}

/// The exact result of a finished game for the player who would move next, or for player 0 if that is not known.
pub(super) fn over<G: Kit>(game: &G, state: &G::State) -> f32 {
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
    positions: &[ParsedPosition<G>],
    values: &mut Vec<f32>,
) -> Result<(), OpenError> {
    if bound.model.head().is_policy() {
        let message = "this checkpoint outputs policy logits, not values; request the moves";
        return Err(OpenError::Unknown(message.into()));
    }
    let encoder = bound.encoder().clone();
    let mut found = Successors::new(game, &*bound.model);
    let mut parts = Vec::with_capacity(positions.len());
    for (state, last) in positions {
        parts.push(match game.turn(state) {
            Turn::Over => Part::Exact(over(game, state)),
            Turn::Chance if game.hides() || !game.zero_sum() => {
                let text = game.position_text(state);
                return Err(OpenError::Unknown(format!(
                    "`{text}`: a chance event comes next; give a position with a player to move"
                )));
            }
            Turn::Chance => {
                let player = mover(game, bound, state, last.is_some())?;
                let after = Afterstate { state, action: last.as_ref(), player };
                Part::Negated(found.push(&*encoder, game, after))
            }
            Turn::Player(player) => {
                if game.hides() {
                    complete(game, state, player, &game.position_text(state))?;
                }
                let first = found.values.len();
                found.list(&*encoder, Decision::new(game, state, player));
                Part::Best(first..found.values.len())
            }
        });
    }
    found.evaluate(&mut *bound.model);
    // NaN propagates, so that divergence cannot hide behind another move.
    let best = |a: f32, b: f32| if b.is_nan() || b > a { b } else { a };
    let value = |part| match part {
        Part::Exact(value) => value,
        Part::Negated(row) => -found.row_values()[row],
        Part::Best(range) => found.values[range].iter().copied().reduce(best).unwrap_or(0.0),
    };
    values.clear();
    values.extend(parts.into_iter().map(value));
    Ok(())
}

/// Where the value of a position is.
enum Part {
    Exact(f32),
    /// In this row, for the other player.
    Negated(usize),
    /// The highest of these.
    Best(Range<usize>),
}

/// Replaces `rows` by the rows of these positions, for the player who just moved, or as whom a network of another rule set sees
/// the position.
///
/// # Errors
/// [`OpenError::Unknown`] if the last player, or a last move that the encoder needs, is not known, and if outputs for rows are no values of
/// positions.
pub fn encode<G: Kit>(
    game: &G,
    bound: &GameModel<G>,
    positions: &[ParsedPosition<G>],
    rows: &mut Rows,
) -> Result<(), OpenError> {
    rows.clear();
    if game.hides() {
        return Err(hides(game));
    }
    if bound.encoder().derives() {
        return Err(OpenError::Unknown(format!(
            "rows of the encoder `{}` are no rows of positions, whose values follow from several outputs: ask for values",
            bound.encoder().name()
        )));
    }
    let adapted = game.results().adapted.filter(|_| bound.model.head().classes().is_some());
    for (state, last) in positions {
        let mover = mover(game, bound, state, last.is_some())?;
        let player = adapted.as_ref().map_or(mover, |adapted| (adapted.viewer)(game, state, mover));
        bound.encoder().encode(game, Afterstate { state, action: last.as_ref(), player }, rows.push());
    }
    Ok(())
}

/// A legal move and its value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Choice {
    /// The move as people write it.
    pub action: String,
    /// The position after it.
    pub after: String,
    /// Value for the player who makes the move, in the range of the network; exact if the move ends the game.
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
    bound.values(Decision::new(game, &state, player), &actions, &mut found);
    let choice = |(action, &value): (&G::Action, &f32)| {
        let after = state_after(game, &state, action);
        let text = game.texts().afterstate(game, &after, Some(action));
        Choice { action: game.action_text(&state, action), after: text, value }
    };
    let mut choices: Vec<Choice> = actions.iter().zip(&found).map(choice).collect();
    sort_by_highest(&mut choices, &|choice| choice.value.into());
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
