//! TD(λ) along games: λ-returns and traces.

mod player;
mod returns;

pub use player::{GameStats, PlaySettings, Seats, TdPlayer};
pub use returns::Bootstrap;
