//! Sweeps: an experiment over a grid of settings with several seeds per combination, ranked.
//!
//! The folder of a sweep holds `sweep.json` (the plan), one run folder for each combination and seed, and
//! `sweep.md` (the table).

mod axis;
mod folder;
mod grid;
mod job;
mod run;
mod table;

pub use grid::{Combination, Grid};
pub use job::Failure;
pub use run::{
    Done, DoneRun, SweepEvent, SweepOptions, SweepSpec, SweepWatch, Together, What, sweep, together,
};
pub use table::{Row, Sweep};

use adept_model::ModelError;
use adept_trainer::config::ConfigError;
use adept_trainer::run::TrainError;
use std::path::PathBuf;

/// Why a sweep did not run.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// A fault in the config file.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A combination is not a valid config.
    #[error("{combination}: {source}")]
    Combination {
        /// Its settings.
        combination: String,
        /// The fault.
        source: ConfigError,
    },
    /// The settings do not form a grid.
    #[error("{0}")]
    Grid(String),
    /// The folder is in use or holds something else.
    #[error("{}: {message}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A trained run could not be measured.
    #[error(transparent)]
    Train(#[from] TrainError),
}
