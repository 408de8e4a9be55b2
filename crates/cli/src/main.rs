//! The command `adept`, with the built-in games.

use std::process::ExitCode;

fn main() -> ExitCode {
    adept::main_with(&adept::Builtin)
}
