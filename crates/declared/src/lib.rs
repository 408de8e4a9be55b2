//! Games declared in a text file.
//!
//! A rule file names the objects of a game, its relations, operators and endings. It is compiled to circuits: a gate
//! for every tuple of a relation that depends on the state. [`Declared`] is such a game. Its methods follow the state
//! from call to call and compute only what changed; [`Monitor`] does so for one game, and [`Batch`] plays many games in
//! parallel.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod audit;
mod batch;
mod bits;
mod circuit;
mod components;
mod counting;
mod declaration;
mod declared;
#[cfg(test)]
mod dice_tests;
mod encoders;
mod error;
mod followed;
mod game;
mod gdl;
mod ground;
mod indices;
mod kit;
mod lanes;
mod lex;
mod modules;
mod monitor;
mod names;
mod net;
mod parse;
#[cfg(test)]
mod plain;
#[cfg(test)]
mod random_play;
mod recent;
mod resolve;
mod ruled;
mod slots;
mod state;
mod structure;
#[cfg(test)]
mod tests;
mod text;

pub use batch::{Batch, Playouts};
pub use declared::Declared;
pub use error::{Place, RuleError};
pub use gdl::{Described, Steps};
pub use monitor::Monitor;
pub use names::{SHIPPED, SHIPPED_GDL, USUAL, USUAL_GDL};
pub use state::State;
