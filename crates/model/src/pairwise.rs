//! Values of all pairs of two halves.
//!
//! Where a row is the sum of what two halves contribute, row(i, j) = left(i) + right(j), so are the net inputs of a
//! network's first layer: they are computed once for each half, and what is left for each of the pairs is the hidden
//! units and the output.

use crate::channel::Rows;
use crate::native::Isa;
use crate::native::{Columns, Errors, Head, TILE, TileRow, Unit, pair_errors, pair_products, pair_values};
use crate::program::{Activation, Op, Program};
use std::ops::Range;

/// Largest exponent, in size, of either half's part of a logistic unit: products of two such exponentials and their
/// reciprocals are floats.
const MOST: f64 = 40.0;

/// A network of one hidden layer, or such a network that corrects a prior, to be run on pairs.
#[derive(Clone, Debug)]
pub struct Pairwise {
    isa: Isa,
    /// The columns of a row that it reads.
    columns: Vec<usize>,
    hidden: Layer,
    output: Layer,
    corrects: bool,
}

/// f(x W + b), with the sensitivities in W and b.
#[derive(Clone, Debug)]
struct Layer {
    /// `[inputs, outputs]`.
    weight: Vec<f64>,
    bias: Vec<f64>,
    f: Activation,
}

/// What a network needs to know of each half: its values for all pairs.
#[derive(Clone, Debug)]
pub struct PairValues {
    isa: Isa,
    unit: Unit,
    /// `[left halves, units]`.
    left: Vec<f32>,
    right: Padded,
    weight: Vec<f32>,
    bias: f32,
    f: Activation,
}

/// Σₖ `left[i][k]` · `right[k][j]` for all pairs.
#[derive(Clone, Debug)]
pub struct PairProducts {
    isa: Isa,
    terms: usize,
    /// `[left halves, terms]`.
    left: Vec<f32>,
    right: Padded,
}

/// A matrix with one column for each right half, and columns of zeros behind so that a tile may begin at any half.
#[derive(Clone, Debug)]
struct Padded {
    data: Vec<f32>,
    stride: usize,
}

impl Padded {
    fn new(rows: usize, halves: usize, entry: impl Fn(usize, usize) -> f32) -> Self {
        let stride = halves + TILE;
        let mut data = vec![0.0; rows * stride];
        for (row, to) in data.chunks_exact_mut(stride).enumerate() {
            to[..halves].iter_mut().enumerate().for_each(|(half, to)| *to = entry(row, half));
        }
        Self { data, stride }
    }

    fn from(&self, first: usize) -> Columns<'_> {
        assert!(first + TILE <= self.stride, "a tile from half {first} on");
        Columns { data: &self.data, stride: self.stride, first }
    }
}

impl Pairwise {
    /// The network of a program; none if it is of another form.
    pub(crate) fn of(program: &Program, parameters: &[f32], isa: Isa) -> Option<Self> {
        let mut ops = program.body.ops.iter().filter(|op| !matches!(op, Op::Density { .. })).peekable();
        let Some(Op::Input { channels, .. }) = ops.next() else { return None };
        let columns = |&c: &usize| {
            let first = program.layout.offsets[c];
            first..first + program.channels[c].kind.dense_width()
        };
        let entries = |id: usize| {
            let param = &program.params[id];
            parameters[param.offset..][..param.len()].iter().map(|&v| f64::from(v)).collect::<Vec<_>>()
        };
        let mut end = 0;
        let mut layer = || {
            let Some(Op::Affine { weight, bias, out, .. }) = ops.next() else { return None };
            let mut layer = Layer { weight: entries(*weight), bias: entries(*bias), f: Activation::Linear };
            end = *out;
            if let Some(Op::Scale { beta, out, .. }) = ops.next_if(|op| matches!(op, Op::Scale { .. })) {
                let beta = entries(*beta);
                let rows = layer.weight.chunks_exact_mut(beta.len()).chain([&mut layer.bias[..]]);
                rows.for_each(|row| row.iter_mut().zip(&beta).for_each(|(w, b)| *w *= b));
                end = *out;
            }
            if let Some(Op::Activation { f, out, .. }) = ops.next_if(|op| matches!(op, Op::Activation { .. }))
            {
                (layer.f, end) = (*f, *out);
            }
            Some(layer)
        };
        let (hidden, output) = (layer()?, layer()?);
        let residual = ops.next_if(|op| matches!(op, Op::Residual { .. }));
        if let Some(Op::Residual { out, .. }) = residual {
            end = *out;
        }
        let whole = ops.next().is_none() && end == program.output() && program.outputs() == 1;
        let columns = channels.iter().flat_map(columns).collect();
        whole.then_some(Self { isa, columns, hidden, output, corrects: residual.is_some() })
    }

    /// Whether its values are those of a prior, corrected.
    pub fn corrects(&self) -> bool {
        self.corrects
    }

    /// Makes ready to value all pairs, given the rows of each left half with right half 0, and of left half 0 with each
    /// right one.
    pub fn prepare(&self, left: &Rows, right: &Rows) -> PairValues {
        let units = self.hidden.bias.len();
        let base = vec![0.0; self.columns.len()];
        let first: Vec<f64> = match right.is_empty() {
            true => base.clone(),
            false => self.columns.iter().map(|&c| f64::from(right.dense_row(0)[c])).collect(),
        };
        let mut a = self.net_inputs(left, &base, &self.hidden.bias);
        let mut b = self.net_inputs(right, &first, &vec![0.0; units]);
        // Right parts on both sides of zero, so that their exponentials have room.
        for u in 0..units {
            let of_unit = || b.iter().skip(u).step_by(units).copied();
            let middle = (of_unit().fold(0.0, f64::min) + of_unit().fold(0.0, f64::max)) / 2.0;
            a.iter_mut().skip(u).step_by(units).for_each(|a| *a += middle);
            b.iter_mut().skip(u).step_by(units).for_each(|b| *b -= middle);
        }
        // tanh(z) = 1 − 2 / (1 + exp 2z), the sigmoid 1 / (1 + exp −z).
        let (scale, factor, constant) = match self.hidden.f {
            Activation::Tanh => (2.0, -2.0, 1.0),
            _ => (-1.0, 1.0, 0.0),
        };
        let within = |net: &[f64]| net.iter().all(|z| (z * scale).abs() <= MOST);
        let squashes = matches!(self.hidden.f, Activation::Tanh | Activation::Sigmoid);
        let logistic = squashes && within(&a) && within(&b);
        let part = |z: f64| if logistic { (scale * z).exp() as f32 } else { z as f32 };
        let (mut weight, mut bias) = (self.output.weight.clone(), self.output.bias[0]);
        if logistic {
            bias += constant * weight.iter().sum::<f64>();
            weight.iter_mut().for_each(|w| *w *= factor);
        }
        PairValues {
            isa: self.isa,
            unit: if logistic { Unit::Logistic } else { Unit::Sum(self.hidden.f) },
            left: a.iter().map(|&z| part(z)).collect(),
            right: Padded::new(units, right.len(), |u, half| part(b[half * units + u])),
            weight: weight.iter().map(|&w| w as f32).collect(),
            bias: bias as f32,
            f: self.output.f,
        }
    }

    /// b + Σ (x − base) W for each row, `[rows, units]`.
    fn net_inputs(&self, rows: &Rows, base: &[f64], bias: &[f64]) -> Vec<f64> {
        let units = bias.len();
        let mut net = Vec::with_capacity(rows.len() * units);
        for r in 0..rows.len() {
            let (row, start) = (rows.dense_row(r), net.len());
            net.extend_from_slice(bias);
            let to = &mut net[start..];
            for ((&c, base), weight) in
                self.columns.iter().zip(base).zip(self.hidden.weight.chunks_exact(units))
            {
                let x = f64::from(row[c]) - base;
                // Many inputs are bits, or the same for all.
                if x != 0.0 {
                    to.iter_mut().zip(weight).for_each(|(to, w)| *to += x * w);
                }
            }
        }
        net
    }
}

impl PairValues {
    /// Writes the values of the left halves with up to [`TILE`] right ones from `first` on, a row for each left half;
    /// those of a network that corrects a prior with the priors of the same pairs, of others without any.
    ///
    /// # Panics
    /// If there are no such halves, or rows of another number.
    pub fn tile(&self, left: Range<usize>, first: usize, priors: &[TileRow], values: &mut [TileRow]) {
        let units = self.weight.len();
        assert!(values.len() == left.len() && (priors.is_empty() || priors.len() == left.len()));
        let head = Head { unit: self.unit, weight: &self.weight, bias: self.bias, f: self.f };
        let left = &self.left[left.start * units..left.end * units];
        pair_values(self.isa, head, left, self.right.from(first), priors, values);
    }
}

impl PairProducts {
    /// Of the factors `[left halves, terms]` and `[terms, right halves]`, on the best instruction set.
    ///
    /// # Panics
    /// If there are no terms, or factors of another number.
    pub fn new(terms: usize, left: Vec<f32>, right: &[f32]) -> Self {
        Self::with_isa(terms, left, right, Isa::detect())
    }

    /// The same on that instruction set, one of [`Isa::available`].
    ///
    /// # Panics
    /// As for [`PairProducts::new`], or if this machine does not have the instruction set.
    pub fn with_isa(terms: usize, left: Vec<f32>, right: &[f32], isa: Isa) -> Self {
        assert!(Isa::available().contains(&isa), "{isa:?} on a machine without it");
        assert!(left.len().is_multiple_of(terms) && right.len().is_multiple_of(terms), "{terms} terms");
        let halves = right.len() / terms;
        let right = Padded::new(terms, halves, |term, half| right[term * halves + half]);
        Self { isa, terms, left, right }
    }

    /// Writes the products of the left halves with up to [`TILE`] right ones from `first` on, a row for each left half.
    ///
    /// # Panics
    /// If there are no such halves, or rows of another number.
    pub fn tile(&self, left: Range<usize>, first: usize, values: &mut [TileRow]) {
        assert_eq!(values.len(), left.len());
        let left = &self.left[left.start * self.terms..left.end * self.terms];
        pair_products(self.isa, self.terms, left, self.right.from(first), values);
    }
}

/// Sums of the differences of values of pairs to exact ones.
#[derive(Clone, Copy, Debug)]
pub struct PairErrors {
    isa: Isa,
    sums: Errors,
    pairs: u64,
}

impl Default for PairErrors {
    fn default() -> Self {
        Self::with_isa(Isa::detect())
    }
}

impl PairErrors {
    /// No differences yet, to be summed up on that instruction set, one of [`Isa::available`].
    ///
    /// # Panics
    /// If this machine does not have the instruction set.
    pub fn with_isa(isa: Isa) -> Self {
        assert!(Isa::available().contains(&isa), "{isa:?} on a machine without it");
        Self { isa, sums: Errors::default(), pairs: 0 }
    }

    /// Takes the first `width` values of each row of a tile into account.
    ///
    /// # Panics
    /// If there are fewer exact values, or wider rows than a tile's.
    pub fn add_tile(&mut self, values: &[TileRow], exact: &[TileRow], width: usize) {
        assert!(values.len() <= exact.len() && width <= TILE);
        pair_errors(self.isa, values, exact, width, &mut self.sums);
        self.pairs += (values.len() * width) as u64;
    }

    /// Takes others into account.
    pub fn add(&mut self, other: &Self) {
        self.sums.squares += other.sums.squares;
        self.sums.absolute += other.sums.absolute;
        self.sums.max = self.sums.max.max(other.sums.max);
        self.pairs += other.pairs;
    }

    /// Number of pairs.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Root mean square difference; 0 for none.
    pub fn rms(&self) -> f64 {
        (self.sums.squares / self.pairs.max(1) as f64).sqrt()
    }

    /// Mean absolute difference; 0 for none.
    pub fn mae(&self) -> f64 {
        self.sums.absolute / self.pairs.max(1) as f64
    }

    /// Largest absolute difference, NaN if one is.
    pub fn max(&self) -> f64 {
        if self.sums.absolute.is_nan() { f64::NAN } else { self.sums.max.into() }
    }
}
