//! Layers whose inputs are mostly 0, such as the first layer of a board game: only the weights of the other inputs are read.
//!
//! Rows stay dense; the inputs that are not 0 are listed here. With finite weights a term of 0 does not change a sum, so the results
//! are the same bits as those of the dense kernels; those of rows with similar neighbours differ by rounding.

use super::dense::{Layer, Matrix, block, block_mut};
use super::{chunks, chunks_mut, stride};
use crate::native::simd::{LANES, Portable, Simd};
use std::ops::Range;

/// Fewest inputs for which a list is worth its time.
const LEAST: usize = 48;
/// Most inputs of a row whose list fits in the buffer.
const MOST: usize = 1024;
/// At most one in so many inputs may differ from 0.
const SHARE: usize = 4;

/// Whether the inputs of some rows are mostly 0, judged by one of them. The answer does not change results, except for
/// rounding where neighbouring rows are similar.
#[inline(always)]
pub(super) fn is_sparse<S: Simd>(s: S, n: usize, inputs: usize, x: Matrix<'_>) -> bool {
    n > 0 && (LEAST..=MOST).contains(&inputs) && SHARE * count(s, &x.row(n / 2)[..inputs]) <= inputs
}

/// Whether rows with similar neighbours are computed from the rows before: more than one, with inputs that are mostly 0.
pub(crate) fn by_differences(n: usize, inputs: usize, x: Matrix<'_>) -> bool {
    x.similar_neighbours && n > 1 && is_sparse(Portable, n, inputs, x)
}

/// Count of the numbers that are not 0.
// Functions, because closures may not be inlined, and code that is not inlined misses the instruction set.
#[inline(always)]
fn count<S: Simd>(s: S, row: &[f32]) -> usize {
    let (whole, rest) = row.as_chunks::<LANES>();
    let mut count = 0;
    for x in whole {
        count += s.differ(s.load(x), s.splat(0.0)).count_ones() as usize;
    }
    for x in rest {
        count += usize::from(*x != 0.0);
    }
    count
}

/// Places of the numbers of a row.
type Places = [u32; MOST];

/// A row of zeros.
static ZEROS: [f32; MOST] = [0.0; MOST];

/// Chunks whose lanes are the bits of a word.
const WORD: usize = 64 / LANES;

/// Writes the places at which two rows of at least [`LANES`] numbers differ and returns them, in order.
#[inline(always)]
fn places<'a, S: Simd>(s: S, row: &[f32], before: &[f32], to: &'a mut Places) -> &'a [u32] {
    let before = &before[..row.len()];
    let (whole, whole_before) = (chunks(row), chunks(before));
    let (mut len, rest) = (0, row.len() % LANES);
    for first in (0..row.len().div_ceil(LANES)).step_by(WORD) {
        let mut word = 0;
        for c in first..whole.len().min(first + WORD) {
            let lanes = s.differ(s.load(&whole[c]), s.load(&whole_before[c]));
            word |= u64::from(lanes) << ((c - first) * LANES);
        }
        if rest > 0 && (first..first + WORD).contains(&whole.len()) {
            // The last numbers are the upper lanes of a chunk that ends with the row.
            let (Some(last), Some(last_before)) = (row.last_chunk(), before.last_chunk()) else { break };
            let lanes = s.differ(s.load(last), s.load(last_before)) >> (LANES - rest);
            word |= u64::from(lanes) << ((whole.len() - first) * LANES);
        }
        while word != 0 {
            to[len] = (first * LANES) as u32 + word.trailing_zeros();
            len += 1;
            word &= word - 1;
        }
    }
    &to[..len]
}

/// Calls `$block::<S, C>` on blocks of at most `S::UNITS` chunks that cover `$width`.
macro_rules! in_units {
    ($width:expr, |$c:ident| $block:ident($($arg:expr),* $(,)?)) => {
        let (mut $c, width) = (0, $width);
        while $c < width {
            match width - $c {
                8.. if S::UNITS >= 8 => { $block::<S, 8>($($arg),*); $c += 8; }
                4.. if S::UNITS >= 4 => { $block::<S, 4>($($arg),*); $c += 4; }
                3 if S::UNITS >= 3 => { $block::<S, 3>($($arg),*); $c += 3; }
                2.. if S::UNITS >= 2 => { $block::<S, 2>($($arg),*); $c += 2; }
                _ => { $block::<S, 1>($($arg),*); $c += 1; }
            }
        }
    };
}

/// y = x W + b for some rows and more than one output. Where neighbours are similar, all but the first are computed from the row before:
/// y = (x − x′) W + y′.
#[inline(always)]
pub(super) fn affine<S: Simd>(s: S, rows: Range<usize>, layer: Layer<'_>, x: Matrix<'_>, y: &mut [f32]) {
    let width = stride(layer.outputs);
    let mut buffer = [0; MOST];
    let first = rows.start;
    for r in rows {
        let row = &x.row(r)[..layer.inputs];
        let (done, y) = y.split_at_mut(r * width);
        let (before, from) = match x.similar_neighbours && r > first {
            true => (&x.row(r - 1)[..layer.inputs], &done[(r - 1) * width..]),
            false => (&ZEROS[..layer.inputs], layer.bias),
        };
        let places = places(s, row, before, &mut buffer);
        let y = &mut y[..width];
        in_units!(width / LANES, |c| sums(s, c, layer, (row, before), places, (from, y)));
    }
}

/// Chunks `c..c + C` of one row of y, from those of a row with other inputs.
#[inline(always)]
fn sums<S: Simd, const C: usize>(
    s: S,
    c: usize,
    layer: Layer<'_>,
    (row, before): (&[f32], &[f32]),
    places: &[u32],
    (from, y): (&[f32], &mut [f32]),
) {
    let width = y.len() / LANES;
    let mut sums = [s.splat(0.0); C];
    let from: &[_; C] = block(chunks(from), c);
    for j in 0..C {
        sums[j] = s.load(&from[j]);
    }
    let weight = chunks(layer.weight);
    for &k in places {
        let x = s.splat(row[k as usize] - before[k as usize]);
        let from: &[_; C] = block(weight, k as usize * width + c);
        for j in 0..C {
            sums[j] = s.fma(x, s.load(&from[j]), sums[j]);
        }
    }
    let y: &mut [_; C] = block_mut(chunks_mut(y), c);
    for j in 0..C {
        s.store(&mut y[j], sums[j]);
    }
}

/// Adds xᵀ d over some rows to the gradient of the weights.
#[inline(always)]
pub(super) fn gradient<S: Simd>(
    s: S,
    rows: Range<usize>,
    layer: Layer<'_>,
    x: Matrix<'_>,
    d: &[f32],
    grad: &mut [f32],
) {
    let width = stride(layer.outputs) / LANES;
    let mut buffer = [0; MOST];
    for r in rows {
        let row = &x.row(r)[..layer.inputs];
        let places = places(s, row, &ZEROS[..layer.inputs], &mut buffer);
        let d = &d[r * width * LANES..][..width * LANES];
        in_units!(width, |c| add(s, c, row, places, d, grad));
    }
}

/// Adds one row to chunks `c..c + C` of the gradient.
#[inline(always)]
fn add<S: Simd, const C: usize>(s: S, c: usize, row: &[f32], places: &[u32], d: &[f32], grad: &mut [f32]) {
    let width = d.len() / LANES;
    let from: &[_; C] = block(chunks(d), c);
    let mut delta = [s.splat(0.0); C];
    for j in 0..C {
        delta[j] = s.load(&from[j]);
    }
    let grad = chunks_mut(grad);
    for &k in places {
        let x = s.splat(row[k as usize]);
        let to: &mut [_; C] = block_mut(grad, k as usize * width + c);
        for j in 0..C {
            let sum = s.fma(x, delta[j], s.load(&to[j]));
            s.store(&mut to[j], sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::Aligned;
    use crate::native::kernels::forward::forward_alone;
    use crate::native::kernels::{InputAdjoint, LayerGrad, Saved, dense_backward};
    use crate::native::simd::Isa;
    use crate::program::Activation;

    /// A pseudo-random number in ±0.5.
    fn number(i: usize) -> f32 {
        ((i * 7919 + 13) % 1009) as f32 / 1009.0 - 0.5
    }

    /// The same rows among others that are dense give the same bits, which the dense kernels compute.
    #[test]
    fn lists_give_the_same_bits_as_whole_rows() {
        for isa in Isa::available() {
            for (inputs, outputs) in
                [(48, 2), (202, 128), (202, 40), (131, 200), (64, 17), (1024, 16), (1030, 3)]
            {
                for n in [1, 3, 70] {
                    let value = |r: usize, k: usize| match (r * 31 + k * 17) % 13 {
                        0 => number(r + k),
                        1 if k.is_multiple_of(3) => 1.0,
                        _ => 0.0,
                    };
                    let sparse: Vec<f32> = (0..n * inputs).map(|i| value(i / inputs, i % inputs)).collect();
                    // Twice as many rows, the later ones dense, so that the row in the middle is dense.
                    let mut dense = sparse.clone();
                    dense.extend((0..(n + 2) * inputs).map(|i| number(i) + 1.0));
                    let weight: Vec<f32> =
                        (0..inputs * stride(outputs)).map(|i| padded_number(i, outputs)).collect();
                    let bias: Vec<f32> = (0..stride(outputs)).map(|i| padded_number(i, outputs)).collect();
                    let layer = Layer {
                        inputs,
                        outputs,
                        weight: &weight,
                        bias: &bias,
                        beta: None,
                        f: Activation::Tanh,
                    };
                    let run = |x: &[f32]| {
                        let rows = x.len() / inputs;
                        let x = Matrix { data: x, stride: inputs, rows: None, similar_neighbours: false };
                        let mut y = vec![0.0; rows * stride(outputs)];
                        forward_alone(isa, rows, layer, x, &mut y);
                        // Only the first rows have an error.
                        let mut dy = vec![0.0; y.len()];
                        dy[..n * stride(outputs)]
                            .iter_mut()
                            .enumerate()
                            .for_each(|(i, d)| *d = padded_number(i, outputs));
                        let (mut gw, mut gb) = (vec![0.0; weight.len()], vec![0.0; bias.len()]);
                        let grad = LayerGrad { weight: &mut gw, bias: &mut gb, beta: None };
                        let below = InputAdjoint { dx: &mut [], scratch: &mut Aligned::default() };
                        dense_backward(isa, rows, layer, Saved { x, kept: &[], y: &y }, &mut dy, grad, below);
                        y.truncate(n * stride(outputs));
                        (y, gw, gb)
                    };
                    let (found, expected) = (run(&sparse), run(&dense));
                    let what = format!("{isa:?}, {n} rows, {inputs} to {outputs}");
                    assert!(found.0.iter().any(|y| *y != 0.0) && found.1.iter().any(|g| *g != 0.0), "{what}");
                    assert_eq!(found.0, expected.0, "{what}: y");
                    assert_eq!(found.1, expected.1, "{what}: gradient of the weights");
                    assert_eq!(found.2, expected.2, "{what}: gradient of the biases");
                }
            }
        }
    }

    /// Rows that are computed from the row before differ by rounding alone.
    #[test]
    fn similar_rows_differ_by_rounding_alone() {
        let (inputs, outputs, n) = (202, 40, 150);
        let weight: Vec<f32> = (0..inputs * stride(outputs)).map(|i| padded_number(i, outputs)).collect();
        let bias: Vec<f32> = (0..stride(outputs)).map(|i| padded_number(i, outputs)).collect();
        let layer = Layer { inputs, outputs, weight: &weight, bias: &bias, beta: None, f: Activation::Relu };
        // Each row has 24 inputs, and differs from the row before in two of them, one in the last, partial chunk.
        let mut data = vec![0.0; n * inputs];
        for (r, row) in data.chunks_exact_mut(inputs).enumerate() {
            (0..24).for_each(|k| row[(k * 8) % 190] = number(k) + 0.6);
            row[(r * 7) % 190] += number(r);
            row[190 + r % 12] = 1.0 / 15.0;
        }
        let run = |isa, similar_neighbours| {
            let x = Matrix { data: &data, stride: inputs, rows: None, similar_neighbours };
            let mut y = vec![0.0; n * stride(outputs)];
            forward_alone(isa, n, layer, x, &mut y);
            y
        };
        for isa in Isa::available() {
            let (expected, found) = (run(isa, false), run(isa, true));
            assert!(expected != found, "{isa:?}: no row was computed from the row before");
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-6, "{isa:?}: {found} {expected}");
            }
        }
    }

    /// A number, 0 in the padding of rows of this width.
    fn padded_number(i: usize, width: usize) -> f32 {
        if i % stride(width) < width { number(i + 5) } else { 0.0 }
    }
}
