//! Packs the files that a checkpoint names into its folder, so that it can be moved.
//!
//! A checkpoint may name other files: the checkpoint that is its prior, the rule file of its game, a rule file of its
//! encoder. Copies are stored in the folder `parts`, and the manifest names them by relative paths. A prior may have
//! parts of its own.

use adept_arena::{OpenError, open};
use adept_ground::{files::Files, limits};
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::{ModelError, Tensor};
use adept_trainer::run::TrainError;
use open::Prior;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Folder of the packed files.
const PARTS: &str = "parts";
/// Prefix of the name of a game with a rule file.
const RULES: &str = "file:";

/// Writes a checkpoint that was at `checkpoint.path`, or was made for that place, without the training state and with
/// copies of all files that it names. The folder appears atomically.
///
/// # Errors
/// If a named file is missing or changed, or a file cannot be written.
pub(crate) fn write(files: &Files, out: &Path, checkpoint: Checkpoint) -> Result<(), TrainError> {
    // Each call uses a unique name: two may write to the same place, and the second one fails at the end.
    static CALLS: AtomicU64 = AtomicU64::new(0);
    let call = CALLS.fetch_add(1, Ordering::Relaxed);
    let staged = beside(out, &format!("packing.{}.{call}", std::process::id()));
    files.remove(&staged)?;
    let written =
        assemble(files, &staged, checkpoint, 0, true).and_then(|()| Ok(files.rename(&staged, out)?));
    if written.is_err() {
        // Frees space on a full disk. The first error is the one to report.
        let _ = files.remove(&staged);
    }
    written
}

/// A hidden name in the same folder.
fn beside(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{}.{what}", name.trim_start_matches('.')))
}

/// An item of the folder `parts`.
enum PackedItem {
    /// A folder staged at this path.
    Folder(PathBuf),
    /// A file with this content.
    File(Vec<u8>),
}

/// Writes a checkpoint and its parts to the folder `at`. If it is unchanged and not `new`, its files are copied byte by
/// byte, so that it keeps its checksum.
fn assemble(
    files: &Files,
    at: &Path,
    checkpoint: Checkpoint,
    depth: usize,
    new: bool,
) -> Result<(), TrainError> {
    let Checkpoint { path: from, mut manifest, tensors } = checkpoint;
    let before = (manifest.encoder.clone(), manifest.game.clone());
    let mut parts = Vec::new();
    if let Some(file) = manifest.game.strip_prefix(RULES).map(PathBuf::from) {
        let name = add_file(&mut parts, &file)?;
        manifest.game = format!("{RULES}{PARTS}/{name}");
        set(&mut manifest, "rules", |manifest| manifest.game.clone());
    }
    pack_encoder(&mut parts, &mut manifest, &from)?;
    let prior = open::prior(&manifest.encoder).map_err(OpenError::Unknown)?;
    if let Some(prior) = prior.filter(|prior| prior.pinned.is_some()) {
        let inner = read_prior(&prior, &from, depth)?;
        let staged = beside(at, "prior");
        files.remove(&staged)?;
        let name = free(&parts, &name_of(&inner.manifest));
        // On failure it is removed with everything else.
        parts.push((name.clone(), PackedItem::Folder(staged.clone())));
        let packed = assemble(files, &staged, inner, depth + 1, false);
        if packed.is_err() {
            let _ = files.remove(&staged);
        }
        packed?;
        let pinned = Some(Prior::pin(&checkpoint::manifest(&staged)?.checksum));
        let prior = Prior { name: format!("{PARTS}/{name}"), pinned };
        manifest.encoder = open::with_prior(&manifest.encoder, &prior);
    }
    if !parts.is_empty() {
        set(&mut manifest, "encoder", |manifest| manifest.encoder.clone());
    }
    // In memory, the rule file of a packed game has its full path.
    let was = |game: &str| match game.strip_prefix(RULES) {
        Some(file) => format!("{RULES}{}", from.join(file).display()),
        None => game.into(),
    };
    let same = before == (manifest.encoder.clone(), was(&manifest.game));
    if same && !new && manifest.training.is_none() {
        copy(files, &from, at, &manifest)?;
    } else {
        manifest.training = None;
        let model: Vec<Tensor> =
            tensors.into_iter().filter(|t| !checkpoint::is_of_training(&t.name)).collect();
        checkpoint::write(files, at, manifest, &model)?;
    }
    if parts.is_empty() {
        return Ok(());
    }
    let folder = at.join(PARTS);
    files.create_folder(&folder)?;
    for (name, part) in parts {
        match part {
            PackedItem::Folder(staged) => files.rename(&staged, &folder.join(name))?,
            PackedItem::File(bytes) => files.write(&folder.join(name), &bytes)?,
        }
    }
    Ok(files.sync_folder(at)?)
}

/// Updates a setting of `[game]` in the config inside the manifest, if present.
fn set(manifest: &mut Manifest, key: &str, value: fn(&Manifest) -> String) {
    let value = value(manifest);
    if let Some(setting) = manifest.config.get_mut("game").and_then(|game| game.get_mut(key)) {
        *setting = value.into();
    }
}

/// Packs files that components of the encoder name, as in `rules:FILE`.
fn pack_encoder(
    parts: &mut Vec<(String, PackedItem)>,
    manifest: &mut Manifest,
    from: &Path,
) -> Result<(), TrainError> {
    for (part, file) in open::files_of(&manifest.encoder, from) {
        let name = add_file(parts, &file)?;
        let kind = part.split_once(':').map_or("", |(kind, _)| kind);
        manifest.encoder = manifest.encoder.replacen(&part, &format!("{kind}:{PARTS}/{name}"), 1);
    }
    Ok(())
}

/// Reads a file that becomes a part. Returns its name.
fn add_file(parts: &mut Vec<(String, PackedItem)>, file: &Path) -> Result<String, TrainError> {
    let bytes = limits::read(file, limits::CONFIG_BYTES).map_err(ModelError::io(file))?;
    // `+` separates components of an encoder's name.
    let name = file.file_name().unwrap_or_default().to_string_lossy().replace('+', "-");
    let name = free(parts, &name);
    parts.push((name.clone(), PackedItem::File(bytes)));
    Ok(name)
}

/// A name that no other part uses.
fn free(parts: &[(String, PackedItem)], name: &str) -> String {
    let taken = |name: &str| parts.iter().any(|(other, _)| other == name);
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    std::iter::once(name.to_string()).chain(numbered).find(|name| !taken(name)).unwrap_or_default()
}

/// The name of a prior's folder: that of its experiment.
fn name_of(manifest: &Manifest) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    match manifest.experiment("name") {
        name if !name.is_empty() && !name.starts_with('.') && name.chars().all(plain) => name.into(),
        _ => "prior".into(),
    }
}

fn read_prior(prior: &Prior, by: &Path, depth: usize) -> Result<Checkpoint, TrainError> {
    let refused = |message: String| OpenError::Mismatch { path: by.into(), message };
    let (name, pinned) = (&prior.name, prior.pinned.as_deref().unwrap_or_default());
    if depth >= limits::NESTED_PRIORS {
        let message = format!("has priors of priors more than {} deep", limits::NESTED_PRIORS);
        return Err(refused(message).into());
    }
    let located = open::prior_in(prior, Some(by))?;
    let located = located.ok_or_else(|| refused(format!("its prior `{name}` is missing: restore it")))?;
    let found = checkpoint::read(&located)?;
    if Prior::pin(&found.manifest.checksum) != pinned {
        return Err(refused(format!(
            "its prior `{name}` is another checkpoint than {pinned}: restore the original"
        ))
        .into());
    }
    Ok(found)
}

/// Copies a checkpoint byte by byte.
fn copy(files: &Files, from: &Path, to: &Path, manifest: &Manifest) -> Result<(), TrainError> {
    files.create_folder(to)?;
    let plain = |name: &&String| name.ends_with(".safetensors") && !name.contains(std::path::is_separator);
    for name in manifest.checksums.keys().filter(plain) {
        let file = from.join(name);
        let bytes = limits::read(&file, limits::WEIGHT_BYTES).map_err(ModelError::io(&file))?;
        files.write(&to.join(name), &bytes)?;
    }
    let file = from.join("manifest.json");
    let bytes = limits::read(&file, limits::MANIFEST_BYTES).map_err(ModelError::io(&file))?;
    files.write(&to.join("manifest.json"), &bytes)?;
    Ok(files.sync_folder(to)?)
}
