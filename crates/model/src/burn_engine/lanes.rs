//! Batches branches of equal form into the lanes of one tensor.
//!
//! Sixteen experts of one shape become one batched product of `[16, rows, in]` and `[16, in, out]` instead of sixteen
//! small products. Devices are fast with few, large kernels, and the optimiser with few, large parameters.

use crate::program::{Block, CellGate, Op, ParamId, Program, Selector, ValueId};
use rustc_hash::FxHashMap;

/// Parameters of equal shape, stored as one tensor `[lanes, rows, columns]` on the device.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stack {
    /// The parameters, lane by lane.
    pub(super) params: Vec<ParamId>,
    /// Their shape `[rows, columns]`; a vector has one row.
    pub(super) shape: [usize; 2],
    /// Their learning-rate group.
    pub(super) group: usize,
    /// Their lower bound.
    pub(super) min: Option<f32>,
}

impl Stack {
    /// Shape of the tensor: lanes, rows, columns.
    pub(super) fn dims(&self) -> [usize; 3] {
        [self.params.len(), self.shape[0], self.shape[1]]
    }

    /// Number of entries of the tensor.
    pub(super) fn entries(&self) -> usize {
        self.dims().iter().product()
    }
}

/// Blocks of equal form, run as one. Values have the ids of the first block, and one lane per block.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Lanes {
    /// Number of blocks.
    pub(super) lanes: usize,
    pub(super) steps: Vec<Step>,
    pub(super) results: Vec<ValueId>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// An op whose parameter ids are indices of stacks.
    Op(Op),
    /// A route over `n` branches in each lane. Parameter ids of the selector are indices of stacks.
    Route { select: Selector, n: usize, branches: Branches, out: Vec<ValueId> },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Branches {
    /// All branches have equal form: branch i of lane e is lane e · n + i.
    Together(Lanes),
    /// Entry i is branch i of every lane.
    Apart(Vec<Lanes>),
}

/// Plans a program: its body in lanes, and its parameters in stacks.
pub(super) fn plan(program: &Program) -> (Lanes, Vec<Stack>) {
    let mut planner = Planner { program, stacks: Vec::new() };
    let body = planner.lanes(&[&program.body]);
    (body, planner.stacks)
}

struct Planner<'a> {
    program: &'a Program,
    stacks: Vec<Stack>,
}

impl Planner<'_> {
    /// Merges blocks of equal form.
    fn lanes(&mut self, blocks: &[&Block]) -> Lanes {
        let step = |k: usize| {
            let ops: Vec<&Op> = blocks.iter().map(|block| &block.ops[k]).collect();
            self.step(&ops)
        };
        let steps = (0..blocks[0].ops.len()).map(step).collect();
        Lanes { lanes: blocks.len(), steps, results: blocks[0].results.clone() }
    }

    fn step(&mut self, ops: &[&Op]) -> Step {
        if let Op::Route { select, branches, out } = ops[0] {
            let n = branches.len();
            let all: Vec<&Block> = ops.iter().flat_map(|op| branches_of(op)).collect();
            let branches = if all.iter().all(|block| self.same_form(all[0], block)) {
                Branches::Together(self.lanes(&all))
            } else {
                let branch = |i: usize| -> Vec<&Block> { all.iter().skip(i).step_by(n).copied().collect() };
                Branches::Apart((0..n).map(|i| self.lanes(&branch(i))).collect())
            };
            let select = self.select(*select, ops);
            return Step::Route { select, n, branches, out: out.clone() };
        }
        let mut op = ops[0].clone();
        let lists: Vec<Vec<ParamId>> = ops.iter().map(|op| parameters(op)).collect();
        for (slot, id) in parameters_mut(&mut op).into_iter().enumerate() {
            *id = self.stack(lists.iter().map(|list| list[slot]).collect());
        }
        Step::Op(op)
    }

    /// The selector of the routes `ops`, which have equal form.
    fn select(&mut self, select: Selector, ops: &[&Op]) -> Selector {
        let Selector::Cells(first) = select else { return select };
        let gates: Vec<CellGate> = ops.iter().filter_map(|op| cells_of(op)).collect();
        let classes = [0, 1].map(|k| self.stack(gates.iter().map(|g| g.classes[k]).collect()));
        let table = self.stack(gates.iter().map(|g| g.table).collect());
        Selector::Cells(CellGate { classes, table, ..first })
    }

    fn stack(&mut self, params: Vec<ParamId>) -> usize {
        let first = &self.program.params[params[0]];
        let columns = first.shape.last().copied().unwrap_or(1);
        let shape = [first.len() / columns.max(1), columns];
        self.stacks.push(Stack { params, shape, group: first.group, min: first.min });
        self.stacks.len() - 1
    }

    /// Whether two blocks have equal form: the same ops on parameters of the same shapes.
    fn same_form(&self, a: &Block, b: &Block) -> bool {
        self.same(a, b, &mut FxHashMap::default())
    }

    /// Like [`Self::same_form`]; `twins` maps values of `a` to values of `b`.
    fn same(&self, a: &Block, b: &Block, twins: &mut FxHashMap<ValueId, ValueId>) -> bool {
        a.ops.len() == b.ops.len()
            && a.ops.iter().zip(&b.ops).all(|(x, y)| self.same_op(x, y, twins))
            && are_twins(&a.results, &b.results, twins)
    }

    fn same_op(&self, x: &Op, y: &Op, twins: &mut FxHashMap<ValueId, ValueId>) -> bool {
        if let (Op::Route { select: s, branches: p, out: o }, Op::Route { select: t, branches: q, out: r }) =
            (x, y)
        {
            let select = match (s, t) {
                (Selector::Mask(a), Selector::Mask(b)) => are_twins(&[*a], &[*b], twins),
                (Selector::Cells(a), Selector::Cells(b)) => {
                    let shape = |id: ParamId| &self.program.params[id].shape;
                    let same = |a: ParamId, b: ParamId| shape(a) == shape(b);
                    a.channels == b.channels
                        && same(a.classes[0], b.classes[0])
                        && same(a.classes[1], b.classes[1])
                        && same(a.table, b.table)
                }
                _ => s == t,
            };
            return select
                && p.len() == q.len()
                && p.iter().zip(q).all(|(a, b)| self.same(a, b, twins))
                && are_twins(o, r, twins);
        }
        let same_param = |(p, q): (&ParamId, &ParamId)| {
            let (p, q) = (&self.program.params[*p], &self.program.params[*q]);
            (&p.shape, p.group, p.min) == (&q.shape, q.group, q.min)
        };
        let (p, q) = (parameters(x), parameters(y));
        let bare = |op: &Op| {
            let mut op = op.clone();
            parameters_mut(&mut op).into_iter().for_each(|id| *id = 0);
            values_mut(&mut op).into_iter().for_each(|id| *id = 0);
            op
        };
        let values = |op: &Op| values_mut(&mut op.clone()).into_iter().map(|id| *id).collect::<Vec<_>>();
        bare(x) == bare(y) && p.iter().zip(&q).all(same_param) && are_twins(&values(x), &values(y), twins)
    }
}

/// Records the pairs (a, b). False if a value already has another twin.
fn are_twins(a: &[ValueId], b: &[ValueId], twins: &mut FxHashMap<ValueId, ValueId>) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| *twins.entry(a).or_insert(b) == b)
}

fn branches_of(op: &Op) -> &[Block] {
    match op {
        Op::Route { branches, .. } => branches,
        _ => &[],
    }
}

fn cells_of(op: &Op) -> Option<CellGate> {
    match op {
        Op::Route { select: Selector::Cells(gate), .. } => Some(*gate),
        _ => None,
    }
}

fn parameters(op: &Op) -> Vec<ParamId> {
    parameters_mut(&mut op.clone()).into_iter().map(|id| *id).collect()
}

fn parameters_mut(op: &mut Op) -> Vec<&mut ParamId> {
    match op {
        Op::Affine { weight, bias, .. } => vec![weight, bias],
        Op::Scale { beta, .. } => vec![beta],
        Op::Gather { table, .. } => vec![table],
        Op::Input { .. }
        | Op::Concat { .. }
        | Op::Activation { .. }
        | Op::LogSoftmax { .. }
        | Op::Threshold { .. }
        | Op::Blend { .. }
        | Op::Density { .. }
        | Op::LogMix { .. }
        | Op::Softmax { .. }
        | Op::Categorical { .. }
        | Op::PriorLogits { .. }
        | Op::Residual { .. }
        | Op::Outer { .. }
        | Op::Route { .. } => vec![],
    }
}

/// The values that an op reads and writes. Routes are compared separately.
fn values_mut(op: &mut Op) -> Vec<&mut ValueId> {
    match op {
        Op::Input { out, .. } | Op::Gather { out, .. } => vec![out],
        Op::Concat { xs, out } => xs.iter_mut().chain([out]).collect(),
        Op::Affine { x, out, .. }
        | Op::Scale { x, out, .. }
        | Op::Activation { x, out, .. }
        | Op::LogSoftmax { x, out }
        | Op::Softmax { x, out }
        | Op::Threshold { x, out, .. }
        | Op::Outer { x, out }
        | Op::Residual { x, out, .. } => vec![x, out],
        Op::Categorical { p, out } => vec![p, out],
        Op::PriorLogits { x, out, .. } => x.iter_mut().chain([out]).collect(),
        Op::Blend { log_weights, y, out } => vec![log_weights, y, out],
        Op::Density { y, out, .. } => vec![y, out],
        Op::LogMix { log_weights, densities, out } => vec![log_weights, densities, out],
        Op::Route { .. } => vec![],
    }
}
