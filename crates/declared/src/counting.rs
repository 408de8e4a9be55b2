//! Counting the states of a game.

use adept_game::{Game, Turn, stream};
use adept_ground::{limits, work};
use rand::RngExt;
use rustc_hash::FxHashSet;

/// Longest random game, in moves or steps.
pub(crate) const LONGEST: usize = 20_000;
/// Limit on gates read before a game is used: a fraction of a second.
pub(crate) const WORK: usize = 100_000_000;
/// States up to which a game is measured exactly unless something else is asked for: it then takes seconds.
const QUICK: usize = 100_000;
/// Moves that are made to count the states of a game that has more than [`QUICK`], which takes seconds; and gates of a move above which
/// they are not counted.
const COUNTED: usize = 4_000_000;
const CHEAP: usize = 1_000;
/// Random games from which the number of states is estimated, the fewest that go on, and the most moves and outcomes of chance in them.
const MET: usize = 4_096;
const LEFT: usize = 256;
const DEEP: usize = 256;

/// The number of states that can be reached, if it is at most [`limits::STATES`] and counting them takes seconds at most. `cost` is what a
/// move reads.
pub(crate) fn count_states<G: Game>(game: &G, cost: usize) -> Option<usize> {
    match walk(game, QUICK, WORK / cost, &mut |_| true) {
        Walked::All(states) => Some(states),
        Walked::Most if cost <= CHEAP && !looks_large(game) => {
            match walk(game, limits::states(2 * size_of::<G::State>()), COUNTED, &mut |_| true) {
                Walked::All(states) => Some(states),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether exact measures are usual: they then take seconds.
pub(crate) fn is_quick(states: Option<usize>) -> bool {
    states.is_some_and(|states| states <= QUICK)
}

/// Whether there are more states than can be counted, as far as random games tell. Of n games in N states after some number of moves,
/// n²/2N pairs meet, or more where some states are more frequent. So the sum of N over the numbers of moves is seldom too high, unless
/// states come back later.
fn looks_large<G: Game>(game: &G) -> bool {
    let mut rng = stream(0, "games that meet", 0);
    let mut states: Vec<_> = (0..MET).map(|_| game.start()).collect();
    let (mut actions, mut estimate) = (Vec::new(), 0);
    for _ in 0..DEEP {
        for state in &mut states {
            let action = match game.turn(state) {
                Turn::Over => continue,
                Turn::Chance => game.sample(state, &mut rng),
                Turn::Player(_) => {
                    game.actions(state, &mut actions);
                    if actions.is_empty() {
                        continue;
                    }
                    actions.swap_remove(rng.random_range(0..actions.len()))
                }
            };
            game.apply(state, &action);
        }
        states.retain(|state| game.turn(state) != Turn::Over);
        let (n, distinct) = (states.len(), states.iter().collect::<FxHashSet<_>>().len());
        if n < LEFT || estimate > limits::STATES {
            break;
        }
        estimate += if 2 * distinct <= n { distinct } else { n * n / (2 * (n - distinct).max(1)) };
    }
    estimate > limits::STATES
}

/// How a walk through the states of a game ends.
enum Walked {
    /// It visited all states; their number.
    All(usize),
    /// There are more states, or they would take too long.
    Most,
    /// No exact measure comes to its end.
    Never,
}

/// Progress message of counting states.
const COUNTING: &str = "counting the states of the game";

/// Visits every end that can be reached, some of them several times, while `visit` returns true. Whether all were visited: not if there
/// are more than [`QUICK`] states, or if it would take more than a fraction of a second. `cost` is what a move reads.
pub(crate) fn visits_all<G: Game>(game: &G, cost: usize, mut visit: impl FnMut(&G::State) -> bool) -> bool {
    matches!(walk(game, QUICK, WORK / cost, &mut visit), Walked::All(_))
}

/// Walks through at most `most` states, by at most `left` moves, and shows all ends to `visit`, which may stop it.
fn walk<G: Game>(game: &G, most: usize, mut left: usize, visit: &mut dyn FnMut(&G::State) -> bool) -> Walked {
    let (mut seen, mut open, mut actions) = (FxHashSet::default(), vec![game.start()], Vec::new());
    let (mut outcomes, mut taken) = (Vec::new(), 0usize);
    while let Some(state) = open.pop() {
        game.actions(&state, &mut actions);
        if game.turn(&state) == Turn::Chance {
            if !game.outcomes(&state, &mut outcomes) {
                return Walked::Never;
            }
            actions.extend(outcomes.drain(..).map(|(outcome, _)| outcome));
        }
        for action in &actions {
            let mut next = state.clone();
            game.apply(&mut next, action);
            left = left.saturating_sub(1);
            if next == state && game.turn(&state) == Turn::Chance {
                // Such as a die that is thrown again: exact measures never come to its end.
                return Walked::Never;
            }
            if game.turn(&next) == Turn::Over {
                if !visit(&next) {
                    return Walked::Never;
                }
            } else if seen.insert(next.clone()) {
                open.push(next);
            }
        }
        if seen.len() > most || left == 0 {
            work::share(COUNTING, 1.0);
            return Walked::Most;
        }
        taken += 1;
        if taken.is_multiple_of(1 << 14) && most > QUICK {
            work::share(COUNTING, seen.len() as f64 / (most + 1) as f64);
        }
    }
    work::share(COUNTING, 1.0);
    Walked::All(seen.len())
}
