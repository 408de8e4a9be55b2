//! Networks in whole numbers, for play: 16 bits in the first layer, 8 behind it.
//!
//! The sums of the first layer are 16-bit numbers that only change where an input does, so that positions after the moves of a
//! decision cost a few additions each, as in engines for chess (NNUE). Its contributions `w x` are rounded one by one: a
//! sum does not depend on the way to it, and has the same bits for a row alone, in a batch, and on every processor. Activations
//! are straight pieces between 65 points, as numbers from 0 to 255; the weights behind them are 8-bit numbers with a scale for each
//! output. The last activation is computed in floats.
//!
//! Scales come from rows of the game, see [`Quantised::fit`]. Such a model does not learn.

mod chain;
mod fit;
mod half;
mod kernels;

pub use half::{BF16, Halved, open_quantised};

use crate::checkpoint::Manifest;
use crate::describe::{Description, TensorInfo};
use crate::error::ModelError;
use crate::head::Head;
use crate::native::{Isa, Prior, gate, residual, stride};
use crate::predictor::{Explanation, Predictor};
use crate::program::Program;
use crate::tensor::{ByName, Tensor};
use adept_ground::profile::{self, Phase};
use adept_rows::{Channel, Rows, RowsView};
use chain::{Chain, End};
use kernels::{Change, Curve, Integers, Line, OUTPUTS, PIECES, Packed, UNITS};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::sync::Arc;

/// The scheme of whole numbers: 16 bits, then 8.
pub const SCHEME: &str = "i16-i8";

/// Rows evaluated in one pass.
const PASS: usize = 64;

/// How a quantised checkpoint came about, in its manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantisation {
    /// [`SCHEME`] or [`BF16`].
    pub scheme: String,
    /// [`Manifest::checksum`] of the network that was quantised.
    pub of: String,
    /// Rows of games that gave the scales; 0 without scales.
    pub rows: usize,
    /// Root mean square difference from the network's values, over other rows.
    pub rms: f64,
    /// Largest difference there.
    pub max: f64,
}

/// A network in whole numbers.
#[derive(Clone, Debug)]
pub struct Quantised {
    model: Arc<Model>,
    work: Work,
    isa: Integers,
    /// For the last step, in floats.
    floats: Isa,
}

/// What does not change.
#[derive(Debug)]
struct Model {
    program: Arc<Program>,
    /// The columns of a row that are read.
    columns: Columns,
    first: First,
    layers: Vec<Layer>,
    end: End,
    last: crate::program::Activation,
    /// As in a checkpoint.
    tensors: Vec<Tensor>,
}

#[derive(Debug)]
enum Columns {
    Range(Range<usize>),
    List(Vec<usize>),
}

/// The first layer.
#[derive(Debug)]
struct First {
    /// Units of an input, `[inputs]`.
    scale: Vec<f32>,
    /// `[inputs, padded units]`.
    weight: Vec<i16>,
    /// The largest weight of an input.
    most: Vec<i32>,
    /// `[padded units]`.
    bias: Vec<i16>,
    /// What sums without inputs can be, with two for the rounding of each contribution.
    least: i32,
    units: Units,
}

/// A layer behind it.
#[derive(Debug)]
struct Layer {
    weight: Packed,
    /// Numbers in a padded row of its inputs, and of its outputs.
    inputs: usize,
    width: usize,
    /// `[padded outputs]`.
    scale: Vec<f32>,
    bias: Vec<f32>,
    ones: Vec<f32>,
    /// None for the last.
    units: Option<Units>,
}

/// The activation of hidden units, `[padded units]`.
#[derive(Clone, Debug)]
struct Units {
    curve: Curve,
    gain: Vec<i16>,
    zero: Vec<i16>,
}

/// Buffers of one thread, and the sums of the last row.
#[derive(Clone, Debug, Default)]
struct Work {
    /// The last row in whole numbers, its sums, and a bound of what they can be. Empty at the beginning.
    row: Vec<i16>,
    sums: Vec<i16>,
    bound: i32,
    gathered: Vec<f32>,
    changes: Vec<Change>,
    net: Vec<i16>,
    u: [Vec<u8>; 2],
    y: Vec<f32>,
    out: Vec<f32>,
}

impl Quantised {
    /// Opens a quantised checkpoint.
    ///
    /// # Errors
    /// A message if it is of another scheme, if its architecture is not a single network, or if a tensor is missing or does not fit.
    pub fn open(manifest: &Manifest, tensors: &[Tensor]) -> Result<Self, ModelError> {
        let scheme = manifest.quantised.as_ref().map_or("", |q| &q.scheme);
        if scheme == BF16 {
            return Err(ModelError::Unsupported("it is in bfloat16, not in whole numbers".into()));
        }
        if scheme != SCHEME {
            return Err(ModelError::Unsupported(format!(
                "it is quantised by the scheme `{scheme}`, this program reads `{SCHEME}` and `{BF16}`: use a newer adept, or quantise the \
                 network again with `adept export --format quantised`"
            )));
        }
        let program = crate::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
        Self::of(Arc::new(program), tensors.to_vec(), Integers::available()[0])
    }

    /// Of these tensors, on one of the available instruction sets.
    fn of(program: Arc<Program>, tensors: Vec<Tensor>, isa: Integers) -> Result<Self, ModelError> {
        let chain = Chain::of(&program, None).map_err(ModelError::Unsupported)?;
        let model = Model::of(program, chain, tensors, isa)?;
        Ok(Self { model: Arc::new(model), work: Work::default(), isa, floats: Isa::detect() })
    }

    /// Computes some rows. Their outputs are in `work.out`, padded.
    fn run(&mut self, rows: RowsView<'_>, some: Range<usize>) {
        let (model, work, isa) = (&*self.model, &mut self.work, self.isa);
        let n = some.len();
        let units = model.first.bias.len();
        let mut u = std::mem::take(&mut work.u);
        u[0].resize(u[0].len().max(n * units), 0);
        for (row, u) in some.clone().zip(u[0].chunks_exact_mut(units)) {
            let net = work.first(model, isa, rows.dense_row(row));
            let Units { curve, gain, zero } = &model.first.units;
            kernels::activate(isa, curve, net, gain, zero, u);
        }
        for layer in &model.layers {
            let [from, to] = &mut u;
            work.y.resize(work.y.len().max(n * layer.width), 0.0);
            let y = &mut work.y[..n * layer.width];
            kernels::product(isa, (from, layer.inputs), &layer.weight, (&layer.scale, &layer.bias), y);
            let Some(Units { curve, gain, zero }) = &layer.units else { break };
            let units = gain.len();
            to.resize(to.len().max(n * units), 0);
            work.net.clear();
            work.net.resize(units, 0);
            for (y, u) in y.chunks_exact(layer.width).zip(to.chunks_exact_mut(units)) {
                // The curve ends within 16 bits.
                kernels::whole(isa, y, &layer.ones, &mut work.net[..layer.width]);
                kernels::activate(isa, curve, &work.net, gain, zero, u);
            }
            u.swap(0, 1);
        }
        work.u = u;
        model.finish(self.floats, work, rows, some);
    }
}

impl Work {
    /// The net inputs of the first layer for a row.
    fn first(&mut self, model: &Model, isa: Integers, row: &[f32]) -> &[i16] {
        let First { scale, weight, most, bias, least, .. } = &model.first;
        let x = match &model.columns {
            Columns::Range(range) => &row[range.clone()],
            Columns::List(columns) => {
                self.gathered.clear();
                self.gathered.extend(columns.iter().map(|&column| row[column]));
                &self.gathered
            }
        };
        if self.row.is_empty() {
            self.row.resize(scale.len(), 0);
            self.sums.clone_from(bias);
            self.bound = *least;
        }
        kernels::renew(isa, x, scale, &mut self.row, &mut self.changes);
        for &Change { input, from, to } in &self.changes {
            let part = |x: i16| (most[input as usize] * i32::from(x).abs()) >> 15;
            self.bound += part(to) - part(from);
        }
        kernels::accumulate(isa, &mut self.sums, weight, &self.changes);
        if self.bound <= i32::from(i16::MAX) {
            return &self.sums;
        }
        self.limit(&model.first);
        &self.net
    }

    /// The net inputs of the last row where sums may have left 16 bits: they are added in 32, then limited.
    #[cold]
    fn limit(&mut self, first: &First) {
        let units = first.bias.len();
        self.net.resize(units, 0);
        for (unit, net) in self.net.iter_mut().enumerate() {
            let parts = self
                .row
                .iter()
                .enumerate()
                .map(|(input, &x)| i32::from(kernels::rounded(first.weight[input * units + unit], x)));
            let sum = i32::from(first.bias[unit]) + parts.sum::<i32>();
            *net = sum.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        }
    }
}

impl Model {
    fn of(
        program: Arc<Program>,
        chain: Chain,
        tensors: Vec<Tensor>,
        isa: Integers,
    ) -> Result<Self, ModelError> {
        let found = ByName::new(&tensors);
        let (inputs, hidden) = (chain.layers[0].inputs, chain.layers[0].outputs);
        let padded = hidden.next_multiple_of(UNITS);
        let narrow = found.find("layer.0.weight", &[inputs, hidden])?.shorts()?;
        let mut weight = vec![0; inputs * padded];
        for (to, from) in weight.chunks_exact_mut(padded).zip(narrow.chunks_exact(hidden)) {
            to[..hidden].copy_from_slice(from);
        }
        let largest = |row: &[i16]| row.iter().map(|w| w.saturating_abs()).max().unwrap_or(0);
        let mut bias = found.find("layer.0.bias", &[hidden])?.shorts()?.to_vec();
        bias.resize(padded, 0);
        let first = First {
            scale: found.find("input.scale", &[inputs])?.floats()?.to_vec(),
            most: weight.chunks_exact(padded).map(|row| largest(row).into()).collect(),
            least: i32::from(largest(&bias)) + 2 * inputs as i32,
            weight,
            bias,
            units: Units::of(&found, 0, hidden)?,
        };
        let mut layers = Vec::new();
        for (l, shape) in chain.layers.iter().enumerate().skip(1) {
            let (inputs, outputs) = (shape.inputs, shape.outputs);
            let (rows, width) = (inputs.next_multiple_of(UNITS), outputs.next_multiple_of(OUTPUTS));
            let weight = found.find(&format!("layer.{l}.weight"), &[inputs, outputs])?.small()?;
            let wide = |name: &str| -> Result<Vec<f32>, ModelError> {
                let mut all = found.find(&format!("layer.{l}.{name}"), &[outputs])?.floats()?.to_vec();
                all.resize(width, 0.0);
                Ok(all)
            };
            layers.push(Layer {
                weight: Packed::new(isa, weight, outputs, rows, width),
                inputs: rows,
                width,
                scale: wide("scale")?,
                bias: wide("bias")?,
                ones: vec![1.0; width],
                units: match l + 1 < chain.layers.len() {
                    true => Some(Units::of(&found, l, outputs)?),
                    false => None,
                },
            });
        }
        let columns: Vec<usize> = chain.columns.iter().map(|(column, _)| *column).collect();
        let columns = match columns.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            true => Columns::Range(columns[0]..columns[0] + columns.len()),
            false => Columns::List(columns),
        };
        let last = chain.layers[chain.layers.len() - 1].f;
        drop(found);
        Ok(Self { program, columns, first, layers, end: chain.end, last, tensors })
    }

    /// The outputs of some rows, from the sums of the last layer.
    fn finish(&self, isa: Isa, work: &mut Work, rows: RowsView<'_>, some: Range<usize>) {
        let (n, outputs) = (some.len(), self.program.outputs());
        let (width, to) = (self.layers[self.layers.len() - 1].width, stride(outputs));
        let (y, out) = (&mut work.y, &mut work.out);
        if to == 1 {
            // One number a row.
            (0..n).for_each(|r| y[r] = y[r * width]);
        }
        let y = &mut y[..n * to];
        match &self.end {
            End::Plain => {
                y.iter_mut().for_each(|y| *y = self.last.of(*y));
                out.clear();
                out.extend_from_slice(y);
            }
            End::Softmax(logits) => {
                if let Some(logits) = logits {
                    for (row, y) in some.zip(y.chunks_exact_mut(to)) {
                        let lambda = logits.tilt.lambda_f32(rows.dense_row(row)[logits.column]);
                        y.iter_mut().zip(&logits.utilities).for_each(|(y, u)| *y += lambda * u);
                    }
                }
                out.resize(out.len().max(n * to), 0.0);
                gate(isa, n, outputs, None, y, out);
            }
            End::Residual(column) => {
                y.iter_mut().for_each(|y| *y = self.last.of(*y));
                out.resize(out.len().max(n * to), 0.0);
                for (r, row) in some.enumerate() {
                    let (dense, here) = (rows.dense_row(row), r * to..(r + 1) * to);
                    let prior = Prior { dense, stride: dense.len(), column: *column, rows: &[0] };
                    residual(isa, outputs, prior, &y[here.clone()], &mut out[here]);
                }
            }
        }
    }
}

impl Units {
    fn of(found: &ByName<'_>, layer: usize, units: usize) -> Result<Self, ModelError> {
        let name = |part: &str| format!("layer.{layer}.{part}");
        let bad = |part: &str| {
            ModelError::Unsupported(format!("the tensor `{}` holds what no program writes", name(part)))
        };
        let form = found.find(&name("form"), &[3])?.integers()?;
        let values = found.find(&name("curve"), &[PIECES + 1])?.shorts()?;
        let bits = |n: u64| u32::try_from(n).ok().filter(|n| *n <= 15);
        let (Some(m), Some(d), Ok(values)) = (bits(form[0]), bits(form[1]), values.try_into()) else {
            return Err(bad("form"));
        };
        let line = match form[2] {
            0 => Line::None,
            1 => Line::Positive,
            2 => Line::Whole,
            _ => return Err(bad("form")),
        };
        let wide = |part: &str| -> Result<Vec<i16>, ModelError> {
            let mut all = found.find(&name(part), &[units])?.shorts()?.to_vec();
            all.resize(units.next_multiple_of(UNITS), 0);
            Ok(all)
        };
        let curve = Curve::new(line, values, m, d).ok_or_else(|| bad("form"))?;
        Ok(Self { curve, gain: wide("gain")?, zero: wide("zero")? })
    }
}

impl Predictor for Quantised {
    fn channels(&self) -> &[Channel] {
        &self.model.program.channels
    }

    fn head(&self) -> &Head {
        &self.model.program.head
    }

    fn evaluate(&mut self, rows: &Rows, values: &mut Vec<f32>) {
        self.evaluate_view(rows.view(), values);
    }

    fn evaluate_view(&mut self, rows: RowsView<'_>, values: &mut Vec<f32>) {
        values.clear();
        let _forward = profile::span(Phase::Forward);
        let outputs = self.model.program.outputs();
        for first in (0..rows.len()).step_by(PASS) {
            let here = first..rows.len().min(first + PASS);
            let n = here.len();
            self.run(rows, here);
            let found = self.work.out.chunks_exact(stride(outputs)).take(n).map(|row| &row[..outputs]);
            values.extend(found.map(|row| self.model.program.head.value_of(row)));
        }
    }

    fn outputs(&mut self, rows: &Rows, to: &mut Vec<f32>) {
        to.clear();
        let _forward = profile::span(Phase::Forward);
        let outputs = self.model.program.outputs();
        for first in (0..rows.len()).step_by(PASS) {
            let here = first..rows.len().min(first + PASS);
            let n = here.len();
            self.run(rows.view(), here);
            let found = self.work.out.chunks_exact(stride(outputs)).take(n);
            found.for_each(|row| to.extend_from_slice(&row[..outputs]));
        }
    }

    fn explain(&mut self, rows: &Rows) -> Explanation {
        let mut first = rows.empty();
        first.copy_range(rows, 0, rows.len().min(1));
        let mut outputs = Vec::new();
        self.outputs(&first, &mut outputs);
        if outputs.is_empty() {
            return Explanation::default();
        }
        let value = self.head().value_of(&outputs);
        let outcomes = if self.head().classes().is_some() { outputs } else { Vec::new() };
        Explanation { value, outcomes, ..Explanation::default() }
    }

    fn has_parts(&self) -> bool {
        false
    }

    fn describe(&self) -> Description {
        let of = self.model.program.describe();
        let info = |tensor: &Tensor| TensorInfo {
            name: tensor.name.clone(),
            shape: tensor.shape.clone(),
            group: "quantised".into(),
            rate: 0.0,
        };
        Description {
            bytes: self.model.tensors.iter().map(|tensor| tensor.bytes() as usize).sum(),
            tensors: self.model.tensors.iter().map(info).collect(),
            ..of
        }
    }

    fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        Ok(self.model.tensors.clone())
    }

    fn player(&mut self) -> Result<Box<dyn Predictor>, ModelError> {
        Ok(Box::new(self.clone()))
    }
}
