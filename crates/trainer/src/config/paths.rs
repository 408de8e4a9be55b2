//! Paths in config files are relative to the file.
//!
//! [`Place`] turns them into paths from the current folder, which is how a config in memory has them. What `--set` gives is
//! relative to the current folder already.

use super::{Config, Examples, Method};
use adept_arena::agents::map_path as map_agent;
use adept_arena::open;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// A path in a config.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    /// The dotted key of its setting.
    pub key: &'a str,
    /// The path, as it is written.
    pub path: &'a str,
    /// Whether it may be something else: the name of an agent, of a valuation or of a run.
    pub or_name: bool,
}

/// Where the paths of a config file lead.
#[derive(Debug)]
pub struct Place<'a> {
    folder: PathBuf,
    given: &'a [String],
    notes: Vec<String>,
}

impl<'a> Place<'a> {
    /// For a file of this name, in which `given` are the keys that the command line sets.
    pub(super) fn new(file: &str, given: &'a [String]) -> Self {
        let folder = Path::new(file).parent().unwrap_or(Path::new(""));
        let folder = folder.components().filter(|part| *part != Component::CurDir).collect();
        Self { folder, given, notes: Vec::new() }
    }

    /// The paths that were found in the current folder only.
    pub(super) fn into_notes(self) -> Vec<String> {
        self.notes
    }

    /// The path from the current folder; none if it stays as it is. `is_name` says whether the game knows an agent or a valuation of
    /// this name.
    pub fn find(&mut self, spot: Spot<'_>, is_name: impl Fn(&str) -> bool) -> Option<String> {
        let Spot { key, path, or_name } = spot;
        let begins = |long: &str, short: &str| {
            long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_given = self.given.iter().any(|given| begins(key, given) || begins(given, key));
        if is_given || path.is_empty() || Path::new(path).is_absolute() || self.folder.as_os_str().is_empty()
        {
            return None;
        }
        let beside = join(&self.folder, Path::new(path));
        let (is_beside, is_here) = (beside.exists(), Path::new(path).exists());
        if !is_beside && (or_name || is_here) {
            if is_here && !(or_name && is_name(path)) {
                self.notes.push(format!(
                    "`{key}`: `{path}` is not beside the config, to which its paths are relative; the one in the current folder is \
                     used"
                ));
            }
            return None;
        }
        if or_name && is_name(path) {
            return None;
        }
        beside.into_os_string().into_string().ok()
    }
}

/// A path from a folder. `..` is resolved where that leads out of a folder that is not a link.
fn join(folder: &Path, path: &Path) -> PathBuf {
    let mut joined = folder.to_path_buf();
    for part in path.components() {
        let is_folder = matches!(joined.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::CurDir => {}
            Component::ParentDir if is_folder && !joined.is_symlink() => {
                joined.pop();
            }
            part => joined.push(part),
        }
    }
    joined
}

/// Whether both paths lead to the same file, which exists.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// A path as seen from a folder, both given from the current folder. An absolute path stays.
pub(crate) fn seen_from(folder: &Path, path: &Path) -> Option<PathBuf> {
    let (folder, file) = (folder.canonicalize().ok()?, path.canonicalize().ok()?);
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    Some(up.chain(file.components().skip(shared)).collect())
}

impl Config {
    /// Replaces each path for which `change` has another.
    pub(crate) fn change_paths(&mut self, change: &mut dyn FnMut(Spot<'_>) -> Option<String>) {
        let mut file = |key: &str, path: &str| change(Spot { key, path, or_name: false });
        if let Some(path) = self.game.rules.strip_prefix("file:")
            && let Some(path) = file("game.rules", path)
        {
            self.game.rules = format!("file:{path}");
        }
        let examples = match &mut self.learn.method {
            Method::Td(td) => td.examples.as_mut().map(|e| ("learn.td.examples", e)),
            Method::Supervised(supervised) => {
                supervised.examples.as_mut().map(|e| ("learn.supervised.examples", e))
            }
            Method::Expectation(_) | Method::Regrets(_) => None,
        };
        if let Some((key, Examples::File(path))) = examples
            && let Some(new) = path.to_str().and_then(|path| file(key, path))
        {
            *path = new.into();
        }
        let mut name = |key: &str, path: &str| change(Spot { key, path, or_name: true });
        if let Some(encoder) = &mut self.game.encoder {
            *encoder = open::map_paths(encoder, &mut |path| name("game.encoder", path));
        }
        // The name of an agent alone is no path, because a config names no checkpoints.
        let mut agent = |key: &str, text: &mut String| {
            let whole = text.clone();
            *text = map_agent(&whole, &mut |path| if path == whole { None } else { name(key, path) });
        };
        if let Method::Td(td) = &mut self.learn.method {
            agent("learn.td.against", &mut td.against);
            for (i, text) in td.field.iter_mut().flatten().enumerate() {
                agent(&format!("learn.td.field.{i}"), text);
            }
        }
        for (i, text) in self.evaluate.against.iter_mut().flatten().enumerate() {
            agent(&format!("evaluate.against.{i}"), text);
        }
    }

    /// The paths by key, as they are written.
    fn paths(&self) -> HashMap<String, String> {
        let mut all = HashMap::new();
        self.clone().change_paths(&mut |spot| {
            all.insert(spot.key.into(), spot.path.into());
            None
        });
        all
    }

    /// The current folder, if a path in this config is relative to it and exists.
    pub fn folder_of_paths(&self) -> Option<PathBuf> {
        let is_relative = |path: &String| Path::new(path).is_relative() && Path::new(path).exists();
        self.paths().values().any(is_relative).then(|| std::env::current_dir().ok())?
    }

    /// This config, whose paths are relative to `base`, with each path written as in `other` where both lead to the same file.
    /// The paths of `other` are relative to `other_base`; an empty base is the current folder.
    pub fn with_paths_of(&self, base: &Path, other: &Self, other_base: &Path) -> Self {
        let (mut same, others) = (self.clone(), other.paths());
        same.change_paths(&mut |spot| {
            let path = others.get(spot.key)?;
            is_same_file(&base.join(spot.path), &other_base.join(path)).then(|| path.clone())
        });
        same
    }

    /// The config for a file in this folder: its paths are relative to it. They were relative to `base`.
    pub(crate) fn for_folder(&self, folder: &Path, base: &Path) -> Self {
        let mut moved = self.clone();
        moved.change_paths(&mut |spot| {
            let path = Path::new(spot.path);
            let seen = path.is_relative().then(|| seen_from(folder, &base.join(path)))??;
            seen.into_os_string().into_string().ok()
        });
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn paths_are_beside_the_file_or_here_or_given() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("data.csv"), "").unwrap();
        fs::create_dir(folder.path().join("configs")).unwrap();
        fs::write(folder.path().join("configs/near.csv"), "").unwrap();
        let base = folder.path().to_str().unwrap();
        let find = |file: &str, given: &[String], key, path, or_name| {
            let mut place = Place::new(file, given);
            let found = place.find(Spot { key, path, or_name }, |name| name == "known");
            (found, place.into_notes().len())
        };
        let config = format!("{base}/configs/my.toml");
        let beside = |path: &str| Some(format!("{base}/{path}"));
        let given = ["learn.td".to_string()];
        assert_eq!(find(&config, &[], "k", "near.csv", false), (beside("configs/near.csv"), 0));
        assert_eq!(find(&config, &[], "k", "../data.csv", false), (beside("data.csv"), 0));
        assert_eq!(find(&config, &given, "learn.td.examples", "near.csv", false), (None, 0));
        assert_eq!(find(&config, &given, "learn.tdx", "near.csv", false), (beside("configs/near.csv"), 0));
        // Neither here nor there: a file is expected beside the config, a name stays.
        assert_eq!(find(&config, &[], "k", "none.csv", false), (beside("configs/none.csv"), 0));
        assert_eq!(find(&config, &[], "k", "none", true), (None, 0));
        // In the current folder, which is that of the crate.
        assert_eq!(find(&config, &[], "k", "Cargo.toml", false), (None, 1));
        assert_eq!(find("my.toml", &[], "k", "Cargo.toml", false), (None, 0));
        assert_eq!(find("./my.toml", &[], "k", "Cargo.toml", false), (None, 0));
        assert_eq!(find("./src/my.toml", &[], "k", "lib.rs", false), (Some("src/lib.rs".into()), 0));
        assert_eq!(find(&config, &[], "k", config.as_str(), false), (None, 0));
        // What the game knows is not a path, even if a file has its name.
        fs::write(folder.path().join("configs/known"), "").unwrap();
        assert_eq!(find(&config, &[], "k", "known", true), (None, 0));
        assert_eq!(find(&config, &[], "k", "known", false), (beside("configs/known"), 0));
    }

    #[test]
    fn paths_are_seen_from_other_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("runs/x-1")).unwrap();
        fs::write(at("data.csv"), "").unwrap();
        assert_eq!(seen_from(&at("runs/x-1"), &at("data.csv")), Some("../../data.csv".into()));
        assert_eq!(seen_from(&at("runs"), &at("runs/x-1")), Some("x-1".into()));
        assert_eq!(seen_from(&at("runs"), &at("none")), None);
    }
}
