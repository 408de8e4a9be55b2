//! The fixed opponent TTT (Boyan 1992).

use super::rules::{Position, TicTacToe, completes};

/// The squares from which TTT chooses uniformly: winning squares, otherwise blocking squares, otherwise all empty
/// squares.
#[inline]
pub fn ttt_moves(position: &Position) -> u16 {
    let mover = position.mover();
    let wins = completes(position.stones[mover], position.empty());
    if wins != 0 {
        return wins;
    }
    let blocks = completes(position.stones[1 - mover], position.empty());
    if blocks != 0 { blocks } else { position.empty() }
}

pub(super) fn policy(_: &TicTacToe, state: &Position, actions: &[u8], probabilities: &mut Vec<f64>) {
    let moves = ttt_moves(state);
    let each = 1.0 / f64::from(moves.count_ones());
    probabilities.clear();
    for &a in actions {
        probabilities.push(if moves >> a & 1 == 1 { each } else { 0.0 });
    }
}
