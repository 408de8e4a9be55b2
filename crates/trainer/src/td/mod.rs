//! TD(λ) along games: λ-returns and traces; and one-step targets by expectation.

mod backup;
mod player;
mod returns;

pub(crate) use backup::Backup;
pub use player::{GameStats, PlaySettings, Seats, TdPlayer};
pub use returns::Bootstrap;
