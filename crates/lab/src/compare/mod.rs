//! Compares two experiments: their configs and the results of their runs.

mod side;

pub use adept_trainer::settings::Difference;

use crate::statistics::{Sample, Seeded, Test, bootstrap95, correlation, difference};
use adept_model::ModelError;
use adept_trainer::config::{Config, Examples, Figure, MeasuredOn};
use adept_trainer::run::Record;
use adept_trainer::settings;
use serde::Serialize;
use side::Side;
pub(crate) use side::folders;
use std::path::{Path, PathBuf};

/// Why two experiments cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// One side is not a set of runs of one experiment.
    #[error("{}: {message}", given.display())]
    Side {
        /// The path or name that was given.
        given: PathBuf,
        /// The fault and what to do.
        message: String,
    },
    /// A file could not be read.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// A value for each side.
#[derive(Clone, Debug, Serialize)]
pub struct Sides<T> {
    /// First side.
    pub a: T,
    /// Second side.
    pub b: T,
}

/// Differences between two experiments.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Settings that differ.
    pub config: Vec<Difference>,
    /// Runs that are compared.
    pub runs: Sides<Vec<PathBuf>>,
    /// Unfinished runs, which are omitted.
    pub unfinished: Sides<Vec<PathBuf>>,
    /// Results of the runs.
    pub metrics: Vec<MetricChange>,
    /// Notes on the comparison, one per line.
    pub notes: Vec<String>,
}

/// Change of one figure between the runs of both sides.
#[derive(Clone, Debug, Serialize)]
pub struct MetricChange {
    /// `final_equity`, `best_equity` (exact, in [−1, 1]), `loss` (mean per sample before the last measurement),
    /// `seconds` or `games` (per run).
    pub metric: String,
    /// Over the runs of the first side.
    pub a: Sample,
    /// Over the runs of the second side.
    pub b: Sample,
    /// Mean of b minus mean of a; `None` if they cannot be compared.
    pub difference: Option<f64>,
    /// Its 95 % confidence interval; `None` if a side has one run, or if the runs, or the differences of pairs, do not vary.
    pub ci95: Option<[f64; 2]>,
    /// p of the test; `None` in the same cases.
    pub p: Option<f64>,
    /// The test of interval and p: paired if both sides have the same seeds, which share dice and positions.
    pub test: Option<Test>,
    /// Correlation of runs with the same seed; `None` if the seeds differ or the figures do not vary.
    pub correlation: Option<f64>,
    /// 95 % interval of the difference by bootstrap; `None` if a side has one run.
    pub bootstrap95: Option<[f64; 2]>,
}

/// Compares two experiments. Each is given as a run folder, as a folder with runs of one experiment, or as a
/// name NAME. A name stands for the run folders NAME-SEED in `checkpoints/runs`.
///
/// # Errors
/// [`CompareError`] if a side has no finished run, or runs of several experiments.
pub fn compare(a: &Path, b: &Path) -> Result<Comparison, CompareError> {
    let a = Side::read(a)?;
    let b = Side::read(b)?.beside(&a)?;
    let alike = measured(&a.config) == measured(&b.config);
    let figure = a.config.figure().or(b.config.figure()).map_or("equity", Figure::name);
    // Different quantities share a neutral name.
    let figure = if a.config.figure() == b.config.figure() { figure } else { "figure" };
    let seconds = |run: &Record| Some(run.seconds);
    let steps = |run: &Record| Some(run.step as f64);
    let metrics = [
        metric(&format!("final_{figure}"), &a.finals(), &b.finals(), alike),
        metric(&format!("best_{figure}"), &a.bests(), &b.bests(), alike),
        metric("loss", &a.losses()?, &b.losses()?, true),
        metric("seconds", &a.figures(seconds), &b.figures(seconds), true),
        metric(
            a.config.learn.unit(),
            &a.figures(steps),
            &b.figures(steps),
            a.config.learn.unit() == b.config.learn.unit(),
        ),
    ];
    let paths = |side: &Side| side.runs.iter().map(|(path, _)| path.clone()).collect();
    Ok(Comparison {
        config: settings::differences(&a.settings, &b.settings),
        runs: Sides { a: paths(&a), b: paths(&b) },
        notes: notes(&a, &b),
        unfinished: Sides { a: a.unfinished, b: b.unfinished },
        metrics: metrics.into_iter().flatten().collect(),
    })
}

/// The context of a run's figure: the game, and the opponent or the positions.
pub fn measured(config: &Config) -> (&str, Option<String>) {
    let positions = || {
        let (learn, evaluate) = (&config.learn, &config.evaluate);
        if let Some(Examples::File(path)) = learn.examples() {
            return format!("positions of {}", path.display());
        }
        let distribution = evaluate.distribution.as_deref().or(learn.distribution());
        let which = distribution.map_or(String::new(), |name| format!(" of the distribution {name}"));
        format!("{} positions{which}", evaluate.positions)
    };
    let by = config.measured_on().and_then(|on| match on {
        MeasuredOn::Opponent | MeasuredOn::Games => config.evaluate_against().into_iter().next(),
        MeasuredOn::Positions => Some(positions()),
        MeasuredOn::BestResponses => Some("best responses".into()),
    });
    (&config.game.rules, by)
}

impl MetricChange {
    /// The change of a figure between two sides, which may be `comparable` or not.
    pub fn new(name: &str, a: &[Seeded], b: &[Seeded], comparable: bool) -> Self {
        let sample = |side: &[Seeded]| Sample::new(&side.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        let tested = if comparable { difference(a, b) } else { None };
        let (mean_a, mean_b) = (sample(a), sample(b));
        Self {
            metric: name.into(),
            a: mean_a,
            b: mean_b,
            difference: mean_a.mean.zip(mean_b.mean).filter(|_| comparable).map(|(a, b)| b - a),
            ci95: tested.map(|t| t.ci95),
            p: tested.map(|t| t.p),
            test: tested.map(|t| t.test),
            correlation: correlation(a, b).filter(|_| comparable),
            bootstrap95: bootstrap95(a, b).filter(|_| comparable),
        }
    }
}

/// `None` if neither side has this figure.
fn metric(name: &str, a: &[Seeded], b: &[Seeded], comparable: bool) -> Option<MetricChange> {
    (a.len() + b.len() > 0).then(|| MetricChange::new(name, a, b, comparable))
}

fn notes(a: &Side, b: &Side) -> Vec<String> {
    let mut notes = Vec::new();
    let (by_a, by_b) = (measured(&a.config), measured(&b.config));
    if by_a != by_b {
        let said = |(game, against): (&str, Option<String>)| match against {
            Some(by) => format!("{game} against {by}"),
            None => format!("{game} without measurements"),
        };
        notes.push(format!(
            "figures are not comparable: a is measured in {}, b in {}; use `adept evaluate` to measure both in the \
             same way",
            said(by_a),
            said(by_b)
        ));
    }
    if a.config.learn != b.config.learn || a.config.architecture.kind() != b.config.architecture.kind() {
        notes.push(
            "each side's loss is over its own samples, and for an HME it is a likelihood: a lower loss does not mean \
             better play".into(),
        );
    }
    for (name, side) in [("a", a), ("b", b)] {
        let changed = side.runs.iter().filter(|(_, record)| !record.changed.is_empty()).count();
        if changed > 0 {
            notes.push(format!(
                "{changed} of {} runs of side {name} had settings changed while they learned (`changed` in run.json): the configs do \
                 not tell all",
                side.runs.len()
            ));
        }
    }
    let one = |side: &Side| side.runs.len() == 1;
    if one(a) || one(b) {
        let which = match (one(a), one(b)) {
            (true, true) => "each side",
            (true, false) => "side a",
            _ => "side b",
        };
        notes.push(format!("{which} has one seed, which gives no significance: train more seeds"));
    }
    notes
}
