//! The public tree of a game, unrolled into flat arrays.

use crate::exact::{ExactError, MAX_STATES};
use adept_game::PublicTree;
use adept_game::Turn;
use rustc_hash::FxHashMap;

/// All public states of a game in preorder, so that a traversal reads every table from start to end.
#[derive(Debug)]
pub struct Tree {
    /// For each player: the probability of each private index.
    privates: [Vec<f64>; 2],
    nodes: Vec<Node>,
    /// For each player: its distinct payoff matrices, one after another, each `[opponent's private][own private]`. A
    /// row then serves all own private indices at once.
    payoffs: [Vec<f64>; 2],
    /// Length of a table with one number for each node, private index of its player, and action.
    entries: usize,
    /// Largest number of actions from the root to a terminal node.
    depth: usize,
}

/// A public state. The first child of a node directly follows it. Each other child starts at the [`end`](Self::end) of
/// the previous child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Player to move; none if the game is over.
    pub(super) mover: Option<u8>,
    /// Number of actions.
    pub(super) actions: u32,
    /// Start of this node's entries in a table. For a terminal node, the index of its payoff matrix.
    pub(super) at: u32,
    /// Index after the last node of this subtree.
    pub(super) end: u32,
}

impl Tree {
    /// Unrolls a game.
    ///
    /// # Errors
    /// [`ExactError::Chance`] if it has no public tree, [`ExactError::Size`] if it is too large.
    pub fn new<G: PublicTree>(game: &G) -> Result<Self, ExactError> {
        let privates = [game.privates(0), game.privates(1)];
        let sizes = [privates[0].len(), privates[1].len()];
        if sizes.contains(&0) {
            return Err(ExactError::Chance);
        }
        // Count the nodes first: payoffs are most of the work.
        let mut size = Size { nodes: 0, entries: 0, pairs: sizes[0].saturating_mul(sizes[1]) };
        size.count(game, &game.root(), sizes)?;
        let mut tree = Self {
            privates,
            nodes: Vec::with_capacity(size.nodes),
            payoffs: [Vec::new(), Vec::new()],
            entries: 0,
            depth: 0,
        };
        tree.unroll(game, &game.root(), 0, &mut Matrices::default())?;
        Ok(tree)
    }

    /// Number of public states.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Always false: the root is a public state.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Number of information sets: pairs of a decision node and a private index of the player to move.
    pub fn information_sets(&self) -> usize {
        self.nodes.iter().filter_map(|node| node.mover).map(|p| self.size(p.into())).sum()
    }

    /// Player to move at a node (index in preorder). None at terminal nodes and for unknown nodes.
    pub fn mover(&self, node: usize) -> Option<usize> {
        self.nodes.get(node)?.mover.map(usize::from)
    }

    /// Probabilities of a player's private indices. Empty for an unknown player.
    pub fn privates(&self, player: usize) -> &[f64] {
        self.privates.get(player).map_or(&[], Vec::as_slice)
    }

    /// Number of private indices of a player.
    pub(super) fn size(&self, player: usize) -> usize {
        self.privates[player].len()
    }

    /// Larger number of private indices of the two players.
    pub(super) fn widest(&self) -> usize {
        self.size(0).max(self.size(1))
    }

    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Length of a table with one number for each node, private index of its player, and action.
    pub(super) fn entries(&self) -> usize {
        self.entries
    }

    /// Largest number of actions from the root to a terminal node.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// A payoff matrix for a player, `[opponent's private][own private]`.
    pub(super) fn payoff(&self, player: usize, matrix: u32) -> &[f64] {
        let pairs = self.size(0) * self.size(1);
        let from = matrix as usize * pairs;
        &self.payoffs[player][from..from + pairs]
    }

    /// Adds the counterfactual value of a terminal node to `value`, by own private index i: Σⱼ otherⱼ uⱼᵢ. `other`
    /// holds the reach probabilities of the opponent's private indices.
    #[inline]
    pub(super) fn add_payoffs(&self, player: usize, matrix: u32, other: &[f64], value: &mut [f64]) {
        for (row, reach) in self.payoff(player, matrix).chunks_exact(value.len()).zip(other) {
            // Zero reach probabilities become common as policies converge.
            if *reach != 0.0 {
                for (v, payoff) in value.iter_mut().zip(row) {
                    *v += reach * payoff;
                }
            }
        }
    }

    /// Calls `each` with every decision node and its public state, in preorder. For a game other than the tree's,
    /// visits only the part that both share.
    pub(super) fn walk<G: PublicTree, E>(
        &self,
        game: &G,
        each: &mut impl FnMut(usize, Node, &G::Public) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk_from(game, 0, &game.root(), each)
    }

    fn walk_from<G: PublicTree, E>(
        &self,
        game: &G,
        at: usize,
        public: &G::Public,
        each: &mut impl FnMut(usize, Node, &G::Public) -> Result<(), E>,
    ) -> Result<(), E> {
        let node = self.nodes[at];
        if node.mover.is_none() {
            return Ok(());
        }
        each(at, node, public)?;
        let mut actions = Vec::new();
        game.public_actions(public, &mut actions);
        let mut child = at + 1;
        for action in actions.iter().take(node.actions as usize) {
            self.walk_from(game, child, &game.public_apply(public, action), each)?;
            child = self.nodes[child].end as usize;
        }
        Ok(())
    }

    /// Appends the subtree of a public state that is `depth` actions from the root.
    fn unroll<G: PublicTree>(
        &mut self,
        game: &G,
        public: &G::Public,
        depth: usize,
        matrices: &mut Matrices,
    ) -> Result<(), ExactError> {
        self.depth = self.depth.max(depth);
        let place = self.nodes.len();
        let Turn::Player(player) = game.public_turn(public) else {
            let at = self.matrix(game, public, matrices)?;
            self.nodes.push(Node { mover: None, actions: 0, at, end: place as u32 + 1 });
            return Ok(());
        };
        let mut actions = Vec::new();
        game.public_actions(public, &mut actions);
        let (n, at) = (actions.len() as u32, self.entries as u32);
        self.nodes.push(Node { mover: Some(player as u8), actions: n, at, end: 0 });
        self.entries += actions.len() * self.size(player);
        for action in &actions {
            self.unroll(game, &game.public_apply(public, action), depth + 1, matrices)?;
        }
        self.nodes[place].end = self.nodes.len() as u32;
        Ok(())
    }

    /// The index of a terminal node's payoff matrix. Equal matrices are stored once.
    fn matrix<G: PublicTree>(
        &mut self,
        game: &G,
        public: &G::Public,
        known: &mut Matrices,
    ) -> Result<u32, ExactError> {
        let sizes = [self.size(0), self.size(1)];
        game.payoffs(public, sizes, &mut known.matrix);
        known.bits.clear();
        known.bits.extend(known.matrix.iter().map(|payoff| payoff.to_bits()));
        if let Some(&number) = known.numbers.get(known.bits.as_slice()) {
            return Ok(number);
        }
        let pairs = sizes[0] * sizes[1];
        if self.payoffs[0].len() + pairs > MAX_STATES {
            return Err(ExactError::Size(MAX_STATES));
        }
        let number = known.numbers.len() as u32;
        known.numbers.insert(known.bits.clone(), number);
        let column = |j: usize| known.matrix.iter().skip(j).step_by(sizes[1]).copied();
        self.payoffs[0].extend((0..sizes[1]).flat_map(column));
        self.payoffs[1].extend(known.matrix.iter().map(|payoff| -payoff));
        Ok(number)
    }
}

/// Index of payoff matrices by their bits, with buffers for the next one.
#[derive(Default)]
struct Matrices {
    numbers: FxHashMap<Vec<u64>, u32>,
    matrix: Vec<f64>,
    bits: Vec<u64>,
}

/// Size of a tree.
struct Size {
    nodes: usize,
    entries: usize,
    pairs: usize,
}

impl Size {
    fn count<G: PublicTree>(
        &mut self,
        game: &G,
        public: &G::Public,
        sizes: [usize; 2],
    ) -> Result<(), ExactError> {
        self.nodes += 1;
        match game.public_turn(public) {
            Turn::Over => {}
            Turn::Player(player @ 0..2) => {
                let mut actions = Vec::new();
                game.public_actions(public, &mut actions);
                self.entries = self.entries.saturating_add(actions.len().saturating_mul(sizes[player]));
                if self.entries > MAX_STATES || self.pairs > MAX_STATES {
                    return Err(ExactError::Size(MAX_STATES));
                }
                for action in &actions {
                    self.count(game, &game.public_apply(public, action), sizes)?;
                }
            }
            Turn::Player(_) | Turn::Chance => return Err(ExactError::Chance),
        }
        Ok(())
    }
}
