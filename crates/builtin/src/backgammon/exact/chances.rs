//! Exact chances of the results of backgammon with one to three checkers a side, without a cube.
//!
//! Both sides play for the best equity; of moves with the same equity, the first in a fixed order is played. So the chances of
//! a position are the mean over the rolls of the chances after the best moves, seen from the other side. Sweeps solve these
//! linear equations. A move without a hit lowers the pips of both sides together, so a sweep in the order of pips passes
//! results through all such moves, and only hits need further sweeps.
//!
//! Chances are whole numbers of parts, 2³¹ for a certain result. They start at 0, and a sweep is monotone, so they only grow.

use super::cubeful::{CubefulTable, NUMBERS};
use super::{Lists, Measure, Position, Sides, Table, pool};
use crate::backgammon::cube::{CLASSES, Chances};
use crate::dice::ROLLS;
use adept_game::GameError;
use adept_ground::work;
use rayon::prelude::*;

/// Chances of [`CLASSES`] for the side to roll.
type Parts = [u32; CLASSES.len()];

/// The parts of a certain result.
const ONE: u32 = 1 << 31;

/// Sweeps end when no chance changes by more parts: 2e-9.
const ENOUGH: u32 = 4;

/// Sides whose best moves are found together.
const TOGETHER: usize = 64;

/// The chances of all positions under best play without a cube.
pub struct ChancesTable {
    sides: Sides,
    /// By own side, which is to roll, and opponent: place in `parts`.
    places: Vec<u32>,
    /// First the certain results, one for each class; then positions that are not over.
    parts: Vec<Parts>,
    difference: f64,
}

/// A position after a move, for the opponent, who is to roll. Smaller ones are better for the side that moved.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct After {
    equity: f32,
    place: u32,
}

/// The places after the best move of each roll.
#[derive(Clone, Copy)]
struct Best {
    rolls: usize,
    places: [u32; ROLLS.len()],
}

/// Finds best moves.
struct BestMoves;

impl Measure for BestMoves {
    type Value = After;
    type Mean = Best;
    const LARGEST: After = After { equity: f32::INFINITY, place: u32::MAX };
    const FIRST: Best = Best { rolls: 0, places: [0; ROLLS.len()] };

    #[inline]
    fn add(mut best: Best, _ways: u32, least: After) -> Best {
        best.places[best.rolls] = least.place;
        best.rolls += 1;
        best
    }
}

/// The classes of a game that is lost and of one that is won by this many points.
fn over(points: u8) -> [u32; 2] {
    [3 - u32::from(points), 2 + u32::from(points)]
}

/// The parts after the best moves, seen from the side that moves.
fn mean(after: &[u32; ROLLS.len()], parts: &[Parts]) -> Parts {
    let mut sums = [0u64; CLASSES.len()];
    for (roll, &place) in ROLLS.iter().zip(after) {
        for (sum, part) in sums.iter_mut().zip(parts[place as usize].iter().rev()) {
            *sum += u64::from(roll.ways()) * u64::from(*part);
        }
    }
    sums.map(|sum| ((sum + 18) / 36) as u32)
}

/// The probabilities of parts.
fn probabilities(parts: &Parts) -> [f64; CLASSES.len()] {
    let all: f64 = parts.iter().map(|&part| f64::from(part)).sum();
    parts.map(|part| f64::from(part) / all)
}

impl ChancesTable {
    /// Solves the chances under the best play by these equities, by own side and opponent.
    fn solve(
        checkers: u8,
        threads: usize,
        equity: &(dyn Fn(usize, usize) -> f32 + Sync),
    ) -> Result<Self, GameError> {
        pool(threads)?.install(|| Ok(Self::solved(checkers, equity)))
    }

    fn solved(checkers: u8, equity: &(dyn Fn(usize, usize) -> f32 + Sync)) -> Self {
        let what = format!("solving the chances of backgammon with {checkers} checkers a side");
        work::share(&what, 0.0);
        let sides = Sides::new(checkers);
        let n = sides.len();
        let pips: Vec<u32> = sides.all.iter().map(|side| side.pips()).collect();
        let pips = |at: u32| pips[at as usize / n] + pips[at as usize % n];
        let is_open = |at: usize| (at / n).min(at % n) > 0 && sides.fit(at / n, at % n);
        let mut open: Vec<u32> = (0..(n * n) as u32).filter(|&at| is_open(at as usize)).collect();
        open.par_sort_unstable_by_key(|&at| (pips(at), at));
        let mut levels = vec![0];
        levels.extend((1..open.len()).filter(|&k| pips(open[k]) > pips(open[k - 1])));
        levels.push(open.len());

        let mut places = vec![u32::MAX; n * n];
        for (rank, side) in sides.all.iter().enumerate().skip(1) {
            [places[rank * n], places[rank]] = over(Position::result(*side).points());
        }
        for (place, &at) in (CLASSES.len() as u32..).zip(&open) {
            places[at as usize] = place;
        }
        let best = best_moves(&sides, &places, open.len(), equity, |done| work::share(&what, 0.4 * done));

        let certain = |k: usize| std::array::from_fn(|class| if class == k { ONE } else { 0 });
        let mut parts: Vec<Parts> = (0..CLASSES.len()).map(certain).collect();
        parts.resize(CLASSES.len() + open.len(), [0; CLASSES.len()]);
        loop {
            let mut most = 0;
            for level in levels.windows(2) {
                let new: Vec<Parts> =
                    best[level[0]..level[1]].par_iter().map(|after| mean(after, &parts)).collect();
                let old = &mut parts[CLASSES.len() + level[0]..CLASSES.len() + level[1]];
                for (old, new) in old.as_flattened_mut().iter_mut().zip(new.as_flattened()) {
                    most = most.max(new.abs_diff(*old));
                    *old = *new;
                }
            }
            // Changes shrink by about the same factor per sweep.
            let left = f64::from(most.max(ENOUGH)) / f64::from(ENOUGH);
            let all = f64::from(ONE) / f64::from(ENOUGH);
            work::share(&what, (1.0 - 0.6 * left.ln() / all.ln()).min(0.99));
            if most <= ENOUGH {
                break;
            }
        }
        drop(best);
        let apart = |(&at, parts): (&u32, &Parts)| {
            let exact = f64::from(equity(at as usize / n, at as usize % n));
            (Chances::of_classes(probabilities(parts)).equity() - exact).abs()
        };
        let difference = open.par_iter().zip(&parts[CLASSES.len()..]).map(apart).reduce(|| 0.0, f64::max);
        work::share(&what, 1.0);
        Self { sides, places, parts, difference }
    }

    /// The largest difference between the equity of the chances and the exact equity, in points.
    pub fn difference(&self) -> f64 {
        self.difference
    }

    /// The probabilities of [`CLASSES`] for the side to roll. None if it is not a position of this game.
    pub fn classes(&self, position: Position) -> Option<[f64; CLASSES.len()]> {
        let (own, opponent) = self.sides.ranks(position)?;
        let place = self.places[own * self.sides.len() + opponent];
        Some(probabilities(&self.parts[place as usize]))
    }

    /// The chances of the side to roll. None if it is not a position of this game.
    pub fn chances(&self, position: Position) -> Option<Chances> {
        self.classes(position).map(Chances::of_classes)
    }
}

/// The places after the best moves of the open positions, in the order of their places.
fn best_moves(
    sides: &Sides,
    places: &[u32],
    open: usize,
    equity: &(dyn Fn(usize, usize) -> f32 + Sync),
    report: impl Fn(f64),
) -> Vec<[u32; ROLLS.len()]> {
    let n = sides.len();
    // By opponent and own side.
    let after = |at: usize| {
        let (own, opponent) = (at % n, at / n);
        let place = places[own * n + opponent];
        [match (own, opponent) {
            _ if own == 0 || place == u32::MAX => BestMoves::LARGEST,
            (_, 0) => After { equity: -f32::from(Position::result(sides.all[own]).points()), place },
            _ => After { equity: equity(own, opponent), place },
        }]
    };
    let turned: Vec<[After; 1]> = (0..n * n).into_par_iter().map(after).collect();
    let mut best = vec![[0; ROLLS.len()]; open];
    for first in (1..n).step_by(TOGETHER) {
        report(first as f64 / n as f64);
        let owns = first..n.min(first + TOGETHER);
        let of_side = |own: usize| {
            let mut row = vec![[BestMoves::FIRST]; n];
            Lists::new(own, sides).means::<BestMoves, 1>(sides, &turned, &mut row);
            row
        };
        let rows: Vec<_> = owns.clone().into_par_iter().map(of_side).collect();
        for (own, row) in owns.zip(rows) {
            for (opponent, [found]) in row.into_iter().enumerate().skip(1) {
                // Places that are not open are out of range.
                let place = (places[own * n + opponent] as usize).wrapping_sub(CLASSES.len());
                if let Some(best) = best.get_mut(place) {
                    *best = found.places;
                }
            }
        }
    }
    best
}

impl Table {
    /// Solves the chances of all results under best play. Three checkers take some 2 CPU-minutes and .9 GB of memory.
    /// `threads` is the number of threads, 0 for one per core; the result does not depend on it.
    ///
    /// # Errors
    /// If the system starts no threads.
    pub fn chances(&self, threads: usize) -> Result<ChancesTable, GameError> {
        let n = self.sides.len();
        ChancesTable::solve(self.checkers(), threads, &|own, opponent| self.stored.values[own * n + opponent])
    }
}

impl CubefulTable {
    /// Solves the chances of all results under best play without a cube, as [`Table::chances`] does.
    ///
    /// # Errors
    /// If the system starts no threads.
    pub fn chances(&self, threads: usize) -> Result<ChancesTable, GameError> {
        let n = self.sides.len();
        ChancesTable::solve(self.checkers(), threads, &|own, opponent| {
            self.stored.values[NUMBERS * (own * n + opponent)]
        })
    }
}

#[cfg(test)]
mod tests;
