//! Games in our own form of rule files.
//!
//! `lex` and `parse` read a file, `resolve` checks it and makes a [`Declaration`](declaration::Declaration) of it. `ground`
//! binds all variables and compiles the rules to circuits. [`Declared`] is the game: `declared` changes its states,
//! `monitor` follows them, and `batch` plays random games in parallel.

mod audit;
mod batch;
mod declaration;
mod declared;
#[cfg(test)]
mod dice_tests;
mod followed;
mod game;
mod ground;
mod lex;
mod monitor;
mod parse;
#[cfg(test)]
mod plain;
mod resolve;
mod state;
mod structure;
#[cfg(test)]
mod tests;
mod text;

pub use batch::{Batch, Playouts};
pub use declared::Declared;
pub use monitor::Monitor;
pub use state::State;
