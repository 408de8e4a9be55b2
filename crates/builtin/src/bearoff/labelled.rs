//! Labelled positions in CSV files: points and a value, or a Position ID and a probability of winning.
//!
//! The columns own1..own6 and opp1..opp6 hold the checkers on points 1 to 6 of the side to roll and of its opponent.
//! Alternatively, a column `position` (or `position_id`, `xgid`, `gnubg_id`) holds own/opponent, a gnubg Position ID or
//! an XGID. `value` holds V in [−1, 1] for the side to roll; `win`, `p_win` or `win_probability` holds its probability
//! of winning instead. See [`sheet`](adept_game::sheet) for the accepted file formats.

use super::two_sided::{Table, TableError};
use super::{Distribution, POINTS, Position, Side, Situation};
use adept_game::files::POSITION;
use adept_game::sheet::{Row, Sheet, Values};
use adept_game::{GameError, stream};
use adept_ground::files::replace_large;
use std::io::{self, Write};
use std::path::Path;

/// The columns of files written here.
pub const COLUMNS: [&str; 2 * POINTS + 1] =
    ["own1", "own2", "own3", "own4", "own5", "own6", "opp1", "opp2", "opp3", "opp4", "opp5", "opp6", "value"];

/// Number of position columns.
const SIDES: usize = 2 * POINTS;

/// The columns that hold the positions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// The columns own1..own6, opp1..opp6.
    Points([usize; SIDES]),
    /// A column of texts.
    Text(usize),
}

impl Places {
    /// Finds the position columns; none if the table has no positions.
    ///
    /// # Errors
    /// Two columns of the same name, or only some of the points.
    pub(super) fn find(sheet: &Sheet) -> Result<Option<Self>, GameError> {
        let mut points = [0; SIDES];
        let mut missing = Vec::new();
        for (place, name) in points.iter_mut().zip(COLUMNS) {
            match sheet.column(&[name])? {
                Some(column) => *place = column,
                None => missing.push(name),
            }
        }
        if missing.is_empty() {
            return Ok(Some(Self::Points(points)));
        }
        match sheet.column(&POSITION)? {
            Some(column) => Ok(Some(Self::Text(column))),
            None if missing.len() == SIDES => Ok(None),
            None => Err(sheet.fault(&format!("lacks the columns {}", missing.join(",")))),
        }
    }

    /// Indices of the columns.
    pub(super) fn columns(&self) -> &[usize] {
        match self {
            Self::Points(columns) => columns,
            Self::Text(column) => std::slice::from_ref(column),
        }
    }

    /// The position of a row, before a roll.
    ///
    /// # Errors
    /// The line and column of the fault, and what was expected.
    pub(super) fn of_row(&self, row: &Row<'_>) -> Result<Position, GameError> {
        let (position, first) = match self {
            Self::Points(columns) => (points(row, columns)?, columns[0]),
            Self::Text(column) => (text(row, row.text(*column))?, *column),
        };
        if position.own.is_empty() && position.opponent.is_empty() {
            return Err(row.fault_at(first, "not a position: both sides are empty"));
        }
        Ok(position)
    }
}

fn points(row: &Row<'_>, columns: &[usize; SIDES]) -> Result<Position, GameError> {
    let side = |columns: &[usize]| {
        let mut counts = [0; POINTS];
        for (count, column) in counts.iter_mut().zip(columns) {
            // Accept floats such as 2.0, which some programs write.
            let number = row.number(*column).filter(|n| n.fract() == 0.0 && (0.0..=255.0).contains(n));
            *count = number.ok_or_else(|| row.fault_at(*column, "not a number of checkers"))? as u8;
        }
        Side::new(counts)
            .ok_or_else(|| row.fault_at(columns[0], "too many: this side has more than 15 checkers"))
    };
    let (own, opponent) = columns.split_at(POINTS);
    Ok(Position { own: side(own)?, opponent: side(opponent)? })
}

fn text(row: &Row<'_>, text: &str) -> Result<Position, GameError> {
    let Situation { position, roll } = text.parse().map_err(|e: GameError| row.fault(&e.to_string()))?;
    match roll {
        None => Ok(position),
        Some(roll) => Err(row.fault(&format!(
            "`{text}` has the roll {roll}; values are those of positions before the roll: leave the dice out, or write 00"
        ))),
    }
}

/// A labelled position of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Labelled {
    /// The position.
    pub position: Position,
    /// V for the side to roll, in [−1, 1].
    pub value: f64,
    /// Line in the file, from 1.
    pub line: u64,
}

/// Reads the positions of a file and their values.
///
/// # Errors
/// The file, line and column of the fault, and what was expected.
pub fn read(path: &Path) -> Result<Vec<Labelled>, GameError> {
    read_checked(path, |_| Ok(()))
}

/// [`read`] with a check, which says why a position is refused.
pub(super) fn read_checked(
    path: &Path,
    check: impl Fn(Position) -> Result<(), String>,
) -> Result<Vec<Labelled>, GameError> {
    let sheet = Sheet::read(path)?;
    let (Some(places), Some(values)) = (Places::find(&sheet)?, Values::of(&sheet)?) else {
        return Err(sheet.fault(&format!(
            "the first line is `{}`; it must name the columns {} (or position_id in place of points, and win in place of value)",
            sheet.shown_names(),
            COLUMNS.join(",")
        )));
    };
    sheet.note_ignored(&[places.columns(), &[values.column()]].concat());
    let labelled = |row: Result<Row<'_>, GameError>| {
        let row = row?;
        let position = places.of_row(&row)?;
        check(position).map_err(|why| row.fault(&why))?;
        Ok(Labelled { position, value: values.of_row(&row)?, line: row.line })
    };
    sheet.rows().map(labelled).collect()
}

/// Samples positions, looks up their values and writes both to a file, with nine digits per value.
///
/// Sampling is sequential, so a longer file with the same seed begins with the shorter one.
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
    let written = replace_large(path, |file| {
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
