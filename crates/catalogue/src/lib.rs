//! The catalogue of built-in games: here everything that can be done with a game is compiled for each of them. It is a crate of its
//! own, because that is much work for the compiler, which a change of the command line, or a feature of it, need not repeat.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

use adept_builtin as builtin;
use adept_game::{Found, GameError, Kit, Visitor};
use adept_lab::{AnyGame, Catalogue};
use adept_trainer::config::{Games, Rules, no_game};
use std::sync::Arc;

/// The built-in games.
#[derive(Clone, Copy, Debug, Default)]
pub struct Builtin;

struct Erase;

impl Visitor for Erase {
    type Output = Arc<dyn AnyGame>;

    fn visit<G: Kit>(self, game: G) -> Arc<dyn AnyGame> {
        Arc::new(game)
    }
}

impl Builtin {
    /// Looks up a rule set by name. None if no built-in game has this name; an error if its parameters are wrong.
    pub fn named(&self, name: &str) -> Found<Arc<dyn AnyGame>> {
        builtin::visit(name, Erase)
    }
}

impl Catalogue for Builtin {
    fn find(&self, name: &str) -> Result<Arc<dyn AnyGame>, GameError> {
        self.named(name).unwrap_or_else(|| {
            let known = builtin::names();
            let known: Vec<&str> = known.iter().map(String::as_str).chain(builtin::others()).collect();
            Err(no_game(name, &known))
        })
    }
}

impl Games for Builtin {
    fn rules(&self, name: &str) -> Result<Arc<dyn Rules>, GameError> {
        Ok(self.find(name)?)
    }

    fn names(&self) -> Vec<String> {
        builtin::names()
    }
}
