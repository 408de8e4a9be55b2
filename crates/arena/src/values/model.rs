//! Models as evaluators of a game.

use super::decision::Decision;
use super::evaluator::Evaluator;
use super::known::{self, KnownRows};
use super::successors::Successors;
use adept_game::{Afterstate, Encoder, Game, Kit, Turn};
use adept_model::{Explanation, Learner, ModelError, OutcomeClass, Predictor, Rows};
use std::sync::Arc;

/// A model connected to a game by an encoder. In training the model is a [`Learner`].
pub struct GameModel<G: Game, M: ?Sized = dyn Predictor> {
    encoder: Arc<dyn Encoder<G>>,
    /// The model.
    pub model: Box<M>,
    /// What follows the decision that was weighed last.
    found: Successors<G>,
    /// Memory for what follows a decision that is explained.
    pub(crate) spare: Option<Successors<G>>,
    /// Whether the model belongs to another rule set, so that its classes are not results of this game.
    is_adapted: bool,
}

/// A model in training, connected to a game by an encoder.
pub type LearnerModel<G> = GameModel<G, dyn Learner>;

impl<G: Kit> GameModel<G> {
    /// Binds a model to a game. The model must use this encoder's channels.
    pub fn new(game: &G, encoder: Arc<dyn Encoder<G>>, model: Box<dyn Predictor>) -> Self {
        Self::of(game, encoder, model)
    }
}

impl<G: Kit> LearnerModel<G> {
    /// Binds a model that learns to a game. The model must use this encoder's channels.
    pub fn learning(game: &G, encoder: Arc<dyn Encoder<G>>, learner: Box<dyn Learner>) -> Self {
        Self::of(game, encoder, learner)
    }

    /// A copy with a learner on the CPU, for another thread. See [`Learner::worker`].
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the learner's device does not respond.
    pub fn worker(&mut self, game: &G) -> Result<Self, ModelError> {
        Ok(Self::learning(game, self.encoder.clone(), self.model.worker()?))
    }

    /// Tells the learner that training considered the last candidates.
    pub fn note_weighed(&mut self) {
        self.model.weighed(&self.found.rows);
    }
}

impl<G: Kit, M: Predictor + ?Sized> GameModel<G, M> {
    fn of(game: &G, encoder: Arc<dyn Encoder<G>>, model: Box<M>) -> Self {
        let found = Successors::new(game, &*model);
        Self { encoder, model, found, spare: None, is_adapted: game.results().adapted.is_some() }
    }

    /// The encoder.
    pub fn encoder(&self) -> &Arc<dyn Encoder<G>> {
        &self.encoder
    }

    /// A copy with the model on the CPU, for another thread.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the model's device does not respond.
    pub fn player(&mut self, game: &G) -> Result<GameModel<G>, ModelError> {
        Ok(GameModel::new(game, self.encoder.clone(), self.model.player()?))
    }

    /// Lists and encodes the candidates of the player to move. Values that need the model are 0.
    #[inline]
    pub fn candidates(&mut self, at: Decision<'_, G>) -> &Successors<G> {
        self.found.clear();
        self.found.list(&*self.encoder, at);
        &self.found
    }

    /// Lists and evaluates the candidates of the player to move.
    #[inline]
    pub fn weighed(&mut self, at: Decision<'_, G>) -> &Successors<G> {
        self.candidates(at);
        self.found.evaluate(&mut *self.model);
        &self.found
    }

    /// Lists and evaluates the candidates of the player to move, as far as learning needs it. If an action wins
    /// the highest possible utility at once, all others have value −1 and the model is not evaluated, unless it gives
    /// distributions, which learning may need.
    #[inline]
    pub fn decide(&mut self, at: Decision<'_, G>) -> &Successors<G> {
        self.candidates(at);
        if self.found.values.contains(&1.0) && self.model.head().classes().is_none() {
            let others = self.found.values.iter_mut().zip(&self.found.row_of);
            others.filter(|(_, row)| row.is_some()).for_each(|(value, _)| *value = -1.0);
        } else {
            self.found.evaluate(&mut *self.model);
        }
        &self.found
    }

    /// The model's explanation of an action of the player to move. None if the action ends the game, because
    /// its value is then known.
    pub fn explain(&mut self, at: Decision<'_, G>, action: &G::Action) -> Option<Explanation> {
        let mut shown = at.state.clone();
        if !at.game.hides() {
            at.game.apply(&mut shown, action);
            if at.game.turn(&shown) == Turn::Over {
                return None;
            }
        }
        let rows = self.encode(at.game, &shown, Some(action), at.player);
        let after = Afterstate { state: &shown, action: Some(action), player: at.player };
        Some(self.explained(at.game, after, &rows))
    }

    /// The model's explanation of the row of an afterstate, with the value and distribution that the encoder knows in place of the
    /// model's, and without impossible classes, also in the distributions of experts.
    pub fn explained(&mut self, game: &G, after: Afterstate<'_, G>, row: &Rows) -> Explanation {
        known::explain(&mut *self.model, &*self.encoder, game, after, row)
    }

    /// Replaces `values` by the value of each of these states, right after a move, for the player who moved, and `outcomes` by the
    /// distributions, `[states, classes]`; empty if the model knows values alone.
    pub fn afterstates(
        &mut self,
        game: &G,
        states: &[G::State],
        values: &mut Vec<f32>,
        outcomes: &mut Vec<f32>,
    ) {
        let (mut rows, mut known) = (Rows::new(self.model.channels()), KnownRows::default());
        for state in states {
            let after = Afterstate { state, action: None, player: game.just_acted(state).unwrap_or(0) };
            known.add(&mut rows, self.model.head(), &*self.encoder, game, after);
        }
        known.evaluate(&mut *self.model, &rows, values, outcomes);
    }

    /// The row of one afterstate. `action` is the action that led to it, if known.
    pub fn encode(&self, game: &G, state: &G::State, action: Option<&G::Action>, player: usize) -> Rows {
        let mut rows = Rows::new(self.model.channels());
        let after = Afterstate { state, action, player };
        known::encode(game, self.model.head(), &*self.encoder, after, rows.push());
        rows
    }
}

impl<G: Kit, M: Predictor + ?Sized> Evaluator<G> for GameModel<G, M> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        if self.encoder.decides() {
            // Actions that the encoder omits have probability 0.
            let found = self.weighed(at);
            let value = |action: &G::Action| {
                let place = found.actions.iter().position(|a| a == action);
                place.map_or(f32::NEG_INFINITY, |i| found.values[i])
            };
            values.clear();
            values.extend(actions.iter().map(value));
            return;
        }
        self.found.clear();
        self.found.list_these(&*self.encoder, at, actions);
        self.found.evaluate(&mut *self.model);
        values.clone_from(&self.found.values);
    }

    fn weigh(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        let found = self.weighed(at);
        actions.clone_from(&found.actions);
        values.clone_from(&found.values);
    }

    fn classes(&self) -> &[OutcomeClass] {
        self.model.head().classes().filter(|_| !self.is_adapted).unwrap_or_default()
    }

    fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
        outcomes.clear();
        if let Some(explained) = self.explain(at, action) {
            outcomes.extend(explained.outcomes);
        }
    }

    fn copied(&mut self, game: &G) -> Option<Box<dyn Evaluator<G>>> {
        self.player(game).ok().map(|copy| Box::new(copy) as _)
    }
}
