//! All decisions of a small game as rows, so that a model can give a complete policy in one batch.

use super::policy::Policy;
use super::solve::no_public_tree;
use super::tree::{Set, Tree};
use crate::agents::softmax;
use crate::error::OpenError;
use adept_game::{Afterstate, Encoder, Kit, PublicTree, TreeVisitor};
use adept_model::Rows;
use std::convert::Infallible;
use std::ops::Range;
use std::sync::Arc;

/// The information sets of a small game, with one row per action. They have the order of a [`Policy`]'s tables:
/// decision nodes in preorder, and at each node the private indices of the player to move.
pub struct Decisions {
    tree: Arc<Tree>,
    /// One row per entry of a policy, in the same order.
    rows: Rows,
    /// First entry of each information set, and the end of the last one.
    first: Vec<usize>,
    /// Player to move in each information set.
    movers: Vec<u8>,
}

/// Limit on the numbers in all rows: 2 GB.
const MAX_INPUTS: usize = adept_ground::limits::INPUTS;

impl Decisions {
    /// Encodes all information sets. `tree` must be the tree of `game`.
    pub fn new<G: PublicTree>(game: &G, tree: Arc<Tree>, encoder: &dyn Encoder<G>) -> Self {
        let mut rows = Rows::new(encoder.channels());
        let (mut first, mut movers) = (vec![0], Vec::new());
        let Ok(()) = tree.walk(game, &mut |Set { player, state, actions, .. }| {
            for action in actions {
                encoder.encode(game, Afterstate { state, action: Some(action), player }, rows.push());
            }
            first.push(rows.len());
            movers.push(player as u8);
            Ok::<(), Infallible>(())
        });
        Self { tree, rows, first, movers }
    }

    /// Unrolls a game and encodes all its information sets, if it has a public tree.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] if the game has no public tree, if the tree is too large, or if the encoder omits
    /// actions.
    pub fn of<G: Kit>(game: &G, encoder: &dyn Encoder<G>) -> Result<Self, OpenError> {
        struct List<'a, G: Kit>(&'a dyn Encoder<G>);
        impl<G: Kit> TreeVisitor<G> for List<'_, G> {
            type Output = Result<Decisions, OpenError>;
            fn visit(self, game: &G) -> Self::Output
            where
                G: PublicTree,
            {
                let encoder = self.0;
                if encoder.decides() {
                    return Err(OpenError::Unknown(format!(
                        "the encoder `{}` omits some actions, so a policy over all actions is not possible; \
                         {} has other \
                         encoders: see `adept list encoders`",
                        encoder.name(),
                        game.name()
                    )));
                }
                let tree = Tree::new(game)?;
                let width = adept_model::Layout::new(encoder.channels()).dense;
                if tree.entries().saturating_mul(width) > MAX_INPUTS {
                    return Err(OpenError::Unknown(format!(
                        "{}: {} rows of {width} inputs are too many; the limit is {MAX_INPUTS} inputs",
                        game.name(),
                        tree.entries(),
                    )));
                }
                Ok(Decisions::new(game, Arc::new(tree), encoder))
            }
        }
        game.with_public_tree(List(encoder)).unwrap_or_else(|| Err(no_public_tree(game.name())))
    }

    /// The tree.
    pub fn tree(&self) -> &Arc<Tree> {
        &self.tree
    }

    /// One row per entry of a policy.
    pub fn rows(&self) -> &Rows {
        &self.rows
    }

    /// Number of information sets.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there are no information sets.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The player to move in an information set.
    pub fn mover(&self, set: usize) -> usize {
        self.movers[set].into()
    }

    /// Largest number of actions in an information set.
    pub fn most_actions(&self) -> usize {
        (0..self.len()).map(|set| self.range(set).len()).max().unwrap_or(0)
    }

    /// The range of rows of an information set.
    pub fn range(&self, set: usize) -> Range<usize> {
        self.first[set]..self.first[set + 1]
    }

    /// The greedy policy: the first action with the highest value.
    pub fn greedy(&self, values: &[f32]) -> Policy {
        self.policy(values, take_highest)
    }

    /// The policy π(a | I) ∝ exp(value(I, a) / temperature).
    pub fn softmax(&self, values: &[f32], temperature: f64) -> Policy {
        self.policy(values, |values, p| softmax(values, temperature, p))
    }

    /// Exploitability (br₀ + br₁) / 2, in units of utility, of Boltzmann play by these values, or of greedy play
    /// without a temperature. NaN if a value is not finite.
    pub fn exploitability(&self, values: &[f32], temperature: Option<f64>) -> f64 {
        if values.iter().any(|v| !v.is_finite()) {
            return f64::NAN;
        }
        self.play(values, temperature).exploitability()
    }

    /// The policy of Boltzmann play by these values, or of greedy play without a temperature.
    pub fn play(&self, values: &[f32], temperature: Option<f64>) -> Policy {
        temperature.map_or_else(|| self.greedy(values), |temperature| self.softmax(values, temperature))
    }

    /// The policy from regret matching: π(a | I) ∝ R⁺(I, a). If no regret is above 0, the action with the highest
    /// regret (Brown, Lerer, Gross and Sandholm 2019, section 5.1).
    pub fn matched(&self, regrets: &[f32]) -> Policy {
        self.policy(regrets, |regrets, p| {
            p.iter_mut().zip(regrets).for_each(|(p, r)| *p = f64::from(r.max(0.0)));
            let total: f64 = p.iter().sum();
            if total <= 0.0 {
                return take_highest(regrets, p);
            }
            p.iter_mut().for_each(|p| *p /= total);
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

fn take_highest(values: &[f32], p: &mut [f64]) {
    let best = (1..values.len()).fold(0, |best, a| if values[a] > values[best] { a } else { best });
    p.fill(0.0);
    p[best] = 1.0;
}
