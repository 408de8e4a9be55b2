//! What rolls can do to single checkers: whom they hit, and whether the rearmost checker gets past a block.

use crate::backgammon::moves::{seen, steps};
use crate::backgammon::side::POINTS;
use crate::backgammon::{BAR, Position, Side};
use crate::dice::Roll;

/// A position as a side sees it, in its own numbering of the points, a bit each.
pub(super) struct View {
    pub(super) position: Position,
    /// Places with own checkers.
    pub(super) occupied: u32,
    /// Points with at least two own checkers.
    pub(super) blocks: u32,
    /// Points that the opponent does not block.
    pub(super) open: u32,
    /// Points with a single checker of the opponent.
    pub(super) blots: u32,
}

impl View {
    /// The views of both sides, the side to roll first.
    pub(super) fn both(position: Position) -> [Self; 2] {
        let masks = |side: Side| (side.occupied(), side.blocks());
        let view = |position, (occupied, blocks), (theirs, their_blocks): (u32, u32)| Self {
            position,
            occupied,
            blocks,
            open: POINTS & !seen(their_blocks),
            blots: seen(theirs & POINTS & !their_blocks),
        };
        let (own, theirs) = (masks(position.own), masks(position.opponent));
        [view(position, own, theirs), view(position.swapped(), theirs, own)]
    }
}

/// Calls `found` with each of the 21 rolls, if there is something to hit, and the points on which at least one of its plays hits
/// if the side of the view rolls, a bit each.
///
/// The plays are those of the rules: both dice where that is possible, bars first, no landing on blocks. Masks settle nearly all
/// rolls; where it is in doubt whether the other die can be played after a hit, the plays are looked at.
#[inline]
pub(super) fn hits(view: &View, mut found: impl FnMut(Roll, u32)) {
    let View { position, open, blots, .. } = *view;
    if blots == 0 || !position.has_contact() {
        return;
    }
    let waiting = position.own.on(BAR);
    let from = view.occupied & !(1 << BAR);
    for die in 1..=6 {
        // Each checker goes its own way, so that each set of steps can be completed to a whole play.
        let (mut at, mut mask) = (from, 0);
        if waiting > 0 {
            let enters = open & 1 << (BAR - die);
            (mask, at) = (enters & blots, if enters == 0 { 0 } else { from | enters });
        }
        for _ in waiting..4 {
            at = at >> die & open;
            mask |= at & blots;
        }
        found(Roll::of(die, die), mask);
    }
    // Where one step by each die lands.
    let mut lands = [0; 7];
    (1..7).for_each(|die| lands[die] = from >> die & open);
    for high in 2..=6 {
        for low in 1..high {
            let mask = match waiting {
                0 => {
                    let (a, b) = (lands[usize::from(high)], lands[usize::from(low)]);
                    // The other die can be played by the checker that hits, or by one of two. Without branches: no one can
                    // foresee them.
                    let stuck = |hits: u32, die: u8, other: u32| {
                        (hits & !(open << die) != 0) & (other & other.wrapping_sub(1) == 0)
                    };
                    match stuck(a & blots, low, b) | stuck(b & blots, high, a) {
                        false => (a | b | a >> low | b >> high) & blots,
                        true => plays(position, Roll::of(high, low)),
                    }
                }
                1 => {
                    let (a, b) = (open & 1 << (BAR - high), open & 1 << (BAR - low));
                    let next = |enters: u32, die| if enters == 0 { 0 } else { (from | enters) >> die & open };
                    let (after_a, after_b) = (next(a, low), next(b, high));
                    if (a & blots == 0 || after_a != 0) && (b & blots == 0 || after_b != 0) {
                        (a | b | after_a | after_b) & blots
                    } else {
                        plays(position, Roll::of(high, low))
                    }
                }
                _ => (1 << (BAR - high) | 1 << (BAR - low)) & blots,
            };
            found(Roll::of(high, low), mask);
        }
    }
}

/// The points on which the plays of a roll of different dice hit, by looking at all of them.
#[cold]
fn plays(position: Position, roll: Roll) -> u32 {
    let hit = |hits: bool, to: u8| u32::from(hits) << to;
    let (mut found, mut both) = (0, false);
    for (first, second) in [(roll.high(), roll.low()), (roll.low(), roll.high())] {
        for step in steps(position, first) {
            for next in steps(step.after, second) {
                both = true;
                found |= hit(step.hits, step.to) | hit(next.hits, next.to);
            }
        }
    }
    if both {
        return found;
    }
    let alone = |die| {
        steps(position, die).fold(None, |found, step| Some(found.unwrap_or(0) | hit(step.hits, step.to)))
    };
    alone(roll.high()).or_else(|| alone(roll.low())).unwrap_or(0)
}

/// Number of the 36 throws by which a checker on a place gets past the opponent's blocks among the six points in front of it. It
/// moves alone, by one or both dice, a double up to four times, over points that are not blocked; off the board is past all. 36
/// if none of the six is blocked.
#[inline]
pub(super) fn escapes(place: u8, open: u32) -> u32 {
    // Bit d: the place d pips ahead can be landed on. A checker that is not yet past has moved at most 12 when it is.
    let ahead = open.reverse_bits() >> (31 - place) | !0 << place;
    u32::from(ESCAPES[(ahead >> 1 & 0xFFF) as usize])
}

/// The throws of [`escapes`] by the 12 places ahead.
static ESCAPES: [u8; 1 << 12] = {
    let mut table = [0; 1 << 12];
    let mut k = 0;
    while k < table.len() {
        table[k] = throws_past((k as u32) << 1);
        k += 1;
    }
    table
};

const fn throws_past(ahead: u32) -> u8 {
    let last = 31 - (1 | !ahead & 0x7E).leading_zeros();
    let past = ahead & !1 << last;
    let (mut throws, mut high) = (0, 1);
    while high <= 6 {
        let mut low = 1;
        while low < high {
            let steps = ahead >> high | ahead >> low;
            if (past >> high | past >> low | past >> (high + low) & steps) & 1 != 0 {
                throws += 2;
            }
            low += 1;
        }
        let mut pips = high;
        while pips < 4 * high && pips < 12 && ahead & !past & 1 << pips != 0 {
            pips += high;
        }
        throws += (past >> pips & 1) as u8;
        high += 1;
    }
    throws
}
