//! Tactical features: which rolls hit blots, and whether the rearmost checker escapes a block.

use crate::backgammon::moves::{seen, steps};
use crate::backgammon::side::POINTS;
use crate::backgammon::{BAR, Position, Side};
use crate::dice::Roll;

/// A position from one side's view, in its own numbering of the points, as bit masks.
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

/// Calls `found` for each of the 21 rolls that can hit something, with a mask of the points that at least one play of
/// this roll hits.
///
/// Plays follow the rules: both dice where possible, bar first, no landing on blocks. Masks settle nearly all rolls.
/// Where it is unclear whether the other die can be played after a hit, all plays are enumerated.
#[inline]
pub(super) fn hits(view: &View, mut found: impl FnMut(Roll, u32)) {
    let View { position, open, blots, .. } = *view;
    if blots == 0 || !position.has_contact() {
        return;
    }
    let waiting = position.own.on(BAR);
    let from = view.occupied & !(1 << BAR);
    for die in 1..=6 {
        // Checkers move independently, so each set of steps can be completed to a whole play.
        let (mut at, mut mask) = (from, 0);
        if waiting > 0 {
            let enters = open & 1 << (BAR - die);
            (mask, at) = (enters & blots, if enters == 0 { 0 } else { from | enters });
        }
        for _ in waiting..4 {
            at = at >> die & open;
            mask |= at & blots;
        }
        found(Roll::from_sorted(die, die), mask);
    }
    // Landing points of one step with each die.
    let mut lands = [0; 7];
    (1..7).for_each(|die| lands[die] = from >> die & open);
    for high in 2..=6 {
        for low in 1..high {
            let mask = match waiting {
                0 => {
                    let (a, b) = (lands[usize::from(high)], lands[usize::from(low)]);
                    // The other die can be played by the checker that hits or by another one. Branch-free, because
                    // these branches are unpredictable.
                    let stuck = |hits: u32, die: u8, other: u32| {
                        (hits & !(open << die) != 0) & (other & other.wrapping_sub(1) == 0)
                    };
                    match stuck(a & blots, low, b) | stuck(b & blots, high, a) {
                        false => (a | b | a >> low | b >> high) & blots,
                        true => plays(position, Roll::from_sorted(high, low)),
                    }
                }
                1 => {
                    let (a, b) = (open & 1 << (BAR - high), open & 1 << (BAR - low));
                    let next = |enters: u32, die| if enters == 0 { 0 } else { (from | enters) >> die & open };
                    let (after_a, after_b) = (next(a, low), next(b, high));
                    if (a & blots == 0 || after_a != 0) && (b & blots == 0 || after_b != 0) {
                        (a | b | after_a | after_b) & blots
                    } else {
                        plays(position, Roll::from_sorted(high, low))
                    }
                }
                _ => (1 << (BAR - high) | 1 << (BAR - low)) & blots,
            };
            found(Roll::from_sorted(high, low), mask);
        }
    }
}

/// Points that the plays of a non-double hit, by enumerating all plays.
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

/// Number of the 36 throws with which a checker on a place gets past the opponent's blocks among the six points in
/// front of it. Only this checker moves, by one or both dice, a double up to four times, over points that are not
/// blocked; bearing off passes all blocks. 36 if none of the six points is blocked.
#[inline]
pub(super) fn escapes(place: u8, open: u32) -> u32 {
    // Bit d: the checker can land d pips ahead. A checker that escapes has moved at most 12 pips.
    let ahead = open.reverse_bits() >> (31 - place) | !0 << place;
    u32::from(ESCAPES[(ahead >> 1 & 0xFFF) as usize])
}

/// The results of [`escapes`] by the 12 places ahead.
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
