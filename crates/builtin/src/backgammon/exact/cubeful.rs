//! Exact equities with the doubling cube in money play, of backgammon with one to three checkers a side.
//!
//! All values are those of the side to roll, per unit of the cube, which may be turned without limit. In O this side owns the
//! cube, in U the opponent; in C the cube is centred. w is the weight of a roll.
//!
//! - U = Σ w · max −O(opponent′, own′)
//! - ND_own = Σ w · max −U(opponent′, own′), O = max(ND_own, min(1, 2U))
//! - ND_centred = Σ w · max −C(opponent′, own′), C = max(ND_centred, min(1, 2U))
//!
//! Each maximum has its own best move. Finished games are worth 1, 2 or 3 points; under the Jacoby rule 1 while the cube is
//! centred.
//!
//! Hits make positions recur, and a double doubles errors, so no sweep is known to bring values closer to a solution. Two
//! bounds of each value prove it. Seen from one player, all formulas are monotone: larger values give larger results. So a
//! sweep turns bounds of values into bounds of values. Those of O and U start at −3 and 3 points, which hold for every solution
//! and for the game in which the cube is turned at most n times, whatever n is. Where they meet, there is only one solution,
//! and the values of the limited games tend to it. C and the value without a cube lie between U and O: nobody needs to use the
//! own right to double, and the opponent's is not larger. Under the Jacoby rule, nobody wins or loses more than a point while
//! the cube is centred.

use super::{Format, Measure, Position, ROUNDING, Sides, Stored, Sweeps, Table, pool};
use crate::bearoff::two_sided::CubeEquities;
use adept_game::GameError;
use adept_ground::work;
use rayon::prelude::*;
use std::path::Path;

/// Exact equities with the cube of all positions of a game with 1 to 3 checkers a side, in 32 bits.
pub struct CubefulTable {
    pub(super) sides: Sides,
    /// By own side, which is to roll, and opponent: [`NUMBERS`] numbers.
    pub(super) stored: Stored,
}

const CUBEFUL: Format = Format {
    name: "table of backgammon with the cube",
    magic: b"adept backgammon cube\n",
    numbers: NUMBERS,
    option: "--game hypergammon --cube",
};

/// Numbers of a position, all without a double: cubeless; the opponent owns the cube; this side does; the cube is centred; it is
/// centred and the Jacoby rule holds.
pub(super) const NUMBERS: usize = 5;

/// Number of sweeps without a step forward after which bounds count as stuck.
const PATIENCE: usize = 50;

/// Bounds of values in units of 1 / [`POINT`] points. Whole numbers keep a proof free of rounding errors.
///
/// Bounds of several values lie next to each other, each lower one before its upper one. Means of the best results come the
/// other way round, because the smallest value of the opponent is the largest for the side that moves.
struct Bounds;

/// One point. Three points fit into 32 bits.
const POINT: i32 = 1 << 29;

impl Measure for Bounds {
    type Value = i32;
    /// In 36ths.
    type Mean = i64;
    const LARGEST: i32 = i32::MAX;
    const FIRST: i64 = 0;

    #[inline]
    fn add(mean: i64, ways: u32, least: i32) -> i64 {
        mean - i64::from(ways) * i64::from(least)
    }
}

/// A lower and an upper bound.
type Pair = [i32; 2];

/// Rounds means outwards: the upper and the lower one, as [`Bounds`] computes them.
#[inline]
fn pair(high: i64, low: i64) -> Pair {
    [low.div_euclid(36) as i32, -(-high).div_euclid(36) as i32]
}

/// Bounds of the value of a side that may double, by those without a double and with the opponent's cube.
#[inline]
fn decided(no_double: Pair, theirs: Pair) -> Pair {
    std::array::from_fn(|k| no_double[k].max(theirs[k].saturating_mul(2).min(POINT)))
}

#[inline]
fn apart([low, high]: Pair) -> i32 {
    high.saturating_sub(low)
}

/// The middle of two bounds, in points.
fn middle([low, high]: Pair) -> f32 {
    ((f64::from(low) + f64::from(high)) / 2.0 / f64::from(POINT)) as f32
}

impl Sweeps {
    /// Sweeps until no two bounds are further apart than `width`. `new` makes bounds of a place of the means there; bounds only
    /// come closer.
    fn narrow<const N: usize>(
        &self,
        bounds: &mut [[i32; N]],
        width: i32,
        new: impl Fn(usize, &[i64; N]) -> [i32; N],
        report: impl Fn(i32),
    ) -> Result<(), GameError> {
        let (mut least, mut late) = (i32::MAX, 0);
        loop {
            let mut most = 0;
            self.sweep::<Bounds, N>(bounds, |at, means, bounds| {
                let (new, mut low) = (new(at, means), 0);
                while low < N {
                    bounds[low] = bounds[low].max(new[low]);
                    bounds[low + 1] = bounds[low + 1].min(new[low + 1]);
                    most = most.max(apart([bounds[low], bounds[low + 1]]));
                    low += 2;
                }
            });
            report(most);
            if most <= width {
                return Ok(());
            }
            late = if most < least { 0 } else { late + 1 };
            if late == PATIENCE {
                return Err(GameError::new(format!(
                    "no bound of the errors could be proved below {:.1e} points: take a larger width",
                    f64::from(most) / f64::from(POINT)
                )));
            }
            least = least.min(most);
        }
    }

    /// Computes the means of the best results of all positions, by own side and opponent, and hands them to `put` with the
    /// numbers of a position. Returns the largest result of `put`.
    fn finish<const N: usize>(
        &self,
        bounds: &[[i32; N]],
        numbers: &mut [[f32; NUMBERS]],
        put: impl Fn(&mut [f32; NUMBERS], &[i64; N]) -> i32 + Sync,
    ) -> i32 {
        let n = self.sides.len();
        let rows = numbers.par_chunks_mut(n).skip(1).zip(&self.lists);
        let most = rows.map(|(row, lists)| {
            let mut means = vec![[0; N]; n];
            lists.means::<Bounds, N>(&self.sides, bounds, &mut means);
            row.iter_mut().zip(&means).skip(1).map(|(row, means)| put(row, means)).fold(0, i32::max)
        });
        most.reduce(|| 0, i32::max)
    }
}

impl CubefulTable {
    /// Usual width of [`solve`](Self::solve).
    pub const WIDTH: f64 = 8e-7;

    /// Solves the game with 1 to 3 checkers a side until the bounds of no value are further apart than `width` points.
    /// `threads` is the number of threads, 0 for one per core; the result does not depend on it.
    ///
    /// # Errors
    /// If the system starts no threads, or the bounds stay further apart.
    ///
    /// # Panics
    /// If `checkers` is not 1 to 3, or `width` is not between 1e-7 and 1.
    pub fn solve(checkers: u8, width: f64, threads: usize) -> Result<Self, GameError> {
        assert!((1..=Table::MOST).contains(&checkers), "{checkers} checkers a side cannot be solved");
        assert!((1e-7..=1.0).contains(&width), "bounds cannot be {width} points apart");
        pool(threads)?.install(|| Self::solved(checkers, (width * f64::from(POINT)) as i32))
    }

    fn solved(checkers: u8, width: i32) -> Result<Self, GameError> {
        let what = format!("solving backgammon with {checkers} checkers a side and the cube");
        work::share(&what, 0.0);
        // Bounds are 6 points apart at first and approach each other by about the same factor per sweep.
        let of_six = |apart: i32| (f64::from(apart.max(1)) / (6.0 * f64::from(POINT))).ln();
        let done = |first: f64, apart: i32| {
            work::share(&what, first + (of_six(apart) / of_six(width) / 2.0).clamp(0.0, 0.49))
        };
        let sweeps = Sweeps::new(checkers);
        let n = sweeps.sides.len();
        let mut numbers = vec![[0.0; NUMBERS]; n * n];
        let [lowest, highest] = [-3 * POINT, 3 * POINT];
        let lost = |points: u8| -i32::from(points) * POINT;

        // The side to roll owns the cube, or the opponent.
        let mut bounds = sweeps.start([lowest, highest, lowest, highest], |points| [lost(points); 4]);
        let new = |_, &[theirs_high, theirs_low, own_high, own_low]: &[i64; 4]| {
            let theirs = pair(theirs_high, theirs_low);
            let [low, high] = decided(pair(own_high, own_low), theirs);
            [low, high, theirs[0], theirs[1]]
        };
        // Twice the value with the opponent's cube enters the others.
        sweeps.narrow(&mut bounds, width * 3 / 8, new, |apart| done(0.0, apart))?;
        let first = sweeps.finish(&bounds, &mut numbers, |numbers, means| {
            let [theirs, own] = [pair(means[0], means[1]), pair(means[2], means[3])];
            (numbers[1], numbers[2]) = (middle(theirs), middle(own));
            apart(theirs).saturating_mul(2).max(apart(own))
        });

        // The cube is centred, without and with the Jacoby rule, or there is none.
        let theirs: Vec<Pair> = bounds.iter().map(|&[_, _, low, high]| [low, high]).collect();
        let begin = |at: usize| match bounds[at] {
            [lost, ..] if at < n => [lost, lost, -POINT, -POINT, lost, lost],
            [_, high, low, _] => [low, high, -POINT, POINT, low, high],
        };
        let mut bounds: Vec<[i32; 6]> = (0..n * n).map(begin).collect();
        let new = |at: usize, means: &[i64; 6]| {
            let [centred, jacoby, [low, high]] = [0, 2, 4].map(|k| pair(means[k], means[k + 1]));
            let [centred, jacoby] = [centred, jacoby].map(|no_double| decided(no_double, theirs[at]));
            [centred[0], centred[1], jacoby[0], jacoby[1], low, high]
        };
        sweeps.narrow(&mut bounds, width, new, |apart| done(0.5, apart))?;
        let second = sweeps.finish(&bounds, &mut numbers, |numbers, means| {
            let pairs = [4, 0, 2].map(|k| pair(means[k], means[k + 1]));
            [numbers[0], numbers[3], numbers[4]] = pairs.map(middle);
            pairs.map(apart).into_iter().fold(0, i32::max)
        });
        work::share(&what, 1.0);
        let values = numbers.into_iter().flatten().collect();
        let bound = f64::from(first.max(second)) / 2.0 / f64::from(POINT) + 2.0 * ROUNDING;
        Ok(Self { sides: sweeps.sides, stored: Stored { checkers, bound, values } })
    }

    /// Number of checkers a side.
    pub fn checkers(&self) -> u8 {
        self.stored.checkers
    }

    /// Bound of the absolute error of every equity, that of a double and a take included, in points.
    pub fn bound(&self) -> f64 {
        self.stored.bound
    }

    /// The number of positions that are not over.
    pub fn positions(&self) -> usize {
        self.sides.positions()
    }

    /// The numbers of a position that is not over. None if it is not a position of this game.
    fn numbers(&self, position: Position) -> Option<[f64; NUMBERS]> {
        let (own, opponent) = self.sides.ranks(position)?;
        let points = |loser| f64::from(Position::result(loser).points());
        let over = |points: f64| [points, points, points, points, points.signum()];
        let first = NUMBERS * (own * self.sides.len() + opponent);
        Some(match (own, opponent) {
            (0, _) => over(points(position.opponent)),
            (_, 0) => over(-points(position.own)),
            _ => std::array::from_fn(|k| self.stored.values[first + k].into()),
        })
    }

    /// The equity of a position for the side to roll without a cube, in points. None if it is not a position of this game.
    pub fn cubeless(&self, position: Position) -> Option<f64> {
        self.numbers(position).map(|numbers| numbers[0])
    }

    /// The equities of a position for the side to roll with the cube, with or without the Jacoby rule. None if it is not a
    /// position of this game.
    pub fn equities(&self, position: Position, jacoby: bool) -> Option<CubeEquities> {
        let [_, theirs, own, centred, by_jacoby] = self.numbers(position)?;
        Some(CubeEquities::new([if jacoby { by_jacoby } else { centred }, own, theirs]))
    }

    /// Writes the table to a file, which [`open`](Self::open) reads: as [`Table::save`] does, with `adept backgammon cube\n` and
    /// five numbers of each position, all without a double: cubeless; the opponent owns the cube; the side to roll does; the
    /// cube is centred; it is centred and the Jacoby rule holds.
    ///
    /// # Errors
    /// The system's reason.
    pub fn save(&self, path: &Path) -> Result<(), GameError> {
        self.stored.save(path, &CUBEFUL)
    }

    /// Reads a table from a file.
    ///
    /// # Errors
    /// The system's reason, or what is wrong with the file.
    pub fn open(path: &Path) -> Result<Self, GameError> {
        let stored = Stored::open(path, &CUBEFUL)?;
        Ok(Self { sides: Sides::new(stored.checkers), stored })
    }
}

#[cfg(test)]
mod tests;
