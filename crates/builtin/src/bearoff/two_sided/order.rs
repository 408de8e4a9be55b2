//! The moves of every side, and the order of solving a two-sided table.
//!
//! The *level* of a side is the length of its longest game: 0 for the empty side, otherwise 1 + the highest level of
//! its afterstates. After a move, the mover's side has a lower level, so a whole level can be solved at once. The rows
//! of a table are the sides by level. Copies of the last side pad each level to a multiple of [`GROUP`].

use crate::bearoff::{ROLLS, Side, rank, rules};

/// Rows of a level are in groups of this size.
pub(super) const GROUP: usize = 32;

/// Sides as rows, ordered by level.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// Row of a side, by rank.
    pub(super) row_of: Vec<u16>,
    /// Side of each row.
    pub(super) sides: Vec<Side>,
    /// First row of each level, then the number of rows.
    pub(super) levels: Vec<usize>,
}

/// The afterstates of every row and roll, as rows.
#[derive(Clone, Debug)]
pub(super) struct Moves {
    /// Start of the list of row r and roll k, at index r · 21 + k.
    starts: Vec<u32>,
    /// All lists. If they will be shortened, each starts with the fewest expected rolls.
    rows: Vec<u16>,
    /// Start of the list of rows that can move to each row.
    origin_starts: Vec<u32>,
    origins: Vec<u16>,
}

impl Moves {
    /// The rows that row `from` can move to with roll `roll` of [`ROLLS`].
    #[inline]
    pub(super) fn list(&self, from: usize, roll: usize) -> &[u16] {
        let at = from * ROLLS.len() + roll;
        &self.rows[self.starts[at] as usize..self.starts[at + 1] as usize]
    }

    /// The rows that can move to this row with one roll, ascending.
    pub(super) fn origins(&self, to: usize) -> &[u16] {
        &self.origins[self.origin_starts[to] as usize..self.origin_starts[to + 1] as usize]
    }
}

/// Afterstates by rank: the lists of all sides and rolls, one after another.
struct Lists {
    starts: Vec<u32>,
    ranks: Vec<u16>,
}

/// Lists all moves of sides with at most `checkers` checkers, and orders the sides by level. The order within lists and
/// the origins are computed only with `to_shorten`.
pub(super) fn order_and_moves(checkers: u8, to_shorten: bool) -> (Order, Moves) {
    let lists = afterstates_by_rank(checkers);
    let order = by_level(checkers, &lists);
    let moves = by_row(&order, &lists, to_shorten);
    (order, moves)
}

fn afterstates_by_rank(checkers: u8) -> Lists {
    let sides = rank::sides(checkers);
    // Results of one die as ranks: four or five on average.
    let mut step_starts = Vec::with_capacity(sides * 6 + 1);
    let mut steps: Vec<u16> = Vec::with_capacity(sides * 16);
    step_starts.push(0_u32);
    for rank in 0..sides {
        let side = Side::of_rank(rank);
        for die in 1..=6 {
            steps.extend(rules::steps(side, die).map(|s| s.rank() as u16));
            step_starts.push(steps.len() as u32);
        }
    }
    let step = |rank: u16, die: u8| {
        let at = usize::from(rank) * 6 + usize::from(die) - 1;
        &steps[step_starts[at] as usize..step_starts[at + 1] as usize]
    };
    let mut seen = ClearableSet::new(sides);
    let mut lists = Lists { starts: Vec::with_capacity(sides * ROLLS.len() + 1), ranks: Vec::new() };
    lists.starts.push(0);
    let (mut now, mut next) = (Vec::new(), Vec::new());
    for rank in 0..sides as u16 {
        for roll in ROLLS {
            if rank > 0 && roll.is_double() {
                now.clear();
                now.push(rank);
                for _ in 0..4 {
                    seen.clear();
                    next.clear();
                    next.extend(now.iter().flat_map(|&r| step(r, roll.high())).filter(|&&r| seen.insert(r)));
                    std::mem::swap(&mut now, &mut next);
                }
                lists.ranks.extend_from_slice(&now);
            } else if rank > 0 {
                seen.clear();
                for (first, second) in [(roll.high(), roll.low()), (roll.low(), roll.high())] {
                    for &between in step(rank, first) {
                        lists.ranks.extend(step(between, second).iter().filter(|&&r| seen.insert(r)));
                    }
                }
            }
            lists.starts.push(lists.ranks.len() as u32);
        }
    }
    lists
}

/// A set of small numbers that can be cleared at no cost.
struct ClearableSet {
    round: u32,
    rounds: Vec<u32>,
}

impl ClearableSet {
    fn new(len: usize) -> Self {
        Self { round: 0, rounds: vec![0; len] }
    }

    fn clear(&mut self) {
        self.round += 1;
    }

    /// Adds a number. Returns whether it is new.
    #[inline]
    fn insert(&mut self, number: u16) -> bool {
        std::mem::replace(&mut self.rounds[usize::from(number)], self.round) != self.round
    }
}

impl Lists {
    /// All lists of one side. A move never leads to a higher rank.
    fn lists(&self, rank: usize) -> impl Iterator<Item = &[u16]> {
        let at = rank * ROLLS.len();
        let bounds = &self.starts[at..=at + ROLLS.len()];
        bounds.windows(2).map(|b| &self.ranks[b[0] as usize..b[1] as usize])
    }
}

fn by_level(checkers: u8, lists: &Lists) -> Order {
    let sides = rank::sides(checkers);
    let mut level = vec![0_u8; sides];
    for rank in 1..sides {
        level[rank] = 1 + lists.lists(rank).flatten().map(|&r| level[usize::from(r)]).max().unwrap_or(0);
    }
    let top = level.iter().max().copied().unwrap_or(0);
    let mut by_level: Vec<Vec<Side>> = vec![Vec::new(); usize::from(top) + 1];
    for (rank, &level) in level.iter().enumerate() {
        by_level[usize::from(level)].push(Side::of_rank(rank));
    }
    let mut order = Order { row_of: vec![0; sides], sides: Vec::new(), levels: Vec::new() };
    for mut level in by_level {
        order.levels.push(order.sides.len());
        // Adjacent sides move to adjacent sides. The order of the bits keeps their data close together.
        level.sort_unstable();
        for &side in &level {
            order.row_of[side.rank()] = order.sides.len() as u16;
            order.sides.push(side);
        }
        let full = order.sides.len().next_multiple_of(GROUP);
        let last = order.sides[order.sides.len() - 1];
        order.sides.resize(full, last);
    }
    order.levels.push(order.sides.len());
    order
}

/// Smallest expected number of rolls, by rank. It predicts which afterstates are good.
fn expected_rolls(lists: &Lists, sides: usize) -> Vec<f32> {
    let mut expected = vec![0_f32; sides];
    for rank in 1..sides {
        let total: f32 = lists
            .lists(rank)
            .zip(ROLLS)
            .map(|(list, roll)| {
                let best = list.iter().map(|&r| expected[usize::from(r)]).fold(f32::INFINITY, f32::min);
                best * roll.ways() as f32
            })
            .sum();
        expected[rank] = 1.0 + total / 36.0;
    }
    expected
}

fn by_row(order: &Order, lists: &Lists, to_shorten: bool) -> Moves {
    let expected = if to_shorten { expected_rolls(lists, order.row_of.len()) } else { Vec::new() };
    let rows = order.sides.len();
    let mut starts = Vec::with_capacity(rows * ROLLS.len() + 1);
    let mut refs: Vec<u16> = Vec::with_capacity(lists.ranks.len() + lists.ranks.len() / 32);
    let mut keyed: Vec<u64> = Vec::new();
    starts.push(0);
    for side in &order.sides {
        for list in lists.lists(side.rank()) {
            if !to_shorten {
                refs.extend(list.iter().map(|&r| order.row_of[usize::from(r)]));
                starts.push(refs.len() as u32);
                continue;
            }
            // Non-negative floats have the same order as their bits.
            keyed.clear();
            keyed.extend(list.iter().map(|&r| {
                let r = usize::from(r);
                u64::from(expected[r].to_bits()) << 16 | u64::from(order.row_of[r])
            }));
            keyed.sort_unstable();
            refs.extend(keyed.iter().map(|&key| key as u16));
            starts.push(refs.len() as u32);
        }
    }
    let (origin_starts, origins) =
        if to_shorten { origins(&starts, &refs, rows) } else { Default::default() };
    Moves { starts, rows: refs, origin_starts, origins }
}

/// For each row, the rows that can move to it, ascending. Returns the starts and the flat list.
fn origins(starts: &[u32], refs: &[u16], rows: usize) -> (Vec<u32>, Vec<u16>) {
    // Counting sort: each row appears once for each side that it can move to.
    let mut counts = vec![0_u32; rows + 1];
    let mut seen = ClearableSet::new(rows);
    let mut distinct = Vec::with_capacity(refs.len());
    let mut distinct_ends = Vec::with_capacity(rows);
    for row in 0..rows {
        seen.clear();
        let all = starts[row * ROLLS.len()] as usize..starts[(row + 1) * ROLLS.len()] as usize;
        distinct.extend(refs[all].iter().copied().filter(|&r| seen.insert(r)));
        distinct_ends.push(distinct.len());
    }
    for &r in &distinct {
        counts[usize::from(r) + 1] += 1;
    }
    for row in 0..rows {
        counts[row + 1] += counts[row];
    }
    let mut next = counts.clone();
    let mut origins = vec![0; distinct.len()];
    let mut start = 0;
    for (row, &end) in distinct_ends.iter().enumerate() {
        for &r in &distinct[start..end] {
            let place = &mut next[usize::from(r)];
            origins[*place as usize] = row as u16;
            *place += 1;
        }
        start = end;
    }
    (counts, origins)
}
