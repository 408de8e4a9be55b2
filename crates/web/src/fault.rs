//! Errors as answers: a status code, and a JSON object as commands print it.

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

/// The kind of a fault, for programs: see the table in `docs/commands.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The request is not what the API expects.
    Request,
    /// There is nothing of this name.
    Name,
    /// A rule set, a position or an action is refused.
    Game,
    /// The config is not valid.
    Config,
    /// The client may not ask this.
    Forbidden,
    /// There is too much to do.
    Busy,
    /// It was tried, and failed.
    Failed,
}

/// Why a request is refused.
#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) status: StatusCode,
    pub(crate) kind: Kind,
    /// For people.
    pub(crate) message: String,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, kind: Kind, message: impl Into<String>) -> Self {
        Self { status, kind, message: message.into() }
    }

    /// The request is not what the API expects.
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Kind::Request, message)
    }

    /// There is nothing of this name.
    pub(crate) fn missing(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Kind::Name, message)
    }

    /// The server has too much to do.
    pub(crate) fn busy(message: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, Kind::Busy, message)
    }

    /// This client holds too much at a time.
    pub(crate) fn too_many(message: impl Into<String>) -> Self {
        Self::new(StatusCode::TOO_MANY_REQUESTS, Kind::Busy, message)
    }

    /// The answer where the program has a fault.
    pub(crate) fn of_panic(_: Box<dyn std::any::Any + Send>) -> Response {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, Kind::Failed, "a fault of the server").into_response()
    }

    /// The same, with rule files called as requests call them.
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
