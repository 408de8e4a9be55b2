//! The bear-off of backgammon on points 1 to 6, with its exact oracles.

mod distribution;
pub mod estimates;
mod ids;
pub mod labelled;
mod one_sided;
mod position;
pub mod rank;
mod roll;
pub mod rules;
mod side;
pub mod two_sided;

pub use distribution::{Distribution, USUAL_CHECKERS};
pub use estimates::Estimate;
pub use one_sided::OneSided;
pub use position::{DicePosition, Position};
pub use roll::{MIXED, ROLLS, Roll};
pub use side::{MAX_CHECKERS, POINTS, Side};
