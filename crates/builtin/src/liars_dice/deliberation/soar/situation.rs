//! An agent's knowledge at a decision, and its model of the last bidder.

use super::Generation;
use crate::liars_dice::deliberation::model::{Model, OwnBid, known};
use crate::liars_dice::dice::Dice;
use crate::liars_dice::odds::Odds;
use crate::liars_dice::rules::LiarsDice;
use crate::liars_dice::state::{Bid, Said, Seat, State};

/// The situation of the player to move.
pub(super) struct Situation<'a> {
    pub(super) game: &'a LiarsDice,
    pub(super) state: &'a State,
    pub(super) player: usize,
    /// K: dice under the own cup, and those exposed by anybody.
    pub(super) known: Dice,
    /// U: number of dice under other cups.
    pub(super) unknown: u8,
    /// D: number of dice in play.
    pub(super) in_play: u8,
    /// The last bid of the round: the bidder, the bid, and whether it came with a push.
    pub(super) standing: Option<(u8, Bid, bool)>,
}

/// The newer agents' kernel function returns 0 for smaller probabilities.
const SMALLEST: f64 = 1e-5;

/// Smallest probability of the dice that a model assumes.
const UNLIKELY: f64 = 0.16;

impl<'a> Situation<'a> {
    pub(super) fn new(game: &'a LiarsDice, state: &'a State, player: usize) -> Self {
        let (known, unknown) = known(state, player);
        let standing = state.acts.iter().rev().find_map(|act| match act.said {
            Said::Bid { bid, push } => Some((act.player, bid, !push.is_empty())),
            Said::Pass { .. } => None,
        });
        Self { game, state, player, known, unknown, in_play: state.dice_in_play(), standing }
    }

    pub(super) fn special(&self) -> bool {
        self.state.special
    }

    pub(super) fn own(&self) -> &Seat {
        &self.state.seats[self.player]
    }

    /// Whether ones count for this face.
    pub(super) fn counts_ones(&self, face: u8) -> bool {
        self.game.wild(self.special()).is_some_and(|wild| wild != face)
    }

    /// r: probability that a hidden die counts for this face.
    pub(super) fn chance(&self, face: u8) -> f64 {
        self.game.chance(self.special(), face)
    }

    /// P(at least `missing` of `unknown` dice count for this face).
    pub(super) fn at_least(&self, unknown: u8, face: u8, missing: i32) -> f64 {
        kernel(self.game.odds(self.special(), face).at_least(unknown, missing))
    }

    /// P(exactly `missing` of `unknown` dice show one face).
    pub(super) fn exactly(&self, unknown: u8, missing: i32) -> f64 {
        kernel(self.game.single_odds().exactly(unknown, missing))
    }

    /// Known dice of exactly this face, including those that a model assumes.
    pub(super) fn natural(&self, face: u8, model: Option<Model>) -> u8 {
        self.known.count(face) + model.filter(|model| model.face == face).map_or(0, |model| model.held)
    }

    /// Known dice that count for this face, including those that a model assumes.
    pub(super) fn known(&self, face: u8, model: Option<Model>) -> u8 {
        let ones = if self.counts_ones(face) { self.natural(1, model) } else { 0 };
        self.natural(face, model) + ones
    }

    /// The model of the last bidder: the fewest dice of the bid's face that make the bid likely from the bidder's view.
    /// None without M, without a bid, after a bid with a push, and after an own bid.
    pub(super) fn model(&self, wanted: bool, generation: Generation) -> Option<Model> {
        let (bidder, bid, pushed) = self.standing.filter(|_| wanted)?;
        if pushed || usize::from(bidder) == self.player {
            return None;
        }
        let own = self.game.odds(self.special(), bid.face);
        // In special rounds the newer agents count ones as wild here.
        let newer = generation != Generation::Old;
        let rest: &Odds =
            if newer && self.special() && bid.face != 1 { self.game.odds(false, bid.face) } else { own };
        let supports = if newer { 0.60 } else { 0.57 };
        Some(OwnBid::new(self.game, self.state, bidder, bid).model([own, rest], UNLIKELY, supports))
    }
}

fn kernel(p: f64) -> f64 {
    if p < SMALLEST { 0.0 } else { p }
}
