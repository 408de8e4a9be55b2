//! Exact values of policies and of their best responses.

use super::policy::Policy;
use super::tree::Tree;

impl Policy {
    /// Expected utility of player 0 if both players use this policy.
    pub fn value(&self) -> f64 {
        self.against(0, false)
    }

    /// For each player: expected utility of the best response to the opponent's policy.
    pub fn best_responses(&self) -> [f64; 2] {
        [self.against(0, true), self.against(1, true)]
    }

    /// Exploitability in units of utility: the mean utility of the two best responses, (br₀ + br₁) / 2. It is at least
    /// 0, and 0 only at an equilibrium.
    pub fn exploitability(&self) -> f64 {
        let [first, second] = self.best_responses();
        (first + second) / 2.0
    }

    /// Expected utility of a player against the opponent's policy, with the player's own policy or the best response.
    fn against(&self, player: usize, best: bool) -> f64 {
        let tree = &*self.tree;
        let walk = Walk { tree, probabilities: &self.probabilities, player, best };
        // Two vectors per level, and the argument of the root.
        let mut scratch = vec![0.0; 2 * tree.widest() * (tree.depth() + 1)];
        let (value, rest) = scratch.split_at_mut(tree.size(player));
        walk.visit(0, tree.privates(1 - player), value, rest);
        value.iter().zip(tree.privates(player)).map(|(v, p)| v * p).sum()
    }
}

struct Walk<'a> {
    tree: &'a Tree,
    probabilities: &'a [f64],
    player: usize,
    best: bool,
}

impl Walk<'_> {
    /// Sets `value`, by private index of the player, to the counterfactual value of a node. This is the sum of
    /// utilities over the opponent's private indices, weighted by `other`, the reach probability of the opponent's deal
    /// and actions. All actions have the same weights, so the best action has the highest value.
    fn visit(&self, at: usize, other: &[f64], value: &mut [f64], scratch: &mut [f64]) {
        let node = self.tree.nodes()[at];
        value.fill(0.0);
        if node.is_end() {
            self.tree.add_payoffs(self.player, node.at, other, value);
            return;
        }
        let (actions, first) = (node.actions as usize, node.at as usize);
        let Some(mover) = node.mover else {
            let (below, rest) = scratch.split_at_mut(value.len());
            let mut child = at + 1;
            for _ in 0..actions {
                self.visit(child, other, below, rest);
                value.iter_mut().zip(&*below).for_each(|(v, b)| *v += b);
                child = self.tree.nodes()[child].end as usize;
            }
            return;
        };
        let own_turn = usize::from(mover) == self.player;
        let n = if own_turn { value.len() } else { other.len() };
        let table = &self.probabilities[first..first + n * actions];
        let (below, rest) = scratch.split_at_mut(value.len());
        let (reach, rest) = rest.split_at_mut(other.len());
        let mut child = at + 1;
        for a in 0..actions {
            // Probabilities of this action, by private index.
            let action = table.iter().skip(a).step_by(actions);
            if own_turn {
                self.visit(child, other, below, rest);
                for ((v, b), p) in value.iter_mut().zip(&*below).zip(action) {
                    *v = match self.best {
                        true if a == 0 => *b,
                        true => v.max(*b),
                        false => *v + p * b,
                    };
                }
            } else {
                for ((r, o), p) in reach.iter_mut().zip(other).zip(action) {
                    *r = o * p;
                }
                // Actions that the opponent never plays contribute 0.
                if reach.iter().any(|r| *r != 0.0) {
                    self.visit(child, reach, below, rest);
                    value.iter_mut().zip(&*below).for_each(|(v, b)| *v += b);
                }
            }
            child = self.tree.nodes()[child].end as usize;
        }
    }
}
