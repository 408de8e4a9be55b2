//! Types and loop macros for layers y = f(β ∘ (x W + b)), forward and backward.

use super::ZipInlineExt;
use crate::native::aligned::Aligned;
use crate::native::simd::{Chunk, LANES, Simd};
use crate::program::Activation;
use std::ops::Range;

/// A matrix with scattered rows: row r starts at `data[rows[r] · stride]`, or at `data[r · stride]` without `rows`.
#[derive(Clone, Copy)]
pub(crate) struct Matrix<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) rows: Option<&'a [u32]>,
    /// Whether neighbouring rows differ in few columns: see [`adept_rows::Rows::similar_neighbours`].
    pub(crate) similar_neighbours: bool,
}

impl<'a> Matrix<'a> {
    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> &'a [f32] {
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

/// Gradients of one layer, with the shapes of its parameters.
pub(crate) struct LayerGrad<'a> {
    pub(crate) weight: &'a mut [f32],
    pub(crate) bias: &'a mut [f32],
    pub(crate) beta: Option<&'a mut [f32]>,
}

/// Results of forward that backward needs.
pub(crate) struct Saved<'a> {
    pub(crate) x: Matrix<'a>,
    /// Net inputs x W + b of a layer with sensitivities, or slopes f′ of SiLU units without. May be empty for other
    /// layers, because f′ follows from y.
    pub(crate) kept: &'a [f32],
    pub(crate) y: &'a [f32],
}

/// Destination of the adjoint of x. Nothing is computed if `dx` is empty.
pub(crate) struct InputAdjoint<'a> {
    pub(crate) dx: &'a mut [f32],
    /// Buffer for transposed weights.
    pub(crate) scratch: &'a mut Aligned,
}

/// Rows that pass through all stages together, so that they stay in the cache.
pub(super) const ROWS: usize = 64;

/// The spans of at most [`ROWS`] rows that make up a range.
pub(super) fn spans(rows: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = rows.end;
    rows.step_by(ROWS).map(move |first| first..end.min(first + ROWS))
}

/// Calls `$tile::<S, C>` on blocks of C chunks that cover `$width`, of nearly equal size. Their sums for some of
/// `$items` rows stay in registers; with `tall`, for many rows.
macro_rules! in_blocks {
    (tall, $width:expr, |$c:ident| $tile:ident $args:tt) => {
        in_blocks!(@ S::TALL, S::TALL, $width, |$c| $tile $args);
    };
    ($items:expr, $width:expr, |$c:ident| $tile:ident $args:tt) => {
        const { assert!(S::TALL <= S::BLOCK && S::BLOCK <= 5, "larger blocks are not compiled") };
        let most = if $items * S::TALL >= S::SUMS { S::TALL } else { S::BLOCK };
        in_blocks!(@ most, S::BLOCK, $width, |$c| $tile $args);
    };
    (@ $most:expr, $limit:expr, $width:expr, |$c:ident| $tile:ident($($arg:expr),* $(,)?)) => {
        let width = $width;
        let (mut $c, mut left) = (0, width.div_ceil($most));
        while left > 0 {
            let block = (width - $c).div_ceil(left);
            match block {
                5 if const { $limit >= 5 } => $tile::<S, 5>($($arg),*),
                4 if const { $limit >= 4 } => $tile::<S, 4>($($arg),*),
                3 if const { $limit >= 3 } => $tile::<S, 3>($($arg),*),
                2 if const { $limit >= 2 } => $tile::<S, 2>($($arg),*),
                _ => $tile::<S, 1>($($arg),*),
            }
            $c += block;
            left -= 1;
        }
    };
}
pub(super) use in_blocks;

/// The blocks that [`in_blocks`] makes of `width` chunks for many rows: first chunk and number.
///
/// A weight in panels has the chunks of each block together, so that a tile reads memory in order: it needs fewer pages and fewer
/// sets of the cache at a time.
#[inline(always)]
pub(super) fn panels<S: Simd>(_: S, width: usize) -> impl Iterator<Item = (usize, usize)> {
    let (mut first, mut left) = (0, width.div_ceil(S::TALL));
    std::iter::from_fn(move || {
        let block = if left > 0 { (width - first).div_ceil(left) } else { return None };
        (first, left) = (first + block, left - 1);
        Some((first - block, block))
    })
}

/// Calls `$tile::<S, N, C>` for all of `$range`, N items at a time if N · C sums fit in the registers.
macro_rules! in_tiles {
    ($range:expr, |$at:ident| $tile:ident::<$c:ident>($($arg:expr),* $(,)?)) => {
        let range = $range;
        let (mut $at, end) = (range.start, range.end);
        while const { 12 * $c <= S::SUMS } && $at + 12 <= end {
            $tile::<S, 12, $c>($($arg),*);
            $at += 12;
        }
        while const { 8 * $c <= S::SUMS } && $at + 8 <= end {
            $tile::<S, 8, $c>($($arg),*);
            $at += 8;
        }
        while const { 6 * $c <= S::SUMS } && $at + 6 <= end {
            $tile::<S, 6, $c>($($arg),*);
            $at += 6;
        }
        while const { 4 * $c <= S::SUMS } && $at + 4 <= end {
            $tile::<S, 4, $c>($($arg),*);
            $at += 4;
        }
        while const { 2 * $c <= S::SUMS } && $at + 2 <= end {
            $tile::<S, 2, $c>($($arg),*);
            $at += 2;
        }
        while $at < end {
            $tile::<S, 1, $c>($($arg),*);
            $at += 1;
        }
    };
}
pub(super) use in_tiles;

/// Chunks `at..at + C`, whose number the compiler then knows.
#[inline(always)]
pub(super) fn block<const C: usize>(chunks: &[Chunk], at: usize) -> &[Chunk; C] {
    chunks[at..at + C].as_array().expect("C chunks")
}

/// Like [`block`].
#[inline(always)]
pub(super) fn block_mut<const C: usize>(chunks: &mut [Chunk], at: usize) -> &mut [Chunk; C] {
    chunks[at..at + C].as_mut_array().expect("C chunks")
}

/// Σ a b.
#[inline(always)]
pub(super) fn dot<S: Simd>(s: S, a: &[f32], b: &[f32]) -> f32 {
    let (a, a_tail) = a.as_chunks::<LANES>();
    let (b, b_tail) = b.as_chunks::<LANES>();
    let mut acc = s.splat(0.0);
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    for i in 0..n {
        acc = s.fma(s.load(&a[i]), s.load(&b[i]), acc);
    }
    a_tail.iter().zip_inline(b_tail).fold(s.sum(acc), |sum, (a, b)| sum + a * b)
}

/// Up to sixteen numbers, padded with zeros.
#[inline(always)]
pub(super) fn padded(part: &[f32]) -> Chunk {
    let mut chunk = [0.0; LANES];
    for (to, from) in chunk.iter_mut().zip_inline(part) {
        *to = *from;
    }
    chunk
}

/// Adds xᵀ d of some rows to the gradient of K inputs from `k` on, for layers of C chunks.
#[inline(always)]
pub(super) fn whole_tile<S: Simd, const K: usize, const C: usize>(
    s: S,
    k: usize,
    inputs: &[&[f32]],
    d: &[[Chunk; C]],
    grad: &mut [Chunk],
) {
    let grad: &mut [[Chunk; C]] = &mut grad.as_chunks_mut().0[k..k + K];
    let mut sums = [[s.splat(0.0); C]; K];
    for (sums, g) in sums.iter_mut().zip_inline(grad.iter()) {
        for j in 0..C {
            sums[j] = s.load(&g[j]);
        }
    }
    for (x, d) in inputs.iter().zip_inline(d) {
        let mut delta = [s.splat(0.0); C];
        for j in 0..C {
            delta[j] = s.load(&d[j]);
        }
        let x = &x[k..k + K];
        for i in 0..K {
            let x = s.splat(x[i]);
            for j in 0..C {
                sums[i][j] = s.fma(x, delta[j], sums[i][j]);
            }
        }
    }
    for (sums, g) in sums.iter().zip_inline(grad) {
        for j in 0..C {
            s.store(&mut g[j], sums[j]);
        }
    }
}
