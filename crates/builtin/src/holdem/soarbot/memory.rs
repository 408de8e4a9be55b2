//! The inputs of SoarBot's rules as the key of a rule memory.

use super::super::rules::Holdem;
use super::super::state::Action;
use super::agent::SoarBot;
use super::attributes::Attributes;
use super::profile::Profile;
use adept_game::deliberation::preference;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, GameError, RowMut};
use std::sync::Arc;

/// The encoder `rules:PROFILE`: one number for the stage, the conditions that hold, the number of bets and the move;
/// and the score that the rules give the move.
pub(crate) struct RuleKeys {
    name: String,
    /// The rules and the agent that follows them, or the error of reading the file.
    rules: Result<(Arc<Profile>, SoarBot), GameError>,
}

static CHANNELS: [Channel; 2] = [
    Channel::fixed(
        "rule",
        ChannelKind::Key,
        "the stage, all conditions of its rules that hold, the number of bets and the move, as one number",
    ),
    Channel::fixed(
        "deliberated",
        ChannelKind::Value,
        "2p − 1, where p is the probability that the rules choose the move",
    ),
];

impl RuleKeys {
    /// Creates the encoder with this name for the rules of a profile.
    pub(crate) fn new(name: &str, profile: Result<Arc<Profile>, GameError>) -> Self {
        Self { name: name.into(), rules: profile.map(|rules| (rules.clone(), SoarBot::new(name, rules))) }
    }
}

impl Encoder<Holdem> for RuleKeys {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &CHANNELS
    }

    fn fits(&self, _: &Holdem) -> Result<(), String> {
        self.rules.as_ref().map(|_| ()).map_err(ToString::to_string)
    }

    fn encode(&self, game: &Holdem, before: Afterstate<'_, Holdem>, row: RowMut<'_>) {
        let (state, player) = (before.state, before.player);
        let Ok((profile, agent)) = &self.rules else { return };
        let Some(attributes) = Attributes::new(game, state, player, profile.straights) else { return };
        let place = match before.action {
            Some(Action::Fold) => 0,
            Some(Action::Raise) => 2,
            _ => 1,
        };
        // The key omits the numbers that conditions compare, but includes the bets: conditions rarely distinguish two
        // from three.
        let begin = (attributes.stage as u64) | (place << 2) | (u64::from(state.bets()) << 4);
        row.index[0] = attributes.read(profile, begin);
        row.dense[0] = preference(agent.policy(game, state, player)[place as usize]) as f32;
    }
}
