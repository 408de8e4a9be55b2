//! Frozen checkpoints: valuations that no longer learn.

use crate::evaluator::GameModel;
use crate::known::known;
use crate::pool::Pool;
use adept_game::{Afterstate, Game, Valuation};
use adept_model::{ModelError, Rows};

/// A checkpoint as a valuation.
pub(crate) struct Frozen<G: Game>(Pool<G, Valuing<G>>);

struct Valuing<G: Game> {
    bound: GameModel<G>,
    row: Rows,
    value: Vec<f32>,
}

impl<G: Game> Frozen<G> {
    /// A valuation from an open checkpoint.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if it cannot be copied.
    pub(crate) fn new(game: &G, bound: GameModel<G>) -> Result<Self, ModelError> {
        Pool::new(game, bound, Valuing::new).map(Self)
    }
}

impl<G: Game> Valuing<G> {
    fn new(bound: GameModel<G>) -> Self {
        let row = Rows::new(bound.learner.channels());
        Self { bound, row, value: Vec::new() }
    }
}

impl<G: Game> Valuation<G> for Frozen<G> {
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64 {
        let value = self.0.with(game, |valuing| {
            if let Some((value, _)) =
                known(&**valuing.bound.encoder(), valuing.bound.learner.head(), game, after)
            {
                return f64::from(value);
            }
            valuing.row.clear();
            valuing.bound.encoder().encode(game, after, valuing.row.push());
            valuing.bound.learner.evaluate(&valuing.row, &mut valuing.value);
            f64::from(valuing.value[0])
        });
        // The first copy succeeded in `new`, and later copies come from the same memory.
        value.unwrap_or(f64::NAN)
    }
}
