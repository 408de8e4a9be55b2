//! Reads a program as a chain: layers one after the other.

use crate::error::ModelError;
use crate::program::{Activation, Op, Program};

/// Maximum number of inputs of a layer: sums of products fit 32 bits, and the covariance of the inputs fits the memory.
const MOST_INPUTS: usize = 8192;

/// f(x W + b); sensitivities are multiplied into W and b.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) inputs: usize,
    pub(super) outputs: usize,
    /// `[inputs, outputs]`.
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) f: Activation,
}

/// A program that is a chain of layers.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The columns of a row that the first layer reads, with the bound of each, if its channel has one.
    pub(super) columns: Vec<(usize, Option<f32>)>,
    /// At least two.
    pub(super) layers: Vec<Layer>,
}

impl Chain {
    /// The chain of a program with these flat parameters; without them only its shape, with empty layers.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with the part that is not of a chain.
    pub(super) fn of(program: &Program, params: Option<&[f32]>) -> Result<Self, ModelError> {
        let no = |what: &str| {
            Err(ModelError::Unsupported(format!(
                "{what}: only single networks with a hidden layer are quantised, whose layers follow one after the other"
            )))
        };
        let mut ops = program
            .body
            .ops
            .iter()
            .filter(|op| !matches!(op, Op::Density { .. } | Op::Categorical { .. }))
            .peekable();
        let Some(Op::Input { channels, .. }) = ops.next() else {
            return no("the network does not begin with its inputs");
        };
        let mut columns = Vec::new();
        for &channel in channels {
            let kind = program.channels[channel].kind;
            let most = match kind {
                adept_rows::ChannelKind::Bits(_) | adept_rows::ChannelKind::Value => Some(1.0),
                _ => None,
            };
            let first = program.layout.offsets[channel];
            columns.extend((first..first + kind.dense_width()).map(|column| (column, most)));
        }
        let entries = |id: usize| {
            let param = &program.params[id];
            params.map_or(Vec::new(), |params| params[param.offset..][..param.len()].to_vec())
        };
        let mut layers = Vec::new();
        while let Some(Op::Affine { weight, bias, .. }) = ops.next_if(|op| matches!(op, Op::Affine { .. })) {
            let [inputs, outputs] = program.params[*weight].shape[..] else {
                return no("a weight is not a matrix");
            };
            if inputs > MOST_INPUTS {
                return Err(ModelError::Unsupported(format!(
                    "a layer has {inputs} inputs: layers of at most {MOST_INPUTS} are quantised"
                )));
            }
            let (mut weight, mut bias) = (entries(*weight), entries(*bias));
            if let Some(Op::Scale { beta, .. }) = ops.next_if(|op| matches!(op, Op::Scale { .. })) {
                let beta = entries(*beta);
                for row in weight.chunks_exact_mut(outputs).chain([&mut bias[..]]) {
                    row.iter_mut().zip(&beta).for_each(|(w, b)| *w *= b);
                }
            }
            let f = match ops.next_if(|op| matches!(op, Op::Activation { .. })) {
                Some(Op::Activation { f, .. }) => *f,
                _ => Activation::Linear,
            };
            layers.push(Layer { inputs, outputs, weight, bias, f });
        }
        // The native engine computes the rest in floats.
        let has_logits = ops.next_if(|op| matches!(op, Op::PriorLogits { .. })).is_some();
        let is_chain = match ops.next() {
            None => !has_logits,
            Some(Op::Softmax { .. }) => true,
            Some(Op::Residual { .. }) => !has_logits,
            _ => false,
        };
        if !is_chain || ops.next().is_some() {
            return no("the network has experts, layers beside each other, or more than one prior");
        }
        match layers.len() {
            0 | 1 => no("the network has no hidden layer"),
            _ => Ok(Self { columns, layers }),
        }
    }
}
