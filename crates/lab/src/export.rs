//! File formats of exports: ONNX, safetensors in PyTorch's layout, C and Rust source code, and quantised checkpoints.

use adept_arena::{GameModel, open};
use adept_erased::erased;
use adept_game::{Kit, stream};
use adept_model::checkpoint::{Checkpoint, Manifest, Quantisation, is_of_training};
use adept_model::export::{self, About, onnx, to_torch};
use adept_model::{Form, ModelError, NumberFormat, Predictor, Program, QuantisedNetwork, Rows, Tensor};
use adept_trainer::positions::rows_of_own_games;
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::sync::Arc;

/// Format of an exported file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A graph for ONNX Runtime, tract and others.
    Onnx,
    /// Tensors, with weights in the layout of PyTorch's `Linear`.
    Safetensors,
    /// A C99 header with the weights and the evaluation.
    C,
    /// A Rust file with the weights and the evaluation.
    Rust,
    /// A checkpoint quantised to 16-bit and 8-bit integers, for play.
    Quantised,
    /// A checkpoint whose large layers are in bfloat16, for play.
    Bf16,
}

/// Largest number of positions for calibrating the scales of a single network or of an expert, and of positions of other games for
/// measuring the errors.
const QUANTISED: usize = 4096;

/// Largest number of positions for calibrating all experts.
const QUANTISED_EXPERTS: usize = 16 * QUANTISED;

/// Content of an exported file, with its description.
#[derive(Debug)]
pub struct File {
    pub(crate) bytes: Vec<u8>,
    pub(crate) encoder: String,
    pub(crate) value: String,
    pub(crate) impossible: String,
}

/// Exports of checkpoints of a game.
#[erased(pub trait ExportOps)]
impl<G: Kit> ExportOps for G {
    /// Quantises a checkpoint and measures its errors on positions of its own games, other than those that calibrated the
    /// scales.
    ///
    /// # Errors
    /// If the checkpoint cannot be opened, or if the format does not fit: integers need single networks with a hidden
    /// layer, bfloat16 a network with a large layer.
    fn quantised(&self, checkpoint: Checkpoint, format: NumberFormat) -> Result<Checkpoint, TrainError> {
        let (mut bound, _) = open::bind(self, checkpoint.clone())?;
        let whole = program(&checkpoint)?;
        let mut rows = |what, most| rows_of_own_games(self, &mut bound, most, &mut stream(1, what, 0));
        let others = rows("quantised", QUANTISED);
        let experts = whole.0.switched_experts();
        let rows = match format {
            NumberFormat::Int8 => rows("quantise", (experts * QUANTISED).min(QUANTISED_EXPERTS)),
            NumberFormat::Bf16 => others.empty(),
        };
        converted(checkpoint, whole, format, &mut *bound.model, &rows, &others)
    }

    /// Exports a checkpoint of this game in a format. Names in source code begin with `name`.
    ///
    /// # Errors
    /// If the checkpoint cannot be opened, a table is exported as a graph or source code, or a network is too large for
    /// source code. A quantised checkpoint is a folder, see [`quantised`](Self::quantised).
    fn export(&self, checkpoint: Checkpoint, format: Format, name: &str) -> Result<File, TrainError> {
        let (bound, _) = open::bind(self, checkpoint.clone())?;
        let about = about(self, &bound, &checkpoint.manifest);
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
            Format::Quantised | Format::Bf16 => {
                return Err(
                    ModelError::Unsupported("a quantised checkpoint is a folder, not a file".into()).into()
                );
            }
        };
        let About { value, impossible, .. } = about;
        Ok(File { bytes, encoder: bound.encoder().name().to_string(), value, impossible })
    }

    /// Describes the output: whose value it is, in which unit and range. In games with hidden information, candidate moves
    /// are valued before they are made.
    fn meaning(&self, manifest: &Manifest) -> String {
        if manifest.head.is_policy() {
            return "logit of an action, not bounded: the softmax over the actions of a decision is the policy"
                .into();
        }
        let derives = open::encoder(self, Some(&manifest.encoder)).is_ok_and(|encoder| encoder.derives());
        let what = match self.hides() {
            _ if derives => {
                return format!(
                    "no value of a position: values follow from outputs for one or two rows, as the encoder `{}` says in the documentation",
                    manifest.encoder
                );
            }
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
        format!("{what}: {unit}, divided by {}, the largest possible utility; {range}", self.scale())
    }
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
        value: game.meaning(manifest),
        impossible: match (game.results().impossible, manifest.head.classes()) {
            (Some(rule), Some(_)) => format!(
                "This network alone gives impossible outcomes a probability. {rule} Set the probabilities of impossible outcomes to 0, \
                 divide the others by their sum, and compute the value from them."
            ),
            _ => String::new(),
        },
        metadata: entries.map(|(key, text)| (key.to_string(), text.to_string())).into(),
    }
}

/// A quantised checkpoint with scales from `rows`, and with its errors against the model on `others`.
fn converted(
    checkpoint: Checkpoint,
    (program, params): (Program, Vec<f32>),
    format: NumberFormat,
    model: &mut dyn Predictor,
    rows: &Rows,
    others: &Rows,
) -> Result<Checkpoint, TrainError> {
    let Checkpoint { path, mut manifest, .. } = checkpoint;
    if others.is_empty() || (format == NumberFormat::Int8 && rows.is_empty()) {
        let message = "its games have no positions that the network values, on which the new checkpoint could be compared";
        return Err(ModelError::Checkpoint { path, message: message.into() }.into());
    }
    let network = QuantisedNetwork::convert(format, Arc::new(program), &params, rows);
    let mut network =
        network.map_err(|e| ModelError::Checkpoint { path: path.clone(), message: e.to_string() })?;
    let (mut found, mut wanted) = (Vec::new(), Vec::new());
    network.evaluate(others, &mut found);
    model.evaluate(others, &mut wanted);
    let errors = found.iter().zip(&wanted).map(|(a, b)| f64::from((a - b).abs()));
    let squares: f64 = errors.clone().map(|e| e * e).sum();
    manifest.kind = "quantised".into();
    manifest.training = None;
    manifest.quantised = Some(Quantisation {
        scheme: format.scheme().into(),
        of: manifest.checksum.clone(),
        rows: rows.len(),
        rms: (squares / found.len() as f64).sqrt(),
        max: errors.fold(0.0, f64::max),
    });
    Ok(Checkpoint { path, manifest, tensors: network.tensors()? })
}

/// The program of a network, and its parameters.
fn program(checkpoint: &Checkpoint) -> Result<(Program, Vec<f32>), TrainError> {
    let Checkpoint { manifest, tensors, .. } = checkpoint;
    not_quantised(checkpoint)?;
    if manifest.kind != "network" {
        let what = match manifest.architecture.form() {
            Form::Blind(_) => "sets of bits that a blind learner found",
            Form::Table(_) | Form::Network => "a table of positions",
        };
        let message = format!("{what}: this is not a network and has no graph, export it as safetensors");
        return Err(ModelError::Unsupported(message).into());
    }
    let program = adept_model::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
    let params = program.parameters_in(tensors)?;
    Ok((program, params))
}

/// Refuses to export a quantised network: its original is more exact.
fn not_quantised(checkpoint: &Checkpoint) -> Result<(), TrainError> {
    let Some(quantised) = &checkpoint.manifest.quantised else { return Ok(()) };
    let message = format!(
        "is quantised: export the checkpoint that it was made from, with the checksum {}",
        adept_arena::open::Prior::pin(&quantised.of)
    );
    Err(ModelError::Checkpoint { path: checkpoint.path.clone(), message }.into())
}

fn tensors(checkpoint: Checkpoint) -> Result<Vec<u8>, TrainError> {
    not_quantised(&checkpoint)?;
    let Checkpoint { manifest, tensors, .. } = checkpoint;
    let manifest = Manifest { training: None, checksums: Default::default(), ..manifest };
    let text = serde_json::to_string(&manifest).map_err(ModelError::from)?;
    let model: Vec<Tensor> = tensors.into_iter().filter(|t| !is_of_training(&t.name)).collect();
    Ok(to_torch(&model, text)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::backgammon::Backgammon;
    use std::path::Path;

    /// The file of a network with classes lists impossible ones and how to handle them.
    #[test]
    fn files_say_which_outcomes_are_impossible() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24");
        let checkpoint = || adept_model::checkpoint::read(&path).unwrap();
        let game = Backgammon::default();
        for format in [Format::Onnx, Format::C, Format::Rust] {
            let file = game.export(checkpoint(), format, "net").unwrap();
            let text = String::from_utf8_lossy(&file.bytes).replace("\n * ", " ").replace("\n// ", " ");
            assert!(text.contains(&file.impossible), "{format:?}");
            assert!(file.impossible.contains("borne off a checker loses no gammon"), "{}", file.impossible);
            assert!(file.impossible.contains("divide the others by their sum"), "{}", file.impossible);
        }
    }
}
