//! Names of games with a rule file. Requests and answers show the file name without its folder.

use adept_arena::open::same_game;
use std::path::{Component, Path};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prefix of the name of a game with a rule file.
const RULES: &str = "file:";

/// Rule files of the registry: the name of each in requests, and its name in the catalogue.
#[derive(Default)]
pub(crate) struct RuleFiles(Mutex<Vec<(String, String)>>);

impl RuleFiles {
    fn all(&self) -> MutexGuard<'_, Vec<(String, String)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of a game in requests. A rule file gets a name on first use: files with the same rules share one, and
    /// other files with the same name get a number.
    pub(crate) fn name_of(&self, rules: &str) -> String {
        let Some(path) = rules.strip_prefix(RULES) else { return rules.into() };
        let mut all = self.all();
        if let Some((name, _)) = all.iter().find(|(_, known)| known == rules) {
            return name.clone();
        }
        if let Some((name, _)) = all.iter().find(|(_, known)| same_game(known, rules)) {
            return name.clone();
        }
        let path = Path::new(path);
        let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
        let (stem, suffix) = (part(path.file_stem()), part(path.extension()));
        let dot = if suffix.is_empty() { "" } else { "." };
        let mut number = 1;
        let name = loop {
            let behind = if number > 1 { format!("-{number}") } else { String::new() };
            let name = format!("{RULES}{stem}{behind}{dot}{suffix}");
            if all.iter().all(|(known, _)| *known != name) {
                break name;
            }
            number += 1;
        };
        all.push((name.clone(), rules.into()));
        name
    }

    /// The catalogue's name of a game in requests.
    pub(crate) fn rules_of(&self, name: &str) -> String {
        let all = self.all();
        let found = all.iter().find(|(known, _)| known == name);
        found.map_or_else(|| name.into(), |(_, rules)| rules.clone())
    }

    /// Replaces paths of rule files in a message by their names in requests.
    pub(crate) fn without_folders(&self, text: &str) -> String {
        let mut text = text.to_string();
        for (name, rules) in &*self.all() {
            let [name, path] = [name, rules].map(|name| name.strip_prefix(RULES).unwrap_or(name));
            // A path with a single component reveals no folder.
            if Path::new(path).components().filter(|part| *part != Component::CurDir).count() > 1 {
                text = text.replace(path, name);
            }
        }
        text
    }
}

/// A config text in which rule files have no folder.
pub(crate) fn config_without_folder(text: &str) -> String {
    let mut parts = text.split("\"file:");
    let mut config = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (path, rest) = part.split_at(part.find('"').unwrap_or(0));
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        config += &format!("\"file:{name}{rest}");
    }
    config
}

#[cfg(test)]
mod tests {
    use super::{RuleFiles, config_without_folder};

    #[test]
    fn configs_tell_no_folders_of_rule_files() {
        let config = "# file:a/b\n[game]\nrules = \"file:../../secret/my.game\"\nencoder = \"bits\"\n";
        assert_eq!(config_without_folder(config), config.replace("../../secret/", ""));
        assert_eq!(config_without_folder("rules = \"nim\"\n"), "rules = \"nim\"\n");
        assert_eq!(config_without_folder("\"file:"), "\"file:");
    }

    #[test]
    fn rule_files_are_called_by_their_last_part() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            format!("file:{}", path.display())
        };
        let [first, same, other] =
            [file("a/nim.game", "one"), file("b/heaps.game", "one"), file("c/nim.game", "other")];
        let files = RuleFiles::default();
        assert_eq!(files.name_of("backgammon:3"), "backgammon:3");
        assert_eq!(files.name_of(&first), "file:nim.game");
        assert_eq!(files.name_of(&same), "file:nim.game", "the rules are the same");
        assert_eq!(files.name_of(&other), "file:nim-2.game");
        assert_eq!(files.name_of(&first), "file:nim.game");
        assert_eq!(files.rules_of("file:nim.game"), first);
        assert_eq!(files.rules_of("file:nim-2.game"), other);
        // Unregistered names stay unchanged and are refused later.
        assert_eq!(files.rules_of("file:/etc/passwd"), "file:/etc/passwd");
        let said = format!("{first} has 2 players; {}: no such file", other.trim_start_matches("file:"));
        assert_eq!(files.without_folders(&said), "file:nim.game has 2 players; nim-2.game: no such file");
    }
}
