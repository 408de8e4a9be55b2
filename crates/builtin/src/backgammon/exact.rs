//! Exact equities of backgammon with one to three checkers a side, by value iteration.
//!
//! Positions repeat after hits, so values are the fixed point of V(own, opponent) = Σ over the 21 rolls w/36 · max over
//! their results of −V(opponent′, own′). For a side and a roll, the possible plays depend only on which of the
//! reachable points are blocked or have a blot. Opponents that agree there share one list of results; its entries name
//! the side after the move and the points on which it hits. The lists of all positions therefore fit into memory, and a
//! row of values is read many times in succession.

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
    /// By side and point of the opponent: the side after a hit there.
    hit: Vec<[u16; 25]>,
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
        let hit = all.iter().map(|side| {
            std::array::from_fn(|point| match point {
                1.. if side.on(25 - point as u8) > 0 => rank[&side.hit(25 - point as u8)],
                _ => 0,
            })
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

/// A result of a roll: rank of the own side after it and a mask of the points on which it hits; 0 for none.
#[derive(Clone, Copy)]
struct Entry {
    after: u16,
    hits: [u8; 3],
}

/// Result lists of one side: for each roll, groups of opponents with the same results.
struct Lists {
    entries: Vec<Entry>,
    opponents: Vec<u16>,
    /// End indices of each group in `entries` and `opponents`, by roll.
    groups: [Vec<(u32, u32)>; ROLLS.len()],
}

impl Lists {
    fn new(own: usize, sides: &Sides) -> Self {
        let mut lists =
            Self { entries: Vec::new(), opponents: Vec::new(), groups: std::array::from_fn(|_| Vec::new()) };
        let side = sides.all[own];
        let fitting: Vec<u16> =
            (1..sides.len()).filter(|&opponent| sides.fit(own, opponent)).map(|rank| rank as u16).collect();
        let mut found: Vec<Position> = Vec::new();
        for (roll, groups) in ROLLS.into_iter().zip(&mut lists.groups) {
            let zone = zone(side, roll);
            let mut of: FxHashMap<(u32, u32), Vec<u16>> = FxHashMap::default();
            for &opponent in &fitting {
                let (occupied, blocks) = sides.seen[usize::from(opponent)];
                of.entry((occupied & zone, blocks & zone)).or_default().push(opponent);
            }
            let mut of: Vec<_> = of.into_iter().collect();
            of.sort_unstable_by_key(|(key, _)| *key);
            for ((occupied, _), opponents) in of {
                let before = sides.all[usize::from(opponents[0])];
                moves::results(Position { own: side, opponent: before }, roll, &mut found);
                lists.entries.extend(found.iter().map(|after| {
                    let mut hits = [0; 3];
                    let points = (1..=24).filter(|&point| {
                        occupied >> point & 1 != 0 && before.on(25 - point) > after.opponent.on(25 - point)
                    });
                    hits.iter_mut().zip(points).for_each(|(hit, point)| *hit = point);
                    Entry { after: sides.rank[&after.own], hits }
                }));
                lists.opponents.extend(opponents);
                groups.push((lists.entries.len() as u32, lists.opponents.len() as u32));
            }
        }
        lists
    }

    /// Computes the value of each position of this side to roll. `turned` holds the values by opponent and own side.
    fn values(&self, sides: &Sides, turned: &[f64], what: Measure, values: &mut [f64]) {
        let n = sides.len();
        values.fill(match what {
            Measure::Equity => 0.0,
            Measure::Lasts => -1.0,
        });
        let (mut entry, mut opponent, mut least) = (0, 0, Vec::new());
        for (roll, groups) in ROLLS.into_iter().zip(&self.groups) {
            let weight = f64::from(roll.ways()) / 36.0;
            for &(entries_end, opponents_end) in groups {
                let opponents = &self.opponents[opponent..opponents_end as usize];
                // The smallest value left to the opponent.
                least.clear();
                least.resize(opponents.len(), f64::MAX);
                for Entry { after, hits } in &self.entries[entry..entries_end as usize] {
                    let row = &turned[usize::from(*after) * n..][..n];
                    if hits[0] == 0 {
                        for (least, &opponent) in least.iter_mut().zip(opponents) {
                            *least = least.min(row[usize::from(opponent)]);
                        }
                    } else {
                        let hits = hits.iter().filter(|point| **point > 0);
                        for (least, &opponent) in least.iter_mut().zip(opponents) {
                            let after = hits.clone().fold(opponent, |side, &point| {
                                sides.hit[usize::from(side)][usize::from(point)]
                            });
                            *least = least.min(row[usize::from(after)]);
                        }
                    }
                }
                for (least, &opponent) in least.iter().zip(opponents) {
                    let value = &mut values[usize::from(opponent)];
                    match what {
                        Measure::Equity => *value -= weight * least,
                        Measure::Lasts => *value = value.max(*least),
                    }
                }
                (entry, opponent) = (entries_end as usize, opponents_end as usize);
            }
        }
    }
}

/// Quantity that a sweep computes for the side to roll.
#[derive(Clone, Copy)]
enum Measure {
    /// The equity: the mean over the rolls of the best result, in points.
    Equity,
    /// −1 where the two sides together can prolong the game whatever the dice are; 0 where some roll, however it is
    /// played, leads towards the end.
    Lasts,
}

/// Exact equities of all positions of a game with 1 to 3 checkers a side, in 32 bits.
pub struct Table {
    checkers: u8,
    sides: Sides,
    /// By own side, which is to roll, and opponent: points for the own side.
    values: Vec<f32>,
    bound: f64,
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

    /// Runs one sweep over all positions, by the pips of the side to roll. Each value of `turned` (by opponent and own
    /// side) is replaced by `new` of its place and the computed `what`. `note` receives each place and its change.
    /// Returns the largest change.
    fn sweep(
        &self,
        turned: &mut [f64],
        what: Measure,
        new: impl Fn(usize, f64) -> f64,
        mut note: impl FnMut(usize, f64),
    ) -> f64 {
        let (n, mut rows, mut most) = (self.sides.len(), Vec::<Vec<f64>>::new(), 0.0f64);
        for level in self.levels.windows(2) {
            let (first, last) = (level[0], level[1]);
            rows.resize_with(rows.len().max(last - first), || vec![0.0; n]);
            let lists = &self.lists[first - 1..last - 1];
            rows[..lists.len()].par_iter_mut().zip(lists).for_each(|(row, lists)| {
                lists.values(&self.sides, turned, what, row);
            });
            for (own, row) in (first..last).zip(&rows) {
                for (opponent, value) in row.iter().enumerate().skip(1) {
                    let at = opponent * n + own;
                    let step = new(at, *value) - turned[at];
                    most = most.max(step.abs());
                    note(at, step);
                    turned[at] += step;
                }
            }
        }
        most
    }

    /// Whether `holds` is true for every place and the `what` computed there from `turned`.
    fn all(&self, turned: &[f64], what: Measure, holds: impl Fn(usize, f64) -> bool + Sync) -> bool {
        let n = self.sides.len();
        self.lists.par_iter().enumerate().all(|(k, lists)| {
            let mut row = vec![0.0; n];
            lists.values(&self.sides, turned, what, &mut row);
            (1..n).all(|opponent| {
                !self.sides.fit(k + 1, opponent) || holds(opponent * n + k + 1, row[opponent])
            })
        })
    }

    /// Sweeps until no equity changes by more than `change`. `turned` starts with the equities of finished games.
    ///
    /// Once the slowest mode dominates, changes shrink by about the same factor r per sweep. The sum of all remaining
    /// changes is then r/(1 − r) of the last one, and is added at once.
    fn run(&self, turned: &mut [f64], change: f64, report: impl Fn(f64)) {
        let mut steps = vec![0.0f32; turned.len()];
        let (mut before, mut ratio, mut calm) = (f64::INFINITY, 0.0, 0);
        loop {
            let most =
                self.sweep(turned, Measure::Equity, |_, value| value, |at, step| steps[at] = step as f32);
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
                turned.iter_mut().zip(&steps).for_each(|(value, step)| *value += beyond * f64::from(*step));
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
    fn bound(&self, exact: &[f64], change: f64) -> f64 {
        let mut lasts = vec![-1.0; exact.len()];
        let n = self.sides.len();
        // Finished games: the opponent has borne off all checkers.
        lasts[..n].fill(0.0);
        while self.sweep(&mut lasts, Measure::Lasts, |_, value| value, |_, _| ()) > 0.0 {}
        if !self.all(&lasts, Measure::Lasts, |_, value| value == 0.0) {
            return f64::INFINITY;
        }
        for d in [4.0 * change, 64.0 * change, 1024.0 * change] {
            let mut turned = exact.to_vec();
            let new = |at: usize, value: f64| 2.0 * exact[at] - d - value;
            let mut sweeps = 0;
            while self.sweep(&mut turned, Measure::Equity, new, |_, _| ()) > d / 4.0 && sweeps < PATIENCE {
                sweeps += 1;
            }
            let e: Vec<f64> = exact.iter().zip(&turned).map(|(value, less)| 2.0 * (value - less)).collect();
            let of =
                |sign: f64| -> Vec<f64> { exact.iter().zip(&e).map(|(value, e)| value + sign * e).collect() };
            let below = e.iter().all(|e| *e >= 0.0)
                && self.all(&of(-1.0), Measure::Equity, |at, value| value <= exact[at] + e[at]);
            if below && self.all(&of(1.0), Measure::Equity, |at, value| value >= exact[at] - e[at]) {
                let fits = |at: &usize| {
                    let (own, opponent) = (at % n, at / n);
                    own.min(opponent) > 0 && self.sides.fit(own, opponent)
                };
                return (0..e.len()).filter(fits).map(|at| e[at]).fold(0.0, f64::max);
            }
        }
        f64::INFINITY
    }

    /// Solves the equities until none changes by more than `change` in a sweep. Returns them, by opponent and own side, and a bound
    /// of their errors once they are 32-bit floats.
    fn solve(&self, change: f64, report: impl Fn(f64)) -> (Vec<f64>, f64) {
        let n = self.sides.len();
        let mut turned = vec![0.0; n * n];
        // The opponent has borne off all checkers: the own side has lost.
        for (value, own) in turned.iter_mut().zip(&self.sides.all).skip(1) {
            *value = -f64::from(Position::result(*own).points());
        }
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
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|e| GameError::new(format!("the system starts no threads: {e}")))?;
        pool.install(|| Self::solved(checkers, change))
    }

    fn solved(checkers: u8, change: f64) -> Result<Self, GameError> {
        let what = format!("solving backgammon with {checkers} checkers a side");
        work::share(&what, 0.0);
        let sweeps = Sweeps::new(checkers);
        let n = sweeps.sides.len();
        // Changes start at 3 points and shrink by about the same factor per sweep.
        let report =
            |most: f64| work::share(&what, ((most / 3.0).ln() / (change / 3.0).ln()).clamp(0.0, 0.99));
        let (turned, bound) = sweeps.solve(change, report);
        if bound.is_infinite() {
            return Err(GameError::new("no bound of the errors could be proved: take a smaller change"));
        }
        work::share(&what, 1.0);
        let sides = sweeps.sides;
        let values = (0..n * n).map(|at| turned[at % n * n + at / n] as f32).collect();
        Ok(Self { checkers, sides, values, bound })
    }

    /// Number of checkers a side.
    pub fn checkers(&self) -> u8 {
        self.checkers
    }

    /// Bound of the absolute error of every equity, in points.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// The number of positions that are not over.
    pub fn positions(&self) -> usize {
        let n = self.sides.len();
        (1..n).map(|own| (1..n).filter(|&opponent| self.sides.fit(own, opponent)).count()).sum()
    }

    /// The equity of a position for the side to roll, in points. None if it is not a position of this game.
    #[inline]
    pub fn value(&self, Position { own, opponent }: Position) -> Option<f64> {
        let rank = |side: Side| self.sides.rank.get(&side).map(|&rank| usize::from(rank));
        let (own_rank, opponent_rank) = (rank(own)?, rank(opponent)?);
        match own.is_done() {
            _ if !self.sides.fit(own_rank, opponent_rank) || own.is_done() && opponent.is_done() => None,
            true => Some(f64::from(Position::result(opponent).points())),
            false => Some(self.values[own_rank * self.sides.len() + opponent_rank].into()),
        }
    }

    /// Writes the table to a file, which [`open`](Self::open) reads: `adept backgammon 2\n`, the number of checkers and
    /// the bound of errors in 8 bytes each, the values in 4 bytes each by own side and opponent, the 64-bit XXH3
    /// checksum of everything before. Sides are ordered by pips, ties by their places from the highest. Little-endian.
    ///
    /// # Errors
    /// The system's reason.
    pub fn save(&self, path: &Path) -> Result<(), GameError> {
        let write = |file: &mut File| {
            let mut sum = Xxh3Default::new();
            let mut put = |bytes: &[u8]| {
                sum.update(bytes);
                file.write_all(bytes)
            };
            put(MAGIC)?;
            put(&u64::from(self.checkers).to_le_bytes())?;
            put(&self.bound.to_le_bytes())?;
            for row in self.values.chunks(self.sides.len()) {
                put(&row.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>())?;
            }
            let sum = sum.digest();
            file.write_all(&sum.to_le_bytes())
        };
        files::replace_large(path, write).map_err(GameError::file(path))
    }

    /// Reads a table from a file.
    ///
    /// # Errors
    /// The system's reason, or what is wrong with the file.
    pub fn open(path: &Path) -> Result<Self, GameError> {
        let fault = |what: &str| {
            GameError::Table(format!(
                "{}: {what}; build it with `adept oracle build`, such as `--game hypergammon`",
                path.display()
            ))
        };
        let file = File::open(path).map_err(GameError::file(path))?;
        let length = file.metadata().map_err(GameError::file(path))?.len();
        let most = Self::length(Sides::count(Self::MOST));
        if length > most as u64 {
            return Err(fault(&format!(
                "it has {}, more than any table of backgammon",
                limits::size(length)
            )));
        }
        let mut bytes = Vec::new();
        file.take(most as u64).read_to_end(&mut bytes).map_err(GameError::file(path))?;
        if bytes.starts_with(FIRST) {
            return Err(fault("an earlier version wrote this table, without a bound of its errors"));
        }
        if !bytes.starts_with(MAGIC) || bytes.len() < HEADER + 8 {
            return Err(fault("this is not a table of backgammon"));
        }
        let (rest, sum) = bytes.split_at(bytes.len() - 8);
        if xxh3_64(rest).to_le_bytes() != sum {
            return Err(fault("the table is damaged"));
        }
        let word = |at: usize| std::array::from_fn(|k| rest[at + k]);
        let checkers = u64::from_le_bytes(word(MAGIC.len()));
        let checkers = u8::try_from(checkers).ok().filter(|n| (1..=Self::MOST).contains(n));
        let Some(checkers) = checkers.filter(|&n| Self::length(Sides::count(n)) == bytes.len()) else {
            return Err(fault("the table has another size than its checkers say"));
        };
        let values = rest[HEADER..]
            .chunks_exact(4)
            .map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]]));
        let bound = f64::from_le_bytes(word(MAGIC.len() + 8));
        Ok(Self { checkers, sides: Sides::new(checkers), values: values.collect(), bound })
    }

    /// File size of a table with this many sides.
    fn length(sides: usize) -> usize {
        HEADER + 4 * sides * sides + 8
    }
}

/// First line of files of earlier versions.
const FIRST: &[u8] = b"adept backgammon\n";
const MAGIC: &[u8] = b"adept backgammon 2\n";
const HEADER: usize = MAGIC.len() + 16;
