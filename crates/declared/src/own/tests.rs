//! Compares compiled rules with the plain interpreter, and tests exact values of the bundled games.

use super::batch::Batch;
use super::declaration::ONE;
use super::declared::Declared;
use super::followed::Costs;
use super::monitor::Monitor;
use super::plain::Plain;
use super::state::{NONE, State, Status};
use crate::names::SHIPPED;
use crate::random_play::{RandomPlay, assert_played_as_one_by_one, assert_repeats, walk};
use crate::ruled::Ruled;
use adept_game::{Afterstate, Game, Kit, Turn, stream};
use adept_rows::Rows;
use rand::RngExt;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

fn source(name: &str) -> &'static str {
    SHIPPED.iter().find(|(other, _)| *other == name).unwrap().1
}

pub(crate) fn shipped(name: &str) -> Declared {
    Declared::read(name, source(name)).unwrap()
}

/// A shipped game with one text replaced by another.
pub(crate) fn changed(name: &str, changes: &[(&str, &str)]) -> Declared {
    let text = changes.iter().fold(source(name).to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{name} has no {from}");
        text.replace(from, to)
    });
    Declared::read(name, &text).unwrap()
}

/// Moves of the player to move, or outcomes of chance, with their probabilities in random play.
pub(crate) fn next_moves(game: &Declared, state: &State) -> Vec<(u32, f64)> {
    let (mut actions, mut outcomes) = (Vec::new(), Vec::new());
    game.actions(state, &mut actions);
    game.outcomes(state, &mut outcomes);
    assert!(actions.is_empty() || outcomes.is_empty());
    let p = 1.0 / actions.len() as f64;
    actions.into_iter().map(|action| (action, p)).chain(outcomes).collect()
}

#[test]
fn compiled_rules_agree_with_the_plain_interpreter() {
    for (name, _) in SHIPPED {
        (0..2).for_each(|walk| follow_plainly(&shipped(name), walk));
    }
}

/// Two groups of recursive relations, with links that change.
#[test]
fn relations_may_depend_on_themselves_and_on_the_state() {
    let source = "game \"links\" objects side = me, you objects n = 1..5 flip side me you
        dynamic link(side, n, n) = me 1 2, me 2 3, you 2 4
        dynamic tick
        # Nodes that are an even or odd number of own links away from 1.
        derive even(1) if n(1)
        derive even(b) if odd(a), link(me, a, b)
        derive odd(b) if even(a), link(me, a, b)
        # Nodes from which one that is never reached can be reached.
        derive never(a) if n(a), not even(a), not odd(a)
        derive reaches(a, b) if link(p, a, b)
        derive reaches(a, c) if reaches(a, b), reaches(b, c)
        derive lost(a) if reaches(a, b), never(b)
        operator put(a: n, b: n) if a != b, not link(me, a, b), not lost(a) add link(me, a, b)
        operator cut(a: n, b: n) if link(you, a, b), even(a) delete link(you, a, b) delete link(me, c, b) where odd(c)
        operator wait if lost(1) add tick where not tick delete tick where tick again if reaches(1, 1)
        lose if reaches(5, 5), odd(5)
        limit 60";
    let game = Declared::read("links", source).unwrap();
    assert!(game.rules.followed.cycles() >= 2);
    (0..8).for_each(|walk| follow_plainly(&game, walk));
    follow_with_monitor(&game);
    ask_in_any_order(std::slice::from_ref(&game), 1, 1000);
    follow_in_lanes(&game);
}

/// Plays a random game in parallel with the plain interpreter.
fn follow_plainly(game: &Declared, walk: u64) {
    let (name, rules) = (game.name(), &game.rules);
    let mut rng = stream(walk, "walk", 0);
    let (mut state, mut plain) = (game.start(), Plain::new(&rules.declaration));
    for _ in 0..40 {
        let seen = game.seen(&state, state.mover.into());
        let facts = (0..rules.facts.len()).filter(|f| seen[f / 64] >> (f % 64) & 1 == 1);
        let facts: BTreeSet<_> = facts.map(|f| rules.facts[f].clone()).collect();
        assert_eq!(facts, plain.facts, "{name}: {}", game.position_text(&state));
        if !state.status.goes_on() {
            break;
        }
        let of = |action: u32| {
            let one = &rules.moves[action as usize];
            (one.operator, one.tuple.clone())
        };
        let is_chance = state.status == Status::Chance;
        let actions = next_moves(game, &state);
        let legal: BTreeSet<_> = actions.iter().map(|&(action, _)| of(action)).collect();
        assert_eq!(legal, plain.legal(is_chance), "{name}: {}", game.position_text(&state));
        assert!(is_chance || plain.legal(true).is_empty());
        assert_eq!(legal.len(), actions.len());
        assert!(!legal.is_empty());
        if is_chance {
            let weight = |action: u32| f64::from(plain.weight(of(action).0, &of(action).1));
            let all: f64 = actions.iter().map(|&(action, _)| weight(action)).sum();
            for &(action, p) in &actions {
                assert!((p - weight(action) / all).abs() < 1e-15, "{name}");
            }
        }
        let (action, _) = actions[rng.random_range(0..actions.len())];
        let (mover, moves, (operator, tuple)) = (state.mover, state.moves, of(action));
        game.apply(&mut state, &action);
        let (ending, passes) = plain.apply(operator, &tuple);
        let limit = rules.declaration.limit.filter(|_| !is_chance);
        assert_eq!(state.mover, if passes { rules.next(mover) } else { mover }, "{name}");
        let expected = match ending {
            Some(grade) => Status::from_grade(grade, mover),
            None if limit == Some(moves + 1) && game.players() == 1 => Status::Lost(0, ONE),
            None if limit == Some(moves + 1) => Status::Drawn,
            None if !plain.legal(true).is_empty() => Status::Chance,
            None if !plain.legal(false).is_empty() => Status::Going,
            None => Status::from_grade(rules.declaration.stuck, state.mover),
        };
        assert_eq!(state.status, expected, "{name}: {}", game.position_text(&state));
        let actor = (!is_chance || expected != Status::Chance && expected != Status::Going).then_some(mover);
        assert_eq!(game.just_acted(&state), actor.map(usize::from), "{name}: {}", game.position_text(&state));
        assert_eq!(game.parse_position(&game.position_text(&state)).unwrap(), (state.clone(), None));
    }
}

#[test]
fn a_monitor_follows_the_rules_and_takes_moves_back() {
    SHIPPED.iter().for_each(|(name, _)| follow_with_monitor(&shipped(name)));
}

fn follow_with_monitor(game: &Declared) {
    let name = game.name();
    let mut monitor = Monitor::new(game);
    for walk in 0..4 {
        let mut rng = stream(walk, "monitor", 0);
        let mut states = vec![game.start()];
        for _ in 0..100 {
            let state = states.last().unwrap();
            assert_eq!(monitor.state(), state, "{name}");
            let actions = next_moves(game, state);
            let mut legal = Vec::new();
            monitor.outcomes(&mut legal);
            let p = 1.0 / monitor.count() as f64;
            legal.extend((0..monitor.count()).filter_map(|place| Some((monitor.legal(place)?, p))));
            assert_eq!(legal, actions, "{name}");
            if actions.is_empty() || rng.random_range(0..4) == 0 {
                assert_eq!(monitor.undo(), states.len() > 1, "{name}");
                if states.len() > 1 {
                    states.pop();
                }
                continue;
            }
            let (action, _) = actions[rng.random_range(0..actions.len())];
            let mut next = state.clone();
            game.apply(&mut next, &action);
            monitor.apply(action);
            states.push(next);
        }
        monitor.restart();
    }
}

/// A game that always evaluates from scratch, and one that always evaluates incrementally.
fn anew_and_followed(game: &Declared) -> [Declared; 2] {
    [None, Some(Costs::ALWAYS)].map(|costs| {
        let mut game = game.clone();
        game.costs = costs;
        game
    })
}

/// Queries states in any order: along games, back, to others, and for alternative moves. All games must give the same
/// answers. Each step uses the next game.
fn ask_in_any_order(games: &[Declared], seed: u64, steps: usize) {
    let mut rng = stream(seed, "any order", 0);
    let mut all: Vec<(&Declared, [Declared; 2], Vec<State>, State)> =
        games.iter().map(|game| (game, anew_and_followed(game), vec![game.start()], game.start())).collect();
    let count = all.len();
    for step in 0..steps {
        let (game, [from_scratch, followed], states, state) = &mut all[step % count];
        let name = game.name();
        if !state.status.goes_on() || rng.random_range(0..4) == 0 {
            *state = states[rng.random_range(0..states.len())].clone();
        }
        let moves = next_moves(from_scratch, state);
        let both: [&Declared; 2] = [game, followed];
        for game in both {
            assert_eq!(next_moves(game, state), moves, "{name}");
        }
        let some = if rng.random_range(0..4) == 0 { moves.len() } else { 1 };
        let from = rng.random_range(0..moves.len());
        let mut next = state.clone();
        for (action, _) in moves.iter().cycle().skip(from).take(some) {
            next = state.clone();
            from_scratch.apply(&mut next, action);
            for game in both {
                let mut after = state.clone();
                game.apply(&mut after, action);
                assert_eq!(after, next, "{name}: {}", game.position_text(state));
            }
        }
        if next.status.goes_on() {
            states.push(next.clone());
        }
        *state = next;
    }
}

#[test]
fn methods_answer_the_same_in_any_order() {
    let games: Vec<Declared> = SHIPPED.iter().map(|(name, _)| shipped(name)).collect();
    for (n, game) in games.iter().enumerate() {
        // Alone, then in turn with another.
        ask_in_any_order(std::slice::from_ref(game), n as u64, 300);
        ask_in_any_order(&[game.clone(), games[(n + 7) % games.len()].clone()], n as u64, 200);
    }
    // More games than a thread caches, in two threads.
    std::thread::scope(|scope| {
        for seed in 0..2 {
            let games = &games;
            scope.spawn(move || ask_in_any_order(games, seed, 2000));
        }
    });
}

/// Dropped games leave nothing behind.
#[test]
fn networks_are_of_one_game() {
    for round in 0..3 {
        let names = ["tic-tac-toe", "hexapawn-3x3", "hexapawn-3x3-loss", "hex", "pennies", "dots-and-boxes"];
        for name in names {
            ask_in_any_order(&[shipped(name)], round, 60);
        }
    }
    // A state of another game is invalid, but harmless.
    let games = ["tic-tac-toe", "tic-tac-toe-4x4", "connect-four", "hexapawn-3x3"].map(shipped);
    let [_, small] = anew_and_followed(&games[0]);
    let mut actions = Vec::new();
    for other in &games[1..] {
        let state = walk(other, &other.start(), 3, &mut stream(1, "walk", 0));
        small.actions(&state, &mut actions);
        small.actions(&small.start(), &mut actions);
        assert_eq!(actions, (0..9).collect::<Vec<u32>>());
    }
}

/// Small games are evaluated from scratch, others incrementally.
#[test]
fn larger_games_follow_the_state() {
    let follows = |name: &&str| shipped(name).costs.is_some();
    let names =
        ["breakthrough", "connect-four", "eight-puzzle", "hex", "pig", "small-backgammon", "tic-tac-toe-4x4"];
    assert!(names.iter().all(follows));
    assert!(!["nim", "nim-path", "merlin", "pennies"].iter().any(follows));
}

#[test]
fn games_in_lanes_follow_the_rules() {
    SHIPPED.iter().for_each(|(name, _)| follow_in_lanes(&shipped(name)));
}

fn follow_in_lanes(game: &Declared) {
    let name = game.name();
    let Ok(mut batch) = Batch::new(game, &mut stream(1, "lanes", 0)) else {
        assert!(game.has_chance() || game.players() > 2, "{name}");
        return;
    };
    let lanes = [0, 63, 64, 300, 511];
    let mut states = lanes.map(|_| game.start());
    let mut ended = 0;
    for _ in 0..60 {
        batch.run(1);
        for (state, &lane) in states.iter_mut().zip(&lanes) {
            let chosen = batch.chosen_in(lane);
            let mut actions = Vec::new();
            game.actions(state, &mut actions);
            assert!(chosen.len() == 1 && actions.contains(&(chosen[0] as u32)), "{name}: {chosen:?}");
            game.apply(state, &(chosen[0] as u32));
            if game.turn(state) == Turn::Over {
                *state = game.start();
                ended += 1;
            }
            let seen = game.seen(state, state.mover.into());
            for fact in 0..game.rules.facts.len() {
                assert_eq!(seen[fact / 64] >> (fact % 64) & 1 == 1, batch.holds(fact, lane), "{name}");
            }
        }
    }
    assert!(ended > 0 || game.rules.declaration.limit.is_some(), "{name}");
}

#[test]
fn random_games_have_their_exact_results() {
    for (name, expected) in [
        ("tic-tac-toe", [58.49, 12.7, 28.81]),
        ("hexapawn-4x4", [46.84, 16.65, 36.51]),
        ("hexapawn-4x4-loss", [54.45, 0.0, 45.55]),
        ("pennies", [50.36, 0.0, 49.64]),
        ("nim", [50.0, 0.0, 50.0]),
    ] {
        let game = shipped(name);
        let results = Batch::new(&game, &mut stream(2, "lanes", 0)).unwrap().run(6000);
        let games = results.games() as f64;
        assert!(games > 200_000.0, "{name}: {games}");
        for (found, expected) in [results.won, results.drawn, results.lost].into_iter().zip(expected) {
            let percent = 100.0 * found as f64 / games;
            // Four standard errors, and the bias of early-ending first games of all lanes.
            assert!((percent - expected).abs() < 200.0 / games.sqrt() + 0.05, "{name}: {percent} {expected}");
        }
    }
}

/// Random games start from any state, exactly as many as requested.
#[test]
fn random_games_begin_anywhere() {
    for name in ["tic-tac-toe", "hexapawn-3x3", "hexapawn-3x3-loss", "nim", "pennies"] {
        let game = shipped(name);
        let mut play = RandomPlay::new(&game);
        for n in 0..6 {
            let state = walk(&game, &game.start(), n, &mut stream(n as u64, "walk", 0));
            if game.turn(&state) != Turn::Over {
                play.assert_played(&state, [20_000, 500, 40][n % 3], n as u64);
            }
        }
        assert_repeats(&game, &shipped(name));
    }
    for (name, _) in SHIPPED {
        let game = shipped(name);
        if game.random_play().games(&game, &game.start(), 100, &mut stream(1, "none", 0)).is_none() {
            assert!(game.has_chance() || game.players() > 2 || game.rules.amounts.len() > 1, "{name}");
            continue;
        }
        assert_played_as_one_by_one(&game, &game.start(), 100);
        let state = walk(&game, &game.start(), 3, &mut stream(1, "walk", 0));
        if game.turn(&state) != Turn::Over {
            assert_played_as_one_by_one(&game, &state, 600);
        }
    }
    // Every game is won with the last move, so each counts once.
    let game = shipped("pennies");
    let mut state = game.start();
    for _ in 0..14 {
        let action = game.parse_action(&state, "take 1").unwrap();
        game.apply(&mut state, &action);
    }
    for games in [4, 63, 511, 512, 513, 5000] {
        let sums = game.random_play().games(&game, &state, games, &mut stream(1, "last", 0)).unwrap();
        assert_eq!(sums, [games as f64, -(games as f64)]);
    }
}

/// Solution of a state: its value for player 1 and the plies to it; wins, draws and losses of player 1 for random
/// against random, perfect against random, random against perfect.
#[derive(Clone, Copy, Debug)]
struct Known {
    value: i8,
    plies: u16,
    play: [[f64; 3]; 3],
}

/// A perfect player takes a move of the best value, and among these the one with the best result against random.
fn solve(
    game: &Declared,
    state: &State,
    key: &dyn Fn(&State) -> State,
    known: &mut FxHashMap<State, Known>,
) -> Known {
    if game.turn(state) == Turn::Over {
        let value = game.utility(state, 0) as i8;
        let mut play = [0.0; 3];
        play[(1 - value) as usize] = 1.0;
        return Known { value, plies: 0, play: [play; 3] };
    }
    let state = key(state);
    if let Some(&found) = known.get(&state) {
        return found;
    }
    let mut actions = Vec::new();
    game.actions(&state, &mut actions);
    let next: Vec<Known> = actions
        .iter()
        .map(|action| {
            let mut next = state.clone();
            game.apply(&mut next, action);
            solve(game, &next, key, known)
        })
        .collect();
    let first = state.mover == 0;
    let sign = if first { 1.0 } else { -1.0 };
    let value = next.iter().map(|n| n.value * sign as i8).max().unwrap() * sign as i8;
    let best = || next.iter().filter(|n| n.value == value);
    let wins = f64::from(value) * sign > 0.0;
    let plies = if wins { best().map(|n| n.plies).min() } else { best().map(|n| n.plies).max() };
    let mean =
        |k: usize| [0, 1, 2].map(|r| next.iter().map(|n| n.play[k][r]).sum::<f64>() / next.len() as f64);
    let perfect = |k: usize| {
        let result = |n: &&Known| (n.play[k][0] - n.play[k][2]) * sign;
        best().max_by(|a, b| result(a).total_cmp(&result(b))).unwrap().play[k]
    };
    let play = if first { [mean(0), perfect(1), mean(2)] } else { [mean(0), mean(1), perfect(2)] };
    let found = Known { value, plies: plies.unwrap() + 1, play };
    known.insert(state, found);
    found
}

fn solved(game: &Declared) -> Known {
    solve(game, &game.start(), &State::clone, &mut FxHashMap::default())
}

/// Reachable states, and how many of them are terminal.
fn reachable(game: &Declared) -> (usize, usize) {
    let (mut seen, mut open, mut actions) =
        (std::collections::HashSet::new(), vec![game.start()], Vec::new());
    seen.insert(game.start());
    while let Some(state) = open.pop() {
        game.actions(&state, &mut actions);
        for action in &actions {
            let mut next = state.clone();
            game.apply(&mut next, action);
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    (seen.len(), seen.iter().filter(|state| state.status != Status::Going).count())
}

/// Asserts percentages of wins, draws and losses, rounded to hundredths.
fn assert_play(name: &str, known: &Known, expected: [[f64; 3]; 3]) {
    let percent = known.play.map(|play| play.map(|share| (share * 10_000.0).round() / 100.0));
    assert_eq!(percent, expected, "{name}");
}

#[test]
fn two_player_games_have_their_exact_values() {
    type Row = (&'static str, i8, Option<u16>, (usize, usize), [[f64; 3]; 3]);
    let rows: [Row; 6] = [
        ("tic-tac-toe", 0, None, (5478, 958), [[58.49, 12.7, 28.81], [99.48, 0.52, 0.0], [0.0, 8.36, 91.64]]),
        (
            "hexapawn-3x3",
            0,
            None,
            (135, 65),
            [[46.76, 28.86, 24.38], [55.56, 44.44, 0.0], [0.0, 26.39, 73.61]],
        ),
        (
            "hexapawn-3x3-loss",
            -1,
            Some(6),
            (135, 65),
            [[59.95, 0.0, 40.05], [87.5, 0.0, 12.5], [0.0, 0.0, 100.0]],
        ),
        (
            "hexapawn-4x4",
            0,
            None,
            (20_286, 8866),
            [[46.84, 16.65, 36.51], [97.31, 2.69, 0.0], [0.0, 2.67, 97.33]],
        ),
        (
            "hexapawn-4x4-loss",
            1,
            Some(11),
            (20_286, 8866),
            [[54.45, 0.0, 45.55], [100.0, 0.0, 0.0], [0.81, 0.0, 99.19]],
        ),
        ("pennies", 1, None, (30, 2), [[50.36, 0.0, 49.64], [100.0, 0.0, 0.0], [1.23, 0.0, 98.77]]),
    ];
    for (name, value, plies, states, play) in rows {
        let game = shipped(name);
        let known = solved(&game);
        assert_eq!((known.value, reachable(&game)), (value, states), "{name}");
        assert!(plies.is_none_or(|plies| plies == known.plies), "{name}: {} plies", known.plies);
        assert_play(name, &known, play);
    }
}

/// The value for player 1 of a game whose text is changed, and the plies to it.
fn value_of(name: &str, changes: &[(&str, &str)]) -> (i8, u16) {
    let known = solved(&changed(name, changes));
    (known.value, known.plies)
}

/// The image of each fact under the eight symmetries of an n × n board with facts (piece, column, row).
fn symmetries(game: &Declared, n: usize) -> Vec<Vec<usize>> {
    let rules = &game.rules;
    let object = |number: usize| {
        rules.declaration.objects.iter().position(|name| *name == number.to_string()).unwrap()
    };
    let number = |object: u16| rules.declaration.objects[usize::from(object)].parse::<usize>().unwrap();
    (0..8)
        .map(|k| {
            let image = |(relation, tuple): &(usize, Vec<u16>)| {
                let (mut x, mut y) = (number(tuple[1]), number(tuple[2]));
                if k & 1 > 0 {
                    x = n + 1 - x;
                }
                if k & 2 > 0 {
                    y = n + 1 - y;
                }
                if k & 4 > 0 {
                    (x, y) = (y, x);
                }
                let tuple = vec![tuple[0], object(x) as u16, object(y) as u16];
                rules.numbers[&(*relation, tuple)] as usize
            };
            rules.facts.iter().map(image).collect()
        })
        .collect()
}

#[test]
fn tic_tac_toe_4x4_has_its_exact_value() {
    let game = shipped("tic-tac-toe-4x4");
    let symmetries = symmetries(&game, 4);
    let images = |state: &State| -> Vec<u64> {
        let image = |symmetry: &Vec<usize>| {
            let (mut facts, mut left) = (0, state.facts[0]);
            while left != 0 {
                facts |= 1 << symmetry[left.trailing_zeros() as usize];
                left &= left - 1;
            }
            facts
        };
        symmetries.iter().map(image).collect()
    };
    let key = |state: &State| {
        let mut state = state.clone();
        state.facts[0] = images(&state).into_iter().min().unwrap();
        state
    };
    let mut known = FxHashMap::default();
    let start = solve(&game, &game.start(), &key, &mut known);
    assert_eq!(start.value, 0);
    assert_play("4×4", &start, [[31.66, 41.62, 26.72], [99.29, 0.71, 0.0], [0.0, 2.54, 97.46]]);
    // Terminal states are not kept, so they are found again from those before them.
    let mut terminal = std::collections::HashSet::new();
    for state in known.keys() {
        terminal.extend(neighbours(&game, state).iter().map(key).filter(|next| !known.contains_key(next)));
    }
    let orbit = |state: &State| images(state).into_iter().collect::<BTreeSet<_>>().len();
    let ended: usize = terminal.iter().map(orbit).sum();
    assert_eq!((known.keys().map(orbit).sum::<usize>() + ended, ended), (9_722_011, 659_392));
}

#[test]
fn nim_has_its_exact_values() {
    let start = "a 3, b 4, c 5";
    let heaps = |list: &[u8]| {
        let names = ["a", "b", "c", "d"];
        let heaps =
            names.iter().zip(list).map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ");
        let objects = format!("heap   = {}", names[..list.len()].join(", "));
        let most = format!("0..{}", list.iter().max().unwrap());
        changed("nim", &[("heap   = a, b, c", &objects), ("0..5", &most), (start, &heaps)])
    };
    for (list, value, states) in [
        (&[3, 4, 5][..], 1, 120),
        (&[1, 2, 3], -1, 24),
        (&[2, 3, 4], 1, 60),
        (&[3, 5, 7], 1, 192),
        (&[1, 3, 5, 7], -1, 384),
    ] {
        let game = heaps(list);
        let mut known = FxHashMap::default();
        assert_eq!(solve(&game, &game.start(), &State::clone, &mut known).value, value, "{list:?}");
        let facts: BTreeSet<_> = known.keys().map(|state| state.facts.to_vec()).collect();
        // The empty position is terminal and so not among them.
        assert_eq!(facts.len() + 1, states, "{list:?}");
    }
    let known = solved(&shipped("nim"));
    assert_eq!(known.plies, 11);
    assert_play("nim", &known, [[50.0, 0.0, 50.0], [100.0, 0.0, 0.0], [0.01, 0.0, 99.99]]);
    // Normal play of pennies loses for multiples of 4, misère for 1 more.
    for n in 1..=15_i32 {
        let most = format!("left(number) = {n}");
        let value = |stuck| value_of("pennies", &[("left(number) = 15", &most), ("stuck lose", stuck)]).0;
        assert_eq!(value("stuck lose") < 0, n % 4 == 0, "{n}");
        assert_eq!(value("stuck win") < 0, n % 4 == 1, "{n}");
    }
    for n in 2..=12 {
        let nodes = format!("1..{n}");
        assert_eq!(value_of("nim-path", &[("1..8", &nodes)]).0, 1, "{n}");
        if n >= 3 {
            assert_eq!(value_of("nim-cycle", &[("1..8", &nodes)]).0, -1, "{n}");
        }
    }
    assert_eq!(value_of("nim-lines", &[]), (1, 7));
    assert_eq!(
        distances(&shipped("nim-lines"), "1").keys().map(|state| &state.facts).collect::<BTreeSet<_>>().len(),
        512
    );
}

#[test]
fn birthday_belongs_to_the_second_player_at_even_tables() {
    for n in 2..=11 {
        let seats = format!("1..{n}");
        let value = value_of("birthday", &[("1..8", &seats)]).0;
        assert_eq!(value < 0, n % 2 == 0 && n >= 4, "{n}");
    }
}

/// Facts after each legal move, whether the game is over or not.
fn neighbours(game: &Declared, state: &State) -> Vec<State> {
    let mut going = state.clone();
    (going.status, going.moves) = (Status::Going, 0);
    let mut actions = Vec::new();
    game.actions(&going, &mut actions);
    let next = |action: &u32| {
        let mut next = going.clone();
        game.apply(&mut next, action);
        (next.status, next.moves) = (Status::Going, 0);
        next
    };
    actions.iter().map(next).collect()
}

/// Moves from this state to all others.
fn distances(game: &Declared, from: &str) -> FxHashMap<State, u32> {
    let mut state = game.parse_position(from).unwrap().0;
    (state.status, state.moves) = (Status::Going, 0);
    let mut found = FxHashMap::from_iter([(state.clone(), 0)]);
    let mut layer = vec![state];
    for distance in 1.. {
        let next = layer.iter().flat_map(|state| neighbours(game, state));
        layer = next
            .filter(|state| {
                found.insert(state.clone(), distance).map(|old| found.insert(state.clone(), old)).is_none()
            })
            .collect();
        if layer.is_empty() {
            break;
        }
    }
    found
}

#[test]
fn hanoi_takes_its_moves() {
    for (n, mean, walk) in [
        (2, 2.0, None),
        (3, 4.667, Some(141.56)),
        (4, 10.0, Some(805.93)),
        (5, 20.667, Some(4305.2)),
        (6, 42.0, None),
    ] {
        let disks = format!("1..{n}");
        let on = |peg: &str| (1..=n).map(|disk| format!("{disk} {peg}")).collect::<Vec<_>>().join(", ");
        let game = changed("hanoi", &[("1..3", &disks), ("1 a, 2 a, 3 a", &on("a"))]);
        let goal = (1..=n).map(|disk| format!("on({disk},c)")).collect::<Vec<_>>().join(" ");
        let found = distances(&game, &goal);
        assert_eq!(found.len(), 3_usize.pow(n));
        let key = |state: &State| (state.facts.clone(), 0);
        let by_facts: FxHashMap<_, u32> = found.iter().map(|(state, &d)| (key(state), d)).collect();
        assert_eq!(by_facts[&key(&game.start())], 2_u32.pow(n) - 1);
        let total: u32 = found.values().sum();
        assert!((f64::from(total) / found.len() as f64 - mean).abs() < 6e-4, "{n}");
        let Some(walk) = walk else { continue };
        assert!((random_walk(&game, &found) - walk).abs() < if n == 5 { 0.06 } else { 0.006 }, "{n}");
    }
}

/// Mean number of random moves from the start to the state at distance 0, by Gaussian elimination.
fn random_walk(game: &Declared, distances: &FxHashMap<State, u32>) -> f64 {
    let states: Vec<&State> = distances.iter().filter(|(_, d)| **d > 0).map(|(state, _)| state).collect();
    let numbers: FxHashMap<&State, usize> = states.iter().copied().zip(0..).collect();
    let n = states.len();
    let mut rows = vec![vec![0.0; n + 1]; n];
    for (i, state) in states.iter().enumerate() {
        let next = neighbours(game, state);
        (rows[i][i], rows[i][n]) = (1.0, 1.0);
        for other in &next {
            if let Some(&j) = numbers.get(other) {
                rows[i][j] -= 1.0 / next.len() as f64;
            }
        }
    }
    for i in 0..n {
        let pivot: Vec<f64> = rows[i].iter().map(|x| x / rows[i][i]).collect();
        for (j, row) in rows.iter_mut().enumerate() {
            if j != i && row[i] != 0.0 {
                let factor = row[i];
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
            }
        }
        rows[i] = pivot;
    }
    let mut start = game.start();
    (start.status, start.moves) = (Status::Going, 0);
    rows[numbers[&start]][n]
}

#[test]
fn the_8_puzzle_has_its_longest_solutions() {
    let game = shipped("eight-puzzle");
    for (goal, longest, count, mean) in
        [("123/456/78. @0", 31, 2, 21.972), ("123/8.4/765 @0", 30, 148, 21.503)]
    {
        let found = distances(&game, goal);
        assert_eq!(found.len(), 181_440);
        assert_eq!(found.values().max(), Some(&longest));
        assert_eq!(found.values().filter(|d| **d == longest).count(), count);
        let total: u32 = found.values().sum();
        assert!((f64::from(total) / found.len() as f64 - mean).abs() < 6e-4);
    }
}

#[test]
fn merlin_has_its_solutions() {
    let game = shipped("merlin");
    let found = distances(&game, "@0");
    assert_eq!(found.len(), 512);
    let lit = |squares: &[&str]| {
        let facts: Vec<String> = squares.iter().map(|square| format!("lit({square})")).collect();
        let mut state = game.parse_position(&facts.join(" ")).unwrap().0;
        (state.status, state.moves) = (Status::Going, 0);
        found[&state]
    };
    assert_eq!(lit(&["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3"]), 5);
    assert_eq!(lit(&["a1", "b1", "c1", "a2", "c2", "a3", "b3", "c3"]), 8);
}

#[test]
fn lines_in_three_dimensions_are_derived() {
    for (n, lines) in [(3, 49), (4, 76)] {
        let source = format!(
            "game \"cube\" objects n = 1..{n} objects step = 0..2
             dynamic on(n, n, n)
             # From a by step - 1 in each direction: the first direction that moves goes up.
             derive line(a, b, c, d, e, f) if n(a), n(b), n(c), step(d), step(e), step(f), d + e + f >= 0,
               fits(a, d), fits(b, e), fits(c, f), up(d, e, f)
             derive fits(a, 1) if n(a)
             derive fits(1, 2) if n(1)
             derive fits({n}, 0) if n({n})
             derive up(2, e, f) if step(e), step(f)
             derive up(1, 2, f) if step(f)
             derive up(1, 1, 2) if step(1)
             operator take(a: n, b: n, c: n) if not on(a, b, c) add on(a, b, c)
             win if line(a, b, c, d, e, f), on(a, b, c)"
        );
        let declaration = super::declaration::Declaration::read(&source).unwrap();
        let plain = Plain::new(&declaration);
        assert_eq!(plain.count("line"), lines, "{n}");
    }
}

#[test]
fn faults_say_where_and_what() {
    let game = |rest: &str| {
        let head = "game \"g\"\nobjects p = x, o\nobjects s = 1..3\nflip p x o\ndynamic on(p, s)\n";
        Declared::read("g", &format!("{head}{rest}")).map(|_| String::new()).unwrap_or_else(|e| e.to_string())
    };
    let put = "operator put(a: s) if not on(x, a), not on(o, a) add on(x, a)\n";
    assert_eq!(game(put), "");
    let cases = [
        "operator put(a: s) if not on(x, b) add on(x, a)",
        "operator put(a: s) if not an(x, a) add on(x, a)",
        "operator put(a: s) if not on(x) add on(x, a)",
        "operator put(a: s) if not on(x, a) add on(y, a)",
        "operator put(a: s) if not on(x, a) add on(1, a)",
        "operator put(a: s) if not on(x, a) add s(a)",
        "operator put(a: s) if not on(x, a) add on(x, a + 1)",
        "operator put(a: s)",
        "derive a(s) if b(s)\nderive b(s) if s(s), not a(s)\noperator put(a: s) add on(x, a)",
        "derive c(v) if d(v)\nderive d(v) if s(v), not c(v)\noperator put(a: s) add on(x, a)",
        "objects q = 1..100\ndynamic at(q)\nderive c(v, w) if at(v), at(w)\nderive c(v, w) if c(v, u), c(u, w)\noperator put(a: s) add on(x, a)",
        "derive c(v) if on(x, v), not d(v)\nderive d(v) if e(v)\nderive e(v) if on(o, v)\nderive e(v) if c(v)\noperator put(a: s) add on(x, a)",
        "operator put(a: s) if not on(x, a) add on(x, a) delete on(x, a)\nwinn if on(x, 1)",
        "operator put(a: s) if on(x, a), a < add on(x, a)",
        "operator swap(a: s) if on(x, a) delete on(x, a) add on(o, a)\n",
        "limit 0",
        "players 3",
        "",
        "objects q = 1..5000",
        "objects q = 1..400\ndynamic at(q, q, q)\noperator put(a: s) add on(x, a)",
        "operator put(a: s) add on(x, a)",
        "board on(mark, across)\noperator put(a: s) add on(x, a)",
        "stuck loose\noperator put(a: s) add on(x, a)",
        "players 9",
        "players 2\nplayers 2",
        "operator put(a: s) add on(x, a)\nwin 0 if on(x, 1)",
        "operator put(a: s) add on(x, a)\nlose 0.125 if on(x, 1)",
        "operator put(a: s) add on(x, a)\ndraw 1 if on(x, 1)",
        "operator put(a: s) add on(x, a)\nstuck win 101",
        "operator put(a: s) add on(x, a)\nchance c(a: s) weight a - 1 add on(o, a)",
        "operator put(a: s) add on(x, a)\nchance c(a: p) weight a add on(a, 1)",
        "operator put(a: s) add on(x, a)\nchance c(a: s) weight a + b if on(x, b) add on(o, a)",
        "operator put(a: s) add on(x, a)\nchance c(a: s) weight",
        "operator put(a: s) add on(x, a)\nchance put(a: s) add on(o, a)",
        "operator put(a: s) add on(x, a) again if on(x, b), not on(o, c)",
        "operator put(a: s) add on(x, a) pass",
        "chance c(a: s) add on(o, a)",
        "chance c(a: s) add on(o, a)\noperator put(a: s) add on(x, a)",
    ];
    let found: Vec<String> = cases.iter().map(|rest| format!("{rest}\n  {}\n", game(rest))).collect();
    insta::assert_snapshot!(found.join("\n"));
}

/// Rule files with dropped, repeated, exchanged or foreign words are read or refused, and never panic.
#[test]
fn damaged_rule_files_are_refused() {
    let mut read = 0;
    for round in 0..4000 {
        let mut rng = stream(round, "damage", 0);
        let (name, text) = SHIPPED[rng.random_range(0..SHIPPED.len())];
        let (_, other) = SHIPPED[rng.random_range(0..SHIPPED.len())];
        let mut words: Vec<&str> = text.split_inclusive([' ', ',', '(', ')']).collect();
        let others: Vec<&str> = other.split_inclusive([' ', ',', '(', ')', '\n']).collect();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..words.len());
            match rng.random_range(0..5) {
                0 => drop(words.remove(at)),
                1 => words.insert(at, words[at]),
                2 => words[at] = others[rng.random_range(0..others.len())],
                3 => words.swap(at, 0),
                _ => {
                    words[at] = ["-", "99999999999", "\"", "not ", "0..4095", "= ", "\u{0}", "é"]
                        [rng.random_range(0..8)]
                }
            }
        }
        if let Ok(game) = Declared::read(name, &words.concat()) {
            read += 1;
            let state = game.start();
            assert_eq!(
                game.parse_position(&game.position_text(&state)).map(|(state, _)| state),
                Ok(state),
                "{words:?}"
            );
            Monitor::new(&game).count();
            let _ = Batch::new(&game, &mut rng).map(|mut batch| batch.run(2));
        }
    }
    assert!((200..800).contains(&read), "{read}");
}

/// A row of an encoder for the player who just moved, channel by channel.
fn row_of(game: &Declared, encoder: &str, state: &State) -> Vec<(String, Vec<f32>)> {
    let encoder = game.encoders().open(encoder).unwrap();
    encoder.fits(game).unwrap();
    let channels = encoder.channels();
    let mut rows = Rows::new(channels);
    let player = game.just_acted(state).unwrap();
    encoder.encode(game, Afterstate { state, action: None, player }, rows.push());
    let (mut first, mut found) = (0, Vec::new());
    for channel in channels {
        let width = channel.kind.dense_width();
        found.push((channel.name.to_string(), rows.dense_row(0)[first..first + width].to_vec()));
        first += width;
    }
    found
}

#[test]
fn modules_read_the_rules_of_tic_tac_toe() {
    let game = shipped("tic-tac-toe");
    // X has moved last: its two crosses on the diagonal, one nought, six empty squares.
    let (state, _) = game.parse_position("2 ..X/.O./X..").unwrap();
    let row = row_of(&game, "rules", &state);
    let names: Vec<&str> = row.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["on", "put-rules", "put", "ending-win"]);
    let of = |name: &str| &row.iter().find(|(other, _)| other == name).unwrap().1;
    assert_eq!(of("on").iter().sum::<f32>(), 3.0);
    assert_eq!(of("put").iter().sum::<f32>(), 6.0);
    // Lines by own and other marks: 64 patterns, then 4 × 4 counts, then pairs of counts.
    let (counts, lines) = (&of("ending-win")[64..80], of("ending-win"));
    let at = |own: usize, other: usize| counts[own * 4 + other];
    assert_eq!(lines[..64].iter().sum::<f32>(), 8.0);
    // The diagonal with both crosses and the nought; four lines with one cross; three with the nought alone.
    assert_eq!((at(2, 1), at(1, 0), at(0, 1), at(0, 0)), (1.0, 4.0, 3.0, 0.0));
    // Two lines with one cross meet in an empty square at two corners.
    let kind = |own: usize, other: usize| own * 4 + other;
    let pair = |a: usize, b: usize| lines[80 + a.max(b) * (a.max(b) + 1) / 2 + a.min(b)];
    assert_eq!(pair(kind(1, 0), kind(1, 0)), 2.0);
    assert_eq!(pair(kind(2, 1), kind(2, 1)), 0.0);
}

/// Both players see the same game: after a move of either, the row equals that of the exchanged position.
#[test]
fn encoders_see_with_the_eyes_of_who_moved() {
    for (name, _) in SHIPPED {
        let game = shipped(name);
        if game.players() == 1 {
            continue;
        }
        let mut rng = stream(3, "walk", 0);
        let mut state = game.start();
        for _ in 0..12 {
            let moves = next_moves(&game, &state);
            let Some((action, _)) = moves.get(rng.random_range(0..moves.len().max(1))) else { break };
            game.apply(&mut state, action);
            if game.just_acted(&state).is_none() {
                continue;
            }
            // The next player in the place of each.
            let mut other = state.clone();
            other.facts = game.seen(&state, game.players() - 1);
            other.mover = game.rules.next(state.mover);
            other.last = if state.last == NONE { NONE } else { game.rules.next(state.last) };
            for encoder in ["bits", "blind", "rules"] {
                assert_eq!(
                    row_of(&game, encoder, &state),
                    row_of(&game, encoder, &other),
                    "{name} {encoder}"
                );
            }
        }
    }
}

/// Every binding of a rule has one pattern.
#[test]
fn all_games_have_modules() {
    for (name, source) in SHIPPED {
        let game = shipped(name);
        let encoder = game.encoders().open("rules").unwrap();
        let mut state = game.start();
        while game.just_acted(&state).is_none() {
            let (action, _) = next_moves(&game, &state)[0];
            game.apply(&mut state, &action);
        }
        let row = row_of(&game, "rules", &state);
        assert!(
            row.iter().any(|(name, _)| name.ends_with("-rules") || name.starts_with("ending-")),
            "{name}"
        );
        for channel in encoder.channels() {
            for part in &channel.parts {
                let place = |name: &str| encoder.channels().iter().position(|c| c.name == name);
                assert!(place(part) < place(&channel.name) && place(part).is_some(), "{name}: {part}");
            }
        }
        // Rows are whole numbers of bindings, and some of them are not 0.
        assert!(row.iter().flat_map(|(_, v)| v).all(|v| *v >= 0.0 && v.fract() == 0.0), "{source}");
    }
}

#[test]
fn rules_tell_how_to_play() {
    let text = ["breakthrough", "birthday"].map(|name| {
        let game = shipped(name);
        game.texts().rules(&game).unwrap()
    });
    assert!(text.iter().flat_map(|text| text.lines()).all(|line| line.chars().count() <= 76));
    insta::assert_snapshot!(text.join("\n\n---\n\n"));
}

#[test]
fn greedy_play_wins_where_it_can() {
    let game = shipped("tic-tac-toe");
    let script = game.agents().scripts.open("greedy").unwrap();
    let policy = |text: &str| {
        let (state, _) = game.parse_position(text).unwrap();
        let (mut actions, mut p) = (Vec::new(), Vec::new());
        game.actions(&state, &mut actions);
        script(&game, &state, &actions, &mut p);
        p.into_iter().filter(|p| *p > 0.0).collect::<Vec<f64>>()
    };
    assert_eq!(policy("1 XX./OO./..."), [1.0]);
    assert_eq!(policy("1 .../.../..."), [1.0 / 9.0; 9]);
}

/// A static relation that names the players holds separately for each of them.
const TARGETS: &str = "game \"targets\"
    objects player = x, o
    objects place = a, b, c
    flip player x o
    static target(player, place) = x a, o b
    dynamic on(player, place)
    operator take(p: place) if not on(x, p), not on(o, p) add on(x, p)
    win if target(x, p), on(x, p)
    stuck draw";

#[test]
fn a_static_relation_that_names_the_players_is_exchanged_with_them() {
    let game = Declared::read("targets", TARGETS).unwrap();
    let play = |moves: &[&str]| {
        let mut state = game.start();
        for text in moves {
            let action = game.parse_action(&state, text).unwrap();
            game.apply(&mut state, &action);
        }
        (game.turn(&state), game.utility(&state, 0))
    };
    assert_eq!(play(&["take a"]), (Turn::Over, 1.0));
    assert_eq!(play(&["take c", "take b"]), (Turn::Over, -1.0));
    assert_eq!(play(&["take c", "take a"]).0, Turn::Player(0));
    assert_eq!(play(&["take c", "take a", "take b"]), (Turn::Over, 0.0));
    // Static tuples are not part of positions, but every encoder distinguishes the players by them.
    assert_eq!(game.position_text(&game.start()), "1");
    assert!(game.parse_position("1 target(x,a)").unwrap_err().to_string().contains("never changes"));
    let row = |text: &str, player: usize, name: &str| {
        let (state, _) = game.parse_position(text).unwrap();
        let encoder = game.encoders().open(name).unwrap();
        let mut rows = Rows::new(encoder.channels());
        encoder.encode(&game, Afterstate { state: &state, action: None, player }, rows.push());
        rows.dense_row(0).to_vec()
    };
    for name in ["bits", "blind", "rules"] {
        assert_ne!(row("2 on(x,c)", 0, name), row("1 on(o,c)", 1, name), "{name}");
    }
    (0..8).for_each(|walk| follow_plainly(&game, walk));
    follow_with_monitor(&game);
    follow_in_lanes(&game);
    // Tuples that name one player are written for the player to move, like a rule; so is a relation that the flip
    // leaves unchanged.
    let both = TARGETS.replace("x a, o b", "x a");
    let alike = Declared::read("alike", &both).unwrap();
    assert_eq!((alike.rules.facts.len(), alike.asymmetry(20, usize::MAX)), (6, None));
    let same = Declared::read("same", &TARGETS.replace("x a, o b", "x a, o a")).unwrap();
    assert_eq!((same.rules.facts.len(), same.asymmetry(20, usize::MAX)), (6, None));
}

/// A flip of several cycles may exchange pieces or places. A relation of all pieces may hold for each player or for the player to
/// move, so the file must say which.
#[test]
fn a_static_relation_of_all_pieces_says_for_whom_it_holds() {
    let read = |home: &str| {
        Declared::read(
            "court",
            &format!(
                "game \"court\"
                objects piece = wk, bk, wr, br
                objects place = a, b, c, d, e
                flip piece wk bk, wr br
                {home}
                dynamic on(piece, place)
                derive taken(p) if on(q, p)
                operator king(p: place) if not taken(p) add on(wk, p)
                operator rook(p: place) if not taken(p) add on(wr, p)
                win if home(wk, p), on(wk, p)
                win if home(wr, p), on(wr, p)
                stuck draw"
            ),
        )
    };
    let tuples = "home(piece, place) = wk a, bk b, wr c, br d";
    let refused = read(&format!("static {tuples}")).unwrap_err().to_string();
    for part in ["`flip piece`", "write `dynamic home`", "`derive home(wk, a) if piece(wk)`"] {
        assert!(refused.contains(part), "{refused}");
    }
    let winner = |game: &Declared, moves: [&str; 2]| {
        let mut state = game.start();
        for text in moves {
            let action = game.parse_action(&state, text).unwrap();
            game.apply(&mut state, &action);
        }
        (game.turn(&state) == Turn::Over).then(|| game.utility(&state, 0))
    };
    let each = read(&format!("dynamic {tuples}")).unwrap();
    for (moves, expected) in [(["rook e", "king b"], Some(-1.0)), (["rook e", "king a"], None)] {
        assert_eq!(winner(&each, moves), expected);
    }
    assert_eq!(winner(&each, ["king e", "rook d"]), Some(-1.0));
    let derived = "derive home(wk, a) if piece(wk)
        derive home(bk, b) if piece(bk)
        derive home(wr, c) if piece(wr)
        derive home(br, d) if piece(br)";
    let mover = read(derived).unwrap();
    for (moves, expected) in [(["rook e", "king b"], None), (["rook e", "king a"], Some(-1.0))] {
        assert_eq!(winner(&mover, moves), expected);
    }
    // What names some of the pieces is written for the player to move; what the flip leaves unchanged holds for all.
    for home in ["home(piece, place) = wk a, wr c", "home(piece, place) = wk a, bk a, wr c, br c"] {
        let game = read(&format!("static {home}")).unwrap();
        assert_eq!((winner(&game, ["rook e", "king a"]), game.rules.facts.len()), (Some(-1.0), 20));
    }
}

/// On 4 × 4 squares one player places dominoes vertically, the other horizontally; a player who cannot move loses.
fn domineering() -> String {
    let at = |column: usize, row: usize| format!("{}{}", ["a", "b", "c", "d"][column], row + 1);
    let squares: Vec<String> = (0..16).map(|n| at(n % 4, n / 4)).collect();
    let upright = (0..12).map(|n| format!("v {} {}", at(n % 4, n / 4), at(n % 4, n / 4 + 1)));
    let across = (0..12).map(|n| format!("h {} {}", at(n % 3, n / 3), at(n % 3 + 1, n / 3)));
    format!(
        "game \"domineering\"
        objects player = v, h
        objects square = {}
        flip player v h
        static domino(player, square, square) = {}
        dynamic covered(square)
        operator lay(s: square, t: square)
          if domino(v, s, t), not covered(s), not covered(t)
          add covered(s), covered(t)
        stuck lose",
        squares.join(", "),
        upright.chain(across).collect::<Vec<_>>().join(", ")
    )
}

/// Whether the player to move wins domineering, by the rules of the game: bit n is a covered square.
fn wins_domineering(board: u16, upright: bool, known: &mut FxHashMap<(u16, bool), bool>) -> bool {
    if let Some(&known) = known.get(&(board, upright)) {
        return known;
    }
    let dominoes = (0..12).map(|n| match upright {
        true => 1_u16 << n | 1 << (n + 4),
        false => 0b11 << (n % 3 + n / 3 * 4),
    });
    let wins =
        { dominoes }.any(|domino| board & domino == 0 && !wins_domineering(board | domino, !upright, known));
    known.insert((board, upright), wins);
    wins
}

#[test]
fn domineering_is_won_by_the_first_player() {
    let game = Declared::read("domineering", &domineering()).unwrap();
    let mut known = FxHashMap::default();
    assert!(wins_domineering(0, true, &mut known));
    assert_eq!(solved(&game).value, 1);
    // Every position of random games.
    let mut values = FxHashMap::default();
    for walk in 0..20 {
        let mut rng = stream(walk, "domineering", 0);
        let mut state = game.start();
        while let Turn::Player(player) = game.turn(&state) {
            let mut actions = Vec::new();
            game.actions(&state, &mut actions);
            let wins = solve(&game, &state, &State::clone, &mut values).value;
            let text = game.position_text(&state);
            let board = (0..16).filter(|n| {
                let square = format!("covered({}{})", ["a", "b", "c", "d"][n % 4], n / 4 + 1);
                text.contains(&square)
            });
            let board = board.fold(0, |board, n| board | 1 << n);
            let expected = wins_domineering(board, player == 0, &mut known) == (player == 0);
            assert_eq!(wins > 0, expected, "{text}");
            game.apply(&mut state, &actions[rng.random_range(0..actions.len())]);
        }
    }
    (0..4).for_each(|walk| follow_plainly(&game, walk));
    follow_with_monitor(&game);
    follow_in_lanes(&game);
}

#[test]
fn an_audit_compares_the_players() {
    for (name, _) in SHIPPED {
        assert_eq!(shipped(name).asymmetry(5, usize::MAX), None, "{name}");
    }
    let audit = Declared::read("targets", TARGETS).unwrap().audited(20);
    assert!(audit.facts.contains(&("static for each player".into(), "target".into())));
    let [note] = &audit.notes[..] else { panic!("{:?}", audit.notes) };
    assert!(note.contains("with the players exchanged") && note.contains("wins"), "{note}");
    let text = domineering();
    let audit = Declared::read("domineering", &text).unwrap().audited(20);
    let [note] = &audit.notes[..] else { panic!("{:?}", audit.notes) };
    assert!(note.contains("`lay(a1,a2)` is legal at `1`, but not its counterpart at `2`"), "{note}");
    // Relations that both players see alike are reported too.
    let audit = shipped("hex").audited(20);
    assert!(audit.facts.contains(&("static as the mover sees it".into(), "touches, bottom, top".into())));
    assert!(audit.notes.is_empty());
}

#[test]
fn files_of_other_programs_are_named() {
    let folder = std::env::temp_dir().join(format!("adept-other-formats-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let why = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        let found = Declared::named(&format!("file:{}", path.display())).unwrap();
        found.unwrap_err().to_string()
    };
    let efg = why("poker.efg", "EFG 2 R \"poker\" { \"a\" \"b\" }\nc \"\" 1 \"\" { \"r\" 1/2 } 0\n");
    assert!(
        efg.contains("a file `.efg` is a game tree in the format of Gambit, which adept does not read"),
        "{efg}"
    );
    assert!(efg.contains("GDL-I in files that end in `.kif`"), "{efg}");
    let lud = why("hex.LUD", "(game \"Hex\" (players 2))");
    assert!(lud.contains("a file `.lud` is a game in the language of Ludii"), "{lud}");
    let gdl = why("rules.gdl", "; tic-tac-toe\n(role x)");
    assert!(gdl.contains("this looks like GDL, which is read from files that end in `.kif`"), "{gdl}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Proofs are counted before they take memory.
#[test]
fn rules_that_prove_too_much_are_refused() {
    let game = |rules: &str| {
        format!(
            "game \"big\"\nobjects n = 1..4000\ndynamic on(n)\n{rules}\noperator put(a: n) if not on(a), not q(a, a) add on(a)\n\
             win if q(1, 2)"
        )
    };
    let refusal = |rules: &str| Declared::read("big", &game(rules)).unwrap_err().to_string();
    let of_state = refusal("derive p(a, b) if n(a), n(b), on(a), not on(b)\nderive q(a, b) if p(a, b)");
    assert!(
        of_state.contains("line 4, column 1: p has too many combinations of objects: they take more than"),
        "{of_state}"
    );
    let of_objects = refusal("derive p(a, b) if n(a), n(b)\nderive q(a, b) if p(a, b), on(a)");
    assert!(
        of_objects.contains("p has too many combinations of objects: they take more than"),
        "{of_objects}"
    );
    let of_effects = "game \"big\"\nobjects n = 1..4000\ndynamic on(n)\noperator put if not on(1)\n\
        add on(a) where not on(a), n(b), not on(b), n(a)\nwin if on(1)";
    let why = Declared::read("big", of_effects).unwrap_err().to_string();
    assert!(why.contains("put has too many combinations of objects"), "{why}");
}

/// The rule files in the book are valid.
#[test]
fn rule_files_on_the_page_are_read() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/declared.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let files: Vec<&str> = blocks.filter(|block| block.starts_with("game ")).collect();
    let read = |text: &&str| Declared::read("page", text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let games: Vec<Declared> = files.iter().map(read).collect();
    assert_eq!(games.len(), 2);
    for (game, name) in games.iter().zip(["tic-tac-toe", "pig"]) {
        let shipped = shipped(name);
        let texts = |game: &Declared| {
            (game.position_text(&game.start()), game.rules.moves.len(), game.rules.facts.len())
        };
        assert_eq!(texts(game), texts(&shipped), "{name}");
    }
}

/// Index channels show which of several facts holds, for gates.
#[test]
fn facts_that_exclude_each_other_are_index_channels() {
    let channels = |game: &Declared| -> Vec<(String, u64)> {
        let encoder = game.encoders().open("indices").unwrap();
        let of = |channel: &adept_game::Channel| match channel.kind {
            adept_game::ChannelKind::Index(size) => (channel.name.to_string(), size),
            kind => panic!("{kind:?}"),
        };
        encoder.channels().iter().map(of).collect()
    };
    let row = |game: &Declared, text: &str, player: usize| {
        let (state, _) = game.parse_position(text).unwrap();
        let encoder = game.encoders().open("indices").unwrap();
        let mut rows = Rows::new(encoder.channels());
        encoder.encode(game, Afterstate { state: &state, action: None, player }, rows.push());
        rows.index_row(0).to_vec()
    };
    // A heap has one size; a square of tic-tac-toe has one mark or none, and the marks are counted.
    let nim = shipped("nim");
    let of_nim = channels(&nim);
    for heap in ["which-holds-a", "which-holds-b", "which-holds-c"] {
        assert!(of_nim.contains(&(heap.into(), 7)), "{of_nim:?}");
    }
    assert!(of_nim.iter().all(|(name, _)| name != "count-holds"), "{of_nim:?}");
    let game = shipped("tic-tac-toe");
    let found = channels(&game);
    assert_eq!(found.len(), 10);
    assert_eq!((&found[0], &found[9]), (&("which-on-a1".into(), 3), &("count-on".into(), 19)));
    // From the view of the player who moved: own marks are 1.
    assert_eq!(row(&game, "2 .../.../X..", 0), [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(row(&game, "1 .../.O./X..", 1), [2, 0, 0, 0, 1, 0, 0, 0, 0, 2]);
    // They follow the channels of another encoder, whose part of a row is unchanged.
    let (bits, both) = (game.encoders().open("bits").unwrap(), game.encoders().open("bits+indices").unwrap());
    assert_eq!((both.name(), &both.channels()[..2]), ("bits+indices", bits.channels()));
    let (state, _) = game.parse_position("1 .../.O./X..").unwrap();
    let encoded = |encoder: &dyn adept_game::Encoder<Declared>| {
        let mut rows = Rows::new(encoder.channels());
        encoder.encode(&game, Afterstate { state: &state, action: None, player: 1 }, rows.push());
        (rows.dense_row(0).to_vec(), rows.index_row(0).to_vec())
    };
    let ((dense, key), (same, index)) = (encoded(&*bits), encoded(&*both));
    assert_eq!((dense, key[0]), (same, index[0]));
    assert_eq!(index[1..], row(&game, "1 .../.O./X..", 1));
}
