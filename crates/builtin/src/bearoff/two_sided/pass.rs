//! One pass: computes the values of some rows in one or two lines of columns.
//!
//! V[i][j] = (1/36) Σ over rolls w · max over afterstates m of (i, roll) of Q[m][j], and Q[j][i] = −V[i][j]. Q[m][j] is
//! the value to the player who moved to m while j is to roll. For a fixed i, the list of afterstates does not depend on
//! j, so everything runs over whole lines of columns. Squares of 32 × 32 results are transposed in registers.

use super::dominance::Claim;
pub(super) use super::grid::Grid;
use super::grid::{Cell, STRIP_LINES};
use super::lanes::{Block, Isa, LANES, Lanes, Line, Portable, Weights};
use super::order::{GROUP, Moves};
use super::program::{Program, Programs};
use crate::bearoff::{MIXED, ROLLS};
use std::ops::Range;

/// The inputs and the range of a pass.
#[derive(Clone, Copy)]
pub(super) struct Pass<'a, T> {
    pub(super) table: Grid<T>,
    pub(super) moves: &'a Moves,
    /// Destination grid, and its row for the first column of the pass.
    pub(super) to: (Grid<T>, usize),
    /// First line of columns. A pass computes one or two lines of one strip.
    pub(super) line: usize,
    pub(super) lines: usize,
    /// Range of rows, in whole groups.
    pub(super) rows: (usize, usize),
}

/// Computes a pass over short lists. `flagged` rows use their full lists.
///
/// # Safety
/// The machine must have the instruction set. The table must have the size of the moves. No other thread may write the
/// values that the lists of these rows read in these columns. No other thread may read or write the transposed results:
/// the columns of these rows, in the rows of these columns. The caller provides fences: see [`settle`].
pub(super) unsafe fn run_programs(
    isa: Isa,
    pass: Pass<'_, i16>,
    programs: &Programs,
    flagged: Option<&[bool]>,
) {
    let short = Short { programs, flagged };
    // SAFETY: the caller guarantees it.
    unsafe { dispatch(isa, pass, Work::Run(Some(short)), &mut Vec::new()) }
}

/// Computes a pass over full lists.
///
/// # Safety
/// Same as [`run_programs`].
pub(super) unsafe fn run_lists(isa: Isa, pass: Pass<'_, i16>) {
    // SAFETY: the caller guarantees it.
    unsafe { dispatch(isa, pass, Work::Run(None), &mut Vec::new()) }
}

/// Appends the claims that fail in the columns of a pass.
///
/// # Safety
/// Same as [`run_programs`], for all rows in claims.
pub(super) unsafe fn test_claims(isa: Isa, pass: Pass<'_, i16>, claims: &[Claim], failed: &mut Vec<Claim>) {
    // SAFETY: the caller guarantees it.
    unsafe { dispatch(isa, pass, Work::Test(claims), failed) }
}

/// Makes a thread's non-temporal writes visible to other threads, after its passes.
pub(super) fn settle() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of every x86-64 processor.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[derive(Clone, Copy)]
struct Short<'a> {
    programs: &'a Programs,
    flagged: Option<&'a [bool]>,
}

#[derive(Clone, Copy)]
enum Work<'a> {
    Run(Option<Short<'a>>),
    Test(&'a [Claim]),
}

/// Runs or tests a pass by the code for an instruction set.
///
/// # Safety
/// As [`run_programs`]: the machine has `isa`.
unsafe fn dispatch(isa: Isa, pass: Pass<'_, i16>, work: Work<'_>, failed: &mut Vec<Claim>) {
    #[cfg(target_arch = "x86_64")]
    {
        use super::lanes::{Avx2, Avx512};
        /// # Safety
        /// As [`run_programs`], on a machine with AVX-512.
        #[target_feature(enable = "avx512f,avx512bw,avx2")]
        unsafe fn avx512(pass: Pass<'_, i16>, work: Work<'_>, failed: &mut Vec<Claim>) {
            // SAFETY: this function has these features; the caller guarantees the rest.
            unsafe { with_lines(Avx512::new(), pass, work, failed) }
        }
        /// # Safety
        /// As [`run_programs`], on a machine with AVX2.
        #[target_feature(enable = "avx2")]
        unsafe fn avx2(pass: Pass<'_, i16>, work: Work<'_>, failed: &mut Vec<Claim>) {
            // SAFETY: as above.
            unsafe { with_lines(Avx2::new(), pass, work, failed) }
        }
        match isa {
            // SAFETY: the caller guarantees it.
            Isa::Avx512 => return unsafe { avx512(pass, work, failed) },
            // SAFETY: the caller guarantees it.
            Isa::Avx2 => return unsafe { avx2(pass, work, failed) },
            Isa::Portable => {}
        }
    }
    #[cfg(target_arch = "aarch64")]
    if isa == Isa::Neon {
        // SAFETY: the caller guarantees it; every 64-bit ARM target of Rust has NEON.
        return unsafe { with_lines(super::lanes::Neon::new(), pass, work, failed) };
    }
    let _ = isa;
    // SAFETY: the caller guarantees it.
    unsafe { with_lines(Portable, pass, work, failed) }
}

/// # Safety
/// As [`run_programs`], for the instruction set of the token.
#[inline(always)]
unsafe fn with_lines<L: Lanes>(l: L, pass: Pass<'_, i16>, work: Work<'_>, failed: &mut Vec<Claim>) {
    // SAFETY: the caller guarantees it.
    unsafe {
        match pass.lines {
            1 => run_or_test::<L, 1>(l, pass, work, failed),
            _ => run_or_test::<L, 2>(l, pass, work, failed),
        }
    }
}

/// # Safety
/// As [`run_programs`], for the instruction set of the token; a pass has K lines.
#[inline(always)]
unsafe fn run_or_test<L: Lanes, const K: usize>(
    l: L,
    pass: Pass<'_, i16>,
    work: Work<'_>,
    failed: &mut Vec<Claim>,
) {
    // SAFETY: the caller guarantees it.
    unsafe {
        match work {
            Work::Run(short) => run::<L, K>(l, pass, short),
            Work::Test(claims) => test::<L, K>(l, pass, claims, failed),
        }
    }
}

/// K adjacent lines of any row.
#[derive(Clone, Copy)]
struct Columns<const K: usize>(*const Line);

impl<const K: usize> Columns<K> {
    /// # Safety
    /// As [`Self::at`].
    #[inline(always)]
    unsafe fn load<L: Lanes>(self, l: L, row: u16, k: usize) -> L::V {
        // SAFETY: the caller guarantees it.
        l.load(unsafe { self.at(row, k) })
    }

    /// # Safety
    /// The table has this row and line, and no thread writes the line while the reference lives.
    #[inline(always)]
    unsafe fn at<'a>(self, row: u16, k: usize) -> &'a Line {
        // SAFETY: the caller guarantees that the table has this row and drops the reference after its pass.
        unsafe { &*self.0.add(usize::from(row) * STRIP_LINES + k) }
    }

    #[inline(always)]
    fn prefetch<L: Lanes>(self, l: L, row: u16) {
        for k in 0..K {
            l.prefetch(self.0.wrapping_add(usize::from(row) * STRIP_LINES + k));
        }
    }
}

/// Number of claims tested together, and the prefetch distance in such chunks.
const CHUNK: usize = 32;
const AHEAD: usize = 2;

/// Appends the claims that fail.
///
/// # Safety
/// As [`test_claims`]; a pass has K lines.
#[inline(always)]
unsafe fn test<L: Lanes, const K: usize>(
    l: L,
    pass: Pass<'_, i16>,
    claims: &[Claim],
    failed: &mut Vec<Claim>,
) {
    let columns = Columns::<K>(pass.table.line(pass.line, 0).cast());
    let flag = |claim: &Claim, mut flags| {
        for k in 0..K {
            // SAFETY: claims refer to rows of the table.
            let (worse, better) = unsafe { (columns.at(claim.worse, k), columns.at(claim.better, k)) };
            flags = l.flag_above(flags, l.load(worse), l.load(better));
        }
        flags
    };
    for (chunk, some) in claims.chunks(CHUNK).enumerate() {
        for ahead in claims[(CHUNK * (chunk + AHEAD)).min(claims.len())..].iter().take(CHUNK) {
            columns.prefetch(l, ahead.worse);
            columns.prefetch(l, ahead.better);
        }
        if l.any(some.iter().fold(l.no_flags(), |flags, claim| flag(claim, flags))) {
            failed.extend(some.iter().filter(|claim| l.any(flag(claim, l.no_flags()))));
        }
    }
}

/// Writes the values of the rows of a pass.
///
/// # Safety
/// As [`run_programs`]; a pass has K lines.
#[inline(always)]
unsafe fn run<L: Lanes, const K: usize>(l: L, pass: Pass<'_, i16>, short: Option<Short<'_>>) {
    let columns = Columns::<K>(pass.table.line(pass.line, 0).cast());
    let mut blocks = [Block::ZERO; K];
    let mut stream: &[u16] = &[];
    for group in (pass.rows.0..pass.rows.1).step_by(GROUP) {
        if let Some(short) = &short
            && stream.is_empty()
        {
            stream = short.programs.from(group);
        }
        for row in group..group + GROUP {
            // SAFETY: programs and lists refer to rows of the table.
            let (row, values) = unsafe {
                match short {
                    None => (row, full::<L, K>(l, columns, pass.moves, row)),
                    Some(Short { flagged, .. }) => {
                        let program;
                        (program, stream) = Program::read(stream);
                        for &far in program.ahead {
                            columns.prefetch(l, far);
                        }
                        let row = group + program.place;
                        if flagged.is_some_and(|flagged| flagged[row]) {
                            (row, full::<L, K>(l, columns, pass.moves, row))
                        } else {
                            (row, brief::<L, K>(l, columns, program))
                        }
                    }
                }
            };
            for k in 0..K {
                l.store(&mut blocks[k].0[row % GROUP], values[k]);
            }
        }
        for (k, block) in blocks.iter().enumerate() {
            let to = pass.to.0.line(group / LANES, pass.to.1 + k * LANES);
            // SAFETY: the rows of these columns, in the line of this group, are there and belong to this pass.
            unsafe { l.transpose(block, to.cast(), STRIP_LINES) };
        }
    }
}

#[inline(always)]
fn negated_means<L: Lanes, const K: usize>(l: L, sums: [L::Sums; K]) -> [L::V; K] {
    let mut values = [l.zero(); K];
    for k in 0..K {
        values[k] = l.negated_mean(sums[k]);
    }
    values
}

/// Weights of two rolls that are added together.
const MIXED_WAYS: i16 = 2;
const DOUBLE_WAYS: i16 = 1;

/// Weights of max − first, for a non-double and a double.
const CORRECTIONS: [Weights; 2] =
    [Weights::new(MIXED_WAYS, -MIXED_WAYS), Weights::new(DOUBLE_WAYS, -DOUBLE_WAYS)];

/// Runs one program: the first afterstate of each roll, then corrections for rolls with more afterstates.
///
/// # Safety
/// Every row in the program is a row of the table, and no thread writes these lines.
#[inline(always)]
unsafe fn brief<L: Lanes, const K: usize>(l: L, columns: Columns<K>, program: Program<'_>) -> [L::V; K] {
    let mut sums = [l.no_sums(); K];
    let Program { first, pairs, triples, mut longer, .. } = program;
    // SAFETY: programs refer to rows of the table.
    unsafe {
        for pair in 0..MIXED / 2 {
            for (k, sums) in sums.iter_mut().enumerate() {
                let (a, b) = (columns.load(l, first[2 * pair], k), columns.load(l, first[2 * pair + 1], k));
                *sums = l.add(*sums, a, b, Weights::new(MIXED_WAYS, MIXED_WAYS));
            }
        }
        for (k, sums) in sums.iter_mut().enumerate() {
            let (a, b) = (columns.load(l, first[MIXED - 1], k), columns.load(l, first[MIXED], k));
            *sums = l.add(*sums, a, b, Weights::new(MIXED_WAYS, DOUBLE_WAYS));
        }
        for pair in 0..2 {
            let at = MIXED + 1 + 2 * pair;
            for (k, sums) in sums.iter_mut().enumerate() {
                let (a, b) = (columns.load(l, first[at], k), columns.load(l, first[at + 1], k));
                *sums = l.add(*sums, a, b, Weights::new(DOUBLE_WAYS, DOUBLE_WAYS));
            }
        }
        for (k, sums) in sums.iter_mut().enumerate() {
            *sums = l.add(*sums, columns.load(l, first[20], k), l.zero(), Weights::new(DOUBLE_WAYS, 0));
        }
        for &[kind, a, b] in pairs {
            let weights = CORRECTIONS[usize::from(kind & 1)];
            for (k, sums) in sums.iter_mut().enumerate() {
                let first = columns.load(l, a, k);
                *sums = l.add(*sums, l.max(first, columns.load(l, b, k)), first, weights);
            }
        }
        for &[kind, a, b, c] in triples {
            let weights = CORRECTIONS[usize::from(kind & 1)];
            for (k, sums) in sums.iter_mut().enumerate() {
                let first = columns.load(l, a, k);
                let best = l.max(l.max(first, columns.load(l, b, k)), columns.load(l, c, k));
                *sums = l.add(*sums, best, first, weights);
            }
        }
        while let [kind, rows @ ..] = longer {
            let (list, rest) = rows.split_at(usize::from(kind >> 1));
            let weights = CORRECTIONS[usize::from(kind & 1)];
            for (k, sums) in sums.iter_mut().enumerate() {
                let first = columns.load(l, list[0], k);
                let mut best = first;
                for &row in &list[1..] {
                    best = l.max(best, columns.load(l, row, k));
                }
                *sums = l.add(*sums, best, first, weights);
            }
            longer = rest;
        }
    }
    negated_means(l, sums)
}

/// The values of a row by its full lists.
///
/// # Safety
/// Every row in the lists is a row of the table, and no thread writes these lines.
#[inline(always)]
unsafe fn full<L: Lanes, const K: usize>(l: L, columns: Columns<K>, moves: &Moves, row: usize) -> [L::V; K] {
    let mut sums = [l.no_sums(); K];
    let mut previous = [l.zero(); K];
    for roll in 0..ROLLS.len() {
        let (&first, rest) = moves.list(row, roll).split_first().expect("a roll can always be played");
        for k in 0..K {
            // SAFETY: lists refer to rows of the table.
            unsafe {
                let mut best = l.load(columns.at(first, k));
                for &row in rest {
                    best = l.max(best, l.load(columns.at(row, k)));
                }
                // Two rolls are added together.
                if roll % 2 == 0 {
                    previous[k] = best;
                } else {
                    let ways = |roll| if roll < MIXED { MIXED_WAYS } else { DOUBLE_WAYS };
                    sums[k] = l.add(sums[k], previous[k], best, Weights::new(ways(roll - 1), ways(roll)));
                }
            }
        }
    }
    for k in 0..K {
        sums[k] = l.add(sums[k], previous[k], l.zero(), Weights::new(DOUBLE_WAYS, 0));
    }
    negated_means(l, sums)
}

/// Work in plain loops. The compiler makes code of it for each instruction set.
pub(super) trait Plain {
    /// Does the work. Implementations are inlined.
    ///
    /// # Safety
    /// Same as [`run_programs`].
    unsafe fn run(self);
}

/// Does work in plain loops with an instruction set. The result does not depend on it.
///
/// # Safety
/// Same as [`run_programs`].
pub(super) unsafe fn run_plain<W: Plain>(isa: Isa, work: W) {
    #[cfg(target_arch = "x86_64")]
    {
        /// # Safety
        /// As [`run_programs`], on a machine with AVX2.
        #[target_feature(enable = "avx2")]
        unsafe fn avx2<W: Plain>(work: W) {
            // SAFETY: the caller guarantees it.
            unsafe { work.run() }
        }
        // Also on AVX-512 machines: the compiled loops are faster with 256 bits.
        if isa != Isa::Portable {
            // SAFETY: the caller guarantees it; AVX-512 machines have AVX2.
            return unsafe { avx2(work) };
        }
    }
    let _ = isa;
    // SAFETY: the caller guarantees it.
    unsafe { work.run() }
}

/// A pass over full lists, for any number type. Used for floats, and as the reference for 16 bits.
impl<T: Cell> Plain for Pass<'_, T> {
    #[inline(always)]
    unsafe fn run(self) {
        // SAFETY: the caller guarantees it.
        unsafe {
            match self.lines * T::LANES {
                8 => plain_columns::<T, 8>(self),
                16 => plain_columns::<T, 16>(self),
                32 => plain_columns::<T, 32>(self),
                _ => plain_columns::<T, 64>(self),
            }
        }
    }
}

/// A pass with N columns in all lines together.
///
/// # Safety
/// As [`run_programs`]; N is the number of columns in all lines of the pass.
#[inline(always)]
unsafe fn plain_columns<T: Cell, const N: usize>(pass: Pass<'_, T>) {
    let Pass { table, moves, line, to, .. } = pass;
    for row in pass.rows.0..pass.rows.1 {
        // SAFETY: the caller guarantees it.
        let values = unsafe { negated_bests::<T, N>(table, moves, line, row) };
        for (column, value) in values.into_iter().enumerate() {
            // SAFETY: the columns of these rows, in the rows of these columns, belong to this pass now.
            unsafe { to.0.cell(to.1 + column, row).write(value) };
        }
    }
}

/// −(1/36) Σ over rolls w · max over afterstates m of (row, roll) of Q\[m\]\[j\], for the N columns j from line `line` on.
///
/// # Safety
/// As [`run_programs`]; the N columns are in one strip.
#[inline(always)]
pub(super) unsafe fn negated_bests<T: Cell, const N: usize>(
    table: Grid<T>,
    moves: &Moves,
    line: usize,
    row: usize,
) -> [T; N] {
    // Loops over a constant number of columns, without iterators: these are not always inlined here.
    let (mut mixed, mut doubles) = ([T::Sum::default(); N], [T::Sum::default(); N]);
    for roll in 0..ROLLS.len() {
        let (&first, rest) = moves.list(row, roll).split_first().expect("a roll can always be played");
        // SAFETY: lists refer to rows of the table; no thread writes these lines now.
        let mut best: [T; N] = unsafe { table.line(line, first.into()).cast::<[T; N]>().read() };
        for &row in rest {
            // SAFETY: as above.
            let other: &[T; N] = unsafe { &*table.line(line, row.into()).cast() };
            for k in 0..N {
                best[k] = larger(other[k], best[k]);
            }
        }
        let sums = if roll < MIXED { &mut mixed } else { &mut doubles };
        for k in 0..N {
            sums[k] = T::add(sums[k], best[k]);
        }
    }
    let mut values = [T::default(); N];
    for k in 0..N {
        values[k] = T::negated_mean(mixed[k], doubles[k]);
    }
    values
}

/// a if a > b, otherwise b. A selection, because a branch can become a masked store, which is slow.
#[inline(always)]
pub(super) fn larger<T: PartialOrd>(a: T, b: T) -> T {
    std::hint::select_unpredictable(a > b, a, b)
}

/// The columns of a range of lines, split at strip ends.
pub(super) fn strips(lines: Range<usize>) -> Vec<(usize, usize)> {
    let mut pieces = Vec::new();
    let mut line = lines.start;
    while line < lines.end {
        let end = (line / STRIP_LINES * STRIP_LINES + STRIP_LINES).min(lines.end);
        pieces.push((line, end - line));
        line = end;
    }
    pieces
}
