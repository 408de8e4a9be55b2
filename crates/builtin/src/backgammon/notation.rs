//! Move notation: `24/18 13/11*`. One checker moved by several dice is `24/18/16`, or `24/16` if it hits nothing on its
//! path; equal moves are `8/5(2)`.

use super::moves::{self, Step};
use super::{BAR, Position};
use crate::dice::Roll;
use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;

/// Largest number of moves of a roll.
const MOST: usize = 4;

/// The path of one checker: the places that it leaves or comes to, each with whether it hits there.
#[derive(Clone, Copy, Debug)]
struct CheckerPath {
    places: [(u8, bool); MOST + 1],
    len: usize,
}

impl CheckerPath {
    fn from_step(step: &Step) -> Self {
        let mut places = [(0, false); MOST + 1];
        (places[0], places[1]) = ((step.from, false), (step.to, step.hits));
        Self { places, len: 2 }
    }

    fn places(&self) -> &[(u8, bool)] {
        &self.places[..self.len]
    }

    fn from(&self) -> u8 {
        self.places[0].0
    }

    fn to(&self) -> u8 {
        self.places[self.len - 1].0
    }

    fn hits(&self) -> usize {
        self.places().iter().filter(|(_, hits)| *hits).count()
    }

    /// This path continued by another one.
    fn joined(mut self, next: &Self) -> Self {
        for place in &next.places()[1..] {
            self.places[self.len] = *place;
            self.len += 1;
        }
        self
    }

    fn write(&self, text: &mut String) {
        for (i, &(place, hits)) in self.places().iter().enumerate() {
            // Intermediate places matter only if the checker hits there.
            if i > 0 && i + 1 < self.len && !hits {
                continue;
            }
            if i > 0 {
                text.push('/');
            }
            push_place(place, text);
            if hits {
                text.push('*');
            }
        }
    }
}

fn push_place(place: u8, text: &mut String) {
    match place {
        0 => text.push_str("off"),
        BAR => text.push_str("bar"),
        point => {
            if point > 9 {
                text.push(char::from(b'0' + point / 10));
            }
            text.push(char::from(b'0' + point % 10));
        }
    }
}

/// Expands a roll to the dice to play.
fn dice(roll: Roll) -> Vec<u8> {
    if roll.is_double() { vec![roll.high(); MOST] } else { vec![roll.high(), roll.low()] }
}

/// The dice without die `i`.
fn without(dice: &[u8], i: usize) -> Vec<u8> {
    [&dice[..i], &dice[i + 1..]].concat()
}

/// Moves of a play, from the highest place down.
type Play = Vec<Step>;

/// The plays of a roll, up to order, by resulting position.
struct Plays {
    /// The positions, sorted.
    afters: Vec<Position>,
    plays: Vec<Vec<Play>>,
}

impl Plays {
    /// Collects the plays that lead to these positions.
    fn leading_to(position: Position, roll: Roll, afters: &[Position]) -> Self {
        let mut sorted = afters.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut plays = Self { plays: vec![Vec::new(); sorted.len()], afters: sorted };
        let (high, low) = (roll.high(), roll.low());
        match roll.is_double() {
            true => plays.collect(position, &[high; MOST], true, &mut Vec::with_capacity(MOST)),
            false => [[high, low], [low, high]]
                .iter()
                .for_each(|dice| plays.collect(position, dice, false, &mut Vec::with_capacity(MOST))),
        }
        plays
    }

    /// Adds the plays of these dice in this order, after the moves in `played`.
    fn collect(&mut self, position: Position, dice: &[u8], is_double: bool, played: &mut Play) {
        if let (false, Ok(place)) = (played.is_empty(), self.afters.binary_search(&position)) {
            let mut steps = played.clone();
            steps.sort_unstable_by_key(|s| (Reverse(s.from), s.to, Reverse(s.hits)));
            let alike = |a: &Step, b: &Step| (a.from, a.to, a.hits) == (b.from, b.to, b.hits);
            let known =
                |play: &Play| play.len() == steps.len() && play.iter().zip(&steps).all(|(a, b)| alike(a, b));
            if !self.plays[place].iter().any(known) {
                self.plays[place].push(steps);
            }
        }
        let Some((&die, rest)) = dice.split_first() else { return };
        // Checkers only move down, and sides compare by their highest place first.
        if self.afters.first().is_none_or(|least| position.own <= least.own) {
            return;
        }
        for step in moves::steps(position, die) {
            // Doubles: checkers from the highest place first.
            if !is_double || played.last().is_none_or(|last| step.from <= last.from) {
                played.push(step);
                self.collect(step.after, rest, is_double, played);
                played.pop();
            }
        }
    }

    fn get(&self, after: Position) -> &[Play] {
        self.afters.binary_search(&after).map_or(&[], |place| &self.plays[place])
    }
}

/// The shortest text for the move of this roll to each of these positions; `pass` if nothing moves. None if no move leads there.
pub(crate) fn texts(position: Position, roll: Roll, afters: &[Position]) -> Vec<Option<String>> {
    let plays = Plays::leading_to(position, roll, afters);
    let mut text = String::new();
    let one = |after: &Position| {
        if *after == position {
            return Some("pass".into());
        }
        let mut best = String::new();
        for play in plays.get(*after) {
            let mut paths = [CheckerPath::from_step(&play[0]); MOST];
            paths.iter_mut().zip(play).for_each(|(path, step)| *path = CheckerPath::from_step(step));
            write(&mut paths[..play.len()], &mut best, &mut text);
        }
        (!best.is_empty()).then_some(best)
    };
    afters.iter().map(one).collect()
}

/// The same for one position.
pub(crate) fn text(position: Position, roll: Roll, after: Position) -> Option<String> {
    texts(position, roll, &[after]).pop().flatten()
}

/// The moves by single die from `position` to each of these positions: from and to, 25 is the bar and 0 off. Empty if
/// nothing moves or no play leads there.
pub fn parts(position: Position, roll: Roll, afters: &[Position]) -> Vec<Vec<(u8, u8)>> {
    let plays = Plays::leading_to(position, roll, afters);
    let one = |after: &Position| {
        let known = if *after == position { &[] } else { plays.get(*after) };
        // One die may reach a position where both must be played: 3/off is 3/1 1/off if another checker stays on 1.
        let dice = known.iter().map(Vec::len).max().unwrap_or(0);
        let whole = known.iter().filter(|play| play.len() == dice).min();
        whole.into_iter().flatten().map(|step| (step.from, step.to)).collect()
    };
    afters.iter().map(one).collect()
}

/// The moves to `after` by single die, such as `24/18 18/16`; empty if nothing moves or no play leads there.
pub fn die_by_die(position: Position, roll: Roll, after: Position) -> String {
    let parts = parts(position, roll, &[after]).pop().unwrap_or_default();
    let words: Vec<String> =
        parts.into_iter().map(|(from, to)| WrittenMove { from, to }.to_string()).collect();
    words.join(" ")
}

/// Sets `best` to the text of these moves, or of a variant that joins moves of one checker, if shorter.
fn write(paths: &mut [CheckerPath], best: &mut String, text: &mut String) {
    // From the highest point down. From the same point, the longest move first, then the one that hits.
    paths.sort_by_key(|path| (Reverse(path.from()), path.to(), Reverse(path.hits())));
    let alike = |a: &CheckerPath, b: &CheckerPath| {
        (a.from(), a.to()) == (b.from(), b.to())
            && b.hits() == 0
            && a.hits() == usize::from(a.places[a.len - 1].1)
    };
    text.clear();
    for equal in paths.chunk_by(alike) {
        if !text.is_empty() {
            text.push(' ');
        }
        equal[0].write(text);
        if equal.len() > 1 {
            text.push('(');
            text.push(char::from(b'0' + equal.len() as u8));
            text.push(')');
        }
    }
    if best.is_empty() || (text.len(), text.as_str()) < (best.len(), best.as_str()) {
        best.clone_from(text);
    }
    for (i, first) in paths.iter().enumerate() {
        for (k, second) in paths.iter().enumerate() {
            if first.to() > 0 && first.to() == second.from() {
                let mut joined = [*first; MOST];
                let mut count = 0;
                for (j, path) in paths.iter().enumerate().filter(|(j, _)| *j != k) {
                    joined[count] = if j == i { first.joined(second) } else { *path };
                    count += 1;
                }
                write(&mut joined[..count], best, text);
            }
        }
    }
}

/// A place in move notation.
pub(super) fn place_text(place: u8) -> Cow<'static, str> {
    match place {
        0 => "off".into(),
        BAR => "bar".into(),
        point => point.to_string().into(),
    }
}

/// A parsed step of a move text: a checker goes from one place to another, by one die or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WrittenMove {
    from: u8,
    to: u8,
}

impl fmt::Display for WrittenMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", place_text(self.from), place_text(self.to))
    }
}

/// Parses a move written checker by checker in any order and returns the position after it. `examples` are moves for
/// messages.
///
/// # Errors
/// Why the text is not a legal move for this roll.
pub(crate) fn parse(position: Position, roll: Roll, text: &str, examples: &str) -> Result<Position, String> {
    let mut legal = Vec::new();
    moves::results(position, roll, &mut legal);
    let passes = legal[..] == [position];
    if matches!(text, "pass" | "cannot move") {
        return match passes {
            true => Ok(position),
            false => Err("something can move, so that passing is not allowed".into()),
        };
    }
    if passes {
        return Err(format!("nothing can move with {roll}: write `pass`"));
    }
    let (parts, stars) = read(text, examples)?;
    let mut found = Vec::new();
    play(position, &dice(roll), &parts, 0, &mut found);
    let Some(least) = found.iter().map(|(_, left, _)| left.len()).min() else {
        return Err(reason(position, roll, &parts));
    };
    let mut fitting: Vec<_> = found.iter().filter(|(after, ..)| legal.contains(after)).collect();
    if fitting.is_empty() {
        let left = found.into_iter().find(|(_, left, _)| left.len() == least).map(|(_, left, _)| left);
        return Err(match left.as_deref() {
            Some([die]) if roll.is_double() || moves::both(position, roll) => {
                format!("one more move is needed, a {die}")
            }
            Some([_]) => format!("only one die can be played: it must be the {}", roll.high()),
            Some(left) => format!("{} more moves are needed, each a {}", left.len(), roll.high()),
            None => format!("`{text}` is not a legal move with {roll}"),
        });
    }
    // A checker that moves by both dice may hit on one of its two paths.
    let hits = fitting.iter().map(|(.., hits)| *hits);
    let meant = if hits.clone().any(|n| n == stars) { stars } else { hits.min().unwrap_or(0) };
    fitting.retain(|(.., hits)| *hits == meant);
    if stars > meant {
        return Err(format!("`{text}` hits {meant} and not {stars} checkers"));
    }
    match fitting.iter().all(|(after, ..)| *after == fitting[0].0) {
        true => Ok(fitting[0].0),
        false => Err(format!(
            "`{text}` can be played in several ways: name the points in between, such as 24/20/18"
        )),
    }
}

/// Splits a text into steps and counts its stars.
fn read(text: &str, examples: &str) -> Result<(Vec<WrittenMove>, usize), String> {
    let (mut parts, mut stars) = (Vec::new(), 0);
    for word in text.split_whitespace() {
        let fault = || format!("`{word}` is not a checker move; write moves such as {examples}");
        let (path, times) = match word.strip_suffix(')').and_then(|w| w.split_once('(')) {
            Some((path, times)) => {
                (path, times.parse().ok().filter(|n| (1..=4).contains(n)).ok_or_else(fault)?)
            }
            None => (word, 1),
        };
        stars += path.matches('*').count();
        let places: Option<Vec<u8>> =
            path.split('/').map(|place| read_place(place.trim_end_matches('*'))).collect();
        let places = places.filter(|p| p.len() > 1).ok_or_else(fault)?;
        for pair in places.windows(2) {
            let part = WrittenMove { from: pair[0], to: pair[1] };
            if part.from <= part.to {
                return Err(format!("`{word}`: checkers move to lower points"));
            }
            parts.extend([part].repeat(times));
        }
    }
    match parts.len() {
        0 => Err(format!("the move is empty; write moves such as {examples}")),
        1..=4 => Ok((parts, stars)),
        n => Err(format!("{n} moves; no roll gives more than 4")),
    }
}

/// A place; 0 is off.
fn read_place(text: &str) -> Option<u8> {
    match text.to_ascii_lowercase().as_str() {
        "off" | "0" => Some(0),
        "bar" | "25" => Some(BAR),
        _ => text.parse().ok().filter(|point| (1..=24).contains(point)),
    }
}

/// Adds the position, the remaining dice and the number of hits of each order of playing these steps.
fn play(
    position: Position,
    dice: &[u8],
    parts: &[WrittenMove],
    hits: usize,
    found: &mut Vec<(Position, Vec<u8>, usize)>,
) {
    if parts.is_empty() {
        let left = if position.own.is_done() { Vec::new() } else { dice.to_vec() };
        let result = (position, left, hits);
        if !found.contains(&result) {
            found.push(result);
        }
        return;
    }
    for (i, &die) in dice.iter().enumerate().filter(|(i, die)| !dice[..*i].contains(die)) {
        for (k, part) in parts.iter().enumerate().filter(|(k, part)| !parts[..*k].contains(part)) {
            let Some(step) =
                moves::steps(position, die).find(|step| step.from == part.from && step.to >= part.to)
            else {
                continue;
            };
            let mut rest = parts.to_vec();
            match step.to > part.to {
                true => rest[k].from = step.to,
                false => drop(rest.remove(k)),
            }
            play(step.after, &without(dice, i), &rest, hits + usize::from(step.hits), found);
        }
    }
}

/// Why the steps cannot all be played.
fn reason(position: Position, roll: Roll, parts: &[WrittenMove]) -> String {
    let own = position.own;
    for part in parts {
        let arriving = parts.iter().filter(|other| other.to == part.from).count();
        let leaving = parts.iter().filter(|other| other.from == part.from).count();
        match usize::from(own.on(part.from)) + arriving {
            0 => return format!("`{part}`: no checker on {}", on(part.from)),
            n if n < leaving => {
                return format!("`{part}`: fewer than {leaving} checkers on {}", on(part.from));
            }
            _ => {}
        }
    }
    let moves = dice(roll).len();
    if parts.len() > moves {
        return format!("{} moves given, but {roll} gives {moves}", parts.len());
    }
    if own.on(BAR) > 0 && parts.iter().all(|part| part.from != BAR) {
        return "a checker on the bar must enter first, such as bar/22".into();
    }
    let alone = |part: &&WrittenMove| {
        let mut found = Vec::new();
        play(position, &dice(roll), &[**part], 0, &mut found);
        own.on(part.from) > 0 && found.is_empty()
    };
    match parts.iter().find(alone) {
        Some(part) if part.to > 0 && position.opponent.on(25 - part.to) > 1 => {
            format!("`{part}`: the opponent blocks point {}", part.to)
        }
        Some(part) if part.to == 0 && own.reaches(7) => {
            format!("`{part}`: bearing off takes all checkers on points 1 to 6")
        }
        Some(part) if part.to == 0 && roll.high() > part.from && own.highest() > part.from => format!(
            "`{part}`: a die above the point bears off only from the highest point, which is {}",
            own.highest()
        ),
        Some(part) => format!("`{part}` cannot be played with {roll}"),
        None => format!("these moves cannot be played together with {roll}"),
    }
}

fn on(place: u8) -> String {
    if place == BAR { "the bar".into() } else { format!("point {place}") }
}
