//! What a game offers besides its rules.

use crate::agents::Agents;
use crate::audit::RuleText;
use crate::card::Card;
use crate::encoder::Encoders;
use crate::files::{self, Example, ParsedPosition};
use crate::game::{Game, GameError};
use crate::game_lines::GameLines;
use crate::numbering::Numbering;
use crate::positions::Positions;
use crate::public_tree::TreeVisitor;
use crate::random_play::{RandomPlay, Uniform};
use crate::records::Records;
use crate::results::Results;
use crate::sheet::Sheet;
use crate::texts::{Plain, Texts};
use crate::values::Values;
use std::path::Path;

/// A game with everything that the commands need besides its rules. Only [`encoders`](Self::encoders) is required.
///
/// Each other method hands out one capability: what the game has of agents, values, results, texts, files. A capability has one of two
/// forms.
///
/// - A struct, where games differ in what they have: [`Card`], [`Agents`], [`Values`], [`Positions`], [`Results`], [`Numbering`]. A game
///   fills in some fields and takes the others from a default: `Agents { strongest: Some("me"), ..Agents::none() }`. Things with names
///   are in a [`Listing`](crate::Listing), which tells the names and opens a thing by its name.
/// - A trait, where games differ in what they do: [`Texts`], [`Records`], [`PositionFiles`], [`RandomPlay`], [`RuleText`]. Its methods
///   take the game, as those of [`Encoder`](crate::Encoder) do, and most have defaults. A game implements it for a type of its own and
///   hands out a reference.
///
/// The documentation of a capability says what its users do with it. A feature for all games is a field or a method with a default in
/// one capability, and an entry in the games that have it: this trait does not grow.
///
/// Every method may be called often: it does not compute what takes long. A struct with closures opens tables and files when they are
/// asked for.
pub trait Kit: Game + Sized {
    /// How lists describe it, and how a first run begins. By default, its name, the suite that fits it, and a general config.
    fn card(&self) -> Card {
        Card::of(self)
    }

    /// Whether all its states can be enumerated: at most [`limits::STATES`](adept_ground::limits::STATES), two million. Exact equity,
    /// minimax, best responses and exact values need this.
    fn is_small(&self) -> bool {
        false
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

    /// Its positions apart from games: to learn from, and to measure on. Games with a single start position have none, and then the
    /// distribution [`PLAY`](crate::PLAY) has positions of random games.
    fn positions(&self) -> Positions<Self> {
        Positions::none()
    }

    /// The classes of its results, and rewards on the way.
    fn results(&self) -> Results<Self> {
        Results::unlisted()
    }

    /// Numbers of its actions.
    fn action_numbers(&self) -> Numbering<Self> {
        Numbering::none()
    }

    /// How it speaks to people: drawings, sentences, the rules in short.
    fn texts(&self) -> &dyn Texts<Self> {
        &Plain
    }

    /// The usual file format of its whole games. By default, lines of JSON.
    fn records(&self) -> &dyn Records<Self> {
        &GameLines
    }

    /// Its files of positions. By default, tables and lists of positions in its text form.
    fn files(&self) -> &dyn PositionFiles<Self> {
        &TextFiles
    }

    /// How random games are played from a state.
    fn random_play(&self) -> &dyn RandomPlay<Self> {
        &Uniform
    }

    /// The text that its rules come from, for games that change without a new version of the program. None for games in Rust.
    fn rule_text(&self) -> Option<&dyn RuleText> {
        None
    }

    /// Calls the visitor if this game is a [`PublicTree`](crate::PublicTree): a small two-player game with hidden
    /// information.
    fn with_public_tree<V: TreeVisitor<Self>>(&self, _visitor: V) -> Option<V::Output> {
        None
    }
}

/// Code that works for any game.
///
/// ```
/// use adept_game::{Kit, Visitor, tiny::Nim};
///
/// struct Encoders;
/// impl Visitor for Encoders {
///     type Output = usize;
///     fn visit<G: Kit>(self, game: G) -> usize {
///         game.encoders().names().len()
///     }
/// }
/// assert_eq!(Encoders.visit(Nim::default()), 1);
/// ```
pub trait Visitor {
    /// Result type.
    type Output;

    /// Called with the selected game.
    fn visit<G: Kit>(self, game: G) -> Self::Output;
}

/// The files of positions of a game. [`TextFiles`] has positions in the game's text form.
///
/// `value`, `evaluate` and `review` read positions, `[learn.supervised]` and `data` labelled positions; `value` writes them.
pub trait PositionFiles<G: Kit>: Send + Sync {
    /// Reads positions from a file: one per line in the game's text form, or a table with a column `position`. Empty lines and lines
    /// that begin with # are skipped.
    ///
    /// # Errors
    /// The line that is not a position.
    fn read(&self, game: &G, path: &Path) -> Result<Vec<ParsedPosition<G>>, GameError> {
        files::positions(game, &Sheet::read(path)?)
    }

    /// Reads labelled positions from a table in a text file; see [`sheet`](crate::sheet). By default, its columns are `position`,
    /// in the game's text form, and `value` or `win`: the value, or the probability of winning, for the player to move.
    ///
    /// # Errors
    /// The place of the fault, or that the game has no labelled files: it has hidden information, or sums that are not zero.
    fn read_examples(&self, game: &G, path: &Path) -> Result<Vec<Example<G::State>>, GameError> {
        files::read_examples(game, &game.results(), path)
    }

    /// Whether a file has a value for each position, so that [`read_examples`](Self::read_examples) can read it.
    ///
    /// # Errors
    /// An I/O error, or a pipe, which could not be read again.
    fn has_values(&self, game: &G, path: &Path) -> Result<bool, GameError> {
        files::has_values(game, &game.results(), path)
    }

    /// A CSV file of positions and their values to the player to move, in the format that [`read`](Self::read) reads.
    ///
    /// ```
    /// use adept_game::{Game, PositionFiles, TextFiles, tiny::Nim};
    ///
    /// let game = Nim::default();
    /// let csv = TextFiles.write(&game, &[(game.start(), None)], &[0.5]);
    /// assert_eq!(csv, "position,value\n\"3 4 5 @1\",0.500000000\n");
    /// ```
    fn write(&self, game: &G, positions: &[ParsedPosition<G>], values: &[f32]) -> String {
        files::write(game, game.texts(), positions, values)
    }
}

/// Files of positions in the game's text form.
pub struct TextFiles;

impl<G: Kit> PositionFiles<G> for TextFiles {}
