//! Checkpoints: a model on disk, self-describing and checked.
//!
//! A checkpoint is a folder with `manifest.json`, `weights.safetensors` and, where training can go on from
//! it, `training.safetensors`. It is written under a temporary name, synced and renamed, and never changed
//! afterwards. Opening verifies every byte, then brings an older format up to this one.

mod migrate;

use crate::architecture::Architecture;
use crate::error::ModelError;
use crate::files::{Files, parent, temporary};
use crate::learner::{Tensor, TensorData};
use adept_rows::Channel;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

/// Version of the layout that this program writes; it reads all older ones and no newer one.
pub const FORMAT: u32 = 2;

const MANIFEST: &str = "manifest.json";
const WEIGHTS: &str = "weights.safetensors";
const TRAINING: &str = "training.safetensors";
/// Stands in for the manifest's own checksum while that is computed.
const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// What a checkpoint says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the layout, [`FORMAT`].
    pub format: u32,
    /// `network` or `table`.
    pub kind: String,
    /// Rule set of the game.
    pub game: String,
    /// Encoder of the game.
    pub encoder: String,
    /// Channels of the encoder.
    pub channels: Vec<Channel>,
    /// Architecture.
    pub architecture: Architecture,
    /// What its output stands for.
    #[serde(default, skip_serializing_if = "Output::is_values")]
    pub output: Output,
    /// The whole experiment.
    pub config: serde_json::Value,
    /// Seed of the run.
    pub seed: u64,
    /// Games learned from.
    pub step: u64,
    /// Checkpoints whose weights were the start of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub init: Vec<Origin>,
    /// Revision of the program that wrote it.
    pub revision: String,
    /// Measurements at this step.
    pub metrics: serde_json::Value,
    /// States of the generators and counters; none if training cannot go on from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<serde_json::Value>,
    /// SHA-256 of each other file.
    pub checksums: BTreeMap<String, String>,
    /// SHA-256 of this file with 64 zeros in this place.
    pub checksum: String,
}

impl Manifest {
    /// What a model of that architecture says of itself before it learned; of which experiment is told by [`of`](Self::of).
    pub fn new(game: &str, encoder: &str, channels: Vec<Channel>, architecture: &Architecture) -> Self {
        Self {
            format: FORMAT,
            kind: if architecture.kind() == "lookup" { "table" } else { "network" }.into(),
            game: game.into(),
            encoder: encoder.into(),
            channels,
            architecture: architecture.clone(),
            output: Output::Values,
            config: serde_json::Value::Null,
            seed: 0,
            step: 0,
            init: Vec::new(),
            revision: String::new(),
            metrics: serde_json::Value::Null,
            training: None,
            checksums: BTreeMap::new(),
            checksum: String::new(),
        }
    }

    /// A text of the experiment, such as its `name`; empty where it says nothing.
    pub fn experiment(&self, key: &str) -> &str {
        self.config[key].as_str().unwrap_or_default()
    }

    /// The same of that experiment, written by that revision of the program.
    #[must_use]
    pub fn of(self, config: serde_json::Value, seed: u64, revision: &str) -> Self {
        Self { config, seed, revision: revision.into(), ..self }
    }
}

/// What the output of a model stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// Values: the highest is best.
    #[default]
    Values,
    /// Logits of a policy: its softmax over the actions of a decision is how often each is to be taken.
    Logits,
}

impl Output {
    fn is_values(&self) -> bool {
        *self == Self::Values
    }
}

/// A checkpoint that weights were taken from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Where it lay.
    pub path: PathBuf,
    /// [`Manifest::checksum`], which identifies it wherever it lies.
    pub checksum: String,
    /// The part of the architecture that took them, such as `expert.0`; the whole without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

/// An opened checkpoint.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Where it lies.
    pub path: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
    /// Its tensors by name; those of training after those of the model.
    pub tensors: Vec<Tensor>,
}

/// Whether a tensor belongs to training alone and not to the model.
pub fn is_of_training(name: &str) -> bool {
    ["optimiser.", "ahead.", "regrets.", "memory."].iter().any(|part| name.starts_with(part))
}

/// Writes a checkpoint to a folder. Whatever is there under this name is removed first: the rest of an interrupted
/// step, never what anybody still relies on.
///
/// `manifest.checksums` and `manifest.checksum` are filled in. Tensors [of training](is_of_training) go to a file of
/// their own.
///
/// # Errors
/// [`ModelError::Io`], and [`ModelError::Checkpoint`] if a tensor is not finite: a diverged model is not
/// worth keeping.
pub fn write(files: &Files, path: &Path, manifest: Manifest, tensors: &[Tensor]) -> Result<(), ModelError> {
    for tensor in tensors {
        if matches!(tensor.data, TensorData::F32(_)) {
            tensor.floats().map_err(|e| fault(path, e.to_string()))?;
        }
    }
    files.create_folder(parent(path))?;
    let temporary = temporary(path);
    files.remove(&temporary)?;
    let written = prepare(files, path, &temporary, manifest, tensors);
    let placed = written.and_then(|()| files.remove(path)).and_then(|()| files.rename(&temporary, path));
    if placed.is_err() {
        // On a full disk every byte counts; if this fails too, the first error says more.
        let _ = files.remove(&temporary);
    }
    placed
}

/// Writes all files of a checkpoint to a folder that is not there yet.
fn prepare(
    files: &Files,
    path: &Path,
    temporary: &Path,
    mut manifest: Manifest,
    tensors: &[Tensor],
) -> Result<(), ModelError> {
    files.create_folder(temporary)?;
    manifest.format = FORMAT;
    manifest.checksums.clear();
    let (later, model): (Vec<&Tensor>, Vec<&Tensor>) = tensors.iter().partition(|t| is_of_training(&t.name));
    for (file, tensors) in [(WEIGHTS, model), (TRAINING, later)] {
        if file == TRAINING && tensors.is_empty() {
            continue;
        }
        let bytes = to_bytes(&tensors, None).map_err(|e| fault(path, e))?;
        manifest.checksums.insert(file.into(), hex(&bytes));
        files.write(&temporary.join(file), &bytes)?;
    }
    manifest.checksum = BLANK.into();
    let text = serde_json::to_string_pretty(&manifest).map_err(|e| fault(path, e.to_string()))?;
    // The last key of the file, so that no other text can look like it.
    let sum = hex(text.as_bytes());
    let at = text.rfind(BLANK).unwrap_or(text.len());
    let text = format!("{}{sum}{}", &text[..at], &text[(at + BLANK.len()).min(text.len())..]);
    files.write(&temporary.join(MANIFEST), text.as_bytes())?;
    files.sync_folder(temporary)
}

/// Opens a checkpoint folder.
///
/// # Errors
/// [`ModelError::Io`] for a file that is missing or cannot be read, [`ModelError::Damaged`] for one that is not as it
/// was written, [`ModelError::Checkpoint`] for one that is newer than this program or not what it should be.
pub fn read(path: &Path) -> Result<Checkpoint, ModelError> {
    let manifest_path = path.join(MANIFEST);
    let text = fs::read(&manifest_path).map_err(ModelError::io(&manifest_path))?;
    let text = String::from_utf8(text).map_err(|_| damaged(&manifest_path, "not text"))?;
    // The version first: the rest of a newer manifest may have another form.
    let (mut value, format) = versioned(&text, &manifest_path)?;
    // Then the checksum, of the bytes as they were written.
    let sum = value["checksum"].as_str().unwrap_or_default().to_string();
    let blanked = text
        .rsplit_once(sum.as_str())
        .filter(|_| sum.len() == BLANK.len())
        .map(|(before, after)| format!("{before}{BLANK}{after}"));
    if blanked.is_none_or(|text| hex(text.as_bytes()) != sum) {
        return Err(damaged(&manifest_path, "its checksum is another"));
    }
    migrate::manifest(&mut value, format);
    let manifest = typed(value, &manifest_path)?;
    let mut tensors = Vec::new();
    for file in [WEIGHTS, TRAINING] {
        let Some(expected) = manifest.checksums.get(file) else { continue };
        let file_path = path.join(file);
        let bytes = fs::read(&file_path).map_err(ModelError::io(&file_path))?;
        if hex(&bytes) != *expected {
            return Err(damaged(&file_path, "its checksum is not that of the manifest"));
        }
        tensors.extend(from_bytes(&bytes).map_err(|e| fault(&file_path, e))?);
    }
    Ok(Checkpoint { path: path.into(), manifest, tensors })
}

/// The manifest that is kept in another file, of this format or an older one; its checksums are not looked at.
///
/// # Errors
/// [`ModelError::Damaged`] or [`ModelError::Checkpoint`] with the path of that file.
pub fn manifest_in(text: &str, path: &Path) -> Result<Manifest, ModelError> {
    let (mut value, format) = versioned(text, path)?;
    migrate::manifest(&mut value, format);
    typed(value, path)
}

fn versioned(text: &str, path: &Path) -> Result<(serde_json::Value, u64), ModelError> {
    let value: serde_json::Value = serde_json::from_str(text).map_err(|e| damaged(path, e.to_string()))?;
    match value.get("format").and_then(serde_json::Value::as_u64) {
        Some(v) if v > u64::from(FORMAT) => {
            let message = format!("has format {v}, this program reads up to {FORMAT}: take a newer adept");
            Err(fault(path, message))
        }
        Some(v) if v > 0 => Ok((value, v)),
        _ => Err(fault(path, "is no manifest of a checkpoint: it has no known format")),
    }
}

fn typed(value: serde_json::Value, path: &Path) -> Result<Manifest, ModelError> {
    serde_json::from_value(value).map_err(|e| fault(path, format!("is no manifest: {e}")))
}

/// The checkpoint folder that a path names: itself, or the latest (or best) checkpoint of a run folder.
///
/// # Errors
/// [`ModelError::Checkpoint`] if the path is neither, or the run has no checkpoint yet; [`ModelError::Damaged`] if its
/// record is.
pub fn locate(path: &Path, best: bool) -> Result<PathBuf, ModelError> {
    if path.join(MANIFEST).exists() {
        return Ok(path.into());
    }
    let record_path = path.join("run.json");
    let Ok(text) = fs::read(&record_path) else {
        let why = if path.exists() { "is neither a checkpoint nor a run folder" } else { "does not exist" };
        let hint = "give a folder with manifest.json or run.json; `adept runs list` shows the runs here";
        return Err(fault(path, format!("{why}; {hint}")));
    };
    let record: serde_json::Value =
        serde_json::from_slice(&text).map_err(|e| damaged(&record_path, e.to_string()))?;
    let name = if best { &record["best"]["checkpoint"] } else { &record["latest"] };
    match name.as_str() {
        Some(name) => Ok(path.join("checkpoints").join(name)),
        None if best && record["latest"].is_string() => Err(fault(
            path,
            "has no best checkpoint, its experiment does not measure which that is: leave --best out",
        )),
        None => Err(fault(path, "has no checkpoint yet")),
    }
}

fn damaged(path: &Path, message: impl Into<String>) -> ModelError {
    ModelError::Damaged { path: path.into(), message: message.into() }
}

fn fault(path: &Path, message: impl Into<String>) -> ModelError {
    ModelError::Checkpoint { path: path.into(), message: message.into() }
}

/// SHA-256 in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// A safetensors file. Its metadata has one entry at most: several would be written in no fixed order.
pub(crate) fn to_bytes(tensors: &[&Tensor], metadata: Option<(&str, String)>) -> Result<Vec<u8>, String> {
    let data: Vec<Vec<u8>> = tensors
        .iter()
        .map(|t| match &t.data {
            TensorData::F32(data) => data.iter().flat_map(|v| v.to_le_bytes()).collect(),
            TensorData::U64(data) => data.iter().flat_map(|v| v.to_le_bytes()).collect(),
        })
        .collect();
    let views: Result<Vec<_>, _> = tensors
        .iter()
        .zip(&data)
        .map(|(t, data)| {
            let kind = if matches!(t.data, TensorData::F32(_)) { Dtype::F32 } else { Dtype::U64 };
            Ok((t.name.clone(), TensorView::new(kind, t.shape.clone(), data)?))
        })
        .collect();
    let views = views.map_err(|e: safetensors::SafeTensorError| e.to_string())?;
    let metadata = metadata.map(|(key, text)| HashMap::from([(key.to_string(), text)]));
    safetensors::serialize(views, metadata).map_err(|e| e.to_string())
}

/// The tensors of a safetensors file, in the order of their names.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Vec<Tensor>, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| format!("is no safetensors file: {e}"))?;
    // The file keeps its tensors in no order of ours.
    let mut views: Vec<_> = file.iter().collect();
    views.sort_by_key(|(name, _)| *name);
    views
        .into_iter()
        .map(|(name, view)| {
            let data = match view.dtype() {
                Dtype::F32 => TensorData::F32(
                    view.data().as_chunks().0.iter().map(|b| f32::from_le_bytes(*b)).collect(),
                ),
                Dtype::U64 => TensorData::U64(
                    view.data().as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect(),
                ),
                other => return Err(format!("the tensor `{name}` has type {other:?}, expected F32 or U64")),
            };
            Ok(Tensor { name: name.into(), shape: view.shape().to_vec(), data })
        })
        .collect()
}
