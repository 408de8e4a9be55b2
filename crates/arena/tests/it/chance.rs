//! Agents and exact measurement in a game of dice, the bear-off.

use adept_arena::{Agent, BestResponse, ExactError, Random, equity, expected_utilities, open};
use adept_builtin::bearoff::{Bearoff, State};
use adept_game::Game;

fn at(text: &str) -> State {
    Bearoff::default().parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn random() -> Box<dyn Agent<Bearoff>> {
    Box::new(Random)
}

/// If no player has a choice, every agent gets the known value for the player to roll.
#[test]
fn dice_are_gone_through_exactly() {
    let game = Bearoff::default();
    for (position, expected) in [
        ("1,0,0,0,0,0/1,0,0,0,0,0", 1.0),
        ("0,0,0,0,0,1/1,0,0,0,0,0", 0.5),
        ("0,0,0,0,0,1/0,0,0,0,0,1", 0.625),
        ("4,0,0,0,0,0/4,0,0,0,0,0", 0.722_222_222),
        ("3,0,0,0,0,0/2,0,0,0,0,0", -0.666_666_667),
    ] {
        let found = expected_utilities(&game, &at(position), &mut [random(), random()]).expect("it is small");
        assert!((found[0] - expected).abs() < 1e-9 && found[0] == -found[1], "{position}: {found:?}");
    }
}

#[test]
fn what_needs_the_whole_game_is_refused_with_the_reason() {
    let game = Bearoff::default();
    assert_eq!(equity(&game, &mut Random, &mut Random), Err(ExactError::Chance));
    assert_eq!(BestResponse::solve(&game, random()).map(|_| ()), Err(ExactError::Chance));
    let refusal = |text: &str| open::agent(&game, text).map(|_| ()).expect_err(text).to_string();
    assert_eq!(refusal("minimax"), "bearoff has chance; minimax needs a game without chance");
    assert_eq!(refusal("optimal:random"), ExactError::Chance.to_string());
    assert_eq!(
        refusal("ttt"),
        "`ttt` is not an agent of bearoff and not a checkpoint; agents are oracle, oracle-32, convolution, \
         normal, kleinman, random, playouts:N, uct:N and any checkpoint folder"
    );
}
