//! Agents: policies that choose moves.

mod agent;
mod asking;
mod deliberating;
mod playouts;

pub(crate) use agent::line_texts;
pub use agent::{Agent, Boltzmann, EpsilonGreedy, Greedy, Random, Scratch, Scripted, by_head, softmax};
pub use asking::Asking;
pub use deliberating::Deliberating;
pub use playouts::{PlayoutAgent, Playouts};
