//! What values and games show: positions, mistakes, rollouts.

pub mod inspect;
mod judge;
pub mod opened;
pub mod review;
pub mod rollout;

pub use judge::{MoveLoss, TIE, move_loss};
