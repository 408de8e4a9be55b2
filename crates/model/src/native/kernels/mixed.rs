//! Experts of one small hidden layer and a single output, each row with its own expert.
//!
//! Rows need not be sorted by expert. Units are in lanes: half a register if there are at most eight of them. Sums run
//! in the same order as in the other kernels of these layers, so all give the same bits.

use super::ZipInlineExt;
use super::dense::Matrix;
use super::math::finish;
use crate::native::simd::{Chunk, LANES, Simd};
use crate::program::Activation;

/// Most units of the hidden layer.
pub(crate) const MOST_UNITS: usize = LANES;
/// Number of rows whose sums are computed together, to hide the latency of an addition.
const TOGETHER: usize = 4;
/// Lanes of half a register.
const HALF: usize = LANES / 2;

/// Experts of one form: y = head_f(head_bias + head · f(x · weight + bias)).
#[derive(Clone, Copy)]
pub(crate) struct Mixed<'a> {
    pub(crate) inputs: usize,
    pub(crate) units: usize,
    pub(crate) f: Activation,
    pub(crate) head_f: Activation,
    /// For each expert, in pieces of [`lanes`] numbers: the bias, the head, the head's bias, the weights of each input.
    pub(crate) packed: &'a [f32],
}

/// Lanes that the units take: half a register, or a whole one.
pub(crate) fn lanes(units: usize) -> usize {
    if units <= HALF { HALF } else { LANES }
}

/// Pieces before the weights.
const BEFORE: usize = 3;

dispatched! {
    /// The output of expert `experts[r]` for each row r.
    fn mixed_forward(mixed: Mixed<'_>, experts: &[u32], x: Matrix<'_>, y: &mut [f32]) = mixed_body;
}

#[inline(always)]
fn mixed_body<S: Simd>(s: S, mixed: Mixed<'_>, experts: &[u32], x: Matrix<'_>, y: &mut [f32]) {
    let narrow = mixed.units <= HALF;
    for (tile, (experts, y)) in experts.chunks(LANES).zip_inline(y.chunks_mut(LANES)).enumerate() {
        let n = experts.len();
        let mut products = [[0.0; LANES]; LANES];
        let mut biases = [0.0; LANES];
        for (group, products) in products.chunks_exact_mut(TOGETHER).enumerate() {
            let first = group * TOGETHER;
            if first >= n {
                break;
            }
            // Fills an incomplete group with the last row; the extra results are dropped.
            let mut numbers = [0; TOGETHER];
            let mut rows = [&[][..]; TOGETHER];
            for i in 0..TOGETHER {
                let row = (first + i).min(n - 1);
                numbers[i] = experts[row] as usize;
                rows[i] = &x.row(tile * LANES + row)[..mixed.inputs];
            }
            let biases = &mut biases[first..first + TOGETHER];
            if narrow {
                halves(s, mixed, numbers, rows, biases, products);
            } else {
                wholes(s, mixed, numbers, rows, biases, products);
            }
        }
        let mut out = [0.0; LANES];
        s.store(&mut out, s.add(s.load(&biases), sums(s, &products, narrow)));
        finish(s, mixed.head_f, None, None, &mut out);
        y[..n].copy_from_slice(&out[..n]);
    }
}

/// The pieces of an expert.
#[inline(always)]
fn pieces<const N: usize>(mixed: Mixed<'_>, expert: usize) -> (&[[f32; N]], &[[f32; N]]) {
    let all = mixed.packed.as_chunks().0;
    let count = BEFORE + mixed.inputs;
    all[expert * count..][..count].split_at(BEFORE)
}

/// The units of four rows times the weights of the output, for at most eight units: two rows share a register.
#[inline(always)]
fn halves<S: Simd>(
    s: S,
    mixed: Mixed<'_>,
    [p, q, r, t]: [usize; TOGETHER],
    [xa, xb, xc, xd]: [&[f32]; TOGETHER],
    biases: &mut [f32],
    products: &mut [Chunk],
) {
    let (pa, wa) = pieces::<HALF>(mixed, p);
    let (pb, wb) = pieces::<HALF>(mixed, q);
    let (pc, wc) = pieces::<HALF>(mixed, r);
    let (pd, wd) = pieces::<HALF>(mixed, t);
    let (mut a, mut b) = (s.half(&pa[0]), s.half(&pb[0]));
    let (mut c, mut d) = (s.half(&pc[0]), s.half(&pd[0]));
    let n = mixed.inputs;
    let (xa, xb, xc, xd) = (&xa[..n], &xb[..n], &xc[..n], &xd[..n]);
    let (wa, wb, wc, wd) = (&wa[..n], &wb[..n], &wc[..n], &wd[..n]);
    for i in 0..n {
        a = s.half_fma(s.half_splat(xa[i]), s.half(&wa[i]), a);
        b = s.half_fma(s.half_splat(xb[i]), s.half(&wb[i]), b);
        c = s.half_fma(s.half_splat(xc[i]), s.half(&wc[i]), c);
        d = s.half_fma(s.half_splat(xd[i]), s.half(&wd[i]), d);
    }
    (biases[0], biases[1], biases[2], biases[3]) = (pa[2][0], pb[2][0], pc[2][0], pd[2][0]);
    let (first, second) = products.split_at_mut(2);
    pair(s, mixed.f, s.join(a, b), s.join(s.half(&pa[1]), s.half(&pb[1])), first);
    pair(s, mixed.f, s.join(c, d), s.join(s.half(&pc[1]), s.half(&pd[1])), second);
}

/// The units of two rows from their net inputs, times the weights of the output.
#[inline(always)]
fn pair<S: Simd>(s: S, f: Activation, net: S::V, head: S::V, products: &mut [Chunk]) {
    let mut units = [0.0; LANES];
    s.store(&mut units, net);
    finish(s, f, None, None, &mut units);
    let product = s.mul(s.load(&units), head);
    s.store(&mut units, product);
    products[0][..HALF].copy_from_slice(&units[..HALF]);
    products[1][..HALF].copy_from_slice(&units[HALF..]);
}

/// The same for at most sixteen units.
#[inline(always)]
fn wholes<S: Simd>(
    s: S,
    mixed: Mixed<'_>,
    [p, q, r, t]: [usize; TOGETHER],
    [xa, xb, xc, xd]: [&[f32]; TOGETHER],
    biases: &mut [f32],
    products: &mut [Chunk],
) {
    let (pa, wa) = pieces::<LANES>(mixed, p);
    let (pb, wb) = pieces::<LANES>(mixed, q);
    let (pc, wc) = pieces::<LANES>(mixed, r);
    let (pd, wd) = pieces::<LANES>(mixed, t);
    let (mut a, mut b) = (s.load(&pa[0]), s.load(&pb[0]));
    let (mut c, mut d) = (s.load(&pc[0]), s.load(&pd[0]));
    let n = mixed.inputs;
    let (xa, xb, xc, xd) = (&xa[..n], &xb[..n], &xc[..n], &xd[..n]);
    let (wa, wb, wc, wd) = (&wa[..n], &wb[..n], &wc[..n], &wd[..n]);
    for i in 0..n {
        a = s.fma(s.splat(xa[i]), s.load(&wa[i]), a);
        b = s.fma(s.splat(xb[i]), s.load(&wb[i]), b);
        c = s.fma(s.splat(xc[i]), s.load(&wc[i]), c);
        d = s.fma(s.splat(xd[i]), s.load(&wd[i]), d);
    }
    for (i, (net, own)) in [(a, pa), (b, pb), (c, pc), (d, pd)].into_iter().enumerate() {
        let mut units = [0.0; LANES];
        s.store(&mut units, net);
        finish(s, mixed.f, None, None, &mut units);
        s.store(&mut products[i], s.mul(s.load(&units), s.load(&own[1])));
        biases[i] = own[2][0];
    }
}

/// The sum of each row, in the same tree as the lanes of a register.
#[inline(always)]
fn sums<S: Simd>(s: S, products: &[Chunk; LANES], narrow: bool) -> S::V {
    match narrow {
        true => fold(s, add4(s, quarter(s, products, 0), quarter(s, products, 1))),
        false => {
            let even = add4(s, quarter(s, products, 0), quarter(s, products, 2));
            let odd = add4(s, quarter(s, products, 1), quarter(s, products, 3));
            fold(s, add4(s, even, odd))
        }
    }
}

/// Columns 4 k to 4 k + 3.
#[inline(always)]
fn quarter<S: Simd>(s: S, products: &[Chunk; LANES], k: usize) -> [S::V; 4] {
    let mut rows = [&[0.0; 4]; LANES];
    for (to, row) in rows.iter_mut().zip_inline(products) {
        *to = &row.as_chunks().0[k];
    }
    s.columns(rows)
}

#[inline(always)]
fn add4<S: Simd>(s: S, a: [S::V; 4], b: [S::V; 4]) -> [S::V; 4] {
    [s.add(a[0], b[0]), s.add(a[1], b[1]), s.add(a[2], b[2]), s.add(a[3], b[3])]
}

#[inline(always)]
fn fold<S: Simd>(s: S, [a, b, c, d]: [S::V; 4]) -> S::V {
    s.add(s.add(a, c), s.add(b, d))
}
