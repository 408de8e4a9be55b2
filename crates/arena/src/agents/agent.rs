//! The trait of agents, and those that choose by rules, at random or by values.

use crate::values::{Decision, Evaluator, Reach};
use adept_game::{Game, GameError, Kit, Script, Stream, Worth, draw_index, no_action};
use adept_ground::order::sort_by_highest;
use adept_model::Head;
use rand::RngExt;

/// Chooses moves in a game.
pub trait Agent<G: Game>: Send {
    /// Name in reports.
    fn name(&self) -> &str;

    /// Replaces `probabilities` by the probability that the player to move chooses each of `actions`. `actions`
    /// holds every legal action; the probabilities sum to 1.
    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>);

    /// Samples an action from the policy. Returns its index in `actions`.
    fn act(
        &mut self,
        at: Decision<'_, G>,
        actions: &[G::Action],
        scratch: &mut Vec<f64>,
        rng: &mut Stream,
    ) -> usize {
        self.policy(at, actions, scratch);
        draw_index(&*scratch, rng)
    }

    /// Samples an action without a given list. Agents that consider only some actions can skip listing the others.
    ///
    /// # Errors
    /// There is no action, which the rules of a game do not allow; or another program was asked, and gave no legal one.
    fn choose(
        &mut self,
        at: Decision<'_, G>,
        scratch: &mut Scratch<G>,
        rng: &mut Stream,
    ) -> Result<G::Action, GameError> {
        let Scratch { actions, probabilities } = scratch;
        at.game.actions(at.state, actions);
        if actions.is_empty() {
            return Err(no_action(at.game, at.state, at.player));
        }
        let choice = self.act(at, actions, probabilities, rng);
        Ok(actions.swap_remove(choice))
    }

    /// Explains a decision: candidates, their numbers and the rules that fired, in lines that end with a line break. By
    /// default, the likeliest actions.
    fn explain(&mut self, at: Decision<'_, G>) -> String {
        let (mut actions, mut probabilities) = (Vec::new(), Vec::new());
        at.game.actions(at.state, &mut actions);
        self.policy(at, &actions, &mut probabilities);
        // What does not depend on the agent is not compiled for each.
        would_choose(&highest(at, &actions, &probabilities), &probabilities)
    }
}

/// The explanation of a policy, whose likeliest actions are named.
fn would_choose(likeliest: &[(String, f64)], probabilities: &[f64]) -> String {
    let Some((_, most)) = likeliest.first() else { return String::new() };
    let ties = probabilities.iter().filter(|p| (*p - most).abs() < 1e-9).count();
    if ties == probabilities.len() && ties > 1 {
        return format!("It would choose any of {ties} moves.\n");
    }
    let with = |(text, p): &(String, f64)| match 100.0 * p {
        sure if sure > 99.95 => text.clone(),
        small if small < 1.0 => format!("{text} (< 1 %)"),
        percent => format!("{text} ({percent:.0} %)"),
    };
    let shown: Vec<String> = likeliest.iter().filter(|(_, p)| *p > 0.0).map(with).collect();
    let others = probabilities.iter().filter(|p| **p > 0.0).count() - shown.len();
    format!("It would choose {}{}.\n", shown.join(", "), or_others(others))
}

/// Actions that follow each other, as texts.
pub(crate) fn line_texts<G: Game>(game: &G, state: &G::State, line: &[G::Action]) -> Vec<String> {
    let mut state = state.clone();
    let text = |action: &G::Action| {
        let text = game.action_text(&state, action);
        game.apply(&mut state, action);
        text
    };
    line.iter().map(text).collect()
}

/// The explanation of an agent that values actions, expects this line and looked so far ahead.
fn values_highest<G: Game>(
    at: Decision<'_, G>,
    actions: &[G::Action],
    values: &[f32],
    (line, reach): (&[G::Action], Option<Reach>),
) -> String {
    let values: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    if values.len() > 1 && values.iter().all(|value| *value == values[0]) {
        return format!("It values all {} moves alike.\n", values.len());
    }
    let best = highest(at, actions, &values);
    if best.is_empty() {
        return "It knows no values here.\n".into();
    }
    let with =
        |(text, value): (String, f64)| format!("{text} ({})", Worth::of(at.game, value).describe(value, 3));
    let shown: Vec<String> = best.into_iter().map(with).collect();
    let line = match &line_texts(at.game, at.state, line)[..] {
        line @ [_, _, ..] => format!("It expects {}.\n", line.join(", ")),
        _ => String::new(),
    };
    let short = reach.and_then(Reach::shortfall);
    let short = short.map_or_else(String::new, |why| format!("It {why}.\n"));
    format!("It values highest {}.\n{line}{short}", shown.join(", "))
}

/// Mentions candidates that are not named.
fn or_others(others: usize) -> String {
    match others {
        0 => String::new(),
        1 => " or one other".into(),
        _ => format!(" or one of {others} others"),
    }
}

/// How many candidates an explanation names.
const NAMED: usize = 3;

/// The actions with the highest finite numbers, best first, as text.
fn highest<G: Game>(at: Decision<'_, G>, actions: &[G::Action], numbers: &[f64]) -> Vec<(String, f64)> {
    let mut all: Vec<_> = actions.iter().zip(numbers).filter(|(_, number)| number.is_finite()).collect();
    sort_by_highest(&mut all, &|(_, number)| **number);
    all.into_iter()
        .take(NAMED)
        .map(|(action, number)| (at.game.action_text(at.state, action), *number))
        .collect()
}

/// Buffers reused between decisions.
#[derive(Debug)]
pub struct Scratch<G: Game> {
    /// Legal actions.
    pub actions: Vec<G::Action>,
    /// Their probabilities.
    pub probabilities: Vec<f64>,
}

impl<G: Game> Default for Scratch<G> {
    fn default() -> Self {
        Self { actions: Vec::new(), probabilities: Vec::new() }
    }
}

/// Implements [`Agent`] by forwarding every method.
macro_rules! passed_on {
    ($to:ty) => {
        impl<G: Game, A: Agent<G> + ?Sized> Agent<G> for $to {
            fn name(&self) -> &str {
                (**self).name()
            }

            fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
                (**self).policy(at, actions, probabilities);
            }

            fn act(
                &mut self,
                at: Decision<'_, G>,
                actions: &[G::Action],
                scratch: &mut Vec<f64>,
                rng: &mut Stream,
            ) -> usize {
                (**self).act(at, actions, scratch, rng)
            }

            fn choose(
                &mut self,
                at: Decision<'_, G>,
                scratch: &mut Scratch<G>,
                rng: &mut Stream,
            ) -> Result<G::Action, GameError> {
                (**self).choose(at, scratch, rng)
            }

            fn explain(&mut self, at: Decision<'_, G>) -> String {
                (**self).explain(at)
            }
        }
    };
}

passed_on!(Box<A>);
passed_on!(&mut A);

/// Any legal action, uniformly.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl<G: Game> Agent<G> for Random {
    fn name(&self) -> &str {
        "random"
    }

    fn policy(&mut self, _: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        probabilities.clear();
        probabilities.resize(actions.len(), 1.0 / actions.len() as f64);
    }

    fn act(
        &mut self,
        _: Decision<'_, G>,
        actions: &[G::Action],
        _: &mut Vec<f64>,
        rng: &mut Stream,
    ) -> usize {
        rng.random_range(0..actions.len())
    }
}

/// A rule-based policy of the game.
pub struct Scripted<G: Game> {
    name: String,
    script: Script<G>,
}

impl<G: Kit> Scripted<G> {
    /// The script named `name`, if the game has it.
    pub fn new(game: &G, name: &str) -> Option<Self> {
        Some(Self { name: name.into(), script: game.agents().scripts.open(name)? })
    }
}

impl<G: Game> Agent<G> for Scripted<G> {
    fn name(&self) -> &str {
        &self.name
    }

    fn policy(&mut self, at: Decision<'_, G>, actions: &[G::Action], probabilities: &mut Vec<f64>) {
        (self.script)(at.game, at.state, actions, probabilities);
    }
}

/// Chooses the action with the highest value. Ties are uniform.
pub struct Greedy<E> {
    evaluator: E,
    values: Vec<f32>,
}

impl<E> Greedy<E> {
    /// Plays greedily by this evaluator.
    pub fn new(evaluator: E) -> Self {
        Self { evaluator, values: Vec::new() }
    }
}

/// Splits `mass` evenly among the entries with the highest value.
fn add_greedy(values: &[f32], mass: f64, probabilities: &mut [f64]) {
    let best = values.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    let ties = values.iter().filter(|&&v| v == best).count();
    for (p, v) in probabilities.iter_mut().zip(values) {
        if *v == best {
            *p += mass / ties as f64;
        }
    }
}

impl<E> Greedy<E> {
    fn fill(&self, probabilities: &mut Vec<f64>) {
        probabilities.clear();
        probabilities.resize(self.values.len(), 0.0);
        add_greedy(&self.values, 1.0, probabilities);
    }
}

/// Implements [`Agent`] from an evaluator's values. When it acts, the evaluator lists the candidates.
macro_rules! by_values {
    ($agent:ident, $name:literal, $($more:tt)*) => {
        impl<G: Game, E: Evaluator<G>> Agent<G> for $agent<E> {
            fn name(&self) -> &str {
                $name
            }

            fn policy(
                &mut self,
                at: Decision<'_, G>,
                actions: &[G::Action],
                probabilities: &mut Vec<f64>,
            ) {
                self.evaluator.values(at, actions, &mut self.values);
                self.fill(probabilities);
            }

            fn choose(
                &mut self,
                at: Decision<'_, G>,
                scratch: &mut Scratch<G>,
                rng: &mut Stream,
            ) -> Result<G::Action, GameError> {
                let Scratch { actions, probabilities } = scratch;
                self.evaluator.weigh(at, actions, &mut self.values);
                if actions.is_empty() {
                    return Err(no_action(at.game, at.state, at.player));
                }
                self.fill(probabilities);
                Ok(actions.swap_remove(draw_index(&*probabilities, rng)))
            }

            $($more)*
        }
    };
}

by_values!(
    Greedy,
    "greedy",
    fn explain(&mut self, at: Decision<'_, G>) -> String {
        let mut actions = Vec::new();
        self.evaluator.study(at, &mut actions, &mut self.values);
        values_highest(at, &actions, &self.values, (self.evaluator.line(), self.evaluator.reach()))
    }
);
by_values!(EpsilonGreedy, "epsilon",);
by_values!(Boltzmann, "boltzmann",);

/// Greedy, but with probability ε any legal action.
pub struct EpsilonGreedy<E> {
    evaluator: E,
    epsilon: f64,
    values: Vec<f32>,
}

impl<E> EpsilonGreedy<E> {
    /// `epsilon` is in [0, 1].
    pub fn new(evaluator: E, epsilon: f64) -> Self {
        Self { evaluator, epsilon, values: Vec::new() }
    }
}

impl<E> EpsilonGreedy<E> {
    fn fill(&self, probabilities: &mut Vec<f64>) {
        let candidates = self.values.iter().filter(|v| **v > f32::NEG_INFINITY).count();
        let each = self.epsilon / candidates.max(1) as f64;
        probabilities.clear();
        probabilities.extend(self.values.iter().map(|v| if *v > f32::NEG_INFINITY { each } else { 0.0 }));
        add_greedy(&self.values, 1.0 - self.epsilon, probabilities);
    }
}

/// Chooses each action with probability ∝ exp(value / temperature).
pub struct Boltzmann<E> {
    evaluator: E,
    temperature: f64,
    values: Vec<f32>,
}

/// Sets `probabilities` to the softmax of `values`: p ∝ exp(value / temperature).
pub fn softmax(values: &[f32], temperature: f64, probabilities: &mut [f64]) {
    let best = values.iter().fold(f32::NEG_INFINITY, |m, &v| m.max(v));
    for (p, v) in probabilities.iter_mut().zip(values) {
        *p = (f64::from(v - best) / temperature).exp();
    }
    let total: f64 = probabilities.iter().sum();
    probabilities.iter_mut().for_each(|p| *p /= total);
}

impl<E> Boltzmann<E> {
    /// `temperature` is above 0, in units of the value.
    pub fn new(evaluator: E, temperature: f64) -> Self {
        Self { evaluator, temperature, values: Vec::new() }
    }
}

impl<E> Boltzmann<E> {
    fn fill(&self, probabilities: &mut Vec<f64>) {
        probabilities.clear();
        probabilities.resize(self.values.len(), 0.0);
        softmax(&self.values, self.temperature, probabilities);
    }
}

/// The default agent for an evaluator: greedy for values, also those of distributions; softmax for logits.
pub fn by_head<'a, G: Game, E: Evaluator<G> + 'a>(evaluator: E, head: &Head) -> Box<dyn Agent<G> + 'a> {
    match head {
        Head::Value | Head::Outcomes(_) => Box::new(Greedy::new(evaluator)),
        Head::Policy => Box::new(Boltzmann::new(evaluator, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::or_others;

    #[test]
    fn what_is_not_named_is_counted() {
        let texts = [0, 1, 2].map(or_others);
        assert_eq!(texts, ["", " or one other", " or one of 2 others"]);
    }
}
