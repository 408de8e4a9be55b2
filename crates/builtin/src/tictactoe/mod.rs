//! Tic-tac-toe, and the opponent TTT of Boyan (1992) and Wiering & Kröse, section 4.1.
//!
//! Squares are numbered 0..9 from the top left, row by row. Player 0 moves first and is drawn as X.

mod encoders;
mod kit;
mod rules;
mod ttt;

pub use encoders::{Canonical, Fields};
pub use rules::{LINES, Position, SYMMETRIES, TicTacToe, has_line};
pub use ttt::ttt_moves;
