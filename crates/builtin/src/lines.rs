//! Games that are won by a line of stones.

use adept_game::{OutcomeClass, OutcomeMask};

/// The rule of [`possible`].
pub(crate) const IMPOSSIBLE: &str = "A player does not win if every line has a stone of the other.";

/// The possible classes for a player: a player without a line that is free of the opponent's stones does not win.
/// `can_win` says whether the player and the opponent have such a line.
#[inline]
pub(crate) fn possible(classes: &[OutcomeClass], can_win: [bool; 2]) -> OutcomeMask {
    match can_win {
        [true, true] => OutcomeMask::ALL,
        [win, loss] => OutcomeMask::from_classes(classes, |class| {
            (win || class.utility <= 0.0) && (loss || class.utility >= 0.0)
        }),
    }
}
