//! The encoder `expert`: the inputs of `points` and handcrafted features.

use super::hits::{View, escapes, hits};
use super::{POINTS, SIDE, write};
use crate::backgammon::moves::each;
use crate::backgammon::{BAR, Backgammon, Position, Side, State, side};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut};
use std::sync::LazyLock;

/// 252 inputs: the 202 of [`Points`](super::Points), then [`INPUTS`] of the side that just moved, then those of its opponent.
#[derive(Clone, Copy, Debug)]
pub struct Expert;

/// A feature computed for each side, in the side's own numbering of the points: it moves from 24 down to 1, and its bar
/// is 25.
#[derive(Clone, Copy, Debug)]
pub struct Input {
    /// Name in the documentation.
    pub name: &'static str,
    /// Definition and unit of the count.
    pub about: &'static str,
    /// Divisor of the count.
    pub unit: f32,
    /// Largest value with 15 checkers. The smallest is 0.
    pub most: f32,
}

/// The features of each side in the encoder `expert`, in order.
///
/// A *block* is a point with at least two checkers, a *roll* one of the 36 results of two dice. The encoder sees the
/// position after a move: the opponent of the mover rolls next. For the opponent's half, features assume that the mover
/// rolls.
pub const INPUTS: [Input; 25] = [
    input("pips", "sum of the point numbers of all checkers; the bar is 25", 167.0, 375.0),
    input(
        "lead",
        "pips the other side has more, as a share of both sides' pips; 0 if it has fewer",
        1.0,
        1.0,
    ),
    input("dance", "rolls that enter no checker from the bar; 0 if none is there", 36.0, 36.0),
    input("blots", "single checkers on points that a checker of the other side has yet to pass", 4.0, 15.0),
    input("shots", "rolls with which the other side can hit, if it is to roll", 36.0, 36.0),
    input("loss", "pips lost to the costliest hit of each roll, averaged over all rolls", 12.0, 24.0),
    input("home", "blocks on points 1 to 6", 6.0, 6.0),
    input(
        "prime",
        "longest run of blocks, at most 6, that the other side's rearmost checker has to pass",
        6.0,
        6.0,
    ),
    input(
        "wall",
        "rolls that do not take a checker of the other side from its bar past the blocks on points 1 to 6",
        36.0,
        36.0,
    ),
    input(
        "escapes",
        "rolls that take the rearmost checker alone past the other side's blocks within 6 points of it; 36 if there is none",
        36.0,
        36.0,
    ),
    input("back", "checkers on points 19 to 24 and the bar", 4.0, 15.0),
    input("held", "checkers behind a run of at least 4 blocks of the other side", 4.0, 15.0),
    input("anchors", "blocks on points 18 to 24", 3.0, 7.0),
    input("anchor", "25 less the lowest of these points; 0 if there is none", 7.0, 7.0),
    input("golden", "1 for a block on point 20 or 21", 1.0, 1.0),
    input(
        "behind",
        "checkers that have not passed the other side's rearmost one, as a share of the side's checkers",
        1.0,
        1.0,
    ),
    input("contact", "pips those checkers need to reach the other side's rearmost checker", 167.0, 375.0),
    input(
        "timing",
        "pips from points 7 to 18 to point 6, and from 2 to 6 to point 1 of checkers above 2",
        100.0,
        180.0,
    ),
    input("stack", "checkers above 3 on points", 6.0, 12.0),
    input("dead", "checkers on points 1 and 2", 6.0, 15.0),
    input("spread", "standard deviation of the point numbers of the checkers that are not off", 12.0, 12.0),
    input("zone", "checkers on points 1 to 12, as a share of the side's checkers", 1.0, 1.0),
    input(
        "mobility",
        "share of pairs of an occupied point (or the bar) and a die that lead to a point without a block",
        1.0,
        1.0,
    ),
    input("gammon", "pips to the first checker off, all others home; 0 if one is off", 167.0, 291.0),
    input("backgammon", "pips that all checkers need to leave points 19 to 25; 0 if one is off", 42.0, 105.0),
];

const fn input(name: &'static str, about: &'static str, unit: f32, most: f32) -> Input {
    Input { name, about, unit, most: most / unit }
}

const UNITS: [f32; INPUTS.len()] = {
    let mut units = [0.0; INPUTS.len()];
    let mut k = 0;
    while k < INPUTS.len() {
        units[k] = INPUTS[k].unit;
        k += 1;
    }
    units
};

static CHANNELS: LazyLock<[Channel; 2]> = LazyLock::new(|| {
    let inputs: Vec<String> =
        INPUTS.iter().map(|i| format!("{} / {}: {}", i.name, i.unit, i.about)).collect();
    let about = format!(
        "25 inputs of the own side, then 25 of the opponent, each in the side's own numbering. {}",
        inputs.join(". ")
    );
    [POINTS, Channel::fixed("expert", ChannelKind::Dense(2 * INPUTS.len()), "").about(about)]
});

impl Encoder<Backgammon> for Expert {
    fn name(&self) -> &str {
        "expert"
    }

    fn channels(&self) -> &[Channel] {
        &*CHANNELS
    }

    fn encode(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>, row: RowMut<'_>) {
        let State { sides, .. } = after.state;
        let position = Position { own: sides[after.player], opponent: sides[1 - after.player] };
        let (points, expert) = row.dense.split_at_mut(2 * SIDE);
        let [own, theirs] = View::both(position);
        let halves = points.chunks_exact_mut(SIDE).zip(expert.as_chunks_mut().0);
        for ((points, expert), (view, other)) in halves.zip([(&own, &theirs), (&theirs, &own)]) {
            write(view.position.own, game.checkers(), points);
            *expert = counts(view, other, game.checkers());
            (0..expert.len()).for_each(|k| expert[k] /= UNITS[k]);
        }
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// Computes [`INPUTS`] for the side of a view; `other` is the opponent's view.
#[inline]
pub(super) fn counts(view: &View, other: &View, checkers: u8) -> [f32; INPUTS.len()] {
    let &View { position: Position { own, opponent }, occupied, blocks, open, .. } = view;
    let (pips, their_pips) = (own.pips(), opponent.pips());
    // Checkers above this place have not passed the opponent's rearmost checker.
    let passed = 25 - opponent.highest();
    let behind = !1 << passed;
    let (mut shots, mut loss) = (0, 0);
    hits(other, |roll, mask| {
        shots += roll.ways() * u32::from(mask != 0);
        // A hit checker on the opponent's point q loses the q pips that it has moved.
        loss += roll.ways() * (31 - (mask | 1).leading_zeros());
    });
    let closed = (other.blocks & HOME).count_ones();
    let anchors = blocks & BACK;
    let blots = occupied & side::POINTS & !blocks & behind;
    let lands = |die: u32| u64::from(occupied >> die & open);
    let two = |die| (lands(die) << 32 | lands(die + 1)).count_ones();
    let pairs = two(1) + two(3) + two(5);
    let share = |count: u32, of: u32| count as f32 / of.max(1) as f32;
    let if_none_off = |count: u32| if own.off() > 0 { 0 } else { count };
    let escaped = if occupied == 0 { 36 } else { escapes(own.highest(), open) };
    let timing = own.up_to(18).pips_above(6) + own.up_to(6).above_two().pips_above(1);
    let lowest = occupied.trailing_zeros().min(6);
    [
        pips as f32,
        share(their_pips.saturating_sub(pips), their_pips + pips),
        if own.on(BAR) > 0 { (closed * closed) as f32 } else { 0.0 },
        blots.count_ones() as f32,
        shots as f32,
        loss as f32 / 36.0,
        (blocks & HOME).count_ones() as f32,
        longest(blocks & behind) as f32,
        (36 - escapes(BAR, other.open)) as f32,
        escaped as f32,
        own.above(18) as f32,
        own.above(run(side::POINTS & !open)) as f32,
        anchors.count_ones() as f32,
        if anchors == 0 { 0.0 } else { 25.0 - anchors.trailing_zeros() as f32 },
        if blocks & (1 << 20 | 1 << 21) == 0 { 0.0 } else { 1.0 },
        share(own.above(passed), checkers.into()),
        own.pips_above(passed) as f32,
        timing as f32,
        own.up_to(24).above_three().above(0) as f32,
        f32::from(own.on(1) + own.on(2)),
        spread(own, occupied, pips, checkers - own.off()),
        share(own.up_to(12).above(0), checkers.into()),
        share(pairs, 6 * occupied.count_ones()),
        if_none_off(own.pips_above(6) + lowest) as f32,
        if_none_off(own.pips_above(18)) as f32,
    ]
}

/// The points 1 to 6.
const HOME: u32 = 0x7E;
/// The points 18 to 24.
const BACK: u32 = 0x7F << 18;

/// Standard deviation of the point numbers of all checkers that are not off. `checkers` is their number.
fn spread(side: Side, occupied: u32, pips: u32, checkers: u8) -> f32 {
    let squares: u32 =
        each(occupied).map(|place| u32::from(side.on(place)) * u32::from(place) * u32::from(place)).sum();
    let count = f32::from(checkers).max(1.0);
    let mean = pips as f32 / count;
    (squares as f32 / count - mean * mean).max(0.0).sqrt()
}

/// The highest place of the lowest run of at least four blocks, which holds checkers above it; 25 if there is no such
/// run.
fn run(blocks: u32) -> u8 {
    let runs = blocks & blocks >> 1 & blocks >> 2 & blocks >> 3;
    if runs == 0 { BAR } else { runs.trailing_zeros() as u8 + 3 }
}

/// Length of the longest run of ones in a mask, at most 6.
fn longest(mask: u32) -> u32 {
    let two = mask & mask >> 1;
    let three = two & mask >> 2;
    let four = two & two >> 2;
    let runs = [mask, two, three, four, four & mask >> 4, four & two >> 4];
    runs.into_iter().map(|starts| u32::from(starts != 0)).sum()
}
