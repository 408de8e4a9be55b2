//! The routes of questions in the words of other programs.

use super::{App, Shared as State};
use crate::extra::Extra;
use crate::fault::Fault;
use crate::limits;
use crate::registry::OpenGame;
use adept_arena::inspect::Detail;
use adept_play::AgentText;
use axum::Router;
use axum::extract::Query;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::time::Instant;

/// The routes of these endpoints. The first agent of the game with values answers, or the one that `agent=` names.
pub(crate) fn routes(extras: &[Arc<dyn Extra>]) -> Router<Arc<App>> {
    let mut routes = Router::new();
    for extra in extras {
        let shared = extra.clone();
        let ask = move |state: State, query: Query<Vec<(String, String)>>| {
            let extra = shared.clone();
            async move { asked(extra, state, query.0).await }
        };
        routes = routes.route(extra.path(), get(ask));
    }
    routes
}

async fn asked(
    extra: Arc<dyn Extra>,
    axum::extract::State(app): State,
    query: Vec<(String, String)>,
) -> Result<Response, Fault> {
    let position = extra.position(&query).map_err(Fault::request)?;
    let game = extra.game().to_string();
    let named = query.iter().find(|(key, _)| key == "agent").map(|(_, agent)| agent.clone());
    let agent = match named {
        Some(agent) => agent,
        None => {
            let none = || Fault::missing(format!("no agent of {game} has values"));
            app.registry.default(&game).ok_or_else(none)?
        }
    };
    let detail = Detail { experts: false, ..Detail::default() };
    let answer = move |found: &OpenGame, agent: &AgentText| {
        let value = found.room.value(agent, &position, detail, Instant::now() + limits::PATIENCE)?;
        extra.answer(&query, &value).map_err(Fault::request)
    };
    let bytes = app.ask((agent, Some(game)), detail, answer).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}
