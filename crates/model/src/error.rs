//! What can go wrong in this crate.

use std::path::PathBuf;

/// Errors of architectures, learners and checkpoints: what was found, what was expected, what to do.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// An architecture that cannot be built. `path` is the key inside the architecture, dotted.
    #[error("{message}")]
    Architecture {
        /// Dotted path of the offending key inside the architecture value, such as `hme.threshold`.
        path: String,
        /// What is wrong and what to write instead.
        message: String,
    },
    /// Rows that do not fit the model.
    #[error("{0}")]
    Rows(String),
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A checkpoint whose bytes are not those that were written.
    #[error("{}: is damaged: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A checkpoint that does not fit, or a path that leads to none.
    #[error("{}: {message}", path.display())]
    Checkpoint {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it and what to do.
        message: String,
    },
    /// Learning left the finite numbers.
    #[error("the {what} is not a finite number")]
    Diverged {
        /// What overflowed: the loss, a parameter by name.
        what: String,
    },
    /// Something the model cannot do.
    #[error("{0}")]
    Unsupported(String),
}

impl ModelError {
    /// What the system refused, at that path.
    pub fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { path, source }
    }
}

impl From<adept_rows::RowsError> for ModelError {
    fn from(error: adept_rows::RowsError) -> Self {
        Self::Rows(error.0)
    }
}
