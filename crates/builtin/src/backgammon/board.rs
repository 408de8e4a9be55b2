//! Text drawing of the board.

use super::state::{Stage, State};
use super::{BAR, Backgammon, Position, Win};
use adept_game::{Game, Turn};
use std::fmt::Write;

/// Tallest column that is drawn checker by checker. Taller columns end with their number.
const HEIGHT: u8 = 5;

/// Signs of the checkers of each player.
const SIGNS: [char; 2] = ['●', '○'];

/// Draws the board from the view of the player to roll or move, with the home board at the lower right. Pips, checkers
/// borne off and the next step are at the right; the Position ID and the XGID follow below, with the cube what is played for and the
/// position as text. A finished game is drawn from the view of `seat`, an answer to a double from that of the player who answers.
pub(super) fn draw(game: &Backgammon, state: &State, seat: usize) -> String {
    let is_over = state.position().is_over() || matches!(state.stage, Stage::Dropped | Stage::Resigned(_));
    let player = if is_over { seat } else { state.actor() };
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
    let middle = format!(" │{:18}│BAR│{:18}│  {}", "", "", next(game, state));
    let _ = writeln!(text, "{}", middle.trim_end());
    for row in (0..HEIGHT).rev() {
        text += &line(&below, row, lower, &if row == 0 { about(lower) } else { String::new() });
    }
    text += &edge(&below, ['└', '┴', '┘']);
    if game.has_cube() {
        let _ = writeln!(text, " {}", stakes(state));
        if state.stage != Stage::Opening && !is_over {
            let _ = writeln!(text, " {}", game.position_text(state));
        }
        return text;
    }
    let roll = match state.stage {
        Stage::Move(roll) => Some(roll),
        Stage::Opening => return text,
        _ => None,
    };
    if !is_over {
        let _ = writeln!(text, " {}  {}", state.position().id(), state.position().xgid(roll));
    }
    text
}

/// The border with the numbers of the points. The other arguments are its left corner, the corners of the bar and its
/// right corner.
fn edge(points: &[u8], [left, bar, right]: [char; 3]) -> String {
    let half = |points: &[u8]| points.iter().map(|point| format!("{point:─^3}")).collect::<String>();
    format!(" {left}{}{bar}───{bar}{}{right}\n", half(&points[..6]), half(&points[6..]))
}

/// The cell of a column of `count` checkers in a row, counted from the border.
fn shown(count: u8, row: u8, sign: char) -> String {
    match count {
        n if row >= n => String::new(),
        n if row + 1 == HEIGHT && n > HEIGHT => n.to_string(),
        _ => sign.to_string(),
    }
}

/// The cube and the score.
fn stakes(state: &State) -> String {
    let stakes = state.stakes;
    let mut text = match stakes.owner() {
        None => "cube in the middle".into(),
        Some(owner) => format!("cube at {} with {}", stakes.cube(), SIGNS[owner]),
    };
    if let Some([first, second]) = stakes.away() {
        let crawford = if stakes.is_crawford() { ", Crawford game" } else { "" };
        let [you, other] = SIGNS;
        let _ = write!(text, ", {you} needs {first}, {other} needs {second} to win the match{crawford}");
    }
    text
}

/// The next step, or how the game ended.
fn next(game: &Backgammon, state: &State) -> String {
    if let Some(winner) = state.stakes.winner() {
        return format!("{} has won the match", SIGNS[winner]);
    }
    if game.has_cube() && game.turn(state) == Turn::Over {
        let won = game.utility(state, 0);
        let points = if won.abs() == 1.0 { "point" } else { "points" };
        return format!("{} has won {} {points}", SIGNS[usize::from(won < 0.0)], won.abs());
    }
    if let Some(winner) = state.sides.iter().position(|side| side.is_done()) {
        let won = match Position::result(state.sides[1 - winner]) {
            Win::Single => "",
            Win::Gammon => " a gammon",
            Win::Backgammon => " a backgammon",
        };
        return format!("{} has won{won}", SIGNS[winner]);
    }
    let (sign, cube) = (SIGNS[state.actor()], 2 * state.stakes.cube());
    match state.stage {
        Stage::Opening | Stage::Dropped | Stage::Resigned(_) => String::new(),
        Stage::Roll | Stage::Rolling => format!("{sign} to roll"),
        Stage::Move(roll) => format!("{sign} to move {roll:?}"),
        Stage::Cube => format!("{sign} to double or roll"),
        Stage::Doubled => format!("{sign} to take or drop {cube}"),
        Stage::Beavered => format!("{sign} to take or drop a beaver to {cube}"),
    }
}
