//! CFR+, a variant of counterfactual regret minimisation.

use super::policy::Policy;
use super::tree::Tree;
use crate::exact::ExactError;
use adept_game::PublicTree;
use std::sync::Arc;

/// CFR+ (Tammelin 2014, "Solving large imperfect information games using CFR+"): regrets are floored at 0, players are
/// updated in turn, and iteration t has weight t in the average policy.
///
/// One iteration traverses the public tree once per player and processes all private indices of both players together.
/// Regrets and policies are `f64`, because exploitability falls far below the precision of `f32`.
pub struct CfrPlus {
    tree: Arc<Tree>,
    /// R⁺, the sums of counterfactual regrets floored at 0. All tables are `[node][action][private]`.
    regrets: Vec<f64>,
    /// σ, the policy from regret matching: R⁺ / Σ R⁺, uniform if all are 0.
    strategy: Vec<f64>,
    /// Numerators of the average policy: Σₜ t · (reach probability of the player's own actions, including this one).
    sums: Vec<f64>,
    iterations: u64,
    scratch: Vec<f64>,
}

impl CfrPlus {
    /// Unrolls a game and prepares the first iteration.
    ///
    /// # Errors
    /// See [`Tree::new`].
    pub fn new<G: PublicTree>(game: &G) -> Result<Self, ExactError> {
        Ok(Self::on(Arc::new(Tree::new(game)?)))
    }

    /// Starts on an existing tree.
    pub fn on(tree: Arc<Tree>) -> Self {
        let mut strategy = Vec::with_capacity(tree.entries());
        for node in tree.nodes() {
            if let Some(player) = node.mover {
                let n = node.actions as usize * tree.size(player.into());
                strategy.extend(std::iter::repeat_n(1.0 / f64::from(node.actions), n));
            }
        }
        Self {
            regrets: vec![0.0; tree.entries()],
            sums: vec![0.0; tree.entries()],
            strategy,
            iterations: 0,
            // Three vectors per level, and the arguments of the root.
            scratch: vec![0.0; 3 * tree.widest() * (tree.depth() + 1)],
            tree,
        }
    }

    /// The tree.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// Number of completed iterations.
    pub fn iterations(&self) -> u64 {
        self.iterations
    }

    /// Runs `n` more iterations.
    pub fn iterate(&mut self, n: u64) {
        for _ in 0..n {
            self.iterations += 1;
            for player in 0..2 {
                let mut pass = Pass {
                    tree: &self.tree,
                    player,
                    weight: self.iterations as f64,
                    regrets: &mut self.regrets,
                    strategy: &mut self.strategy,
                    sums: &mut self.sums,
                };
                let (first, rest) = self.scratch.split_at_mut(2 * self.tree.size(player));
                let (own, value) = first.split_at_mut(self.tree.size(player));
                own.fill(1.0);
                pass.visit(0, own, self.tree.privates(1 - player), value, rest);
            }
        }
    }

    /// The average policy, which converges to an equilibrium. Uniform at information sets that the average never
    /// reaches.
    pub fn average(&self) -> Policy {
        Policy::from_fn(&self.tree, |at, private, row| {
            let node = self.tree.nodes()[at];
            let size = node.mover.map_or(1, |player| self.tree.size(player.into()));
            let sums = self.sums[node.at as usize + private..].iter().step_by(size);
            let total: f64 = sums.clone().take(row.len()).sum();
            if total.is_normal() {
                row.iter_mut().zip(sums).for_each(|(p, sum)| *p = sum / total);
            }
        })
    }
}

/// The update of one player.
struct Pass<'a> {
    tree: &'a Tree,
    player: usize,
    /// Weight of this iteration in the average.
    weight: f64,
    regrets: &'a mut [f64],
    strategy: &'a mut [f64],
    sums: &'a mut [f64],
}

impl Pass<'_> {
    /// Adds the counterfactual value of a node to `value`, by private index of the player, and updates the subtree. By
    /// private index, `own` is the reach probability of the player's own actions, and `other` is the reach probability
    /// of the opponent's deal and actions.
    fn visit(&mut self, at: usize, own: &[f64], other: &[f64], value: &mut [f64], scratch: &mut [f64]) {
        let node = self.tree.nodes()[at];
        if node.is_end() {
            self.tree.add_payoffs(self.player, node.at, other, value);
            return;
        }
        let (actions, first) = (node.actions as usize, node.at as usize);
        let mut child = at + 1;
        let Some(mover) = node.mover else {
            // Payoffs already count with the probabilities of chance.
            for _ in 0..actions {
                self.visit(child, own, other, value, scratch);
                child = self.tree.nodes()[child].end as usize;
            }
            return;
        };
        if usize::from(mover) != self.player {
            let n = other.len();
            let (reach, rest) = scratch.split_at_mut(n);
            for a in 0..actions {
                let row = first + a * n..first + (a + 1) * n;
                let mut sum = 0.0;
                for ((r, s), o) in reach.iter_mut().zip(&self.strategy[row]).zip(other) {
                    *r = s * o;
                    sum += *r;
                }
                // If the opponent never reaches this node, all values and regrets are 0 and only the average changes.
                if sum > 0.0 {
                    self.visit(child, own, reach, value, rest);
                } else {
                    self.average(child, own, rest);
                }
                child = self.tree.nodes()[child].end as usize;
            }
            return;
        }

        let n = own.len();
        let (reach, rest) = scratch.split_at_mut(n);
        let (below, rest) = rest.split_at_mut(n);
        let (mean, rest) = rest.split_at_mut(n);
        mean.fill(0.0);
        for a in 0..actions {
            let row = first + a * n..first + (a + 1) * n;
            self.add_to_average(row.clone(), own, reach);
            below.fill(0.0);
            self.visit(child, reach, other, below, rest);
            let strategy = &self.strategy[row.clone()];
            for (((r, s), b), m) in self.regrets[row].iter_mut().zip(strategy).zip(&*below).zip(&mut *mean) {
                *r += b;
                *m += s * b;
            }
            child = self.tree.nodes()[child].end as usize;
        }
        // R⁺ ← max(R⁺ + v(I, a) − v(I), 0). The values v(I, a) have already been added.
        let (total, rows) = (reach, first..first + actions * n);
        total.fill(0.0);
        let (regrets, strategy) = (&mut self.regrets[rows.clone()], &mut self.strategy[rows]);
        for row in regrets.chunks_exact_mut(n) {
            for ((r, m), t) in row.iter_mut().zip(&*mean).zip(&mut *total) {
                let regret = *r - m;
                *r = if regret > 0.0 { regret } else { 0.0 };
                *t += *r;
            }
        }
        let uniform = 1.0 / actions as f64;
        // The inverse of a subnormal number can be infinite.
        total.iter_mut().for_each(|t| *t = if *t >= f64::MIN_POSITIVE { 1.0 / *t } else { 0.0 });
        for (row, regrets) in strategy.chunks_exact_mut(n).zip(regrets.chunks_exact(n)) {
            for ((s, r), t) in row.iter_mut().zip(regrets).zip(&*total) {
                *s = if *t > 0.0 { r * t } else { uniform };
            }
        }
        for (v, m) in value.iter_mut().zip(&*mean) {
            *v += m;
        }
    }

    /// Updates the averages below a node that the opponent never reaches.
    fn average(&mut self, at: usize, own: &[f64], scratch: &mut [f64]) {
        let node = self.tree.nodes()[at];
        let n = own.len();
        let mut child = at + 1;
        if node.mover.map(usize::from) != Some(self.player) {
            for _ in 0..node.actions {
                self.average(child, own, scratch);
                child = self.tree.nodes()[child].end as usize;
            }
            return;
        }
        let (reach, rest) = scratch.split_at_mut(n);
        for a in 0..node.actions as usize {
            let first = node.at as usize + a * n;
            if self.add_to_average(first..first + n, own, reach) > 0.0 {
                self.average(child, reach, rest);
            }
            child = self.tree.nodes()[child].end as usize;
        }
    }

    /// Sets `reach` to the reach probability of the player's own actions including this action, adds it to the average
    /// and returns its sum.
    #[inline]
    fn add_to_average(&mut self, row: std::ops::Range<usize>, own: &[f64], reach: &mut [f64]) -> f64 {
        let mut total = 0.0;
        let sums = &mut self.sums[row.clone()];
        for (((r, s), sum), o) in reach.iter_mut().zip(&self.strategy[row]).zip(sums).zip(own) {
            *r = s * o;
            *sum += self.weight * *r;
            total += *r;
        }
        total
    }
}
