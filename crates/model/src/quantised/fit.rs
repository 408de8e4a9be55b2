//! Post-training quantisation to int8, layer by layer, calibrated by rows: scales of inputs and sums from their ranges, then weights
//! that are rounded jointly so that Σ w x changes little over the rows, then biases that restore the mean of each sum.

use super::chain::{Chain, Layer, chain_of_rows};
use super::int8::units;
use crate::error::ModelError;
use crate::native::int8::Int8Units;
use crate::native::kernels::int8::{self, Int8Isa, PIECES, mul_rounded};
use crate::program::{Activation, Program};
use crate::tensor::{ByName, Tensor};
use adept_rows::Rows;

/// Fraction bits of a curve whose values lie in [−1, 1].
const FINE: u32 = 14;
/// Maximum number of fraction bits of the first layer's sums.
const MOST_BITS: u32 = 12;
/// At most one row in this many may need sums of more than 16 bits.
const RARE: usize = 1000;
/// Clipping thresholds of 8-bit weights that are tried, as shares of the largest weight.
const CLIPPED: [f64; 5] = [1.0, 0.85, 0.7, 0.55, 0.4];
/// Range of an unbounded unit as a multiple of the largest activation seen, and its minimum as a share of the largest one of all units.
const ROOM: f64 = 1.25;
const QUIET: f64 = 0.3;
/// Damping: the share of the mean variance of inputs that is added to each variance.
const DAMPED: f64 = 0.01;
/// Range of an input without a bound, as a multiple of the largest size seen.
const BEYOND: f32 = 2.0;

/// Least number of rows that calibrate an expert, if there are so many: those of other experts fill up.
const CALIBRATING: usize = 512;

/// The tensors of an int8 network with these flat parameters, calibrated by `rows`. Tables that pick an expert stay as they are.
///
/// # Errors
/// [`ModelError::Unsupported`] if it is not a single network with a hidden layer, nor experts of this kind of which each row runs one, or
/// if weights or inputs are too large for 16 bits.
///
/// # Panics
/// If there are no rows, or if rows or parameters do not fit the program.
pub(super) fn tensors(program: &Program, params: &[f32], rows: &Rows) -> Result<Vec<Tensor>, ModelError> {
    assert!(!rows.is_empty(), "rows give the scales");
    let mut tensors = program.tensors_of(params)?;
    let chains = Chain::all_of(program, Some(params))?;
    tensors.retain(|tensor| program.params.iter().any(|param| param.fixed && param.name == tensor.name));
    let taken = chain_of_rows(program, params, rows);
    for (b, (prefix, chain)) in chains.iter().enumerate() {
        let (mut own, other): (Vec<usize>, Vec<usize>) =
            (0..rows.len()).partition(|&row| taken.as_ref().is_none_or(|taken| taken[row] == b));
        let lacking = CALIBRATING.saturating_sub(own.len());
        own.extend(other.into_iter().take(lacking));
        let x: Vec<f32> =
            own.iter().flat_map(|&r| chain.columns.iter().map(move |(c, _)| rows.dense_row(r)[*c])).collect();
        let named = |tensor: Tensor| Tensor { name: format!("{prefix}{}", tensor.name), ..tensor };
        tensors.extend(fitted(chain, &x)?.into_iter().map(named));
    }
    Ok(tensors)
}

/// The tensors of a chain, calibrated by rows of its inputs.
fn fitted(chain: &Chain, x: &[f32]) -> Result<Vec<Tensor>, ModelError> {
    let isa = Int8Isa::available()[0];
    let mut tensors = Vec::new();
    let (first, rest) = (&chain.layers[0], &chain.layers[1..]);
    // Net inputs in floats.
    let mut net = first.net(x);
    let seen = seen(x, chain);
    let Some((m, scale)) = bits(first, finest(first.f, &net), x, chain, &seen) else {
        return Err(ModelError::Unsupported(
            "the products of inputs and weights in the first layer do not fit 16 bits: no whole numbers come near them"
                .into(),
        ));
    };
    let shape = Shape::of(first, &net, m);
    let unit = f64::from(1_u32 << m);
    let wide = |w: f32, k: usize| f64::from(w) * unit * 32_768.0 / f64::from(scale[k]);
    let (inputs, outputs) = (first.inputs, first.outputs);
    // Weights are multiplied by the quantised inputs.
    let together = Together::of(inputs, x.iter().enumerate().map(|(i, x)| f64::from(x * scale[i % inputs])));
    let mut weight = vec![0_i16; inputs * outputs];
    for o in 0..outputs {
        let wanted: Vec<f64> = (0..inputs).map(|k| wide(first.weight[k * outputs + o], k)).collect();
        let found = together.rounded(&wanted, 1.0, 32_767.0);
        found.iter().enumerate().for_each(|(k, w)| weight[k * outputs + o] = *w as i16);
    }
    // Sums as they will be, without bias, against what they should be: rounding must not shift the mean.
    let mut whole = vec![0; x.len()];
    for (x, to) in x.chunks_exact(inputs).zip(whole.chunks_exact_mut(inputs)) {
        int8::quantise(isa, x, &scale, to);
    }
    let sums = |row: &[i16]| {
        let mut sums = vec![0_i32; outputs];
        for (x, weight) in row.iter().zip(weight.chunks_exact(outputs)).filter(|(x, _)| **x != 0) {
            sums.iter_mut().zip(weight).for_each(|(sum, w)| *sum += i32::from(mul_rounded(*w, *x)));
        }
        sums
    };
    let all: Vec<Vec<i32>> = whole.chunks_exact(inputs).map(sums).collect();
    let bias = (0..outputs).map(|o| {
        let wanted = mean(net.iter().skip(o).step_by(outputs).map(|z| f64::from(*z) * unit));
        near(wanted - mean(all.iter().map(|sums| f64::from(sums[o]))))
    });
    let bias: Vec<i16> = bias.collect();
    tensors.push(Tensor::f32("input.scale", vec![inputs], scale));
    tensors.push(Tensor::i16("layer.0.weight", vec![inputs, outputs], weight));
    tensors.push(Tensor::i16("layer.0.bias", vec![outputs], bias.clone()));
    shape.write(0, &mut tensors);
    let hidden = units(&ByName::new(&tensors), 0, outputs)?;
    let mut u: Vec<u8> = Vec::new();
    for sums in &all {
        let net = sums.iter().zip(&bias).map(|(sum, bias)| int8::nearest(*sum as f32 + f32::from(*bias)));
        u.extend(values_of(&hidden, isa, net));
    }
    let mut shape = shape;
    let mut values: Vec<f32> = net.iter().map(|z| first.f.of(*z)).collect();
    for (l, layer) in rest.iter().enumerate().map(|(l, layer)| (l + 1, layer)) {
        net = layer.net(&values);
        // Net inputs of a hidden layer are as fine as 16 bits allow.
        let next = (l < rest.len()).then(|| Shape::of(layer, &net, finest(layer.f, &net)));
        let unit = f64::from(1_u32 << next.as_ref().map_or(0, |next| next.m));
        let (weight, scale) = shape.narrowed(layer, unit, &u);
        let (inputs, outputs) = (layer.inputs, layer.outputs);
        let products = u.chunks_exact(inputs).flat_map(|u| {
            let weight = &weight;
            (0..outputs).map(move |o| {
                let terms = u.iter().zip(weight[o..].iter().step_by(outputs));
                terms.map(|(u, w)| i32::from(*u) * i32::from(*w)).sum::<i32>()
            })
        });
        let products: Vec<i32> = products.collect();
        let bias = (0..outputs).map(|o| {
            let of_unit = net.iter().zip(&products).skip(o).step_by(outputs);
            let wanted = mean(of_unit.clone().map(|(z, _)| f64::from(*z) * unit));
            (wanted - mean(of_unit.map(|(_, sum)| f64::from(*sum) * f64::from(scale[o])))) as f32
        });
        let bias: Vec<f32> = bias.collect();
        if let Some(next) = &next {
            next.write(l, &mut tensors);
            let hidden = units(&ByName::new(&tensors), l, outputs)?;
            u.clear();
            for sums in products.chunks_exact(outputs) {
                let scaled = sums.iter().zip(&scale).zip(&bias);
                let net = scaled.map(|((sum, scale), bias)| int8::nearest(*sum as f32 * scale + bias));
                u.extend(values_of(&hidden, isa, net));
            }
        }
        tensors.push(Tensor::i8(format!("layer.{l}.weight"), vec![inputs, outputs], weight));
        tensors.push(Tensor::f32(format!("layer.{l}.scale"), vec![outputs], scale));
        tensors.push(Tensor::f32(format!("layer.{l}.bias"), vec![outputs], bias));
        values = net.iter().map(|z| layer.f.of(*z)).collect();
        if let Some(next) = next {
            shape = next;
        }
    }
    Ok(tensors)
}

impl Layer {
    /// Net inputs of rows.
    fn net(&self, x: &[f32]) -> Vec<f32> {
        let mut net = Vec::with_capacity(x.len() / self.inputs * self.outputs);
        for x in x.chunks_exact(self.inputs) {
            let start = net.len();
            net.extend_from_slice(&self.bias);
            for (x, weight) in
                x.iter().zip(self.weight.chunks_exact(self.outputs)).filter(|(x, _)| **x != 0.0)
            {
                net[start..].iter_mut().zip(weight).for_each(|(net, w)| *net += x * w);
            }
        }
        net
    }
}

/// The largest size of each input.
fn seen(x: &[f32], chain: &Chain) -> Vec<f32> {
    let inputs = chain.columns.len();
    let most = |k: usize| x.iter().skip(k).step_by(inputs).fold(0.0, |most: f32, x| most.max(x.abs()));
    (0..inputs).map(most).collect()
}

/// Fraction bits of the first layer's sums, and the scales of its inputs: the most bits at which all contributions in these rows fit
/// 16 bits and, in all but few rows, all their sums too.
fn bits(first: &Layer, most: u32, x: &[f32], chain: &Chain, seen: &[f32]) -> Option<(u32, Vec<f32>)> {
    let largest: Vec<f32> = first
        .weight
        .chunks_exact(first.outputs)
        .map(|row| row.iter().fold(0.0, |most: f32, w| most.max(w.abs())))
        .collect();
    let most_bias = first.bias.iter().fold(0.0, |most: f32, b| most.max(b.abs()));
    // One is added for the rounding of a contribution.
    let sum = |row: &[f32], unit: f32| {
        let parts = row.iter().zip(&largest).filter(|(x, _)| **x != 0.0);
        most_bias * unit + parts.map(|(x, w)| x.abs() * w * unit + 1.0).sum::<f32>()
    };
    let lowest = (PIECES.ilog2() - 1).saturating_sub(end(first.f));
    (lowest..=most).rev().find_map(|m| {
        let unit = (1_u32 << m) as f32;
        let rows = x.chunks_exact(first.inputs);
        let large = rows.filter(|row| sum(row, unit) > 32_767.0).count();
        if large * RARE > x.len() / first.inputs || most_bias * unit > 32_767.0 {
            return None;
        }
        let scale = chain.columns.iter().zip(seen).zip(&largest).map(|(((_, bound), seen), largest)| {
            // As far as an input may go, and as far as its contributions fit.
            let wanted = bound.unwrap_or_else(|| (BEYOND * seen).max(1.0)).max(*seen);
            let fits = if *largest > 0.0 { 32_767.0 / (largest * unit) } else { f32::INFINITY };
            (fits > 0.0 && fits >= *seen).then(|| 32_767.0 / wanted.min(fits))
        });
        Some((m, scale.collect::<Option<_>>()?))
    })
}

/// Quantisation of the units of a layer to numbers from 0 to 255.
struct Shape {
    f: Activation,
    /// Fraction bits of net inputs.
    m: u32,
    gain: Vec<i16>,
    zero: Vec<i16>,
}

/// Exponent d of the ends ±2ᵈ of the pieces of an activation: beyond them it is within half a step of its asymptote.
fn end(f: Activation) -> u32 {
    if f == Activation::Tanh { 2 } else { 3 }
}

/// The most fraction bits at which these net inputs fit 16 bits, except where the activation is saturated.
fn finest(f: Activation, net: &[f32]) -> u32 {
    let most = MOST_BITS.min(15 - end(f));
    if f.is_bounded() {
        return most;
    }
    let farthest = net.iter().fold(1.0, |most: f32, z| most.max(z.abs()));
    most.min((32_767.0 / farthest).log2().floor().max(2.0) as u32)
}

impl Shape {
    fn of(layer: &Layer, net: &[f32], m: u32) -> Self {
        // What a unit reaches, with room for rows that were not seen; more for units that were hardly active.
        let most = |unit: usize| {
            let of = net.iter().skip(unit).step_by(layer.outputs).map(|z| layer.f.of(*z).abs());
            f64::from(of.fold(0.0, f32::max))
        };
        let seen: Vec<f64> = (0..layer.outputs).map(most).collect();
        let least = QUIET * seen.iter().fold(0.0, |a: f64, b| a.max(*b));
        let reach = |unit: usize| (ROOM * seen[unit]).max(least);
        let step_and_zero = |unit: usize| match layer.f {
            Activation::Sigmoid => (1.0 / 255.0, 0),
            Activation::Tanh => (1.0 / 127.0, 128),
            Activation::Relu => (reach(unit) / 255.0, 0),
            // It is −0.279 at least.
            Activation::Silu => {
                let step = (reach(unit).max(0.279) + 0.28) / 255.0;
                (step, (0.28 / step).ceil() as i16)
            }
            Activation::Linear => (reach(unit) / 127.0, 128),
        };
        let (mut gain, mut zero) = (Vec::new(), Vec::new());
        for unit in 0..layer.outputs {
            let (step, low) = step_and_zero(unit);
            let exact = 32_768.0 / (f64::from(1_u32 << Self::fine(layer.f, m)) * step.max(1e-9));
            gain.push(exact.round().clamp(1.0, 32_767.0) as i16);
            zero.push(low);
        }
        Self { f: layer.f, m, gain, zero }
    }

    /// Fraction bits of the activation's values: those of net inputs, unless the activation is bounded.
    fn fine(f: Activation, m: u32) -> u32 {
        if f.is_bounded() { FINE } else { m }
    }

    /// The value of one step of a unit.
    fn step(&self, unit: usize) -> f64 {
        32_768.0 / (f64::from(1_u32 << Self::fine(self.f, self.m)) * f64::from(self.gain[unit]))
    }

    fn write(&self, layer: usize, tensors: &mut Vec<Tensor>) {
        let d = end(self.f);
        let (end, fine) = (f64::from(1_u32 << d), f64::from(1_u32 << Self::fine(self.f, self.m)));
        let (line, of) = match self.f {
            Activation::Tanh | Activation::Sigmoid => (0, self.f),
            Activation::Silu | Activation::Relu => (1, Activation::Relu),
            Activation::Linear => (2, Activation::Linear),
        };
        let value = |i: usize| {
            let z = (end * (2.0 * i as f64 / PIECES as f64 - 1.0)) as f32;
            near(fine * f64::from(self.f.of(z) - if line == 0 { 0.0 } else { of.of(z) }))
        };
        let units = vec![self.gain.len()];
        let name = |part: &str| format!("layer.{layer}.{part}");
        tensors.push(Tensor::u64(name("form"), vec![3], vec![self.m.into(), d.into(), line]));
        tensors.push(Tensor::i16(name("curve"), vec![PIECES + 1], (0..=PIECES).map(value).collect()));
        tensors.push(Tensor::i16(name("gain"), units.clone(), self.gain.clone()));
        tensors.push(Tensor::i16(name("zero"), units, self.zero.clone()));
    }

    /// The weights of the next layer in 8 bits, and the scale of each of its outputs. `u` holds the 8-bit activations of this layer, row by row.
    fn narrowed(&self, next: &Layer, unit: f64, u: &[u8]) -> (Vec<i8>, Vec<f32>) {
        let (inputs, outputs) = (next.inputs, next.outputs);
        let together = Together::of(inputs, u.iter().map(|u| f64::from(*u)));
        let (mut weight, mut scale) = (vec![0; inputs * outputs], Vec::with_capacity(outputs));
        for o in 0..outputs {
            let of = |i: usize| f64::from(next.weight[i * outputs + o]) * self.step(i) * unit;
            let wanted: Vec<f64> = (0..inputs).map(of).collect();
            let largest = wanted.iter().fold(0.0, |most: f64, w| most.max(w.abs()));
            // Few large weights may be better limited, so that the others are finer.
            let tried = CLIPPED.iter().map(|share| {
                let step = f64::from((share * largest / 127.0).max(1e-30) as f32);
                let found = together.rounded(&wanted, step, 127.0);
                let rest: Vec<f64> = wanted.iter().zip(&found).map(|(w, q)| w - q * step).collect();
                (together.error(&rest), step, found)
            });
            let nearest = tried.min_by(|a, b| a.0.total_cmp(&b.0));
            let (_, step, found) = nearest.expect("some share is tried");
            found.iter().enumerate().for_each(|(i, q)| weight[i * outputs + o] = *q as i8);
            scale.push(step as f32);
        }
        (weight, scale)
    }
}

/// The factor R of the covariance RᵀR of the inputs of a layer, over rows. Rounding of weights should keep their sums with inputs.
struct Together {
    n: usize,
    /// `[n, n]`, upper.
    r: Vec<f64>,
}

impl Together {
    /// The factor for rows of `n` inputs.
    fn of(n: usize, x: impl Iterator<Item = f64>) -> Self {
        let x: Vec<f64> = x.collect();
        let count = (x.len() / n) as f64;
        let mut means = vec![0.0; n];
        x.chunks_exact(n).for_each(|row| means.iter_mut().zip(row).for_each(|(m, x)| *m += x / count));
        let mut a = vec![0.0; n * n];
        let mut row = vec![0.0; n];
        for x in x.chunks_exact(n) {
            row.iter_mut().zip(x).zip(&means).for_each(|((to, x), mean)| *to = x - mean);
            for (i, &x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                a[i * n + i..][..n - i].iter_mut().zip(&row[i..]).for_each(|(a, y)| *a += x * y);
            }
        }
        // Inputs that never varied, or only together, still have errors that count.
        let middle = (0..n).map(|i| a[i * n + i]).sum::<f64>() / n as f64;
        (0..n).for_each(|i| a[i * n + i] += DAMPED * middle + 1e-9);
        // Cholesky, row by row.
        for i in 0..n {
            let (done, rest) = a.split_at_mut(i * n);
            for above in done.chunks_exact(n) {
                let f = above[i];
                if f != 0.0 {
                    rest[i..n].iter_mut().zip(&above[i..]).for_each(|(a, b)| *a -= f * b);
                }
            }
            let root = rest[i].max(1e-12).sqrt();
            rest[..i].fill(0.0);
            rest[i..n].iter_mut().for_each(|a| *a /= root);
        }
        Self { n, r: a }
    }

    /// Integers q, at most `most` in size, with q · step near to these weights: each compensates the rounding of those before it, so that
    /// sums with inputs change little (Babai's nearest plane, as in GPTQ, Frantar et al. 2023).
    fn rounded(&self, wanted: &[f64], step: f64, most: f64) -> Vec<f64> {
        let n = self.n;
        let (mut found, mut rest) = (vec![0.0; n], vec![0.0; n]);
        for i in (0..n).rev() {
            let r = &self.r[i * n..][..n];
            let owed: f64 = r[i + 1..].iter().zip(&rest[i + 1..]).map(|(r, e)| r * e).sum();
            let q = ((wanted[i] + owed / r[i]) / step).round().clamp(-most, most);
            (found[i], rest[i]) = (q, wanted[i] - q * step);
        }
        found
    }

    /// The squared error of sums over all rows if weights differ by this.
    fn error(&self, rest: &[f64]) -> f64 {
        let rows = self.r.chunks_exact(self.n);
        rows.map(|r| r.iter().zip(rest).map(|(r, e)| r * e).sum::<f64>().powi(2)).sum()
    }
}

/// The 8-bit activations of a row of units with these net inputs, without padding.
fn values_of(hidden: &Int8Units, isa: Int8Isa, net: impl ExactSizeIterator<Item = i16>) -> Vec<u8> {
    let units = net.len();
    let mut z: Vec<i16> = net.collect();
    z.resize(hidden.gain.len(), 0);
    let mut u = vec![0; z.len()];
    hidden.activate(isa, &z, &mut u);
    u.truncate(units);
    u
}

/// The nearest 16-bit integer.
fn near(x: f64) -> i16 {
    x.round().clamp(-32_767.0, 32_767.0) as i16
}

fn mean(of: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    of.for_each(|v| {
        sum += v;
        count += 1.0;
    });
    sum / f64::max(count, 1.0)
}
