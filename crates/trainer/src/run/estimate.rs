//! Estimates the time and disk space of a run before it starts.

use super::error::TrainError;
use super::experiment::{Experiment, TrainOptions, experiment};
use crate::config::Config;
use adept_game::Kit;
use adept_game::limits::free_space;
use adept_ranks::Ranks;
use serde::Serialize;
use std::time::Duration;

/// Time and disk space of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunEstimate {
    /// Games of the run.
    pub games: u64,
    /// Games played for this estimate.
    pub tried: u64,
    /// Seconds of preparing, learning and measuring; the last two are extrapolated from these games and one measurement.
    pub seconds: f64,
    /// The part of `seconds` spent on preparing exact values and test positions.
    pub preparing: f64,
    /// The part of `seconds` spent on measuring.
    pub measuring: f64,
    /// Bytes of one checkpoint.
    pub checkpoint_bytes: u64,
    /// Largest size of the run folder in bytes. A growing table is counted at its current size.
    pub disk_bytes: u64,
    /// Free bytes on the disk of the folder, if the system reports them.
    pub free_bytes: Option<u64>,
}

/// Plays and learns for about `seconds`, writes nothing, and extrapolates to the whole run.
///
/// # Errors
/// As for [`train`](super::train).
pub fn estimate<G: Kit>(
    game: &G,
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    trial: Duration,
) -> Result<RunEstimate, TrainError> {
    let config = Config { seed, ..config.clone() };
    experiment(game, &config, seed, options)?.estimate(trial)
}

/// Approximate bytes of a line of metrics.
const LINE: u64 = 400;
/// Approximate bytes of a manifest and a record.
const TEXTS: u64 = 6000;

impl<G: Kit> Experiment<'_, G> {
    fn estimate(mut self, trial: Duration) -> Result<RunEstimate, TrainError> {
        let begin = self.clock.now();
        self.prepare(&|_| {})?;
        let preparing = self.clock.since(begin).as_secs_f64();
        let (games, start) = (self.config.learn.length(), self.clock.now());
        let mut step = 0;
        // The first rank says when it is time.
        while step < games
            && (step == 0
                || self.ranks.any(u8::from(self.ranks.is_first() && self.clock.since(start) < trial)) > 0)
        {
            let (end, then) = (self.batch_end(step), self.batch_end(self.batch_end(step)));
            self.batch(step..end, end..then)?;
            step = end;
        }
        let played = self.clock.since(start).as_secs_f64();
        self.evaluate(step)?;
        let measured = self.clock.since(start).as_secs_f64() - played;
        let measuring = measured * self.times(self.config.evaluate_every()) as f64;
        let (checkpoint_bytes, disk_bytes) = self.disk()?;
        Ok(RunEstimate {
            games,
            tried: step,
            seconds: preparing + played * games as f64 / step.max(1) as f64 + measuring,
            preparing,
            measuring,
            checkpoint_bytes,
            disk_bytes,
            free_bytes: free_space(&self.folder.path),
        })
    }

    /// Bytes of a checkpoint, and largest size of the run folder.
    fn disk(&mut self) -> Result<(u64, u64), TrainError> {
        let bytes =
            |tensors: Vec<adept_model::Tensor>| tensors.iter().map(adept_model::Tensor::bytes).sum::<u64>();
        let model = bytes(self.bound.learner.state(false)?);
        let training =
            bytes(self.bound.learner.state(true)?) + bytes(self.source.state(&Ranks::default())?.1) + TEXTS;
        let milestones = self.config.checkpoints.milestones.map_or(0, |n| self.times(n));
        // One more exists while it is being written.
        let kept = (self.config.checkpoints.keep as u64).saturating_add(1).saturating_add(milestones);
        // The best, and its predecessor.
        let best = 2 * (model + TEXTS);
        let lines = self.times(self.config.evaluate_every()).saturating_mul(LINE);
        Ok((training, kept.saturating_mul(training).saturating_add(lines).saturating_add(best + TEXTS)))
    }

    /// Number of events that are due every `every` games, at most one per batch.
    fn times(&self, every: u64) -> u64 {
        let games = self.config.learn.length();
        games.div_ceil(every).min(games.div_ceil(self.config.learn.batch))
    }

    /// Fails if the disk has too little space for the run.
    pub(super) fn check_space(&mut self) -> Result<(), TrainError> {
        let (_, needed) = self.disk()?;
        match free_space(&self.folder.path) {
            Some(free) if free < needed => Err(TrainError::Space {
                path: self.folder.path.clone(),
                needed: megabytes(needed),
                free: megabytes(free),
            }),
            _ => Ok(()),
        }
    }
}

/// Formats a number of bytes.
fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
