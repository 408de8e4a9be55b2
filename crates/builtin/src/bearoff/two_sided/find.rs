//! The table to look in: a file that is named, one that lies in the usual place, or one solved on the spot.

use super::solve::Progress;
use super::table::{Precision, Settings, Table, TableError, Timings};
use crate::bearoff::MAX_CHECKERS;
use std::path::{Path, PathBuf};

/// Where a table came from.
#[derive(Debug)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// It was solved in memory.
    Solved(Timings),
}

/// The usual file of a table in a folder: `bearoff-N.table`.
pub fn usual_file(folder: &Path, checkers: u8) -> PathBuf {
    folder.join(format!("bearoff-{checkers}.table"))
}

/// A table that holds sides of `settings.checkers`: `file` if one is named; else the smallest usual file in `folder`
/// that does, with at least as many bits as `least`; else it is solved in memory, and `solving` is called first.
///
/// # Errors
/// What is wrong with the file, with its checkers, or with solving.
pub fn find(
    file: Option<&Path>,
    folder: &Path,
    least: Precision,
    settings: Settings,
    solving: impl FnOnce(),
    progress: &mut dyn FnMut(Progress),
) -> Result<(Table, Source), TableError> {
    if let Some(path) = file {
        let table = Table::open(path)?;
        if table.checkers() < settings.checkers {
            return Err(TableError::Format {
                path: path.into(),
                what: format!(
                    "its sides have at most {} checkers and {} are needed; name another file or build one with \
                     `adept oracle build --checkers {}`",
                    table.checkers(),
                    settings.checkers,
                    settings.checkers
                ),
            });
        }
        return Ok((table, Source::File(path.into())));
    }
    for checkers in settings.checkers..=MAX_CHECKERS {
        let path = usual_file(folder, checkers);
        if path.exists() {
            let table = Table::open(&path)?;
            if table.checkers() >= settings.checkers && table.precision().bits() >= least.bits() {
                return Ok((table, Source::File(path)));
            }
        }
    }
    solving();
    let (table, timings) = Table::solve(settings, progress)?;
    Ok((table, Source::Solved(timings)))
}
