//! Stagnation: a network that gives all positions the same value.

use crate::positions::rows_of_random_games;
use adept_arena::LearnerModel;
use adept_game::{Kit, stream};
use adept_model::{Channel, Rows};

/// Number of measurements in a row that do not tell positions apart after which a run warns.
const STAGNANT: u64 = 3;

/// Rows of random games by which stagnation is found, if no positions are measured.
const PROBED_ROWS: usize = 256;

/// Fewer rows say nothing.
const LEAST_ROWS: usize = 16;

/// Values of many positions that do not tell them apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Stagnation {
    /// All positions have this value.
    Same(f32),
    /// Almost all values are at the ends of the range, where the gradient of tanh is 0, and most of them are wrong.
    Saturated,
}

/// The right values of positions.
#[derive(Clone, Copy)]
pub(super) struct Exact {
    /// Their standard deviation.
    pub(super) spread: f64,
    /// The root mean square error of the network's values.
    pub(super) rms: f64,
}

impl Stagnation {
    /// Looks at the values of positions, and compares them with the right ones if these are known.
    pub(super) fn of(values: &[f32], exact: Option<Exact>) -> Option<Self> {
        // A linear output may go beyond, where its gradient is as large as elsewhere.
        let end = |value: &f32| (value.abs() - 1.0).abs() <= 1e-6;
        let (low, high) = values
            .iter()
            .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), v| (low.min(*v), high.max(*v)));
        // Values that are not numbers are a fault of their own.
        if values.len() < LEAST_ROWS || !low.is_finite() || exact.is_some_and(|exact| exact.spread < 1e-3) {
            None
        } else if high - low <= 1e-6 {
            Some(Self::Same(low))
        } else if exact.is_some_and(|exact| exact.rms > 0.1)
            && values.iter().filter(|v| end(v)).count() * 100 >= values.len() * 99
        {
            Some(Self::Saturated)
        } else {
            None
        }
    }

    fn warning(self, measurements: u64, rate: f32) -> String {
        let saturated = "a saturated output has no gradient, so it stays: start again";
        let (what, cause) = match self {
            Self::Same(value) if (0.999..=1.0).contains(&value.abs()) => {
                (format!("all positions have the value {value:+.4}"), saturated)
            }
            Self::Same(value) => (
                format!("all positions have the value {value:+.4}"),
                "if this stays, nothing is learned: start again",
            ),
            Self::Saturated => ("almost all values are −1 or +1 and many are wrong".into(), saturated),
        };
        format!(
            "learning stands still: in {measurements} measurements {what}; {cause} with a smaller `learn.rate` (now {rate}), \
             `output = \"linear\"` in the architecture, or other initial weights (another seed, a smaller `init`)"
        )
    }
}

/// Counts the measurements in a row that do not tell positions apart.
pub(super) struct StagnationProbe {
    /// Rows of random games, once they are drawn.
    rows: Rows,
    pub(super) stagnant_evaluations: u64,
}

impl StagnationProbe {
    /// A probe for rows of these channels.
    pub(super) fn new(channels: &[Channel]) -> Self {
        Self { rows: Rows::new(channels), stagnant_evaluations: 0 }
    }

    /// Looks at the values of positions of random games; `values` is a buffer. Tables and policies are not looked at.
    pub(super) fn look<G: Kit>(
        &mut self,
        game: &G,
        bound: &mut LearnerModel<G>,
        values: &mut Vec<f32>,
    ) -> Option<Stagnation> {
        if bound.model.program().is_none() || bound.model.head().is_policy() {
            return None;
        }
        if self.rows.is_empty() {
            self.rows = rows_of_random_games(game, bound, PROBED_ROWS, &mut stream(0, "standing still", 0));
        }
        bound.model.evaluate(&self.rows, values);
        Stagnation::of(values, None)
    }

    /// Counts a measurement, perhaps the last of the run, and returns a warning if one is due.
    pub(super) fn count(&mut self, found: Option<Stagnation>, is_last: bool, rate: f32) -> Option<String> {
        self.stagnant_evaluations = if found.is_some() { self.stagnant_evaluations + 1 } else { 0 };
        let count = self.stagnant_evaluations;
        let is_due = count == STAGNANT || is_last && (2..STAGNANT).contains(&count);
        found.filter(|_| is_due).map(|found| found.warning(count, rate))
    }
}

#[cfg(test)]
mod tests {
    use super::{Exact, Stagnation};

    fn exact(spread: f64, rms: f64) -> Option<Exact> {
        Some(Exact { spread, rms })
    }

    #[test]
    fn a_network_that_does_not_tell_positions_apart_stagnates() {
        let apart: Vec<f32> = (0..100).map(|i| i as f32 / 100.0).collect();
        assert_eq!(Stagnation::of(&apart, None), None);
        assert_eq!(Stagnation::of(&[-1.0; 100], None), Some(Stagnation::Same(-1.0)));
        assert_eq!(Stagnation::of(&[0.25; 100], exact(0.5, 0.5)), Some(Stagnation::Same(0.25)));
        // Where all right values are equal, so may be the others. Few rows say nothing.
        assert_eq!(Stagnation::of(&[0.25; 100], exact(0.0, 0.0)), None);
        assert_eq!((Stagnation::of(&[0.25; 10], None), Stagnation::of(&[f32::NAN; 100], None)), (None, None));
        let ends: Vec<f32> = (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        assert_eq!(Stagnation::of(&ends, exact(1.0, 0.9)), Some(Stagnation::Saturated));
        let beyond: Vec<f32> = ends.iter().map(|v| 3.0 * v).collect();
        assert_eq!(Stagnation::of(&beyond, exact(1.0, 2.0)), None);
        // A game whose values are won and lost alone may be learned so.
        assert_eq!((Stagnation::of(&ends, exact(1.0, 0.01)), Stagnation::of(&ends, None)), (None, None));
        let warning = Stagnation::Same(-1.0).warning(3, 0.5);
        assert!(
            warning.contains("all positions have the value -1.0000") && warning.contains("(now 0.5)"),
            "{warning}"
        );
    }
}
