//! Encoders of backgammon. All take the view of the player who just moved.

use super::{BAR, Backgammon, Side, State};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

/// Inputs of a side.
const SIDE: usize = 101;

/// 202 inputs: the checkers on each point and the bar in units, and those borne off.
#[derive(Clone, Copy, Debug)]
pub struct Points;

static POINTS: [Channel; 1] = [Channel::fixed(
    "points",
    ChannelKind::Dense(2 * SIDE),
    "101 inputs of the own side, then 101 of the opponent, each in the side's own numbering of the points. \
     4 (p − 1) + u for point p, 25 for the bar: at least 1, 2, 3 checkers for u = 0, 1, 2, half of those above 3 for u = 3. \
     100: the share of checkers that are off",
)];

impl Encoder<Backgammon> for Points {
    fn name(&self) -> &str {
        "points"
    }

    fn channels(&self) -> &[Channel] {
        &POINTS
    }

    fn encode(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>, row: RowMut<'_>) {
        let State { sides, .. } = after.state;
        for (inputs, side) in
            row.dense.chunks_exact_mut(SIDE).zip([sides[after.player], sides[1 - after.player]])
        {
            write(side, game.checkers(), inputs);
        }
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// Writes the inputs of a side over zeros.
fn write(side: Side, checkers: u8, inputs: &mut [f32]) {
    for place in 1..=BAR {
        let count = side.on(place);
        if count > 0 {
            let unit = |least: u8| f32::from(u8::from(count >= least));
            let above = f32::from(count.saturating_sub(3)) / 2.0;
            let at = 4 * (usize::from(place) - 1);
            inputs[at..at + 4].copy_from_slice(&[unit(1), unit(2), unit(3), above]);
        }
    }
    inputs[SIDE - 1] = f32::from(side.off()) / f32::from(checkers);
}
