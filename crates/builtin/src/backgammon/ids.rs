//! Position IDs (GNU Backgammon) and XGIDs (eXtreme Gammon) of complete boards.
//!
//! The dice of an XGID or a Match ID are the roll to play. [`MatchState`] holds their cube, score and rules, which
//! positions of games without the cube ignore.

use super::cube::{CubeOwner, Scoring, Terms};
use crate::dice::Roll;
use adept_game::GameError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;

/// Points of a complete board. Index 24 is the bar.
const BOARD: usize = 24;

/// Checkers of a side on its points 1 to 24 and the bar.
pub(crate) type Board = [u8; BOARD + 1];

/// Characters of a Position ID: 80 bits in Base64.
const ID_LENGTH: usize = 14;

/// Characters of a gnubg Match ID, which can follow a Position ID after a colon.
const MATCH_LENGTH: usize = 12;

/// Largest number of doublings of a cube.
const MOST_DOUBLINGS: i32 = 30;

/// Colons of an XGID, one before each field after the board.
const XGID_COLONS: usize = 9;

/// The gnubg Position ID, 14 characters. The opponent of the side to roll comes first.
///
/// Each of the points 1 to 24 and the bar has a one for each checker, then a zero. Zeros fill the bits up to 80.
/// The 10 bytes, lowest bit first, are written in Base64. See the GNU Backgammon manual, "A technical description
/// of the Position ID". Its text puts the side to roll first, but the program does not.
pub(crate) fn position_id(own: &Board, opponent: &Board) -> String {
    let (mut bits, mut place) = (0u128, 0);
    for count in opponent.iter().chain(own) {
        bits |= ((1 << count) - 1) << place;
        place += u32::from(*count) + 1;
    }
    STANDARD_NO_PAD.encode(&bits.to_le_bytes()[..10])
}

/// The XGID of a money game with a centred cube. The side to roll has the capital letters. The dice are the roll, or 00
/// before it.
pub(crate) fn xgid(own: &Board, opponent: &Board, roll: Option<Roll>) -> String {
    MatchState { roll, ..MatchState::default() }.xgid(own, opponent)
}

/// Match information of an XGID or Match ID besides board and dice. Player 0 is gnubg's player 0 and the player with
/// the capital letters of an XGID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchState {
    /// Points of the match; 0 in a money game.
    pub length: u32,
    /// Points that each player has won.
    pub scores: [u32; 2],
    /// The player to roll or to move.
    pub turn: usize,
    /// Value of the cube, a power of 2.
    pub cube: u32,
    /// The player who owns the cube; none if it is centred.
    pub owner: Option<usize>,
    /// Whether this is the Crawford game of the match, in which nobody doubles.
    pub crawford: bool,
    /// Whether the Jacoby rule of money games holds.
    pub jacoby: bool,
    /// Whether beavers are allowed in a money game; none in Match IDs, which do not tell.
    pub beavers: Option<bool>,
    /// The roll to play; none before it.
    pub roll: Option<Roll>,
    /// What waits for an answer, if anything.
    pub offer: Option<Offer>,
}

/// An offer that waits for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// The player to roll has doubled. The cube is the one before it.
    Double,
    /// The opponent has taken the double and turned the cube once more. The cube is the double's, and the opponent owns it.
    Beaver,
    /// The player to roll has taken the beaver and turned the cube once more. The cube is the beaver's, and the opponent owns it.
    Raccoon,
    /// A player gives the game up.
    Resignation {
        /// The player who gives up.
        by: usize,
        /// Size of the loss: 1, 2 for a gammon, 3 for a backgammon.
        points: u8,
    },
}

impl Offer {
    /// How often the cube was turned in this turn before the offer.
    fn turned(self) -> u32 {
        match self {
            Self::Beaver => 1,
            Self::Raccoon => 2,
            Self::Double | Self::Resignation { .. } => 0,
        }
    }

    /// The player who answers the offer made in the turn of this player.
    fn answered_by(self, turn: usize) -> usize {
        match self {
            Self::Double | Self::Raccoon => 1 - turn,
            Self::Beaver => turn,
            Self::Resignation { by, .. } => 1 - by,
        }
    }
}

impl Default for MatchState {
    /// A money game without the Jacoby rule, with the cube in the middle.
    fn default() -> Self {
        Self {
            length: 0,
            scores: [0; 2],
            turn: 0,
            cube: 1,
            owner: None,
            crawford: false,
            jacoby: false,
            beavers: None,
            roll: None,
            offer: None,
        }
    }
}

impl MatchState {
    /// The cube and the score, seen by the player to roll.
    pub fn terms(&self) -> Terms {
        let owner = match self.owner {
            None => CubeOwner::Centred,
            Some(owner) if owner == self.turn => CubeOwner::Own,
            Some(_) => CubeOwner::Theirs,
        };
        let needed = |player: usize| self.length.saturating_sub(self.scores[player]).max(1);
        let scoring = match self.length {
            0 => Scoring::Money { jacoby: self.jacoby },
            _ => Scoring::Match { away: [needed(self.turn), needed(1 - self.turn)], crawford: self.crawford },
        };
        Terms { cube: self.cube, owner, scoring }
    }

    /// Reads an XGID, or the Match ID after a Position ID. None for a Position ID alone.
    ///
    /// # Errors
    /// A missing or impossible field.
    pub fn parse(text: &str) -> Result<Option<Self>, GameError> {
        let state = Self::parse_finished(text)?;
        if let Some(Self { length, scores, .. }) = state
            && let Some(score) = scores.iter().find(|score| length > 0 && **score >= length)
        {
            let what = format!("a score of {score} ends a match to {length} points");
            return Err(GameError::new(format!("`{text}`: {what}")));
        }
        Ok(state)
    }

    /// As [`parse`](Self::parse), where a score may be the one that ends the match.
    ///
    /// # Errors
    /// A missing or impossible field.
    pub(super) fn parse_finished(text: &str) -> Result<Option<Self>, GameError> {
        let unlabelled = without_label(text);
        let found = match unlabelled.matches(':').count() {
            XGID_COLONS => Self::of_xgid(unlabelled),
            0 | 1 => {
                let is_gap = |c: char| c == ':' || c.is_whitespace();
                let beside = unlabelled.split_once(is_gap).map_or("", |(_, beside)| beside);
                let beside = after_label(beside.trim_start_matches(is_gap), &MATCH_LABELS);
                match beside.split(is_gap).next() {
                    Some(id) if id.len() == MATCH_LENGTH => Self::of_match_id(id),
                    // Only dice follow the ID.
                    _ => return Ok(None),
                }
            }
            _ => Err("it is neither an XGID nor a Position ID with a Match ID".into()),
        };
        found.map(Some).map_err(|what| GameError::new(format!("`{text}`: {what}")))
    }

    fn of_xgid(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.split(':').collect();
        let field = |place: usize, what: &str, most: i32| {
            let number = fields[place].parse::<i32>().ok().filter(|n| (-1..=most).contains(n));
            number.ok_or_else(|| format!("`{}`, the {what}, is not possible", fields[place]))
        };
        let count = |place, what, most| {
            field(place, what, most)
                .and_then(|n| u32::try_from(n).map_err(|_| format!("the {what} is negative")))
        };
        let player = |number| if number == 1 { 0 } else { 1 };
        let (owner, rules) = (field(2, "cube's owner", 1)?, count(7, "rules", 3)?);
        let length = count(8, "match length", i32::MAX)?;
        let turn = player(field(3, "turn", 1)?);
        let (roll, offer) = match read_dice(fields[4])? {
            Dice::Roll(roll) => (roll, None),
            Dice::Offer(offer) => (None, Some(offer)),
        };
        // The cube is the one before the double.
        let turned = offer.map_or(0, Offer::turned);
        let doublings = count(1, "cube", MOST_DOUBLINGS - turned as i32)? + turned;
        Ok(Self {
            length,
            scores: [count(5, "score", i32::MAX)?, count(6, "score", i32::MAX)?],
            turn,
            cube: 1 << doublings,
            owner: match turned {
                0 => (owner != 0).then(|| player(owner)),
                _ => Some(1 - turn),
            },
            // In matches this bit means Crawford, in money games Jacoby.
            crawford: length > 0 && rules & 1 == 1,
            jacoby: length == 0 && rules & 1 == 1,
            beavers: (length == 0).then_some(rules & 2 == 2),
            roll,
            offer,
        })
    }

    /// The XGID of a board with the checkers of players 0 and 1, who have the capital and the lowercase letters.
    ///
    /// The 26 characters of the board are player 1's bar, the points 1 to 24 from the view of player 0, and its own bar. `A` is one
    /// checker of player 0, `B` is two, and so on. Lowercase letters are the other checkers, `-` is an empty point. Fields: cube, its
    /// owner, turn, dice, both scores, rules, match length, highest cube. The dice are the roll, 00 before it, `D`, `B` or `R` for a
    /// double, a beaver or a raccoon that waits for an answer. There are no resignations in XGIDs.
    pub(crate) fn xgid(&self, capitals: &Board, lowercase: &Board) -> String {
        let mut board = [b'-'; BOARD + 2];
        for (point, (capital, lowercase)) in (1..).zip(capitals.iter().zip(lowercase)) {
            if *capital > 0 {
                board[point] = b'A' + capital - 1;
            }
            if *lowercase > 0 {
                board[BOARD + 1 - point] = b'a' + lowercase - 1;
            }
        }
        let board = String::from_utf8_lossy(&board);
        let sign = |player| if player == 0 { 1 } else { -1 };
        let turned = self.offer.map_or(0, Offer::turned);
        let doublings = self.cube.trailing_zeros().saturating_sub(turned);
        let owner = match self.owner {
            // Before the double its player owned the cube, unless nobody had turned it.
            Some(_) if turned > 0 => {
                if doublings > 0 {
                    sign(self.turn)
                } else {
                    0
                }
            }
            owner => owner.map_or(0, sign),
        };
        let dice = match (self.offer, self.roll) {
            (Some(Offer::Double), _) => "D".into(),
            (Some(Offer::Beaver), _) => "B".into(),
            (Some(Offer::Raccoon), _) => "R".into(),
            (_, Some(roll)) => roll.to_string(),
            (_, None) => "00".into(),
        };
        let rules = u8::from(self.crawford || self.jacoby) + 2 * u8::from(self.beavers == Some(true));
        let [first, second] = self.scores;
        format!(
            "XGID={board}:{doublings}:{owner}:{}:{dice}:{first}:{second}:{rules}:{}:10",
            sign(self.turn),
            self.length
        )
    }

    /// Decodes a Match ID. Bits from 0: 0 to 3 the doublings of the cube, 4 and 5 its owner (3 for nobody), 6 the player to roll, 7
    /// the Crawford game, 8 to 10 the state of the game (1 in play), 11 the player to act, 12 a double is offered, 13 and 14 the size
    /// of an offered resignation, 15 to 17 and 18 to 20 the dice, 21 to 35 the length, 36 to 50 and 51 to 65 the scores, 66 that the
    /// Jacoby rule is off. See the GNU Backgammon manual, "A technical description of the Match ID".
    fn of_match_id(id: &str) -> Result<Self, String> {
        let bits = match_bits(id)?;
        let number = |first: u32, width: u32| (bits >> first) as u32 & ((1 << width) - 1);
        let length = number(21, 15);
        let owner = match number(4, 2) {
            3 => None,
            owner @ 0..=1 => Some(owner as usize),
            _ => return Err("its Match ID names no owner of the cube".into()),
        };
        let (turn, actor) = (number(6, 1) as usize, number(11, 1) as usize);
        let offer = match (number(12, 1), number(13, 2)) {
            (0, 0) => None,
            (0, points) => Some(Offer::Resignation { by: 1 - actor, points: points as u8 }),
            _ if actor == turn => Some(Offer::Beaver),
            _ if owner == Some(actor) => Some(Offer::Raccoon),
            _ => Some(Offer::Double),
        };
        Ok(Self {
            length,
            scores: [number(36, 15), number(51, 15)],
            turn,
            cube: 1 << number(0, 4),
            owner,
            crawford: length > 0 && number(7, 1) == 1,
            jacoby: length == 0 && number(66, 1) == 0,
            beavers: None,
            roll: roll_of_match(bits)?,
            offer,
        })
    }

    /// The Match ID of a game in play, 12 characters. Scores and lengths beyond 32,767 are not possible.
    pub fn match_id(&self) -> String {
        let actor = self.offer.map_or(self.turn, |offer| offer.answered_by(self.turn));
        let (doubled, resigned) = match self.offer {
            None => (0, 0),
            Some(Offer::Resignation { points, .. }) => (0, u32::from(points)),
            Some(_) => (1, 0),
        };
        let [high, low] = self.roll.map_or([0; 2], |roll| [roll.high(), roll.low()]);
        let fields = [
            (0, self.cube.trailing_zeros()),
            (4, self.owner.map_or(3, |owner| owner as u32)),
            (6, self.turn as u32),
            (7, u32::from(self.crawford)),
            (8, 1),
            (11, actor as u32),
            (12, doubled),
            (13, resigned),
            (15, u32::from(high)),
            (18, u32::from(low)),
            (21, self.length),
            (36, self.scores[0]),
            (51, self.scores[1]),
            (66, u32::from(!self.jacoby)),
        ];
        let bits = fields.iter().fold(0, |bits, &(first, number)| bits | u128::from(number) << first);
        STANDARD_NO_PAD.encode(&bits.to_le_bytes()[..9])
    }
}

/// A parsed ID: both sides, the one to roll first, and the roll if the dice have fallen.
pub(crate) type ParsedId<S> = ([S; 2], Option<Roll>);

/// A parser of IDs for one game.
pub(crate) struct Ids<F> {
    /// Description of the game's positions for messages, such as `a bear-off`.
    pub(crate) of: &'static str,
    /// An example of a Position ID.
    pub(crate) id: &'static str,
    /// An example of an XGID.
    pub(crate) xgid: &'static str,
    /// Whether a position may wait for an answer to a double, so that there is no roll.
    pub(crate) answers: bool,
    /// Makes a side from its checkers, or says what is wrong with the side of this name.
    pub(crate) side: F,
}

impl<S, F: Fn(&Board, &str) -> Result<S, String>> Ids<F> {
    /// Reads a Position ID, and the dice of a Match ID after it. A label may precede it.
    ///
    /// # Errors
    /// The fault and its place: a wrong length, a wrong character, bits after the bar of the side to roll, a side that the game
    /// does not have, or a Match ID with an offered double or resignation or with impossible dice.
    pub(crate) fn read_id(&self, text: &str) -> Result<ParsedId<S>, GameError> {
        let fault = |what: String| {
            GameError::new(format!(
                "`{text}` is not the Position ID of {}: {what}; copy the {ID_LENGTH} characters that gnubg prints after \
                 `Position ID:`, such as {}",
                self.of, self.id
            ))
        };
        let unlabelled = without_label(text);
        let (id, match_id) = match unlabelled.split_once(':') {
            Some((id, match_id)) => (id, Some(match_id)),
            None => (unlabelled, None),
        };
        check_base64(id, ID_LENGTH, "before any colon").map_err(fault)?;
        let roll = match match_id {
            Some(match_id) => self.dice_of_match(match_id).map_err(fault)?,
            None => None,
        };
        // Base64 needs 84 bits for 80; the decoder refuses ones in the last four.
        let bytes = STANDARD_NO_PAD
            .decode(id)
            .map_err(|_| fault("the last character has bits beyond the 80 bits of a position".into()))?;
        let mut bits = bytes.iter().rev().fold(0u128, |bits, &byte| bits << 8 | u128::from(byte));
        let mut read = |name| {
            let mut points = [0; BOARD + 1];
            for count in &mut points {
                *count = bits.trailing_ones() as u8;
                bits >>= u32::from(*count) + 1;
            }
            (self.side)(&points, name)
        };
        let opponent = read("the side not to roll").map_err(fault)?;
        let own = read("the side to roll").map_err(fault)?;
        if bits != 0 {
            return Err(fault("there are ones after the bar of the side to roll".into()));
        }
        Ok(([own, opponent], roll))
    }

    /// Reads an XGID, with or without `XGID=`. Turn 1 is the player with the capital letters, −1 the player with the
    /// lowercase letters. The other fields must be valid numbers and are ignored.
    ///
    /// # Errors
    /// The fault and its place: a wrong number of fields, a wrong field, a wrong character of the board, an offered
    /// double, or a side that the game does not have.
    pub(crate) fn read_xgid(&self, text: &str) -> Result<ParsedId<S>, GameError> {
        let fault = |what: String| {
            GameError::new(format!(
                "`{text}` is not the XGID of {}: {what}; an XGID has 26 characters for the board and nine fields, such as {}",
                self.of, self.xgid
            ))
        };
        let fields: Vec<&str> = without_label(text).split(':').collect();
        let [board, cube, owner, turn, dice, score, other_score, rules, length, highest] = fields[..] else {
            let found = fields.len() - 1;
            return Err(fault(format!("it has {found} instead of {XGID_COLONS} fields after the board")));
        };
        // Cubes by their power of two; the rules are bits: Crawford or Jacoby, and beavers.
        let numbers = [
            ("cube", cube, 0..=MOST_DOUBLINGS),
            ("cube's owner", owner, -1..=1),
            ("score", score, 0..=i32::MAX),
            ("score", other_score, 0..=i32::MAX),
            ("rules", rules, 0..=3),
            ("match length", length, 0..=i32::MAX),
            ("highest cube", highest, 0..=MOST_DOUBLINGS),
        ];
        for (name, field, range) in numbers {
            match field.parse::<i32>() {
                Ok(number) if range.contains(&number) => {}
                Ok(_) => return Err(fault(format!("`{field}`, the {name}, is not possible"))),
                Err(_) => return Err(fault(format!("`{field}`, the {name}, is not a whole number"))),
            }
        }
        let capitals_to_roll = match turn {
            "1" => true,
            "-1" => false,
            _ => return Err(fault(format!("`{turn}`, the turn, is not 1 or -1"))),
        };
        let roll = match read_dice(dice).map_err(fault)? {
            Dice::Roll(roll) => roll,
            Dice::Offer(_) if self.answers => None,
            Dice::Offer(_) => {
                return Err(fault(format!("the dice `{dice}` mean an answer to a double, not a roll")));
            }
        };
        let [capitals, small] = read_board(board).map_err(fault)?;
        let names = ["the player with the capital letters", "the player with the small letters"];
        let capitals = (self.side)(&capitals, names[0]).map_err(fault)?;
        let small = (self.side)(&small, names[1]).map_err(fault)?;
        Ok((if capitals_to_roll { [capitals, small] } else { [small, capitals] }, roll))
    }

    /// The dice of a Match ID: none before the roll.
    fn dice_of_match(&self, id: &str) -> Result<Option<Roll>, String> {
        let bits = match_bits(id)?;
        if bits >> 12 & 7 != 0 && !self.answers {
            return Err("its Match ID means an answer to a double or a resignation, not a roll".into());
        }
        roll_of_match(bits)
    }

    /// Reads a text that looks like an XGID or a Position ID, with an optional roll after it. None if the text looks
    /// like something else.
    ///
    /// # Errors
    /// See [`Ids::read_id`] and [`Ids::read_xgid`]. Dice after an ID that differ from its own.
    pub(crate) fn read(&self, text: &str) -> Option<Result<ParsedId<S>, GameError>> {
        let text = text.trim();
        let labelled = LABELS.iter().any(|label| label_end(text, label).is_some());
        let unlabelled = without_label(text);
        let (id, beside) = unlabelled.split_once(char::is_whitespace).unwrap_or((unlabelled, ""));
        // A Match ID may follow after a space or a colon, with or without its own label.
        let beside = after_label(beside, &MATCH_LABELS);
        let (match_id, dice) = beside.split_once(char::is_whitespace).unwrap_or((beside.trim(), ""));
        if id.len() == ID_LENGTH && check_base64(match_id, MATCH_LENGTH, "").is_ok() {
            return self.read(&format!("{id}:{match_id} {dice}"));
        }
        // A Position ID can contain a slash but no comma. Other position texts contain commas or are shorter.
        if !labelled && (id.len() < SHORTEST_ID || id.contains(',')) {
            return None;
        }
        let (id, beside) = match id.split_once(':') {
            // A colon before the roll, as after the sides of other texts.
            Some((only, "")) if !beside.is_empty() => (only, beside),
            Some((only, roll)) if beside.is_empty() && roll.parse::<Roll>().is_ok() => (only, roll),
            _ => (id, beside),
        };
        let read = || {
            let colons = id.matches(':').count();
            let is_xgid = label_end(text, "XGID").is_some()
                || colons > 1
                || (colons == 0 && id.chars().count() == BOARD + 2);
            // Messages show the ID with its label.
            let whole = &text[..text.len() - unlabelled.len() + id.len()];
            let (sides, roll) = if is_xgid { self.read_xgid(whole) } else { self.read_id(whole) }?;
            let beside = match beside.trim_start() {
                "" => None,
                dice => Some(dice.parse()?),
            };
            Ok((sides, with_dice(roll, beside)?))
        };
        Some(read())
    }
}

/// Merges the dice of an ID with dice given after it.
///
/// # Errors
/// If they differ.
pub(crate) fn with_dice(own: Option<Roll>, beside: Option<Roll>) -> Result<Option<Roll>, GameError> {
    match (own, beside) {
        (Some(own), Some(beside)) if own != beside => Err(GameError::new(format!(
            "the position has the dice {own}, and {beside} are given beside it: leave one of them out"
        ))),
        _ => Ok(own.or(beside)),
    }
}

/// Shorter texts without a label are not treated as IDs with a mistake.
const SHORTEST_ID: usize = 10;

/// Labels that may precede an ID.
const LABELS: [&str; 5] = ["XGID", "GNUBgID", "Position ID", "Position-ID", "GNU Backgammon  Position ID"];

/// Labels of a Match ID.
const MATCH_LABELS: [&str; 2] = ["Match ID", "Match-ID"];

/// Strips the label of an ID and surrounding white space.
fn without_label(text: &str) -> &str {
    after_label(text, &LABELS)
}

/// Strips one of these labels, the separator after it and surrounding white space.
fn after_label<'a>(text: &'a str, labels: &[&str]) -> &'a str {
    let text = text.trim();
    match labels.iter().find_map(|label| label_end(text, label)) {
        // The separator may follow after a space.
        Some(end) => text[end..].trim_start().trim_start_matches([':', '=']).trim_start(),
        None => text,
    }
}

/// End of the label at the start of a text. The character after it separates the label from an ID.
fn label_end(text: &str, label: &str) -> Option<usize> {
    let matches = text.get(..label.len())?.eq_ignore_ascii_case(label);
    let sign = text[label.len()..].chars().next()?;
    (matches && matches!(sign, '=' | ':' | ' ')).then_some(label.len() + 1)
}

fn check_base64(text: &str, length: usize, place: &str) -> Result<(), String> {
    let found = text.chars().count();
    if found != length {
        return Err(format!("it has {found} instead of {length} characters {place}"));
    }
    let illegal = |c: &char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/'));
    match text.chars().find(illegal) {
        Some(c) => Err(format!("`{c}` is not a character of Base64")),
        None => Ok(()),
    }
}

/// The dice of the bits of a Match ID: none before the roll.
fn roll_of_match(bits: u128) -> Result<Option<Roll>, String> {
    let [a, b] = [15, 18].map(|place| (bits >> place & 7) as u8);
    match (a, b) {
        (0, 0) => Ok(None),
        _ => Roll::new(a, b).map(Some).ok_or_else(|| format!("its Match ID has the dice {a} and {b}")),
    }
}

/// The 72 bits of a Match ID, the lowest first.
fn match_bits(id: &str) -> Result<u128, String> {
    check_base64(id, MATCH_LENGTH, "after the colon")?;
    let bytes = STANDARD_NO_PAD.decode(id).map_err(|e| format!("the Match ID: {e}"))?;
    Ok(bytes.iter().rev().fold(0, |bits, &byte| bits << 8 | u128::from(byte)))
}

/// The dice of an XGID.
enum Dice {
    /// The roll to play, or none before it.
    Roll(Option<Roll>),
    /// What waits for an answer.
    Offer(Offer),
}

fn read_dice(dice: &str) -> Result<Dice, String> {
    match dice {
        "00" => Ok(Dice::Roll(None)),
        "D" => Ok(Dice::Offer(Offer::Double)),
        "B" => Ok(Dice::Offer(Offer::Beaver)),
        "R" => Ok(Dice::Offer(Offer::Raccoon)),
        _ => match dice.parse() {
            Ok(roll) if dice.len() == 2 => Ok(Dice::Roll(Some(roll))),
            _ => Err(format!("`{dice}`, the dice, is not 00 or two dice of 1 to 6")),
        },
    }
}

/// The checkers of both players on points 1 to 24 and the bar, each in its own numbering: capital letters, then
/// lowercase letters.
fn read_board(board: &str) -> Result<[Board; 2], String> {
    let found = board.chars().count();
    if found != BOARD + 2 {
        return Err(format!("its board has {found} instead of {} characters", BOARD + 2));
    }
    let mut sides = [[0; BOARD + 1]; 2];
    for (place, c) in board.chars().enumerate() {
        // Characters 0 and 25 are the bars of the lowercase and the capital letters.
        match c {
            '-' => {}
            'A'..='O' if place > 0 => sides[0][place - 1] = c as u8 - b'A' + 1,
            'a'..='o' if place <= BOARD => sides[1][BOARD - place] = c as u8 - b'a' + 1,
            _ => {
                return Err(format!(
                    "`{c}`, character {} of its board, must be A to O, a to o or -",
                    place + 1
                ));
            }
        }
    }
    Ok(sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> MatchState {
        MatchState::parse(text).unwrap().unwrap()
    }

    /// The same settings as an XGID, and as GNU Backgammon 1.07.001 writes their Match ID.
    #[test]
    fn xgids_and_match_ids_name_cube_score_and_rules() {
        let at = |away, crawford| Scoring::Match { away, crawford };
        for (fields, match_id, owner, scoring, cube) in [
            ("1:1:1:00:2:4:0:7:10", "UQngAEAAEAAE", CubeOwner::Own, at([5, 3], false), 2),
            ("1:-1:1:00:2:4:0:7:10", "QQngAEAAEAAE", CubeOwner::Theirs, at([5, 3], false), 2),
            ("1:1:-1:00:2:4:0:7:10", "QQngACAAIAAE", CubeOwner::Theirs, at([3, 5], false), 2),
            ("0:0:1:00:6:4:1:7:10", "8AngAEAAMAAE", CubeOwner::Centred, at([1, 3], true), 1),
            ("0:0:-1:00:6:4:0:7:10", "cAngAGAAIAAE", CubeOwner::Centred, at([3, 1], false), 1),
            ("0:0:1:00:0:0:1:0:10", "cAkAAAAAAAAA", CubeOwner::Centred, Scoring::Money { jacoby: true }, 1),
            ("0:0:1:00:0:0:0:0:10", "cAkAAAAAAAAE", CubeOwner::Centred, Scoring::Money { jacoby: false }, 1),
        ] {
            let board = "-b----E-C---eE---c-e----B-";
            for text in [
                format!("XGID={board}:{fields}"),
                format!("{board}:{fields}"),
                format!("4HPwATDgc/ABMA:{match_id}"),
                format!("GNUBgID 4HPwATDgc/ABMA {match_id} 31"),
            ] {
                assert_eq!(read(&text).terms(), Terms { cube, owner, scoring }, "{text}");
            }
            assert_eq!(read(&format!("4HPwATDgc/ABMA:{match_id}")).match_id(), match_id);
        }
        assert_eq!(read("4HPwATDgc/ABMA:8AngAEAAMAAE").scores, [4, 6]);
        assert!(read("4HPwATDgc/ABMA:8AngAEAAMAAE").crawford);
    }

    /// Match IDs as GNU Backgammon 1.07.001 writes them, and what they mean.
    #[test]
    fn match_ids_of_gnubg_are_read_and_written() {
        let roll = |text: &str| Some(text.parse().unwrap());
        let money = |turn| MatchState { turn, jacoby: true, ..MatchState::default() };
        let game = |length, scores, turn| MatchState { length, scores, turn, ..MatchState::default() };
        let offered = |offer, state: MatchState| MatchState { offer: Some(offer), ..state };
        let owned = |cube, owner, state: MatchState| MatchState { cube, owner: Some(owner), ..state };
        for (id, state) in [
            ("MAHlAAAAAAAE", MatchState { roll: roll("21"), ..game(7, [0, 0], 0) }),
            ("MAG3AAAAAAAE", MatchState { roll: roll("65"), ..game(5, [0, 0], 0) }),
            ("cIkJAAAAAAAA", MatchState { roll: roll("32"), ..money(1) }),
            ("U4kqAzAAWAAE", MatchState { roll: roll("52"), ..owned(8, 1, game(25, [3, 11], 1)) }),
            ("8IklAWAAQAAE", MatchState { roll: roll("31"), crawford: true, ..game(9, [6, 8], 1) }),
            ("UgkgASAAOAAE", owned(4, 1, game(9, [2, 7], 1))),
            ("QQngAEAAEAAE", owned(2, 0, game(7, [4, 2], 1))),
            ("cBHgACAAIAAE", offered(Offer::Double, game(7, [2, 4], 1))),
            ("MBkAAAAAAAAA", offered(Offer::Double, money(0))),
            ("QRkAAAAAAAAA", offered(Offer::Beaver, owned(2, 0, money(1)))),
            ("QhEAAAAAAAAA", offered(Offer::Raccoon, owned(4, 0, money(1)))),
            ("cEHgACAAIAAE", offered(Offer::Resignation { by: 1, points: 2 }, game(7, [2, 4], 1))),
        ] {
            assert_eq!((read(&format!("4HPwATDgc/ABMA:{id}")), &*state.match_id()), (state, id));
        }
    }

    #[test]
    fn xgids_name_what_waits_for_an_answer() {
        let board = "-b----E-C---eE---c-e----B-";
        for (fields, cube, owner, turn, offer) in [
            ("0:0:1:D:0:0:1:0:10", 1, None, 0, Offer::Double),
            ("2:-1:-1:D:2:4:0:7:10", 4, Some(1), 1, Offer::Double),
            ("0:0:-1:B:0:0:3:0:10", 2, Some(0), 1, Offer::Beaver),
            ("1:1:1:B:0:0:2:0:10", 4, Some(1), 0, Offer::Beaver),
            ("0:0:1:R:0:0:3:0:10", 4, Some(1), 0, Offer::Raccoon),
        ] {
            let text = format!("XGID={board}:{fields}");
            let found = read(&text);
            assert_eq!((found.cube, found.owner, found.turn, found.offer), (cube, owner, turn, Some(offer)));
            let [capitals, lowercase] = read_board(board).unwrap();
            assert_eq!(found.xgid(&capitals, &lowercase), text);
        }
        assert!(MatchState::parse(&format!("{board}:30:1:1:B:0:0:3:0:10")).is_err());
    }

    #[test]
    fn a_position_alone_has_no_match_and_impossible_ones_are_refused() {
        for text in ["4HPwATDgc/ABMA", "4HPwATDgc/ABMA 31", "4HPwATDgc/ABMA: 31", "24:2/24:2", "start", ""] {
            assert_eq!(MatchState::parse(text).unwrap_or(None), None, "{text}");
        }
        let xgid = |fields: &str| MatchState::parse(&format!("-b----E-C---eE---c-e----B-:{fields}"));
        for (fields, part) in [
            ("0:0:1:00:7:0:0:7:10", "a score of 7 ends a match to 7 points"),
            ("31:0:1:00:0:0:0:7:10", "`31`, the cube"),
            ("0:2:1:00:0:0:0:7:10", "owner"),
            ("0:0:1:00:-1:0:0:7:10", "the score is negative"),
            ("0:0:1:00:0:0:4:7:10", "rules"),
            ("0:0:1:00:0:0:0:x:10", "`x`, the match length"),
        ] {
            assert!(xgid(fields).unwrap_err().to_string().contains(part), "{fields}");
        }
        assert!(MatchState::parse("4HPwATDgc/ABMA:cAkA!AAAAAAE").is_err());
    }
}
