//! Sources of samples: games, positions, or the policies of regrets.

use super::error::TrainError;
use super::feed::Feed;
use super::games::{BatchError, Learned, SelfPlay, SelfPlayState, Span};
use super::steer::Pace;
use crate::config::{Config, Method};
use crate::regrets::Regrets;
use crate::shards::Shards;
use adept_arena::cfr::Decisions;
use adept_arena::{LearnerModel, OpenError};
use adept_game::Kit;
use adept_model::{Learner, ModelError, Tensor};
use adept_ranks::Ranks;
use std::sync::Arc;

/// What a run learns from.
pub(super) trait Source<G: Kit> {
    /// Prepares examples when learning begins, because they may take a while.
    fn prepare(&mut self, _bound: &LearnerModel<G>) -> Result<(), TrainError> {
        Ok(())
    }

    /// Hash of the examples of a file, if they are used.
    fn digest(&self) -> Option<u64> {
        None
    }

    /// Whether each rank gets the samples of its own shards only.
    fn is_divided(&self) -> bool;

    /// State for a checkpoint, the same on all ranks.
    fn state(&mut self, _ranks: &Ranks) -> Result<(SelfPlayState, Vec<Tensor>), ModelError> {
        Ok(Default::default())
    }

    /// Restores the state from a checkpoint.
    fn restore(
        &mut self,
        _state: SelfPlayState,
        _tensors: &[Tensor],
        _learner: &dyn Learner,
        _shards: &Shards,
    ) -> Result<(), String> {
        Ok(())
    }

    /// Copies the learner's parameters to the workers.
    fn publish(&mut self, _learner: &mut dyn Learner) -> Result<(), ModelError> {
        Ok(())
    }

    /// Learns from the games, samples or iterations `span`. `next` comes after them and may be prepared.
    fn batch(
        &mut self,
        bound: &mut LearnerModel<G>,
        span: Span,
        next: Span,
        shards: &mut Shards,
        pace: Pace<'_>,
        clock: &dyn Fn() -> f64,
    ) -> Result<Learned, BatchError>;

    /// Drops work done ahead, when the run is over.
    fn forget(&mut self) {}
}

/// The source of a config's method.
pub(super) fn source<'a, G: Kit>(
    game: &'a G,
    config: &'a Config,
    seed: u64,
    bound: &mut LearnerModel<G>,
    decisions: Option<&Arc<Decisions>>,
    shards: &dyn Fn() -> Shards,
) -> Result<Box<dyn Source<G> + 'a>, TrainError> {
    Ok(match &config.learn.method {
        Method::Regrets(settings) => {
            let decisions = decisions.cloned().ok_or_else(|| {
                OpenError::Unknown(format!("{} cannot list its decisions: use the method `td`", game.name()))
            })?;
            Box::new(Regrets::new(config, settings, seed, decisions, &*bound.model, shards())?)
        }
        Method::Td(td) => Box::new(SelfPlay::new(game, config, td, seed, bound, &shards())?),
        Method::Expectation(_) | Method::Supervised(_) => {
            Box::new(Feed::new(game, config, seed, bound.model.channels(), &shards()))
        }
    })
}

impl<G: Kit> Source<G> for Regrets {
    fn is_divided(&self) -> bool {
        false
    }

    fn state(&mut self, _: &Ranks) -> Result<(SelfPlayState, Vec<Tensor>), ModelError> {
        let (rng, tensors) = Regrets::state(self)?;
        Ok((SelfPlayState { play: vec![rng], ..SelfPlayState::default() }, tensors))
    }

    fn restore(
        &mut self,
        state: SelfPlayState,
        tensors: &[Tensor],
        _: &dyn Learner,
        _: &Shards,
    ) -> Result<(), String> {
        match <[_; 1]>::try_from(state.play) {
            Ok([rng]) => Regrets::restore(self, rng, tensors),
            Err(found) => Err(format!("it has {} generators instead of one", found.len())),
        }
    }

    fn batch(
        &mut self,
        bound: &mut LearnerModel<G>,
        span: Span,
        _: Span,
        shards: &mut Shards,
        pace: Pace<'_>,
        _: &dyn Fn() -> f64,
    ) -> Result<Learned, BatchError> {
        let (mut loss, mut samples) = (0.0, 0);
        for iteration in span {
            let found = self.iterate(iteration, &mut *bound.model, shards, pace.rate(iteration));
            let found = found.map_err(|e| (e, iteration))?;
            (loss, samples) = (loss + found.0, samples + found.1);
        }
        Ok(Learned { loss, samples, seconds: None })
    }
}
