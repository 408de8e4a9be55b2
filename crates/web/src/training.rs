//! Training runs in this server: started from a game's starter config, stopped, and resumed.

use crate::fault::{Fault, Kind};
use crate::limits;
use crate::registry::Registry;
use crate::rule_files::config_without_folder;
use adept_lab::curves::{Reference, References};
use adept_lab::template::{METHODS, architectures, template};
use adept_lab::{AnyGame, Catalogue};
use adept_model::Architecture;
use adept_trainer::config::{Config, ConfigError, Source, parse};
use adept_trainer::run::{Cancel, Event, Observer, TrainOptions, record_of};
use axum::http::StatusCode;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use utoipa::ToSchema;

/// A starter config.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Starter {
    game: String,
    method: &'static str,
    text: String,
    /// The config key of its length.
    key: String,
    /// Its length in games or samples.
    learns: u64,
    /// The architectures that it can have.
    architectures: Vec<Choice>,
}

/// A kind of architecture of a starter config.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Choice {
    kind: &'static str,
    about: &'static str,
    /// Its part of the config. One of them is in the starter.
    text: String,
}

/// A run started in this server.
struct ActiveRun {
    cancel: Cancel,
    name: String,
    seed: u64,
    is_over: bool,
    failed: Option<String>,
    live: Live,
}

/// What a run that learns here has told since its last checkpoint, which is all that its folder shows.
#[derive(Clone, Default)]
pub(crate) struct Live {
    /// When it began or was resumed, and the seconds that it had learned before.
    began: Option<(Instant, f64)>,
    step: u64,
    /// Measurements, as in the folder. Answers share them.
    pub(crate) lines: Arc<Vec<Value>>,
    /// Reference values of its figure.
    pub(crate) references: Option<References>,
}

impl Live {
    /// The games or samples so far, and the seconds.
    pub(crate) fn progress(&self) -> Option<(u64, f64)> {
        self.began.map(|(began, before)| (self.step, before + began.elapsed().as_secs_f64()))
    }

    /// The references as names and values.
    pub(crate) fn marks(references: Option<&References>) -> Vec<Value> {
        let mark = |Reference { name, value }: &Reference| json!({ "name": name, "value": value });
        references.into_iter().flat_map(References::all).map(mark).collect()
    }
}

/// The runs of this server, by folder.
pub(crate) struct Training {
    /// The folder of runs.
    pub(crate) runs: PathBuf,
    /// Whether requests may start and stop runs.
    pub(crate) is_open: bool,
    all: Mutex<BTreeMap<PathBuf, ActiveRun>>,
    has_ended: AtomicBool,
    /// The keys of recent requests, with their runs: a client repeats a request if the answer is lost.
    keys: Mutex<VecDeque<(String, PathBuf)>>,
    starters: Mutex<Option<Vec<Starter>>>,
    /// Runs whose references are still to be found; none if no thread finds any.
    waiting: Mutex<Option<VecDeque<Comparison>>>,
}

/// A run with its game and its folder.
type Comparison = (Arc<dyn AnyGame>, Config, PathBuf);

/// Settings of a request: numbers, booleans and lists of these, so that none can name a file.
pub(crate) type Settings = BTreeMap<String, Value>;

/// Config keys of the length of a run, by method.
const LENGTHS: [&str; 3] = ["games", "samples", "iterations"];
/// Other allowed config keys.
const OTHERS: [&str; 5] = ["learn.rate", "learn.rate.from", "learn.rate.to", "learn.batch", "evaluate.every"];

fn fault_of(error: &ConfigError) -> Fault {
    Fault::new(StatusCode::UNPROCESSABLE_ENTITY, Kind::Config, error.to_string())
}

/// Formats `KEY=VALUE` as in commands.
fn setting((key, value): (&String, &Value)) -> Result<String, Fault> {
    let is_of_network = key.starts_with("architecture.");
    let method = key.strip_prefix("learn.").and_then(|rest| rest.split_once('.'));
    let is_of_method = method
        .is_some_and(|(name, rest)| METHODS.contains(&name) && (LENGTHS.contains(&rest) || rest == "lambda"));
    let is_open = is_of_network || is_of_method || OTHERS.contains(&&**key);
    let is_key = key.len() <= 100 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"._".contains(&b));
    // Networks must learn within a person's patience.
    let is_limited = is_of_network || key == "learn.batch";
    let is_plain = |value: &Value| match value.as_f64() {
        Some(number) => !is_limited || number <= limits::UNITS as f64,
        None => value.is_boolean(),
    };
    let fits = match value {
        Value::Array(all) => all.len() <= limits::LAYERS && all.iter().all(is_plain),
        value => is_plain(value),
    };
    match is_open && is_key && fits {
        true => Ok(format!("{key}={value}")),
        false => Err(Fault::request(format!(
            "`{}`: allowed settings are the length of a run, {}, and keys of `architecture`, with a number up to {}, true or false, or \
             a list of up to {} of these",
            key.chars().take(80).collect::<String>(),
            OTHERS.map(|key| format!("`{key}`")).join(", "),
            limits::UNITS,
            limits::LAYERS
        ))),
    }
}

/// The product of the integers in the network's settings, a measure of its size.
fn size(settings: &Settings) -> f64 {
    let numbers =
        settings.iter().filter(|(key, _)| key.starts_with("architecture.")).flat_map(|(_, value)| {
            let one = [value.clone()];
            value.as_array().cloned().unwrap_or_else(|| one.into())
        });
    numbers.filter_map(|number| Some(number.as_u64()? as f64)).filter(|number| *number > 1.0).product()
}

/// The config of a game's starter, with the key of its length.
fn starter(games: &dyn Catalogue, game: &str, method: &'static str) -> Option<Starter> {
    let text = template(game, Some(method), games).ok()?;
    let config = parse(&source(&text, Vec::new()), games).ok()?;
    let table: toml::Table = text.parse().ok()?;
    let of_method = table.get("learn")?.get(method)?.as_table()?;
    let (key, learns) = LENGTHS
        .iter()
        .find_map(|key| Some((format!("learn.{method}.{key}"), of_method.get(*key)?.as_integer()?)))?;
    let about = |kind: &str| {
        Architecture::KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, about)| about)
    };
    let choices = architectures(&text, games).into_iter();
    let architectures = choices.map(|(kind, text)| Choice { kind, about: about(kind), text }).collect();
    Some(Starter { game: config.game.rules, method, text, key, learns: learns.unsigned_abs(), architectures })
}

fn source(text: &str, set: Vec<String>) -> Source {
    Source { file: "starter".into(), text: text.into(), set }
}

impl Training {
    pub(crate) fn new(runs: PathBuf, is_open: bool) -> Self {
        Self {
            runs,
            is_open,
            all: Mutex::default(),
            has_ended: AtomicBool::new(false),
            keys: Mutex::default(),
            starters: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    /// The name of a run in requests: its folder relative to the folder of runs.
    pub(crate) fn id_of(&self, run: &Path) -> String {
        let inside = run.strip_prefix(&self.runs).unwrap_or(run);
        inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<PathBuf, ActiveRun>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The starter configs of all games.
    pub(crate) fn starters(&self, registry: &Registry) -> Result<Vec<Starter>, Fault> {
        let mut known = self.starters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = &*known {
            return Ok(known.clone());
        }
        let found = registry.with_games(|games| {
            let all = games.names().into_iter().flat_map(|game| {
                METHODS.iter().filter_map(move |method| starter(games, &game, method)).collect::<Vec<_>>()
            });
            all.collect::<Vec<Starter>>()
        })?;
        let named = |starter: Starter| {
            let (game, text) = (registry.files.name_of(&starter.game), config_without_folder(&starter.text));
            Starter { game, text, ..starter }
        };
        let found: Vec<Starter> = found.into_iter().map(named).collect();
        *known = Some(found.clone());
        Ok(found)
    }

    /// Whether a run is learning in this server, and the error if it failed.
    pub(crate) fn look(&self, folder: &Path) -> (bool, Option<String>) {
        self.all().get(folder).map_or((false, None), |going| (!going.is_over, going.failed.clone()))
    }

    /// What a run that is learning in this server has told.
    pub(crate) fn live(&self, folder: &Path) -> Option<Live> {
        self.all().get(folder).filter(|going| !going.is_over).map(|going| going.live.clone())
    }

    /// Runs without a folder, including those that failed before they had one: their folders, names and seeds.
    pub(crate) fn unseen(&self) -> Vec<(PathBuf, String, u64)> {
        let all = self.all();
        let unseen = all.iter().filter(|(folder, going)| {
            (!going.is_over || going.failed.is_some()) && !folder.join("run.json").exists()
        });
        unseen.map(|(folder, going)| (folder.clone(), going.name.clone(), going.seed)).collect()
    }

    /// Tells a run to save and stop.
    pub(crate) fn stop(&self, folder: &Path) -> Result<(), Fault> {
        match self.all().get(folder) {
            Some(going) if !going.is_over => {
                going.cancel.cancel();
                Ok(())
            }
            _ => Err(Fault::missing("this run is not learning in this server")),
        }
    }

    /// Tells all runs to save and stop.
    pub(crate) fn stop_all(&self) {
        let all = self.all();
        self.has_ended.store(true, Ordering::Relaxed);
        all.values().for_each(|going| going.cancel.cancel());
    }

    /// Whether a run is still learning or saving.
    pub(crate) fn is_busy(&self) -> bool {
        self.all().values().any(|going| !going.is_over)
    }

    /// Starts a run in a new folder below `runs`, which is returned.
    pub(crate) fn start(
        self: &Arc<Self>,
        registry: &Arc<Registry>,
        (game, method): (&str, Option<&str>),
        (seed, key, settings, architecture): (u64, Option<&str>, &Settings, Option<String>),
    ) -> Result<PathBuf, Fault> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, folder)) = keys.iter().find(|(known, _)| Some(&**known) == key) {
            return Ok(folder.clone());
        }
        if key.is_some_and(|key| key.len() > limits::KEY) {
            return Err(Fault::request(format!("`key` is longer than {} bytes", limits::KEY)));
        }
        let mut set = settings.iter().map(setting).collect::<Result<Vec<String>, Fault>>()?;
        if set.len() > limits::SETTINGS || size(settings) > limits::SIZE {
            return Err(Fault::request(format!(
                "at most {} settings, and networks whose numbers of units and experts have a product of at most {}",
                limits::SETTINGS,
                limits::SIZE
            )));
        }
        set.push(format!("seed={seed}"));
        // Only registered games: no name of a rule file comes from a client.
        let name = registry.files.rules_of(&registry.find(game)?.info.name);
        let method = match method {
            None => None,
            Some(wanted) => match METHODS.iter().find(|known| **known == wanted) {
                Some(known) => Some(*known),
                None => {
                    return Err(Fault::request(format!(
                        "no such method: choose one of {}",
                        METHODS.join(", ")
                    )));
                }
            },
        };
        let (game, config) = registry.with_games(move |games| -> Result<_, Fault> {
            let text = template(&name, method, games)?;
            let text = match architecture {
                None => text,
                Some(wanted) => with_architecture(&text, &wanted, games)?,
            };
            let config = parse(&source(&text, set), games).map_err(|error| fault_of(&error))?;
            Ok((games.find(&config.game.rules)?, config))
        })??;
        let most = limits::MEASUREMENTS;
        if config.evaluate.every.is_some_and(|every| config.learn.length() / every.max(1) > most) {
            return Err(Fault::request(format!("at most {most} measurements: make `evaluate.every` larger")));
        }
        let folder = self
            .free_folder(&config.name, seed)
            .ok_or_else(|| Fault::busy("too many runs have this name: remove some"))?;
        self.begin(registry, (game, config), folder.clone(), false)?;
        if let Some(key) = key {
            keys.push_back((key.into(), folder.clone()));
            if keys.len() > limits::KEYS {
                keys.pop_front();
            }
        }
        Ok(folder)
    }

    /// Resumes an unfinished run.
    pub(crate) fn resume(self: &Arc<Self>, registry: &Arc<Registry>, folder: &Path) -> Result<(), Fault> {
        if self.look(folder).0 {
            return Err(Fault::busy("this run is learning already"));
        }
        let path = folder.join("config.toml");
        let text = adept_ground::limits::read_text(&path, adept_ground::limits::CONFIG_BYTES)
            .map_err(|error| Fault::missing(format!("the config of this run: {error}")))?;
        let file = path.display().to_string();
        let found = registry.with_games(move |games| -> Result<_, Fault> {
            let source = Source { file, text, set: Vec::new() };
            let config = parse(&source, games).map_err(|error| fault_of(&error))?;
            Ok((games.find(&config.game.rules)?, config))
        })??;
        self.begin(registry, found, folder.to_path_buf(), true)
    }

    /// Trains on a new thread.
    fn begin(
        self: &Arc<Self>,
        registry: &Arc<Registry>,
        (game, config): (Arc<dyn AnyGame>, Config),
        folder: PathBuf,
        resume: bool,
    ) -> Result<(), Fault> {
        if !self.is_open {
            return Err(Fault::new(
                StatusCode::FORBIDDEN,
                Kind::Forbidden,
                "this server does not train: start it with --train",
            ));
        }
        let cancel = Cancel::default();
        let before =
            if resume { record_of(&folder).ok().flatten().map_or(0.0, |record| record.seconds) } else { 0.0 };
        {
            let mut all = self.all();
            if self.has_ended.load(Ordering::Relaxed) {
                return Err(Fault::busy("the server is stopping"));
            }
            if all.values().filter(|going| !going.is_over).count() >= limits::LEARNING {
                return Err(Fault::busy(format!(
                    "{} runs are learning, which is the limit here: stop one",
                    limits::LEARNING
                )));
            }
            if all.get(&folder).is_some_and(|going| !going.is_over) {
                return Err(Fault::busy("this run is learning already"));
            }
            // Old runs can be read from their folders.
            if all.len() >= limits::RUNS {
                all.retain(|_, going| !going.is_over);
            }
            let (name, seed) = (config.name.clone(), config.seed);
            let going = ActiveRun {
                cancel: cancel.clone(),
                name,
                seed,
                is_over: false,
                failed: None,
                live: Live::default(),
            };
            all.insert(folder.clone(), going);
        }
        let (training, registry, place) = (self.clone(), registry.clone(), folder.clone());
        let id = self.id_of(&folder);
        let compared = (game.clone(), config.clone(), folder.clone());
        let learn = move || {
            let options =
                TrainOptions { out: Some(place.clone()), resume, threads: 1, ..TrainOptions::default() };
            let done = EndGuard { training: &training, folder: &place };
            let watcher = Watcher { training: &training, folder: &place, before };
            let found = game.train(&config, config.seed, &options, &watcher, &cancel);
            match found {
                Ok((_, record)) if record.finished => drop(registry.add_run(&id, &place)),
                Ok(_) => {}
                Err(error) => done.fail(error.to_string()),
            }
        };
        let thread = std::thread::Builder::new().name("learning".into()).spawn(learn);
        self.compare(compared);
        thread.map(drop).map_err(|error| {
            self.all().remove(&folder);
            Fault::busy(format!("no thread for it: {error}"))
        })
    }

    /// Notes what a run has told.
    fn tell(&self, folder: &Path, note: impl FnOnce(&mut Live)) {
        if let Some(going) = self.all().get_mut(folder).filter(|going| !going.is_over) {
            note(&mut going.live);
        }
    }

    /// Finds the references of runs beside these, which do not wait for them: one after the other, on one thread.
    fn compare(self: &Arc<Self>, run: Comparison) {
        let waiting = |training: &Self| {
            let mut waiting = training.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let next = waiting.as_mut().and_then(VecDeque::pop_front);
            if next.is_none() {
                *waiting = None;
            }
            next
        };
        let mut all = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = &mut *all {
            all.push_back(run);
            return;
        }
        *all = Some([run].into());
        drop(all);
        let training = self.clone();
        let work = move || {
            while let Some((game, config, folder)) = waiting(&training) {
                if training.look(&folder).0 && References::read(&folder).is_none() {
                    let find = AssertUnwindSafe(|| game.references(&config));
                    let found = catch_unwind(find).ok().flatten();
                    training.tell(&folder, |live| live.references = found);
                }
            }
        };
        if std::thread::Builder::new().name("references".into()).spawn(work).is_err() {
            *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }

    /// A free folder: `NAME-SEED`, or with a number after the name.
    fn free_folder(&self, name: &str, seed: u64) -> Option<PathBuf> {
        let names =
            std::iter::once(format!("{name}-{seed}")).chain((2..1000).map(|n| format!("{name}.{n}-{seed}")));
        let all = self.all();
        let is_taken =
            |folder: &PathBuf| folder.exists() || all.get(folder).is_some_and(|going| !going.is_over);
        names.map(|name| self.runs.join(name)).find(|folder| !is_taken(folder))
    }
}

/// Notes the progress and the measurements of a run.
struct Watcher<'a> {
    training: &'a Training,
    folder: &'a Path,
    before: f64,
}

impl Observer for Watcher<'_> {
    fn event(&self, _: u64, event: Event<'_>) {
        self.training.tell(self.folder, |live| match event {
            Event::Started { from, .. } => {
                live.began = Some((Instant::now(), self.before));
                live.step = from;
                live.lines = Arc::default();
            }
            Event::Progress { step, .. } => live.step = step,
            Event::Evaluated(found) => {
                live.step = found.step;
                Arc::make_mut(&mut live.lines).extend(serde_json::to_value(found));
            }
            Event::Preparing(_) | Event::SetBack { .. } | Event::Ended(_) => {}
        });
    }
}

/// A starter config with another architecture.
fn with_architecture(text: &str, wanted: &str, games: &dyn Catalogue) -> Result<String, Fault> {
    let all = architectures(text, games);
    let own = all.iter().find(|(_, part)| text.contains(&**part));
    match (own, all.iter().find(|(kind, _)| *kind == wanted)) {
        (Some((_, own)), Some((_, part))) => Ok(text.replace(&**own, part)),
        _ => {
            let kinds: Vec<&str> = all.iter().map(|(kind, _)| *kind).collect();
            Err(Fault::request(format!(
                "no such architecture for this game: choose one of {}",
                kinds.join(", ")
            )))
        }
    }
}

/// Marks a run as ended when dropped.
struct EndGuard<'a> {
    training: &'a Training,
    folder: &'a Path,
}

impl EndGuard<'_> {
    fn fail(&self, why: String) {
        if let Some(going) = self.training.all().get_mut(self.folder) {
            going.failed = Some(why);
        }
    }
}

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.fail("internal error".into());
        }
        if let Some(going) = self.training.all().get_mut(self.folder) {
            going.is_over = true;
            // Its folder shows all.
            going.live = Live::default();
        }
    }
}
