//! Estimates of a position's value without a two-sided table or training, from the two one-sided races.

use super::{OneSided, Position, Side, rank};
use crate::memory::fetch;
use crate::shared::Shared;
use std::convert::Infallible;
use std::f64::consts::SQRT_2;
use std::sync::Arc;

/// Estimates the value of a position for the side to roll.
pub trait Estimate: Send + Sync {
    /// Name in commands and reports.
    fn name(&self) -> &'static str;

    /// V = P(win) − P(lose) of the side to roll, in [−1, 1]. Exactly 1 if this side has borne off, −1 if the other side
    /// has. NaN if a side has more checkers than the one-sided solution that the estimate needs.
    fn value(&self, position: Position) -> f64;
}

/// Assumes that each side minimises its own mean number of rolls and ignores the other. Then, exactly,
///
/// P(win) = Σₖ P(own = k) · P(opponent ≥ k),
///
/// because the side to roll goes first in every round.
#[derive(Clone, Debug)]
pub struct Convolution(pub Arc<OneSided>);

/// [`Convolution`] in single precision, accurate to 1e-6, from a table of all sides. It is fast enough for a prior that
/// is evaluated for every candidate.
#[derive(Debug)]
pub struct Rolls {
    /// For each rank of a side: P(N = k) and P(N ≥ k), from k = 1.
    terms: Vec<[[f32; TERMS]; 2]>,
}

/// Number of terms. For every side, more rolls have a probability below 1e-9.
const TERMS: usize = 24;

impl Rolls {
    /// The shared table for sides with at most `checkers` checkers.
    pub fn shared(checkers: u8) -> Arc<Self> {
        static TABLES: Shared<u8, Rolls> = Shared::new();
        let Ok(table) = TABLES.get(checkers, || Ok::<_, Infallible>(Self::new(&OneSided::shared(checkers))));
        table
    }

    fn new(solution: &OneSided) -> Self {
        let terms = |rank: usize| {
            let distribution = solution.distribution(Side::of_rank(rank)).unwrap_or(&[]);
            let mut terms = [[0.0; TERMS]; 2];
            let mut at_least = distribution.iter().skip(TERMS + 1).sum::<f64>();
            for k in (1..=TERMS).rev() {
                let p = distribution.get(k).copied().unwrap_or(0.0);
                at_least += p;
                (terms[0][k - 1], terms[1][k - 1]) = (p as f32, at_least as f32);
            }
            terms
        };
        Self { terms: (0..rank::sides(solution.checkers())).map(terms).collect() }
    }

    /// Prefetches the memory that [`value`](Self::value) will read.
    #[inline]
    pub fn fetch(&self, position: Position) {
        if let Some([own, _]) = self.terms.get(position.own.rank()) {
            fetch(own);
        }
        if let Some([_, opponent]) = self.terms.get(position.opponent.rank()) {
            fetch(opponent);
        }
    }

    /// V of the side to roll, as in [`Convolution`]. NaN if a side has more checkers than the table.
    #[inline]
    pub fn value(&self, position: Position) -> f64 {
        if let Some(value) = decided(position) {
            return value;
        }
        let [own, opponent] = [position.own, position.opponent].map(|side| self.terms.get(side.rank()));
        let (Some([own, _]), Some([_, opponent])) = (own, opponent) else { return f64::NAN };
        // Eight independent sums, which vectorise.
        let mut sums = [0.0f32; 8];
        for (own, opponent) in own.as_chunks::<8>().0.iter().zip(opponent.as_chunks::<8>().0) {
            for (sum, (a, b)) in sums.iter_mut().zip(own.iter().zip(opponent)) {
                *sum += a * b;
            }
        }
        let [a, b, c, d, e, f, g, h] = sums;
        let win = ((a + e) + (b + f)) + ((c + g) + (d + h));
        f64::from((2.0 * win - 1.0).min(1.0))
    }
}

/// Like [`Convolution`], but with normal distributions of the same means and variances:
///
/// V = erf(z / √2), z = (m_opponent − m_own + ½) / √(s_own² + s_opponent²),
///
/// The ½ is there because the side to roll wins ties.
#[derive(Clone, Debug)]
pub struct Normal(pub Arc<OneSided>);

/// Kleinman's formula, from the pip counts of both sides:
///
/// V = erf(D / (2 √S)), D = opponent's pips − own pips + 4, S = own pips + opponent's pips − 4.
///
/// The formula assumes that the final lead in pips is normal with mean D and variance 2 S. For D ≥ 0, P(win) = Φ(√(K /
/// 2)), where K = D² / S is Kleinman's metric. The 4 is the half roll that the side to roll is ahead. V has the sign of
/// D. With at most four pips in total, S ≤ 0 < D and V = 1, the limit. (D. Kleinman, Vision Laughs at Counting, 1980;
/// with erf as in GNU Backgammon, `KleinmanCount`.)
#[derive(Clone, Copy, Debug, Default)]
pub struct Kleinman;

impl Estimate for Convolution {
    fn name(&self) -> &'static str {
        "convolution"
    }

    fn value(&self, position: Position) -> f64 {
        decided(position).or_else(|| convolve(&self.0, position)).unwrap_or(f64::NAN)
    }
}

impl Estimate for Normal {
    fn name(&self) -> &'static str {
        "normal"
    }

    fn value(&self, position: Position) -> f64 {
        decided(position).or_else(|| compare(&self.0, position)).unwrap_or(f64::NAN)
    }
}

impl Estimate for Kleinman {
    fn name(&self) -> &'static str {
        "kleinman"
    }

    fn value(&self, position: Position) -> f64 {
        decided(position).unwrap_or_else(|| {
            let (own, opponent) = (f64::from(position.own.pips()), f64::from(position.opponent.pips()));
            let (lead, sum) = (opponent - own + 4.0, own + opponent - 4.0);
            if sum > 0.0 { libm::erf(lead / (2.0 * sum.sqrt())) } else { 1.0 }
        })
    }
}

/// The value of a finished position.
fn decided(position: Position) -> Option<f64> {
    match (position.own.is_empty(), position.opponent.is_empty()) {
        (true, _) => Some(1.0),
        (_, true) => Some(-1.0),
        _ => None,
    }
}

fn convolve(solution: &OneSided, position: Position) -> Option<f64> {
    let own = solution.distribution(position.own)?;
    let opponent = solution.distribution(position.opponent)?;
    let (mut win, mut at_least) = (0.0, 0.0);
    // Start with the largest k, so that small numbers are summed first.
    for k in (1..own.len().max(opponent.len())).rev() {
        let probability = |distribution: &[f64]| distribution.get(k).copied().unwrap_or(0.0);
        at_least += probability(opponent);
        win += probability(own) * at_least;
    }
    // Rounding may leave the sum a little above 1.
    Some((2.0 * win - 1.0).min(1.0))
}

fn compare(solution: &OneSided, position: Position) -> Option<f64> {
    let lead = solution.mean(position.opponent)? - solution.mean(position.own)? + 0.5;
    let sd = solution.sd(position.own)?.hypot(solution.sd(position.opponent)?);
    // If both numbers of rolls are certain, the lead is an integer plus a half and therefore nonzero.
    Some(if sd > 0.0 { libm::erf(lead / (sd * SQRT_2)) } else { lead.signum() })
}

#[cfg(test)]
mod tests;
