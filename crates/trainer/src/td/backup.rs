//! One-step targets by exact expectation over chance outcomes, without sampling or opponents.

use super::player::certain;
use adept_arena::GameModel;
use adept_game::{Afterstate, Kit, Stream, Turn, no_action};
use adept_model::{Head, ModelError, Rows};
use rand::RngExt;
use rustc_hash::FxHashMap;

/// Backs values up over one turn of a two-player zero-sum game: for a state s that player m left, after which chance
/// may come and then player j moves,
///
/// target(s) = −Σ over chance outcomes p · max over actions of j of V(afterstate).
///
/// Afterstates shared by several rolls are evaluated once.
pub(crate) struct Backup<G: Kit> {
    /// Chance outcomes with their probabilities; a single one without an action where the other player moves at once.
    chance: Vec<(Option<G::Action>, f64)>,
    listed: Vec<(G::Action, f64)>,
    actions: Vec<G::Action>,
    /// Candidates, outcome by outcome: the row, or the exact value if the game is over.
    candidates: Vec<Candidate>,
    /// Number of candidates of each outcome.
    counts: Vec<u32>,
    states: Vec<G::State>,
    row_of: FxHashMap<G::State, u32>,
    rows: Rows,
    values: Vec<f32>,
    head: Head,
    /// For a head with classes of outcomes: the distributions of the rows, and of finished games.
    outcomes: Vec<f32>,
    finished: Vec<f32>,
}

#[derive(Clone, Copy)]
enum Candidate {
    Row(u32),
    /// The value, and the index of the distribution.
    Over(f32, u32),
}

impl<G: Kit> Backup<G> {
    pub(crate) fn new(rows: Rows, head: Head) -> Self {
        Self {
            chance: Vec::new(),
            listed: Vec::new(),
            actions: Vec::new(),
            candidates: Vec::new(),
            counts: Vec::new(),
            states: Vec::new(),
            row_of: FxHashMap::default(),
            rows,
            values: Vec::new(),
            head,
            outcomes: Vec::new(),
            finished: Vec::new(),
        }
    }

    /// Appends the target of a state for the player who left it: a value, or for classes of outcomes the distribution
    /// Σ p · (that of the best action, mirrored).
    ///
    /// # Errors
    /// [`ModelError::Unsupported`] if the result of a finished game is in no class, if a player to move has no action, or if two
    /// chance events follow each other.
    pub(crate) fn target(
        &mut self,
        game: &G,
        bound: &mut GameModel<G>,
        state: &G::State,
        to: &mut Vec<f32>,
    ) -> Result<(), ModelError> {
        self.list(game, bound, state)?;
        if self.head.classes().is_some() {
            bound.learner.outputs(&self.rows, &mut self.outcomes);
            let values = self.outcomes.chunks_exact(self.head.outputs()).map(|p| self.head.value_of(p));
            self.values.clear();
            self.values.extend(values);
            self.target_outcomes(to);
            return Ok(());
        }
        bound.learner.evaluate(&self.rows, &mut self.values);
        let (mut first, mut target) = (0, 0.0);
        for ((_, p), count) in self.chance.iter().zip(&self.counts) {
            let these = &self.candidates[first..first + *count as usize];
            let best = these
                .iter()
                .map(|c| self.value(*c))
                .fold(f32::NEG_INFINITY, |m, v| if v > m { v } else { m });
            target -= p * f64::from(best);
            first += *count as usize;
        }
        to.push(target as f32);
        Ok(())
    }

    fn target_outcomes(&self, to: &mut Vec<f32>) {
        let classes = self.head.outputs();
        let (mut first, mut sum) = (0, vec![0.0; classes]);
        let mut mirrored = Vec::with_capacity(classes);
        for ((_, p), count) in self.chance.iter().zip(&self.counts) {
            let these = &self.candidates[first..first + *count as usize];
            first += *count as usize;
            let best = these.iter().copied().reduce(|a, b| if self.value(b) > self.value(a) { b } else { a });
            let from = match best {
                Some(Candidate::Row(row)) => &self.outcomes[row as usize * classes..][..classes],
                Some(Candidate::Over(_, at)) => &self.finished[at as usize * classes..][..classes],
                None => continue,
            };
            mirrored.clear();
            self.head.mirrored(from, &mut mirrored);
            sum.iter_mut().zip(&mirrored).for_each(|(sum, v)| *sum += p * f64::from(*v));
        }
        to.extend(sum.into_iter().map(|p: f64| p as f32));
    }

    /// Samples a successor of the state last given to [`target`](Self::target): a chance outcome, then the best
    /// action, or any action with probability `explore`. `None` if the game ends.
    pub(crate) fn follow(&self, explore: f64, rng: &mut Stream) -> Option<&G::State> {
        let mut throw = rng.random::<f64>();
        let (mut first, mut chosen) = (0, 0);
        for (i, ((_, p), count)) in self.chance.iter().zip(&self.counts).enumerate() {
            chosen = i;
            if throw < *p || i + 1 == self.counts.len() {
                break;
            }
            throw -= p;
            first += *count as usize;
        }
        let these = &self.candidates[first..][..self.counts[chosen] as usize];
        let candidate = if rng.random::<f64>() < explore {
            these[rng.random_range(0..these.len())]
        } else {
            *these.iter().max_by(|a, b| self.value(**a).total_cmp(&self.value(**b)))?
        };
        match candidate {
            Candidate::Row(row) => Some(&self.states[row as usize]),
            Candidate::Over(..) => None,
        }
    }

    fn value(&self, candidate: Candidate) -> f32 {
        match candidate {
            Candidate::Row(row) => self.values[row as usize],
            Candidate::Over(value, _) => value,
        }
    }

    /// Lists and encodes the successors of a state.
    fn list(&mut self, game: &G, bound: &GameModel<G>, state: &G::State) -> Result<(), ModelError> {
        let Self {
            chance: outcomes,
            listed,
            actions,
            candidates,
            counts,
            states,
            row_of,
            rows,
            head,
            finished,
            ..
        } = self;
        outcomes.clear();
        finished.clear();
        if game.turn(state) == Turn::Chance {
            game.outcomes(state, listed);
            outcomes.extend(listed.drain(..).map(|(outcome, p)| (Some(outcome), p)));
        } else {
            outcomes.push((None, 1.0));
        }
        candidates.clear();
        counts.clear();
        states.clear();
        row_of.clear();
        rows.clear();
        // If rows include the action, one state may have several rows.
        let shared = !bound.encoder().needs_action();
        let (mut decision, mut after) = (state.clone(), state.clone());
        for (outcome, _) in outcomes.iter() {
            decision.clone_from(state);
            if let Some(outcome) = outcome {
                game.apply(&mut decision, outcome);
            }
            let player = match game.turn(&decision) {
                Turn::Player(player) => player,
                // Chance has ended the game.
                turn => {
                    let next = 1 - game.just_acted(state).unwrap_or(0).min(1);
                    if turn == Turn::Chance {
                        let what = "two chance events in a row, which [learn.expectation] does not back up: take [learn.td]";
                        return Err(ModelError::Unsupported(format!("{} has {what}", game.name())));
                    }
                    candidates.push(Candidate::Over(
                        (game.utility(&decision, next) / game.scale()) as f32,
                        (finished.len() / head.outputs()) as u32,
                    ));
                    if let Some(classes) = head.classes() {
                        finished.extend(certain(game, classes, &decision, next)?);
                    }
                    counts.push(1);
                    continue;
                }
            };
            game.actions(&decision, actions);
            if actions.is_empty() {
                return Err(ModelError::Unsupported(no_action(game, &decision, player).to_string()));
            }
            counts.push(actions.len() as u32);
            for action in actions.iter() {
                after.clone_from(&decision);
                game.apply(&mut after, action);
                if game.turn(&after) == Turn::Over {
                    let utility = (game.utility(&after, player) / game.scale()) as f32;
                    let at = (finished.len() / head.outputs()) as u32;
                    candidates.push(Candidate::Over(utility, at));
                    if let Some(classes) = head.classes() {
                        finished.extend(certain(game, classes, &after, player)?);
                    }
                    continue;
                }
                let next = states.len() as u32;
                let row = if shared { *row_of.entry(after.clone()).or_insert(next) } else { next };
                if row == next {
                    let after = Afterstate { state: &after, action: Some(action), player };
                    if shared {
                        bound.encoder().fetch(game, after);
                    } else {
                        bound.encoder().encode(game, after, rows.push());
                    }
                    states.push(after.state.clone());
                }
                candidates.push(Candidate::Row(row));
            }
        }
        if shared {
            for state in states.iter() {
                let player = game.just_acted(state).unwrap_or(0);
                bound.encoder().encode(game, Afterstate { state, action: None, player }, rows.push());
            }
        }
        Ok(())
    }
}
