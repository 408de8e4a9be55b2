//! Learning: experiment configs, episodes, targets, runs, sweeps and comparisons of them, and the reproduction of
//! published figures.

pub mod bench;
pub mod compare;
pub mod config;
pub mod exchange;
pub mod measure;
mod positions;
pub mod publish;
pub mod q_post;
mod regrets;
pub mod reproduce;
pub mod run;
mod settings;
pub mod statistics;
pub mod sweep;
pub mod td;
pub mod tournament;

pub use positions::PositionErrors;

/// Revision of the source, where it was built from a repository.
pub const REVISION: &str = env!("ADEPT_REVISION");
