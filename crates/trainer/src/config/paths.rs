//! Paths in config files are relative to the file.
//!
//! [`Place`] turns them into paths from the current folder, which is how a config in memory has them. What `--set` gives is
//! relative to the current folder already.

use super::{Config, EXAMPLES_FILE, Examples, ExpectationSettings, Method, RARE_FILE, SCREEN, SELF};
use adept_arena::naming::map_path as map_agent;
use adept_arena::open;
use adept_model::checkpoint;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// A path in a config.
#[derive(Clone, Copy, Debug)]
pub struct Spot<'a> {
    /// The dotted key of its setting.
    pub key: &'a str,
    /// The path, as it is written.
    pub path: &'a str,
    /// What it may lead to.
    pub to: To,
}

/// What a path in a config may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// A file or folder.
    File,
    /// A file or folder, or something of this name that the game knows, which goes before it.
    Known,
    /// A checkpoint or run, which goes before an agent of this name.
    Agent,
}

impl To {
    /// For a path of an agent's name: `is_file` says that it is the file of `KIND:FILE`.
    pub fn of_agent(is_file: bool) -> Self {
        if is_file { Self::Known } else { Self::Agent }
    }

    /// Whether this is there. It may be a name by chance: then an unrelated folder means nothing.
    fn is_at(self, path: &Path) -> bool {
        match self {
            Self::File | Self::Known => path.exists(),
            Self::Agent => checkpoint::is_at(path).unwrap_or(true),
        }
    }
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
        let Spot { key, path, to } = spot;
        let begins = |long: &str, short: &str| {
            long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let is_given = self.given.iter().any(|given| begins(key, given) || begins(given, key));
        if is_given || path.is_empty() || Path::new(path).is_absolute() || self.folder.as_os_str().is_empty()
        {
            return None;
        }
        let beside = join(&self.folder, Path::new(path));
        let (is_beside, is_here) = (to.is_at(&beside), to.is_at(Path::new(path)));
        let goes_before = to == To::Known && is_name(path);
        if !is_beside && (to != To::File || is_here) {
            if is_here && !goes_before {
                self.notes.push(format!(
                    "`{key}`: `{path}` is not beside the config, to which its paths are relative; the one in the current folder is \
                     used"
                ));
            }
            return None;
        }
        if goes_before {
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
        let mut file = |key: &str, path: &str| change(Spot { key, path, to: To::File });
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
        if let Method::Expectation(ExpectationSettings { rare: Some(rare), .. }) = &mut self.learn.method
            && let Some(path) = &mut rare.file
            && let Some(new) = path.to_str().and_then(|path| file(RARE_FILE, path))
        {
            *path = new.into();
        }
        if let Method::Expectation(ExpectationSettings { examples: Some(mixed), .. }) = &mut self.learn.method
            && let Some(new) = mixed.file.to_str().and_then(|path| file(EXAMPLES_FILE, path))
        {
            mixed.file = new.into();
        }
        if let Some(encoder) = &mut self.game.encoder {
            *encoder = open::map_paths(encoder, &mut |path| {
                change(Spot { key: "game.encoder", path, to: To::Known })
            });
        }
        let mut agent = |key: &str, text: &mut String| {
            if text != SELF {
                let found = |path: &str, is_file| change(Spot { key, path, to: To::of_agent(is_file) });
                *text = map_agent(text, &mut { found });
            }
        };
        if let Method::Td(td) = &mut self.learn.method {
            agent("learn.td.against", &mut td.against);
            for (i, text) in td.field.iter_mut().flatten().enumerate() {
                agent(&format!("learn.td.field.{i}"), text);
            }
        }
        if let Method::Expectation(ExpectationSettings { screen: Some(screen), .. }) = &mut self.learn.method
        {
            agent(SCREEN, &mut screen.checkpoint);
        }
        for (i, text) in self.evaluate.against.iter_mut().flatten().enumerate() {
            agent(&format!("evaluate.against.{i}"), text);
        }
    }

    /// The paths by key, as they are written, with what they may lead to.
    fn paths(&self) -> HashMap<String, (String, To)> {
        let mut all = HashMap::new();
        self.clone().change_paths(&mut |spot| {
            all.insert(spot.key.into(), (spot.path.into(), spot.to));
            None
        });
        all
    }

    /// The current folder, if a path in this config is relative to it and leads to something.
    pub fn folder_of_paths(&self) -> Option<PathBuf> {
        let leads = |(path, to): &(String, To)| Path::new(path).is_relative() && to.is_at(Path::new(path));
        self.paths().values().any(leads).then(|| std::env::current_dir().ok())?
    }

    /// This config, whose paths are relative to `base`, with each path written as in `other` where both lead to the same file.
    /// The paths of `other` are relative to `other_base`; an empty base is the current folder.
    pub fn with_paths_of(&self, base: &Path, other: &Self, other_base: &Path) -> Self {
        let (mut same, others) = (self.clone(), other.paths());
        same.change_paths(&mut |spot| {
            let (path, _) = others.get(spot.key)?;
            is_same_file(&base.join(spot.path), &other_base.join(path)).then(|| path.clone())
        });
        same
    }

    /// The config for a file in this folder: its paths are relative to it. They were relative to `base`.
    pub fn for_folder(&self, folder: &Path, base: &Path) -> Self {
        self.moved(folder, base, |spot| Path::new(spot.path).is_relative())
    }

    /// The config for others to read: what it names is shown as seen from this folder, even where the path is absolute. The rules
    /// and inputs of its game stay. Relative paths were relative to `base`.
    pub fn for_others(&self, folder: &Path, base: &Path) -> Self {
        let mut shown = self.moved(folder, base, |spot| !spot.key.starts_with("game."));
        let given = self.paths();
        shown.change_paths(&mut |spot| {
            // Of what is elsewhere on this machine, or is gone, only the name is for others.
            let was_absolute = given.get(spot.key).is_some_and(|(path, _)| Path::new(path).is_absolute());
            let path = Path::new(spot.path);
            let is_below = path.is_relative() && !path.starts_with("..");
            let hides = !spot.key.starts_with("game.") && was_absolute && !is_below;
            hides.then(|| path.file_name()?.to_str().map(String::from))?
        });
        shown
    }

    fn moved(&self, folder: &Path, base: &Path, which: impl Fn(&Spot<'_>) -> bool) -> Self {
        let mut moved = self.clone();
        moved.change_paths(&mut |spot| {
            let path = base.join(spot.path);
            let leads = which(&spot) && spot.to.is_at(&path);
            let seen = leads.then(|| seen_from(folder, &path))??;
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
        let find = |file: &str, given: &[String], key, path, to| {
            let mut place = Place::new(file, given);
            let found = place.find(Spot { key, path, to }, |name| name == "known");
            (found, place.into_notes().len())
        };
        let config = format!("{base}/configs/my.toml");
        let beside = |path: &str| Some(format!("{base}/{path}"));
        let given = ["learn.td".to_string()];
        assert_eq!(find(&config, &[], "k", "near.csv", To::File), (beside("configs/near.csv"), 0));
        assert_eq!(find(&config, &[], "k", "../data.csv", To::File), (beside("data.csv"), 0));
        assert_eq!(find(&config, &given, "learn.td.examples", "near.csv", To::File), (None, 0));
        assert_eq!(find(&config, &given, "learn.tdx", "near.csv", To::File), (beside("configs/near.csv"), 0));
        // Neither here nor there: a file is expected beside the config, a name stays.
        assert_eq!(find(&config, &[], "k", "none.csv", To::File), (beside("configs/none.csv"), 0));
        assert_eq!(find(&config, &[], "k", "none", To::Known), (None, 0));
        // In the current folder, which is that of the crate.
        assert_eq!(find(&config, &[], "k", "Cargo.toml", To::File), (None, 1));
        assert_eq!(find("my.toml", &[], "k", "Cargo.toml", To::File), (None, 0));
        assert_eq!(find("./my.toml", &[], "k", "Cargo.toml", To::File), (None, 0));
        assert_eq!(find("./src/my.toml", &[], "k", "lib.rs", To::File), (Some("src/lib.rs".into()), 0));
        assert_eq!(find(&config, &[], "k", config.as_str(), To::File), (None, 0));
        // What the game knows is not a path, even if a file has its name.
        fs::write(folder.path().join("configs/known"), "").unwrap();
        assert_eq!(find(&config, &[], "k", "known", To::Known), (None, 0));
        assert_eq!(find(&config, &[], "k", "known", To::File), (beside("configs/known"), 0));
        // A checkpoint or run goes before an agent of that name; another folder means nothing.
        assert_eq!(find(&config, &[], "k", "known", To::Agent), (None, 0));
        fs::remove_file(folder.path().join("configs/known")).unwrap();
        fs::create_dir(folder.path().join("configs/known")).unwrap();
        assert_eq!(find(&config, &[], "k", "known", To::Agent), (None, 0));
        fs::write(folder.path().join("configs/known/run.json"), "").unwrap();
        assert_eq!(find(&config, &[], "k", "known", To::Agent), (beside("configs/known"), 0));
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

        // For others, absolute paths are shown so too; names stay.
        let text = |against: &str| {
            format!(
                "name = \"x\"\ngame.rules = \"tictactoe\"\narchitecture.mlp = {{ hidden = [4] }}\nlearn = {{ rate = 0.1, td = {{ games = 9 }} }}\n\
                 evaluate.against = [{against}]"
            )
        };
        let config = |against: &str| toml::from_str::<Config>(&text(against)).unwrap();
        fs::write(at("runs/x-1/run.json"), "").unwrap();
        let written = config(&format!("\"random\", {:?}", at("runs/x-1")));
        assert_eq!(written.for_others(folder.path(), Path::new("")), config("\"random\", \"runs/x-1\""));
        assert_eq!(written.for_folder(folder.path(), Path::new("")), written);
        // What is elsewhere, or gone.
        fs::create_dir(at("here")).unwrap();
        assert_eq!(written.for_others(&at("here"), Path::new("")), config("\"random\", \"x-1\""));
        let gone = config("\"/gone/for/good\"");
        assert_eq!(gone.for_others(folder.path(), Path::new("")), config("\"good\""));
    }
}
