//! Gates: softmax and selection threshold.

use super::math::exp;
use super::stride;
use crate::native::simd::{LANES, Simd};

dispatched! {
    /// weights = eˣ / Σ eˣ over the first `width` columns, for `n` rows of padded values; with a threshold ST
    /// those above it divided by their sum, or the largest alone if none is (the first of equals).
    fn gate(n: usize, width: usize, threshold: Option<f32>, x: &[f32], weights: &mut [f32]) = gate_body;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::simd::Isa;

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
}
