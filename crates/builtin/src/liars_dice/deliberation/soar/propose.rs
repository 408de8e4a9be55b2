//! The operators that an agent proposes.

use super::Generation;
use super::situation::Situation;
use crate::liars_dice::deliberation::model::under;
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::{Action, Target};
use crate::liars_dice::state::Bid;

/// Number of times that an opening of a special round is proposed.
const OPENINGS: usize = 5;

/// The base for higher bids: the last bid, or the safe bid if that has a higher count.
pub(super) fn base(situation: &Situation<'_>) -> Bid {
    let safe = match situation.in_play {
        _ if situation.special() => Bid { count: 1, face: 1 },
        7.. => Bid { count: (situation.in_play - 2) / 3, face: 2 },
        _ => Bid { count: 1, face: 2 },
    };
    match situation.standing {
        Some((_, last, _)) if last.face == 1 || last.count >= safe.count => last,
        _ => safe,
    }
}

/// Replaces `actions` by the proposals of the player to move.
pub(super) fn all(situation: &Situation<'_>, generation: Generation, actions: &mut Vec<Action>) {
    actions.clear();
    let (game, state, special) = (situation.game, situation.state, situation.special());
    let base = base(situation);
    let Bid { count: q, face: f } = base;
    let old = generation == Generation::Old;
    let mut bids: Vec<Bid> = Vec::with_capacity(8);
    let mut bid = |count, face| bids.push(Bid { count, face });
    let own = situation.own();
    if !special && f == 1 {
        bid(q + 1, 1);
        (2..=6).for_each(|face| bid(2 * q + 1, face));
    } else if !special || (own.dice == 1 && f != 1) {
        if special && old {
            bid(q + 1, f);
        }
        if !special {
            bid(q.div_ceil(2), 1);
        }
        (f + 1..=6).for_each(|face| bid(q, face));
        (2..=f).for_each(|face| bid(q + 1, face));
    } else if own.dice > 1 || old {
        bid(q + 1, f);
    }
    if special && situation.standing.is_none() {
        let sevenths = situation.in_play / 7;
        let count = if old { sevenths } else { sevenths.max(1) };
        for face in 2..=6 {
            let action = Action::Bid { bid: Bid { count, face }, push: Dice::default() };
            let times = if game.refuses(state, &action).is_none() { OPENINGS } else { 0 };
            actions.extend(std::iter::repeat_n(action, times));
        }
    }
    bids.retain(|bid| game.refuses_bid(state, *bid).is_none());
    actions.extend(bids.iter().map(|bid| Action::Bid { bid: *bid, push: Dice::default() }));
    if special || situation.standing.is_some() {
        for bid in &bids {
            let mut push = Dice::default();
            for face in [Some(bid.face), game.wild(special)].into_iter().flatten() {
                push.0[usize::from(face) - 1] = own.cup.count(face);
            }
            let times = match () {
                () if push.is_empty() || game.refuses_push(state, &push).is_some() => 0,
                // Once for every die.
                () if special && old => push.total().into(),
                () => 1,
            };
            actions.extend(std::iter::repeat_n(Action::Bid { bid: *bid, push }, times));
        }
    }
    let targets = [Target::Bid, Target::Pass, Target::PassBefore];
    actions.extend(
        targets.into_iter().filter(|target| game.challenged(state, *target).is_ok()).map(Action::Challenge),
    );
    if game.refuses_pass(state).is_none() {
        actions.push(Action::Pass);
    }
    if own.dice < game.dice()[situation.player] && game.refuses_exact(state).is_none() {
        actions.push(Action::Exact);
    }
    debug_assert!(!actions.is_empty() && actions.len() <= u64::BITS as usize && under(own) > 0);
}

/// Whether this is a bid with a push.
pub(super) fn is_push(action: &Action) -> bool {
    matches!(action, Action::Bid { push, .. } if !push.is_empty())
}

/// Whether agents with M wait forever: they evaluate pushes only with the model, which they never make before the first
/// bid of a round, but special rounds propose such pushes.
pub(super) fn never_evaluated(situation: &Situation<'_>, actions: &[Action]) -> bool {
    situation.special() && situation.standing.is_none() && actions.iter().any(is_push)
}
