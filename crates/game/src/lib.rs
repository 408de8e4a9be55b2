//! Traits for games: rules, encoders and exact values. This crate contains no learning and no particular game.
//!
//! [`Game`] holds the rules. [`Kit`] hands out what a game offers besides them. [`Encoder`] turns a candidate into the
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

mod agents;
mod audit;
mod card;
pub mod deliberation;
mod derived;
mod encoder;
pub mod files;
mod game;
mod game_lines;
mod halves;
mod info;
mod kit;
pub mod laws;
mod listing;
mod numbering;
mod peer;
mod play;
mod positions;
mod public_tree;
mod random_play;
mod recorded;
mod records;
mod results;
mod rng;
pub mod sheet;
mod suite;
mod texts;
pub mod tiny;
mod values;
mod worth;

pub use adept_rows::{Channel, ChannelKind, OutcomeClass, OutcomeMask, RowMut, RowSink};
pub use agents::{Advice, Agents, LevelResult, Script};
pub use audit::{Audit, RuleText, TraceStep};
pub use card::Card;
pub use deliberation::{Choice, Deliberation, Deliberator};
pub use derived::{
    distributions, fingerprint, has_public_tree, is_solved, outcome_classes, possible_outcomes,
    writable_records,
};
pub use encoder::{Afterstate, Derived, Encoder, EncoderFn, Encoders, Scale};
pub use files::{Example, ParsedPosition};
pub use game::{Counting, Game, GameError, Turn, Unit, first_side, no_action};
pub use game_lines::GameLines;
pub use halves::{Factors, Halves};
pub use info::GameInfo;
pub use kit::{Kit, PositionFiles, TextFiles, Visitor};
pub use listing::{Listing, Named};
pub use numbering::Numbering;
pub use peer::Peer;
pub use play::{PLAY, draw_of_play, number_of};
pub use positions::{Distribution, Draw, PositionClass, Positions};
pub use public_tree::{PublicTree, TreeVisitor};
/// The crate of random numbers whose `Rng` the traits take.
pub use rand;
pub use random_play::{RandomPlay, Uniform};
pub use recorded::{Difference, Recorded};
pub use records::{
    AddedGame, DecisionKind, GameRecord, GamesAsPlayed, JudgedAction, JudgedGame, Judgement, Opinion,
    Records, Says, Standard, WholeGame,
};
pub use results::{
    Adapted, Possible, Reading, Reduced, Reduction, Resignation, Resignations, Results, Reward, ValueRule,
    outcome_of,
};
pub use rng::{Stream, draw_index, stream};
pub use suite::Suite;
pub use texts::{Plain, Texts};
pub use values::{ForPositions, Found, Opener, Purpose, Reference, Valuation, Valuations, Values};
pub use worth::{Worth, score_text, signed_text};
