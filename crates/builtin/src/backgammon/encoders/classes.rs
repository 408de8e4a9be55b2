//! Adds position classes, by which gates choose experts, to another encoder.

use crate::backgammon::{Backgammon, Position, State};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

/// The encoder `NAME+classes`: the inputs of another encoder and three index channels.
#[derive(Clone, Debug)]
pub struct Classed<E> {
    inputs: E,
    name: String,
    channels: Vec<Channel>,
}

/// Number of values of the pip channels. Higher pip counts map to the highest.
const PIPS: u64 = 256;

impl<E: Encoder<Backgammon>> Classed<E> {
    /// Wraps an encoder.
    pub fn new(inputs: E) -> Self {
        let pips = |side: &str| format!("pips of the {side} side, at most {}", PIPS - 1);
        let classes = [
            Channel::fixed("phase", ChannelKind::Index(5), Position::CLASSES),
            Channel::fixed("pips_own", ChannelKind::Index(PIPS), "").about(pips("own")),
            Channel::fixed("pips_opponent", ChannelKind::Index(PIPS), "").about(pips("other")),
        ];
        let name = format!("{}+classes", inputs.name());
        let channels = inputs.channels().iter().cloned().chain(classes).collect();
        Self { inputs, name, channels }
    }
}

impl<E: Encoder<Backgammon>> Encoder<Backgammon> for Classed<E> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, game: &Backgammon, after: Afterstate<'_, Backgammon>, row: RowMut<'_>) {
        let State { sides, .. } = after.state;
        let position = Position { own: sides[after.player], opponent: sides[1 - after.player] };
        let pips = [position.own, position.opponent].map(|side| u64::from(side.pips()).min(PIPS - 1));
        row.index.copy_from_slice(&[position.class(), pips[0], pips[1]]);
        self.inputs.encode(game, after, row);
    }

    fn needs_action(&self) -> bool {
        false
    }
}
