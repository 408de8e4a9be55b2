//! What the results of a game are: their classes, and which of them are possible in a position.

use crate::game::{Game, GameError};
use adept_rows::{OutcomeClass, OutcomeMask};
use std::fmt;
use std::sync::Arc;

/// The classes that a player may still end in from a state.
pub type Possible<G> = fn(&G, &[OutcomeClass], &<G as Game>::State, usize) -> OutcomeMask;

/// The reward of an action in a state for a player.
pub type Reward<G> = fn(&G, &<G as Game>::State, &<G as Game>::Action, usize) -> f64;

/// The ways in which a player may resign in a state, the smallest loss first.
pub type Resignations<G> = fn(&G, &<G as Game>::State, usize) -> Vec<Resignation<<G as Game>::Action>>;

/// A resignation that is an action of the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resignation<A> {
    /// Name of what is lost, like the name of a class of results: `loss`, or `loss_gammon`.
    pub name: &'static str,
    /// The action. It may be left out of the actions that the game lists.
    pub action: A,
}

/// What is left out of a game, to ask what a position is worth without it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reduction {
    /// The doubling cube: nobody turns it any more.
    pub without_cube: bool,
    /// The games of a match after the present one: their worth follows from the score.
    pub one_game: bool,
}

/// A state of a game without what is left out.
pub type Reduced<G> = fn(&G, &<G as Game>::State, Reduction) -> Result<<G as Game>::State, GameError>;

/// What the results of a game are: the classes that every finished game falls into, such as loss, draw and win, which of them are
/// possible in a position, and small rewards on the way to them. [`Self::unlisted`] has neither.
///
/// Networks with the head `outcomes` give the probability of each class. Those of impossible classes are set to 0, also in exported
/// files and in files of labels.
///
/// ```
/// use adept_game::{Game, OutcomeClass, Results, outcome_of, tiny::Nim};
///
/// let results = Results::<Nim>::of(|_| Ok(OutcomeClass::loss_win()));
/// let game = Nim::default();
/// let classes = (results.classes)(&game)?;
/// let (over, _) = game.parse_position("0 0 0 @1")?; // player 2 took the last thing
/// assert_eq!(outcome_of(&game, &classes, &over, 1).map(|k| &*classes[k].name), Some("win"));
/// # Ok::<(), adept_game::GameError>(())
/// ```
pub struct Results<G: Game> {
    /// The classes, or why they are not listed.
    pub classes: fn(&G) -> Result<Vec<OutcomeClass>, GameError>,
    /// The classes that a player may still end in, whatever the players do and chance gives; by default all. A class that was
    /// impossible stays so to the end of the game. Between two players whose utilities sum to zero, the classes of one mirror those of
    /// the other. Where the game hides information, the answer depends on what the player knows alone.
    pub possible: Possible<G>,
    /// The rule of [`possible`](Self::possible) in words, for those who evaluate an exported network themselves: one or more sentences
    /// about "the position". None if all classes are always possible.
    pub impossible: Option<&'static str>,
    /// Reward of an action for a player beyond the utility of the game, on the same scale: a small success or failure that learners
    /// may use. The state is the one before the action.
    pub reward: Reward<G>,
    /// How a player may resign by an action of the game, after which a match goes on. By default there is none: a player who resigns takes a
    /// class of results that is a loss, and the game ends at once.
    pub resignations: Resignations<G>,
    /// A state that is played without the cube, or in a match to the end of the present game alone. An error says why the game has none.
    pub reduced: Reduced<G>,
    /// How networks of another rule set play this one. None if only its own networks do.
    pub adapted: Option<Adapted<G>>,
}

/// How networks of another rule set value the states of this one, such as networks of backgammon without a cube a match with one. They
/// have the same encoders and give probabilities of classes, by which [`value`](Self::value) values a state.
pub struct Adapted<G: Game> {
    /// Name of the rule set that the networks have learned.
    pub game: &'static str,
    /// The player as whom the networks see a state, right after this player acted: in their rule set, the one who acted last.
    pub viewer: fn(&G, &G::State, usize) -> usize,
    /// The value of a state for a player who has just acted.
    pub value: fn(&G, &G::State, usize) -> ValueRule,
    /// What people want to know of a state, from the networks' probabilities for this player: such as the values of each decision about
    /// the cube. None if there is nothing to say.
    pub reading: fn(&G, &G::State, usize, &[f32]) -> Option<Reading>,
}

/// Figures of a state and what to do there, in words of the game.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Reading {
    /// What to do, such as `double, take`.
    pub advice: &'static str,
    /// What each figure is, and the figure. Shares are in [0, 1].
    #[serde(serialize_with = "as_map")]
    pub figures: Vec<(&'static str, f64)>,
}

fn as_map<S: serde::Serializer>(figures: &[(&'static str, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(figures.iter().copied())
}

/// A function from outputs to a value.
type OfOutputs = dyn Fn(&[f32]) -> f32 + Send + Sync;

/// A value for a player in [−1, 1] from outputs of networks, such as the probabilities of their classes for this player, in their order.
#[derive(Clone)]
pub struct ValueRule(Arc<OfOutputs>);

impl ValueRule {
    /// The rule that this function is.
    pub fn new(of: impl Fn(&[f32]) -> f32 + Send + Sync + 'static) -> Self {
        Self(Arc::new(of))
    }

    /// The value of these outputs.
    pub fn of(&self, outputs: &[f32]) -> f32 {
        (self.0)(outputs)
    }
}

impl fmt::Debug for ValueRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ValueRule")
    }
}

impl<G: Game> Results<G> {
    /// Classes that are all always possible.
    pub const fn of(classes: fn(&G) -> Result<Vec<OutcomeClass>, GameError>) -> Self {
        Self {
            classes,
            possible: |_, _, _, _| OutcomeMask::ALL,
            impossible: None,
            reward: |_, _, _, _| 0.0,
            resignations: |_, _, _| Vec::new(),
            reduced: |game, _, _| Err(GameError::new(format!("{} has no cube and no match", game.name()))),
            adapted: None,
        }
    }

    /// No classes.
    pub const fn unlisted() -> Self {
        Self::of(|game| {
            Err(GameError::new(format!("{} does not list the classes of its results", game.name())))
        })
    }
}

/// The class of a finished game for a player, which is worth what the result is: an index into `classes`. None if its result is in no
/// class.
pub fn outcome_of<G: Game>(
    game: &G,
    classes: &[OutcomeClass],
    state: &G::State,
    player: usize,
) -> Option<usize> {
    let worth = game.utility(state, player) / game.scale();
    classes.iter().position(|class| (f64::from(class.utility) - worth).abs() < 1e-6)
}
