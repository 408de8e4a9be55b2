//! All decisions of a small game as rows, so that a model can be asked for whole policies.

use super::policy::Policy;
use super::tree::Tree;
use crate::evaluator::model_channels;
use adept_game::public_tree::PublicTree;
use adept_game::{Afterstate, Encoder, RowMut};
use adept_model::Rows;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// The information sets of a small game with a row for each action.
pub struct Decisions {
    tree: Arc<Tree>,
    /// A row for each entry of a policy, in the same order.
    rows: Rows,
    /// By information set where its entries begin, and where the last one's end.
    first: Vec<usize>,
}

impl Decisions {
    /// Encodes all information sets of the game that was unrolled.
    pub fn new<G: PublicTree>(game: &G, tree: Arc<Tree>, encoder: &dyn Encoder<G>) -> Self {
        let mut rows = Rows::new(&model_channels(encoder.channels()));
        let mut first = vec![0];
        let mut actions = Vec::new();
        let Ok(()) = tree.walk(game, &mut |_, node, public| {
            let Some(player) = node.mover.map(usize::from) else { return Ok::<(), Infallible>(()) };
            game.public_actions(public, &mut actions);
            for private in 0..tree.size(player) {
                let mut own = [0; 2];
                own[player] = private;
                let state = game.state(public, own);
                for action in &actions {
                    let (dense, index) = rows.push();
                    let before = Afterstate { state: &state, action: Some(action), player };
                    encoder.encode(game, before, RowMut { dense, index });
                }
                first.push(rows.len());
            }
            Ok(())
        });
        Self { tree, rows, first }
    }

    /// The tree.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// A row for each entry of a policy.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// How many information sets there are.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of an information set.
    pub fn range(&self, set: usize) -> Range<usize> {
        self.first[set]..self.first[set + 1]
    }

    /// The policy π(a | I) ∝ exp(value(I, a) / temperature).
    pub fn softmax(&self, values: &[f32], temperature: f64) -> Policy {
        self.policy(values, |values, p| {
            let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            p.iter_mut().zip(values).for_each(|(p, v)| *p = (f64::from(v - most) / temperature).exp());
            normalise(p);
        })
    }

    /// The policy that regrets call for: π(a | I) ∝ R⁺(I, a), the action of the highest where none is above 0 (Brown,
    /// Lerer, Gross and Sandholm 2019, section 5.1).
    pub fn matched(&self, regrets: &[f32]) -> Policy {
        self.policy(regrets, |regrets, p| {
            p.iter_mut().zip(regrets).for_each(|(p, r)| *p = f64::from(r.max(0.0)));
            if p.iter().sum::<f64>() <= 0.0 {
                let best = (1..regrets.len()).fold(0, |best, a| if regrets[a] > regrets[best] { a } else { best });
                p.fill(0.0);
                p[best] = 1.0;
            }
            normalise(p);
        })
    }

    fn policy(&self, values: &[f32], fill: impl Fn(&[f32], &mut [f64])) -> Policy {
        let mut probabilities = vec![0.0; self.rows.len()];
        for set in 0..self.len() {
            let range = self.range(set);
            fill(&values[range.clone()], &mut probabilities[range]);
        }
        Policy { tree: self.tree.clone(), probabilities }
    }
}

fn normalise(p: &mut [f64]) {
    let total: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= total);
}
