//! A type-erased game with its open agents, shared by many sessions and requests.

use crate::error::PlayError;
use crate::record::{History, Record};
use crate::session::{Next, Session, Step, WayToResign};
use adept_arena::inspect::{self, Detail, PositionValue};
use adept_arena::naming::{self, AgentSpec, AnySearch, Judge, Meaning, Play as Choice, Resolved};
use adept_arena::open::{self, OpenError};
use adept_arena::review::{Account, Judged, Step as ReviewedStep, add_luck, judge_each};
use adept_arena::{Agent, Decision, GameModel, Greedy, Pool, Scratch};
use adept_erased::erased;
use adept_game::{
    Kit, ParsedPosition, Records, first_side, no_action, outcome_classes, outcome_of, writable_records,
};
use adept_model::OutcomeClass;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Largest number of legal moves whose resulting positions are shown.
const POSITIONS: usize = 300;
/// Largest number of listed legal moves.
const MOVES: usize = 5000;
/// Number of events after which the person can no longer move. What follows a move still fits into a record.
const LONGEST: usize = Record::EVENTS - 1000;

/// Description of a game for its players.
#[derive(Clone, Debug, Serialize)]
pub struct GameAbout {
    /// Name of the rule set.
    pub name: String,
    /// One-line description.
    pub about: String,
    /// Number of players.
    pub players: usize,
    /// Whether it has hidden information.
    pub hides: bool,
    /// Whether it is a two-player zero-sum game.
    pub zero_sum: bool,
    /// The unit of its results, such as points.
    pub unit: Option<Cow<'static, str>>,
    /// The largest result, in that unit.
    pub scale: f64,
    /// The classes of its results; empty if it has none. Utilities are shares of the scale.
    pub classes: Vec<OutcomeClass>,
    /// The rules in short.
    pub rules: Option<String>,
}

/// A game from the person's view. Players are counted from 1.
#[derive(Clone, Debug, Serialize)]
pub struct View {
    /// Rule set.
    pub game: String,
    /// Name of the agent in all other seats.
    pub opponent: String,
    /// The person's seat.
    pub seat: usize,
    /// Number of players.
    pub players: usize,
    /// Seed of the dice and of the agent's random draws; none while the game hides what follows from it.
    pub seed: Option<u64>,
    /// Changes with every move and every undo.
    pub turn: u64,
    /// All events so far.
    pub events: Vec<EventView>,
    /// The starting position.
    pub begin: String,
    /// Drawing of the starting position, as in an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begin_board: Option<String>,
    /// The position.
    pub position: String,
    /// A multi-line drawing of the position.
    pub board: String,
    /// Player to move; none if the game is over.
    pub to_move: Option<usize>,
    /// The side that comes first in texts of positions, in games with two sides.
    pub next: Option<usize>,
    /// Whether the person is to move.
    pub your_turn: bool,
    /// The person's legal moves.
    pub moves: Vec<MoveView>,
    /// Whether the game is over.
    pub over: bool,
    /// The result.
    pub outcome: Option<OutcomeView>,
    /// Whether a move can be undone.
    pub can_undo: bool,
    /// Classes of results available for resignation, smallest loss first.
    pub resignations: Vec<String>,
    /// Suffix of files of whole games of this kind, such as `mat`; none while the game hides something from the person.
    pub history: Option<&'static str>,
    /// The game as its record; none while it hides something from the person.
    pub record: Option<Record>,
}

/// A chance event or a move.
#[derive(Clone, Debug, Serialize)]
pub struct EventView {
    /// Player who moved; none for a chance event.
    pub player: Option<usize>,
    /// The move or the outcome; empty for outcomes in games with hidden information.
    #[serde(rename = "move")]
    pub action: String,
    /// The event as a sentence; empty if it is irrelevant to the person.
    pub text: String,
    /// The position after the event.
    pub position: String,
    /// The side that comes first in the position, in games with two sides.
    pub next: Option<usize>,
    /// A multi-line drawing of the position, in games with hidden information, whose positions omit payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
}

/// A legal move.
#[derive(Clone, Debug, Serialize)]
pub struct MoveView {
    /// The move.
    #[serde(rename = "move")]
    pub action: String,
    /// The position after the move, if there are few moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
}

/// Result of a game for the person.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomeView {
    /// The result in the unit of the game, otherwise its utility.
    pub utility: f64,
    /// Description of the result.
    pub text: String,
    /// Class of the result, if the game has classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

/// An agent's hints about the person's moves.
#[derive(Debug, Serialize)]
pub struct Hints {
    /// Values of the moves, if the agent has values.
    pub value: Option<PositionValue>,
    /// Hints of the game or the agent as text.
    pub text: Option<String>,
}

/// Loss of each decision of a game and luck of each player, in the unit of the game.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// The agent whose values define losses.
    pub by: String,
    /// The rule set.
    pub game: String,
    /// The unit.
    pub unit: Option<Cow<'static, str>>,
    /// The utility of the unit; 1 without one.
    pub unit_size: f64,
    /// The utility of the result for player 1.
    pub result: Option<f64>,
    /// Whether its values are exact.
    pub exact: bool,
    /// The game's exact tables, which replace its values where they know the position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<String>,
    /// The players in order.
    pub players: Vec<PlayerAnalysis>,
    /// All actions and chance events, in units of utility.
    pub steps: Vec<ReviewedStep>,
}

/// One player's statistics in an [`Analysis`].
#[derive(Clone, Debug, Serialize)]
pub struct PlayerAnalysis {
    /// The player.
    pub player: usize,
    /// Number of decisions between several moves.
    pub decisions: u64,
    /// Sum of the losses of wrong decisions.
    pub loss: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss_ci95: Option<f64>,
    /// Mean loss per decision; none without decisions.
    pub loss_per_decision: Option<f64>,
    /// Number of decisions with a loss beyond the error of the estimates.
    pub wrong: u64,
    /// Number of decisions with a loss within the error of the estimates.
    pub undecided: u64,
    /// Sum of the luck of all chance events.
    pub luck: f64,
    /// Half the width of its 95 % interval, if the values are estimates from samples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub luck_ci95: Option<f64>,
}

/// A reference to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AgentText {
    /// Its name for people.
    pub name: String,
    /// Its name in commands, with the path of its checkpoint.
    pub text: String,
    /// Whether to use the best checkpoint of a run instead of the latest.
    pub best: bool,
}

/// Creates a room without sessions and open agents. Searches stop after `patience` and answer with their result so far.
pub fn room<G: Kit>(game: Arc<G>, patience: Duration) -> Arc<dyn AnyRoom> {
    Arc::new(Room { game, patience, opened_agents: Mutex::default() })
}

/// Largest number of open agents of a game.
const MOST_OPENED: usize = 64;

/// Largest number of parameters of a network that answers immediately.
const QUICK: usize = 1_000_000;

struct Room<G: Kit> {
    game: Arc<G>,
    patience: Duration,
    opened_agents: Mutex<HashMap<AgentText, Arc<OpenedAgent<G>>>>,
}

/// An open agent.
enum OpenedAgent<G: Kit> {
    /// A checkpoint with its usual play: a copy per thread.
    Model { pool: Box<Pool<G>>, is_small: bool, has_parts: bool },
    /// An agent that plays the best move of a search, for one thread at a time.
    Search(Mutex<AnySearch<G>>),
    /// Any other agent, for one thread at a time.
    Other {
        found: Box<Resolved>,
        best: bool,
        agent: Mutex<Box<dyn Agent<G>>>,
        /// Its values, opened on first use; none if it has none.
        values: Mutex<Option<AnySearch<G>>>,
    },
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<G: Kit> Room<G> {
    /// Returns an agent, opening it on first use.
    fn opened(&self, agent: &AgentText) -> Result<Arc<OpenedAgent<G>>, OpenError> {
        if let Some(opened) = locked(&self.opened_agents).get(agent) {
            return Ok(opened.clone());
        }
        let opened = Arc::new(OpenedAgent::open(&*self.game, agent)?);
        let mut all = locked(&self.opened_agents);
        if all.len() >= MOST_OPENED {
            // Agents in use are kept.
            all.retain(|_, opened| Arc::strong_count(opened) > 1);
        }
        if all.len() >= MOST_OPENED {
            return Err(OpenError::Unknown(format!(
                "{MOST_OPENED} agents of {} are playing, which is the limit: choose one of them",
                self.game.name()
            )));
        }
        Ok(all.entry(agent.clone()).or_insert(opened).clone())
    }

    /// An agent's values of a position; none if it has no values.
    fn value_of(
        &self,
        agent: &AgentText,
        at: &ParsedPosition<G>,
        text: String,
        detail: Detail,
        until: Instant,
    ) -> Result<Option<PositionValue>, OpenError> {
        let game = &*self.game;
        let by = |search: &mut AnySearch<G>, text| {
            search.until = Some(until);
            inspect::inspect_by(game, search, at, text, true).map(Some)
        };
        match &*self.opened(agent)? {
            OpenedAgent::Model { pool, .. } => {
                pool.with(game, |bound| inspect::inspect(game, bound, at, text, detail))?.map(Some)
            }
            OpenedAgent::Search(search) => by(&mut locked(search), text),
            OpenedAgent::Other { found, best, values, .. } => {
                let mut values = locked(values);
                if values.is_none() {
                    *values = naming::evaluator(game, found, *best)?;
                }
                match &mut *values {
                    Some(search) => by(search, text),
                    None => Ok(None),
                }
            }
        }
    }

    /// Deadline of a search that starts now.
    fn until(&self) -> Instant {
        Instant::now() + self.patience
    }
}

impl<G: Kit> OpenedAgent<G> {
    fn open(game: &G, agent: &AgentText) -> Result<Self, OpenError> {
        let found = naming::resolve(game, &agent.text, &[])?;
        Ok(match found.plain_folder() {
            Some(folder) => {
                let (bound, _) = open::open_with(game, folder, agent.best, found.spec.tables())?;
                let is_small = bound.model.describe().parameters <= QUICK;
                let has_parts = bound.model.has_parts();
                Self::Model { pool: Box::new(Pool::new(game, bound, |bound| bound)?), is_small, has_parts }
            }
            None if is_search(&found) => match naming::evaluator(game, &found, agent.best)? {
                Some(search) => Self::Search(Mutex::new(search)),
                None => return Err(without_values(agent)),
            },
            None => Self::Other {
                best: agent.best,
                agent: Mutex::new(naming::build(game, &found, agent.best)?),
                values: Mutex::new(None),
                found: Box::new(found),
            },
        })
    }

    /// Calls `f` with the agent, whose decisions must end at `until`.
    fn with_agent<R>(
        &self,
        game: &G,
        until: Instant,
        f: impl FnOnce(&mut dyn Agent<G>) -> R,
    ) -> Result<R, OpenError> {
        match self {
            Self::Model { pool, .. } => Ok(pool.with(game, |bound: &mut GameModel<G>| {
                let head = bound.model.head().clone();
                f(&mut *open::by_head(bound, &head))
            })?),
            Self::Search(search) => {
                let mut search = locked(search);
                search.until = Some(until);
                Ok(f(&mut Greedy::new(&mut *search)))
            }
            Self::Other { agent, .. } => Ok(f(&mut **locked(agent))),
        }
    }
}

/// Whether an agent plays the best move of a search.
fn is_search(found: &Resolved) -> bool {
    matches!(found.spec, AgentSpec::Model { play: Choice::Greedy, search: Some(_), .. })
}

fn without_values(agent: &AgentText) -> OpenError {
    OpenError::Unknown(format!("`{}` is an agent without values", agent.name))
}

/// A game and its agents. Agents are opened on first use and stay open. Players are counted from 0 in arguments.
#[erased(pub trait AnyRoom: Send + Sync)]
impl<G: Kit> AnyRoom for Room<G> {
    /// The game.
    fn about(&self) -> GameAbout {
        let game = &*self.game;
        let unit = game.counting().unit();
        GameAbout {
            name: game.name().into(),
            about: game.card().about,
            players: game.players(),
            hides: game.hides(),
            zero_sum: game.zero_sum(),
            scale: game.scale() / unit.as_ref().map_or(1.0, |unit| unit.size),
            unit: unit.map(|unit| unit.name),
            classes: outcome_classes(game).unwrap_or_default(),
            rules: game.texts().rules(game),
        }
    }

    /// Values of a position and its moves by an agent. A search returns its result so far at `until`.
    ///
    /// # Errors
    /// If the agent cannot be opened or has no values, or the text is not a position.
    fn value(
        &self,
        agent: &AgentText,
        position: &str,
        detail: Detail,
        until: Instant,
    ) -> Result<PositionValue, OpenError> {
        let mut read = inspect::read(&*self.game, &[position])?;
        let Some(at) = read.pop() else { return Err(OpenError::Unknown("there is no position".into())) };
        // IDs of other programs are converted to the game's own text.
        let text = self.game.position_text(&at.0);
        let found = self.value_of(agent, &at, text, detail, until)?;
        let mut found = found.ok_or_else(|| without_values(agent))?;
        found.moves.truncate(detail.moves);
        Ok(found)
    }

    /// Whether an agent is open and answers immediately: with one evaluation of a small network.
    fn is_quick(&self, agent: &AgentText, detail: Detail) -> bool {
        let is_quick = |opened: &Arc<OpenedAgent<G>>| match **opened {
            OpenedAgent::Model { is_small, has_parts, .. } => is_small && !(has_parts && detail.experts),
            _ => false,
        };
        locked(&self.opened_agents).get(agent).is_some_and(is_quick)
    }

    /// Starts a game at its first position: [`AnyPlay::go_on`] lets chance and agents move.
    ///
    /// # Errors
    /// If the agent cannot be opened, the seat does not exist, or the text is not a position that can be continued.
    fn begin(
        self: Arc<Self>,
        opponent: &AgentText,
        seat: usize,
        seed: u64,
        from: Option<&str>,
    ) -> Result<Box<dyn AnyPlay>, PlayError> {
        Ok(Box::new(Play::begin(self, opponent, seat, seed, from)?))
    }

    /// Repeats a recorded game up to its position. The rule set is that of the room, and the opponent may have changed: it plays on from
    /// there.
    ///
    /// # Errors
    /// As those of [`begin`](AnyRoom::begin), and [`PlayError::Record`] if the record leads to another position or none.
    fn restore(
        self: Arc<Self>,
        opponent: &AgentText,
        record: &Record,
    ) -> Result<Box<dyn AnyPlay>, PlayError> {
        let refused = |why: &str| PlayError::Record(why.into());
        if record.format != Record::FORMAT {
            return Err(refused("it was written by another version of this program"));
        }
        let seat = record.seat.checked_sub(1).ok_or_else(|| refused("seats are counted from 1"))?;
        let mut play = Play::begin(self, opponent, seat, record.seed, record.from.as_deref())?;
        play.repeat(record)?;
        Ok(Box::new(play))
    }
}

struct Play<G: Kit> {
    room: Arc<Room<G>>,
    agent: Arc<OpenedAgent<G>>,
    opponent: AgentText,
    session: Session<G>,
    first: G::State,
    /// The text of the first position, if it was asked for, and as the person sees it.
    from: Option<String>,
    begin: String,
    events: Vec<EventView>,
    turn: u64,
}

impl<G: Kit> Play<G> {
    fn begin(
        room: Arc<Room<G>>,
        opponent: &AgentText,
        seat: usize,
        seed: u64,
        from: Option<&str>,
    ) -> Result<Self, PlayError> {
        let agent = room.opened(opponent)?;
        let session = Session::begin(&*room.game, seat, seed, from)?;
        let first = session.state.clone();
        let begin = room.game.position_text(&room.game.shown_to(&first, seat));
        Ok(Self {
            room,
            agent,
            opponent: opponent.clone(),
            session,
            first,
            from: from.map(Into::into),
            begin,
            events: Vec::new(),
            turn: 0,
        })
    }

    /// Plays a game that has just begun up to the end of a record. Errors tell no position, which may hide something from the person.
    fn repeat(&mut self, record: &Record) -> Result<(), PlayError> {
        let room = self.room.clone();
        let game = &*room.game;
        let refused = |why: String| PlayError::Record(why);
        let mut texts = record.actions.iter().enumerate();
        let until = room.until();
        loop {
            if Instant::now() >= until {
                return Err(PlayError::Slow("it takes too long to play the record again"));
            }
            if self.session.steps.len() > Record::EVENTS {
                return Err(refused(format!("it has more than {} events", Record::EVENTS)));
            }
            let next = self.session.next(game);
            match next {
                Next::Over => break,
                Next::Chance => {
                    self.session.draw(game);
                }
                Next::Person | Next::Agent(_) => {
                    let Some((i, text)) = texts.next() else { break };
                    let action = game.parse_action(&self.session.state, text);
                    let action = action
                        .map_err(|_| refused(format!("move {} is not legal by the present rules", i + 1)))?;
                    match next {
                        Next::Agent(player) => {
                            self.session.answer(game, player, |_, _| Ok::<_, PlayError>(action))?;
                        }
                        _ => {
                            self.session.act(game, action);
                        }
                    }
                }
            }
            self.note(next == Next::Person);
        }
        if let Some((i, _)) = texts.next() {
            return Err(refused(format!("the game is over before move {} by the present rules", i + 1)));
        }
        if let Some(name) = &record.resigned {
            let ways = self.session.ways_to_resign(game).into_iter();
            let mut ways = ways.filter(|way| matches!(way, WayToResign::Class(class) if class.name == *name));
            match ways.next().filter(|_| self.session.next(game) != Next::Over) {
                Some(way) => {
                    self.session.resign(game, way);
                }
                None => return Err(refused(format!("one cannot resign with `{name}` there"))),
            }
        }
        if game.position_text(&self.session.state) != record.position {
            return Err(refused("its moves lead to another position by the present rules".into()));
        }
        self.turn = record.turn.min(Record::TURN);
        Ok(())
    }

    /// The game so far.
    fn recorded(&self) -> Record {
        let game = &*self.room.game;
        let mut state = self.first.clone();
        let mut actions = Vec::with_capacity(self.session.steps.len());
        for step in &self.session.steps {
            if step.player.is_some() {
                actions.push(game.action_text(&state, &step.action));
            }
            game.apply(&mut state, &step.action);
        }
        Record {
            format: Record::FORMAT.into(),
            game: game.name().into(),
            opponent: self.opponent.name.clone(),
            seat: self.session.seat + 1,
            seed: self.session.seed,
            from: self.from.clone(),
            turn: self.turn,
            actions,
            resigned: self.session.given_up.as_ref().map(|class| class.name.clone()),
            over: self.session.next(game) == Next::Over,
            position: game.position_text(&self.session.state),
        }
    }

    /// The format of files of whole games, which begin at the start, while nothing is hidden; none if these rules do not fit it.
    fn records(&self) -> Option<&dyn Records<G>> {
        let is_told = self.from.is_none() && self.is_open();
        is_told.then(|| writable_records(&*self.room.game).ok()).flatten()
    }

    /// Whether moves can be undone: never once the end has told what was hidden.
    fn can_undo(&self) -> bool {
        let game = &*self.room.game;
        let is_told = game.hides() && self.session.next(game) == Next::Over;
        !is_told && self.session.can_undo()
    }

    /// Whether all that happened may be told: the game hides nothing, or is over.
    fn is_open(&self) -> bool {
        let game = &*self.room.game;
        !game.hides() || self.session.next(game) == Next::Over
    }

    /// A state as text from the person's view.
    fn seen(&self, state: &G::State) -> String {
        let game = &*self.room.game;
        game.position_text(&game.shown_to(state, self.session.seat))
    }

    /// A drawing of the state, kept for earlier positions if their texts are incomplete.
    fn drawn(&self, state: &G::State) -> Option<String> {
        let (game, seat) = (&*self.room.game, self.session.seat);
        game.hides().then(|| game.texts().board(game, &game.shown_to(state, seat), &[], seat))
    }

    /// Records the last step of the session.
    fn note(&mut self, mine: bool) {
        let game = &*self.room.game;
        let Some(Step { player, text, said, revealed, .. }) = self.session.steps.last() else { return };
        // The outcome reveals the cards of all players; the sentence reveals only this person's.
        let is_secret = player.is_none() && game.hides();
        let said = [Some(said), revealed.as_ref()].into_iter().flatten().filter(|text| !text.is_empty());
        let said: Vec<&str> = said.map(|text| text.trim_end()).collect();
        let event = EventView {
            player: player.map(|player| player + 1),
            action: if is_secret { String::new() } else { text.clone() },
            text: said.join(if mine { " " } else { "\n" }),
            position: self.seen(&self.session.state),
            next: first_side(game, &self.session.state).map(|player| player + 1),
            board: self.drawn(&self.session.state),
        };
        self.events.push(event);
        self.turn += 1;
    }
}

/// A game of a person against an agent.
#[erased(pub trait AnyPlay: Send)]
impl<G: Kit> AnyPlay for Play<G> {
    /// Lets chance and the agent move until it is the person's turn, or the game is over.
    ///
    /// # Errors
    /// If the agent cannot move.
    fn go_on(&mut self) -> Result<(), PlayError> {
        let room = self.room.clone();
        let game = &*room.game;
        let mut scratch = Scratch::default();
        loop {
            match self.session.next(game) {
                Next::Over => return Ok(()),
                Next::Chance => drop(self.session.draw(game)),
                Next::Agent(player) => {
                    let opened = self.agent.clone();
                    self.session.answer(game, player, |at, rng| {
                        opened
                            .with_agent(game, room.until(), |agent| agent.choose(at, &mut scratch, rng))?
                            .map_err(OpenError::from)
                    })?;
                }
                Next::Person => {
                    game.actions(&self.session.state, &mut scratch.actions);
                    return match scratch.actions.is_empty() {
                        true => {
                            let seat = self.session.seat;
                            Err(OpenError::from(no_action(game, &self.session.state, seat)).into())
                        }
                        false => Ok(()),
                    };
                }
            }
            self.note(false);
        }
    }

    /// The game from the person's view.
    fn view(&self) -> View {
        let game = &*self.room.game;
        let (state, seat) = (&self.session.state, self.session.seat);
        let next = self.session.next(game);
        let shown = game.shown_to(state, seat);
        let mut actions = Vec::new();
        if next == Next::Person {
            game.actions(state, &mut actions);
        }
        // The position after a move may reveal hidden information.
        let few = actions.len() <= POSITIONS && !game.hides();
        let legal = |action: &G::Action| MoveView {
            action: game.action_text(state, action),
            position: few.then(|| {
                let mut after = state.clone();
                game.apply(&mut after, action);
                self.seen(&after)
            }),
        };
        let outcome = self.session.outcome(game).zip(self.session.verdict(game)).map(|(utility, text)| {
            let classes = outcome_classes(game).unwrap_or_default();
            let class = match &self.session.given_up {
                Some(class) => Some(class.name.clone()),
                None => outcome_of(game, &classes, state, seat).map(|i| classes[i].name.clone()),
            };
            OutcomeView {
                utility: utility / game.counting().unit().map_or(1.0, |unit| unit.size),
                text,
                class,
            }
        });
        View {
            game: game.name().into(),
            opponent: self.opponent.name.clone(),
            seat: seat + 1,
            players: game.players(),
            seed: self.is_open().then_some(self.session.seed),
            turn: self.turn,
            events: self.events.clone(),
            begin: self.begin.clone(),
            begin_board: self.drawn(&self.first),
            position: game.position_text(&shown),
            board: game.texts().board(game, &shown, &[], seat),
            to_move: match next {
                Next::Person => Some(seat + 1),
                Next::Agent(player) => Some(player + 1),
                Next::Chance | Next::Over => None,
            },
            next: first_side(game, state).map(|player| player + 1),
            your_turn: next == Next::Person,
            moves: actions.iter().take(MOVES).map(legal).collect(),
            over: next == Next::Over,
            outcome,
            can_undo: self.can_undo(),
            resignations: match next {
                Next::Over => Vec::new(),
                _ => self.session.ways_to_resign(game).iter().map(|way| way.name().into()).collect(),
            },
            history: self.records().map(|records| records.suffix()),
            record: self.open_record(),
        }
    }

    /// The game as text that repeats it. It tells what the game hides from the person.
    fn record(&self) -> Record {
        self.recorded()
    }

    /// The game as text that repeats it; none while it hides something.
    fn open_record(&self) -> Option<Record> {
        self.is_open().then(|| self.recorded())
    }

    /// The whole game in the usual format of its kind; none if there is none, or while the game hides something.
    ///
    /// # Errors
    /// If these rules do not fit the format.
    fn history(&self) -> Result<Option<History>, PlayError> {
        let game = &*self.room.game;
        let Some(records) = self.records() else { return Ok(None) };
        let text = self.session.history(game, &self.opponent.name);
        let text = text.map_err(|e| PlayError::History(e.to_string()))?;
        Ok(text.map(|text| History { suffix: records.suffix(), text }))
    }

    /// The rule set.
    fn game(&self) -> String {
        self.room.game.name().into()
    }

    /// The name of the agent in all other seats.
    fn opponent(&self) -> &str {
        &self.opponent.name
    }

    /// Changes with every move.
    fn turn(&self) -> u64 {
        self.turn
    }

    /// Makes a move of the person.
    ///
    /// # Errors
    /// If it is not the person's turn, or the text is not a legal move.
    fn act(&mut self, text: &str) -> Result<(), PlayError> {
        let room = self.room.clone();
        match self.session.next(&*room.game) {
            Next::Person => {}
            Next::Over => return Err(PlayError::Moment("the game is over")),
            _ => return Err(PlayError::Moment("it is not your turn")),
        }
        if self.session.steps.len() >= LONGEST {
            return Err(PlayError::Moment("the game is too long to be played on"));
        }
        let action = room.game.parse_action(&self.session.state, text);
        let action = action.map_err(|e| PlayError::Action(e.to_string()))?;
        self.session.act(&*room.game, action);
        self.note(true);
        Ok(())
    }

    /// Takes back the person's last move and every later move.
    ///
    /// # Errors
    /// If the person has not moved yet, or a game with hidden information is over.
    fn undo(&mut self) -> Result<(), PlayError> {
        if !self.can_undo() || !self.session.undo() {
            return Err(PlayError::Moment("there is no move to undo"));
        }
        self.events.truncate(self.session.steps.len());
        self.turn += 1;
        Ok(())
    }

    /// Resigns with a class of results; by default the smallest loss. A match goes on with its next game.
    ///
    /// # Errors
    /// If the game is over, does not allow resignation, or has no such class.
    fn resign(&mut self, class: Option<&str>) -> Result<(), PlayError> {
        let room = self.room.clone();
        let game = &*room.game;
        if self.session.next(game) == Next::Over {
            return Err(PlayError::Moment("the game is over"));
        }
        let ways = self.session.ways_to_resign(game);
        // An action of the game is the person's.
        if matches!(ways[..], [WayToResign::Action(_), ..]) && self.session.next(game) != Next::Person {
            return Err(PlayError::Moment("it is not your turn"));
        }
        let names: Vec<&str> = ways.iter().map(WayToResign::name).collect();
        let Some(found) = names.iter().position(|name| class.is_none_or(|class| *name == class)) else {
            let message = match names.is_empty() {
                true => format!("resignation is not possible in {}", game.name()),
                false => format!(
                    "`{}` is not a class of lost games: {}",
                    class.unwrap_or_default(),
                    names.join(", ")
                ),
            };
            return Err(PlayError::Action(message));
        };
        let Some(way) = ways.into_iter().nth(found) else { return Ok(()) };
        match self.session.resign(&*room.game, way).is_some() {
            true => self.note(true),
            false => self.turn += 1,
        }
        Ok(())
    }

    /// Hints of an agent, by default the opponent, about the person's moves, based on the person's knowledge.
    ///
    /// # Errors
    /// If it is not the person's turn, or the agent cannot be opened.
    fn hints(&self, by: Option<&AgentText>) -> Result<Hints, PlayError> {
        let game = &*self.room.game;
        let (state, seat) = (&self.session.state, self.session.seat);
        if self.session.next(game) != Next::Person {
            return Err(PlayError::Moment("hints are for your own moves: it is not your turn"));
        }
        let agent = by.unwrap_or(&self.opponent);
        let mut text = game.agents().advice.and_then(|advice| advice(game, state, seat)).unwrap_or_default();
        let until = self.room.until();
        let mut value =
            self.room.value_of(agent, &(state.clone(), None), self.seen(state), Detail::default(), until)?;
        if game.hides() {
            // The position after a move may reveal hidden information.
            value.iter_mut().flat_map(|value| &mut value.moves).for_each(|found| found.afterstate.clear());
        }
        if value.is_none() {
            let at = Decision::new(game, state, seat);
            text = self.room.opened(agent)?.with_agent(game, until, |agent| agent.explain(at))? + &text;
        }
        Ok(Hints { value, text: Some(text).filter(|text| !text.is_empty()) })
    }

    /// Analyses the whole game with the values of an agent.
    ///
    /// # Errors
    /// If the game has hidden information, is not zero-sum or is not over, or the agent has no values.
    fn analysis(&self, by: &AgentText) -> Result<Analysis, PlayError> {
        let game = &*self.room.game;
        if self.session.next(game) != Next::Over {
            return Err(PlayError::Moment("the game is not over yet"));
        }
        let found = naming::resolve(game, &by.text, &[])?;
        if is_search(&found) {
            return Err(PlayError::Long(format!(
                "`{}` searches, which takes too long for a whole game",
                by.name
            )));
        }
        let Judge { mut values, mut luck, references } = naming::judge(game, &found, by.best)?;
        let size = game.counting().unit().map_or(1.0, |unit| unit.size);
        let in_unit = game.scale() / size;
        let mut players = [Account::default(); 2];
        let mut steps = Vec::new();
        let played = self.session.steps.iter().map(|step| &step.action);
        let first = self.first.clone();
        let until = self.room.until();
        let ended = judge_each(game, first, played, (&mut *values, &mut luck), |place, judged| {
            let action = (place, 0, &self.session.steps[place].action);
            steps.push(ReviewedStep::new(game, action, &judged, judged.standard(game)));
            match judged {
                Judged::Forced { .. } => {}
                Judged::Chance { luck, error, .. } => add_luck(&mut players, luck / size, error / size),
                Judged::Decision(weighed) => players[weighed.player].decide(&weighed, in_unit),
            }
            Instant::now() < until
        })
        .map_err(OpenError::from)?;
        if ended.is_none() {
            return Err(PlayError::Long(format!(
                "an analysis by `{}` takes too long: choose another agent",
                by.name
            )));
        }
        let player = |(i, account): (usize, &Account)| {
            let [loss_ci95, luck_ci95] = account.ci95();
            PlayerAnalysis {
                player: i + 1,
                decisions: account.decisions,
                loss: account.loss,
                loss_ci95,
                loss_per_decision: (account.decisions > 0).then(|| account.loss / account.decisions as f64),
                wrong: account.wrong,
                undecided: account.undecided,
                luck: account.luck,
                luck_ci95,
            }
        };
        Ok(Analysis {
            by: by.name.clone(),
            game: game.name().into(),
            unit_size: size,
            result: self.session.outcome(game).map(|own| if self.session.seat == 0 { own } else { -own }),
            unit: game.counting().unit().map(|unit| unit.name),
            exact: found.is_minimax()
                || (found.meaning == Meaning::Valuation && found.spec.name() == "oracle"),
            references,
            players: players.iter().enumerate().map(player).collect(),
            steps,
        })
    }
}
