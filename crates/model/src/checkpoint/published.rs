//! Published checkpoints: in `checkpoints` of each of the [places] of this machine, then inside the program.

use super::{MANIFEST, Manifest, fault, folders, inside, manifest};
use crate::error::ModelError;
use adept_ground::places;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};

/// The folder of published checkpoints in each place.
const FOLDER: &str = "checkpoints";

/// Folders below it that hold checkpoints: `GAME/NAME`, or deeper by two.
const DEPTH: usize = 3;

/// Name of the folder of runs, which are not published.
const RUNS: &str = "runs";

/// All published checkpoints, by their names below `checkpoints`. Of several with the same name, the one that is found first.
pub fn published() -> Vec<PathBuf> {
    let mut all: Vec<(PathBuf, PathBuf)> = Vec::new();
    let mut add = |name: &Path, path: PathBuf| {
        if all.iter().all(|(known, _)| known != name) {
            all.push((name.into(), path));
        }
    };
    for place in places::places() {
        let parent = place.join(FOLDER);
        for path in published_in(&parent) {
            if let Ok(name) = path.strip_prefix(&parent) {
                add(name, path.clone());
            }
        }
    }
    inside::all().for_each(|(name, path)| add(name, path));
    all.sort();
    all.into_iter().map(|(_, path)| path).collect()
}

/// The checkpoints below a folder, without runs.
pub fn published_in(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), vec![(folder.to_path_buf(), 0)]);
    while let Some((folder, depth)) = left.pop() {
        if folder.join(MANIFEST).is_file() {
            found.push(folder);
        } else if depth < DEPTH {
            let below = folders(&folder).into_iter().filter(|path| !path.ends_with(RUNS));
            left.extend(below.map(|path| (path, depth + 1)));
        }
    }
    found.sort();
    found
}

/// The published checkpoint that `checkpoints/GAME/NAME`, `GAME/NAME` or `NAME` stands for, or the name of a game: the best of it.
///
/// # Errors
/// [`ModelError::Checkpoint`] if several games have one of this `NAME`.
pub(super) fn named(path: &Path) -> Result<Option<PathBuf>, ModelError> {
    let below = path.strip_prefix(FOLDER).unwrap_or(path);
    if !places::leads_into(path) || below.as_os_str().is_empty() {
        return Ok(None);
    }
    if path.components().count() > 1 {
        let there =
            |place: PathBuf| Some(place.join(FOLDER).join(below)).filter(|at| at.join(MANIFEST).is_file());
        let found = places::places().into_iter().find_map(there);
        return Ok(found.or_else(|| Some(inside::all().find(|(name, _)| *name == below)?.1)));
    }
    let found: Vec<PathBuf> = published().into_iter().filter(|at| at.ends_with(below)).collect();
    match &found[..] {
        [] => Ok(path.to_str().and_then(best_of).map(|(path, _)| path)),
        [one] => Ok(Some(one.clone())),
        many => {
            let list: Vec<String> = many.iter().map(|path| path.display().to_string()).collect();
            let message = format!("fits several checkpoints: give the path of one, {}", list.join(", "));
            Err(fault(path, message))
        }
    }
}

/// The places searched for published checkpoints, as a sentence.
pub fn searched() -> String {
    let list: Vec<String> = inside::all().map(|(name, _)| name.display().to_string()).collect();
    let inside = if list.is_empty() {
        String::new()
    } else {
        format!(", and last inside the program, which has {}", list.join(", "))
    };
    format!("Published checkpoints are looked for in: {}{inside}", places::in_words(FOLDER))
}

/// Sorts checkpoints of one game by their measured strength, the best first. Those that were measured in another way, or not at all, come
/// after them, the largest first.
pub fn rank(all: &mut [(PathBuf, Manifest)]) {
    all.sort_by_cached_key(|(path, _)| Reverse(bytes(path)));
    let unit = all.iter().find_map(|(_, manifest)| manifest.strength.clone());
    let score = |manifest: &Manifest| {
        let found = manifest.strength.as_ref().zip(unit.as_ref());
        found.filter(|(own, unit)| own.compares(unit)).map(|(own, _)| own.score())
    };
    // Equal ones stay in the order of their sizes.
    all.sort_by(|(_, a), (_, b)| {
        score(b).unwrap_or(f64::NEG_INFINITY).total_cmp(&score(a).unwrap_or(f64::NEG_INFINITY))
    });
}

/// Bytes of the weights.
fn bytes(path: &Path) -> u64 {
    let file = path.join(super::WEIGHTS);
    inside::file(&file)
        .map_or_else(|| file.metadata().map_or(0, |file| file.len()), |bytes| bytes.len() as u64)
}

/// The best published checkpoint of a game, by [`rank`], with its manifest.
pub fn best_of(game: &str) -> Option<(PathBuf, Manifest)> {
    let read = |path: PathBuf| manifest(&path).ok().map(|manifest| (path, manifest));
    let mut all: Vec<_> =
        published().into_iter().filter_map(read).filter(|(_, found)| found.game == game).collect();
    rank(&mut all);
    all.into_iter().next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Architecture;
    use crate::checkpoint::Strength;

    #[test]
    fn the_best_is_the_one_with_the_best_figure() {
        let of = |value: Option<f64>, measure: &str, lower_is_better: bool| {
            let architecture: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [2]}}"#).unwrap();
            let strength = value.map(|value| Strength {
                value,
                unit: "points".into(),
                measure: measure.into(),
                lower_is_better,
                levels: Vec::new(),
            });
            Manifest { strength, ..Manifest::new("game", "encoder", Vec::new(), &architecture) }
        };
        let order = |all: &[Manifest]| {
            let mut all: Vec<_> =
                all.iter().enumerate().map(|(k, m)| (k.to_string().into(), m.clone())).collect();
            rank(&mut all);
            all.into_iter().map(|(path, _)| path.display().to_string()).collect::<Vec<_>>().join("")
        };
        assert_eq!(
            order(&[of(None, "", false), of(Some(-0.06), "m", false), of(Some(-0.01), "m", false)]),
            "210"
        );
        assert_eq!(
            order(&[of(Some(0.2), "rms", true), of(Some(0.1), "rms", true), of(Some(9.0), "other", false)]),
            "102"
        );
    }
}
