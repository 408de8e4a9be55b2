//! Learning: experiment configs, training methods, and runs that can stop and resume.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod average;
pub mod config;
pub mod label_file;
pub mod labels;
pub mod positions;
mod regrets;
pub mod run;
pub mod settings;
mod shards;
pub mod td;

/// Revision of the source, if it was built from a repository.
pub const REVISION: &str = env!("ADEPT_REVISION");
