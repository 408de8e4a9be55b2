//! Experiment configs: what a TOML file says, checked.

mod error;
mod load;
mod schedule;
mod template;

pub use error::ConfigError;
pub(crate) use load::no_equity;
pub use load::{Source, load, parse};
pub use schedule::{Schedule, Shape};
pub use template::template;

use crate::settings::differences;
use adept_model::optimiser::Optimiser;
use adept_model::{Architecture, Compute, DeviceName, Engine};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An experiment: a game, an architecture, how it learns, how it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name of the experiment, and of its run folder; letters, digits, `-`, `_` and `.`.
    pub name: String,
    /// One line for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Seed of all random draws; `--seed` overrides it.
    #[serde(default = "one")]
    pub seed: u64,
    /// The game and how positions become numbers.
    pub game: GameConfig,
    /// The model.
    pub architecture: Architecture,
    /// How it learns.
    pub learn: Learn,
    /// How it is measured while it learns.
    #[serde(default)]
    pub evaluate: Evaluate,
    /// What is kept on disk while it learns.
    #[serde(default)]
    pub checkpoints: Checkpoints,
}

/// The game and how positions become numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GameConfig {
    /// Name of the rule set; `adept list games` shows all.
    pub rules: String,
    /// Name of the encoder; `adept list encoders` shows all. The game's first if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
}

/// How a model learns from games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Learn {
    /// The method.
    #[serde(default)]
    pub method: Method,
    /// Opponent: `self`, or a fixed agent such as `ttt`, `random`, `minimax`.
    #[serde(default = "itself")]
    pub against: String,
    /// Games of the whole run.
    pub games: u64,
    /// Games between two steps of the optimiser.
    #[serde(default = "one")]
    pub batch: u64,
    /// λ of TD(λ), in [0, 1].
    #[serde(default = "lambda")]
    pub lambda: Schedule,
    /// Learning rate; parameters may have factors on it in the architecture.
    pub rate: Schedule,
    /// ε of ε-greedy play, in [0, 1]. The trace is cut at exploring moves that are not greedy.
    #[serde(default = "explore")]
    pub explore: Schedule,
    /// λ-returns computed backwards at the end of a game, or online eligibility traces.
    #[serde(default)]
    pub traces: TraceKind,
    /// Optimiser.
    #[serde(default)]
    pub optimiser: Optimiser,
    /// What runs the steps: `native` on the CPU, or `burn` on any device.
    #[serde(default)]
    pub engine: Engine,
    /// Where the burn engine runs; `adept list devices` shows what there is.
    #[serde(default)]
    pub device: DeviceName,
    /// How many play side by side, each with a generator of its own; each batch is shared out among them. Results
    /// depend on it, and not on the threads.
    #[serde(default = "one_worker")]
    pub workers: usize,
    /// Whether the games of the next batch are played while the network learns from this one, with the parameters
    /// before that step. If left out, with the burn engine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<bool>,
}

/// Where targets come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Temporal differences, TD(λ).
    #[default]
    Td,
}

/// Form of TD(λ).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TraceKind {
    /// λ-returns at the end of the game.
    #[default]
    Backward,
    /// Eligibility traces, a step at every move.
    Online,
}

/// How a model is measured while it learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluate {
    /// Games between two measurements; a hundredth of the run if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// What is measured; `[]` for games without exact equity.
    pub suites: Vec<Suite>,
    /// Opponents of the suite `equity`. The first decides which checkpoint is best; if left out, the
    /// opponent in training, or `random` for self-play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Vec<String>>,
    /// Ends the run after that many measurements without a better one: of the equity against the first opponent, or
    /// of the loss where no equity is measured. An exact measure then has a say in when learning ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

impl Default for Evaluate {
    fn default() -> Self {
        Self { every: None, suites: vec![Suite::Equity], against: None, patience: None }
    }
}

/// What is kept on disk while a model learns. Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoints {
    /// Games between two checkpoints; one every ten seconds if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// How many of the newest stay beside the best; at least 2, so that who reads one is not overtaken.
    pub keep: usize,
    /// Games between two checkpoints that stay for good; none if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestones: Option<u64>,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self { every: None, keep: 2, milestones: None }
    }
}

/// A kind of measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suite {
    /// Exact match equity of greedy play.
    Equity,
}

impl Learn {
    /// Engine and device.
    pub fn compute(&self) -> Compute {
        Compute { engine: self.engine, device: self.device }
    }

    /// Whether a batch is played while the one before is learned from.
    pub fn overlaps(&self) -> bool {
        self.overlap.unwrap_or(self.engine == Engine::Burn)
    }
}

impl Config {
    /// Whether a run of one is a run of the other: the same to the bit.
    pub fn same_experiment(&self, other: &Self) -> bool {
        let bare = |config: &Self| Self {
            about: String::new(),
            checkpoints: Checkpoints::default(),
            ..config.clone()
        };
        bare(self) == bare(other)
    }

    /// The first few settings in which an experiment is another, for people.
    pub(crate) fn differences(&self, other: &Self) -> String {
        let value = |config: &Self| serde_json::to_value(config).unwrap_or_default();
        let all = differences(&value(self), &value(other));
        let shown = all.iter().take(3).map(|d| {
            let [key, here, there] = d.cells();
            format!("{key} {here} → {there}")
        });
        let mut text = shown.collect::<Vec<_>>().join(", ");
        if all.len() > 3 {
            text.push_str(", …");
        }
        text
    }

    /// The config that a run or checkpoint was saved with, by whatever version of this program.
    ///
    /// # Errors
    /// If it is none.
    pub fn from_saved(mut saved: serde_json::Value) -> Result<Self, serde_json::Error> {
        // Until format 2 it stood in another section.
        if let Some(evaluate) = saved.get_mut("evaluate").and_then(|e| e.as_object_mut())
            && let Some(every) = evaluate.remove("checkpoint")
        {
            saved["checkpoints"] = serde_json::json!({ "every": every });
        }
        serde_json::from_value(saved)
    }

    /// Games between two measurements.
    pub fn evaluate_every(&self) -> u64 {
        self.evaluate.every.unwrap_or_else(|| (self.learn.games / 100).max(1))
    }

    /// Opponents of the suite `equity`; none if it is not measured.
    pub fn evaluate_against(&self) -> Vec<String> {
        match &self.evaluate.against {
            _ if !self.evaluate.suites.contains(&Suite::Equity) => Vec::new(),
            Some(list) => list.clone(),
            None if self.learn.against == SELF => vec!["random".into()],
            None => vec![self.learn.against.clone()],
        }
    }
}

/// Name of the opponent that is the learner itself.
pub const SELF: &str = "self";

fn one() -> u64 {
    1
}

fn one_worker() -> usize {
    1
}

fn itself() -> String {
    SELF.into()
}

fn lambda() -> Schedule {
    Schedule::constant(0.8)
}

fn explore() -> Schedule {
    Schedule::constant(0.1)
}
