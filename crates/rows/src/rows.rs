//! Batches of rows.

use crate::channel::{Channel, ChannelKind, Layout};

/// Error: the rows do not match their channels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RowsError(pub String);

/// One row to fill, initialised with zeros. Channels follow one another in the order of declaration: dense, bits and
/// value channels in `dense`, index and key channels in `index`.
#[derive(Debug)]
pub struct RowMut<'a> {
    /// Columns of dense, bits and value channels.
    pub dense: &'a mut [f32],
    /// Columns of index and key channels.
    pub index: &'a mut [u64],
}

static ZEROS: [f32; 512] = [0.0; 512];

/// Collects the rows of a decision.
pub trait RowSink {
    /// Appends a row of zeros and returns it.
    fn push(&mut self) -> RowMut<'_>;
}

impl RowSink for Rows {
    fn push(&mut self) -> RowMut<'_> {
        Rows::push(self)
    }
}

/// A batch of rows. Its memory can be reused between calls.
///
/// `dense` has shape `[len, layout.dense]` and `index` has shape `[len, layout.index]`, both row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    dense_width: usize,
    index_width: usize,
    len: usize,
    /// Dense columns, row-major.
    pub dense: Vec<f32>,
    /// Index columns, row-major.
    pub index: Vec<u64>,
    /// See [`with_similar_neighbours`](Self::with_similar_neighbours).
    similar_neighbours: bool,
}

impl Rows {
    /// An empty batch for rows of these channels.
    pub fn new(channels: &[Channel]) -> Self {
        let layout = Layout::of(channels);
        Self { dense_width: layout.dense, index_width: layout.index, ..Self::default() }
    }

    /// Marks the batch: neighbouring rows differ in few columns, such as the positions after each move of a decision.
    /// An engine may then compute a row from the row before; values differ by rounding alone. The columns must be
    /// finite: a NaN spoils the rows after it too.
    #[must_use]
    pub fn with_similar_neighbours(self) -> Self {
        Self { similar_neighbours: true, ..self }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of columns in the dense part of a row.
    pub fn dense_width(&self) -> usize {
        self.dense_width
    }

    /// Number of columns in the index part of a row.
    pub fn index_width(&self) -> usize {
        self.index_width
    }

    /// Removes all rows but keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.dense.clear();
        self.index.clear();
    }

    /// Appends a row of zeros and returns it.
    #[inline]
    pub fn push(&mut self) -> RowMut<'_> {
        let (d, i) = (self.dense.len(), self.index.len());
        // Copies blocks of zeros, because `resize` writes one number at a time where it is not inlined.
        let mut left = self.dense_width;
        while left > 0 {
            let block = &ZEROS[..left.min(ZEROS.len())];
            self.dense.extend_from_slice(block);
            left -= block.len();
        }
        if self.index_width > 0 {
            self.index.resize(i + self.index_width, 0);
        }
        self.len += 1;
        RowMut { dense: &mut self.dense[d..], index: &mut self.index[i..] }
    }

    /// Appends a copy of row `row` of another batch with the same channels.
    ///
    /// # Panics
    /// If `row` is out of range or the widths differ.
    #[inline]
    pub fn push_from(&mut self, other: &Rows, row: usize) {
        assert_eq!((self.dense_width, self.index_width), (other.dense_width, other.index_width));
        self.dense.extend_from_slice(other.dense_row(row));
        self.index.extend_from_slice(other.index_row(row));
        self.len += 1;
    }

    /// An empty batch with the same channels.
    pub fn empty(&self) -> Self {
        Self { dense_width: self.dense_width, index_width: self.index_width, ..Self::default() }
    }

    /// Appends copies of all rows of another batch with the same channels.
    pub fn append(&mut self, other: &Rows) {
        assert_eq!((self.dense_width, self.index_width), (other.dense_width, other.index_width));
        self.dense.extend_from_slice(&other.dense);
        self.index.extend_from_slice(&other.index);
        self.len += other.len;
    }

    /// Replaces the content by `len` rows with these row-major columns.
    ///
    /// # Errors
    /// [`RowsError`] if `dense` or `index` has the wrong length.
    pub fn fill(&mut self, len: usize, dense: Vec<f32>, index: Vec<u64>) -> Result<(), RowsError> {
        whole(len, (self.dense_width, self.index_width), (dense.len(), index.len()))?;
        (self.len, self.dense, self.index) = (len, dense, index);
        Ok(())
    }

    /// Replaces the content by `n` rows of another batch with the same channels, starting at row `first`.
    pub fn copy_range(&mut self, other: &Rows, first: usize, n: usize) {
        self.clear();
        let (dense, index) = (other.dense_width, other.index_width);
        self.dense.extend_from_slice(&other.dense[first * dense..(first + n) * dense]);
        self.index.extend_from_slice(&other.index[first * index..(first + n) * index]);
        self.len = n;
    }

    /// Dense part of one row.
    #[inline]
    pub fn dense_row(&self, row: usize) -> &[f32] {
        &self.dense[row * self.dense_width..][..self.dense_width]
    }

    /// Index part of one row.
    #[inline]
    pub fn index_row(&self, row: usize) -> &[u64] {
        &self.index[row * self.index_width..][..self.index_width]
    }

    /// These rows, without a copy.
    #[inline]
    pub fn view(&self) -> RowsView<'_> {
        let &Self { dense_width, index_width, len, similar_neighbours, .. } = self;
        RowsView { dense_width, index_width, len, dense: &self.dense, index: &self.index, similar_neighbours }
    }

    /// Checks that the widths match these channels and that every index is in range.
    ///
    /// # Errors
    /// [`RowsError`] with the channel, the row and the number found.
    pub fn check(&self, channels: &[Channel]) -> Result<(), RowsError> {
        let layout = Layout::of(channels);
        if (layout.dense, layout.index) != (self.dense_width, self.index_width) {
            return Err(RowsError(format!(
                "rows have {} dense and {} index columns, the channels need {} and {}",
                self.dense_width, self.index_width, layout.dense, layout.index
            )));
        }
        whole(self.len, (self.dense_width, self.index_width), (self.dense.len(), self.index.len()))?;
        self.view().check_indices(channels, &layout)
    }
}

/// Checks that `len` rows of these widths have as many numbers as were found.
fn whole(len: usize, widths: (usize, usize), found: (usize, usize)) -> Result<(), RowsError> {
    let needed = (len.saturating_mul(widths.0), len.saturating_mul(widths.1));
    // Without columns, no length can confirm `len`.
    if found != needed || (widths == (0, 0) && len > 0) {
        return Err(RowsError(format!(
            "{len} rows need {} dense and {} index numbers, found {} and {}",
            needed.0, needed.1, found.0, found.1
        )));
    }
    Ok(())
}

/// A batch of rows in memory that belongs to someone else. `dense` and `index` have the shapes of those of [`Rows`].
#[derive(Clone, Copy, Debug)]
pub struct RowsView<'a> {
    dense_width: usize,
    index_width: usize,
    len: usize,
    /// Dense columns, row-major.
    pub dense: &'a [f32],
    /// Index columns, row-major.
    pub index: &'a [u64],
    similar_neighbours: bool,
}

impl<'a> RowsView<'a> {
    /// `len` rows of these channels.
    ///
    /// # Errors
    /// [`RowsError`] if `dense` or `index` has the wrong length, or an index is out of range.
    pub fn new(
        channels: &[Channel],
        len: usize,
        dense: &'a [f32],
        index: &'a [u64],
    ) -> Result<Self, RowsError> {
        let layout = Layout::of(channels);
        let (dense_width, index_width) = (layout.dense, layout.index);
        whole(len, (dense_width, index_width), (dense.len(), index.len()))?;
        let view = Self { dense_width, index_width, len, dense, index, similar_neighbours: false };
        view.check_indices(channels, &layout)?;
        Ok(view)
    }

    /// Whether neighbouring rows differ in few columns; see [`Rows::with_similar_neighbours`].
    #[inline]
    pub fn has_similar_neighbours(&self) -> bool {
        self.similar_neighbours
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the batch has no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of columns in the dense part of a row.
    #[inline]
    pub fn dense_width(&self) -> usize {
        self.dense_width
    }

    /// Dense part of one row.
    #[inline]
    pub fn dense_row(&self, row: usize) -> &'a [f32] {
        &self.dense[row * self.dense_width..][..self.dense_width]
    }

    /// Index part of one row.
    #[inline]
    pub fn index_row(&self, row: usize) -> &'a [u64] {
        &self.index[row * self.index_width..][..self.index_width]
    }

    /// A copy.
    pub fn to_rows(&self) -> Rows {
        let &Self { dense_width, index_width, len, dense, index, similar_neighbours } = self;
        Rows { dense_width, index_width, len, dense: dense.into(), index: index.into(), similar_neighbours }
    }

    fn check_indices(&self, channels: &[Channel], layout: &Layout) -> Result<(), RowsError> {
        for (channel, &offset) in channels.iter().zip(&layout.offsets) {
            let ChannelKind::Index(n) = channel.kind else { continue };
            for row in 0..self.len {
                let found = self.index_row(row)[offset];
                if found >= n {
                    return Err(RowsError(format!(
                        "row {row}: channel `{}` has index {found}, outside 0..{n}",
                        channel.name
                    )));
                }
            }
        }
        Ok(())
    }
}
