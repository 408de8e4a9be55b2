//! Liar's dice: hidden dice, bids on how many of a face lie on the table, and doubts.
//!
//! Three rule sets share rounds and showdowns: `soar`, the dice game of Laird, Derbinsky and Tinkerhess (2011) with the
//! details of its published server; `r-post`, the game of a Q-learner written in R; and `openspiel`, one round of two
//! players, small enough for exact solutions. [`LiarsDice`] says what is legal and why something is not; [`State`] is where a
//! game stands, [`Info`] what one player knows of it.

mod deliberation;
mod dice;
mod encoders;
mod game;
mod kit;
mod odds;
mod post;
mod public;
mod rules;
mod state;
mod text;

pub use deliberation::{Deliberate, DeliberateSettings, Evaluation, Heuristic};
pub use dice::{Dice, FACES};
pub use game::Info;
pub use post::{PostState, PostStates, SURE, call_or_raise};
pub use public::Public;
pub use rules::{Action, LiarsDice, Refusal, RuleSet, Showdown, Target};
pub use state::{Act, Bid, Phase, Said, Seat, State};
