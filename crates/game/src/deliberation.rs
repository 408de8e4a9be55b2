//! Deliberation: weighing a few actions by knowledge that a game has of itself, in a way that can be explained, and
//! turned into rules.
//!
//! A [`Deliberator`] proposes candidates, gives each a chance of success, and lets symbolic preferences (best, worst,
//! better than another) drop some. What is left is chosen from by the numbers. While it evaluates a candidate it
//! notes every feature that it reads; these are the conditions of a rule that would give the same number without
//! deliberating, as chunking in Soar makes them (Laird, Derbinsky and Tinkerhess 2011).

use crate::game::Game;
use std::ops::Range;

/// A feature by number, and its value: one condition of a rule.
pub type Condition = (u8, u8);

/// One action that was weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate<A> {
    /// The action.
    pub action: A,
    /// How sure it is to succeed, in [0, 1].
    pub success: f64,
    /// The class it was put in, for deliberators that go by classes.
    pub class: Option<&'static str>,
    /// The symbolic preference that dropped it.
    pub dropped: Option<&'static str>,
    /// Its conditions within [`Deliberation::conditions`].
    read: Range<usize>,
}

/// The numeric preference of a chance of success: −1 for sure failure to 1 for sure success.
pub fn preference(success: f64) -> f64 {
    2.0 * success - 1.0
}

/// How one of the candidates that are left is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Choice {
    /// With probability ∝ exp(preference / temperature).
    Boltzmann(f64),
    /// Any with the same probability.
    Uniform,
}

/// What was weighed, and what came of it. Reused from one decision to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Deliberation<A> {
    /// What was weighed.
    pub candidates: Vec<Candidate<A>>,
    /// What was found on the way, in words.
    pub remarks: Vec<String>,
    /// Whether remarks are wanted: they cost time.
    pub explains: bool,
    read: Vec<Condition>,
}

impl<A> Default for Deliberation<A> {
    fn default() -> Self {
        Self { candidates: Vec::new(), remarks: Vec::new(), explains: false, read: Vec::new() }
    }
}

impl<A> Deliberation<A> {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.remarks.clear();
        self.read.clear();
    }

    /// Adds a candidate with what was read to evaluate it.
    pub fn add(&mut self, action: A, success: f64, class: Option<&'static str>, read: &[Condition]) {
        let start = self.read.len();
        self.read.extend_from_slice(read);
        let read = start..self.read.len();
        self.candidates.push(Candidate { action, success, class, dropped: None, read });
    }

    /// What was read to evaluate that candidate, in the order of reading.
    pub fn conditions(&self, candidate: usize) -> &[Condition] {
        self.candidates.get(candidate).map_or(&[], |c| &self.read[c.read.clone()])
    }

    /// Drops candidates by symbolic preferences as Soar's decision procedure does: first those that another is better
    /// than, then all but the best if there are best ones, then the worst if others are left.
    pub fn settle(&mut self, preferences: &Preferences) {
        let n = self.candidates.len();
        let mut dropped: Vec<Option<&'static str>> = self.candidates.iter().map(|c| c.dropped).collect();
        for &(better, worse, why) in &preferences.better {
            // A candidate that is out already has no say.
            if dropped[worse].is_none() && self.candidates[better].dropped.is_none() {
                dropped[worse] = Some(why);
            }
        }
        // Preferences in a circle drop none of it where nothing else is left.
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

    /// Replaces `probabilities` by the chance with which each candidate is chosen, where `numbers` are their numeric
    /// preferences.
    pub fn choose(&self, choice: Choice, numbers: impl Fn(usize) -> f64, probabilities: &mut Vec<f64>) {
        let left = |i: usize| self.candidates[i].dropped.is_none();
        let n = self.candidates.len();
        let highest = (0..n).filter(|i| left(*i)).map(&numbers).fold(f64::NEG_INFINITY, f64::max);
        let weight = |i: usize| match choice {
            _ if !left(i) => 0.0,
            Choice::Boltzmann(temperature) => ((numbers(i) - highest) / temperature).exp(),
            Choice::Uniform => 1.0,
        };
        probabilities.clear();
        probabilities.extend((0..n).map(weight));
        let total: f64 = probabilities.iter().sum();
        probabilities.iter_mut().for_each(|p| *p /= total);
    }
}

/// Symbolic preferences over the candidates by place, each with the name of the rule that gave it.
#[derive(Clone, Debug, Default)]
pub struct Preferences {
    /// The first is better than the second.
    pub better: Vec<(usize, usize, &'static str)>,
    /// Better than everything that is not best.
    pub best: Vec<(usize, &'static str)>,
    /// Taken only if nothing else is left.
    pub worst: Vec<(usize, &'static str)>,
}

impl Preferences {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.better.clear();
        self.best.clear();
        self.worst.clear();
    }
}

/// Weighs actions by knowledge of a game.
pub trait Deliberator<G: Game>: Send + Sync {
    /// Name, as agents have it.
    fn name(&self) -> &str;

    /// Replaces `found` by the candidates of `player`, who is to move, with their chances of success and what dropped
    /// some of them. At least one is left. It reads only what that player knows.
    fn deliberate(&self, game: &G, state: &G::State, player: usize, found: &mut Deliberation<G::Action>);

    /// How one of those that are left is chosen.
    fn choice(&self) -> Choice;

    /// A condition in words, such as "four unknown dice".
    fn condition_text(&self, game: &G, condition: Condition) -> String;

    /// What a rule with these conditions is for, in words, such as "bid five 2's".
    fn operator_text(&self, game: &G, conditions: &[Condition]) -> String;
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
        settled.choose(Choice::Boltzmann(0.08), |i| preference(settled.candidates[i].success), &mut p);
        assert!((p[1] / p[0] - 1.0_f64.exp()).abs() < 1e-9 && p[2] == 0.0);
        settled.choose(Choice::Uniform, |_| 0.0, &mut p);
        assert_eq!(p, [0.5, 0.5, 0.0]);
    }
}
