//! What a game offers besides its rules.

use crate::agents::Agents;
use crate::audit::RuleText;
use crate::card::Card;
use crate::encoder::Encoders;
use crate::files::{PositionFiles, TextFiles};
use crate::game::Game;
use crate::numbering::Numbering;
use crate::positions::Positions;
use crate::public_tree::TreeVisitor;
use crate::random_play::{RandomPlay, Uniform};
use crate::records::Records;
use crate::results::Results;
use crate::texts::{Plain, Texts};
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

    /// The usual file format of its whole games. None if it has none.
    fn records(&self) -> Option<&dyn Records<Self>> {
        None
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
