//! The decision that agents and evaluators are asked for.

use adept_game::Game;

/// A decision, as agents and evaluators are asked for it.
#[derive(Debug)]
pub struct Decision<'a, G: Game> {
    /// The rules.
    pub game: &'a G,
    /// The state, before the action.
    pub state: &'a G::State,
    /// The player to move.
    pub player: usize,
}

impl<'a, G: Game> Decision<'a, G> {
    /// The decision of `player` in this state.
    pub fn new(game: &'a G, state: &'a G::State, player: usize) -> Self {
        Self { game, state, player }
    }
}

/// The state after an action.
pub(crate) fn state_after<G: Game>(game: &G, state: &G::State, action: &G::Action) -> G::State {
    let mut after = state.clone();
    game.apply(&mut after, action);
    after
}

impl<G: Game> Clone for Decision<'_, G> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<G: Game> Copy for Decision<'_, G> {}
