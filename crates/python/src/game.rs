//! Games written in Python. What their methods are is said in `python/adept/_game.py`.
//!
//! A method that raises an exception ends the work that called it: the exception travels to the call from Python as a panic
//! that nothing prints (see [`guarded`]).

use crate::errors::{guarded, raise};
use crate::long::Stop;
use adept_library::arena::{Agent, Decision, Random, Scratch};
use adept_library::game::{
    Afterstate, Agents, Card, Channel, ChannelKind, Counting, Encoder, Encoders, Game, GameError, Kit,
    Listing, Named, Numbering, Positions, RowMut, RuleText, Script, Stream, Turn, Unit, number_of, stream,
};
use adept_library::model::{Layout, checkpoint};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use pyo3::{intern, types::PyTuple};
use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// Widest row of inputs.
const INPUTS: usize = 1 << 20;
/// Most actions of a state that a game may state.
const ACTIONS: usize = 1 << 20;
/// Name of the encoder.
const ENCODER: &str = "inputs";
/// Moves of a game, chance outcomes included. A game that goes on for longer may have no end under some policy.
const LONGEST: u32 = 10_000;
/// States and actions that are held at once. Only exact measures hold many.
const MOST_HELD: usize = 4_000_000;
/// Games of the native rehearsal.
const REHEARSALS: u64 = 2;
/// Bytes of a fingerprint's source.
const MOST_SHOWN: usize = 16_000_000;

/// States and actions that are held.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A Python object that is a state, an action, or what a player knows: immutable, with `==` and `hash`.
pub(crate) struct Held {
    object: Py<PyAny>,
    hash: OnceLock<isize>,
}

impl Held {
    fn new(object: Bound<'_, PyAny>) -> Arc<Self> {
        HELD.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { object: object.unbind(), hash: OnceLock::new() })
    }

    fn hash(&self) -> isize {
        // Asked for before the cell is locked: a thread that waits for the cell may hold the interpreter, which the hash needs.
        self.hash.get().copied().unwrap_or_else(|| {
            let hash = Python::attach(|py| self.object.bind(py).hash()).unwrap_or_else(|e| raise(e));
            *self.hash.get_or_init(|| hash)
        })
    }

    fn is(&self, other: &Self) -> bool {
        let same = |py: Python<'_>| self.object.bind(py).eq(other.object.bind(py));
        self.hash() == other.hash() && Python::attach(same).unwrap_or_else(|e| raise(e))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
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
    /// Moves since the start, or since the position that was read.
    moves: u32,
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
pub(crate) struct PyGame(Arc<Rules>, Stop);

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
    most_actions: Option<usize>,
    unit: Option<String>,
    /// What its rehearsal showed.
    fingerprint: OnceLock<String>,
    channels: Vec<Channel>,
    scripts: Vec<(String, Py<PyAny>)>,
}

/// Longest name of a game or a script.
const NAME: usize = 100;
const SCRIPTS: &str = "scripts must be a dict of names and functions of a state and its legal actions";

fn wrong(what: impl Into<String>) -> PyErr {
    PyValueError::new_err(what.into())
}

/// A setting of a game. An error says which one, and what it must be.
fn setting<'py, T>(game: &Bound<'py, PyAny>, name: &str, needed: &str) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    let found = game.getattr(name)?;
    found.extract().map_err(|_| match found.repr() {
        Ok(found) => PyTypeError::new_err(format!("{name} = {found}: must be {needed}")),
        Err(error) => error,
    })
}

impl PyGame {
    /// Reads the settings of a game.
    pub(crate) fn new(game: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name: String = setting(game, "name", "a text")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let is_name = |name: &str| !name.is_empty() && name.len() <= NAME && name.chars().all(plain);
        if !is_name(&name) {
            let text = format!("name = {name:?}: a name has 1 to {NAME} letters, digits, `-`, `_` and `.`");
            return Err(wrong(text));
        }
        let players: usize = setting(game, "players", "a whole number in 1..64")?;
        if !(1..=64).contains(&players) {
            return Err(wrong(format!("players = {players}: must lie in 1..64")));
        }
        let scale: f64 = setting(game, "scale", "a positive number")?;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(wrong(format!("scale = {scale}: must be a positive number")));
        }
        let about: String = setting(game, "about", "a text")?;
        let zero_sum: Option<bool> = setting(game, "zero_sum", "True, False or None")?;
        let hides: bool = setting(game, "hides", "True or False")?;
        let most_actions: Option<usize> = setting(game, "most_actions", "a whole number or None")?;
        if most_actions.is_some_and(|most| !(1..=ACTIONS).contains(&most)) {
            return Err(wrong(format!(
                "most_actions = {}: must lie in 1..{ACTIONS}",
                most_actions.unwrap_or(0)
            )));
        }
        let unit: Option<String> = setting(game, "unit", "a text such as \"points\", or None")?;
        let listed = game.getattr("scripts")?;
        let mut scripts = Vec::new();
        for (name, script) in listed.cast::<PyDict>().map_err(|_| wrong(SCRIPTS))?.iter() {
            let name: String = name.extract().map_err(|_| wrong(SCRIPTS))?;
            if !is_name(&name) {
                let text = format!("scripts: {name:?}: a name has letters, digits, `-`, `_` and `.`");
                return Err(wrong(text));
            }
            if !script.is_callable() {
                return Err(PyTypeError::new_err(format!(
                    "scripts: {name:?} is {}: {SCRIPTS}",
                    script.repr()?
                )));
            }
            scripts.push((name, script.unbind()));
        }
        let rules = Rules {
            channels: channels(&game.getattr("inputs")?, &game.getattr("indices")?)?,
            about: if about.is_empty() { name.clone() } else { about },
            zero_sum: zero_sum.unwrap_or(players == 2),
            is_small: setting(game, "small", "True or False")?,
            needs_action: hides || setting::<bool>(game, "needs_action", "True or False")?,
            object: game.clone().unbind(),
            name,
            players,
            scale,
            hides,
            most_actions,
            unit: unit.filter(|unit| !unit.is_empty()),
            fingerprint: OnceLock::new(),
            scripts,
        };
        Ok(Self(Arc::new(rules), Stop::default()))
    }

    /// The same game, for the work on this thread.
    pub(crate) fn at_work(&self) -> Self {
        Self(self.0.clone(), Stop::current())
    }

    /// The object that was given.
    pub(crate) fn object(&self, py: Python<'_>) -> Py<PyAny> {
        self.0.object.clone_ref(py)
    }

    /// Plays random games by the calls that training makes. What they show is the fingerprint of the game. Texts of positions do not
    /// count, since those of sets differ from process to process, nor do scripts.
    pub(crate) fn rehearse(&self) -> PyResult<()> {
        let Rules { players, scale, zero_sum, hides, needs_action, unit, channels, .. } = &*self.0;
        let settings = (players, scale, zero_sum, hides, needs_action, unit, channels);
        let mut shown = format!("{settings:?}").into_bytes();
        guarded(|| (0..REHEARSALS).for_each(|number| self.play(stream(number, "rehearsal", 0), &mut shown)))?;
        self.0.fingerprint.get_or_init(|| checkpoint::hex(&shown));
        Ok(())
    }

    /// Plays a random game, and writes down what it shows.
    fn play(&self, mut rng: Stream, shown: &mut Vec<u8>) {
        let mut show = |bytes: &[u8]| {
            if shown.len() < MOST_SHOWN {
                shown.extend(bytes);
            }
        };
        let (mut state, mut scratch) = (self.start(), Scratch::default());
        let (mut actions, mut outcomes, mut probabilities) = (Vec::new(), Vec::new(), Vec::new());
        let Layout { dense, index, .. } = Layout::new(&self.0.channels);
        let (mut dense, mut index, encoder) = (vec![0.0; dense], vec![0; index], Inputs(self.clone()));
        loop {
            show(format!("{:?} ", state.turn).as_bytes());
            let action = match state.turn {
                Turn::Over => break,
                Turn::Chance => {
                    self.outcomes(&state, &mut outcomes);
                    outcomes.iter().for_each(|(_, p)| show(&p.to_le_bytes()));
                    self.sample(&state, &mut rng)
                }
                Turn::Player(player) => {
                    self.actions(&state, &mut actions);
                    show(&actions.len().to_le_bytes());
                    for number in 0..self.0.scripts.len() {
                        self.call(|py, _| self.policy(py, number, &state, &actions, &mut probabilities));
                    }
                    let chosen = Random.choose(Decision::new(self, &state, player), &mut scratch, &mut rng);
                    // `actions` has refused an empty list.
                    let Ok(action) = chosen else { break };
                    let mut after = state.clone();
                    self.apply(&mut after, &action);
                    let seen = if self.0.hides { &state } else { &after };
                    let row = RowMut { dense: &mut dense, index: &mut index };
                    encoder.encode(self, Afterstate { state: seen, action: Some(&action), player }, row);
                    dense.iter().for_each(|input| show(&input.to_le_bytes()));
                    index.iter().for_each(|index| show(&index.to_le_bytes()));
                    action
                }
            };
            self.apply(&mut state, &action);
            self.just_acted(&state);
        }
        (0..self.0.players).for_each(|player| show(&self.utility(&state, player).to_le_bytes()));
    }

    /// Calls into Python; an exception ends the work.
    fn call<R>(&self, f: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<R>) -> R {
        if self.1.requested() {
            raise(PyKeyboardInterrupt::new_err("the game was given up"));
        }
        let call = |py: Python<'_>| {
            let _calls = self.1.calls(py)?;
            f(py, self.0.object.bind(py))
        };
        Python::attach(call).unwrap_or_else(|e| raise(e))
    }

    /// A state that is reached after so many moves.
    fn state(&self, game: &Bound<'_, PyAny>, object: Bound<'_, PyAny>, moves: u32) -> PyResult<State> {
        let py = game.py();
        if moves > LONGEST {
            return Err(wrong(format!(
                "a game of `{}` has gone on for {LONGEST} moves, to {}: count moves in the state, and end the game",
                self.0.name,
                shortened(&object)?
            )));
        }
        if HELD.load(Ordering::Relaxed) > MOST_HELD {
            return Err(wrong(format!(
                "games in Python hold more than {MOST_HELD} states and actions at once, the last one of `{}`: if it has many states, set \
                 small = False, measure by `evaluate.suites = [\"matches\"]`, and leave `minimax` and `optimal:` out; or take fewer threads",
                self.0.name
            )));
        }
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
        Ok(State { held: Held::new(object), turn, moves })
    }
}

/// How an object looks in a message.
fn shortened(object: &Bound<'_, PyAny>) -> PyResult<String> {
    const MOST: usize = 200;
    let text = object.repr()?.to_string();
    Ok(match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    })
}

/// The names and sizes in a dict.
fn sizes(what: &str, given: &Bound<'_, PyDict>) -> PyResult<Vec<(String, usize)>> {
    let size = |(name, size): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let needed = |_| wrong(format!("{what}: {name} = {size}: names and whole numbers are needed"));
        Ok((name.extract().map_err(needed)?, size.extract().map_err(needed)?))
    };
    given.iter().map(size).collect()
}

/// The channels of a number of inputs, or of named groups of inputs, and behind them the index channels.
fn channels(inputs: &Bound<'_, PyAny>, indices: &Bound<'_, PyAny>) -> PyResult<Vec<Channel>> {
    let groups = match inputs.cast::<PyDict>() {
        Ok(groups) => sizes("inputs", groups)?,
        Err(_) => {
            let needed =
                |_| wrong(format!("inputs = {inputs}: must be a whole number, or a dict of such numbers"));
            vec![("inputs".into(), inputs.extract().map_err(needed)?)]
        }
    };
    if let Some((name, _)) = groups.iter().find(|(_, width)| *width == 0) {
        return Err(wrong(format!("inputs: `{name}` has no numbers")));
    }
    let total = groups.iter().fold(0usize, |total, (_, width)| total.saturating_add(*width));
    if !(1..=INPUTS).contains(&total) {
        return Err(wrong(format!("inputs: a row has 1..{INPUTS} numbers, found {total}")));
    }
    let needed = |_| PyTypeError::new_err(format!("indices = {indices}: must be a dict of names and sizes"));
    let indices = sizes("indices", indices.cast::<PyDict>().map_err(needed)?)?;
    for (name, size) in &indices {
        if groups.iter().any(|(group, _)| group == name) {
            return Err(wrong(format!("indices: `{name}` is the name of inputs")));
        }
        if !(1..=INPUTS).contains(size) {
            return Err(wrong(format!("indices: {name} = {size}: must lie in 1..{INPUTS}")));
        }
    }
    let dense = groups.into_iter().map(|(name, width)| Channel::new(name, ChannelKind::Dense(width)));
    let index = indices.into_iter().map(|(name, size)| Channel::new(name, ChannelKind::Index(size as u64)));
    Ok(dense.chain(index).collect())
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
        self.call(|py, game| self.state(game, game.call_method0(intern!(py, "start"))?, 0))
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
            self.state(game, after, state.moves + 1)
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

    fn counting(&self) -> Counting {
        match self.0.unit.clone() {
            Some(name) => Counting::Unit(Unit { name: name.into(), size: 1.0 }),
            None => Counting::Points,
        }
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
            self.state(game, game.call_method1(intern!(py, "parse"), (text,))?, 0)
        };
        let state =
            Python::attach(read).map_err(|e| GameError::new(format!("`{text}` is not a position: {e}")))?;
        Ok((state, None))
    }

    fn action_text(&self, state: &State, action: &Thing) -> String {
        self.call(|py, game| {
            game.call_method1(intern!(py, "action_text"), (&state.held.object, &action.0.object))?.extract()
        })
    }
}

impl Kit for PyGame {
    fn card(&self) -> Card {
        Card { about: self.0.about.clone(), ..Card::of(self) }
    }

    fn encoders(&self) -> Encoders<'_, Self> {
        let about = "the inputs that the game's `encode` returns";
        Encoders::<Self>::default().with(ENCODER, about, || Arc::new(Inputs(self.clone())))
    }

    fn agents(&self) -> Agents<'_, Self> {
        let named = |(name, _): &(String, Py<PyAny>)| Named {
            name: Cow::Owned(name.clone()),
            about: "a policy written in Python".into(),
        };
        let names = self.0.scripts.iter().map(named).collect();
        Agents::scripts(Listing::new(names, |name| {
            let number = self.0.scripts.iter().position(|(known, _)| known == name)?;
            let play = move |game: &Self, state: &State, actions: &[Thing], probabilities: &mut Vec<f64>| {
                game.call(|py, _| game.policy(py, number, state, actions, probabilities));
            };
            Some(Arc::new(play) as Script<Self>)
        }))
    }

    fn action_numbers(&self) -> Numbering<Self> {
        Numbering { most: self.0.most_actions, ..Numbering::none() }
    }

    fn rule_text(&self) -> Option<&dyn RuleText> {
        Some(self)
    }

    fn is_small(&self) -> bool {
        self.0.is_small
    }

    /// Numbered by their text: the hash of a Python object may differ from process to process.
    fn positions(&self) -> Positions<Self> {
        Positions::new(Vec::new(), |state| number_of(&format!("{state:?}")))
    }
}

impl RuleText for PyGame {
    fn fingerprint(&self) -> Option<String> {
        self.0.fingerprint.get().cloned()
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
    /// Fills a row with the numbers that `encode` returned: the inputs, and behind them the indices.
    fn fill(&self, found: &Bound<'_, PyAny>, row: RowMut<'_>) -> PyResult<()> {
        if let Ok(array) = found.extract::<PyReadonlyArray1<'_, f32>>() {
            return self.put(array.as_array().iter().map(|number| f64::from(*number)), row);
        }
        if let Ok(array) = found.extract::<PyReadonlyArray1<'_, f64>>() {
            return self.put(array.as_array().iter().copied(), row);
        }
        let what =
            |e: PyErr| PyTypeError::new_err(format!("encode: a list or an array of numbers is needed: {e}"));
        let width = row.dense.len() + row.index.len();
        let mut list = Vec::with_capacity(width);
        for number in found.try_iter().map_err(what)?.take(width + 1) {
            list.push(number.and_then(|number| number.extract::<f64>()).map_err(what)?);
        }
        self.put(list.into_iter(), row)
    }

    fn put(&self, mut numbers: impl ExactSizeIterator<Item = f64>, row: RowMut<'_>) -> PyResult<()> {
        let RowMut { dense, index } = row;
        let (found, wanted) = (numbers.len(), dense.len() + index.len());
        if found != wanted {
            let what = if index.is_empty() { "inputs has" } else { "inputs and indices have" };
            return Err(wrong(format!("encode returned {found} numbers, but {what} {wanted}")));
        }
        for (to, number) in dense.iter_mut().zip(&mut numbers) {
            *to = number as f32;
        }
        if let Some(at) = dense.iter().position(|v| !v.is_finite()) {
            return Err(wrong(format!("encode returned {} as number {at}", dense[at])));
        }
        let channels = self.channels().iter().filter_map(|channel| match channel.kind {
            ChannelKind::Index(size) => Some((&channel.name, size)),
            _ => None,
        });
        for ((to, number), (name, size)) in index.iter_mut().zip(numbers).zip(channels) {
            if !(0.0..size as f64).contains(&number) || number.fract() != 0.0 {
                let text =
                    format!("encode returned {number} as `{name}`: a whole number in 0..{size} is needed");
                return Err(wrong(text));
            }
            *to = number as u64;
        }
        Ok(())
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
            self.fill(&object.call_method1(intern!(py, "encode"), with)?, row)
        });
    }

    fn needs_action(&self) -> bool {
        self.0.0.needs_action
    }
}
