//! Evaluators: assign values to afterstates.

use super::decision::Decision;
use adept_game::{Afterstate, Game, Valuation};
use adept_model::OutcomeClass;
use std::sync::Arc;

/// Evaluates the actions of a decision.
///
/// An evaluator gives the value of a state right after an action for the player who acted, in [−1, 1] (utility divided
/// by the game's scale). A finished game has its exact utility; models never see it.
pub trait Evaluator<G: Game>: Send {
    /// Replaces `values` by the value of the state after each of `actions` for the player to move.
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>);

    /// Replaces `actions` by the candidates of the player to move, and `values` by their values. By default,
    /// every legal action is a candidate.
    fn weigh(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        at.game.actions(at.state, actions);
        self.values(at, actions, values);
    }

    /// As [`weigh`](Self::weigh), for people: an evaluator that leaves values of bad actions open finds them too.
    fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        self.weigh(at, actions, values);
    }

    /// As [`study`](Self::study), to compare an action that was played with the best: actions that are not among the candidates for the best
    /// may be left out, but not that one. All values are of one depth.
    fn compare(
        &mut self,
        at: Decision<'_, G>,
        _played: &G::Action,
        actions: &mut Vec<G::Action>,
        values: &mut Vec<f32>,
    ) {
        self.study(at, actions, values);
    }

    /// The actions that it expected from the last decision on, if it looks ahead.
    fn line(&self) -> &[G::Action] {
        &[]
    }

    /// How far it looked ahead at the last decision; none if it does not look ahead.
    fn reach(&self) -> Option<Reach> {
        None
    }

    /// The judge of the last decision, from 0, if several judge one after another.
    fn stage(&self) -> usize {
        0
    }

    /// Chooses the judge of the values and outcomes that are asked for next, as [`stage`](Self::stage) told it.
    fn set_stage(&mut self, _stage: usize) {}

    /// The standard error of each value of the last decision, in the order of the actions. Empty if the values are not estimates from
    /// samples.
    fn errors(&self) -> &[f32] {
        &[]
    }

    /// The classes of results whose probabilities it gives; empty if it knows values alone.
    fn classes(&self) -> &[OutcomeClass] {
        &[]
    }

    /// Replaces `outcomes` by the probability of each class for the player to move after a legal action that does not
    /// end the game; empty if it knows values alone.
    fn outcomes(&mut self, _at: Decision<'_, G>, _action: &G::Action, outcomes: &mut Vec<f32>) {
        outcomes.clear();
    }

    /// A copy for another thread; none if it cannot be copied.
    fn copied(&mut self, _game: &G) -> Option<Box<dyn Evaluator<G>>> {
        None
    }
}

/// How far an evaluator looked ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Plies searched completely; 1 is the evaluator of the leaves alone.
    pub plies: u32,
    /// Plies that were asked for; none for a search that ends by time or by positions.
    pub asked: Option<u32>,
    /// Whether every line was searched to the end of the game.
    pub solved: bool,
}

impl Reach {
    /// Whether it looked as far as it was asked to.
    pub fn is_finished(self) -> bool {
        self.solved || self.plies >= self.asked.unwrap_or(0)
    }

    /// Whether it looked ahead at all: otherwise the values are those of the evaluator of the leaves.
    pub fn is_searched(self) -> bool {
        self.solved || self.plies > 1
    }

    /// Says in words what is missing, such as `stopped after 2 of 3 plies`; none if nothing is.
    pub fn shortfall(self) -> Option<String> {
        match (self.plies, self.asked) {
            _ if self.solved => None,
            _ if !self.is_searched() => {
                Some("stopped before it looked ahead: these are values without a search".into())
            }
            (plies, Some(asked)) if plies < asked => Some(format!("stopped after {plies} of {asked} plies")),
            _ => None,
        }
    }
}

/// Implements [`Evaluator`] by forwarding every method.
macro_rules! passed_on {
    ($to:ty) => {
        impl<G: Game, E: Evaluator<G> + ?Sized> Evaluator<G> for $to {
            fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
                (**self).values(at, actions, values);
            }

            fn weigh(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
                (**self).weigh(at, actions, values);
            }

            fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
                (**self).study(at, actions, values);
            }

            fn compare(
                &mut self,
                at: Decision<'_, G>,
                played: &G::Action,
                actions: &mut Vec<G::Action>,
                values: &mut Vec<f32>,
            ) {
                (**self).compare(at, played, actions, values);
            }

            fn line(&self) -> &[G::Action] {
                (**self).line()
            }

            fn reach(&self) -> Option<Reach> {
                (**self).reach()
            }

            fn stage(&self) -> usize {
                (**self).stage()
            }

            fn set_stage(&mut self, stage: usize) {
                (**self).set_stage(stage);
            }

            fn errors(&self) -> &[f32] {
                (**self).errors()
            }

            fn classes(&self) -> &[OutcomeClass] {
                (**self).classes()
            }

            fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
                (**self).outcomes(at, action, outcomes);
            }

            fn copied(&mut self, game: &G) -> Option<Box<dyn Evaluator<G>>> {
                (**self).copied(game)
            }
        }
    };
}

passed_on!(&mut E);
passed_on!(Box<E>);

/// Calls `visit` with the state after each action, and the action.
pub fn each_after<G: Game>(
    game: &G,
    state: &G::State,
    actions: &[G::Action],
    mut visit: impl FnMut(&G::State, &G::Action),
) {
    let mut after = state.clone();
    for action in actions {
        after.clone_from(state);
        game.apply(&mut after, action);
        visit(&after, action);
    }
}

/// A valuation as an evaluator. Unknown states have value 0.
#[derive(Clone)]
pub struct ByValuation<G: Game>(pub Arc<dyn Valuation<G>>);

impl<G: Game> Evaluator<G> for ByValuation<G> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        values.clear();
        each_after(at.game, at.state, actions, |after, action| {
            let value =
                self.0.value(at.game, Afterstate { state: after, action: Some(action), player: at.player });
            values.push(if value.is_nan() { 0.0 } else { value as f32 });
        });
    }

    fn copied(&mut self, _: &G) -> Option<Box<dyn Evaluator<G>>> {
        Some(Box::new(ByValuation(self.0.clone())))
    }
}
