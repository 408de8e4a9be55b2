//! Tables in memory or mapped from a file: lookups.

use super::error::TableError;
use super::grid::{Cell, Grid};
use super::mapped::Mapped;
use crate::bearoff::{DicePosition, Position, Side, rank};
use crate::memory::fetch;
use memmap2::MmapMut;
use std::time::{Duration, Instant};

/// Number format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 16 bits, V · 32767: within 4.5e-5 of the exact value.
    Bits16,
    /// 32-bit floats: within 1e-6.
    Bits32,
    /// 64-bit floats.
    Bits64,
}

impl Precision {
    /// Bits per number.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits16 => 16,
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// The precision with this number of bits.
    pub fn of_bits(bits: u32) -> Option<Self> {
        [Self::Bits16, Self::Bits32, Self::Bits64].into_iter().find(|p| p.bits() == bits)
    }

    /// Bytes of a table with this number of rows.
    pub fn bytes(self, rows: usize) -> usize {
        match self {
            Self::Bits16 => Grid::<i16>::bytes(rows),
            Self::Bits32 => Grid::<f32>::bytes(rows),
            Self::Bits64 => Grid::<f64>::bytes(rows),
        }
    }
}

/// Duration of one step, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    /// Wall-clock time.
    pub wall: f64,
    /// CPU time of all cores.
    pub cpu: f64,
}

/// Runs a step and measures its duration.
pub(super) fn timed<T>(step: impl FnOnce() -> T) -> (T, Seconds) {
    let clock = Instant::now();
    #[cfg(not(target_family = "wasm"))]
    let start = cpu_time::ProcessTime::now();
    let result = step();
    // Without a CPU clock, CPU time is 0.
    #[cfg(not(target_family = "wasm"))]
    let cpu = start.try_elapsed().unwrap_or(Duration::ZERO);
    #[cfg(target_family = "wasm")]
    let cpu = Duration::ZERO;
    (result, Seconds { wall: clock.elapsed().as_secs_f64(), cpu: cpu.as_secs_f64() })
}

/// Statistics of the differences between a table and given values.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableErrors {
    /// Number of compared values.
    pub rows: u64,
    /// Largest absolute difference.
    pub max: f64,
    /// Sum of the squared differences.
    pub squares: f64,
}

impl TableErrors {
    /// Adds one difference.
    pub fn add(&mut self, difference: f64) {
        self.rows += 1;
        // NaN counts as the largest difference, above any tolerance.
        let difference = difference.abs();
        if difference > self.max || difference.is_nan() {
            self.max = difference;
        }
        self.squares += difference * difference;
    }

    /// Combines both statistics.
    pub fn and(self, other: Self) -> Self {
        let (rows, squares) = (self.rows + other.rows, self.squares + other.squares);
        let max = if self.max <= other.max || other.max.is_nan() { other.max } else { self.max };
        Self { rows, max, squares }
    }

    /// Root mean square; 0 without values.
    pub fn rms(self) -> f64 {
        if self.rows == 0 { 0.0 } else { (self.squares / self.rows as f64).sqrt() }
    }
}

/// The exact values of all pairs of sides with at most a given number of checkers.
///
/// Lookups take `&self` and can run on many threads.
#[derive(Debug)]
pub struct Table {
    pub(super) checkers: u8,
    pub(super) precision: Precision,
    pub(super) rows: usize,
    /// Row of a side, by rank.
    pub(super) row_of: Vec<u16>,
    pub(super) storage: Storage,
}

/// Storage of the numbers.
#[derive(Debug)]
pub(super) enum Storage {
    /// In memory. The numbers start at this byte of the map.
    Memory(MmapMut, usize),
    /// In a file.
    File(Mapped),
}

impl Table {
    /// Checks every block of a file. Tables in memory have no blocks.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn verify(&self) -> Result<(), TableError> {
        match &self.storage {
            Storage::Memory(..) => Ok(()),
            Storage::File(mapped) => mapped.check_all(),
        }
    }

    /// Largest number of checkers per side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// Its number format.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Number of pairs of nonempty sides.
    pub fn pairs(&self) -> u64 {
        (rank::sides(self.checkers) as u64 - 1).pow(2)
    }

    /// Bytes of the numbers, including padding.
    pub fn bytes(&self) -> u64 {
        self.precision.bytes(self.rows) as u64
    }

    /// V = P(win) − P(lose) of the side to roll, in [−1, 1]. 1 if this side has borne off, −1 if the other side has.
    ///
    /// # Errors
    /// Too many checkers, no checkers on both sides, or a damaged block.
    #[inline]
    pub fn value(&self, position: Position) -> Result<f64, TableError> {
        if position.own.is_empty() && position.opponent.is_empty() {
            return Err(TableError::BothEmpty);
        }
        // Not −x, which would turn 0 into −0.
        Ok(0.0 - self.cell(self.row(position.opponent)?, self.row(position.own)?)?)
    }

    /// Prefetches the memory that [`value`](Self::value) will read.
    #[inline]
    pub fn fetch(&self, position: Position) {
        let (Ok(row), Ok(column)) = (self.row(position.opponent), self.row(position.own)) else { return };
        let (place, bytes) = match self.precision {
            Precision::Bits16 => (Grid::<i16>::place(self.rows, row, column), 2),
            Precision::Bits32 => (Grid::<f32>::place(self.rows, row, column), 4),
            Precision::Bits64 => (Grid::<f64>::place(self.rows, row, column), 8),
        };
        match &self.storage {
            Storage::Memory(map, start) => fetch(&map[start + place * bytes..][..1]),
            Storage::File(mapped) => mapped.fetch(place * bytes),
        }
    }

    /// Replaces `values` by the afterstates of a decision and their values to the side that moves, best first. Equal
    /// values are in ascending order of sides.
    ///
    /// # Errors
    /// Same as [`Table::value`].
    pub fn moves(&self, decision: DicePosition, values: &mut Vec<(Side, f64)>) -> Result<(), TableError> {
        let mut afterstates = Vec::with_capacity(128);
        decision.afterstates(&mut afterstates);
        let column = self.row(decision.position.opponent)?;
        self.row(decision.position.own)?;
        values.clear();
        for side in afterstates {
            values.push((side, self.cell(self.row(side)?, column)?));
        }
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(())
    }

    /// V of the side with rank `own`, to roll, against the side with rank `opponent`. Both are in the table.
    pub(super) fn value_of_ranks(&self, own: usize, opponent: usize) -> Result<f64, TableError> {
        Ok(0.0 - self.cell(self.row_of[opponent].into(), self.row_of[own].into())?)
    }

    #[inline]
    fn row(&self, side: Side) -> Result<usize, TableError> {
        match self.row_of.get(side.rank()) {
            Some(&row) => Ok(usize::from(row)),
            None => Err(TableError::TooManyCheckers { side, checkers: self.checkers }),
        }
    }

    /// The value to the side that moved to `row` while the side of `column` is to roll.
    #[inline]
    fn cell(&self, row: usize, column: usize) -> Result<f64, TableError> {
        match self.precision {
            Precision::Bits16 => self.read::<i16>(Grid::<i16>::place(self.rows, row, column)),
            Precision::Bits32 => self.read::<f32>(Grid::<f32>::place(self.rows, row, column)),
            Precision::Bits64 => self.read::<f64>(Grid::<f64>::place(self.rows, row, column)),
        }
    }

    #[inline]
    fn read<T: Cell>(&self, place: usize) -> Result<f64, TableError> {
        let at = place * size_of::<T>();
        let bytes = match &self.storage {
            Storage::Memory(map, start) => &map[start + at..],
            Storage::File(mapped) => mapped.bytes_from(at)?,
        };
        // SAFETY: row and column are below the number of rows, so the index is in the table. Its numbers are aligned,
        // and any bits are a valid number.
        Ok(unsafe { bytes.as_ptr().cast::<T>().read() }.to_value())
    }

    /// Compares all pairs of nonempty sides with another table, which has at least as many checkers.
    ///
    /// # Errors
    /// Same as [`Table::value`].
    pub fn compare(&self, other: &Self) -> Result<TableErrors, TableError> {
        self.compare_with(|position| other.value(position))
    }

    /// Compares all pairs with the values of a function.
    ///
    /// # Errors
    /// Errors of [`Table::value`] and of the function.
    pub fn compare_with<E: From<TableError> + Send>(
        &self,
        value: impl Fn(Position) -> Result<f64, E> + Sync,
    ) -> Result<TableErrors, E> {
        use rayon::prelude::*;
        let sides = self.row_of.len();
        let differences = |own: usize| {
            let own = Side::of_rank(own);
            let mut errors = TableErrors::default();
            for opponent in 1..sides {
                let position = Position { own, opponent: Side::of_rank(opponent) };
                errors.add(self.value(position)? - value(position)?);
            }
            Ok(errors)
        };
        let all: Result<Vec<TableErrors>, E> = (1..sides).into_par_iter().map(differences).collect();
        Ok(all?.into_iter().fold(TableErrors::default(), TableErrors::and))
    }
}
