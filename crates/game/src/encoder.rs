//! Encoders: turn a candidate action into the row of numbers that a model reads.

use crate::game::Game;
use crate::listing::Listing;
use crate::results::ValueRule;
use adept_rows::{Channel, RowMut, RowSink};
use std::sync::Arc;

/// Encoders by name; the first is the default.
pub type Encoders<'a, G> = Listing<'a, Arc<dyn Encoder<G>>>;

/// A state right after an action, from the view of the player who acted. Evaluators value afterstates.
///
/// In games with hidden information ([`Game::hides`]) it holds the state before the action, because the state after it
/// could reveal more than the player knows. Encoders then read only what that player knows.
///
/// ```
/// use adept_game::{Afterstate, Game, tiny::{Nim, Take}};
///
/// let (game, take) = (Nim::default(), Take { heap: 0, count: 2 });
/// let mut state = game.start();
/// game.apply(&mut state, &take);
/// let after = Afterstate::<Nim> { state: &state, action: Some(&take), player: 0 };
/// assert_eq!((after.player, game.just_acted(after.state)), (0, Some(0)));
/// ```
#[derive(Debug)]
pub struct Afterstate<'a, G: Game> {
    /// The state after the action, or before it in games with hidden information.
    pub state: &'a G::State,
    /// The action, if known.
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
///
/// ```
/// use adept_game::{Afterstate, Encoder, Game, Kit, tiny::Nim};
///
/// let game = Nim::default();
/// let encoder = game.encoders().open("heaps").ok_or("no such encoder")?;
/// let mut rows = adept_rows::Rows::new(encoder.channels());
/// let (state, _) = game.parse_position("0 4 2 @2")?;
/// encoder.encode(&game, Afterstate { state: &state, action: None, player: 0 }, rows.push());
/// assert_eq!(rows.dense, [0.0, 0.5, 0.25]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Encoder<G: Game>: Send + Sync {
    /// Name, as in `game.encoder` of a config.
    fn name(&self) -> &str;

    /// The channels of a row.
    fn channels(&self) -> &[Channel];

    /// Checks that this encoder supports the rule set.
    ///
    /// # Errors
    /// Which encoder to use instead.
    fn fits(&self, _game: &G) -> Result<(), String> {
        Ok(())
    }

    /// Fills the row of an afterstate. An index channel that needs an unknown action stays 0; see
    /// [`Encoder::needs_action`].
    fn encode(&self, game: &G, after: Afterstate<'_, G>, row: RowMut<'_>);

    /// Whether [`decide`](Self::decide) lists the candidates of a decision. Otherwise every legal action is a
    /// candidate.
    fn decides(&self) -> bool {
        false
    }

    /// Replaces `actions` by the candidates of `player`, who is to move, and pushes one row for each. There is at least
    /// one.
    fn decide(
        &self,
        _game: &G,
        _state: &G::State,
        _player: usize,
        _actions: &mut Vec<G::Action>,
        _rows: &mut dyn RowSink,
    ) {
    }

    /// Meaning of a key or index of this channel, as text, if the encoder knows it.
    fn key_text(&self, _game: &G, _channel: &str, _key: u64) -> Option<String> {
        None
    }

    /// Prefetches the memory that [`encode`](Self::encode) will read for this state. Callers that encode many states
    /// prefetch all of them first.
    fn fetch(&self, _game: &G, _after: Afterstate<'_, G>) {}

    /// Whether [`fetch`](Self::fetch) does anything, because rows come from tables larger than the caches.
    fn fetches(&self) -> bool {
        false
    }

    /// Whether a row depends on the action as well as on the state: true by default. If false, equal afterstates share a row.
    fn needs_action(&self) -> bool {
        true
    }

    /// The value of an afterstate that is known without the model, such as that of a race in a table, and then stands for that of
    /// the model. Appends the probability of each class of results to `outcomes`, if it knows them.
    fn known(&self, _game: &G, _after: Afterstate<'_, G>, _outcomes: &mut Vec<f32>) -> Option<f32> {
        None
    }

    /// Whether [`known`](Self::known) knows any value.
    fn knows(&self) -> bool {
        false
    }

    /// Whether [`derived`](Self::derived) says how values follow from a model's outputs.
    fn derives(&self) -> bool {
        false
    }

    /// How the value of an afterstate follows from the outputs of a model with the head `value`. None if the output for its row is the
    /// value.
    fn derived(&self, _game: &G, _after: Afterstate<'_, G>) -> Option<Derived<G>> {
        None
    }
}

/// How the value of an afterstate follows from a model's outputs for one or two states: the value of a position before a decision about
/// the doubling cube, for example, from the output for the position without a double and that after a double and a take.
#[derive(Clone, Debug)]
pub struct Derived<G: Game> {
    /// The state whose row the model reads.
    pub state: G::State,
    /// A second one, if the value depends on it.
    pub second: Option<G::State>,
    /// The value of the afterstate for the player who acted, in [−1, 1], from the outputs, in this order.
    pub rule: ValueRule,
    /// How the value follows from the first output alone, where it is linear in it. Models learn from such states.
    pub scale: Option<Scale>,
}

/// A value that is linear in an output of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The number by which the output is multiplied; not 0.
    pub factor: f32,
    /// The number that is added to it.
    pub offset: f32,
}

impl Scale {
    /// The output is the value.
    pub const ONE: Self = Self { factor: 1.0, offset: 0.0 };

    /// The output for a value.
    pub fn output(self, value: f32) -> f32 {
        (value - self.offset) / self.factor
    }
}

/// An encoder written as a function of the afterstate, for games whose rows do not depend on the action.
///
/// The nim-sum of the heaps as the index of a table:
///
/// ```
/// use adept_game::{Afterstate, Channel, ChannelKind, Encoder, EncoderFn, RowMut, tiny::Nim};
///
/// let channel = Channel::fixed("sum", ChannelKind::Index(8), "exclusive or of the heaps");
/// let write = |_: &Nim, after: Afterstate<'_, Nim>, row: RowMut<'_>| {
///     row.index[0] = after.state.left.iter().fold(0, |sum, heap| sum ^ heap).into();
/// };
/// let encoder = EncoderFn::new("nim-sum", vec![channel], write);
/// assert_eq!(Encoder::<Nim>::name(&encoder), "nim-sum");
/// ```
pub struct EncoderFn<F> {
    name: String,
    channels: Vec<Channel>,
    write: F,
}

impl<F> EncoderFn<F> {
    /// An encoder with this name and these channels. `write` fills a row of zeros.
    pub fn new<G: Game>(name: &str, channels: Vec<Channel>, write: F) -> Self
    where
        F: Fn(&G, Afterstate<'_, G>, RowMut<'_>) + Send + Sync,
    {
        Self { name: name.into(), channels, write }
    }

    /// The list of this encoder alone, with its one-line description.
    pub fn listed<G: Game>(self, about: &'static str) -> Encoders<'static, G>
    where
        F: Fn(&G, Afterstate<'_, G>, RowMut<'_>) + Send + Sync + 'static,
    {
        Encoders::one(self.name.clone(), about, Arc::new(self))
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
