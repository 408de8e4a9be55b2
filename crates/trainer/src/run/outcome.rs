//! Reads the result of a run from its folder, and locks folders.

use super::folder::{Folder, Found, Lock, Record};
use adept_model::ModelError;
use adept_model::files::Files;
use adept_model::limits;
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

/// Losses of a run's measurements: the last and the lowest; `None` if it was never measured.
pub fn losses(path: &Path, record: &Record) -> Result<Option<(f64, f64)>, ModelError> {
    let path = Folder::new(path.into(), Files::default()).metrics_path();
    let bytes = limits::read(&path, limits::LIST_BYTES)
        .map_err(|source| ModelError::Io { path: path.clone(), source })?;
    // Anything after that is left over from an interrupted step.
    let valid = usize::try_from(record.metrics_bytes).unwrap_or(usize::MAX).min(bytes.len());
    let mut found: Option<(f64, f64)> = None;
    for (i, line) in String::from_utf8_lossy(&bytes[..valid]).lines().enumerate() {
        let line: serde_json::Value = serde_json::from_str(line).map_err(|e| ModelError::Checkpoint {
            path: path.clone(),
            message: format!("line {} is damaged: {e}", i + 1),
        })?;
        if let Some(loss) = line["loss"].as_f64() {
            found = Some((loss, found.map_or(loss, |(_, least)| least.min(loss))));
        }
    }
    Ok(found)
}
