//! Kernels for all pairs of left and right halves: tiles of values, with right halves in the lanes.

use super::ZipInlineExt;
use super::math::activate;
use super::residual::correct;
use crate::native::simd::{Chunk, LANES, Simd};
use crate::program::Activation;

/// Number of right halves in a tile.
pub const TILE: usize = 64;

/// The values of one left half with up to [`TILE`] right halves. Entries after the requested ones are meaningless.
pub type TileRow = [f32; TILE];

/// The columns of a tile in a matrix `[rows, stride]`: [`TILE`] columns from `first` on, which may reach into the
/// padding.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub(crate) data: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) first: usize,
}

impl<'a> Columns<'a> {
    /// `C` chunks of a row from chunk `c` on.
    #[inline(always)]
    fn chunks<const C: usize>(&self, row: usize, c: usize) -> &'a [Chunk] {
        let at = row * self.stride + self.first + c * LANES;
        self.data[at..at + C * LANES].as_chunks().0
    }
}

/// The function of a hidden unit, from its left part a and its right part b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Unit {
    /// f(a + b).
    Sum(Activation),
    /// 1 / (1 + a b): the logistic function of a sum, with a and b the exponentials of its parts. It needs one
    /// exponential per half instead of one per pair.
    Logistic,
}

/// The output layer: f(b + Σᵤ wᵤ hᵤ) of the hidden units hᵤ.
#[derive(Clone, Copy)]
pub(crate) struct Head<'a> {
    pub(crate) unit: Unit,
    pub(crate) weight: &'a [f32],
    pub(crate) bias: f32,
    pub(crate) f: Activation,
}

dispatched! {
    /// Values of all pairs of left halves `[values, units]` and right halves `[units, …]`. If `priors` is not empty,
    /// the values are corrections of the priors.
    fn pair_values(
        head: Head<'_>, left: &[f32], right: Columns<'_>, priors: &[TileRow], values: &mut [TileRow],
    ) = values_body;
}

/// The output layer if the right half selects the expert.
#[derive(Clone, Copy)]
pub(crate) struct Gated<'a> {
    pub(crate) unit: Unit,
    pub(crate) units: usize,
    pub(crate) f: Activation,
    /// Experts of the [`TILE`] right halves, each below [`LANES`].
    pub(crate) experts: &'a [u32],
}

dispatched! {
    /// Like [`pair_values`], with left halves `[values, units, LANES]` by experts, and right halves
    /// `[2 units + 1, …]`: net inputs, output weights, output bias.
    fn gated_values(
        gated: Gated<'_>, left: &[f32], right: Columns<'_>, priors: &[TileRow], values: &mut [TileRow],
    ) = gated_body;
}

dispatched! {
    /// Σₖ `left[i][k]` · `right[k][j]` with `terms` terms.
    fn pair_products(terms: usize, left: &[f32], right: Columns<'_>, values: &mut [TileRow]) = products_body;
}

dispatched! {
    /// Adds the differences between values and exact values, `width` per row.
    fn pair_errors(values: &[TileRow], exact: &[TileRow], width: usize, errors: &mut Errors) = errors_body;
}

/// Sums of differences.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Errors {
    pub(crate) squares: f64,
    pub(crate) absolute: f64,
    /// The largest difference. NaN shows in the sums.
    pub(crate) max: f32,
}

/// Whether four chunks at a time fit in the registers.
#[inline(always)]
const fn wide<S: Simd>() -> bool {
    S::BLOCK >= 4
}

/// Calls a function by the kind of its units: one instance for each, so that the loops do not branch.
macro_rules! by_unit {
    ($call:ident, $s:expr, $net:expr, $($rest:expr),*) => {
        match $net.unit {
            Unit::Logistic => $call($s, Unit::Logistic, $net, $($rest),*),
            Unit::Sum(Activation::Tanh) => $call($s, Unit::Sum(Activation::Tanh), $net, $($rest),*),
            Unit::Sum(Activation::Sigmoid) => $call($s, Unit::Sum(Activation::Sigmoid), $net, $($rest),*),
            Unit::Sum(Activation::Relu) => $call($s, Unit::Sum(Activation::Relu), $net, $($rest),*),
            Unit::Sum(Activation::Silu) => $call($s, Unit::Sum(Activation::Silu), $net, $($rest),*),
            Unit::Sum(Activation::Linear) => $call($s, Unit::Sum(Activation::Linear), $net, $($rest),*),
        }
    };
}

#[inline(always)]
fn values_body<S: Simd>(
    s: S,
    head: Head<'_>,
    left: &[f32],
    right: Columns<'_>,
    priors: &[TileRow],
    values: &mut [TileRow],
) {
    by_unit!(outputs, s, head, left, right, values);
    finish(s, head.f, priors, values);
}

/// Applies the output activation, and corrects the priors.
#[inline(always)]
fn finish<S: Simd>(s: S, f: Activation, priors: &[TileRow], values: &mut [TileRow]) {
    if f != Activation::Linear {
        for y in values.as_flattened_mut().as_chunks_mut().0 {
            s.store(y, activate(s, f, s.load(y)));
        }
    }
    let priors = priors.as_flattened().as_chunks().0;
    for (y, p) in values.as_flattened_mut().as_chunks_mut().0.iter_mut().zip_inline(priors) {
        s.store(y, correct(s, s.load(p), s.load(y)));
    }
}

#[inline(always)]
fn gated_body<S: Simd>(
    s: S,
    gated: Gated<'_>,
    left: &[f32],
    right: Columns<'_>,
    priors: &[TileRow],
    values: &mut [TileRow],
) {
    by_unit!(gated_outputs, s, gated, left, right, values);
    finish(s, gated.f, priors, values);
}

#[inline(always)]
fn gated_outputs<S: Simd>(
    s: S,
    unit: Unit,
    gated: Gated<'_>,
    left: &[f32],
    right: Columns<'_>,
    values: &mut [TileRow],
) {
    if wide::<S>() {
        gated_by::<S, 4>(s, unit, gated, left, right, values);
    } else {
        gated_by::<S, 2>(s, unit, gated, left, right, values);
    }
}

#[inline(always)]
fn gated_by<S: Simd, const C: usize>(
    s: S,
    unit: Unit,
    Gated { units, experts, .. }: Gated<'_>,
    left: &[f32],
    right: Columns<'_>,
    values: &mut [TileRow],
) {
    let (left, experts) = (left.as_chunks::<LANES>().0, experts.as_chunks::<LANES>().0);
    for (left, y) in left.chunks_exact(units).zip_inline(values) {
        for (c, y) in y.as_chunks_mut().0.chunks_exact_mut(C).enumerate() {
            let mut acc = [s.splat(0.0); C];
            let bias = right.chunks::<C>(2 * units, c * C);
            for i in 0..C {
                acc[i] = s.load(&bias[i]);
            }
            for (u, a) in left.iter().enumerate() {
                let (b, w) = (right.chunks::<C>(u, c * C), right.chunks::<C>(units + u, c * C));
                let table = s.load(a);
                for i in 0..C {
                    let a = s.lookup(table, &experts[c * C + i]);
                    acc[i] = s.fma(s.load(&w[i]), hidden(s, unit, a, s.load(&b[i])), acc[i]);
                }
            }
            for i in 0..C {
                s.store(&mut y[i], acc[i]);
            }
        }
    }
}

/// b + Σᵤ wᵤ hᵤ.
#[inline(always)]
fn outputs<S: Simd>(
    s: S,
    unit: Unit,
    head: Head<'_>,
    left: &[f32],
    right: Columns<'_>,
    values: &mut [TileRow],
) {
    if wide::<S>() {
        outputs_by::<S, 4>(s, unit, head, left, right, values);
    } else {
        outputs_by::<S, 2>(s, unit, head, left, right, values);
    }
}

#[inline(always)]
fn outputs_by<S: Simd, const C: usize>(
    s: S,
    unit: Unit,
    head: Head<'_>,
    left: &[f32],
    right: Columns<'_>,
    values: &mut [TileRow],
) {
    for (left, y) in left.chunks_exact(head.weight.len()).zip_inline(values) {
        for (c, y) in y.as_chunks_mut().0.chunks_exact_mut(C).enumerate() {
            let mut acc = [s.splat(head.bias); C];
            for (u, (&a, &w)) in left.iter().zip_inline(head.weight).enumerate() {
                let (a, w, b) = (s.splat(a), s.splat(w), right.chunks::<C>(u, c * C));
                for i in 0..C {
                    acc[i] = s.fma(w, hidden(s, unit, a, s.load(&b[i])), acc[i]);
                }
            }
            for i in 0..C {
                s.store(&mut y[i], acc[i]);
            }
        }
    }
}

#[inline(always)]
fn hidden<S: Simd>(s: S, unit: Unit, a: S::V, b: S::V) -> S::V {
    match unit {
        Unit::Sum(f) => activate(s, f, s.add(a, b)),
        Unit::Logistic => {
            let one = s.splat(1.0);
            s.div_near(one, s.fma(a, b, one))
        }
    }
}

#[inline(always)]
fn products_body<S: Simd>(s: S, terms: usize, left: &[f32], right: Columns<'_>, values: &mut [TileRow]) {
    // Several rows at a time, so that they share the loads of the right halves.
    if wide::<S>() {
        products_by::<S, 4, 4>(s, terms, left, right, values);
    } else {
        products_by::<S, 2, 2>(s, terms, left, right, values);
    }
}

#[inline(always)]
fn products_by<S: Simd, const R: usize, const C: usize>(
    s: S,
    terms: usize,
    left: &[f32],
    right: Columns<'_>,
    values: &mut [TileRow],
) {
    let whole = values.len() / R * R;
    let (blocks, rest) = values.split_at_mut(whole);
    let (left, left_rest) = left.split_at(whole * terms);
    for (left, y) in left.chunks_exact(R * terms).zip_inline(blocks.chunks_exact_mut(R)) {
        products_of::<S, R, C>(s, terms, left, right, y);
    }
    for (left, y) in left_rest.chunks_exact(terms).zip_inline(rest.chunks_exact_mut(1)) {
        products_of::<S, 1, C>(s, terms, left, right, y);
    }
}

#[inline(always)]
fn products_of<S: Simd, const R: usize, const C: usize>(
    s: S,
    terms: usize,
    left: &[f32],
    right: Columns<'_>,
    y: &mut [TileRow],
) {
    // Small terms come first, and many of them are 0.
    let first = (0..terms).find(|k| (0..R).any(|r| left[r * terms + k] != 0.0)).unwrap_or(terms);
    for c in (0..TILE / LANES).step_by(C) {
        let mut acc = [[s.splat(0.0); C]; R];
        for k in first..terms {
            let b = right.chunks::<C>(k, c);
            for r in 0..R {
                let a = s.splat(left[r * terms + k]);
                for i in 0..C {
                    acc[r][i] = s.fma(a, s.load(&b[i]), acc[r][i]);
                }
            }
        }
        for r in 0..R {
            let y = &mut y[r].as_chunks_mut().0[c..c + C];
            for i in 0..C {
                s.store(&mut y[i], acc[r][i]);
            }
        }
    }
}

/// Sums each column of the tile in 32 bits, and the columns in 64 bits.
#[inline(always)]
fn errors_body<S: Simd>(s: S, values: &[TileRow], exact: &[TileRow], width: usize, errors: &mut Errors) {
    let (zero, mut max) = (s.splat(0.0), s.splat(0.0));
    for c in 0..width.div_ceil(LANES) {
        let (mut squares, mut absolute) = (zero, zero);
        let here = LANES.min(width - c * LANES);
        for (values, exact) in values.iter().zip_inline(exact) {
            let (values, exact) = (&values.as_chunks().0[c], &exact.as_chunks().0[c]);
            let mut d = s.sub(s.load(values), s.load(exact));
            if here < LANES {
                // Entries after the width are not values.
                let mut lanes = [0.0; LANES];
                s.store(&mut lanes, d);
                lanes[here..].fill(0.0);
                d = s.load(&lanes);
            }
            squares = s.fma(d, d, squares);
            let d = s.at_least(d, s.sub(zero, d));
            absolute = s.add(d, absolute);
            max = s.at_least(d, max);
        }
        let total = |v: S::V| {
            let mut lanes = [0.0; LANES];
            s.store(&mut lanes, v);
            lanes.into_iter().map(f64::from).sum::<f64>()
        };
        errors.squares += total(squares);
        errors.absolute += total(absolute);
    }
    let mut lanes = [0.0; LANES];
    s.store(&mut lanes, max);
    errors.max = lanes.into_iter().fold(errors.max, f32::max);
}
