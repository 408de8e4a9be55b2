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
///
/// ```
/// use adept_game::tiny::{Bluff, Nim};
/// use adept_game::{Game, Turn};
///
/// assert_eq!(Nim::default().turn(&Nim::default().start()), Turn::Player(0));
/// assert_eq!(Bluff.turn(&Bluff.start()), Turn::Chance); // the deal
/// ```
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
///
/// ```
/// use adept_game::{Game, GameError, tiny::Nim};
///
/// match Nim::default().parse_position("three heaps") {
///     Err(GameError::Rules(message)) => assert!(message.ends_with("3 4 5 @1")),
///     other => panic!("{other:?}"),
/// }
/// ```
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
///
/// ```
/// use adept_game::{Game, no_action, tiny::Nim};
///
/// let game = Nim::default();
/// let error = no_action(&game, &game.start(), 0);
/// assert!(error.to_string().starts_with("the rules of nim leave player 1 without an action in `3 4 5 @1`"));
/// ```
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

/// The player, from 0, whose side comes first in texts of positions of games with two sides: the player who moves at once or after
/// chance. None for other numbers of players, and before the first action if chance has the turn.
///
/// ```
/// use adept_game::{Game, first_side, tiny::{Nim, Take}};
///
/// let game = Nim::default();
/// let mut state = game.start();
/// assert_eq!(first_side(&game, &state), Some(0));
/// game.apply(&mut state, &Take { heap: 0, count: 1 });
/// assert_eq!(first_side(&game, &state), Some(1));
/// ```
pub fn first_side<G: Game>(game: &G, state: &G::State) -> Option<usize> {
    match game.turn(state) {
        _ if game.players() != 2 => None,
        Turn::Player(player) => Some(player),
        Turn::Chance | Turn::Over => game.just_acted(state).map(|player| 1 - player),
    }
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
    ///
    /// ```
    /// use adept_game::GameError;
    ///
    /// let card: Result<u8, _> = "7".parse().map_err(|_| GameError::new("`7` is not a card: write 1, 2 or 3"));
    /// assert_eq!(card, Ok(7));
    /// ```
    pub fn new(message: impl Into<String>) -> Self {
        Self::Rules(message.into())
    }

    /// Adds the path to the reason why a file cannot be read. What is not text, or has a line that is too long, could
    /// be read and is not valid.
    ///
    /// ```
    /// use adept_game::GameError;
    ///
    /// let path = "no/such/positions.csv";
    /// let read = std::fs::read_to_string(path).map_err(GameError::file(path));
    /// assert!(matches!(read, Err(GameError::File { .. })));
    /// ```
    pub fn file(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| match source.kind() {
            io::ErrorKind::InvalidData => Self::Data { path, message: source.to_string() },
            _ => Self::File { path, source: Arc::new(source) },
        }
    }

    /// Refuses what a file holds. The message says where, what was found and what was expected.
    ///
    /// ```
    /// use adept_game::GameError;
    ///
    /// let error = GameError::data("positions.csv", "line 3: has 1 field for 2 columns");
    /// assert_eq!(error.to_string(), "positions.csv: line 3: has 1 field for 2 columns");
    /// ```
    pub fn data(path: impl Into<PathBuf>, message: impl Into<String>) -> Self {
        Self::Data { path: path.into(), message: message.into() }
    }
}

/// A unit in which results of matches are counted, such as thousandths of a bet.
///
/// ```
/// use adept_game::Unit;
///
/// // Poker counts winnings in thousandths of a big blind; here a blind is 2 chips, and a utility is in chips.
/// let unit = Unit { name: "mbb".into(), size: 0.002 };
/// let utility = 3.0;
/// assert_eq!(utility / unit.size, 1500.0);
/// ```
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
    ///
    /// ```
    /// // Two deals, each played in both orders of two agents.
    /// assert_eq!(adept_game::Unit::least_games(2), 4);
    /// ```
    pub fn least_games(orders: u64) -> u64 {
        orders.saturating_mul(2)
    }
}

/// How the results of a game are counted.
///
/// ```
/// use adept_game::{Counting, Game, tiny::{Bluff, Nim}};
///
/// assert_eq!(Nim::default().counting().win_probability(0.5), Some(0.75));
/// assert_eq!(Bluff.counting(), Counting::Points); // results differ in size
/// ```
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
///
/// A random game, played to its end:
///
/// ```
/// use adept_game::rand::RngExt;
/// use adept_game::{Game, Turn, stream, tiny::Bluff};
///
/// let (mut state, mut actions, mut rng) = (Bluff.start(), Vec::new(), stream(1, "example", 0));
/// loop {
///     let action = match Bluff.turn(&state) {
///         Turn::Over => break,
///         Turn::Chance => Bluff.sample(&state, &mut rng),
///         Turn::Player(_) => {
///             Bluff.actions(&state, &mut actions);
///             actions[rng.random_range(0..actions.len())]
///         }
///     };
///     Bluff.apply(&mut state, &action);
/// }
/// assert_eq!(Bluff.utility(&state, 0), -Bluff.utility(&state, 1));
/// ```
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
    ///
    /// ```
    /// use adept_game::{Game, tiny::Nim};
    ///
    /// let game = Nim { heaps: [1, 0, 2] };
    /// let mut actions = Vec::new(); // its memory serves for every position of a game
    /// game.actions(&game.start(), &mut actions);
    /// let texts: Vec<String> = actions.iter().map(|take| game.action_text(&game.start(), take)).collect();
    /// assert_eq!(texts, ["1 from 1", "1 from 3", "2 from 3"]);
    /// ```
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Applies a legal action or a chance outcome.
    ///
    /// ```
    /// use adept_game::{Game, tiny::{Nim, Take}};
    ///
    /// let game = Nim::default();
    /// let mut state = game.start();
    /// game.apply(&mut state, &Take { heap: 2, count: 5 });
    /// assert_eq!(game.position_text(&state), "3 4 0 @2");
    /// ```
    fn apply(&self, state: &mut Self::State, action: &Self::Action);

    /// Replaces `outcomes` by the chance outcomes with probabilities that sum to 1, and returns true. Returns false if
    /// there are too many to list; they can then only be sampled. Games without chance need not implement this method.
    ///
    /// ```
    /// use adept_game::{Game, tiny::{Bluff, Call}};
    ///
    /// let mut outcomes = Vec::new();
    /// assert!(Bluff.outcomes(&Bluff.start(), &mut outcomes));
    /// assert_eq!(outcomes[0], (Call::Deal(1), 1.0 / 3.0));
    /// assert!((outcomes.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
    /// ```
    fn outcomes(&self, _state: &Self::State, outcomes: &mut Vec<(Self::Action, f64)>) -> bool {
        outcomes.clear();
        true
    }

    /// Samples a chance outcome, by default from [`outcomes`](Self::outcomes).
    ///
    /// ```
    /// use adept_game::{Game, stream, tiny::{Bluff, Call}};
    ///
    /// let deal = |seed| Bluff.sample(&Bluff.start(), &mut stream(seed, "deals", 0));
    /// assert!(matches!(deal(1), Call::Deal(1..=3)));
    /// assert_eq!(deal(1), deal(1)); // the same stream gives the same card
    /// ```
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
    ///
    /// ```
    /// use adept_game::{Game, tiny::Nim};
    ///
    /// let game = Nim::default();
    /// let (over, _) = game.parse_position("0 0 0 @1")?; // player 2 took the last thing
    /// assert_eq!([0, 1].map(|player| game.utility(&over, player)), [-1.0, 1.0]);
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    fn utility(&self, state: &Self::State, player: usize) -> f64;

    /// Replaces `utilities` by the utility of a finished game for each player. Games in which this is less work than asking
    /// for one after the other implement it.
    ///
    /// ```
    /// use adept_game::{Game, tiny::Bluff};
    ///
    /// let (over, _) = Bluff.parse_position("2 3 believed")?;
    /// let mut utilities = Vec::new();
    /// Bluff.utilities(&over, &mut utilities);
    /// assert_eq!(utilities, [1.0, -1.0]);
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    fn utilities(&self, state: &Self::State, utilities: &mut Vec<f64>) {
        utilities.clear();
        utilities.extend((0..self.players()).map(|player| self.utility(state, player)));
    }

    /// How results are counted in matches and reports.
    fn counting(&self) -> Counting {
        Counting::Points
    }

    /// Largest absolute utility. Models predict utilities divided by it; exact ones lie in [−1, 1].
    ///
    /// ```
    /// use adept_game::{Game, tiny::Bluff};
    ///
    /// let (over, _) = Bluff.parse_position("1 3 doubted")?;
    /// assert_eq!(Bluff.utility(&over, 0) / Bluff.scale(), -1.0); // what a model learns
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    fn scale(&self) -> f64 {
        1.0
    }

    /// Absolute utility of a usual result, at most [`scale`](Self::scale): what constants of a search refer to. A money game of backgammon
    /// may count 192 points and usually counts a few.
    fn usual_result(&self) -> f64 {
        self.scale()
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
    ///
    /// ```
    /// use adept_game::{Game, tiny::Bluff};
    ///
    /// let (hand, _) = Bluff.parse_position("2 3 -")?;
    /// assert!(Bluff.hides() && Bluff.shown_to(&hand, 0) == hand);
    /// assert_eq!(Bluff.position_text(&Bluff.shown_to(&hand, 1)), "? 3 -");
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    fn shown_to(&self, state: &Self::State, _player: usize) -> Self::State {
        state.clone()
    }

    /// The player whose action led to this state, if the state shows it. None at the start and after a chance outcome.
    ///
    /// ```
    /// use adept_game::{Game, tiny::{Nim, Take}};
    ///
    /// let game = Nim::default();
    /// let mut state = game.start();
    /// assert_eq!(game.just_acted(&state), None);
    /// game.apply(&mut state, &Take { heap: 0, count: 1 });
    /// assert_eq!(game.just_acted(&state), Some(0));
    /// ```
    fn just_acted(&self, _state: &Self::State) -> Option<usize> {
        None
    }

    /// Whether the decision in this state is a step of its own for a search, which looks a number of them ahead. False for small
    /// decisions on the way to another one, such as whether to double before a roll: each must lead to one that counts.
    fn counts_as_ply(&self, _state: &Self::State) -> bool {
        true
    }

    /// What the player knows in this state.
    ///
    /// ```
    /// use adept_game::{Game, tiny::Bluff};
    ///
    /// let [(one, _), (two, _)] = [Bluff.parse_position("1 3 -")?, Bluff.parse_position("2 3 -")?];
    /// assert_eq!(Bluff.info(&one, 1), Bluff.info(&two, 1)); // player 2 cannot tell them apart
    /// assert_ne!(Bluff.info(&one, 0), Bluff.info(&two, 0));
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
    fn info(&self, state: &Self::State, player: usize) -> Self::Info;

    /// A position on one line, as commands take and print it.
    fn position_text(&self, state: &Self::State) -> String;

    /// Reads a position, and the action that led to it if the text includes it.
    ///
    /// ```
    /// use adept_game::{Game, tiny::Nim};
    ///
    /// let game = Nim::default();
    /// let (state, last) = game.parse_position("3 0 5 @2")?;
    /// assert_eq!((game.position_text(&state), last), ("3 0 5 @2".into(), None));
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
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
    /// ```
    /// use adept_game::{Game, tiny::{Nim, Take}};
    ///
    /// let game = Nim::default();
    /// let state = game.start();
    /// assert_eq!(game.parse_action(&state, "5 from 3")?, Take { heap: 2, count: 5 });
    /// let refused = game.parse_action(&state, "6 from 3").unwrap_err();
    /// assert!(refused.to_string().starts_with("`6 from 3` is not a legal action: 1 from 1, 2 from 1, "));
    /// # Ok::<(), adept_game::GameError>(())
    /// ```
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
