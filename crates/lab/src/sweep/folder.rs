//! `sweep.json`: the plan of a sweep.

use super::SweepError;
use super::grid::{Combination, Grid};
use super::table::shows_results;
use adept_ground::{files::Files, limits};
use adept_model::ModelError;
use adept_trainer::config::folder_name;
use adept_trainer::run::{lock_of, record_of, remove_run};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Version of the plan.
const FORMAT: u32 = 1;
const FILE: &str = "sweep.json";
/// The table of results.
pub(super) const TABLE: &str = "sweep.md";

/// The plan of a sweep, with its diverged runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Plan {
    format: u32,
    name: String,
    first_seed: u64,
    seeds: u64,
    /// Additional seeds of calls with a list of seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    more_seeds: Vec<u64>,
    combinations: Vec<Combination>,
    /// The folder that paths in the configs are relative to, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    /// Run folders that diverged, with the reason. They would diverge again.
    #[serde(default)]
    pub(super) diverged: BTreeMap<String, String>,
}

impl Plan {
    /// The plan of a grid with these seeds, at least one.
    pub(super) fn new(grid: &Grid, seeds: &[u64]) -> Self {
        let first = seeds.first().copied().unwrap_or(grid.seed);
        let ranged = seeds.iter().zip(first..).take_while(|(seed, next)| *seed == next).count();
        Self {
            format: FORMAT,
            name: grid.name.clone(),
            first_seed: first,
            seeds: ranged as u64,
            more_seeds: seeds[ranged..].to_vec(),
            combinations: grid.combinations.clone(),
            folder: grid.combinations.iter().find_map(|c| c.config.folder_of_paths()),
            diverged: BTreeMap::new(),
        }
    }

    /// Whether `earlier` is a plan of the same sweep. It may come from another folder, so that its paths and run names
    /// are written differently. It must have all seeds of this plan, or any with `other_seeds`.
    fn is(&self, earlier: &Self, other_seeds: bool) -> bool {
        let base = earlier.folder.as_deref().filter(|_| earlier.folder != self.folder);
        let is_same = |now: &Combination, then: &Combination| match base {
            Some(base) => {
                now.settings.keys().eq(then.settings.keys())
                    && is_folder_name(then)
                    && then.config.with_paths_of(base, &now.config, Path::new("")) == now.config
            }
            None => now == then,
        };
        (other_seeds || earlier.covers(self))
            && self.combinations.len() == earlier.combinations.len()
            && self.combinations.iter().zip(&earlier.combinations).all(|(now, then)| is_same(now, then))
    }

    /// The consecutive seeds.
    fn ranged(&self) -> std::ops::Range<u64> {
        self.first_seed..self.first_seed.saturating_add(self.seeds)
    }

    /// Adds seeds to the plan. Returns whether some are new.
    pub(super) fn with_seeds(mut self, seeds: &[u64]) -> (Self, bool) {
        let before = self.more_seeds.len();
        for seed in seeds {
            if !self.ranged().contains(seed) && !self.more_seeds.contains(seed) {
                self.more_seeds.push(*seed);
            }
        }
        let is_new = self.more_seeds.len() > before;
        (self, is_new)
    }

    /// Whether the plan has all seeds of another plan.
    fn covers(&self, other: &Self) -> bool {
        let more: BTreeSet<u64> = self.more_seeds.iter().copied().collect();
        other.all_seeds().all(|seed| self.ranged().contains(&seed) || more.contains(&seed))
    }

    /// The seeds as text: `from seed 5 on`, or `seeds 1–3, 7`.
    fn seeds_text(&self) -> String {
        if self.more_seeds.is_empty() {
            return format!("from seed {} on", self.first_seed);
        }
        // Only the ends of each range, so that plans of any size are fast.
        let own =
            self.seeds.checked_sub(1).map(|more| (self.first_seed, self.first_seed.saturating_add(more)));
        let mut all: Vec<(u64, u64)> =
            own.into_iter().chain(self.more_seeds.iter().map(|seed| (*seed, *seed))).collect();
        all.sort_unstable();
        all.dedup_by(|next, row| {
            let follows = next.0 <= row.1.saturating_add(1);
            if follows {
                row.1 = row.1.max(next.1);
            }
            follows
        });
        let row = |(first, last): &(u64, u64)| match first == last {
            true => first.to_string(),
            false => format!("{first}–{last}"),
        };
        format!("seeds {}", all.iter().map(row).collect::<Vec<_>>().join(", "))
    }

    /// All seeds: the consecutive ones, then the others.
    fn all_seeds(&self) -> impl Iterator<Item = u64> {
        self.ranged().chain(self.more_seeds.iter().copied())
    }

    /// The seeds other than these, of a plan that [is small](Self::is_small).
    pub(super) fn seeds_beside(&self, seeds: &[u64]) -> Vec<u64> {
        let given: BTreeSet<u64> = seeds.iter().copied().collect();
        self.all_seeds().filter(|seed| !given.contains(seed)).collect()
    }

    /// Number of seeds.
    fn count(&self) -> u64 {
        self.seeds.saturating_add(self.more_seeds.len() as u64)
    }

    /// Whether the plan is within the limit of runs of a sweep.
    pub(super) fn is_small(&self) -> bool {
        (self.combinations.len() as u64).saturating_mul(self.count()) <= limits::RUNS
    }

    /// The combinations of this sweep, with the run folder names of this plan.
    pub(super) fn named(&self, combinations: &[Combination]) -> Vec<Combination> {
        let names = self.combinations.iter().map(|c| c.name.clone());
        names.zip(combinations).map(|(name, own)| Combination { name, ..own.clone() }).collect()
    }

    /// Reads this sweep's plan from the folder; `None` if the folder is free, or holds another sweep without any
    /// checkpoint.
    pub(super) fn look(&self, path: &Path, other_seeds: bool) -> Result<Option<Self>, SweepError> {
        let found = Self::read(path)?;
        let Some(found) = found else { return Ok(None) };
        if self.is(&found, other_seeds) {
            return Ok(Some(found));
        }
        if found.runs(path).is_some_and(|runs| runs.iter().all(|run| has_nothing(run))) {
            return Ok(None);
        }
        let message = format!(
            "holds another sweep (`{}`, combinations × seeds: {} × {}, {}): choose another folder, or remove it",
            found.name,
            found.combinations.len(),
            found.count(),
            found.seeds_text()
        );
        Err(SweepError::Folder { path: path.into(), message })
    }

    /// Removes the runs of an earlier sweep in this folder. None of them has a checkpoint: see [`Self::look`].
    pub(super) fn discard(path: &Path) -> Result<(), SweepError> {
        let runs = Self::read(path)?.and_then(|found| found.runs(path)).unwrap_or_default();
        for run in runs.iter().filter(|run| run.exists()) {
            // Held until the folder is gone. A run that another process works on stays.
            let Ok(Some(_lock)) = lock_of(run) else { continue };
            if has_nothing(run) {
                remove_run(run)?;
            }
        }
        Ok(())
    }

    /// The folders of all runs; `None` for a plan that no sweep writes: too many runs, or paths outside its folder.
    fn runs(&self, path: &Path) -> Option<Vec<PathBuf>> {
        if !self.is_small() || !self.combinations.iter().all(is_folder_name) {
            return None;
        }
        let runs =
            self.combinations.iter().flat_map(|c| self.all_seeds().map(|seed| format!("{}-{seed}", c.name)));
        Some(runs.map(|name| path.join(name)).collect())
    }

    /// The plan in a folder, if any. A folder without a plan must not contain foreign files.
    fn read(path: &Path) -> Result<Option<Self>, SweepError> {
        let taken = |message: String| SweepError::Folder { path: path.into(), message };
        let file = path.join(FILE);
        let bytes = match limits::read(&file, limits::RECORD_BYTES) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return look_around(path),
            Err(source) => return Err(ModelError::io(file)(source).into()),
        };
        let other = "choose another folder";
        // Read the version first: a newer plan may have another form.
        let value: serde_json::Value = serde_json::from_slice(&bytes)
            .map_err(|e| taken(format!("its {FILE} is damaged: {e}; {other}")))?;
        if value["format"] != FORMAT {
            let found = &value["format"];
            return Err(taken(format!(
                "its {FILE} has format {found}, but this program reads {FORMAT}: {other}"
            )));
        }
        let found: Self = serde_json::from_value(value)
            .map_err(|e| taken(format!("its {FILE} is damaged: {e}; {other}")))?;
        Ok(Some(found))
    }

    pub(super) fn write(&self, path: &Path) -> Result<(), ModelError> {
        Ok(Files::default().replace(&path.join(FILE), &serde_json::to_vec_pretty(self)?)?)
    }
}

/// Whether the folder has a table with results.
pub(super) fn has_results(path: &Path) -> Result<bool, SweepError> {
    let file = path.join(TABLE);
    match limits::read_text(&file, limits::RECORD_BYTES) {
        Ok(text) => Ok(shows_results(&text)),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(source) => Err(ModelError::io(file)(source).into()),
    }
}

/// Whether the name of a combination is a valid run folder name.
fn is_folder_name(combination: &Combination) -> bool {
    folder_name(&format!("{}-0", combination.name)).is_ok()
}

/// Whether a folder has no run, or an unfinished one without a checkpoint.
fn has_nothing(run: &Path) -> bool {
    match record_of(run) {
        Ok(Some(record)) => record.latest.is_none() && !record.finished,
        Ok(None) => true,
        Err(_) => false,
    }
}

/// Checks that a folder without a plan contains no foreign files.
fn look_around<T>(path: &Path) -> Result<Option<T>, SweepError> {
    let io = |source| ModelError::io(path)(source);
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(io(e).into()),
    };
    for entry in entries {
        let name = entry.map_err(io)?.file_name().to_string_lossy().into_owned();
        if name != "run.lock" && !name.starts_with(".sweep.json.") {
            let message = format!("cannot be used as a sweep folder, it holds `{name}`: choose another");
            return Err(SweepError::Folder { path: path.into(), message });
        }
    }
    Ok(None)
}
