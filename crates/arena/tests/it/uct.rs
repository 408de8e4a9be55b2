//! Agents of random games, against exact values.

use adept_arena::exact::expected_utilities;
use adept_arena::{Agent, Decision, Evaluator, Minimax, PlayoutAgent, Playouts, Random, Scratch};
use adept_builtin::declared::Declared;
use adept_builtin::gdl::Described;
use adept_builtin::liars_dice::LiarsDice;
use adept_builtin::tictactoe::TicTacToe;
use adept_game::{Game, Kit, Turn, stream};
use rustc_hash::FxHashSet;

fn agent<G: Kit>(game: &G, name: &str) -> PlayoutAgent<G> {
    Playouts::parse(name).unwrap().unwrap().open(game).unwrap()
}

/// All states of a game in which a player moves.
fn decisions<G: Game>(game: &G) -> Vec<G::State> {
    let (mut seen, mut open, mut actions) = (FxHashSet::default(), vec![game.start()], Vec::new());
    let mut all = Vec::new();
    while let Some(state) = open.pop() {
        if game.turn(&state) == Turn::Over || !seen.insert(state.clone()) {
            continue;
        }
        game.actions(&state, &mut actions);
        for action in &actions {
            let mut next = state.clone();
            game.apply(&mut next, action);
            open.push(next);
        }
        all.push(state);
    }
    all
}

fn mover<G: Game>(game: &G, state: &G::State) -> usize {
    match game.turn(state) {
        Turn::Player(player) => player,
        turn => panic!("{turn:?}"),
    }
}

#[test]
fn playouts_are_worth_what_random_play_is() {
    let game = TicTacToe;
    let mut playouts = agent(&game, "playouts:45000");
    let (state, mut actions, mut values) = (game.start(), Vec::new(), Vec::new());
    game.actions(&state, &mut actions);
    playouts.values(Decision::new(&game, &state, 0), &actions, &mut values);
    assert_eq!(playouts.games(), 45_000);
    for (action, value) in actions.iter().zip(&values) {
        let mut after = state;
        game.apply(&mut after, action);
        let exact = expected_utilities(&game, &after, &mut [Box::new(Random), Box::new(Random)]).unwrap()[0];
        // Five standard errors of a result in [−1, 1].
        assert!((f64::from(*value) - exact).abs() < 5.0 / 5000.0_f64.sqrt(), "{action:?}: {value} {exact}");
    }
}

#[test]
fn estimates_know_their_errors() {
    let game = TicTacToe;
    let (state, mut actions) = (game.start(), Vec::new());
    game.actions(&state, &mut actions);
    let at = Decision::new(&game, &state, 0);
    let error = |name: &str| {
        let (mut by, mut values) = (agent(&game, name), Vec::new());
        by.values(at, &actions, &mut values);
        assert_eq!(by.errors().len(), values.len());
        assert!(values.iter().all(|value| (-1.0..=1.0).contains(value)));
        assert!(by.errors().iter().all(|error| *error > 0.0 && *error <= 1.0), "{:?}", by.errors());
        by.errors().iter().sum::<f32>() / values.len() as f32
    };
    // Four times the games have half the error.
    let [few, many] = ["playouts:9000", "playouts:36000"].map(error);
    assert!((1.9..2.1).contains(&(few / many)) && (0.02..0.04).contains(&few), "{few} {many}");
    assert!(error("uct:4000") < error("uct:40"));
    // A single game for each action says next to nothing.
    assert!(error("playouts:9") > 0.9);
    // What ends the game is exact.
    let (last, _) = game.parse_position("XX.OO....").unwrap();
    let (mut by, mut values) = (agent(&game, "playouts:90"), Vec::new());
    game.actions(&last, &mut actions);
    by.values(Decision::new(&game, &last, 0), &actions, &mut values);
    let best = (0..values.len()).find(|&i| values[i] == 1.0 && by.errors()[i] == 0.0);
    assert!(best.is_some(), "{values:?}");
}

#[test]
fn a_tree_plays_as_well_as_can_be_where_it_sees_the_end() {
    let game = TicTacToe;
    let mut perfect = Minimax::solve(&game).unwrap();
    let (mut tree, mut wrong, mut count) = (agent(&game, "uct:3000"), 0, 0);
    let mut rng = stream(1, "choices", 0);
    for state in decisions(&game) {
        let (player, mut actions, mut exact) = (mover(&game, &state), Vec::new(), Vec::new());
        game.actions(&state, &mut actions);
        if actions.len() > 7 {
            continue;
        }
        let at = Decision::new(&game, &state, player);
        perfect.values(at, &actions, &mut exact);
        let choice = tree.act(at, &actions, &mut Vec::new(), &mut rng);
        let best = exact.iter().fold(f32::NEG_INFINITY, |best, value| best.max(*value));
        wrong += u32::from(exact[choice] < best);
        count += 1;
    }
    assert!(count > 4000 && wrong * 200 < count, "{wrong} of {count}");
}

#[test]
fn the_same_decision_has_the_same_values_and_a_line() {
    let game = TicTacToe;
    let (state, mut actions) = (game.start(), Vec::new());
    game.actions(&state, &mut actions);
    let at = Decision::new(&game, &state, 0);
    let (mut first, mut second) = (Vec::new(), Vec::new());
    let mut tree = agent(&game, "uct:500");
    tree.values(at, &actions, &mut first);
    assert!(tree.line().len() > 2);
    agent(&game, "uct:500").values(at, &actions, &mut second);
    assert_eq!(first, second);
    // The highest value is that of the move that it plays.
    let mut probabilities = Vec::new();
    tree.policy(at, &actions, &mut probabilities);
    assert_eq!(probabilities.iter().filter(|p| **p > 0.0).count(), 1);
    assert!(tree.explain(at).starts_with("It values highest "));
}

/// Both choose at once. The second choice of each is better whatever the other does.
const DILEMMA: &str = "(role a) (role b) (init (step 1)) (<= (legal ?r quiet) (role ?r) (true (step 1)))
    (<= (legal ?r tell) (role ?r) (true (step 1)))
    (<= (next (said ?r ?m)) (does ?r ?m))
    (<= terminal (true (said a ?m)))
    (<= (goal a 60) (true (said a quiet)) (true (said b quiet))) (<= (goal b 60) (true (said a quiet)) (true (said b quiet)))
    (<= (goal a 0) (true (said a quiet)) (true (said b tell))) (<= (goal b 100) (true (said a quiet)) (true (said b tell)))
    (<= (goal a 100) (true (said a tell)) (true (said b quiet))) (<= (goal b 0) (true (said a tell)) (true (said b quiet)))
    (<= (goal a 20) (true (said a tell)) (true (said b tell))) (<= (goal b 20) (true (said a tell)) (true (said b tell)))";

#[test]
fn choices_of_the_same_step_are_not_known() {
    let game = Described::read("dilemma", DILEMMA).unwrap();
    assert!(game.hides());
    let (start, mut actions) = (game.start(), Vec::new());
    game.actions(&start, &mut actions);
    let second = |action: &u32| {
        let mut state = start.clone();
        game.apply(&mut state, action);
        state
    };
    for name in ["uct:400", "playouts:400"] {
        let values = |state: &<Described as Game>::State, player: usize| {
            let (mut actions, mut values) = (Vec::new(), Vec::new());
            game.actions(state, &mut actions);
            let shown = game.shown_to(state, player);
            agent(&game, name).values(Decision::new(&game, &shown, player), &actions, &mut values);
            let best = values.iter().zip(&actions).max_by(|a, b| a.0.total_cmp(b.0)).unwrap();
            assert_eq!(game.action_text(state, best.1), "tell", "{name} {player}: {values:?}");
            values
        };
        values(&start, 0);
        let [one, other] = [values(&second(&actions[0]), 1), values(&second(&actions[1]), 1)];
        assert_eq!(one, other);
    }
}

#[test]
fn three_players_each_look_for_their_own_good() {
    // Whoever takes the last of five wins, one or two at a time; the player before gets half.
    let text = "(role a) (role b) (role c) (init (heap 5)) (init (turn a))
        (after a b) (after b c) (after c a) (less 5 1 4) (less 4 1 3) (less 3 1 2) (less 2 1 1) (less 1 1 0)
        (less 5 2 3) (less 4 2 2) (less 3 2 1) (less 2 2 0)
        (<= (legal ?p (take ?n)) (true (turn ?p)) (true (heap ?h)) (less ?h ?n ?k))
        (<= (legal ?p wait) (role ?p) (true (turn ?q)) (distinct ?p ?q))
        (<= (next (heap ?k)) (does ?p (take ?n)) (true (heap ?h)) (less ?h ?n ?k))
        (<= (next (turn ?q)) (true (turn ?p)) (after ?p ?q))
        (<= (next (last ?p)) (true (turn ?p)))
        (<= terminal (true (heap 0)))
        (<= (goal ?p 100) (true (last ?p)) (true (heap 0)))
        (<= (goal ?p 0) (role ?p) (not (true (last ?p))))";
    let game = Described::read("heap", text).unwrap();
    let mut tree = agent(&game, "uct:2000");
    let mut rng = stream(1, "choices", 0);
    // With two left the player to move takes both.
    for state in decisions(&game).into_iter().filter(|state| game.position_text(state).contains("heap(2)")) {
        let player = mover(&game, &state);
        let at = Decision::new(&game, &state, player);
        let action = tree.choose(at, &mut Scratch::default(), &mut rng).unwrap();
        assert_eq!(game.action_text(&state, &action), "take(2)");
    }
}

#[test]
fn what_a_player_found_alone_is_done_to_its_end() {
    let game = Declared::named("declared:hanoi").unwrap().unwrap();
    let mut tree = agent(&game, "uct:2000");
    let (mut state, mut rng) = (game.start(), stream(3, "choices", 0));
    while game.turn(&state) != Turn::Over {
        let at = Decision::new(&game, &state, 0);
        let action = tree.choose(at, &mut Scratch::default(), &mut rng).unwrap();
        game.apply(&mut state, &action);
    }
    assert_eq!(game.utility(&state, 0), 1.0);
}

#[test]
fn names_and_games_that_do_not_fit_are_refused() {
    for (name, why) in [
        ("uct:", "write uct:N"),
        ("uct:0", "1 to 100000000"),
        ("uct:1e3", "uct:500ms"),
        ("uct:0ms", "uct:500ms"),
        ("uct:3600001ms", "uct:500ms"),
        ("uct:99999999999999999999s", "uct:500ms"),
        ("playouts:0", "write playouts:N"),
        ("playouts:5ms", "write playouts:N"),
    ] {
        let error = Playouts::parse(name).unwrap().unwrap_err();
        assert!(error.contains(why), "{name}: {error}");
    }
    assert!(Playouts::parse("uct").is_none() && Playouts::parse("mine:5").is_none());
    let dice = LiarsDice::named("liars-dice:soar:4x5").unwrap();
    let error = Playouts::parse("uct:10").unwrap().unwrap().open(&dice).err().unwrap().to_string();
    assert!(error.contains("hides information"), "{error}");
}
