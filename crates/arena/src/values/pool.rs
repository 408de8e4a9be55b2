//! A pool of checkpoint copies, so that threads do not wait for each other.

use super::model::GameModel;
use adept_game::{Game, Kit};
use adept_model::ModelError;
use std::sync::{Mutex, PoisonError};

/// An evaluator for any number of threads. Each thread takes a copy and returns it.
pub struct Pool<G: Game, T = GameModel<G>> {
    idle: Mutex<Vec<T>>,
    first: Mutex<GameModel<G>>,
    make: fn(GameModel<G>) -> T,
}

impl<G: Kit, T> Pool<G, T> {
    /// A pool of copies of an evaluator, each wrapped by `make`.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if it cannot be copied.
    pub fn new(game: &G, mut bound: GameModel<G>, make: fn(GameModel<G>) -> T) -> Result<Self, ModelError> {
        let idle = vec![make(bound.player(game)?)];
        Ok(Self { idle: Mutex::new(idle), first: Mutex::new(bound), make })
    }

    /// Calls `f` with a copy that no other thread uses.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if another copy is needed and cannot be made.
    #[inline]
    pub fn with<R>(&self, game: &G, f: impl FnOnce(&mut T) -> R) -> Result<R, ModelError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut copy = match idle {
            Some(copy) => copy,
            None => (self.make)(self.first.lock().unwrap_or_else(PoisonError::into_inner).player(game)?),
        };
        let result = f(&mut copy);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(copy);
        Ok(result)
    }
}
