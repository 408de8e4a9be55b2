//! Runs: an experiment that leaves a folder.

mod experiment;
mod folder;
mod observe;
mod several;

pub use experiment::{Evaluation, TrainError, TrainOptions, train};
pub use folder::{Record, RunSummary, Score, list_runs};
pub use observe::{Cancel, Event, Observer, Silent};
pub(crate) use several::in_parallel;
pub use several::{SeedResult, Seeds, Summary, mean_sd, train_seeds};
