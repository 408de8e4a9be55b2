//! A table of all moves of all sides, computed once.

use super::{DicePosition, MAX_CHECKERS, MIXED, Position, ROLLS, Roll, Side, rank};
use crate::memory::fetch;
use crate::shared::on_own_threads;
use rayon::prelude::*;
use std::sync::OnceLock;

/// The afterstates of every roll for every side with at most a given number of checkers. For 14 checkers, there are six
/// million in 16 MB.
#[derive(Debug)]
pub struct Moves {
    sides: &'static [Side],
    /// Start of each list, by rank of the side and by roll in the order of [`ROLLS`]; then the end of the last list.
    starts: Vec<u32>,
    /// Start of each side's lists, and the end: small enough to stay in a cache.
    lists: Vec<u32>,
    /// Ranks of the afterstates, ascending by side.
    afterstates: Vec<u16>,
}

impl Moves {
    /// The moves of sides with at most `checkers` checkers, 1 to 15. The first call computes the list, which is then
    /// kept.
    ///
    /// # Panics
    /// If `checkers` is not 1 to 15.
    #[inline]
    pub fn shared(checkers: u8) -> &'static Self {
        static MOVES: [OnceLock<Moves>; MAX_CHECKERS as usize + 1] =
            [const { OnceLock::new() }; MAX_CHECKERS as usize + 1];
        MOVES[usize::from(checkers)].get_or_init(|| on_own_threads(|| Self::list(checkers)))
    }

    fn list(checkers: u8) -> Self {
        let sides = &rank::all()[..rank::sides(checkers)];
        // Number of sides per parallel task.
        const PART: usize = 512;
        let part = |sides: &[Side]| {
            let (mut lengths, mut ranks, mut found) = (Vec::new(), Vec::new(), Vec::new());
            for &side in sides {
                for roll in ROLLS {
                    let position = Position { own: side, opponent: Side::EMPTY };
                    DicePosition { position, roll }.afterstates(&mut found);
                    lengths.push(found.len() as u32);
                    ranks.extend(found.iter().map(|after| after.rank() as u16));
                }
            }
            (lengths, ranks)
        };
        let parts: Vec<(Vec<u32>, Vec<u16>)> = sides.par_chunks(PART).map(part).collect();
        let (mut starts, mut afterstates) = (vec![0], Vec::new());
        let mut end = 0;
        for (lengths, ranks) in parts {
            starts.extend(lengths.iter().map(|length| {
                end += length;
                end
            }));
            afterstates.extend(ranks);
        }
        let lists = starts.iter().step_by(ROLLS.len()).copied().collect();
        Self { sides, starts, lists, afterstates }
    }

    /// The afterstates of a roll for the side with rank `rank` ([`Side::rank`]), ascending.
    #[inline]
    pub fn afterstates(&self, rank: usize, roll: Roll) -> impl ExactSizeIterator<Item = Side> {
        self.ranks(rank, roll).iter().map(|&rank| self.sides[usize::from(rank)])
    }

    /// Prefetches the lists of all rolls of a side.
    #[inline]
    pub(super) fn fetch(&self, rank: usize) {
        fetch(&self.starts[rank * ROLLS.len()..=(rank + 1) * ROLLS.len()]);
        fetch(&self.afterstates[self.lists[rank] as usize..self.lists[rank + 1] as usize]);
    }

    /// The ranks of the afterstates.
    #[inline]
    pub fn ranks(&self, rank: usize, roll: Roll) -> &[u16] {
        let (high, low) = (usize::from(roll.high()), usize::from(roll.low()));
        let index = if roll.is_double() { MIXED + high - 1 } else { (high - 1) * (high - 2) / 2 + low - 1 };
        let at = rank * ROLLS.len() + index;
        &self.afterstates[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
