//! Policy learning: a softmax over the rows of a decision.

use crate::predictor::Predictor;
use adept_rows::Samples;

/// Replaces the targets π of samples by those with which [`Learner::update`](crate::Learner::update) takes a step on the cross entropy
/// Σ weight · H(π, p). Returns this sum.
///
/// p is the softmax of a decision's outputs, π its targets, and H(π, p) = −Σₐ πₐ ln pₐ. The rows of a decision are
/// consecutive and have the same weight; `decisions` holds the number of rows of each decision.
///
/// The target t = y − (p − π) gives the squared error ½(y − t)² the gradient of the cross entropy, p − π. So this works
/// with every learner of squared errors, on any engine. It does not work with an HME, which learns from its likelihood.
///
/// # Panics
/// If `decisions` do not add up to the number of samples.
pub fn policy_targets(model: &mut dyn Predictor, samples: &mut Samples, decisions: &[usize]) -> f64 {
    assert_eq!(decisions.iter().sum::<usize>(), samples.len(), "rows of decisions");
    let mut outputs = Vec::new();
    model.evaluate(&samples.rows, &mut outputs);
    let (mut first, mut sum) = (0, 0.0);
    for n in decisions {
        let rows = first..first + n;
        first += n;
        let outputs = &outputs[rows.clone()];
        let most = outputs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let total: f32 = outputs.iter().map(|y| (y - most).exp()).sum();
        for ((target, y), weight) in
            samples.targets[rows.clone()].iter_mut().zip(outputs).zip(&samples.weights[rows])
        {
            let log = y - most - total.ln();
            sum -= f64::from(weight * *target * log);
            *target = y - (log.exp() - *target);
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Head, Learner, Optimiser, build};
    use adept_rows::{Channel, ChannelKind};
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn samples(channels: &[Channel], targets: &[f32]) -> Samples {
        let mut samples = Samples::new(channels);
        for (i, target) in targets.iter().enumerate() {
            samples.rows.push().dense.copy_from_slice(&[(i as f32).sin(), (2.0 * i as f32).cos(), 1.0]);
            samples.targets.push(*target);
            samples.weights.push(if i < 3 { 0.75 } else { 0.25 });
        }
        samples
    }

    /// A small step lowers the loss by rate · |∇|², with ∇ from finite differences.
    #[test]
    fn the_step_goes_down_the_gradient_of_the_cross_entropy() {
        let channels = [Channel::new("x", ChannelKind::Dense(3))];
        let architecture: Architecture =
            serde_json::from_str(r#"{ "mlp": { "hidden": [4], "output": "linear" } }"#).unwrap();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut learner =
            build(&architecture, &channels, &Head::Value, Optimiser::default(), &mut rng).unwrap();
        let (targets, decisions) = ([0.2, 0.5, 0.3, 0.0, 1.0], [3, 2]);
        let loss = |learner: &mut dyn Learner| {
            policy_targets(learner, &mut samples(&channels, &targets), &decisions)
        };
        let mut before = Vec::new();
        learner.weights(&mut before).unwrap();
        let gradient: Vec<f64> = (0..before.len())
            .map(|i| {
                let mut at = |d: f32| {
                    let mut moved = before.clone();
                    moved[i] += d;
                    learner.adopt(&moved).unwrap();
                    loss(&mut *learner)
                };
                (at(0.01) - at(-0.01)) / 0.02
            })
            .collect();
        learner.adopt(&before).unwrap();
        let rate = 0.5;
        let mut batch = samples(&channels, &targets);
        policy_targets(&mut *learner, &mut batch, &decisions);
        learner.update(&batch, rate).unwrap();
        let mut after = Vec::new();
        learner.weights(&mut after).unwrap();
        assert!(gradient.iter().any(|g| g.abs() > 0.05));
        for ((a, b), g) in after.iter().zip(&before).zip(gradient) {
            assert!((f64::from(a - b) + f64::from(rate) * g).abs() < 2e-4, "{} for {g}", a - b);
        }
    }
}
