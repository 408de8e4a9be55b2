//! Hold'em by the commands: recorded decisions, matches in bets, a short run.

use crate::common::Workspace;
use serde_json::Value;
use std::fs;

fn json(dir: &Workspace, args: &[&str]) -> Value {
    let output = dir.run(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn recorded_decisions_are_compared() {
    let dir = Workspace::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/soarbot-2002-decisions.csv");
    let found = json(&dir, &["evaluate", "soarbot-2002", "--recorded", file]);
    assert_eq!((&found["recorded"]["rows"], &found["recorded"]["agree"]), (&600.into(), &600.into()));
    assert_eq!(found["recorded"]["share"], 1.0);
    let other = json(&dir, &["evaluate", "soarbot", "--recorded", file, "--game", "holdem:limit:2"]);
    let differences = other["recorded"]["differences"].as_array().unwrap();
    assert_eq!(differences.len() as u64, 600 - other["recorded"]["agree"].as_u64().unwrap());
    assert!(differences[0]["line"].is_u64() && differences[0]["recorded"] != differences[0]["chosen"]);
    let refused = |args: &[&str]| {
        let output = dir.run(args);
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused(&["evaluate", "nobody", "--recorded", file]).contains("there is no agent `nobody`"));
    fs::write(dir.path("bad.csv"), "stage,hole\nflop,Ah Kd\n").unwrap();
    assert!(
        refused(&["evaluate", "soarbot", "--recorded", &dir.path("bad.csv")])
            .contains("missing field `board`")
    );
}

/// Each deal is played in both seats, so an agent draws against itself up to its own randomness; always calling wins
/// nothing from always raising.
#[test]
fn matches_count_bets() {
    let dir = Workspace::new();
    fs::write(
        dir.path("t.toml"),
        "name = \"t\"\ngame = \"holdem:limit:2\"\ngames = 2000\nagents = [{ name = \"always-call\" }, { name = \
         \"always-raise\" }, { name = \"equity:0.5\" }]",
    )
    .unwrap();
    let table = json(&dir, &["arena", "t.toml"]);
    assert_eq!(table["unit"], "mbb");
    let score = |k: usize| table["pairs"][k]["score"].as_f64().unwrap();
    assert_eq!(score(0), 0.0);
    // The best response to always calling wins about 1163.
    assert!((900.0..1400.0).contains(&-score(1)), "{}", score(1));
    assert!(table["pairs"][1]["p"].as_f64().unwrap() < 1e-6);
    let text = fs::read_to_string(dir.path("checkpoints/runs/arena-t/arena.md")).unwrap();
    assert!(text.contains("in mbb a game and seat"), "{text}");
    let short = dir.run(&["arena", "t.toml", "--set", "games=3", "--out", "short"]);
    assert!(
        String::from_utf8_lossy(&short.stderr).contains("must be at least 4, two deals in each of 2 orders")
    );
    // Of three seats an agent has one or two in turn: one agent's win is the other's loss, whichever is named first.
    let table = |agents: &str| {
        let set = ["--set", "game=holdem:limit:3", "--set", "games=1200", "--set", agents, "--out"];
        let out = format!("o{}", agents.len());
        json(&dir, &[&["arena", "t.toml"], &set[..], &[&out]].concat())["pairs"][0]["score"].as_f64().unwrap()
    };
    let first = table("agents=[{name=\"always-call\"},{name=\"always-raise\"}]");
    let second = table("agents=[{name=\"always-raise\"}, {name=\"always-call\"}]");
    assert!((first + second).abs() < 1e-9, "{first} {second}");
}

/// A few hands of learning: the config is checked with agents that take a parameter, and results have their unit.
#[test]
fn a_network_learns_from_hands() {
    let dir = Workspace::new();
    let config = dir.run(&["config", "new", "holdem:limit:2"]).stdout;
    fs::write(dir.path("my.toml"), config).unwrap();
    let short =
        ["--set", "learn.td.games=2000", "--set", "evaluate.every=1000", "--set", "evaluate.games=400"];
    let field = [
        "--set",
        "learn.td.field=[\"self\",\"soarbot\",\"equity:0.5\"]",
        "--set",
        "evaluate.against=[\"random\"]",
    ];
    let run = json(&dir, &[&["train", "my.toml"], &short[..], &field].concat());
    assert_eq!(run["final"]["unit"], "mbb", "{run}");
    assert!(run["final"]["matches"].is_f64(), "{run}");
    let few = dir.run(&["train", "my.toml", "--set", "evaluate.games=3", "--out", "other"]);
    assert!(String::from_utf8_lossy(&few.stderr).contains("must be at least 4, two deals in each seat"));
    let wrong = dir.run(&["train", "my.toml", "--set", "learn.td.field=[\"equity\"]", "--out", "other"]);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("did you mean `equity:T`?"));
}

/// Hands recorded by a tournament or in the terminal are read back, and a network evaluates their decisions.
#[test]
fn hands_are_written_down() {
    let dir = Workspace::new();
    let plan = "name = \"t\"\ngame = \"holdem:limit:2\"\ngames = 20\nagents = [{ name = \"random\" }, { name = \"always-raise\" }]";
    fs::write(dir.path("t.toml"), plan).unwrap();
    json(&dir, &["arena", "t.toml", "--histories", "15", "--out", "t"]);
    let text = fs::read_to_string(dir.path("t/histories/001-random-always-raise.phhs")).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("variant")).count(), 15);
    assert!(
        text.contains("[1]")
            && text.contains("[15]")
            && text.contains("players = [\"random\", \"always-raise\"]")
    );
    // The same hands again, also if they are requested only after the tournament.
    fs::remove_dir_all(dir.path("t/histories")).unwrap();
    json(&dir, &["arena", "t.toml", "--histories", "15", "--out", "t"]);
    assert_eq!(fs::read_to_string(dir.path("t/histories/001-random-always-raise.phhs")).unwrap(), text);
    let other = plan.replace("holdem:limit:2", "tictactoe").replace("always-raise", "minimax");
    fs::write(dir.path("u.toml"), other).unwrap();
    // Games without a format of their own are lines of JSON.
    json(&dir, &["arena", "u.toml", "--histories", "5", "--out", "u"]);
    let text = fs::read_to_string(dir.path("u/histories/001-random-minimax.games")).unwrap();
    assert_eq!(text.matches("{\"game\":\"tictactoe\",\"players\":[").count(), 5, "{text}");
    let found = json(&dir, &["review", "u/histories", "--by", "minimax", "--game", "tictactoe"]);
    let players = found["players"].as_array().unwrap();
    let by_name = |name: &str| players.iter().find(|player| player["name"] == name).unwrap();
    assert_eq!(
        (&found["games"], &by_name("minimax")["loss_per_decision"]),
        (&5.into(), &0.0.into()),
        "{found}"
    );
    assert!(by_name("random")["loss_per_decision"].as_f64().unwrap() > 0.05, "{found}");

    let play = [
        "play",
        "always-call",
        "--game",
        "holdem:limit:2",
        "--seat",
        "2",
        "--seed",
        "3",
        "--history",
        "mine.phhs",
    ];
    for number in 1..3 {
        let output = dir.run_with(&play, "raise\nundo\ncall\ncheck\nbet\ncheck\n");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(&format!("added as number {number}")), "{said}");
    }
    let left = dir.run_with(&play, "raise\n");
    assert!(String::from_utf8_lossy(&left.stderr).contains("nothing is added"));
    let mine = fs::read_to_string(dir.path("mine.phhs")).unwrap();
    assert_eq!(mine.matches("players = [\"always-call\", \"you\"]").count(), 2);
    // The raise was undone.
    assert_eq!(mine.matches("\"p2 cc\", \"p1 cc\", \"d db").count(), 2, "{mine}");
    let config = dir.run(&["config", "new", "holdem:limit:2"]).stdout;
    fs::write(dir.path("my.toml"), config).unwrap();
    let short = ["--set", "learn.td.games=500", "--set", "evaluate.every=500", "--set", "evaluate.games=40"];
    json(&dir, &[&["train", "my.toml", "--out", "run"], &short[..]].concat());
    json(&dir, &["evaluate", "run", "--positions", "mine.phhs", "--out", "values.csv"]);
    let values = fs::read_to_string(dir.path("values.csv")).unwrap();
    assert_eq!(values.lines().count(), 1 + 2 * 9, "{values}");
    let hidden = dir.run(&["value", "run", "crc/r:AhKd|/2c7dTs"]);
    assert!(
        String::from_utf8_lossy(&hidden.stderr).contains("player 2 is to move, and its cards are missing")
    );
    fs::write(dir.path("bad.phhs"), mine.replace("p1 cc", "p1 call")).unwrap();
    let refused = dir.run(&["evaluate", "run", "--positions", "bad.phhs"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("bad.phhs: hand 1, from line 1 on: action 4, `p1 call`: expected"), "{said}");
}
