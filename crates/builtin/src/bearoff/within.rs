//! The maximum probability that a side bears off within k rolls.

use super::rank::sides;
use super::{MAX_CHECKERS, ROLLS, Side, rules};
use crate::shared::Shared;
use std::convert::Infallible;
use std::sync::Arc;

/// The maximum probability over all policies of bearing off within k rolls, for all sides with at most a given number
/// of checkers:
///
/// Fₖ(s) = Σ P(roll) maxₐ Fₖ₋₁(a), F₀(∅) = 1, F₀(s) = 0 else.
///
/// Each k has its own optimal policy, so these values are not a distribution. They show the gain from aiming at a
/// certain roll, which is right when the opponent is about to bear off.
#[derive(Clone, Debug)]
pub struct Within {
    terms: usize,
    /// By rank of the side, then by k from 1.
    probabilities: Vec<f64>,
}

impl Within {
    /// The shared solution for these numbers of checkers and rolls.
    pub fn shared(checkers: u8, terms: usize) -> Arc<Self> {
        static SOLUTIONS: Shared<(u8, usize), Within> = Shared::new();
        let Ok(solution) =
            SOLUTIONS.get((checkers, terms), || Ok::<_, Infallible>(Self::solve(checkers, terms)));
        solution
    }

    /// Solves all sides with at most `checkers` checkers for 1 to `terms` rolls. Values of `checkers` above 15 count as
    /// 15.
    pub fn solve(checkers: u8, terms: usize) -> Self {
        let count = sides(checkers.min(MAX_CHECKERS));
        // The sides after each die, listed once for all k.
        let mut steps: [(Vec<u16>, Vec<u32>); 6] = [(); 6].map(|()| (Vec::new(), vec![0]));
        for side in (0..count).map(Side::of_rank) {
            for (die, (to, ends)) in (1..).zip(&mut steps) {
                to.extend(rules::steps(side, die).map(|step| step.rank() as u16));
                ends.push(to.len() as u32);
            }
        }
        // The best result of one move with a die.
        let best = |die: u8, rank: usize, value: &[f64]| {
            let (to, ends) = &steps[usize::from(die) - 1];
            let to = &to[ends[rank] as usize..ends[rank + 1] as usize];
            to.iter().map(|&step| value[usize::from(step)]).fold(0.0, f64::max)
        };
        let mut before: Vec<f64> = (0..count).map(|rank| f64::from(u8::from(rank == 0))).collect();
        let mut probabilities = vec![0.0; count * terms];
        for k in 0..terms {
            // The best results of one to four moves with each die.
            let mut played: [Vec<Vec<f64>>; 6] = Default::default();
            for (die, played) in (1..).zip(&mut played) {
                for plays in 0..4 {
                    let value = if plays == 0 { &before } else { &played[plays - 1] };
                    let next = (0..count).map(|rank| best(die, rank, value)).collect();
                    played.push(next);
                }
            }
            let played = |die: u8, plays: usize| &played[usize::from(die) - 1][plays - 1];
            let within: Vec<f64> = (0..count)
                .map(|rank| {
                    let value = ROLLS.iter().map(|roll| {
                        let (high, low) = (roll.high(), roll.low());
                        let most = if roll.is_double() {
                            played(high, 4)[rank]
                        } else {
                            best(high, rank, played(low, 1)).max(best(low, rank, played(high, 1)))
                        };
                        f64::from(roll.ways()) * most
                    });
                    value.sum::<f64>() / 36.0
                })
                .collect();
            probabilities.iter_mut().skip(k).step_by(terms).zip(&within).for_each(|(to, p)| *to = *p);
            before = within;
        }
        Self { terms, probabilities }
    }

    /// The probabilities of a side for 1 roll, 2 rolls and so on. None if it has more checkers than the solution.
    pub fn probabilities(&self, side: Side) -> Option<&[f64]> {
        self.probabilities.get(side.rank() * self.terms..)?.get(..self.terms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearoff::OneSided;
    use std::collections::HashMap;

    /// The same probabilities directly from the rules.
    fn within(side: Side, rolls: usize, known: &mut HashMap<(Side, usize), f64>) -> f64 {
        if side.is_empty() || rolls == 0 {
            return f64::from(u8::from(side.is_empty()));
        }
        if let Some(&p) = known.get(&(side, rolls)) {
            return p;
        }
        let mut sum = 0.0;
        for roll in ROLLS {
            let mut afterstates = Vec::new();
            rules::afterstates(side, roll, &mut afterstates);
            let most = afterstates.into_iter().map(|a| within(a, rolls - 1, known)).fold(0.0, f64::max);
            sum += f64::from(roll.ways()) * most;
        }
        known.insert((side, rolls), sum / 36.0);
        sum / 36.0
    }

    #[test]
    fn probabilities_follow_the_rules() {
        let (solution, mut known) = (Within::solve(4, 5), HashMap::new());
        for side in (0..sides(4)).map(Side::of_rank) {
            for (k, p) in (1..).zip(solution.probabilities(side).unwrap()) {
                let expected = within(side, k, &mut known);
                assert!((p - expected).abs() < 1e-14, "{side}, {k} rolls: {p}, not {expected}");
            }
        }
    }

    /// Aiming at a certain roll is never worse than minimising the mean, and sometimes better.
    #[test]
    fn haste_gains() {
        let (solution, one_sided, mut most) = (Within::solve(6, 8), OneSided::solve(6), 0.0f64);
        for side in (0..sides(6)).map(Side::of_rank) {
            let distribution = one_sided.distribution(side).unwrap();
            let mut off = distribution[0];
            for (k, p) in (1..).zip(solution.probabilities(side).unwrap()) {
                off += distribution.get(k).unwrap_or(&0.0);
                assert!(*p >= off - 1e-14 && *p <= 1.0 + 1e-14, "{side}, {k} rolls: {p} after {off}");
                most = most.max(p - off);
            }
        }
        assert!(most > 0.01, "{most}");
        assert_eq!(solution.probabilities(Side::of_rank(sides(6))), None);
    }
}
