//! Games between a person and agents, step by step, and in the terminal.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod error;
mod quiz;
mod record;
mod room;
mod session;
mod terminal;

pub use error::PlayError;
pub use quiz::{Answer, AnyQuiz, Question, quiz};
pub use record::{History, Record};
pub use room::{
    AgentText, Analysis, AnyPlay, AnyRoom, EventView, GameAbout, Hints, MoveView, OutcomeView,
    PlayerAnalysis, View, room,
};
pub use terminal::{Input, PlayOptions, Played, play};
