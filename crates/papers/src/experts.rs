//! Where experts pay: error against the cost of an evaluation, for single networks and hierarchies of experts.

use crate::runs::{self, FIRST_SEED, Run};
use adept_lab::Catalogue;
use adept_lab::chart::{self, Cloud, HIGHEST};
use adept_lab::measure::{Cost, cost};
use adept_lab::reproduction::{Made, ReproduceOptions, Reproduction, Work};
use adept_lab::statistics::mean_sd;
use adept_model::files::Files;
use adept_trainer::config::{Config, Games};
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Distributions for learning and measuring.
const DISTRIBUTIONS: [&str; 2] = ["table", "checkers"];
/// Initial learning rates to try; the final rate is a thousandth.
const RATES: [f64; 3] = [0.004, 0.01, 0.025];
/// The search uses this fraction of the samples (one in so many) and this seed, which no reported figure uses.
const SEARCH: (u64, u64) = (4, 1);

/// A kind of network.
struct Family {
    /// Name of its config.
    name: &'static str,
    label: &'static str,
    config: &'static str,
    /// Number of experts, and hidden units of each; one expert is a single network.
    sizes: &'static [(usize, usize)],
    /// Config settings for this size and distribution.
    set: fn(experts: usize, hidden: usize, distribution: &str) -> Vec<String>,
}

macro_rules! config {
    ($name:literal) => {
        include_str!(concat!("../configs/bearoff/experts/", $name, ".toml"))
    };
}

const SINGLE: [(usize, usize); 12] =
    [(1, 2), (1, 3), (1, 4), (1, 6), (1, 8), (1, 12), (1, 16), (1, 24), (1, 32), (1, 48), (1, 64), (1, 96)];
const PHASES: [(usize, usize); 12] = [
    (16, 2),
    (16, 3),
    (16, 4),
    (16, 6),
    (16, 8),
    (16, 12),
    (16, 16),
    (64, 2),
    (64, 3),
    (64, 4),
    (64, 6),
    (64, 8),
];
const CLUSTERS: [(usize, usize); 7] = [(16, 2), (16, 3), (16, 4), (16, 6), (16, 8), (16, 12), (16, 16)];
const DEEP: [(usize, usize); 5] = [(64, 2), (64, 3), (64, 4), (64, 6), (64, 8)];
const GATED: [(usize, usize); 12] =
    [(2, 2), (2, 4), (2, 8), (4, 2), (4, 4), (4, 8), (8, 2), (8, 4), (8, 8), (16, 2), (16, 4), (16, 8)];

/// Config settings that set the size of a gated network.
fn gated(kind: &str, experts: usize, hidden: usize) -> Vec<String> {
    vec![
        format!("architecture.{kind}.experts={experts}"),
        format!("architecture.{kind}.expert.mlp.hidden=[{hidden}]"),
    ]
}

fn single(_: usize, hidden: usize, _: &str) -> Vec<String> {
    vec![format!("architecture.mlp.hidden=[{hidden}]")]
}

fn phase(experts: usize, hidden: usize, distribution: &str) -> Vec<String> {
    // Most sides of `table` have a sum of pips and twice the checkers above 64.
    let end = if distribution == "table" { 112 } else { 64 };
    vec![
        format!("game.encoder=race+distribution:12+phase:{}:{end}", experts.isqrt()),
        format!("architecture.symbolic.expert.mlp.hidden=[{hidden}]"),
    ]
}

fn hme(experts: usize, hidden: usize, _: &str) -> Vec<String> {
    gated("hme", experts, hidden)
}

fn meta_pi(experts: usize, hidden: usize, _: &str) -> Vec<String> {
    gated("meta_pi", experts, hidden)
}

/// Each branch has as many experts below it as there are branches.
fn deep(experts: usize, hidden: usize, _: &str) -> Vec<String> {
    let each = experts.isqrt();
    let mut set = gated("meta_pi.expert.meta_pi", each, hidden);
    set.push(format!("architecture.meta_pi.experts={each}"));
    set
}

const fn family(
    name: &'static str,
    label: &'static str,
    config: &'static str,
    sizes: &'static [(usize, usize)],
    set: fn(usize, usize, &str) -> Vec<String>,
) -> Family {
    Family { name, label, config, sizes, set }
}

const FAMILIES: [Family; 8] = [
    family("single", "single network", config!("single"), &SINGLE, single),
    family("phase", "phase gate", config!("phase"), &PHASES, phase),
    family("clusters", "gate by clustering", config!("clusters"), &CLUSTERS, meta_pi),
    family("clusters-deep", "gates by clustering, depth two", config!("clusters-deep"), &DEEP, deep),
    family("hme", "HME", config!("hme"), &GATED, hme),
    family("hme-threshold", "HME, threshold .3", config!("hme-threshold"), &GATED, hme),
    family("meta-pi", "Meta-Pi", config!("meta-pi"), &GATED, meta_pi),
    family("meta-pi-threshold", "Meta-Pi, threshold .3", config!("meta-pi-threshold"), &GATED, meta_pi),
];

/// A network: its size, cost and error.
#[derive(Clone, Debug, Serialize)]
pub struct ExpertsPoint {
    /// Name of its runs, without the seed.
    pub name: String,
    /// Kind of network.
    pub family: &'static str,
    /// Distribution for learning and measuring.
    pub distribution: &'static str,
    /// Experts; 1 for a single network.
    pub experts: usize,
    /// Hidden units per expert.
    pub hidden: usize,
    /// Initial learning rate, the best of those tried.
    pub rate: f64,
    /// Cost of an evaluation, measured with the first seed.
    #[serde(flatten)]
    pub cost: Cost,
    /// Root mean square error of V on test positions at the end: the median over the seeds, because one may go
    /// astray.
    pub final_median: f64,
    /// Mean over the seeds.
    pub final_mean: f64,
    /// Standard deviation.
    pub final_sd: f64,
    /// Final errors by seed.
    pub finals: Vec<f64>,
    /// Whether no other network of any kind is both cheaper in multiply-adds and better.
    pub frontier: bool,
    /// The same with nanoseconds instead of multiply-adds.
    pub frontier_ns: bool,
    /// Mean seconds per run.
    pub seconds: f64,
}

/// Result of the study.
#[derive(Clone, Debug, Serialize)]
pub struct ExpertsStudy {
    /// Name of the reproduction.
    pub name: String,
    /// Seeds per network.
    pub seeds: u64,
    /// Whether the number of samples was reduced.
    pub quick: bool,
    /// Samples per run.
    pub samples: u64,
    /// The networks.
    pub rows: Vec<ExpertsPoint>,
    /// Seconds of the whole command.
    pub seconds: f64,
    /// Files written.
    pub files: Vec<PathBuf>,
}

/// A network to be trained.
struct Job {
    family: &'static Family,
    distribution: &'static str,
    size: (usize, usize),
}

impl Job {
    fn name(&self) -> String {
        let ((experts, hidden), Self { family, distribution, .. }) = (self.size, self);
        let experts = if experts > 1 { format!("{experts}x") } else { String::new() };
        format!("{distribution}-{}-{experts}{hidden}", family.name)
    }

    fn config(&self, games: &dyn Games, rate: f64, share: u64, quick: bool) -> Result<Config, TrainError> {
        let mut set = (self.family.set)(self.size.0, self.size.1, self.distribution);
        let rates = format!("{{ from = {rate}, to = {}, shape = \"cosine\" }}", rate / 1000.0);
        set.push(format!("learn.rate={rates}"));
        set.push(format!("learn.distribution={}", self.distribution));
        let tried = if share > 1 { format!("-rate-{rate}") } else { String::new() };
        set.push(format!("name={}{tried}", self.name()));
        let file = format!("configs/bearoff/experts/{}.toml", self.family.name);
        let mut config = runs::config_with(&file, self.family.config, set, games, quick)?;
        config.learn.set_length((config.learn.length() / share).max(1));
        Ok(config)
    }
}

fn jobs() -> Vec<Job> {
    let of = |distribution, family: &'static Family| {
        family.sizes.iter().map(move |&size| Job { family, distribution, size })
    };
    DISTRIBUTIONS.iter().flat_map(|d| FAMILIES.iter().flat_map(move |f| of(*d, f))).collect()
}

/// The study as a reproduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WhereExpertsPay;

impl Reproduction for WhereExpertsPay {
    fn name(&self) -> &'static str {
        "experts"
    }

    fn paper(&self) -> &'static str {
        "where experts pay: error against cost of single networks, phase gates, HME and Meta-Pi (takes most of an hour)"
    }

    fn runs(&self, seeds: u64) -> u64 {
        jobs().len() as u64 * (RATES.len() as u64 + seeds)
    }

    fn make(&self, work: Work<'_>) -> Result<Made, TrainError> {
        let made = experts(work)?;
        Made::of(&made, made.seconds, &made.files)
    }
}

/// Trains every network with the best of several learning rates, and compares error with cost.
///
/// # Errors
/// [`TrainError`] of the first run that fails.
fn experts(work: Work<'_>) -> Result<ExpertsStudy, TrainError> {
    let Work { games, options, .. } = work;
    let started = Instant::now();
    let jobs = jobs();
    let tried =
        jobs.iter().flat_map(|job| RATES.map(|rate| job.config(games, rate, SEARCH.0, options.quick)));
    let tried: Vec<Config> = tried.collect::<Result<_, _>>()?;
    let search = runs::attempts(&tried, SEARCH.1..SEARCH.1 + 1, work)?;
    let rates: Vec<f64> = search.chunks(RATES.len()).map(best_rate).collect();
    let configs = jobs.iter().zip(&rates).map(|(job, rate)| job.config(games, *rate, 1, options.quick));
    let configs: Vec<Config> = configs.collect::<Result<_, _>>()?;
    let go_on = ReproduceOptions { resume: true, ..options.clone() };
    let all = runs::all(&configs, runs::seeds(options), Work { options: &go_on, ..work })?;
    // One after another, so that timings do not disturb each other.
    let points = jobs.iter().zip(&rates).zip(&all).map(|((job, rate), runs)| point(games, job, *rate, runs));
    let mut rows: Vec<ExpertsPoint> = points.collect::<Result<_, _>>()?;
    mark_frontiers(&mut rows);
    let charts = DISTRIBUTIONS.iter().flat_map(|d| ["multiply-adds", "nanoseconds"].map(|by| (*d, by)));
    let charts: Vec<(&str, &str)> = charts.collect();
    let figures = charts.iter().map(|(distribution, by)| format!("{distribution}-{by}.svg"));
    let files = ["experts.md".into(), "experts.json".into()].into_iter().chain(figures);
    let result = ExpertsStudy {
        name: "experts".into(),
        seeds: options.seeds,
        quick: options.quick,
        samples: configs[0].learn.length(),
        rows,
        seconds: started.elapsed().as_secs_f64(),
        files: files.map(|file| options.out.join(file)).collect(),
    };
    let mut texts = vec![markdown(&result), super::json(&result)?];
    texts.extend(charts.iter().map(|(distribution, by)| figure(&result.rows, distribution, by)));
    for (path, text) in result.files.iter().zip(texts) {
        Files::default().replace(path, text.as_bytes())?;
    }
    Ok(result)
}

/// The rate whose run ends with the lowest error on validation positions. Diverged runs do not count.
fn best_rate(runs: &[Vec<Option<Run>>]) -> f64 {
    let validation = |runs: &[Option<Run>]| {
        let end = runs.first()?.as_ref()?.1.r#final.as_ref()?;
        end.validation
    };
    let errors = runs.iter().map(|runs| validation(runs).unwrap_or(f64::INFINITY));
    let best = errors.zip(RATES).min_by(|a, b| a.0.total_cmp(&b.0));
    best.map_or(RATES[0], |(_, rate)| rate)
}

fn point(games: &dyn Catalogue, job: &Job, rate: f64, runs: &[Run]) -> Result<ExpertsPoint, TrainError> {
    let finals = runs.iter().filter_map(|(_, record)| record.r#final.as_ref()).map(|score| score.figure());
    let finals: Vec<f64> = finals.collect();
    let end = mean_sd(&finals);
    Ok(ExpertsPoint {
        name: job.name(),
        family: job.family.name,
        distribution: job.distribution,
        experts: job.size.0,
        hidden: job.size.1,
        rate,
        cost: cost(games, &runs[0].0, job.distribution)?,
        final_median: median(&finals),
        final_mean: end.mean,
        final_sd: end.sd,
        finals,
        frontier: false,
        frontier_ns: false,
        seconds: runs.iter().map(|(_, record)| record.seconds).sum::<f64>() / runs.len() as f64,
    })
}

/// The median: the middle value, or the mean of the two middle values.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().saturating_sub(1) / 2, sorted.len() / 2);
    match (sorted.get(low), sorted.get(high)) {
        (Some(low), Some(high)) => (low + high) / 2.0,
        _ => f64::NAN,
    }
}

fn mark_frontiers(rows: &mut [ExpertsPoint]) {
    let seen: Vec<_> = rows.iter().map(|p| (p.distribution, p.cost, p.final_median)).collect();
    for row in rows {
        let beaten = |of: fn(&Cost) -> f64| {
            seen.iter().any(|(distribution, cost, error)| {
                *distribution == row.distribution && of(cost) <= of(&row.cost) && *error < row.final_median
            })
        };
        (row.frontier, row.frontier_ns) = (!beaten(|c| c.multiply_adds), !beaten(|c| c.nanoseconds));
    }
}

fn figure(rows: &[ExpertsPoint], distribution: &str, by: &str) -> String {
    let at = |p: &ExpertsPoint| if by == "nanoseconds" { p.cost.nanoseconds } else { p.cost.multiply_adds };
    let clouds: Vec<Cloud> = FAMILIES
        .iter()
        .map(|family| {
            let of = rows.iter().filter(|p| p.family == family.name && p.distribution == distribution);
            Cloud { name: family.label.into(), points: of.map(|p| (at(p), p.final_median)).collect() }
        })
        .collect();
    let x = if by == "nanoseconds" {
        "nanoseconds an evaluation, 512 rows at once"
    } else {
        "multiply-adds per evaluation, mean of those executed"
    };
    let title = format!("Bear-off, {distribution}: error against cost; lines join what a kind cannot better");
    chart::clouds(&title, (x, "RMS error of V"), &clouds)
}

/// The tables as Markdown.
fn markdown(result: &ExpertsStudy) -> String {
    let mut text = format!(
        "# Where experts pay: error against the cost of an evaluation\n\n{} samples from the oracle per run{}, {} \
         seeds per network from {FIRST_SEED} on. The learning rate is the best of {RATES:?} on validation positions, \
         after a quarter of the samples with seed {}. All networks read the same 36 inputs. Gates read 12 of them; \
         gates by clustering read only the mean rolls. Size: experts × hidden units. The error is the median over \
         the seeds. ●: no cheaper network is better. By halves: the first layer is computed once per side, then all \
         pairs. Figures leave out errors above {HIGHEST} times the lowest.\n",
        result.samples,
        if result.quick { " (--quick: a twentieth of the full length)" } else { "" },
        result.seeds,
        SEARCH.1,
    );
    for distribution in DISTRIBUTIONS {
        let _ = writeln!(
            text,
            "\n## {distribution}\n\n| network | size | rate | multiply-adds | | ns, 512 rows | | ns, 1 row | ns, by \
             halves | RMS error of V | of all seeds |\n|---|---|---|---|---|---|---|---|---|---|---|"
        );
        for family in &FAMILIES {
            for row in
                result.rows.iter().filter(|p| p.family == family.name && p.distribution == distribution)
            {
                let (low, high) =
                    row.finals.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &v| (a.min(v), b.max(v)));
                let mark = |on: bool| if on { "●" } else { "" };
                let size = match row.experts {
                    1 => row.hidden.to_string(),
                    experts => format!("{experts}×{}", row.hidden),
                };
                let _ = writeln!(
                    text,
                    "| {} | {size} | {} | {:.0} | {} | {:.1} | {} | {:.0} | {} | {:.5} | {low:.5}–{high:.5} |",
                    family.label,
                    row.rate,
                    row.cost.multiply_adds,
                    mark(row.frontier),
                    row.cost.nanoseconds,
                    mark(row.frontier_ns),
                    row.cost.nanoseconds_alone,
                    row.cost.nanoseconds_by_halves.map_or_else(String::new, |ns| format!("{ns:.2}")),
                    row.final_median,
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_builtin::bearoff::Bearoff;
    use adept_lab::One;

    /// Every kind has at least twelve networks on each distribution, all with the same samples.
    #[test]
    fn every_kind_has_twelve_sizes_that_can_be_built() {
        let jobs = jobs();
        // Gates by clustering count as one kind, with depth one or two.
        assert_eq!(jobs.len(), DISTRIBUTIONS.len() * (FAMILIES.len() - 1) * 12);
        for job in &jobs {
            let config = job
                .config(&One(Bearoff::default()), 0.01, 1, false)
                .unwrap_or_else(|e| panic!("{}: {e}", job.name()));
            assert_eq!(config.learn.length(), 12_000_000, "{}", job.name());
            assert_eq!(config.learn.distribution(), Some(job.distribution));
            assert_eq!(config.name, job.name());
        }
    }

    #[test]
    fn frontiers_leave_out_what_is_dearer_and_worse() {
        let point = |multiply_adds: f64, nanoseconds: f64, final_median: f64| ExpertsPoint {
            name: String::new(),
            family: "single",
            distribution: "table",
            experts: 1,
            hidden: 1,
            rate: 0.01,
            cost: Cost {
                live: 1,
                multiply_adds,
                nanoseconds,
                nanoseconds_alone: 0.0,
                range: (0.0, 0.0),
                nanoseconds_by_halves: None,
            },
            final_median,
            final_mean: final_median,
            final_sd: 0.0,
            finals: vec![],
            frontier: false,
            frontier_ns: false,
            seconds: 0.0,
        };
        let mut rows = [point(10.0, 3.0, 0.3), point(20.0, 2.0, 0.2), point(30.0, 4.0, 0.25)];
        mark_frontiers(&mut rows);
        assert_eq!(rows.each_ref().map(|p| p.frontier), [true, true, false]);
        assert_eq!(rows.each_ref().map(|p| p.frontier_ns), [false, true, false]);
    }
}
