//! One-step targets by exact expectation over chance outcomes, without sampling or opponents.

use adept_arena::GameModel;
use adept_game::{Afterstate, Game, Stream, Turn};
use adept_model::Rows;
use rand::RngExt;
use rustc_hash::FxHashMap;

/// Backs values up over one turn of a two-player zero-sum game: for a state s that player m left, after which chance
/// may come and then player j moves,
///
/// target(s) = −Σ over chance outcomes p · max over actions of j of V(afterstate).
///
/// Afterstates shared by several rolls are evaluated once.
pub(crate) struct Backup<G: Game> {
    /// Chance outcomes with their probabilities; a single one without an action where the other player moves at once.
    outcomes: Vec<(Option<G::Action>, f64)>,
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
}

#[derive(Clone, Copy)]
enum Candidate {
    Row(u32),
    Over(f32),
}

impl<G: Game> Backup<G> {
    pub(crate) fn new(rows: Rows) -> Self {
        Self {
            outcomes: Vec::new(),
            listed: Vec::new(),
            actions: Vec::new(),
            candidates: Vec::new(),
            counts: Vec::new(),
            states: Vec::new(),
            row_of: FxHashMap::default(),
            rows,
            values: Vec::new(),
        }
    }

    /// The target of a state for the player who left it.
    pub(crate) fn target(&mut self, game: &G, bound: &mut GameModel<G>, state: &G::State) -> f32 {
        self.list(game, bound, state);
        bound.learner.evaluate(&self.rows, &mut self.values);
        let (mut first, mut target) = (0, 0.0);
        for ((_, p), count) in self.outcomes.iter().zip(&self.counts) {
            let these = &self.candidates[first..first + *count as usize];
            let best = these
                .iter()
                .map(|c| self.value(*c))
                .fold(f32::NEG_INFINITY, |m, v| if v > m { v } else { m });
            target -= p * f64::from(best);
            first += *count as usize;
        }
        target as f32
    }

    /// Samples a successor of the state last given to [`target`](Self::target): a chance outcome, then the best
    /// action, or any action with probability `explore`. `None` if the game ends.
    pub(crate) fn follow(&self, explore: f64, rng: &mut Stream) -> Option<&G::State> {
        let mut throw = rng.random::<f64>();
        let (mut first, mut chosen) = (0, 0);
        for (i, ((_, p), count)) in self.outcomes.iter().zip(&self.counts).enumerate() {
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
            Candidate::Over(_) => None,
        }
    }

    fn value(&self, candidate: Candidate) -> f32 {
        match candidate {
            Candidate::Row(row) => self.values[row as usize],
            Candidate::Over(value) => value,
        }
    }

    /// Lists and encodes the successors of a state.
    fn list(&mut self, game: &G, bound: &GameModel<G>, state: &G::State) {
        let Self { outcomes, listed, actions, candidates, counts, states, row_of, rows, .. } = self;
        outcomes.clear();
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
            let Turn::Player(player) = game.turn(&decision) else {
                counts.push(0);
                continue;
            };
            game.actions(&decision, actions);
            counts.push(actions.len() as u32);
            for action in actions.iter() {
                after.clone_from(&decision);
                game.apply(&mut after, action);
                if game.turn(&after) == Turn::Over {
                    candidates.push(Candidate::Over((game.utility(&after, player) / game.scale()) as f32));
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
    }
}
