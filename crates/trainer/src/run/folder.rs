//! The folder of a run.
//!
//! `run.json` is the record. It names the valid checkpoints and the valid length of `metrics.jsonl`, and is
//! always replaced as a whole. Anything else in the folder is left over from an interrupted step and is ignored
//! or removed.

use super::steer::Changed;
use crate::config::{Config, Figure};
use crate::positions::PositionErrors;
use adept_arena::{Guarantee, SoloGrade};
use adept_ground::profile::Seconds;
use adept_ground::{
    files::{FileError, Files},
    limits,
};
use adept_model::checkpoint::{Origin, is_name};
use adept_model::{ExpertUse, ModelError, Optimiser};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Version of the record; older records are converted. In version 2 `init` became a list, and
/// `evaluate.checkpoint` of the config became `checkpoints.every`.
pub(super) const FORMAT: u32 = 4;
/// Name of the event file for TensorBoard.
pub(super) const EVENTS: &str = "events.out.tfevents.adept";
/// The name of the checkpoint of a step.
pub(super) fn checkpoint_name(step: u64) -> String {
    format!("{step:012}")
}

/// Locked by the process that works on the run.
const LOCK: &str = "run.lock";
/// How often, and how long, a lock waits for others that look at it.
const GLANCES: u32 = 20;
const GLANCE: Duration = Duration::from_millis(10);

/// A measured checkpoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Folder under `checkpoints/`.
    pub checkpoint: String,
    /// Games learned from.
    pub step: u64,
    /// Exact match equity against the first opponent, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equity: Option<f64>,
    /// The same by seat, first to last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<f64>,
    /// Errors on the test positions, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rms: Option<PositionErrors>,
    /// Standard deviation of the exact values of the test positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<f64>,
    /// Root mean square error of exact values on the test rows of a file: 0 if its labels are exact. `None` if the run learns from no
    /// file, or exact values are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exact: Option<f64>,
    /// Root mean square error on the validation positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<f64>,
    /// Result per game against the first opponent, if games are measured: points, or utility in `unit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matches: Option<f64>,
    /// What greedy play is sure of in each seat, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Guarantee>,
    /// Moves to the solution, if measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alone: Option<SoloGrade>,
    /// The unit of `matches`, if it is not points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Mean win of a best response, if measured: (br₀ + br₁) / 2, in units of utility.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exploitability: Option<f64>,
    /// How the experts of a mixture share positions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts: Option<ExpertUse>,
}

impl Score {
    /// The reported figure; NaN if none was measured.
    pub fn figure(&self) -> f64 {
        Figure::ALL.into_iter().find_map(|figure| self.value(figure)).unwrap_or(f64::NAN)
    }

    /// A figure, if it was measured.
    pub fn value(&self, figure: Figure) -> Option<f64> {
        match figure {
            Figure::Equity => self.equity,
            Figure::Rms => self.rms.map(|errors| errors.rms),
            Figure::Exploitability => self.exploitability,
            Figure::Matches => self.matches,
        }
    }
}

/// How the time of a run was spent, over all resumes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Samples learned from.
    pub samples: u64,
    /// Seconds in optimiser steps.
    pub learning: f64,
    /// Seconds in which the optimiser waited for games, or its thread played them.
    pub waiting: f64,
}

impl Timing {
    /// Samples per second of learning and waiting; 0 before the first sample.
    pub fn samples_per_second(&self) -> f64 {
        let seconds = self.learning + self.waiting;
        if seconds > 0.0 { self.samples as f64 / seconds } else { 0.0 }
    }

    /// Share of the time in which the optimiser waited, in [0, 1].
    pub fn share_waited(&self) -> f64 {
        let seconds = self.learning + self.waiting;
        if seconds > 0.0 { self.waiting / seconds } else { 0.0 }
    }
}

/// A checkpoint against which a run learns or is measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opponent {
    /// Dotted path of the setting that names it.
    pub setting: String,
    /// The setting: its path at that time, with the way it plays.
    pub agent: String,
    /// Its [`Manifest::checksum`](adept_model::checkpoint::Manifest::checksum), which identifies it at any path.
    pub checksum: String,
}

/// The content of `run.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of the format of `run.json`, from 1.
    pub format: u32,
    /// Name of the experiment.
    pub name: String,
    /// Seed.
    pub seed: u64,
    /// The experiment.
    pub config: Config,
    /// The folder to which paths in its config are relative, if there are any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Fingerprint of the rules, of games that have one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Whether it has ended.
    pub finished: bool,
    /// Why it ended before the last game, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<String>,
    /// The first measurement at which greedy play was optimal in both seats, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimal: Option<u64>,
    /// Games learned from, or samples.
    pub step: u64,
    /// Games of the whole run, or samples.
    pub games: u64,
    /// Checkpoints that gave the initial weights.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub init: Vec<Origin>,
    /// Checkpoints that the config names as agents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opponents: Vec<Opponent>,
    /// Seconds of learning and measuring, over all resumes.
    pub seconds: f64,
    /// Breakdown of the time, if workers play with copies of the learner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<Timing>,
    /// Seconds that threads spent, by what they did, since the run began or was resumed and until its last checkpoint was written;
    /// empty if that was not asked for. With ranks, those of the first.
    #[serde(default, skip_serializing_if = "Seconds::is_empty")]
    pub profile: Seconds,
    /// Latest checkpoint.
    #[serde(default)]
    pub latest: Option<String>,
    /// Checkpoints that are kept for good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub milestones: Vec<String>,
    /// Best checkpoint so far: the highest equity, or the lowest error on the validation positions if the run
    /// learns from examples.
    #[serde(default)]
    pub best: Option<Score>,
    /// Score of the last checkpoint of a finished run, if equity or errors are measured.
    #[serde(default)]
    pub r#final: Option<Score>,
    /// Steps at which the run was made longer. Its schedules had another length before, so a run of the whole length
    /// gives other bits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extended: Vec<u64>,
    /// Settings that were changed from outside while it learned, in the order of their steps. A run without these changes gives other bits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// Bytes of `metrics.jsonl` up to the latest checkpoint.
    pub metrics_bytes: u64,
}

impl Record {
    /// The config, with paths written as in `other` where they lead to the same files. The paths of `other` are relative to
    /// `base`; `None` is the current folder.
    pub fn config_beside(&self, other: &Config, base: Option<&Path>) -> Config {
        let [own, base] = [self.folder.as_deref(), base].map(|folder| folder.unwrap_or(Path::new("")));
        // Earlier versions did not save the folder: paths without one are compared as written.
        if own == base { self.config.clone() } else { self.config.with_paths_of(own, other, base) }
    }

    /// The first few settings that were changed while it learned, in words; empty if none was.
    pub fn changes(&self) -> String {
        let mut shown: Vec<String> = self.changed.iter().take(3).map(ToString::to_string).collect();
        shown.extend((self.changed.len() > 3).then(|| "…".into()));
        shown.join(", ")
    }

    /// Whether a run of this config, whose paths are relative to the current folder, gives the same bits.
    pub fn is_of(&self, config: &Config) -> bool {
        self.config_beside(config, None).same_experiment(config)
    }
}

/// Locks the folder against other processes while it lives.
#[derive(Debug)]
pub struct Lock {
    // Closing the file releases the lock.
    _file: File,
}

/// The content of a folder, as a new run finds it.
pub(crate) enum Found {
    Nothing,
    Run(Box<Record>),
    Other(String),
}

pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    pub(crate) files: Files,
}

impl Folder {
    pub(crate) fn new(path: PathBuf, files: Files) -> Self {
        Self { path, files }
    }

    fn record_path(&self) -> PathBuf {
        self.path.join("run.json")
    }

    pub(crate) fn metrics_path(&self) -> PathBuf {
        self.path.join("metrics.jsonl")
    }

    pub(crate) fn checkpoint_path(&self, name: &str) -> PathBuf {
        self.path.join("checkpoints").join(name)
    }

    pub(crate) fn look(&self) -> Result<Found, ModelError> {
        let bytes = match limits::read(&self.record_path(), limits::RECORD_BYTES) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == ErrorKind::NotFound => return self.look_around(),
            Err(e) => return Err(ModelError::io(&self.record_path())(e)),
        };
        // Read the version first: the rest of a newer record may have another form.
        let record: Value = match serde_json::from_slice(&bytes) {
            Ok(record) => record,
            Err(e) => return Ok(Found::Other(format!("its run.json is damaged: {e}"))),
        };
        let format = &record["format"];
        if !format.as_u64().is_some_and(|f| (1..=u64::from(FORMAT)).contains(&f)) {
            let message = match format.as_u64() {
                Some(_) => {
                    format!("its run.json has format {format}, but this program reads formats up to {FORMAT}")
                }
                None => "its run.json is damaged: it has no number `format`".into(),
            };
            return Ok(Found::Other(message));
        }
        Ok(match migrated(record) {
            Ok(record) => Found::Run(Box::new(record)),
            Err(e) => Found::Other(format!("its run.json is damaged: {e}")),
        })
    }

    /// A folder without a record may be used only if it holds no foreign files. The record is the first file
    /// that a run writes.
    fn look_around(&self) -> Result<Found, ModelError> {
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(e) => return Err(ModelError::io(&self.path)(e)),
        };
        for entry in entries {
            let name = entry.map_err(ModelError::io(&self.path))?.file_name().to_string_lossy().into_owned();
            // Another process began this run between the two looks.
            if name == "run.json" {
                return self.look();
            }
            if name != LOCK && !is_temporary(&name) {
                return Ok(Found::Other(format!("it holds `{name}`")));
            }
        }
        Ok(Found::Nothing)
    }

    /// Checks that the folder can be created, as far as that can be told without doing it.
    pub(crate) fn check_place(&self) -> Result<(), ModelError> {
        // A relative path ends at the current folder, which the empty path stands for.
        let whole = |path: &Path| if path.as_os_str().is_empty() { PathBuf::from(".") } else { path.into() };
        let Some(there) = self.path.ancestors().map(whole).find(|path| path.exists()) else { return Ok(()) };
        let there = &*there;
        let why = match fs::metadata(there).map_err(ModelError::io(there))? {
            about if !about.is_dir() => ErrorKind::NotADirectory,
            about if about.permissions().readonly() => ErrorKind::PermissionDenied,
            _ => return Ok(()),
        };
        Err(ModelError::io(there)(why.into()))
    }

    /// Locks the folder for this process; creates it if missing.
    pub(crate) fn lock(&self) -> Result<Option<Lock>, ModelError> {
        self.files.create_folder(&self.path)?;
        let path = self.path.join(LOCK);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(ModelError::io(&path))?;
        // A list of runs holds it for a moment.
        for _ in 0..GLANCES {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Lock { _file: file })),
                Err(TryLockError::WouldBlock) => std::thread::sleep(GLANCE),
                Err(TryLockError::Error(e)) => return Err(ModelError::io(&path)(e)),
            }
        }
        Ok(None)
    }

    /// Whether a process works on the run. Several may ask at a time.
    fn is_locked(&self) -> bool {
        let Ok(file) = File::open(self.path.join(LOCK)) else { return false };
        matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
    }

    /// Removes what a run wrote, and the folder if there is nothing else in it. The record goes last, so that a removal that is
    /// interrupted leaves a run.
    pub(crate) fn remove(&self) -> Result<(), ModelError> {
        let folder = self.path.join("checkpoints");
        if folder.is_dir() {
            for name in self.checkpoints()? {
                self.files.remove(&folder.join(name))?;
            }
        }
        let entries = match fs::read_dir(&self.path) {
            Ok(entries) => entries,
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(ModelError::io(&self.path)(e)),
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name != "run.json" && is_own(&name) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
                self.files.remove(&entry.path())?;
            }
        }
        // A folder with something else in it stays.
        let _ = fs::remove_dir(folder);
        self.files.remove(&self.record_path())?;
        let _ = fs::remove_file(self.path.join(LOCK)).and_then(|()| fs::remove_dir(&self.path));
        Ok(())
    }

    /// Begins a run, in place of one that is not worth keeping. Whatever interrupts this leaves a run without a checkpoint, which
    /// is begun again.
    pub(crate) fn create(&self, record: &Record) -> Result<(), ModelError> {
        self.write_record(record)?;
        self.complete(record)?;
        self.prune(record, None)?;
        for name in PICTURES {
            self.files.remove(&self.path.join(name))?;
        }
        Ok(())
    }

    /// Creates the other files and folders of a run, if missing.
    pub(crate) fn complete(&self, record: &Record) -> Result<(), ModelError> {
        self.files.create_folder(&self.path.join("checkpoints"))?;
        let config = self.path.join("config.toml");
        // As a file, it has paths relative to its own folder.
        let base = record.folder.as_deref().unwrap_or(Path::new(""));
        let written = record.config.for_folder(&self.path, base);
        let text = toml::to_string(&written).map_err(|e| ModelError::Unsupported(e.to_string()))?;
        // Where the folder of its paths is gone, the file that is there knows more: it was moved with the data.
        let knows = record.folder.as_ref().is_some_and(|folder| !folder.is_dir()) && config.exists();
        if !knows && limits::read_text(&config, limits::CONFIG_BYTES).ok().as_ref() != Some(&text) {
            self.files.replace(&config, text.as_bytes())?;
        }
        self.cut_metrics(record.metrics_bytes)?;
        // Files that a killed process had begun to write.
        for entry in fs::read_dir(&self.path).map_err(ModelError::io(&self.path))?.flatten() {
            if is_temporary(&entry.file_name().to_string_lossy()) {
                self.files.remove(&entry.path())?;
            }
        }
        Ok(())
    }

    pub(crate) fn write_record(&self, record: &Record) -> Result<(), ModelError> {
        let text = serde_json::to_vec_pretty(record)?;
        Ok(self.files.replace(&self.record_path(), &text)?)
    }

    /// The record of a longer run.
    pub(crate) fn extended(mut record: Record, games: u64) -> Record {
        record.extended.push(record.step);
        Record { games, finished: false, early: None, r#final: None, ..record }
    }

    /// Truncates the metrics to the length in the record.
    pub(crate) fn cut_metrics(&self, bytes: u64) -> Result<(), ModelError> {
        let path = self.metrics_path();
        match self.files.cut(&path, bytes)? {
            found if found < bytes => {
                let message =
                    format!("has {found} bytes, the run wrote {bytes}: put the file back or start anew");
                Err(ModelError::Checkpoint { path, message })
            }
            _ => Ok(()),
        }
    }

    /// The measurements of the run up to its latest checkpoint; none before the first one.
    ///
    /// # Errors
    /// [`ModelError::Io`], and [`ModelError::Checkpoint`] with the line that is damaged.
    pub(crate) fn measurements(&self, record: &Record) -> Result<Vec<Value>, ModelError> {
        let path = self.metrics_path();
        // Anything after that is left over from an interrupted step.
        let valid = record.metrics_bytes.min(limits::LIST_BYTES);
        let mut bytes = Vec::new();
        match File::open(&path).and_then(|file| file.take(valid).read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(ModelError::io(path)(source)),
        }
        let text = String::from_utf8_lossy(&bytes);
        let line = |(i, line)| {
            serde_json::from_str(line).map_err(|e| ModelError::Checkpoint {
                path: path.clone(),
                message: format!("line {} is damaged: {e}", i + 1),
            })
        };
        text.lines().enumerate().map(line).collect()
    }

    /// Appends lines; returns the new length of the file.
    pub(crate) fn append_metrics(&self, lines: &str) -> Result<u64, FileError> {
        self.files.append(&self.metrics_path(), lines.as_bytes())
    }

    /// Names of the checkpoints before `latest`, newest first.
    pub(crate) fn whole_before(&self, latest: &str) -> Result<Vec<String>, ModelError> {
        let mut names = self.checkpoints()?;
        names.retain(|name| !name.starts_with('.') && name.as_str() < latest);
        names.reverse();
        Ok(names)
    }

    /// Sets the record back to an older checkpoint. Later entries will be written again.
    pub(crate) fn set_back(&self, record: &mut Record, name: String, step: u64) -> Result<(), ModelError> {
        let metrics = limits::read(&self.metrics_path(), limits::LIST_BYTES)
            .map_err(ModelError::io(&self.metrics_path()))?;
        let valid = metrics.len().min(usize::try_from(record.metrics_bytes).unwrap_or(usize::MAX));
        let is_before = |line: &&[u8]| {
            let line: Result<Value, _> = serde_json::from_slice(line);
            line.is_ok_and(|line| line["step"].as_u64().is_some_and(|s| s <= step))
        };
        let before = metrics[..valid].split_inclusive(|b| *b == b'\n').take_while(is_before);
        record.metrics_bytes = before.map(|line| line.len() as u64).sum();
        record.milestones.retain(|milestone| *milestone <= name);
        record.best.take_if(|best| best.step > step);
        record.optimal.take_if(|optimal| *optimal > step);
        record.changed.retain(|changed| changed.step <= step);
        (record.latest, record.step) = (Some(name), step);
        self.write_record(record)
    }

    /// Names of all checkpoints in order, including unfinished ones.
    fn checkpoints(&self) -> Result<Vec<String>, ModelError> {
        let folder = self.path.join("checkpoints");
        let mut names: Vec<String> = fs::read_dir(&folder)
            .map_err(ModelError::io(&folder))?
            .flatten()
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .filter(|name| is_checkpoint(name))
            .collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Whether a run can continue from a checkpoint. A former best checkpoint has only the weights.
    fn is_for_training(&self, name: &str) -> bool {
        let manifest =
            limits::read(&self.checkpoint_path(name).join("manifest.json"), limits::MANIFEST_BYTES).ok();
        let manifest = manifest.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        manifest.is_none_or(|manifest| !manifest["training"].is_null())
    }

    /// Removes old checkpoints. Keeps the newest ones that the config asks for, the best, the milestones, and
    /// `replaced`, the previous best, which may still be read. Also removes checkpoints after the latest, which
    /// an interrupted step left.
    pub(crate) fn prune(&self, record: &Record, replaced: Option<&str>) -> Result<(), ModelError> {
        let folder = self.path.join("checkpoints");
        let names = self.checkpoints()?;
        let vouched = |name: &&String| record.latest.as_ref().is_some_and(|latest| *name <= latest);
        let best = record.best.as_ref().map(|b| &b.checkpoint);
        let stays = |name: &String| {
            Some(name) == best || record.milestones.contains(name) || Some(name.as_str()) == replaced
        };
        let latest = |name: &String| Some(name) == record.latest.as_ref();
        let whole = names.iter().filter(|n| !n.starts_with('.')).filter(vouched);
        let counted: Vec<&String> =
            whole.filter(|n| latest(n) || !stays(n) && self.is_for_training(n)).collect();
        let newest = &counted[counted.len().saturating_sub(record.config.checkpoints.keep)..];
        for name in &names {
            if !newest.contains(&name) && !stays(name) {
                self.files.remove(&folder.join(name))?;
            }
        }
        Ok(())
    }
}

/// A limit on the steps of SOAP that has no effect, as before format 3.
const UNLIMITED: f32 = 1e9;

/// Converts a record of any earlier format.
fn migrated(mut record: Value) -> Result<Record, serde_json::Error> {
    if let Some(init @ Value::Object(_)) = record.get_mut("init") {
        *init = serde_json::json!([init.take()]);
    }
    let format = record["format"].as_u64().and_then(|format| u32::try_from(format).ok()).unwrap_or(1);
    record["format"] = serde_json::json!(FORMAT);
    let mut config = Config::from_saved(record["config"].take())?;
    config.architecture.keep_gates_of(format);
    if format < 3
        && let Optimiser::Soap(soap) = &mut config.learn.optimiser
    {
        soap.limit = UNLIMITED;
    }
    record["config"] = serde_json::to_value(config)?;
    let record: Record = serde_json::from_value(record)?;
    let best = record.best.as_ref().map(|best| &best.checkpoint);
    match record.latest.iter().chain(best).chain(&record.milestones).find(|name| !is_name(name)) {
        Some(name) => Err(serde::de::Error::custom(format!("`{name}` is not the name of a checkpoint"))),
        None => Ok(record),
    }
}

/// Files of a run that are made from its measurements.
const PICTURES: [&str; 3] = ["references.json", "errors.json", "curve.svg"];

/// Whether a run writes a file of this name. The lock is not one: it is held while files are removed.
fn is_own(name: &str) -> bool {
    ["run.json", "config.toml", "metrics.jsonl", EVENTS].contains(&name)
        || PICTURES.contains(&name)
        || is_temporary(name)
}

/// Whether this is the name of a temporary file of a run: `.NAME.PID`.
fn is_temporary(name: &str) -> bool {
    ["run.json", "config.toml"].iter().chain(&PICTURES).any(|file| {
        let process =
            name.strip_prefix('.').and_then(|n| n.strip_prefix(file)).and_then(|n| n.strip_prefix('.'));
        process.is_some_and(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// Whether this may be the name of a checkpoint of a run: twelve digits, or `.` and `.PID` around them while it
/// is being written.
fn is_checkpoint(name: &str) -> bool {
    match name.strip_prefix('.').and_then(|n| n.split_once('.')) {
        Some((step, process)) => {
            is_name(step) && !process.is_empty() && process.bytes().all(|b| b.is_ascii_digit())
        }
        None => is_name(name),
    }
}

/// Summary of a run.
#[derive(Clone, Debug, Serialize)]
pub struct RunSummary {
    /// Its folder.
    pub run: PathBuf,
    /// Name of the experiment.
    pub name: String,
    /// Seed.
    pub seed: u64,
    /// Its game.
    pub game: String,
    /// `finished`, `running` or `stopped`, or why the run cannot be read.
    pub status: String,
    /// Games learned from.
    pub step: u64,
    /// Games of the whole run.
    pub games: u64,
    /// Seconds so far.
    pub seconds: f64,
    /// Which figure is reported, such as `equity` or `rms`; `None` if nothing is measured.
    pub figure: Option<Figure>,
    /// Its name on an axis, such as `equity against minimax`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measure: Option<String>,
    /// The figure of the last checkpoint of a finished run.
    pub r#final: Option<f64>,
    /// The figure of the best checkpoint.
    pub best: Option<f64>,
}

/// All runs in the folders under `root`, by folder and seed; `root` may itself be a run.
///
/// # Errors
/// [`ModelError::Io`] if the folder cannot be listed; a missing one holds no runs.
pub fn list_runs(root: &Path) -> Result<Vec<RunSummary>, ModelError> {
    if root.join("run.json").exists() {
        return Ok(vec![summary_of(root)]);
    }
    let mut found = BTreeMap::new();
    let mut waiting = vec![(root.to_path_buf(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            // It may be a run.
            Err(e) if e.kind() == ErrorKind::PermissionDenied && depth > 0 => {
                let name = folder.to_string_lossy().into_owned();
                found.insert((name, 0, folder.clone()), blank(&folder, format!("cannot be read: {e}")));
                continue;
            }
            Err(e) if e.kind() == ErrorKind::NotFound => continue,
            Err(e) => return Err(ModelError::io(&folder)(e)),
        };
        for path in entries.flatten().map(|e| e.path()).filter(|p| p.is_dir()) {
            if !path.join("run.json").exists() {
                if depth < 3 {
                    waiting.push((path, depth + 1));
                }
                continue;
            }
            let summary = summary_of(&path);
            // The seed as a number: NAME-2 before NAME-10.
            let shown = path.to_string_lossy().into_owned();
            let stem = shown.strip_suffix(&format!("-{}", summary.seed)).unwrap_or(&shown).to_string();
            found.insert((stem, summary.seed, path), summary);
        }
    }
    Ok(found.into_values().collect())
}

fn summary_of(path: &Path) -> RunSummary {
    let folder = Folder::new(path.into(), Files::default());
    match folder.look() {
        Ok(Found::Run(r)) => RunSummary {
            run: path.into(),
            status: match r.finished {
                true => "finished",
                // If the lock is taken, a process is working on the run.
                false if folder.is_locked() => "running",
                false => "stopped",
            }
            .into(),
            game: r.config.game.rules.clone(),
            step: r.step,
            games: r.games,
            seconds: r.seconds,
            figure: r.config.figure(),
            measure: r.config.measure(),
            r#final: r.r#final.map(|f| f.figure()),
            best: r.best.map(|b| b.figure()),
            name: r.name,
            seed: r.seed,
        },
        Ok(Found::Nothing) => blank(path, "empty".into()),
        Ok(Found::Other(why)) => blank(path, why),
        Err(e) => blank(path, e.to_string()),
    }
}

/// The summary of a folder of whose run nothing is known.
fn blank(path: &Path, status: String) -> RunSummary {
    RunSummary {
        run: path.into(),
        name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        seed: 0,
        game: String::new(),
        status,
        step: 0,
        games: 0,
        seconds: 0.0,
        figure: None,
        measure: None,
        r#final: None,
        best: None,
    }
}
