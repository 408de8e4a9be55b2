//! Questions in the words of other programs, which a program adds to those of the API.

use adept_arena::inspect::PositionValue;

/// A question about a position of one game, asked by `GET`.
pub trait Extra: Send + Sync {
    /// Where it is asked, such as `/eval`.
    fn path(&self) -> &'static str;

    /// The game.
    fn game(&self) -> &str;

    /// Its part of the document that describes the API.
    fn document(&self) -> utoipa::openapi::OpenApi;

    /// The position that a query describes, in the game's text form.
    ///
    /// # Errors
    /// What is wrong with the query.
    fn position(&self, query: &[(String, String)]) -> Result<String, String>;

    /// The answer to a query in JSON, from what the agent thinks of that position.
    ///
    /// # Errors
    /// Why this agent cannot answer.
    fn answer(&self, query: &[(String, String)], value: &PositionValue) -> Result<Vec<u8>, String>;
}
