//! Errors of parsing a board.

use std::fmt;

use super::{COLUMNS, ROWS};

/// Why parsing a board fails. Rows count from the top, and all counts start at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the fields are named in the variants' descriptions")]
pub enum BoardError {
    /// The text has `found` rows instead of six.
    RowCount { found: usize },
    /// `row` has `found` cells instead of seven.
    CellCount { row: usize, found: usize },
    /// The cell at `row` and `column` is `found`, not `X`, `O` or `.`.
    UnknownCell { row: usize, column: usize, found: char },
    /// The stone at `row` and `column` has an empty cell below it.
    Floating { row: usize, column: usize },
    /// The counts `x` and `o` are impossible: X must have as many stones as O or one more.
    StoneCounts { x: u32, o: u32 },
    /// Both players have four in a line.
    TwoWinners,
    /// There are stones played after `winner`, `X` or `O`, had won.
    StonesAfterWin { winner: char },
    /// Move `number` is `found`, not a digit.
    UnknownMove { number: usize, found: char },
    /// Move `number` is the digit `found`, which is not a column.
    NoSuchColumn { number: usize, found: char },
    /// Move `number` goes into `column`, 1 to 7, which is full.
    ColumnFull { number: usize, column: usize },
    /// Move `number` comes after the game has ended.
    MoveAfterEnd { number: usize },
}

impl fmt::Display for BoardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::RowCount { found } => {
                write!(f, "the board has {found} row(s); write {ROWS}, top row first, joined by '/'")
            }
            Self::CellCount { row, found } => {
                write!(f, "row {row} from the top has {found} cell(s); write {COLUMNS}")
            }
            Self::UnknownCell { row, column, found } => write!(
                f,
                "row {row} from the top, column {column} is {found:?}; \
                 use 'X', 'O' or '.' for an empty cell"
            ),
            Self::Floating { row, column } => write!(
                f,
                "row {row} from the top, column {column}: the cell below this stone is empty; \
                 fill each column from the bottom"
            ),
            Self::StoneCounts { x, o } => write!(
                f,
                "X has {x} stone(s) and O has {o}; X moves first, so X needs as many stones as O \
                 or one more"
            ),
            Self::TwoWinners => {
                f.write_str("X and O both have four in a line, but the game ends at the first four")
            }
            Self::StonesAfterWin { winner } => write!(
                f,
                "stones were added after {winner} had four in a line; \
                 remove all stones after the winning stone"
            ),
            Self::UnknownMove { number, found } => write!(
                f,
                "move {number} is {found:?}; write column digits 1 to {COLUMNS}, or the board as \
                 {ROWS} rows joined by '/'"
            ),
            Self::NoSuchColumn { number, found } => {
                write!(f, "move {number} is column {found}; columns are 1 to {COLUMNS}")
            }
            Self::ColumnFull { number, column } => {
                write!(f, "move {number}: column {column} is full; choose another column")
            }
            Self::MoveAfterEnd { number } => {
                write!(f, "move {number} comes after the end of the game; remove it and all later moves")
            }
        }
    }
}

impl std::error::Error for BoardError {}
