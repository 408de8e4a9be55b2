//! Runs the programs of the folder `examples` as users do.

use std::path::PathBuf;
use std::process::Command;

/// The output of the example with this name. Cargo builds examples next to the tests.
fn printed(name: &str) -> String {
    let mut path = std::env::current_exe().expect("a path");
    path.pop();
    path.set_file_name("examples");
    let program: PathBuf = path.join(name);
    assert!(program.exists(), "{} is not built: cargo test -p adept-games builds it", program.display());
    let output = Command::new(program).output().expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn each_example_shows_what_it_is_for() {
    for (name, says) in [
        ("own_game_table", "18 matches: take 1, 2 or 3 is worth"),
        ("own_game_network", "20000 games; equity against random play"),
        ("network_from_code", "65 parameters"),
        ("experts_and_gates", "gates"),
        ("against_an_oracle", "kleinman loses"),
        ("bot", "bearoff learned from"),
        ("own_encoder", "four inputs of open lines"),
    ] {
        let text = printed(name);
        assert!(text.contains(says), "{name}: {text}");
    }
}
