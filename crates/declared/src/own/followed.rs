//! The circuit that follows a state, and what it costs.

use crate::circuit::{Builder, Literal};
use crate::error::{Place, RuleError};
use crate::net::{Net, arrange};

const START: Place = Place { line: 1, column: 1 };

/// The circuit for incremental evaluation.
#[derive(Debug)]
pub(crate) struct Followed {
    pub(crate) net: Net,
    /// First output word of the legal moves of each player.
    pub(crate) legal: Vec<u32>,
    /// First output word of the outcomes of chance in each player's turn.
    pub(crate) chance: Vec<u32>,
    /// First output word of the endings after a move of each player.
    pub(crate) over: Vec<u32>,
}

impl Followed {
    /// Builds the circuit with these outputs of each player.
    pub(crate) fn new(
        builder: &Builder,
        legal: &[Vec<Literal>],
        chance: &[Vec<Literal>],
        over: &[Vec<Literal>],
    ) -> Result<Self, RuleError> {
        let (mut bits, mut literals, mut next) = (Vec::new(), Vec::new(), 0_u32);
        // Each list starts at a word boundary.
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
        // Relations that depend on their own negation have been refused before.
        let contradiction = |_| RuleError::new(START, "a relation follows from its own negation");
        let arranged = arrange(builder, &literals).map_err(contradiction)?;
        let net = Net::new(&arranged, &bits, next as usize * 64);
        Ok(Self { net, legal, chance, over })
    }

    #[cfg(test)]
    pub(crate) fn cycles(&self) -> usize {
        self.net.cycles()
    }
}

/// Costs, in gates, of evaluating a position incrementally or from scratch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    /// Cost of a changed fact.
    pub(crate) fact: u32,
    /// Cost of evaluating from scratch a position in which a player is to move, and the one after it.
    pub(crate) legal: u32,
    /// The same where chance is to move.
    pub(crate) chance: u32,
}

impl Costs {
    /// Always evaluates incrementally.
    #[cfg(test)]
    pub(crate) const ALWAYS: Self = Self { fact: 0, legal: u32::MAX, chance: u32::MAX };
}
