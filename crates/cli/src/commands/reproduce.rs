//! `reproduce`.

use crate::args::{ReproduceArgs, Reproduction};
use crate::output::{self, say};
use crate::progress::{Count, on_interrupt};
use adept_trainer::reproduce::{ReproduceOptions, TABLE1_ROWS, table1};
use anyhow::Result;
use std::path::PathBuf;

pub(crate) fn run(args: &ReproduceArgs, as_json: bool) -> Result<()> {
    let Reproduction::Table1 = args.name;
    let options = ReproduceOptions {
        seeds: args.seeds,
        quick: args.quick,
        out: args.out.clone().unwrap_or_else(|| PathBuf::from("checkpoints/runs/table1")),
        threads: args.threads,
        resume: args.resume,
    };
    let cancel = on_interrupt();
    let table = table1(&options, &Count::new(options.seeds * TABLE1_ROWS as u64), &cancel)?;
    if as_json {
        return output::json(&table);
    }
    output::text(&std::fs::read_to_string(&table.files[0])?)?;
    let files: Vec<String> = table.files.iter().map(|f| f.display().to_string()).collect();
    say(format!("{:.0} s; written: {}", table.seconds, files.join(", ")));
    Ok(())
}
