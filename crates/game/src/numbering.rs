//! Numbers of actions.

use crate::game::Game;

/// Numbers of actions that mean the same in every state; in games from rule files, as the player to move sees the board.
/// [`Self::none`] has none.
///
/// Learners with an output for each action need them, and environments of Gymnasium, PettingZoo and OpenSpiel.
///
/// ```
/// use adept_game::{Game, Numbering, tiny::{Nim, Take}};
///
/// let numbering = Numbering::<Nim>::new(15, |_, _, take| 5 * take.heap + usize::from(take.count) - 1);
/// let (game, take) = (Nim::default(), Take { heap: 2, count: 5 });
/// assert_eq!((numbering.number(&game, &game.start(), &take), numbering.most), (14, Some(15)));
/// ```
pub struct Numbering<G: Game> {
    /// How many numbers there are. None if there are too many actions.
    pub space: Option<usize>,
    /// Upper bound on the legal actions of a state, for environments with a place for each. None if it is not known.
    pub most: Option<usize>,
    /// The number of a player's action that is legal in this state, below [`space`](Self::space). Actions of one state have different
    /// numbers.
    pub number: fn(&G, &G::State, &G::Action) -> usize,
}

impl<G: Game> Numbering<G> {
    /// No numbers.
    pub const fn none() -> Self {
        Self { space: None, most: None, number: |_, _, _| 0 }
    }

    /// So many numbers, which `number` gives.
    pub const fn new(space: usize, number: fn(&G, &G::State, &G::Action) -> usize) -> Self {
        Self { space: Some(space), most: Some(space), number }
    }

    /// No numbers, but at most so many legal actions in a state.
    pub const fn at_most(most: usize) -> Self {
        Self { most: Some(most), ..Self::none() }
    }

    /// The number of an action.
    pub fn number(&self, game: &G, state: &G::State, action: &G::Action) -> usize {
        (self.number)(game, state, action)
    }
}
