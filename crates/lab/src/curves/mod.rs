//! Learning curves: the figure of a run over its games or samples, with a baseline and the best possible value.
//!
//! A finished run gets two files: `references.json`, the values to compare with, and `curve.svg`. Several seeds share a
//! chart with mean and band.

mod canvas;
mod references;

pub use canvas::{HEIGHT, WIDTH, canvas};
pub(crate) use references::of_game;
pub use references::{Reference, References};

use crate::chart::{self, Axes, Band, Mark, Scale};
use crate::compare::{self, CompareError};
use crate::statistics::Sample;
use adept_ground::files::Files;
use adept_model::ModelError;
use adept_trainer::config::{Config, Figure, HeadName, MeasuredOn};
use adept_trainer::run::{Record, measurements, record_of};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Larger numbers are not drawn, because they would compress all others.
const DRAWN: f64 = 1e12;

/// One measurement of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Games learned from, or samples.
    pub step: u64,
    /// The figure.
    pub value: f64,
    /// Its 95 % interval, if it is an estimate.
    pub ci95: Option<[f64; 2]>,
    /// Mean loss per sample since the previous measurement.
    pub loss: Option<f64>,
}

/// The mean of an experiment's runs at one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// Games learned from, or samples.
    pub step: u64,
    /// Mean of the figure over the runs.
    pub mean: f64,
    /// Standard deviation over the runs; 0 for one run.
    pub sd: f64,
}

/// The curve of one experiment: the mean over its runs, which differ only in their seeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Name of the experiment.
    pub name: String,
    /// Its config.
    pub config: Config,
    /// The measured figure; none for the training loss.
    pub figure: Option<Figure>,
    /// Number of runs.
    pub runs: usize,
    /// The steps at which all runs were measured.
    pub points: Vec<Mean>,
    /// Reference values, if known.
    pub references: Option<References>,
}

/// The opponent of the figure, if any.
fn opponent(config: &Config) -> Option<String> {
    config.evaluate_against().into_iter().next()
}

/// Axis label of a config's figure.
pub fn label(config: &Config) -> String {
    config.measure().unwrap_or("nothing measured".into())
}

/// Axis label of a config's loss.
pub fn loss_label(config: &Config) -> String {
    match config.head {
        HeadName::Outcomes => "log loss on what was learned from".into(),
        _ => "loss on what was learned from".into(),
    }
}

/// The measurements of a run, in order.
///
/// # Errors
/// See [`measurements`].
pub fn points(run: &Path, record: &Record) -> Result<Vec<Point>, ModelError> {
    Ok(points_in(&record.config, &measurements(run, record)?))
}

/// The points of the figure in measurements of a run, in order.
pub fn points_in(config: &Config, lines: &[Value]) -> Vec<Point> {
    let Some(figure) = config.figure() else { return Vec::new() };
    let against = opponent(config);
    let point = |line: &Value| -> Option<Point> {
        let value = match figure {
            Figure::Equity => {
                let mut all = line["equity"].as_array()?.iter();
                all.find(|e| e[0].as_str() == against.as_deref())?[1]["equity"].as_f64()?
            }
            Figure::Rms => line["rms"]["rms"].as_f64()?,
            Figure::Matches => line["matches"][0]["score"].as_f64()?,
            Figure::Exploitability => line["exploitability"].as_f64()?,
        };
        let [low, high] = [0, 1].map(|end| line["matches"][0]["ci95"][end].as_f64());
        let ci95 = low.zip(high).filter(|_| figure == Figure::Matches).map(|(low, high)| [low, high]);
        let point = Point { step: line["step"].as_u64()?, value, ci95, loss: line["loss"].as_f64() };
        (value.abs() < DRAWN).then_some(point)
    };
    lines.iter().filter_map(point).collect()
}

/// The mean loss per sample between the measurements of a run, with the step of the later one.
pub fn losses_in(lines: &[Value]) -> Vec<(u64, f64)> {
    let loss = |line: &Value| Some((line["step"].as_u64()?, line["loss"].as_f64()?));
    let is_drawn = |(_, loss): &(u64, f64)| loss.abs() < DRAWN;
    lines.iter().filter_map(loss).filter(is_drawn).collect()
}

/// The mean curve of the runs of one experiment; `None` if they measure nothing.
///
/// # Errors
/// See [`points`].
pub fn curve(runs: &[(PathBuf, Record)], show: Show) -> Result<Option<Curve>, ModelError> {
    let Some((_, first)) = runs.first() else { return Ok(None) };
    let figure = first.config.figure().filter(|_| show != Show::Loss);
    if figure.is_none() && show != Show::Loss {
        return Ok(None);
    }
    let mut at: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    let mut references = None;
    for (path, record) in runs {
        if figure.is_none() {
            losses_in(&measurements(path, record)?)
                .iter()
                .for_each(|(step, loss)| at.entry(*step).or_default().push(*loss));
            continue;
        }
        for point in points(path, record)? {
            at.entry(point.step).or_default().push(point.value);
        }
        references = references.or_else(|| References::read(path));
    }
    let mean = |(step, values): (&u64, &Vec<f64>)| {
        let sample = Sample::new(values);
        Some(Mean { step: *step, mean: sample.mean?, sd: sample.sd.unwrap_or(0.0) })
    };
    let points = at.iter().filter(|(_, values)| values.len() == runs.len()).filter_map(mean).collect();
    let (name, config) = (first.name.clone(), first.config.clone());
    Ok(Some(Curve { name, config, figure, runs: runs.len(), points, references }))
}

/// The curves of these experiments: each is a run folder, a folder of runs, or the name of runs in `checkpoints/runs`.
/// Runs of one folder with different settings become several curves.
///
/// # Errors
/// [`CompareError::Side`] if one names no runs, or if they do not measure the same figure.
pub fn curves(given: &[PathBuf], show: Show) -> Result<Vec<Curve>, CompareError> {
    let (mut found, mut named): (Vec<Curve>, Vec<&PathBuf>) = (Vec::new(), Vec::new());
    for given in given {
        let fail = |message: String| CompareError::Side { given: given.clone(), message };
        let mut experiments: Vec<Vec<(PathBuf, Record)>> = Vec::new();
        for path in compare::folders(given)? {
            let Some(record) = record_of(&path)? else { continue };
            let same = |runs: &&mut Vec<(PathBuf, Record)>| {
                let other = &runs[0].1.config;
                Config { seed: other.seed, ..record.config.clone() } == *other
            };
            match experiments.iter_mut().find(same) {
                Some(runs) => runs.push((path, record)),
                None => experiments.push(vec![(path, record)]),
            }
        }
        if experiments.is_empty() {
            let message = "names no runs: give a run folder, a folder of runs, or the name of an experiment; `adept runs \
                           list` shows them";
            return Err(fail(message.into()));
        }
        let several = experiments.len() > 1;
        for runs in &experiments {
            let Some(mut curve) = curve(runs, show)? else {
                let message = "its runs measured nothing: set `evaluate.suites` in the config";
                return Err(fail(message.into()));
            };
            // A run that diverged early has no points.
            if curve.points.is_empty() {
                continue;
            }
            if several {
                // Experiments of a sweep share a name; their folders distinguish them.
                let folder = runs[0].0.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let seed = format!("-{}", runs[0].1.seed);
                curve.name = folder.strip_suffix(&seed).unwrap_or(&folder).into();
            }
            let shown = |c: &Curve| {
                format!("{} of {} over {}", c.label(), c.config.game.rules, c.config.learn.unit())
            };
            if let Some(first) = found.first().map(shown).filter(|first| *first != shown(&curve)) {
                return Err(fail(format!(
                    "measures {}, and the first run {first}: draw them separately",
                    shown(&curve)
                )));
            }
            found.push(curve);
        }
        if found.is_empty() {
            return Err(fail("has no measurements yet".into()));
        }
        found.iter_mut().skip(named.len()).for_each(|_| named.push(given));
    }
    // Runs of a sweep that are given individually also share a name.
    let names: Vec<String> = found.iter().map(|curve| curve.name.clone()).collect();
    for ((curve, given), name) in found.iter_mut().zip(named).zip(&names) {
        if names.iter().filter(|other| *other == name).count() > 1 {
            curve.name =
                given.file_name().map_or(name.clone(), |folder| folder.to_string_lossy().into_owned());
        }
    }
    Ok(found)
}

/// Quantity that a chart of curves shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Errors, or the distance of an equity to its known optimum, on a logarithmic scale.
    Distance,
    /// The measured figure.
    Values,
    /// The training loss, averaged over the samples between two measurements. For networks with outcome probabilities,
    /// a log loss on a linear scale, because no prediction can reach 0; otherwise on a logarithmic scale.
    Loss,
}

/// Content of a chart of curves, for SVG and the terminal.
struct Drawing {
    /// Label of the y-axis.
    label: String,
    scale: Scale,
    bands: Vec<Band>,
    marks: Vec<Mark>,
}

/// Smaller distances are rounding errors and drawn as 0.
const EXACT: f64 = 1e-9;

impl Drawing {
    /// `marks` are drawn in addition to the references.
    fn new(curves: &[Curve], show: Show, marks: &[Mark]) -> Option<Self> {
        let first = curves.first()?;
        let named = |name: &str, value: f64| Mark { name: format!("{name} {value:.4}"), value };
        let optima: Option<Vec<f64>> = curves.iter().map(Curve::optimum).collect();
        let distances = optima.filter(|_| show == Show::Distance).map(|optima| {
            let distance = |m: &Mean, best: f64| if best - m.mean > EXACT { best - m.mean } else { 0.0 };
            let band = |(curve, best): (&Curve, f64)| Band {
                name: curve.legend(),
                points: curve.points.iter().map(|m| (m.step as f64, distance(m, best), m.sd)).collect(),
            };
            curves.iter().zip(optima).map(band).collect::<Vec<Band>>()
        });
        // Curves that are at the optimum from their first point on have nothing to draw.
        if let (Some(bands), Some(References { baseline, best, .. })) = (distances, &first.references)
            && bands.iter().flat_map(|band| &band.points).any(|p| p.1 > 0.0)
        {
            let far = |name: &str, value: f64| named(name, best.value - value);
            let others = marks.iter().map(|mark| far(&mark.name, mark.value));
            return Some(Self {
                label: format!("distance to the best {}, {:.4}", label(&first.config), best.value),
                scale: Scale::Log,
                bands,
                marks: std::iter::once(far(&baseline.name, baseline.value)).chain(others).collect(),
            });
        }
        let band = |curve: &Curve| Band {
            name: curve.legend(),
            points: curve.points.iter().map(|m| (m.step as f64, m.mean, m.sd)).collect(),
        };
        let is_log = match first.figure {
            Some(figure) => figure.is_error(),
            None => first.config.head != HeadName::Outcomes,
        };
        let scale = if is_log { Scale::Log } else { Scale::Linear };
        // Exact values have no error, and 0 has no place on a logarithmic scale.
        let references = first.references.iter().flat_map(References::all);
        let references = references.filter(|r| scale == Scale::Linear || r.value > 0.0);
        Some(Self {
            label: first.label(),
            scale,
            bands: curves.iter().map(band).collect(),
            marks: references
                .map(|r| Mark { name: r.to_string(), value: r.value })
                .chain(marks.iter().map(|mark| named(&mark.name, mark.value)))
                .collect(),
        })
    }
}

/// Draws the curves as an SVG document with labelled axes. All must measure the same figure. `marks` become horizontal
/// dashed lines.
pub fn svg(curves: &[Curve], show: Show, marks: &[Mark]) -> String {
    let (Some(first), Some(mut drawing)) = (curves.first(), Drawing::new(curves, show, marks)) else {
        return String::new();
    };
    // Common properties of all curves appear once, in the title.
    let runs = curves.iter().all(|c| c.runs == first.runs && c.runs > 1).then_some(first.runs);
    if runs.is_some() {
        drawing.bands.iter_mut().zip(curves).for_each(|(band, curve)| band.name.clone_from(&curve.name));
    }
    let title = match curves {
        [one] if !one.config.about.is_empty() => format!("{}: {}", one.name, one.config.about),
        [one] => one.name.clone(),
        _ => first.config.game.rules.clone(),
    };
    let title = match runs {
        Some(runs) => format!("{title} (mean ± sd of {runs} runs)"),
        None => title,
    };
    let Drawing { label, scale, bands, marks } = drawing;
    chart::bands(&title, Axes { x: first.config.learn.unit(), y: &label }, scale, &bands, &marks)
}

impl Curve {
    /// Its name and number of runs.
    fn legend(&self) -> String {
        match self.runs {
            1 => self.name.clone(),
            n => format!("{}, mean ± sd of {n} runs", self.name),
        }
    }

    /// Axis label of the quantity.
    fn label(&self) -> String {
        match self.figure {
            Some(_) => label(&self.config),
            None => loss_label(&self.config),
        }
    }

    /// The best equity that any player can reach against the opponent, if known.
    pub(crate) fn optimum(&self) -> Option<f64> {
        let is_known = self.figure?.measured_on() == MeasuredOn::Opponent;
        self.references.as_ref().filter(|_| is_known).map(|references| references.best.value)
    }
}

/// Whether a run's `curve.svg` is missing or older than its last learning step.
pub(crate) fn is_stale(run: &Path) -> bool {
    let changed = |name: &str| run.join(name).metadata().and_then(|file| file.modified()).ok();
    changed("curve.svg") < changed("run.json")
}

/// Writes `curve.svg` of a run.
pub(crate) fn write(files: &Files, run: &Path, record: &Record) -> Result<(), ModelError> {
    let runs = [(run.to_path_buf(), record.clone())];
    if let Some(curve) = curve(&runs, Show::Distance)?.filter(|curve| !curve.points.is_empty()) {
        files.replace(&run.join("curve.svg"), svg(&[curve], Show::Distance, &[]).as_bytes())?;
    }
    Ok(())
}

/// Writes the mean and band of several runs of one experiment, as `NAME.svg` next to their folders. Returns its path;
/// `None` if they measure nothing.
///
/// # Errors
/// [`ModelError::Io`] if a file cannot be read or written.
pub fn write_mean(files: &Files, runs: &[(PathBuf, Record)]) -> Result<Option<PathBuf>, ModelError> {
    let Some(curve) = curve(runs, Show::Distance)?.filter(|curve| !curve.points.is_empty()) else {
        return Ok(None);
    };
    let beside = runs.first().and_then(|(path, _)| path.parent()).unwrap_or(Path::new(""));
    let path = beside.join(format!("{}.svg", curve.name));
    files.replace(&path, svg(&[curve], Show::Distance, &[]).as_bytes())?;
    Ok(Some(path))
}
