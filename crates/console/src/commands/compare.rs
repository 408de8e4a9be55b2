//! The command `runs compare`.

use crate::output::{self, say};
use adept_lab::compare::{MetricChange, compare};
use adept_lab::statistics::{Sample, Test};
use adept_trainer::config::Figure;
use anyhow::Result;
use std::path::Path;

pub(crate) fn run(a: &Path, b: &Path, bootstrap: bool, as_json: bool) -> Result<()> {
    let found = compare(a, b)?;
    for run in found.unfinished.a.iter().chain(&found.unfinished.b) {
        say(format!("skipped, not finished: {}", run.display()));
    }
    if as_json {
        return output::json(&found);
    }
    let mut text = format!("a: {}\nb: {}\n\n", a.display(), b.display());
    if found.config.is_empty() {
        text.push_str("the configs do not differ\n");
    } else {
        let rows: Vec<Vec<String>> = found.config.iter().map(|d| d.cells().to_vec()).collect();
        text.push_str(&settings(&rows));
    }
    let rows = found.metrics.iter().map(|metric| cells(metric, bootstrap));
    let header = ["mean ± sd (runs)", "a", "b", "b − a", "95 % interval", "p"];
    text.push_str(&format!("\n{}", output::table(&header, rows)));
    for note in &found.notes {
        text.push_str(&format!("\n{note}"));
    }
    text.push('\n');
    text.push_str(&output::wrapped(&method(&found.metrics, bootstrap)));
    output::text(&text)
}

/// How differences were tested, and the correlation of pairs.
fn method(metrics: &[MetricChange], bootstrap: bool) -> String {
    let of = |test: Test| metrics.iter().filter(move |metric| metric.test == Some(test));
    let pairs = "Student's t of pairs of the same seed";
    if metrics.iter().all(|metric| metric.test.is_none()) {
        return "p: not tested, because the differences do not vary".into();
    }
    let mut text = "p: two-sided, by ".to_string();
    match (of(Test::Paired).next(), of(Test::Welch).next()) {
        (None, _) => text.push_str("Welch's t-test over the seeds"),
        (Some(_), None) => text.push_str(pairs),
        (Some(_), Some(_)) => {
            let paired: Vec<String> =
                of(Test::Paired).map(|metric| metric.metric.replace('_', " ")).collect();
            text.push_str(&format!("{pairs} for {}, else by Welch's t-test", paired.join(", ")))
        }
    }
    let correlations: Vec<String> = of(Test::Paired)
        .map(|metric| {
            let shown = metric.correlation.map_or_else(|| "–".into(), |r| format!("{r:.2}"));
            format!("{} {shown}", metric.metric.replace('_', " "))
        })
        .collect();
    if !correlations.is_empty() {
        text.push_str(&format!("; correlation: {}", correlations.join(", ")));
    }
    if bootstrap {
        text.push_str("; intervals by bootstrap");
    }
    text
}

/// The settings that differ, as a table, or with a line per side where the table would be too wide.
fn settings(rows: &[Vec<String>]) -> String {
    let table = output::table(&["setting", "a", "b"], rows.to_vec());
    if table.lines().all(|line| line.chars().count() <= output::COLUMNS) {
        return table;
    }
    let side = |name: &str, value: &str| output::entry(&format!("  {name}:"), 5, value);
    rows.iter().map(|row| format!("{}\n{}{}", row[0], side("a", &row[1]), side("b", &row[2]))).collect()
}

fn cells(metric: &MetricChange, bootstrap: bool) -> Vec<String> {
    let none = || "–".to_string();
    let name = metric.metric.as_str();
    let of_figure = name.strip_prefix("final_").or_else(|| name.strip_prefix("best_"));
    let figure = Figure::ALL.into_iter().find(|figure| of_figure == Some(figure.name()));
    // Digits after the decimal point, and a sign if the scale has two.
    let (places, signed) = match (figure, name) {
        (Some(Figure::Equity), _) => (4, true),
        (Some(Figure::Rms | Figure::Exploitability), _) => (6, false),
        (Some(Figure::Matches), _) => (4, false),
        (None, "loss") => (5, false),
        (None, "seconds") => (2, false),
        (None, _) => (0, false),
    };
    let short = figure == Some(Figure::Rms) || name == "loss";
    let plain = |v: f64| if short { output::short(v) } else { format!("{v:.places$}") };
    let plus = |v: f64| match short {
        true => format!("{}{}", if v < 0.0 { "-" } else { "+" }, output::short(v.abs())),
        false => format!("{v:+.places$}"),
    };
    let side = |s: Sample| {
        let Some(mean) = s.mean else { return none() };
        let mean = if signed { plus(mean) } else { plain(mean) };
        let sd = s.sd.map_or_else(String::new, |sd| format!(" ± {}", plain(sd)));
        format!("{mean}{sd} ({})", s.n)
    };
    vec![
        metric.metric.replace('_', " "),
        side(metric.a),
        side(metric.b),
        metric.difference.map_or_else(none, plus),
        if bootstrap { metric.bootstrap95 } else { metric.ci95 }
            .map_or_else(none, |[low, high]| format!("{} … {}", plus(low), plus(high))),
        metric.p.map_or_else(none, |p| if p < 1e-4 { "< 0.0001".into() } else { format!("{p:.4}") }),
    ]
}
