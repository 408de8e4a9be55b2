//! The method `td`: temporal differences along games.

use super::{Examples, check_distribution, explore};
use crate::config::check::{Agents, Fault, fault, schedule};
use crate::config::{Config, Schedule};
use adept_game::GameInfo;
use adept_model::{Architecture, Engine, Optimiser};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the method `td`: TD(λ) along games against itself or other agents (Sutton 1988).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TdSettings {
    /// Games of the whole run.
    pub games: u64,
    /// Opponent: `self`, or a fixed agent such as `ttt`, `random`, `minimax`.
    #[serde(default = "itself")]
    pub against: String,
    /// Agents of which one is drawn for every other seat of every game; `self` among them is the learner. In place of
    /// `against`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<Vec<String>>,
    /// Distribution of the positions in which games begin and of examples, in games that have such; if left out, games
    /// begin as the rules say, and examples are drawn from the game's first distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Examples, positions with exact values, that are shown between games: how many are drawn once and shown over and
    /// over, or a CSV file. None if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<Examples>,
    /// Examples shown for each game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples_per_game: Option<f64>,
    /// λ of TD(λ), in [0, 1].
    #[serde(default = "lambda")]
    pub lambda: Schedule,
    /// γ, by which the value of the next decision counts less, in [0, 1].
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub discount: f64,
    /// What is learned: the outcome alone, or also the small successes on the way that a game rewards.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub rewards: Rewards,
    /// Internal decisions that γ is taken for once more each, as in Soar: so many from one action to the next, and before
    /// a reward.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gap_discount: Option<GapDiscount>,
    /// What of the next decision counts: the highest value (Q-learning), or that of the action chosen (SARSA).
    #[serde(default, skip_serializing_if = "is_usual")]
    pub next: Next,
    /// ε of ε-greedy play, in [0, 1]. The trace is cut at exploring moves that are not greedy.
    #[serde(default = "explore")]
    pub explore: Schedule,
    /// Temperature of Boltzmann play in place of ε-greedy play, in units of the value. Measured games are played so, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Schedule>,
    /// λ-returns computed backwards at the end of a game, or online eligibility traces.
    #[serde(default)]
    pub traces: TraceKind,
    /// How many play side by side, each with a generator of its own; each batch is shared out among them. Results
    /// depend on it, and not on the threads.
    #[serde(default = "one_worker")]
    pub workers: usize,
    /// Whether the games of the next batch are played while the network learns from this one, with the parameters
    /// before that step. If left out, with the burn engine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlap: Option<bool>,
}

/// Name of the opponent that is the learner itself.
pub const SELF: &str = "self";

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

impl TdSettings {
    pub(super) fn check(&self, config: &Config, game: &GameInfo) -> Result<(), Fault> {
        let online = self.traces == TraceKind::Online;
        self.check_opponents(&Agents::of(game))?;
        check_distribution("learn.td.distribution", self.distribution.as_deref(), game)?;
        self.check_examples(game)?;
        schedule("learn.td.lambda", &self.lambda, 0.0, 1.0)?;
        schedule("learn.td.explore", &self.explore, 0.0, 1.0)?;
        if let Some(temperature) = &self.temperature {
            schedule("learn.td.temperature", temperature, 1e-6, 1e6)?;
        }
        if !(0.0..=1.0).contains(&self.discount) {
            return fault("learn.td.discount", format!("must lie in 0..1, found {}", self.discount));
        }
        let plain = self.discount == 1.0 && self.rewards == Rewards::Outcome && self.next == Next::Highest;
        if online && !(plain && self.temperature.is_none() && self.gap_discount.is_none()) {
            return fault(
                "learn.td",
                "`discount`, `rewards`, `gap_discount`, `next` and `temperature` need returns computed backwards: leave \
                 them out, or write `traces = \"backward\"`",
            );
        }
        if online {
            self.check_online(config)?;
        }
        self.check_workers(config)
    }

    fn check_opponents(&self, agents: &Agents<'_>) -> Result<(), Fault> {
        if self.against != SELF {
            agents.check("learn.td.against", &self.against, &[SELF])?;
        }
        for (i, agent) in self.field.iter().flatten().enumerate().filter(|(_, agent)| *agent != SELF) {
            agents.check(&format!("learn.td.field.{i}"), agent, &[])?;
        }
        if self.field.as_ref().is_some_and(|field| field.is_empty() || self.against != SELF) {
            return fault("learn.td.field", "names at least one agent, in place of `against`");
        }
        Ok(())
    }

    fn check_examples(&self, game: &GameInfo) -> Result<(), Fault> {
        if let Some(examples) = &self.examples {
            super::draws_positions("learn.td.examples", game)?;
            examples.check("learn.td.examples")?;
            if self.traces == TraceKind::Online {
                return fault(
                    "learn.td.traces",
                    "online traces step at every move, examples in batches: write `backward`",
                );
            }
        }
        if self.examples.is_some() != self.examples_per_game.is_some() {
            return fault(
                "learn.td",
                "`examples` and `examples_per_game` belong together: give both or none",
            );
        }
        if self.examples_per_game.is_some_and(|rate| !(rate > 0.0 && rate <= 1e6)) {
            return fault("learn.td.examples_per_game", "must be above 0 and at most a million");
        }
        Ok(())
    }

    /// Online traces step at every move, on this machine, by plain steps.
    fn check_online(&self, config: &Config) -> Result<(), Fault> {
        let learn = &config.learn;
        if matches!(config.architecture, Architecture::Hme(_)) {
            return fault(
                "learn.td.traces",
                "online traces follow the gradient of the value, an HME learns by its likelihood: write `backward`, or \
                 take `meta_pi`",
            );
        }
        if learn.batch > 1 {
            return fault("learn.batch", "online traces step at every move: leave `batch` out");
        }
        if learn.optimiser != Optimiser::default() {
            return fault("learn.optimiser", "online traces take plain steps: leave `optimiser` out");
        }
        if learn.engine == Engine::Burn {
            return fault(
                "learn.engine",
                "online traces step at every move, for which a device is too far away: leave `engine` out",
            );
        }
        Ok(())
    }

    fn check_workers(&self, config: &Config) -> Result<(), Fault> {
        if !(1..=1024).contains(&self.workers) {
            return fault("learn.td.workers", format!("must lie in 1..1024, found {}", self.workers));
        }
        if self.workers as u64 > config.learn.batch {
            return fault(
                "learn.td.workers",
                format!(
                    "{} workers share a batch of {}: raise `learn.batch`",
                    self.workers, config.learn.batch
                ),
            );
        }
        let (path, apart) = match self.workers {
            1 => ("learn.td.overlap", config.learn.overlaps()),
            _ => ("learn.td.workers", true),
        };
        if apart
            && matches!(config.architecture, Architecture::Lookup(_))
            && config.learn.engine == Engine::Native
        {
            return fault(path, "a table grows while it plays: leave this out");
        }
        if apart && self.traces == TraceKind::Online {
            return fault(path, "online traces step at every move: leave this out");
        }
        Ok(())
    }
}

fn itself() -> String {
    SELF.into()
}

fn lambda() -> Schedule {
    Schedule::constant(0.8)
}

fn whole() -> f64 {
    1.0
}

fn is_whole(value: &f64) -> bool {
    *value == 1.0
}

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn one_worker() -> usize {
    1
}
