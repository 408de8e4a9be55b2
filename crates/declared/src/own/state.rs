//! Positions of declared games.

use super::declaration::{Ending, Grade};
use super::ground::Rules;
use crate::bits;
use smallvec::SmallVec;

/// A position: the facts that hold, the player to move, and the number of moves if the game limits them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Bit f: fact f holds.
    pub(crate) facts: SmallVec<[u64; 2]>,
    pub(crate) mover: u8,
    /// The player who moved last, in games with chance or repeated turns, where the turn does not determine it.
    /// [`NONE`] at the start and after chance. If chance ends a game, the player whose turn it was.
    pub(crate) last: u8,
    pub(crate) status: Status,
    /// Number of the players' moves.
    pub(crate) moves: u32,
}

impl Clone for State {
    #[inline]
    fn clone(&self) -> Self {
        // A derived clone would copy word by word.
        Self { facts: SmallVec::from_slice(&self.facts), ..*self }
    }
}

/// No player.
pub(crate) const NONE: u8 = u8::MAX;

/// Whether the game continues; otherwise who won or lost, and the amount in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    Going,
    /// The game continues with an outcome of chance.
    Chance,
    Won(u8, u16),
    Lost(u8, u16),
    Drawn,
}

impl Status {
    /// The status after a result of `player`.
    #[inline]
    pub(crate) fn from_grade((ending, amount): Grade, player: u8) -> Self {
        match ending {
            Ending::Win => Self::Won(player, amount),
            Ending::Lose => Self::Lost(player, amount),
            Ending::Draw => Self::Drawn,
        }
    }

    #[inline]
    pub(crate) fn goes_on(self) -> bool {
        matches!(self, Self::Going | Self::Chance)
    }
}

impl State {
    /// The facts as another player sees them.
    pub(crate) fn seen_by(&self, rules: &Rules, player: usize) -> SmallVec<[u64; 2]> {
        if player == 0 {
            return self.facts.clone();
        }
        // Undoing the other players' turns equals applying the remaining turns of a round.
        bits::moved(&self.facts, &rules.turned[rules.declaration.players - player])
    }

    pub(crate) fn holds(&self, fact: usize) -> bool {
        bits::holds(&self.facts, fact)
    }

    pub(crate) fn write(&mut self, fact: u32, holds: bool) {
        bits::write(&mut self.facts, fact as usize, holds);
    }
}
