//! Positions, and the circuit in the state of one.

use super::compiled::Compiled;
use super::effects::Facts;
use crate::bits::{each, holds};
use crate::net::{Net, Runner};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// No role.
pub(super) const NONE: u8 = u8::MAX;
/// Most consecutive steps without a choice.
pub(super) const FORCED: usize = 5_000;

/// A position: the facts that hold, and the role to move.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    pub(super) facts: Facts,
    /// Moves that roles have chosen in this step.
    pub(super) chosen: SmallVec<[u32; 2]>,
    pub(super) mover: u8,
    pub(super) last: u8,
    pub(super) is_over: bool,
}

/// A player's knowledge: everything except what others have chosen in this step.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Info {
    pub(super) facts: Facts,
    pub(super) own: Option<u32>,
    pub(super) mover: u8,
    pub(super) is_over: bool,
}

/// Results of random games.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trials {
    /// Moves that were one of several.
    pub(super) active: Vec<bool>,
    /// Whether two roles move alternately.
    pub(super) alternates: bool,
    /// Whether roles choose simultaneously.
    pub(super) hides: bool,
    /// Whether the effects of all moves were known.
    pub(super) is_lean: bool,
    /// Whether a game ended with intermediate goals, such as 75 to 25.
    pub(super) is_graded: bool,
    /// Observed sums of the goals of two roles.
    pub(super) sums: BTreeSet<u16>,
    /// Whether a game ended without a goal of some role.
    pub(super) lacks_goals: bool,
    /// Mean number of circuit nodes that a step changed.
    pub(super) work: u64,
}

/// A circuit that holds the state of a position.
pub(crate) struct Session {
    pub(super) runner: Runner,
    /// Whether this is the lean circuit.
    is_lean: bool,
    /// A session with the whole circuit, once a step of a lean session needed it.
    whole: Option<Box<Session>>,
}

/// Reasons that a random game ends too early.
pub(super) enum Fault {
    Stuck(usize),
    Goals(usize),
}

impl Session {
    pub(super) fn new(rules: &Compiled) -> Self {
        Self { runner: Runner::new(&rules.net, rules.facts.len()), is_lean: false, whole: None }
    }

    /// Creates a session with the lean circuit if the effects of moves are known, otherwise with the whole circuit.
    pub(super) fn fast(rules: &Compiled, tried: &Trials) -> Self {
        match &rules.lean {
            Some(lean) if tried.is_lean => {
                Self { runner: Runner::new(&lean.net, rules.facts.len()), is_lean: true, whole: None }
            }
            _ => Self::new(rules),
        }
    }

    fn net<'a>(&self, rules: &'a Compiled) -> &'a Net {
        match &rules.lean {
            Some(lean) if self.is_lean => &lean.net,
            _ => &rules.net,
        }
    }

    /// Whether it holds positions of this game.
    #[inline]
    pub(super) fn is_of(&self, rules: &Compiled) -> bool {
        self.runner.is_of(self.net(rules))
    }

    /// Moves the circuit to a position.
    #[inline]
    pub(super) fn go(&mut self, rules: &Compiled, facts: &Facts) {
        self.runner.go(self.net(rules), facts);
    }

    /// Makes a move for every role.
    pub(super) fn step(&mut self, rules: &Compiled, moves: &[u32]) {
        if let Some(lean) = rules.lean.as_ref().filter(|_| self.is_lean) {
            let next = match lean.folder.effects(moves) {
                Some(effects) => effects.apply(&self.runner.facts),
                None => {
                    let whole = self.whole.get_or_insert_with(|| Box::new(Self::new(rules)));
                    whole.go(rules, &self.runner.facts);
                    whole.step(rules, moves);
                    whole.runner.facts.clone()
                }
            };
            return self.go(rules, &next);
        }
        let first = rules.facts.len() as u32;
        for &number in moves {
            self.runner.set(&rules.net, first + number, true);
        }
        self.runner.settle(&rules.net);
        let next: Facts = SmallVec::from_slice(&self.runner.outputs[..self.runner.facts.len()]);
        for &number in moves {
            self.runner.set(&rules.net, first + number, false);
        }
        self.go(rules, &next);
    }

    #[cfg(test)]
    pub(super) fn holding(&self) -> &Facts {
        &self.runner.facts
    }

    #[cfg(test)]
    pub(super) fn outputs(&self) -> &[u64] {
        &self.runner.outputs
    }

    #[inline]
    pub(super) fn is_terminal(&self, rules: &Compiled) -> bool {
        self.runner.outputs[rules.end as usize] & 1 == 1
    }

    #[inline]
    pub(super) fn words(&self, rules: &Compiled, role: usize) -> &[u64] {
        let (begin, end) = rules.ranges[role];
        let first = rules.legal[role] as usize;
        &self.runner.outputs[first..first + (end - begin).div_ceil(64) as usize]
    }

    /// Number of legal moves of a role, capped at 2.
    #[inline]
    pub(super) fn choices(&self, rules: &Compiled, role: usize) -> u32 {
        let mut count = 0;
        for word in self.words(rules, role) {
            count += word.count_ones();
            if count > 1 {
                return 2;
            }
        }
        count
    }

    /// The next role with a choice in the same step.
    #[inline]
    pub(super) fn next_chooser(&self, rules: &Compiled, state: &State) -> Option<usize> {
        (usize::from(state.mover) + 1..rules.roles.len()).find(|&role| self.choices(rules, role) > 1)
    }

    /// The first legal move of a role.
    #[inline]
    pub(super) fn first(&self, rules: &Compiled, role: usize) -> u32 {
        let (begin, _) = rules.ranges[role];
        let words = self.words(rules, role).iter().zip(0..);
        let place =
            words.filter(|(word, _)| **word != 0).map(|(word, w)| w * 64 + word.trailing_zeros()).next();
        begin + place.unwrap_or(0)
    }

    /// Calls `visit` with each legal move of a role.
    #[inline]
    pub(super) fn each(&self, rules: &Compiled, role: usize, mut visit: impl FnMut(u32)) {
        let (begin, _) = rules.ranges[role];
        each(self.words(rules, role), |place| visit(begin + place as u32));
    }

    /// The goals of a role in descending order.
    pub(super) fn goals<'a>(&'a self, rules: &'a Compiled, role: usize) -> impl Iterator<Item = u8> + 'a {
        let bits = (rules.end as usize * 64 + 1..).zip(&rules.goals);
        bits.filter(move |&(bit, &(of, _))| usize::from(of) == role && holds(&self.runner.outputs, bit))
            .map(|(_, &(_, value))| value)
    }

    /// The facts that hold.
    pub(super) fn facts<'a>(&'a self, rules: &'a Compiled) -> impl Iterator<Item = usize> + 'a {
        (0..rules.facts.len()).filter(|&fact| holds(&self.runner.facts, fact))
    }

    /// Completes a state with known facts: finds the role to move or the end, and makes steps without choices.
    pub(super) fn arrive(
        &mut self,
        rules: &Compiled,
        tried: &Trials,
        state: &mut State,
    ) -> Result<(), Fault> {
        let roles = rules.roles.len();
        state.chosen.clear();
        for _ in 0..FORCED {
            (state.is_over, state.mover) = (true, 0);
            if self.is_terminal(rules) {
                break;
            }
            let mut mover = None;
            for role in 0..roles {
                match self.choices(rules, role) {
                    0 => {
                        state.facts.clone_from(&self.runner.facts);
                        return Err(Fault::Stuck(role));
                    }
                    1 => {}
                    _ => mover = mover.or(Some(role)),
                }
            }
            let forced = |session: &Self| {
                let is_active =
                    |&role: &usize| tried.active.get(session.first(rules, role) as usize) == Some(&true);
                let mut active = (0..roles).filter(is_active);
                active.next().filter(|_| active.next().is_none())
            };
            if let Some(mover) = mover.or_else(|| forced(self)) {
                (state.is_over, state.mover) = (false, mover as u8);
                break;
            }
            let moves: SmallVec<[u32; 4]> = (0..roles).map(|role| self.first(rules, role)).collect();
            self.step(rules, &moves);
        }
        state.facts.clone_from(&self.runner.facts);
        if state.is_over && tried.alternates && state.last != NONE {
            state.mover = 1 - state.last;
        }
        Ok(())
    }
}
