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
use clap::Parser;
use commands as run;
use std::process::ExitCode;

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
            output::json_error_if_asked(output::kind(&error), &error.to_string());
            output::say(format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
