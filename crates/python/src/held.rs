//! The rules of a game that Python steps, and rows of it.

use crate::game::PyGame;
use adept_library::AnyGame;
use adept_library::game::{Afterstate, Encoder, Kit, Turn};
use adept_library::model::Rows;
use rustc_hash::FxHashMap;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

/// Numbers in the rows of one call.
pub(crate) const MOST_NUMBERS: usize = 1 << 28;

/// Rows with the exact value, for the player who acted, of those that end the game; NaN elsewhere.
pub(crate) struct Encoded {
    pub(crate) rows: Rows,
    pub(crate) exact: Vec<f32>,
}

impl Encoded {
    /// No rows of an encoder. An error if `count` rows are too many: `fewer` says what to take fewer of.
    pub(crate) fn new<G: Kit>(encoder: &dyn Encoder<G>, count: usize, fewer: &str) -> Result<Self, String> {
        let rows = Rows::new(encoder.channels());
        let width = rows.dense_width() + rows.index_width();
        match count.saturating_mul(width) <= MOST_NUMBERS {
            true => Ok(Self { rows, exact: Vec::new() }),
            false => Err(format!(
                "{count} rows of {width} numbers: a call encodes at most {MOST_NUMBERS} numbers; take fewer {fewer}"
            )),
        }
    }

    /// No rows of the same encoder.
    pub(crate) fn empty(&self) -> Self {
        Self { rows: self.rows.empty(), exact: Vec::new() }
    }

    /// Appends the row of an afterstate. A finished game never reaches a model: its row is zeros.
    pub(crate) fn push<G: Kit>(&mut self, game: &G, encoder: &dyn Encoder<G>, after: Afterstate<'_, G>) {
        let row = self.rows.push();
        if !game.hides() && game.turn(after.state) == Turn::Over {
            self.exact.push((game.utility(after.state, after.player) / game.scale()) as f32);
        } else {
            self.exact.push(f32::NAN);
            encoder.encode(game, after, row);
        }
    }
}

/// What is said of a game without asking it again.
pub(crate) struct Facts {
    pub(crate) name: String,
    pub(crate) players: usize,
    pub(crate) hides: bool,
    /// Number of actions that have a number.
    pub(crate) space: Option<usize>,
    /// Upper bound on the legal actions of a state.
    pub(crate) most_actions: Option<usize>,
    /// Whether its rules are in Python.
    pub(crate) is_in_python: bool,
}

/// The rules of a game.
pub(crate) struct Held<G: Kit> {
    pub(crate) game: G,
    /// The same game without its type. It opens agents and encoders and measures exactly, by code that is compiled with the catalogue.
    pub(crate) erased: Arc<dyn AnyGame>,
    pub(crate) facts: Facts,
    /// What is in its rule file.
    pub(crate) file: Option<u64>,
    encoders: Mutex<FxHashMap<String, Arc<dyn Encoder<G>>>>,
}

/// Encoders that are kept open.
const MOST_ENCODERS: usize = 64;

/// The agent or encoder that the erased game opened.
pub(crate) fn typed<T: 'static>(opened: Box<dyn Any + Send>) -> T {
    *opened.downcast().unwrap_or_else(|_| unreachable!("it is of the type of the game"))
}

impl<G: Kit> Held<G> {
    pub(crate) fn new(game: G, erased: Arc<dyn AnyGame>, file: Option<u64>) -> Arc<Self> {
        let numbers = game.action_numbers();
        let facts = Facts {
            name: game.name().into(),
            players: game.players(),
            hides: game.hides(),
            space: numbers.space,
            most_actions: numbers.most,
            is_in_python: (&game as &dyn Any).is::<PyGame>(),
        };
        Arc::new(Self { game, erased, facts, file, encoders: Mutex::default() })
    }

    /// The encoder of this name, or the usual one.
    pub(crate) fn encoder(&self, name: Option<&str>) -> Result<Arc<dyn Encoder<G>>, String> {
        let mut open = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        let key = name.unwrap_or_default();
        if let Some(encoder) = open.get(key) {
            return Ok(encoder.clone());
        }
        let encoder: Arc<dyn Encoder<G>> = typed(self.erased.encoder(name).map_err(|e| e.to_string())?);
        encoder.fits(&self.game)?;
        if open.len() >= MOST_ENCODERS {
            open.clear();
        }
        open.insert(key.into(), encoder.clone());
        Ok(encoder)
    }

    /// The number of an action; without numbers, its place among the legal actions.
    #[inline]
    pub(crate) fn number(&self, state: &G::State, action: &G::Action, place: usize) -> usize {
        match self.facts.space {
            Some(_) => self.game.action_numbers().number(&self.game, state, action),
            None => place,
        }
    }
}
