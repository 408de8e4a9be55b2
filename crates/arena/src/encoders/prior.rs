//! Encoders with a prior: the value of the position by a valuation of the game, or by a checkpoint that no longer learns.

use crate::values::{GameModel, KnownRows, Pool};
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, Kit, RowMut, Valuation};
use adept_model::{ModelError, Rows};
use std::sync::Arc;

/// An encoder with one more channel, `prior`: a valuation of the position for the player who just acted.
pub(crate) struct WithPrior<G: Game> {
    name: String,
    inner: Arc<dyn Encoder<G>>,
    channels: Vec<Channel>,
    prior: Arc<dyn Valuation<G>>,
}

impl<G: Game> WithPrior<G> {
    pub(crate) fn new(name: &str, inner: Arc<dyn Encoder<G>>, prior: Arc<dyn Valuation<G>>) -> Self {
        let about = "prior value of the position, for the player who just moved";
        let channel = Channel::fixed("prior", ChannelKind::Value, about);
        let channels = inner.channels().iter().cloned().chain([channel]).collect();
        Self { name: name.into(), inner, channels, prior }
    }
}

impl<G: Game> Encoder<G> for WithPrior<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    #[inline]
    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        let Some((prior, dense)) = row.dense.split_last_mut() else { return };
        *prior = self.prior.value(game, after) as f32;
        self.inner.encode(game, after, RowMut { dense, index: row.index });
    }

    fn fetch(&self, game: &G, after: Afterstate<'_, G>) {
        self.prior.fetch(game, after);
        self.inner.fetch(game, after);
    }

    fn fetches(&self) -> bool {
        true
    }

    fn needs_action(&self) -> bool {
        self.inner.needs_action()
    }
}

/// A checkpoint as a valuation.
pub(crate) struct Frozen<G: Game>(Pool<G, Valuing<G>>);

struct Valuing<G: Game> {
    bound: GameModel<G>,
    row: Rows,
    known: KnownRows,
    value: Vec<f32>,
    outcomes: Vec<f32>,
}

impl<G: Kit> Frozen<G> {
    /// A valuation from an open checkpoint.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if it cannot be copied.
    pub(crate) fn new(game: &G, bound: GameModel<G>) -> Result<Self, ModelError> {
        Pool::new(game, bound, Valuing::new).map(Self)
    }
}

impl<G: Kit> Valuing<G> {
    fn new(bound: GameModel<G>) -> Self {
        let row = Rows::new(bound.model.channels());
        Self { bound, row, known: KnownRows::default(), value: Vec::new(), outcomes: Vec::new() }
    }
}

impl<G: Kit> Valuation<G> for Frozen<G> {
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64 {
        let value = self.0.with(game, |valuing| {
            let Valuing { bound, row, known, value, outcomes } = valuing;
            row.clear();
            known.clear();
            known.add(row, bound.model.head(), &**bound.encoder(), game, after);
            known.evaluate(&mut *bound.model, row, value, outcomes);
            f64::from(value[0])
        });
        // The first copy succeeded in `new`, and later copies come from the same memory.
        value.unwrap_or(f64::NAN)
    }
}
