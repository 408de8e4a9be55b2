//! The interface of all models that value rows.

use crate::describe::Description;
use crate::error::ModelError;
use crate::head::Head;
use crate::program::Program;
use crate::tensor::Tensor;
use adept_rows::{Channel, Rows, RowsView};
use std::any::Any;
use std::sync::Arc;

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
    /// Whether `outcomes` is a correction of the logits of a prior, which is not a distribution.
    #[serde(skip)]
    pub corrects: bool,
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

/// Shares of rows on which the experts of a node ran.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Usage {
    /// Rows that reached the node.
    pub rows: u64,
    /// Share of these rows on which each expert ran.
    pub share: Vec<f64>,
}

/// The methods of [`Predictor`] of a network that has a `forward` pass on the CPU.
macro_rules! by_forward {
    () => {
        fn head(&self) -> &Head {
            &self.forward.program().head
        }

        fn channels(&self) -> &[Channel] {
            &self.forward.program().channels
        }

        fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>) {
            self.forward.evaluate(rows.view(), values);
        }

        fn evaluate_view(&mut self, rows: RowsView<'_>, values: &mut Vec<f32>) {
            self.forward.evaluate(rows, values);
        }

        fn outputs(&mut self, rows: &Rows, outputs: &mut Vec<f32>) {
            self.forward.outputs(rows.view(), outputs);
        }

        fn explain(&mut self, rows: &Rows) -> Explanation {
            self.forward.explain(rows)
        }

        fn has_parts(&self) -> bool {
            self.forward.plan.has_parts()
        }

        fn usage(&self) -> Option<Usage> {
            self.forward.usage()
        }

        fn reset_usage(&mut self) {
            self.forward.workspace.reset_usage();
        }
    };
}
pub(crate) use by_forward;

/// Computes outputs from rows.
pub trait Predictor: Any + Send {
    /// The channels of its rows.
    fn channels(&self) -> &[Channel];

    /// The meaning of its outputs.
    fn head(&self) -> &Head;

    /// Replaces `values` with one value for each row, by which rows are compared, see [`Head::value_of`]. Rows must have these
    /// channels: check rows from other sources with [`Rows::check`].
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

    /// Explains the value of the first row, node by node.
    fn explain(&mut self, rows: &Rows) -> Explanation;

    /// Whether explanations contain experts or modules. Without them they contain no more than [`outputs`](Self::outputs).
    fn has_parts(&self) -> bool {
        true
    }

    /// The number of entries of a growing table; none for other models.
    fn entries(&self) -> Option<usize> {
        None
    }

    /// Shares of rows on which the experts of the outermost selecting node ran since the last call of `reset_usage`; none if all
    /// experts always run.
    fn usage(&self) -> Option<Usage> {
        None
    }

    /// Resets the counts of [`usage`](Self::usage).
    fn reset_usage(&mut self) {}

    /// The program that it runs on the parameters in [`tensors`](Self::tensors); none for tables and int8 networks.
    fn program(&self) -> Option<&Arc<Program>> {
        None
    }

    /// Size and cost.
    fn describe(&self) -> Description;

    /// The parameters, as tensors of a checkpoint.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the device fails.
    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError>;

    /// A copy on the CPU, for another thread.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the device fails.
    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError>;
}
