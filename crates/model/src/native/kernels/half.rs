//! Layers in bfloat16 numbers, for evaluation: y = f(β ∘ (x W + b)) with x and W rounded, and sums in floats.
//!
//! The order of a sum is that of AMX, see [`tiles`](crate::native::tiles). Products of two rounded numbers are exact in floats, so that
//! multiply-adds of floats give the same bits on every instruction set, unless a sum is below the smallest normal number.

use super::dense::{Layer, Matrix};
use super::forward::finish;
use super::{chunks, chunks_mut, stride};
use crate::native::simd::{Chunk, LANES, Simd};
use crate::native::tiles::{DEEP, HIGH, Halves, Line, Sums, Tiles, WIDE, half, whole};
use crate::program::Activation;
use std::ops::Range;

/// Buffers of one thread.
#[derive(Debug)]
pub(crate) struct HalfRoom {
    /// Rows as tiles read them.
    rows: Vec<Halves>,
    /// Rows of rounded floats.
    floats: Vec<f32>,
    sums: Box<Sums>,
}

impl Default for HalfRoom {
    fn default() -> Self {
        Self { rows: Vec::new(), floats: Vec::new(), sums: Box::new([Line([0.0; 16]); 2 * HIGH]) }
    }
}

/// Whether layers of this shape gain by bfloat16.
pub(crate) fn suits_half(inputs: usize, outputs: usize) -> bool {
    inputs >= DEEP && outputs >= 16
}

dispatched! {
    /// A layer of at least two outputs for `n` rows. The weights in `layer` are numbers of bfloat16; `tiles` holds the same
    /// [`packed`](crate::native::tiles::packed) where AMX computes.
    fn half_forward(
        n: usize, layer: Layer<'_>, tiles: Option<(Tiles, &[Halves])>, x: Matrix<'_>, room: &mut HalfRoom, y: &mut [f32],
    ) = half_body;
}

#[inline(always)]
fn half_body<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    tiles: Option<(Tiles, &[Halves])>,
    x: Matrix<'_>,
    room: &mut HalfRoom,
    y: &mut [f32],
) {
    match tiles {
        Some((tiles, weight)) => by_tiles(s, n, layer, (tiles, weight), x, room, y),
        None => by_floats(s, n, layer, x, room, y),
    }
    // If f(0) ≠ 0, resets the padding, which must be 0 for the next layer.
    if layer.f == Activation::Sigmoid {
        y.chunks_exact_mut(stride(layer.outputs)).take(n).for_each(|row| row[layer.outputs..].fill(0.0));
    }
}

#[inline(always)]
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux")),
    expect(unreachable_code, unused_variables, unused_mut, reason = "no other machine has tiles")
)]
fn by_tiles<S: Simd>(
    s: S,
    n: usize,
    layer: Layer<'_>,
    (tiles, weight): (Tiles, &[Halves]),
    x: Matrix<'_>,
    room: &mut HalfRoom,
    y: &mut [f32],
) {
    let depth = layer.inputs.div_ceil(DEEP);
    let HalfRoom { rows, sums, .. } = room;
    rows.resize(rows.len().max(depth * HIGH), Line([0; DEEP]));
    let mut shaped = tiles.shape(n.clamp(1, HIGH));
    for first in (0..n).step_by(HIGH) {
        let here = first..n.min(first + HIGH);
        if here.len() != shaped.rows() {
            drop(shaped);
            shaped = tiles.shape(here.len());
        }
        tiles.load(here.clone().map(|r| x.row(r)), layer.inputs, rows);
        for (pair, weight) in weight.chunks_exact(depth * 32).enumerate() {
            shaped.product(rows, weight, sums);
            match layer.f {
                // A separate loop for each activation.
                Activation::Tanh => finish_pair(s, Activation::Tanh, here.clone(), pair, layer, sums, y),
                Activation::Sigmoid => {
                    finish_pair(s, Activation::Sigmoid, here.clone(), pair, layer, sums, y)
                }
                Activation::Relu => finish_pair(s, Activation::Relu, here.clone(), pair, layer, sums, y),
                Activation::Silu => finish_pair(s, Activation::Silu, here.clone(), pair, layer, sums, y),
                Activation::Linear => finish_pair(s, Activation::Linear, here.clone(), pair, layer, sums, y),
            }
        }
    }
}

/// Two chunks of some rows, from their sums without biases.
#[inline(always)]
fn finish_pair<S: Simd>(
    s: S,
    f: Activation,
    rows: Range<usize>,
    pair: usize,
    layer: Layer<'_>,
    sums: &Sums,
    y: &mut [f32],
) {
    let (width, c) = (stride(layer.outputs) / LANES, pair * (WIDE / LANES));
    let y = &mut chunks_mut(y)[rows.start * width..rows.end * width];
    for j in 0..(width - c).min(WIDE / LANES) {
        let bias = s.load(&chunks(layer.bias)[c + j]);
        let beta = layer.beta.map(|beta| s.load(&chunks(beta)[c + j]));
        for (i, y) in y.chunks_exact_mut(width).enumerate() {
            let net = s.add(s.load(&sums[2 * i + j].0), bias);
            s.store(&mut y[c + j], net);
            finish(s, f, beta, None, &mut y[c + j]);
        }
    }
}

/// The same by multiply-adds of floats.
#[inline(always)]
fn by_floats<S: Simd>(s: S, n: usize, layer: Layer<'_>, x: Matrix<'_>, room: &mut HalfRoom, y: &mut [f32]) {
    let (inputs, width) = (layer.inputs, stride(layer.outputs) / LANES);
    let rounded = &mut room.floats;
    rounded.resize(rounded.len().max(2 * inputs), 0.0);
    for first in (0..n).step_by(2) {
        let here = first..n.min(first + 2);
        for (r, to) in here.clone().zip(rounded.chunks_exact_mut(inputs)) {
            for (to, x) in to.iter_mut().zip(&x.row(r)[..inputs]) {
                *to = whole(half(*x));
            }
        }
        let (rows, y) = (&rounded[..], &mut chunks_mut(y)[here.start * width..here.end * width]);
        let (mut c, both) = (0, here.len() == 2);
        while c < width {
            match width - c {
                4.. if S::SUMS >= 16 && both => {
                    sums::<S, 2, 4>(s, c, layer, rows, y);
                    c += 4;
                }
                4.. if S::SUMS >= 16 => {
                    sums::<S, 1, 4>(s, c, layer, rows, y);
                    c += 4;
                }
                _ if S::SUMS >= 6 && both => {
                    sums::<S, 2, 1>(s, c, layer, rows, y);
                    c += 1;
                }
                _ => {
                    sums::<S, 1, 1>(s, c, layer, rows, y);
                    if both {
                        sums::<S, 1, 1>(s, c, layer, &rows[inputs..], &mut y[width..]);
                    }
                    c += 1;
                }
            }
        }
        let beta = layer.beta.map(chunks);
        for y in y.chunks_exact_mut(width) {
            for (c, y) in y.iter_mut().enumerate() {
                finish(s, layer.f, beta.map(|beta| s.load(&beta[c])), None, y);
            }
        }
    }
}

/// Net inputs of chunks `c..c + C` of R rows: blocks of 32 inputs, even and odd ones apart.
#[inline(always)]
fn sums<S: Simd, const R: usize, const C: usize>(
    s: S,
    c: usize,
    layer: Layer<'_>,
    rows: &[f32],
    y: &mut [Chunk],
) {
    let (inputs, width) = (layer.inputs, stride(layer.outputs) / LANES);
    let weight = chunks(layer.weight);
    let mut total = [[s.splat(0.0); C]; R];
    for first in (0..inputs).step_by(DEEP) {
        let (mut even, mut odd) = ([[s.splat(0.0); C]; R], [[s.splat(0.0); C]; R]);
        let end = inputs.min(first + DEEP);
        for k in (first..end).step_by(2) {
            let w = &weight[k * width + c..][..C];
            for i in 0..R {
                let x = s.splat(rows[i * inputs + k]);
                for j in 0..C {
                    even[i][j] = s.fma(x, s.load(&w[j]), even[i][j]);
                }
            }
            if k + 1 == end {
                break;
            }
            let w = &weight[(k + 1) * width + c..][..C];
            for i in 0..R {
                let x = s.splat(rows[i * inputs + k + 1]);
                for j in 0..C {
                    odd[i][j] = s.fma(x, s.load(&w[j]), odd[i][j]);
                }
            }
        }
        for i in 0..R {
            for j in 0..C {
                total[i][j] = s.add(total[i][j], s.add(even[i][j], odd[i][j]));
            }
        }
    }
    for i in 0..R {
        for j in 0..C {
            s.store(&mut y[i * width + c + j], s.add(total[i][j], s.load(&chunks(layer.bias)[c + j])));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::native::simd::Isa;
    use crate::native::tiles;

    /// A pseudo-random number in ±1.
    fn number(i: usize) -> f32 {
        ((i * 7919 + 13) % 2003) as f32 / 1001.0 - 1.0
    }

    /// All instruction sets and AMX give the same bits, which are near to sums in f64 of rounded numbers.
    #[test]
    fn layers_have_the_same_bits_everywhere() {
        for (inputs, outputs) in [(32, 16), (33, 20), (68, 40), (202, 512), (400, 130), (7, 100)] {
            for n in [1, 3, 16, 17, 32, 33, 70] {
                let wide = stride(outputs);
                let weight = (0..inputs * wide).map(|i| match i % wide < outputs {
                    true => whole(half(number(i) / 8.0)),
                    false => 0.0,
                });
                let weight: Vec<f32> = weight.collect();
                let beside = |i: usize, to: f32| if i < outputs { to } else { 0.0 };
                let bias: Vec<f32> = (0..wide).map(|i| beside(i, number(i + 3))).collect();
                let beta: Vec<f32> = (0..wide).map(|i| beside(i, 1.0 + number(i + 5) / 4.0)).collect();
                let x: Vec<f32> = (0..n * inputs).map(|i| number(i * 31 + 7)).collect();
                for (f, beta) in [
                    (Activation::Linear, None),
                    (Activation::Sigmoid, Some(&beta[..])),
                    (Activation::Silu, None),
                ] {
                    let layer = Layer { inputs, outputs, weight: &weight, bias: &bias, beta, f };
                    let run = |isa, tiles: Option<(Tiles, &[Halves])>| {
                        let x = Matrix { data: &x, stride: inputs, rows: None, alike: false };
                        let mut y = vec![7.0; n * wide];
                        half_forward(isa, n, layer, tiles, x, &mut HalfRoom::default(), &mut y);
                        y
                    };
                    let what = format!("{n} rows, {inputs} to {outputs}, {f:?}");
                    let best = Isa::detect();
                    let expected = run(best, None);
                    if f == Activation::Linear {
                        for (r, y) in expected.chunks_exact(wide).enumerate() {
                            let exact = |c: usize| {
                                let product = |k: usize| {
                                    f64::from(whole(half(x[r * inputs + k])))
                                        * f64::from(weight[k * wide + c])
                                };
                                f64::from(bias[c]) + (0..inputs).map(product).sum::<f64>()
                            };
                            for (c, y) in y.iter().enumerate() {
                                assert!(
                                    (f64::from(*y) - exact(c)).abs() < 1e-5,
                                    "{what}: {y}, exactly {}",
                                    exact(c)
                                );
                            }
                        }
                        for isa in Isa::available() {
                            assert_eq!(run(isa, None), expected, "{what}, {isa:?}");
                        }
                    }
                    if let Some(tiles) = Tiles::detect() {
                        let packed = tiles::packed(&weight, inputs, outputs, wide);
                        assert_eq!(run(best, Some((tiles, &packed))), expected, "{what}, AMX");
                    }
                    let padding = expected.chunks_exact(wide).flat_map(|row| &row[outputs..]);
                    assert!(padding.copied().all(|y| y == 0.0), "{what}: padding");
                }
            }
        }
    }
}
