//! The command `sweep`.

use crate::args::SweepArgs;
use crate::interrupt::{SAVING, on_interrupt};
use crate::output::{self, say};
use crate::progress::Progress;
use adept_lab::Catalogue;
use adept_lab::files;
use adept_lab::seeds::Seeds;
use adept_lab::sweep::{Grid, SweepEvent, SweepOptions, What, sweep};
use adept_lab::tournament::shown;
use adept_trainer::config::{Config, Figure, Source};
use adept_trainer::run::{Event, Record};
use anyhow::{Result, bail};
use std::collections::HashSet;

pub(crate) fn run(games: &dyn Catalogue, args: &SweepArgs, as_json: bool) -> Result<()> {
    super::config::note_paths::<Config>(&args.config, &[], games);
    let source = Source::read(&args.config, &args.set)?;
    let grid = Grid::new(&source, games)?;
    super::config::note_old_form(&args.config);
    check_files(games, &source, &grid)?;
    let seeds = Seeds { first: args.seed.unwrap_or(grid.seed), count: args.seeds, threads: args.threads };
    let options = SweepOptions { out: args.out.clone(), resume: args.resume };
    say(format!("{}: combinations × seeds: {} × {}", grid.name, grid.combinations.len(), args.seeds));
    let cancel = on_interrupt(SAVING);
    let progress = Progress::new(true);
    let watch = |event: SweepEvent<'_>| tell(&progress, event);
    let table = sweep(games, &grid, seeds, &options, &watch, &cancel)?;
    if as_json {
        output::json(&table)?;
    } else {
        let (header, rows) = table.cells();
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut text = output::table(&header, rows) + "\n";
        text.extend(table.notes().iter().map(|note| format!("{note}\n")));
        output::text(&text)?;
        say(format!("written: {}", table.sweep.join("sweep.md").display()));
    }
    let failures = table.rows.iter().flat_map(|row| &row.failed);
    let others: Vec<String> = failures.filter(|f| !f.diverged).map(|f| f.reason.clone()).collect();
    if !others.is_empty() {
        bail!("{}", others.join("\n"));
    }
    if !table.finished {
        bail!("stopped before the end: continue with --resume");
    }
    if table.rows.iter().all(|row| row.seeds == 0) {
        bail!("no run finished: all diverged");
    }
    Ok(())
}

/// Opens the files that the combinations name, before there is a folder. Most of them name the same.
fn check_files(games: &dyn Catalogue, source: &Source, grid: &Grid) -> Result<()> {
    // The settings are in the combinations.
    let source = Source { set: Vec::new(), ..source.clone() };
    let mut checked = HashSet::new();
    for config in grid.combinations.iter().map(|combination| &combination.config) {
        let files = (&config.game.rules, config.learn.files(), config.opponents());
        if checked.insert(format!("{files:?}")) {
            files::check_files(&source, config, games)?;
        }
    }
    Ok(())
}

/// Shows bars or lines for active runs, and one permanent line for each finished run.
fn tell(progress: &Progress, event: SweepEvent<'_>) {
    let count = format!("{}/{} {}", event.ended, event.runs, event.run);
    match event.what {
        What::Run(what) => {
            let line = match &what {
                Event::Ended(r) if r.finished => Some(format!("{count}: {}{:.1} s", figure(r), r.seconds)),
                _ => None,
            };
            progress.show(event.run, what);
            if let Some(line) = line {
                progress.line(&line);
            }
        }
        What::Begins { .. } => {}
        What::Found if event.ended == event.runs => {
            progress.line("already finished: these are the earlier results, nothing was run");
        }
        What::Found => progress.line(&format!("{} of {} runs are done", event.ended, event.runs)),
        What::Failed(error) => {
            progress.remove(event.run);
            progress.line(&format!("{count}: {error}"));
        }
    }
}

fn figure(record: &Record) -> String {
    let order: [Figure; Figure::COUNT] =
        [Figure::Equity, Figure::Matches, Figure::Exploitability, Figure::Rms];
    record.r#final.as_ref().map_or_else(String::new, |score| {
        let found = order.into_iter().find_map(|figure| Some((figure, score.value(figure)?)));
        match (found.unwrap_or((Figure::Rms, f64::NAN)), &score.unit) {
            ((Figure::Matches, value), Some(unit)) => format!("{} {unit} per game, ", shown(value, true)),
            ((Figure::Matches, value), None) => format!("{} points per game, ", Figure::Matches.text(value)),
            ((figure @ (Figure::Equity | Figure::Exploitability | Figure::Rms), value), _) => {
                format!("{} {}, ", figure.short(), figure.text(value))
            }
        }
    })
}
