//! Liar's dice: hidden dice, bids on the number of dice that show a face, and challenges.
//!
//! Three rule sets share rounds and showdowns. `soar` is the dice game of Laird, Derbinsky and Tinkerhess (2011) with
//! the details of its published server. `r-post` is the game of a Q-learner written in R. `openspiel` is one round of
//! two players, small enough for exact solutions.
//!
//! [`LiarsDice`] decides which actions are legal and why others are not. [`State`] is the state of a game. [`Info`] is
//! what one player knows.

mod deliberation;
mod dice;
mod encoders;
mod game;
mod hearing;
mod kit;
mod odds;
mod post;
mod public;
mod rules;
mod speech;
mod state;
mod text;

pub use deliberation::{Deliberate, DeliberateSettings, EvaluateBy, Heuristic};
pub use dice::{Dice, FACES};
pub use game::Info;
pub use post::{PostState, PostStates, SURE, call_or_raise};
pub use public::Public;
pub use rules::{Action, LiarsDice, Refusal, RuleSet, Showdown, Target};
pub use state::{Act, Bid, Phase, Said, Seat, State};
