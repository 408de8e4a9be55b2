//! Best responses in small games with hidden information, for any number of players, by walking through all histories.
//!
//! The fast ones of two players in [`cfr`](crate::cfr) need a [`PublicTree`](adept_game::PublicTree). This needs the rules alone.

use crate::agents::{Agent, Decision};
use crate::exact::{ExactError, MAX_STATES};
use adept_game::{Game, Turn, no_action};
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
            let root = tree.add(game, &mut *other, &game.start(), 1.0, 0)?;
            tree.value(root, game)
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

/// An information set.
#[derive(Default)]
struct Set {
    /// Its histories, each with the probability that chance and the other players bring it about.
    histories: Vec<(f64, u32)>,
    choice: Choice,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Choice {
    #[default]
    Open,
    /// Values below are being found.
    Asked,
    Made(usize),
}

struct Histories<G: Game> {
    seat: usize,
    nodes: Vec<Node>,
    sets: Vec<Set>,
    set_of: FxHashMap<G::Info, u32>,
}

impl<G: Game> Histories<G> {
    /// Adds a history and all that follow it. `weight` is the probability that chance and the others bring it about.
    fn add(
        &mut self,
        game: &G,
        other: &mut dyn Agent<G>,
        state: &G::State,
        weight: f64,
        depth: usize,
    ) -> Result<u32, ExactError> {
        if depth >= DEEPEST {
            return Err(ExactError::Depth(DEEPEST));
        }
        if self.nodes.len() >= MAX_STATES {
            return Err(ExactError::Size(MAX_STATES));
        }
        let after = |action: &G::Action| {
            let mut next = state.clone();
            game.apply(&mut next, action);
            next
        };
        let node = match game.turn(state) {
            Turn::Over => Node::Over(game.utility(state, self.seat)),
            Turn::Chance => {
                let mut outcomes = Vec::new();
                if !game.outcomes(state, &mut outcomes) {
                    return Err(ExactError::Chance);
                }
                let mut below = Vec::with_capacity(outcomes.len());
                for (outcome, p) in &outcomes {
                    below.push((*p, self.add(game, other, &after(outcome), weight * p, depth + 1)?));
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
                        self.sets.push(Set::default());
                    }
                    let mut below = Vec::with_capacity(actions.len());
                    for action in &actions {
                        below.push(self.add(game, other, &after(action), weight, depth + 1)?);
                    }
                    let place = self.nodes.len() as u32;
                    self.sets[set as usize].histories.push((weight, place));
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
                        below.push((p, self.add(game, other, &after(action), weight * p, depth + 1)?));
                    }
                    Node::Others(below)
                }
            }
        };
        self.nodes.push(node);
        Ok(self.nodes.len() as u32 - 1)
    }

    /// The utility of a history under the best response.
    fn value(&mut self, node: u32, game: &G) -> Result<f64, ExactError> {
        match &self.nodes[node as usize] {
            Node::Over(utility) => Ok(*utility),
            Node::Others(below) => {
                let below = below.clone();
                below.into_iter().map(|(p, node)| Ok(p * self.value(node, game)?)).sum()
            }
            Node::Own(set, _) => {
                let choice = self.choose(*set, game)?;
                match &self.nodes[node as usize] {
                    Node::Own(_, below) => self.value(below[choice], game),
                    _ => Ok(0.0),
                }
            }
        }
    }

    /// The best action of an information set.
    fn choose(&mut self, set: u32, game: &G) -> Result<usize, ExactError> {
        let forgets = || {
            ExactError::Rules(format!(
                "{}: a player comes twice to the same information set, or has other actions in it: `info` must tell all that the \
                 player has seen and done",
                game.name()
            ))
        };
        match self.sets[set as usize].choice {
            Choice::Made(choice) => return Ok(choice),
            Choice::Asked => return Err(forgets()),
            Choice::Open => self.sets[set as usize].choice = Choice::Asked,
        }
        let histories = self.sets[set as usize].histories.clone();
        let mut sums: Vec<f64> = Vec::new();
        for (weight, node) in histories {
            let Node::Own(_, below) = &self.nodes[node as usize] else { continue };
            let below = below.clone();
            if sums.is_empty() {
                sums.resize(below.len(), 0.0);
            } else if sums.len() != below.len() {
                return Err(forgets());
            }
            for (sum, node) in sums.iter_mut().zip(below) {
                *sum += weight * self.value(node, game)?;
            }
        }
        let best = (0..sums.len()).fold(0, |best, i| if sums[i] > sums[best] { i } else { best });
        self.sets[set as usize].choice = Choice::Made(best);
        Ok(best)
    }
}
