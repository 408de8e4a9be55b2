//! Rows: the numbers that an encoder writes and a model reads.
//!
//! A row describes one candidate that is to be valued. Its numbers come in named [`Channel`]s. An encoder of a game
//! declares the channels and fills rows; an architecture names the channels that it reads. Games and models share
//! these types and nothing else.

mod channel;
mod rows;
mod samples;

pub use channel::{Channel, ChannelKind, Layout};
pub use rows::{RowMut, RowSink, Rows, RowsError};
pub use samples::Samples;
