//! Kernels of mixture nodes, forward and backward: log weights, output, likelihood and posteriors.
//!
//! Symbols as in [`Hme`](crate::architecture::Hme): net inputs aᵢ, weights sᵢ, outputs yᵢ, log densities ℓᵢ,
//! likelihood L = ln Σᵢ sᵢ exp(ℓᵢ) (Wiering & Kröse, §2.1), posteriors hᵢ. `x` holds aᵢ, `a` holds the adjoint of the
//! node's result.

use super::ZipInlineExt;
use super::math::exp;
use super::{chunks, chunks_mut, stride};
use crate::native::simd::{LANES, Simd};

dispatched! {
    /// ln sᵢ = aᵢ − ln Σⱼ exp(aⱼ), the sum over the selected experts; −∞ for the other experts and in the padding.
    /// Exact even if sᵢ underflows. Without a threshold `all` is true, and an expert whose weight rounds to 0 still
    /// counts as selected.
    fn log_weights(n: usize, width: usize, all: bool, x: &[f32], weights: &[f32], logs: &mut [f32]) =
        log_weights_body;
}

dispatched! {
    /// daᵢ = dᵢ − sᵢ Σⱼ dⱼ from the adjoints dᵢ of ln sᵢ, given in `a`. With dᵢ = hᵢ: ∂L/∂aᵢ = hᵢ − sᵢ.
    fn gate_backward(n: usize, width: usize, weights: &[f32], a: &[f32], dx: &mut [f32]) = gate_backward_body;
}

dispatched! {
    /// y = Σᵢ sᵢ yᵢ for each row, for two or more experts with one output (Wiering & Kröse, §2.1).
    fn blend(n: usize, experts: usize, weights: &[f32], y: &[f32], out: &mut [f32]) = blend_body;
}

dispatched! {
    /// Adds the adjoints of ln sᵢ, a sᵢ yᵢ, and of yᵢ, a sᵢ, for the adjoint `a` of y.
    fn blend_backward(
        experts: usize, a: &[f32], weights: &[f32], y: &[f32], dg: &mut [f32], dy: &mut [f32],
    ) = blend_backward_body;
}

dispatched! {
    /// L = ln Σᵢ sᵢ exp(ℓᵢ) for each row, from ln sᵢ and ℓᵢ.
    fn log_mix(n: usize, width: usize, logs: &[f32], densities: &[f32], out: &mut [f32]) = log_mix_body;
}

dispatched! {
    /// Adds a hᵢ to the adjoints of ln sᵢ and ℓᵢ in `to`, for the adjoint `a` of L; hᵢ = exp(ln sᵢ + ℓᵢ − L).
    fn log_mix_backward(
        width: usize, a: &[f32], mix: &[f32], logs: &[f32], densities: &[f32], to: (&mut [f32], &mut [f32]),
    ) = log_mix_backward_body;
}

#[inline(always)]
fn log_weights_body<S: Simd>(
    s: S,
    n: usize,
    width: usize,
    all: bool,
    x: &[f32],
    weights: &[f32],
    logs: &mut [f32],
) {
    if width == 1 {
        // The weight is 1 or NaN; ln 1 = 0.
        logs.iter_mut().zip_inline(weights).take(n).for_each(|(log, w)| *log = w - 1.0);
        return;
    }
    let per_row = stride(width) / LANES;
    let mut last = [f32::NEG_INFINITY; LANES];
    last[..width - (per_row - 1) * LANES].fill(0.0);
    let last = s.load(&last);
    let one = s.splat(1.0);
    let rows = chunks(x).chunks_exact(per_row).zip_inline(chunks(weights).chunks_exact(per_row));
    for ((x, w), logs) in rows.zip_inline(chunks_mut(logs).chunks_exact_mut(per_row)).take(n) {
        let (mut top_x, mut top_w) = (s.splat(f32::NEG_INFINITY), s.splat(0.0));
        for (i, ((x, w), log)) in x.iter().zip_inline(w).zip_inline(logs.iter_mut()).enumerate() {
            let (mut x, w) = (s.load(x), s.load(w));
            if !all {
                // Adds 0 for a selected expert (1 − 1/1) and −∞ for another (1 − 1/0).
                x = s.add(x, s.sub(one, s.div(one, s.where_positive(w, one))));
            }
            if i == per_row - 1 {
                x = s.add(x, last);
            }
            s.store(log, x);
            (top_x, top_w) = (s.at_least(x, top_x), s.at_least(w, top_w));
        }
        // ln Σ exp(aⱼ) = aᵢ − ln sᵢ for any i. The largest sᵢ, at the largest aᵢ, gives the least rounding error.
        let norm = s.splat(s.max(top_x) - s.max(top_w).ln());
        for log in logs {
            s.store(log, s.sub(s.load(log), norm));
        }
    }
}

#[inline(always)]
fn gate_backward_body<S: Simd>(s: S, n: usize, width: usize, weights: &[f32], a: &[f32], dx: &mut [f32]) {
    if width == 1 {
        dx.iter_mut().zip_inline(weights).zip_inline(a).take(n).for_each(|((dx, w), a)| *dx = a - w * a);
        return;
    }
    let per_row = stride(width) / LANES;
    let rows = chunks(a).chunks_exact(per_row).zip_inline(chunks(weights).chunks_exact(per_row));
    for ((a, w), dx) in rows.zip_inline(chunks_mut(dx).chunks_exact_mut(per_row)).take(n) {
        let mut total = s.splat(0.0);
        for a in a {
            total = s.add(total, s.load(a));
        }
        let minus = s.splat(-s.sum(total));
        for ((a, w), dx) in a.iter().zip_inline(w).zip_inline(dx) {
            s.store(dx, s.fma(s.load(w), minus, s.load(a)));
        }
    }
}

#[inline(always)]
fn blend_body<S: Simd>(s: S, n: usize, experts: usize, weights: &[f32], y: &[f32], out: &mut [f32]) {
    let per_row = stride(experts) / LANES;
    let rows = chunks(weights).chunks_exact(per_row).zip_inline(chunks(y).chunks_exact(per_row));
    for ((w, y), out) in rows.zip_inline(out).take(n) {
        let mut sum = s.splat(0.0);
        for (w, y) in w.iter().zip_inline(y) {
            sum = s.fma(s.load(w), s.load(y), sum);
        }
        *out = s.sum(sum);
    }
}

#[inline(always)]
fn blend_backward_body<S: Simd>(
    s: S,
    experts: usize,
    a: &[f32],
    weights: &[f32],
    y: &[f32],
    dg: &mut [f32],
    dy: &mut [f32],
) {
    let per_row = stride(experts) / LANES;
    let (weights, y) = (chunks(weights), chunks(y));
    let (dg, dy) = (chunks_mut(dg), chunks_mut(dy));
    for (r, a) in a.iter().enumerate() {
        let a = s.splat(*a);
        for at in r * per_row..(r + 1) * per_row {
            let d = s.mul(a, s.load(&weights[at]));
            let (dg, dy) = (&mut dg[at], &mut dy[at]);
            s.store(dg, s.fma(d, s.load(&y[at]), s.load(dg)));
            s.store(dy, s.add(s.load(dy), d));
        }
    }
}

#[inline(always)]
fn log_mix_body<S: Simd>(s: S, n: usize, width: usize, logs: &[f32], densities: &[f32], out: &mut [f32]) {
    if width == 1 {
        out.iter_mut().zip_inline(logs).zip_inline(densities).take(n).for_each(|((out, g), l)| *out = g + l);
        return;
    }
    let per_row = stride(width) / LANES;
    let rows = chunks(logs).chunks_exact(per_row).zip_inline(chunks(densities).chunks_exact(per_row));
    for ((logs, densities), out) in rows.zip_inline(out).take(n) {
        let mut max = s.splat(f32::NEG_INFINITY);
        for (g, l) in logs.iter().zip_inline(densities) {
            max = s.at_least(s.add(s.load(g), s.load(l)), max);
        }
        let max = s.max(max);
        let mut sum = s.splat(0.0);
        for (g, l) in logs.iter().zip_inline(densities) {
            // `exp` clamps at e⁻⁸⁷, so terms far below the maximum, even −∞, add less than a rounding error.
            sum = s.add(sum, exp(s, s.sub(s.add(s.load(g), s.load(l)), s.splat(max))));
        }
        *out = max + s.sum(sum).ln();
    }
}

#[inline(always)]
fn log_mix_backward_body<S: Simd>(
    s: S,
    width: usize,
    a: &[f32],
    mix: &[f32],
    logs: &[f32],
    densities: &[f32],
    (dg, dl): (&mut [f32], &mut [f32]),
) {
    if width == 1 {
        dg.iter_mut().zip_inline(a).for_each(|(d, a)| *d += a);
        dl.iter_mut().zip_inline(a).for_each(|(d, a)| *d += a);
        return;
    }
    let per_row = stride(width) / LANES;
    let (logs, densities) = (chunks(logs), chunks(densities));
    let (dg, dl) = (chunks_mut(dg), chunks_mut(dl));
    for (r, (a, mix)) in a.iter().zip_inline(mix).enumerate() {
        let (a, mix) = (s.splat(*a), s.splat(*mix));
        for at in r * per_row..(r + 1) * per_row {
            // hᵢ = sᵢ exp(ℓᵢ) / P = exp(ln sᵢ + ℓᵢ − L). Clamped to 0 below e⁻⁸⁷, where `exp` stops falling; so an
            // expert that is not selected gets 0.
            let log = s.sub(s.add(s.load(&logs[at]), s.load(&densities[at])), mix);
            let h = s.where_positive(s.add(log, s.splat(87.0)), exp(s, log));
            let d = s.mul(a, h);
            let (dg, dl) = (&mut dg[at], &mut dl[at]);
            s.store(dg, s.add(s.load(dg), d));
            s.store(dl, s.add(s.load(dl), d));
        }
    }
}
