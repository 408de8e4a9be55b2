//! Games whose hidden part is small and dealt at the start, in the form that exact solvers read.

use crate::game::{Game, Turn};

/// A two-player zero-sum game in which chance deals each player one private thing at the start, independently of the
/// other's, and everything after that is public.
///
/// A state is then a public state and one private index a player; solvers go through the public states once and treat
/// all private indices of a player together (Johanson, Waugh, Bowling and Zinkevich 2011, "Accelerating best response
/// calculation in large extensive games").
pub trait PublicTree: Game {
    /// What both players see.
    type Public: Clone + Send + Sync;

    /// The probabilities of a player's private things, by index; they sum to 1. Empty if this rule set is no such game.
    fn privates(&self, player: usize) -> Vec<f64>;

    /// The public state right after the deal.
    fn root(&self) -> Self::Public;

    /// Whose turn it is; never that of chance.
    fn public_turn(&self, public: &Self::Public) -> Turn;

    /// Replaces `actions` by the legal ones of the player to move, none if the game is over: those that
    /// [`Game::actions`] gives for [`state`](Self::state) with any private indices, in the same order.
    fn public_actions(&self, public: &Self::Public, actions: &mut Vec<Self::Action>);

    /// The public state after a legal action.
    fn public_apply(&self, public: &Self::Public, action: &Self::Action) -> Self::Public;

    /// Utility of a finished game for player 0, in units of [`Game::scale`]; `own[p]` is the private index of player p.
    fn payoff(&self, public: &Self::Public, own: [usize; 2]) -> f64;

    /// Replaces `matrix` by [`payoff`](Self::payoff) for all pairs of private indices, `sizes[p]` of player p: a row
    /// for each of player 0.
    fn payoffs(&self, public: &Self::Public, sizes: [usize; 2], matrix: &mut Vec<f64>) {
        let [rows, columns] = sizes;
        matrix.clear();
        matrix.extend((0..rows).flat_map(|i| (0..columns).map(move |j| self.payoff(public, [i, j]))));
    }

    /// All there is to know of a state, so that any agent can be asked for its policy there.
    fn state(&self, public: &Self::Public, own: [usize; 2]) -> Self::State;
}

/// Code that works for any game that is a public tree.
pub trait TreeVisitor<G> {
    /// What it gives.
    type Output;

    /// Is called with the game.
    fn visit(self, game: &G) -> Self::Output
    where
        G: PublicTree;
}
