//! Races of any length: the distribution of the number of rolls that a side needs.
//!
//! A one-sided table holds it for sides with all checkers home. For a side with checkers a few pips outside, it is the
//! mean over all rolls of the distributions of the best resulting sides, and so it is for a side of few checkers. For the first checker off, similar homes count
//! as one. For sides further away, a small network corrects the mean and the variance of a simple estimate, and the
//! distribution is a normal one with the skewness of races.
//!
//! `scripts/races/fit.cpp` fitted the networks to sides whose rolls were followed to the end.

use super::side::{BAR, Side};
use super::{Position, moves};
use crate::bearoff::one_sided::gnubg::{GnubgOneSided, Rolls as HomeRolls};
use crate::bearoff::{self, rank};
use crate::dice::ROLLS;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::hash::BuildHasher;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The goal that a side plays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// Bear off all checkers.
    All,
    /// Bear off the first checker, which saves a gammon.
    First,
}

/// Mean and variance of a number of rolls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moments {
    mean: f32,
    variance: f32,
}

/// Largest number of rolls with a probability, plus 1.
pub(super) const MOST: usize = 64;

/// The probabilities of 0 to 63 rolls.
pub(super) type Rolls = [f64; MOST];

/// Rolls per pip: a roll has 49/6 pips on average.
const PER_PIP: f32 = 6.0 / 49.0;

/// Variance of the number of rolls per pip.
const VARIANCE_PER_PIP: f32 = 0.03;

/// Lower bound of the variance of the number of rolls to come home.
const LEAST_VARIANCE: f32 = 0.02;

/// Skewness of the number of rolls of a long race.
const SKEWNESS: f64 = -0.2;

/// Pips outside up to which rolls are enumerated, for each [`Goal`].
const NEAR: [u32; 2] = [8, 28];

/// Checkers of a side up to which rolls are enumerated wherever they stand.
const FEW: u32 = 3;

/// Largest number of cached sides near home, for each [`Goal`].
const KEPT: [usize; 2] = [50_000, 400_000];

/// Pips outside up to which the second checker on a point of the home counts for the first checker off.
const HOME_COUNTS: u32 = 8;

/// Pips that a checker outside is expected to waste on its way home.
const WASTED: u32 = 2;

/// Largest number of rolls to the first checker off for a side near home, plus 1.
const SOON: usize = 14;

/// The probabilities of few rolls.
type FewRolls = [f32; SOON];

/// Slots of the direct-mapped cache of recent sides.
const RECENT: usize = 1 << 10;

/// Network inputs: checkers off and on each point.
const INPUTS: usize = 25;

/// Width of the hidden layer.
const UNITS: usize = 24;

/// Network outputs: corrections of the mean, in pips, and of the variance, in tenths.
const OUTPUTS: usize = 2;

/// Number of parameters: the hidden layer's weights for each input and bias, then weights and a bias for each output.
const PARAMETERS: usize = (INPUTS + 1) * UNITS + OUTPUTS * (UNITS + 1);

/// Scale of the inputs: the value of one checker.
const CHECKER: f32 = 0.25;

/// The parameters of the network for each [`Goal`], as little-endian 32-bit floats.
const WEIGHTS: &[u8; 2 * PARAMETERS * 4] = include_bytes!("race.f32");

/// A network with one hidden layer of units x / (1 + |x|) and linear outputs.
struct Net([f32; PARAMETERS]);

impl Net {
    fn new(goal: Goal) -> Self {
        let (numbers, _) = WEIGHTS.as_chunks::<4>();
        Self(std::array::from_fn(|i| f32::from_le_bytes(numbers[goal as usize * PARAMETERS + i])))
    }

    fn outputs(&self, counts: &[u8]) -> [f32; OUTPUTS] {
        let (layer, outputs) = self.0.split_at((INPUTS + 1) * UNITS);
        let (rows, _) = layer.as_chunks::<UNITS>();
        let mut units = rows[INPUTS];
        for (count, weights) in counts.iter().zip(rows).filter(|(count, _)| **count > 0) {
            let count = CHECKER * f32::from(*count);
            units.iter_mut().zip(weights).for_each(|(unit, weight)| *unit += count * weight);
        }
        units.iter_mut().for_each(|unit| *unit /= 1.0 + unit.abs());
        let (rows, _) = outputs.as_chunks::<{ UNITS + 1 }>();
        let mut outputs = [0.0; OUTPUTS];
        for (output, row) in outputs.iter_mut().zip(rows) {
            *output = row[UNITS] + units.iter().zip(row).map(|(unit, weight)| unit * weight).sum::<f32>();
        }
        outputs
    }
}

/// Distributions and tail sums of a side's number of rolls. Index k holds the probability of k rolls, or of at least k.
#[derive(Clone, Copy)]
pub(super) struct SideRolls {
    /// P(k) until all checkers are off.
    pub(super) all: Rolls,
    /// P(k or more) until all checkers are off.
    pub(super) all_left: Rolls,
    /// P(k or more) until the first checker is off.
    pub(super) first_left: Rolls,
    /// P(k or more) until no checker is in the opponent's home.
    pub(super) out_left: Rolls,
}

impl SideRolls {
    /// Computes the tail sums from the distributions of the rolls until all checkers are off, until the first one is,
    /// and until none is in the opponent's home.
    pub(super) fn new([all, first, out]: [Rolls; 3]) -> Self {
        let at_least = |mut rolls: Rolls| {
            (0..MOST - 1).rev().for_each(|k| rolls[k] += rolls[k + 1]);
            rolls
        };
        Self { all, all_left: at_least(all), first_left: at_least(first), out_left: at_least(out) }
    }
}

/// A side that was asked for, and its rolls.
type Recent = Mutex<Option<(Side, SideRolls)>>;

/// Roll distributions of all sides with 15 checkers.
pub(super) struct Races {
    table: GnubgOneSided,
    /// Moments of home sides by rank, for each goal.
    home: [Vec<Moments>; 2],
    nets: [Net; 2],
    /// Cached distributions of sides near home: until all checkers are off.
    near_all: Mutex<FxHashMap<Side, Rolls>>,
    /// Until the first checker is off.
    near_first: Mutex<FxHashMap<Side, FewRolls>>,
    /// Direct-mapped cache of recent sides: all moves of a roll leave the same opponent.
    recent: Box<[Recent]>,
}

impl Races {
    /// Extends a table of six points that includes gammons.
    pub(super) fn new(table: GnubgOneSided) -> Self {
        let mut home = [Vec::new(), Vec::new()];
        for rank in 0..rank::sides(table.checkers()) {
            let found = table.rolls(&bearoff::Side::of_rank(rank).counts()).ok().flatten();
            let (all, first) = found.unwrap_or(([0.0; _], None));
            home[0].push(moments(&all));
            home[1].push(moments(&first.unwrap_or([0.0; _])));
        }
        let nets = [Goal::All, Goal::First].map(Net::new);
        let recent = (0..RECENT).map(|_| Mutex::new(None)).collect();
        Self { table, home, nets, near_all: Default::default(), near_first: Default::default(), recent }
    }

    /// The roll distributions of a side without contact.
    pub(super) fn side(&self, side: Side) -> SideRolls {
        let place = FxBuildHasher.hash_one(side) as usize % RECENT;
        let mut recent = self.recent[place].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, rolls)) = recent.filter(|(known, _)| *known == side) {
            return rolls;
        }
        let goals = [Goal::All, Goal::First].map(|goal| self.rolls(side, goal));
        let rolls = SideRolls::new([goals[0], goals[1], self.rolls_out(side)]);
        *recent = Some((side, rolls));
        rolls
    }

    /// The distribution of a side without contact for one goal.
    fn rolls(&self, side: Side, goal: Goal) -> Rolls {
        if goal == Goal::First && side.off() > 0 {
            return none();
        }
        if !side.reaches(7) {
            return self.at_home(&side.places()[1..7], goal);
        }
        match (side.pips_above(6) <= NEAR[goal as usize] || side.above(0) <= FEW, goal) {
            (false, _) => discrete(self.moments(side, goal)),
            (true, Goal::All) => self.rolls_near(side),
            (true, Goal::First) => {
                let few = self.first_near(side);
                std::array::from_fn(|k| few.get(k).copied().unwrap_or_default().into())
            }
        }
    }

    /// The distribution of a side near home until all checkers are off.
    fn rolls_near(&self, side: Side) -> Rolls {
        if let Some(found) = kept(&self.near_all).get(&side) {
            return *found;
        }
        let (mut rolls, mut found) = ([0.0; MOST], Vec::<Position>::new());
        for roll in ROLLS {
            moves::results(Position { own: side, opponent: Side::all_off(15) }, roll, &mut found);
            let nearer =
                found.iter().map(|after| after.own).filter(|after| after.pips_above(6) < side.pips_above(6));
            let mean = |after| match side.above(0) <= FEW {
                true => self.rolls(after, Goal::All).iter().zip(0_u8..).map(|(p, k)| p * f64::from(k)).sum(),
                false => f64::from(self.moments(after, Goal::All).mean),
            };
            let sides = nearer.map(|after| (mean(after), after));
            let Some((_, best)) = sides.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            let weight = f64::from(roll.ways()) / 36.0;
            let after = self.rolls(best, Goal::All);
            rolls[1..].iter_mut().zip(after).for_each(|(to, p)| *to += weight * p);
        }
        keep(&self.near_all, Goal::All, side, rolls)
    }

    /// The distribution of a side near home until its first checker is off.
    fn first_near(&self, side: Side) -> FewRolls {
        if side.off() > 0 {
            return std::array::from_fn(|k| f32::from(u8::from(k == 0)));
        }
        if !side.reaches(7) {
            let rolls = self.at_home(&side.places()[1..7], Goal::First);
            return std::array::from_fn(|k| rolls[k] as f32);
        }
        let most = if side.pips_above(6) <= HOME_COUNTS { 2 } else { 1 };
        let side = with_similar_home(side, most);
        if let Some(found) = kept(&self.near_first).get(&side) {
            return *found;
        }
        let (mut rolls, mut found) = ([0.0; SOON], Vec::new());
        for roll in ROLLS {
            found.clear();
            let pips_left = |after: Side| match after.off() {
                0 => 1 + after.pips_above(6) + WASTED * after.above(6),
                _ => 0,
            };
            let mut visit = |after: Side| found.push((pips_left(after), after));
            match [roll.high(), roll.low()] {
                [high, low] if high == low => run_home(side, &[high; 4], BAR, &mut visit),
                [high, low] => {
                    run_home(side, &[high, low], BAR, &mut visit);
                    run_home(side, &[low, high], BAR, &mut visit);
                }
            }
            // A cheap estimate chooses, and the network among equals: it would take most of the time.
            let least = found.iter().map(|(pips, _)| *pips).min().unwrap_or_default();
            found.retain(|(pips, _)| *pips == least);
            found.sort_unstable();
            found.dedup();
            let mean = |after| if found.len() == 1 { 0.0 } else { self.moments(after, Goal::First).mean };
            let sides = found.iter().map(|(_, after)| (mean(*after), *after));
            let Some((_, best)) = sides.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
            let weight = roll.ways() as f32 / 36.0;
            let after = self.first_near(best);
            rolls[1..].iter_mut().zip(after).for_each(|(to, p)| *to += weight * p);
        }
        keep(&self.near_first, Goal::First, side, rolls)
    }

    /// The distribution of the rolls until no checker of a side is in the opponent's home, which saves a backgammon.
    /// Approximated by bearing off as many checkers from points as far away.
    fn rolls_out(&self, side: Side) -> Rolls {
        match side.reaches(19) {
            true => self.at_home(&side.places()[19..25], Goal::All),
            false => none(),
        }
    }

    /// The distribution of a home side, by its checkers on each point.
    fn at_home(&self, points: &[u8], goal: Goal) -> Rolls {
        // Opening the file checked the entries.
        let found = self.table.rolls(points).ok().flatten();
        let of_goal = |(all, first): (HomeRolls, Option<HomeRolls>)| match goal {
            Goal::All => all,
            Goal::First => first.unwrap_or([0.0; _]),
        };
        let mut rolls = [0.0; MOST];
        rolls.iter_mut().zip(found.map_or([0.0; _], of_goal)).for_each(|(to, p)| *to = p);
        rolls
    }

    /// Mean and variance of a side's number of rolls.
    fn moments(&self, side: Side, goal: Goal) -> Moments {
        if goal == Goal::First && side.off() > 0 {
            return Moments::default();
        }
        let places = side.places();
        if !side.reaches(7) {
            return self.moments_at_home(&places, goal);
        }
        let guess = self.guess(places, goal);
        let [mean, variance] = self.nets[goal as usize].outputs(&places[..INPUTS]);
        Moments {
            mean: guess.mean + mean * PER_PIP,
            variance: (guess.variance + variance / 10.0).max(LEAST_VARIANCE),
        }
    }

    fn moments_at_home(&self, places: &[u8; 26], goal: Goal) -> Moments {
        let home = bearoff::Side::new(std::array::from_fn(|k| places[k + 1]));
        home.and_then(|home| self.home[goal as usize].get(home.rank()).copied()).unwrap_or_default()
    }

    /// The estimate that a network corrects. To bear off all checkers, each outside checker goes to the point 6, 5 or 4
    /// that has the fewest, at a roll for each 49/6 pips; to bear off the first checker, it takes one roll more than
    /// the way to point 6.
    fn guess(&self, mut places: [u8; 26], goal: Goal) -> Moments {
        let mut pips = 0;
        for point in (7..INPUTS).rev() {
            for _ in 0..std::mem::take(&mut places[point]) {
                let to = match goal {
                    Goal::All => [6, 5, 4].into_iter().min_by_key(|&to| places[to]).unwrap_or(6),
                    Goal::First => 6,
                };
                places[to] += 1;
                pips += point - to;
            }
        }
        let base = match goal {
            Goal::All => self.moments_at_home(&places, goal),
            Goal::First => Moments { mean: 1.0, variance: 0.0 },
        };
        let pips = pips as f32;
        Moments { mean: base.mean + pips * PER_PIP, variance: base.variance + pips * VARIANCE_PER_PIP }
    }
}

/// A cache, locked.
fn kept<T>(cache: &Mutex<FxHashMap<Side, T>>) -> MutexGuard<'_, FxHashMap<Side, T>> {
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Puts the rolls of a side into the cache of a goal, which is cleared when it is full.
fn keep<T: Copy>(cache: &Mutex<FxHashMap<Side, T>>, goal: Goal, side: Side, rolls: T) -> T {
    let mut cache = kept(cache);
    if cache.len() >= KEPT[goal as usize] {
        cache.clear();
    }
    cache.insert(side, rolls);
    rolls
}

/// Visits the sides that a side without contact can reach with these dice, in this order, to bear off its first checker:
/// checkers outside move first. A die moves no checker from above the point `highest`, so that equal dice give each set
/// of moves once.
fn run_home(side: Side, dice: &[u8], highest: u8, visit: &mut impl FnMut(Side)) {
    let Some((&die, rest)) = dice.split_first() else { return visit(side) };
    let most = |point| if rest.first() == Some(&die) { point } else { BAR };
    let outside = side.occupied() >> 7 << 7;
    if outside == 0 && (side.on(die) > 0 || side.highest() < die) {
        return visit(side.moved(side.highest().min(die), 0));
    }
    let (from, highest) =
        if outside > 0 { (outside, highest) } else { (side.occupied() >> (die + 1) << (die + 1), BAR) };
    let mut any = false;
    for point in moves::each(from).take_while(|&point| point <= highest) {
        any = true;
        run_home(side.moved(point, point - die), rest, most(point), visit);
    }
    if !any {
        visit(side);
    }
}

/// A similar side with a canonical home: at most `on_a_point` checkers on each point 1 to 6, and the rest on the fullest point.
fn with_similar_home(side: Side, on_a_point: u8) -> Side {
    let mut places = side.places();
    let most = (1..7).max_by_key(|&point| places[point]).unwrap_or(1);
    let mut spare = 0;
    for count in places[1..7].iter_mut().filter(|count| **count > on_a_point) {
        spare += *count - on_a_point;
        *count = on_a_point;
    }
    places[most] += spare;
    Side::new(places)
}

/// The distribution of a side that has finished: zero rolls.
pub(super) fn none() -> Rolls {
    std::array::from_fn(|k| f64::from(u8::from(k == 0)))
}

fn moments(rolls: &HomeRolls) -> Moments {
    let moment = |power: i32| rolls.iter().enumerate().map(|(k, p)| (k as f64).powi(power) * p).sum::<f64>();
    let (mean, square) = (moment(1), moment(2));
    Moments { mean: mean as f32, variance: (square - mean * mean).max(0.0) as f32 }
}

/// Discretises a distribution with these moments: a normal one with the skewness of races, cut at the half-integers.
fn discrete(Moments { mean, variance }: Moments) -> Rolls {
    // Rounding to integers adds 1/12.
    let sd = (f64::from(variance) - 1.0 / 12.0).max(f64::from(LEAST_VARIANCE)).sqrt();
    let below = |k: usize| {
        let z = (k as f64 + 0.5 - f64::from(mean)) / sd;
        // Nearly all probability is within 7 standard deviations.
        if z.abs() > 7.0 {
            return f64::from(u8::from(z > 0.0));
        }
        let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
        0.5 * libm::erfc(-z / std::f64::consts::SQRT_2) - SKEWNESS / 6.0 * (z * z - 1.0) * density
    };
    let (mut rolls, mut before) = ([0.0; MOST], 0.0);
    for (k, p) in rolls.iter_mut().enumerate().skip((f64::from(mean) - 7.0 * sd - 1.0) as usize) {
        if before == 1.0 {
            break;
        }
        let up_to = if k + 1 == MOST { 1.0 } else { below(k).max(before).min(1.0) };
        (*p, before) = (up_to - before, up_to);
    }
    rolls
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(checkers: &[(usize, u8)]) -> Side {
        let mut places = [0; 26];
        checkers.iter().for_each(|&(place, count)| places[place] = count);
        places[0] = 15 - places.iter().sum::<u8>();
        Side::new(places)
    }

    fn mean(rolls: &Rolls) -> f64 {
        rolls.iter().enumerate().map(|(k, p)| k as f64 * p).sum()
    }

    #[test]
    fn distributions_are_whole_and_networks_agree_with_followed_rolls() {
        let races = Races::new(GnubgOneSided::solve(6, 15));
        for goal in [Goal::All, Goal::First] {
            for checkers in [
                &[(7, 1), (6, 4), (5, 4), (4, 4), (3, 2)][..],
                &[(9, 2), (8, 1), (6, 3), (5, 3), (4, 3), (2, 3)],
                &[(13, 1), (9, 1), (6, 5), (5, 4), (3, 4)],
                &[(18, 1), (12, 3), (8, 3), (6, 3), (5, 3), (4, 2)],
                &[(24, 2), (13, 5), (8, 3), (6, 5)],
            ] {
                let side = side(checkers);
                let (rolls, moments) = (races.rolls(side, goal), races.moments(side, goal));
                assert!((rolls.iter().sum::<f64>() - 1.0).abs() < 1e-4, "{goal:?} {side}");
                let rolls = mean(&rolls);
                assert!(
                    (rolls - f64::from(moments.mean)).abs() < 0.12,
                    "{goal:?} {side}: {rolls} {moments:?}"
                );
            }
        }
        // A checker off saves the gammon, and a checker on 24 needs six pips to leave the opponent's home.
        assert_eq!(races.rolls(side(&[(9, 14)]), Goal::First), none());
        assert_eq!(races.rolls_out(side(&[(18, 15)])), none());
        assert!((races.rolls_out(side(&[(24, 1)]))[1] - 27.0 / 36.0).abs() < 1e-4);
    }
}
