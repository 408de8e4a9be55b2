//! Positions of declared games.

use crate::declaration::{Ending, Grade};
use crate::ground::Rules;
use smallvec::SmallVec;

/// A position: which facts hold, whose turn it is, and how many moves were made if the game limits them.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// Bit f: fact f holds.
    pub(crate) facts: SmallVec<[u64; 2]>,
    pub(crate) mover: u8,
    /// Who moved last, where that does not follow from whose turn it is: in games with chance or more than one move in a row. [`NONE`]
    /// at the start and after chance. If chance ends a game, the player whose turn it was.
    pub(crate) last: u8,
    pub(crate) status: Status,
    /// Moves of players.
    pub(crate) moves: u32,
}

impl Clone for State {
    #[inline]
    fn clone(&self) -> Self {
        // A derived clone would copy word by word.
        Self { facts: SmallVec::from_slice(&self.facts), ..*self }
    }
}

/// Nobody.
pub(crate) const NONE: u8 = u8::MAX;

/// Whether the game goes on, and if not, who won or lost, and how much in hundredths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    Going,
    /// It goes on with an outcome of chance.
    Chance,
    Won(u8, u16),
    Lost(u8, u16),
    Drawn,
}

impl Status {
    /// A result of a player.
    #[inline]
    pub(crate) fn of((ending, amount): Grade, player: u8) -> Self {
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
        // What the other players' turns make of a fact is undone by the turns that are left of a round.
        let turned = &rules.turned[rules.declaration.players - player];
        let mut seen = SmallVec::from_elem(0, self.facts.len());
        for (word, &bits) in self.facts.iter().enumerate() {
            let mut bits = bits;
            while bits != 0 {
                let fact = turned[word * 64 + bits.trailing_zeros() as usize] as usize;
                seen[fact / 64] |= 1 << (fact % 64);
                bits &= bits - 1;
            }
        }
        seen
    }

    pub(crate) fn holds(&self, fact: usize) -> bool {
        self.facts[fact / 64] >> (fact % 64) & 1 == 1
    }

    pub(crate) fn write(&mut self, fact: u32, holds: bool) {
        let (word, bit) = (&mut self.facts[fact as usize / 64], 1 << (fact % 64));
        if holds {
            *word |= bit;
        } else {
            *word &= !bit;
        }
    }
}
