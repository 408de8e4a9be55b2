//! What can be wrong with the text of a board.

use std::fmt;

use super::{COLUMNS, ROWS};

/// Why a text is not a board. Rows count from the top, and all counts start at 1.
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
    /// With `x` and `o` stones, X has neither as many as O nor one more.
    StoneCounts { x: u32, o: u32 },
    /// Both players have four in a line.
    TwoWinners,
    /// There are stones from after the win of `winner`, `X` or `O`.
    StonesAfterWin { winner: char },
    /// Move `number` is `found`, not a digit.
    UnknownMove { number: usize, found: char },
    /// Move `number` is the digit `found`, and there is no such column.
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
                write!(f, "the board has {found} row(s): give {ROWS}, top row first, joined by '/'")
            }
            Self::CellCount { row, found } => {
                write!(f, "row {row} from the top has {found} cell(s): give {COLUMNS}")
            }
            Self::UnknownCell { row, column, found } => write!(
                f,
                "row {row} from the top, column {column} is {found:?}: \
                 use 'X', 'O' or '.' for an empty cell"
            ),
            Self::Floating { row, column } => write!(
                f,
                "row {row} from the top, column {column}: the cell below this stone is empty: \
                 fill each column from the bottom"
            ),
            Self::StoneCounts { x, o } => write!(
                f,
                "X has {x} stone(s) and O has {o}: X moves first, so give X as many stones as O \
                 or one more"
            ),
            Self::TwoWinners => {
                f.write_str("X and O both have four in a line: the game ends at the first four")
            }
            Self::StonesAfterWin { winner } => write!(
                f,
                "stones were added after {winner} had four in a line: \
                 leave out all stones after the winning one"
            ),
            Self::UnknownMove { number, found } => write!(
                f,
                "move {number} is {found:?}: give column digits 1 to {COLUMNS}, or the board as \
                 {ROWS} rows joined by '/'"
            ),
            Self::NoSuchColumn { number, found } => {
                write!(f, "move {number} is column {found}: columns go from 1 to {COLUMNS}")
            }
            Self::ColumnFull { number, column } => {
                write!(f, "move {number}: column {column} is full: choose another column")
            }
            Self::MoveAfterEnd { number } => {
                write!(f, "move {number} comes after the end of the game: leave it and all later moves out")
            }
        }
    }
}

impl std::error::Error for BoardError {}
