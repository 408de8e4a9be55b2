//! Layers y = f(β ∘ (x W + b)), forwards and backwards.

use super::math::{activate, derive};
use super::{chunks, chunks_mut, stride};
use crate::native::simd::{LANES, Simd};
use crate::program::Activation;

/// Rows of a matrix that lie apart: row r starts at `data[rows[r] · stride]`, or at `r · stride`
/// without `rows`.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) rows: Option<&'a [u32]>,
}

impl<'a> Matrix<'a> {
    #[inline(always)]
    fn row(&self, r: usize) -> &'a [f32] {
        let r = self.rows.map_or(r, |rows| rows[r] as usize);
        &self.data[r * self.stride..]
    }
}

/// The parameters of one layer y = f(β ∘ (x W + b)).
#[derive(Clone, Copy)]
pub(crate) struct Layer<'a> {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) weight: &'a [f32],
    pub(crate) bias: &'a [f32],
    pub(crate) beta: Option<&'a [f32]>,
    pub(crate) f: Activation,
}

/// Gradients of one layer, same shapes as its parameters.
pub(crate) struct LayerGrad<'a> {
    pub(crate) weight: &'a mut [f32],
    pub(crate) bias: &'a mut [f32],
    pub(crate) beta: Option<&'a mut [f32]>,
}

/// What backward needs of forward.
pub(crate) struct Saved<'a> {
    pub(crate) x: Matrix<'a>,
    /// Net inputs x W + b; empty if the layer has no sensitivities and f′ follows from y.
    pub(crate) net: &'a [f32],
    pub(crate) y: &'a [f32],
}

dispatched! {
    /// y = f(β ∘ (x W + b)) for `n` rows; the net inputs go to `net` unless it is empty.
    fn dense_forward(n: usize, layer: Layer<'_>, x: Matrix<'_>, net: &mut [f32], y: &mut [f32]) = forward_body;
}

dispatched! {
    /// Turns the adjoint of y in `dy` into that of the net inputs, adds to the gradients, and writes the
    /// adjoint of x to `dx` unless it is empty.
    fn dense_backward(
        n: usize, layer: Layer<'_>, saved: Saved<'_>, dy: &mut [f32], grad: LayerGrad<'_>, dx: &mut [f32],
    ) = backward_body;
}

/// f of one number: the first lane.
#[inline(always)]
fn single<S: Simd>(s: S, x: f32, f: impl Fn(S::V) -> S::V) -> f32 {
    let mut chunk = [0.0; LANES];
    s.store(&mut chunk, f(s.splat(x)));
    chunk[0]
}

/// Σ a b.
#[inline(always)]
fn dot<S: Simd>(s: S, a: &[f32], b: &[f32]) -> f32 {
    let (a, a_tail) = a.as_chunks::<LANES>();
    let (b, b_tail) = b.as_chunks::<LANES>();
    let mut acc = s.splat(0.0);
    for (a, b) in a.iter().zip(b) {
        acc = s.fma(s.load(a), s.load(b), acc);
    }
    a_tail.iter().zip(b_tail).fold(s.sum(acc), |sum, (a, b)| sum + a * b)
}

#[inline(always)]
fn forward_body<S: Simd>(s: S, n: usize, layer: Layer<'_>, x: Matrix<'_>, net: &mut [f32], y: &mut [f32]) {
    if layer.outputs == 1 {
        let beta = layer.beta.map_or(1.0, |b| b[0]);
        // Whole padded rows where the inputs are such, since the padding is 0 on both sides.
        let width = if x.rows.is_none() { stride(layer.inputs) } else { layer.inputs };
        for (r, y) in y.iter_mut().enumerate().take(n) {
            let sum = layer.bias[0] + dot(s, &x.row(r)[..width], &layer.weight[..width]);
            if let Some(net) = net.get_mut(r) {
                *net = sum;
            }
            *y = beta * sum;
        }
        // All rows at once: one activation costs as much as sixteen.
        let (whole, rest) = y[..n].as_chunks_mut::<LANES>();
        for y in whole {
            s.store(y, activate(s, layer.f, s.load(y)));
        }
        if !rest.is_empty() {
            let mut chunk = [0.0; LANES];
            chunk[..rest.len()].copy_from_slice(rest);
            let v = activate(s, layer.f, s.load(&chunk));
            s.store(&mut chunk, v);
            rest.copy_from_slice(&chunk[..rest.len()]);
        }
        return;
    }
    let stride = stride(layer.outputs);
    let width = stride / LANES;
    let mut c = 0;
    while c < width {
        // Several chunks at a time keep their sums in registers.
        let block = (width - c).min(S::BLOCK);
        match block {
            5 => forward_block::<S, 5>(s, n, c, layer, x, net, y),
            4 => forward_block::<S, 4>(s, n, c, layer, x, net, y),
            3 => forward_block::<S, 3>(s, n, c, layer, x, net, y),
            2 => forward_block::<S, 2>(s, n, c, layer, x, net, y),
            _ => forward_block::<S, 1>(s, n, c, layer, x, net, y),
        }
        c += block;
    }
    // f(0) ≠ 0: the padding must stay 0 for the next layer.
    if layer.f == Activation::Sigmoid {
        y.chunks_exact_mut(stride).for_each(|row| row[layer.outputs..].fill(0.0));
    }
}

/// Chunks `c..c + BLOCK` of every row, two rows at a time: their sums do not wait for each other, and each weight
/// is read once for both.
#[inline(always)]
fn forward_block<S: Simd, const BLOCK: usize>(
    s: S,
    n: usize,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    net: &mut [f32],
    y: &mut [f32],
) {
    let stride = stride(layer.outputs);
    let part = |data: &[f32]| -> [S::V; BLOCK] {
        let (data, _) = data[c * LANES..(c + BLOCK) * LANES].as_chunks();
        std::array::from_fn(|i| s.load(&data[i]))
    };
    let bias = part(layer.bias);
    let beta = layer.beta.map(part);
    let row_of = |r: usize| r * stride + c * LANES..r * stride + (c + BLOCK) * LANES;
    let mut r = 0;
    while r + 1 < n {
        let (mut acc0, mut acc1) = (bias, bias);
        let inputs = x.row(r)[..layer.inputs].iter().zip(&x.row(r + 1)[..layer.inputs]);
        for ((&x0, &x1), w) in inputs.zip(layer.weight.chunks_exact(stride)) {
            let (x0, x1, w) = (s.splat(x0), s.splat(x1), part(w));
            for i in 0..BLOCK {
                acc0[i] = s.fma(x0, w[i], acc0[i]);
                acc1[i] = s.fma(x1, w[i], acc1[i]);
            }
        }
        finish_row(s, layer.f, beta, acc0, row_of(r), net, y);
        finish_row(s, layer.f, beta, acc1, row_of(r + 1), net, y);
        r += 2;
    }
    if r < n {
        let mut acc = bias;
        for (&x, w) in x.row(r)[..layer.inputs].iter().zip(layer.weight.chunks_exact(stride)) {
            let (x, w) = (s.splat(x), part(w));
            for i in 0..BLOCK {
                acc[i] = s.fma(x, w[i], acc[i]);
            }
        }
        finish_row(s, layer.f, beta, acc, row_of(r), net, y);
    }
}

/// Writes the net inputs `acc`, unless `net` is empty, and y = f(β ∘ acc) to one place.
// A function and no closure: only functions can be made to inline, and nothing here may be left uncompiled for
// the instruction set.
#[inline(always)]
fn finish_row<S: Simd, const BLOCK: usize>(
    s: S,
    f: Activation,
    beta: Option<[S::V; BLOCK]>,
    acc: [S::V; BLOCK],
    at: std::ops::Range<usize>,
    net: &mut [f32],
    y: &mut [f32],
) {
    if let Some(net) = net.get_mut(at.clone()) {
        for (net, acc) in chunks_mut(net).iter_mut().zip(acc) {
            s.store(net, acc);
        }
    }
    let y = chunks_mut(&mut y[at]);
    for i in 0..BLOCK {
        let z = beta.map_or(acc[i], |beta| s.mul(acc[i], beta[i]));
        s.store(&mut y[i], activate(s, f, z));
    }
}

#[inline(always)]
fn backward_body<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    saved: Saved<'_>,
    dy: &mut [f32],
    grad: LayerGrad<'_>,
    dx: &mut [f32],
) {
    if layer.outputs == 1 {
        return backward_single(s, n, layer, saved, dy, grad, dx);
    }
    let stride = stride(layer.outputs);
    let LayerGrad { weight: gw, bias: gb, beta: mut gbeta } = grad;
    let dx_stride = self::stride(layer.inputs);
    for r in 0..n {
        let at = r * stride..(r + 1) * stride;
        let dy = chunks_mut(&mut dy[at.clone()]);
        for (c, d) in dy.iter_mut().enumerate() {
            let here = at.start + c * LANES;
            let net = saved.net.get(here..here + LANES).map_or(s.splat(0.0), |net| s.load(&chunks(net)[0]));
            let beta = layer.beta.map(|beta| s.load(&chunks(beta)[c]));
            let z = beta.map_or(net, |beta| s.mul(net, beta));
            let y = s.load(&chunks(&saved.y[at.clone()])[c]);
            let mut delta = derive(s, layer.f, s.load(d), y, z);
            if let (Some(gbeta), Some(beta)) = (gbeta.as_deref_mut(), beta) {
                let g = &mut chunks_mut(gbeta)[c];
                s.store(g, s.fma(delta, net, s.load(g)));
                delta = s.mul(delta, beta);
            }
            let g = &mut chunks_mut(gb)[c];
            s.store(g, s.add(s.load(g), delta));
            s.store(d, delta);
        }
        if !dx.is_empty() {
            let dx = &mut dx[r * dx_stride..][..layer.inputs];
            for (dx, w) in dx.iter_mut().zip(layer.weight.chunks_exact(stride)) {
                *dx = dot(s, w, dy.as_flattened());
            }
        }
    }
    let x_of = |r: usize| &saved.x.row(r)[..layer.inputs];
    let dy_of = |r: usize| chunks(&dy[r * stride..(r + 1) * stride]);
    let mut r = 0;
    // Two rows at a time read and write each chunk of the gradient half as often.
    while r + 1 < n {
        let (d0, d1) = (dy_of(r), dy_of(r + 1));
        for ((x0, x1), g) in x_of(r).iter().zip(x_of(r + 1)).zip(gw.chunks_exact_mut(stride)) {
            let (x0, x1) = (s.splat(*x0), s.splat(*x1));
            for ((g, d0), d1) in chunks_mut(g).iter_mut().zip(d0).zip(d1) {
                s.store(g, s.fma(x1, s.load(d1), s.fma(x0, s.load(d0), s.load(g))));
            }
        }
        r += 2;
    }
    if r < n {
        let d = dy_of(r);
        for (x, g) in x_of(r).iter().zip(gw.chunks_exact_mut(stride)) {
            let x = s.splat(*x);
            for (g, d) in chunks_mut(g).iter_mut().zip(d) {
                s.store(g, s.fma(x, s.load(d), s.load(g)));
            }
        }
    }
}

#[inline(always)]
fn backward_single<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    saved: Saved<'_>,
    dy: &mut [f32],
    grad: LayerGrad<'_>,
    dx: &mut [f32],
) {
    let beta = layer.beta.map_or(1.0, |b| b[0]);
    let dx_stride = stride(layer.inputs);
    // Values of width 1 and rows of the batch are not padded.
    let padded = saved.x.rows.is_none() && layer.inputs > 1;
    let (mut gb, mut gbeta) = (0.0, 0.0);
    for r in 0..n {
        let net = saved.net.get(r).copied().unwrap_or(0.0);
        let slope = single(s, saved.y[r], |y| derive(s, layer.f, s.splat(1.0), y, s.splat(beta * net)));
        let d = dy[r] * slope;
        gbeta += d * net;
        let d = d * beta;
        dy[r] = d;
        gb += d;
        let x = saved.x.row(r);
        if padded {
            let (x, width) = (chunks(x), stride(layer.inputs));
            let splat = s.splat(d);
            for (g, x) in chunks_mut(&mut grad.weight[..width]).iter_mut().zip(x) {
                s.store(g, s.fma(splat, s.load(x), s.load(g)));
            }
        } else {
            for (g, x) in grad.weight.iter_mut().zip(&x[..layer.inputs]) {
                *g += d * x;
            }
        }
        if dx_stride == 1 && !dx.is_empty() {
            dx[r] = d * layer.weight[0];
        } else if !dx.is_empty() {
            let splat = s.splat(d);
            let dx = chunks_mut(&mut dx[r * dx_stride..(r + 1) * dx_stride]);
            for (dx, w) in dx.iter_mut().zip(chunks(layer.weight)) {
                s.store(dx, s.mul(splat, s.load(w)));
            }
        }
    }
    grad.bias[0] += gb;
    if let Some(g) = grad.beta {
        g[0] += gbeta;
    }
}
