//! Self-play without learning: TD(λ) targets for a learner elsewhere, such as one in PyTorch.

use super::error::TrainError;
use super::games::Worker;
use super::start::{begin_with_cells, fresh_model};
use super::steer::Pace;
use crate::config::{Config, Method, TraceKind};
use crate::positions::Positions;
use crate::td::{Bootstrap, Record};
use adept_arena::{LearnerModel, OpenError};
use adept_game::{Kit, Stream};
use adept_model::program::Program;
use adept_model::{Compute, Engine, Head, ModelError, Samples};
use std::sync::Arc;

/// Plays the games of a config of the method `td` on one thread, and hands out their samples, or what was done in them. Its first
/// batch is that of a run with the same config and seed, and one worker.
pub struct Targets<G: Kit> {
    game: Arc<G>,
    config: Config,
    bound: LearnerModel<G>,
    worker: Worker<G>,
    positions: Option<Positions<G>>,
    played: u64,
}

impl<G: Kit> Targets<G> {
    /// Prepares self-play with the initial weights of the config.
    ///
    /// # Errors
    /// If the config does not learn by λ-returns of games alone, or an opponent is not available.
    pub fn new(game: G, config: Config, seed: u64) -> Result<Self, TrainError> {
        let refused = |why: &str| {
            Err(OpenError::Unknown(format!("{why}: self-play for a learner elsewhere needs `[learn.td]` with `traces = \"backward\"` and \
                                             no `examples_per_game`")).into())
        };
        let Method::Td(td) = &config.learn.method else { return refused("the config has no games") };
        if td.traces != TraceKind::Backward {
            return refused("the config learns during games");
        }
        if config.learn.shows_examples() {
            return refused("the config learns from examples too");
        }
        let compute = Compute { engine: Engine::Native, ..config.learn.compute() };
        let mut bound = fresh_model(&game, &config, seed, compute)?;
        if config.architecture.has_cells(bound.model.channels()) {
            begin_with_cells(&game, &config, seed, &mut bound, &[])?;
        }
        let worker = Worker::new(&game, td, seed, 0, &*bound.model, None)?;
        let positions = td.distribution.as_deref().map(|d| Positions::new(&game, Some(d))).transpose()?;
        Ok(Self { bound, worker, positions, played: 0, game: Arc::new(game), config })
    }

    /// Number of games played.
    pub fn played(&self) -> u64 {
        self.played
    }

    /// Plays this many games with the present weights, and returns their samples. The schedules of the config go on over all
    /// games of its length, and then stay at their ends.
    ///
    /// # Errors
    /// [`ModelError::Diverged`] if the weights give values that are not finite.
    pub fn play(&mut self, games: u64) -> Result<Samples, ModelError> {
        let Method::Td(td) = &self.config.learn.method else { return Ok(self.worker.player.samples.take()) };
        // What is left of a call that a panic of the game ended.
        self.worker.player.samples.clear();
        self.worker.player.record = None;
        let span = self.played..self.played.saturating_add(games);
        let pace = Pace::of(&self.config.learn);
        let begins = self.positions.as_ref();
        let played = self.worker.play(&self.game, Some(&mut self.bound), span.clone(), pace, td, begins);
        let samples = self.worker.player.samples.take();
        played.map_err(|failed| failed.error)?;
        self.played = span.end;
        match samples.targets.iter().all(|target| target.is_finite()) {
            true => Ok(samples),
            false => Err(ModelError::Diverged { what: "target of a sample".into() }),
        }
    }

    /// An empty record for [`record`](Self::record).
    pub fn empty(&self) -> Record<G> {
        Record::new(&*self.game, self.bound.model.channels())
    }

    /// Plays the games that [`play`](Self::play) would play, and appends them to a record. Returns λ, which they have in common.
    ///
    /// # Errors
    /// As [`play`](Self::play). The record is then empty.
    pub fn record(&mut self, games: u64, record: &mut Record<G>) -> Result<f32, ModelError> {
        let Method::Td(td) = &self.config.learn.method else { return Ok(0.0) };
        let lambda = self.bootstrap().lambda;
        let span = self.played..self.played.saturating_add(games);
        let pace = Pace::of(&self.config.learn);
        let (begins, before) = (self.positions.as_ref(), record.columns.decisions());
        let empty = Record::new(&*self.game, self.bound.model.channels());
        self.worker.player.record = Some(std::mem::replace(record, empty));
        let played = self.worker.play(&self.game, Some(&mut self.bound), span.clone(), pace, td, begins);
        let recorded = self.worker.player.record.take();
        played.map_err(|failed| failed.error)?;
        self.played = span.end;
        if let Some(recorded) = recorded {
            *record = recorded;
        }
        match record.columns.own[before..].iter().all(|value| value.is_finite()) {
            true => Ok(lambda),
            false => {
                *record = self.empty();
                Err(ModelError::Diverged { what: "value of a position".into() })
            }
        }
    }

    /// How the targets of the next game follow from values.
    pub fn bootstrap(&self) -> Bootstrap {
        match &self.config.learn.method {
            Method::Td(td) => td.settings(Pace::of(&self.config.learn), self.played).bootstrap,
            _ => Bootstrap { lambda: 0.0, discount: 1.0, chosen: false, clip: f32::INFINITY },
        }
    }

    /// The game.
    pub fn game(&self) -> &Arc<G> {
        &self.game
    }

    /// What the outputs of the network mean.
    pub fn head(&self) -> &Head {
        self.bound.model.head()
    }

    /// The generator of the next game.
    pub fn generator(&self) -> &Stream {
        &self.worker.rng
    }

    /// Goes on after so many games with this generator, as the self-play that had both.
    pub fn go_on(&mut self, played: u64, generator: Stream) {
        (self.played, self.worker.rng) = (played, generator);
    }

    /// The program that the network runs; none for a table.
    pub fn program(&self) -> Option<&Arc<Program>> {
        self.bound.model.program()
    }

    /// The parameters as one vector, in the order of the program.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] for a table.
    pub fn weights(&mut self) -> Result<Vec<f32>, ModelError> {
        let mut flat = Vec::new();
        self.bound.model.weights(&mut flat)?;
        Ok(flat)
    }

    /// Plays with these parameters from now on.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if their number is wrong, or one is not finite.
    pub fn adopt(&mut self, flat: &[f32]) -> Result<(), ModelError> {
        if let Some(at) = flat.iter().position(|v| !v.is_finite()) {
            return Err(ModelError::Unsupported(format!("parameter {at} is {}", flat[at])));
        }
        self.bound.model.adopt(flat)
    }
}
