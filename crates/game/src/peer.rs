//! Other programs as players.

use crate::game::{Game, GameError};

/// Another program that chooses actions, such as GNU Backgammon behind a socket.
pub trait Peer<G: Game>: Send {
    /// The action that it chooses for `player`, who is to move. It is legal: what a program answers is checked.
    ///
    /// # Errors
    /// [`GameError::Peer`] if the program cannot be reached, goes away, takes too long or answers with something else.
    fn ask(&mut self, game: &G, state: &G::State, player: usize) -> Result<G::Action, GameError>;
}
