//! Model (M) of the last bidder: the dice that explain the bid.

use super::feature::{Feature, Reader};
use super::settings::DeliberateSettings;
use super::view::View;
use crate::liars_dice::deliberation::model::{Model, OwnBid};
use crate::liars_dice::state::Said;

/// The modelled dice of the last bidder: the fewest matching dice that make the bid likely from the bidder's view, if
/// holding them is not too unlikely. None after a push, which already revealed the relevant dice, and for the player's
/// own bid.
pub(super) fn of_bidder(
    view: &View<'_>,
    settings: &DeliberateSettings,
    reader: &mut Reader,
) -> Option<Model> {
    let (state, game) = (view.state, view.game);
    let newest = state.acts.last()?;
    let pushed = matches!(newest.said, Said::Bid { push, .. } if !push.is_empty());
    reader.note(Feature::BidderPushed, u8::from(pushed));
    let (_, bidder, bid) = state.standing()?;
    if pushed || usize::from(bidder) == view.player {
        return None;
    }
    let own = OwnBid::new(game, state, bidder, bid);
    reader.note(Feature::LastCount, bid.count);
    reader.note(Feature::LastFace, bid.face);
    reader.note(Feature::BidderCup, own.cup);
    reader.note(Feature::BidderUnknown, own.unknown);
    reader.note(Feature::Exposed, own.exposed);
    let odds = game.odds(state.special, bid.face);
    Some(own.model([odds; 2], settings.model_unlikely, settings.model_supports))
}
