//! Looks up what names of agents stand for.

use super::spec::AgentSpec;
use super::usual;
use crate::agents::Playouts;
use crate::error::OpenError;
use adept_game::{GameInfo, Kit, Named, is_solved};
use adept_model::checkpoint;
use adept_model::names;
use std::path::{Path, PathBuf};

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
    /// The same agent where it does not look ahead.
    pub(super) fn without_search(&self) -> Self {
        let mut plain = self.clone();
        if let (Meaning::Checkpoint(_), AgentSpec::Model { search, .. }) = (&self.meaning, &mut plain.spec) {
            *search = None;
        }
        plain
    }

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
    pub(super) fn has_values(&self) -> bool {
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

/// Looks up what an agent's name stands for, by the order that [the module](super) describes.
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
            None if usual::names_game(name, game.name()) => {
                return resolve(
                    game,
                    &format!("{}{}", &text[..text.len() - name.len()], usual::usual(game)),
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

pub(super) fn with_values<G: Kit>(game: &G) -> String {
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

#[cfg(test)]
mod tests {
    use super::has_form;

    #[test]
    fn parameters_are_written_in_capitals() {
        assert!(has_form("equity:T", "equity:0.5") && has_form("soar:P", "soar:P"));
        assert!(!has_form("equity:T", "equity") && !has_form("equity:T", "equity:") && !has_form("a", "b"));
    }
}
