//! The backgammon bear-off on points 1 to 6, with exact oracles.

mod board;
mod distribution;
mod encoders;
pub mod estimates;
mod game;
mod halves;
mod ids;
mod kit;
pub mod labelled;
mod moves;
mod notation;
pub mod one_sided;
mod position;
pub mod rank;
pub mod rules;
mod side;
pub mod two_sided;
mod valuations;
mod within;

pub use crate::dice::{MIXED, ROLLS, Roll};
pub use distribution::{Distribution, USUAL_CHECKERS};
pub use encoders::Sides;
pub use estimates::Estimate;
pub use game::{Action, Bearoff, Stage, State};
pub use moves::Moves;
pub use one_sided::OneSided;
pub use position::{DicePosition, Position, Situation};
pub use side::{MAX_CHECKERS, POINTS, Side};
pub(crate) use valuations::exact_table;
pub use valuations::solving;
pub use within::Within;
