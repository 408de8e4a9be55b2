//! The learned rules of a rule table as text.

use adept_arena::open;
use adept_game::Kit;
use adept_model::checkpoint::Checkpoint;
use adept_model::{ModelError, TensorData};
use adept_trainer::run::TrainError;
use serde::Serialize;

/// A rule: its conditions and its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    /// Its key in the table.
    pub key: u64,
    /// Its numeric preference.
    pub value: f32,
    /// Its conditions as text.
    pub text: String,
}

/// The rules with the largest absolute values, from a checkpoint of this game.
///
/// # Errors
/// If its encoder cannot describe its keys.
pub(crate) fn rules_of<G: Kit>(
    game: &G,
    checkpoint: Checkpoint,
    count: usize,
) -> Result<Vec<Rule>, TrainError> {
    let (mut bound, manifest) = open::bind(game, checkpoint)?;
    let tensors = bound.model.tensors()?;
    let data = |name: &str| tensors.iter().find(|t| t.name == name).map(|t| &t.data);
    let (Some(TensorData::U64(keys)), Some(TensorData::F32(values))) = (data("keys"), data("values")) else {
        return Err(no_words(&manifest.encoder).into());
    };
    let rules = weightiest(keys, values);
    let encoder = bound.encoder();
    let rule = |&(key, value): &(u64, f32)| {
        let text = encoder.channels().iter().find_map(|c| encoder.key_text(game, &c.name, key));
        let text = text.ok_or_else(|| no_words(&manifest.encoder))?;
        Ok(Rule { key, value, text })
    };
    rules.iter().take(count).map(rule).collect()
}

/// Keys with their values, by descending absolute value.
fn weightiest(keys: &[u64], values: &[f32]) -> Vec<(u64, f32)> {
    let mut all: Vec<(u64, f32)> = keys.iter().copied().zip(values.iter().copied()).collect();
    all.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    all
}

fn no_words(encoder: &str) -> ModelError {
    ModelError::Unsupported(format!(
        "contains no readable rules: the encoder `{encoder}` cannot describe its keys"
    ))
}
