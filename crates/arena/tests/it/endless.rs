//! Games that break what measures need: one that comes back to its states, and one that leaves a player without an action.

use adept_arena::exact::{shares, worst};
use adept_arena::matches::{compete, orders};
use adept_arena::{Agent, BestResponse, ExactError, Minimax, Random, equity};
use adept_game::{Game, GameError, Turn};

/// Players pass a ball to each other, or end the game; or the second player has no action.
struct Passing {
    stuck: bool,
}

const ENDLESS: Passing = Passing { stuck: false };

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

    fn actions(&self, state: &Self::State, actions: &mut Vec<bool>) {
        *actions = if self.stuck && *state == Some(1) { vec![] } else { vec![true, false] };
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
    too_long(equity(&ENDLESS, &mut Random, &mut Random).map(drop));
    too_long(Minimax::solve(&ENDLESS).map(drop));
    too_long(BestResponse::solve(&ENDLESS, Box::new(Random)).map(drop));
    too_long(shares(&ENDLESS, &mut Random, &mut Random, 0).map(drop));
    too_long(worst(&ENDLESS, &mut Random).map(drop));
}

#[test]
fn a_player_without_an_action_is_an_error_of_the_rules() {
    let agents = || Ok::<Vec<Box<dyn Agent<Passing>>>, GameError>(vec![Box::new(Random), Box::new(Random)]);
    let game = Passing { stuck: true };
    let error = compete(&game, agents, &orders(&[1, 1]), 100, 1, || false).unwrap_err().to_string();
    assert!(error.contains("passing leave player 2 without an action in `Some(1)`"), "{error}");
    assert_eq!(compete(&ENDLESS, agents, &orders(&[1, 1]), 100, 1, || false).unwrap().games, 100);
}
