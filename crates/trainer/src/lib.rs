//! Learning: experiment configs, episodes, targets, runs.

pub mod config;
pub mod names;
pub mod td;
