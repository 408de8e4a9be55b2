//! Facts about a position that need no search.

use super::super::board::ROWS;
use super::super::board::bits::{ALL_CELLS, four_across, has_four, landing_cells};

/// Rows 2, 4 and 6 counted from 1: O gets these if it always answers in X's column.
pub(super) const EVEN_ROWS: u64 = ALL_CELLS / ((1 << ROWS) - 1) * 0b10_1010;
/// Rows 1, 3 and 5 counted from 1.
pub(super) const ODD_ROWS: u64 = ALL_CELLS & !EVEN_ROWS;
/// The top row.
const TOP_ROW: u64 = (ALL_CELLS / ((1 << ROWS) - 1)) << (ROWS - 1);

/// An unfinished position whose mover cannot win at once and has at least one safe move.
pub(super) struct Node {
    /// Stones of the player to move.
    pub(super) mover: u64,
    /// Stones of the other player.
    pub(super) other: u64,
    /// Number of stones of both players.
    pub(super) count: u32,
    /// Landing cells after which the opponent cannot win at once.
    pub(super) safe: u64,
}

/// The `landing` cells after which the player with these `threats` cannot win at once.
pub(super) fn safe_moves(landing: u64, threats: u64) -> u64 {
    let forced = landing & threats;
    let moves = match forced {
        0 => landing,
        one if one.is_power_of_two() => one,
        _ => 0,
    };
    moves & !(threats >> 1)
}

/// Whether the value of `node` is at least `goal`, if this is known without search.
///
/// This uses two facts. First, a player whose stones and all empty cells together contain no four cannot win. Second,
/// with X to move, O can always answer in X's column. If X has filled a column, O plays in a column with an odd number
/// of empty cells; by parity, one exists unless all columns were even. X then gets only odd rows in the columns that
/// were even, and no vertical four.
pub(super) fn foreseen(node: &Node, goal: u32) -> Option<bool> {
    let occupied = node.mover | node.other;
    let empty = ALL_CELLS & !occupied;
    // The landing cells of the columns with an odd number of empty cells.
    let odd = landing_cells(occupied) & EVEN_ROWS;
    let x_to_move = node.count & 1 == 0;
    if x_to_move {
        // All empty cells of those columns.
        let above = (((odd | odd << 2 | odd << 4) & TOP_ROW) << 1) - odd;
        let x_may_win = || four_across(node.mover | empty & ODD_ROWS | above);
        if goal == 1 {
            return (!x_may_win()).then_some(false);
        }
        if !has_four(node.other | empty) {
            return Some(true);
        }
        // If all columns are even, O's answers fill the board, so O gets all even rows.
        let o_wins = odd == 0 && has_four(node.other | empty & EVEN_ROWS) && !x_may_win();
        return o_wins.then_some(false);
    }
    // O can make all columns even with one move.
    let x_held = odd.is_power_of_two() && !has_four(node.other | empty & ODD_ROWS);
    if goal == 0 {
        return (x_held || !has_four(node.other | empty)).then_some(true);
    }
    if !has_four(node.mover | empty) {
        return Some(false);
    }
    (x_held && has_four(node.mover | empty & EVEN_ROWS)).then_some(true)
}
