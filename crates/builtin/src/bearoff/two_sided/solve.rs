//! Solves a two-sided table level by level.
//!
//! When all pairs of lower levels are known, a level takes two parallel phases. The first computes its rows in all
//! columns of lower levels, the second its columns in all rows up to the level.

use super::dominance::{Claim, Dominance};
use super::grid::{Cell, Grid};
use super::lanes::Isa;
use super::order::{Moves, Order};
use super::pass::{self, Pass, run_lists, run_plain, run_programs, strips, test_claims};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Options of a solution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Method {
    pub(super) isa: Isa,
    /// Whether to shorten move lists, which works in 16 bits only and needs prepared lists. The result is the same.
    pub(super) shorten: bool,
    /// Number of lines of columns that suggest claims. With fewer lines, more claims fail; the result is the same.
    pub(super) sample: usize,
}

/// Progress of a solution.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Number of solved levels.
    pub level: usize,
    /// Total number of levels.
    pub levels: usize,
    /// Share of solved pairs, in [0, 1].
    pub share: f64,
}

/// A thread pool that shares the strips of a phase.
pub(super) struct Team {
    pool: Option<rayon::ThreadPool>,
}

impl Team {
    /// A team with this number of threads; 0 means one per core.
    pub(super) fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        if threads == 1 {
            return Ok(Self { pool: None });
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(Self { pool: Some(pool) })
    }

    /// Calls `work` with every number below `pieces`, then `end` on each thread that worked.
    pub(super) fn share(&self, pieces: usize, work: impl Fn(usize) + Sync, end: impl Fn() + Sync) {
        let next = AtomicUsize::new(0);
        let run = || {
            loop {
                let piece = next.fetch_add(1, Ordering::Relaxed);
                if piece >= pieces {
                    break;
                }
                work(piece);
            }
            end();
        };
        match &self.pool {
            Some(pool) if pieces > 1 => {
                pool.broadcast(|_| run());
            }
            _ => run(),
        }
    }
}

/// A number type that can be solved.
pub(super) trait Solvable: Cell {
    /// Fills the table, whose memory is initialised. The default uses full lists and plain code.
    ///
    /// # Safety
    /// The table must have the size of the order, and no other thread may use it.
    unsafe fn solve(
        table: Grid<Self>,
        order: &Order,
        moves: &Moves,
        method: Method,
        team: &Team,
        progress: &mut dyn FnMut(Progress),
    ) {
        // SAFETY: the caller guarantees it.
        unsafe { solve_plain(table, order, moves, method.isa, team, progress) }
    }
}

impl Solvable for f32 {}
impl Solvable for f64 {}

/// Sets the values that need no solving: a player who has borne off all checkers has won.
///
/// # Safety
/// As [`Solvable::solve`].
unsafe fn set_ends<T: Cell>(table: Grid<T>, order: &Order) {
    let empty = order.levels[1];
    for column in 0..table.rows() {
        for row in 0..empty {
            // SAFETY: cells of the table.
            unsafe {
                table.cell(row, column).write(T::WIN);
                if column >= empty {
                    table.cell(column, row).write(T::LOSS);
                }
            }
        }
    }
}

/// Calls `phases` with each level and reports progress.
fn by_level(order: &Order, progress: &mut dyn FnMut(Progress), mut phases: impl FnMut(usize)) {
    let levels = order.levels.len() - 2;
    let rows = *order.levels.last().expect("there is the level of the empty side") as f64;
    for level in 1..=levels {
        phases(level);
        let done = order.levels[level + 1] as f64;
        progress(Progress { level, levels, share: done * done / (rows * rows) });
    }
}

/// Solves with full lists and plain code, for any number type.
///
/// # Safety
/// Same as [`Solvable::solve`].
pub(super) unsafe fn solve_plain<T: Cell>(
    table: Grid<T>,
    order: &Order,
    moves: &Moves,
    isa: Isa,
    team: &Team,
    progress: &mut dyn FnMut(Progress),
) {
    // SAFETY: the caller guarantees it; a phase reads only solved values, and each piece writes only its own values.
    unsafe { set_ends(table, order) };
    let phase = |columns: std::ops::Range<usize>, rows: (usize, usize)| {
        let pieces = strips(columns.start / T::LANES..columns.end / T::LANES);
        let work = |piece: usize| {
            let (line, lines) = pieces[piece];
            // SAFETY: as above.
            unsafe { run_plain(isa, Pass { table, moves, line, lines, rows }) };
        };
        team.share(pieces.len(), work, pass::settle);
    };
    let empty = order.levels[1];
    by_level(order, progress, |level| {
        let (start, end) = (order.levels[level], order.levels[level + 1]);
        phase(empty..start, (start, end));
        phase(start..end, (empty, end));
    });
}

impl Solvable for i16 {
    unsafe fn solve(
        table: Grid<Self>,
        order: &Order,
        moves: &Moves,
        method: Method,
        team: &Team,
        progress: &mut dyn FnMut(Progress),
    ) {
        // SAFETY: the caller guarantees it.
        unsafe {
            if method.shorten {
                solve_short(table, order, moves, method, team, progress);
            } else {
                set_ends(table, order);
                let solver = Solver { table, order, moves, isa: method.isa, team };
                by_level(order, progress, |level| solver.level_over_full_lists(level));
            }
        }
    }
}

/// Solves in 16 bits over short lists. Returns the number of claims.
///
/// # Safety
/// Same as [`Solvable::solve`].
pub(super) unsafe fn solve_short(
    table: Grid<i16>,
    order: &Order,
    moves: &Moves,
    method: Method,
    team: &Team,
    progress: &mut dyn FnMut(Progress),
) -> usize {
    // SAFETY: the caller guarantees it.
    unsafe { set_ends(table, order) };
    let solver = Solver { table, order, moves, isa: method.isa, team };
    let mut dominance = Dominance::new(order, moves, method.sample);
    let mut made = 0;
    by_level(order, progress, |level| made += solver.level_over_short_lists(level, &mut dominance));
    made
}

/// Solves in 16 bits.
struct Solver<'a> {
    table: Grid<i16>,
    order: &'a Order,
    moves: &'a Moves,
    isa: Isa,
    team: &'a Team,
}

impl Solver<'_> {
    fn level_over_full_lists(&self, level: usize) {
        for (columns, rows) in self.phases(level) {
            let pieces = strips(columns.0 / i16::LANES..columns.1 / i16::LANES);
            let work = |piece: usize| {
                // SAFETY: a phase reads only solved values, and each piece writes only its own values.
                unsafe { run_lists(self.isa, self.pass(pieces[piece], rows)) };
            };
            self.team.share(pieces.len(), work, pass::settle);
        }
    }

    /// Solves a level. Returns its number of claims.
    fn level_over_short_lists(&self, level: usize, dominance: &mut Dominance<'_>) -> usize {
        // Accepted claims hold in all columns of lower levels, which the first phase uses. There, only new claims need
        // a test. In the level's own columns, all claims need a test.
        let mut new = dominance.add_level(level, self.table);
        let made = new.len();
        let [(below, level_rows), (level_columns, rows)] = self.phases(level);
        // Most false claims fail in many columns, so testing a few columns first saves the others.
        let pieces = strips(below.0 / i16::LANES..below.1 / i16::LANES);
        let scouts = |(at, _): &(usize, &(usize, usize))| *at < 3 || at % 16 == 7;
        let (first, rest): (Vec<_>, Vec<_>) = pieces.iter().enumerate().partition(scouts);
        for pieces in [first, rest] {
            let pieces: Vec<_> = pieces.into_iter().map(|(_, &piece)| piece).collect();
            dominance.write_programs(level);
            let failed = self.phase(&pieces, level_rows, &new, dominance);
            new.retain(|claim| failed.binary_search(claim).is_err());
            dominance.withdraw(&failed);
        }
        dominance.accept(&new);
        dominance.write_programs(1);
        let pieces = strips(level_columns.0 / i16::LANES..level_columns.1 / i16::LANES);
        let failed = self.phase(&pieces, rows, &dominance.claims, dominance);
        dominance.withdraw(&failed);
        made
    }

    /// Columns and rows of the two phases of a level.
    fn phases(&self, level: usize) -> [((usize, usize), (usize, usize)); 2] {
        let (empty, start, end) =
            (self.order.levels[1], self.order.levels[level], self.order.levels[level + 1]);
        [((empty, start), (start, end)), ((start, end), (empty, end))]
    }

    fn pass(&self, (line, lines): (usize, usize), rows: (usize, usize)) -> Pass<'_, i16> {
        Pass { table: self.table, moves: self.moves, line, lines, rows }
    }

    /// Tests the claims in pieces of columns, then runs the programs of some rows there. Returns the failed claims,
    /// sorted.
    fn phase(
        &self,
        pieces: &[(usize, usize)],
        rows: (usize, usize),
        claims: &[Claim],
        dominance: &Dominance<'_>,
    ) -> Vec<Claim> {
        let failed = Mutex::new(Vec::new());
        let work = |piece: usize| {
            let pass = self.pass(pieces[piece], rows);
            let mut failed_here = Vec::new();
            // SAFETY: a phase reads only solved values, and each piece writes only its own values.
            unsafe { test_claims(self.isa, pass, claims, &mut failed_here) };
            let flags = (!failed_here.is_empty()).then(|| {
                let mut flags = vec![false; self.table.rows()];
                failed_here
                    .iter()
                    .flat_map(|&claim| dominance.relying(claim))
                    .for_each(|row| flags[row] = true);
                flags
            });
            // SAFETY: as above.
            unsafe { run_programs(self.isa, pass, &dominance.programs, flags.as_deref()) };
            if !failed_here.is_empty() {
                failed.lock().unwrap_or_else(|e| e.into_inner()).append(&mut failed_here);
            }
        };
        self.team.share(pieces.len(), work, pass::settle);
        let mut failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
        failed.sort_unstable();
        failed.dedup();
        failed
    }
}
