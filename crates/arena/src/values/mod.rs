//! Evaluators: networks and other sources of values, and what wraps them.

mod decision;
mod evaluator;
mod informed;
mod known;
mod luck;
mod model;
mod pool;
mod screen;
mod staged;
mod successors;

pub use decision::Decision;
pub(crate) use decision::state_after;
pub use evaluator::{ByValuation, Evaluator, Reach, each_after};
pub(crate) use informed::Informed;
pub use known::{KnownRows, known};
pub use luck::{Fortune, Luck, Prospect, expected, place};
pub use model::{GameModel, LearnerModel};
pub use pool::Pool;
pub use screen::{Screen, Screened};
pub use staged::Staged;
pub use successors::{MoveFilter, Successors, certain, class_of};
