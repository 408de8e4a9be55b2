//! Runs the same experiment with several seeds.

use crate::catalogue::AnyGame;
use adept_trainer::config::Config;
use adept_trainer::run::{Cancel, Observer, SeedResult, Seeds, TrainOptions, each_seed};

/// Runs the seeds in parallel, each in its own folder; see [`each_seed`].
pub fn train_seeds(
    game: &dyn AnyGame,
    config: &Config,
    seeds: Seeds,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Vec<SeedResult> {
    each_seed(config, seeds, options, cancel, |seed, options| {
        game.train(config, seed, options, observer, cancel)
    })
}
