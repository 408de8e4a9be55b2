//! Table 2 and figure 2 of Wiering & Kröse: a network of ten hidden units learns the bear-off.

use crate::report::{Paper, Report};
use crate::runs::{self, FIRST_SEED, PaperRow, Run, rows};
use adept_lab::chart::{self, Axes, Legend};
use adept_lab::reproduction::Work;
use adept_lab::statistics::{mean_sd, plus_minus};
use adept_trainer::config::Config;
use adept_trainer::run::{Record, Score, TrainError};
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// The rows of the paper with both readings of its inputs, then additional rows.
const ROWS: [PaperRow; 11] = rows!["bearoff":
    "table2-500-simple", "500 examples, simple", Some((0.101, 0.006));
    "table2-500-one-sided", "500 examples, one-sided", Some((0.101, 0.006));
    "table2-5000-simple", "5000 examples, simple", Some((0.044, 0.002));
    "table2-5000-one-sided", "5000 examples, one-sided", Some((0.044, 0.002));
    "table2-td-simple", "TD, simple", Some((0.080, 0.002));
    "table2-td-one-sided", "TD, one-sided", Some((0.080, 0.002));
    "table2-td-500-simple", "TD + 500 examples, simple", Some((0.068, 0.003));
    "table2-td-500-one-sided", "TD + 500 examples, one-sided", Some((0.068, 0.003));
    "table2-expectation-one-sided", "TD, expectation over rolls, one-sided", None;
    "unlimited-10-simple", "unlimited examples, simple", None;
    "unlimited-10-one-sided", "unlimited examples, one-sided", None;
];

/// Number of leading rows whose curves form figure 2: the rows of the paper.
const FIGURE2_ROWS: usize = 8;

/// Details that the paper does not specify.
const NOTE: &str = "The paper names 56 of its 68 inputs but not the other 12: both plausible readings are shown. It \
reports the lowest error on its test positions, which is optimistic. Here, the checkpoint with the lowest error on \
validation positions is scored on test positions, and the final one is shown beside it. Rows without examples report \
the end of the run, as exact values must not influence it. The paper's row TD + 500 contradicts itself (65,000 games \
and 800 epochs, but one epoch per 100 games); here every example is shown 800 times over 65,000 games.";

/// A row: our result and the paper's. Errors are root mean squares of V, in [−1, 1], on test positions.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct BearoffRow {
    /// Name of its config.
    pub(crate) name: String,
    /// Name in the table.
    pub(crate) label: String,
    /// Error in the paper, mean of five runs; `None` if the paper has no such row.
    pub(crate) paper: Option<f64>,
    /// Its standard deviation.
    pub(crate) paper_sd: Option<f64>,
    /// Mean final error over the seeds.
    pub(crate) final_mean: f64,
    /// Standard deviation.
    pub(crate) final_sd: f64,
    /// Mean error of the checkpoints chosen by validation; `None` if the run learns without examples.
    pub(crate) best_mean: Option<f64>,
    /// Standard deviation.
    pub(crate) best_sd: Option<f64>,
    /// Mean seconds per run.
    pub(crate) seconds: f64,
    /// Games or samples per run.
    pub(crate) length: u64,
    /// `games` or `samples`.
    pub(crate) unit: &'static str,
    /// Final errors by seed.
    pub(crate) finals: Vec<f64>,
    /// Errors of the chosen checkpoints, by seed.
    pub(crate) bests: Vec<f64>,
}

/// The whole table.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table2 {
    /// Test positions.
    pub(crate) positions: u64,
    /// The rows.
    pub(crate) rows: Vec<BearoffRow>,
    /// Note on the results.
    pub(crate) note: &'static str,
}

/// Learning curves of the paper's rows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Figure2 {
    /// One curve per row.
    pub(crate) rows: Vec<Curve>,
}

/// A learning curve, averaged over the seeds.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Curve {
    /// Name of its config.
    pub(crate) name: String,
    /// Name in the figure.
    pub(crate) label: String,
    /// Games or samples of the whole run.
    pub(crate) length: u64,
    /// `games` or `samples`.
    pub(crate) unit: &'static str,
    /// Games or samples, and the error on the test positions.
    pub(crate) points: Vec<(f64, f64)>,
    /// The lowest error of the curve.
    pub(crate) lowest: f64,
    /// The last error of the curve.
    pub(crate) last: f64,
}

/// Table 2 as a reproduction.
pub(crate) const TABLE2: Paper = Paper {
    name: "table2",
    about: "Wiering & Kröse: a network of 10 hidden units learns the bear-off",
    runs: |seeds| ROWS.len() as u64 * seeds,
    make: |work| table2(work)?.made(),
};

/// Figure 2 as a reproduction; with the folder of table 2 and `resume`, it reuses its runs.
pub(crate) const FIGURE2: Paper = Paper {
    name: "figure2",
    about: "Wiering & Kröse: the learning curves behind table 2",
    runs: |seeds| FIGURE2_ROWS as u64 * seeds,
    make: |work| {
        let made = figure2(work)?;
        made.with_text(made.body.text())
    },
};

/// Makes table 2.
///
/// # Errors
/// [`TrainError`] of the first run that fails.
pub(crate) fn table2(work: Work<'_>) -> Result<Report<Table2>, TrainError> {
    let Work { games, options, .. } = work;
    let started = Instant::now();
    let configs = runs::configs("bearoff", &ROWS, games, options.quick)?;
    let all = runs::all(&configs, runs::seeds(options), work)?;
    let table = Table2 {
        positions: configs[0].evaluate.positions,
        rows: configs.iter().zip(&all).enumerate().map(|(r, (config, runs))| row(r, config, runs)).collect(),
        note: NOTE,
    };
    let table = Report::new(TABLE2.name, options, started, table);
    let text = markdown(&table);
    table.publish(options, vec![("table2.md".into(), text)])
}

/// Makes figure 2: an SVG, and its points as JSON and CSV.
///
/// # Errors
/// [`TrainError`] of the first run that fails.
pub(crate) fn figure2(work: Work<'_>) -> Result<Report<Figure2>, TrainError> {
    let Work { games, options, .. } = work;
    let started = Instant::now();
    let configs = runs::configs("bearoff", &ROWS[..FIGURE2_ROWS], games, options.quick)?;
    let all = runs::all(&configs, runs::seeds(options), work)?;
    let curves = configs.iter().zip(&all).zip(&ROWS).map(|((config, runs), (name, label, ..))| {
        let folders = runs.iter().map(|(path, _)| path.as_path());
        let points = runs::mean_curve(folders, |line| line["rms"]["rms"].as_f64())?;
        Ok(Curve {
            name: (*name).into(),
            label: (*label).into(),
            length: config.learn.length(),
            unit: config.learn.unit(),
            lowest: points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min),
            last: points.last().map_or(f64::NAN, |p| p.1),
            points,
        })
    });
    let rows = curves.collect::<Result<_, TrainError>>()?;
    let figure = Report::new(FIGURE2.name, options, started, Figure2 { rows });
    // Games and samples have no common scale: each curve spans the whole length of its runs.
    let share = |c: &Curve| c.points.iter().map(|(x, y)| (100.0 * x / c.length as f64, *y)).collect();
    let lines: Vec<_> = figure.body.rows.iter().map(|c| (c.label.clone(), share(c))).collect();
    let title = "Bear-off, 10 hidden units: RMS error of V on test positions, mean of the seeds";
    let svg = chart::lines(title, Axes { x: "% of the run", y: "RMS error" }, Legend::Above, &lines);
    let mut csv = String::from("row,step,rms\n");
    for curve in &figure.body.rows {
        curve.points.iter().for_each(|(x, y)| {
            let _ = writeln!(csv, "{},{x},{y}", curve.name);
        });
    }
    figure.publish(options, vec![("figure2.svg".into(), svg), ("figure2.csv".into(), csv)])
}

fn row(r: usize, config: &Config, runs: &[Run]) -> BearoffRow {
    let (name, label, paper, _) = ROWS[r];
    let figures = |f: fn(&Record) -> Option<&Score>| -> Vec<f64> {
        runs.iter().filter_map(|(_, record)| f(record)).map(Score::figure).collect()
    };
    let (finals, bests) = (figures(|r| r.r#final.as_ref()), figures(|r| r.best.as_ref()));
    let last = mean_sd(&finals);
    let best = (!bests.is_empty()).then(|| mean_sd(&bests));
    BearoffRow {
        name: name.into(),
        label: label.into(),
        paper: paper.map(|p| p.0),
        paper_sd: paper.map(|p| p.1),
        final_mean: last.mean,
        final_sd: last.sd,
        best_mean: best.map(|b| b.mean),
        best_sd: best.map(|b| b.sd),
        seconds: runs::mean_seconds(runs),
        length: config.learn.length(),
        unit: config.learn.unit(),
        finals,
        bests,
    }
}

/// The table as Markdown.
fn markdown(table: &Report<Table2>) -> String {
    let mut text = format!(
        "# Table 2 of Wiering & Kröse: a network of 10 hidden units learns the bear-off\n\nRoot mean square error of \
         V on {} test positions drawn uniformly. {} seeds per row{}, from {FIRST_SEED} on; settings were chosen on \
         smaller seeds.\n\n| row | paper | chosen by validation | final | games or samples | seconds \
         |\n|---|---|---|---|---|---|\n",
        table.body.positions,
        table.seeds,
        if table.quick { ", a twentieth of the games and samples (--quick)" } else { "" },
    );
    for row in &table.body.rows {
        let pair = |mean: Option<f64>, sd: Option<f64>, n: usize, digits: usize| match (mean, sd) {
            (Some(mean), Some(sd)) => plus_minus(mean, sd, n, digits),
            _ => "–".into(),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} {} | {:.1} |",
            row.label,
            pair(row.paper, row.paper_sd, 5, 3),
            pair(row.best_mean, row.best_sd, row.bests.len(), 5),
            pair(Some(row.final_mean), Some(row.final_sd), row.finals.len(), 5),
            row.length,
            row.unit,
            row.seconds
        );
    }
    let _ = writeln!(text, "\n{}", table.body.note);
    text
}

impl Figure2 {
    /// The lowest and last error of each curve.
    fn text(&self) -> String {
        let mut text =
            format!("{:<40} {:>16} {:>10}\n", "curve, mean of the seeds", "lowest RMS error", "at the end");
        for curve in &self.rows {
            let over = if curve.last > 1.02 * curve.lowest { "  overtrained" } else { "" };
            let _ = writeln!(text, "{:<40} {:>16.5} {:>10.5}{over}", curve.label, curve.lowest, curve.last);
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::bearoff::Bearoff;
    use adept_lab::One;

    /// The rows of the paper share its setting: 68 inputs, ten hidden units, 800,000 samples or 130,000 games.
    #[test]
    fn rows_of_the_paper_keep_to_its_setting() {
        let configs = runs::configs("bearoff", &ROWS, &One(Bearoff::default()), false);
        for (config, row) in configs.expect("tracked configs are valid").iter().zip(&ROWS) {
            assert_eq!(config.name, row.0);
            let adept_model::Architecture::Mlp(mlp) = &config.architecture else { panic!("{}", row.0) };
            assert!(mlp.hidden == [10] && mlp.inputs.is_none(), "{}", row.0);
            let learn = &config.learn;
            match row.2 {
                Some(_) if learn.unit() == "samples" => assert_eq!(learn.length(), 800_000, "{}", row.0),
                Some(_) if learn.examples().is_some() => {
                    let shown = learn.length() as f64
                        * learn.td().and_then(|td| td.examples_per_game).unwrap_or_default();
                    assert!(learn.length() == 65_000 && (shown - 400_000.0).abs() < 1.0, "{}", row.0);
                }
                Some(_) => assert_eq!(learn.length(), 130_000, "{}", row.0),
                None => {}
            }
            assert!(config.evaluate.positions == 100_000 && config.evaluate.distribution.is_none());
            assert_eq!(config.game.rules, "bearoff");
        }
    }
}
