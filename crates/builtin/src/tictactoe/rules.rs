//! Rules and symmetries of tic-tac-toe.

use adept_game::{Game, GameError, Texts, Turn};

use rand::Rng;
use std::fmt::Write;

/// The eight lines, as sets of squares (bit s is square s).
pub const LINES: [u16; 8] = [
    0b000_000_111,
    0b000_111_000,
    0b111_000_000,
    0b001_001_001,
    0b010_010_010,
    0b100_100_100,
    0b100_010_001,
    0b001_010_100,
];

/// All nine squares.
const FULL: u16 = 0b111_111_111;

/// For each set of squares: whether it holds a line.
static HAS_LINE: [bool; 512] = {
    let mut table = [false; 512];
    let mut set = 0;
    while set < 512 {
        let mut line = 0;
        while line < 8 {
            if set & LINES[line] as usize == LINES[line] as usize {
                table[set] = true;
            }
            line += 1;
        }
        set += 1;
    }
    table
};

/// Whether the set of squares holds a line.
#[inline]
pub fn has_line(stones: u16) -> bool {
    HAS_LINE[usize::from(stones & FULL)]
}

/// The squares among `empty` that complete a line of these stones.
#[inline]
pub(super) fn completes(stones: u16, empty: u16) -> u16 {
    COMPLETING[usize::from(stones & FULL)] & empty
}

/// For each set of squares: the squares that complete a line with it.
static COMPLETING: [u16; 512] = {
    let mut table = [0; 512];
    let mut set = 0;
    while set < 512 {
        let mut square = 0;
        while square < 9 {
            if set >> square & 1 == 0 && HAS_LINE[set | 1 << square] {
                table[set] |= 1 << square;
            }
            square += 1;
        }
        set += 1;
    }
    table
};

/// The eight symmetries of the board: square s goes to `SYMMETRIES[k][s]`; the first is the identity.
pub const SYMMETRIES: [[u8; 9]; 8] = [
    [0, 1, 2, 3, 4, 5, 6, 7, 8],
    [2, 5, 8, 1, 4, 7, 0, 3, 6],
    [8, 7, 6, 5, 4, 3, 2, 1, 0],
    [6, 3, 0, 7, 4, 1, 8, 5, 2],
    [2, 1, 0, 5, 4, 3, 8, 7, 6],
    [8, 5, 2, 7, 4, 1, 6, 3, 0],
    [6, 7, 8, 3, 4, 5, 0, 1, 2],
    [0, 3, 6, 1, 4, 7, 2, 5, 8],
];

/// Stones of both players as sets of squares. The number of stones determines the player to move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Position {
    /// Bit s of `stones[p]`: player p has a stone on square s.
    pub stones: [u16; 2],
}

impl Position {
    /// The player to move. If the game is over, the player who would be next.
    #[inline]
    pub fn mover(&self) -> usize {
        // Player 0 moves if the number of stones is even. This is the parity of nine bits, folded to four.
        let stones = self.stones[0] ^ self.stones[1];
        let folded = (stones ^ stones >> 4 ^ stones >> 8) & 15;
        usize::from(0b0110_1001_1001_0110_u16 >> folded & 1)
    }

    /// Empty squares.
    #[inline]
    pub fn empty(&self) -> u16 {
        FULL & !(self.stones[0] | self.stones[1])
    }

    /// Whether a player has a line or the board is full.
    #[inline]
    pub fn over(&self) -> bool {
        self.empty() == 0 || has_line(self.stones[0]) || has_line(self.stones[1])
    }

    /// Whether a line has no stone of the other player.
    #[inline]
    pub fn can_win(&self, player: usize) -> bool {
        has_line(!self.stones[1 - player])
    }

    /// The position under symmetry k of [`SYMMETRIES`].
    pub fn under(&self, k: usize) -> Self {
        let turn = |stones: u16| squares(stones).fold(0, |set, s| set | 1 << SYMMETRIES[k][usize::from(s)]);
        Self { stones: self.stones.map(turn) }
    }
}

/// The squares of a set, in ascending order.
#[inline]
pub(super) fn squares(mut set: u16) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        (set != 0).then(|| {
            let square = set.trailing_zeros() as u8;
            set &= set - 1;
            square
        })
    })
}

/// The rules of tic-tac-toe. A win is worth +1, a draw 0, a loss −1.
#[derive(Clone, Copy, Debug, Default)]
pub struct TicTacToe;

impl Game for TicTacToe {
    type State = Position;
    type Action = u8;
    type Info = Position;

    fn name(&self) -> &str {
        "tictactoe"
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> Position {
        Position::default()
    }

    #[inline]
    fn turn(&self, state: &Position) -> Turn {
        if state.over() { Turn::Over } else { Turn::Player(state.mover()) }
    }

    #[inline]
    fn actions(&self, state: &Position, actions: &mut Vec<u8>) {
        actions.clear();
        if !state.over() {
            for square in squares(state.empty()) {
                actions.push(square);
            }
        }
    }

    #[inline]
    fn apply(&self, state: &mut Position, &action: &u8) {
        state.stones[state.mover()] |= 1 << action;
    }

    fn outcomes(&self, _: &Position, outcomes: &mut Vec<(u8, f64)>) -> bool {
        outcomes.clear();
        true
    }

    fn sample(&self, state: &Position, _: &mut dyn Rng) -> u8 {
        // Never called, because this game has no chance events. Any legal square is a valid result.
        state.empty().trailing_zeros() as u8
    }

    #[inline]
    fn utility(&self, state: &Position, player: usize) -> f64 {
        if has_line(state.stones[player]) {
            1.0
        } else if has_line(state.stones[1 - player]) {
            -1.0
        } else {
            0.0
        }
    }

    fn zero_sum(&self) -> bool {
        true
    }

    fn just_acted(&self, state: &Position) -> Option<usize> {
        (*state != self.start()).then(|| 1 - state.mover())
    }

    fn info(&self, state: &Position, _player: usize) -> Position {
        *state
    }

    fn position_text(&self, state: &Position) -> String {
        (0..9).map(|s| glyph(state, s)).collect()
    }

    /// Reads nine of `X`, `O`, `.` row by row; `/` and spaces are ignored. `@s` may follow with the last square played,
    /// 1 to 9.
    fn parse_position(&self, text: &str) -> Result<(Position, Option<u8>), GameError> {
        let fail = |why: String| {
            Err(GameError::new(format!(
                "`{text}` is not a tic-tac-toe position: {why}; write nine of X, O and ., row by row, such as X...O...."
            )))
        };
        let (board, last) = match text.split_once('@') {
            Some((board, last)) => (board, Some(last)),
            None => (text, None),
        };
        let mut position = Position::default();
        let mut square = 0;
        for c in board.chars() {
            let player = match c {
                'X' | 'x' => Some(0),
                'O' | 'o' => Some(1),
                '.' | '-' | '_' => None,
                '/' | ' ' => continue,
                other => return fail(format!("`{other}` is not X, O or .")),
            };
            if square == 9 {
                return fail("more than nine squares".into());
            }
            if let Some(player) = player {
                position.stones[player] |= 1 << square;
            }
            square += 1;
        }
        if square < 9 {
            return fail(format!("{square} squares instead of nine"));
        }
        let [x, o] = position.stones.map(u16::count_ones);
        if !(x == o || x == o + 1) {
            return fail(format!("{x} X and {o} O are impossible, because X moves first"));
        }
        // A player with a line must have moved last.
        let lines = position.stones.map(has_line);
        if lines[position.mover()] {
            return fail("the game was over before the last move".into());
        }
        let Some(last) = last else { return Ok((position, None)) };
        let mover = 1 - position.mover();
        match last.trim().parse::<u8>() {
            Ok(s @ 1..=9) if position.stones[mover] >> (s - 1) & 1 == 1 => {
                if has_line(position.stones[mover] & !(1 << (s - 1))) {
                    return fail("the game was over before the last move".into());
                }
                Ok((position, Some(s - 1)))
            }
            Ok(1..=9) => fail(format!("the last stone cannot be on square {last}")),
            _ => fail(format!("`{last}` is not a square from 1 to 9")),
        }
    }

    fn action_text(&self, _: &Position, &action: &u8) -> String {
        (action + 1).to_string()
    }

    fn parse_action(&self, state: &Position, text: &str) -> Result<u8, GameError> {
        match text.trim().parse::<u8>() {
            Ok(1..=9) if state.over() => Err(GameError::new("the game is over")),
            Ok(s @ 1..=9) if state.empty() >> (s - 1) & 1 == 1 => Ok(s - 1),
            Ok(1..=9) => Err(GameError::new(format!("square {} is taken", text.trim()))),
            _ => Err(GameError::new(format!(
                "`{}` is not a square; squares are 1 2 3 / 4 5 6 / 7 8 9 from the top left",
                text.trim()
            ))),
        }
    }
}

/// Tic-tac-toe in words and pictures.
pub(super) struct Words;

impl Texts<TicTacToe> for Words {
    fn rules(&self, _: &TicTacToe) -> Option<String> {
        Some(
            "Players mark one free field in turn. Three own marks in a row, a column or a\n\
             diagonal win; a full board without them is a draw.\n\n\
             How to write a move: the number of the field, 1 2 3 in the top row, 7 8 9 in the\n\
             bottom row."
                .into(),
        )
    }

    fn board(&self, _: &TicTacToe, state: &Position, marks: &[(u8, String)], _: usize) -> String {
        let mut text = String::new();
        for row in 0..3u8 {
            if row > 0 {
                text.push_str("-------+-------+-------\n");
            }
            for column in 0..3u8 {
                let square = 3 * row + column;
                let mark = marks.iter().find(|(s, _)| *s == square).map(|(_, m)| m.as_str());
                let cell = match glyph(state, square) {
                    '.' => format!("{}{}", square + 1, mark.unwrap_or_default()),
                    stone => stone.to_string(),
                };
                let _ = write!(text, "{cell:^7}{}", if column < 2 { "|" } else { "\n" });
            }
        }
        text
    }

    fn afterstate(&self, game: &TicTacToe, state: &Position, action: Option<&u8>) -> String {
        let text = game.position_text(state);
        action.map_or(text.clone(), |square| format!("{text}@{}", square + 1))
    }
}

fn glyph(state: &Position, square: u8) -> char {
    match (state.stones[0] >> square & 1, state.stones[1] >> square & 1) {
        (1, _) => 'X',
        (_, 1) => 'O',
        _ => '.',
    }
}
