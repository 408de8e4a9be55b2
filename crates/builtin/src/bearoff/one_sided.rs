//! The one-sided solution: the distribution of rolls that a side needs to bear off if it minimises the mean.

pub mod gnubg;
mod points;

use super::rank::sides;
use super::{MAX_CHECKERS, MIXED, ROLLS, Roll, Side, rules};
use crate::shared::Shared;
use std::convert::Infallible;
use std::sync::Arc;

/// The exact distribution, mean and standard deviation of the number of rolls until a side has borne off, for all sides
/// with at most a given number of checkers.
///
/// A side plays each roll to the afterstate a(s, roll) with the smallest mean. Ties go to the smallest variance, then
/// to the lowest rank. The opponent has no influence, so the number of rolls is
///
/// N(s) = 1 + N(a(s, roll)), N(∅) = 0, P(roll) = ways / 36.
///
/// Lookups return none for sides with more checkers than the solution.
#[derive(Clone, Debug)]
pub struct OneSided {
    checkers: u8,
    /// Rank of the chosen afterstate, by rank of the side and by roll in the order of [`ROLLS`].
    choices: Vec<[u16; ROLLS.len()]>,
    /// The distributions, one after another, by rank of the side.
    probabilities: Vec<f64>,
    /// Start of each distribution, and the end of the last one.
    offsets: Vec<u32>,
    means: Vec<f64>,
    sds: Vec<f64>,
}

impl OneSided {
    /// The shared solution for this number of checkers.
    pub fn shared(checkers: u8) -> Arc<Self> {
        static SOLUTIONS: Shared<u8, OneSided> = Shared::new();
        let Ok(solution) = SOLUTIONS.get(checkers, || Ok::<_, Infallible>(Self::solve(checkers)));
        solution
    }

    /// Solves all sides with at most `checkers` checkers. Values above 15 count as 15. For 15 checkers, there are
    /// 54,264 sides in 11 MB.
    pub fn solve(checkers: u8) -> Self {
        let checkers = checkers.min(MAX_CHECKERS);
        let mut solution = Self {
            checkers,
            choices: vec![[0; ROLLS.len()]],
            probabilities: vec![1.0],
            offsets: vec![0, 1],
            means: vec![0.0],
            sds: vec![0.0],
        };
        let mut chooser = Chooser::new();
        // A move lowers the rank, so the afterstates of a side are solved before it.
        for rank in 1..sides(checkers) {
            let choices = chooser.choices(Side::of_rank(rank));
            let (mean, variance) = solution.push(choices);
            chooser.push(mean, variance);
        }
        solution.probabilities.shrink_to_fit();
        solution
    }

    /// Largest number of checkers of a solved side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// The probability of exactly k rolls at index k. The last entry is above zero; the sum is 1.
    pub fn distribution(&self, side: Side) -> Option<&[f64]> {
        let rank = side.rank();
        (rank < self.means.len()).then(|| self.of_rank(rank))
    }

    /// The expected number of rolls, 0 to 30.
    pub fn mean(&self, side: Side) -> Option<f64> {
        self.means.get(side.rank()).copied()
    }

    /// The standard deviation of the number of rolls.
    pub fn sd(&self, side: Side) -> Option<f64> {
        self.sds.get(side.rank()).copied()
    }

    /// The chosen afterstate of a roll.
    pub fn afterstate(&self, side: Side, roll: Roll) -> Option<Side> {
        let choices = self.choices.get(side.rank())?;
        let (high, low) = (usize::from(roll.high()), usize::from(roll.low()));
        let index = if roll.is_double() { MIXED + high - 1 } else { (high - 1) * (high - 2) / 2 + low - 1 };
        Some(Side::of_rank(usize::from(choices[index])))
    }

    fn of_rank(&self, rank: usize) -> &[f64] {
        &self.probabilities[self.offsets[rank] as usize..self.offsets[rank + 1] as usize]
    }

    /// Adds the side with the next rank, given its afterstates. Returns its mean and variance.
    fn push(&mut self, choices: [u16; ROLLS.len()]) -> (f64, f64) {
        let afterstates = || ROLLS.iter().map(|roll| f64::from(roll.ways())).zip(choices.map(usize::from));
        let longest = afterstates().map(|(_, a)| self.of_rank(a).len()).max().unwrap_or(0);
        let start = self.probabilities.len();
        self.probabilities.resize(start + longest + 1, 0.0);
        let (solved, distribution) = self.probabilities.split_at_mut(start);
        let mut mean = 0.0;
        for (ways, a) in afterstates() {
            let after = &solved[self.offsets[a] as usize..self.offsets[a + 1] as usize];
            for (probability, after) in distribution[1..].iter_mut().zip(after) {
                *probability += ways * after;
            }
            mean += ways * self.means[a];
        }
        distribution.iter_mut().for_each(|probability| *probability /= 36.0);
        mean = 1.0 + mean / 36.0;
        // Law of total variance: the mean variance of the afterstates, plus the variance of their means.
        let spread = |a: usize| self.sds[a].powi(2) + (1.0 + self.means[a] - mean).powi(2);
        let variance = afterstates().map(|(ways, a)| ways * spread(a)).sum::<f64>() / 36.0;
        self.offsets.push(self.probabilities.len() as u32);
        self.means.push(mean);
        self.sds.push(variance.sqrt());
        self.choices.push(choices);
        (mean, variance)
    }
}

/// Preference for an afterstate. The smallest is best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Preference {
    mean: u64,
    variance: u64,
    rank: u32,
}

impl Preference {
    /// Mean and variance are in steps of 2⁻³⁶, so that rounding differences do not matter.
    fn new(mean: f64, variance: f64, rank: usize) -> Self {
        let steps = |x: f64| (x * (1u64 << 36) as f64).round() as u64;
        Self { mean: steps(mean), variance: steps(variance), rank: rank as u32 }
    }
}

/// Finds the best afterstates without listing all. The best result of several dice is the best over all plays of the
/// first die, each followed by the best result of the remaining dice.
struct Chooser {
    /// By rank of the side.
    preferences: Vec<Preference>,
    /// Rank of the best side after one, two or three moves with the same die, by die and rank of the side.
    played: [[Vec<u16>; 6]; 3],
    /// Workspace: the ranks after one move with each die.
    after: [Vec<u16>; 6],
}

impl Chooser {
    /// A chooser that knows only the empty side.
    fn new() -> Self {
        Self {
            preferences: vec![Preference::new(0.0, 0.0, 0)],
            played: [(); 3].map(|()| [(); 6].map(|()| vec![0])),
            after: Default::default(),
        }
    }

    /// The ranks of the best afterstates of the side with the next rank, by roll in the order of [`ROLLS`].
    fn choices(&mut self, side: Side) -> [u16; ROLLS.len()] {
        let Self { preferences, played, after } = self;
        let best = |ranks: &mut dyn Iterator<Item = u16>| {
            ranks.min_by_key(|&rank| preferences[usize::from(rank)]).expect("a die can always be played")
        };
        for (die, after) in (1..).zip(after.iter_mut()) {
            after.clear();
            after.extend(rules::steps(side, die).map(|step| step.rank() as u16));
        }
        let choices = ROLLS.map(|roll| {
            let then = |first: u8, plays: usize, second: u8| {
                let table = &played[plays - 1][usize::from(second) - 1];
                after[usize::from(first) - 1].iter().map(|&step| table[usize::from(step)])
            };
            let (high, low) = (roll.high(), roll.low());
            if roll.is_double() {
                best(&mut then(high, 3, high))
            } else {
                best(&mut then(high, 1, low).chain(then(low, 1, high)))
            }
        });
        for (die, after) in after.iter().enumerate() {
            let once = best(&mut after.iter().copied());
            let [twice, thrice] = [0, 1].map(|plays: usize| {
                best(&mut after.iter().map(|&step| played[plays][die][usize::from(step)]))
            });
            for (played, rank) in played.iter_mut().zip([once, twice, thrice]) {
                played[die].push(rank);
            }
        }
        choices
    }

    /// Records the mean and variance of the side from the last [`Chooser::choices`].
    fn push(&mut self, mean: f64, variance: f64) {
        self.preferences.push(Preference::new(mean, variance, self.preferences.len()));
    }
}

#[cfg(test)]
mod tests;
