//! The two-sided oracle with the doubling cube: exact equities of money play in which no gammon counts.
//!
//! Equities are per unit of the cube, for the side to roll, with side x against y. C has the cube in the middle; in O
//! the side to roll owns it, in U its opponent. x′ is a side after the move. A finished game is 1 for the winner.
//!
//! - ND_centred(x, y) = Σ over rolls w · max over x′ of −C(y, x′)
//! - ND_own(x, y) = Σ w · max −U(y, x′)
//! - U(x, y) = Σ w · max −O(y, x′), without a decision of the side to roll
//! - DT = 2U: after a double and a take the opponent owns a cube of twice the value
//! - C = max(ND_centred, min(1, DT)) and O = max(ND_own, min(1, DT))
//!
//! Each maximum over moves has a move of its own. A move lowers the level of a side, so one pass over the levels solves
//! all three tables, with the rows, columns and phases of the cubeless table.

use super::build::{FEWEST_SIDES_TO_SHARE, Timings, allocate, refused};
use super::error::TableError;
use super::gnubg::GnubgTable;
use super::grid::{Cell, Grid, STRIP_LINES};
use super::lanes::Isa;
use super::order::{GROUP, Moves, Order, order_and_moves};
use super::pass::{Plain, larger, negated_bests, run_plain, strips};
use super::solve::{Progress, Team, by_level, phases, set_ends};
use super::table::{TableErrors, timed};
use crate::bearoff::{DicePosition, MAX_CHECKERS, Position, ROLLS, Side, rank, rules};
pub use crate::doubling::{CubeAction, CubeEquities, CubeOwner};
use adept_ground::limits;
use memmap2::MmapMut;

mod score;
mod study;

pub use score::{CubePlace, CubeStep, ScoreEquities, ScoreTables, ScoreView};
pub use study::StudySettings;

/// The equities of all pairs of sides with at most n checkers, for all owners of the cube, within 1e-6.
#[derive(Debug)]
pub struct CubeTable {
    /// By [`CubeOwner`], as the player who moved sees it.
    grids: Grids,
}

/// Number of grids of a [`CubeTable`].
const OWNERS: usize = CubeOwner::ALL.len();

impl CubeTable {
    /// Solves the tables in memory, on `threads` threads; 0 means one per core. Calls `progress` after each level. The
    /// result does not depend on the number of threads.
    ///
    /// # Errors
    /// A number of checkers outside 1 to 15, too little memory, or a system error.
    pub fn solve(
        checkers: u8,
        threads: usize,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Self, Timings), TableError> {
        Self::solve_on(checkers, &team(checkers, threads)?, Isa::detect(), progress)
    }

    /// Solves the tables with a team and an instruction set of this machine. The result does not depend on them.
    pub(super) fn solve_on(
        checkers: u8,
        team: &Team,
        isa: Isa,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Self, Timings), TableError> {
        let ((order, moves), moves_time) = timed(|| order_and_moves(checkers, false));
        let (grids, memory_time) = timed(|| Grids::allocate(checkers, &order, OWNERS, team));
        let mut grids = grids?;
        let all = grids.all();
        let ((), solve_time) = timed(|| {
            // SAFETY: the grids are zero and belong to this call.
            unsafe { solve([all[0], all[1], all[2]], &order, &moves, team, isa, progress) }
        });
        let timings = Timings { moves: moves_time, memory: memory_time, solve: solve_time };
        Ok((Self { grids }, timings))
    }

    /// Largest number of checkers per side.
    pub fn checkers(&self) -> u8 {
        self.grids.checkers
    }

    /// Bytes of the tables of sides with at most this many checkers.
    pub fn bytes(checkers: u8) -> u64 {
        bytes(rank::sides(checkers), OWNERS) as u64
    }

    /// The equity for the side to roll. `owner` is the owner of the cube as this side sees it.
    ///
    /// # Errors
    /// A side with more checkers than the tables, or a position whose sides are both empty.
    pub fn value(&self, position: Position, owner: CubeOwner) -> Result<f64, TableError> {
        self.grids.value(owner.swapped() as usize, position)
    }

    /// The equities of a position for all owners, with and without a double. A finished game has the value 1 or −1.
    ///
    /// # Errors
    /// Same as [`CubeTable::value`].
    pub fn equities(&self, position: Position) -> Result<CubeEquities, TableError> {
        if position.is_over() {
            return Ok(CubeEquities::new([self.value(position, CubeOwner::Centred)?; 3]));
        }
        let column = self.grids.row(position.opponent)?;
        Ok(self.rolled(&self.grids.afterstates(position.own)?, column))
    }

    /// The equities of a side with these afterstates against the side of `column`.
    fn rolled(&self, afterstates: &[Vec<usize>], column: usize) -> CubeEquities {
        CubeEquities::new(CubeOwner::ALL.map(|owner| self.grids.rolled(owner as usize, afterstates, column)))
    }

    /// Compares the equities after rolling, by [`CubeOwner`], with a GNU Backgammon file on all pairs of nonempty sides
    /// that both hold. None if the file has only cubeless numbers.
    ///
    /// # Errors
    /// Same as [`CubeTable::value`].
    pub fn compare_with_gnubg(&self, other: &GnubgTable) -> Result<Option<[TableErrors; 3]>, TableError> {
        if !other.has_cube() {
            return Ok(None);
        }
        let mut errors = [TableErrors::default(); 3];
        let sides = rank::sides(self.checkers().min(other.checkers()));
        for own in (1..sides).map(Side::of_rank) {
            let afterstates = self.grids.afterstates(own)?;
            for opponent in (1..sides).map(Side::of_rank) {
                let found = self.rolled(&afterstates, self.grids.row(opponent)?);
                for (owner, errors) in CubeOwner::ALL.into_iter().zip(&mut errors) {
                    if let Some(given) = other.no_double(Position { own, opponent }, owner) {
                        errors.add(found.no_double(owner) - given);
                    }
                }
            }
        }
        Ok(Some(errors))
    }

    /// The afterstates of a decision and their equities to the side that moves, best first. `owner` is the owner of the
    /// cube as this side sees it. Equal equities are in ascending order of sides.
    ///
    /// # Errors
    /// Same as [`CubeTable::value`].
    pub fn moves(&self, decision: DicePosition, owner: CubeOwner) -> Result<Vec<(Side, f64)>, TableError> {
        self.grids.moves(owner as usize, decision)
    }

    /// All bytes of the tables.
    #[cfg(test)]
    pub(super) fn contents(&self) -> &[u8] {
        self.grids.contents()
    }
}

/// The threads that solve tables; few sides are not shared.
fn team(checkers: u8, threads: usize) -> Result<Team, TableError> {
    if !(1..=MAX_CHECKERS).contains(&checkers) {
        return Err(TableError::Checkers(checkers));
    }
    let threads = if rank::sides(checkers) < FEWEST_SIDES_TO_SHARE { 1 } else { threads };
    Team::new(threads).map_err(|e| refused("starting threads")(e.into()))
}

/// Grids of all pairs of sides with at most n checkers.
#[derive(Debug)]
struct Grids {
    checkers: u8,
    rows: usize,
    /// Number of grids.
    count: usize,
    /// Row of a side, by rank.
    row_of: Vec<u16>,
    map: MmapMut,
    /// Start of the grids in the map.
    start: usize,
}

impl Grids {
    /// Allocates grids of zeros.
    fn allocate(checkers: u8, order: &Order, count: usize, team: &Team) -> Result<Self, TableError> {
        let rows = order.sides.len();
        check_memory(checkers, rows, count, limits::free_memory())?;
        let memory = allocate(bytes(rows, count), team);
        let (map, start) = memory.map_err(|e| refused("memory for the tables")(e.into()))?;
        Ok(Self { checkers, rows, count, row_of: order.row_of.clone(), map, start })
    }

    /// All grids, which are aligned to a line.
    fn all(&mut self) -> Vec<Grid<f32>> {
        let at: *mut f32 = self.map[self.start..].as_mut_ptr().cast();
        let grid = |index| Grid::new(at.wrapping_byte_add(index * Grid::<f32>::bytes(self.rows)), self.rows);
        (0..self.count).map(grid).collect()
    }

    /// The value for the side to roll. `grid` has those of its opponent.
    fn value(&self, grid: usize, position: Position) -> Result<f64, TableError> {
        let Position { own, opponent } = position;
        if own.is_empty() && opponent.is_empty() {
            return Err(TableError::BothEmpty);
        }
        // Subtracting from 0 does not turn 0 into −0.
        Ok(0.0 - self.cell(grid, self.row(opponent)?, self.row(own)?))
    }

    /// The rows of the afterstates of a side, by roll of [`ROLLS`].
    fn afterstates(&self, own: Side) -> Result<Vec<Vec<usize>>, TableError> {
        self.row(own)?;
        let mut sides = Vec::new();
        let rows = |roll| {
            rules::afterstates(own, roll, &mut sides);
            sides.iter().map(|&side| self.row(side)).collect()
        };
        ROLLS.into_iter().map(rows).collect()
    }

    /// The value after rolling of a side with these afterstates against the side of `column`.
    fn rolled(&self, grid: usize, afterstates: &[Vec<usize>], column: usize) -> f64 {
        let best = |rows: &[usize]| {
            rows.iter().map(|&row| self.cell(grid, row, column)).fold(f64::NEG_INFINITY, f64::max)
        };
        let sum: f64 = ROLLS.iter().zip(afterstates).map(|(r, rows)| f64::from(r.ways()) * best(rows)).sum();
        sum / 36.0
    }

    /// The afterstates of a decision and their values to the side that moves, best first, then in ascending order.
    fn moves(&self, grid: usize, decision: DicePosition) -> Result<Vec<(Side, f64)>, TableError> {
        let column = self.row(decision.position.opponent)?;
        self.row(decision.position.own)?;
        let mut afterstates = Vec::new();
        decision.afterstates(&mut afterstates);
        let value = |side: Side| Ok((side, self.cell(grid, self.row(side)?, column)));
        let mut values = afterstates.into_iter().map(value).collect::<Result<Vec<_>, TableError>>()?;
        values.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(values)
    }

    fn row(&self, side: Side) -> Result<usize, TableError> {
        match self.row_of.get(side.rank()) {
            Some(&row) => Ok(usize::from(row)),
            None => Err(TableError::TooManyCheckers { side, checkers: self.checkers }),
        }
    }

    /// The value to the side that moved to `row` while the side of `column` is to roll.
    fn cell(&self, grid: usize, row: usize, column: usize) -> f64 {
        let place = Grid::<f32>::place(self.rows, row, column) * size_of::<f32>();
        let at = self.start + grid * Grid::<f32>::bytes(self.rows) + place;
        let bytes = self.map[at..].first_chunk().expect("the tables have every row and column");
        // The tables hold −0 for an equity of 0; adding 0 makes it 0.
        f64::from(f32::from_ne_bytes(*bytes)) + 0.0
    }

    /// The same values with a row for each side, without the padding of levels.
    fn compacted(&self) -> Result<Self, TableError> {
        let sides = rank::sides(self.checkers);
        let rows = sides.next_multiple_of(GROUP);
        let mut map = MmapMut::map_anon(bytes(rows, self.count))
            .map_err(|e| refused("memory for the tables")(e.into()))?;
        for grid in 0..self.count {
            let start = grid * Grid::<f32>::bytes(rows);
            for (row, &from) in self.row_of.iter().enumerate() {
                for (column, &other) in self.row_of.iter().enumerate() {
                    let value = self.cell(grid, from.into(), other.into()) as f32;
                    let at = start + Grid::<f32>::place(rows, row, column) * size_of::<f32>();
                    map[at..at + size_of::<f32>()].copy_from_slice(&value.to_ne_bytes());
                }
            }
        }
        let row_of = (0..sides as u16).collect();
        Ok(Self { rows, row_of, map, start: 0, ..*self })
    }

    /// All bytes of the grids.
    #[cfg(test)]
    fn contents(&self) -> &[u8] {
        &self.map[self.start..][..bytes(self.rows, self.count)]
    }
}

/// Bytes of some grids.
fn bytes(rows: usize, count: usize) -> usize {
    count * Grid::<f32>::bytes(rows)
}

/// Bytes of move lists per side.
const MOVES_BYTES: usize = 1600;

/// Checks that this many tables with these rows and the move lists fit into the free memory, if known.
pub(super) fn check_memory(
    checkers: u8,
    rows: usize,
    tables: usize,
    free: Option<u64>,
) -> Result<(), TableError> {
    let needed = |checkers, rows| (bytes(rows, tables) + rank::sides(checkers) * MOVES_BYTES) as u64;
    match free {
        Some(free) if free < needed(checkers, rows) => {
            let mut fewer =
                (1..checkers).rev().map(|n| (n, needed(n, order_and_moves(n, false).0.sides.len())));
            let most = fewer.find(|&(_, needed)| needed <= free);
            Err(TableError::CubeMemory { checkers, needed: needed(checkers, rows), free, most })
        }
        _ => Ok(()),
    }
}

/// Fills the grids.
///
/// # Safety
/// The grids must have the size of the order, be zero, and belong to the caller alone. The machine has `isa`.
unsafe fn solve(
    grids: [Grid<f32>; 3],
    order: &Order,
    moves: &Moves,
    team: &Team,
    isa: Isa,
    progress: &mut dyn FnMut(Progress),
) {
    for grid in grids {
        // SAFETY: the caller guarantees it.
        unsafe { set_ends(grid, order, team) };
    }
    by_level(order, progress, |level| {
        for (columns, rows) in phases(order, level) {
            let pieces = strips(columns.0 / f32::LANES..columns.1 / f32::LANES);
            let work = |piece: usize| {
                let pass = CubePass { grids, moves, line: pieces[piece].0, rows };
                // SAFETY: a phase reads only solved values, and each piece writes only its own values.
                unsafe { run_plain(isa, pass) };
            };
            team.share(pieces.len(), work, || {});
        }
    });
}

/// Columns of a strip of 32-bit floats. Levels consist of whole groups, so a pass always has a whole strip.
const COLUMNS: usize = STRIP_LINES * f32::LANES;
const _: () = assert!(COLUMNS == GROUP);

/// Computes some rows of all three tables in the columns of one strip.
struct CubePass<'a> {
    grids: [Grid<f32>; 3],
    moves: &'a Moves,
    /// First line of the strip.
    line: usize,
    /// Range of rows, in whole groups.
    rows: (usize, usize),
}

impl Plain for CubePass<'_> {
    #[inline(always)]
    unsafe fn run(self) {
        // −ND_centred, −ND_own and −U of each row and column of a group.
        let mut rolled = [[[0.0; COLUMNS]; GROUP]; 3];
        for group in (self.rows.0..self.rows.1).step_by(GROUP) {
            // One table after the other: the rows that a group reads then stay in the nearest cache.
            for (&grid, rolled) in self.grids.iter().zip(&mut rolled) {
                for (row, rolled) in (group..).zip(rolled) {
                    // SAFETY: the caller guarantees it.
                    *rolled = unsafe { negated_bests(grid, self.moves, self.line, row) };
                }
            }
            let [centred, own, theirs] = &mut rolled;
            for ((centred, own), theirs) in centred.iter_mut().zip(own).zip(theirs) {
                for ((centred, own), theirs) in centred.iter_mut().zip(own).zip(theirs) {
                    // The opponent's best answer to a double: −min(1, 2U).
                    let double = larger(-1.0, *theirs + *theirs);
                    *centred = smaller(*centred, double);
                    // Whose cube it is changes with the side that looks at it.
                    (*own, *theirs) = (*theirs, smaller(*own, double));
                }
            }
            for (&grid, values) in self.grids.iter().zip(&rolled) {
                // SAFETY: the columns of these rows, in the rows of these columns, belong to this pass now.
                unsafe { write_transposed(grid, self.line, group, values) };
            }
        }
    }
}

/// Writes the values of a group of rows in the columns of a strip to the columns of these rows.
///
/// # Safety
/// No other thread reads or writes them.
#[inline(always)]
unsafe fn write_transposed(grid: Grid<f32>, line: usize, group: usize, values: &[[f32; COLUMNS]; GROUP]) {
    for column in 0..COLUMNS {
        let to: *mut [f32; GROUP] = grid.line(group / f32::LANES, line * f32::LANES + column).cast();
        let mut line = [0.0; GROUP];
        for (to, row) in line.iter_mut().zip(values) {
            *to = row[column];
        }
        // SAFETY: the caller guarantees it.
        unsafe { to.write(line) };
    }
}

#[inline(always)]
fn smaller(a: f32, b: f32) -> f32 {
    std::hint::select_unpredictable(a < b, a, b)
}

#[cfg(test)]
mod tests;
