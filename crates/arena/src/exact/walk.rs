//! Exact comparison of agents: expected utilities by recursion over all actions and chance outcomes.

use crate::agents::Agent;
use crate::error::ExactError;
use crate::values::{Decision, state_after};
use adept_game::{Game, Turn, no_action};
use adept_ground::limits;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// Moves of the longest game that is measured exactly. A game that can come back to a state has no longest game.
pub(crate) const DEEPEST: usize = 2_000;

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
    let start = &game.start();
    let value =
        |seat| Walk::utility(seat).value(game, start, (&mut *agent, Fold::Mean), (&mut *other, Fold::Mean));
    let seats = (0..game.players()).map(value).collect::<Result<Vec<_>, _>>()?;
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
            let [value] = Walk::utility(seat).numbers(game, state, 0, &mut |state, player, actions, p| {
                agents[player].policy(Decision::new(game, state, player), actions, p);
                Fold::Mean
            })?;
            Ok(value)
        })
        .collect()
}

/// How the values of actions give the value of a decision. Actions of probability 0 do not count.
#[derive(Clone, Copy)]
pub(crate) enum Fold {
    /// The mean, weighted by the probabilities.
    Mean,
    /// The highest.
    Most,
    /// The lowest.
    Least,
}

/// Replaces its last argument by the probability of each action, and tells how to fold their values.
pub(crate) type Decide<'a, G> =
    dyn FnMut(&<G as Game>::State, usize, &[<G as Game>::Action], &mut Vec<f64>) -> Fold + 'a;

/// The decisions of an agent in `seat`, and of another in all other seats.
pub(crate) fn sides<G: Game>(
    game: &G,
    seat: usize,
    own: (&mut dyn Agent<G>, Fold),
    other: (&mut dyn Agent<G>, Fold),
) -> impl FnMut(&G::State, usize, &[G::Action], &mut Vec<f64>) -> Fold {
    move |state, player, actions, p| {
        let at = Decision::new(game, state, player);
        if player == seat {
            own.0.policy(at, actions, p);
            own.1
        } else {
            other.0.policy(at, actions, p);
            other.1
        }
    }
}

/// The memoised recursion behind every exact result: N numbers of a state, for one player.
pub(crate) struct Walk<G: Game, const N: usize> {
    player: usize,
    /// The numbers of a finished game with this utility.
    result: fn(f64) -> [f64; N],
    /// Whether the game may have chance.
    pub(crate) dice: bool,
    /// Most states to keep.
    pub(crate) limit: usize,
    /// The numbers of states in which the game goes on.
    pub(crate) known: FxHashMap<G::State, [f64; N]>,
}

impl<G: Game> Walk<G, 1> {
    /// A walk for the player's utility.
    pub(crate) fn utility(player: usize) -> Self {
        Self::new(player, |utility| [utility])
    }

    /// The utility of a state, where the first agent has the player's seat and the second all others.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub(crate) fn value(
        &mut self,
        game: &G,
        state: &G::State,
        own: (&mut dyn Agent<G>, Fold),
        other: (&mut dyn Agent<G>, Fold),
    ) -> Result<f64, ExactError> {
        Ok(self.numbers(game, state, 0, &mut sides(game, self.player, own, other))?[0])
    }
}

impl<G: Game, const N: usize> Walk<G, N> {
    pub(crate) fn new(player: usize, result: fn(f64) -> [f64; N]) -> Self {
        Self {
            player,
            result,
            dice: true,
            limit: limits::states(2 * size_of::<(G::State, [f64; N])>()),
            known: FxHashMap::default(),
        }
    }

    /// The numbers of a state after `depth` moves. All calls must decide alike.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub(crate) fn numbers(
        &mut self,
        game: &G,
        state: &G::State,
        depth: usize,
        decide: &mut Decide<'_, G>,
    ) -> Result<[f64; N], ExactError> {
        let turn = game.turn(state);
        if turn == Turn::Over {
            return Ok((self.result)(game.utility(state, self.player)));
        }
        if let Some(&known) = self.known.get(state) {
            return Ok(known);
        }
        if depth >= DEEPEST {
            return Err(ExactError::Depth(DEEPEST));
        }
        let (mut actions, mut p) = (Vec::new(), Vec::new());
        let fold = if let Turn::Player(player) = turn {
            game.actions(state, &mut actions);
            if actions.is_empty() {
                return Err(ExactError::Rules(no_action(game, state, player).to_string()));
            }
            let fold = decide(state, player, &actions, &mut p);
            let sum: f64 = p.iter().sum();
            if sum.is_nan() || (sum - 1.0).abs() > 1e-6 {
                return Err(ExactError::Policy(sum.to_string()));
            }
            fold
        } else {
            if !self.dice {
                return Err(ExactError::Dice);
            }
            let mut outcomes = Vec::new();
            if !game.outcomes(state, &mut outcomes) {
                return Err(ExactError::Chance);
            }
            (actions, p) = outcomes.into_iter().unzip();
            Fold::Mean
        };
        let mut value = match fold {
            Fold::Mean => [0.0; N],
            Fold::Most => [f64::NEG_INFINITY; N],
            Fold::Least => [f64::INFINITY; N],
        };
        for (action, p) in actions.iter().zip(&p).filter(|(_, p)| **p > 0.0) {
            let after = state_after(game, state, action);
            let below = self.numbers(game, &after, depth + 1, decide)?;
            for (value, below) in value.iter_mut().zip(below) {
                match fold {
                    Fold::Mean => *value += p * below,
                    Fold::Most => *value = value.max(below),
                    Fold::Least => *value = value.min(below),
                }
            }
        }
        if self.known.len() >= self.limit {
            return Err(ExactError::Size(self.limit));
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
        actions.iter().map(|action| state_after(game, state, action)).collect()
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
