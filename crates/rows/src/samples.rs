//! What learners learn from.

use crate::channel::Channel;
use crate::rows::Rows;

/// Rows with targets and weights.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    /// The rows, `[n]`.
    pub rows: Rows,
    /// Desired outputs, `[n, outputs]`, in [−1, 1] for values.
    pub targets: Vec<f32>,
    /// Factors on the loss of each row, `[n]`.
    pub weights: Vec<f32>,
}

impl Samples {
    /// No samples of rows with these channels.
    pub fn new(channels: &[Channel]) -> Self {
        Self { rows: Rows::new(channels), ..Self::default() }
    }

    /// Number of samples.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
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

    /// All samples; none are left.
    pub fn take(&mut self) -> Self {
        let empty = Self { rows: self.rows.empty(), ..Self::default() };
        std::mem::replace(self, empty)
    }

    /// Forgets all samples, keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.targets.clear();
        self.weights.clear();
    }
}
