//! Golden games, rows and refusals; compares the oracle with the best reply; tests the rule-based player.

use super::*;
use adept_game::{Afterstate, Game, Kit, RowMut, Turn, stream};
use adept_ground::shown::ascii;
use rand::RngExt;
use std::fmt::Write;

const GAME: ConnectFour = ConnectFour;

/// Plays a game move by move and records everything that the interface returns.
fn trajectory(moves: &str) -> String {
    let (mut text, mut state, mut actions) = (String::new(), GAME.start(), Vec::new());
    for step in moves.chars() {
        GAME.actions(&state, &mut actions);
        let legal: Vec<String> = actions.iter().map(|a| GAME.action_text(&state, a)).collect();
        writeln!(text, "{:?}: {} of {}", GAME.turn(&state), step, legal.join(" ")).unwrap();
        let action = GAME.parse_action(&state, &step.to_string()).unwrap();
        GAME.apply(&mut state, &action);
    }
    GAME.actions(&state, &mut actions);
    let utilities = [0, 1].map(|player| GAME.utility(&state, player));
    let (turn, text_of) = (GAME.turn(&state), GAME.position_text(&state));
    writeln!(
        text,
        "{turn:?}, {actions:?}, {utilities:?}\n{text_of}\n{}",
        GAME.texts().board(&GAME, &state, &[], 0)
    )
    .unwrap();
    assert_eq!(GAME.parse_position(&text_of), Ok((state, None)));
    text
}

#[test]
fn golden_games() {
    insta::assert_snapshot!("unfinished", trajectory("4354565"));
    insta::assert_snapshot!("won_upright", trajectory("1212121"));
    insta::assert_snapshot!("won_across", trajectory("1122334"));
    insta::assert_snapshot!("won_diagonally", trajectory("12234334464"));
    insta::assert_snapshot!("drawn", trajectory("225344533673453576212645522737771141641166"));
}

#[test]
fn marks_stand_below_the_columns_or_in_a_list() {
    let (state, _) = GAME.parse_position("44").unwrap();
    let marks = |marks: &[(u8, &str)]| -> Vec<(u8, String)> {
        marks.iter().map(|(column, mark)| (*column, mark.to_string())).collect()
    };
    insta::assert_snapshot!(GAME.texts().board(&GAME, &state, &marks(&[(0, "+0.02"), (3, "+0.50"), (6, "-0.12")]), 0), @r"
    ┌─────┬─────┬─────┬─────┬─────┬─────┬─────┐
    │     │     │     │     │     │     │     │  ● player 1
    ├─────┼─────┼─────┼─────┼─────┼─────┼─────┤
    │     │     │     │     │     │     │     │  ○ player 2
    ├─────┼─────┼─────┼─────┼─────┼─────┼─────┤
    │     │     │     │     │     │     │     │
    ├─────┼─────┼─────┼─────┼─────┼─────┼─────┤
    │     │     │     │     │     │     │     │
    ├─────┼─────┼─────┼─────┼─────┼─────┼─────┤
    │     │     │     │  ○  │     │     │     │
    ├─────┼─────┼─────┼─────┼─────┼─────┼─────┤
    │     │     │     │  ●  │     │     │     │
    └─────┴─────┴─────┴─────┴─────┴─────┴─────┘
       1     2     3     4     5     6     7
     +0.02             +0.50             -0.12
    ");
    insta::assert_snapshot!(GAME.texts().board(&GAME, &state, &marks(&[(0, "+0.02  loss 49 %"), (6, "-0.12  loss 56 %")]), 0), @r"
    ┌───┬───┬───┬───┬───┬───┬───┐
    │   │   │   │   │   │   │   │  ● player 1
    ├───┼───┼───┼───┼───┼───┼───┤
    │   │   │   │   │   │   │   │  ○ player 2
    ├───┼───┼───┼───┼───┼───┼───┤
    │   │   │   │   │   │   │   │
    ├───┼───┼───┼───┼───┼───┼───┤
    │   │   │   │   │   │   │   │
    ├───┼───┼───┼───┼───┼───┼───┤
    │   │   │   │ ○ │   │   │   │
    ├───┼───┼───┼───┼───┼───┼───┤
    │   │   │   │ ● │   │   │   │
    └───┴───┴───┴───┴───┴───┴───┘
      1   2   3   4   5   6   7

      1  +0.02  loss 49 %
      7  -0.12  loss 56 %
    ");
}

#[test]
fn boards_fit_the_terminal_in_ascii_too() {
    let mut rng = stream(3, "test", 0);
    let (mut state, mut actions) = (GAME.start(), Vec::new());
    for length in 0..200 {
        GAME.actions(&state, &mut actions);
        let marks: Vec<(u8, String)> =
            actions.iter().map(|column| (*column, "-".repeat(length % 12))).collect();
        let board = GAME.texts().board(&GAME, &state, &marks, 0);
        assert!(board.lines().all(|line| line.chars().count() < 80), "{board}");
        let plain = ascii(&board);
        assert!(plain.is_ascii() && !plain.contains('?'), "{plain}");
        assert!(board.lines().map(|line| line.chars().count()).eq(plain.lines().map(str::len)), "{plain}");
        match GAME.turn(&state) {
            Turn::Over => state = GAME.start(),
            _ => GAME.apply(&mut state, &actions[rng.random_range(0..actions.len())]),
        }
    }
}

#[test]
fn refusals_say_why() {
    let full = GAME.parse_position("121212").unwrap().0;
    let full = [0, 1, 0, 1].iter().fold(full, |mut state, column| {
        if GAME.turn(&state) != Turn::Over && state.playable(*column) {
            GAME.apply(&mut state, &(*column as u8));
        }
        state
    });
    let mut text = String::new();
    let over = GAME.parse_position("1212121").unwrap().0;
    for (state, action) in [(&over, "3"), (&full, "8"), (&full, "x"), (&full, "")] {
        writeln!(text, "{action}: {}", GAME.parse_action(state, action).unwrap_err()).unwrap();
    }
    for position in ["1111111", "9", "XX/", "X......", "......./......./......./X....../......./......."] {
        writeln!(text, "{}", GAME.parse_position(position).unwrap_err()).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn golden_rows() {
    let mut text = String::new();
    for name in ["cells", "threats"] {
        let encoder = GAME.encoders().open(name).unwrap();
        let width: usize = encoder.channels().iter().map(|c| c.kind.dense_width()).sum();
        for position in ["44", "4354", "112233"] {
            let state = GAME.parse_position(position).unwrap().0;
            let (mut dense, mut index) = (vec![0.0; width], [0]);
            let after = Afterstate { state: &state, action: None, player: 1 };
            encoder.encode(&GAME, after, RowMut { dense: &mut dense, index: &mut index });
            let ones: Vec<usize> = (0..width).filter(|i| dense[*i] == 1.0).collect();
            writeln!(text, "{name} {position}: {ones:?} {index:?}").unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn exact_values_are_those_of_the_best_reply() {
    let oracle = GAME.values().valuations.open("oracle").unwrap().unwrap();
    let draw = GAME.positions().draw("late").unwrap();
    let mut rng = stream(1, "test", 0);
    let value =
        |state: &Board, player: usize| oracle.value(&GAME, Afterstate { state, action: None, player });
    let (mut actions, mut seen) = (Vec::new(), [0; 3]);
    for _ in 0..300 {
        let state = draw(&mut rng);
        let Turn::Player(player) = GAME.turn(&state) else { panic!("the game is not over") };
        assert!((16..=36).contains(&state.count()));
        GAME.actions(&state, &mut actions);
        let best = actions.iter().map(|column| value(&state.play(usize::from(*column)), player));
        let best = best.fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(value(&state, player), best, "{}", state.to_text());
        assert_eq!(value(&state, 1 - player), -best);
        seen[(best + 1.0) as usize] += 1;
    }
    assert!(seen.iter().all(|n| *n > 5), "{seen:?}");
    assert!(value(&GAME.start(), 0).is_nan(), "early positions are not solved");
}

#[test]
fn tactical_wins_and_blocks() {
    let script = GAME.agents().scripts.open("tactical").unwrap();
    let policy = |moves: &str| {
        let (state, mut actions, mut p) = (GAME.parse_position(moves).unwrap().0, Vec::new(), Vec::new());
        GAME.actions(&state, &mut actions);
        script(&GAME, &state, &actions, &mut p);
        p
    };
    assert_eq!(policy("121212"), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "it wins rather than blocks");
    assert_eq!(policy("12131"), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "it blocks");
    assert_eq!(policy(""), [1.0 / 7.0; 7]);
}

#[test]
fn drawn_positions_have_numbers_of_their_own() {
    let draw = GAME.positions().draw("late").unwrap();
    let mut rng = stream(2, "test", 0);
    let mut numbers = std::collections::HashMap::new();
    for _ in 0..2000 {
        let state = draw(&mut rng);
        assert_eq!(*numbers.entry((GAME.positions().number)(&state)).or_insert(state), state);
        assert_eq!((GAME.positions().class)(&state), u64::from(state.count()));
    }
    assert!(numbers.len() > 1900);
}
