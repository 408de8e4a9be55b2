//! Solves a two-sided table level by level.
//!
//! When all pairs of lower levels are known, a level takes two parallel phases. The first computes its rows in all
//! columns of lower levels, the second its columns in all rows up to the level.

use super::dominance::{Claim, Dominance};
use super::grid::{Cell, Grid};
use super::lanes::Isa;
use super::order::{Moves, Order};
use super::pass::{self, Pass, run_lists, run_plain, run_programs, strips, test_claims};
use super::spread::{Spread, Target};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

/// The threads, and optionally ranks, that share the strips of a phase.
pub(super) struct Team {
    pool: Option<rayon::ThreadPool>,
    /// None if this process has the whole table.
    spread: Option<Mutex<Spread>>,
}

impl Team {
    /// A team with this number of threads; 0 means one per core.
    pub(super) fn new(threads: usize) -> Result<Self, rayon::ThreadPoolBuildError> {
        if threads == 1 {
            return Ok(Self { pool: None, spread: None });
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        Ok(Self { pool: Some(pool), spread: None })
    }

    /// Distributes the table over ranks.
    pub(super) fn spread(self, spread: Spread) -> Self {
        Self { spread: Some(Mutex::new(spread)), ..self }
    }

    /// The distribution over ranks, if any.
    pub(super) fn among_ranks(&self) -> Option<MutexGuard<'_, Spread>> {
        self.spread.as_ref().map(|spread| spread.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this rank holds a line of columns.
    fn has(&self, line: usize) -> bool {
        self.among_ranks().is_none_or(|spread| spread.has(line))
    }

    /// The pieces of columns that this rank computes.
    fn pieces(&self, lines: Range<usize>) -> Vec<(usize, usize)> {
        strips(lines).into_iter().filter(|&(line, _)| self.has(line)).collect()
    }

    /// Destination of the rows of `results` in the columns `columns`, both ranges of lines. Call
    /// [`Self::finish`] afterwards.
    fn begin<T: Cell>(&self, table: Grid<T>, columns: Range<usize>, results: Range<usize>) -> Target<T> {
        match self.among_ranks() {
            Some(mut spread) => spread.begin(columns, results),
            None => Target::table(table),
        }
    }

    /// Ends a phase on all ranks.
    ///
    /// # Safety
    /// No other thread uses the table.
    unsafe fn finish<T: Cell>(&self, table: Grid<T>, columns: Range<usize>, results: Range<usize>) {
        if let Some(mut spread) = self.among_ranks() {
            // SAFETY: the caller guarantees it; `share` ends with fences on all threads.
            unsafe { spread.finish(table, columns, results) };
        }
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
pub(super) unsafe fn set_ends<T: Cell>(table: Grid<T>, order: &Order, team: &Team) {
    let empty = order.levels[1];
    for column in (0..table.rows()).filter(|column| team.has(column / T::LANES)) {
        // SAFETY: cells of the table, in columns of this rank.
        unsafe {
            for row in 0..empty {
                table.cell(row, column).write(T::WIN);
            }
            for row in empty..if column < empty { table.rows() } else { 0 } {
                table.cell(row, column).write(T::LOSS);
            }
        }
    }
}

/// Calls `phases` with each level and reports progress.
pub(super) fn by_level(order: &Order, progress: &mut dyn FnMut(Progress), mut phases: impl FnMut(usize)) {
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
    unsafe { set_ends(table, order, team) };
    let phase = |columns: Range<usize>, rows: (usize, usize)| {
        let columns = columns.start / T::LANES..columns.end / T::LANES;
        let results = rows.0 / T::LANES..rows.1 / T::LANES;
        let (pieces, target) =
            (team.pieces(columns.clone()), team.begin(table, columns.clone(), results.clone()));
        let work = |piece: usize| {
            let (line, lines) = pieces[piece];
            let to = (target.grid, target.row(line));
            // SAFETY: as above.
            unsafe { run_plain(isa, Pass { table, moves, to, line, lines, rows }) };
        };
        team.share(pieces.len(), work, pass::settle);
        // SAFETY: as above; the threads are done.
        unsafe { team.finish(table, columns, results) };
    };
    by_level(order, progress, |level| {
        for (columns, rows) in phases(order, level) {
            phase(columns.0..columns.1, rows);
        }
    });
}

/// Columns and rows of the two phases of a level.
pub(super) fn phases(order: &Order, level: usize) -> [((usize, usize), (usize, usize)); 2] {
    let (empty, start, end) = (order.levels[1], order.levels[level], order.levels[level + 1]);
    [((empty, start), (start, end)), ((start, end), (empty, end))]
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
                set_ends(table, order, team);
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
    unsafe { set_ends(table, order, team) };
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
        for (columns, rows) in phases(self.order, level) {
            let (pieces, target) = (self.team.pieces(lines(columns)), self.begin(columns, rows));
            let work = |piece: usize| {
                // SAFETY: a phase reads only solved values, and each piece writes only its own values.
                unsafe { run_lists(self.isa, self.pass(pieces[piece], rows, &target)) };
            };
            self.team.share(pieces.len(), work, pass::settle);
            self.finish(columns, rows);
        }
    }

    /// Solves a level. Returns its number of claims.
    fn level_over_short_lists(&self, level: usize, dominance: &mut Dominance<'_>) -> usize {
        // Accepted claims hold in all columns of lower levels, which the first phase uses. There, only new claims need
        // a test. In the level's own columns, all claims need a test.
        let near = |line| self.team.among_ranks().map_or(line, |spread| spread.near(line));
        let mut new = dominance.add_level(level, self.table, near);
        let made = new.len();
        let [(below, level_rows), (level_columns, rows)] = phases(self.order, level);
        // Most false claims fail in many columns, so testing a few columns first saves the others.
        let (pieces, target) = (self.team.pieces(lines(below)), self.begin(below, level_rows));
        let scouts = |(at, _): &(usize, &(usize, usize))| *at < 3 || at % 16 == 7;
        let (first, rest): (Vec<_>, Vec<_>) = pieces.iter().enumerate().partition(scouts);
        for pieces in [first, rest] {
            let pieces: Vec<_> = pieces.into_iter().map(|(_, &piece)| piece).collect();
            dominance.write_programs(level);
            let failed = self.phase(&pieces, level_rows, &target, &new, dominance);
            new.retain(|claim| failed.binary_search(claim).is_err());
            dominance.withdraw(&failed);
        }
        self.finish(below, level_rows);
        dominance.accept(&new);
        dominance.write_programs(1);
        let (pieces, target) = (self.team.pieces(lines(level_columns)), self.begin(level_columns, rows));
        let failed = self.phase(&pieces, rows, &target, &dominance.claims, dominance);
        self.finish(level_columns, rows);
        dominance.withdraw(&failed);
        made
    }

    fn begin(&self, columns: (usize, usize), rows: (usize, usize)) -> Target<i16> {
        self.team.begin(self.table, lines(columns), lines(rows))
    }

    fn finish(&self, columns: (usize, usize), rows: (usize, usize)) {
        // SAFETY: the table belongs to this solver, and its threads are done.
        unsafe { self.team.finish(self.table, lines(columns), lines(rows)) };
    }

    fn pass(
        &self,
        (line, lines): (usize, usize),
        rows: (usize, usize),
        target: &Target<i16>,
    ) -> Pass<'_, i16> {
        let to = (target.grid, target.row(line));
        Pass { table: self.table, moves: self.moves, to, line, lines, rows }
    }

    /// Tests the claims in pieces of columns, then runs the programs of some rows there. Returns the failed claims,
    /// sorted.
    fn phase(
        &self,
        pieces: &[(usize, usize)],
        rows: (usize, usize),
        target: &Target<i16>,
        claims: &[Claim],
        dominance: &Dominance<'_>,
    ) -> Vec<Claim> {
        let failed = Mutex::new(Vec::new());
        let work = |piece: usize| {
            let pass = self.pass(pieces[piece], rows, target);
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

/// Converts a range of columns or rows, in whole groups, to lines.
fn lines((start, end): (usize, usize)) -> Range<usize> {
    start / i16::LANES..end / i16::LANES
}
