//! The options of `oracle`.

use adept_builtin::backgammon::cube::{Scoring, Terms};
use adept_builtin::backgammon::{LONGEST_MATCH, Stakes};
use adept_builtin::bearoff::two_sided::{CubeOwner, Precision};
use adept_builtin::bearoff::{Distribution, Roll, USUAL_CHECKERS};
use adept_console::threads;
use adept_ground::limits;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Default number of checkers of `oracle cube`.
pub(crate) const CUBE_CHECKERS: u8 = 8;

#[derive(Debug, Args)]
pub(crate) struct OracleArgs {
    #[command(subcommand)]
    pub(crate) action: OracleAction,
}

/// The source of the table.
#[derive(Clone, Debug, Args)]
pub(crate) struct TableArgs {
    /// Table file. Default: datasets/bearoff-N.table if one is large enough, or datasets/GAME.table if it is there, else the
    /// smallest sufficient table is solved in memory.
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// Minimum bits per number of the bear-off: 16, 32 or 64. Default: any for a table file; a table solved in memory has 64
    /// bits for up to 8 checkers, else 16.
    #[arg(long, value_parser = bits)]
    pub(crate) bits: Option<Precision>,
    /// Threads for solving, at most 1024. Default: all cores. Results do not depend on it.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    pub(crate) threads: usize,
}

/// The score of a match. The side to roll comes first.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ScoreArgs {
    /// With --cube, of the bear-off: in a match to this many points, 1 to 25, by the match equities by which games are played. Shows
    /// the equity for each unit of the cube (EMG) and the chance to win the match.
    #[arg(long = "match", value_name = "POINTS", requires = "cube", value_parser = clap::value_parser!(u8).range(1..=i64::from(LONGEST_MATCH)))]
    length: Option<u8>,
    /// With --match: points that the side to roll and its opponent have, such as 5-3. Default: 0-0.
    #[arg(long, value_name = "OWN-OTHER", requires = "length", value_parser = score)]
    score: Option<[u8; 2]>,
    /// With --match: this is the Crawford game. Without it, a side that needs one point has already been in one.
    #[arg(long, requires = "length")]
    crawford: bool,
    /// With --match: value of the cube, a power of 2 up to 64. Above 1 it has an owner; `oracle value` shows both.
    #[arg(long, value_name = "VALUE", requires = "length", default_value_t = 1, hide_default_value = true)]
    cube_value: u32,
}

fn score(text: &str) -> Result<[u8; 2], String> {
    let number =
        |text: &str| text.trim().parse().map_err(|_| "expected two numbers, such as 5-3".to_string());
    let (own, other) = text.split_once('-').ok_or("expected two numbers, such as 5-3")?;
    Ok([number(own)?, number(other)?])
}

impl ScoreArgs {
    /// The cube and the score for each possible owner of the cube; none in money play.
    pub(crate) fn terms(&self) -> Result<Vec<Terms>> {
        let Some(length) = self.length else { return Ok(Vec::new()) };
        let scores = self.score.unwrap_or_default();
        let away = scores.map(|score| length.saturating_sub(score));
        if let Some(score) = scores.iter().find(|score| **score >= length) {
            bail!("a score of {score} ends a match to {length} points");
        }
        let owners = if self.cube_value == 1 { vec![None] } else { vec![Some(0), Some(1)] };
        let terms = |owner: Option<usize>| {
            Stakes::new(self.cube_value, owner, away, self.crawford).map_err(anyhow::Error::msg)?;
            let owner = match owner {
                None => CubeOwner::Centred,
                Some(0) => CubeOwner::Own,
                Some(_) => CubeOwner::Theirs,
            };
            let scoring = Scoring::Match { away: away.map(u32::from), crawford: self.crawford };
            Ok(Terms { cube: self.cube_value, owner, scoring })
        };
        owners.into_iter().map(terms).collect()
    }

    /// The cube and the score for one owner of the cube; none in money play.
    pub(crate) fn terms_of(&self, owner: Option<CubeOwner>) -> Result<Option<Terms>> {
        let all = self.terms()?;
        let found = all.iter().find(|terms| Some(terms.owner) == owner).copied();
        match (found, all.is_empty()) {
            (None, false) if self.cube_value == 1 => bail!("a cube of 1 has no owner: write --cube centred"),
            (None, false) => {
                bail!("a cube of {} has an owner: write --cube own or --cube theirs", self.cube_value)
            }
            (found, _) => Ok(found),
        }
    }
}

fn bits(text: &str) -> Result<Precision, String> {
    let bits = text.parse().ok().and_then(Precision::of_bits);
    bits.ok_or_else(|| "expected 16, 32 or 64 bits".into())
}

#[derive(Debug, Subcommand)]
pub(crate) enum OracleAction {
    /// Solve the table of the bear-off, or of backgammon with up to three checkers a side, and write it to a file.
    #[command(
        after_help = "Examples:\n  adept oracle build --checkers 14\n  adept oracle build --game hypergammon\n  adept oracle build --game hypergammon --cube\n  adept oracle build --points 8                 # races of backgammon\n  adept oracle build --checkers 14 --bits 32    # also for the suite move-loss\n\n\
                      With 14 checkers, 16 bits take 3.1 GB of memory and disk, 32 bits 6.0 GB, 64 bits 12.0 GB; with 15, twice as much. \
                      16 bits are within 5e-5, which is enough for values and for learning. Lost value (move-loss) is \
                      measured with 32 bits, within 1e-6. Both are kept under the same name."
    )]
    Build {
        /// Maximum checkers per side, 1 to 15. Gammons, possible with 15, are not counted.
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=15), required_unless_present_any = ["game", "points"])]
        checkers: Option<u8>,
        /// Another game than the bear-off: hypergammon, backgammon:1 or backgammon:2. Hypergammon takes about 125
        /// CPU-seconds and 1.1 GB of memory; its file has 43 MB.
        #[arg(long, value_name = "RULES", conflicts_with_all = ["checkers", "bits"])]
        game: Option<String>,
        /// With --game: also with the doubling cube in money play. Hypergammon takes about 8 CPU-minutes and less than
        /// 2 GB of memory; its file has 215 MB.
        #[arg(long, requires = "game", conflicts_with = "points")]
        cube: bool,
        /// In place of an exact table: the race table of this many points, 6 to 10, in GNU Backgammon's one-sided format, with gammons, of
        /// backgammon or of --game. 8 points take seconds, .3 GB of memory and 63 MB of disk, 10 points half a minute, 1.8 GB and 418 MB.
        #[arg(long, conflicts_with_all = ["checkers", "bits", "threads"], value_parser = clap::value_parser!(u8).range(6..=10))]
        points: Option<u8>,
        /// File to write. Default: datasets/bearoff-N.table, datasets/GAME.table, datasets/GAME-cube.table, or datasets/race-P.bd, which for games
        /// other than backgammon begins with their name.
        #[arg(long)]
        out: Option<PathBuf>,
        /// Bits per number of the bear-off: 16, 32 or 64. The suite move-loss needs 32.
        #[arg(long, default_value = "16", value_parser = bits)]
        bits: Precision,
        /// Threads for solving, at most 1024. Default: all cores. The table does not depend on it.
        #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
        threads: usize,
        /// Only solve; write no file.
        #[arg(long, conflicts_with = "out")]
        no_file: bool,
    },
    /// Show exact values of positions for the side to roll.
    #[command(
        after_help = "Examples:\n  adept oracle value 1,1,1,1,1,1/0,0,0,0,0,2\n  adept oracle value VQUAgKoCAAAAAA --estimates\n  adept oracle value VQUAgKoCAAAAAA --details\n  adept oracle value 0,1,0,1,0,0/1,0,0,0,0,0 --cube      # is it a double?\n  adept oracle value 0,1,0,1,0,0/1,0,0,0,0,0 --cube --match 7 --score 5-3\n  adept oracle value \"24:1 23:1 22:1/24:1 23:1 22:1\" --game hypergammon\n  adept oracle value 23:1/11:1 --game backgammon:1 --cube --jacoby"
    )]
    Value {
        /// Positions as own/opponent, each side with the checkers on points 1 to 6; as a gnubg Position ID; or
        /// as an XGID that begins with `XGID=`. After it the roll, if the dice have fallen, as in
        /// "1,1,1,1,1,1/0,0,0,0,0,2 65"; the dice of an XGID are the roll. The value is then that of the best move.
        /// Of hypergammon, as `adept value` takes them: "24:1 23:1 22:1/24:1 23:1 22:1 31".
        #[arg(required = true)]
        positions: Vec<String>,
        /// Game: bearoff, hypergammon, backgammon:1 or backgammon:2.
        #[arg(long, value_name = "RULES", default_value = "bearoff", hide_default_value = true)]
        game: String,
        /// Also show estimates from each side's own race.
        #[arg(long)]
        estimates: bool,
        /// Also show each side's race: pips, mean and standard deviation of the number of rolls, effective pips,
        /// wastage, and the probability of each number of rolls. Each side plays for the smallest mean.
        #[arg(long)]
        details: bool,
        /// Also show exact equities with the doubling cube in money play, and whether to double and to take. Of the
        /// bear-off these are solved in memory: 10 checkers a side take .9 GB, 11 checkers 2.0 GB. Hypergammon needs the
        /// table of `oracle build --game hypergammon --cube`.
        #[arg(long)]
        cube: bool,
        /// With --cube, of hypergammon: by the Jacoby rule, under which gammons count 1 while the cube is centred.
        #[arg(long, requires = "cube")]
        jacoby: bool,
        #[command(flatten)]
        score: ScoreArgs,
        #[command(flatten)]
        table: TableArgs,
    },
    /// Show all afterstates of a roll with their exact values, best first.
    #[command(
        after_help = "Examples:\n  adept oracle moves 1,1,1,1,1,1/0,0,0,0,0,2 65\n  adept oracle moves 2,0,2,1,0,0/5,0,0,0,0,0 31 --cube own\n  adept oracle moves 2,0,2,1,0,0/5,0,0,0,0,0 31 --cube own --match 7 --score 3-5 --cube-value 2\n  adept oracle moves \"24:1 23:1 22:1/24:1 23:1 22:1\" 31 --game hypergammon"
    )]
    Moves {
        /// Position as own/opponent, gnubg Position ID or XGID; the side to roll comes first.
        position: String,
        /// The roll, such as 65. Not needed if the position has it, as an XGID may.
        dice: Option<Roll>,
        /// Game: bearoff, hypergammon, backgammon:1 or backgammon:2.
        #[arg(long, value_name = "RULES", default_value = "bearoff", hide_default_value = true)]
        game: String,
        /// List the legal afterstates without values.
        #[arg(long)]
        legal: bool,
        /// Show equities with the doubling cube in money play, per unit of the cube. The owner of the cube is as the
        /// side that moves sees it: centred, own or theirs.
        #[arg(long, value_name = "OWNER", conflicts_with = "legal")]
        cube: Option<CubeOwner>,
        /// With --cube, of hypergammon: by the Jacoby rule, under which gammons count 1 while the cube is centred.
        #[arg(long, requires = "cube")]
        jacoby: bool,
        #[command(flatten)]
        score: ScoreArgs,
        #[command(flatten)]
        table: TableArgs,
    },
    /// Compare a table with given values, or check all blocks of a table file. Exits with 1 if a difference
    /// exceeds the tolerance.
    #[command(
        after_help = "Examples:\n  adept oracle verify --csv datasets/bearoff-reference.csv\n  adept oracle verify --csv my.csv --game hypergammon\n  adept oracle verify --checkers 10 --exact\n  adept oracle verify --table datasets/bearoff-14.table\n  adept oracle verify --one-sided /usr/share/gnubg/gnubg_os0.bd"
    )]
    Verify {
        /// Compare with labelled positions, and name the worst line: columns own1..own6, opp1..opp6, or position_id; value, or win.
        /// Of hypergammon: own, opponent (the points of the checkers, 25 for the bar, 0 for off), equity in points; or position, value.
        #[arg(long, group = "with")]
        csv: Option<PathBuf>,
        /// Game: bearoff, hypergammon, backgammon:1 or backgammon:2.
        #[arg(long, value_name = "RULES", default_value = "bearoff", hide_default_value = true)]
        game: String,
        /// Compare with all pairs of a two-sided GNU Backgammon database, and with its equities with the cube, if it has them.
        #[arg(long, group = "with", value_name = "FILE")]
        gnubg: Option<PathBuf>,
        /// Compare a one-sided GNU Backgammon database, such as gnubg_os0.bd: with the exact solution of six points, and if it has
        /// more, up to 10, with a table solved here.
        #[arg(long, group = "with", value_name = "FILE")]
        one_sided: Option<PathBuf>,
        /// Compare all pairs with a table solved in 64 bits.
        #[arg(long, group = "with")]
        exact: bool,
        /// Maximum checkers per side, for a table solved with --exact.
        #[arg(long, requires = "exact", value_parser = clap::value_parser!(u8).range(1..=15))]
        checkers: Option<u8>,
        /// Largest absolute difference that passes. Default: 5e-5 for 16 bits, 1e-6 for 32, 1e-9 for 64, plus
        /// 1e-4 with --gnubg, whose numbers are rounded at every step. With --one-sided it is that of a mean number
        /// of rolls, 5e-4 by default.
        #[arg(long, value_name = "X", value_parser = tolerance)]
        tolerance: Option<f64>,
        #[command(flatten)]
        table: TableArgs,
    },
    /// Measure models of the doubling cube in money play against exact equities: of the bear-off, without gammons, or of hypergammon.
    #[command(
        after_help = "Examples:\n  adept oracle cube --checkers 8\n  adept oracle cube --game hypergammon --jacoby --network checkpoints/runs/cube-64-16-1\n  adept oracle cube --game hypergammon --jacoby\n\n\
                      Each model computes the equities of the cube from the exact chances without a cube, with an efficiency x between a \
                      dead cube (0) and a live one (1). The best x is chosen on one half of all pairs of sides, and all models are measured on the \
                      other half; of hypergammon, on positions that are drawn from these halves. 8 checkers take a minute of one core and .4 GB of \
                      memory. Hypergammon needs the table of `oracle build --game hypergammon --cube`, about 1.2 GB, and some 7 CPU-minutes."
    )]
    Cube {
        /// Maximum checkers per side of the bear-off.
        #[arg(long, default_value_t = CUBE_CHECKERS, value_parser = clap::value_parser!(u8).range(1..=15))]
        checkers: u8,
        /// Game: bearoff, hypergammon, backgammon:1 or backgammon:2.
        #[arg(long, value_name = "RULES", default_value = "bearoff", hide_default_value = true)]
        game: String,
        /// Table file of hypergammon with the cube. Default: datasets/GAME-cube.table; small games are solved in memory.
        #[arg(long, value_name = "FILE")]
        table: Option<PathBuf>,
        /// Of hypergammon: by the Jacoby rule, under which gammons count 1 while the cube is centred.
        #[arg(long)]
        jacoby: bool,
        /// Of hypergammon: also measure models by the class probabilities of this network, a checkpoint or run with `head = "outcomes"`, or the
        /// equities of one that has learned the game with the cube. May be given several times.
        #[arg(long = "network", value_name = "NAME")]
        networks: Vec<String>,
        /// Of hypergammon: number of drawn positions on which x is chosen, and of other ones on which models are measured. Default: 500000.
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=limits::GAMES))]
        positions: Option<u64>,
        /// Number of games with the best decisions, whose positions are measured too; of the bear-off also of drawn positions for moves.
        #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(1..=limits::GAMES))]
        games: u64,
        /// Seed of the games and of the drawn positions.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Threads, at most 1024. Default: all cores. Results do not depend on it.
        #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
        threads: usize,
    },
    /// Draw positions and label them with their exact values.
    #[command(
        after_help = "Example:\n  adept oracle sample --distribution table --count 5000 --seed 1 --out my.csv"
    )]
    Sample {
        /// Distribution of the positions: table, checkers, full or small; of hypergammon `all`, which is its only one.
        #[arg(long, default_value = "table", hide_default_value = true, value_parser = distribution)]
        distribution: String,
        /// Game: bearoff, hypergammon, backgammon:1 or backgammon:2.
        #[arg(long, value_name = "RULES", default_value = "bearoff", hide_default_value = true)]
        game: String,
        /// Number of positions.
        #[arg(long, value_parser = clap::value_parser!(u64).range(1..=limits::GAMES))]
        count: u64,
        /// Seed of the random draws.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// Maximum checkers per side of the bear-off.
        #[arg(long, default_value_t = USUAL_CHECKERS, value_parser = clap::value_parser!(u8).range(1..=15))]
        checkers: u8,
        /// File to write: columns own1..own6, opp1..opp6, value; of hypergammon position, value.
        #[arg(long)]
        out: PathBuf,
        #[command(flatten)]
        table: TableArgs,
    },
    /// Write the values in GNU Backgammon's two-sided format, without the cube.
    #[command(after_help = "Example:\n  adept oracle export --checkers 8 --out gnubg_ts.bd")]
    Export {
        /// Maximum checkers per side, 1 to 14.
        #[arg(long, value_parser = clap::value_parser!(u8).range(1..=14))]
        checkers: u8,
        /// File to write.
        #[arg(long)]
        out: PathBuf,
        #[command(flatten)]
        table: TableArgs,
    },
}

/// A distribution of the bear-off, or `all`.
fn distribution(text: &str) -> Result<String, String> {
    if text != "all" {
        text.parse::<Distribution>()?;
    }
    Ok(text.into())
}

fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("expected a difference of 0 or more".into()),
    }
}
