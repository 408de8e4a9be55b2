//! Exports and imports checkpoints: ONNX, safetensors in the layout of PyTorch, and source text in C and Rust.

use crate::catalogue::Catalogue;
use crate::measure::opened;
use crate::pack;
use adept_arena::{GameModel, OpenError, open};
use adept_game::Kit;
use adept_ground::files::Files;
use adept_model::checkpoint::{self, Checkpoint, Manifest, Origin, is_of_training};
use adept_model::export::{self, About, from_torch, onnx, to_torch};
use adept_model::{Architecture, ModelError, Program, Tensor};
use adept_trainer::config::{self, Config};
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::path::{Path, PathBuf};

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

/// An exported checkpoint.
#[derive(Debug, Serialize)]
pub struct Exported {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Its size in bytes.
    pub bytes: u64,
    /// Encoder that fills the inputs.
    pub encoder: String,
    /// Meaning of the output `value`.
    pub value: String,
}

/// The bytes of an exported file, and their description.
#[derive(Debug)]
pub struct File {
    bytes: Vec<u8>,
    encoder: String,
    value: String,
}

/// Exports a checkpoint, or the latest (or best) checkpoint of a run, to a file for other programs.
///
/// # Errors
/// If the checkpoint cannot be opened, a table is exported as a graph or as source text, a network is too large for source
/// text, or the file cannot be written. An existing file then stays unchanged.
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
    let name = out.file_stem().map(|stem| stem.to_string_lossy()).unwrap_or_default();
    let File { bytes, encoder, value } = game.export(checkpoint, format, &name)?;
    Files::default().replace(out, &bytes)?;
    Ok(Exported { path: out.into(), format, bytes: bytes.len() as u64, encoder, value })
}

/// What [`export()`] writes for a checkpoint of this game. Names in source text begin with `name`.
///
/// # Errors
/// As [`export()`].
pub fn export_of<G: Kit>(
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
    let text = serde_json::to_string(&manifest).map_err(|e| ModelError::Unsupported(e.to_string()))?;
    let model: Vec<Tensor> = tensors.into_iter().filter(|t| !is_of_training(&t.name)).collect();
    Ok(to_torch(&model, text)?)
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
    /// Parameters.
    pub parameters: usize,
}

/// Creates a checkpoint from a safetensors file with weights in the layout of PyTorch. A checkpoint or config
/// in `like` describes the network. Without `like`, the file must describe it, as files exported here do until
/// another program rewrites them. `strip` is left out at the start of names, such as `module.`, which PyTorch puts there when it
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
    // What the network names is beside the checkpoint that describes it.
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
        manifest.init.push(Origin { path: path.into(), checksum: manifest.checksum.clone(), part: None });
    }
    manifest.init.push(Origin { path: file.into(), checksum: checkpoint::hex(&bytes), part: None });
    untrained(&mut manifest);
    if manifest.kind == "network" && !manifest.architecture.grows() {
        check_names(&manifest, &tensors, file)?;
    }
    written(games, Checkpoint { path: by, manifest, tensors }, file, out)
}

/// Names that a message lists.
const LISTED: usize = 6;

fn listed(tensors: &[Tensor]) -> String {
    let names: Vec<&str> = tensors.iter().take(LISTED).map(|tensor| &*tensor.name).collect();
    let more = if tensors.len() > LISTED { ", …" } else { "" };
    format!("it has {}{more}", names.join(", "))
}

/// Checks that a file has all tensors of a network, and looks for what stands before their names if not.
fn check_names(manifest: &Manifest, tensors: &[Tensor], file: &Path) -> Result<(), TrainError> {
    let program = adept_model::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
    let has = |name: &str| tensors.iter().any(|tensor| tensor.name == name);
    let Some(missing) = program.params.iter().find(|param| !has(&param.name)) else { return Ok(()) };
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

/// Creates a checkpoint with the weights of a network that learned elsewhere, as one vector in the order of its program. The
/// manifest describes the network; `from` is the checkpoint or the config that it comes from.
///
/// # Errors
/// If it is not a network, the weights do not fit, or the output folder already exists.
pub fn with_weights(
    games: &dyn Catalogue,
    (mut manifest, from): (Manifest, &Path),
    flat: &[f32],
    out: &Path,
) -> Result<Imported, TrainError> {
    check_free(out)?;
    if manifest.kind != "network" {
        return Err(ModelError::Unsupported("a table of positions has no vector of weights".into()).into());
    }
    if let Some(at) = flat.iter().position(|weight| !weight.is_finite()) {
        return Err(ModelError::Unsupported(format!("weight {at} is {}", flat[at])).into());
    }
    let program = adept_model::lower(&manifest.architecture, &manifest.channels, &manifest.head)?;
    let tensors = program.tensors_of(flat)?;
    if !manifest.checksum.is_empty() {
        manifest.init.push(Origin { path: from.into(), checksum: manifest.checksum.clone(), part: None });
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

/// Removes what is known of other weights.
fn untrained(manifest: &mut Manifest) {
    manifest.step = 0;
    manifest.metrics = serde_json::Value::Null;
    manifest.training = None;
    manifest.revision = adept_trainer::REVISION.into();
}

/// Writes a checkpoint whose tensors come from `from`, with what it names packed into its folder.
fn written(
    games: &dyn Catalogue,
    checkpoint: Checkpoint,
    from: &Path,
    out: &Path,
) -> Result<Imported, TrainError> {
    // Open it before writing, so that a misfit leaves no files behind.
    let parameters = games.find(&checkpoint.manifest.game)?.parameters(checkpoint.clone());
    let parameters = parameters.map_err(|error| match error {
        // The tensors are those of the file, not of the checkpoint that describes the network.
        TrainError::Open(OpenError::Mismatch { message, .. }) => {
            TrainError::Open(OpenError::Mismatch { path: from.into(), message })
        }
        other => other,
    })?;
    pack::write(&Files::default(), out, checkpoint)?;
    let manifest = checkpoint::manifest(out)?;
    Ok(Imported { path: out.into(), game: manifest.game, encoder: manifest.encoder, parameters })
}

/// The manifest of an untrained config.
fn fresh(games: &dyn Catalogue, path: &Path) -> Result<Manifest, TrainError> {
    let config = config::load(path, &[], games)?;
    games.find(&config.game.rules)?.manifest(&config)
}

/// The manifest of an untrained config of this game.
///
/// # Errors
/// If the game has no such encoder.
pub fn manifest_of<G: Kit>(game: &G, config: &Config) -> Result<Manifest, TrainError> {
    let encoder = open::encoder(game, config.game.encoder.as_deref())?;
    let whole = serde_json::to_value(config).map_err(|e| OpenError::Unknown(e.to_string()))?;
    let channels = encoder.channels().to_vec();
    let mut manifest = Manifest::new(game.name(), encoder.name(), channels, &config.architecture);
    manifest.head = config.head_of(game.outcome_classes()).map_err(OpenError::from)?;
    Ok(manifest.of(whole, config.seed, adept_trainer::REVISION))
}
