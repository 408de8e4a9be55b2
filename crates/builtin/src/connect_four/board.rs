//! Connect Four rules on bit boards.

pub(super) mod bits;
mod error;
mod text;

use bits::{
    ALL_CELLS, STRIDE, column_cells, completing_cells, has_four, landing_cells, mirror, position_key,
};

pub use error::BoardError;

/// Number of columns.
pub const COLUMNS: usize = 7;
/// Number of rows.
pub const ROWS: usize = 6;
/// Number of cells.
pub const CELLS: usize = COLUMNS * ROWS;

/// A position: the stones of both players. The default is the empty board.
///
/// Player 0 is X and moves first, player 1 is O. [`Board::play`] does not stop at the end of the
/// game; ask [`Board::is_over`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Board {
    stones: [u64; 2],
}

impl Board {
    /// Bit mask of one cell. Column 0 is the left one, row 0 the bottom one.
    ///
    /// # Panics
    ///
    /// If `column` is not below [`COLUMNS`] or `row` is not below [`ROWS`].
    #[must_use]
    pub const fn cell(column: usize, row: usize) -> u64 {
        assert!(column < COLUMNS && row < ROWS, "no such cell");
        1 << (column * STRIDE + row)
    }

    /// Bit mask of the stones of `player`, 0 (X) or 1 (O).
    ///
    /// # Panics
    ///
    /// If `player` is above 1.
    #[must_use]
    pub const fn stones(&self, player: usize) -> u64 {
        self.stones[player]
    }

    /// The player to move, 0 (X) or 1 (O). On a finished board, the player who would be next.
    #[must_use]
    pub const fn mover(&self) -> usize {
        (self.count() & 1) as usize
    }

    /// Number of stones on the board, 0 to [`CELLS`].
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.occupied().count_ones()
    }

    /// Whether `column` exists and has room. Does not check whether the game is over.
    #[must_use]
    pub const fn playable(&self, column: usize) -> bool {
        column < COLUMNS && self.occupied() & Self::cell(column, ROWS - 1) == 0
    }

    /// The board after the mover drops a stone into `column`.
    ///
    /// # Panics
    ///
    /// In debug builds, if `column` is not [`playable`](Self::playable). Release builds then return the board
    /// unchanged.
    #[must_use]
    pub const fn play(&self, column: usize) -> Self {
        debug_assert!(self.playable(column), "column is full or does not exist");
        let mut next = *self;
        if self.playable(column) {
            let landing = self.possible() & column_cells(column);
            next.stones[self.mover()] |= landing;
        }
        next
    }

    /// Whether `player`, 0 or 1, has four in a line.
    ///
    /// # Panics
    ///
    /// If `player` is above 1.
    #[must_use]
    pub const fn is_win(&self, player: usize) -> bool {
        has_four(self.stones[player])
    }

    /// Whether a line of four has no stone of the other player.
    ///
    /// # Panics
    ///
    /// If `player` is above 1.
    #[must_use]
    pub const fn can_win(&self, player: usize) -> bool {
        has_four(ALL_CELLS & !self.stones[1 - player])
    }

    /// Whether all cells are occupied.
    #[must_use]
    pub const fn is_full(&self) -> bool {
        self.occupied() == ALL_CELLS
    }

    /// Whether the game is over: a player has four in a line or the board is full.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.is_full() || self.is_win(0) || self.is_win(1)
    }

    /// A unique number below 2^49 for each position.
    #[must_use]
    pub const fn key(&self) -> u64 {
        position_key(self.stones[self.mover()], self.occupied())
    }

    /// The board with left and right swapped.
    #[must_use]
    pub const fn mirrored(&self) -> Self {
        Self { stones: [mirror(self.stones[0]), mirror(self.stones[1])] }
    }

    /// Empty cells that would complete four in a line for `player`, even if they are not playable now.
    ///
    /// # Panics
    ///
    /// If `player` is above 1.
    #[must_use]
    pub const fn winning_cells(&self, player: usize) -> u64 {
        completing_cells(self.stones[player], self.occupied())
    }

    /// The lowest empty cell of each column with room. Does not check whether the game is over.
    #[must_use]
    pub const fn possible(&self) -> u64 {
        landing_cells(self.occupied())
    }

    /// Bit mask of all stones.
    const fn occupied(&self) -> u64 {
        self.stones[0] | self.stones[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Grid = [[Option<usize>; ROWS]; COLUMNS];

    fn next_random(state: &mut u64) -> usize {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 33) as usize
    }

    /// Whether there are four in a line, checked cell by cell.
    fn grid_win(grid: &Grid, player: usize) -> bool {
        let owned = |column: i32, row: i32| {
            (0..COLUMNS as i32).contains(&column)
                && (0..ROWS as i32).contains(&row)
                && grid[column as usize][row as usize] == Some(player)
        };
        (0..COLUMNS as i32).any(|c| {
            (0..ROWS as i32).any(|r| {
                [(1, 0), (0, 1), (1, 1), (1, -1)]
                    .iter()
                    .any(|(dc, dr)| (0..4).all(|i| owned(c + i * dc, r + i * dr)))
            })
        })
    }

    fn check(board: &Board, grid: &Grid, heights: &[usize; COLUMNS]) {
        let won = [0, 1].map(|player| grid_win(grid, player));
        assert_eq!([0, 1].map(|player| board.is_win(player)), won);
        for player in [0, 1] {
            let free = grid.map(|column| column.map(|owner| (owner != Some(1 - player)).then_some(player)));
            assert_eq!(board.can_win(player), grid_win(&free, player));
        }
        for column in 0..COLUMNS {
            assert_eq!(board.playable(column), heights[column] < ROWS);
            for row in 0..ROWS {
                let cell = Board::cell(column, row);
                assert_eq!(board.possible() & cell != 0, heights[column] == row);
                let owner = grid[column][row];
                for (player, won) in won.into_iter().enumerate() {
                    assert_eq!(board.stones(player) & cell != 0, owner == Some(player));
                    // A cell counts only if its own stone is part of the four.
                    if won {
                        continue;
                    }
                    let mut tried = *grid;
                    tried[column][row] = Some(player);
                    let completes = owner.is_none() && grid_win(&tried, player);
                    assert_eq!(board.winning_cells(player) & cell != 0, completes);
                }
            }
        }
    }

    #[test]
    fn agrees_with_a_plain_grid() {
        let mut state = 0x9E37_79B9_7F4A_7C15;
        let mut full = 0;
        let mut seen = std::collections::HashMap::new();
        for _ in 0..400 {
            let (mut board, mut grid) = (Board::default(), Grid::default());
            let mut heights = [0; COLUMNS];
            for count in 0..=CELLS {
                check(&board, &grid, &heights);
                assert_eq!(board.count() as usize, count);
                assert_eq!(board.mover(), count % 2);
                assert_eq!(board.is_full(), count == CELLS);
                assert!(board.key() < 1 << 49);
                assert_eq!(*seen.entry(board.key()).or_insert(board), board);
                assert_eq!(board.mirrored().mirrored(), board);
                let flipped = board.mirrored();
                assert!((0..2).all(|p| flipped.is_win(p) == board.is_win(p)));
                assert!((0..2).all(|p| { flipped.winning_cells(p) == mirror(board.winning_cells(p)) }));
                if board.is_over() {
                    full += usize::from(board.is_full());
                    break;
                }
                let mut column = next_random(&mut state) % COLUMNS;
                while !board.playable(column) {
                    column = (column + 1) % COLUMNS;
                }
                grid[column][heights[column]] = Some(board.mover());
                heights[column] += 1;
                board = board.play(column);
            }
        }
        assert!(seen.len() > 1000);
        // Some games must reach a full board, otherwise this end is not tested.
        assert!(full > 0);
    }

    #[test]
    fn columns_beyond_the_board_are_not_playable() {
        assert!(!Board::default().playable(COLUMNS));
        assert!(!Board::default().playable(usize::MAX));
    }
}
