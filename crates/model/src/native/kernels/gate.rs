//! Kernels of gates: softmax (Wiering & Kröse, §2.1) and selection threshold (§2.3).

use super::ZipInlineExt;
use super::math::exp;
use super::{chunks, chunks_mut, stride};
use crate::native::simd::{LANES, Simd};

dispatched! {
    /// Weights sᵢ from net inputs aᵢ in `x`, over the first `width` columns of `n` padded rows.
    ///
    /// gᵢ = exp(aᵢ) / Σⱼ exp(aⱼ). Without a threshold sᵢ = gᵢ. With a threshold ST, sᵢ = gᵢ if gᵢ > ST, otherwise 0;
    /// then sᵢ ← sᵢ / Σⱼ sⱼ. If no gate passes, s = 1 for the largest gate, the first of equals.
    fn gate(n: usize, width: usize, threshold: Option<f32>, x: &[f32], weights: &mut [f32]) = gate_body;
}

#[inline(always)]
fn gate_body<S: Simd>(s: S, n: usize, width: usize, threshold: Option<f32>, x: &[f32], weights: &mut [f32]) {
    if width > LANES / 2 {
        gate_wide(s, n, width, x, weights);
    } else {
        gate_narrow(s, n, width, x, weights);
    }
    // A separate pass, because its branches are hard to predict.
    if let Some(threshold) = threshold {
        for w in weights[..n * stride(width)].chunks_exact_mut(stride(width)) {
            select(s, threshold, w);
        }
    }
}

/// Softmax of sixteen rows at a time, one row per lane, for gates much narrower than a register.
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

/// Softmax row by row.
#[inline(always)]
fn gate_wide<S: Simd>(s: S, n: usize, width: usize, x: &[f32], weights: &mut [f32]) {
    let stride = stride(width);
    let mut padding = [f32::NEG_INFINITY; LANES];
    padding[..width + LANES - stride].fill(0.0);
    let padding = s.load(&padding);
    for (x, row) in x.chunks_exact(stride).zip_inline(weights.chunks_exact_mut(stride)).take(n) {
        let (x, w) = (chunks(x), chunks_mut(row));
        let last = x.len() - 1;
        let mut max = s.add(s.load(&x[last]), padding);
        for x in &x[..last] {
            max = s.at_least(s.load(x), max);
        }
        // The maximum may hide a NaN; the sum does not.
        let max = s.splat(s.max(max));
        let mut sum = s.splat(0.0);
        for (i, (x, w)) in x.iter().zip_inline(w.iter_mut()).enumerate() {
            let mut e = exp(s, s.sub(s.load(x), max));
            if i == last {
                e = s.where_positive(s.add(padding, s.splat(1.0)), e);
            }
            s.store(w, e);
            sum = s.add(sum, e);
        }
        let sum = s.splat(s.sum(sum));
        for w in w.iter_mut() {
            s.store(w, s.div(s.load(w), sum));
        }
    }
}

/// Applies the threshold ST to a row: sᵢ = gᵢ if gᵢ > ST, otherwise 0, divided by Σⱼ sⱼ. If no gate passes, s = 1 for
/// the largest gate, the first of equals.
#[inline(always)]
fn select<S: Simd>(s: S, threshold: f32, row: &mut [f32]) {
    if let [w] = row {
        // 1 or NaN.
        *w /= *w;
        return;
    }
    let threshold = s.splat(threshold);
    let (mut sum, mut largest) = (s.splat(0.0), s.splat(0.0));
    for w in chunks(row) {
        let w = s.load(w);
        sum = s.add(sum, s.where_positive(s.sub(w, threshold), w));
        largest = s.at_least(w, largest);
    }
    let sum = s.sum(sum);
    if sum > 0.0 {
        for w in chunks_mut(row) {
            let passed = s.where_positive(s.sub(s.load(w), threshold), s.load(w));
            s.store(w, s.div(passed, s.splat(sum)));
        }
        return;
    }
    let largest = s.max(largest);
    // Keeps a NaN gate visible instead of selecting an expert.
    let (at, alone) = match row.iter().position(|w| *w == largest) {
        Some(at) if !row[0].is_nan() => (at, 1.0),
        _ => (0, f32::NAN),
    };
    row.fill(0.0);
    row[at] = alone;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::simd::Isa;

    /// Compares narrow and wide gates, with and without a threshold, with the definition in f64.
    #[test]
    fn gates_follow_their_definition() {
        for isa in Isa::available() {
            for (width, n) in [(1, 3), (2, 5), (3, 16), (8, 17), (9, 4), (16, 21), (17, 2), (40, 3)] {
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
}
