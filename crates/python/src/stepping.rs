//! Games that Python steps: rules, states, actions.
//!
//! A state is a node: the state of the game with its legal actions, which are listed when they are first asked for. An action is a node
//! and a place in its list, so that a list of actions costs nothing before one is taken from it.

use crate::agent::{self, Agent, AnyAgent, Exact};
use crate::batch::{AnyBatch, Batch, Lanes, Options};
use crate::errors::guarded;
use crate::fault;
use crate::games::registered;
use crate::long::{on_its_own, until_interrupted};
use adept_erased::erased;
use adept_library::arena::open;
use adept_library::game::{Afterstate, Encoder, Game, GameError, GameInfo, Kit, Turn, Visitor, stream};
use adept_library::model::Rows;
use adept_trainer::config::Games;
use adept_trainer::run::Cancel;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;
use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Numbers in the rows of one call.
pub(crate) const MOST_NUMBERS: usize = 1 << 28;

/// Rows with the exact value, for the player who acted, of those that end the game; NaN elsewhere.
pub(crate) struct Encoded {
    pub(crate) rows: Rows,
    pub(crate) exact: Vec<f32>,
}

/// Where an action is found.
#[derive(Clone)]
pub(crate) enum Place {
    /// Among the legal actions.
    Move(u32),
    /// Among the outcomes of chance.
    Outcome(u32),
    /// An outcome of chance that was sampled, where they cannot be listed.
    Drawn(Arc<dyn Any + Send + Sync>, Draw),
}

/// What a sampled outcome follows from: a seed, and how many moves and outcomes came before. One seed serves a whole game, since each
/// chance event has draws of its own.
#[derive(Clone, Copy, FromPyObject, IntoPyObject)]
pub(crate) struct Draw(u64, u64);

/// A place in a pickle.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) enum Pickled {
    Listed(u32),
    Drawn(Draw),
}

/// A stage on the way to a state.
#[derive(Clone)]
pub(crate) enum Stage {
    Start,
    Text(String),
    Move(u32),
    Outcome(u32),
    Drawn(Draw),
}

/// The way to a state: a game in two seats may have one text for both, so texts do not say all.
struct Path {
    before: Option<Arc<Path>>,
    stage: Stage,
}

impl Path {
    fn new(stage: Stage) -> Arc<Self> {
        Arc::new(Self { before: None, stage })
    }
}

impl Drop for Path {
    /// One after the other: the usual way would need a frame for each move of a game.
    fn drop(&mut self) {
        let mut before = self.before.take();
        while let Some(path) = before {
            before = Arc::into_inner(path).and_then(|mut path| path.before.take());
        }
    }
}

/// How Python found a game.
#[derive(Default)]
pub(crate) struct FoundBy {
    is_in_python: bool,
    /// What is in its rule file.
    file: Option<u64>,
}

/// The rules of a game.
pub(crate) struct Held<G: Kit> {
    pub(crate) game: G,
    by: FoundBy,
    /// Whether actions have numbers.
    pub(crate) is_numbered: bool,
    encoders: Mutex<FxHashMap<String, Arc<dyn Encoder<G>>>>,
}

/// Encoders that are kept open.
const MOST_ENCODERS: usize = 64;

impl<G: Kit> Held<G> {
    fn new(game: G, by: FoundBy) -> Arc<Self> {
        let is_numbered = game.action_numbers().space.is_some();
        Arc::new(Self { game, by, is_numbered, encoders: Mutex::default() })
    }

    /// The encoder of this name, or the usual one.
    pub(crate) fn encoder(&self, name: Option<&str>) -> Result<Arc<dyn Encoder<G>>, String> {
        let mut open = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        let key = name.unwrap_or_default();
        if let Some(encoder) = open.get(key) {
            return Ok(encoder.clone());
        }
        let encoder = open::encoder(&self.game, name).map_err(|e| e.to_string())?;
        encoder.fits(&self.game)?;
        if open.len() >= MOST_ENCODERS {
            open.clear();
        }
        open.insert(key.into(), encoder.clone());
        Ok(encoder)
    }

    /// A state whose way is not known.
    pub(crate) fn node(self: &Arc<Self>, state: G::State) -> Arc<dyn Node> {
        Arc::new(Typed::new(self.clone(), state, None, None))
    }
}

/// Outcomes of chance with their probabilities.
type Listed<G> = Vec<(<G as Game>::Action, f64)>;

/// A state of a game.
pub(crate) struct Typed<G: Kit> {
    rules: Arc<Held<G>>,
    pub(crate) state: G::State,
    turn: Turn,
    /// The player who acted last, and the action.
    via: Option<(usize, G::Action)>,
    path: Option<Arc<Path>>,
    /// Moves and outcomes of chance on the way here.
    plies: u64,
    actions: OnceLock<Vec<G::Action>>,
    outcomes: OnceLock<Option<Listed<G>>>,
}

/// Fills a cell. A second thread computes too, and does not wait: it may hold the interpreter that the first one needs.
fn filled<T>(cell: &OnceLock<T>, make: impl FnOnce() -> T) -> &T {
    match cell.get() {
        Some(there) => there,
        None => {
            let made = make();
            cell.get_or_init(|| made)
        }
    }
}

impl<G: Kit> Typed<G> {
    fn new(
        rules: Arc<Held<G>>,
        state: G::State,
        via: Option<(usize, G::Action)>,
        path: Option<Arc<Path>>,
    ) -> Self {
        let turn = rules.game.turn(&state);
        Self { rules, state, turn, via, path, plies: 0, actions: OnceLock::new(), outcomes: OnceLock::new() }
    }

    fn actions(&self) -> &[G::Action] {
        let list = || {
            let mut actions = Vec::new();
            self.rules.game.actions(&self.state, &mut actions);
            actions
        };
        filled(&self.actions, list).as_slice()
    }

    fn listed(&self) -> Option<&[(G::Action, f64)]> {
        let list = || {
            let mut outcomes = Vec::new();
            let is_listed = self.rules.game.outcomes(&self.state, &mut outcomes);
            is_listed.then_some(outcomes)
        };
        filled(&self.outcomes, list).as_deref()
    }

    fn action<'a>(&'a self, place: &'a Place) -> &'a G::Action {
        let found = match place {
            Place::Move(place) => self.actions().get(*place as usize),
            Place::Outcome(place) => {
                self.listed().and_then(|listed| listed.get(*place as usize)).map(|pair| &pair.0)
            }
            Place::Drawn(drawn, _) => drawn.downcast_ref(),
        };
        found.unwrap_or_else(|| unreachable!("a place is one of its node"))
    }

    fn of(node: &dyn Node) -> Option<&Self> {
        node.as_any().downcast_ref()
    }
}

fn hash_of(value: &impl Hash) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A game without its type.
#[erased(pub(crate) trait AnyRules: Send + Sync)]
impl<G: Kit> AnyRules for Held<G> {
    fn info(&self) -> GameInfo {
        GameInfo::of(&self.game)
    }

    fn name(&self) -> &str {
        self.game.name()
    }

    fn players(&self) -> usize {
        self.game.players()
    }

    fn hides(&self) -> bool {
        self.game.hides()
    }

    /// Number of actions that have a number.
    fn size(&self) -> Option<usize> {
        self.game.action_numbers().space
    }

    /// Upper bound on the legal actions of a state.
    fn most_actions(&self) -> Option<usize> {
        self.game.action_numbers().most
    }

    /// Whether these are rules in Python.
    fn is_in_python(&self) -> bool {
        self.by.is_in_python
    }

    /// What tells these rules from others of the same name.
    fn source(&self) -> Option<String> {
        self.by
            .file
            .map(|file| format!("{file:016x}"))
            .or_else(|| adept_library::game::fingerprint(&self.game))
    }

    fn same(&self, other: &dyn AnyRules) -> bool {
        let other: Option<&Self> = other.as_any().downcast_ref();
        other.is_some_and(|other| {
            std::ptr::eq(self, other)
                || self.game.name() == other.game.name() && self.source() == other.source()
        })
    }

    fn start(self: Arc<Self>) -> Arc<dyn Node> {
        let start = self.game.start();
        Arc::new(Typed::new(self, start, None, Some(Path::new(Stage::Start))))
    }

    fn read(self: Arc<Self>, text: &str) -> Result<Arc<dyn Node>, GameError> {
        let (state, last) = self.game.parse_position(text)?;
        let via = last.and_then(|action| Some((self.game.just_acted(&state)?, action)));
        Ok(Arc::new(Typed::new(self, state, via, Some(Path::new(Stage::Text(text.into()))))))
    }

    /// Rows of states, or of actions in them. `view` is the player for whom states are encoded; otherwise it is the one who acted.
    fn encode(
        &self,
        encoder: Option<&str>,
        pairs: &[(&dyn Node, Option<&Place>)],
        view: Option<usize>,
    ) -> Result<(Encoded, [usize; 2]), String> {
        let encoder = self.encoder(encoder)?;
        let mut rows = Rows::new(encoder.channels());
        let widths = [rows.dense_width(), rows.index_width()];
        if pairs.len().saturating_mul(widths[0] + widths[1]) > MOST_NUMBERS {
            return Err(format!(
                "{} rows of {} numbers: a call encodes at most {MOST_NUMBERS} numbers; take fewer states",
                pairs.len(),
                widths[0] + widths[1]
            ));
        }
        let mut exact = Vec::with_capacity(pairs.len());
        for &(node, place) in pairs {
            let node = Typed::<G>::of(node).ok_or("a state of another game")?;
            let (player, action, before) = match (place, node.turn) {
                (Some(place), Turn::Player(player)) => (player, Some(node.action(place)), true),
                (Some(_), _) => {
                    let text = self.game.position_text(&node.state);
                    return Err(format!("`{text}`: no player is to move, so no action has a row"));
                }
                (None, _) if self.game.hides() => {
                    return Err(format!(
                        "{} hides something: rows stand for actions; give `actions=`, or take `state.rows()`",
                        self.game.name()
                    ));
                }
                (None, turn) => {
                    let last = match view {
                        Some(view) => Some((view, None)),
                        None => node.via.as_ref().map(|(player, action)| (*player, Some(action))),
                    };
                    let from_turn = || match turn {
                        Turn::Player(player) if self.game.players() == 2 => Some(1 - player),
                        _ => None,
                    };
                    let known =
                        last.or_else(|| Some((self.game.just_acted(&node.state).or_else(from_turn)?, None)));
                    let text = || self.game.position_text(&node.state);
                    let Some((player, action)) = known else {
                        return Err(format!(
                            "`{}` does not show who moved last: take `state.rows()`",
                            text()
                        ));
                    };
                    if action.is_none() && encoder.needs_action() {
                        return Err(format!(
                            "the encoder `{}` needs the action that led to `{}`: take `state.rows()` of the state before",
                            encoder.name(),
                            text()
                        ));
                    }
                    (player, action, false)
                }
            };
            let after = match action {
                Some(action) if before && !self.game.hides() => {
                    let mut after = node.state.clone();
                    self.game.apply(&mut after, action);
                    Some(after)
                }
                _ => None,
            };
            let state = after.as_ref().unwrap_or(&node.state);
            let is_over = !self.game.hides() && self.game.turn(state) == Turn::Over;
            exact.push(match is_over {
                true => (self.game.utility(state, player) / self.game.scale()) as f32,
                false => f32::NAN,
            });
            let row = rows.push();
            // A finished game never reaches a model: its row is zeros.
            if !is_over {
                encoder.encode(&self.game, Afterstate { state, action, player }, row);
            }
        }
        Ok((Encoded { rows, exact }, widths))
    }

    fn batch(self: Arc<Self>, options: &Options) -> Result<Box<dyn AnyBatch>, String> {
        Ok(Box::new(Lanes::new(self, options)?))
    }

    fn agent(self: Arc<Self>, name: &str) -> Result<Box<dyn AnyAgent>, String> {
        agent::open(self, name)
    }

    fn exact(self: Arc<Self>, question: Exact) -> Result<agent::Answer, String> {
        agent::exact(&self, question)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// A state without its type.
#[erased(pub(crate) trait Node: Send + Sync)]
impl<G: Kit> Node for Typed<G> {
    fn rules(&self) -> Arc<dyn AnyRules> {
        self.rules.clone()
    }

    fn turn(&self) -> Turn {
        self.turn
    }

    /// Number of legal actions.
    fn moves(&self) -> usize {
        match self.turn {
            Turn::Player(_) => self.actions().len(),
            _ => 0,
        }
    }

    /// The probability of each outcome of chance. None if they can only be sampled.
    fn outcomes(&self) -> Option<Vec<f64>> {
        match self.turn {
            Turn::Chance => Some(self.listed()?.iter().map(|(_, p)| *p).collect()),
            _ => Some(Vec::new()),
        }
    }

    /// Draws an outcome of chance.
    fn draw(&self, by: Draw) -> Place {
        let mut rng = stream(by.0, "sample", by.1);
        let drawn = self.rules.game.sample(&self.state, &mut rng);
        let place = self.listed().and_then(|listed| listed.iter().position(|(outcome, _)| *outcome == drawn));
        place.map_or_else(|| Place::Drawn(Arc::new(drawn), by), |place| Place::Outcome(place as u32))
    }

    fn after(&self, place: &Place) -> Arc<dyn Node> {
        let action = self.action(place);
        let mut state = self.state.clone();
        self.rules.game.apply(&mut state, action);
        let via = match self.turn {
            Turn::Player(player) => Some((player, action.clone())),
            _ => None,
        };
        let stage = match place {
            Place::Move(place) => Stage::Move(*place),
            Place::Outcome(place) => Stage::Outcome(*place),
            Place::Drawn(_, by) => Stage::Drawn(*by),
        };
        let path = self.path.clone().map(|before| Arc::new(Path { before: Some(before), stage }));
        let after = Typed::new(self.rules.clone(), state, via, path);
        Arc::new(Self { plies: self.plies + 1, ..after })
    }

    /// The action or outcome with this text.
    fn find(&self, text: &str) -> Result<Place, GameError> {
        let game = &self.rules.game;
        let over = |what: &str| GameError::new(format!("`{}`: {what}", self.text()));
        match self.turn {
            Turn::Over => Err(over("the game is over")),
            Turn::Player(_) => {
                let action = game.parse_action(&self.state, text)?;
                let place = self.actions().iter().position(|one| *one == action);
                place.map(|place| Place::Move(place as u32)).ok_or_else(|| over("not a legal action"))
            }
            Turn::Chance => {
                let listed =
                    self.listed().ok_or_else(|| over("outcomes of chance can only be sampled here"))?;
                let is_it =
                    |(action, _): &(G::Action, f64)| game.action_text(&self.state, action) == text.trim();
                let place = listed.iter().position(is_it);
                place.map(|place| Place::Outcome(place as u32)).ok_or_else(|| {
                    let known: Vec<String> =
                        listed.iter().take(20).map(|(a, _)| game.action_text(&self.state, a)).collect();
                    let more = if listed.len() > known.len() { ", …" } else { "" };
                    GameError::new(format!(
                        "`{}` is not an outcome of chance here: {}{more}",
                        text.trim(),
                        known.join(", ")
                    ))
                })
            }
        }
    }

    fn action_text(&self, place: &Place) -> String {
        self.rules.game.action_text(&self.state, self.action(place))
    }

    fn action_number(&self, place: &Place) -> Option<usize> {
        match place {
            Place::Move(_) if self.rules.is_numbered => Some(self.rules.game.action_numbers().number(
                &self.rules.game,
                &self.state,
                self.action(place),
            )),
            Place::Move(place) => Some(*place as usize),
            _ => None,
        }
    }

    fn action_hash(&self, place: &Place) -> u64 {
        hash_of(self.action(place))
    }

    fn same_action(&self, place: &Place, other: &dyn Node, there: &Place) -> bool {
        Self::of(other)
            .is_some_and(|other| self.rules.same(&*other.rules) && self.action(place) == other.action(there))
    }

    /// Draws all that a player can see of the state.
    fn board(&self, seat: Option<usize>) -> String {
        match seat {
            Some(seat) => {
                let shown = self.rules.game.shown_to(&self.state, seat);
                self.rules.game.texts().board(&self.rules.game, &shown, &[], seat)
            }
            None => self.rules.game.texts().board(&self.rules.game, &self.state, &[], 0),
        }
    }

    fn text(&self) -> String {
        self.rules.game.position_text(&self.state)
    }

    fn short_text(&self) -> String {
        self.rules.game.texts().short(&self.rules.game, &self.state)
    }

    fn utilities(&self) -> Vec<f64> {
        let mut utilities = Vec::new();
        self.rules.game.utilities(&self.state, &mut utilities);
        utilities
    }

    fn just_acted(&self) -> Option<usize> {
        self.via.as_ref().map(|(player, _)| *player).or_else(|| self.rules.game.just_acted(&self.state))
    }

    /// Moves and outcomes of chance on the way here.
    fn plies(&self) -> u64 {
        self.plies
    }

    /// How the state was reached. None if it is not known.
    fn path(&self) -> Option<Vec<Stage>> {
        let mut at = Some(self.path.as_ref()?);
        let mut stages = Vec::new();
        while let Some(path) = at {
            stages.push(path.stage.clone());
            at = path.before.as_ref();
        }
        stages.reverse();
        Some(stages)
    }

    fn info(&self, player: usize) -> Box<dyn Known> {
        Box::new(KnownBy::<G>(self.rules.game.info(&self.state, player)))
    }

    fn shown_to(&self, player: usize) -> Arc<dyn Node> {
        let shown = self.rules.game.shown_to(&self.state, player);
        self.rules.node(shown)
    }

    fn hash(&self) -> u64 {
        hash_of(&self.state)
    }

    fn same(&self, other: &dyn Node) -> bool {
        Self::of(other).is_some_and(|other| self.rules.same(&*other.rules) && self.state == other.state)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct KnownBy<G: Game>(G::Info);

/// What a player knows.
#[erased(pub(crate) trait Known: Send + Sync)]
impl<G: Game> Known for KnownBy<G> {
    fn hash(&self) -> u64 {
        hash_of(&self.0)
    }

    fn same(&self, other: &dyn Known) -> bool {
        let other: Option<&Self> = other.as_any().downcast_ref();
        other.is_some_and(|other| self.0 == other.0)
    }

    fn text(&self) -> String {
        format!("{:?}", self.0)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The rules of a game, as `adept.game` finds them. Equal rules compare equal; they are pickled by name.
#[pyclass(frozen, module = "adept")]
pub(crate) struct Rules(pub(crate) Arc<dyn AnyRules>);

struct Opening(FoundBy);

impl Visitor for Opening {
    type Output = Arc<dyn AnyRules>;

    fn visit<G: Kit>(self, game: G) -> Self::Output {
        Held::new(game, self.0)
    }
}

/// The rules of a game by its name, such as `backgammon`, `file:PATH` or that of a registered game.
#[pyfunction]
pub(crate) fn find_game(py: Python<'_>, name: &str) -> PyResult<Rules> {
    let open = || match registered(name) {
        Some(game) => Some(Ok(Opening(FoundBy { is_in_python: true, file: None }).visit(game))),
        None => {
            // A rule file may be another at the next call.
            let path = name.strip_prefix("file:").map(std::path::Path::new);
            let file = path.and_then(|path| std::fs::read(path).ok()).map(|bytes| hash_of(&bytes));
            adept_builtin::visit(name, Opening(FoundBy { is_in_python: false, file }))
        }
    };
    let found = py.detach(|| guarded(open))?;
    let none = || {
        let names = Games::names(&crate::games::ALL).join(", ");
        fault(format!("no game named `{name}`: {names}; your own games are known after adept.register"))
    };
    Ok(Rules(found.ok_or_else(none)?.map_err(fault)?))
}

fn player_number(rules: &dyn AnyRules, given: i64) -> PyResult<usize> {
    let players = rules.players();
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
        let theirs = state.0.rules();
        if !Arc::ptr_eq(&theirs, rules) && !theirs.same(&**rules) {
            return Err(fault(format!(
                "states[{}] is a state of {}, not of {}",
                states.len(),
                theirs.name(),
                rules.name()
            )));
        }
        states.push(state);
    }
    Ok(states)
}

/// Rows as arrays: `dense`, `index` and `exact`.
#[allow(clippy::type_complexity, reason = "three arrays")]
pub(crate) fn arrays<'py>(
    py: Python<'py>,
    found: Encoded,
    widths: [usize; 2],
) -> PyResult<(Bound<'py, PyArray2<f32>>, Bound<'py, PyArray2<u64>>, Bound<'py, PyArray1<f32>>)> {
    let Encoded { rows, exact } = found;
    let n = rows.len();
    Ok((
        rows.dense.into_pyarray(py).reshape([n, widths[0]])?,
        rows.index.into_pyarray(py).reshape([n, widths[1]])?,
        exact.into_pyarray(py),
    ))
}

/// `adept.Rows` of arrays.
fn rows_of<'py>(py: Python<'py>, found: Encoded, widths: [usize; 2]) -> PyResult<Bound<'py, PyAny>> {
    let arrays = arrays(py, found, widths)?;
    py.import("adept._stepping")?.getattr("Rows")?.call1(arrays)
}

/// The name of an agent, or the path of a checkpoint or a run.
fn agent_name(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(agent) = given.cast::<Agent>() {
        return Ok(agent.get().text().into());
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
fn answer(py: Python<'_>, rules: &Arc<dyn AnyRules>, question: Exact) -> PyResult<Vec<f64>> {
    let (held, cancel) = (rules.clone(), Cancel::default());
    let work = move || guarded(|| held.exact(question));
    match rules.is_in_python() {
        true => until_interrupted(py, work)??,
        false => on_its_own(py, &cancel, work)??,
    }
    .map_err(fault)
}

impl Rules {
    fn exact(&self, py: Python<'_>, question: Exact) -> PyResult<Vec<f64>> {
        answer(py, &self.0, question)
    }
}

#[pymethods]
impl Rules {
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    #[getter]
    fn players(&self) -> usize {
        self.0.players()
    }

    /// Whether players do not see everything.
    #[getter]
    fn hides(&self) -> bool {
        self.0.hides()
    }

    /// How many actions have a number, the same in every state; None if there are too many.
    #[getter]
    fn action_space(&self) -> Option<usize> {
        self.0.size()
    }

    /// Upper bound on the legal actions of a state; None if it is not known.
    #[getter]
    fn most_actions(&self) -> Option<usize> {
        self.0.most_actions()
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
            "action_space": self.0.size(), "most_actions": self.0.most_actions(),
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
        let (found, widths) = found.map_err(fault)?;
        rows_of(py, found, widths)
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
        self.exact(py, Exact::Equity(names))
    }

    /// The exact expected utility of the best response in each seat, where the agent has all other seats. For small games, with
    /// hidden information too: `info` must then have perfect recall.
    fn best_responses(&self, py: Python<'_>, agent: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
        self.exact(py, Exact::BestResponses(agent_name(agent)?))
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
        hash_of(&self.0.name())
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
        format!("adept.game({:?})", self.0.name())
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
        let seed = match seed {
            Some(seed) => crate::given::seed(seed)?,
            // As all of `random` follows from `random.seed`, so does this.
            None => py.import("random")?.call_method1("getrandbits", (48,))?.extract()?,
        };
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
        let found = answer(py, &node.rules(), Exact::Minimax(node.clone()))?;
        let sign = if node.turn() == Turn::Player(1) { -1.0 } else { 1.0 };
        Ok(found.first().map_or(f64::NAN, |value| sign * value))
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
        let (found, widths) = found.map_err(fault)?;
        rows_of(py, found, widths)
    }

    fn __str__(&self) -> PyResult<String> {
        guarded(|| self.0.text())
    }

    fn __repr__(&self) -> PyResult<String> {
        guarded(|| format!("<adept.State {} {}>", self.0.rules().name(), self.0.text()))
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
        if let Some(stages) = self.0.path() {
            let (mut text, mut moves) = (None, Vec::with_capacity(stages.len()));
            for stage in stages {
                match stage {
                    Stage::Start => {}
                    Stage::Text(from) => text = Some(from),
                    Stage::Move(place) | Stage::Outcome(place) => moves.push(Pickled::Listed(place)),
                    Stage::Drawn(by) => moves.push(Pickled::Drawn(by)),
                }
            }
            return Ok((make, (rules, text, moves).into_pyobject(py)?));
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
        let Ok(action) = action.cast::<Action>() else { return Ok(false) };
        let action = action.get();
        guarded(|| {
            (0..self.len as u32)
                .any(|place| self.node.same_action(&Place::Move(place), &*action.node, &action.place))
        })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Ok(other) = other.cast::<Self>() else { return Ok(false) };
        let other = other.get();
        guarded(|| {
            self.len == other.len
                && (0..self.len as u32)
                    .map(Place::Move)
                    .all(|place| self.node.same_action(&place, &*other.node, &place))
        })
    }

    /// The place of an action.
    fn index(&self, action: &Bound<'_, PyAny>) -> PyResult<usize> {
        let found = match action.cast::<Action>() {
            Ok(action) => {
                let action = action.get();
                guarded(|| {
                    (0..self.len).find(|&place| {
                        self.node.same_action(&Place::Move(place as u32), &*action.node, &action.place)
                    })
                })?
            }
            Err(_) => None,
        };
        found.ok_or_else(|| PyValueError::new_err("not among these actions"))
    }

    fn count(&self, action: &Bound<'_, PyAny>) -> PyResult<usize> {
        Ok(usize::from(self.__contains__(action)?))
    }

    /// The texts of all actions.
    fn texts(&self) -> PyResult<Vec<String>> {
        guarded(|| (0..self.len as u32).map(|place| self.node.action_text(&Place::Move(place))).collect())
    }

    /// The number of each action.
    fn numbers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let number = |place| self.node.action_number(&Place::Move(place)).unwrap_or_default() as i64;
        let numbers: Vec<i64> = guarded(|| (0..self.len as u32).map(number).collect())?;
        Ok(numbers.into_pyarray(py))
    }

    fn __repr__(&self) -> PyResult<String> {
        const MOST: usize = 20;
        let shown = self.len.min(MOST);
        let texts: Vec<String> =
            guarded(|| (0..shown as u32).map(|place| self.node.action_text(&Place::Move(place))).collect())?;
        let more = if self.len > shown { format!(", … {} in all", self.len) } else { String::new() };
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
        let place = match &self.place {
            Place::Move(place) | Place::Outcome(place) => Pickled::Listed(*place),
            Place::Drawn(_, by) => Pickled::Drawn(*by),
        };
        let make = py.import("adept._stepping")?.getattr("_action")?;
        Ok((make, (State(self.node.clone()), place).into_pyobject(py)?))
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
pub(crate) fn action_at(state: &Bound<'_, State>, place: Pickled) -> PyResult<Action> {
    let node = state.get().0.clone();
    let changed = || fault("the rules have changed: there is no such action");
    let place = match (place, node.turn()) {
        (Pickled::Listed(place), _) => place,
        (Pickled::Drawn(by), Turn::Chance) => {
            let place = guarded(|| node.draw(by))?;
            return Ok(Action { node, place });
        }
        (Pickled::Drawn(_), _) => return Err(changed()),
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
