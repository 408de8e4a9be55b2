//! The public tree of a game, unrolled into flat arrays.

use crate::error::ExactError;
use adept_game::{PublicTree, Turn};
use adept_ground::limits::TREE;
use rustc_hash::FxHashMap;

/// An information set of the player to move at a decision node.
pub(super) struct Set<'a, G: PublicTree> {
    /// Index of the node.
    pub(super) at: usize,
    pub(super) player: usize,
    pub(super) private: usize,
    /// A state in it. The player cannot see the opponent's private index, so any works.
    pub(super) state: &'a G::State,
    pub(super) actions: &'a [G::Action],
}

/// All public states of a game in preorder, so that a traversal reads every table from start to end.
#[derive(Debug)]
pub struct Tree {
    /// For each player: the probability of each private index.
    privates: [Vec<f64>; 2],
    nodes: Vec<Node>,
    /// For each player: its distinct payoff matrices, one after another, each `[opponent's private][own private]`. A
    /// row then serves all own private indices at once. Payoffs count with the weight of their deal.
    payoffs: [Vec<f64>; 2],
    /// The distinct weights of deals at decision nodes, `[first player's private][second player's private]`; none if all are 1.
    weights: Vec<f64>,
    /// Length of a table with one number for each node, private index of its player, and action.
    entries: usize,
    /// Largest number of actions from the root to a terminal node.
    depth: usize,
}

/// A public state. The first child of a node directly follows it. Each other child starts at the [`end`](Self::end) of
/// the previous child.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    /// Player to move; none for chance and if the game is over.
    pub(super) mover: Option<u8>,
    /// Number of actions or chance outcomes; 0 if the game is over.
    pub(super) actions: u32,
    /// Start of this node's entries in a table. For a terminal node, the index of its payoff matrix.
    pub(super) at: u32,
    /// Index of its weights.
    pub(super) weights: u32,
    /// Index after the last node of this subtree.
    pub(super) end: u32,
}

impl Node {
    /// Whether the game is over.
    pub(super) fn is_end(&self) -> bool {
        self.actions == 0
    }
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
            weights: Vec::new(),
            entries: 0,
            depth: 0,
        };
        tree.unroll(game, &game.root(), 0, &mut Stored::default())?;
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

    /// Player to move at a node (index in preorder). None at chance and terminal nodes and for unknown nodes.
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

    /// All payoff matrices of a player, `[matrix][opponent's private][own private]`.
    pub(super) fn payoffs(&self, player: usize) -> &[f64] {
        &self.payoffs[player]
    }

    /// A payoff matrix for a player, `[opponent's private][own private]`.
    pub(super) fn payoff(&self, player: usize, matrix: u32) -> &[f64] {
        let pairs = self.size(0) * self.size(1);
        let from = matrix as usize * pairs;
        &self.payoffs[player][from..from + pairs]
    }

    /// Probability that a node is reached by the deal, chance and the opponent, by own private index of `player`. `other` holds
    /// the reach probabilities of the opponent's private indices.
    pub(super) fn reached(&self, node: Node, player: usize, other: &[f64], own: usize) -> f64 {
        if self.weights.is_empty() {
            return other.iter().sum();
        }
        let columns = self.size(1);
        let first = node.weights as usize * self.size(0) * columns;
        let weight = |j: usize| match player {
            0 => self.weights[first + own * columns + j],
            _ => self.weights[first + j * columns + own],
        };
        other.iter().enumerate().map(|(j, reach)| reach * weight(j)).sum()
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

    /// Calls `each` with the information sets of every decision node, in preorder. For a game other than the tree's,
    /// visits only the part that both share.
    pub(super) fn walk<G: PublicTree, E>(
        &self,
        game: &G,
        each: &mut impl FnMut(Set<'_, G>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.walk_from(game, 0, &game.root(), each)
    }

    fn walk_from<G: PublicTree, E>(
        &self,
        game: &G,
        at: usize,
        public: &G::Public,
        each: &mut impl FnMut(Set<'_, G>) -> Result<(), E>,
    ) -> Result<(), E> {
        let node = self.nodes[at];
        if node.is_end() {
            return Ok(());
        }
        let mut actions = Vec::new();
        game.public_actions(public, &mut actions);
        if let Some(player) = node.mover.map(usize::from) {
            for private in 0..self.size(player) {
                let mut own = [0; 2];
                own[player] = private;
                each(Set { at, player, private, state: &game.state(public, own), actions: &actions })?;
            }
        }
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
        known: &mut Stored,
    ) -> Result<(), ExactError> {
        self.depth = self.depth.max(depth);
        let place = self.nodes.len();
        let mover = match game.public_turn(public) {
            Turn::Player(player) => Some(player),
            Turn::Chance => None,
            Turn::Over => {
                let at = self.matrix(game, public, &mut known.payoffs)?;
                self.nodes.push(Node { mover: None, actions: 0, at, end: place as u32 + 1, weights: 0 });
                return Ok(());
            }
        };
        let mut actions = Vec::new();
        game.public_actions(public, &mut actions);
        let (n, at) = (actions.len() as u32, self.entries as u32);
        let weights = if mover.is_some() { self.weights_of(game, public, &mut known.weights)? } else { 0 };
        self.nodes.push(Node { mover: mover.map(|p| p as u8), actions: n, at, end: 0, weights });
        self.entries += mover.map_or(0, |player| actions.len() * self.size(player));
        for action in &actions {
            self.unroll(game, &game.public_apply(public, action), depth + 1, known)?;
        }
        self.nodes[place].end = self.nodes.len() as u32;
        Ok(())
    }

    /// The index of the weights of deals at a public state. Equal matrices are stored once; games whose weights are all 1 have
    /// none.
    fn weights_of<G: PublicTree>(
        &mut self,
        game: &G,
        public: &G::Public,
        known: &mut Matrices,
    ) -> Result<u32, ExactError> {
        if !game.is_weighted() {
            return Ok(0);
        }
        let (rows, columns) = (self.size(0), self.size(1));
        known.matrix.clear();
        known.matrix.extend((0..rows * columns).map(|k| game.weight(public, [k / columns, k % columns])));
        let (number, is_new) = known.number(self.weights.len())?;
        if is_new {
            self.weights.extend_from_slice(&known.matrix);
        }
        Ok(number)
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
        let (number, is_new) = known.number(self.payoffs[0].len())?;
        if !is_new {
            return Ok(number);
        }
        let column = |j: usize| known.matrix.iter().skip(j).step_by(sizes[1]).copied();
        self.payoffs[0].extend((0..sizes[1]).flat_map(column));
        self.payoffs[1].extend(known.matrix.iter().map(|payoff| -payoff));
        Ok(number)
    }
}

/// What a tree has stored.
#[derive(Default)]
struct Stored {
    payoffs: Matrices,
    weights: Matrices,
}

/// Index of matrices by their bits, with buffers for the next one.
#[derive(Default)]
struct Matrices {
    numbers: FxHashMap<Vec<u64>, u32>,
    matrix: Vec<f64>,
    bits: Vec<u64>,
}

impl Matrices {
    /// The number of the matrix in the buffer, and whether it is new. `stored` numbers are kept so far.
    fn number(&mut self, stored: usize) -> Result<(u32, bool), ExactError> {
        self.bits.clear();
        self.bits.extend(self.matrix.iter().map(|v| v.to_bits()));
        if let Some(&number) = self.numbers.get(self.bits.as_slice()) {
            return Ok((number, false));
        }
        if stored + self.matrix.len() > TREE {
            return Err(ExactError::Size(TREE));
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(self.bits.clone(), number);
        Ok((number, true))
    }
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
            turn @ (Turn::Player(0..2) | Turn::Chance) => {
                let mut actions = Vec::new();
                game.public_actions(public, &mut actions);
                if let Turn::Player(player) = turn {
                    self.entries = self.entries.saturating_add(actions.len().saturating_mul(sizes[player]));
                }
                if self.nodes > TREE || self.entries > TREE || self.pairs > TREE {
                    return Err(ExactError::Size(TREE));
                }
                for action in &actions {
                    self.count(game, &game.public_apply(public, action), sizes)?;
                }
            }
            Turn::Player(_) => return Err(ExactError::Chance),
        }
        Ok(())
    }
}
