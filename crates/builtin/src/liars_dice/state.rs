//! Where a game of liar's dice stands.

use super::dice::Dice;

/// A claim that at least `count` dice of all show `face`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bid {
    /// How many.
    pub count: u8,
    /// The face, from 1.
    pub face: u8,
}

/// What a player said in this round and did not end it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// A bid, and the dice that were pushed out with it; none if nothing was rolled again.
    Bid {
        /// The claim.
        bid: Bid,
        /// The dice exposed, before the others were rolled again.
        push: Dice,
    },
    /// A claim that all own dice show one face.
    Pass {
        /// Whether that was true: hidden from the others.
        valid: bool,
    },
}

/// Who said what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Act {
    /// Seat, from 0.
    pub player: u8,
    /// What was said.
    pub said: Said,
}

/// One player's dice and rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seat {
    /// How many dice the player has, under the cup and pushed; 0 once out of the game.
    pub dice: u8,
    /// The dice under the cup; empty while they are being rolled.
    pub cup: Dice,
    /// The dice that were pushed out in this round, for all to see.
    pub pushed: Dice,
    /// Whether the player passed since the last roll.
    pub passed: bool,
    /// Whether the one exact of the game is used up.
    pub exacted: bool,
    /// Whether the player already began a round with one die.
    pub was_down_to_one: bool,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The first starter is drawn.
    Draw,
    /// The cup of [`State::mover`] is rolled.
    Roll,
    /// [`State::mover`] acts.
    Act,
    /// One player is left.
    Over,
}

/// All there is to know.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The players in their order.
    pub seats: Vec<Seat>,
    /// What was said in this round.
    pub acts: Vec<Act>,
    /// Who acts or whose dice are rolled.
    pub mover: u8,
    /// Who began this round, or will.
    pub starter: u8,
    /// What happens next.
    pub phase: Phase,
    /// Whether nothing is wild in this round, and only players with one die may change the face.
    pub special: bool,
}

/// Reuses what is allocated: candidates copy states by the million.
impl Clone for State {
    fn clone(&self) -> Self {
        Self { seats: self.seats.clone(), acts: self.acts.clone(), ..*self }
    }

    fn clone_from(&mut self, other: &Self) {
        let Self { seats, acts, mover, starter, phase, special } = other;
        self.seats.clone_from(seats);
        self.acts.clone_from(acts);
        (self.mover, self.starter, self.phase, self.special) = (*mover, *starter, *phase, *special);
    }
}

impl State {
    /// Dice of all players.
    pub fn dice_in_play(&self) -> u8 {
        self.seats.iter().map(|s| s.dice).sum()
    }

    /// How many players are left.
    pub fn alive(&self) -> usize {
        self.seats.iter().filter(|s| s.dice > 0).count()
    }

    /// The last bid of the round: its place in [`State::acts`], who bid, and what.
    pub fn standing(&self) -> Option<(usize, u8, Bid)> {
        self.acts.iter().enumerate().rev().find_map(|(i, act)| match act.said {
            Said::Bid { bid, .. } => Some((i, act.player, bid)),
            Said::Pass { .. } => None,
        })
    }

    /// The next player after that seat who is not out.
    pub fn next_alive(&self, seat: u8) -> u8 {
        let n = self.seats.len();
        (1..=n)
            .map(|i| ((usize::from(seat) + i) % n) as u8)
            .find(|p| self.seats[usize::from(*p)].dice > 0)
            .unwrap_or(seat)
    }
}
