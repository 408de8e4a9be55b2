//! Games in GDL, the game description language of general game playing (GDL-I, `.kif` files; Love, Hinrichs, Haley, Schkufza,
//! Genesereth, "General Game Playing: Game Description Language Specification", 2008).
//!
//! `kif` reads words, `program` rules, `reach` what can ever hold, `gates` when each of it does, `net` follows a state, and `effects`
//! knows what moves do where that is always the same. `structure` turns the rules into modules, and `symmetry` finds whether the roles
//! play the same game. [`Described`] is the game.

mod audit;
mod batch;
mod compiled;
mod components;
mod effects;
mod game;
mod gates;
mod kif;
mod kit;
pub(crate) mod net;
#[cfg(test)]
mod plain;
mod program;
mod reach;
mod session;
mod steps;
mod structure;
mod sums;
mod symmetry;
mod tables;
mod terms;
#[cfg(test)]
mod tests;
mod text;

pub use game::Described;
pub use kit::USUAL_GDL;
pub use steps::Steps;
