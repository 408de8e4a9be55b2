//! A drawing of the board.

use super::game::{Stage, State};
use super::{BAR, Position, Side, Win};
use std::fmt::Write;

/// Checkers that a column shows one by one. Higher columns end with their number.
const HEIGHT: u8 = 5;

/// The signs of both players.
const SIGNS: [char; 2] = ['X', 'O'];

/// Draws the board with the home of player 1, X, at the lower right: checkers on the points, the bar and off, pips, and who is to
/// roll or move. The points have the numbers of the player whose turn it is, as in GNU Backgammon. Below stand the Position ID and the
/// XGID.
pub(super) fn draw(state: &State) -> String {
    let [x, o] = state.sides;
    let upper: Vec<u8> = (13..=24).collect();
    let lower: Vec<u8> = (1..=12).rev().collect();
    let mut text = edge(&upper, state.player);
    let about = [about(state, 1), about(state, 0)];
    for row in 0..HEIGHT {
        let note = if row == 0 { &about[0] } else { "" };
        line(&mut text, &upper, |point| cell(x, o, point, row), bar(o, 1, row), note);
    }
    let middle = format!(" |{:18}|BAR|{:18}|", "", "");
    let _ = writeln!(text, "{middle}");
    for row in (0..HEIGHT).rev() {
        let note = if row == 0 { &about[1] } else { "" };
        line(&mut text, &lower, |point| cell(x, o, point, row), bar(x, 0, row), note);
    }
    text.push_str(&edge(&lower, state.player));
    let roll = match state.stage {
        Stage::Move(roll) => Some(roll),
        Stage::Roll => None,
        Stage::Opening => return text,
    };
    let position = state.position();
    if !position.is_over() {
        let _ = writeln!(text, " {}  {}", position.id(), position.xgid(roll));
    }
    text
}

/// The edge with the numbers that these points have for a player.
fn edge(points: &[u8], player: usize) -> String {
    let points: Vec<u8> = points.iter().map(|&point| if player == 0 { point } else { 25 - point }).collect();
    let half = |points: &[u8]| points.iter().map(|point| format!("{point:-^3}")).collect::<String>();
    format!(" +{}+---+{}+\n", half(&points[..6]), half(&points[6..]))
}

fn line(text: &mut String, points: &[u8], cell: impl Fn(u8) -> String, bar: String, note: &str) {
    let half = |points: &[u8]| points.iter().map(|&point| format!("{:^3}", cell(point))).collect::<String>();
    let drawn = format!(" |{}|{bar:^3}|{}|{note}", half(&points[..6]), half(&points[6..]));
    let _ = writeln!(text, "{}", drawn.trim_end());
}

/// What a column of `count` checkers shows in a row, counted from the edge of the board.
fn shown(count: u8, row: u8, sign: char) -> String {
    match count {
        n if row >= n => String::new(),
        n if row + 1 == HEIGHT && n > HEIGHT => n.to_string(),
        _ => sign.to_string(),
    }
}

/// A cell of point `point` of player 1.
fn cell(x: Side, o: Side, point: u8, row: u8) -> String {
    match (x.on(point), o.on(25 - point)) {
        (0, count) => shown(count, row, SIGNS[1]),
        (count, _) => shown(count, row, SIGNS[0]),
    }
}

/// A cell of the bar, filled from the middle of the board.
fn bar(side: Side, player: usize, row: u8) -> String {
    shown(side.on(BAR), HEIGHT - 1 - row, SIGNS[player])
}

/// What stands beside a player's edge of the board.
fn about(state: &State, player: usize) -> String {
    let side = state.sides[player];
    let doing = match state.stage {
        _ if side.is_done() => match Position::result(state.sides[1 - player]) {
            Win::Single => ", has won".to_string(),
            Win::Gammon => ", has won a gammon".to_string(),
            Win::Backgammon => ", has won a backgammon".to_string(),
        },
        _ if state.position().is_over() || state.player != player => String::new(),
        Stage::Opening => String::new(),
        Stage::Roll => ", to roll".to_string(),
        Stage::Move(roll) => format!(", to move {roll:?}"),
    };
    format!("  {} {} pips, {} off{doing}", SIGNS[player], side.pips(), side.off())
}
