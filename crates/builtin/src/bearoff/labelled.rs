//! Positions with values in CSV files: columns own1..own6, opp1..opp6 and value.
//!
//! The columns hold the checkers on points 1 to 6 of the side to roll and of its opponent, and V in [−1, 1] for the
//! side to roll.

use super::two_sided::{Table, TableError, replace};
use super::{Distribution, POINTS, Position, Side};
use adept_game::stream;
use adept_game::{GameError, limits};
use std::io::{self, BufRead, Read, Write};
use std::path::Path;

/// The columns of a file.
pub const COLUMNS: [&str; 2 * POINTS + 1] =
    ["own1", "own2", "own3", "own4", "own5", "own6", "opp1", "opp2", "opp3", "opp4", "opp5", "opp6", "value"];

/// Number of columns without the value.
const SIDES: usize = 2 * POINTS;

/// What the first line of a file says about its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Header {
    /// Positions with values.
    Values,
    /// Positions without values.
    Positions,
    /// Other columns.
    OtherColumns,
    /// Not a header.
    None,
}

/// Reads the first line of a file.
///
/// # Errors
/// An I/O error.
pub fn header(path: &Path) -> Result<Header, GameError> {
    let mut line = Vec::new();
    let file = std::fs::File::open(path).map_err(GameError::file(path))?;
    io::BufReader::new(file).take(MAX_HEADER).read_until(b'\n', &mut line).map_err(GameError::file(path))?;
    let line = String::from_utf8_lossy(&line);
    let names: Vec<&str> =
        line.trim_start_matches('\u{feff}').split(',').map(|name| name.trim().trim_matches('"')).collect();
    Ok(match names[..] {
        _ if names == COLUMNS => Header::Values,
        _ if names == COLUMNS[..SIDES] => Header::Positions,
        // A position contains a slash. A header for positions in text form begins with `position`.
        [first, _, ..] if first != "position" && !line.contains('/') => Header::OtherColumns,
        _ => Header::None,
    })
}

/// A longer first line is not a header.
const MAX_HEADER: u64 = 4096;

/// Reads the positions of a file and their values.
///
/// # Errors
/// The file, line and column of the fault, and what was expected.
pub fn read(path: &Path) -> Result<Vec<(Position, f64)>, GameError> {
    rows(path, &COLUMNS)
}

/// Reads the positions of a file and ignores values.
///
/// # Errors
/// As for [`read`].
pub fn read_positions(path: &Path) -> Result<Vec<Position>, GameError> {
    let columns = if header(path)? == Header::Values { &COLUMNS[..] } else { &COLUMNS[..SIDES] };
    Ok(rows(path, columns)?.into_iter().map(|(position, _)| position).collect())
}

/// The rows of a file with these columns. Values are 0 if the file has no column for them.
fn rows(path: &Path, columns: &[&str]) -> Result<Vec<(Position, f64)>, GameError> {
    let fault = |what: String| GameError::data(path, what);
    let text = limits::read_list(path).map_err(GameError::file(path))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|e| fault(e.to_string()))?;
    if !header.iter().eq(columns.iter().copied()) {
        let found: Vec<&str> = header.iter().collect();
        return Err(fault(format!(
            "the first line is `{}`; it must name the columns {}",
            found.join(","),
            columns.join(",")
        )));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|e| fault(e.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let at = |column: usize, what: &str| {
            let (name, text) = (COLUMNS[column], record.get(column).unwrap_or(""));
            fault(format!("line {line}, column {name}: `{text}` is {what}"))
        };
        let side = |first: usize| {
            let mut counts = [0; POINTS];
            for (k, count) in counts.iter_mut().enumerate() {
                let text = record.get(first + k).unwrap_or("");
                *count = text.parse().map_err(|_| at(first + k, "not a number of checkers"))?;
            }
            Side::new(counts).ok_or_else(|| at(first, "too many: this side has more than 15 checkers"))
        };
        let position = Position { own: side(0)?, opponent: side(POINTS)? };
        if position.own.is_empty() && position.opponent.is_empty() {
            return Err(at(0, "not a position: both sides are empty"));
        }
        let value = match record.get(SIDES).map(str::parse::<f64>) {
            None if columns.len() == SIDES => 0.0,
            Some(Ok(value)) if (-1.0..=1.0).contains(&value) => value,
            _ => return Err(at(SIDES, "not a value from −1 to 1")),
        };
        rows.push((position, value));
    }
    Ok(rows)
}

/// Samples positions, looks up their values and writes both to a file, with nine digits per value.
///
/// Positions are sampled in sequence, so a longer file with the same seed begins with the shorter one.
///
/// # Errors
/// Positions that the table does not hold, or an I/O error. An existing file then stays unchanged.
pub fn write_samples(
    table: &Table,
    distribution: Distribution,
    checkers: u8,
    count: u64,
    seed: u64,
    path: &Path,
) -> Result<(), TableError> {
    let mut fault = None;
    let mut rng = stream(seed, "bear-off positions", 0);
    let written = replace(path, |file| {
        let mut out = io::BufWriter::new(file);
        writeln!(out, "{}", COLUMNS.join(","))?;
        for _ in 0..count {
            let position = distribution.sample(checkers, &mut rng);
            match table.value(position) {
                Ok(value) => writeln!(out, "{},{},{value:.9}", position.own, position.opponent)?,
                Err(error) => {
                    fault = Some(error);
                    return Err(io::Error::other("a position has no value"));
                }
            }
        }
        out.flush()
    });
    match fault {
        Some(error) => Err(error),
        None => written.map_err(|source| TableError::File { path: path.into(), source }),
    }
}
