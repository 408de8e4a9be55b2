//! Experiment configs: what a TOML file says, checked.

mod check;
mod error;
mod load;
mod rules;
mod schedule;
mod template;

pub use check::{Fault, name_and_seed, no_equity};
pub use error::ConfigError;
pub use load::{Source, Written, load, parse, parse_as};
pub use rules::{Games, One, Rules, in_either, no_game};
pub use schedule::{Schedule, Shape};
pub use template::template;

use crate::settings::differences;
pub use adept_game::Suite;
use adept_model::checkpoint::Output;
use adept_model::optimiser::Optimiser;
use adept_model::{Architecture, Compute, DeviceName, Engine};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::path::PathBuf;

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

/// How a model learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Learn {
    /// The method.
    #[serde(default)]
    pub method: Method,
    /// Opponent: `self`, or a fixed agent such as `ttt`, `random`, `minimax`.
    #[serde(default = "itself")]
    pub against: String,
    /// Agents of which one is drawn for every other seat of every game; `self` among them is the learner. In place of
    /// `against`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Vec<String>>,
    /// Games of the whole run, for the method `td`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub games: Option<u64>,
    /// Samples of the whole run, for the methods `supervised` and `expectation`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
    /// Iterations of the whole run, for the method `regrets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u64>,
    /// How regrets are learned, for the method `regrets`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regrets: Option<RegretSettings>,
    /// Distribution of the positions in which games begin and of examples, in games that have such; the game's first
    /// if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Examples, positions with exact values: how many are drawn once and shown over and over, or a CSV file. If left
    /// out, `supervised` shows a new one each time, and `td` none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
    /// Examples shown for each game, for the method `td`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples_per_game: Option<f64>,
    /// Share of the samples that come from self-play, for the method `expectation`; the others are drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_play: Option<f64>,
    /// Games, or samples, between two steps of the optimiser. Gradients are summed over games and averaged over samples.
    #[serde(default = "one")]
    pub batch: u64,
    /// λ of TD(λ), in [0, 1].
    #[serde(default = "lambda")]
    pub lambda: Schedule,
    /// γ, by which the value of the next decision counts less, in [0, 1].
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub discount: f64,
    /// What is learned: the outcome alone, or also the small successes on the way that a game rewards.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub rewards: Rewards,
    /// Internal decisions that γ is taken for once more each, as in Soar: so many from one action to the next, and before a
    /// reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_discount: Option<GapDiscount>,
    /// What of the next decision counts: the highest value (Q-learning), or that of the action chosen (SARSA).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub next: Next,
    /// Learning rate; parameters may have factors on it in the architecture.
    pub rate: Schedule,
    /// ε of ε-greedy play, in [0, 1]. The trace is cut at exploring moves that are not greedy.
    #[serde(default = "explore")]
    pub explore: Schedule,
    /// Temperature of Boltzmann play in place of ε-greedy play, in units of the value. Measured games are played so, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Schedule>,
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
    /// Temporal differences, TD(λ), along games.
    #[default]
    Td,
    /// One-step temporal differences whose target is the exact expectation over what chance brings, in positions of
    /// self-play and drawn ones.
    Expectation,
    /// Exact values of positions.
    Supervised,
    /// Counterfactual regrets, in small games with hidden information: one network learns them, another, that of the run,
    /// the average policy.
    Regrets,
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Td => "td",
            Self::Expectation => "expectation",
            Self::Supervised => "supervised",
            Self::Regrets => "regrets",
        }
    }
}

/// How regrets are learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RegretSettings {
    /// The network of regrets; of the same form as that of the policy if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// Whether a table holds the regrets in place of a network. What the policy then learns is a distilled table, to compare with.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub table: bool,
    /// Its learning rate.
    pub rate: Schedule,
    /// How often it sees every decision in an update, of which there are two an iteration, one for each player.
    pub passes: f64,
    /// Rows, an action each, between two of its steps.
    pub rows: usize,
    /// c, in [0, 1]: regrets are weighed with the probability that the other comes to a decision, to this power. 1 is
    /// that of CFR.
    pub reach: f64,
    /// α, at least 0: in iteration t earlier regrets count (t − 1)^α / ((t − 1)^α + 1) times. The larger, the nearer to CFR+.
    pub discount: f64,
    /// Decisions of each player's policy that are offered to the memory in every iteration.
    pub keep: usize,
    /// Decisions that the memory holds.
    pub memory: usize,
    /// Steps of the policy in every iteration.
    pub steps: usize,
    /// Decisions between two of them.
    pub batch: usize,
}

impl Default for RegretSettings {
    fn default() -> Self {
        Self {
            architecture: None,
            table: false,
            rate: Schedule { from: 1e-3, to: 2e-4, shape: Shape::Exponential },
            passes: 3.0,
            rows: 512,
            reach: 0.5,
            discount: 1.5,
            keep: 2000,
            memory: 500_000,
            steps: 30,
            batch: 256,
        }
    }
}

/// Examples to learn from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Examples {
    /// So many, drawn at the start of a run.
    Drawn(u64),
    /// The rows of a CSV file that belong to the part for training.
    File(PathBuf),
}

impl<'de> Deserialize<'de> for Examples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Examples;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of positions, or the name of a CSV file in quotes")
            }
            fn visit_u64<E: de::Error>(self, v: u64) -> Result<Examples, E> {
                Ok(Examples::Drawn(v))
            }
            fn visit_i64<E: de::Error>(self, v: i64) -> Result<Examples, E> {
                let count =
                    u64::try_from(v).map_err(|_| E::invalid_value(de::Unexpected::Signed(v), &self))?;
                Ok(Examples::Drawn(count))
            }
            fn visit_str<E: de::Error>(self, v: &str) -> Result<Examples, E> {
                Ok(Examples::File(v.into()))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for Examples {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Examples".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "Examples to learn from: how many are drawn, or a CSV file.",
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string" }]
        })
    }
}

/// What learning is rewarded for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rewards {
    /// The outcome of the game.
    #[default]
    Outcome,
    /// The outcome, and what the game rewards on the way, such as a challenge won.
    Steps,
}

/// What of the next decision counts in a target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The highest value where the move is exploring: Watkins' Q(λ).
    #[default]
    Highest,
    /// The value of the action chosen: SARSA(λ).
    Chosen,
}

/// Internal decisions of an agent that deliberates, for each of which a return is discounted once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GapDiscount {
    /// From one action to the next.
    pub turn: u32,
    /// From an action to its reward.
    pub reward: u32,
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
    /// Games, or samples, between two measurements; a hundredth of the run if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// What is measured. If left out, the equity in games that have an exact one, or else the error against exact values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "suites_schema")]
    pub suites: Option<Vec<Suite>>,
    /// Distribution of the positions on which errors are measured; that of the examples if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Games of a measurement against each opponent, for the suite `matches`.
    pub games: u64,
    /// Test positions: errors are reported on these. None of them is ever an example.
    pub positions: u64,
    /// Validation positions: where a run learns from examples, the checkpoint with the lowest error on these is best.
    pub validation: u64,
    /// Opponents of the suites `equity` and `matches`. The equity against the first decides which checkpoint is best; if left out, the
    /// opponent in training, or `random` for self-play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Vec<String>>,
    /// Ends the run after that many measurements without a better one: of the first of these that is measured, the equity
    /// against the first opponent, the exploitability, the points against the first opponent, the error on validation
    /// positions where the run learns from examples, the loss. An exact measure then has a say in when learning ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<u64>,
}

impl Default for Evaluate {
    fn default() -> Self {
        Self {
            every: None,
            suites: None,
            distribution: None,
            games: 1000,
            positions: 100_000,
            validation: 10_000,
            against: None,
            patience: None,
        }
    }
}

/// Those of the suites that can be measured in a run.
fn suites_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names: Vec<&str> = Suite::IN_RUNS.iter().map(|suite| suite.name()).collect();
    schemars::json_schema!({ "type": ["array", "null"], "items": { "type": "string", "enum": names } })
}

/// What is kept on disk while a model learns. Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoints {
    /// Games, or samples, between two checkpoints; one every ten seconds if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// How many of the newest stay beside the best; at least 2, so that who reads one is not overtaken.
    pub keep: usize,
    /// Games, or samples, between two checkpoints that stay for good; none if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestones: Option<u64>,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self { every: None, keep: 2, milestones: None }
    }
}

impl Learn {
    /// Engine and device.
    pub fn compute(&self) -> Compute {
        Compute { engine: self.engine, device: self.device }
    }

    /// Games of the whole run, samples, or iterations.
    pub fn length(&self) -> u64 {
        self.games.or(self.samples).or(self.iterations).unwrap_or(0)
    }

    /// What the length of a run is counted in.
    pub fn unit(&self) -> &'static str {
        match self.method {
            Method::Td => "games",
            Method::Expectation | Method::Supervised => "samples",
            Method::Regrets => "iterations",
        }
    }

    /// What the outputs of the model stand for.
    pub fn output(&self) -> Output {
        match self.method {
            Method::Regrets => Output::Logits,
            Method::Td | Method::Expectation | Method::Supervised => Output::Values,
        }
    }

    /// Temperature of Boltzmann play when that share of the run is over; none for greedy play.
    pub fn plays_at(&self, share: f64) -> Option<f64> {
        match self.output() {
            Output::Logits => Some(1.0),
            Output::Values => self.temperature.map(|t| t.at(share)),
        }
    }

    /// Whether exact values have a part in learning.
    pub fn shows_examples(&self) -> bool {
        self.method == Method::Supervised || self.examples.is_some()
    }

    /// Whether a batch is played while the one before is learned from.
    pub fn overlaps(&self) -> bool {
        self.overlap.unwrap_or(self.engine == Engine::Burn && self.method == Method::Td)
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
        serde_json::from_value(saved)
    }

    /// Whether learning or measuring goes through all decisions of the game.
    pub fn lists_decisions(&self) -> bool {
        self.learn.method == Method::Regrets || self.measures(Suite::Exploitability)
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
            None if self.learn.against == SELF => vec!["random".into()],
            None => vec![self.learn.against.clone()],
        }
    }
}

/// Name of the opponent that is the learner itself.
pub const SELF: &str = "self";

fn whole() -> f64 {
    1.0
}

fn is_whole(value: &f64) -> bool {
    *value == 1.0
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

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
