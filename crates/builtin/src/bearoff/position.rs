//! Positions: two sides, one of them to roll; and positions with a roll.

use super::{Roll, Side, ids, notation, rules};
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

    /// Reads `own/opponent`, a gnubg Position ID or an XGID. The roll of an XGID is ignored.
    fn from_str(text: &str) -> Result<Self, GameError> {
        // A Position ID can contain a slash, but not a comma.
        if text.contains(',') {
            let (own, opponent) = text.split_once('/').ok_or_else(|| {
                GameError::new(format!(
                    "`{text}` is only one side; write own/opponent, such as 1,1,1,1,1,1/0,0,0,0,0,2"
                ))
            })?;
            Ok(Self { own: own.parse()?, opponent: opponent.parse()? })
        } else if ids::is_xgid(text) {
            Ok(Self::from_xgid(text)?.0)
        } else {
            Self::from_id(text)
        }
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
        notation::text(self.position.own, self.roll, afterstate).unwrap_or_else(|| afterstate.to_string())
    }

    /// The position after the move, with the other side to roll.
    pub fn after(self, afterstate: Side) -> Position {
        Position { own: self.position.opponent, opponent: afterstate }
    }
}
