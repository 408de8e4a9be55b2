//! Cost of evaluations: time on this machine, and multiply-adds.

use super::exhaustive::nanoseconds_by_halves;
use super::positions;
use adept_arena::{GameModel, open};
use adept_game::{Kit, stream};
use adept_model::checkpoint::Checkpoint;
use adept_model::{ExpertUse, Rows};
use adept_trainer::positions::rows_of_random_games;
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::time::{Duration, Instant};

/// Evaluations per second at one batch size.
#[derive(Clone, Debug, Serialize)]
pub struct SpeedCell {
    /// Rows per call.
    pub batch: usize,
    /// Median of seven measurements.
    pub evaluations_per_second: f64,
    /// Slowest and fastest measurement.
    pub range: (f64, f64),
}

/// Times [`adept_model::Predictor::evaluate`] on rows of random games, at batches of 1, 8 and 512. Empty if random games
/// have no rows.
pub(super) fn speed<G: Kit>(game: &G, bound: &mut GameModel<G>) -> Vec<SpeedCell> {
    let rows = rows_of_random_games(game, bound, 2048, &mut stream(1, "speed", 0));
    if rows.is_empty() {
        return Vec::new();
    }
    [1usize, 8, 512].into_iter().map(|batch| speed_of(bound, &rows, batch)).collect()
}

/// Times evaluation of these rows, at least one, `batch` at a time.
fn speed_of<G: Kit>(bound: &mut GameModel<G>, rows: &Rows, batch: usize) -> SpeedCell {
    let mut values = Vec::new();
    let batches: Vec<Rows> = (0..(rows.len() / batch).max(1))
        .map(|b| {
            let mut part = Rows::new(bound.model.channels());
            (0..batch).for_each(|r| part.push_from(rows, (b * batch + r) % rows.len()));
            part
        })
        .collect();
    let mut rates: Vec<f64> = (0..8)
        .map(|_| {
            let (start, mut done) = (Instant::now(), 0);
            while start.elapsed() < Duration::from_millis(60) {
                for part in &batches {
                    bound.model.evaluate(part, &mut values);
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

/// Cost of an evaluation.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Cost {
    /// Mean number of multiply-adds executed.
    pub multiply_adds: f64,
    /// Live experts; 1 for a single network.
    pub live: usize,
    /// Nanoseconds per evaluation with 512 rows per call: the median of several passes on one thread.
    pub nanoseconds: f64,
    /// Nanoseconds per evaluation with one row per call.
    pub nanoseconds_alone: f64,
    /// Fastest and slowest pass with 512 rows per call.
    pub range: (f64, f64),
    /// Nanoseconds per value over pairs of position halves, with the first layer computed once per half, without
    /// priors; if the network has this form.
    pub nanoseconds_by_halves: Option<f64>,
}

/// Cost of an evaluation on encoded positions of a distribution, for a checkpoint of this game.
///
/// # Errors
/// See [`TrainError`].
pub(crate) fn cost_of<G: Kit>(
    game: &G,
    checkpoint: Checkpoint,
    distribution: &str,
) -> Result<Cost, TrainError> {
    let (mut bound, _) = open::bind(game, checkpoint)?;
    let mut rows = Rows::new(bound.model.channels());
    positions::test_positions(game, distribution, 4096)?.iter().for_each(|state| {
        rows.push_from(&bound.encode(game, state, None, game.just_acted(state).unwrap_or(0)), 0);
    });
    let ns = |batch, bound: &mut GameModel<G>| {
        let cell = speed_of(bound, &rows, batch);
        let ns = |rate: f64| 1e9 / rate;
        (ns(cell.evaluations_per_second), (ns(cell.range.1), ns(cell.range.0)))
    };
    let (nanoseconds, range) = ns(512, &mut bound);
    let (nanoseconds_alone, _) = ns(1, &mut bound);
    let used = ExpertUse::of(&mut *bound.model, &rows);
    let multiply_adds =
        used.as_ref().map_or_else(|| bound.model.describe().multiply_adds as f64, |used| used.multiply_adds);
    let live = used.map_or(1, |used| used.live);
    let nanoseconds_by_halves = nanoseconds_by_halves(game, &mut bound)?;
    Ok(Cost { multiply_adds, live, nanoseconds, nanoseconds_alone, range, nanoseconds_by_halves })
}
