//! Questions in the words of other programs, which a program adds to those of the API.

use crate::api::{App, Shared as State};
use crate::fault::Fault;
use crate::limits;
use adept_arena::inspect::PositionValue;
use axum::Json;
use axum::Router;
use axum::extract::Query;
use axum::routing::get;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;

/// A question about a position of one game, asked by `GET`.
pub trait Extra: Send + Sync {
    /// Where it is asked, such as `/eval`.
    fn path(&self) -> &'static str;

    /// The game.
    fn game(&self) -> &str;

    /// The position that a query describes, in the game's text form.
    ///
    /// # Errors
    /// What is wrong with the query.
    fn position(&self, query: &[(String, String)]) -> Result<String, String>;

    /// The answer, from what the agent thinks of that position.
    ///
    /// # Errors
    /// Why this agent cannot answer.
    fn answer(&self, value: &PositionValue) -> Result<Value, String>;
}

/// The routes of these questions. The first agent of the game that has values answers, or the one that `agent=` names.
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
) -> Result<Json<Value>, Fault> {
    let shared = app.clone();
    let work = move || {
        let position = extra.position(&query).map_err(Fault::request)?;
        let named = query.iter().find(|(key, _)| key == "agent").map(|(_, agent)| agent.clone());
        let agent = match named {
            Some(agent) => agent,
            None => {
                let all = shared.shelf.agents(&shared.shelf.find(extra.game())?);
                let first = all.into_iter().find(|entry| entry.values);
                first.ok_or_else(|| Fault::missing(format!("no agent of {} has values", extra.game())))?.id
            }
        };
        let (found, agent) = shared.shelf.agent(&agent, Some(extra.game()))?;
        let value = found.room.value(&agent, &position, Instant::now() + limits::PATIENCE)?;
        extra.answer(&value).map(Json).map_err(Fault::request)
    };
    app.compute.run(work).await
}
