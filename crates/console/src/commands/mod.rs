//! The commands; each file has one command or a group of related ones.

use adept_lab::{AnyGame, Catalogue};
use std::sync::Arc;

pub(crate) mod arena;
pub(crate) mod bench;
pub(crate) mod compare;
pub(crate) mod config;
pub(crate) mod data;
pub(crate) mod decisions;
pub(crate) mod evaluate;
pub(crate) mod exchange;
pub(crate) mod list;
pub(crate) mod measure;
pub(crate) mod play;
pub(crate) mod quiz;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod review;
mod review_sgf;
pub(crate) mod rollout;
pub(crate) mod rules;
mod session;
pub(crate) mod shell;
pub(crate) mod solve;
pub(crate) mod sweep;
pub(crate) mod train;

/// The games that have an agent of this name.
fn games_with(games: &dyn Catalogue, agent: &str) -> Vec<Arc<dyn AnyGame>> {
    let all = games.names().into_iter().filter_map(|name| games.find(&name).ok());
    // All games know `minimax`; small ones can play it.
    all.filter(|game| game.is_agent(agent) && (agent != "minimax" || game.info().is_small)).collect()
}
