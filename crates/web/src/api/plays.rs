//! Games of a person against an agent.

use super::answers::{Analysis, Done, Hints, Play, PlayHistory, PlayRecord, Refused};
use super::{Answer, App, Id, JsonBody, QueryParams, Shared, runs, short};
use crate::archive::{Archive, is_id, unusable};
use crate::client::Client;
use crate::fault::{Fault, Kind};
use crate::limits;
use crate::plays::{self, fresh_id, missing};
use adept_arena::naming::AgentSpec;
use adept_play::{AnyPlay, Record, View};
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use rand::RngExt;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::OwnedMutexGuard;
use utoipa::ToSchema;

/// A game to start, or to restore from its record.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Begin {
    /// A game.
    game: Option<String>,
    /// The agent in all other seats.
    opponent: Option<String>,
    /// The person's seat, from 1; by default 1.
    seat: Option<usize>,
    /// Seed of the dice and of the agent's random draws.
    seed: Option<u64>,
    /// The starting position; by default the start of the game.
    from: Option<String>,
    /// The `record` of a game, instead of all this.
    #[schema(value_type = Option<PlayRecord>)]
    record: Option<Record>,
    /// The `id` that the game of the record had, so that its address stays; by default a new one.
    id: Option<String>,
}

/// Starts a game, or restores one that the server no longer has.
#[utoipa::path(post, path = "/api/v1/plays", operation_id = "begin_play", request_body = Begin,
    responses((status = 201, description = "The game as the person sees it, with its `id`", body = Play), (status = 409, description = "The server has the game of this `id`, and no later copy was sent", body = Refused), (status = 422, description = "The record leads to another position", body = Refused), (status = 429, description = "The client plays too many games", body = Refused), (status = 503, description = "Too many games", body = Refused)))]
pub(crate) async fn begin(
    State(app): Shared,
    client: Client,
    JsonBody(asked): JsonBody<Begin>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    let from = asked.from.as_deref().unwrap_or_default();
    short(from, "the position")?;
    if let Some(record) = asked.record {
        let texts = [&asked.game, &asked.opponent, &asked.from];
        if texts.into_iter().any(Option::is_some) || asked.seat.is_some() || asked.seed.is_some() {
            return Err(Fault::request("a `record` says all of the game: leave the rest out"));
        }
        return restore(app, client, record, asked.id).await;
    }
    if asked.id.is_some() {
        return Err(Fault::request("an `id` belongs to a `record`"));
    }
    let (Some(game), Some(opponent)) = (asked.game, asked.opponent) else {
        return Err(Fault::request("name a `game` and an `opponent`, or send a `record`"));
    };
    let seat = asked.seat.unwrap_or(1);
    let seat = seat.checked_sub(1).ok_or_else(|| Fault::request("seats are counted from 1"))?;
    // JavaScript represents integers exactly up to 2⁵³.
    let seed = asked.seed.unwrap_or_else(|| rand::rng().random_range(0..1 << 32));
    app.run(move |app| {
        let (found, agent) = app.registry.agent(&opponent, Some(&game))?;
        let mut play = found.room.begin(&agent, seat, seed, asked.from.as_deref())?;
        play.go_on()?;
        added(app, client, &fresh_id(), play)
    })
    .await
}

/// Restores a game from a client's copy, unless the server has it.
async fn restore(
    app: Arc<App>,
    client: Client,
    record: Record,
    id: Option<String>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    for text in [Some(&record.position), record.from.as_ref()].into_iter().flatten().chain(&record.actions) {
        short(text, "a text of the record")?;
    }
    if let Some(id) = &id {
        if !is_id(id) {
            return Err(Fault::request("this is not an `id` of a game"));
        }
        match opened(&app, client, id).await {
            Ok(play) => {
                let held = held(&app, id, play).await?;
                return replace(app, client, id.clone(), held, record).await;
            }
            // A file that is damaged, or leads elsewhere, is no reason to refuse a good copy; a later file is.
            Err(fault) if fault.status == StatusCode::GONE => {
                let (id, turn) = (id.clone(), record.turn);
                let load =
                    move |app: &Arc<App>| Ok(app.archive.as_ref().and_then(|archive| archive.load(&id)));
                if let Some(Ok(stored)) = app.clone().run(load).await?
                    && stored.turn > turn
                {
                    return Err(fault);
                }
            }
            Err(fault) if fault.status == StatusCode::NOT_FOUND => {}
            Err(fault) => return Err(fault),
        }
    }
    app.run(move |app| {
        let play = repeated(app, &record)?;
        added(app, client, &id.unwrap_or_else(fresh_id), play)
    })
    .await
}

/// Replaces a game by a later copy of it: a machine that failed may have lost the last moves.
async fn replace(
    app: Arc<App>,
    client: Client,
    id: String,
    mut held: OwnedMutexGuard<Box<dyn AnyPlay>>,
    record: Record,
) -> Result<(StatusCode, Json<Value>), Fault> {
    app.run(move |app| {
        let here = as_asked(app, held.record());
        let is_same = |a: &Record, b: &Record| (&a.game, a.seed, a.seat) == (&b.game, b.seed, b.seat);
        if here.turn >= record.turn || !is_same(&here, &record) {
            return Err(already_there());
        }
        *held = repeated(app, &record)?;
        Ok((StatusCode::CREATED, Json(saved(app, client, &id, &**held))))
    })
    .await
}

fn already_there() -> Fault {
    Fault::new(StatusCode::CONFLICT, Kind::Game, "the server has this game: load it again")
}

/// Holds a new game of this server, and writes it to its file.
fn added(
    app: &App,
    client: Client,
    id: &str,
    play: Box<dyn AnyPlay>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    let play = app.plays.add(client, id, play)?.ok_or_else(already_there)?;
    // A request that knows the identifier of a restored game must not come between.
    let play = play.blocking_lock();
    Ok((StatusCode::CREATED, Json(saved(app, client, id, &**play))))
}

/// Plays a game of a record again.
fn repeated(app: &App, record: &Record) -> Result<Box<dyn AnyPlay>, Fault> {
    let opponent = || app.registry.agent(&record.opponent, Some(&record.game));
    let (found, agent) = opponent().or_else(|fault| {
        // A run that became an agent before the server was restarted, perhaps behind prefixes such as `search:2:`.
        let spec = AgentSpec::parse(&record.opponent).map_err(|_| fault.clone())?;
        let names = [Some(spec.name()), spec.screen().map(|screen| &*screen.name)];
        let add = |name: &str| runs::found(app, name).is_ok_and(|run| app.registry.add_run(name, &run.run));
        let is_added = fault.status == StatusCode::NOT_FOUND
            && names.into_iter().flatten().map(add).fold(false, |any, added| any | added);
        if is_added { opponent() } else { Err(fault) }
    })?;
    let mut play = found.room.restore(&agent, record)?;
    // The server may have ended before the answer to the last move.
    play.go_on()?;
    Ok(play)
}

/// A game in memory, or from its file.
async fn opened(app: &Arc<App>, client: Client, id: &str) -> Result<plays::Shared, Fault> {
    if let Some(play) = app.plays.get(id) {
        return Ok(play);
    }
    if app.archive.is_none() || !is_id(id) {
        return Err(missing(id));
    }
    let id = id.to_string();
    let load = move |app: &Arc<App>| {
        let stored = app.archive.as_ref().and_then(|archive| archive.load(&id));
        let record = stored.ok_or_else(|| missing(&id))??;
        let play = repeated(app, &record).map_err(|fault| match (fault.status, fault.kind) {
            // The agent cannot be opened now.
            (StatusCode::UNPROCESSABLE_ENTITY, Kind::Name) => fault,
            (status, _) if status.is_server_error() => fault,
            _ => unusable(format!("this game cannot go on: {}", fault.message)),
        })?;
        match app.plays.add(client, &id, play)? {
            Some(play) if app.archive.as_ref().is_some_and(|archive| archive.has(&id)) => Ok(play),
            // It was deleted meanwhile.
            Some(_) => {
                app.plays.remove(&id);
                Err(missing(&id))
            }
            // Another request was faster.
            None => app.plays.get(&id).ok_or_else(|| missing(&id)),
        }
    };
    app.clone().run(load).await
}

/// Writes a game to its file, under names as in requests.
fn save(app: &App, client: Client, id: &str, record: Record) {
    if let Some(archive) = &app.archive {
        archive.save(client, id, &as_asked(app, record));
    }
}

/// Writes a game to its file, and shows it.
fn saved(app: &App, client: Client, id: &str, play: &dyn AnyPlay) -> Value {
    let view = play.view();
    save(app, client, id, view.record.clone().unwrap_or_else(|| play.record()));
    shown(app, id, view)
}

fn as_asked(app: &App, record: Record) -> Record {
    Record { game: app.registry.files.name_of(&record.game), ..record }
}

/// A game with its `id`, with names as in requests.
fn shown(app: &App, id: &str, mut view: View) -> Value {
    view.game = app.registry.files.name_of(&view.game);
    view.record = view.record.map(|record| as_asked(app, record));
    let mut shown = json!(view);
    shown["id"] = id.into();
    shown["stored"] = app.archive.as_ref().is_some_and(Archive::works).into();
    shown
}

/// Exclusive access to a game.
async fn held(app: &App, id: &str, play: plays::Shared) -> Result<OwnedMutexGuard<Box<dyn AnyPlay>>, Fault> {
    let waits = tokio::time::timeout(limits::ANSWERING, play.clone().lock_owned());
    let held =
        waits.await.map_err(|_| Fault::busy("other requests for this game take long: ask again later"))?;
    // It may have been deleted meanwhile.
    if app.plays.holds(id, &play) { Ok(held) } else { Err(missing(id)) }
}

/// Calls `f` with exclusive access to a game.
async fn with_play(
    app: Arc<App>,
    client: Client,
    id: String,
    f: impl FnOnce(&App, &mut dyn AnyPlay) -> Result<Value, Fault> + Send + 'static,
) -> Answer {
    let play = opened(&app, client, &id).await?;
    let mut play = held(&app, &id, play).await?;
    app.run(move |app| f(app, &mut **play)).await.map(Json)
}

/// Changes a game, and writes it to its file before it answers with the game.
async fn change(
    app: Arc<App>,
    client: Client,
    id: String,
    f: impl FnOnce(&mut dyn AnyPlay) -> Result<(), Fault> + Send + 'static,
) -> Answer {
    with_play(app, client, id.clone(), move |app, play| {
        let before = play.turn();
        let done = f(play);
        match done {
            Ok(()) if play.turn() == before => Ok(shown(app, &id, play.view())),
            Ok(()) => Ok(saved(app, client, &id, play)),
            Err(fault) => {
                // What was done before a fault stays.
                if play.turn() != before {
                    save(app, client, &id, play.record());
                }
                Err(fault)
            }
        }
    })
    .await
}

/// Returns a game from the person's view.
#[utoipa::path(get, path = "/api/v1/plays/{id}", operation_id = "look_at_play", params(("id" = String, Path)),
    responses((status = 200, description = "The game", body = Play), (status = 404, description = "No such game", body = Refused), (status = 410, description = "Its file is damaged, or the rules or the opponent are no longer the same", body = Refused)))]
pub(crate) async fn look(State(app): Shared, client: Client, Id(id): Id) -> Answer {
    with_play(app, client, id.clone(), move |app, play| Ok(shown(app, &id, play.view()))).await
}

/// Ends and deletes a game.
#[utoipa::path(delete, path = "/api/v1/plays/{id}", operation_id = "leave_play", params(("id" = String, Path)),
    responses((status = 200, description = "The game is deleted", body = Done), (status = 503, description = "Its file cannot be deleted", body = Refused)))]
pub(crate) async fn leave(State(app): Shared, Id(id): Id) -> Answer {
    let play = app.plays.get(&id);
    let was_there = play.is_some();
    // A request that is still answered must not write the file again.
    let held = match play {
        Some(play) => Some(held(&app, &id, play).await?),
        None => None,
    };
    app.run(move |app| {
        // The file first: a request that reads it meanwhile looks again whether it is there.
        let was_stored = app.archive.as_ref().map_or(Ok(false), |archive| archive.remove(&id))?;
        app.plays.remove(&id);
        drop(held);
        if was_there || was_stored { Ok(Json(json!({}))) } else { Err(missing(&id)) }
    })
    .await
}

/// Returns a game as text that repeats it: `POST /plays` takes it.
#[utoipa::path(get, path = "/api/v1/plays/{id}/record", operation_id = "record_of_play", params(("id" = String, Path)),
    responses((status = 200, description = "The record", body = PlayRecord), (status = 422, description = "The game hides something, and is not over", body = Refused)))]
pub(crate) async fn record(State(app): Shared, client: Client, Id(id): Id) -> Answer {
    with_play(app, client, id, move |app, play| match play.open_record() {
        Some(record) => Ok(json!(as_asked(app, record))),
        None => Err(hidden()),
    })
    .await
}

fn hidden() -> Fault {
    let message = "the game hides something from you: its record is told when it is over";
    Fault::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Game, message)
}

/// Returns a game in the usual format of its kind, such as `.mat` of backgammon.
#[utoipa::path(get, path = "/api/v1/plays/{id}/history", operation_id = "history_of_play", params(("id" = String, Path)),
    responses((status = 200, description = "`text`, and the `suffix` of such files", body = PlayHistory), (status = 422, description = "There is no such format, or the game hides something and is not over", body = Refused)))]
pub(crate) async fn history(State(app): Shared, client: Client, Id(id): Id) -> Answer {
    with_play(app, client, id, move |_, play| match play.history()? {
        Some(history) => Ok(json!(history)),
        None => {
            let message = "there is no such file of this game, or none before it is over";
            Err(Fault::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Game, message))
        }
    })
    .await
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
pub(crate) async fn act(
    State(app): Shared,
    client: Client,
    Id(id): Id,
    JsonBody(asked): JsonBody<Act>,
) -> Answer {
    short(&asked.action, "the move")?;
    change(app, client, id, move |play| {
        if asked.turn.is_some_and(|turn| turn != play.turn()) {
            return Err(Fault::new(
                StatusCode::CONFLICT,
                Kind::Game,
                "the game has advanced meanwhile: load it again",
            ));
        }
        play.act(&asked.action)?;
        Ok(play.go_on()?)
    })
    .await
}

/// Undoes the person's last move and the replies.
#[utoipa::path(post, path = "/api/v1/plays/{id}/undo", operation_id = "undo_in_play", params(("id" = String, Path)),
    responses((status = 200, description = "The game", body = Play)))]
pub(crate) async fn undo(State(app): Shared, client: Client, Id(id): Id) -> Answer {
    change(app, client, id, move |play| Ok(play.undo()?)).await
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
pub(crate) async fn resign(
    State(app): Shared,
    client: Client,
    Id(id): Id,
    JsonBody(asked): JsonBody<Resign>,
) -> Answer {
    change(app, client, id, move |play| {
        play.resign(asked.class.as_deref())?;
        Ok(play.go_on()?)
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
pub(crate) async fn hints(
    State(app): Shared,
    client: Client,
    Id(id): Id,
    QueryParams(asked): QueryParams<By>,
) -> Answer {
    with_play(app, client, id, move |app, play| {
        let game = app.registry.files.name_of(&play.game());
        let by = asked.by.map(|by| app.registry.agent(&by, Some(&game))).transpose()?;
        Ok(json!(play.hints(by.as_ref().map(|(_, agent)| agent))?))
    })
    .await
}

/// Returns the loss of each decision of a finished game and the luck of each player.
#[utoipa::path(get, path = "/api/v1/plays/{id}/analysis", operation_id = "analyse_play", params(("id" = String, Path), ("by" = Option<String>, Query, description = "An agent that has values; by default exact values if there are some, otherwise the opponent")),
    responses((status = 200, description = "`players` and `steps`", body = Analysis)))]
pub(crate) async fn analysis(
    State(app): Shared,
    client: Client,
    Id(id): Id,
    QueryParams(asked): QueryParams<By>,
) -> Answer {
    with_play(app, client, id, move |app, play| {
        let game = app.registry.files.name_of(&play.game());
        let by = match asked.by {
            Some(by) => by,
            None => app.registry.judge(&game, play.opponent())?,
        };
        let (_, by) = app.registry.agent(&by, Some(&game))?;
        let mut found = json!(play.analysis(&by)?);
        found["game"] = game.into();
        Ok(found)
    })
    .await
}
