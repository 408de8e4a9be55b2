//! What players know of hidden dice, and the model (M) of the last bidder.

use crate::liars_dice::dice::Dice;
use crate::liars_dice::odds::Odds;
use crate::liars_dice::rules::LiarsDice;
use crate::liars_dice::state::{Bid, Seat, State};

/// Number of dice under a cup.
pub(super) fn under(seat: &Seat) -> u8 {
    seat.dice - seat.pushed.total()
}

/// The dice that a player knows, under the own cup and pushed by anybody, and the number of dice under the other cups.
pub(super) fn known(state: &State, player: usize) -> (Dice, u8) {
    let pushed = state.seats.iter().fold(Dice::default(), |sum, seat| sum.with(&seat.pushed));
    let all: u8 = state.seats.iter().map(under).sum();
    let own = &state.seats[player];
    (own.cup.with(&pushed), all - under(own))
}

/// The assumptions about the dice of the last bidder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Model {
    /// C: dice under the bidder's cup.
    pub(super) cup: u8,
    /// f: the face that was bid.
    pub(super) face: u8,
    /// h: number of the bidder's dice that match.
    pub(super) held: u8,
}

/// A bid as its bidder sees it.
pub(super) struct OwnBid {
    bid: Bid,
    /// Dice under the bidder's cup.
    pub(super) cup: u8,
    /// Dice under the other cups.
    pub(super) unknown: u8,
    /// Pushed dice that match.
    pub(super) exposed: u8,
}

impl OwnBid {
    pub(super) fn new(game: &LiarsDice, state: &State, bidder: u8, bid: Bid) -> Self {
        let cup = under(&state.seats[usize::from(bidder)]);
        let unknown = state.seats.iter().map(under).sum::<u8>() - cup;
        let matching = |seat: &Seat| game.matching(state.special, &seat.pushed, bid.face);
        Self { bid, cup, unknown, exposed: state.seats.iter().map(matching).sum() }
    }

    /// The fewest matching dice that make the bid more likely than `supports`, if holding them is not less likely than
    /// `unlikely`. `odds` are of dice under the bidder's cup and under the others.
    pub(super) fn model(&self, odds: [&Odds; 2], unlikely: f64, supports: f64) -> Model {
        let &Self { bid, cup, unknown, exposed } = self;
        let mut held = cup.saturating_sub(1).max(1);
        for supposed in 0..cup {
            if odds[0].at_least(cup, supposed.into()) < unlikely {
                held = supposed.saturating_sub(1).max(1);
                break;
            }
            let missing = i32::from(bid.count) - i32::from(exposed) - i32::from(supposed);
            if odds[1].at_least(unknown, missing) > supports {
                held = supposed;
                break;
            }
        }
        Model { cup, face: bid.face, held: held.min(cup) }
    }
}
