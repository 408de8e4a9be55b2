//! Kernels of residual nodes: a prior corrected by a network, y = tanh(atanh(p) + z).

use super::ZipInlineExt;
use super::math::{derive, exp};
use super::stride;
use crate::native::simd::{Chunk, LANES, Simd};
use crate::program::{Activation, PRIOR_LIMIT};

/// The priors of some rows: one column of the dense part of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prior<'a> {
    pub(crate) dense: &'a [f32],
    /// Number of columns of the dense part.
    pub(crate) stride: usize,
    pub(crate) column: usize,
    /// Rows of the batch.
    pub(crate) rows: &'a [u32],
}

impl Prior<'_> {
    #[inline(always)]
    fn of(&self, row: u32) -> f32 {
        self.dense[row as usize * self.stride + self.column]
    }
}

dispatched! {
    /// y = tanh(atanh(p) + z) for the rows of the prior, with padded values and p clamped to ±[`PRIOR_LIMIT`].
    fn residual(width: usize, prior: Prior<'_>, z: &[f32], y: &mut [f32]) = residual_body;
}

dispatched! {
    /// dz = dy (1 − y²): the adjoint of z.
    fn residual_backward(dy: &[f32], y: &[f32], dz: &mut [f32]) = backward_body;
}

#[inline(always)]
fn residual_body<S: Simd>(s: S, width: usize, prior: Prior<'_>, z: &[f32], y: &mut [f32]) {
    let rows = prior.rows;
    if width == 1 {
        // One number per row: sixteen rows in the lanes.
        for ((rows, z), y) in rows.chunks(LANES).zip_inline(z.chunks(LANES)).zip_inline(y.chunks_mut(LANES)) {
            let (mut p, mut chunk) = ([0.0; LANES], [0.0; LANES]);
            p.iter_mut().zip_inline(rows).for_each(|(p, &row)| *p = prior.of(row));
            chunk[..rows.len()].copy_from_slice(&z[..rows.len()]);
            let v = correct(s, s.load(&p), s.load(&chunk));
            s.store(&mut chunk, v);
            y[..rows.len()].copy_from_slice(&chunk[..rows.len()]);
        }
        return;
    }
    let stride = stride(width);
    for ((&row, z), y) in
        rows.iter().zip_inline(z.chunks_exact(stride)).zip_inline(y.chunks_exact_mut(stride))
    {
        let p = s.splat(prior.of(row));
        for (z, y) in z.as_chunks().0.iter().zip_inline(y.as_chunks_mut().0) {
            s.store(y, correct(s, p, s.load(z)));
        }
        // z = 0 gives p.
        y[width..].fill(0.0);
    }
}

/// tanh(atanh(p) + z) = p + a b (1 − e) / (a + b e) with a = 1 + p, b = 1 − p, e = exp(−2z).
///
/// The form (p + t) / (1 + p t) with t = tanh(z) is too inaccurate in 32 bits: for t near ∓1 and p near ±1 it divides
/// two rounding errors. The form used here has no such cancellation, and z = 0 gives exactly p.
#[inline(always)]
pub(super) fn correct<S: Simd>(s: S, p: S::V, z: S::V) -> S::V {
    let one = s.splat(1.0);
    let within = |x, limit: f32| s.at_most(s.at_least(x, s.splat(-limit)), s.splat(limit));
    let p = within(p, PRIOR_LIMIT);
    let (a, b) = (s.add(one, p), s.sub(one, p));
    // At most e⁸⁸, so that b e does not overflow.
    let e = exp(s, s.mul(z, s.splat(-2.0)));
    let moved = s.div(s.mul(s.mul(a, b), s.sub(one, e)), s.fma(b, e, a));
    // Rounding may exceed ±1 by a bit.
    within(s.add(p, moved), 1.0)
}

#[inline(always)]
fn backward_body<S: Simd>(s: S, dy: &[f32], y: &[f32], dz: &mut [f32]) {
    let ((dy, dy_rest), (y, y_rest)) = (dy.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let (dz, dz_rest) = dz.as_chunks_mut::<LANES>();
    let pull = |dy: &Chunk, y: &Chunk, dz: &mut Chunk| {
        let y = s.load(y);
        s.store(dz, derive(s, Activation::Tanh, s.load(dy), y, y));
    };
    for ((dy, y), dz) in dy.iter().zip_inline(y).zip_inline(dz) {
        pull(dy, y, dz);
    }
    let n = dz_rest.len();
    let (mut last_dy, mut last_y, mut last_dz) = ([0.0; LANES], [0.0; LANES], [0.0; LANES]);
    last_dy[..n].copy_from_slice(dy_rest);
    last_y[..n].copy_from_slice(y_rest);
    pull(&last_dy, &last_y, &mut last_dz);
    dz_rest.copy_from_slice(&last_dz[..n]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::simd::Isa;

    /// Compares y and its derivative with the addition theorem in f64, on every instruction set, for widths and row
    /// counts around the chunk size, for priors over the whole range and for z far beyond saturation.
    #[test]
    fn corrections_are_close_to_exact() {
        let priors = [0.0, 0.3, -0.3, 0.999, -0.999, 0.999_999, 1.0, -1.0, 1e-9];
        for isa in Isa::available() {
            for (n, width) in [(1, 1), (15, 1), (16, 1), (37, 1), (3, 2), (2, 16), (9, 17)] {
                let stride = stride(width);
                // Uses every third row of a batch with two columns.
                let rows: Vec<u32> = (0..n as u32).map(|r| 3 * r).collect();
                let dense: Vec<f32> = (0..6 * n).map(|i| priors[i % priors.len()]).collect();
                let z: Vec<f32> = (0..n * stride)
                    .map(|i| if i % stride < width { ((i * 37) % 101) as f32 * 0.4 - 20.0 } else { 0.0 })
                    .collect();
                let mut y = vec![f32::NAN; n * stride];
                let prior = Prior { dense: &dense, stride: 2, column: 1, rows: &rows };
                residual(isa, width, prior, &z, &mut y);
                let dy: Vec<f32> = (0..n * stride).map(|i| (i as f32).sin()).collect();
                let mut dz = vec![f32::NAN; n * stride];
                residual_backward(isa, &dy, &y, &mut dz);
                for (r, row) in rows.iter().enumerate() {
                    let limit = f64::from(PRIOR_LIMIT);
                    let p = f64::from(dense[*row as usize * 2 + 1]).clamp(-limit, limit);
                    for (i, z) in z[r * stride..(r + 1) * stride].iter().enumerate() {
                        let (found, slope) = (y[r * stride + i], dz[r * stride + i]);
                        if i >= width {
                            assert_eq!(found, 0.0, "{isa:?}: padding");
                            continue;
                        }
                        let t = f64::from(*z).tanh();
                        let exact = (p + t) / (1.0 + p * t);
                        let gap = (f64::from(found) - exact).abs();
                        assert!(
                            gap <= 4e-7 && found.abs() <= 1.0,
                            "{isa:?}: {p} and {z} give {found}, exactly {exact}"
                        );
                        let exact = f64::from(dy[r * stride + i]) * (1.0 - exact * exact);
                        assert!(
                            (f64::from(slope) - exact).abs() <= 1e-6,
                            "{isa:?}: {slope}, exactly {exact}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn no_correction_gives_the_prior_and_infinite_ones_the_ends() {
        let dense = [0.1, -0.7, 1.0, -1.0, 3e-8, f32::NAN, 0.5];
        let rows: Vec<u32> = (0..7).collect();
        let prior = Prior { dense: &dense, stride: 1, column: 0, rows: &rows };
        for isa in Isa::available() {
            let mut y = [0.0; 7];
            let mut run = |z: [f32; 7]| {
                residual(isa, 1, prior, &z, &mut y);
                y
            };
            let still = run([0.0, 0.0, 0.0, -0.0, 0.0, 0.0, f32::NAN]);
            assert_eq!(still[..5], [0.1, -0.7, PRIOR_LIMIT, -PRIOR_LIMIT, 3e-8], "{isa:?}");
            assert!(still[5].is_nan() && still[6].is_nan(), "{isa:?}: {still:?}");
            for end in [1.0, -1.0] {
                for z in [end * 44.0, end * 1e30, end * f32::INFINITY] {
                    let far = run([z; 7]);
                    let there = far[..5].iter().all(|y| (y - end).abs() <= 1e-7 && y.abs() <= 1.0);
                    assert!(there && far[5].is_nan(), "{isa:?}: {far:?}");
                }
            }
        }
    }
}
