//! What choices lose, by an exact arbiter.

use crate::evaluator::Evaluator;
use adept_game::{Afterstate, Game, Turn, Valuation};
use serde::Serialize;

/// What an evaluator's choices lose against the best ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MoveLoss {
    /// Mean loss of value an unforced decision, on the scale of V, weighted by the probability of its roll.
    pub loss_per_decision: f64,
    /// Share of these decisions with a wrong choice, weighted alike: one that loses more than [`TIE`].
    pub wrong_share: f64,
    /// Unforced decisions: pairs of a position and a roll that leave a choice.
    pub decisions: u64,
}

/// Two choices that differ by no more are equally good, for exact values are not more exact.
pub const TIE: f64 = 1e-6;

/// The losses of several evaluators over the same decisions: each of `states` in which a player is to move, and all that
/// may come up where chance is to come, weighted by its probability. An evaluator takes the action that it values most, any of these if there
/// are several; forced ones do not count.
///
/// `truth` values the states after actions for who acted. States after which no player is to move count for nothing.
pub fn move_loss<G: Game>(
    game: &G,
    truth: &dyn Valuation<G>,
    evaluators: &mut [&mut dyn Evaluator<G>],
    states: impl Iterator<Item = G::State>,
) -> Vec<MoveLoss> {
    let (mut outcomes, mut actions, mut exact, mut values) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut sums = vec![(0.0, 0.0); evaluators.len()];
    let (mut weight, mut decisions) = (0.0, 0);
    for state in states {
        let chance = game.turn(&state) == Turn::Chance;
        if chance {
            game.outcomes(&state, &mut outcomes);
        }
        let known = if chance { outcomes.len() } else { 1 };
        for i in 0..known {
            let mut decision = state.clone();
            let p = match outcomes.get(i).filter(|_| chance) {
                Some((outcome, p)) => {
                    game.apply(&mut decision, outcome);
                    *p
                }
                None => 1.0,
            };
            let Turn::Player(player) = game.turn(&decision) else { continue };
            game.actions(&decision, &mut actions);
            if actions.len() < 2 {
                continue;
            }
            exact.clear();
            exact.extend(actions.iter().map(|action| {
                let mut after = decision.clone();
                game.apply(&mut after, action);
                truth.value(game, Afterstate { state: &after, action: Some(action), player })
            }));
            let best = exact.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            weight += p;
            decisions += 1;
            for (evaluator, (loss, wrong)) in evaluators.iter_mut().zip(&mut sums) {
                evaluator.values(game, &decision, player, &actions, &mut values);
                let most = values.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
                let chosen =
                    || exact.iter().zip(&values).filter(|(_, v)| **v == most).map(|(exact, _)| best - exact);
                let n = chosen().count() as f64;
                *loss += p * chosen().sum::<f64>() / n;
                *wrong += p * chosen().filter(|loss| *loss > TIE).count() as f64 / n;
            }
        }
    }
    let of = |(loss, wrong): (f64, f64)| MoveLoss {
        loss_per_decision: loss / weight,
        wrong_share: wrong / weight,
        decisions,
    };
    sums.into_iter().map(of).collect()
}
