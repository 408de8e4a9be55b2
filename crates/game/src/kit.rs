//! What a program offers for a game beside its rules: encoders, agents, exact values, files.

use crate::deliberation::Deliberator;
use crate::encoder::{Afterstate, Encoder};
use crate::files;
use crate::game::{Game, GameError};
use crate::halves::Halves;
use crate::public_tree::TreeVisitor;
use crate::suite::Suite;
use rand::Rng;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// A name that users write, and one line about what it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name, or its form with parameters behind colons.
    pub name: Cow<'static, str>,
    /// One line for lists.
    pub about: Cow<'static, str>,
}

impl Named {
    /// Names with a line each.
    pub fn list(entries: &[(&'static str, &'static str)]) -> Vec<Self> {
        entries.iter().map(|&(name, about)| Self { name: name.into(), about: about.into() }).collect()
    }
}

/// What a game itself knows of the value of its states: exact tables, formulas.
pub trait Valuation<G: Game>: Send + Sync {
    /// Value of a state right after an action for the player who acted, in [−1, 1] (utility divided by the
    /// game's scale); NaN where nothing is known.
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64;

    /// Asks memory for what [`value`](Self::value) of this state will read.
    fn fetch(&self, _game: &G, _after: Afterstate<'_, G>) {}
}

/// A policy written down as a rule: fills `probabilities[i]` for `actions[i]`, summing to 1.
pub type Script<G> =
    Arc<dyn Fn(&G, &<G as Game>::State, &[<G as Game>::Action], &mut Vec<f64>) + Send + Sync>;

/// Something asked for by name: none if the game has nothing of that name, an error if it cannot be had.
pub type Found<T> = Option<Result<T, GameError>>;

/// A position that was read, with the action that led to it where that is known.
pub type Read<G> = (<G as Game>::State, Option<<G as Game>::Action>);

/// Samples positions of a distribution: states before chance and then a player, right after a move of another.
pub type Draw<G> = Box<dyn Fn(&mut dyn Rng) -> <G as Game>::State + Send + Sync>;

/// A game with everything that the commands need beside its rules. Only [`encoders`](Self::encoders)
/// and [`encoder`](Self::encoder) must be written; the rest is there for games that have more to offer.
pub trait Kit: Game + Sized {
    /// One line about the game, with the forms of its name if it takes parameters; by default its name.
    fn about(&self) -> String {
        self.name().into()
    }

    /// Its encoders; the first is the default.
    fn encoders(&self) -> Vec<Named>;

    /// The encoder of that name; some names take a parameter behind a colon, or may be joined by `+`.
    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>>;

    /// Whether all its states may be gone through: exact equity, minimax and best responses are offered only then.
    /// Some 10 million states are the limit.
    fn is_small(&self) -> bool {
        false
    }

    /// What is measured where nothing else is asked for.
    fn usual_suites(&self) -> Vec<Suite> {
        match self.has_public_tree() {
            true => vec![Suite::Exploitability],
            false if self.is_small() => vec![Suite::Equity],
            false if !self.distributions().is_empty() => vec![Suite::Rms],
            false => vec![Suite::Matches],
        }
    }

    /// The rest of a config to start from, from the line `encoder = …` of its section `[game]` on. It should train in a
    /// minute or so and show that learning works. None takes a general one.
    fn starter(&self) -> Option<String> {
        None
    }

    /// Rule-written policies by name, such as fixed opponents.
    fn scripts(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The rule-written policy of that name.
    fn script(&self, _name: &str) -> Option<Script<Self>> {
        None
    }

    /// Its valuations, which also play. One called `oracle` is exact: examples and errors are taken from it.
    fn valuations(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The valuation of that name; some take a parameter behind a colon.
    fn valuation(&self, _name: &str) -> Found<Arc<dyn Valuation<Self>>> {
        None
    }

    /// The exact valuation by which lost value is measured: it must tell apart choices that differ by 1e-6. That is
    /// `oracle` unless another one is finer.
    fn judge(&self) -> Found<Arc<dyn Valuation<Self>>> {
        self.valuation("oracle")
    }

    /// Its deliberating agents.
    fn deliberators(&self) -> Vec<Named> {
        Vec::new()
    }

    /// The deliberating agent of that name, with some of its settings changed: an object, or null. An error says which
    /// of them is wrong.
    fn deliberator(&self, _name: &str, _settings: &serde_json::Value) -> Found<Arc<dyn Deliberator<Self>>> {
        None
    }

    /// Its distributions of positions; the first is the default. Games that always begin in one place have none.
    fn distributions(&self) -> Vec<Named> {
        Vec::new()
    }

    /// Samples positions of the distribution of that name.
    fn draw(&self, _distribution: &str) -> Option<Draw<Self>> {
        None
    }

    /// A number of its own for each position that [`draw`](Self::draw) may give.
    fn number(&self, _state: &Self::State) -> u64 {
        0
    }

    /// What [`class`](Self::class) counts, such as "stones on the board"; reports show errors by it.
    fn class_name(&self) -> Cow<'static, str> {
        "class".into()
    }

    /// The class of a position that [`draw`](Self::draw) may give.
    fn class(&self, _state: &Self::State) -> u64 {
        0
    }

    /// Its positions as pairs of halves with exact values, for games in which all of them can be gone through.
    fn halves(&self) -> Found<Box<dyn Halves<Self>>> {
        None
    }

    /// Whether [`with_public_tree`](Self::with_public_tree) calls the visitor.
    fn has_public_tree(&self) -> bool {
        false
    }

    /// Calls the visitor with this game as a public tree, if it is one: a small two-player game with hidden
    /// information.
    fn with_public_tree<V: TreeVisitor<Self>>(&self, _visitor: V) -> Option<V::Output> {
        None
    }

    /// Reads labelled positions from a CSV file: states, and their values to the player who just acted, in [−1, 1].
    ///
    /// # Errors
    /// The place of what cannot be read, or that the game has no such files.
    fn read_examples(&self, path: &Path) -> Result<Vec<(Self::State, f64)>, GameError> {
        Err(GameError(format!("{}: {} has no files of examples", path.display(), self.name())))
    }

    /// Whether a file has a value beside each position, so that [`read_examples`](Self::read_examples) reads it.
    ///
    /// # Errors
    /// What the system refused.
    fn has_values(&self, _path: &Path) -> Result<bool, GameError> {
        Ok(false)
    }

    /// Reads the positions of a file: one a line in the game's text form, where empty lines and those that begin with #
    /// are skipped, or a CSV file whose first column is `position`.
    ///
    /// # Errors
    /// The line of what is not a position.
    fn read_positions(&self, path: &Path) -> Result<Vec<Read<Self>>, GameError> {
        files::lines_of_positions(self, path)
    }

    /// A CSV file of positions and their values to the player to move, which
    /// [`read_positions`](Self::read_positions) reads.
    fn values_file(&self, positions: &[Read<Self>], values: &[f32]) -> String {
        files::texts_with_values(self, positions, values)
    }
}

/// Code that works for any game.
pub trait Visitor {
    /// What it gives.
    type Output;

    /// Is called with the game that was asked for.
    fn visit<G: Kit>(self, game: G) -> Self::Output;
}
