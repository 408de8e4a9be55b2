//! Position IDs (GNU Backgammon) and XGIDs (eXtreme Gammon) of bear-off positions.
//!
//! Both formats describe complete boards. Here a side has at most 15 checkers, all on its points 1 to 6; other boards
//! are an error. Cube, score and match are ignored, because they do not affect who bears off first.

use super::{MAX_CHECKERS, POINTS, Position, Roll, Side, Situation};
use crate::backgammon::ids::{self, Board, Ids, ParsedId};
use adept_game::GameError;

/// Makes a side from its checkers, or says what is wrong with the side of this name.
type Make = fn(&Board, &str) -> Result<Side, String>;

const IDS: Ids<Make> = Ids {
    of: "a bear-off",
    id: "VQUAgKoCAAAAAA",
    xgid: "XGID=-AAAAAA------------aaaaaa-:0:0:1:52:0:0:0:0:10",
    answers: false,
    side,
};

impl Position {
    /// The gnubg Position ID, 14 characters, such as `VQUAgKoCAAAAAA`.
    pub fn id(self) -> String {
        ids::position_id(&whole(self.own), &whole(self.opponent))
    }

    /// The XGID of a money game with a centred cube, such as `XGID=-AAAAAA------------aaaaaa-:0:0:1:00:0:0:0:0:10`. The side
    /// to roll has the capital letters. The dice are the roll, or 00 before the roll.
    pub fn xgid(self, roll: Option<Roll>) -> String {
        ids::xgid(&whole(self.own), &whole(self.opponent), roll)
    }
}

fn position(([own, opponent], roll): ParsedId<Side>) -> (Position, Option<Roll>) {
    (Position { own, opponent }, roll)
}

/// Reads a text that looks like an ID. None if it looks like something else.
pub(super) fn situation(text: &str) -> Option<Result<Situation, GameError>> {
    let situation = |found| {
        let (position, roll) = position(found);
        Situation { position, roll }
    };
    Some(IDS.read(text)?.map(situation))
}

/// The side on a complete board.
fn whole(side: Side) -> Board {
    let mut board = [0; 25];
    board[..POINTS].copy_from_slice(&side.counts());
    board
}

/// A side from its checkers on points 1 to 24 and the bar.
fn side(points: &Board, name: &str) -> Result<Side, String> {
    let (home, outside) = points.split_at(POINTS);
    if let Some(k) = outside.iter().position(|&count| count > 0) {
        let (count, point) = (outside[k], POINTS + k + 1);
        let place = if point == points.len() { "the bar".to_string() } else { format!("point {point}") };
        return Err(format!(
            "{name} has {count} on {place}, but the bear-off allows checkers on points 1 to 6 only"
        ));
    }
    let counts = std::array::from_fn(|k| home[k]);
    Side::new(counts).ok_or_else(|| {
        let total: u32 = home.iter().map(|&count| u32::from(count)).sum();
        format!("{name} has {total} checkers; at most {MAX_CHECKERS} are allowed")
    })
}

#[cfg(test)]
mod tests;
