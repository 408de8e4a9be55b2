//! The interface of all learners: evaluate, update, explain, save and restore.

use crate::describe::Description;
use crate::error::ModelError;
use crate::head::Head;
use crate::native::whole;
use crate::program::Program;
use adept_rows::Samples;
use adept_rows::{Channel, Rows, RowsView};
use std::any::Any;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// A named tensor of a saved state.
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
    /// 16-bit integers of quantised networks.
    I16(Vec<i16>),
    /// 8-bit integers of quantised networks.
    I8(Vec<i8>),
    /// The bits of bfloat16 numbers.
    Bf16(Vec<u16>),
}

/// The value of one row, with the weights and values of the experts behind it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// The value of this node, in the range of its architecture. For an expert inside a residual node: its own correction z
    /// of the prior.
    pub value: f32,
    /// The value in the unit of the game, such as points, where a game is known: the model itself knows none.
    #[serde(rename = "equity", skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// Its distribution over the classes of outcomes, or the correction of the logits of a prior; empty if the model gives one
    /// number.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<f32>,
    /// Its name, if it is a module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Weight of each expert after the selection threshold; empty for a node without experts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<f32>,
    /// The class of the row in each of the two channels of learned cells, down and across as in a map of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cell: Option<[usize; 2]>,
    /// The node of these cells, by the prefix of its tensor names, as in a map of them; empty at the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The explanation of each expert; none for an expert that did not run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub experts: Vec<Option<Explanation>>,
}

/// How often the experts of a node ran.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Usage {
    /// Rows that reached the node.
    pub rows: u64,
    /// Share of these rows on which each expert ran.
    pub share: Vec<f64>,
}

/// Evaluates rows, and learns from samples.
pub trait Learner: Any + Send {
    /// The channels of its rows.
    fn channels(&self) -> &[Channel];

    /// What its outputs mean.
    fn head(&self) -> &Head;

    /// Replaces `values` with the number that each row is compared by, see [`Head::value_of`]. Rows must have these channels:
    /// check rows from other sources with [`Rows::check`].
    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>);

    /// Like [`evaluate`](Self::evaluate), for rows in memory of the caller. Networks on the CPU do not copy them.
    fn evaluate_view(&mut self, rows: RowsView<'_>, values: &mut Vec<f32>) {
        self.evaluate(&rows.to_rows(), values);
    }

    /// Replaces `outputs` with the outputs for each row, `[rows, outputs]`: values, or distributions over the classes of
    /// outcomes.
    fn outputs(&mut self, rows: &Rows, outputs: &mut Vec<f32>) {
        self.evaluate(rows, outputs);
    }

    /// Tells the learner that a training decision evaluated these rows. Tables may add entries for them.
    fn weighed(&mut self, _rows: &Rows) {}

    /// Tells the learner that the player in a training game chose this row.
    fn chosen(&mut self, _rows: &Rows, _row: usize) {}

    /// Takes one step on Σ weight · loss at learning rate `rate`. Returns Σ weight · loss before the step. Does nothing
    /// without samples.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the loss is not finite; the parameters are then unchanged.
    fn update(&mut self, samples: &Samples, rate: f32) -> Result<f64, ModelError>;

    /// Returns Σ weight · loss, and replaces `gradient` with its gradient with respect to the flat parameters, in the order of
    /// [`weights`](Self::weights). Without samples both are 0. Neither needs to be finite.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the learner does not learn by a gradient, or if the device fails.
    fn gradient(&mut self, _samples: &Samples, _gradient: &mut Vec<f32>) -> Result<f64, ModelError> {
        Err(ModelError::Unsupported("the model does not learn by a gradient that could be added up".into()))
    }

    /// Takes the step of [`update`](Self::update) with this Σ weight · loss and its gradient, which may be sums over parts of a
    /// batch.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the loss is not finite; the parameters are then unchanged. [`ModelError::Unsupported`] as
    /// for [`gradient`](Self::gradient).
    ///
    /// # Panics
    /// If the gradient has another length than the parameters.
    fn descend(&mut self, _loss: f64, _gradient: &[f32], _rate: f32) -> Result<(), ModelError> {
        Err(ModelError::Unsupported("the model does not learn by a gradient that could be added up".into()))
    }

    /// Online eligibility traces.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the learner cannot learn from the gradient of the value.
    fn traces(&mut self) -> Result<&mut dyn Traces, ModelError>;

    /// Explains the value of the first row, node by node.
    fn explain(&mut self, rows: &Rows) -> Explanation;

    /// Whether explanations tell of experts or modules. Without them they tell no more than [`outputs`](Self::outputs).
    fn has_parts(&self) -> bool {
        true
    }

    /// The number of entries of a growing table; none for other models.
    fn entries(&self) -> Option<usize> {
        None
    }

    /// How often the experts of the outermost selecting node ran since the last call of `reset_usage`; none if all
    /// experts always run.
    fn usage(&self) -> Option<Usage>;

    /// Resets the counts of [`usage`](Self::usage).
    fn reset_usage(&mut self);

    /// The program that it runs; none for models without one.
    fn program(&self) -> Option<&Arc<Program>> {
        None
    }

    /// Size and cost.
    fn describe(&self) -> Description;

    /// The parameters; with `training`, also the state needed to resume training without a difference.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the device fails.
    fn state(&mut self, training: bool) -> Result<Vec<Tensor>, ModelError>;

    /// Loads a state. The training state is optional; without it training starts anew.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if a tensor is missing, unknown, of another shape or not finite. The error names the
    /// tensor, and the learner is unchanged.
    fn restore(&mut self, state: &[Tensor]) -> Result<(), ModelError>;

    /// A CPU learner with the same parameters, to play on another thread while this one learns. Update it with
    /// [`weights`](Self::weights) and [`adopt`](Self::adopt).
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the device fails.
    fn player(&mut self) -> Result<Box<dyn Learner>, ModelError>;

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

/// The tensors of a state by name. A state from a file may hold many that the learner does not know.
pub(crate) struct ByName<'a>(HashMap<&'a str, &'a Tensor>);

impl<'a> ByName<'a> {
    pub(crate) fn new(state: &'a [Tensor]) -> Self {
        Self(state.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect())
    }

    /// The tensor with this name and shape.
    pub(crate) fn find(&self, name: &str, shape: &[usize]) -> Result<&'a Tensor, ModelError> {
        fitting(self.0.get(name).copied(), name, shape)
    }
}

/// The tensor with this name and shape in a state.
pub(crate) fn find<'a>(state: &'a [Tensor], name: &str, shape: &[usize]) -> Result<&'a Tensor, ModelError> {
    fitting(state.iter().find(|t| t.name == name), name, shape)
}

fn fitting<'a>(found: Option<&'a Tensor>, name: &str, shape: &[usize]) -> Result<&'a Tensor, ModelError> {
    let Some(tensor) = found else {
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
    /// Creates a tensor of floats.
    pub fn f32(name: impl Into<String>, shape: Vec<usize>, data: Vec<f32>) -> Self {
        Self { name: name.into(), shape, data: TensorData::F32(data) }
    }

    /// Creates a tensor of integers.
    pub fn u64(name: impl Into<String>, shape: Vec<usize>, data: Vec<u64>) -> Self {
        Self { name: name.into(), shape, data: TensorData::U64(data) }
    }

    /// Creates a tensor of 16-bit integers.
    pub fn i16(name: impl Into<String>, shape: Vec<usize>, data: Vec<i16>) -> Self {
        Self { name: name.into(), shape, data: TensorData::I16(data) }
    }

    /// Creates a tensor of 8-bit integers.
    pub fn i8(name: impl Into<String>, shape: Vec<usize>, data: Vec<i8>) -> Self {
        Self { name: name.into(), shape, data: TensorData::I8(data) }
    }

    /// Creates a tensor of bfloat16 numbers from their bits.
    pub fn bf16(name: impl Into<String>, shape: Vec<usize>, data: Vec<u16>) -> Self {
        Self { name: name.into(), shape, data: TensorData::Bf16(data) }
    }

    /// Size of the entries in bytes.
    pub fn bytes(&self) -> u64 {
        match &self.data {
            TensorData::F32(data) => size_of_val(&data[..]) as u64,
            TensorData::U64(data) => size_of_val(&data[..]) as u64,
            TensorData::I16(data) => size_of_val(&data[..]) as u64,
            TensorData::I8(data) => data.len() as u64,
            TensorData::Bf16(data) => size_of_val(&data[..]) as u64,
        }
    }

    /// Whether all entries are finite numbers.
    pub fn is_finite(&self) -> bool {
        match &self.data {
            TensorData::F32(data) => data.iter().all(|v| v.is_finite()),
            TensorData::Bf16(data) => data.iter().all(|&v| whole(v).is_finite()),
            TensorData::U64(_) | TensorData::I16(_) | TensorData::I8(_) => true,
        }
    }

    /// The entries, if they are finite floats.
    pub(crate) fn floats(&self) -> Result<&[f32], ModelError> {
        match &self.data {
            TensorData::F32(data) if self.is_finite() => Ok(data),
            TensorData::F32(_) => Err(self.not_finite()),
            _ => Err(self.expected("floats")),
        }
    }

    /// The entries as floats, if they are finite floats or numbers of bfloat16.
    pub(crate) fn widened(&self) -> Result<Cow<'_, [f32]>, ModelError> {
        match &self.data {
            TensorData::Bf16(data) if self.is_finite() => Ok(data.iter().map(|&v| whole(v)).collect()),
            TensorData::Bf16(_) => Err(self.not_finite()),
            _ => self.floats().map(Cow::Borrowed),
        }
    }

    /// The entries, if they are integers.
    pub(crate) fn integers(&self) -> Result<&[u64], ModelError> {
        match &self.data {
            TensorData::U64(data) => Ok(data),
            _ => Err(self.expected("integers")),
        }
    }

    /// The entries, if they are 16-bit integers.
    pub(crate) fn shorts(&self) -> Result<&[i16], ModelError> {
        match &self.data {
            TensorData::I16(data) => Ok(data),
            _ => Err(self.expected("16-bit integers")),
        }
    }

    /// The entries, if they are 8-bit integers.
    pub(crate) fn small(&self) -> Result<&[i8], ModelError> {
        match &self.data {
            TensorData::I8(data) => Ok(data),
            _ => Err(self.expected("8-bit integers")),
        }
    }

    fn not_finite(&self) -> ModelError {
        ModelError::Unsupported(format!("the tensor `{}` holds a number that is not finite", self.name))
    }

    fn expected(&self, what: &str) -> ModelError {
        let found = match &self.data {
            TensorData::F32(_) => "floats",
            TensorData::U64(_) => "integers",
            TensorData::I16(_) => "16-bit integers",
            TensorData::I8(_) => "8-bit integers",
            TensorData::Bf16(_) => "bfloat16 numbers",
        };
        ModelError::Unsupported(format!("the tensor `{}` holds {found}, expected {what}", self.name))
    }
}
