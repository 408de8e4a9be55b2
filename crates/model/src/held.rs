//! Samples that wait until their expert has enough of them for a step.

use crate::error::ModelError;
use crate::native::Forward;
use crate::tensor::{ByName, Tensor};
use adept_rows::{Channel, Samples};

/// The tensor of the number of waiting samples, and those of their parts.
const COUNT: &str = "optimiser.held_rows";
const DENSE: &str = "optimiser.held.dense";
const INDEX: &str = "optimiser.held.index";
const TARGETS: &str = "optimiser.held.targets";
const WEIGHTS: &str = "optimiser.held.weights";

/// The waiting samples of each expert of a network that is a [`switch`](crate::native::Plan::switch).
///
/// The parameters of an expert do not change between its steps, so the gradient of its samples is the same when all are computed
/// at once, which takes less time than a few in each batch.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Empty if samples do not wait.
    pub(crate) experts: Vec<Samples>,
}

impl Held {
    /// Nothing waits yet, for so many experts.
    pub(crate) fn new(channels: &[Channel], experts: usize) -> Self {
        Self { experts: vec![Samples::new(channels); experts] }
    }

    /// Adds each sample to those of the expert that it takes.
    pub(crate) fn add(&mut self, forward: &mut Forward, samples: &Samples) {
        let outputs = samples.outputs();
        let Forward { plan, params, workspace } = forward;
        plan.sort(workspace, params, samples.rows.view(), |row, expert| {
            let to = &mut self.experts[expert];
            to.rows.push_from(&samples.rows, row);
            to.targets.extend_from_slice(&samples.targets[row * outputs..][..outputs]);
            to.weights.push(samples.weights[row]);
        });
    }

    /// All samples, ordered by expert; none if there are none.
    fn all(&self) -> Option<Samples> {
        let mut found = self.experts.iter().filter(|samples| !samples.is_empty());
        let mut all = found.next()?.clone();
        found.for_each(|samples| all.append(samples));
        Some(all)
    }

    /// Sorts again, after a change of the table that picks the experts.
    pub(crate) fn sort(&mut self, forward: &mut Forward) {
        if let Some(all) = self.all() {
            self.experts.iter_mut().for_each(Samples::clear);
            self.add(forward, &all);
        }
    }

    /// The state as tensors; none if nothing waits.
    pub(crate) fn tensors(&self) -> Vec<Tensor> {
        let Some(Samples { rows, targets, weights }) = self.all() else { return Vec::new() };
        let (n, outputs) = (weights.len(), targets.len() / weights.len());
        let (dense, index) = (rows.dense_width(), rows.index_width());
        vec![
            Tensor::u64(COUNT, vec![1], vec![n as u64]),
            Tensor::f32(DENSE, vec![n, dense], rows.dense),
            Tensor::u64(INDEX, vec![n, index], rows.index),
            Tensor::f32(TARGETS, vec![n, outputs], targets),
            Tensor::f32(WEIGHTS, vec![n], weights),
        ]
    }

    /// The samples of a state, whose targets have this width.
    pub(crate) fn read(
        channels: &[Channel],
        outputs: usize,
        state: &ByName<'_>,
    ) -> Result<Samples, ModelError> {
        let mut samples = Samples::new(channels);
        let Some(&[n]) = state.integers(COUNT, 1)? else { return Ok(samples) };
        let (n, rows) = (n as usize, &mut samples.rows);
        let dense = state.find(DENSE, &[n, rows.dense_width()])?.widened()?.into_owned();
        let index = state.find(INDEX, &[n, rows.index_width()])?.integers()?.to_vec();
        rows.fill(n, dense, index)?;
        rows.check(channels)?;
        samples.targets = state.find(TARGETS, &[n, outputs])?.widened()?.into_owned();
        samples.weights = state.find(WEIGHTS, &[n])?.widened()?.into_owned();
        Ok(samples)
    }
}
