//! The JSON API under `/api/v1`.

pub(crate) mod answers;
pub(crate) mod extras;
mod jobs;
mod plays;
mod reviews;
mod runs;
mod values;

use crate::archive::Archive;
use crate::client::Streams;
use crate::compute::Compute;
use crate::extra::Extra;
use crate::fault::{Fault, Kind};
use crate::jobs::Jobs;
use crate::limits;
use crate::plays::Plays;
use crate::registry::{OpenGame, Registry};
use crate::training::Training;
use adept_arena::inspect::Detail;
use adept_page::File;
use adept_play::{AgentText, GameAbout};
use axum::body::{self, Body, Bytes};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use utoipa::OpenApi;

/// State shared by all requests.
pub(crate) struct App {
    pub(crate) registry: Arc<Registry>,
    pub(crate) plays: Plays,
    /// The files of games, if they are kept.
    pub(crate) archive: Option<Archive>,
    pub(crate) jobs: Jobs,
    pub(crate) streams: Streams,
    pub(crate) document: Value,
    pub(crate) compute: Compute,
    pub(crate) training: Arc<Training>,
    /// The page with the list of games, once somebody has asked for it.
    pub(crate) index: OnceLock<File>,
}

pub(crate) type Shared = State<Arc<App>>;

impl App {
    /// Runs a question to an agent: directly if it answers within a millisecond, otherwise when a processor is free.
    pub(crate) async fn ask<T: Send + 'static>(
        self: Arc<Self>,
        (name, game): (String, Option<String>),
        detail: Detail,
        work: impl FnOnce(&OpenGame, &AgentText) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        if let Some((found, agent)) = self.registry.quick(&name, game.as_deref(), detail) {
            return work(&found, &agent);
        }
        let answer = move |app: &Arc<Self>| {
            let (found, agent) = app.registry.agent(&name, game.as_deref())?;
            work(&found, &agent)
        };
        self.run(answer).await
    }

    /// Runs work when a processor is free.
    pub(crate) async fn run<T: Send + 'static>(
        self: Arc<Self>,
        work: impl FnOnce(&Arc<Self>) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let app = self.clone();
        self.compute.run(move || work(&app)).await
    }
}

/// Serialises a value to a JSON response without an intermediate copy.
pub(crate) fn written(value: &impl Serialize) -> Result<Response, Fault> {
    let failed =
        |e: serde_json::Error| Fault::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Failed, e.to_string());
    let mut bytes = Vec::with_capacity(4096);
    serde_json::to_writer(&mut bytes, value).map_err(failed)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}

/// Any JSON object: the commands' documentation describes it.
pub(crate) type Answer = Result<Json<Value>, Fault>;

/// The routes under `/api/v1`.
fn table() -> Vec<(&'static str, MethodRouter<Arc<App>>)> {
    vec![
        ("/status", get(status)),
        ("/games", get(games)),
        ("/agents", get(agents)),
        ("/agents/{id}/cells", get(cells)),
        ("/evaluate", post(values::evaluate)),
        ("/moves", post(values::moves)),
        ("/plays", post(plays::begin)),
        ("/plays/{id}", get(plays::look).delete(plays::leave)),
        ("/plays/{id}/moves", post(plays::act)),
        ("/plays/{id}/undo", post(plays::undo)),
        ("/plays/{id}/resign", post(plays::resign)),
        ("/plays/{id}/record", get(plays::record)),
        ("/plays/{id}/history", get(plays::history)),
        ("/plays/{id}/hints", get(plays::hints)),
        ("/plays/{id}/analysis", get(plays::analysis)),
        ("/jobs", post(jobs::start)),
        ("/jobs/{id}", get(jobs::look).delete(jobs::stop)),
        ("/jobs/{id}/events", get(jobs::events)),
        ("/reviews", post(reviews::start)),
        ("/starters", get(runs::starters)),
        ("/runs", get(runs::list).post(runs::start)),
        ("/runs/{*id}", get(runs::look).post(runs::order)),
        ("/openapi.json", get(openapi)),
    ]
}

pub(crate) fn routes() -> Router<Arc<App>> {
    table()
        .into_iter()
        .fold(Router::new(), |routes, (path, answers)| routes.route(path, answers))
        .fallback(unknown)
        .method_not_allowed_fallback(not_allowed)
}

/// Middleware that removes folders of rule files from error messages.
pub(crate) async fn without_folders(State(app): Shared, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    match response.extensions_mut().remove::<Fault>() {
        Some(fault) => {
            let mut without = fault.without_folders(&app.registry.files).into_response();
            // The methods that the path supports.
            if let Some(allowed) = response.headers_mut().remove(header::ALLOW) {
                without.headers_mut().insert(header::ALLOW, allowed);
            }
            without
        }
        None => response,
    }
}

pub(crate) async fn unknown(request: Request) -> Fault {
    let path: String = request.uri().path().chars().take(80).collect();
    Fault::missing(format!("no such path: `{path}`; /api/v1/openapi.json lists all paths"))
}

async fn not_allowed(request: Request) -> Fault {
    let (method, path) =
        (request.method().clone(), request.uri().path().chars().take(80).collect::<String>());
    Fault::new(StatusCode::METHOD_NOT_ALLOWED, Kind::Request, format!("`{path}` does not support {method}"))
}

/// The body of a request: at most so many bytes, which arrive within this time.
async fn bytes_of(request: Request<Body>, most: usize, time: Duration) -> Result<Bytes, Fault> {
    let too_large = |_| {
        let message = format!("the body is larger than {most} bytes");
        Fault::new(StatusCode::PAYLOAD_TOO_LARGE, Kind::Request, message)
    };
    let late = |_| {
        let message = format!("the body did not arrive within {} seconds", time.as_secs());
        Fault::new(StatusCode::REQUEST_TIMEOUT, Kind::Request, message)
    };
    let read = body::to_bytes(request.into_body(), most);
    tokio::time::timeout(time, read).await.map_err(late)?.map_err(too_large)
}

/// Extractor of a JSON body. Unknown fields are refused.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Fault;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, Fault> {
        // A form of another page cannot send this content type without a preflight request.
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if !kind.is_some_and(|kind| kind.trim_start().starts_with("application/json")) {
            return Err(Fault::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                Kind::Request,
                "send JSON, with `Content-Type: application/json`",
            ));
        }
        let bytes = bytes_of(request, limits::BODY_BYTES, limits::READING).await?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| Fault::request(format!("invalid body: {error}")))
    }
}

/// Extractor of the query.
pub(crate) struct QueryParams<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let read = Query::<T>::from_request_parts(parts, state).await;
        read.map(|Query(asked)| Self(asked)).map_err(|error| Fault::request(error.body_text()))
    }
}

/// Extractor of the name in the path.
pub(crate) struct Id(pub(crate) String);

impl<S: Send + Sync> FromRequestParts<S> for Id {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let read = Path::<String>::from_request_parts(parts, state).await;
        read.map(|Path(id)| Self(id)).map_err(|error| Fault::request(error.body_text()))
    }
}

/// Checks the length of a text from a client.
pub(crate) fn short(text: &str, what: &str) -> Result<(), Fault> {
    match text.len() <= limits::TEXT {
        true => Ok(()),
        false => Err(Fault::request(format!("{what} is longer than {} bytes", limits::TEXT))),
    }
}

/// Returns information about the server.
#[utoipa::path(get, path = "/api/v1/status", responses((status = 200, description = "Version, number of games, plays", body = answers::Status)))]
async fn status(State(app): Shared) -> Answer {
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "games": app.registry.games().len(),
        "agents": app.registry.named(),
        "plays": app.plays.count(),
    })))
}

/// Lists the games, or returns one of them, whose name may have any parameters.
#[utoipa::path(get, path = "/api/v1/games", params(("name" = Option<String>, Query, description = "A game")), responses((status = 200, description = "`games`: each with its name, players, unit, classes of results and rules", body = answers::Games)))]
async fn games(State(app): Shared, QueryParams(of): QueryParams<OfName>) -> Answer {
    listed(&app, of.name).await.map(Json)
}

/// The answer about one game, or about all.
async fn listed(app: &Arc<App>, of: Option<String>) -> Result<Value, Fault> {
    let all = |app: &Arc<App>| {
        let found = |name: String| {
            let found = app.registry.find(&name)?;
            Ok(GameAbout { name: found.info.name.clone(), ..found.room.about() })
        };
        let names = of.map_or_else(|| app.registry.games(), |name| vec![name]);
        names.into_iter().map(found).collect::<Result<Vec<_>, Fault>>()
    };
    Ok(json!({ "games": app.clone().run(all).await? }))
}

/// The answer about all games, as the page holds it.
pub(crate) async fn games_text(app: &Arc<App>) -> Result<String, Fault> {
    Ok(listed(app, None).await?.to_string())
}

#[derive(Deserialize)]
struct OfName {
    name: Option<String>,
}

#[derive(Deserialize)]
struct OfGame {
    game: Option<String>,
}

/// Lists the agents of a game, or of all games.
#[utoipa::path(get, path = "/api/v1/agents", params(("game" = Option<String>, Query, description = "A game")),
    responses((status = 200, description = "`agents`: each with `id`, `game`, `kind`, `about`, whether it has `values`, and their `unit` if they are not results of the game", body = answers::Agents)))]
async fn agents(State(app): Shared, QueryParams(of): QueryParams<OfGame>) -> Answer {
    let all = |app: &Arc<App>| {
        let names = of.game.map_or_else(|| app.registry.games(), |name| vec![name]);
        let mut all = Vec::new();
        for name in names {
            all.extend(app.registry.agents(&app.registry.find(&name)?));
        }
        Ok(all)
    };
    Ok(Json(json!({ "agents": app.run(all).await? })))
}

/// Returns the maps of an agent's learned cells. Explanations of its values contain the `cell` of a position and the
/// `node` of its map.
#[utoipa::path(get, path = "/api/v1/agents/{id}/cells", params(("id" = String, Path)),
    responses((status = 200, description = "`maps`, each with the `nodes` that it belongs to, its `channels` down and across, the first value of each class as `starts`, and the expert of each cell as `cells`", body = answers::CellMaps), (status = 404, description = "It has none", body = answers::Refused)))]
async fn cells(State(app): Shared, Id(id): Id) -> Answer {
    app.run(move |app| Ok(Json(json!({ "maps": app.registry.cells(&id)? })))).await
}

#[derive(OpenApi)]
#[openapi(
    info(title = "adept", description = "Games, agents and evaluations over HTTP", version = "1"),
    paths(
        status,
        games,
        agents,
        cells,
        values::evaluate,
        values::moves,
        plays::begin,
        plays::look,
        plays::leave,
        plays::act,
        plays::undo,
        plays::resign,
        plays::record,
        plays::history,
        plays::hints,
        plays::analysis,
        jobs::start,
        jobs::look,
        jobs::stop,
        jobs::events,
        reviews::start,
        runs::list,
        runs::look,
        runs::starters,
        runs::start,
        runs::order,
        openapi
    )
)]
struct Document;

/// Builds the OpenAPI document, including the endpoints for other programs.
pub(crate) fn document(extras: &[Arc<dyn Extra>]) -> Value {
    let whole = extras.iter().fold(Document::openapi(), |whole, extra| whole.merge_from(extra.document()));
    let mut whole = serde_json::to_value(whole).unwrap_or_default();
    let refused = json!({
        "description": "Why the request is refused",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refused" } } },
    });
    let paths = whole["paths"].as_object_mut().into_iter().flat_map(|paths| paths.values_mut());
    for operation in paths.filter_map(Value::as_object_mut).flat_map(|operations| operations.values_mut()) {
        operation["responses"]["default"] = refused.clone();
    }
    whole
}

/// Returns the OpenAPI document.
#[utoipa::path(get, path = "/api/v1/openapi.json", responses((status = 200, description = "A document of OpenAPI 3.1", body = Object)))]
async fn openapi(State(app): Shared) -> Json<Value> {
    Json(app.document.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_in_the_document_with_the_schema_of_its_answer() {
        let document = document(&[]);
        let paths = document["paths"].as_object().unwrap();
        let mut routes: Vec<String> = table()
            .into_iter()
            .map(|(path, _)| format!("/api/v1{}", path.replace("{*id}", "{id}")))
            .collect();
        // Orders to a run share one route.
        routes.push("/api/v1/runs/{id}/{order}".into());
        routes.sort();
        assert_eq!(paths.keys().collect::<Vec<_>>(), routes.iter().collect::<Vec<_>>());
        for (path, operations) in paths {
            for (method, operation) in operations.as_object().unwrap() {
                let answers = operation["responses"].as_object().unwrap();
                let (status, done) = answers.iter().find(|(status, _)| status.starts_with('2')).unwrap();
                let mut contents = done["content"].as_object().unwrap().values();
                let known = |schema: &Value| {
                    let name =
                        schema["$ref"].as_str().and_then(|name| name.strip_prefix("#/components/schemas/"));
                    name.is_some_and(|name| document["components"]["schemas"][name].is_object())
                };
                let is_plain = |schema: &Value| schema["type"] == "string" || schema["type"] == "object";
                assert!(
                    contents.all(|content| known(&content["schema"]) || is_plain(&content["schema"])),
                    "{method} {path}: {status} {done}"
                );
            }
        }
    }
}
