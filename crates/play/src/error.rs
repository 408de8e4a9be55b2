//! Errors of played games.

use adept_arena::OpenError;

/// Why a game cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    /// The opponent is not available.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The terminal cannot be read or written.
    #[error("the terminal: {0}")]
    Io(#[from] std::io::Error),
    /// The seat does not exist.
    #[error("{game} has {players} players: choose a seat from 1 to {players}")]
    Seat {
        /// The game.
        game: String,
        /// Its number of players.
        players: usize,
    },
    /// The text is not a position that can be continued.
    #[error("{0}")]
    Position(String),
    /// The text is not a legal action, or not a way to resign.
    #[error("{0}")]
    Action(String),
    /// Not possible now: the game is over, or another player is to move.
    #[error("{0}")]
    Moment(&'static str),
    /// A record does not repeat its game.
    #[error("the record cannot be played again: {0}")]
    Record(String),
    /// The game cannot be written to a file.
    #[error("{0}")]
    History(String),
    /// It would take too long.
    #[error("{0}")]
    Long(String),
    /// It took too long this time: a machine with less to do may be fast enough.
    #[error("{0}")]
    Slow(&'static str),
}
