//! The command line of adept, for any games: every command takes a [`Catalogue`], and none knows a game by name. What
//! belongs to one game or to a paper is a [`Tool`], which the program adds.
//!
//! Programs use it through the crate `adept-games`.
//!
//! An internal part of `adept`: its public items may change in any version. `docs/releases.md` says what is promised.

mod args;
mod commands;
mod interrupt;
mod lost_file;
#[cfg(feature = "mpi")]
mod mpi;
pub mod output;
mod program;
mod progress;
mod tool;
mod world;

pub use args::threads;
pub use commands::play::game_of;
pub use commands::reproduce::Reproduce;
pub use interrupt::on_interrupt;
pub use tool::{OnRanks, Tool};
pub use world::ranks;

use adept_ground::shown::{shell, shell_path};
use adept_lab::Catalogue;
use adept_lab::files::Placed;
use adept_trainer::run::{Remedy, TrainError};
use args::{Cli, Command};
use clap::{ArgMatches, CommandFactory, FromArgMatches};
use commands as run;
use std::path::Path;
use std::process::ExitCode;

/// The arguments of this process; what is not UTF-8 in them is replaced.
fn given() -> impl Iterator<Item = String> {
    std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned())
}

/// Options that help against an error of this kind, if the command of this process has them. Libraries say what to do, and
/// this says how.
fn hint(mut command: clap::Command, kind: &str, error: &anyhow::Error) -> Option<String> {
    let given: Vec<String> = given().collect();
    let message = error.to_string();
    // Another place for the output does not help against what is wrong with an input.
    let is_input = |(i, arg): (usize, &String)| {
        let is_value = i == 0 || given[i - 1] == "--out" || given[i - 1].starts_with("--set");
        arg.len() > 1 && !arg.starts_with('-') && !is_value && message.starts_with(arg.as_str())
    };
    // A file that a config names is an input too.
    let is_named = error.chain().any(|cause| cause.is::<Placed>());
    if kind == "io" && (is_named || given.iter().enumerate().any(is_input) || output::is_of_stdout(error)) {
        return None;
    }
    let best = given.iter().any(|arg| arg == "--best");
    let own = error.chain().find_map(|cause| match cause.downcast_ref::<TrainError>()? {
        TrainError::Taken { remedies, path, .. } => {
            Some(remedies.iter().map(|remedy| option_for(*remedy, path)).collect())
        }
        TrainError::Tensors { prefix, .. } => {
            Some(prefix.iter().map(|p| ("strip", format!("--strip {} leaves it out", shell(p)))).collect())
        }
        _ => None,
    });
    let own: Option<Vec<(&str, String)>> = own;
    let advice: &[(&str, &str)] = match kind {
        "checkpoint" if own.is_some() => &[],
        "folder" if own.is_some() => &[("out", "--out chooses another place")],
        "folder" => {
            &[("out", "--out chooses another place"), ("resume", "--resume continues what was stopped")]
        }
        "diverged" => {
            &[("fresh", "--fresh starts anew with what you changed, in place of what is left of this run")]
        }
        "io" => &[("out", "--out chooses another place"), ("resume", "--resume continues what was stopped")],
        "interrupted" => &[("resume", "--resume continues what was stopped")],
        "checkpoint" if best => &[("best", "leave out --best to take the latest checkpoint")],
        "checkpoint" => &[("like", "--like names a checkpoint or config of the same network")],
        _ => return None,
    };
    for arg in given.iter().take_while(|arg| !arg.starts_with('-')) {
        match command.find_subcommand(arg) {
            Some(below) => command = below.clone(),
            None => break,
        }
    }
    // Whoever resumes already needs no advice to do so; whoever chose a place may choose another.
    let unused = |option: &str| option != "resume" || given.iter().all(|arg| arg != "--resume");
    let has =
        |option: &str| unused(option) && command.get_arguments().any(|arg| arg.get_long() == Some(option));
    let own = own.iter().flatten().map(|(option, text)| (*option, text.as_str()));
    let advice = own.chain(advice.iter().copied());
    let fits: Vec<&str> = advice.filter(|(option, _)| has(option)).map(|(_, text)| text).collect();
    (!fits.is_empty()).then(|| fits.join("; "))
}

/// The option for something that may be done about the folder of a run.
fn option_for(remedy: Remedy, run: &Path) -> (&'static str, String) {
    match remedy {
        Remedy::Resume => ("resume", "--resume continues it".into()),
        Remedy::Extend => ("resume", "--resume makes it longer".into()),
        Remedy::RepeatInit => ("init", "--init gives them again".into()),
        Remedy::Fresh => ("fresh", "--fresh starts anew in its place".into()),
        Remedy::Init => ("init", format!("--init {} --out ANOTHER starts from its weights", shell_path(run))),
    }
}

/// The command and those below it, which read `-1` as a value.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    command.mut_subcommands(|below| with_negative_numbers(below).allow_negative_numbers(true))
}

/// Runs the command line of this process with these games and tools.
pub fn main_with(games: &dyn Catalogue, tools: &[&dyn Tool]) -> ExitCode {
    // Dropped at the end, where ranks wait for each other.
    let world = match world::start() {
        Ok(world) => world,
        Err(error) => {
            output::say(format!("error: {error}"));
            return ExitCode::FAILURE;
        }
    };
    // A negative number is a value that is out of range, not an option.
    let line = Cli::command().subcommands(tools.iter().map(|tool| tool.command()));
    let line = with_negative_numbers(line).name(program::name());
    program::know(&line);
    let known = games.names();
    let own = known.first().filter(|_| known.iter().all(|name| name != "tictactoe"));
    let line = match own {
        Some(own) => program::with_examples_of(own, line),
        None => line,
    };
    let matches = match line.clone().try_get_matches() {
        Ok(matches) => matches,
        Err(error) => {
            if error.use_stderr() && given().any(|arg| arg == "--json") {
                output::json_error("usage", error.to_string().trim());
            }
            if world::ranks().is_first() {
                output::usage(&error);
            }
            return u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from);
        }
    };
    let named = matches.subcommand().and_then(|(name, below)| {
        let tool = tools.iter().find(|tool| tool.command().get_name() == name)?;
        Some((*tool, below))
    });
    // Other commands are not spread over ranks: the first one runs them alone.
    let on_ranks = named.map_or(OnRanks::First, |(tool, below)| tool.on_ranks(below));
    let spread = match matches.subcommand_name() {
        Some("train" | "sweep" | "arena") => true,
        _ => on_ranks != OnRanks::First,
    };
    if !spread && !world::ranks().is_first() {
        return ExitCode::SUCCESS;
    }
    let json = matches.get_flag("json");
    if json {
        output::ask_for_json();
    }
    lost_file::watch();
    progress::show_work();
    progress::show_notes();
    // A person at the terminal knows what the program waits for, and the line editor reads Ctrl-C as a key.
    if !matches!(matches.subcommand_name(), Some("play" | "quiz")) {
        if !named.is_some_and(|(tool, _)| tool.waits()) {
            let program = line.get_name();
            let command =
                matches.subcommand_name().map_or_else(|| program.into(), |name| format!("{program} {name}"));
            progress::show_life(command);
        }
        interrupt::obey_signals();
    }
    let done = match named {
        Some((tool, below)) => match on_ranks {
            OnRanks::Jobs(threads) => world::with_jobs(games, threads, || tool.run(games, below, json)),
            OnRanks::First | OnRanks::Together => tool.run(games, below, json),
        },
        None => command(games, &matches, &line),
    };
    let status = match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let own = named.and_then(|(tool, _)| error.chain().find_map(|cause| tool.kind(cause)));
            let kind = own.unwrap_or_else(|| output::kind(&error));
            let message = output::whole(&error);
            output::json_error_if_asked(kind, &message);
            output::say(format!("error: {message}"));
            if let Some(hint) = hint(line, kind, &error) {
                output::say(format!("hint: {hint}"));
            }
            if spread { world::failed(&world, &error) } else { ExitCode::FAILURE }
        }
    };
    world::leave(&world, status)
}

/// Runs a command that every program has.
fn command(games: &dyn Catalogue, matches: &ArgMatches, line: &clap::Command) -> anyhow::Result<()> {
    let cli = Cli::from_arg_matches(matches)?;
    let json = cli.json;
    match cli.command {
        Command::Train(args) => run::train::train(games, &args, json),
        Command::Sweep(args) => world::with_jobs(games, args.threads, || run::sweep::run(games, &args, json)),
        Command::Evaluate(args) => run::evaluate::evaluate(games, &args, json),
        Command::Value(args) => run::measure::value(games, &args, json),
        Command::Moves(args) => run::measure::moves(games, &args, json),
        Command::Rollout(args) => run::rollout::run(games, &args, json),
        Command::Decisions(args) => run::decisions::run(games, &args, json),
        Command::Review(args) => run::review::run(games, &args, json),
        Command::Publish(args) => run::measure::publish(games, &args, json),
        Command::Export(args) => run::exchange::export(games, &args, json),
        Command::Import(args) => run::exchange::import(games, &args, json),
        Command::Describe(args) => run::measure::describe(games, &args, json),
        Command::Arena(args) => world::with_jobs(games, args.threads, || run::arena::run(games, &args, json)),
        Command::Solve(args) => run::solve::run(games, &args, json),
        Command::Play(args) => run::play::run(games, &args, json),
        Command::Quiz(args) => run::quiz::run(games, &args, json),
        Command::Config(args) => run::config::run(games, &args, json),
        Command::Data(args) => run::data::run(games, &args, json),
        Command::List(args) => run::list::run(games, &args, json),
        Command::Bench(args) => run::bench::run(&args, json),
        Command::Runs(args) => run::list::runs(&args, json),
        Command::Report(args) => run::report::run(games, &args, json),
        Command::Rules(args) => run::rules::run(games, &args, json),
        Command::Completions(args) => run::shell::completions(line.clone(), &args, json),
        Command::Man(args) => run::shell::man(line.clone(), &args, json),
    }
}
