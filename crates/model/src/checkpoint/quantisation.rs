//! The record of a quantised checkpoint.

use serde::{Deserialize, Serialize};

/// Origin and accuracy of a quantised network, in its manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Quantisation {
    /// [`NumberFormat::scheme`](crate::NumberFormat::scheme).
    pub scheme: String,
    /// [`Manifest::checksum`](super::Manifest::checksum) of the network that was quantised.
    pub of: String,
    /// Number of rows of games that calibrated it; 0 for bf16, which has no scales.
    pub rows: usize,
    /// Root mean square difference from the network's values, over other rows.
    pub rms: f64,
    /// Largest difference there.
    pub max: f64,
}
