//! Finds a table: a given file, a file in the default folder, or a new solution in memory.

use super::build::{Settings, Timings};
use super::error::TableError;
use super::solve::Progress;
use super::table::{Precision, Table};
use crate::bearoff::MAX_CHECKERS;
use adept_ground::places;
use std::path::{Path, PathBuf};

/// Source of a table.
#[derive(Debug)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Solved in memory.
    Solved(Timings),
}

/// The default file of a table in a folder: `bearoff-N.table`.
pub fn usual_file(folder: &Path, checkers: u8) -> PathBuf {
    folder.join(format!("bearoff-{checkers}.table"))
}

/// Finds a table for sides with `settings.checkers` checkers. Uses `file` if given. Otherwise uses the smallest
/// suitable default file in `folder`, in the first of the [places] that has it, with at least the precision `least`. Otherwise calls `solving` and solves the
/// table in memory.
///
/// # Errors
/// An unreadable file, a file with too few checkers, or an error of solving.
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
                    "its sides have at most {} checkers and {} are needed; use another file or build one with \
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
        if let Some(path) = places::find(&usual_file(folder, checkers)) {
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
