//! A chain of layers in int8 arithmetic: 16 bits in the first layer, 8 bits in the others.
//!
//! The sums of the first layer are 16-bit integers. Only the inputs that differ from the row before change them, so the positions
//! after the moves of a decision cost a few additions each, as in chess engines (NNUE). Each contribution w x is rounded on its own:
//! a sum does not depend on the rows before, and has the same bits for a row alone, in a batch, and on every processor. Activations
//! are piecewise linear between 65 points, with values from 0 to 255; the weights that multiply them have 8 bits, with a scale for
//! each output. The last activation is computed in floats.

use super::kernels::int8::{self, Change, Curve, Int8Isa, PackedWeights};
use super::kernels::stride;
use crate::program::Activation;
use adept_rows::RowsView;
use std::ops::Range;
use std::sync::Arc;

/// Rows evaluated in one pass.
const PASS: usize = 64;

/// Weights, biases and activations of all layers.
#[derive(Debug)]
pub(crate) struct Int8Chain {
    pub(crate) columns: Columns,
    pub(crate) first: FirstLayer,
    pub(crate) layers: Vec<Int8Layer>,
    /// Number of outputs of the last layer.
    pub(crate) outputs: usize,
    /// Activation of the last layer.
    pub(crate) last: Activation,
}

/// The columns of the dense part of a row that the first layer reads.
#[derive(Debug)]
pub(crate) enum Columns {
    /// Adjacent columns.
    Range(Range<usize>),
    /// Any columns, in order.
    List(Vec<usize>),
}

/// The first layer, in 16 bits.
#[derive(Debug)]
pub(crate) struct FirstLayer {
    /// Quantisation factor of each input, `[inputs]`.
    pub(crate) scale: Vec<f32>,
    /// `[inputs, padded units]`.
    pub(crate) weight: Vec<i16>,
    /// Largest absolute weight of each input, `[inputs]`.
    pub(crate) largest: Vec<i32>,
    /// `[padded units]`.
    pub(crate) bias: Vec<i16>,
    /// Bound of the absolute sums of a row of zeros: the largest bias, and 2 for the rounding of each contribution.
    pub(crate) bound: i32,
    pub(crate) units: Int8Units,
}

/// A layer after the first, in 8 bits.
#[derive(Debug)]
pub(crate) struct Int8Layer {
    pub(crate) weight: PackedWeights,
    /// Padded number of inputs.
    pub(crate) inputs: usize,
    /// Padded number of outputs.
    pub(crate) width: usize,
    /// `[padded outputs]`.
    pub(crate) scale: Vec<f32>,
    /// `[padded outputs]`.
    pub(crate) bias: Vec<f32>,
    /// `[padded outputs]` ones.
    pub(crate) ones: Vec<f32>,
    /// The activation; none for the last layer.
    pub(crate) units: Option<Int8Units>,
}

/// The activation of hidden units as 8-bit numbers, curve · gain + zero, with `[padded units]` gains and zeros.
#[derive(Clone, Debug)]
pub(crate) struct Int8Units {
    pub(crate) curve: Curve,
    pub(crate) gain: Vec<i16>,
    pub(crate) zero: Vec<i16>,
}

/// A chain with the buffers of one thread.
#[derive(Clone, Debug)]
pub(crate) struct Int8Layers {
    chain: Arc<Int8Chain>,
    isa: Int8Isa,
    sums: FirstSums,
    u: [Vec<u8>; 2],
    net: Vec<i16>,
    y: Vec<f32>,
}

/// The first layer's sums of the last row.
#[derive(Clone, Debug, Default)]
struct FirstSums {
    /// The last row as integers; empty before the first row.
    row: Vec<i16>,
    sums: Vec<i16>,
    /// Bound of the absolute sums.
    bound: i32,
    gathered: Vec<f32>,
    changes: Vec<Change>,
    /// Sums that are limited to 16 bits.
    limited: Vec<i16>,
}

impl Int8Layers {
    /// A chain whose weights are packed for this instruction set.
    pub(crate) fn new(chain: Arc<Int8Chain>, isa: Int8Isa) -> Self {
        Self { chain, isa, sums: FirstSums::default(), u: Default::default(), net: Vec::new(), y: Vec::new() }
    }

    /// The outputs of some rows of a batch, `[rows, stride(outputs)]`.
    pub(crate) fn forward(&mut self, batch: RowsView<'_>, rows: &[u32], out: &mut [f32]) {
        let width = stride(self.chain.outputs);
        for (rows, out) in rows.chunks(PASS).zip(out.chunks_mut(PASS * width)) {
            self.pass(batch, rows, out);
        }
    }

    fn pass(&mut self, batch: RowsView<'_>, rows: &[u32], out: &mut [f32]) {
        let Self { chain, isa, sums, u: [from, to], net, y } = self;
        let (isa, n, first) = (*isa, rows.len(), &chain.first);
        let units = first.bias.len();
        from.resize(from.len().max(n * units), 0);
        for (&row, u) in rows.iter().zip(from.chunks_exact_mut(units)) {
            let net = sums.renew(chain, isa, batch.dense_row(row as usize));
            first.units.activate(isa, net, u);
        }
        for layer in &chain.layers {
            y.resize(y.len().max(n * layer.width), 0.0);
            let y = &mut y[..n * layer.width];
            int8::product(isa, (from, layer.inputs), &layer.weight, (&layer.scale, &layer.bias), y);
            let Some(units) = &layer.units else { break };
            let width = units.gain.len();
            to.resize(to.len().max(n * width), 0);
            net.clear();
            net.resize(width, 0);
            for (y, u) in y.chunks_exact(layer.width).zip(to.chunks_exact_mut(width)) {
                // The curve ends within 16 bits.
                int8::quantise(isa, y, &layer.ones, &mut net[..layer.width]);
                units.activate(isa, net, u);
            }
            std::mem::swap(from, to);
        }
        let (outputs, width) = (chain.outputs, chain.layers[chain.layers.len() - 1].width);
        let to = stride(outputs);
        for (y, out) in y.chunks_exact(width).zip(out.chunks_exact_mut(to)).take(n) {
            // The padding is 0.
            out.copy_from_slice(&y[..to]);
            out[..outputs].iter_mut().for_each(|y| *y = chain.last.of(*y));
        }
    }
}

impl Int8Units {
    /// The activations of padded net inputs.
    pub(crate) fn activate(&self, isa: Int8Isa, net: &[i16], to: &mut [u8]) {
        int8::activate(isa, &self.curve, net, &self.gain, &self.zero, to);
    }
}

impl FirstSums {
    /// The net inputs of the first layer for a row.
    fn renew(&mut self, chain: &Int8Chain, isa: Int8Isa, row: &[f32]) -> &[i16] {
        let FirstLayer { scale, weight, largest, bias, bound, .. } = &chain.first;
        let x = match &chain.columns {
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
            self.bound = *bound;
        }
        int8::requantise(isa, x, scale, &mut self.row, &mut self.changes);
        for &Change { input, from, to } in &self.changes {
            let part = |x: i16| (largest[input as usize] * i32::from(x).abs()) >> 15;
            self.bound += part(to) - part(from);
        }
        int8::accumulate(isa, &mut self.sums, weight, &self.changes);
        if self.bound <= i32::from(i16::MAX) {
            return &self.sums;
        }
        self.limit(&chain.first);
        &self.limited
    }

    /// Adds the net inputs of the last row in 32 bits, then limits them to 16, if they may have left 16 bits.
    #[cold]
    fn limit(&mut self, first: &FirstLayer) {
        let units = first.bias.len();
        self.limited.resize(units, 0);
        for (unit, net) in self.limited.iter_mut().enumerate() {
            let parts = self
                .row
                .iter()
                .enumerate()
                .map(|(input, &x)| i32::from(int8::mul_rounded(first.weight[input * units + unit], x)));
            let sum = i32::from(first.bias[unit]) + parts.sum::<i32>();
            *net = sum.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        }
    }
}
