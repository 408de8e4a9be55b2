//! Texts of bear-off positions, rolls and moves, and drawings.

use crate::bearoff_common::{at, game, roll, side};
use adept_builtin::bearoff::{Action, Position, ROLLS, Side, Stage, State};
use adept_game::{Game, Kit, Turn};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

fn legal(state: &State) -> Vec<Action> {
    let mut actions = Vec::new();
    game().actions(state, &mut actions);
    actions
}

#[test]
fn boards_show_high_columns_as_numbers_and_marked_moves_below() {
    let state = at("0,7,1,5,0,1/6,0,2,0,0,2 31");
    let marks = [("6/2", "+0.25"), ("6/3 4/3", "−0.5")]
        .map(|(text, mark)| (game().parse_action(&state, text).expect("it is legal"), mark.to_string()));
    insta::assert_snapshot!("board", game().texts().board(&game(), &state, &marks, 0));
}

#[test]
fn moves_are_written_as_short_as_they_can_be() {
    let cases = [
        // Two checkers, one checker with both dice, all the way off.
        ("0,0,0,0,1,1", "61", "0,0,0,1,0,0", "6/off 5/4"),
        ("2,0,0,0,0,1", "32", "3,0,0,0,0,0", "6/1"),
        ("2,0,0,0,0,1", "51", "2,0,0,0,0,0", "6/off"),
        ("0,0,0,0,0,3", "65", "1,0,0,0,0,1", "6/off 6/1"),
        // A die that is too high bears off from the highest point, also after the other die.
        ("0,1,1,0,0,0", "65", "0,0,0,0,0,0", "3/off 2/off"),
        ("1,0,0,1,0,0", "51", "0,0,0,0,0,0", "4/off 1/off"),
        // Doubles: equal moves counted, moves of one checker joined, the rest of the roll not played.
        ("0,4,0,0,0,0", "22", "0,0,0,0,0,0", "2/off(4)"),
        ("0,0,0,0,0,4", "11", "0,0,0,0,4,0", "6/5(4)"),
        ("0,0,0,0,0,2", "11", "0,0,0,2,0,0", "6/4(2)"),
        ("0,0,0,0,0,1", "11", "0,1,0,0,0,0", "6/2"),
        ("3,1,0,0,0,0", "11", "1,0,0,0,0,0", "2/1 1/off(3)"),
        ("0,0,1,0,0,0", "66", "0,0,0,0,0,0", "3/off"),
    ];
    for (before, dice, left, text) in cases {
        let state = at(&format!("{before}/1,0,0,0,0,0 {dice}"));
        let action = Action::Move(side(left));
        assert!(legal(&state).contains(&action), "{before} {dice}");
        assert_eq!(game().action_text(&state, &action), text, "{before} {dice}");
    }
}

#[test]
fn moves_are_read_in_any_order_joined_or_not() {
    let state = at("0,1,0,1,1,2/1,0,0,0,0,0 61");
    for text in ["6/off 5/4", "5/4 6/off", " 5/4\t6/OFF ", "5/4 6/0", "0,1,0,2,0,1", "0, 1,0,2,0,1"] {
        assert_eq!(game().parse_action(&state, text), Ok(Action::Move(side("0,1,0,2,0,1"))), "{text}");
    }
    let state = at("0,0,0,0,0,3/1,0,0,0,0,0 22");
    for text in ["6/4(2) 4/2(2)", "6/2(2)", "6/4/2(2)", "4/2 6/4 4/2 6/4", "6/4 6/2 4/2", "6/4/2 6/2"] {
        assert_eq!(game().parse_action(&state, text), Ok(Action::Move(side("0,2,0,0,0,1"))), "{text}");
    }
    // A joined move uses as many dice as it needs.
    let state = at("1,0,0,0,0,1/1,0,0,0,0,0 65");
    for (text, left) in [("6/off 1/off", "0,0,0,0,0,0"), ("6/off", "1,0,0,0,0,0"), ("6/1/off", "1,0,0,0,0,0")]
    {
        assert_eq!(game().parse_action(&state, text), Ok(Action::Move(side(left))), "{text}");
    }
}

#[test]
fn illegal_actions_are_refused_with_the_reason() {
    let position = "0,1,0,1,0,2/1,0,0,0,0,0";
    let tries = [
        ("61", ""),
        ("61", "hello"),
        ("61", "6"),
        ("61", "7/1 6/5"),
        ("61", "6/off(5)"),
        ("61", "5/6 6/off"),
        ("61", "off/6"),
        ("61", "6/off"),
        ("61", "5/4 6/off"),
        ("61", "4/3 4/3"),
        ("61", "6/off 6/5 4/3"),
        ("61", "6/4 6/off"),
        ("61", "6/5 4/off"),
        ("61", "6/off(2)"),
        ("61", "6/5 6/5"),
        ("11", "6/5(4) 5/4"),
        ("11", "6/5(2)"),
        ("11", "6/5(2) 4/3"),
        ("61", "0,1,0,1,0,1"),
        ("61", "0,1,0,1,0,1,0"),
        ("61", "0,1,0,1,0,20"),
    ];
    let mut text = String::new();
    for (dice, action) in tries {
        let state = at(&format!("{position} {dice}"));
        let refusal = game().parse_action(&state, action).expect_err("it should be refused");
        let _ = writeln!(text, "{dice} {:<16} {refusal}", format!("{action:?}"));
    }
    for (position, action) in [
        ("0,0,0,0,0,0/1,0,0,0,0,0", "6/5"),
        ("1,0,0,0,0,0/1,0,0,0,0,0", "71"),
        ("start", "6/off"),
        ("start", "0,0,0,0,0,0/1,0,0,0,0,0"),
        ("start", "15,0,0,0,0,0/1,0,0,0,0,0"),
    ] {
        let refusal = game().parse_action(&at(position), action).expect_err("it should be refused");
        let _ = writeln!(text, "{position} {action:?} {refusal}");
    }
    insta::assert_snapshot!("illegal_actions", text);
}

#[test]
fn positions_are_read_with_and_without_a_roll() {
    let position = Position { own: side("1,1,1,1,1,1"), opponent: side("0,0,0,0,0,2") };
    let rolled = State { stage: Stage::Move(roll("65")), ..State::to_roll(position) };
    let text = "1,1,1,1,1,1/0,0,0,0,0,2";
    assert_eq!(position.to_string(), text);
    for text in [text, " 1,1,1,1,1,1 / 0,0,0,0,0,2 ", "1, 1, 1, 1, 1, 1/0, 0, 0, 0, 0, 2"] {
        assert_eq!(game().parse_position(text), Ok((State::to_roll(position), None)), "{text}");
        for dice in [" 65", ":65", ": 56", "  6-5", ":6,5", " 6 5"] {
            let both = format!("{text}{dice}");
            assert_eq!(game().parse_position(&both), Ok((rolled, Some(Action::Roll(roll("65"))))), "{both}");
        }
    }
    // IDs of GNU Backgammon and eXtreme Gammon.
    let id = position.id();
    for text in [id.clone(), format!("Position ID: {id}"), position.xgid(None)] {
        assert_eq!(game().parse_position(&text), Ok((State::to_roll(position), None)), "{text}");
    }
    for text in [format!("{id} 56"), position.xgid(Some(roll("65"))), format!("{id}:cAkXAAAAAAAE")] {
        let wanted = Ok((rolled, Some(Action::Roll(roll("65")))));
        assert_eq!(game().parse_position(&text), wanted, "{text}");
    }
    // The game may be over, for either.
    for (text, utility) in [("0,0,0,0,0,0/0,0,0,0,0,2", 1.0), ("0,0,0,0,0,1/0,0,0,0,0,0", -1.0)] {
        assert_eq!((game().turn(&at(text)), game().utility(&at(text), 0)), (Turn::Over, utility));
    }
}

#[test]
fn bad_positions_are_refused_with_the_reason() {
    let texts = [
        "",
        "1,1,1,1,1,1",
        "1,1,1,1,1/1,0,0,0,0,0",
        "1,1,1,1,1,1/1,0,0,0,0,0,0",
        "1,1,1,1,1,x/1,0,0,0,0,0",
        "5,5,5,0,0,0/1,0,0,0,0,0",
        "5,5,5,5,0,0/1,0,0,0,0,0",
        "0,0,0,0,0,0/0,0,0,0,0,0",
        "1,0,0,0,0,0/1,0,0,0,0,0 7",
        "1,0,0,0,0,0/1,0,0,0,0,0:",
        "1,0,0,0,0,0/0,0,0,0,0,0 65",
        "X...O....",
        // IDs: whole games, 15 checkers in a game of 14, dice that differ, and a game that is over.
        "4HPwATDgc/ABMA",
        "XGID=-O-----------------cccbbb-:0:0:-1:00:0:0:0:0:10",
        "XGID=-AAAAAA------------aaaaaa-:0:0:1:52:0:0:0:0:10 65",
        "XGID=-------------------aaaaaa-:0:0:1:52:0:0:0:0:10",
    ];
    let refusals: Vec<String> = texts
        .iter()
        .map(|text| game().parse_position(text).expect_err("it should be refused").to_string())
        .collect();
    insta::assert_snapshot!("bad_positions", refusals.join("\n"));
}

prop_compose! {
    /// A decision of either player, of sides as a game begins with them.
    fn decisions()(own in 1..38_760usize, opponent in 1..38_760usize, k in 0..21usize, player in 0..2usize) -> State {
        State { sides: [Side::of_rank(own), Side::of_rank(opponent)], player, stage: Stage::Move(ROLLS[k]) }
    }
}

proptest! {
    #[test]
    fn texts_read_back(state in decisions()) {
        let seen_by_the_mover = State::to_roll(state.position());
        let rolled = State { stage: state.stage, ..seen_by_the_mover };
        let (read, last) = game().parse_position(&game().position_text(&state)).expect("it is a position");
        prop_assert_eq!((read, Some(state.stage)), (rolled, last.map(|a| match a {
            Action::Roll(roll) => Stage::Move(roll),
            _ => Stage::Setup,
        })));
        let before = State { stage: Stage::Roll, ..state };
        prop_assert_eq!(game().parse_position(&game().position_text(&before)), Ok((seen_by_the_mover, None)));

        let mut texts = BTreeSet::new();
        for action in legal(&state) {
            let text = game().action_text(&state, &action);
            prop_assert_eq!(game().parse_action(&state, &text), Ok(action), "{}", text);
            let Action::Move(left) = action else { panic!("{action:?}") };
            prop_assert_eq!(game().parse_action(&state, &left.to_string()), Ok(action));
            prop_assert!(texts.insert(text), "no two moves are written alike");
        }
        let setup = Action::Setup(state.position());
        prop_assert_eq!(game().parse_action(&game().start(), &game().action_text(&game().start(), &setup)), Ok(setup));
        for roll in ROLLS.map(Action::Roll) {
            prop_assert_eq!(game().parse_action(&before, &game().action_text(&before, &roll)), Ok(roll));
        }
    }

    /// Any typed text is read as a legal move or refused.
    #[test]
    fn no_text_breaks_the_rules(state in decisions(), text in "([0-7]/([0-6]|off)(\\([1-4]\\))?( |,)?){0,5}") {
        if let Ok(action) = game().parse_action(&state, &text) {
            prop_assert!(legal(&state).contains(&action), "{}", text);
        }
        let _ = game().parse_position(&text);
    }
}
