//! Runs a plan forward and backward.

use super::aligned::Aligned;
use super::kernels::ZipInlineExt;
use super::kernels::{
    ForwardRoom, InputAdjoint, Layer, LayerGrad, Matrix, Mixed, Prior, Saved, blend, blend_backward,
    by_differences, dense_backward, dense_forward, gate, gate_backward, log_mix, log_mix_backward,
    log_weights, mixed_forward, narrow_forward, narrow_rows, residual, residual_backward, stride, suits_bf16,
};
use super::plan::{
    CellNumbers, Dense, Gate, MixedForm, Part, PartAdjoint, Plan, Route, Select, Source, Step,
};
use super::reduced::{Int8Steps, Reduced};
use super::selected::Selected;
use super::simd::Isa;
use crate::head::LEAST_PROBABILITY;
use crate::program::ValueId;
use adept_rows::{Rows, RowsView};
use std::mem::take;
use std::ops::Range;

/// The function that [`Plan::backward`] differentiates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derivative {
    /// The log density L of the targets: the negated gradient of the loss.
    Density,
    /// The output: ∇V of eligibility traces.
    Output,
}

/// Buffers of one thread, reused for every batch.
#[derive(Debug)]
pub(crate) struct Workspace {
    isa: Isa,
    /// Values, `[at least rows, stride(width)]`.
    values: Vec<Aligned>,
    adjoints: Vec<Aligned>,
    /// The part of one layer in an adjoint that is a sum.
    part: Aligned,
    /// For each route: the rows of each branch.
    selected: Vec<Selected>,
    /// For each route: the number of rows, and of rows per branch, since the last call of `reset_usage`.
    usage: Vec<(u64, Vec<u64>)>,
    /// For each branch that rows select: the rows that went backward since the last call of `reset_pulled`.
    pulled: Vec<u64>,
    all: Vec<u32>,
    /// The expert of each row of a merged route.
    experts: Vec<u32>,
    /// For each merged route: its packed parameters; empty if the parameters have changed.
    packed: Vec<Vec<f32>>,
    /// For each route by cells: its tables.
    cells: Vec<CellNumbers>,
    /// Weights of large layers in panels, by the layer's value; empty if the parameters have changed.
    panels: Vec<Aligned>,
    /// Buffer for transposed weights.
    scratch: Aligned,
    /// Buffer for rows in lanes.
    lanes: Aligned,
    /// Layers that are evaluated in reduced precision.
    reduced: Option<Reduced>,
}

/// The constant inputs of a run.
#[derive(Clone, Copy)]
struct Job<'a> {
    params: &'a [f32],
    batch: RowsView<'a>,
    /// The places of the rows in the enclosing block; none if it has the same rows.
    local: Option<&'a [u32]>,
    /// `[rows, outputs]`; none if only the output is needed.
    targets: Option<&'a [f32]>,
    /// Whether values of experts are not needed, so that branches may run as one.
    merges: bool,
}

/// The steps of a block, and its results.
#[derive(Clone, Copy)]
struct Steps<'a> {
    all: &'a [Step],
    results: &'a [ValueId],
}

impl Job<'_> {
    /// The place of row `r` of the block in the enclosing block.
    fn outer(&self, r: usize) -> usize {
        self.local.map_or(r, |local| local[r] as usize)
    }
}

impl Workspace {
    /// Creates buffers for a plan and an instruction set from [`Isa::available`].
    pub(crate) fn new(plan: &Plan, isa: Isa, reduced: Option<Reduced>) -> Self {
        let n = plan.widths.len();
        Self {
            isa,
            values: vec![Aligned::default(); n],
            adjoints: vec![Aligned::default(); n],
            part: Aligned::default(),
            selected: (0..plan.routes).map(|_| Selected::default()).collect(),
            usage: vec![(0, vec![]); plan.routes],
            pulled: vec![0; plan.branches],
            all: Vec::new(),
            experts: Vec::new(),
            packed: vec![Vec::new(); plan.routes],
            cells: vec![CellNumbers::default(); plan.routes],
            panels: vec![Aligned::default(); n],
            scratch: Aligned::default(),
            lanes: Aligned::default(),
            reduced,
        }
    }

    /// Buffers for the same plan on another thread.
    pub(crate) fn copied(&self, plan: &Plan) -> Self {
        Self::new(plan, self.isa, self.reduced.as_ref().map(Reduced::copied))
    }

    /// Whether a layer of this shape is evaluated in bfloat16, unless rows are computed from the rows before.
    fn is_bf16(&self, inputs: usize, outputs: usize) -> bool {
        matches!(self.reduced, Some(Reduced::Bf16(_))) && suits_bf16(inputs, outputs)
    }

    /// A value of the last run, in padded rows. There may be more rows than the run had.
    pub(crate) fn value(&self, id: ValueId) -> &[f32] {
        &self.values[id]
    }

    /// The number of rows that reached the route, and that ran through each branch. Routes to all branches do not
    /// count.
    pub(crate) fn usage(&self, route: usize) -> (u64, &[u64]) {
        let (rows, runs) = &self.usage[route];
        (*rows, runs)
    }

    /// The cell of a row whose index part this is, once its route has run.
    pub(crate) fn cell(&self, route: usize, index: &[u64]) -> [usize; 2] {
        self.cells[route].cell(index)
    }

    /// Whether the first row of the last run took this branch.
    pub(crate) fn ran_first(&self, route: usize, branch: usize) -> bool {
        self.selected[route].has_first(branch)
    }

    pub(crate) fn reset_usage(&mut self) {
        for (rows, runs) in &mut self.usage {
            *rows = 0;
            runs.fill(0);
        }
    }

    /// The number of rows that went backward through each branch of the plan since the last call of [`Self::reset_pulled`].
    /// Routes to all branches do not count.
    pub(crate) fn pulled(&self) -> &[u64] {
        &self.pulled
    }

    pub(crate) fn reset_pulled(&mut self) {
        self.pulled.fill(0);
    }

    /// Forgets copies of learned parameters. Call it whenever they change.
    pub(crate) fn forget(&mut self) {
        self.packed.iter_mut().for_each(Vec::clear);
        self.panels.iter_mut().for_each(Aligned::clear);
        if let Some(Reduced::Bf16(layers)) = &mut self.reduced {
            layers.forget();
        }
    }

    /// Forgets copies of all parameters, also of those that do not learn.
    pub(crate) fn forget_all(&mut self) {
        self.forget();
        self.cells.iter_mut().for_each(CellNumbers::clear);
    }

    /// Takes the tables of a route by cells.
    fn take_cells(&mut self, route: &Route, params: &[f32]) -> CellNumbers {
        let mut numbers = take(&mut self.cells[route.id]);
        if let Select::Cells(cells) = route.select
            && numbers.is_empty()
        {
            cells.read(params, route.branches.len(), &mut numbers);
        }
        numbers
    }

    #[inline]
    fn size(&mut self, plan: &Plan, id: ValueId, n: usize) -> Aligned {
        let mut buffer = take(&mut self.values[id]);
        let length = n * stride(plan.widths[id]);
        // Buffers never shrink; rows beyond the batch are not read.
        if buffer.len() < length {
            buffer.resize(length);
        }
        buffer
    }
}

impl Plan {
    /// Runs the program on a range of rows of a batch, with padded parameters. With targets `[rows, outputs]` of the batch, also
    /// computes the densities. The values hold only these rows.
    ///
    /// # Panics
    /// If rows or targets do not fit the program. Callers validate external input.
    pub(crate) fn forward(
        &self,
        workspace: &mut Workspace,
        params: &[f32],
        (batch, rows): (&Rows, Range<usize>),
        targets: Option<&[f32]>,
    ) {
        let batch = batch.view();
        self.run_some(workspace, Job { params, batch, local: None, targets, merges: false }, rows);
    }

    /// Runs the program on a range of rows, without targets. The values hold only these rows.
    pub(crate) fn values(
        &self,
        workspace: &mut Workspace,
        params: &[f32],
        batch: RowsView<'_>,
        rows: Range<usize>,
    ) {
        self.run_some(workspace, Job { params, batch, local: None, targets: None, merges: true }, rows);
    }

    /// Calls `visit` with each row and the branch that it takes at the [`switch`](Self::switch), if there is one.
    pub(crate) fn sort(
        &self,
        ws: &mut Workspace,
        params: &[f32],
        batch: RowsView<'_>,
        mut visit: impl FnMut(usize, usize),
    ) {
        let Some(route) = self.switch() else { return };
        let cells = ws.take_cells(route, params);
        for row in 0..batch.len() {
            let index = batch.index_row(row);
            let branch = match route.select {
                Select::Index(column) => index[column] as usize,
                _ => cells.branch(index),
            };
            visit(row, branch);
        }
        ws.cells[route.id] = cells;
    }

    fn run_some(&self, workspace: &mut Workspace, job: Job<'_>, rows: Range<usize>) {
        let mut all = take(&mut workspace.all);
        if all.len() < rows.end {
            all.extend(all.len() as u32..rows.end as u32);
        }
        let rows = &all[rows];
        let done = match self.steps.first() {
            // Its branches are the int8 chains, if there are any.
            Some(Step::Route(_)) => 0,
            _ => self.int8_steps(0, workspace, job, rows),
        };
        self.run(&self.steps[done..], workspace, job, rows);
        workspace.all = all;
    }

    /// Runs the steps that an int8 chain replaces, if there is one, and returns their number.
    fn int8_steps(&self, chain: usize, ws: &mut Workspace, job: Job<'_>, rows: &[u32]) -> usize {
        let Some(Reduced::Int8(chains)) = &mut ws.reduced else { return 0 };
        let Int8Steps { layers, steps, out } = &mut chains[chain];
        let (y, length) = (&mut ws.values[*out], rows.len() * stride(self.widths[*out]));
        if y.len() < length {
            y.resize(length);
        }
        layers.forward(job.batch, rows, &mut y[..length]);
        *steps
    }

    fn run(&self, steps: &[Step], ws: &mut Workspace, job: Job<'_>, rows: &[u32]) {
        let n = rows.len();
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            match step {
                Step::Copy { pieces, out } => self.copy_pieces(pieces, *out, ws, job, rows),
                Step::Join { parts, out } => self.join(parts, *out, ws, n),
                Step::Outer { x, out } => {
                    let mut to = ws.size(self, *out, n);
                    let (width, from) = (stride(self.widths[*x]), &ws.values[*x]);
                    for (r, to) in to.chunks_exact_mut(width).take(n).enumerate() {
                        to.copy_from_slice(&from[job.outer(r) * width..][..width]);
                    }
                    ws.values[*out] = to;
                }
                Step::Dense(hidden)
                    if hidden.narrow
                        && job.targets.is_none()
                        && !ws.is_bf16(hidden.inputs, hidden.outputs) =>
                {
                    if let Some(Step::Dense(head)) = steps.next() {
                        self.narrow(hidden, head, ws, job, rows);
                    }
                }
                Step::Dense(dense) => self.dense(dense, ws, job, rows),
                Step::Gate(g) => {
                    let width = self.widths[g.x];
                    let mut weights = ws.size(self, g.weights, n);
                    gate(ws.isa, n, width, g.threshold, &ws.values[g.x], &mut weights);
                    if job.targets.is_some() {
                        let mut logs = ws.size(self, g.logs, n);
                        let (x, all) = (&ws.values[g.x], g.threshold.is_none());
                        log_weights(ws.isa, n, width, all, x, &weights, &mut logs);
                        ws.values[g.logs] = logs;
                    }
                    ws.values[g.weights] = weights;
                }
                Step::Blend { gate, y, out, .. } => self.blend(gate, *y, *out, ws, n),
                // ℓ = −|d − y|² / 2σ²
                Step::Density { y, variance, out } => {
                    let Some(targets) = job.targets else { continue };
                    let mut to = ws.size(self, *out, n);
                    let y = &ws.values[*y][..n];
                    if let Some(rows) = successive(rows) {
                        log_densities(*variance, &targets[rows], y, &mut to);
                    } else {
                        for ((to, y), &row) in to.iter_mut().zip_inline(y).zip_inline(rows) {
                            let e = targets[row as usize] - y;
                            *to = -e * e / (2.0 * variance);
                        }
                    }
                    ws.values[*out] = to;
                }
                Step::Softmax { x, out } => {
                    let mut to = ws.size(self, *out, n);
                    gate(ws.isa, n, self.widths[*out], None, &ws.values[*x], &mut to);
                    ws.values[*out] = to;
                }
                Step::Categorical { p, out } => {
                    if let Some(targets) = job.targets {
                        self.categorical(*p, *out, ws, targets, rows);
                    }
                }
                Step::PriorLogits { column, x, tilt, utilities, out } => {
                    let mut to = ws.size(self, *out, n);
                    let width = stride(utilities.len());
                    for (r, &row) in rows.iter().enumerate() {
                        let lambda = tilt.lambda_f32(job.batch.dense_row(row as usize)[*column]);
                        let to = &mut to[r * width..][..width];
                        match x {
                            Some(x) => to.copy_from_slice(&ws.values[*x][r * width..][..width]),
                            None => to.fill(0.0),
                        }
                        to.iter_mut().zip_inline(utilities).for_each(|(to, u)| *to += lambda * u);
                    }
                    ws.values[*out] = to;
                }
                // L = ln P(d|x) = ln Σᵢ sᵢ exp(ℓᵢ) (Wiering & Kröse, §2.1)
                Step::LogMix { gate, densities, out } => {
                    if job.targets.is_none() {
                        continue;
                    }
                    let mut to = ws.size(self, *out, n);
                    let (logs, densities) = (&ws.values[gate.logs], &ws.values[*densities]);
                    log_mix(ws.isa, n, self.widths[gate.x], logs, densities, &mut to);
                    ws.values[*out] = to;
                }
                Step::Route(route) => self.route(route, ws, job, rows),
                Step::Gather { table, column, out } => {
                    let mut to = ws.size(self, *out, n);
                    let outputs = self.widths[*out];
                    for (to, &row) in to.chunks_exact_mut(stride(outputs)).zip_inline(rows) {
                        let entry = job.batch.index_row(row as usize)[*column] as usize;
                        to[..outputs]
                            .copy_from_slice(&job.params[table.start + entry * stride(outputs)..][..outputs]);
                    }
                    ws.values[*out] = to;
                }
                Step::Residual { column, x, out } => {
                    let mut y = ws.size(self, *out, n);
                    let batch = job.batch;
                    let prior =
                        Prior { dense: batch.dense, stride: batch.dense_width(), column: *column, rows };
                    residual(ws.isa, self.widths[*out], prior, &ws.values[*x], &mut y);
                    ws.values[*out] = y;
                }
            }
        }
    }

    /// Copies pieces of the dense channels, each from its first column and so long.
    fn copy_pieces(
        &self,
        pieces: &[(usize, usize)],
        out: ValueId,
        ws: &mut Workspace,
        job: Job<'_>,
        rows: &[u32],
    ) {
        let n = rows.len();
        let mut to = ws.size(self, out, n);
        for (to, &row) in to.chunks_exact_mut(stride(self.widths[out])).zip_inline(rows) {
            let from = job.batch.dense_row(row as usize);
            let mut at = 0;
            for &(first, len) in pieces {
                to[at..at + len].copy_from_slice(&from[first..first + len]);
                at += len;
            }
        }
        ws.values[out] = to;
    }

    /// Values side by side.
    fn join(&self, parts: &[Part], out: ValueId, ws: &mut Workspace, n: usize) {
        let mut to = ws.size(self, out, n);
        let to_stride = stride(self.widths[out]);
        let mut column = 0;
        for part in parts {
            let width = self.widths[part.x];
            let from = ws.values[part.x].chunks_exact(stride(width)).take(n);
            for (r, from) in from.enumerate() {
                copy(&mut to[r * to_stride + column..], from, width);
            }
            column += width;
        }
        ws.values[out] = to;
    }

    /// Runs a layer.
    fn dense(&self, dense: &Dense, ws: &mut Workspace, job: Job<'_>, rows: &[u32]) {
        let n = rows.len();
        let mut y = ws.size(self, dense.out, n);
        let keep = dense.keep && job.targets.is_some();
        let mut kept = if keep { ws.size(self, dense.kept, n) } else { Aligned::default() };
        let (x, layer) = (self.input(dense, &ws.values, job, rows, 0), dense.layer(job.params));
        let panels = &mut ws.panels[dense.out];
        match &mut ws.reduced {
            Some(Reduced::Bf16(layers))
                if job.targets.is_none()
                    && suits_bf16(layer.inputs, layer.outputs)
                    && !by_differences(n, layer.inputs, x) =>
            {
                layers.forward(ws.isa, n, (layer, dense.out), x, panels, &mut y);
            }
            _ => {
                let room = ForwardRoom { panels, lanes: Some(&mut ws.lanes) };
                dense_forward(ws.isa, n, layer, x, room, &mut kept, &mut y);
            }
        }
        ws.values[dense.out] = y;
        if keep {
            ws.values[dense.kept] = kept;
        }
    }

    /// y = Σᵢ sᵢ yᵢ (Wiering & Kröse, §2.1).
    fn blend(&self, gate: &Gate, y: ValueId, out: ValueId, ws: &mut Workspace, n: usize) {
        let mut to = ws.size(self, out, n);
        let (experts, outputs) = (self.widths[gate.x], self.widths[out]);
        let (gs, ys, os) = (stride(experts), stride(experts * outputs), stride(outputs));
        let weights = &ws.values[gate.weights];
        if outputs == 1 && experts > 1 {
            blend(ws.isa, n, experts, weights, &ws.values[y], &mut to);
            ws.values[out] = to;
            return;
        }
        for r in 0..n {
            let to = &mut to[r * os..][..outputs];
            let y = ws.values[y][r * ys..][..experts * outputs].chunks_exact(outputs);
            to.fill(0.0);
            for (s, y) in weights[r * gs..][..experts].iter().zip_inline(y) {
                to.iter_mut().zip_inline(y).for_each(|(to, y)| *to += s * y);
            }
        }
        ws.values[out] = to;
    }

    /// ℓ = Σₖ tₖ ln pₖ.
    fn categorical(&self, p: ValueId, out: ValueId, ws: &mut Workspace, targets: &[f32], rows: &[u32]) {
        let n = rows.len();
        let mut to = ws.size(self, out, n);
        let classes = self.widths[p];
        let p = ws.values[p].chunks_exact(stride(classes));
        for ((to, p), &row) in to.iter_mut().zip_inline(p).zip_inline(rows) {
            let t = &targets[row as usize * classes..][..classes];
            // `max` would drop NaN.
            let log = |p: f32| if p < LEAST_PROBABILITY { LEAST_PROBABILITY.ln() } else { p.ln() };
            *to = t.iter().zip_inline(p).map(|(t, &p)| t * log(p)).sum();
        }
        ws.values[out] = to;
    }

    /// Runs a hidden layer and the single output after it.
    fn narrow(&self, hidden: &Dense, head: &Dense, ws: &mut Workspace, job: Job<'_>, rows: &[u32]) {
        let (n, isa, params) = (rows.len(), ws.isa, job.params);
        let (mut lanes, mut y) = (take(&mut ws.lanes), ws.size(self, head.out, n));
        let most = narrow_rows(n, hidden.outputs);
        if most > 0 {
            let x = self.input(hidden, &ws.values, job, rows, 0);
            narrow_forward(isa, most, hidden.layer(params), head.layer(params), x, &mut lanes, &mut y);
        }
        if most < n {
            let mut units = ws.size(self, hidden.out, n - most);
            // Too few rows for panels.
            let mut panels = Aligned::default();
            let x = self.input(hidden, &ws.values, job, rows, most);
            dense_forward(
                isa,
                n - most,
                hidden.layer(params),
                x,
                ForwardRoom { panels: &mut panels, lanes: None },
                &mut [],
                &mut units,
            );
            ws.values[hidden.out] = units;
            let x = self.input(head, &ws.values, job, rows, 0);
            dense_forward(
                isa,
                n - most,
                head.layer(params),
                x,
                ForwardRoom { panels: &mut panels, lanes: None },
                &mut [],
                &mut y[most..],
            );
        }
        (ws.values[head.out], ws.lanes) = (y, lanes);
    }

    /// The inputs of a layer, starting at row `first` of `rows`.
    #[inline(always)]
    fn input<'a>(
        &self,
        dense: &Dense,
        values: &'a [Aligned],
        job: Job<'a>,
        rows: &'a [u32],
        first: usize,
    ) -> Matrix<'a> {
        match dense.x {
            Source::Value(x) => {
                let stride = stride(self.widths[x]);
                Matrix { data: &values[x][first * stride..], stride, rows: None, similar_neighbours: false }
            }
            Source::Outer(x) => {
                let (stride, local) = (stride(self.widths[x]), job.local.map(|local| &local[first..]));
                let skipped = if local.is_some() { 0 } else { first };
                Matrix {
                    data: &values[x][skipped * stride..],
                    stride,
                    rows: local,
                    similar_neighbours: false,
                }
            }
            Source::Columns(column) => {
                let (rows, batch) = (Some(&rows[first..]), job.batch);
                Matrix {
                    data: &batch.dense[column..],
                    stride: batch.dense_width(),
                    rows,
                    similar_neighbours: batch.has_similar_neighbours(),
                }
            }
        }
    }

    /// Runs all branches of a route as one.
    fn merged(&self, route: &Route, form: &MixedForm, ws: &mut Workspace, job: Job<'_>, rows: &[u32]) {
        let branches = route.branches.len();
        let mut experts = take(&mut ws.experts);
        let cells = ws.take_cells(route, job.params);
        let (seen, runs) = &mut ws.usage[route.id];
        *seen += rows.len() as u64;
        runs.resize(branches, 0);
        experts.resize(rows.len(), 0);
        for (expert, &row) in experts.iter_mut().zip_inline(rows) {
            let index = job.batch.index_row(row as usize);
            let branch = match route.select {
                Select::Index(column) => index[column] as usize,
                _ => cells.branch(index),
            };
            runs[branch] += 1;
            *expert = branch as u32;
        }
        ws.cells[route.id] = cells;
        let mut packed = take(&mut ws.packed[route.id]);
        if packed.is_empty() {
            form.pack(job.params, &mut packed);
        }
        let mixed =
            Mixed { inputs: form.inputs, units: form.units, f: form.f, head_f: form.head_f, packed: &packed };
        let stride = job.batch.dense_width();
        let x = Matrix {
            data: &job.batch.dense[form.column..],
            stride,
            rows: Some(rows),
            similar_neighbours: false,
        };
        let mut y = ws.size(self, route.out[0], rows.len());
        mixed_forward(ws.isa, mixed, &experts, x, &mut y[..rows.len()]);
        ws.values[route.out[0]] = y;
        (ws.experts, ws.packed[route.id]) = (experts, packed);
    }

    fn route(&self, route: &Route, ws: &mut Workspace, job: Job<'_>, rows: &[u32]) {
        let n = rows.len();
        let merges = |form: &&MixedForm| {
            job.merges
                && !ws.is_bf16(form.inputs, form.units)
                && !matches!(ws.reduced, Some(Reduced::Int8(_)))
        };
        if let Some(form) = route.mixed.as_ref().filter(merges) {
            return self.merged(route, form, ws, job, rows);
        }
        let mut selected = take(&mut ws.selected[route.id]);
        if !matches!(route.select, Select::All) {
            let branches = route.branches.len();
            match route.select {
                Select::Index(column) => {
                    selected.pick(branches, rows, |row| job.batch.index_row(row as usize)[column] as usize);
                }
                Select::Cells(_) => {
                    let cells = ws.take_cells(route, job.params);
                    selected.pick(branches, rows, |row| cells.branch(job.batch.index_row(row as usize)));
                    ws.cells[route.id] = cells;
                }
                Select::Mask(weights) => {
                    let (s, width) = (&ws.values[weights], stride(self.widths[weights]));
                    // A NaN weight runs too, so that divergence stays visible.
                    selected.mask(branches, rows, |local, b| {
                        let s = s[local * width + b];
                        s > 0.0 || s.is_nan()
                    });
                }
                Select::All => {}
            }
            let (seen, runs) = &mut ws.usage[route.id];
            *seen += n as u64;
            runs.resize(branches, 0);
            runs.iter_mut().enumerate().for_each(|(b, runs)| *runs += selected.branch(b).0.len() as u64);
        }
        let indexed = route.select.is_index();
        // Results beyond the output are densities, which need targets.
        let results = if job.targets.is_some() { route.out.len() } else { 1 };
        for &out in &route.out[..results] {
            let mut to = ws.size(self, out, n);
            if let Select::Mask(_) = route.select {
                to[..n * stride(self.widths[out])].fill(0.0);
            }
            ws.values[out] = to;
        }
        for (b, branch) in route.branches.iter().enumerate() {
            let (rows, local) = selected.rows_of(&route.select, b, rows);
            if rows.is_empty() {
                continue;
            }
            let done = self.int8_steps(b, ws, job, rows);
            self.run(&branch.steps[done..], ws, Job { local, ..job }, rows);
            for (&out, &result) in route.out[..results].iter().zip_inline(&branch.results) {
                let width = self.widths[result];
                let mut to = take(&mut ws.values[out]);
                let (from, to_stride) = (&ws.values[result], stride(self.widths[out]));
                let column = if indexed { 0 } else { b * width };
                for (r, from) in from.chunks_exact(stride(width)).enumerate().take(rows.len()) {
                    let r = local.map_or(r, |local| local[r] as usize);
                    copy(&mut to[r * to_stride + column..], from, width);
                }
                ws.values[out] = to;
            }
        }
        ws.selected[route.id] = selected;
    }

    /// Adds Σᵣ seedᵣ · ∂(density or output of row r)/∂parameters to `grad`. Call it after a forward run with targets on
    /// the same rows. For [`Derivative::Output`] the seed applies to the first output.
    pub(crate) fn backward(
        &self,
        workspace: &mut Workspace,
        params: &[f32],
        (batch, targets, rows): (&Rows, &[f32], Range<usize>),
        (derivative, seeds): (Derivative, &[f32]),
        grad: &mut [f32],
    ) {
        let (n, batch) = (rows.len(), batch.view());
        let (output, density) = (self.program.output(), self.program.density());
        let seeded = if derivative == Derivative::Density { density } else { output };
        self.zero_adjoints(workspace, &[output, density], n);
        let width = stride(self.widths[seeded]);
        if width == 1 && n >= MANY {
            workspace.adjoints[seeded].copy_from_slice(&seeds[..n]);
        } else {
            let adjoints = workspace.adjoints[seeded].chunks_exact_mut(width);
            adjoints.zip_inline(seeds).for_each(|(adjoint, seed)| adjoint[0] = *seed);
        }
        let all = take(&mut workspace.all);
        let job = Job { params, batch, local: None, targets: Some(targets), merges: false };
        let steps = Steps { all: &self.steps, results: &self.program.body.results };
        self.pull(steps, workspace, job, &all[rows], derivative, grad);
        workspace.all = all;
    }

    fn zero_adjoints(&self, ws: &mut Workspace, ids: &[ValueId], n: usize) {
        for &id in ids {
            let adjoint = &mut ws.adjoints[id];
            adjoint.zero(n * stride(self.widths[id]));
        }
    }

    /// Runs the steps of a block backward. The adjoints of its results are already set.
    fn pull(
        &self,
        block: Steps<'_>,
        ws: &mut Workspace,
        job: Job<'_>,
        rows: &[u32],
        derivative: Derivative,
        grad: &mut [f32],
    ) {
        let Steps { all: steps, results } = block;
        let n = rows.len();
        let density = derivative == Derivative::Density;
        self.clear_adjoints(steps, results, ws, n);
        for step in steps.iter().rev() {
            match step {
                Step::Copy { .. } => {}
                Step::Join { parts, out } => self.pull_join(parts, *out, ws, n),
                Step::Outer { x, out } => {
                    let dy = take(&mut ws.adjoints[*out]);
                    add_rows(&mut ws.adjoints[*x], self.widths[*x], n, &dy, |r| job.outer(r));
                    ws.adjoints[*out] = dy;
                }
                Step::Dense(dense) => self.pull_dense(dense, ws, job, rows, grad),
                // ∂L/∂aᵢ = hᵢ − sᵢ for the adjoints hᵢ of ln sᵢ
                Step::Gate(gate) => {
                    let width = self.widths[gate.x];
                    let mut dx = take(&mut ws.adjoints[gate.x]);
                    dx.resize(n * stride(width));
                    let (weights, logs) = (&ws.values[gate.weights], &ws.adjoints[gate.logs]);
                    gate_backward(ws.isa, n, width, weights, logs, &mut dx);
                    ws.adjoints[gate.x] = dx;
                }
                Step::Blend { gate, y, out, in_density } => {
                    if !density || *in_density {
                        self.pull_blend(gate, *y, *out, ws, n);
                    }
                }
                Step::Density { y, variance, out } => {
                    if let Some(targets) = job.targets.filter(|_| density) {
                        pull_density(*y, *variance, *out, ws, targets, rows);
                    }
                }
                Step::Softmax { x, out } => self.pull_softmax(*x, *out, ws, n),
                Step::Categorical { p, out } => {
                    if let Some(targets) = job.targets.filter(|_| density) {
                        self.pull_categorical(*p, *out, ws, targets, rows);
                    }
                }
                Step::PriorLogits { x, out, .. } => {
                    let Some(x) = x else { continue };
                    let mut dx = take(&mut ws.adjoints[*x]);
                    let length = n * stride(self.widths[*x]);
                    dx.resize(length);
                    dx.copy_from_slice(&ws.adjoints[*out][..length]);
                    ws.adjoints[*x] = dx;
                }
                Step::LogMix { gate, densities, out } => {
                    if density {
                        self.pull_log_mix(gate, *densities, *out, ws, n);
                    }
                }
                Step::Route(route) => self.pull_route(route, ws, job, rows, derivative, grad),
                Step::Gather { table, column, out } => {
                    let outputs = self.widths[*out];
                    for (r, &row) in rows.iter().enumerate() {
                        let entry = job.batch.index_row(row as usize)[*column] as usize;
                        let a = &ws.adjoints[*out][r * stride(outputs)..][..outputs];
                        let g = &mut grad[table.start + entry * stride(outputs)..][..outputs];
                        g.iter_mut().zip_inline(a).for_each(|(g, a)| *g += a);
                    }
                }
                Step::Residual { x, out, .. } => {
                    let length = n * stride(self.widths[*x]);
                    let mut dz = take(&mut ws.adjoints[*x]);
                    dz.resize(length);
                    let (dy, y) = (&ws.adjoints[*out][..length], &ws.values[*out][..length]);
                    residual_backward(ws.isa, dy, y, &mut dz);
                    ws.adjoints[*x] = dz;
                }
            }
        }
    }

    /// Adjoints of the parts that are joined.
    fn pull_join(&self, parts: &[Part], out: ValueId, ws: &mut Workspace, n: usize) {
        let from_stride = stride(self.widths[out]);
        // Backwards, so that the last of equal parts sets what the others add to.
        let mut end = self.widths[out];
        for part in parts.iter().rev() {
            let width = self.widths[part.x];
            let column = end - width;
            end = column;
            if part.adjoint == PartAdjoint::None {
                continue;
            }
            let mut dx = take(&mut ws.adjoints[part.x]);
            dx.resize(n * stride(width));
            let dy = ws.adjoints[out].chunks_exact(from_stride).take(n);
            for (dx, dy) in dx.chunks_exact_mut(stride(width)).zip(dy) {
                let dy = &dy[column..column + width];
                match part.adjoint {
                    PartAdjoint::Add => dx.iter_mut().zip(dy).for_each(|(dx, dy)| *dx += dy),
                    _ => dx[..width].copy_from_slice(dy),
                }
            }
            ws.adjoints[part.x] = dx;
        }
    }

    /// Gradient of a layer, and the adjoints of its input.
    fn pull_dense(&self, dense: &Dense, ws: &mut Workspace, job: Job<'_>, rows: &[u32], grad: &mut [f32]) {
        let n = rows.len();
        let kept = if dense.keep { &ws.values[dense.kept][..] } else { &[] };
        let x = self.input(dense, &ws.values, job, rows, 0);
        let saved = Saved { x, kept, y: &ws.values[dense.out] };
        let length = n * stride(dense.inputs);
        let (dy, dx): (_, &mut [f32]) = match dense.x {
            _ if dense.adds_dx => {
                ws.part.resize(length);
                (&mut ws.adjoints[dense.out], &mut ws.part)
            }
            Source::Value(x) if dense.wants_dx => {
                let both = ws.adjoints.get_disjoint_mut([dense.out, x]);
                let [dy, dx] = both.expect("a layer has its own value");
                dx.resize(length);
                (dy, dx)
            }
            _ => (&mut ws.adjoints[dense.out], &mut []),
        };
        let below = InputAdjoint { dx, scratch: &mut ws.scratch };
        dense_backward(ws.isa, n, dense.layer(job.params), saved, dy, dense.grad(grad), below);
        match dense.x {
            Source::Value(x) if dense.adds_dx => {
                add_rows(&mut ws.adjoints[x], dense.inputs, n, &ws.part, |r| r);
            }
            Source::Outer(x) => {
                add_rows(&mut ws.adjoints[x], dense.inputs, n, &ws.part, |r| job.outer(r));
            }
            _ => {}
        }
    }

    /// With a = ∂/∂y: ∂/∂ln sᵢ += sᵢ a·yᵢ and ∂/∂yᵢ += sᵢ a.
    fn pull_blend(&self, gate: &Gate, y: ValueId, out: ValueId, ws: &mut Workspace, n: usize) {
        let (experts, outputs) = (self.widths[gate.x], self.widths[out]);
        let (gs, ys, os) = (stride(experts), stride(experts * outputs), stride(outputs));
        let (mut dg, mut dy) = (take(&mut ws.adjoints[gate.logs]), take(&mut ws.adjoints[y]));
        let several = outputs > 1 || experts == 1;
        if !several {
            let (a, weights) = (&ws.adjoints[out][..n], &ws.values[gate.weights]);
            blend_backward(ws.isa, experts, a, weights, &ws.values[y], &mut dg, &mut dy);
        }
        for r in if several { 0..n } else { 0..0 } {
            let a = &ws.adjoints[out][r * os..][..outputs];
            for e in 0..experts {
                let s = ws.values[gate.weights][r * gs + e];
                let at = r * ys + e * outputs;
                let y = &ws.values[y][at..][..outputs];
                dg[r * gs + e] += s * a.iter().zip_inline(y).map(|(a, y)| a * y).sum::<f32>();
                dy[at..][..outputs].iter_mut().zip_inline(a).for_each(|(d, a)| *d += s * a);
            }
        }
        ws.adjoints[gate.logs] = dg;
        ws.adjoints[y] = dy;
    }

    /// With a = ∂/∂p: ∂/∂xₖ = pₖ (aₖ − Σⱼ aⱼ pⱼ).
    fn pull_softmax(&self, x: ValueId, out: ValueId, ws: &mut Workspace, n: usize) {
        let classes = self.widths[out];
        let width = stride(classes);
        let mut dx = take(&mut ws.adjoints[x]);
        dx.zero(n * width);
        for (r, dx) in dx.chunks_exact_mut(width).enumerate() {
            let p = &ws.values[out][r * width..][..classes];
            let a = &ws.adjoints[out][r * width..][..classes];
            let mean: f32 = p.iter().zip_inline(a).map(|(p, a)| p * a).sum();
            dx.iter_mut().zip_inline(p).zip_inline(a).for_each(|((dx, p), a)| *dx = p * (a - mean));
        }
        ws.adjoints[x] = dx;
    }

    /// ∂L/∂pₖ = a tₖ / pₖ with a = ∂L/∂ℓ; under a mixture a = hᵢ.
    fn pull_categorical(&self, id: ValueId, out: ValueId, ws: &mut Workspace, targets: &[f32], rows: &[u32]) {
        let n = rows.len();
        let classes = self.widths[id];
        let width = stride(classes);
        let mut dp = take(&mut ws.adjoints[id]);
        dp.zero(n * width);
        for ((r, dp), &row) in dp.chunks_exact_mut(width).enumerate().zip_inline(rows) {
            let a = ws.adjoints[out][r];
            let t = &targets[row as usize * classes..][..classes];
            let p = &ws.values[id][r * width..][..classes];
            for ((dp, t), &p) in dp.iter_mut().zip_inline(t).zip_inline(p) {
                *dp = a * t / if p < LEAST_PROBABILITY { LEAST_PROBABILITY } else { p };
            }
        }
        ws.adjoints[id] = dp;
    }

    /// ∂L/∂ln sᵢ = ∂L/∂ℓᵢ = hᵢ = sᵢ exp(ℓᵢ) / P.
    fn pull_log_mix(&self, gate: &Gate, densities: ValueId, out: ValueId, ws: &mut Workspace, n: usize) {
        let (mut dg, mut dl) = (take(&mut ws.adjoints[gate.logs]), take(&mut ws.adjoints[densities]));
        log_mix_backward(
            ws.isa,
            self.widths[gate.x],
            &ws.adjoints[out][..n],
            &ws.values[out][..n],
            &ws.values[gate.logs],
            &ws.values[densities],
            (&mut dg, &mut dl),
        );
        ws.adjoints[gate.logs] = dg;
        ws.adjoints[densities] = dl;
    }

    /// Sizes the adjoints that the steps of a block write. Those of hidden layers are overwritten; those of gates and routes are sums,
    /// so they start at 0. Those of `results` are already set.
    fn clear_adjoints(&self, steps: &[Step], results: &[ValueId], ws: &mut Workspace, n: usize) {
        for step in steps {
            match step {
                Step::Dense(Dense { out, .. }) | Step::Outer { out, .. } if self.shared[*out] => {
                    self.zero_adjoints(ws, &[*out], n);
                }
                Step::Dense(dense) if !results.contains(&dense.out) => {
                    ws.adjoints[dense.out].resize(n * stride(self.widths[dense.out]));
                }
                Step::Gate(gate) => self.zero_adjoints(ws, &[gate.logs], n),
                Step::Join { out, .. } if !results.contains(out) => self.zero_adjoints(ws, &[*out], n),
                Step::Route(route) => {
                    for out in route.out.iter().filter(|out| !results.contains(out)) {
                        self.zero_adjoints(ws, &[*out], n);
                    }
                }
                _ => {}
            }
        }
    }

    fn pull_route(
        &self,
        route: &Route,
        ws: &mut Workspace,
        job: Job<'_>,
        rows: &[u32],
        derivative: Derivative,
        grad: &mut [f32],
    ) {
        let selected = take(&mut ws.selected[route.id]);
        let indexed = route.select.is_index();
        for (b, branch) in route.branches.iter().enumerate() {
            let (rows, local) = selected.rows_of(&route.select, b, rows);
            if rows.is_empty() {
                continue;
            }
            for (&out, &result) in route.out.iter().zip_inline(&branch.results) {
                let width = self.widths[result];
                let mut to = take(&mut ws.adjoints[result]);
                to.zero(rows.len() * stride(width));
                let (from, from_stride) = (&ws.adjoints[out], stride(self.widths[out]));
                let column = if indexed { 0 } else { b * width };
                for (r, to) in to.chunks_exact_mut(stride(width)).enumerate() {
                    let r = local.map_or(r, |local| local[r] as usize);
                    copy(to, &from[r * from_stride + column..], width);
                }
                ws.adjoints[result] = to;
            }
            if !matches!(route.select, Select::All) {
                ws.pulled[branch.number] += rows.len() as u64;
            }
            let job = Job { local, ..job };
            let steps = Steps { all: &branch.steps, results: &branch.results };
            self.pull(steps, ws, job, rows, derivative, grad);
        }
        ws.selected[route.id] = selected;
    }
}

impl Dense {
    fn layer<'a>(&self, params: &'a [f32]) -> Layer<'a> {
        Layer {
            inputs: self.inputs,
            outputs: self.outputs,
            weight: &params[self.weight.range()],
            bias: &params[self.bias.range()],
            beta: self.beta.map(|b| &params[b.range()]),
            f: self.f,
        }
    }

    /// The gradients of this layer. Lowering places weight, bias and sensitivities next to each other in this order.
    fn grad<'a>(&self, grad: &'a mut [f32]) -> LayerGrad<'a> {
        let (weight, rest) = grad[self.weight.start..].split_at_mut(self.weight.len);
        let (bias, rest) = rest.split_at_mut(self.bias.len);
        LayerGrad { weight, bias, beta: self.beta.map(|b| &mut rest[..b.len]) }
    }
}

/// Rows from which it pays off to call a function for all of them.
const MANY: usize = 16;

/// ∂L/∂y = a (d − y) / σ² with a = ∂L/∂ℓ; under a mixture a = hᵢ.
fn pull_density(y: ValueId, variance: f32, out: ValueId, ws: &mut Workspace, targets: &[f32], rows: &[u32]) {
    let n = rows.len();
    let mut dy = take(&mut ws.adjoints[y]);
    dy.resize(n);
    let (a, found) = (&ws.adjoints[out][..n], &ws.values[y][..n]);
    if let Some(rows) = successive(rows) {
        pull_densities(variance, &targets[rows], a, found, &mut dy);
    } else {
        for (((dy, a), y), &row) in dy.iter_mut().zip_inline(a).zip_inline(found).zip_inline(rows) {
            *dy = a / variance * (targets[row as usize] - y);
        }
    }
    ws.adjoints[y] = dy;
}

/// The range of [`MANY`] rows that follow each other. Rows are in order.
#[inline(always)]
fn successive(rows: &[u32]) -> Option<Range<usize>> {
    let (first, last) = (*rows.first()? as usize, *rows.last()? as usize);
    (rows.len() >= MANY && last + 1 - first == rows.len()).then_some(first..last + 1)
}

/// ℓ = −|d − y|² / 2σ², several at a time.
#[inline(never)]
fn log_densities(variance: f32, targets: &[f32], y: &[f32], to: &mut [f32]) {
    let n = targets.len();
    let (y, to) = (&y[..n], &mut to[..n]);
    for i in 0..n {
        let e = targets[i] - y[i];
        to[i] = -e * e / (2.0 * variance);
    }
}

/// The adjoints of y from those of ℓ, several at a time.
#[inline(never)]
fn pull_densities(variance: f32, targets: &[f32], adjoints: &[f32], y: &[f32], to: &mut [f32]) {
    let n = targets.len();
    let (adjoints, y, to) = (&adjoints[..n], &y[..n], &mut to[..n]);
    for i in 0..n {
        to[i] = adjoints[i] / variance * (targets[i] - y[i]);
    }
}

/// Adds `n` rows of this width to the rows of a sum. Padding is left out, which may hold anything.
fn add_rows(sum: &mut [f32], width: usize, n: usize, rows: &[f32], place: impl Fn(usize) -> usize) {
    for (r, row) in rows.chunks_exact(stride(width)).take(n).enumerate() {
        let sum = &mut sum[place(r) * stride(width)..][..width];
        sum.iter_mut().zip_inline(row).for_each(|(sum, v)| *sum += v);
    }
}

/// Copies the first `width` numbers. The width is mostly 1, where a call to `memcpy` costs too much.
#[inline(always)]
fn copy(to: &mut [f32], from: &[f32], width: usize) {
    if width == 1 {
        to[0] = from[0];
    } else {
        to[..width].copy_from_slice(&from[..width]);
    }
}
