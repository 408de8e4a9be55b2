//! Values of all pairs of two halves.
//!
//! Where a row is the sum of what two halves contribute, row(i, j) = left(i) + right(j), so are the net inputs of a
//! network's first layer: they are computed once for each half, and what is left for each of the pairs is the hidden
//! units and the output.

use crate::native::Isa;
use crate::native::{
    Columns, Errors, Gated, Head, LANES, TILE, TileRow, Unit, gated_values, pair_errors, pair_products,
    pair_values,
};
use crate::program::{Activation, Block, Op, Program, Selector, ValueId};
use adept_rows::{ChannelKind, Rows};
use std::iter::Peekable;
use std::ops::Range;

/// Largest exponent, in size, of either half's part of a logistic unit: products of two such exponentials and their
/// reciprocals are floats.
const MOST: f64 = 40.0;

/// Numbers kept at most where a gate picks.
const MOST_KEPT: usize = 1 << 28;

/// Classes of halves by which a gate may pick experts, at most.
const CLASSES: usize = LANES;

/// A network of one hidden layer, or some of which an index channel picks one; it may correct a prior. To be run on
/// pairs.
#[derive(Clone, Debug)]
pub struct Pairwise {
    isa: Isa,
    /// The entry in the index part of a row that names the expert; none where there is one only.
    gate: Option<usize>,
    /// All of as many units.
    experts: Vec<Expert>,
    corrects: bool,
}

#[derive(Clone, Debug)]
struct Expert {
    /// The columns of a row that it reads.
    columns: Vec<usize>,
    hidden: Layer,
    output: Layer,
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
    units: usize,
    f: Activation,
    parts: Parts,
}

#[derive(Clone, Debug)]
enum Parts {
    One {
        /// `[left halves, units]`.
        left: Vec<f32>,
        right: Padded,
        weight: Vec<f32>,
        bias: f32,
    },
    /// The class of the left half and that of the right one pick the expert.
    Gated {
        /// `[left halves, units, classes of right halves]`.
        left: Vec<f32>,
        class: Vec<usize>,
        /// For each class of left halves: net inputs of the units, their weights in the output, its bias.
        right: Vec<Padded>,
        /// Of the right halves, padded likewise.
        classes: Vec<u32>,
    },
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
        let mut ops = ops_of(&program.body);
        let (gate, experts, mut end) = match ops.peek()? {
            Op::Route { select: Selector::Index(channel), branches, out } => {
                let mut experts = Vec::with_capacity(branches.len());
                for branch in branches {
                    let mut ops = ops_of(branch);
                    let (expert, end) = Expert::of(program, parameters, &mut ops)?;
                    let whole = ops.next().is_none() && end == branch.results[0];
                    experts.push(whole.then_some(expert)?);
                }
                let (gate, out) = (program.layout.offsets[*channel], out[0]);
                ops.next();
                (Some(gate), experts, out)
            }
            _ => {
                let (expert, end) = Expert::of(program, parameters, &mut ops)?;
                (None, vec![expert], end)
            }
        };
        let form = |e: &Expert| (e.hidden.bias.len(), e.hidden.f, e.output.f);
        let alike = experts.iter().all(|e| form(e) == form(&experts[0]));
        let residual = ops.next_if(|op| matches!(op, Op::Residual { .. }));
        if let Some(Op::Residual { out, .. }) = residual {
            end = *out;
        }
        let whole = ops.next().is_none() && end == program.output() && program.outputs() == 1;
        (alike && whole).then_some(Self { isa, gate, experts, corrects: residual.is_some() })
    }

    /// Whether its values are those of a prior, corrected.
    pub fn corrects(&self) -> bool {
        self.corrects
    }

    /// Makes ready to value all pairs, given the rows of each left half with right half 0, and of left half 0 with each
    /// right one. `pair` gives the row of any left half with any right one; what it is asked for tells which expert a
    /// gate picks for halves of two classes, those alike with half 0. None without rows, if a side has more than 16
    /// classes, or if what is kept for them would take more than a gigabyte.
    pub fn prepare(
        &self,
        left: &Rows,
        right: &Rows,
        pair: &mut dyn FnMut(usize, usize) -> Rows,
    ) -> Option<PairValues> {
        let expert = |rows: &Rows, r: usize| self.gate.map_or(0, |gate| rows.index_row(r)[gate]);
        let lefts = Classes::new((0..left.len()).map(|r| expert(left, r)))?;
        let rights = Classes::new((0..right.len()).map(|r| expert(right, r)))?;
        let units = self.experts[0].hidden.bias.len();
        let kept = left.len() * CLASSES + right.len() * (2 + 2 * lefts.members.len());
        if left.is_empty() || right.is_empty() || (self.gate.is_some() && kept * units > MOST_KEPT) {
            return None;
        }
        let mut picked = vec![];
        for &l in &lefts.first {
            picked.push(rights.first.iter().map(|&r| expert(&pair(l, r), 0) as usize).collect::<Vec<_>>());
        }
        // Where an expert is picked by no pair of classes, nothing is computed for it.
        let mut nets: Vec<Vec<Net>> = vec![];
        for (l, picked) in picked.iter().enumerate() {
            let net = |(r, &e): (usize, &usize)| {
                let expert = self.experts.get(e)?;
                Some(expert.net((left, &lefts.members[l]), (right, &rights.members[r])))
            };
            nets.push(picked.iter().enumerate().map(net).collect::<Option<_>>()?);
        }
        let f = self.experts[0].hidden.f;
        let logistic = matches!(f, Activation::Tanh | Activation::Sigmoid)
            && nets.iter().flatten().all(|net| net.has_exponentials(f));
        let unit = if logistic { Unit::Logistic } else { Unit::Sum(f) };
        // tanh(z) = 1 − 2 / (1 + exp 2z), the sigmoid 1 / (1 + exp −z).
        let (factor, constant) = if logistic && f == Activation::Tanh { (-2.0, 1.0) } else { (1.0, 0.0) };
        let part = |z: f64| if logistic { (exponent(f) * z).exp() as f32 } else { z as f32 };
        let head = |e: usize| {
            let (weight, bias) = (&self.experts[e].output.weight, self.experts[e].output.bias[0]);
            let scaled: Vec<f32> = weight.iter().map(|w| (w * factor) as f32).collect();
            (scaled, (bias + constant * weight.iter().sum::<f64>()) as f32)
        };
        let parts = if self.gate.is_none() {
            let (net, (weight, bias)) = (&nets[0][0], head(0));
            let right = Padded::new(units, right.len(), |u, half| part(net.right[half * units + u]));
            Parts::One { left: net.left.iter().map(|&z| part(z)).collect(), right, weight, bias }
        } else {
            let mut all = vec![0.0; left.len() * units * CLASSES];
            for (half, to) in all.chunks_exact_mut(units * CLASSES).enumerate() {
                let (class, place) = lefts.place[half];
                for (r, net) in nets[class].iter().enumerate() {
                    for (u, to) in to.chunks_exact_mut(CLASSES).enumerate() {
                        to[r] = part(net.left[place * units + u]);
                    }
                }
            }
            let padded = |(nets, picked): (&Vec<Net>, &Vec<usize>)| {
                let heads: Vec<_> = picked.iter().map(|&e| head(e)).collect();
                Padded::new(2 * units + 1, right.len(), |row, half| {
                    let (class, place) = rights.place[half];
                    match row {
                        _ if row < units => part(nets[class].right[place * units + row]),
                        _ if row < 2 * units => heads[class].0[row - units],
                        _ => heads[class].1,
                    }
                })
            };
            let mut classes: Vec<u32> = rights.place.iter().map(|&(class, _)| class as u32).collect();
            classes.resize(right.len() + TILE, 0);
            Parts::Gated {
                left: all,
                class: lefts.place.iter().map(|&(class, _)| class).collect(),
                right: nets.iter().zip(&picked).map(padded).collect(),
                classes,
            }
        };
        Some(PairValues { isa: self.isa, unit, units, f: self.experts[0].output.f, parts })
    }
}

/// The ops of a block but those for the loss.
fn ops_of(block: &Block) -> Peekable<impl Iterator<Item = &Op>> {
    block.ops.iter().filter(|op| !matches!(op, Op::Density { .. })).peekable()
}

/// Halves with which half 0 of the other side makes the gate pick the same expert.
struct Classes {
    /// The first of each.
    first: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// Class of each half, and its place there.
    place: Vec<(usize, usize)>,
}

impl Classes {
    fn new(experts: impl Iterator<Item = u64>) -> Option<Self> {
        let (mut known, mut members) = (Vec::new(), Vec::<Vec<usize>>::new());
        let mut place = Vec::new();
        for (half, expert) in experts.enumerate() {
            let class = known.iter().position(|&e| e == expert).unwrap_or_else(|| {
                known.push(expert);
                members.push(Vec::new());
                known.len() - 1
            });
            if class == CLASSES {
                return None;
            }
            place.push((class, members[class].len()));
            members[class].push(half);
        }
        Some(Self { first: members.iter().map(|m| m[0]).collect(), members, place })
    }
}

/// Net inputs of some left halves and of some right ones, `[halves, units]`, to be added.
struct Net {
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Net {
    /// Whether the exponentials of both parts, their products and the reciprocals of those are floats.
    fn has_exponentials(&self, f: Activation) -> bool {
        self.left.iter().chain(&self.right).all(|z| (z * exponent(f)).abs() <= MOST)
    }
}

/// The logistic form of such a unit takes the exponential of so many times its net input.
fn exponent(f: Activation) -> f64 {
    if f == Activation::Tanh { 2.0 } else { -1.0 }
}

impl Expert {
    /// The two layers that come next among these ops, and the value that they end in.
    fn of<'a>(
        program: &Program,
        parameters: &[f32],
        ops: &mut Peekable<impl Iterator<Item = &'a Op>>,
    ) -> Option<(Self, ValueId)> {
        let Some(Op::Input { channels, .. }) = ops.next() else { return None };
        // A value from outside is no sum over halves.
        if channels.iter().any(|&c| program.channels[c].kind == ChannelKind::Value) {
            return None;
        }
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
        let columns = channels.iter().flat_map(columns).collect();
        (output.bias.len() == 1).then_some((Self { columns, hidden, output }, end))
    }

    /// Net inputs of those left halves, and of those right ones.
    fn net(&self, (left, lefts): (&Rows, &[usize]), (right, rights): (&Rows, &[usize])) -> Net {
        let units = self.hidden.bias.len();
        let base = vec![0.0; self.columns.len()];
        let first: Vec<f64> = self.columns.iter().map(|&c| f64::from(right.dense_row(0)[c])).collect();
        let mut a = self.net_inputs((left, lefts), &base, &self.hidden.bias);
        let mut b = self.net_inputs((right, rights), &first, &vec![0.0; units]);
        // Right parts on both sides of zero, so that their exponentials have room.
        for u in 0..units {
            let of_unit = || b.iter().skip(u).step_by(units).copied();
            let (least, most) =
                (of_unit().fold(f64::INFINITY, f64::min), of_unit().fold(f64::NEG_INFINITY, f64::max));
            let middle = (least + most) / 2.0;
            a.iter_mut().skip(u).step_by(units).for_each(|a| *a += middle);
            b.iter_mut().skip(u).step_by(units).for_each(|b| *b -= middle);
        }
        Net { left: a, right: b }
    }

    /// b + Σ (x − base) W for each row, `[rows, units]`.
    fn net_inputs(&self, (rows, some): (&Rows, &[usize]), base: &[f64], bias: &[f64]) -> Vec<f64> {
        let units = bias.len();
        let mut net = Vec::with_capacity(some.len() * units);
        for &r in some {
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
        assert!(values.len() == left.len() && (priors.is_empty() || priors.len() == left.len()));
        let (isa, unit, f, units) = (self.isa, self.unit, self.f, self.units);
        match &self.parts {
            Parts::One { left: parts, right, weight, bias } => {
                let head = Head { unit, weight, bias: *bias, f };
                let left = &parts[left.start * units..left.end * units];
                pair_values(isa, head, left, right.from(first), priors, values);
            }
            Parts::Gated { left: parts, class, right, classes } => {
                let classes = &classes[first..][..TILE];
                // Neighbours are mostly of one class.
                let (mut at, start) = (left.start, left.start);
                while at < left.end {
                    let run = class[at..left.end].iter().take_while(|c| **c == class[at]).count();
                    let here = at - start..at - start + run;
                    let lefts = &parts[at * units * CLASSES..][..run * units * CLASSES];
                    let priors = if priors.is_empty() { priors } else { &priors[here.clone()] };
                    let gated = Gated { unit, units, f, classes };
                    let right = right[class[at]].from(first);
                    gated_values(isa, gated, lefts, right, priors, &mut values[here]);
                    at += run;
                }
            }
        }
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
