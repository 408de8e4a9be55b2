//! Tables that stand for a network where they know the value: in play, as targets, in explanations and in luck.

use adept_arena::{Decision, Evaluator, GameModel, Successors, inspect, open};
use adept_builtin::backgammon::Backgammon;
use adept_game::{Afterstate, Game, Kit, Stream, Turn, outcome_classes, stream};
use adept_model::{Architecture, Head, Optimiser, build};

const TABLES: &str = "points+known:bearoff-2+known:race-8";

/// A network that has not learned, with an encoder of this name.
fn network(game: &Backgammon, encoder: &str, head: Head) -> GameModel<Backgammon> {
    let encoder = open::encoder(game, Some(encoder)).unwrap();
    let architecture: Architecture = serde_json::from_str(r#"{"mlp": {"hidden": [8]}}"#).unwrap();
    let learner =
        build(&architecture, encoder.channels(), &head, Optimiser::default(), &mut stream(1, "net", 0));
    GameModel::new(game, encoder, learner.unwrap())
}

fn classes(game: &Backgammon) -> Head {
    Head::Outcomes(outcome_classes(game).unwrap())
}

/// The value and classes that the tables have after an action, if they know it.
fn table(
    game: &Backgammon,
    at: Decision<'_, Backgammon>,
    action: &<Backgammon as Game>::Action,
) -> Option<(f32, Vec<f32>)> {
    let mut after = *at.state;
    game.apply(&mut after, action);
    let after = Afterstate { state: &after, action: Some(action), player: at.player };
    ["bearoff-2", "race-8"].iter().find_map(|name| {
        let table = game.values().tables.open(name).unwrap().unwrap();
        let mut outcomes = Vec::new();
        table.tell(game, after, &mut outcomes).map(|value| (value as f32, outcomes))
    })
}

/// Calls `visit` with the decisions of random games.
fn decisions(game: &Backgammon, games: u64, mut visit: impl FnMut(Decision<'_, Backgammon>)) {
    let mut actions = Vec::new();
    for number in 0..games {
        let (mut state, mut rng): (_, Stream) = (game.start(), stream(3, "games", number));
        loop {
            match game.turn(&state) {
                Turn::Over => break,
                Turn::Chance => {
                    let roll = game.sample(&state, &mut rng);
                    game.apply(&mut state, &roll);
                }
                Turn::Player(player) => {
                    visit(Decision::new(game, &state, player));
                    game.actions(&state, &mut actions);
                    let action = actions[number as usize % actions.len()];
                    game.apply(&mut state, &action);
                }
            }
        }
    }
}

#[test]
fn known_values_stand_for_those_of_the_network() {
    let game = Backgammon::new(3).unwrap();
    let mut plain = network(&game, "points", classes(&game));
    let mut knowing = network(&game, TABLES, classes(&game));
    assert_eq!(plain.model.channels(), knowing.model.channels());
    let (mut known, mut unknown) = (0, 0);
    decisions(&game, 200, |at| {
        let (mut actions, mut values, mut own) = (Vec::new(), Vec::new(), Vec::new());
        knowing.weigh(at, &mut actions, &mut values);
        plain.values(at, &actions, &mut own);
        for (i, action) in actions.iter().enumerate() {
            let mut outcomes = Vec::new();
            knowing.outcomes(at, action, &mut outcomes);
            match table(&game, at, action) {
                Some((value, classes)) => {
                    assert_eq!((values[i], &outcomes), (value, &classes));
                    known += 1;
                }
                None => {
                    assert!((values[i] - own[i]).abs() < 1e-5, "{} {}", values[i], own[i]);
                    unknown += 1;
                }
            }
        }
    });
    assert!(known > 100 && unknown > 500, "{known} {unknown}");
}

/// A head of values takes the table's value, and the report of a position too.
#[test]
fn reports_and_values_of_positions_take_known_values() {
    let game = Backgammon::default();
    let mut knowing = network(&game, TABLES, Head::Value);
    let text = "8:3 1:12/6:10 3:5";
    let position = game.parse_position(text).unwrap();
    let race = game.values().tables.open("race-8").unwrap().unwrap();
    let exact = race.value(&game, Afterstate { state: &position.0, action: None, player: 0 });
    let mut values = Vec::new();
    inspect::values(&game, &mut knowing, std::slice::from_ref(&position), &mut values).unwrap();
    assert!((f64::from(values[0]) - exact).abs() < 1e-6);
    let report =
        inspect::inspect(&game, &mut knowing, &position, text.into(), inspect::Detail::default()).unwrap();
    assert!((f64::from(report.value) - exact).abs() < 1e-6);
}

/// The target of a race is that of the table: the mean over the rolls of its best results. Games end where tables know the value.
#[test]
fn targets_come_from_tables() {
    let game = Backgammon::new(3).unwrap();
    let mut knowing = network(&game, TABLES, classes(&game));
    let mut found = Successors::new(&game, &*knowing.model);
    let state = game.parse_position("8:1 3:2/6:1 3:2").unwrap().0;
    found.expand(&game, &**knowing.encoder(), &state).unwrap();
    found.evaluate(&mut *knowing.model);
    let mut target = Vec::new();
    found.expectation(&mut target);
    let race = game.values().tables.open("race-8").unwrap().unwrap();
    let mut table = Vec::new();
    let after = Afterstate { state: &state, action: None, player: 1 };
    assert!(race.tell(&game, after, &mut table).is_some());
    // The play of the table is not quite the best.
    for (target, table) in target.iter().zip(&table) {
        assert!((target - table).abs() < 0.02, "{target} {table}");
    }
    assert!(found.draw(0.0, &mut stream(1, "draw", 0)).is_none());
}

#[test]
fn wrong_tables_are_refused() {
    let game = Backgammon::default();
    let error = |name: &str| open::encoder(&game, Some(name)).err().unwrap().to_string();
    assert!(error("points+known:nothing").contains("it has race-6, race-8"));
    assert!(error("points+known:oracle").contains("no table `oracle`"));
    assert!(error("known:race-8").contains("put one before it"));
    assert_eq!(open::encoder(&game, Some("points+known:race-6")).unwrap().name(), "points+known:race-6");
}
