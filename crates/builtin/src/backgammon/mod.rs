//! Backgammon with gammons and backgammons, also with fewer checkers a side.

mod board;
pub mod cube;
mod cubeful;
mod encoders;
pub mod exact;
pub mod fibs;
mod game;
mod gnubg;
pub(crate) mod ids;
mod kit;
mod known;
pub mod mat;
mod moves;
pub(crate) mod notation;
mod position;
mod pubeval;
mod race;
mod rare;
mod side;
mod stakes;
mod state;
mod written;

pub use encoders::{Classed, Expert, INPUTS, Input, Points, WithCube, WithScore};
pub use game::Backgammon;
pub use ids::{MatchState, Offer};
pub use kit::{table, usual_file};
pub use known::race_file;
pub use moves::results;
pub use notation::{die_by_die, parts};
pub use position::{Phase, Position, Win};
pub use side::{BAR, Side};
pub use stakes::{LONGEST_MATCH, Rules, Stakes};
pub use state::{Action, Stage, State};

#[cfg(test)]
mod tests;
