//! The forms of names of agents.

use crate::agents::Playouts;
use crate::encoders::{KNOWN, file_of, known_part};
use crate::search::SearchOptions;
use adept_ground::limits;
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
pub(super) const SCREEN: &str = "screen";

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
    pub(super) fn is_greedy(&self) -> bool {
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
    pub(super) fn searches(&self) -> bool {
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
    pub(super) fn needs_values(&self) -> bool {
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

#[cfg(test)]
mod tests {
    use super::map_path;

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
}
