//! Connect Four as a [`Game`].

use super::board::{Board, COLUMNS, ROWS};
use adept_game::{Game, GameError, Turn};
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

    fn rules_text(&self) -> Option<String> {
        Some(
            "Players drop one disc in turn into a column, where it falls to the lowest free field.\n\
             Four own discs in a line win: in a row, a column or a diagonal. A full board is a draw.\n\n\
             How to write a move: the number of the column, from 1 to 7."
                .into(),
        )
    }

    fn board(&self, board: &Board, marks: &[(u8, String)]) -> String {
        const WIDTH: usize = 7;
        let mut text = String::new();
        for row in board.to_text().split('/').take(ROWS) {
            for cell in row.chars() {
                let _ = write!(text, "{cell:^WIDTH$}");
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
        for column in 0..COLUMNS as u8 {
            let mark = marks.iter().find(|(c, _)| *c == column).map_or("", |(_, mark)| mark);
            let _ = write!(text, "{:^WIDTH$}", format!("{}{mark}", column + 1));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}
