//! The tool `reproduce`.

use crate::args::threads;
use crate::interrupt::{SAVING, on_interrupt};
use crate::output::{self, say};
use crate::progress::Count;
use crate::tool::{OnRanks, Tool};
use adept_ground::files::Files;
use adept_lab::Catalogue;
use adept_lab::reproduction::{ReproduceOptions, Reproduction, Work};
use anyhow::{Result, anyhow};
use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{ArgMatches, Args, FromArgMatches};
use std::path::{Path, PathBuf};

#[derive(Args)]
struct ReproduceArgs {
    /// What to reproduce.
    name: String,
    /// Seeds per row.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Play a twentieth of the games: for a first look, not for the figures.
    #[arg(long)]
    quick: bool,
    /// Folder for runs and reports. Default: checkpoints/runs/NAME.
    #[arg(long)]
    out: Option<PathBuf>,
    /// Threads. Default: all cores.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_parser = threads)]
    threads: usize,
    /// Continue an interrupted reproduction and keep its finished runs.
    #[arg(long)]
    resume: bool,
}

/// The command `reproduce`, with the published tables and figures that it takes.
pub struct Reproduce(pub &'static [&'static dyn Reproduction]);

impl Tool for Reproduce {
    fn command(&self) -> clap::Command {
        let value = |one: &&dyn Reproduction| PossibleValue::new(one.name()).help(one.paper());
        let names = PossibleValuesParser::new(self.0.iter().map(value));
        ReproduceArgs::augment_args(clap::Command::new("reproduce"))
            .about("Reproduce a published table or figure, and show our results beside the paper's")
            .after_help("Example:\n  adept reproduce table1 --seeds 10")
            .mut_arg("name", |name| name.value_parser(names))
    }

    fn on_ranks(&self, matches: &ArgMatches) -> OnRanks {
        OnRanks::Jobs(matches.get_one("threads").copied().unwrap_or(0))
    }

    fn run(&self, games: &dyn Catalogue, matches: &ArgMatches, as_json: bool) -> Result<()> {
        let args = ReproduceArgs::from_arg_matches(matches)?;
        let found = self.0.iter().find(|one| one.name() == args.name);
        let what = found.ok_or_else(|| anyhow!("this program has no reproduction `{}`", args.name))?;
        let usual = || Path::new("checkpoints/runs").join(what.folder());
        let options = ReproduceOptions {
            seeds: args.seeds,
            quick: args.quick,
            out: args.out.unwrap_or_else(usual),
            threads: args.threads,
            resume: args.resume,
        };
        Files::default().try_folder(&options.out)?;
        let (observer, cancel) = (Count::new(what.runs(args.seeds)), on_interrupt(SAVING));
        let made = what.make(Work { games, options: &options, observer: &observer, cancel: &cancel })?;
        if as_json {
            return output::json(&made.report);
        }
        output::text(&made.text)?;
        let files: Vec<String> = made.files.iter().map(|f| f.display().to_string()).collect();
        say(format!("{:.0} s; written: {}", made.seconds, files.join(", ")));
        Ok(())
    }
}
