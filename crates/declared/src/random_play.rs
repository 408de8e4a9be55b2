//! References for parallel random games: the exact value of random play, and random games by the methods of a game.

use adept_game::{Game, Kit, Stream, Turn, stream};
use rand::RngExt;
use rustc_hash::FxHashMap;

/// For each player, the mean of the utility and of its square.
type Moments = Vec<(f64, f64)>;

/// The exact value of random play in states of a game.
pub(crate) struct RandomPlay<'a, G: Kit> {
    game: &'a G,
    known: FxHashMap<G::State, Moments>,
}

impl<'a, G: Kit> RandomPlay<'a, G> {
    pub(crate) fn new(game: &'a G) -> Self {
        Self { game, known: FxHashMap::default() }
    }

    fn moments(&mut self, state: &G::State) -> Moments {
        if let Some(known) = self.known.get(state) {
            return known.clone();
        }
        let mut moments = vec![(0.0, 0.0); self.game.players()];
        if self.game.turn(state) == Turn::Over {
            for (player, (mean, square)) in moments.iter_mut().enumerate() {
                *mean = self.game.utility(state, player);
                *square = *mean * *mean;
            }
        } else {
            let mut actions = Vec::new();
            self.game.actions(state, &mut actions);
            for action in &actions {
                let mut next = state.clone();
                self.game.apply(&mut next, action);
                for (moment, (mean, square)) in moments.iter_mut().zip(self.moments(&next)) {
                    moment.0 += mean / actions.len() as f64;
                    moment.1 += square / actions.len() as f64;
                }
            }
        }
        self.known.insert(state.clone(), moments.clone());
        moments
    }

    /// Plays parallel games from a state and asserts that their mean is that of random play up to 4.5 standard errors.
    pub(crate) fn assert_played(&mut self, state: &G::State, games: usize, seed: u64) {
        let moments = self.moments(state);
        let sums = self
            .game
            .random_play()
            .games(self.game, state, games, &mut stream(seed, "side by side", 0))
            .unwrap();
        assert_eq!(sums.len(), moments.len());
        for (sum, (mean, square)) in sums.into_iter().zip(moments) {
            let n = games as f64;
            // An event that is as likely as not to be missed in this many games counts as seen once, unless all games
            // end alike.
            let variance = (square - mean * mean).max(0.0);
            let error = if variance < 1e-12 { 0.0 } else { ((variance + 1.0 / n) / n).sqrt() };
            let found = sum / n;
            assert!(
                (found - mean).abs() <= 4.5 * error + 1e-9,
                "{}: {games} games give {found}, random play {mean} ± {error}, at {}",
                self.game.name(),
                self.game.position_text(state)
            );
        }
    }
}

/// Plays games from a state in parallel and one by one, and asserts that the means agree up to 4.5 standard errors.
pub(crate) fn assert_played_as_one_by_one<G: Kit>(game: &G, state: &G::State, games: usize) {
    let mut rng: Stream = stream(1, "one by one", 0);
    let mut moments = vec![(0.0, 0.0); game.players()];
    for _ in 0..games {
        let last = walk(game, state, usize::MAX, &mut rng);
        for (player, (sum, squares)) in moments.iter_mut().enumerate() {
            let utility = game.utility(&last, player);
            *sum += utility;
            *squares += utility * utility;
        }
    }
    let sums = game.random_play().games(game, state, games, &mut rng).unwrap();
    let n = games as f64;
    for (sum, (expected, squares)) in sums.into_iter().zip(moments) {
        // An event that is as likely as not to be missed in this many games counts as seen once.
        let variance = (squares / n - (expected / n).powi(2)).max(0.0) + 1.0 / n;
        let error = (2.0 * variance / n).sqrt();
        assert!((sum - expected).abs() <= 4.5 * n * error, "{}: {sum} {expected} {n}", game.name());
    }
}

/// The state after `steps` random actions, or at the end of the game.
pub(crate) fn walk<G: Game>(game: &G, state: &G::State, steps: usize, rng: &mut Stream) -> G::State {
    let (mut state, mut actions) = (state.clone(), Vec::new());
    for _ in 0..steps {
        let action = match game.turn(&state) {
            Turn::Over => break,
            Turn::Chance => game.sample(&state, rng),
            Turn::Player(_) => {
                game.actions(&state, &mut actions);
                actions.swap_remove(rng.random_range(0..actions.len()))
            }
        };
        game.apply(&mut state, &action);
    }
    state
}

/// Plays from the start and from random states, and asserts that results are reproducible: the same stream gives the
/// same result, whatever was played before, and for a copy of the game.
pub(crate) fn assert_repeats<G: Kit>(game: &G, fresh: &G) {
    let mut rng: Stream = stream(2, "walks", 0);
    for (n, games) in [1, 3, 64, 65, 200, 512, 700].into_iter().enumerate() {
        let state = walk(game, &game.start(), n, &mut rng);
        if game.turn(&state) == Turn::Over {
            continue;
        }
        // Few games may be played faster one by one.
        let play =
            |game: &G| game.random_play().games(game, &state, games, &mut stream(n as u64, "repeats", 0));
        let found = play(game);
        let scale = game.scale() * games as f64;
        assert!(found.iter().flatten().all(|sum| sum.abs() <= scale), "{}: {found:?}", game.name());
        game.random_play().games(game, &game.start(), 200, &mut rng).unwrap();
        assert_eq!(found, play(game), "{}", game.name());
        assert_eq!(found, play(fresh), "{}", game.name());
    }
}
