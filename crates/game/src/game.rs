//! The interface of every game.

use crate::rng::draw_index;
use rand::Rng;
use std::borrow::Cow;
use std::fmt::Debug;
use std::hash::Hash;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The player with this number, from 0.
    Player(usize),
    /// A chance event: dice, cards, lots.
    Chance,
    /// The game is over.
    Over,
}

/// Why something of a game is refused or cannot be read.
#[derive(Clone, Debug, thiserror::Error)]
pub enum GameError {
    /// A text is not a rule set, a position or an action, or an action is not legal.
    #[error("{0}")]
    Rules(String),
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: Arc<io::Error>,
    },
    /// What a file of positions, values or decisions holds is not valid.
    #[error("{}: {message}", path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// The place, what was found and what was expected.
        message: String,
    },
    /// A table of exact values is damaged or does not fit.
    #[error("{0}")]
    Table(String),
    /// The machine has too little memory.
    #[error("{0}")]
    Memory(String),
    /// Another program cannot be reached, went away, or answered with something impossible.
    #[error("{0}")]
    Peer(String),
}

/// The error for a player who is to move and has no action, which the rules of a game do not allow.
#[cold]
pub fn no_action<G: Game>(game: &G, state: &G::State, player: usize) -> GameError {
    GameError::new(format!(
        "the rules of {} leave player {} without an action in `{}`, though the game is not over: let the game end there, or give the \
         player an action, such as to pass",
        game.name(),
        player + 1,
        game.position_text(state)
    ))
}

/// Errors are equal if they are of one kind and say the same.
impl PartialEq for GameError {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other) && self.to_string() == other.to_string()
    }
}

impl Eq for GameError {}

impl GameError {
    /// Refuses a rule set, a position or an action. The message says what was found and what was expected.
    pub fn new(message: impl Into<String>) -> Self {
        Self::Rules(message.into())
    }

    /// Adds the path to the reason why a file cannot be read. What is not text, or has a line that is too long, could
    /// be read and is not valid.
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::InvalidData => Self::Data { path, message: source.to_string() },
            _ => Self::File { path, source: Arc::new(source) },
        }
    }

    /// Refuses what a file holds. The message says where, what was found and what was expected.
    pub fn data(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::Data { path: path.into(), message: message.into() }
    }
}

/// A unit in which results of matches are counted, such as thousandths of a bet.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// Its short name.
    pub name: Cow<'static, str>,
    /// Utility of one unit.
    pub size: f64,
}

impl Unit {
    /// Games of a match at least, if its agents sit in this many orders. The spread of results is that between deals, each played
    /// in all of them, so it takes two deals.
    pub fn least_games(orders: u64) -> u64 {
        orders.saturating_mul(2)
    }
}

/// How the results of a game are counted.
#[derive(Clone, Debug, PartialEq)]
pub enum Counting {
    /// A game is worth one point, for the player with the highest utility.
    Points,
    /// The same, in a game for two that always has one winner, whose utility is [`Game::scale`], and one loser. A value is then a
    /// probability of winning.
    Wins,
    /// Utilities are counted in this unit.
    Unit(Unit),
}

impl Counting {
    /// The unit, if there is one.
    pub fn unit(self) -> Option<Unit> {
        match self {
            Self::Points | Self::Wins => None,
            Self::Unit(unit) => Some(unit),
        }
    }

    /// The probability of winning that a value V in [−1, 1] means: (1 + V)/2 in games that always have one winner. None in all other games.
    pub fn win_probability(&self, value: f64) -> Option<f64> {
        matches!(self, Self::Wins).then(|| ((1.0 + value) / 2.0).clamp(0.0, 1.0))
    }
}

/// A game of n players, with or without chance and hidden information.
///
/// The implementing value holds the rule set: players, dice, sizes, or rules compiled at run time. Every method is a
/// pure function of the rule set and its arguments.
pub trait Game: Send + Sync + 'static {
    /// A complete position, including hidden parts.
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    /// A player's action or a chance outcome.
    type Action: Clone + Eq + Hash + Debug + Send + Sync;
    /// Information set of a player with perfect recall. Two are equal if and only if the player cannot tell the states
    /// apart.
    type Info: Clone + Eq + Hash + Debug + Send + Sync;

    /// Name of the rule set, as in `game.rules` of a config.
    fn name(&self) -> &str;

    /// Number of players.
    fn players(&self) -> usize;

    /// The state in which a game begins.
    fn start(&self) -> Self::State;

    /// Whose turn it is.
    fn turn(&self, state: &Self::State) -> Turn;

    /// Replaces `actions` by the legal actions of the player to move, in a fixed order without repeats. The list is
    /// empty if it is not a player's turn.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Applies a legal action or a chance outcome.
    fn apply(&self, state: &mut Self::State, action: &Self::Action);

    /// Replaces `outcomes` by the chance outcomes with probabilities that sum to 1, and returns true. Returns false if
    /// there are too many to list; they can then only be sampled. Games without chance need not implement this method.
    fn outcomes(&self, _state: &Self::State, outcomes: &mut Vec<(Self::Action, f64)>) -> bool {
        outcomes.clear();
        true
    }

    /// Samples a chance outcome, by default from [`outcomes`](Self::outcomes).
    ///
    /// # Panics
    /// The default panics if no outcomes are listed. Games whose chance outcomes can only be sampled must implement
    /// this method.
    fn sample(&self, state: &Self::State, rng: &mut dyn Rng) -> Self::Action {
        let mut outcomes = Vec::new();
        self.outcomes(state, &mut outcomes);
        assert!(
            !outcomes.is_empty(),
            "{}: it is chance's turn, `outcomes` lists none, and `sample` is not implemented",
            self.name()
        );
        let drawn = draw_index(outcomes.iter().map(|(_, p)| p), rng);
        outcomes.swap_remove(drawn).0
    }

    /// Utility of a finished game for this player, in [−scale, scale] (see [`Game::scale`]).
    fn utility(&self, state: &Self::State, player: usize) -> f64;

    /// Replaces `utilities` by the utility of a finished game for each player. Games in which this is less work than asking
    /// for one after the other implement it.
    fn utilities(&self, state: &Self::State, utilities: &mut Vec<f64>) {
        utilities.clear();
        utilities.extend((0..self.players()).map(|player| self.utility(state, player)));
    }

    /// How results are counted in matches and reports.
    fn counting(&self) -> Counting {
        Counting::Points
    }

    /// Largest absolute utility. Models predict utilities divided by it; exact ones lie in [−1, 1].
    fn scale(&self) -> f64 {
        1.0
    }

    /// Whether this is a two-player zero-sum game. By default, every two-player game is.
    fn zero_sum(&self) -> bool {
        self.players() == 2
    }

    /// Whether the game has hidden information. Learning and measurement then use [`info`](Self::info), and evaluators
    /// get the state before an action, restricted to what the acting player knows.
    fn hides(&self) -> bool {
        false
    }

    /// The state without what this player cannot see, for drawing.
    fn shown_to(&self, state: &Self::State, _player: usize) -> Self::State {
        state.clone()
    }

    /// The player whose action led to this state, if the state shows it. None at the start and after a chance outcome.
    fn just_acted(&self, _state: &Self::State) -> Option<usize> {
        None
    }

    /// What the player knows in this state.
    fn info(&self, state: &Self::State, player: usize) -> Self::Info;

    /// A position on one line, as commands take and print it.
    fn position_text(&self, state: &Self::State) -> String;

    /// Reads a position, and the action that led to it if the text includes it.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn parse_position(&self, text: &str) -> Result<(Self::State, Option<Self::Action>), GameError>;

    /// An action as people write it.
    fn action_text(&self, _state: &Self::State, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// The legal action with this text, by default its [`action_text`](Self::action_text).
    ///
    /// # Errors
    /// Why the text is not a legal action.
    fn parse_action(&self, state: &Self::State, text: &str) -> Result<Self::Action, GameError> {
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        let place = actions.iter().position(|action| self.action_text(state, action) == text.trim());
        place.map(|place| actions.swap_remove(place)).ok_or_else(|| {
            let known: Vec<String> = actions.iter().take(20).map(|a| self.action_text(state, a)).collect();
            let more = if actions.len() > known.len() { ", …" } else { "" };
            GameError::new(format!("`{}` is not a legal action: {}{more}", text.trim(), known.join(", ")))
        })
    }
}
