//! Checkpoints: self-describing models on disk, protected by checksums.
//!
//! A checkpoint is a folder with `manifest.json`, `weights.safetensors` and, if training can resume from it,
//! `training.safetensors`. It is written under a temporary name, synced and renamed, and never changes afterwards.
//! Opening verifies every byte, then migrates older formats.

mod inside;
mod migrate;
mod published;
mod quantisation;
mod strength;

use crate::architecture::{Architecture, Form};
use crate::error::ModelError;
use crate::head::Head;
use crate::tensor::{Tensor, TensorData};
use adept_ground::{
    files::{Files, parent, temporary},
    limits,
    shown::shell_path,
};
use adept_rows::Channel;
use safetensors::SafeTensorError;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

pub use inside::{Inside, add_inside, is_inside};
pub use published::{best_of, published, published_in, rank, searched};
pub use quantisation::Quantisation;
pub use strength::{LevelStrength, Strength, note_strength};

/// Version of the layout that this program writes. It also reads all older versions.
pub const FORMAT: u32 = 3;

const MANIFEST: &str = "manifest.json";
const WEIGHTS: &str = "weights.safetensors";
const TRAINING: &str = "training.safetensors";
/// The record of a run, in its folder.
const RECORD: &str = "run.json";
/// Prefix of the name of a game whose rules are a file.
const RULES: &str = "file:";
/// Placeholder for the manifest's own checksum during its computation.
const BLANK: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The description of a checkpoint, in `manifest.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Playing strength, measured after it was published. Its checksum does not cover it: the network stays the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    /// Version of the layout, [`FORMAT`].
    pub format: u32,
    /// `network`, `table` or `quantised`.
    pub kind: String,
    /// Rule set of the game.
    pub game: String,
    /// Encoder of the game.
    pub encoder: String,
    /// Channels of the encoder.
    pub channels: Vec<Channel>,
    /// Architecture.
    pub architecture: Architecture,
    /// Meaning of the output.
    #[serde(default, skip_serializing_if = "Head::is_value")]
    pub head: Head,
    /// The config of the experiment.
    pub config: serde_json::Value,
    /// Seed of the run.
    pub seed: u64,
    /// Number of games learned from.
    pub step: u64,
    /// Origin and accuracy of a quantised network; none for other models.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantised: Option<Quantisation>,
    /// Checkpoints that provided the initial weights of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub init: Vec<Origin>,
    /// Networks that were trained beside it, for comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rivals: Vec<Rival>,
    /// Git revision of the program that wrote it.
    pub revision: String,
    /// Measurements at this step.
    pub metrics: serde_json::Value,
    /// States of the random generators and counters; none if training cannot resume from here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub training: Option<serde_json::Value>,
    /// SHA-256 of each other file.
    pub checksums: BTreeMap<String, String>,
    /// SHA-256 of this file with 64 zeros in place of the checksum.
    pub checksum: String,
}

impl Manifest {
    /// The manifest of an untrained model. Add the experiment with [`of`](Self::of).
    pub fn new(game: &str, encoder: &str, channels: Vec<Channel>, architecture: &Architecture) -> Self {
        Self {
            strength: None,
            format: FORMAT,
            kind: kind_of(architecture).into(),
            game: game.into(),
            encoder: encoder.into(),
            channels,
            architecture: architecture.clone(),
            head: Head::Value,
            config: serde_json::Value::Null,
            seed: 0,
            step: 0,
            quantised: None,
            init: Vec::new(),
            rivals: Vec::new(),
            revision: String::new(),
            metrics: serde_json::Value::Null,
            training: None,
            checksums: BTreeMap::new(),
            checksum: String::new(),
        }
    }

    /// The range that its output cannot leave, lowest and highest; None if it is not bounded on both sides.
    pub fn range(&self) -> Option<[f32; 2]> {
        let (low, high) = match &self.head {
            Head::Value => self.architecture.range(&self.channels),
            Head::Policy => return None,
            Head::Outcomes(classes) => {
                let all = classes.iter().map(|class| (class.utility, class.utility));
                all.reduce(|(a, b), (low, high)| (a.min(low), b.max(high)))?
            }
        };
        (low.is_finite() && high.is_finite()).then_some([low, high])
    }

    /// A text from the experiment's config, such as `name`; empty if missing.
    pub fn experiment(&self, key: &str) -> &str {
        self.config[key].as_str().unwrap_or_default()
    }

    /// Sets the experiment's config and seed, and the revision of the program.
    #[must_use]
    pub fn of(self, config: serde_json::Value, seed: u64, revision: &str) -> Self {
        Self { config, seed, revision: revision.into(), ..self }
    }
}

/// A network that a published one is compared with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rival {
    /// Name of its experiment.
    pub name: String,
    /// Description.
    pub about: String,
    /// Mean multiply-adds of an evaluation.
    pub multiply_adds: f64,
    /// Learned parameters.
    pub parameters: usize,
    /// Experts; 1 for a single network.
    pub experts: usize,
    /// Mean figure over its runs.
    pub figure: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Runs.
    pub seeds: usize,
}

/// A checkpoint that provided initial weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Origin {
    /// Its path at that time.
    pub path: PathBuf,
    /// Its [`Manifest::checksum`], which identifies it at any path.
    pub checksum: String,
    /// The part of the architecture that received the weights, such as `expert.0`; none for the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Hidden layers before and after growth, such as `[40] → [80, 16]`; none if the architecture was the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grown: Option<String>,
}

impl Origin {
    /// The value of `--init` that names it, as a word of a command: its folder, after the part if it went to one.
    pub fn option(&self) -> String {
        let folder = shell_path(&self.path);
        // Modules of the same names are found again by themselves.
        match self.part.as_ref().filter(|part| !part.contains(' ')) {
            Some(part) => format!("{part}={folder}"),
            None => folder,
        }
    }

    /// The folder of its run, if it is a checkpoint of one.
    pub fn run(&self) -> Option<&Path> {
        self.path.file_name()?.to_str()?.parse::<u64>().ok()?;
        let of_run = self.path.parent().filter(|folder| folder.ends_with("checkpoints"))?.parent()?;
        (!of_run.as_os_str().is_empty()).then_some(of_run)
    }
}

impl fmt::Display for Origin {
    /// Path, part and growth, such as `runs/small-1 (all, grown: [40] → [80])`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.path.display(), self.part.as_deref().unwrap_or("all"))?;
        self.grown.iter().try_for_each(|grown| write!(f, ", grown: {grown}"))?;
        f.write_str(")")
    }
}

/// An opened checkpoint.
#[derive(Clone, Debug)]
pub struct Checkpoint {
    /// Its folder.
    pub path: PathBuf,
    /// Its manifest.
    pub manifest: Manifest,
    /// Its tensors by name: those of the model, then those of training.
    pub tensors: Vec<Tensor>,
}

/// Whether a tensor is part of the training state only, not of the model.
pub fn is_of_training(name: &str) -> bool {
    ["optimiser.", "raw.", "ahead.", "regrets.", "memory."].iter().any(|part| name.starts_with(part))
}

/// Writes a checkpoint to a folder.
///
/// Replaces an existing folder at this path, which callers expect only after an interrupted run. Fills in
/// `manifest.checksums` and `manifest.checksum`. Tensors [of training](is_of_training) go to a separate file.
///
/// # Errors
/// [`ModelError::Io`]; [`ModelError::Checkpoint`] if a tensor is not finite, because a diverged model is useless.
pub fn write(files: &Files, path: &Path, manifest: Manifest, tensors: &[Tensor]) -> Result<(), ModelError> {
    for tensor in tensors {
        if matches!(tensor.data, TensorData::F32(_) | TensorData::Bf16(_)) {
            tensor.widened().map_err(|e| fault(path, e.to_string()))?;
        }
    }
    files.create_folder(parent(path))?;
    let temporary = temporary(path);
    files.remove(&temporary)?;
    let written = prepare(files, path, &temporary, manifest, tensors);
    let place = || files.remove(path).and_then(|()| files.rename(&temporary, path));
    let placed = written.and_then(|()| Ok(place()?));
    if placed.is_err() {
        // Frees space on a full disk. The first error is the one to report.
        let _ = files.remove(&temporary);
    }
    placed
}

/// Writes all files of a checkpoint to a new folder.
fn prepare(
    files: &Files,
    path: &Path,
    temporary: &Path,
    mut manifest: Manifest,
    tensors: &[Tensor],
) -> Result<(), ModelError> {
    files.create_folder(temporary)?;
    manifest.format = FORMAT;
    // Another network may play otherwise.
    manifest.strength = None;
    manifest.checksums.clear();
    let (later, model): (Vec<&Tensor>, Vec<&Tensor>) = tensors.iter().partition(|t| is_of_training(&t.name));
    for (file, tensors) in [(WEIGHTS, model), (TRAINING, later)] {
        if file == TRAINING && tensors.is_empty() {
            continue;
        }
        let bytes = to_bytes(&tensors, None).map_err(|e| fault(path, e.to_string()))?;
        manifest.checksums.insert(file.into(), hex(&bytes));
        files.write(&temporary.join(file), &bytes)?;
    }
    manifest.checksum = BLANK.into();
    let text = serde_json::to_string_pretty(&manifest).map_err(|e| fault(path, e.to_string()))?;
    // The checksum is the last key, so the last match is the placeholder.
    let sum = hex(text.as_bytes());
    let at = text.rfind(BLANK).unwrap_or(text.len());
    let text = format!("{}{sum}{}", &text[..at], &text[(at + BLANK.len()).min(text.len())..]);
    files.write(&temporary.join(MANIFEST), text.as_bytes())?;
    Ok(files.sync_folder(temporary)?)
}

/// Opens a checkpoint folder.
///
/// # Errors
/// [`ModelError::Io`] if a file is missing or unreadable; [`ModelError::Damaged`] if a file has changed since it was
/// written; [`ModelError::Checkpoint`] if the format is newer than this program or the content is invalid.
pub fn read(path: &Path) -> Result<Checkpoint, ModelError> {
    let manifest = manifest(path)?;
    let mut tensors = Vec::new();
    for file in [WEIGHTS, TRAINING] {
        let Some(expected) = manifest.checksums.get(file) else { continue };
        let file_path = path.join(file);
        let bytes = match inside::file(&file_path) {
            Some(bytes) => Cow::Borrowed(bytes),
            None => Cow::Owned(read_weights(&file_path).map_err(|e| match e {
                ModelError::Checkpoint { message, .. } => damaged(&file_path, message),
                other => other,
            })?),
        };
        if hex(&bytes) != *expected {
            return Err(damaged(&file_path, "its checksum does not match the manifest"));
        }
        tensors.extend(from_bytes(&bytes).map_err(|e| fault(&file_path, e))?);
    }
    Ok(Checkpoint { path: path.into(), manifest, tensors })
}

/// The manifest of a checkpoint folder.
///
/// # Errors
/// As [`read`], for the manifest alone.
pub fn manifest(path: &Path) -> Result<Manifest, ModelError> {
    let manifest_path = path.join(MANIFEST);
    let text = manifest_text(&manifest_path)?;
    // Checks the version first, because a newer manifest may have another form.
    let (mut value, format) = versioned(&text, &manifest_path)?;
    // The checksum covers the bytes as they were written, so it is checked before any migration.
    let sum = value["checksum"].as_str().unwrap_or_default().to_string();
    let text = strength::without(&text);
    let blanked = text
        .rsplit_once(sum.as_str())
        .filter(|_| sum.len() == BLANK.len())
        .map(|(before, after)| format!("{before}{BLANK}{after}"));
    if blanked.is_none_or(|text| hex(text.as_bytes()) != sum) {
        return Err(damaged(&manifest_path, "its checksum does not match"));
    }
    migrate::manifest(&mut value, format);
    let mut manifest = typed(value, &manifest_path)?;
    if let Some(found) = manifest.game.strip_prefix(RULES).and_then(|file| rule_file(path, Path::new(file))) {
        manifest.game = format!("{RULES}{}", found.display());
    }
    Ok(manifest)
}

fn manifest_text(path: &Path) -> Result<String, ModelError> {
    let text = match inside::file(path) {
        Some(bytes) => bytes.to_vec(),
        None => limits::read(path, limits::MANIFEST_BYTES).map_err(ModelError::io(path))?,
    };
    String::from_utf8(text).map_err(|_| damaged(path, "not text"))
}

/// The rule file that the checkpoint in `folder` names, if it is not at its path from the current folder: packed with the
/// checkpoint, or at its path from a folder above, in which training was started.
fn rule_file(folder: &Path, file: &Path) -> Option<PathBuf> {
    let beside = folder.join(file);
    if beside.is_file() || file.is_file() {
        return Some(beside).filter(|beside| beside.is_file());
    }
    folder.canonicalize().ok()?.ancestors().map(|above| above.join(file)).find(|file| file.is_file())
}

/// Reads a manifest stored in another file, in this format or an older one. Does not verify its checksums.
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
            let message = format!("has format {v}, this program reads up to {FORMAT}: use a newer adept");
            Err(fault(path, message))
        }
        Some(v) if v > 0 => Ok((value, v)),
        _ => Err(fault(path, "is not a checkpoint manifest: its format is unknown")),
    }
}

fn typed(value: serde_json::Value, path: &Path) -> Result<Manifest, ModelError> {
    let manifest: Manifest =
        serde_json::from_value(value).map_err(|e| fault(path, format!("is not a valid manifest: {e}")))?;
    let kind = if manifest.quantised.is_some() { "quantised" } else { kind_of(&manifest.architecture) };
    if manifest.kind != kind {
        let message = format!("is not a valid manifest: its kind is `{}` instead of `{kind}`", manifest.kind);
        return Err(fault(path, message));
    }
    Ok(manifest)
}

/// Kind of the model in a checkpoint of this architecture.
fn kind_of(architecture: &Architecture) -> &'static str {
    match architecture.form() {
        Form::Table(_) => "table",
        Form::Network | Form::Blind(_) => "network",
    }
}

/// Whether this is the name of a checkpoint in a run: twelve digits. Other names could lead out of the run's folder.
pub fn is_name(name: &str) -> bool {
    name.len() == 12 && name.bytes().all(|b| b.is_ascii_digit())
}

/// Parent folder of runs that are given by name.
pub const RUNS: &str = "checkpoints/runs";

/// The folder that a name or path stands for: the path itself if it exists; else the run of that name in
/// `checkpoints/runs`, with or without its seed; else the published checkpoint of that name, see [`published`], which may also be named
/// as `GAME/NAME` or `checkpoints/GAME/NAME`; else the best published checkpoint of the game of that name. None if there is nothing of the kind.
///
/// # Errors
/// [`ModelError::Checkpoint`] if the name fits several folders.
pub fn named(path: &Path) -> Result<Option<PathBuf>, ModelError> {
    if is_there(path)? {
        // A folder that is something else, such as one of configs, may bear the name of a game.
        let other = if is_at(path)? { None } else { published::named(path)? };
        return Ok(Some(other.unwrap_or_else(|| path.into())));
    }
    let plain = path.components().count() == 1;
    let Some(name) = path.to_str().filter(|name| plain && !name.is_empty()) else {
        return published::named(path);
    };
    let run = Path::new(RUNS).join(name);
    if run.exists() {
        return Ok(Some(run));
    }
    let of_seed = |path: &PathBuf| {
        let seed = path.file_name().and_then(|file| file.to_str()?.strip_prefix(name)?.strip_prefix('-'));
        seed.is_some_and(|seed| !seed.is_empty() && seed.bytes().all(|b| b.is_ascii_digit()))
    };
    let found: Vec<PathBuf> = folders(Path::new(RUNS)).into_iter().filter(of_seed).collect();
    match &found[..] {
        [] => published::named(path),
        [one] => Ok(Some(one.clone())),
        many => {
            let list: Vec<String> = many.iter().map(|path| path.display().to_string()).collect();
            let first = many[0].file_name().unwrap_or_default().to_string_lossy();
            Err(fault(
                path,
                format!("fits several runs: add a seed, such as `{first}`; there is {}", list.join(", ")),
            ))
        }
    }
}

/// Whether the folder at this path holds a checkpoint or a run.
///
/// # Errors
/// [`ModelError::Io`] if we may not look.
pub fn is_at(path: &Path) -> Result<bool, ModelError> {
    // An empty path would be the current folder.
    Ok(!path.as_os_str().is_empty() && (is_there(&path.join(MANIFEST))? || is_there(&path.join(RECORD))?))
}

/// Names that [`named`] finds: of runs, then of published checkpoints.
pub fn known() -> Vec<String> {
    let name = |path: &PathBuf| Some(path.file_name()?.to_str()?.to_string());
    folders(Path::new(RUNS)).iter().chain(&published()).filter_map(name).collect()
}

/// The folders in this one, by name; none if it cannot be read.
fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    all.sort();
    all
}

/// The checkpoint folder that a path or name stands for, see [`named`]: the folder itself, or the latest (or best)
/// checkpoint of a run folder.
///
/// # Errors
/// [`ModelError::Checkpoint`] if it is neither, or if the run has no checkpoint yet; [`ModelError::Damaged`] if the
/// run's record is damaged; [`ModelError::Io`] if it may not be read.
pub fn locate(path: &Path, best: bool) -> Result<PathBuf, ModelError> {
    let folder = named(path)?;
    let path = folder.as_deref().unwrap_or(path);
    if is_there(&path.join(MANIFEST))? {
        return Ok(path.into());
    }
    let record_path = path.join(RECORD);
    let text = match limits::read(&record_path, limits::RECORD_BYTES) {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => None,
        read => Some(read.map_err(ModelError::io(&record_path))?),
    };
    let Some(text) = text else {
        if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
            return Err(fault(
                path,
                "is a config, not a checkpoint: train it, then give the folder of its run",
            ));
        }
        let why = if path.exists() { "is neither a checkpoint nor a run folder" } else { "does not exist" };
        let hint = "give a folder with manifest.json or run.json, the name of a run in `checkpoints/runs` of the working folder, or of a \
                    published checkpoint; `adept runs list` shows the runs here";
        return Err(fault(path, format!("{why}; {hint}. {}", published::searched())));
    };
    let record: serde_json::Value =
        serde_json::from_slice(&text).map_err(|e| damaged(&record_path, e.to_string()))?;
    let name = if best { &record["best"]["checkpoint"] } else { &record["latest"] };
    match name.as_str() {
        Some(name) if is_name(name) => Ok(path.join("checkpoints").join(name)),
        Some(name) => Err(damaged(&record_path, format!("`{name}` is not the name of a checkpoint"))),
        None if best && record["latest"].is_string() => Err(fault(
            path,
            "has no best checkpoint, because its experiment does not rank checkpoints: ask for the latest one",
        )),
        None => Err(fault(path, "has no checkpoint yet")),
    }
}

/// Whether there is a file or folder of this name.
///
/// # Errors
/// [`ModelError::Io`] if we may not look.
fn is_there(path: &Path) -> Result<bool, ModelError> {
    if inside::is_there(path) {
        return Ok(true);
    }
    match path.try_exists() {
        Err(e) if e.kind() == ErrorKind::PermissionDenied => Err(ModelError::io(path)(e)),
        there => Ok(there.unwrap_or(false)),
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

/// Serialises tensors to a safetensors file. The metadata has at most one entry, because several have no fixed order.
pub(crate) fn to_bytes(
    tensors: &[&Tensor],
    metadata: Option<(&str, String)>,
) -> Result<Vec<u8>, SafeTensorError> {
    let stored: Vec<(Dtype, Vec<u8>)> = tensors
        .iter()
        .map(|t| match &t.data {
            TensorData::F32(data) => (Dtype::F32, data.iter().flat_map(|v| v.to_le_bytes()).collect()),
            TensorData::U64(data) => (Dtype::U64, data.iter().flat_map(|v| v.to_le_bytes()).collect()),
            TensorData::I16(data) => (Dtype::I16, data.iter().flat_map(|v| v.to_le_bytes()).collect()),
            TensorData::I8(data) => (Dtype::I8, data.iter().flat_map(|v| v.to_le_bytes()).collect()),
            TensorData::Bf16(data) => (Dtype::BF16, data.iter().flat_map(|v| v.to_le_bytes()).collect()),
        })
        .collect();
    let views: Result<Vec<_>, SafeTensorError> = tensors
        .iter()
        .zip(&stored)
        .map(|(t, (kind, data))| Ok((t.name.clone(), TensorView::new(*kind, t.shape.clone(), data)?)))
        .collect();
    let metadata = metadata.map(|(key, text)| HashMap::from([(key.to_string(), text)]));
    safetensors::serialize(views?, metadata)
}

/// Reads a safetensors file. The length of its header is checked before the rest is read.
///
/// # Errors
/// [`ModelError::Io`], and [`ModelError::Checkpoint`] for another kind of file.
pub fn read_weights(path: &Path) -> Result<Vec<u8>, ModelError> {
    let about = fs::metadata(path).map_err(ModelError::io(path))?;
    if about.is_file() {
        let mut head = [0; 9];
        let read = match fs::File::open(path).and_then(|mut file| file.read_exact(&mut head)) {
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => false,
            // It may be whole, and cannot be read at the moment.
            Err(e) => return Err(ModelError::io(path)(e)),
            Ok(()) => true,
        };
        let (length, rest) = head.split_at(8);
        let length = length.iter().rev().fold(0, |n: u64, &b| n << 8 | u64::from(b));
        if !read || length > limits::HEADER_BYTES.min(about.len()) || rest != b"{" {
            return Err(fault(path, "is not a safetensors file"));
        }
    }
    limits::read(path, limits::WEIGHT_BYTES).map_err(ModelError::io(path))
}

fn numbers<T, const N: usize>(bytes: &[u8], read: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks().0.iter().map(|number| read(*number)).collect()
}

/// Reads the tensors of a safetensors file, ordered by name.
pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Vec<Tensor>, String> {
    let file = SafeTensors::deserialize(bytes).map_err(|e| format!("is not a safetensors file: {e}"))?;
    // The order in the file is not fixed.
    let mut views: Vec<_> = file.iter().collect();
    views.sort_by_key(|(name, _)| *name);
    views
        .into_iter()
        .map(|(name, view)| {
            let bytes = view.data();
            let data = match view.dtype() {
                Dtype::F32 => TensorData::F32(numbers(bytes, f32::from_le_bytes)),
                Dtype::U64 => TensorData::U64(numbers(bytes, u64::from_le_bytes)),
                Dtype::I16 => TensorData::I16(numbers(bytes, i16::from_le_bytes)),
                Dtype::I8 => TensorData::I8(numbers(bytes, i8::from_le_bytes)),
                Dtype::BF16 => TensorData::Bf16(numbers(bytes, u16::from_le_bytes)),
                other => {
                    return Err(format!(
                        "the tensor `{name}` has type {other:?}, expected F32, BF16, U64, I16 or I8"
                    ));
                }
            };
            Ok(Tensor { name: name.into(), shape: view.shape().to_vec(), data })
        })
        .collect()
}
