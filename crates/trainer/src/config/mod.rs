//! Experiment configs: what a TOML file says, checked.

mod check;
mod error;
mod evaluate;
mod learn;
mod load;
mod rules;
mod schedule;
mod template;

pub use check::{Fault, name_and_seed};
pub use error::ConfigError;
pub use evaluate::{Checkpoints, Evaluate, no_equity};
pub use learn::{
    Examples, ExpectationSettings, GapDiscount, Learn, Method, Next, RegretSettings, Rewards, SELF,
    SupervisedSettings, TdSettings, TraceKind,
};
pub use load::{Source, Written, in_present_form, load, parse, parse_as};
pub use rules::{Games, One, Rules, in_either, no_game};
pub use schedule::{Schedule, Shape};
pub use template::template;

use crate::settings::differences;
pub use adept_game::Suite;
use adept_model::Architecture;
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
    pub fn differences(&self, other: &Self) -> String {
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
        if let Some(learn) = saved.get_mut("learn").and_then(|learn| learn.as_object_mut()) {
            learn::migrate::saved(learn);
        }
        serde_json::from_value(saved)
    }

    /// Whether learning or measuring goes through all decisions of the game.
    pub fn lists_decisions(&self) -> bool {
        matches!(self.learn.method, Method::Regrets(_)) || self.measures(Suite::Exploitability)
    }

    /// Games, or samples, between two measurements.
    pub fn evaluate_every(&self) -> u64 {
        self.evaluate.every.unwrap_or_else(|| (self.learn.length() / 100).max(1))
    }

    /// Whether that is measured during the run.
    pub fn measures(&self, suite: Suite) -> bool {
        self.evaluate.suites.as_ref().is_some_and(|suites| suites.contains(&suite))
    }

    /// What is reported, and where it is the equity, or an error of a run that learns from examples, decides which checkpoint is
    /// best; none if nothing is measured.
    pub fn figure(&self) -> Option<Suite> {
        [Suite::Equity, Suite::Rms, Suite::Exploitability, Suite::Matches]
            .into_iter()
            .find(|suite| self.measures(*suite))
    }

    /// Opponents of the suites `equity` and `matches`; none if neither is measured.
    pub fn evaluate_against(&self) -> Vec<String> {
        match &self.evaluate.against {
            _ if !self.measures(Suite::Equity) && !self.measures(Suite::Matches) => Vec::new(),
            Some(list) => list.clone(),
            None if self.learn.against() == SELF => vec!["random".into()],
            None => vec![self.learn.against().to_string()],
        }
    }
}

fn one() -> u64 {
    1
}
