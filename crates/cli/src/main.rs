//! The command `adept`, with the built-in games and the reproductions of papers.

use std::process::ExitCode;

fn main() -> ExitCode {
    adept::main_with_tools(&adept::Builtin, &[&adept::Reproduce(&adept_papers::ALL)])
}
