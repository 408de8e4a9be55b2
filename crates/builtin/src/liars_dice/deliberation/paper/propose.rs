//! Proposes candidates: bids up to one full count above a base bid, their pushes, challenges, a pass and exact.

use super::view::View;
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::{Action, RuleSet, Target};
use crate::liars_dice::state::Bid;

/// The base bid: the last bid, or a safe bid if that is higher.
pub(super) fn base(view: &View<'_>) -> Bid {
    let in_play = view.state.dice_in_play();
    // One less than the expected number of a face, or more.
    let safe = match in_play {
        _ if view.state.special => Bid { count: 1, face: 1 },
        7.. => Bid { count: (in_play - 2) / 3, face: 2 },
        _ => Bid { count: 1, face: 2 },
    };
    match view.state.standing() {
        Some((_, _, last))
            if Some(last.face) == view.game.wild(view.state.special) || last.count >= safe.count =>
        {
            last
        }
        _ => safe,
    }
}

/// Calls `each` with every candidate of the player to move. `wide` adds bids between the standing bid and the base,
/// bids of ones up to half the count, and pushes before the first bid.
pub(super) fn each(view: &View<'_>, wide: bool, mut each: impl FnMut(Action)) {
    let (game, state) = (view.game, view.state);
    let none = Dice::default();
    if game.rules() == RuleSet::Soar {
        let base = base(view);
        let special = state.special;
        let top = game.rank(special, Bid { count: base.count + 1, ..base });
        let from = if wide { 0 } else { game.rank(special, base) };
        let pushes = wide || state.standing().is_some();
        let cup = view.own().cup;
        // A bid of ones ranks with bids of twice its count.
        let counts = match () {
            () if wide => 1..=if base.face == 1 && !special { 2 * base.count + 2 } else { base.count + 1 },
            () if base.face == 1 && !special => base.count..=2 * base.count + 2,
            () => base.count / 2..=base.count + 1,
        };
        for bid in counts.flat_map(|count| (1..=game.faces()).map(move |face| Bid { count, face })) {
            let rank = if bid.count == 0 { 0 } else { game.rank(special, bid) };
            let half = wide && bid.face == 1 && !special && 2 * bid.count <= base.count + 2;
            if rank <= from || (rank > top && !half) || game.refuses_bid(state, bid).is_some() {
                continue;
            }
            each(Action::Bid { bid, push: none });
            if pushes {
                let mut push = none;
                for face in [Some(bid.face), game.wild(special)].into_iter().flatten() {
                    push.0[usize::from(face) - 1] = cup.count(face);
                }
                if !push.is_empty() && game.refuses_push(state, &push).is_none() {
                    each(Action::Bid { bid, push });
                }
            }
        }
    } else {
        // The smaller rule sets have few actions.
        let mut bids = Vec::new();
        game.bids(state, &mut bids);
        let top = match state.standing() {
            // A raise always adds one.
            Some((_, _, last)) if game.rules() != RuleSet::RPost => {
                game.rank(false, Bid { count: last.count.saturating_add(1), ..last })
            }
            _ => u32::MAX,
        };
        bids.into_iter()
            .filter(|bid| game.rank(false, *bid) <= top)
            .for_each(|bid| each(Action::Bid { bid, push: none }));
    }
    for target in [Target::Bid, Target::Pass, Target::PassBefore] {
        if game.challenged(state, target).is_ok() {
            each(target.into());
        }
    }
    if game.refuses_pass(state).is_none() {
        each(Action::Pass);
    }
    if view.own().dice < game.dice()[view.player] && game.refuses_exact(state).is_none() {
        each(Action::Exact);
    }
}
