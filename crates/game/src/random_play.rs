//! Random games from a state, for agents that search over them.

use crate::game::Game;
use crate::rng::Stream;

/// How random games are played from a state. [`Uniform`] does it by the methods of [`Game`] alone.
///
/// The agents `playouts:N` and `uct:N` ask it.
///
/// ```
/// use adept_game::{Game, RandomPlay, Uniform, tiny::{Bluff, Nim}};
///
/// let game = Nim::default();
/// assert_eq!(Uniform.before_choices(&game, &game.start()), Some(game.start()));
/// assert_eq!(Uniform.before_choices(&Bluff, &Bluff.start()), None); // it hides a card
/// ```
pub trait RandomPlay<G: Game>: Send + Sync {
    /// The sum of each player's utility over `games` random games from a state that is not over, if the game has a faster way to play
    /// them than by its own methods. All players choose uniformly among their actions. One game at least.
    fn games(&self, _game: &G, _state: &G::State, _games: usize, _rng: &mut Stream) -> Option<Vec<f64>> {
        None
    }

    /// The state in which the first of several players who choose at the same time has not chosen yet; the state itself in a game
    /// that hides nothing. None if what a player does not know is more than such choices.
    fn before_choices(&self, game: &G, state: &G::State) -> Option<G::State> {
        (!game.hides()).then(|| state.clone())
    }
}

/// Random games by the methods of [`Game`].
pub struct Uniform;

impl<G: Game> RandomPlay<G> for Uniform {}
