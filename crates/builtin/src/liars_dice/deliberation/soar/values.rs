//! P: the probability of success of an action, as the newer agents compute it.

use super::Generation;
use super::situation::Situation;
use crate::liars_dice::deliberation::model::{Model, under};
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::{Action, Target};
use crate::liars_dice::state::{Act, Bid, Said, Seat};
use adept_game::deliberation::preference;

/// The values of an action. Several rules may apply to a pass; every distinct value stays.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Values {
    all: [f64; 3],
    len: u8,
}

impl Values {
    pub(super) fn one(value: f64) -> Self {
        let mut values = Self::default();
        values.add(value);
        values
    }

    pub(super) fn add(&mut self, value: f64) {
        let len = usize::from(self.len);
        if len < self.all.len() && !self.all[..len].contains(&value) {
            self.all[len] = value;
            self.len += 1;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        self.all[..usize::from(self.len)].iter().copied()
    }

    /// Sum of the numeric preferences 2p − 1.
    pub(super) fn preference(&self) -> f64 {
        self.iter().map(preference).sum()
    }

    /// Whether any pair of values satisfies `test`.
    pub(super) fn any(&self, other: &Self, test: impl Fn(f64, f64) -> bool) -> bool {
        self.iter().any(|p| other.iter().any(|q| test(p, q)))
    }
}

/// The values of an action.
pub(super) fn evaluate(
    situation: &Situation<'_>,
    generation: Generation,
    action: &Action,
    model: Option<Model>,
) -> Values {
    match action {
        Action::Bid { bid, push } => Values::one(bid_succeeds(situation, *bid, push, model)),
        Action::Challenge(target) => match situation.game.challenged(situation.state, *target) {
            Ok(Act { said: Said::Bid { bid, .. }, .. }) => {
                let true_bid = bid_succeeds(situation, bid, &Dice::default(), model);
                Values::one(1.0 - true_bid)
            }
            Ok(act) => pass_is_false(&situation.state.seats[usize::from(act.player)], generation),
            Err(_) => Values::one(0.0),
        },
        Action::Exact => {
            let Some((_, bid, _)) = situation.standing else { return Values::one(0.0) };
            // Ones do not count as wild here, whatever the face.
            let missing = i32::from(bid.count) - i32::from(situation.natural(bid.face, model));
            let unknown = situation.unknown - model.map_or(0, |m| m.held);
            Values::one(situation.exactly(unknown, missing))
        }
        Action::Pass => pass_succeeds(situation.own(), generation),
        Action::Starter(_) | Action::Roll(_) => Values::one(0.0),
    }
}

/// P(Bin(u, r) ≥ q − known).
fn bid_succeeds(situation: &Situation<'_>, bid: Bid, push: &Dice, model: Option<Model>) -> f64 {
    let rerolled = if push.is_empty() { 0 } else { situation.own().cup.total() - push.total() };
    let unknown = situation.unknown + rerolled - model.map_or(0, |m| m.cup - others(situation, m, bid.face));
    let missing = i32::from(bid.count) - i32::from(situation.known(bid.face, model));
    situation.at_least(unknown, bid.face, missing)
}

/// Number of the bidder's other dice that count as unknown for a bid of this face: none for the modelled face,
/// otherwise all, or half of them after a bid of ones.
fn others(situation: &Situation<'_>, model: Model, face: u8) -> u8 {
    let rest = model.cup - model.held;
    match model.face {
        modelled if modelled == face => 0,
        1 if situation.special() => 0,
        1 => rest / 2,
        _ => rest,
    }
}

/// The values of the own pass.
pub(super) fn pass_succeeds(own: &Seat, generation: Generation) -> Values {
    let (hidden, exposed) = (own.cup.total(), own.pushed.total());
    let one_face = own.pushed.uniform().is_some();
    let alike = own.cup.with(&own.pushed).uniform().is_some();
    let several = if generation == Generation::Old { 0.08 } else { 0.02 };
    let mut values = Values::default();
    if exposed > 0 && !one_face {
        values.add(0.0);
    }
    if alike {
        values.add(1.0);
    }
    if hidden == 1 && (exposed == 1 || (one_face && !alike)) {
        values.add(0.4);
    }
    if exposed == 0 && !alike {
        values.add(if hidden == 2 { 0.4 } else { several });
    }
    if exposed > 0 && hidden > 1 && !alike {
        values.add(several);
    }
    values
}

/// The values of a challenge of this seat's pass.
pub(super) fn pass_is_false(target: &Seat, generation: Generation) -> Values {
    let (hidden, exposed) = (under(target), target.pushed.total());
    let one_face = exposed == 0 || target.pushed.uniform().is_some();
    if generation == Generation::App {
        return Values::one(match (hidden, exposed) {
            _ if !one_face => 1.0,
            (4.., _) | (3, 1..) => 1.0,
            (3, 0) | (2, 1..) => 0.95,
            _ => 0.5,
        });
    }
    let many = if generation == Generation::Old { 0.95 } else { 0.9 };
    let mut values = Values::default();
    if !one_face {
        values.add(1.0);
    }
    match (hidden, exposed) {
        (3.., 0) | (2.., 1..) => values.add(many),
        (2, 0) => values.add(0.4),
        (1, _) if one_face => values.add(0.4),
        _ => {}
    }
    values
}

/// Whether an action challenges a pass.
pub(super) fn challenges_pass(situation: &Situation<'_>, action: &Action) -> bool {
    match action {
        Action::Challenge(Target::Pass | Target::PassBefore) => true,
        Action::Challenge(target) => {
            matches!(
                situation.game.challenged(situation.state, *target),
                Ok(Act { said: Said::Pass { .. }, .. })
            )
        }
        _ => false,
    }
}
