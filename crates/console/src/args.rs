//! The command line: one definition for parsing, help and completions.

mod checkpoints;

use adept_arena::Level;
use adept_ground::limits;
use adept_lab::chart::Mark;
use adept_lab::template::METHODS;
use adept_model::{DeviceName, Engine};
use adept_trainer::labels::TOLERANCE;
use adept_trainer::run::Init;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

pub(crate) use checkpoints::{
    CheckpointArgs, DescribeArgs, EvaluateArgs, ExportArgs, FormatArg, ImportArgs, MovesArgs, PublishArgs,
    ValueArgs,
};

/// Train, measure and play evaluation functions for games.
#[derive(Parser)]
#[command(name = "adept", version, arg_required_else_help = true, subcommand_required = true)]
pub(crate) struct Cli {
    /// Print exactly one JSON object on stdout; logs go to stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run an experiment from a config file.
    #[command(after_help = "Example:\n  adept train configs/tictactoe/single-80.toml --seeds 10")]
    Train(TrainArgs),
    /// Run an experiment over a grid of settings with several seeds each, and rank the settings.
    #[command(
        after_help = "Examples:\n  adept sweep my.toml --set learn.rate=0.005,0.01 --set architecture.mlp.hidden=[40],[80]\n  adept sweep my.toml --set 'learn.rate={from=0.02,to=0.001},0.01' --seeds 5\n\n\
                      The folder holds sweep.json, sweep.md (the table) and a run folder for each combination and \
                      seed. `adept runs compare` takes these names as `adept runs list` shows them, without the seed. All configs are checked \
                      before anything runs. A combination that diverges is listed at the end of the table and \
                      does not stop the others.\n\n\
                      The best of many settings looks better than it is, even with exact measurements, because it \
                      was also the luckiest on these seeds. Confirm it on new seeds with --seed."
    )]
    Sweep(SweepArgs),
    /// Measure a checkpoint: exact equity, errors against exact values, value lost per decision, speed.
    #[command(
        after_help = "Examples:\n  adept evaluate checkpoints/runs/single-80-1 --suite equity --suite speed\n  adept evaluate checkpoints/bearoff/residual-10 --suite rms --suite move-loss\n  adept evaluate my-run --positions my.csv\n  adept evaluate my-run --decisions my.csv --peer gnubg=gnubg.csv"
    )]
    Evaluate(EvaluateArgs),
    /// Show a checkpoint's values of positions, with its gates and experts.
    #[command(after_help = "Example:\n  adept value checkpoints/runs/single-80-1 X...O.... X.O.X...O")]
    Value(ValueArgs),
    /// List the legal moves of a position with a checkpoint's values, best first.
    #[command(
        after_help = "Examples:\n  adept moves checkpoints/runs/single-80-1 X...O....\n  adept moves oracle 1,1,1,1,1,1/0,0,0,0,0,2 65 --game bearoff"
    )]
    Moves(MovesArgs),
    /// Play positions to the end many times, with less of the luck of the dice.
    #[command(
        after_help = "Examples:\n  adept rollout \"4HPwATDgc/ABMA 31\" --with my-backgammon\n  adept rollout 1,1,0,2,0,1/0,2,0,1,1,2 --with oracle --game bearoff --trials 36"
    )]
    Rollout(RolloutArgs),
    /// Build a benchmark of decisions by rollouts, and measure what agents lose on it.
    Decisions(DecisionsArgs),
    /// Review whole games in a file: the value that each player's moves lost, the luck of each, and the worst moves.
    #[command(
        after_help = "Examples:\n  adept review match.mat --by my-backgammon\n  adept review matches/ --by my-backgammon\n  adept review match.mat --by search:2:my-backgammon --player gnubg --worst 20\n  adept review match.mat --by my-backgammon --html match.html"
    )]
    Review(ReviewArgs),
    /// Ask a person about the errors of reviewed games: the position is shown, and then what the answer loses.
    #[command(
        after_help = "Examples:\n  adept quiz match.mat --by my-backgammon --player me\n  adept quiz matches/ --by my-backgammon --player me --count 20\n\n\
                      The judge and the files are those of `adept review`. A decision is asked about if it lost .03 points or more; in games \
                      without points, if it lost anything."
    )]
    Quiz(QuizArgs),
    /// Describe a checkpoint or a config: inputs, parameters, multiply-adds, bytes, ops.
    #[command(
        after_help = "Examples:\n  adept describe configs/tictactoe/hme-2x40-st3.toml\n  adept describe checkpoints/runs/pm-0-1 --rules 20"
    )]
    Describe(DescribeArgs),
    /// Publish a finished run: its checkpoint without the training state, and a card with figures.
    #[command(
        after_help = "Example:\n  adept publish residual-10 --best --move-loss --out checkpoints/bearoff/residual-10\n\n\
                      If RUN is the name of an experiment, the card has the figures of all its seeds, and the \
                      checkpoint comes from the lowest seed."
    )]
    Publish(PublishArgs),
    /// Export a checkpoint for other programs: ONNX, safetensors for PyTorch, source text in C or Rust, or a checkpoint in whole numbers or bfloat16.
    #[command(
        after_help = "Examples:\n  adept export checkpoints/bearoff/residual-10 --format onnx --out residual-10.onnx\n  adept export checkpoints/bearoff/plain-10 --format c --out plain_10.h\n  adept export checkpoints/backgammon/single-256-32 --format quantised --out single-256-32-i8\n  adept export my-run --best --format safetensors --out my-run.safetensors"
    )]
    Export(ExportArgs),
    /// Import a checkpoint from a safetensors file, for example after training in PyTorch.
    #[command(
        after_help = "Example:\n  adept import tuned.safetensors --like checkpoints/bearoff/plain-10 --out checkpoints/tuned"
    )]
    Import(ImportArgs),
    /// Play a tournament between agents: every pair, in all seat orders, with the same dice.
    #[command(after_help = "Example:\n  adept arena configs/liars-dice/arena/soar-four.toml\n\n\
                      A tournament is a TOML file, such as\n\n  name   = \"mine\"\n  game   = \"tictactoe\"\n  games  = 1000        # a pair\n  agents = [{ name = \"ttt\" }, { name = \"single-80-1\" }]    # agents and checkpoints\n\n\
                      The folder holds arena.json and arena.md (the cross table), which are updated after every \
                      pair.")]
    Arena(ArenaArgs),
    /// Solve a small game with hidden information by counterfactual regret minimisation, and measure how
    /// exploitable agents are.
    #[command(
        after_help = "Examples:\n  adept solve liars-dice:openspiel:1-1:6\n  adept solve liars-dice:openspiel:2-2:3 --method mccfr --iterations 64000 --agent P --agent random"
    )]
    Solve(SolveArgs),
    /// Play against a checkpoint or an agent in the terminal.
    #[command(
        after_help = "Examples:\n  adept play tictactoe --level medium\n  adept play checkpoints/runs/single-80-1 --hints\n  adept play oracle --game bearoff --from VQUAgKoCAAAAAA"
    )]
    Play(PlayArgs),
    /// Check configs, print their schema, write a starter config, or convert old ones.
    #[command(
        after_help = "Examples:\n  adept config check configs/tictactoe/*.toml\n  adept config new tictactoe > my.toml"
    )]
    Config(ConfigArgs),
    /// Check files of labelled positions.
    #[command(after_help = "Example:\n  adept data check my.csv --game bearoff")]
    Data(DataArgs),
    /// List games, encoders, architectures, agents or devices.
    #[command(
        arg_required_else_help = true,
        after_help = "Examples:\n  adept list encoders\n  adept list agents --game liars-dice:soar:2x5"
    )]
    List(ListArgs),
    /// Measure the speed of this machine.
    #[command(
        after_help = "Examples:\n  adept bench speed --device cpu --device flex --batch 8192\n  adept bench speed --json > before.json\n  \
                      adept bench speed --compare before.json"
    )]
    Bench(BenchArgs),
    /// List, draw or compare runs on this machine.
    #[command(
        after_help = "Examples:\n  adept runs list\n  adept runs plot single-80\n  adept runs compare single-80 checkpoints/runs/single-50-1"
    )]
    Runs(RunsArgs),
    /// Write a report of runs as one HTML file: curves, final figures, errors, gates, configs, and how to repeat them.
    #[command(
        after_help = "Examples:\n  adept report single-80 hme-2x40-st3 --out report.html\n  adept report my-run --measure --mark gnubg=0.0203 --out report.html\n\n\
                      The file needs nothing else: it opens in any browser, without a network, and can be sent and \
                      printed. It holds what the runs recorded, which takes seconds. --measure adds errors by class of \
                      positions, calibration of outcomes and all else that `adept evaluate` finds."
    )]
    Report(ReportArgs),
    /// Check a rule file or a game in GDL by random games, or print such a game.
    #[command(
        after_help = "Examples:\n  adept rules file:my-game.kif\n  adept rules file:my-game.kif --trace 1\n  adept rules file:my.game\n\n\
                      The check says who moves, how games end, and what is probably a mistake: rules that can never apply, moves \
                      and goals that never come, states without a legal move. Of a rule file that is not in GDL it says whether the \
                      players play the same game, once they are exchanged."
    )]
    Rules(RulesArgs),
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  adept completions bash > ~/.local/share/bash-completion/completions/adept"
    )]
    Completions(CompletionsArgs),
    /// Write manual pages: adept.1, and one for each command.
    #[command(after_help = "Example:\n  adept man --out ~/.local/share/man/man1")]
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct TrainArgs {
    /// Config file of the experiment.
    pub(crate) config: PathBuf,
    /// Seed of all random draws. Default: the seed in the config.
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=limits::SEED))]
    pub(crate) seed: Option<u64>,
    /// Run this many seeds in parallel, starting with the first.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=limits::SEEDS))]
    pub(crate) seeds: Option<u64>,
    /// Run folder, or with --seeds the parent folder of the runs. Default: checkpoints/runs/NAME-SEED.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Threads for several seeds, or for the shards of a batch. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
    /// Change a setting of the config, such as learn.td.games=10000.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Engine that trains: native or burn. Default: the engine in the config, or burn if --device names another
    /// device than cpu.
    #[arg(long)]
    pub(crate) engine: Option<Engine>,
    /// Device that trains: cpu, flex, ndarray, wgpu, cuda (see adept list devices). Default: the device in the
    /// config.
    #[arg(long)]
    pub(crate) device: Option<DeviceName>,
    /// Start from the weights of this checkpoint or run. They fill the whole network, which may be a larger perceptron, or the
    /// first expert with the same architecture, or the named part, as in expert.1=CHECKPOINT; expert.*=CHECKPOINT fills all
    /// experts. May be given several times.
    #[arg(long, value_name = "[PART=]CHECKPOINT")]
    pub(crate) init: Vec<Init>,
    /// Write a checkpoint and stop after this many seconds. With --seeds, the limit applies to each run.
    #[arg(long, value_name = "S", value_parser = positive)]
    pub(crate) max_seconds: Option<f64>,
    /// Also write the measurements as an event file for TensorBoard, in the run folder.
    #[arg(long)]
    pub(crate) tensorboard: bool,
    /// Find out where the time goes: games, encoding, forward, backward, optimiser, measuring, writing. The record has it too.
    #[arg(long, conflicts_with_all = ["seeds", "estimate"])]
    pub(crate) profile: bool,
    /// Continue from the latest checkpoint of the run folder, if there is one. With a larger number of games or samples
    /// (--set), a run becomes longer: schedules then cover its new length.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Start anew in place of an unfinished run in the run folder, whatever its config: its record, measurements and checkpoints
    /// are removed. A finished run is never replaced.
    #[arg(long, conflicts_with = "resume")]
    pub(crate) fresh: bool,
    /// Learn for two seconds, write nothing, and estimate the time and disk space of the run.
    #[arg(long, conflicts_with_all = ["resume", "fresh", "seeds"])]
    pub(crate) estimate: bool,
}

impl TrainArgs {
    /// All changes to the config.
    pub(crate) fn settings(&self) -> Vec<String> {
        let mut set = self.set.clone();
        let engine = self.engine.or(match self.device {
            Some(DeviceName::Cpu) | None => None,
            Some(_) => Some(Engine::Burn),
        });
        // The native engine has one device, so replace any other in the config.
        let native = (engine == Some(Engine::Native)).then_some(DeviceName::Cpu);
        set.extend(engine.map(|e| format!("learn.engine=\"{e}\"")));
        set.extend(self.device.or(native).map(|d| format!("learn.device=\"{d}\"")));
        set
    }
}

#[derive(Debug, Args)]
pub(crate) struct SweepArgs {
    /// Config file of the experiment.
    pub(crate) config: PathBuf,
    /// Values to try for a setting, separated by commas outside brackets, braces and quotes. A single value is
    /// a constant.
    #[arg(long, value_name = "KEY=V1,V2,…")]
    pub(crate) set: Vec<String>,
    /// Seeds per combination.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=limits::SEEDS))]
    pub(crate) seeds: u64,
    /// First seed. Default: the seed in the config.
    #[arg(long, value_name = "FIRST", value_parser = clap::value_parser!(u64).range(..=limits::SEED))]
    pub(crate) seed: Option<u64>,
    /// Parent folder of the runs. Default: checkpoints/runs/sweep-NAME.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Threads. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
    /// Continue an interrupted sweep: finished runs are kept, interrupted runs continue.
    #[arg(long)]
    pub(crate) resume: bool,
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s.is_finite() => Ok(s),
        _ => Err("expected a number of seconds above 0".into()),
    }
}

/// Reads a level. The error lists all of them.
fn levels() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(Level::ALL.map(Level::name)).try_map(|text| text.parse::<Level>())
}

#[derive(Debug, Args)]
pub(crate) struct PlayArgs {
    /// The name of a game, whose best network plays, or its strongest agent without one; or a checkpoint, a run, or the name of an agent
    /// (see adept list agents).
    pub(crate) opponent: String,
    /// How strong it plays: easy, medium, strong or strongest, which looks ahead. Default: strong.
    #[arg(long, value_parser = levels(), hide_possible_values = true)]
    pub(crate) level: Option<Level>,
    /// Rule set. Default: the rule set of the checkpoint.
    #[arg(long)]
    pub(crate) game: Option<String>,
    /// Begin with this position, in the game's text form (see adept value --help). For backgammon and the bear-off also a gnubg Position
    /// ID or an XGID; player 1 is the side to roll.
    #[arg(long, value_name = "POSITION", allow_hyphen_values = true)]
    pub(crate) from: Option<String>,
    /// Your seat, from 1.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=64))]
    pub(crate) seat: u64,
    /// Seed of the dice and the agent's random draws. Default: another one each time.
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Show the value of each move, with its gates and experts.
    #[arg(long)]
    pub(crate) hints: bool,
    /// Use the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
    /// Add the game to this file, in the usual format of the game, such as PHH for poker.
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    /// Write only ASCII. Default: if the locale (LC_ALL, LC_CTYPE or LANG) is set and is not UTF-8.
    #[arg(long)]
    pub(crate) ascii: bool,
}

/// Parses a number of threads, where 0 means all cores.
///
/// # Errors
/// The range, if the text is not a number in it.
pub fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= limits::THREADS => Ok(threads),
        _ => Err(format!("expected 0 (all cores) to {} threads", limits::THREADS)),
    }
}

#[derive(Debug, Args)]
pub(crate) struct ArenaArgs {
    /// Tournament file.
    pub(crate) config: PathBuf,
    /// Folder for the tables. Default: checkpoints/runs/arena-NAME.
    #[arg(long)]
    pub(crate) out: Option<PathBuf>,
    /// Change a setting, such as games=100 or seed=2.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Threads. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
    /// Continue an interrupted tournament.
    #[arg(long)]
    pub(crate) resume: bool,
    /// Exit with 1 unless this agent wins against each other one by two standard errors: it may then take their place.
    #[arg(long, value_name = "NAME")]
    pub(crate) gate: Option<String>,
    /// Write the first N games of each pair to the folder `histories`, in the usual format of the game, such as PHH for poker.
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true,
        value_parser = clap::value_parser!(u64).range(0..=limits::HISTORIES))]
    pub(crate) histories: u64,
}

#[derive(Debug, Args)]
pub(crate) struct RolloutArgs {
    /// Positions in the game's text form (see adept value --help), with or without the roll.
    #[arg(required = true, value_name = "POSITION")]
    pub(crate) positions: Vec<String>,
    #[command(flatten)]
    pub(crate) by: RolloutBy,
    /// Games of each position. Multiples of 36, better of 1296, spread the first throws of two dice evenly.
    #[arg(long, value_name = "N", default_value_t = 1296, value_parser = clap::value_parser!(u64).range(2..=limits::GAMES))]
    pub(crate) trials: u64,
    /// Of a game with the cube: leave it out from here on, at the score of a match too. Nobody doubles any more, and gammons count whatever
    /// the cube. Default: the agent decides about the cube.
    #[arg(long)]
    pub(crate) cubeless: bool,
    /// Of a match: play the present game alone, and value the score after it by the match equities. Default: play the match to its end.
    #[arg(long)]
    pub(crate) one_game: bool,
    /// Roll out the best N actions of each position by the agent's values, all with the same dice: moves of a roll, doubling or not, a
    /// take or a drop.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) candidates: Option<u16>,
    /// Keep the sums of all games in this file, from which --resume goes on.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Go on from the file of an earlier call, if it is there; with a larger number of trials too.
    #[arg(long, requires = "out")]
    pub(crate) resume: bool,
}

/// Who plays rollouts, and how.
#[derive(Debug, Args)]
pub(crate) struct RolloutBy {
    /// The agent that plays both sides and whose values tell luck: a checkpoint, a search such as search:2:CHECKPOINT, or a valuation
    /// such as oracle.
    #[arg(long, value_name = "AGENT")]
    pub(crate) with: String,
    /// Rule set. Default: the rule set of the checkpoint.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
    /// Use the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
    /// Cut games off after so many moves, and take the agent's value of what is left. Default: play to the end.
    #[arg(long, value_name = "PLIES", value_parser = clap::value_parser!(u32).range(1..=i64::from(limits::TRUNCATION)))]
    pub(crate) truncate: Option<u32>,
    /// Seed of the dice.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=limits::SEED))]
    pub(crate) seed: u64,
    /// Threads. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
}

#[derive(Debug, Args)]
pub(crate) struct DecisionsArgs {
    #[command(subcommand)]
    pub(crate) action: DecisionsAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DecisionsAction {
    /// Play games of an agent, and roll out the best moves of some of their decisions. The file is written after every decision.
    #[command(
        after_help = "Example:\n  adept decisions build --with single-256-32 --count 60 --trials 144 --truncate 11 --out my-decisions.csv"
    )]
    Build(BuildDecisionsArgs),
    /// Show what agents lose on the decisions of a file, by kind.
    #[command(
        after_help = "Example:\n  adept decisions run datasets/backgammon-decisions.csv single-256-32 pubeval --game backgammon"
    )]
    Run(RunDecisionsArgs),
    /// Show how often the best move by a large network is among the first ones by a small one, and what is lost otherwise.
    #[command(after_help = "Example:\n  adept decisions screen my-small single-256-32 --keep 2 --keep 5")]
    Screen(ScreenDecisionsArgs),
}

#[derive(Debug, Args)]
pub(crate) struct BuildDecisionsArgs {
    #[command(flatten)]
    pub(crate) by: RolloutBy,
    /// Decisions of each kind: the kinds of the game, such as contact and race.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    pub(crate) count: u64,
    /// Most games that are played to find them. A game gives at most one decision of a kind.
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..=limits::GAMES))]
    pub(crate) games: u64,
    /// Moves of a decision that are rolled out: the best by the agent's values.
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u64).range(2..=1000))]
    pub(crate) moves: u64,
    /// Leave out decisions whose two best moves differ by more than this, in the unit of the game, by the agent's values.
    #[arg(long, value_name = "X", default_value_t = 0.1)]
    pub(crate) gap: f64,
    /// Games of each rollout. Multiples of 36 spread the first throws of two dice evenly.
    #[arg(long, value_name = "N", default_value_t = 144, value_parser = clap::value_parser!(u64).range(2..=limits::GAMES))]
    pub(crate) trials: u64,
    /// Roll out the moves of this file of decisions, such as one of `review --decisions`, in place of those of games.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["count", "games", "moves", "gap"])]
    pub(crate) from: Option<PathBuf>,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Go on with the file of an earlier call, if it is there.
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunDecisionsArgs {
    /// A file of `decisions build`, or of `review --decisions`.
    pub(crate) file: PathBuf,
    /// Agents, such as checkpoints.
    #[arg(required = true, value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
    /// Rule set. Default: the rule set of the first agent.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
    /// Seed of agents that vary their play.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=limits::SEED))]
    pub(crate) seed: u64,
    /// Threads. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
}

#[derive(Debug, Args)]
pub(crate) struct ScreenDecisionsArgs {
    /// The small network, which picks moves.
    pub(crate) small: String,
    /// The large network, or a search with it, whose values count. It plays the games against itself, one move in twenty another than
    /// the best.
    pub(crate) large: String,
    /// Moves that the small network keeps; may be given several times. Default: 2, 3, 5, 8.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=limits::KEPT as u64))]
    pub(crate) keep: Vec<u64>,
    /// Decisions with at least two moves.
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(2..=limits::GAMES))]
    pub(crate) count: u64,
    /// Rule set. Default: the rule set of the large network.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
    /// Seed of the games.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=limits::SEED))]
    pub(crate) seed: u64,
}

#[derive(Debug, Args)]
pub(crate) struct ReviewArgs {
    /// Files of whole games in a format of the game, such as .mat, .sgf or .xg for backgammon, and folders of such files.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The agent whose values count: a checkpoint, a search such as search:2:CHECKPOINT, or a valuation such as oracle.
    #[arg(long, value_name = "AGENT")]
    pub(crate) by: String,
    /// Judges again what seems wrong, the best moves and the one that was played; may be given several times.
    #[arg(long, value_name = "AGENT")]
    pub(crate) then: Vec<String>,
    /// Rule set. Default: that of each file, such as its match length, or the rule set of the checkpoint.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
    /// Use the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
    /// Show this player alone, by the name in the file.
    #[arg(long, value_name = "NAME")]
    pub(crate) player: Option<String>,
    /// Write a page to this file too: the value over the games, and every decision on a board. One file, which needs no network.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) html: Option<PathBuf>,
    /// Number of moves to list, those that lost most.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=limits::WORST))]
    pub(crate) worst: u64,
    /// Write these moves to a file of decisions, which `decisions run` and `decisions build --from` read. Several rule sets have a file
    /// each.
    #[arg(long, value_name = "FILE")]
    pub(crate) decisions: Option<PathBuf>,
    /// Also write each match with this review's values, as an .sgf file that GNU Backgammon opens; of several files, into this folder.
    #[arg(long, value_name = "OUT")]
    pub(crate) sgf: Option<PathBuf>,
    /// Threads. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
}

#[derive(Debug, Args)]
pub(crate) struct QuizArgs {
    /// Files of whole games, and folders of such files, as for `adept review`.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The agent whose values count: a checkpoint, a search such as search:2:CHECKPOINT, or a valuation such as oracle.
    #[arg(long, value_name = "AGENT")]
    pub(crate) by: String,
    /// Judges again what seems wrong, the best moves and the one that was played; may be given several times.
    #[arg(long, value_name = "AGENT")]
    pub(crate) then: Vec<String>,
    /// Rule set. Default: that of each file, such as its match length, or the rule set of the checkpoint.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
    /// Use the best checkpoint of the run.
    #[arg(long)]
    pub(crate) best: bool,
    /// Ask about the errors of this player alone, by the name in the file.
    #[arg(long, value_name = "NAME")]
    pub(crate) player: Option<String>,
    /// Most questions: the decisions that lost most.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=limits::WORST))]
    pub(crate) count: u64,
    /// Write only ASCII. Default: if the locale (LC_ALL, LC_CTYPE or LANG) is set and is not UTF-8.
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Threads. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
}

#[derive(Debug, Args)]
pub(crate) struct SolveArgs {
    /// Rule set, such as liars-dice:openspiel:1-1:6 (one die each, with six faces).
    pub(crate) game: String,
    /// Method: cfr+ traverses the whole game in every iteration, mccfr samples a part of it.
    #[arg(long, value_enum, default_value_t = SolveMethod::CfrPlus)]
    pub(crate) method: SolveMethod,
    /// Number of iterations.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=limits::GAMES))]
    pub(crate) iterations: u64,
    /// Seed of the random draws of mccfr.
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Agent whose exploitability is measured: an agent of the game, or a checkpoint. May be given several
    /// times.
    #[arg(long = "agent", value_name = "AGENT")]
    pub(crate) agents: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum SolveMethod {
    /// CFR+ (Tammelin 2014).
    #[value(name = "cfr+")]
    CfrPlus,
    /// External-sampling Monte Carlo CFR (Lanctot et al. 2009).
    Mccfr,
}

#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    pub(crate) action: ConfigAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigAction {
    /// Check config files; exits with 1 if one has a fault.
    Check {
        /// Config files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Change a setting before checking, such as learn.td.games=10000.
        #[arg(long, value_name = "KEY=VALUE")]
        set: Vec<String>,
    },
    /// Rewrite config files of earlier versions in the current form. Comments stay.
    Migrate {
        /// Config files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Print the JSON schema of configs.
    Schema,
    /// Print all keys of a config with types, defaults and meanings, as Markdown.
    #[command(after_help = "Examples:\n  adept config keys\n  adept config keys learn.td")]
    Keys {
        /// Only the sections whose name begins with this.
        section: Option<String>,
    },
    /// Print a commented config to start from.
    #[command(
        after_help = "Examples:\n  adept config new tictactoe > my.toml\n  adept config new bearoff --method td > my.toml"
    )]
    New {
        /// Rule set.
        game: String,
        /// How to learn. Default: the game's usual method.
        #[arg(long, value_parser = METHODS)]
        method: Option<String>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    pub(crate) action: DataAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataAction {
    /// Play games of an agent with itself, and write their positions with its values, or with rollouts, for a run to learn from.
    #[command(
        after_help = "Examples:\n  adept data build --with search:2,root=8:my-backgammon --count 100000 --out one-ply.csv\n  \
                      adept data build --with my-backgammon --trials 36 --truncate 11 --count 20000 --out rollouts.csv\n  \
                      adept data build --with my-backgammon --moves 3 --starts rules,back-game --count 1000000 --out games.csv\n\n\
                      The file is appended to while the work goes on, under the name FILE.part. A run learns from it with\n\
                      learn.supervised.examples or learn.expectation.examples."
    )]
    Build(BuildDataArgs),
    /// Count rows that repeat or contradict others, and compare values with exact ones. Exits with 1 if values of one position, or a
    /// value and the exact one, differ by more than the tolerance.
    #[command(
        after_help = "Examples:\n  adept data check my.csv --game bearoff\n  adept data check rollouts.csv --game bearoff --tolerance 0.05"
    )]
    Check {
        /// Table of positions with values, as examples in a config.
        file: PathBuf,
        /// Rule set.
        #[arg(long, value_name = "RULES")]
        game: String,
        /// Largest difference between values, from −1 to 1, that agree.
        #[arg(long, value_name = "X", default_value_t = TOLERANCE, value_parser = tolerance)]
        tolerance: f64,
    },
}

#[derive(Debug, Args)]
pub(crate) struct BuildDataArgs {
    #[command(flatten)]
    pub(crate) by: RolloutBy,
    /// Rows, at least: the last game is played to its end.
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=limits::LABELS))]
    pub(crate) count: u64,
    /// Positions of each decision: after the move that is played, and after others drawn from the rest.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) moves: u64,
    /// Where games begin, each as often as its weight says (default 1): distributions of the game, or `rules`. Default: as the
    /// rules say.
    #[arg(long, value_name = "NAME[=WEIGHT],...", value_delimiter = ',')]
    pub(crate) starts: Vec<String>,
    /// Label each position by what the network of the checkpoint sees one ply ahead: the mean over all rolls after the best replies.
    /// With screen:K:SMALL:LARGE, SMALL picks the replies.
    #[arg(long, conflicts_with_all = ["trials", "moves"])]
    pub(crate) one_ply: bool,
    /// Share of the rows, below 1, that come from where the network disagrees with what it sees one ply ahead: other rolls are
    /// played from there.
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, requires = "one_ply", value_parser = share_below_one)]
    pub(crate) hard: f64,
    /// Label each position by a rollout of so many games in place of the agent's value. Multiples of 36 spread the first throws of
    /// two dice evenly.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=limits::GAMES))]
    pub(crate) trials: Option<u64>,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Go on with the file of an earlier call, if it is there; with a larger number of rows too.
    #[arg(long)]
    pub(crate) resume: bool,
}

fn share_below_one(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if (0.0..=0.9).contains(&x) => Ok(x),
        _ => Err("expected a share from 0 to 0.9".into()),
    }
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if (0.0..=2.0).contains(&x) => Ok(x),
        _ => Err("expected a difference from 0 to 2".into()),
    }
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
    /// Distributions of positions, to learn from and to measure on.
    Distributions,
    /// Devices for training.
    Devices,
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list.
    #[arg(value_enum)]
    pub(crate) what: Listing,
    /// Only of this rule set, such as liars-dice:openspiel:1-1:6. Default: one rule set of each game.
    #[arg(long, value_name = "RULES")]
    pub(crate) game: Option<String>,
    /// Draw how the distributions of this rule set are spread over its classes of positions (.svg).
    #[arg(long, value_name = "FILE", requires = "game")]
    pub(crate) out: Option<PathBuf>,
    /// Check along random games that the rules keep what every game promises, such as legal actions, exact probabilities, utilities
    /// within the scale, and texts that read back (list games). Exit code 1 if a game breaks a law.
    #[arg(long)]
    pub(crate) check: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    pub(crate) action: BenchAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BenchAction {
    /// Measure how fast networks evaluate rows and learn, by engine, device and batch size.
    Speed {
        /// Devices, where cpu is the native engine. Default: all available ones. May be given several times.
        #[arg(long = "device", value_name = "DEVICE")]
        devices: Vec<DeviceName>,
        /// Networks, such as 68-10-1. Default: all. May be given several times.
        #[arg(long = "network", value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(adept_lab::bench::networks()))]
        networks: Vec<String>,
        /// Rows per call. Default: 1, 8, 512 and 8192. May be given several times.
        #[arg(long = "batch", value_name = "N", value_parser = batch)]
        batches: Vec<usize>,
        /// Compare with an earlier measurement: what `adept bench speed --json` printed.
        #[arg(long, value_name = "FILE")]
        compare: Option<PathBuf>,
    },
}

fn batch(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rows) if (1..=limits::BATCH as usize).contains(&rows) => Ok(rows),
        _ => Err(format!("expected 1 to {} rows", limits::BATCH)),
    }
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
        /// Parent folder of the runs.
        #[arg(default_value = "checkpoints/runs")]
        folder: PathBuf,
    },
    /// Compare two experiments: the settings that differ, and the results, tested over the seeds. Runs of the same seed share
    /// dice and positions: if both sides have the same seeds, the test is of pairs.
    #[command(
        after_help = "Examples:\n  adept runs compare single-50 single-80\n  adept runs compare checkpoints/runs/single-80-1 my-runs"
    )]
    Compare {
        /// First experiment: a run folder, a folder with runs of one experiment, or the NAME of runs NAME-SEED
        /// in checkpoints/runs.
        a: PathBuf,
        /// Second experiment, given in the same way.
        b: PathBuf,
        /// Show intervals by bootstrap (percentiles of 10,000 resamples) in place of Student's.
        #[arg(long)]
        bootstrap: bool,
    },
    /// Draw the learning curves of runs, in the terminal or as SVG. Runs of one experiment become one curve, their mean.
    ///
    /// Errors are drawn on a logarithmic scale. So is equity if the best possible one is known: drawn is how far below it
    /// the runs are.
    #[command(
        after_help = "Examples:\n  adept runs plot checkpoints/runs/single-80-1\n  adept runs plot single-50 single-80 --out curves.svg\n  adept runs plot --gates cells-16x8 --out cells.svg"
    )]
    Plot {
        /// Experiments: a run folder, a folder with runs, or the NAME of runs NAME-SEED in checkpoints/runs.
        #[arg(required = true)]
        runs: Vec<PathBuf>,
        /// Draw the learned cells of runs or checkpoints instead: which expert takes which positions.
        #[arg(long)]
        gates: bool,
        /// Draw equity itself, not its distance to the best possible.
        #[arg(long, conflicts_with = "gates")]
        values: bool,
        /// Draw the mean loss of what was learned from between two measurements: the log loss of networks with `head = "outcomes"`.
        #[arg(long, conflicts_with_all = ["gates", "values"])]
        loss: bool,
        /// Draw a line at a value that others reach, such as "gnubg=0.0203". May be given several times.
        #[arg(long, value_name = "NAME=VALUE", value_parser = mark, conflicts_with = "gates")]
        mark: Vec<Mark>,
        /// SVG file to write. Default: draw in the terminal.
        #[arg(long)]
        out: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Experiments: a run folder, a folder with runs, or the NAME of runs NAME-SEED in checkpoints/runs. The seeds of one become
    /// one curve with a band.
    #[arg(required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// HTML file to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Also measure the last checkpoint of each run, as `adept evaluate` does. Takes as long as that for each run.
    #[arg(long)]
    pub(crate) measure: bool,
    /// Draw a line at a value of the first figure that others reach, such as "gnubg=0.0203". May be given several times.
    #[arg(long, value_name = "NAME=VALUE", value_parser = mark)]
    pub(crate) mark: Vec<Mark>,
}

fn mark(text: &str) -> Result<Mark, String> {
    let (name, value) = text.rsplit_once('=').ok_or("expected NAME=VALUE")?;
    match (name.trim(), value.trim().parse::<f64>()) {
        ("", _) => Err("expected a name before `=`".into()),
        (name, Ok(value)) if value.is_finite() => Ok(Mark { name: name.into(), value }),
        _ => Err(format!("`{}` is not a number", value.trim())),
    }
}

#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// Game: `file:PATH`, or `declared:NAME` for one that comes with adept; GDL if it ends in `.kif`.
    pub(crate) game: String,
    /// Random games to play.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub(crate) games: u64,
    /// Print the random game with this seed in GDL, a line of JSON for each position.
    #[arg(long, value_name = "SEED", conflicts_with = "games")]
    pub(crate) trace: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Folder for the pages.
    #[arg(long)]
    pub(crate) out: PathBuf,
}
