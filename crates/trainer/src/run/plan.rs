//! The plan of a run: its batches, and what is due after each of them.

use crate::config::Config;
use std::ops::Range;

/// Games, samples or iterations of a run, by number.
pub(super) type Span = Range<u64>;

/// A batch of a run, and the one that may be prepared meanwhile.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    pub(super) span: Span,
    /// The batch after it; empty at the end of the run.
    pub(super) next: Span,
    is_last: bool,
}

impl Batch {
    /// The step of the run after this batch.
    pub(super) fn end(&self) -> u64 {
        self.span.end
    }

    /// Number of games, samples or iterations.
    pub(super) fn len(&self) -> u64 {
        self.span.end - self.span.start
    }

    /// Whether this batch reaches a multiple of `n`, or the end of the run.
    pub(super) fn reaches(&self, n: u64) -> bool {
        self.span.end / n > self.span.start / n || self.is_last
    }
}

/// When a run does what, by its config.
#[derive(Clone, Copy)]
pub(super) struct Plan<'a> {
    config: &'a Config,
}

impl<'a> Plan<'a> {
    pub(super) fn new(config: &'a Config) -> Self {
        Self { config }
    }

    /// Length of the run.
    pub(super) fn length(self) -> u64 {
        self.config.learn.length()
    }

    /// The batches from this step to the end of the run.
    pub(super) fn batches(self, from: u64) -> impl Iterator<Item = Batch> + use<'a> {
        let first = (from < self.length()).then(|| self.batch(from));
        std::iter::successors(first, move |batch| (!batch.is_last).then(|| self.batch(batch.end())))
    }

    fn batch(self, begin: u64) -> Batch {
        let length = self.length();
        let end = |begin: u64| begin.saturating_add(self.config.learn.batch).min(length);
        let then = end(begin);
        Batch { span: begin..then, next: then..end(then), is_last: then == length }
    }

    /// Steps between two reports of progress.
    pub(super) fn tick(self) -> u64 {
        (self.length() / 1000).clamp(1, 5000)
    }

    /// Number of events that are due every `every` steps, at most one a batch.
    pub(super) fn times(self, every: u64) -> u64 {
        let length = self.length();
        length.div_ceil(every).min(length.div_ceil(self.config.learn.batch))
    }

    /// Whether a measurement at this step is the first after another tenth of the run.
    pub(super) fn is_tenth(self, step: u64) -> bool {
        let tenth = |step: u64| u128::from(step) * 10 / u128::from(self.length().max(1));
        let pause = self.config.evaluate_every().max(self.config.learn.batch);
        tenth(step) > tenth(step.saturating_sub(pause)) || step == self.length()
    }

    /// Which of so many reassignments of cells are due after a batch: evenly over the first half of the run, numbered from 1.
    pub(super) fn reassignments(self, batch: &Batch, times: u64) -> Vec<u64> {
        let due = |time: &u64| {
            let at = (u128::from(self.length()) * u128::from(*time) / (2 * u128::from(times))) as u64;
            (batch.span.start + 1..=batch.end()).contains(&at)
        };
        (1..=times).filter(due).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    fn config(games: u64, batch: u64) -> Config {
        from_value(json!({
            "name": "test", "game": { "rules": "tictactoe" }, "architecture": { "mlp": { "hidden": [4] } },
            "learn": { "rate": 0.1, "batch": batch, "td": { "games": games } },
        }))
        .unwrap()
    }

    #[test]
    fn batches_cover_the_rest_of_the_run_and_know_the_next_one() {
        let config = config(25, 10);
        let plan = Plan::new(&config);
        let spans: Vec<(Span, Span)> = plan.batches(0).map(|batch| (batch.span, batch.next)).collect();
        assert_eq!(spans, [(0..10, 10..20), (10..20, 20..25), (20..25, 25..25)]);
        assert_eq!(plan.batches(20).count(), 1);
        assert_eq!(plan.batches(25).count(), 0);
        let reached: Vec<bool> = plan.batches(0).map(|batch| batch.reaches(20)).collect();
        assert_eq!(reached, [false, true, true]);
    }

    #[test]
    fn reassignments_lie_in_the_first_half() {
        let config = config(100, 10);
        let plan = Plan::new(&config);
        let due: Vec<Vec<u64>> = plan.batches(0).map(|batch| plan.reassignments(&batch, 2)).collect();
        assert_eq!(due[..6], [vec![], vec![], vec![1], vec![], vec![2], vec![]]);
        assert!(due[6..].iter().all(Vec::is_empty));
    }
}
