//! Registry of games and agents: those named at the start, the published checkpoints, and the agents of each game.

use crate::fault::Fault;
use crate::limits;
use crate::rule_files::RuleFiles;
use adept_arena::inspect::Detail;
use adept_arena::naming::{self, AgentSpec, Play};
use adept_arena::search::{Budget, SearchOptions};
use adept_arena::{Level, Rung};
use adept_game::{GameError, GameInfo};
use adept_lab::gates::{self, CellMap};
use adept_lab::{AnyGame, Catalogue};
use adept_model::checkpoint::{self, Manifest};
use adept_play::{AgentText, AnyRoom};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use utoipa::ToSchema;

/// An agent named at the start.
#[derive(Clone, Debug)]
pub struct Named {
    /// Its name, as in commands.
    pub text: String,
    /// Its game.
    pub game: String,
    /// Whether to use the best checkpoint of a run instead of the latest.
    pub best: bool,
    /// Whether it uses a checkpoint or a valuation, and so may have values.
    pub values: bool,
}

/// An agent with its name in requests.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Agent)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) game: String,
    /// `level`, `checkpoint` or `built-in`.
    pub(crate) kind: &'static str,
    pub(crate) about: String,
    /// Whether it has values.
    pub(crate) values: bool,
    /// Whether its values are exact.
    pub(crate) exact: bool,
    /// Whether its network has learned cells, and so a map.
    pub(crate) cells: bool,
    /// Meaning of its values, if they are not results of the game: `rewards` of future moves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unit: Option<&'static str>,
    #[serde(skip)]
    text: String,
    #[serde(skip)]
    best: bool,
    /// Whether it was named at the start.
    #[serde(skip)]
    is_named: bool,
    /// The folder of its run, which removes a checkpoint after a later one is saved.
    #[serde(skip)]
    run: Option<PathBuf>,
}

/// A game with its open agents.
#[derive(Clone)]
pub(crate) struct OpenGame {
    pub(crate) game: Arc<dyn AnyGame>,
    pub(crate) room: Arc<dyn AnyRoom>,
    pub(crate) info: Arc<GameInfo>,
}

type Question = Box<dyn FnOnce(&dyn Catalogue) + Send>;

/// Handle to a catalogue that lives in another thread.
#[derive(Clone)]
pub(crate) struct Finder(Sender<Question>);

/// The default agent of games without hidden information.
const TREE: &str = "uct:1000";

impl Finder {
    pub(crate) fn new() -> (Self, Receiver<Question>) {
        let (sender, receiver) = mpsc::channel();
        (Self(sender), receiver)
    }

    fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&dyn Catalogue) -> T + Send + 'static,
    ) -> Result<T, GameError> {
        let (sender, receiver) = mpsc::channel();
        let answer = move |games: &dyn Catalogue| {
            // The receiver may be gone.
            let _ = sender.send(question(games));
        };
        self.0.send(Box::new(answer)).map_err(|_| GameError::new("the server is stopping"))?;
        // Without an answer, the question has failed.
        receiver.recv().map_err(|_| GameError::new("internal error, or the server is stopping"))
    }

    fn find(&self, name: &str) -> Result<Arc<dyn AnyGame>, GameError> {
        let name = name.to_string();
        self.ask(move |games| games.find(&name))?
    }
}

/// Answers a [`Finder`] until the server has ended.
pub(crate) fn find_for(games: &dyn Catalogue, questions: &Receiver<Question>, has_ended: &AtomicBool) {
    while !has_ended.load(Ordering::Relaxed) {
        let Ok(question) = questions.recv_timeout(GLANCE) else { continue };
        let _ = catch_unwind(AssertUnwindSafe(|| question(games)));
    }
}

/// Interval of checking whether the server has ended.
const GLANCE: Duration = Duration::from_millis(50);

/// Agents by name and game of a request.
type AgentCache = HashMap<(String, Option<String>), (OpenGame, AgentText)>;

pub(crate) struct Registry {
    finder: Finder,
    /// Names of games in requests, which do not reveal paths.
    pub(crate) files: RuleFiles,
    /// Names of the default rule sets.
    names: Vec<String>,
    /// Named and published agents, then runs that ended in this server.
    entries: Mutex<Arc<Vec<Entry>>>,
    rooms: Mutex<HashMap<String, OpenGame>>,
    /// Cache of agents by the names of earlier requests.
    asked: Mutex<AgentCache>,
}

impl Registry {
    /// Agents named at the start come first, then the published checkpoints in these folders, the best of each game
    /// first.
    pub(crate) fn new(finder: Finder, names: Vec<String>, named: &[Named], published: &[PathBuf]) -> Self {
        let files = RuleFiles::default();
        let names = names.iter().map(|name| files.name_of(name)).collect();
        let mut entries: Vec<Entry> = named.iter().map(|named| entry_of(named, &files)).collect();
        let read = |path: &PathBuf| checkpoint::manifest(path).ok().map(|manifest| (path.clone(), manifest));
        let mut by_game: BTreeMap<String, Vec<_>> = BTreeMap::new();
        for (path, manifest) in published.iter().filter_map(read) {
            by_game.entry(manifest.game.clone()).or_default().push((path, manifest));
        }
        by_game.values_mut().for_each(|all| checkpoint::rank(all));
        for (path, manifest) in by_game.into_values().flatten() {
            let part = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
            let Some(short) = part(&path) else { continue };
            let inside =
                path.parent().and_then(part).map_or_else(|| short.clone(), |game| format!("{game}/{short}"));
            let is_taken = |id: &str| entries.iter().any(|entry| entry.id == id);
            let id = if is_taken(&short) { inside } else { short };
            if is_taken(&id) {
                continue;
            }
            // Skip published networks of unknown games.
            if finder.find(&manifest.game).is_err() {
                continue;
            }
            let about = manifest.config.get("about").and_then(|about| about.as_str()).unwrap_or_default();
            let strength = manifest.strength.as_ref().map(|strength| format!("{}. ", strength.text()));
            let (game, about) = (files.name_of(&manifest.game), strength.unwrap_or_default() + about);
            entries.push(Entry::of_checkpoint(&id, &game, about, &path, &manifest));
        }
        let entries = Mutex::new(Arc::new(entries));
        Self { finder, files, names, entries, rooms: Mutex::default(), asked: Mutex::default() }
    }

    /// Names of the default rule sets, and of those that registered agents play.
    pub(crate) fn games(&self) -> Vec<String> {
        let mut all = self.names.clone();
        for entry in &*self.entries() {
            if !all.contains(&entry.game) {
                all.push(entry.game.clone());
            }
        }
        all
    }

    /// Finds a game by name. Only registered rule files are found: no name from a client reaches the file system.
    pub(crate) fn find(&self, name: &str) -> Result<OpenGame, Fault> {
        let rooms = || self.rooms.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = rooms().get(name) {
            return Ok(found.clone());
        }
        let is_known = self.games().iter().any(|known| is_variant(name, known));
        if !is_known || name.len() > limits::TEXT {
            let names = self.games().join(", ");
            return Err(Fault::missing(format!("no game named `{name}`; there is {names}")));
        }
        let rules = self.files.rules_of(name);
        let game = self.finder.find(&rules).map_err(|error| Fault::missing(error.to_string()))?;
        let mut info = game.info();
        info.name = self.files.name_of(&info.name);
        let info = Arc::new(info);
        let found = OpenGame { room: game.clone().room(limits::PATIENCE), game, info };
        let mut rooms = rooms();
        if rooms.len() >= limits::ROOMS {
            // Rooms with games in progress are kept alive by those games.
            rooms.clear();
            self.asked().clear();
        }
        Ok(rooms.entry(name.into()).or_insert(found).clone())
    }

    /// The agents of a game: those named at the start, its levels, the published ones, then its own.
    pub(crate) fn agents(&self, game: &OpenGame) -> Vec<Entry> {
        let info = &game.info;
        let fits = |entry: &&Entry| entry.game == info.name;
        let mut all: Vec<Entry> = self.entries().iter().filter(fits).cloned().collect();
        let named = all.iter().take_while(|entry| entry.is_named).count();
        all.splice(named..named, levels(game, &all));
        let own = info.scripts.iter().chain(&info.deliberators);
        let built_in = |id: &str, about: &str| Entry::new(id, &info.name, "built-in", about);
        // Names with parameters, such as `equity:T`, are patterns.
        let is_name =
            |name: &str| !name.rsplit(':').next().unwrap_or_default().chars().all(char::is_uppercase);
        all.extend(own.filter(|n| is_name(&n.name)).map(|named| built_in(&named.name, &named.about)));
        let survey = game.game.survey();
        let is_solved = !survey.chance && !survey.endless && !survey.sampled;
        let is_named = all.iter().any(|entry| entry.id == "minimax");
        if info.is_small && !info.hides && info.zero_sum && is_solved && !is_named {
            all.push(Entry { values: true, exact: true, ..built_in("minimax", "perfect play") });
        }
        if info.is_open {
            let values = !info.hides && (info.players == 1 || info.zero_sum) && !survey.sampled;
            all.push(Entry { values, ..built_in(TREE, "tree search over 1,000 random games") });
        }
        all.push(built_in("random", "any legal move"));
        all
    }

    /// Finds the agent of a request, and its game. The innermost name must be listed; prefixes as in commands may
    /// precede it: `search:2:`, `screen:8:SMALL:`, `epsilon:0.1:`.
    pub(crate) fn agent(&self, name: &str, game: Option<&str>) -> Result<(OpenGame, AgentText), Fault> {
        self.renew();
        let key = (name.to_string(), game.map(Into::into));
        if let Some(found) = self.asked().get(&key) {
            return Ok(found.clone());
        }
        let found = self.look_up(name, game)?;
        let mut asked = self.asked();
        if asked.len() >= limits::ASKED {
            asked.clear();
        }
        Ok(asked.entry(key).or_insert(found).clone())
    }

    /// Gives the agents of runs that have removed their checkpoint the latest one.
    fn renew(&self) {
        for entry in &*self.entries() {
            if let Some(folder) = &entry.run
                && !Path::new(&entry.text).exists()
            {
                self.add_run(&entry.id, folder);
            }
        }
    }

    fn asked(&self) -> MutexGuard<'_, AgentCache> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agent of a request if it is cached and answers immediately.
    pub(crate) fn quick(
        &self,
        name: &str,
        game: Option<&str>,
        detail: Detail,
    ) -> Option<(OpenGame, AgentText)> {
        let known = self.asked().get(&(name.to_string(), game.map(Into::into))).cloned();
        known.filter(|(found, agent)| found.room.is_quick(agent, detail))
    }

    fn look_up(&self, name: &str, game: Option<&str>) -> Result<(OpenGame, AgentText), Fault> {
        if name.len() > limits::TEXT {
            return Err(Fault::request("the name of the agent is too long"));
        }
        let entries = self.entries();
        if let Some(entry) = entries.iter().find(|entry| entry.id == name) {
            return Ok((self.game_of(entry, game)?, entry.agent(name)));
        }
        let spec = AgentSpec::parse(name).map_err(Fault::request)?;
        let inner = spec.name();
        let entry = entries.iter().find(|entry| entry.id == inner);
        let found = match (entry, game) {
            (Some(entry), game) => self.game_of(entry, game)?,
            (None, Some(game)) => self.find(game)?,
            (None, None) => {
                return Err(Fault::missing(format!(
                    "no agent named `{inner}` on this server; an agent of a game needs its name as `game`"
                )));
            }
        };
        let all = self.agents(&found);
        let known = |name: &str| {
            all.iter().find(|entry| entry.id == name).ok_or_else(|| {
                let ids: Vec<&str> = all.iter().map(|entry| &*entry.id).collect();
                Fault::missing(format!("no agent named `{name}` for {}: {}", found.info.name, ids.join(", ")))
            })
        };
        let innermost = known(inner)?;
        if let Some(screen) = spec.screen() {
            let small = known(&screen.name)?;
            if small.kind != "checkpoint" {
                return Err(Fault::missing(format!(
                    "`{}` is not a checkpoint, as a screen must be",
                    small.id
                )));
            }
        }
        bounded(&spec, found.game.survey().chance)?;
        let path = |name: &str, _| all.iter().find(|entry| entry.id == name).map(|entry| entry.text.clone());
        let text = naming::map_path(name, &mut { path });
        Ok((found, AgentText { name: name.into(), text, best: innermost.best }))
    }

    /// The game of an agent, or the requested one if the agent also plays it.
    fn game_of(&self, entry: &Entry, game: Option<&str>) -> Result<OpenGame, Fault> {
        let found = self.find(game.unwrap_or(&entry.game))?;
        match entry.game == found.info.name {
            true => Ok(found),
            false => {
                let (id, plays, asked) = (&entry.id, &entry.game, &found.info.name);
                Err(Fault::missing(format!("`{id}` plays {plays}, not {asked}")))
            }
        }
    }

    /// The maps of an agent's learned cells.
    pub(crate) fn cells(&self, id: &str) -> Result<Vec<CellMap>, Fault> {
        let entries = self.entries();
        let entry = entries.iter().find(|entry| entry.id == id && entry.cells);
        let missing = || Fault::missing("no agent of this name has learned cells");
        gates::cell_maps(Path::new(&entry.ok_or_else(missing)?.text)).map_err(|_| missing())
    }

    /// The default agent that analyses an agent's games: exact values if there are any, then the network with the best
    /// match results or, without results, the largest one, then the agent itself, then the first agent with values,
    /// which may be estimates from samples.
    pub(crate) fn judge(&self, game: &str, agent: &str) -> Result<String, Fault> {
        let all = self.agents(&self.find(game)?);
        let inner =
            AgentSpec::parse(agent).map_or_else(|_| agent.to_string(), |spec| spec.name().to_string());
        if let Some(exact) = all.iter().find(|entry| entry.exact) {
            return Ok(exact.id.clone());
        }
        let strength = |entry: &Entry| {
            let folder = Path::new(&entry.text);
            let found = checkpoint::manifest(folder).ok();
            let won = found.and_then(|manifest| manifest.metrics.get("matches")?.as_f64());
            let bytes = folder.join("weights.safetensors").metadata().map_or(0, |file| file.len());
            (won.unwrap_or(f64::NEG_INFINITY), bytes)
        };
        let is_judge = |entry: &&Entry| entry.kind == "checkpoint" && entry.values && entry.unit.is_none();
        // The first one in a tie.
        let networks = all.iter().rev().filter(is_judge).map(|entry| (strength(entry), entry));
        let best = networks
            .max_by(|((won, bytes), _), (other, _)| won.total_cmp(&other.0).then(bytes.cmp(&other.1)));
        if let Some((_, network)) = best {
            return Ok(network.id.clone());
        }
        let has_values = all.iter().any(|entry| entry.id == inner && entry.values);
        let first = || all.iter().find(|entry| entry.values).map(|entry| entry.id.clone());
        match has_values {
            true => Ok(agent.into()),
            false => Ok(first().unwrap_or_else(|| agent.into())),
        }
    }

    /// The first registered agent with values for a game.
    pub(crate) fn default(&self, game: &str) -> Option<String> {
        let fits = |entry: &&Entry| entry.values && entry.game == game;
        self.entries().iter().find(fits).map(|entry| entry.id.clone())
    }

    fn entries(&self) -> Arc<Vec<Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Calls a function with the catalogue.
    pub(crate) fn with_games<T: Send + 'static>(
        &self,
        f: impl FnOnce(&dyn Catalogue) -> T + Send + 'static,
    ) -> Result<T, Fault> {
        Ok(self.finder.ask(f)?)
    }

    /// Registers the latest checkpoint of a run under this name. Returns whether there is one.
    pub(crate) fn add_run(&self, id: &str, folder: &Path) -> bool {
        // Its path is that of the checkpoint: a run that continues gets another path, so that open agents are not
        // confused with it.
        let Ok(path) = checkpoint::locate(folder, false) else { return false };
        let Ok(manifest) = checkpoint::manifest(&path) else { return false };
        let game = self.files.name_of(&manifest.game);
        let entry = Entry {
            run: Some(folder.into()),
            ..Entry::of_checkpoint(id, &game, "learned by this server".into(), &path, &manifest)
        };
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Entry> = entries.iter().filter(|known| known.id != entry.id).cloned().collect();
        all.push(entry);
        *entries = Arc::new(all);
        self.asked().clear();
        true
    }

    /// Number of agents, without those of each game.
    pub(crate) fn named(&self) -> usize {
        self.entries().len()
    }
}

impl Entry {
    /// An agent without values, which was not named at the start.
    fn new(id: &str, game: &str, kind: &'static str, about: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            game: game.into(),
            kind,
            about: about.into(),
            values: false,
            exact: false,
            cells: false,
            unit: None,
            text: id.into(),
            best: false,
            is_named: false,
            run: None,
        }
    }

    /// The agent that plays by a checkpoint.
    fn of_checkpoint(id: &str, game: &str, about: String, path: &Path, manifest: &Manifest) -> Self {
        Self {
            values: !manifest.head.is_policy(),
            cells: has_cells(manifest),
            unit: unit_of(manifest),
            text: path.display().to_string(),
            ..Self::new(id, game, "checkpoint", about)
        }
    }

    fn agent(&self, name: &str) -> AgentText {
        AgentText { name: name.into(), text: self.text.clone(), best: self.best }
    }
}

/// The levels of a game, `strong` first: those of the first checkpoint of the list, or of the game's own agents.
fn levels(game: &OpenGame, all: &[Entry]) -> Vec<Entry> {
    let base = all.iter().find(|entry| entry.kind == "checkpoint" && !entry.best);
    let mut rungs = game.game.levels(base.map(|entry| &*entry.text)).unwrap_or_default();
    rungs
        .sort_by_key(|rung| (rung.level < Level::Strong, rung.level.max(Level::Strong), Reverse(rung.level)));
    let entry = |rung: Rung| Entry {
        values: rung.values && !game.info.hides,
        text: rung.agent,
        ..Entry::new(rung.level.name(), &game.info.name, "level", rung.about)
    };
    rungs.into_iter().map(entry).collect()
}

/// Whether some part of an architecture has learned cells.
fn has_cells(manifest: &Manifest) -> bool {
    serde_json::to_string(&manifest.architecture).is_ok_and(|text| text.contains("\"cells\":{"))
}

/// Meaning of a network's values, if they are not results of the game: its config tells.
fn unit_of(manifest: &Manifest) -> Option<&'static str> {
    let learned = |place| manifest.config.pointer(place).and_then(serde_json::Value::as_str);
    // The second path is from earlier versions.
    let rewards = learned("/learn/td/rewards").or_else(|| learned("/learn/rewards"));
    (rewards == Some("steps")).then_some("rewards")
}

/// Whether a name may be a rule set of the same game. A rule file has no variants.
fn is_variant(name: &str, known: &str) -> bool {
    let head = |name: &str| name.split(':').next().unwrap_or_default().to_string();
    name == known || (head(name) == head(known) && head(name) != "file")
}

/// Refuses agents that take too long or read files.
fn bounded(spec: &AgentSpec, has_chance: bool) -> Result<(), Fault> {
    let refuse = |message: String| Err(Fault::request(message));
    if spec.tables().is_some() {
        return refuse(
            "`known:` names tables of this machine: name such agents where the server is started".into(),
        );
    }
    let search = match spec {
        AgentSpec::Optimal(_) => {
            return refuse(
                "`optimal:` searches a whole game: name such agents where the server is started".into(),
            );
        }
        AgentSpec::Model { play, search: Some(_), .. } if *play != Play::Greedy => {
            return refuse(
                "a search here plays the best move that it finds: leave out `epsilon:` and `boltzmann:`"
                    .into(),
            );
        }
        AgentSpec::Model { search, .. } => search.as_ref(),
        AgentSpec::Named(_) => None,
    };
    let Some(SearchOptions { budget, threads, filter, .. }) = search else { return Ok(()) };
    let (with, without) = limits::PLIES;
    let plies = if has_chance { with } else { without };
    let fits = match *budget {
        Budget::Plies(n) => n <= plies,
        Budget::Time(time) => time <= limits::SEARCH,
        Budget::Nodes(nodes) => nodes <= limits::NODES,
    };
    let (keep, margin) = limits::FILTER;
    let is_narrow = filter.keep.iter().all(|kept| *kept <= keep) && filter.margin <= margin;
    match fits && is_narrow && *threads == 1 {
        true => Ok(()),
        false => refuse(format!(
            "a search here takes at most {plies} plies, {} seconds or {} positions, on one thread, and keeps at most {keep} moves \
             and those within {margin}",
            limits::SEARCH.as_secs(),
            limits::NODES
        )),
    }
}

fn entry_of(named: &Named, files: &RuleFiles) -> Entry {
    let spec = AgentSpec::parse(&named.text);
    let inner = spec.as_ref().map_or(&*named.text, AgentSpec::name).to_string();
    let manifest =
        checkpoint::locate(Path::new(&inner), named.best).and_then(|path| checkpoint::manifest(&path)).ok();
    let about = manifest.as_ref().and_then(|manifest| manifest.config.get("about")?.as_str());
    // Clients see only the last component of a path.
    let last = |path: &str| PathBuf::from(path).file_name().map(|name| name.to_string_lossy().into_owned());
    Entry {
        id: naming::map_path(&named.text, &mut |path, _| last(path)),
        game: files.name_of(&named.game),
        kind: if manifest.is_some() { "checkpoint" } else { "built-in" },
        about: about.unwrap_or_default().into(),
        exact: ["oracle", "minimax"].contains(&&*named.text),
        // For a plain name, its path is that of a checkpoint.
        cells: named.text == inner && !named.best && manifest.as_ref().is_some_and(has_cells),
        unit: manifest.as_ref().and_then(unit_of),
        values: named.values && manifest.is_none_or(|manifest| !manifest.head.is_policy()),
        text: named.text.clone(),
        best: named.best,
        is_named: true,
        run: None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_variant;

    #[test]
    fn rule_files_are_themselves_alone() {
        assert!(is_variant("backgammon:3", "backgammon"));
        assert!(is_variant("declared:nim", "declared:hexapawn-3x3"));
        assert!(is_variant("file:my.kif", "file:my.kif"));
        assert!(!is_variant("file:/etc/passwd", "file:my.kif"));
        assert!(!is_variant("file:/etc/passwd", "declared:nim"));
        assert!(!is_variant("chess", "backgammon"));
    }
}
