//! Games as text that repeats them.

use serde::{Deserialize, Serialize};

/// What a game needs to be played again up to its position. Chance is drawn again from the seed; what players did, agents too, is read
/// from its text, because an agent with a time limit may answer otherwise.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// [`Record::FORMAT`].
    pub format: String,
    /// Rule set.
    pub game: String,
    /// Name of the agent in all other seats.
    pub opponent: String,
    /// The person's seat, from 1.
    pub seat: usize,
    /// Seed of the dice and of the agent's random draws.
    pub seed: u64,
    /// The starting position, unless it is the start of the game.
    pub from: Option<String>,
    /// The number that changes with every move and every undo.
    pub turn: u64,
    /// What the players did, in order.
    pub actions: Vec<String>,
    /// The class of results with which the person resigned, if that was not an action of the game.
    pub resigned: Option<String>,
    /// Whether the game is over.
    pub over: bool,
    /// The position to which all this leads: if it leads elsewhere, the rules have changed.
    pub position: String,
}

impl Record {
    /// Name of the format, with its version.
    pub const FORMAT: &str = "adept-game-1";
    /// Largest number of events of a game: a longer one cannot be played on or repeated.
    pub(crate) const EVENTS: usize = 20_000;
    /// Largest turn, so that JavaScript represents it exactly.
    pub(crate) const TURN: u64 = 1 << 53;
}

/// A whole game in the usual format of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct History {
    /// Suffix of such files, such as `mat`.
    pub suffix: &'static str,
    /// The text of the file.
    pub text: String,
}
