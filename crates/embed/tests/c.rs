//! The example in C, compiled and linked as its first lines say.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder with the library, where cargo put it beside this test.
fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let name = format!("{}adept_embed{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    assert!(deps.join(&name).exists(), "{} holds no {name}", deps.display());
    deps
}

#[test]
fn the_example_in_c_plays() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let program = folder.path().join("best_move");
    let compiled = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
        .arg(root.join("include"))
        .arg(root.join("examples/best_move.c"))
        .arg("-L")
        .arg(&library)
        .args(["-ladept_embed", "-o"])
        .arg(&program)
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = |checkpoint: &str, position: &str| -> Output {
        Command::new(&program)
            .arg(root.join("../../checkpoints/bearoff").join(checkpoint))
            .arg(position)
            .env("LD_LIBRARY_PATH", &library)
            .env("DYLD_LIBRARY_PATH", &library)
            .output()
            .unwrap()
    };
    let played = run("residual-10", "0,0,0,0,1,1/0,0,0,0,0,2 65");
    let text = String::from_utf8(played.stdout).unwrap();
    assert_eq!(
        text,
        "6/off 5/off leaves 0,0,0,0,0,2/0,0,0,0,0,0, worth +1.0000 (of the best move: +1.0000)\n"
    );
    let refused = run("residual-10", "0,0,0,0,1,1/0,0,0,0,0,2");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("roll"));
    assert_eq!(run("nothing", "0,0,0,0,1,1/0,0,0,0,0,2 65").status.code(), Some(1));
}
