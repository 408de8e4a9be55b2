//! The method `regrets`: counterfactual regrets in small games with hidden information.

use crate::config::check::{Fault, fault, schedule};
use crate::config::{Config, Schedule, Shape};
use adept_game::GameInfo;
use adept_model::Architecture;
use adept_model::architecture::Experts;
use adept_model::program::Activation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the method `regrets`: one network learns counterfactual regrets, another, that of the run, the average
/// policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegretSettings {
    /// Iterations of the whole run.
    pub iterations: u64,
    /// The network of regrets; of the same form as that of the policy if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// Whether a table holds the regrets in place of a network. What the policy then learns is a distilled table, to
    /// compare with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub table: bool,
    /// Learning rate of the network of regrets.
    #[serde(default = "rate")]
    pub rate: Schedule,
    /// How often the network of regrets sees every decision in an update. There are two updates an iteration, one for
    /// each player.
    #[serde(default = "passes")]
    pub passes: f64,
    /// Rows, an action each, between two steps of the network of regrets.
    #[serde(default = "rows")]
    pub rows: usize,
    /// c, in [0, 1]: regrets are weighed with the probability that the other comes to a decision, to this power. 1 is
    /// that of CFR.
    #[serde(default = "reach")]
    pub reach: f64,
    /// α, at least 0: in iteration t earlier regrets count (t − 1)^α / ((t − 1)^α + 1) times. The larger, the nearer to
    /// CFR+.
    #[serde(default = "discount")]
    pub discount: f64,
    /// Decisions of each player's policy that are offered to the memory in every iteration.
    #[serde(default = "keep")]
    pub keep: usize,
    /// Decisions that the memory holds.
    #[serde(default = "memory")]
    pub memory: usize,
    /// Steps of the policy in every iteration.
    #[serde(default = "steps")]
    pub steps: usize,
    /// Decisions between two steps of the policy.
    #[serde(default = "batch")]
    pub batch: usize,
}

fn rate() -> Schedule {
    Schedule { from: 1e-3, to: 2e-4, shape: Shape::Exponential }
}

fn passes() -> f64 {
    3.0
}

fn rows() -> usize {
    512
}

fn reach() -> f64 {
    0.5
}

fn discount() -> f64 {
    1.5
}

fn keep() -> usize {
    2000
}

fn memory() -> usize {
    500_000
}

fn steps() -> usize {
    30
}

fn batch() -> usize {
    256
}

impl RegretSettings {
    pub(super) fn check(&self, config: &Config, game: &GameInfo) -> Result<(), Fault> {
        if !game.has_public_tree {
            return fault("learn.regrets", NO_PUBLIC_TREE);
        }
        if config.learn.batch > 1 {
            return fault(
                "learn.batch",
                "steps are set in `learn.regrets`, by `rows` and `batch`: leave it out",
            );
        }
        let networks = [
            ("architecture", Some(&config.architecture)),
            ("learn.regrets.architecture", self.architecture.as_ref()),
        ];
        for (path, architecture) in networks {
            if let Some(kind @ ("hme" | "lookup" | "residual")) = architecture.map(Architecture::kind) {
                return fault(
                    path,
                    format!(
                        "an architecture `{kind}` has no squared error of any size to learn by: take mlp, meta_pi or symbolic"
                    ),
                );
            }
        }
        for (path, architecture) in networks {
            if let Some(output) = architecture.and_then(bounded) {
                return fault(
                    path,
                    format!(
                        "ends in {output}, but regrets and logits are numbers of any size: write `output = \"linear\"`"
                    ),
                );
            }
        }
        if self.table && self.architecture.is_some() {
            return fault("learn.regrets.table", "takes the place of a network: leave `architecture` out");
        }
        schedule("learn.regrets.rate", &self.rate, 0.0, 1e9)?;
        for (key, value, low, high) in [
            ("passes", self.passes, 0.01, 1e4),
            ("reach", self.reach, 0.0, 1.0),
            ("discount", self.discount, 0.0, 1e6),
        ] {
            if !(low..=high).contains(&value) {
                let path = format!("learn.regrets.{key}");
                return fault(&path, format!("must lie in {low}..{high}, found {value}"));
            }
        }
        for (key, count) in [
            ("rows", self.rows),
            ("keep", self.keep),
            ("memory", self.memory),
            ("steps", self.steps),
            ("batch", self.batch),
        ] {
            if !(1..=100_000_000).contains(&count) {
                let path = format!("learn.regrets.{key}");
                return fault(&path, format!("must lie in 1..100000000, found {count}"));
            }
        }
        Ok(())
    }
}

/// Which games regrets and exploitability are for.
pub(in crate::config) const NO_PUBLIC_TREE: &str =
    "is for small two-player games with hidden information, whose private things can be listed";

/// The activation by which some network of an architecture ends that keeps its output in bounds.
fn bounded(architecture: &Architecture) -> Option<&'static str> {
    let among = |list: &[Architecture]| list.iter().find_map(bounded);
    match architecture {
        Architecture::Mlp(mlp) => match mlp.output {
            Activation::Tanh => Some("tanh"),
            Activation::Sigmoid => Some("sigmoid"),
            Activation::Relu => Some("relu"),
            Activation::Silu | Activation::Linear => None,
        },
        Architecture::MetaPi(pi) => match (&pi.experts, &pi.expert) {
            (Experts::List(list), _) => among(list),
            (Experts::Count(_), expert) => expert.as_deref().and_then(bounded),
        },
        Architecture::Symbolic(symbolic) => symbolic
            .expert
            .as_deref()
            .and_then(bounded)
            .or_else(|| symbolic.experts.as_deref().and_then(among)),
        _ => None,
    }
}
