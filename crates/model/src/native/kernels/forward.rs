//! Forward pass of layers.

use super::ZipInlineExt;
use super::dense::{Layer, Matrix, ROWS, block, block_mut, dot, in_blocks, in_tiles, padded, panels, spans};
use super::math::finish;
use super::narrow;
use super::sparse::{self, is_sparse};
use super::{chunks, chunks_mut, stride};
use crate::native::aligned::Aligned;
use crate::native::simd::{Chunk, Isa, LANES, Simd};
use crate::program::Activation;
use std::ops::Range;

/// Fewest rows for which weights are put in panels, which takes as long as some five rows.
const PACK: usize = 2 * ROWS;

/// Chunks of a weight that fits in the L1 cache, as which it needs no panels.
const SMALL: usize = 512;

/// y = f(β ∘ (x W + b)) for `n` rows. If `kept` is not empty, it receives what backward needs besides y: the net inputs
/// of a layer with sensitivities, or the slopes f′ of SiLU units without.
pub(crate) fn dense_forward(
    isa: Isa,
    n: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    room: ForwardRoom<'_>,
    kept: &mut [f32],
    y: &mut [f32],
) {
    // For a single row the set-up of `forward` would take as long as the work.
    if n == 1 {
        forward_one(isa, &layer, &x, kept, y);
    } else if n < LANES && layer.outputs <= LANES {
        forward_few(isa, n, &layer, &x, kept, y);
    } else {
        forward(isa, n, layer, x, room, kept, y);
    }
}

/// Buffers of [`dense_forward`].
pub(crate) struct ForwardRoom<'a> {
    /// The weights of this layer in [`panels`]; empty if they are not known or have changed.
    pub(crate) panels: &'a mut Aligned,
    /// For rows in lanes. Without it units are in the lanes.
    pub(crate) lanes: Option<&'a mut Aligned>,
}

/// [`dense_forward`] with buffers of its own, keeping nothing.
#[cfg(test)]
pub(super) fn forward_alone(isa: Isa, n: usize, layer: Layer<'_>, x: Matrix<'_>, y: &mut [f32]) {
    let (mut panels, mut lanes) = (Aligned::default(), Aligned::default());
    let room = ForwardRoom { panels: &mut panels, lanes: Some(&mut lanes) };
    dense_forward(isa, n, layer, x, room, &mut [], y);
}

dispatched! {
    fn forward(
        n: usize, layer: Layer<'_>, x: Matrix<'_>, room: ForwardRoom<'_>, kept: &mut [f32], y: &mut [f32],
    ) = forward_body;
}

dispatched! {
    // References, because copies on the stack cost as much as the layers of a small network.
    fn forward_one(layer: &Layer<'_>, x: &Matrix<'_>, kept: &mut [f32], y: &mut [f32]) = forward_one_body;
}

/// One row.
#[inline(always)]
fn forward_one_body<S: Simd>(s: S, layer: &Layer<'_>, x: &Matrix<'_>, kept: &mut [f32], y: &mut [f32]) {
    let (layer, x) = (*layer, *x);
    if layer.outputs == 1 {
        return forward_single(s, 1, layer, x, kept, y);
    }
    if is_sparse(s, 1, layer.inputs, x) {
        sparse::affine(s, 0..1, layer, x, y);
    } else {
        in_blocks!(1, stride(layer.outputs) / LANES, |c| affine_one(s, c, layer, x, y));
    }
    finish_rows(s, layer.f, 0..1, layer, kept, y);
}

#[inline(always)]
fn forward_body<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    room: ForwardRoom<'_>,
    kept: &mut [f32],
    y: &mut [f32],
) {
    if layer.outputs == 1 {
        return forward_single(s, n, layer, x, kept, y);
    }
    let ForwardRoom { panels, lanes } = room;
    let reads = Reads::of(s, n, layer, x, panels);
    let narrow = match lanes {
        Some(lanes) if !reads.is_sparse && kept.is_empty() => narrow::layer_rows(s, n, layer, x, lanes, y),
        _ => 0,
    };
    for rows in spans(narrow..n) {
        reads.affine(s, rows.clone(), layer, x, y);
        finish_span(s, rows, layer, kept, y);
    }
}

/// The way in which a layer reads its weights.
#[derive(Clone, Copy)]
pub(super) struct Reads<'a> {
    /// Only those of inputs that are not 0.
    is_sparse: bool,
    /// In [`panels`], if these are not empty.
    panels: &'a [Chunk],
}

impl<'a> Reads<'a> {
    /// The best way for `n` rows. Panels are written if they are empty and needed.
    #[inline(always)]
    pub(super) fn of<S: Simd>(
        s: S,
        n: usize,
        layer: Layer<'_>,
        x: Matrix<'_>,
        panels: &'a mut Aligned,
    ) -> Self {
        let is_sparse = is_sparse(s, n, layer.inputs, x);
        let width = stride(layer.outputs) / LANES;
        if is_sparse || n < PACK || width <= S::TALL || layer.inputs * width <= SMALL {
            return Self { is_sparse, panels: &[] };
        }
        if panels.is_empty() {
            pack(s, layer, panels);
        }
        Self { is_sparse, panels: chunks(panels) }
    }

    /// y = x W + b for some rows and more than one output.
    #[inline(always)]
    pub(super) fn affine<S: Simd>(
        self,
        s: S,
        rows: Range<usize>,
        layer: Layer<'_>,
        x: Matrix<'_>,
        y: &mut [f32],
    ) {
        if self.is_sparse {
            sparse::affine(s, rows, layer, x, y);
        } else if !self.panels.is_empty() {
            affine_packed(s, rows, layer, x, self.panels, y);
        } else {
            affine(s, rows, layer, x, y);
        }
    }
}

/// Applies the activation to net inputs in some rows of y.
#[inline(always)]
pub(super) fn finish_span<S: Simd>(
    s: S,
    rows: Range<usize>,
    layer: Layer<'_>,
    kept: &mut [f32],
    y: &mut [f32],
) {
    match layer.f {
        // A separate loop for each activation.
        Activation::Tanh => finish_rows(s, Activation::Tanh, rows, layer, kept, y),
        Activation::Sigmoid => finish_rows(s, Activation::Sigmoid, rows, layer, kept, y),
        Activation::Relu => finish_rows(s, Activation::Relu, rows, layer, kept, y),
        Activation::Silu => finish_rows(s, Activation::Silu, rows, layer, kept, y),
        Activation::Linear => finish_rows(s, Activation::Linear, rows, layer, kept, y),
    }
}

dispatched! {
    /// A few rows of at most one chunk.
    fn forward_few(n: usize, layer: &Layer<'_>, x: &Matrix<'_>, kept: &mut [f32], y: &mut [f32]) = forward_few_body;
}

#[inline(always)]
fn forward_few_body<S: Simd>(
    s: S,
    n: usize,
    layer: &Layer<'_>,
    x: &Matrix<'_>,
    kept: &mut [f32],
    y: &mut [f32],
) {
    let (layer, x) = (*layer, *x);
    if layer.outputs == 1 {
        return forward_single(s, n, layer, x, kept, y);
    }
    if is_sparse(s, n, layer.inputs, x) {
        sparse::affine(s, 0..n, layer, x, y);
    } else {
        packed_body::<S, 1>(s, 0..n, 0, layer, x, chunks(layer.weight), y);
    }
    finish_span(s, 0..n, layer, kept, y);
}

/// Chunks `c..c + C` of one row.
#[inline(always)]
fn affine_one<S: Simd, const C: usize>(s: S, c: usize, layer: Layer<'_>, x: Matrix<'_>, y: &mut [f32]) {
    affine_tile::<S, 1, C>(s, 0, c, layer, x, y);
}

/// A single output: one column of weights.
#[inline(always)]
fn forward_single<S: Simd>(s: S, n: usize, layer: Layer<'_>, x: Matrix<'_>, kept: &mut [f32], y: &mut [f32]) {
    // Reads whole padded rows if the inputs have them, because the padding is 0 on both sides.
    let width = if x.rows.is_none() { stride(layer.inputs) } else { layer.inputs };
    let y = &mut y[..n];
    // Sixteen sums at once take a third of the steps with AVX-512.
    let together = if width == LANES && x.rows.is_none() && x.stride == LANES { n / LANES } else { 0 };
    if together > 0 {
        let (weight, bias) = (s.load(&chunks(layer.weight)[0]), s.splat(layer.bias[0]));
        for (x, y) in chunks(x.data).as_chunks::<LANES>().0.iter().zip_inline(y.as_chunks_mut::<LANES>().0) {
            let mut products = [s.splat(0.0); LANES];
            for i in 0..LANES {
                products[i] = s.fma(s.load(&x[i]), weight, s.splat(0.0));
            }
            s.store(y, s.add(bias, s.sums(products)));
        }
    }
    for (r, y) in y.iter_mut().enumerate().skip(together * LANES) {
        *y = layer.bias[0] + dot(s, &x.row(r)[..width], &layer.weight[..width]);
    }
    // All rows at once: one activation costs as much as sixteen.
    let beta = layer.beta.map(|beta| s.splat(beta[0]));
    let (whole, rest) = y.as_chunks_mut::<LANES>();
    for (i, y) in whole.iter_mut().enumerate() {
        finish(s, layer.f, beta, chunks_mut(kept).get_mut(i), y);
    }
    if !rest.is_empty() {
        // One number fills all lanes: to write it into a chunk and load the chunk would stall.
        let (mut kept_chunk, mut chunk) =
            ([0.0; LANES], if let [y] = rest { [*y; LANES] } else { padded(rest) });
        finish(s, layer.f, beta, Some(&mut kept_chunk), &mut chunk);
        rest.iter_mut().zip_inline(&chunk).for_each(|(to, from)| *to = *from);
        if let Some(kept) = kept.get_mut(n - rest.len()..n) {
            kept.iter_mut().zip_inline(&kept_chunk).for_each(|(to, from)| *to = *from);
        }
    }
}

/// y = x W + b for some rows and more than one output.
#[inline(always)]
pub(super) fn affine<S: Simd>(s: S, rows: Range<usize>, layer: Layer<'_>, x: Matrix<'_>, y: &mut [f32]) {
    let width = stride(layer.outputs) / LANES;
    // Small weights are in the L1 cache: one block, as for few rows.
    let items = if width <= S::WHOLE && layer.inputs * width <= SMALL { 0 } else { rows.len() };
    in_blocks!(items, width, |c| affine_columns(s, rows.clone(), c, layer, x, y));
}

/// Copies the weights in [`panels`].
#[inline(always)]
fn pack<S: Simd>(s: S, layer: Layer<'_>, to: &mut Aligned) {
    let width = stride(layer.outputs) / LANES;
    to.resize(layer.inputs * width * LANES);
    let (to, weight) = (chunks_mut(to), chunks(layer.weight));
    for (c, block) in panels(s, width) {
        let panel = to[c * layer.inputs..][..layer.inputs * block].chunks_exact_mut(block);
        for (to, from) in panel.zip_inline(weight.chunks_exact(width)) {
            to.copy_from_slice(&from[c..c + block]);
        }
    }
}

/// Like [`affine`], with weights in [`panels`].
#[inline(always)]
pub(super) fn affine_packed<S: Simd>(
    s: S,
    rows: Range<usize>,
    layer: Layer<'_>,
    x: Matrix<'_>,
    weight: &[Chunk],
    y: &mut [f32],
) {
    in_blocks!(tall, stride(layer.outputs) / LANES, |c| packed_columns(
        s,
        rows.clone(),
        c,
        layer,
        x,
        weight,
        y
    ));
}

per_width! {
    /// Like [`affine_columns`], with weights in [`panels`].
    fn packed_columns<C>(
        rows: Range<usize>, c: usize, layer: Layer<'_>, x: Matrix<'_>, weight: &[Chunk], y: &mut [f32],
    ) = packed_body;
}

#[inline(always)]
fn packed_body<S: Simd, const C: usize>(
    s: S,
    rows: Range<usize>,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    weight: &[Chunk],
    y: &mut [f32],
) {
    let weight: &[[Chunk; C]] = weight[c * layer.inputs..][..C * layer.inputs].as_chunks().0;
    in_tiles!(rows, |r| packed_tile::<C>(s, r, c, layer, x, weight, y));
}

per_width! {
    /// Like [`affine_columns`], for layers of more than C chunks.
    fn scattered_columns<C>(rows: Range<usize>, c: usize, layer: Layer<'_>, x: Matrix<'_>, y: &mut [f32]) = scattered_body;
}

#[inline(always)]
fn scattered_body<S: Simd, const C: usize>(
    s: S,
    rows: Range<usize>,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    y: &mut [f32],
) {
    in_tiles!(rows, |r| affine_tile::<C>(s, r, c, layer, x, y));
}

/// Like [`affine_tile`], with weights that follow each other.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "steps of iterators may stay calls without link-time optimisation"
)]
fn packed_tile<S: Simd, const R: usize, const C: usize>(
    s: S,
    r: usize,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    weight: &[[Chunk; C]],
    y: &mut [f32],
) {
    let inputs: [&[f32]; R] = rows_of(x, r, weight.len());
    let mut sums = [biases::<S, C>(s, c, layer); R];
    for k in 0..weight.len() {
        add_products(s, k, &inputs, &weight[k], &mut sums);
    }
    write(s, r, c, layer, &sums, y);
}

/// Chunks `c..c + C` of some rows.
#[inline(always)]
fn affine_columns<S: Simd, const C: usize>(
    s: S,
    rows: Range<usize>,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    y: &mut [f32],
) {
    if C == stride(layer.outputs) / LANES {
        // The weights follow each other as in panels.
        packed_columns::<S, C>(s, rows, c, layer, x, chunks(layer.weight), y);
    } else {
        scattered_columns::<S, C>(s, rows, c, layer, x, y);
    }
}

/// Chunks `c..c + C` of rows `r..r + R`. The sums are independent, and each weight is read once for all rows.
#[inline(always)]
fn affine_tile<S: Simd, const R: usize, const C: usize>(
    s: S,
    r: usize,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    y: &mut [f32],
) {
    let width = stride(layer.outputs) / LANES;
    let inputs: [&[f32]; R] = rows_of(x, r, layer.inputs);
    let mut sums = [biases::<S, C>(s, c, layer); R];
    let weight = chunks(layer.weight);
    for k in 0..layer.inputs {
        add_products(s, k, &inputs, block(weight, k * width + c), &mut sums);
    }
    write(s, r, c, layer, &sums, y);
}

/// The first `count` inputs of rows `r..r + R`.
#[inline(always)]
fn rows_of<const R: usize>(x: Matrix<'_>, r: usize, count: usize) -> [&[f32]; R] {
    let mut inputs = [&[][..]; R];
    for (i, row) in inputs.iter_mut().enumerate() {
        *row = &x.row(r + i)[..count];
    }
    inputs
}

/// Chunks `c..c + C` of the biases.
#[inline(always)]
pub(super) fn biases<S: Simd, const C: usize>(s: S, c: usize, layer: Layer<'_>) -> [S::V; C] {
    let bias: &[Chunk; C] = block(chunks(layer.bias), c);
    let mut sums = [s.splat(0.0); C];
    for j in 0..C {
        sums[j] = s.load(&bias[j]);
    }
    sums
}

/// Adds input `k` of each row times its weights.
#[inline(always)]
fn add_products<S: Simd, const R: usize, const C: usize>(
    s: S,
    k: usize,
    inputs: &[&[f32]; R],
    weight: &[Chunk; C],
    sums: &mut [[S::V; C]; R],
) {
    let mut w = [s.splat(0.0); C];
    for j in 0..C {
        w[j] = s.load(&weight[j]);
    }
    for i in 0..R {
        let x = s.splat(inputs[i][k]);
        for j in 0..C {
            sums[i][j] = s.fma(x, w[j], sums[i][j]);
        }
    }
}

/// Writes chunks `c..c + C` of rows `r..r + R`.
#[inline(always)]
#[expect(
    clippy::needless_range_loop,
    reason = "steps of iterators may stay calls without link-time optimisation"
)]
pub(super) fn write<S: Simd, const R: usize, const C: usize>(
    s: S,
    r: usize,
    c: usize,
    layer: Layer<'_>,
    sums: &[[S::V; C]; R],
    y: &mut [f32],
) {
    let (y, width) = (chunks_mut(y), stride(layer.outputs) / LANES);
    for i in 0..R {
        let y: &mut [Chunk; C] = block_mut(y, (r + i) * width + c);
        for j in 0..C {
            s.store(&mut y[j], sums[i][j]);
        }
    }
}

/// Like [`finish_span`], for one activation.
#[inline(always)]
fn finish_rows<S: Simd>(
    s: S,
    f: Activation,
    rows: Range<usize>,
    layer: Layer<'_>,
    kept: &mut [f32],
    y: &mut [f32],
) {
    let stride = stride(layer.outputs);
    let width = stride / LANES;
    let here = rows.start * width..rows.end * width;
    let kept = chunks_mut(kept).get_mut(here.clone()).unwrap_or_default();
    let y = &mut chunks_mut(y)[here];
    match layer.beta {
        Some(beta) => {
            let beta = &chunks(beta)[..width];
            for (r, y) in y.chunks_exact_mut(width).enumerate() {
                for c in 0..width {
                    finish(s, f, Some(s.load(&beta[c])), kept.get_mut(r * width + c), &mut y[c]);
                }
            }
        }
        None => {
            for (i, y) in y.iter_mut().enumerate() {
                finish(s, f, None, kept.get_mut(i), y);
            }
        }
    }
    // If f(0) ≠ 0, resets the padding, which must be 0 for the next layer.
    if f == Activation::Sigmoid {
        y.as_flattened_mut().chunks_exact_mut(stride).for_each(|row| row[layer.outputs..].fill(0.0));
    }
}
