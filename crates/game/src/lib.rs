//! Games: the traits that rules, encoders and exact knowledge implement. Nothing here learns, and no game is named here.
//!
//! [`Game`] is the rules, [`Kit`] what a program offers beside them, [`Encoder`] turns a candidate into the numbers that
//! a model reads. A game with all commands is these three; `examples/own-game` in the repository is the shortest one.

pub mod deliberation;
mod encoder;
pub mod files;
mod game;
mod halves;
mod info;
mod kit;
mod public_tree;
mod rng;
mod suite;

pub use adept_rows::{Channel, ChannelKind, RowMut, RowSink};
pub use deliberation::{Choice, Deliberation, Deliberator};
pub use encoder::{Afterstate, Encoder, EncoderFn};
pub use game::{Game, GameError, Turn};
pub use halves::{Factors, Halves};
pub use info::GameInfo;
pub use kit::{Draw, Found, Kit, Named, Read, Script, Valuation, Visitor};
pub use public_tree::{PublicTree, TreeVisitor};
pub use rng::{Stream, stream};
pub use suite::Suite;
