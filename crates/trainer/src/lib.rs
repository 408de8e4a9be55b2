//! Learning: experiment configs, games and targets, runs that stop and go on.

pub mod config;
pub mod positions;
mod regrets;
pub mod run;
pub mod settings;
pub mod td;

/// Revision of the source, where it was built from a repository.
pub const REVISION: &str = env!("ADEPT_REVISION");
