//! Table files with a checksum per block, memory-mapped when opened.
//!
//! | bytes | |
//! |---|---|
//! | 0 .. 16 | `adept bear-off 2` |
//! | 16 .. 104 | eleven 64-bit numbers: format, checkers, bits per value, rows, sides, bytes per block, start of the side rows, start of the checksums, start of the values, length of the file, checksum of everything from the side rows to the values |
//! | 104 .. 112 | checksum of the preceding 104 bytes |
//! | then | the row of each side by rank, 16 bits each; the checksum of each block; the values as in memory, starting at a multiple of 4096 |
//!
//! All numbers are little-endian. Checksums are 64-bit XXH3.

use super::error::TableError;
use super::mapped::Mapped;
use super::order::GROUP;
use super::table::{Precision, Seconds, Storage, Table, timed};
use crate::bearoff::{MAX_CHECKERS, rank};
use adept_ground::files::replace_large;
use memmap2::Mmap;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// Version of the table file format.
const FORMAT: u64 = 1;

const MAGIC: &[u8; 16] = b"adept bear-off 2";
const FIELDS: usize = 11;
const HEADER: usize = MAGIC.len() + 8 * FIELDS + 8;

/// Bytes per block.
const BLOCK: usize = 1 << 20;

impl Table {
    /// Opens a table file. Blocks are checked when first read.
    ///
    /// # Errors
    /// An unreadable file, or a file that is not a complete table of this format.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        read(path)
    }

    /// Writes the table to a file under a temporary name, then syncs and renames it.
    ///
    /// # Errors
    /// An I/O error. An existing file then stays unchanged.
    pub fn save(&self, path: &Path) -> Result<Seconds, TableError> {
        let (result, time) = timed(|| store(self, path));
        result.map(|()| time)
    }
}

fn read(path: &Path) -> Result<Table, TableError> {
    let file_error = |source| TableError::File { path: path.into(), source };
    let format_error = |what: String| TableError::Format { path: path.into(), what };
    if cfg!(target_endian = "big") {
        return Err(format_error("table files can be opened on little-endian machines only".into()));
    }
    let file = File::open(path).map_err(file_error)?;
    if !file.metadata().map_err(file_error)?.is_file() {
        return Err(format_error("this is not a file: name the file of a table".into()));
    }
    // SAFETY: if another process changes the file while it is mapped, reads give other numbers, which checksums detect.
    // If it truncates the file, this process ends. Table files are replaced as a whole, never changed.
    let map = unsafe { Mmap::map(&file) }.map_err(file_error)?;
    if !map.starts_with(MAGIC) {
        return Err(format_error("this is not an adept table; build one with `adept oracle build`".into()));
    }
    let truncated = |expected: u64| {
        format_error(format!(
            "the file has {} bytes instead of {expected}; build the table again with `adept oracle build`",
            map.len()
        ))
    };
    if map.len() < HEADER {
        return Err(truncated(HEADER as u64));
    }
    let word = |at: usize| u64::from_le_bytes(std::array::from_fn(|k| map[at + k]));
    let fields: [u64; FIELDS] = std::array::from_fn(|k| word(MAGIC.len() + 8 * k));
    let [format, checkers, bits, rows, sides, block, rows_at, sums_at, values_at, length, index_sum] = fields;
    if format != FORMAT {
        return Err(format_error(format!(
            "the file has table format {format}, but this program reads format {FORMAT}; build the table again"
        )));
    }
    let damaged = |what: &str| {
        Err(format_error(format!("{what} is damaged; build the table again with `adept oracle build`")))
    };
    if word(HEADER - 8) != xxh3_64(&map[..HEADER - 8]) {
        return damaged("the header");
    }
    if map.len() as u64 != length {
        return Err(truncated(length));
    }
    let (Some(precision), true) =
        (Precision::of_bits(bits as u32), (1..=u64::from(MAX_CHECKERS)).contains(&checkers))
    else {
        return damaged("the header");
    };
    let checkers = checkers as u8;
    let [rows, sides, block, rows_at, sums_at, values_at] =
        [rows, sides, block, rows_at, sums_at, values_at].map(|field| field as usize);
    // The header must be consistent, because addresses depend on it.
    let bytes = map.len().saturating_sub(values_at);
    let fits = sides == rank::sides(checkers)
        && rows >= sides
        && rows <= usize::from(u16::MAX)
        && rows.is_multiple_of(GROUP)
        && bytes == precision.bytes(rows)
        && block == BLOCK
        && values_at.is_multiple_of(4096)
        && rows_at == HEADER
        && sums_at == rows_at + 2 * sides
        && values_at >= sums_at + 8 * bytes.div_ceil(block);
    if !fits {
        return damaged("the header");
    }
    let index = &map[rows_at..values_at];
    if xxh3_64(index) != index_sum {
        return damaged("the index");
    }
    let row_of: Vec<u16> =
        index[..2 * sides].as_chunks().0.iter().map(|&bytes| u16::from_le_bytes(bytes)).collect();
    if row_of.iter().any(|&row| usize::from(row) >= rows) {
        return damaged("the index");
    }
    let blocks = bytes.div_ceil(block);
    let sums = &index[sums_at - rows_at..][..8 * blocks];
    let sums: Vec<u64> = sums.as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
    let checked = (0..blocks).map(|_| AtomicBool::new(false)).collect();
    let values = values_at..map.len();
    let mapped = Mapped { map, path: path.into(), values, block, sums, checked };
    Ok(Table { checkers, precision, rows, row_of, storage: Storage::File(mapped) })
}

fn store(table: &Table, path: &Path) -> Result<(), TableError> {
    let values = match &table.storage {
        Storage::Memory(map, start) => &map[*start..start + table.bytes() as usize],
        Storage::File(mapped) => {
            mapped.check_all()?;
            mapped.values()
        }
    };
    write(table, values, path).map_err(|source| TableError::File { path: path.into(), source })
}

fn write(table: &Table, values: &[u8], path: &Path) -> io::Result<()> {
    let about = About {
        checkers: table.checkers,
        precision: table.precision,
        rows: table.rows,
        row_of: &table.row_of,
        bytes: values.len(),
    };
    let sums: Vec<u64> = values.par_chunks(BLOCK).map(xxh3_64).collect();
    let (header, index) = about.head(&sums)?;
    replace_large(path, |file| {
        file.write_all(&header)?;
        file.write_all(&index)?;
        values.chunks(8 * BLOCK).try_for_each(|chunk| file.write_all(chunk))
    })
}

/// What a file says of its table.
pub(super) struct About<'a> {
    pub(super) checkers: u8,
    pub(super) precision: Precision,
    pub(super) rows: usize,
    pub(super) row_of: &'a [u16],
    /// Bytes of the values.
    pub(super) bytes: usize,
}

impl About<'_> {
    /// The header, and the index up to the values.
    fn head(&self, sums: &[u64]) -> io::Result<(Vec<u8>, Vec<u8>)> {
        if cfg!(target_endian = "big") {
            return Err(io::Error::other("table files can be written on little-endian machines only"));
        }
        let mut index: Vec<u8> = Vec::new();
        index.extend(self.row_of.iter().flat_map(|row| row.to_le_bytes()));
        index.extend(sums.iter().flat_map(|sum| sum.to_le_bytes()));
        let values_at = (HEADER + index.len()).next_multiple_of(4096);
        index.resize(values_at - HEADER, 0);
        let fields: [u64; FIELDS] = [
            FORMAT,
            self.checkers.into(),
            self.precision.bits().into(),
            self.rows as u64,
            self.row_of.len() as u64,
            BLOCK as u64,
            HEADER as u64,
            (HEADER + 2 * self.row_of.len()) as u64,
            values_at as u64,
            (values_at + self.bytes) as u64,
            xxh3_64(&index),
        ];
        let mut header = MAGIC.to_vec();
        header.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
        header.extend(xxh3_64(&header).to_le_bytes());
        Ok((header, index))
    }

    /// Writes a table whose values come piece by piece: `pieces` hands them to the function that it is given.
    pub(super) fn write_pieces(
        &self,
        path: &Path,
        pieces: impl FnOnce(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> io::Result<()> {
        let blocks = self.bytes.div_ceil(BLOCK);
        // The checksums, which stand before the values, are known after them.
        let (header, index) = self.head(&vec![0; blocks])?;
        replace_large(path, |file| {
            file.seek(SeekFrom::Start((header.len() + index.len()) as u64))?;
            let (mut sums, mut block, mut filled) = (Vec::with_capacity(blocks), Xxh3Default::new(), 0);
            pieces(&mut |mut piece| {
                file.write_all(piece)?;
                while !piece.is_empty() {
                    let (now, later) = piece.split_at(piece.len().min(BLOCK - filled));
                    block.update(now);
                    filled += now.len();
                    piece = later;
                    if filled == BLOCK {
                        sums.push(block.digest());
                        (block, filled) = (Xxh3Default::new(), 0);
                    }
                }
                Ok(())
            })?;
            if filled > 0 {
                sums.push(block.digest());
            }
            let (header, index) = self.head(&sums)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&header)?;
            file.write_all(&index)
        })
    }
}
