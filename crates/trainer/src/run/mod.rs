//! Training runs: each experiment and seed writes one folder.

mod error;
mod estimate;
mod evaluation;
mod events;
mod experiment;
mod feed;
mod folder;
mod games;
mod host;
mod observe;
mod opens;
mod outcome;
mod source;
mod start;
mod steer;
mod targets;

pub use error::{Remedy, TrainError};
pub use estimate::{OnRanks, RunEstimate, estimate};
pub use evaluation::{Evaluation, Match};
pub use events::numbers;
pub use experiment::{TrainOptions, obstacle, train};
pub use folder::Lock;
pub use folder::{Opponent, Record, RunSummary, Score, Timing, list_runs};
pub use host::{Clock, Host};
pub use observe::{Cancel, Event, Observer, Saving, Silent};
pub use opens::{Unusable, broken_law, check_files, of_breach, setting_of};
pub use outcome::{lock_of, losses, measurements, record_of, remove_run};
pub use start::Init;
pub use steer::{CHANGES, Changed, Setting, Steering};
pub use targets::Targets;
