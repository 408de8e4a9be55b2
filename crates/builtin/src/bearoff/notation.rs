//! Move notation of backgammon for a side that bears off: `6/off 5/4`.

use super::{POINTS, Roll, Side};
use crate::backgammon::{Position, notation};

/// The side on the whole board.
fn whole(side: Side) -> Position {
    Position::bearing_off(side.counts())
}

/// The shortest text for a move of this roll from `side` to `after`. The text of `after` if there is no such move.
pub(super) fn text(side: Side, roll: Roll, after: Side) -> String {
    notation::text(whole(side), roll, whole(after)).unwrap_or_else(|| after.to_string())
}

/// The side after a move, which is written checker by checker in any order.
///
/// # Errors
/// Why the text is not a legal move for this roll.
pub(super) fn parse(side: Side, roll: Roll, text: &str) -> Result<Side, String> {
    const SUCH: &str = "6/off 5/4, or the side after the move such as 0,1,2,0,0,0";
    let after = notation::parse(whole(side), roll, text, SUCH)?;
    let counts: [u8; POINTS] = std::array::from_fn(|k| after.own.on(k as u8 + 1));
    Side::new(counts).ok_or_else(|| "more checkers than before".into())
}
