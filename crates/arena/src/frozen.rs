//! Frozen checkpoints: valuations that no longer learn.

use crate::evaluator::GameModel;
use crate::known::KnownRows;
use crate::pool::Pool;
use adept_game::{Afterstate, Game, Kit, Valuation};
use adept_model::{ModelError, Rows};

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
