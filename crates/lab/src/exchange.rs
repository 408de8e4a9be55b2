//! Export and import of checkpoints: ONNX, safetensors in PyTorch's layout, C and Rust source code, and quantised
//! checkpoints.

use crate::catalogue::Catalogue;
use crate::checkpoints::opened;
use crate::export::{File, Format};
use crate::pack;
use adept_arena::OpenError;
use adept_ground::files::Files;
use adept_model::checkpoint::{self, Checkpoint, Manifest, Origin};
use adept_model::export::{from_torch, torch_shape};
use adept_model::{ModelError, NumberFormat, Program, Quantisation, Tensor};
use adept_trainer::config;
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// An exported checkpoint.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// The file, or the folder of a quantised checkpoint.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Its size in bytes; for a quantised checkpoint, that of its tensors.
    pub bytes: u64,
    /// Name of the encoder that fills the inputs.
    pub encoder: String,
    /// Meaning of the output `value`.
    pub value: String,
    /// Description of impossible outcomes, which users of the file must set to 0 themselves; empty if there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub impossible: String,
    /// Quantisation errors of a quantised checkpoint.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantised: Option<Quantisation>,
}

/// Exports a checkpoint, or the latest (or best) checkpoint of a run, to a file for other programs, or to a folder as a
/// quantised checkpoint.
///
/// # Errors
/// If the checkpoint cannot be opened, a table is exported as a graph or source code, a network is too large for source
/// code, or the file cannot be written. An existing file then stays unchanged.
pub fn export(
    games: &dyn Catalogue,
    path: &Path,
    best: bool,
    format: Format,
    out: &Path,
) -> Result<Exported, TrainError> {
    if out.parent().is_some_and(|folder| folder.join("manifest.json").exists()) {
        let message = "would be inside a checkpoint, whose files must not change: choose a file elsewhere";
        return Err(TrainError::Folder { path: out.into(), message: message.into() });
    }
    let (game, checkpoint) = opened(games, path, best)?;
    let numbers = match format {
        Format::Quantised => Some(NumberFormat::Int8),
        Format::Bf16 => Some(NumberFormat::Bf16),
        _ => None,
    };
    if let Some(numbers) = numbers {
        check_free(out)?;
        let whole = game.quantised(checkpoint, numbers)?;
        let (manifest, value) = (whole.manifest.clone(), game.meaning(&whole.manifest));
        let bytes = whole.tensors.iter().map(Tensor::bytes).sum();
        pack::write(&Files::default(), out, whole)?;
        let (encoder, quantised) = (manifest.encoder, manifest.quantised);
        let impossible = String::new();
        return Ok(Exported { path: out.into(), format, bytes, encoder, value, impossible, quantised });
    }
    let name = out.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let File { bytes, encoder, value, impossible } = game.export(checkpoint, format, &name)?;
    Files::default().replace(out, &bytes)?;
    let (path, length) = (out.into(), bytes.len() as u64);
    Ok(Exported { path, format, bytes: length, encoder, value, impossible, quantised: None })
}

/// An imported checkpoint.
#[derive(Debug, Serialize)]
pub struct Imported {
    /// The checkpoint.
    pub path: PathBuf,
    /// Its game.
    pub game: String,
    /// Its encoder.
    pub encoder: String,
    /// Number of parameters.
    pub parameters: usize,
}

/// Creates a checkpoint from a safetensors file with weights in PyTorch's layout. A checkpoint or config in `like`
/// describes the network. Without `like`, the file must describe it, as exported files do until another program
/// rewrites them. The prefix `strip` is removed from tensor names, such as the `module.` that PyTorch adds when it
/// wraps a model.
///
/// # Errors
/// If the file does not describe its network, the tensors do not fit, or the output folder already exists.
pub fn import(
    games: &dyn Catalogue,
    file: &Path,
    like: Option<&Path>,
    strip: Option<&str>,
    out: &Path,
) -> Result<Imported, TrainError> {
    check_free(out)?;
    let fault = |message: String| ModelError::Checkpoint { path: file.into(), message };
    let bytes = checkpoint::read_weights(file)?;
    let (mut tensors, said) = from_torch(&bytes).map_err(|e| fault(e.to_string()))?;
    if let Some(prefix) = strip.filter(|prefix| !prefix.is_empty()) {
        let mut stripped = 0;
        for tensor in &mut tensors {
            if let Some(rest) = tensor.name.strip_prefix(prefix) {
                (tensor.name, stripped) = (rest.into(), stripped + 1);
            }
        }
        if stripped == 0 {
            return Err(
                fault(format!("no name of a tensor begins with `{prefix}`: {}", listed(&tensors))).into()
            );
        }
    }
    // Files that the network names are relative to the checkpoint that describes it.
    let mut by = file.to_path_buf();
    let mut manifest = match (like, said) {
        (Some(path), _) if path.extension().is_some_and(|e| e == "toml") => fresh(games, path)?,
        (Some(path), _) => {
            by = checkpoint::locate(path, false)?;
            checkpoint::read(&by)?.manifest
        }
        (None, Some(said)) => checkpoint::manifest_in(&said, file)?,
        (None, None) => {
            let message = "does not describe its network, because PyTorch omits this: give a checkpoint or a config \
                           of the same network";
            return Err(fault(message.into()).into());
        }
    };
    // The origins: those of the checkpoint that describes the network, then the file.
    if let Some(path) = like.filter(|_| !manifest.checksum.is_empty()) {
        manifest.init.push(Origin {
            path: path.into(),
            checksum: manifest.checksum.clone(),
            part: None,
            grown: None,
        });
    }
    manifest.init.push(Origin {
        path: file.into(),
        checksum: checkpoint::hex(&bytes),
        part: None,
        grown: None,
    });
    untrained(&mut manifest);
    if manifest.kind == "network" && !manifest.architecture.grows() {
        check_names(&manifest, &tensors, file)?;
    }
    written(games, Checkpoint { path: by, manifest, tensors }, file, out)
}

/// Largest number of names in a message.
const LISTED: usize = 6;

fn listed(tensors: &[Tensor]) -> String {
    let names: Vec<&str> = tensors.iter().take(LISTED).map(|tensor| &*tensor.name).collect();
    let more = if tensors.len() > LISTED { ", …" } else { "" };
    format!("it has {}{more}", names.join(", "))
}

/// Checks the shapes of a network's tensors. Errors show the shapes as in the file.
fn check_shapes(program: &Program, tensors: &[Tensor], file: &Path) -> Result<(), TrainError> {
    for param in &program.params {
        let found = tensors.iter().find(|tensor| tensor.name == param.name);
        let Some(found) = found.filter(|found| found.shape != param.shape) else { continue };
        let [found, wanted] = [&found.shape, &param.shape].map(|shape| torch_shape(&param.name, shape));
        let order = if wanted.len() == 2 { ", outputs first as in PyTorch" } else { "" };
        let message = format!(
            "the tensor `{}` has shape {found:?}, and the network needs {wanted:?}{order}: give a checkpoint or a config of the network \
             that was saved",
            param.name
        );
        return Err(TrainError::Tensors { path: file.into(), message, prefix: None });
    }
    Ok(())
}

/// Checks that a file has all tensors of a network. If not, looks for a common prefix of their names.
fn check_names(manifest: &Manifest, tensors: &[Tensor], file: &Path) -> Result<(), TrainError> {
    let program = adept_model::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
    let has = |name: &str| tensors.iter().any(|tensor| tensor.name == name);
    let Some(missing) = program.params.iter().find(|param| !has(&param.name)) else {
        return check_shapes(&program, tensors, file);
    };
    let before = |tensor: &Tensor| Some(tensor.name.strip_suffix(&*missing.name)?.to_string());
    let fits = |prefix: &String| program.params.iter().all(|param| has(&format!("{prefix}{}", param.name)));
    let prefix = tensors.iter().filter_map(before).find(fits);
    let what = match &prefix {
        Some(prefix) => {
            format!("all names begin with `{prefix}`, which wrapped models of PyTorch have: strip it")
        }
        None => listed(tensors),
    };
    let message = format!("the tensor `{}` is missing; {what}", missing.name);
    Err(TrainError::Tensors { path: file.into(), message, prefix })
}

/// Creates a checkpoint with externally trained weights, as one vector in the order of the network's program. The
/// manifest describes the network; `from` is the checkpoint or config that it comes from.
///
/// # Errors
/// If it is not a network, the weights do not fit, or the output folder already exists.
pub fn with_weights(
    games: &dyn Catalogue,
    mut manifest: Manifest,
    from: &Path,
    flat: &[f32],
    out: &Path,
) -> Result<Imported, TrainError> {
    check_free(out)?;
    if manifest.kind != "network" {
        let message = match manifest.quantised {
            Some(_) => {
                "a quantised network has no vector of weights: use the checkpoint that it was made from"
            }
            None => "a table of positions has no vector of weights",
        };
        return Err(ModelError::Unsupported(message.into()).into());
    }
    if let Some(at) = flat.iter().position(|weight| !weight.is_finite()) {
        return Err(ModelError::Unsupported(format!("weight {at} is {}", flat[at])).into());
    }
    let program = adept_model::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
    let tensors = program.tensors_of(flat)?;
    if !manifest.checksum.is_empty() {
        manifest.init.push(Origin {
            path: from.into(),
            checksum: manifest.checksum.clone(),
            part: None,
            grown: None,
        });
    }
    untrained(&mut manifest);
    written(games, Checkpoint { path: from.into(), manifest, tensors }, from, out)
}

fn check_free(out: &Path) -> Result<(), TrainError> {
    if out.exists() {
        let message = "already exists: remove it, or choose another folder".into();
        return Err(TrainError::Folder { path: out.into(), message });
    }
    Ok(())
}

/// Removes measurements of the previous weights.
fn untrained(manifest: &mut Manifest) {
    if manifest.quantised.take().is_some() {
        manifest.kind = "network".into();
    }
    manifest.step = 0;
    manifest.metrics = serde_json::Value::Null;
    manifest.training = None;
    manifest.revision = adept_trainer::REVISION.into();
}

/// Writes a checkpoint whose tensors come from `from`, with the files that it names packed into its folder.
fn written(
    games: &dyn Catalogue,
    checkpoint: Checkpoint,
    from: &Path,
    out: &Path,
) -> Result<Imported, TrainError> {
    // Open it before writing, so that a mismatch leaves no files behind.
    let described = games.find(&checkpoint.manifest.game)?.describe(checkpoint.clone());
    let described = described.map_err(|error| match error {
        // The error should name the file of the tensors, not the checkpoint that describes the network.
        TrainError::Open(OpenError::Mismatch { message, .. }) => {
            TrainError::Open(OpenError::Mismatch { path: from.into(), message })
        }
        other => other,
    })?;
    pack::write(&Files::default(), out, checkpoint)?;
    let manifest = checkpoint::manifest(out)?;
    Ok(Imported {
        path: out.into(),
        game: manifest.game,
        encoder: manifest.encoder,
        parameters: described.size.parameters,
    })
}

/// The manifest of an untrained config.
fn fresh(games: &dyn Catalogue, path: &Path) -> Result<Manifest, TrainError> {
    let config = config::load(path, &[], games)?;
    games.find(&config.game.rules)?.manifest(&config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_model::{Channel, ChannelKind, Head};

    /// PyTorch stores the weight of a layer with its outputs first; errors show this order.
    #[test]
    fn shapes_are_named_as_the_file_has_them() {
        let architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [5] } }"#).unwrap();
        let channels = [Channel::new("x", ChannelKind::Dense(3))];
        let program = adept_model::lower(&architecture, &channels, &Head::Value).unwrap();
        let file = Path::new("net.safetensors");
        let tensors =
            program.tensors_of(&vec![0.0; program.params.iter().map(|param| param.len()).sum()]).unwrap();
        assert!(check_shapes(&program, &tensors, file).is_ok());
        // The user's layer has 5 outputs and 4 inputs: `[5, 4]` in PyTorch.
        let name = tensors.iter().find(|tensor| tensor.shape == [3, 5]).unwrap().name.clone();
        let turned = |tensor: &Tensor| match tensor.name == name {
            true => Tensor::f32(name.clone(), vec![4, 5], vec![0.0; 20]),
            false => tensor.clone(),
        };
        let wrong: Vec<Tensor> = tensors.iter().map(turned).collect();
        let error = check_shapes(&program, &wrong, file).unwrap_err().to_string();
        assert!(
            error.contains(&format!("`{name}` has shape [5, 4], and the network needs [5, 3]")),
            "{error}"
        );
    }
}
