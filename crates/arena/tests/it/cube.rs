//! Networks of backgammon without the cube play it with the cube and in matches.

use adept_arena::{Agent, Decision, Evaluator, GameModel, Greedy, Scratch, inspect, open};
use adept_builtin::backgammon::cube::{Chances, CubeModel, CubeOwner, CubeValues, Scoring, Terms};
use adept_builtin::backgammon::{Action, Backgammon, Position, State};
use adept_game::{Game, stream};
use adept_model::{Head, Optimiser};
use std::path::Path;

fn network(game: &Backgammon) -> GameModel<Backgammon> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../checkpoints/backgammon/small-88-24");
    open::open_with(game, &folder, false, None).unwrap().0
}

fn named(name: &str) -> Backgammon {
    Backgammon::named(name).unwrap()
}

/// The chances of the side to roll by the network, in a game without the cube.
fn chances(position: Position) -> Chances {
    let game = Backgammon::default();
    let (mut values, mut outcomes) = (Vec::new(), Vec::new());
    network(&game).afterstates(&game, &[State::to_roll(position)], &mut values, &mut outcomes);
    let classes: [f32; 6] = outcomes.try_into().unwrap();
    Chances::of_classes(classes.map(f64::from)).other()
}

/// The values of all actions of the player to move.
fn values(game: &Backgammon, text: &str) -> Vec<(Action, f64)> {
    let state = game.parse_position(text).unwrap().0;
    let (mut actions, mut found) = (Vec::new(), Vec::new());
    let player = match game.turn(&state) {
        adept_game::Turn::Player(player) => player,
        turn => panic!("{text}: {turn:?}"),
    };
    network(game).weigh(Decision::new(game, &state, player), &mut actions, &mut found);
    actions.into_iter().zip(found.into_iter().map(f64::from)).collect()
}

/// A board that is far from symmetric: the side with capital letters is ahead, with gammons.
const BOARD: &str = "-aA-CCC-B---cC----b-dc-b--";

/// Each decision of the cube is worth what the model makes of the network's chances, for the side that makes it.
#[test]
fn decisions_have_the_values_of_the_model() {
    for (name, fields, terms) in [
        ("backgammon:money", "0:0:1:00:0:0:1:0:10", Terms::money(true)),
        ("backgammon:money-no-jacoby", "0:0:1:00:0:0:0:0:10", Terms::money(false)),
        (
            "backgammon:money",
            "1:1:1:00:0:0:1:0:10",
            Terms { cube: 2, owner: CubeOwner::Own, ..Terms::money(true) },
        ),
        (
            "backgammon:match-7",
            "0:0:1:00:2:4:0:7:10",
            Terms {
                cube: 1,
                owner: CubeOwner::Centred,
                scoring: Scoring::Match { away: [5, 3], crawford: false },
            },
        ),
        (
            "backgammon:match-7",
            "1:1:1:00:1:5:0:7:10",
            Terms {
                cube: 2,
                owner: CubeOwner::Own,
                scoring: Scoring::Match { away: [6, 2], crawford: false },
            },
        ),
    ] {
        let game = named(name);
        let text = format!("XGID={BOARD}:{fields}");
        let position = game.parse_position(&text).unwrap().0.position();
        let model = CubeModel::usual();
        let expected: CubeValues = model.values(position, chances(position), terms);
        // The value of an equity for the side to roll.
        let value = |equity: f64| match model.match_chance_of(equity, terms) {
            Some(chance) => 2.0 * chance - 1.0,
            None => equity * f64::from(terms.cube) / 192.0,
        };
        let found = values(&game, &text);
        let doubled = expected.double_take.unwrap().min(1.0);
        for (action, wanted) in [(Action::NoDouble, expected.no_double), (Action::Double, doubled)] {
            let of = found.iter().find(|(known, _)| *known == action).unwrap().1;
            assert!((of - value(wanted)).abs() < 1e-5, "{text} {action:?}: {of}, {}", value(wanted));
        }
        // The other side takes or drops.
        let offered = text.replace(":00:", ":D:");
        for (action, of) in values(&game, &offered) {
            let wanted = match action {
                Action::Take => expected.double_take.unwrap(),
                Action::Drop => 1.0,
                other => panic!("{other:?}"),
            };
            assert!((of + value(wanted)).abs() < 1e-5, "{offered} {action:?}: {of}, {}", -value(wanted));
        }
    }
}

/// People see the values of the model, for the player to roll, and what is right for the one who decides.
#[test]
fn positions_are_read_as_the_model_values_them() {
    let game = named("backgammon:match-7");
    let terms = Terms {
        cube: 1,
        owner: CubeOwner::Centred,
        scoring: Scoring::Match { away: [5, 3], crawford: false },
    };
    let model = CubeModel::usual();
    // A right double, and a wrong one.
    for (board, is_right) in [(BOARD, true), ("-b----E-C---eE---c-e----B-", false)] {
        for dice in ["00", "D"] {
            let text = format!("XGID={board}:0:0:1:{dice}:2:4:0:7:10");
            let at = inspect::read(&game, &[&text]).unwrap().pop().unwrap();
            let position = at.0.position();
            let expected = model.values(position, chances(position), terms);
            let detail = inspect::Detail::default();
            let found = inspect::inspect(&game, &mut network(&game), &at, text.clone(), detail).unwrap();
            let reading = found.reading.unwrap();
            let figure = |name: &str| reading.figures.iter().find(|(known, _)| *known == name).unwrap().1;
            let take = expected.double_take.unwrap();
            assert_eq!(expected.doubles(), is_right, "{expected:?}");
            let (value, advice) = match dice {
                "00" => (expected.value(), expected.action.words()),
                _ => (take.min(1.0), if take <= 1.0 { "take" } else { "pass" }),
            };
            assert_eq!(reading.advice, advice, "{text}");
            for (name, wanted) in [
                ("cubeless", expected.cubeless),
                ("no double", expected.no_double),
                ("double, take", take),
                ("double, pass", 1.0),
                ("win the game", chances(position).win()),
                ("win the match", model.match_chance_of(value, terms).unwrap()),
            ] {
                assert!((figure(name) - wanted).abs() < 1e-5, "{text} {name}: {}, {wanted}", figure(name));
            }
            assert!(figure("double from") < figure("pass from"));
        }
    }
}

/// A network that has learned a rule set with the cube itself is asked for its own value.
#[test]
fn own_networks_of_a_rule_set_with_the_cube_have_their_own_values() {
    let game = named("hypergammon:money");
    let encoder = open::encoder(&game, Some("points")).unwrap();
    let architecture = serde_json::from_str(r#"{ "mlp": { "hidden": [4] } }"#).unwrap();
    let mut rng = stream(3, "network", 0);
    let learner =
        adept_model::build(&architecture, encoder.channels(), &Head::Value, Optimiser::default(), &mut rng);
    let mut network = GameModel::new(&game, encoder, learner.unwrap());
    let state = game.parse_position("24:1 23:1 22:1/24:1 23:1 22:1 31").unwrap().0;
    let (mut actions, mut values) = (Vec::new(), Vec::new());
    network.weigh(Decision::new(&game, &state, 0), &mut actions, &mut values);
    assert!(values.iter().any(|value| *value != values[0]), "{values:?}");
}

/// A move is worth what the opponent's best decision leaves of it.
#[test]
fn moves_are_worth_what_the_best_answer_leaves() {
    let game = named("backgammon:match-3");
    let text = "XGID=-aA-CCC-B---cC----b-dc-b--:0:0:1:62:0:0:0:3:10";
    for (action, value) in values(&game, text) {
        let Action::Move(after) = action else { panic!("{action:?}") };
        let position = after.swapped();
        let terms = Terms {
            cube: 1,
            owner: CubeOwner::Centred,
            scoring: Scoring::Match { away: [3, 3], crawford: false },
        };
        let model = CubeModel::usual();
        let other = model.values(position, chances(position), terms);
        // Nearly the best decision: a share of the value without a double keeps moves in order after which the other cashes.
        let decided = 0.95 * other.value() + 0.05 * other.no_double;
        let chance = model.match_chance_of(decided, terms).unwrap();
        assert!((value + 2.0 * chance - 1.0).abs() < 1e-5, "{action:?}: {value} {chance}");
    }
}

/// Agents play whole matches to their end.
#[test]
fn matches_are_played_to_their_end() {
    for name in ["backgammon:match-3", "backgammon:money-beavers"] {
        let game = named(name);
        let mut agent = Greedy::new(network(&game));
        let (mut scratch, mut rng) = (Scratch::default(), stream(5, "cube", 0));
        let (mut doubles, mut games) = (0, 0);
        for _ in 0..3 {
            let mut state = game.start();
            loop {
                let action = match game.turn(&state) {
                    adept_game::Turn::Over => break,
                    adept_game::Turn::Chance => game.sample(&state, &mut rng),
                    adept_game::Turn::Player(player) => {
                        agent.choose(Decision::new(&game, &state, player), &mut scratch, &mut rng).unwrap()
                    }
                };
                doubles += usize::from(action == Action::Double);
                games += usize::from(matches!(action, Action::Opening(..)));
                game.apply(&mut state, &action);
            }
            assert_eq!(game.utility(&state, 0), -game.utility(&state, 1));
        }
        // A match to 3 points has several games, with few exceptions.
        let least = if name.contains("match") { 4 } else { 3 };
        assert!(doubles > 0 && games >= least, "{name}: {doubles} doubles in {games} games");
    }
}
