//! Loops that do nothing but multiply or read: what the kernels are measured against.

use super::{ZipInlineExt, chunks};
use crate::native::simd::{Chunk, LANES, Simd};

dispatched! {
    /// `turns` times as many multiply-adds on each of the sums that fit in the registers. Adds their number to `done`; their sum
    /// replaces `x`, so that no compiler leaves them out.
    fn fma_loop(turns: usize, done: &mut usize, x: &mut Chunk) = fma_body;
}

dispatched! {
    /// Adds all numbers to `sums`, `turns` times.
    fn read_loop(turns: usize, data: &[f32], sums: &mut Chunk) = read_body;
}

#[inline(always)]
fn fma_body<S: Simd>(s: S, turns: usize, done: &mut usize, x: &mut Chunk) {
    if S::SUMS >= 16 {
        fma_sums::<S, 16>(s, turns, done, x);
    } else if S::SUMS >= 6 {
        fma_sums::<S, 6>(s, turns, done, x);
    } else if S::SUMS >= 4 {
        fma_sums::<S, 4>(s, turns, done, x);
    } else {
        fma_sums::<S, 3>(s, turns, done, x);
    }
}

#[inline(always)]
fn fma_sums<S: Simd, const N: usize>(s: S, turns: usize, done: &mut usize, x: &mut Chunk) {
    let (a, b) = (s.load(x), s.splat(0.5));
    let mut sums = [a; N];
    for _ in 0..turns {
        for sum in &mut sums {
            *sum = s.fma(*sum, b, a);
        }
    }
    let total = sums.into_iter().fold(s.splat(0.0), |total, sum| s.add(total, sum));
    s.store(x, total);
    *done += turns * N * LANES;
}

#[inline(always)]
fn read_body<S: Simd>(s: S, turns: usize, data: &[f32], sums: &mut Chunk) {
    let data = chunks(data);
    for _ in 0..turns {
        let mut total = [s.load(sums); 8];
        for eight in data.chunks_exact(8) {
            for (total, chunk) in total.iter_mut().zip_inline(eight) {
                *total = s.add(*total, s.load(chunk));
            }
        }
        let total = total.into_iter().fold(s.splat(0.0), |total, sum| s.add(total, sum));
        s.store(sums, total);
    }
}
