//! Arguments of the commands that work on checkpoints: measure, inspect, publish, export, import.

use adept_game::Suite;
use adept_ground::limits;
use adept_lab::measure::Peer;
use adept_model::checkpoint::Strength;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Selects a checkpoint.
#[derive(Debug, Args)]
pub(crate) struct CheckpointArgs {
    /// Checkpoint folder, run folder (its latest checkpoint is used), or the name of a run or of a published network. `evaluate` and
    /// `value` also take `search:4:CHECKPOINT`, which looks ahead.
    pub(crate) checkpoint: PathBuf,
    /// Use the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
}

/// Suites as written on the command line, with `-` for `_`.
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
    /// What to measure. move-loss takes minutes: the bear-off needs a table in 32 bits for it (6 GB, kept by `adept oracle build --checkers 14 --bits 32`), Connect
    /// Four a minute per thousand positions (--samples). Default: the main suite of the game (exploitability, equity, rms or matches). May be
    /// given several times.
    #[arg(long = "suite", value_name = "SUITE", value_parser = suites())]
    pub(crate) suites: Vec<Suite>,
    /// Distribution of the positions for rms and move-loss, such as table, checkers, full, small. Default: the
    /// game's first.
    #[arg(long, value_name = "NAME")]
    pub(crate) distribution: Option<String>,
    /// Number of positions for rms (default 100,000) and for move-loss (default 250,000, each with all 21
    /// rolls), or of games per opponent for matches (default 4,000).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=limits::POSITIONS))]
    pub(crate) samples: Option<u64>,
    /// Compare with the values in a CSV file: columns own1..own6, opp1..opp6 and value, where own is to roll.
    /// If the file has no values (the same columns, or one position per line), the checkpoint's values are
    /// written to a new file.
    #[arg(long, value_name = "FILE")]
    pub(crate) positions: Option<PathBuf>,
    /// File for positions with the checkpoint's values. Default: NAME.values.csv beside the input file.
    #[arg(long, value_name = "CSV", requires = "positions")]
    pub(crate) out: Option<PathBuf>,
    /// Compare choices on the positions of a CSV file with the same columns, where own is to roll: RMS error of
    /// V, value lost per unforced decision, and wrong choices over all 21 rolls. Baselines that do not learn
    /// are shown beside them.
    #[arg(long, value_name = "CSV")]
    pub(crate) decisions: Option<PathBuf>,
    /// Another program to measure on these decisions: a CSV file with the same columns and the program's values
    /// of all positions and of all their afterstates. May be given several times.
    #[arg(long = "peer", value_name = "NAME=CSV", requires = "decisions", value_parser = peer)]
    pub(crate) peers: Vec<Peer>,
    /// Measure errors over all positions of the game, if they are pairs of sides, such as the 38,759² pairs of
    /// the bear-off. Without --suite, nothing else is measured.
    #[arg(long)]
    pub(crate) exhaustive: bool,
    /// Draw how well the probabilities of outcomes are calibrated, of a network with `head = "outcomes"`.
    #[arg(long, value_name = "SVG", conflicts_with_all = ["suites", "positions", "decisions", "exhaustive"])]
    pub(crate) calibration: Option<PathBuf>,
    /// Opponents for the suite equity. Default: the opponents in the config, random and minimax.
    #[arg(long, value_name = "AGENT")]
    pub(crate) against: Vec<String>,
    /// Compare an agent, named in place of the checkpoint, with decisions of another program in a CSV file: SoarBot's, for
    /// example, in datasets/soarbot-2002-decisions.csv.
    #[arg(long, value_name = "CSV", conflicts_with_all = ["suites", "distribution", "samples", "positions", "decisions", "exhaustive", "against"])]
    pub(crate) recorded: Option<PathBuf>,
    /// Rule set of the agent. Default: the one that has an agent of this name.
    #[arg(long, value_name = "GAME", requires = "recorded")]
    pub(crate) game: Option<String>,
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
    /// Run folder, or name of an experiment with a run folder per seed.
    #[arg(required_unless_present = "refresh")]
    pub(crate) run: Option<PathBuf>,
    /// Folder to write; it must not exist yet.
    #[arg(long, required_unless_present = "refresh")]
    pub(crate) out: Option<PathBuf>,
    /// Measure the errors of a published checkpoint again and put them on its card; the checkpoint stays as it is.
    #[arg(long, value_name = "CHECKPOINT", conflicts_with_all = ["run", "out", "best", "move_loss", "note", "rival"])]
    pub(crate) refresh: Option<PathBuf>,
    /// With --refresh: note this measured strength in the manifest and on the card, and measure nothing. Commands prefer the checkpoint with
    /// the best figure of those of a game with the same unit and measure. ` (lower is better)` may end it.
    #[arg(long, value_name = "VALUE UNIT, MEASURE", requires = "refresh", allow_hyphen_values = true)]
    pub(crate) strength: Option<Strength>,
    /// Use the best checkpoint of the run instead of the last one.
    #[arg(long)]
    pub(crate) best: bool,
    /// Also measure the value lost by choices, by exact values. Takes a minute and 6 GB.
    #[arg(long)]
    pub(crate) move_loss: bool,
    /// Note for users of the checkpoint, such as a weakness. May be given several times.
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Vec<String>,
    /// Finished runs to compare with on the card, such as a single network of the same cost. May be given several times.
    #[arg(long, value_name = "RUN")]
    pub(crate) rival: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// A graph for ONNX Runtime, tract and others.
    Onnx,
    /// Named tensors, with weights in the layout of PyTorch's Linear.
    Safetensors,
    /// A header of plain C99: weights and evaluation, no library. For networks of up to a million parameters.
    C,
    /// A file of Rust: weights and evaluation, no crate, no `std`. For networks of up to a million parameters.
    Rust,
    /// A checkpoint in whole numbers of 16 and 8 bits, which plays faster and does not learn. For single networks,
    /// and for experts of which each position runs one.
    Quantised,
    /// A checkpoint whose large layers are in bfloat16, which plays faster on processors with AMX or AVX-512 BF16 and does not learn.
    Bf16,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) of: CheckpointArgs,
    /// File format.
    #[arg(long, value_enum)]
    pub(crate) format: FormatArg,
    /// File to write; for quantised and bf16, a new folder. In C, names begin with the name of the file: `net.h` has `net_value`.
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Safetensors file with the tensor names that export writes.
    pub(crate) file: PathBuf,
    /// Checkpoint or config of the same network. Required if the file does not describe its network.
    #[arg(long, value_name = "CHECKPOINT|CONFIG")]
    pub(crate) like: Option<PathBuf>,
    /// Leave this out at the start of tensor names, such as module. or _orig_mod., which PyTorch adds when it wraps a model.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) strip: Option<String>,
    /// Checkpoint folder to write; it must not exist yet.
    #[arg(long)]
    pub(crate) out: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ValueArgs {
    #[command(flatten)]
    pub(crate) of: CheckpointArgs,
    /// Positions in the game's text form. Tic-tac-toe: nine of X, O and . row by row, then if needed @ and the
    /// square just played (1..9). Connect Four: the columns played so far, as in 4435. Bear-off: checkers on
    /// points 1 to 6 of the player to roll, then of the opponent, then the roll if a move is next, as in
    /// "1,1,0,0,0,0/0,0,0,0,0,2 65"; or a gnubg Position ID or an XGID. Liar's dice: the dice of each player, the player to move and the bid, as in
    /// "11122/11122 @1 2x2".
    #[arg(required_unless_present = "file")]
    pub(crate) positions: Vec<String>,
    /// File with more positions, one per line; for the bear-off also a CSV file with columns own1..own6,
    /// opp1..opp6.
    #[arg(long = "positions", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Game of an agent, such as `oracle`, if it is not a checkpoint.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
    /// Also show the rows that the network reads, by channel: of the position for the player who just moved, and of each
    /// move for the player who makes it. `adept describe` tells what each number means.
    #[arg(long)]
    pub(crate) inputs: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MovesArgs {
    #[command(flatten)]
    pub(crate) of: CheckpointArgs,
    /// Position in the game's text form; `adept value --help` shows some.
    pub(crate) position: String,
    /// The roll, such as 31, in games with dice. Not needed if the position has it, as an XGID may.
    pub(crate) dice: Option<String>,
    /// Game of an agent, such as `oracle`, if it is not a checkpoint.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct DescribeArgs {
    /// Checkpoint folder, run folder or config file.
    pub(crate) checkpoint: PathBuf,
    /// Use the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
    /// Print this many learned rules instead of sizes, sorted by distance from 0.
    #[arg(long, value_name = "N")]
    pub(crate) rules: Option<usize>,
}
