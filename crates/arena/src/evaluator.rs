//! Evaluators: assign values to afterstates.
//!
//! An evaluator gives the value of a state right after an action for the player who acted, in [−1, 1] (utility divided
//! by the game's scale). A finished game has its exact utility; models never see it.

use crate::agents::Decision;
use crate::known::{self, KnownRows};
use crate::successors::Successors;
use adept_game::{Afterstate, Channel, ChannelKind, Encoder, Game, Kit, RowMut, Turn, Valuation};
use adept_model::{Explanation, Learner, ModelError, OutcomeClass, Predictor, Rows};
use std::sync::Arc;

/// Evaluates the actions of a decision.
pub trait Evaluator<G: Game>: Send {
    /// Replaces `values` by the value of the state after each of `actions` for the player to move.
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>);

    /// Replaces `actions` by the candidates of the player to move, and `values` by their values. By default,
    /// every legal action is a candidate.
    fn weigh(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        at.game.actions(at.state, actions);
        self.values(at, actions, values);
    }

    /// As [`weigh`](Self::weigh), for people: an evaluator that leaves values of bad actions open finds them too.
    fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        self.weigh(at, actions, values);
    }

    /// The actions that it expected from the last decision on, if it looks ahead.
    fn line(&self) -> &[G::Action] {
        &[]
    }

    /// How far it looked ahead at the last decision; none if it does not look ahead.
    fn reach(&self) -> Option<Reach> {
        None
    }

    /// The standard error of each value of the last decision, in the order of the actions. Empty if the values are not estimates from
    /// samples.
    fn errors(&self) -> &[f32] {
        &[]
    }

    /// The classes of results whose probabilities it gives; empty if it knows values alone.
    fn classes(&self) -> &[OutcomeClass] {
        &[]
    }

    /// Replaces `outcomes` by the probability of each class for the player to move after a legal action that does not
    /// end the game; empty if it knows values alone.
    fn outcomes(&mut self, _at: Decision<'_, G>, _action: &G::Action, outcomes: &mut Vec<f32>) {
        outcomes.clear();
    }

    /// A copy for another thread; none if it cannot be copied.
    fn copied(&mut self, _game: &G) -> Option<Box<dyn Evaluator<G>>> {
        None
    }
}

/// How far an evaluator looked ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Plies searched completely; 1 is the evaluator of the leaves alone.
    pub plies: u32,
    /// Plies that were asked for; none for a search that ends by time or by positions.
    pub asked: Option<u32>,
    /// Whether every line was searched to the end of the game.
    pub solved: bool,
}

impl Reach {
    /// Whether it looked as far as it was asked to.
    pub fn is_finished(self) -> bool {
        self.solved || self.plies >= self.asked.unwrap_or(0)
    }

    /// Says in words what is missing, such as `stopped after 2 of 3 plies`; none if nothing is.
    pub fn shortfall(self) -> Option<String> {
        match (self.plies, self.asked) {
            _ if self.solved => None,
            (0 | 1, _) => Some("stopped before it looked ahead: these are values without a search".into()),
            (plies, Some(asked)) if plies < asked => Some(format!("stopped after {plies} of {asked} plies")),
            _ => None,
        }
    }
}

/// Implements [`Evaluator`] by forwarding every method.
macro_rules! passed_on {
    ($to:ty) => {
        impl<G: Game, E: Evaluator<G> + ?Sized> Evaluator<G> for $to {
            fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
                (**self).values(at, actions, values);
            }

            fn weigh(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
                (**self).weigh(at, actions, values);
            }

            fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
                (**self).study(at, actions, values);
            }

            fn line(&self) -> &[G::Action] {
                (**self).line()
            }

            fn reach(&self) -> Option<Reach> {
                (**self).reach()
            }

            fn errors(&self) -> &[f32] {
                (**self).errors()
            }

            fn classes(&self) -> &[OutcomeClass] {
                (**self).classes()
            }

            fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
                (**self).outcomes(at, action, outcomes);
            }

            fn copied(&mut self, game: &G) -> Option<Box<dyn Evaluator<G>>> {
                (**self).copied(game)
            }
        }
    };
}

passed_on!(&mut E);
passed_on!(Box<E>);

/// Calls `visit` with the state after each action, and the action.
pub fn each_after<G: Game>(
    game: &G,
    state: &G::State,
    actions: &[G::Action],
    mut visit: impl FnMut(&G::State, &G::Action),
) {
    let mut after = state.clone();
    for action in actions {
        after.clone_from(state);
        game.apply(&mut after, action);
        visit(&after, action);
    }
}

/// A valuation as an evaluator. Unknown states have value 0.
#[derive(Clone)]
pub struct ByValuation<G: Game>(pub Arc<dyn Valuation<G>>);

impl<G: Game> Evaluator<G> for ByValuation<G> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        values.clear();
        each_after(at.game, at.state, actions, |after, action| {
            let value =
                self.0.value(at.game, Afterstate { state: after, action: Some(action), player: at.player });
            values.push(if value.is_nan() { 0.0 } else { value as f32 });
        });
    }

    fn copied(&mut self, _: &G) -> Option<Box<dyn Evaluator<G>>> {
        Some(Box::new(ByValuation(self.0.clone())))
    }
}

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

/// A model connected to a game by an encoder. In training the model is a [`Learner`].
pub struct GameModel<G: Game, M: ?Sized = dyn Predictor> {
    encoder: Arc<dyn Encoder<G>>,
    /// The model.
    pub model: Box<M>,
    /// What follows the decision that was weighed last.
    found: Successors<G>,
    /// Memory for what follows a decision that is explained.
    pub(crate) spare: Option<Successors<G>>,
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
        Self { encoder, model, found, spare: None }
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
    /// model's, and without impossible classes. Those of experts stay as they are.
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
        self.encoder.encode(game, Afterstate { state, action, player }, rows.push());
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
        self.model.head().classes().unwrap_or_default()
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
