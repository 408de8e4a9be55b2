//! The program as its users run it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

// Under any name of this package, since its folder is copied.
const PROGRAM: &str = env!(concat!("CARGO_BIN_EXE_", env!("CARGO_PKG_NAME")));

/// What a command prints, run in the folder of this package.
fn says(arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(PROGRAM);
    let done = command.args(arguments).current_dir(folder).stdin(Stdio::null()).output().expect("it runs");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{arguments:?}\n{text}{}", String::from_utf8_lossy(&done.stderr));
    text
}

#[test]
fn a_game_with_dice_has_every_command() {
    let out = std::env::temp_dir().join(format!("adept-dice-game-{}", std::process::id()));
    let run = out.to_str().expect("a path in UTF-8");
    assert!(says(&["list", "games"]).contains("pig-20"));
    assert!(says(&["list", "games", "--game", "pig-20", "--check"]).contains("pig-20 keeps all laws"));
    assert!(says(&["config", "check", "pig.toml"]).contains("pig is fine"));
    // The shorter race learns in a second.
    let short =
        ["--set", "game.rules=pig-20", "--set", "learn.td.games=10000", "--set", "evaluate.every=5000"];
    let few = [
        "--set",
        "learn.rate=0.01",
        "--set",
        "evaluate.games=100",
        "--set",
        "evaluate.positions=500",
        "--out",
        run,
    ];
    says(&[&["train", "pig.toml"], &short[..], &few].concat());

    let moves = says(&["value", run, "5 0 +5 @1", "--json"]);
    assert!(moves.contains("\"roll\"") && moves.contains("\"hold\""), "{moves}");

    let report =
        says(&["evaluate", run, "--suite", "rms", "--suite", "move-loss", "--samples", "500", "--json"]);
    let report: String = report.split_whitespace().collect();
    let rms = report.split("\"rms\":").find_map(|part| part.split([',', '}']).next()?.parse::<f64>().ok());
    assert!(rms.is_some_and(|rms| rms < 0.3), "{report}");
    assert!(report.contains("loss_per_decision"), "{report}");

    let mut play = Command::new(PROGRAM)
        .args(["play", run, "--seed", "1"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it runs");
    play.stdin.take().expect("a pipe").write_all(b"roll\nhold\nquit\n").expect("it reads");
    let played = play.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&played.stdout);
    assert!(played.status.success() && text.contains("roll"), "{text}");
    std::fs::remove_dir_all(out).expect("the run is there");
}
