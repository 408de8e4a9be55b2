//! Errors of outcome probabilities: log loss and calibration.

use super::positions::{named, test_positions};
use crate::chart::{Axes, Legend, lines};
use adept_arena::{Decision, GameModel, OpenError};
use adept_game::{GameError, Kit, Turn, no_action, outcome_of, stream};
use adept_model::{Head, LEAST_PROBABILITY, OutcomeClass};
use adept_trainer::run::TrainError;
use rand::RngExt;
use serde::Serialize;

/// Bins of a calibration table.
const BINS: usize = 10;
/// Number of games if there are no exact values.
const GAMES: u64 = 2_000;
/// Number of positions with exact values.
const POSITIONS: u64 = 20_000;
/// Largest number of random opening moves, which vary games without chance.
const OPENING: usize = 4;
/// Number of moves after which a game is discarded.
const MOVES: usize = 10_000;

/// Errors of the probabilities of a game's outcomes.
#[derive(Clone, Debug, Serialize)]
pub struct OutcomesReport {
    /// Description of the reference distribution.
    pub from: String,
    /// Positions.
    pub rows: u64,
    /// Mean cross entropy −Σₖ tₖ ln pₖ with the true distribution t, which is certain for results of games.
    pub log_loss: f64,
    /// Log loss of the constant prediction, the mean of t.
    pub log_loss_constant: f64,
    /// Lower bound of the log loss: the mean entropy of t.
    pub log_loss_least: f64,
    /// Errors of each class against all others.
    pub classes: Vec<ClassErrors>,
}

/// Errors of one class's probability.
#[derive(Clone, Debug, Serialize)]
pub struct ClassErrors {
    /// Its name.
    pub name: String,
    /// Its mean probability.
    pub predicted: f64,
    /// Its mean true probability.
    pub observed: f64,
    /// Root mean square difference p − t.
    pub rms: f64,
    /// Mean of −t ln p − (1 − t) ln(1 − p).
    pub log_loss: f64,
    /// The calibration table: positions by predicted probability, without empty bins.
    pub calibration: Vec<Bin>,
}

/// A bin of predicted probabilities.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Lowest predicted probability.
    pub from: f64,
    /// Upper bound of predicted probabilities, exclusive except for 1.
    pub to: f64,
    /// Positions.
    pub rows: u64,
    /// Mean predicted probability.
    pub predicted: f64,
    /// Mean true probability.
    pub observed: f64,
}

/// Measures a model with outcome classes; `None` for other models.
///
/// If the game has exact values with outcome probabilities, the model is compared with them on test positions of the
/// distribution. Otherwise it is compared with the results of its self-play.
///
/// # Errors
/// If exact values cannot be opened, or if the model's games have no results.
pub(super) fn outcomes<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    distribution: Option<&str>,
    samples: Option<u64>,
) -> Result<Option<OutcomesReport>, TrainError> {
    let head = bound.model.head().clone();
    let Some(classes) = head.classes() else { return Ok(None) };
    if let Some(report) = exact(game, bound, &head, classes, distribution, samples)? {
        return Ok(Some(report));
    }
    let games = samples.unwrap_or(GAMES);
    let (p, t) = played(game, bound, classes, games)?;
    if p.is_empty() {
        return Err(TrainError::Suite("no game of the network with itself came to an end".into()));
    }
    let from =
        format!("results of {games} games of the network with itself, after up to {OPENING} random moves");
    Ok(Some(report(from, classes, &p, &t)))
}

fn exact<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    head: &Head,
    classes: &[OutcomeClass],
    distribution: Option<&str>,
    samples: Option<u64>,
) -> Result<Option<OutcomesReport>, TrainError> {
    if game.positions().is_empty() || !game.values().has_oracle() {
        return Ok(None);
    }
    let name = named(game, distribution);
    let states = test_positions(game, &name, samples.unwrap_or(POSITIONS))?;
    let values = match game.values().exact(game, &states) {
        Some(values) => values.map_err(|e: GameError| TrainError::Suite(e.to_string()))?,
        None => return Ok(None),
    };
    let mut t = Vec::with_capacity(states.len() * classes.len());
    for value in values {
        match head.target_of(value as f32) {
            Some(target) => t.extend(target),
            None => return Ok(None),
        }
    }
    let mut p = Vec::new();
    bound.afterstates(game, &states, &mut Vec::new(), &mut p);
    Ok(Some(report(format!("exact values of positions of `{name}`"), classes, &p, &t)))
}

/// The distributions predicted before results, and the results.
fn played<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    classes: &[OutcomeClass],
    games: u64,
) -> Result<(Vec<f32>, Vec<f32>), TrainError> {
    let (n, mut rng) = (classes.len(), stream(0, "outcomes", 0));
    let (mut p, mut t) = (Vec::new(), Vec::new());
    for _ in 0..games {
        let (mut state, mut seen, mut players) = (game.start(), Vec::new(), Vec::new());
        let (random, mut moves) = (rng.random_range(0..=OPENING), 0);
        for _ in 0..MOVES {
            let player = match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => {
                    let action = game.sample(&state, &mut rng);
                    game.apply(&mut state, &action);
                    continue;
                }
                Turn::Player(player) => player,
            };
            let found = bound.decide(Decision::new(game, &state, player));
            if found.actions.is_empty() {
                return Err(OpenError::from(no_action(game, &state, player)).into());
            }
            let best = (0..found.values.len()).max_by(|&a, &b| found.values[a].total_cmp(&found.values[b]));
            let any = rng.random_range(0..found.actions.len());
            let choice = if moves < random { any } else { best.unwrap_or(any) };
            if let Some(row) = found.row_of[choice].filter(|_| moves >= random) {
                seen.extend_from_slice(&found.outcomes[row as usize * n..][..n]);
                players.push(player);
            }
            moves += 1;
            let action = found.actions[choice].clone();
            game.apply(&mut state, &action);
        }
        if game.turn(&state) != Turn::Over {
            continue;
        }
        for (player, seen) in players.into_iter().zip(seen.chunks_exact(n)) {
            if let Some(class) = outcome_of(game, classes, &state, player) {
                p.extend_from_slice(seen);
                t.extend((0..n).map(|k| f32::from(u8::from(k == class))));
            }
        }
    }
    Ok((p, t))
}

fn log(p: f64) -> f64 {
    p.max(f64::from(LEAST_PROBABILITY)).ln()
}

/// Compares distributions p and t, both `[rows, classes]`.
fn report(from: String, classes: &[OutcomeClass], p: &[f32], t: &[f32]) -> OutcomesReport {
    let n = classes.len();
    let rows = p.len() / n;
    let mean = |of: &dyn Fn(usize) -> f64| (0..rows).map(of).sum::<f64>() / rows.max(1) as f64;
    let at = |all: &[f32], row: usize, k: usize| f64::from(all[row * n + k]);
    let shares: Vec<f64> = (0..n).map(|k| mean(&|row| at(t, row, k))).collect();
    let entropy = |of: &dyn Fn(usize, usize) -> f64| {
        mean(&|row| (0..n).map(|k| -at(t, row, k) * log(of(row, k))).sum())
    };
    let class = |(k, class): (usize, &OutcomeClass)| ClassErrors {
        name: class.name.clone(),
        predicted: mean(&|row| at(p, row, k)),
        observed: shares[k],
        rms: mean(&|row| (at(p, row, k) - at(t, row, k)).powi(2)).sqrt(),
        log_loss: mean(&|row| {
            let (p, t) = (at(p, row, k), at(t, row, k));
            -t * log(p) - (1.0 - t) * log(1.0 - p)
        }),
        calibration: bins((0..rows).map(|row| (at(p, row, k), at(t, row, k)))),
    };
    OutcomesReport {
        from,
        rows: rows as u64,
        log_loss: entropy(&|row, k| at(p, row, k)),
        log_loss_constant: entropy(&|_, k| shares[k]),
        log_loss_least: entropy(&|row, k| at(t, row, k)),
        classes: classes.iter().enumerate().map(class).collect(),
    }
}

fn bins(pairs: impl Iterator<Item = (f64, f64)>) -> Vec<Bin> {
    let mut sums = [(0u64, 0.0, 0.0); BINS];
    for (p, t) in pairs {
        let bin = &mut sums[((p * BINS as f64) as usize).min(BINS - 1)];
        *bin = (bin.0 + 1, bin.1 + p, bin.2 + t);
    }
    let bin = |(i, (rows, p, t)): (usize, (u64, f64, f64))| Bin {
        from: i as f64 / BINS as f64,
        to: (i + 1) as f64 / BINS as f64,
        rows,
        predicted: p / rows as f64,
        observed: t / rows as f64,
    };
    sums.into_iter().enumerate().filter(|(_, sum)| sum.0 > 0).map(bin).collect()
}

impl OutcomesReport {
    /// The calibration of all classes as an SVG document: observed over predicted probabilities.
    pub fn svg(&self) -> String {
        let curve = |class: &ClassErrors| {
            let points = class.calibration.iter().map(|bin| (bin.predicted, bin.observed)).collect();
            (class.name.clone(), points)
        };
        let mut curves = vec![("calibrated".to_string(), vec![(0.0, 0.0), (1.0, 1.0)])];
        curves.extend(self.classes.iter().map(curve));
        lines("Calibration", Axes { x: "predicted probability", y: "observed" }, Legend::Below, &curves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_and_bins_follow_their_formulas() {
        let classes = OutcomeClass::loss_draw_win();
        let p = [0.25, 0.25, 0.5, 0.04, 0.04, 0.92];
        let t = [0.0, 1.0, 0.0, 0.0, 0.5, 0.5];
        let found = report(String::new(), &classes, &p, &t);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} {b}");
        near(found.log_loss, -(0.25f64.ln() + 0.5 * 0.04f64.ln() + 0.5 * 0.92f64.ln()) / 2.0);
        near(found.log_loss_least, 2f64.ln() / 2.0);
        near(found.log_loss_constant, -(0.75 * 0.75f64.ln() + 0.25 * 0.25f64.ln()));
        let win = &found.classes[2];
        near(win.observed, 0.25);
        near(win.predicted, 0.71);
        near(win.rms, ((0.25 + 0.1764) / 2.0f64).sqrt());
        near(win.log_loss, (2f64.ln() - 0.5 * (0.92f64.ln() + 0.08f64.ln())) / 2.0);
        let bins: Vec<(f64, u64)> = win.calibration.iter().map(|bin| (bin.from, bin.rows)).collect();
        assert_eq!(bins, [(0.5, 1), (0.9, 1)]);
        near(win.calibration[1].observed, 0.5);
        assert!(found.svg().contains("draw"));
    }
}
