//! TD(λ) along games: λ-returns and traces.

mod player;
mod record;
mod returns;

pub use player::{GameStats, PlaySettings, Seats, TdPlayer};
pub use record::{Columns, Record, Shown, lambda_returns};
pub use returns::Bootstrap;
