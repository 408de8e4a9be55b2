//! Sources of samples: what a run learns from.

use super::error::TrainError;
use super::plan::{Batch, Span};
use super::steer::Pace;
use crate::regrets::Regrets;
use crate::shards::Shards;
use adept_arena::LearnerModel;
use adept_game::{Kit, Stream};
use adept_model::{Learner, ModelError, Tensor};
use adept_ranks::Ranks;
use serde::{Deserialize, Serialize};

/// A source of samples: games, positions, or the policies of regrets.
pub(super) trait Source<G: Kit> {
    /// Prepares examples when learning begins, because they may take a while.
    fn prepare(&mut self, _bound: &LearnerModel<G>) -> Result<(), TrainError> {
        Ok(())
    }

    /// Hash of the examples of a file, if they are used.
    fn digest(&self) -> Option<u64> {
        None
    }

    /// Whether each rank gets the samples of its own shards only.
    fn is_divided(&self) -> bool;

    /// State for a checkpoint, the same on all ranks.
    fn state(&mut self, _ranks: &Ranks) -> Result<Snapshot, ModelError> {
        Ok(Snapshot::default())
    }

    /// Restores the state from a checkpoint with these tensors.
    fn restore(
        &mut self,
        _state: SourceState,
        _tensors: &[Tensor],
        _learner: &dyn Learner,
        _shards: &Shards,
    ) -> Result<(), String> {
        Ok(())
    }

    /// Copies the learner's parameters to the workers.
    fn publish(&mut self, _learner: &mut dyn Learner) -> Result<(), ModelError> {
        Ok(())
    }

    /// Gets the samples of a batch and learns from them.
    fn learn(&mut self, step: Step<'_, G>) -> Result<Learned, BatchError>;

    /// Drops work done ahead, when the run is over.
    fn forget(&mut self) {}
}

/// A batch to learn from, and what is needed for it.
pub(super) struct Step<'a, G: Kit> {
    pub(super) bound: &'a mut LearnerModel<G>,
    pub(super) batch: &'a Batch,
    pub(super) shards: &'a mut Shards,
    pub(super) pace: Pace<'a>,
    /// Seconds of the run.
    pub(super) clock: &'a dyn Fn() -> f64,
}

/// Result of a batch.
pub(super) struct Learned {
    /// Sum of the losses.
    pub(super) loss: f64,
    pub(super) samples: u64,
    /// `None` if the learner itself plays.
    pub(super) time: Option<BatchTime>,
}

/// Seconds of a batch.
pub(super) struct BatchTime {
    /// Of the optimiser's step.
    pub(super) learning: f64,
    /// Of getting samples, or waiting for them, before and after the step.
    pub(super) waiting: f64,
}

/// An error in a batch.
#[derive(Debug)]
pub(super) struct BatchError {
    pub(super) error: ModelError,
    /// Its game, sample or iteration.
    pub(super) step: u64,
}

impl BatchError {
    /// Adds the step to an error.
    pub(super) fn at(step: u64) -> impl Fn(ModelError) -> Self {
        move |error| Self { error, step }
    }
}

/// State of a source for a checkpoint.
#[derive(Default)]
pub(super) struct Snapshot {
    pub(super) state: SourceState,
    pub(super) tensors: Vec<Tensor>,
}

/// The part of a source's state that is not tensors: generators, and the games played ahead.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct SourceState {
    pub(super) play: Vec<Stream>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ahead: Option<Span>,
    /// Number of samples of each shard of the games played ahead; empty if they are not cut yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) shards: Vec<usize>,
}

impl<G: Kit> Source<G> for Regrets {
    fn is_divided(&self) -> bool {
        false
    }

    fn state(&mut self, _: &Ranks) -> Result<Snapshot, ModelError> {
        let (rng, tensors) = Regrets::state(self)?;
        Ok(Snapshot { state: SourceState { play: vec![rng], ..SourceState::default() }, tensors })
    }

    fn restore(
        &mut self,
        state: SourceState,
        tensors: &[Tensor],
        _: &dyn Learner,
        _: &Shards,
    ) -> Result<(), String> {
        match <[_; 1]>::try_from(state.play) {
            Ok([rng]) => Regrets::restore(self, rng, tensors),
            Err(found) => Err(format!("it has {} generators instead of one", found.len())),
        }
    }

    fn learn(&mut self, step: Step<'_, G>) -> Result<Learned, BatchError> {
        let Step { bound, batch, shards, pace, .. } = step;
        let mut learned = Learned { loss: 0.0, samples: 0, time: None };
        for iteration in batch.span.clone() {
            let found = self.iterate(iteration, &mut *bound.model, shards, pace.rate(iteration));
            let (loss, samples) = found.map_err(BatchError::at(iteration))?;
            learned.loss += loss;
            learned.samples += samples;
        }
        Ok(learned)
    }
}
