//! `adept`: arguments in, a library call, text or JSON out.

mod args;
mod commands;
mod output;
mod progress;

use args::{Cli, Command};
use clap::Parser;
use output::say;
use std::process::ExitCode;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let json = cli.json;
    let done = match cli.command {
        Command::Train(args) => commands::train::train(&args, json),
        Command::Sweep(args) => commands::sweep::run(&args, json),
        Command::Evaluate(args) => commands::measure::evaluate(&args, json),
        Command::Value(args) => commands::measure::value(&args, json),
        Command::Publish(args) => commands::measure::publish(&args, json),
        Command::Export(args) => commands::exchange::export(&args, json),
        Command::Import(args) => commands::exchange::import(&args, json),
        Command::Describe(args) => commands::measure::describe(&args, json),
        Command::Reproduce(args) => commands::reproduce::run(&args, json),
        Command::Oracle(args) => commands::oracle::run(&args, json),
        Command::Arena(args) => commands::arena::run(&args, json),
        Command::Solve(args) => commands::solve::run(&args, json),
        Command::Play(args) => commands::play::run(&args, json),
        Command::Config(args) => commands::config::run(&args, json),
        Command::List(args) => commands::list::run(&args, json),
        Command::Bench(args) => commands::bench::run(&args, json),
        Command::Runs(args) => commands::list::runs(&args, json),
        Command::Completions(args) => commands::list::completions(&args, json),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            say(format!("error: {error}"));
            ExitCode::FAILURE
        }
    }
}
