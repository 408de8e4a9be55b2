//! The op program on Burn tensors, on any device that Burn has.
//!
//! The engine is dense: every branch runs on every row, and what a row did not select is masked
//! afterwards. [`BurnEngine::forward`] is a pure function of tensors, so that on an autodiff device it
//! can be differentiated by the parameters.

use crate::channel::Rows;
use crate::error::ModelError;
use crate::program::{Activation, Block, Op, Param, Program, Selector, ValueId};
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData, activation};
use std::sync::Arc;

/// Stands for −∞ as the log weight of an expert that was not selected: e to it is exactly 0 too, but
/// arithmetic and gradients with it give no NaN.
const UNSELECTED: f32 = -1e30;

/// What a program computes for a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome32 {
    /// `[rows, outputs]`, row by row.
    pub output: Vec<f32>,
    /// `[rows]`: log density of each target up to a constant; empty without targets.
    pub density: Vec<f32>,
}

/// A batch on the device.
#[derive(Clone, Debug)]
pub struct Inputs {
    /// Dense part of the rows, `[rows, layout.dense]`; absent if the channels have none.
    pub dense: Option<Tensor<2>>,
    /// Columns of the index part, each `[rows]`; key channels, which no op reads, are absent.
    pub index: Vec<Option<Tensor<1, Int>>>,
    /// `[rows, outputs]`.
    pub targets: Option<Tensor<2>>,
}

/// Runs one program on one device.
#[derive(Clone, Debug)]
pub struct BurnEngine {
    program: Arc<Program>,
    device: Device,
}

impl BurnEngine {
    /// An engine for this program on this device.
    pub fn new(program: Arc<Program>, device: Device) -> Self {
        Self { program, device }
    }

    /// An engine on Burn's CPU backend in pure Rust.
    #[cfg(feature = "flex")]
    pub fn flex(program: Arc<Program>) -> Self {
        Self::new(program, Device::flex())
    }

    /// The program it runs.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs all rows with these parameters (flat, in the order of their offsets); with `targets` of
    /// shape `[rows, outputs]` also computes their log densities.
    ///
    /// # Errors
    /// [`ModelError::Rows`] if rows or targets do not fit the program, [`ModelError::Unsupported`] if
    /// the parameters do not or the device fails.
    pub fn run(&self, params: &[f32], rows: &Rows, targets: Option<&[f32]>) -> Result<Outcome32, ModelError> {
        let params = self.parameters(params)?;
        let inputs = self.inputs(rows, targets)?;
        if rows.is_empty() {
            return Ok(Outcome32::default());
        }
        let (output, density) = self.forward(&params, &inputs);
        let density = density.map(read).transpose()?.unwrap_or_default();
        Ok(Outcome32 { output: read(output)?, density })
    }

    /// The parameters as tensors on the device, in the order of [`Program::params`]: weights and tables
    /// in their shape, biases and sensitivities as `[1, n]`.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if their number is not that of the program.
    pub fn parameters(&self, params: &[f32]) -> Result<Vec<Tensor<2>>, ModelError> {
        let expected = self.program.parameters();
        if params.len() != expected {
            return Err(ModelError::Unsupported(format!(
                "{} parameters given, the model has {expected}",
                params.len()
            )));
        }
        let tensor = |param: &Param| {
            let columns = param.shape.last().copied().unwrap_or(1);
            let entries = &params[param.offset..param.offset + param.len()];
            self.floats(entries, param.len() / columns.max(1), columns)
        };
        Ok(self.program.params.iter().map(tensor).collect())
    }

    /// A batch, with targets of shape `[rows, outputs]` if any, as tensors on the device.
    ///
    /// # Errors
    /// [`ModelError::Rows`] if rows or targets do not fit the program.
    pub fn inputs(&self, rows: &Rows, targets: Option<&[f32]>) -> Result<Inputs, ModelError> {
        let (n, layout, outputs) = (rows.len(), &self.program.layout, self.program.outputs());
        let found = (rows.dense.len(), rows.index.len());
        let expected = (n * rows.dense_width(), n * rows.index_width());
        if found != expected {
            return Err(ModelError::Rows(format!(
                "{n} rows take {} dense and {} index entries, found {} and {}",
                expected.0, expected.1, found.0, found.1
            )));
        }
        rows.check(&self.program.channels)?;
        if let Some(targets) = targets
            && targets.len() != n * outputs
        {
            return Err(ModelError::Rows(format!(
                "{n} rows with {outputs} outputs take {} targets, found {}",
                n * outputs,
                targets.len()
            )));
        }
        let mut index = vec![None; layout.index];
        for (channel, &column) in self.program.channels.iter().zip(&layout.offsets) {
            if matches!(channel.kind, crate::ChannelKind::Index(_)) {
                let entries: Vec<i64> = (0..n).map(|row| rows.index_row(row)[column] as i64).collect();
                index[column] = Some(Tensor::from_data(TensorData::new(entries, [n]), &self.device));
            }
        }
        Ok(Inputs {
            dense: (layout.dense > 0).then(|| self.floats(&rows.dense, n, layout.dense)),
            index,
            targets: targets.map(|targets| self.floats(targets, n, outputs)),
        })
    }

    /// The output `[rows, outputs]` and, with targets, their log densities `[rows, 1]`, as a function of
    /// what [`Self::parameters`] and [`Self::inputs`] give; at least one row.
    pub fn forward(&self, params: &[Tensor<2>], inputs: &Inputs) -> (Tensor<2>, Option<Tensor<2>>) {
        let values = vec![None; self.program.widths.len()];
        let mut pass = Pass { program: &self.program, params, inputs, values };
        pass.block(&self.program.body);
        let density = inputs.targets.is_some().then(|| pass.value(self.program.density()));
        (pass.value(self.program.output()), density)
    }

    fn floats(&self, entries: &[f32], rows: usize, columns: usize) -> Tensor<2> {
        // The default type of a device is a setting of the process; the engine does not depend on it.
        let data = TensorData::new(entries.to_vec(), [rows, columns]);
        Tensor::from_data(data, (&self.device, DType::F32))
    }
}

/// All entries, row by row.
fn read(tensor: Tensor<2>) -> Result<Vec<f32>, ModelError> {
    tensor
        .try_into_vec_as::<f32>()
        .map_err(|e| ModelError::Unsupported(format!("the device gave no result: {e}")))
}

/// One batch on its way through the program.
struct Pass<'a> {
    program: &'a Program,
    params: &'a [Tensor<2>],
    inputs: &'a Inputs,
    /// Value v, `[rows, widths[v]]`, once it is written.
    values: Vec<Option<Tensor<2>>>,
}

impl Pass<'_> {
    /// A value that an op before has written.
    fn value(&self, id: ValueId) -> Tensor<2> {
        self.values[id].clone().expect("a lowered program writes each value before it reads it")
    }

    /// The column of an index channel, `[rows]`.
    fn index(&self, channel: usize) -> Tensor<1, Int> {
        let column = self.program.layout.offsets[channel];
        self.inputs.index[column].clone().expect("a lowered program selects by index channels")
    }

    fn block(&mut self, block: &Block) {
        for op in &block.ops {
            self.op(op);
        }
    }

    fn op(&mut self, op: &Op) {
        let param = |id: usize| self.params[id].clone();
        let (out, result) = match *op {
            Op::Input { ref channels, out } => (out, self.input(channels)),
            Op::Affine { x, weight, bias, out } => (out, self.value(x).matmul(param(weight)) + param(bias)),
            Op::Scale { x, beta, out } => (out, self.value(x) * param(beta)),
            Op::Activation { x, f, out } => {
                let x = self.value(x);
                let y = match f {
                    Activation::Tanh => activation::tanh(x),
                    Activation::Sigmoid => activation::sigmoid(x),
                    Activation::Relu => activation::relu(x),
                    Activation::Silu => activation::silu(x),
                    Activation::Linear => x,
                };
                (out, y)
            }
            Op::LogSoftmax { x, out } => (out, activation::log_softmax(self.value(x), 1)),
            Op::Threshold { x, threshold, out } => {
                let x = self.value(x);
                let unselected = selected(x.clone(), threshold).bool_not();
                let masked = x.mask_fill(unselected.clone(), UNSELECTED);
                let renormed = activation::log_softmax(masked, 1);
                (out, renormed.mask_fill(unselected, UNSELECTED))
            }
            Op::Blend { log_weights, y, out } => {
                let weights = self.value(log_weights).exp();
                let ([rows, experts], width) = (weights.dims(), self.program.widths[out]);
                let y = self.value(y).reshape([rows, experts, width]);
                let sum = (weights.reshape([rows, experts, 1]) * y).sum_dim(1);
                (out, sum.reshape([rows, width]))
            }
            Op::Density { y, variance, out } => {
                let Some(targets) = self.inputs.targets.clone() else {
                    return;
                };
                let square = (targets - self.value(y)).square().sum_dim(1);
                (out, square * (-0.5 / f64::from(variance)))
            }
            Op::LogMix { log_weights, densities, out } => {
                if self.inputs.targets.is_none() {
                    return;
                }
                let terms = self.value(log_weights) + self.value(densities);
                // The maximum cancels out, so it needs no gradient.
                let max = terms.clone().detach().max_dim(1);
                (out, (terms - max.clone()).exp().sum_dim(1).log() + max)
            }
            Op::Route { select, ref branches, ref out } => {
                return self.route(select, branches, out);
            }
            Op::Gather { table, channel, out } => (out, param(table).select(0, self.index(channel))),
        };
        self.values[out] = Some(result);
    }

    fn input(&self, channels: &[usize]) -> Tensor<2> {
        let dense = self.inputs.dense.as_ref().expect("a lowered program reads dense channels");
        let columns = |&c: &usize| {
            let width = self.program.channels[c].kind.dense_width();
            dense.clone().narrow(1, self.program.layout.offsets[c], width)
        };
        Tensor::cat(channels.iter().map(columns).collect(), 1)
    }

    fn route(&mut self, select: Selector, branches: &[Block], out: &[ValueId]) {
        for branch in branches {
            self.block(branch);
        }
        // The second result is a density.
        let results = if self.inputs.targets.is_some() { out.len() } else { 1 };
        for (k, &out) in out[..results].iter().enumerate() {
            let results = branches.iter().map(|branch| self.value(branch.results[k]));
            self.values[out] = Some(match select {
                Selector::All => Tensor::cat(results.collect(), 1),
                Selector::Mask(mask) => {
                    let unselected = self.value(mask).lower_elem(0.5 * UNSELECTED);
                    let masked = results.enumerate().map(|(i, result)| {
                        let unselected = unselected.clone().narrow(1, i, 1);
                        let shape = result.dims();
                        result.mask_fill(unselected.expand(shape), 0.0)
                    });
                    Tensor::cat(masked.collect(), 1)
                }
                Selector::Index(channel) => {
                    let index = self.index(channel).unsqueeze_dim::<2>(1);
                    let mut results = results.enumerate();
                    let (_, first) = results.next().expect("an index has at least one value");
                    results.fold(first, |taken, (i, result)| {
                        let takes = index.clone().equal_elem(i as i64);
                        let shape = result.dims();
                        taken.mask_where(takes.expand(shape), result)
                    })
                }
            });
        }
    }
}

/// Which gates, given as logarithms `[rows, experts]`, pass the threshold; where none does, the largest,
/// the first of equals.
fn selected(log_gates: Tensor<2>, threshold: f32) -> Tensor<2, Bool> {
    let log_gates = log_gates.detach();
    let (shape, device) = (log_gates.dims(), log_gates.device());
    let passes = log_gates.clone().exp().greater_elem(threshold);
    let none = passes.clone().any_dim(1).bool_not().expand(shape);
    let largest = log_gates.argmax(1);
    let number = Tensor::<1, Int>::arange(0..shape[1] as i64, (&device, largest.dtype()));
    let is_largest = largest.expand(shape).equal(number.unsqueeze::<2>().expand(shape));
    passes.bool_or(none.bool_and(is_largest))
}
