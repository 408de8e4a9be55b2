//! CFR+, a variant of counterfactual regret minimisation.

use super::lanes::{LANES, Lanes, Many, One, Width, padded};
use super::policy::Policy;
use super::tree::{Node, Tree};
use crate::error::ExactError;
use adept_game::PublicTree;
use adept_model::native::Isa;
use std::sync::Arc;

/// CFR+ (Tammelin 2014, "Solving large imperfect information games using CFR+"): regrets are floored at 0, players are
/// updated in turn, and iteration t has weight t in the average policy.
///
/// One iteration traverses the public tree once per player and processes all private indices of both players together, in the
/// widest vectors of the processor. The instruction set does not change a bit of the result.
/// Regrets and policies are `f64`, because exploitability falls far below the precision of `f32`.
pub struct CfrPlus {
    tree: Arc<Tree>,
    isa: Isa,
    /// For each player: blocks of a row.
    blocks: [usize; 2],
    nodes: Vec<Place>,
    /// For each player: its payoff matrices, `[matrix][opponent's private][own private]`.
    payoffs: [Vec<Lanes>; 2],
    /// For each player: the probability of each private index.
    privates: [Vec<Lanes>; 2],
    /// For each player: 1 at each private index, 0 in the padding.
    ones: [Vec<Lanes>; 2],
    /// A row for each decision node and action.
    table: Vec<Learned>,
    iterations: u64,
    scratch: Vec<Lanes>,
}

/// What is learned for an action, by private index of the player to move. The three are read together.
#[derive(Clone, Copy)]
struct Learned {
    /// R⁺, the sums of counterfactual regrets floored at 0.
    regret: Lanes,
    /// σ, the policy from regret matching: R⁺ / Σ R⁺, uniform if all are 0.
    strategy: Lanes,
    /// Numerator of the average policy: Σₜ t · (reach probability of the player's own actions, including this one).
    sum: Lanes,
}

/// What the traversal needs to know of a node. Where there is only one action, nothing can be learned, and all fields but `end`
/// are those of its child.
#[derive(Clone, Copy)]
struct Place {
    /// The player to move; [`CHANCE`] if chance moves.
    mover: u32,
    /// Number of actions or chance outcomes; 0 if the game is over.
    actions: u32,
    /// Where its rows in the table begin. For a terminal node, the index of its payoff matrix.
    at: u32,
    /// The first child. Each other child starts at the end of the previous one.
    child: u32,
    /// Index after the last node of this subtree.
    end: u32,
}

const CHANCE: u32 = 2;

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
        Self::with(tree, Isa::detect())
    }

    /// Starts with one of the instruction sets of this machine.
    fn with(tree: Arc<Tree>, isa: Isa) -> Self {
        let blocks = [0, 1].map(|player| tree.size(player).div_ceil(LANES));
        let rows =
            |node: &Node| node.mover.map_or(0, |player| node.actions as usize * blocks[usize::from(player)]);
        let size = tree.nodes().iter().filter(|node| node.actions > 1).map(rows).sum();
        let (mut nodes, mut table) = (Vec::<Place>::with_capacity(tree.len()), Vec::with_capacity(size));
        for (node, child) in tree.nodes().iter().zip(1..) {
            let mover = node.mover.map_or(CHANCE, u32::from);
            let at = if node.is_end() { node.at } else { table.len() as u32 };
            nodes.push(Place { mover, actions: node.actions, at, child, end: node.end });
            if mover != CHANCE && node.actions > 1 {
                let strategy = Lanes::all(1.0 / f64::from(node.actions));
                let first = Learned { regret: Lanes::ZERO, strategy, sum: Lanes::ZERO };
                table.extend(std::iter::repeat_n(first, rows(node)));
            }
        }
        // Children come after their parents.
        for at in (0..nodes.len()).rev() {
            if nodes[at].actions == 1 {
                nodes[at] = Place { end: nodes[at].end, ..nodes[at + 1] };
            }
        }
        let payoffs = |player: usize| tree.payoffs(player).chunks_exact(tree.size(player));
        Self {
            payoffs: [0, 1]
                .map(|player| payoffs(player).flat_map(|values| padded(values, blocks[player])).collect()),
            privates: [0, 1].map(|player| padded(tree.privates(player), blocks[player]).collect()),
            ones: [0, 1].map(|player| padded(&vec![1.0; tree.size(player)], blocks[player]).collect()),
            table,
            // Three rows per level, and the value of the root.
            scratch: vec![Lanes::ZERO; 3 * blocks[0].max(blocks[1]) * (tree.depth() + 1)],
            blocks,
            iterations: 0,
            nodes,
            isa,
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
                match self.blocks {
                    [1, 1] => self.update(player, One),
                    blocks => self.update(player, Many { own: blocks[player], other: blocks[1 - player] }),
                }
            }
        }
    }

    /// Updates one player.
    fn update<W: Width>(&mut self, player: usize, width: W) {
        match self.isa {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the instruction set is one of this machine.
            Isa::Avx512 => self.pass(player, width, unsafe { Avx512::new() }),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: see above.
            Isa::Avx2 => self.pass(player, width, unsafe { Avx2::new() }),
            Isa::Portable => self.pass(player, width, Portable),
        }
    }

    fn pass<W: Width, L: Level>(&mut self, player: usize, width: W, level: L) {
        let pass = Pass {
            nodes: &self.nodes,
            payoffs: &self.payoffs[player],
            opponents: self.tree.size(1 - player),
            player: player as u32,
            weight: self.iterations as f64,
            width,
            level,
        };
        let reach = Reach { own: &self.ones[player], other: &self.privates[1 - player] };
        let (value, scratch) = self.scratch.split_at_mut(width.own());
        level.visit(&pass, &mut self.table, 0, reach, value, scratch);
    }

    /// The average policy, which converges to an equilibrium. Uniform at information sets that the average never
    /// reaches.
    pub fn average(&self) -> Policy {
        Policy::from_fn(&self.tree, |at, private, row| {
            let node = self.nodes[at];
            let Some(&blocks) = self.blocks.get(node.mover as usize).filter(|_| row.len() > 1) else {
                return;
            };
            let first = node.at as usize + private / LANES;
            let sum = |a: usize| self.table[first + a * blocks].sum.0[private % LANES];
            let total: f64 = (0..row.len()).map(sum).sum();
            if total.is_normal() {
                row.iter_mut().enumerate().for_each(|(a, p)| *p = sum(a) / total);
            }
        })
    }
}

/// Probabilities that a node is reached, each a row by private index.
#[derive(Clone, Copy)]
struct Reach<'a> {
    /// By the player's own actions.
    own: &'a [Lanes],
    /// By the opponent's deal and actions.
    other: &'a [Lanes],
}

/// An instruction set, as a type: the traversal is compiled for each, with each [`Width`].
trait Level: Copy {
    /// [`Pass::visit`].
    fn visit<W: Width>(
        self,
        pass: &Pass<'_, W, Self>,
        table: &mut [Learned],
        at: usize,
        reach: Reach<'_>,
        value: &mut [Lanes],
        scratch: &mut [Lanes],
    ) {
        pass.visit(table, at, reach, value, scratch);
    }

    /// [`Pass::average`].
    fn average<W: Width>(
        self,
        pass: &Pass<'_, W, Self>,
        table: &mut [Learned],
        at: usize,
        own: &[Lanes],
        scratch: &mut [Lanes],
    ) {
        pass.average(table, at, own, scratch);
    }
}

/// What every processor of the target has.
#[derive(Clone, Copy)]
struct Portable;

impl Level for Portable {}

/// Defines a [`Level`] with features of a processor.
macro_rules! level {
    ($name:ident, $features:literal) => {
        /// Proves that this machine has the instruction set.
        #[cfg(target_arch = "x86_64")]
        #[derive(Clone, Copy)]
        struct $name(());

        #[cfg(target_arch = "x86_64")]
        impl $name {
            /// # Safety
            /// This machine must have the features.
            unsafe fn new() -> Self {
                Self(())
            }
        }

        #[cfg(target_arch = "x86_64")]
        impl Level for $name {
            #[inline(always)]
            fn visit<W: Width>(
                self,
                pass: &Pass<'_, W, Self>,
                table: &mut [Learned],
                at: usize,
                reach: Reach<'_>,
                value: &mut [Lanes],
                scratch: &mut [Lanes],
            ) {
                #[target_feature(enable = $features)]
                fn visit<W: Width>(
                    pass: &Pass<'_, W, $name>,
                    table: &mut [Learned],
                    at: usize,
                    reach: Reach<'_>,
                    value: &mut [Lanes],
                    scratch: &mut [Lanes],
                ) {
                    pass.visit(table, at, reach, value, scratch);
                }
                // SAFETY: the value proves it.
                unsafe { visit(pass, table, at, reach, value, scratch) }
            }

            #[inline(always)]
            fn average<W: Width>(
                self,
                pass: &Pass<'_, W, Self>,
                table: &mut [Learned],
                at: usize,
                own: &[Lanes],
                scratch: &mut [Lanes],
            ) {
                #[target_feature(enable = $features)]
                fn average<W: Width>(
                    pass: &Pass<'_, W, $name>,
                    table: &mut [Learned],
                    at: usize,
                    own: &[Lanes],
                    scratch: &mut [Lanes],
                ) {
                    pass.average(table, at, own, scratch);
                }
                // SAFETY: the value proves it.
                unsafe { average(pass, table, at, own, scratch) }
            }
        }
    };
}

level!(Avx512, "avx512f,avx512dq,avx2,fma,popcnt,bmi1");
level!(Avx2, "avx2,fma,popcnt,bmi1");

/// The update of one player.
struct Pass<'a, W, L> {
    nodes: &'a [Place],
    payoffs: &'a [Lanes],
    /// The opponent's number of private indices.
    opponents: usize,
    player: u32,
    /// Weight of this iteration in the average.
    weight: f64,
    width: W,
    level: L,
}

impl<W: Width, L: Level> Pass<'_, W, L> {
    /// Adds the counterfactual value of a node to `value`, by private index of the player, and updates the subtree.
    #[inline(always)]
    fn visit(
        &self,
        table: &mut [Learned],
        at: usize,
        reach: Reach<'_>,
        value: &mut [Lanes],
        scratch: &mut [Lanes],
    ) {
        let node = self.nodes[at];
        let n = self.width.own();
        let (own, other, value) = (&reach.own[..n], &reach.other[..self.width.other()], &mut value[..n]);
        let (actions, mut row) = (node.actions as usize, node.at as usize);
        if actions == 0 {
            self.add_payoffs(node.at, other, value);
            return;
        }
        let mut child = node.child as usize;
        if node.mover == CHANCE {
            // Payoffs already count with the probabilities of chance.
            for _ in 0..actions {
                self.level.visit(self, table, child, Reach { own, other }, value, scratch);
                child = self.nodes[child].end as usize;
            }
            return;
        }
        if node.mover != self.player {
            let n = self.width.other();
            let (reach, rest) = scratch.split_at_mut(n);
            for _ in 0..actions {
                let mut reached = false;
                for ((r, learned), o) in reach.iter_mut().zip(&table[row..row + n]).zip(other) {
                    *r = learned.strategy.times(*o);
                    reached |= r.any();
                }
                let next = self.nodes[child];
                // If the opponent never reaches this node, all values and regrets are 0 and only the average changes.
                if next.actions == 0 {
                    self.add_payoffs(next.at, reach, value);
                } else if reached {
                    self.level.visit(self, table, child, Reach { own, other: reach }, value, rest);
                } else {
                    self.level.average(self, table, child, own, rest);
                }
                (child, row) = (next.end as usize, row + n);
            }
            return;
        }

        let (reach, rest) = scratch.split_at_mut(n);
        let (below, rest) = rest.split_at_mut(n);
        let (mean, rest) = rest.split_at_mut(n);
        mean.fill(Lanes::ZERO);
        let first = row;
        for _ in 0..actions {
            self.add_to_average(table, row, own, reach);
            below.fill(Lanes::ZERO);
            let next = self.nodes[child];
            match next.actions {
                0 => self.add_payoffs(next.at, other, below),
                _ => self.level.visit(self, table, child, Reach { own: reach, other }, below, rest),
            }
            for ((learned, b), m) in table[row..row + n].iter_mut().zip(&*below).zip(&mut *mean) {
                learned.regret = learned.regret.plus(*b);
                *m = m.plus(learned.strategy.times(*b));
            }
            (child, row) = (next.end as usize, row + n);
        }
        // R⁺ ← max(R⁺ + v(I, a) − v(I), 0). The values v(I, a) have already been added.
        let total = reach;
        total.fill(Lanes::ZERO);
        let table = &mut table[first..row];
        for row in table.chunks_exact_mut(n) {
            for ((learned, m), t) in row.iter_mut().zip(&*mean).zip(&mut *total) {
                learned.regret = learned.regret.zip(*m, |r, m| if r - m > 0.0 { r - m } else { 0.0 });
                *t = t.plus(learned.regret);
            }
        }
        let uniform = 1.0 / actions as f64;
        // The inverse of a subnormal number can be infinite.
        for t in &mut *total {
            *t = t.zip(*t, |t, _| if t >= f64::MIN_POSITIVE { 1.0 / t } else { 0.0 });
        }
        for row in table.chunks_exact_mut(n) {
            for (learned, t) in row.iter_mut().zip(&*total) {
                learned.strategy = learned.regret.zip(*t, |r, t| if t > 0.0 { r * t } else { uniform });
            }
        }
        for (v, m) in value.iter_mut().zip(&*mean) {
            *v = v.plus(*m);
        }
    }

    /// Adds the counterfactual value of a terminal node to `value`, by own private index i: Σⱼ otherⱼ uⱼᵢ.
    #[inline(always)]
    fn add_payoffs(&self, matrix: u32, other: &[Lanes], value: &mut [Lanes]) {
        let n = value.len();
        let first = matrix as usize * self.opponents * n;
        let payoffs = &self.payoffs[first..first + self.opponents * n];
        for (block, v) in value.iter_mut().enumerate() {
            // In registers: the next sum does not wait for memory.
            let mut sum = *v;
            for (row, reach) in payoffs.chunks_exact(n).zip(other.iter().flat_map(|block| &block.0)) {
                sum = sum.zip(row[block], |sum, payoff| sum + reach * payoff);
            }
            *v = sum;
        }
    }

    /// Updates the averages below a node that the opponent never reaches.
    #[inline(always)]
    fn average(&self, table: &mut [Learned], at: usize, own: &[Lanes], scratch: &mut [Lanes]) {
        let node = self.nodes[at];
        let n = self.width.own();
        let (own, mut row) = (&own[..n], node.at as usize);
        let mut child = node.child as usize;
        let (reach, rest) = scratch.split_at_mut(n);
        for _ in 0..node.actions {
            if node.mover != self.player {
                self.level.average(self, table, child, own, rest);
            } else if self.add_to_average(table, row, own, reach) {
                self.level.average(self, table, child, reach, rest);
            }
            (child, row) = (self.nodes[child].end as usize, row + n);
        }
    }

    /// Sets `reach` to the reach probability of the player's own actions including this action, adds it to the average
    /// and tells whether it is above 0 anywhere.
    #[inline(always)]
    fn add_to_average(&self, table: &mut [Learned], row: usize, own: &[Lanes], reach: &mut [Lanes]) -> bool {
        let mut reached = false;
        for ((r, learned), o) in reach.iter_mut().zip(&mut table[row..row + own.len()]).zip(own) {
            *r = learned.strategy.times(*o);
            learned.sum = learned.sum.zip(*r, |sum, r| sum + self.weight * r);
            reached |= r.any();
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::liars_dice::LiarsDice;

    #[test]
    fn instruction_sets_give_the_same_bits() {
        // Rows of one block, and of two for the player with ten private indices.
        for name in ["1-1:6", "1-1:4:no-wild", "2-1:4"] {
            let game = LiarsDice::named(&format!("liars-dice:openspiel:{name}")).expect("a game");
            let tree = Arc::new(Tree::new(&game).expect("it is small"));
            let mut policies = Isa::available().into_iter().map(|isa| {
                let mut solver = CfrPlus::with(tree.clone(), isa);
                solver.iterate(10);
                solver.average().probabilities
            });
            let first = policies.next().expect("there is a portable one");
            assert!(policies.all(|policy| policy == first), "{name}");
        }
    }
}
