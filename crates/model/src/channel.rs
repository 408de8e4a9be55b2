//! Channels and rows: what a model reads.
//!
//! A row describes one candidate to be valued. Its numbers come in named *channels*; an encoder
//! outside this crate declares them and fills rows, architectures name the channels they read.
//! All dense-like channels of a row lie side by side in one `f32` slice, all index-like ones in one
//! `u64` slice, in the order of declaration.

use crate::error::ModelError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What one channel carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "kind", content = "size")]
pub enum ChannelKind {
    /// `n` real numbers, of order one.
    Dense(usize),
    /// `n` numbers, each 0 or 1.
    Bits(usize),
    /// One number in [-1, 1] from outside: a prior, the output of a frozen expert. Networks read it only by name.
    Value,
    /// One integer in `0..n`: picks an expert, a row of a table.
    Index(u64),
    /// One integer without a useful bound that identifies the row: the key of a growing table.
    Key,
}

impl ChannelKind {
    /// Columns that the channel takes in the dense part of a row.
    pub fn dense_width(self) -> usize {
        match self {
            Self::Dense(n) | Self::Bits(n) => n,
            Self::Value => 1,
            Self::Index(_) | Self::Key => 0,
        }
    }

    /// Columns that the channel takes in the index part of a row.
    pub fn index_width(self) -> usize {
        usize::from(matches!(self, Self::Index(_) | Self::Key))
    }
}

/// A named channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Channel {
    /// Name by which architectures refer to it.
    pub name: String,
    /// What it carries.
    #[serde(flatten)]
    pub kind: ChannelKind,
}

impl Channel {
    /// A channel of that name and kind.
    pub fn new(name: impl Into<String>, kind: ChannelKind) -> Self {
        Self { name: name.into(), kind }
    }
}

/// Where each channel of a list lies in a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First column of each channel, in the dense or the index part by its kind.
    pub offsets: Vec<usize>,
    /// Columns of the dense part.
    pub dense: usize,
    /// Columns of the index part.
    pub index: usize,
}

impl Layout {
    /// The layout of these channels.
    pub fn of(channels: &[Channel]) -> Self {
        let (mut offsets, mut dense, mut index) = (Vec::with_capacity(channels.len()), 0, 0);
        for channel in channels {
            offsets.push(if channel.kind.index_width() > 0 { index } else { dense });
            dense += channel.kind.dense_width();
            index += channel.kind.index_width();
        }
        Self { offsets, dense, index }
    }
}

/// A batch of rows, reused from call to call.
///
/// `dense` has shape `[len, layout.dense]`, `index` `[len, layout.index]`, both row by row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    dense_width: usize,
    index_width: usize,
    len: usize,
    /// Dense columns, row by row.
    pub dense: Vec<f32>,
    /// Index columns, row by row.
    pub index: Vec<u64>,
}

impl Rows {
    /// An empty batch for rows of these channels.
    pub fn new(channels: &[Channel]) -> Self {
        let layout = Layout::of(channels);
        Self { dense_width: layout.dense, index_width: layout.index, ..Self::default() }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Columns of the dense part of a row.
    pub fn dense_width(&self) -> usize {
        self.dense_width
    }

    /// Columns of the index part of a row.
    pub fn index_width(&self) -> usize {
        self.index_width
    }

    /// Forgets all rows, keeps the memory.
    #[inline]
    pub fn clear(&mut self) {
        self.len = 0;
        self.dense.clear();
        self.index.clear();
    }

    /// Appends a row of zeros and returns its dense and index parts to be filled.
    #[inline]
    pub fn push(&mut self) -> (&mut [f32], &mut [u64]) {
        let (d, i) = (self.dense.len(), self.index.len());
        self.dense.resize(d + self.dense_width, 0.0);
        self.index.resize(i + self.index_width, 0);
        self.len += 1;
        (&mut self.dense[d..], &mut self.index[i..])
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

    /// No rows of the same channels.
    pub(crate) fn empty(&self) -> Self {
        Self { dense_width: self.dense_width, index_width: self.index_width, ..Self::default() }
    }

    /// Appends copies of all rows of another batch with the same channels.
    pub(crate) fn append(&mut self, other: &Rows) {
        assert_eq!((self.dense_width, self.index_width), (other.dense_width, other.index_width));
        self.dense.extend_from_slice(&other.dense);
        self.index.extend_from_slice(&other.index);
        self.len += other.len;
    }

    /// Becomes `len` rows with these columns, row by row.
    ///
    /// # Errors
    /// [`ModelError::Rows`] if their number is another.
    pub fn fill(&mut self, len: usize, dense: Vec<f32>, index: Vec<u64>) -> Result<(), ModelError> {
        // Rows of no columns could be any number.
        let wanted = (len.saturating_mul(self.dense_width), len.saturating_mul(self.index_width));
        if (dense.len(), index.len()) != wanted || (wanted == (0, 0) && len > 0) {
            return Err(ModelError::Rows(format!(
                "{len} rows need {} dense and {} index numbers, found {} and {}",
                wanted.0,
                wanted.1,
                dense.len(),
                index.len()
            )));
        }
        (self.len, self.dense, self.index) = (len, dense, index);
        Ok(())
    }

    /// Becomes a copy of `n` rows of another batch with the same channels, from row `first` on.
    pub(crate) fn copy_range(&mut self, other: &Rows, first: usize, n: usize) {
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

    /// Checks that the rows have the widths of these channels and every index lies in its range.
    ///
    /// # Errors
    /// [`ModelError::Rows`] that names the channel, the row and the number found.
    pub fn check(&self, channels: &[Channel]) -> Result<(), ModelError> {
        let layout = Layout::of(channels);
        if (layout.dense, layout.index) != (self.dense_width, self.index_width) {
            return Err(ModelError::Rows(format!(
                "rows have {} dense and {} index columns, the channels take {} and {}",
                self.dense_width, self.index_width, layout.dense, layout.index
            )));
        }
        if (self.dense.len(), self.index.len()) != (self.len * self.dense_width, self.len * self.index_width)
        {
            return Err(ModelError::Rows(format!(
                "{} rows need {} dense and {} index numbers, found {} and {}",
                self.len,
                self.len * self.dense_width,
                self.len * self.index_width,
                self.dense.len(),
                self.index.len()
            )));
        }
        for (channel, &offset) in channels.iter().zip(&layout.offsets) {
            let ChannelKind::Index(n) = channel.kind else { continue };
            for row in 0..self.len {
                let found = self.index_row(row)[offset];
                if found >= n {
                    return Err(ModelError::Rows(format!(
                        "row {row}: channel `{}` holds {found}, its range is 0..{n}",
                        channel.name
                    )));
                }
            }
        }
        Ok(())
    }
}
