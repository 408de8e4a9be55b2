//! Exact equities of backgammon with one to three checkers a side, by value iteration.
//!
//! Positions repeat after hits, so values are the fixed point of V(own, opponent) = Σ over the 21 rolls w/36 · max over
//! their results of −V(opponent′, own′). For a side and a roll, the possible plays depend only on which of the
//! reachable points are blocked or have a blot. Opponents that agree there share one list of results; its entries name
//! the side after the move and the points on which it hits. The lists of all positions therefore fit into memory, and a
//! row of values is read many times in succession.

pub mod chances;
pub mod cubeful;
pub mod study;
pub mod with_cube;

use super::side::{BAR, POINTS, Side};
use super::{Position, moves};
use crate::dice::{ROLLS, Roll};
use adept_game::GameError;
use adept_ground::{files, limits, work};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

/// All sides with a given number of checkers, ordered by pips.
struct Sides {
    all: Vec<Side>,
    rank: FxHashMap<Side, u16>,
    /// For each side: its occupied places above 0, and its blocks, in the opponent's numbering.
    seen: Vec<(u32, u32)>,
    /// By point of the opponent and side: the side after a hit there.
    hit: Vec<Vec<u16>>,
}

impl Sides {
    fn new(checkers: u8) -> Self {
        let mut all = Vec::new();
        extend(&mut Vec::new(), BAR, checkers, &mut all);
        all.sort_by_key(|side| (side.pips(), *side));
        let rank: FxHashMap<Side, u16> = all.iter().zip(0..).map(|(&side, rank)| (side, rank)).collect();
        let seen = all.iter().map(|side| {
            let turned = |mask: u32| (mask & POINTS).reverse_bits() >> 6;
            (turned(side.occupied()), turned(side.blocks()))
        });
        let hit = (0..25).map(|point| {
            let after = |side: &Side| match point {
                1.. if side.on(25 - point) > 0 => rank[&side.hit(25 - point)],
                _ => 0,
            };
            all.iter().map(after).collect()
        });
        Self { seen: seen.collect(), hit: hit.collect(), all, rank }
    }

    fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of sides with this many checkers, up to 3.
    fn count(checkers: u8) -> usize {
        [1, 26, 351, 3276][usize::from(checkers)]
    }

    /// The ranks of the sides of a legal position. None if it is not a position of this game, or both sides are done.
    fn ranks(&self, Position { own, opponent }: Position) -> Option<(usize, usize)> {
        let rank = |side: Side| self.rank.get(&side).map(|&rank| usize::from(rank));
        let (own, opponent) = (rank(own)?, rank(opponent)?);
        (self.fit(own, opponent) && own + opponent > 0).then_some((own, opponent))
    }

    /// What a place by opponent and own side holds, by own side and opponent.
    fn by_own<T>(&self, of: impl Fn(usize) -> T) -> impl Iterator<Item = T> {
        let n = self.len();
        (0..n * n).map(move |at| of(at % n * n + at / n))
    }

    /// The number of legal positions that are not over.
    fn positions(&self) -> usize {
        let n = self.len();
        (1..n).map(|own| (1..n).filter(|&opponent| self.fit(own, opponent)).count()).sum()
    }

    /// Whether two sides, each in its own numbering, form a legal position.
    fn fit(&self, own: usize, opponent: usize) -> bool {
        self.all[own].occupied() & self.seen[opponent].0 == 0
    }
}

fn extend(places: &mut Vec<u8>, highest: u8, left: u8, all: &mut Vec<Side>) {
    if left == 0 {
        let mut counts = [0; 26];
        places.iter().for_each(|&place| counts[usize::from(place)] += 1);
        all.push(Side::new(counts));
        return;
    }
    for place in 0..=highest {
        places.push(place);
        extend(places, place, left - 1, all);
        places.pop();
    }
}

/// Points that checkers of a side can reach with a roll.
fn zone(side: Side, roll: Roll) -> u32 {
    let (a, b) = (u32::from(roll.high()), u32::from(roll.low()));
    let occupied = side.occupied();
    let reached = match roll.is_double() {
        true => occupied >> a | occupied >> (2 * a) | occupied >> (3 * a) | occupied >> (4 * a),
        false => occupied >> a | occupied >> b | occupied >> (a + b),
    };
    reached & POINTS
}

/// Bytes that come into the cache together.
const LINE: usize = 64;

/// A result of a roll: rank of the own side after it, the group of opponents that have it, the points on which it hits; 0 for
/// none.
#[derive(Clone, Copy)]
struct Entry {
    after: u16,
    group: u16,
    hits: [u8; 3],
}

/// Result lists of one side: for each roll, groups of opponents with the same results.
struct Lists {
    /// By roll, then by the side after the move: a row of values is read for all groups in succession.
    entries: Vec<Entry>,
    /// End indices in `entries`, by roll.
    ends: [u32; ROLLS.len()],
    /// By roll, all opponents in the order of their groups.
    opponents: Vec<u16>,
    /// End indices of each group among the opponents of a roll.
    groups: [Vec<u16>; ROLLS.len()],
}

impl Lists {
    fn new(own: usize, sides: &Sides) -> Self {
        let (mut entries, mut opponents, mut ends) = (Vec::new(), Vec::new(), [0; ROLLS.len()]);
        let mut groups = std::array::from_fn(|_| Vec::new());
        let side = sides.all[own];
        let fitting: Vec<u16> =
            (1..sides.len()).filter(|&opponent| sides.fit(own, opponent)).map(|rank| rank as u16).collect();
        let mut found: Vec<Position> = Vec::new();
        for (k, (roll, groups)) in ROLLS.into_iter().zip(&mut groups).enumerate() {
            let (first, zone) = (entries.len(), zone(side, roll));
            let mut of: FxHashMap<(u32, u32), Vec<u16>> = FxHashMap::default();
            for &opponent in &fitting {
                let (occupied, blocks) = sides.seen[usize::from(opponent)];
                of.entry((occupied & zone, blocks & zone)).or_default().push(opponent);
            }
            let mut of: Vec<_> = of.into_iter().collect();
            of.sort_unstable_by_key(|(key, _)| *key);
            for ((occupied, _), group) in of {
                let before = sides.all[usize::from(group[0])];
                moves::results(Position { own: side, opponent: before }, roll, &mut found);
                let number = groups.len() as u16;
                entries.extend(found.iter().map(|after| {
                    let mut hits = [0; 3];
                    let points = (1..=24).filter(|&point| {
                        occupied >> point & 1 != 0 && before.on(25 - point) > after.opponent.on(25 - point)
                    });
                    hits.iter_mut().zip(points).for_each(|(hit, point)| *hit = point);
                    Entry { after: sides.rank[&after.own], group: number, hits }
                }));
                opponents.extend(group);
                groups.push((opponents.len() - k * fitting.len()) as u16);
            }
            entries[first..].sort_unstable_by_key(|entry: &Entry| (entry.after, entry.group));
            ends[k] = entries.len() as u32;
        }
        entries.shrink_to_fit();
        Self { entries, ends, opponents, groups }
    }

    /// Computes the means of all positions of this side to roll. `turned` holds values by opponent and own side. Each of the N
    /// numbers of a position has a best move of its own.
    fn means<M: Measure, const N: usize>(
        &self,
        sides: &Sides,
        turned: &[[M::Value; N]],
        means: &mut [[M::Mean; N]],
    ) {
        let n = sides.len();
        means.fill([M::FIRST; N]);
        let count = self.opponents.len() / ROLLS.len();
        let (mut entry, mut least) = (0, Vec::with_capacity(count));
        for (k, (roll, groups)) in ROLLS.into_iter().zip(&self.groups).enumerate() {
            let opponents = &self.opponents[k * count..][..count];
            // The smallest values left to the opponent.
            least.clear();
            least.resize(count, [M::LARGEST; N]);
            let end = self.ends[k] as usize;
            let mut last = None;
            for Entry { after, group, hits } in &self.entries[entry..end] {
                let group = usize::from(*group);
                let first = group.checked_sub(1).map_or(0, |before| usize::from(groups[before]));
                let places = first..usize::from(groups[group]);
                let (least, opponents) = (&mut least[places.clone()], &opponents[places]);
                let row = &turned[usize::from(*after) * n..][..n];
                if last != Some(*after) {
                    last = Some(*after);
                    // Groups read a row here and there. It comes into the cache faster if it is read once in order.
                    row.iter().step_by(LINE.div_ceil(size_of::<[M::Value; N]>())).for_each(|values| {
                        std::hint::black_box(values[0]);
                    });
                }
                let hit = |k: usize| &sides.hit[usize::from(hits[k])];
                match hits {
                    [0, ..] => lower(least, opponents, row, |opponent| opponent),
                    [_, 0, _] => {
                        let hit = hit(0);
                        lower(least, opponents, row, |opponent| hit[usize::from(opponent)]);
                    }
                    _ => {
                        let [first, second, third] = [hit(0), hit(1), hit(2)];
                        lower(least, opponents, row, |opponent| {
                            let after = second[usize::from(first[usize::from(opponent)])];
                            if hits[2] == 0 { after } else { third[usize::from(after)] }
                        });
                    }
                }
            }
            entry = end;
            for (place, &opponent) in opponents.iter().enumerate() {
                let (mean, mut k) = (&mut means[usize::from(opponent)], 0);
                while k < N {
                    mean[k] = M::add(mean[k], roll.ways(), least[place][k]);
                    k += 1;
                }
            }
        }
    }
}

/// Lowers numbers of opponents to those of a row of values where these are smaller. `after` is the opponent's side after a
/// move. The loops use no adapters of arrays: these are not inlined across codegen units, which makes them four times slower.
#[inline]
fn lower<T: Copy + PartialOrd, const N: usize>(
    least: &mut [[T; N]],
    opponents: &[u16],
    row: &[[T; N]],
    after: impl Fn(u16) -> u16,
) {
    for (place, &opponent) in opponents.iter().enumerate() {
        let (least, others, mut k) = (&mut least[place], &row[usize::from(after(opponent))], 0);
        while k < N {
            least[k] = if others[k] < least[k] { others[k] } else { least[k] };
            k += 1;
        }
    }
}

/// A quantity that a sweep computes for the side to roll from the opponent's values.
trait Measure {
    /// A value of a position.
    type Value: Copy + PartialOrd + Send + Sync;
    /// What the rolls add up to.
    type Mean: Copy + Send + Sync;
    /// A value above all others.
    const LARGEST: Self::Value;
    /// The mean before the first roll.
    const FIRST: Self::Mean;

    /// Adds a roll that comes in this many of 36 ways and leaves the opponent `least`, the smallest value.
    fn add(mean: Self::Mean, ways: u32, least: Self::Value) -> Self::Mean;
}

/// The equity: the mean over the rolls of the best result, in points.
struct Equity;

impl Measure for Equity {
    type Value = f64;
    type Mean = f64;
    const LARGEST: f64 = f64::MAX;
    const FIRST: f64 = 0.0;

    #[inline]
    fn add(mean: f64, ways: u32, least: f64) -> f64 {
        mean - f64::from(ways) / 36.0 * least
    }
}

/// −1 where the two sides together can prolong the game whatever the dice are; 0 where some roll, however it is played, leads
/// towards the end.
struct Lasts;

impl Measure for Lasts {
    type Value = f64;
    type Mean = f64;
    const LARGEST: f64 = f64::MAX;
    const FIRST: f64 = -1.0;

    #[inline]
    fn add(mean: f64, _ways: u32, least: f64) -> f64 {
        mean.max(least)
    }
}

/// Exact equities of all positions of a game with 1 to 3 checkers a side, in 32 bits.
pub struct Table {
    sides: Sides,
    /// By own side, which is to roll, and opponent: points for the own side.
    stored: Stored,
}

/// The lists of all sides, and the data for sweeps.
struct Sweeps {
    sides: Sides,
    /// By own side, from rank 1.
    lists: Vec<Lists>,
    /// First ranks of the sides with the same pips, and the end.
    levels: Vec<usize>,
}

/// Two ratios of successive changes that differ by less than this count as equal.
const CALM: f64 = 0.01;

impl Sweeps {
    fn new(checkers: u8) -> Self {
        let sides = Sides::new(checkers);
        let n = sides.len();
        let lists = (1..n).into_par_iter().map(|own| Lists::new(own, &sides)).collect();
        let mut levels = vec![1];
        levels.extend((2..n).filter(|&rank| sides.all[rank].pips() > sides.all[rank - 1].pips()));
        levels.push(n);
        Self { sides, lists, levels }
    }

    /// Values to begin with, by opponent and own side: those of finished games, which the own side has lost, by the points
    /// that it loses, and `others` elsewhere.
    fn start<T: Copy>(&self, others: T, lost: impl Fn(u8) -> T) -> Vec<T> {
        let n = self.sides.len();
        let mut turned = vec![others; n * n];
        for (values, own) in turned.iter_mut().zip(&self.sides.all).skip(1) {
            *values = lost(Position::result(*own).points());
        }
        turned
    }

    /// Whether the place, by opponent and own side, is that of a legal position that is not over.
    fn is_open(&self, at: usize) -> bool {
        let (own, opponent) = (at % self.sides.len(), at / self.sides.len());
        own.min(opponent) > 0 && self.sides.fit(own, opponent)
    }

    /// Runs one sweep over all positions, by the pips of the side to roll. `put` receives each place by opponent and own
    /// side, what was computed there, and the numbers of `turned` to replace.
    fn sweep<M: Measure, const N: usize>(
        &self,
        turned: &mut [[M::Value; N]],
        mut put: impl FnMut(usize, &[M::Mean; N], &mut [M::Value; N]),
    ) {
        let (n, mut rows) = (self.sides.len(), Vec::<Vec<[M::Mean; N]>>::new());
        for level in self.levels.windows(2) {
            let (first, last) = (level[0], level[1]);
            rows.resize_with(rows.len().max(last - first), || vec![[M::FIRST; N]; n]);
            let (rows, lists) = (&mut rows[..last - first], &self.lists[first - 1..last - 1]);
            rows.par_iter_mut().zip(lists).for_each(|(row, lists)| {
                lists.means::<M, N>(&self.sides, turned, row);
            });
            for (opponent, turned) in turned.chunks_exact_mut(n).enumerate().skip(1) {
                for ((own, row), numbers) in (first..last).zip(&*rows).zip(&mut turned[first..last]) {
                    put(opponent * n + own, &row[opponent], numbers);
                }
            }
        }
    }

    /// Runs one sweep that replaces each value by `new` of its place and the computed one. `note` receives each place and its
    /// change. Returns the largest change.
    fn change<M: Measure<Value = f64, Mean = f64>>(
        &self,
        turned: &mut [[f64; 1]],
        new: impl Fn(usize, f64) -> f64,
        mut note: impl FnMut(usize, f64),
    ) -> f64 {
        let mut most = 0.0f64;
        self.sweep::<M, 1>(turned, |at, [mean], [value]| {
            let step = new(at, *mean) - *value;
            most = most.max(step.abs());
            note(at, step);
            *value += step;
        });
        most
    }

    /// Whether `holds` is true for every place and what is computed there from `turned`.
    fn all<M: Measure<Value = f64, Mean = f64>>(
        &self,
        turned: &[[f64; 1]],
        holds: impl Fn(usize, f64) -> bool + Sync,
    ) -> bool {
        let n = self.sides.len();
        self.lists.par_iter().enumerate().all(|(k, lists)| {
            let mut row = vec![[0.0]; n];
            lists.means::<M, 1>(&self.sides, turned, &mut row);
            (1..n).all(|opponent| {
                !self.sides.fit(k + 1, opponent) || holds(opponent * n + k + 1, row[opponent][0])
            })
        })
    }

    /// Sweeps until no equity changes by more than `change`. `turned` starts with the equities of finished games.
    ///
    /// Once the slowest mode dominates, changes shrink by about the same factor r per sweep. The sum of all remaining
    /// changes is then r/(1 − r) of the last one, and is added at once.
    fn run(&self, turned: &mut [[f64; 1]], change: f64, report: impl Fn(f64)) {
        let mut steps = vec![0.0f32; turned.len()];
        let (mut before, mut ratio, mut calm) = (f64::INFINITY, 0.0, 0);
        loop {
            let most = self.change::<Equity>(turned, |_, value| value, |at, step| steps[at] = step as f32);
            report(most);
            if most <= change {
                return;
            }
            let now = most / before;
            calm = if (now - ratio).abs() < CALM && now < 0.95 { calm + 1 } else { 0 };
            (before, ratio) = (most, now);
            if calm == 2 {
                calm = 0;
                let beyond = ratio / (1.0 - ratio);
                turned.iter_mut().zip(&steps).for_each(|([value], step)| *value += beyond * f64::from(*step));
            }
        }
    }

    /// Computes a proved bound of the errors of all equities; infinite if the proof fails.
    ///
    /// T maps values V to the mean over the rolls of the best result, where the opponent's value counts negatively; the
    /// exact equities are its only fixed point, because the game ends with probability 1 however it is played. T is
    /// antitone: larger values give a smaller result. So if e ≥ 0, T(V − e) ≤ V + e and T(V + e) ≥ V − e, then the
    /// continuous T maps the box [V − e, V + e] into itself and has a fixed point there by Brouwer's theorem.
    /// Comparisons use 64-bit floats, whose rounding is a millionth of e.
    ///
    /// Such an e is d · w. Here d is slightly more than the change of V under T, and w is the number of remaining turns
    /// if both sides choose among moves that are optimal to within d · w: w = 1 + (T(V − d w) − V) / d. Sweeps find w;
    /// it is doubled to cover their residual.
    fn bound(&self, exact: &[[f64; 1]], change: f64) -> f64 {
        let mut lasts = vec![[-1.0]; exact.len()];
        let n = self.sides.len();
        // Finished games: the opponent has borne off all checkers.
        lasts[..n].fill([0.0]);
        while self.change::<Lasts>(&mut lasts, |_, value| value, |_, _| ()) > 0.0 {}
        if !self.all::<Lasts>(&lasts, |_, value| value == 0.0) {
            return f64::INFINITY;
        }
        for d in [4.0 * change, 64.0 * change, 1024.0 * change] {
            let mut turned = exact.to_vec();
            let new = |at: usize, value: f64| 2.0 * exact[at][0] - d - value;
            let mut sweeps = 0;
            while self.change::<Equity>(&mut turned, new, |_, _| ()) > d / 4.0 && sweeps < PATIENCE {
                sweeps += 1;
            }
            let e: Vec<f64> =
                exact.iter().zip(&turned).map(|([value], [less])| 2.0 * (value - less)).collect();
            let of = |sign: f64| -> Vec<[f64; 1]> {
                exact.iter().zip(&e).map(|([value], e)| [value + sign * e]).collect()
            };
            let below = e.iter().all(|e| *e >= 0.0)
                && self.all::<Equity>(&of(-1.0), |at, value| value <= exact[at][0] + e[at]);
            if below && self.all::<Equity>(&of(1.0), |at, value| value >= exact[at][0] - e[at]) {
                return (0..e.len()).filter(|&at| self.is_open(at)).map(|at| e[at]).fold(0.0, f64::max);
            }
        }
        f64::INFINITY
    }

    /// Solves the equities until none changes by more than `change` in a sweep. Returns them, by opponent and own side, and a bound
    /// of their errors once they are 32-bit floats.
    fn solve(&self, change: f64, report: impl Fn(f64)) -> (Vec<[f64; 1]>, f64) {
        let mut turned = self.start([0.0], |lost| [-f64::from(lost)]);
        self.run(&mut turned, change, report);
        let bound = self.bound(&turned, change);
        (turned, bound + ROUNDING)
    }
}

/// Largest number of sweeps for the number of turns.
const PATIENCE: usize = 100;

/// Half the spacing of 32-bit floats from 2 to 4, the range with the largest rounding errors of equities.
const ROUNDING: f64 = 1.0 / (1 << 23) as f64;

impl Table {
    /// The largest number of checkers a side.
    pub const MOST: u8 = 3;

    /// Usual tolerance of [`solve`](Self::solve).
    pub const CHANGE: f64 = 1e-9;

    /// Solves the game with 1 to 3 checkers a side until no equity changes by more than `change` points in a sweep.
    /// Three checkers take about 125 CPU-seconds and 1.1 GB of memory. `threads` is the number of threads, 0 for one
    /// per core; the result does not depend on it.
    ///
    /// # Errors
    /// If the system starts no threads, or no bound of the errors can be proved.
    ///
    /// # Panics
    /// If `checkers` is not 1 to 3, or `change` is not above 1e-14.
    pub fn solve(checkers: u8, change: f64, threads: usize) -> Result<Self, GameError> {
        assert!((1..=Self::MOST).contains(&checkers), "{checkers} checkers a side cannot be solved");
        assert!(change > 1e-14, "rounding changes equities by more than {change}");
        pool(threads)?.install(|| Self::solved(checkers, change))
    }

    fn solved(checkers: u8, change: f64) -> Result<Self, GameError> {
        let what = format!("solving backgammon with {checkers} checkers a side");
        work::share(&what, 0.0);
        let sweeps = Sweeps::new(checkers);
        // Changes start at 3 points and shrink by about the same factor per sweep.
        let report =
            |most: f64| work::share(&what, ((most / 3.0).ln() / (change / 3.0).ln()).clamp(0.0, 0.99));
        let (turned, bound) = sweeps.solve(change, report);
        if bound.is_infinite() {
            return Err(GameError::new("no bound of the errors could be proved: take a smaller change"));
        }
        work::share(&what, 1.0);
        let values = sweeps.sides.by_own(|at| turned[at][0] as f32).collect();
        Ok(Self { sides: sweeps.sides, stored: Stored { checkers, bound, values } })
    }

    /// Number of checkers a side.
    pub fn checkers(&self) -> u8 {
        self.stored.checkers
    }

    /// Bound of the absolute error of every equity, in points.
    pub fn bound(&self) -> f64 {
        self.stored.bound
    }

    /// The number of positions that are not over.
    pub fn positions(&self) -> usize {
        self.sides.positions()
    }

    /// The equity of a position for the side to roll, in points. None if it is not a position of this game.
    #[inline]
    pub fn value(&self, position: Position) -> Option<f64> {
        let (own, opponent) = self.sides.ranks(position)?;
        Some(match own {
            0 => f64::from(Position::result(position.opponent).points()),
            _ => self.stored.values[own * self.sides.len() + opponent].into(),
        })
    }

    /// Writes the table to a file, which [`open`](Self::open) reads: `adept backgammon 2\n`, the number of checkers and
    /// the bound of errors in 8 bytes each, the values in 4 bytes each by own side and opponent, the 64-bit XXH3
    /// checksum of everything before. Sides are ordered by pips, ties by their places from the highest. Little-endian.
    ///
    /// # Errors
    /// The system's reason.
    pub fn save(&self, path: &Path) -> Result<(), GameError> {
        self.stored.save(path, &EQUITIES)
    }

    /// Reads a table from a file.
    ///
    /// # Errors
    /// The system's reason, or what is wrong with the file.
    pub fn open(path: &Path) -> Result<Self, GameError> {
        let stored = Stored::open(path, &EQUITIES)?;
        Ok(Self { sides: Sides::new(stored.checkers), stored })
    }
}

/// A pool with this many threads, 0 for one per core.
fn pool(threads: usize) -> Result<rayon::ThreadPool, GameError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(|e| GameError::new(format!("the system starts no threads: {e}")))
}

/// The contents of a table file.
struct Stored {
    checkers: u8,
    bound: f64,
    /// By own side and opponent, the numbers of a position next to each other.
    values: Vec<f32>,
}

/// A kind of table files.
struct Format {
    /// What such a file is.
    name: &'static str,
    /// The first line.
    magic: &'static [u8],
    /// Numbers of each position.
    numbers: usize,
    /// The option that builds such a table, after `adept oracle build`.
    option: &'static str,
}

const EQUITIES: Format = Format {
    name: "table of backgammon",
    magic: b"adept backgammon 2\n",
    numbers: 1,
    option: "--game hypergammon",
};

/// First line of files of earlier versions.
const FIRST: &[u8] = b"adept backgammon\n";

impl Format {
    /// Bytes before the values.
    const fn header(&self) -> usize {
        self.magic.len() + 16
    }

    /// File size of a table with this many sides.
    fn length(&self, sides: usize) -> usize {
        self.header() + 4 * self.numbers * sides * sides + 8
    }
}

impl Stored {
    fn save(&self, path: &Path, format: &Format) -> Result<(), GameError> {
        let write = |file: &mut File| {
            let mut sum = Xxh3Default::new();
            let mut put = |bytes: &[u8]| {
                sum.update(bytes);
                file.write_all(bytes)
            };
            put(format.magic)?;
            put(&u64::from(self.checkers).to_le_bytes())?;
            put(&self.bound.to_le_bytes())?;
            for some in self.values.chunks(1 << 14) {
                put(&some.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())?;
            }
            let sum = sum.digest();
            file.write_all(&sum.to_le_bytes())
        };
        files::replace_large(path, write).map_err(GameError::file(path))
    }

    fn open(path: &Path, format: &Format) -> Result<Self, GameError> {
        let fault = |what: &str| {
            GameError::Table(format!(
                "{}: {what}; build it with `adept oracle build`, such as `{}`",
                path.display(),
                format.option
            ))
        };
        let file = File::open(path).map_err(GameError::file(path))?;
        let length = file.metadata().map_err(GameError::file(path))?.len();
        let most = format.length(Sides::count(Table::MOST));
        if length > most as u64 {
            return Err(fault(&format!("it has {}, more than any {}", limits::size(length), format.name)));
        }
        let mut bytes = Vec::new();
        file.take(most as u64).read_to_end(&mut bytes).map_err(GameError::file(path))?;
        if bytes.starts_with(FIRST) {
            return Err(fault("an earlier version wrote this table, without a bound of its errors"));
        }
        if !bytes.starts_with(format.magic) || bytes.len() < format.header() + 8 {
            return Err(fault(&format!("this is not a {}", format.name)));
        }
        let (rest, sum) = bytes.split_at(bytes.len() - 8);
        if xxh3_64(rest).to_le_bytes() != sum {
            return Err(fault("the table is damaged"));
        }
        let word = |at: usize| std::array::from_fn(|k| rest[at + k]);
        let checkers = u64::from_le_bytes(word(format.magic.len()));
        let checkers = u8::try_from(checkers).ok().filter(|n| (1..=Table::MOST).contains(n));
        let Some(checkers) = checkers.filter(|&n| format.length(Sides::count(n)) == bytes.len()) else {
            return Err(fault("the table has another size than its checkers say"));
        };
        let values = rest[format.header()..]
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let bound = f64::from_le_bytes(word(format.magic.len() + 8));
        Ok(Self { checkers, bound, values: values.collect() })
    }
}
