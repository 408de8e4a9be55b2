//! States and actions of backgammon.

use super::{Position, Side, Stakes, Win};
use crate::dice::Roll;
use std::hash::{Hash, Hasher};

/// The next step of the game. Games without the cube have the first three.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Each player throws one die; the higher begins with both.
    Opening,
    /// The player rolls, after a move or an answer of its opponent.
    Roll,
    /// The player moves.
    Move(Roll),
    /// The player doubles or rolls.
    Cube,
    /// The player rolls, after it has chosen not to double or has taken a beaver.
    Rolling,
    /// The player has doubled, and its opponent takes, drops or beavers.
    Doubled,
    /// The opponent has taken the double of the player and turned the cube once more; the player takes or drops.
    Beavered,
    /// The opponent of the player has dropped, which ended a money game, or the match.
    Dropped,
    /// The opponent of the player has resigned with a loss of this size, which ended a money game, or the match.
    Resigned(Win),
}

/// Both sides, the player to roll or move, the stage, and what is played for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The sides of players 0 and 1.
    pub sides: [Side; 2],
    /// The player to roll or to move, 0 or 1; also while its opponent answers a double.
    pub player: usize,
    /// The next step, unless the game is over.
    pub stage: Stage,
    /// The cube and the score.
    pub stakes: Stakes,
}

/// Default stakes leave the hash as it is without them, so that it stays the same where there is no cube.
impl Hash for State {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.sides, self.player, self.stage).hash(state);
        if self.stakes != Stakes::default() {
            self.stakes.hash(state);
        }
    }
}

impl State {
    /// A position with player 0 to roll, without the cube.
    pub fn to_roll(position: Position) -> Self {
        Self {
            sides: [position.own, position.opponent],
            player: 0,
            stage: Stage::Roll,
            stakes: Stakes::default(),
        }
    }

    /// The position from the view of the player to roll or to move.
    #[inline]
    pub fn position(&self) -> Position {
        Position { own: self.sides[self.player], opponent: self.sides[1 - self.player] }
    }

    /// The player who decides, unless chance is next or the game is over.
    #[inline]
    pub fn actor(&self) -> usize {
        if self.stage == Stage::Doubled { 1 - self.player } else { self.player }
    }
}

/// A chance outcome, a move, or a decision about the cube.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// This player begins with this roll.
    Opening(usize, Roll),
    /// A roll of the dice.
    Roll(Roll),
    /// A move to this position, seen by the side that moves.
    Move(Position),
    /// To roll without doubling.
    NoDouble,
    /// To offer the cube at twice its value.
    Double,
    /// To play on for twice the value.
    Take,
    /// To give the game up for the value of the cube before it was turned.
    Drop,
    /// To take a double and turn the cube once more.
    Beaver,
    /// This player gives the game up and loses this much, times the cube. Legal at any time of a game with the cube, and in no list of
    /// actions: agents play on.
    Resign(usize, Win),
}

impl Action {
    /// The words for a decision about the cube and for a resignation. None for moves and rolls.
    pub(super) fn word(self) -> Option<&'static str> {
        match self {
            Self::Opening(..) | Self::Roll(_) | Self::Move(_) => None,
            Self::NoDouble => Some("roll"),
            Self::Double => Some("double"),
            Self::Take => Some("take"),
            Self::Drop => Some("drop"),
            Self::Beaver => Some("beaver"),
            Self::Resign(_, Win::Single) => Some("resign"),
            Self::Resign(_, Win::Gammon) => Some("resign gammon"),
            Self::Resign(_, Win::Backgammon) => Some("resign backgammon"),
        }
    }
}

impl From<Position> for Action {
    fn from(after: Position) -> Self {
        Self::Move(after)
    }
}
