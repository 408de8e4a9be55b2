//! A report of runs as one HTML file: curves, final figures, errors by class, calibration, gates, configs, and commands
//! to repeat them.
//!
//! The file contains its data as JSON, and the styles and charts of the web page. It loads nothing from a server.

use crate::catalogue::Catalogue;
use crate::chart::{Axes, Band, Mark, Range, Scale};
use crate::checkpoints;
use crate::compare::{self, CompareError};
use crate::curves::{self, Curve, Mean, Reference, References, Show};
use crate::gates::{self, CellMap};
use crate::measure::{self, Bin, ErrorsOf, EvaluateOptions, Kinds};
use crate::statistics::Sample;
use adept_ground::files::Files;
use adept_ground::shown::shell_path;
use adept_ground::work;
use adept_model::ModelError;
use adept_model::checkpoint;
use adept_trainer::config::{Config, HeadName};
use adept_trainer::run::{Record, Score, TrainError, losses, measurements, numbers, record_of};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use std::time::{SystemTime, UNIX_EPOCH};

/// Largest number of runs in a report.
pub const RUNS: usize = 200;
/// Largest number of points of a curve.
const POINTS: usize = 2000;
/// Largest number of experts drawn separately; the others are summed.
const EXPERTS: usize = 12;
/// Largest number of cells of a drawn map.
const CELLS: usize = 1 << 16;
/// Milliseconds of a second.
const MS: f64 = 1000.0;

/// An experiment: its runs, sorted by seed, which is their only difference.
#[derive(Clone, Debug)]
pub struct Experiment {
    name: String,
    runs: Vec<(PathBuf, Record)>,
}

impl Experiment {
    fn first(&self) -> &Record {
        &self.runs[0].1
    }

    fn config(&self) -> &Config {
        &self.first().config
    }

    /// Whether a run is another seed of this experiment. A repeated seed belongs to a second experiment, for example of
    /// another revision.
    fn has_room_for(&self, record: &Record) -> bool {
        let first = self.first();
        let config = record.config_beside(&first.config, first.folder.as_deref());
        Config { seed: first.config.seed, ..config }.same_experiment(&first.config)
            && self.runs.iter().all(|(_, other)| other.seed != record.seed)
    }

    /// The name of its first folder, without the seed.
    fn folder_name(&self) -> String {
        let (path, record) = &self.runs[0];
        let folder = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folder.strip_suffix(&format!("-{}", record.seed)).unwrap_or(&folder).into()
    }
}

/// Options of a report besides its runs.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// Whether to measure the last checkpoint of each run.
    pub measure: bool,
    /// Reference values of the first figure.
    pub marks: Vec<Mark>,
    /// The command that generates this report.
    pub command: String,
    /// The name of the program.
    pub program: String,
}

/// Result of writing a report.
#[derive(Clone, Debug, Serialize)]
pub struct Reported {
    /// The file.
    pub file: PathBuf,
    /// Its size in bytes.
    pub bytes: usize,
    /// Number of experiments.
    pub experiments: usize,
    /// Number of runs.
    pub runs: usize,
    /// Omitted content, with reasons.
    pub left_out: Vec<String>,
}

/// Reads experiments, given as for [`curves::curves`].
///
/// # Errors
/// [`CompareError::Side`] if one names no runs, or if there are more than [`RUNS`].
pub fn experiments(given: &[PathBuf]) -> Result<Vec<Experiment>, CompareError> {
    let (mut found, mut folders): (Vec<Experiment>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    for given in given {
        let fail = |message: String| CompareError::Side { given: given.clone(), message };
        let mut is_empty = true;
        for path in compare::folders(given)? {
            let Some(record) = record_of(&path)? else { continue };
            is_empty = false;
            let folder = path.canonicalize().unwrap_or_else(|_| path.clone());
            if folders.contains(&folder) {
                continue;
            }
            folders.push(folder);
            match found.iter_mut().find(|experiment| experiment.has_room_for(&record)) {
                Some(experiment) => experiment.runs.push((path, record)),
                None => found.push(Experiment { name: record.name.clone(), runs: vec![(path, record)] }),
            }
        }
        if is_empty {
            let message = "names no runs: give a run folder, a folder of runs, or the name of an experiment; `adept runs \
                           list` shows them";
            return Err(fail(message.into()));
        }
        if folders.len() > RUNS {
            let count = folders.len();
            return Err(fail(format!("makes {count} runs, and a report has {RUNS} at most: give fewer")));
        }
    }
    found.iter_mut().for_each(|experiment| experiment.runs.sort_by_key(|(_, record)| record.seed));
    // Experiments of a sweep share a name; their folders distinguish them.
    let is_shared = |name: &str| found.iter().filter(|other| other.name == name).count() > 1;
    let names: Vec<String> =
        found.iter().map(|e| if is_shared(&e.name) { e.folder_name() } else { e.name.clone() }).collect();
    for (k, experiment) in found.iter_mut().enumerate() {
        let before = names[..k].iter().filter(|name| **name == names[k]).count();
        let number = if before > 0 { format!(" ({})", before + 1) } else { String::new() };
        experiment.name = format!("{}{number}", names[k]);
    }
    Ok(found)
}

/// Writes a report of these experiments.
///
/// # Errors
/// If a file of a run is damaged, a checkpoint cannot be measured, or the report cannot be written. An existing file
/// then stays unchanged.
pub fn report(
    games: &dyn Catalogue,
    experiments: &[Experiment],
    options: &ReportOptions,
    out: &Path,
) -> Result<Reported, TrainError> {
    let files = Files::default();
    // Fail early, before expensive work.
    files.try_file(out)?;
    let measured = match options.measure {
        true => measured(games, experiments)?,
        false => experiments.iter().map(|_| Vec::new()).collect(),
    };
    let mut shown = Vec::with_capacity(experiments.len());
    for (experiment, measured) in experiments.iter().zip(&measured) {
        shown.push(about(games, experiment, measured, options)?);
    }
    let left_out = left_out(games, experiments, &shown);
    let names: Vec<&str> = experiments.iter().map(|experiment| &*experiment.name).collect();
    let data = json!({
        "title": names.join(", "),
        "made": since_epoch(SystemTime::now()),
        "by": program(),
        "command": options.command,
        "pictures": pictures(experiments, &options.marks)?,
        "table": table(experiments, &measured)?,
        "experiments": shown,
        "left_out": left_out,
    });
    let html = adept_page::report(&data.to_string());
    files.replace(out, html.as_bytes())?;
    Ok(Reported {
        file: out.into(),
        bytes: html.len(),
        experiments: experiments.len(),
        runs: experiments.iter().map(|experiment| experiment.runs.len()).sum(),
        left_out,
    })
}

/// The name of this version of the program.
pub(crate) fn program() -> String {
    format!("adept {}, revision {}", env!("CARGO_PKG_VERSION"), adept_trainer::REVISION)
}

/// Milliseconds since 1970, as in JavaScript.
pub(crate) fn since_epoch(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH).map_or(0.0, |since| (since.as_secs_f64() * MS).round())
}

/// Measures the last checkpoint of each run that has one.
fn measured(
    games: &dyn Catalogue,
    experiments: &[Experiment],
) -> Result<Vec<Vec<measure::Report>>, TrainError> {
    let all = experiments.iter().map(|experiment| experiment.runs.len()).sum::<usize>();
    let what = format!("measuring the last checkpoints of {all} runs");
    let mut done = 0;
    work::share(&what, 0.0);
    let mut measured = Vec::new();
    for experiment in experiments {
        let mut reports = Vec::new();
        for (path, record) in &experiment.runs {
            if record.latest.is_some() {
                reports.push(checkpoints::evaluate(games, path, false, &EvaluateOptions::default())?);
            }
            done += 1;
            work::share(&what, done as f64 / all as f64);
        }
        measured.push(reports);
    }
    Ok(measured)
}

/// Description of an experiment: its runs, its config, and details of a single network.
fn about(
    games: &dyn Catalogue,
    experiment: &Experiment,
    measured: &[measure::Report],
    options: &ReportOptions,
) -> Result<Value, TrainError> {
    let Experiment { name, runs } = experiment;
    let (path, record) = &runs[0];
    let here = std::env::current_dir().map_err(ModelError::io(Path::new(".")))?;
    let config = record.config.for_others(&here, record.folder.as_deref().unwrap_or(Path::new("")));
    let text = toml::to_string(&config).map_err(|e| ModelError::Unsupported(e.to_string()))?;
    // A run that was stopped early has no checkpoint.
    let described = record.latest.as_ref().and_then(|_| checkpoints::describe(games, path, false).ok());
    let maps = record.latest.as_ref().and_then(|_| gates::cell_maps(path).ok()).unwrap_or_default();
    let is_drawn = |map: &CellMap| map.cells.iter().map(Vec::len).sum::<usize>() <= CELLS;
    Ok(json!({
        "name": name,
        "about": config.about,
        "game": config.game.rules,
        "unit": config.learn.unit(),
        "encoder": described.as_ref().map(|d| &d.encoder),
        "parameters": described.as_ref().map(|d| d.size.parameters),
        "multiply_adds": described.as_ref().map(|d| [d.size.multiply_adds_least, d.size.multiply_adds]),
        "runs": runs.iter().map(|(path, record)| run(path, record)).collect::<Vec<_>>(),
        "errors": errors(experiment, measured),
        "outcomes": outcomes(measured),
        "experts": experts(experiment)?,
        "maps": maps.iter().filter(|map| is_drawn(map)).map(map).collect::<Vec<_>>(),
        "config": text,
        "file": format!("{name}.toml"),
        "commands": commands(experiment, &options.program),
        "extended": record.extended,
        "changed": changed(runs),
    }))
}

/// Settings that were changed during runs, which their configs do not show.
fn changed(runs: &[(PathBuf, Record)]) -> Vec<String> {
    let steered = runs.iter().filter(|(_, record)| !record.changed.is_empty());
    steered.map(|(_, record)| format!("seed {}: {}", record.seed, record.changes())).collect()
}

/// A row of the table of runs.
fn run(path: &Path, record: &Record) -> Value {
    let manifest = checkpoint::locate(path, false).and_then(|path| checkpoint::manifest(&path)).ok();
    let written = path.join("run.json").metadata().and_then(|file| file.modified()).ok();
    json!({
        "run": path.display().to_string(),
        "seed": record.seed,
        "finished": record.finished,
        "early": record.early,
        "step": record.step,
        "games": record.games,
        "seconds": record.seconds,
        "written": written.map(since_epoch),
        "revision": manifest.map(|manifest| manifest.revision),
        "init": record.init.iter().map(ToString::to_string).collect::<Vec<_>>(),
    })
}

/// Commands that repeat these runs from a config file. Experiments that share the name of their config get separate
/// folders.
fn commands(experiment: &Experiment, program: &str) -> Vec<String> {
    let Experiment { name, runs } = experiment;
    let file = shell_path(Path::new(&format!("{name}.toml")));
    let command = |record: &Record, seeds: String, folder: String| {
        let from: String = record.init.iter().map(|origin| format!(" --init {}", origin.option())).collect();
        let is_named = *name == experiment.config().name;
        let out = if is_named { String::new() } else { format!(" --out {}", shell_path(Path::new(&folder))) };
        format!("{program} train {file} --seed {}{seeds}{from}{out}", record.seed)
    };
    let first = experiment.first();
    let in_a_row = runs.iter().zip(first.seed..).all(|((_, r), seed)| r.seed == seed && r.init == first.init);
    match runs.len() {
        count if count > 1 && in_a_row => vec![command(first, format!(" --seeds {count}"), name.clone())],
        _ => runs.iter().map(|(_, r)| command(r, String::new(), format!("{name}-{}", r.seed))).collect(),
    }
}

/// A name with a number, using the minus sign of all numbers in a report.
fn with_minus(name: &str, text: &str) -> String {
    let (name, number) = text.split_at_checked(name.len()).unwrap_or((text, ""));
    format!("{name}{}", number.replace('-', "−"))
}

/// Rounds to six digits, which is more than a chart shows.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// At most [`POINTS`] elements, including the last.
fn thinned<T: Clone>(points: &[T]) -> Vec<T> {
    let every = points.len().div_ceil(POINTS).max(1);
    let mut kept: Vec<T> = points.iter().rev().step_by(every).cloned().collect();
    kept.reverse();
    kept
}

/// The curve of an experiment, and those of its seeds if there are several.
struct CurvePlot<'a> {
    name: &'a str,
    mean: Curve,
    seeds: Vec<Curve>,
}

impl CurvePlot<'_> {
    fn new(experiment: &Experiment, show: Show) -> Result<Option<CurvePlot<'_>>, ModelError> {
        let Some(mean) = curves::curve(&experiment.runs, show)? else { return Ok(None) };
        let mut seeds = Vec::new();
        for run in experiment.runs.iter().filter(|_| experiment.runs.len() > 1) {
            seeds.extend(curves::curve(from_ref(run), show)?.filter(|curve| !curve.points.is_empty()));
        }
        let is_drawn = !mean.points.is_empty() || !seeds.is_empty();
        Ok(is_drawn.then_some(CurvePlot { name: &experiment.name, mean, seeds }))
    }

    /// Properties of the chart: a label, whether it is logarithmic, the rules, and the unit of steps.
    fn kind(&self) -> (String, bool, &str, &'static str) {
        let config = &self.mean.config;
        let (label, is_log) = match (self.mean.figure, config.head) {
            (Some(figure), _) => (curves::label(config), figure.is_error()),
            (None, HeadName::Outcomes) => ("log loss on what was learned from".into(), false),
            (None, _) => ("loss on what was learned from".into(), true),
        };
        (label, is_log, &config.game.rules, config.learn.unit())
    }
}

/// Charts of the curves: experiments with the same figure share one.
fn pictures(experiments: &[Experiment], marks: &[Mark]) -> Result<Vec<Value>, ModelError> {
    let mut pictures = Vec::new();
    for show in [Show::Values, Show::Loss] {
        let mut all: Vec<CurvePlot<'_>> = Vec::new();
        for experiment in experiments {
            all.extend(CurvePlot::new(experiment, show)?);
        }
        let mut groups: Vec<Vec<CurvePlot<'_>>> = Vec::new();
        for drawn in all {
            match groups.iter_mut().find(|group| group[0].kind() == drawn.kind()) {
                Some(group) => group.push(drawn),
                None => groups.push(vec![drawn]),
            }
        }
        for (g, group) in groups.iter().enumerate() {
            let (label, is_log, rules, unit) = group[0].kind();
            let scale = if is_log { Scale::Log } else { Scale::Linear };
            let references: Vec<&Reference> =
                group[0].mean.references.iter().flat_map(References::all).collect();
            // Reference values belong to the first figure.
            let marks = if show == Show::Values && g == 0 { marks } else { &[] };
            let named = |name: &str, value: f64| Mark {
                name: with_minus(name, &format!("{name} {value:.4}")),
                value,
            };
            // Exact values have no error, and 0 has no place on a logarithmic scale.
            let shown: Vec<Mark> = references
                .iter()
                .map(|r| Mark { name: with_minus(&r.name, &r.to_string()), value: r.value })
                .chain(marks.iter().map(|mark| named(&mark.name, mark.value)))
                .filter(|mark| !is_log || mark.value > 0.0)
                .collect();
            pictures.extend(picture(
                group,
                format!("{label}, {rules}"),
                Axes { x: unit, y: &label },
                scale,
                &shown,
                |_, value| value,
            ));
            let best: Option<Vec<f64>> = group.iter().map(|plot| plot.mean.optimum()).collect();
            if let Some(best) = best {
                let values = references.iter().map(|r| (&*r.name, r.value));
                let far: Vec<Mark> = values
                    .chain(marks.iter().map(|mark| (&*mark.name, mark.value)))
                    .map(|(name, value)| named(name, best[0] - value))
                    .filter(|mark| mark.value > 0.0)
                    .collect();
                pictures.extend(picture(
                    group,
                    format!("distance to the best {label}, {rules}"),
                    Axes { x: unit, y: "distance to the best" },
                    Scale::Log,
                    &far,
                    |k, value| (best[k] - value).max(0.0),
                ));
            }
        }
    }
    Ok(pictures)
}

/// A chart, unless none of its values fits its scale.
fn picture(
    group: &[CurvePlot<'_>],
    title: String,
    axes: Axes<'_>,
    scale: Scale,
    marks: &[Mark],
    value: impl Fn(usize, f64) -> f64,
) -> Option<Value> {
    let place = |k: usize, points: &[Mean]| -> Vec<(f64, f64, f64)> {
        thinned(points).iter().map(|m| (m.step as f64, value(k, m.mean), m.sd)).collect()
    };
    let (mut series, mut bands) = (Vec::new(), Vec::new());
    for (k, drawn) in group.iter().enumerate() {
        let seeds = drawn.seeds.iter().map(|seed| (seed, true));
        for (curve, is_faint) in [(&drawn.mean, false)].into_iter().chain(seeds) {
            let points = place(k, &curve.points);
            let pairs: Vec<[f64; 2]> = points.iter().map(|p| [p.0, rounded(p.1)]).collect();
            let band = points.iter().filter(|_| curve.runs > 1);
            let band: Vec<[f64; 3]> = band.map(|p| [p.0, rounded(p.1 - p.2), rounded(p.1 + p.2)]).collect();
            series.push(json!({ "name": drawn.name, "points": pairs, "band": band, "faint": is_faint }));
            bands.push(Band { name: String::new(), points });
        }
    }
    let range = Range::around(scale, &bands, marks)?;
    let (inside, outside): (Vec<&Mark>, Vec<&Mark>) = marks.iter().partition(|m| range.contains(m.value));
    Some(json!({
        "title": title,
        "up": axes.y,
        "across": axes.x,
        "log": scale == Scale::Log,
        "range": [range.low, range.high],
        "series": series,
        "marks": inside.iter().map(|m| json!({ "name": m.name, "value": m.value })).collect::<Vec<_>>(),
        "outside": outside.iter().map(|mark| range.legend(mark)).collect::<Vec<_>>(),
    }))
}

/// A row of the table of figures: a sample over the seeds of each experiment.
struct Row {
    name: String,
    cells: Vec<Option<Value>>,
    is_reference: bool,
}

impl Row {
    fn json(&self) -> Value {
        json!({ "name": self.name, "cells": self.cells, "reference": self.is_reference })
    }
}

/// The sample of these numbers; none if empty.
fn sample(values: &[f64]) -> Option<Value> {
    let finite: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    if finite.is_empty() { None } else { serde_json::to_value(Sample::new(&finite)).ok() }
}

/// The table of figures: the main ones with their references, then all figures that runs recorded at their end, then
/// new measurements.
fn table(experiments: &[Experiment], measured: &[Vec<measure::Report>]) -> Result<Value, ModelError> {
    let columns = experiments.len();
    let mut main: Vec<Row> = Vec::new();
    let labels: Vec<String> = experiments.iter().map(|e| curves::label(e.config())).collect();
    let mut done: Vec<&str> = Vec::new();
    for (label, experiment) in labels.iter().zip(experiments) {
        if experiment.config().figure().is_none() || done.contains(&&**label) {
            continue;
        }
        done.push(label);
        let of = |k: usize| experiments.get(k).filter(|_| labels[k] == *label);
        let row = |name: String, score: fn(&Record) -> Option<&Score>| {
            let figures = |e: &Experiment| -> Vec<f64> {
                e.runs.iter().filter_map(|(_, r)| score(r)).map(Score::figure).collect()
            };
            let cells = (0..columns).map(|k| of(k).and_then(|e| sample(&figures(e)))).collect();
            Row { name, cells, is_reference: false }
        };
        main.push(row(format!("{label}, at the end"), |record| record.r#final.as_ref()));
        main.push(row(format!("{label}, best checkpoint"), |record| record.best.as_ref()));
        let references: Vec<Option<References>> = (0..columns)
            .map(|k| of(k).and_then(|e| e.runs.iter().find_map(|(path, _)| References::read(path))))
            .collect();
        let mut names: Vec<&str> = Vec::new();
        for reference in references.iter().flatten().flat_map(References::all) {
            if !names.contains(&&*reference.name) {
                names.push(&reference.name);
            }
        }
        for name in names {
            let value = |r: &References| r.all().find(|r| r.name == name).and_then(|r| sample(&[r.value]));
            let cells = references.iter().map(|r| r.as_ref().and_then(value)).collect();
            main.push(Row { name: name.into(), cells, is_reference: true });
        }
    }
    // Stopped runs have no final figures.
    main.retain(|row| row.cells.iter().any(Option::is_some));
    let mut last = Vec::with_capacity(columns);
    for experiment in experiments {
        let mut lines = Vec::new();
        for (path, record) in &experiment.runs {
            lines.extend(measurements(path, record)?.pop());
        }
        last.push(lines);
    }
    let found: Vec<Vec<Value>> = measured
        .iter()
        .map(|reports| reports.iter().filter_map(|report| serde_json::to_value(report).ok()).collect())
        .collect();
    let mut recorded = by_name(&last);
    let mut lowest = Vec::with_capacity(columns);
    for experiment in experiments {
        let mut all = Vec::new();
        for (path, record) in &experiment.runs {
            all.extend(losses(path, record)?.map(|(_, lowest)| lowest));
        }
        lowest.push(sample(&all));
    }
    recorded.push(Row { name: "lowest loss".into(), cells: lowest, is_reference: false });
    let rows = |rows: &[Row]| rows.iter().map(Row::json).collect::<Vec<_>>();
    Ok(json!({ "main": rows(&main), "recorded": rows(&recorded), "measured": rows(&by_name(&found)) }))
}

/// Fields of a measurement that are not figures, or that appear elsewhere.
const ELSEWHERE: &str = "step rate explore lambda seconds usage speed ci95 classes distributions shares baseline rows \
                         parameters single single_of_equal_parameters";

/// The numbers of measurements by name: a list for each experiment.
fn by_name(lists: &[Vec<Value>]) -> Vec<Row> {
    let mut names: Vec<String> = Vec::new();
    let mut values: BTreeMap<(String, usize), Vec<f64>> = BTreeMap::new();
    for (k, list) in lists.iter().enumerate() {
        for (name, number) in list.iter().flat_map(numbers) {
            if name.split('/').any(|part| ELSEWHERE.split(' ').any(|other| other == part)) {
                continue;
            }
            if !names.contains(&name) {
                names.push(name.clone());
            }
            values.entry((name, k)).or_default().extend(number.as_f64());
        }
    }
    let row = |name: String| {
        let of = |k: usize| values.get(&(name.clone(), k)).and_then(|values| sample(values));
        Row { cells: (0..lists.len()).map(of).collect(), name, is_reference: false }
    };
    names.into_iter().map(row).collect()
}

/// The smallest and largest of these numbers: each seed has its own positions.
fn least_and_most(all: impl Iterator<Item = u64>) -> Option<[u64; 2]> {
    all.map(|n| [n, n]).reduce(|[least, most], [n, _]| [least.min(n), most.max(n)])
}

/// Errors by kind of position: from new measurements, or from after training.
fn errors(experiment: &Experiment, measured: &[measure::Report]) -> Option<Value> {
    let now = measured.iter().filter_map(|report| report.rms.as_ref()).map(|rms| Kinds {
        distributions: rms.distributions.clone(),
        classes: rms.classes.clone(),
        class: rms.class.clone(),
    });
    let mut all: Vec<Kinds> = now.collect();
    if all.is_empty() {
        all = experiment.runs.iter().filter_map(|(path, _)| Kinds::beside(path)).collect();
    }
    let class = all.first()?.class.clone();
    let list = |of: fn(&Kinds) -> &[ErrorsOf]| -> Vec<Value> {
        let row = |first: &ErrorsOf| {
            let same = all.iter().filter_map(|kinds| of(kinds).iter().find(|other| other.name == first.name));
            let errors: Vec<_> = same.map(|other| other.errors).collect();
            let over = |value: fn(&adept_trainer::positions::PositionErrors) -> f64| {
                sample(&errors.iter().map(value).collect::<Vec<_>>())
            };
            json!({
                "name": first.name,
                "rows": least_and_most(errors.iter().map(|e| e.rows)),
                "rms": over(|e| e.rms),
                "mae": over(|e| e.mae),
                "max": over(|e| e.max),
                "baselines": first.baselines,
            })
        };
        of(&all[0]).iter().map(row).collect()
    };
    let (distributions, classes) = (list(|kinds| &kinds.distributions), list(|kinds| &kinds.classes));
    Some(json!({ "class": class, "distributions": distributions, "classes": classes, "runs": all.len() }))
}

/// The calibration of outcomes, pooled over all seeds.
fn outcomes(measured: &[measure::Report]) -> Option<Value> {
    let all: Vec<_> = measured.iter().filter_map(|report| report.outcomes.as_ref()).collect();
    let first = all.first()?;
    let class = |k: usize| {
        let mut sums: BTreeMap<u64, (u64, f64, f64)> = BTreeMap::new();
        let bins = all.iter().filter_map(|report| report.classes.get(k)).flat_map(|class| &class.calibration);
        for Bin { from, rows, predicted, observed, .. } in bins {
            let sum = sums.entry((from * MS) as u64).or_default();
            let weight = *rows as f64;
            *sum = (sum.0 + rows, sum.1 + weight * predicted, sum.2 + weight * observed);
        }
        let bin = |(rows, predicted, observed): (u64, f64, f64)| {
            let [said, came] = [predicted, observed].map(|sum| rounded(sum / rows as f64));
            json!({ "said": said, "came": came, "count": rows })
        };
        json!({ "name": first.classes[k].name, "bins": sums.into_values().map(bin).collect::<Vec<_>>() })
    };
    Some(json!({
        "from": first.from,
        "runs": all.len(),
        "classes": (0..first.classes.len()).map(class).collect::<Vec<_>>(),
    }))
}

/// Shares of positions that the experts win: over time for the first seed, because experts of different seeds do not correspond,
/// and at the end for all seeds.
fn experts(experiment: &Experiment) -> Result<Option<Value>, ModelError> {
    let (mut over_time, mut ends) = (None, Vec::new());
    for (path, record) in &experiment.runs {
        let lines = measurements(path, record)?;
        let shares = shares_in(&lines);
        let Some((_, last)) = shares.last() else { continue };
        let found = lines.iter().rev().find_map(|line| line.get("experts").filter(|e| !e.is_null()));
        ends.push(json!({
            "seed": record.seed,
            "shares": last.iter().map(|share| rounded(*share)).collect::<Vec<_>>(),
            "live": found.map(|found| &found["live"]),
            "multiply_adds": found.map(|found| &found["multiply_adds"]),
        }));
        over_time =
            over_time.or_else(|| Some(json!({ "seed": record.seed, "parts": parts(&thinned(&shares)) })));
    }
    Ok(over_time.map(|over_time| json!({ "over_time": over_time, "ends": ends })))
}

/// The shares of experts in measurements: of the positions that each wins, which runs measure ten times, or otherwise
/// of the evaluations in which each took part.
pub fn shares_in(lines: &[Value]) -> Vec<(u64, Vec<f64>)> {
    let of = |key: [&str; 2]| -> Vec<(u64, Vec<f64>)> {
        let shares = |line: &Value| {
            let all = line[key[0]][key[1]].as_array()?.iter().map(|share| share.as_f64().unwrap_or(0.0));
            let all: Vec<f64> = all.collect();
            let sum: f64 = all.iter().sum();
            // Several experts may take part in one evaluation.
            (all.len() > 1 && sum > 0.0)
                .then(|| Some((line["step"].as_u64()?, all.iter().map(|share| share / sum).collect())))?
        };
        lines.iter().filter_map(shares).collect()
    };
    let won = of(["experts", "shares"]);
    if won.is_empty() { of(["usage", "share"]) } else { won }
}

/// The experts with the largest final shares, and the sum of the others.
fn parts(shares: &[(u64, Vec<f64>)]) -> Vec<Value> {
    let Some((_, last)) = shares.last() else { return Vec::new() };
    let mut order: Vec<usize> = (0..last.len()).collect();
    if order.len() > EXPERTS {
        order.sort_by(|a, b| last[*b].total_cmp(&last[*a]));
    }
    let (drawn, others) = order.split_at(order.len().min(EXPERTS));
    let part = |name: String, of: &[usize]| {
        let share = |all: &[f64]| of.iter().filter_map(|k| all.get(*k)).sum::<f64>();
        let points: Vec<(u64, f64)> = shares.iter().map(|(step, all)| (*step, rounded(share(all)))).collect();
        json!({ "name": name, "points": points })
    };
    let mut parts: Vec<Value> = drawn.iter().map(|k| part(format!("expert {}", k + 1), &[*k])).collect();
    if !others.is_empty() {
        parts.push(part(format!("{} others", others.len()), others));
    }
    parts
}

fn map(map: &CellMap) -> Value {
    json!({
        "node": map.node,
        "channels": map.channels,
        "experts": map.experts,
        "used": map.used(),
        "cells": map.cells,
        "starts": map.starts,
        "text": map.text(),
    })
}

/// Omitted content, with reasons.
fn left_out(games: &dyn Catalogue, experiments: &[Experiment], shown: &[Value]) -> Vec<String> {
    let lacks = |key: &str| shown.iter().all(|experiment| experiment[key].is_null());
    let has_positions = |experiment: &Experiment| {
        games.find(&experiment.config().game.rules).is_ok_and(|game| game.info().has_exact_values())
    };
    let has_classes = |experiment: &Experiment| experiment.config().head == HeadName::Outcomes;
    let (unmeasured, mut all) = ("not measured; --measure does that", Vec::new());
    if lacks("errors") {
        let why = match experiments.iter().any(has_positions) {
            true => unmeasured,
            false => "these games have no exact values of positions",
        };
        all.push(format!("errors by class of positions: {why}"));
    }
    if lacks("outcomes") {
        let why = match experiments.iter().any(has_classes) {
            true => unmeasured,
            false => "these networks give no probabilities of outcomes",
        };
        all.push(format!("calibration: {why}"));
    }
    if lacks("experts") {
        all.push("shares of experts: these runs recorded none".into());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Untrusted names can neither end the data script nor replace another part.
    #[test]
    fn a_page_holds_its_data_and_one_script() {
        let title = "</script><script>alert(1)</script><!-- /* script */ $& ";
        let html = adept_page::report(&json!({ "title": title }).to_string());
        let begin = "<script type=\"application/json\" id=\"data\">";
        let (_, rest) = html.split_once(begin).expect("a script with data");
        let (data, rest) = rest.split_once("</script>").expect("its end");
        let data: Value = serde_json::from_str(data).expect("JSON");
        assert_eq!(data["title"], title);
        let (_, script) = rest.split_once("<script type=\"module\">").expect("a script");
        let (script, end) = script.split_once("</script>").expect("its end");
        assert_eq!(end.trim(), "</body>\n</html>");
        for line in script.lines() {
            let line = line.trim_start();
            assert!(!line.starts_with("import") && !line.starts_with("export"), "{line}");
        }
        assert!(!html.contains("/* looks */") && !html.contains("/* data */"));
        for outside in ["http://", "https://", "url(", "@import", "src="] {
            let found = html.replace("http://www.w3.org/2000/svg", "");
            assert!(!found.contains(outside), "{outside}");
        }
    }

    #[test]
    fn long_curves_are_thinned_and_keep_their_end() {
        assert!(thinned::<u64>(&[]).is_empty());
        assert_eq!(thinned(&[1, 2, 3]), [1, 2, 3]);
        let long: Vec<usize> = (0..=10 * POINTS).collect();
        let thin = thinned(&long);
        assert!(thin.len() <= POINTS && thin.len() > POINTS / 2 && thin.last() == long.last());
        assert_eq!(
            [rounded(1.0 / 3.0), rounded(123_456_789.0), rounded(0.0)],
            [0.333_333, 123_457_000.0, 0.0]
        );
    }

    #[test]
    fn numbers_of_reports_have_minus_signs_and_names_keep_hyphens() {
        let reference = Reference { name: "a-b".into(), value: -0.002 };
        assert_eq!(with_minus("a-b", &reference.to_string()), "a-b −2.00e−3");
        assert_eq!(with_minus("a-b", "a-b -12"), "a-b −12");
    }

    #[test]
    fn positions_of_seeds_are_told_as_a_range() {
        assert_eq!(least_and_most([40, 38, 41].into_iter()), Some([38, 41]));
        assert_eq!(least_and_most([7].into_iter()), Some([7, 7]));
        assert_eq!(least_and_most(std::iter::empty()), None);
    }

    #[test]
    fn shares_of_experts_add_up_and_small_ones_are_joined() {
        let line = |step: u64, share: &[f64]| json!({ "step": step, "usage": { "share": share } });
        assert_eq!(shares_in(&[line(5, &[1.0, 0.5, 0.5])]), [(5, vec![0.5, 0.25, 0.25])]);
        let won =
            json!({ "step": 9, "experts": { "shares": [0.25, 0.75] }, "usage": { "share": [1.0, 1.0] } });
        assert_eq!(shares_in(&[line(5, &[1.0, 1.0]), won]), [(9, vec![0.25, 0.75])]);
        let many: Vec<f64> = (0..30).map(f64::from).map(|k| k / 435.0).collect();
        let parts = parts(&[(1, many)]);
        assert_eq!(
            (parts.len(), &parts[0]["name"], &parts[EXPERTS]["name"]),
            (13, &json!("expert 30"), &json!("18 others"))
        );
        let sum: f64 = parts.iter().filter_map(|part| part["points"][0][1].as_f64()).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{sum}");
    }
}
