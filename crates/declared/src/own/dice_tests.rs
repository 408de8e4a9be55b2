//! Compares games with chance, extra turns, three players, graded results and recursive relations with solvers written
//! from each game's rules, independently of rule files.

use super::batch::Batch;
use super::declared::Declared;
use super::state::State;
use super::tests::{changed, next_moves, shipped};
use adept_game::{Game, Kit, Suite, Turn, laws, outcome_classes, stream};
use adept_rows::OutcomeClass;
use rustc_hash::FxHashMap;
use std::collections::HashSet;
use std::hash::Hash;

/// Expectation of player 1: if it plays optimally against all others, and if all play at random.
type Worth = [f64; 2];

/// The worth of a position from its successors, with their probabilities in random play.
fn fold(turn: Turn, next: &[(f64, Worth)]) -> Worth {
    let mean = |k: usize| next.iter().map(|(p, worth)| p * worth[k]).sum::<f64>();
    let values = next.iter().map(|(_, worth)| worth[0]);
    match turn {
        Turn::Player(0) => [values.fold(f64::NEG_INFINITY, f64::max), mean(1)],
        Turn::Player(_) => [values.fold(f64::INFINITY, f64::min), mean(1)],
        _ => [mean(0), mean(1)],
    }
}

/// The worth of a position of a declared game.
fn worth(game: &Declared, state: &State, known: &mut FxHashMap<State, Worth>) -> Worth {
    let turn = game.turn(state);
    if turn == Turn::Over {
        return [game.utility(state, 0); 2];
    }
    if let Some(&found) = known.get(state) {
        return found;
    }
    let moves = next_moves(game, state).into_iter().map(|(action, p)| {
        let mut next = state.clone();
        game.apply(&mut next, &action);
        (p, worth(game, &next, known))
    });
    let next: Vec<(f64, Worth)> = moves.collect();
    let found = fold(turn, &next);
    known.insert(state.clone(), found);
    found
}

/// Successors with their probabilities in random play; the utility of player 1 where the game ends.
type Next<P> = Vec<(f64, Result<P, f64>)>;

/// A game implemented in Rust directly from its rules.
trait Rules {
    type Place: Clone + Eq + Hash;

    /// The turn and the successors.
    fn next(&self, place: &Self::Place) -> (Turn, Next<Self::Place>);
}

fn solve<R: Rules>(rules: &R, place: &R::Place, known: &mut FxHashMap<R::Place, Worth>) -> Worth {
    if let Some(&found) = known.get(place) {
        return found;
    }
    let (turn, next) = rules.next(place);
    let next: Vec<(f64, Worth)> = next
        .into_iter()
        .map(|(p, next)| {
            (
                p,
                match next {
                    Ok(next) => solve(rules, &next, known),
                    Err(utility) => [utility; 2],
                },
            )
        })
        .collect();
    let found = fold(turn, &next);
    known.insert(place.clone(), found);
    found
}

/// With equal probabilities.
fn even<T>(all: Vec<T>) -> Vec<(f64, T)> {
    let p = 1.0 / all.len() as f64;
    all.into_iter().map(|one| (p, one)).collect()
}

/// Asserts that a declared game has the same worth as one in Rust, and returns it with the number of states.
fn compare<R: Rules>(game: &Declared, rules: &R, start: &R::Place) -> (Worth, usize) {
    let mut known = FxHashMap::default();
    let found = worth(game, &game.start(), &mut known);
    let expected = solve(rules, start, &mut FxHashMap::default());
    for k in 0..2 {
        assert!((found[k] - expected[k]).abs() < 1e-12, "{}: {found:?} {expected:?}", game.name());
    }
    (found, known.len())
}

/// Asserts a worth as it is printed in the list of games.
fn assert_worth(found: Worth, expected: [&str; 2]) {
    assert_eq!(found.map(|value| format!("{value:.6}")), expected);
}

/// Pig: scores, the points of this turn, and moves so far. `to_roll` if the die is to be rolled.
struct Pig {
    goal: u32,
    limit: u32,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct PigPlace {
    scores: [u32; 2],
    mover: usize,
    brought: u32,
    moves: u32,
    to_roll: bool,
}

impl Rules for Pig {
    type Place = PigPlace;

    fn next(&self, place: &PigPlace) -> (Turn, Next<PigPlace>) {
        let mover = place.mover;
        let other = PigPlace { mover: 1 - mover, brought: 0, to_roll: false, ..place.clone() };
        if place.to_roll {
            let rolls = (1..=6).map(|die| match die {
                1 => Ok(other.clone()),
                _ if place.scores[mover] + place.brought + die >= self.goal => {
                    Err(if mover == 0 { 1.0 } else { -1.0 })
                }
                _ => Ok(PigPlace { brought: place.brought + die, to_roll: false, ..place.clone() }),
            });
            return (Turn::Chance, even(rolls.collect()));
        }
        let moves = place.moves + 1;
        let mut next = vec![PigPlace { to_roll: true, moves, ..place.clone() }];
        if place.brought > 0 {
            let mut scores = place.scores;
            scores[mover] += place.brought;
            next.push(PigPlace { scores, moves, ..other });
        }
        let next = next.into_iter().map(|next| if moves == self.limit { Err(0.0) } else { Ok(next) });
        (Turn::Player(mover), even(next.collect()))
    }
}

fn pig(goal: u32, limit: u32) -> (Pig, PigPlace) {
    let start = PigPlace { scores: [0; 2], mover: 0, brought: 0, moves: 0, to_roll: false };
    (Pig { goal, limit }, start)
}

#[test]
fn pig_has_its_exact_value() {
    let game = changed("pig", &[(">= 20", ">= 9"), ("limit 60", "limit 15")]);
    let (rules, start) = pig(9, 15);
    let (found, _) = compare(&game, &rules, &start);
    assert_worth(found, ["0.446303", "0.249942"]);
}

/// Dots and boxes: lines that are drawn, and boxes of both players.
struct Boxes;

/// The lines around each box, of 12: two rows of horizontal lines above each other, and so on.
const BOXES: [[u32; 4]; 4] = [[0, 2, 3, 5], [1, 3, 4, 6], [5, 7, 8, 10], [6, 8, 9, 11]];

impl Rules for Boxes {
    type Place = (u32, [u32; 2], usize);

    fn next(&self, &(lines, owned, mover): &Self::Place) -> (Turn, Next<Self::Place>) {
        let free = (0..12).filter(|line| lines >> line & 1 == 0);
        let next = free.map(|line| {
            let (lines, mut owned) = (lines | 1 << line, owned);
            let closed = BOXES
                .iter()
                .filter(|sides| sides.contains(&line) && sides.iter().all(|side| lines >> side & 1 == 1));
            let closed = closed.count() as u32;
            owned[mover] += closed;
            match lines {
                0xfff => Err(f64::from(owned[0] as i32 - owned[1] as i32).clamp(-1.0, 1.0)),
                _ => Ok((lines, owned, if closed > 0 { mover } else { 1 - mover })),
            }
        });
        (Turn::Player(mover), even(next.collect()))
    }
}

#[test]
fn dots_and_boxes_have_their_exact_value() {
    let (found, states) = compare(&shipped("dots-and-boxes"), &Boxes, &(0, [0; 2], 0));
    assert_worth(found, ["1.000000", "-0.000154"]);
    assert_eq!(states, 6_707);
}

/// The race of three: fields, who moves, moves so far, and the number that is rolled.
struct Race {
    limit: u32,
}

impl Rules for Race {
    type Place = ([u32; 3], usize, u32, Option<u32>);

    fn next(&self, place: &Self::Place) -> (Turn, Next<Self::Place>) {
        let &(fields, mover, moves, rolled) = place;
        let Some(die) = rolled else {
            let roll = |die: u32| (f64::from(4 - die) / 6.0, Ok((fields, mover, moves, Some(die))));
            return (Turn::Chance, (1..=3).map(roll).collect());
        };
        let after = |fields: [u32; 3]| match moves + 1 {
            moves if moves == self.limit => Err(0.0),
            moves => Ok((fields, (mover + 1) % 3, moves, None)),
        };
        let mut run = fields;
        run[mover] = 0;
        let to = fields[mover] + die;
        for field in &mut run {
            if *field == to {
                *field = 0;
            }
        }
        run[mover] = to;
        let run = if to >= 7 { Err(if mover == 0 { 1.0 } else { -0.5 }) } else { after(run) };
        (Turn::Player(mover), even(vec![run, after(fields)]))
    }
}

#[test]
fn a_race_of_three_has_its_exact_value() {
    let (found, states) = compare(&shipped("race"), &Race { limit: 30 }, &([0; 3], 0, 0, None));
    assert_worth(found, ["-0.064068", "0.026182"]);
    assert_eq!(states, 22_828);
}

/// Backgammon with three checkers a side. Each side counts its own points down to 1.
struct Backgammon {
    faces: usize,
    limit: u32,
}

/// Checkers of a side: on the bar, on its points 1 to 8, and off.
type Side = [u8; 10];
const BAR: usize = 0;
const OFF: usize = 9;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Board {
    sides: [Side; 2],
    mover: usize,
    moves: u32,
    /// Number of times that each number is still to be played.
    dice: [u8; 3],
}

impl Backgammon {
    /// Destination of a mover's checker with this number. None if the move is illegal.
    fn target(board: &Board, from: usize, die: usize) -> Option<usize> {
        let (own, other) = (&board.sides[board.mover], &board.sides[1 - board.mover]);
        if own[from] == 0 || (own[BAR] > 0) != (from == BAR) {
            return None;
        }
        let start = if from == BAR { 9 } else { from };
        if start > die {
            let to = start - die;
            return (other[9 - to] < 2).then_some(to);
        }
        let is_home = own[5..=8].iter().all(|&n| n == 0);
        let is_highest = own[from + 1..=8].iter().all(|&n| n == 0);
        (is_home && (start == die || is_highest)).then_some(OFF)
    }
}

impl Rules for Backgammon {
    type Place = Board;

    fn next(&self, board: &Board) -> (Turn, Next<Board>) {
        if board.dice == [0; 3] {
            let (mut rolls, p) = (Vec::new(), 1.0 / (self.faces * self.faces) as f64);
            for a in 0..self.faces {
                for b in 0..=a {
                    let mut next = board.clone();
                    next.dice[a] += 1;
                    next.dice[b] += 1;
                    rolls.push((if a == b { p } else { 2.0 * p }, Ok(next)));
                }
            }
            return (Turn::Chance, rolls);
        }
        let mover = board.mover;
        let mut next = Vec::new();
        for die in (1..=3).filter(|die| board.dice[die - 1] > 0) {
            for from in BAR..OFF {
                let Some(to) = Self::target(board, from, die) else { continue };
                let mut after = board.clone();
                after.dice[die - 1] -= 1;
                after.sides[mover][from] -= 1;
                after.sides[mover][to] += 1;
                let other = &mut after.sides[1 - mover];
                if to != OFF && other[9 - to] == 1 {
                    other[9 - to] = 0;
                    other[BAR] += 1;
                }
                if after.sides[mover][OFF] == 3 {
                    let points = if after.sides[1 - mover][OFF] == 0 { 2.0 } else { 1.0 };
                    next.push(Err(if mover == 0 { points } else { -points }));
                } else {
                    next.push(Ok(after));
                }
            }
        }
        if next.is_empty() {
            next.push(Ok(Board { dice: [0; 3], ..board.clone() }));
        }
        let next = next.into_iter().map(|next| {
            let mut next = next?;
            next.moves += 1;
            if next.dice == [0; 3] {
                next.mover = 1 - mover;
            }
            if next.moves == self.limit { Err(0.0) } else { Ok(next) }
        });
        (Turn::Player(mover), even(next.collect()))
    }
}

/// A board on which both sides have a checker on each of these points.
fn board(points: &[usize]) -> Board {
    let mut side = [0; 10];
    points.iter().for_each(|&point| side[point] += 1);
    Board { sides: [side; 2], mover: 0, moves: 0, dice: [0; 3] }
}

#[test]
fn small_backgammon_has_its_exact_value() {
    // Checkers that are nearer, dice of two faces, and fewer moves.
    let near = [
        ("face   = 1..3", "face   = 1..2"),
        ("white 1 0, white 2 0", "white 1 1, white 2 1"),
        ("white 7 1, white 8 1", "white 7 0, white 8 0"),
        ("black 1 1, black 2 1", "black 1 0, black 2 0"),
        ("black 7 0, black 8 0", "black 7 1, black 8 1"),
        ("limit 40", "limit 16"),
    ];
    let rules = Backgammon { faces: 2, limit: 16 };
    let (found, states) = compare(&changed("small-backgammon", &near), &rules, &board(&[1, 2, 6]));
    assert_worth(found, ["0.177933", "0.191644"]);
    assert_eq!(states, 170_806);
}

/// The values in the list of games.
#[test]
#[ignore = "takes minutes: cargo test --release -p adept-declared -- --ignored"]
fn large_games_have_their_exact_values() {
    let (rules, start) = pig(20, 60);
    let (found, states) = compare(&shipped("pig"), &rules, &start);
    assert_worth(found, ["0.231117", "0.149556"]);
    assert_eq!(states, 720_774);
    let rules = Backgammon { faces: 3, limit: 40 };
    let (found, states) = compare(&shipped("small-backgammon"), &rules, &board(&[6, 7, 8]));
    assert_worth(found, ["0.142059", "0.071258"]);
    assert_eq!(states, 10_093_455);
}

/// Hex on 3×3 cells: the stones of both sides, row by row.
struct Hex;

impl Hex {
    /// Whether stones connect the first row with the last or, for the second side, the first column with the last.
    fn joins(stones: u32, side: usize) -> bool {
        let place = |x: i32, y: i32| if side == 0 { y * 3 + x } else { x * 3 + y };
        let has =
            |x: i32, y: i32| (0..3).contains(&x) && (0..3).contains(&y) && stones >> place(x, y) & 1 == 1;
        let mut open: Vec<(i32, i32)> = (0..3).map(|x| (x, 0)).filter(|&(x, y)| has(x, y)).collect();
        let mut seen: HashSet<(i32, i32)> = open.iter().copied().collect();
        while let Some((x, y)) = open.pop() {
            for (dx, dy) in [(1, 0), (-1, 0), (0, 1), (0, -1), (-1, 1), (1, -1)] {
                let next = (x + dx, y + dy);
                if has(next.0, next.1) && seen.insert(next) {
                    open.push(next);
                }
            }
        }
        seen.iter().any(|&(_, y)| y == 2)
    }
}

impl Rules for Hex {
    type Place = ([u32; 2], usize);

    fn next(&self, &(stones, mover): &Self::Place) -> (Turn, Next<Self::Place>) {
        let free = (0..9).filter(|cell| (stones[0] | stones[1]) >> cell & 1 == 0);
        let next = free.map(|cell| {
            let mut stones = stones;
            stones[mover] |= 1 << cell;
            match Self::joins(stones[mover], mover) {
                true => Err(if mover == 0 { 1.0 } else { -1.0 }),
                false => Ok((stones, 1 - mover)),
            }
        });
        (Turn::Player(mover), even(next.collect()))
    }
}

#[test]
fn hex_has_its_exact_value() {
    let (found, states) = compare(&shipped("hex"), &Hex, &([0; 2], 0));
    assert_worth(found, ["1.000000", "0.333333"]);
    assert_eq!(states, 4_520);
}

#[test]
fn all_keep_the_laws() {
    for name in ["dots-and-boxes", "hex", "pig", "race", "small-backgammon"] {
        let report = laws::check(&shipped(name), &laws::Budget::short());
        assert!(report.holds() && report.games > 0, "{report}");
    }
}

#[test]
fn results_are_graded() {
    let game = shipped("small-backgammon");
    assert_eq!((game.scale(), game.zero_sum()), (2.0, true));
    let classes = outcome_classes(&game).unwrap();
    assert_eq!(OutcomeClass::check(&classes), Ok(()));
    let names: Vec<String> = classes.into_iter().map(|class| class.name).collect();
    assert_eq!(names, ["loss_2", "loss", "draw", "win", "win_2"]);
    let half = changed("hex", &[("win if", "win 0.5 if"), ("marks", "stuck lose 1.25\nmarks")]);
    let names: Vec<String> = outcome_classes(&half).unwrap().into_iter().map(|class| class.name).collect();
    assert_eq!(names, ["loss_1_25", "loss_0_50", "draw", "win_0_50", "win_1_25"]);
    assert_eq!(half.scale(), 1.25);
    let race = shipped("race");
    let (state, _) = race.parse_position("3/2 at(red,2) at(green,7) at(blue,0) @8").unwrap();
    let mut utilities = Vec::new();
    race.utilities(&state, &mut utilities);
    assert_eq!((race.turn(&state), utilities), (Turn::Over, vec![-0.5, 1.0, -0.5]));
}

#[test]
fn configs_to_begin_with_ask_for_what_a_game_has() {
    for (name, is_small, against) in [
        ("race", true, "[\"greedy\"]"),
        ("hex", true, "\"minimax\"]"),
        ("dots-and-boxes", true, "\"minimax\"]"),
    ] {
        let game = shipped(name);
        assert_eq!(game.is_small(), is_small, "{name}");
        assert!(game.card().starter.unwrap().contains(against), "{name}");
    }
    // It has 720,774 states: small, but measured exactly only on request.
    let pig = shipped("pig");
    assert!(pig.is_small() && pig.card().suites == [Suite::Matches]);
    assert!(!shipped("breakthrough").is_small() && !shipped("connect-four").is_small());
    // The game may never end.
    assert!(!changed("pig", &[("limit 60", "")]).is_small());
}

/// A player who takes one penny moves again, and loses if it was the last one.
#[test]
fn games_in_lanes_count_extra_turns() {
    let changes = [("= 15\n", "= 4\n"), ("m >= n\n\nstuck", "m >= n\n  again if n = 1\n\nstuck")];
    let game = changed("pennies", &changes);
    let expected = worth(&game, &game.start(), &mut FxHashMap::default())[1];
    let results = Batch::new(&game, &mut stream(3, "lanes", 0)).unwrap().run(2_000);
    let (won, lost, games) = (results.won as f64, results.lost as f64, results.games() as f64);
    assert!(expected.abs() > 0.05 && games > 200_000.0, "{expected} {games}");
    assert!(((won - lost) / games - expected).abs() < 4.0 / games.sqrt() + 0.002, "{won} {lost} {expected}");
}
