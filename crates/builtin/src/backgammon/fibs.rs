//! `board:…` lines of FIBS, the First Internet Backgammon Server, in which GNU Backgammon exchanges positions with
//! external players.

use super::cube::{CubeOwner, Scoring, Terms};
use super::{BAR, Position, Side};
use crate::dice::Roll;
use std::fmt::Write;

/// Formats a roll to play in a money game with a centred cube, from the view of the side that moves, without a line
/// break.
///
/// Its fields, with colons between them: two names; length of the match and both scores; the 26 numbers of the board,
/// from the opponent's bar over the points 1 to 24 to the own bar, own checkers positive; whose turn it is; the dice of
/// both players; the cube, who may double, and whether one has; colour, direction, home and bar; checkers off and on
/// the bar, own first; and four numbers that are not used here.
pub(crate) fn question(position: Position, roll: Roll) -> String {
    let Position { own, opponent } = position;
    let mut text = String::from("board:adept:gnubg:0:0:0");
    for place in 0..=BAR {
        let mine = if place > 0 { own.on(place) } else { 0 };
        let theirs = if place < BAR { opponent.on(BAR - place) } else { 0 };
        let _ = write!(text, ":{}", i16::from(mine) - i16::from(theirs));
    }
    let (high, low) = (roll.high(), roll.low());
    let [off, bar] = [[own.off(), opponent.off()], [own.on(BAR), opponent.on(BAR)]];
    let _ = write!(text, ":1:{high}:{low}:{high}:{low}:1:1:1:0:1:-1:0:25");
    let _ = write!(text, ":{}:{}:{}:{}:0:0:0:0", off[0], off[1], bar[0], bar[1]);
    text
}

/// A parsed line that GNU Backgammon sends to a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// Points of the match; 0 in a money game.
    pub length: u32,
    /// The scores in the order of the line. When a double is offered, player 1's score comes first, otherwise player
    /// 0's.
    pub scores: [u32; 2],
    /// The board in player 1's numbering: its opponent's bar, points 1 to 24, its own bar. Player 1's checkers are
    /// positive.
    board: [i8; 26],
    /// The player whose turn it is.
    pub turn: Player,
    /// The roll to play; none for a question about the cube.
    pub roll: Option<Roll>,
    /// Value of the cube.
    pub cube: u32,
    /// Whether player 1 and player 0 may double, by cube ownership.
    pub may_double: [bool; 2],
    /// Whether a double awaits an answer.
    pub doubled: bool,
    /// Whether the game is played without a cube, as the Crawford game of a match.
    pub without_cube: bool,
}

/// A player in GNU Backgammon's numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Player {
    /// Player 0, whose checkers are negative and whose turn is -1.
    Zero,
    /// Player 1, whose checkers are positive and whose turn is 1.
    One,
}

impl Player {
    /// The other player.
    #[must_use]
    pub fn other(self) -> Self {
        if self == Self::One { Self::Zero } else { Self::One }
    }
}

/// Number of fields of a line, including the word `board`.
const FIELDS: usize = 53;
/// Longest match that gnubg allows, in points.
const LONGEST_MATCH: u32 = 64;
/// The highest value of the cube.
const HIGHEST_CUBE: u32 = 4096;

impl Line {
    /// Reads a line. White space and NUL bytes around it are ignored.
    ///
    /// # Errors
    /// The field that is wrong, what it holds and what was expected.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\0');
        let fields: Vec<&str> = text.split(':').collect();
        if fields[0] != "board" {
            return Err("the line does not begin with `board:`".into());
        }
        if fields.len() != FIELDS {
            return Err(format!("{} fields instead of {FIELDS}", fields.len()));
        }
        let number = |place: usize, what: &str, least: i64, most: i64| {
            let number = fields[place].parse::<i64>().ok().filter(|n| (least..=most).contains(n));
            number.ok_or_else(|| {
                format!("field {}, {what}, is `{}` and not {least} to {most}", place + 1, fields[place])
            })
        };
        let count = |place, what, most: u32| number(place, what, 0, most.into()).map(|n| n as u32);
        let is_set = |place, what| number(place, what, 0, 1).map(|n| n == 1);
        let length = count(3, "the length of the match", LONGEST_MATCH)?;
        let mut board = [0; 26];
        for (place, checkers) in board.iter_mut().enumerate() {
            *checkers = number(6 + place, "a place of the board", -15, 15)? as i8;
        }
        let turn = match number(32, "the turn", -1, 1)? {
            1 => Player::One,
            -1 => Player::Zero,
            _ => return Err("nobody is to move".into()),
        };
        let dice = [number(33, "a die", 0, 6)?, number(34, "a die", 0, 6)?].map(|die| die as u8);
        let line = Self {
            length,
            scores: [count(4, "a score", u32::MAX)?, count(5, "a score", u32::MAX)?],
            board,
            turn,
            roll: match dice {
                [0, 0] => None,
                [a, b] => Some(Roll::new(a, b).ok_or_else(|| format!("the dice are {a} and {b}"))?),
            },
            cube: count(37, "the cube", HIGHEST_CUBE)?,
            may_double: [
                is_set(38, "whether player 1 may double")?,
                is_set(39, "whether player 0 may double")?,
            ],
            doubled: is_set(40, "whether one has doubled")?,
            without_cube: fields[FIELDS - 1] == "0",
        };
        if line.cube == 0 {
            return Err("the cube is 0".into());
        }
        line.position(Player::One).check(15)?;
        match line.roll {
            Some(_) if line.doubled => Err("a double is to be answered, and a roll to be played".into()),
            _ => Ok(line),
        }
    }

    /// The cube and the score, seen by a player. Lines do not say whether the Jacoby rule holds: it is taken to be off.
    pub fn terms(&self, player: Player) -> Terms {
        let [own, other] = match player {
            Player::One => self.may_double,
            Player::Zero => [self.may_double[1], self.may_double[0]],
        };
        let owner = match (own, other) {
            (true, false) => CubeOwner::Own,
            (false, true) => CubeOwner::Theirs,
            _ => CubeOwner::Centred,
        };
        // Player 0's score comes first on its own turn, player 1's when a double is offered.
        let first = usize::from((player == Player::One) != self.doubled);
        let needed = |score: u32| self.length.saturating_sub(score).max(1);
        let away = [first, 1 - first].map(|one| needed(self.scores[one]));
        let scoring = match self.length {
            0 => Scoring::Money { jacoby: false },
            _ => Scoring::Match { away, crawford: self.without_cube && away.contains(&1) },
        };
        Terms { cube: self.cube, owner, scoring }
    }

    /// The board from this player's view. Missing checkers have been borne off.
    pub fn position(&self, player: Player) -> Position {
        let side = |own: Player| {
            let mut places = [0; 26];
            for (place, on) in places.iter_mut().enumerate().skip(1) {
                *on = match own {
                    Player::One => self.board[place].max(0) as u8,
                    Player::Zero => (-self.board[25 - place]).max(0) as u8,
                };
            }
            let on: u8 = places.iter().fold(0, |sum: u8, on| sum.saturating_add(*on));
            // `parse` refuses more than 15 checkers.
            places[0] = 15_u8.saturating_sub(on);
            if on > 15 { Side::default() } else { Side::new(places) }
        };
        Position { own: side(player), opponent: side(player.other()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backgammon::Backgammon;
    use adept_game::{Game, stream};

    /// Lines of gnubg 1.07.001: decisions and double offers to player 0 and player 1.
    const AS_ZERO: &str = "board:gnubg:root:0:0:0:0:0:0:0:-2:0:5:3:3:0:0:0:-4:3:-1:0:0:-3:1:-5:0:0:0:0:0:0:-1:3:1:3:1:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1\n";
    const AS_ONE: &str = "board:gnubg:root:5:0:1:0:-1:-1:0:0:0:5:0:3:0:0:0:-4:5:-1:0:0:-3:0:-5:0:0:0:0:2:0:1:0:0:0:0:1:1:1:0:1:-1:0:25:0:0:0:0:0:0:0:1";
    const OFFERED: &str = "board:root:gnubg:0:2:0:0:-1:0:-1:0:2:4:0:2:2:0:0:-3:3:0:0:0:-2:-2:-4:2:0:-2:0:0:0:1:0:0:0:0:1:1:1:1:1:-1:0:25:0:0:0:0:0:0:0:1";

    #[test]
    fn lines_of_gnubg_are_read() {
        let line = Line::parse(AS_ZERO).unwrap();
        assert_eq!((line.turn, line.roll, line.length), (Player::Zero, Roll::new(3, 1), 0));
        let position = line.position(Player::Zero);
        assert_eq!(position.to_string(), "21:2 13:4 11:1 8:3 6:5/18:1 13:3 8:3 7:3 6:5");
        assert_eq!(line.position(Player::One), position.swapped());
        let line = Line::parse(AS_ONE).unwrap();
        assert_eq!((line.turn, line.roll, line.length, line.scores), (Player::One, None, 5, [0, 1]));
        assert_eq!((line.cube, line.may_double, line.doubled), (1, [true, true], false));
        assert_eq!(line.position(Player::One).to_string(), "24:2 13:5 8:3 6:5/24:1 23:1 13:4 11:1 8:3 6:5");
        let line = Line::parse(&format!("\0{OFFERED}\n\0")).unwrap();
        assert_eq!((line.turn, line.doubled, line.cube), (Player::One, true, 1));
    }

    /// gnubg 1.07.001 asks for a decision in a match to 7 at 2 to 4, about a cube of 2 that the player to roll owns.
    #[test]
    fn the_cube_and_the_score_are_those_of_each_player() {
        let line = |turn: &str, may_double: &str| {
            let text = format!(
                "board:gnubg:root:7:2:4:0:-2:0:0:0:0:5:0:3:0:0:0:-5:5:0:0:0:-3:0:-5:0:0:0:0:2:0:{turn}:0:0:0:0:2:{may_double}:0:1:-1:0:\
                 25:0:0:0:0:0:0:0:1"
            );
            Line::parse(&text).unwrap()
        };
        let (zero, one) = (line("-1", "0:1"), line("1", "1:0"));
        let terms = |line: Line| [Player::Zero, Player::One].map(|player| line.terms(player));
        let at = |owner, away| Terms { cube: 2, owner, scoring: Scoring::Match { away, crawford: false } };
        assert_eq!(terms(zero), [at(CubeOwner::Own, [5, 3]), at(CubeOwner::Theirs, [3, 5])]);
        assert_eq!(terms(one), [at(CubeOwner::Theirs, [5, 3]), at(CubeOwner::Own, [3, 5])]);
        let centred = line("-1", "1:1");
        assert_eq!(centred.terms(Player::Zero).owner, CubeOwner::Centred);
        // The order is reversed when player 0 is offered a double.
        let offered = Line::parse(&OFFERED.replacen(":0:2:0:", ":7:2:4:", 1)).unwrap();
        assert_eq!(terms(offered)[0].scoring, Scoring::Match { away: [3, 5], crawford: false });
    }

    #[test]
    fn our_questions_are_lines() {
        let (game, mut rng) = (Backgammon::default(), stream(5, "fibs", 0));
        let (mut state, mut actions) = (game.start(), Vec::new());
        for _ in 0..2000 {
            let chance = game.sample(&state, &mut rng);
            game.apply(&mut state, &chance);
            game.actions(&state, &mut actions);
            if let super::super::Stage::Move(roll) = state.stage {
                let line = Line::parse(&question(state.position(), roll)).unwrap();
                assert_eq!((line.position(Player::One), line.roll), (state.position(), Some(roll)));
            }
            let action = actions[actions.len() / 2];
            game.apply(&mut state, &action);
            if state.position().is_over() {
                state = game.start();
            }
        }
    }

    #[test]
    fn faults_are_named() {
        let with = |place: usize, field: &str| {
            let mut fields: Vec<&str> = AS_ONE.split(':').collect();
            fields[place] = field;
            Line::parse(&fields.join(":")).unwrap_err()
        };
        for (error, expected) in [
            (Line::parse(&AS_ONE[..60]).unwrap_err(), "fields instead of 53"),
            (Line::parse("hello").unwrap_err(), "does not begin with `board:`"),
            (with(3, "65"), "field 4, the length of the match, is `65` and not 0 to 64"),
            (with(7, "-16"), "field 8, a place of the board, is `-16`"),
            (with(7, "x"), "is `x`"),
            (with(7, "15"), "instead of 15"),
            (with(7, "-15"), "instead of 15"),
            (with(32, "0"), "nobody is to move"),
            (with(33, "7"), "a die"),
            (with(33, "3"), "the dice are 3 and 0"),
            (with(37, "0"), "the cube is 0"),
            (with(40, "2"), "whether one has doubled"),
        ] {
            assert!(error.contains(expected), "{error}");
        }
        let both = OFFERED.replacen(":1:0:0:0:0:", ":1:3:1:3:1:", 1);
        assert!(Line::parse(&both).unwrap_err().contains("a roll to be played"));
    }
}
