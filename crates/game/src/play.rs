//! Positions of random games: the distribution of games that have no other.

use crate::game::{Game, Turn};
use crate::rng::Stream;
use rand::RngExt;
use std::hash::{Hash, Hasher};

/// Name of the distribution of positions of random games.
pub const PLAY: &str = "play";

/// Most moves and chance outcomes of a random game. A longer game is left there.
const LONGEST: u32 = 10_000;

/// Games without a position that is wanted after which there is none.
const GAMES: u32 = 1_000;

/// Plays random games until one has positions that are wanted, and draws one of these, each equally often. Positions are right after a
/// move and before what comes next, and tell who moved. None if there is none in many games.
///
/// ```
/// use adept_game::{Game, draw_of_play, stream, tiny::Nim};
///
/// let game = Nim::default();
/// let wanted = |state: &<Nim as Game>::State| state.left.contains(&0);
/// let state = draw_of_play(&game, &mut stream(1, "positions", 0), &wanted).ok_or("no such position")?;
/// assert!(wanted(&state) && game.just_acted(&state).is_some());
/// # Ok::<(), &str>(())
/// ```
pub fn draw_of_play<G: Game>(
    game: &G,
    rng: &mut Stream,
    wanted: &dyn Fn(&G::State) -> bool,
) -> Option<G::State> {
    let mut actions = Vec::new();
    (0..GAMES).find_map(|_| {
        let (mut state, mut kept, mut count) = (game.start(), None, 0u32);
        for _ in 0..LONGEST {
            match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => {
                    let outcome = game.sample(&state, rng);
                    game.apply(&mut state, &outcome);
                }
                Turn::Player(_) => {
                    game.actions(&state, &mut actions);
                    if actions.is_empty() {
                        break;
                    }
                    let action = actions.swap_remove(rng.random_range(0..actions.len()));
                    game.apply(&mut state, &action);
                    let counts = game.turn(&state) != Turn::Over && game.just_acted(&state).is_some();
                    if counts && wanted(&state) {
                        count += 1;
                        if rng.random_range(0..count) == 0 {
                            kept = Some(state.clone());
                        }
                    }
                }
            }
        }
        kept
    })
}

/// A number for a state, the same in every process: a hash.
///
/// ```
/// use adept_game::{Game, number_of, tiny::Nim};
///
/// let start = Nim::default().start();
/// let is_for_validation = |state| number_of(state) % 10 == 0; // the same states in every run
/// assert_eq!(is_for_validation(&start), is_for_validation(&start.clone()));
/// ```
pub fn number_of<S: Hash>(state: &S) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    state.hash(&mut hasher);
    hasher.0
}

/// The hash FNV-1a.
struct Fnv(u64);

impl Hasher for Fnv {
    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
