//! TD(λ): games, λ-returns, traces; and one-step targets by expectation.

mod backup;
mod chain;
mod player;

pub(crate) use backup::Backup;
pub use chain::Bootstrap;
pub use player::{GameStats, Seats, Settings, TdPlayer};
