//! Successors of states: what decisions lead to, listed, encoded and valued in one batch.

use super::decision::Decision;
use super::known::{KnownRows, known};
use adept_game::{Afterstate, Encoder, Game, Kit, Stream, Turn, draw_index, no_action, outcome_of};
use adept_ground::profile::{self, Phase};
use adept_model::{Head, ModelError, OutcomeClass, OutcomeMask, Predictor, Rows};
use rand::RngExt;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Picks the candidates of a decision that get rows.
pub trait MoveFilter<G: Game> {
    /// Candidates of a decision that pass, at least 1.
    fn keep(&self) -> usize;

    /// The value of each of these states, right after a move, for the player who moved.
    fn values<'a>(&mut self, game: &G, states: impl Iterator<Item = &'a G::State>) -> &[f32]
    where
        G::State: 'a;
}

/// The actions of one or more decisions with the states after them. A decision is a branch: [`list`](Self::list) appends one,
/// [`expand`](Self::expand) lists one for every outcome of chance. [`evaluate`](Self::evaluate) values all of them at a time.
/// Memory is reused between calls.
#[derive(Debug)]
pub struct Successors<G: Game> {
    /// The actions of all branches, one branch after the other: legal actions, or the candidates chosen by the encoder.
    /// Where chance ends the game, its outcome stands for them. A finished game has a value without an action.
    pub actions: Vec<G::Action>,
    /// Value of the state after each action for the player who acts, in [−1, 1]: utility/scale if the game is over,
    /// otherwise that of the row, and 0 before [`evaluate`](Self::evaluate).
    pub values: Vec<f32>,
    /// Index in `rows` for each action; none if the game is over. Beyond them for a candidate that a screen has dropped, whose value
    /// becomes −∞.
    pub row_of: Vec<Option<u32>>,
    /// Encoded afterstates.
    pub rows: Rows,
    /// Distributions over the classes of outcomes, `[rows, classes]`, without impossible ones; empty for other heads.
    pub outcomes: Vec<f32>,
    head: Head,
    known: KnownRows,
    /// End of each branch in `actions`.
    ends: Vec<usize>,
    /// Of the branches of [`expand`](Self::expand), whether the player who left the state moves again.
    again: Vec<bool>,
    /// Outcomes of chance before the branches of [`expand`](Self::expand); empty if chance does not come first.
    chance: Vec<(G::Action, f64)>,
    /// With classes of outcomes, the class of each action of [`expand`](Self::expand) that ends the game.
    classes: Vec<usize>,
    /// The state of each row of [`expand`](Self::expand), those that a screen has dropped after them, and the row of each state.
    states: Vec<G::State>,
    row_by_state: FxHashMap<G::State, u32>,
    /// Value of each row.
    row_values: Vec<f32>,
    /// The actions of one branch.
    listed: Vec<G::Action>,
    before: G::State,
    after: G::State,
}

impl<G: Kit> Successors<G> {
    /// No successors yet, for rows and outputs of this model.
    pub fn new<M: Predictor + ?Sized>(game: &G, model: &M) -> Self {
        Self {
            actions: Vec::new(),
            values: Vec::new(),
            row_of: Vec::new(),
            rows: Rows::new(model.channels()).similar_neighbours(),
            outcomes: Vec::new(),
            head: model.head().clone(),
            known: KnownRows::default(),
            ends: Vec::new(),
            again: Vec::new(),
            chance: Vec::new(),
            classes: Vec::new(),
            states: Vec::new(),
            row_by_state: FxHashMap::default(),
            row_values: Vec::new(),
            listed: Vec::new(),
            before: game.start(),
            after: game.start(),
        }
    }

    /// Removes all branches.
    #[inline]
    pub fn clear(&mut self) {
        self.actions.clear();
        self.values.clear();
        self.row_of.clear();
        self.rows.clear();
        self.outcomes.clear();
        self.known.clear();
        self.ends.clear();
        self.again.clear();
        self.chance.clear();
        self.classes.clear();
        self.states.clear();
        self.row_by_state.clear();
        self.row_values.clear();
    }

    /// Appends a branch: the candidates of the player to move. Each has its own row.
    #[inline]
    pub fn list(&mut self, encoder: &dyn Encoder<G>, at: Decision<'_, G>) {
        let (first, row) = (self.actions.len(), self.rows.len() as u32);
        let Self { actions, listed, .. } = self;
        // The first branch needs no copy.
        let to = if first == 0 { &mut *actions } else { &mut *listed };
        if encoder.decides() {
            let _encoding = profile::span(Phase::Encoding);
            encoder.decide(at.game, at.state, at.player, to, &mut self.rows);
        } else {
            at.game.actions(at.state, to);
        }
        actions.append(listed);
        if encoder.decides() {
            self.values.resize(actions.len(), 0.0);
            self.row_of.extend((row..row + (actions.len() - first) as u32).map(Some));
            // What is possible after an action may not be told.
            (row as usize..self.rows.len())
                .for_each(|row| self.known.restrict(row, &self.head, at.game, at.state, at.player));
            self.ends.push(actions.len());
        } else {
            self.encode_from(encoder, at, first);
        }
    }

    /// Appends a branch: these actions of the player to move. Each has its own row.
    pub fn list_these(&mut self, encoder: &dyn Encoder<G>, at: Decision<'_, G>, actions: &[G::Action]) {
        let first = self.actions.len();
        self.actions.extend_from_slice(actions);
        self.encode_from(encoder, at, first);
    }

    /// Encodes the actions from `first` on, and ends their branch.
    fn encode_from(&mut self, encoder: &dyn Encoder<G>, at: Decision<'_, G>, first: usize) {
        if profile::is_on() {
            self.encode::<true>(encoder, at, first);
        } else {
            self.encode::<false>(encoder, at, first);
        }
    }

    /// The same. Rows are told apart from rules only if that is asked for: it would cost a read an action.
    fn encode<const PROFILED: bool>(&mut self, encoder: &dyn Encoder<G>, at: Decision<'_, G>, first: usize) {
        let Decision { game, state, player } = at;
        self.ends.push(self.actions.len());
        let Self { actions, values, row_of, rows, known, head, after, .. } = self;
        let actions = &actions[first..];
        if encoder.fetches() {
            for action in actions {
                after.clone_from(state);
                game.apply(after, action);
                encoder.fetch(game, Afterstate { state: after, action: Some(action), player });
            }
        }
        let hides = game.hides();
        for action in actions {
            // In games with hidden information, the state after the action could reveal what the player cannot see.
            let state = if hides {
                state
            } else {
                after.clone_from(state);
                game.apply(after, action);
                &*after
            };
            if !hides && game.turn(state) == Turn::Over {
                row_of.push(None);
                values.push((game.utility(state, player) / game.scale()) as f32);
                continue;
            }
            row_of.push(Some(rows.len() as u32));
            values.push(0.0);
            let _encoding = PROFILED.then(|| profile::span(Phase::Encoding));
            known.add(rows, head, encoder, game, Afterstate { state, action: Some(action), player });
        }
    }

    /// Appends a row that belongs to no action, and returns its number.
    pub fn push(&mut self, encoder: &dyn Encoder<G>, game: &G, after: Afterstate<'_, G>) -> usize {
        self.known.add(&mut self.rows, &self.head, encoder, game, after);
        self.rows.len() - 1
    }

    /// The value of a row that the encoder knows, and its distribution over the classes of outcomes, which is empty without classes.
    pub fn known(&self, row: u32) -> Option<(f32, &[f32])> {
        self.known.find(row)
    }

    /// The possible classes of outcomes of a row.
    pub fn possible(&self, row: u32) -> OutcomeMask {
        self.known.possible(row)
    }

    /// Values all rows in one batch.
    pub fn evaluate<M: Predictor + ?Sized>(&mut self, model: &mut M) {
        if self.rows.is_empty() {
            return;
        }
        self.known.evaluate(model, &self.rows, &mut self.row_values, &mut self.outcomes);
        for (value, row) in self.values.iter_mut().zip(&self.row_of) {
            if let Some(row) = row {
                *value = self.row_values.get(*row as usize).copied().unwrap_or(f32::NEG_INFINITY);
            }
        }
    }

    /// Value of each row, also of those of [`push`](Self::push); empty before [`evaluate`](Self::evaluate).
    pub fn row_values(&self) -> &[f32] {
        &self.row_values
    }

    /// The branches: the probability of the outcome of chance before it, 1 if there is none, and its actions.
    pub fn branches(&self) -> impl ExactSizeIterator<Item = (f64, Range<usize>)> {
        self.ends.iter().enumerate().map(|(i, end)| {
            let first = if i == 0 { 0 } else { self.ends[i - 1] };
            (self.chance.get(i).map_or(1.0, |(_, p)| *p), first..*end)
        })
    }

    /// Replaces all branches by those of a state: the actions of the player to move, or those after every outcome of
    /// chance. Actions that lead to the same state share a row, unless rows depend on the action.
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if chance cannot be listed, if two chance events follow each other, if a player to
    /// move has no action, or, with classes of outcomes, if the result of a finished game is in none of them.
    pub fn expand(&mut self, game: &G, encoder: &dyn Encoder<G>, state: &G::State) -> Result<(), ModelError> {
        self.unfold(game, encoder, state)?;
        self.encode_states(game, encoder, self.states.len());
        Ok(())
    }

    /// As [`expand`](Self::expand), but only the best candidates of each branch by a screen get rows. Finished games keep their
    /// results, and states that the encoder knows their values; neither counts among those that the screen lets pass. A state that
    /// passes in one branch counts in all. Rows must not depend on the action.
    ///
    /// # Errors
    /// As [`expand`](Self::expand).
    pub fn expand_behind(
        &mut self,
        screen: Option<&mut impl MoveFilter<G>>,
        game: &G,
        encoder: &dyn Encoder<G>,
        state: &G::State,
    ) -> Result<(), ModelError> {
        self.unfold(game, encoder, state)?;
        let valued = screen.map_or(self.states.len(), |screen| self.pass(screen, game, encoder));
        self.encode_states(game, encoder, valued);
        Ok(())
    }

    /// Lists the branches of a state, without the rows of states that actions share.
    ///
    /// # Errors
    /// As [`expand`](Self::expand).
    fn unfold(&mut self, game: &G, encoder: &dyn Encoder<G>, state: &G::State) -> Result<(), ModelError> {
        self.clear();
        let unsupported = |what: &str| Err(ModelError::Unsupported(format!("{} has {what}", game.name())));
        if game.turn(state) == Turn::Chance && !game.outcomes(state, &mut self.chance) {
            return unsupported("too many outcomes of chance to list: take [learn.td]");
        }
        // If rows include the action, one state may have several rows.
        let shared = !encoder.needs_action();
        for branch in 0..self.chance.len().max(1) {
            self.before.clone_from(state);
            let outcome = self.chance.get(branch).map(|(outcome, _)| outcome);
            if let Some(outcome) = outcome {
                game.apply(&mut self.before, outcome);
            }
            let player = match game.turn(&self.before) {
                Turn::Player(player) => player,
                // Chance has ended the game.
                Turn::Over => {
                    self.actions.extend(outcome.cloned());
                    self.after.clone_from(&self.before);
                    self.end_game(game, 1 - game.just_acted(state).unwrap_or(0).min(1))?;
                    self.ends.push(self.values.len());
                    self.again.push(false);
                    continue;
                }
                Turn::Chance => {
                    return unsupported(
                        "two chance events in a row, which [learn.expectation] does not back up: take [learn.td]",
                    );
                }
            };
            game.actions(&self.before, &mut self.listed);
            if self.listed.is_empty() {
                return Err(ModelError::Unsupported(no_action(game, &self.before, player).to_string()));
            }
            let first = self.actions.len();
            self.actions.append(&mut self.listed);
            for i in first..self.actions.len() {
                self.after.clone_from(&self.before);
                game.apply(&mut self.after, &self.actions[i]);
                if game.turn(&self.after) == Turn::Over {
                    self.end_game(game, player)?;
                    continue;
                }
                let next = self.states.len() as u32;
                let row =
                    if shared { *self.row_by_state.entry(self.after.clone()).or_insert(next) } else { next };
                if row == next {
                    let after = Afterstate { state: &self.after, action: Some(&self.actions[i]), player };
                    if shared {
                        encoder.fetch(game, after);
                    } else {
                        let _encoding = profile::span(Phase::Encoding);
                        self.known.add(&mut self.rows, &self.head, encoder, game, after);
                    }
                    self.states.push(self.after.clone());
                }
                self.row_of.push(Some(row));
                self.values.push(0.0);
                self.classes.push(0);
            }
            self.ends.push(self.actions.len());
            self.again.push(game.just_acted(state) == Some(player));
        }
        Ok(())
    }

    /// Adds the rows of the first `valued` states, unless rows depend on the action and are there.
    fn encode_states(&mut self, game: &G, encoder: &dyn Encoder<G>, valued: usize) {
        if encoder.needs_action() {
            return;
        }
        let _encoding = profile::span(Phase::Encoding);
        let Self { rows, known, head, states, .. } = self;
        for state in &states[..valued] {
            let player = game.just_acted(state).unwrap_or(0);
            known.add(rows, head, encoder, game, Afterstate { state, action: None, player });
        }
    }

    /// Puts the states first that a screen lets pass, in their order, and returns their number. All of them if rows depend on the
    /// action.
    fn pass(&mut self, screen: &mut impl MoveFilter<G>, game: &G, encoder: &dyn Encoder<G>) -> usize {
        if encoder.needs_action() {
            return self.states.len();
        }
        let is_known = |state: &G::State| {
            let player = game.just_acted(state).unwrap_or(0);
            let after = Afterstate { state, action: None, player };
            encoder.knows() && known(encoder, &self.head, game, after).is_some()
        };
        let mut passes: Vec<bool> = self.states.iter().map(is_known).collect();
        // The states of each branch that need a value.
        let mut branches: Vec<Vec<u32>> = self
            .branches()
            .map(|(_, range)| {
                let rows = self.row_of[range].iter().flatten().copied();
                let mut rows: Vec<u32> = rows.filter(|&row| !passes[row as usize]).collect();
                // Actions may lead to the same state.
                rows.sort_unstable();
                rows.dedup();
                rows
            })
            .collect();
        let mut asked = vec![false; passes.len()];
        for rows in &branches {
            let all = if rows.len() > screen.keep() { &mut asked } else { &mut passes };
            rows.iter().for_each(|&row| all[row as usize] = true);
        }
        // The number of each of them among those that the screen values.
        let mut places = Vec::with_capacity(asked.len());
        asked.iter().fold(0, |place, &is| {
            places.push(place);
            place + usize::from(is)
        });
        let keep = screen.keep();
        let values = screen
            .values(game, self.states.iter().zip(&asked).filter(|(_, is)| **is).map(|(state, _)| state));
        for rows in branches.iter_mut().filter(|rows| rows.len() > keep) {
            highest_first(rows, keep, &|row| values[places[row as usize]]);
            rows[..keep].iter().for_each(|&row| passes[row as usize] = true);
        }
        let (mut kept, mut dropped) = (0, passes.iter().filter(|passes| **passes).count() as u32);
        let valued = dropped as usize;
        let moved: Vec<u32> = passes
            .iter()
            .map(|&passes| {
                let next = if passes { &mut kept } else { &mut dropped };
                *next += 1;
                *next - 1
            })
            .collect();
        self.row_of.iter_mut().flatten().for_each(|row| *row = moved[*row as usize]);
        let mut states = self.states.clone();
        moved.iter().zip(self.states.drain(..)).for_each(|(&to, state)| states[to as usize] = state);
        self.states = states;
        valued
    }

    /// Adds the result of the finished game `after` for this player.
    fn end_game(&mut self, game: &G, player: usize) -> Result<(), ModelError> {
        let utility = game.utility(&self.after, player);
        self.row_of.push(None);
        self.values.push((utility / game.scale()) as f32);
        let class = match self.head.classes() {
            None => 0,
            Some(classes) => class_of(game, classes, &self.after, player)?,
        };
        self.classes.push(class);
        Ok(())
    }

    /// Appends the expectation over the branches of [`expand`](Self::expand) for the player who left the state, in a
    /// two-player zero-sum game: the value Σ p · max over actions of V, negated where the other player moves, or for classes of outcomes
    /// the distribution Σ p · (that of the best action, mirrored where the other player moves).
    pub fn expectation(&self, to: &mut Vec<f32>) {
        // What is not a number wins: it is to be seen, and a candidate that a screen has dropped has no row.
        let better = |a: usize, b: usize| {
            let (first, second) = (self.values[a], self.values[b]);
            if second > first || second.is_nan() { b } else { a }
        };
        let branches = self.branches().zip(&self.again);
        let branches = branches.filter_map(|((p, range), again)| Some((p, range.reduce(better)?, *again)));
        let Some(classes) = self.head.classes() else {
            let value = |(p, best, again): (f64, usize, bool)| {
                p * if again { f64::from(self.values[best]) } else { -f64::from(self.values[best]) }
            };
            to.push(branches.map(value).fold(0.0, |sum, value| sum + value) as f32);
            return;
        };
        let n = classes.len();
        let (mut sum, mut sure, mut mirrored) = (vec![0.0; n], Vec::new(), Vec::with_capacity(n));
        for (p, best, again) in branches {
            let from = match self.row_of[best] {
                Some(row) => &self.outcomes[row as usize * n..][..n],
                None => {
                    sure.clear();
                    sure.extend(certain(n, self.classes[best]));
                    &sure
                }
            };
            mirrored.clear();
            match again {
                true => mirrored.extend_from_slice(from),
                false => self.head.mirrored(from, &mut mirrored),
            }
            sum.iter_mut().zip(&mirrored).for_each(|(sum, v)| *sum += p * f64::from(*v));
        }
        to.extend(sum.into_iter().map(|p: f64| p as f32));
    }

    /// Draws a state that follows the one of [`expand`](Self::expand): a branch by its probability, then its best
    /// action, or any action with probability `explore`. None if the game ends, or the encoder knows the value of the state.
    pub fn draw(&self, explore: f64, rng: &mut Stream) -> Option<&G::State> {
        let choose = |values: &[f32], rng: &mut Stream| match rng.random::<f64>() < explore {
            true => Some(rng.random_range(0..values.len())),
            false => (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])),
        };
        let (state, row) = self.follow(choose, rng)?;
        self.known(row).is_none().then_some(state)
    }

    /// Draws a branch of [`expand`](Self::expand) by its probability, and returns the state and the row after the action that `choose`
    /// picks by the values of the branch. None if the game ends.
    pub fn follow(
        &self,
        choose: impl FnOnce(&[f32], &mut Stream) -> Option<usize>,
        rng: &mut Stream,
    ) -> Option<(&G::State, u32)> {
        let drawn = draw_index(self.branches().map(|(p, _)| p), rng);
        let (_, range) = self.branches().nth(drawn)?;
        let row = self.row_of[range.start + choose(&self.values[range.clone()], rng)?]?;
        Some((self.states.get(row as usize)?, row))
    }
}

/// The distribution over `n` classes that is sure of one.
pub fn certain(n: usize, class: usize) -> impl Iterator<Item = f32> {
    (0..n).map(move |k| f32::from(u8::from(k == class)))
}

/// The class of a finished game for a player.
///
/// # Errors
/// [`ModelError::Unsupported`] if its result is in none of these classes.
pub fn class_of<G: Kit>(
    game: &G,
    classes: &[OutcomeClass],
    state: &G::State,
    player: usize,
) -> Result<usize, ModelError> {
    outcome_of(game, classes, state, player).ok_or_else(|| {
        let utility = game.utility(state, player);
        ModelError::Unsupported(format!(
            "{}: a game ended with {utility}, which is in none of its classes of outcomes",
            game.name()
        ))
    })
}

/// Puts the numbers of the `keep` highest values first, in ascending order. Of equals, the first is higher.
pub(crate) fn highest_first(order: &mut [u32], keep: usize, value: &dyn Fn(u32) -> f32) {
    let keep = keep.min(order.len());
    if (1..order.len()).contains(&keep) {
        order.select_nth_unstable_by(keep - 1, |&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    }
    order[..keep].sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::highest_first;

    #[test]
    fn the_highest_come_first_in_their_order() {
        let values = [0.1, 0.5, 0.3, 0.5, -1.0];
        for (keep, first) in [(1, &[1][..]), (2, &[1, 3]), (3, &[1, 2, 3]), (9, &[0, 1, 2, 3, 4])] {
            let mut order: Vec<u32> = (0..5).collect();
            highest_first(&mut order, keep, &|i| values[i as usize]);
            assert_eq!(&order[..keep.min(5)], first);
        }
    }
}
