//! What config checks need to know about a game.

use adept_arena::{self as arena, OpenError, Resolved, Survey, naming, open, search};
use adept_erased::erased;
use adept_game::{Channel, GameError, GameInfo, Kit};
use adept_model::names;
use std::sync::Arc;

/// A rule set without its types, for checking configs.
#[erased(pub trait Rules: Send + Sync)]
impl<G: Kit> Rules for G {
    /// Description of the game.
    fn info(&self) -> GameInfo {
        GameInfo::of(self)
    }

    /// The channels of this encoder, or of the default encoder.
    ///
    /// # Errors
    /// If the game has no such encoder, or the encoder is not available.
    fn channels(&self, encoder: Option<&str>) -> Result<Vec<Channel>, OpenError> {
        open::encoder(self, encoder).map(|encoder| encoder.channels().to_vec())
    }

    /// What an agent's name stands for. `more` are other names that are allowed in its place, for the error.
    ///
    /// # Errors
    /// As [`naming::resolve`].
    fn resolve(&self, agent: &str, more: &[&str]) -> Result<Resolved, OpenError> {
        naming::resolve(self, agent, more)
    }

    /// Whether the game has an agent of this name, `random` and `minimax` included.
    fn is_agent(&self, name: &str) -> bool {
        naming::is_own(self, name)
    }

    /// What stands in the way of exact measurement.
    fn survey(&self) -> Survey {
        arena::survey(self)
    }

    /// Whether agents can look ahead.
    ///
    /// # Errors
    /// The reason why not.
    fn fits_search(&self) -> Result<(), OpenError> {
        search::fits(self)
    }

    /// The rest of a starter config: see [`Card`](adept_game::Card).
    fn starter(&self) -> Option<String> {
        self.card().starter
    }
}

/// The games that configs may name.
pub trait Games: Sync {
    /// Finds a rule set by name.
    ///
    /// # Errors
    /// If the game is unknown, or its parameters are wrong.
    fn rules(&self, name: &str) -> Result<Arc<dyn Rules>, GameError>;

    /// Name of the default rule set of each game, for lists and messages.
    fn names(&self) -> Vec<String>;
}

/// A catalogue with one game.
#[derive(Clone, Debug)]
pub struct One<G>(pub G);

impl<G: Kit + Clone> One<G> {
    /// The game, if it has this name.
    ///
    /// # Errors
    /// If the name is different.
    pub fn named(&self, name: &str) -> Result<Arc<G>, GameError> {
        if name == self.0.name() {
            Ok(Arc::new(self.0.clone()))
        } else {
            Err(no_game(name, &[self.0.name()]))
        }
    }
}

impl<G: Kit + Clone> Games for One<G> {
    fn rules(&self, name: &str) -> Result<Arc<dyn Rules>, GameError> {
        Ok(self.named(name)?)
    }

    fn names(&self) -> Vec<String> {
        vec![self.0.name().into()]
    }
}

impl<A: Games, B: Games> Games for (A, B) {
    fn rules(&self, name: &str) -> Result<Arc<dyn Rules>, GameError> {
        let (a, b) = self;
        in_either(name, &a.names(), &b.names(), || a.rules(name), || b.rules(name))
    }

    fn names(&self) -> Vec<String> {
        let mut all = self.0.names();
        all.extend(self.1.names().into_iter().filter(|name| !self.0.names().contains(name)));
        all
    }
}

/// Looks up a rule set in two catalogues with games of these names. The error comes from the catalogue that
/// knows the game, which is the part of the name before the first colon.
///
/// # Errors
/// If neither catalogue has it.
pub fn in_either<T>(
    name: &str,
    first: &[String],
    second: &[String],
    find_first: impl FnOnce() -> Result<T, GameError>,
    find_second: impl FnOnce() -> Result<T, GameError>,
) -> Result<T, GameError> {
    fn game(name: &str) -> &str {
        name.split_once(':').map_or(name, |(game, _)| game)
    }
    let knows = |names: &[String]| names.iter().any(|known| game(known) == game(name));
    match find_first() {
        Err(error) => find_second().map_err(|other| {
            let all: Vec<&str> = first.iter().chain(second).map(String::as_str).collect();
            match (knows(first), knows(second)) {
                (true, _) => error,
                (false, true) => other,
                (false, false) => no_game(name, &all),
            }
        }),
        found => found,
    }
}

/// The error for an unknown game.
pub fn no_game(name: &str, known: &[&str]) -> GameError {
    if name.ends_with(".toml") {
        return GameError::new(format!(
            "no game named `{name}`: give the name of a game, such as {}; a config is run by `adept train`",
            known.first().unwrap_or(&"tictactoe")
        ));
    }
    GameError::new(format!("no game named `{name}`{}", names::suggest(name, known)))
}
