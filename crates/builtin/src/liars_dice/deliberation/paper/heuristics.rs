//! Heuristics (H): symbolic preferences of an expert.

use super::settings::{DeliberateSettings, Heuristic};
use super::view::View;
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::Action;
use crate::liars_dice::state::{Bid, Said};
use adept_game::deliberation::{Deliberation, Preferences};

/// The kinds of actions that heuristics distinguish.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Bid(Bid, bool),
    Challenge,
    Pass,
    Exact,
}

fn kind(action: &Action) -> Kind {
    match action {
        Action::Bid { bid, push } => Kind::Bid(*bid, *push != Dice::default()),
        Action::Challenge(_) => Kind::Challenge,
        Action::Pass => Kind::Pass,
        Action::Exact | Action::Starter(_) | Action::Roll(_) => Kind::Exact,
    }
}

/// Adds the preferences of all heuristics in the settings.
pub(super) fn prefer(
    view: &View<'_>,
    settings: &DeliberateSettings,
    found: &Deliberation<Action>,
    preferences: &mut Preferences,
) {
    if settings.heuristics.is_empty() {
        return;
    }
    let all: Vec<(usize, Kind, f64)> = found
        .candidates
        .iter()
        .enumerate()
        .filter(|(_, c)| c.dropped.is_none())
        .map(|(i, c)| (i, kind(&c.action), c.success))
        .collect();
    let first_bid = view.state.standing().is_none();
    let next = view.state.next_alive(view.player as u8);
    let next_face = view.state.acts.iter().rev().find_map(|act| match act.said {
        Said::Bid { bid, .. } if act.player == next => Some(bid.face),
        _ => None,
    });
    for heuristic in &settings.heuristics {
        let why = heuristic.name();
        match heuristic {
            Heuristic::H0 => {
                let sure = all.iter().filter(|(_, kind, p)| *kind == Kind::Challenge && *p >= 1.0);
                preferences.best.extend(sure.map(|(i, ..)| (*i, why)));
            }
            Heuristic::H4 => {
                if view.state.acts.is_empty() {
                    preferences.worst.extend(
                        all.iter().filter(|(_, kind, _)| *kind == Kind::Pass).map(|(i, ..)| (*i, why)),
                    );
                }
            }
            Heuristic::H1 => {
                let bids = all.iter().filter(|(_, kind, _)| matches!(kind, Kind::Bid(..)));
                let best = bids.map(|(_, _, p)| *p).fold(f64::NEG_INFINITY, f64::max);
                let beaten = |kind: &Kind, p: f64| matches!(kind, Kind::Challenge | Kind::Pass) && best >= p;
                if !first_bid {
                    let beaten = all.iter().filter(|(_, kind, p)| beaten(kind, *p));
                    preferences.worst.extend(beaten.map(|(i, ..)| (*i, why)));
                }
            }
            Heuristic::H2 => pairs(&all, why, preferences, |(a, p), (b, q)| {
                *a == Kind::Pass && *b == Kind::Challenge && p >= q
            }),
            Heuristic::H3 => pairs(&all, why, preferences, |(a, p), (b, q)| {
                matches!(a, Kind::Bid(..)) && *b == Kind::Pass && p >= settings.likely && q >= settings.likely
            }),
            Heuristic::H5 | Heuristic::H6 => {
                let with_push = *heuristic == Heuristic::H6;
                pairs(&all, why, preferences, |(a, p), (b, q)| match (a, b) {
                    (Kind::Bid(a, push_a), Kind::Bid(b, push_b)) => {
                        *push_a == with_push
                            && *push_b == with_push
                            && Some(a.face) == next_face
                            && a.face != b.face
                            && p >= q
                    }
                    _ => false,
                });
            }
            Heuristic::H7 => pairs(&all, why, preferences, |(a, p), (b, _)| {
                matches!(a, Kind::Bid(_, false))
                    && matches!(b, Kind::Bid(_, true))
                    && p > settings.likely_without_push
            }),
        }
    }
}

fn pairs(
    all: &[(usize, Kind, f64)],
    why: &'static str,
    preferences: &mut Preferences,
    better: impl Fn((&Kind, f64), (&Kind, f64)) -> bool,
) {
    for (i, a, p) in all {
        for (j, b, q) in all {
            if better((a, *p), (b, *q)) {
                preferences.better.push((*i, *j, why));
            }
        }
    }
}
