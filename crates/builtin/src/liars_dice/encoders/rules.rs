//! Rules learned from deliberation. The key of a rule holds the features that the deliberation read; its initial value
//! is the result.

use crate::liars_dice::deliberation::paper::feature;
use crate::liars_dice::deliberation::{Deliberate, DeliberateSettings};
use crate::liars_dice::rules::{Action, LiarsDice};
use crate::liars_dice::state::State;
use adept_game::deliberation::{Deliberation, Deliberator, preference};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, RowMut, RowSink};
use std::cell::RefCell;

/// The conditions of a rule that gives the numeric preference of a candidate without deliberation, as in Soar's
/// chunking (Laird, Derbinsky and Tinkerhess 2011, figure 3). Candidates are the actions that symbolic preferences
/// keep.
///
/// `rules:PM` uses the features of the agent PM. `rules:B` uses the templates of the paper's baseline: the bid with any
/// push, its known matching dice, and the number of unknown dice.
pub(super) struct Rules {
    name: String,
    deliberate: Deliberate,
    /// Whether to keep only the conditions that templates test.
    templates: bool,
}

static CHANNELS: [Channel; 2] = [
    Channel::fixed(
        "rule",
        ChannelKind::Key,
        "the features that the deliberation read for the action, packed into one number",
    ),
    Channel::fixed(
        "deliberated",
        ChannelKind::Value,
        "2p − 1, where p is the chance of success from the deliberation",
    ),
];

thread_local! {
    static FOUND: RefCell<Deliberation<Action>> = RefCell::default();
}

impl Rules {
    pub(super) fn new(name: &str) -> Option<Self> {
        let agent = name.strip_prefix("rules:")?;
        // Templates use the features of P.
        let settings = DeliberateSettings::named(if agent == "B" { "P" } else { agent })?;
        Some(Self {
            name: name.into(),
            deliberate: Deliberate::new(agent, settings).ok()?,
            templates: agent == "B",
        })
    }

    fn write(&self, found: &Deliberation<Action>, candidate: usize, row: RowMut<'_>) {
        let conditions = found.conditions(candidate);
        row.index[0] = match self.templates {
            true => feature::pack(
                &conditions.iter().copied().filter(|c| feature::in_templates(*c)).collect::<Vec<_>>(),
            ),
            false => feature::pack(conditions),
        };
        row.dense[0] = preference(found.candidates[candidate].success) as f32;
    }
}

impl Encoder<LiarsDice> for Rules {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &CHANNELS
    }

    fn encode(&self, game: &LiarsDice, after: Afterstate<'_, LiarsDice>, row: RowMut<'_>) {
        let Some(action) = after.action else { return };
        FOUND.with_borrow_mut(|found| {
            self.deliberate.deliberate(game, after.state, after.player, found);
            if let Some(i) = found.candidates.iter().position(|c| c.action == *action) {
                self.write(found, i, row);
            }
        });
    }

    fn decides(&self) -> bool {
        true
    }

    fn decide(
        &self,
        game: &LiarsDice,
        state: &State,
        player: usize,
        actions: &mut Vec<Action>,
        rows: &mut dyn RowSink,
    ) {
        actions.clear();
        FOUND.with_borrow_mut(|found| {
            self.deliberate.deliberate(game, state, player, found);
            for i in (0..found.candidates.len()).filter(|i| found.candidates[*i].dropped.is_none()) {
                actions.push(found.candidates[i].action);
                self.write(found, i, rows.push());
            }
        });
    }

    fn key_text(&self, game: &LiarsDice, channel: &str, key: u64) -> Option<String> {
        let conditions = (channel == "rule").then(|| feature::unpack(key))?;
        let words = conditions.iter().map(|c| self.deliberate.condition_text(game, *c));
        let words: Vec<String> = words.filter(|text| !text.is_empty()).collect();
        let mut operator = self.deliberate.operator_text(game, &conditions);
        if self.templates {
            // One template covers a bid with any push.
            operator = operator.replace(" with no push", " with whatever push");
        }
        Some(format!("if the operator is to {operator} and {}", words.join(" and ")))
    }
}
