//! Agents that choose moves until a deadline, and the handle that stops them.

use adept_arena::naming::{self, AnySearch};
use adept_arena::{Agent, Decision, Evaluator, PlayoutAgent, Playouts, Scratch};
use adept_builtin::gdl::Described;
use adept_game::{GameError, Stream, no_action};
use adept_ground::limits;
use adept_trainer::run::Cancel;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Strategies of choosing moves.
pub(super) enum Chooser {
    /// Random games until the time is over.
    Clock(Box<PlayoutAgent<Described>>),
    /// A search until the time is over.
    Search(Box<AnySearch<Described>>),
    /// Another agent, which ignores the clock.
    Other(Box<dyn Agent<Described>>),
}

impl Chooser {
    /// Tree search with the clock.
    pub(super) fn clock(game: &Described) -> Result<Self, String> {
        Playouts::until_stopped()
            .open(game)
            .map(|agent| Self::Clock(Box::new(agent)))
            .map_err(|e| e.to_string())
    }

    /// The agent with this name. `search:clock:NAME`, a search with a network, uses all available time.
    pub(super) fn named(game: &Described, name: &str) -> Result<Self, String> {
        let by_clock =
            name.strip_prefix("search:clock:").map(|of| format!("search:{}ms:{of}", limits::SEARCH_MS));
        let found =
            naming::resolve(game, by_clock.as_deref().unwrap_or(name), &[]).map_err(|e| e.to_string())?;
        if by_clock.is_some()
            && let Some(search) = naming::evaluator(game, &found, false).map_err(|e| e.to_string())?
        {
            return Ok(Self::Search(Box::new(search)));
        }
        naming::build(game, &found, false).map(Self::Other).map_err(|e| e.to_string())
    }

    pub(super) fn choose(
        &mut self,
        at: Decision<'_, Described>,
        until: Instant,
        rng: &mut Stream,
    ) -> Result<u32, GameError> {
        let mut scratch = Scratch::default();
        match self {
            Self::Clock(agent) => {
                agent.until = Some(until);
                agent.choose(at, &mut scratch, rng)
            }
            Self::Search(search) => {
                search.until = Some(until);
                let (mut actions, mut values) = (Vec::new(), Vec::new());
                search.weigh(at, &mut actions, &mut values);
                let best = values.iter().zip(&actions).max_by(|a, b| a.0.total_cmp(b.0));
                best.map(|(_, action)| *action).ok_or_else(|| no_action(at.game, at.state, at.player))
            }
            Self::Other(agent) => agent.choose(at, &mut scratch, rng),
        }
    }
}

/// Handle that stops all work for a match.
#[derive(Clone, Default)]
pub(super) struct Stop {
    /// Stops reading the rules and the current decision.
    pub(super) thought: Arc<AtomicBool>,
    /// Stops the learning run.
    pub(super) learning: Cancel,
}

impl Stop {
    /// Stops all work.
    pub(super) fn end(&self) {
        self.thought.store(true, Ordering::Relaxed);
        self.learning.cancel();
    }
}
