//! Two-sided files of GNU Backgammon, as `makebearoff` writes and `gnubg` reads them.
//!
//! A header of 40 bytes, `gnubg-TS-PP-CC-K` and x up to a line break: P points, at most C checkers a side, K 1
//! for entries of four numbers (cubeless, then with the cube owned, in the middle, with the opponent), 0 for
//! cubeless ones alone. Then the entry of (own, opponent), own to roll, at own · n + opponent, with the ranks of
//! [`Side::rank`]; numbers of 16 bits, little-endian, u ↦ u / 32767.5 − 1.

use super::file::replace;
use super::table::{Errors, Table, TableError};
use crate::bearoff::{MAX_CHECKERS, Position, Side, rank};
use memmap2::Mmap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

const HEADER: usize = 40;

/// Most checkers of an exported file: GNU Backgammon counts bytes in 32 bits.
pub const MOST_EXPORTED: u8 = 14;

/// A mapped two-sided file of six points.
#[derive(Debug)]
pub struct GnubgTable {
    map: Mmap,
    checkers: u8,
    numbers: usize,
}

impl GnubgTable {
    /// Maps a file.
    ///
    /// # Errors
    /// A file that cannot be read, is of another kind or number of points, or has not the size that its header says.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        let file = File::open(path).map_err(|source| TableError::File { path: path.into(), source })?;
        // SAFETY: whoever changes the file meanwhile changes the numbers or ends the process.
        let map =
            unsafe { Mmap::map(&file) }.map_err(|source| TableError::File { path: path.into(), source })?;
        let fault = |what: String| TableError::Format { path: path.into(), what };
        let kind = || fault("no two-sided file of GNU Backgammon for 6 points (`makebearoff -t 6xN`)".into());
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

    /// Most checkers of a side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// V of the side to roll, without the cube; none if the file does not hold the position.
    pub fn value(&self, position: Position) -> Option<f64> {
        let sides = rank::sides(self.checkers);
        let (own, opponent) = (position.own.rank(), position.opponent.rank());
        let held = own < sides && opponent < sides;
        let at = HEADER + (own * sides + opponent) * self.numbers * 2;
        held.then(|| f64::from(u16::from_le_bytes([self.map[at], self.map[at + 1]])) / 32767.5 - 1.0)
    }
}

impl Table {
    /// The differences to a file of GNU Backgammon over all pairs that both hold, both sides with a checker.
    ///
    /// # Errors
    /// As for [`Table::value`].
    pub fn compare_with_gnubg(&self, other: &GnubgTable) -> Result<Errors, TableError> {
        let sides = rank::sides(self.checkers().min(other.checkers()));
        let mut errors = Errors::default();
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

    /// Writes the cubeless values of all sides of at most `checkers` checkers in GNU Backgammon's format. The other
    /// three numbers of its files depend on the cube, which this table knows nothing of, so that the file says
    /// that it is cubeless. `gnubg` then looks cubeless values up in it, and refuses cubeful ones.
    ///
    /// # Errors
    /// More checkers than the table or a file can have, a damaged block, or what the system refused.
    pub fn export_to_gnubg(&self, checkers: u8, path: &Path) -> Result<(), TableError> {
        let fault = |what: String| TableError::Format { path: path.into(), what };
        if checkers < 1 || checkers > MOST_EXPORTED.min(self.checkers()) {
            return Err(fault(format!(
                "{checkers} checkers a side cannot be exported: the table has {}, and files of GNU Backgammon hold \
                 at most {MOST_EXPORTED}",
                self.checkers()
            )));
        }
        let sides = rank::sides(checkers);
        let mut damaged: Option<TableError> = None;
        let written = replace(path, |file| {
            let mut file = std::io::BufWriter::new(file);
            file.write_all(format!("gnubg-TS-06-{checkers:02}-0{:x<23}\n", "").as_bytes())?;
            let mut row = Vec::with_capacity(2 * sides);
            for own in 0..sides {
                row.clear();
                for opponent in 0..sides {
                    // As makebearoff has it where both are off.
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
