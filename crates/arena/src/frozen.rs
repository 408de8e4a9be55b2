//! Checkpoints that learn nothing more: what they think is known.

use crate::evaluator::Bound;
use adept_game::{Afterstate, Game, RowMut, Valuation};
use adept_model::{ModelError, Rows};
use std::sync::{Mutex, PoisonError};

/// A checkpoint as a valuation. Threads do not wait for each other: each takes a copy.
pub(crate) struct Frozen<G: Game> {
    /// Copies that nobody uses.
    idle: Mutex<Vec<Valuing<G>>>,
    first: Mutex<Bound<G>>,
}

struct Valuing<G: Game> {
    bound: Bound<G>,
    row: Rows,
    value: Vec<f32>,
}

impl<G: Game> Frozen<G> {
    /// The valuation of a checkpoint that was opened.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if it cannot be copied.
    pub(crate) fn new(game: &G, mut bound: Bound<G>) -> Result<Self, ModelError> {
        let idle = vec![Valuing::new(bound.player(game)?)];
        Ok(Self { idle: Mutex::new(idle), first: Mutex::new(bound) })
    }

    fn take(&self, game: &G) -> Option<Valuing<G>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.or_else(|| {
            let copy = self.first.lock().unwrap_or_else(PoisonError::into_inner).player(game);
            copy.ok().map(Valuing::new)
        })
    }
}

impl<G: Game> Valuing<G> {
    fn new(bound: Bound<G>) -> Self {
        let row = Rows::new(bound.learner.channels());
        Self { bound, row, value: Vec::new() }
    }
}

impl<G: Game> Valuation<G> for Frozen<G> {
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64 {
        // A copy was made once, and is made of the same memory again.
        let Some(mut valuing) = self.take(game) else { return f64::NAN };
        valuing.row.clear();
        let (dense, index) = valuing.row.push();
        valuing.bound.encoder().encode(game, after, RowMut { dense, index });
        valuing.bound.learner.evaluate(&valuing.row, &mut valuing.value);
        let value = f64::from(valuing.value[0]);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(valuing);
        value
    }
}
