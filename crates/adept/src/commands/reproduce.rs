//! The command `reproduce`.

use crate::args::ReproduceArgs;
use crate::output::{self, say};
use crate::progress::{Count, on_interrupt};
use adept_lab::Catalogue;
use adept_model::files::Files;
use adept_papers::{ReproduceOptions, Work};
use anyhow::Result;
use std::path::Path;

pub(crate) fn run(games: &dyn Catalogue, args: &ReproduceArgs, as_json: bool) -> Result<()> {
    let (what, usual) = (args.name, || Path::new("checkpoints/runs").join(args.name.folder()));
    let options = ReproduceOptions {
        seeds: args.seeds,
        quick: args.quick,
        out: args.out.clone().unwrap_or_else(usual),
        threads: args.threads,
        resume: args.resume,
    };
    Files::default().try_folder(&options.out)?;
    let (observer, cancel) = (Count::new(what.runs(args.seeds)), on_interrupt());
    let made = what.make(Work { games, options: &options, observer: &observer, cancel: &cancel })?;
    if as_json {
        return output::json(&made.report);
    }
    output::text(&made.text)?;
    let files: Vec<String> = made.files.iter().map(|f| f.display().to_string()).collect();
    say(format!("{:.0} s; written: {}", made.seconds, files.join(", ")));
    Ok(())
}
