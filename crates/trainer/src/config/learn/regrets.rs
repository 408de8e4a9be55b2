//! The method `regrets`: counterfactual regrets in small games with hidden information.

use crate::config::fault::{Fault, check_range, check_schedule, fault};
use crate::config::{Config, Schedule, Shape, usize_of};
use adept_game::GameInfo;
use adept_ground::limits;
use adept_model::Architecture;
use adept_model::architecture::Experts;
use adept_model::program::Activation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of the method `regrets`. One network learns counterfactual regrets; the network of the run learns
/// the average policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegretSettings {
    /// Iterations of the whole run.
    pub iterations: u64,
    /// Architecture of the regret network. Default: the architecture of the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// Whether a table holds the regrets instead of a network. The policy is then distilled from a table;
    /// useful for comparison.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub table: bool,
    /// Learning rate of the regret network.
    #[serde(default = "rate")]
    pub rate: Schedule,
    /// Passes of the regret network over all decisions in one update. Each iteration has two updates, one per
    /// player.
    #[serde(default = "passes")]
    pub passes: f64,
    /// Rows, one per action, between two steps of the regret network.
    #[serde(default = "usize_of::<512>")]
    pub rows: usize,
    /// c, in [0, 1]: regrets are weighted by the opponent's probability of reaching a decision, to the power c.
    /// CFR has c = 1.
    #[serde(default = "reach")]
    pub reach: f64,
    /// α, at least 0: in iteration t, earlier regrets are multiplied by (t − 1)^α / ((t − 1)^α + 1). Larger
    /// values are closer to CFR+.
    #[serde(default = "discount")]
    pub discount: f64,
    /// Decisions of each player's policy that are offered to the memory per iteration.
    #[serde(default = "usize_of::<2000>")]
    pub keep: usize,
    /// Capacity of the memory, in decisions.
    #[serde(default = "usize_of::<500000>")]
    pub memory: usize,
    /// Optimiser steps of the policy per iteration.
    #[serde(default = "usize_of::<30>")]
    pub steps: usize,
    /// Decisions per optimiser step of the policy.
    #[serde(default = "usize_of::<256>")]
    pub batch: usize,
}

fn rate() -> Schedule {
    Schedule { from: 1e-3, to: 2e-4, shape: Shape::Exponential }
}

fn passes() -> f64 {
    3.0
}

fn reach() -> f64 {
    0.5
}

fn discount() -> f64 {
    1.5
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
            if architecture.is_some_and(|architecture| architecture.has_cells(&[])) {
                let message = "learned cells are found from positions, which regrets do not draw: use mlp, meta_pi or \
                               symbolic";
                return fault(path, message);
            }
            if let Some(other) = architecture.filter(|architecture| !fits(architecture)) {
                let message = format!(
                    "an architecture `{}` cannot learn unbounded targets by squared error: use mlp, meta_pi or symbolic",
                    other.kind()
                );
                return fault(path, message);
            }
        }
        for (path, architecture) in networks {
            if let Some(output) = architecture.and_then(bounded) {
                return fault(
                    path,
                    format!(
                        "ends in {output}, but regrets and logits are unbounded: write `output = \"linear\"`"
                    ),
                );
            }
        }
        if self.table && self.architecture.is_some() {
            return fault("learn.regrets.table", "replaces the network: leave `architecture` out");
        }
        check_schedule("learn.regrets.rate", &self.rate, 0.0, 1e9)?;
        for (key, value, low, high) in [
            ("passes", self.passes, 0.01, 1e4),
            ("reach", self.reach, 0.0, 1.0),
            ("discount", self.discount, 0.0, 1e6),
        ] {
            check_range(&format!("learn.regrets.{key}"), value, low..=high)?;
        }
        for (key, count, limit) in [
            ("rows", self.rows, limits::BATCH as usize),
            ("keep", self.keep, limits::MEMORY),
            ("memory", self.memory, limits::MEMORY),
            ("steps", self.steps, limits::STEPS),
            ("batch", self.batch, limits::BATCH as usize),
        ] {
            check_range(&format!("learn.regrets.{key}"), count, 1..=limit)?;
        }
        Ok(())
    }
}

/// The condition for regrets and exploitability.
pub(in crate::config) const NO_PUBLIC_TREE: &str = "needs a small two-player game whose hidden information can be listed, such as leduc or liars-dice:openspiel:1-1:6";

/// Whether an architecture can learn unbounded targets by squared error, if no activation bounds its output.
fn fits(architecture: &Architecture) -> bool {
    match architecture {
        Architecture::Mlp(_)
        | Architecture::MetaPi(_)
        | Architecture::Symbolic(_)
        | Architecture::Cells(_)
        | Architecture::Shared(_)
        | Architecture::Frozen(_) => true,
        Architecture::Hme(_)
        | Architecture::Modules(_)
        | Architecture::Lookup(_)
        | Architecture::Blind(_)
        | Architecture::Residual(_) => false,
    }
}

/// The activation that bounds the output of some network in an architecture.
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
        Architecture::Cells(cells) => bounded(&cells.expert),
        Architecture::Shared(shared) => bounded(&shared.top),
        // Other kinds are refused for regrets in any case.
        Architecture::Hme(_)
        | Architecture::Modules(_)
        | Architecture::Lookup(_)
        | Architecture::Blind(_)
        | Architecture::Residual(_)
        | Architecture::Frozen(_) => None,
    }
}
