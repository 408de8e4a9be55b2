//! Connect Four on seven columns of six cells.
//!
//! Player 0 moves first and is drawn as X. Columns are numbered 0..7 from the left, and 1..8 in texts. Four in a line
//! win: horizontal, vertical or diagonal.

mod board;
mod encoders;
mod kit;
mod rules;
mod solver;

pub use board::{Board, BoardError, CELLS, COLUMNS, ROWS};
pub use rules::ConnectFour;
pub use solver::Solver;

#[cfg(test)]
mod tests;
