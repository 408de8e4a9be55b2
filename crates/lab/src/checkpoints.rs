//! Operations on a checkpoint at a path. The manifest names the game.

use crate::catalogue::{AnyGame, Catalogue};
use crate::measure::{Described, EvaluateOptions, Report};
use adept_arena::OpenError;
use adept_game::Recorded;
use adept_model::ModelError;
use adept_model::checkpoint::{self, Checkpoint};
use adept_trainer::config;
use adept_trainer::run::TrainError;
use std::path::Path;
use std::sync::Arc;

/// Reads a checkpoint, or the latest (or best) checkpoint of a run, and finds its game.
///
/// # Errors
/// If the checkpoint cannot be read, or its game is unknown.
pub fn opened(
    games: &dyn Catalogue,
    path: &Path,
    best: bool,
) -> Result<(Arc<dyn AnyGame>, Checkpoint), TrainError> {
    let path = checkpoint::locate(path, best)?;
    let checkpoint = checkpoint::read(&path)?;
    match games.find(&checkpoint.manifest.game) {
        Ok(game) => Ok((game, checkpoint)),
        Err(error) => {
            Err(OpenError::Mismatch { path, message: format!("its game is unknown: {error}") }.into())
        }
    }
}

/// Measures a checkpoint, or the latest (or best) checkpoint of a run.
///
/// # Errors
/// See [`TrainError`].
pub fn evaluate(
    games: &dyn Catalogue,
    path: &Path,
    best: bool,
    options: &EvaluateOptions,
) -> Result<Report, TrainError> {
    let (game, checkpoint) = opened(games, path, best)?;
    game.evaluate(checkpoint, options)
}

/// Describes a checkpoint, the latest (or best) checkpoint of a run, or a config file with fresh parameters.
///
/// # Errors
/// If the path is neither a checkpoint nor a config.
pub fn describe(games: &dyn Catalogue, path: &Path, best: bool) -> Result<Described, TrainError> {
    if path.extension().is_some_and(|e| e == "toml") {
        let config = config::load(path, &[], games)?;
        return games.find(&config.game.rules)?.describe_config(&config);
    }
    let (game, checkpoint) = opened(games, path, best)?;
    game.describe(checkpoint)
}

/// Compares an agent with recorded decisions of another program. Without a game, uses the one that has an agent of this
/// name.
///
/// # Errors
/// If no game has records of the agent, or the file cannot be read.
pub fn recorded(
    games: &dyn Catalogue,
    game: Option<&str>,
    agent: &str,
    file: &Path,
) -> Result<Recorded, TrainError> {
    std::fs::metadata(file).map_err(ModelError::io(file))?;
    let names = game.map_or_else(|| games.names(), |name| vec![name.into()]);
    for name in names {
        if let Some(found) = games.find(&name)?.recorded(agent, file) {
            return Ok(found?);
        }
    }
    let message = format!(
        "there is no agent `{agent}` that recorded decisions can be compared with: `adept list agents` shows the agents"
    );
    Err(OpenError::Unknown(message).into())
}
