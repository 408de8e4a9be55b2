//! Evaluators, agents, and the tools that compare them: exact solvers and matches.
//!
//! An [`Evaluator`] assigns values to actions. An [`Agent`] chooses a move. [`exact`] measures agents against each
//! other without sampling.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

pub mod agents;
mod analysis;
pub mod cfr;
mod encoders;
mod error;
pub mod exact;
pub mod matches;
pub mod naming;
pub mod search;
pub mod values;

pub use agents::{
    Agent, Asking, Boltzmann, Deliberating, EpsilonGreedy, Greedy, PlayoutAgent, Playouts, Random, Scratch,
    Scripted,
};
pub use analysis::{MoveLoss, TIE, inspect, move_loss, opened, review, rollout};
pub use error::{ExactError, OpenError};
pub use exact::{
    BestResponse, Equity, Grade, Grader, Guarantee, Minimax, SoloGrade, Survey, WinDrawLoss, best_responses,
    equity, expected_utilities, has_oracle, optimal_value, oracle, survey,
};
pub use naming::levels::{Level, Rung};
pub use naming::{AgentSpec, Meaning, Resolved, levels, open};
pub use values::{
    ByValuation, Decision, Evaluator, Fortune, GameModel, LearnerModel, Luck, MoveFilter, Pool, Reach,
    Screen, Screened, Staged, Successors, each_after,
};
