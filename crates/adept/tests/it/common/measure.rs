//! Measures checkpoints of the built-in games.

pub(crate) use adept_lab::measure::{EvaluateOptions, Report, Suite};

use adept::Builtin;
use adept_arena::inspect::PositionValue;
use adept_lab::checkpoints;
use adept_trainer::run::TrainError;
use std::path::Path;

pub(crate) fn evaluate(path: &Path, best: bool, options: &EvaluateOptions) -> Result<Report, TrainError> {
    checkpoints::evaluate(&Builtin, path, best, options)
}

pub(crate) fn value(
    path: &Path,
    best: bool,
    texts: &[String],
    file: Option<&Path>,
) -> Result<Vec<PositionValue>, TrainError> {
    let (game, checkpoint) = checkpoints::opened(&Builtin, path, best)?;
    game.value(checkpoint, texts, file, false)
}
