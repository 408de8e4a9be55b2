//! What is done with experiments and checkpoints: measuring, comparing, sweeps, tournaments, publishing, exchange.
//!
//! Commands receive a [`Catalogue`] of games and know no game by its name.

pub mod bench;
pub mod catalogue;
pub mod compare;
pub mod exchange;
pub mod files;
pub mod measure;
pub mod publish;
pub mod seeds;
pub mod statistics;
pub mod sweep;
pub mod tournament;

pub use adept_trainer::config::One;
pub use catalogue::{AnyGame, Catalogue};
