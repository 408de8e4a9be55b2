//! Tables in memory or mapped from a file: lookups.

use super::error::<<<---TableError|||SAMPLE;
use super::file::{About, Mapped}===SAMPLE;
use super::file::{Mapped, TableHeader}--->>>;
use super::grid::{Cell, Grid};
use super::mapped::Mapped;
use crate::bearoff::{DicePosition, Position, Side, rank};
use crate::memory::fetch;
use memmap2::MmapMut;
use std::time::{Duration, Instant};

/// Number format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// 16 bits, V · 32767: within 4.5e-5 of the exact value.
    Bits16,
    /// 32-bit floats: within 1e-6.
    Bits32,
    /// 64-bit floats.
    Bits64,
}

impl Precision {
    /// Bits per number.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits16 => 16,
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }

    /// The precision with this number of bits.
    pub fn of_bits(bits: u32) -> Option<Self> {
        [Self::Bits16, Self::Bits32, Self::Bits64].into_iter().find(|p| p.bits() == bits)
    }

    /// Bytes of a table with this number of rows.
    pub fn bytes(self, rows: usize) -> usize {
        match self {
            Self::Bits16 => Grid::<i16>::bytes(rows),
            Self::Bits32 => Grid::<f32>::bytes(rows),
            Self::Bits64 => Grid::<f64>::bytes(rows),
        }
    }
}

/// Duration of one step, in seconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    /// Wall-clock time.
    pub wall: f64,
    /// CPU time of all cores.
    pub cpu: f64,
}

/// Runs a step and measures its duration.
pub(super) fn timed<T>(step: impl FnOnce() -> T) -> (T, Seconds) {
    let clock = Instant::now();
    #[cfg(not(target_family = "wasm"))]
    let start = cpu_time::ProcessTime::now();
    let result = step();
    // Without a CPU clock, CPU time is 0.
    #[cfg(not(target_family = "wasm"))]
    let cpu = start.try_elapsed().unwrap_or(Duration::ZERO);
    #[cfg(target_family = "wasm")]
    let cpu = Duration::ZERO;
    (result, Seconds { wall: clock.elapsed().as_secs_f64(), cpu: cpu.as_secs_f64() })
}

<<<---|||/// Durations of the steps of a solution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// List moves and order sides.
    pub moves: Seconds,
    /// Allocate memory and touch each page once.
    pub memory: Seconds,
    /// Solve all levels.
    pub solve: Seconds,
}

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

impl From<TableError> for GameError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::File { path, source } => Self::File { path, source: source.into() },
            TableError::Format { .. } | TableError::Damaged { .. } => Self::Table(error.to_string()),
            TableError::Memory { .. } | TableError::System { .. } => Self::Memory(error.to_string()),
            _ => Self::new(error.to_string()),
        }
    }
}

/// A table that was solved by several ranks, as one of them sees it.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// Durations on this rank.
    pub timings: Timings,
    /// Of writing the file.
    pub write: Seconds,
    /// Number of pairs of nonempty sides.
    pub pairs: u64,
    /// Bytes of the table.
    pub bytes: u64,
    /// Bytes of the part of this rank.
    pub own_bytes: u64,
    /// Most bytes of the values that were being exchanged.
    pub exchange_bytes: u64,
}

===/// Durations of the steps of a solution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// List moves and order sides.
    pub moves: Seconds,
    /// Allocate memory and touch each page once.
    pub memory: Seconds,
    /// Solve all levels.
    pub solve: Seconds,
}

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

impl From<TableError> for GameError {
    fn from(error: TableError) -> Self {
        match error {
            TableError::File { path, source } => Self::File { path, source: source.into() },
            TableError::Format { .. } | TableError::Damaged { .. } => Self::Table(error.to_string()),
            TableError::Memory { .. } | TableError::System { .. } => Self::Memory(error.to_string()),
            _ => Self::new(error.to_string()),
        }
    }
}

/// One rank's view of a table solved by several ranks.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    /// Durations on this rank.
    pub timings: Timings,
    /// Duration of writing the file.
    pub write: Seconds,
    /// Number of pairs of nonempty sides.
    pub pairs: u64,
    /// Bytes of the table.
    pub bytes: u64,
    /// Bytes of this rank's part.
    pub own_bytes: u64,
    /// Largest number of bytes in exchange buffers.
    pub exchange_bytes: u64,
}

--->>>/// Statistics of the differences between a table and given values.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableErrors {
    /// Number of compared values.
    pub rows: u64,
    /// Largest absolute difference.
    pub max: f64,
    /// Sum of the squared differences.
    pub squares: f64,
}

impl TableErrors {
    /// Adds one difference.
    pub fn add(&mut self, difference: f64) {
        self.rows += 1;
        // NaN counts as the largest difference, above any tolerance.
        let difference = difference.abs();
        if difference > self.max || difference.is_nan() {
            self.max = difference;
        }
        self.squares += difference * difference;
    }

    /// Combines both statistics.
    pub fn and(self, other: Self) -> Self {
        let (rows, squares) = (self.rows + other.rows, self.squares + other.squares);
        let max = if self.max <= other.max || other.max.is_nan() { other.max } else { self.max };
        Self { rows, max, squares }
    }

    /// Root mean square; 0 without values.
    pub fn rms(self) -> f64 {
        if self.rows == 0 { 0.0 } else { (self.squares / self.rows as f64).sqrt() }
    }
}

/// The exact values of all pairs of sides with at most a given number of checkers.
///
/// Lookups take `&self` and can run on many threads.
#[derive(Debug)]
pub struct Table {
    pub(super) checkers: u8,
    pub(super) precision: Precision,
    pub(super) rows: usize,
    /// Row of a side, by rank.
    pub(super) row_of: Vec<u16>,
    pub(super) storage: Storage,
}

/// Storage of the numbers.
#[derive(Debug)]
pub(super) enum Storage {
    /// In memory. The numbers start at this byte of the map.
    Memory(MmapMut, usize),
    /// In a file.
    File(Mapped),
}

impl Table {
<<<---|||    /// Solves a table in memory. Calls `progress` after each level.
    ///
    /// # Errors
    /// A number of checkers outside 1 to 15, an instruction set that is not available, too little memory, or a system
    /// error.
    pub fn solve(
        settings: Settings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Self, Timings), TableError> {
        let Settings { checkers, precision, threads, isa, shorten } = settings;
        if !(1..=MAX_CHECKERS).contains(&checkers) {
            return Err(TableError::Checkers(checkers));
        }
        // All code for an instruction set depends on this check.
        if !Isa::available().contains(&isa) {
            return Err(TableError::Isa(isa));
        }
        check_memory(checkers, precision, limits::free_memory())?;
        let shorten = precision == Precision::Bits16
            && shorten.unwrap_or(rank::sides(checkers) >= FEWEST_SIDES_TO_SHORTEN);
        let threads = if rank::sides(checkers) < FEWEST_SIDES_TO_SHARE { 1 } else { threads };
        let team = Team::new(threads).map_err(|e| refused("starting threads")(e.into()))?;
        let ((order, moves), moves_time) = timed(|| order_and_moves(checkers, shorten));
        let rows = order.sides.len();
        let (memory, memory_time) = timed(|| allocate(precision.bytes(rows), &team));
        let (mut map, start) = memory.map_err(|e| refused("memory for the table")(e.into()))?;
        let method = Method { isa, shorten, sample: SAMPLE };
        let at = map[start..].as_mut_ptr();
        let ((), solve_time) = timed(|| {
            // SAFETY: the map has the size of the table, is aligned to a line, is zero and belongs to this call.
            unsafe {
                match precision {
                    Precision::Bits16 => {
                        i16::solve(Grid::new(at.cast(), rows), &order, &moves, method, &team, progress);
                    }
                    Precision::Bits32 => {
                        f32::solve(Grid::new(at.cast(), rows), &order, &moves, method, &team, progress);
                    }
                    Precision::Bits64 => {
                        f64::solve(Grid::new(at.cast(), rows), &order, &moves, method, &team, progress);
                    }
                }
            }
        });
        let Order { row_of, .. } = order;
        let table = Self { checkers, precision, rows, row_of, storage: Storage::Memory(map, start) };
        Ok((table, Timings { moves: moves_time, memory: memory_time, solve: solve_time }))
    }

    /// Solves a table that is spread over ranks, each with the columns of its strips, and writes it to a file. All ranks call it.
    /// The file has the same bytes on any number of ranks. Calls `progress` after each level.
    ///
    /// # Errors
    /// As [`Table::solve`] and [`Table::save`], on the rank that fails: the others then wait for it.
    pub fn solve_spread(
        settings: Settings,
        ranks: &Ranks,
        path: Option<&Path>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Shared, TableError> {
        let Settings { checkers, precision, threads, isa, shorten } = settings;
        if !(1..=MAX_CHECKERS).contains(&checkers) {
            return Err(TableError::Checkers(checkers));
        }
        if !Isa::available().contains(&isa) {
            return Err(TableError::Isa(isa));
        }
        check_memory_of_ranks(checkers, precision, ranks)?;
        let shorten = precision == Precision::Bits16
            && shorten.unwrap_or(rank::sides(checkers) >= FEWEST_SIDES_TO_SHORTEN);
        let threads = if rank::sides(checkers) < FEWEST_SIDES_TO_SHARE { 1 } else { threads };
        let ((order, moves), moves_time) = timed(|| order_and_moves(checkers, shorten));
        let rows = order.sides.len();
        let lines = rows / (LINE_BYTES * 8 / precision.bits() as usize);
        let spread = Spread::new(ranks.clone(), lines);
        let strip = rows * STRIP_LINES * LINE_BYTES;
        let bytes = spread.own_strips() * strip;
        let team = Team::new(threads).map_err(|e| refused("starting threads")(e.into()))?;
        let (memory, memory_time) = timed(|| allocate(bytes, &team));
        let (mut map, start) = memory.map_err(|e| refused("memory for the table")(e.into()))?;
        let method = Method { isa, shorten, sample: SAMPLE };
        let at = map[start..].as_mut_ptr();
        let (short, single, double) =
            (spread.grid(at.cast(), rows), spread.grid(at.cast(), rows), spread.grid(at.cast(), rows));
        let team = team.spread(spread);
        let ((), solve_time) = timed(|| {
            // SAFETY: the map has the size of this rank's strips, is aligned to a line, is zero and belongs to this call.
            unsafe {
                match precision {
                    Precision::Bits16 => i16::solve(short, &order, &moves, method, &team, progress),
                    Precision::Bits32 => f32::solve(single, &order, &moves, method, &team, progress),
                    Precision::Bits64 => f64::solve(double, &order, &moves, method, &team, progress),
                }
            }
        });
        let values = &map[start..start + bytes];
        let about = About { checkers, precision, rows, row_of: &order.row_of, bytes: precision.bytes(rows) };
        let spread = team.among_ranks();
        let write = |path: &Path| -> Result<(), TableError> {
            let Some(spread) = &spread else { return Ok(()) };
            let written = match ranks.is_first() {
                true => about.write_pieces(path, |put| spread.hand_over(values, strip, put)),
                false => spread.hand_over(values, strip, |_| Ok(())),
            };
            written.map_err(|source| TableError::File { path: path.into(), source })
        };
        let (written, write_time) = timed(|| path.map_or(Ok(()), write));
        written?;
        Ok(Shared {
            timings: Timings { moves: moves_time, memory: memory_time, solve: solve_time },
            write: write_time,
            pairs: (rank::sides(checkers) as u64 - 1).pow(2),
            bytes: precision.bytes(rows) as u64,
            own_bytes: bytes as u64,
            exchange_bytes: spread.as_ref().map_or(0, |spread| spread.boxes()) as u64,
        })
    }

    /// Opens a table file. Blocks are checked when first read.
    ///
    /// # Errors
    /// An unreadable file, or a file that is not a complete table of this format.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        super::file::open(path)
    }

    /// Writes the table to a file under a temporary name, then syncs and renames it.
    ///
    /// # Errors
    /// An I/O error. An existing file then stays unchanged.
    pub fn save(&self, path: &Path) -> Result<Seconds, TableError> {
        let (result, time) = timed(|| super::file::save(self, path));
        result.map(|()| time)
    }

===    /// Solves a table in memory. Calls `progress` after each level.
    ///
    /// # Errors
    /// A number of checkers outside 1 to 15, an instruction set that is not available, too little memory, or a system
    /// error.
    pub fn solve(
        settings: Settings,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Self, Timings), TableError> {
        let Settings { checkers, precision, threads, isa, shorten } = settings;
        if !(1..=MAX_CHECKERS).contains(&checkers) {
            return Err(TableError::Checkers(checkers));
        }
        // The instruction set dispatch relies on this check.
        if !Isa::available().contains(&isa) {
            return Err(TableError::Isa(isa));
        }
        check_memory(checkers, precision, limits::free_memory())?;
        let shorten = precision == Precision::Bits16
            && shorten.unwrap_or(rank::sides(checkers) >= FEWEST_SIDES_TO_SHORTEN);
        let threads = if rank::sides(checkers) < FEWEST_SIDES_TO_SHARE { 1 } else { threads };
        let team = Team::new(threads).map_err(|e| refused("starting threads")(e.into()))?;
        let ((order, moves), moves_time) = timed(|| order_and_moves(checkers, shorten));
        let rows = order.sides.len();
        let (memory, memory_time) = timed(|| allocate(precision.bytes(rows), &team));
        let (mut map, start) = memory.map_err(|e| refused("memory for the table")(e.into()))?;
        let method = Method { isa, shorten, sample: SAMPLE };
        let at = map[start..].as_mut_ptr();
        let ((), solve_time) = timed(|| {
            // SAFETY: the map has the size of the table, is aligned to a line, is zero and belongs to this call.
            unsafe {
                match precision {
                    Precision::Bits16 => {
                        i16::solve(Grid::new(at.cast(), rows), &order, &moves, method, &team, progress);
                    }
                    Precision::Bits32 => {
                        f32::solve(Grid::new(at.cast(), rows), &order, &moves, method, &team, progress);
                    }
                    Precision::Bits64 => {
                        f64::solve(Grid::new(at.cast(), rows), &order, &moves, method, &team, progress);
                    }
                }
            }
        });
        let Order { row_of, .. } = order;
        let table = Self { checkers, precision, rows, row_of, storage: Storage::Memory(map, start) };
        Ok((table, Timings { moves: moves_time, memory: memory_time, solve: solve_time }))
    }

    /// Solves a table that is spread over ranks, each with the columns of its strips, and writes it to a file. All ranks call it.
    /// The file has the same bytes on any number of ranks. Calls `progress` after each level.
    ///
    /// # Errors
    /// As [`Table::solve`] and [`Table::save`], on the rank that fails: the others then wait for it.
    pub fn solve_spread(
        settings: Settings,
        ranks: &Ranks,
        path: Option<&Path>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Shared, TableError> {
        let Settings { checkers, precision, threads, isa, shorten } = settings;
        if !(1..=MAX_CHECKERS).contains(&checkers) {
            return Err(TableError::Checkers(checkers));
        }
        if !Isa::available().contains(&isa) {
            return Err(TableError::Isa(isa));
        }
        check_memory_of_ranks(checkers, precision, ranks)?;
        let shorten = precision == Precision::Bits16
            && shorten.unwrap_or(rank::sides(checkers) >= FEWEST_SIDES_TO_SHORTEN);
        let threads = if rank::sides(checkers) < FEWEST_SIDES_TO_SHARE { 1 } else { threads };
        let ((order, moves), moves_time) = timed(|| order_and_moves(checkers, shorten));
        let rows = order.sides.len();
        let lines = rows / (LINE_BYTES * 8 / precision.bits() as usize);
        let spread = Spread::new(ranks.clone(), lines);
        let strip = rows * STRIP_LINES * LINE_BYTES;
        let bytes = spread.own_strips() * strip;
        let team = Team::new(threads).map_err(|e| refused("starting threads")(e.into()))?;
        let (memory, memory_time) = timed(|| allocate(bytes, &team));
        let (mut map, start) = memory.map_err(|e| refused("memory for the table")(e.into()))?;
        let method = Method { isa, shorten, sample: SAMPLE };
        let at = map[start..].as_mut_ptr();
        let (short, single, double) =
            (spread.grid(at.cast(), rows), spread.grid(at.cast(), rows), spread.grid(at.cast(), rows));
        let team = team.spread(spread);
        let ((), solve_time) = timed(|| {
            // SAFETY: the map has the size of this rank's strips, is aligned to a line, is zero and belongs to this call.
            unsafe {
                match precision {
                    Precision::Bits16 => i16::solve(short, &order, &moves, method, &team, progress),
                    Precision::Bits32 => f32::solve(single, &order, &moves, method, &team, progress),
                    Precision::Bits64 => f64::solve(double, &order, &moves, method, &team, progress),
                }
            }
        });
        let values = &map[start..start + bytes];
        let about =
            TableHeader { checkers, precision, rows, row_of: &order.row_of, bytes: precision.bytes(rows) };
        let spread = team.among_ranks();
        let write = |path: &Path| -> Result<(), TableError> {
            let Some(spread) = &spread else { return Ok(()) };
            let written = match ranks.is_first() {
                true => about.write_pieces(path, |put| spread.hand_over(values, strip, put)),
                false => spread.hand_over(values, strip, |_| Ok(())),
            };
            written.map_err(|source| TableError::File { path: path.into(), source })
        };
        let (written, write_time) = timed(|| path.map_or(Ok(()), write));
        written?;
        Ok(Shared {
            timings: Timings { moves: moves_time, memory: memory_time, solve: solve_time },
            write: write_time,
            pairs: (rank::sides(checkers) as u64 - 1).pow(2),
            bytes: precision.bytes(rows) as u64,
            own_bytes: bytes as u64,
            exchange_bytes: spread.as_ref().map_or(0, |spread| spread.boxes()) as u64,
        })
    }

    /// Opens a table file. Blocks are checked when first read.
    ///
    /// # Errors
    /// An unreadable file, or a file that is not a complete table of this format.
    pub fn open(path: &Path) -> Result<Self, TableError> {
        super::file::open(path)
    }

    /// Writes the table to a file under a temporary name, then syncs and renames it.
    ///
    /// # Errors
    /// An I/O error. An existing file then stays unchanged.
    pub fn save(&self, path: &Path) -> Result<Seconds, TableError> {
        let (result, time) = timed(|| super::file::save(self, path));
        result.map(|()| time)
    }

--->>>    /// Checks every block of a file. Tables in memory have no blocks.
    ///
    /// # Errors
    /// The first damaged block.
    pub fn verify(&self) -> Result<(), TableError> {
        match &self.storage {
            Storage::Memory(..) => Ok(()),
            Storage::File(mapped) => mapped.check_all(),
        }
    }

    /// Largest number of checkers per side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// Its number format.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Number of pairs of nonempty sides.
    pub fn pairs(&self) -> u64 {
        (rank::sides(self.checkers) as u64 - 1).pow(2)
    }

    /// Bytes of the numbers, including padding.
    pub fn bytes(&self) -> u64 {
        self.precision.bytes(self.rows) as u64
    }

    /// V = P(win) − P(lose) of the side to roll, in [−1, 1]. 1 if this side has borne off, −1 if the other side has.
    ///
    /// # Errors
    /// Too many checkers, no checkers on both sides, or a damaged block.
    #[inline]
    pub fn value(&self, position: Position) -> Result<f64, TableError> {
        if position.own.is_empty() && position.opponent.is_empty() {
            return Err(TableError::BothEmpty);
        }
        // `0.0 - x` instead of `-x`, which would turn 0 into −0.
        Ok(0.0 - self.cell(self.row(position.opponent)?, self.row(position.own)?)?)
    }

    /// Prefetches the memory that [`value`](Self::value) will read.
    #[inline]
    pub fn fetch(&self, position: Position) {
        let (Ok(row), Ok(column)) = (self.row(position.opponent), self.row(position.own)) else { return };
        let (place, bytes) = match self.precision {
            Precision::Bits16 => (Grid::<i16>::place(self.rows, row, column), 2),
            Precision::Bits32 => (Grid::<f32>::place(self.rows, row, column), 4),
            Precision::Bits64 => (Grid::<f64>::place(self.rows, row, column), 8),
        };
        match &self.storage {
            Storage::Memory(map, start) => fetch(&map[start + place * bytes..][..1]),
            Storage::File(mapped) => mapped.fetch(place * bytes),
        }
    }

    /// Replaces `values` by the afterstates of a decision and their values to the side that moves, best first. Equal
    /// values are in ascending order of sides.
    ///
    /// # Errors
    /// Same as [`Table::value`].
    pub fn moves(&self, decision: DicePosition, values: &mut Vec<(Side, f64)>) -> Result<(), TableError> {
        let mut afterstates = Vec::with_capacity(128);
        decision.afterstates(&mut afterstates);
        let column = self.row(decision.position.opponent)?;
        self.row(decision.position.own)?;
        values.clear();
        for side in afterstates {
            values.push((side, self.cell(self.row(side)?, column)?));
        }
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(())
    }

    /// V of the side with rank `own`, to roll, against the side with rank `opponent`. Both are in the table.
    pub(super) fn value_of_ranks(&self, own: usize, opponent: usize) -> Result<f64, TableError> {
        Ok(0.0 - self.cell(self.row_of[opponent].into(), self.row_of[own].into())?)
    }

    #[inline]
    fn row(&self, side: Side) -> Result<usize, TableError> {
        match self.row_of.get(side.rank()) {
            Some(&row) => Ok(usize::from(row)),
            None => Err(TableError::TooManyCheckers { side, checkers: self.checkers }),
        }
    }

    /// The value to the side that moved to `row` while the side of `column` is to roll.
    #[inline]
    fn cell(&self, row: usize, column: usize) -> Result<f64, TableError> {
        match self.precision {
            Precision::Bits16 => self.read::<i16>(Grid::<i16>::place(self.rows, row, column)),
            Precision::Bits32 => self.read::<f32>(Grid::<f32>::place(self.rows, row, column)),
            Precision::Bits64 => self.read::<f64>(Grid::<f64>::place(self.rows, row, column)),
        }
    }

    #[inline]
    fn read<T: Cell>(&self, place: usize) -> Result<f64, TableError> {
        let at = place * size_of::<T>();
        let bytes = match &self.storage {
            Storage::Memory(map, start) => &map[start + at..],
            Storage::File(mapped) => mapped.bytes_from(at)?,
        };
        // SAFETY: row and column are below the number of rows, so the index is in the table. Its numbers are aligned,
        // and any bits are a valid number.
        Ok(unsafe { bytes.as_ptr().cast::<T>().read() }.to_value())
    }

    /// Compares all pairs of nonempty sides with another table, which has at least as many checkers.
    ///
    /// # Errors
    /// Same as [`Table::value`].
    pub fn compare(&self, other: &Self) -> Result<TableErrors, TableError> {
        self.compare_with(|position| other.value(position))
    }

    /// Compares all pairs with the values of a function.
    ///
    /// # Errors
    /// Errors of [`Table::value`] and of the function.
    pub fn compare_with<E: From<TableError> + Send>(
        &self,
        value: impl Fn(Position) -> Result<f64, E> + Sync,
    ) -> Result<TableErrors, E> {
        use rayon::prelude::*;
        let sides = self.row_of.len();
        let differences = |own: usize| {
            let own = Side::of_rank(own);
            let mut errors = TableErrors::default();
            for opponent in 1..sides {
                let position = Position { own, opponent: Side::of_rank(opponent) };
                errors.add(self.value(position)? - value(position)?);
            }
            Ok(errors)
        };
        let all: Result<Vec<TableErrors>, E> = (1..sides).into_par_iter().map(differences).collect();
        Ok(all?.into_iter().fold(TableErrors::default(), TableErrors::and))
    }
}
<<<---|||
/// Checks that a table and some room for move lists fit into the free bytes, if they are known.
pub(super) fn check_memory(checkers: u8, precision: Precision, free: Option<u64>) -> Result<(), TableError> {
    let sides = rank::sides(checkers) as u64;
    // Each of at most 36 levels has padding of less than one group.
    let rows = sides as usize + 36 * GROUP;
    let needed = precision.bytes(rows) as u64 + sides * 1600;
    match free {
        Some(free) if free < needed => {
            Err(TableError::Memory { checkers, bits: precision.bits(), needed, free })
        }
        _ => Ok(()),
    }
}

/// The error of a system that refused `what`.
fn refused(what: &'static str) -> impl Fn(Box<dyn std::error::Error + Send + Sync>) -> TableError {
    move |source| TableError::System { what, source: std::io::Error::other(source) }
}

/// Checks on all ranks that each machine has room for the parts of its ranks. All of them fail where one does.
fn check_memory_of_ranks(checkers: u8, precision: Precision, ranks: &Ranks) -> Result<(), TableError> {
    let (sides, size) = (rank::sides(checkers) as u64, ranks.size() as u64);
    let share = (precision.bytes(sides as usize + 36 * GROUP) as u64).div_ceil(size);
    // The move lists, and an eighth for what is being exchanged.
    let needed = share + share / 8 + sides * 1600;
    let free = limits::free_memory();
    let node = ranks.link().node();
    let there =
        ranks.collect(node.as_bytes()).iter().filter(|other| **other == *node.as_bytes()).count() as u64;
    let lacks = free.filter(|free| *free < needed * there);
    let any = ranks.any(u8::from(lacks.is_some())) > 0;
    match lacks {
        Some(free) => {
            Err(TableError::Memory { checkers, bits: precision.bits(), needed: needed * there, free })
        }
        None if any => {
            let source = std::io::Error::other("the machine of another rank has too little");
            Err(TableError::System { what: "memory for the table", source })
        }
        None => Ok(()),
    }
}

/// Size of large pages, if the system has them.
const LARGE_PAGE: usize = 2 << 20;

/// What takes seconds for a large table, as it is shown.
const RESERVING: &str = "reserving memory";

/// Allocates zeroed, resident memory, in large pages if possible. Returns it with the start of an aligned table.
fn allocate(bytes: usize, team: &Team) -> std::io::Result<(MmapMut, usize)> {
    let mut map = MmapMut::map_anon(bytes + LARGE_PAGE)?;
    #[cfg(target_os = "linux")]
    {
        // This is only a hint.
        let _ = map.advise(memmap2::Advice::HugePage);
    }
    let start = map.as_ptr().align_offset(LARGE_PAGE);
    let pages: Vec<&mut [u8]> = map[start..start + bytes].chunks_mut(LARGE_PAGE).collect();
    let pages: Vec<std::sync::Mutex<&mut [u8]>> = pages.into_iter().map(std::sync::Mutex::new).collect();
    let (count, touched) = (pages.len(), AtomicUsize::new(0));
    let touch = |page: usize| {
        // Not from 0 on: it is not worth announcing.
        work::share(RESERVING, (touched.fetch_add(1, Ordering::Relaxed) + 1) as f64 / count as f64);
        let mut page = pages[page].lock().unwrap_or_else(|e| e.into_inner());
        page.iter_mut().step_by(4096).for_each(|byte| *byte = 0);
    };
    team.share(count, touch, || {});
    work::share(RESERVING, 1.0);
    Ok((map, start))
}
===
/// Checks that a table and space for move lists fit into the free memory, if known.
pub(super) fn check_memory(checkers: u8, precision: Precision, free: Option<u64>) -> Result<(), TableError> {
    let sides = rank::sides(checkers) as u64;
    // Each of at most 36 levels has padding of less than one group.
    let rows = sides as usize + 36 * GROUP;
    let needed = precision.bytes(rows) as u64 + sides * 1600;
    match free {
        Some(free) if free < needed => {
            Err(TableError::Memory { checkers, bits: precision.bits(), needed, free })
        }
        _ => Ok(()),
    }
}

/// Makes the error for a request `what` that the system refused.
fn refused(what: &'static str) -> impl Fn(Box<dyn std::error::Error + Send + Sync>) -> TableError {
    move |source| TableError::System { what, source: std::io::Error::other(source) }
}

/// Checks on all ranks that each machine has room for the parts of its ranks. If one rank fails, all do.
fn check_memory_of_ranks(checkers: u8, precision: Precision, ranks: &Ranks) -> Result<(), TableError> {
    let (sides, size) = (rank::sides(checkers) as u64, ranks.size() as u64);
    let share = (precision.bytes(sides as usize + 36 * GROUP) as u64).div_ceil(size);
    // The move lists, and an eighth for exchange buffers.
    let needed = share + share / 8 + sides * 1600;
    let free = limits::free_memory();
    let node = ranks.link().node();
    let there =
        ranks.collect(node.as_bytes()).iter().filter(|other| **other == *node.as_bytes()).count() as u64;
    let lacks = free.filter(|free| *free < needed * there);
    let any = ranks.any(u8::from(lacks.is_some())) > 0;
    match lacks {
        Some(free) => {
            Err(TableError::Memory { checkers, bits: precision.bits(), needed: needed * there, free })
        }
        None if any => {
            let source = std::io::Error::other("the machine of another rank has too little");
            Err(TableError::System { what: "memory for the table", source })
        }
        None => Ok(()),
    }
}

/// Size of large pages, if the system has them.
const LARGE_PAGE: usize = 2 << 20;

/// Progress label of allocating a large table, which takes seconds.
const RESERVING: &str = "reserving memory";

/// Allocates zeroed, resident memory, in large pages if possible. Returns it with the start of an aligned table.
fn allocate(bytes: usize, team: &Team) -> std::io::Result<(MmapMut, usize)> {
    let mut map = MmapMut::map_anon(bytes + LARGE_PAGE)?;
    #[cfg(target_os = "linux")]
    {
        // This is only a hint.
        let _ = map.advise(memmap2::Advice::HugePage);
    }
    let start = map.as_ptr().align_offset(LARGE_PAGE);
    let pages: Vec<&mut [u8]> = map[start..start + bytes].chunks_mut(LARGE_PAGE).collect();
    let pages: Vec<std::sync::Mutex<&mut [u8]>> = pages.into_iter().map(std::sync::Mutex::new).collect();
    let (count, touched) = (pages.len(), AtomicUsize::new(0));
    let touch = |page: usize| {
        // Skip 0, which is not worth reporting.
        work::share(RESERVING, (touched.fetch_add(1, Ordering::Relaxed) + 1) as f64 / count as f64);
        let mut page = pages[page].lock().unwrap_or_else(|e| e.into_inner());
        page.iter_mut().step_by(4096).for_each(|byte| *byte = 0);
    };
    team.share(count, touch, || {});
    work::share(RESERVING, 1.0);
    Ok((map, start))
}
--->>>