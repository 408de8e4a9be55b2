//! Exact solvers as agents: minimax, and the best response to a fixed policy.

use crate::agents::Agent;
use crate::exact::{ExactError, MAX_STATES, branches, deeper};
use adept_game::{Game, Turn};
use rustc_hash::FxHashMap;

/// Exact values within this distance are equal. They differ only by summation order.
pub(crate) const TIE: f64 = 1e-12;

/// Splits the probability evenly among the entries with the highest value.
pub(crate) fn best_uniform(values: &[f64], probabilities: &mut Vec<f64>) {
    let best = values.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    let ties = values.iter().filter(|&&v| v >= best - TIE).count();
    probabilities.clear();
    probabilities.extend(values.iter().map(|&v| if v >= best - TIE { 1.0 / ties as f64 } else { 0.0 }));
}

/// Perfect play of a two-player zero-sum game without chance: uniform over the actions with the highest minimax value.
pub struct Minimax<G: Game> {
    /// Value for the player to move.
    known: FxHashMap<G::State, f64>,
}

impl<G: Game> Minimax<G> {
    /// Solves the game.
    ///
    /// # Errors
    /// [`ExactError::Dice`] if the game has chance, [`ExactError::Size`] or [`ExactError::Depth`] if it is too large. The caller
    /// must check [`Game::zero_sum`].
    pub fn solve(game: &G) -> Result<Self, ExactError> {
        let mut solved = Self { known: FxHashMap::default() };
        solved.value(game, &game.start())?;
        Ok(solved)
    }

    /// The states in which a player is to move.
    pub(crate) fn states(&self) -> impl Iterator<Item = &G::State> {
        self.known.keys()
    }

    /// Minimax value for the player to move, or for player 0 if the game is over.
    ///
    /// # Errors
    /// Same as [`Minimax::solve`].
    pub fn value(&mut self, game: &G, state: &G::State) -> Result<f64, ExactError> {
        self.value_at(game, state, 0)
    }

    fn value_at(&mut self, game: &G, state: &G::State, depth: usize) -> Result<f64, ExactError> {
        let player = match game.turn(state) {
            Turn::Over => return Ok(game.utility(state, 0)),
            Turn::Chance => return Err(ExactError::Dice),
            Turn::Player(player) => player,
        };
        if let Some(&known) = self.known.get(state) {
            return Ok(known);
        }
        let (mut actions, depth) = (Vec::new(), deeper(depth)?);
        game.actions(state, &mut actions);
        let mut best = f64::NEG_INFINITY;
        for action in &actions {
            best = best.max(self.after_at(game, state, player, action, depth)?);
        }
        if self.known.len() >= MAX_STATES {
            return Err(ExactError::Size(MAX_STATES));
        }
        self.known.insert(state.clone(), best);
        Ok(best)
    }

    /// Value of an action for the player to move.
    pub(crate) fn after(
        &mut self,
        game: &G,
        state: &G::State,
        player: usize,
        action: &G::Action,
    ) -> Result<f64, ExactError> {
        self.after_at(game, state, player, action, 0)
    }

    fn after_at(
        &mut self,
        game: &G,
        state: &G::State,
        player: usize,
        action: &G::Action,
        depth: usize,
    ) -> Result<f64, ExactError> {
        let mut next = state.clone();
        game.apply(&mut next, action);
        let value = self.value_at(game, &next, depth)?;
        let valued = match game.turn(&next) {
            Turn::Player(p) => p,
            Turn::Over | Turn::Chance => 0,
        };
        Ok(if valued == player { value } else { -value })
    }
}

impl<G: Game> Agent<G> for Minimax<G> {
    fn name(&self) -> &str {
        "minimax"
    }

    fn policy(
        &mut self,
        game: &G,
        state: &G::State,
        player: usize,
        actions: &[G::Action],
        probabilities: &mut Vec<f64>,
    ) {
        // `solve` has visited every reachable state, so no error can occur here.
        let values: Vec<f64> =
            actions.iter().map(|a| self.after(game, state, player, a).unwrap_or(f64::NEG_INFINITY)).collect();
        best_uniform(&values, probabilities);
    }
}

/// The exact best response of one player, in any seat, to a fixed agent in all other seats.
pub struct BestResponse<G: Game> {
    name: String,
    other: Box<dyn Agent<G>>,
    /// For each seat: value of a state for the player in this seat.
    known: Vec<FxHashMap<G::State, f64>>,
}

impl<G: Game> BestResponse<G> {
    /// Computes the best response to `other` in a game of perfect information.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub fn solve(game: &G, other: Box<dyn Agent<G>>) -> Result<Self, ExactError> {
        let name = format!("optimal:{}", other.name());
        let mut solved = Self { name, other, known: vec![FxHashMap::default(); game.players()] };
        for seat in 0..game.players() {
            solved.value(game, &game.start(), seat)?;
        }
        Ok(solved)
    }

    /// Expected utility of a state for the player in `seat`, who plays the best response from here on.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub fn value(&mut self, game: &G, state: &G::State, seat: usize) -> Result<f64, ExactError> {
        self.value_at(game, state, seat, 0)
    }

    fn value_at(&mut self, game: &G, state: &G::State, seat: usize, depth: usize) -> Result<f64, ExactError> {
        if game.turn(state) == Turn::Over {
            return Ok(game.utility(state, seat));
        }
        if let Some(&known) = self.known[seat].get(state) {
            return Ok(known);
        }
        let depth = deeper(depth)?;
        let value = if game.turn(state) == Turn::Player(seat) {
            let mut actions = Vec::new();
            game.actions(state, &mut actions);
            let mut best = f64::NEG_INFINITY;
            for action in &actions {
                best = best.max(self.after_at(game, state, seat, action, depth)?);
            }
            best
        } else {
            let other = &mut self.other;
            let next = branches(game, state, &mut |state, player, actions, p| {
                other.policy(game, state, player, actions, p);
            })?;
            let mut mean = 0.0;
            for (next, p) in next {
                mean += p * self.value_at(game, &next, seat, depth)?;
            }
            mean
        };
        if self.known[seat].len() >= MAX_STATES {
            return Err(ExactError::Size(MAX_STATES));
        }
        self.known[seat].insert(state.clone(), value);
        Ok(value)
    }

    /// Expected utility of the player in `seat` after this action.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub fn after(
        &mut self,
        game: &G,
        state: &G::State,
        seat: usize,
        action: &G::Action,
    ) -> Result<f64, ExactError> {
        self.after_at(game, state, seat, action, 0)
    }

    fn after_at(
        &mut self,
        game: &G,
        state: &G::State,
        seat: usize,
        action: &G::Action,
        depth: usize,
    ) -> Result<f64, ExactError> {
        let mut next = state.clone();
        game.apply(&mut next, action);
        self.value_at(game, &next, seat, depth)
    }
}

impl<G: Game> Agent<G> for BestResponse<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn policy(
        &mut self,
        game: &G,
        state: &G::State,
        player: usize,
        actions: &[G::Action],
        probabilities: &mut Vec<f64>,
    ) {
        let values: Vec<f64> =
            actions.iter().map(|a| self.after(game, state, player, a).unwrap_or(f64::NEG_INFINITY)).collect();
        best_uniform(&values, probabilities);
    }
}
