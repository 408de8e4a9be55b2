//! The reference engine: runs an op program with plain loops in `f64`, one row at a time.
//!
//! It is slow and simple. The tests compare every other engine with it.

use crate::head::LEAST_PROBABILITY;
use crate::program::{Activation, Block, CellGate, Op, PRIOR_LIMIT, ParamId, Program, Selector, ValueId};
use adept_rows::Rows;

/// The results of a program for a batch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// `[rows, outputs]`, row by row.
    pub output: Vec<f64>,
    /// `[rows]`: log density of each target up to a constant; empty without targets.
    pub density: Vec<f64>,
}

/// Runs the program on all rows with these parameters (flat, ordered by offset).
/// With `targets` of shape `[rows, outputs]` it also computes their log densities.
///
/// # Panics
/// If `params`, `rows` or `targets` do not fit the program.
pub fn run(program: &Program, params: &[f64], rows: &Rows, targets: Option<&[f32]>) -> Outcome {
    let mut outcome = Outcome::default();
    let n = program.outputs();
    for r in 0..rows.len() {
        let target = targets.map(|t| &t[r * n..(r + 1) * n]);
        let mut row = Row::new(program, params, rows, r, target);
        row.block(&program.body);
        outcome.output.extend(&row.values[program.output()]);
        if target.is_some() {
            outcome.density.extend(&row.values[program.density()]);
        }
    }
    outcome
}

/// The smallest change of a gate that would select other experts, over all rows and all thresholds that they reach:
/// the distance of a gate from its threshold, or of the two largest gates if no gate passes. Infinite if no row
/// reaches a threshold.
///
/// # Panics
/// If `params` or `rows` do not fit the program.
pub fn margins(program: &Program, params: &[f64], rows: &Rows) -> f64 {
    (0..rows.len())
        .map(|r| {
            let mut row = Row::new(program, params, rows, r, None);
            row.block(&program.body);
            row.margin
        })
        .fold(f64::INFINITY, f64::min)
}

/// The state of one row while the program runs.
struct Row<'a> {
    program: &'a Program,
    params: &'a [f64],
    dense: &'a [f32],
    index: &'a [u64],
    target: Option<&'a [f32]>,
    /// Value v is empty until it is written; then it has `widths[v]` entries.
    values: Vec<Vec<f64>>,
    margin: f64,
}

impl<'a> Row<'a> {
    fn new(
        program: &'a Program,
        params: &'a [f64],
        rows: &'a Rows,
        row: usize,
        target: Option<&'a [f32]>,
    ) -> Self {
        Self {
            program,
            params,
            dense: rows.dense_row(row),
            index: rows.index_row(row),
            target,
            values: vec![Vec::new(); program.widths.len()],
            margin: f64::INFINITY,
        }
    }

    /// All entries of a parameter.
    fn param(&self, id: ParamId) -> &'a [f64] {
        let param = &self.program.params[id];
        &self.params[param.offset..param.offset + param.len()]
    }

    /// The entry of an index channel.
    fn index(&self, channel: usize) -> usize {
        self.index[self.program.layout.offsets[channel]] as usize
    }

    /// The branch that a cell gate selects.
    fn cell(&self, gate: &CellGate, branches: usize) -> usize {
        let class = |k: usize| self.param(gate.classes[k])[self.index(gate.channels[k])] as usize;
        let columns = self.program.params[gate.table].shape[1];
        (self.param(gate.table)[class(0) * columns + class(1)] as usize).min(branches - 1)
    }

    fn block(&mut self, block: &Block) {
        for op in &block.ops {
            self.op(op);
        }
    }

    fn op(&mut self, op: &Op) {
        match *op {
            Op::Input { ref channels, out } => {
                let mut all = Vec::new();
                for &c in channels {
                    let first = self.program.layout.offsets[c];
                    let width = self.program.channels[c].kind.dense_width();
                    for &v in &self.dense[first..first + width] {
                        all.push(f64::from(v));
                    }
                }
                self.values[out] = all;
            }
            Op::Concat { ref xs, out } => {
                self.values[out] = xs.iter().flat_map(|&x| self.values[x].iter().copied()).collect();
            }
            Op::Affine { x, weight, bias, out } => {
                let (weight, bias) = (self.param(weight), self.param(bias));
                let mut net = bias.to_vec();
                for (i, &v) in self.values[x].iter().enumerate() {
                    for (j, sum) in net.iter_mut().enumerate() {
                        *sum += v * weight[i * bias.len() + j];
                    }
                }
                self.values[out] = net;
            }
            Op::Scale { x, beta, out } => {
                let beta = self.param(beta);
                let pairs = self.values[x].iter().zip(beta);
                self.values[out] = pairs.map(|(v, b)| b * v).collect();
            }
            Op::Activation { x, f, out } => {
                let x = &self.values[x];
                self.values[out] = x.iter().map(|&v| activation(f, v)).collect();
            }
            Op::LogSoftmax { x, out } => {
                // ln gᵢ = aᵢ − ln Σⱼ exp(aⱼ)
                let x = &self.values[x];
                let sum = log_sum_exp(x);
                self.values[out] = x.iter().map(|v| v - sum).collect();
            }
            Op::Threshold { x, threshold, out } => {
                self.values[out] = self.threshold(x, f64::from(threshold));
            }
            Op::Blend { log_weights, y, out } => {
                // y = Σᵢ sᵢ yᵢ (Wiering & Kröse, §2.1)
                let width = self.program.widths[out];
                let mut blend = vec![0.0; width];
                for (i, log_weight) in self.values[log_weights].iter().enumerate() {
                    for (k, sum) in blend.iter_mut().enumerate() {
                        *sum += log_weight.exp() * self.values[y][i * width + k];
                    }
                }
                self.values[out] = blend;
            }
            Op::Density { y, variance, out } => {
                // ℓ = −|d − y|² / 2σ²
                let Some(target) = self.target else { return };
                let mut square = 0.0;
                for (&d, y) in target.iter().zip(&self.values[y]) {
                    square += (f64::from(d) - y).powi(2);
                }
                self.values[out] = vec![-square / (2.0 * f64::from(variance))];
            }
            Op::LogMix { log_weights, densities, out } => {
                if self.target.is_none() {
                    return;
                }
                // L = ln P(d|x) = ln Σᵢ sᵢ exp(ℓᵢ) (Wiering & Kröse, §2.1). An expert that is not selected has no
                // density; its 0 is a placeholder.
                let pairs = self.values[log_weights].iter().zip(&self.values[densities]);
                let terms: Vec<f64> = pairs
                    .filter(|(log_weight, _)| **log_weight != f64::NEG_INFINITY)
                    .map(|(log_weight, density)| log_weight + density)
                    .collect();
                self.values[out] = vec![log_sum_exp(&terms)];
            }
            Op::Softmax { x, out } => {
                let x = &self.values[x];
                let sum = log_sum_exp(x);
                self.values[out] = x.iter().map(|v| (v - sum).exp()).collect();
            }
            Op::Categorical { p, out } => {
                // ℓ = Σₖ tₖ ln pₖ
                let Some(target) = self.target else { return };
                let least = f64::from(LEAST_PROBABILITY);
                let terms =
                    target.iter().zip(&self.values[p]).map(|(&t, p)| f64::from(t) * p.max(least).ln());
                self.values[out] = vec![terms.sum()];
            }
            Op::PriorLogits { prior, x, tilt, ref utilities, out } => {
                let lambda = tilt.lambda(f64::from(self.dense[self.program.layout.offsets[prior]]));
                let correction = |k: usize| x.map_or(0.0, |x| self.values[x][k]);
                let logit = |(k, &u): (usize, &f32)| correction(k) + lambda * f64::from(u);
                self.values[out] = utilities.iter().enumerate().map(logit).collect();
            }
            Op::Outer { x, out } => self.values[out] = self.values[x].clone(),
            Op::Route { select, ref branches, ref out } => self.route(select, branches, out),
            Op::Gather { table, channel, out } => {
                let width = self.program.widths[out];
                let first = self.index(channel) * width;
                self.values[out] = self.param(table)[first..first + width].to_vec();
            }
            Op::Residual { prior, x, out } => {
                let limit = f64::from(PRIOR_LIMIT);
                let p = f64::from(self.dense[self.program.layout.offsets[prior]]).clamp(-limit, limit);
                let correct = |z: &f64| (p + z.tanh()) / (1.0 + p * z.tanh());
                self.values[out] = self.values[x].iter().map(correct).collect();
            }
        }
    }

    /// ln sᵢ from the log gates ln gᵢ in `x` (Wiering & Kröse, §2.3): sᵢ = gᵢ if gᵢ > ST, otherwise 0, divided by Σⱼ
    /// sⱼ. Also updates the margin.
    fn threshold(&mut self, x: ValueId, threshold: f64) -> Vec<f64> {
        let gates: Vec<f64> = self.values[x].iter().map(|v| v.exp()).collect();
        for g in &gates {
            self.margin = self.margin.min((g - threshold).abs());
        }
        let mut selected: Vec<bool> = gates.iter().map(|&g| g > threshold).collect();
        if !selected.contains(&true) {
            let mut largest = 0;
            for i in 1..gates.len() {
                if gates[i] > gates[largest] {
                    largest = i;
                }
            }
            selected[largest] = true;
            for i in (0..gates.len()).filter(|&i| i != largest) {
                self.margin = self.margin.min(gates[largest] - gates[i]);
            }
        }
        let sum: f64 = gates.iter().zip(&selected).map(|(g, &s)| if s { *g } else { 0.0 }).sum();
        let log_weight = |(g, &s): (&f64, &bool)| if s { (g / sum).ln() } else { f64::NEG_INFINITY };
        gates.iter().zip(&selected).map(log_weight).collect()
    }

    fn route(&mut self, select: Selector, branches: &[Block], out: &[ValueId]) {
        // The second result is a density.
        let results = if self.target.is_some() { out.len() } else { 1 };
        for &out in &out[..results] {
            self.values[out] = vec![0.0; self.program.widths[out]];
        }
        for (i, branch) in branches.iter().enumerate() {
            let (runs, place) = match select {
                Selector::All => (true, i),
                Selector::Mask(mask) => (self.values[mask][i] != f64::NEG_INFINITY, i),
                Selector::Index(channel) => (self.index(channel) == i, 0),
                Selector::Cells(gate) => (self.cell(&gate, branches.len()) == i, 0),
            };
            if !runs {
                continue;
            }
            self.block(branch);
            for (&out, &result) in out[..results].iter().zip(&branch.results) {
                let result = self.values[result].clone();
                let first = place * result.len();
                self.values[out][first..first + result.len()].copy_from_slice(&result);
            }
        }
    }
}

fn activation(f: Activation, x: f64) -> f64 {
    match f {
        Activation::Tanh => x.tanh(),
        Activation::Sigmoid => 1.0 / (1.0 + (-x).exp()),
        Activation::Relu => x.max(0.0),
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::Linear => x,
    }
}

/// ln Σᵢ exp(xᵢ) without overflow.
fn log_sum_exp(x: &[f64]) -> f64 {
    let max = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    max + x.iter().map(|v| (v - max).exp()).sum::<f64>().ln()
}
