//! TD(λ): games, λ-returns, traces; and one-step targets by expectation.

mod backup;
mod chain;
mod player;

pub(crate) use backup::Backup;
pub use player::{GameStats, Settings, TdPlayer};
