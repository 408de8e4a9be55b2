//! Screens: a small network picks the candidates that a large one values.

use super::decision::Decision;
use super::evaluator::{Evaluator, Reach};
use super::model::GameModel;
use super::successors::{MoveFilter, Successors, highest_first};
use adept_game::{Afterstate, Game, Kit};
use adept_ground::profile::{self, Phase};
use adept_model::{ModelError, OutcomeClass};

/// A small network that picks candidates for a large one, and how many.
///
/// The candidates of a decision are valued by the small network, and only the best of them by the large one. The more a valuation by
/// the large network costs, the more that saves. Decisions whose best move the small network ranks low are lost.
pub struct Screen<G: Game> {
    bound: GameModel<G>,
    /// Candidates of a decision that it lets pass, at least 1.
    keep: usize,
    /// States that it values.
    found: Successors<G>,
}

impl<G: Kit> Screen<G> {
    /// A network that lets `keep` candidates of a decision pass.
    ///
    /// # Errors
    /// The reason, if the network is a policy or its encoder sees moves.
    pub fn new(game: &G, bound: GameModel<G>, keep: usize) -> Result<Self, String> {
        if bound.model.head().is_policy() {
            return Err("is a policy: its outputs are not values, which a screen compares".into());
        }
        if bound.encoder().needs_action() {
            return Err(
                "sees moves, and a screen values positions: take a checkpoint with another encoder".into()
            );
        }
        Ok(Self { found: Successors::new(game, &*bound.model), bound, keep: keep.max(1) })
    }

    /// A copy for another thread.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the model's device does not respond.
    pub fn copied(&mut self, game: &G) -> Result<Self, ModelError> {
        let bound = self.bound.player(game)?;
        Ok(Self { found: Successors::new(game, &*bound.model), bound, keep: self.keep })
    }

    /// Number of parameters of its network.
    pub fn parameters(&self) -> usize {
        self.bound.model.describe().parameters
    }
}

impl<G: Kit> MoveFilter<G> for Screen<G> {
    fn keep(&self) -> usize {
        self.keep
    }

    fn values<'a>(&mut self, game: &G, states: impl Iterator<Item = &'a G::State>) -> &[f32]
    where
        G::State: 'a,
    {
        self.found.clear();
        let encoding = profile::span(Phase::Encoding);
        for state in states {
            let player = game.just_acted(state).unwrap_or(0);
            self.found.push(&**self.bound.encoder(), game, Afterstate { state, action: None, player });
        }
        drop(encoding);
        self.found.evaluate(&mut *self.bound.model);
        self.found.row_values()
    }
}

/// An evaluator that values only the candidates that a screen lets pass. Others get a value below all of those.
pub struct Screened<G: Game, E> {
    screen: Screen<G>,
    evaluator: E,
    thought: Vec<f32>,
    order: Vec<u32>,
    few: Vec<G::Action>,
    /// Standard errors of the last decision.
    errors: Vec<f32>,
}

impl<G: Game, E> Screened<G, E> {
    /// An evaluator behind a screen.
    pub fn new(screen: Screen<G>, evaluator: E) -> Self {
        Self {
            screen,
            evaluator,
            thought: Vec::new(),
            order: Vec::new(),
            few: Vec::new(),
            errors: Vec::new(),
        }
    }
}

impl<G: Kit, E: Evaluator<G>> Evaluator<G> for Screened<G, E> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        let Self { screen, evaluator, thought, order, few, errors } = self;
        errors.clear();
        if actions.len() <= screen.keep {
            evaluator.values(at, actions, values);
            errors.extend_from_slice(evaluator.errors());
            return;
        }
        screen.bound.values(at, actions, thought);
        order.clear();
        order.extend(0..actions.len() as u32);
        highest_first(order, screen.keep, &|i| thought[i as usize]);
        let kept = &order[..screen.keep];
        few.clear();
        few.extend(kept.iter().map(|&i| actions[i as usize].clone()));
        evaluator.values(at, few, values);
        let below = values.iter().copied().fold(f32::INFINITY, f32::min).next_down();
        thought.iter_mut().for_each(|value| *value = value.min(below));
        kept.iter().zip(&*values).for_each(|(&i, &value)| thought[i as usize] = value);
        values.clone_from(thought);
        // The values of the screen are not estimates from samples.
        if !evaluator.errors().is_empty() {
            errors.resize(actions.len(), 0.0);
            kept.iter().zip(evaluator.errors()).for_each(|(&i, &error)| errors[i as usize] = error);
        }
    }

    fn study(&mut self, at: Decision<'_, G>, actions: &mut Vec<G::Action>, values: &mut Vec<f32>) {
        self.evaluator.study(at, actions, values);
        self.errors.clear();
        self.errors.extend_from_slice(self.evaluator.errors());
    }

    fn reach(&self) -> Option<Reach> {
        self.evaluator.reach()
    }

    fn errors(&self) -> &[f32] {
        &self.errors
    }

    fn classes(&self) -> &[OutcomeClass] {
        self.evaluator.classes()
    }

    fn outcomes(&mut self, at: Decision<'_, G>, action: &G::Action, outcomes: &mut Vec<f32>) {
        self.evaluator.outcomes(at, action, outcomes);
    }

    fn copied(&mut self, game: &G) -> Option<Box<dyn Evaluator<G>>> {
        Some(Box::new(Screened::new(self.screen.copied(game).ok()?, self.evaluator.copied(game)?)))
    }
}
