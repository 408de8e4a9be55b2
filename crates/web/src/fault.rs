//! Errors as HTTP responses: a status code, and a JSON object as commands print it.

use crate::rule_files::RuleFiles;
use adept_arena::OpenError;
use adept_game::GameError;
use adept_play::PlayError;
use adept_trainer::run::TrainError;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

/// The kind of an error, for programs: see the table in `docs/commands.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The request is invalid.
    Request,
    /// The named object does not exist.
    Name,
    /// A rule set, a position or an action is refused.
    Game,
    /// The config is not valid.
    Config,
    /// The client is not allowed to ask this.
    Forbidden,
    /// The server is overloaded, or the client exceeds its limits.
    Busy,
    /// The work failed.
    Failed,
}

/// Error of a refused request.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) kind: Kind,
    /// Message for people.
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, kind: Kind, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into() }
    }

    /// The request is invalid.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::Request, message)
    }

    /// The named object does not exist.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Kind::Name, message)
    }

    /// The server is overloaded.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Busy, message)
    }

    /// The client exceeds its limits.
    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, Kind::Busy, message)
    }

    /// The response to a panic.
    pub(crate) fn from_panic(_: Box<dyn std::any::Any + Send>) -> Response {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Failed, "internal server error").into_response()
    }

    /// The same error, with rule files named as in requests.
    pub(crate) fn without_folders(self, files: &RuleFiles) -> Self {
        Self { message: files.without_folders(&self.message), ..self }
    }

    pub(crate) fn to_json(&self) -> Value {
        json!({ "error": { "kind": self.kind, "message": self.message } })
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.to_json())).into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<OpenError> for Fault {
    fn from(error: OpenError) -> Self {
        let (status, kind) = match &error {
            OpenError::Unknown(_) => (StatusCode::UNPROCESSABLE_ENTITY, Kind::Name),
            OpenError::Game(GameError::Rules(_)) => (StatusCode::UNPROCESSABLE_ENTITY, Kind::Game),
            _ => (StatusCode::INTERNAL_SERVER_ERROR, Kind::Failed),
        };
        Self::new(status, kind, error.to_string())
    }
}

impl From<GameError> for Fault {
    fn from(error: GameError) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Game, error.to_string())
    }
}

impl From<PlayError> for Fault {
    fn from(error: PlayError) -> Self {
        match error {
            PlayError::Open(error) => error.into(),
            PlayError::Slow(why) => Self::busy(why),
            PlayError::Io(error) => {
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Failed, error.to_string())
            }
            other => Self::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Game, other.to_string()),
        }
    }
}

impl From<TrainError> for Fault {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::Open(error) => error.into(),
            other => Self::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Failed, other.to_string()),
        }
    }
}
