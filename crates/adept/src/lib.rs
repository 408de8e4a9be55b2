//! `adept` trains, measures and plays evaluation functions for games. It is a library, and a command line for
//! the built-in games and your own.
//!
//! A program adds its own game to all commands in one line:
//!
//! ```no_run
//! # use adept::tictactoe::TicTacToe as Nim;
//! # let nim = Nim;
//! # let _ =
//! adept::main_with(&(adept::Builtin, adept::One(nim)));
//! ```
//!
//! [`prelude`] has the names that most programs need. The other crates are re-exported as modules: [`game`] for
//! rules and encoders, [`model`] for networks, [`arena`] for agents and exact measures, [`trainer`] for
//! experiments and runs, [`lab`] for the functions behind the commands.

mod args;
mod builtin;
mod commands;
mod output;
pub mod prelude;
mod progress;

pub use adept_arena as arena;
pub use adept_builtin::{bearoff, connect_four, liars_dice, tictactoe};
pub use adept_game as game;
pub use adept_lab as lab;
pub use adept_lab::{AnyGame, Catalogue, One};
pub use adept_model as model;
pub use adept_trainer as trainer;
pub use builtin::Builtin;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use commands as run;
use std::process::ExitCode;

/// Options that help against an error of this kind, if the command of this process has them. Libraries say what to do, and
/// this says how.
fn hint(kind: &str) -> Option<String> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let best = given.iter().any(|arg| arg == "--best");
    let advice: &[(&str, &str)] = match kind {
        "folder" => &[
            ("out", "--out chooses another place"),
            ("resume", "--resume continues what was stopped"),
            ("init", "--init names the weights to start with"),
        ],
        "io" => &[("out", "--out chooses another place"), ("resume", "--resume continues what was stopped")],
        "checkpoint" if best => &[("best", "leave out --best to take the latest checkpoint")],
        "checkpoint" => &[("like", "--like names a checkpoint or config of the same network")],
        _ => return None,
    };
    let mut command = Cli::command();
    for arg in given.iter().take_while(|arg| !arg.starts_with('-')) {
        match command.find_subcommand(arg) {
            Some(below) => command = below.clone(),
            None => break,
        }
    }
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_long() == Some(option));
    let fits: Vec<&str> = advice.iter().filter(|(option, _)| has(option)).map(|(_, text)| *text).collect();
    (!fits.is_empty()).then(|| fits.join("; "))
}

/// Runs the command line of this process with these games.
pub fn main_with(games: &dyn Catalogue) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            if error.use_stderr() && std::env::args().any(|arg| arg == "--json") {
                output::json_error("usage", error.to_string().trim());
            }
            error.exit()
        }
    };
    progress::show_work();
    // A person at the terminal knows what the program waits for.
    if !matches!(cli.command, Command::Play(_)) {
        progress::show_life();
    }
    let json = cli.json;
    if json {
        output::ask_for_json();
    }
    let done = match cli.command {
        Command::Train(args) => run::train::train(games, &args, json),
        Command::Sweep(args) => run::sweep::run(games, &args, json),
        Command::Evaluate(args) => run::measure::evaluate(games, &args, json),
        Command::Value(args) => run::measure::value(games, &args, json),
        Command::Publish(args) => run::measure::publish(games, &args, json),
        Command::Export(args) => run::exchange::export(games, &args, json),
        Command::Import(args) => run::exchange::import(games, &args, json),
        Command::Describe(args) => run::measure::describe(games, &args, json),
        Command::Reproduce(args) => run::reproduce::run(games, &args, json),
        Command::Oracle(args) => run::oracle::run(&args, json),
        Command::Arena(args) => run::arena::run(games, &args, json),
        Command::Solve(args) => run::solve::run(games, &args, json),
        Command::Play(args) => run::play::run(games, &args, json),
        Command::Config(args) => run::config::run(games, &args, json),
        Command::List(args) => run::list::run(games, &args, json),
        Command::Bench(args) => run::bench::run(&args, json),
        Command::Runs(args) => run::list::runs(&args, json),
        Command::Completions(args) => run::list::completions(&args, json),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let kind = output::kind(&error);
            output::json_error_if_asked(kind, &error.to_string());
            output::say(format!("error: {error}"));
            if let Some(hint) = hint(kind) {
                output::say(format!("hint: {hint}"));
            }
            ExitCode::FAILURE
        }
    }
}
