//! TD(λ) along games: λ-returns and traces; and one-step targets by expectation.

mod backup;
mod chain;
mod player;

pub(crate) use backup::Backup;
pub use chain::Bootstrap;
pub use player::{GameStats, Seats, Settings, TdPlayer};
