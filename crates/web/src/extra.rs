//! Endpoints in other programs' formats, which a program adds to the API.

use adept_arena::inspect::PositionValue;

/// A `GET` endpoint for positions of one game.
pub trait Extra: Send + Sync {
    /// The path, such as `/eval`.
    fn path(&self) -> &'static str;

    /// The game.
    fn game(&self) -> &str;

    /// Its part of the OpenAPI document.
    fn document(&self) -> utoipa::openapi::OpenApi;

    /// Converts a query to a position in the game's text form.
    ///
    /// # Errors
    /// The error in the query.
    fn position(&self, query: &[(String, String)]) -> Result<String, String>;

    /// Formats the agent's values of that position as a JSON answer.
    ///
    /// # Errors
    /// Why this agent cannot answer.
    fn answer(&self, query: &[(String, String)], value: &PositionValue) -> Result<Vec<u8>, String>;
}
