//! Where experts pay off: error against evaluation cost, for single networks and hierarchies of experts.

use crate::MEASURING;
use crate::report::{Paper, Report};
use crate::runs::{self, FIRST_SEED, Run};
use adept_builtin::bearoff::Bearoff;
use adept_game::Kit;
use adept_ground::work;
use adept_lab::Catalogue;
use adept_lab::chart::{self, Axes, Cloud, HIGHEST};
use adept_lab::checkpoints::opened;
use adept_lab::measure::Cost;
use adept_lab::reproduction::{ReproduceOptions, Work};
use adept_lab::statistics::{Median, mean_sd, median};
use adept_trainer::config::{Config, Games};
use adept_trainer::run::TrainError;
use serde::Serialize;
use std::fmt::Write;
use std::time::Instant;

/// Distributions for learning and measuring.
const DISTRIBUTIONS: [&str; 2] = ["table", "checkers"];
/// Initial learning rates tried first; the final rate is a thousandth. While the best one is at an end of the list, the
/// next one beyond it is tried too.
pub(super) const RATES: [f64; 3] = [0.004, 0.01, 0.025];
/// Factor between neighbouring rates.
const STEP: f64 = 2.5;
/// Largest number of rates tried beyond the first ones.
const FURTHER: usize = 3;
/// The search uses one of this many samples.
const SEARCH_SHARE: u64 = 4;
/// Seeds of the search, which no reported figure uses. The worst one counts: large rates often do well, and sometimes
/// destroy a network.
const SEARCH_SEEDS: std::ops::Range<u64> = 1..3;

/// Experts, 1 for a single network, and the hidden layers of each.
type Size = (usize, &'static [usize]);

/// A kind of network.
struct Family {
    /// Name in runs and files.
    name: &'static str,
    label: &'static str,
    /// Name of its config, and the config.
    config: (&'static str, &'static str),
    sizes: &'static [Size],
    /// Config settings for this size and distribution.
    set: fn(size: Size, distribution: &str) -> Vec<String>,
}

macro_rules! config {
    ($name:literal) => {
        ($name, include_str!(concat!("../configs/bearoff/experts/", $name, ".toml")))
    };
}

const ONE_LAYER: [Size; 6] = [(1, &[2]), (1, &[4]), (1, &[8]), (1, &[16]), (1, &[32]), (1, &[64])];
const TWO_LAYERS: [Size; 4] = [(1, &[8, 8]), (1, &[16, 8]), (1, &[32, 16]), (1, &[64, 32])];
const THREE_LAYERS: [Size; 3] = [(1, &[16, 16, 8]), (1, &[32, 32, 16]), (1, &[64, 32, 16])];
const PHASES: [Size; 5] = [(16, &[2]), (16, &[4]), (16, &[8]), (16, &[16]), (64, &[8])];
const CELLS: [Size; 6] = [(16, &[2]), (16, &[4]), (16, &[8]), (16, &[16]), (64, &[4]), (64, &[8])];
const DEEP_CELLS: [Size; 2] = [(16, &[8, 8]), (16, &[16, 8])];
const THRESHOLD: [Size; 4] = [(2, &[32]), (4, &[8]), (4, &[16]), (8, &[8])];
const ALL_RUN: [Size; 3] = [(4, &[8]), (4, &[16]), (8, &[16])];

/// Config settings that set the size of a network.
fn sized(kind: &str, (experts, hidden): Size) -> Vec<String> {
    vec![
        format!("architecture.{kind}.experts={experts}"),
        format!("architecture.{kind}.expert.mlp.hidden={hidden:?}"),
    ]
}

fn single((_, hidden): Size, _: &str) -> Vec<String> {
    vec![format!("architecture.mlp.hidden={hidden:?}")]
}

fn phase((experts, hidden): Size, distribution: &str) -> Vec<String> {
    // Most sides of `table` have a sum of pips and twice the checkers above 64.
    let end = if distribution == "table" { 112 } else { 64 };
    vec![
        format!("game.encoder=race+distribution:12+phase:{}:{end}", experts.isqrt()),
        format!("architecture.symbolic.expert.mlp.hidden={hidden:?}"),
    ]
}

fn cells(size: Size, _: &str) -> Vec<String> {
    sized("cells", size)
}

fn hme(size: Size, _: &str) -> Vec<String> {
    sized("hme", size)
}

fn meta_pi(size: Size, _: &str) -> Vec<String> {
    sized("meta_pi", size)
}

const fn family(
    name: &'static str,
    label: &'static str,
    config: (&'static str, &'static str),
    sizes: &'static [Size],
    set: fn(Size, &str) -> Vec<String>,
) -> Family {
    Family { name, label, config, sizes, set }
}

const FAMILIES: [Family; 10] = [
    family("single", "single, one layer", config!("single"), &ONE_LAYER, single),
    family("single-two", "single, two layers", config!("single"), &TWO_LAYERS, single),
    family("single-three", "single, three layers", config!("single"), &THREE_LAYERS, single),
    family("phase", "rule of phases", config!("phase"), &PHASES, phase),
    family("cells", "learned cells", config!("cells"), &CELLS, cells),
    family("cells-two", "learned cells, two layers", config!("cells"), &DEEP_CELLS, cells),
    family("meta-pi-threshold", "Meta-Pi, threshold .3", config!("meta-pi-threshold"), &THRESHOLD, meta_pi),
    family("hme-threshold", "HME, threshold .3", config!("hme-threshold"), &THRESHOLD, hme),
    family("meta-pi", "Meta-Pi, all run", config!("meta-pi"), &ALL_RUN, meta_pi),
    family("hme", "HME, all run", config!("hme"), &ALL_RUN, hme),
];

/// Measure of cost by which networks are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Price {
    /// Multiply-adds executed, the mean over positions.
    MultiplyAdds,
    /// Nanoseconds of an evaluation with 512 rows per call.
    Nanoseconds,
    /// Nanoseconds of a value over all pairs of halves.
    ByHalves,
    /// Learned parameters.
    Parameters,
    /// Seconds of a run.
    Training,
}

impl Price {
    const ALL: [Self; 5] =
        [Self::MultiplyAdds, Self::Nanoseconds, Self::ByHalves, Self::Parameters, Self::Training];

    /// None if the network cannot be used in this way.
    fn value(self, point: &ExpertsPoint) -> Option<f64> {
        match self {
            Self::MultiplyAdds => Some(point.cost.multiply_adds),
            Self::Nanoseconds => Some(point.cost.nanoseconds),
            Self::ByHalves => point.cost.nanoseconds_by_halves,
            Self::Parameters => Some(point.parameters as f64),
            Self::Training => Some(point.seconds),
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::MultiplyAdds => "multiply-adds",
            Self::Nanoseconds => "nanoseconds",
            Self::ByHalves => "by-halves",
            Self::Parameters => "parameters",
            Self::Training => "training",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::MultiplyAdds => "multiply-adds per evaluation, mean of those executed",
            Self::Nanoseconds => "nanoseconds an evaluation, 512 rows at once",
            Self::ByHalves => "nanoseconds a value over all pairs of sides",
            Self::Parameters => "parameters",
            Self::Training => "seconds of training, the fastest run (as many at a time as threads)",
        }
    }
}

/// A network: its size, cost and error.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ExpertsPoint {
    /// Name of its runs, without the seed.
    pub(crate) name: String,
    /// Kind of network.
    pub(crate) family: &'static str,
    /// Distribution for learning and measuring.
    pub(crate) distribution: &'static str,
    /// Experts; 1 for a single network.
    pub(crate) experts: usize,
    /// Hidden layers of each expert.
    pub(crate) hidden: Vec<usize>,
    /// Initial learning rate, the best of those tried.
    pub(crate) rate: f64,
    /// All rates tried.
    pub(crate) rates: Vec<f64>,
    /// Learned parameters.
    pub(crate) parameters: usize,
    /// Cost of an evaluation, measured with the first seed.
    #[serde(flatten)]
    pub(crate) cost: Cost,
    /// Final root mean square error of V on test positions: the median over the seeds, because one may diverge.
    pub(crate) final_median: f64,
    /// Mean over the seeds.
    pub(crate) final_mean: f64,
    /// Standard deviation.
    pub(crate) final_sd: f64,
    /// Final errors by seed.
    pub(crate) finals: Vec<f64>,
    /// The interval of the median, by order statistics.
    pub(crate) interval: [f64; 2],
    /// Its coverage probability of the median of all runs: .9375 with five seeds, 0 with one.
    pub(crate) level: f64,
    /// Cost measures for which the network is on the Pareto frontier of all kinds.
    frontier: Vec<Price>,
    /// Seconds of the fastest run, because other work only slows runs down.
    pub(crate) seconds: f64,
}

/// Result of the study.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ExpertsStudy {
    /// Samples per run.
    pub(crate) samples: u64,
    /// The networks.
    pub(crate) rows: Vec<ExpertsPoint>,
}

/// A network to be trained.
struct Job {
    family: &'static Family,
    distribution: &'static str,
    size: Size,
}

impl Job {
    fn name(&self) -> String {
        let ((experts, hidden), Self { family, distribution, .. }) = (self.size, self);
        let experts = if experts > 1 { format!("{experts}x") } else { String::new() };
        format!("{distribution}-{}-{experts}{}", family.name, layers(hidden))
    }

    fn config(&self, games: &dyn Games, rate: f64, share: u64, quick: bool) -> Result<Config, TrainError> {
        let mut set = (self.family.set)(self.size, self.distribution);
        let rates = format!("{{ from = {rate}, to = {}, shape = \"cosine\" }}", rate / 1000.0);
        set.push(format!("learn.rate={rates}"));
        set.push(format!("learn.distribution={}", self.distribution));
        let tried = if share > 1 { format!("-rate-{rate}") } else { String::new() };
        set.push(format!("name={}{tried}", self.name()));
        let file = format!("configs/bearoff/experts/{}.toml", self.family.config.0);
        let mut config = runs::config_with(&file, self.family.config.1, set, games, quick)?;
        config.learn.set_length((config.learn.length() / share).max(1));
        Ok(config)
    }
}

/// Hidden layers as text: `16-8`.
fn layers(hidden: &[usize]) -> String {
    hidden.iter().map(usize::to_string).collect::<Vec<_>>().join("-")
}

/// Rates tried for a network, with the worst validation error of each, in order of the rates.
pub(super) type Tried = Vec<(f64, f64)>;

/// The rate to try next: beyond the best one if that is at an end.
fn next_rate(tried: &Tried) -> Option<f64> {
    let rounded = |rate: f64| format!("{rate:.2e}").parse().unwrap_or(rate);
    let best = best_of(tried)?;
    match tried.iter().position(|(rate, _)| *rate == best)? {
        0 => Some(rounded(best / STEP)),
        last if last + 1 == tried.len() => Some(rounded(best * STEP)),
        _ => None,
    }
}

/// The rates to try in a round, each with the number of its network: at first [`RATES`], then the next one.
pub(super) fn rates_to_try(tried: &[Tried], round: usize) -> Vec<(usize, f64)> {
    let of = |(i, tried): (usize, &Tried)| match round {
        0 => RATES.map(|rate| (i, rate)).to_vec(),
        _ => next_rate(tried).map(|rate| (i, rate)).into_iter().collect(),
    };
    tried.iter().enumerate().flat_map(of).collect()
}

/// The rate with the lowest validation error; the first if all runs diverged.
pub(super) fn best_of(tried: &Tried) -> Option<f64> {
    tried.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(rate, _)| *rate)
}

fn jobs() -> Vec<Job> {
    let of = |distribution, family: &'static Family| {
        family.sizes.iter().map(move |&size| Job { family, distribution, size })
    };
    DISTRIBUTIONS.iter().flat_map(|d| FAMILIES.iter().flat_map(move |f| of(*d, f))).collect()
}

/// The study as a reproduction.
pub(crate) const EXPERTS: Paper = Paper {
    name: "experts",
    about: "where experts pay: error against cost of single networks, rules, learned cells, HME and Meta-Pi (takes an hour)",
    runs: |seeds| {
        // Most networks try one more rate, some two.
        let rates = RATES.len() as f64 + 0.7;
        (jobs().len() as f64 * (SEARCH_SEEDS.count() as f64 * rates + seeds as f64)) as u64
    },
    make: |work| experts(work)?.made(),
};

/// Trains every network with the best of several learning rates, and compares error with cost.
///
/// # Errors
/// [`TrainError`] of the first run that fails.
fn experts(work: Work<'_>) -> Result<Report<ExpertsStudy>, TrainError> {
    let Work { games, options, cancel, .. } = work;
    let started = Instant::now();
    let jobs = jobs();
    let tried = search(&jobs, work)?;
    let rates: Vec<f64> = tried.iter().map(|tried| best_of(tried).unwrap_or(RATES[0])).collect();
    let configs = jobs.iter().zip(&rates).map(|(job, rate)| job.config(games, *rate, 1, options.quick));
    let configs: Vec<Config> = configs.collect::<Result<_, _>>()?;
    let go_on = ReproduceOptions { resume: true, ..options.clone() };
    let all = runs::all(&configs, runs::seeds(options), Work { options: &go_on, ..work })?;
    // The exact table stays in memory between networks.
    let _halves = Bearoff::default().values().halves.map(|open| open());
    // One after another, so that timings do not disturb each other.
    let mut rows = Vec::with_capacity(jobs.len());
    for (i, ((job, tried), runs)) in jobs.iter().zip(&tried).zip(&all).enumerate() {
        if cancel.requested() {
            return Err(runs::interrupted(options));
        }
        work::share(MEASURING, i as f64 / jobs.len() as f64);
        rows.push(point(games, job, tried, runs)?);
    }
    work::share(MEASURING, 1.0);
    mark_frontiers(&mut rows);
    let study = ExpertsStudy { samples: configs[0].learn.length(), rows };
    let study = Report::new(EXPERTS.name, options, started, study);
    let mut files = vec![("experts.md".into(), markdown(&study))];
    for (distribution, by) in DISTRIBUTIONS.iter().flat_map(|d| Price::ALL.map(|by| (d, by))) {
        let chart = figure(&study.body.rows, distribution, by);
        files.push((format!("{distribution}-{}.svg", by.file()), chart));
    }
    study.publish(options, files)
}

/// Tries rates for every network on a part of the samples, until the best one has neighbours on both sides.
fn search(jobs: &[Job], work: Work<'_>) -> Result<Vec<Tried>, TrainError> {
    let quick = work.options.quick;
    let mut tried: Vec<Tried> = jobs.iter().map(|_| Vec::new()).collect();
    for round in 0..=FURTHER {
        let wanted = rates_to_try(&tried, round);
        if wanted.is_empty() {
            break;
        }
        let configs = wanted.iter().map(|&(i, rate)| jobs[i].config(work.games, rate, SEARCH_SHARE, quick));
        let configs: Vec<Config> = configs.collect::<Result<_, _>>()?;
        let go_on = ReproduceOptions { resume: work.options.resume || round > 0, ..work.options.clone() };
        let found = runs::attempts(&configs, SEARCH_SEEDS, Work { options: &go_on, ..work })?;
        for (&(i, rate), runs) in wanted.iter().zip(&found) {
            let end = |run: &Option<Run>| run.as_ref()?.1.r#final.as_ref()?.validation;
            let errors = runs.iter().map(|run| end(run).unwrap_or(f64::INFINITY));
            tried[i].push((rate, errors.fold(0.0, f64::max)));
            tried[i].sort_by(|a, b| a.0.total_cmp(&b.0));
        }
    }
    Ok(tried)
}

fn point(games: &dyn Catalogue, job: &Job, tried: &Tried, runs: &[Run]) -> Result<ExpertsPoint, TrainError> {
    let finals = runs.iter().filter_map(|(_, record)| record.r#final.as_ref()).map(|score| score.figure());
    let finals: Vec<f64> = finals.collect();
    let end = mean_sd(&finals);
    let none = Median { median: f64::NAN, interval: [f64::NAN; 2], level: 0.0 };
    let Median { median: final_median, interval, level } = median(&finals).unwrap_or(none);
    let (game, checkpoint) = opened(games, &runs[0].0, false)?;
    Ok(ExpertsPoint {
        name: job.name(),
        family: job.family.name,
        distribution: job.distribution,
        experts: job.size.0,
        hidden: job.size.1.to_vec(),
        rate: best_of(tried).unwrap_or(RATES[0]),
        rates: tried.iter().map(|(rate, _)| *rate).collect(),
        parameters: game.describe(checkpoint.clone())?.size.parameters,
        cost: game.cost(checkpoint, job.distribution)?,
        final_median,
        final_mean: end.mean,
        final_sd: end.sd,
        interval,
        level,
        finals,
        frontier: Vec::new(),
        seconds: runs.iter().map(|(_, record)| record.seconds).fold(f64::INFINITY, f64::min),
    })
}

fn mark_frontiers(rows: &mut [ExpertsPoint]) {
    for i in 0..rows.len() {
        let beaten = |by: Price| {
            let Some(own) = by.value(&rows[i]) else { return true };
            rows.iter().any(|other| {
                other.distribution == rows[i].distribution
                    && by.value(other).is_some_and(|cost| cost <= own)
                    && other.final_median < rows[i].final_median
            })
        };
        rows[i].frontier = Price::ALL.into_iter().filter(|by| !beaten(*by)).collect();
    }
}

fn figure(rows: &[ExpertsPoint], distribution: &str, by: Price) -> String {
    let clouds: Vec<Cloud> = FAMILIES
        .iter()
        .map(|family| {
            let of = rows.iter().filter(|p| p.family == family.name && p.distribution == distribution);
            let points = of.filter_map(|p| Some((by.value(p)?, p.final_median))).collect();
            Cloud { name: family.label.into(), points }
        })
        .filter(|cloud| !cloud.points.is_empty())
        .collect();
    let title =
        format!("Bear-off, {distribution}: lower left is better; a line joins the best networks of a kind");
    chart::clouds(&title, Axes { x: by.label(), y: "RMS error of V" }, &clouds)
}

/// The tables as Markdown.
fn markdown(result: &Report<ExpertsStudy>) -> String {
    let mut text = format!(
        "# Where experts pay: error against cost\n\n{} samples from the oracle per run{}, {} seeds per network from \
         {FIRST_SEED} on, SOAP. The learning rate is the best on validation positions after a quarter of the samples, \
         by the worst of {} other seeds, of {RATES:?} and up to three further ones until the best had neighbours on both sides. All networks read \
         the same 36 inputs; gates read the mean rolls of both sides. Size: experts × hidden units. Live: experts that \
         win at least 1 % of positions. By halves: the first layer is computed once per side, then all pairs. The \
         error is the median over the seeds, with its interval by order statistics ({:.0} %). ● after a price: no network that \
         costs as much or less is better. Seconds: the fastest run. Figures leave out errors above {HIGHEST} times the lowest.\n",
        result.body.samples,
        if result.quick { " (--quick: a twentieth of the full length)" } else { "" },
        result.seeds,
        SEARCH_SEEDS.count(),
        100.0 * result.body.rows.first().map_or(0.0, |row| row.level),
    );
    for distribution in DISTRIBUTIONS {
        let _ = writeln!(
            text,
            "\n## {distribution}\n\n| network | size | live | rate | RMS error of V, median | interval | multiply-adds | ns, 512 \
             rows | ns, 1 row | ns, by halves | parameters | seconds |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
        );
        for family in &FAMILIES {
            let of = |p: &&ExpertsPoint| p.family == family.name && p.distribution == distribution;
            for row in result.body.rows.iter().filter(of) {
                let size = match row.experts {
                    1 => layers(&row.hidden),
                    experts => format!("{experts}×{}", layers(&row.hidden)),
                };
                let price = |by: Price, places: usize| {
                    let mark = if row.frontier.contains(&by) { " ●" } else { "" };
                    by.value(row).map_or_else(String::new, |v| format!("{v:.places$}{mark}"))
                };
                let [low, high] = row.interval;
                let range = if row.level > 0.0 { format!("{low:.5}–{high:.5}") } else { String::new() };
                let _ = writeln!(
                    text,
                    "| {} | {size} | {} | {} | {:.5} | {range} | {} | {} | {:.0} | {} | {} | {} |",
                    family.label,
                    if row.experts > 1 { row.cost.live.to_string() } else { String::new() },
                    row.rate,
                    row.final_median,
                    price(Price::MultiplyAdds, 0),
                    price(Price::Nanoseconds, 1),
                    row.cost.nanoseconds_alone,
                    price(Price::ByHalves, 2),
                    price(Price::Parameters, 0),
                    price(Price::Training, 1),
                );
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use adept_lab::One;

    #[test]
    fn every_network_can_be_built() {
        for job in &jobs() {
            let config = job
                .config(&One(Bearoff::default()), 0.01, 1, false)
                .unwrap_or_else(|e| panic!("{}: {e}", job.name()));
            assert_eq!(config.learn.length(), 12_000_000, "{}", job.name());
            assert_eq!(config.learn.distribution(), Some(job.distribution));
            assert_eq!(config.name, job.name());
            assert!(config.architecture.cautions().is_empty(), "{}", job.name());
        }
    }

    #[test]
    fn rates_are_tried_until_the_best_has_neighbours() {
        assert_eq!(next_rate(&vec![(0.004, 0.3), (0.01, 0.2), (0.025, 0.4)]), None);
        assert_eq!(next_rate(&vec![(0.004, 0.3), (0.01, 0.2), (0.025, 0.1)]), Some(0.0625));
        assert_eq!(next_rate(&vec![(0.004, 0.1), (0.01, 0.2), (0.025, f64::INFINITY)]), Some(0.0016));
        assert_eq!(best_of(&vec![(0.004, 0.3), (0.01, 0.2), (0.025, 0.4)]), Some(0.01));
    }

    #[test]
    fn frontiers_leave_out_what_is_dearer_and_worse() {
        let point = |multiply_adds: f64, nanoseconds: f64, final_median: f64| ExpertsPoint {
            name: String::new(),
            family: "single",
            distribution: "table",
            experts: 1,
            hidden: vec![1],
            rate: 0.01,
            rates: vec![],
            parameters: 5,
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
            interval: [final_median; 2],
            level: 0.0,
            finals: vec![],
            frontier: vec![],
            seconds: 1.0,
        };
        let mut rows = [point(10.0, 3.0, 0.3), point(20.0, 2.0, 0.2), point(30.0, 4.0, 0.25)];
        mark_frontiers(&mut rows);
        let on = |by: Price| rows.each_ref().map(|p| p.frontier.contains(&by));
        assert_eq!(on(Price::MultiplyAdds), [true, true, false]);
        assert_eq!(on(Price::Nanoseconds), [false, true, false]);
        assert_eq!(on(Price::Parameters), [false, true, false]);
        assert_eq!(on(Price::ByHalves), [false; 3]);
    }
}
