//! Evaluators whose values give way to exact ones.

use super::decision::Decision;
use super::evaluator::{Evaluator, Reach, each_after};
use adept_game::{Afterstate, Kit, Reference, Turn};

/// An evaluator whose values give way to those of references where they know them. The first that knows a value counts.
pub(crate) struct Informed<G: Kit, E> {
    references: Vec<Reference<G>>,
    evaluator: E,
    known: Vec<Option<f32>>,
    errors: Vec<f32>,
    /// How far the evaluator looked at the last decision; none if the references knew all.
    reach: Option<Reach>,
}

impl<G: Kit, E: Evaluator<G>> Informed<G, E> {
    /// An evaluator with these references.
    pub(crate) fn new(references: Vec<Reference<G>>, evaluator: E) -> Self {
        Self { references, evaluator, known: Vec::new(), errors: Vec::new(), reach: None }
    }

    /// Puts known values in place of those that `inner` finds, which is not asked if all are known.
    fn put(
        &mut self,
        at: Decision<'_, G>,
        actions: &mut Vec<G::Action>,
        values: &mut Vec<f32>,
        inner: impl Fn(&mut E, &mut Vec<G::Action>, &mut Vec<f32>),
    ) {
        let look_up = |references: &[Reference<G>], actions: &[G::Action], known: &mut Vec<Option<f32>>| {
            known.clear();
            each_after(at.game, at.state, actions, |state, action| {
                let after = Afterstate { state, action: Some(action), player: at.player };
                known.push(match at.game.turn(state) {
                    Turn::Over => Some((at.game.utility(state, at.player) / at.game.scale()) as f32),
                    _ => references
                        .iter()
                        .map(|reference| reference.valuation.value(at.game, after))
                        .find(|value| !value.is_nan())
                        .map(|value| value as f32),
                });
            });
        };
        look_up(&self.references, actions, &mut self.known);
        self.errors.clear();
        self.reach = None;
        if self.known.iter().any(Option::is_none) {
            inner(&mut self.evaluator, actions, values);
            // An evaluator may leave actions out, and list them in another order.
            look_up(&self.references, actions, &mut self.known);
            self.errors.extend_from_slice(self.evaluator.errors());
            self.reach = self.evaluator.reach();
        } else {
            values.clear();
            values.resize(actions.len(), 0.0);
        }
        for (i, known) in self.known.iter().enumerate() {
            let Some(value) = known else { continue };
            values[i] = *value;
            if let Some(error) = self.errors.get_mut(i) {
                *error = 0.0;
            }
        }
    }
}

impl<G: Kit, E: Evaluator<G>> Evaluator<G> for Informed<G, E> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        let mut listed = actions.to_vec();
        self.put(at, &mut listed, values, |inner, actions, values| inner.values(at, actions, values));
    }

    fn weigh(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        at.game.actions(at.state, actions);
        self.put(at, actions, values, |inner, actions, values| inner.weigh(at, actions, values));
    }

    fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        at.game.actions(at.state, actions);
        self.put(at, actions, values, |inner, actions, values| inner.study(at, actions, values));
    }

    fn compare(
        &mut self,
        at: Decision<'_, G>,
        played: &G::Action,
        actions: &mut Vec<G::Action>,
        values: &mut Vec<f32>,
    ) {
        at.game.actions(at.state, actions);
        self.put(at, actions, values, |inner, actions, values| inner.compare(at, played, actions, values));
    }

    fn reach(&self) -> Option<Reach> {
        self.reach
    }

    fn errors(&self) -> &[f32] {
        &self.errors
    }
}
