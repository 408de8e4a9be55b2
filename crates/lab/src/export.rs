//! What exported files hold: ONNX, safetensors in the layout of PyTorch, and source text in C and Rust.

use adept_arena::{GameModel, open};
use adept_game::Kit;
use adept_model::checkpoint::{Checkpoint, Manifest, is_of_training};
use adept_model::export::{self, About, onnx, to_torch};
use adept_model::{Architecture, ModelError, Program, Tensor};
use adept_trainer::run::TrainError;
use serde::Serialize;

/// Format of an exported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A graph for ONNX Runtime, tract and others.
    Onnx,
    /// Tensors, with weights in the layout of PyTorch's `Linear`.
    Safetensors,
    /// A header of C99 with the weights and the evaluation.
    C,
    /// A file of Rust with the weights and the evaluation.
    Rust,
}

/// The bytes of an exported file, and their description.
#[derive(Debug)]
pub struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) encoder: String,
    pub(crate) value: String,
}

/// Writes a checkpoint of this game in a format. Names in source text begin with `name`.
///
/// # Errors
/// If the checkpoint cannot be opened, a table is exported as a graph or as source text, or a network is too large for source text.
pub fn file_of<G: Kit>(
    game: &G,
    checkpoint: Checkpoint,
    format: Format,
    name: &str,
) -> Result<File, TrainError> {
    let (bound, _) = open::bind(game, checkpoint.clone())?;
    let about = about(game, &bound, &checkpoint.manifest);
    let bytes = match format {
        Format::Onnx => {
            let (program, params) = program(&checkpoint)?;
            onnx(&program, &params, &about)
        }
        Format::Safetensors => tensors(checkpoint)?,
        Format::C => {
            let (program, params) = program(&checkpoint)?;
            export::c(&program, &params, &about, name)?.into_bytes()
        }
        Format::Rust => {
            let (program, params) = program(&checkpoint)?;
            export::rust(&program, &params, &about, name)?.into_bytes()
        }
    };
    Ok(File { bytes, encoder: bound.encoder().name().to_string(), value: about.value })
}

fn about<G: Kit>(game: &G, bound: &GameModel<G>, manifest: &Manifest) -> About {
    let channels = bound.encoder().channels().iter().map(|c| (c.name.to_string(), c.about.to_string()));
    let entries = [
        ("game", game.name()),
        ("encoder", bound.encoder().name()),
        ("experiment", manifest.experiment("name")),
        ("seed", &manifest.seed.to_string()),
        ("step", &manifest.step.to_string()),
        ("revision", &manifest.revision),
        ("checksum", &manifest.checksum),
        ("architecture", &serde_json::to_string(&manifest.architecture).unwrap_or_default()),
    ];
    About {
        name: manifest.experiment("name").into(),
        text: manifest.experiment("about").into(),
        channels: channels.collect(),
        value: meaning(game, manifest),
        metadata: entries.map(|(key, text)| (key.to_string(), text.to_string())).into(),
    }
}

/// Whose value the output is, in which unit and range. Where a game hides something, candidates are valued before they are
/// made.
fn meaning<G: Kit>(game: &G, manifest: &Manifest) -> String {
    if manifest.head.is_policy() {
        return "logit of an action, not bounded: the softmax over the actions of a decision is the policy"
            .into();
    }
    let what = match game.hides() {
        true => "value of an action for the player who takes it",
        false => "value of the position for the player who just moved",
    };
    let unit = match manifest.config["learn"]["td"]["rewards"].as_str() {
        Some("steps") => "utility and rewards on the way",
        _ => "utility",
    };
    let range = match manifest.range() {
        Some([low, high]) => format!("the network ends between {low} and {high}"),
        None => "the network does not bound it".into(),
    };
    format!("{what}: {unit}, divided by {}, the largest possible utility; {range}", game.scale())
}

/// The program of a network, and its parameters.
fn program(checkpoint: &Checkpoint) -> Result<(Program, Vec<f32>), TrainError> {
    let Checkpoint { manifest, tensors, .. } = checkpoint;
    if manifest.kind != "network" {
        let what = match &manifest.architecture {
            Architecture::Blind(_) => "sets of bits that a blind learner found",
            _ => "a table of positions",
        };
        let message = format!("{what}: this is not a network and has no graph, export it as safetensors");
        return Err(ModelError::Unsupported(message).into());
    }
    let program = adept_model::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
    let params = program.parameters_in(tensors)?;
    Ok((program, params))
}

fn tensors(checkpoint: Checkpoint) -> Result<Vec<u8>, TrainError> {
    let Checkpoint { manifest, tensors, .. } = checkpoint;
    let manifest = Manifest { training: None, checksums: Default::default(), ..manifest };
    let text = serde_json::to_string(&manifest).map_err(ModelError::from)?;
    let model: Vec<Tensor> = tensors.into_iter().filter(|t| !is_of_training(&t.name)).collect();
    Ok(to_torch(&model, text)?)
}
