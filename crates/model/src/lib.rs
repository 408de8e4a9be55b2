//! Models that value rows of channels and learn from samples. This crate does not know any game.
//!
//! An [`Architecture`] is lowered to a [`Program`]; a [`Network`] runs the program and learns. A [`Table`] adds an
//! entry for each new position. Both are a [`Learner`], a [`Predictor`] that takes steps. [`build`] creates the learner of an architecture, and
//! [`checkpoint`] saves it to disk.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

pub mod architecture;
mod bf16;
mod blind;
mod build;
#[cfg(feature = "burn")]
pub mod burn_engine;
mod cells;
pub mod checkpoint;
mod clusters;
mod describe;
pub mod device;
mod error;
pub mod export;
mod grow;
mod head;
mod held;
mod learner;
mod lower;
pub mod machine;
pub mod names;
pub mod native;
mod network;
pub mod optimiser;
mod pairwise;
mod parameters;
mod parts;
mod policy;
mod predictor;
pub mod program;
mod quantised;
pub mod reference;
mod table;
mod tensor;
mod usage;

pub use adept_rows::{
    Channel, ChannelKind, Layout, OutcomeClass, OutcomeMask, RowMut, RowSink, Rows, RowsError, RowsView,
    Samples,
};
pub use architecture::{Architecture, Form};
pub use blind::BlindLearner;
pub use build::{build, build_on};
pub use cells::{CellExamples, find_cells, reassigned_cells};
pub use checkpoint::Quantisation;
pub use clusters::cluster_gates;
pub use describe::{Description, TensorInfo};
pub use device::{Compute, DeviceName, Engine};
pub use error::ModelError;
pub use grow::Growth;
pub use head::{Head, LEAST_PROBABILITY, Tilt};
pub use learner::{Learner, Traces};
pub use lower::lower;
pub use machine::Machine;
pub use native::{TILE, TileRow};
pub use network::Network;
pub use optimiser::Optimiser;
pub use pairwise::{PairErrors, PairProducts, PairValues, Pairwise};
pub use policy::policy_targets;
pub use predictor::{Explanation, Predictor, Usage};
pub use program::Program;
pub use quantised::{NumberFormat, QuantisedNetwork};
pub use table::Table;
pub use tensor::{Tensor, TensorData};
pub use usage::{ExpertUse, Gates, LIVE, winning_expert};
