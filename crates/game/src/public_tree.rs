//! Games with a small hidden part dealt at the start, as exact solvers read them.

use crate::game::{Game, Turn};

/// A two-player zero-sum game with one private deal. Chance deals each player a private index at the start. Everything
/// after the deal is public: actions and further chance events, such as cards on the table.
///
/// Deals and chance events may depend on each other, as cards from one deck do: [`weight`](Self::weight) says how.
///
/// A state is a public state and one private index per player. Solvers visit each public state once and process all
/// private indices of a player together (Johanson, Waugh, Bowling and Zinkevich 2011, "Accelerating best response
/// calculation in large extensive games").
///
/// ```
/// use adept_game::{PublicTree, tiny::{Bluff, Call}};
///
/// let claimed = Bluff.public_apply(&Bluff.root(), &Call::Claim(3));
/// let doubted = Bluff.public_apply(&claimed, &Call::Doubt);
/// // What player 1 gets with each card, which player 2 has none of.
/// let payoffs = [0, 1, 2].map(|card| Bluff.payoff(&doubted, [card, 0]));
/// assert_eq!(payoffs, [-2.0, -2.0, 2.0]);
/// assert_eq!(Bluff.privates(0).len(), payoffs.len());
/// ```
pub trait PublicTree: Game {
    /// The public part of a state, known to both players.
    type Public: Clone + Send + Sync;

    /// Probability of each private index of a player, whatever the other player has; they sum to 1. Empty if this rule set
    /// does not have this form.
    fn privates(&self, player: usize) -> Vec<f64>;

    /// The public state right after the deal.
    fn root(&self) -> Self::Public;

    /// Whose turn it is.
    fn public_turn(&self, public: &Self::Public) -> Turn;

    /// Replaces `actions` by the legal actions of the player to move, by the outcomes of a chance event, or by none if the
    /// game is over. Those of a player equal [`Game::actions`] of [`state`](Self::state) for any private indices, in the same
    /// order. Outcomes of chance that some private indices rule out are listed too.
    fn public_actions(&self, public: &Self::Public, actions: &mut Vec<Self::Action>);

    /// The public state after a legal action or a chance event.
    fn public_apply(&self, public: &Self::Public, action: &Self::Action) -> Self::Public;

    /// Utility of a finished game for player 0, in units of [`Game::scale`]; `own[p]` is the private index of player p.
    fn payoff(&self, public: &Self::Public, own: [usize; 2]) -> f64;

    /// Whether [`weight`](Self::weight) may differ from 1.
    fn is_weighted(&self) -> bool {
        false
    }

    /// Probability that chance deals these private indices and brings the public chance events so far, divided by the product
    /// of both [`privates`](Self::privates). 1 for independent deals without further chance events; 0 for deals that cannot be.
    fn weight(&self, _public: &Self::Public, _own: [usize; 2]) -> f64 {
        1.0
    }

    /// Replaces `matrix` by [`payoff`](Self::payoff) · [`weight`](Self::weight) for all pairs of private indices, with shape
    /// `[sizes[0], sizes[1]]`, row-major. Player p has `sizes[p]` indices.
    ///
    /// ```
    /// use adept_game::{Game, PublicTree, tiny::Bluff};
    ///
    /// let (hand, _) = Bluff.parse_position("? 3 believed")?;
    /// let mut matrix = Vec::new();
    /// Bluff.payoffs(&hand.table, [3, 1], &mut matrix);
    /// assert_eq!(matrix, [1.0, 1.0, 1.0]);
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    fn payoffs(&self, public: &Self::Public, sizes: [usize; 2], matrix: &mut Vec<f64>) {
        let [rows, columns] = sizes;
        matrix.clear();
        let of = |own: [usize; 2]| match self.weight(public, own) {
            // What cannot be dealt has no payoff.
            0.0 => 0.0,
            weight => weight * self.payoff(public, own),
        };
        matrix.extend((0..rows).flat_map(|i| (0..columns).map(move |j| of([i, j]))));
    }

    /// The complete state, so that any agent's policy can be evaluated there. The private index of a player who is not asked
    /// may be one that cannot be dealt.
    fn state(&self, public: &Self::Public, own: [usize; 2]) -> Self::State;
}

/// Code that works for any game that is a public tree.
///
/// ```
/// use adept_game::{PublicTree, TreeVisitor, tiny::Bluff};
///
/// struct Deals;
/// impl<G> TreeVisitor<G> for Deals {
///     type Output = usize;
///     fn visit(self, game: &G) -> usize
///     where
///         G: PublicTree,
///     {
///         game.privates(0).len() * game.privates(1).len()
///     }
/// }
/// assert_eq!(Deals.visit(&Bluff), 3);
/// ```
pub trait TreeVisitor<G> {
    /// Result type.
    type Output;

    /// Called with the game.
    fn visit(self, game: &G) -> Self::Output
    where
        G: PublicTree;
}
