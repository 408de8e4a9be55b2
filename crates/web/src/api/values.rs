//! What agents think of positions.

use super::{Answer, Sent, Shared, short};
use crate::fault::Fault;
use crate::limits;
use adept_arena::inspect::PositionValue;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;
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

/// Values positions and their moves, as `adept value --json`.
#[utoipa::path(post, path = "/api/v1/evaluate", request_body = Evaluate,
    responses((status = 200, description = "`values`, one for each position", body = Value), (status = 422, description = "Not a position", body = Value)))]
pub(crate) async fn evaluate(State(app): Shared, Sent(asked): Sent<Evaluate>) -> Answer {
    if asked.positions.len() > limits::POSITIONS {
        let most = limits::POSITIONS;
        return Err(Fault::request(format!("at most {most} positions fit into one request")));
    }
    asked.positions.iter().try_for_each(|text| short(text, "a position"))?;
    let shared = app.clone();
    let values = app
        .compute
        .run(move || {
            let (found, agent) = shared.shelf.agent(&asked.agent, asked.game.as_deref())?;
            let until = Instant::now() + limits::PATIENCE;
            let value = |text: &String| {
                let late =
                    || Fault::busy("so many positions take too long: ask for fewer, or look less far ahead");
                let value = found.room.value(&agent, text, until)?;
                if Instant::now() < until { Ok(value) } else { Err(late()) }
            };
            asked.positions.iter().map(value).collect::<Result<Vec<_>, _>>()
        })
        .await?;
    Ok(Json(json!({ "values": values })))
}

/// A position whose moves are wanted.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moves {
    /// An agent that has values, such as `small-88-24` or `search:2:small-88-24`.
    agent: String,
    /// The game, for agents that are not checkpoints.
    game: Option<String>,
    /// A position in any text form of the game.
    position: String,
    /// A roll, if the position has none, such as `31`.
    dice: Option<String>,
}

/// Legal moves of a position, best first, as `adept moves --json`.
#[utoipa::path(post, path = "/api/v1/moves", request_body = Moves,
    responses((status = 200, description = "`position`, `to_move` and `moves`", body = Value), (status = 422, description = "Not a position with a player to move", body = Value)))]
pub(crate) async fn moves(State(app): Shared, Sent(asked): Sent<Moves>) -> Answer {
    short(&asked.position, "the position")?;
    let position = match &asked.dice {
        Some(dice) => format!("{} {dice}", asked.position.trim()),
        None => asked.position,
    };
    short(&position, "the position")?;
    let shared = app.clone();
    let found = app
        .compute
        .run(move || {
            let (found, agent) = shared.shelf.agent(&asked.agent, asked.game.as_deref())?;
            with_moves(found.room.value(&agent, &position, Instant::now() + limits::PATIENCE)?)
        })
        .await?;
    Ok(Json(json!({ "position": found.position, "to_move": found.to_move, "moves": found.moves })))
}

/// Refuses positions in which nobody is to move.
pub(crate) fn with_moves(found: PositionValue) -> Result<PositionValue, Fault> {
    let refuse = |why: String| {
        Err(Fault::new(
            axum::http::StatusCode::UNPROCESSABLE_ENTITY,
            "game",
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
