//! GNU Backgammon's two-sided files, as `makebearoff` writes them and `gnubg` reads them.
//!
//! The header has 40 bytes: `gnubg-TS-PP-CC-K`, then `x` up to a line break. P is the number of points and C the
//! largest number of checkers per side. K is 1 for entries of four numbers (cubeless, cube owned, cube centred, cube
//! with the opponent) and 0 for cubeless numbers alone. Numbers with the cube are those after rolling without a double.
//!
//! The entry of (own, opponent), own to roll, is at own · n + opponent, with the ranks of [`Side::rank`]. Numbers u are
//! little-endian with 16 bits and have the value u / 32767.5 − 1.

use super::error::TableError;
use super::table::{Table, TableErrors};
use crate::bearoff::{MAX_CHECKERS, Position, Side, rank};
use crate::doubling::CubeOwner;
use adept_ground::files::replace_large;
use memmap2::Mmap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

const HEADER: usize = 40;

/// Largest number of checkers of an exported file: GNU Backgammon counts bytes in 32 bits.
pub const MOST_EXPORTED: u8 = 14;

/// A memory-mapped two-sided file for six points.
#[derive(Debug)]
pub struct GnubgTable {
    map: Mmap,
    checkers: u8,
    numbers: usize,
}

impl GnubgTable {
    /// Opens and maps a file.
    ///
    /// # Errors
    /// An unreadable file, a file of another kind or number of points, or a size that does not match the header.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let file = File::open(path).map_err(|source| TableError::File { path: path.into(), source })?;
        // SAFETY: if another process changes the file, numbers change or this process ends.
        let map =
            unsafe { Mmap::map(&file) }.map_err(|source| TableError::File { path: path.into(), source })?;
        let fault = |what: String| TableError::Format { path: path.into(), what };
        let kind = || fault("not a two-sided GNU Backgammon file for 6 points (`makebearoff -t 6xN`)".into());
        let header = map.get(..HEADER).and_then(|h| std::str::from_utf8(h).ok()).ok_or_else(kind)?;
        let fields = header.strip_prefix("gnubg-TS-06-").ok_or_else(kind)?;
        let checkers: u8 = fields.get(..2).and_then(|c| c.parse().ok()).ok_or_else(kind)?;
        let numbers = match fields.get(2..4) {
            Some("-0") => 1,
            Some("-1") => 4,
            _ => return Err(kind()),
        };
        if !(1..=MAX_CHECKERS).contains(&checkers) {
            return Err(kind());
        }
        let expected = HEADER + rank::sides(checkers).pow(2) * numbers * 2;
        if map.len() != expected {
            return Err(fault(format!("{} bytes instead of the {expected} that its header says", map.len())));
        }
        Ok(Self { map, checkers, numbers })
    }

    /// Largest number of checkers per side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// Whether the file has numbers with the cube.
    pub fn has_cube(&self) -> bool {
        self.numbers == 4
    }

    /// Cubeless V of the side to roll. None if the file does not hold the position.
    pub fn value(&self, position: Position) -> Option<f64> {
        self.number(position, 0)
    }

    /// The equity of the side to roll without a double, per unit of the cube. None if the file does not hold it.
    pub fn no_double(&self, position: Position, owner: CubeOwner) -> Option<f64> {
        let number = match owner {
            CubeOwner::Own => 1,
            CubeOwner::Centred => 2,
            CubeOwner::Theirs => 3,
        };
        self.number(position, number)
    }

    /// A number of the entry of a position.
    fn number(&self, position: Position, number: usize) -> Option<f64> {
        let sides = rank::sides(self.checkers);
        let (own, opponent) = (position.own.rank(), position.opponent.rank());
        let held = own < sides && opponent < sides && number < self.numbers;
        let at = HEADER + ((own * sides + opponent) * self.numbers + number) * 2;
        held.then(|| f64::from(u16::from_le_bytes([self.map[at], self.map[at + 1]])) / 32767.5 - 1.0)
    }
}

impl Table {
    /// Compares this table with a GNU Backgammon file on all pairs of nonempty sides that both hold.
    ///
    /// # Errors
    /// As for [`Table::value`].
    pub fn compare_with_gnubg(&self, other: &GnubgTable) -> Result<TableErrors, TableError> {
        let sides = rank::sides(self.checkers().min(other.checkers()));
        let mut errors = TableErrors::default();
        for own in 1..sides {
            for opponent in 1..sides {
                let position = Position { own: Side::of_rank(own), opponent: Side::of_rank(opponent) };
                if let Some(value) = other.value(position) {
                    errors.add(self.value(position)? - value);
                }
            }
        }
        Ok(errors)
    }

    /// Writes the cubeless values of all sides with at most `checkers` checkers in GNU Backgammon's format. The header
    /// marks the file as cubeless, because this table has no cube values. `gnubg` then uses it for cubeless values and
    /// refuses cubeful lookups.
    ///
    /// # Errors
    /// Too many checkers for the table or the file format, a damaged block, or an I/O error.
    pub fn export_to_gnubg(&self, checkers: u8, path: &Path) -> Result<(), TableError> {
        let fault = |what: String| TableError::Format { path: path.into(), what };
        if checkers < 1 || checkers > MOST_EXPORTED.min(self.checkers()) {
            return Err(fault(format!(
                "{checkers} checkers per side cannot be exported; the table has {}, and GNU Backgammon files hold \
                 at most {MOST_EXPORTED}",
                self.checkers()
            )));
        }
        let sides = rank::sides(checkers);
        let mut damaged: Option<TableError> = None;
        let written = replace_large(path, |file| {
            let mut file = std::io::BufWriter::new(file);
            file.write_all(format!("gnubg-TS-06-{checkers:02}-0{:x<23}\n", "").as_bytes())?;
            let mut row = Vec::with_capacity(2 * sides);
            for own in 0..sides {
                row.clear();
                for opponent in 0..sides {
                    // Same value as makebearoff if both sides are empty.
                    let value = if own == 0 { Ok(1.0) } else { self.value_of_ranks(own, opponent) };
                    let value = match value {
                        Ok(value) => value,
                        Err(error) => {
                            let message = error.to_string();
                            damaged = Some(error);
                            return Err(std::io::Error::other(message));
                        }
                    };
                    let number = ((value + 1.0) * 32767.5 + 0.5).clamp(0.0, 65535.0) as u16;
                    row.extend(number.to_le_bytes());
                }
                file.write_all(&row)?;
            }
            file.flush()
        });
        match damaged {
            Some(error) => Err(error),
            None => written.map_err(|source| TableError::File { path: PathBuf::from(path), source }),
        }
    }
}
