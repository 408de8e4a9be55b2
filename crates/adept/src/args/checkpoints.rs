//! Arguments of what is done with checkpoints: measured, asked, published, exported.

use adept_game::Suite;
use adept_lab::measure::Peer;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Which checkpoint.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// Checkpoint folder, or run folder (its latest checkpoint).
    pub(crate) checkpoint: PathBuf,
    /// Take the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
}

/// Suites as the command line writes them, with `-` for `_`.
fn suites() -> impl TypedValueParser<Value = Suite> {
    let value = |(suite, about): (Suite, &'static str)| {
        let name = if suite == Suite::MoveLoss { "move-loss" } else { suite.name() };
        PossibleValue::new(name).alias(suite.name()).help(about)
    };
    PossibleValuesParser::new(Suite::ALL.map(value)).try_map(|name| name.parse())
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateArgs {
    #[command(flatten)]
    pub(crate) of: CheckpointArgs,
    /// What to measure; may be given several times. If left out, what suits the game: exploitability, equity, rms, or matches.
    #[arg(long = "suite", value_name = "SUITE", value_parser = suites())]
    pub(crate) suites: Vec<Suite>,
    /// Distribution of the positions of rms and move-loss, such as table, checkers, full, small; the game's first if left
    /// out.
    #[arg(long, value_name = "NAME")]
    pub(crate) distribution: Option<String>,
    /// Positions of rms (100,000 if left out) and of move-loss (250,000, each with all 21 rolls); games of matches against
    /// each opponent (4,000).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub(crate) samples: Option<u64>,
    /// Compare with the values of a CSV file: columns own1..own6, opp1..opp6 and value, own to roll. A file without values,
    /// the same columns or a position a line, is written anew with what the checkpoint thinks.
    #[arg(long, value_name = "FILE")]
    pub(crate) positions: Option<PathBuf>,
    /// Where positions that had no values are written with them; NAME.values.csv beside the file if left out.
    #[arg(long, value_name = "CSV", requires = "positions")]
    pub(crate) out: Option<PathBuf>,
    /// Compare choices on the positions of a CSV file with the same columns, own to roll: RMS error of V, value lost an
    /// unforced decision and wrong choices over all 21 rolls, beside what is known without learning.
    #[arg(long, value_name = "CSV")]
    pub(crate) decisions: Option<PathBuf>,
    /// Another program to measure on these decisions, by a CSV file with the same columns: what it thinks of the positions
    /// and of every one that a roll and a choice of moves lead to. May be given several times.
    #[arg(long = "peer", value_name = "NAME=CSV", requires = "decisions", value_parser = peer)]
    pub(crate) peers: Vec<Peer>,
    /// Measure errors over all positions of the game, where it is made of pairs: of the bear-off the 38,759² pairs of sides.
    /// Without --suite nothing else is measured.
    #[arg(long)]
    pub(crate) exhaustive: bool,
    /// Opponents of the suite equity; those of the config, random and minimax if left out.
    #[arg(long, value_name = "AGENT")]
    pub(crate) against: Vec<String>,
}

fn peer(text: &str) -> Result<Peer, String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok(Peer { name: name.into(), file: file.into() })
        }
        _ => Err("expected NAME=CSV: a name and the file of its values".into()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// A run folder, or the name of an experiment whose seeds are run folders.
    pub(crate) run: PathBuf,
    /// Folder to write; it must not be there yet.
    #[arg(long)]
    pub(crate) out: PathBuf,
    /// Take the checkpoint that was chosen during the run instead of the last one.
    #[arg(long)]
    pub(crate) best: bool,
    /// Measure too what choices lose by exact values, which takes a minute and 6 GB.
    #[arg(long)]
    pub(crate) move_loss: bool,
    /// What users should know, such as a weakness; may be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// A graph for ONNX Runtime, tract and others.
    Onnx,
    /// Tensors by name, weights as PyTorch's Linear has them.
    Safetensors,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) of: CheckpointArgs,
    /// Form of the file.
    #[arg(long, value_enum)]
    pub(crate) format: FormatArg,
    /// File to write.
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Safetensors file with the names that export gives.
    pub(crate) file: PathBuf,
    /// A checkpoint or a config of the same network; needed where the file does not say itself what it is.
    #[arg(long, value_name = "CHECKPOINT|CONFIG")]
    pub(crate) like: Option<PathBuf>,
    /// Checkpoint folder to write; it must not be there yet.
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ValueArgs {
    #[command(flatten)]
    pub(crate) of: CheckpointArgs,
    /// Positions in the game's text form; tic-tac-toe: nine of X, O and . row by row, then @ and the square just
    /// played (1..9) where it matters; bear-off: checkers on the points 1 to 6 of the player to roll and of the other, then
    /// the roll if a move is to come, "1,1,0,0,0,0/0,0,0,0,0,2 65".
    #[arg(required_unless_present = "file")]
    pub(crate) positions: Vec<String>,
    /// A file with more of them, one a line; of the bear-off also a CSV file with columns own1..own6, opp1..opp6.
    #[arg(long = "positions", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// Checkpoint folder, run folder or config file.
    pub(crate) checkpoint: PathBuf,
    /// Take the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
    /// Print that many learned rules in place of sizes, those furthest from 0 first.
    #[arg(long, value_name = "N")]
    pub(crate) rules: Option<usize>,
}
