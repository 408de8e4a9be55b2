//! One side of a comparison: the finished runs of one experiment.

use super::CompareError;
use crate::statistics::Seeded;
use adept_model::ModelError;
use adept_model::checkpoint::RUNS;
use adept_trainer::config::Config;
use adept_trainer::run::{Record, Score, losses, record_of};
use adept_trainer::settings::{differences, show};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The runs of one experiment.
pub(super) struct Side {
    /// Config of its first run.
    pub(super) config: Config,
    /// Common to all runs: the config without its seed, and the initial checkpoint, if any.
    pub(super) settings: Value,
    /// Finished runs by seed.
    pub(super) runs: Vec<(PathBuf, Record)>,
    /// Unfinished runs.
    pub(super) unfinished: Vec<PathBuf>,
}

impl Side {
    pub(super) fn read(given: &Path) -> Result<Self, CompareError> {
        let fail = |message: String| CompareError::Side { given: given.into(), message };
        let mut runs = Vec::new();
        let mut unfinished = Vec::new();
        for path in folders(given)? {
            match record_of(&path)? {
                Some(record) if record.finished => runs.push((path, record)),
                _ => unfinished.push(path),
            }
        }
        if runs.is_empty() {
            return Err(fail(match &unfinished[..] {
                [] => "names no runs: give a run folder, a folder of runs, or the name of an experiment; `adept runs \
                       list` shows them"
                    .into(),
                [one] => format!("has no finished run: {} did not finish", one.display()),
                many => format!("has no finished run: {} did not finish", many.len()),
            }));
        }
        runs.sort_by(|(p, a), (q, b)| a.seed.cmp(&b.seed).then_with(|| p.cmp(q)));
        let (first, record) = &runs[0];
        let settings = settings(record, record)?;
        for (path, other) in &runs[1..] {
            if let Some(d) = differences(&settings, &self::settings(other, record)?).first() {
                return Err(fail(format!(
                    "holds runs of several experiments: `{}` is {} in {} and {} in {}; name one run, or its \
                     folder without the seed",
                    d.key,
                    show(d.a.as_ref()),
                    first.display(),
                    show(d.b.as_ref()),
                    path.display()
                )));
            }
        }
        if let Some(pair) = runs.windows(2).find(|pair| pair[0].1.seed == pair[1].1.seed) {
            let (a, b) = (pair[0].0.display(), pair[1].0.display());
            return Err(fail(format!("holds the same run twice, {a} and {b}: remove one")));
        }
        Ok(Self { config: record.config.clone(), settings, runs, unfinished })
    }

    /// This side with paths rewritten to those of the other side where they lead to the same files.
    pub(super) fn beside(mut self, other: &Self) -> Result<Self, ModelError> {
        if let (Some((_, own)), Some((_, other))) = (self.runs.first(), other.runs.first()) {
            self.settings = settings(own, other)?;
            self.config = own.config_beside(&other.config, other.folder.as_deref());
        }
        Ok(self)
    }

    /// A figure of each run that has it, with the run's seed.
    pub(super) fn figures(&self, figure: impl Fn(&Record) -> Option<f64>) -> Vec<Seeded> {
        self.runs.iter().filter_map(|(_, r)| Some((r.seed, figure(r)?))).collect()
    }

    pub(super) fn finals(&self) -> Vec<Seeded> {
        self.figures(|r| r.r#final.as_ref().map(Score::figure))
    }

    pub(super) fn bests(&self) -> Vec<Seeded> {
        self.figures(|r| r.best.as_ref().map(Score::figure))
    }

    pub(super) fn losses(&self) -> Result<Vec<Seeded>, ModelError> {
        let mut found = Vec::new();
        for (path, record) in &self.runs {
            found.extend(losses(path, record)?.map(|(last, _)| (record.seed, last)));
        }
        Ok(found)
    }
}

/// The settings of a run without its seed; paths to the same files are written as in `other`.
fn settings(record: &Record, other: &Record) -> Result<Value, ModelError> {
    let config = record.config_beside(&other.config, other.folder.as_deref());
    let mut settings = serde_json::to_value(config)?;
    if let Some(settings) = settings.as_object_mut() {
        settings.remove("seed");
        // Initial weights belong to the experiment but not to the config.
        if !record.init.is_empty() {
            // Compare initial checkpoints by content, not by path.
            let init: Vec<_> = record.init.iter().map(|o| (o.part.as_deref(), &o.checksum)).collect();
            settings.insert("init".into(), serde_json::to_value(init)?);
        }
    }
    Ok(settings)
}

/// The run folders of a path or name; empty if it matches nothing.
pub(crate) fn folders(given: &Path) -> Result<Vec<PathBuf>, ModelError> {
    let is_run = |path: &PathBuf| path.join("run.json").exists();
    let given_path = given.to_path_buf();
    if is_run(&given_path) {
        return Ok(vec![given_path]);
    }
    // Names as `runs list` prints them, such as NAME-1 or sweep-NAME/2-rate-0.01-1.
    let of_name = Path::new(RUNS).join(given);
    let named = given.is_relative() && !given.exists();
    if named && is_run(&of_name) {
        return Ok(vec![of_name]);
    }
    let parent = of_name.parent().unwrap_or(Path::new(RUNS));
    let given = if named && given.components().count() > 1 && parent.is_dir() { &of_name } else { given };
    let inside: Vec<PathBuf> = entries(given)?.into_iter().filter(is_run).collect();
    let Some(name) = given.file_name().filter(|_| inside.is_empty()).map(|n| n.to_string_lossy()) else {
        return Ok(inside);
    };
    let around = given.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new(RUNS));
    let seed_of = |path: &PathBuf| -> Option<u64> {
        let found = path.file_name()?.to_string_lossy();
        found.strip_prefix(&*name)?.strip_prefix('-')?.parse().ok()
    };
    Ok(entries(around)?.into_iter().filter(|path| seed_of(path).is_some() && is_run(path)).collect())
}

/// The entries of a folder; empty if it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ModelError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let io = |source| ModelError::io(folder)(source);
    let entries = fs::read_dir(folder).map_err(io)?;
    entries.map(|entry| Ok(entry.map_err(io)?.path())).collect()
}
