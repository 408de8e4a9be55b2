//! The state of the post's Q-learner and a decision, as a table key.

use crate::liars_dice::post::{PostState, SURE};
use crate::liars_dice::rules::{Action, LiarsDice, RuleSet};
use crate::liars_dice::state::State;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, RowMut, RowSink};

/// The table key of the post's Q-learner: total dice, own dice, the bucket of the bid's probability, and the decision.
///
/// The decisions are to call, to raise with the most frequent own face, and to bluff with another face. The post knows
/// only call and raise, and bluffs half of the time; here the table also learns whether to bluff. All bluffs share a
/// key, so that their values tie and a face is drawn.
pub(super) struct Post;

static CHANNELS: [Channel; 1] = [Channel::fixed(
    "post",
    ChannelKind::Key,
    "dice in play, own dice, twentieths of the chance that the standing bid is true by the own dice (20: certain), and call, \
     raise or bluff, in one number; 0 for an opening, which is forced",
)];

/// Key of an opening.
const OPENING: u64 = 0;

/// Codes of the decisions, in the lowest byte of a key.
const CALL: u64 = 1;
const RAISE: u64 = 2;
const BLUFF: u64 = 3;

fn key(game: &LiarsDice, state: &State, player: usize, action: &Action) -> u64 {
    let Some(PostState { total, own, bucket }) = PostState::recounted(game, state, player) else {
        return OPENING;
    };
    let seat = &state.seats[player];
    let (_, favourite) = game.favourite(&seat.cup.with(&seat.pushed));
    let decision = match action {
        Action::Challenge(_) => CALL,
        Action::Bid { bid, .. } if bid.face == favourite => RAISE,
        _ => BLUFF,
    };
    u64::from(total) << 24 | u64::from(own) << 16 | u64::from(bucket) << 8 | decision
}

impl Encoder<LiarsDice> for Post {
    fn name(&self) -> &str {
        "post"
    }

    fn channels(&self) -> &[Channel] {
        &CHANNELS
    }

    fn fits(&self, game: &LiarsDice) -> Result<(), String> {
        match game.rules() {
            RuleSet::RPost => Ok(()),
            _ => Err("the encoder post is for liars-dice:r-post:PxD".into()),
        }
    }

    fn encode(&self, game: &LiarsDice, after: Afterstate<'_, LiarsDice>, row: RowMut<'_>) {
        let Some(action) = after.action else { return };
        row.index[0] = key(game, after.state, after.player, action);
    }

    fn decides(&self) -> bool {
        true
    }

    fn decide(
        &self,
        game: &LiarsDice,
        state: &State,
        player: usize,
        actions: &mut Vec<Action>,
        rows: &mut dyn RowSink,
    ) {
        game.actions(state, actions);
        for action in &*actions {
            rows.push().index[0] = key(game, state, player, action);
        }
    }

    fn key_text(&self, _: &LiarsDice, channel: &str, key: u64) -> Option<String> {
        if channel != "post" {
            return None;
        }
        if key == OPENING {
            return Some("if the operator is to open".into());
        }
        let byte = |shift: u32| key >> shift & 0xff;
        let bucket = byte(8);
        let chance = if bucket >= u64::from(SURE) {
            "my own dice make the bid true".to_string()
        } else {
            format!("the bid is true with {} to {} %", 5 * bucket, 5 * bucket + 5)
        };
        let decision = match byte(0) {
            CALL => "call",
            RAISE => "raise with my most frequent face",
            _ => "bluff",
        };
        Some(format!(
            "if the operator is to {decision} and {} dice are in play and {} are mine and {chance}",
            byte(24),
            byte(16)
        ))
    }
}
