//! Positions of two sides, one of them to roll, with or without a roll.

use super::{Roll, Side, ids, notation, rules};
use crate::backgammon::ids::with_dice;
use adept_game::GameError;
use std::fmt;
use std::str::FromStr;

/// A bear-off position: the side to roll and its opponent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Position {
    /// The side to roll.
    pub own: Side,
    /// The other side.
    pub opponent: Side,
}

impl Position {
    /// The larger number of checkers of the two sides.
    pub fn checkers(self) -> u8 {
        self.own.checkers().max(self.opponent.checkers())
    }

    /// Whether one side has borne off all its checkers.
    pub fn is_over(self) -> bool {
        self.own.is_empty() || self.opponent.is_empty()
    }

    /// The same board with the other side to roll.
    pub fn swapped(self) -> Self {
        Self { own: self.opponent, opponent: self.own }
    }
}

impl fmt::Display for Position {
    /// `own/opponent`, such as `1,1,1,1,1,1/0,0,0,0,0,2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.own, self.opponent)
    }
}

impl FromStr for Position {
    type Err = GameError;

    /// Reads `own/opponent`, a gnubg Position ID or an XGID. A roll is ignored: [`Situation`] reads it too.
    fn from_str(text: &str) -> Result<Self, GameError> {
        Ok(text.parse::<Situation>()?.position)
    }
}

/// A position, and the roll to play if the dice have fallen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Situation {
    /// The position before the roll.
    pub position: Position,
    /// The roll. None before the roll.
    pub roll: Option<Roll>,
}

impl Situation {
    /// Merges dice that are given separately.
    ///
    /// # Errors
    /// If the position already has other dice.
    pub fn with_dice(self, dice: Option<Roll>) -> Result<Self, GameError> {
        Ok(Self { roll: with_dice(self.roll, dice)?, ..self })
    }
}

impl fmt::Display for Situation {
    /// `own/opponent`, followed by the roll.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.roll {
            Some(roll) => write!(f, "{} {roll}", self.position),
            None => self.position.fmt(f),
        }
    }
}

impl FromStr for Situation {
    type Err = GameError;

    /// Reads `own/opponent`, a gnubg Position ID or an XGID, with an optional roll after it. A `:` before the roll is
    /// allowed. The dice of an XGID or of a Match ID are the roll.
    fn from_str(text: &str) -> Result<Self, GameError> {
        if let Some(read) = ids::situation(text) {
            return read;
        }
        let (position, roll) = split_roll(text);
        let (own, opponent) = position.split_once('/').ok_or_else(|| {
            let what = if text.contains(',') { "only one side" } else { "not a position" };
            GameError::new(format!(
                "`{text}` is {what}; write own/opponent, such as 1,1,1,1,1,1/0,0,0,0,0,2, and after it the roll, such as \
                 65, if a move comes next; or a gnubg Position ID or an XGID"
            ))
        })?;
        let position = Position { own: own.trim().parse()?, opponent: opponent.trim().parse()? };
        Ok(Self { position, roll: roll.map(str::parse).transpose()? })
    }
}

/// Splits off the roll after a position, if any: the text after `:`, or after the last number of the opponent's side.
fn split_roll(text: &str) -> (&str, Option<&str>) {
    if let Some((position, roll)) = text.split_once(':') {
        return (position, Some(roll.trim()));
    }
    let text = text.trim_end();
    let last = text.rfind(',').map_or(text.len(), |i| i + 1);
    let number = text[last..].len() - text[last..].trim_start().len() + last;
    match text[number..].find(char::is_whitespace) {
        Some(end) => (&text[..number + end], Some(text[number + end..].trim())),
        None => (text, None),
    }
}

/// A position with a roll: a decision between afterstates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DicePosition {
    /// The position before the roll.
    pub position: Position,
    /// The roll.
    pub roll: Roll,
}

impl DicePosition {
    /// Replaces `afterstates` by the possible sides after the move, ascending, without repeats.
    pub fn afterstates(self, afterstates: &mut Vec<Side>) {
        rules::afterstates(self.position.own, self.roll, afterstates);
    }

    /// The move to an afterstate, such as `6/off 5/4`. If no move leads to it, the afterstate itself.
    pub fn notation(self, afterstate: Side) -> String {
        notation::text(self.position.own, self.roll, afterstate)
    }

    /// The position after the move, with the other side to roll.
    pub fn after(self, afterstate: Side) -> Position {
        Position { own: self.position.opponent, opponent: afterstate }
    }
}
