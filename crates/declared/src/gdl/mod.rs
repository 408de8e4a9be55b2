//! Games in GDL, the game description language of general game playing (GDL-I, `.kif` files; Love, Hinrichs, Haley,
//! Schkufza, Genesereth, "General Game Playing: Game Description Language Specification", 2008).
//!
//! `kif` parses expressions, `program` rules; `reach` finds all possible facts and moves, and `gates` compiles their
//! conditions to a circuit, which [`net`](crate::net) evaluates incrementally. `effects` precomputes moves with constant
//! effects. `structure` turns the rules into modules, and `symmetry` tests whether the roles play the same game.
//! [`Described`] is the game.

mod audit;
mod batch;
mod compiled;
mod effects;
mod game;
mod gates;
mod kif;
mod kit;
#[cfg(test)]
mod plain;
mod program;
mod reach;
mod session;
mod slots;
mod steps;
mod structure;
mod sums;
mod symmetry;
mod tables;
mod terms;
#[cfg(test)]
mod tests;

pub use game::Described;
pub use steps::Steps;
