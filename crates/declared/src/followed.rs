//! The circuit that follows a state, and what it costs.

use crate::circuit::{Builder, Literal};
use crate::error::{Place, RuleError};
use crate::gdl::net::{Net, arrange};
use std::sync::atomic::{AtomicU64, Ordering};

const START: Place = Place { line: 1, column: 1 };

/// The circuit that follows a state.
#[derive(Debug)]
pub(crate) struct Followed {
    /// What tells it from all others, also from those of games that are no more.
    pub(crate) id: u64,
    pub(crate) net: Net,
    /// First word of the legal moves of each player.
    pub(crate) legal: Vec<u32>,
    /// First word of the outcomes of chance in the turn of each player.
    pub(crate) chance: Vec<u32>,
    /// First word of what ends the game after a move of each player.
    pub(crate) over: Vec<u32>,
}

impl Followed {
    /// The circuit with these outputs of each player.
    pub(crate) fn of(
        builder: &Builder,
        legal: &[Vec<Literal>],
        chance: &[Vec<Literal>],
        over: &[Vec<Literal>],
    ) -> Result<Self, RuleError> {
        static GAMES: AtomicU64 = AtomicU64::new(0);
        let (mut bits, mut literals, mut next) = (Vec::new(), Vec::new(), 0_u32);
        // Each list begins at a word.
        let mut place = |list: &Vec<Literal>| {
            let first = next;
            bits.extend((first * 64..).zip(list).map(|(bit, _)| bit));
            literals.extend_from_slice(list);
            next += list.len().div_ceil(64) as u32;
            first
        };
        let legal = legal.iter().map(&mut place).collect();
        let chance = chance.iter().map(&mut place).collect();
        let over = over.iter().map(&mut place).collect();
        // Relations that depend on themselves through `not` have been refused before.
        let contradiction = |_| RuleError::new(START, "a relation follows from its own negation");
        let arranged = arrange(builder, &literals).map_err(contradiction)?;
        let net = Net::new(&arranged, &bits, next as usize * 64);
        Ok(Self { id: GAMES.fetch_add(1, Ordering::Relaxed), net, legal, chance, over })
    }

    #[cfg(test)]
    pub(crate) fn circles(&self) -> usize {
        self.net.circles()
    }
}

/// What the two ways to know a position cost: to follow the state, or to compute all anew, in gates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// What a fact that changes costs.
    pub(crate) fact: u32,
    /// What all costs anew that is asked of a position in which a player is to move, and of the one after it.
    pub(crate) legal: u32,
    /// The same where chance is to move.
    pub(crate) chance: u32,
}

impl Pace {
    /// Always follows.
    #[cfg(test)]
    pub(crate) const ALWAYS: Self = Self { fact: 0, legal: u32::MAX, chance: u32::MAX };
}
