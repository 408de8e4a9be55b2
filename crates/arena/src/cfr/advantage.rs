//! Instantaneous regrets of a policy, by information set.

use super::policy::Policy;
use super::tree::Tree;

/// The advantages of a policy and its reach probabilities.
///
/// Information sets have the order of a [`Policy`]'s tables: decision nodes in preorder, and at each node the private
/// indices of the player to move.
#[derive(Clone, Debug, Default)]
pub struct Advantages {
    /// A(I, a) = v(I, a) − v(I) for each entry of a policy, in units of utility: the gain from playing a once at I and
    /// following the policy afterwards. 0 if the opponent never reaches I.
    pub regrets: Vec<f32>,
    /// For each information set: reach probability of the opponent's deal and actions, and of chance.
    pub other: Vec<f64>,
    /// For each information set: reach probability of the player's own deal and actions.
    pub own: Vec<f64>,
}

impl Policy {
    /// Replaces `found` by the advantages of both players if both play this policy.
    pub fn advantages(&self, found: &mut Advantages) {
        let tree = &*self.tree;
        let sets = tree.information_sets();
        found.regrets.resize(self.probabilities.len(), 0.0);
        found.other.resize(sets, 0.0);
        found.own.resize(sets, 0.0);
        let mut first = Vec::with_capacity(tree.len());
        let mut count = 0;
        for node in tree.nodes() {
            first.push(count);
            count += node.mover.map_or(0, |p| tree.size(p.into()));
        }
        for player in 0..2 {
            let mut pass = Pass { tree, first: &first, policy: &self.probabilities, player, found };
            let size = tree.size(player);
            let mut value = vec![0.0; size];
            pass.visit(0, tree.privates(player), tree.privates(1 - player), &mut value);
        }
    }
}

struct Pass<'a> {
    tree: &'a Tree,
    /// For each node: index of its first information set.
    first: &'a [usize],
    policy: &'a [f64],
    player: usize,
    found: &'a mut Advantages,
}

impl Pass<'_> {
    /// Sets `value[i]` to the counterfactual value of a node for private index i of the player. `own` and `other` hold
    /// the reach probabilities of each player's deal and actions, by private index.
    fn visit(&mut self, at: usize, own: &[f64], other: &[f64], value: &mut [f64]) {
        let node = self.tree.nodes()[at];
        value.fill(0.0);
        if node.is_end() {
            self.tree.add_payoffs(self.player, node.at, other, value);
            return;
        }
        let (actions, first) = (node.actions as usize, node.at as usize);
        let mut child = at + 1;
        let Some(mover) = node.mover else {
            let mut below = vec![0.0; value.len()];
            for _ in 0..actions {
                self.visit(child, own, other, &mut below);
                value.iter_mut().zip(&below).for_each(|(v, b)| *v += b);
                child = self.tree.nodes()[child].end as usize;
            }
            return;
        };
        let own_turn = usize::from(mover) == self.player;
        let n = if own_turn { own.len() } else { other.len() };
        let table = &self.policy[first..first + n * actions];
        let mut below = vec![0.0; value.len() * if own_turn { actions } else { 1 }];
        let mut reach = vec![0.0; n];
        for a in 0..actions {
            let action = table.iter().skip(a).step_by(actions);
            let from = if own_turn { own } else { other };
            for ((r, p), from) in reach.iter_mut().zip(action).zip(from) {
                *r = p * from;
            }
            if own_turn {
                self.visit(child, &reach, other, &mut below[a * value.len()..(a + 1) * value.len()]);
            } else {
                self.visit(child, own, &reach, &mut below);
                value.iter_mut().zip(&below).for_each(|(v, b)| *v += b);
            }
            child = self.tree.nodes()[child].end as usize;
        }
        if !own_turn {
            return;
        }
        for (i, v) in value.iter_mut().enumerate() {
            let total = self.tree.reached(node, self.player, other, i);
            let scale = if total > 0.0 { 1.0 / total } else { 0.0 };
            let row = first + i * actions;
            *v = (0..actions).map(|a| self.policy[row + a] * below[a * n + i]).sum();
            for a in 0..actions {
                self.found.regrets[row + a] = ((below[a * n + i] - *v) * scale) as f32;
            }
            let set = self.first[at] + i;
            self.found.other[set] = total;
            self.found.own[set] = own[i];
        }
    }
}
