//! Other programs as agents.

use super::agent::{Agent, Scratch};
use crate::values::Decision;
use adept_game::{Game, GameError, Peer, Stream, no_action};

/// An agent that asks another program where there is a choice.
pub struct Asking<G: Game> {
    name: String,
    peer: Box<dyn Peer<G>>,
}

impl<G: Game> Asking<G> {
    /// An agent that asks this program.
    pub fn new(name: &str, peer: Box<dyn Peer<G>>) -> Self {
        Self { name: name.into(), peer }
    }

    fn ask(&mut self, at: Decision<'_, G>, actions: &[G::Action]) -> Result<G::Action, GameError> {
        match actions {
            [] => Err(no_action(at.game, at.state, at.player)),
            [only] => Ok(only.clone()),
            _ => self.peer.ask(at.game, at.state, at.player),
        }
    }
}

impl<G: Game> Agent<G> for Asking<G> {
    fn name(&self) -> &str {
        &self.name
    }

    /// All probability on the answer; none on any action if there is no answer, where [`Agent::choose`] says why.
    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        let answer = self.ask(at, actions).ok();
        probabilities.clear();
        probabilities
            .extend(actions.iter().map(|action| f64::from(u8::from(Some(action) == answer.as_ref()))));
    }

    fn choose(
        &mut self,
        at: Decision<'_, G>,
        scratch: &mut Scratch<G>,
        _: &mut Stream,
    ) -> Result<G::Action, GameError> {
        at.game.actions(at.state, &mut scratch.actions);
        self.ask(at, &scratch.actions)
    }

    fn explain(&mut self, at: Decision<'_, G>) -> String {
        let mut actions = Vec::new();
        at.game.actions(at.state, &mut actions);
        match self.ask(at, &actions) {
            Ok(action) => format!("It would choose {}.\n", at.game.action_text(at.state, &action)),
            Err(why) => format!("It gives no answer: {why}.\n"),
        }
    }
}
