//! Monte Carlo CFR with external sampling.

use super::policy::Policy;
use super::tree::Tree;
use crate::agents::draw;
use crate::exact::ExactError;
use adept_game::PublicTree;
use adept_game::{Stream, stream};
use std::sync::Arc;

/// External-sampling MCCFR (Lanctot, Waugh, Zinkevich and Bowling 2009, "Monte Carlo sampling for regret minimization
/// in extensive games", section 3.2): for each player in turn the deal and the other's actions are drawn, and all own
/// actions are gone through. The other's policy goes into the average where it is drawn from.
///
/// The same seed gives the same policies.
pub struct Mccfr {
    tree: Arc<Tree>,
    /// Sums of sampled counterfactual regrets. Both tables are `[node][private][action]`.
    regrets: Vec<f64>,
    /// Sums of the policies that were drawn from.
    sums: Vec<f64>,
    iterations: u64,
    rng: Stream,
    /// A policy for each action on the longest way.
    scratch: Vec<f64>,
}

impl Mccfr {
    /// Unrolls a game, ready for the first iteration.
    ///
    /// # Errors
    /// See [`Tree::new`].
    pub fn new<G: PublicTree>(game: &G, seed: u64) -> Result<Self, ExactError> {
        Ok(Self::on(Arc::new(Tree::new(game)?), seed))
    }

    /// On a tree that others use too.
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

    /// How many iterations were made: games sampled for each player.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Makes that many more iterations.
    pub fn iterate(&mut self, n: u64) {
        for _ in 0..n {
            self.iterations += 1;
            for player in 0..2 {
                let own = [0, 1].map(|p| draw(self.tree.privates(p), &mut self.rng));
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

    /// The average policy, which approaches an equilibrium; uniform where nothing was drawn.
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

/// One game with a deal, in which `player` tries everything.
struct Sampled<'a> {
    tree: &'a Tree,
    player: usize,
    own: [usize; 2],
    regrets: &'a mut [f64],
    sums: &'a mut [f64],
    rng: &'a mut Stream,
}

impl Sampled<'_> {
    /// The sampled value of a node to the player.
    fn visit(&mut self, at: usize, scratch: &mut [f64]) -> f64 {
        let node = self.tree.nodes()[at];
        let Some(mover) = node.mover.map(usize::from) else {
            let (own, other) = (self.own[self.player], self.own[1 - self.player]);
            return self.tree.payoff(self.player, node.at)[other * self.tree.size(self.player) + own];
        };
        let actions = node.actions as usize;
        let (policy, rest) = scratch.split_at_mut(actions);
        let first = node.at as usize + self.own[mover] * actions;
        let row = first..first + actions;
        match_regrets(&self.regrets[row.clone()], policy);
        let mut child = at + 1;
        if mover != self.player {
            for (sum, p) in self.sums[row].iter_mut().zip(&*policy) {
                *sum += p;
            }
            for _ in 0..draw(policy, self.rng) {
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

/// σ = R⁺ / Σ R⁺, uniform where no regret is above 0.
fn match_regrets(regrets: &[f64], policy: &mut [f64]) {
    let total: f64 = regrets.iter().map(|r| r.max(0.0)).sum();
    let uniform = 1.0 / policy.len() as f64;
    for (p, r) in policy.iter_mut().zip(regrets) {
        *p = if total.is_normal() { r.max(0.0) / total } else { uniform };
    }
}
