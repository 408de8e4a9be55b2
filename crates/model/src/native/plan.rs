//! Compiles an op program to the steps of the native engine.
//!
//! Affine, Scale and Activation become one step. Parameters get padded positions. Steps that do not affect the
//! gradient of the density are marked once.

use super::aligned::Aligned;
use super::kernels::{MOST_UNITS, is_narrow, lanes, stride};
use super::simd::LANES;
use crate::head::Tilt;
use crate::program::{Activation, Block, Op, ParamId, Program, Selector, ValueId};
use std::sync::Arc;

/// A span of the padded parameter vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) len: usize,
}

impl Span {
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// Place of the inputs of a layer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// A value.
    Value(ValueId),
    /// Columns of the dense part of the batch, starting at this one.
    Columns(usize),
    /// A value of the enclosing block.
    Outer(ValueId),
}

#[derive(Debug)]
pub(crate) enum Step {
    /// Copies and concatenates dense channels: (first column, columns).
    Copy {
        pieces: Vec<(usize, usize)>,
        out: ValueId,
    },
    /// Concatenates values.
    Join {
        parts: Vec<Part>,
        out: ValueId,
    },
    /// Copies the rows of a value of the enclosing block, for the branches of a route.
    Outer {
        x: ValueId,
        out: ValueId,
    },
    /// y = f(β ∘ (x W + b)).
    Dense(Dense),
    Gate(Gate),
    /// y = Σᵢ sᵢ yᵢ. `in_density` is false under a [`Step::LogMix`]: there each expert is compared with the target on
    /// its own, so y does not affect the gradient of the density.
    Blend {
        gate: Gate,
        y: ValueId,
        out: ValueId,
        in_density: bool,
    },
    /// ℓ = −|d − y|² / 2σ².
    Density {
        y: ValueId,
        variance: f32,
        out: ValueId,
    },
    /// L = ln Σᵢ sᵢ exp(ℓᵢ).
    LogMix {
        gate: Gate,
        densities: ValueId,
        out: ValueId,
    },
    /// p = softmax(x).
    Softmax {
        x: ValueId,
        out: ValueId,
    },
    /// ℓ = Σₖ tₖ ln pₖ.
    Categorical {
        p: ValueId,
        out: ValueId,
    },
    /// y = x + λ(p) u, with p from this column of the dense part of the batch.
    PriorLogits {
        column: usize,
        x: Option<ValueId>,
        tilt: Tilt,
        utilities: Vec<f32>,
        out: ValueId,
    },
    Route(Route),
    Gather {
        table: Span,
        column: usize,
        out: ValueId,
    },
    /// y = tanh(atanh(p) + x), with p from this column of the dense part of the batch.
    Residual {
        column: usize,
        x: ValueId,
        out: ValueId,
    },
}

/// A value that a [`Step::Join`] reads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) x: ValueId,
    pub(crate) adjoint: PartAdjoint,
}

/// Treatment of the adjoint of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PartAdjoint {
    /// It is not needed: the part is an input.
    None,
    /// It is set, by the last step that reads the part.
    Set,
    /// It is added to that of later steps.
    Add,
}

#[derive(Debug)]
pub(crate) struct Dense {
    pub(crate) x: Source,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) weight: Span,
    pub(crate) bias: Span,
    pub(crate) beta: Option<Span>,
    pub(crate) f: Activation,
    /// Whether backward needs more than y: net inputs or slopes.
    pub(crate) keep: bool,
    /// The value that holds them.
    pub(crate) kept: ValueId,
    pub(crate) out: ValueId,
    /// Whether x has an adjoint.
    pub(crate) wants_dx: bool,
    /// Whether others read x, so that its adjoint is a sum.
    pub(crate) adds_dx: bool,
    /// Whether this layer and the next run as one when the hidden units are not needed. The next layer is the only one
    /// that reads them.
    pub(crate) narrow: bool,
}

/// LogSoftmax and Threshold as one step: from aᵢ in `x` to sᵢ, and to ln sᵢ if densities are needed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    pub(crate) x: ValueId,
    pub(crate) threshold: Option<f32>,
    /// sᵢ, 0 where the expert is not selected.
    pub(crate) weights: ValueId,
    /// ln sᵢ, −∞ where the expert is not selected. Holds the adjoints of the gate.
    pub(crate) logs: ValueId,
}

/// Rule that selects the branches for a row.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Select {
    All,
    /// The branches with a weight sᵢ above 0 in this value.
    Mask(ValueId),
    /// The branch whose number is in this column of the index part of the batch.
    Index(usize),
    Cells(CellTable),
}

impl Select {
    /// Whether a row runs through exactly one branch, whose results are those of the route.
    pub(crate) fn is_index(&self) -> bool {
        matches!(self, Self::Index(_) | Self::Cells(_))
    }
}

/// A [`CellGate`](crate::program::CellGate) with columns of the index part and positions of parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellTable {
    columns: [usize; 2],
    classes: [Span; 2],
    table: Span,
    /// The parameter of the table.
    pub(crate) param: ParamId,
    /// Classes of both channels.
    shape: [usize; 2],
}

impl CellTable {
    /// Its tables as whole numbers. Numbers of a damaged file are limited.
    pub(crate) fn read(&self, params: &[f32], branches: usize, to: &mut CellNumbers) {
        let [rows, columns] = self.shape;
        let read = |from: &[f32], below: usize, to: &mut Vec<u16>| {
            to.extend(from.iter().map(|&v| (v as usize).min(below - 1) as u16));
        };
        for k in 0..2 {
            to.classes[k].clear();
            read(&params[self.classes[k].range()], self.shape[k], &mut to.classes[k]);
        }
        to.table.clear();
        let table = params[self.table.range()].chunks_exact(stride(columns)).take(rows);
        table.for_each(|row| read(&row[..columns], branches, &mut to.table));
        (to.places, to.columns) = (self.columns, columns);
    }
}

/// The tables of a [`CellTable`] as whole numbers; empty until they are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellNumbers {
    /// Columns of the index part.
    places: [usize; 2],
    classes: [Vec<u16>; 2],
    table: Vec<u16>,
    columns: usize,
}

impl CellNumbers {
    pub(crate) fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.table.clear();
    }

    /// The branch of a row with this index part.
    #[inline(always)]
    pub(crate) fn branch(&self, index: &[u64]) -> usize {
        let [down, across] = self.cell(index);
        usize::from(self.table[down * self.columns + across])
    }

    /// The classes of both channels of a row with this index part.
    #[inline(always)]
    pub(crate) fn cell(&self, index: &[u64]) -> [usize; 2] {
        [0, 1].map(|k| usize::from(self.classes[k][index[self.places[k]] as usize]))
    }
}

#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) select: Select,
    /// For values only: all branches at once, without sorting the rows.
    pub(crate) mixed: Option<MixedForm>,
    pub(crate) branches: Vec<Branch>,
    pub(crate) out: Vec<ValueId>,
    /// Index of this route among the routes of the plan.
    pub(crate) id: usize,
}

/// Branches of one form: a hidden layer of few units and a single output.
#[derive(Debug)]
pub(crate) struct MixedForm {
    /// First of the columns that all branches read.
    pub(crate) column: usize,
    pub(crate) inputs: usize,
    pub(crate) units: usize,
    pub(crate) f: Activation,
    pub(crate) head_f: Activation,
    /// Parameters of each expert: weight, bias, head weight, head bias.
    places: Vec<[Span; 4]>,
}

impl MixedForm {
    fn of(select: &Select, branches: &[Branch]) -> Option<Self> {
        if !select.is_index() {
            return None;
        }
        let layers = |branch: &Branch| match &branch.steps[..] {
            [Step::Dense(hidden), Step::Dense(head)] => {
                let Source::Columns(column) = hidden.x else { return None };
                let follows = matches!(head.x, Source::Value(x) if x == hidden.out);
                let fits = (2..=MOST_UNITS).contains(&hidden.outputs)
                    && head.outputs == 1
                    && branch.results == [head.out];
                let plain = hidden.beta.is_none() && head.beta.is_none();
                (follows && fits && plain).then_some((
                    (column, hidden.inputs, hidden.outputs, hidden.f, head.f),
                    [hidden.weight, hidden.bias, head.weight, head.bias],
                ))
            }
            _ => None,
        };
        let found: Vec<_> = branches.iter().map(layers).collect::<Option<_>>()?;
        let &(form, _) = found.first()?;
        let (column, inputs, units, f, head_f) = form;
        let places = found.iter().map(|&(_, place)| place).collect();
        found.iter().all(|(other, _)| *other == form).then_some(Self {
            column,
            inputs,
            units,
            f,
            head_f,
            places,
        })
    }

    /// Copies the parameters of the experts close together, so that many fit in the L1 cache.
    pub(crate) fn pack(&self, params: &[f32], packed: &mut Vec<f32>) {
        let lanes = lanes(self.units);
        packed.clear();
        for [weight, bias, head_weight, head_bias] in &self.places {
            let piece = |at: usize| &params[at..at + lanes];
            packed.extend_from_slice(piece(bias.start));
            packed.extend_from_slice(piece(head_weight.start));
            packed.push(params[head_bias.start]);
            packed.resize(packed.len() + lanes - 1, 0.0);
            for input in 0..self.inputs {
                packed.extend_from_slice(piece(weight.start + input * stride(self.units)));
            }
        }
    }
}

#[derive(Debug)]
pub(crate) struct Branch {
    /// Its number among the branches of all routes.
    pub(crate) number: usize,
    pub(crate) steps: Vec<Step>,
    pub(crate) results: Vec<ValueId>,
}

/// Padded parameters of one learning-rate group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    pub(crate) group: usize,
    /// The number of the branch that they belong to, if rows select it.
    pub(crate) expert: Option<usize>,
    /// The inputs whose weights they are, row by row, counted over all pieces; empty if they are stepped as one.
    pub(crate) inputs: Span,
}

impl Piece {
    /// Whether they belong to an expert that no row has run through. It keeps its moments, and its weights but for their decay.
    pub(crate) fn is_idle(&self, grad: &[f32]) -> bool {
        // Bits but for the sign, many at a time: NaN counts as a gradient.
        let is_zero = |part: &[f32]| part.iter().fold(0, |bits, g| bits | g.to_bits() << 1) == 0;
        self.expert.is_some() && grad[self.span.range()].chunks(64).all(is_zero)
    }
}

/// A compiled program.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) program: Arc<Program>,
    pub(crate) steps: Vec<Step>,
    /// Width of each value: the program's values, then those that layers keep for backward.
    pub(crate) widths: Vec<usize>,
    /// Number of routes.
    pub(crate) routes: usize,
    /// Number of branches of all routes.
    pub(crate) branches: usize,
    /// Padded span of each parameter.
    pub(crate) places: Vec<Span>,
    pub(crate) length: usize,
    /// Spans of parameters that the optimiser steps as one, in order.
    pub(crate) pieces: Vec<Piece>,
    /// Number of inputs whose weights are stepped one by one.
    pub(crate) inputs: usize,
    /// Spans with a lower bound.
    pub(crate) bounds: Vec<(Span, f32)>,
    /// Whether branches of a route read a value of their enclosing block.
    pub(crate) shared: Vec<bool>,
}

impl Plan {
    /// Compiles a program. If steps are `sparse`, the weights of inputs are not stepped as one.
    ///
    /// # Panics
    /// If a Scale or Activation does not follow an Affine, if a Threshold does not follow a LogSoftmax, or if log
    /// weights do not come from a gate of the same block. Lowering never produces such a program.
    pub(crate) fn new(program: Arc<Program>, sparse: bool) -> Self {
        let (mut places, mut length) = (Vec::new(), 0);
        let mut pieces: Vec<Piece> = Vec::new();
        let mut experts = vec![None; program.params.len()];
        let mut branches = 0;
        find_experts(&program.body, None, &mut branches, &mut experts);
        let mut by_input = vec![false; program.params.len()];
        if sparse {
            find_first_layers(&program.body, &mut vec![false; program.widths.len()], &mut by_input);
        }
        let (mut inputs, mut bounds) = (0, Vec::new());
        for ((param, expert), by_input) in program.params.iter().zip(experts).zip(by_input) {
            let (span, group) = (Span { start: length, len: physical_len(&param.shape) }, param.group);
            length += span.len;
            places.push(span);
            match (pieces.last_mut(), &param.shape[..]) {
                _ if param.fixed => {}
                // Steps need whole chunks.
                (_, &[rows, columns]) if by_input && stride(columns).is_multiple_of(LANES) => {
                    pieces.push(Piece { span, group, expert, inputs: Span { start: inputs, len: rows } });
                    inputs += rows;
                }
                (Some(last), _)
                    if (last.group, last.expert, last.inputs.len) == (group, expert, 0)
                        && last.span.start + last.span.len == span.start =>
                {
                    last.span.len += span.len;
                }
                _ => pieces.push(Piece { span, group, expert, inputs: Span { start: 0, len: 0 } }),
            }
            if let Some(min) = param.min {
                // Excludes the padding, which must stay 0. Only sensitivities, which are vectors, have bounds.
                bounds.push((Span { start: span.start, len: param.len() }, min));
            }
        }
        let mut shared = vec![false; program.widths.len()];
        find_shared(&program.body, &mut shared);
        let widths = program.widths.clone();
        let mut planner =
            Planner { program: &program, places: &places, widths, routes: 0, branches: 0, shared: &shared };
        let steps = planner.block(&program.body);
        let (widths, routes) = (planner.widths, planner.routes);
        shared.resize(widths.len(), false);
        Self { steps, widths, routes, branches, places, length, pieces, inputs, bounds, shared, program }
    }

    /// The route at the top that picks one branch for each row, if all that learns is in its branches.
    pub(crate) fn switch(&self) -> Option<&Route> {
        let mut routes = self.steps.iter().filter_map(|step| match step {
            Step::Route(route) => Some(route),
            _ => None,
        });
        let route = routes.next().filter(|route| route.select.is_index())?;
        (routes.next().is_none() && self.pieces.iter().all(|piece| piece.expert.is_some())).then_some(route)
    }

    /// Pads a flat parameter vector.
    pub(crate) fn pad(&self, flat: &[f32]) -> Aligned {
        let mut physical = Aligned::zeros(self.length);
        self.pad_into(flat, &mut physical);
        physical
    }

    /// Like [`Self::pad`], in place. The padding is not changed.
    pub(crate) fn pad_into(&self, flat: &[f32], physical: &mut [f32]) {
        self.each_row(|logical, at, n| physical[at..at + n].copy_from_slice(&flat[logical..logical + n]));
    }

    /// Removes the padding of a parameter vector.
    pub(crate) fn unpad(&self, physical: &[f32]) -> Vec<f32> {
        let mut flat = vec![0.0; self.program.parameters()];
        self.unpad_into(physical, &mut flat);
        flat
    }

    /// Adds a flat vector to a padded one.
    pub(crate) fn add_into(&self, flat: &[f32], physical: &mut [f32]) {
        self.each_row(|logical, at, n| {
            let (sums, flat) = (&mut physical[at..at + n], &flat[logical..logical + n]);
            sums.iter_mut().zip(flat).for_each(|(sum, x)| *sum += x);
        });
    }

    /// Like [`Self::unpad`], in place.
    pub(crate) fn unpad_into(&self, physical: &[f32], flat: &mut [f32]) {
        self.each_row(|logical, at, n| flat[logical..logical + n].copy_from_slice(&physical[at..at + n]));
    }

    /// Calls `f` with the start of each row of a parameter in the flat vector and in the padded one, and its length.
    fn each_row(&self, mut f: impl FnMut(usize, usize, usize)) {
        for (place, param) in self.places.iter().zip(&self.program.params) {
            match param.shape[..] {
                [rows, columns] => {
                    for row in 0..rows {
                        f(param.offset + row * columns, place.start + row * stride(columns), columns);
                    }
                }
                _ => f(param.offset, place.start, param.len()),
            }
        }
    }
}

/// Number of entries of a parameter with padding. Optimiser steps need whole chunks.
fn physical_len(shape: &[usize]) -> usize {
    let entries = match *shape {
        [rows, columns] => rows * stride(columns),
        _ => shape.iter().product(),
    };
    entries.next_multiple_of(LANES)
}

/// Notes for each parameter the number of the branch that it belongs to, if rows select it; the innermost counts. Branches have
/// the numbers that [`Planner::block`] gives them.
fn find_experts(block: &Block, inside: Option<usize>, count: &mut usize, experts: &mut [Option<usize>]) {
    for op in &block.ops {
        match op {
            Op::Affine { weight, bias, .. } => (experts[*weight], experts[*bias]) = (inside, inside),
            Op::Scale { beta: param, .. } | Op::Gather { table: param, .. } => experts[*param] = inside,
            Op::Route { select, branches, .. } => {
                for branch in branches {
                    let own = (!matches!(select, Selector::All)).then_some(*count);
                    *count += 1;
                    find_experts(branch, own.or(inside), count, experts);
                }
            }
            _ => {}
        }
    }
}

/// Marks the weights whose rows belong to inputs: of layers that read the position alone, and tables. `inputs` are the values that
/// are inputs.
fn find_first_layers(block: &Block, inputs: &mut [bool], params: &mut [bool]) {
    for op in &block.ops {
        match op {
            Op::Input { out, .. } => inputs[*out] = true,
            Op::Concat { xs, out } => inputs[*out] = xs.iter().all(|&x| inputs[x]),
            Op::Outer { x, out } => inputs[*out] = inputs[*x],
            Op::Affine { x, weight, .. } => params[*weight] |= inputs[*x],
            Op::Gather { table, .. } => params[*table] = true,
            Op::Route { branches, .. } => {
                branches.iter().for_each(|branch| find_first_layers(branch, inputs, params));
            }
            _ => {}
        }
    }
}

/// Marks the values that branches read from their enclosing block.
fn find_shared(block: &Block, shared: &mut [bool]) {
    for op in &block.ops {
        match op {
            Op::Outer { x, .. } => shared[*x] = true,
            Op::Route { branches, .. } => branches.iter().for_each(|branch| find_shared(branch, shared)),
            _ => {}
        }
    }
}

/// The values that an op concatenates.
fn concatenated(op: &Op) -> Option<&[ValueId]> {
    match op {
        Op::Concat { xs, .. } => Some(xs),
        _ => None,
    }
}

/// The values that an op concatenates, as parts of a step; `later` are the ops after it.
fn parts(xs: &[ValueId], sources: &[(ValueId, Source)], later: &[Op]) -> Vec<Part> {
    let is_read = |x: &ValueId| later.iter().filter_map(concatenated).any(|xs| xs.contains(x));
    let part = |(at, x): (usize, &ValueId)| {
        let adjoint = match () {
            _ if sources.iter().any(|(id, _)| id == x) => PartAdjoint::None,
            _ if is_read(x) || xs[at + 1..].contains(x) => PartAdjoint::Add,
            _ => PartAdjoint::Set,
        };
        Part { x: *x, adjoint }
    };
    xs.iter().enumerate().map(part).collect()
}

struct Planner<'a> {
    program: &'a Program,
    places: &'a [Span],
    widths: Vec<usize>,
    routes: usize,
    branches: usize,
    shared: &'a [bool],
}

impl Planner<'_> {
    fn block(&mut self, block: &Block) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        let mut sources: Vec<(ValueId, Source)> = Vec::new();
        let mut gates: Vec<Gate> = Vec::new();
        let has_mixture = block.ops.iter().any(|op| matches!(op, Op::LogMix { .. }));
        let mut i = 0;
        while i < block.ops.len() {
            match &block.ops[i] {
                Op::Input { channels, out } => {
                    let pieces = self.program.columns(channels);
                    // A layer reads the columns from the row; every other op needs a copied value.
                    let layer = matches!(block.ops.get(i + 1), Some(Op::Affine { x, .. }) if x == out);
                    if let ([(first, _)], true) = (&pieces[..], layer) {
                        let first = *first;
                        sources.push((*out, Source::Columns(first)));
                    } else {
                        sources.push((*out, Source::Value(*out)));
                        steps.push(Step::Copy { pieces, out: *out });
                    }
                }
                Op::Concat { xs, out } => {
                    let parts = parts(xs, &sources, &block.ops[i + 1..]);
                    steps.push(Step::Join { parts, out: *out });
                }
                Op::Outer { x, out } if self.shared[*out] => steps.push(Step::Outer { x: *x, out: *out }),
                // Layers read it where it lies.
                Op::Outer { x, out } => sources.push((*out, Source::Outer(*x))),
                Op::Affine { .. } => {
                    let (layer, ops) = self.dense(&block.ops[i..], &sources);
                    steps.push(Step::Dense(layer));
                    i += ops - 1;
                }
                // Lowering puts these directly after an Affine or a LogSoftmax, whose arms handle them.
                Op::Scale { .. } | Op::Activation { .. } | Op::Threshold { .. } => {
                    unreachable!("a Scale, Activation or Threshold on its own")
                }
                Op::LogSoftmax { x, out } => {
                    let (mut logs, mut threshold) = (*out, None);
                    if let Some(Op::Threshold { x, threshold: st, out }) = block.ops.get(i + 1)
                        && *x == logs
                    {
                        (logs, threshold) = (*out, Some(*st));
                        i += 1;
                    }
                    self.widths.push(self.program.widths[logs]);
                    let gate = Gate { x: *x, threshold, weights: self.widths.len() - 1, logs };
                    gates.push(gate);
                    steps.push(Step::Gate(gate));
                }
                Op::Blend { log_weights, y, out } => {
                    let (gate, y, out) = (gate_of(&gates, *log_weights), *y, *out);
                    steps.push(Step::Blend { gate, y, out, in_density: !has_mixture });
                }
                Op::Density { y, variance, out } => {
                    steps.push(Step::Density { y: *y, variance: *variance, out: *out });
                }
                Op::LogMix { log_weights, densities, out } => {
                    let gate = gate_of(&gates, *log_weights);
                    steps.push(Step::LogMix { gate, densities: *densities, out: *out });
                }
                Op::Route { select, branches, out } => {
                    steps.push(Step::Route(self.route(*select, branches, out, &gates)));
                }
                Op::Gather { table, channel, out } => steps.push(Step::Gather {
                    table: self.places[*table],
                    column: self.program.layout.offsets[*channel],
                    out: *out,
                }),
                Op::Softmax { x, out } => steps.push(Step::Softmax { x: *x, out: *out }),
                Op::Categorical { p, out } => steps.push(Step::Categorical { p: *p, out: *out }),
                Op::PriorLogits { prior, x, tilt, utilities, out } => steps.push(Step::PriorLogits {
                    column: self.program.layout.offsets[*prior],
                    x: *x,
                    tilt: *tilt,
                    utilities: utilities.clone(),
                    out: *out,
                }),
                Op::Residual { prior, x, out } => {
                    let column = self.program.layout.offsets[*prior];
                    steps.push(Step::Residual { column, x: *x, out: *out });
                }
            }
            i += 1;
        }
        self.join_narrow(block, &mut steps);
        steps
    }

    /// The layer of an affine map, with the scale and the activation that follow it, and the number of these ops.
    fn dense(&mut self, ops: &[Op], sources: &[(ValueId, Source)]) -> (Dense, usize) {
        let Op::Affine { x, weight, bias, out } = &ops[0] else {
            unreachable!("a layer begins with an Affine")
        };
        let known = sources.iter().find(|(id, _)| id == x).map(|(_, source)| *source);
        let adds_dx = self.shared[*x] || matches!(known, Some(Source::Outer(_)));
        let (mut beta, mut f, mut end, mut used) = (None, Activation::Linear, *out, 1);
        if let Some(Op::Scale { x, beta: b, out }) = ops.get(used)
            && *x == end
        {
            (beta, end, used) = (Some(self.places[*b]), *out, used + 1);
        }
        if let Some(Op::Activation { x, f: g, out }) = ops.get(used)
            && *x == end
        {
            (f, end, used) = (*g, *out, used + 1);
        }
        let outputs = self.program.widths[end];
        self.widths.push(outputs);
        let layer = Dense {
            x: known.unwrap_or(Source::Value(*x)),
            inputs: self.program.widths[*x],
            outputs,
            weight: self.places[*weight],
            bias: self.places[*bias],
            beta,
            f,
            keep: beta.is_some() || f == Activation::Silu,
            kept: self.widths.len() - 1,
            out: end,
            wants_dx: known.is_none() || adds_dx,
            adds_dx,
            narrow: false,
        };
        (layer, used)
    }

    fn route(&mut self, select: Selector, branches: &[Block], out: &[ValueId], gates: &[Gate]) -> Route {
        let id = self.routes;
        self.routes += 1;
        let branch = |block: &Block| {
            let number = self.branches;
            self.branches += 1;
            Branch { number, steps: self.block(block), results: block.results.clone() }
        };
        let branches: Vec<Branch> = branches.iter().map(branch).collect();
        let select = match select {
            Selector::Index(channel) => Select::Index(self.program.layout.offsets[channel]),
            Selector::Mask(logs) => Select::Mask(gate_of(gates, logs).weights),
            Selector::All => Select::All,
            Selector::Cells(gate) => {
                let shape = &self.program.params[gate.table].shape;
                Select::Cells(CellTable {
                    columns: gate.channels.map(|c| self.program.layout.offsets[c]),
                    classes: gate.classes.map(|c| self.places[c]),
                    table: self.places[gate.table],
                    param: gate.table,
                    shape: [shape[0], shape[1]],
                })
            }
        };
        Route { select, mixed: MixedForm::of(&select, &branches), branches, out: out.to_vec(), id }
    }

    /// Marks the layers that run as one with the next, among the steps of a block.
    fn join_narrow(&self, block: &Block, steps: &mut [Step]) {
        for at in 1..steps.len() {
            let (before, from) = steps.split_at_mut(at);
            if let (Some(Step::Dense(hidden)), Step::Dense(head)) = (before.last_mut(), &from[0]) {
                let follows = matches!(head.x, Source::Value(x) if x == hidden.out);
                // Branches read it where it lies, too.
                let read = block.results.contains(&hidden.out)
                    || self.shared[hidden.out]
                    || block.ops.iter().filter_map(concatenated).any(|xs| xs.contains(&hidden.out));
                let fits = head.outputs == 1 && is_narrow(hidden.inputs, hidden.outputs);
                hidden.narrow = follows && !read && fits;
            }
        }
    }
}

/// The gate that computes these log weights.
fn gate_of(gates: &[Gate], logs: ValueId) -> Gate {
    *gates.iter().find(|g| g.logs == logs).expect("log weights come from a gate of the same block")
}
