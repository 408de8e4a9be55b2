//! Short move lists, verified on the table itself.
//!
//! A side has 161 afterstates over the 21 rolls (14 checkers), but hardly more than one per roll is ever best. No
//! simple rule predicts which: "every checker at least as far" is wrong. But solved numbers can be compared. If one row
//! of the table is at least another row *in the current columns*, the maximum over these columns does not need the
//! other row. So:
//!
//! - a *claim* says that one afterstate is at least another in every column. A sample of columns suggests it;
//! - a row's *program* holds its move lists without the afterstates that claims make redundant;
//! - a program runs only over columns in which every claim has been tested. Each test runs once. A failed claim is
//!   withdrawn permanently. In the columns where it failed, rows that may depend on it use their full lists.
//!
//! For n = 14, about six claims per row leave 26 of the 161 afterstates; 3 % of the claims fail in some column. The
//! table is identical to the last bit.

use super::grid::Grid;
use super::lanes::Line;
use super::order::{GROUP, Moves, Order};
use super::program::{Programs, ShortLists};
use crate::bearoff::ROLLS;
use rustc_hash::FxHashSet;

/// Number of sampled lines of columns that suggest claims.
pub(super) const SAMPLE: usize = 12;

/// Largest number of claims about the same worse row.
const MOST_CLAIMS: usize = 12;

/// Claim: row `better` is at least row `worse`, for the player who moved there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Claim {
    pub(super) worse: u16,
    pub(super) better: u16,
}

/// Programs of the rows so far, and the claims that they depend on.
pub(super) struct Dominance<'a> {
    order: &'a Order,
    moves: &'a Moves,
    sample: usize,
    /// All claims that still hold, by worse row.
    pub(super) claims: Vec<Claim>,
    better: Vec<[u16; MOST_CLAIMS]>,
    count: Vec<u8>,
    withdrawn: FxHashSet<Claim>,
    /// Short lists of the rows so far: the start of each list, and its ends by roll.
    lists: Vec<(u32, [u16; ROLLS.len()])>,
    kept: Vec<u16>,
    ahead: Prefetches,
    /// The programs for the kernels, and the pieces to rewrite.
    pub(super) programs: Programs,
    stale: Vec<bool>,
    scratch: Scratch,
}

/// For each row, the rows to prefetch before computing it.
struct Prefetches {
    starts: Vec<u32>,
    rows: Vec<u16>,
}

impl Prefetches {
    fn rows(&self, row: usize) -> &[u16] {
        match self.starts.get(row + 1) {
            Some(&end) => &self.rows[self.starts[row] as usize..end as usize],
            None => &[],
        }
    }
}

/// A row has left the nearest cache after this many rows since its last read.
const FORGOTTEN: u32 = 96;

struct Scratch {
    /// Whether a row is in the current list.
    in_list: Vec<bool>,
    kept: Vec<u16>,
    ends: [u16; ROLLS.len()],
    /// The last row that read each row; 0 for none.
    read: Vec<u16>,
    /// Number of claims of each kind. A kind is the difference of two sides.
    uses: Vec<u32>,
}

impl<'a> Dominance<'a> {
    /// Starts without claims. `sample` is the number of lines of columns that suggest claims.
    pub(super) fn new(order: &'a Order, moves: &'a Moves, sample: usize) -> Self {
        let rows = order.sides.len();
        let scratch = Scratch {
            in_list: vec![false; rows],
            kept: Vec::new(),
            ends: [0; ROLLS.len()],
            read: vec![0; rows],
            uses: vec![0; 1 << 16],
        };
        // The empty side's level has no moves.
        let idle = order.levels[1];
        Self {
            order,
            moves,
            sample,
            claims: Vec::new(),
            better: vec![[0; MOST_CLAIMS]; rows],
            count: vec![0; rows],
            withdrawn: FxHashSet::default(),
            lists: vec![(0, [0; ROLLS.len()]); idle],
            kept: Vec::new(),
            ahead: Prefetches { starts: vec![0; idle + 1], rows: Vec::new() },
            programs: Programs::default(),
            stale: Vec::new(),
            scratch,
        }
    }

    /// Writes the programs of a level whose lower levels are solved. Returns its new claims, by worse row. They are not
    /// in [`Self::claims`] yet. `near` maps a line of columns to a nearby one that this rank holds.
    pub(super) fn add_level(
        &mut self,
        level: usize,
        table: Grid<i16>,
        near: impl Fn(usize) -> usize,
    ) -> Vec<Claim> {
        let rows = self.order.levels[level]..self.order.levels[level + 1];
        let sample = Sample::new(table, rows.start / GROUP, self.sample, near);
        let mut new = Vec::new();
        for row in rows.clone() {
            self.shorten(row, Some((&sample, &mut new)));
            self.lists.push((0, [0; ROLLS.len()]));
            self.store(row);
            let Scratch { read, kept, .. } = &mut self.scratch;
            for &afterstate in kept.iter() {
                let last = std::mem::replace(&mut read[usize::from(afterstate)], row as u16);
                // The first phase of a level starts with cold caches, so reads for lower levels do not count.
                if usize::from(last) < rows.start || row as u32 - u32::from(last) > FORGOTTEN {
                    self.ahead.rows.push(afterstate);
                }
            }
            self.ahead.starts.push(self.ahead.rows.len() as u32);
        }
        self.stale.push(true);
        new.sort_unstable();
        new
    }

    /// Number of afterstates in all short lists so far.
    #[cfg(test)]
    pub(super) fn kept_in_all(&self) -> usize {
        self.lists.iter().map(|(_, ends)| usize::from(ends[ROLLS.len() - 1])).sum()
    }

    /// Adds tested claims to the claims that hold.
    pub(super) fn accept(&mut self, claims: &[Claim]) {
        self.claims.extend_from_slice(claims);
        // Both runs are sorted, so this is a merge.
        self.claims.sort();
    }

    /// Withdraws failed claims and rewrites the programs that depend on them.
    pub(super) fn withdraw(&mut self, failed: &[Claim]) {
        if failed.is_empty() {
            return;
        }
        self.withdrawn.extend(failed);
        self.claims.retain(|claim| !self.withdrawn.contains(claim));
        let mut rows = Vec::new();
        for claim in failed {
            let worse = usize::from(claim.worse);
            let count = usize::from(self.count[worse]);
            let better = &mut self.better[worse];
            if let Some(at) = better[..count].iter().position(|&b| b == claim.better) {
                better.copy_within(at + 1..count, at);
                self.count[worse] -= 1;
            }
            rows.extend(self.relying(*claim));
        }
        rows.sort_unstable();
        rows.dedup();
        for row in rows {
            self.shorten(row, None);
            self.store(row);
            // Each level from 1 has one piece.
            let level = self.order.levels.partition_point(|&start| start <= row) - 1;
            self.stale[level - 1] = true;
        }
    }

    /// The rows with a program and a list that contains both rows of a claim.
    pub(super) fn relying(&self, claim: Claim) -> impl Iterator<Item = usize> {
        let known = self.lists.len();
        let origins = self.moves.origins(usize::from(claim.worse)).iter().map(|&row| usize::from(row));
        origins.take_while(move |&row| row < known).filter(move |&row| {
            (0..ROLLS.len()).any(|roll| {
                let list = self.moves.list(row, roll);
                list.len() > 1 && list.contains(&claim.better) && list.contains(&claim.worse)
            })
        })
    }

    /// Stores the scratch lists as the lists of a row.
    fn store(&mut self, row: usize) {
        self.lists[row] = (self.kept.len() as u32, self.scratch.ends);
        self.kept.extend_from_slice(&self.scratch.kept);
    }

    /// Rewrites the changed programs of the levels from `level` on.
    pub(super) fn write_programs(&mut self, level: usize) {
        for piece in level - 1..self.stale.len() {
            if std::mem::take(&mut self.stale[piece]) {
                let rows = self.order.levels[piece + 1]..self.order.levels[piece + 2];
                let Self { lists, kept, ahead, programs, .. } = self;
                let lists = |row: usize| {
                    let (start, ends) = &lists[row];
                    ShortLists { rows: &kept[*start as usize..], ends }
                };
                programs.write(piece, rows, lists, |row| ahead.rows(row + GROUP));
            }
        }
    }

    /// Writes the shortened lists of a row to the scratch. Uses the known claims and, with a sample, new ones.
    fn shorten(&mut self, row: usize, mut guess: Option<(&Sample, &mut Vec<Claim>)>) {
        let Scratch { in_list, kept, ends, uses, .. } = &mut self.scratch;
        let sides = &self.order.sides;
        let kind = |Claim { worse, better }: Claim| {
            let [worse, better] = [worse, better].map(|row| sides[usize::from(row)].bits());
            // Sixteen bits that distinguish the common differences.
            (better.wrapping_sub(worse).wrapping_mul(0x9e37_79b1) >> 16) as usize
        };
        kept.clear();
        for (roll, end) in ends.iter_mut().enumerate() {
            let list = self.moves.list(row, roll);
            kept.push(list[0]);
            list.iter().for_each(|&row| in_list[usize::from(row)] = true);
            // The better row of a claim has fewer expected rolls or, if equal, a lower row number. This is the order of
            // the lists, so claims have no cycles and the first entry of a list always stays.
            for (at, &worse) in list[1..].iter().enumerate() {
                let w = usize::from(worse);
                let count = usize::from(self.count[w]);
                if self.better[w][..count].iter().any(|&b| in_list[usize::from(b)]) {
                    continue;
                }
                if let Some((sample, new)) = &mut guess
                    && count < MOST_CLAIMS
                {
                    // Among the plausible claims, prefer the most frequent kind: it will be useful again.
                    let mut claim: Option<(u32, Claim)> = None;
                    for &better in &list[..at + 1] {
                        let candidate = Claim { worse, better };
                        let uses = uses[kind(candidate)];
                        if claim.is_none_or(|(most, _)| uses > most)
                            && sample.supports(candidate)
                            && !self.withdrawn.contains(&candidate)
                        {
                            claim = Some((uses, candidate));
                        }
                    }
                    if let Some((_, claim)) = claim {
                        uses[kind(claim)] += 1;
                        self.better[w][count] = claim.better;
                        self.count[w] += 1;
                        new.push(claim);
                        continue;
                    }
                }
                kept.push(worse);
            }
            list.iter().for_each(|&row| in_list[usize::from(row)] = false);
            *end = kept.len() as u16;
        }
    }
}

/// Columns that suggest claims.
struct Sample {
    table: Grid<i16>,
    lines: Vec<usize>,
}

impl Sample {
    /// At most `most` lines, spread over the first `lines` lines, which are solved. Line 0 belongs to the empty side.
    fn new(table: Grid<i16>, lines: usize, most: usize, near: impl Fn(usize) -> usize) -> Self {
        // Details of a move matter more when the opponent is near the end. Distant columns find other errors.
        const PLACES: [f64; SAMPLE] = [0.03, 0.3, 0.01, 0.1, 0.6, 0.999, 0.06, 0.2, 0.45, 0.8, 0.005, 0.9];
        let mut chosen: Vec<usize> = Vec::new();
        if lines > 1 {
            for place in PLACES.into_iter().take(most) {
                let line = near(1 + ((lines - 1) as f64 * place) as usize);
                if (1..lines).contains(&line) && !chosen.contains(&line) {
                    chosen.push(line);
                }
            }
        }
        Self { table, lines: chosen }
    }

    fn supports(&self, claim: Claim) -> bool {
        let line = |line, row: u16| -> &Line {
            // SAFETY: nothing writes while programs are made, and the table has these lines.
            unsafe { &*self.table.line(line, usize::from(row)).cast() }
        };
        !self.lines.is_empty()
            && self.lines.iter().all(|&l| {
                let (better, worse) = (line(l, claim.better), line(l, claim.worse));
                better.0.iter().zip(&worse.0).fold(true, |all, (b, w)| all & (b >= w))
            })
    }
}
