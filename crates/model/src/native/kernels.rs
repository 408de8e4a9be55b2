//! The inner loops of the native engine, generic over the instruction set and picked at run time.
//!
//! Every matrix row is padded with zeros to a multiple of [`LANES`] numbers, so that all loops run over
//! whole chunks; a width of 1 stays 1. Weights have shape `[inputs, padded outputs]`, so that one input
//! times one row of weights is a vector operation; with a single output they are one padded column.

#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Chunk, Isa, LANES, Portable, Simd};
use crate::program::Activation;

/// Row length of a value or weight of that width.
pub(crate) fn stride(width: usize) -> usize {
    if width == 1 { 1 } else { width.next_multiple_of(LANES) }
}

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

/// Settings of one optimiser step on one span of parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StepRule {
    Sgd {
        rate: f32,
        decay: f32,
    },
    Momentum {
        rate: f32,
        decay: f32,
        momentum: f32,
    },
    /// `rate` and `epsilon` already carry the bias corrections.
    Adam {
        rate: f32,
        decay: f32,
        beta1: f32,
        beta2: f32,
        epsilon: f32,
    },
}

/// Defines `$name`, which runs `$body` compiled for the instruction set at hand.
macro_rules! dispatched {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) = $body:ident;) => {
        $(#[$meta])*
        pub(crate) fn $name(isa: Isa, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512dq,avx2,fma")]
                fn avx512($($arg: $type),*) {
                    // SAFETY: these are the features of this function.
                    $body(unsafe { Avx512::new() }, $($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $type),*) {
                    // SAFETY: these are the features of this function.
                    $body(unsafe { Avx2::new() }, $($arg),*)
                }
                match isa {
                    // SAFETY: a network takes only instruction sets that were detected.
                    Isa::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: likewise.
                    Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    Isa::Portable => {}
                }
            }
            let _ = isa;
            $body(Portable, $($arg),*)
        }
    };
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

dispatched! {
    /// weights = eˣ / Σ eˣ over the first `width` columns, for `n` rows of padded values; with a threshold ST
    /// those above it divided by their sum, or the largest alone if none is (the first of equals).
    fn gate(n: usize, width: usize, threshold: Option<f32>, x: &[f32], weights: &mut [f32]) = gate_body;
}

dispatched! {
    /// One optimiser step on a span; the gradient is set to 0. `first` and `second` are the moments that
    /// the rule keeps, else empty.
    fn step(
        rule: StepRule, params: &mut [f32], grad: &mut [f32], first: &mut [f32], second: &mut [f32],
    ) = step_body;
}

dispatched! {
    /// a = scale · a + b.
    fn scale_add(scale: f32, a: &mut [f32], b: &[f32]) = scale_add_body;
}

dispatched! {
    /// a = a + scale · b.
    fn add_scaled(scale: f32, a: &mut [f32], b: &[f32]) = add_scaled_body;
}

/// eˣ to about 2e-7 relative for x in [−87, 88]; beyond, the value at that end. NaN stays NaN.
#[inline(always)]
fn exp<S: Simd>(s: S, x: S::V) -> S::V {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to an integer, kept in the low bits
    let x = s.at_most(s.at_least(x, s.splat(-87.0)), s.splat(88.0));
    let shifted = s.fma(x, s.splat(std::f32::consts::LOG2_E), s.splat(MAGIC));
    let n = s.sub(shifted, s.splat(MAGIC));
    // r = x − n ln 2, with ln 2 in two parts so that the first product is exact.
    let r = s.fma(n, s.splat(-0.693_359_4), x);
    let r = s.fma(n, s.splat(2.121_944_4e-4), r);
    // The Taylor polynomial: |r| ≤ 0.347 leaves 4e-9.
    let mut p = s.splat(1.0 / 5040.0);
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = s.fma(p, r, s.splat(c));
    }
    s.mul(p, s.exp2_of_low_bits(shifted))
}

#[inline(always)]
fn sigmoid<S: Simd>(s: S, z: S::V) -> S::V {
    let one = s.splat(1.0);
    s.div(one, s.add(one, exp(s, s.sub(s.splat(0.0), z))))
}

/// tanh to 5e-7: x P(x²) / Q(x²), fitted on [−8.2, 8.2] for the least relative error (8e-9 before rounding), P
/// scaled down by 2⁻²² so that rounding cannot lead out of [−1, 1].
#[inline(always)]
fn tanh<S: Simd>(s: S, x: S::V) -> S::V {
    const END: f32 = 8.2;
    const DOWN: f64 = 1.0 - 1.0 / (1 << 22) as f64;
    const P: [f64; 5] = [1.0, 0.134_321_11, 0.003_556_672_5, 2.163_705_2e-5, 1.484_025_5e-8];
    const Q: [f32; 5] = [1.0, 0.467_654_38, 0.026_108_244, 3.386_418_7e-4, 8.370_479e-7];
    let x = s.at_most(s.at_least(x, s.splat(-END)), s.splat(END));
    let u = s.mul(x, x);
    let (mut p, mut q) = (s.splat((P[4] * DOWN) as f32), s.splat(Q[4]));
    for i in (0..4).rev() {
        p = s.fma(p, u, s.splat((P[i] * DOWN) as f32));
        q = s.fma(q, u, s.splat(Q[i]));
    }
    s.div_near(s.mul(x, p), q)
}

#[inline(always)]
fn activate<S: Simd>(s: S, f: Activation, z: S::V) -> S::V {
    match f {
        Activation::Tanh => tanh(s, z),
        Activation::Sigmoid => sigmoid(s, z),
        Activation::Relu => s.at_least(z, s.splat(0.0)),
        Activation::Silu => s.mul(z, sigmoid(s, z)),
        Activation::Linear => z,
    }
}

/// Multiplies the adjoint `d` of y by f′, given y and z = β · net.
#[inline(always)]
fn derive<S: Simd>(s: S, f: Activation, d: S::V, y: S::V, z: S::V) -> S::V {
    let one = s.splat(1.0);
    match f {
        Activation::Tanh => s.mul(d, s.sub(one, s.mul(y, y))),
        Activation::Sigmoid => s.mul(d, s.mul(y, s.sub(one, y))),
        Activation::Relu => s.where_positive(y, d),
        Activation::Silu => {
            let g = sigmoid(s, z);
            s.mul(d, s.mul(g, s.fma(z, s.sub(one, g), one)))
        }
        Activation::Linear => d,
    }
}

#[inline(always)]
fn chunks(data: &[f32]) -> &[Chunk] {
    data.as_chunks().0
}

#[inline(always)]
fn chunks_mut(data: &mut [f32]) -> &mut [Chunk] {
    data.as_chunks_mut().0
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

#[inline(always)]
fn gate_body<S: Simd>(s: S, n: usize, width: usize, threshold: Option<f32>, x: &[f32], weights: &mut [f32]) {
    let stride = stride(width);
    if width <= LANES {
        gate_narrow(s, n, width, x, weights);
    } else {
        for r in 0..n {
            gate_wide(s, &x[r * stride..][..width], &mut weights[r * stride..][..width]);
        }
    }
    if let Some(threshold) = threshold {
        for w in weights[..n * stride].chunks_exact_mut(stride) {
            select(threshold, &mut w[..width]);
        }
    }
}

/// Softmax of up to sixteen rows side by side, a row a lane: most gates are far narrower than a register.
#[inline(always)]
fn gate_narrow<S: Simd>(s: S, n: usize, width: usize, x: &[f32], weights: &mut [f32]) {
    let stride = stride(width);
    let mut columns = [[0.0; LANES]; LANES];
    for first in (0..n).step_by(LANES) {
        let rows = LANES.min(n - first);
        for (e, column) in columns[..width].iter_mut().enumerate() {
            for (r, lane) in column[..rows].iter_mut().enumerate() {
                *lane = x[(first + r) * stride + e];
            }
        }
        let mut max = s.load(&columns[0]);
        for column in &columns[1..width] {
            max = s.at_least(max, s.load(column));
        }
        let mut sum = s.splat(0.0);
        for column in &mut columns[..width] {
            let e = exp(s, s.sub(s.load(column), max));
            s.store(column, e);
            sum = s.add(sum, e);
        }
        for (e, column) in columns[..width].iter_mut().enumerate() {
            let w = s.div(s.load(column), sum);
            s.store(column, w);
            for (r, lane) in column[..rows].iter().enumerate() {
                weights[(first + r) * stride + e] = *lane;
            }
        }
    }
}

/// Softmax of one row.
#[inline(always)]
fn gate_wide<S: Simd>(s: S, x: &[f32], weights: &mut [f32]) {
    let max = x.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
    let mut sum = 0.0;
    for (x, w) in x.chunks(LANES).zip(weights.chunks_mut(LANES)) {
        let mut chunk = [0.0; LANES];
        chunk[..x.len()].copy_from_slice(x);
        let e = exp(s, s.sub(s.load(&chunk), s.splat(max)));
        s.store(&mut chunk, e);
        w.copy_from_slice(&chunk[..w.len()]);
        sum += w.iter().sum::<f32>();
    }
    weights.iter_mut().for_each(|w| *w /= sum);
}

/// Keeps what is above the threshold, divided by its sum, or the largest alone.
#[inline(always)]
fn select(threshold: f32, weights: &mut [f32]) {
    let sum: f32 = weights.iter().filter(|w| **w > threshold).sum();
    if sum > 0.0 {
        weights.iter_mut().for_each(|w| *w = if *w > threshold { *w / sum } else { 0.0 });
        return;
    }
    let mut largest = 0;
    for (i, w) in weights.iter().enumerate() {
        if *w > weights[largest] {
            largest = i;
        }
    }
    // A NaN gate must not hide behind a certain choice.
    let alone = if weights[largest].is_nan() { f32::NAN } else { 1.0 };
    weights.fill(0.0);
    weights[largest] = alone;
}

#[inline(always)]
fn step_body<S: Simd>(
    s: S,
    rule: StepRule,
    params: &mut [f32],
    grad: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    let (params, grad) = (chunks_whole(params), chunks_whole(grad));
    let (first, second) = (chunks_whole(first), chunks_whole(second));
    let zero = s.splat(0.0);
    match rule {
        StepRule::Sgd { rate, decay } => {
            let (rate, keep) = (s.splat(-rate), s.splat(1.0 - rate * decay));
            for (p, g) in params.iter_mut().zip(grad.iter_mut()) {
                s.store(p, s.fma(rate, s.load(g), s.mul(keep, s.load(p))));
                s.store(g, zero);
            }
        }
        StepRule::Momentum { rate, decay, momentum } => {
            let (rate, keep, momentum) = (s.splat(-rate), s.splat(1.0 - rate * decay), s.splat(momentum));
            for ((p, g), m) in params.iter_mut().zip(grad.iter_mut()).zip(first) {
                let moved = s.fma(momentum, s.load(m), s.load(g));
                s.store(m, moved);
                s.store(p, s.fma(rate, moved, s.mul(keep, s.load(p))));
                s.store(g, zero);
            }
        }
        StepRule::Adam { rate, decay, beta1, beta2, epsilon } => {
            let (rate, keep, epsilon) = (s.splat(-rate), s.splat(1.0 - decay), s.splat(epsilon));
            let (b1, c1) = (s.splat(beta1), s.splat(1.0 - beta1));
            let (b2, c2) = (s.splat(beta2), s.splat(1.0 - beta2));
            for (((p, g), m), v) in params.iter_mut().zip(grad.iter_mut()).zip(first).zip(second) {
                let gradient = s.load(g);
                let mean = s.fma(b1, s.load(m), s.mul(c1, gradient));
                let square = s.fma(b2, s.load(v), s.mul(c2, s.mul(gradient, gradient)));
                s.store(m, mean);
                s.store(v, square);
                let step = s.div(mean, s.add(s.sqrt(square), epsilon));
                s.store(p, s.fma(rate, step, s.mul(keep, s.load(p))));
                s.store(g, zero);
            }
        }
    }
}

#[inline(always)]
fn scale_add_body<S: Simd>(s: S, scale: f32, a: &mut [f32], b: &[f32]) {
    let scale = s.splat(scale);
    for (a, b) in chunks_whole(a).iter_mut().zip(chunks(b)) {
        s.store(a, s.fma(scale, s.load(a), s.load(b)));
    }
}

#[inline(always)]
fn add_scaled_body<S: Simd>(s: S, scale: f32, a: &mut [f32], b: &[f32]) {
    let scale = s.splat(scale);
    for (a, b) in chunks_whole(a).iter_mut().zip(chunks(b)) {
        s.store(a, s.fma(scale, s.load(b), s.load(a)));
    }
}

/// The chunks of a span of parameters, which is padded to whole ones.
#[inline(always)]
fn chunks_whole(data: &mut [f32]) -> &mut [Chunk] {
    assert_eq!(data.len() % LANES, 0);
    chunks_mut(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    dispatched! {
        /// y = f(x), elementwise.
        fn activate_all(f: Activation, x: &[Chunk], y: &mut [Chunk]) = activate_all_body;
    }

    fn activate_all_body<S: Simd>(s: S, f: Activation, x: &[Chunk], y: &mut [Chunk]) {
        for (x, y) in x.iter().zip(y) {
            s.store(y, activate(s, f, s.load(x)));
        }
    }

    /// Every instruction set against f64, over the range in which units work and beyond.
    #[test]
    fn activations_are_close_to_exact() {
        use Activation::*;
        let x: Vec<f32> = (-4096..4096).map(|i| i as f32 * 0.02).collect();
        for isa in Isa::available() {
            for f in [Tanh, Sigmoid, Relu, Silu, Linear] {
                let mut y = vec![[0.0; LANES]; x.len() / LANES];
                activate_all(isa, f, chunks(&x), &mut y);
                for (x, y) in x.iter().zip(y.as_flattened()) {
                    let z = f64::from(*x);
                    let exact = match f {
                        Tanh => z.tanh(),
                        Sigmoid => 1.0 / (1.0 + (-z).exp()),
                        Relu => z.max(0.0),
                        Silu => z / (1.0 + (-z).exp()),
                        Linear => z,
                    };
                    let error = (f64::from(*y) - exact).abs();
                    let bounded = f != Tanh || y.abs() <= 1.0;
                    assert!(
                        bounded && error <= 3e-7 * (1.0 + exact.abs()),
                        "{isa:?} {f:?}({x}) = {y}, exactly {exact}"
                    );
                }
            }
        }
    }

    dispatched! {
        /// y = eˣ, elementwise.
        fn exp_all(x: &[Chunk], y: &mut [Chunk]) = exp_all_body;
    }

    fn exp_all_body<S: Simd>(s: S, x: &[Chunk], y: &mut [Chunk]) {
        for (x, y) in x.iter().zip(y) {
            s.store(y, exp(s, s.load(x)));
        }
    }

    #[test]
    fn exp_is_close_to_exact() {
        for isa in Isa::available() {
            let x: Vec<f32> = (-4096..4096).map(|i| i as f32 * 0.02).collect();
            let mut y = vec![[0.0; LANES]; x.len() / LANES];
            exp_all(isa, chunks(&x), &mut y);
            for (x, y) in x.iter().zip(y.as_flattened()) {
                let exact = f64::from(*x).exp();
                assert!(
                    (f64::from(*y) - exact).abs() <= 4e-7 * exact,
                    "{isa:?}: exp({x}) = {y}, exactly {exact}"
                );
            }
        }
    }

    /// Narrow and wide gates, with and without a threshold, against the definition in f64.
    #[test]
    fn gates_follow_their_definition() {
        for isa in Isa::available() {
            for (width, n) in [(1, 3), (2, 5), (3, 16), (16, 21), (17, 2), (40, 3)] {
                let stride = stride(width);
                let x: Vec<f32> = (0..n * stride).map(|i| ((i * 37) % 23) as f32 * 0.3 - 3.0).collect();
                for threshold in [None, Some(0.3), Some(0.9)] {
                    let mut weights = vec![0.0; n * stride];
                    gate(isa, n, width, threshold, &x, &mut weights);
                    for r in 0..n {
                        let e: Vec<f64> =
                            x[r * stride..][..width].iter().map(|v| f64::from(*v).exp()).collect();
                        let sum: f64 = e.iter().sum();
                        let g: Vec<f64> = e.iter().map(|e| e / sum).collect();
                        let passes = |g: f64| threshold.is_none_or(|t| g > f64::from(t));
                        let passed: f64 = g.iter().copied().filter(|g| passes(*g)).sum();
                        let top = g.iter().copied().fold(0.0, f64::max);
                        let first = g.iter().position(|g| (g - top).abs() < 1e-9).unwrap();
                        for (i, w) in weights[r * stride..][..width].iter().enumerate() {
                            let exact = match () {
                                () if passed == 0.0 => f64::from(u8::from(i == first)),
                                () if passes(g[i]) => g[i] / passed,
                                () => 0.0,
                            };
                            let close = (f64::from(*w) - exact).abs() < 1e-6;
                            assert!(close, "{isa:?}, {width} wide, {threshold:?}: {w}, exactly {exact}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn nan_survives_every_activation() {
        use Activation::*;
        for isa in Isa::available() {
            for f in [Tanh, Sigmoid, Relu, Silu, Linear] {
                let mut y = [[0.0; LANES]];
                activate_all(isa, f, &[[f32::NAN; LANES]], &mut y);
                assert!(y[0].iter().all(|v| v.is_nan()), "{isa:?} {f:?}");
            }
        }
    }
}
