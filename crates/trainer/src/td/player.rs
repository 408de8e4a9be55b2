//! Games between the learner and its opponent, or itself, and the steps they lead to.

use super::chain::{Chain, Decision};
use crate::config::TraceKind;
use adept_arena::{Agent, Bound};
use adept_game::{Game, Stream, Turn};
use adept_model::{Learner, ModelError, Rows, Samples};
use rand::RngExt;

/// Settings of one game, taken from the schedules.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// λ, in [0, 1].
    pub lambda: f32,
    /// ε, in [0, 1].
    pub explore: f64,
    /// Learning rate.
    pub rate: f32,
    /// Form of TD(λ).
    pub traces: TraceKind,
}

/// What the online steps of a game gave; nothing where samples are collected.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GameStats {
    /// Σ ½(target − V)².
    pub loss: f64,
    /// Steps.
    pub samples: u64,
}

/// One row and its value, reused from step to step.
#[derive(Debug)]
struct Scratch {
    row: Rows,
    value: Vec<f32>,
}

/// Plays games and collects samples, or steps online.
pub struct TdPlayer<G: Game> {
    state: G::State,
    chains: Vec<Chain>,
    actions: Vec<G::Action>,
    probabilities: Vec<f64>,
    scratch: Scratch,
    /// Samples since the last step.
    pub samples: Samples,
}

impl<G: Game> TdPlayer<G> {
    /// A player for rows of these channels.
    pub fn new(game: &G, learner: &dyn Learner) -> Self {
        let chain = || Chain::new(Rows::new(learner.channels()));
        Self {
            state: game.start(),
            chains: (0..game.players()).map(|_| chain()).collect(),
            actions: Vec::new(),
            probabilities: Vec::new(),
            scratch: Scratch { row: Rows::new(learner.channels()), value: Vec::new() },
            samples: Samples::new(learner.channels()),
        }
    }

    /// Plays one game from `start` on. The learner sits in `seat` against `opponent`, or in every seat without one.
    /// Samples are appended to `samples`; online traces step during the game.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] and, for online traces, [`ModelError::Unsupported`].
    pub fn play(
        &mut self,
        game: &G,
        bound: &mut Bound<G>,
        (start, seat): (G::State, usize),
        mut opponent: Option<&mut dyn Agent<G>>,
        settings: Settings,
        rng: &mut Stream,
    ) -> Result<GameStats, ModelError> {
        self.state = start;
        let online = settings.traces == TraceKind::Online;
        for (player, chain) in self.chains.iter_mut().enumerate() {
            chain.clear();
            if online {
                bound.learner.traces()?.cut(player);
            }
        }
        let mut stats = GameStats::default();
        loop {
            let player = match game.turn(&self.state) {
                Turn::Over => break,
                Turn::Chance => {
                    let action = game.sample(&self.state, rng);
                    game.apply(&mut self.state, &action);
                    continue;
                }
                Turn::Player(player) => player,
            };
            if let Some(opponent) = opponent.as_deref_mut()
                && player != seat
            {
                game.actions(&self.state, &mut self.actions);
                let i = opponent.act(game, &self.state, player, &self.actions, &mut self.probabilities, rng);
                game.apply(&mut self.state, &self.actions[i]);
                continue;
            }
            let chain = &mut self.chains[player];
            let explores = rng.random::<f64>() < settings.explore;
            // Values at a first decision teach nothing: there is no afterstate before it.
            let candidates = if explores && chain.decisions.is_empty() {
                bound.candidates(game, &self.state, player)
            } else {
                bound.decide(game, &self.state, player)
            };
            let greedy = candidates.values.iter().fold(f32::NEG_INFINITY, |m, &v| if v > m { v } else { m });
            let choice = if explores {
                rng.random_range(0..candidates.values.len())
            } else {
                pick_greedy(&candidates.values, greedy, rng)
            };
            let row = candidates.row_of[choice].map(|row| {
                chain.rows.push_from(&candidates.rows, row as usize);
                chain.rows.len() as u32 - 1
            });
            let decision = Decision { row, value: candidates.values[choice], greedy };
            game.apply(&mut self.state, &candidates.actions[choice]);
            chain.decisions.push(decision);
            if online {
                let learner = &mut *bound.learner;
                step_online(
                    learner,
                    chain,
                    player,
                    decision.greedy,
                    settings,
                    &mut self.scratch,
                    &mut stats,
                )?;
            }
        }
        for (player, chain) in self.chains.iter().enumerate() {
            let z = (game.utility(&self.state, player) / game.scale()) as f32;
            if !online {
                chain.targets(z, settings.lambda, &mut self.samples);
            } else if let Some(&Decision { row: Some(row), .. }) = chain.decisions.last() {
                let learner = &mut *bound.learner;
                follow(learner, chain, player, (row, z), settings, &mut self.scratch, &mut stats)?;
            }
        }
        Ok(stats)
    }
}

/// A place of the highest value, ties at random.
#[inline]
fn pick_greedy(values: &[f32], greedy: f32, rng: &mut Stream) -> usize {
    let first = values.iter().position(|&v| v == greedy).unwrap_or(0);
    let others = values[first + 1..].iter().filter(|&&v| v == greedy).count();
    if others == 0 {
        return first;
    }
    let skip = rng.random_range(0..=others);
    values.iter().enumerate().filter(|(_, v)| **v == greedy).nth(skip).map_or(first, |(i, _)| i)
}

/// The step that the newest decision of a chain allows: the afterstate before it is drawn towards the greedy
/// value here, which is the value chosen unless the move explores.
fn step_online(
    learner: &mut dyn Learner,
    chain: &Chain,
    player: usize,
    target: f32,
    settings: Settings,
    scratch: &mut Scratch,
    stats: &mut GameStats,
) -> Result<(), ModelError> {
    let [.., before, now] = &chain.decisions[..] else { return Ok(()) };
    let Some(row) = before.row else { return Ok(()) };
    follow(learner, chain, player, (row, target), settings, scratch, stats)?;
    if now.cuts() {
        learner.traces()?.cut(player);
    }
    Ok(())
}

/// e ← λ e + ∇V of that row, then a step of (target − V) along e.
fn follow(
    learner: &mut dyn Learner,
    chain: &Chain,
    player: usize,
    (row, target): (u32, f32),
    settings: Settings,
    scratch: &mut Scratch,
    stats: &mut GameStats,
) -> Result<(), ModelError> {
    scratch.row.clear();
    scratch.row.push_from(&chain.rows, row as usize);
    learner.evaluate(&scratch.row, &mut scratch.value);
    let error = target - scratch.value[0];
    stats.loss += 0.5 * f64::from(error) * f64::from(error);
    stats.samples += 1;
    let traces = learner.traces()?;
    traces.accumulate(player, &scratch.row, 0, settings.lambda);
    traces.follow(player, error, settings.rate)
}
