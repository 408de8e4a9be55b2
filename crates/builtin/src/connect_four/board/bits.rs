//! Bit boards of Connect Four: sets of cells, and the lines in them.
//!
//! A bit board is a `u64` with seven bits per column, column 0 (left) lowest. In a column, bit 0 is the bottom cell and
//! bit 5 is the top cell. Bit 6 is always clear, so that lines cannot wrap into the next column. Bits 49 to 63 are
//! always clear.

use super::{COLUMNS, ROWS};

/// Bits per column: its cells and the clear bit above them.
pub(crate) const STRIDE: usize = ROWS + 1;
/// Bit distance between adjacent cells along a rising diagonal, a row and a falling diagonal.
const SIDEWAYS: [usize; 3] = [STRIDE + 1, STRIDE, STRIDE - 1];
/// The bottom cell of every column.
const BOTTOM: u64 = {
    let mut mask = 0;
    let mut column = 0;
    while column < COLUMNS {
        mask |= 1 << (column * STRIDE);
        column += 1;
    }
    mask
};
/// All cells of the board.
pub(crate) const ALL_CELLS: u64 = BOTTOM * ((1 << ROWS) - 1);

/// Bit mask of all cells of `column`, which must be below [`COLUMNS`].
pub(crate) const fn column_cells(column: usize) -> u64 {
    ((1 << ROWS) - 1) << (column * STRIDE)
}

/// The lowest empty cell of each column with room.
pub(crate) const fn landing_cells(occupied: u64) -> u64 {
    (occupied + BOTTOM) & ALL_CELLS
}

/// Unique key of a position from the mover's stones and all stones.
///
/// A column of height h adds 2^h - 1 for its height and at most 2^h - 1 for its stones. Each height therefore has its
/// own range, and the sum fits into the seven bits of the column.
pub(crate) const fn position_key(mover: u64, occupied: u64) -> u64 {
    mover + occupied
}

/// `cells` with left and right swapped.
pub(crate) const fn mirror(cells: u64) -> u64 {
    let mut swapped = 0;
    let mut column = 0;
    while column < COLUMNS {
        let part = (cells >> (column * STRIDE)) & ((1 << STRIDE) - 1);
        swapped |= part << ((COLUMNS - 1 - column) * STRIDE);
        column += 1;
    }
    swapped
}

/// Whether `stones` hold four in a line.
pub(crate) const fn has_four(stones: u64) -> bool {
    let upright = stones & (stones >> 1);
    upright & (upright >> 2) != 0 || four_across(stones)
}

/// Whether `stones` hold four in a row or a diagonal.
pub(crate) const fn four_across(stones: u64) -> bool {
    let mut fours = 0;
    let mut i = 0;
    while i < SIDEWAYS.len() {
        let pairs = stones & (stones >> SIDEWAYS[i]);
        fours |= pairs & (pairs >> (2 * SIDEWAYS[i]));
        i += 1;
    }
    fours != 0
}

/// Empty cells that would complete four in a line for the owner of `stones`.
pub(crate) const fn completing_cells(stones: u64, occupied: u64) -> u64 {
    let mut cells = (stones << 1) & (stones << 2) & (stones << 3);
    let mut i = 0;
    while i < SIDEWAYS.len() {
        let step = SIDEWAYS[i];
        // The gap follows the first or second of the four; then the mirrored cases.
        let above = (stones << step) & (stones << (2 * step));
        cells |= above & ((stones << (3 * step)) | (stones >> step));
        let below = (stones >> step) & (stones >> (2 * step));
        cells |= below & ((stones >> (3 * step)) | (stones << step));
        i += 1;
    }
    cells & ALL_CELLS & !occupied
}

/// The set bits of `cells`, one by one.
pub(crate) fn single_bits(mut cells: u64) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || {
        let bit = cells & cells.wrapping_neg();
        cells ^= bit;
        (bit != 0).then_some(bit)
    })
}
