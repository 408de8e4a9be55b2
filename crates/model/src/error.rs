//! The error type of this crate.

use adept_ground::{files::FileError, limits};
use std::path::PathBuf;

/// Errors of architectures, learners and checkpoints. Messages say what was found, what was expected and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// An invalid architecture.
    #[error("{message}")]
    Architecture {
        /// Dotted path of the invalid key inside the architecture, such as `hme.threshold`.
        path: String,
        /// The fault, and what to write instead.
        message: String,
    },
    /// Rows that do not fit the model.
    #[error("{0}")]
    Rows(String),
    /// A file that cannot be read or written.
    #[error(transparent)]
    Io(#[from] FileError),
    /// A checkpoint whose bytes changed since it was written.
    #[error("{}: is damaged: {message}: restore it from a copy, or train again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        message: String,
    },
    /// A checkpoint that does not fit, or a path without a checkpoint.
    #[error("{}: {message}", path.display())]
    Checkpoint {
        /// The file or folder.
        path: PathBuf,
        /// The fault, and what to do.
        message: String,
    },
    /// Learning diverged: a number is not finite.
    #[error("the {what} is not a finite number")]
    Diverged {
        /// The number: the loss, or a parameter by name.
        what: String,
    },
    /// A network that is too large for this machine.
    #[error(
        "the network, with its copies and other networks that learn beside it, needs about {} of memory, but only {} \
         are free: make its layers smaller, or use fewer workers or threads",
        limits::size(*needed),
        limits::size(*free)
    )]
    Memory {
        /// Bytes that it needs.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// A value that cannot be written as JSON or read from it.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Tensors that cannot be written to a safetensors file or read from it.
    #[error(transparent)]
    Safetensors(#[from] safetensors::SafeTensorError),
    /// An operation that the model or device does not support.
    #[error("{0}")]
    Unsupported(String),
}

impl ModelError {
    /// Adds the path to an I/O error.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let at = FileError::at(path);
        move |source| at(source).into()
    }
}

impl From<limits::Short> for ModelError {
    fn from(short: limits::Short) -> Self {
        Self::Memory { needed: short.needed, free: short.free }
    }
}

impl From<adept_rows::RowsError> for ModelError {
    fn from(error: adept_rows::RowsError) -> Self {
        Self::Rows(error.0)
    }
}
