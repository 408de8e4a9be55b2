//! The interface of every game.

use rand::{Rng, RngExt};
use std::fmt::Debug;
use std::hash::Hash;

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The player of that number, from 0.
    Player(usize),
    /// Dice, cards, a lot.
    Chance,
    /// The game is over.
    Over,
}

/// Why a text is not a position or an action, or an action is not legal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct GameError(pub String);

/// A game of n players, with or without chance and hidden information.
///
/// The value that implements it holds the rule set: players, dice, sizes, or rules compiled at run time.
/// Everything is a pure function of it and of the state.
pub trait Game: Send + Sync + 'static {
    /// All there is to know about a position, hidden parts included.
    type State: Clone + Eq + Hash + Debug + Send + Sync;
    /// What a player does, or what chance brings.
    type Action: Clone + Eq + Hash + Debug + Send + Sync;
    /// What one player knows, with perfect recall: equal exactly if the player cannot tell two states apart.
    type Info: Clone + Eq + Hash + Debug + Send + Sync;

    /// Name of the rule set, as in `game.rules` of a config.
    fn name(&self) -> &str;

    /// Number of players.
    fn players(&self) -> usize;

    /// The state in which a game begins.
    fn start(&self) -> Self::State;

    /// Whose turn it is.
    fn turn(&self, state: &Self::State) -> Turn;

    /// Replaces `actions` by the legal ones of the player to move, in a fixed order without repeats.
    /// Empty unless it is a player's turn.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// Applies a legal action, of a player or of chance.
    fn apply(&self, state: &mut Self::State, action: &Self::Action);

    /// Replaces `outcomes` by what chance may bring with probabilities that sum to 1, and returns true;
    /// returns false where they are too many to list and can only be sampled.
    /// Games without chance leave this method out.
    fn outcomes(&self, _state: &Self::State, outcomes: &mut Vec<(Self::Action, f64)>) -> bool {
        outcomes.clear();
        true
    }

    /// Draws what chance brings: by default from the list of [`outcomes`](Self::outcomes).
    ///
    /// # Panics
    /// By default, if nothing is listed: where chance can only be sampled, the game draws itself.
    fn sample(&self, state: &Self::State, rng: &mut dyn Rng) -> Self::Action {
        let mut outcomes = Vec::new();
        self.outcomes(state, &mut outcomes);
        let mut left: f64 = rng.random();
        let place = outcomes.iter().position(|(_, p)| {
            left -= p;
            left < 0.0
        });
        // Rounding may leave a little over: then the last outcome.
        outcomes.swap_remove(place.unwrap_or(outcomes.len() - 1)).0
    }

    /// Utility of a finished game for that player, in units of [`Game::scale`].
    fn utility(&self, state: &Self::State, player: usize) -> f64;

    /// What an action brings a player beyond the outcome of the game, in units of [`Game::scale`]: a small success or failure on
    /// the way that learners may be rewarded for. `state` is that before the action.
    fn reward(&self, _state: &Self::State, _action: &Self::Action, _player: usize) -> f64 {
        0.0
    }

    /// Largest absolute utility; values of models are utilities divided by it, in [−1, 1].
    fn scale(&self) -> f64 {
        1.0
    }

    /// Whether there are two players and what one wins the other loses; by default whenever there are two.
    fn zero_sum(&self) -> bool {
        self.players() == 2
    }

    /// Whether players do not see all of a state. What is learned and measured then goes by [`info`](Self::info):
    /// evaluators are shown the state before an action, as the player who acts knows it.
    fn hides(&self) -> bool {
        false
    }

    /// The state without what that player cannot see, for drawing it.
    fn shown_to(&self, state: &Self::State, _player: usize) -> Self::State {
        state.clone()
    }

    /// The player whose action led to this state, where the state tells: none at the start, nor when chance was last.
    fn just_acted(&self, _state: &Self::State) -> Option<usize> {
        None
    }

    /// What the player knows in this state.
    fn info(&self, state: &Self::State, player: usize) -> Self::Info;

    /// A position on one line, as commands take and print it.
    fn position_text(&self, state: &Self::State) -> String;

    /// The same with the action that led there, where the game's text form has a place for it.
    fn afterstate_text(&self, state: &Self::State, _action: Option<&Self::Action>) -> String {
        self.position_text(state)
    }

    /// Reads a position, and the action that led to it where the text tells it.
    ///
    /// # Errors
    /// What was found and what was expected.
    fn parse_position(&self, text: &str) -> Result<(Self::State, Option<Self::Action>), GameError>;

    /// An action as people write it.
    fn action_text(&self, _state: &Self::State, action: &Self::Action) -> String {
        format!("{action:?}")
    }

    /// The legal action that the text names: by default the one with that [`action_text`](Self::action_text).
    ///
    /// # Errors
    /// Why it names none.
    fn parse_action(&self, state: &Self::State, text: &str) -> Result<Self::Action, GameError> {
        let mut actions = Vec::new();
        self.actions(state, &mut actions);
        let place = actions.iter().position(|action| self.action_text(state, action) == text.trim());
        place.map(|place| actions.swap_remove(place)).ok_or_else(|| {
            let known: Vec<String> = actions.iter().take(20).map(|a| self.action_text(state, a)).collect();
            let more = if actions.len() > known.len() { ", …" } else { "" };
            GameError(format!("`{}` is not a legal action: {}{more}", text.trim(), known.join(", ")))
        })
    }

    /// What chance brings to a state, told in a sentence to the player in `seat`, who alone reads it.
    fn chance_text(&self, state: &Self::State, action: &Self::Action, _seat: usize) -> String {
        format!("Chance brings {}.", self.action_text(state, action))
    }

    /// What an action of a player brings to light for all, told in a sentence to the player in `seat`.
    fn event_text(&self, _state: &Self::State, _action: &Self::Action, _seat: usize) -> Option<String> {
        None
    }

    /// A drawing of the position over several lines. `marks` may put a few characters beside a legal action,
    /// such as its value.
    fn board(&self, state: &Self::State, marks: &[(Self::Action, String)]) -> String {
        let mut text = self.position_text(state) + "\n";
        for (action, mark) in marks {
            text.push_str(&format!("  {}  {mark}\n", self.action_text(state, action)));
        }
        text
    }
}
