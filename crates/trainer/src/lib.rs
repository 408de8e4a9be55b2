//! Learning: experiment configs, episodes, targets, runs, and the reproduction of published figures.

pub mod config;
pub mod measure;
pub mod reproduce;
pub mod run;
pub mod td;

/// Revision of the source, where it was built from a repository.
pub const REVISION: &str = env!("ADEPT_REVISION");
