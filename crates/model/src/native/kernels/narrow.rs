//! A hidden layer with few units and a single output, fused into one kernel.
//!
//! [`forward`](super::forward) puts units into lanes, so six units leave ten lanes idle. This kernel puts sixteen rows
//! into lanes and processes units one by one. Sums run in the same order, so both give the same bits.

use super::BesideExt;
use super::dense::{Layer, Matrix};
use super::forward::finish;
use super::stride;
use crate::native::simd::{Chunk, LANES, Simd};

/// Number of columns gathered at once.
const WIDE: usize = 4;

/// Whether this kernel pays off: the units leave at least half a register idle, and sixteen rows fit in the L1 cache.
pub(crate) fn is_narrow(inputs: usize, hidden: usize) -> bool {
    inputs <= 256 && (2..2 * LANES).contains(&hidden) && hidden.next_multiple_of(LANES) - hidden >= LANES / 2
}

/// How many of `n` rows [`narrow_forward`] should process, from the first on: those that fill chunks, and the rest if
/// one more chunk is cheaper than one or two registers per row.
pub(crate) fn narrow_rows(n: usize, hidden: usize) -> usize {
    let rest = n % LANES;
    if rest * hidden.div_ceil(LANES) >= hidden + 4 { n } else { n - rest }
}

dispatched! {
    /// The output of both layers for `n` rows. `room` is a buffer for intermediate results.
    fn narrow_forward(
        n: usize, hidden: Layer<'_>, head: Layer<'_>, x: Matrix<'_>, room: &mut Vec<Chunk>, y: &mut [f32],
    ) = narrow_body;
}

#[inline(always)]
fn narrow_body<S: Simd>(
    s: S,
    n: usize,
    hidden: Layer<'_>,
    head: Layer<'_>,
    x: Matrix<'_>,
    room: &mut Vec<Chunk>,
    y: &mut [f32],
) {
    let blocks = hidden.inputs.div_ceil(WIDE);
    let needed = 2 * blocks * WIDE + LANES;
    if room.len() < needed {
        room.resize(needed, [0.0; LANES]);
    }
    let (columns, rest) = room.split_at_mut(blocks * WIDE);
    let (products, spare) = rest.split_at_mut(LANES);
    let spare = &mut spare.as_flattened_mut()[..blocks * WIDE * LANES];
    for (tile, y) in y[..n].chunks_mut(LANES).enumerate() {
        // Fills an incomplete tile with the last row; the extra results are dropped.
        let row = |i: usize| x.row(tile * LANES + i.min(y.len() - 1));
        // The last rows of the matrix may end within a block.
        for (i, spare) in spare.chunks_exact_mut(blocks * WIDE).enumerate() {
            if row(i).len() < blocks * WIDE {
                spare[..hidden.inputs].copy_from_slice(&row(i)[..hidden.inputs]);
            }
        }
        let mut rows = [&[][..]; LANES];
        for (i, (to, spare)) in rows.iter_mut().beside(spare.chunks_exact(blocks * WIDE)).enumerate() {
            let row = if row(i).len() < blocks * WIDE { spare } else { row(i) };
            *to = &row.as_chunks::<WIDE>().0[..blocks];
        }
        for (b, columns) in columns.as_chunks_mut::<WIDE>().0.iter_mut().enumerate() {
            let mut block = [&[0.0; WIDE]; LANES];
            for (to, row) in block.iter_mut().beside(&rows) {
                *to = &row[b];
            }
            for (to, column) in columns.iter_mut().beside(s.columns(block)) {
                s.store(to, column);
            }
        }
        let columns = &columns[..hidden.inputs];
        let (mut j, units) = (0, hidden.outputs);
        while j + 8 <= units && S::UNITS >= 8 {
            group::<S, 8>(s, j, hidden, head, columns, products);
            j += 8;
        }
        while j + 5 <= units && S::UNITS >= 5 {
            group::<S, 5>(s, j, hidden, head, columns, products);
            j += 5;
        }
        while j + 4 <= units && S::UNITS >= 4 {
            group::<S, 4>(s, j, hidden, head, columns, products);
            j += 4;
        }
        while j + 2 <= units && S::UNITS >= 2 {
            group::<S, 2>(s, j, hidden, head, columns, products);
            j += 2;
        }
        while j < units {
            group::<S, 1>(s, j, hidden, head, columns, products);
            j += 1;
        }
        // Sums in the same tree as the lanes of a register.
        let (mut half, count) = (LANES / 2, units.min(LANES));
        while half > 0 {
            for i in half..count.min(2 * half) {
                let sum = s.add(s.load(&products[i - half]), s.load(&products[i]));
                s.store(&mut products[i - half], sum);
            }
            half /= 2;
        }
        let mut out = [0.0; LANES];
        s.store(&mut out, s.add(s.splat(head.bias[0]), s.load(&products[0])));
        finish(s, head.f, head.beta.map(|beta| s.splat(beta[0])), None, &mut out);
        y.copy_from_slice(&out[..y.len()]);
    }
}

/// Units `j..j + N` of sixteen rows, times their weights in the output.
#[inline(always)]
fn group<S: Simd, const N: usize>(
    s: S,
    j: usize,
    hidden: Layer<'_>,
    head: Layer<'_>,
    columns: &[Chunk],
    products: &mut [Chunk],
) {
    let width = stride(hidden.outputs);
    let mut sums = [s.splat(0.0); N];
    for (sum, bias) in sums.iter_mut().beside(&hidden.bias[j..j + N]) {
        *sum = s.splat(*bias);
    }
    for (x, weight) in columns.iter().beside(hidden.weight.chunks_exact(width)) {
        let x = s.load(x);
        for (sum, w) in sums.iter_mut().beside(&weight[j..j + N]) {
            *sum = s.fma(x, s.splat(*w), *sum);
        }
    }
    for (i, sum) in sums.into_iter().enumerate() {
        let mut unit = [0.0; LANES];
        s.store(&mut unit, sum);
        finish(s, hidden.f, hidden.beta.map(|beta| s.splat(beta[j + i])), None, &mut unit);
        let (unit, w) = (s.load(&unit), s.splat(head.weight[j + i]));
        let to = &mut products[(j + i) % LANES];
        let product = if j + i < LANES { s.mul(unit, w) } else { s.fma(unit, w, s.load(to)) };
        s.store(to, product);
    }
}
