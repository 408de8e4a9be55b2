//! Matches: games between agents in all seat orders, with the same dice for each order.

use super::tally::{DealSum, Tally, Trace};
use crate::agents::{Agent, Scratch};
use crate::values::{Decision, Fortune};
use adept_game::{Game, GameError, Stream, Turn, no_action, stream};
use adept_ground::jobs;
use rand::seq::IndexedRandom;
use std::time::Instant;

/// The number of the agent in each seat.
pub type Order = Vec<usize>;

/// All distinct seat orders in which agent a has `counts[a]` seats, in lexicographic order.
pub fn orders(counts: &[usize]) -> Vec<Order> {
    fn extend(order: &mut Order, left: &mut [usize], all: &mut Vec<Order>) {
        if left.iter().all(|n| *n == 0) {
            all.push(order.clone());
        }
        for agent in 0..left.len() {
            if left[agent] > 0 {
                left[agent] -= 1;
                order.push(agent);
                extend(order, left, all);
                order.pop();
                left[agent] += 1;
            }
        }
    }
    let mut all = Vec::new();
    extend(&mut Vec::new(), &mut counts.to_vec(), &mut all);
    all
}

/// Number of distinct seat orders in which agent a has `counts[a]` seats, at most `u64::MAX`.
pub fn count_orders(counts: &[usize]) -> u64 {
    let (mut all, mut seats) = (1u128, 0u128);
    for &count in counts {
        for taken in 1..=count as u128 {
            // The product of binomials so far: every division is exact.
            seats += 1;
            all = all.saturating_mul(seats) / taken;
            if all > u128::from(u64::MAX) {
                return u64::MAX;
            }
        }
    }
    all as u64
}

/// What the games of a match share in every seat order: chance, and the way they open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Deals {
    /// Seed of all random draws.
    pub seed: u64,
    /// The first decisions of each game, of both sides together, that are drawn uniformly at random. Two agents without chance
    /// otherwise play the same game again and again.
    pub random_plies: u32,
}

impl From<u64> for Deals {
    /// Deals in which the agents decide from the start.
    fn from(seed: u64) -> Self {
        Self { seed, random_plies: 0 }
    }
}

/// The random draws of a game.
pub struct Draws<'a> {
    /// Chance, and the random decisions with which the game opens.
    pub dice: &'a mut Stream,
    /// The agents' own draws.
    pub choices: &'a mut Stream,
    /// How many decisions are drawn at random before the agents decide.
    pub random_plies: u32,
}

/// Plays one game to its end with `agents[order[seat]]` in each seat. Returns the utility of every seat.
///
/// # Errors
/// As [`Agent::choose`].
pub fn play<G: Game, A: Agent<G>>(
    game: &G,
    agents: &mut [A],
    order: &[usize],
    draws: Draws<'_>,
    scratch: &mut Scratch<G>,
) -> Result<Vec<f64>, GameError> {
    played(game, agents, order, draws, scratch, &mut |_, _, _| Ok(()))
}

/// The same, and counts the game in `tally`. A deal ends after `orders` games.
///
/// # Errors
/// As [`Agent::choose`].
pub fn play_counted<G: Game, A: Agent<G>>(
    game: &G,
    agents: &mut [A],
    order: &[usize],
    draws: Draws<'_>,
    scratch: &mut Scratch<G>,
    tally: &mut Tally,
    orders: u64,
) -> Result<(), GameError> {
    let mut trace = Trace::of(order);
    let mut watch = |_: &G::State, action: &G::Action, by_chance: bool| {
        trace.add(action, by_chance);
        Ok(())
    };
    let utilities = played(game, agents, order, draws, scratch, &mut watch)?;
    tally.count(order, &utilities, &trace, orders);
    Ok(())
}

/// Sees each move and chance outcome, with the state before it, and whether it is chance's.
type Watch<'a, G> = dyn FnMut(&<G as Game>::State, &<G as Game>::Action, bool) -> Result<(), GameError> + 'a;

/// As [`play`], and shows each move and chance outcome to `watch`.
fn played<G: Game, A: Agent<G>>(
    game: &G,
    agents: &mut [A],
    order: &[usize],
    Draws { dice, choices, random_plies: mut random }: Draws<'_>,
    scratch: &mut Scratch<G>,
    watch: &mut Watch<'_, G>,
) -> Result<Vec<f64>, GameError> {
    let mut state = game.start();
    let mut legal = Vec::new();
    loop {
        let turn = game.turn(&state);
        let action = match turn {
            Turn::Over => break,
            Turn::Chance => game.sample(&state, dice),
            Turn::Player(player) if random > 0 => {
                random -= 1;
                game.actions(&state, &mut legal);
                legal.choose(dice).cloned().ok_or_else(|| no_action(game, &state, player))?
            }
            Turn::Player(player) => {
                agents[order[player]].choose(Decision::new(game, &state, player), scratch, choices)?
            }
        };
        watch(&state, &action, turn == Turn::Chance)?;
        game.apply(&mut state, &action);
    }
    let mut utilities = Vec::with_capacity(order.len());
    game.utilities(&state, &mut utilities);
    Ok(utilities)
}

/// Different openings that are enough for a match.
const OPENINGS: f64 = 200.0;

/// Decisions that open a game at random, at most.
const MOST_OPENING: u32 = 8;

/// How many decisions to draw at random at the start of each game of these agents, so that their games differ: 0 if they differ
/// by themselves, because chance or an agent draws. Else as few as lead to 200 openings, but not more than a third of a random game.
///
/// # Errors
/// As [`Agent::choose`].
pub fn opening_plies<G: Game, A: Agent<G>>(
    game: &G,
    agents: &mut [A],
    order: &Order,
    seed: u64,
) -> Result<u32, GameError> {
    let orders = std::slice::from_ref(order);
    let mut seen = None;
    for g in 0..2 {
        let (_, mut dice, mut choices) = draws(orders, g, seed);
        let draws = Draws { dice: &mut dice, choices: &mut choices, random_plies: 0 };
        let mut trace = Trace::default();
        let mut watch = |_: &G::State, action: &G::Action, by_chance: bool| {
            trace.add(action, by_chance);
            Ok(())
        };
        played(game, agents, order, draws, &mut Scratch::default(), &mut watch)?;
        if trace.chance || seen.is_some_and(|seen| seen != trace.end()) {
            return Ok(0);
        }
        seen = Some(trace.end());
    }
    openings(game, seed)
}

/// The shortest random openings of which there are enough, by the branching of a few random games (Knuth 1975).
fn openings<G: Game>(game: &G, seed: u64) -> Result<u32, GameError> {
    const GAMES: u64 = 64;
    let mut legal = Vec::new();
    let (mut reached, mut length) = ([0.0; MOST_OPENING as usize], 0_u64);
    for g in 0..GAMES {
        let (mut state, mut rng, mut paths) = (game.start(), stream(seed, "match openings", g), 1.0);
        for ply in 0..10_000 {
            let Turn::Player(player) = game.turn(&state) else { break };
            game.actions(&state, &mut legal);
            let action = legal.choose(&mut rng).ok_or_else(|| no_action(game, &state, player))?;
            game.apply(&mut state, action);
            paths *= legal.len() as f64;
            length += 1;
            if let Some(reached) = reached.get_mut(ply) {
                *reached += paths / GAMES as f64;
            }
        }
    }
    let enough =
        reached.iter().position(|paths| *paths >= OPENINGS).map_or(MOST_OPENING, |ply| ply as u32 + 1);
    Ok(enough.min((length / GAMES / 3) as u32).max(1))
}

/// The seat order of game `g`, its dice, and the agents' random draws.
fn draws(orders: &[Order], g: u64, seed: u64) -> (&Order, Stream, Stream) {
    let turns = orders.len() as u64;
    let (dice, choices) = (stream(seed, "match dice", g / turns), stream(seed, "match choices", g));
    (&orders[(g % turns) as usize], dice, choices)
}

/// A game of [`compete`] once more.
#[derive(Clone, Debug)]
pub struct Replayed<'a, G: Game> {
    /// The number of the agent in each seat.
    pub order: &'a Order,
    /// All moves and chance outcomes.
    pub actions: Vec<G::Action>,
    /// The utility of each seat.
    pub utilities: Vec<f64>,
}

/// Game `g` of [`compete`] once more.
///
/// # Errors
/// As [`Agent::choose`].
pub fn replay<'a, G: Game, A: Agent<G>>(
    game: &G,
    agents: &mut [A],
    orders: &'a [Order],
    g: u64,
    deals: Deals,
) -> Result<Replayed<'a, G>, GameError> {
    let (order, mut dice, mut choices) = draws(orders, g, deals.seed);
    let mut actions = Vec::new();
    let mut watch = |_: &G::State, action: &G::Action, _: bool| {
        actions.push(action.clone());
        Ok(())
    };
    let draws = Draws { dice: &mut dice, choices: &mut choices, random_plies: deals.random_plies };
    let utilities = played(game, agents, order, draws, &mut Scratch::default(), &mut watch)?;
    Ok(Replayed { order, actions, utilities })
}

/// Who plays a match, and who tells the luck of its games.
pub struct Table<G: Game> {
    /// The agents.
    pub agents: Vec<Box<dyn Agent<G>>>,
    /// Tells the luck of player 0 in a zero-sum game of two players, if it is to be taken from the results.
    pub luck: Option<Box<dyn Fortune<G>>>,
}

impl<G: Game> From<Vec<Box<dyn Agent<G>>>> for Table<G> {
    /// Agents whose results are taken as they are.
    fn from(agents: Vec<Box<dyn Agent<G>>>) -> Self {
        Self { agents, luck: None }
    }
}

/// Games per task, at least: enough that the cost of creating the agents is negligible.
const CHUNK: u64 = 50;

/// Tasks handed out at once, so that the results of a long match need no memory.
const TASKS: u64 = 4096;

/// Seconds of the tasks that are handed out at once, if they are many: a report comes about so often.
const ROUND: f64 = 4.0;

/// Plays `games` games on all threads of the current pool, cycling through these orders. Game g uses dice number g /
/// orders, so each set of dice is played once in every order. Results do not depend on the number of threads.
///
/// # Errors
/// Errors of `make`, which creates a new set of agents, and of [`Agent::choose`].
pub fn compete<G: Game, T: Into<Table<G>>, E: Send + From<GameError>>(
    game: &G,
    make: impl Fn() -> Result<T, E> + Sync,
    orders: &[Order],
    games: u64,
    deals: impl Into<Deals>,
    stop: impl Fn() -> bool + Sync,
) -> Result<Tally, E> {
    let none = Tally::new(agents_of(orders));
    let make = || make().map(T::into);
    compete_from(game, &make, orders, games, deals.into(), none, &stop, &mut |_| Ok(()))
}

/// The number of agents that these orders name.
fn agents_of(orders: &[Order]) -> usize {
    orders.iter().flatten().max().map_or(0, |agent| agent + 1)
}

/// As [`compete`], after the games that `done` counts, which an earlier call with the same arguments has reported. Every few seconds
/// `report` gets the games so far, from which another call can go on.
///
/// # Errors
/// As [`compete`], and errors of `report`.
#[expect(clippy::too_many_arguments, reason = "what a match is made of")]
pub fn compete_from<G: Game, E: Send + From<GameError>>(
    game: &G,
    make: &(dyn Fn() -> Result<Table<G>, E> + Sync),
    orders: &[Order],
    games: u64,
    Deals { seed, random_plies }: Deals,
    done: Tally,
    stop: &(dyn Fn() -> bool + Sync),
    report: &mut dyn FnMut(&Tally) -> Result<(), E>,
) -> Result<Tally, E> {
    // A deal is played in all orders by one task.
    let turn = orders.len().max(1) as u64;
    let chunk_of = CHUNK.div_ceil(turn) * turn;
    // None if it was stopped before its end.
    let task = |chunk: u64| -> Result<Option<Tally>, E> {
        // Agents may take long to open.
        if stop() {
            return Ok(None);
        }
        let Table { mut agents, mut luck } = make()?;
        let mut tally = Tally::new(agents.len());
        let mut scratch = Scratch::default();
        let mut adjusted = DealSum::default();
        for g in chunk * chunk_of..games.min((chunk + 1) * chunk_of) {
            if stop() {
                return Ok(None);
            }
            let (order, mut dice, mut choices) = draws(orders, g, seed);
            let draws = Draws { dice: &mut dice, choices: &mut choices, random_plies };
            let (mut gained, mut trace) = (0.0, Trace::of(order));
            let mut watch = |state: &G::State, action: &G::Action, by_chance: bool| {
                trace.add(action, by_chance);
                if let Some(luck) = &mut luck
                    && by_chance
                {
                    gained += luck.luck(game, state, action)?;
                }
                Ok(())
            };
            let mut utilities = played(game, &mut agents, order, draws, &mut scratch, &mut watch)?;
            let ended = tally.count(order, &utilities, &trace, turn);
            if luck.is_some() {
                utilities.iter_mut().zip([gained, -gained]).for_each(|(utility, luck)| *utility -= luck);
                adjusted.add(order, &utilities);
                if ended {
                    tally.adjusted.add(std::mem::take(&mut adjusted).utility());
                }
            }
        }
        Ok(Some(tally))
    };
    let (mut total, chunks) = (done, games.div_ceil(chunk_of));
    let threads = rayon::current_num_threads() as u64;
    let (mut next, mut at_once) = (total.games.div_ceil(chunk_of), threads);
    while next < chunks && !stop() {
        let tasks: Vec<u64> = (next..chunks.min(next + at_once.min(TASKS))).collect();
        let (begun, count) = (Instant::now(), tasks.len() as u64);
        next += count;
        let tallies = jobs::try_all(None, tasks, &task);
        // What comes after a task that was stopped does not count, so that another call can go on from there.
        total = tallies?.iter().map_while(Option::as_ref).fold(total, Tally::and);
        report(&total)?;
        let seconds = begun.elapsed().as_secs_f64().max(1e-3);
        at_once = ((ROUND / seconds * count as f64) as u64).clamp(threads, 4 * at_once);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::{count_orders, orders};

    #[test]
    fn orders_are_all_distinct_ones() {
        assert_eq!(orders(&[1, 1]), [[0, 1], [1, 0]]);
        assert_eq!(orders(&[2, 2]).len(), 6);
        assert_eq!(orders(&[1, 3]), [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]);
        assert_eq!(orders(&[1, 1, 1, 1]).len(), 24);
        for counts in [&[1, 1][..], &[2, 2], &[1, 3], &[3, 4], &[1, 1, 1, 1], &[2, 0, 3]] {
            assert_eq!(count_orders(counts), orders(counts).len() as u64, "{counts:?}");
        }
        assert_eq!(count_orders(&[31, 31]), 465_428_353_255_261_088);
        assert_eq!(count_orders(&[500, 500]), u64::MAX);
    }
}
