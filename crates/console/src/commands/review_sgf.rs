//! Files of matches with the values of a review: `review --sgf`.

use adept_ground::files::{self, Files};
use adept_lab::review::Review;
use anyhow::{Result, bail};
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Refuses to write over a file that is to be reviewed, or several files to one.
pub(super) fn check(out: &Path, files: &[PathBuf]) -> Result<()> {
    if out.is_file() && (files.len() > 1 || files.iter().any(|file| file.is_dir())) {
        bail!(
            "{}: this is a file, and several matches need a folder: name another with --sgf",
            out.display()
        );
    }
    keep_input("--sgf", out, files)
}

/// Refuses to write over a file that is reviewed.
pub(super) fn keep_input(option: &str, out: &Path, files: &[PathBuf]) -> Result<()> {
    if !out.is_dir() && is_one_of(out, files) {
        bail!("{}: this file is reviewed, and {option} would write over it", out.display());
    }
    Ok(())
}

/// Writes the texts of a review to a file, or to files in a folder if there are several or the folder exists. Returns what is said of it.
pub(super) fn write(files: &Files, out: &Path, found: &Review) -> Result<String> {
    let ends_in_separator = out
        .as_os_str()
        .as_encoded_bytes()
        .last()
        .is_some_and(|end| std::path::is_separator(char::from(*end)));
    let is_folder = found.files.len() > 1 || out.is_dir() || ends_in_separator;
    let mut names = HashSet::new();
    let mut written = Vec::new();
    for (place, text) in &found.judged {
        let path = match is_folder {
            true => out.join(free_name(&found.files[*place], &mut names)),
            false => out.to_path_buf(),
        };
        keep_input("--sgf", &path, &found.files)?;
        written.push((path, text));
    }
    files.create_folder(if is_folder { out } else { files::parent(out) })?;
    for (path, text) in &written {
        files.replace(path, text.as_bytes())?;
    }
    Ok(match written.len() {
        1 => format!("\nwritten: {}\n", written[0].0.display()),
        count => format!("\nwritten: {count} files in {}\n", out.display()),
    })
}

/// Whether a path is that of one of these files.
fn is_one_of(path: &Path, files: &[PathBuf]) -> bool {
    let Ok(path) = path.canonicalize() else { return false };
    files.iter().any(|file| file.canonicalize().is_ok_and(|file| file == path))
}

/// The name of a file with the ending `sgf`; where several have it, with a number.
fn free_name(file: &Path, names: &mut HashSet<OsString>) -> OsString {
    let stem = file.file_stem().unwrap_or_else(|| OsStr::new("match"));
    let numbered = |number: usize| {
        let mut name = stem.to_os_string();
        if number > 1 {
            name.push(format!("-{number}"));
        }
        name.push(".sgf");
        name
    };
    let mut number = 1;
    while !names.insert(numbered(number)) {
        number += 1;
    }
    numbered(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_get_numbers() {
        let mut names = HashSet::new();
        let files = ["a/x.mat", "b/x.xg", "c/y.sgf", "x-2.mat", "x"];
        let named = files.map(|file| free_name(Path::new(file), &mut names).into_string().unwrap());
        assert_eq!(named, ["x.sgf", "x-2.sgf", "y.sgf", "x-2-2.sgf", "x-3.sgf"]);
    }
}
