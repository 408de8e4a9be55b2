//! What can end a run before its end.

use adept_arena::{ExactError, OpenError};
use adept_game::GameError;
use adept_model::ModelError;
use std::path::PathBuf;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The model, or a file.
    #[error(transparent)]
    Model(ModelError),
    /// The disk does not take what is to be written.
    #[error("{}: {source}: {hint}", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// An opponent or a checkpoint to start from.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A measurement.
    #[error(transparent)]
    Exact(#[from] ExactError),
    /// The folder is taken.
    #[error("{}: {message}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },
    /// The disk is too small for the run.
    #[error(
        "{}: the run takes up to {needed} of disk, {free} are free: free some space, name another folder with --out, or keep fewer checkpoints (`checkpoints`)",
        path.display()
    )]
    Space {
        /// The folder.
        path: PathBuf,
        /// What it takes.
        needed: String,
        /// What there is.
        free: String,
    },
    /// Learning left the finite numbers.
    #[error(
        "{name}, seed {seed}: diverged after {step} games, the {what} is not finite: lower `learn.rate` (now {rate}){more}"
    )]
    Diverged {
        /// Name of the experiment.
        name: String,
        /// Seed.
        seed: u64,
        /// Games learned from.
        step: u64,
        /// What left the finite numbers.
        what: String,
        /// Learning rate at that time.
        rate: f64,
        /// Another setting that may be the cause.
        more: String,
    },
    /// A suite that the game does not have.
    #[error("{0}")]
    Suite(String),
    /// There is no such game.
    #[error(transparent)]
    Game(#[from] GameError),
}

impl TrainError {
    /// Whether a file that was written is damaged or gone for good; one that cannot be read now, or that a newer program
    /// wrote, is not.
    pub(super) fn is_loss(&self) -> bool {
        match self {
            Self::Model(ModelError::Damaged { .. }) => true,
            Self::Model(ModelError::Io { source, .. }) => source.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

impl From<ModelError> for TrainError {
    fn from(error: ModelError) -> Self {
        use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let ModelError::Io { path, source } = error else { return Self::Model(error) };
        let hint = match source.kind() {
            StorageFull | QuotaExceeded => {
                "what was written before is whole: free some space, then go on with --resume"
            }
            PermissionDenied | ReadOnlyFilesystem => {
                "what was written before is whole: make the folder writable, or name another with --out"
            }
            _ => return Self::Model(ModelError::Io { path, source }),
        };
        Self::Disk { path, source, hint }
    }
}
