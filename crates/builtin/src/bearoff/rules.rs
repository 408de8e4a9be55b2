//! The rules of the bear-off on points 1 to 6, as pure functions of one side.
//!
//! The sides have passed each other, so a side's moves do not depend on the other side. While a checker remains, every
//! die can be played: from a point at or above it, otherwise from the highest point. Both dice are therefore always
//! played, in either order, unless the first ends the game. The rule "play the larger die if only one can be played"
//! never applies.

use super::{Roll, Side};

/// The sides after one die. A checker moves down by the die or bears off from the point with this number. If the die is
/// above the highest point, a checker bears off from the highest point. The empty side stays.
#[inline]
pub fn steps(side: Side, die: u8) -> impl Iterator<Item = Side> {
    let highest = side.highest();
    // Points to play from. If the die is above all checkers, only the highest point. None without checkers.
    let from = die.min(highest).max(1)..=highest;
    let stays = (highest == 0).then_some(side);
    from.filter(move |&point| side.on(point) > 0).map(move |point| side.moved(point, die)).chain(stays)
}

/// Replaces `afterstates` by all sides after a roll, ascending, without repeats.
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
