//! Diagnostics for authors of rule files: statistics of random games, and whether the players play the same game.

use super::declared::Declared;
use super::state::{NONE, State, Status};
use crate::counting::LONGEST;
use crate::text::lengths;
use adept_game::{Audit, Game, Stream, Turn, stream};
use rand::RngExt;
use std::collections::{BTreeMap, BTreeSet};

impl Declared {
    /// The position with the players exchanged: player 1's facts become player 2's, and so on.
    pub(crate) fn with_players_exchanged(&self, state: &State) -> State {
        let next = |player: u8| if player == NONE { NONE } else { self.rules.next(player) };
        let mut other = state.clone();
        for (fact, (relation, _)) in self.rules.facts.iter().enumerate() {
            if self.players() > 1 && !self.rules.declaration.relations[*relation].is_fixed {
                other.write(self.rules.turned[1][fact], state.holds(fact));
            }
        }
        (other.mover, other.last) = (next(state.mover), next(state.last));
        other.status = self.exchanged_status(state.status);
        other
    }

    fn exchanged_status(&self, status: Status) -> Status {
        match status {
            Status::Won(player, amount) => Status::Won(self.rules.next(player), amount),
            Status::Lost(player, amount) => Status::Lost(self.rules.next(player), amount),
            status => status,
        }
    }

    /// Possible actions in a position, of the player to move or of chance.
    fn choices(&self, state: &State) -> Vec<u32> {
        let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
        match self.turn(state) {
            Turn::Player(_) => self.actions(state, &mut actions),
            Turn::Chance => {
                self.outcomes(state, &mut outcomes);
                actions.extend(outcomes.into_iter().map(|(outcome, _)| outcome));
            }
            Turn::Over => {}
        }
        actions
    }

    fn outcome(&self, state: &State) -> String {
        match state.status {
            Status::Going | Status::Chance => "the game goes on".into(),
            Status::Won(player, _) => format!("player {} wins", player + 1),
            Status::Lost(player, _) => format!("player {} loses", player + 1),
            Status::Drawn => "the game is a draw".into(),
        }
    }

    /// Describes a difference between a position and its exchanged copy: in the winner, or in a move that only one of
    /// them has.
    fn difference(&self, state: &State, other: &State) -> Option<String> {
        if other.status != self.exchanged_status(state.status) {
            let [here, there] = [state, other].map(|state| self.position_text(state));
            let [here_ends, there_ends] = [state, other].map(|state| self.outcome(state));
            return Some(format!(
                "at `{here}` {here_ends}, but with the players exchanged, at `{there}`, {there_ends}"
            ));
        }
        let [here, there] = [state, other].map(|state| BTreeSet::from_iter(self.choices(state)));
        let found = here.difference(&there).next().map(|&action| (state, other, action));
        let found = found.or_else(|| there.difference(&here).next().map(|&action| (other, state, action)));
        found.map(|(here, there, action)| {
            let (action, [here, there]) =
                (self.action_text(here, &action), [here, there].map(|state| self.position_text(state)));
            format!("`{action}` is legal at `{here}`, but not its counterpart at `{there}`, with the players exchanged")
        })
    }

    /// Plays random games in parallel with their exchanged copies and returns the first difference, if any. The flip
    /// promises that there is none. Makes `most` moves at most.
    pub(crate) fn asymmetry(&self, games: u64, most: usize) -> Option<String> {
        let mut left = most;
        for seed in 0..games {
            let mut rng: Stream = stream(seed, "exchanged games", 0);
            let (mut state, mut other) = (self.start(), self.with_players_exchanged(&self.start()));
            other.status = self.status_of(&other, None);
            for _ in 0..LONGEST {
                if let Some(found) = self.difference(&state, &other) {
                    return Some(found);
                }
                let choices = self.choices(&state);
                if choices.is_empty() || left == 0 {
                    break;
                }
                left -= 1;
                let action = choices[rng.random_range(0..choices.len())];
                self.apply(&mut state, &action);
                self.apply(&mut other, &action);
            }
        }
        None
    }

    /// Plays random games and reports their statistics.
    pub(crate) fn audited(&self, games: u64) -> Audit {
        let declaration = &self.rules.declaration;
        let (mut played, mut ends) = (Vec::new(), BTreeMap::<String, u64>::new());
        for seed in 0..games {
            let mut rng: Stream = stream(seed, "random games", 0);
            let (mut state, mut moves) = (self.start(), 0_usize);
            while moves < LONGEST {
                let choices = self.choices(&state);
                if choices.is_empty() {
                    break;
                }
                self.apply(&mut state, &choices[rng.random_range(0..choices.len())]);
                moves += 1;
            }
            played.push(moves);
            *ends.entry(self.outcome(&state)).or_default() += 1;
        }
        let names = |test: &dyn Fn(&super::declaration::Relation) -> bool| -> Vec<&str> {
            declaration.relations.iter().filter(|of| test(of)).map(|of| of.name.as_str()).collect()
        };
        let fixed = names(&|of| of.is_fixed);
        let seen = names(&|of| {
            of.kind == super::declaration::Kind::Static
                && !of.types.is_empty()
                && !of.is_same_flipped(&declaration.types)
        });
        let players = self.players();
        let mut facts: Vec<(String, String)> = vec![
            ("players".into(), players.to_string()),
            ("facts".into(), self.rules.facts.len().to_string()),
            ("moves".into(), self.rules.acts.to_string()),
        ];
        if let Some(lengths) = lengths(played, "moves") {
            facts.push(lengths);
            let ends: Vec<String> = ends.iter().map(|(end, count)| format!("{end} in {count}")).collect();
            facts.push(("ends".into(), ends.join(", ")));
        }
        if players > 1 {
            if !fixed.is_empty() {
                facts.push(("static for each player".into(), fixed.join(", ")));
            }
            if !seen.is_empty() {
                facts.push(("static as the mover sees it".into(), seen.join(", ")));
            }
        }
        let asymmetry = if players > 1 { self.asymmetry(games, usize::MAX) } else { None };
        let notes = asymmetry.map(|found| {
            format!("the players do not play the same game, although `flip` exchanges them: {found}")
        });
        Audit { facts, notes: notes.into_iter().collect() }
    }
}
