//! Samples for batches without games: examples, or positions backed up by expectation.

use super::games::{BatchError, Learned, Span};
use super::source::Source;
use crate::config::{Config, ExpectationSettings, Method};
use crate::positions::{Examples, Positions, With, encode};
use crate::run::TrainError;
use crate::shards::Shards;
use adept_arena::{GameModel, OpenError, Successors};
use adept_game::Kit;
use adept_game::{Turn, stream};
use adept_model::{Channel, ModelError, Samples};
use adept_ranks::share_of;

/// Source of samples for runs without games. The content of a shard of a batch depends only on the seed, the number of its
/// first sample and, for backups, the parameters. So checkpoints need not keep any state of it.
pub(super) struct Feed<'a, G: Kit> {
    game: &'a G,
    config: &'a Config,
    seed: u64,
    /// `None` before learning begins.
    supply: Option<Supply<'a, G>>,
    /// Samples of each shard of this rank.
    parts: Vec<Samples>,
}

enum Supply<'a, G: Kit> {
    Examples(Examples<G>),
    Backups { settings: &'a ExpectationSettings, positions: Positions<G>, found: Box<Successors<G>> },
}

impl<'a, G: Kit> Feed<'a, G> {
    /// The feed for a config whose method learns from positions.
    pub(super) fn new(
        game: &'a G,
        config: &'a Config,
        seed: u64,
        channels: &[Channel],
        shards: &Shards,
    ) -> Self {
        let parts = vec![Samples::new(channels); shards.mine().len()];
        Self { game, config, seed, supply: None, parts }
    }
}

impl<G: Kit> Source<G> for Feed<'_, G> {
    fn prepare(&mut self, bound: &GameModel<G>) -> Result<(), TrainError> {
        let (game, config, seed) = (self.game, self.config, self.seed);
        self.supply = Some(match &config.learn.method {
            Method::Expectation(settings) => {
                let positions = Positions::new(game, settings.distribution.as_deref())?;
                let first = positions.any(&mut stream(seed, "positions", 0));
                let listed = game.turn(&first) != Turn::Chance || game.outcomes(&first, &mut Vec::new());
                if !listed || !game.zero_sum() {
                    return Err(OpenError::Unknown(format!(
                        "{}: [learn.expectation] is for zero-sum games whose chance can be listed: take [learn.td]",
                        game.name()
                    ))
                    .into());
                }
                Supply::Backups {
                    settings,
                    positions,
                    found: Box::new(Successors::new(game, &*bound.learner)),
                }
            }
            _ => Supply::Examples(Examples::new(game, config, seed, With::of(bound))?),
        });
        Ok(())
    }

    fn digest(&self) -> Option<u64> {
        let Some(Supply::Examples(examples)) = &self.supply else { return None };
        examples.digest(self.config)
    }

    fn is_divided(&self) -> bool {
        true
    }

    fn batch(
        &mut self,
        bound: &mut GameModel<G>,
        span: Span,
        _: Span,
        shards: &mut Shards,
        rate: &dyn Fn(u64) -> f32,
        clock: &dyn Fn() -> f64,
    ) -> Result<Learned, BatchError> {
        let Some(supply) = &mut self.supply else { unreachable!("learning begins with `prepare`") };
        let (start, n) = (clock(), span.end - span.start);
        for (shard, samples) in shards.mine().zip(&mut self.parts) {
            let part = share_of(&span, shards.count(), shard);
            let drawn = supply.fill((self.game, self.config, self.seed), bound, part, samples);
            drawn.map_err(|e| (e, span.start))?;
            samples.weights.clear();
            samples.weights.resize(samples.rows.len(), 1.0 / n as f32);
        }
        let collected = clock();
        let mean = shards.update_parts(&mut *bound.learner, &self.parts, rate(span.start));
        let mean = mean.map_err(|e| (e, span.start))?;
        let seconds = ((clock() - collected).max(0.0), (collected - start).max(0.0));
        Ok(Learned { loss: mean * n as f64, samples: n, seconds: Some(seconds) })
    }
}

impl<G: Kit> Supply<'_, G> {
    /// Replaces `samples` by those with the numbers `span`.
    fn fill(
        &mut self,
        (game, config, seed): (&G, &Config, u64),
        bound: &mut GameModel<G>,
        span: Span,
        samples: &mut Samples,
    ) -> Result<(), ModelError> {
        samples.clear();
        match self {
            Self::Examples(examples) => return examples.fill(game, &**bound.encoder(), span, samples),
            Self::Backups { settings, positions, found } => {
                let n = span.end - span.start;
                let played = (settings.self_play * n as f64).round() as usize;
                let explore = settings.explore.at(config.learn.share(span.start));
                let mut rng = stream(seed, "positions", span.start);
                while samples.rows.len() < n as usize {
                    let mut state = positions.any(&mut rng);
                    // A game of self-play, or a single position.
                    loop {
                        found.expand(game, &**bound.encoder(), &state)?;
                        found.evaluate(&mut *bound.learner);
                        found.expectation(&mut samples.targets);
                        encode(game, &**bound.encoder(), &state, samples);
                        if samples.rows.len() >= played {
                            break;
                        }
                        match found.draw(explore, &mut rng) {
                            Some(next) => state.clone_from(next),
                            None => break,
                        }
                    }
                }
            }
        }
        Ok(())
    }
}
