//! Tic-tac-toe through its public interface: rules, symmetries, texts, encoders, and the opponent TTT.

use adept_builtin::tictactoe::{
    Canonical, Fields, LINES, Position, SYMMETRIES, TicTacToe, has_line, ttt_moves,
};
use adept_game::{
    Afterstate, Encoder, Game, GameInfo, Kit, RowMut, Turn, outcome_classes, outcome_of, possible_outcomes,
};
use proptest::prelude::*;
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

const GAME: TicTacToe = TicTacToe;

/// The position that the text names.
fn at(text: &str) -> Position {
    GAME.parse_position(text).unwrap_or_else(|e| panic!("{e}")).0
}

fn legal(state: &Position) -> Vec<u8> {
    let mut actions = vec![77];
    GAME.actions(state, &mut actions);
    actions
}

fn after(state: &Position, action: u8) -> Position {
    let mut next = *state;
    GAME.apply(&mut next, &action);
    next
}

/// Every pair of (position, last square played) reachable by legal play, and the start.
fn reachable_with_last() -> HashSet<(Position, Option<u8>)> {
    let start = (GAME.start(), None);
    let (mut found, mut open) = (HashSet::from([start]), vec![start]);
    while let Some((state, _)) = open.pop() {
        for action in legal(&state) {
            let next = (after(&state, action), Some(action));
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    found
}

/// Every position reachable by legal play.
fn reachable() -> HashSet<Position> {
    reachable_with_last().into_iter().map(|(state, _)| state).collect()
}

/// A canonical representative of the symmetric positions.
fn class(state: &Position) -> Position {
    (0..8).map(|k| state.under(k)).min_by_key(|p| p.stones).expect("there are eight symmetries")
}

fn classes<'a>(states: impl IntoIterator<Item = &'a Position>) -> usize {
    states.into_iter().map(class).collect::<HashSet<_>>().len()
}

/// The image of a set of squares.
fn image(set: u16, k: usize) -> u16 {
    (0..9).filter(|s| set >> s & 1 == 1).fold(0, |image, s| image | 1 << SYMMETRIES[k][s])
}

/// A row as the encoder fills it: columns of dense channels, columns of index channels.
fn row(
    encoder: &dyn Encoder<TicTacToe>,
    state: &Position,
    action: Option<u8>,
    player: usize,
) -> (Vec<f32>, Vec<u64>) {
    use adept_game::ChannelKind::{Bits, Dense, Index, Key, Value};
    let (mut dense, mut index) = (0, 0);
    for channel in encoder.channels() {
        match channel.kind {
            Dense(n) | Bits(n) => dense += n,
            Value => dense += 1,
            Index(_) | Key => index += 1,
        }
    }
    let (mut dense, mut index) = (vec![0.0; dense], vec![0; index]);
    let afterstate = Afterstate { state, action: action.as_ref(), player };
    encoder.encode(&GAME, afterstate, RowMut { dense: &mut dense, index: &mut index });
    (dense, index)
}

// ---------------------------------------------------------------------------------------------- counts

#[test]
fn games_end_in_classes_that_were_possible() {
    let classes = outcome_classes(&GAME).unwrap();
    let possible = |state: &Position| possible_outcomes(&GAME, &classes, state, 0);
    for state in reachable() {
        for action in legal(&state) {
            let next = possible(&after(&state, action));
            assert_eq!(possible(&state).and(next), next);
        }
        if GAME.turn(&state) == Turn::Over {
            assert!(possible(&state).allows(outcome_of(&GAME, &classes, &state, 0).unwrap()));
        }
    }
    for (text, listed) in [
        (".........", [true, true, true]),
        ("X...O...X", [true, true, true]),
        ("XOX.O....", [true, true, true]),
        ("XOXXO.OX.", [false, true, true]),
        ("XOXXOOOX.", [false, true, false]),
    ] {
        assert_eq!([0, 1, 2].map(|k| possible(&at(text)).allows(k)), listed, "{text}");
    }
}

#[test]
fn the_game_has_5478_positions_and_255168_courses() {
    let all = reachable();
    let mut by_stones = [0; 10];
    for state in &all {
        by_stones[state.stones.map(u16::count_ones).iter().sum::<u32>() as usize] += 1;
    }
    assert_eq!(by_stones, [1, 9, 72, 252, 756, 1260, 1520, 1140, 390, 78]);
    assert_eq!((all.len(), classes(&all)), (5478, 765));

    let ended: Vec<&Position> = all.iter().filter(|s| GAME.turn(s) == Turn::Over).collect();
    assert_eq!((ended.len(), classes(ended.iter().copied())), (958, 138));
    let of_utility = |u: f64| ended.iter().filter(|s| GAME.utility(s, 0) == u).count();
    assert_eq!([1.0, -1.0, 0.0].map(of_utility), [626, 316, 16]);

    fn courses(state: &Position) -> [usize; 3] {
        if GAME.turn(state) == Turn::Over {
            return [1.0, -1.0, 0.0].map(|u| usize::from(GAME.utility(state, 0) == u));
        }
        let below = legal(state).into_iter().map(|a| courses(&after(state, a)));
        below.fold([0; 3], |sum, n| [sum[0] + n[0], sum[1] + n[1], sum[2] + n[2]])
    }
    assert_eq!(courses(&GAME.start()), [131_184, 77_904, 46_080], "games won by X, by O, drawn");
}

/// The afterstates that a learner meets: positions right after its own move, if it plays any legal move and TTT follows
/// its rules, with the learner moving first and second. The two sets are disjoint: odd and even numbers of stones.
#[test]
fn play_against_ttt_meets_4381_afterstates_of_601_classes() {
    fn own_afterstates(seat: usize) -> HashSet<Position> {
        let (mut seen, mut own) = (HashSet::new(), HashSet::new());
        let mut open = vec![GAME.start()];
        while let Some(state) = open.pop() {
            if !seen.insert(state) {
                continue;
            }
            let Turn::Player(player) = GAME.turn(&state) else { continue };
            for action in legal(&state) {
                let next = after(&state, action);
                if player == seat {
                    own.insert(next);
                } else if ttt_moves(&state) >> action & 1 == 0 {
                    continue;
                }
                open.push(next);
            }
        }
        own
    }
    let [first, second] = [0, 1].map(own_afterstates);
    assert!(first.is_disjoint(&second));
    let going_on = |set: &HashSet<Position>| -> HashSet<Position> {
        set.iter().copied().filter(|s| GAME.turn(s) != Turn::Over).collect()
    };
    for (own, all, open, open_classes) in [(&first, 2393, 2025, 278), (&second, 2472, 2356, 323)] {
        assert_eq!((own.len(), going_on(own).len(), classes(&going_on(own))), (all, open, open_classes));
    }
    let both: HashSet<Position> = first.union(&second).copied().collect();
    assert_eq!((both.len(), going_on(&both).len(), classes(&going_on(&both))), (4865, 4381, 601));
}

// ----------------------------------------------------------------------------------------------- rules

#[test]
fn the_rules_are_those_of_every_school_book() {
    assert_eq!((GAME.name(), GAME.players(), GAME.zero_sum(), GAME.scale()), ("tictactoe", 2, true, 1.0));
    assert!(GAME.start() == at(".........") && GAME.is_small());
    // Squares 1..9 from the top left: three rows, three columns, two diagonals.
    let lines = ["123", "456", "789", "147", "258", "369", "159", "357"];
    let lines = lines.map(|l| l.bytes().fold(0u16, |set, b| set | 1 << (b - b'1')));
    assert_eq!(LINES.into_iter().collect::<HashSet<_>>(), HashSet::from(lines));
    for set in 0..512u16 {
        assert_eq!(has_line(set), lines.iter().any(|l| set & l == *l), "{set:09b}");
    }
    for state in reachable() {
        let [x, o] = state.stones;
        let line_of = [x, o].map(|stones| lines.iter().any(|l| stones & l == *l));
        let over = line_of[0] || line_of[1] || x | o == 0b111_111_111;
        let mover = usize::from(x.count_ones() > o.count_ones());
        assert_eq!(GAME.turn(&state), if over { Turn::Over } else { Turn::Player(mover) }, "{state:?}");
        let empty: Vec<u8> = (0..9).filter(|s| (x | o) >> s & 1 == 0).collect();
        assert_eq!(legal(&state), if over { vec![] } else { empty }, "{state:?}");
        for player in 0..2 {
            let utility = f64::from(line_of[player]) - f64::from(line_of[1 - player]);
            assert_eq!(GAME.utility(&state, player), utility, "{state:?}");
            assert_eq!(GAME.info(&state, player), state, "nothing is hidden");
        }
        let last = (state != GAME.start()).then_some(1 - mover);
        assert_eq!(GAME.just_acted(&state), last, "{state:?}");
        let mut outcomes = vec![(0, 1.0)];
        assert!(GAME.outcomes(&state, &mut outcomes) && outcomes.is_empty(), "nothing is left to chance");
        for action in legal(&state) {
            let next = after(&state, action);
            assert_eq!(next.stones[mover], state.stones[mover] | 1 << action);
            assert_eq!(next.stones[1 - mover], state.stones[1 - mover]);
        }
    }
}

/// A game as a spectator of the whole interface would record it.
fn record(title: &str, moves: &str) -> String {
    let mut text = format!("{title}\n");
    let mut state = GAME.start();
    let mut moves = moves.split(' ');
    loop {
        let infos = [0, 1].map(|p| GAME.position_text(&GAME.info(&state, p)));
        let _ = write!(text, "\n{}   {:?}", GAME.position_text(&state), GAME.turn(&state));
        let _ = writeln!(text, "   players know {} {}", infos[0], infos[1]);
        text.push_str(&GAME.texts().board(&GAME, &state, &[], 0));
        let actions: Vec<String> = legal(&state).iter().map(|a| GAME.action_text(&state, a)).collect();
        if GAME.turn(&state) == Turn::Over {
            assert_eq!((moves.next(), actions.len()), (None, 0));
            let _ = writeln!(text, "utilities {:+} {:+}", GAME.utility(&state, 0), GAME.utility(&state, 1));
            return text;
        }
        let action = GAME.parse_action(&state, moves.next().expect("the game goes on")).expect("it is legal");
        let _ = writeln!(text, "of {} takes {}", actions.join(" "), GAME.action_text(&state, &action));
        GAME.apply(&mut state, &action);
    }
}

#[test]
fn golden_games() {
    insta::assert_snapshot!("won_by_the_first", record("X forks from two corners", "1 5 9 3 7 8 4"));
    insta::assert_snapshot!("won_by_the_second", record("X looks away once", "8 1 2 5 3 9"));
    insta::assert_snapshot!("drawn", record("neither errs", "5 1 3 7 4 6 2 8 9"));
}

#[test]
fn marks_stand_on_empty_squares_only() {
    let marks = [(0, "hidden".to_string()), (1, "+.25".to_string()), (8, "−1".to_string())];
    insta::assert_snapshot!("marks", GAME.texts().board(&GAME, &at("X...O...."), &marks, 0));
}

// ----------------------------------------------------------------------------------------------- texts

#[test]
fn position_texts_read_back_to_the_position_and_the_last_square() {
    for (state, last) in reachable_with_last() {
        let text = GAME.position_text(&state);
        assert_eq!(GAME.parse_position(&text), Ok((state, None)));
        // Row by row, in lowercase, with other signs for empty.
        for empty in ["-", "_"] {
            let rows: Vec<String> =
                [0, 3, 6].map(|i| text[i..i + 3].to_lowercase().replace('.', empty)).into();
            assert_eq!(GAME.parse_position(&rows.join("/")), Ok((state, None)));
            assert_eq!(GAME.parse_position(&rows.join(" ")), Ok((state, None)));
        }
        if let Some(last) = last {
            assert_eq!(GAME.parse_position(&format!("{text}@{}", last + 1)), Ok((state, Some(last))));
        }
    }
}

/// Of all boards with all last squares, exactly the reachable ones are accepted.
#[test]
fn position_texts_that_play_cannot_come_to_are_refused() {
    let known = reachable_with_last();
    let positions: HashSet<Position> = known.iter().map(|k| k.0).collect();
    let mut accepted = 0;
    for code in 0..3usize.pow(9) {
        let text: String =
            (0..9).map(|s| [".", "X", "O"][code / 3usize.pow(s) % 3]).collect::<Vec<_>>().concat();
        let Ok((state, None)) = GAME.parse_position(&text) else { continue };
        accepted += 1;
        assert!(positions.contains(&state), "{text} cannot come about");
        for last in 0..9 {
            let with_last = format!("{text}@{}", last + 1);
            let read = GAME.parse_position(&with_last);
            assert_eq!(read.is_ok(), known.contains(&(state, Some(last))), "{with_last}: {read:?}");
        }
    }
    assert_eq!(accepted, 5478);
}

#[test]
fn bad_positions_are_refused_with_the_reason() {
    let texts = [
        "",
        "X..",
        "X...O.....",
        "X...Z....",
        "XX.......",
        "O........",
        "XXXOOO...",
        "XXXOOO..X",
        "XXX.OO.O.",
        "X........@2",
        ".........@1",
        "X........@0",
        "X........@10",
        "X........@a1",
        "X........@",
        "XXXO.O.OX@9",
        "ttt",
    ];
    let refusals: Vec<String> = texts
        .iter()
        .map(|text| GAME.parse_position(text).expect_err(&format!("{text} should be refused")).to_string())
        .collect();
    insta::assert_snapshot!("bad_positions", refusals.join("\n"));
}

#[test]
fn action_texts_read_back() {
    for state in reachable() {
        for action in legal(&state) {
            let text = GAME.action_text(&state, &action);
            assert_eq!(GAME.parse_action(&state, &text), Ok(action));
            assert_eq!(GAME.parse_action(&state, &format!(" {text}\n")), Ok(action));
        }
        // No other name of a square is a legal action.
        let named = (1..=9).filter(|s| GAME.parse_action(&state, &s.to_string()).is_ok()).count();
        assert_eq!(named, legal(&state).len(), "{}", GAME.position_text(&state));
    }
}

#[test]
fn bad_actions_are_refused_with_the_reason() {
    let tries = [
        ("X...O....", ""),
        ("X...O....", "0"),
        ("X...O....", "10"),
        ("X...O....", "a1"),
        ("X...O....", "-2"),
    ];
    let more = [("X...O....", "1"), ("X...O....", " 5 "), ("XXXOO....", "9"), ("XOXXOOOXX", "3")];
    let mut text = String::new();
    for (position, action) in tries.into_iter().chain(more) {
        let refusal = GAME.parse_action(&at(position), action).expect_err("it should be refused");
        let _ = writeln!(text, "{position}  {:<5}  {refusal}", format!("{action:?}"));
    }
    insta::assert_snapshot!("bad_actions", text);
}

// ------------------------------------------------------------------------------------------ symmetries

#[test]
fn the_symmetries_are_a_group_of_eight_that_keeps_lines() {
    assert_eq!(SYMMETRIES[0], [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(HashSet::from(SYMMETRIES).len(), 8);
    for (k, symmetry) in SYMMETRIES.into_iter().enumerate() {
        let mut sorted = symmetry;
        sorted.sort_unstable();
        assert_eq!(sorted, SYMMETRIES[0], "symmetry {k} is a permutation");
        for other in SYMMETRIES {
            let composed = symmetry.map(|s| other[usize::from(s)]);
            assert!(SYMMETRIES.contains(&composed), "{symmetry:?}, then {other:?}");
        }
        let images: HashSet<u16> = LINES.into_iter().map(|line| image(line, k)).collect();
        assert_eq!(images, HashSet::from(LINES), "symmetry {k} maps lines to lines");
    }
}

#[test]
fn rules_and_ttt_are_the_same_under_all_symmetries() {
    let all = reachable();
    for state in &all {
        for (k, symmetry) in SYMMETRIES.iter().enumerate() {
            let turned = state.under(k);
            assert!(all.contains(&turned));
            assert_eq!(turned.stones, state.stones.map(|stones| image(stones, k)));
            assert_eq!(GAME.turn(&turned), GAME.turn(state));
            assert_eq!([0, 1].map(|p| GAME.utility(&turned, p)), [0, 1].map(|p| GAME.utility(state, p)));
            let set = |actions: Vec<u8>| actions.into_iter().fold(0u16, |set, a| set | 1 << a);
            assert_eq!(set(legal(&turned)), image(set(legal(state)), k));
            assert_eq!(ttt_moves(&turned), image(ttt_moves(state), k));
            for action in legal(state) {
                let same = after(&turned, symmetry[usize::from(action)]);
                assert_eq!(same, after(state, action).under(k));
            }
        }
    }
}

// ------------------------------------------------------------------------------------------------- TTT

#[test]
fn ttt_wins_else_blocks_else_moves_anywhere() {
    let script = GAME.agents().scripts.open("ttt").expect("the game has TTT");
    assert!(GAME.agents().scripts.open("tic").is_none());
    assert_eq!(GAME.agents().scripts.names().iter().map(|s| s.name.as_ref()).collect::<Vec<_>>(), ["ttt"]);
    let mut rules_met = [0; 3];
    for state in reachable() {
        let Turn::Player(mover) = GAME.turn(&state) else { continue };
        let actions = legal(&state);
        let ends_with = |player: usize| -> Vec<u8> {
            let line = |a: &u8| has_line(state.stones[player] | 1 << a);
            actions.iter().copied().filter(line).collect()
        };
        let (wins, blocks) = (ends_with(mover), ends_with(1 - mover));
        let (rule, moves) = match (&wins[..], &blocks[..]) {
            ([_, ..], _) => (0, wins),
            ([], [_, ..]) => (1, blocks),
            ([], []) => (2, actions.clone()),
        };
        rules_met[rule] += 1;
        let mut probabilities = vec![9.0];
        script(&GAME, &state, &actions, &mut probabilities);
        assert_eq!(probabilities.len(), actions.len());
        assert!((probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        for (action, p) in actions.iter().zip(probabilities) {
            let expected = if moves.contains(action) { 1.0 / moves.len() as f64 } else { 0.0 };
            assert_eq!(p, expected, "{} {}", GAME.position_text(&state), action + 1);
            assert_eq!(ttt_moves(&state) >> action & 1 == 1, expected > 0.0);
        }
    }
    assert!(rules_met.iter().all(|&n| n > 100), "{rules_met:?}");
}

#[test]
fn ttt_in_well_known_positions() {
    let moves = |text: &str| -> Vec<u8> {
        let set = ttt_moves(&at(text));
        (1..=9).filter(|s| set >> (s - 1) & 1 == 1).collect()
    };
    assert_eq!(moves("........."), [1, 2, 3, 4, 5, 6, 7, 8, 9], "it does not know the opening");
    assert_eq!(moves("X........"), [2, 3, 4, 5, 6, 7, 8, 9], "nor that only the centre holds");
    assert_eq!(moves("XX.OO...."), [3], "it wins rather than block");
    assert_eq!(moves("XX..O...."), [3], "it blocks");
    assert_eq!(moves("XX.XO...O"), [3, 7], "against two lines it can only draw lots");
    assert_eq!(moves("X...O...X"), [2, 3, 4, 6, 7, 8], "it does not see the fork coming");
    assert_eq!(moves("XX.XOO.O."), [3, 7], "of two wins either will do");
}

// -------------------------------------------------------------------------------------------- encoders

/// Input k (from 1) of `fields` is square k: own stone +1, opponent's −1, empty 0; then the last square played, from 0,
/// and Σ 3^s · (0 empty, 1 own, 2 opponent).
#[test]
fn golden_rows_of_fields() {
    // The first stone of the game, in the centre: 3⁴ = 81.
    let (dense, index) = row(&Fields, &at("....X...."), Some(4), 0);
    assert_eq!(dense, [0., 0., 0., 0., 1., 0., 0., 0., 0.]);
    assert_eq!(index, [4, 81]);
    // X has just taken square 9: 1·3⁰ + 2·3⁴ + 1·3⁸.
    let (dense, index) = row(&Fields, &at("X...O...X"), Some(8), 0);
    assert_eq!(dense, [1., 0., 0., 0., -1., 0., 0., 0., 1.]);
    assert_eq!(index, [8, 1 + 2 * 81 + 6561]);
    // O has just made two in a row and sees its own stones as +1: 2·3⁰ + 2·3¹ + 1·3³ + 1·3⁴.
    let (dense, index) = row(&Fields, &at("XX.OO...."), Some(3), 1);
    assert_eq!(dense, [-1., -1., 0., 1., 1., 0., 0., 0., 0.]);
    assert_eq!(index, [3, 2 + 6 + 27 + 81]);
    // The same from X's view: negated, with 1·3⁰ + 1·3¹ + 2·3³ + 2·3⁴.
    let (dense, index) = row(&Fields, &at("XX.OO...."), Some(3), 0);
    assert_eq!(dense, [1., 1., 0., -1., -1., 0., 0., 0., 0.]);
    assert_eq!(index, [3, 1 + 3 + 54 + 162]);
    // Eight stones; the last square is unknown, so its input stays 0.
    let (dense, index) = row(&Fields, &at("XOXXOOOX."), None, 1);
    assert_eq!(dense, [-1., 1., -1., -1., 1., 1., 1., -1., 0.]);
    assert_eq!(index, [0, 2 + 3 + 18 + 54 + 81 + 243 + 729 + 2 * 2187]);
}

/// `canonical` is the symmetric position with the largest number, so the opponent's stones are on the last squares;
/// after the nine squares come the numbers of squares that complete a line for the player and for the opponent.
#[test]
fn golden_rows_of_canonical() {
    // All symmetries keep the centre.
    let (dense, index) = row(&Canonical, &at("....X...."), None, 0);
    assert_eq!(dense, [0., 0., 0., 0., 1., 0., 0., 0., 0., 0., 0., 0., 0.]);
    assert_eq!(index, [81]);
    // Two opposite corners are mapped to squares 1 and 9; there is no threat.
    for text in ["X...O...X", "..X.O.X.."] {
        let (dense, index) = row(&Canonical, &at(text), None, 0);
        assert_eq!(dense, [1., 0., 0., 0., -1., 0., 0., 0., 1., 0., 0., 0., 0.]);
        assert_eq!(index, [1 + 2 * 81 + 6561]);
        let (dense, index) = row(&Canonical, &at(text), None, 1);
        assert_eq!(dense, [-1., 0., 0., 0., 1., 0., 0., 0., -1., 0., 0., 0., 0.]);
        assert_eq!(index, [2 + 81 + 2 * 6561]);
    }
    // O just made two in a row, and X's two must be on 8 and 9: a half turn. Each has one threat.
    let (dense, index) = row(&Canonical, &at("XX.OO...."), None, 1);
    assert_eq!(dense, [0., 0., 0., 0., 1., 1., 0., -1., -1., 1., 0., 1., 0.]);
    assert_eq!(index, [81 + 243 + 2 * (2187 + 6561)]);
    // X has two threats, and O's diagonal is blocked.
    let (dense, index) = row(&Canonical, &at("XX.XO...O"), None, 1);
    assert_eq!(dense, [1., 0., 0., 0., 1., -1., 0., -1., -1., 0., 0., 1., 1.]);
    assert_eq!(index, [1 + 81 + 2 * (243 + 2187 + 6561)]);
    // Both of X's lines are open, and O has none.
    let (dense, _) = row(&Canonical, &at("XO.XX.O.."), None, 0);
    assert_eq!(dense[9..], [1., 1., 0., 0.]);
}

#[test]
fn fields_of_the_other_player_are_negated() {
    for (state, last) in reachable_with_last() {
        let [(own, [square, _]), (other, [same, _])] = [0, 1].map(|player| {
            let (dense, index) = row(&Fields, &state, last, player);
            (dense, <[u64; 2]>::try_from(index).expect("fields has two index channels"))
        });
        assert!(own.iter().zip(&other).all(|(a, b)| *a == -b));
        assert_eq!((square, same), (last.unwrap_or(0).into(), last.unwrap_or(0).into()));
    }
}

#[test]
fn the_position_channel_tells_all_positions_apart() {
    let mut seen = HashMap::new();
    for state in reachable() {
        let index = row(&Fields, &state, None, 1 - state.mover()).1[1];
        assert!(index < 19_683);
        assert_eq!(seen.insert(index, state), None, "{state:?}");
    }
}

#[test]
fn fields_turn_with_the_board_and_canonical_does_not_notice() {
    for (state, last) in reachable_with_last() {
        for player in 0..2 {
            let (fields, _) = row(&Fields, &state, last, player);
            let canonical = row(&Canonical, &state, last, player);
            for (k, symmetry) in SYMMETRIES.iter().enumerate() {
                let turned = state.under(k);
                let turned_last = last.map(|s| symmetry[usize::from(s)]);
                let (turned_fields, index) = row(&Fields, &turned, turned_last, player);
                for s in 0..9 {
                    assert_eq!(turned_fields[usize::from(symmetry[s])], fields[s]);
                }
                assert_eq!(index[0], u64::from(turned_last.unwrap_or(0)));
                assert_eq!(row(&Canonical, &turned, turned_last, player), canonical, "{state:?} under {k}");
            }
        }
    }
}

/// The one of the eight symmetric positions with the largest number represents all, distinct from all others.
#[test]
fn canonical_picks_one_position_of_each_class() {
    let all = reachable();
    let mut seen: HashMap<u64, Position> = HashMap::new();
    for state in &all {
        let player = 1 - state.mover();
        let (dense, index) = row(&Canonical, state, None, player);
        let images = (0..8).map(|k| row(&Fields, &state.under(k), None, player));
        let (fields, best) = images.max_by_key(|(_, index)| index[1]).expect("there are eight symmetries");
        assert_eq!((&dense[..9], index[0]), (&fields[..], best[1]));
        let first = seen.entry(index[0]).or_insert(*state);
        assert_eq!(class(first), class(state));
    }
    assert_eq!(seen.len(), 765);
}

#[test]
fn canonical_knows_the_threats() {
    let mut met = HashSet::new();
    for state in reachable() {
        for player in 0..2 {
            let threats = [player, 1 - player].map(|side| {
                let completes =
                    |s: &u16| has_line(state.stones[side] | 1 << s) && !has_line(state.stones[side]);
                (0..9u16).filter(|s| state.empty() >> s & 1 == 1).filter(completes).count()
            });
            if GAME.turn(&state) == Turn::Over {
                continue;
            }
            let bits: Vec<bool> =
                row(&Canonical, &state, None, player).0[9..].iter().map(|b| *b == 1.0).collect();
            assert_eq!(
                bits,
                [threats[0] >= 1, threats[0] >= 2, threats[1] >= 1, threats[1] >= 2],
                "{state:?}"
            );
            met.insert(bits);
        }
    }
    assert_eq!(met.len(), 9, "none, one or two threats of either side");
}

#[test]
fn rows_are_of_order_one_and_say_whether_they_need_the_action() {
    assert!(Fields.needs_action() && !Canonical.needs_action());
    for (state, last) in reachable_with_last() {
        let player = 1 - state.mover();
        let (fields, _) = row(&Fields, &state, last, player);
        assert!(fields.iter().all(|x| [-1.0, 0.0, 1.0].contains(x)));
        let canonical = row(&Canonical, &state, last, player);
        assert!(canonical.0.iter().all(|x| [-1.0, 0.0, 1.0].contains(x)));
        assert_eq!(canonical, row(&Canonical, &state, None, player));
    }
}

#[test]
fn the_game_lists_what_it_offers() {
    let game = GameInfo::of(&GAME);
    assert_eq!(
        game.encoders.iter().map(|e| e.name.as_ref()).collect::<Vec<_>>(),
        ["fields", "stones", "canonical"]
    );
    assert_eq!(GAME.encoders().open("fields").unwrap().channels(), Fields.channels());
    assert_eq!(GAME.encoders().open("canonical").unwrap().channels(), Canonical.channels());
    assert_eq!((game.name.as_str(), game.scripts), ("tictactoe", GAME.agents().scripts.names().to_vec()));
    assert!(adept_builtin::names().contains(&game.name));
}

// --------------------------------------------------------------------------------------- random playouts

proptest! {
    /// Any sequence of legal actions is a valid game with a valid end.
    #[test]
    fn random_games_keep_the_rules(choices in prop::array::uniform9(0usize..9), k in 0usize..8) {
        let mut state = GAME.start();
        let mut turned = state;
        let mut taken = Vec::new();
        while let Turn::Player(player) = GAME.turn(&state) {
            prop_assert_eq!(player, taken.len() % 2, "players alternate");
            let actions = legal(&state);
            prop_assert_eq!(actions.len(), 9 - taken.len());
            prop_assert!(actions.is_sorted() && actions.iter().all(|a| !taken.contains(a)));
            let action = actions[choices[taken.len()] % actions.len()];
            GAME.apply(&mut state, &action);
            GAME.apply(&mut turned, &SYMMETRIES[k][usize::from(action)]);
            prop_assert_eq!(turned, state.under(k), "a game turned is a game");
            taken.push(action);
            let text = format!("{}@{}", GAME.position_text(&state), action + 1);
            prop_assert_eq!(GAME.parse_position(&text), Ok((state, Some(action))));
        }
        prop_assert!((5..=9).contains(&taken.len()));
        let utilities = [0, 1].map(|player| GAME.utility(&state, player));
        prop_assert_eq!(utilities[0] + utilities[1], 0.0);
        let last = (taken.len() - 1) % 2;
        prop_assert!(utilities[last] == 1.0 || utilities[last] == 0.0 && taken.len() == 9, "only the last mover wins");
        prop_assert!(legal(&state).is_empty());
    }
}
