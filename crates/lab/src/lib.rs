//! Work on experiments and checkpoints: measuring, comparing, sweeps, tournaments, publishing, exchange.
//!
//! Functions take a [`Catalogue`] of games and depend on no particular game.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

pub mod bench;
mod catalogue;
pub mod chart;
pub mod checkpoints;
pub mod compare;
pub mod curves;
pub mod decisions;
pub mod exact;
pub mod exchange;
pub mod export;
pub mod farm;
pub mod files;
pub mod gates;
pub mod keys;
pub mod labelling;
pub mod measure;
mod opinions;
mod own_games;
mod pack;
mod pairing;
pub mod publish;
pub mod report;
pub mod reproduction;
pub mod review;
pub mod rollouts;
pub mod screening;
pub mod seeds;
pub mod statistics;
pub mod sweep;
pub mod template;
pub mod tournament;
pub mod worker;

pub use adept_trainer::config::One;
pub use catalogue::{AnyGame, Catalogue};
