//! Agents: policies that choose moves.
//!
//! An agent gives a probability for each legal action. Play samples from these probabilities; exact measurement uses
//! them directly. Ties are therefore random in play and averaged in measurement.

mod agent;
mod asking;
mod deliberating;
mod playouts;

pub(crate) use agent::line_texts;
pub use agent::{Agent, Boltzmann, EpsilonGreedy, Greedy, Random, Scratch, Scripted, by_head, softmax};
pub use asking::Asking;
pub use deliberating::Deliberating;
pub use playouts::{PlayoutAgent, Playouts};
