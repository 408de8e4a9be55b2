//! Tabular policies of both players, and the agent that plays one.

use super::tree::{Set, Tree};
use crate::agents::Agent;
use crate::error::ExactError;
use crate::values::Decision;
use adept_game::Game;
use adept_game::PublicTree;
use rustc_hash::FxHashMap;
use std::convert::Infallible;
use std::sync::Arc;

/// A policy for both players: the probability of each action at every node, for every private index.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) tree: Arc<Tree>,
    /// `[node][private][action]`; nodes in preorder. Terminal nodes have no entries.
    pub(super) probabilities: Vec<f64>,
}

impl Policy {
    /// The uniform policy.
    pub fn uniform(tree: &Arc<Tree>) -> Self {
        Self::from_fn(tree, |_, _, _| {})
    }

    /// Builds a policy. Calls `fill` for every decision node in preorder and every private index of its player, with
    /// the action probabilities. They are uniform at first and must sum to 1 afterwards.
    pub fn from_fn(tree: &Arc<Tree>, mut fill: impl FnMut(usize, usize, &mut [f64])) -> Self {
        let mut probabilities = Vec::with_capacity(tree.entries());
        for (at, node) in tree.nodes().iter().enumerate() {
            let Some(player) = node.mover else { continue };
            for private in 0..tree.size(player.into()) {
                let from = probabilities.len();
                let uniform = 1.0 / f64::from(node.actions);
                probabilities.extend(std::iter::repeat_n(uniform, node.actions as usize));
                fill(at, private, &mut probabilities[from..]);
            }
        }
        Self { tree: tree.clone(), probabilities }
    }

    /// The policy of an agent in both seats. `tree` must be the tree of `game`.
    ///
    /// # Errors
    /// [`ExactError::Policy`] if the agent's probabilities do not sum to 1, or their number differs from the number of
    /// actions.
    pub fn of_agent<G: PublicTree>(
        game: &G,
        tree: &Arc<Tree>,
        agent: &mut dyn Agent<G>,
    ) -> Result<Self, ExactError> {
        let mut policy = Self::uniform(tree);
        let mut p = Vec::new();
        tree.walk(game, &mut |Set { at, player, private, state, actions }| {
            agent.policy(Decision::new(game, state, player), actions, &mut p);
            let (sum, row) = (p.iter().sum::<f64>(), policy.row_mut(at, private));
            if sum.is_nan() || (sum - 1.0).abs() > 1e-6 || p.len() != row.len() {
                return Err(ExactError::Policy(sum.to_string()));
            }
            row.copy_from_slice(&p);
            Ok(())
        })?;
        Ok(policy)
    }

    /// The tree.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// The action probabilities at a node (index in preorder) for a private index of the player to move. Empty at
    /// terminal nodes and for unknown nodes or indices.
    pub fn row(&self, node: usize, private: usize) -> &[f64] {
        &self.probabilities[self.range(node, private)]
    }

    /// Probabilities in a range of the flat table `[node][private][action]`.
    pub fn entries(&self, range: std::ops::Range<usize>) -> &[f64] {
        &self.probabilities[range]
    }

    /// Makes the probabilities of an information set uniform. `range` is its range in the flat table.
    pub fn set_uniform(&mut self, range: std::ops::Range<usize>) {
        let uniform = 1.0 / range.len() as f64;
        self.probabilities[range].fill(uniform);
    }

    fn row_mut(&mut self, node: usize, private: usize) -> &mut [f64] {
        let range = self.range(node, private);
        &mut self.probabilities[range]
    }

    fn range(&self, node: usize, private: usize) -> std::ops::Range<usize> {
        let Some(node) = self.tree.nodes().get(node) else { return 0..0 };
        match node.mover {
            Some(player) if private < self.tree.size(player.into()) => {
                let from = node.at as usize + private * node.actions as usize;
                from..from + node.actions as usize
            }
            _ => 0..0,
        }
    }
}

/// An agent that plays a [`Policy`].
pub struct Tabular<G: Game> {
    name: String,
    policy: Policy,
    /// Node and private index for each information set.
    places: FxHashMap<G::Info, (u32, u32)>,
}

impl<G: PublicTree> Tabular<G> {
    /// An agent named `name` that plays `policy`. `game` must be the game of the policy's tree.
    pub fn new(name: impl Into<String>, game: &G, policy: Policy) -> Self {
        let tree = policy.tree.clone();
        let mut places = FxHashMap::default();
        places.reserve(tree.information_sets());
        let Ok(()) = tree.walk(game, &mut |Set { at, player, private, state, .. }| {
            places.insert(game.info(state, player), (at as u32, private as u32));
            Ok::<(), Infallible>(())
        });
        Self { name: name.into(), policy, places }
    }

    /// The policy.
    pub fn table(&self) -> &Policy {
        &self.policy
    }
}

/// Uniform in states that are not in the tree.
impl<G: PublicTree> Agent<G> for Tabular<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        probabilities.clear();
        if let Some(&(node, private)) = self.places.get(&at.game.info(at.state, at.player)) {
            probabilities.extend_from_slice(self.policy.row(node as usize, private as usize));
        }
        if probabilities.len() != actions.len() {
            probabilities.clear();
            probabilities.resize(actions.len(), 1.0 / actions.len() as f64);
        }
    }
}
