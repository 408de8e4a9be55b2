//! Packs what a checkpoint names into its folder, so that it can leave its place.
//!
//! A checkpoint may name other files: the checkpoint that is its prior, the rule file of its game, a rule file of its encoder.
//! Their copies lie in the folder `parts`, and the manifest names them by paths relative to its own folder. A prior may have parts
//! of its own, in the same way.

use adept_arena::{OpenError, open};
use adept_ground::{files::Files, limits};
use adept_model::checkpoint::{self, Checkpoint, Manifest};
use adept_model::{ModelError, Tensor};
use adept_trainer::run::TrainError;
use open::Prior;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Folder of what a checkpoint names.
const PARTS: &str = "parts";
/// Prefix of the name of a game whose rules are a file.
const RULES: &str = "file:";

/// Writes a checkpoint that was at `checkpoint.path`, or was made for that place, without the training state and with copies of
/// all that it names. The folder appears as a whole.
///
/// # Errors
/// If something that it names is missing or changed, or a file cannot be written.
pub(crate) fn write(files: &Files, out: &Path, checkpoint: Checkpoint) -> Result<(), TrainError> {
    // Each call has a name of its own: two may write to the same place, and the second one fails at the end.
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

/// Something to be put into `parts`.
enum Part {
    /// A folder that lies at this path until then.
    Folder(PathBuf),
    /// A file with this content.
    File(Vec<u8>),
}

/// Writes a checkpoint and its parts to the folder `at`. If nothing about it changes and it is not `new`, its files are copied to
/// the byte, so that it keeps its checksum.
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
        // Removed with everything else if it fails.
        parts.push((name.clone(), Part::Folder(staged.clone())));
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
    // In memory the rule file of a packed game has its whole path.
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
            Part::Folder(staged) => files.rename(&staged, &folder.join(name))?,
            Part::File(bytes) => files.write(&folder.join(name), &bytes)?,
        }
    }
    Ok(files.sync_folder(at)?)
}

/// Sets a setting of `[game]` in the config that the manifest repeats, if it is there.
fn set(manifest: &mut Manifest, key: &str, value: fn(&Manifest) -> String) {
    let value = value(manifest);
    if let Some(setting) = manifest.config.get_mut("game").and_then(|game| game.get_mut(key)) {
        *setting = value.into();
    }
}

/// Packs files that parts of the encoder name, as in `rules:FILE`.
fn pack_encoder(
    parts: &mut Vec<(String, Part)>,
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
fn add_file(parts: &mut Vec<(String, Part)>, file: &Path) -> Result<String, TrainError> {
    let bytes = limits::read(file, limits::CONFIG_BYTES).map_err(ModelError::io(file))?;
    // `+` joins parts of an encoder's name.
    let name = file.file_name().unwrap_or_default().to_string_lossy().replace('+', "-");
    let name = free(parts, &name);
    parts.push((name.clone(), Part::File(bytes)));
    Ok(name)
}

/// A name that no other part has.
fn free(parts: &[(String, Part)], name: &str) -> String {
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
    let located = located.ok_or_else(|| refused(format!("its prior `{name}` is not there: put it back")))?;
    let found = checkpoint::read(&located)?;
    if Prior::pin(&found.manifest.checksum) != pinned {
        return Err(
            refused(format!("its prior `{name}` is another checkpoint than {pinned}: put it back")).into()
        );
    }
    Ok(found)
}

/// Copies a checkpoint to the byte.
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
