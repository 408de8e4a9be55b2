//! The interface of models that learn: take steps, save and restore.

use crate::error::ModelError;
use crate::predictor::Predictor;
use crate::tensor::Tensor;
use adept_rows::{Rows, Samples};

/// A predictor that learns from samples.
pub trait Learner: Predictor {
    /// Notes rows that a training decision evaluated. Tables may add entries for them.
    fn weighed(&mut self, _rows: &Rows) {}

    /// Notes the row that the player in a training game chose.
    fn chosen(&mut self, _rows: &Rows, _row: usize) {}

    /// Takes one step on Σ weight · loss at learning rate `rate`. Returns Σ weight · loss before the step. Does nothing
    /// without samples.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the loss is not finite; the parameters are then unchanged.
    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError>;

    /// Returns Σ weight · loss, and replaces `gradient` with its gradient with respect to the flat parameters, in the order of
    /// [`weights`](Self::weights). Whole numbers may follow that add up as the gradients do, such as the rows of each expert.
    /// Without samples all are 0. The gradient and the sum need not be finite.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the learner does not learn by a gradient, or if the device fails.
    fn gradient(&mut self, _samples: &Samples, _gradient: &mut Vec<f32>) -> Result<f64, ModelError> {
        Err(ModelError::Unsupported("the model does not learn by a gradient that could be added up".into()))
    }

    /// How many numbers [`gradient`](Self::gradient) gives.
    fn gradient_len(&self) -> usize {
        self.program().map_or(0, |program| program.parameters())
    }

    /// Takes the step of [`update`](Self::update) with this Σ weight · loss and its gradient, which may be sums over parts of a
    /// batch.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the loss is not finite; the parameters are then unchanged. [`ModelError::Unsupported`] as
    /// for [`gradient`](Self::gradient).
    ///
    /// # Panics
    /// If the gradient has another length than [`gradient_len`](Self::gradient_len).
    fn descend(&mut self, _loss: f64, _gradient: &[f32], _rate: f32) -> Result<(), ModelError> {
        Err(ModelError::Unsupported("the model does not learn by a gradient that could be added up".into()))
    }

    /// Online eligibility traces.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the learner cannot learn from the gradient of the value.
    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError>;

    /// The parameters, and the state needed to resume training with the same bits.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the device fails.
    fn state(&mut self) -> Result<Vec<Tensor>, ModelError>;

    /// Loads a state. The training state is optional; without it training starts anew.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if a tensor is missing, unknown, of another shape or not finite. The error names the
    /// tensor, and the learner is unchanged.
    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError>;

    /// A learner on the CPU with the same parameters, for another thread. Update it with [`weights`](Self::weights) and
    /// [`adopt`](Self::adopt).
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the device fails.
    fn worker(&mut self) -> Result<Box<dyn Learner>, ModelError>;

    /// Replaces `flat` with the parameters.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the number of parameters is not fixed, or if the device fails.
    fn weights(&mut self, flat: &mut Vec<f32>) -> Result<(), ModelError>;

    /// Sets the parameters to those from [`weights`](Self::weights) of a learner with the same architecture.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if their number is wrong.
    fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError>;
}

/// Online TD(λ): e ← decay · e + ∇V, parameters ← parameters + rate · error · e.
///
/// Each `slot`, such as a player, has its own trace, so several players can learn in one game.
pub trait Traces {
    /// e ← decay · e + ∇V(row `row`).
    fn accumulate(&mut self, slot: usize, rows: &Rows, row: usize, decay: f32);

    /// Adds rate · error · e to the parameters, with the learning-rate factor of each group.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the error is not finite.
    fn follow(&mut self, slot: usize, error: f32, rate: f32) -> Result<(), ModelError>;

    /// e ← 0.
    fn cut(&mut self, slot: usize);
}
