//! What evaluations cost: time on this machine, and multiply-adds.

use super::exhaustive::nanoseconds_by_halves;
use super::{OnCheckpoint, positions, with_checkpoint};
use crate::run::TrainError;
use adept_arena::Bound;
use adept_game::registry::Registered;
use adept_game::{Stream, Turn, stream};
use adept_model::Rows;
use adept_model::checkpoint::Manifest;
use rand::RngExt;
use serde::Serialize;
use std::path::Path;
use std::time::{Duration, Instant};

/// Evaluations a second at one batch size.
#[derive(Clone, Debug, Serialize)]
pub struct SpeedCell {
    /// Rows a call.
    pub batch: usize,
    /// Median of seven measurements.
    pub evaluations_per_second: f64,
    /// Slowest and fastest of them.
    pub range: (f64, f64),
}

/// Times [`adept_model::Learner::evaluate`] on rows of random games, at batches of 1, 8 and 512.
pub(super) fn speed<G: Registered>(game: &G, bound: &mut Bound<G>) -> Vec<SpeedCell> {
    let rows = rows_of_random_games(game, bound, 2048, &mut stream(1, "speed", 0));
    [1usize, 8, 512].into_iter().map(|batch| speed_of(bound, &rows, batch)).collect()
}

/// Times it on these rows, so many at once.
fn speed_of<G: Registered>(bound: &mut Bound<G>, rows: &Rows, batch: usize) -> SpeedCell {
    let mut values = Vec::new();
    let batches: Vec<Rows> = (0..rows.len() / batch)
        .map(|b| {
            let mut part = Rows::new(bound.learner.channels());
            (0..batch).for_each(|r| part.push_from(rows, b * batch + r));
            part
        })
        .collect();
    let mut rates: Vec<f64> = (0..8)
        .map(|_| {
            let (start, mut done) = (Instant::now(), 0);
            while start.elapsed() < Duration::from_millis(60) {
                for part in &batches {
                    bound.learner.evaluate(part, &mut values);
                }
                done += batches.len() * batch;
            }
            done as f64 / start.elapsed().as_secs_f64()
        })
        .skip(1) // warm-up
        .collect();
    rates.sort_by(f64::total_cmp);
    SpeedCell { batch, evaluations_per_second: rates[3], range: (rates[0], rates[6]) }
}

/// What an evaluation costs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Multiply-adds, the mean of those executed, where the outermost node with a choice has experts of one size.
    pub multiply_adds: f64,
    /// Nanoseconds with 512 rows at once: the median of several passes on one thread.
    pub nanoseconds: f64,
    /// The same with one row at a time.
    pub nanoseconds_alone: f64,
    /// Fastest and slowest pass with 512 rows at once.
    pub range: (f64, f64),
    /// Nanoseconds a value over pairs of halves of positions, where the first layer is computed once for each half, if the
    /// network is of such a form; priors are not counted.
    pub nanoseconds_by_halves: Option<f64>,
}

/// What an evaluation costs on positions of a distribution, once they are encoded.
///
/// # Errors
/// See [`TrainError`].
pub(crate) fn cost(path: &Path, distribution: &str) -> Result<Cost, TrainError> {
    struct Measure<'a>(&'a str);
    impl OnCheckpoint for Measure<'_> {
        type Output = Cost;
        fn with<G: Registered>(self, game: &G, mut bound: Bound<G>, _: Manifest) -> Result<Cost, TrainError> {
            let mut rows = Rows::new(bound.learner.channels());
            positions::test_positions(game, self.0, 4096)?.iter().for_each(|state| {
                rows.push_from(&bound.encode(game, state, None, game.just_acted(state).unwrap_or(0)), 0);
            });
            bound.learner.reset_usage();
            let ns = |batch, bound: &mut Bound<G>| {
                let cell = speed_of(bound, &rows, batch);
                let ns = |rate: f64| 1e9 / rate;
                (ns(cell.evaluations_per_second), (ns(cell.range.1), ns(cell.range.0)))
            };
            let (nanoseconds, range) = ns(512, &mut bound);
            let (nanoseconds_alone, _) = ns(1, &mut bound);
            let described = bound.learner.describe();
            let (most, least) = (described.multiply_adds as f64, described.multiply_adds_least as f64);
            // Each expert that is run beside the first costs the same share of the difference.
            let multiply_adds = match bound.learner.usage() {
                Some(usage) if usage.share.len() > 1 => {
                    let ran: f64 = usage.share.iter().sum();
                    least + (most - least) * (ran - 1.0) / (usage.share.len() - 1) as f64
                }
                _ => most,
            };
            let nanoseconds_by_halves = nanoseconds_by_halves(game, &mut bound)?;
            Ok(Cost { multiply_adds, nanoseconds, nanoseconds_alone, range, nanoseconds_by_halves })
        }
    }
    with_checkpoint(path, false, Measure(distribution))
}

/// Rows of the positions of random games.
pub(crate) fn rows_of_random_games<G: Registered>(
    game: &G,
    bound: &Bound<G>,
    count: usize,
    rng: &mut Stream,
) -> Rows {
    let mut rows = Rows::new(bound.learner.channels());
    let mut actions = Vec::new();
    let mut state = game.start();
    while rows.len() < count {
        match game.turn(&state) {
            Turn::Over => state = game.start(),
            Turn::Chance => {
                let action = game.sample(&state, rng);
                game.apply(&mut state, &action);
            }
            Turn::Player(player) => {
                game.actions(&state, &mut actions);
                let action = &actions[rng.random_range(0..actions.len())];
                game.apply(&mut state, action);
                if game.turn(&state) != Turn::Over {
                    rows.push_from(&bound.encode(game, &state, Some(action), player), 0);
                }
            }
        }
    }
    rows
}
