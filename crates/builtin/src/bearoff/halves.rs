//! The game as pairs of sides, in storage order of the table.

use super::two_sided::Table;
use super::{Bearoff, OneSided, Position, Side, State, rank};
use adept_game::GameError;
use adept_game::{Factors, Halves};
use std::ops::Range;
use std::sync::Arc;

/// All pairs of nonempty sides. Each half is a side, numbered by its row in the table.
pub(super) struct Pairs {
    table: Arc<Table>,
    solution: Arc<OneSided>,
    /// Side of each half.
    sides: Vec<Side>,
    /// Row and column of each half in the table.
    rows: Vec<u16>,
}

/// Factors omit probabilities below this limit. Their sum over a side does not change a 32-bit sum.
const LEAST: f64 = 1e-10;

impl Pairs {
    pub(super) fn new(game: &Bearoff, table: Arc<Table>) -> Self {
        let mut halves: Vec<(u16, Side)> = (1..rank::sides(game.checkers()))
            .map(Side::of_rank)
            .filter_map(|side| Some((table.row_of(side)?, side)))
            .collect();
        halves.sort_unstable();
        let (rows, sides) = halves.into_iter().unzip();
        Self { table, solution: OneSided::shared(game.checkers()), sides, rows }
    }

    fn distribution(&self, half: usize) -> &[f64] {
        self.solution.distribution(self.sides[half]).unwrap_or(&[])
    }

    /// −V of the side to roll is 1 − 2 Σₖ P(mover ≥ k) · P(roller = k). The sum starts with the largest k, so that
    /// small numbers are summed first.
    fn convolution(&self) -> Factors {
        let halves = self.sides.len();
        let longest = (0..halves).map(|half| self.distribution(half).len()).max().unwrap_or(0);
        let mut factors = Factors {
            terms: longest,
            movers: Vec::with_capacity(halves * longest),
            rollers: vec![1.0; halves * longest],
        };
        let large = |p: f64| if p < LEAST { 0.0 } else { p as f32 };
        for half in 0..halves {
            let distribution = self.distribution(half);
            let mut at_least = 0.0;
            for (term, k) in (1..longest).rev().enumerate() {
                let exactly = distribution.get(k).copied().unwrap_or(0.0);
                at_least += exactly;
                factors.movers.push(large(at_least));
                factors.rollers[term * halves + half] = -2.0 * large(exactly);
            }
            factors.movers.push(1.0);
        }
        factors
    }
}

impl Halves<Bearoff> for Pairs {
    fn count(&self) -> usize {
        self.sides.len()
    }

    fn state(&self, mover: usize, roller: usize) -> State {
        State::to_roll(Position { own: self.sides[roller], opponent: self.sides[mover] })
    }

    fn strips(&self, most: usize) -> Vec<Range<usize>> {
        let width = self.table.strip_columns();
        let width = (most / width).max(1) * width;
        let (mut strips, mut first) = (Vec::new(), 0);
        for strip in self.rows.chunk_by(|a, b| usize::from(*a) / width == usize::from(*b) / width) {
            let end = first + strip.len();
            strips.extend((first..end).step_by(most).map(|start| start..end.min(start + most)));
            first = end;
        }
        strips
    }

    fn exact(
        &self,
        movers: Range<usize>,
        rollers: Range<usize>,
        stride: usize,
        values: &mut [f32],
    ) -> Result<(), GameError> {
        let (rows, columns) = (&self.rows[movers], &self.rows[rollers]);
        self.table.read_block(rows, columns, stride, values).map_err(GameError::from)
    }

    fn factors(&self, valuation: &str) -> Option<Factors> {
        (valuation == "convolution").then(|| self.convolution())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bearoff::two_sided::{Precision, Settings};
    use adept_game::Afterstate;
    use adept_game::Kit;

    /// Reads all pairs of a small game in blocks, from tables of all precisions and with more checkers than the game.
    #[test]
    fn blocks_hold_the_values_of_the_table() {
        let game = Bearoff::new(3).unwrap();
        for (checkers, precision) in
            [(3, Precision::Bits16), (5, Precision::Bits16), (3, Precision::Bits32), (4, Precision::Bits64)]
        {
            let settings = Settings { precision, ..Settings::new(checkers) };
            let table = Arc::new(Table::solve(settings, &mut |_| {}).unwrap().0);
            let pairs = Pairs::new(&game, table.clone());
            assert_eq!(pairs.count(), rank::sides(3) - 1);
            for most in [1, 7, 64, 1000] {
                let strips = pairs.strips(most);
                let all: Vec<usize> = strips.iter().cloned().flatten().collect();
                assert!(all.into_iter().eq(0..pairs.count()) && strips.iter().all(|s| s.len() <= most));
                for rollers in strips {
                    let (movers, stride) = (5..23, rollers.len() + 3);
                    let mut values = vec![f32::NAN; movers.len() * stride];
                    pairs.exact(movers.clone(), rollers.clone(), stride, &mut values).unwrap();
                    for (mover, row) in movers.zip(values.chunks(stride)) {
                        for (roller, value) in rollers.clone().zip(row) {
                            let position = pairs.state(mover, roller).position();
                            assert_eq!(*value, -table.value(position).unwrap() as f32, "{position}");
                        }
                        assert!(row[rollers.len()..].iter().all(|v| v.is_nan()), "beyond the rollers");
                    }
                }
            }
        }
    }

    #[test]
    fn factors_give_the_convolution() {
        let game = Bearoff::new(4).unwrap();
        let values = game.values();
        let halves = values.halves.as_ref().unwrap()().unwrap();
        let valuation = values.valuations.open("convolution").unwrap().unwrap();
        let Factors { terms, movers, rollers } = halves.factors("convolution").unwrap();
        let count = halves.count();
        for (mover, factors) in movers.chunks(terms).enumerate() {
            for roller in 0..count {
                let product = |k: usize| f64::from(factors[k]) * f64::from(rollers[k * count + roller]);
                let state = &halves.state(mover, roller);
                let known = valuation.value(&game, Afterstate { state, action: None, player: 1 });
                let found: f64 = (0..terms).map(product).sum();
                assert!((found - known).abs() <= 2e-7, "{state:?}: {found}, not {known}");
            }
        }
        assert!(halves.factors("normal").is_none());
    }
}
