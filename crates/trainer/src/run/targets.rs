//! Self-play without learning: TD(λ) targets for a learner elsewhere, such as one in PyTorch.

use super::error::TrainError;
use super::games::Worker;
use super::start::{begin_with_cells, fresh_model};
use super::steer::Pace;
use crate::config::{Config, Method, TraceKind};
use crate::positions::Positions;
use crate::td::{Bootstrap, Columns, Record, Shown};
use adept_arena::{LearnerModel, OpenError};
use adept_erased::erased;
use adept_game::Kit;
use adept_model::program::Program;
use adept_model::{Compute, Engine, Head, ModelError, OutcomeClass, Rows, Samples};
use std::sync::Arc;

/// Games between two questions whether to go on.
pub const PART: u64 = 256;
/// Bytes of the trajectories of one call.
const MOST_BYTES: usize = 1 << 32;

/// Games that were played, with their texts on demand.
pub struct Recorded {
    /// The rows of the states that decisions led to, in the order of play.
    pub rows: Rows,
    /// The decisions, and how the games ended.
    pub columns: Columns,
    /// λ of each game.
    pub lambda: Vec<f32>,
    /// Number of the first game.
    pub first: u64,
    /// What the outputs of the network mean.
    pub head: Head,
    /// How targets follow from values, when the first game began.
    pub bootstrap: Bootstrap,
    /// Classes of the column `outcome`.
    pub classes: Vec<OutcomeClass>,
    /// Whether a reply's value counts with the opposite sign.
    pub zero_sum: bool,
    /// Positions and moves in words.
    pub texts: Box<InWords>,
}

/// Positions and moves of games in words: of a game, by the numbers of moves before them.
pub type InWords = dyn Fn(usize, &[u32]) -> Vec<Shown> + Send + Sync;

struct Targets<G: Kit> {
    game: Arc<G>,
    config: Config,
    bound: LearnerModel<G>,
    worker: Worker<G>,
    positions: Option<Positions<G>>,
    played: u64,
}

/// Prepares self-play with the initial weights of the config.
///
/// # Errors
/// If the config does not learn by λ-returns of games alone, or an opponent is not available.
pub fn targets<G: Kit>(game: Arc<G>, config: Config, seed: u64) -> Result<Box<dyn AnyTargets>, TrainError> {
    let refused = |why: &str| {
        Err(OpenError::Unknown(format!(
            "{why}: self-play for a learner elsewhere needs `[learn.td]` with `traces = \"backward\"` and no `examples_per_game`"
        ))
        .into())
    };
    let Method::Td(td) = &config.learn.method else { return refused("the config has no games") };
    if td.traces != TraceKind::Backward {
        return refused("the config learns during games");
    }
    if config.learn.shows_examples() {
        return refused("the config learns from examples too");
    }
    let compute = Compute { engine: Engine::Native, ..config.learn.compute() };
    let mut bound = fresh_model(&*game, &config, seed, compute)?;
    if config.architecture.has_cells(bound.model.channels()) {
        begin_with_cells(&*game, &config, seed, &mut bound, &[])?;
    }
    let worker = Worker::new(&*game, td, seed, 0, &*bound.model, None)?;
    let positions = td.distribution.as_deref().map(|d| Positions::new(&*game, Some(d))).transpose()?;
    Ok(Box::new(Targets { bound, worker, positions, played: 0, game, config }))
}

impl<G: Kit> Targets<G> {
    /// Plays this many games with the present weights. The schedules of the config go on over all games of its length, and then stay
    /// at their ends.
    fn go(&mut self, games: u64) -> Result<(), ModelError> {
        let Method::Td(td) = &self.config.learn.method else { return Ok(()) };
        let span = self.played..self.played.saturating_add(games);
        let (pace, begins) = (Pace::of(&self.config.learn), self.positions.as_ref());
        let played = self.worker.play(&self.game, Some(&mut self.bound), span.clone(), pace, td, begins);
        played.map_err(|failed| failed.error)?;
        self.played = span.end;
        Ok(())
    }

    /// How the targets of the next game follow from values.
    fn bootstrap(&self) -> Bootstrap {
        match &self.config.learn.method {
            Method::Td(td) => td.settings(Pace::of(&self.config.learn), self.played).bootstrap,
            _ => Bootstrap { lambda: 0.0, discount: 1.0, chosen: false, clip: f32::INFINITY },
        }
    }

    fn empty(&self) -> Record<G> {
        Record::new(&*self.game, self.bound.model.channels())
    }

    fn samples(&mut self, games: u64) -> Result<Samples, ModelError> {
        // What is left of a call that a panic of the game ended.
        self.worker.player.samples.clear();
        self.worker.player.record = None;
        let played = self.go(games);
        let samples = self.worker.player.samples.take();
        played?;
        match samples.targets.iter().all(|target| target.is_finite()) {
            true => Ok(samples),
            false => Err(ModelError::Diverged { what: "target of a sample".into() }),
        }
    }
}

/// Plays the games of a config of the method `td` on one thread, and hands out their samples, or what was done in them. Its first
/// batch is that of a run with the same config and seed, and one worker.
#[erased(pub trait AnyTargets: Send)]
impl<G: Kit> AnyTargets for Targets<G> {
    /// Plays this many games with the present weights, as long as `goes_on` holds, and returns their samples. The schedules of the config
    /// go on over all games of its length, and then stay at their ends.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the weights give values that are not finite.
    fn play(&mut self, games: u64, goes_on: &dyn Fn() -> bool) -> Result<Samples, ModelError> {
        let (mut all, mut left) = (self.samples(0)?, games);
        while left > 0 && goes_on() {
            all.append(&self.samples(left.min(PART))?);
            left -= left.min(PART);
        }
        Ok(all)
    }

    /// Plays the games that [`play`](Self::play) would play, and returns what was done in them.
    ///
    /// # Errors
    /// As [`play`](Self::play), and if the games take too much memory.
    fn record(&mut self, games: u64, goes_on: &dyn Fn() -> bool) -> Result<Recorded, ModelError> {
        let (first, bootstrap, mut lambda) = (self.played, self.bootstrap(), Vec::new());
        let (mut record, mut left) = (self.empty(), games);
        while left > 0 && goes_on() {
            let part = left.min(PART);
            let (of_part, before) = (self.bootstrap().lambda, record.columns.decisions());
            self.worker.player.record = Some(record);
            let played = self.go(part);
            let recorded = self.worker.player.record.take();
            played?;
            record = recorded.unwrap_or_else(|| self.empty());
            if !record.columns.own[before..].iter().all(|value| value.is_finite()) {
                return Err(ModelError::Diverged { what: "value of a position".into() });
            }
            lambda.resize(record.columns.games(), of_part);
            left -= part;
            if record.bytes() > MOST_BYTES {
                return Err(ModelError::Unsupported(format!(
                    "the trajectories of {} games take more than {} GiB: play fewer games in a call",
                    games - left,
                    MOST_BYTES >> 30
                )));
            }
        }
        let (rows, columns) = (std::mem::take(&mut record.rows), std::mem::take(&mut record.columns));
        let (head, classes) = (self.bound.model.head().clone(), record.classes().to_vec());
        let game = self.game.clone();
        let zero_sum = game.zero_sum() && !game.hides();
        let texts = Box::new(move |number, plies: &[u32]| record.shown(&game, number, plies));
        Ok(Recorded { rows, columns, lambda, first, head, bootstrap, classes, zero_sum, texts })
    }

    /// The generator of the next game, as JSON.
    ///
    /// # Errors
    /// Never in practice: a generator is numbers.
    fn generator(&self) -> Result<String, ModelError> {
        Ok(serde_json::to_string(&self.worker.rng)?)
    }

    /// Goes on after so many games with this generator, as the self-play that had both.
    ///
    /// # Errors
    /// If the text is not a generator.
    fn go_on(&mut self, played: u64, generator: &str) -> Result<(), ModelError> {
        (self.played, self.worker.rng) = (played, serde_json::from_str(generator)?);
        Ok(())
    }

    /// Number of games played.
    fn played(&self) -> u64 {
        self.played
    }

    /// The program that the network runs; none for a table.
    fn program(&self) -> Option<&Arc<Program>> {
        self.bound.model.program()
    }

    /// The parameters as one vector, in the order of the program.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] for a table.
    fn weights(&mut self) -> Result<Vec<f32>, ModelError> {
        let mut flat = Vec::new();
        self.bound.model.weights(&mut flat)?;
        Ok(flat)
    }

    /// Plays with these parameters from now on.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if their number is wrong, or one is not finite.
    fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError> {
        if let Some(at) = flat.iter().position(|v| !v.is_finite()) {
            return Err(ModelError::Unsupported(format!("parameter {at} is {}", flat[at])));
        }
        self.bound.model.adopt(flat)
    }
}
