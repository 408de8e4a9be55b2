//! Portability: clones, published networks, configs in other folders.

use adept_model::checkpoint;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Runs git in a folder; its output if it succeeds.
fn git(folder: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// All folders below that hold a checkpoint.
fn checkpoints_in(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if path.join("manifest.json").exists() {
            found.push(path.clone());
        }
        if path.is_dir() {
            checkpoints_in(&path, found);
        }
    }
}

/// With `core.autocrlf`, git's default on Windows, no file is converted: every published checkpoint still has its checksums.
#[test]
fn clones_with_autocrlf_keep_every_byte() {
    let root = root();
    let top = git(&root, &["rev-parse", "--show-toplevel"]);
    if top.and_then(|top| Path::new(top.trim()).canonicalize().ok()).as_ref() != Some(&root) {
        eprintln!("skipped: {} is not a clone", root.display());
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone");
    let [from, to] = [&root, &clone].map(|path| path.to_str().unwrap());
    let settings = ["-c", "core.autocrlf=true", "-c", "core.symlinks=true"];
    let cloned = git(&root, &[&["clone", "--quiet", "--no-checkout"], &settings[..], &[from, to]].concat());
    assert!(cloned.is_some(), "git cannot clone {from}");
    // The current attributes, committed or not.
    std::fs::create_dir_all(clone.join(".git/info")).unwrap();
    std::fs::copy(root.join(".gitattributes"), clone.join(".git/info/attributes")).unwrap();
    assert!(git(&clone, &["checkout", "--quiet", "HEAD"]).is_some());
    let endings = git(&clone, &["ls-files", "--eol"]).unwrap();
    let converted = |line: &&str| {
        let mut words = line.split_whitespace();
        let [stored, here] = [words.next(), words.next()].map(|word| word.unwrap_or_default());
        stored.strip_prefix("i/") != here.strip_prefix("w/")
    };
    let all: Vec<&str> = endings.lines().filter(converted).collect();
    assert!(endings.lines().count() > 100 && all.is_empty(), "converted: {all:#?}");
    let mut found = Vec::new();
    checkpoints_in(&clone.join("checkpoints"), &mut found);
    let published = git(&clone, &["ls-files", "checkpoints/*/manifest.json"]).unwrap();
    assert_eq!(found.len(), published.lines().count());
    assert!(!found.is_empty());
    for path in found {
        checkpoint::read(&path).unwrap_or_else(|e| panic!("{e}"));
    }
}
