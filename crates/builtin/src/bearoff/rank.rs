//! Ranks of sides: a bijection of the sides with at most n checkers to 0 .. C(n + 6, 6).

use super::{MAX_CHECKERS, POINTS, Side};
use std::ops::Range;
use std::sync::OnceLock;

/// Number of sides with at most `checkers` checkers: C(n + 6, 6).
pub fn sides(checkers: u8) -> usize {
    choose(usize::from(checkers) + POINTS, POINTS)
}

/// The ranks of the sides with exactly `checkers` checkers.
pub fn of_count(checkers: u8) -> Range<usize> {
    checkers.checked_sub(1).map_or(0, sides)..sides(checkers)
}

const fn choose(n: usize, k: usize) -> usize {
    if k > n {
        return 0;
    }
    let (mut result, mut i) = (1, 0);
    while i < k {
        result = result * (n - i) / (i + 1);
        i += 1;
    }
    result
}

/// `TERMS[k][t]` = C(t + k, k + 1).
const TERMS: [[u32; MAX_CHECKERS as usize + 1]; POINTS] = {
    let mut terms = [[0; MAX_CHECKERS as usize + 1]; POINTS];
    let mut k = 0;
    while k < POINTS {
        let mut t = 0;
        while t <= MAX_CHECKERS as usize {
            terms[k][t] = choose(t + k, k + 1) as u32;
            t += 1;
        }
        k += 1;
    }
    terms
};

/// The sums of `TERMS` over three of the six counts Tₖ at a time, by their 12 bits: k = 6, 5, 4 and k = 3, 2, 1, the first in the
/// lowest four bits.
static HALVES: [[u16; 4096]; 2] = {
    let mut halves = [[0; 4096]; 2];
    let mut counts = 0;
    while counts < 4096 {
        let mut k = 0;
        while k < 3 {
            let count = counts >> (4 * k) & 15;
            halves[0][counts] += TERMS[5 - k][count] as u16;
            halves[1][counts] += TERMS[2 - k][count] as u16;
            k += 1;
        }
        counts += 1;
    }
    halves
};

/// All sides by rank. Tables and samplers need this faster than [`Side::of_rank`] computes it.
pub(super) fn all() -> &'static [Side] {
    static ALL: OnceLock<Vec<Side>> = OnceLock::new();
    ALL.get_or_init(|| (0..sides(MAX_CHECKERS)).map(Side::of_rank).collect())
}

impl Side {
    /// Rank of the side: Σₖ C(Tₖ + k − 1, k) over k = 1..6, where Tₖ is the number of checkers on the k highest points
    /// (combinatorial number system).
    ///
    /// The rank does not depend on the number of checkers of a table. Sides with at most n checkers have the ranks
    /// below C(n + 6, 6). The empty side has rank 0. A move always lowers the rank.
    #[inline]
    pub fn rank(self) -> usize {
        // A product with six ones adds up the counts: four bits a sum, from all points to the highest one.
        let counts = (u64::from(self.bits()) * 0x11_1111) >> 20;
        usize::from(HALVES[0][counts as usize & 4095])
            + usize::from(HALVES[1][(counts >> 12) as usize & 4095])
    }

    /// The side with this rank, which must be below C(21, 6) = 54,264.
    ///
    /// # Panics
    /// If the rank is not below this bound.
    pub fn of_rank(rank: usize) -> Self {
        assert!(rank < sides(MAX_CHECKERS), "no side of at most {MAX_CHECKERS} checkers has rank {rank}");
        let mut left = rank as u32;
        let mut above = [0; POINTS + 1];
        for k in (0..POINTS).rev() {
            // The largest number of checkers whose term fits.
            let t = TERMS[k].partition_point(|&term| term <= left) - 1;
            left -= TERMS[k][t];
            above[k + 1] = t as u8;
        }
        let counts = std::array::from_fn(|point| above[POINTS - point] - above[POINTS - 1 - point]);
        Self::new(counts).expect("ranks below the bound are sides")
    }
}
