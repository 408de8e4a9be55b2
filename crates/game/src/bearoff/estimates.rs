//! Estimates of a position from each side's own race: what is known before any table of pairs or any training.

use super::{OneSided, Position};
use std::f64::consts::SQRT_2;
use std::sync::Arc;

/// Values a position for the side to roll.
pub trait Estimate: Send + Sync {
    /// Name, as commands and reports print it.
    fn name(&self) -> &'static str;

    /// V = P(win) − P(lose) of the side to roll, in [−1, 1]: exactly 1 if it is off already, −1 if the
    /// other side is. NaN if the estimate needs a one-sided solution and a side has more checkers than it.
    fn value(&self, position: Position) -> f64;
}

/// Each side plays for its own smallest mean number of rolls, whatever the other does; then, exactly,
///
/// P(win) = Σₖ P(own = k) · P(opponent ≥ k),
///
/// as the side to roll comes first in every round.
#[derive(Clone, Debug)]
pub struct Convolution(pub Arc<OneSided>);

/// As [`Convolution`], but with normal distributions of the same means and variances:
///
/// V = erf(z / √2), z = (m_opponent − m_own + ½) / √(s_own² + s_opponent²),
///
/// with the ½ because the side to roll wins ties.
#[derive(Clone, Debug)]
pub struct Normal(pub Arc<OneSided>);

/// Kleinman's formula from the pips of both sides alone:
///
/// V = erf(D / (2 √S)), D = opponent's pips − own pips + 4, S = own pips + opponent's pips − 4.
///
/// The lead in pips at the end of the race is taken as normal with mean D and variance 2 S: P(win) = Φ(√(K / 2))
/// for D ≥ 0, where K = D² / S is Kleinman's metric; the 4 is the half roll that the side to roll is ahead. V
/// has the sign of D. With four pips or fewer in all, S ≤ 0 < D and V = 1, the limit. (D. Kleinman, Vision Laughs
/// at Counting, 1980; with erf as in GNU Backgammon, `KleinmanCount`.)
#[derive(Clone, Copy, Debug, Default)]
pub struct Kleinman;

/// The same value for all positions that are not over: a baseline.
#[derive(Clone, Copy, Debug)]
pub struct Constant(pub f64);

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

impl Estimate for Constant {
    fn name(&self) -> &'static str {
        "constant"
    }

    fn value(&self, position: Position) -> f64 {
        decided(position).unwrap_or(self.0)
    }
}

/// The value of a position that is over.
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
    // From the top, so that small numbers are summed first.
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
    // Both numbers of rolls may be certain; the lead is then no zero, but a whole number and a half.
    Some(if sd > 0.0 { libm::erf(lead / (sd * SQRT_2)) } else { lead.signum() })
}

#[cfg(test)]
mod tests;
