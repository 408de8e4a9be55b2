//! Exact values and utilities of a game whose states can all be walked through.

use adept_arena::{self as arena, BestResponse, ExactError, OpenError, open};
use adept_erased::erased;
use adept_game::{Kit, has_public_tree};
use std::any::Any;

/// Exact measures of a game. Errors say which game was refused, and why.
#[erased(pub trait ExactOps)]
impl<G: Kit> ExactOps for G {
    /// The value of optimal play by all from a state of the game, for the first player.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] if the game is not small, not of two players with zero sum, or hides information.
    fn minimax(&self, state: &dyn Any) -> Result<f64, OpenError> {
        if !self.zero_sum() || self.hides() {
            return Err(OpenError::Unknown(format!(
                "{}: minimax needs a game of two players with zero sum in which nothing is hidden",
                self.name()
            )));
        }
        needs_small(self, "minimax")?;
        let state =
            state.downcast_ref().ok_or_else(|| OpenError::Unknown("a state of another game".into()))?;
        arena::optimal_value(self, state).map_err(of_game(self))
    }

    /// The utility of each player, with these agents in the seats.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] if the game is not small, or has another number of players; errors of opening.
    fn equity(&self, agents: &[String]) -> Result<Vec<f64>, OpenError> {
        needs_small(self, "exact equity")?;
        if agents.len() != self.players() {
            return Err(OpenError::Unknown(format!(
                "{} agents for {} players of {}: name one for each seat",
                agents.len(),
                self.players(),
                self.name()
            )));
        }
        let mut agents =
            agents.iter().map(|name| open::agent(self, name)).collect::<Result<Vec<_>, OpenError>>()?;
        arena::expected_utilities(self, &self.start(), &mut agents).map_err(of_game(self))
    }

    /// The utility of the best response in each seat to an agent in all others.
    ///
    /// # Errors
    /// [`OpenError::Unknown`] if the game is neither small nor has a public tree; errors of opening.
    fn best_responses(&self, agent: &str) -> Result<Vec<f64>, OpenError> {
        let agent = open::agent(self, agent)?;
        if self.hides() {
            if !has_public_tree(self) {
                needs_small(self, "a best response")?;
            }
            return arena::best_responses(self, agent).map_err(of_game(self));
        }
        needs_small(self, "a best response")?;
        let mut solved = BestResponse::solve(self, agent).map_err(of_game(self))?;
        let start = self.start();
        (0..self.players()).map(|seat| solved.value(self, &start, seat).map_err(of_game(self))).collect()
    }
}

/// Refuses a walk through all states of a game that is not small.
fn needs_small<G: Kit>(game: &G, what: &str) -> Result<(), OpenError> {
    match game.is_small() {
        true => Ok(()),
        false => Err(OpenError::Unknown(format!(
            "{what} walks through all states, and {} has too many, or is not said to be small",
            game.name()
        ))),
    }
}

/// The error with the name of the game.
fn of_game<G: Kit>(game: &G) -> impl Fn(ExactError) -> OpenError {
    move |error| OpenError::Unknown(format!("{}: {error}", game.name()))
}

#[cfg(test)]
mod tests {
    use super::ExactOps;
    use adept_builtin::backgammon::Backgammon;
    use adept_builtin::tictactoe::TicTacToe;
    use adept_game::Game;

    #[test]
    fn small_games_are_measured_exactly() {
        let game = TicTacToe;
        assert_eq!(game.minimax(&game.start()).unwrap(), 0.0);
        let found = game.equity(&["minimax", "random"].map(String::from)).unwrap();
        assert!(found[0] > 0.5 && (found[0] + found[1]).abs() < 1e-12, "{found:?}");
        assert_eq!(game.best_responses("minimax").unwrap(), [0.0, 0.0]);
    }

    #[test]
    fn other_games_are_refused_by_name() {
        let (small, large) = (TicTacToe, Backgammon::default());
        for (error, start) in [
            (large.minimax(&large.start()), "minimax walks through all states, and backgammon has too many"),
            (small.minimax(&"no state"), "a state of another game"),
        ] {
            let error = error.unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
        }
        let error = small.equity(&["random".into()]).unwrap_err().to_string();
        assert_eq!(error, "1 agents for 2 players of tictactoe: name one for each seat");
    }
}
