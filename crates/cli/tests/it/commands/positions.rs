//! Positions of the bear-off in other programs' formats, and commands on positions.

use crate::common::{Workspace, number, published};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A position of 1,1,1,1,1,1 against 0,0,0,0,0,2, and the same with the roll 65, as GNU Backgammon 1.07.001 reads them.
const BEFORE: [&str; 4] = [
    "1,1,1,1,1,1/0,0,0,0,0,2",
    "YAAAqCoAAAAAAA",
    "XGID=-AAAAAA------------b------:0:0:1:00:0:0:0:0:10",
    // The player with the lowercase letters rolls.
    "XGID=------B------------aaaaaa-:0:0:-1:00:0:0:0:0:10",
];
const ROLLED: [&str; 5] = [
    "1,1,1,1,1,1/0,0,0,0,0,2 65",
    "YAAAqCoAAAAAAA 56",
    "YAAAqCoAAAAAAA:cAkXAAAAAAAE",
    "XGID=-AAAAAA------------b------:0:0:1:65:0:0:0:0:10",
    "XGID=------B------------aaaaaa-:0:0:-1:56:0:0:0:0:10 65",
];

#[test]
fn every_command_reads_ids_of_positions_and_their_dice() {
    let dir = Workspace::new();
    let network = published("residual-10");
    let all: Vec<&str> = BEFORE.into_iter().chain(ROLLED).collect();
    let values = dir.json(&[&["value", &network], &all[..]].concat());
    let values = values["values"].as_array().unwrap();
    for (i, text) in all.iter().enumerate() {
        let first = if i < BEFORE.len() { 0 } else { BEFORE.len() };
        assert_eq!(values[i]["position"], **text);
        for key in ["value", "win_probability", "moves", "to_move"] {
            assert_eq!(values[i][key], values[first][key], "{text}: {key}");
        }
    }
    // GNU Backgammon's `eval` and `hint` show .161, and .246 and .057.
    let won = |value: &Value| (number(&value["win_probability"]) * 1000.0).round();
    let moves = values[4]["moves"].as_array().unwrap();
    assert_eq!((won(&values[0]), won(&values[4])), (161.0, 246.0));
    assert_eq!((moves.len(), won(&moves[1])), (2, 57.0));
    assert_eq!((&moves[0]["move"], &moves[0]["action"]), (&"6/off 5/off".into(), &"6/off 5/off".into()));
    assert_eq!(moves[0]["afterstate"], "0,0,0,0,0,2/1,1,1,1,0,0");
    assert!(values[0]["moves"].as_array().unwrap().is_empty());

    let exact = dir.json(&[&["oracle", "value"], &all[..]].concat());
    let exact = exact["values"].as_array().unwrap();
    for (found, exact) in values.iter().zip(exact) {
        assert!((number(&found["value"]) - number(&exact["value"])).abs() < 2e-3, "{found} {exact}");
    }
    assert_eq!((&exact[4]["roll"], &exact[4]["move"]), (&"65".into(), &"6/off 5/off".into()));
    assert_eq!(exact[4]["value_before_roll"], exact[0]["value"]);
    for text in ROLLED {
        let moves = dir.json(&["oracle", "moves", text]);
        assert_eq!(moves["moves"][0]["value"], exact[4]["value"], "{text}");
    }

    // A file of them gives the same values.
    fs::write(dir.path("ids.txt"), all.join("\n")).unwrap();
    let report = dir.json(&["evaluate", &network, "--positions", "ids.txt", "--out", "values.csv"]);
    let mean = values.iter().map(|v| number(&v["value"])).sum::<f64>() / all.len() as f64;
    assert!((number(&report["valued"]["mean"]) - mean).abs() < 1e-6);
    assert!((number(&report["valued"]["mean_win_probability"]) - (1.0 + mean) / 2.0).abs() < 1e-6);
    assert_eq!(fs::read_to_string(dir.path("values.csv")).unwrap().lines().count(), all.len() + 1);

    for text in [BEFORE[1], ROLLED[3]] {
        let played =
            dir.run_with(&["play", "random", "--game", "bearoff", "--from", text, "--json"], "quit\n");
        let played: Value = serde_json::from_slice(&played.stdout).unwrap();
        assert!(played["position"].as_str().unwrap().starts_with(BEFORE[0]), "{played}");
    }
}

#[test]
fn positions_outside_the_bear_off_are_refused_with_the_reason() {
    let dir = Workspace::new();
    let network = published("residual-10");
    let cases = [
        ("4HPwATDgc/ABMA", "has 3 on point 8, but the bear-off allows"),
        ("XGID=aAAAAAA-------------aaaaaa-:0:0:1:00:0:0:0:0:10", "instead of 26"),
        ("XGID=aAAAAAA-------------------:0:0:1:00:0:0:0:0:10", "the small letters has 1 on the bar"),
        ("XGID=-O-----------------cccbbb-:0:0:-1:00:0:0:0:0:10", "15 checkers"),
        ("XGID=-AAAAAA------------b------:0:0:1:65:0:0:0:0:10 66", "66 are given beside it"),
        ("XGID=-------------------b------:0:0:1:65:0:0:0:0:10", "the game is over"),
        ("XGID=-AAAAAA------------b------:0:0:1:D:0:0:0:0:10", "answer to a double"),
    ];
    for (text, what) in cases {
        let error = dir.fails(&["value", &network, text], 1);
        assert!(error.contains(what), "{text}: {error}");
        let error = dir.fails(&["play", "random", "--game", "bearoff", "--from", text], 1);
        assert!(error.contains(what), "{text}: {error}");
    }
    let error = dir.fails(&["oracle", "moves", ROLLED[3], "66"], 1);
    assert!(error.contains("66 are given beside it"), "{error}");
    assert!(dir.fails(&["oracle", "moves", BEFORE[1]], 1).contains("which roll?"));
    let over = dir.fails(&["play", "random", "--game", "tictactoe", "--from", "XXXOO...."], 1);
    assert!(over.contains("the game is over in this position"), "{over}");
    let hidden = dir.fails(&["play", "random", "--game", "leduc", "--from", "K? c"], 1);
    assert!(hidden.contains("player 2 needs its cards"), "{hidden}");
    // The flop is next, but these cards cannot be dealt any more.
    let hidden = dir.fails(&["play", "random", "--game", "holdem:limit:2", "--from", "cc:AhKd|"], 1);
    assert!(hidden.contains("player 2 needs its cards"), "{hidden}");
    let whole = ["play", "random", "--game", "holdem:limit:2", "--history", "games.phhs", "--from", "start"];
    assert!(dir.fails(&whole, 1).contains("only games from the start can be recorded"));
    let error = dir.fails(&["play", "random", "--game", "backgammon:matsch-7"], 1);
    assert!(error.contains("backgammon:K with K checkers, 1 to 5"), "{error}");
}

#[test]
fn a_game_begins_with_a_position() {
    let dir = Workspace::new();
    let play = ["play", "random", "--game", "tictactoe", "--from", "XX.OO....", "--json"];
    let output = dir.run_with(&play, "3\n");
    let played: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&played["moves"], number(&played["outcome"])), (&serde_json::json!(["3"]), 1.0), "{played}");
    // Hints show the probability of winning and values of the bear-off.
    let network = published("residual-10");
    let output = dir.run_with(&["play", &network, "--from", ROLLED[1], "--hints"], "quit\n");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("-0.509, P(win) 0.246"), "{text}");
    // The best move comes last, next to the prompt.
    assert!(text.contains("It would play 6/off 5/off, 0.377 better than 6/1 5/off"), "{text}");
    let marked: Vec<&str> = text.lines().filter(|line| line.contains(", P(win) ")).collect();
    assert!(marked.len() == 2 && marked[1].contains("6/off 5/off"), "{text}");
}

/// `eval` of GNU Backgammon 1.07.001 shows these numbers for the position.
#[test]
fn details_are_those_of_gnubg() {
    let dir = Workspace::new();
    let found = dir.json(&["oracle", "value", BEFORE[1], "--details"]);
    let details = &found["values"][0]["details"];
    let rounded = |side: &str, key: &str| format!("{:.3}", number(&details[side][key]));
    for (side, pips, expected) in [
        ("own", 21, ["3.464", "0.689", "28.286", "7.286"]),
        ("opponent", 12, ["2.110", "0.571", "17.228", "5.228"]),
    ] {
        assert_eq!(details[side]["pips"], pips);
        let keys = ["mean_rolls", "sd_rolls", "effective_pips", "wastage"];
        assert_eq!(keys.map(|key| rounded(side, key)), expected, "{side}");
    }
    let shares = |side: &str| -> Vec<String> {
        let rolls = details[side]["rolls"].as_array().unwrap().iter();
        rolls.map(|p| format!("{:.2}", 100.0 * number(p))).collect()
    };
    assert_eq!(shares("own")[2..7], ["7.33", "42.85", "46.00", "3.76", "0.06"]);
    assert_eq!(shares("opponent")[..4], ["0.00", "11.11", "67.13", "21.45"]);
    let text = dir.text(&["oracle", "value", BEFORE[1], "--details"]);
    assert!(
        text.contains("effective pips") && text.contains("28.286") && text.contains("off in 3 rolls"),
        "{text}"
    );
}

#[test]
fn one_sided_files_of_gnubg_are_verified() {
    let dir = Workspace::new();
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../builtin/src/bearoff/one_sided/gnubg-os-06-03.bd");
    let file = file.to_str().unwrap();
    let found = dir.json(&["oracle", "verify", "--one-sided", file]);
    assert_eq!((&found["rows"], &found["points"], &found["checkers"]), (&83.into(), &6.into(), &3.into()));
    assert!(
        number(&found["max_abs_error"]) < 1e-4 && number(&found["probabilities"]["max_abs_error"]) < 1e-4
    );
    let error = dir.fails(&["oracle", "verify", "--one-sided", file, "--tolerance", "0"], 1);
    assert!(error.contains("above the tolerance"), "{error}");
    fs::write(dir.path("other.bd"), "gnubg-TS-06-06-1xxxxxxxxxxxxxxxxxxxxxxx\n").unwrap();
    assert!(dir.fails(&["oracle", "verify", "--one-sided", "other.bd"], 1).contains("not a one-sided"));
}

#[test]
fn inputs_are_the_rows_that_the_network_reads() {
    let dir = Workspace::new();
    let network = published("residual-10");
    let found = dir.json(&["value", &network, BEFORE[0], ROLLED[0], "--inputs"]);
    let described = dir.json(&["describe", &network]);
    let names: Vec<&Value> = described["channels"].as_array().unwrap().iter().map(|c| &c["name"]).collect();
    let rows = [&found["values"][0]["inputs"], &found["values"][1]["moves"][0]["inputs"]];
    for row in rows {
        let row = row.as_array().unwrap();
        assert_eq!(row.iter().map(|c| &c["name"]).collect::<Vec<_>>(), names);
        for channel in row {
            let values = channel["values"].as_array().unwrap();
            let kind = channel["kind"].as_str().unwrap();
            assert!(kind == "Value" || kind.ends_with(&format!("({})", values.len())), "{channel}");
        }
    }
    // The prior is the convolution of both races, for the player who just moved.
    let prior = rows[0].as_array().unwrap().iter().find(|c| c["name"] == "prior").unwrap();
    let exact = dir.json(&["oracle", "value", BEFORE[0], "--estimates"]);
    let convolution = number(&exact["values"][0]["convolution"]);
    assert!((number(&prior["values"][0]) + convolution).abs() < 1e-6, "{prior} {convolution}");
    let text = dir.text(&["value", &network, BEFORE[0], "--inputs"]);
    assert!(text.contains("prior (Value)") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// The page shows the output of the commands.
#[test]
fn the_page_beside_gnubg_shows_what_is_printed() {
    let dir = Workspace::new();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/beside-gnubg.md");
    let page = fs::read_to_string(page).unwrap();
    let network = published("residual-10");
    for position in ["YAAAqCoAAAAAAA", "YAAAqCoAAAAAAA 65"] {
        let printed = dir.text(&["value", &network, position]);
        let shown = printed.split("  a chance event").next().unwrap();
        assert!(page.contains(shown), "the page does not show\n{shown}");
    }
}
