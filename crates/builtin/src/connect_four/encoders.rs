//! Connect Four's encoders. Both take the view of the player who just moved: own stones and opponent's stones.

use super::board::{Board, CELLS, COLUMNS, ROWS};
use super::rules::ConnectFour;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, EncoderFn, RowMut};
use std::sync::Arc;

const STONES: Channel = Channel::fixed("stones", ChannelKind::Index(43), "stones on the board, 0 to 42");

const CELLS_OF_BOTH: Channel = Channel::fixed(
    "cells",
    ChannelKind::Bits(84),
    "own stones on the 42 cells, column by column from the bottom, then the opponent's stones",
);

/// The stones of both players.
pub(super) fn cells() -> Arc<dyn Encoder<ConnectFour>> {
    let write = |_: &ConnectFour, after: Afterstate<'_, ConnectFour>, row: RowMut<'_>| {
        write(after.state, after.player, row.dense, |board, player| board.stones(player));
        row.index[0] = after.state.count().into();
    };
    Arc::new(EncoderFn::new("cells", vec![CELLS_OF_BOTH, STONES], write))
}

/// The stones of both players, and the empty cells that complete four for each player.
pub(super) fn threats() -> Arc<dyn Encoder<ConnectFour>> {
    let channel = Channel::fixed(
        "threats",
        ChannelKind::Bits(84),
        "the 42 cells, column by column from the bottom: empty cells that complete four for the own player, \
         then for the opponent",
    );
    let write = |_: &ConnectFour, after: Afterstate<'_, ConnectFour>, row: RowMut<'_>| {
        let (cells, threats) = row.dense.split_at_mut(2 * CELLS);
        write(after.state, after.player, cells, |board, player| board.stones(player));
        write(after.state, after.player, threats, |board, player| board.winning_cells(player));
        row.index[0] = after.state.count().into();
    };
    Arc::new(EncoderFn::new("threats", vec![CELLS_OF_BOTH, channel, STONES], write))
}

/// Writes the player's set of cells, then the opponent's set, with one number per cell.
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
