//! Where the samples of a run come from: games, or positions.

use super::error::TrainError;
use super::feed::Feed;
use super::games::{BatchError, Games, GamesState, Learned, Span};
use crate::config::{Config, Method};
use crate::positions::Examples;
use adept_arena::Bound;
use adept_game::registry::Registered;
use adept_model::{Learner, ModelError, Tensor};

/// What a run learns from.
pub(super) enum Source<'a, G: Registered> {
    Games(Box<Games<'a, G>>),
    /// Made when learning begins, for examples may take a while.
    Feed(Option<Box<Feed<'a, G>>>),
}

impl<'a, G: Registered> Source<'a, G> {
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        bound: &mut Bound<G>,
    ) -> Result<Self, TrainError> {
        Ok(match config.learn.method {
            Method::Td => Self::Games(Box::new(Games::new(game, &config.learn, seed, bound)?)),
            Method::Expectation | Method::Supervised => Self::Feed(None),
        })
    }

    /// Gets what learning needs beside the model: examples.
    pub(super) fn prepare(
        &mut self,
        game: &'a G,
        config: &'a Config,
        seed: u64,
        bound: &Bound<G>,
    ) -> Result<(), TrainError> {
        match self {
            Self::Games(games) if config.learn.shows_examples() => {
                let with = (&**bound.encoder(), bound.learner.channels());
                games.show(Examples::new(game, config, seed, with)?);
            }
            Self::Games(_) => {}
            Self::Feed(feed) => *feed = Some(Box::new(Feed::new(game, config, seed, bound)?)),
        }
        Ok(())
    }

    /// A number for the examples of a file, if any are shown.
    pub(super) fn digest(&self, config: &Config) -> Option<u64> {
        match self {
            Self::Games(games) => games.examples()?.digest(config),
            Self::Feed(feed) => feed.as_ref()?.digest(),
        }
    }

    /// What a checkpoint keeps.
    pub(super) fn state(&self) -> (GamesState, Vec<Tensor>) {
        match self {
            Self::Games(games) => games.state(),
            Self::Feed(_) => (GamesState::default(), Vec::new()),
        }
    }

    /// Forgets what was done ahead: the run is over.
    pub(super) fn forget(&mut self) {
        if let Self::Games(games) = self {
            games.forget();
        }
    }

    /// Takes up what a checkpoint kept.
    pub(super) fn restore(
        &mut self,
        state: GamesState,
        tensors: &[Tensor],
        learner: &dyn Learner,
    ) -> Result<(), String> {
        match self {
            Self::Games(games) => games.restore(state, tensors, learner),
            Self::Feed(_) => Ok(()),
        }
    }

    /// Gives copies of the learner its newest parameters.
    pub(super) fn publish(&mut self, learner: &mut dyn Learner) -> Result<(), ModelError> {
        match self {
            Self::Games(games) => games.publish(learner),
            Self::Feed(_) => Ok(()),
        }
    }

    /// Learns from the games or samples `span`, with what comes after them at hand.
    pub(super) fn batch(
        &mut self,
        bound: &mut Bound<G>,
        span: Span,
        next: Span,
        clock: impl Fn() -> f64,
    ) -> Result<Learned, BatchError> {
        match self {
            Self::Games(games) => games.batch(bound, span, next, clock),
            Self::Feed(Some(feed)) => feed.batch(bound, span, clock),
            Self::Feed(None) => unreachable!("learning begins with `prepare`"),
        }
    }
}
