//! Fast values of all pairs of two halves.
//!
//! If a row is a sum of two halves, row(i, j) = left(i) + right(j), the net inputs of the first layer are such a sum
//! too. They are computed once per half. Each pair then only needs the hidden units and the output.

use crate::native::Isa;
use crate::native::{
    Columns, Errors, Gated, Head, LANES, TILE, TileRow, Unit, gated_values, pair_errors, pair_products,
    pair_values,
};
use crate::program::{Activation, Block, CellTables, Op, Program, Selector, ValueId};
use adept_rows::{ChannelKind, Rows};
use std::iter::Peekable;
use std::ops::Range;

/// Largest absolute exponent of a half's part of a logistic unit. Products of two such exponentials, and their
/// reciprocals, do not overflow.
const MOST: f64 = 40.0;

/// Maximum count of stored numbers with a gate.
const MOST_KEPT: usize = 1 << 28;

/// Maximum number of classes of halves on a side.
const CLASSES: usize = 256;
/// Maximum number of experts that run for the same class of left halves.
const EXPERTS: usize = LANES;

/// A network that can run on pairs: one hidden layer, or several such experts selected by an index channel or by cells.
/// It may correct a prior.
#[derive(Clone, Debug)]
pub struct Pairwise {
    isa: Isa,
    /// None for a single expert.
    gate: Option<Gate>,
    /// All experts have the same number of units.
    experts: Vec<Expert>,
    corrects: bool,
}

/// Selects the expert by columns of the index part of a row.
#[derive(Clone, Debug)]
enum Gate {
    Index(usize),
    Cells([usize; 2], CellTables),
}

impl Gate {
    /// Class of a row: the numbers that the gate reads. Rows of the same class have the same expert.
    fn class(&self, rows: &Rows, row: usize) -> u64 {
        let index = rows.index_row(row);
        match self {
            Self::Index(column) => index[*column],
            Self::Cells(columns, tables) => tables.cell(columns.map(|c| index[c])) as u64,
        }
    }

    /// Whether a channel of cells depends on both halves. A class of its values is then not a class of halves.
    fn joins(&self, left: &Rows, right: &Rows) -> bool {
        let Self::Cells(columns, _) = self else { return false };
        let varies =
            |rows: &Rows, c: usize| (1..rows.len()).any(|r| rows.index_row(r)[c] != rows.index_row(0)[c]);
        columns.iter().any(|&c| varies(left, c) && varies(right, c))
    }

    fn expert(&self, rows: &Rows, row: usize) -> usize {
        let class = self.class(rows, row) as usize;
        match self {
            Self::Index(_) => class,
            Self::Cells(_, tables) => tables.table[class] as usize,
        }
    }
}

#[derive(Clone, Debug)]
struct Expert {
    /// The columns of a row that the expert reads.
    columns: Vec<usize>,
    hidden: Layer,
    output: Layer,
}

/// f(x W + b); sensitivities are multiplied into W and b.
#[derive(Clone, Debug)]
struct Layer {
    /// `[inputs, outputs]`.
    weight: Vec<f64>,
    bias: Vec<f64>,
    f: Activation,
}

/// A network prepared for two sets of halves: gives the values of all pairs.
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
    /// The classes of the left and the right half select the expert.
    Gated {
        /// `[left halves, units, EXPERTS]`: the parts of the experts of the left half's class.
        left: Vec<f32>,
        class: Vec<usize>,
        /// For each class of left halves.
        right: Vec<Rights>,
    },
}

/// The right halves for one class of left halves.
#[derive(Clone, Debug)]
struct Rights {
    /// Net inputs of the units, output weights, output bias.
    parts: Padded,
    /// Place of the expert among those of the class, padded in the same way.
    experts: Vec<u32>,
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

/// A matrix with one column per right half, followed by zero columns, so that a tile may start at any half.
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
    /// The network of a program; none if the program has another form.
    pub(crate) fn of(program: &Program, parameters: &[f32], isa: Isa) -> Option<Self> {
        let mut ops = ops_of(&program.body);
        let (gate, experts, mut end) = match ops.peek()? {
            Op::Route { select: select @ (Selector::Index(_) | Selector::Cells(_)), branches, out } => {
                let mut experts = Vec::with_capacity(branches.len());
                for branch in branches {
                    let mut ops = ops_of(branch);
                    let (expert, end) = Expert::of(program, parameters, &mut ops)?;
                    let whole = ops.next().is_none() && end == branch.results[0];
                    experts.push(whole.then_some(expert)?);
                }
                let column = |channel: usize| program.layout.offsets[channel];
                let gate = match select {
                    Selector::Index(channel) => Gate::Index(column(*channel)),
                    Selector::Cells(gate) => {
                        Gate::Cells(gate.channels.map(column), program.cells(gate, parameters))
                    }
                    Selector::All | Selector::Mask(_) => return None,
                };
                let out = out[0];
                ops.next();
                (Some(gate), experts, out)
            }
            _ => {
                let (expert, end) = Expert::of(program, parameters, &mut ops)?;
                (None, vec![expert], end)
            }
        };
        let form = |e: &Expert| (e.hidden.bias.len(), e.hidden.f, e.output.f);
        let same_form = experts.iter().all(|e| form(e) == form(&experts[0]));
        let residual = ops.next_if(|op| matches!(op, Op::Residual { .. }));
        if let Some(Op::Residual { out, .. }) = residual {
            end = *out;
        }
        let whole = ops.next().is_none() && end == program.output() && program.outputs() == 1;
        (same_form && whole).then_some(Self { isa, gate, experts, corrects: residual.is_some() })
    }

    /// Whether the network corrects a prior.
    pub fn corrects(&self) -> bool {
        self.corrects
    }

    /// Prepares the network for all pairs of some halves.
    ///
    /// `left` holds the rows of each left half with right half 0, `right` the rows of left half 0 with each right half.
    /// `pair` returns the row of any pair. Halves form a class if the gate reads the same for them, with half 0 of the
    /// other side; `pair` is called for one pair of each two classes, to find their expert.
    ///
    /// None if there are no rows, if a side has more than 256 classes, if the left halves of a class run more than 16
    /// experts, or if the result would need more than a gigabyte.
    pub fn prepare(
        &self,
        left: &Rows,
        right: &Rows,
        pair: &mut dyn FnMut(usize, usize) -> Rows,
    ) -> Option<PairValues> {
        if self.gate.as_ref().is_some_and(|gate| gate.joins(left, right)) {
            return None;
        }
        let class = |rows: &Rows, r: usize| self.gate.as_ref().map_or(0, |gate| gate.class(rows, r));
        let lefts = Classes::new((0..left.len()).map(|r| class(left, r)))?;
        let rights = Classes::new((0..right.len()).map(|r| class(right, r)))?;
        let units = self.experts[0].hidden.bias.len();
        let kept = left.len() * EXPERTS + right.len() * (2 + 2 * lefts.members.len());
        if left.is_empty() || right.is_empty() || (self.gate.is_some() && kept * units > MOST_KEPT) {
            return None;
        }
        // For each class of left halves: its experts, their net inputs, and the place of each right half among them.
        let mut by_class: Vec<Vec<Run>> = vec![];
        for (l, &first) in lefts.first.iter().enumerate() {
            let mut runs: Vec<Run> = vec![];
            for (r, &second) in rights.first.iter().enumerate() {
                let expert = self.gate.as_ref().map_or(0, |gate| gate.expert(&pair(first, second), 0));
                match runs.iter_mut().find(|run| run.expert == expert) {
                    Some(run) => run.rights.extend(&rights.members[r]),
                    None => runs.push(Run { expert, rights: rights.members[r].clone(), net: Net::default() }),
                }
            }
            if runs.len() > EXPERTS {
                return None;
            }
            for run in &mut runs {
                let expert = self.experts.get(run.expert)?;
                run.net = expert.net((left, &lefts.members[l]), (right, &run.rights));
            }
            by_class.push(runs);
        }
        let f = self.experts[0].hidden.f;
        let logistic = matches!(f, Activation::Tanh | Activation::Sigmoid)
            && by_class.iter().flatten().all(|run| run.net.has_exponentials(f));
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
            let (net, (weight, bias)) = (&by_class[0][0].net, head(0));
            let right = Padded::new(units, right.len(), |u, half| part(net.right[half * units + u]));
            Parts::One { left: net.left.iter().map(|&z| part(z)).collect(), right, weight, bias }
        } else {
            let mut all = vec![0.0; left.len() * units * EXPERTS];
            for (half, to) in all.chunks_exact_mut(units * EXPERTS).enumerate() {
                let (class, place) = lefts.place[half];
                for (e, run) in by_class[class].iter().enumerate() {
                    for (u, to) in to.chunks_exact_mut(EXPERTS).enumerate() {
                        to[e] = part(run.net.left[place * units + u]);
                    }
                }
            }
            let rights = |runs: &Vec<Run>| {
                let heads: Vec<_> = runs.iter().map(|run| head(run.expert)).collect();
                let mut places = vec![(0, 0); right.len()];
                for (e, run) in runs.iter().enumerate() {
                    run.rights.iter().enumerate().for_each(|(place, &half)| places[half] = (e, place));
                }
                let parts = Padded::new(2 * units + 1, right.len(), |row, half| {
                    let (e, place) = places[half];
                    match row {
                        _ if row < units => part(runs[e].net.right[place * units + row]),
                        _ if row < 2 * units => heads[e].0[row - units],
                        _ => heads[e].1,
                    }
                });
                let mut experts: Vec<u32> = places.iter().map(|&(e, _)| e as u32).collect();
                experts.resize(right.len() + TILE, 0);
                Rights { parts, experts }
            };
            Parts::Gated {
                left: all,
                class: lefts.place.iter().map(|&(class, _)| class).collect(),
                right: by_class.iter().map(rights).collect(),
            }
        };
        Some(PairValues { isa: self.isa, unit, units, f: self.experts[0].output.f, parts })
    }
}

/// The ops of a block, except those for the loss.
fn ops_of(block: &Block) -> Peekable<impl Iterator<Item = &Op>> {
    block.ops.iter().filter(|op| !matches!(op, Op::Density { .. })).peekable()
}

/// An expert that runs for a class of left halves.
struct Run {
    expert: usize,
    /// The right halves that it runs with.
    rights: Vec<usize>,
    net: Net,
}

/// Classes of halves: with half 0 of the other side, the gate reads the same for all halves of a class.
struct Classes {
    /// The first half of each class.
    first: Vec<usize>,
    members: Vec<Vec<usize>>,
    /// Class of each half, and its position in the class.
    place: Vec<(usize, usize)>,
}

impl Classes {
    fn new(classes: impl Iterator<Item = u64>) -> Option<Self> {
        let (mut known, mut members) = (Vec::new(), Vec::<Vec<usize>>::new());
        let mut place = Vec::new();
        for (half, class) in classes.enumerate() {
            let class = known.iter().position(|&c| c == class).unwrap_or_else(|| {
                known.push(class);
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

/// Net inputs of some left and right halves, `[halves, units]`. A pair's net input is their sum.
#[derive(Default)]
struct Net {
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Net {
    /// Whether the exponentials of both parts, their products and the reciprocals of the products do not overflow.
    fn has_exponentials(&self, f: Activation) -> bool {
        self.left.iter().chain(&self.right).all(|z| (z * exponent(f)).abs() <= MOST)
    }
}

/// Factor of the net input in the exponential of a logistic unit.
fn exponent(f: Activation) -> f64 {
    if f == Activation::Tanh { 2.0 } else { -1.0 }
}

impl Expert {
    /// Reads the next two layers from these ops; also returns their result value.
    fn of<'a>(
        program: &Program,
        parameters: &[f32],
        ops: &mut Peekable<impl Iterator<Item = &'a Op>>,
    ) -> Option<(Self, ValueId)> {
        let Some(Op::Input { channels, .. }) = ops.next() else { return None };
        // A value channel is not a sum of two halves.
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

    /// Net inputs of these left and right halves.
    fn net(&self, (left, lefts): (&Rows, &[usize]), (right, rights): (&Rows, &[usize])) -> Net {
        let units = self.hidden.bias.len();
        let base = vec![0.0; self.columns.len()];
        let first: Vec<f64> = self.columns.iter().map(|&c| f64::from(right.dense_row(0)[c])).collect();
        let mut a = self.net_inputs((left, lefts), &base, &self.hidden.bias);
        let mut b = self.net_inputs((right, rights), &first, &vec![0.0; units]);
        // Centres the right parts around zero to keep their exponentials small.
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
                // Many inputs are bits or constant, so many differences are 0.
                if x != 0.0 {
                    to.iter_mut().zip(weight).for_each(|(to, w)| *to += x * w);
                }
            }
        }
        net
    }
}

impl PairValues {
    /// Writes the values of the left halves with up to [`TILE`] right halves from `first` on, one row per left half.
    /// A network that corrects a prior needs the `priors` of the same pairs; for others `priors` is empty.
    ///
    /// # Panics
    /// If a half does not exist, or if the number of rows is wrong.
    pub fn tile(&self, left: Range<usize>, first: usize, priors: &[TileRow], values: &mut [TileRow]) {
        assert!(values.len() == left.len() && (priors.is_empty() || priors.len() == left.len()));
        let (isa, unit, f, units) = (self.isa, self.unit, self.f, self.units);
        match &self.parts {
            Parts::One { left: parts, right, weight, bias } => {
                let head = Head { unit, weight, bias: *bias, f };
                let left = &parts[left.start * units..left.end * units];
                pair_values(isa, head, left, right.from(first), priors, values);
            }
            Parts::Gated { left: parts, class, right } => {
                // Adjacent left halves mostly share a class.
                let (mut at, start) = (left.start, left.start);
                while at < left.end {
                    let run = class[at..left.end].iter().take_while(|c| **c == class[at]).count();
                    let here = at - start..at - start + run;
                    let lefts = &parts[at * units * EXPERTS..][..run * units * EXPERTS];
                    let Rights { parts: rights, experts } = &right[class[at]];
                    let priors = if priors.is_empty() { priors } else { &priors[here.clone()] };
                    let gated = Gated { unit, units, f, experts: &experts[first..][..TILE] };
                    gated_values(isa, gated, lefts, rights.from(first), priors, &mut values[here]);
                    at += run;
                }
            }
        }
    }
}

impl PairProducts {
    /// Products of the factors `[left halves, terms]` and `[terms, right halves]`, on the best instruction set.
    ///
    /// # Panics
    /// If `terms` is 0, or if the number of factors is not a multiple of it.
    pub fn new(terms: usize, left: Vec<f32>, right: &[f32]) -> Self {
        Self::with_isa(terms, left, right, Isa::detect())
    }

    /// Like [`Self::new`], on an instruction set from [`Isa::available`].
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

    /// Writes the products of the left halves with up to [`TILE`] right halves from `first` on, one row per left half.
    ///
    /// # Panics
    /// If a half does not exist, or if the number of rows is wrong.
    pub fn tile(&self, left: Range<usize>, first: usize, values: &mut [TileRow]) {
        assert_eq!(values.len(), left.len());
        let left = &self.left[left.start * self.terms..left.end * self.terms];
        pair_products(self.isa, self.terms, left, self.right.from(first), values);
    }
}

/// Error statistics: differences between values of pairs and exact values.
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
    /// Empty statistics, for an instruction set from [`Isa::available`].
    ///
    /// # Panics
    /// If this machine does not have the instruction set.
    pub fn with_isa(isa: Isa) -> Self {
        assert!(Isa::available().contains(&isa), "{isa:?} on a machine without it");
        Self { isa, sums: Errors::default(), pairs: 0 }
    }

    /// Adds the first `width` values of each row of a tile.
    ///
    /// # Panics
    /// If there are fewer rows of exact values than of values, or if `width` is more than [`TILE`].
    pub fn add_tile(&mut self, values: &[TileRow], exact: &[TileRow], width: usize) {
        assert!(values.len() <= exact.len() && width <= TILE);
        pair_errors(self.isa, values, exact, width, &mut self.sums);
        self.pairs += (values.len() * width) as u64;
    }

    /// Adds other statistics.
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

    /// Root mean square difference; 0 without pairs.
    pub fn rms(&self) -> f64 {
        (self.sums.squares / self.pairs.max(1) as f64).sqrt()
    }

    /// Mean absolute difference; 0 without pairs.
    pub fn mae(&self) -> f64 {
        self.sums.absolute / self.pairs.max(1) as f64
    }

    /// Largest absolute difference; NaN if any difference is NaN.
    pub fn max(&self) -> f64 {
        if self.sums.absolute.is_nan() { f64::NAN } else { self.sums.max.into() }
    }
}
