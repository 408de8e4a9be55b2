//! What differs between the two rule languages for the commands.

use crate::counting::count_states;
use crate::indices::Indices;
use crate::modules::Structure;
use adept_game::{Afterstate, Channel, Game, GameError, Kit, OutcomeClass};
use smallvec::SmallVec;
use std::sync::{Arc, OnceLock};

/// Data of a game that is computed once, on demand.
#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    /// Number of states, if the game is small.
    pub(crate) states: OnceLock<Option<usize>>,
    /// Input of the encoder `rules`, or why there is none.
    pub(crate) structure: OnceLock<Result<Arc<Structure>, String>>,
    /// Input of the encoder `indices`.
    pub(crate) indices: OnceLock<Arc<Indices>>,
}

/// A game from rules in either language.
pub(crate) trait Ruled: Kit + Game<Action = u32> {
    /// What the encoder `bits` is.
    const BITS: &'static str;

    /// The facts of a position as a player sees them.
    type Seen<'a>: AsRef<[u64]>;

    /// What is computed once, on demand.
    fn on_demand(&self) -> &OnDemand;

    /// Number of gates and facts that a move reads.
    fn cost(&self) -> usize;

    /// One-line description for lists.
    fn about(&self) -> String;

    /// The classes of results.
    fn classes(&self) -> Result<Vec<OutcomeClass>, GameError>;

    /// Number of moves of all players.
    fn acts(&self) -> usize;

    /// Name and arguments of each fact.
    fn named_facts(&self) -> Vec<(String, Vec<String>)>;

    /// The structure of the rules as modules, or why there is none.
    fn modules(&self) -> Result<Structure, String>;

    /// The facts of a position as a player sees them.
    fn seen<'a>(&self, state: &'a Self::State, player: usize) -> Self::Seen<'a>;

    /// Channels of the encoder `bits` beside the facts. Their bits are the [`marks`](Self::marks).
    fn further_channels(&self) -> Vec<Channel>;

    /// The bits beside the facts that are set.
    fn marks(&self, after: Afterstate<'_, Self>) -> SmallVec<[usize; 2]>;

    /// What a key of a position is made of beside the facts.
    fn key(&self, after: Afterstate<'_, Self>) -> SmallVec<[u64; 2]>;

    /// The channel of the encoder `rules` beside the modules. Its bits are the [`marks`](Self::marks).
    fn turn_channel(&self) -> Option<Channel> {
        None
    }

    /// Whether a state may come back, so that the game cannot be measured exactly.
    fn may_return(&self) -> bool {
        false
    }

    /// Whether the starter config measures against perfect play, which is known for two players without chance.
    fn has_perfect_play(&self) -> bool {
        true
    }

    /// The number of states, if they are few and none comes back.
    fn states(&self) -> Option<usize> {
        if self.may_return() {
            return None;
        }
        *self.on_demand().states.get_or_init(|| count_states(self, self.cost()))
    }

    /// The structure of the rules, computed on demand, or why there is none.
    fn structure(&self) -> &Result<Arc<Structure>, String> {
        let read = || self.modules().map(Arc::new).map_err(|e| format!("{}: {e}", self.name()));
        self.on_demand().structure.get_or_init(read)
    }
}
