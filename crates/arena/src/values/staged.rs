//! Judges in stages: decisions that seem wrong are judged again by those who look further.

use super::decision::Decision;
use super::evaluator::{Evaluator, Reach};
use adept_game::{Kit, OutcomeClass};
use adept_ground::order::places_by;

/// Points from which a decision that seems wrong is judged again.
const DOUBTS: f64 = 0.005;

/// The best actions that the next judge sees, besides the one that was played.
const KEPT: usize = 3;

/// Evaluators that look further and further. [`compare`](Evaluator::compare) asks the next one where the action that was played seems to lose
/// something, about this action and the best ones alone, so that all values of a decision are of one judge.
pub struct Staged<G: Kit> {
    judges: Vec<Box<dyn Evaluator<G>>>,
    /// The judge of the last decision.
    last: usize,
}

impl<G: Kit> Staged<G> {
    /// Asks the first judge about everything, and the others in this order.
    pub fn new(first: Box<dyn Evaluator<G>>, then: impl IntoIterator<Item = Box<dyn Evaluator<G>>>) -> Self {
        Self { judges: [first].into_iter().chain(then).collect(), last: 0 }
    }
}

impl<G: Kit> Evaluator<G> for Staged<G> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        self.judges[self.last].values(at, actions, values);
    }

    fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        self.last = 0;
        self.judges[0].study(at, actions, values);
    }

    fn compare(
        &mut self,
        at: Decision<'_, G>,
        played: &G::Action,
        actions: &mut Vec<G::Action>,
        values: &mut Vec<f32>,
    ) {
        let standard = at.game.records().standard(at.game, at.state);
        let doubts = DOUBTS * standard.map_or(1.0, |standard| standard.point) / at.game.scale();
        self.last = 0;
        self.judges[0].compare(at, played, actions, values);
        while self.last + 1 < self.judges.len() {
            let Some(own) = actions.iter().position(|action| action == played) else { break };
            let best = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            if f64::from(best - values[own]) < doubts {
                break;
            }
            let mut kept = places_by(values);
            kept.truncate(KEPT);
            kept.extend((!kept.contains(&own)).then_some(own));
            kept.sort_unstable();
            *actions = kept.into_iter().map(|i| actions[i].clone()).collect();
            self.last += 1;
            self.judges[self.last].values(at, actions, values);
        }
    }

    fn line(&self) -> &[G::Action] {
        self.judges[self.last].line()
    }

    fn reach(&self) -> Option<Reach> {
        self.judges[self.last].reach()
    }

    fn stage(&self) -> usize {
        self.last
    }

    fn set_stage(&mut self, stage: usize) {
        self.last = stage.min(self.judges.len() - 1);
    }

    fn errors(&self) -> &[f32] {
        self.judges[self.last].errors()
    }

    fn classes(&self) -> &[OutcomeClass] {
        self.judges[self.last].classes()
    }

    fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
        self.judges[self.last].outcomes(at, action, outcomes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_game::{Game, Turn, tiny::Nim};

    /// Gives the actions these values, in the order of the game, and 0 to all others.
    struct Says(Vec<f32>);

    impl Evaluator<Nim> for Says {
        fn values(
            &mut self,
            at: Decision<'_, Nim>,
            actions: &[<Nim as Game>::Action],
            values: &mut Vec<f32>,
        ) {
            let mut all = Vec::new();
            at.game.actions(at.state, &mut all);
            let value = |action| {
                all.iter().position(|one| one == action).and_then(|i| self.0.get(i).copied()).unwrap_or(0.0)
            };
            values.clear();
            values.extend(actions.iter().map(value));
        }
    }

    #[test]
    fn what_seems_wrong_is_judged_again() {
        let game = Nim::default();
        let state = game.start();
        let Turn::Player(player) = game.turn(&state) else { panic!() };
        let at = Decision::new(&game, &state, player);
        let mut all = Vec::new();
        game.actions(&state, &mut all);
        assert!(all.len() > 5, "{all:?}");
        let mut judges = Staged::new(
            Box::new(Says(vec![0.5, 0.4, 0.3, 0.2, 0.1])),
            [Box::new(Says(vec![0.1, 0.2, 0.9, 0.9, 0.4])) as Box<dyn Evaluator<Nim>>],
        );
        let (mut actions, mut values) = (Vec::new(), Vec::new());
        // The first judge likes it, and nobody else is asked.
        judges.compare(at, &all[0], &mut actions, &mut values);
        assert_eq!((&actions, judges.last), (&all, 0));
        // The second one sees the three that the first likes best, and what was played.
        judges.compare(at, &all[4], &mut actions, &mut values);
        let expected = [0, 1, 2, 4].map(|i: usize| all[i]);
        assert_eq!((&actions[..], &values[..], judges.last), (&expected[..], &[0.1, 0.2, 0.9, 0.4][..], 1));
        // Later values are by the judge that is chosen.
        for (stage, value) in [(0, 0.5), (1, 0.1), (7, 0.1)] {
            judges.set_stage(stage);
            judges.values(at, &all[..1], &mut values);
            assert_eq!(values, [value]);
        }
    }
}
