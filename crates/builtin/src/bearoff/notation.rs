//! Move notation: `6/off 5/4`. One checker moved by several dice is `6/1`; equal moves are `2/off(2)`.

use super::{Roll, Side};
use std::collections::BTreeSet;
use std::fmt;

/// The path of one checker, by one die or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hop {
    from: u8,
    /// 0 is off.
    to: u8,
}

impl fmt::Display for Hop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to {
            0 => write!(f, "{}/off", self.from),
            to => write!(f, "{}/{to}", self.from),
        }
    }
}

/// The dice to play.
fn dice(roll: Roll) -> Vec<u8> {
    if roll.is_double() { vec![roll.high(); 4] } else { vec![roll.high(), roll.low()] }
}

/// Whether a checker of `side` on `point` can move by this die: it stays on the board, bears off exactly, or is on the
/// highest point.
fn can_play(side: Side, point: u8, die: u8) -> bool {
    side.on(point) > 0 && (die <= point || point == side.highest())
}

/// The dice without die `i`.
fn without(dice: &[u8], i: usize) -> Vec<u8> {
    [&dice[..i], &dice[i + 1..]].concat()
}

/// The shortest text for a move of this roll from `side` to `after`. None if there is no such move.
pub(super) fn text(side: Side, roll: Roll, after: Side) -> Option<String> {
    let mut ways = BTreeSet::new();
    collect(side, &dice(roll), after, &mut Vec::new(), &mut ways);
    let mut texts = BTreeSet::new();
    ways.into_iter().for_each(|hops| write(hops, &mut texts));
    texts.into_iter().min_by_key(String::len)
}

/// Adds every set of single-die moves, in descending order, that plays the dice from `side` to `after`.
fn collect(side: Side, dice: &[u8], after: Side, played: &mut Vec<Hop>, ways: &mut BTreeSet<Vec<Hop>>) {
    if dice.is_empty() || side.is_empty() {
        if side == after {
            let mut hops = played.clone();
            hops.sort_unstable_by(|a, b| b.cmp(a));
            ways.insert(hops);
        }
        return;
    }
    for (i, &die) in dice.iter().enumerate() {
        if dice[..i].contains(&die) {
            continue;
        }
        for point in (1..=side.highest()).filter(|&point| can_play(side, point, die)) {
            played.push(Hop { from: point, to: point.saturating_sub(die) });
            collect(side.moved(point, die), &without(dice, i), after, played, ways);
            played.pop();
        }
    }
}

/// Adds the text of these moves, and of all variants that join moves of one checker.
fn write(mut hops: Vec<Hop>, texts: &mut BTreeSet<String>) {
    // From the highest point down. On the same point, the longest move first.
    hops.sort_unstable_by_key(|hop| (std::cmp::Reverse(hop.from), hop.to));
    let words = hops.chunk_by(|a, b| a == b).map(|equal| match equal.len() {
        1 => equal[0].to_string(),
        n => format!("{}({n})", equal[0]),
    });
    texts.insert(words.collect::<Vec<_>>().join(" "));
    for (i, first) in hops.iter().enumerate() {
        for (k, second) in hops.iter().enumerate() {
            if first.to > 0 && first.to == second.from {
                let mut joined = hops.clone();
                joined[i].to = second.to;
                joined.remove(k);
                write(joined, texts);
            }
        }
    }
}

/// The side after a move, which is written checker by checker in any order.
///
/// # Errors
/// Why the text is not a legal move for this roll.
pub(super) fn parse(side: Side, roll: Roll, text: &str) -> Result<Side, String> {
    let hops = read(text)?;
    match played(side, &dice(roll), &hops) {
        Some((after, left)) if left.is_empty() => Ok(after),
        Some((_, left)) => Err(match left[..] {
            [die] => format!("one more move is needed, a {die}"),
            _ => format!("{} more moves are needed, each a {}", left.len(), roll.high()),
        }),
        None => Err(reason(side, roll, &hops)),
    }
}

/// Reads `6/off 5/4`, with `6/5/off` for two moves of one checker and `2/off(2)` for two equal ones.
fn read(text: &str) -> Result<Vec<Hop>, String> {
    let mut hops = Vec::new();
    for word in text.split_whitespace() {
        let fault = || {
            format!(
                "`{word}` is not a checker move; write moves such as 6/off 5/4, or the side after the move \
                 such as 0,1,2,0,0,0"
            )
        };
        let (way, times) = match word.strip_suffix(')').and_then(|w| w.split_once('(')) {
            Some((way, times)) => {
                (way, times.parse().ok().filter(|n| (1..=4).contains(n)).ok_or_else(fault)?)
            }
            None => (word, 1),
        };
        let points: Option<Vec<u8>> = way.split('/').map(point).collect();
        let points = points.filter(|p| p.len() > 1).ok_or_else(fault)?;
        for pair in points.windows(2) {
            let hop = Hop { from: pair[0], to: pair[1] };
            if hop.from <= hop.to {
                return Err(format!("`{word}`: checkers move to lower points"));
            }
            hops.extend([hop].repeat(times));
        }
    }
    match hops.len() {
        0 => Err("the move is empty; write moves such as 6/off 5/4".into()),
        1..=4 => Ok(hops),
        n => Err(format!("{n} moves; no roll gives more than 4")),
    }
}

/// A point; 0 is off.
fn point(text: &str) -> Option<u8> {
    match text {
        "off" | "Off" | "OFF" | "0" => Some(0),
        _ => text.parse().ok().filter(|point| (1..=6).contains(point)),
    }
}

/// The side after these moves in some order, each by one die or several, and the smallest number of remaining dice.
/// None if the moves cannot all be played. An empty side has no remaining dice.
fn played(side: Side, dice: &[u8], hops: &[Hop]) -> Option<(Side, Vec<u8>)> {
    if hops.is_empty() {
        return Some((side, if side.is_empty() { Vec::new() } else { dice.to_vec() }));
    }
    let mut best: Option<(Side, Vec<u8>)> = None;
    for (i, &die) in dice.iter().enumerate() {
        for (k, hop) in hops.iter().enumerate() {
            let to = hop.from.saturating_sub(die);
            if to < hop.to || !can_play(side, hop.from, die) {
                continue;
            }
            let mut rest = hops.to_vec();
            if to > hop.to {
                rest[k].from = to;
            } else {
                rest.remove(k);
            }
            let other = played(side.moved(hop.from, die), &without(dice, i), &rest);
            best = [best, other].into_iter().flatten().min_by_key(|(_, left)| left.len());
        }
    }
    best
}

/// Why the moves cannot all be played.
fn reason(side: Side, roll: Roll, hops: &[Hop]) -> String {
    for hop in hops {
        let arriving = hops.iter().filter(|other| other.to == hop.from).count();
        let leaving = hops.iter().filter(|other| other.from == hop.from).count();
        match usize::from(side.on(hop.from)) + arriving {
            0 => return format!("`{hop}`: no checker on point {}", hop.from),
            n if n < leaving => {
                return format!("`{hop}`: fewer than {leaving} checkers on point {}", hop.from);
            }
            _ => {}
        }
    }
    let moves = dice(roll).len();
    if hops.len() > moves {
        return format!("{} moves given, but {roll} gives {moves}", hops.len());
    }
    let alone = |hop: &&Hop| side.on(hop.from) > 0 && played(side, &dice(roll), &[**hop]).is_none();
    match hops.iter().find(alone) {
        Some(hop) if hop.to == 0 && roll.high() > hop.from && side.highest() > hop.from => format!(
            "`{hop}`: a die above the point bears off only from the highest point, which is {}",
            side.highest()
        ),
        Some(hop) => format!("`{hop}` cannot be played with {roll}"),
        None => format!("these moves cannot be played together with {roll}"),
    }
}
