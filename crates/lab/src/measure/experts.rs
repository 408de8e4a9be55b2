//! Use of experts in a mixture, compared with single networks of equal cost and of equal size.

use super::positions::test_positions;
use adept_arena::{GameModel, OpenError};
use adept_game::{Kit, stream};
use adept_model::checkpoint::{Manifest, Rival};
use adept_model::{ExpertUse, Rows};
use adept_trainer::config::Config;
use adept_trainer::positions::rows_of_own_games;
use serde::Serialize;

/// Positions on which the use of experts is measured.
const POSITIONS: usize = 2000;
/// Largest relative difference in cost or size of a rival.
const EQUAL: f64 = 0.1;

/// Use of experts in a mixture.
#[derive(Clone, Debug, Serialize)]
pub struct ExpertsReport {
    /// Shares, live experts and mean cost.
    #[serde(flatten)]
    pub used: ExpertUse,
    /// Source of the positions: a distribution, or `its own games`.
    pub positions: String,
    /// Learned parameters.
    pub parameters: usize,
    /// The single network with one hidden layer of equal cost.
    pub single: Single,
    /// The single network with one hidden layer and equal number of parameters.
    pub single_of_equal_parameters: Single,
}

/// A single network for comparison with a mixture.
#[derive(Clone, Debug, Serialize)]
pub struct Single {
    /// Hidden units.
    pub hidden: usize,
    /// Multiply-adds of an evaluation.
    pub cost: usize,
    /// Parameters.
    pub parameters: usize,
    /// Its result, if a network of about this size was trained for comparison (`publish --rival`).
    #[serde(flatten)]
    pub trained: Option<Trained>,
}

/// Results of a trained rival.
#[derive(Clone, Debug, Serialize)]
pub struct Trained {
    /// Mean final RMS error, or another figure, over its runs.
    pub rms: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Number of runs.
    pub seeds: usize,
    /// Name of its experiment.
    pub name: String,
}

/// Measures how the experts share the positions that the network learned from; none for a network without experts.
pub(super) fn experts<G: Kit>(
    game: &G,
    bound: &mut GameModel<G>,
    manifest: &Manifest,
    distribution: Option<&str>,
) -> Result<Option<ExpertsReport>, OpenError> {
    let Some(program) = bound.model.program().filter(|program| program.has_experts()).cloned() else {
        return Ok(None);
    };
    let config = Config::from_saved(manifest.config.clone()).ok();
    let own = config.as_ref().and_then(|config| config.learn.distribution());
    let usual = game.positions().names().first().map(|d| d.name.to_string());
    let name = distribution.or(own).map(String::from).or(usual);
    let (rows, positions) = match name {
        Some(name) => {
            let mut rows = Rows::new(bound.model.channels());
            for state in test_positions(game, &name, POSITIONS as u64)? {
                rows.push_from(&bound.encode(game, &state, None, game.just_acted(&state).unwrap_or(0)), 0);
            }
            (rows, name)
        }
        None => {
            let mut rng = stream(0, "shared games", 0);
            (rows_of_own_games(game, bound, POSITIONS, &mut rng), "its own games".into())
        }
    };
    let Some(used) = ExpertUse::of(&mut *bound.model, &rows) else { return Ok(None) };
    let parameters = bound.model.describe().parameters;
    let inputs = program.expert_inputs();
    let of = |hidden: f64| {
        let hidden = (hidden.round() as usize).max(1);
        (hidden, hidden * (inputs + 1), hidden * (inputs + 2) + 1)
    };
    let single = |(hidden, cost, parameters): (usize, usize, usize), near: &dyn Fn(&Rival) -> f64| {
        let gap = |rival: &&Rival| (near(rival) - 1.0).abs();
        let rival = manifest
            .rivals
            .iter()
            .filter(|r| r.experts == 1 && gap(r) <= EQUAL)
            .min_by(|a, b| gap(a).total_cmp(&gap(b)));
        let trained = |r: &Rival| Trained { rms: r.figure, sd: r.sd, seeds: r.seeds, name: r.name.clone() };
        Single { hidden, cost, parameters, trained: rival.map(trained) }
    };
    let cost = used.multiply_adds;
    Ok(Some(ExpertsReport {
        single: single(of(cost / (inputs + 1) as f64), &|r| r.multiply_adds / cost),
        single_of_equal_parameters: single(of((parameters as f64 - 1.0) / (inputs + 2) as f64), &|r| {
            r.parameters as f64 / parameters as f64
        }),
        used,
        positions,
        parameters,
    }))
}
