//! Best responses in small games with hidden information, for any number of players, by walking through all histories.
//!
//! The fast ones of two players in [`cfr`](crate::cfr) need a [`PublicTree`](adept_game::PublicTree). This needs the rules alone.

use crate::agents::Agent;
use crate::error::ExactError;
use crate::values::{Decision, state_after};
use adept_game::{Game, Turn, no_action};
use adept_ground::limits::TREE;
use rustc_hash::FxHashMap;

/// Longest game.
const DEEPEST: usize = 2_000;

/// For each seat: the expected utility of the best response of its player to `other` in all other seats. What the player knows decides,
/// by [`Game::info`], which must have perfect recall.
///
/// # Errors
/// See [`ExactError`]. [`ExactError::Rules`] if a player forgets.
pub fn best_responses<G: Game>(game: &G, mut other: Box<dyn Agent<G>>) -> Result<Vec<f64>, ExactError> {
    (0..game.players())
        .map(|seat| {
            let mut tree =
                Histories { seat, nodes: Vec::new(), sets: Vec::new(), set_of: FxHashMap::default() };
            let root =
                tree.add(game, &mut *other, &game.start(), Way { weight: 1.0, depth: 0, own: None })?;
            Ok(tree.value(root))
        })
        .collect()
}

/// A history.
enum Node {
    /// Utility for the player.
    Over(f64),
    /// Chance, or another player.
    Others(Vec<(f64, u32)>),
    /// The player, in this information set. A child for each action.
    Own(u32, Vec<u32>),
}

/// How a history came about.
#[derive(Clone, Copy)]
struct Way {
    /// The probability that chance and the other players bring it about.
    weight: f64,
    /// Its moves and outcomes of chance.
    depth: usize,
    /// The last information set of the player, and the place of the action there.
    own: Option<(u32, u32)>,
}

impl Way {
    fn with(self, p: f64) -> Self {
        Self { weight: self.weight * p, depth: self.depth + 1, ..self }
    }
}

/// An information set.
struct Set {
    /// The last set and action of the player before it: with perfect recall, one and the same in all its histories.
    own: Option<(u32, u32)>,
    /// Its number of actions.
    actions: usize,
    /// Its histories, each with the probability that chance and the other players bring it about.
    histories: Vec<(f64, u32)>,
    /// The best action, once it is found.
    choice: Option<usize>,
}

fn forgets<G: Game>(game: &G, state: &G::State, player: usize) -> ExactError {
    ExactError::Rules(format!(
        "{}: player {} forgets in `{}`: `info` must tell all that a player has seen and done",
        game.name(),
        player + 1,
        game.position_text(state)
    ))
}

struct Histories<G: Game> {
    seat: usize,
    nodes: Vec<Node>,
    sets: Vec<Set>,
    set_of: FxHashMap<G::Info, u32>,
}

impl<G: Game> Histories<G> {
    /// Adds a history and all that follow it.
    fn add(
        &mut self,
        game: &G,
        other: &mut dyn Agent<G>,
        state: &G::State,
        way: Way,
    ) -> Result<u32, ExactError> {
        if way.depth >= DEEPEST {
            return Err(ExactError::Depth(DEEPEST));
        }
        if self.nodes.len() >= TREE {
            return Err(ExactError::Size(TREE));
        }
        let after = |action: &G::Action| state_after(game, state, action);
        let node = match game.turn(state) {
            Turn::Over => Node::Over(game.utility(state, self.seat)),
            Turn::Chance => {
                let mut outcomes = Vec::new();
                if !game.outcomes(state, &mut outcomes) {
                    return Err(ExactError::Chance);
                }
                let mut below = Vec::with_capacity(outcomes.len());
                for (outcome, p) in &outcomes {
                    below.push((*p, self.add(game, other, &after(outcome), way.with(*p))?));
                }
                Node::Others(below)
            }
            Turn::Player(player) => {
                let mut actions = Vec::new();
                game.actions(state, &mut actions);
                if actions.is_empty() {
                    return Err(ExactError::Rules(no_action(game, state, player).to_string()));
                }
                if player == self.seat {
                    let next = self.sets.len() as u32;
                    let set = *self.set_of.entry(game.info(state, player)).or_insert(next);
                    if set == next {
                        let (own, actions) = (way.own, actions.len());
                        self.sets.push(Set { own, actions, histories: Vec::new(), choice: None });
                    }
                    let known = &self.sets[set as usize];
                    if (known.own, known.actions) != (way.own, actions.len()) {
                        return Err(forgets(game, state, player));
                    }
                    let mut below = Vec::with_capacity(actions.len());
                    for (place, action) in actions.iter().enumerate() {
                        let own = Some((set, place as u32));
                        below.push(self.add(game, other, &after(action), Way { own, ..way.with(1.0) })?);
                    }
                    let place = self.nodes.len() as u32;
                    self.sets[set as usize].histories.push((way.weight, place));
                    Node::Own(set, below)
                } else {
                    let mut p = Vec::new();
                    other.policy(Decision::new(game, state, player), &actions, &mut p);
                    let sum: f64 = p.iter().sum();
                    if sum.is_nan() || (sum - 1.0).abs() > 1e-6 || p.len() != actions.len() {
                        return Err(ExactError::Policy(sum.to_string()));
                    }
                    let mut below = Vec::new();
                    for (action, p) in actions.iter().zip(p).filter(|(_, p)| *p > 0.0) {
                        below.push((p, self.add(game, other, &after(action), way.with(p))?));
                    }
                    Node::Others(below)
                }
            }
        };
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }

    /// The utility of a history under the best response.
    fn value(&mut self, node: u32) -> f64 {
        match &self.nodes[node as usize] {
            Node::Over(utility) => *utility,
            Node::Others(below) => {
                let below = below.clone();
                below.into_iter().map(|(p, node)| p * self.value(node)).sum()
            }
            Node::Own(set, _) => {
                let choice = self.choose(*set);
                match &self.nodes[node as usize] {
                    Node::Own(_, below) => self.value(below[choice]),
                    _ => 0.0,
                }
            }
        }
    }

    /// The best action of an information set.
    fn choose(&mut self, set: u32) -> usize {
        if let Some(choice) = self.sets[set as usize].choice {
            return choice;
        }
        let histories = std::mem::take(&mut self.sets[set as usize].histories);
        let mut sums = vec![0.0; self.sets[set as usize].actions];
        for (weight, node) in histories {
            for (place, sum) in sums.iter_mut().enumerate() {
                let Node::Own(_, below) = &self.nodes[node as usize] else { continue };
                *sum += weight * self.value(below[place]);
            }
        }
        let best = (0..sums.len()).fold(0, |best, i| if sums[i] > sums[best] { i } else { best });
        self.sets[set as usize].choice = Some(best);
        best
    }
}
