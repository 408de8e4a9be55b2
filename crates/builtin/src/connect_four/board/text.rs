//! Text forms of a [`Board`]: rows of cells, or a list of moves.

use super::bits::{column_cells, has_four};
use super::{Board, BoardError, COLUMNS, ROWS};

impl Board {
    /// Writes six rows of seven characters `X`, `O` or `.`, from the top, joined by `/`.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity((COLUMNS + 1) * ROWS);
        for row in (0..ROWS).rev() {
            for column in 0..COLUMNS {
                let cell = Self::cell(column, row);
                text.push(match (self.stones[0] & cell, self.stones[1] & cell) {
                    (0, 0) => '.',
                    (_, 0) => 'X',
                    _ => 'O',
                });
            }
            if row > 0 {
                text.push('/');
            }
        }
        text
    }

    /// Reads a board from rows in the format of [`to_text`](Self::to_text), or from a list of moves. Moves are column
    /// digits 1 to 7 from the empty board; `44` is two stones in the middle. The empty text and `start` are the empty
    /// board.
    ///
    /// Text with `/`, `X`, `O` or `.` is read as rows. Spaces and line ends are errors. Rows that pass all checks may
    /// still be unreachable by legal moves.
    ///
    /// # Errors
    ///
    /// [`BoardError`] for the first fault.
    pub fn parse(text: &str) -> Result<Self, BoardError> {
        match text {
            "start" => Ok(Self::default()),
            _ if text.contains(['/', 'X', 'O', '.']) => parse_rows(text),
            _ => parse_moves(text),
        }
    }
}

fn parse_moves(text: &str) -> Result<Board, BoardError> {
    let mut board = Board::default();
    for (number, found) in (1..).zip(text.chars()) {
        let digit = found.to_digit(10).ok_or(BoardError::UnknownMove { number, found })? as usize;
        if !(1..=COLUMNS).contains(&digit) {
            return Err(BoardError::NoSuchColumn { number, found });
        }
        if board.is_over() {
            return Err(BoardError::MoveAfterEnd { number });
        }
        if !board.playable(digit - 1) {
            return Err(BoardError::ColumnFull { number, column: digit });
        }
        board = board.play(digit - 1);
    }
    Ok(board)
}

fn parse_rows(text: &str) -> Result<Board, BoardError> {
    let found = text.split('/').count();
    if found != ROWS {
        return Err(BoardError::RowCount { found });
    }
    let mut board = Board::default();
    for (row, line) in (1..).zip(text.split('/')) {
        for (column, found) in (1..).zip(line.chars()) {
            let player = match found {
                '.' => continue,
                'X' => 0,
                'O' => 1,
                _ => return Err(BoardError::UnknownCell { row, column, found }),
            };
            // Extra cells are reported below.
            if column <= COLUMNS {
                board.stones[player] |= Board::cell(column - 1, ROWS - row);
            }
        }
        let found = line.chars().count();
        if found != COLUMNS {
            return Err(BoardError::CellCount { row, found });
        }
    }
    check(&board)?;
    Ok(board)
}

/// Checks the rules that a list of moves always satisfies.
fn check(board: &Board) -> Result<(), BoardError> {
    let occupied = board.occupied();
    for row in 1..ROWS {
        for column in 1..=COLUMNS {
            let stone = Board::cell(column - 1, ROWS - row);
            if occupied & stone != 0 && occupied & (stone >> 1) == 0 {
                return Err(BoardError::Floating { row, column });
            }
        }
    }
    let [x, o] = board.stones.map(u64::count_ones);
    if x != o && x != o + 1 {
        return Err(BoardError::StoneCounts { x, o });
    }
    let winner = match (board.is_win(0), board.is_win(1)) {
        (false, false) => return Ok(()),
        (true, true) => return Err(BoardError::TwoWinners),
        (x_won, _) => usize::from(!x_won),
    };
    // The last stone won: it belongs to the winner, is on top of its column, and is part of every four.
    let stones = board.stones[winner];
    let last_stone_won = board.mover() != winner
        && (0..COLUMNS).any(|column| {
            let top = (board.possible() >> 1 | Board::cell(column, ROWS - 1) & occupied)
                & column_cells(column)
                & stones;
            top != 0 && !has_four(stones & !top)
        });
    if last_stone_won { Ok(()) } else { Err(BoardError::StonesAfterWin { winner: ['X', 'O'][winner] }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use BoardError::*;

    /// Completes a board text from its lowest rows.
    fn rows(lowest: &[&str]) -> String {
        let mut all = vec!["......."; ROWS - lowest.len()];
        all.extend(lowest);
        all.join("/")
    }

    #[test]
    fn round_trips() {
        let mut state: u64 = 0x2545_F491_4F6C_DD1D;
        for _ in 0..300 {
            let (mut board, mut moves) = (Board::default(), String::new());
            loop {
                assert_eq!(Board::parse(&board.to_text()), Ok(board));
                assert_eq!(Board::parse(&moves), Ok(board));
                if board.is_over() {
                    break;
                }
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let column = (state >> 33) as usize % COLUMNS;
                if board.playable(column) {
                    board = board.play(column);
                    moves.push_str(&(column + 1).to_string());
                }
            }
        }
        assert_eq!(Board::parse("start"), Ok(Board::default()));
        assert_eq!(Board::parse("445").unwrap().to_text(), rows(&["...O...", "...XX.."]));
    }

    #[test]
    fn wrong_rows_are_named() {
        let wrong = |lowest: &[&str], error: BoardError| {
            let text = rows(lowest);
            assert_eq!(Board::parse(&text), Err(error), "{text}");
        };
        assert_eq!(Board::parse("X......"), Err(RowCount { found: 1 }));
        wrong(&["......./......./"], RowCount { found: 8 });
        wrong(&["...X.."], CellCount { row: 6, found: 6 });
        wrong(&["...X....", "......."], CellCount { row: 5, found: 8 });
        wrong(&["..x...."], UnknownCell { row: 6, column: 3, found: 'x' });
        wrong(&["X......\n"], UnknownCell { row: 6, column: 8, found: '\n' });
        wrong(&["..é....", "......."], UnknownCell { row: 5, column: 3, found: 'é' });
        wrong(&["......X", "......."], Floating { row: 5, column: 7 });
        wrong(&["XX....."], StoneCounts { x: 2, o: 0 });
        wrong(&["XO...O."], StoneCounts { x: 1, o: 2 });
        wrong(&["OOOO...", "XXXX..."], TwoWinners);
        wrong(&["OOO....", "XXXX..O"], StonesAfterWin { winner: 'X' });
        wrong(&["X......", "XXX....", "OOOO..X"], StonesAfterWin { winner: 'O' });
        // X has two fours that no single last stone completes.
        wrong(&["XXXX...", "OOXOO..", "OXOOO..", "XXXXO.."], StonesAfterWin { winner: 'X' });
        // A four under other stones cannot be the last move.
        wrong(&["XOXX...", "OXOX...", "OOOO.XX"], StonesAfterWin { winner: 'O' });
        // A last stone can complete two fours at once.
        let double = rows(&["...X...", "..XOX..", ".XOOOX.", "XOOXOOX", "XOXOXOX"]);
        assert_eq!(Board::parse(&double).map(|board| board.is_win(0)), Ok(true));
    }

    #[test]
    fn wrong_moves_are_named() {
        for (text, error) in [
            ("4 4", UnknownMove { number: 2, found: ' ' }),
            ("hello", UnknownMove { number: 1, found: 'h' }),
            ("40", NoSuchColumn { number: 2, found: '0' }),
            ("448", NoSuchColumn { number: 3, found: '8' }),
            ("1111111", ColumnFull { number: 7, column: 1 }),
            ("12121212", MoveAfterEnd { number: 8 }),
        ] {
            assert_eq!(Board::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn messages_say_what_to_do() {
        let message = Board::parse(&rows(&["..x...."])).unwrap_err().to_string();
        let expected = "row 6 from the top, column 3 is 'x'; use 'X', 'O' or '.' for an empty cell";
        assert_eq!(message, expected);
    }

    #[test]
    fn no_text_panics() {
        let signs = ['X', 'O', '.', '/', '1', '7', '\0', '/', '.', 'é', '.', '.'];
        let mut state: u64 = 0x1234_5678_9ABC_DEF1;
        for _ in 0..20_000 {
            let mut text = String::new();
            while !state.is_multiple_of(61) {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                text.push(signs[(state >> 40) as usize % signs.len()]);
            }
            state += 1;
            let _ = Board::parse(&text);
        }
    }
}
