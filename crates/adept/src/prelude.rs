//! The names that most programs need: `use adept::prelude::*;`.

pub use crate::{Builtin, Catalogue, One};
pub use adept_arena::{Agent, Decision, EpsilonGreedy, Evaluator, GameModel, Greedy, Random, equity, open};
pub use adept_game::rand::{Rng, RngExt};
pub use adept_game::{
    Afterstate, Agents, Card, Channel, ChannelKind, Counting, Distribution, Encoder, EncoderFn, Encoders,
    Found, Game, GameError, Kit, Listing, Named, Numbering, ParsedPosition, PositionFiles, Positions,
    RandomPlay, Records, Results, RowMut, RuleText, Script, Suite, Texts, Turn, Unit, Valuation, Values,
    stream,
};
pub use adept_model::{Architecture, Learner, Optimiser, Rows, Samples};
pub use adept_trainer::config::{Config, Source, parse};
pub use adept_trainer::run::{Cancel, Record, Silent, TrainOptions, train};
