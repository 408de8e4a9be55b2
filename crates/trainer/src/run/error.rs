//! Errors that end a run early.

use crate::config::ConfigError;
use adept_arena::{ExactError, OpenError};
use adept_game::GameError;
use adept_ground::files::FileError;
use adept_model::ModelError;
use std::path::PathBuf;

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A fault of the model, or of a file.
    #[error(transparent)]
    Model(ModelError),
    /// A file cannot be written, or may not be read.
    #[error("{}: {source}: {hint}", path.display())]
    Disk {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's reason.
        source: std::io::Error,
        /// What to do.
        hint: &'static str,
    },
    /// An opponent or an initial checkpoint could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A measurement failed.
    #[error(transparent)]
    Exact(#[from] ExactError),
    /// The folder is in use or holds something else.
    #[error("{}: {message}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why, and what to do.
        message: String,
    },
    /// The folder holds another run, or this one.
    #[error("{}: {message}: {}", path.display(), advice(remedies))]
    Taken {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        message: String,
        /// Remedies, beside choosing another folder.
        remedies: Vec<Remedy>,
    },
    /// The work was interrupted.
    #[error("{}: {message}", path.display())]
    Interrupted {
        /// The folder.
        path: PathBuf,
        /// What was kept, and what to do.
        message: String,
    },
    /// Tensors of another program do not fit the network.
    #[error("{}: {message}", path.display())]
    Tensors {
        /// The file.
        path: PathBuf,
        /// Which one is missing, and what the file has.
        message: String,
        /// What all names in the file begin with, if they fit without it.
        prefix: Option<String>,
    },
    /// The disk has too little space for the run.
    #[error(
        "{}: the run needs up to {needed} of disk space, but only {free} are free: free some space, choose another folder, or keep fewer checkpoints (`checkpoints`)",
        path.display()
    )]
    Space {
        /// The folder.
        path: PathBuf,
        /// Space that the run needs.
        needed: String,
        /// Free space.
        free: String,
    },
    /// Learning produced a number that is not finite.
    #[error(
        "{name}, seed {seed}: diverged after {step} games, the {what} is not finite: lower `learn.rate` (now \
         {rate}){more}"
    )]
    Diverged {
        /// Name of the experiment.
        name: String,
        /// Seed.
        seed: u64,
        /// Games learned from.
        step: u64,
        /// The number that is not finite.
        what: String,
        /// Learning rate at this step.
        rate: f64,
        /// Another setting that may be the cause.
        more: String,
    },
    /// Ranks do not compute alike, or cannot do what was asked. All of them have this error.
    #[error("{0}")]
    Ranks(String),
    /// Another rank failed, and says why.
    #[error("{0}")]
    Elsewhere(String),
    /// The game does not support this suite.
    #[error("{0}")]
    Suite(String),
    /// The game is unknown.
    #[error(transparent)]
    Game(#[from] GameError),
    /// A fault in a config file.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// A remedy where the folder of a run holds another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Continue the run in the folder.
    Resume,
    /// Continue it to its new length.
    Extend,
    /// Give its initial weights again.
    RepeatInit,
    /// Start anew in its place: it did not finish.
    Fresh,
    /// Start from its weights in another folder.
    Init,
}

/// The remedies in words.
fn advice(remedies: &[Remedy]) -> String {
    let word = |remedy: &Remedy| match remedy {
        Remedy::Resume => "resume it",
        Remedy::Extend => "resume it to make it longer",
        Remedy::RepeatInit => "give them again",
        Remedy::Fresh => "start anew in its place",
        Remedy::Init => "start from its weights elsewhere",
    };
    let elsewhere = "choose another folder";
    // A finished run is removed by hand.
    let last = if remedies.iter().all(|remedy| *remedy == Remedy::Init) { Some("remove it") } else { None };
    let mut words: Vec<&str> = remedies.iter().map(word).chain([elsewhere]).chain(last).collect();
    let last = words.pop().unwrap_or(elsewhere);
    if words.is_empty() { last.into() } else { format!("{}, or {last}", words.join(", ")) }
}

impl TrainError {
    /// Whether all ranks of a run have this error at the same time.
    pub fn is_of_all(&self) -> bool {
        matches!(self, Self::Diverged { .. } | Self::Ranks(_))
    }

    /// The same error, which advises only what the caller offers.
    pub fn with_remedies(mut self, offered: &[Remedy]) -> Self {
        if let Self::Taken { remedies, .. } = &mut self {
            remedies.retain(|remedy| offered.contains(remedy));
        }
        self
    }

    /// What a run says of a disk that cannot be written.
    pub(super) fn of_run(self) -> Self {
        use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
        let Self::Disk { path, source, .. } = self else { return self };
        let hint = match source.kind() {
            PermissionDenied | ReadOnlyFilesystem => {
                "the files written before are intact: make the folder writable, or choose another"
            }
            _ => "the files written before are intact: free some space, then resume it",
        };
        Self::Disk { path, source, hint }
    }

    /// Whether a written file is damaged or lost. A file that cannot be read at the moment, or that a newer
    /// program wrote, is not lost.
    pub(super) fn is_loss(&self) -> bool {
        match self {
            Self::Model(ModelError::Damaged { .. }) => true,
            Self::Model(ModelError::Io(error)) => error.source.kind() == std::io::ErrorKind::NotFound,
            _ => false,
        }
    }
}

impl From<FileError> for TrainError {
    fn from(error: FileError) -> Self {
        ModelError::from(error).into()
    }
}

impl From<ModelError> for TrainError {
    fn from(error: ModelError) -> Self {
        use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let ModelError::Io(FileError { path, source }) = error else { return Self::Model(error) };
        let hint = match source.kind() {
            StorageFull | QuotaExceeded => "free some space, or choose another place",
            PermissionDenied | ReadOnlyFilesystem => "change its permissions, or choose another place",
            _ => return Self::Model(FileError { path, source }.into()),
        };
        Self::Disk { path, source, hint }
    }
}
