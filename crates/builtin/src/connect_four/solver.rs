//! Exact values of Connect Four positions by search.
//!
//! The search answers yes-or-no questions: does the mover reach a goal, a draw (0) or a win (1)? It skips moves that
//! let the opponent win at once.

mod node;
mod table;

use super::board::bits::{completing_cells, landing_cells, position_key, single_bits};
use super::board::{Board, CELLS, COLUMNS, ROWS};
use node::{EVEN_ROWS, Node, ODD_ROWS, foreseen, safe_moves};
use table::TranspositionTable;

/// One past the highest bit index of a cell.
const BITS: usize = (ROWS + 1) * COLUMNS;

/// Move ordering: score of a cell that would complete a four.
const THREAT: i32 = 900;
/// Move ordering: extra score of such a cell in a row that its owner usually gets in the endgame.
const SUITED_THREAT: i32 = 600;
/// Move ordering: score of each column, the middle first.
const COLUMN_WORTH: [i32; COLUMNS] = [0, 300, 600, 900, 600, 300, 0];

/// Move ordering: bound of the history score, so that sums stay in range.
const HISTORY_LIMIT: i32 = 1 << 24;

/// Finds exact values by search.
///
/// Keeps results between calls. They make later calls faster and never change a value.
pub struct Solver {
    table: TranspositionTable,
    /// Move ordering: for each player and cell, how often a move there answered a question.
    history: [[i32; BITS]; 2],
}

impl Default for Solver {
    fn default() -> Self {
        Self::new()
    }
}

impl Solver {
    /// A solver with an empty table of 8 MiB.
    #[must_use]
    pub fn new() -> Self {
        Self { table: TranspositionTable::new(), history: [[0; BITS]; 2] }
    }

    /// Value for the side to move if both sides play best: 1 win, 0 draw, -1 loss.
    ///
    /// A finished board has the value of its result for the player who would be next.
    ///
    /// Takes less than 1 ms for most positions of 12 or more stones, and about 0.1 s for the hardest positions of 14
    /// stones. Fewer stones take much longer: up to seconds at 8.
    pub fn solve(&mut self, board: &Board) -> i8 {
        let (mover, other) = (board.mover(), 1 - board.mover());
        if board.is_win(mover) {
            return 1;
        }
        if board.is_win(other) {
            return -1;
        }
        if board.is_full() {
            return 0;
        }
        if board.winning_cells(mover) & board.possible() != 0 {
            return 1;
        }
        let safe = safe_moves(board.possible(), board.winning_cells(other));
        if safe == 0 {
            return -1;
        }
        let (mover, other) = (board.stones(mover), board.stones(other));
        let node = Node { mover, other, count: board.count(), safe };
        self.history = [[0; BITS]; 2];
        if !self.reaches(&node, 0) { -1 } else { i8::from(self.reaches(&node, 1)) }
    }

    /// Whether the value of `node` is at least `goal`, 0 or 1.
    fn reaches(&mut self, node: &Node, goal: u32) -> bool {
        // One or two empty cells and a safe move: a draw.
        if node.count as usize >= CELLS - 2 {
            return goal == 0;
        }
        if let Some(known) = foreseen(node, goal) {
            return known;
        }
        let key = position_key(node.mover, node.mover | node.other);
        if let Some(known) = self.table.answer(key, goal) {
            return known;
        }
        let reached = self.any_move_reaches(node, goal);
        self.table.store(key, goal, reached);
        reached
    }

    /// Whether some move keeps the opponent below `1 - goal`.
    fn any_move_reaches(&mut self, node: &Node, goal: u32) -> bool {
        let player = (node.count & 1) as usize;
        let suited = [ODD_ROWS, EVEN_ROWS][player];
        // Score of the move, its cell, and the opponent's safe answers; best first.
        let mut moves = [(0, 0, 0); COLUMNS];
        let mut len = 0;
        for cell in single_bits(node.safe) {
            let mover = node.mover | cell;
            let occupied = mover | node.other;
            let threats = completing_cells(mover, occupied);
            let safe = safe_moves(landing_cells(occupied), threats);
            if safe == 0 {
                return true;
            }
            let key = position_key(node.other, occupied);
            if self.table.answer(key, 1 - goal) == Some(false) {
                return true;
            }
            let index = cell.trailing_zeros() as usize;
            let mut worth = COLUMN_WORTH[index / (ROWS + 1)] + self.history[player][index];
            // Threats are few, so this is faster than a bit count in software.
            for threat in single_bits(threats) {
                worth += if threat & suited == 0 { THREAT } else { THREAT + SUITED_THREAT };
            }
            let mut at = len;
            while at > 0 && moves[at - 1].0 < worth {
                moves[at] = moves[at - 1];
                at -= 1;
            }
            moves[at] = (worth, cell, safe);
            len += 1;
        }
        for (tried, &(_, cell, safe)) in moves[..len].iter().enumerate() {
            let (mover, other) = (node.other, node.mover | cell);
            let child = Node { mover, other, count: node.count + 1, safe };
            if !self.reaches(&child, 1 - goal) {
                let history = &mut self.history[player];
                let better = &mut history[cell.trailing_zeros() as usize];
                *better = (*better + tried as i32).min(HISTORY_LIMIT);
                for (_, earlier, _) in &moves[..tried] {
                    let worse = &mut history[earlier.trailing_zeros() as usize];
                    *worse = (*worse - 1).max(-HISTORY_LIMIT);
                }
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain minimax over all moves to the end of the game.
    fn minimax(board: &Board) -> i8 {
        if board.is_win(1 - board.mover()) {
            return -1;
        }
        let moves = (0..COLUMNS).filter(|&column| board.playable(column));
        moves.map(|column| -minimax(&board.play(column))).max().unwrap_or(0)
    }

    /// A position with `count` stones from random moves, without a win before the last move.
    fn random_board(count: u32, state: &mut u64) -> Board {
        let mut board = Board::default();
        while board.count() < count {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            let column = (*state >> 33) as usize % COLUMNS;
            if board.is_win(0) || board.is_win(1) {
                board = Board::default();
            } else if board.playable(column) {
                board = board.play(column);
            }
        }
        board
    }

    #[test]
    fn agrees_with_plain_minimax() {
        let mut state = 0x9E37_79B9_7F4A_7C15;
        let mut solver = Solver::new();
        let mut seen = [0; 3];
        for i in 0..600 {
            let board = random_board(30 + i % 13, &mut state);
            let value = solver.solve(&board);
            assert_eq!(value, minimax(&board), "{}", board.to_text());
            seen[(value + 1) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 50), "{seen:?}");
    }

    #[test]
    fn mirrored_positions_and_moves_agree() {
        let mut state = 0x2545_F491_4F6C_DD1D;
        for i in 0..60 {
            let board = random_board(17 + i % 10, &mut state);
            let mut solver = Solver::new();
            let value = solver.solve(&board);
            assert_eq!(value, Solver::new().solve(&board.mirrored()), "{}", board.to_text());
            assert_eq!(value, solver.solve(&board));
            if !board.is_over() {
                let moves = (0..COLUMNS).filter(|&column| board.playable(column));
                let best = moves.map(|column| -solver.solve(&board.play(column))).max();
                assert_eq!(Some(value), best, "{}", board.to_text());
            }
        }
    }

    #[test]
    fn known_values() {
        for (text, value) in [
            // Three in the bottom row: X wins at once. An open two wins too.
            ("445566", 1),
            ("4455", 1),
            // O cannot block both ends.
            ("44553", -1),
            // Finished: X has won, O has won.
            ("1212121", -1),
            ("17172727", -1),
            // Values from plain minimax, without an immediate win for either side.
            ("23557113766727236233756355566217", 1),
            ("52345172177414456357242433373151", -1),
            ("4167772715471566722212416412446", -1),
            ("15756274472656455634346146127117", 0),
            // A full board.
            ("144422512213732757246477617545515163363366", 0),
        ] {
            let board = Board::parse(text).unwrap();
            assert_eq!(Solver::new().solve(&board), value, "{text}");
        }
    }
}
