//! The games of this process: the built-in ones, and those that were registered.

use crate::errors::guarded;
use crate::game::PyGame;
use crate::{fault, plain};
use adept_library::game::laws::{self, Breach, Budget};
use adept_library::game::{Found, Game, GameError, Visitor};
use adept_library::{AnyGame, Builtin, Catalogue, lab};
use adept_trainer::config::{Games, Rules, no_game};
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::json;
use std::any::Any;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

static REGISTERED: RwLock<Vec<PyGame>> = RwLock::new(Vec::new());

/// The games that Python registered.
#[derive(Clone, Copy)]
pub(crate) struct Registered;

/// All games.
pub(crate) const ALL: (Builtin, Registered) = (Builtin, Registered);

fn all_registered() -> RwLockReadGuard<'static, Vec<PyGame>> {
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner)
}

/// The registered game of this name.
pub(crate) fn registered(name: &str) -> Option<PyGame> {
    all_registered().iter().find(|game| game.name() == name).map(PyGame::at_work)
}

/// Looks up a rule set by name, registered or built in. None if there is none.
pub(crate) fn named(name: &str) -> Found<Arc<dyn AnyGame>> {
    match registered(name) {
        Some(game) => Some(Ok(Arc::new(game))),
        None => Builtin.named(name),
    }
}

/// Calls the visitor with a copy of a game of this process.
pub(crate) fn visit<V: Visitor>(game: &dyn AnyGame, visitor: V) -> V::Output {
    let game: &dyn Any = game;
    match game.downcast_ref::<PyGame>() {
        Some(game) => visitor.visit(game.clone()),
        None => adept_builtin::visit_erased(game, visitor)
            .unwrap_or_else(|| unreachable!("a game is registered or built in")),
    }
}

impl Games for Registered {
    fn rules(&self, name: &str) -> Result<Arc<dyn Rules>, GameError> {
        Ok(self.find(name)?)
    }

    fn names(&self) -> Vec<String> {
        all_registered().iter().map(|game| game.name().into()).collect()
    }
}

impl Catalogue for Registered {
    fn find(&self, name: &str) -> Result<Arc<dyn AnyGame>, GameError> {
        let none = || no_game(name, &self.names().iter().map(String::as_str).collect::<Vec<_>>());
        Ok(Arc::new(registered(name).ok_or_else(none)?))
    }
}

/// A name with what it means.
#[derive(Serialize)]
struct Entry {
    name: String,
    about: String,
}

/// Looks at the settings of a game. Raises an exception that names the one that is wrong.
#[pyfunction]
pub(crate) fn look_at(game: &Bound<'_, PyAny>) -> PyResult<()> {
    let game = PyGame::new(game)?;
    match Builtin.find(game.name()) {
        Ok(_) => {
            Err(fault(format!("name = `{}`: a built-in game has this name: choose another", game.name())))
        }
        Err(_) => Ok(()),
    }
}

/// Plays random games by the calls that training makes.
#[pyfunction]
pub(crate) fn rehearse(game: &Bound<'_, PyAny>) -> PyResult<()> {
    PyGame::new(game)?.rehearse()
}

/// Checks the laws of games along random games: a dict with the games and states that were looked at and the first breach of each law.
/// An exception in a method is raised.
#[pyfunction]
pub(crate) fn check_laws<'py>(game: &Bound<'py, PyAny>, games: u64) -> PyResult<Bound<'py, PyAny>> {
    let rules = PyGame::new(game)?;
    let report = guarded(|| laws::check(&rules, &Budget { games, ..Budget::default() }))?;
    let breach = |b: &Breach| json!({ "law": b.law.about(), "found": b.found, "seed": b.seed, "ply": b.ply, "position": b.position });
    let breaches: Vec<_> = report.breaches.iter().map(breach).collect();
    let found = json!({
        "game": report.game, "games": report.games, "left": report.left, "states": report.states, "breaches": breaches
    });
    plain(game.py(), &found)
}

/// Adds a game that `adept.check` has looked at, or replaces the one of the same name.
#[pyfunction]
pub(crate) fn add_game(game: &Bound<'_, PyAny>) -> PyResult<()> {
    let game = PyGame::new(game)?;
    game.rehearse()?;
    let mut all = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let before = all.iter().position(|known| known.name() == game.name()).map(|place| all.remove(place));
    all.push(game);
    drop(all);
    // Its end may run Python code, which may ask for games.
    drop(before);
    Ok(())
}

/// The registered game of this name, as it was given; none if there is none.
#[pyfunction]
pub(crate) fn registered_game(py: Python<'_>, name: &str) -> Option<Py<PyAny>> {
    all_registered().iter().find(|game| game.name() == name).map(|game| game.object(py))
}

/// The games: dicts with `name` and `about`.
#[pyfunction]
pub(crate) fn games(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let all: Result<Vec<Entry>, _> = ALL.names().iter().map(|name| entry(name)).collect();
    plain(py, &all.map_err(fault)?)
}

fn entry(name: &str) -> Result<Entry, GameError> {
    let info = ALL.find(name)?.info();
    Ok(Entry { name: info.name, about: info.about })
}

/// The encoders of a game: dicts with `name` and `about`.
#[pyfunction]
pub(crate) fn encoders<'py>(py: Python<'py>, game: &str) -> PyResult<Bound<'py, PyAny>> {
    let info = ALL.find(game).map_err(fault)?.info();
    let entry =
        |one: &adept_library::game::Named| Entry { name: one.name.to_string(), about: one.about.to_string() };
    plain(py, &info.encoders.iter().map(entry).collect::<Vec<_>>())
}

/// A config to start from, as the text of a TOML file: what `adept config new` prints.
#[pyfunction]
#[pyo3(signature = (game, method = None))]
pub(crate) fn starter(game: &str, method: Option<&str>) -> PyResult<String> {
    guarded(|| lab::template::template(game, method, &ALL))?.map_err(fault)
}
