//! The inner loops of the native engine, compiled for each instruction set and picked at run time.
//!
//! Every matrix row is padded with zeros to a multiple of [`LANES`] numbers, so that all loops run over
//! whole chunks; a width of 1 stays 1. Weights have shape `[inputs, padded outputs]`, so that one input
//! times one row of weights is a vector operation; with a single output they are one padded column.

use crate::program::Activation;

/// Numbers in a chunk: one AVX-512 register, two of AVX2, four of NEON.
pub(crate) const LANES: usize = 16;

type Chunk = [f32; LANES];

/// Row length of a value or weight of that width.
pub(crate) fn stride(width: usize) -> usize {
    if width == 1 { 1 } else { width.next_multiple_of(LANES) }
}

/// Instruction sets with a version of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// What the target has by default (SSE2 on x86-64, NEON on ARM).
    Portable,
    /// AVX2 with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, VL, DQ.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// All that this machine can run, best first.
    pub fn available() -> Vec<Self> {
        let mut all = vec![];
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            if avx2
                && is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
            {
                all.push(Self::Avx512);
            }
            if avx2 {
                all.push(Self::Avx2);
            }
        }
        all.push(Self::Portable);
        all
    }

    /// The best that this machine can run.
    pub fn detect() -> Self {
        Self::available()[0]
    }
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
    Sgd { rate: f32, decay: f32 },
    Momentum { rate: f32, decay: f32, momentum: f32 },
    /// `rate` and `epsilon` already carry the bias corrections.
    Adam { rate: f32, decay: f32, beta1: f32, beta2: f32, epsilon: f32 },
}

/// Defines `$name`, which runs `$body::<FMA>` compiled for the instruction set at hand.
macro_rules! dispatched {
    ($(#[$meta:meta])* fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $out:ty)? = $body:ident;) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        pub(crate) fn $name(isa: Isa, $($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512vl,avx512dq,avx2,fma")]
                fn avx512($($arg: $type),*) $(-> $out)? { $body::<true>($($arg),*) }
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $type),*) $(-> $out)? { $body::<true>($($arg),*) }
                match isa {
                    // SAFETY: `Isa::Avx512` is only made where these features were detected.
                    Isa::Avx512 => return unsafe { avx512($($arg),*) },
                    // SAFETY: likewise.
                    Isa::Avx2 => return unsafe { avx2($($arg),*) },
                    Isa::Portable => {}
                }
            }
            let _ = isa;
            $body::<{ cfg!(target_arch = "aarch64") }>($($arg),*)
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
    /// out = x − ln Σ eˣ over the first `width` columns, for `n` rows of padded values.
    fn log_softmax(n: usize, width: usize, x: &[f32], out: &mut [f32]) = log_softmax_body;
}

dispatched! {
    /// `weights` = e^`logs`, elementwise.
    fn exp_all(logs: &[f32], weights: &mut [f32]) = exp_all_body;
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

#[inline(always)]
fn fma<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// eˣ to about 1e-7 relative; x below −87 gives e⁻⁸⁷, NaN stays NaN.
#[inline(always)]
fn exp<const FMA: bool>(x: f32) -> f32 {
    const MAGIC: f32 = 12_582_912.0; // 1.5 · 2²³: adding it rounds to an integer, kept in the low bits
    // Comparisons rather than min and max, which would turn NaN into a number.
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = fma::<FMA>(x, std::f32::consts::LOG2_E, MAGIC);
    let n = shifted - MAGIC;
    let r = fma::<FMA>(n, -0.693_359_4, x);
    let r = fma::<FMA>(n, 2.121_944_4e-4, r);
    let mut p = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = fma::<FMA>(p, r, c);
    }
    p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23))
}

#[inline(always)]
fn activate<const FMA: bool>(f: Activation, z: &mut Chunk) {
    match f {
        Activation::Tanh => {
            for v in z.iter_mut() {
                let t = exp::<FMA>(-2.0 * v.abs());
                *v = ((1.0 - t) / (1.0 + t)).copysign(*v);
            }
        }
        Activation::Sigmoid => z.iter_mut().for_each(|v| *v = 1.0 / (1.0 + exp::<FMA>(-*v))),
        Activation::Relu => z.iter_mut().for_each(|v| *v = if *v < 0.0 { 0.0 } else { *v }),
        Activation::Silu => z.iter_mut().for_each(|v| *v /= 1.0 + exp::<FMA>(-*v)),
        Activation::Linear => {}
    }
}

/// Multiplies the adjoint of y by f′, given y and z = β · net.
#[inline(always)]
fn derive<const FMA: bool>(f: Activation, dy: &mut Chunk, y: &Chunk, z: &Chunk) {
    match f {
        Activation::Tanh => {
            for (d, y) in dy.iter_mut().zip(y) {
                *d *= fma::<FMA>(-y, *y, 1.0);
            }
        }
        Activation::Sigmoid => dy.iter_mut().zip(y).for_each(|(d, y)| *d *= y * (1.0 - y)),
        Activation::Relu => dy.iter_mut().zip(y).for_each(|(d, y)| *d = if *y > 0.0 { *d } else { 0.0 }),
        Activation::Silu => {
            for (d, z) in dy.iter_mut().zip(z) {
                let s = 1.0 / (1.0 + exp::<FMA>(-z));
                *d *= s * fma::<FMA>(*z, 1.0 - s, 1.0);
            }
        }
        Activation::Linear => {}
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

#[inline(always)]
fn add_product<const FMA: bool>(acc: &mut Chunk, a: f32, b: &Chunk) {
    for (acc, b) in acc.iter_mut().zip(b) {
        *acc = fma::<FMA>(a, *b, *acc);
    }
}

#[inline(always)]
fn dot<const FMA: bool>(a: &[f32], b: &[f32]) -> f32 {
    let mut acc = [0.0; LANES];
    for (a, b) in chunks(a).iter().zip(chunks(b)) {
        for ((acc, a), b) in acc.iter_mut().zip(a).zip(b) {
            *acc = fma::<FMA>(*a, *b, *acc);
        }
    }
    // A fixed tree, so that the sum vectorises and does not depend on the instruction set's width.
    let mut half = LANES / 2;
    while half > 0 {
        for i in 0..half {
            acc[i] += acc[i + half];
        }
        half /= 2;
    }
    let (tail_a, tail_b) = (a.as_chunks::<LANES>().1, b.as_chunks::<LANES>().1);
    tail_a.iter().zip(tail_b).fold(acc[0], |sum, (a, b)| fma::<FMA>(*a, *b, sum))
}

#[inline(always)]
fn forward_body<const FMA: bool>(
    n: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    net: &mut [f32],
    y: &mut [f32],
) {
    if layer.outputs == 1 {
        let beta = layer.beta.map_or(1.0, |b| b[0]);
        for (r, y) in y.iter_mut().enumerate().take(n) {
            let sum = layer.bias[0] + dot::<FMA>(&x.row(r)[..layer.inputs], &layer.weight[..layer.inputs]);
            if let Some(net) = net.get_mut(r) {
                *net = sum;
            }
            *y = single_activation::<FMA>(layer.f, beta * sum);
        }
        return;
    }
    let stride = stride(layer.outputs);
    let width = stride / LANES;
    let mut c = 0;
    while c < width {
        // Four chunks at a time keep their sums in registers.
        let block = (width - c).min(4);
        match block {
            4 => forward_block::<FMA, 4>(n, c, layer, x, net, y),
            3 => forward_block::<FMA, 3>(n, c, layer, x, net, y),
            2 => forward_block::<FMA, 2>(n, c, layer, x, net, y),
            _ => forward_block::<FMA, 1>(n, c, layer, x, net, y),
        }
        c += block;
    }
    // f(0) ≠ 0: the padding must stay 0 for the next layer.
    if layer.f == Activation::Sigmoid {
        y.chunks_exact_mut(stride).for_each(|row| row[layer.outputs..].fill(0.0));
    }
}

/// Chunks `c..c + BLOCK` of every row.
#[inline(always)]
fn forward_block<const FMA: bool, const BLOCK: usize>(
    n: usize,
    c: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    net: &mut [f32],
    y: &mut [f32],
) {
    let stride = stride(layer.outputs);
    for r in 0..n {
        let mut acc = [[0.0; LANES]; BLOCK];
        acc.copy_from_slice(&chunks(layer.bias)[c..c + BLOCK]);
        for (&x, w) in x.row(r)[..layer.inputs].iter().zip(layer.weight.chunks_exact(stride)) {
            let w: &[Chunk] = &chunks(w)[c..c + BLOCK];
            for (acc, w) in acc.iter_mut().zip(w) {
                add_product::<FMA>(acc, x, w);
            }
        }
        let at = r * stride + c * LANES..r * stride + (c + BLOCK) * LANES;
        if let Some(net) = net.get_mut(at.clone()) {
            chunks_mut(net).copy_from_slice(&acc);
        }
        if let Some(beta) = layer.beta {
            for (acc, beta) in acc.iter_mut().zip(&chunks(beta)[c..c + BLOCK]) {
                acc.iter_mut().zip(beta).for_each(|(a, b)| *a *= b);
            }
        }
        for acc in &mut acc {
            activate::<FMA>(layer.f, acc);
        }
        chunks_mut(&mut y[at]).copy_from_slice(&acc);
    }
}

#[inline(always)]
fn single_activation<const FMA: bool>(f: Activation, z: f32) -> f32 {
    // Scalar forms of the formulas above: a chunk would waste fifteen lanes.
    match f {
        Activation::Tanh => {
            let t = exp::<FMA>(-2.0 * z.abs());
            ((1.0 - t) / (1.0 + t)).copysign(z)
        }
        Activation::Sigmoid => 1.0 / (1.0 + exp::<FMA>(-z)),
        Activation::Silu => z / (1.0 + exp::<FMA>(-z)),
        Activation::Relu => {
            if z < 0.0 {
                0.0
            } else {
                z
            }
        }
        Activation::Linear => z,
    }
}

#[inline(always)]
fn backward_body<const FMA: bool>(
    n: usize,
    layer: Layer<'_>,
    saved: Saved<'_>,
    dy: &mut [f32],
    grad: LayerGrad<'_>,
    dx: &mut [f32],
) {
    if layer.outputs == 1 {
        return backward_single::<FMA>(n, layer, saved, dy, grad, dx);
    }
    let stride = stride(layer.outputs);
    let LayerGrad { weight: gw, bias: gb, beta: mut gbeta } = grad;
    let dx_stride = self::stride(layer.inputs);
    for r in 0..n {
        let at = r * stride..(r + 1) * stride;
        let dy = &mut dy[at.clone()];
        for (c, d) in chunks_mut(dy).iter_mut().enumerate() {
            let here = r * stride + c * LANES;
            let mut z = [0.0; LANES];
            if let Some(net) = saved.net.get(here..here + LANES) {
                z.copy_from_slice(net);
            }
            let net = z;
            if let Some(beta) = layer.beta {
                z.iter_mut().zip(&chunks(beta)[c]).for_each(|(z, b)| *z *= b);
            }
            derive::<FMA>(layer.f, d, &chunks(&saved.y[at.clone()])[c], &z);
            if let (Some(gbeta), Some(beta)) = (gbeta.as_deref_mut(), layer.beta) {
                for ((g, d), net) in chunks_mut(gbeta)[c].iter_mut().zip(d.iter()).zip(&net) {
                    *g = fma::<FMA>(*d, *net, *g);
                }
                d.iter_mut().zip(&chunks(beta)[c]).for_each(|(d, b)| *d *= b);
            }
            chunks_mut(gb)[c].iter_mut().zip(d.iter()).for_each(|(g, d)| *g += d);
        }
        let dy = chunks(dy);
        for (&x, g) in saved.x.row(r)[..layer.inputs].iter().zip(gw.chunks_exact_mut(stride)) {
            for (g, d) in chunks_mut(g).iter_mut().zip(dy) {
                add_product::<FMA>(g, x, d);
            }
        }
        if !dx.is_empty() {
            let dx = &mut dx[r * dx_stride..][..layer.inputs];
            for (dx, w) in dx.iter_mut().zip(layer.weight.chunks_exact(stride)) {
                *dx = dot::<FMA>(w, dy.as_flattened());
            }
        }
    }
}

#[inline(always)]
fn backward_single<const FMA: bool>(
    n: usize,
    layer: Layer<'_>,
    saved: Saved<'_>,
    dy: &mut [f32],
    grad: LayerGrad<'_>,
    dx: &mut [f32],
) {
    let beta = layer.beta.map_or(1.0, |b| b[0]);
    let dx_stride = stride(layer.inputs);
    let (mut gb, mut gbeta) = (0.0, 0.0);
    for r in 0..n {
        let net = saved.net.get(r).copied().unwrap_or(0.0);
        let mut d = [0.0; LANES];
        let (mut y, mut z) = ([0.0; LANES], [0.0; LANES]);
        (d[0], y[0], z[0]) = (dy[r], saved.y[r], beta * net);
        derive::<FMA>(layer.f, &mut d, &y, &z);
        gbeta += d[0] * net;
        let d = d[0] * beta;
        dy[r] = d;
        gb += d;
        let x = &saved.x.row(r)[..layer.inputs];
        for (g, x) in grad.weight.iter_mut().zip(x) {
            *g = fma::<FMA>(d, *x, *g);
        }
        if !dx.is_empty() {
            for (dx, w) in dx[r * dx_stride..][..layer.inputs].iter_mut().zip(layer.weight) {
                *dx = d * w;
            }
        }
    }
    grad.bias[0] += gb;
    if let Some(g) = grad.beta {
        g[0] += gbeta;
    }
}

#[inline(always)]
fn log_softmax_body<const FMA: bool>(n: usize, width: usize, x: &[f32], out: &mut [f32]) {
    let stride = stride(width);
    for (x, out) in x.chunks_exact(stride).zip(out.chunks_exact_mut(stride)).take(n) {
        let x = &x[..width];
        let max = x.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
        let sum: f32 = x.iter().map(|v| exp::<FMA>(v - max)).sum();
        let log = max + sum.ln();
        for (o, v) in out.iter_mut().zip(x) {
            *o = v - log;
        }
    }
}

#[inline(always)]
fn exp_all_body<const FMA: bool>(logs: &[f32], weights: &mut [f32]) {
    for (w, l) in weights.iter_mut().zip(logs) {
        *w = if *l == f32::NEG_INFINITY { 0.0 } else { exp::<FMA>(*l) };
    }
}

#[inline(always)]
fn step_body<const FMA: bool>(
    rule: StepRule,
    params: &mut [f32],
    grad: &mut [f32],
    first: &mut [f32],
    second: &mut [f32],
) {
    match rule {
        StepRule::Sgd { rate, decay } => {
            let keep = 1.0 - rate * decay;
            for (p, g) in params.iter_mut().zip(grad.iter()) {
                *p = fma::<FMA>(-rate, *g, keep * *p);
            }
        }
        StepRule::Momentum { rate, decay, momentum } => {
            let keep = 1.0 - rate * decay;
            for ((p, g), m) in params.iter_mut().zip(grad.iter()).zip(first) {
                *m = fma::<FMA>(momentum, *m, *g);
                *p = fma::<FMA>(-rate, *m, keep * *p);
            }
        }
        StepRule::Adam { rate, decay, beta1, beta2, epsilon } => {
            let keep = 1.0 - decay;
            for (((p, g), m), v) in params.iter_mut().zip(grad.iter()).zip(first).zip(second) {
                *m = fma::<FMA>(beta1, *m, (1.0 - beta1) * g);
                *v = fma::<FMA>(beta2, *v, (1.0 - beta2) * g * g);
                *p = keep * *p - rate * *m / (v.sqrt() + epsilon);
            }
        }
    }
    grad.fill(0.0);
}

#[inline(always)]
fn scale_add_body<const FMA: bool>(scale: f32, a: &mut [f32], b: &[f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = fma::<FMA>(scale, *a, *b);
    }
}

#[inline(always)]
fn add_scaled_body<const FMA: bool>(scale: f32, a: &mut [f32], b: &[f32]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = fma::<FMA>(scale, *b, *a);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_tanh_are_close_on_every_instruction_set() {
        for isa in Isa::available() {
            let x: Vec<f32> = (-4000..=4000).map(|i| i as f32 * 0.02).collect();
            let mut y = vec![0.0; x.len()];
            exp_all(isa, &x, &mut y);
            for (x, y) in x.iter().zip(&y) {
                let exact = f64::from(*x).exp();
                assert!((f64::from(*y) - exact).abs() <= 4e-7 * exact, "{isa:?}: exp({x}) = {y}, exactly {exact}");
            }
        }
    }

    #[test]
    fn nan_survives_every_activation() {
        use Activation::*;
        for f in [Tanh, Sigmoid, Relu, Silu, Linear] {
            let mut chunk = [f32::NAN; LANES];
            activate::<true>(f, &mut chunk);
            assert!(chunk[0].is_nan() && single_activation::<true>(f, f32::NAN).is_nan(), "{f:?}");
        }
    }
}
