//! Exact grades of a policy: how it fares against the best response, against random play and against perfect play, and how often
//! it has a correct move.

use super::solve::{Minimax, TIE, best_uniform};
use super::walk::{Fold, Walk, sides};
use crate::agents::{Agent, Random, Scratch};
use crate::error::ExactError;
use crate::values::{Decision, state_after};
use adept_game::{Game, Turn, stream};
use adept_ground::limits;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// Games that are played alone to count moves.
const ALONE: u64 = 100;
/// Most moves of such a game.
const LONGEST: u64 = 10_000;

/// Shares of games that end in each way, for one player.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WinDrawLoss {
    /// Share of games won.
    pub win: f64,
    /// Share of games drawn.
    pub draw: f64,
    /// Share of games lost.
    pub loss: f64,
}

impl WinDrawLoss {
    fn add(&mut self, other: Self, share: f64) {
        self.win += share * other.win;
        self.draw += share * other.draw;
        self.loss += share * other.loss;
    }

    /// Mean of the shares of several seats.
    pub fn mean(seats: &[Self]) -> Self {
        let mut mean = Self::default();
        seats.iter().for_each(|seat| mean.add(*seat, 1.0 / seats.len() as f64));
        mean
    }
}

/// The utility that a policy is guaranteed in each seat: against a best response. In zero-sum games of two.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Guarantee {
    /// As player 1 and as player 2.
    pub seats: Vec<f64>,
    /// What perfect play is sure of.
    pub best: Vec<f64>,
    /// Whether the policy reaches that in both seats.
    pub optimal: bool,
}

impl Guarantee {
    /// What a policy is sure of, beside what perfect play is.
    pub fn of(seats: Vec<f64>, best: Vec<f64>) -> Self {
        let optimal = seats.iter().zip(&best).all(|(seat, best)| *seat >= best - TIE);
        Self { seats, best, optimal }
    }
}

/// Exact grades of a policy in a two-player zero-sum game without chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// Against a best response.
    pub best_response: Guarantee,
    /// Against random play, in each seat.
    pub random: Vec<WinDrawLoss>,
    /// Against perfect play, in each seat. Of several best moves, perfect play takes those that do best against random play.
    pub perfect: Vec<WinDrawLoss>,
    /// Mean probability of a move that keeps the exact value, over all reachable states.
    pub correct: f64,
    /// Reachable states in which a player is to move.
    pub states: u64,
}

/// Moves to the solution of a game for one player, from its start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoloGrade {
    /// Share of games that reach the highest utility.
    pub solved: f64,
    /// Mean moves of the games that do; 0 if none does.
    pub moves: f64,
    /// Least moves that reach it.
    pub optimum: u64,
}

/// A solved game, to grade policies.
pub struct Grader<G: Game> {
    minimax: Minimax<G>,
    /// For each seat: value against random play of perfect play.
    against_random: [Walk<G, 1>; 2],
}

impl<G: Game> Grader<G> {
    /// Solves the game.
    ///
    /// # Errors
    /// See [`Minimax::solve`].
    pub fn new(game: &G) -> Result<Self, ExactError> {
        Ok(Self { minimax: Minimax::solve(game)?, against_random: [0, 1].map(Walk::utility) })
    }

    /// What a policy is sure of.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub fn worst(&mut self, game: &G, agent: &mut dyn Agent<G>) -> Result<Guarantee, ExactError> {
        Ok(Guarantee::of(worst(game, agent)?, self.best(game)?))
    }

    /// What perfect play is sure of in each seat.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub fn best(&mut self, game: &G) -> Result<Vec<f64>, ExactError> {
        let value = self.minimax.value(game, &game.start())?;
        let first = match game.turn(&game.start()) {
            Turn::Player(1) => -value,
            _ => value,
        };
        // 0 rather than −0.
        Ok(vec![first + 0.0, 0.0 - first])
    }

    /// All grades of a policy.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub fn grade(&mut self, game: &G, agent: &mut dyn Agent<G>) -> Result<Grade, ExactError> {
        let best_response = self.worst(game, agent)?;
        let mut correct = 0.0;
        let (mut actions, mut p, mut best) = (Vec::new(), Vec::new(), Vec::new());
        let states: Vec<G::State> = self.minimax.states().cloned().collect();
        for state in &states {
            let Turn::Player(player) = game.turn(state) else { continue };
            game.actions(state, &mut actions);
            let at = Decision::new(game, state, player);
            agent.policy(at, &actions, &mut p);
            self.minimax.policy(at, &actions, &mut best);
            correct += p.iter().zip(&best).filter(|(_, best)| **best > 0.0).map(|(p, _)| p).sum::<f64>();
        }
        let mut random = Vec::new();
        let mut perfect = Vec::new();
        for seat in 0..2 {
            random.push(shares(game, agent, &mut Random, seat)?);
            perfect.push(shares(game, agent, &mut Perfect(self), seat)?);
        }
        Ok(Grade {
            best_response,
            random,
            perfect,
            correct: correct / states.len().max(1) as f64,
            states: states.len() as u64,
        })
    }

    /// What perfect play in `seat` gets against random play.
    fn value_against_random(&mut self, game: &G, state: &G::State, seat: usize) -> Result<f64, ExactError> {
        let (own, other) = ((&mut self.minimax as _, Fold::Most), (&mut Random as _, Fold::Mean));
        self.against_random[seat].value(game, state, own, other)
    }
}

/// Perfect play; of several best moves those that do best against random play.
struct Perfect<'a, G: Game>(&'a mut Grader<G>);

impl<G: Game> Agent<G> for Perfect<'_, G> {
    fn name(&self) -> &str {
        "perfect"
    }

    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        self.0.minimax.policy(at, actions, probabilities);
        let value = |(action, best): (&G::Action, &f64)| match *best > 0.0 {
            true => {
                let next = state_after(at.game, at.state, action);
                // The game was solved, so no error can occur here.
                self.0.value_against_random(at.game, &next, at.player).unwrap_or(f64::NEG_INFINITY)
            }
            false => f64::NEG_INFINITY,
        };
        let values: Vec<f64> = actions.iter().zip(&*probabilities).map(value).collect();
        best_uniform(&values, probabilities);
    }
}

/// The utility that a policy is sure of in each seat: its opponent plays a best response. It walks only through states that the
/// policy leads to.
///
/// # Errors
/// See [`ExactError`].
pub fn worst<G: Game>(game: &G, agent: &mut dyn Agent<G>) -> Result<Vec<f64>, ExactError> {
    let worst_in = |seat| {
        let mut walk = Walk::utility(seat);
        // All replies are asked; their probabilities do not count.
        walk.value(game, &game.start(), (&mut *agent, Fold::Mean), (&mut Random, Fold::Least))
    };
    (0..game.players()).map(worst_in).collect()
}

/// How games of an agent in `seat` against another one end.
///
/// # Errors
/// See [`ExactError`].
pub fn shares<G: Game>(
    game: &G,
    agent: &mut dyn Agent<G>,
    other: &mut dyn Agent<G>,
    seat: usize,
) -> Result<WinDrawLoss, ExactError> {
    let ends =
        |utility| [utility > 0.0, utility == 0.0, utility < 0.0].map(|holds| f64::from(u8::from(holds)));
    let sides = &mut sides(game, seat, (agent, Fold::Mean), (other, Fold::Mean));
    let [win, draw, loss] = Walk::new(seat, ends).numbers(game, &game.start(), 0, sides)?;
    Ok(WinDrawLoss { win, draw, loss })
}

/// The least moves from the start to the highest utility, in a game for one player without chance.
///
/// # Errors
/// [`ExactError::Dice`], [`ExactError::Unsolvable`], or [`ExactError::Size`] if too many states were seen before a solution.
pub fn shortest<G: Game>(game: &G) -> Result<u64, ExactError> {
    let (mut seen, mut layer, mut actions) = (FxHashSet::default(), vec![game.start()], Vec::new());
    let (most, mut moves) = (limits::states(2 * size_of::<G::State>()), 0);
    loop {
        moves += 1;
        let mut next = Vec::new();
        for state in &layer {
            if seen.len() > most {
                return Err(ExactError::Size(most));
            }
            if game.turn(state) == Turn::Chance {
                return Err(ExactError::Dice);
            }
            game.actions(state, &mut actions);
            for action in &actions {
                let mut after = state.clone();
                game.apply(&mut after, action);
                match game.turn(&after) {
                    Turn::Over if game.utility(&after, 0) >= game.scale() => return Ok(moves),
                    Turn::Over => {}
                    _ if seen.insert(after.clone()) => next.push(after),
                    _ => {}
                }
            }
        }
        if next.is_empty() {
            return Err(ExactError::Unsolvable);
        }
        layer = next;
    }
}

/// Plays a game for one player from its start. `optimum` is that of [`shortest`].
pub fn alone<G: Game>(game: &G, agent: &mut dyn Agent<G>, optimum: u64) -> SoloGrade {
    let (mut solved, mut all) = (0_u64, 0_u64);
    let mut scratch = Scratch::default();
    for g in 0..ALONE {
        let (mut state, mut rng, mut moves) = (game.start(), stream(0, "alone", g), 0);
        while let Turn::Player(player) = game.turn(&state) {
            let Ok(action) = agent.choose(Decision::new(game, &state, player), &mut scratch, &mut rng) else {
                break;
            };
            game.apply(&mut state, &action);
            moves += 1;
            if moves >= LONGEST {
                break;
            }
        }
        if game.turn(&state) == Turn::Over && game.utility(&state, 0) >= game.scale() {
            solved += 1;
            all += moves;
        }
    }
    let moves = if solved == 0 { 0.0 } else { all as f64 / solved as f64 };
    SoloGrade { solved: solved as f64 / ALONE as f64, moves, optimum }
}
