//! The objects that Python steps: rules, states and actions, batches of games, agents.

use crate::errors::guarded;
use crate::games::{ALL, named};
use crate::held::{Encoded, MOST_NUMBERS};
use crate::lanes::{AnyBatch, Options, Stepped};
use crate::long::{on_its_own, until_interrupted};
use crate::shared::Shared;
use crate::typed::{AnyAgent, AnyRules, Draw, Known, Node, Place, Step, Way, hash_of, rules_of};
use crate::{fault, given};
use adept_library::game::{Turn, stream};
use adept_trainer::config::Games;
use adept_trainer::run::Cancel;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use std::sync::Arc;

/// Games side by side.
const GAMES: usize = 1 << 20;
/// Threads of a batch.
const THREADS: usize = 256;

/// The rules of a game, as `adept.game` finds them. Equal rules compare equal; they are pickled by name.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Rules(pub(crate) Arc<dyn AnyRules>);

/// The rules of a game by its name, such as `backgammon`, `file:PATH` or that of a registered game.
#[pyfunction]
pub(crate) fn find_game(py: Python<'_>, name: &str) -> PyResult<Rules> {
    let open = || {
        // A rule file may be another at the next call.
        let path = name.strip_prefix("file:").map(std::path::Path::new);
        let file = path.and_then(|path| std::fs::read(path).ok()).map(|bytes| hash_of(&bytes));
        Some(named(name)?.map(|game| rules_of(&game, file)))
    };
    let found = py.detach(|| guarded(open))?;
    let none = || {
        let names = ALL.names().join(", ");
        fault(format!("no game named `{name}`: {names}; your own games are known after adept.register"))
    };
    Ok(Rules(found.ok_or_else(none)?.map_err(fault)?))
}

/// A seed, or one from `random`: as all of `random` follows from `random.seed`, so does this.
fn seed_or_drawn(py: Python<'_>, seed: Option<i128>) -> PyResult<u64> {
    match seed {
        Some(seed) => given::seed(seed),
        None => py.import("random")?.call_method1("getrandbits", (48,))?.extract(),
    }
}

fn player_number(rules: &dyn AnyRules, given: i64) -> PyResult<usize> {
    let players = rules.facts().players;
    let fits = usize::try_from(given).ok().filter(|player| *player < players);
    fits.ok_or_else(|| fault(format!("player = {given}: players are 0 to {}", players - 1)))
}

/// The states in an argument, of these rules.
fn states_of<'py>(rules: &Arc<dyn AnyRules>, given: &Bound<'py, PyAny>) -> PyResult<Vec<PyRef<'py, State>>> {
    let needed = || PyTypeError::new_err("states: a list of states of this game is needed");
    if given.is_instance_of::<PyString>() {
        return Err(needed());
    }
    let mut states: Vec<PyRef<'py, State>> = Vec::new();
    for one in given.try_iter().map_err(|_| needed())? {
        let state: PyRef<'py, State> = one?.extract().map_err(|_| needed())?;
        if let Some(theirs) = state.of_others(rules) {
            return Err(fault(format!("states[{}] is {theirs}", states.len())));
        }
        states.push(state);
    }
    Ok(states)
}

/// Rows as arrays: `dense`, `index` and `exact`.
#[allow(clippy::type_complexity, reason = "three arrays")]
fn arrays<'py>(
    py: Python<'py>,
    found: Encoded,
) -> PyResult<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<u64>>, Bound<'py, PyArray1<f32>>)> {
    let Encoded { rows, exact } = found;
    let (n, dense, index) = (rows.len(), rows.dense_width(), rows.index_width());
    Ok((
        rows.dense.into_pyarray(py).reshape([n, dense])?,
        rows.index.into_pyarray(py).reshape([n, index])?,
        exact.into_pyarray(py),
    ))
}

/// `adept.Rows` of arrays.
fn rows_of(py: Python<'_>, found: Result<Encoded, String>) -> PyResult<Bound<'_, PyAny>> {
    py.import("adept._stepping")?.getattr("Rows")?.call1(arrays(py, found.map_err(fault)?)?)
}

/// The name of an agent, or the path of a checkpoint or a run.
fn agent_name(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(agent) = given.cast::<Agent>() {
        return Ok(agent.get().text.clone());
    }
    let path: Result<std::path::PathBuf, _> = given.extract();
    let path = path.map_err(|_| {
        PyTypeError::new_err(
            "agent: a name such as \"random\", or the path of a checkpoint or a run, is needed",
        )
    })?;
    path.into_os_string().into_string().map_err(|path| fault(format!("{}: is not text", path.display())))
}

/// Answers a question on a thread of its own, whose stack is deep enough for the longest game. Ctrl-C leaves it to itself; a game in
/// Python gives up.
fn answer<T: Send + 'static>(
    py: Python<'_>,
    rules: &Arc<dyn AnyRules>,
    question: impl FnOnce(&dyn AnyRules) -> Result<T, String> + Send + 'static,
) -> PyResult<T> {
    let held = rules.clone();
    let work = move || guarded(|| question(&*held));
    match rules.facts().is_in_python {
        true => until_interrupted(py, work)??,
        false => on_its_own(py, &Cancel::default(), work)??,
    }
    .map_err(fault)
}

#[pymethods]
impl Rules {
    #[getter]
    fn name(&self) -> &str {
        &self.0.facts().name
    }

    #[getter]
    fn players(&self) -> usize {
        self.0.facts().players
    }

    /// Whether players do not see everything.
    #[getter]
    fn hides(&self) -> bool {
        self.0.facts().hides
    }

    /// How many actions have a number, the same in every state; None if there are too many.
    #[getter]
    fn action_space(&self) -> Option<usize> {
        self.0.facts().space
    }

    /// Upper bound on the legal actions of a state; None if it is not known.
    #[getter]
    fn most_actions(&self) -> Option<usize> {
        self.0.facts().most_actions
    }

    /// What the game says of itself.
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let info = guarded(|| self.0.info())?;
        let named = |list: &[adept_library::game::Named]| -> Vec<serde_json::Value> {
            list.iter().map(|one| serde_json::json!({ "name": one.name, "about": one.about })).collect()
        };
        let classes = info.outcomes.as_ref().map_or(&[] as &[_], |classes| &**classes);
        let described = serde_json::json!({
            "name": info.name, "about": info.about, "players": info.players, "scale": info.scale,
            "zero_sum": info.zero_sum, "hides": info.hides, "small": info.is_small,
            "unit": info.unit.as_ref().map(|unit| &unit.name),
            "action_space": self.0.facts().space, "most_actions": self.0.facts().most_actions,
            "encoders": named(&info.encoders), "agents": info.agents(),
            "outcomes": classes.iter().map(|class| &class.name).collect::<Vec<_>>(),
        });
        crate::plain(py, &described)
    }

    /// The state in which a game begins.
    fn start(&self) -> PyResult<State> {
        Ok(State(guarded(|| self.0.clone().start())?))
    }

    /// The state with this text, as `str(state)` gives it, or in any form that the command reads: a gnubg Position ID, an XGID.
    #[allow(clippy::wrong_self_convention, reason = "the name in Python")]
    fn from_text(&self, text: &str) -> PyResult<State> {
        Ok(State(guarded(|| self.0.clone().read(text))?.map_err(fault)?))
    }

    /// The rows of states for the player who just acted, as a network values them. With `actions`, one for each state, the rows
    /// of the states after them. `player` encodes them for this player instead. Without an encoder, by the game's first.
    #[pyo3(signature = (states, encoder = None, actions = None, *, player = None))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        states: &Bound<'py, PyAny>,
        encoder: Option<&str>,
        actions: Option<&Bound<'py, PyAny>>,
        player: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if player.is_some() && actions.is_some() {
            return Err(fault("give `actions` or `player`: the player of an action is known"));
        }
        let view = player.map(|player| player_number(&*self.0, player)).transpose()?;
        let states = states_of(&self.0, states)?;
        let mut places: Vec<Option<Place>> = Vec::new();
        if let Some(actions) = actions {
            for (number, one) in actions.try_iter()?.enumerate() {
                let state = states.get(number).ok_or_else(|| fault("there are more actions than states"))?;
                places.push(Some(state.place(&one?)?));
            }
            if places.len() < states.len() {
                let (a, s) = (places.len(), states.len());
                return Err(fault(format!("{a} actions for {s} states: give one for each")));
            }
        } else {
            places.resize(states.len(), None);
        }
        let nodes: Vec<Arc<dyn Node>> = states.iter().map(|state| state.0.clone()).collect();
        drop(states);
        let found = py.detach(|| {
            guarded(|| {
                let pairs: Vec<(&dyn Node, Option<&Place>)> =
                    nodes.iter().zip(&places).map(|(node, place)| (&**node, place.as_ref())).collect();
                self.0.encode(encoder, &pairs, view)
            })
        })?;
        rows_of(py, found)
    }

    /// Begins `n` games side by side, at most 1,048,576. A game that takes `longest` moves is cut off.
    #[pyo3(signature = (n, seed = 1, *, longest = 10_000, threads = 1))]
    fn batch(&self, py: Python<'_>, n: i128, seed: i128, longest: i128, threads: i128) -> PyResult<Batch> {
        Batch::begin(py, &self.0, (n, seed, longest, threads))
    }

    /// Opens an agent: `random`, a script, `minimax`, `uct:1000`, `search:2:PATH`, or the path of a checkpoint or a run.
    fn agent(&self, py: Python<'_>, name: &Bound<'_, PyAny>) -> PyResult<Agent> {
        Agent::open(py, &self.0, &agent_name(name)?)
    }

    /// The exact expected utility of each player, with one agent in each seat. For small games.
    fn equity(&self, py: Python<'_>, agents: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        if agents.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err("agents: a list with an agent for each seat is needed"));
        }
        let names = agents.try_iter()?.map(|agent| agent_name(&agent?)).collect::<PyResult<Vec<_>>>()?;
        answer(py, &self.0, move |rules| rules.erased().equity(&names).map_err(|e| e.to_string()))
    }

    /// The exact expected utility of the best response in each seat, where the agent has all other seats. For small games, with
    /// hidden information too: `info` must then have perfect recall.
    fn best_responses(&self, py: Python<'_>, agent: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        let name = agent_name(agent)?;
        answer(py, &self.0, move |rules| rules.erased().best_responses(&name).map_err(|e| e.to_string()))
    }

    /// The mean of both best responses in a zero-sum game of two players: 0 at an equilibrium.
    fn exploitability(&self, py: Python<'_>, agent: &Bound<'_, PyAny>) -> PyResult<f64> {
        let info = guarded(|| self.0.info())?;
        if !info.zero_sum {
            let name = &info.name;
            return Err(fault(format!(
                "{name}: exploitability is for zero-sum games of two players; best_responses is for all"
            )));
        }
        let found = self.best_responses(py, agent)?;
        Ok(found.iter().sum::<f64>() / found.len() as f64)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other: Result<PyRef<'_, Self>, _> = other.extract();
        other.is_ok_and(|other| self.0.same(&*other.0))
    }

    fn __hash__(&self) -> u64 {
        hash_of(&self.0.facts().name)
    }

    /// What tells these rules from others of the same name, for pickles.
    fn _source(&self) -> PyResult<Option<String>> {
        guarded(|| self.0.source())
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("adept._stepping")?.getattr("_reduced")?.call1((slf,))
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        format!("adept.game({:?})", self.0.facts().name)
    }
}

/// A state of a game, chance and hidden parts included. It never changes: `apply` gives another. States hash, compare, copy and
/// pickle.
#[pyclass(frozen, freelist = 256, module = "adept")]
pub(crate) struct State(pub(crate) Arc<dyn Node>);

impl State {
    /// The place of an action, given as an action, its text, or its number.
    pub(crate) fn place(&self, given: &Bound<'_, PyAny>) -> PyResult<Place> {
        if let Ok(action) = given.cast::<Action>() {
            let action = action.get();
            if Arc::ptr_eq(&action.node, &self.0) {
                return Ok(action.place.clone());
            }
            // Its own list, since a game in Python may list others at a second call.
            let is_here = |place: &Place| match place {
                Place::Move(at) => (*at as usize) < self.0.moves(),
                Place::Outcome(at) => self.0.outcomes().is_some_and(|all| (*at as usize) < all.len()),
                Place::Drawn(..) => true,
            };
            if guarded(|| action.node.same(&*self.0) && is_here(&action.place))? {
                return Ok(action.place.clone());
            }
            let text = guarded(|| {
                let [theirs, ours] = [action.node.text(), self.0.text()];
                format!(
                    "`{}` is an action of `{theirs}`, not of `{ours}`",
                    action.node.action_text(&action.place)
                )
            })?;
            return Err(fault(text));
        }
        if let Ok(text) = given.cast::<PyString>() {
            return guarded(|| self.0.find(&text.to_string_lossy()))?.map_err(fault);
        }
        let found = given.get_type().name()?.to_string();
        Err(PyTypeError::new_err(format!(
            "action: an action of `state.actions()` or `state.outcomes()`, or its text, is needed, found {found}; `state.action(number)` \
             finds one by its number"
        )))
    }

    /// Says that it is a state of other rules than these.
    fn of_others(&self, rules: &Arc<dyn AnyRules>) -> Option<String> {
        let theirs = self.0.rules();
        let is_same = Arc::ptr_eq(&theirs, rules) || theirs.same(&**rules);
        (!is_same).then(|| format!("a state of {}, not of {}", theirs.facts().name, rules.facts().name))
    }

    fn player_number(&self, given: i64) -> PyResult<usize> {
        player_number(&*self.0.rules(), given)
    }
}

#[pymethods]
impl State {
    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.0.rules())
    }

    /// The player to move, from 0; None before chance and at the end.
    #[getter]
    fn player(&self) -> Option<usize> {
        match self.0.turn() {
            Turn::Player(player) => Some(player),
            _ => None,
        }
    }

    #[getter]
    fn is_chance(&self) -> bool {
        self.0.turn() == Turn::Chance
    }

    #[getter]
    fn is_over(&self) -> bool {
        self.0.turn() == Turn::Over
    }

    /// The shortest text of the position.
    #[getter]
    fn short_text(&self) -> PyResult<String> {
        guarded(|| self.0.short_text())
    }

    #[getter]
    fn just_acted(&self) -> PyResult<Option<usize>> {
        guarded(|| self.0.just_acted())
    }

    /// The legal actions of the player to move, always in the same order; none before chance and at the end.
    fn actions(&self) -> PyResult<Actions> {
        let len = guarded(|| self.0.moves())?;
        Ok(Actions { node: self.0.clone(), len })
    }

    /// The outcomes of chance with their probabilities. Raises `AdeptError` if there are too many to list.
    fn outcomes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let Some(found) = guarded(|| self.0.outcomes())? else {
            return Err(fault(format!(
                "`{}`: there are too many outcomes to list; draw one by state.sample(seed)",
                self.__str__()?
            )));
        };
        let pair = |(place, p): (usize, f64)| {
            let action = Action { node: self.0.clone(), place: Place::Outcome(place as u32) };
            Ok((Bound::new(py, action)?, p).into_pyobject(py)?.into_any())
        };
        let pairs: PyResult<Vec<_>> = found.into_iter().enumerate().map(pair).collect();
        PyList::new(py, pairs?)
    }

    /// An outcome of chance. One seed serves a whole game: it draws anew at each chance event. Without a seed, one is drawn from
    /// `random`.
    #[pyo3(signature = (seed = None))]
    fn sample(&self, py: Python<'_>, seed: Option<i128>) -> PyResult<Action> {
        if self.0.turn() != Turn::Chance {
            return Err(fault(format!("`{}`: it is not chance's turn", self.__str__()?)));
        }
        let seed = seed_or_drawn(py, seed)?;
        let place = guarded(|| self.0.draw(Draw(seed, self.0.plies())))?;
        Ok(Action { node: self.0.clone(), place })
    }

    /// The legal action with this number.
    fn action(&self, number: i64) -> PyResult<Action> {
        let found = guarded(|| {
            let places = (0..self.0.moves() as u32).map(Place::Move);
            places
                .into_iter()
                .find(|place| self.0.action_number(place).is_some_and(|own| own as i64 == number))
        })?;
        let node = self.0.clone();
        let none = || Ok(fault(format!("action {number} is not legal in `{}`", self.__str__()?)));
        match found {
            Some(place) => Ok(Action { node, place }),
            None => Err(none().unwrap_or_else(|error: PyErr| error)),
        }
    }

    /// The state after an action or an outcome of this state. A text is read as people write it.
    fn apply(&self, action: &Bound<'_, PyAny>) -> PyResult<Self> {
        let place = self.place(action)?;
        Ok(Self(guarded(|| self.0.after(&place))?))
    }

    /// The utility of each player, in ± `scale`, at the end of the game.
    fn returns(&self) -> PyResult<Vec<f64>> {
        match self.0.turn() {
            Turn::Over => guarded(|| self.0.utilities()),
            _ => Err(fault(format!("`{}`: the game is not over", self.__str__()?))),
        }
    }

    /// The exact utility under optimal play, for the player to move (before chance and at the end: for player 0). For small
    /// zero-sum games of two players in which nothing is hidden; chance is allowed.
    fn minimax(&self, py: Python<'_>) -> PyResult<f64> {
        let node = self.0.clone();
        let (rules, turn) = (node.rules(), node.turn());
        let value = answer(py, &rules, move |rules| rules.minimax(&*node))?;
        Ok(if turn == Turn::Player(1) { -value } else { value })
    }

    /// What a player knows.
    fn info(&self, player: i64) -> PyResult<Info> {
        let player = self.player_number(player)?;
        Ok(Info { known: guarded(|| self.0.info(player))?, rules: self.0.rules() })
    }

    /// The state without what this player cannot see, to look at: what is hidden is gone from it, so it cannot be played on.
    fn shown_to(&self, player: i64) -> PyResult<Self> {
        let player = self.player_number(player)?;
        Ok(Self(guarded(|| self.0.shown_to(player))?))
    }

    /// A drawing in several lines; for a player, of what the player sees.
    #[pyo3(signature = (player = None))]
    fn board(&self, player: Option<i64>) -> PyResult<String> {
        let player = player.map(|player| self.player_number(player)).transpose()?;
        guarded(|| self.0.board(player))
    }

    /// The rows of all legal actions, in their order, for the player to move.
    #[pyo3(signature = (encoder = None))]
    fn rows<'py>(&self, py: Python<'py>, encoder: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let found = guarded(|| {
            let places: Vec<Place> = (0..self.0.moves() as u32).map(Place::Move).collect();
            let pairs: Vec<_> = places.iter().map(|place| (&*self.0, Some(place))).collect();
            self.0.rules().encode(encoder, &pairs, None)
        })?;
        rows_of(py, found)
    }

    fn __str__(&self) -> PyResult<String> {
        guarded(|| self.0.text())
    }

    fn __repr__(&self) -> PyResult<String> {
        guarded(|| format!("<adept.State {} {}>", self.0.rules().facts().name, self.0.text()))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Self>() {
            Ok(other) => guarded(|| self.0.same(&*other.get().0)),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self) -> PyResult<u64> {
        guarded(|| self.0.hash())
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    /// By the moves that led here; otherwise by the text, if it says all.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.import("adept._stepping")?.getattr("_state")?;
        let rules = Rules(self.0.rules());
        if let Some(Way { from, steps }) = self.0.way() {
            return Ok((make, (rules, from, steps).into_pyobject(py)?));
        }
        let text = guarded(|| self.0.text())?;
        let back = guarded(|| self.0.rules().read(&text))?.map_err(fault)?;
        if !guarded(|| back.same(&*self.0))? {
            return Err(fault(format!("`{text}` does not say all of the state, which cannot be pickled")));
        }
        Ok((make, (rules, Some(text), Vec::<u32>::new()).into_pyobject(py)?))
    }
}

/// The legal actions of a state. An action is made when it is taken from the sequence.
#[pyclass(frozen, sequence, freelist = 64, module = "adept")]
pub(crate) struct Actions {
    node: Arc<dyn Node>,
    len: usize,
}

impl Actions {
    fn places(&self) -> impl Iterator<Item = Place> {
        (0..self.len as u32).map(Place::Move)
    }

    /// The place of an action among these.
    fn position(&self, action: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
        let Ok(action) = action.cast::<Action>() else { return Ok(None) };
        let Action { node, place } = action.get();
        guarded(|| self.places().position(|own| self.node.same_action(&own, &**node, place)))
    }

    /// The texts of the first actions.
    fn first_texts(&self, most: usize) -> PyResult<Vec<String>> {
        guarded(|| self.places().take(most).map(|place| self.node.action_text(&place)).collect())
    }
}

#[pymethods]
impl Actions {
    fn __len__(&self) -> usize {
        self.len
    }

    fn __getitem__<'py>(&self, py: Python<'py>, place: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let at = |place: usize| Action { node: self.node.clone(), place: Place::Move(place as u32) };
        if let Ok(slice) = place.cast::<pyo3::types::PySlice>() {
            let range = slice.indices(self.len as isize)?;
            let places = (0..range.slicelength as isize).map(|i| (range.start + i * range.step) as usize);
            let taken: PyResult<Vec<_>> = places.map(|place| Bound::new(py, at(place))).collect();
            return Ok(PyList::new(py, taken?)?.into_any());
        }
        let place: isize = place.extract()?;
        let from_start = if place < 0 { place + self.len as isize } else { place };
        match usize::try_from(from_start).ok().filter(|place| *place < self.len) {
            Some(place) => Ok(Bound::new(py, at(place))?.into_any()),
            None => Err(PyIndexError::new_err(format!("action {place} of {}", self.len))),
        }
    }

    fn __contains__(&self, action: &Bound<'_, PyAny>) -> PyResult<bool> {
        Ok(self.position(action)?.is_some())
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else { return Ok(false) };
        let other = other.get();
        let is_same = |place| self.node.same_action(&place, &*other.node, &place);
        guarded(|| self.len == other.len && self.places().all(is_same))
    }

    /// The place of an action.
    fn index(&self, action: &Bound<'_, PyAny>) -> PyResult<usize> {
        self.position(action)?.ok_or_else(|| PyValueError::new_err("not among these actions"))
    }

    fn count(&self, action: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(usize::from(self.position(action)?.is_some()))
    }

    /// The texts of all actions.
    fn texts(&self) -> PyResult<Vec<String>> {
        self.first_texts(self.len)
    }

    /// The number of each action.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let number = |place| self.node.action_number(&place).unwrap_or_default() as i64;
        let numbers: Vec<i64> = guarded(|| self.places().map(number).collect())?;
        Ok(numbers.into_pyarray(py))
    }

    fn __repr__(&self) -> PyResult<String> {
        const MOST: usize = 20;
        let texts = self.first_texts(MOST)?;
        let more = if self.len > MOST { format!(", … {} in all", self.len) } else { String::new() };
        Ok(format!("<adept.Actions {}{more}>", texts.join(", ")))
    }
}

/// A player's action, or an outcome of chance. `str(action)` is how people write it.
#[pyclass(frozen, freelist = 256, module = "adept")]
pub(crate) struct Action {
    pub(crate) node: Arc<dyn Node>,
    pub(crate) place: Place,
}

#[pymethods]
impl Action {
    /// As people write it.
    #[getter]
    fn text(&self) -> PyResult<String> {
        guarded(|| self.node.action_text(&self.place))
    }

    /// Its number in the action space; in games without one, its place among the legal actions.
    #[getter]
    fn number(&self) -> PyResult<Option<usize>> {
        guarded(|| self.node.action_number(&self.place))
    }

    fn __str__(&self) -> PyResult<String> {
        self.text()
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<adept.Action {}>", self.text()?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Self>() {
            Ok(other) => {
                let other = other.get();
                guarded(|| self.node.same_action(&self.place, &*other.node, &other.place))
            }
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self) -> PyResult<u64> {
        guarded(|| self.node.action_hash(&self.place))
    }

    fn __copy__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: PyRef<'py, Self>, _memo: &Bound<'py, PyAny>) -> PyRef<'py, Self> {
        slf
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        let make = py.import("adept._stepping")?.getattr("_action")?;
        Ok((make, (State(self.node.clone()), Step::from(&self.place)).into_pyobject(py)?))
    }
}

/// What a player knows: an information set. Two are equal if the player cannot tell the states apart.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Info {
    known: Box<dyn Known>,
    rules: Arc<dyn AnyRules>,
}

#[pymethods]
impl Info {
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        match other.cast::<Self>() {
            Ok(other) => {
                let other = other.get();
                guarded(|| self.rules.same(&*other.rules) && self.known.same(&*other.known))
            }
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self) -> PyResult<u64> {
        guarded(|| self.known.hash())
    }

    fn __str__(&self) -> PyResult<String> {
        guarded(|| self.known.text())
    }

    fn __repr__(&self) -> PyResult<String> {
        Ok(format!("<adept.Info {}>", self.__str__()?))
    }
}

/// The action or outcome of a state at this place, for pickles.
#[pyfunction]
pub(crate) fn action_at(state: &Bound<'_, State>, place: Step) -> PyResult<Action> {
    let node = state.get().0.clone();
    let changed = || fault("the rules have changed: there is no such action");
    let place = match (place, node.turn()) {
        (Step::Listed(place), _) => place,
        (Step::Drawn(by), Turn::Chance) => {
            let place = guarded(|| node.draw(by))?;
            return Ok(Action { node, place });
        }
        (Step::Drawn(_), _) => return Err(changed()),
    };
    let (place, count) = match node.turn() {
        Turn::Chance => (Place::Outcome(place), guarded(|| node.outcomes())?.map_or(0, |found| found.len())),
        _ => (Place::Move(place), guarded(|| node.moves())?),
    };
    match &place {
        Place::Move(at) | Place::Outcome(at) if (*at as usize) < count => Ok(Action { node, place }),
        _ => Err(changed()),
    }
}

/// Chooses actions. Threads may share one; they wait for each other. Ctrl-C leaves a search to end by itself.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Agent {
    agent: Arc<Shared<Box<dyn AnyAgent>>>,
    /// As it was named.
    text: String,
    rules: Arc<dyn AnyRules>,
}

impl Agent {
    /// Whether a decision may take so long that somebody presses Ctrl-C.
    fn is_slow(&self) -> bool {
        !self.rules.facts().is_in_python
            && ["uct:", "playouts:", "search:"].iter().any(|form| self.text.starts_with(form))
    }

    fn ask<R: Send + 'static>(
        &self,
        py: Python<'_>,
        state: &State,
        ask: impl FnOnce(&mut dyn AnyAgent, &dyn Node) -> Result<R, String> + Send + 'static,
    ) -> PyResult<R> {
        if let Some(theirs) = state.of_others(&self.rules) {
            return Err(fault(theirs));
        }
        let (node, agent) = (state.0.clone(), self.agent.clone());
        let work = move || guarded(|| agent.with(|agent| ask(&mut **agent, &*node)));
        // After Ctrl-C a search ends by itself; who asks the agent again waits for it.
        let found = if self.is_slow() { on_its_own(py, &Cancel::default(), work)? } else { py.detach(work) };
        found??.map_err(fault)
    }
}

#[pymethods]
impl Agent {
    #[getter]
    fn name(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.agent.with(|agent| agent.name()))
    }

    #[getter]
    fn rules(&self) -> Rules {
        Rules(self.rules.clone())
    }

    /// An action, drawn from the agent's policy by this seed; without one, by a seed from `random`.
    #[pyo3(signature = (state, seed = None))]
    fn choose(&self, py: Python<'_>, state: PyRef<'_, State>, seed: Option<i128>) -> PyResult<Action> {
        let seed = seed_or_drawn(py, seed)?;
        let mut rng = stream(seed, "choose", 0);
        let place = self.ask(py, &state, move |agent, node| agent.choose(node, &mut rng))?;
        Ok(Action { node: state.0.clone(), place })
    }

    /// The probability of each legal action, in their order.
    fn policy<'py>(&self, py: Python<'py>, state: PyRef<'py, State>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(self.ask(py, &state, |agent, node| agent.policy(node))?.into_pyarray(py))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Rules, &str))> {
        Ok((py.import("adept._stepping")?.getattr("_agent")?, (Rules(self.rules.clone()), &self.text)))
    }

    fn __repr__(&self) -> String {
        format!("<adept.Agent {} of {}>", self.text, self.rules.facts().name)
    }
}

impl Agent {
    /// Opens an agent.
    pub(crate) fn open(py: Python<'_>, rules: &Arc<dyn AnyRules>, name: &str) -> PyResult<Self> {
        let agent = py.detach(|| guarded(|| rules.clone().agent(name)))?.map_err(fault)?;
        Ok(Self { agent: Arc::new(Shared::new(agent)), text: name.into(), rules: rules.clone() })
    }
}

/// Games side by side, stepped without the interpreter's lock. Chance acts by itself, and a game that is over begins anew. Each
/// game draws from a stream of its own, so results depend on the seed alone.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Batch {
    games: Shared<Box<dyn AnyBatch>>,
    rules: Arc<dyn AnyRules>,
}

impl Batch {
    /// Without the interpreter's lock, which a game in Python or another thread may need.
    fn with<R: Send>(&self, py: Python<'_>, f: impl FnOnce(&mut dyn AnyBatch) -> R + Send) -> PyResult<R> {
        py.detach(|| guarded(|| self.games.with(|games| (!games.is_broken()).then(|| f(&mut **games)))))??
            .ok_or_else(|| fault("an earlier step was left halfway by an error: begin a new batch"))
    }
}

fn starts(counts: &[i32]) -> Vec<i64> {
    let mut first = vec![0];
    let mut sum = 0;
    first.extend(counts.iter().map(|count| {
        sum += i64::from(*count);
        sum
    }));
    first
}

#[pymethods]
impl Batch {
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.with(py, |games| games.len())
    }

    /// The player to move in each game.
    #[getter]
    fn player<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i8>>> {
        Ok(self.with(py, |games| games.to_move())?.into_pyarray(py))
    }

    /// The number of legal actions in each game.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i32>>> {
        Ok(self.with(py, |games| games.counts())?.into_pyarray(py))
    }

    /// Games that have ended or were cut off so far.
    #[getter]
    fn finished(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, |games| games.finished())
    }

    /// Which action numbers are legal: shape `(games, action_space)`, or without an action space `(games, most actions now)`.
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let found = self.with(py, |games| {
            let (n, width) = (games.len(), games.width());
            match n.saturating_mul(width) <= MOST_NUMBERS {
                true => Ok((games.mask(), n, width)),
                false => Err(format!("a mask of {n} games and {width} actions is too large: take `legal()`")),
            }
        })?;
        let (mask, n, width) = found.map_err(fault)?;
        mask.into_pyarray(py).reshape([n, width])
    }

    /// `(first, numbers)`: the legal actions of game i are `numbers[first[i]:first[i + 1]]`.
    #[allow(clippy::type_complexity, reason = "two arrays")]
    fn legal<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
        let (counts, numbers) = self.with(py, |games| (games.counts(), games.numbers()))?;
        Ok((starts(&counts).into_pyarray(py), numbers.into_pyarray(py)))
    }

    /// A legal action for each game, drawn uniformly.
    #[pyo3(signature = (places = false))]
    fn random<'py>(&self, py: Python<'py>, places: bool) -> PyResult<Bound<'py, PyArray1<i64>>> {
        Ok(self.with(py, |games| games.random(places))?.into_pyarray(py))
    }

    /// Makes an action in each game: shape `(games,)`, their numbers, or with `places` their places among the legal actions;
    /// without `actions`, those that `random` would draw. An action that is not legal raises `AdeptError`, and nothing changes.
    #[pyo3(signature = (actions = None, places = false))]
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: Option<&Bound<'py, PyAny>>,
        places: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numbers = |actions: &Bound<'py, PyAny>| match actions.extract::<PyReadonlyArray1<'_, i64>>() {
            Ok(array) if array.is_c_contiguous() && array.data().is_aligned() => {
                Ok(array.as_array().to_vec())
            }
            _ => whole(actions),
        };
        let chosen: Option<Vec<i64>> = actions.map(numbers).transpose()?;
        let found = self.with(py, |games| games.step(chosen.as_deref(), places))?;
        let (Stepped { rewards, over, cut }, players) = (found.map_err(fault)?, self.rules.facts().players);
        let rewards = rewards.into_pyarray(py).reshape([over.len(), players])?;
        let made = (rewards, over.into_pyarray(py), cut.into_pyarray(py));
        py.import("adept._stepping")?.getattr("Step")?.call1(made)
    }

    /// The rows of all legal actions of all games, for the players to move.
    #[pyo3(signature = (encoder = None))]
    fn rows<'py>(&self, py: Python<'py>, encoder: Option<&str>) -> PyResult<Bound<'py, PyAny>> {
        let (found, counts) = self.with(py, |games| (games.rows(encoder), games.counts()))?;
        let (dense, index, exact) = arrays(py, found.map_err(fault)?)?;
        let first = starts(&counts).into_pyarray(py);
        py.import("adept._stepping")?.getattr("BatchRows")?.call1((dense, index, exact, first))
    }

    /// The state of a game.
    fn state(&self, py: Python<'_>, game: isize) -> PyResult<State> {
        let found = self.with(py, |games| {
            let from_start = if game < 0 { game + games.len() as isize } else { game };
            let at = usize::try_from(from_start).ok().filter(|at| *at < games.len())?;
            self.rules.clone().of_batch(games, at)
        })?;
        found.map(State).ok_or_else(|| PyIndexError::new_err(format!("game {game} of a batch")))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (n, finished) = self.with(py, |games| (games.len(), games.finished()))?;
        Ok(format!("<adept.Batch {n} games of {}, {finished} finished>", self.rules.facts().name))
    }
}

/// Whole numbers of any kind.
fn whole(given: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    let py = given.py();
    let array = py.import("numpy")?.call_method1("asarray", (given,))?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    let is_empty = array.getattr("size")?.extract::<usize>()? == 0;
    if !matches!(&*kind, "i" | "u") && !is_empty {
        let found = array.getattr("dtype")?;
        return Err(PyTypeError::new_err(format!("actions: whole numbers are needed, found {found}")));
    }
    if kind == "u" && !is_empty && array.call_method0("max")?.gt(i64::MAX)? {
        return Err(fault("actions: a number is too large"));
    }
    let array = py.import("numpy")?.call_method1("require", (array, "int64", ["C", "A"]))?;
    let wrong = |_| PyTypeError::new_err("actions: an array of shape (games,) is needed");
    Ok(array.extract::<PyReadonlyArray1<'_, i64>>().map_err(wrong)?.as_array().to_vec())
}

impl Batch {
    /// Begins games side by side.
    pub(crate) fn begin(
        py: Python<'_>,
        rules: &Arc<dyn AnyRules>,
        (games, seed, longest, threads): (i128, i128, i128, i128),
    ) -> PyResult<Self> {
        let count = usize::try_from(games).ok().filter(|n| (1..=GAMES).contains(n));
        let games = count.ok_or_else(|| fault(format!("n = {games}: a batch has 1 to {GAMES} games")))?;
        let fits = u32::try_from(longest).ok().filter(|n| *n >= 1);
        let longest =
            fits.ok_or_else(|| fault(format!("longest = {longest}: must lie in 1..{}", u32::MAX)))?;
        let fits = usize::try_from(threads).ok().filter(|n| (1..=THREADS).contains(n));
        let threads = fits.ok_or_else(|| fault(format!("threads = {threads}: must lie in 1..{THREADS}")))?;
        let options = Options { games, seed: given::seed(seed)?, longest, threads };
        let made = py.detach(|| guarded(|| rules.clone().batch(&options)))?.map_err(fault)?;
        Ok(Self { games: Shared::new(made), rules: rules.clone() })
    }
}
