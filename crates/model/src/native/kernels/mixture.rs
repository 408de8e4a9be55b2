//! What mixtures do with gates: log weights, blends of single outputs, log densities.

use super::BesideExt;
use super::math::exp;
use super::{chunks, chunks_mut, stride};
use crate::native::simd::{LANES, Simd};

dispatched! {
    /// ln sᵢ of the selected experts from net inputs x and weights, exact also where sᵢ is too small for a float;
    /// −∞ for others and in the padding. Without a threshold `all` are selected, even one whose weight rounds
    /// to 0.
    fn log_weights(n: usize, width: usize, all: bool, x: &[f32], weights: &[f32], logs: &mut [f32]) =
        log_weights_body;
}

dispatched! {
    /// dx from the adjoints `a` of ln sᵢ = xᵢ − ln Σ eˣ, the sum over the experts that are selected.
    fn gate_backward(n: usize, width: usize, weights: &[f32], a: &[f32], dx: &mut [f32]) = gate_backward_body;
}

dispatched! {
    /// Σ sᵢ yᵢ for each row of several experts with one output.
    fn blend(n: usize, experts: usize, weights: &[f32], y: &[f32], out: &mut [f32]) = blend_body;
}

dispatched! {
    /// Adds the adjoints of ln sᵢ and yᵢ, given those of Σ sᵢ yᵢ in `a`.
    fn blend_backward(
        experts: usize, a: &[f32], weights: &[f32], y: &[f32], dg: &mut [f32], dy: &mut [f32],
    ) = blend_backward_body;
}

dispatched! {
    /// ln Σ sᵢ exp lᵢ for each row, from ln sᵢ and lᵢ.
    fn log_mix(n: usize, width: usize, logs: &[f32], densities: &[f32], out: &mut [f32]) = log_mix_body;
}

dispatched! {
    /// Adds the adjoints of ln sᵢ and lᵢ `to` these, given those of the mixture in `a`.
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
        // The weight is 1, or NaN.
        logs.iter_mut().beside(weights).take(n).for_each(|(log, w)| *log = w - 1.0);
        return;
    }
    let per_row = stride(width) / LANES;
    let mut last = [f32::NEG_INFINITY; LANES];
    last[..width - (per_row - 1) * LANES].fill(0.0);
    let last = s.load(&last);
    let one = s.splat(1.0);
    let rows = chunks(x).chunks_exact(per_row).beside(chunks(weights).chunks_exact(per_row));
    for ((x, w), logs) in rows.beside(chunks_mut(logs).chunks_exact_mut(per_row)).take(n) {
        let (mut top_x, mut top_w) = (s.splat(f32::NEG_INFINITY), s.splat(0.0));
        for (i, ((x, w), log)) in x.iter().beside(w).beside(logs.iter_mut()).enumerate() {
            let (mut x, w) = (s.load(x), s.load(w));
            if !all {
                // 1 − 1/1 = 0 and 1 − 1/0 = −∞.
                x = s.add(x, s.sub(one, s.div(one, s.where_positive(w, one))));
            }
            if i == per_row - 1 {
                x = s.add(x, last);
            }
            s.store(log, x);
            (top_x, top_w) = (s.at_least(x, top_x), s.at_least(w, top_w));
        }
        // The largest x belongs to the largest s, and no other sᵢ tells ln Σ eˣ as exactly.
        let norm = s.splat(s.max(top_x) - s.max(top_w).ln());
        for log in logs {
            s.store(log, s.sub(s.load(log), norm));
        }
    }
}

#[inline(always)]
fn gate_backward_body<S: Simd>(s: S, n: usize, width: usize, weights: &[f32], a: &[f32], dx: &mut [f32]) {
    if width == 1 {
        dx.iter_mut().beside(weights).beside(a).take(n).for_each(|((dx, w), a)| *dx = a - w * a);
        return;
    }
    let per_row = stride(width) / LANES;
    let rows = chunks(a).chunks_exact(per_row).beside(chunks(weights).chunks_exact(per_row));
    for ((a, w), dx) in rows.beside(chunks_mut(dx).chunks_exact_mut(per_row)).take(n) {
        let mut total = s.splat(0.0);
        for a in a {
            total = s.add(total, s.load(a));
        }
        let minus = s.splat(-s.sum(total));
        for ((a, w), dx) in a.iter().beside(w).beside(dx) {
            s.store(dx, s.fma(s.load(w), minus, s.load(a)));
        }
    }
}

#[inline(always)]
fn blend_body<S: Simd>(s: S, n: usize, experts: usize, weights: &[f32], y: &[f32], out: &mut [f32]) {
    let per_row = stride(experts) / LANES;
    let rows = chunks(weights).chunks_exact(per_row).beside(chunks(y).chunks_exact(per_row));
    for ((w, y), out) in rows.beside(out).take(n) {
        let mut sum = s.splat(0.0);
        for (w, y) in w.iter().beside(y) {
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
        out.iter_mut().beside(logs).beside(densities).take(n).for_each(|((out, g), l)| *out = g + l);
        return;
    }
    let per_row = stride(width) / LANES;
    let rows = chunks(logs).chunks_exact(per_row).beside(chunks(densities).chunks_exact(per_row));
    for ((logs, densities), out) in rows.beside(out).take(n) {
        let mut max = s.splat(f32::NEG_INFINITY);
        for (g, l) in logs.iter().beside(densities) {
            max = s.at_least(s.add(s.load(g), s.load(l)), max);
        }
        let max = s.max(max);
        let mut sum = s.splat(0.0);
        for (g, l) in logs.iter().beside(densities) {
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
        dg.iter_mut().beside(a).for_each(|(d, a)| *d += a);
        dl.iter_mut().beside(a).for_each(|(d, a)| *d += a);
        return;
    }
    let per_row = stride(width) / LANES;
    let (logs, densities) = (chunks(logs), chunks(densities));
    let (dg, dl) = (chunks_mut(dg), chunks_mut(dl));
    for (r, (a, mix)) in a.iter().beside(mix).enumerate() {
        let (a, mix) = (s.splat(*a), s.splat(*mix));
        for at in r * per_row..(r + 1) * per_row {
            // The posterior responsibility of this expert for the target; 0 if not selected.
            let log = s.sub(s.add(s.load(&logs[at]), s.load(&densities[at])), mix);
            let h = s.where_positive(s.add(log, s.splat(87.0)), exp(s, log));
            let d = s.mul(a, h);
            let (dg, dl) = (&mut dg[at], &mut dl[at]);
            s.store(dg, s.add(s.load(dg), d));
            s.store(dl, s.add(s.load(dl), d));
        }
    }
}
