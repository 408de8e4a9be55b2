//! The names that most programs need: `use adept::prelude::*;`.

pub use crate::{Builtin, Catalogue, One};
pub use adept_arena::{Agent, Decision, EpsilonGreedy, Evaluator, GameModel, Greedy, Random, equity, open};
pub use adept_game::rand::{Rng, RngExt};
pub use adept_game::{
    Afterstate, Channel, ChannelKind, Distribution, Encoder, EncoderFn, Found, Game, GameError, Kit, Named,
    ParsedPosition, Positions, RowMut, Script, Suite, Turn, Valuation, stream,
};
pub use adept_model::{Architecture, Learner, Optimiser, Predictor, Rows, Samples};
pub use adept_trainer::config::{Config, Source, parse};
pub use adept_trainer::run::{Cancel, Record, Silent, TrainOptions, train};
