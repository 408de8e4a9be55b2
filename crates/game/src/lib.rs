//! Games: rules, positions, encoders and exact knowledge as pure functions. Nothing here learns.
//!
//! [`Game`] is the interface of every game, [`Encoder`] turns a candidate into the numbers a model
//! reads, [`registry`] finds both by name. The recipe for a new game: copy `tictactoe/`, rename, write the
//! rules, record golden trajectories and golden rows, add a line to the registry.

pub mod bearoff;
pub mod deliberation;
pub mod encoder;
pub mod game;
mod halves;
pub mod liars_dice;
mod memory;
pub mod public_tree;
pub mod registry;
pub mod rng;
mod shared;
pub mod tictactoe;

pub use deliberation::{Choice, Deliberation, Deliberator};
pub use encoder::{Afterstate, Channel, ChannelKind, Encoder, RowMut, RowSink};
pub use game::{Game, GameError, Script, Turn};
pub use halves::{Factors, Halves};
pub use public_tree::PublicTree;
pub use registry::has_public_tree;
pub use registry::{GameInfo, TreeVisitor, Valuation, Visitor, games, info, with_game, with_public_tree};
pub use rng::{Stream, stream};
