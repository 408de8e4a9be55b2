//! The agent that the name of a game stands for.

use crate::exact::survey;
use adept_game::{GameInfo, Kit};
use adept_model::checkpoint::{self, Manifest};

/// Random games of the tree search that plays well without a network.
pub(super) const STRONG_GAMES: u32 = 1000;

/// Whether a name stands for a game as an agent: its best network, or its strongest agent without one. It is the name of the rule set, or
/// of its family, the word before the first colon.
pub fn names_game(name: &str, game: &str) -> bool {
    name == game || game.split_once(':').is_some_and(|(family, _)| family == name)
}

/// The best agent of a game that does not look ahead by a network: its best published network, else perfect play if that takes no time,
/// else the strongest of its own agents, else tree search over random games.
pub(super) fn usual<G: Kit>(game: &G) -> String {
    match best_network(game) {
        Some((path, _)) => path,
        None => without_network(game),
    }
}

/// The path of the best published network of a game that this program can open, and its manifest.
pub(super) fn best_network<G: Kit>(game: &G) -> Option<(String, Manifest)> {
    let adapted = game.results().adapted.map(|adapted| adapted.game);
    // Networks of another rule set tell their classes.
    let borrowed = || checkpoint::best_of(adapted?).filter(|(_, found)| found.head.classes().is_some());
    let (path, manifest) = checkpoint::best_of(game.name()).or_else(borrowed)?;
    Some((path.to_str()?.into(), manifest))
}

pub(super) fn without_network<G: Kit>(game: &G) -> String {
    let info = GameInfo::of(game);
    if is_solved(game, &info) {
        return "minimax".into();
    }
    match game.agents().strongest {
        Some(name) => name.into(),
        None if info.is_open => format!("uct:{}", STRONG_GAMES),
        None => "random".into(),
    }
}

/// Whether `minimax` plays a game at once.
fn is_solved<G: Kit>(game: &G, info: &GameInfo) -> bool {
    let two = info.is_small && !info.hides && info.zero_sum && info.players == 2;
    two && {
        let survey = survey(game);
        !survey.chance && !survey.endless && !survey.sampled
    }
}
