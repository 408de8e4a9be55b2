//! Errors of tables.

use super::lanes::Isa;
use crate::bearoff::{MAX_CHECKERS, Side};
use adept_game::GameError;
use std::path::PathBuf;

/// Errors of tables.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The number of checkers is out of range.
    #[error("a table holds sides of 1 to {MAX_CHECKERS} checkers, not {0}")]
    Checkers(u8),
    /// The machine lacks the requested instruction set.
    #[error("this machine has no {0:?}; it has {have:?}", have = Isa::available())]
    Isa(Isa),
    /// The machine has too little free memory.
    #[error(
        "a table of {checkers} checkers in {bits} bits needs {:.2} GB of memory, but {:.2} GB are free; use fewer \
         checkers{} or free memory", *needed as f64 / 1e9, *free as f64 / 1e9, if *bits > 16 { ", 16 bits" } else { "" }
    )]
    Memory {
        /// Largest number of checkers per side.
        checkers: u8,
        /// Bits per number.
        bits: u32,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
    },
    /// The machine has too little free memory for the three tables of the cube.
    #[error(
        "tables of {checkers} checkers with the cube need {:.2} GB of memory, but {:.2} GB are free: {}",
        *needed as f64 / 1e9, *free as f64 / 1e9, room(*most)
    )]
    CubeMemory {
        /// Largest number of checkers per side.
        checkers: u8,
        /// Bytes needed.
        needed: u64,
        /// Bytes free.
        free: u64,
        /// Largest number of checkers per side that fits, and the bytes that it needs.
        most: Option<(u8, u64)>,
    },
    /// The system did not provide memory or threads.
    #[error("{what}: {source}")]
    System {
        /// The request.
        what: &'static str,
        /// The system's error.
        source: std::io::Error,
    },
    /// A side has more checkers than the table.
    #[error("{side} has {} checkers, but the table allows at most {checkers}; solve one for {}", side.checkers(), side.checkers())]
    TooManyCheckers {
        /// The side.
        side: Side,
        /// Largest number of checkers per side of the table.
        checkers: u8,
    },
    /// Both sides of a position are empty.
    #[error("0,0,0,0,0,0/0,0,0,0,0,0 is not a position; one side needs a checker")]
    BothEmpty,
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A file has a wrong format.
    #[error("{}: {what}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// The fault and what to do.
        what: String,
    },
    /// A block of a file does not match its checksum.
    #[error(
        "{}: block {block} of {blocks} (bytes {start} to {end}) is damaged; build the table again",
        path.display()
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Index of the block, from 0.
        block: usize,
        /// Number of blocks.
        blocks: usize,
        /// First byte of the block in the file.
        start: u64,
        /// The byte after its last byte.
        end: u64,
    },
}

/// Says what fits into the free memory.
fn room(most: Option<(u8, u64)>) -> String {
    match most {
        Some((checkers, needed)) => {
            format!("room for {checkers} checkers a side, which need {:.2} GB", needed as f64 / 1e9)
        }
        None => "not even one checker a side fits".into(),
    }
}

impl From<TableError> for GameError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::File { path, source } => Self::File { path, source: source.into() },
            TableError::Format { .. } | TableError::Damaged { .. } => Self::Table(error.to_string()),
            TableError::Memory { .. } | TableError::CubeMemory { .. } | TableError::System { .. } => {
                Self::Memory(error.to_string())
            }
            _ => Self::new(error.to_string()),
        }
    }
}
