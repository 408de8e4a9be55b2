//! Records the revision of the source, which checkpoints name.

use std::process::Command;

fn main() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok().filter(|o| o.status.success())?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let revision = git(&["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"])
        .unwrap_or_else(|| "unknown".into());
    println!("cargo::rustc-env=ADEPT_REVISION={revision}");
    // Without a repository there is nothing to watch. With one, watch HEAD and the reference it points to.
    if let Some(folder) = git(&["rev-parse", "--absolute-git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
}
