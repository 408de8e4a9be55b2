//! Evaluation of candidates: probabilities (P) and classes by expected numbers (E).

use super::feature::{self, Feature, Reader};
use super::settings::{DeliberateSettings, EvaluateBy};
use super::view::View;
use crate::liars_dice::deliberation::model::Model;
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::{Action, Target};
use crate::liars_dice::state::Bid;
use adept_game::deliberation::Deliberation;

/// The result of an evaluation.
pub(super) struct Evaluated {
    /// Chance of success, or a representative value for a class.
    pub(super) success: f64,
    pub(super) class: Option<&'static str>,
}

/// The classes of E, best first, with representative numbers for heuristics to compare.
#[derive(Clone, Copy)]
enum Class {
    Certain,
    Safe,
    Risky,
    VeryRisky,
    Lose,
}

impl From<Class> for Evaluated {
    fn from(class: Class) -> Self {
        let (success, name) = match class {
            Class::Certain => (1.0, "certain"),
            Class::Safe => (0.9, "safe"),
            Class::Risky => (0.5, "risky"),
            Class::VeryRisky => (0.2, "very risky"),
            Class::Lose => (0.0, "lose"),
        };
        Self { success, class: Some(name) }
    }
}

/// Evaluates a candidate and records the features that it reads.
pub(super) fn action(
    view: &View<'_>,
    settings: &DeliberateSettings,
    action: &Action,
    model: Option<Model>,
    reader: &mut Reader,
) -> Evaluated {
    let by_class = settings.evaluation == EvaluateBy::Expectation;
    let kind = match action {
        Action::Bid { .. } | Action::Starter(_) | Action::Roll(_) => feature::BID,
        Action::Challenge(Target::Bid) => feature::CHALLENGE,
        Action::Exact => feature::EXACT,
        Action::Pass => feature::PASS,
        Action::Challenge(Target::Pass | Target::PassBefore) => feature::CHALLENGE_PASS,
    };
    reader.note(Feature::Kind, kind);
    let standing = || view.state.standing().map_or(Bid { count: 1, face: 1 }, |(_, _, bid)| bid);
    match action {
        Action::Bid { bid, push } if by_class => bid_class(view, settings, *bid, push, model, reader).into(),
        Action::Bid { bid, push } => {
            view.read(*bid, push, reader);
            Evaluated { success: view.success(*bid, push, model), class: None }
        }
        Action::Challenge(Target::Bid) if by_class => {
            challenge_class(view, settings, standing(), model, reader).into()
        }
        Action::Challenge(Target::Bid) => {
            view.read(standing(), &Dice::default(), reader);
            Evaluated { success: 1.0 - view.success(standing(), &Dice::default(), model), class: None }
        }
        Action::Exact => {
            let bid = standing();
            view.read(bid, &Dice::default(), reader);
            let (known, unknown) = view.dice_for(bid.face, &Dice::default(), model);
            let missing = i32::from(bid.count) - i32::from(known);
            if by_class {
                let off =
                    f64::from(unknown) * view.game.chance(view.state.special, bid.face) - f64::from(missing);
                // The model of a bidder is not certain.
                let (certain, rest) = view.dice_for(bid.face, &Dice::default(), None);
                let least = i32::from(bid.count) - i32::from(certain);
                return if least < 0 || least > rest.into() {
                    Class::Lose.into()
                } else if off.abs() < settings.exact_risky {
                    Class::Risky.into()
                } else {
                    Class::VeryRisky.into()
                };
            }
            // The published agents use 1/6 here, even for wild faces.
            Evaluated { success: view.game.single_odds().exactly(unknown, missing), class: None }
        }
        Action::Pass => pass(own_pass(view, reader), by_class),
        Action::Challenge(target) => pass(passed(view, *target, reader), by_class),
        Action::Starter(_) | Action::Roll(_) => Class::Lose.into(),
    }
}

/// E's measure: the expected number of matching dice minus the bid.
fn deviation(view: &View<'_>, bid: Bid, push: &Dice, model: Option<Model>) -> (f64, u8, u8) {
    let (known, unknown) = view.dice_for(bid.face, push, model);
    let expected = f64::from(known) + f64::from(unknown) * view.game.chance(view.state.special, bid.face);
    // The model of a bidder is not certain.
    let (known, unknown) = view.dice_for(bid.face, push, None);
    (expected - f64::from(bid.count), known, unknown)
}

fn bid_class(
    view: &View<'_>,
    settings: &DeliberateSettings,
    bid: Bid,
    push: &Dice,
    model: Option<Model>,
    reader: &mut Reader,
) -> Class {
    view.read(bid, push, reader);
    let (above, known, unknown) = deviation(view, bid, push, model);
    match () {
        () if known >= bid.count => Class::Certain,
        () if known + unknown < bid.count => Class::Lose,
        () if above > settings.bid_safe => Class::Safe,
        () if above >= settings.bid_risky => Class::Risky,
        () => Class::VeryRisky,
    }
}

fn challenge_class(
    view: &View<'_>,
    settings: &DeliberateSettings,
    bid: Bid,
    model: Option<Model>,
    reader: &mut Reader,
) -> Class {
    view.read(bid, &Dice::default(), reader);
    let (above, known, unknown) = deviation(view, bid, &Dice::default(), model);
    match () {
        () if known >= bid.count => Class::Lose,
        () if known + unknown < bid.count => Class::Certain,
        () if above < settings.challenge_safe => Class::Safe,
        () if above < settings.challenge_risky => Class::Risky,
        () => Class::VeryRisky,
    }
}

/// A probability about passes for P, or its class for E.
fn pass(success: f64, by_class: bool) -> Evaluated {
    match success {
        _ if !by_class => Evaluated { success, class: None },
        1.0.. => Class::Certain.into(),
        0.9.. => Class::Safe.into(),
        0.45.. => Class::Risky.into(),
        p if p > 0.0 => Class::VeryRisky.into(),
        _ => Class::Lose.into(),
    }
}

/// Probability that an own pass succeeds. A false pass may go unchallenged.
fn own_pass(view: &View<'_>, reader: &mut Reader) -> f64 {
    let seat = view.own();
    let (under, pushed) = (seat.cup.total(), seat.pushed.total());
    let valid = seat.cup.with(&seat.pushed).uniform().is_some();
    reader.note(Feature::PassTrue, u8::from(valid));
    if valid {
        return 1.0;
    }
    let uniform = pushed == 0 || seat.pushed.uniform().is_some();
    reader.note(Feature::OwnCup, under);
    reader.note(Feature::OwnPushed, pushed);
    reader.note(Feature::OneFacePushed, u8::from(uniform));
    match (under, pushed) {
        _ if !uniform => 0.0,
        (1, _) | (2, 0) => 0.4,
        _ => 0.02,
    }
}

/// Probability that another player's pass is false.
fn passed(view: &View<'_>, target: Target, reader: &mut Reader) -> f64 {
    let Ok(act) = view.game.challenged(view.state, target) else { return 0.0 };
    let seat = &view.state.seats[usize::from(act.player)];
    let pushed = seat.pushed.total();
    let under = seat.dice - pushed;
    let uniform = pushed == 0 || seat.pushed.uniform().is_some();
    reader.note(Feature::TargetCup, under);
    reader.note(Feature::TargetPushed, pushed);
    reader.note(Feature::OneFacePushed, u8::from(uniform));
    match (under, pushed) {
        _ if !uniform => 1.0,
        (4.., _) | (3, 1..) => 1.0,
        (3, 0) | (2, 1..) => 0.95,
        _ => 0.5,
    }
}

/// E chooses any action of the best class.
pub(super) fn keep_the_best_class(settings: &DeliberateSettings, found: &mut Deliberation<Action>) {
    let rank = |success: f64| if success > 0.5 && !settings.certain_first { 1.0 } else { success };
    let best = found.candidates.iter().map(|c| rank(c.success)).fold(0.0, f64::max);
    for candidate in &mut found.candidates {
        if rank(candidate.success) < best {
            candidate.dropped = Some("class");
        }
    }
}
