//! Plays games between a person in the terminal and an agent.

mod terminal;

pub use terminal::{PlayError, PlayOptions, Played, play};
