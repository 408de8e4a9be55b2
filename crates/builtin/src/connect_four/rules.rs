//! Connect Four as a [`Game`].

use super::board::bits::STRIDE;
use super::board::{Board, COLUMNS, ROWS};
use adept_game::{Game, GameError, Texts, Turn};
use std::fmt::Write;

/// The rules of Connect Four. A win is worth +1, a draw 0, a loss −1.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConnectFour;

impl Game for ConnectFour {
    type State = Board;
    type Action = u8;
    type Info = Board;

    fn name(&self) -> &str {
        "connect-four"
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> Board {
        Board::default()
    }

    fn turn(&self, board: &Board) -> Turn {
        if board.is_over() { Turn::Over } else { Turn::Player(board.mover()) }
    }

    fn actions(&self, board: &Board, actions: &mut Vec<u8>) {
        actions.clear();
        if !board.is_over() {
            actions.extend((0..COLUMNS as u8).filter(|column| board.playable(usize::from(*column))));
        }
    }

    fn apply(&self, board: &mut Board, column: &u8) {
        *board = board.play(usize::from(*column));
    }

    fn utility(&self, board: &Board, player: usize) -> f64 {
        let won = |player: usize| f64::from(u8::from(board.is_win(player)));
        won(player) - won(1 - player)
    }

    fn just_acted(&self, board: &Board) -> Option<usize> {
        (board.count() > 0).then(|| 1 - board.mover())
    }

    fn info(&self, board: &Board, _: usize) -> Board {
        *board
    }

    fn position_text(&self, board: &Board) -> String {
        board.to_text()
    }

    fn parse_position(&self, text: &str) -> Result<(Board, Option<u8>), GameError> {
        match Board::parse(text.trim()) {
            Ok(board) => Ok((board, None)),
            Err(error) => Err(GameError::new(format!("`{text}` is not a position of Connect Four: {error}"))),
        }
    }

    fn action_text(&self, _: &Board, column: &u8) -> String {
        (column + 1).to_string()
    }

    fn parse_action(&self, board: &Board, text: &str) -> Result<u8, GameError> {
        let fail = |why: String| Err(GameError::new(why));
        match text.trim().parse::<u8>() {
            Ok(1..=7) if board.is_over() => fail("the game is over".into()),
            Ok(n @ 1..=7) if board.playable(usize::from(n - 1)) => Ok(n - 1),
            Ok(n @ 1..=7) => fail(format!("column {n} is full")),
            _ => fail(format!("`{}` is not a column; write a number from 1 to {COLUMNS}", text.trim())),
        }
    }
}

/// Connect Four in words and pictures.
pub(super) struct Words;

impl Texts<ConnectFour> for Words {
    fn rules(&self, _: &ConnectFour) -> Option<String> {
        Some(
            "Players drop one disc in turn into a column, where it falls to the lowest free field.\n\
             Four own discs in a line win: in a row, a column or a diagonal. A full board is a draw.\n\n\
             How to write a move: the number of the column, from 1 to 7."
                .into(),
        )
    }

    /// Draws the grid, with four in a line in brackets. Marks stand below the columns, or one a line if they are long.
    fn board(&self, _: &ConnectFour, board: &Board, marks: &[(u8, String)], _: usize) -> String {
        let longest = marks.iter().map(|(_, mark)| mark.chars().count()).max().unwrap_or(0);
        let is_short = longest <= LONGEST;
        // An odd width has a middle.
        let width = if is_short { longest.max(3) | 1 } else { 3 };
        let mut text = edge(width, ["┌", "┬", "┐"]);
        for row in (0..ROWS).rev() {
            let cells: [String; COLUMNS] =
                std::array::from_fn(|column| format!("{:^width$}", stone(board, Board::cell(column, row))));
            // The top two rows name the players.
            let note = match ROWS - 1 - row {
                player @ 0..2 => {
                    let won = if board.is_win(player) { " has won" } else { "" };
                    format!("  {} player {}{won}", SIGNS[player], player + 1)
                }
                _ => String::new(),
            };
            let _ = writeln!(text, "│{}│{note}", cells.join("│"));
            text += &edge(width, if row > 0 { ["├", "┼", "┤"] } else { ["└", "┴", "┘"] });
        }
        let below = |cells: [String; COLUMNS]| {
            let cells = cells.map(|cell| format!(" {cell:^width$}")).concat();
            format!("{}\n", cells.trim_end())
        };
        text += &below(std::array::from_fn(|column| (column + 1).to_string()));
        if !is_short {
            text.push('\n');
            text.extend(marks.iter().map(|(column, mark)| format!("  {}  {mark}\n", column + 1)));
        } else if longest > 0 {
            let mark = |column| marks.iter().find(|(marked, _)| usize::from(*marked) == column);
            text +=
                &below(std::array::from_fn(|column| mark(column).map_or("", |(_, mark)| mark).to_string()));
        }
        text
    }
}

/// The stones of both players.
const SIGNS: [char; 2] = ['●', '○'];

/// Longest mark below a column, in characters.
const LONGEST: usize = 7;

/// A border between rows of cells. The arguments are its left end, crossings and right end.
fn edge(width: usize, [left, crossing, right]: [&str; 3]) -> String {
    format!("{left}{}{right}\n", vec!["─".repeat(width); COLUMNS].join(crossing))
}

/// The text of a cell.
fn stone(board: &Board, cell: u64) -> String {
    match [0, 1].into_iter().find(|&player| board.stones(player) & cell != 0) {
        None => String::new(),
        Some(player) if in_four(board.stones(player)) & cell != 0 => format!("[{}]", SIGNS[player]),
        Some(player) => SIGNS[player].into(),
    }
}

/// The stones that are part of four in a line.
fn in_four(stones: u64) -> u64 {
    [1, STRIDE - 1, STRIDE, STRIDE + 1].into_iter().fold(0, |found, step| {
        let pairs = stones & (stones >> step);
        let first = pairs & (pairs >> (2 * step));
        let second = first | first << step;
        found | second | second << (2 * step)
    })
}
