//! Strengths of all pairs of ranks on a board, and the number of opponents with each pair.

use crate::holdem::strength::Strengths;
use std::sync::OnceLock;

pub(super) const RANKS: usize = 13;
pub(super) const SUITS: usize = 4;
/// Pairs of ranks, (0, 0), (0, 1), … (12, 12), padded to a multiple of 32.
pub(super) const LANES: usize = 96;

/// A number for each pair of ranks.
pub(super) type Lanes = [i16; LANES];

/// Remaining cards by rank.
pub(super) type Counts = [i16; RANKS];

/// The index of a pair of ranks.
pub(super) const fn lane(a: usize, b: usize) -> usize {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    low * RANKS - low * (low + 1) / 2 + high
}

/// Strengths of all pairs of ranks, for each multiset of ranks of three to five cards on the board, without flushes.
pub(super) struct Rows([Vec<Lanes>; 3]);

/// Binomial coefficients C(n, k) for k up to 5.
const fn choose(n: usize, k: usize) -> usize {
    let (mut result, mut i) = (1, 0);
    while i < k {
        result = result * (n - i) / (i + 1);
        i += 1;
    }
    result
}

/// Contribution of a rank to the number of a multiset, by its position in ascending order.
static PLACES: [[u16; RANKS]; 5] = {
    let mut places = [[0; RANKS]; 5];
    let mut k = 0;
    while k < 5 {
        let mut rank = 0;
        while rank < RANKS {
            places[k][rank] = if rank + k < k + 1 { 0 } else { choose(rank + k, k + 1) as u16 };
            rank += 1;
        }
        k += 1;
    }
    places
};

/// The number of a multiset of ranks in ascending order.
#[inline]
fn number(ranks: &[u8]) -> usize {
    let mut number = 0;
    for k in 0..ranks.len() {
        number += usize::from(PLACES[k][usize::from(ranks[k])]);
    }
    number
}

impl Rows {
    pub(super) fn shared() -> &'static Self {
        static SHARED: OnceLock<Rows> = OnceLock::new();
        SHARED.get_or_init(|| Self([3, 4, 5].map(Self::of_boards)))
    }

    fn of_boards(cards: usize) -> Vec<Lanes> {
        let table = Strengths::shared();
        let mut rows = vec![[0; LANES]; choose(RANKS + cards - 1, cards)];
        let mut ranks = vec![0u8; cards];
        loop {
            let mut counts = [0u8; RANKS];
            ranks.iter().for_each(|rank| counts[usize::from(*rank)] += 1);
            if counts.iter().all(|n| *n <= 4) {
                let row = &mut rows[number(&ranks)];
                for a in 0..RANKS {
                    for b in a..RANKS {
                        let mut counts = counts;
                        counts[a] += 1;
                        counts[b] += 1;
                        if counts.iter().all(|n| *n <= 4) {
                            row[lane(a, b)] = table.without_flush(&counts) as i16;
                        }
                    }
                }
            }
            // The next multiset in ascending order.
            let Some(last) = ranks.iter().rposition(|rank| usize::from(*rank) + 1 < RANKS) else { break };
            let next = ranks[last] + 1;
            ranks[last..].fill(next);
        }
        rows
    }

    #[inline]
    pub(super) fn row(&self, ranks: &mut [u8]) -> &Lanes {
        // Insertion sort: there are at most five ranks.
        for k in 1..ranks.len() {
            let mut at = k;
            while at > 0 && ranks[at - 1] > ranks[at] {
                ranks.swap(at - 1, at);
                at -= 1;
            }
        }
        &self.0[ranks.len() - 3][number(ranks)]
    }
}

// The loops below use indices, because iterators would not be inlined everywhere.

/// The number of hands of each pair of ranks.
#[inline]
pub(super) fn hands(counts: &Counts) -> Lanes {
    let mut lanes = [0; LANES];
    let mut at = 0;
    for a in 0..RANKS {
        let n = counts[a];
        lanes[at] = n * (n - 1) / 2;
        for b in a + 1..RANKS {
            lanes[at + b - a] = n * counts[b];
        }
        at += RANKS - a;
    }
    lanes
}

/// All bits set or none, for branch-free loops.
#[inline(always)]
pub(super) fn when(condition: bool) -> i16 {
    -i16::from(condition)
}

/// Twice the number of hands below `mine`, plus the number equal to it.
#[inline(never)]
pub(super) fn points(row: &Lanes, hands: &Lanes, mine: i16) -> i32 {
    let (mut below, mut up_to) = (0i16, 0i16);
    for k in 0..LANES {
        below += hands[k] & when(row[k] < mine);
        up_to += hands[k] & when(row[k] <= mine);
    }
    i32::from(below) + i32::from(up_to)
}

/// One card for each rank in the set.
#[inline]
pub(super) fn ones(ranks: u16) -> Counts {
    let mut counts = [0; RANKS];
    for (rank, n) in counts.iter_mut().enumerate() {
        *n = (ranks >> rank & 1) as i16;
    }
    counts
}
