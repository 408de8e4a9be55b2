//! From a candidate to the numbers that a model reads.

use crate::game::Game;
use adept_rows::{Channel, RowMut, RowSink};

/// A state right after an action, seen by the player who acted: what an evaluator values. In games that hide parts of the state
/// from players ([`Game::hides`]) it is the state before the action, of which an encoder reads only what that player
/// knows: the action's outcome would tell more.
#[derive(Debug)]
pub struct Afterstate<'a, G: Game> {
    /// The state after the action; before it in games that hide parts.
    pub state: &'a G::State,
    /// The action, where it is known.
    pub action: Option<&'a G::Action>,
    /// The player who just acted.
    pub player: usize,
}

impl<G: Game> Clone for Afterstate<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Afterstate<'_, G> {}

/// Writes afterstates as rows of channels.
pub trait Encoder<G: Game>: Send + Sync {
    /// Name, as in `game.encoder` of a config.
    fn name(&self) -> &str;

    /// The channels of a row.
    fn channels(&self) -> &[Channel];

    /// Whether this encoder supports the rule set.
    ///
    /// # Errors
    /// Which encoder does.
    fn fits(&self, _game: &G) -> Result<(), String> {
        Ok(())
    }

    /// Fills the row of an afterstate. An index channel that needs an unknown action stays 0; see
    /// [`Encoder::needs_action`].
    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>);

    /// Whether [`decide`](Self::decide) lists the candidates of a decision; else these are all legal actions.
    fn decides(&self) -> bool {
        false
    }

    /// Replaces `actions` by those of `player`, who is to move, that are worth valuing, at least one, and pushes the row of each.
    fn decide(
        &self,
        _game: &G,
        _state: &G::State,
        _player: usize,
        _actions: &mut Vec<G::Action>,
        _rows: &mut dyn RowSink,
    ) {
    }

    /// What a key or index of that channel stands for, in words, where the encoder can tell.
    fn key_text(&self, _game: &G, _channel: &str, _key: u64) -> Option<String> {
        None
    }

    /// Asks memory for what [`encode`](Self::encode) of this state will read. Who encodes many states does so for all of
    /// them first.
    fn fetch(&self, _game: &G, _after: Afterstate<'_, G>) {}

    /// Whether [`fetch`](Self::fetch) does anything: rows come from tables that no cache holds.
    fn fetches(&self) -> bool {
        false
    }

    /// Whether a row depends on the action and not on the state alone.
    fn needs_action(&self) -> bool;
}

/// An encoder written as a function of the afterstate, for games whose rows do not depend on the action.
pub struct EncoderFn<F> {
    name: String,
    channels: Vec<Channel>,
    write: F,
}

impl<F> EncoderFn<F> {
    /// An encoder of that name and these channels; `write` fills a row of zeros.
    pub fn new<G: Game>(name: &str, channels: Vec<Channel>, write: F) -> Self
    where
        F: Fn(&G, Afterstate<'_, G>, RowMut<'_>) + Send + Sync,
    {
        Self { name: name.into(), channels, write }
    }
}

impl<G: Game, F: Fn(&G, Afterstate<'_, G>, RowMut<'_>) + Send + Sync> Encoder<G> for EncoderFn<F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn channels(&self) -> &[Channel] {
        &self.channels
    }

    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>) {
        (self.write)(game, after, row);
    }

    fn needs_action(&self) -> bool {
        false
    }
}
