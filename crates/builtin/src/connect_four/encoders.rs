//! Encoders. Both see the board from the player who just moved: own stones, the other's stones.

use super::board::{Board, CELLS, COLUMNS, ROWS};
use super::rules::ConnectFour;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut};

const STONES: Channel = Channel::fixed("stones", ChannelKind::Index(43), "stones on the board, 0 to 42");

const CELLS_OF_BOTH: Channel = Channel::fixed(
    "cells",
    ChannelKind::Bits(84),
    "42 cells with an own stone, column by column from the bottom, then 42 with the other's",
);

/// The stones of both players.
#[derive(Clone, Copy, Debug)]
pub struct Cells;

static CELLS_CHANNELS: [Channel; 2] = [CELLS_OF_BOTH, STONES];

impl Encoder<ConnectFour> for Cells {
    fn name(&self) -> &str {
        "cells"
    }

    fn channels(&self) -> &[Channel] {
        &CELLS_CHANNELS
    }

    fn encode(&self, _: &ConnectFour, after: Afterstate<'_, ConnectFour>, row: RowMut<'_>) {
        write(after.state, after.player, row.dense, |board, player| board.stones(player));
        row.index[0] = after.state.count().into();
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// The stones of both players, and the empty cells that would complete four for either.
#[derive(Clone, Copy, Debug)]
pub struct Threats;

static THREATS_CHANNELS: [Channel; 3] = [
    CELLS_OF_BOTH,
    Channel::fixed(
        "threats",
        ChannelKind::Bits(84),
        "42 empty cells that complete four own stones, column by column from the bottom, then 42 for the other's",
    ),
    STONES,
];

impl Encoder<ConnectFour> for Threats {
    fn name(&self) -> &str {
        "threats"
    }

    fn channels(&self) -> &[Channel] {
        &THREATS_CHANNELS
    }

    fn encode(&self, _: &ConnectFour, after: Afterstate<'_, ConnectFour>, row: RowMut<'_>) {
        let (cells, threats) = row.dense.split_at_mut(2 * CELLS);
        write(after.state, after.player, cells, |board, player| board.stones(player));
        write(after.state, after.player, threats, |board, player| board.winning_cells(player));
        row.index[0] = after.state.count().into();
    }

    fn needs_action(&self) -> bool {
        false
    }
}

/// Writes a set of cells of the player, then that of the other one, a number a cell.
fn write(board: &Board, player: usize, dense: &mut [f32], set: impl Fn(&Board, usize) -> u64) {
    for (who, inputs) in [player, 1 - player].into_iter().zip(dense.chunks_exact_mut(CELLS)) {
        let set = set(board, who);
        for column in 0..COLUMNS {
            for row in 0..ROWS {
                inputs[column * ROWS + row] = f32::from(u8::from(set & Board::cell(column, row) != 0));
            }
        }
    }
}
