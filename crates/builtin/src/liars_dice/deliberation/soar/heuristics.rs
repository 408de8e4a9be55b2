//! H of the newer agents: symbolic preferences that compare values.

use super::Generation;
use super::propose::is_push;
use super::situation::Situation;
use super::values::Values;
use crate::liars_dice::rules::Action;
use crate::liars_dice::state::Said;
use adept_game::deliberation::{Deliberation, Preferences};

/// Threshold for a likely bid or pass (H3).
const LIKELY: f64 = 0.8;

/// Threshold for a likely bid without a push (H7).
const LIKELY_WITHOUT_PUSH: f64 = 0.75;

/// p ≥ q with a tolerance for rounding: equal probabilities may come from different sums.
pub(super) fn at_least(p: f64, q: f64) -> bool {
    p >= q - 1e-9
}

/// Adds the preferences of H. Comparisons of values hold if any pair of values satisfies them.
pub(super) fn prefer(
    situation: &Situation<'_>,
    generation: Generation,
    actions: &[Action],
    values: &[Values],
    found: &Deliberation<Action>,
    preferences: &mut Preferences,
) {
    let app = generation == Generation::App;
    let after_a_bid = situation.standing.is_some();
    // H7 does not apply before the first act of a round.
    let said = !situation.state.acts.is_empty();
    let standing_face = situation.standing.map(|(_, bid, _)| bid.face);
    let next_face = face_after_own_act(situation);
    let sure = |v: &Values| v.iter().any(|p| p >= 1.0);
    let kept = |i: &usize| found.candidates[*i].dropped.is_none();
    let all: Vec<(usize, &Action, &Values)> =
        (0..actions.len()).filter(kept).map(|i| (i, &actions[i], &values[i])).collect();
    for &(i, a, p) in &all {
        if app && matches!(a, Action::Challenge(_)) && sure(p) {
            preferences.best.push((i, "H0"));
        }
        for &(j, b, q) in &all {
            match (a, b) {
                (Action::Bid { bid: x, .. }, Action::Bid { bid: y, .. }) if i != j => {
                    let (push_x, push_y) = (is_push(a), is_push(b));
                    let towards_next = Some(x.face) == next_face
                        && Some(y.face) != next_face
                        && Some(y.face) != standing_face
                        && (!push_x || push_y)
                        && p.any(q, at_least);
                    if towards_next {
                        preferences.better.push((i, j, if push_x { "H6" } else { "H5" }));
                    }
                    if !push_x && push_y && said && p.iter().any(|p| p > LIKELY_WITHOUT_PUSH) {
                        preferences.better.push((i, j, "H7"));
                    }
                }
                (Action::Bid { .. }, Action::Challenge(_) | Action::Pass) if after_a_bid => {
                    if p.any(q, |p, q| at_least(p, q) && q < 1.0) {
                        preferences.worst.push((j, "H1"));
                    }
                    if *b == Action::Pass && p.any(q, |p, q| p >= LIKELY && q >= LIKELY) {
                        preferences.better.push((i, j, "H3"));
                    }
                }
                (Action::Pass, Action::Challenge(_))
                    if p.any(q, |p, q| at_least(p, q) && !(app && q >= 1.0)) =>
                {
                    preferences.better.push((i, j, "H2"));
                }
                _ => {}
            }
        }
    }
}

/// The face of the act directly after the player's last act of the round, if that act is a bid.
pub(super) fn face_after_own_act(situation: &Situation<'_>) -> Option<u8> {
    let acts = &situation.state.acts;
    let own = acts.iter().rposition(|act| usize::from(act.player) == situation.player)?;
    match acts.get(own + 1)?.said {
        Said::Bid { bid, .. } => Some(bid.face),
        Said::Pass { .. } => None,
    }
}
