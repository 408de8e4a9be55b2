//! A game from a rule file: what it keeps, and how its states change.

use super::batch::Batch;
use super::declaration::ONE;
use super::followed::Costs;
use super::ground::Rules;
use super::state::{NONE, State, Status};
use crate::circuit::with_values;
use crate::lanes::Pool;
use crate::ruled::OnDemand;
use adept_game::Game;
use smallvec::SmallVec;
use std::sync::Arc;

/// A game from a rule file. Copies share the compiled rules.
#[derive(Clone, Debug)]
pub struct Declared {
    pub(crate) name: Arc<str>,
    pub(crate) rules: Arc<Rules>,
    pub(crate) start: State,
    pub(crate) on_demand: Arc<OnDemand>,
    /// Idle batches for random games.
    pub(crate) batches: Arc<Pool<Batch>>,
    /// Cost of following a state incrementally. None if recomputing it is faster.
    pub(crate) costs: Option<Costs>,
}

impl Declared {
    /// The status of a position after a move of `last`, or after chance in the turn of `last`.
    pub(crate) fn status_of(&self, state: &State, last: Option<u8>) -> Status {
        let rules = &self.rules;
        with_values(&state.facts, rules.facts.len(), |values| {
            if let Some(last) = last {
                let view = &rules.views[usize::from(last)];
                let mut status = None;
                view.over.find_by(values, |output| {
                    status = Some(Status::from_grade(rules.declaration.endings[output].0, last));
                    true
                });
                if let Some(status) = status {
                    return status;
                }
            }
            let view = &rules.views[usize::from(state.mover)];
            if let Some(status) = self.at_limit(state.moves) {
                return status;
            }
            match () {
                () if view.chance.find_by(values, |_| true) => Status::Chance,
                () if view.legal.find_by(values, |_| true) => Status::Going,
                () => Status::from_grade(rules.declaration.stuck, state.mover),
            }
        })
    }

    /// The result of a game that has reached its limit of moves.
    #[inline]
    pub(crate) fn at_limit(&self, moves: u32) -> Option<Status> {
        let declaration = &self.rules.declaration;
        let is_reached = declaration.limit.is_some_and(|limit| moves >= limit);
        is_reached.then_some(if declaration.players == 1 { Status::Lost(0, ONE) } else { Status::Drawn })
    }

    /// The player before this one in turn order.
    pub(crate) fn before(&self, player: u8) -> u8 {
        player.checked_sub(1).unwrap_or(self.players() as u8 - 1)
    }

    /// Whether states store who moved last.
    pub(crate) fn stores_last(&self) -> bool {
        self.players() > 1 && !self.rules.alternates
    }

    /// Advances the turn after a move in the turn of `last`, before the status is computed.
    #[inline]
    pub(crate) fn pass_turn(&self, state: &mut State, by_chance: bool, stays: bool) {
        if self.stores_last() {
            state.last = if by_chance { NONE } else { state.mover };
        }
        if !stays {
            state.mover = self.rules.next(state.mover);
        }
        if !by_chance && self.rules.declaration.limit.is_some() {
            state.moves += 1;
        }
    }

    /// Applies a move or an outcome of chance, without computing the status. Returns whose turn it was.
    #[inline]
    pub(crate) fn change(&self, state: &mut State, action: u32) -> u8 {
        let player = state.mover;
        let effects = &self.rules.views[usize::from(player)].effects[action as usize];
        // Conditions refer to the state before the move.
        let mut changes: SmallVec<[(u32, bool); 8]> = SmallVec::new();
        let mut asked = false;
        if let Some((cone, changed)) = &effects.conditional {
            cone.find(&state.facts, |output| {
                match changed.get(output) {
                    Some(&change) => changes.push(change),
                    None => asked = true,
                }
                false
            });
        }
        effects.clear.iter().for_each(|&fact| state.write(fact, false));
        changes.iter().filter(|(_, adds)| !adds).for_each(|&(fact, _)| state.write(fact, false));
        effects.set.iter().for_each(|&fact| state.write(fact, true));
        changes.iter().filter(|(_, adds)| *adds).for_each(|&(fact, _)| state.write(fact, true));
        self.pass_turn(state, self.rules.is_chance(action), effects.keeps_turn(|| asked));
        player
    }

    /// Stores the status after a move in the turn of `player`.
    #[inline]
    pub(crate) fn arrive(&self, state: &mut State, player: u8, status: Status) {
        state.status = status;
        if !status.goes_on() && self.stores_last() {
            state.last = player;
        }
    }

    /// Adds the outcomes of chance with these indices; probabilities are shares of the total weight.
    pub(crate) fn shares(&self, places: impl Iterator<Item = usize>, outcomes: &mut Vec<(u32, f64)>) {
        outcomes.clear();
        outcomes.extend(places.map(|place| {
            let number = self.rules.acts + place;
            (number as u32, f64::from(self.rules.moves[number].weight))
        }));
        let all: f64 = outcomes.iter().map(|(_, weight)| weight).sum();
        outcomes.iter_mut().for_each(|(_, weight)| *weight /= all);
    }

    /// Whether chance may move.
    pub(crate) fn has_chance(&self) -> bool {
        self.rules.acts < self.rules.moves.len()
    }
}
