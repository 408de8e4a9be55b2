//! Impossible classes of outcomes have no probability for any user of a network, and all users agree.

use adept_arena::Luck;
use adept_arena::rollout::{Options, roll_out};
use adept_arena::search::{Budget, Search, SearchOptions};
use adept_arena::{Decision, Evaluator, GameModel, OpenError, Screen, Screened, Successors, inspect, open};
use adept_builtin::backgammon::{Backgammon, State};
use adept_game::{Afterstate, Game, OutcomeMask, Turn, outcome_classes, possible_outcomes, stream};
use adept_model::{Architecture, Head, NumberFormat, Optimiser, QuantisedNetwork, Rows, Samples, build};
use rand::seq::IndexedRandom;

fn head(game: &Backgammon) -> Head {
    Head::Outcomes(outcome_classes(game).unwrap())
}

/// An untrained network, whose classes are all probable.
fn network(game: &Backgammon) -> GameModel<Backgammon> {
    network_of(game, r#"{"mlp": {"hidden": [32, 16]}}"#)
}

fn network_of(game: &Backgammon, architecture: &str) -> GameModel<Backgammon> {
    let encoder = open::encoder(game, Some("points")).unwrap();
    let architecture: Architecture = serde_json::from_str(architecture).unwrap();
    let mut rng = stream(3, "test", 0);
    let learner =
        build(&architecture, encoder.channels(), &head(game), Optimiser::default(), &mut rng).unwrap();
    GameModel::new(game, encoder, learner)
}

fn possible(game: &Backgammon, state: &State, player: usize) -> OutcomeMask {
    possible_outcomes(game, &outcome_classes(game).unwrap(), state, player)
}

/// Checks a distribution: a sum of 1, nothing for impossible classes, something for each of the others.
fn check(p: &[f32], possible: OutcomeMask) {
    assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{p:?}");
    assert!(p.iter().enumerate().all(|(k, p)| (*p > 0.0) == possible.allows(k)), "{p:?} {possible:?}");
}

/// The state with a roll, from the view of the side that moves, of both players.
fn decisions(game: &Backgammon, text: &str) -> [State; 2] {
    let state = game.parse_position(text).unwrap().0;
    let other = State { sides: [state.sides[1], state.sides[0]], player: 1, ..state };
    [state, other]
}

/// Positions with a roll: a gammon is possible for nobody, for the other side, for the side to move, for both; the last is contact.
const POSITIONS: [&str; 6] = [
    "6:4 5:2 3:1 off:8/6:3 2:2 off:10 31",
    "6:4 5:2 3:1 off:8/10:3 6:10 2:2 31",
    "10:3 6:10 2:2/6:3 2:2 off:10 31",
    "10:3 6:10 2:2/9:3 6:10 2:2 31",
    "21:1 10:2 6:10 2:2/3:3 2:2 off:10 31",
    "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5 31",
];

#[test]
fn no_user_gives_impossible_outcomes_a_probability() {
    let game = Backgammon::default();
    let classes = outcome_classes(&game).unwrap();
    let (mut bound, mut bare) = (network(&game), network(&game));
    let options = || SearchOptions::from(Budget::Plies(2));
    let mut search = Search::new(&game, network(&game), options());
    let screen = Screen::new(&game, network(&game), 3).unwrap();
    let mut screened = Screened::new(screen, network(&game));
    let (mut restricted, mut whole) = (0, 0);
    for state in POSITIONS.iter().flat_map(|text| decisions(&game, text)) {
        let at = Decision::new(&game, &state, state.player);
        let found = bound.weighed(at);
        let (actions, values) = (found.actions.clone(), found.values.clone());
        let mut again = Vec::new();
        screened.values(at, &actions, &mut again);
        let most = |values: &[f32]| values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        assert!((most(&values) - most(&again)).abs() < 1e-5);
        search.search(at, &actions);
        for (i, action) in actions.iter().enumerate() {
            let mut after = state;
            game.apply(&mut after, action);
            let mask = possible(&game, &after, at.player);
            // One row after the other, without the game, and then with it.
            let rows = bare.encode(&game, &after, Some(action), at.player);
            let (mut raw, mut own, mut sought) = (Vec::new(), Vec::new(), Vec::new());
            bare.model.outputs(&rows, &mut raw);
            check(&raw, OutcomeMask::ALL);
            bare.outcomes(at, action, &mut own);
            check(&own, mask);
            match mask.is_all() {
                true => whole += 1,
                false => restricted += 1,
            }
            mask.restrict(&mut raw);
            assert!(raw.iter().zip(&own).all(|(a, b)| (a - b).abs() < 1e-6), "{raw:?} {own:?}");
            let value: f32 = own.iter().zip(&classes).map(|(p, class)| p * class.utility).sum();
            assert!((value - values[i]).abs() < 1e-5, "{value} {}", values[i]);
            search.outcomes_after(at, action, &mut sought);
            let beyond = sought.iter().enumerate().any(|(k, p)| !mask.allows(k) && *p != 0.0);
            assert!(!beyond && (sought.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{sought:?}");
        }
    }
    assert!(restricted > 40 && whole > 10, "{restricted} {whole}");
}

/// Experts are restricted as the network is, in each layer of a mixture.
#[test]
fn experts_give_impossible_outcomes_no_probability() {
    let game = Backgammon::default();
    let expert = r#"{"mlp": {"hidden": [8]}}"#;
    let inner = format!(r#"{{"meta_pi": {{"experts": 2, "expert": {expert}}}}}"#);
    let mut bound = network_of(&game, &format!(r#"{{"hme": {{"experts": 2, "expert": {inner}}}}}"#));
    let (mut actions, mut restricted) = (Vec::new(), 0);
    for state in POSITIONS.iter().flat_map(|text| decisions(&game, text)) {
        let at = Decision::new(&game, &state, state.player);
        game.actions(&state, &mut actions);
        for action in actions.iter().take(5) {
            let mut after = state;
            game.apply(&mut after, action);
            let mask = possible(&game, &after, at.player);
            let Some(found) = bound.explain(at, action) else { continue };
            let experts: Vec<_> = found.experts.iter().flatten().collect();
            let leaves: Vec<_> = experts.iter().flat_map(|expert| expert.experts.iter().flatten()).collect();
            assert_eq!((experts.len(), leaves.len()), (2, 4));
            for node in [&found].into_iter().chain(experts).chain(leaves) {
                check(&node.outcomes, mask);
                assert!((node.value - bound.model.head().value_of(&node.outcomes)).abs() < 1e-6);
            }
            restricted += usize::from(!mask.is_all());
        }
    }
    assert!(restricted > 20, "{restricted}");
}

/// Reports name both sides' chances: before a roll for the side that rolls, and at a decision for the side that moves.
#[test]
fn reports_have_no_impossible_outcomes() {
    let game = Backgammon::default();
    let mut bound = network(&game);
    let mut told = |text: &str| {
        let read = game.parse_position(text).unwrap();
        let report =
            inspect::inspect(&game, &mut bound, &read, text.into(), inspect::Detail::default()).unwrap();
        let p: Vec<f32> = report.chances.0.iter().map(|(_, p)| *p).collect();
        let value: f32 = p.iter().zip([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]).map(|(p, u)| p * u / 3.0).sum();
        assert!((value - report.value).abs() < 1e-5 && (p.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        let mut values = Vec::new();
        inspect::values(&game, &mut bound, &[read], &mut values).unwrap();
        assert!((values[0] - report.value).abs() < 1e-6);
        p.iter().map(|p| *p > 0.0).collect::<Vec<_>>()
    };
    // The side to roll has checkers off, and then its opponent.
    let own = [false, false, true, true, true, false];
    let other = [false, true, true, true, false, false];
    assert_eq!(told("6:4 5:2 3:1 off:8/10:3 6:10 2:2"), own);
    assert_eq!(told("10:3 6:10 2:2/6:4 5:2 3:1 off:8"), other);
    assert_eq!(told("6:4 5:2 3:1 off:8/10:3 6:10 2:2 31"), own);
    assert_eq!(told("10:3 6:10 2:2/6:4 5:2 3:1 off:8 31"), other);
}

/// Targets of one-step backups, luck and rollouts follow from restricted distributions.
#[test]
fn targets_luck_and_rollouts_have_no_impossible_outcomes() {
    let game = Backgammon::default();
    let mut bound = network(&game);
    let mut found = Successors::new(&game, &*bound.model);
    let mut luck = Luck::of_model(&game, network(&game));
    let mut single = Luck::of(Box::new(network(&game)));
    for text in &POSITIONS[..5] {
        let text = text.strip_suffix(" 31").unwrap();
        let state = game.parse_position(text).unwrap().0;
        let mut target = Vec::new();
        found.expand(&game, &**bound.encoder(), &state).unwrap();
        found.evaluate(&mut *bound.model);
        found.expectation(&mut target);
        let none = |p: &[f32], mask: OutcomeMask| (0..6).all(|k| mask.allows(k) || p[k] == 0.0);
        assert!(none(&target, possible(&game, &state, 1)), "{text}: {target:?}");
        luck.judge(&game, &state).unwrap();
        single.judge(&game, &state).unwrap();
        for (many, one) in luck.distributions().chunks(6).zip(single.distributions().chunks(6)) {
            assert!(none(many, possible(&game, &state, 0)), "{text}: {many:?}");
            assert!(many.iter().zip(one).all(|(a, b)| (a - b).abs() < 1e-5), "{many:?} {one:?}");
        }
        let options = Options { trials: 36, truncate: Some(2), seed: 1 };
        let make = || Ok::<_, OpenError>(Luck::of_model(&game, network(&game)));
        let sums =
            roll_out(&game, &make, (&state, 0), &options, Default::default(), &|| false, &mut |_| Ok(()))
                .unwrap();
        let shares: Vec<f32> = sums.classes.iter().map(|class| class.mean() as f32).collect();
        assert!(none(&shares, possible(&game, &state, 0)), "{text}: {shares:?}");
    }
}

/// Positions of random games, each with the player who moved last.
fn positions(game: &Backgammon, count: usize) -> Vec<State> {
    let (mut rng, mut actions, mut all) = (stream(5, "positions", 0), Vec::new(), Vec::new());
    while all.len() < count {
        let mut state = game.start();
        while game.turn(&state) != Turn::Over && all.len() < count {
            match game.turn(&state) {
                Turn::Player(_) => {
                    game.actions(&state, &mut actions);
                    game.apply(&mut state, actions.choose(&mut rng).unwrap());
                    if game.turn(&state) != Turn::Over {
                        all.push(state);
                    }
                }
                _ => {
                    let roll = game.sample(&state, &mut rng);
                    game.apply(&mut state, &roll);
                }
            }
        }
    }
    all
}

/// Quantised networks give impossible classes the probability 0, as the network in floats does.
#[test]
fn quantised_networks_are_restricted_too() {
    let game = Backgammon::new(3).unwrap();
    let mut bound = network(&game);
    let states = positions(&game, 400);
    let mut samples = Samples::new(bound.model.channels());
    for state in &states {
        let after = Afterstate { state, action: None, player: game.just_acted(state).unwrap() };
        bound.encoder().encode(&game, after, samples.rows.push());
    }
    let program = bound.model.program().unwrap().clone();
    let flat = program.parameters_in(&bound.model.tensors().unwrap()).unwrap();
    let rows: &Rows = &samples.rows;
    let (mut values, mut outcomes) = (Vec::new(), Vec::new());
    bound.afterstates(&game, &states, &mut values, &mut outcomes);
    let masks: Vec<OutcomeMask> =
        states.iter().map(|s| possible(&game, s, game.just_acted(s).unwrap())).collect();
    assert!(masks.iter().filter(|mask| !mask.is_all()).count() > 30);
    outcomes.chunks(6).zip(&masks).for_each(|(p, mask)| check(p, *mask));
    for (format, near) in [(NumberFormat::Int8, 0.05), (NumberFormat::Bf16, 0.02)] {
        let network = QuantisedNetwork::convert(format, program.clone(), &flat, rows).unwrap();
        let mut fast = GameModel::new(&game, bound.encoder().clone(), Box::new(network));
        let (mut own, mut spread) = (Vec::new(), Vec::new());
        fast.afterstates(&game, &states, &mut own, &mut spread);
        spread.chunks(6).zip(&masks).for_each(|(p, mask)| check(p, *mask));
        assert!(outcomes.iter().zip(&spread).all(|(a, b)| (a - b).abs() < near));
        assert!(values.iter().zip(&own).all(|(a, b)| (a - b).abs() < near));
    }
}
