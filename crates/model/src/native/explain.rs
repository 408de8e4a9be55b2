//! Explains a value: the outputs and weights of the experts behind it.

use super::exec::Workspace;
use super::kernels::stride;
use super::plan::{Plan, Route, Select, Step};
use crate::predictor::Explanation;
use crate::program::ValueId;

impl Workspace {
    /// The first `n` rows of a value of the last run, without padding.
    pub(crate) fn rows<'a>(&'a self, plan: &Plan, id: ValueId, n: usize) -> impl Iterator<Item = &'a [f32]> {
        let width = plan.widths[id];
        self.value(id).chunks_exact(stride(width)).take(n).map(move |row| &row[..width])
    }
}

impl Plan {
    /// Explains the first row of the last run. `index` is the index part of that row.
    pub(crate) fn explain(&self, ws: &Workspace, index: &[u64]) -> Explanation {
        self.node(&self.steps, self.program.output(), false, (ws, index))
    }

    /// Whether there is more to explain than the outputs.
    pub(crate) fn has_parts(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, Step::Route(_) | Step::Blend { .. }))
    }

    /// The number of the outermost route that selects among its branches.
    pub(crate) fn outer_choice(&self) -> Option<usize> {
        fn first(steps: &[Step]) -> Option<usize> {
            steps.iter().find_map(|step| match step {
                Step::Route(route) if !matches!(route.select, Select::All) => Some(route.id),
                Step::Route(route) => route.branches.iter().find_map(|b| first(&b.steps)),
                _ => None,
            })
        }
        first(&self.steps)
    }

    /// The value of an output, and the output itself if it has several numbers. `corrects` if it is a correction of logits.
    /// Its value z is then the one for which z u is closest to it, with the utilities u: z is added to λ of the prior.
    fn shown(&self, output: &[f32], corrects: bool) -> Explanation {
        let Some(classes) = self.program.head.classes() else {
            let value = output.first().copied().unwrap_or(f32::NAN);
            return Explanation { value, ..Explanation::default() };
        };
        let sum = self.program.head.value_of(output);
        let squares: f32 = classes.iter().map(|class| class.utility * class.utility).sum();
        let value = if corrects { sum / squares } else { sum };
        Explanation { value, outcomes: output.to_vec(), corrects, ..Explanation::default() }
    }

    /// The first row of a value.
    fn first<'a>(&self, id: ValueId, ws: &'a Workspace) -> &'a [f32] {
        ws.value(id).get(..self.widths[id]).unwrap_or(&[])
    }

    fn node(
        &self,
        steps: &[Step],
        output: ValueId,
        corrects: bool,
        (ws, index): (&Workspace, &[u64]),
    ) -> Explanation {
        let shown = self.shown(self.first(output, ws), corrects);
        let corrects = corrects || steps.iter().any(|step| matches!(step, Step::PriorLogits { .. }));
        let route = steps.iter().find_map(|s| if let Step::Route(route) = s { Some(route) } else { None });
        let Some(route) = route else { return self.modules(steps, &shown, corrects, ws).unwrap_or(shown) };
        let gates = self.gates(steps, route, ws);
        let expert = |(branch, gate): (&super::plan::Branch, &f32)| {
            (*gate > 0.0).then(|| self.node(&branch.steps, branch.results[0], corrects, (ws, index)))
        };
        let experts = route.branches.iter().zip(&gates).map(expert).collect();
        let Select::Cells(table) = route.select else { return Explanation { gates, experts, ..shown } };
        let cell = Some(ws.cell(route.id, index));
        let node = Some(self.program.node_of_cells(table.param).into());
        Explanation { gates, experts, cell, node, ..shown }
    }

    /// The estimates of modules, which are the columns of what a blend without a route reads.
    fn modules(
        &self,
        steps: &[Step],
        shown: &Explanation,
        corrects: bool,
        ws: &Workspace,
    ) -> Option<Explanation> {
        let blend = steps.iter().find_map(|step| match step {
            Step::Blend { gate, y, out, .. } => Some((gate.weights, *y, self.widths[*out])),
            _ => None,
        });
        let (weights, y, width) = blend?;
        let gates = ws.value(weights)[..self.widths[weights]].to_vec();
        let names = self.program.modules.iter().cloned().map(Some).chain(std::iter::repeat(None));
        let estimate = |(output, name): (&[f32], Option<String>)| {
            Some(Explanation { name, ..self.shown(output, corrects) })
        };
        let experts = self.first(y, ws).chunks_exact(width).zip(names).map(estimate).collect();
        Some(Explanation { gates, experts, ..shown.clone() })
    }

    /// Weight of each branch for the first row.
    fn gates(&self, steps: &[Step], route: &Route, ws: &Workspace) -> Vec<f32> {
        let weights = steps.iter().find_map(|s| match s {
            Step::Blend { gate, .. } => Some(gate.weights),
            _ => None,
        });
        match weights {
            Some(id) => ws.value(id)[..self.widths[id]].to_vec(),
            None => {
                (0..route.branches.len()).map(|b| f32::from(u8::from(ws.ran_first(route.id, b)))).collect()
            }
        }
    }
}
