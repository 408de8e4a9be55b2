//! Table 1 of Wiering & Kröse: ten architectures learn tic-tac-toe against TTT.

use crate::MEASURING;
use crate::report::{Paper, Report};
use crate::runs::{self, FIRST_SEED, PaperRow, Run, interrupted, rows};
use adept_ground::work;
use adept_lab::Catalogue;
use adept_lab::chart::{self, Axes, Legend};
use adept_lab::checkpoints;
use adept_lab::measure::{EvaluateOptions, SpeedCell, Suite};
use adept_lab::reproduction::Work;
use adept_lab::statistics::{mean_sd, plus_minus};
use adept_trainer::config::Config;
use adept_trainer::run::{Record, TrainError};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// The rows of the paper, then additional rows.
const ROWS: [PaperRow; 12] = rows!["tictactoe":
    "single-30", "single 30", Some((0.526, 0.030));
    "single-50", "single 50", Some((0.577, 0.014));
    "single-80", "single 80", Some((0.600, 0.010));
    "hme-2x40", "HME 2×40, ST 0", Some((0.592, 0.011));
    "hme-2x40-st3", "HME 2×40, ST .3", Some((0.592, 0.009));
    "meta-pi-2x40", "Meta-Pi 2×40, ST 0", Some((0.588, 0.011));
    "meta-pi-2x40-st3", "Meta-Pi 2×40, ST .3", Some((0.587, 0.016));
    "symbolic-9x20", "symbolic 9×20", Some((0.590, 0.013));
    "symbolic-9x30", "symbolic 9×30", Some((0.598, 0.004));
    "lookup", "lookup", Some((0.606, 0.007));
    "single-40", "single 40 (beside ST .3)", None;
    "canonical", "own choice", None;
];

/// Why the paper's optimum is impossible under its rules.
const NOTE: &str = "The paper gives .614 as the best match equity against TTT. That does not follow from its rules: \
the exact optimum is 637/960 = .663542 (89/96 playing first, 2/5 playing second), found by solving the game. \
A player restricted to moves that never risk a loss reaches .593700, minimax with uniform ties .469847.";

/// A row: our result and the paper's.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    /// Name of its config.
    pub(crate) name: String,
    /// Name in the table.
    pub(crate) label: String,
    /// The paper's best equity, mean of ten runs; `None` if the paper has no such row.
    pub(crate) paper: Option<f64>,
    /// Its standard deviation.
    pub(crate) paper_sd: Option<f64>,
    /// Learned parameters (for a table its entries, averaged over the seeds).
    pub(crate) parameters: f64,
    /// Mean exact equity of the final checkpoints.
    pub(crate) final_mean: f64,
    /// Standard deviation.
    pub(crate) final_sd: f64,
    /// Lowest final equity.
    pub(crate) final_min: f64,
    /// Mean equity of the best checkpoints.
    pub(crate) best_mean: f64,
    /// Standard deviation.
    pub(crate) best_sd: f64,
    /// Seeds whose final checkpoint plays perfectly against TTT.
    pub(crate) optimal_final: usize,
    /// Seeds whose best checkpoint plays perfectly against TTT.
    pub(crate) optimal_best: usize,
    /// Mean seconds per run.
    pub(crate) seconds: f64,
    /// Games per run.
    pub(crate) games: u64,
    /// Share of evaluations in which one of the two experts was idle, averaged over the seeds; for rows with a
    /// threshold.
    pub(crate) idle: Option<f64>,
    /// Share of evaluations in which each expert ran, by seed.
    pub(crate) usage: Option<Vec<Vec<f64>>>,
    /// Evaluations per second of the first seed's network; for mixtures.
    pub(crate) speed: Vec<SpeedCell>,
    /// Final equities by seed.
    pub(crate) finals: Vec<f64>,
}

/// The whole table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reproduced {
    /// The rows.
    pub(crate) rows: Vec<Row>,
    /// Evaluations per second with ST .3 divided by those with ST 0, at batch 8 and 512: HME, Meta-Pi (the
    /// paper: 1.77).
    pub(crate) threshold_speedup: Vec<(String, f64, f64)>,
    /// Note on the results.
    pub(crate) note: &'static str,
}

/// Table 1 as a reproduction.
pub(crate) const TABLE1: Paper = Paper {
    name: "table1",
    about: "Wiering & Kröse: ten architectures learn tic-tac-toe",
    runs: |seeds| ROWS.len() as u64 * seeds,
    make: |work| table1(work)?.made(),
};

/// Makes the table.
///
/// # Errors
/// [`TrainError`] of the first run that fails.
pub(crate) fn table1(work: Work<'_>) -> Result<Report<Reproduced>, TrainError> {
    let Work { games, options, cancel, .. } = work;
    let started = Instant::now();
    let configs = runs::configs("tictactoe", &ROWS, games, options.quick)?;
    let all = runs::all(&configs, runs::seeds(options), work)?;
    let mut rows = Vec::with_capacity(configs.len());
    for (r, (config, runs)) in configs.iter().zip(&all).enumerate() {
        if cancel.requested() {
            return Err(interrupted(options));
        }
        work::share(MEASURING, r as f64 / configs.len() as f64);
        rows.push(row(games, r, config, runs)?);
    }
    work::share(MEASURING, 1.0);
    let speed = |name: &str, batch: usize| -> Option<f64> {
        let row: &Row = rows.iter().find(|r| r.name == name)?;
        row.speed.iter().find(|c| c.batch == batch).map(|c| c.evaluations_per_second)
    };
    let ratio = |a: &str, b: &str| {
        Some((a.to_string(), speed(a, 8)? / speed(b, 8)?, speed(a, 512)? / speed(b, 512)?))
    };
    let threshold_speedup = [ratio("hme-2x40-st3", "hme-2x40"), ratio("meta-pi-2x40-st3", "meta-pi-2x40")]
        .into_iter()
        .flatten()
        .collect();
    let table = Reproduced { rows, threshold_speedup, note: NOTE };
    let table = Report::new(TABLE1.name, options, started, table);
    let files = vec![("table1.md".into(), markdown(&table)), ("table1.svg".into(), curves(&all, &configs)?)];
    table.publish(options, files)
}

fn row(games: &dyn Catalogue, r: usize, config: &Config, runs: &[Run]) -> Result<Row, TrainError> {
    let (name, label, paper, _) = ROWS[r];
    let equities = |f: fn(&Record) -> Option<f64>| -> Vec<f64> {
        runs.iter().filter_map(|(_, record)| f(record)).collect()
    };
    let finals = equities(|r| r.r#final.as_ref().and_then(|f| f.equity));
    let bests = equities(|r| r.best.as_ref().and_then(|b| b.equity));
    let optimum = games.find(&config.game.rules)?.baseline(&config.evaluate_against()[0])?.optimal;
    let perfect = |all: &[f64]| all.iter().filter(|e| **e >= optimum - 1e-9).count();
    let mut usage = Vec::new();
    let mut parameters = 0.0;
    for (path, _) in runs {
        let options = EvaluateOptions {
            suites: vec![Suite::Equity],
            against: config.evaluate_against(),
            ..EvaluateOptions::default()
        };
        let report = checkpoints::evaluate(games, path, false, &options)?;
        usage.extend(report.equity.and_then(|e| e.usage).map(|u| u.share));
        parameters += checkpoints::describe(games, path, false)?.size.parameters as f64 / runs.len() as f64;
    }
    // A symbolic gate runs one expert by rule, so idleness is not informative. Nor is speed if no expert can be
    // idle.
    let mixture = matches!(config.architecture.kind(), "hme" | "meta_pi");
    let threshold = mixture && !usage.is_empty();
    let idle = |u: &Vec<f64>| 1.0 - (u.iter().sum::<f64>() - 1.0);
    let (final_summary, best_summary) = (mean_sd(&finals), mean_sd(&bests));
    Ok(Row {
        name: name.into(),
        label: label.into(),
        paper: paper.map(|p| p.0),
        paper_sd: paper.map(|p| p.1),
        parameters,
        final_mean: final_summary.mean,
        final_sd: final_summary.sd,
        final_min: finals.iter().copied().fold(f64::INFINITY, f64::min),
        best_mean: best_summary.mean,
        best_sd: best_summary.sd,
        optimal_final: perfect(&finals),
        optimal_best: perfect(&bests),
        seconds: runs::mean_seconds(runs),
        games: config.learn.length(),
        idle: threshold.then(|| usage.iter().map(idle).sum::<f64>() / usage.len() as f64),
        usage: threshold.then_some(usage),
        speed: match mixture {
            true => {
                let options = EvaluateOptions { suites: vec![Suite::Speed], ..EvaluateOptions::default() };
                checkpoints::evaluate(games, &runs[0].0, false, &options)?.speed.unwrap_or_default()
            }
            false => Vec::new(),
        },
        finals,
    })
}

/// The learning curves as SVG.
fn curves(all: &[Vec<Run>], configs: &[Config]) -> Result<String, TrainError> {
    let mut curves = Vec::new();
    for ((_, label, ..), (config, runs)) in ROWS.iter().zip(configs.iter().zip(all)) {
        let against = &config.evaluate_against()[0];
        let equity = |line: &serde_json::Value| {
            let mut equities = line["equity"].as_array().into_iter().flatten();
            equities.find(|e| e[0] == against.as_str())?[1]["equity"].as_f64()
        };
        let folders = runs.iter().map(|(path, _)| path.as_path());
        curves.push(((*label).to_string(), runs::mean_curve(folders, equity)?));
    }
    let title = "Tic-tac-toe against TTT: exact equity, mean of the seeds";
    Ok(chart::lines(title, Axes { x: "games", y: "equity" }, Legend::Below, &curves))
}

/// The table as Markdown.
fn markdown(table: &Report<Reproduced>) -> String {
    let mut text = format!(
        "# Table 1 of Wiering & Kröse: match equity against TTT\n\n{} seeds per row{}, from {FIRST_SEED} on; \
         settings were chosen on seeds 1 to 10. Equities are exact; the paper \
         reports the best over a run, estimated from games.\n\n\
         | row | parameters | paper (best) | final | best | optimal final / best | seconds \
         |\n|---|---|---|---|---|---|---|\n",
        table.seeds,
        if table.quick { ", a twentieth of the games (--quick)" } else { "" },
    );
    for row in &table.body.rows {
        let paper = match (row.paper, row.paper_sd) {
            (Some(mean), Some(sd)) => format!("{mean:.3} ± {sd:.3}"),
            _ => "–".into(),
        };
        let _ = writeln!(
            text,
            "| {} | {:.0} | {paper} | {} | {} | {} / {} of {} | {:.1} |",
            row.label,
            row.parameters,
            plus_minus(row.final_mean, row.final_sd, row.finals.len(), 4),
            plus_minus(row.best_mean, row.best_sd, row.finals.len(), 4),
            row.optimal_final,
            row.optimal_best,
            table.seeds,
            row.seconds
        );
    }
    text.push('\n');
    for row in table.body.rows.iter().filter(|r| r.idle.is_some()) {
        let least = row.usage.iter().flatten().flatten().copied().fold(f64::INFINITY, f64::min);
        let _ = writeln!(
            text,
            "- {}: one expert idle on {:.1} % of evaluations; the least used expert of any seed ran on {:.1} %.",
            row.label,
            100.0 * row.idle.unwrap_or_default(),
            100.0 * least
        );
    }
    for (name, small, large) in &table.body.threshold_speedup {
        let _ = writeln!(
            text,
            "- {name}: {small:.2} times the evaluations a second of ST 0 at 8 rows per call, {large:.2} times at 512 \
             (the paper: 1.77 in time)."
        );
    }
    let _ = writeln!(text, "\n{}\n\n![curves](table1.svg)", table.body.note);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::tictactoe::TicTacToe;
    use adept_lab::One;

    /// The rows of the paper share its setting: nine inputs, TTT, at most a million games.
    #[test]
    fn rows_of_the_paper_keep_to_its_setting() {
        let configs = runs::configs("tictactoe", &ROWS, &One(TicTacToe), false);
        for (config, row) in configs.expect("tracked configs are valid").iter().zip(&ROWS) {
            assert_eq!(config.name, row.0);
            assert_eq!(config.learn.against(), "ttt");
            if row.2.is_some() {
                assert_eq!(config.game.encoder.as_deref(), Some("fields"), "{}", row.0);
                assert!(config.learn.length() <= 1_000_000, "{}", row.0);
            }
        }
    }
}
