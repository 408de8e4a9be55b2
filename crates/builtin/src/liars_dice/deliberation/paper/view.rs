//! A player's knowledge about the dice, and the model of the last bidder.

use super::feature::{Feature, Reader};
use crate::liars_dice::deliberation::model::{Model, known};
use crate::liars_dice::dice::Dice;
use crate::liars_dice::rules::LiarsDice;
use crate::liars_dice::state::{Bid, Seat, State};

/// The situation from the view of the player to move.
pub(super) struct View<'a> {
    pub(super) game: &'a LiarsDice,
    pub(super) state: &'a State,
    pub(super) player: usize,
    /// Dice under the own cup, and pushed by anybody.
    pub(super) known: Dice,
    /// Dice under the other cups.
    pub(super) unknown: u8,
}

impl<'a> View<'a> {
    pub(super) fn new(game: &'a LiarsDice, state: &'a State, player: usize) -> Self {
        let (known, unknown) = known(state, player);
        Self { game, state, player, known, unknown }
    }

    pub(super) fn own(&self) -> &Seat {
        &self.state.seats[self.player]
    }

    /// The number of known dice that match a face and of hidden dice that may match, with the model of a bidder and
    /// after pushing `push` and rerolling the rest.
    pub(super) fn dice_for(&self, face: u8, push: &Dice, model: Option<Model>) -> (u8, u8) {
        let special = self.state.special;
        let (mut known, mut unknown) = (self.known, self.unknown);
        if !push.is_empty() {
            let rest = self.own().cup.without(push).unwrap_or_default();
            known = known.without(&rest).unwrap_or(known);
            unknown += rest.total();
        }
        if let Some(model) = model {
            known.0[usize::from(model.face) - 1] += model.held;
            // The bidder's other dice do not match the modelled face, but may match other faces.
            unknown -= if model.face == face { model.cup } else { model.held };
        }
        (self.game.matching(special, &known, face), unknown)
    }

    /// P(a bid is true).
    pub(super) fn success(&self, bid: Bid, push: &Dice, model: Option<Model>) -> f64 {
        let (known, unknown) = self.dice_for(bid.face, push, model);
        self.game
            .odds(self.state.special, bid.face)
            .at_least(unknown, i32::from(bid.count) - i32::from(known))
    }

    /// Records the features that an evaluation of a bid reads.
    pub(super) fn read(&self, bid: Bid, push: &Dice, reader: &mut Reader) {
        let special = self.state.special;
        reader.note(Feature::Special, u8::from(special));
        reader.note(Feature::Count, bid.count);
        reader.note(Feature::Face, bid.face);
        reader.note(Feature::KnownFace, self.known.count(bid.face));
        let wild = self.game.wild(special).filter(|wild| *wild != bid.face);
        if let Some(wild) = wild {
            reader.note(Feature::KnownWild, self.known.count(wild));
        }
        if !push.is_empty() {
            reader.note(Feature::PushedFace, push.count(bid.face));
            if let Some(wild) = wild {
                reader.note(Feature::PushedWild, push.count(wild));
            }
            reader.note(Feature::Rerolled, self.own().cup.total() - push.total());
        }
        reader.note(Feature::Unknown, self.unknown);
    }
}
