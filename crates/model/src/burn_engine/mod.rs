//! The Burn engine: runs an op program on Burn tensors, on any Burn device.
//!
//! The engine is dense: every branch runs on every row, and unselected results are masked afterwards.
//! [`BurnEngine::forward`] is a pure function of tensors, so an autodiff device can differentiate it with respect to
//! the parameters.

mod lanes;
mod network;
mod step;

pub use network::BurnNetwork;

use crate::error::ModelError;
use crate::head::{LEAST_PROBABILITY, Tilt};
use crate::program::{Activation, CellGate, Op, PRIOR_LIMIT, Program, Selector, ValueId};
use adept_rows::{ChannelKind, Rows};
use burn::tensor::{Bool, DType, Device, Int, Tensor, TensorData, activation};
use lanes::{Branches, Lanes, Stack, Step};
use std::sync::Arc;

/// Replaces −∞ as the log weight of an unselected expert. Its exponential is exactly 0 too, but arithmetic and
/// gradients do not produce NaN.
const UNSELECTED: f32 = -1e30;

/// The results of a program for a batch.
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
    /// Dense part of the rows, `[1, rows, layout.dense]`; absent if the channels have none.
    dense: Option<Tensor<3>>,
    /// Columns of the index part, each `[rows]`. Key channels are absent because no op reads them.
    index: Vec<Option<Tensor<1, Int>>>,
    /// `[1, rows, outputs]`.
    targets: Option<Tensor<3>>,
}

/// Runs one program on one device.
#[derive(Clone, Debug)]
pub struct BurnEngine {
    program: Arc<Program>,
    body: Arc<Lanes>,
    stacks: Arc<Vec<Stack>>,
    device: Device,
}

impl BurnEngine {
    /// Creates an engine for a program on a device.
    pub fn new(program: Arc<Program>, device: Device) -> Self {
        let (body, stacks) = lanes::plan(&program);
        Self { program, body: body.into(), stacks: stacks.into(), device }
    }

    /// The program it runs.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// Runs the program on all rows with these parameters (flat, ordered by offset). With `targets` of shape
    /// `[rows, outputs]` it also computes their log densities.
    ///
    /// # Errors
    /// [`ModelError::Rows`] if rows or targets do not fit the program; [`ModelError::Unsupported`] if the parameters do
    /// not fit or the device fails.
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

    /// Copies flat parameters to the device. The parameters of experts of equal form become one tensor
    /// `[experts, inputs, outputs]`.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the number of parameters is wrong.
    pub fn parameters(&self, flat: &[f32]) -> Result<Vec<Tensor<3>>, ModelError> {
        let expected = self.program.parameters();
        if flat.len() != expected {
            return Err(ModelError::Unsupported(format!(
                "{} parameters given, the model has {expected}",
                flat.len()
            )));
        }
        let tensor = |stack: &Stack| {
            let params = stack.params.iter().map(|&id| &self.program.params[id]);
            let entries = params.flat_map(|p| &flat[p.offset..p.offset + p.len()]).copied().collect();
            self.floats(entries, stack.dims())
        };
        Ok(self.stacks.iter().map(tensor).collect())
    }

    /// The inverse of [`Self::parameters`]: the flat vector from the entries of each tensor.
    fn flatten(&self, tensors: &[Vec<f32>]) -> Vec<f32> {
        let mut flat = vec![0.0; self.program.parameters()];
        for (stack, entries) in self.stacks.iter().zip(tensors) {
            for (lane, &id) in stack.params.iter().enumerate() {
                let p = &self.program.params[id];
                flat[p.offset..p.offset + p.len()].copy_from_slice(&entries[lane * p.len()..][..p.len()]);
            }
        }
        flat
    }

    /// Copies a batch, with optional targets of shape `[rows, outputs]`, to the device.
    ///
    /// # Errors
    /// [`ModelError::Rows`] if rows or targets do not fit the program.
    pub fn inputs(&self, rows: &Rows, targets: Option<&[f32]>) -> Result<Inputs, ModelError> {
        let (n, layout, outputs) = (rows.len(), &self.program.layout, self.program.outputs());
        rows.check(&self.program.channels)?;
        if let Some(targets) = targets
            && targets.len() != n * outputs
        {
            return Err(ModelError::Rows(format!(
                "{n} rows with {outputs} outputs need {} targets, found {}",
                n * outputs,
                targets.len()
            )));
        }
        let mut index = vec![None; layout.index];
        for (channel, &column) in self.program.channels.iter().zip(&layout.offsets) {
            if matches!(channel.kind, ChannelKind::Index(_)) {
                let entries: Vec<i64> = (0..n).map(|row| rows.index_row(row)[column] as i64).collect();
                index[column] = Some(Tensor::from_data(TensorData::new(entries, [n]), &self.device));
            }
        }
        Ok(Inputs {
            dense: (layout.dense > 0).then(|| self.floats(rows.dense.clone(), [1, n, layout.dense])),
            index,
            targets: targets.map(|targets| self.floats(targets.to_vec(), [1, n, outputs])),
        })
    }

    /// The output `[1, rows, outputs]` and, with targets, their log densities `[1, rows, 1]`, as a function of the
    /// tensors from [`Self::parameters`] and [`Self::inputs`]. Needs at least one row.
    pub fn forward(&self, params: &[Tensor<3>], inputs: &Inputs) -> (Tensor<3>, Option<Tensor<3>>) {
        let pass = self.pass(params, inputs);
        let density = inputs.targets.is_some().then(|| pass.value(self.program.density()));
        (pass.value(self.program.output()), density)
    }

    fn pass<'a>(&'a self, params: &'a [Tensor<3>], inputs: &'a Inputs) -> Pass<'a> {
        let values = vec![None; self.program.widths.len()];
        let mut pass = Pass { program: &self.program, params, inputs, values };
        pass.lanes(&self.body);
        pass
    }

    fn floats<const D: usize>(&self, entries: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
        // An explicit type, because the default type of a device is a process-wide setting.
        Tensor::from_data(TensorData::new(entries, shape), (&self.device, DType::F32))
    }
}

/// All entries, row by row.
fn read<const D: usize>(tensor: Tensor<D>) -> Result<Vec<f32>, ModelError> {
    tensor.try_into_vec_as::<f32>().map_err(|e| no_result(&e))
}

fn no_result(error: &dyn std::fmt::Display) -> ModelError {
    ModelError::Unsupported(format!("the device returned no result: {error}"))
}

/// The state of one batch while the program runs.
struct Pass<'a> {
    program: &'a Program,
    params: &'a [Tensor<3>],
    inputs: &'a Inputs,
    /// Value v, `[lanes, rows, widths[v]]`, once it is written. It has one lane if it is the same for all lanes.
    values: Vec<Option<Tensor<3>>>,
}

impl Pass<'_> {
    /// A value that an earlier op has written.
    fn value(&self, id: ValueId) -> Tensor<3> {
        self.values[id].clone().expect("a lowered program writes each value before it reads it")
    }

    /// Like [`Self::value`], expanded to `lanes` lanes.
    fn in_lanes(&self, id: ValueId, lanes: usize) -> Tensor<3> {
        let value = self.value(id);
        let [_, rows, width] = value.dims();
        value.expand([lanes, rows, width])
    }

    /// The column of an index channel, `[rows]`.
    fn index(&self, channel: usize) -> Tensor<1, Int> {
        let column = self.program.layout.offsets[channel];
        self.inputs.index[column].clone().expect("a lowered program selects by index channels")
    }

    fn lanes(&mut self, lanes: &Lanes) {
        for step in &lanes.steps {
            match step {
                // Branch i of lane e is lane e · n + i, or lane e of branch i.
                Step::Op(Op::Outer { x, out }) => {
                    let value = self.value(*x);
                    let [outer, rows, width] = value.dims();
                    let value = match lanes.lanes / outer {
                        n if outer > 1 && n > 1 => {
                            let each = value.reshape([outer, 1, rows, width]);
                            each.expand([outer, n, rows, width]).reshape([lanes.lanes, rows, width])
                        }
                        _ => value,
                    };
                    self.values[*out] = Some(value);
                }
                Step::Op(op) => self.op(op),
                Step::Route { select, n, branches, out } => {
                    self.route(*select, lanes.lanes, *n, branches, out);
                }
            }
        }
    }

    fn op(&mut self, op: &Op) {
        let param = |id: usize| self.params[id].clone();
        let (out, result) = match *op {
            Op::Input { ref channels, out } => (out, self.input(channels)),
            Op::Concat { ref xs, out } => {
                // A value that is the same for all lanes has one.
                let lanes = xs.iter().map(|&x| self.value(x).dims()[0]).max().unwrap_or(1);
                (out, Tensor::cat(xs.iter().map(|&x| self.in_lanes(x, lanes)).collect(), 2))
            }
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
            // ln gᵢ = aᵢ − ln Σⱼ exp(aⱼ)
            Op::LogSoftmax { x, out } => (out, activation::log_softmax(self.value(x), 2)),
            // sᵢ = gᵢ if gᵢ > ST, otherwise 0; then sᵢ ← sᵢ / Σⱼ sⱼ (Wiering & Kröse, §2.3)
            Op::Threshold { x, threshold, out } => {
                let x = self.value(x);
                let unselected = selected(x.clone(), threshold).bool_not();
                let masked = x.mask_fill(unselected.clone(), UNSELECTED);
                let renormed = activation::log_softmax(masked, 2);
                (out, renormed.mask_fill(unselected, UNSELECTED))
            }
            // y = Σᵢ sᵢ yᵢ (Wiering & Kröse, §2.1)
            Op::Blend { log_weights, y, out } => {
                let weights = self.value(log_weights).exp();
                let ([lanes, rows, experts], width) = (weights.dims(), self.program.widths[out]);
                let y = self.value(y).reshape([lanes, rows, experts, width]);
                let sum = (weights.reshape([lanes, rows, experts, 1]) * y).sum_dim(2);
                (out, sum.reshape([lanes, rows, width]))
            }
            // ℓ = −|d − y|² / 2σ²
            Op::Density { y, variance, out } => {
                let Some(targets) = self.inputs.targets.clone() else {
                    return;
                };
                let square = (targets - self.value(y)).square().sum_dim(2);
                (out, square * (-0.5 / f64::from(variance)))
            }
            // L = ln P(d|x) = ln Σᵢ sᵢ exp(ℓᵢ) (Wiering & Kröse, §2.1)
            Op::LogMix { log_weights, densities, out } => {
                if self.inputs.targets.is_none() {
                    return;
                }
                let log_weights = self.value(log_weights);
                let unselected = log_weights.clone().lower_elem(0.5 * UNSELECTED);
                // −∞ keeps unselected experts out of the maximum. If every selected term is −∞ too, the loss is not
                // finite.
                let terms = log_weights + self.value(densities);
                let terms = terms.mask_fill(unselected, f32::NEG_INFINITY);
                // The maximum cancels out and needs no gradient.
                let max = terms.clone().detach().max_dim(2);
                (out, (terms - max.clone()).exp().sum_dim(2).log() + max)
            }
            Op::Gather { table, channel, out } => (out, param(table).select(1, self.index(channel))),
            Op::Residual { prior, x, out } => (out, activation::tanh(self.value(x) + self.atanh(prior))),
            Op::Softmax { x, out } => (out, activation::softmax(self.value(x), 2)),
            // ℓ = Σₖ tₖ ln pₖ
            Op::Categorical { p, out } => {
                let Some(targets) = self.inputs.targets.clone() else {
                    return;
                };
                let p = self.value(p);
                let low = p.clone().lower_elem(LEAST_PROBABILITY);
                (out, (targets * p.mask_fill(low, LEAST_PROBABILITY).log()).sum_dim(2))
            }
            Op::PriorLogits { prior, x, tilt, ref utilities, out } => {
                let n = utilities.len();
                let lambda = self.lambda(prior, tilt);
                let data = TensorData::new(utilities.clone(), [1, 1, n]);
                let utilities = Tensor::from_data(data, (&lambda.device(), DType::F32));
                let logits = lambda * utilities;
                (out, x.map_or(logits.clone(), |x| self.value(x) + logits))
            }
            Op::Outer { .. } | Op::Route { .. } => unreachable!("`lanes` runs them"),
        };
        self.values[out] = Some(result);
    }

    fn input(&self, channels: &[usize]) -> Tensor<3> {
        let dense = self.inputs.dense.as_ref().expect("a lowered program reads dense channels");
        let pieces = self.program.columns(channels);
        if pieces == [(0, self.program.layout.dense)] {
            return dense.clone();
        }
        let parts = pieces.into_iter().map(|(first, width)| dense.clone().narrow(2, first, width));
        Tensor::cat(parts.collect(), 2)
    }

    /// atanh(p) of a value channel, `[1, rows, 1]`. The addition theorem is too inaccurate in 32 bits: for t near ∓1 and p
    /// near ±1 it divides two rounding errors.
    fn atanh(&self, channel: usize) -> Tensor<3> {
        let p = self.prior(channel);
        ((p.clone() + 1.0) / (-p + 1.0)).log() * 0.5
    }

    /// λ(p) of a value channel, `[1, rows, 1]`.
    fn lambda(&self, channel: usize, tilt: Tilt) -> Tensor<3> {
        match tilt {
            Tilt::LossWin => self.atanh(channel),
            Tilt::LossDrawWin => {
                let p = self.prior(channel);
                let size = p.clone().abs();
                let root = (size.clone().square() * -3.0 + 4.0).sqrt();
                ((size.clone() + root) / ((-size + 1.0) * 2.0)).log() * p.sign()
            }
        }
    }

    /// A value channel, `[1, rows, 1]`, clamped to ±[`PRIOR_LIMIT`].
    fn prior(&self, channel: usize) -> Tensor<3> {
        let dense = self.inputs.dense.as_ref().expect("a lowered program corrects value channels");
        let p = dense.clone().narrow(2, self.program.layout.offsets[channel], 1);
        // A clamp may drop NaN.
        let (high, low) = (p.clone().greater_elem(PRIOR_LIMIT), p.clone().lower_elem(-PRIOR_LIMIT));
        p.mask_fill(high, PRIOR_LIMIT).mask_fill(low, -PRIOR_LIMIT)
    }

    /// The number of the branch that a cell gate selects, `[lanes, rows]`. `gate` holds indices of stacks.
    fn cell(&self, gate: &CellGate) -> Tensor<2> {
        let class = |k: usize| self.params[gate.classes[k]].clone().select(2, self.index(gate.channels[k]));
        let table = self.params[gate.table].clone();
        let [lanes, rows, columns] = table.dims();
        let at = class(0) * columns as f32 + class(1);
        let [_, _, n] = at.dims();
        let at = at.detach().reshape([lanes, n]).int();
        table.detach().reshape([lanes, rows * columns]).gather(1, at)
    }

    /// Runs all `n` branches in each lane and concatenates their results, with 0 for unselected branches. For
    /// [`Selector::Index`] and [`Selector::Cells`] the result is that of the selected branch.
    fn route(&mut self, select: Selector, lanes: usize, n: usize, branches: &Branches, out: &[ValueId]) {
        // The second result is a density.
        let results = if self.inputs.targets.is_some() { out.len() } else { 1 };
        match branches {
            Branches::Together(all) => self.lanes(all),
            Branches::Apart(each) => each.iter().for_each(|branch| self.lanes(branch)),
        }
        for (k, &out) in out[..results].iter().enumerate() {
            // [lanes, rows, n, width]
            let stacked: Tensor<4> = match branches {
                Branches::Together(all) => {
                    let result = self.in_lanes(all.results[k], lanes * n);
                    let [_, rows, width] = result.dims();
                    result.reshape([lanes, n, rows, width]).swap_dims(1, 2)
                }
                Branches::Apart(each) => {
                    let results = each.iter().map(|branch| self.in_lanes(branch.results[k], lanes));
                    Tensor::stack(results.collect(), 2)
                }
            };
            let [lanes, rows, n, width] = stacked.dims();
            let result = match select {
                Selector::All => stacked.reshape([lanes, rows, n * width]),
                Selector::Mask(mask) => {
                    let unselected = self.value(mask).lower_elem(0.5 * UNSELECTED);
                    let unselected = unselected.reshape([lanes, rows, n, 1]).expand([lanes, rows, n, width]);
                    stacked.mask_fill(unselected, 0.0).reshape([lanes, rows, n * width])
                }
                Selector::Index(channel) => {
                    let index = self.index(channel).reshape([rows, 1]);
                    let number = Tensor::<1, Int>::arange(0..n as i64, (&index.device(), index.dtype()));
                    let other = index.expand([rows, n]).not_equal(number.reshape([1, n]).expand([rows, n]));
                    let other = other.reshape([1, rows, n, 1]).expand([lanes, rows, n, width]);
                    stacked.mask_fill(other, 0.0).sum_dim(2).reshape([lanes, rows, width])
                }
                Selector::Cells(gate) => {
                    let cell = self.cell(&gate);
                    let [own, _] = cell.dims();
                    let number = Tensor::<1, Int>::arange(0..n as i64, &cell.device()).float();
                    let number = number.reshape([1, 1, n]).expand([own, rows, n]);
                    let other = cell.reshape([own, rows, 1]).expand([own, rows, n]).not_equal(number);
                    let other = other.reshape([own, rows, n, 1]).expand([lanes, rows, n, width]);
                    stacked.mask_fill(other, 0.0).sum_dim(2).reshape([lanes, rows, width])
                }
            };
            self.values[out] = Some(result);
        }
    }
}

/// Mask of the gates ln gᵢ `[lanes, rows, experts]` that pass the threshold. If none does: the largest, the first of equals.
fn selected(log_gates: Tensor<3>, threshold: f32) -> Tensor<3, Bool> {
    let log_gates = log_gates.detach();
    let (shape, device) = (log_gates.dims(), log_gates.device());
    let passes = log_gates.clone().exp().greater_elem(threshold);
    let none = passes.clone().any_dim(2).bool_not().expand(shape);
    let largest = log_gates.argmax(2);
    let number = Tensor::<1, Int>::arange(0..shape[2] as i64, (&device, largest.dtype()));
    let is_largest = largest.expand(shape).equal(number.reshape([1, 1, shape[2]]).expand(shape));
    passes.bool_or(none.bool_and(is_largest))
}
