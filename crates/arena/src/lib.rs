//! Evaluators, agents, and the tools that compare them: exact solvers and matches.
//!
//! An [`Evaluator`] assigns values to actions. An [`Agent`] chooses a move. [`exact`] measures agents against each
//! other without sampling.

pub mod agents;
mod asking;
pub mod cfr;
mod deliberating;
pub mod evaluator;
pub mod exact;
mod experts;
mod frozen;
pub mod grade;
mod information;
pub mod inspect;
mod judge;
pub mod known;
pub mod levels;
pub mod luck;
pub mod matches;
pub mod naming;
pub mod open;
mod part;
mod pool;
pub mod review;
pub mod rollout;
pub mod screen;
pub mod search;
mod solve;
pub mod statistics;
pub mod successors;
mod uct;

pub use agents::{Agent, Boltzmann, Decision, EpsilonGreedy, Greedy, Random, Scratch, Scripted};
pub use asking::Asking;
pub use deliberating::Deliberating;
pub use evaluator::{ByValuation, Evaluator, GameModel, LearnerModel, Reach, each_after};
pub use exact::{Equity, ExactError, Survey, equity, expected_utilities, survey};
pub use grade::{Grade, Grader, Guarantee, SoloGrade, WinDrawLoss};
pub use information::best_responses;
pub use judge::{MoveLoss, TIE, move_loss};
pub use levels::{Level, Rung};
pub use luck::{Fortune, Luck};
pub use naming::{AgentSpec, Meaning, Resolved};
pub use open::OpenError;
pub use pool::Pool;
pub use screen::{Screen, Screened};
pub use solve::{BestResponse, Minimax, has_oracle, optimal_value, oracle};
pub use successors::Successors;
pub use uct::{PlayoutAgent, Playouts};
