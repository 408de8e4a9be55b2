//! One-step expectations in games in which a player moves several times in a row.

use adept_arena::{Decision, Evaluator, GameModel, Successors};
use adept_builtin::declared::Declared;
use adept_game::{Game, Kit, Turn, stream};
use adept_model::{Architecture, Head, Optimiser, build};
use rand::RngExt;

/// The best that the player to move gets, or the first player at the end, for that player; the player.
fn best(game: &Declared, bound: &mut GameModel<Declared>, state: &<Declared as Game>::State) -> (f64, usize) {
    let player = match game.turn(state) {
        Turn::Player(player) => player,
        Turn::Over => return (game.utility(state, 0) / game.scale(), 0),
        Turn::Chance => panic!("two outcomes in a row"),
    };
    let (mut actions, mut values) = (Vec::new(), Vec::new());
    game.actions(state, &mut actions);
    bound.values(Decision::new(game, state, player), &actions, &mut values);
    (values.into_iter().map(f64::from).fold(f64::NEG_INFINITY, f64::max), player)
}

#[test]
fn an_expectation_has_the_sign_of_who_moves_next() {
    for name in ["pig", "dots-and-boxes", "small-backgammon"] {
        let game = Declared::named(&format!("declared:{name}")).unwrap().unwrap();
        let encoder = game.encoders().open("bits").unwrap();
        let mlp: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [6]}}"#).unwrap();
        let mut rng = stream(2, "test", 0);
        let learner = build(&mlp, encoder.channels(), &Head::Value, Optimiser::default(), &mut rng).unwrap();
        let mut bound = GameModel::new(&game, encoder.clone(), learner);
        let mut found = Successors::new(&game, &*bound.model);
        let (mut stays, mut passes) = (0, 0);
        for _ in 0..20 {
            let (mut state, mut actions, mut outcomes) = (game.start(), Vec::new(), Vec::new());
            while game.turn(&state) != Turn::Over {
                if let Some(actor) = game.just_acted(&state) {
                    let mut branches = Vec::new();
                    match game.turn(&state) {
                        Turn::Chance => {
                            assert!(game.outcomes(&state, &mut outcomes));
                            for (outcome, p) in &outcomes {
                                let mut next = state.clone();
                                game.apply(&mut next, outcome);
                                branches.push((*p, next));
                            }
                        }
                        _ => branches.push((1.0, state.clone())),
                    }
                    let mut mean = 0.0;
                    for (p, next) in &branches {
                        let (value, player) = best(&game, &mut bound, next);
                        mean += p * if player == actor { value } else { -value };
                        *(if player == actor { &mut stays } else { &mut passes }) += 1;
                    }
                    found.expand(&game, &*encoder, &state).unwrap();
                    found.evaluate(&mut *bound.model);
                    let mut target = Vec::new();
                    found.expectation(&mut target);
                    assert!(
                        (f64::from(target[0]) - mean).abs() < 1e-6,
                        "{name}: {target:?} instead of {mean}"
                    );
                }
                let action = match game.turn(&state) {
                    Turn::Chance => game.sample(&state, &mut rng),
                    _ => {
                        game.actions(&state, &mut actions);
                        actions[rng.random_range(0..actions.len())]
                    }
                };
                game.apply(&mut state, &action);
            }
        }
        assert!(stays > 20 && passes > 20, "{name}: {stays} {passes}");
    }
}
