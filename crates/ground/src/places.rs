//! Finds published networks and tables on this machine.
//!
//! Each place is a folder that may hold `checkpoints/` and `datasets/`. They are searched in this order: the working folder,
//! `ADEPT_HOME`, the user's data folder by the convention of the platform, the folder of the program, `../share/adept` beside it.

use directories::ProjectDirs;
use std::path::{Component, Path, PathBuf};

/// The variable of the environment that names a folder with `checkpoints` and `datasets`.
pub(crate) const HOME: &str = "ADEPT_HOME";

/// The folders that are searched, in this order. The first is empty: the working folder, so that its paths stay relative.
pub fn places() -> Vec<PathBuf> {
    let home = std::env::var_os(HOME).filter(|home| !home.is_empty()).map(PathBuf::from);
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.to_path_buf()));
    let share = beside.as_ref().and_then(|folder| Some(folder.parent()?.join("share").join("adept")));
    let data = user().map(|user| user.data_dir().to_path_buf());
    let mut all = vec![PathBuf::new()];
    for place in [home, data, beside, share].into_iter().flatten() {
        if !all.contains(&place) {
            all.push(place);
        }
    }
    all
}

fn user() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "adept")
}

/// Whether a path leads from a folder into it: it is relative, without `..`.
pub fn leads_into(path: &Path) -> bool {
    !path.as_os_str().is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// A file at its path in the first place that has it, such as `datasets/race-8.bd`. A path that does not lead into a folder is
/// searched nowhere else.
pub fn find(file: &Path) -> Option<PathBuf> {
    let searched = if leads_into(file) { places() } else { vec![PathBuf::new()] };
    searched.into_iter().map(|place| place.join(file)).find(|path| path.exists())
}

/// The places in words, for messages: where `inside` is, such as `checkpoints`.
pub fn in_words(inside: &str) -> String {
    let shown = |place: PathBuf| match place.as_os_str().is_empty() {
        true => format!("the working folder ({inside})"),
        false => place.join(inside).display().to_string(),
    };
    let mut words: Vec<String> = places().into_iter().map(shown).collect();
    if std::env::var_os(HOME).is_none() {
        words.insert(1, format!("{HOME} (not set)"));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_working_folder_is_searched_first_and_paths_out_of_it_nowhere_else() {
        assert_eq!(places()[0], Path::new(""));
        // Tests run in the folder of their package.
        assert_eq!(find(Path::new("Cargo.toml")), Some("Cargo.toml".into()));
        assert_eq!(find(Path::new("no/such/file")), None);
        // The folder of the program holds the file of this test.
        let own = std::env::current_exe().unwrap();
        assert_eq!(find(Path::new(own.file_name().unwrap())), Some(own.clone()));
        assert_eq!(find(&own), Some(own));
        assert!(!leads_into(Path::new("../x")) && !leads_into(Path::new("")) && leads_into(Path::new("a/b")));
        assert!(in_words("checkpoints").starts_with("the working folder (checkpoints), "));
    }
}
