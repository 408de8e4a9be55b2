//! The state of a game of liar's dice.

use super::dice::Dice;

/// A claim that at least `count` of all dice match `face`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bid {
    /// Claimed number of dice.
    pub count: u8,
    /// The face, from 1.
    pub face: u8,
}

/// A bid or pass in the current round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    /// A bid and the dice pushed with it, if any.
    Bid {
        /// The claim.
        bid: Bid,
        /// The exposed dice. The others were rolled again.
        push: Dice,
    },
    /// A pass: claims that all own dice show one face.
    Pass {
        /// Whether the claim was true. Hidden from the other players.
        valid: bool,
    },
}

/// An act: a player and a bid or pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Act {
    /// Seat, from 0.
    pub player: u8,
    /// The bid or pass.
    pub said: Said,
}

/// One player's dice and remaining rights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seat {
    /// Number of the player's dice, under the cup and pushed. 0 if out of the game.
    pub dice: u8,
    /// The dice under the cup. Empty before they are rolled.
    pub cup: Dice,
    /// The dice pushed in this round, visible to everyone.
    pub pushed: Dice,
    /// Whether the player has passed since the last roll.
    pub passed: bool,
    /// Whether the player's only exact is used.
    pub exacted: bool,
    /// Whether the player has already begun a round with one die.
    pub was_down_to_one: bool,
}

/// The next step of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The first starter is drawn.
    Draw,
    /// The cup of [`State::mover`] is rolled.
    Roll,
    /// [`State::mover`] acts.
    Act,
    /// One player remains.
    Over,
}

/// The complete state, including hidden dice.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The players in seat order.
    pub seats: Vec<Seat>,
    /// The bids and passes of this round.
    pub acts: Vec<Act>,
    /// The player who acts or whose dice are rolled.
    pub mover: u8,
    /// The player who began this round or will begin it.
    pub starter: u8,
    /// The next step.
    pub phase: Phase,
    /// Whether the round is special: nothing is wild, and only players with one die may change the face.
    pub special: bool,
}

/// Reuses allocations, because candidates copy states millions of times.
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
    /// Number of dice of all players.
    pub fn dice_in_play(&self) -> u8 {
        self.seats.iter().map(|s| s.dice).sum()
    }

    /// Number of remaining players.
    pub fn alive(&self) -> usize {
        self.seats.iter().filter(|s| s.dice > 0).count()
    }

    /// The last bid of the round: its index in [`State::acts`], the bidder and the bid.
    pub fn standing(&self) -> Option<(usize, u8, Bid)> {
        self.acts.iter().enumerate().rev().find_map(|(i, act)| match act.said {
            Said::Bid { bid, .. } => Some((i, act.player, bid)),
            Said::Pass { .. } => None,
        })
    }

    /// The next player after this seat who is not out.
    pub fn next_alive(&self, seat: u8) -> u8 {
        let n = self.seats.len();
        (1..=n)
            .map(|i| ((usize::from(seat) + i) % n) as u8)
            .find(|p| self.seats[usize::from(*p)].dice > 0)
            .unwrap_or(seat)
    }
}
