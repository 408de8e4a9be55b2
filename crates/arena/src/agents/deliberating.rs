//! Deliberators as agents.

use super::agent::{Agent, Scratch};
use crate::values::Decision;
use adept_game::deliberation::preference;
use adept_game::{Choice, Deliberation, Deliberator, Game, GameError, Stream, draw_index, no_action};
use std::fmt::Write;
use std::sync::Arc;

/// An agent that deliberates at every decision.
pub struct Deliberating<G: Game> {
    deliberator: Arc<dyn Deliberator<G>>,
    found: Deliberation<G::Action>,
}

impl<G: Game> Deliberating<G> {
    /// An agent that uses this deliberator.
    pub fn new(deliberator: Arc<dyn Deliberator<G>>) -> Self {
        Self { deliberator, found: Deliberation::default() }
    }

    /// Evaluates the candidates and computes the probability of choosing each.
    fn weigh(&mut self, at: Decision<'_, G>, probabilities: &mut Vec<f64>) {
        self.deliberator.deliberate(at.game, at.state, at.player, &mut self.found);
        self.found.choose(self.deliberator.choice(), probabilities);
    }
}

impl<G: Game> Agent<G> for Deliberating<G> {
    fn name(&self) -> &str {
        self.deliberator.name()
    }

    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        let mut of_candidates = Vec::new();
        self.weigh(at, &mut of_candidates);
        // An action can be proposed several times.
        let chance = |action: &G::Action| {
            let all = self.found.candidates.iter().zip(&of_candidates);
            all.filter(|(c, _)| c.action == *action).map(|(_, p)| p).sum::<f64>()
        };
        probabilities.clear();
        probabilities.extend(actions.iter().map(chance));
    }

    fn choose(
        &mut self,
        at: Decision<'_, G>,
        scratch: &mut Scratch<G>,
        rng: &mut Stream,
    ) -> Result<G::Action, GameError> {
        let Scratch { probabilities, .. } = scratch;
        self.deliberator.decide(at.game, at.state, at.player, &mut self.found, probabilities, rng);
        let chosen = self.found.candidates.get(draw_index(&*probabilities, rng));
        chosen.map(|c| c.action.clone()).ok_or_else(|| no_action(at.game, at.state, at.player))
    }

    fn explain(&mut self, at: Decision<'_, G>) -> String {
        let mut probabilities = Vec::new();
        self.found.explains = true;
        self.weigh(at, &mut probabilities);
        self.found.explains = false;
        let mut text: String = self.found.remarks.iter().map(|remark| format!("{remark}\n")).collect();
        for (i, (candidate, chosen)) in self.found.candidates.iter().zip(&probabilities).enumerate() {
            let same = |j: &usize| self.found.candidates[*j].action == candidate.action;
            if (0..i).any(|j| same(&j)) {
                continue;
            }
            let chosen =
                chosen + (i + 1..probabilities.len()).filter(same).map(|j| probabilities[j]).sum::<f64>();
            let name = at.game.action_text(at.state, &candidate.action);
            let valued = match candidate.class {
                Some(class) => class.to_string(),
                // Such deliberators give the probability itself.
                None if self.deliberator.choice() == Choice::Proportional => String::new(),
                None if candidate.number != preference(candidate.success) => {
                    format!("preference {:.3}", candidate.number)
                }
                None => format!("succeeds {:.1} %", 100.0 * candidate.success),
            };
            let fate = match candidate.dropped {
                Some(why) => format!("dropped by {why}"),
                None => format!("chosen {:.1} %", 100.0 * chosen),
            };
            let _ = writeln!(text, "  {name:<14} {valued:<16} {fate}");
        }
        text
    }
}
