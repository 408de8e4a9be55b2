//! Explains a value: the outputs and weights of the experts behind it.

use super::exec::Workspace;
use super::kernels::stride;
use super::plan::{Plan, Route, Select, Step};
use crate::learner::Explanation;
use crate::program::ValueId;

impl Workspace {
    /// The first `n` rows of a value of the last run, without padding.
    pub(crate) fn rows<'a>(&'a self, plan: &Plan, id: ValueId, n: usize) -> impl Iterator<Item = &'a [f32]> {
        let width = plan.widths[id];
        self.value(id).chunks_exact(stride(width)).take(n).map(move |row| &row[..width])
    }
}

impl Plan {
    /// Explains the first row of the last run.
    pub(crate) fn explain(&self, ws: &Workspace) -> Explanation {
        self.node(&self.steps, self.program.output(), ws)
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

    fn node(&self, steps: &[Step], output: ValueId, ws: &Workspace) -> Explanation {
        let value = ws.value(output).first().copied().unwrap_or(f32::NAN);
        let route = steps.iter().find_map(|s| if let Step::Route(route) = s { Some(route) } else { None });
        if let (None, Some(explained)) = (route, self.modules(steps, value, ws)) {
            return explained;
        }
        let Some(route) = route else { return Explanation { value, ..Explanation::default() } };
        let gates = self.gates(steps, route, ws);
        let expert = |(branch, gate): (&super::plan::Branch, &f32)| {
            (*gate > 0.0).then(|| self.node(&branch.steps, branch.results[0], ws))
        };
        let experts = route.branches.iter().zip(&gates).map(expert).collect();
        Explanation { value, name: None, gates, experts }
    }

    /// The estimates of modules, which are the columns of what a blend without a route reads.
    fn modules(&self, steps: &[Step], value: f32, ws: &Workspace) -> Option<Explanation> {
        let blend = steps.iter().find_map(|step| match step {
            Step::Blend { gate, y, out, .. } if self.widths[*out] == 1 => Some((gate.weights, *y)),
            _ => None,
        });
        let (weights, y) = blend?;
        let gates = ws.value(weights)[..self.widths[weights]].to_vec();
        let names = self.program.modules.iter().cloned().map(Some).chain(std::iter::repeat(None));
        let estimate = |(value, name): (&f32, Option<String>)| {
            Some(Explanation { value: *value, name, ..Explanation::default() })
        };
        let experts = ws.value(y)[..gates.len()].iter().zip(names).map(estimate).collect();
        Some(Explanation { value, name: None, gates, experts })
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
