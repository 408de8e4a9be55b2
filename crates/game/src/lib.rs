//! Traits for games: rules, encoders and exact values. This crate contains no learning and no particular game.
//!
//! [`Game`] holds the rules. [`Kit`] lists what a game offers besides them. [`Encoder`] turns a candidate into the
//! numbers that a model reads. A game that implements these three supports all commands. See `examples/own-game` in the
//! repository for a minimal one, and [`tiny`] for the two games of the examples on these pages.
//!
//! ```
//! use adept_game::{Game, Turn, tiny::Nim};
//!
//! // Whoever leaves heaps with nim-sum 0 wins: the best move from 3, 4 and 5 takes 2 from the first heap.
//! let game = Nim::default();
//! let mut state = game.start();
//! let best = game.parse_action(&state, "2 from 1")?;
//! game.apply(&mut state, &best);
//! assert_eq!((game.turn(&state), state.left), (Turn::Player(1), [1, 4, 5]));
//! # Ok::<(), adept_game::GameError>(())
//! ```

mod audit;
pub mod deliberation;
mod encoder;
pub mod files;
mod game;
mod halves;
mod info;
mod kit;
pub mod laws;
mod peer;
mod play;
mod public_tree;
mod recorded;
mod rng;
pub mod sheet;
mod suite;
pub mod tiny;
mod worth;

pub use adept_rows::{Channel, ChannelKind, OutcomeClass, OutcomeMask, RowMut, RowSink};
pub use audit::{Audit, TraceStep};
pub use deliberation::{Choice, Deliberation, Deliberator};
pub use encoder::{Afterstate, Encoder, EncoderFn};
pub use game::{Game, GameError, Turn, Unit, no_action};
pub use halves::{Factors, Halves};
pub use info::GameInfo;
pub use kit::{
    Distribution, Draw, Example, Found, Kit, Named, ParsedPosition, PositionClass, Positions, References,
    Script, Valuation, Visitor, WholeGame,
};
pub use peer::Peer;
pub use play::{PLAY, distributions, draw_of_play, is_solved, number_of};
pub use public_tree::{PublicTree, TreeVisitor};
/// The crate of random numbers whose `Rng` the traits take.
pub use rand;
pub use recorded::{Difference, Recorded};
pub use rng::{Stream, draw_index, stream};
pub use suite::Suite;
pub use worth::{Worth, score_text};
