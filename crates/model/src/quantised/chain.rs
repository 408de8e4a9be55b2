//! Reads a program as chains, of layers one after the other: one chain, or one for each expert of which a row runs one.

use crate::error::ModelError;
use crate::program::{Activation, Block, Op, Program, Selector};
use adept_rows::Rows;

/// Maximum number of inputs of a layer: sums of products fit 32 bits, and the covariance of the inputs fits the memory.
const MOST_INPUTS: usize = 8192;

impl Op {
    /// Whether it computes a log density, which values do not need.
    fn is_density(&self) -> bool {
        matches!(self, Op::Density { .. } | Op::Categorical { .. })
    }
}

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

/// Chains of a program with the prefixes of their tensor names.
pub(super) type NamedChains = Vec<(String, Chain)>;

/// The route of a program that is nothing else, if it picks one branch for each row.
fn switch(program: &Program) -> Option<(&Selector, &[Block])> {
    let mut ops = program.body.ops.iter().filter(|op| !op.is_density());
    match (ops.next(), ops.next()) {
        (
            Some(Op::Route { select: select @ (Selector::Index(_) | Selector::Cells(_)), branches, .. }),
            None,
        ) => Some((select, branches)),
        _ => None,
    }
}

impl Program {
    /// Number of experts of which each row runs one; 1 for other networks.
    pub fn switched_experts(&self) -> usize {
        switch(self).map_or(1, |(_, branches)| branches.len())
    }
}

/// The chain that each row runs, of a program with several and these flat parameters.
pub(super) fn chain_of_rows(program: &Program, params: &[f32], rows: &Rows) -> Option<Vec<usize>> {
    let (select, _) = switch(program)?;
    let column = |channel: usize| program.layout.offsets[channel];
    let indices = (0..rows.len()).map(|row| rows.index_row(row));
    match select {
        Selector::Index(channel) => Some(indices.map(|index| index[column(*channel)] as usize).collect()),
        Selector::Cells(gate) => {
            let tables = program.cells(gate, params);
            let cell = |index: &[u64]| tables.cell(gate.channels.map(|channel| index[column(channel)]));
            Some(indices.map(|index| tables.table[cell(index)] as usize).collect())
        }
        Selector::All | Selector::Mask(_) => None,
    }
}

impl Chain {
    /// The chains of a program with these flat parameters; without them only their shapes, with empty layers.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] with the part that is not of a chain.
    pub(super) fn all_of(program: &Program, params: Option<&[f32]>) -> Result<NamedChains, ModelError> {
        match switch(program) {
            None => Ok(vec![(String::new(), Self::of(program, &program.body, params)?)]),
            Some((_, branches)) => branches
                .iter()
                .enumerate()
                .map(|(b, branch)| Ok((format!("expert.{b}."), Self::of(program, branch, params)?)))
                .collect(),
        }
    }

    /// The chain of a block.
    fn of(program: &Program, block: &Block, params: Option<&[f32]>) -> Result<Self, ModelError> {
        let no = |what: &str| {
            Err(ModelError::Unsupported(format!(
                "{what}: only single networks with a hidden layer are quantised, whose layers follow one after the other, and \
                 experts of this kind that share no layers, if each row runs one of them"
            )))
        };
        let mut ops = block.ops.iter().filter(|op| !op.is_density()).peekable();
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
