//! Published checkpoints inside the program: small ones, so that games can be played in any folder.

use super::{MANIFEST, WEIGHTS};
use std::path::{Path, PathBuf};

/// Prefix of the paths of published checkpoints inside the program.
const PREFIX: &str = "built-in:";

struct Inside {
    name: &'static str,
    manifest: &'static [u8],
    weights: &'static [u8],
}

macro_rules! inside {
    ($($name:literal,)+) => {
        const ALL: &[Inside] = &[$(Inside {
            name: $name,
            manifest: include_bytes!(concat!("../../published/", $name, "/manifest.json")),
            weights: include_bytes!(concat!("../../published/", $name, "/weights.safetensors")),
        },)+];
    };
}

inside! {
    "backgammon/small-88-24",
    "bearoff/residual-16-8",
    "hypergammon/exact-256-64",
    "holdem/limit-2-meta-pi",
    "holdem/limit-6",
    "liars-dice/soar-net",
    "liars-dice/soar-net-four",
    "liars-dice/regrets-f6",
    "liars-dice/post-net",
}

/// Maximum total size in bytes.
#[cfg(test)]
const MOST: usize = 1_000_000;

/// The checkpoints, if the program is to have them.
fn known() -> &'static [Inside] {
    if cfg!(feature = "published") { ALL } else { &[] }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint;

    #[test]
    fn what_is_inside_is_small_and_whole() {
        let bytes: usize = ALL.iter().map(|inside| inside.manifest.len() + inside.weights.len()).sum();
        assert!(bytes <= MOST, "{bytes}");
        for (name, path) in all() {
            assert!(is_there(&path) && is_inside(&path) && !is_there(&path.join("card.md")));
            assert_eq!(checkpoint::locate(&path, false).unwrap(), path);
            let read = checkpoint::read(&path).unwrap();
            assert!(read.manifest.strength.is_some(), "{} has no measured strength", name.display());
            assert!(!read.tensors.is_empty());
        }
        assert!(!is_there(Path::new("built-in:backgammon")));
        assert!(!is_there(Path::new("built-in:backgammon/small-88-24x")));
    }
}
