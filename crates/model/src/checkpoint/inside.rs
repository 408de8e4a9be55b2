//! Published checkpoints inside the program: small ones, so that games can be played in any folder.

use super::{MANIFEST, WEIGHTS};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Prefix of the paths of published checkpoints inside the program.
const PREFIX: &str = "built-in:";

/// A published checkpoint inside the program.
pub struct Inside {
    /// Its name below `checkpoints`, such as `backgammon/small-88-24`.
    pub name: &'static str,
    /// The content of `manifest.json`.
    pub manifest: &'static [u8],
    /// The content of `weights.safetensors`.
    pub weights: &'static [u8],
}

static ALL: OnceLock<&[Inside]> = OnceLock::new();

/// Adds checkpoints to the program: from now on they are found by their names. A program calls it once, before anything else.
pub fn add_inside(checkpoints: &'static [Inside]) {
    // A second call would add others to what may already be in use.
    assert!(ALL.set(checkpoints).is_ok(), "checkpoints are added once");
}

/// The checkpoints of this program.
fn known() -> &'static [Inside] {
    ALL.get().copied().unwrap_or_default()
}

fn of(path: &Path) -> Option<(&'static Inside, &str)> {
    let name = path.to_str()?.strip_prefix(PREFIX)?;
    let rest =
        |inside: &Inside| name.strip_prefix(inside.name).filter(|s| s.is_empty() || s.starts_with('/'));
    known().iter().find_map(|inside| Some((inside, rest(inside)?)))
}

/// The content of a file at such a path.
pub(super) fn file(path: &Path) -> Option<&'static [u8]> {
    let (inside, file) = of(path)?;
    match file.strip_prefix('/')? {
        MANIFEST => Some(inside.manifest),
        WEIGHTS => Some(inside.weights),
        _ => None,
    }
}

/// Whether a path is that of a checkpoint inside the program, or of a file of one.
pub(super) fn is_there(path: &Path) -> bool {
    of(path).is_some_and(|(_, file)| file.is_empty()) || file(path).is_some()
}

/// The checkpoints by their names below `checkpoints`, with the paths that open them.
pub(super) fn all() -> impl Iterator<Item = (&'static Path, PathBuf)> {
    known().iter().map(|inside| (Path::new(inside.name), format!("{PREFIX}{}", inside.name).into()))
}

/// Whether this is a path inside the program, which no folder precedes.
pub fn is_inside(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.starts_with(PREFIX))
}
