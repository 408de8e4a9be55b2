//! Encoders of backgammon. All take the view of the player who just moved.

mod classes;
mod cube;
mod expert;
mod hits;
mod score;

pub use classes::Classed;
pub use cube::WithCube;
pub(super) use cube::stakes_by_owner;
pub use expert::{Expert, INPUTS, Input};
pub use score::WithScore;

use super::{Backgammon, Side, State};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

/// Number of inputs per side.
const SIDE: usize = 101;

/// 202 inputs: the checkers on each point and the bar in units, and those borne off.
#[derive(Clone, Copy, Debug)]
pub struct Points;

static CHANNELS: [Channel; 1] = [POINTS];

const POINTS: Channel = Channel::fixed(
    "points",
    ChannelKind::Dense(2 * SIDE),
    "101 inputs of the own side, then 101 of the opponent, each in the side's own numbering of the points. \
     4 (p − 1) + u for point p, 25 for the bar: at least 1, 2, 3 checkers for u = 0, 1, 2, half of those above 3 for u = 3. \
     100: the share of checkers that are off",
);

impl Encoder<Backgammon> for Points {
    fn name(&self) -> &str {
        "points"
    }

    fn channels(&self) -> &[Channel] {
        &CHANNELS
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

/// Writes the inputs of one side.
fn write(side: Side, checkers: u8, inputs: &mut [f32]) {
    let (units, off) = inputs.split_at_mut(SIDE - 1);
    // Covers all points, also empty ones: a loop over occupied points would have an unpredictable end.
    let (low, high) = units.as_chunks_mut().0.split_at_mut(16);
    let [first, second] = side.on_board();
    for (units, word, places) in [(low, first, 16), (high, second, 9)] {
        for k in 0..places {
            units[k] = UNITS[(word >> (4 * k) & 15) as usize];
        }
    }
    off[0] = f32::from(side.off()) / f32::from(checkers);
}

/// Inputs of a point by its number of checkers.
static UNITS: [[f32; 4]; 16] = {
    let mut units = [[0.0; 4]; 16];
    let mut count = 1;
    while count < 16 {
        let above = if count > 3 { (count - 3) as f32 / 2.0 } else { 0.0 };
        units[count] = [1.0, (count > 1) as u8 as f32, (count > 2) as u8 as f32, above];
        count += 1;
    }
    units
};

#[cfg(test)]
mod tests;
