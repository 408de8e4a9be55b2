//! Rollouts: a position played to its end many times, by an agent against itself, with less of the luck of the dice.
//!
//! Two things make the mean of few games exact. The luck of every chance event, as [`luck`](crate::Luck) tells it, is taken from the
//! result, and from the probability of each class of results. And the first dice are spread evenly: with chance in 36ths, such as two
//! dice, every first throw comes once in 36 trials and every pair of first throws once in 1,296.

use super::inspect::next_player;
use crate::error::OpenError;
use crate::matches::Net;
use crate::values::{Luck, class_of, expected};
use adept_game::{Kit, Turn, draw_index, stream};
use adept_ground::jobs;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// How a position is rolled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Games to play.
    pub trials: u64,
    /// Actions of players that count as plies after which a game is cut off and has the agent's value; none to play to the end.
    pub truncate: Option<u32>,
    /// Seed of the dice.
    pub seed: u64,
}

/// Sums over the trials of a position, for the player whose turn it is or comes after chance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sums {
    /// Results less luck, in [−1, 1] on average; its deals are the trials.
    pub equity: Net,
    /// Results as they are.
    pub raw: Net,
    /// The share of each class of results, less luck; empty if the agent knows values alone.
    pub classes: Vec<Net>,
    /// Results less luck beyond those of the first position with the same dice; no deals if there is one position.
    #[serde(default, skip_serializing_if = "is_empty")]
    pub beyond_first: Net,
}

fn is_empty(net: &Net) -> bool {
    net.deals == 0
}

impl Sums {
    fn and(mut self, other: &Self) -> Self {
        self.equity = self.equity.and(other.equity);
        self.raw = self.raw.and(other.raw);
        self.beyond_first = self.beyond_first.and(other.beyond_first);
        self.classes.resize(other.classes.len(), Net::default());
        self.classes.iter_mut().zip(&other.classes).for_each(|(a, b)| *a = a.and(*b));
        self
    }

    /// Adds a trial.
    fn add(&mut self, trial: &Trial) {
        self.equity.add(trial.value - trial.luck);
        self.raw.add(trial.value);
        self.classes.resize(trial.classes.len(), Net::default());
        self.classes.iter_mut().zip(&trial.classes).for_each(|(net, share)| net.add(*share));
    }
}

/// Parts into which one throw of chance is divided: the throws of two dice.
const THROWS: usize = 36;

/// Throws of a game that are spread over the trials, and how many of the first ones depend on each other.
const SPREAD: usize = 128;
const DEEP: usize = 6;

/// Throws that are spread evenly over the trials.
pub struct Dice {
    /// Permutations by depth and number of the throw in its game.
    orders: Vec<[u8; THROWS]>,
}

impl Dice {
    /// The dice of a seed.
    pub fn new(seed: u64) -> Self {
        let order = |index: usize| {
            let mut order: [u8; THROWS] = std::array::from_fn(|throw| throw as u8);
            order.shuffle(&mut stream(seed, "rollout order", index as u64));
            order
        };
        Self { orders: (0..DEEP * SPREAD).map(order).collect() }
    }

    /// Throw number `turn` of a trial, below 36; none after the first 128.
    pub fn throw(&self, trial: u64, turn: usize) -> Option<usize> {
        if turn >= SPREAD {
            return None;
        }
        let (mut throw, mut rest) = (0, trial);
        for depth in 0..=turn.min(DEEP - 1) {
            throw =
                usize::from(self.orders[depth * SPREAD + turn][(rest as usize % THROWS + throw) % THROWS]);
            rest /= THROWS as u64;
        }
        Some(throw)
    }
}

/// The outcome with this throw, if every outcome has a whole number of the 36 throws.
fn outcome_of(probabilities: impl Iterator<Item = f64>, throw: usize) -> Option<usize> {
    let (mut end, mut found) = (0, None);
    for (outcome, p) in probabilities.enumerate() {
        let ways = (p * THROWS as f64).round();
        if (ways - p * THROWS as f64).abs() > 1e-9 {
            return None;
        }
        end += ways as usize;
        if throw < end && found.is_none() {
            found = Some(outcome);
        }
    }
    found.filter(|_| end == THROWS)
}

/// What a trial came to.
struct Trial {
    value: f64,
    luck: f64,
    /// Share of each class, less luck.
    classes: Vec<f64>,
}

/// Plays a position once. Values are for player 0. None if it was stopped.
fn play<G: Kit>(
    game: &G,
    luck: &mut Luck<G>,
    start: &G::State,
    (dice, number): (&Dice, u64),
    options: &Options,
    stop: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Trial>, OpenError> {
    let mut chance = stream(options.seed, "rollout dice", number);
    let mut state = start.clone();
    let n = luck.classes().len();
    let mut trial = Trial { value: 0.0, luck: 0.0, classes: vec![0.0; n] };
    let (mut throws, mut plies) = (0, 0);
    while game.turn(&state) != Turn::Over {
        if stop() {
            return Ok(None);
        }
        if luck.judge(game, &state)?.is_none() {
            let outcome = game.sample(&state, &mut chance);
            game.apply(&mut state, &outcome);
            continue;
        }
        let (prospects, shares) = luck.judged();
        let probabilities = || prospects.iter().map(|prospect| prospect.probability);
        let mut drawn = 0;
        if game.turn(&state) == Turn::Chance {
            let spread = dice.throw(number, throws).and_then(|throw| outcome_of(probabilities(), throw));
            drawn = spread.unwrap_or_else(|| draw_index(probabilities(), &mut chance));
            throws += 1;
        }
        let prospect = &prospects[drawn];
        trial.luck += prospect.value - expected(prospects);
        for (class, share) in trial.classes.iter_mut().enumerate() {
            let mean: f64 = probabilities()
                .zip(shares.iter().skip(class).step_by(n))
                .map(|(p, s)| p * f64::from(*s))
                .sum();
            *share -= f64::from(shares[drawn * n + class]) - mean;
        }
        prospect.outcome.iter().for_each(|outcome| game.apply(&mut state, outcome));
        if let Some(best) = &prospect.best {
            plies += u32::from(game.counts_as_ply(&state));
            game.apply(&mut state, best);
        }
        if options.truncate.is_some_and(|most| plies >= most) && game.turn(&state) != Turn::Over {
            trial.value = prospect.value;
            let last = &shares[drawn * n..][..n];
            trial.classes.iter_mut().zip(last).for_each(|(share, p)| *share += f64::from(*p));
            return Ok(Some(trial));
        }
    }
    trial.value = game.utility(&state, 0) / game.scale();
    if n > 0 {
        trial.classes[class_of(game, luck.classes(), &state, 0)?] += 1.0;
    }
    Ok(Some(trial))
}

/// The player for whom a position is rolled out: who is to move, or will be after chance. None if the game is over or that is not known.
pub fn viewer<G: Kit>(game: &G, state: &G::State) -> Option<usize> {
    match game.turn(state) {
        Turn::Player(player) => Some(player),
        Turn::Chance => next_player(game, state),
        Turn::Over => None,
    }
}

/// Trials of a task: few, because a search may take seconds for one.
const TASK: u64 = 3;

/// Tasks that a thread does between two reports.
const TASKS: usize = 3;

/// Rolls out a position on all threads of the current pool: see [`roll_out_all`].
///
/// # Errors
/// Same as [`roll_out_all`].
pub fn roll_out<G: Kit>(
    game: &G,
    make: &(dyn Fn() -> Result<Luck<G>, OpenError> + Sync),
    (start, viewer): (&G::State, usize),
    options: &Options,
    done: Sums,
    stop: &(dyn Fn() -> bool + Sync),
    report: &mut dyn FnMut(&Sums) -> Result<(), OpenError>,
) -> Result<Sums, OpenError> {
    let mut of_one = |sums: &[Sums]| sums.iter().try_for_each(&mut *report);
    let starts = [(start.clone(), viewer)];
    let sums = roll_out_all(game, make, &starts, options, vec![done], stop, &mut of_one)?;
    Ok(sums.into_iter().next().unwrap_or_default())
}

/// Rolls out positions with the same dice, each seen by a player, on all threads of the current pool, from `done` on, as far as `stop` lets it: results do not depend on threads,
/// nor on stops. `make` opens the agent for a thread; `report` gets the sums so far.
///
/// # Errors
/// Errors of `make` and `report`. If a player has no action, or a game ends in none of the classes.
pub fn roll_out_all<G: Kit>(
    game: &G,
    make: &(dyn Fn() -> Result<Luck<G>, OpenError> + Sync),
    starts: &[(G::State, usize)],
    options: &Options,
    done: Vec<Sums>,
    stop: &(dyn Fn() -> bool + Sync),
    report: &mut dyn FnMut(&[Sums]) -> Result<(), OpenError>,
) -> Result<Vec<Sums>, OpenError> {
    let (dice, idle, mut sums) = (Dice::new(options.seed), Mutex::new(Vec::new()), done);
    let task = |first: u64| -> Result<Option<Vec<Sums>>, OpenError> {
        let mut luck = match idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            Some(luck) => luck,
            None => make()?,
        };
        let mut sums = vec![Sums::default(); starts.len()];
        for number in first..options.trials.min((first / TASK + 1) * TASK) {
            let mut of_first = None;
            for ((start, viewer), sums) in starts.iter().zip(&mut sums) {
                let Some(mut trial) = play(game, &mut luck, start, (&dice, number), options, stop)? else {
                    return Ok(None);
                };
                if *viewer != 0 {
                    (trial.value, trial.luck) = (-trial.value, -trial.luck);
                    trial.classes = luck.classes().iter().map(|class| trial.classes[class.mirror]).collect();
                }
                sums.add(&trial);
                let adjusted = trial.value - trial.luck;
                if starts.len() > 1 {
                    sums.beyond_first.add(adjusted - *of_first.get_or_insert(adjusted));
                }
            }
        }
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(luck);
        Ok(Some(sums))
    };
    let played = |sums: &[Sums]| sums.first().map_or(options.trials, |sums| sums.equity.deals);
    while played(&sums) < options.trials && !stop() {
        let next = played(&sums);
        // The first task may end what an earlier call with fewer trials began.
        let tasks = (0..(TASKS * rayon::current_num_threads()) as u64)
            .map(|k| if k == 0 { next } else { (next / TASK + k) * TASK });
        let tasks: Vec<u64> = tasks.filter(|first| *first < options.trials).collect();
        let found: Vec<Option<Vec<Sums>>> = jobs::try_all(None, tasks, &task)?;
        for found in found.iter().map_while(Option::as_ref) {
            sums = sums.into_iter().zip(found).map(|(sums, more)| sums.and(more)).collect();
        }
        report(&sums)?;
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// Every first throw in 36 trials, every pair of the first two in 1,296, of neighbours later on too.
    #[test]
    fn throws_are_spread_evenly() {
        let dice = Dice::new(5);
        let of = |trial, turn| dice.throw(trial, turn).unwrap();
        for block in 0..3 {
            let firsts: HashSet<usize> = (36 * block..36 * (block + 1)).map(|trial| of(trial, 0)).collect();
            assert_eq!(firsts.len(), 36);
        }
        let pairs: HashSet<_> = (0..1296).map(|trial| (of(trial, 0), of(trial, 1))).collect();
        assert_eq!(pairs.len(), 1296);
        let later = |turn| {
            (0..36)
                .map(|throw| (0..1296).filter(|&trial| of(trial, turn) == throw).count())
                .collect::<Vec<_>>()
        };
        assert_eq!([2, 90].map(later), [vec![36; 36], vec![36; 36]]);
        assert_eq!(dice.throw(0, SPREAD), None);
        assert_ne!(Dice::new(6).orders, dice.orders);
    }

    #[test]
    fn throws_belong_to_outcomes_in_whole_numbers() {
        let rolls = || [2.0, 1.0, 33.0].map(|ways: f64| ways / 36.0).into_iter();
        let all: Vec<usize> = (0..36).filter_map(|throw| outcome_of(rolls(), throw)).collect();
        assert_eq!((all.len(), &all[..4]), (36, &[0, 0, 1, 2][..]));
        assert_eq!(outcome_of([1.0 / 30.0; 30].into_iter(), 3), None);
    }
}
