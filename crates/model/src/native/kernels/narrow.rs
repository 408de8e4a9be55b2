//! Layers with few units, and such a layer with a single output, fused into one kernel.
//!
//! [`forward`](super::forward) puts units into lanes, so six units leave ten lanes idle. These kernels put sixteen rows
//! into lanes and process units one by one. Sums run in the same order, so both give the same bits.

use super::ZipInlineExt;
use super::dense::{Layer, Matrix};
use super::math::finish;
use super::{chunks_mut, stride};
use crate::native::aligned::Aligned;
use crate::native::simd::{Chunk, LANES, Simd};
use crate::program::Activation;

/// Number of columns gathered at once.
const WIDE: usize = 4;

/// Whether these kernels pay off: the units leave at least a quarter of their registers idle, and some rows fit in the L1 cache.
pub(crate) fn is_narrow(inputs: usize, hidden: usize) -> bool {
    let lanes = hidden.next_multiple_of(LANES);
    inputs <= 256 && (2..2 * LANES).contains(&hidden) && lanes - hidden >= lanes / 4
}

/// Number of rows, of `n`, that [`narrow_forward`] should process, from the first on: those that fill chunks, and the rest if
/// one more chunk is cheaper than one or two registers per row.
pub(crate) fn narrow_rows(n: usize, hidden: usize) -> usize {
    let rest = n % LANES;
    if rest * hidden.div_ceil(LANES) >= hidden + 4 { n } else { n - rest }
}

dispatched! {
    /// The output of both layers for `n` rows. `room` is a buffer for intermediate results.
    fn narrow_forward(
        n: usize, hidden: Layer<'_>, head: Layer<'_>, x: Matrix<'_>, room: &mut Aligned, y: &mut [f32],
    ) = narrow_body;
}

#[inline(always)]
fn narrow_body<S: Simd>(
    s: S,
    n: usize,
    hidden: Layer<'_>,
    head: Layer<'_>,
    x: Matrix<'_>,
    room: &mut Aligned,
    y: &mut [f32],
) {
    let (mut first, y) = (0, &mut y[..n]);
    while first < n {
        // Twice as many rows share the loads of weights, if their sums fit in the registers.
        if S::SUMS >= 20 && n - first > LANES {
            tiles::<S, 2>(s, first, hidden, head, x, room, y);
            first += 2 * LANES;
        } else {
            tiles::<S, 1>(s, first, hidden, head, x, room, y);
            first += LANES;
        }
    }
}

/// y = f(β ∘ (x W + b)) for the first of `n` rows, as far as they fill registers, if that pays off. Returns how many.
#[inline(always)]
pub(super) fn layer_rows<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    room: &mut Aligned,
    y: &mut [f32],
) -> usize {
    if S::SUMS < 20 || layer.inputs < LANES || !is_narrow(layer.inputs, layer.outputs) {
        return 0;
    }
    let (n, width) = (n - n % (2 * LANES), stride(layer.outputs) / LANES);
    let y = &mut chunks_mut(y)[..n * width];
    for first in (0..n).step_by(2 * LANES) {
        let units = units_of::<S, 2>(s, (first, n), layer, x, room);
        for t in 0..2 {
            for c in 0..width {
                let mut square = [&[0.0; LANES]; LANES];
                for (to, unit) in square.iter_mut().zip_inline(&units[c * LANES..]) {
                    *to = &unit[t];
                }
                let square = s.transposed(square);
                for i in 0..LANES {
                    s.store(&mut y[(first + t * LANES + i) * width + c], square[i]);
                }
            }
        }
    }
    n
}

/// Up to T times sixteen rows.
#[inline(always)]
fn tiles<S: Simd, const T: usize>(
    s: S,
    first: usize,
    hidden: Layer<'_>,
    head: Layer<'_>,
    x: Matrix<'_>,
    room: &mut Aligned,
    y: &mut [f32],
) {
    let units = units_of::<S, T>(s, (first, y.len()), hidden, x, room);
    for t in 0..T {
        let here = (first + t * LANES).min(y.len())..(first + (t + 1) * LANES).min(y.len());
        let mut products = [s.splat(0.0); LANES];
        for (j, unit) in units.iter().enumerate() {
            let (unit, w) = (s.load(&unit[t]), s.splat(head.weight[j]));
            let to = &mut products[j % LANES];
            *to = if j < LANES { s.mul(unit, w) } else { s.fma(unit, w, *to) };
        }
        // Sums in the same tree as the lanes of a register.
        let (mut half, count) = (LANES / 2, units.len().min(LANES));
        while half > 0 {
            for i in half..count.min(2 * half) {
                products[i - half] = s.add(products[i - half], products[i]);
            }
            half /= 2;
        }
        let mut out = [0.0; LANES];
        s.store(&mut out, s.add(s.splat(head.bias[0]), products[0]));
        finish(s, head.f, head.beta.map(|beta| s.splat(beta[0])), None, &mut out);
        let y = &mut y[here];
        y.copy_from_slice(&out[..y.len()]);
    }
}

/// The units of up to T times sixteen rows, which are in the lanes. Rows from `end` on are those of the last one.
#[inline(always)]
fn units_of<'a, S: Simd, const T: usize>(
    s: S,
    (first, end): (usize, usize),
    layer: Layer<'_>,
    x: Matrix<'_>,
    room: &'a mut Aligned,
) -> &'a [[Chunk; T]] {
    let (blocks, units) = (layer.inputs.div_ceil(WIDE), layer.outputs);
    let needed = T * blocks * WIDE + T * 2 * LANES + blocks * WIDE;
    if room.len() < needed * LANES {
        room.resize(needed * LANES);
    }
    let (columns, rest) = chunks_mut(room).as_chunks_mut::<T>().0.split_at_mut(blocks * WIDE);
    let (nets, spare) = rest.split_at_mut(2 * LANES);
    let spare = &mut spare.as_flattened_mut().as_flattened_mut()[..blocks * WIDE * LANES];
    for t in 0..T {
        transpose(s, (first + t * LANES, end), (layer.inputs, blocks), x, spare, t, columns);
    }
    let (columns, nets) = (&columns[..layer.inputs], &mut nets[..units]);
    // Rows of more inputs would drive these out of the L1 cache.
    let mut ahead = if layer.inputs <= 128 { following(x, (first, end), T * LANES) } else { None };
    let mut j = 0;
    while j < units {
        let ahead = ahead.take();
        match units - j {
            12.. if S::UNITS >= 8 => j += group::<S, 12, T>(s, j, layer, columns, ahead, nets),
            10.. if S::UNITS >= 8 => j += group::<S, 10, T>(s, j, layer, columns, ahead, nets),
            8.. if S::UNITS >= 8 => j += group::<S, 8, T>(s, j, layer, columns, ahead, nets),
            5.. if S::UNITS >= 5 => j += group::<S, 5, T>(s, j, layer, columns, ahead, nets),
            4.. if S::UNITS >= 4 => j += group::<S, 4, T>(s, j, layer, columns, ahead, nets),
            2.. if S::UNITS >= 2 => j += group::<S, 2, T>(s, j, layer, columns, ahead, nets),
            _ => j += group::<S, 1, T>(s, j, layer, columns, ahead, nets),
        }
    }
    match layer.f {
        // A separate loop for each activation.
        Activation::Tanh => activate_units(s, Activation::Tanh, layer.beta, nets),
        Activation::Sigmoid => activate_units(s, Activation::Sigmoid, layer.beta, nets),
        Activation::Relu => activate_units(s, Activation::Relu, layer.beta, nets),
        Activation::Silu => activate_units(s, Activation::Silu, layer.beta, nets),
        Activation::Linear => activate_units(s, Activation::Linear, layer.beta, nets),
    }
    nets
}

/// Writes the columns of sixteen rows, from the first on, to number `t` of each of `columns`. Rows from `end` on are those of the last
/// one; their results are dropped.
#[inline(always)]
fn transpose<S: Simd, const T: usize>(
    s: S,
    (first, end): (usize, usize),
    (inputs, blocks): (usize, usize),
    x: Matrix<'_>,
    spare: &mut [f32],
    t: usize,
    columns: &mut [[Chunk; T]],
) {
    if let Some(data) = together(x, (first, end), inputs) {
        let whole = inputs - inputs % LANES;
        for (b, to) in columns[..whole].as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let square = s.transposed_from(&data[b * LANES..], x.stride);
            for j in 0..LANES {
                s.store(&mut to[j][t], square[j]);
            }
        }
        for at in (whole..inputs).step_by(WIDE) {
            // The last ones may overlap with those before them.
            let at = at.min(inputs - WIDE);
            let mut block = [&[0.0; WIDE]; LANES];
            for i in 0..LANES {
                block[i] = data[i * x.stride + at..].first_chunk().expect("four numbers a row");
            }
            let block = s.columns(block);
            for j in 0..WIDE {
                s.store(&mut columns[at + j][t], block[j]);
            }
        }
        return;
    }
    let length = blocks * WIDE;
    let (mut wide, mut rest) = ([&[][..]; LANES], [&[][..]; LANES]);
    for (i, spare) in spare.chunks_exact_mut(length).enumerate().take(LANES) {
        let mut row = x.row((first + i).min(end - 1));
        // The last rows of the matrix may end within a block.
        if row.len() < length {
            spare[..inputs].copy_from_slice(&row[..inputs]);
            row = spare;
        }
        let (of_wide, of_rest) = row[..length].as_chunks::<LANES>();
        (wide[i], rest[i]) = (of_wide, of_rest.as_chunks::<WIDE>().0);
    }
    let (of_wide, of_rest) = columns[..length].split_at_mut(length - length % LANES);
    for (b, to) in of_wide.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut square = [&[0.0; LANES]; LANES];
        for i in 0..LANES {
            square[i] = &wide[i][b];
        }
        let square = s.transposed(square);
        for j in 0..LANES {
            s.store(&mut to[j][t], square[j]);
        }
    }
    for (b, to) in of_rest.as_chunks_mut::<WIDE>().0.iter_mut().enumerate() {
        let mut block = [&[0.0; WIDE]; LANES];
        for i in 0..LANES {
            block[i] = &rest[i][b];
        }
        let block = s.columns(block);
        for j in 0..WIDE {
            s.store(&mut to[j][t], block[j]);
        }
    }
}

/// The address of the row `count` after the first one, if it is as far from it in memory.
#[inline(always)]
fn following(x: Matrix<'_>, (first, end): (usize, usize), count: usize) -> Option<*const f32> {
    let next = first + count;
    let follows =
        next < end && x.rows.is_none_or(|rows| rows[next] == rows[first].wrapping_add(count as u32));
    if follows { Some(x.row(next).as_ptr()) } else { None }
}

/// Sixteen rows, from the first on, if they follow each other. They begin [`Matrix::stride`] numbers apart.
#[inline(always)]
fn together<'a>(x: Matrix<'a>, (first, end): (usize, usize), inputs: usize) -> Option<&'a [f32]> {
    if first + LANES > end || inputs < LANES {
        return None;
    }
    let start = match x.rows {
        Some(rows) => {
            let rows = &rows[first..first + LANES];
            let mut strays = 0;
            for i in 0..LANES {
                strays |= rows[i] ^ rows[0].wrapping_add(i as u32);
            }
            if strays != 0 {
                return None;
            }
            rows[0] as usize
        }
        None => first,
    };
    x.data.get(start * x.stride..)?.get(..(LANES - 1) * x.stride + inputs)
}

/// The net inputs of units `j..j + N` of T times sixteen rows. Asks for the rows `ahead` meanwhile. Returns N.
#[inline(always)]
fn group<S: Simd, const N: usize, const T: usize>(
    s: S,
    j: usize,
    hidden: Layer<'_>,
    columns: &[[Chunk; T]],
    ahead: Option<*const f32>,
    nets: &mut [[Chunk; T]],
) -> usize {
    let width = stride(hidden.outputs);
    let mut sums = [[s.splat(0.0); T]; N];
    for (sums, bias) in sums.iter_mut().zip_inline(&hidden.bias[j..j + N]) {
        *sums = [s.splat(*bias); T];
    }
    for (k, (column, weight)) in columns.iter().zip_inline(hidden.weight.chunks_exact(width)).enumerate() {
        if let Some(ahead) = ahead {
            for t in 0..T {
                s.prefetch(ahead.wrapping_add((k * T + t) * LANES));
            }
        }
        let mut x = [s.splat(0.0); T];
        for t in 0..T {
            x[t] = s.load(&column[t]);
        }
        let weight = &weight[j..j + N];
        for i in 0..N {
            let w = s.splat(weight[i]);
            for t in 0..T {
                sums[i][t] = s.fma(x[t], w, sums[i][t]);
            }
        }
    }
    for i in 0..N {
        for t in 0..T {
            s.store(&mut nets[j + i][t], sums[i][t]);
        }
    }
    N
}

/// Applies the activation to the net inputs of all units.
#[inline(always)]
fn activate_units<S: Simd, const T: usize>(
    s: S,
    f: Activation,
    beta: Option<&[f32]>,
    nets: &mut [[Chunk; T]],
) {
    for (j, net) in nets.iter_mut().enumerate() {
        let beta = beta.map(|beta| s.splat(beta[j]));
        for net in net {
            finish(s, f, beta, None, net);
        }
    }
}
