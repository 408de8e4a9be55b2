//! Model (M) of the last bidder: the dice that explain the bid.

use super::feature::{Feature, Reader};
use super::settings::DeliberateSettings;
use super::view::{Model, View};
use crate::liars_dice::state::{Said, Seat};

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
    let under = |seat: &Seat| seat.dice - seat.pushed.total();
    let cup = under(&state.seats[usize::from(bidder)]);
    let unknown = state.seats.iter().map(under).sum::<u8>() - cup;
    let exposed: u8 =
        state.seats.iter().map(|seat| game.matching(state.special, &seat.pushed, bid.face)).sum();
    reader.note(Feature::LastCount, bid.count);
    reader.note(Feature::LastFace, bid.face);
    reader.note(Feature::BidderCup, cup);
    reader.note(Feature::BidderUnknown, unknown);
    reader.note(Feature::Exposed, exposed);
    let odds = game.odds(state.special, bid.face);
    let mut held = cup.saturating_sub(1).max(1);
    for supposed in 0..cup {
        if odds.at_least(cup, supposed.into()) < settings.model_unlikely {
            held = supposed.saturating_sub(1).max(1);
            break;
        }
        let missing = i32::from(bid.count) - i32::from(exposed) - i32::from(supposed);
        if odds.at_least(unknown, missing) > settings.model_supports {
            held = supposed;
            break;
        }
    }
    Some(Model { cup, face: bid.face, held: held.min(cup) })
}
