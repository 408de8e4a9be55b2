//! Games, states and agents without their types, as Python steps them.
//!
//! A state is a node: the state of the game with its legal actions, which are listed when they are first asked for. An action is a node
//! and a place in its list, so that a list of actions costs nothing before one is taken from it.

use crate::games::visit;
use crate::held::{Encoded, Facts, Held, typed};
use crate::lanes::{AnyBatch, Lanes, Options};
use adept_erased::erased;
use adept_library::AnyGame;
use adept_library::arena::{Agent, Decision};
use adept_library::game::{
    Afterstate, Encoder, Game, GameError, GameInfo, Kit, Stream, Turn, Visitor, fingerprint, no_action,
    stream,
};
use pyo3::{FromPyObject, IntoPyObject};
use std::any::Any;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

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
pub(crate) struct Draw(pub(crate) u64, pub(crate) u64);

/// A step from a state to the next: a place among the actions or outcomes, or a sampled outcome.
#[derive(Clone, Copy, FromPyObject, IntoPyObject)]
pub(crate) enum Step {
    Listed(u32),
    Drawn(Draw),
}

impl From<&Place> for Step {
    fn from(place: &Place) -> Self {
        match place {
            Place::Move(place) | Place::Outcome(place) => Self::Listed(*place),
            Place::Drawn(_, by) => Self::Drawn(*by),
        }
    }
}

/// How a state was reached: from the position with this text, or from the start. A game in two seats may have one text for both,
/// so texts do not say all.
pub(crate) struct Way {
    pub(crate) from: Option<String>,
    pub(crate) steps: Vec<Step>,
}

/// A way whose steps share those before.
enum Path {
    From(Option<String>),
    Step(Option<Arc<Path>>, Step),
}

impl Path {
    fn before(&mut self) -> Option<Arc<Self>> {
        match self {
            Self::From(_) => None,
            Self::Step(before, _) => before.take(),
        }
    }
}

impl Drop for Path {
    /// One after the other: the usual way would need a frame for each move of a game.
    fn drop(&mut self) {
        let mut before = self.before();
        while let Some(path) = before {
            before = Arc::into_inner(path).and_then(|mut path| path.before());
        }
    }
}

/// Outcomes of chance with their probabilities.
type Listed<G> = Vec<(<G as Game>::Action, f64)>;

/// A state of a game.
struct Typed<G: Kit> {
    rules: Arc<Held<G>>,
    state: G::State,
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

    fn of(node: &dyn Node) -> Result<&Self, String> {
        node.as_any().downcast_ref().ok_or_else(|| "a state of another game".into())
    }

    /// The player for whom a row of the state is, and the action that led to it.
    fn acted(
        &self,
        encoder: &dyn Encoder<G>,
        view: Option<usize>,
    ) -> Result<(usize, Option<&G::Action>), String> {
        let game = &self.rules.game;
        if game.hides() {
            return Err(format!(
                "{} hides something: rows stand for actions; give `actions=`, or take `state.rows()`",
                game.name()
            ));
        }
        let last = match view {
            Some(view) => Some((view, None)),
            None => self.via.as_ref().map(|(player, action)| (*player, Some(action))),
        };
        let from_turn = || match self.turn {
            Turn::Player(player) if game.players() == 2 => Some(1 - player),
            _ => None,
        };
        let known = last.or_else(|| Some((game.just_acted(&self.state).or_else(from_turn)?, None)));
        let text = || game.position_text(&self.state);
        match known {
            None => Err(format!("`{}` does not show who moved last: take `state.rows()`", text())),
            Some((_, None)) if encoder.needs_action() => Err(format!(
                "the encoder `{}` needs the action that led to `{}`: take `state.rows()` of the state before",
                encoder.name(),
                text()
            )),
            Some(known) => Ok(known),
        }
    }
}

pub(crate) fn hash_of(value: &impl Hash) -> u64 {
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

    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn same(&self, other: &dyn AnyRules) -> bool {
        let other: Option<&Self> = other.as_any().downcast_ref();
        other.is_some_and(|other| {
            std::ptr::eq(self, other)
                || self.game.name() == other.game.name() && self.source() == other.source()
        })
    }

    /// What tells these rules from others of the same name.
    fn source(&self) -> Option<String> {
        self.file.map(|file| format!("{file:016x}")).or_else(|| fingerprint(&self.game))
    }

    fn start(self: Arc<Self>) -> Arc<dyn Node> {
        let start = self.game.start();
        Arc::new(Typed::new(self, start, None, Some(Arc::new(Path::From(None)))))
    }

    fn read(self: Arc<Self>, text: &str) -> Result<Arc<dyn Node>, GameError> {
        let (state, last) = self.game.parse_position(text)?;
        let via = last.and_then(|action| Some((self.game.just_acted(&state)?, action)));
        Ok(Arc::new(Typed::new(self, state, via, Some(Arc::new(Path::From(Some(text.into())))))))
    }

    /// Rows of states, or of actions in them. `view` is the player for whom states are encoded; otherwise it is the one who acted.
    fn encode(
        &self,
        encoder: Option<&str>,
        pairs: &[(&dyn Node, Option<&Place>)],
        view: Option<usize>,
    ) -> Result<Encoded, String> {
        let (game, encoder) = (&self.game, self.encoder(encoder)?);
        let mut found = Encoded::new(&*encoder, pairs.len(), "states")?;
        for &(node, place) in pairs {
            let node = Typed::<G>::of(node)?;
            let Some(place) = place else {
                let (player, action) = node.acted(&*encoder, view)?;
                found.push(game, &*encoder, Afterstate { state: &node.state, action, player });
                continue;
            };
            let Turn::Player(player) = node.turn else {
                let text = game.position_text(&node.state);
                return Err(format!("`{text}`: no player is to move, so no action has a row"));
            };
            let (mut after, action) = (node.state.clone(), node.action(place));
            if !game.hides() {
                game.apply(&mut after, action);
            }
            found.push(game, &*encoder, Afterstate { state: &after, action: Some(action), player });
        }
        Ok(found)
    }

    fn batch(self: Arc<Self>, options: &Options) -> Result<Box<dyn AnyBatch>, String> {
        Ok(Box::new(Lanes::new(self, options)?))
    }

    /// A state of a batch.
    fn of_batch(self: Arc<Self>, batch: &dyn AnyBatch, game: usize) -> Option<Arc<dyn Node>> {
        let state: &G::State = batch.state(game).downcast_ref()?;
        Some(Arc::new(Typed::new(self, state.clone(), None, None)))
    }

    fn agent(self: Arc<Self>, name: &str) -> Result<Box<dyn AnyAgent>, String> {
        let agent = typed(self.erased.agent(name).map_err(|e| e.to_string())?);
        Ok(Box::new(Player { rules: self, agent }))
    }

    /// The exact value of optimal play by all from a state, for the first player.
    fn minimax(&self, node: &dyn Node) -> Result<f64, String> {
        self.erased.minimax(&Typed::<G>::of(node)?.state).map_err(|e| e.to_string())
    }

    /// The same game, for what needs no state.
    fn erased(&self) -> &dyn AnyGame {
        &*self.erased
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
        let path = self.path.clone().map(|before| Arc::new(Path::Step(Some(before), place.into())));
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
            Place::Move(at) => Some(self.rules.number(&self.state, self.action(place), *at as usize)),
            _ => None,
        }
    }

    fn action_hash(&self, place: &Place) -> u64 {
        hash_of(self.action(place))
    }

    fn same_action(&self, place: &Place, other: &dyn Node, there: &Place) -> bool {
        Self::of(other)
            .is_ok_and(|other| self.rules.same(&*other.rules) && self.action(place) == other.action(there))
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
    fn way(&self) -> Option<Way> {
        let (mut at, mut steps) = (self.path.as_deref(), Vec::new());
        while let Some(Path::Step(before, step)) = at {
            steps.push(*step);
            at = before.as_deref();
        }
        steps.reverse();
        match at? {
            Path::From(from) => Some(Way { from: from.clone(), steps }),
            Path::Step(..) => None,
        }
    }

    fn info(&self, player: usize) -> Box<dyn Known> {
        Box::new(KnownBy::<G>(self.rules.game.info(&self.state, player)))
    }

    fn shown_to(&self, player: usize) -> Arc<dyn Node> {
        let shown = self.rules.game.shown_to(&self.state, player);
        Arc::new(Self::new(self.rules.clone(), shown, None, None))
    }

    fn hash(&self) -> u64 {
        hash_of(&self.state)
    }

    fn same(&self, other: &dyn Node) -> bool {
        Self::of(other).is_ok_and(|other| self.rules.same(&*other.rules) && self.state == other.state)
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

/// An agent of a game.
struct Player<G: Kit> {
    rules: Arc<Held<G>>,
    agent: Box<dyn Agent<G>>,
}

impl<G: Kit> Player<G> {
    /// The state, the player to move, and the legal actions.
    #[allow(clippy::type_complexity, reason = "three things")]
    fn at<'a>(&self, node: &'a dyn Node) -> Result<(&'a G::State, usize, Vec<G::Action>), String> {
        let state = &Typed::<G>::of(node)?.state;
        let Turn::Player(player) = node.turn() else {
            return Err(format!("`{}`: no player is to move", node.text()));
        };
        let mut actions = Vec::new();
        self.rules.game.actions(state, &mut actions);
        match actions.is_empty() {
            true => Err(no_action(&self.rules.game, state, player).to_string()),
            false => Ok((state, player, actions)),
        }
    }
}

/// An agent without the type of its game.
#[erased(pub(crate) trait AnyAgent: Send)]
impl<G: Kit> AnyAgent for Player<G> {
    fn name(&self) -> String {
        self.agent.name().into()
    }

    /// The probability of each legal action of a state in which a player is to move.
    fn policy(&mut self, node: &dyn Node) -> Result<Vec<f64>, String> {
        let (state, player, actions) = self.at(node)?;
        let mut probabilities = Vec::new();
        self.agent.policy(Decision::new(&self.rules.game, state, player), &actions, &mut probabilities);
        Ok(probabilities)
    }

    fn choose(&mut self, node: &dyn Node, rng: &mut Stream) -> Result<Place, String> {
        let (state, player, actions) = self.at(node)?;
        let at = Decision::new(&self.rules.game, state, player);
        Ok(Place::Move(self.agent.act(at, &actions, &mut Vec::new(), rng) as u32))
    }
}

/// The rules of a game as Python steps them. The number says what is in its rule file.
pub(crate) fn rules_of(game: &Arc<dyn AnyGame>, file: Option<u64>) -> Arc<dyn AnyRules> {
    struct Hold(Arc<dyn AnyGame>, Option<u64>);

    impl Visitor for Hold {
        type Output = Arc<dyn AnyRules>;

        fn visit<G: Kit>(self, game: G) -> Self::Output {
            Held::new(game, self.0, self.1)
        }
    }

    visit(&**game, Hold(game.clone(), file))
}
