//! Opens encoders, checkpoints and agents by name and binds them to a game.

use super::build::build;
use super::resolve::{Meaning, resolve};
use crate::agents::{Agent, Deliberating};
use adept_game::Kit;

pub use super::checkpoints::{bind, encoder, open, open_with, prior_in, same_game, with_usual_tables};
pub use crate::agents::by_head;
pub use crate::encoders::parts::{
    Prior, files_of, map_paths, prior, same_encoder, with_prior, without_tables,
};
pub use crate::error::OpenError;

/// The agent named `text`. `settings` is an object with the settings to change, or null. Only deliberating agents have
/// settings.
///
/// # Errors
/// See [`OpenError`].
pub fn agent_with<G: Kit>(
    game: &G,
    text: &str,
    settings: &serde_json::Value,
) -> Result<Box<dyn Agent<G>>, OpenError> {
    let found = resolve(game, text, &[])?;
    if settings.is_null() {
        return build(game, &found, false);
    }
    let named = match found.meaning {
        Meaning::Deliberator => game.agents().deliberators.open(text),
        _ => None,
    };
    match named {
        Some(found) => Ok(Box::new(Deliberating::new(found?.with_settings(settings)?))),
        None => Err(OpenError::Unknown(format!(
            "`{text}` has no settings; only deliberating agents have settings"
        ))),
    }
}

/// The agent named `text`: one of [`AGENTS`](super::AGENTS), one of the game's own agents, or a checkpoint. What a name
/// stands for is said in [`naming`](super).
///
/// # Errors
/// See [`OpenError`].
pub fn agent<G: Kit>(game: &G, text: &str) -> Result<Box<dyn Agent<G>>, OpenError> {
    build(game, &resolve(game, text, &[])?, false)
}
