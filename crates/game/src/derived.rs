//! Answers about a game that follow from its capabilities.

use crate::card::Card;
use crate::game::GameError;
use crate::kit::Kit;
use crate::listing::Named;
use crate::play::PLAY;
use crate::public_tree::{PublicTree, TreeVisitor};
use crate::records::{GameRecord, Records};
use crate::suite::Suite;
use adept_rows::{OutcomeClass, OutcomeMask};

impl Card {
    /// The name as the description, the suites that fit the game, and the general starter config.
    pub fn of<G: Kit>(game: &G) -> Self {
        let suite = match has_public_tree(game) {
            true => Suite::Exploitability,
            false if game.is_small() && !game.hides() => Suite::Equity,
            false if !game.positions().is_empty() => Suite::Rms,
            false => Suite::Matches,
        };
        Self { about: game.name().into(), suites: vec![suite], starter: None }
    }
}

/// The fingerprint of the rules of a game, if they come from a text.
pub fn fingerprint<G: Kit>(game: &G) -> Option<String> {
    game.rule_text()?.fingerprint()
}

/// Whether a game is a [`PublicTree`]: whether [`Kit::with_public_tree`] calls its visitor.
pub fn has_public_tree<G: Kit>(game: &G) -> bool {
    struct Nothing;
    impl<G> TreeVisitor<G> for Nothing {
        type Output = ();

        fn visit(self, _game: &G)
        where
            G: PublicTree,
        {
        }
    }
    game.with_public_tree(Nothing).is_some()
}

/// The distributions of a game: its own, or [`PLAY`] if it has none and hides nothing.
///
/// ```
/// use adept_game::{PLAY, distributions, tiny::{Bluff, Nim}};
///
/// assert_eq!(distributions(&Nim::default())[0].name, PLAY);
/// assert!(distributions(&Bluff).is_empty()); // it hides something
/// ```
pub fn distributions<G: Kit>(game: &G) -> Vec<Named> {
    let own = game.positions().names();
    match own.is_empty() && !game.hides() {
        true => Named::list(&[(PLAY, "positions of random games, one of each game")]),
        false => own,
    }
}

/// Whether all values of a game can be found by solving it: it is small, hides nothing, and is for one player, or for two of whom one
/// wins what the other loses.
///
/// ```
/// use adept_game::{is_solved, tiny::{Bluff, Nim}};
///
/// assert!(is_solved(&Nim::default()) && !is_solved(&Bluff));
/// ```
pub fn is_solved<G: Kit>(game: &G) -> bool {
    game.is_small() && !game.hides() && (game.zero_sum() || game.players() == 1)
}

/// The classes of the results of a game.
///
/// # Errors
/// Why its results are not listed as classes.
pub fn outcome_classes<G: Kit>(game: &G) -> Result<Vec<OutcomeClass>, GameError> {
    (game.results().classes)(game)
}

/// The classes that a player may still end in from a state.
#[inline]
pub fn possible_outcomes<G: Kit>(
    game: &G,
    classes: &[OutcomeClass],
    state: &G::State,
    player: usize,
) -> OutcomeMask {
    (game.results().possible)(game, classes, state, player)
}

/// The format of whole games, if this game can be written in it.
///
/// ```
/// use adept_game::{tiny::Nim, writable_records};
///
/// assert_eq!(writable_records(&Nim::default())?.suffix(), "games");
/// # Ok::<(), adept_game::GameError>(())
/// ```
///
/// # Errors
/// Why these rules do not fit into it.
pub fn writable_records<G: Kit>(game: &G) -> Result<&dyn Records<G>, GameError> {
    // What does not fit depends on the rules alone, so a game without any move shows it.
    let names = vec![""; game.players()];
    let empty = GameRecord { number: 1, names: &names, scores: &[], actions: &[], resigned: None };
    game.records().write(game, &empty).transpose()?;
    Ok(game.records())
}
