//! Other programs as players.

use crate::game::{Game, GameError};

/// Another program that chooses actions, such as GNU Backgammon behind a socket.
///
/// ```
/// use adept_game::{Game, GameError, Peer, tiny::{Nim, Take}};
///
/// /// A program that answers in text, such as one behind a socket.
/// struct Remote(fn(&str) -> String);
/// impl Peer<Nim> for Remote {
///     fn ask(&mut self, game: &Nim, state: &<Nim as Game>::State, _: usize) -> Result<Take, GameError> {
///         let answer = (self.0)(&game.position_text(state));
///         game.parse_action(state, &answer).map_err(|e| GameError::Peer(e.to_string()))
///     }
/// }
/// let (game, mut peer) = (Nim::default(), Remote(|_| "2 from 1".into()));
/// assert_eq!(peer.ask(&game, &game.start(), 0)?, Take { heap: 0, count: 2 });
/// # Ok::<(), GameError>(())
/// ```
pub trait Peer<G: Game>: Send {
    /// The action that it chooses for `player`, who is to move. It is legal: what a program answers is checked.
    ///
    /// # Errors
    /// [`GameError::Peer`] if the program cannot be reached, goes away, takes too long or answers with something else.
    fn ask(&mut self, game: &G, state: &G::State, player: usize) -> Result<G::Action, GameError>;
}
