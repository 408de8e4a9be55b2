//! Measurements during a run, and which checkpoint is best by them.

use super::error::TrainError;
use super::experiment::{Experiment, checkpoint_name};
use super::folder::Score;
use crate::positions::{PositionErrors, Set};
use adept_arena::{Equity, ExactError, Greedy, equity};
use adept_game::registry::Registered;
use adept_model::{ModelError, Usage};
use serde::{Deserialize, Serialize};

/// A measurement during a run: one line of `metrics.jsonl`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Evaluation {
    /// Games learned from, or samples.
    pub step: u64,
    /// Mean loss of a sample since the last measurement; none if there was no sample.
    pub loss: Option<f64>,
    /// Learning rate at this step.
    pub rate: f64,
    /// ε at this step.
    pub explore: f64,
    /// λ at this step.
    pub lambda: f64,
    /// Exact match equity by opponent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub equity: Vec<(String, Equity)>,
    /// Errors on the test positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rms: Option<PositionErrors>,
    /// Root mean square error on the validation positions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// How often each expert was run while measuring.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Seconds since the start, over all resumes.
    pub seconds: f64,
}

/// How long no measurement has been better.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Patience {
    best: Option<f64>,
    since: u64,
}

impl<G: Registered> Experiment<'_, G> {
    /// Measures the network as it is after that step.
    pub(super) fn evaluate(&mut self, step: u64) -> Result<Evaluation, TrainError> {
        self.bound.learner.reset_usage();
        let mut equities = Vec::with_capacity(self.judges.len());
        for (name, judge) in &mut self.judges {
            let mut greedy = Greedy::new(&mut self.bound);
            match equity(self.game, &mut greedy, judge) {
                Ok(found) => equities.push((name.clone(), found)),
                // Nobody else in a measurement can give no policy.
                Err(ExactError::Policy(_)) => {
                    // Unless a device is gone, which says so itself.
                    self.bound.learner.state(false)?;
                    return Err(self.diverged("value of a position".into(), step));
                }
                Err(other) => return Err(other.into()),
            }
        }
        let errors = self.tests.as_ref().map(|tests| {
            let mut errors = |set: &Set| set.errors(&mut *self.bound.learner, &mut self.values);
            (errors(&tests.test), errors(&tests.validation).rms)
        });
        if errors.is_some_and(|(test, _)| test.rms.is_nan()) {
            self.bound.learner.state(false)?;
            return Err(self.diverged("value of a position".into(), step));
        }
        let settings = self.config.learn.settings(step);
        let evaluation = Evaluation {
            step,
            loss: (self.samples > 0).then(|| self.loss / self.samples as f64),
            rate: f64::from(settings.rate),
            explore: settings.explore,
            lambda: f64::from(settings.lambda),
            equity: equities,
            rms: errors.map(|(test, _)| test),
            validation: errors.map(|(_, validation)| validation),
            usage: self.bound.learner.usage(),
            seconds: self.seconds(),
        };
        (self.loss, self.samples) = (0.0, 0);
        if let Some(patience) = self.config.evaluate.patience {
            let equity = evaluation.equity.first().map(|(_, first)| first.equity);
            let examples = self.config.learn.shows_examples();
            let error = evaluation.validation.filter(|_| examples).or(evaluation.loss);
            let merit = equity.or(error.map(|error| -error));
            let since = merit.map_or(0, |merit| self.patience.better(merit));
            if since >= patience && step < self.record.games {
                self.record.early = Some(format!("no better measurement in {since}"));
            }
        }
        let first = evaluation.equity.first().map(|(_, first)| first);
        let score = Score {
            checkpoint: checkpoint_name(step),
            step,
            equity: first.map(|first| first.equity),
            seats: first.map_or_else(Vec::new, |first| first.seats.clone()),
            rms: evaluation.rms,
            validation: evaluation.validation,
        };
        // Where nothing is measured no checkpoint is better than another; and a run that learns without exact values must
        // not choose by them.
        let best = self.best.as_ref().map(|b| &b.0).or(self.record.best.as_ref());
        let better = match (score.equity, score.validation) {
            (Some(equity), _) => best.and_then(|b| b.equity).is_none_or(|b| equity > b),
            (None, Some(error)) if self.config.learn.shows_examples() => {
                best.and_then(|b| b.validation).is_none_or(|b| error < b)
            }
            _ => false,
        };
        if better {
            self.best = Some((score.clone(), self.bound.learner.state(false)?));
        }
        let over = step == self.record.games || self.record.early.is_some();
        if over && self.config.figure().is_some() {
            self.record.r#final = Some(score);
        }
        let line = serde_json::to_string(&evaluation).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        self.lines.push_str(&line);
        self.lines.push('\n');
        Ok(evaluation)
    }
}

impl Patience {
    /// Takes a measurement, larger is better; returns how many there were since the best.
    fn better(&mut self, merit: f64) -> u64 {
        if self.best.is_none_or(|best| merit > best) {
            *self = Self { best: Some(merit), since: 0 };
        } else {
            self.since += 1;
        }
        self.since
    }
}
