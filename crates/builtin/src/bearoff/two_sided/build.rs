//! Solving tables, on one machine or over ranks.

use super::dominance::SAMPLE;
use super::error::TableError;
use super::file::TableHeader;
use super::grid::{Grid, LINE_BYTES, STRIP_LINES};
use super::lanes::Isa;
use super::order::{GROUP, Order, order_and_moves};
use super::solve::{Method, Progress, Solvable, Team};
use super::spread::Spread;
use super::table::{Precision, Seconds, Storage, Table, timed};
use crate::bearoff::{MAX_CHECKERS, rank};
use adept_ground::{limits, work};
use adept_ranks::Ranks;
use memmap2::MmapMut;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Settings for solving a table.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Largest number of checkers per side, 1 to 15.
    pub checkers: u8,
    /// Number format of the table.
    pub precision: Precision,
    /// Number of threads; 0 means one per core. Small tables always use one thread. The result does not depend on it.
    pub threads: usize,
    /// Instruction set, one of [`Isa::available`]. The result does not depend on it.
    pub isa: Isa,
    /// Whether to shorten the move lists, in 16 bits. By default, when this saves time. The result does not depend on
    /// it.
    pub shorten: Option<bool>,
}

impl Settings {
    /// Default settings: 16 bits, all cores, the best instruction set.
    pub fn new(checkers: u8) -> Self {
        Self { checkers, precision: Precision::Bits16, threads: 0, isa: Isa::detect(), shorten: None }
    }

    /// Settings for looking up a few values: 16 bits at least, or `least`. A small table is solved exactly, which takes almost no time.
    pub fn for_values(checkers: u8, least: Option<Precision>) -> Self {
        let usual = if checkers <= 8 { Precision::Bits64 } else { Precision::Bits16 };
        Self { precision: least.unwrap_or(usual), ..Self::new(checkers) }
    }
}

/// With fewer sides, using full lists is faster than finding short lists.
const FEWEST_SIDES_TO_SHORTEN: usize = 6000;

/// With fewer sides, starting other threads takes longer than their share of the work.
pub(super) const FEWEST_SIDES_TO_SHARE: usize = 2000;

/// Durations of the steps of a solution.
#[derive(Clone, Copy, Debug, Default)]
pub struct Timings {
    /// List moves and order sides.
    pub moves: Seconds,
    /// Allocate memory and touch each page once.
    pub memory: Seconds,
    /// Solve all levels.
    pub solve: Seconds,
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

impl Table {
    /// Solves a table in memory. Calls `progress` after each level.
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
}

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
pub(super) fn refused(what: &'static str) -> impl Fn(Box<dyn std::error::Error + Send + Sync>) -> TableError {
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
pub(super) fn allocate(bytes: usize, team: &Team) -> std::io::Result<(MmapMut, usize)> {
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
