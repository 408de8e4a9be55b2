//! Rows for the rule set `r-post`: a player's knowledge, and a call or a raise of any face.

use crate::liars_dice::rules::{Action, LiarsDice};
use crate::liars_dice::state::Said;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

/// A player's knowledge and an action.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raises;

/// Number of inputs of the channel `view`.
const VIEW: usize = 34;

static CHANNELS: [Channel; 2] = [
    Channel::fixed(
        "view",
        ChannelKind::Dense(VIEW),
        "0 whether it is a call, 1 a raise; for the bid considered (the standing bid for a call, else the \
         raise): 2 P(it is \
             true), 3 P(one more would be), 4 count / dice in play, 5 own dice of its face / 6, 6 (count − own) / unknown dice; 7 \
             P(the standing bid is true); 8 own dice / 6, 9 dice in play / 24, 10 players left / 4; 11..14 dice of the next three \
             players / 6, 14..17 of the three before; 17..23 own dice of each face, the face of the bid \
             considered first, then in \
             rising order / 6; 23 how often that face was bid in this round / 4, 24 by the last bidder, 25 by the next player; 26 \
             bids in this round / 8; 27 whether the standing bid has the same face, 28 whether it is the most frequent own face; \
             29 own dice of the standing bid's face / 6; 30 P(the standing bid is true if its bidder has one more of the face \
             than is likely); 31 whether the next player has one die, 32 the last bidder; 33 whether a call would be right by the \
             own dice alone",
    ),
    Channel::fixed("left", ChannelKind::Index(3), "phase by the dice in play: at least 16, 8 to 15, fewer"),
];

impl Encoder<LiarsDice> for Raises {
    fn name(&self) -> &str {
        "raises"
    }

    fn channels(&self) -> &[Channel] {
        &CHANNELS
    }

    fn encode(&self, game: &LiarsDice, after: Afterstate<'_, LiarsDice>, row: RowMut<'_>) {
        let (state, player) = (after.state, after.player);
        let own = &state.seats[player];
        let in_play = state.dice_in_play();
        let unknown = in_play - own.dice;
        let standing = state.standing();
        let calls = matches!(after.action, Some(Action::Challenge(_)));
        let bid = match (after.action, standing) {
            (Some(Action::Bid { bid, .. }), _) => *bid,
            (_, Some((_, _, bid))) => bid,
            _ => game.opening(state),
        };
        let odds = game.odds(state.special, bid.face);
        let chance = |count: u8, face: u8, more: i32| {
            odds.at_least(
                unknown,
                i32::from(count) + more - i32::from(game.matching(state.special, &own.cup, face)),
            ) as f32
        };
        let have = own.cup.count(bid.face);
        let x = row.dense;
        x[0] = f32::from(u8::from(calls));
        x[1] = 1.0 - x[0];
        x[2] = chance(bid.count, bid.face, 0);
        x[3] = chance(bid.count, bid.face, 1);
        x[4] = f32::from(bid.count) / f32::from(in_play.max(1));
        x[5] = f32::from(have) / 6.0;
        x[6] = (f32::from(bid.count) - f32::from(have)) / f32::from(unknown.max(1));
        x[8] = f32::from(own.dice) / 6.0;
        x[9] = f32::from(in_play) / 24.0;
        x[10] = state.alive() as f32 / 4.0;
        let n = state.seats.len();
        for i in 0..3.min(n - 1) {
            x[11 + i] = f32::from(state.seats[(player + 1 + i) % n].dice) / 6.0;
            x[14 + i] = f32::from(state.seats[(player + n - 1 - i) % n].dice) / 6.0;
        }
        x[17] = f32::from(have) / 6.0;
        let others = (1..=game.faces()).filter(|face| *face != bid.face);
        for (i, face) in others.enumerate() {
            x[18 + i] = f32::from(own.cup.count(face)) / 6.0;
        }
        let next = state.next_alive(player as u8);
        let said = |by: Option<u8>| {
            let acts = state.acts.iter().filter(|act| by.is_none_or(|by| act.player == by));
            acts.filter(|act| matches!(act.said, Said::Bid { bid: b, .. } if b.face == bid.face)).count()
                as f32
        };
        x[23] = said(None) / 4.0;
        x[26] = state.acts.len() as f32 / 8.0;
        x[25] = said(Some(next)).min(1.0);
        x[28] = f32::from(u8::from(game.favourite(&own.cup).1 == bid.face));
        x[31] = f32::from(u8::from(state.seats[usize::from(next)].dice == 1));
        if let Some((_, bidder, last)) = standing {
            x[7] = chance(last.count, last.face, 0);
            x[24] = said(Some(bidder)).min(1.0);
            x[27] = f32::from(u8::from(last.face == bid.face));
            let held = own.cup.count(last.face);
            x[29] = f32::from(held) / 6.0;
            let theirs = state.seats[usize::from(bidder)].dice;
            let likely = (f64::from(theirs) * game.chance(state.special, last.face) + 1.0).round() as u8;
            let missing = i32::from(last.count) - i32::from(held) - i32::from(likely.min(theirs));
            x[30] = odds.at_least(unknown - theirs.min(unknown), missing) as f32;
            x[32] = f32::from(u8::from(theirs == 1));
            x[33] = f32::from(u8::from(last.count > unknown + held));
        }
        row.index[0] = match in_play {
            16.. => 0,
            8.. => 1,
            _ => 2,
        };
    }
}
