//! All moves of all sides, listed once.

use super::{DicePosition, MAX_CHECKERS, MIXED, Position, ROLLS, Roll, Side, rank};
use rayon::prelude::*;
use std::sync::OnceLock;

/// The afterstates of every side of at most so many checkers and every roll. Those of 14 are six million, in 16 MB.
#[derive(Debug)]
pub struct Moves {
    sides: &'static [Side],
    /// Where the list of a side and roll begins, by rank of the side and by roll in the order of [`ROLLS`]; at last
    /// the end.
    starts: Vec<u32>,
    /// Ranks of the afterstates, ascending by side.
    afterstates: Vec<u16>,
}

impl Moves {
    /// The moves of sides of at most that many checkers, 1 to 15. They are listed at the first call, and stay.
    ///
    /// # Panics
    /// If no side has as many checkers.
    #[inline]
    pub fn of(checkers: u8) -> &'static Self {
        static MOVES: [OnceLock<Moves>; MAX_CHECKERS as usize + 1] =
            [const { OnceLock::new() }; MAX_CHECKERS as usize + 1];
        MOVES[usize::from(checkers)].get_or_init(|| Self::list(checkers))
    }

    fn list(checkers: u8) -> Self {
        let sides = &rank::all()[..rank::sides(checkers)];
        // Lengths and ranks of so many sides at a time.
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
        Self { sides, starts, afterstates }
    }

    /// What a roll of the side of that rank may leave, ascending; the rank of each is [`Side::rank`].
    #[inline]
    pub fn afterstates(&self, rank: usize, roll: Roll) -> impl ExactSizeIterator<Item = Side> {
        self.ranks(rank, roll).iter().map(|&rank| self.sides[usize::from(rank)])
    }

    /// The same by their ranks.
    #[inline]
    pub fn ranks(&self, rank: usize, roll: Roll) -> &[u16] {
        let (high, low) = (usize::from(roll.high()), usize::from(roll.low()));
        let index = if roll.is_double() { MIXED + high - 1 } else { (high - 1) * (high - 2) / 2 + low - 1 };
        let at = rank * ROLLS.len() + index;
        &self.afterstates[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}
