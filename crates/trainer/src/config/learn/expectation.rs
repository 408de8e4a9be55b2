//! The method `expectation`: one-step backups over all chance outcomes.

use super::Learn;
use crate::config::fault::{Fault, check_distribution, check_range, check_schedule, fault, first_of};
use crate::config::{Schedule, is_one, one, u64_of};
use adept_game::GameInfo;
use adept_ground::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Settings of the method `expectation`: one-step temporal differences whose target is the exact expectation
/// over chance outcomes. Positions come from self-play and from a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectationSettings {
    /// Samples of the whole run.
    pub samples: u64,
    /// Share of the samples that come from self-play, in [0, 1]; the others are drawn. Default: 0.75.
    #[serde(default = "three_quarters")]
    pub self_play: f64,
    /// ε of ε-greedy play, in [0, 1].
    #[serde(default = "Schedule::exploration")]
    pub explore: Schedule,
    /// Distribution from which positions and the starts of self-play are drawn. Default: the game's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
    /// Where self-play begins: at positions of the distribution, `drawn`, or as the rules say, `rules`; then all samples come from
    /// games. Default: `drawn` if the game has a distribution.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts: Option<Starts>,
    /// How often each sample is learned from, in an order that is drawn anew each time. Targets are computed once. Default: 1.
    #[serde(default = "u64_of::<1>", skip_serializing_if = "is_one")]
    pub uses: u64,
    /// Samples of an optimiser step, at most `learn.batch`. Default: `learn.batch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    /// A small network that picks the candidates which the network of the run values. Default: it values all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub screen: Option<ScreenSettings>,
    /// Positions that games of good players seldom reach, from which a share of the games begins. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<RareSettings>,
    /// Labelled positions, such as rollouts of `adept data build`, which are a share of the samples. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examples: Option<MixedExamples>,
}

/// Labelled positions among the samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MixedExamples {
    /// A table of positions with values, or with the probability of each class of results (a path relative to the config file). Only the
    /// part for training is learned from, eight positions of ten.
    pub file: PathBuf,
    /// Share of the samples that are drawn from it, above 0 and at most 1; the others are targets of the run itself.
    pub share: f64,
    /// Weight of each of them beside a target of the run itself. Default: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub weight: f64,
}

/// Games that begin at rare positions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RareSettings {
    /// Share of the games of self-play that begin there, above 0 and at most 1; the others begin as `starts` says.
    pub share: f64,
    /// Distributions from which they are drawn, each equally often. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<String>,
    /// A file with a position before a roll on each line, or a table with a column `position` (a path relative to the config file). It is
    /// drawn from as often as each distribution. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
}

/// A small network that picks candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScreenSettings {
    /// Its checkpoint or run (a path relative to the config file, or a name).
    pub checkpoint: String,
    /// Candidates of each roll that it lets pass: the best by its values. Finished games and positions of known value pass in any case.
    pub keep: u64,
}

/// The setting that names the checkpoint of a screen.
pub const SCREEN: &str = "learn.expectation.screen.checkpoint";

/// The setting that names a file of labelled positions.
pub const EXAMPLES_FILE: &str = "learn.expectation.examples.file";

/// The setting that names a file of rare positions.
pub const RARE_FILE: &str = "learn.expectation.rare.file";

/// Fewest samples of a shard whose games begin as the rules say.
const LEAST: u64 = 256;

/// Where games of self-play begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Starts {
    /// At positions of the distribution.
    Drawn,
    /// As the rules say.
    Rules,
}

impl ExpectationSettings {
    pub(super) fn check(&self, learn: &Learn, game: &GameInfo) -> Result<(), Fault> {
        check_distribution("learn.expectation.distribution", self.distribution.as_deref(), game)?;
        if game.hides {
            let message =
                format!("{} hides information, which its positions would reveal: take [learn.td]", game.name);
            return fault("learn.expectation", message);
        }
        if !self.draws(game.has_own_distributions()) && learn.batch < LEAST * learn.shards as u64 {
            let message = format!(
                "games begin anew in every batch and shard, so that positions late in a game would never be seen: take at least {LEAST} \
                 samples a shard, found {} in {}",
                learn.batch, learn.shards
            );
            return fault("learn.batch", message);
        }
        let by_rules = self.starts == Some(Starts::Rules) && self.distribution.is_some();
        let why =
            "positions are not drawn where games begin as the rules say: leave it out, or leave out `starts`";
        first_of("learn.expectation.distribution", &[(by_rules, why)])?;
        check_range("learn.expectation.uses", self.uses, 1..=limits::USES)?;
        if let Some(step) = self.step
            && learn.shards as u64 <= learn.batch
            && !(learn.shards as u64..=learn.batch).contains(&step)
        {
            let (least, most) = (learn.shards, learn.batch);
            let message =
                format!("must lie in {least}..{most}, from `learn.shards` to `learn.batch`, found {step}");
            return fault("learn.expectation.step", message);
        }
        if let Some(screen) = &self.screen {
            check_range("learn.expectation.screen.keep", screen.keep, 1..=limits::KEPT as u64)?;
        }
        if let Some(rare) = &self.rare {
            rare.check(game)?;
        }
        if let Some(examples) = &self.examples {
            examples.check()?;
        }
        if game.players != 2 {
            return fault("learn.expectation", "backs values up between two players: take [learn.td]");
        }
        if !(0.0..=1.0).contains(&self.self_play) {
            return fault("learn.expectation.self_play", "is a share and must lie in 0..1");
        }
        check_schedule("learn.expectation.explore", &self.explore, 0.0, 1.0)
    }
}

impl ExpectationSettings {
    /// Whether positions are drawn from a distribution of this game, or games begin as the rules say.
    pub fn draws(&self, has_distribution: bool) -> bool {
        self.starts.map_or(has_distribution, |starts| starts == Starts::Drawn)
    }
}

impl MixedExamples {
    fn check(&self) -> Result<(), Fault> {
        let path = "learn.expectation.examples";
        if self.file.as_os_str().is_empty() {
            return fault(EXAMPLES_FILE, "is empty: give the path of a CSV file");
        }
        if !(self.share > 0.0 && self.share <= 1.0) {
            let message = format!("is a share of the samples, above 0 and at most 1, found {}", self.share);
            return fault(&format!("{path}.share"), message);
        }
        if !(self.weight > 0.0 && self.weight <= 1000.0) {
            let message = format!("lies above 0 and is at most 1000, found {}", self.weight);
            return fault(&format!("{path}.weight"), message);
        }
        Ok(())
    }
}

impl RareSettings {
    fn check(&self, game: &GameInfo) -> Result<(), Fault> {
        let path = "learn.expectation.rare";
        if !(self.share > 0.0 && self.share <= 1.0) {
            let message = format!("is a share of the games, above 0 and at most 1, found {}", self.share);
            return fault(&format!("{path}.share"), message);
        }
        for (i, name) in self.distributions.iter().enumerate() {
            check_distribution(&format!("{path}.distributions.{i}"), Some(name), game)?;
            if self.distributions[..i].contains(name) {
                return fault(&format!("{path}.distributions.{i}"), format!("names `{name}` a second time"));
            }
        }
        if self.distributions.is_empty() && self.file.is_none() {
            let known: Vec<&str> = game.distributions.iter().map(|d| &*d.name).collect();
            let message =
                format!("names no positions: write `distributions`, of {}, or `file`", known.join(", "));
            return fault(path, message);
        }
        Ok(())
    }
}

fn three_quarters() -> f64 {
    0.75
}
