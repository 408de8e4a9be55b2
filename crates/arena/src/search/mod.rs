//! Search: looks ahead with any evaluator.
//!
//! A ply is an action of a player. At 1 ply the evaluator alone values the state after each action. At n plies, the value of a
//! state s that player m left is what the next player j gets out of n − 1 more plies:
//!
//! Vₙ(s) = ± max over actions a of j of Vₙ₋₁(s · a), negated where j is not m,
//!
//! and the mean over all outcomes where chance comes first. Below the first ply, a decision that does not
//! [count as a ply](adept_game::Game::counts_as_ply) leaves n as it is. Finished games have their exact value. Without chance,
//! [`Search`] deepens ply by ply, by alpha-beta with a table of positions. With chance, every action at the root and every listed
//! outcome is searched; below the root, decisions consider only the actions that the evaluator likes best ([`Filter`]).

mod options;
mod table;
mod tree;

pub use options::{Budget, Filter, SearchOptions};
pub(crate) use tree::has_chance;
pub use tree::{Found, Search};

use crate::error::OpenError;
use adept_game::{Kit, Turn};

/// Refuses games that search cannot play.
///
/// # Errors
/// [`OpenError::Unknown`] with the reason: hidden information, more than two players, utilities that are not zero-sum, or chance
/// that can only be sampled.
pub fn fits<G: Kit>(game: &G) -> Result<(), OpenError> {
    let why = match game.players() {
        _ if game.hides() => "hides information: what a player would see after an action is not known",
        3.. => "has more than two players",
        2 if !game.zero_sum() => "is not zero-sum: what one player loses, the other need not win",
        _ if !lists_chance(game) => "has too many chance outcomes to list",
        _ => return Ok(()),
    };
    Err(OpenError::Unknown(format!("`search:` cannot play {}, which {why}", game.name())))
}

/// As [`fits`], for a budget: one ply compares the player's own values, in any game that hides nothing.
///
/// # Errors
/// As [`fits`].
pub fn fits_budget<G: Kit>(game: &G, budget: Budget) -> Result<(), OpenError> {
    if budget == Budget::Plies(1) && !game.hides() { Ok(()) } else { fits(game) }
}

/// Whether all chance events in a few random games list their outcomes.
fn lists_chance<G: Kit>(game: &G) -> bool {
    let mut outcomes = Vec::new();
    let mut lists = true;
    tree::walk(game, |state| {
        lists &= game.turn(state) != Turn::Chance || game.outcomes(state, &mut outcomes);
        lists
    });
    lists
}
