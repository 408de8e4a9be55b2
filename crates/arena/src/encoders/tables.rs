//! Encoders with tables of the game that stand for the model where they know the value.

use super::parts::KNOWN;
use crate::error::OpenError;
use adept_game::{Afterstate, Channel, Derived, Encoder, Game, Kit, RowMut, RowSink, Valuation};
use std::sync::Arc;

/// An encoder with valuations of the game that stand for the model where they know the value. The first that knows it counts.
pub(crate) struct WithKnown<G: Game> {
    name: String,
    inner: Arc<dyn Encoder<G>>,
    tables: Vec<Arc<dyn Valuation<G>>>,
}

impl<G: Kit> WithKnown<G> {
    /// An encoder of this name with the tables of these names.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] for a name that is no table of the game. Errors of opening it.
    pub(crate) fn new(
        game: &G,
        name: &str,
        inner: Arc<dyn Encoder<G>>,
        tables: &[&str],
    ) -> Result<Self, OpenError> {
        let all = game.values().tables;
        let names: Vec<&str> = all.names().iter().map(|table| &*table.name).collect();
        let unknown = |table: &str| {
            let known = match names.is_empty() {
                true => "; it has no tables that stand for a network".into(),
                false => format!("; it has {}", names.join(", ")),
            };
            OpenError::Unknown(format!("{} has no table `{table}`{known}", game.name()))
        };
        // What one player gains the other loses: the end of a game of learning takes that for granted.
        if !(game.zero_sum() && game.players() == 2) {
            return Err(OpenError::Unknown(format!(
                "{} is not a zero-sum game of two players: `{KNOWN}:` needs one",
                game.name()
            )));
        }
        let opened = tables.iter().map(|table| Ok(all.open(table).ok_or_else(|| unknown(table))??));
        Ok(Self { name: name.into(), inner, tables: opened.collect::<Result<_, OpenError>>()? })
    }
}

impl<G: Game> Encoder<G> for WithKnown<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        self.inner.channels()
    }

    fn fits(&self, game: &G) -> Result<(), String> {
        self.inner.fits(game)
    }

    #[inline]
    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        self.inner.encode(game, after, row);
    }

    fn decides(&self) -> bool {
        self.inner.decides()
    }

    fn decide(
        &self,
        game: &G,
        state: &G::State,
        player: usize,
        actions: &mut Vec<G::Action>,
        rows: &mut dyn RowSink,
    ) {
        self.inner.decide(game, state, player, actions, rows);
    }

    fn key_text(&self, game: &G, channel: &str, key: u64) -> Option<String> {
        self.inner.key_text(game, channel, key)
    }

    fn fetch(&self, game: &G, after: Afterstate<'_, G>) {
        self.inner.fetch(game, after);
    }

    fn fetches(&self) -> bool {
        self.inner.fetches()
    }

    fn needs_action(&self) -> bool {
        self.inner.needs_action()
    }

    fn known(&self, game: &G, after: Afterstate<'_, G>, outcomes: &mut Vec<f32>) -> Option<f32> {
        self.tables.iter().find_map(|table| table.tell(game, after, outcomes)).map(|value| value as f32)
    }

    fn knows(&self) -> bool {
        true
    }

    fn derives(&self) -> bool {
        self.inner.derives()
    }

    fn derived(&self, game: &G, after: Afterstate<'_, G>) -> Option<Derived<G>> {
        self.inner.derived(game, after)
    }
}
