//! The agents of a game that need no network.

use crate::deliberation::Deliberator;
use crate::game::{Game, GameError};
use crate::listing::Listing;
use crate::peer::Peer;
use std::sync::Arc;

/// A rule-based policy. Sets `probabilities[i]` for `actions[i]`; they sum to 1.
pub type Script<G> =
    Arc<dyn Fn(&G, &<G as Game>::State, &[<G as Game>::Action], &mut Vec<f64>) + Send + Sync>;

/// Text about a decision of a player: lines that end with a line break.
pub type Advice<G> = fn(&G, &<G as Game>::State, usize) -> Option<String>;

/// The measured result of a level of play against the level `strong` of the same game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelResult {
    /// Its name, such as `easy`.
    pub level: &'static str,
    /// The mean result of a game in the unit of the game; without a unit, the share of games won, where a draw is half a win.
    pub value: f64,
    /// Half the width of its 95 % interval.
    pub ci95: f64,
}

impl LevelResult {
    /// A result by its three parts.
    pub const fn new(level: &'static str, value: f64, ci95: f64) -> Self {
        Self { level, value, ci95 }
    }
}

/// The agents of a game that need no network. They play in matches, teach networks, and are measured against. [`Self::none`] has none.
///
/// The commands open them by name, as opponents (`arena`, `play`), for the levels of play, and as experts in encoders.
///
/// A policy that takes the first action:
///
/// ```
/// use adept_game::{Agents, Game, Listing, Script, tiny::{Nim, Take}};
/// use std::sync::Arc;
///
/// let first: Script<Nim> = Arc::new(|_: &Nim, _: &<Nim as Game>::State, actions: &[Take], p: &mut Vec<f64>| {
///     p.clear();
///     p.extend((0..actions.len()).map(|i| if i == 0 { 1.0 } else { 0.0 }));
/// });
/// let agents = Agents::scripts(Listing::one("first", "takes the first action", first));
/// assert!(agents.scripts.open("first").is_some() && agents.strongest.is_none());
/// ```
pub struct Agents<'a, G: Game> {
    /// Rule-based policies, such as fixed opponents.
    pub scripts: Listing<'a, Script<G>>,
    /// Agents that explain their decisions.
    pub deliberators: Listing<'a, Result<Arc<dyn Deliberator<G>>, GameError>>,
    /// Other programs: a name, and after a colon where the program is found. It is reached when it is opened, so that a program that
    /// is missing is an error there and not within a match.
    pub peers: Listing<'a, Result<Box<dyn Peer<G>>, GameError>>,
    /// The strongest of these agents, as matches show. None if tree search over random games is stronger, or nothing was measured.
    pub strongest: Option<&'static str>,
    /// Measured results of the levels at which people play without a network; empty if nothing was measured.
    pub levels: &'static [LevelResult],
    /// Hints at a decision of this player, in play, beside what the opponent thinks.
    pub advice: Option<Advice<G>>,
}

impl<'a, G: Game> Agents<'a, G> {
    /// No agents.
    pub fn none() -> Self {
        Self {
            scripts: Listing::default(),
            deliberators: Listing::default(),
            peers: Listing::default(),
            strongest: None,
            levels: &[],
            advice: None,
        }
    }

    /// Rule-based policies and nothing else.
    pub fn scripts(scripts: Listing<'a, Script<G>>) -> Self {
        Self { scripts, ..Self::none() }
    }
}
