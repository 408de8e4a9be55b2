//! What a game offers besides its rules: encoders, agents, exact values, files.

use crate::agents::Agents;
use crate::audit::RuleText;
use crate::encoder::Encoders;
use crate::files::{PositionFiles, TextFiles};
use crate::game::Game;
use crate::numbering::Numbering;
use crate::positions::Positions;
use crate::public_tree::{TreeVisitor, has_public_tree};
use crate::random_play::{RandomPlay, Uniform};
use crate::records::Records;
use crate::results::Results;
use crate::suite::Suite;
use crate::values::Values;

/// A parsed position, with the action that led to it if known.
pub type ParsedPosition<G> = (<G as Game>::State, Option<<G as Game>::Action>);

/// A labelled position of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Example<S> {
    /// The position, right after a move and before a chance event or the next player's move.
    pub state: S,
    /// Its value to the player who just acted, in [−1, 1].
    pub value: f64,
    /// The probability of each class of outcomes for that player; empty if only the value is known.
    pub outcomes: Vec<f64>,
    /// Its line in the file, from 1.
    pub line: u64,
}

/// A game with everything that the commands need besides its rules. Only [`encoders`](Self::encoders) and
/// [`encoder`](Self::encoder) are required. The other methods are optional.
pub trait Kit: Game + Sized {
    /// One-line description, with the forms of the name if it takes parameters. By default, the name.
    fn about(&self) -> String {
        self.name().into()
    }

    /// Its encoders; the first is the default. Some names take a parameter after a colon or can be joined by `+`.
    fn encoders(&self) -> Encoders<'_, Self>;

    /// Its agents that need no network: rule-based policies, agents that explain themselves, other programs.
    fn agents(&self) -> Agents<'_, Self> {
        Agents::none()
    }

    /// What it knows of the value of its states: exact values, estimates, tables.
    fn values(&self) -> Values<'_, Self> {
        Values::none()
    }

    /// Whether all its states can be enumerated: at most [`limits::STATES`](adept_ground::limits::STATES), two million. Exact equity,
    /// minimax, best responses and exact values need this.
    fn is_small(&self) -> bool {
        false
    }

    /// Numbers of its actions.
    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::none()
    }

    /// The classes of its results.
    fn results(&self) -> Results<Self> {
        Results::unlisted()
    }

    /// Suites to measure by default.
    fn usual_suites(&self) -> Vec<Suite> {
        match has_public_tree(self) {
            true => vec![Suite::Exploitability],
            false if self.is_small() && !self.hides() => vec![Suite::Equity],
            false if !self.positions().is_empty() => vec![Suite::Rms],
            false => vec![Suite::Matches],
        }
    }

    /// The rest of a starter config, beginning with the line `encoder = …` of section `[game]`, or before it with `head = …`. It
    /// should train in about a minute and show that learning works. None selects a general one.
    fn starter(&self) -> Option<String> {
        None
    }

    /// The usual file format of its whole games. None if it has none.
    fn records(&self) -> Option<&dyn Records<Self>> {
        None
    }

    /// Its files of positions. By default, tables and lists of positions in its text form.
    fn files(&self) -> &dyn PositionFiles<Self> {
        &TextFiles
    }

    /// The text that its rules come from, for games that change without a new version of the program. None for games in Rust.
    fn rule_text(&self) -> Option<&dyn RuleText> {
        None
    }

    /// How random games are played from a state.
    fn random_play(&self) -> &dyn RandomPlay<Self> {
        &Uniform
    }

    /// A position as text for lists, which [`parse_position`](Game::parse_position) reads. By default its usual text; shorter if the
    /// game has another.
    fn short_text(&self, state: &Self::State) -> String {
        self.position_text(state)
    }

    /// Its positions apart from games: to learn from, and to measure on. Games with a single start position have none, and then the
    /// distribution [`PLAY`](crate::PLAY) has positions of random games.
    fn positions(&self) -> Positions<Self> {
        Positions::none()
    }

    /// Calls the visitor if this game is a [`PublicTree`](crate::PublicTree): a small two-player game with hidden
    /// information.
    fn with_public_tree<V: TreeVisitor<Self>>(&self, _visitor: V) -> Option<V::Output> {
        None
    }
}

/// Code that works for any game.
pub trait Visitor {
    /// Result type.
    type Output;

    /// Called with the selected game.
    fn visit<G: Kit>(self, game: G) -> Self::Output;
}
