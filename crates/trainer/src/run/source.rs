//! Sources of samples: games, positions, or the policies of regrets.

use super::error::TrainError;
use super::feed::Feed;
use super::games::{BatchError, Learned, SelfPlay, SelfPlayState, Span};
use crate::config::{Config, Method};
use crate::positions::{Examples, With};
use crate::regrets::Regrets;
use crate::shards::Shards;
use adept_arena::cfr::Decisions;
use adept_arena::{GameModel, OpenError};
use adept_game::Kit;
use adept_model::{Learner, ModelError, Tensor};
use adept_ranks::Ranks;
use std::sync::Arc;

/// What a run learns from.
pub(super) enum Source<'a, G: Kit> {
    Games(Box<SelfPlay<'a, G>>),
    /// Created when learning begins, because examples may take a while.
    Feed(Option<Box<Feed<'a, G>>>),
    Regrets(Box<Regrets>),
}

impl<'a, G: Kit> Source<'a, G> {
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        bound: &mut GameModel<G>,
        decisions: Option<&Arc<Decisions>>,
        shards: &dyn Fn() -> Shards,
    ) -> Result<Self, TrainError> {
        Ok(match &config.learn.method {
            Method::Regrets(settings) => {
                let decisions = decisions.cloned().ok_or_else(|| {
                    OpenError::Unknown(format!(
                        "{} cannot list its decisions: use the method `td`",
                        game.name()
                    ))
                })?;
                let learner = &*bound.learner;
                Self::Regrets(Box::new(Regrets::new(config, settings, seed, decisions, learner, shards())?))
            }
            Method::Td(td) => {
                Self::Games(Box::new(SelfPlay::new(game, &config.learn, td, seed, bound, &shards())?))
            }
            Method::Expectation(_) | Method::Supervised(_) => Self::Feed(None),
        })
    }

    /// Prepares what learning needs besides the model: examples.
    pub(super) fn prepare(
        &mut self,
        game: &'a G,
        config: &'a Config,
        seed: u64,
        bound: &GameModel<G>,
        shards: &Shards,
    ) -> Result<(), TrainError> {
        match self {
            Self::Games(games) if config.learn.shows_examples() => {
                games.show(Examples::new(game, config, seed, With::of(bound))?);
            }
            Self::Games(_) | Self::Regrets(_) => {}
            Self::Feed(feed) => *feed = Some(Box::new(Feed::new(game, config, seed, bound, shards)?)),
        }
        Ok(())
    }

    /// Hash of the examples of a file, if they are used.
    pub(super) fn digest(&self, config: &Config) -> Option<u64> {
        match self {
            Self::Games(games) => games.examples()?.digest(config),
            Self::Feed(feed) => feed.as_ref()?.digest(),
            Self::Regrets(_) => None,
        }
    }

    /// State for a checkpoint, the same on all ranks.
    pub(super) fn state(&mut self, ranks: &Ranks) -> Result<(SelfPlayState, Vec<Tensor>), ModelError> {
        Ok(match self {
            Self::Games(games) => games.state(ranks)?,
            Self::Feed(_) => (SelfPlayState::default(), Vec::new()),
            Self::Regrets(regrets) => {
                let (rng, tensors) = regrets.state()?;
                (SelfPlayState { play: vec![rng], ..SelfPlayState::default() }, tensors)
            }
        })
    }

    /// Whether each rank gets the samples of its own shards only.
    pub(super) fn is_divided(&self) -> bool {
        match self {
            Self::Games(games) => games.is_divided(),
            Self::Feed(_) => true,
            Self::Regrets(_) => false,
        }
    }

    /// Drops work done ahead, when the run is over.
    pub(super) fn forget(&mut self) {
        if let Self::Games(games) = self {
            games.forget();
        }
    }

    /// Restores the state from a checkpoint.
    pub(super) fn restore(
        &mut self,
        state: SelfPlayState,
        tensors: &[Tensor],
        learner: &dyn Learner,
        shards: &Shards,
    ) -> Result<(), String> {
        match self {
            Self::Games(games) => games.restore(state, tensors, learner, shards),
            Self::Feed(_) => Ok(()),
            Self::Regrets(regrets) => match <[_; 1]>::try_from(state.play) {
                Ok([rng]) => regrets.restore(rng, tensors),
                Err(found) => Err(format!("it has {} generators instead of one", found.len())),
            },
        }
    }

    /// Copies the learner's parameters to the workers.
    pub(super) fn publish(&mut self, learner: &mut dyn Learner) -> Result<(), ModelError> {
        match self {
            Self::Games(games) => games.publish(learner),
            Self::Feed(_) | Self::Regrets(_) => Ok(()),
        }
    }

    /// Learns from the games, samples or iterations `span`. `next` comes after them and may be prepared.
    pub(super) fn batch(
        &mut self,
        bound: &mut GameModel<G>,
        span: Span,
        next: Span,
        shards: &mut Shards,
        rate: impl Fn(u64) -> f32,
        clock: impl Fn() -> f64,
    ) -> Result<Learned, BatchError> {
        match self {
            Self::Games(games) => games.batch(bound, span, next, shards, clock),
            Self::Feed(Some(feed)) => feed.batch(bound, span, shards, clock),
            Self::Regrets(regrets) => {
                let (mut loss, mut samples) = (0.0, 0);
                for iteration in span {
                    let fail = |e| (e, iteration);
                    let found = regrets.iterate(iteration, &mut *bound.learner, shards, rate(iteration));
                    let found = found.map_err(fail)?;
                    (loss, samples) = (loss + found.0, samples + found.1);
                }
                Ok(Learned { loss, samples, seconds: None })
            }
            Self::Feed(None) => unreachable!("learning begins with `prepare`"),
        }
    }
}
