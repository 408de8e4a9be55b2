//! Games of a person against an agent.

use super::answers::{Analysis, Done, Hints, Play, Refused};
use super::{Answer, App, Id, JsonBody, QueryParams, Shared, short};
use crate::client::Client;
use crate::fault::{Fault, Kind};
use crate::limits;
use adept_play::{AnyPlay, View};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rand::RngExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::ToSchema;

/// A game to start.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Begin {
    /// A game.
    game: String,
    /// The agent in all other seats.
    opponent: String,
    /// The person's seat, from 1.
    #[serde(default = "first")]
    seat: usize,
    /// Seed of the dice and of the agent's random draws.
    seed: Option<u64>,
    /// The starting position; by default the start of the game.
    from: Option<String>,
}

fn first() -> usize {
    1
}

/// Starts a game.
#[utoipa::path(post, path = "/api/v1/plays", operation_id = "begin_play", request_body = Begin,
    responses((status = 201, description = "The game as the person sees it, with its `id`", body = Play), (status = 429, description = "The client plays too many games", body = Refused), (status = 503, description = "Too many games", body = Refused)))]
pub(crate) async fn begin(
    State(app): Shared,
    client: Client,
    JsonBody(asked): JsonBody<Begin>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    let from = asked.from.as_deref().unwrap_or_default();
    short(from, "the position")?;
    let seat = asked.seat.checked_sub(1).ok_or_else(|| Fault::request("seats are counted from 1"))?;
    // JavaScript represents integers exactly up to 2⁵³.
    let seed = asked.seed.unwrap_or_else(|| rand::rng().random_range(0..1 << 32));
    app.run(move |app| {
        let (found, agent) = app.registry.agent(&asked.opponent, Some(&asked.game))?;
        let mut play = found.room.begin(&agent, seat, seed, asked.from.as_deref())?;
        play.go_on()?;
        let view = play.view();
        let (id, _) = app.plays.add(client, play)?;
        Ok((StatusCode::CREATED, Json(shown(app, &id, view))))
    })
    .await
}

/// A game with its `id`, with names as in requests.
fn shown(app: &App, id: &str, view: View) -> Value {
    let mut shown = json!(View { game: app.registry.files.name_of(&view.game), ..view });
    shown["id"] = id.into();
    shown
}

/// Calls `f` with exclusive access to a game.
async fn with_play(
    app: Arc<App>,
    id: String,
    f: impl FnOnce(&App, &mut dyn AnyPlay) -> Result<Value, Fault> + Send + 'static,
) -> Answer {
    let waits = tokio::time::timeout(limits::ANSWERING, app.plays.get(&id)?.lock_owned());
    let mut play =
        waits.await.map_err(|_| Fault::busy("other requests for this game take long: ask again later"))?;
    app.run(move |app| f(app, &mut **play)).await.map(Json)
}

/// Returns a game from the person's view.
#[utoipa::path(get, path = "/api/v1/plays/{id}", operation_id = "look_at_play", params(("id" = String, Path)),
    responses((status = 200, description = "The game", body = Play), (status = 404, description = "No such game", body = Refused)))]
pub(crate) async fn look(State(app): Shared, Id(id): Id) -> Answer {
    with_play(app, id.clone(), move |app, play| Ok(shown(app, &id, play.view()))).await
}

/// Ends and deletes a game.
#[utoipa::path(delete, path = "/api/v1/plays/{id}", operation_id = "leave_play", params(("id" = String, Path)),
    responses((status = 200, description = "The game is deleted", body = Done)))]
pub(crate) async fn leave(State(app): Shared, Id(id): Id) -> Answer {
    app.plays.remove(&id)?;
    Ok(Json(json!({})))
}

/// A move.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Act {
    /// A legal move as text.
    #[serde(rename = "move")]
    action: String,
    /// The `turn` of the game that the person saw: the game must not have advanced since.
    turn: Option<u64>,
}

/// Makes a move, and the replies of chance and the agent.
#[utoipa::path(post, path = "/api/v1/plays/{id}/moves", operation_id = "move_in_play", params(("id" = String, Path)), request_body = Act,
    responses((status = 200, description = "The game", body = Play), (status = 409, description = "The game has advanced meanwhile", body = Refused), (status = 422, description = "Not a legal move", body = Refused)))]
pub(crate) async fn act(State(app): Shared, Id(id): Id, JsonBody(asked): JsonBody<Act>) -> Answer {
    short(&asked.action, "the move")?;
    with_play(app, id.clone(), move |app, play| {
        if asked.turn.is_some_and(|turn| turn != play.turn()) {
            return Err(Fault::new(
                StatusCode::CONFLICT,
                Kind::Game,
                "the game has advanced meanwhile: load it again",
            ));
        }
        play.act(&asked.action)?;
        play.go_on()?;
        Ok(shown(app, &id, play.view()))
    })
    .await
}

/// Undoes the person's last move and the replies.
#[utoipa::path(post, path = "/api/v1/plays/{id}/undo", operation_id = "undo_in_play", params(("id" = String, Path)),
    responses((status = 200, description = "The game", body = Play)))]
pub(crate) async fn undo(State(app): Shared, Id(id): Id) -> Answer {
    with_play(app, id.clone(), move |app, play| {
        play.undo()?;
        Ok(shown(app, &id, play.view()))
    })
    .await
}

/// A resignation.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Resign {
    /// A class of lost games; by default the smallest loss.
    class: Option<String>,
}

/// Resigns. A match goes on with its next game.
#[utoipa::path(post, path = "/api/v1/plays/{id}/resign", operation_id = "resign_play", params(("id" = String, Path)), request_body = Resign,
    responses((status = 200, description = "The game, which is over unless it is a match that goes on", body = Play)))]
pub(crate) async fn resign(State(app): Shared, Id(id): Id, JsonBody(asked): JsonBody<Resign>) -> Answer {
    with_play(app, id.clone(), move |app, play| {
        play.resign(asked.class.as_deref())?;
        play.go_on()?;
        Ok(shown(app, &id, play.view()))
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct By {
    by: Option<String>,
}

/// Returns an agent's hints about the person's moves, based on the person's knowledge.
#[utoipa::path(get, path = "/api/v1/plays/{id}/hints", operation_id = "hints_in_play", params(("id" = String, Path), ("by" = Option<String>, Query, description = "An agent, by default the opponent")),
    responses((status = 200, description = "`value` as `adept value --json`, and `text`", body = Hints)))]
pub(crate) async fn hints(State(app): Shared, Id(id): Id, QueryParams(asked): QueryParams<By>) -> Answer {
    with_play(app, id, move |app, play| {
        let game = app.registry.files.name_of(&play.game());
        let by = asked.by.map(|by| app.registry.agent(&by, Some(&game))).transpose()?;
        Ok(json!(play.hints(by.as_ref().map(|(_, agent)| agent))?))
    })
    .await
}

/// Returns the loss of each decision of a finished game and the luck of each player.
#[utoipa::path(get, path = "/api/v1/plays/{id}/analysis", operation_id = "analyse_play", params(("id" = String, Path), ("by" = Option<String>, Query, description = "An agent that has values; by default exact values if there are some, otherwise the opponent")),
    responses((status = 200, description = "`players`, `decisions` and `rolls`", body = Analysis)))]
pub(crate) async fn analysis(State(app): Shared, Id(id): Id, QueryParams(asked): QueryParams<By>) -> Answer {
    with_play(app, id, move |app, play| {
        let game = app.registry.files.name_of(&play.game());
        let by = match asked.by {
            Some(by) => by,
            None => app.registry.judge(&game, play.opponent())?,
        };
        let (_, by) = app.registry.agent(&by, Some(&game))?;
        Ok(json!(play.analysis(&by)?))
    })
    .await
}
