//! Games that an evaluator plays with itself, seen decision by decision.

use adept_arena::{Decision, Evaluator, OpenError, naming};
use adept_game::{Game, Kit, Stream, Turn, no_action};
use adept_ground::order::highest_first;
use adept_model::ModelError;
use adept_trainer::run::TrainError;
use rand::RngExt;

/// Most decisions of a game. Some games never end.
const DECISIONS: u32 = 100_000;

/// A decision of such a game.
pub(crate) struct Met<'a, G: Game> {
    /// The position.
    pub(crate) state: &'a G::State,
    /// Who is to move.
    pub(crate) player: usize,
    /// The moves, at least one.
    pub(crate) actions: &'a [G::Action],
    /// Their values for the player to move.
    pub(crate) values: &'a [f32],
    /// Their places, the best first.
    pub(crate) order: &'a [usize],
}

/// Opens the values by which an agent plays.
///
/// # Errors
/// If it is not available, or plays in another way than by its highest value.
pub(crate) fn evaluator<G: Kit>(
    game: &G,
    agent: &str,
    best: bool,
) -> Result<Box<dyn Evaluator<G>>, OpenError> {
    naming::values(game, &naming::resolve(game, agent, &[])?, best)?.ok_or_else(|| {
        OpenError::Unknown(format!(
            "`{agent}` does not play by its highest value: name a checkpoint, a valuation, or a search of one"
        ))
    })
}

/// Plays a game from this position to its end, or until `stop`. `next` gets each decision with the evaluator, and returns the place of
/// the move to play; none ends the game. With `all`, every move has its exact value.
///
/// # Errors
/// A position without a move, and errors of `next`.
pub(crate) fn play<G: Kit>(
    game: &G,
    evaluator: &mut dyn Evaluator<G>,
    mut state: G::State,
    rng: &mut Stream,
    all: bool,
    stop: &dyn Fn() -> bool,
    mut next: impl FnMut(Met<'_, G>, &mut dyn Evaluator<G>, &mut Stream) -> Result<Option<usize>, TrainError>,
) -> Result<(), TrainError> {
    let (mut actions, mut values, mut order) = (Vec::new(), Vec::new(), Vec::new());
    let mut decisions = 0;
    while decisions < DECISIONS && !stop() {
        let player = match game.turn(&state) {
            Turn::Over => break,
            Turn::Chance => {
                let action = game.sample(&state, rng);
                game.apply(&mut state, &action);
                continue;
            }
            Turn::Player(player) => player,
        };
        decisions += 1;
        let at = Decision::new(game, &state, player);
        match all {
            true => evaluator.study(at, &mut actions, &mut values),
            false => evaluator.weigh(at, &mut actions, &mut values),
        }
        if actions.is_empty() {
            return Err(ModelError::Unsupported(no_action(game, &state, player).to_string()).into());
        }
        order.clear();
        order.extend(0..actions.len());
        highest_first(&values, &mut order);
        let met = Met { state: &state, player, actions: &actions, values: &values, order: &order };
        match next(met, evaluator, rng)? {
            Some(place) => game.apply(&mut state, &actions[place]),
            None => break,
        }
    }
    Ok(())
}

/// The best move, or in one of twenty decisions one of the best four, so that games of a strong agent differ and go wrong as games of
/// people do.
pub(crate) fn mostly_best(order: &[usize], rng: &mut Stream) -> usize {
    match rng.random_range(0..20) {
        0 => order[rng.random_range(0..order.len().min(4))],
        _ => order[0],
    }
}
