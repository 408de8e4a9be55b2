//! The layout of a two-sided table in memory and in its file.

/// Bytes of a line, the unit of all kernels: 32, 16 or 8 values.
pub(super) const LINE_BYTES: usize = 64;

/// Lines of a strip: two neighbours are solved in one pass, so that what there is to know of a row is read once
/// for both.
pub(super) const STRIP_LINES: usize = 2;

/// A number of a table.
pub(super) trait Cell: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// Values in a line.
    const LANES: usize = LINE_BYTES / size_of::<Self>();
    /// The value of a sure win.
    const WIN: Self;
    /// The value of a sure loss.
    const LOSS: Self;
    /// What values are summed up in.
    type Sum: Copy + Default;
    /// sum + value. Sums are taken in the order of the rolls, so that every machine rounds alike.
    fn add(sum: Self::Sum, value: Self) -> Self::Sum;
    /// −(2 · mixed + doubles) / 36, from the sums over the rolls that are no doubles and over those that are.
    fn negated_mean(mixed: Self::Sum, doubles: Self::Sum) -> Self;
    /// In [−1, 1].
    fn to_value(self) -> f64;
}

/// One thirty-sixth. The sums of 16-bit values are below 2²⁴, and so exact as floats.
pub(super) const THROW: f32 = 1.0 / 36.0;

impl Cell for i16 {
    const WIN: Self = Self::MAX;
    const LOSS: Self = -Self::MAX;
    type Sum = i32;

    #[inline(always)]
    fn add(sum: i32, value: Self) -> i32 {
        sum + i32::from(value)
    }

    #[inline(always)]
    fn negated_mean(mixed: i32, doubles: i32) -> Self {
        -(((2 * mixed + doubles) as f32 * THROW).round_ties_even() as Self)
    }

    #[inline(always)]
    fn to_value(self) -> f64 {
        f64::from(self) / f64::from(Self::MAX)
    }
}

macro_rules! float_cell {
    ($float:ty) => {
        impl Cell for $float {
            const WIN: Self = 1.0;
            const LOSS: Self = -1.0;
            type Sum = $float;

            #[inline(always)]
            fn add(sum: $float, value: Self) -> $float {
                sum + value
            }

            #[inline(always)]
            fn negated_mean(mixed: $float, doubles: $float) -> Self {
                -((mixed + mixed + doubles) / 36.0)
            }

            #[inline(always)]
            fn to_value(self) -> f64 {
                self.into()
            }
        }
    };
}

float_cell!(f32);
float_cell!(f64);

/// A square table of values to the player who moved to row m while column j is to roll.
///
/// Columns are cut into strips of two lines, each row of a strip lies in one piece, and strips follow one another:
/// what a maximum over rows reads lies close together, and a square of values turned over is a few whole lines.
#[derive(Clone, Copy)]
pub(super) struct Grid<T> {
    start: *mut T,
    rows: usize,
}

// SAFETY: a grid is only a way to compute addresses; who reads or writes through them answers for it.
unsafe impl<T: Send> Send for Grid<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Grid<T> {}

impl<T: Cell> Grid<T> {
    /// A grid of `rows` rows and as many columns at `start`, aligned to a line.
    pub(super) fn new(start: *mut T, rows: usize) -> Self {
        Self { start, rows }
    }

    /// Rows, and columns.
    pub(super) fn rows(self) -> usize {
        self.rows
    }

    /// Bytes of a grid of that many rows.
    pub(super) fn bytes(rows: usize) -> usize {
        let lines = rows / T::LANES;
        lines.next_multiple_of(STRIP_LINES) * rows * LINE_BYTES
    }

    /// Where the line of that number in a row starts; it holds the columns from `line` · LANES on.
    #[inline(always)]
    pub(super) fn line(self, line: usize, row: usize) -> *mut T {
        let at = ((line / STRIP_LINES) * self.rows + row) * STRIP_LINES + line % STRIP_LINES;
        self.start.wrapping_add(at * T::LANES)
    }

    /// Where the value of a row and column is.
    #[inline(always)]
    pub(super) fn cell(self, row: usize, column: usize) -> *mut T {
        self.start.wrapping_add(Self::place(self.rows, row, column))
    }

    /// Where in the table the value of a row and column is, counted in values.
    #[inline(always)]
    pub(super) fn place(rows: usize, row: usize, column: usize) -> usize {
        let width = STRIP_LINES * T::LANES;
        (column / width * rows + row) * width + column % width
    }
}
