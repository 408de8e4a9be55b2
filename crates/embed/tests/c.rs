//! Compiles and links the C example as its first lines say, and runs it.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The folder in which cargo put the library, beside this test.
fn library() -> PathBuf {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    let name = format!("{}adept_embed{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    assert!(deps.join(&name).exists(), "{} holds no {name}", deps.display());
    deps
}

#[test]
fn the_examples_in_c_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (folder, library) = (tempfile::tempdir().unwrap(), library());
    let built = |example: &str, linked: &[&str]| {
        let program = folder.path().join(format!("{example}-{}", linked.len()));
        let compiled = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I"])
            .arg(root.join("include"))
            .arg(root.join(format!("examples/{example}.c")))
            .arg("-L")
            .arg(&library)
            .args(linked)
            .arg("-o")
            .arg(&program)
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        program
    };
    let program = built("best_move", &["-ladept_embed"]);
    let play = |program: &Path, checkpoint: &str, position: &str| -> Output {
        let path = match checkpoint.starts_with("search:") {
            true => checkpoint.into(),
            false => root.join("../../checkpoints").join(checkpoint),
        };
        Command::new(program)
            .arg(path)
            .arg(position)
            .env("LD_LIBRARY_PATH", &library)
            .env("DYLD_LIBRARY_PATH", &library)
            .output()
            .unwrap()
    };
    let decision = "0,0,0,0,1,1/0,0,0,0,0,2 65";
    let mut programs = vec![program.clone()];
    if cfg!(target_os = "linux") {
        programs.push(built("best_move", &["-l:libadept_embed.a", "-lm", "-lpthread", "-ldl"]));
    }
    for program in &programs {
        let text = String::from_utf8(play(program, "bearoff/residual-10", decision).stdout).unwrap();
        assert_eq!(
            text,
            "6/off 5/off leaves 0,0,0,0,0,2/0,0,0,0,0,0, worth +1.0000 (of the best move: +1.0000)\n"
        );
    }
    // A network whose priors lie in its own folder, from another folder.
    let packed = Command::new(&program)
        .arg(root.join("tests/data/corrected"))
        .arg("1,1,0,0,0,0/0,0,0,1,0,0 65")
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", &library)
        .env("DYLD_LIBRARY_PATH", &library)
        .output()
        .unwrap();
    let text = String::from_utf8(packed.stdout).unwrap();
    assert!(text.starts_with("2/off 1/off leaves 0,0,0,1,0,0/0,0,0,0,0,0, worth +1.0000"), "{text}");
    // With a search, the value is that of `adept value search:2:… `, which the test of the library compares.
    let ahead = format!("search:2:{}", root.join("../../checkpoints/bearoff/residual-10").display());
    let model = adept_embed::Model::open(ahead.as_ref()).unwrap();
    let decision_ahead = "1,1,0,0,0,1/0,0,0,0,0,2 65";
    let best = model.choose(decision_ahead).unwrap().unwrap();
    let text = String::from_utf8(play(&program, &ahead, decision_ahead).stdout).unwrap();
    let wanted = format!("{} leaves {}, worth {:+.4} ", best.action, best.after, best.value);
    assert!(text.starts_with(&wanted), "{text}");
    // A text of more than 64 bytes comes in whole.
    let hand = "rccccc/crccccrccccc/crccccrccccc/crccccrc:||Kd2d|||/2c7dTs/9c/3d";
    let text = String::from_utf8(play(&program, "holdem/limit-6", hand).stdout).unwrap();
    let after = "rccccc/crccccrccccc/crccccrccccc/crccccrcf:||Kd2d|||/2c7dTs/9c/3d";
    assert!(text.starts_with(&format!("fold leaves {after}, worth -0.0793 ")), "{text}");
    built("speed", &["-ladept_embed"]);
    let run = |checkpoint: &str, position: &str| play(&program, checkpoint, position);
    let refused = run("bearoff/residual-10", "0,0,0,0,1,1/0,0,0,0,0,2");
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("roll"));
    assert_eq!(run("nothing", "0,0,0,0,1,1/0,0,0,0,0,2 65").status.code(), Some(1));
}
