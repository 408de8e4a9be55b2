//! Reads a program as a chain: layers one after the other, and what makes the output of the last.

use crate::head::Tilt;
use crate::program::{Activation, Op, Program};

/// Most inputs of a layer: their products fit 32 bits, and how they vary together fits the memory.
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

/// What follows the last layer.
#[derive(Clone, Debug)]
pub(super) enum End {
    /// Its activation.
    Plain,
    /// A distribution over the classes of outcomes, from the logits of a prior in a column of the row if there is one.
    Softmax(Option<Logits>),
    /// The correction of the prior in this column of the row.
    Residual(usize),
}

/// The logits of a prior, which the last layer corrects.
#[derive(Clone, Debug)]
pub(super) struct Logits {
    pub(super) column: usize,
    pub(super) tilt: Tilt,
    pub(super) utilities: Vec<f32>,
}

/// A program that is a chain of layers.
#[derive(Clone, Debug)]
pub(super) struct Chain {
    /// The columns of a row that the first layer reads, with the most that each can hold if its channel bounds it.
    pub(super) columns: Vec<(usize, Option<f32>)>,
    /// At least two.
    pub(super) layers: Vec<Layer>,
    pub(super) end: End,
}

impl Chain {
    /// The chain of a program with these flat parameters; without them only its shape, with empty layers.
    ///
    /// # Errors
    /// A message about what is not a chain.
    pub(super) fn of(program: &Program, params: Option<&[f32]>) -> Result<Self, String> {
        let no = |what: &str| {
            Err(format!(
                "{what}: only single networks with a hidden layer are quantised, whose layers follow one after the other"
            ))
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
                return Err(format!(
                    "a layer has {inputs} inputs: layers of at most {MOST_INPUTS} are quantised"
                ));
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
        let logits = match ops.next_if(|op| matches!(op, Op::PriorLogits { .. })) {
            Some(Op::PriorLogits { prior, tilt, utilities, .. }) => Some(Logits {
                column: program.layout.offsets[*prior],
                tilt: *tilt,
                utilities: utilities.clone(),
            }),
            _ => None,
        };
        let end = match ops.next() {
            None if logits.is_none() => End::Plain,
            Some(Op::Softmax { .. }) => End::Softmax(logits),
            Some(Op::Residual { prior, .. }) if logits.is_none() => {
                End::Residual(program.layout.offsets[*prior])
            }
            _ => return no("the network has experts, layers beside each other, or more than one prior"),
        };
        if ops.next().is_some() {
            return no("the network has experts, layers beside each other, or more than one prior");
        }
        match layers.len() {
            0 | 1 => no("the network has no hidden layer"),
            _ => Ok(Self { columns, layers, end }),
        }
    }
}
