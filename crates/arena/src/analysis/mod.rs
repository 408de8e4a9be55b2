//! What values and games show: positions, mistakes, rollouts.

pub mod inspect;
mod judge;
mod judgements;
mod judging;
mod kinds;
pub mod opened;
mod opinions;
pub mod review;
pub mod rollout;
mod steps;

pub use judge::{MoveLoss, TIE, move_loss};
