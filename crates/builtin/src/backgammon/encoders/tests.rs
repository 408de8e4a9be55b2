//! Compares inputs with slow, literal definitions and with golden rows.

use super::expert::counts;
use super::hits::{View, escapes};
use super::*;
use crate::backgammon::tests::{found, position, random_position, wild_position};
use crate::backgammon::{BAR, Position};
use crate::dice::ROLLS;
use adept_game::{Kit, stream};

/// Positions of all games, half of them from play.
fn positions(name: &str, count: usize) -> impl Iterator<Item = (u8, Position)> {
    let mut rng = stream(6, name, 0);
    (0..count).filter_map(move |k| {
        let checkers = [15, 15, 15, 3, 1, 2, 5, 15][k % 8];
        let position = match k / 8 % 2 {
            0 => random_position(checkers, &mut rng),
            _ => wild_position(checkers, &mut rng),
        };
        (!position.is_over()).then_some((checkers, position))
    })
}

fn hits(position: Position) -> [u32; 21] {
    let mut all = [0; 21];
    let mut note = |roll, mask| all[ROLLS.iter().position(|&r| r == roll).unwrap()] = mask;
    super::hits::hits(&View::both(position)[0], &mut note);
    all
}

fn counted(position: Position, checkers: u8) -> [f32; 25] {
    let [own, other] = View::both(position);
    counts(&own, &other, checkers)
}

/// The points that some play of each roll hits, by enumerating all plays.
fn hits_of_plays(position: Position) -> [u32; 21] {
    let blots = (1..=24).filter(|&point| position.opponent.on(25 - point) == 1);
    ROLLS.map(|roll| {
        let plays = found(position, roll);
        let hit = |&point: &u8| plays.iter().any(|after| after.opponent.on(25 - point) == 0);
        blots.clone().filter(hit).fold(0, |mask, point| mask | 1 << point)
    })
}

#[test]
fn hits_are_those_of_all_plays() {
    let mut some = 0;
    for (_, position) in positions("backgammon hits", 4_000) {
        let expected = hits_of_plays(position);
        some += expected.iter().filter(|&&mask| mask != 0).count();
        assert_eq!(hits(position), expected, "{position}");
    }
    assert!(some > 5_000, "{some}");
}

#[test]
fn hits_obey_the_rule_of_both_dice() {
    let shots = |text: &str| {
        let found = hits(position(text));
        let rolls = ROLLS.iter().zip(found).filter(|(_, mask)| *mask != 0);
        rolls.map(|(roll, _)| roll.to_string()).collect::<Vec<_>>().join(" ")
    };
    // A direct shot of 2, with all points open.
    assert_eq!(shots("24:1 6:14/3:1 6:14"), "21 32 42 52 62 11 22");
    // With 64, nothing can move by 4 after 24/18*, but 24/20 11/5 plays both.
    assert_eq!(shots("24:1 11:1 off:13/7:1 11:2 18:2 6:10"), "42 51 61 62 63 65 22 33 66");
    // With 64, only one die can be played, and it must be the 6.
    assert_eq!(shots("24:1 off:14/5:1 11:2 6:12"), "31 41 42 43 54 11 22 44");
}

/// Number of throws that take a checker past the blocks, step by step.
fn escapes_step_by_step(place: i32, blocked: &dyn Fn(i32) -> bool) -> u32 {
    let Some(last) = (place - 6..place).find(|&point| point >= 1 && blocked(point)) else {
        return 36;
    };
    fn gets(at: i32, dice: &[i32], last: i32, blocked: &dyn Fn(i32) -> bool) -> bool {
        at < last
            || (0..dice.len()).any(|k| {
                let (to, mut rest) = (at - dice[k], dice.to_vec());
                rest.remove(k);
                (to < 1 || !blocked(to)) && gets(to, &rest, last, blocked)
            })
    }
    let throws = (1..=6).flat_map(|a| (1..=6).map(move |b| if a == b { vec![a; 4] } else { vec![a, b] }));
    throws.filter(|dice| gets(place, dice, last, blocked)).count() as u32
}

#[test]
fn escapes_are_those_of_single_steps() {
    let mut seen = std::collections::HashSet::new();
    for (_, position) in positions("backgammon escapes", 3_000) {
        let open = View::both(position)[0].open;
        for place in 1..=BAR {
            let blocked = |point: i32| position.opponent.on((25 - point) as u8) > 1;
            let expected = escapes_step_by_step(place.into(), &blocked);
            seen.insert(expected);
            assert_eq!(escapes(place, open), expected, "{position} from {place}");
        }
    }
    assert!(seen.len() > 25 && seen.contains(&0), "{seen:?}");
}

/// The inputs by definition, before they are divided.
fn defined(position: Position, checkers: u8) -> Vec<f32> {
    let [own, theirs] = [position.own, position.opponent].map(|side| side.places().map(i32::from));
    // Points in the own side's numbering.
    let block = |point: i32| (1..=24).contains(&point) && own[point as usize] > 1;
    let their_block = |point: i32| (1..=24).contains(&point) && theirs[25 - point as usize] > 1;
    let pips =
        |places: &[i32; 26]| (0..).zip(places).map(|(place, count): (i32, _)| place * count).sum::<i32>();
    let total = |count: &dyn Fn(i32) -> i32| (1..=25).map(|p| own[p as usize] * count(p)).sum::<i32>() as f32;
    let number = |holds: &dyn Fn(i32) -> bool| total(&|p| holds(p).into());
    let points = |range: std::ops::RangeInclusive<i32>| range.filter(|&p| block(p)).count() as f32;
    let rear = |places: &[i32; 26]| (1..=25).rev().find(|&p| places[p as usize] > 0).unwrap_or(0);
    let (own_rear, passed) = (rear(&own), 25 - rear(&theirs));
    let (own_pips, their_pips) = (pips(&own), pips(&theirs));
    let hits = hits_of_plays(position.swapped());
    let ways = |value: &dyn Fn(u32) -> u32| {
        ROLLS.iter().zip(hits).map(|(roll, mask)| roll.ways() * value(mask)).sum::<u32>() as f32
    };
    let dearest = |mask: u32| (1..=24).filter(|point| mask >> point & 1 != 0).max().unwrap_or(0);
    let run = |from: i32| (from..from + 6).take_while(|&p| p > passed && block(p)).count();
    let enters = |die: i32| !their_block(25 - die);
    let throws = (1..=6).flat_map(|a| (1..=6).map(move |b| (a, b)));
    let held = (1..=21).find(|&p| (p..p + 4).all(their_block)).map_or(25, |p| p + 3);
    let on_board = total(&|_| 1).max(1.0);
    let mean = own_pips as f32 / on_board;
    let squares = (1..=25).map(|p| own[p] as f32 * (p as f32 - mean).powi(2)).sum::<f32>();
    let pairs: Vec<bool> = (1..=25)
        .filter(|&p| own[p as usize] > 0)
        .flat_map(|p| (1..=6).map(move |die| p - die))
        .map(|to| to >= 1 && !their_block(to))
        .collect();
    let anchors: Vec<i32> = (18..=24).filter(|&p| block(p)).collect();
    let lowest = (1..=25).find(|&p| own[p as usize] > 0).unwrap_or(6).min(6) as f32;
    let none_off = if own[0] > 0 { 0.0 } else { 1.0 };
    let share = |count: f32| count / f32::from(checkers);
    vec![
        own_pips as f32,
        (their_pips - own_pips).max(0) as f32 / (their_pips + own_pips) as f32,
        if own[25] > 0 { throws.filter(|&(a, b)| !enters(a) && !enters(b)).count() as f32 } else { 0.0 },
        (1..=24).filter(|&p| own[p as usize] == 1 && p > passed).count() as f32,
        ways(&|mask| u32::from(mask != 0)),
        ways(&dearest) / 36.0,
        points(1..=6),
        (1..=24).map(run).max().unwrap_or(0) as f32,
        36.0 - escapes_step_by_step(25, &|point| block(25 - point)) as f32,
        if own_rear == 0 { 36.0 } else { escapes_step_by_step(own_rear, &their_block) as f32 },
        number(&|p| p >= 19),
        number(&|p| p > held),
        anchors.len() as f32,
        anchors.first().map_or(0.0, |&p| (25 - p) as f32),
        f32::from(u8::from(block(20) || block(21))),
        share(number(&|p| p > passed)),
        total(&|p| (p - passed).max(0)),
        total(&|p| if (7..=18).contains(&p) { p - 6 } else { 0 })
            + (2..=6).map(|p| (own[p] - 2).max(0) * (p as i32 - 1)).sum::<i32>() as f32,
        (1..=24).map(|p| (own[p] - 3).max(0)).sum::<i32>() as f32,
        number(&|p| p <= 2),
        (squares / on_board).sqrt(),
        share(number(&|p| p <= 12)),
        pairs.iter().filter(|&&open| open).count() as f32 / pairs.len().max(1) as f32,
        none_off * (total(&|p| (p - 6).max(0)) + lowest),
        none_off * total(&|p| (p - 18).max(0)),
    ]
}

#[test]
fn inputs_are_as_they_are_defined() {
    for (checkers, position) in positions("backgammon inputs", 3_000) {
        let (found, expected) = (counted(position, checkers), defined(position, checkers));
        for ((input, found), expected) in INPUTS.iter().zip(found).zip(expected) {
            assert!((found - expected).abs() < 1e-3, "{position}: {} is {found}, not {expected}", input.name);
        }
    }
}

fn row(name: &str, state: &State, player: usize, checkers: u8) -> Vec<f32> {
    let game = Backgammon::new(checkers).unwrap();
    let encoder = game.encoders().open(name).unwrap();
    let mut dense = vec![0.0; if name == "expert" { 252 } else { 202 }];
    let after = Afterstate { state, action: None, player };
    encoder.encode(&game, after, RowMut { dense: &mut dense, index: &mut [] });
    dense
}

#[test]
fn rows_are_in_range_and_turn_with_the_player() {
    let mut highest = [0.0f32; 25];
    for (checkers, position) in positions("backgammon rows", 3_000) {
        let state = State::to_roll(position);
        let (row_own, row_other) = (row("expert", &state, 0, checkers), row("expert", &state, 1, checkers));
        assert_eq!(row_own[..202], row("points", &state, 0, checkers));
        let halves = |row: &[f32]| [&row[101..202], &row[..101], &row[227..], &row[202..227]].concat();
        assert_eq!(halves(&row_own), row_other, "{position}");
        for (k, (input, &value)) in INPUTS.iter().cycle().zip(&row_own[202..]).enumerate() {
            assert!((0.0..=input.most).contains(&value), "{position}: {} is {value}", input.name);
            highest[k % 25] = highest[k % 25].max(value);
        }
    }
    for (input, highest) in INPUTS.iter().zip(highest) {
        assert!(highest > input.most.min(1.0) / 2.0, "{} is at most {highest}", input.name);
    }
}

#[test]
fn golden_counts_of_positions() {
    let words = |text: &str| {
        let counts = counted(position(text), 15);
        let some = INPUTS.iter().zip(counts).filter(|(_, count)| *count != 0.0);
        some.map(|(input, count)| format!("{} {}", input.name, (count * 1e3).round() / 1e3))
            .collect::<Vec<_>>()
            .join(", ")
    };
    insta::assert_snapshot!(words("24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5"), @"pips 167, home 1, prime 1, wall 21, escapes 22, back 2, anchors 1, anchor 1, behind 1, contact 152, timing 56, stack 4, spread 5.829, zone 0.533, mobility 0.833, gammon 83, backgammon 12");
    insta::assert_snapshot!(words("24:2 13:4 11:1 8:3 6:5/24:2 13:5 8:3 6:5"), @"pips 165, lead 0.006, blots 1, shots 2, loss 0.778, home 1, prime 1, wall 21, escapes 22, back 2, anchors 1, anchor 1, behind 1, contact 150, timing 54, stack 3, spread 5.808, zone 0.6, mobility 0.867, gammon 81, backgammon 12");
    insta::assert_snapshot!(words("bar:1 21:2 8:2 7:2 6:2 5:2 4:2 3:1 2:1/24:1 13:2 8:2 6:3 5:3 3:2 2:2"), @"pips 132, dance 16, blots 2, shots 20, loss 12.528, home 3, prime 5, wall 34, escapes 8, back 3, anchors 1, anchor 4, golden 1, behind 1, contact 117, timing 6, dead 1, spread 7.016, zone 0.8, mobility 0.593, gammon 57, backgammon 13");
    insta::assert_snapshot!(words("6:3 5:4 4:4 2:2 off:2/6:8 3:7"), @"pips 58, lead 0.087, home 4, wall 28, escapes 36, timing 19, stack 2, dead 2, spread 1.278, zone 0.867, mobility 0.542");
}

#[test]
fn the_book_lists_all_inputs() {
    let book =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/backgammon-reference.md"))
            .unwrap();
    for Input { name, about, unit, most } in INPUTS {
        let line = format!("| {name} | {about} | {unit} | {most:.2} |");
        assert!(book.contains(&line), "docs/backgammon-reference.md lacks {line}");
    }
}

#[test]
fn classes_stand_beside_the_inputs_of_another_encoder() {
    let encoder = Backgammon::default().encoders().open("expert+classes").unwrap();
    let mut seen = [0; 5];
    for (checkers, position) in positions("backgammon classes", 2_000) {
        let game = Backgammon::new(checkers).unwrap();
        let state = State::to_roll(position);
        let (mut dense, mut plain, mut index) = ([0.0; 252], [0.0; 252], [0; 3]);
        let after = Afterstate { state: &state, action: None, player: 1 };
        encoder.encode(&game, after, RowMut { dense: &mut dense, index: &mut index });
        Expert.encode(&game, after, RowMut { dense: &mut plain, index: &mut [] });
        assert_eq!(dense, plain);
        let [phase, own, opponent] = index;
        seen[phase as usize] += 1;
        // Player 1 has moved, so the opponent is to roll.
        assert_eq!(
            (own, opponent),
            (position.opponent.pips().min(255).into(), position.own.pips().min(255).into())
        );
        assert_eq!(phase == 4, position.is_back_game());
        assert_eq!(phase < 4, phase == position.phase() as u64);
    }
    assert!(seen.iter().all(|&n| n > 10), "{seen:?}");
}
