//! Move loss: the value that choices lose, measured by an exact valuation.

use crate::values::{Decision, Evaluator, state_after};
use adept_game::{Afterstate, Game, Turn, Valuation};
use serde::Serialize;

/// Value that an evaluator's choices lose against the best choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MoveLoss {
    /// Mean value lost per unforced decision, on the scale of V, weighted by the probability of the roll.
    pub loss_per_decision: f64,
    /// Share of unforced decisions with an error, with the same weights. An error loses more than [`TIE`].
    pub wrong_share: f64,
    /// Number of unforced decisions: pairs of a position and a roll with more than one choice.
    pub decisions: u64,
}

/// Choices whose values differ by at most this count as equal. Exact values are not more precise.
pub const TIE: f64 = 1e-6;

/// Losses of several evaluators on the same decisions. Each of `states` with a player to move is a decision. A state
/// before a chance event gives one decision per outcome, weighted by its probability. An evaluator chooses its highest
/// value; ties are uniform. Forced moves do not count.
///
/// `truth` values afterstates for the player who acted. States without a decision are skipped.
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
        // Chance that can only be sampled leaves no decisions to list.
        if chance && !game.outcomes(&state, &mut outcomes) {
            continue;
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
                let after = state_after(game, &decision, action);
                truth.value(game, Afterstate { state: &after, action: Some(action), player })
            }));
            let best = exact.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            weight += p;
            decisions += 1;
            for (evaluator, (loss, wrong)) in evaluators.iter_mut().zip(&mut sums) {
                evaluator.values(Decision::new(game, &decision, player), &actions, &mut values);
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
