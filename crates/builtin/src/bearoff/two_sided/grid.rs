//! The layout of a two-sided table in memory and in its file: lines, strips and addresses.

/// Bytes per line, the unit of all kernels: 32, 16 or 8 values.
pub(super) const LINE_BYTES: usize = 64;

/// Lines per strip. One pass solves two adjacent lines, so that the data of a row is read once for both.
pub(super) const STRIP_LINES: usize = 2;

/// A number type of a table.
pub(super) trait Cell: Copy + Default + PartialOrd + Send + Sync + 'static {
    /// Values per line.
    const LANES: usize = LINE_BYTES / size_of::<Self>();
    /// The value of a certain win.
    const WIN: Self;
    /// The value of a certain loss.
    const LOSS: Self;
    /// Type of sums.
    type Sum: Copy + Default;
    /// sum + value. Sums follow the order of the rolls, so that every machine rounds the same way.
    fn add(sum: Self::Sum, value: Self) -> Self::Sum;
    /// −(2 · mixed + doubles) / 36, from the sums over non-doubles and over doubles.
    fn negated_mean(mixed: Self::Sum, doubles: Self::Sum) -> Self;
    /// The value in [−1, 1].
    fn to_value(self) -> f64;
}

/// One thirty-sixth. Sums of 16-bit values are below 2²⁴, so they are exact as floats.
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
/// Columns are split into strips of two lines. Each row of a strip is contiguous, and strips follow one another. A
/// maximum over rows therefore reads nearby memory, and a transposed square of values fills whole lines.
#[derive(Clone, Copy)]
pub(super) struct Grid<T> {
    start: *mut T,
    rows: usize,
    /// Local number of each strip of the table; null if all strips are local.
    places: *const u32,
}

// SAFETY: a grid only computes addresses; callers that read or write through them guarantee safety.
unsafe impl<T: Send> Send for Grid<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Grid<T> {}

impl<T: Cell> Grid<T> {
    /// A grid of `rows` rows and columns at `start`, which is aligned to a line.
    pub(super) fn new(start: *mut T, rows: usize) -> Self {
        Self { start, rows, places: std::ptr::null() }
    }

    /// A grid that holds only some strips. `places` maps each strip of the whole grid to its local number, which must
    /// be valid wherever an address is read or written; it must outlive the grid.
    pub(super) fn placed(start: *mut T, rows: usize, places: *const u32) -> Self {
        Self { start, rows, places }
    }

    /// The local number of a strip.
    #[inline(always)]
    fn strip(self, strip: usize) -> usize {
        if self.places.is_null() {
            return strip;
        }
        // SAFETY: the caller of `placed` guarantees an entry for every strip of the whole grid.
        unsafe { *self.places.add(strip) as usize }
    }

    /// Number of rows and of columns.
    pub(super) fn rows(self) -> usize {
        self.rows
    }

    /// Bytes of a grid with this number of rows.
    pub(super) fn bytes(rows: usize) -> usize {
        let lines = rows / T::LANES;
        lines.next_multiple_of(STRIP_LINES) * rows * LINE_BYTES
    }

    /// Address of line `line` in a row. It holds the columns from `line` · LANES on.
    #[inline(always)]
    pub(super) fn line(self, line: usize, row: usize) -> *mut T {
        let at = (self.strip(line / STRIP_LINES) * self.rows + row) * STRIP_LINES + line % STRIP_LINES;
        self.start.wrapping_add(at * T::LANES)
    }

    /// Address of the value of a row and column.
    #[inline(always)]
    pub(super) fn cell(self, row: usize, column: usize) -> *mut T {
        let width = STRIP_LINES * T::LANES;
        let column = self.strip(column / width) * width + column % width;
        self.start.wrapping_add(Self::place(self.rows, row, column))
    }

    /// Index of the value of a row and column in the table, in values.
    #[inline(always)]
    pub(super) fn place(rows: usize, row: usize, column: usize) -> usize {
        let width = STRIP_LINES * T::LANES;
        (column / width * rows + row) * width + column % width
    }
}
