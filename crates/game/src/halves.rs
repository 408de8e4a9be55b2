//! Games whose positions are all pairs of two halves, so that all of them can be gone through.

use crate::game::{Game, GameError};
use std::ops::Range;

/// The positions of a game as pairs of halves, what the player who just moved has and what the one to go on has: every
/// half goes with every half, and each pair has an exact value.
pub trait Halves<G: Game>: Send + Sync {
    /// Number of halves; of positions there are as many squared.
    fn count(&self) -> usize;

    /// The position right after a player left the half `mover` to the other one, who has `roller`.
    fn state(&self, mover: usize, roller: usize) -> G::State;

    /// Rollers in ranges of at most `most`, cut where their values lie apart: whoever asks for one range after the other
    /// reads everything once.
    fn strips(&self, most: usize) -> Vec<Range<usize>>;

    /// Writes the exact values of pairs to the mover, in [−1, 1]: one row for each mover, with one value for each
    /// roller; rows begin `stride` apart.
    ///
    /// # Errors
    /// Values that are damaged.
    fn exact(
        &self,
        movers: Range<usize>,
        rollers: Range<usize>,
        stride: usize,
        values: &mut [f32],
    ) -> Result<(), GameError>;

    /// The factors of the valuation of that name; none if it has none.
    fn factors(&self, valuation: &str) -> Option<Factors>;
}

/// A valuation that is bilinear in the halves: its value to the mover is Σₖ `movers[i][k]` · `rollers[k][j]`, with terms
/// summed from the first to the last.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Number of terms.
    pub terms: usize,
    /// `[halves, terms]`.
    pub movers: Vec<f32>,
    /// `[terms, halves]`.
    pub rollers: Vec<f32>,
}
