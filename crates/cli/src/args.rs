//! The command line: one definition for parsing, help and completions.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Train, measure and play evaluation functions for games.
#[derive(Debug, Parser)]
#[command(name = "adept", version, about, arg_required_else_help = true, subcommand_required = true)]
pub(crate) struct Cli {
    /// Print exactly one JSON object on stdout; logs go to stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run an experiment from a config file.
    #[command(after_help = "Example:\n  adept train configs/tictactoe/single-80.toml --seeds 10")]
    Train(TrainArgs),
    /// Measure a checkpoint: exact equity, speed.
    #[command(
        after_help = "Example:\n  adept evaluate checkpoints/runs/single-80-1 --suite equity --suite speed"
    )]
    Evaluate(EvaluateArgs),
    /// Show what a checkpoint thinks of positions, with its gates and experts.
    #[command(after_help = "Example:\n  adept value checkpoints/runs/single-80-1 X...O.... X.O.X...O")]
    Value(ValueArgs),
    /// Describe a checkpoint or a config: inputs, parameters, multiply-adds, bytes, ops.
    #[command(after_help = "Example:\n  adept describe configs/tictactoe/hme-2x40-st3.toml")]
    Describe(DescribeArgs),
    /// Reproduce a published table or figure, ours beside the paper's.
    #[command(after_help = "Example:\n  adept reproduce table1 --seeds 10")]
    Reproduce(ReproduceArgs),
    /// Play against a checkpoint or an agent in the terminal.
    #[command(after_help = "Example:\n  adept play checkpoints/runs/single-80-1 --hints")]
    Play(PlayArgs),
    /// Check configs, print their schema, or write one to start from.
    #[command(
        after_help = "Examples:\n  adept config check configs/tictactoe/*.toml\n  adept config new tictactoe > my.toml"
    )]
    Config(ConfigArgs),
    /// List what there is: games, encoders, architectures, agents.
    #[command(after_help = "Example:\n  adept list encoders")]
    List(ListArgs),
    /// Runs on this machine.
    #[command(after_help = "Example:\n  adept runs list")]
    Runs(RunsArgs),
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  adept completions bash > ~/.local/share/bash-completion/completions/adept"
    )]
    Completions(CompletionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// Config file of the experiment.
    pub(crate) config: PathBuf,
    /// Seed of all random draws; that of the config if left out.
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..i64::MAX as u64 - 10_000))]
    pub(crate) seed: Option<u64>,
    /// Run that many seeds, from the first on, in parallel.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(crate) seeds: Option<u64>,
    /// Run folder (with --seeds the folder around them); checkpoints/runs/NAME-SEED if left out.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Threads for several seeds; all cores if left out. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// Change a setting of the config, such as learn.games=10000.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Start from the weights of this checkpoint or run.
    #[arg(long, value_name = "CHECKPOINT")]
    pub(crate) init: Option<PathBuf>,
    /// Write a checkpoint and stop after that many seconds.
    #[arg(long, value_name = "S", value_parser = positive)]
    pub(crate) max_seconds: Option<f64>,
    /// Go on from the latest checkpoint of the run folder, if there is one.
    #[arg(long)]
    pub(crate) resume: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s.is_finite() => Ok(s),
        _ => Err("a number of seconds above 0 is expected".into()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SuiteArg {
    /// Exact match equity of greedy play.
    Equity,
    /// Evaluations a second on this machine.
    Speed,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    /// Checkpoint folder, or run folder (its latest checkpoint).
    pub(crate) checkpoint: PathBuf,
    /// What to measure; may be given several times.
    #[arg(long = "suite", value_enum, default_values_t = [SuiteArg::Equity])]
    pub(crate) suites: Vec<SuiteArg>,
    /// Opponents of the suite equity; those of the config, random and minimax if left out.
    #[arg(long, value_name = "AGENT")]
    pub(crate) against: Vec<String>,
    /// Take the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ValueArgs {
    /// Checkpoint folder, or run folder (its latest checkpoint).
    pub(crate) checkpoint: PathBuf,
    /// Positions in the game's text form; tic-tac-toe: nine of X, O and . row by row, then @ and the square just
    /// played (1..9) where it matters.
    #[arg(required = true)]
    pub(crate) positions: Vec<String>,
    /// Take the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// Checkpoint folder, run folder or config file.
    pub(crate) checkpoint: PathBuf,
    /// Take the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Reproduction {
    /// Wiering & Kröse: ten architectures learn tic-tac-toe.
    Table1,
}

#[derive(Debug, Args)]
pub(crate) struct ReproduceArgs {
    /// What to reproduce.
    #[arg(value_enum)]
    pub(crate) name: Reproduction,
    /// Seeds a row.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) seeds: u64,
    /// A twentieth of the games: shows the way, not the figures.
    #[arg(long)]
    pub(crate) quick: bool,
    /// Folder for runs and reports; checkpoints/runs/NAME if left out.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Threads; all cores if left out.
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    pub(crate) threads: usize,
    /// Keep finished runs of an interrupted call.
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// Checkpoint, run, or the name of an agent (adept list agents).
    pub(crate) opponent: String,
    /// Rule set; that of the checkpoint if left out.
    #[arg(long)]
    pub(crate) game: Option<String>,
    /// Your seat: 1 moves first.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) seat: u64,
    /// Seed of the agent's draws.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Show the value of each move, and the gates and experts behind it.
    #[arg(long)]
    pub(crate) hints: bool,
    /// Take the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Check config files; exit 1 if one has a fault.
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change a setting first, such as learn.games=10000.
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// Print the JSON schema of configs.
    Schema,
    /// Print a commented config to start from.
    New {
        /// Rule set.
        game: String,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listing {
    /// Rule sets.
    Games,
    /// Encoders with their channels.
    Encoders,
    /// Architectures.
    Architectures,
    /// Agents.
    Agents,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list.
    #[arg(value_enum)]
    pub(crate) what: Listing,
}

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) action: RunsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsAction {
    /// List the runs under a folder.
    List {
        /// Folder.
        #[arg(default_value = "checkpoints/runs")]
        folder: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}
