//! Positions of a game apart from its games.

use crate::game::Game;
use crate::listing::Named;
use crate::play::number_of;
use rand::Rng;

/// Samples positions from a distribution: states right after a move, before a chance event and the next player's move.
pub type Draw<G> = Box<dyn Fn(&mut dyn Rng) -> <G as Game>::State + Send + Sync>;

/// A named distribution of positions.
///
/// ```
/// use adept_game::{Distribution, rand::RngExt, stream, tiny::{Heaps, Nim}};
///
/// let one_heap = Distribution::<Nim>::new("one-heap", "the last heap", |rng| {
///     Heaps { left: [0, 0, rng.random_range(1..=5)], mover: 1 }
/// });
/// let state = (one_heap.draw)(&mut stream(1, "positions", 0));
/// assert!(state.left[2] > 0 && one_heap.named.name == "one-heap");
/// ```
pub struct Distribution<G: Game> {
    /// Its name and description.
    pub named: Named,
    /// Samples a position.
    pub draw: Draw<G>,
}

impl<G: Game> Distribution<G> {
    /// A distribution with this sampler.
    pub fn new(
        name: &'static str,
        about: &'static str,
        draw: impl Fn(&mut dyn Rng) -> G::State + Send + Sync + 'static,
    ) -> Self {
        Self { named: Named { name: name.into(), about: about.into() }, draw: Box::new(draw) }
    }
}

/// All positions of a class, so that errors can be measured on each class by itself.
pub struct PositionClass<G: Game> {
    /// The class, as [`Positions::class`] numbers it.
    pub class: u64,
    /// Number of its positions.
    pub count: u64,
    /// The position with each number below `count`. Different numbers have different positions.
    pub position: Box<dyn Fn(u64) -> G::State + Send + Sync>,
}

/// The positions of a game apart from its games.
///
/// ```
/// use adept_game::{Distribution, Positions, number_of, stream, tiny::{Heaps, Nim}};
///
/// let last = Distribution::<Nim>::new("last", "one thing", |_| Heaps { left: [0, 0, 1], mover: 1 });
/// let positions = Positions {
///     class: |state: &Heaps| state.left.iter().map(|&heap| u64::from(heap)).sum(),
///     class_name: "things",
///     ..Positions::new(vec![last], number_of)
/// };
/// assert_eq!((positions.class)(&Heaps { left: [1, 0, 2], mover: 0 }), 3);
/// let draw = positions.draw("last").ok_or("no such distribution")?;
/// assert_eq!(draw(&mut stream(1, "positions", 0)).left, [0, 0, 1]);
/// # Ok::<(), &str>(())
/// ```
pub struct Positions<G: Game> {
    /// Distributions of positions; the first is the default.
    pub distributions: Vec<Distribution<G>>,
    /// A unique number for each position that a distribution draws, or a hash that is the same in every process. It splits positions for training, validation and tests.
    pub number: fn(&G::State) -> u64,
    /// The class of a position. Reports group errors by class.
    pub class: fn(&G::State) -> u64,
    /// What the number of a class means, such as "stones on the board".
    pub class_name: &'static str,
    /// A name for each number of a class from 0, such as "race", by which benchmarks group decisions; none if numbers say enough.
    pub class_names: &'static [&'static str],
    /// The classes with all their positions, in ascending order. If none, errors by class are measured on positions of a
    /// distribution.
    pub classes: Vec<PositionClass<G>>,
}

impl<G: Game> Positions<G> {
    /// No positions apart from games. Those of games are numbered by a hash of their state.
    pub fn none() -> Self {
        Self::new(Vec::new(), number_of)
    }

    /// Positions of one class.
    pub fn new(distributions: Vec<Distribution<G>>, number: fn(&G::State) -> u64) -> Self {
        Self {
            distributions,
            number,
            class: |_| 0,
            class_name: "class",
            class_names: &[],
            classes: Vec::new(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.distributions.is_empty()
    }

    /// Names and descriptions of the distributions.
    pub fn names(&self) -> Vec<Named> {
        self.distributions.iter().map(|d| d.named.clone()).collect()
    }

    /// The sampler of the distribution named `name`.
    pub fn draw(self, name: &str) -> Option<Draw<G>> {
        self.distributions.into_iter().find(|d| d.named.name == name).map(|d| d.draw)
    }
}
