//! Random games and states per second on one core: `cargo bench -p adept-declared --bench playouts`, optionally with
//! names of games after `--`.

use adept_declared::{Batch, Declared, Described, Monitor, SHIPPED, SHIPPED_GDL};
use adept_game::{Game, Kit, Stream, Turn, draw_index, stream};
use rand::RngExt;
use std::time::{Duration, Instant};

/// Time for each figure.
const TIME: Duration = Duration::from_secs(2);

fn main() {
    let [a, b, c, d] = ["lanes, games/s", "lanes, moves/s", "monitor, moves/s", "game, moves/s"];
    let [e, f] = ["tree, moves/s", "apart, moves/s"];
    println!("{:<18} {a:>14} {b:>14} {c:>16} {d:>14} {e:>14} {f:>14}", "");
    // Cargo adds `--bench`.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    for (name, source) in SHIPPED.iter().filter(|(name, _)| is_wanted(name)) {
        let game = match Declared::read(name, source) {
            Ok(game) => game,
            Err(fault) => return println!("{fault}"),
        };
        // Not all games support lanes.
        let [mut games, mut moves] = [String::new(), String::new()];
        if let Ok(mut batch) = Batch::new(&game, &mut stream(1, "lanes", 0)) {
            let begin = Instant::now();
            let mut results = batch.run(100);
            while begin.elapsed() < TIME {
                results = batch.run(100);
            }
            let seconds = begin.elapsed().as_secs_f64();
            games = format!("{:.0}", results.games() as f64 / seconds);
            moves = format!("{:.0}", results.moves as f64 / seconds);
        }
        let (single, tree, apart) = (one_by_one(&game), depth_first(&game), far_apart(&game));
        println!(
            "{name:<18} {games:>14} {moves:>14} {:>16.0} {single:>14.0} {tree:>14.0} {apart:>14.0}",
            monitored(&game)
        );
    }
    for (name, source) in SHIPPED_GDL.iter().filter(|(name, _)| is_wanted(name)) {
        match Described::read(name, source) {
            Ok(game) => {
                let (games, single) = (side_by_side(&game), one_by_one(&game));
                let (tree, apart) = (depth_first(&game), far_apart(&game));
                println!(
                    "{name:<18} {games:>14.0} {:>14} {:>16} {single:>14.0} {tree:>14.0} {apart:>14.0}",
                    "", ""
                );
            }
            Err(fault) => return println!("{fault}"),
        }
    }
}

/// Random games per second as agents request them, 10,000 at a time.
fn side_by_side<G: Kit>(game: &G) -> f64 {
    let (mut rng, mut games, start) = (stream(1, "lanes", 0), 0, game.start());
    let begin = Instant::now();
    while begin.elapsed() < TIME && game.random_play().games(game, &start, 10_000, &mut rng).is_some() {
        games += 10_000;
    }
    f64::from(games) / begin.elapsed().as_secs_f64()
}

/// Moves per second of sequential random games with a monitor.
fn monitored(game: &Declared) -> f64 {
    let (mut rng, mut monitor, mut moves) = (stream(1, "games", 0), Monitor::new(game), 0_u64);
    let mut outcomes = Vec::new();
    let begin = Instant::now();
    while begin.elapsed() < TIME / 4 {
        for _ in 0..16 {
            loop {
                let action = match monitor.turn() {
                    Turn::Over => break,
                    Turn::Player(_) => monitor.legal(rng.random_range(0..monitor.count())),
                    Turn::Chance => {
                        monitor.outcomes(&mut outcomes);
                        let drawn = draw_index(outcomes.iter().map(|(_, p)| p), &mut rng);
                        outcomes.get(drawn).map(|(outcome, _)| *outcome)
                    }
                };
                if let Some(action) = action {
                    monitor.apply(action);
                    moves += 1;
                }
            }
            monitor.restart();
        }
    }
    moves as f64 / begin.elapsed().as_secs_f64()
}

/// Moves per second of sequential random games with the methods of [`Game`].
fn one_by_one<G: Game>(game: &G) -> f64 {
    let (mut rng, mut actions, mut moves) = (stream(1, "games", 0), Vec::new(), 0_u64);
    let begin = Instant::now();
    while begin.elapsed() < TIME / 4 {
        let mut state = game.start();
        while let Some(action) = any(game, &state, &mut actions, &mut rng) {
            game.apply(&mut state, &action);
            moves += 1;
        }
    }
    moves as f64 / begin.elapsed().as_secs_f64()
}

/// A random move or outcome. None if the game is over.
fn any<G: Game>(
    game: &G,
    state: &G::State,
    actions: &mut Vec<G::Action>,
    rng: &mut Stream,
) -> Option<G::Action> {
    match game.turn(state) {
        Turn::Over => None,
        Turn::Chance => Some(game.sample(state, rng)),
        Turn::Player(_) => {
            game.actions(state, actions);
            Some(actions[rng.random_range(0..actions.len())].clone())
        }
    }
}

/// Moves per second of a search two moves deep from states of random games.
fn depth_first<G: Game>(game: &G) -> f64 {
    let (mut rng, mut actions, mut moves) = (stream(1, "games", 0), Vec::new(), 0_u64);
    let begin = Instant::now();
    while begin.elapsed() < TIME / 4 {
        let mut state = game.start();
        while let Some(action) = any(game, &state, &mut actions, &mut rng) {
            visit(game, &state, 2, &mut moves);
            game.apply(&mut state, &action);
        }
    }
    moves as f64 / begin.elapsed().as_secs_f64()
}

/// Makes every move of a state, recursively to a depth.
fn visit<G: Game>(game: &G, state: &G::State, depth: usize, moves: &mut u64) {
    let mut actions = Vec::new();
    match game.turn(state) {
        Turn::Over => return,
        Turn::Player(_) => game.actions(state, &mut actions),
        Turn::Chance => {
            let mut outcomes = Vec::new();
            game.outcomes(state, &mut outcomes);
            actions.extend(outcomes.into_iter().map(|(outcome, _)| outcome));
        }
    }
    for action in &actions {
        let mut next = state.clone();
        game.apply(&mut next, action);
        *moves += 1;
        if depth > 1 {
            visit(game, &next, depth - 1, moves);
        }
    }
}

/// Moves per second over states of many games in any order, one move each.
fn far_apart<G: Game>(game: &G) -> f64 {
    const STATES: usize = 4096;
    let (mut rng, mut actions, mut moves) = (stream(1, "games", 0), Vec::new(), 0_u64);
    let mut states = Vec::new();
    while states.len() < STATES {
        let mut state = game.start();
        while let Some(action) = any(game, &state, &mut actions, &mut rng) {
            states.push(state.clone());
            game.apply(&mut state, &action);
        }
    }
    let begin = Instant::now();
    while begin.elapsed() < TIME / 4 {
        let mut state = states[rng.random_range(0..states.len())].clone();
        if let Some(action) = any(game, &state, &mut actions, &mut rng) {
            game.apply(&mut state, &action);
            moves += 1;
        }
    }
    moves as f64 / begin.elapsed().as_secs_f64()
}
