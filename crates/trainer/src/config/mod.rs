//! Experiment configs: read from TOML files and checked.

mod check;
mod error;
mod evaluate;
mod fault;
mod figure;
mod learn;
mod load;
mod paths;
mod rules;
mod schedule;

pub use check::{folder_name, name_and_seed};
pub use error::ConfigError;
pub use evaluate::{Checkpoints, Evaluate, no_equity};
pub use fault::Fault;
pub use figure::{Figure, MeasuredOn};
pub use learn::{
    Along, EXAMPLES_FILE, Examples, ExpectationSettings, GapDiscount, Learn, Method, MixedExamples, Next,
    RARE_FILE, RareSettings, RegretSettings, Rewards, SCREEN, SELF, ScreenSettings, Starts,
    SupervisedSettings, TdSettings, TraceKind,
};
pub use load::{Source, Written, error_at, in_present_form, load, parse, parse_as, paths_found_here};
pub use paths::{Place, Spot, To, is_same_file};
pub use rules::{Games, One, Rules, in_either, no_game};
pub use schedule::{Schedule, Shape};

use crate::settings::differences;
pub use adept_game::Suite;
use adept_game::{GameError, OutcomeClass};
use adept_model::{Architecture, Head};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An experiment: game, architecture, learning and measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Name of the experiment and of its run folder: at most 200 letters, digits, `-`, `_` and `.`; it begins with a letter, a digit
    /// or `_`.
    pub name: String,
    /// Description in one line.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// Seed of all random draws; `--seed` overrides it.
    #[serde(default = "u64_of::<1>")]
    pub seed: u64,
    /// What the network gives: one value of a position, or how probable each outcome is. The method `regrets` learns a policy,
    /// whatever is written here.
    #[serde(default, skip_serializing_if = "HeadName::is_value")]
    pub head: HeadName,
    /// The game, and how positions are encoded.
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

/// What a network gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeadName {
    /// One value of a position, learned by squared error.
    #[default]
    Value,
    /// A distribution over the game's classes of outcomes, such as loss, draw and win, learned by cross entropy. The value is
    /// the sum of their probabilities times what they are worth.
    Outcomes,
}

impl HeadName {
    fn is_value(&self) -> bool {
        *self == Self::Value
    }
}

/// The game, and how positions are encoded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GameConfig {
    /// Name of the rule set; `adept list games` shows all. As all paths in a config, that of `file:PATH` is relative to the config
    /// file.
    pub rules: String,
    /// Name of the encoder; `adept list encoders` shows all. `+prior:PATH` adds what a checkpoint thinks, `+known:NAME` values of a table that stand for the network. Default: the game's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
}

impl Config {
    /// What is likely to learn badly, as sentences.
    pub fn cautions(&self) -> Vec<String> {
        let mut found = self.architecture.cautions();
        let steps = self.learn.td().is_some_and(|td| td.rewards == Rewards::Steps && td.clip.is_none());
        if let Architecture::Mlp(mlp) = &self.architecture
            && mlp.output.is_bounded()
            && steps
        {
            found.push(
                "architecture.mlp.output: with rewards on the way, returns go beyond ±1, and a bounded output saturates: write \
                 `output = \"linear\"`"
                    .into(),
            );
        }
        found
    }

    /// What the outputs of the model mean, in a game with these classes of outcomes.
    ///
    /// # Errors
    /// The head is `outcomes`, and the game does not list the classes.
    pub fn head_of(&self, classes: Result<Vec<OutcomeClass>, GameError>) -> Result<Head, GameError> {
        match (&self.learn.method, self.head) {
            (Method::Regrets(_), _) => Ok(Head::Policy),
            (_, HeadName::Value) => Ok(Head::Value),
            (_, HeadName::Outcomes) => classes.map(Head::Outcomes),
        }
    }

    /// Whether both configs give the same run, bit for bit.
    pub fn same_experiment(&self, other: &Self) -> bool {
        let bare = |config: &Self| Self {
            about: String::new(),
            checkpoints: Checkpoints::default(),
            ..config.clone()
        };
        bare(self) == bare(other)
    }

    /// Whether `other` is this experiment with a longer run. Runs of the method `regrets` cannot be extended, because their
    /// memory weighs iterations by the length.
    pub fn is_extended_by(&self, other: &Self) -> bool {
        let mut longer = self.clone();
        longer.learn.set_length(other.learn.length());
        let weighed = matches!(self.learn.method, Method::Regrets(_));
        !weighed && self.learn.length() < other.learn.length() && longer.same_experiment(other)
    }

    /// Describes the first few settings that differ.
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

    /// Reads the config that any version of this program saved with a run or checkpoint.
    ///
    /// # Errors
    /// If the value is not a config.
    pub fn from_saved(mut saved: serde_json::Value) -> Result<Self, serde_json::Error> {
        // Before format 2 it was in another section.
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

    /// Whether learning or measuring enumerates all decisions of the game.
    pub fn lists_decisions(&self) -> bool {
        matches!(self.learn.method, Method::Regrets(_)) || self.measures(Suite::Exploitability)
    }

    /// Games, or samples, between two measurements.
    pub fn evaluate_every(&self) -> u64 {
        self.evaluate.every.unwrap_or_else(|| (self.learn.length() / 100).max(1))
    }

    /// Whether this suite is measured during the run.
    pub fn measures(&self, suite: Suite) -> bool {
        self.evaluate.suites.as_ref().is_some_and(|suites| suites.contains(&suite))
    }

    /// The figure that is reported; `None` if nothing is measured. The best checkpoint is chosen by the equity,
    /// or by the error if the run learns from examples.
    pub fn figure(&self) -> Option<Figure> {
        Figure::ALL.into_iter().find(|figure| self.measures(figure.suite()))
    }

    /// The name of its figure on an axis, with the opponent; `None` if nothing is measured.
    pub fn measure(&self) -> Option<String> {
        let against = self.evaluate_against().into_iter().next().unwrap_or_default();
        self.figure().map(|figure| figure.label(&against))
    }

    /// What its figure is measured on; `None` if nothing is measured.
    pub fn measured_on(&self) -> Option<MeasuredOn> {
        self.figure().map(|figure| figure.measured_on())
    }

    /// The agents that the config names, and the checkpoint that screens candidates, with the dotted paths of their settings.
    pub fn opponents(&self) -> Vec<(String, &str)> {
        let td = self.learn.td();
        let against = td.map(|td| ("learn.td.against".to_string(), &*td.against));
        let field = td.iter().flat_map(|td| td.field.iter().flatten().enumerate());
        let field = field.map(|(i, agent)| (format!("learn.td.field.{i}"), &**agent));
        let eval_opponents = self.evaluate.against.iter().flatten().enumerate();
        let eval_opponents = eval_opponents.map(|(i, agent)| (format!("evaluate.against.{i}"), &**agent));
        // Only games to learn from have the learner as its own opponent.
        let games = against.into_iter().chain(field).filter(|(_, agent)| *agent != SELF);
        let screen = self.learn.expectation().and_then(|expectation| expectation.screen.as_ref());
        let screen = screen.map(|screen| (SCREEN.to_string(), &*screen.checkpoint));
        games.chain(eval_opponents).chain(screen).collect()
    }

    /// Opponents of the suites `equity` and `matches`; empty if neither is measured.
    pub fn evaluate_against(&self) -> Vec<String> {
        match &self.evaluate.against {
            _ if !self.measures(Suite::Equity) && !self.measures(Suite::Matches) => Vec::new(),
            Some(list) => list.clone(),
            None if self.learn.against() == SELF => vec!["random".into()],
            None => vec![self.learn.against().to_string()],
        }
    }
}

/// A default that stands at its setting.
fn usize_of<const N: usize>() -> usize {
    N
}

/// As [`usize_of`].
fn u64_of<const N: u64>() -> u64 {
    N
}

fn one() -> f64 {
    1.0
}

fn is_one<T: PartialEq + From<u8>>(value: &T) -> bool {
    *value == T::from(1)
}

pub(crate) fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
