//! Deliberating agents as frozen experts: each fills a value channel of an encoder.

use adept_game::deliberation::{Deliberation, Deliberator, preference};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, RowMut, RowSink};
use std::borrow::Cow;
use std::sync::Arc;

/// An encoder with one more value channel for each of several deliberating agents. The channel has the agent's name.
/// Its value is 2p − 1, where p is the agent's estimated chance of success; −1 if the agent drops or does not consider
/// the action.
pub(crate) struct WithExperts<G: Game> {
    name: String,
    inner: Arc<dyn Encoder<G>>,
    channels: Vec<Channel>,
    /// Dense columns of the inner encoder.
    width: usize,
    experts: Vec<Arc<dyn Deliberator<G>>>,
}

impl<G: Game> WithExperts<G> {
    /// The experts and the names of their channels.
    pub(crate) fn new(
        name: &str,
        inner: Arc<dyn Encoder<G>>,
        experts: Vec<(Cow<'static, str>, Arc<dyn Deliberator<G>>)>,
    ) -> Self {
        let about =
            "2p − 1, where p is the chance of success estimated by this agent; −1 if it rejects the action";
        let channel = |name: &Cow<'static, str>| Channel::new(name.clone(), ChannelKind::Value).about(about);
        let (names, experts): (Vec<_>, Vec<_>) = experts.into_iter().unzip();
        let channels: Vec<Channel> =
            inner.channels().iter().cloned().chain(names.iter().map(channel)).collect();
        let width = inner.channels().iter().map(|c| c.kind.dense_width());
        Self { name: name.into(), width: width.sum(), inner, channels, experts }
    }

    /// Runs every expert on the decision.
    fn deliberate(&self, game: &G, state: &G::State, player: usize) -> Vec<Deliberation<G::Action>> {
        let weighed = |expert: &Arc<dyn Deliberator<G>>| {
            let mut found = Deliberation::default();
            expert.deliberate(game, state, player, &mut found);
            found
        };
        self.experts.iter().map(weighed).collect()
    }
}

/// An expert's value for an action.
fn opinion<A: PartialEq>(found: &Deliberation<A>, action: &A) -> f32 {
    match found.candidates.iter().find(|candidate| candidate.action == *action) {
        Some(candidate) if candidate.dropped.is_none() => preference(candidate.success) as f32,
        _ => -1.0,
    }
}

/// Rows of a decision without the experts' columns.
struct Inner {
    widths: [usize; 2],
    rows: Vec<(Vec<f32>, Vec<u64>)>,
}

impl RowSink for Inner {
    fn push(&mut self) -> RowMut<'_> {
        self.rows.push((vec![0.0; self.widths[0]], vec![0; self.widths[1]]));
        let last = self.rows.len() - 1;
        let (dense, index) = &mut self.rows[last];
        RowMut { dense, index }
    }
}

impl<G: Game> Encoder<G> for WithExperts<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn fits(&self, game: &G) -> Result<(), String> {
        self.inner.fits(game)
    }

    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        let (own, opinions) = row.dense.split_at_mut(self.width);
        if let Some(action) = after.action {
            let found = self.deliberate(game, after.state, after.player);
            opinions.iter_mut().zip(&found).for_each(|(value, found)| *value = opinion(found, action));
        }
        self.inner.encode(game, after, RowMut { dense: own, index: row.index });
    }

    fn decides(&self) -> bool {
        true
    }

    fn decide(
        &self,
        game: &G,
        state: &G::State,
        player: usize,
        actions: &mut Vec<G::Action>,
        rows: &mut dyn RowSink,
    ) {
        let found = self.deliberate(game, state, player);
        let index: usize = self.channels.iter().map(|c| c.kind.index_width()).sum();
        let mut inner = Inner { widths: [self.width, index], rows: Vec::new() };
        if self.inner.decides() {
            self.inner.decide(game, state, player, actions, &mut inner);
        } else {
            game.actions(state, actions);
            for action in actions.iter() {
                self.inner.encode(game, Afterstate { state, action: Some(action), player }, inner.push());
            }
        }
        for ((dense, index), action) in inner.rows.iter().zip(actions) {
            let row = rows.push();
            let (own, opinions) = row.dense.split_at_mut(self.width);
            own.copy_from_slice(dense);
            row.index.copy_from_slice(index);
            opinions.iter_mut().zip(&found).for_each(|(value, found)| *value = opinion(found, action));
        }
    }

    fn key_text(&self, game: &G, channel: &str, key: u64) -> Option<String> {
        self.inner.key_text(game, channel, key)
    }

    fn needs_action(&self) -> bool {
        true
    }
}
