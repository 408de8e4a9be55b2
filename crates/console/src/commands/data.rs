//! The command `data`.

use super::play::game_of;
use crate::args::{BuildDataArgs, DataAction, DataArgs};
use crate::interrupt::on_interrupt;
use crate::output;
use adept_lab::Catalogue;
use adept_lab::labelling::LabelOptions;
use adept_trainer::labels::{ClassRows, Contradiction, LabelReport, LabelRow};
use anyhow::{Result, bail};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(games: &dyn Catalogue, args: &DataArgs, as_json: bool) -> Result<()> {
    match &args.action {
        DataAction::Build(args) => build(games, args, as_json),
        DataAction::Check { file, game, tolerance } => check(games, file, game, *tolerance, as_json),
    }
}

fn build(games: &dyn Catalogue, args: &BuildDataArgs, as_json: bool) -> Result<()> {
    if args.by.truncate.is_some() && args.trials.is_none() {
        bail!("--truncate is for rollouts: add --trials, such as --trials 36");
    }
    let options = LabelOptions {
        agent: args.by.with.clone(),
        best: args.by.best,
        count: args.count,
        moves: args.moves as usize,
        starts: args.starts.clone(),
        one_ply: args.one_ply,
        hard: args.hard,
        trials: args.trials,
        truncate: args.by.truncate,
        seed: args.by.seed,
        threads: args.by.threads,
        out: args.out.clone(),
        resume: args.resume,
    };
    let game = game_of(games, &args.by.with, args.by.game.as_deref(), args.by.best)?;
    let stopping = "\nstopping, with the positions so far (again to stop at once)";
    let made = game.label_positions(&options, &on_interrupt(stopping))?;
    let (rows, of) = (counted(made.rows, "row"), counted(made.games, "game"));
    output::show(as_json, || &made, || format!("{}: {rows}, of {of}\n", made.path.display()))?;
    match made.finished {
        true => Ok(()),
        false => bail!("stopped before the end: continue with --out {} --resume", args.out.display()),
    }
}

fn check(games: &dyn Catalogue, file: &Path, game: &str, tolerance: f64, as_json: bool) -> Result<()> {
    let report = games.find(game)?.check_labels(file, tolerance)?;
    output::show(
        as_json,
        || json!({ "file": file.display().to_string(), "data": report }),
        || text(&report),
    )?;
    if report.has_faults() {
        bail!("{}: {}", file.display(), faults(&report));
    }
    Ok(())
}

/// What is wrong with a file.
fn faults(report: &LabelReport) -> String {
    let LabelReport { contradictions, disagreements, tolerance, .. } = report;
    let all = [
        (*contradictions, ["contradicts an earlier row", "contradict an earlier row"]),
        (*disagreements, ["differs from exact values", "differ from exact values"]),
    ];
    let words = |(rows, [one, many]): &(u64, [&str; 2])| match rows {
        0 => None,
        1 => Some(format!("1 row {one}")),
        rows => Some(format!("{rows} rows {many}")),
    };
    let all: Vec<String> = all.iter().filter_map(words).collect();
    format!("{} by more than {tolerance}", all.join(", "))
}

/// The report in 80 columns.
fn text(report: &LabelReport) -> String {
    let mut text = format!(
        "{}: {}, {}, {}\n\
         values from {:+.4} to {:+.4}, mean {:+.4}, for the player to move\n\
         a run learns from {}, chooses by {}, and is measured on {} of them\n",
        counted(report.rows, "row"),
        counted(report.positions, "position"),
        counted(report.duplicates, "duplicate"),
        counted(report.contradictions, "contradiction"),
        report.min,
        report.max,
        report.mean,
        report.parts.training,
        report.parts.validation,
        report.parts.test
    );
    text.push_str(&agreement(report));
    if report.looks_like_probabilities() {
        text.push_str(&output::wrapped(LabelReport::PROBABILITIES));
    }
    if !report.worst.is_empty() {
        let row = |row: &LabelRow| {
            let LabelRow { line, position, value, exact } = row;
            vec![line.to_string(), position.clone(), format!("{value:+.4}"), format!("{exact:+.4}")]
        };
        let header = ["worst line", "position", "value", "exact"];
        text.push_str(&format!("\n{}", output::table(&header, report.worst.iter().map(row))));
    }
    if !report.contradicting.is_empty() {
        let row = |found: &Contradiction| {
            let Contradiction { line, position, value, first_line, first_value } = found;
            let [value, first_value] = [value, first_value].map(|value| format!("{value:+.4}"));
            vec![line.to_string(), position.clone(), value, first_line.to_string(), first_value]
        };
        let header = ["contradicting line", "position", "value", "earlier line", "value"];
        text.push_str(&format!("\n{}", output::table(&header, report.contradicting.iter().map(row))));
    }
    if report.classes.len() > 1 {
        let row = |ClassRows { name, rows, share }: &ClassRows| {
            vec![name.clone(), rows.to_string(), format!("{:.1} %", 100.0 * share)]
        };
        let header = [&*report.class, "rows", "share"];
        text.push_str(&format!("\n{}", output::table(&header, report.classes.iter().map(row))));
    }
    text
}

/// A number of things, such as `1 row` and `2 rows`.
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How the values agree with exact ones.
fn agreement(report: &LabelReport) -> String {
    let (Some(max), Some(rms)) = (report.max_abs_error, report.rms_error) else {
        let why = report.not_compared.as_deref().unwrap_or("the game has none for these positions");
        return output::wrapped(&format!("not compared with exact values: {why}"));
    };
    let mut text = output::wrapped(&format!(
        "exact values: {} of {} rows differ by more than {}; largest difference {}, rms {}",
        report.disagreements,
        report.compared,
        report.tolerance,
        output::short(max),
        output::short(rms)
    ));
    if let Some(reading) = report.reading {
        text.push_str(&output::wrapped(&format!("{} of them {}", reading.explains, reading.of.advice())));
    }
    text
}
