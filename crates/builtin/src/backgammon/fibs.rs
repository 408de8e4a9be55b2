//! Lines `board:…` of FIBS, the First Internet Backgammon Server, in which GNU Backgammon and its players tell each other positions.

use super::{BAR, Position};
use crate::dice::Roll;
use std::fmt::Write;

/// The line for a roll to play in a money game with a centred cube, seen by the side that moves, without a line break.
///
/// Its fields, with colons between them: two names; length of the match and both scores; the 26 numbers of the board, from the
/// opponent's bar over the points 1 to 24 to the own bar, own checkers positive; whose turn it is; the dice of both players; the cube,
/// who may double, and whether one has; colour, direction, home and bar; checkers off and on the bar, own first; and four numbers that
/// do not matter here.
pub(crate) fn line(position: Position, roll: Roll) -> String {
    let Position { own, opponent } = position;
    let mut text = String::from("board:adept:gnubg:0:0:0");
    for place in 0..=BAR {
        let mine = if place > 0 { own.on(place) } else { 0 };
        let theirs = if place < BAR { opponent.on(BAR - place) } else { 0 };
        let _ = write!(text, ":{}", i16::from(mine) - i16::from(theirs));
    }
    let (high, low) = (roll.high(), roll.low());
    let [off, bar] = [[own.off(), opponent.off()], [own.on(BAR), opponent.on(BAR)]];
    let _ = write!(text, ":1:{high}:{low}:{high}:{low}:1:1:1:0:1:-1:0:25");
    let _ = write!(text, ":{}:{}:{}:{}:0:0:0:0", off[0], off[1], bar[0], bar[1]);
    text
}
