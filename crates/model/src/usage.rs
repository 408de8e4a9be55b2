//! Shares of the experts of a network.

use crate::predictor::{Explanation, Predictor};
use crate::program::{Block, Op, Program};
use adept_rows::Rows;
use serde::{Deserialize, Serialize};

/// Least share of rows that makes an expert live.
pub const LIVE: f64 = 0.01;

/// Shares of the experts of a network in some rows. With nested gates an expert is a leaf of the hierarchy.
///
/// An expert wins a row if it has the largest weight at every node on its path, the first of equals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpertUse {
    /// Number of rows.
    pub rows: u64,
    /// Experts that win at least [`LIVE`] of the rows.
    pub live: usize,
    /// Share of the rows that each expert wins, in the order of their tensors.
    pub shares: Vec<f64>,
    /// Mean weight of each expert in the blend, in the same order. Empty in records of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<f64>,
    /// Mean multiply-adds executed for a row.
    pub multiply_adds: f64,
}

impl ExpertUse {
    /// Measures a model on rows; none if it has no experts.
    pub fn of(model: &mut dyn Predictor, rows: &Rows) -> Option<Self> {
        let program = model.program()?.clone();
        let experts = leaves(&program.body);
        if experts < 2 || rows.is_empty() {
            return None;
        }
        let (mut wins, mut cost) = (vec![0u64; experts], 0);
        let mut weights = vec![0.0; experts];
        let mut row = Rows::new(&program.channels);
        for r in 0..rows.len() {
            row.copy_range(rows, r, 1);
            let found = model.explain(&row);
            wins[winner(&program.body, &found)] += 1;
            cost += program.executed(&program.body, Some(&found));
            weigh(&program.body, Some(&found), 1.0, &mut weights.iter_mut());
        }
        let n = rows.len() as f64;
        let shares: Vec<f64> = wins.into_iter().map(|w| w as f64 / n).collect();
        let live = shares.iter().filter(|s| **s >= LIVE).count();
        weights.iter_mut().for_each(|weight| *weight /= n);
        Some(Self { rows: rows.len() as u64, live, shares, weights, multiply_adds: cost as f64 / n })
    }
}

/// The expert that wins the first row, counted over the leaves in the order of their tensors; none for a model without
/// experts.
pub fn winning_expert(model: &mut dyn Predictor, rows: &Rows) -> Option<usize> {
    let program = model.program()?.clone();
    program.has_experts().then(|| winner(&program.body, &model.explain(rows)))
}

/// The experts of a network on some rows, one by one. With nested gates an expert is a leaf of the hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct Gates {
    /// Name of each expert: its number at each node on its path, such as `1.0`, in the order of their tensors; or the name of a
    /// module.
    pub experts: Vec<String>,
    /// Weight of each expert in the blend, `[rows, experts]`: the product of the gates on its path. 0 for an expert that did not
    /// run.
    pub shares: Vec<f32>,
    /// Output of each expert, `[rows, experts, outputs]`; NaN for one that did not run. As in [`Explanation`], an expert inside a
    /// residual node gives its own correction.
    pub outputs: Vec<f32>,
    /// Numbers that an expert gives: the classes of outcomes, or one value.
    pub width: usize,
}

impl Gates {
    /// Explains each row by its experts; none if it has no experts.
    pub fn of(model: &mut dyn Predictor, rows: &Rows) -> Option<Self> {
        let program = model.program()?.clone();
        let mut experts = Vec::new();
        name_leaves(&program.body, "", &mut experts);
        let are_modules = experts.len() < 2;
        if are_modules {
            experts.clone_from(&program.modules);
        }
        if experts.len() < 2 {
            return None;
        }
        let width = model.head().classes().map_or(1, <[_]>::len);
        let mut found = Self { experts, shares: Vec::new(), outputs: Vec::new(), width };
        let mut row = Rows::new(&program.channels);
        for r in 0..rows.len() {
            row.copy_range(rows, r, 1);
            let explained = model.explain(&row);
            if are_modules {
                for (i, gate) in explained.gates.iter().enumerate() {
                    found.push(*gate, explained.experts.get(i).and_then(Option::as_ref));
                }
            } else {
                found.push_leaves(&program.body, Some(&explained), 1.0);
            }
        }
        Some(found)
    }

    fn push_leaves(&mut self, block: &Block, explanation: Option<&Explanation>, weight: f32) {
        let all = branches(block);
        if all.is_empty() {
            return self.push(weight, explanation);
        }
        for (i, branch) in all.iter().enumerate() {
            let gate = explanation.and_then(|e| e.gates.get(i)).copied().unwrap_or(0.0);
            let below = explanation.and_then(|e| e.experts.get(i)?.as_ref());
            self.push_leaves(branch, below, weight * gate);
        }
    }

    fn push(&mut self, share: f32, explanation: Option<&Explanation>) {
        self.shares.push(share);
        match explanation {
            Some(found) if found.outcomes.len() == self.width => self.outputs.extend(&found.outcomes),
            Some(found) if self.width == 1 => self.outputs.push(found.value),
            _ => self.outputs.resize(self.outputs.len() + self.width, f32::NAN),
        }
    }
}

/// Appends the names of the leaves of a block.
fn name_leaves(block: &Block, name: &str, names: &mut Vec<String>) {
    let all = branches(block);
    if all.is_empty() {
        names.push(name.into());
    }
    for (i, branch) in all.iter().enumerate() {
        let below = if name.is_empty() { i.to_string() } else { format!("{name}.{i}") };
        name_leaves(branch, &below, names);
    }
}

/// The branches of the route of a block.
fn branches(block: &Block) -> &[Block] {
    let route = block.ops.iter().find_map(|op| match op {
        Op::Route { branches, .. } => Some(&branches[..]),
        _ => None,
    });
    route.unwrap_or(&[])
}

/// Number of leaf experts of a block; 1 for a network without experts.
fn leaves(block: &Block) -> usize {
    match branches(block) {
        [] => 1,
        all => all.iter().map(leaves).sum(),
    }
}

/// The leaf that wins the explained row.
fn winner(block: &Block, explanation: &Explanation) -> usize {
    let all = branches(block);
    let gates = explanation.gates.iter().enumerate();
    let Some((first, _)) = gates.rev().max_by(|a, b| a.1.total_cmp(b.1)) else { return 0 };
    let before: usize = all[..first].iter().map(leaves).sum();
    let below = explanation.experts.get(first).and_then(Option::as_ref);
    before + below.map_or(0, |below| winner(&all[first], below))
}

/// Adds the weight of each leaf in the blend of the explained row: the product of the gates on its path.
fn weigh<'a>(
    block: &Block,
    explanation: Option<&Explanation>,
    weight: f64,
    sums: &mut impl Iterator<Item = &'a mut f64>,
) {
    let all = branches(block);
    if all.is_empty() {
        sums.next().into_iter().for_each(|sum| *sum += weight);
    }
    for (i, branch) in all.iter().enumerate() {
        let gate = explanation.and_then(|e| e.gates.get(i)).map_or(0.0, |gate| f64::from(*gate));
        weigh(branch, explanation.and_then(|e| e.experts.get(i)?.as_ref()), weight * gate, sums);
    }
}

impl Program {
    /// Number of inputs of the first leaf expert, or of the layers that it shares with others.
    pub fn expert_inputs(&self) -> usize {
        let input = |block: &Block| {
            block.ops.iter().find_map(|op| match op {
                Op::Input { out, .. } => Some(self.widths[*out]),
                _ => None,
            })
        };
        let (mut block, mut above) = (&self.body, None);
        while let Some(first) = branches(block).first() {
            (block, above) = (first, input(block).or(above));
        }
        input(block).or(above).unwrap_or(0)
    }

    /// Whether it has experts that share the rows.
    pub fn has_experts(&self) -> bool {
        leaves(&self.body) > 1
    }

    /// Multiply-adds that a row executes: those of the experts that ran according to its explanation.
    fn executed(&self, block: &Block, explanation: Option<&Explanation>) -> usize {
        let cost = |op: &Op| match op {
            Op::Route { branches, .. } => {
                let experts = explanation.map_or(&[][..], |e| &e.experts);
                let ran = branches.iter().zip(experts).filter_map(|(b, e)| Some((b, e.as_ref()?)));
                ran.map(|(branch, e)| self.executed(branch, Some(e))).sum()
            }
            op => self.plain_cost(op),
        };
        block.ops.iter().map(cost).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Head, Network, Optimiser, lower};
    use adept_rows::{Channel, ChannelKind};
    use std::sync::Arc;

    /// An outer gate by `a` over two inner gates by `b` that take one of two experts each; weights by hand.
    #[test]
    fn shares_follow_the_path_of_largest_weights() {
        let channels =
            [("x", ChannelKind::Dense(3)), ("a", ChannelKind::Index(2)), ("b", ChannelKind::Index(2))];
        let channels = channels.map(|(name, kind)| Channel::new(name, kind));
        let expert = r#"{ "mlp": { "hidden": [4] } }"#;
        let inner = format!(r#"{{ "symbolic": {{ "by": "b", "expert": {expert} }} }}"#);
        let text = format!(
            r#"{{ "meta_pi": {{ "experts": 2, "expert": {inner}, "gate": {{ "by": "a" }}, "threshold": 0.5 }} }}"#
        );
        let architecture: Architecture = serde_json::from_str(&text).unwrap();
        let program = Arc::new(lower(&architecture, &channels, &Head::Value).unwrap());
        let mut flat = vec![0.1; program.parameters()];
        let gate = program.params.iter().find(|p| p.name == "gate.table").unwrap();
        // a = 0 takes expert 1, a = 1 expert 0.
        flat[gate.offset..][..4].copy_from_slice(&[-1.0, 1.0, 1.0, -1.0]);
        let mut network = Network::new(program, &flat, Optimiser::default());
        let mut rows = Rows::new(&channels);
        for (a, b) in [(0, 0), (0, 1), (0, 1), (1, 1)] {
            rows.push().index.copy_from_slice(&[a, b]);
        }
        let found = ExpertUse::of(&mut network, &rows).unwrap();
        assert_eq!(found.shares, [0.0, 0.25, 0.25, 0.5]);
        assert_eq!(found.weights, [0.0, 0.25, 0.25, 0.5], "one expert has all the weight");
        assert_eq!((found.rows, found.live), (4, 3));
        // One expert of 3 · 4 + 4 · 1, and the blend of two.
        assert!((found.multiply_adds - 18.0).abs() < 1e-12, "{}", found.multiply_adds);
        let gates = Gates::of(&mut network, &rows).unwrap();
        assert_eq!(gates.experts, ["0.0", "0.1", "1.0", "1.1"]);
        let ran: Vec<Vec<f32>> =
            gates.shares.chunks(4).map(|row| row.iter().map(|s| s.round()).collect()).collect();
        assert_eq!(ran, [[0., 0., 1., 0.], [0., 0., 0., 1.], [0., 0., 0., 1.], [0., 1., 0., 0.]]);
        let (mut values, blend) = (Vec::new(), |row: usize| -> f32 {
            let pairs = gates.shares[4 * row..][..4].iter().zip(&gates.outputs[4 * row..][..4]);
            pairs.filter(|(share, _)| **share > 0.0).map(|(share, output)| share * output).sum()
        });
        network.evaluate(&rows, &mut values);
        assert!((0..4).all(|row| (blend(row) - values[row]).abs() < 1e-6), "{gates:?} {values:?}");
        assert!(gates.outputs[0].is_nan() && !gates.outputs[2].is_nan());
        let single: Architecture = serde_json::from_str(expert).unwrap();
        let program = Arc::new(lower(&single, &channels, &Head::Value).unwrap());
        let mut single =
            Network::new(program.clone(), &vec![0.1; program.parameters()], Optimiser::default());
        assert_eq!(ExpertUse::of(&mut single, &rows), None);
        assert_eq!(Gates::of(&mut single, &rows), None);
    }
}
