//! Layers in bfloat16 numbers, for evaluation: y = f(β ∘ (x W + b)) with x and W rounded, and sums in floats.
//!
//! Products of two rounded numbers are exact in floats. So [multiply-adds of floats](super::bf16_floats), on every instruction set,
//! and [pairs](super::bf16_pairs) give the same bits, unless a sum is below the smallest normal number. [Tiles](super::bf16_tiles) add in
//! another order: their sums differ by rounding.

use super::bf16_floats::{Bf16Buffers, Bf16Weights, floats_forward};
use super::bf16_pairs::Pairs;
use super::bf16_tiles::{self as tiles, HIGH, Sums, Tiles, WIDE};
use super::dense::{Layer, Matrix};
use super::math::finish;
use super::{chunks, chunks_mut, stride};
use crate::bf16::{Bf16Lane, CacheLine, PER_LANE};
use crate::native::aligned::Aligned;
use crate::native::simd::{Isa, LANES, Simd};
use crate::program::{Activation, ValueId};
use std::ops::Range;

/// The processor unit that multiplies numbers of bfloat16.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bf16Unit {
    /// AMX.
    Tiles(Tiles),
    /// AVX-512 BF16.
    Pairs(Pairs),
    /// Multiply-adds of floats.
    Floats,
}

impl Bf16Unit {
    /// All units of this machine, best first.
    pub(crate) fn available() -> Vec<Self> {
        let (tiles, pairs) = (Tiles::detect().map(Self::Tiles), Pairs::detect().map(Self::Pairs));
        [tiles, pairs, Some(Self::Floats)].into_iter().flatten().collect()
    }
}

/// Layers in bfloat16 with the buffers of one thread.
#[derive(Debug)]
pub(crate) struct Bf16Layers {
    unit: Bf16Unit,
    /// Weights of layers as the unit reads them, by the layer's value; empty if they are not needed yet or have changed.
    packed: Vec<Vec<Bf16Lane>>,
    buffers: Bf16Buffers,
}

/// Whether layers of this shape gain by bfloat16.
pub(crate) fn suits_bf16(inputs: usize, outputs: usize) -> bool {
    inputs >= PER_LANE && outputs >= 16
}

impl Bf16Layers {
    /// Layers for a program with this number of values, on a unit of this machine.
    pub(crate) fn new(unit: Bf16Unit, values: usize) -> Self {
        Self { unit, packed: vec![Vec::new(); values], buffers: Bf16Buffers::default() }
    }

    /// The same layers with buffers for another thread.
    pub(crate) fn copied(&self) -> Self {
        Self::new(self.unit, self.packed.len())
    }

    /// Forgets copies of the parameters.
    pub(crate) fn forget(&mut self) {
        self.packed.iter_mut().for_each(Vec::clear);
    }

    /// y = f(β ∘ (x W + b)) for `n` rows of the layer with the value `out`, of at least two outputs. Its weights are numbers of bfloat16.
    pub(crate) fn forward(
        &mut self,
        isa: Isa,
        n: usize,
        (layer, out): (Layer<'_>, ValueId),
        x: Matrix<'_>,
        panels: &mut Aligned,
        y: &mut [f32],
    ) {
        let (packed, buffers) = (&mut self.packed[out], &mut self.buffers);
        match self.unit {
            Bf16Unit::Tiles(tiles) => {
                if packed.is_empty() {
                    *packed = tiles::packed(layer.weight, layer.inputs, layer.outputs, stride(layer.outputs));
                }
                tiles_forward(isa, n, layer, (tiles, packed), x, buffers, y);
            }
            Bf16Unit::Pairs(pairs) => pairs.forward(n, layer, Bf16Weights { packed, panels }, x, buffers, y),
            Bf16Unit::Floats => floats_forward(isa, n, layer, panels, x, buffers, y),
        }
    }
}

dispatched! {
    fn tiles_forward(
        n: usize, layer: Layer<'_>, tiles: (Tiles, &[Bf16Lane]), x: Matrix<'_>, room: &mut Bf16Buffers, y: &mut [f32],
    ) = by_tiles;
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
    (tiles, weight): (Tiles, &[Bf16Lane]),
    x: Matrix<'_>,
    room: &mut Bf16Buffers,
    y: &mut [f32],
) {
    let depth = layer.inputs.div_ceil(PER_LANE);
    let Bf16Buffers { rows, sums, .. } = room;
    rows.resize(rows.len().max(depth * HIGH), CacheLine([0; PER_LANE]));
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
    // If f(0) ≠ 0, resets the padding, which must be 0 for the next layer.
    if layer.f == Activation::Sigmoid {
        y.chunks_exact_mut(stride(layer.outputs)).take(n).for_each(|row| row[layer.outputs..].fill(0.0));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bf16::{from_bf16, to_bf16};
    use crate::native::kernels::forward::forward_alone;

    /// A pseudo-random number in ±1.
    fn number(i: usize) -> f32 {
        ((i * 7919 + 13) % 2003) as f32 / 1001.0 - 1.0
    }

    /// Net inputs in the order of tiles: blocks of 32 inputs, even and odd ones apart.
    fn by_blocks(layer: Layer<'_>, x: &[f32]) -> Vec<f32> {
        let wide = stride(layer.outputs);
        let net = |c: usize| {
            let mut total = 0.0_f32;
            for first in (0..layer.inputs).step_by(PER_LANE) {
                let mut sums = [0.0_f32; 2];
                for k in first..layer.inputs.min(first + PER_LANE) {
                    sums[(k - first) % 2] = x[k].mul_add(layer.weight[k * wide + c], sums[(k - first) % 2]);
                }
                total += sums[0] + sums[1];
            }
            total + layer.bias[c]
        };
        (0..wide).map(net).collect()
    }

    /// All instruction sets and pairs give the bits of the layer in floats with rounded inputs. Tiles give those of their order. Both are
    /// near to sums in f64.
    #[test]
    fn layers_have_the_bits_of_their_order() {
        // Buffers of one thread, for all layers.
        let mut layers = Bf16Layers::new(Bf16Unit::Floats, 1);
        for (inputs, outputs) in
            [(32, 16), (33, 20), (68, 40), (202, 512), (400, 130), (7, 100), (64, 272), (32, 64)]
        {
            for (n, share) in [
                (1, 1),
                (1, 9),
                (2, 1),
                (3, 1),
                (8, 1),
                (16, 9),
                (17, 1),
                (33, 1),
                (66, 1),
                (70, 9),
                (150, 1),
            ] {
                let wide = stride(outputs);
                let weight = (0..inputs * wide).map(|i| match i % wide < outputs {
                    true => from_bf16(to_bf16(number(i) / 8.0)),
                    false => 0.0,
                });
                let weight: Vec<f32> = weight.collect();
                let unpadded = |i: usize, to: f32| if i < outputs { to } else { 0.0 };
                let bias: Vec<f32> = (0..wide).map(|i| unpadded(i, number(i + 3))).collect();
                let beta: Vec<f32> = (0..wide).map(|i| unpadded(i, 1.0 + number(i + 5) / 4.0)).collect();
                // One in `share` is not 0.
                let x = |i: usize| if (i * 31 / 7).is_multiple_of(share) { number(i * 31 + 7) } else { 0.0 };
                let mut x: Vec<f32> = (0..n * inputs).map(x).collect();
                if share == 1 {
                    // Halfway between two numbers, denormal, and the smallest one.
                    let special = [1.0 + 1.0 / 256.0, 1.0 + 3.0 / 256.0, -1e-40, f32::MIN_POSITIVE, -0.0];
                    x[..special.len()].copy_from_slice(&special);
                }
                let rounded: Vec<f32> = x.iter().map(|&x| from_bf16(to_bf16(x))).collect();
                for (f, beta) in [
                    (Activation::Linear, None),
                    (Activation::Sigmoid, Some(&beta[..])),
                    (Activation::Silu, None),
                ] {
                    let layer = Layer { inputs, outputs, weight: &weight, bias: &bias, beta, f };
                    let matrix =
                        |data| Matrix { data, stride: inputs, rows: None, similar_neighbours: false };
                    let mut run = |isa, unit: Bf16Unit| {
                        let mut y = vec![7.0; n * wide];
                        layers.unit = unit;
                        layers.forget();
                        layers.forward(isa, n, (layer, 0), matrix(&x), &mut Aligned::default(), &mut y);
                        y
                    };
                    let what = format!("{n} rows, one in {share}, {inputs} to {outputs}, {f:?}");
                    for isa in Isa::available() {
                        let mut expected = vec![7.0; n * wide];
                        forward_alone(isa, n, layer, matrix(&rounded), &mut expected);
                        assert_eq!(run(isa, Bf16Unit::Floats), expected, "{what}, {isa:?}");
                        if f == Activation::Linear {
                            assert_eq!(expected, run(Isa::Portable, Bf16Unit::Floats), "{what}, {isa:?}");
                        }
                    }
                    let best = Isa::detect();
                    let expected = run(best, Bf16Unit::Floats);
                    for unit in Bf16Unit::available() {
                        let found = run(best, unit);
                        let padding = found.chunks_exact(wide).flat_map(|row| &row[outputs..]);
                        assert!(padding.copied().all(|y| y == 0.0), "{what}, {unit:?}: padding");
                        if !matches!(unit, Bf16Unit::Tiles(_)) {
                            assert_eq!(found, expected, "{what}, {unit:?}");
                        }
                        if f != Activation::Linear {
                            continue;
                        }
                        for (r, y) in found.chunks_exact(wide).enumerate() {
                            let x = &rounded[r * inputs..][..inputs];
                            if matches!(unit, Bf16Unit::Tiles(_)) {
                                assert_eq!(y, by_blocks(layer, x), "{what}, {unit:?}");
                            }
                            for (c, y) in y.iter().enumerate() {
                                let product = |k: usize| f64::from(x[k]) * f64::from(weight[k * wide + c]);
                                let exact = f64::from(bias[c]) + (0..inputs).map(product).sum::<f64>();
                                assert!(
                                    (f64::from(*y) - exact).abs() < 1e-5,
                                    "{what}, {unit:?}: {y}, exactly {exact}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
