//! Agents that learn before they play. They play frozen, in their state after each block of learning.

use super::config::{Entrant, Tournament, experiment};
use crate::catalogue::Catalogue;
use crate::pairing::Player;
use adept_arena::OpenError;
use adept_trainer::config::Games;
use adept_trainer::run::{Cancel, Remedy, Silent, TrainError, TrainOptions};
use std::path::Path;

/// All players before any learning, with one entry for each block of a learner.
pub(super) fn players(
    tournament: &Tournament,
    out: &Path,
    games: &dyn Games,
) -> Result<Vec<Player>, TrainError> {
    let mut players = Vec::new();
    for (number, entrant) in tournament.agents.iter().enumerate() {
        let Some(path) = &entrant.learns else {
            players.push(Player {
                name: entrant.name.clone(),
                agent: entrant.agent().into(),
                changes: entrant.changes(),
                entrant: number,
            });
            continue;
        };
        let config = experiment(path, games).map_err(OpenError::Unknown)?;
        let (length, blocks) = (config.learn.length(), entrant.blocks.unwrap_or(1));
        for block in 1..=blocks {
            let step = length / blocks * block;
            let checkpoint =
                out.join("runs").join(&entrant.name).join("checkpoints").join(format!("{step:012}"));
            let checkpoint = checkpoint.display();
            let agent = match config.learn.plays_at(step as f64 / length as f64) {
                Some(temperature) => format!("boltzmann:{temperature}:{checkpoint}"),
                None => checkpoint.to_string(),
            };
            let name = if blocks == 1 { entrant.name.clone() } else { format!("{}@{step}", entrant.name) };
            players.push(Player { name, agent, changes: serde_json::Value::Null, entrant: number });
        }
    }
    Ok(players)
}

/// Trains a learner through all its blocks, or resumes. Returns false if it was stopped before the end.
pub(super) fn learn(
    games: &dyn Catalogue,
    entrant: &Entrant,
    seed: u64,
    out: &Path,
    cancel: &Cancel,
) -> Result<bool, TrainError> {
    let Some(path) = &entrant.learns else { return Ok(true) };
    let mut config = experiment(path, games).map_err(OpenError::Unknown)?;
    config.checkpoints.milestones = Some(config.learn.length() / entrant.blocks.unwrap_or(1));
    let folder = out.join("runs").join(&entrant.name);
    let options = TrainOptions { out: Some(folder), resume: true, ..TrainOptions::default() };
    let game = games.find(&config.game.rules)?;
    let trained = game.train(&config, seed, &options, &Silent, cancel);
    Ok(trained.map_err(|error| error.with_remedies(&[Remedy::Resume]))?.1.finished)
}
