//! Exact comparison of agents, exact solutions and grades of small games.

mod grade;
mod information;
mod solve;
mod walk;

pub use grade::{Grade, Grader, Guarantee, SoloGrade, WinDrawLoss, alone, shares, shortest, worst};
pub use information::best_responses;
pub use solve::{BestResponse, Minimax, has_oracle, optimal_value, oracle};
pub use walk::{Equity, Survey, equity, expected_utilities, survey};
