//! What lists, checks and messages need to know of a game, without its types.

use crate::kit::{Kit, Named};
use crate::suite::Suite;

/// A game in words.
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// Name of the rule set.
    pub name: String,
    /// One line about it.
    pub about: String,
    /// Its encoders.
    pub encoders: Vec<Named>,
    /// Its scripted agents.
    pub scripts: Vec<Named>,
    /// Its valuations, which also play.
    pub valuations: Vec<Named>,
    /// Its deliberating agents.
    pub deliberators: Vec<Named>,
    /// Its distributions of positions.
    pub distributions: Vec<Named>,
    /// What is measured where nothing else is asked for.
    pub usual_suites: Vec<Suite>,
    /// Whether all its states may be gone through: exact equity, minimax, best responses.
    pub is_small: bool,
    /// Whether players do not see all of a state.
    pub hides: bool,
    /// Whether it is a small two-player game with hidden information that can be solved.
    pub has_public_tree: bool,
    /// Number of players.
    pub players: usize,
}

impl GameInfo {
    /// Describes a game.
    pub fn of<G: Kit>(game: &G) -> Self {
        Self {
            name: game.name().into(),
            about: game.about(),
            encoders: game.encoders(),
            scripts: game.scripts(),
            valuations: game.valuations(),
            deliberators: game.deliberators(),
            distributions: game.distributions(),
            usual_suites: game.usual_suites(),
            is_small: game.is_small(),
            hides: game.hides(),
            has_public_tree: game.has_public_tree(),
            players: game.players(),
        }
    }

    /// Names of agents that the game itself has and that can learn or play without a checkpoint, with `random` and, in
    /// small games, the exact ones.
    pub fn agents(&self) -> Vec<String> {
        let own = self.scripts.iter().chain(&self.valuations).chain(&self.deliberators);
        let mut names: Vec<String> = own.map(|named| named.name.to_string()).collect();
        names.push("random".into());
        if self.is_small {
            names.extend(["minimax".into(), "optimal:AGENT".into()]);
        }
        names
    }
}
