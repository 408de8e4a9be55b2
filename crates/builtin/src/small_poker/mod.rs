//! Kuhn's and Leduc poker: two players, a private card each, and bets of fixed size.
//!
//! Kuhn (1950), "A simplified two-person poker", and Southey et al. (2005), "Bayes' bluff: opponent modelling in poker". Both
//! are solved exactly in seconds and are usual tests of learners for games with hidden information.

mod encoder;
mod game;
mod kit;
mod public;
mod rules;
mod text;

pub use encoder::Bets;
pub use rules::{Action, Known, SmallPoker, State, Table};
