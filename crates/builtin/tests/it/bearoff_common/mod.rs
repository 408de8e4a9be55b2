//! Values of the bear-off from texts, for its tests.

use adept_builtin::bearoff::{Bearoff, Roll, Side, State};
use adept_game::Game;

pub(crate) fn game() -> Bearoff {
    Bearoff::default()
}

pub(crate) fn side(text: &str) -> Side {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn roll(text: &str) -> Roll {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

/// The state that the text names.
pub(crate) fn at(text: &str) -> State {
    game().parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}
