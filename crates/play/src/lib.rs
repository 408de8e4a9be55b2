//! Plays games between a person in the terminal and an agent.

mod terminal;

pub use terminal::{Input, PlayError, PlayOptions, Played, play};
