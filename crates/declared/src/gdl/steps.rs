//! A match as game managers run it: in every step every role makes a move, even if it has only one.

use super::game::Described;
use super::kif::{expressions, written};
use super::session::{Session, State};
use adept_game::Game;
use rustc_hash::FxHashMap;

/// A match of a described game, step by step.
pub struct Steps {
    game: Described,
    session: Session,
    /// Moves by role and text.
    moves: FxHashMap<(u8, String), u32>,
    /// The role that chose last.
    last: Option<usize>,
}

impl Steps {
    /// Starts a match.
    pub fn new(game: &Described) -> Self {
        let rules = &*game.rules;
        let mut session = Session::new(rules);
        session.go(rules, &rules.start);
        let moves = rules.moves.iter().zip(0..);
        let moves =
            moves.map(|(&(role, what), number)| ((role, rules.terms.written(what)), number)).collect();
        Self { game: game.clone(), session, moves, last: None }
    }

    /// The game.
    pub fn game(&self) -> &Described {
        &self.game
    }

    /// The names of the roles in order.
    pub fn roles(&self) -> Vec<String> {
        let rules = &*self.game.rules;
        rules.roles.iter().map(|&role| rules.terms.written(role)).collect()
    }

    /// Whether the match is over.
    pub fn is_over(&self) -> bool {
        self.session.is_terminal(&self.game.rules)
    }

    /// The legal moves of a role.
    pub fn legal(&self, role: usize) -> Vec<u32> {
        let mut legal = Vec::new();
        self.session.each(&self.game.rules, role, |number| legal.push(number));
        legal
    }

    /// The goal of a role, 0 to 100, if it has one.
    pub fn goal(&self, role: usize) -> Option<u8> {
        self.session.goals(&self.game.rules, role).next()
    }

    /// A move in GDL, in lowercase.
    pub fn written(&self, number: u32) -> String {
        let rules = &*self.game.rules;
        rules.terms.written(rules.moves[number as usize].1)
    }

    /// The move of a role with this text in GDL, legal or not. Case and white space are ignored.
    pub fn find(&self, role: usize, text: &str) -> Option<u32> {
        let role = u8::try_from(role).ok()?;
        match &expressions(text).ok()?[..] {
            [one] => self.moves.get(&(role, written(one))).copied(),
            _ => None,
        }
    }

    /// Makes a move of every role, in the order of the roles. The moves must belong to their roles.
    pub fn step(&mut self, moves: &[u32]) {
        let rules = &*self.game.rules;
        let mut choosers = (0..rules.roles.len()).filter(|&role| self.session.choices(rules, role) > 1);
        self.last = choosers.next_back().or(self.last);
        self.session.step(rules, moves);
    }

    /// The game state in which this role has a choice: it does not know what others choose in the same step.
    pub fn state(&self, role: usize) -> State {
        self.game.state_at(&self.session, role, self.last)
    }

    /// Each role's utility at the end.
    pub fn utilities(&self) -> Vec<f64> {
        let mut state = self.game.state_at(&self.session, 0, self.last);
        state.is_over = self.is_over();
        (0..self.game.players()).map(|role| self.game.utility(&state, role)).collect()
    }
}
