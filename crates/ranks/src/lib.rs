//! Processes that compute together. A program asks its [`Ranks`] for its share of the work: which shards of a batch,
//! which jobs. Results are combined in an order that is independent of the number of ranks, so 1 and 64 ranks give the
//! same bits.
//!
//! A [`Link`] connects ranks, such as MPI in the command line, or threads of one process ([`threads()`]); there may
//! also be a single rank.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod link;
mod rendezvous;
pub mod slots;
mod start;
mod threads;
pub mod tree;
mod watch;

pub use link::Link;
pub use start::{Connect, Connected, Place, StartError, World, start};
pub use threads::threads;
pub use watch::Dead;

use link::SingleProcess;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tree::{Node, Tree, nodes};

/// The ranks of a program from the view of one of them. All ranks must call the same methods in the same order.
#[derive(Clone, Debug)]
pub struct Ranks(Arc<dyn Link>);

impl Default for Ranks {
    /// A single process.
    fn default() -> Self {
        Self(Arc::new(SingleProcess))
    }
}

/// Cost of messages between ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Messages {
    /// Latency of an empty message in seconds.
    pub latency: f64,
    /// Bandwidth of a large message in bytes per second, including the additions.
    pub bandwidth: f64,
}

impl Messages {
    /// Estimated seconds for `ranks` ranks to sum a vector of `n` floats: each sends and receives the vector twice,
    /// except for its own piece, in two all-to-all rounds.
    pub fn sum(&self, ranks: usize, n: usize) -> f64 {
        let others = ranks as f64 - 1.0;
        2.0 * others * self.latency + 8.0 * n as f64 * others / ranks as f64 / self.bandwidth
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The `part`-th of `parts` ranges of `n` items; earlier parts are at least as large as later ones.
pub fn share(n: u64, parts: usize, part: usize) -> Range<u64> {
    let (parts, part) = (parts as u64, part as u64);
    let at = |part: u64| part * (n / parts) + part.min(n % parts);
    at(part)..at(part + 1)
}

/// The `part`-th of `parts` subranges of a range, as for [`share`].
pub fn share_of(range: &Range<u64>, parts: usize, part: usize) -> Range<u64> {
    let share = share(range.end - range.start, parts, part);
    range.start + share.start..range.start + share.end
}

impl Ranks {
    /// Creates ranks with this link.
    pub fn new(link: Arc<dyn Link>) -> Self {
        Self(link)
    }

    /// The number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.0.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.0.size()
    }

    /// Whether this rank writes files and output for all.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// Whether there are several ranks.
    pub fn are_several(&self) -> bool {
        self.size() > 1
    }

    /// The link between the ranks.
    pub fn link(&self) -> &dyn Link {
        &*self.0
    }

    /// This rank's range of `n` items.
    pub fn share(&self, n: usize) -> Range<usize> {
        self.share_of(self.rank(), n)
    }

    fn share_of(&self, rank: usize, n: usize) -> Range<usize> {
        let share = share(n as u64, self.size(), rank);
        share.start as usize..share.end as usize
    }

    /// Collects one message of each rank, in the order of the ranks.
    pub fn collect(&self, mine: &[u8]) -> Vec<Vec<u8>> {
        if !self.are_several() {
            return vec![mine.to_vec()];
        }
        let mut sizes = vec![0; 8 * self.size()];
        self.0.gather(&(mine.len() as u64).to_ne_bytes(), &mut sizes, &vec![8; self.size()]);
        let counts: Vec<usize> =
            sizes.chunks_exact(8).map(|b| u64::from_ne_bytes(word(b)) as usize).collect();
        let mut all = vec![0; counts.iter().sum()];
        self.0.gather(mine, &mut all, &counts);
        let mut rest = &all[..];
        let pieces = counts.iter().map(|&n| {
            let (piece, more) = rest.split_at(n);
            rest = more;
            piece.to_vec()
        });
        pieces.collect()
    }

    /// Broadcasts a message of the first rank; the others pass none.
    pub fn from_first(&self, mine: Option<Vec<u8>>) -> Vec<u8> {
        let mine = mine.unwrap_or_default();
        if !self.are_several() {
            return mine;
        }
        let sent: &[u8] = if self.is_first() { &mine } else { &[] };
        self.collect(sent).swap_remove(0)
    }

    /// OR of the bits of all ranks.
    pub fn any(&self, bits: u8) -> u8 {
        if !self.are_several() {
            return bits;
        }
        let mut all = vec![0; self.size()];
        self.0.gather(&[bits], &mut all, &vec![1; self.size()]);
        all.iter().fold(0, |or, bits| or | bits)
    }

    /// Waits for all ranks (a barrier).
    pub(crate) fn barrier(&self) {
        self.any(0);
    }

    /// Measures the cost of messages between the ranks; none for a single rank.
    pub fn measure(&self) -> Option<Messages> {
        if !self.are_several() {
            return None;
        }
        let ranks = self.size() as f64;
        let mut tree = Tree::new(self.size());
        let mut seconds = |n: usize, times: u32| {
            let mut least = f64::INFINITY;
            for _ in 0..times {
                let mut vector = tree.vector();
                vector.resize(n, 0.0);
                tree.push(Node { shards: self.rank()..self.rank() + 1, loss: 0.0, vector });
                self.barrier();
                let began = std::time::Instant::now();
                let sum = self.sum(&mut tree, n);
                self.barrier();
                least = least.min(began.elapsed().as_secs_f64());
                tree.give_back(vec![sum]);
            }
            least
        };
        const LARGE: usize = 1 << 20;
        let (small, large) = (seconds(self.size(), 200), seconds(LARGE, 10));
        // Two collective operations with size − 1 messages each, and a barrier.
        let latency = small / (3.0 * (ranks - 1.0));
        let bytes = 2.0 * 4.0 * LARGE as f64 * (ranks - 1.0) / ranks;
        let bandwidth = bytes / (large - small).max(1e-9);
        let said =
            self.from_first(self.is_first().then(|| [latency, bandwidth].map(f64::to_ne_bytes).concat()));
        let number = |at: usize| f64::from_ne_bytes(word(&said[at..at + 8]));
        Some(Messages { latency: number(0), bandwidth: number(8) })
    }

    /// Sums the shards of all ranks in their fixed tree. `tree` holds the shards of this rank, its
    /// [`share`](Self::share) of all; all vectors have length `n`. Every rank gets the same bits, and `tree` is
    /// emptied.
    ///
    /// Each rank sums one piece of the vector for all, so each sends and receives about twice the vector, however many
    /// ranks there are.
    pub fn sum(&self, tree: &mut Tree, n: usize) -> Node {
        let mine = tree.take();
        assert!(mine.iter().all(|node| node.vector.len() == n), "a vector that is not of length {n}");
        if !self.are_several() {
            return mine.into_iter().next().unwrap_or_default();
        }
        let (ranks, shards) = (0..self.size(), tree.shards());
        let piece = |rank: usize| self.share_of(rank, n);
        let theirs: Vec<Vec<Range<usize>>> =
            ranks.clone().map(|rank| nodes(shards, self.share_of(rank, shards))).collect();
        // For each rank: the losses of my nodes, and that rank's piece of their vectors.
        let bytes = |nodes: usize, rank: usize| nodes * (8 + 4 * piece(rank).len());
        let sends: Vec<usize> = ranks.clone().map(|rank| bytes(mine.len(), rank)).collect();
        let receives: Vec<usize> = theirs.iter().map(|nodes| bytes(nodes.len(), self.rank())).collect();
        let [mut sent, mut received] = std::mem::take(&mut tree.buffers);
        sent.clear();
        for rank in ranks.clone() {
            for node in &mine {
                sent.extend_from_slice(&node.loss.to_ne_bytes());
                sent.extend_from_slice(bytemuck::cast_slice(&node.vector[piece(rank)]));
            }
        }
        tree.give_back(mine);
        received.resize(receives.iter().sum(), 0);
        self.0.exchange(&sent, &sends, &mut received, &receives);
        let mut rest = &received[..];
        for range in theirs.into_iter().flatten() {
            let (loss, more) = rest.split_at(8);
            let (found, more) = more.split_at(4 * piece(self.rank()).len());
            rest = more;
            let mut vector = tree.vector();
            vector.resize(found.len() / 4, 0.0);
            bytemuck::cast_slice_mut(&mut vector).copy_from_slice(found);
            tree.push(Node { shards: range, loss: f64::from_ne_bytes(word(loss)), vector });
        }
        tree.buffers = [sent, received];
        let sum = tree.take().pop().unwrap_or_default();
        let mut vector = tree.vector();
        vector.resize(n, 0.0);
        let counts: Vec<usize> = ranks.map(|rank| 4 * piece(rank).len()).collect();
        self.0.gather(bytemuck::cast_slice(&sum.vector), bytemuck::cast_slice_mut(&mut vector), &counts);
        let (shards, loss) = (sum.shards.clone(), sum.loss);
        tree.give_back(vec![sum]);
        Node { shards, loss, vector }
    }
}

/// Converts bytes to an array, padding with zeros.
fn word<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a function on all ranks in parallel and returns its results.
    fn on<R: Send>(size: usize, f: impl Fn(Ranks) -> R + Sync) -> Vec<R> {
        let ranks = threads(size);
        std::thread::scope(|scope| {
            let running: Vec<_> = ranks.into_iter().map(|rank| scope.spawn(|| f(rank))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }

    fn leaf(shard: usize, n: usize) -> Node {
        let vector = (0..n).map(|i| ((shard * n + i) as f32 * 12.9898).sin() * 10f32.powi(shard as i32 % 7));
        Node { shards: shard..shard + 1, loss: 0.1 * shard as f64, vector: vector.collect() }
    }

    #[test]
    fn any_number_of_ranks_gives_the_same_bits() {
        for (shards, n) in [(1, 5), (2, 1), (5, 3), (8, 10), (13, 40), (16, 0)] {
            let sum = |ranks: Ranks| {
                let mut tree = Tree::new(shards);
                // The second time with reused memory.
                for _ in 0..2 {
                    tree.take();
                    ranks.share(shards).for_each(|shard| tree.push(leaf(shard, n)));
                    let sum = ranks.sum(&mut tree, n);
                    tree.push(sum);
                }
                tree.take().remove(0)
            };
            let alone = sum(Ranks::default());
            assert_eq!((alone.shards.clone(), alone.vector.len()), (0..shards, n));
            for size in 1..=7 {
                for found in on(size, sum) {
                    let same =
                        found.vector.iter().zip(&alone.vector).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(
                        same && found.vector.len() == n && found.loss == alone.loss,
                        "{shards} on {size}"
                    );
                }
            }
        }
    }

    #[test]
    fn ranks_hand_over_texts_and_bits() {
        let found = on(3, |ranks| {
            let mine = "x".repeat(ranks.rank());
            let all = ranks.collect(mine.as_bytes());
            let said = ranks.from_first(ranks.is_first().then(|| b"first".to_vec()));
            (all, said, ranks.any(1 << ranks.rank()))
        });
        for (all, said, bits) in found {
            assert_eq!(all, [b"".to_vec(), b"x".to_vec(), b"xx".to_vec()]);
            assert_eq!((said, bits), (b"first".to_vec(), 0b111));
        }
    }
}
