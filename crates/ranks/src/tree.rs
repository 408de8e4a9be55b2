//! The fixed tree in which results of shards are summed.
//!
//! A range of n shards is the sum of its first 2^k and of the rest, where 2^k is the largest power of two below n. The
//! order of additions therefore depends only on the number of shards, not on who computes them.

use std::ops::Range;

/// Sum of the shards of a range that is a node of the tree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// The shards.
    pub shards: Range<usize>,
    /// Sum of their losses.
    pub loss: f64,
    /// Sum of their vectors.
    pub vector: Vec<f32>,
}

/// Sums nodes incrementally, in the order of their shards.
#[derive(Debug)]
pub struct Tree {
    shards: usize,
    nodes: Vec<Node>,
    /// Vectors for reuse.
    spare: Vec<Vec<f32>>,
    /// Send and receive buffers for other ranks.
    pub(crate) buffers: [Vec<u8>; 2],
}

/// Whether a range is a node whose two children meet at `middle`.
fn joins(shards: usize, left: &Range<usize>, right: &Range<usize>) -> bool {
    let (from, middle, to) = (left.start, right.start, right.end);
    let size = middle - from;
    let fits = size.is_power_of_two() && from.is_multiple_of(2 * size);
    left.end == middle && fits && (to - middle == size || to == shards && to - middle < size)
}

/// The largest nodes of the tree over `shards` shards that lie within `block`.
pub fn nodes(shards: usize, block: Range<usize>) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for shard in block {
        let mut node = shard..shard + 1;
        while let Some(left) = found.last()
            && joins(shards, left, &node)
        {
            node = left.start..node.end;
            found.pop();
        }
        found.push(node);
    }
    found
}

impl Tree {
    /// Creates an empty sum over this many shards. Reuse it to reuse its memory.
    pub fn new(shards: usize) -> Self {
        Self { shards, nodes: Vec::new(), spare: Vec::new(), buffers: Default::default() }
    }

    /// A vector for the next node, with arbitrary content.
    pub fn vector(&mut self) -> Vec<f32> {
        self.spare.pop().unwrap_or_default()
    }

    /// The number of shards.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// Adds the next node, and merges complete nodes.
    ///
    /// # Panics
    /// If its vector has another length than the others.
    pub fn push(&mut self, mut node: Node) {
        while let Some(mut left) = self.nodes.pop() {
            if !joins(self.shards, &left.shards, &node.shards) {
                self.nodes.push(left);
                break;
            }
            assert_eq!(left.vector.len(), node.vector.len());
            left.vector.iter_mut().zip(&node.vector).for_each(|(a, b)| *a += b);
            left.loss += node.loss;
            left.shards.end = node.shards.end;
            self.spare.push(std::mem::replace(&mut node, left).vector);
        }
        self.nodes.push(node);
    }

    /// Moves up to `count` reusable vectors from another tree, to which as many nodes go.
    pub fn borrow(&mut self, from: &mut Self, count: usize) {
        let kept = from.spare.len().saturating_sub(count);
        self.spare.extend(from.spare.drain(kept..));
    }

    /// Removes and returns the remaining nodes in order: one if all shards were added.
    pub fn take(&mut self) -> Vec<Node> {
        std::mem::take(&mut self.nodes)
    }

    /// Returns vectors for reuse.
    pub fn give_back(&mut self, nodes: Vec<Node>) {
        self.spare.extend(nodes.into_iter().map(|node| node.vector));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The tree by its definition.
    fn sum(range: Range<usize>, leaf: &impl Fn(usize) -> f32) -> f32 {
        let n = range.len();
        if n == 1 {
            return leaf(range.start);
        }
        let middle = range.start + n.next_power_of_two() / 2;
        sum(range.start..middle, leaf) + sum(middle..range.end, leaf)
    }

    /// Values whose sum depends on the order.
    fn value(shard: usize) -> f32 {
        (shard as f32 * 12.9898).sin() * 10f32.powi(shard as i32 % 7)
    }

    #[test]
    fn the_order_of_additions_shows_in_the_bits() {
        let plain: f32 = (0..23).map(value).sum();
        assert_ne!(plain.to_bits(), sum(0..23, &value).to_bits());
    }

    /// Vectors move between trees, and none are allocated after the second step.
    #[test]
    fn vectors_are_used_again() {
        let shards = 15;
        let mut main = Tree::new(shards);
        let mut parts = [0..1, 1..7, 7..15].map(|block| (Tree::new(shards), block));
        let mut made = 0;
        for step in 0..20 {
            for (part, block) in &mut parts {
                part.borrow(&mut main, nodes(shards, block.clone()).len());
                for shard in block.clone() {
                    let mut vector = part.vector();
                    if vector.is_empty() {
                        made += 1;
                        assert!(step < 2, "a vector is made in step {step}");
                    }
                    vector.clear();
                    vector.push(value(shard));
                    part.push(Node { shards: shard..shard + 1, loss: 0.0, vector });
                }
            }
            for (part, _) in &mut parts {
                part.take().into_iter().for_each(|node| main.push(node));
            }
            let all = main.take();
            assert_eq!(all.len(), 1);
            main.give_back(all);
            let spare = parts.iter().map(|(part, _)| part.spare.len()).sum::<usize>() + main.spare.len();
            assert_eq!(spare, made, "vectors get lost");
        }
    }

    proptest! {
        /// However the shards are divided into blocks, the sum has the bits of the definition.
        #[test]
        fn blocks_do_not_change_the_sum(shards in 1usize..70, cuts in prop::collection::vec(0usize..70, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|c| c.min(shards)).chain([0, shards]).collect();
            cuts.sort_unstable();
            let mut whole = Tree::new(shards);
            for block in cuts.windows(2).map(|w| w[0]..w[1]) {
                let mut part = Tree::new(shards);
                for shard in block.clone() {
                    part.push(Node { shards: shard..shard + 1, loss: f64::from(value(shard)), vector: vec![value(shard)] });
                }
                let found = part.take();
                let ranges: Vec<_> = found.iter().map(|node| node.shards.clone()).collect();
                prop_assert_eq!(&ranges, &nodes(shards, block));
                found.into_iter().for_each(|node| whole.push(node));
            }
            let found = whole.take();
            prop_assert_eq!(found.len(), 1);
            prop_assert_eq!(&found[0].shards, &(0..shards));
            prop_assert_eq!(found[0].vector[0].to_bits(), sum(0..shards, &value).to_bits());
        }
    }
}
