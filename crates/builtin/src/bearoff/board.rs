//! Text drawing of both home boards.

use super::{Bearoff, POINTS, Side, Stage, State};
use std::fmt::Write;

/// Tallest column that is drawn checker by checker. Taller columns end with their number.
const HEIGHT: u8 = 5;

/// Draws both home boards: player 1 (X) below, player 2 (O) above, point 1 of both at the right. Also shows pips,
/// checkers borne off, and who is to roll or move.
pub(super) fn draw(game: &Bearoff, state: &State) -> String {
    if state.stage == Stage::Setup {
        return format!(
            "The start position is not drawn yet; at most {} checkers per side.\n",
            game.checkers()
        );
    }
    let [mut below, mut above] =
        [(0, 'X'), (1, 'O')].map(|(player, sign)| columns(state.sides[player], sign));
    below.reverse();
    let about = |player: usize| {
        let side = state.sides[player];
        let (pips, off) = (side.pips(), game.checkers().saturating_sub(side.checkers()));
        let sign = ['X', 'O'][player];
        let doing = match state.stage {
            _ if side.is_empty() => ", has won".to_string(),
            Stage::Roll if state.player == player && !state.is_over() => ", to roll".to_string(),
            Stage::Move(roll) if state.player == player => format!(", to move {roll:?}"),
            _ => String::new(),
        };
        format!("  {sign} player {}: {pips} pips, {off} off{doing}", player + 1)
    };
    // Player information is at the edge of the board.
    above[0].push_str(&about(1));
    if let Some(edge) = below.last_mut() {
        edge.push_str(&about(0));
    }
    let edge = " +-6---5---4---3---2---1-+";
    let mut text = format!("{edge}\n");
    for line in above.iter().chain([&empty_line()]).chain(&below) {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "{edge}");
    text
}

fn empty_line() -> String {
    format!(" |{:width$}|", "", width = 4 * POINTS - 1)
}

/// Columns of a side as lines, from the edge of the board inwards; at least one.
fn columns(side: Side, sign: char) -> Vec<String> {
    let highest = side.counts().into_iter().max().unwrap_or(0);
    let line = |row: u8| {
        let cells: Vec<String> = (1..=POINTS as u8)
            .rev()
            .map(|point| match side.on(point) {
                n if row >= n => String::new(),
                n if row + 1 == HEIGHT && n > HEIGHT => n.to_string(),
                _ => sign.to_string(),
            })
            .map(|cell| format!("{cell:^3}"))
            .collect();
        format!(" |{}|", cells.join(" "))
    };
    (0..highest.clamp(1, HEIGHT)).map(line).collect()
}
