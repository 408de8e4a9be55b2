//! Encoders. All see the position from the player who just moved: that side first, then the one to roll.

use super::{Bearoff, POINTS};
use crate::encoder::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

/// The 56 bits of Wiering & Kröse: for both sides the checkers on each point and those borne off, in binary.
#[derive(Clone, Copy, Debug)]
pub struct Bits;

/// Bits of a field, enough for 15 checkers.
const WIDTH: usize = 4;

/// Points and one for the checkers borne off.
const FIELDS: usize = POINTS + 1;

const BITS: [Channel; 1] = [Channel {
    name: "bits",
    kind: ChannelKind::Bits(2 * FIELDS * WIDTH),
    about: "side that just moved 0..28, side to roll 28..56; each: checkers on point 1 (0..4), 2 (4..8), 3 (8..12), \
            4 (12..16), 5 (16..20), 6 (20..24), borne off, that is 14 less those on the board (24..28); each number \
            lowest bit first",
}];

impl Encoder<Bearoff> for Bits {
    fn name(&self) -> &'static str {
        "bits"
    }

    fn channels(&self) -> &'static [Channel] {
        &BITS
    }

    #[inline]
    fn encode(&self, game: &Bearoff, after: Afterstate<'_, Bearoff>, row: RowMut<'_>) {
        let mut inputs = row.dense.chunks_exact_mut(WIDTH);
        for player in [after.player, 1 - after.player] {
            let side = after.state.sides[player];
            let off = game.checkers().saturating_sub(side.checkers());
            for (number, bits) in side.counts().into_iter().chain([off]).zip(&mut inputs) {
                for (k, bit) in bits.iter_mut().enumerate() {
                    *bit = f32::from(number >> k & 1);
                }
            }
        }
    }

    fn needs_action(&self) -> bool {
        false
    }
}
