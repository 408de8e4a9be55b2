//! Move generator: all distinct positions after a roll.
//!
//! Two different dice give equal results in only three ways. Two checkers move in either order: each pair of moves is
//! listed once. One checker moves by both dice: the two ways differ only if one of them hits on the way. Both dice bear
//! off: such decisions are short, and their results are compared. Doubles need no comparison: if no checker moves from
//! a higher place than the one before, each set of moves has one order, and different sets give different positions.

use super::Position;
use super::side::{BAR, POINTS, Side};
use crate::dice::Roll;

/// Replaces `results` by the distinct positions after a roll, seen by the side that moved. If no checker can move, the
/// only one is the position itself. Both dice are played if possible, otherwise the larger playable one.
#[inline]
pub fn results<R: From<Position> + PartialEq>(position: Position, roll: Roll, results: &mut Vec<R>) {
    results.clear();
    if roll.is_double() {
        doubles(position, roll.high(), results);
    } else if position.own.reaches(7) && outside(position.own) > 1 {
        mixed(position, roll, results);
    } else {
        near_home(position, roll, results);
    }
    if results.is_empty() {
        results.push(position.into());
    }
}

/// Number of checkers on the points 7 to 24 and the bar, capped at 2.
#[inline]
fn outside(side: Side) -> u32 {
    let mask = side.occupied() & !0x7F;
    mask.count_ones() + u32::from(side.on(mask.trailing_zeros() as u8 & 31) > 1)
}

/// Landing points and hits of the side to move.
#[derive(Clone, Copy)]
struct Targets {
    /// Mask of points that the opponent does not block.
    open: u32,
    /// Mask of the opponent's blots.
    blots: u32,
}

impl Targets {
    #[inline]
    fn new(opponent: Side) -> Self {
        let blocks = opponent.blocks();
        Self { open: POINTS & !seen(blocks), blots: seen(opponent.occupied() & POINTS & !blocks) }
    }

    /// Places from which a checker can move by this die to another point.
    #[inline]
    fn sources(self, die: u8) -> u32 {
        self.open << die & (POINTS | 1 << BAR)
    }
}

/// Converts a mask to the opponent's numbering: point p becomes 25 − p.
#[inline]
pub(super) fn seen(mask: u32) -> u32 {
    mask.reverse_bits() >> 6
}

/// The position after one checker moves to a point, with a hit if the opponent has a blot there.
#[inline]
fn stepped(Position { own, opponent }: Position, from: u8, to: u8, targets: Targets) -> Position {
    let hits = targets.blots >> to & 1 != 0 && opponent.on(25 - to) == 1;
    Position { own: own.moved(from, to), opponent: if hits { opponent.hit(25 - to) } else { opponent } }
}

/// The places of a mask, from the lowest.
#[inline]
pub(super) fn each(mut mask: u32) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let place = mask.trailing_zeros() as u8;
        let any = mask != 0;
        mask &= mask.wrapping_sub(1);
        any.then_some(place)
    })
}

/// Non-doubles with at least two checkers outside the home board: none bears off.
#[inline]
fn mixed<R: From<Position>>(position: Position, roll: Roll, results: &mut Vec<R>) {
    let (a, b) = (roll.high(), roll.low());
    let targets = Targets::new(position.opponent);
    let occupied = position.own.occupied();
    let (by_a, by_b) = (targets.sources(a), targets.sources(b));
    let step = |position, from, die: u8| stepped(position, from, from - die, targets);
    let last = |position, from, die| R::from(step(position, from, die));
    // One checker moves by both dice, in two orders with the same result.
    let same = by_a & by_b & targets.open << (a + b) & !(targets.blots << a) & !(targets.blots << b);
    let bar = 1 << BAR;
    let waiting = position.own.on(BAR);
    if waiting > 1 {
        match (by_a & bar != 0, by_b & bar != 0) {
            (true, true) => results.push(last(step(position, BAR, a), BAR, b)),
            (true, false) => results.push(last(position, BAR, a)),
            (false, true) => results.push(last(position, BAR, b)),
            (false, false) => {}
        }
        return;
    }
    if waiting == 1 {
        let rest = occupied & !bar;
        if by_a & bar != 0 {
            let entered = step(position, BAR, a);
            results.extend(each((rest | 1 << (BAR - a)) & by_b).map(|from| last(entered, from, b)));
        }
        if by_b & bar != 0 {
            let entered = step(position, BAR, b);
            // With the checker that entered, this equals entering by the other die.
            let twice = if same & bar != 0 { 1 << (BAR - b) } else { 0 };
            results.extend(each((rest | 1 << (BAR - b)) & by_a & !twice).map(|from| last(entered, from, a)));
        }
        if results.is_empty() {
            let die = [(by_a, a), (by_b, b)].into_iter().find(|(sources, _)| sources & bar != 0);
            results.extend(die.map(|(_, die)| last(position, BAR, die)));
        }
        return;
    }
    let (from_a, from_b) = (occupied & by_a, occupied & by_b);
    // Two checkers, or one that continues from an occupied point.
    for second in each(from_b) {
        let moved = step(position, second, b);
        let mut first = from_a;
        if position.own.on(second) == 1 {
            first &= !(1 << second);
        }
        if same >> second & 1 != 0 {
            first &= !(1 << (second - b));
        }
        results.extend(each(first).map(|from| last(moved, from, a)));
    }
    // One checker that continues from an empty point.
    let lands = |from: u32, die: u8| from >> die & !occupied;
    results.extend(each(lands(from_a, a) & by_b).map(|to| last(step(position, to + a, a), to, b)));
    let twice = same >> b;
    results.extend(each(lands(from_b, b) & by_a & !twice).map(|to| last(step(position, to + b, b), to, a)));
    if results.is_empty() {
        let (from, die) = if from_a != 0 { (from_a, a) } else { (from_b, b) };
        results.extend(each(from).map(|from| last(position, from, die)));
    }
}

/// Places from which a checker can move by this die, bearing off included.
#[inline]
fn sources(own: Side, occupied: u32, die: u8, targets: Targets) -> u32 {
    let bar = 1 << BAR;
    if occupied & bar != 0 {
        return targets.sources(die) & bar;
    }
    let mut from = occupied & targets.sources(die);
    if !own.reaches(7) {
        // Bears off from exactly the die's point, or from the highest point below it.
        let highest = own.highest();
        from |= occupied & 1 << die.min(highest) & !1;
    }
    from
}

/// Non-doubles with at most one checker outside the home board: results are compared.
fn near_home<R: From<Position> + PartialEq>(position: Position, roll: Roll, results: &mut Vec<R>) {
    let after = |position, die| steps(position, die).map(|step| step.after);
    let mut add = |result: Position| {
        let result = result.into();
        if !results.contains(&result) {
            results.push(result);
        }
    };
    for (first, second) in [(roll.high(), roll.low()), (roll.low(), roll.high())] {
        after(position, first).for_each(|between| after(between, second).for_each(&mut add));
    }
    for die in [roll.high(), roll.low()] {
        if results.is_empty() {
            results.extend(after(position, die).map(R::from));
        }
    }
}

/// One checker's move by one die.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Step {
    pub(super) from: u8,
    /// 0 is off.
    pub(super) to: u8,
    pub(super) hits: bool,
    pub(super) after: Position,
}

/// The moves by one die, from the lowest place.
pub(super) fn steps(position: Position, die: u8) -> impl Iterator<Item = Step> {
    let targets = Targets::new(position.opponent);
    each(sources(position.own, position.own.occupied(), die, targets)).map(move |from| {
        let to = from.saturating_sub(die);
        let after = stepped(position, from, to, targets);
        Step { from, to, hits: after.opponent != position.opponent, after }
    })
}

/// Whether both dice of a non-double can be played.
pub(super) fn both(position: Position, roll: Roll) -> bool {
    let in_order =
        |first, second| steps(position, first).any(|step| steps(step.after, second).next().is_some());
    in_order(roll.high(), roll.low()) || in_order(roll.low(), roll.high())
}

/// Doubles: up to four moves.
fn doubles<R: From<Position>>(position: Position, die: u8, results: &mut Vec<R>) {
    let targets = Targets::new(position.opponent);
    let mut most = 0;
    each_double(position, position.own.occupied(), u32::MAX, 0, die, targets, &mut |moves, result| {
        if moves > most {
            most = moves;
            results.clear();
        }
        if moves == most && most > 0 {
            results.push(result.into());
        }
    });
}

/// Calls `found` with the number of moves and the result of each play. `allowed` is the mask of places at or below that
/// of the previous move.
fn each_double(
    position: Position,
    occupied: u32,
    allowed: u32,
    moves: u32,
    die: u8,
    targets: Targets,
    found: &mut impl FnMut(u32, Position),
) {
    let from = if moves == 4 { 0 } else { sources(position.own, occupied, die, targets) & allowed };
    if from == 0 {
        return found(moves, position);
    }
    for place in each(from) {
        let to = place.saturating_sub(die);
        let next = stepped(position, place, to, targets);
        let left = if position.own.on(place) == 1 { occupied & !(1 << place) } else { occupied };
        each_double(next, (left | 1 << to) & !1, (2 << place) - 1, moves + 1, die, targets, found);
    }
}

/// A slow, literal implementation of the rules, the reference for the generator.
#[cfg(test)]
pub(super) mod reference {
    use super::*;
    use std::collections::HashSet;

    fn one(Position { own, opponent }: Position, die: u8) -> Vec<Position> {
        let (places, mut all) = (own.places(), Vec::new());
        for from in 1..=BAR {
            let home = places[7..].iter().all(|&count| count == 0);
            let higher = places[usize::from(from) + 1..].iter().any(|&count| count > 0);
            let legal = places[usize::from(from)] > 0
                && (from == BAR || places[usize::from(BAR)] == 0)
                && match from.cmp(&die) {
                    std::cmp::Ordering::Greater => opponent.on(25 - (from - die)) < 2,
                    std::cmp::Ordering::Equal => home,
                    std::cmp::Ordering::Less => home && !higher,
                };
            if legal {
                let to = from.saturating_sub(die);
                let hits = to > 0 && opponent.on(25 - to) == 1;
                let opponent = if hits { opponent.hit(25 - to) } else { opponent };
                all.push(Position { own: own.moved(from, to), opponent });
            }
        }
        all
    }

    fn all(position: Position, dice: &[u8], played: usize, found: &mut HashSet<(usize, u8, Position)>) {
        let Some((&die, rest)) = dice.split_first() else {
            return;
        };
        for next in one(position, die) {
            // A single move keeps its die, for the rule of the larger one.
            found.insert((played + 1, if played == 0 { die } else { 0 }, next));
            all(next, rest, played + 1, found);
        }
    }

    pub(in super::super) fn results(position: Position, roll: Roll) -> HashSet<Position> {
        let (high, low) = (roll.high(), roll.low());
        let orders: &[&[u8]] = if roll.is_double() { &[&[high; 4]] } else { &[&[high, low], &[low, high]] };
        let mut found = HashSet::new();
        orders.iter().for_each(|dice| all(position, dice, 0, &mut found));
        let most = found.iter().map(|(moves, ..)| *moves).max().unwrap_or(0);
        let mut best: Vec<_> = found.into_iter().filter(|(moves, ..)| *moves == most).collect();
        if most == 1 && !roll.is_double() && best.iter().any(|(_, die, _)| *die == high) {
            best.retain(|(_, die, _)| *die == high);
        }
        if most == 0 { HashSet::from([position]) } else { best.into_iter().map(|(.., p)| p).collect() }
    }
}
