//! A description of a game without its types, for lists, checks and messages.

use crate::derived::{distributions, has_public_tree, is_solved, outcome_classes};
use crate::game::{GameError, Unit};
use crate::kit::Kit;
use crate::listing::Named;
use crate::play::PLAY;
use crate::suite::Suite;
use adept_rows::OutcomeClass;

/// Description of a game.
///
/// ```
/// use adept_game::{GameInfo, tiny::{Bluff, Nim}};
///
/// let (nim, bluff) = (GameInfo::of(&Nim::default()), GameInfo::of(&Bluff));
/// assert_eq!((&*nim.name, nim.players, nim.is_solved), ("nim", 2, true));
/// assert!(bluff.hides && !bluff.is_solved);
/// ```
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// Name of the rule set.
    pub name: String,
    /// One-line description.
    pub about: String,
    /// Its encoders.
    pub encoders: Vec<Named>,
    /// Its scripted agents.
    pub scripts: Vec<Named>,
    /// Its valuations, which can also play as agents.
    pub valuations: Vec<Named>,
    /// Its deliberating agents.
    pub deliberators: Vec<Named>,
    /// The other programs that can play as agents.
    pub peers: Vec<Named>,
    /// Its distributions of positions.
    pub distributions: Vec<Named>,
    /// Suites to measure by default.
    pub usual_suites: Vec<Suite>,
    /// Whether all its states can be enumerated, for exact equity, minimax and best responses.
    pub is_small: bool,
    /// Whether all its values can be found by solving it.
    pub is_solved: bool,
    /// Whether it is a two-player zero-sum game.
    pub zero_sum: bool,
    /// Whether the game has hidden information.
    pub hides: bool,
    /// Whether players know all but what others choose at the same time.
    pub is_open: bool,
    /// Whether it is a small two-player game with hidden information that solvers support.
    pub has_public_tree: bool,
    /// Number of players.
    pub players: usize,
    /// The largest utility.
    pub scale: f64,
    /// How results of matches are counted; `None` for points.
    pub unit: Option<Unit>,
    /// The classes of its results, or why they are not listed.
    pub outcomes: Result<Vec<OutcomeClass>, GameError>,
}

impl GameInfo {
    /// Describes a game.
    pub fn of<G: Kit>(game: &G) -> Self {
        let (agents, card) = (game.agents(), game.card());
        Self {
            name: game.name().into(),
            about: card.about,
            encoders: game.encoders().names().to_vec(),
            scripts: agents.scripts.names().to_vec(),
            valuations: game.values().valuations.names().to_vec(),
            deliberators: agents.deliberators.names().to_vec(),
            peers: agents.peers.names().to_vec(),
            distributions: distributions(game),
            usual_suites: card.suites,
            is_small: game.is_small(),
            is_solved: is_solved(game),
            zero_sum: game.zero_sum(),
            hides: game.hides(),
            is_open: game.random_play().before_choices(game, &game.start()).is_some(),
            has_public_tree: has_public_tree(game),
            players: game.players(),
            scale: game.scale(),
            unit: game.counting().unit(),
            outcomes: outcome_classes(game),
        }
    }

    /// Names of agents that need no checkpoint: the game's own, `random`, those that play random games, and in small games
    /// the exact ones.
    ///
    /// ```
    /// use adept_game::{GameInfo, tiny::Nim};
    ///
    /// let names = GameInfo::of(&Nim::default()).agents();
    /// assert_eq!(names, ["random", "playouts:N", "uct:N", "minimax", "optimal:AGENT"]);
    /// ```
    pub fn agents(&self) -> Vec<String> {
        let own = self.scripts.iter().chain(&self.valuations).chain(&self.deliberators).chain(&self.peers);
        let mut names: Vec<String> = own.map(|named| named.name.to_string()).collect();
        names.push("random".into());
        if self.is_open {
            names.extend(["playouts:N".into(), "uct:N".into()]);
        }
        if self.is_small && !self.hides {
            names.extend(["minimax".into(), "optimal:AGENT".into()]);
        }
        names
    }

    /// Whether positions have exact values: those of the game's own oracle, or of the solver of small games.
    pub fn has_exact_values(&self) -> bool {
        self.is_solved || self.valuations.iter().any(|known| known.name == "oracle")
    }

    /// Whether it has distributions of its own, apart from games.
    pub fn has_own_distributions(&self) -> bool {
        self.distributions.iter().any(|known| known.name != PLAY)
    }
}
