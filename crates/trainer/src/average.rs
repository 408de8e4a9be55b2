//! The mean of a network's weights over the steps of a run.

use adept_model::checkpoint::is_of_training;
use adept_model::program::Init;
use adept_model::{Learner, ModelError, Tensor, TensorData};

/// Prefix of the tensors with which learning goes on, beside the averaged ones of the model.
const RAW: &str = "raw.";
/// Tensor with the number of averaged steps.
const STEPS: &str = "optimiser.averaged";

/// The mean of the weights w₁ … wₜ after each step, wₖ with weight dᵗ⁻ᵏ: a ← a + (1 − d) / (1 − dᵗ) · (w − a). It begins with
/// w₁, so the initial weights do not count.
#[derive(Default)]
pub(crate) struct Average {
    /// d in [0, 1); none if nothing is averaged.
    decay: Option<f64>,
    steps: u64,
    /// The mean, or while it is traded the weights of the learner.
    flat: Vec<f32>,
    weights: Vec<f32>,
}

impl Average {
    /// Nothing is averaged without `decay`.
    pub(crate) fn new(decay: Option<f64>) -> Self {
        Self { decay, ..Self::default() }
    }

    /// Takes in the weights after a step.
    ///
    /// # Errors
    /// As for [`Learner::weights`].
    pub(crate) fn add(&mut self, learner: &mut dyn Learner) -> Result<(), ModelError> {
        let Some(decay) = self.decay else { return Ok(()) };
        learner.weights(&mut self.weights)?;
        self.steps = self.steps.saturating_add(1);
        let share = (1.0 - decay) / (1.0 - decay.powi(self.steps.min(i32::MAX as u64) as i32));
        self.flat.resize(self.weights.len(), 0.0);
        self.flat.iter_mut().zip(&self.weights).for_each(|(mean, w)| *mean += share as f32 * (w - *mean));
        Ok(())
    }

    /// Exchanges the learner's weights and the mean; a second call takes that back. Does nothing before the first step.
    ///
    /// # Errors
    /// As for [`Learner::weights`].
    pub(crate) fn trade(&mut self, learner: &mut dyn Learner) -> Result<(), ModelError> {
        if self.steps == 0 {
            return Ok(());
        }
        learner.weights(&mut self.weights)?;
        // Numbers of experts have no mean.
        let numbers = learner.program().into_iter().flat_map(|program| &program.params);
        for p in numbers.filter(|p| matches!(p.init, Init::Below(_))) {
            let range = p.offset..p.offset + p.len();
            self.flat[range.clone()].copy_from_slice(&self.weights[range]);
        }
        learner.adopt(&self.flat)?;
        std::mem::swap(&mut self.flat, &mut self.weights);
        Ok(())
    }

    /// The state of the learner for training, with the mean as its model.
    ///
    /// # Errors
    /// As for [`Learner::state`].
    pub(crate) fn state(&mut self, learner: &mut dyn Learner) -> Result<Vec<Tensor>, ModelError> {
        let mut state = learner.state()?;
        if self.steps > 0 {
            let raw = learner.tensors()?;
            self.trade(learner)?;
            let mean = learner.tensors();
            self.trade(learner)?;
            state.splice(..raw.len(), mean?);
            state.extend(raw.into_iter().map(|t| Tensor { name: format!("{RAW}{}", t.name), ..t }));
            state.push(Tensor::u64(STEPS, vec![1], vec![self.steps]));
        }
        Ok(state)
    }

    /// Takes up a [`state`](Self::state).
    ///
    /// # Errors
    /// As for [`Learner::restore`].
    pub(crate) fn restore(&mut self, learner: &mut dyn Learner, state: &[Tensor]) -> Result<(), ModelError> {
        learner.restore(state)?;
        self.steps = match state.iter().find(|t| t.name == STEPS).map(|t| &t.data) {
            Some(TensorData::U64(steps)) => steps.first().copied().unwrap_or(0),
            _ => 0,
        };
        if self.steps == 0 {
            return Ok(());
        }
        learner.weights(&mut self.flat)?;
        let raw = state.iter().filter_map(|t| match t.name.strip_prefix(RAW) {
            Some(name) => Some(Tensor { name: name.into(), ..t.clone() }),
            None => is_of_training(&t.name).then(|| t.clone()),
        });
        learner.restore(&raw.collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::stream;
    use adept_model::optimiser::Optimiser;
    use adept_model::{Architecture, Channel, ChannelKind, Compute, Head, Samples, build_on};
    use serde_json::json;

    fn learner(architecture: serde_json::Value) -> (Box<dyn Learner>, Samples) {
        let architecture: Architecture = serde_json::from_value(architecture).unwrap();
        let index = |name| Channel::new(name, ChannelKind::Index(3));
        let channels = [Channel::new("x", ChannelKind::Dense(2)), index("a"), index("b")];
        let (sgd, rng) = (Optimiser::default(), &mut stream(1, "init", 0));
        let learner = build_on(&architecture, &channels, &Head::Value, sgd, Compute::default(), rng).unwrap();
        let mut samples = Samples::new(&channels);
        samples.rows.push().dense.copy_from_slice(&[0.5, -1.0]);
        samples.targets.push(1.0);
        samples.weights.push(1.0);
        (learner, samples)
    }

    #[test]
    fn it_is_the_weighted_mean_of_the_weights_after_each_step() {
        let (mut learner, samples) = learner(json!({ "mlp": { "hidden": [3] } }));
        let (mut average, mut all, mut weights) = (Average::new(Some(0.8)), Vec::new(), Vec::new());
        for step in 1..=30 {
            learner.update(&samples, 0.3).unwrap();
            average.add(&mut *learner).unwrap();
            learner.weights(&mut weights).unwrap();
            all.push(weights.clone());
            average.trade(&mut *learner).unwrap();
            let mut found = Vec::new();
            learner.weights(&mut found).unwrap();
            average.trade(&mut *learner).unwrap();
            let share = |k: usize| 0.8_f64.powi(step - 1 - k as i32);
            let total: f64 = (0..all.len()).map(share).sum();
            for (i, found) in found.iter().enumerate() {
                let sum: f64 = all.iter().enumerate().map(|(k, w)| share(k) * f64::from(w[i])).sum();
                assert!((sum / total - f64::from(*found)).abs() < 1e-6, "step {step}");
            }
            learner.weights(&mut found).unwrap();
            assert_eq!(found, weights, "learning goes on with its own weights");
        }
        assert!(all[0] != all[29]);
    }

    #[test]
    fn a_table_of_experts_has_no_mean() {
        let cells = json!({ "by": ["a", "b"], "experts": 4, "expert": { "mlp": { "hidden": [] } } });
        let (mut learner, samples) = learner(json!({ "cells": cells }));
        let mut average = Average::new(Some(0.9));
        for expert in [1.0, 2.0, 3.0] {
            learner.update(&samples, 0.1).unwrap();
            average.add(&mut *learner).unwrap();
            let mut state = learner.tensors().unwrap();
            let table = state.iter_mut().find(|t| t.name == "gate.table").unwrap();
            table.data = TensorData::F32(vec![expert; 9]);
            let table = table.clone();
            learner.restore(&state).unwrap();
            average.trade(&mut *learner).unwrap();
            assert!(learner.tensors().unwrap().contains(&table));
            average.trade(&mut *learner).unwrap();
        }
    }
}
