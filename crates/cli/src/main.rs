//! The command `adept`, with the built-in games and the reproductions of papers.

mod networks;

use std::process::ExitCode;

fn main() -> ExitCode {
    adept::model::checkpoint::add_inside(networks::NETWORKS);
    adept::main_with_tools(&adept::Builtin, &[&adept::Reproduce(&adept_papers::ALL)])
}
