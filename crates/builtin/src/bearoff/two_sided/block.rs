//! Reads many values of a table at once, in storage order.

use super::error::TableError;
use super::grid::{Cell, Grid, LINE_BYTES, STRIP_LINES};
use super::table::{Precision, Storage, Table};
use crate::bearoff::Side;

impl Table {
    /// The row and column of a side. None if it has more checkers than the table.
    pub(in crate::bearoff) fn row_of(&self, side: Side) -> Option<u16> {
        self.row_of.get(side.rank()).copied()
    }

    /// Number of columns whose values are stored together, row after row.
    pub(in crate::bearoff) fn strip_columns(&self) -> usize {
        STRIP_LINES * LINE_BYTES * 8 / self.precision.bits() as usize
    }

    /// Writes the values to the sides that moved to `rows`, where the sides of `columns` (ascending) are to roll. Rows
    /// follow one another, `stride` apart.
    ///
    /// # Errors
    /// A damaged block.
    pub(in crate::bearoff) fn read_block(
        &self,
        rows: &[u16],
        columns: &[u16],
        stride: usize,
        values: &mut [f32],
    ) -> Result<(), TableError> {
        match self.precision {
            Precision::Bits16 => {
                self.read_cells(rows, columns, stride, values, |v: i16| f32::from(v) / f32::from(i16::MAX))
            }
            Precision::Bits32 => self.read_cells(rows, columns, stride, values, |v: f32| v),
            Precision::Bits64 => self.read_cells(rows, columns, stride, values, |v: f64| v as f32),
        }
    }

    fn read_cells<T: Cell>(
        &self,
        rows: &[u16],
        columns: &[u16],
        stride: usize,
        values: &mut [f32],
        value: impl Fn(T) -> f32,
    ) -> Result<(), TableError> {
        let width = STRIP_LINES * T::LANES;
        let mut done = 0;
        for strip in columns.chunk_by(|a, b| usize::from(*a) / width == usize::from(*b) / width) {
            let first = usize::from(strip[0]);
            let side_by_side = strip.iter().zip(first..).all(|(&column, k)| usize::from(column) == k);
            for (row, values) in rows.iter().zip(values.chunks_mut(stride)) {
                let cells: &[T] = self.row_of_strip(usize::from(*row), first / width)?;
                let values = &mut values[done..][..strip.len()];
                if side_by_side {
                    let cells = &cells[first % width..][..strip.len()];
                    values.iter_mut().zip(cells).for_each(|(to, &cell)| *to = value(cell));
                } else {
                    let cells = strip.iter().map(|&column| cells[usize::from(column) % width]);
                    values.iter_mut().zip(cells).for_each(|(to, cell)| *to = value(cell));
                }
            }
            done += strip.len();
        }
        Ok(())
    }

    /// The values of a row in a strip.
    fn row_of_strip<T: Cell>(&self, row: usize, strip: usize) -> Result<&[T], TableError> {
        let width = STRIP_LINES * T::LANES;
        let at = Grid::<T>::place(self.rows, row, strip * width) * size_of::<T>();
        // A block of a file consists of whole lines, so this row is in one block.
        let bytes = match &self.storage {
            Storage::Memory(map, start) => &map[start + at..],
            Storage::File(mapped) => mapped.bytes_from(at)?,
        };
        let bytes = &bytes[..width * size_of::<T>()];
        // SAFETY: the table has these bytes and starts at a line boundary; any bits are a valid number.
        Ok(unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast::<T>(), width) })
    }
}
