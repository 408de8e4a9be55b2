//! Exact solvers as agents: minimax, and the best response to a fixed policy.

use super::walk::{DEEPEST, Fold, Walk};
use crate::agents::{Agent, Random};
use crate::error::ExactError;
use crate::error::OpenError;
use crate::values::{Decision, Evaluator, state_after};
use adept_game::{Afterstate, Game, Kit, Turn, Valuation, fingerprint, is_solved, no_action};
use adept_ground::limits;
use adept_ground::shared::Shared;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::any::Any;
use std::sync::Arc;

/// Exact values within this distance are equal. They differ only by summation order.
pub(crate) const TIE: f64 = 1e-12;

/// Splits the probability evenly among the entries with the highest value.
pub(crate) fn best_uniform(values: &[f64], probabilities: &mut Vec<f64>) {
    let best = values.iter().fold(f64::NEG_INFINITY, |m, &v| m.max(v));
    let ties = values.iter().filter(|&&v| v >= best - TIE).count();
    probabilities.clear();
    probabilities.extend(values.iter().map(|&v| if v >= best - TIE { 1.0 / ties as f64 } else { 0.0 }));
}

/// Perfect play of a game without chance in which nothing is hidden: uniform over the actions with the highest value for the player
/// who chooses. In a zero-sum game of two players that is the minimax value; in all other games backward induction, in which every
/// player maximises its own utility and counts on it that all others do, ties uniform.
pub struct Minimax<G: Game> {
    /// Value for player 0 in a zero-sum game.
    walk: Walk<G, 1>,
    /// Values for all players in all other games.
    own: Option<Induction<G>>,
}

impl<G: Game> Minimax<G> {
    /// Solves the game.
    ///
    /// # Errors
    /// [`ExactError::Dice`] if the game has chance, [`ExactError::Size`] or [`ExactError::Depth`] if it is too large.
    pub fn solve(game: &G) -> Result<Self, ExactError> {
        let own = (!game.zero_sum()).then(|| Induction { known: FxHashMap::default() });
        let mut solved = Self { walk: Walk::utility(0), own };
        solved.walk.dice = false;
        solved.value(game, &game.start())?;
        Ok(solved)
    }

    /// The states of a zero-sum game in which a player is to move.
    pub(crate) fn states(&self) -> impl Iterator<Item = &G::State> {
        self.walk.known.keys()
    }

    /// Value for the player to move, or for player 0 if the game is over.
    ///
    /// # Errors
    /// Same as [`Minimax::solve`].
    pub fn value(&mut self, game: &G, state: &G::State) -> Result<f64, ExactError> {
        let player = if let Turn::Player(player) = game.turn(state) { player } else { 0 };
        self.value_for(game, state, player)
    }

    /// Value of a state for a player.
    ///
    /// # Errors
    /// Same as [`Minimax::solve`].
    pub fn value_for(&mut self, game: &G, state: &G::State, player: usize) -> Result<f64, ExactError> {
        if let Some(own) = &mut self.own {
            return Ok(own.values(game, state, 0)?[player]);
        }
        let first = self.walk.value(game, state, (&mut Random, Fold::Most), (&mut Random, Fold::Least))?;
        Ok(if player == 0 { first } else { -first })
    }

    /// Value of an action for the player to move.
    pub(crate) fn after(&mut self, at: Decision<'_, G>, action: &G::Action) -> Result<f64, ExactError> {
        let next = state_after(at.game, at.state, action);
        self.value_for(at.game, &next, at.player)
    }
}

/// The values of the states of a game for all players, by backward induction.
struct Induction<G: Game> {
    known: FxHashMap<G::State, Values>,
}

/// A value for each player.
type Values = SmallVec<[f64; 2]>;

impl<G: Game> Induction<G> {
    /// The values of a state after `depth` moves: the mean over the actions that are best for the player who chooses.
    fn values(&mut self, game: &G, state: &G::State, depth: usize) -> Result<Values, ExactError> {
        let player = match game.turn(state) {
            Turn::Over => return Ok((0..game.players()).map(|player| game.utility(state, player)).collect()),
            Turn::Chance => return Err(ExactError::Dice),
            Turn::Player(player) => player,
        };
        if let Some(known) = self.known.get(state) {
            return Ok(known.clone());
        }
        if depth >= DEEPEST {
            return Err(ExactError::Depth(DEEPEST));
        }
        let mut actions = Vec::new();
        game.actions(state, &mut actions);
        if actions.is_empty() {
            return Err(ExactError::Rules(no_action(game, state, player).to_string()));
        }
        let mut after = Vec::with_capacity(actions.len());
        for action in &actions {
            let next = state_after(game, state, action);
            after.push(self.values(game, &next, depth + 1)?);
        }
        let own: Vec<f64> = after.iter().map(|values| values[player]).collect();
        let mut shares = Vec::new();
        best_uniform(&own, &mut shares);
        let mut values = Values::from_elem(0.0, game.players());
        for (after, share) in after.iter().zip(&shares).filter(|(_, share)| **share > 0.0) {
            values.iter_mut().zip(after).for_each(|(value, after)| *value += share * after);
        }
        let most = limits::states(2 * size_of::<(G::State, Values)>());
        if self.known.len() >= most {
            return Err(ExactError::Size(most));
        }
        self.known.insert(state.clone(), values.clone());
        Ok(values)
    }
}

impl<G: Game> Agent<G> for Minimax<G> {
    fn name(&self) -> &str {
        "minimax"
    }

    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        // `solve` has visited every reachable state, so no error can occur here.
        let values: Vec<f64> =
            actions.iter().map(|a| self.after(at, a).unwrap_or(f64::NEG_INFINITY)).collect();
        best_uniform(&values, probabilities);
    }
}

impl<G: Game> Evaluator<G> for Minimax<G> {
    fn values(&mut self, at: Decision<'_, G>, actions: &[G::Action], values: &mut Vec<f32>) {
        values.clear();
        let scale = at.game.scale();
        let value =
            |action: &G::Action| self.after(at, action).map_or(f32::NAN, |value| (value / scale) as f32);
        values.extend(actions.iter().map(value));
    }
}

/// The utility of player 0 from a state on, if both players of a zero-sum game in which nothing is hidden play best. The game may have
/// chance.
///
/// # Errors
/// See [`ExactError`]. The caller must check [`Game::zero_sum`].
pub fn optimal_value<G: Game>(game: &G, state: &G::State) -> Result<f64, ExactError> {
    best_play(&mut Walk::utility(0), game, state)
}

/// The same, by a walk for player 0.
fn best_play<G: Game>(walk: &mut Walk<G, 1>, game: &G, state: &G::State) -> Result<f64, ExactError> {
    let value = walk.numbers(game, state, 0, &mut |_, player, actions, p| {
        p.clear();
        p.resize(actions.len(), 1.0 / actions.len() as f64);
        if player == 0 { Fold::Most } else { Fold::Least }
    });
    value.map(|[value]| value)
}

/// The exact values of all states that a small game can reach, found by solving it. It may have chance.
struct Exact<G: Game>(Walk<G, 1>);

impl<G: Game> Valuation<G> for Exact<G> {
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64 {
        let first = match game.turn(after.state) {
            Turn::Over => game.utility(after.state, 0),
            _ => self.0.known.get(after.state).map_or(f64::NAN, |[value]| *value),
        };
        (if after.player == 0 { first } else { -first }) / game.scale()
    }
}

/// Solved games by name and fingerprint, each while its values are in use.
static SOLVED: Shared<String, dyn Any + Send + Sync> = Shared::new();

/// Whether positions have exact values: those of the game's own oracle, or of the solver of small games.
pub fn has_oracle<G: Kit>(game: &G) -> bool {
    is_solved(game) || game.values().has_oracle()
}

/// The exact values of a game: its own, or in a small game those of the solver, NaN for a state that no game reaches.
///
/// # Errors
/// If the game has none, or they cannot be opened or found.
pub fn oracle<G: Kit>(game: &G) -> Result<Arc<dyn Valuation<G>>, OpenError> {
    if let Some(own) = game.values().valuations.open("oracle") {
        return own.map_err(OpenError::from);
    }
    if !is_solved(game) {
        return Err(OpenError::Unknown(format!(
            "{} has no oracle for exact values, and is too large to solve, hides something or is not zero-sum",
            game.name()
        )));
    }
    let name = format!("{} {}", game.name(), fingerprint(game).unwrap_or_default());
    let solved = || -> Result<_, ExactError> {
        let mut walk = Walk::utility(0);
        best_play(&mut walk, game, &game.start())?;
        Ok(Arc::new(Exact(walk)))
    };
    let known = SOLVED.get_shared(name, || Ok::<_, ExactError>(solved()?))?;
    // Another type of game with the same name and positions has values of its own.
    Ok(known.downcast::<Exact<G>>().or_else(|_| solved())?)
}

/// The exact best response of one player, in any seat, to a fixed agent in all other seats.
pub struct BestResponse<G: Game> {
    name: String,
    other: Box<dyn Agent<G>>,
    /// For each seat: value of a state for the player in this seat.
    walks: Vec<Walk<G, 1>>,
}

impl<G: Game> BestResponse<G> {
    /// Computes the best response to `other` in a game of perfect information.
    ///
    /// # Errors
    /// See [`ExactError`].
    pub fn solve(game: &G, other: Box<dyn Agent<G>>) -> Result<Self, ExactError> {
        let name = format!("optimal:{}", other.name());
        let mut solved = Self { name, other, walks: (0..game.players()).map(Walk::utility).collect() };
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
        self.walks[seat].value(game, state, (&mut Random, Fold::Most), (&mut self.other, Fold::Mean))
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
        let next = state_after(game, state, action);
        self.value(game, &next, seat)
    }
}

impl<G: Game> Agent<G> for BestResponse<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        let values: Vec<f64> = actions
            .iter()
            .map(|a| self.after(at.game, at.state, at.player, a).unwrap_or(f64::NEG_INFINITY))
            .collect();
        best_uniform(&values, probabilities);
    }
}
