//! Training samples: rows with targets and weights.

use crate::channel::Channel;
use crate::rows::Rows;
use std::ops::Range;

/// Rows with targets and weights.
///
/// ```
/// use adept_rows::{Channel, ChannelKind, Samples};
///
/// let mut samples = Samples::new(&[Channel::new("squares", ChannelKind::Bits(9))]);
/// samples.rows.push().dense[4] = 1.0;
/// samples.targets.push(0.5);
/// samples.weights.push(1.0);
/// assert_eq!((samples.len(), samples.outputs()), (1, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// `n` rows.
    pub rows: Rows,
    /// Target outputs, `[n, outputs]`: values in [−1, 1], or distributions over classes of outcomes.
    pub targets: Vec<f32>,
    /// Loss weight of each row, `[n]`.
    pub weights: Vec<f32>,
}

impl Samples {
    /// An empty batch of samples with these channels.
    pub fn new(channels: &[Channel]) -> Self {
        Self { rows: Rows::new(channels), ..Self::default() }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether the batch has no samples.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Numbers in the target of each sample; 1 for an empty batch.
    pub fn outputs(&self) -> usize {
        self.targets.len().checked_div(self.len()).unwrap_or(1)
    }

    /// Appends the samples of another batch with the same channels.
    ///
    /// # Panics
    /// If the widths of the rows differ.
    pub fn append(&mut self, other: &Samples) {
        self.rows.append(&other.rows);
        self.targets.extend_from_slice(&other.targets);
        self.weights.extend_from_slice(&other.weights);
    }

    /// Replaces all samples by a range of those of another batch with the same channels.
    ///
    /// # Panics
    /// If the range does not lie within the batch.
    pub fn copy_range(&mut self, from: &Samples, range: Range<usize>) {
        self.clear();
        let outputs = from.outputs();
        self.rows.copy_range(&from.rows, range.start, range.len());
        self.targets.extend_from_slice(&from.targets[range.start * outputs..range.end * outputs]);
        self.weights.extend_from_slice(&from.weights[range]);
    }

    /// Returns all samples and leaves an empty batch.
    ///
    /// ```
    /// use adept_rows::{Channel, ChannelKind, Samples};
    ///
    /// let mut samples = Samples::new(&[Channel::new("pips", ChannelKind::Dense(1))]);
    /// samples.rows.push();
    /// samples.targets.push(1.0);
    /// samples.weights.push(1.0);
    /// let batch = samples.take();
    /// assert!(batch.len() == 1 && samples.is_empty());
    /// ```
    pub fn take(&mut self) -> Self {
        let empty = Self { rows: self.rows.empty(), ..Self::default() };
        std::mem::replace(self, empty)
    }

    /// Removes all samples but keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.targets.clear();
        self.weights.clear();
    }
}
