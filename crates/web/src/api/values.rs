//! Values of positions and moves.

use super::{App, JsonBody, Shared, answers, short, written};
use crate::fault::{Fault, Kind};
use crate::limits;
use crate::registry::OpenGame;
use adept_arena::inspect::{Detail, MoveValue, PositionValue, Searched};
use adept_play::AgentText;
use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Instant;
use utoipa::ToSchema;

/// Positions to value.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evaluate {
    /// An agent that has values, such as `small-88-24` or `search:2:small-88-24`.
    agent: String,
    /// The game, for agents that are not checkpoints.
    game: Option<String>,
    /// Positions in any text form of the game.
    positions: Vec<String>,
}

/// Evaluates positions and their moves, as `adept value --json`.
#[utoipa::path(post, path = "/api/v1/evaluate", request_body = Evaluate,
    responses((status = 200, description = "`values`, one for each position", body = answers::Values), (status = 422, description = "Not a position", body = answers::Refused)))]
pub(crate) async fn evaluate(
    State(app): Shared,
    JsonBody(asked): JsonBody<Evaluate>,
) -> Result<Response, Fault> {
    few(&asked.positions)?;
    asked.positions.iter().try_for_each(|text| short(text, "a position"))?;
    let values = move |app: &Arc<App>| {
        let (found, agent) = app.registry.agent(&asked.agent, asked.game.as_deref())?;
        in_time(&asked.positions, |text, until| {
            Ok(found.room.value(&agent, text, Detail::default(), until)?)
        })
    };
    written(&Values { values: app.run(values).await? })
}

/// An agent's values of several positions.
#[derive(Serialize)]
struct Values {
    values: Vec<PositionValue>,
}

/// A position, or several, whose moves are requested.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moves {
    /// An agent that has values, such as `small-88-24` or `search:2:small-88-24`.
    agent: String,
    /// The game, for agents that are not checkpoints.
    game: Option<String>,
    /// A position in any text form of the game.
    position: Option<String>,
    /// Several positions instead of one, for programs that need thousands of moves per second.
    positions: Option<Vec<String>>,
    /// A roll, if positions have none, such as `31`.
    dice: Option<String>,
    /// Largest number of moves per position, best first. Default: all.
    count: Option<usize>,
    /// Whether to include gates and experts for a single position. Default: true.
    experts: Option<bool>,
}

/// The moves of a position.
#[derive(Serialize)]
struct Decision {
    position: String,
    to_move: Option<usize>,
    moves: Vec<MoveValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Searched>,
}

/// The moves of one of several positions, without the fields that only the page shows.
#[derive(Serialize)]
struct Short {
    position: String,
    to_move: Option<usize>,
    moves: Vec<ShortMove>,
    #[serde(skip_serializing_if = "Option::is_none")]
    search: Option<Searched>,
}

#[derive(Serialize)]
struct ShortMove {
    #[serde(rename = "move")]
    action: String,
    afterstate: String,
    value: f32,
    equity: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ci95: Option<f64>,
    /// In the order of `class_names`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<f32>,
}

impl Short {
    fn new(found: PositionValue) -> Self {
        let PositionValue { position, to_move, moves, search, .. } = found;
        let short = |found: MoveValue| {
            let MoveValue { action, afterstate, equity, ci95, chances, explanation, .. } = found;
            let outcomes = chances.0.into_iter().map(|(_, p)| p).collect();
            ShortMove { action, afterstate, value: explanation.value, equity, ci95, outcomes }
        };
        Self { position, to_move, moves: moves.into_iter().map(short).collect(), search }
    }
}

/// Returns the legal moves of a position, best first, as `adept moves --json`. For several positions, returns
/// `decisions`: the moves of each with only `move`, `afterstate`, `value`, `equity`, and, as `outcomes`, the
/// probability of each of the `class_names`.
#[utoipa::path(post, path = "/api/v1/moves", request_body = Moves,
    responses((status = 200, description = "`position`, `to_move` and `moves`; for `positions` a list of these, `decisions`, and `class_names`", body = answers::MovesFound), (status = 422, description = "Not a position with a player to move", body = answers::Refused)))]
pub(crate) async fn moves(State(app): Shared, JsonBody(asked): JsonBody<Moves>) -> Result<Response, Fault> {
    let with_dice = |position: String| {
        short(&position, "a position")?;
        let position = match &asked.dice {
            Some(dice) => format!("{} {dice}", position.trim()),
            None => position,
        };
        short(&position, "a position").map(|()| position)
    };
    let detail = Detail {
        experts: asked.experts.unwrap_or(true) && asked.positions.is_none(),
        moves: asked.count.unwrap_or(usize::MAX).max(1),
        ..Detail::default()
    };
    let decide = move |found: &OpenGame, agent: &AgentText, position: &str, until| {
        with_moves(found.room.value(agent, position, detail, until)?)
    };
    match (asked.position, asked.positions) {
        (Some(position), None) => {
            let position = with_dice(position)?;
            let one = move |found: &OpenGame, agent: &AgentText| {
                let value = decide(found, agent, &position, Instant::now() + limits::PATIENCE)?;
                let PositionValue { position, to_move, moves, search, .. } = value;
                written(&Decision { position, to_move, moves, search })
            };
            app.ask((asked.agent, asked.game), detail, one).await
        }
        (None, Some(positions)) => {
            few(&positions)?;
            let positions = positions.into_iter().map(with_dice).collect::<Result<Vec<_>, _>>()?;
            let all = move |app: &Arc<App>| {
                let (found, agent) = app.registry.agent(&asked.agent, asked.game.as_deref())?;
                let mut class_names = Vec::new();
                let decisions = in_time(&positions, |text, until| {
                    let mut value = decide(&found, &agent, text, until)?;
                    class_names = std::mem::take(&mut value.classes);
                    Ok(Short::new(value))
                })?;
                written(&Decisions { class_names, decisions })
            };
            app.run(all).await
        }
        _ => Err(Fault::request("give a `position`, or `positions`")),
    }
}

/// The moves of several positions.
#[derive(Serialize)]
struct Decisions {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    class_names: Vec<String>,
    decisions: Vec<Short>,
}

fn few(positions: &[String]) -> Result<(), Fault> {
    let most = limits::POSITIONS;
    match positions.len() <= most {
        true => Ok(()),
        false => Err(Fault::request(format!("at most {most} positions fit into one request"))),
    }
}

/// Results for each text until time runs out.
fn in_time<T>(
    texts: &[String],
    mut find: impl FnMut(&str, Instant) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let until = Instant::now() + limits::PATIENCE;
    let one = |text: &String| {
        let found = find(text, until)?;
        match Instant::now() < until {
            true => Ok(found),
            false => {
                Err(Fault::busy("these positions take too long: ask for fewer, or for a shallower search"))
            }
        }
    };
    texts.iter().map(one).collect()
}

/// Refuses positions without a player to move.
pub(crate) fn with_moves(found: PositionValue) -> Result<PositionValue, Fault> {
    let refuse = |why: String| {
        Err(Fault::new(
            axum::http::StatusCode::UNPROCESSABLE_ENTITY,
            Kind::Game,
            format!("`{}`: {why}", found.position),
        ))
    };
    match (&found.next, found.to_move) {
        _ if !found.moves.is_empty() => Ok(found),
        (_, None) => refuse("the game is over, so there are no moves".into()),
        (Some(next), _) => refuse(format!("a chance event comes first, such as a roll: `{next}`")),
        (None, _) => refuse("a chance event comes first: give a position with a player to move".into()),
    }
}
