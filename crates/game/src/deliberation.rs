//! Deliberation: choosing an action with a game's own knowledge. The result can be explained and turned into rules.
//!
//! A [`Deliberator`] proposes candidates and estimates the chance of success of each. Symbolic preferences (best,
//! worst, better than another) drop some candidates. A [`Choice`] selects one of the others by its number. The
//! deliberator records every feature that it reads for a candidate. These features are the conditions of a rule that
//! gives the same number without deliberation, as chunking does in Soar (Laird, Derbinsky and Tinkerhess 2011).

use crate::game::{Game, GameError};
use crate::recorded::Recorded;
use crate::rng::Stream;
use crate::values::Found;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// One condition of a rule: a feature number and its value.
pub type Condition = (u8, u8);

/// One action under consideration.
///
/// ```
/// use adept_game::deliberation::Deliberation;
///
/// let mut found = Deliberation::default();
/// found.add("doubt", 0.75, None, &[]);
/// let candidate = &found.candidates[0];
/// assert_eq!((candidate.action, candidate.number, candidate.dropped), ("doubt", 0.5, None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<A> {
    /// The action.
    pub action: A,
    /// Chance of success, in [0, 1].
    pub success: f64,
    /// Numeric preference: [`preference`] of its chance of success, or a sum of several.
    pub number: f64,
    /// Its class, for deliberators that use classes.
    pub class: Option<&'static str>,
    /// The symbolic preference that dropped it.
    pub dropped: Option<&'static str>,
    /// Range of its conditions in [`Deliberation`]'s list.
    read: Range<usize>,
}

/// Numeric preference for a chance of success: −1 for certain failure, 1 for certain success.
///
/// ```
/// use adept_game::deliberation::preference;
///
/// assert_eq!([0.0, 0.5, 1.0].map(preference), [-1.0, 0.0, 1.0]);
/// ```
pub fn preference(success: f64) -> f64 {
    2.0 * success - 1.0
}

/// How to choose among the remaining candidates.
///
/// ```
/// use adept_game::deliberation::{Choice, Deliberation};
///
/// let (mut found, mut probabilities) = (Deliberation::default(), Vec::new());
/// found.add("believe", 0.2, None, &[]);
/// found.add("doubt", 0.6, None, &[]);
/// found.choose(Choice::Proportional, &mut probabilities);
/// assert!((probabilities[1] - 0.75).abs() < 1e-12);
/// found.choose(Choice::Boltzmann(0.01), &mut probabilities); // almost always the best one
/// assert!(probabilities[1] > 0.999);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// With probability ∝ exp(preference / temperature).
    Boltzmann(f64),
    /// With equal probability.
    Uniform,
    /// With probability ∝ chance of success, which such deliberators use for how sure they are of the action.
    Proportional,
}

/// Candidates of a decision and the reasons for and against them. Its memory is reused between decisions.
///
/// ```
/// use adept_game::deliberation::{Choice, Deliberation, Preferences};
///
/// let (mut found, mut probabilities) = (Deliberation::default(), Vec::new());
/// for (claim, success) in [(1, 0.5), (2, 0.4), (3, 0.1)] {
///     found.add(claim, success, None, &[]);
/// }
/// found.settle(&Preferences { worst: vec![(2, "would be doubted")], ..Default::default() });
/// found.choose(Choice::Uniform, &mut probabilities);
/// assert_eq!(probabilities, [0.5, 0.5, 0.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Deliberation<A> {
    /// Actions under consideration.
    pub candidates: Vec<Candidate<A>>,
    /// Remarks on the decision, as text.
    pub remarks: Vec<String>,
    /// Whether to write remarks, which cost time.
    pub explains: bool,
    read: Vec<Condition>,
}

impl<A> Default for Deliberation<A> {
    fn default() -> Self {
        Self { candidates: Vec::new(), remarks: Vec::new(), explains: false, read: Vec::new() }
    }
}

impl<A> Deliberation<A> {
    /// Removes all entries but keeps the memory.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.remarks.clear();
        self.read.clear();
    }

    /// Adds a candidate with the conditions read while evaluating it.
    pub fn add(&mut self, action: A, success: f64, class: Option<&'static str>, read: &[Condition]) {
        self.add_with(action, success, preference(success), class, read);
    }

    /// Adds a candidate with a numeric preference of its own.
    pub fn add_with(
        &mut self,
        action: A,
        success: f64,
        number: f64,
        class: Option<&'static str>,
        read: &[Condition],
    ) {
        let start = self.read.len();
        self.read.extend_from_slice(read);
        let read = start..self.read.len();
        self.candidates.push(Candidate { action, success, number, class, dropped: None, read });
    }

    /// Conditions read while evaluating this candidate, in reading order.
    ///
    /// ```
    /// use adept_game::deliberation::Deliberation;
    ///
    /// let mut found = Deliberation::default();
    /// let (card, claim) = ((0, 2), (1, 3)); // feature 0 is 2, feature 1 is 3
    /// found.add("doubt", 0.7, None, &[card, claim]);
    /// assert_eq!(found.conditions(0), [card, claim]);
    /// assert!(found.conditions(1).is_empty());
    /// ```
    pub fn conditions(&self, candidate: usize) -> &[Condition] {
        self.candidates.get(candidate).map_or(&[], |c| &self.read[c.read.clone()])
    }

    /// Drops candidates by symbolic preferences, as Soar's decision procedure does. First it drops candidates that
    /// another one beats. If any best candidates remain, it then drops all others. Last, it drops the worst candidates
    /// if others remain.
    pub fn settle(&mut self, preferences: &Preferences) {
        let n = self.candidates.len();
        let mut dropped: Vec<Option<&'static str>> = self.candidates.iter().map(|c| c.dropped).collect();
        for &(better, worse, why) in &preferences.better {
            // A dropped candidate cannot drop others.
            if dropped[worse].is_none() && self.candidates[better].dropped.is_none() {
                dropped[worse] = Some(why);
            }
        }
        // If a cycle would drop every candidate, keep them all.
        if dropped.iter().all(Option::is_some) {
            dropped = self.candidates.iter().map(|c| c.dropped).collect();
        }
        if let Some(&(_, why)) = preferences.best.iter().find(|(i, _)| dropped[*i].is_none()) {
            for (i, dropped) in dropped.iter_mut().enumerate() {
                if !preferences.best.iter().any(|(b, _)| *b == i) {
                    *dropped = dropped.or(Some(why));
                }
            }
        }
        let is_worst = |i: usize| preferences.worst.iter().find(|(w, _)| *w == i);
        if (0..n).any(|i| dropped[i].is_none() && is_worst(i).is_none()) {
            for &(worst, why) in &preferences.worst {
                dropped[worst] = dropped[worst].or(Some(why));
            }
        }
        for (candidate, dropped) in self.candidates.iter_mut().zip(dropped) {
            candidate.dropped = dropped;
        }
    }

    /// Replaces `probabilities` by the probability of choosing each candidate.
    pub fn choose(&self, choice: Choice, probabilities: &mut Vec<f64>) {
        let numbers = |i: usize| self.candidates[i].number;
        let left = |i: usize| self.candidates[i].dropped.is_none();
        let n = self.candidates.len();
        let highest = (0..n).filter(|i| left(*i)).map(numbers).fold(f64::NEG_INFINITY, f64::max);
        let weight = |i: usize| match choice {
            _ if !left(i) => 0.0,
            Choice::Boltzmann(temperature) => ((numbers(i) - highest) / temperature).exp(),
            Choice::Uniform => 1.0,
            Choice::Proportional => self.candidates[i].success,
        };
        probabilities.clear();
        probabilities.extend((0..n).map(weight));
        let total: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|p| *p /= total);
    }
}

/// Symbolic preferences over candidate indices, each with the name of its rule.
///
/// ```
/// use adept_game::deliberation::{Deliberation, Preferences};
///
/// let mut found = Deliberation::default();
/// (1..=3).for_each(|claim| found.add(claim, 0.5, None, &[]));
/// let mut preferences = Preferences::default();
/// preferences.better.push((2, 0, "claims more"));
/// found.settle(&preferences);
/// assert_eq!(found.candidates[0].dropped, Some("claims more"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Preferences {
    /// The first is better than the second.
    pub better: Vec<(usize, usize, &'static str)>,
    /// Better than everything that is not best.
    pub best: Vec<(usize, &'static str)>,
    /// Chosen only if no other candidate remains.
    pub worst: Vec<(usize, &'static str)>,
}

impl Preferences {
    /// Removes all entries but keeps the memory.
    pub fn clear(&mut self) {
        self.better.clear();
        self.best.clear();
        self.worst.clear();
    }
}

/// Evaluates actions with a game's own knowledge.
///
/// ```
/// use adept_game::deliberation::{Choice, Deliberation, Deliberator};
/// use adept_game::{Game, tiny::{Bluff, Call, Hand}};
///
/// struct Doubter;
/// impl Deliberator<Bluff> for Doubter {
///     fn name(&self) -> &str {
///         "doubter"
///     }
///     fn deliberate(&self, game: &Bluff, hand: &Hand, _: usize, found: &mut Deliberation<Call>) {
///         let mut calls = Vec::new();
///         game.actions(hand, &mut calls);
///         found.clear();
///         let success = |call: &Call| if *call == Call::Doubt { 2.0 / 3.0 } else { 0.5 };
///         calls.iter().for_each(|call| found.add(*call, success(call), None, &[]));
///     }
///     fn choice(&self) -> Choice {
///         Choice::Boltzmann(0.1)
///     }
/// }
/// let (mut found, (hand, _)) = (Deliberation::default(), Bluff.parse_position("? 3 -")?);
/// Doubter.deliberate(&Bluff, &hand, 1, &mut found);
/// assert_eq!((found.candidates.len(), found.candidates[1].action), (2, Call::Doubt));
/// # Ok::<(), adept_game::GameError>(())
/// ```
pub trait Deliberator<G: Game>: Send + Sync {
    /// Name of the agent.
    fn name(&self) -> &str;

    /// Replaces `found` by the candidates of `player`, who is to move, with their chances of success and the reasons
    /// for dropping some. At least one remains. Reads only what this player knows.
    fn deliberate(&self, game: &G, state: &G::State, player: usize, found: &mut Deliberation<G::Action>);

    /// How to choose among the remaining candidates.
    fn choice(&self) -> Choice;

    /// Replaces `found` by the candidates and `probabilities` by the chance of choosing each in this decision. A deliberator
    /// that decides by a random process runs it once, so that its choice is as that of [`deliberate`](Self::deliberate)
    /// only on average.
    fn decide(
        &self,
        game: &G,
        state: &G::State,
        player: usize,
        found: &mut Deliberation<G::Action>,
        probabilities: &mut Vec<f64>,
        _rng: &mut Stream,
    ) {
        self.deliberate(game, state, player, found);
        found.choose(self.choice(), probabilities);
    }

    /// This agent with other settings: an object with those to change.
    ///
    /// # Errors
    /// Which setting is wrong, or that it has none, which is the default.
    fn with_settings(&self, _settings: &serde_json::Value) -> Result<Arc<dyn Deliberator<G>>, GameError> {
        Err(GameError::new(format!("{} has no settings", self.name())))
    }

    /// Compares it with decisions of another program, recorded in a file. None if there are no records of this agent.
    fn recorded(&self, _path: &Path) -> Found<Recorded> {
        None
    }

    /// A condition as text, such as "four unknown dice". Empty for a deliberator that notes no conditions.
    fn condition_text(&self, _game: &G, _condition: Condition) -> String {
        String::new()
    }

    /// The action that a rule with these conditions proposes, as text, such as "bid five 2's".
    fn operator_text(&self, _game: &G, _conditions: &[Condition]) -> String {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(successes: &[f64]) -> Deliberation<usize> {
        let mut found = Deliberation::default();
        successes.iter().enumerate().for_each(|(i, s)| found.add(i, *s, None, &[(0, i as u8)]));
        found
    }

    fn left(found: &Deliberation<usize>) -> Vec<usize> {
        found.candidates.iter().filter(|c| c.dropped.is_none()).map(|c| c.action).collect()
    }

    #[test]
    fn better_comes_before_best_and_best_before_worst() {
        let mut settled = found(&[0.1, 0.2, 0.3, 0.4]);
        let preferences = Preferences {
            better: vec![(1, 0, "b")],
            best: vec![(0, "a"), (2, "a"), (3, "a")],
            worst: vec![(2, "w")],
        };
        settled.settle(&preferences);
        assert_eq!(left(&settled), [3]);
        let why: Vec<_> = settled.candidates.iter().map(|c| c.dropped).collect();
        assert_eq!(why, [Some("b"), Some("a"), Some("w"), None]);
    }

    #[test]
    fn what_is_worst_or_beaten_in_a_circle_is_taken_if_nothing_else_is_left() {
        let mut settled = found(&[0.1, 0.2]);
        settled.settle(&Preferences { worst: vec![(0, "w"), (1, "w")], ..Preferences::default() });
        assert_eq!(left(&settled), [0, 1]);
        let circle = Preferences { better: vec![(0, 1, "x"), (1, 0, "y")], ..Preferences::default() };
        settled.settle(&circle);
        assert_eq!(left(&settled), [0, 1]);
    }

    #[test]
    fn those_left_are_chosen_by_their_numbers() {
        let mut settled = found(&[0.5, 0.54, 0.9]);
        settled.settle(&Preferences { worst: vec![(2, "w")], ..Preferences::default() });
        let mut p = Vec::new();
        settled.choose(Choice::Boltzmann(0.08), &mut p);
        assert!((p[1] / p[0] - 1.0_f64.exp()).abs() < 1e-9 && p[2] == 0.0);
        settled.choose(Choice::Uniform, &mut p);
        assert_eq!(p, [0.5, 0.5, 0.0]);
    }
}
