//! Monte Carlo CFR with external sampling.

use super::policy::Policy;
use super::tree::Tree;
use crate::error::ExactError;
use adept_game::{PublicTree, Stream, draw_index, stream};
use std::sync::Arc;

/// External-sampling MCCFR (Lanctot, Waugh, Zinkevich and Bowling 2009, "Monte Carlo sampling for regret minimization
/// in extensive games", section 3.2): for each player in turn, samples the deal and the opponent's actions and
/// traverses all own actions. The opponent's policy enters the average at the nodes where it is sampled.
///
/// The same seed gives the same policies.
pub struct Mccfr {
    tree: Arc<Tree>,
    /// Sums of sampled counterfactual regrets. Both tables are `[node][private][action]`.
    regrets: Vec<f64>,
    /// Sums of the sampled policies.
    sums: Vec<f64>,
    iterations: u64,
    rng: Stream,
    /// One policy buffer per depth of the tree.
    scratch: Vec<f64>,
}

impl Mccfr {
    /// Unrolls a game and prepares the first iteration.
    ///
    /// # Errors
    /// See [`Tree::new`].
    pub fn new<G: PublicTree>(game: &G, seed: u64) -> Result<Self, ExactError> {
        Ok(Self::on(Arc::new(Tree::new(game)?), seed))
    }

    /// Starts on an existing tree.
    pub fn on(tree: Arc<Tree>, seed: u64) -> Self {
        let most = tree.nodes().iter().map(|node| node.actions as usize).max().unwrap_or(0);
        Self {
            regrets: vec![0.0; tree.entries()],
            sums: vec![0.0; tree.entries()],
            iterations: 0,
            rng: stream(seed, "mccfr", 0),
            scratch: vec![0.0; most * tree.depth()],
            tree,
        }
    }

    /// The tree.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Number of completed iterations, each of which samples one game per player.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Runs `n` more iterations.
    pub fn iterate(&mut self, n: u64) {
        for _ in 0..n {
            self.iterations += 1;
            for player in 0..2 {
                let own = [0, 1].map(|p| draw_index(self.tree.privates(p), &mut self.rng));
                let mut sampled = Sampled {
                    tree: &self.tree,
                    player,
                    own,
                    regrets: &mut self.regrets,
                    sums: &mut self.sums,
                    rng: &mut self.rng,
                };
                sampled.visit(0, &mut self.scratch);
            }
        }
    }

    /// The average policy, which converges to an equilibrium. Uniform at information sets without samples.
    pub fn average(&self) -> Policy {
        Policy::from_fn(&self.tree, |at, private, row| {
            let from = self.tree.nodes()[at].at as usize + private * row.len();
            let sums = &self.sums[from..from + row.len()];
            let total: f64 = sums.iter().sum();
            if total.is_normal() {
                row.iter_mut().zip(sums).for_each(|(p, sum)| *p = sum / total);
            }
        })
    }
}

/// One sampled game with a fixed deal, in which `player` traverses all actions.
struct Sampled<'a> {
    tree: &'a Tree,
    player: usize,
    own: [usize; 2],
    regrets: &'a mut [f64],
    sums: &'a mut [f64],
    rng: &'a mut Stream,
}

impl Sampled<'_> {
    /// The sampled value of a node for the player.
    fn visit(&mut self, at: usize, scratch: &mut [f64]) -> f64 {
        let node = self.tree.nodes()[at];
        if node.is_end() {
            let (own, other) = (self.own[self.player], self.own[1 - self.player]);
            return self.tree.payoff(self.player, node.at)[other * self.tree.size(self.player) + own];
        }
        let actions = node.actions as usize;
        let Some(mover) = node.mover.map(usize::from) else {
            // Payoffs already count with the probabilities of chance.
            let mut child = at + 1;
            let mut sum = 0.0;
            for _ in 0..actions {
                sum += self.visit(child, scratch);
                child = self.tree.nodes()[child].end as usize;
            }
            return sum;
        };
        let (policy, rest) = scratch.split_at_mut(actions);
        let first = node.at as usize + self.own[mover] * actions;
        let row = first..first + actions;
        match_regrets(&self.regrets[row.clone()], policy);
        let mut child = at + 1;
        if mover != self.player {
            for (sum, p) in self.sums[row].iter_mut().zip(&*policy) {
                *sum += p;
            }
            for _ in 0..draw_index(&*policy, self.rng) {
                child = self.tree.nodes()[child].end as usize;
            }
            return self.visit(child, rest);
        }
        let mut mean = 0.0;
        for (a, p) in policy.iter().enumerate() {
            let value = self.visit(child, rest);
            self.regrets[first + a] += value;
            mean += p * value;
            child = self.tree.nodes()[child].end as usize;
        }
        self.regrets[row].iter_mut().for_each(|r| *r -= mean);
        mean
    }
}

/// Regret matching: σ = R⁺ / Σ R⁺, uniform if no regret is above 0.
fn match_regrets(regrets: &[f64], policy: &mut [f64]) {
    let total: f64 = regrets.iter().map(|r| r.max(0.0)).sum();
    let uniform = 1.0 / policy.len() as f64;
    for (p, r) in policy.iter_mut().zip(regrets) {
        *p = if total.is_normal() { r.max(0.0) / total } else { uniform };
    }
}
