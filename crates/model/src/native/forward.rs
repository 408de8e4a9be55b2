//! Evaluates rows: a plan with parameters and the buffers of one thread.

use super::aligned::Aligned;
use super::exec::{Derivative, Workspace};
use super::plan::Plan;
use super::reduced::Reduced;
use super::simd::Isa;
use crate::head::Head;
use crate::predictor::{Explanation, Usage};
use crate::program::Program;
use adept_ground::profile::{self, Phase};
use adept_rows::{Rows, RowsView};
use std::ops::Range;
use std::sync::Arc;

/// Rows evaluated in one pass; more would not fit in the cache.
const PASS: usize = 256;

/// A compiled network that evaluates rows.
#[derive(Debug)]
pub(crate) struct Forward {
    pub(crate) plan: Arc<Plan>,
    /// Padded parameters; empty if all of them are in layers of reduced precision.
    pub(crate) params: Aligned,
    pub(crate) workspace: Workspace,
}

impl Forward {
    /// Evaluates with padded parameters, on an instruction set from [`Isa::available`].
    pub(crate) fn new(plan: Arc<Plan>, params: Aligned, isa: Isa, reduced: Option<Reduced>) -> Self {
        Self { workspace: Workspace::new(&plan, isa, reduced), plan, params }
    }

    /// The same network with buffers for another thread.
    pub(crate) fn copied(&self) -> Self {
        let workspace = self.workspace.copied(&self.plan);
        Self { plan: self.plan.clone(), params: self.params.clone(), workspace }
    }

    pub(crate) fn program(&self) -> &Arc<Program> {
        &self.plan.program
    }

    /// Runs the program on a range of rows of a batch, see [`Plan::forward`].
    pub(crate) fn run(&mut self, batch: &Rows, rows: Range<usize>, targets: Option<&[f32]>) {
        self.plan.forward(&mut self.workspace, &self.params, (batch, rows), targets);
    }

    /// Adds to a padded gradient, see [`Plan::backward`].
    pub(crate) fn backward(
        &mut self,
        batch: (&Rows, &[f32], Range<usize>),
        seeds: (Derivative, &[f32]),
        grad: &mut [f32],
    ) {
        self.plan.backward(&mut self.workspace, &self.params, batch, seeds, grad);
    }

    /// Replaces `values` with the value of each row.
    pub(crate) fn evaluate(&mut self, rows: RowsView<'_>, values: &mut Vec<f32>) {
        values.clear();
        if rows.is_empty() {
            return;
        }
        let _forward = profile::span(Phase::Forward);
        let output = self.plan.program.output();
        for first in (0..rows.len()).step_by(PASS) {
            let here = first..rows.len().min(first + PASS);
            let n = here.len();
            self.plan.values(&mut self.workspace, &self.params, rows, here);
            match &self.plan.program.head {
                // Of width 1, so that they follow each other.
                Head::Value | Head::Policy => values.extend_from_slice(&self.workspace.value(output)[..n]),
                head @ Head::Outcomes(_) => {
                    values.extend(self.workspace.rows(&self.plan, output, n).map(|row| head.value_of(row)));
                }
            }
        }
    }

    /// Replaces `outputs` with the outputs of each row, `[rows, outputs]`.
    pub(crate) fn outputs(&mut self, rows: RowsView<'_>, outputs: &mut Vec<f32>) {
        outputs.clear();
        let _forward = profile::span(Phase::Forward);
        let output = self.plan.program.output();
        for first in (0..rows.len()).step_by(PASS) {
            let here = first..rows.len().min(first + PASS);
            let n = here.len();
            self.plan.values(&mut self.workspace, &self.params, rows, here);
            outputs.extend(self.workspace.rows(&self.plan, output, n).flatten());
        }
    }

    /// Explains the value of the first row.
    pub(crate) fn explain(&mut self, rows: &Rows) -> Explanation {
        self.run(rows, 0..rows.len(), None);
        self.plan.explain(&self.workspace, rows.index_row(0))
    }

    /// Shares of rows on which the experts of the outermost selecting node ran since the last call of
    /// [`Workspace::reset_usage`].
    pub(crate) fn usage(&self) -> Option<Usage> {
        let (rows, runs) = self.workspace.usage(self.plan.outer_choice()?);
        (rows > 0).then(|| Usage { rows, share: runs.iter().map(|&r| r as f64 / rows as f64).collect() })
    }
}
