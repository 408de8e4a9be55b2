//! Checkpoints and agents by name, bound to a game.

use crate::agents::{Agent, AgentSpec, Boltzmann, EpsilonGreedy, Greedy, Random, Scripted};
use crate::evaluator::{Bound, Known, model_channels};
use crate::exact::ExactError;
use crate::solve::{BestResponse, Minimax};
use adept_game::registry::Registered;
use adept_game::{Encoder, stream};
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::{ModelError, Optimiser};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why an agent or evaluator cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The checkpoint cannot be read.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The checkpoint is of something else.
    #[error("{}: {message}", path.display())]
    Mismatch {
        /// The checkpoint.
        path: PathBuf,
        /// What was found and what was expected.
        message: String,
    },
    /// The game has no such agent or encoder, or it cannot be computed.
    #[error("{0}")]
    Unknown(String),
}

/// The encoder of that name; the first of the game without one.
///
/// # Errors
/// [`OpenError::Unknown`] with the names there are.
pub fn encoder<G: Registered>(name: Option<&str>) -> Result<Arc<dyn Encoder<G>>, OpenError> {
    let encoders = G::encoders();
    let names: Vec<&str> = encoders.iter().map(|(_, e)| e.name()).collect();
    let wanted = name.unwrap_or(names[0]);
    let unknown = format!("there is no encoder `{wanted}`; there is {}", names.join(", "));
    let found = encoders.into_iter().map(|(_, e)| e).find(|e| e.name() == wanted);
    found.map(Arc::from).ok_or(OpenError::Unknown(unknown))
}

/// Opens a checkpoint, or the latest (or best) one of a run folder, as an evaluator of this game.
///
/// # Errors
/// [`OpenError::Model`] if it is damaged, [`OpenError::Mismatch`] if it is of another game, encoder or shape.
pub fn open<G: Registered>(game: &G, path: &Path, best: bool) -> Result<(Bound<G>, Manifest), OpenError> {
    bind(game, checkpoint::read(&checkpoint::locate(path, best)?)?)
}

/// Binds a checkpoint that was read to its game.
///
/// # Errors
/// [`OpenError::Mismatch`] if it is of another game, encoder or shape.
pub fn bind<G: Registered>(game: &G, checkpoint: Checkpoint) -> Result<(Bound<G>, Manifest), OpenError> {
    let Checkpoint { path, manifest, tensors } = checkpoint;
    let fail = |message: String| Err(OpenError::Mismatch { path: path.clone(), message });
    if manifest.game != game.name() {
        return fail(format!("is a checkpoint of `{}`, expected `{}`", manifest.game, game.name()));
    }
    let encoder = match encoder::<G>(Some(&manifest.encoder)) {
        Ok(encoder) => encoder,
        Err(e) => return fail(e.to_string()),
    };
    if model_channels(encoder.channels()) != manifest.channels {
        return fail(format!(
            "its encoder `{}` has other channels than this program's: it was written by another version",
            manifest.encoder
        ));
    }
    // First parameters are overwritten by the checkpoint's: any stream will do.
    let mut rng = stream(0, "open", 0);
    let mut learner =
        adept_model::build(&manifest.architecture, &manifest.channels, Optimiser::default(), &mut rng)?;
    if let Err(e) = learner.restore(&tensors) {
        return fail(format!("does not fit its own architecture: {e}"));
    }
    Ok((Bound::new(game, encoder, learner), manifest))
}

/// The agent that the text names: see [`AGENTS`](crate::agents::AGENTS) and the scripts of the game.
///
/// # Errors
/// See [`OpenError`].
pub fn agent<G: Registered>(game: &G, text: &str) -> Result<Box<dyn Agent<G>>, OpenError> {
    let spec = AgentSpec::parse(text).map_err(OpenError::Unknown)?;
    build(game, &spec)
}

fn build<G: Registered>(game: &G, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, OpenError> {
    let exact = |e: ExactError| OpenError::Unknown(e.to_string());
    let bound = |path: &str| open(game, Path::new(path), false).map(|(bound, _)| bound);
    Ok(match spec {
        AgentSpec::Random => Box::new(Random),
        AgentSpec::Minimax if !game.zero_sum() => {
            return Err(OpenError::Unknown(format!("{} is no two-player zero-sum game", game.name())));
        }
        AgentSpec::Minimax => Box::new(Minimax::solve(game).map_err(|e| match e {
            ExactError::Chance => {
                OpenError::Unknown(format!("{} has chance, minimax is for games without", game.name()))
            }
            other => exact(other),
        })?),
        AgentSpec::Optimal(other) => Box::new(BestResponse::solve(game, build(game, other)?).map_err(exact)?),
        AgentSpec::Greedy(path) => Box::new(Greedy::new(bound(path)?)),
        AgentSpec::Epsilon(e, path) => Box::new(EpsilonGreedy::new(bound(path)?, *e)),
        AgentSpec::Boltzmann(t, path) => Box::new(Boltzmann::new(bound(path)?, *t)),
        AgentSpec::Named(name) => match Scripted::new(game, name) {
            Some(script) => Box::new(script),
            None if let Some(valuation) = game.valuation(name) => {
                let valuation = valuation.map_err(|e| OpenError::Unknown(e.to_string()))?;
                Box::new(Greedy::new(Known(valuation)))
            }
            None if Path::new(name).exists() => Box::new(Greedy::new(bound(name)?)),
            None => {
                let scripts = game.scripts().iter().chain(G::valuations()).map(|s| s.0);
                let exact = if game.start_is_listed() { &["minimax", "optimal:AGENT"][..] } else { &[] };
                let known: Vec<&str> = scripts.chain(["random"]).chain(exact.iter().copied()).collect();
                return Err(OpenError::Unknown(format!(
                    "`{name}` is no agent of {} and no checkpoint; there is {} and any checkpoint folder",
                    game.name(),
                    known.join(", ")
                )));
            }
        },
    })
}
