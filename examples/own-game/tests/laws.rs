//! The rules keep what every game promises.

use std::process::Command;

// Under any name of this package, since its folder is copied.
const PROGRAM: &str = env!(concat!("CARGO_BIN_EXE_", env!("CARGO_PKG_NAME")));

#[test]
fn it_keeps_the_laws_of_games() {
    let done =
        Command::new(PROGRAM).args(["list", "games", "--game", "nim", "--check"]).output().expect("it runs");
    let text = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success() && text.contains("nim keeps all laws"), "{text}");
}
