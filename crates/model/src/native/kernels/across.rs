//! The gradient ∂W = xᵀ ∂net of the weights of a layer with few units, summed over the rows of a batch.
//!
//! [`backward`](super::backward) puts units into lanes. Ten units leave six lanes idle, and each multiply-add needs a load of its own.
//! This kernel turns the gradient so far around, adds the rows with inputs in the lanes, and turns it back. The last inputs are left out
//! if they would leave most lanes of a chunk idle. Sums run in the same order, so all give the same bits.

use super::ZipInlineExt;
use super::dense::{Layer, Matrix, ROWS, in_blocks, spans, whole_tile};
use super::narrow::is_narrow;
use super::{chunks, chunks_mut, stride};
use crate::native::aligned::Aligned;
use crate::native::simd::{Chunk, LANES, Simd};
use std::ops::Range;

/// Fewest rows for which turning the gradient around pays off.
const LEAST: usize = 48;

/// Whether this kernel pays off.
#[inline(always)]
pub(super) fn suits<S: Simd>(_: S, n: usize, layer: Layer<'_>) -> bool {
    S::SUMS >= 20 && n >= LEAST && layer.inputs >= LANES && is_narrow(layer.inputs, layer.outputs)
}

/// Start of the lanes of chunk `c` of the inputs: the last chunk ends with the inputs, and may overlap with the one before.
#[inline(always)]
fn start(c: usize, inputs: usize) -> usize {
    (c * LANES).min(inputs - LANES)
}

/// Adds xᵀ d over `n` rows to the gradient of the weights. `room` is a buffer for intermediate results.
#[inline(always)]
pub(super) fn gradient<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    x: Matrix<'_>,
    d: &[f32],
    grad: &mut [f32],
    room: &mut Aligned,
) {
    let width = stride(layer.outputs) / LANES;
    let aside = aside(layer, width);
    let inputs = layer.inputs - aside;
    let blocks = inputs.div_ceil(LANES);
    if room.len() < width * LANES * blocks * LANES {
        room.resize(width * LANES * blocks * LANES);
    }
    // The gradient of unit u in chunk `u · blocks + c`.
    let turned = &mut chunks_mut(room)[..width * LANES * blocks];
    let grad = chunks_mut(grad);
    for c in 0..blocks {
        let first = start(c, inputs);
        for w in 0..width {
            turn(s, (&grad[first * width + w..], width), (&mut turned[w * LANES * blocks + c..], blocks));
        }
    }
    let d = chunks(d).as_flattened();
    for rows in spans(0..n) {
        let mut of_rows = [&[][..]; ROWS];
        for (input, r) in of_rows.iter_mut().zip_inline(rows.clone()) {
            *input = &x.row(r)[..layer.inputs];
        }
        let of_rows = &of_rows[..rows.len()];
        let d = &d[rows.start * width * LANES..rows.end * width * LANES];
        in_blocks!(1, blocks, |c| columns(s, c, (layer, inputs), of_rows, d, turned));
        if aside > 0 && width == 1 {
            last_inputs::<S, 1>(s, inputs..layer.inputs, of_rows, chunks(d), grad);
        } else if aside > 0 {
            last_inputs::<S, 2>(s, inputs..layer.inputs, of_rows, chunks(d), grad);
        }
    }
    for c in 0..blocks {
        let first = start(c, inputs);
        for w in 0..width {
            turn(s, (&turned[w * LANES * blocks + c..], blocks), (&mut grad[first * width + w..], width));
        }
    }
}

/// Number of the last inputs that are not turned, because a chunk for so few costs more than a few chunks of units.
#[inline(always)]
fn aside(layer: Layer<'_>, width: usize) -> usize {
    let last = layer.inputs % LANES;
    if last * width < layer.outputs { last } else { 0 }
}

/// The gradient of some inputs, with C chunks of units in the lanes.
#[inline(always)]
fn last_inputs<S: Simd, const C: usize>(
    s: S,
    inputs: Range<usize>,
    x: &[&[f32]],
    d: &[Chunk],
    grad: &mut [Chunk],
) {
    let (d, mut k) = (d.as_chunks::<C>().0, inputs.start);
    while k + 4 <= inputs.end {
        whole_tile::<S, 4, C>(s, k, x, d, grad);
        k += 4;
    }
    while k < inputs.end {
        whole_tile::<S, 1, C>(s, k, x, d, grad);
        k += 1;
    }
}

/// Writes a square of sixteen chunks as columns. Both have a number of chunks from one row to the next.
#[inline(always)]
fn turn<S: Simd>(s: S, (from, step): (&[Chunk], usize), (to, to_step): (&mut [Chunk], usize)) {
    let mut square = [&[0.0; LANES]; LANES];
    for i in 0..LANES {
        square[i] = &from[i * step];
    }
    let square = s.transposed(square);
    for i in 0..LANES {
        s.store(&mut to[i * to_step], square[i]);
    }
}

per_width! {
    /// Chunks `c..c + C` of all units. The first `inputs` are in the lanes.
    fn columns<C>(c: usize, inputs: (Layer<'_>, usize), x: &[&[f32]], d: &[f32], turned: &mut [Chunk]) = columns_body;
}

#[inline(always)]
fn columns_body<S: Simd, const C: usize>(
    s: S,
    c: usize,
    (layer, inputs): (Layer<'_>, usize),
    x: &[&[f32]],
    d: &[f32],
    turned: &mut [Chunk],
) {
    let mut u = 0;
    while u < layer.outputs {
        let left = layer.outputs - u;
        match left.div_ceil(left.div_ceil(5)) {
            5 => u += units::<S, C, 5>(s, (c, u), (layer, inputs), x, d, turned),
            4 => u += units::<S, C, 4>(s, (c, u), (layer, inputs), x, d, turned),
            3 => u += units::<S, C, 3>(s, (c, u), (layer, inputs), x, d, turned),
            2 => u += units::<S, C, 2>(s, (c, u), (layer, inputs), x, d, turned),
            _ => u += units::<S, C, 1>(s, (c, u), (layer, inputs), x, d, turned),
        }
    }
}

/// Chunks `c..c + C` of units `u..u + U`, whose sums stay in registers. Returns U.
#[inline(always)]
fn units<S: Simd, const C: usize, const U: usize>(
    s: S,
    (c, u): (usize, usize),
    (layer, inputs): (Layer<'_>, usize),
    x: &[&[f32]],
    d: &[f32],
    turned: &mut [Chunk],
) -> usize {
    let (stride, blocks) = (stride(layer.outputs), inputs.div_ceil(LANES));
    let mut sums = [[s.splat(0.0); C]; U];
    for i in 0..U {
        for j in 0..C {
            sums[i][j] = s.load(&turned[(u + i) * blocks + c + j]);
        }
    }
    let last = start(c + C - 1, inputs);
    for (x, d) in x.iter().zip_inline(d.chunks_exact(stride)) {
        let whole = x[c * LANES..][..(C - 1) * LANES].as_chunks::<LANES>().0;
        let mut from = [s.splat(0.0); C];
        for j in 0..C - 1 {
            from[j] = s.load(&whole[j]);
        }
        from[C - 1] = s.load(x[last..].first_chunk().expect("a chunk of inputs"));
        let d = &d[u..u + U];
        for i in 0..U {
            let d = s.splat(d[i]);
            for j in 0..C {
                sums[i][j] = s.fma(from[j], d, sums[i][j]);
            }
        }
    }
    for i in 0..U {
        for j in 0..C {
            s.store(&mut turned[(u + i) * blocks + c + j], sums[i][j]);
        }
    }
    U
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::kernels::{
        ForwardRoom, InputAdjoint, LayerGrad, Saved, dense_backward, dense_forward,
    };
    use crate::native::simd::Isa;
    use crate::program::Activation;

    fn numbers(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| (((i + seed) * 7919 + 13) % 1009) as f32 / 1009.0 - 0.5).collect()
    }

    /// A single row, and a gradient together with adjoints of the inputs, are computed with units in the lanes.
    #[test]
    fn layers_with_few_units_have_the_same_bits_in_any_lanes() {
        for isa in Isa::available() {
            // Buffers keep what layers before have written.
            let (mut lanes, mut scratch) = (Aligned::default(), Aligned::default());
            for (n, inputs, outputs) in [
                (200, 256, 2),
                (75, 97, 20),
                (48, 68, 10),
                (130, 20, 5),
                (64, 16, 12),
                (50, 30, 14),
                (50, 30, 27),
                // The last chunk of inputs overlaps with the one before.
                (50, 30, 10),
                (50, 31, 20),
                // Some inputs that are not turned.
                (60, 22, 10),
                (60, 37, 20),
            ] {
                let what = format!("{isa:?}, {n} rows, {inputs} to {outputs}");
                let width = stride(outputs);
                let padded = |mut rows: Vec<f32>| {
                    rows.chunks_exact_mut(width).for_each(|row| row[outputs..].fill(0.0));
                    rows
                };
                let data = numbers(n * inputs, 1);
                let (weight, bias) = (padded(numbers(inputs * width, 2)), padded(numbers(width, 3)));
                let f = Activation::Sigmoid;
                let layer = Layer { inputs, outputs, weight: &weight, bias: &bias, beta: None, f };
                // Rows in order, then rows that are not, some of them twice.
                let stray = |r: u32| if r < 40 { r } else { r * 7 % n as u32 };
                let order: Vec<u32> = (0..n as u32).map(stray).collect();
                let x = Matrix { data: &data, stride: inputs, rows: Some(&order), similar_neighbours: false };
                let (mut y, mut panels) = (vec![0.0; n * width], Aligned::default());
                let room = ForwardRoom { panels: &mut panels, lanes: Some(&mut lanes) };
                dense_forward(isa, n, layer, x, room, &mut [], &mut y);
                for (r, y) in y.chunks_exact(width).enumerate() {
                    let x = Matrix { rows: Some(&order[r..]), ..x };
                    let mut one = vec![0.0; width];
                    let room = ForwardRoom { panels: &mut panels, lanes: None };
                    dense_forward(isa, 1, layer, x, room, &mut [], &mut one);
                    assert_eq!(y, one, "{what}, row {r}");
                }
                let mut gradient = |dx: &mut [f32]| {
                    let (mut dy, mut weight) =
                        (padded(numbers(n * width, 4)), padded(numbers(inputs * width, 5)));
                    let mut bias = padded(numbers(width, 6));
                    let grad = LayerGrad { weight: &mut weight, bias: &mut bias, beta: None };
                    let below = InputAdjoint { dx, scratch: &mut scratch };
                    dense_backward(isa, n, layer, Saved { x, kept: &[], y: &y }, &mut dy, grad, below);
                    (weight, bias)
                };
                let (by_inputs, by_units) = (gradient(&mut []), gradient(&mut vec![0.0; n * stride(inputs)]));
                assert_eq!(by_inputs.0, by_units.0, "{what}: the gradient of the weights");
                assert_eq!(by_inputs.1, by_units.1, "{what}: the gradient of the biases");
            }
        }
    }
}
