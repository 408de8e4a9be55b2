//! Games written in Python. What their methods are is said in `python/adept/_game.py`.
//!
//! A method that raises an exception ends the work that called it: the exception travels to the call from Python as a panic
//! that nothing prints (see [`guarded`]).

use crate::long::gives_up;
use adept_library::game::{
    Afterstate, Channel, ChannelKind, Encoder, Game, GameError, Kit, Named, RowMut, Script, Turn,
};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{intern, types::PyTuple};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

/// Widest row of inputs.
const INPUTS: usize = 1 << 20;
/// Name of the encoder.
const ENCODER: &str = "inputs";

/// An exception on its way to the call from Python.
struct Raised(PyErr);

fn raise(error: PyErr) -> ! {
    resume_unwind(Box::new(Raised(error)))
}

/// Calls `f`. An exception in a game written in Python becomes the error.
pub(crate) fn guarded<R>(f: impl FnOnce() -> R) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| match payload.downcast::<Raised>() {
        Ok(raised) => raised.0,
        Err(other) => resume_unwind(other),
    })
}

/// A Python object that is a state, an action, or what a player knows: immutable, with `==` and `hash`.
pub(crate) struct Held {
    object: Py<PyAny>,
    hash: OnceLock<isize>,
}

impl Held {
    fn new(object: Bound<'_, PyAny>) -> Arc<Self> {
        Arc::new(Self { object: object.unbind(), hash: OnceLock::new() })
    }

    fn hash(&self) -> isize {
        let hash = || Python::attach(|py| self.object.bind(py).hash()).unwrap_or_else(|e| raise(e));
        *self.hash.get_or_init(hash)
    }

    fn is(&self, other: &Self) -> bool {
        let same = |py: Python<'_>| self.object.bind(py).eq(other.object.bind(py));
        self.hash() == other.hash() && Python::attach(same).unwrap_or_else(|e| raise(e))
    }
}

/// An action, a chance outcome, or what a player knows.
#[derive(Clone)]
pub(crate) struct Thing(Arc<Held>);

/// A state and whose turn it is.
#[derive(Clone)]
pub(crate) struct State {
    held: Arc<Held>,
    turn: Turn,
}

macro_rules! compared {
    ($name:ident, $field:tt) => {
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.$field, &other.$field) || self.$field.is(&other.$field)
            }
        }

        impl Eq for $name {}

        impl Hash for $name {
            fn hash<H: Hasher>(&self, hasher: &mut H) {
                self.$field.hash().hash(hasher);
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let text =
                    Python::attach(|py| self.$field.object.bind(py).repr().map(|text| text.to_string()));
                f.write_str(&text.unwrap_or_else(|e| raise(e)))
            }
        }
    };
}

compared!(Thing, 0);
compared!(State, held);

/// A game whose rules are an object in Python.
#[derive(Clone)]
pub(crate) struct PyGame(Arc<Rules>);

struct Rules {
    object: Py<PyAny>,
    name: String,
    about: String,
    players: usize,
    scale: f64,
    zero_sum: bool,
    hides: bool,
    is_small: bool,
    needs_action: bool,
    channels: Vec<Channel>,
    scripts: Vec<(String, Py<PyAny>)>,
}

fn wrong(what: impl Into<String>) -> PyErr {
    PyValueError::new_err(what.into())
}

impl PyGame {
    /// Reads the settings of a game.
    pub(crate) fn new(game: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name: String = game.getattr("name")?.extract()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if name.is_empty() || !name.chars().all(plain) {
            return Err(wrong(format!("name = {name:?}: a name has letters, digits, `-`, `_` and `.`")));
        }
        let players: usize = game.getattr("players")?.extract()?;
        if !(1..=64).contains(&players) {
            return Err(wrong(format!("players = {players}: must lie in 1..64")));
        }
        let scale: f64 = game.getattr("scale")?.extract()?;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(wrong(format!("scale = {scale}: must be a positive number")));
        }
        let about: String = game.getattr("about")?.extract()?;
        let zero_sum: Option<bool> = game.getattr("zero_sum")?.extract()?;
        let hides: bool = game.getattr("hides")?.extract()?;
        let mut scripts = Vec::new();
        for (name, script) in game.getattr("scripts")?.cast::<PyDict>()?.iter() {
            scripts.push((name.extract()?, script.unbind()));
        }
        Ok(Self(Arc::new(Rules {
            channels: channels(&game.getattr("inputs")?)?,
            about: if about.is_empty() { name.clone() } else { about },
            zero_sum: zero_sum.unwrap_or(players == 2),
            is_small: game.getattr("small")?.extract()?,
            needs_action: hides || game.getattr("needs_action")?.extract()?,
            object: game.clone().unbind(),
            name,
            players,
            scale,
            hides,
            scripts,
        })))
    }

    /// Calls into Python; an exception ends the work.
    fn call<R>(&self, f: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<R>) -> R {
        if gives_up() {
            raise(PyKeyboardInterrupt::new_err("the game was given up"));
        }
        Python::attach(|py| f(py, self.0.object.bind(py))).unwrap_or_else(|e| raise(e))
    }

    fn state(&self, game: &Bound<'_, PyAny>, object: Bound<'_, PyAny>) -> PyResult<State> {
        let py = game.py();
        let turn = game.call_method1(intern!(py, "turn"), (&object,))?;
        let turn = if turn.is_none() {
            Turn::Over
        } else if let Ok(player) = turn.extract::<usize>() {
            if player >= self.0.players {
                return Err(wrong(format!(
                    "turn of {} is {player}, but players are 0 to {}",
                    object.repr()?,
                    self.0.players - 1
                )));
            }
            Turn::Player(player)
        } else if turn.cast::<PyString>().is_ok_and(|text| text == "chance") {
            Turn::Chance
        } else {
            let text = format!(
                "turn of {} is {}: return a player, adept.CHANCE or None",
                object.repr()?,
                turn.repr()?
            );
            return Err(PyTypeError::new_err(text));
        };
        Ok(State { held: Held::new(object), turn })
    }
}

/// The channels of a number of inputs, or of named groups of inputs.
fn channels(inputs: &Bound<'_, PyAny>) -> PyResult<Vec<Channel>> {
    let mut found = Vec::new();
    let mut add = |name: String, width: usize| {
        if width == 0 {
            return Err(wrong(format!("inputs: `{name}` has no numbers")));
        }
        found.push(Channel::new(name, ChannelKind::Dense(width)));
        Ok(width)
    };
    let total = if let Ok(groups) = inputs.cast::<PyDict>() {
        let mut total = 0usize;
        for (name, width) in groups.iter() {
            total = total.saturating_add(add(name.extract()?, width.extract()?)?);
        }
        total
    } else {
        add("inputs".into(), inputs.extract()?)?
    };
    match (1..=INPUTS).contains(&total) {
        true => Ok(found),
        false => Err(wrong(format!("inputs: a row has 1..{INPUTS} numbers, found {total}"))),
    }
}

impl Game for PyGame {
    type State = State;
    type Action = Thing;
    type Info = Thing;

    fn name(&self) -> &str {
        &self.0.name
    }

    fn players(&self) -> usize {
        self.0.players
    }

    fn start(&self) -> State {
        self.call(|py, game| self.state(game, game.call_method0(intern!(py, "start"))?))
    }

    fn turn(&self, state: &State) -> Turn {
        state.turn
    }

    fn actions(&self, state: &State, actions: &mut Vec<Thing>) {
        actions.clear();
        if !matches!(state.turn, Turn::Player(_)) {
            return;
        }
        self.call(|py, game| {
            let listed = game.call_method1(intern!(py, "actions"), (&state.held.object,))?;
            for action in listed.try_iter()? {
                actions.push(Thing(Held::new(action?)));
            }
            match actions.is_empty() {
                true => Err(wrong(format!("actions of {state:?}: a player to move has at least one"))),
                false => Ok(()),
            }
        });
    }

    fn apply(&self, state: &mut State, action: &Thing) {
        *state = self.call(|py, game| {
            let after = game.call_method1(intern!(py, "apply"), (&state.held.object, &action.0.object))?;
            self.state(game, after)
        });
    }

    fn outcomes(&self, state: &State, outcomes: &mut Vec<(Thing, f64)>) -> bool {
        outcomes.clear();
        if state.turn != Turn::Chance {
            return true;
        }
        self.call(|py, game| {
            let listed = game.call_method1(intern!(py, "outcomes"), (&state.held.object,))?;
            for pair in listed.try_iter()? {
                let pair = pair?;
                let probability: f64 = pair.get_item(1)?.extract()?;
                if probability != 0.0 {
                    outcomes.push((Thing(Held::new(pair.get_item(0)?)), probability));
                }
            }
            let total: f64 = outcomes.iter().map(|(_, p)| p).sum();
            match (total - 1.0).abs() < 1e-9 && outcomes.iter().all(|(_, p)| *p > 0.0) {
                true => Ok(()),
                false => Err(wrong(format!(
                    "outcomes of {state:?}: probabilities must be positive and sum to 1, found a sum of {total}"
                ))),
            }
        });
        true
    }

    fn utility(&self, state: &State, player: usize) -> f64 {
        self.call(|py, game| {
            let found: f64 =
                game.call_method1(intern!(py, "utility"), (&state.held.object, player))?.extract()?;
            match found.abs() <= self.0.scale {
                true => Ok(found),
                false => Err(wrong(format!(
                    "utility of {state:?} is {found}: must lie within ± scale, {}",
                    self.0.scale
                ))),
            }
        })
    }

    fn scale(&self) -> f64 {
        self.0.scale
    }

    fn zero_sum(&self) -> bool {
        self.0.zero_sum
    }

    fn hides(&self) -> bool {
        self.0.hides
    }

    fn just_acted(&self, state: &State) -> Option<usize> {
        self.call(|py, game| {
            let found: Option<usize> =
                game.call_method1(intern!(py, "just_acted"), (&state.held.object,))?.extract()?;
            match found {
                Some(player) if player >= self.0.players => Err(wrong(format!(
                    "just_acted of {state:?} is {player}, but players are 0 to {}",
                    self.0.players - 1
                ))),
                _ => Ok(found),
            }
        })
    }

    fn info(&self, state: &State, player: usize) -> Thing {
        if !self.0.hides {
            return Thing(state.held.clone());
        }
        self.call(|py, game| {
            Ok(Thing(Held::new(game.call_method1(intern!(py, "info"), (&state.held.object, player))?)))
        })
    }

    fn position_text(&self, state: &State) -> String {
        self.call(|py, game| game.call_method1(intern!(py, "text"), (&state.held.object,))?.extract())
    }

    fn parse_position(&self, text: &str) -> Result<(State, Option<Thing>), GameError> {
        // What is not a position is told like in other games, not raised.
        let read = |py: Python<'_>| {
            let game = self.0.object.bind(py);
            self.state(game, game.call_method1(intern!(py, "parse"), (text,))?)
        };
        let state =
            Python::attach(read).map_err(|e| GameError(format!("`{text}` is not a position: {e}")))?;
        Ok((state, None))
    }

    fn action_text(&self, state: &State, action: &Thing) -> String {
        self.call(|py, game| {
            game.call_method1(intern!(py, "action_text"), (&state.held.object, &action.0.object))?.extract()
        })
    }
}

impl Kit for PyGame {
    fn about(&self) -> String {
        self.0.about.clone()
    }

    fn encoders(&self) -> Vec<Named> {
        vec![Named { name: ENCODER.into(), about: "the inputs that the game's `encode` returns".into() }]
    }

    fn encoder(&self, name: &str) -> Option<Arc<dyn Encoder<Self>>> {
        (name == ENCODER).then(|| Arc::new(Inputs(self.clone())) as _)
    }

    fn is_small(&self) -> bool {
        self.0.is_small
    }

    fn scripts(&self) -> Vec<Named> {
        let named = |(name, _): &(String, Py<PyAny>)| Named {
            name: Cow::Owned(name.clone()),
            about: "a policy written in Python".into(),
        };
        self.0.scripts.iter().map(named).collect()
    }

    fn script(&self, name: &str) -> Option<Script<Self>> {
        let number = self.0.scripts.iter().position(|(known, _)| known == name)?;
        Some(Arc::new(move |game: &Self, state: &State, actions: &[Thing], probabilities: &mut Vec<f64>| {
            game.call(|py, _| game.policy(py, number, state, actions, probabilities));
        }))
    }
}

impl PyGame {
    /// Asks a script. It returns an action, or a dict with the probabilities of actions.
    fn policy(
        &self,
        py: Python<'_>,
        number: usize,
        state: &State,
        actions: &[Thing],
        probabilities: &mut Vec<f64>,
    ) -> PyResult<()> {
        let (name, script) = &self.0.scripts[number];
        let listed = PyList::new(py, actions.iter().map(|action| &action.0.object))?;
        let answer =
            script.bind(py).call1(PyTuple::new(py, [state.held.object.bind(py), listed.as_any()])?)?;
        probabilities.clear();
        probabilities.resize(actions.len(), 0.0);
        let place = |chosen: &Bound<'_, PyAny>| -> PyResult<usize> {
            for (i, action) in actions.iter().enumerate() {
                if chosen.eq(action.0.object.bind(py))? {
                    return Ok(i);
                }
            }
            Err(wrong(format!("script `{name}`: {} is not a legal action of {state:?}", chosen.repr()?)))
        };
        match answer.cast::<PyDict>() {
            Ok(shares) => {
                for (action, share) in shares.iter() {
                    probabilities[place(&action)?] = share.extract()?;
                }
            }
            Err(_) => probabilities[place(&answer)?] = 1.0,
        }
        let total: f64 = probabilities.iter().sum();
        match (total - 1.0).abs() < 1e-9 && probabilities.iter().all(|p| *p >= 0.0) {
            true => Ok(()),
            false => Err(wrong(format!("script `{name}`: probabilities sum to {total}, not to 1"))),
        }
    }
}

/// The rows of `encode`.
struct Inputs(PyGame);

impl Inputs {
    fn fill(&self, found: &Bound<'_, PyAny>, row: &mut [f32]) -> PyResult<()> {
        let width = |n: usize| match n == row.len() {
            true => Ok(()),
            false => Err(wrong(format!("encode returned {n} numbers, but inputs has {}", row.len()))),
        };
        if let Ok(array) = found.extract::<PyReadonlyArray1<'_, f32>>() {
            width(array.len())?;
            row.iter_mut().zip(array.as_array()).for_each(|(to, from)| *to = *from);
        } else if let Ok(array) = found.extract::<PyReadonlyArray1<'_, f64>>() {
            width(array.len())?;
            row.iter_mut().zip(array.as_array()).for_each(|(to, from)| *to = *from as f32);
        } else {
            let list: Vec<f32> = found.extract()?;
            width(list.len())?;
            row.copy_from_slice(&list);
        }
        match row.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(at) => Err(wrong(format!("encode returned {} as number {at}", row[at]))),
        }
    }
}

impl Encoder<PyGame> for Inputs {
    fn name(&self) -> &str {
        ENCODER
    }

    fn channels(&self) -> &[Channel] {
        &self.0.0.channels
    }

    fn encode(&self, game: &PyGame, after: Afterstate<'_, PyGame>, row: RowMut<'_>) {
        game.call(|py, object| {
            let action = after.action.map(|action| action.0.object.bind(py));
            let with = (&after.state.held.object, after.player, action);
            self.fill(&object.call_method1(intern!(py, "encode"), with)?, row.dense)
        });
    }

    fn needs_action(&self) -> bool {
        self.0.0.needs_action
    }
}
