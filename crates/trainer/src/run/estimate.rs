//! Estimates the time and disk space of a run before it starts.

use super::disk::DiskSpace;
use super::error::TrainError;
use super::experiment::Experiment;
use super::games::players;
use super::options::TrainOptions;
use super::plan::Plan;
use crate::config::Config;
use adept_game::Kit;
use adept_ground::limits::free_space;
use adept_ranks::Messages;
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
    /// What other numbers of ranks would bring; empty if batches are not cut into shards.
    pub ranks: Vec<OnRanks>,
}

/// Learning on a number of ranks, as the cost model says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OnRanks {
    /// The ranks.
    pub ranks: usize,
    /// Seconds of the run.
    pub seconds: f64,
    /// How many times faster learning is than on one rank.
    pub speedup: f64,
    /// Whether this is the number on which the parts of the model were measured.
    pub measured: bool,
}

/// The cost model of a step: its parts in seconds, on one rank.
///
/// The slowest rank has ⌈S/R⌉ of S shards. On R ranks a step takes the gradients and the samples of that share, what every rank does
/// for itself, and the exchange of gradients ([`Messages::sum`]). Of games that are played ahead and of learning, the longer counts.
#[derive(Clone, Copy, Debug)]
struct Step {
    shards: usize,
    /// The gradients of all shards.
    gradients: f64,
    /// Getting the samples, where they are divided among ranks.
    samples: f64,
    /// Getting the samples, where every rank does.
    undivided: f64,
    /// The rest, which every rank does.
    rest: f64,
    overlap: bool,
    parameters: usize,
    /// None if communication was not measured: then it counts as free.
    messages: Option<Messages>,
}

impl Step {
    /// Seconds of a step on this many ranks.
    fn seconds(&self, ranks: usize) -> f64 {
        let share = self.shards.div_ceil(ranks) as f64 / self.shards as f64;
        let exchange =
            self.messages.map_or(0.0, |m| if ranks > 1 { m.sum(ranks, self.parameters) } else { 0.0 });
        let learning = share * self.gradients + exchange + self.rest;
        let samples = share * self.samples + self.undivided;
        if self.overlap { learning.max(samples) } else { learning + samples }
    }
}

/// Numbers of ranks that an estimate names.
const RANKS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];

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
    Experiment::new(game, &config, seed, options)?.estimate(trial)
}

impl<G: Kit> Experiment<'_, G> {
    fn estimate(mut self, trial: Duration) -> Result<RunEstimate, TrainError> {
        let begin = self.time.now();
        self.prepare(&|_| {})?;
        let preparing = self.time.since(begin).as_secs_f64();
        let (plan, start) = (Plan::new(self.config), self.time.now());
        let (games, mut step) = (plan.length(), 0);
        for batch in plan.batches(0) {
            // The first rank says when it is time.
            let goes_on = self.ranks.is_first() && self.time.since(start) < trial;
            if step > 0 && self.ranks.any(u8::from(goes_on)) == 0 {
                break;
            }
            self.learn_from(&batch)?;
            step = batch.end();
        }
        let played = self.time.since(start).as_secs_f64();
        let messages = self.ranks.measure();
        let start = self.time.now();
        if self.ranks.is_first() {
            self.evaluate(step)?;
        }
        let measured = self.time.since(start).as_secs_f64();
        let measuring = measured * plan.times(self.config.evaluate_every()) as f64;
        let space = DiskSpace::of(&mut self.learning, self.config, &self.ranks)?;
        let steps = step.div_ceil(self.config.learn.batch).max(1) as f64;
        let model = self.model(played / steps, steps, messages);
        let all = games as f64 / self.config.learn.batch as f64;
        let on = |ranks: usize| OnRanks {
            ranks,
            seconds: preparing + measuring + all * model.seconds(ranks),
            speedup: model.seconds(1) / model.seconds(ranks),
            measured: ranks == self.ranks.size(),
        };
        let shards = self.learning.shards.count();
        let mut numbers: Vec<usize> = RANKS.into_iter().chain([self.ranks.size()]).collect();
        numbers.retain(|&ranks| shards > 1 && ranks <= shards);
        numbers.sort_unstable();
        numbers.dedup();
        let ranks = numbers.into_iter().map(on).collect();
        Ok(RunEstimate {
            ranks,
            games,
            tried: step,
            seconds: preparing + played * games as f64 / step.max(1) as f64 + measuring,
            preparing,
            measuring,
            checkpoint_bytes: space.checkpoint,
            disk_bytes: space.folder,
            free_bytes: free_space(&self.saves.folder.path),
        })
    }

    /// The cost model of a step, from the seconds of one and what was measured in `steps` of them.
    fn model(&self, seconds: f64, steps: f64, messages: Option<Messages>) -> Step {
        let learning = &self.learning;
        let (spent, shards, size) = (learning.shards.spent(), learning.shards.count(), self.ranks.size());
        let timing = self.record.timing.unwrap_or_default();
        let learn = &self.config.learn;
        let divided = learning.source.is_divided();
        let (gradients, exchange) = (spent.gradients / steps, spent.exchange / steps);
        let parameters = learning.bound.model.program().map_or(0, |program| program.parameters());
        let (learning, waiting) = (timing.learning / steps, timing.waiting / steps);
        // With a single core, games follow the step.
        let overlaps = learn.overlaps() && players(learn.engine) > 0;
        let samples = match overlaps {
            // Games in the shade of learning take nobody's time.
            true if waiting < 0.1 * learning => 0.0,
            true => learning + waiting,
            false => waiting,
        };
        let beside = if overlaps { seconds - learning } else { samples };
        // What was measured is the share of this rank.
        let whole = shards as f64 / shards.div_ceil(size) as f64;
        Step {
            shards,
            gradients: gradients * whole,
            samples: if divided { samples * whole } else { 0.0 },
            undivided: if divided { 0.0 } else { samples },
            rest: (seconds - gradients - exchange - beside).max(0.0),
            overlap: overlaps,
            parameters,
            messages,
        }
    }
}
