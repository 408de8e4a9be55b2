//! States and actions of backgammon.

use super::{Position, Side};
use crate::dice::Roll;

/// The next step of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// Each player throws one die; the higher begins with both.
    Opening,
    /// The player rolls.
    Roll,
    /// The player moves.
    Move(Roll),
}

/// Both sides, the player to roll or move, and the stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The sides of players 0 and 1.
    pub sides: [Side; 2],
    /// The player to roll or to move, 0 or 1.
    pub player: usize,
    /// The next step, unless the game is over.
    pub stage: Stage,
}

impl State {
    /// A position with player 0 to roll.
    pub fn to_roll(position: Position) -> Self {
        Self { sides: [position.own, position.opponent], player: 0, stage: Stage::Roll }
    }

    /// The position from the view of the player to roll or to move.
    #[inline]
    pub fn position(&self) -> Position {
        Position { own: self.sides[self.player], opponent: self.sides[1 - self.player] }
    }
}

/// A chance outcome or a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// This player begins with this roll.
    Opening(usize, Roll),
    /// A roll of the dice.
    Roll(Roll),
    /// A move to this position, seen by the side that moves.
    Move(Position),
}

impl From<Position> for Action {
    fn from(after: Position) -> Self {
        Self::Move(after)
    }
}
