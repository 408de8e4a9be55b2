//! TD(λ): games, λ-returns, traces.

mod chain;
mod player;

pub use player::{GameStats, Settings, TdPlayer};
