//! The outside world: a person in the terminal.

mod terminal;

pub use terminal::{PlayError, PlayOptions, Played, play};
