//! What checks of a config ask of the game that it names.

use adept_arena::{OpenError, open};
use adept_game::{Channel, GameError, GameInfo, Kit};
use adept_model::names;
use std::sync::Arc;

/// A rule set without its types: what configs are checked by.
pub trait Rules: Send + Sync {
    /// The game in words.
    fn info(&self) -> GameInfo;

    /// The channels of the encoder of that name, of the usual one without a name.
    ///
    /// # Errors
    /// If the game has no such encoder, or it cannot be had.
    fn channels(&self, encoder: Option<&str>) -> Result<Vec<Channel>, OpenError>;

    /// The rest of a config to start from: see [`Kit::starter`].
    fn starter(&self) -> Option<String>;
}

impl<G: Kit> Rules for G {
    fn info(&self) -> GameInfo {
        GameInfo::of(self)
    }

    fn channels(&self, encoder: Option<&str>) -> Result<Vec<Channel>, OpenError> {
        open::encoder(self, encoder).map(|encoder| encoder.channels().to_vec())
    }

    fn starter(&self) -> Option<String> {
        Kit::starter(self)
    }
}

/// The games that configs may name.
pub trait Games: Sync {
    /// The rule set of that name.
    ///
    /// # Errors
    /// That there is none, or what is wrong with its parameters.
    fn rules(&self, name: &str) -> Result<Arc<dyn Rules>, GameError>;

    /// Names of the usual rule set of each game, for lists and messages.
    fn names(&self) -> Vec<String>;
}

/// One game alone.
#[derive(Clone, Debug)]
pub struct One<G>(pub G);

impl<G: Kit + Clone> One<G> {
    /// The game, if it has that name.
    ///
    /// # Errors
    /// That it has not.
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
        in_either(name, (&a.names(), &b.names()), || a.rules(name), || b.rules(name))
    }

    fn names(&self) -> Vec<String> {
        let mut all = self.0.names();
        all.extend(self.1.names().into_iter().filter(|name| !self.0.names().contains(name)));
        all
    }
}

/// Looks a rule set up in two catalogues with games of these names. The error is that of the one which knows the game,
/// as its name says before the first colon.
///
/// # Errors
/// If neither has it.
pub fn in_either<T>(
    name: &str,
    (first, second): (&[String], &[String]),
    find_first: impl FnOnce() -> Result<T, GameError>,
    find_second: impl FnOnce() -> Result<T, GameError>,
) -> Result<T, GameError> {
    fn game(name: &str) -> &str {
        name.split_once(':').map_or(name, |(game, _)| game)
    }
    let knows = |names: &[String]| names.iter().any(|known| game(known) == game(name));
    match find_first() {
        Err(_) if !knows(first) => find_second().map_err(|error| {
            let all: Vec<&str> = first.iter().chain(second).map(String::as_str).collect();
            if knows(second) { error } else { no_game(name, &all) }
        }),
        found => found,
    }
}

/// That there is no game of that name among these.
pub fn no_game(name: &str, known: &[&str]) -> GameError {
    GameError(format!("there is no game `{name}`{}", names::suggest(name, known)))
}
