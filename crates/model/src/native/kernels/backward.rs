//! Backward pass of layers y = f(β ∘ net) with net = x W + b.
//!
//! With ∂y the adjoint of y: δ = ∂y ∘ f′(β ∘ net), ∂β = Σ δ ∘ net, ∂net = δ ∘ β, ∂W = xᵀ ∂net, ∂b = Σ ∂net,
//! ∂x = ∂net Wᵀ; sums run over the rows.

use super::ZipInlineExt;
use super::across;
use super::dense::{
    InputAdjoint, Layer, LayerGrad, Matrix, ROWS, Saved, dot, in_blocks, in_tiles, padded, panels, spans,
    whole_tile,
};
use super::forward::affine_packed;
use super::math::derive;
use super::sparse::{self, is_sparse};
use super::{chunks, chunks_mut, stride};
use crate::native::aligned::Aligned;
use crate::native::simd::{Chunk, Isa, LANES, Simd};
use crate::program::Activation;
use std::ops::Range;

/// Number of rows from which transposing the weights pays off.
const TRANSPOSE: usize = 16;

/// Replaces the adjoint of y in `dy` with the adjoint of the net inputs, adds to the gradients, and writes the adjoint
/// of x.
pub(crate) fn dense_backward(
    isa: Isa,
    n: usize,
    layer: Layer<'_>,
    saved: Saved<'_>,
    dy: &mut [f32],
    mut grad: LayerGrad<'_>,
    below: InputAdjoint<'_>,
) {
    // For a single row the set-up of `backward` would take as long as the work.
    if n == 1 {
        backward_one(isa, &layer, &saved, dy, &mut grad, below.dx);
    } else if n < TRANSPOSE && layer.outputs <= LANES {
        backward_few(isa, n, &layer, &saved, dy, &mut grad, below.dx);
    } else {
        backward(isa, n, layer, saved, dy, grad, below);
    }
}

dispatched! {
    fn backward(
        n: usize, layer: Layer<'_>, saved: Saved<'_>, dy: &mut [f32], grad: LayerGrad<'_>, below: InputAdjoint<'_>,
    ) = backward_body;
}

dispatched! {
    fn backward_one(
        layer: &Layer<'_>, saved: &Saved<'_>, dy: &mut [f32], grad: &mut LayerGrad<'_>, dx: &mut [f32],
    ) = backward_one_body;
}

dispatched! {
    fn backward_few(
        n: usize, layer: &Layer<'_>, saved: &Saved<'_>, dy: &mut [f32], grad: &mut LayerGrad<'_>, dx: &mut [f32],
    ) = backward_few_body;
}

/// A few rows of at most one chunk.
#[inline(always)]
fn backward_few_body<S: Simd>(
    s: S,
    n: usize,
    layer: &Layer<'_>,
    saved: &Saved<'_>,
    dy: &mut [f32],
    grad: &mut LayerGrad<'_>,
    dx: &mut [f32],
) {
    let layer = *layer;
    if layer.outputs == 1 {
        return backward_single(s, n, layer, saved, dy, grad, dx);
    }
    net_adjoints(s, 0..n, layer, saved, dy, grad);
    input_adjoints(s, 0..n, layer, dy, dx);
    if is_sparse(s, n, layer.inputs, saved.x) {
        sparse::gradient(s, 0..n, layer, saved.x, dy, grad.weight);
    } else {
        whole_body::<S, 1>(s, 0..n, layer, saved.x, dy, grad.weight);
    }
}

/// ∂x = ∂net Wᵀ of some rows. Nothing is computed if `dx` is empty.
#[inline(always)]
fn input_adjoints<S: Simd>(s: S, rows: Range<usize>, layer: Layer<'_>, d: &[f32], dx: &mut [f32]) {
    let (from, to) = (stride(layer.outputs), stride(layer.inputs));
    let rows = d.chunks_exact(from).zip_inline(dx.chunks_exact_mut(to)).skip(rows.start).take(rows.len());
    for (d, dx) in rows {
        for (dx, w) in dx.iter_mut().zip_inline(layer.weight.chunks_exact(from)).take(layer.inputs) {
            *dx = dot(s, w, d);
        }
    }
}

/// One row.
#[inline(always)]
fn backward_one_body<S: Simd>(
    s: S,
    layer: &Layer<'_>,
    saved: &Saved<'_>,
    dy: &mut [f32],
    grad: &mut LayerGrad<'_>,
    dx: &mut [f32],
) {
    let layer = *layer;
    if layer.outputs == 1 {
        return backward_single(s, 1, layer, saved, dy, grad, dx);
    }
    net_adjoints(s, 0..1, layer, saved, dy, grad);
    input_adjoints(s, 0..1, layer, dy, dx);
    let stride = stride(layer.outputs);
    let d = &dy[..stride];
    if is_sparse(s, 1, layer.inputs, saved.x) {
        return sparse::gradient(s, 0..1, layer, saved.x, d, grad.weight);
    }
    let x = &saved.x.row(0)[..layer.inputs];
    if let [d] = chunks(d) {
        let (d, grad) = (s.load(d), &mut chunks_mut(grad.weight)[..x.len()]);
        for k in 0..x.len() {
            let g = &mut grad[k];
            s.store(g, s.fma(s.splat(x[k]), d, s.load(g)));
        }
        return;
    }
    for (x, g) in x.iter().zip_inline(grad.weight.chunks_exact_mut(stride)) {
        let x = s.splat(*x);
        for (g, d) in chunks_mut(g).iter_mut().zip_inline(chunks(d)) {
            s.store(g, s.fma(x, s.load(d), s.load(g)));
        }
    }
}

#[inline(always)]
fn backward_body<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    saved: Saved<'_>,
    dy: &mut [f32],
    mut grad: LayerGrad<'_>,
    below: InputAdjoint<'_>,
) {
    let InputAdjoint { dx, scratch } = below;
    if layer.outputs == 1 {
        return backward_single(s, n, layer, &saved, dy, &mut grad, dx);
    }
    let stride = stride(layer.outputs);
    let transposed = !dx.is_empty() && n >= TRANSPOSE && layer.inputs > 1;
    if transposed {
        transpose(s, layer, scratch);
    }
    let is_sparse = is_sparse(s, n, layer.inputs, saved.x);
    // The buffer is free if there are no adjoints of x.
    let across = !is_sparse && dx.is_empty() && across::suits(s, n, layer);
    for rows in spans(0..n) {
        net_adjoints(s, rows.clone(), layer, &saved, dy, &mut grad);
        let d = Matrix { data: dy, stride, rows: None, similar_neighbours: false };
        if transposed {
            // dx = d Wᵀ has the form of a layer.
            let (weight, bias) = scratch.split_at(layer.outputs * self::stride(layer.inputs));
            let back = Layer {
                inputs: layer.outputs,
                outputs: layer.inputs,
                weight,
                bias,
                beta: None,
                f: Activation::Linear,
            };
            affine_packed(s, rows.clone(), back, d, chunks(weight), dx);
        } else {
            input_adjoints(s, rows.clone(), layer, dy, dx);
        }
        if across {
            continue;
        }
        if is_sparse {
            sparse::gradient(s, rows, layer, saved.x, dy, grad.weight);
            continue;
        }
        // Adjoints of few units are in the L1 cache: one block, as for few inputs.
        let items = if stride / LANES <= S::WHOLE { 0 } else { layer.inputs };
        in_blocks!(items, stride / LANES, |c| gradient_columns(
            s,
            rows.clone(),
            c,
            layer,
            saved.x,
            dy,
            grad.weight
        ));
    }
    if across {
        across::gradient(s, n, layer, saved.x, dy, grad.weight, scratch);
    }
}

/// Writes Wᵀ with padded rows in [`panels`], followed by a bias of zeros.
#[inline(always)]
fn transpose<S: Simd>(s: S, layer: Layer<'_>, scratch: &mut Aligned) {
    let (to, from) = (stride(layer.inputs) / LANES, stride(layer.outputs) / LANES);
    scratch.clear();
    scratch.resize((layer.outputs + 1) * to * LANES);
    let weight = chunks(layer.weight);
    let scratch = chunks_mut(scratch);
    // Blocks of sixteen by sixteen, through a buffer that stays in the cache.
    let mut square = [[0.0; LANES]; LANES];
    for (panel, block) in panels(s, to) {
        let scratch = &mut scratch[panel * layer.outputs..][..block * layer.outputs];
        for first in panel..panel + block {
            let inputs = (layer.inputs - first * LANES).min(LANES);
            for c in 0..from {
                for (i, row) in square[..inputs].iter_mut().enumerate() {
                    *row = weight[(first * LANES + i) * from + c];
                }
                square[inputs..].fill([0.0; LANES]);
                for o in 0..LANES.min(layer.outputs - c * LANES) {
                    let to = &mut scratch[(c * LANES + o) * block + first - panel];
                    for (to, row) in to.iter_mut().zip_inline(&square) {
                        *to = row[o];
                    }
                }
            }
        }
    }
}

/// Replaces the adjoints of y with those of the net inputs; adds to the gradients of biases and sensitivities:
/// δ = ∂y f′(β net), ∂L/∂β += δ net, ∂net = β δ, ∂L/∂b += ∂net.
#[inline(always)]
fn net_adjoints<S: Simd>(
    s: S,
    rows: Range<usize>,
    layer: Layer<'_>,
    saved: &Saved<'_>,
    dy: &mut [f32],
    grad: &mut LayerGrad<'_>,
) {
    match layer.f {
        // A separate loop for each activation.
        Activation::Tanh => net_adjoints_of(s, Activation::Tanh, rows, layer, saved, dy, grad),
        Activation::Sigmoid => net_adjoints_of(s, Activation::Sigmoid, rows, layer, saved, dy, grad),
        Activation::Relu => net_adjoints_of(s, Activation::Relu, rows, layer, saved, dy, grad),
        Activation::Silu => net_adjoints_of(s, Activation::Silu, rows, layer, saved, dy, grad),
        Activation::Linear => net_adjoints_of(s, Activation::Linear, rows, layer, saved, dy, grad),
    }
}

#[inline(always)]
fn net_adjoints_of<S: Simd>(
    s: S,
    f: Activation,
    rows: Range<usize>,
    layer: Layer<'_>,
    saved: &Saved<'_>,
    dy: &mut [f32],
    grad: &mut LayerGrad<'_>,
) {
    let width = stride(layer.outputs) / LANES;
    let (y, kept, dy) = (chunks(saved.y), chunks(saved.kept), chunks_mut(dy));
    if width == 1 && layer.beta.is_none() {
        // The sum stays in a register.
        let (y, dy) = (&y[..rows.end], &mut dy[..rows.end]);
        let bias = &mut chunks_mut(grad.bias)[0];
        let mut sum = s.load(bias);
        for at in rows {
            let delta = slope(s, f, s.load(&dy[at]), s.load(&y[at]), load_or_zero(s, kept, at), None);
            sum = s.add(sum, delta);
            s.store(&mut dy[at], delta);
        }
        s.store(bias, sum);
        return;
    }
    for r in rows {
        for c in 0..width {
            let at = r * width + c;
            let kept = load_or_zero(s, kept, at);
            let beta = layer.beta.map(|beta| s.load(&chunks(beta)[c]));
            let mut delta = slope(s, f, s.load(&dy[at]), s.load(&y[at]), kept, beta);
            if let (Some(gbeta), Some(beta)) = (grad.beta.as_deref_mut(), beta) {
                let g = &mut chunks_mut(gbeta)[c];
                s.store(g, s.fma(delta, kept, s.load(g)));
                delta = s.mul(delta, beta);
            }
            let g = &mut chunks_mut(grad.bias)[c];
            s.store(g, s.add(s.load(g), delta));
            s.store(&mut dy[at], delta);
        }
    }
}

/// A chunk; zeros if there are none.
#[inline(always)]
fn load_or_zero<S: Simd>(s: S, chunks: &[Chunk], at: usize) -> S::V {
    match chunks.get(at) {
        Some(chunk) => s.load(chunk),
        None => s.splat(0.0),
    }
}

/// Multiplies the adjoint `d` of y by f′(β ∘ net).
#[inline(always)]
fn slope<S: Simd>(s: S, f: Activation, d: S::V, y: S::V, kept: S::V, beta: Option<S::V>) -> S::V {
    match beta {
        None if f == Activation::Silu => s.mul(d, kept),
        None => derive(s, f, d, y, kept),
        Some(beta) => derive(s, f, d, y, s.mul(kept, beta)),
    }
}

/// Fewest inputs for which a copy of the adjoints pays off.
const MANY: usize = 64;

/// Adds xᵀ d over some rows to chunks `c..c + C` of the gradient of the weights.
#[inline(always)]
fn gradient_columns<S: Simd, const C: usize>(
    s: S,
    rows: Range<usize>,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    d: &[f32],
    grad: &mut [f32],
) {
    if C == stride(layer.outputs) / LANES {
        whole_columns::<S, C>(s, rows, layer, x, d, grad);
    } else {
        scattered_columns::<S, C>(s, rows, c, layer, x, d, grad);
    }
}

per_width! {
    /// Like [`gradient_columns`], for layers of C chunks.
    fn whole_columns<C>(
        rows: Range<usize>, layer: Layer<'_>, x: Matrix<'_>, d: &[f32], grad: &mut [f32],
    ) = whole_body;
}

#[inline(always)]
fn whole_body<S: Simd, const C: usize>(
    s: S,
    rows: Range<usize>,
    layer: Layer<'_>,
    x: Matrix<'_>,
    d: &[f32],
    grad: &mut [f32],
) {
    let mut inputs = [&[][..]; ROWS];
    for (input, r) in inputs.iter_mut().zip_inline(rows.clone()) {
        *input = &x.row(r)[..layer.inputs];
    }
    let (inputs, d) = (&inputs[..rows.len()], chunks(d)[rows.start * C..rows.end * C].as_chunks::<C>().0);
    let grad = chunks_mut(grad);
    in_tiles!(0..layer.inputs, |k| whole_tile::<C>(s, k, inputs, d, grad));
}

per_width! {
    /// Like [`gradient_columns`], for layers of more than C chunks.
    fn scattered_columns<C>(
        rows: Range<usize>, c: usize, layer: Layer<'_>, x: Matrix<'_>, d: &[f32], grad: &mut [f32],
    ) = scattered_body;
}

#[inline(always)]
fn scattered_body<S: Simd, const C: usize>(
    s: S,
    rows: Range<usize>,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    d: &[f32],
    grad: &mut [f32],
) {
    let width = stride(layer.outputs) / LANES;
    let d = &chunks(d)[rows.start * width..rows.end * width];
    let grad = &mut chunks_mut(grad)[c..];
    let mut copy;
    let d = if layer.inputs >= MANY {
        // Together, because rows of a power of two would share few sets of the L1 cache.
        copy = [[[0.0; LANES]; C]; ROWS];
        for (to, from) in copy.iter_mut().zip_inline(d.chunks_exact(width)) {
            to.copy_from_slice(&from[c..c + C]);
        }
        (copy.as_flattened(), C)
    } else {
        (d.get(c..).unwrap_or_default(), width)
    };
    in_tiles!(0..layer.inputs, |k| gradient_tile::<C>(s, rows.clone(), k, x, d, (&mut *grad, width)));
}

/// Like [`gradient_columns`], for the weights of inputs `k..k + K`, whose sums stay in registers. Adjoints and gradients begin at the
/// first chunk and have a number of chunks a row.
#[inline(always)]
fn gradient_tile<S: Simd, const K: usize, const C: usize>(
    s: S,
    rows: Range<usize>,
    k: usize,
    x: Matrix<'_>,
    (d, d_width): (&[Chunk], usize),
    (grad, width): (&mut [Chunk], usize),
) {
    let mut sums = [[s.splat(0.0); C]; K];
    for (i, sums) in sums.iter_mut().enumerate() {
        for (sum, g) in sums.iter_mut().zip_inline(&grad[(k + i) * width..][..C]) {
            *sum = s.load(g);
        }
    }
    for (i, r) in rows.enumerate() {
        let mut delta = [s.splat(0.0); C];
        for (delta, from) in delta.iter_mut().zip_inline(&d[i * d_width..][..C]) {
            *delta = s.load(from);
        }
        let x = &x.row(r)[k..k + K];
        for i in 0..K {
            let x = s.splat(x[i]);
            for j in 0..C {
                sums[i][j] = s.fma(x, delta[j], sums[i][j]);
            }
        }
    }
    for (i, sums) in sums.into_iter().enumerate() {
        for (g, sum) in grad[(k + i) * width..][..C].iter_mut().zip_inline(sums) {
            s.store(g, sum);
        }
    }
}

/// A single output: one column of weights.
#[inline(always)]
fn backward_single<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    saved: &Saved<'_>,
    dy: &mut [f32],
    grad: &mut LayerGrad<'_>,
    dx: &mut [f32],
) {
    let beta = layer.beta.map(|beta| s.splat(beta[0]));
    let (mut gb, mut gbeta) = (s.splat(0.0), s.splat(0.0));
    // One number fills all lanes: to write it into a chunk and load the chunk would stall.
    let single = n == 1 && beta.is_none();
    if single {
        let kept = s.splat(saved.kept.first().copied().unwrap_or_default());
        let delta = slope(s, layer.f, s.splat(dy[0]), s.splat(saved.y[0]), kept, None);
        let mut chunk = [0.0; LANES];
        s.store(&mut chunk, delta);
        dy[0] = chunk[0];
        grad.bias[0] += chunk[0];
    }
    for first in (0..if single { 0 } else { n }).step_by(LANES) {
        let here = first..n.min(first + LANES);
        let kept = s.load(&padded(saved.kept.get(here.clone()).unwrap_or_default()));
        let (d, y) = (s.load(&padded(&dy[here.clone()])), s.load(&padded(&saved.y[here.clone()])));
        let mut delta = slope(s, layer.f, d, y, kept, beta);
        if let Some(beta) = beta {
            gbeta = s.fma(delta, kept, gbeta);
            delta = s.mul(delta, beta);
        }
        gb = s.add(gb, delta);
        let mut chunk = [0.0; LANES];
        s.store(&mut chunk, delta);
        dy[here].iter_mut().zip_inline(&chunk).for_each(|(to, from)| *to = *from);
    }
    if !single {
        grad.bias[0] += s.sum(gb);
    }
    if let Some(g) = &mut grad.beta {
        g[0] += s.sum(gbeta);
    }
    let d = &dy[..n];
    // Values of width 1 and rows of the batch are not padded.
    if saved.x.rows.is_none() && layer.inputs > 1 {
        in_blocks!(1, stride(layer.inputs) / LANES, |c| single_columns(s, c, d, saved.x, grad.weight));
    } else {
        for (r, d) in d.iter().enumerate() {
            let (x, x_tail) = saved.x.row(r)[..layer.inputs].as_chunks::<LANES>();
            let (g, g_tail) = grad.weight.split_at_mut(x.len() * LANES);
            let splat = s.splat(*d);
            for (g, x) in chunks_mut(g).iter_mut().zip_inline(x) {
                s.store(g, s.fma(splat, s.load(x), s.load(g)));
            }
            for (g, x) in g_tail.iter_mut().zip_inline(x_tail) {
                *g += d * x;
            }
        }
    }
    if dx.is_empty() {
        return;
    }
    if layer.inputs == 1 {
        dx.iter_mut().zip_inline(d).for_each(|(dx, d)| *dx = d * layer.weight[0]);
        return;
    }
    for (dx, d) in dx.chunks_exact_mut(stride(layer.inputs)).zip_inline(d) {
        let splat = s.splat(*d);
        for (dx, w) in chunks_mut(dx).iter_mut().zip_inline(chunks(layer.weight)) {
            s.store(dx, s.mul(splat, s.load(w)));
        }
    }
}

/// Adds Σ d x over all rows to chunks `c..c + C` of the gradient of a column of weights.
#[inline(always)]
fn single_columns<S: Simd, const C: usize>(s: S, c: usize, d: &[f32], x: Matrix<'_>, grad: &mut [f32]) {
    let grad = &mut chunks_mut(grad)[c..c + C];
    let mut sums = [s.splat(0.0); C];
    for (sum, g) in sums.iter_mut().zip_inline(grad.iter()) {
        *sum = s.load(g);
    }
    for (r, d) in d.iter().enumerate() {
        let d = s.splat(*d);
        for (sum, x) in sums.iter_mut().zip_inline(&chunks(x.row(r))[c..c + C]) {
            *sum = s.fma(d, s.load(x), *sum);
        }
    }
    for (g, sum) in grad.iter_mut().zip_inline(sums) {
        s.store(g, sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::kernels::forward::forward_alone;

    /// A pseudo-random number in ±0.5.
    fn number(i: usize) -> f32 {
        ((i * 7919 + 13) % 1009) as f32 / 1009.0 - 0.5
    }

    /// A matrix with padded rows, and the same numbers in f64.
    fn matrix(rows: usize, columns: usize, seed: usize) -> (Vec<f32>, Vec<Vec<f64>>) {
        let mut padded = vec![0.0; rows * stride(columns)];
        let exact = (0..rows).map(|r| {
            let row = &mut padded[r * stride(columns)..][..columns];
            row.iter_mut().enumerate().for_each(|(c, v)| *v = number(seed + r * columns + c));
            row.iter().map(|v| f64::from(*v)).collect()
        });
        let exact = exact.collect();
        (padded, exact)
    }

    fn assert_close(found: &[f32], exact: impl Fn(usize, usize) -> f64, columns: usize, what: &str) {
        for (r, row) in found.chunks_exact(stride(columns)).enumerate() {
            for (c, v) in row.iter().enumerate() {
                let exact = if c < columns { exact(r, c) } else { 0.0 };
                assert!(
                    (f64::from(*v) - exact).abs() <= 2e-5 * (1.0 + exact.abs()),
                    "{what} [{r}, {c}]: {v}, exactly {exact}"
                );
            }
        }
    }

    /// Compares with sums in f64, for shapes that leave a remainder in every block and for more rows than one span.
    #[test]
    fn layers_follow_their_definition() {
        for isa in Isa::available() {
            for (n, inputs, outputs) in [
                (1, 9, 80),
                (1, 20, 10),
                (1, 40, 1),
                (1, 1, 1),
                (1, 1, 5),
                (3, 68, 10),
                (15, 20, 33),
                (16, 33, 20),
                (71, 50, 128),
                (130, 7, 100),
                (67, 40, 1),
                (130, 68, 10),
                (75, 21, 20),
            ] {
                let what = |part: &str| format!("{isa:?}, {n} rows, {inputs} to {outputs}, {part}");
                let ((x, ex), (d, ed)) = (matrix(n, inputs, 1), matrix(n, outputs, 2));
                // A single column of weights is one padded row.
                let (weight, ew) = if outputs == 1 {
                    let (w, e) = matrix(1, inputs, 3);
                    (w, e[0].iter().map(|w| vec![*w]).collect())
                } else {
                    matrix(inputs, outputs, 3)
                };
                let (bias, eb) = matrix(1, outputs.max(2), 4);
                let f = Activation::Linear;
                let layer = Layer { inputs, outputs, weight: &weight, bias: &bias, beta: None, f };
                let x = Matrix { data: &x, stride: stride(inputs), rows: None, similar_neighbours: false };
                let mut y = vec![0.0; d.len()];
                forward_alone(isa, n, layer, x, &mut y);
                let dot = |r: usize, c: usize| (0..inputs).map(|k| ex[r][k] * ew[k][c]).sum::<f64>();
                assert_close(&y, |r, c| eb[0][c] + dot(r, c), outputs, &what("y"));

                let (mut gw, mut gb) = (vec![0.0; weight.len()], vec![0.0; bias.len()]);
                let (mut dy, mut dx) = (d.clone(), vec![0.0; n * stride(inputs)]);
                let grad = LayerGrad { weight: &mut gw, bias: &mut gb, beta: None };
                let saved = Saved { x, kept: &[], y: &y };
                let below = InputAdjoint { dx: &mut dx, scratch: &mut Aligned::default() };
                dense_backward(isa, n, layer, saved, &mut dy, grad, below);
                let back = |r: usize, k: usize| (0..outputs).map(|c| ed[r][c] * ew[k][c]).sum::<f64>();
                assert_close(&dx, back, inputs, &what("dx"));
                let slope = |k: usize, c: usize| (0..n).map(|r| ex[r][k] * ed[r][c]).sum::<f64>();
                if outputs == 1 {
                    assert_close(&gw, |_, k| slope(k, 0), inputs, &what("weights"));
                } else {
                    assert_close(&gw, slope, outputs, &what("weights"));
                }
                let total = |c: usize| ed.iter().map(|d| d[c]).sum::<f64>();
                for (c, g) in gb[..outputs].iter().enumerate() {
                    assert!((f64::from(*g) - total(c)).abs() < 1e-4, "{}", what("bias"));
                }
            }
        }
    }
}
