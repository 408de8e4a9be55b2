//! Exact comparison of agents: expected utilities by recursion over all actions and chance outcomes.

use crate::agents::Agent;
use adept_game::{Game, Turn};
use adept_ground::limits;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Why a game cannot be measured exactly.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExactError {
    /// Its chance outcomes can only be sampled.
    #[error("the game has too many chance outcomes to list; exact computation is not possible")]
    Chance,
    /// It has chance, which this measure does not allow.
    #[error("the game has chance, and this needs a game without chance")]
    Dice,
    /// It may go on for too many moves, or for ever.
    #[error(
        "a game of more than {0} moves: too long to measure exactly; play matches instead, or give the game a limit of moves"
    )]
    Depth(usize),
    /// It has no solution.
    #[error("no sequence of moves reaches the highest result of the game")]
    Unsolvable,
    /// It has too many states.
    #[error("more than {0} states: too many to measure exactly; play matches instead")]
    Size(usize),
    /// An agent's policy is not a probability distribution, for example because its values are NaN.
    #[error("an agent's probabilities sum to {0} instead of 1; its values are not finite numbers")]
    Policy(String),
}

/// Maximum number of states that the recursions of this module and the solvers keep.
pub(crate) const MAX_STATES: usize = limits::STATES;

/// Moves of the longest game that is measured exactly. A game that can come back to a state has no longest game.
pub(crate) const DEEPEST: usize = 2_000;

/// The number of moves after one more.
pub(crate) fn deeper(depth: usize) -> Result<usize, ExactError> {
    match depth < DEEPEST {
        true => Ok(depth + 1),
        false => Err(ExactError::Depth(DEEPEST)),
    }
}

/// Match equity of one agent against another: mean utility over all seats. If a win is worth 1, this is (wins − losses)
/// / games.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Equity {
    /// Mean over the seats.
    pub equity: f64,
    /// Expected utility in each seat.
    pub seats: Vec<f64>,
}

/// Exact match equity of `agent` against `other`, who takes all other seats.
///
/// # Errors
/// See [`ExactError`].
pub fn equity<G: Game>(
    game: &G,
    agent: &mut dyn Agent<G>,
    other: &mut dyn Agent<G>,
) -> Result<Equity, ExactError> {
    let mut seats = Vec::with_capacity(game.players());
    for seat in 0..game.players() {
        let mut walk = Walk::new(game, seat);
        seats.push(walk.value(&game.start(), 0, &mut |state, player, actions, p| {
            if player == seat {
                agent.policy(game, state, player, actions, p);
            } else {
                other.policy(game, state, player, actions, p);
            }
        })?);
    }
    Ok(Equity { equity: seats.iter().sum::<f64>() / seats.len() as f64, seats })
}

/// Expected utility of every player from `state` on, with `agents[p]` in seat p.
///
/// # Errors
/// See [`ExactError`].
pub fn expected_utilities<G: Game>(
    game: &G,
    state: &G::State,
    agents: &mut [Box<dyn Agent<G>>],
) -> Result<Vec<f64>, ExactError> {
    (0..game.players())
        .map(|seat| {
            Walk::new(game, seat).value(state, 0, &mut |state, player, actions, p| {
                agents[player].policy(game, state, player, actions, p);
            })
        })
        .collect()
}

/// A memoised recursion for the utility of one player.
struct Walk<'a, G: Game> {
    game: &'a G,
    player: usize,
    known: FxHashMap<G::State, f64>,
}

type Policy<'a, G> = dyn FnMut(&<G as Game>::State, usize, &[<G as Game>::Action], &mut Vec<f64>) + 'a;

impl<'a, G: Game> Walk<'a, G> {
    fn new(game: &'a G, player: usize) -> Self {
        Self { game, player, known: FxHashMap::default() }
    }

    fn value(
        &mut self,
        state: &G::State,
        depth: usize,
        policy: &mut Policy<'_, G>,
    ) -> Result<f64, ExactError> {
        if self.game.turn(state) == Turn::Over {
            return Ok(self.game.utility(state, self.player));
        }
        if let Some(&known) = self.known.get(state) {
            return Ok(known);
        }
        let (next, depth) = (branches(self.game, state, policy)?, deeper(depth)?);
        let mut value = 0.0;
        for (after, p) in next {
            value += p * self.value(&after, depth, policy)?;
        }
        if self.known.len() >= MAX_STATES {
            return Err(ExactError::Size(MAX_STATES));
        }
        self.known.insert(state.clone(), value);
        Ok(value)
    }
}

/// What stands in the way of exact measurement, as far as a short look at a game shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Survey {
    /// It has chance.
    pub chance: bool,
    /// Some of its chance can only be sampled.
    pub sampled: bool,
    /// It comes back to a state, or has games that are too long.
    pub endless: bool,
}

/// States that [`survey`] looks at.
const SURVEYED: usize = 50_000;

/// How long [`survey`] looks.
const LOOK: Duration = Duration::from_millis(100);

/// Looks at the states that can be reached from the start: all of them in a small game.
pub fn survey<G: Game>(game: &G) -> Survey {
    let (mut found, began) = (Survey::default(), Instant::now());
    let mut after = |state: &G::State| -> Vec<G::State> {
        let next = |action: &G::Action| {
            let mut next = state.clone();
            game.apply(&mut next, action);
            next
        };
        let mut actions = Vec::new();
        match game.turn(state) {
            Turn::Over => {}
            Turn::Player(_) => game.actions(state, &mut actions),
            Turn::Chance => {
                let mut outcomes = Vec::new();
                found.chance = true;
                found.sampled |= !game.outcomes(state, &mut outcomes);
                actions.extend(outcomes.into_iter().map(|(action, _)| action));
            }
        }
        actions.iter().map(next).collect()
    };
    // Whether a state is on the way to the one at hand.
    let mut seen = FxHashMap::from_iter([(game.start(), true)]);
    let mut way = vec![(game.start(), after(&game.start()))];
    let mut endless = false;
    while let Some((state, open)) = way.last_mut() {
        let Some(next) = open.pop() else {
            seen.insert(state.clone(), false);
            way.pop();
            continue;
        };
        match seen.get(&next) {
            Some(on_the_way) => endless |= on_the_way,
            None if way.len() >= DEEPEST => endless = true,
            None => {
                seen.insert(next.clone(), true);
                let open = after(&next);
                way.push((next, open));
            }
        }
        if endless || seen.len() >= SURVEYED || seen.len() % 64 == 0 && began.elapsed() >= LOOK {
            break;
        }
    }
    Survey { endless, ..found }
}

/// The possible next states with their probabilities, if players follow a policy.
pub(crate) fn branches<G: Game>(
    game: &G,
    state: &G::State,
    policy: &mut Policy<'_, G>,
) -> Result<Vec<(G::State, f64)>, ExactError> {
    let after = |action: &G::Action| {
        let mut next = state.clone();
        game.apply(&mut next, action);
        next
    };
    match game.turn(state) {
        Turn::Over => Ok(Vec::new()),
        Turn::Player(player) => {
            let (mut actions, mut p) = (Vec::new(), Vec::new());
            game.actions(state, &mut actions);
            policy(state, player, &actions, &mut p);
            let sum: f64 = p.iter().sum();
            if sum.is_nan() || (sum - 1.0).abs() > 1e-6 {
                return Err(ExactError::Policy(sum.to_string()));
            }
            let taken = actions.iter().zip(&p).filter(|(_, p)| **p > 0.0);
            Ok(taken.map(|(a, p)| (after(a), *p)).collect())
        }
        Turn::Chance => {
            let mut outcomes = Vec::new();
            if !game.outcomes(state, &mut outcomes) {
                return Err(ExactError::Chance);
            }
            Ok(outcomes.iter().map(|(a, p)| (after(a), *p)).collect())
        }
    }
}
