//! Games with a small hidden part dealt at the start, as exact solvers read them.

use crate::game::{Game, Turn};

/// A two-player zero-sum game with one private deal. Chance deals each player a private index at the start,
/// independently. Everything after the deal is public.
///
/// A state is a public state and one private index per player. Solvers visit each public state once and process all
/// private indices of a player together (Johanson, Waugh, Bowling and Zinkevich 2011, "Accelerating best response
/// calculation in large extensive games").
pub trait PublicTree: Game {
    /// The public part of a state, known to both players.
    type Public: Clone + Send + Sync;

    /// Probability of each private index of a player; they sum to 1. Empty if this rule set does not have this form.
    fn privates(&self, player: usize) -> Vec<f64>;

    /// The public state right after the deal.
    fn root(&self) -> Self::Public;

    /// Whose turn it is; never chance.
    fn public_turn(&self, public: &Self::Public) -> Turn;

    /// Replaces `actions` by the legal actions of the player to move, or by none if the game is over. They equal
    /// [`Game::actions`] of [`state`](Self::state) for any private indices, in the same order.
    fn public_actions(&self, public: &Self::Public, actions: &mut Vec<Self::Action>);

    /// The public state after a legal action.
    fn public_apply(&self, public: &Self::Public, action: &Self::Action) -> Self::Public;

    /// Utility of a finished game for player 0, in units of [`Game::scale`]; `own[p]` is the private index of player p.
    fn payoff(&self, public: &Self::Public, own: [usize; 2]) -> f64;

    /// Replaces `matrix` by [`payoff`](Self::payoff) for all pairs of private indices, with shape `[sizes[0],
    /// sizes[1]]`, row-major. Player p has `sizes[p]` indices.
    fn payoffs(&self, public: &Self::Public, sizes: [usize; 2], matrix: &mut Vec<f64>) {
        let [rows, columns] = sizes;
        matrix.clear();
        matrix.extend((0..rows).flat_map(|i| (0..columns).map(move |j| self.payoff(public, [i, j]))));
    }

    /// The complete state, so that any agent's policy can be evaluated there.
    fn state(&self, public: &Self::Public, own: [usize; 2]) -> Self::State;
}

/// Code that works for any game that is a public tree.
pub trait TreeVisitor<G> {
    /// Result type.
    type Output;

    /// Called with the game.
    fn visit(self, game: &G) -> Self::Output
    where
        G: PublicTree;
}
