//! Positions: two sides on one board, one of them to roll.

use super::side::Side;
use super::{ids, ids::Ids};
use crate::dice::Roll;
use adept_game::GameError;
use std::fmt;

/// A position: the side to roll or to move, and its opponent, each with its own numbering of the points. Own point p is the
/// opponent's point 25 − p.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The side to roll or to move.
    pub own: Side,
    /// The other side.
    pub opponent: Side,
}

/// Size of a win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Win {
    /// The loser has borne off a checker: one point.
    Single,
    /// The loser has borne off none: two points.
    Gammon,
    /// The loser has also a checker on the bar or in the winner's home board: three points.
    Backgammon,
}

impl Win {
    /// All sizes, the smallest first.
    pub const ALL: [Self; 3] = [Self::Single, Self::Gammon, Self::Backgammon];

    /// Points won.
    pub fn points(self) -> u8 {
        self as u8 + 1
    }
}

/// Phases of a game, as in GNU Backgammon 1.08.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// All checkers of both sides are home.
    Bearoff,
    /// The sides have passed each other, and a checker is outside its home.
    Race,
    /// Contact, where a side has few checkers outside its ace and deuce points.
    Crashed,
    /// All other positions.
    Contact,
}

impl Position {
    /// A side that has borne off 15 checkers.
    const OFF: Side = Side::all_off(15);

    /// The start position with 15 checkers a side, or with 1 to 5: one each on the points from 24 down.
    pub fn start(checkers: u8) -> Self {
        let mut places = [0; 26];
        match checkers {
            15 => [(24, 2), (13, 5), (8, 3), (6, 5)].into_iter().for_each(|(place, n)| places[place] = n),
            _ => (0..usize::from(checkers)).for_each(|k| places[24 - k] = 1),
        }
        let side = Side::new(places);
        Self { own: side, opponent: side }
    }

    /// A position without contact: the opponent has borne off, and this side has these checkers on its points 1 to 6.
    pub(crate) fn bearing_off(counts: [u8; 6]) -> Self {
        let mut places = [0; 26];
        places[0] = 15 - counts.iter().sum::<u8>();
        places[1..=6].copy_from_slice(&counts);
        Self { own: Side::new(places), opponent: Position::OFF }
    }

    /// The same board with the other side to roll.
    #[must_use]
    pub fn swapped(self) -> Self {
        Self { own: self.opponent, opponent: self.own }
    }

    /// Whether a side has borne off all its checkers.
    #[inline]
    pub fn is_over(self) -> bool {
        self.own.is_done() || self.opponent.is_done()
    }

    /// Size of the win if `loser` has the remaining checkers.
    pub fn result(loser: Side) -> Win {
        match loser {
            _ if loser.off() > 0 => Win::Single,
            _ if loser.reaches(19) => Win::Backgammon,
            _ => Win::Gammon,
        }
    }

    /// Whether a checker of one side still has to pass one of the other.
    #[inline]
    pub fn has_contact(self) -> bool {
        self.own.highest() + self.opponent.highest() > 24
    }

    /// The phase of the game.
    pub fn phase(self) -> Phase {
        match self {
            _ if self.has_contact() && (crashed(self.own) || crashed(self.opponent)) => Phase::Crashed,
            _ if self.has_contact() => Phase::Contact,
            _ if self.own.reaches(7) || self.opponent.reaches(7) => Phase::Race,
            _ => Phase::Bearoff,
        }
    }

    /// Meaning of the numbers of [`class`](Self::class).
    pub const CLASSES: &str = "phase: 0 bear-off, 1 race, 2 crashed, 3 contact, 4 back game";

    /// The class number: that of the phase, or of back games, which are contact.
    #[inline]
    pub fn class(self) -> u64 {
        match self.phase() {
            Phase::Contact if self.holds_deep() => 4,
            phase => phase as u64,
        }
    }

    /// Whether a side plays a back game: contact, not crashed, and a side that trails in the race holds two points in
    /// the opponent's home.
    pub fn is_back_game(self) -> bool {
        self.phase() == Phase::Contact && self.holds_deep()
    }

    /// Whether a side that trails in the race holds two points in the opponent's home.
    fn holds_deep(self) -> bool {
        let deep = |side: Side| (side.blocks() & 0x3F << 19).count_ones() > 1;
        let holds = |side: Side, other: Side| deep(side) && side.pips() > other.pips();
        holds(self.own, self.opponent) || holds(self.opponent, self.own)
    }

    /// The gnubg Position ID, 14 characters, such as `4HPwATDgc/ABMA` for the start.
    pub fn id(self) -> String {
        let [own, opponent] = [self.own, self.opponent].map(whole);
        ids::position_id(&own, &opponent)
    }

    /// The XGID of a money game with a centred cube. The side to roll has the capital letters.
    pub fn xgid(self, roll: Option<Roll>) -> String {
        let [own, opponent] = [self.own, self.opponent].map(whole);
        ids::xgid(&own, &opponent, roll)
    }

    /// Why these sides are not a position with this many checkers a side.
    pub fn check(self, checkers: u8) -> Result<(), String> {
        for (name, side) in [("the side to roll", self.own), ("the other side", self.opponent)] {
            let found = side.checkers();
            if found != checkers {
                return Err(format!("{name} has {found} checkers instead of {checkers}"));
            }
        }
        if let Some(point) = (1..=24).find(|&p| self.own.on(p) > 0 && self.opponent.on(25 - p) > 0) {
            return Err(format!("both sides stand on point {point} of the side to roll"));
        }
        if self.own.is_done() && self.opponent.is_done() {
            return Err("both sides have borne off all checkers".into());
        }
        Ok(())
    }

    /// Reads places and checkers of both sides, a Position ID or an XGID, with an optional roll after it.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub(super) fn parse(text: &str, checkers: u8) -> Result<(Self, Option<Roll>), GameError> {
        Self::parse_as(text, checkers, false)
    }

    /// As [`parse`](Self::parse), where an ID may be that of a position that waits for an answer to a double.
    ///
    /// # Errors
    /// What was found and what was expected.
    pub(super) fn parse_waiting(text: &str, checkers: u8) -> Result<(Self, Option<Roll>), GameError> {
        Self::parse_as(text, checkers, true)
    }

    /// Whether a text begins with a place and its checkers, as no ID does.
    pub(super) fn lists_places(text: &str) -> bool {
        let first = text.trim().split(|c: char| c == '/' || c.is_whitespace()).next().unwrap_or("");
        let is_place = |name: &str| matches!(name, "off" | "bar") || name.parse::<u8>().is_ok();
        first.split_once(':').is_some_and(|(name, _)| is_place(name))
    }

    fn parse_as(text: &str, checkers: u8, answers: bool) -> Result<(Self, Option<Roll>), GameError> {
        let text = text.trim();
        if !Self::lists_places(text)
            && let Some(read) = reader(checkers, answers).read(text)
        {
            return read.map(|([own, opponent], roll)| (Self { own, opponent }, roll));
        }
        let fault = |what: &str| {
            GameError::new(format!(
                "`{text}` is not a position: {what}; write place:checkers of the side to roll, `/`, the same of its opponent, and \
                 the roll if a move comes next, such as 24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31; or a gnubg Position ID or an XGID"
            ))
        };
        let (own, rest) = text.split_once('/').ok_or_else(|| fault("there is no `/` between two sides"))?;
        let (opponent, roll) = match rest.trim().rsplit_once(char::is_whitespace) {
            Some((opponent, last)) if !last.contains(':') => (opponent, Some(last)),
            _ => (rest, None),
        };
        let [own, opponent] = [own, opponent].map(|words| read_side(words, checkers));
        let position = Self { own: own.map_err(|e| fault(&e))?, opponent: opponent.map_err(|e| fault(&e))? };
        Ok((position, roll.map(str::parse).transpose()?))
    }
}

/// Whether a side has at most six checkers left to play: GNU Backgammon's `CLASS_CRASHED`.
fn crashed(side: Side) -> bool {
    let (total, ace, deuce) = (side.checkers() - side.off(), side.on(1), side.on(2));
    match total {
        0..=6 => true,
        _ if ace > 1 => total <= 6 + ace || (deuce > 1 && 1 + total - ace - deuce <= 6),
        _ => total <= 5 + deuce,
    }
}

/// The checkers on the points 1 to 24 and the bar.
pub(super) fn whole(side: Side) -> ids::Board {
    let places = side.places();
    std::array::from_fn(|k| places[k + 1])
}

/// An ID parser for positions with this many checkers a side, which may wait for an answer to a double.
fn reader(checkers: u8, answers: bool) -> Ids<impl Fn(&ids::Board, &str) -> Result<Side, String>> {
    Ids {
        answers,
        of: "a position of this game",
        id: "4HPwATDgc/ABMA",
        xgid: "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10",
        side: move |board: &ids::Board, name: &str| {
            let total: u32 = board.iter().map(|&count| u32::from(count)).sum();
            if total > u32::from(checkers) {
                return Err(format!("{name} has {total} checkers; at most {checkers} are allowed"));
            }
            let mut places = [0; 26];
            places[0] = checkers - total as u8;
            places[1..].copy_from_slice(board);
            Ok(Side::new(places))
        },
    }
}

/// Parses a place with its checkers, such as `24:2`, `bar:1`, `off:3`.
fn place(word: &str) -> Option<(usize, u8)> {
    let (place, count) = word.split_once(':')?;
    let place = match place {
        "off" => 0,
        "bar" => usize::from(super::BAR),
        _ => place.parse().ok().filter(|point| (1..=24).contains(point))?,
    };
    // Empty points are omitted; only `off:0` may state zero.
    let least = u8::from(place > 0);
    Some((place, count.parse().ok().filter(|count| (least..16).contains(count))?))
}

/// Parses a side from its places. Checkers that are not listed have been borne off.
fn read_side(text: &str, checkers: u8) -> Result<Side, String> {
    let (mut places, mut named_off) = ([0; 26], None);
    for word in text.split_whitespace() {
        let (place, count) = place(word).ok_or_else(|| {
            format!("`{word}` is not a place with its checkers, such as 24:2, bar:1 or off:3")
        })?;
        if places[place] > 0 || (place == 0 && named_off.is_some()) {
            return Err(format!("`{word}` names its place a second time"));
        }
        match place {
            0 => named_off = Some(count),
            _ => places[place] = count,
        }
    }
    let total: u32 = places.iter().map(|&count| u32::from(count)).sum();
    let off = u32::from(checkers)
        .checked_sub(total)
        .ok_or_else(|| format!("`{}` are {total} checkers; a side has {checkers}", text.trim()))?;
    if named_off.is_some_and(|named| u32::from(named) != off) {
        return Err(format!("`{}`: {off} of {checkers} checkers are off", text.trim()));
    }
    places[0] = off as u8;
    Ok(Side::new(places))
}

impl fmt::Display for Position {
    /// Places and checkers of the side to roll, then of its opponent: `24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.own, self.opponent)
    }
}
