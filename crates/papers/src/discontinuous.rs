//! Learning a discontinuous function: do steep units and mixtures of experts help where values jump?
//!
//! Wiering & Kröse, §4.1.2, say that neurons with steep slopes learned a discontinuous function better, without its
//! formula or figures. This function lives on the square [−1, 1]²: two lines cut it into four regions, with a smooth
//! function on each and jumps of up to 1.6 between them. About 200 parameters learn it from sampled points, at rates
//! chosen on other seeds.

use crate::MEASURING;
use crate::experts::{RATES, Tried, best_of, rates_to_try};
use crate::picture::{self, Panel};
use crate::report::{Paper, Report};
use crate::runs::{FIRST_SEED, interrupted, seeds};
use adept_game::stream;
use adept_ground::work;
use adept_lab::reproduction::Work;
use adept_lab::seeds::in_parallel;
use adept_lab::statistics::{interval95, mean_sd, plus_minus};
use adept_model::optimiser::Adam;
use adept_model::{
    Architecture, Channel, ChannelKind, Learner, ModelError, Network, Optimiser, Predictor, Rows, Samples,
    lower, winning_expert,
};
use adept_trainer::run::TrainError;
use rand::RngExt;
use serde::Serialize;
use serde_json::{Value, json as value};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Points per run; `--quick` takes a twentieth.
const SAMPLES: u64 = 2_000_000;
/// Points per step.
const BATCH: u64 = 16;
/// Largest number of rates tried beyond the first ones.
const FURTHER: usize = 5;
/// Seeds of the search, which no reported figure uses.
const SEARCH: [u64; 2] = [1, 2];
/// Points per side of the grid on which errors are measured.
const GRID: usize = 200;
/// Points per side of the pictures.
const PICTURE: usize = 56;
/// Points nearer than this to a line are near a jump.
const NEAR: f32 = 0.05;

/// The function. Its lines are y = x and x + y = .2.
fn target(x: f32, y: f32) -> f32 {
    match (x + y > 0.2, y > x) {
        (true, true) => 0.6 + 0.3 * (3.0 * x).sin(),
        (true, false) => -0.6 + 0.3 * (3.0 * y).cos(),
        (false, true) => -0.4 + 0.4 * x,
        (false, false) => 0.5 * (2.0 * (x - y)).sin(),
    }
}

/// Whether a point is nearer than [`NEAR`] to a line.
fn is_near(x: f32, y: f32) -> bool {
    let distance = (x + y - 0.2).abs().min((y - x).abs()) / std::f32::consts::SQRT_2;
    distance < NEAR
}

/// A network: its name, its label and the config of its architecture.
type Entry = (&'static str, &'static str, Value);

fn networks() -> Vec<Entry> {
    let mlp = |hidden: Value, sensitivity: Value| value!({ "mlp": { "hidden": hidden, "sensitivity": sensitivity } });
    let expert = |hidden: usize| mlp(value!([hidden]), value!(3.0));
    let hme = |experts: usize, expert: Value, variance: f64| {
        let node = value!({ "experts": experts, "expert": expert, "variance": variance });
        value!({ "hme": node })
    };
    let meta_pi =
        |experts: usize, expert: Value| value!({ "meta_pi": { "experts": experts, "expert": expert } });
    vec![
        ("single", "single 40, slope 1", mlp(value!([40]), Value::Null)),
        ("single-1", "single 40, sensitivity from 1", mlp(value!([40]), value!(1.0))),
        ("single-3-fixed", "single 40, slope 3", mlp(value!([40]), value!({ "initial": 3.0, "rate": 0.0 }))),
        ("single-3", "single 40, sensitivity from 3", mlp(value!([40]), value!(3.0))),
        ("single-two", "single 10-10, sensitivity from 3", mlp(value!([10, 10]), value!(3.0))),
        ("hme-4x9-paper", "HME 4×9, variance 1", hme(4, expert(9), 1.0)),
        ("hme-4x9", "HME 4×9, variance .05", hme(4, expert(9), 0.05)),
        ("hme-2x2x9", "HME 2×2×9, variance .05", hme(2, hme(2, expert(9), 0.05), 0.05)),
        ("hme-2x2x2x4", "HME 2×2×2×4, variance .05", hme(2, hme(2, hme(2, expert(4), 0.05), 0.05), 0.05)),
        ("meta-pi-4x9", "Meta-Pi 4×9", meta_pi(4, expert(9))),
        ("meta-pi-2x2x9", "Meta-Pi 2×2×9", meta_pi(2, meta_pi(2, expert(9)))),
    ]
}

/// A network and its errors.
#[derive(Clone, Debug, Serialize)]
struct DiscontinuousRow {
    /// Name of the network.
    name: &'static str,
    /// Name in the table.
    label: &'static str,
    /// `sgd` or `adam`.
    optimiser: &'static str,
    /// Learned parameters.
    parameters: usize,
    /// Initial learning rate, the best of those tried.
    rate: f64,
    /// All rates tried.
    rates: Vec<f64>,
    /// Root mean square error over the square, mean over the seeds.
    mean: f64,
    /// Standard deviation.
    sd: f64,
    /// 95 % interval of the mean (Student); `None` with one seed.
    ci95: Option<[f64; 2]>,
    /// Root mean square error of points away from the lines, mean over the seeds.
    away: f64,
    /// Errors by seed.
    errors: Vec<f64>,
}

/// Result of the study.
#[derive(Clone, Debug, Serialize)]
struct DiscontinuousStudy {
    /// Points per run.
    samples: u64,
    rows: Vec<DiscontinuousRow>,
}

/// The study as a reproduction.
pub(crate) const DISCONTINUOUS: Paper = Paper {
    name: "discontinuous",
    about: "Wiering & Kröse, §4.1.2: a discontinuous function, with steep units and with hierarchies of experts",
    runs: |_| 0,
    make: |work| study(work)?.made(),
};

/// A network with an optimiser.
struct Job {
    entry: Entry,
    optimiser: (&'static str, Optimiser),
}

fn channels() -> [Channel; 1] {
    [Channel::new("point", ChannelKind::Dense(2))]
}

/// A trained network and its errors on the grid: over all points, and away from the lines.
struct Trained {
    network: Network,
    error: f64,
    away: f64,
}

impl Job {
    fn train(&self, seed: u64, rate: f64, samples: u64) -> Result<Trained, ModelError> {
        let unreadable = |e: serde_json::Error| ModelError::Unsupported(format!("{}: {e}", self.entry.0));
        let architecture: Architecture = serde_json::from_value(self.entry.2.clone()).map_err(unreadable)?;
        let channels = channels();
        let program = Arc::new(lower(&architecture, &channels, &adept_model::Head::Value)?);
        let flat = program.draw(&mut stream(seed, "discontinuous weights", 0));
        let mut network = Network::new(program, &flat, self.optimiser.1);
        let mut points = stream(seed, "discontinuous points", 0);
        let mut batch = Samples::new(&channels);
        let steps = samples.div_ceil(BATCH).max(1);
        for step in 0..steps {
            batch.clear();
            for _ in 0..BATCH {
                let (x, y) = (points.random_range(-1.0..1.0), points.random_range(-1.0..1.0));
                batch.rows.push().dense.copy_from_slice(&[x, y]);
                batch.targets.push(target(x, y));
                batch.weights.push(1.0 / BATCH as f32);
            }
            let turn = std::f64::consts::PI * step as f64 / steps as f64;
            network.update(&batch, (rate * (0.001 + 0.999 * (1.0 + turn.cos()) / 2.0)) as f32)?;
        }
        let (mut all, mut far) = ((0.0, 0u32), (0.0, 0u32));
        for (y, row) in grid(&mut network, GRID).into_iter().enumerate() {
            for (x, v) in row.into_iter().enumerate() {
                let (x, y) = place(x, y, GRID);
                let square = f64::from(v - target(x, y)).powi(2);
                all = (all.0 + square, all.1 + 1);
                if !is_near(x, y) {
                    far = (far.0 + square, far.1 + 1);
                }
            }
        }
        let root = |(sum, n): (f64, u32)| (sum / f64::from(n)).sqrt();
        Ok(Trained { network, error: root(all), away: root(far) })
    }
}

/// The centre of a cell of a grid with `side` cells per side, top row first.
fn place(column: usize, row: usize, side: usize) -> (f32, f32) {
    let at = |k: usize| (2.0 * k as f32 + 1.0) / side as f32 - 1.0;
    (at(column), -at(row))
}

/// The points of a grid, a batch for each row.
fn rows_of_grid(side: usize) -> Vec<Rows> {
    let row = |row: usize| {
        let mut rows = Rows::new(&channels());
        for column in 0..side {
            let (x, y) = place(column, row, side);
            rows.push().dense.copy_from_slice(&[x, y]);
        }
        rows
    };
    (0..side).map(row).collect()
}

/// The values of a network on a grid.
fn grid(network: &mut Network, side: usize) -> Vec<Vec<f32>> {
    let value = |rows: Rows| {
        let mut values = Vec::new();
        network.evaluate(&rows, &mut values);
        values
    };
    rows_of_grid(side).into_iter().map(value).collect()
}

/// The expert that wins each point of a grid.
fn winners(network: &mut Network, side: usize) -> Vec<Vec<usize>> {
    let mut row = Rows::new(&channels());
    let mut winner = |rows: &Rows, r: usize| {
        row.copy_range(rows, r, 1);
        winning_expert(network, &row).unwrap_or(0)
    };
    rows_of_grid(side).iter().map(|rows| (0..rows.len()).map(|r| winner(rows, r)).collect()).collect()
}

fn study(work: Work<'_>) -> Result<Report<DiscontinuousStudy>, TrainError> {
    let options = work.options;
    let started = Instant::now();
    let samples = if options.quick { SAMPLES / 20 } else { SAMPLES };
    let optimisers = [("sgd", Optimiser::default()), ("adam", Optimiser::Adam(Adam::default()))];
    let of = |optimiser: (&'static str, Optimiser)| {
        networks().into_iter().map(move |entry| Job { entry, optimiser })
    };
    let jobs: Vec<Job> = optimisers.into_iter().flat_map(of).collect();
    let mut tried: Vec<Tried> = jobs.iter().map(|_| Tried::new()).collect();
    for round in 0..=FURTHER {
        let wanted = rates_to_try(&tried, round);
        let what = format!("searching for rates, round {}", round + 1);
        let runs: Vec<(usize, u64, f64)> =
            wanted.iter().flat_map(|&(i, rate)| SEARCH.map(|seed| (i, seed, rate))).collect();
        let found = train(&jobs, &runs, samples, &what, work)?;
        for ((i, rate), found) in wanted.into_iter().zip(found.chunks(SEARCH.len())) {
            let error = |run: &Option<Trained>| run.as_ref().map_or(f64::INFINITY, |run| run.error);
            tried[i].push((rate, found.iter().map(error).sum::<f64>() / SEARCH.len() as f64));
            tried[i].sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
    let rates: Vec<f64> = tried.iter().map(|tried| best_of(tried).unwrap_or(RATES[0])).collect();
    let runs: Vec<(usize, u64, f64)> = rates
        .iter()
        .enumerate()
        .flat_map(|(i, &rate)| seeds(options).map(move |seed| (i, seed, rate)))
        .collect();
    let mut found = train(&jobs, &runs, samples, MEASURING, work)?;
    let n = options.seeds as usize;
    let rows = jobs.iter().zip(&tried).zip(found.chunks(n)).map(|((job, tried), runs)| row(job, tried, runs));
    let rows: Vec<DiscontinuousRow> = rows.collect();
    let picture = draw(&jobs, &mut found, n);
    let study = DiscontinuousStudy { samples, rows };
    let study = Report::new(DISCONTINUOUS.name, options, started, study);
    let text = markdown(&study);
    study.publish(options, vec![("discontinuous.md".into(), text), ("discontinuous.svg".into(), picture)])
}

/// Trains a job with a seed and a rate each; a diverged run gives `None`.
fn train(
    jobs: &[Job],
    runs: &[(usize, u64, f64)],
    samples: u64,
    what: &str,
    work: Work<'_>,
) -> Result<Vec<Option<Trained>>, TrainError> {
    let done = AtomicUsize::new(0);
    let results = in_parallel(runs, work.options.threads, |&(i, seed, rate)| {
        if work.cancel.requested() {
            return Err(interrupted(work.options));
        }
        let result = jobs[i].train(seed, rate, samples);
        work::share(what, (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / runs.len() as f64);
        match result {
            Ok(trained) => Ok(Some(trained)),
            Err(ModelError::Diverged { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    });
    results.into_iter().collect()
}

fn row(job: &Job, tried: &Tried, runs: &[Option<Trained>]) -> DiscontinuousRow {
    let errors: Vec<f64> = runs.iter().flatten().map(|run| run.error).collect();
    let away: Vec<f64> = runs.iter().flatten().map(|run| run.away).collect();
    let end = mean_sd(&errors);
    DiscontinuousRow {
        name: job.entry.0,
        label: job.entry.1,
        optimiser: job.optimiser.0,
        parameters: runs.iter().flatten().next().map_or(0, |run| run.network.describe().parameters),
        rate: best_of(tried).unwrap_or(RATES[0]),
        rates: tried.iter().map(|(rate, _)| *rate).collect(),
        mean: end.mean,
        sd: end.sd,
        ci95: interval95(&errors),
        away: mean_sd(&away).mean,
        errors,
    }
}

/// The function, the networks' approximations, and the winning experts: the first seed of the first optimiser's runs.
fn draw(jobs: &[Job], runs: &mut [Option<Trained>], seeds: usize) -> String {
    let target = (0..PICTURE).map(|row| {
        let at = |column| place(column, row, PICTURE);
        (0..PICTURE).map(at).map(|(x, y)| target(x, y)).collect()
    });
    let target: Vec<Vec<f32>> = target.collect();
    let mut values = vec![Panel::of_values("the function", &target)];
    let mut gates = Vec::new();
    for name in ["single", "single-3", "hme-4x9", "hme-2x2x9", "meta-pi-4x9"] {
        let Some(i) = jobs.iter().position(|job| job.entry.0 == name) else { continue };
        let Some(run) = &mut runs[i * seeds] else { continue };
        values.push(Panel::of_values(jobs[i].entry.1, &grid(&mut run.network, PICTURE)));
        if name.contains('x') {
            let title = format!("{}: experts", jobs[i].entry.1);
            gates.push(Panel::of_experts(&title, &winners(&mut run.network, PICTURE)));
        }
    }
    let second = values.split_off(3);
    picture::svg(&[values, second, gates])
}

/// The tables as Markdown.
fn markdown(study: &Report<DiscontinuousStudy>) -> String {
    let mut text = format!(
        "# A discontinuous function\n\n{} points a run{}, {} seeds from {FIRST_SEED} on. The learning rate is the best on \
         seeds {SEARCH:?}, of {RATES:?} and up to {FURTHER} further ones until the best had neighbours on both sides; it \
         falls to a thousandth along a cosine. Steps of {BATCH} points. RMS error on a grid of {GRID} × {GRID}; away: points \
         at least {NEAR} from a jump.\n",
        study.body.samples,
        if study.quick { " (--quick: a twentieth of the full length)" } else { "" },
        study.seeds,
    );
    for optimiser in ["sgd", "adam"] {
        let _ = writeln!(
            text,
            "\n## {}\n\n| network | parameters | rate | RMS error | 95 % | away |\n|---|---|---|---|---|---|",
            if optimiser == "sgd" { "Gradient descent" } else { "Adam" }
        );
        for row in study.body.rows.iter().filter(|row| row.optimiser == optimiser) {
            let range = row.ci95.map_or_else(String::new, |[low, high]| format!("{low:.4}–{high:.4}"));
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {range} | {:.4} |",
                row.label,
                row.parameters,
                row.rate,
                plus_minus(row.mean, row.sd, row.errors.len(), 4),
                row.away
            );
        }
    }
    text + "\n![the function, networks and their gates](discontinuous.svg)\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The function jumps exactly at its lines.
    #[test]
    fn the_function_jumps_at_its_lines_only() {
        let mut widest: f32 = 0.0;
        for i in 0..400 {
            for k in 0..400 {
                let ((x, y), (u, _)) = (place(i, k, 400), place(i + 1, k, 400));
                let jump = (target(x, y) - target(u, y)).abs();
                assert!(jump < 0.02 || is_near(x, y), "{x} {y}: {jump}");
                assert!(target(x, y).abs() <= 1.0);
                widest = widest.max(jump);
            }
        }
        assert!((1.5..1.7).contains(&widest), "{widest}");
    }

    #[test]
    fn networks_have_about_as_many_parameters_and_learn() {
        for entry in networks() {
            let job = Job { entry, optimiser: ("sgd", Optimiser::default()) };
            let before = job.train(1, 0.0, 1).unwrap();
            let after = job.train(1, 0.05, 20_000).unwrap();
            assert!(after.error < 0.9 * before.error, "{}: {} {}", job.entry.0, before.error, after.error);
            let parameters = after.network.describe().parameters;
            assert!((145..=230).contains(&parameters), "{}: {parameters}", job.entry.0);
        }
    }
}
