//! A game that comes back to its states cannot be measured exactly.

use adept_arena::grade::{shares, worst};
use adept_arena::{BestResponse, ExactError, Minimax, Random, equity};
use adept_game::{Game, GameError, Turn};

/// Players pass a ball to each other, or end the game.
struct Passing;

impl Game for Passing {
    type State = Option<usize>;
    type Action = bool;
    type Info = Option<usize>;

    fn name(&self) -> &str {
        "passing"
    }

    fn players(&self) -> usize {
        2
    }

    fn start(&self) -> Self::State {
        Some(0)
    }

    fn turn(&self, state: &Self::State) -> Turn {
        state.map_or(Turn::Over, Turn::Player)
    }

    fn actions(&self, _: &Self::State, actions: &mut Vec<bool>) {
        *actions = vec![true, false];
    }

    fn apply(&self, state: &mut Self::State, action: &bool) {
        *state = state.filter(|_| *action).map(|player| 1 - player);
    }

    fn outcomes(&self, _: &Self::State, _: &mut Vec<(bool, f64)>) -> bool {
        true
    }

    fn utility(&self, _: &Self::State, _: usize) -> f64 {
        0.0
    }

    fn info(&self, state: &Self::State, _: usize) -> Self::Info {
        *state
    }

    fn position_text(&self, state: &Self::State) -> String {
        format!("{state:?}")
    }

    fn parse_position(&self, text: &str) -> Result<(Self::State, Option<bool>), GameError> {
        Err(GameError::new(text))
    }

    fn action_text(&self, _: &Self::State, action: &bool) -> String {
        action.to_string()
    }
}

#[test]
fn a_game_without_end_is_refused() {
    let too_long = |found: Result<(), ExactError>| match found {
        Err(ExactError::Depth(most)) => assert!(most > 1_000),
        other => panic!("{other:?}"),
    };
    too_long(equity(&Passing, &mut Random, &mut Random).map(drop));
    too_long(Minimax::solve(&Passing).map(drop));
    too_long(BestResponse::solve(&Passing, Box::new(Random)).map(drop));
    too_long(shares(&Passing, &mut Random, &mut Random, 0).map(drop));
    too_long(worst(&Passing, &mut Random).map(drop));
}
