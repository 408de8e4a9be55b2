//! The method `expectation`: one-step backups over all chance outcomes.

use super::{check_distribution, explore};
use crate::config::Schedule;
use crate::config::check::{Fault, fault, schedule};
use adept_game::GameInfo;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    #[serde(default = "explore")]
    pub explore: Schedule,
    /// Distribution from which positions and the starts of self-play are drawn. Default: the game's first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distribution: Option<String>,
}

impl ExpectationSettings {
    pub(super) fn check(&self, game: &GameInfo) -> Result<(), Fault> {
        check_distribution("learn.expectation.distribution", self.distribution.as_deref(), game)?;
        super::draws_positions("learn.expectation", game)?;
        if game.players != 2 {
            return fault("learn.expectation", "backs values up between two players: take [learn.td]");
        }
        if !(0.0..=1.0).contains(&self.self_play) {
            return fault("learn.expectation.self_play", "is a share and must lie in 0..1");
        }
        schedule("learn.expectation.explore", &self.explore, 0.0, 1.0)
    }
}

fn three_quarters() -> f64 {
    0.75
}
