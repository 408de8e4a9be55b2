//! The one interface of everything that learns.

use crate::describe::Description;
use crate::error::ModelError;
use crate::pairwise::Pairwise;
use adept_rows::Samples;
use adept_rows::{Channel, Rows};

/// A tensor of a saved state.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Unique name.
    pub name: String,
    /// Shape, row-major.
    pub shape: Vec<usize>,
    /// Entries.
    pub data: TensorData,
}

/// Entries of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub enum TensorData {
    /// 32-bit floats.
    F32(Vec<f32>),
    /// 64-bit unsigned integers: keys, counters.
    U64(Vec<u64>),
}

/// What a model thinks of one row, and which parts of it thought so.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// The output (its first entry) of this node, in [−1, 1]. Of an expert in the net of a residual node it is the z
    /// by which it alone would correct the prior.
    pub value: f32,
    /// Weight of each expert after the selection threshold; empty for a node without experts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<f32>,
    /// What each expert thinks; none for one that was not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub experts: Vec<Option<Explanation>>,
}

/// How often the experts of a node were run.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Usage {
    /// Rows that reached the node.
    pub rows: u64,
    /// Share of them on which each expert was run.
    pub share: Vec<f64>,
}

/// Values rows, and learns from samples.
pub trait Learner: Send {
    /// The channels of its rows.
    fn channels(&self) -> &[Channel];

    /// Replaces `values` by the first output for each row, in [−1, 1] for values. Rows come from an encoder with
    /// the channels above; what comes from elsewhere goes through [`Rows::check`] first.
    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>);

    /// These rows were weighed in a decision of training: for learners that take note of what they meet.
    fn weighed(&mut self, _rows: &Rows) {}

    /// One step on Σ weight · loss at that learning rate; returns Σ weight · loss before it. Without samples nothing
    /// happens.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the loss is not finite; parameters are then as before.
    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError>;

    /// Online eligibility traces.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] where the gradient of the value does not serve the loss.
    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError>;

    /// What a model thinks of the first row, by node.
    fn explain(&mut self, rows: &Rows) -> Explanation;

    /// How many entries a table that grows has; none for other models.
    fn entries(&self) -> Option<usize> {
        None
    }

    /// How often the experts of the outermost node with a choice were run since the last call of
    /// `reset_usage`; none where all always run.
    fn usage(&self) -> Option<Usage>;

    /// Starts counting anew.
    fn reset_usage(&mut self);

    /// The network to be run on pairs of halves, if it is of a form that gains by it.
    fn pairwise(&self) -> Option<Pairwise> {
        None
    }

    /// Size and cost.
    fn describe(&self) -> Description;

    /// The parameters, and with `training` what else is needed to go on learning as if never stopped.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if a device no longer answers.
    fn state(&mut self, training: bool) -> Result<Vec<Tensor>, ModelError>;

    /// Takes over a state; what belongs to training may be missing and then starts afresh.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] that names the tensor that is missing, too much, of another shape or
    /// not finite; the learner is then as before.
    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError>;

    /// A learner on the CPU with the same parameters, which plays on another thread while this one learns; `weights` and
    /// [`adopt`](Self::adopt) keep it up to date.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if a device no longer answers.
    fn player(&mut self) -> Result<Box<dyn Learner>, ModelError>;

    /// Replaces `flat` by the parameters.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] for a learner whose parameters are no fixed list, or if a device no longer answers.
    fn weights(&mut self, flat: &mut Vec<f32>) -> Result<(), ModelError>;

    /// Takes the parameters that [`weights`](Self::weights) of such a learner gave.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if their number is another.
    fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError>;
}

/// Online TD(λ): e ← decay · e + ∇V, parameters ← parameters + rate · error · e.
///
/// There is one trace for each `slot`, such as a player, so that several can learn in one game.
pub trait Traces {
    /// e ← decay · e + ∇V(row `row`).
    fn accumulate(&mut self, slot: usize, rows: &Rows, row: usize, decay: f32);

    /// Moves every parameter along its trace by rate · error, at the rate of its group.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the error is not finite.
    fn follow(&mut self, slot: usize, error: f32, rate: f32) -> Result<(), ModelError>;

    /// e ← 0.
    fn cut(&mut self, slot: usize);
}

/// The tensor of that name and length among a state.
pub(crate) fn find<'a>(state: &'a [Tensor], name: &str, shape: &[usize]) -> Result<&'a Tensor, ModelError> {
    let Some(tensor) = state.iter().find(|t| t.name == name) else {
        return Err(ModelError::Unsupported(format!("the tensor `{name}` is missing")));
    };
    if tensor.shape != shape {
        return Err(ModelError::Unsupported(format!(
            "the tensor `{name}` has shape {:?}, expected {shape:?}",
            tensor.shape
        )));
    }
    Ok(tensor)
}

impl Tensor {
    /// A tensor of floats.
    pub fn f32(name: impl Into<String>, shape: Vec<usize>, data: Vec<f32>) -> Self {
        Self { name: name.into(), shape, data: TensorData::F32(data) }
    }

    /// A tensor of integers.
    pub fn u64(name: impl Into<String>, shape: Vec<usize>, data: Vec<u64>) -> Self {
        Self { name: name.into(), shape, data: TensorData::U64(data) }
    }

    /// Bytes of its entries.
    pub fn bytes(&self) -> u64 {
        match &self.data {
            TensorData::F32(data) => size_of_val(&data[..]) as u64,
            TensorData::U64(data) => size_of_val(&data[..]) as u64,
        }
    }

    /// Whether all entries are finite numbers.
    pub fn is_finite(&self) -> bool {
        match &self.data {
            TensorData::F32(data) => data.iter().all(|v| v.is_finite()),
            TensorData::U64(_) => true,
        }
    }

    /// Its entries, if they are finite floats.
    pub(crate) fn floats(&self) -> Result<&[f32], ModelError> {
        match &self.data {
            TensorData::F32(data) if self.is_finite() => Ok(data),
            TensorData::F32(_) => Err(ModelError::Unsupported(format!(
                "the tensor `{}` holds a number that is not finite",
                self.name
            ))),
            TensorData::U64(_) => Err(ModelError::Unsupported(format!(
                "the tensor `{}` holds integers, expected floats",
                self.name
            ))),
        }
    }

    /// Its entries, if they are integers.
    pub(crate) fn integers(&self) -> Result<&[u64], ModelError> {
        match &self.data {
            TensorData::U64(data) => Ok(data),
            TensorData::F32(_) => Err(ModelError::Unsupported(format!(
                "the tensor `{}` holds floats, expected integers",
                self.name
            ))),
        }
    }
}
