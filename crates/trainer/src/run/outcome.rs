//! Reads the result of a run from its folder, and locks folders.

use super::folder::{Folder, Found, Lock, Record};
use adept_ground::files::Files;
use adept_model::ModelError;
use serde_json::Value;
use std::path::Path;

/// The record of the run in this folder; `None` if there is no run.
pub fn record_of(path: &Path) -> Result<Option<Record>, ModelError> {
    match Folder::new(path.into(), Files::default()).look()? {
        Found::Nothing => Ok(None),
        Found::Run(record) => Ok(Some(*record)),
        Found::Other(why) => {
            Err(ModelError::Checkpoint { path: path.into(), message: format!("is not a run folder: {why}") })
        }
    }
}

/// Locks a folder for this process and creates it if missing; `None` if another process holds it.
pub fn lock_of(path: &Path) -> Result<Option<Lock>, ModelError> {
    Folder::new(path.into(), Files::default()).lock()
}

/// Removes what a run wrote to this folder, which the caller has locked, and the folder unless something else is in it.
///
/// # Errors
/// [`ModelError::Io`].
pub fn remove_run(path: &Path) -> Result<(), ModelError> {
    Folder::new(path.into(), Files::default()).remove()
}

/// The measurements of a run, one JSON object each, up to its latest checkpoint; none before the first one.
///
/// # Errors
/// [`ModelError::Io`], and [`ModelError::Checkpoint`] with the line that is damaged.
pub fn measurements(path: &Path, record: &Record) -> Result<Vec<Value>, ModelError> {
    Folder::new(path.into(), Files::default()).measurements(record)
}

/// Losses of a run's measurements: the last and the lowest; `None` if it was never measured.
pub fn losses(path: &Path, record: &Record) -> Result<Option<(f64, f64)>, ModelError> {
    let all = measurements(path, record)?;
    let losses = all.iter().filter_map(|line| line["loss"].as_f64());
    Ok(losses
        .fold(None, |found, loss| Some((loss, found.map_or(loss, |(_, least): (f64, f64)| least.min(loss))))))
}
