//! Reference values of a run's figure.

use super::DRAWN;
use crate::measure::{self, MeasureOps};
use adept_arena::cfr::{Decisions, Policy};
use adept_arena::matches::{compete, orders};
use adept_arena::{OpenError, Random, open};
use adept_game::Kit;
use adept_ground::{files::Files, limits};
use adept_model::ModelError;
use adept_trainer::config::{Config, Examples, Figure};
use adept_trainer::run::{Score, TrainError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// A named value of a figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Source of the value, such as `random play`.
    pub name: String,
    /// The value, on the scale of the figure.
    pub value: f64,
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, value } = self;
        // Rounding errors around zero.
        let value = if value.abs() < 1e-12 { &0.0 } else { value };
        // Four digits, but at most four decimal places.
        if value.abs() >= 10.0 {
            write!(f, "{name} {value:+.0}")
        } else if *value != 0.0 && value.abs() < 0.01 {
            write!(f, "{name} {value:.2e}")
        } else {
            write!(f, "{name} {value:.4}")
        }
    }
}

/// The two ends of a figure's scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct References {
    /// Result without learning.
    pub baseline: Reference,
    /// The best possible value.
    pub best: Reference,
    /// Result without any knowledge, if the baseline is a formula of the game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naive: Option<Reference>,
}

/// Largest number of games of the baseline.
const GAMES: u64 = 10_000;

const FILE: &str = "references.json";

impl References {
    fn new(baseline: Reference, best: Reference) -> Self {
        Self { baseline, best, naive: None }
    }

    /// All references, from the weakest up.
    pub fn all(&self) -> impl Iterator<Item = &Reference> {
        self.naive.iter().chain([&self.baseline, &self.best])
    }

    /// The lower end of the figure's scale.
    pub fn first(&self) -> &Reference {
        self.naive.as_ref().unwrap_or(&self.baseline)
    }

    /// Reads the references of a run folder; `None` if there are none. They are optional, so a damaged file counts as
    /// none.
    pub fn read(run: &Path) -> Option<Self> {
        let bytes = limits::read(&run.join(FILE), limits::RECORD_BYTES).ok()?;
        let found: Self = serde_json::from_slice(&bytes).ok()?;
        let is_drawn = |r: &Reference| r.value.abs() < DRAWN;
        let drawn = found.all().all(is_drawn);
        drawn.then_some(found)
    }

    pub(crate) fn write(&self, files: &Files, run: &Path) -> Result<(), ModelError> {
        Ok(files.replace(&run.join(FILE), &serde_json::to_vec_pretty(self)?)?)
    }
}

/// The references of a run's figure; `None` if it measures nothing. Those of errors on positions need the score of the run at its end.
///
/// Games against an opponent always have the same dice, and at most [`GAMES`] are played.
pub(crate) fn of_game<G: Kit>(
    game: &G,
    config: &Config,
    last: Option<&Score>,
) -> Result<Option<References>, TrainError> {
    let against = config.evaluate_against().into_iter().next().unwrap_or_default();
    let at = |name: &str, value: f64| Reference { name: name.into(), value };
    Ok(match config.figure() {
        Some(Figure::Equity) => {
            let found = game.baseline(&against)?;
            Some(References::new(at("random play", found.random), at("best possible", found.optimal)))
        }
        Some(Figure::Matches) => {
            let make = || Ok::<_, OpenError>(vec![Box::new(Random) as _, open::agent(game, &against)?]);
            let games = config.evaluate.games.min(GAMES);
            let tally = compete(game, make, &orders(&[1, game.players() - 1]), games, 1, || false)?;
            let unit = game.counting().unit();
            let best = if unit.is_some() { at("even", 0.0) } else { at("every game won", 1.0) };
            Some(References::new(at("random play", tally.score(unit.as_ref())), best))
        }
        Some(Figure::Rms) => {
            let Some(spread) = last.and_then(|score| score.spread) else {
                return Ok(None);
            };
            // Labels from a file may be inexact.
            let exact = last.and_then(|score| score.exact);
            let best = match config.learn.examples() {
                Some(Examples::File(_)) if exact.is_none() => at("the labels", 0.0),
                _ => at("exact", exact.unwrap_or(0.0)),
            };
            let mean = at("always the mean value", spread);
            Some(match measure::best_formula(game, config)? {
                Some((formula, rms)) if rms < spread => {
                    References { naive: Some(mean), ..References::new(at(&formula, rms), best) }
                }
                _ => References::new(mean, best),
            })
        }
        Some(Figure::Exploitability) => {
            let encoder = open::encoder(game, config.game.encoder.as_deref())?;
            let decisions = Decisions::of(game, &*encoder)?;
            let uniform = Policy::uniform(decisions.tree()).exploitability();
            Some(References::new(at("random play", uniform), at("equilibrium", 0.0)))
        }
        None => None,
    })
}
