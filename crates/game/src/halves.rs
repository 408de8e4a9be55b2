//! Games whose positions are all pairs of two halves, so that every position can be enumerated.

use crate::game::{Game, GameError};
use std::ops::Range;

/// The positions of a game as pairs of halves: the mover's half belongs to the player who just moved, the roller's half
/// to the player to roll next. Every pair of halves is a position with an exact value.
pub trait Halves<G: Game>: Send + Sync {
    /// Number of halves. There are `count()²` positions.
    fn count(&self) -> usize;

    /// The position right after a move, where the player who moved has half `mover` and the next player has half
    /// `roller`.
    fn state(&self, mover: usize, roller: usize) -> G::State;

    /// Splits the rollers into ranges of at most `most`, aligned with how the values are stored. Reading the ranges in
    /// order reads everything once.
    fn strips(&self, most: usize) -> Vec<Range<usize>>;

    /// Writes the exact values of pairs to the mover, in [−1, 1]: one row per mover, one value per roller. Rows begin
    /// `stride` values apart.
    ///
    /// # Errors
    /// The stored values are damaged.
    fn exact(
        &self,
        movers: Range<usize>,
        rollers: Range<usize>,
        stride: usize,
        values: &mut [f32],
    ) -> Result<(), GameError>;

    /// The factors of the valuation `valuation`, if it has them.
    fn factors(&self, valuation: &str) -> Option<Factors>;
}

/// A valuation that is bilinear in the halves. The value to the mover is Σₖ `movers[i][k]` · `rollers[k][j]`, summed in
/// order of k.
///
/// ```
/// use adept_game::Factors;
///
/// // Two halves, two terms: what a half is worth to the mover, less what the other is worth to the roller.
/// let own = [0.5, -0.5];
/// let movers = vec![own[0], 1.0, own[1], 1.0];
/// let f = Factors { terms: 2, movers, rollers: vec![1.0, 1.0, -own[0], -own[1]] };
/// let value = |i: usize, j: usize| (0..2).map(|k| f.movers[2 * i + k] * f.rollers[2 * k + j]).sum::<f32>();
/// assert_eq!(value(0, 1), own[0] - own[1]);
/// ```
#[derive(Clone, Debug)]
pub struct Factors {
    /// Number of terms.
    pub terms: usize,
    /// `[halves, terms]`.
    pub movers: Vec<f32>,
    /// `[terms, halves]`.
    pub rollers: Vec<f32>,
}
