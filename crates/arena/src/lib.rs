//! Evaluators, agents, and the tools that compare them: exact solvers and matches.
//!
//! An [`Evaluator`] assigns values to actions. An [`Agent`] chooses a move. [`exact`] measures agents against each
//! other without sampling.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

pub mod agents;
mod asking;
pub mod cfr;
mod decision;
mod deliberating;
mod error;
pub mod evaluator;
pub mod exact;
mod experts;
pub mod grade;
mod information;
mod informed;
pub mod inspect;
mod judge;
pub mod known;
pub mod luck;
pub mod matches;
mod model;
pub mod naming;
mod part;
mod pool;
mod prior;
pub mod review;
pub mod rollout;
pub mod screen;
pub mod search;
mod solve;
pub mod statistics;
pub mod successors;
mod tables;
mod uct;

pub use agents::{Agent, Boltzmann, EpsilonGreedy, Greedy, Random, Scratch, Scripted};
pub use asking::Asking;
pub use decision::Decision;
pub use deliberating::Deliberating;
pub use error::{ExactError, OpenError};
pub use evaluator::{ByValuation, Evaluator, Reach, each_after};
pub use exact::{Equity, Survey, equity, expected_utilities, survey};
pub use grade::{Grade, Grader, Guarantee, SoloGrade, WinDrawLoss};
pub use information::best_responses;
pub use judge::{MoveLoss, TIE, move_loss};
pub use luck::{Fortune, Luck};
pub use model::GameModel;
pub use naming::levels::{Level, Rung};
pub use naming::{AgentSpec, Meaning, Resolved, levels, open};
pub use pool::Pool;
pub use screen::{Screen, Screened};
pub use solve::{BestResponse, Minimax, has_oracle, optimal_value, oracle};
pub use successors::{MoveFilter, Successors};
pub use uct::{PlayoutAgent, Playouts};
