//! Layers in bfloat16 by multiply-adds of floats: inputs are rounded, and weights are numbers of bfloat16.

use super::ZipInlineExt;
use super::bf16_tiles::{HIGH, Sums};
use super::dense::{Layer, Matrix, ROWS, spans};
use super::forward::{Reads, finish_span};
use super::stride;
use crate::bf16::{Bf16Lane, CacheLine, round_to_bf16};
use crate::native::aligned::Aligned;
use crate::native::simd::Simd;

/// Copies of the weights of one layer; empty if they are not needed yet or have changed.
pub(crate) struct Bf16Weights<'a> {
    /// As pairs read them.
    pub(crate) packed: &'a mut Vec<Bf16Lane>,
    /// For [`Reads::of`].
    pub(crate) panels: &'a mut Aligned,
}

/// Buffers of one thread.
#[derive(Debug)]
pub(crate) struct Bf16Buffers {
    /// Rows of bfloat16.
    pub(super) rows: Vec<Bf16Lane>,
    /// Rows of rounded floats.
    floats: Vec<f32>,
    /// Sums of tiles.
    pub(super) sums: Box<Sums>,
}

impl Default for Bf16Buffers {
    fn default() -> Self {
        Self { rows: Vec::new(), floats: Vec::new(), sums: Box::new([CacheLine([0.0; 16]); 2 * HIGH]) }
    }
}

dispatched! {
    fn floats_forward(
        n: usize, layer: Layer<'_>, panels: &mut Aligned, x: Matrix<'_>, room: &mut Bf16Buffers, y: &mut [f32],
    ) = by_floats;
}

/// A layer by multiply-adds of floats.
#[inline(always)]
pub(super) fn by_floats<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    panels: &mut Aligned,
    x: Matrix<'_>,
    room: &mut Bf16Buffers,
    y: &mut [f32],
) {
    let (inputs, width) = (layer.inputs, stride(layer.outputs));
    let floats = &mut room.floats;
    let reads = Reads::of(s, n, layer, x, panels);
    floats.resize(floats.len().max(n.min(ROWS) * inputs), 0.0);
    for rows in spans(0..n) {
        for (r, to) in rows.clone().zip_inline(floats.chunks_exact_mut(inputs)) {
            for (to, x) in to.iter_mut().zip_inline(&x.row(r)[..inputs]) {
                *to = round_to_bf16(*x);
            }
        }
        let x = Matrix { data: floats, stride: inputs, rows: None, similar_neighbours: false };
        let (y, rows) = (&mut y[rows.start * width..rows.end * width], 0..rows.len());
        reads.affine(s, rows.clone(), layer, x, y);
        finish_span(s, rows, layer, &mut [], y);
    }
}
