//! What commands need of a game from rules, in either language.

use crate::counting::is_quick;
use crate::names::levels_of;
use crate::ruled::Ruled;
use adept_game::{Agents, Card, Listing, Suite, Turn};
use std::sync::Arc;

/// A config to begin with, for so many players, with few states or with many.
fn starter(players: usize, is_small: bool) -> String {
    match (players, is_small) {
        (1, true) => include_str!("starters/alone.toml").into(),
        (1, false) => {
            let text = include_str!("starters/alone.toml");
            text.replace("[\"equity\"]          # +1 if", "[\"matches\"]         # mean over games: +1 if")
                + "games  = 100\n"
        }
        (_, true) => include_str!("starters/small.toml").into(),
        (_, false) => include_str!("starters/large.toml").into(),
    }
}

/// A move that wins at once, or any move.
fn greedy<G: Ruled>(game: &G, state: &G::State, actions: &[u32], probabilities: &mut Vec<f64>) {
    let wins = |action: &u32| {
        let mut next = state.clone();
        game.apply(&mut next, action);
        let is_won = |player: usize| game.turn(&next) == Turn::Over && game.utility(&next, player) > 0.0;
        matches!(game.turn(state), Turn::Player(player) if is_won(player))
    };
    let wins: Vec<bool> = actions.iter().map(wins).collect();
    let (count, all) = (wins.iter().filter(|wins| **wins).count(), wins.len());
    probabilities.clear();
    probabilities.extend(wins.iter().map(|&wins| match count {
        0 => 1.0 / all as f64,
        _ if wins => 1.0 / count as f64,
        _ => 0.0,
    }));
}

/// How lists describe a game, and how a first run begins.
pub(crate) fn card<G: Ruled>(game: &G) -> Card {
    let is_exact = is_quick(game.states()) && !game.hides();
    let mut text = starter(game.players(), is_exact);
    if !game.has_perfect_play() {
        text = text.replace("[\"greedy\", \"minimax\"]         # the first one is reported", "[\"greedy\"]");
    }
    // It is not known which hidden moves win at once.
    if game.hides() {
        text = text.replace("[\"greedy\", \"random\"]", "[\"random\"]");
    }
    let suites = vec![if is_exact { Suite::Equity } else { Suite::Matches }];
    Card { about: game.about(), suites, starter: Some(text) }
}

/// The agent that takes what wins at once.
pub(crate) fn agents<G: Ruled>(game: &G) -> Agents<'_, G> {
    if game.hides() {
        return Agents::none();
    }
    let levels = levels_of(game.name());
    let about = "takes a move that wins at once; if there is none, any move";
    Agents { levels, ..Agents::scripts(Listing::one("greedy", about, Arc::new(greedy))) }
}

/// Games from rules in words and pictures.
pub(crate) struct Words;

/// Random games in parallel lanes.
pub(crate) struct Parallel;

/// Implements [`Kit`](adept_game::Kit) for a game from rules.
macro_rules! kit {
    ($game:ty) => {
        impl adept_game::Kit for $game {
            fn card(&self) -> adept_game::Card {
                $crate::kit::card(self)
            }

            fn results(&self) -> adept_game::Results<Self> {
                adept_game::Results::of(Self::classes)
            }

            fn action_numbers(&self) -> adept_game::Numbering<Self> {
                adept_game::Numbering::new(self.acts(), |_, _, &action| action as usize)
            }

            fn texts(&self) -> &dyn adept_game::Texts<Self> {
                &$crate::kit::Words
            }

            fn encoders(&self) -> adept_game::Encoders<'_, Self> {
                $crate::encoders::encoders(self)
            }

            fn agents(&self) -> adept_game::Agents<'_, Self> {
                $crate::kit::agents(self)
            }

            fn is_small(&self) -> bool {
                self.states().is_some()
            }

            fn rule_text(&self) -> Option<&dyn adept_game::RuleText> {
                Some(self)
            }

            fn random_play(&self) -> &dyn adept_game::RandomPlay<Self> {
                &$crate::kit::Parallel
            }
        }
    };
}
pub(crate) use kit;
