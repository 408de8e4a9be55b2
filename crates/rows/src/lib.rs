//! Rows: the numbers that an encoder writes and a model reads.
//!
//! A row describes one candidate to evaluate. Its numbers are grouped into named [`Channel`]s. A game's encoder
//! declares the channels and fills the rows. An architecture names the channels that it reads. Games and models share
//! only these types.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod channel;
mod outcome;
mod rows;
mod samples;

pub use channel::{Channel, ChannelKind, Layout};
pub use outcome::{OutcomeClass, OutcomeMask};
pub use rows::{RowMut, RowSink, Rows, RowsError, RowsView};
pub use samples::Samples;
