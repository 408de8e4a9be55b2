//! Runs several experiments with several seeds each, for a table.

use adept_lab::reproduction::{ReproduceOptions, Work};
use adept_lab::seeds::on_ranks;
use adept_model::ModelError;
use adept_trainer::config::{Config, Games, Source, parse};
use adept_trainer::run::{Init, Record, Remedy, TrainError, TrainOptions, measurements, record_of};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// First seed of the tables. Settings were chosen on smaller seeds.
pub(super) const FIRST_SEED: u64 = 101;

/// The seeds of a table.
pub(super) fn seeds(options: &ReproduceOptions) -> Range<u64> {
    FIRST_SEED..FIRST_SEED + options.seeds
}

/// A run folder and its record.
pub(super) type Run = (PathBuf, Record);

/// A config embedded in this program, with a twentieth of its length if `quick`.
pub(super) fn config(file: &str, text: &str, games: &dyn Games, quick: bool) -> Result<Config, TrainError> {
    config_with(file, text, vec![], games, quick)
}

/// The same with changed settings.
pub(super) fn config_with(
    file: &str,
    text: &str,
    set: Vec<String>,
    games: &dyn Games,
    quick: bool,
) -> Result<Config, TrainError> {
    let source = Source { file: file.into(), text: text.into(), set };
    let mut config = parse(&source, games)?;
    if quick {
        let part = |length: u64| (length / 20).max(1);
        config.learn.set_length(part(config.learn.length()));
        config.evaluate.every = config.evaluate.every.map(part);
    }
    Ok(config)
}

/// A row of a table: name of its config, label, the paper's mean and standard deviation, the config.
pub(super) type PaperRow = (&'static str, &'static str, Option<(f64, f64)>, &'static str);

/// Rows of a table with their configs, which are in one folder.
macro_rules! rows {
    ($folder:literal: $($name:literal, $label:literal, $paper:expr;)*) => {
        [$(($name, $label, $paper, include_str!(concat!("../configs/", $folder, "/", $name, ".toml")))),*]
    };
}
pub(super) use rows;

/// The configs of rows, which are in this folder.
pub(super) fn configs(
    folder: &str,
    rows: &[PaperRow],
    games: &dyn Games,
    quick: bool,
) -> Result<Vec<Config>, TrainError> {
    let of =
        |(name, _, _, text): &PaperRow| config(&format!("configs/{folder}/{name}.toml"), text, games, quick);
    rows.iter().map(of).collect()
}

/// Runs every experiment with every seed. Returns the runs of each experiment by seed.
pub(super) fn all(
    configs: &[Config],
    seeds: Range<u64>,
    work: Work<'_>,
) -> Result<Vec<Vec<Run>>, TrainError> {
    let results = each(configs, seeds, work)?.into_iter();
    results.map(|runs| runs.into_iter().collect()).collect()
}

/// The same, but a diverged run gives `None`.
pub(super) fn attempts(
    configs: &[Config],
    seeds: Range<u64>,
    work: Work<'_>,
) -> Result<Vec<Vec<Option<Run>>>, TrainError> {
    let attempt = |run| match run {
        Ok(run) => Ok(Some(run)),
        Err(TrainError::Diverged { .. }) => Ok(None),
        Err(error) => Err(error),
    };
    let results = each(configs, seeds, work)?.into_iter();
    results.map(|runs| runs.into_iter().map(attempt).collect()).collect()
}

fn each(
    configs: &[Config],
    seeds: Range<u64>,
    work: Work<'_>,
) -> Result<Vec<Vec<Result<Run, TrainError>>>, TrainError> {
    check_folder(work.options)?;
    let jobs: Vec<(&Config, u64)> =
        configs.iter().flat_map(|c| seeds.clone().map(move |seed| (c, seed))).collect();
    let results =
        on_ranks(&jobs, work.options.threads, |&(config, seed)| one(config, seed, Vec::new(), work));
    let mut results = results.into_iter();
    Ok(configs.iter().map(|_| results.by_ref().take(seeds.clone().count()).collect()).collect())
}

/// Checks that the folder of the runs is new, unless an earlier call is resumed.
pub(super) fn check_folder(options: &ReproduceOptions) -> Result<(), TrainError> {
    let path = options.out.join("runs");
    if !options.resume && path.exists() {
        let message = "holds the runs of an earlier call: resume it to keep its finished runs, choose another folder, or remove it";
        return Err(TrainError::Folder { path, message: message.into() });
    }
    Ok(())
}

/// Runs an experiment to its end.
pub(super) fn one(config: &Config, seed: u64, init: Vec<Init>, work: Work<'_>) -> Result<Run, TrainError> {
    let Work { games, options, observer, cancel } = work;
    if cancel.requested() {
        return Err(interrupted(options));
    }
    let out = Some(options.out.join("runs").join(format!("{}-{seed}", config.name)));
    let options_of = TrainOptions { out, resume: true, init, ..Default::default() };
    let run = games.find(&config.game.rules)?.train(config, seed, &options_of, observer, cancel);
    let run = run.map_err(|error| error.with_remedies(&[Remedy::Resume]))?;
    if run.1.finished { Ok(run) } else { Err(interrupted(options)) }
}

/// Mean seconds per run.
pub(super) fn mean_seconds(runs: &[Run]) -> f64 {
    runs.iter().map(|(_, record)| record.seconds).sum::<f64>() / runs.len().max(1) as f64
}

/// The threads of a reproduction without runs.
pub(super) fn pool(options: &ReproduceOptions) -> Result<rayon::ThreadPool, TrainError> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads).build();
    Ok(pool.map_err(|e| ModelError::Unsupported(format!("threads: {e}")))?)
}

pub(super) fn interrupted(options: &ReproduceOptions) -> TrainError {
    TrainError::Interrupted {
        path: options.out.clone(),
        message: "was interrupted: resume it to keep its finished runs".into(),
    }
}

/// Mean over several runs of the value that `value` reads from a line of metrics, at each measured step.
pub(super) fn mean_curve<'a>(
    runs: impl Iterator<Item = &'a Path>,
    value: impl Fn(&serde_json::Value) -> Option<f64>,
) -> Result<Vec<(f64, f64)>, TrainError> {
    let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for run in runs {
        let Some(record) = record_of(run)? else { continue };
        for line in measurements(run, &record)? {
            if let (Some(step), Some(value)) = (line["step"].as_u64(), value(&line)) {
                let sum = sums.entry(step).or_default();
                *sum = (sum.0 + value, sum.1 + 1.0);
            }
        }
    }
    Ok(sums.into_iter().map(|(step, (sum, n))| (step as f64, sum / n)).collect())
}
