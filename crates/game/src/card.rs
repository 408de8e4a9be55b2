//! The card of a game.

use crate::suite::Suite;

/// How lists describe a game, and how a first run of it begins. [`Self::of`] is the card of a game that says nothing else.
///
/// `list games` and the page show the description; `config new` writes the starter config; runs and `evaluate` measure the suites if
/// nothing else is asked for.
///
/// ```
/// use adept_game::{Card, Suite, tiny::Nim};
///
/// let card = Card { about: "three heaps; the last thing wins".into(), ..Card::of(&Nim::default()) };
/// assert_eq!(card.suites, [Suite::Equity]); // Nim is small and hides nothing
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// One-line description, with the forms of the name if it takes parameters.
    pub about: String,
    /// Suites to measure by default.
    pub suites: Vec<Suite>,
    /// The rest of a starter config, beginning with the line `encoder = …` of section `[game]`, or before it with `head = …`. It
    /// should train in about a minute and show that learning works. None selects a general one.
    pub starter: Option<String>,
}
