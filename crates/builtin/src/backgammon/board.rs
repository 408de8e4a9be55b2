//! A drawing of the board.

use super::state::{Stage, State};
use super::{BAR, Position, Win};
use std::fmt::Write;

/// Checkers that a column shows one by one. Higher columns end with their number.
const HEIGHT: u8 = 5;

/// The checkers of both players.
const SIGNS: [char; 2] = ['●', '○'];

/// Draws the board from the side of the player to roll or to move, with the home at the lower right: checkers on the points and the
/// bar. Beside it stand pips, checkers borne off and what comes next; below it the Position ID and the XGID. A finished game is
/// drawn from the side of the player in `seat`.
pub(super) fn draw(state: &State, seat: usize) -> String {
    let is_over = state.position().is_over();
    let player = if is_over { seat } else { state.player };
    let [lower, upper] = [player, 1 - player];
    let cell = |point: u8, row| match [lower, upper].map(|player| state.sides[player]) {
        [own, _] if own.on(point) > 0 => shown(own.on(point), row, SIGNS[lower]),
        [_, other] => shown(other.on(25 - point), row, SIGNS[upper]),
    };
    let line = |points: &[u8], row, player: usize, note: &str| {
        let half = |points: &[u8]| {
            points.iter().map(|&point| format!("{:^3}", cell(point, row))).collect::<String>()
        };
        // The bar fills from the middle of the board.
        let bar = shown(state.sides[player].on(BAR), HEIGHT - 1 - row, SIGNS[player]);
        let drawn = format!(" │{}│{bar:^3}│{}│  {note}", half(&points[..6]), half(&points[6..]));
        format!("{}\n", drawn.trim_end())
    };
    let about = |player: usize| {
        let side = state.sides[player];
        format!("{} {} pips, {} off", SIGNS[player], side.pips(), side.off())
    };

    let (above, below): (Vec<u8>, Vec<u8>) = ((13..=24).collect(), (1..=12).rev().collect());
    let mut text = edge(&above, ['┌', '┬', '┐']);
    for row in 0..HEIGHT {
        text += &line(&above, row, upper, &if row == 0 { about(upper) } else { String::new() });
    }
    let middle = format!(" │{:18}│BAR│{:18}│  {}", "", "", next(state));
    let _ = writeln!(text, "{}", middle.trim_end());
    for row in (0..HEIGHT).rev() {
        text += &line(&below, row, lower, &if row == 0 { about(lower) } else { String::new() });
    }
    text += &edge(&below, ['└', '┴', '┘']);
    let roll = match state.stage {
        Stage::Move(roll) => Some(roll),
        Stage::Roll => None,
        Stage::Opening => return text,
    };
    if !is_over {
        let _ = writeln!(text, " {}  {}", state.position().id(), state.position().xgid(roll));
    }
    text
}

/// The edge with the numbers of the points, of its left end, the ends of the bar and its right end.
fn edge(points: &[u8], [left, bar, right]: [char; 3]) -> String {
    let half = |points: &[u8]| points.iter().map(|point| format!("{point:─^3}")).collect::<String>();
    format!(" {left}{}{bar}───{bar}{}{right}\n", half(&points[..6]), half(&points[6..]))
}

/// What a column of `count` checkers shows in a row, counted from the edge of the board.
fn shown(count: u8, row: u8, sign: char) -> String {
    match count {
        n if row >= n => String::new(),
        n if row + 1 == HEIGHT && n > HEIGHT => n.to_string(),
        _ => sign.to_string(),
    }
}

/// What comes next, or how the game ended.
fn next(state: &State) -> String {
    if let Some(winner) = state.sides.iter().position(|side| side.is_done()) {
        let won = match Position::result(state.sides[1 - winner]) {
            Win::Single => "",
            Win::Gammon => " a gammon",
            Win::Backgammon => " a backgammon",
        };
        return format!("{} has won{won}", SIGNS[winner]);
    }
    let sign = SIGNS[state.player];
    match state.stage {
        Stage::Opening => String::new(),
        Stage::Roll => format!("{sign} to roll"),
        Stage::Move(roll) => format!("{sign} to move {roll:?}"),
    }
}
