//! What a screen loses: how often the best move by a large network is among the first ones by a small one.

use crate::decisions::size;
use adept_arena::matches::Net;
use adept_arena::{Decision, Evaluator, OpenError, naming};
use adept_game::{Kit, Turn, no_action, stream};
use adept_ground::work;
use adept_model::ModelError;
use adept_trainer::run::{Cancel, TrainError};
use rand::RngExt;
use serde::Serialize;
use std::borrow::Cow;

/// What is compared on which decisions.
#[derive(Clone, Debug)]
pub struct ScreeningOptions {
    /// What screens: a checkpoint or a valuation.
    pub small: String,
    /// What is screened for, whose values count: a checkpoint, a search, or a valuation. It plays the games.
    pub large: String,
    /// Decisions with at least two moves.
    pub count: u64,
    /// Numbers of moves that a screen may keep.
    pub keep: Vec<usize>,
    /// Seed of the games.
    pub seed: u64,
}

/// What a screen loses that keeps so many moves.
#[derive(Clone, Debug, Serialize)]
pub struct Kept {
    /// Moves that it keeps.
    pub keep: usize,
    /// Share of decisions whose best move is among them, in [0, 1].
    pub found: f64,
    /// Mean loss of a decision, in the unit of the game.
    pub loss: f64,
    /// Its 95 % interval, over decisions.
    pub ci95: [f64; 2],
}

/// What a screen loses.
#[derive(Clone, Debug, Serialize)]
pub struct Screening {
    /// What screens.
    pub small: String,
    /// Whose values count.
    pub large: String,
    /// Decisions.
    pub decisions: u64,
    /// Mean number of their moves.
    pub moves: f64,
    /// By the number of moves that are kept.
    pub keep: Vec<Kept>,
    /// The unit, such as points.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<Cow<'static, str>>,
}

/// Plays games of the large network against itself, one move in twenty another than the best, and ranks the moves of each decision by
/// the small one.
///
/// # Errors
/// If one of them has no values, or the work is stopped.
pub fn screening_of<G: Kit>(
    game: &G,
    options: &ScreeningOptions,
    cancel: &Cancel,
) -> Result<Screening, TrainError> {
    let open = |name: &str| -> Result<Box<dyn Evaluator<G>>, OpenError> {
        let refuse = || {
            OpenError::Unknown(format!(
                "`{name}` does not play by its highest value: name a checkpoint, a valuation, or a search of one"
            ))
        };
        naming::values(game, &naming::resolve(game, name, &[])?, false)?.ok_or_else(refuse)
    };
    let (mut small, mut large) = (open(&options.small)?, open(&options.large)?);
    let what = format!("playing games for {} decisions", options.count);
    let mut nets = vec![(Net::default(), 0u64); options.keep.len()];
    let (mut decisions, mut moves, mut number) = (0, 0, 0);
    let (mut actions, mut values, mut thought) = (Vec::new(), Vec::new(), Vec::new());
    // A game may have no choice at all.
    while decisions < options.count && number < 10 * options.count {
        let mut rng = stream(options.seed, "games for screens", number);
        let mut state = game.start();
        number += 1;
        while decisions < options.count {
            if cancel.requested() {
                let message = "stopped before all decisions were ranked".into();
                return Err(TrainError::Interrupted { path: options.small.clone().into(), message });
            }
            let player = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => {
                    let action = game.sample(&state, &mut rng);
                    game.apply(&mut state, &action);
                    continue;
                }
                Turn::Player(player) => player,
            };
            let at = Decision::new(game, &state, player);
            large.weigh(at, &mut actions, &mut values);
            if actions.is_empty() {
                return Err(ModelError::Unsupported(no_action(game, &state, player).to_string()).into());
            }
            let order = ranked(&values);
            if actions.len() > 1 {
                small.values(at, &actions, &mut thought);
                let ranks = ranked(&thought);
                for ((net, found), &keep) in nets.iter_mut().zip(&options.keep) {
                    let kept = ranks.iter().take(keep).map(|&i| values[i]).fold(f32::NEG_INFINITY, f32::max);
                    let loss = f64::from(values[order[0]] - kept) * size(game);
                    net.add(loss);
                    *found += u64::from(loss == 0.0);
                }
                (decisions, moves) = (decisions + 1, moves + actions.len());
                work::share(&what, decisions as f64 / options.count as f64);
            }
            let next = match rng.random_range(0..20) {
                0 => order[rng.random_range(0..order.len().min(4))],
                _ => order[0],
            };
            game.apply(&mut state, &actions[next]);
        }
    }
    if decisions < 2 {
        return Err(OpenError::Unknown(format!("games of {} have no decisions to rank", game.name())).into());
    }
    work::share(&what, 1.0);
    let keep = options.keep.iter().zip(nets).map(|(&keep, (net, found))| Kept {
        keep,
        found: found as f64 / decisions as f64,
        loss: net.mean(),
        ci95: net.ci95(),
    });
    Ok(Screening {
        small: options.small.clone(),
        large: options.large.clone(),
        decisions,
        moves: moves as f64 / decisions as f64,
        keep: keep.collect(),
        unit: game.unit().map(|unit| unit.name),
    })
}

/// The numbers of these values, the highest first.
fn ranked(values: &[f32]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[b].total_cmp(&values[a]));
    order
}
