//! Names of agents: what they stand for, in every command and config.
//!
//! A text is parsed into a form, [`AgentSpec`]; what its innermost name means is looked up once, as [`Resolved`]; then the agent is
//! built. Every form of a name is known to this file alone.
//!
//! The first of these that exists is meant:
//!
//! 1. the folder at this path, if it holds a checkpoint or a run;
//! 2. an agent of the game, `random`, `minimax`;
//! 3. the run of this name in `checkpoints/runs`, with or without its seed;
//! 4. the published checkpoint of this name, `checkpoints/GAME/NAME`, also as `GAME/NAME`;
//! 5. the best published checkpoint of the game of this name; without one, the game's strongest agent.

use crate::agents::{Agent, Boltzmann, EpsilonGreedy, Greedy, Random, Scripted};
use crate::asking::Asking;
use crate::deliberating::Deliberating;
use crate::evaluator::{ByValuation, Evaluator};
use crate::exact::ExactError;
use crate::known::{Informed, KNOWN, known_part};
use crate::levels;
use crate::luck::Luck;
use crate::open::{OpenError, by_head, open_with};
use crate::part::file_of;
use crate::screen::{Screen, Screened};
use crate::search::{self, Budget, Search, SearchOptions};
use crate::solve::{BestResponse, Minimax, has_oracle, oracle};
use crate::uct::Playouts;
use adept_game::{GameInfo, Kit, Named, Purpose, Turn, has_public_tree, is_solved};
use adept_ground::limits;
use adept_model::Head;
use adept_model::checkpoint;
use adept_model::names;
use std::path::{Path, PathBuf};

/// Names and one-line descriptions of the agents that every game has, besides its own.
pub const AGENTS: [(&str, &str); 12] = [
    ("random", "any legal action, uniformly"),
    ("playouts:N", "the best mean of N random games, shared evenly among the actions; needs no checkpoint"),
    (
        "uct:N",
        "tree search over N random games, or for a time, uct:500ms; needs no checkpoint; uct:N,c=0.7 explores less than c=1",
    ),
    ("minimax", "perfect play of a game without chance, each player for its own utility, ties uniform"),
    ("optimal:AGENT", "the exact best response to a fixed agent, such as optimal:ttt"),
    (
        "greedy:CHECKPOINT",
        "the action with the highest value; a valuation of the game may stand for the checkpoint",
    ),
    ("epsilon:E:CHECKPOINT", "greedy, but with probability E a random candidate"),
    ("boltzmann:T:CHECKPOINT", "each action with probability ∝ exp(value / T)"),
    (
        "known:TABLES:CHECKPOINT",
        "plays by tables of the game where they know the value, such as known:race-8:NAME; known:none:NAME plays without",
    ),
    (
        "screen:K:SMALL:LARGE",
        "the best by LARGE of the K moves that the checkpoint SMALL likes best; also search:2:screen:8:SMALL:LARGE",
    ),
    (
        "search:PLIES:CHECKPOINT",
        "looks ahead, such as search:4:NAME; or for a time, search:100ms:NAME, or a number of positions, search:10000n:NAME",
    ),
    ("CHECKPOINT", "greedy; boltzmann:1 if the checkpoint is a policy"),
];

/// An agent as users write it: the form of its name. Nothing is looked up yet.
#[derive(Clone, Debug, PartialEq)]
pub enum AgentSpec {
    /// `optimal:AGENT`: the exact best response to an agent.
    Optimal(Box<AgentSpec>),
    /// An agent that plays by values.
    Model {
        /// How it chooses.
        play: Play,
        /// How far it looks ahead.
        search: Option<SearchOptions>,
        /// What picks the candidates whose values count.
        screen: Option<ScreenSpec>,
        /// Tables of known values in place of those of the checkpoint, joined by `+`.
        tables: Option<String>,
        /// Name of the checkpoint or valuation.
        name: String,
    },
    /// Any other text: an agent of this or of every game, or a checkpoint.
    Named(String),
}

/// A small network that picks candidates, as users write it: `screen:K:SMALL`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScreenSpec {
    /// Candidates of a decision that it lets pass.
    pub keep: usize,
    /// Name of its checkpoint.
    pub name: String,
}

/// The word before a screen.
const SCREEN: &str = "screen";

/// The words before the colon of all forms.
const FORMS: [&str; 7] = ["optimal", "greedy", "epsilon", "boltzmann", "search", SCREEN, KNOWN];

/// How an agent plays by values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Play {
    /// `greedy:NAME`.
    Greedy,
    /// `epsilon:E:NAME`: a random candidate with probability E, in [0, 1].
    Epsilon(f64),
    /// `boltzmann:T:NAME`: the softmax of values / T, with T above 0.
    Boltzmann(f64),
}

impl AgentSpec {
    /// Parses the form of a name.
    ///
    /// # Errors
    /// The form that a wrong parameter must have.
    pub fn parse(text: &str) -> Result<Self, String> {
        let parameter = |rest: &str, what: &str, range: std::ops::RangeInclusive<f64>| {
            let (number, name) = rest.split_once(':').unwrap_or((rest, ""));
            match number.parse::<f64>() {
                Ok(n) if range.contains(&n) && !name.is_empty() => Ok((n, name.to_string())),
                _ => Err(format!("`{text}`: write {what}")),
            }
        };
        match text.split_once(':') {
            Some(("optimal", rest)) => {
                let (mut innermost, mut depth) = (rest, 1);
                while let Some(("optimal", inner)) = innermost.split_once(':') {
                    (innermost, depth) = (inner, depth + 1);
                }
                if depth > limits::NESTED_AGENTS {
                    return Err(format!(
                        "an agent of {depth} times `optimal:`; at most {} are allowed",
                        limits::NESTED_AGENTS
                    ));
                }
                Ok(Self::Optimal(Box::new(Self::parse(rest)?)))
            }
            Some(("greedy", rest)) => Self::model(text, Play::Greedy, rest),
            Some(("epsilon", rest)) => {
                let (e, name) = parameter(rest, "epsilon:E:CHECKPOINT with E in 0..1", 0.0..=1.0)?;
                Self::model(text, Play::Epsilon(e), &name)
            }
            Some(("boltzmann", rest)) => {
                let (t, name) =
                    parameter(rest, "boltzmann:T:CHECKPOINT with T in 0.000001..1000000", 1e-6..=1e6)?;
                Self::model(text, Play::Boltzmann(t), &name)
            }
            Some(("search" | SCREEN | KNOWN, _)) => Self::model(text, Play::Greedy, text),
            Some(_) if let Some(Err(why)) = Playouts::parse(text) => Err(why),
            _ => Ok(Self::Named(text.into())),
        }
    }

    /// Parses what an agent plays by: `NAME`, `known:TABLES:NAME`, `screen:K:SMALL:` before either, and `search:BUDGET:` before all.
    fn model(text: &str, play: Play, of: &str) -> Result<Self, String> {
        let Some(rest) = of.strip_prefix("search:") else {
            let (screen, name) = screen_of(text, of)?;
            let (tables, name) = known_tables(text, name)?;
            check_order(text, &name)?;
            return Ok(Self::Model { play, search: None, screen, tables, name });
        };
        let (budget, name) = rest.split_once(':').unwrap_or((rest, ""));
        let options: SearchOptions = budget.parse().map_err(|why| format!("`{text}`: {why}"))?;
        if name.is_empty() {
            return Err(format!("`{text}`: write search:PLIES:CHECKPOINT, such as search:{budget}:my-run"));
        }
        let (screen, name) = screen_of(text, name)?;
        let (tables, name) = known_tables(text, name)?;
        check_order(text, &name)?;
        if let Some((head, _)) = name.split_once(':').filter(|(head, _)| FORMS.contains(head)) {
            let instead = match head {
                "epsilon" | "boltzmann" => format!(": write {head}:NUMBER:search:{budget}:NAME"),
                _ => String::new(),
            };
            return Err(format!(
                "`{text}`: `search:` takes a checkpoint or a valuation, not `{head}:`{instead}"
            ));
        }
        // A choice by chance compares all values.
        let all = matches!(play, Play::Boltzmann(_));
        Ok(Self::Model { play, search: Some(SearchOptions { all, ..options }), screen, tables, name })
    }

    /// Whether it plays greedily by all values of its innermost name, without looking ahead.
    pub(crate) fn is_greedy(&self) -> bool {
        matches!(self, Self::Named(_) | Self::Model { play: Play::Greedy, search: None, screen: None, .. })
    }

    /// The screen that it names.
    pub fn screen(&self) -> Option<&ScreenSpec> {
        match self {
            Self::Optimal(inner) => inner.screen(),
            Self::Model { screen, .. } => screen.as_ref(),
            Self::Named(_) => None,
        }
    }

    /// Whether it looks ahead.
    pub(crate) fn searches(&self) -> bool {
        matches!(self, Self::Model { search: Some(_), .. })
    }

    /// The tables of known values that it names.
    pub fn tables(&self) -> Option<&str> {
        match self {
            Self::Optimal(inner) => inner.tables(),
            Self::Model { tables, .. } => tables.as_deref(),
            Self::Named(_) => None,
        }
    }

    /// The innermost name: the only part that is looked up. It ends the text.
    pub fn name(&self) -> &str {
        match self {
            Self::Optimal(inner) => inner.name(),
            Self::Model { name, .. } | Self::Named(name) => name,
        }
    }

    /// Whether the innermost name must have values: it may be a checkpoint or a valuation, and no other agent.
    fn needs_values(&self) -> bool {
        match self {
            Self::Optimal(inner) => inner.needs_values(),
            Self::Model { .. } => true,
            Self::Named(_) => false,
        }
    }
}

/// Splits `screen:K:SMALL:LARGE`. Other text is a name.
fn screen_of<'a>(text: &str, of: &'a str) -> Result<(Option<ScreenSpec>, &'a str), String> {
    let Some(rest) = of.strip_prefix(SCREEN).and_then(|rest| rest.strip_prefix(':')) else {
        return Ok((None, of));
    };
    let mut words = rest.splitn(3, ':');
    let keep =
        words.next().and_then(|keep| keep.parse().ok()).filter(|keep| (1..=limits::KEPT).contains(keep));
    match (keep, words.next(), words.next()) {
        (Some(_), Some(_), Some(name)) if name.starts_with("search:") => {
            Err(format!("`{text}`: `search:` comes first: write search:BUDGET:screen:K:SMALL:LARGE"))
        }
        (Some(keep), Some(small), Some(name)) if !small.is_empty() && !name.is_empty() => {
            Ok((Some(ScreenSpec { keep, name: small.into() }), name))
        }
        _ => Err(format!(
            "`{text}`: write screen:K:SMALL:LARGE, with the number of moves to keep, 1 to {}, and the small network that picks \
             them, such as screen:8:my-small:my-large",
            limits::KEPT
        )),
    }
}

/// Refuses a screen behind what it comes before.
fn check_order(text: &str, name: &str) -> Result<(), String> {
    match name.split_once(':') {
        Some((SCREEN, _)) => Err(format!(
            "`{text}`: write `{SCREEN}:K:SMALL:` once, after `search:BUDGET:` and before `known:TABLES:`"
        )),
        _ => Ok(()),
    }
}

/// Splits `known:TABLES:NAME`. Other text is a name.
fn known_tables(text: &str, of: &str) -> Result<(Option<String>, String), String> {
    let Some(rest) = known_part(of) else { return Ok((None, of.into())) };
    match rest.split_once(':').filter(|(tables, name)| !tables.is_empty() && !name.is_empty()) {
        Some((tables, name)) => Ok((Some(tables.into()), name.into())),
        None => Err(format!(
            "`{text}`: write known:TABLES:CHECKPOINT, with tables of the game joined by `+`, or `none`"
        )),
    }
}

/// A path, or `search:BUDGET:PATH`: the path of a checkpoint, and how far to look ahead with it.
///
/// # Errors
/// The form that a wrong budget must have.
pub fn path_and_search(text: &Path) -> Result<(PathBuf, Option<SearchOptions>), String> {
    let named = |text: &&str| ["search:", "screen:", "known:"].iter().any(|kind| text.starts_with(kind));
    // A file may have such a name.
    let spec = text.to_str().filter(named).filter(|_| !text.exists()).map(AgentSpec::parse).transpose()?;
    match spec {
        Some(AgentSpec::Model { search, name, screen: None, tables: None, .. }) => Ok((name.into(), search)),
        Some(_) => Err(format!(
            "`{}`: write the path of a checkpoint, or search:BUDGET:PATH; `screen:` and `known:` are for agents of commands",
            text.display()
        )),
        None => Ok((text.into(), None)),
    }
}

/// A search by the values of a checkpoint or valuation with this name and head.
///
/// # Errors
/// [`OpenError::Unknown`] with the reason, if the game cannot be searched, the outputs are not values, or threads have nothing to share.
pub fn search_by<G: Kit, E: Evaluator<G>>(
    game: &G,
    name: &str,
    (values, head): (E, &Head),
    options: SearchOptions,
) -> Result<Search<G, E>, OpenError> {
    search::fits_budget(game, options.budget)?;
    if *head == Head::Policy {
        return Err(OpenError::Unknown(format!(
            "`{name}` is a policy: its outputs are not values, which `search:` compares"
        )));
    }
    let threads = options.threads;
    let search = Search::new(game, values, options);
    if threads > 1 && !search.has_chance() {
        return Err(OpenError::Unknown(format!(
            "`threads` shares a search of dice, and {} has none: alpha-beta runs on one thread; leave it out",
            game.name()
        )));
    }
    Ok(search)
}

/// An agent's text with another path: that of its checkpoint, or of the file that it reads. `change` gets a path or a name, and
/// whether it is the file of `KIND:FILE`; it returns the path to take instead.
pub fn map_path(text: &str, change: &mut dyn FnMut(&str, bool) -> Option<String>) -> String {
    let Ok(spec) = AgentSpec::parse(text) else { return text.into() };
    let name = spec.name();
    if Playouts::parse(name).is_some() {
        return text.into();
    }
    let (path, is_file) = match file_of(name).filter(|_| !spec.needs_values()) {
        Some((_, file)) => (file, true),
        None => (name, false),
    };
    let head = &text[..text.len() - path.len()];
    let end = change(path, is_file).unwrap_or_else(|| path.into());
    let moved = spec.screen().and_then(|ScreenSpec { keep: _, name }| {
        // The screen is the word before the last ones that the head ends with.
        let (before, after) = head.split_at(head.find("screen:")? + SCREEN.len() + 1);
        let (keep, after) = after.split_once(':')?;
        Some(format!("{before}{keep}:{}{}", change(name, false)?, after.strip_prefix(&**name)?))
    });
    format!("{}{end}", moved.as_deref().unwrap_or(head))
}

/// What the innermost name of an agent stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Meaning {
    /// Any legal action, uniformly.
    Random,
    /// Perfect play.
    Minimax,
    /// What random games show.
    Playouts(Playouts),
    /// A rule-based policy of the game.
    Script,
    /// A valuation of the game.
    Valuation,
    /// A deliberating agent of the game.
    Deliberator,
    /// Another program.
    Peer,
    /// The checkpoint or run in this folder.
    Checkpoint(PathBuf),
}

/// An agent whose name has been looked up. It has not been opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The form of its name.
    pub spec: AgentSpec,
    /// What the innermost name stands for.
    pub meaning: Meaning,
    /// The folder of the checkpoint or run that screens for it.
    pub screen: Option<PathBuf>,
}

impl Resolved {
    /// The folder of the checkpoint or run that it plays by, if it does.
    pub fn folder(&self) -> Option<&Path> {
        match &self.meaning {
            Meaning::Checkpoint(folder) => Some(folder),
            _ => None,
        }
    }

    /// The folder of a checkpoint or run that plays in its own way, without a prefix or with `known:` alone.
    pub fn plain_folder(&self) -> Option<&Path> {
        let is_plain = match &self.spec {
            AgentSpec::Named(_) => true,
            AgentSpec::Model { tables, .. } => self.spec.is_greedy() && tables.is_some(),
            AgentSpec::Optimal(_) => false,
        };
        self.folder().filter(|_| is_plain)
    }

    /// Whether what its innermost name stands for may have values.
    fn has_values(&self) -> bool {
        matches!(
            self.meaning,
            Meaning::Checkpoint(_) | Meaning::Valuation | Meaning::Minimax | Meaning::Playouts(_)
        )
    }

    /// Whether it is `minimax`, alone or inside.
    pub fn is_minimax(&self) -> bool {
        self.meaning == Meaning::Minimax
    }

    /// Whether it must search the whole game before it plays.
    pub fn searches_all(&self) -> bool {
        self.is_minimax() || matches!(self.spec, AgentSpec::Optimal(_))
    }
}

/// Whether a name is this one, or has its form: `equity:0.5` that of `equity:T`.
fn has_form(known: &str, name: &str) -> bool {
    let parameter = |(_, last): &(&str, &str)| last.chars().all(char::is_uppercase);
    match known.rsplit_once(':').filter(parameter) {
        Some((head, _)) => {
            name.strip_prefix(head).is_some_and(|rest| rest.len() > 1 && rest.starts_with(':'))
        }
        None => known == name,
    }
}

/// What the game knows by this name. No valuation is opened, because some take minutes.
fn own<G: Kit>(game: &G, name: &str) -> Option<Meaning> {
    let listed = |all: &[Named], fits: &dyn Fn(&str) -> bool| all.iter().any(|known| fits(&known.name));
    // A valuation may read a file: `oracle:FILE`.
    let head = name.split(':').next().unwrap_or_default();
    let agents = game.agents();
    match name {
        "random" => Some(Meaning::Random),
        "minimax" => Some(Meaning::Minimax),
        _ if let Some(Ok(playouts)) = Playouts::parse(name) => Some(Meaning::Playouts(playouts)),
        _ if agents.scripts.open(name).is_some() => Some(Meaning::Script),
        _ if listed(game.values().valuations.names(), &|known| has_form(known, name) || known == head) => {
            Some(Meaning::Valuation)
        }
        "oracle" if is_solved(game) => Some(Meaning::Valuation),
        _ if listed(agents.deliberators.names(), &|known| has_form(known, name))
            || agents.deliberators.open(name).is_some() =>
        {
            Some(Meaning::Deliberator)
        }
        _ if agents.peers.names().iter().any(|known| known.name.split(':').next() == Some(head)) => {
            Some(Meaning::Peer)
        }
        _ => None,
    }
}

/// Whether the game has an agent of this name, `random` and `minimax` included.
pub fn is_own<G: Kit>(game: &G, name: &str) -> bool {
    own(game, name).is_some()
}

/// The folder of a checkpoint or run that a name stands for, if it stands for one: `is_own` says whether it is the name of an agent,
/// which goes before runs and published checkpoints.
///
/// # Errors
/// [`OpenError::Model`] if the name fits several folders, or a folder may not be read.
pub fn folder_of(name: &str, is_own: impl Fn(&str) -> bool) -> Result<Option<PathBuf>, OpenError> {
    let path = Path::new(name);
    if checkpoint::is_at(path)? {
        return Ok(Some(path.into()));
    }
    if is_own(name) {
        return Ok(None);
    }
    Ok(checkpoint::named(path)?)
}

/// Looks up what an agent's name stands for, by the order that [the module](self) describes.
///
/// # Errors
/// [`OpenError::Unknown`] with the nearest known name or all of them, among `more` too.
pub fn resolve<G: Kit>(game: &G, text: &str, more: &[&str]) -> Result<Resolved, OpenError> {
    let spec = AgentSpec::parse(text).map_err(OpenError::Unknown)?;
    let name = spec.name();
    let known = std::cell::OnceCell::new();
    let meaning = || known.get_or_init(|| own(game, name)).clone();
    let meaning = match folder_of(name, |_| meaning().is_some())? {
        Some(folder) => Meaning::Checkpoint(folder),
        None => match meaning() {
            Some(meaning) => meaning,
            None if levels::names_game(name, game.name()) => {
                return resolve(
                    game,
                    &format!("{}{}", &text[..text.len() - name.len()], levels::usual(game)),
                    more,
                );
            }
            None => return Err(unknown(game, &spec, more)),
        },
    };
    if spec.tables().is_some() && !matches!(meaning, Meaning::Checkpoint(_)) {
        return Err(OpenError::Unknown(format!(
            "`{text}`: `{name}` is not a checkpoint; write known:TABLES:CHECKPOINT, tables joined by `+`, and what looks ahead before it: \
             search:2:known:TABLES:CHECKPOINT"
        )));
    }
    if spec.needs_values()
        && !matches!(meaning, Meaning::Checkpoint(_) | Meaning::Valuation | Meaning::Playouts(_))
    {
        return Err(OpenError::Unknown(format!(
            "`{text}`: `{name}` is an agent that has no values; what has values: {}",
            with_values(game)
        )));
    }
    let screen = spec.screen().map(|screen| checkpoint_at(game, &screen.name, "a screen")).transpose()?;
    Ok(Resolved { spec, meaning, screen })
}

/// The folder of the checkpoint or run with this name, which is to serve as `what`.
///
/// # Errors
/// [`OpenError::Unknown`] if it is something else or nothing.
pub fn checkpoint_at<G: Kit>(game: &G, name: &str, what: &str) -> Result<PathBuf, OpenError> {
    folder_of(name, |name| is_own(game, name))?.ok_or_else(|| {
        let near = names::suggest(name, &checkpoint::known().iter().map(String::as_str).collect::<Vec<_>>());
        OpenError::Unknown(format!("`{name}` is not a checkpoint, which {what} must be{near}"))
    })
}

fn with_values<G: Kit>(game: &G) -> String {
    let valuations = game.values().valuations;
    let all = valuations.names().iter().map(|known| &*known.name).chain(["any checkpoint folder"]);
    all.collect::<Vec<_>>().join(", ")
}

fn unknown<G: Kit>(game: &G, spec: &AgentSpec, more: &[&str]) -> OpenError {
    let name = spec.name();
    if spec.needs_values() {
        return OpenError::Unknown(format!(
            "`{name}` is not a checkpoint and not a valuation of {}; what has values: {}",
            game.name(),
            with_values(game)
        ));
    }
    let agents = GameInfo::of(game).agents();
    let agents: Vec<&str> = more.iter().copied().chain(agents.iter().map(String::as_str)).collect();
    let folders = checkpoint::known();
    let all: Vec<&str> = agents.iter().copied().chain(folders.iter().map(String::as_str)).collect();
    // A form without its parameter, such as `optimal` for `optimal:AGENT`.
    let form = agents.iter().find(|agent| agent.split_once(':').is_some_and(|(head, _)| head == name));
    let hint = match names::nearest(name, &all).or(form.copied()) {
        Some(near) => format!(": did you mean `{near}`?"),
        None => format!("; agents are {} and any checkpoint folder", agents.join(", ")),
    };
    OpenError::Unknown(format!("`{name}` is not an agent of {} and not a checkpoint{hint}", game.name()))
}

/// Opens an agent. With `best`, it plays by the best checkpoint of a run in place of the latest.
///
/// # Errors
/// See [`OpenError`].
pub fn build<G: Kit>(game: &G, agent: &Resolved, best: bool) -> Result<Box<dyn Agent<G>>, OpenError> {
    Builder::of(game, agent, best).agent(&agent.spec)
}

/// A search by any evaluator.
pub type AnySearch<G> = Search<G, Box<dyn Evaluator<G>>>;

/// Opens what values positions as an agent sees them: the values of the checkpoint or valuation, found by looking ahead if the agent
/// searches. None for an agent that plays in another way.
///
/// # Errors
/// See [`OpenError`].
pub fn evaluator<G: Kit>(game: &G, agent: &Resolved, best: bool) -> Result<Option<AnySearch<G>>, OpenError> {
    evaluator_for(game, agent, best, None)
}

/// As [`evaluator`], to value these positions alone: exact values then come from the smallest table that holds them.
///
/// # Errors
/// See [`OpenError`].
pub fn evaluator_for<G: Kit>(
    game: &G,
    agent: &Resolved,
    best: bool,
    positions: Option<&[G::State]>,
) -> Result<Option<AnySearch<G>>, OpenError> {
    let builder = Builder { positions, ..Builder::of(game, agent, best) };
    let name = agent.spec.name();
    let own = SearchOptions::from(Budget::Plies(1));
    match &agent.spec {
        AgentSpec::Model { play: Play::Greedy, search, .. } => {
            builder.searcher(search.as_ref().unwrap_or(&own), name).map(Some)
        }
        // They play games that a search by values cannot.
        AgentSpec::Named(_)
            if matches!(agent.meaning, Meaning::Playouts(_)) && search::fits(game).is_err() =>
        {
            Ok(None)
        }
        AgentSpec::Named(_) if agent.has_values() => builder.searcher(&own, name).map(Some),
        _ => Ok(None),
    }
}

/// Opens the values by which an agent plays greedily, found by looking ahead if the agent searches. None for an agent that plays in
/// another way, and for a policy.
///
/// # Errors
/// See [`OpenError`].
pub fn values<G: Kit>(
    game: &G,
    agent: &Resolved,
    best: bool,
) -> Result<Option<Box<dyn Evaluator<G>>>, OpenError> {
    let builder = Builder::of(game, agent, best);
    let name = agent.spec.name();
    if let AgentSpec::Model { play: Play::Greedy, search: Some(options), .. } = &agent.spec {
        return Ok(Some(Box::new(builder.searcher(options, name)?)));
    }
    let is_greedy = matches!(agent.spec, AgentSpec::Named(_) | AgentSpec::Model { play: Play::Greedy, .. });
    if !is_greedy || !agent.has_values() {
        return Ok(None);
    }
    let (values, head) = builder.values(name)?;
    Ok((!head.is_policy()).then_some(values))
}

/// What judges games: values, and the luck that they tell.
pub struct Judge<G: Kit> {
    /// The values.
    pub values: Box<dyn Evaluator<G>>,
    /// The luck.
    pub luck: Luck<G>,
    /// The names of the game's references, which stand for the values of the agent where they know the value.
    pub references: Vec<String>,
}

/// Opens the values of an agent to judge games by. The references of the game go before them, unless the agent's name chooses tables
/// itself (`known:`).
///
/// # Errors
/// Errors of opening. [`OpenError::Unknown`] if the agent has no values, or the game hides information or is not zero-sum.
pub fn judge<G: Kit>(game: &G, agent: &Resolved, best: bool) -> Result<Judge<G>, OpenError> {
    let open = || {
        values(game, agent, best)?.ok_or_else(|| {
            OpenError::Unknown(format!(
                "`{}` does not play by its highest value: name a checkpoint, a valuation, or a search of one",
                agent.spec.name()
            ))
        })
    };
    let luck = Luck::open(game, agent, best)?;
    let is_free =
        agent.spec.tables().is_none() && !matches!(agent.meaning, Meaning::Valuation | Meaning::Minimax);
    let references = if is_free { game.values().references()? } else { Vec::new() };
    if references.is_empty() {
        return Ok(Judge { values: open()?, luck, references: Vec::new() });
    }
    let names = references.iter().map(|reference| reference.name.to_string()).collect();
    let luck = Luck::of(Box::new(Informed::new(references.clone(), open()?)));
    Ok(Judge { values: Box::new(Informed::new(references, open()?)), luck, references: names })
}

/// Opens what an agent's name stands for, without what takes long: valuations, perfect play and best responses.
///
/// # Errors
/// See [`OpenError`].
pub fn try_out<G: Kit>(game: &G, agent: &Resolved) -> Result<(), OpenError> {
    match &agent.meaning {
        Meaning::Checkpoint(_) | Meaning::Script | Meaning::Deliberator | Meaning::Peer => {
            let builder = Builder::of(game, agent, false);
            if let AgentSpec::Model { search: Some(options), name, .. } = &agent.spec {
                return builder.searcher(options, name).map(drop);
            }
            if agent.screen.is_some() {
                return builder.values(agent.spec.name()).map(drop);
            }
            builder.agent(&AgentSpec::Named(agent.spec.name().into())).map(drop)
        }
        // A valuation itself may take long to open.
        Meaning::Valuation => {
            if let (Some(folder), AgentSpec::Model { screen: Some(spec), .. }) = (&agent.screen, &agent.spec)
            {
                Screen::open_at(game, folder, spec.keep)?;
            }
            match &agent.spec {
                AgentSpec::Model { search: Some(_), .. } => search::fits(game),
                _ => Ok(()),
            }
        }
        Meaning::Playouts(playouts) => playouts.open(game).map(drop),
        Meaning::Random | Meaning::Minimax => Ok(()),
    }
}

struct Builder<'a, G: Kit> {
    game: &'a G,
    meaning: &'a Meaning,
    best: bool,
    tables: Option<&'a str>,
    screen: Option<(&'a Path, usize)>,
    /// The positions that are to be valued, if it is known.
    positions: Option<&'a [G::State]>,
}

impl<'a, G: Kit> Builder<'a, G> {
    fn of(game: &'a G, agent: &'a Resolved, best: bool) -> Self {
        let screen = agent.screen.as_deref().zip(agent.spec.screen().map(|screen| screen.keep));
        Self { game, meaning: &agent.meaning, best, tables: agent.spec.tables(), screen, positions: None }
    }

    fn agent(&self, spec: &AgentSpec) -> Result<Box<dyn Agent<G>>, OpenError> {
        Ok(match spec {
            AgentSpec::Optimal(other) => {
                self.check_exact()?;
                Box::new(BestResponse::solve(self.game, self.agent(other)?)?)
            }
            AgentSpec::Model { play, search, name, .. } => {
                let values: Box<dyn Evaluator<G>> = match search {
                    Some(options) => Box::new(self.searcher(options, name)?),
                    None => self.values(name)?.0,
                };
                match *play {
                    Play::Greedy => Box::new(Greedy::new(values)),
                    Play::Epsilon(e) => Box::new(EpsilonGreedy::new(values, e)),
                    Play::Boltzmann(t) => Box::new(Boltzmann::new(values, t)),
                }
            }
            AgentSpec::Named(name) => self.named(name)?,
        })
    }

    /// The agent that a name without a prefix stands for.
    fn named(&self, name: &str) -> Result<Box<dyn Agent<G>>, OpenError> {
        let game = self.game;
        let gone = || OpenError::Unknown(format!("{} has no agent `{name}`", game.name()));
        Ok(match self.meaning {
            Meaning::Random => Box::new(Random),
            Meaning::Minimax => Box::new(self.solved()?),
            Meaning::Playouts(playouts) => Box::new(playouts.open(game)?),
            Meaning::Script => Box::new(Scripted::new(game, name).ok_or_else(gone)?),
            Meaning::Deliberator => {
                let found = game.agents().deliberators.open(name).ok_or_else(gone)?;
                Box::new(Deliberating::new(found?))
            }
            Meaning::Peer => Box::new(Asking::new(name, game.agents().peers.open(name).ok_or_else(gone)??)),
            Meaning::Valuation | Meaning::Checkpoint(_) => {
                let (values, head) = self.values(name)?;
                by_head(values, &head)
            }
        })
    }

    /// The values of a checkpoint or valuation, behind the screen if there is one.
    fn values(&self, name: &str) -> Result<(Box<dyn Evaluator<G>>, Head), OpenError> {
        let (values, head) = self.all_values(name)?;
        let Some((folder, keep)) = self.screen else { return Ok((values, head)) };
        if head.is_policy() {
            return Err(OpenError::Unknown(format!(
                "`{name}` is a policy: its outputs are not values, which `{SCREEN}:` needs"
            )));
        }
        Ok((Box::new(Screened::new(Screen::open_at(self.game, folder, keep)?, values)), head))
    }

    /// The values of a checkpoint or valuation.
    fn all_values(&self, name: &str) -> Result<(Box<dyn Evaluator<G>>, Head), OpenError> {
        if let Meaning::Checkpoint(folder) = self.meaning {
            let (bound, manifest) = open_with(self.game, folder, self.best, self.tables)?;
            return Ok((Box::new(bound), manifest.head));
        }
        if *self.meaning == Meaning::Minimax {
            return Ok((Box::new(self.solved()?), Head::Value));
        }
        if let Meaning::Playouts(playouts) = self.meaning {
            return Ok((Box::new(playouts.open(self.game)?), Head::Value));
        }
        let found = match self.positions {
            Some(positions) => self.game.values().open_for(name, positions, Purpose::Show),
            None => self.game.values().valuations.open(name),
        };
        if found.is_none() && name == "oracle" && has_oracle(self.game) {
            return Ok((Box::new(ByValuation(oracle(self.game)?)), Head::Value));
        }
        let found = found.ok_or_else(|| {
            OpenError::Unknown(format!(
                "{} has no valuation `{name}`; what has values: {}",
                self.game.name(),
                with_values(self.game)
            ))
        })?;
        Ok((Box::new(ByValuation(found?)), Head::Value))
    }

    /// A search by the values of a checkpoint or valuation.
    fn searcher(&self, options: &SearchOptions, name: &str) -> Result<AnySearch<G>, OpenError> {
        // A valuation may take minutes to open.
        search::fits_budget(self.game, options.budget)?;
        let (values, head) = self.values(name)?;
        search_by(self.game, name, (values, &head), options.clone())
    }

    fn solved(&self) -> Result<Minimax<G>, OpenError> {
        let game = self.game;
        self.check_exact()?;
        Minimax::solve(game).map_err(|e| match e {
            ExactError::Dice => {
                OpenError::Unknown(format!("{} has chance; minimax needs a game without chance", game.name()))
            }
            other => other.into(),
        })
    }

    /// Refuses games whose states cannot all be searched.
    fn check_exact(&self) -> Result<(), OpenError> {
        let game = self.game;
        if game.hides() {
            let instead = match has_public_tree(game) {
                true => "use `adept solve` to find equilibria and best responses",
                false => "`minimax` and `optimal:` need games that hide nothing",
            };
            return Err(OpenError::Unknown(format!("{} has hidden information; {instead}", game.name())));
        }
        // Games that begin with chance are refused for that reason, where they are solved.
        if !game.is_small() && game.turn(&game.start()) != Turn::Chance {
            return Err(OpenError::Unknown(format!(
                "{} has too many states for `minimax` and `optimal:`, which search all of them",
                game.name()
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{has_form, map_path};

    #[test]
    fn paths_of_agents_are_found_at_their_end() {
        let moved = |text: &str| {
            map_path(text, &mut |path, is_file| Some(format!("{}/{path}", if is_file { "in" } else { "up" })))
        };
        for (text, wanted) in [
            ("run-1", "up/run-1"),
            ("greedy:a:b", "greedy:up/a:b"),
            ("epsilon:0.10:a", "epsilon:0.10:up/a"),
            ("boltzmann:1:a/b", "boltzmann:1:up/a/b"),
            ("optimal:epsilon:0.1:a", "optimal:epsilon:0.1:up/a"),
            ("optimal:optimal:a", "optimal:optimal:up/a"),
            ("oracle:x.table", "oracle:in/x.table"),
            ("rules:a/b", "rules:in/a/b"),
            ("search:4:a/b", "search:4:up/a/b"),
            ("epsilon:0.1:search:4:a", "epsilon:0.1:search:4:up/a"),
            ("optimal:search:100ms,keep=3:a", "optimal:search:100ms,keep=3:up/a"),
            ("known:race-8+b:a/b", "known:race-8+b:up/a/b"),
            ("search:2:known:none:a", "search:2:known:none:up/a"),
            ("screen:8:s/t:a", "screen:8:up/s/t:up/a"),
            (
                "search:2,keep=3:screen:12:s:known:none:a/b",
                "search:2,keep=3:screen:12:up/s:known:none:up/a/b",
            ),
            ("epsilon:2:a", "epsilon:2:a"),
            ("uct:100ms", "uct:100ms"),
            ("epsilon:0.1:playouts:9", "epsilon:0.1:playouts:9"),
        ] {
            assert_eq!(moved(text), wanted);
            assert_eq!(map_path(text, &mut |_, _| None), text);
        }
    }

    #[test]
    fn a_search_that_makes_no_sense_is_refused() {
        for (text, why) in [
            ("known:race-8", "known:TABLES:CHECKPOINT"),
            ("known::a", "known:TABLES:CHECKPOINT"),
            ("search:4", "search:4:my-run"),
            ("search:4:", "search:4:my-run"),
            ("search:a:x", "`search:4:AGENT`"),
            ("search:2:search:2:x", "not `search:`"),
            ("screen:8:a", "screen:K:SMALL:LARGE"),
            ("screen:0:a:b", "1 to 10000"),
            ("screen:2:a:search:2:b", "search:BUDGET:screen:"),
            ("search:2:epsilon:0.1:x", "not `epsilon:`: write epsilon:NUMBER:search:2:NAME"),
            ("epsilon:0.1:search:2:search:2:x", "not `search:`"),
            ("optimal:search:0:x", "1 to 64 plies"),
        ] {
            let error = super::AgentSpec::parse(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn parameters_are_written_in_capitals() {
        assert!(has_form("equity:T", "equity:0.5") && has_form("soar:P", "soar:P"));
        assert!(!has_form("equity:T", "equity") && !has_form("equity:T", "equity:") && !has_form("a", "b"));
    }
}
