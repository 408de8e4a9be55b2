//! Random games in the notation of the rules: for authors, and for comparison with other programs.

use super::game::Described;
use super::session::Session;
use crate::counting::LONGEST;
use crate::text::lengths;
use adept_game::{Audit, Game, Stream, TraceStep, stream};
use rand::RngExt;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// Most names in a note.
const NAMES: usize = 8;

impl Described {
    /// Plays a random game in which every role chooses among all its legal moves, forced or not.
    pub(crate) fn random_game(&self, seed: u64, mut visit: impl FnMut(&Session, &[u32]) -> bool) {
        let rules = &*self.rules;
        let mut rng: Stream = stream(seed, "random games", 0);
        let mut session = Session::new(rules);
        session.go(rules, &rules.start);
        for _ in 0..LONGEST {
            let mut moves: SmallVec<[u32; 4]> = SmallVec::new();
            if !session.is_terminal(rules) {
                for role in 0..rules.roles.len() {
                    let mut legal: SmallVec<[u32; 64]> = SmallVec::new();
                    session.each(rules, role, |number| legal.push(number));
                    if legal.is_empty() {
                        break;
                    }
                    moves.push(legal[rng.random_range(0..legal.len())]);
                }
            }
            if !visit(&session, &moves) || moves.len() < rules.roles.len() {
                return;
            }
            session.step(rules, &moves);
        }
    }

    pub(crate) fn traced(&self, seed: u64) -> Vec<TraceStep> {
        let rules = &*self.rules;
        let mut steps = Vec::new();
        self.random_game(seed, |session, moves| {
            let of = |number: u32| rules.terms.written(rules.moves[number as usize].1);
            let legal = (0..rules.roles.len()).map(|role| {
                let mut legal = Vec::new();
                session.each(rules, role, |number| legal.push(of(number)));
                legal
            });
            let goals =
                (0..rules.roles.len()).map(|role| session.goals(rules, role).map(i64::from).collect());
            steps.push(TraceStep {
                facts: session.facts(rules).map(|fact| rules.terms.written(rules.facts[fact])).collect(),
                legal: legal.collect(),
                moves: moves.iter().map(|&number| of(number)).collect(),
                is_over: session.is_terminal(rules),
                goals: goals.collect(),
            });
            true
        });
        steps
    }

    pub(crate) fn audited(&self, games: u64) -> Audit {
        let rules = &*self.rules;
        let roles = rules.roles.len();
        let mut used = vec![false; rules.moves.len()];
        let mut choosers = vec![0_u64; roles];
        let (mut played, mut ends) = (Vec::new(), vec![BTreeMap::<Option<i64>, u64>::new(); roles]);
        let (mut stuck, mut double, mut endless, mut together) = (0_u64, 0_u64, 0_u64, 0_u64);
        for seed in 0..games {
            let (mut steps, mut is_over) = (0, false);
            self.random_game(seed, |session, moves| {
                moves.iter().for_each(|&number| used[number as usize] = true);
                for (role, count) in choosers.iter_mut().enumerate() {
                    *count += u64::from(!session.is_terminal(rules) && session.choices(rules, role) > 1);
                }
                let several = (0..roles).filter(|&role| session.choices(rules, role) > 1).count() > 1;
                together += u64::from(several && !session.is_terminal(rules));
                if session.is_terminal(rules) {
                    is_over = true;
                    for (role, ends) in ends.iter_mut().enumerate() {
                        let goals: Vec<i64> = session.goals(rules, role).map(i64::from).collect();
                        double += u64::from(goals.len() > 1);
                        *ends.entry(goals.first().copied()).or_default() += 1;
                    }
                } else if moves.len() < roles {
                    is_over = true;
                    stuck += 1;
                } else {
                    steps += 1;
                }
                true
            });
            endless += u64::from(!is_over);
            played.push(steps);
        }
        let name = |role: usize| rules.terms.shown(rules.roles[role]);
        let mut facts: Vec<(String, String)> = vec![
            ("roles".into(), (0..roles).map(name).collect::<Vec<_>>().join(", ")),
            ("facts".into(), rules.facts.len().to_string()),
            ("moves".into(), rules.moves.len().to_string()),
            ("gates".into(), rules.net.len().to_string()),
            ("circles".into(), rules.net.cycles().to_string()),
            ("who moves".into(), self.turns().into()),
        ];
        if roles == 2 {
            facts.push(("sum of goals".into(), self.sums().into()));
        }
        facts.extend(lengths(played, "steps"));
        for (role, ends) in ends.iter().enumerate() {
            let shown = ends.iter().map(|(goal, count)| {
                format!("{} in {count}", goal.map_or("none".into(), |goal| goal.to_string()))
            });
            facts.push((format!("goal of {}", name(role)), shown.collect::<Vec<_>>().join(", ")));
        }
        let mut notes = [&rules.notes[..], &rules.unused].concat();
        if together > 0 && !self.hides() {
            notes.push(format!(
                "in {together} positions several roles had a choice; the 8 games when the file was read did not meet one, so a later role \
                 sees what an earlier one has chosen"
            ));
        }
        if stuck > 0 {
            notes.push(format!(
                "{stuck} games came to a state that is not the end and in which a role has no legal move"
            ));
        }
        if double > 0 {
            notes.push(format!("{double} times a game ended with more than one goal of a role"));
        }
        if endless > 0 {
            notes.push(format!("{endless} games did not end in {LONGEST} steps"));
        }
        for (role, ends) in ends.iter().enumerate() {
            if let Some(count) = ends.get(&None) {
                notes.push(format!("{count} games ended without a goal of {}; it counts 0", name(role)));
            }
            let goals = rules.goals.iter().filter(|(of, _)| usize::from(*of) == role);
            let never: Vec<String> = goals
                .map(|(_, value)| i64::from(*value))
                .filter(|value| !ends.contains_key(&Some(*value)))
                .map(|value| value.to_string())
                .collect();
            if !never.is_empty() {
                notes.push(format!("no game ended with goal {} of {}", never.join(" or "), name(role)));
            }
        }
        for (role, _) in choosers.iter().enumerate().filter(|(_, count)| **count == 0) {
            notes.push(format!("{} never had a choice", name(role)));
        }
        let unused: Vec<usize> = (0..rules.moves.len()).filter(|&number| !used[number]).collect();
        if !unused.is_empty() {
            let some: Vec<String> =
                unused.iter().take(NAMES).map(|&number| rules.terms.shown(rules.moves[number].1)).collect();
            let more = if unused.len() > NAMES { ", …" } else { "" };
            let were = if unused.len() == 1 { "move was" } else { "moves were" };
            notes.push(format!("{} {were} never made: {}{more}", unused.len(), some.join(", ")));
        }
        let never = rules.never.iter();
        notes.extend(never.map(|place| format!("line {}: this rule can never apply", place.line)));
        Audit { facts, notes }
    }
}
