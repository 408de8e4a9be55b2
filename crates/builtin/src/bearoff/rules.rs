//! The rules of the bear-off on points 1 to 6, as pure functions of one side.
//!
//! Both sides are past each other, so a side's moves do not depend on the other's. With a checker left, a
//! die can always be played: from a point at or above it, else from the highest point. So both dice are
//! always played, in either order, unless the first ends the game, and "the larger if only one can be
//! played" never has to decide.

use super::{Roll, Side};

/// Most results of one die.
pub const MAX_STEPS: usize = 6;

/// The sides that one die leads to: a checker moves down that many points, or is borne off from the point of
/// that number; if the die is higher than the highest point, a checker is borne off from that. The empty side stays.
#[inline]
pub fn steps(side: Side, die: u8) -> impl Iterator<Item = Side> {
    let highest = side.highest();
    // Points to play from; for a die too high the one point it bears off from; none if there is no checker.
    let from = die.min(highest).max(1)..=highest;
    let stays = (highest == 0).then_some(side);
    from.filter(move |&point| side.on(point) > 0).map(move |point| side.moved(point, die)).chain(stays)
}

/// Replaces `afterstates` by all sides that a roll leads to, ascending, without repeats.
pub fn afterstates(side: Side, roll: Roll, afterstates: &mut Vec<Side>) {
    afterstates.clear();
    if roll.is_double() {
        afterstates.push(side);
        let mut next = Vec::new();
        for _ in 0..4 {
            next.clear();
            next.extend(afterstates.iter().flat_map(|&s| steps(s, roll.high())));
            next.sort_unstable();
            next.dedup();
            std::mem::swap(afterstates, &mut next);
        }
    } else {
        for (first, second) in [(roll.high(), roll.low()), (roll.low(), roll.high())] {
            afterstates.extend(steps(side, first).flat_map(|s| steps(s, second)));
        }
        afterstates.sort_unstable();
        afterstates.dedup();
    }
}
