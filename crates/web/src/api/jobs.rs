//! Rollouts and deep searches.

use super::answers::{Begun, Done, Refused};
use super::values::with_moves;
use super::{Answer, App, Id, JsonBody, Shared, short};
use crate::client::{Client, Stream as Open};
use crate::fault::Fault;
use crate::jobs::{self, Report};
use crate::limits;
use adept_arena::inspect::Detail;
use adept_lab::rollouts::RolloutOptions;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::{Stream, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::time::{Duration, Instant};
use tokio::sync::watch;
use utoipa::ToSchema;

/// Shortest time between events.
const PAUSE: Duration = Duration::from_millis(50);

/// A job to start.
#[derive(Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(crate) enum Start {
    /// Rolls out a position.
    Rollout {
        /// An agent that has values.
        agent: String,
        /// The game, for agents that are not checkpoints.
        game: Option<String>,
        /// A position.
        position: String,
        /// Number of games.
        trials: u64,
        /// Number of moves after which a game is truncated.
        truncate: Option<u32>,
        /// Seed of the dice.
        seed: Option<u64>,
    },
    /// Searches ply by ply; the result of each depth is available immediately.
    Search {
        /// A checkpoint that has values.
        agent: String,
        /// The game, for agents that are not checkpoints.
        game: Option<String>,
        /// A position with a player to move.
        position: String,
        /// Number of plies, from 1.
        plies: u32,
    },
}

/// Starts a job. Jobs run one after another.
#[utoipa::path(post, path = "/api/v1/jobs", operation_id = "start_job", request_body = Start,
    responses((status = 202, description = "Its `id`", body = Begun), (status = 429, description = "The client has too many jobs", body = Refused), (status = 503, description = "Too many jobs", body = Refused)))]
pub(crate) async fn start(
    State(app): Shared,
    client: Client,
    JsonBody(asked): JsonBody<Start>,
) -> Result<(StatusCode, Json<Value>), Fault> {
    let shared = app.clone();
    // Refuse unknown agents immediately.
    let known = |agent: String, game: Option<String>| {
        app.clone().run(move |app| {
            app.registry.agent(&agent, game.as_deref()).map(|(found, _)| found.info.name.clone())
        })
    };
    let id = match asked {
        Start::Rollout { agent, game, position, trials, truncate, seed } => {
            short(&position, "the position")?;
            if !(2..=limits::TRIALS).contains(&trials) {
                return Err(Fault::request(format!("a rollout takes 2 to {} trials", limits::TRIALS)));
            }
            if agent.contains("search:") {
                return Err(Fault::request("rollouts here are played without a search: leave out `search:`"));
            }
            let game = known(agent.clone(), game).await?;
            let options = RolloutOptions {
                positions: vec![position],
                trials,
                truncate,
                seed: seed.unwrap_or(1),
                threads: std::thread::available_parallelism().map_or(1, |n| n.get().div_ceil(2)),
                ..RolloutOptions::default()
            };
            app.jobs.start(client, "rollout", move |report| {
                let found = roll_out(&shared, (&agent, &game), options, report);
                found.map_err(|fault| fault.without_folders(&shared.registry.files))
            })?
        }
        Start::Search { agent, game, position, plies } => {
            short(&position, "the position")?;
            if plies == 0 {
                return Err(Fault::request("a search needs at least 1 ply"));
            }
            let game = known(format!("search:{plies}:{agent}"), game).await?;
            app.jobs.start(client, "search", move |report| {
                let found = search(&shared, (&agent, &game), &position, plies, report);
                found.map_err(|fault| fault.without_folders(&shared.registry.files))
            })?
        }
    };
    Ok((StatusCode::ACCEPTED, Json(json!({ "id": id }))))
}

fn roll_out(
    app: &App,
    (agent, game): (&str, &str),
    options: RolloutOptions,
    report: &Report,
) -> Result<Value, Fault> {
    let (found, agent) = app.registry.agent(agent, Some(game))?;
    let options = RolloutOptions { agent: agent.text, best: agent.best, ..options };
    let rollouts = found.game.roll_out(&options, &report.cancel, &|share| report.share(share))?;
    Ok(json!(rollouts))
}

fn search(
    app: &App,
    (agent, game): (&str, &str),
    position: &str,
    plies: u32,
    report: &Report,
) -> Result<Value, Fault> {
    let mut found = Value::Null;
    for depth in 1..=plies {
        if report.cancel.requested() {
            break;
        }
        let (at, agent) = app.registry.agent(&format!("search:{depth}:{agent}"), Some(game))?;
        let value = with_moves(at.room.value(
            &agent,
            position,
            Detail::default(),
            Instant::now() + limits::PATIENCE,
        )?)?;
        let reached = value.search.as_ref().map_or(1, |search| search.plies);
        found = json!({ "value": value, "plies": reached });
        report.found(f64::from(depth) / f64::from(plies), found.clone());
        if reached < depth {
            // Out of time.
            break;
        }
    }
    Ok(found)
}

/// Returns the state of a job.
#[utoipa::path(get, path = "/api/v1/jobs/{id}", operation_id = "look_at_job", params(("id" = String, Path)),
    responses((status = 200, description = "`state`, `share`, `result`, `error`", body = jobs::State)))]
pub(crate) async fn look(State(app): Shared, Id(id): Id) -> Answer {
    let state = app.jobs.watch(&id)?.borrow().clone();
    Ok(Json(json!(state)))
}

/// Stops a job.
#[utoipa::path(delete, path = "/api/v1/jobs/{id}", operation_id = "stop_job", params(("id" = String, Path)),
    responses((status = 200, description = "The job is cancelled", body = Done)))]
pub(crate) async fn stop(State(app): Shared, Id(id): Id) -> Answer {
    app.jobs.stop(&id)?;
    Ok(Json(json!({})))
}

/// Streams the state of a job as server-sent events: `progress`, finally `end`.
#[utoipa::path(get, path = "/api/v1/jobs/{id}/events", operation_id = "job_events", params(("id" = String, Path)),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String), (status = 429, description = "The client or the job has too many streams", body = Refused)))]
pub(crate) async fn events(
    State(app): Shared,
    client: Client,
    Id(id): Id,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Fault> {
    let mut receiver = app.jobs.watch(&id)?;
    let open = app.streams.begin(client, &id)?;
    receiver.mark_changed();
    let next = |state: Option<(watch::Receiver<jobs::State>, Open)>| async move {
        let (mut receiver, open) = state?;
        receiver.changed().await.ok()?;
        let state = receiver.borrow_and_update().clone();
        let event = Event::default().event(if state.is_over() { "end" } else { "progress" });
        let event = event.json_data(&state).ok()?;
        // No more often than a person can read.
        tokio::time::sleep(PAUSE).await;
        Some((Ok(event), (!state.is_over()).then_some((receiver, open))))
    };
    Ok(Sse::new(stream::unfold(Some((receiver, open)), next)).keep_alive(KeepAlive::default()))
}
