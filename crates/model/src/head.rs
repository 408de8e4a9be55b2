//! Meaning of the outputs of a model.

use adept_rows::OutcomeClass;
use serde::{Deserialize, Serialize};

/// Priors are clamped to ± this limit, 1 − 10⁻⁶: at ±1 no finite correction would change them.
pub const PRIOR_LIMIT: f32 = 1.0 - 1e-6;

/// Least probability whose logarithm is taken: e⁻⁶⁹. Smaller ones count as this one in the loss.
pub const LEAST_PROBABILITY: f32 = 1e-30;

/// Meaning of the outputs of a model. It decides their number, the last op of a network and its loss.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Head {
    /// One number, the value of the row: the highest is best. The loss is the squared error ½(d − y)².
    #[default]
    Value,
    /// A distribution p over classes of outcomes, a softmax. The loss is the cross entropy −Σₖ tₖ ln pₖ with a target
    /// distribution t. The value of a row is Σₖ pₖ uₖ, with the utilities u of the classes.
    Outcomes(Vec<OutcomeClass>),
    /// One logit a row: its softmax over the actions of a decision gives the action probabilities.
    Policy,
}

impl Head {
    /// Width of the output.
    pub fn outputs(&self) -> usize {
        self.classes().map_or(1, <[_]>::len)
    }

    /// The name in configs and manifests: `value`, `outcomes` or `policy`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Outcomes(_) => "outcomes",
            Self::Policy => "policy",
        }
    }

    /// Whether its output is one value.
    pub fn is_value(&self) -> bool {
        *self == Self::Value
    }

    /// Whether its output is a logit of a policy.
    pub fn is_policy(&self) -> bool {
        *self == Self::Policy
    }

    /// The classes of outcomes, if its output is a distribution over them.
    pub fn classes(&self) -> Option<&[OutcomeClass]> {
        match self {
            Self::Outcomes(classes) => Some(classes),
            Self::Value | Self::Policy => None,
        }
    }

    /// The number that rows are compared by: the value Σₖ pₖ uₖ of a distribution, otherwise the output.
    #[inline]
    pub fn value_of(&self, output: &[f32]) -> f32 {
        match self {
            Self::Outcomes(classes) => output.iter().zip(classes).map(|(p, class)| p * class.utility).sum(),
            Self::Value | Self::Policy => output.first().copied().unwrap_or(f32::NAN),
        }
    }

    /// The target that a known value of a row gives: the value itself, or the distribution that follows from it. Loss and win
    /// have the probabilities (1 ± value)/2, and a value that one class alone is worth means that class. None if the value
    /// does not say how probable the classes are.
    pub fn target_of(&self, value: f32) -> Option<Vec<f32>> {
        let Self::Outcomes(classes) = self else { return Some(vec![value]) };
        if Tilt::of(classes) == Some(Tilt::LossWin) {
            let p = |class: &OutcomeClass| (0.5 * (1.0 + class.utility * value)).clamp(0.0, 1.0);
            return value.is_finite().then(|| classes.iter().map(p).collect());
        }
        let worth: Vec<bool> = classes.iter().map(|class| (class.utility - value).abs() < 1e-6).collect();
        let only = worth.iter().filter(|worth| **worth).count() == 1;
        only.then(|| worth.into_iter().map(|worth| f32::from(u8::from(worth))).collect())
    }

    /// The same distribution for the other player of a two-player game, and the negated value.
    pub fn mirrored(&self, output: &[f32], to: &mut Vec<f32>) {
        match self {
            Self::Outcomes(classes) => to.extend(classes.iter().map(|class| output[class.mirror])),
            Self::Value | Self::Policy => to.extend(output.iter().map(|v| -v)),
        }
    }

    /// Distance of an output from its target: the squared error of a number, the divergence Σₖ tₖ ln(tₖ / pₖ) of a
    /// distribution. 0 if they are equal.
    pub fn error(&self, target: &[f32], output: &[f32]) -> f32 {
        match self {
            Self::Outcomes(_) => {
                let log = |v: f32| v.max(LEAST_PROBABILITY).ln();
                target.iter().zip(output).map(|(&t, &p)| t * (log(t) - log(p))).sum()
            }
            Self::Value | Self::Policy => target.iter().zip(output).map(|(d, y)| (d - y) * (d - y)).sum(),
        }
    }

    /// Checks the classes.
    ///
    /// # Errors
    /// The fault.
    pub fn check(&self) -> Result<(), String> {
        self.classes().map_or(Ok(()), OutcomeClass::check)
    }
}

/// Conversion of a value p to a distribution over classes of outcomes: the one of the greatest entropy whose value is p.
///
/// It is softmax(λ u) with the utilities u. For loss and win, λ = atanh(p), so the probability of a win is (1 + p)/2. For
/// loss, draw and win, with |p| and the sign of p: λ = ± ln((|p| + √(4 − 3p²)) / (2 (1 − |p|))), which solves
/// 2 sinh λ / (1 + 2 cosh λ) = p.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tilt {
    /// The classes are worth −1 and 1.
    LossWin,
    /// The classes are worth −1, 0 and 1.
    LossDrawWin,
}

impl Tilt {
    /// The form for these classes, in any order; none if they are worth something else.
    pub fn of(classes: &[OutcomeClass]) -> Option<Self> {
        let mut utilities: Vec<f32> = classes.iter().map(|class| class.utility).collect();
        utilities.sort_by(f32::total_cmp);
        match utilities[..] {
            [-1.0, 1.0] => Some(Self::LossWin),
            [-1.0, 0.0, 1.0] => Some(Self::LossDrawWin),
            _ => None,
        }
    }

    /// λ of a value p, which is clamped to ±[`PRIOR_LIMIT`].
    pub fn lambda(self, p: f64) -> f64 {
        let limit = f64::from(PRIOR_LIMIT);
        let p = p.clamp(-limit, limit);
        let size = p.abs();
        let lambda = match self {
            Self::LossWin => 0.5 * ((1.0 + size) / (1.0 - size)).ln(),
            Self::LossDrawWin => ((size + (4.0 - 3.0 * size * size).sqrt()) / (2.0 * (1.0 - size))).ln(),
        };
        lambda.copysign(p)
    }

    /// Like [`Self::lambda`], in 32 bits. NaN stays.
    #[inline]
    pub(crate) fn lambda_f32(self, p: f32) -> f32 {
        let p = p.clamp(-PRIOR_LIMIT, PRIOR_LIMIT);
        let size = p.abs();
        // 1 − |p| is exact for |p| of at least ½.
        let lambda = match self {
            Self::LossWin => 0.5 * ((1.0 + size) / (1.0 - size)).ln(),
            Self::LossDrawWin => ((size + (4.0 - 3.0 * size * size).sqrt()) / (2.0 * (1.0 - size))).ln(),
        };
        lambda.copysign(p)
    }

    /// The distribution of the greatest entropy with this value, one number a class.
    pub fn distribution(self, classes: &[OutcomeClass], p: f32) -> impl Iterator<Item = f32> {
        let lambda = self.lambda(f64::from(p));
        let weight = move |class: &OutcomeClass| (lambda * f64::from(class.utility)).exp();
        let sum: f64 = classes.iter().map(weight).sum();
        classes.iter().map(move |class| (weight(class) / sum) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tilted_distribution_has_the_value_it_was_made_of() {
        for classes in [OutcomeClass::loss_win(), OutcomeClass::loss_draw_win()] {
            let tilt = Tilt::of(&classes).unwrap();
            let head = Head::Outcomes(classes.clone());
            for p in [-1.0, -0.999, -0.5, -1e-4, 0.0, 0.3, 0.7, 0.999_99, 1.0] {
                let found: Vec<f32> = tilt.distribution(&classes, p).collect();
                assert!((found.iter().sum::<f32>() - 1.0).abs() < 1e-6);
                assert!((head.value_of(&found) - p).abs() < 2e-6, "{found:?} for {p}");
                assert!((tilt.lambda(f64::from(p)) - f64::from(tilt.lambda_f32(p))).abs() < 1e-5);
            }
            assert!(tilt.lambda_f32(f32::NAN).is_nan());
        }
        let even: Vec<f32> = Tilt::LossDrawWin.distribution(&OutcomeClass::loss_draw_win(), 0.0).collect();
        assert!(even.iter().all(|p| (p - 1.0 / 3.0).abs() < 1e-6));
    }
}
