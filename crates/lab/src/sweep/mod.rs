//! Sweeps: an experiment over a grid of settings, several seeds a combination, ranked.
//!
//! The folder of a sweep holds `sweep.json`, which says what belongs to it, one run folder for each combination and
//! seed, and `sweep.md`, the table.

mod axis;
mod folder;
mod grid;
mod run;
mod table;

pub use grid::{Combination, Grid};
pub use run::{SweepEvent, SweepOptions, Watch, What, sweep};
pub use table::{Failure, Metric, Row, Sweep};

use adept_model::ModelError;
use adept_trainer::config::ConfigError;
use adept_trainer::run::TrainError;
use std::path::PathBuf;

/// Why a sweep did not run.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The config file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A combination that makes no valid config.
    #[error("{combination}: {source}")]
    Combination {
        /// Its settings.
        combination: String,
        /// What is wrong with them.
        source: ConfigError,
    },
    /// The settings make no grid.
    #[error("{0}")]
    Grid(String),
    /// The folder is taken.
    #[error("{}: {message}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },
    /// A file.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Measuring a run that was trained.
    #[error(transparent)]
    Train(#[from] TrainError),
}
