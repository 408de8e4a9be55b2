//! The sections `[evaluate]` and `[checkpoints]`: what a run measures, and what it keeps.

use super::Config;
use super::fault::{Fault, NOT_SMALL, check_distribution, check_range, fault};
use super::learn::{Examples, NO_PUBLIC_TREE};
use adept_game::{GameInfo, Suite, Unit};
use adept_ground::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a model is measured while it learns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Evaluate {
    /// Games, or samples, between two measurements. Default: a hundredth of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// What is measured. Default: the equity in games that have an exact one, else the error against exact
    /// values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "suites_schema")]
    pub suites: Option<Vec<Suite>>,
    /// Distribution of the positions on which errors are measured. Default: the distribution of the examples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Games against each opponent in one measurement of the suite `matches`.
    pub games: u64,
    /// Decisions of each of these games that are drawn at random before the agents decide, the same in every seat. Default: none where
    /// games differ by chance or by the opponent's own draws; else as many as lead to 200 openings, at most a third of a game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub random_plies: Option<u32>,
    /// Number of test positions, on which errors are reported. They are never used as examples.
    pub positions: u64,
    /// Number of validation positions. If a run learns from examples, the best checkpoint is the one with the
    /// lowest error on these.
    pub validation: u64,
    /// Opponents of the suites `equity` and `matches`: agents, or checkpoints (their paths relative to the config file). The equity against the first one decides which
    /// checkpoint is best. Default: the opponent in training, or `random` for self-play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Vec<String>>,
    /// Ends the run after this many measurements without an improvement. The measure is the first available of:
    /// equity against the first opponent, exploitability, points against the first opponent, error on
    /// validation positions (if the run learns from examples), loss. With an exact measure, exact values
    /// influence when learning ends.
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
            random_plies: None,
            positions: 100_000,
            validation: 10_000,
            against: None,
            patience: None,
        }
    }
}

/// Schema of the suites that a run can measure.
fn suites_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let names: Vec<&str> =
        Suite::ALL.iter().filter(|(suite, _)| suite.is_in_runs()).map(|(suite, _)| suite.name()).collect();
    schemars::json_schema!({ "type": ["array", "null"], "items": { "type": "string", "enum": names } })
}

/// What is kept on disk while a model learns. Results do not depend on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Checkpoints {
    /// Games, or samples, between two checkpoints. Default: one every ten seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// Number of newest checkpoints kept beside the best one. At least 2, so that a checkpoint is not deleted
    /// while another program reads it.
    pub keep: usize,
    /// Games, or samples, between two checkpoints that are kept for good. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milestones: Option<u64>,
}

impl Default for Checkpoints {
    fn default() -> Self {
        Self { every: None, keep: 2, milestones: None }
    }
}

impl Evaluate {
    /// Finds the first setting that cannot work.
    pub(super) fn check(&self, config: &Config, game: &GameInfo) -> Result<(), Fault> {
        if self.against.as_ref().is_some_and(Vec::is_empty) {
            return fault("evaluate.against", "name at least one opponent, or leave it out");
        }
        for (path, count) in [("evaluate.every", self.every), ("evaluate.patience", self.patience)] {
            if count == Some(0) {
                return fault(path, "must be at least 1");
            }
        }
        check_distribution("evaluate.distribution", self.distribution.as_deref(), game)?;
        let suites = self.suites.as_deref().unwrap_or(&[]);
        if suites.iter().enumerate().any(|(i, s)| suites[..i].contains(s)) {
            return fault("evaluate.suites", "names a suite twice");
        }
        if let Some(suite) = suites.iter().find(|suite| !suite.is_in_runs()) {
            let message = format!("`{suite}` is measured by `adept evaluate`, not in a run: leave it out");
            return fault("evaluate.suites", message);
        }
        self.check_equity(config, game)?;
        suites.iter().try_for_each(|suite| self.check_suite(*suite, config, game))?;
        check_range("evaluate.random_plies", self.random_plies.unwrap_or(0), 0..=limits::RANDOM_PLIES)?;
        // `adept evaluate` can measure more.
        check_range("evaluate.positions", self.positions, 1..=limits::POSITIONS)?;
        check_range("evaluate.validation", self.validation, 1..=limits::POSITIONS)
    }

    /// Finds why a suite cannot measure this game in a run.
    fn check_suite(&self, suite: Suite, config: &Config, game: &GameInfo) -> Result<(), Fault> {
        match suite {
            Suite::Grade if !game.is_solved => {
                let why = if !game.is_small {
                    NOT_SMALL
                } else if game.hides {
                    "has hidden information"
                } else {
                    "is not zero-sum"
                };
                let message = format!("`grade` solves the game, and {} {why}: leave it out", game.name);
                fault("evaluate.suites", message)
            }
            Suite::Exploitability if !game.has_public_tree => fault("evaluate.suites", NO_PUBLIC_TREE),
            Suite::Matches => {
                check_range("evaluate.games", self.games, 1..=limits::EVALUATION_GAMES)?;
                let least = Unit::least_games(game.players as u64);
                match game.unit.is_some() && self.games < least {
                    true => {
                        fault("evaluate.games", format!("must be at least {least}, two deals in each seat"))
                    }
                    false => Ok(()),
                }
            }
            Suite::Rms
                if config.learn.examples().and_then(Examples::file).is_none() && !game.has_exact_values() =>
            {
                let message = format!(
                    "{} has no exact values of positions, which `rms` needs: learn from a file of labelled ones (`examples`)",
                    game.name
                );
                fault("evaluate.suites", message)
            }
            // `check_equity` also says when it is missing; others are not measured in runs.
            Suite::Equity | Suite::Grade | Suite::Rms | Suite::Exploitability => Ok(()),
            Suite::MoveLoss | Suite::Speed => Ok(()),
        }
    }

    fn check_equity(&self, config: &Config, game: &GameInfo) -> Result<(), Fault> {
        match config.measures(Suite::Equity) {
            true if game.has_public_tree => fault(
                "evaluate.suites",
                format!(
                    "{} has hidden information, so `equity` has no best play to compare with: write \
                     `suites = [\"exploitability\"]`, or `matches`",
                    game.name
                ),
            ),
            true if !game.is_small => {
                let usual: Vec<String> =
                    game.usual_suites.iter().map(|suite| format!("{:?}", suite.name())).collect();
                let message = format!("{}: write `suites = [{}]`", no_equity(&game.name), usual.join(", "));
                fault("evaluate.suites", message)
            }
            false
                if game.is_small
                    && ![Suite::Matches, Suite::Rms].into_iter().any(|suite| config.measures(suite))
                    && !game.has_public_tree =>
            {
                fault("evaluate.suites", "needs `equity`, which decides which checkpoint is best")
            }
            false if self.against.is_some() && !config.measures(Suite::Matches) => fault(
                "evaluate.against",
                "names opponents of the suites `equity` and `matches`, which are not measured: leave it out",
            ),
            _ => Ok(()),
        }
    }
}

impl Checkpoints {
    /// Finds the first setting that cannot work.
    pub(super) fn check(&self) -> Result<(), Fault> {
        for (path, count) in [("checkpoints.every", self.every), ("checkpoints.milestones", self.milestones)]
        {
            if count == Some(0) {
                return fault(path, "must be at least 1");
            }
        }
        if !(2..=1_000_000).contains(&self.keep) {
            let message = "must lie in 2..1000000: a program may still read the previous checkpoint while the next \
                           is written";
            return fault("checkpoints.keep", message);
        }
        Ok(())
    }
}

/// Why the suite `equity` cannot measure this game.
pub fn no_equity(game: &str) -> String {
    format!("`equity` searches the whole game, and {game} {NOT_SMALL}")
}
