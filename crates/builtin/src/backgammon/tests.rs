//! Compares the rules with published counts and with a literal implementation; tests texts, boards, rows and exact
//! values.

use super::moves::reference;
use super::notation::place_text;
use super::*;
use crate::dice::{ROLLS, Roll};
use adept_game::{
    Afterstate, Game, Kit, RowMut, Stream, Turn, outcome_classes, outcome_of, possible_outcomes, stream,
};
use adept_ground::shown::ascii;
use rand::RngExt;
use std::collections::HashSet;

fn roll(text: &str) -> Roll {
    text.parse().unwrap()
}

pub(super) fn position(text: &str) -> Position {
    Backgammon::default().parse_position(text).unwrap().0.position()
}

pub(super) fn found(position: Position, roll: Roll) -> Vec<Position> {
    let mut all = Vec::new();
    results(position, roll, &mut all);
    all
}

/// Numbers of distinct results of the opening position.
const OPENING: [(&str, usize); 21] = [
    ("11", 42),
    ("21", 15),
    ("31", 16),
    ("41", 14),
    ("51", 8),
    ("61", 10),
    ("22", 75),
    ("32", 17),
    ("42", 18),
    ("52", 8),
    ("62", 14),
    ("33", 73),
    ("43", 17),
    ("53", 9),
    ("63", 14),
    ("44", 52),
    ("54", 9),
    ("64", 14),
    ("55", 4),
    ("65", 7),
    ("66", 11),
];

#[test]
fn counts_of_the_opening_are_the_published_ones() {
    let start = Position::start(15);
    for (text, count) in OPENING {
        assert_eq!(found(start, roll(text)).len(), count, "{text}");
    }
    let first: Vec<Position> = ROLLS.iter().flat_map(|&r| found(start, r)).collect();
    let both_orders: usize = ROLLS.iter().map(|&r| found(start, r).len() * r.ways() as usize).sum();
    let boards: HashSet<_> = first.iter().collect();
    assert_eq!((first.len(), both_orders, boards.len()), (447, 637, 406));
    let second: usize =
        first.iter().map(|p| ROLLS.iter().map(|&r| found(p.swapped(), r).len()).sum::<usize>()).sum();
    assert_eq!(second, 202_782);
}

/// A position of a random game, sometimes long before its end, sometimes near it.
pub(super) fn random_position(checkers: u8, rng: &mut Stream) -> Position {
    let game = Backgammon::new(checkers).unwrap();
    let (mut state, mut actions) = (game.start(), Vec::new());
    for _ in 0..rng.random_range(0..400) {
        let action = match game.turn(&state) {
            Turn::Over => break,
            Turn::Chance => game.sample(&state, rng),
            Turn::Player(_) => {
                game.actions(&state, &mut actions);
                actions[rng.random_range(0..actions.len())]
            }
        };
        game.apply(&mut state, &action);
    }
    state.position()
}

/// A random position that games may never reach: checkers anywhere, many on the bar, at home and off.
pub(super) fn wild_position(checkers: u8, rng: &mut Stream) -> Position {
    let spread = [1, 6, 12, 24][rng.random_range(0..4)];
    let mut sides = [[0; 26]; 2];
    for side in 0..2 {
        for _ in 0..checkers {
            let place = match rng.random_range(0..12) {
                0 => 25,
                1 => 0,
                _ => rng.random_range(1..=spread),
            };
            let blocked = (1..=24).contains(&place) && sides[1 - side][25 - place] > 0;
            sides[side][if blocked { 0 } else { place }] += 1;
        }
    }
    Position { own: Side::new(sides[0]), opponent: Side::new(sides[1]) }
}

#[test]
fn the_generator_agrees_with_the_literal_rules() {
    let mut rng = stream(1, "backgammon generator", 0);
    for k in 0..3_000 {
        let checkers = [15, 15, 15, 3, 1, 5][k % 6];
        let position = match k / 6 % 2 {
            0 => random_position(checkers, &mut rng),
            _ => wild_position(checkers, &mut rng),
        };
        if position.is_over() {
            continue;
        }
        let roll = ROLLS[rng.random_range(0..ROLLS.len())];
        let fast = found(position, roll);
        let set: HashSet<Position> = fast.iter().copied().collect();
        assert_eq!(set.len(), fast.len(), "{position} {roll}: repeats");
        assert_eq!(set, reference::results(position, roll), "{position} {roll}");
        assert!(fast.iter().all(|p| p.own.checkers() == checkers && p.opponent.checkers() == checkers));
    }
}

/// With checkers on 3 and 1 and the roll 3-2, a checker stays on 1 only if the other is moved by both dice.
#[test]
fn parts_of_moves_use_every_die() {
    let (state, _) = Backgammon::default().parse_position("3:1 1:1 off:13/6:15 32").unwrap();
    let roll = "32".parse().unwrap();
    let mut found: Vec<_> = found(state.position(), roll)
        .into_iter()
        .map(|after| (after.own.off(), die_by_die(state.position(), roll, after)))
        .collect();
    found.sort();
    assert_eq!(found, [(14, "3/1 1/off".to_string()), (15, "3/off 1/off".to_string())]);
}

#[test]
fn moves_read_back_as_they_are_written() {
    let mut rng = stream(2, "backgammon notation", 0);
    for k in 0..500 {
        let position = match k % 5 {
            0 => wild_position([3, 15][k / 5 % 2], &mut rng),
            _ => random_position(15, &mut rng),
        };
        if position.is_over() {
            continue;
        }
        let roll = ROLLS[rng.random_range(0..ROLLS.len())];
        let mut texts = HashSet::new();
        let afters = found(position, roll);
        // Texts of all moves at once equal those of single moves.
        let all = notation::texts(position, roll, &afters).into_iter().zip(parts(position, roll, &afters));
        for (after, (text, parts)) in afters.into_iter().zip(all) {
            assert_eq!(notation::text(position, roll, after), text);
            let text = text.unwrap();
            let words = parts.iter().map(|&(from, to)| format!("{}/{}", place_text(from), place_text(to)));
            assert_eq!(words.collect::<Vec<_>>().join(" "), die_by_die(position, roll, after));
            assert!(parts.len() <= if roll.is_double() { 4 } else { 2 });
            assert_eq!(notation::parse(position, roll, &text, ""), Ok(after), "{position} {roll}: {text}");
            assert!(texts.insert(text.clone()), "{position} {roll}: {text} twice");
        }
    }
}

#[test]
fn moves_are_written_as_players_do() {
    let written = |text: &str, roll_text: &str, moves: &str| {
        let (position, roll) = (position(text), roll(roll_text));
        let after = notation::parse(position, roll, moves, "").unwrap_or_else(|e| panic!("{moves}: {e}"));
        notation::text(position, roll, after).unwrap()
    };
    let start = "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5";
    assert_eq!(written(start, "31", "6/5 8/5"), "8/5 6/5");
    assert_eq!(written(start, "65", "24/18/13"), "24/13");
    assert_eq!(written(start, "11", "8/7(2) 6/5 6/5"), "8/7(2) 6/5(2)");
    assert_eq!(written(start, "66", "24/18(2) 13/7 13/7"), "24/18(2) 13/7(2)");
    let blot = "bar:1 13:5 8:3 6:6/24:2 21:1 13:4 8:3 6:5";
    assert_eq!(written(blot, "43", "bar/22 8/4"), "bar/22 8/4*");
    assert_eq!(written(blot, "42", "bar/21 6/4"), "bar/21 6/4*");
    // One checker moves by both dice, with and without a hit on the way.
    let ways = "13:5 8:4 6:6/24:2 21:1 13:4 8:3 6:5";
    assert_eq!(written(ways, "41", "8/3"), "8/3");
    assert_eq!(written(ways, "41", "8/4*/3"), "8/4*/3");
    assert_eq!(written("6:2 3:1 off:12/13:7 8:3 6:5", "62", "6/off 3/1"), "6/off 3/1");
}

#[test]
fn wrong_moves_are_named() {
    let error = |text: &str, roll_text: &str, moves: &str| {
        notation::parse(position(text), roll(roll_text), moves, "").unwrap_err()
    };
    let start = "24:2 13:5 8:3 6:5/24:2 13:5 8:3 6:5";
    let cases = [
        (start, "31", "8/5", "one more move is needed, a 1"),
        (start, "31", "8/5 8/5", "cannot be played together"),
        (start, "31", "7/4 6/5", "`7/4`: no checker on point 7"),
        (start, "65", "24/19 13/7", "`24/19`: the opponent blocks point 19"),
        (start, "31", "5/8", "checkers move to lower points"),
        (start, "31", "hello", "`hello` is not a checker move"),
        (start, "31", "8/5 6/5 6/5", "3 moves given, but 31 gives 2"),
        (start, "31", "8/5* 6/5", "hits 0 and not 1 checkers"),
        (start, "31", "pass", "passing is not allowed"),
        (start, "31", "", "the move is empty"),
        (start, "66", "24/18(2) 13/7", "one more move is needed, a 6"),
        (start, "61", "6/off 8/7", "bearing off takes all checkers on points 1 to 6"),
        ("bar:1 13:5 8:3 6:6/24:2 21:1 13:4 8:3 6:5", "43", "13/9 8/5", "must enter first"),
        ("bar:1 6:14/6:2 5:2 4:2 3:2 2:2 1:2 8:3", "31", "6/5", "nothing can move with 31: write `pass`"),
        // 24/18 and 24/20 are possible, but not both in sequence.
        ("24:1 off:14/13:11 11:2 8:2", "64", "24/20", "it must be the 6"),
    ];
    for (text, roll, moves, part) in cases {
        let error = error(text, roll, moves);
        assert!(error.contains(part), "{text} {roll} {moves}: {error}");
    }
}

#[test]
fn texts_and_ids_of_positions() {
    let game = Backgammon::default();
    let start = Position::start(15);
    assert_eq!(start.id(), "4HPwATDgc/ABMA");
    assert_eq!(start.xgid(Some(roll("31"))), "XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:0:0:10");
    let mut rng = stream(3, "backgammon ids", 0);
    for _ in 0..300 {
        let position = random_position(15, &mut rng);
        let mut texts = vec![position.to_string(), position.id(), position.xgid(None)];
        if !position.is_over() {
            texts.extend([
                format!("{position} 65"),
                format!("{} 65", position.id()),
                position.xgid(Some(roll("65"))),
            ]);
        }
        for (k, text) in texts.iter().enumerate() {
            let (state, _) = game.parse_position(text).unwrap();
            assert_eq!(state.position(), position, "{text}");
            assert_eq!(matches!(state.stage, Stage::Move(_)), k > 2);
        }
    }
    // The player with the lowercase letters is to move: the same board from the other side.
    let turned = game.parse_position("XGID=-b----E-C---eE---c-e----B-:0:0:-1:65:0:0:0:0:10").unwrap().0;
    assert_eq!((turned.position(), turned.stage), (start, Stage::Move(roll("65"))));
}

#[test]
fn wrong_positions_are_named() {
    let cases = [
        ("24:16/6:15", "`24:16` is not a place"),
        ("24:15 6:1/6:15", "are 16 checkers; a side has 15"),
        ("24:2 24:1/6:15", "names its place a second time"),
        ("24:2/1:2", "both sides stand on point 24"),
        ("6:3 off:11/6:15", "12 of 15 checkers are off"),
        ("off:15/off:15", "both sides have borne off all"),
        ("off:15/6:15 31", "the game is over"),
        ("24:2 13:5", "there is no `/`"),
        ("6:15/6:15 70", "`70` is not a roll"),
        ("4HPwATDgc/ABM", "13 instead of 14 characters"),
        ("XGID=-b----E-C---eE---c-e----P-:0:0:1:31:0:0:0:0:10", "must be A to O"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:07:0:0:0:0:10", "the dice"),
        ("XGID=-b----E-C---eE---c-e----C-:0:0:1:31:0:0:0:0:10", "16 checkers"),
    ];
    for (text, part) in cases {
        let error = Backgammon::default().parse_position(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn results_of_games() {
    let worth = |text: &str| {
        let game = Backgammon::default();
        let state = game.parse_position(text).unwrap().0;
        assert_eq!(game.turn(&state), Turn::Over);
        assert_eq!(game.utility(&state, 0), -game.utility(&state, 1));
        game.utility(&state, 0)
    };
    assert_eq!(worth("6:14 off:1/off:15"), -1.0);
    assert_eq!(worth("6:14 7:1/off:15"), -2.0);
    assert_eq!(worth("6:14 18:1/off:15"), -2.0);
    assert_eq!(worth("6:14 19:1/off:15"), -3.0);
    assert_eq!(worth("6:14 bar:1/off:15"), -3.0);
    assert_eq!(worth("6:13 off:1 bar:1/off:15"), -1.0);
    assert_eq!(worth("off:15/6:14 24:1"), 3.0);
}

#[test]
fn phases_are_those_of_gnubg() {
    assert_eq!(position("6:5 8:3 13:5 24:2/6:5 8:3 13:5 24:2").phase(), Phase::Contact);
    assert_eq!(position("6:15/6:15").phase(), Phase::Bearoff);
    assert_eq!(position("7:1 6:14/6:15").phase(), Phase::Race);
    // The rearmost points are 12 and 12: passed. 13 and 12: contact.
    assert_eq!(position("12:2 6:13/12:2 6:13").phase(), Phase::Race);
    assert_eq!(position("13:2 6:13/11:2 6:13").phase(), Phase::Race);
    assert_eq!(position("14:2 6:13/12:2 6:13").phase(), Phase::Contact);
    assert_eq!(position("24:2 1:5 2:5 3:3/6:5 8:3 13:7").phase(), Phase::Crashed);
}

#[test]
fn golden_board_and_row() {
    let game = Backgammon::default();
    let (state, _) = game.parse_position("bar:1 13:5 8:3 6:6/24:2 21:1 13:4 8:3 6:5 42").unwrap();
    insta::assert_snapshot!(game.texts().board(&game, &state, &[], 0), @r"
     ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐
     │ ●           ○    │   │ ○                │  ○ 175 pips, 0 off
     │ ●           ○    │   │ ○                │
     │ ●           ○    │   │ ○                │
     │ ●                │   │ ○                │
     │ ●                │   │ ○                │
     │                  │BAR│                  │  ● to move 4-2
     │                  │ ● │ 6                │
     │ ○                │   │ ●                │
     │ ○           ●    │   │ ●                │
     │ ○           ●    │   │ ●              ○ │
     │ ○           ●    │   │ ●     ○        ○ │  ● 150 pips, 0 off
     └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘
     4HPwADHg5+ADQA  XGID=-b--a-F-C---dE---c-e-----A:0:0:1:42:0:0:0:0:10
    ");
    let encoder = game.encoders().open("points").unwrap();
    let mut dense = vec![0.0; 202];
    let after = Afterstate { state: &state, action: None, player: 0 };
    encoder.encode(&game, after, RowMut { dense: &mut dense, index: &mut [] });
    let inputs: Vec<String> =
        (0..202).filter(|&k| dense[k] != 0.0).map(|k| format!("{k}:{}", dense[k])).collect();
    insta::assert_snapshot!(inputs.join(" "), @"20:1 21:1 22:1 23:1.5 28:1 29:1 30:1 48:1 49:1 50:1 51:1 96:1 121:1 122:1 123:1 124:1 129:1 130:1 131:1 149:1 150:1 151:1 152:0.5 181:1 193:1 194:1");
}

#[test]
fn golden_boards() {
    let game = Backgammon::default();
    insta::assert_snapshot!(game.texts().board(&game, &game.start(), &[], 0), @r"
     ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐
     │ ●           ○    │   │ ○              ● │  ○ 167 pips, 0 off
     │ ●           ○    │   │ ○              ● │
     │ ●           ○    │   │ ○                │
     │ ●                │   │ ○                │
     │ ●                │   │ ○                │
     │                  │BAR│                  │
     │ ○                │   │ ●                │
     │ ○                │   │ ●                │
     │ ○           ●    │   │ ●                │
     │ ○           ●    │   │ ●              ○ │
     │ ○           ●    │   │ ●              ○ │  ● 167 pips, 0 off
     └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘
    ");
    let (state, _) = game.parse_position("bar:2 6:7 3:2 off:4/20:2 4:9 1:3 off:1 63").unwrap();
    insta::assert_snapshot!(game.texts().board(&game, &state, &[], 0), @r"
     ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐
     │                  │   │       ○        ○ │  ○ 79 pips, 1 off
     │                  │   │       ○        ○ │
     │                  │   │       ○        ○ │
     │                  │   │       ○          │
     │                  │   │       9          │
     │                  │BAR│                  │  ● to move 6-3
     │                  │ ● │ 7                │
     │                  │ ● │ ●                │
     │                  │   │ ●                │
     │                  │   │ ●  ○     ●       │
     │                  │   │ ●  ○     ●       │  ● 98 pips, 4 off
     └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘
     x38AgAHGHwAAAw  XGID=---B-bG--------------i--cB:0:0:1:63:0:0:0:0:10
    ");
    // Player 2 also sees its own side below.
    insta::assert_snapshot!(game.texts().board(&game, &State { player: 1, ..state }, &[], 0), @r"
     ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐
     │                  │   │ ●  ○     ●       │  ● 98 pips, 4 off
     │                  │   │ ●  ○     ●       │
     │                  │   │ ●                │
     │                  │ ● │ ●                │
     │                  │ ● │ 7                │
     │                  │BAR│                  │  ○ to move 6-3
     │                  │   │       9          │
     │                  │   │       ○          │
     │                  │   │       ○        ○ │
     │                  │   │       ○        ○ │
     │                  │   │       ○        ○ │  ○ 79 pips, 1 off
     └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘
     jD8AAHb8BwAYAA  XGID=bC--I--------------gB-b---:0:0:1:63:0:0:0:0:10
    ");
    let (state, _) = game.parse_position("off:15/bar:1 22:2 4:9 1:3").unwrap();
    insta::assert_snapshot!(game.texts().board(&game, &state, &[], 0), @r"
     ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐
     │                  │   │       ○        ○ │  ○ 108 pips, 0 off
     │                  │   │       ○        ○ │
     │                  │   │       ○        ○ │
     │                  │   │       ○          │
     │                  │ ○ │       9          │
     │                  │BAR│                  │  ● has won a backgammon
     │                  │   │                  │
     │                  │   │                  │
     │                  │   │                  │
     │                  │   │          ○       │
     │                  │   │          ○       │  ● 0 pips, 15 off
     └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘
    ");
    // Player 2 has lost and still sees its own side below.
    insta::assert_snapshot!(game.texts().board(&game, &state, &[], 1), @r"
     ┌13─14─15─16─17─18─┬───┬19─20─21─22─23─24─┐
     │                  │   │          ○       │  ● 0 pips, 15 off
     │                  │   │          ○       │
     │                  │   │                  │
     │                  │   │                  │
     │                  │   │                  │
     │                  │BAR│                  │  ● has won a backgammon
     │                  │ ○ │       9          │
     │                  │   │       ○          │
     │                  │   │       ○        ○ │
     │                  │   │       ○        ○ │
     │                  │   │       ○        ○ │  ○ 108 pips, 0 off
     └12─11─10──9──8──7─┴───┴─6──5──4──3──2──1─┘
    ");
}

#[test]
fn boards_fit_the_terminal_in_ascii_too() {
    let mut rng = stream(5, "backgammon boards", 0);
    let mut actions = Vec::new();
    for game in [Backgammon::default(), Backgammon::new(3).unwrap()] {
        let mut state = game.start();
        while game.turn(&state) != Turn::Over {
            let action = match game.turn(&state) {
                Turn::Chance => game.sample(&state, &mut rng),
                _ => {
                    game.actions(&state, &mut actions);
                    actions[rng.random_range(0..actions.len())]
                }
            };
            game.apply(&mut state, &action);
            let board = game.texts().board(&game, &state, &[], 0);
            assert!(board.lines().all(|line| line.chars().count() < 80), "{board}");
            let plain = ascii(&board);
            assert!(plain.is_ascii() && !plain.contains('?'), "{plain}");
            assert!(
                board.lines().map(|line| line.chars().count()).eq(plain.lines().map(str::len)),
                "{plain}"
            );
        }
    }
}

/// Recomputes V(own, opponent) from all results of all rolls.
fn backed_up(table: &exact::Table, position: Position) -> f64 {
    let best = |roll: Roll| {
        let value = |after: &Position| -table.value(after.swapped()).unwrap();
        found(position, roll).iter().map(value).fold(f64::MIN, f64::max)
    };
    ROLLS.iter().map(|&roll| f64::from(roll.ways()) / 36.0 * best(roll)).sum()
}

#[test]
fn exact_values_are_those_of_the_best_reply() {
    for checkers in [1, 2] {
        let table = exact::Table::solve(checkers, 1e-9, 0).unwrap();
        let mut rng = stream(4, "backgammon exact", 0);
        let draw = Backgammon::new(checkers).unwrap().positions().draw("all").unwrap();
        for _ in 0..2_000 {
            let position = draw(&mut rng).position();
            let (value, again) = (table.value(position).unwrap(), backed_up(&table, position));
            assert!((value - again).abs() < 1e-6, "{position}: {value} {again}");
        }
    }
    assert_eq!(exact::Table::solve(1, 1e-9, 0).unwrap().positions(), 601);
}

#[test]
fn the_oracle_values_positions_for_the_side_that_moved() {
    let game = Backgammon::new(1).unwrap();
    let oracle = game.values().valuations.open("oracle").unwrap().unwrap();
    let table = exact::Table::solve(1, 1e-9, 0).unwrap();
    let value = |text: &str, player| {
        let state = game.parse_position(text).unwrap().0;
        oracle.value(&game, Afterstate { state: &state, action: None, player })
    };
    // The side to roll bears off its checker unless the throw has a 1 without a 5 or 6: wins are gammons.
    let equity = table.value(game.parse_position("6:1/6:1").unwrap().0.position()).unwrap();
    assert!((equity - 1.25).abs() < 1e-6, "{equity}");
    assert!((value("6:1/6:1", 0) - equity / 3.0).abs() < 1e-7);
    assert!((value("6:1/6:1", 1) + equity / 3.0).abs() < 1e-7);
    assert_eq!([value("24:1/off:1", 0), value("24:1/off:1", 1)], [-1.0, 1.0]);
    assert_eq!([value("18:1/off:1", 1), value("6:1/off:1", 0)], [2.0 / 3.0, -2.0 / 3.0]);
    // Both sides on one point, and sides of another game.
    let side = |place: usize, count| {
        let mut places = [0; 26];
        places[place] = count;
        Side::new(places)
    };
    assert_eq!(table.value(Position { own: side(24, 1), opponent: side(1, 1) }), None);
    assert_eq!(table.value(Position { own: side(0, 1), opponent: side(6, 15) }), None);
}

/// A coarsely solved table is within its bound of a fine one.
#[test]
fn tables_keep_their_bounds() {
    for checkers in [1, 2] {
        let [coarse, fine] = [1e-4, 1e-12].map(|change| exact::Table::solve(checkers, change, 0).unwrap());
        assert!(fine.bound() < 2e-7 && coarse.bound() > 1e-5 && coarse.bound() < 0.1, "{}", coarse.bound());
        let draw = Backgammon::new(checkers).unwrap().positions().draw("all").unwrap();
        let (mut rng, mut most) = (stream(6, "backgammon exact", 0), 0.0_f64);
        for _ in 0..2_000 {
            let position = draw(&mut rng).position();
            let [a, b] = [&coarse, &fine].map(|table| table.value(position).unwrap());
            most = most.max((a - b).abs());
        }
        assert!(most <= coarse.bound(), "{most} {}", coarse.bound());
    }
}

#[test]
fn tables_are_read_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("two.table");
    let table = exact::Table::solve(2, 1e-6, 0).unwrap();
    table.save(&path).unwrap();
    let read = exact::Table::open(&path).unwrap();
    assert_eq!((read.checkers(), read.bound()), (2, table.bound()));
    let draw = Backgammon::new(2).unwrap().positions().draw("all").unwrap();
    let mut rng = stream(5, "backgammon exact", 0);
    for _ in 0..500 {
        let position = draw(&mut rng).position();
        assert_eq!(read.value(position), table.value(position));
    }
    let whole = std::fs::read(&path).unwrap();
    let broken = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        exact::Table::open(&path).err().unwrap().to_string()
    };
    assert!(broken(&whole[..whole.len() - 1]).contains("damaged"));
    assert!(broken(&[&whole[..40], &[1], &whole[41..]].concat()).contains("damaged"));
    assert!(broken(b"adept").contains("not a table"));
    assert!(broken(&vec![0; 50_000_000]).contains("more than any table"));
}

#[test]
fn a_match_id_may_follow_a_space() {
    let game = Backgammon::default();
    let with = |text: &str| game.parse_position(text).unwrap().0;
    let expected = with("4HPwATDgc/ABMA:cAkAAAAAAAAA");
    for text in [
        "4HPwATDgc/ABMA cAkAAAAAAAAA",
        " Position ID: 4HPwATDgc/ABMA  cAkAAAAAAAAA ",
        "Position ID: 4HPwATDgc/ABMA Match ID: cAkAAAAAAAAA",
        "GNU Backgammon  Position ID: 4HPwATDgc/ABMA\n                 Match ID   : cAkAAAAAAAAA",
        "Position-ID: 4HPwATDgc/ABMA Match-ID: cAkAAAAAAAAA",
    ] {
        assert_eq!(with(text), expected, "{text}");
    }
    assert_eq!(with("4HPwATDgc/ABMA cAkAAAAAAAAA 31"), with("4HPwATDgc/ABMA 31"));
}

#[test]
fn impossible_ids_and_places_are_refused() {
    let game = Backgammon::default();
    for (text, expected) in [
        ("XGID=-b----E-C---eE---c-e----B-:-5:0:1:31:0:0:0:0:10", "`-5`, the cube, is not possible"),
        ("XGID=-b----E-C---eE---c-e----B-:0:2:1:31:0:0:0:0:10", "`2`, the cube's owner, is not possible"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:-1:0:0:0:10", "`-1`, the score, is not possible"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:31:0:0:4:0:10", "`4`, the rules, is not possible"),
        ("XGID=-b----E-C---eE---c-e----B-:0:0:1:07:0:0:0:0:10", "`07`, the dice"),
        ("24:2 19:0 13:5 8:3 6:5/24:2 13:5 8:3 6:5", "`19:0` is not a place with its checkers"),
        ("4HPwATDgc/ABMA cAkAAAAAAAA", "is not a roll"),
    ] {
        let error = game.parse_position(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert!(game.parse_position("24:2 13:5 8:3 6:5 off:0/24:2 13:5 8:3 6:5").is_ok());
}

/// The possible classes for the side to roll, by name, and the mirrored ones for its opponent.
fn possible(game: &Backgammon, text: &str) -> Vec<String> {
    let (state, classes) = (game.parse_position(text).unwrap().0, outcome_classes(game).unwrap());
    let [own, other] = [0, 1].map(|player| possible_outcomes(game, &classes, &state, player));
    assert_eq!(own, other.mirrored(&classes), "{text}");
    let turned = State { sides: [state.sides[1], state.sides[0]], player: 1, ..state };
    assert_eq!(own, possible_outcomes(game, &classes, &turned, 1), "{text}");
    let listed = (0..6).filter(|&k| own.allows(k)).map(|k| classes[k].name.clone());
    listed.collect()
}

#[test]
fn impossible_outcomes_are_told() {
    let game = Backgammon::default();
    let all = ["loss_backgammon", "loss_gammon", "loss", "win", "win_gammon", "win_backgammon"];
    for (text, listed) in [
        ("start", 0..6),
        ("6:4 5:2 3:1 off:8/6:3 2:2 off:10", 2..4),
        ("6:4 5:2 3:1 off:8/10:3 6:10 2:2", 2..5),
        ("10:3 6:10 2:2/6:4 5:2 3:1 off:8", 1..4),
        ("18:3 6:10 2:2/6:10 5:4 3:1", 1..5),
        // One checker in the opponent's home after passing may stay there. Or the opponent's last checker has not
        // passed it.
        ("19:1 18:2 6:10 2:2/5:10 4:4 3:1", 0..5),
        ("18:3 6:10 2:2/8:1 6:10 5:3 3:1", 0..6),
        // A side with a checker off loses no gammon, even from the bar, whether or not it hits.
        ("bar:1 6:2 off:12/6:10 5:4 3:1", 2..6),
        ("bar:1 6:12 5:2/6:2 5:3 off:10", 0..4),
    ] {
        assert_eq!(possible(&game, text), all[listed], "{text}");
    }
    let hyper = Backgammon::new(3).unwrap();
    assert_eq!(possible(&hyper, "6:2 off:1/24:3"), all[2..6]);
    assert_eq!(possible(&hyper, "6:3/18:3"), all[1..5]);
    // Other classes with the same utilities, in another order.
    let classes =
        [adept_game::OutcomeClass::new("gammon", 2.0 / 3.0, 0), outcome_classes(&game).unwrap()[3].clone()];
    let state = game.parse_position("6:4 5:2 3:1 off:8/6:3 2:2 off:10").unwrap().0;
    let mask = possible_outcomes(&game, &classes, &state, 0);
    assert_eq!([0, 1].map(|k| mask.allows(k)), [false, true]);
}

/// Games from rare positions, with checkers off before contact ends, end in classes that were possible.
#[test]
fn games_from_rare_positions_end_in_possible_classes() {
    let (game, mut rng, mut actions) = (Backgammon::default(), stream(6, "rare", 0), Vec::new());
    let classes = outcome_classes(&game).unwrap();
    for distribution in game.positions().distributions {
        for _ in 0..60 {
            let mut state = (distribution.draw)(&mut rng);
            let mut before = adept_game::OutcomeMask::ALL;
            loop {
                let now = possible_outcomes(&game, &classes, &state, 0);
                assert_eq!(before.and(now), now, "{}", game.position_text(&state));
                before = now;
                let action = match game.turn(&state) {
                    Turn::Over => break,
                    Turn::Chance => game.sample(&state, &mut rng),
                    Turn::Player(_) => {
                        game.actions(&state, &mut actions);
                        actions[rng.random_range(0..actions.len())]
                    }
                };
                game.apply(&mut state, &action);
            }
            assert!(before.allows(outcome_of(&game, &classes, &state, 0).unwrap()));
        }
    }
}

/// Labels give impossible classes no probability, and labels with only impossible classes are refused.
#[test]
fn labels_of_impossible_outcomes_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let (game, path) = (Backgammon::default(), folder.path().join("labels.csv"));
    let header = "position,loss_backgammon,loss_gammon,loss,win,win_gammon,win_backgammon";
    // The side to roll has checkers off.
    let text = "6:4 5:2 3:1 off:8/10:3 6:10 2:2";
    std::fs::write(&path, format!("{header}\n{text},0.1,0.1,0.2,0.3,0.1,0.2\n")).unwrap();
    let example = &game.files().read_examples(&game, &path).unwrap()[0];
    // For the player who just acted.
    let wanted = [0.0, 1.0 / 6.0, 0.5, 1.0 / 3.0, 0.0, 0.0];
    assert!(example.outcomes.iter().zip(wanted).all(|(p, q)| (p - q).abs() < 1e-12), "{example:?}");
    assert!((example.value - (1.0 / 3.0 - 0.5 - 2.0 / 6.0) / 3.0).abs() < 1e-7, "{example:?}");
    std::fs::write(&path, format!("{header}\n{text},0.5,0.5,0,0,0,0\n")).unwrap();
    let error = game.files().read_examples(&game, &path).unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("impossible in this position"), "{error}");
}

#[test]
fn starters_are_measured_against_agents_of_the_rule_set() {
    for game in [Backgammon::default(), Backgammon::new(3).unwrap(), Backgammon::new(2).unwrap()] {
        let starter = game.card().starter.unwrap();
        let line = starter.lines().find_map(|line| line.strip_prefix("against = [")).unwrap();
        let opponents = line.split(']').next().unwrap().split(", ").map(|name| name.trim_matches('"'));
        let scripts = game.agents().scripts;
        let known = |name: &str| name == "random" || scripts.names().iter().any(|script| script.name == name);
        let opponents: Vec<&str> = opponents.collect();
        assert!(opponents.iter().all(|name| known(name)), "{}: {opponents:?}", game.name());
        assert_eq!(opponents[0] == "pubeval", game == Backgammon::default());
    }
}
