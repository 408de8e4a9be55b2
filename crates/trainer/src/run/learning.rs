//! What learns: the model, the source of its samples, and the shards of its steps.

use super::error::TrainError;
use super::feed::Feed;
use super::games::SelfPlay;
use super::options::TrainOptions;
use super::plan::Batch;
use super::source::{BatchError, Learned, Source, SourceState, Step};
use super::start::reassign_cells;
use super::steer::Pace;
use crate::average::Average;
use crate::config::{Config, Method};
use crate::regrets::Regrets;
use crate::shards::Shards;
use adept_arena::cfr::Decisions;
use adept_arena::{LearnerModel, OpenError};
use adept_game::{GameError, Kit};
use adept_model::{ModelError, Tensor};
use std::sync::Arc;

/// The learning part of a run.
pub(super) struct Learning<'a, G: Kit> {
    pub(super) bound: LearnerModel<G>,
    pub(super) source: Box<dyn Source<G> + 'a>,
    pub(super) shards: Shards,
    /// Sum of losses since the last measurement.
    pub(super) loss: f64,
    /// Number of samples since then.
    pub(super) samples: u64,
    /// Hash of the examples of a file.
    pub(super) examples: Option<u64>,
}

impl<'a, G: Kit> Learning<'a, G> {
    /// Joins a model with the source of its config's method. `decisions` are all those of the game, if they are listed.
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        mut bound: LearnerModel<G>,
        decisions: Option<&Arc<Decisions>>,
        options: &TrainOptions,
    ) -> Result<Self, TrainError> {
        let learn = &config.learn;
        let new_shards =
            || Shards::new(learn.shards, options.ranks.clone(), options.threads_for(learn.engine));
        let mut shards = new_shards();
        let source: Box<dyn Source<G> + 'a> = match &learn.method {
            Method::Regrets(settings) => {
                let decisions = decisions.cloned().ok_or_else(|| {
                    let name = game.name();
                    OpenError::Unknown(format!("{name} cannot list its decisions: use the method `td`"))
                })?;
                Box::new(Regrets::new(config, settings, seed, decisions, &*bound.model, new_shards())?)
            }
            Method::Td(td) => Box::new(SelfPlay::new(game, config, td, seed, &mut bound, &shards)?),
            Method::Expectation(_) | Method::Supervised(_) => {
                Box::new(Feed::new(game, config, seed, bound.model.channels(), &shards))
            }
        };
        shards.average = Average::new(learn.average);
        Ok(Self { bound, source, shards, loss: 0.0, samples: 0, examples: None })
    }

    /// Prepares the source. Examples of a file must be those with which the run began.
    pub(super) fn prepare(&mut self, config: &Config) -> Result<(), TrainError> {
        self.source.prepare(&self.bound)?;
        let found = self.source.digest();
        let files = config.learn.files();
        if let Some((_, path)) = files.first()
            && self.examples.is_some_and(|before| Some(before) != found)
        {
            let also = files
                .get(1)
                .map_or_else(String::new, |(_, other)| format!(", or those of {},", other.display()));
            let what = format!(
                "its positions{also} changed after this run began: restore the file, or start another run"
            );
            return Err(GameError::data(*path, what).into());
        }
        self.examples = found;
        Ok(())
    }

    /// Learns from a batch.
    pub(super) fn learn(
        &mut self,
        batch: &Batch,
        pace: Pace<'_>,
        clock: &dyn Fn() -> f64,
    ) -> Result<Learned, BatchError> {
        let step = Step { bound: &mut self.bound, batch, shards: &mut self.shards, pace, clock };
        let learned = self.source.learn(step)?;
        self.loss += learned.loss;
        self.samples += learned.samples;
        Ok(learned)
    }

    /// Gives learned cells to the experts that err least in them, for the `time`th time.
    pub(super) fn reassign(
        &mut self,
        game: &G,
        config: &Config,
        seed: u64,
        time: u64,
    ) -> Result<(), TrainError> {
        reassign_cells(game, config, seed, &mut self.bound, time)?;
        self.publish()
    }

    /// Copies the model's parameters to the workers.
    pub(super) fn publish(&mut self) -> Result<(), TrainError> {
        Ok(self.source.publish(&mut *self.bound.model)?)
    }

    /// Mean loss per sample since the last measurement; `None` without samples.
    pub(super) fn mean_loss(&self) -> Option<f64> {
        (self.samples > 0).then(|| self.loss / self.samples as f64)
    }

    /// Exchanges the model's weights with their mean over the steps, if weights are averaged.
    pub(super) fn trade_average(&mut self) -> Result<(), ModelError> {
        self.shards.average.trade(&mut *self.bound.model)
    }

    /// The tensors of a checkpoint, without those of the source.
    pub(super) fn tensors(&mut self) -> Result<Vec<Tensor>, ModelError> {
        self.shards.average.state(&mut *self.bound.model)
    }

    /// Restores the tensors of a checkpoint, and the state of the source.
    ///
    /// # Errors
    /// The fault of the checkpoint, in words.
    pub(super) fn restore(&mut self, state: SourceState, tensors: &[Tensor]) -> Result<(), String> {
        let restored = self.shards.average.restore(&mut *self.bound.model, tensors);
        restored.map_err(|e| e.to_string())?;
        let restored = self.source.restore(state, tensors, &*self.bound.model, &self.shards);
        restored.map_err(|e| format!("training state: {e}"))
    }
}
