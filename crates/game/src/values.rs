//! What a game knows of the value of its states.

use crate::encoder::Afterstate;
use crate::game::{Game, GameError};
use crate::halves::Halves;
use crate::listing::Listing;
use adept_ground::work;
use std::borrow::Cow;
use std::sync::Arc;

/// A game's own valuation of its states, such as an exact table or a formula.
///
/// ```
/// use adept_game::{Afterstate, Game, Valuation, tiny::Nim};
///
/// /// Whoever leaves heaps with nim-sum 0 wins.
/// struct NimSum;
/// impl Valuation<Nim> for NimSum {
///     fn value(&self, _: &Nim, after: Afterstate<'_, Nim>) -> f64 {
///         if after.state.left.iter().fold(0, |sum, heap| sum ^ heap) == 0 { 1.0 } else { -1.0 }
///     }
/// }
/// let (state, _) = Nim::default().parse_position("1 4 5 @2")?;
/// assert_eq!(NimSum.value(&Nim::default(), Afterstate { state: &state, action: None, player: 0 }), 1.0);
/// # Ok::<(), adept_game::GameError>(())
/// ```
pub trait Valuation<G: Game>: Send + Sync {
    /// Value of an afterstate for the player who acted, in [−1, 1] (utility divided by the game's scale). NaN if
    /// unknown.
    fn value(&self, game: &G, after: Afterstate<'_, G>) -> f64;

    /// The value, none if unknown. Appends the probability of each class of results for that player, as [`Results`](crate::Results)
    /// lists them, if it knows these too.
    fn tell(&self, game: &G, after: Afterstate<'_, G>, _outcomes: &mut Vec<f32>) -> Option<f64> {
        Some(self.value(game, after)).filter(|value| !value.is_nan())
    }

    /// Prefetches the memory that [`value`](Self::value) will read for this state.
    fn fetch(&self, _game: &G, _after: Afterstate<'_, G>) {}
}

/// Result of a lookup by name: none if the name is unknown, an error if the item is not available.
pub type Found<T> = Option<Result<T, GameError>>;

/// Valuations by name.
pub type Valuations<'a, G> = Listing<'a, Result<Arc<dyn Valuation<G>>, GameError>>;

/// Opens something of a game when it is needed.
pub type Opener<'a, T> = Box<dyn Fn() -> Result<T, GameError> + 'a>;

/// Opens the valuation `oracle` for a few positions and what follows them.
pub type ForPositions<'a, G> =
    Box<dyn Fn(&[<G as Game>::State], Purpose) -> Result<Arc<dyn Valuation<G>>, GameError> + 'a>;

/// A valuation that judges games before any network.
pub struct Reference<G: Game> {
    /// Its name in reports.
    pub name: Cow<'static, str>,
    /// The valuation, NaN where it does not know the value.
    pub valuation: Arc<dyn Valuation<G>>,
}

impl<G: Game> Clone for Reference<G> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), valuation: self.valuation.clone() }
    }
}

/// The use of exact values, where precision and effort depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A few values to print: as precise as they can be had at once.
    Show,
    /// Labels and references of many positions.
    Label,
}

/// What a game knows of the value of its states. [`Self::none`] knows nothing; [`Self::oracle`] has exact values.
///
/// The commands use it to label positions (`[learn.supervised]`, `data`), to measure errors and lost value (suites `rms` and
/// `move-loss`), to judge games (`review`), as agents, as priors of networks, and in place of networks (`known:TABLE`).
///
/// ```
/// use adept_game::{Afterstate, Game, Valuation, Values, tiny::Nim};
/// # struct NimSum;
/// # impl Valuation<Nim> for NimSum {
/// #     fn value(&self, _: &Nim, after: Afterstate<'_, Nim>) -> f64 {
/// #         if after.state.left.iter().fold(0, |sum, heap| sum ^ heap) == 0 { 1.0 } else { -1.0 }
/// #     }
/// # }
/// use std::sync::Arc;
///
/// let values = Values::oracle("the nim-sum", || Ok(Arc::new(NimSum) as _)); // see Valuation
/// let game = Nim::default();
/// let exact = values.exact(&game, &[game.parse_position("1 4 5 @2")?.0]);
/// assert_eq!(exact, Some(Ok(vec![1.0])));
/// assert!(values.has_oracle() && !Values::<Nim>::none().has_oracle());
/// # Ok::<(), adept_game::GameError>(())
/// ```
pub struct Values<'a, G: Game> {
    /// Valuations, which can also play as agents. One named `oracle` is exact, and provides labels and reference values for errors.
    pub valuations: Valuations<'a, G>,
    /// Tables: valuations that know part of the positions so well that they may stand for a network there. They have NaN elsewhere.
    pub tables: Valuations<'a, G>,
    /// The tables that stand for the network of a checkpoint which names none, joined by `+`. They are opened in less than a second.
    pub usual_tables: Option<&'static str>,
    /// Name of the exact valuation that measures lost value, `oracle` by default. It must resolve differences of 1e-6.
    pub judge: &'static str,
    /// Exact valuations, and tables that are nearly exact, which judge games before any network. They must open within two seconds, or
    /// come from a file that is there.
    pub references: Option<Opener<'a, Vec<Reference<G>>>>,
    /// `oracle` for a few positions, where the game has tables of several sizes: the smallest that holds them. By default, `oracle`.
    pub for_positions: Option<ForPositions<'a, G>>,
    /// The positions as pairs of halves with exact values, for games that can enumerate all of them (`evaluate --exhaustive`).
    pub halves: Option<Opener<'a, Box<dyn Halves<G>>>>,
}

impl<'a, G: Game> Values<'a, G> {
    /// Name of the exact valuation.
    pub const ORACLE: &'static str = "oracle";

    /// No values.
    pub fn none() -> Self {
        Self {
            valuations: Listing::default(),
            tables: Listing::default(),
            usual_tables: None,
            judge: Self::ORACLE,
            references: None,
            for_positions: None,
            halves: None,
        }
    }

    /// These valuations and nothing else.
    pub fn of(valuations: Valuations<'a, G>) -> Self {
        Self { valuations, ..Self::none() }
    }

    /// The exact valuation `oracle` and nothing else. `about` is its description, and `open` opens it.
    pub fn oracle(
        about: &'static str,
        open: impl Fn() -> Result<Arc<dyn Valuation<G>>, GameError> + 'a,
    ) -> Self {
        Self::of(Listing::default().with(Self::ORACLE, about, open))
    }

    /// Whether it lists exact values.
    pub fn has_oracle(&self) -> bool {
        self.valuations.names().iter().any(|known| known.name == Self::ORACLE)
    }

    /// The valuation `name` for these positions and what follows them alone.
    pub fn open_for(
        &self,
        name: &str,
        positions: &[G::State],
        purpose: Purpose,
    ) -> Found<Arc<dyn Valuation<G>>> {
        match &self.for_positions {
            Some(open) if name == Self::ORACLE => Some(open(positions, purpose)),
            _ => self.valuations.open(name),
        }
    }

    /// The exact values of positions right after a move, to the player who just acted, in [−1, 1]; NaN where unknown. None if there is no
    /// `oracle`.
    pub fn exact(&self, game: &G, positions: &[G::State]) -> Found<Vec<f64>> {
        let exact = |oracle: Arc<dyn Valuation<G>>| {
            let value = |state| {
                let player = game.just_acted(state).unwrap_or(0);
                oracle.value(game, Afterstate { state, action: None, player })
            };
            work::each("looking up exact values", positions).map(value).collect()
        };
        Some(self.open_for(Self::ORACLE, positions, Purpose::Label)?.map(exact))
    }

    /// The valuations that judge games before any network.
    ///
    /// # Errors
    /// One of them cannot be opened.
    pub fn references(&self) -> Result<Vec<Reference<G>>, GameError> {
        self.references.as_ref().map_or_else(|| Ok(Vec::new()), |open| open())
    }
}
