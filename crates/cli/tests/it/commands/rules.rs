//! `rules`, and games in GDL by the other commands.

use crate::common::Desk;
use serde_json::Value;
use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

/// Take one or two of four; who takes the last wins. Whoever does not move waits, and nothing is called `noop`.
const SUBTRACT: &str = "(role white) (role black) (other white black) (other black white)
(init (control white)) (init (left 4)) (less 4 3) (less 3 2) (less 2 1) (less 1 0)
(<= (legal ?p one) (true (control ?p)))
(<= (legal ?p two) (true (control ?p)) (true (left ?n)) (distinct ?n 1))
(<= (legal ?p wait) (role ?p) (not (true (control ?p))))
(<= (next (left ?m)) (does ?p one) (true (left ?n)) (less ?n ?m))
(<= (next (left ?k)) (does ?p two) (true (left ?n)) (less ?n ?m) (less ?m ?k))
(<= (next (control ?q)) (true (control ?p)) (other ?p ?q))
(<= terminal (true (left 0)))
(<= (goal ?p 100) (true (control ?q)) (other ?q ?p))
(<= (goal ?p 0) (true (control ?p)))
(<= (goal ?p 50) (role ?p) (true (left 7)))
";

#[test]
fn rules_in_gdl_are_checked_traced_and_played() {
    let desk = Desk::new();
    fs::write(desk.path("subtract.kif"), SUBTRACT).unwrap();
    let game = "file:subtract.kif";
    let text = desk.text(&["rules", game, "--games", "20"]);
    assert!(text.contains("roles") && text.contains("the roles in turn"), "{text}");
    assert!(text.contains("line 12: this rule can never apply"), "{text}");
    assert_eq!(desk.json(&["rules", game])["found"]["roles"], "white, black");
    // A position a line, in the words of the file.
    let trace = desk.text(&["rules", game, "--trace", "3"]);
    let steps: Vec<Value> = trace.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(steps[0]["legal"], serde_json::json!([["one", "two"], ["wait"]]));
    assert_eq!((&steps[steps.len() - 1]["over"], &steps[0]["over"]), (&true.into(), &false.into()));
    // White takes one and leaves three, of which black can only leave one or two.
    let moves = desk.json(&["moves", "minimax", "1 control(white) left(4)", "--game", game]);
    assert_eq!(moves["moves"][0]["move"], "one", "{moves}");
    // Other games have no rules to check.
    let other = desk.fails(&["rules", "bearoff"], 1);
    assert!(other.contains("bearoff is not in GDL"), "{other}");
    fs::write(desk.path("wrong.kif"), SUBTRACT.replace("(true (control ?q)) (other ?q ?p)", "(other ?q ?r)"))
        .unwrap();
    let wrong = desk.fails(&["rules", "file:wrong.kif"], 1);
    assert!(wrong.contains("line 10, column 6") && wrong.contains("`?p`"), "{wrong}");
}

/// An offer, and the answer to it: the goals do not always have the same sum.
const ULTIMATUM: &str = "(role proposer) (role responder) (init open)
(<= (legal proposer (offer 10)) (true open)) (<= (legal proposer (offer 40)) (true open))
(<= (legal responder noop) (true open)) (<= (legal proposer noop) (true (offered ?x)))
(<= (legal responder accept) (true (offered ?x))) (<= (legal responder refuse) (true (offered ?x)))
(<= (next (offered ?x)) (does proposer (offer ?x)))
(<= (next (deal ?x)) (true (offered ?x)) (does responder accept)) (<= (next nodeal) (does responder refuse))
(<= terminal (true (deal ?x))) (<= terminal (true nodeal)) (rest 10 90) (rest 40 60)
(<= (goal responder ?x) (true (deal ?x))) (<= (goal proposer ?y) (true (deal ?x)) (rest ?x ?y))
(<= (goal ?r 0) (role ?r) (true nodeal))
";

#[test]
fn two_roles_with_goals_of_their_own_learn_and_play() {
    let desk = Desk::new();
    fs::write(desk.path("deal.kif"), ULTIMATUM).unwrap();
    let game = "file:deal.kif";
    let found = &desk.json(&["rules", game])["found"];
    assert_eq!(found["sum of goals"], "not always the same: each role plays for its own goal");
    let moves = desk.json(&["moves", "minimax", "1 open", "--game", game]);
    assert_eq!(moves["moves"][0]["move"], "offer(10)", "{moves}");
    let config = desk.text(&["config", "new", game]);
    fs::write(desk.path("deal.toml"), &config).unwrap();
    assert!(desk.text(&["config", "check", "deal.toml"]).contains("is fine"));
    let set = ["--set", "learn.td.games=3000", "--set", "evaluate.every=3000"];
    let trained = desk.json(&[&["train", "deal.toml"][..], &set].concat());
    let run = trained["run"].as_str().unwrap();
    // What perfect play makes of it: 90 for the one who offers, 10 for the other.
    let learned = desk.json(&["moves", run, "1 open"]);
    assert_eq!(learned["moves"][0]["move"], "offer(10)", "{learned}");
    let learned = desk.json(&["moves", run, "2/1 offered(10)"]);
    assert_eq!(learned["moves"][0]["move"], "accept", "{learned}");
    desk.json(&["value", run, "1 open"]);
    let agents = format!(
        "[{{ name = \"net\", agent = \"{run}\" }}, {{ name = \"perfect\", agent = \"minimax\" }}, \
         {{ name = \"tree\", agent = \"uct:50\" }}]"
    );
    let arena = format!("name = \"deals\"\ngame = \"{game}\"\ngames = 20\nagents = {agents}\n");
    fs::write(desk.path("deals.toml"), arena).unwrap();
    assert_eq!(desk.json(&["arena", "deals.toml"])["pairs"].as_array().map(Vec::len), Some(3));
    let played = desk.run_with(&["play", run, "--seed", "1"], "offer 10\noffer 10\naccept\nquit\n");
    assert!(played.status.success(), "{played:?}");
    let refused = desk.fails(&["moves", &format!("search:2:{run}"), "1 open", "--game", game], 1);
    assert!(refused.contains("is not zero-sum"), "{refused}");
    let both = desk.fails(&["config", "check", "deal.toml", "--set", "learn.td.along=\"both\""], 1);
    assert!(both.contains("zero-sum"), "{both}");
}

#[test]
fn chance_in_gdl_is_refused_by_every_check() {
    let desk = Desk::new();
    let dice = "(role random) (role player) (init bet) (face 1) (face 2)
        (<= (legal player low) (true bet)) (<= (legal player safe) (true bet)) (<= (legal random noop) (true bet))
        (<= (legal player noop) (true chosen)) (<= (legal random (roll ?f)) (face ?f) (true chosen))
        (<= (next chosen) (true bet)) (<= (next (die ?f)) (does random (roll ?f))) (<= terminal (true (die ?f)))
        (<= (goal player 100) (true (die 1))) (<= (goal player 0) (true (die 2))) (goal random 0)
        (<= (sees player (face ?f)) (does random (roll ?f)))";
    fs::write(desk.path("dice.kif"), dice).unwrap();
    let config = "[game]\nrules = \"file:dice.kif\"\nencoder = \"bits\"\n[architecture.mlp]\nhidden = [4]\n\
                  [learn]\nrate = 0.1\n[learn.td]\ngames = 10\n";
    fs::write(desk.path("dice.toml"), format!("name = \"dice\"\n{config}")).unwrap();
    for args in [
        &["rules", "file:dice.kif"][..],
        &["list", "games", "--game", "file:dice.kif", "--check"],
        &["config", "check", "dice.toml"],
        &["play", "random", "--game", "file:dice.kif"],
    ] {
        let error = desk.fails(args, 1);
        for word in ["`random`", "`sees`", "GDL-II"] {
            assert!(error.contains(word), "{args:?}: {error}");
        }
    }
    fs::write(desk.path("poker.efg"), "EFG 2 R \"poker\" { \"a\" \"b\" }\n").unwrap();
    let error = desk.fails(&["list", "games", "--game", "file:poker.efg"], 1);
    assert!(error.contains("the format of Gambit"), "{error}");
}

/// One player wins by a, the other by b; a gate by what a place holds, and cells of two places.
#[test]
fn rule_files_tell_players_apart_and_have_gates() {
    let desk = Desk::new();
    let rules = "game \"targets\"\nobjects player = x, o\nobjects place = a, b, c\nflip player x o\n\
                 static target(player, place) = x a, o b\ndynamic on(player, place)\noperator take(p: place)\n  \
                 if not on(x, p), not on(o, p)\n  add on(x, p)\nwin if target(x, p), on(x, p)\nstuck draw\n";
    fs::write(desk.path("target.game"), rules).unwrap();
    let game = "file:target.game";
    let notes = desk.json(&["rules", game])["notes"].to_string();
    assert!(notes.contains("the players do not play the same game"), "{notes}");
    let said = desk.run(&["list", "games", "--game", game, "--check"]);
    assert!(said.status.success());
    assert!(
        String::from_utf8_lossy(&said.stderr).contains("the players do not play the same game"),
        "{said:?}"
    );
    let moves = desk.json(&["moves", "minimax", "2 on(x,c)", "--game", game]);
    assert_eq!(moves["moves"][0]["move"], "take(b)", "{moves}");
    for (name, architecture) in [
        (
            "gate",
            "[architecture.hme]\nexperts = 2\nexpert.mlp = { hidden = [4] }\ngate = { by = \"count-on\" }",
        ),
        (
            "cells",
            "[architecture.cells]\nby = [\"which-on-a\", \"which-on-b\"]\nexperts = 3\nexpert.mlp = { hidden = [4] }",
        ),
    ] {
        let config = format!(
            "name = \"{name}\"\n[game]\nrules = \"{game}\"\nencoder = \"bits+indices\"\n{architecture}\n[learn]\nrate = 0.01\n\
             [learn.td]\ngames = 200\n[evaluate]\nevery = 200\nsuites = [\"equity\"]\nagainst = [\"random\"]\n"
        );
        fs::write(desk.path(&format!("{name}.toml")), config).unwrap();
        let run = desk.json(&["train", &format!("{name}.toml")]);
        assert_eq!(run["steps"], 200, "{run}");
        desk.json(&["value", run["run"].as_str().unwrap(), "1"]);
    }
}

/// The commands on the pages about rules run as they stand there, with fewer games.
#[cfg(unix)]
#[test]
fn commands_on_the_pages_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = |name: &str| fs::read_to_string(root.join("docs").join(name)).unwrap();
    let desk = Desk::new();
    std::os::unix::fs::symlink(root.join("configs").canonicalize().unwrap(), desk.path("configs")).unwrap();
    fs::copy(root.join("crates/declared/games/tic-tac-toe.game"), desk.path("my.game")).unwrap();
    fs::copy(root.join("crates/declared/games/tic-tac-toe.kif"), desk.path("ticTacToe.kif")).unwrap();
    let adept = env!("CARGO_BIN_EXE_adept");
    // Runs learn for a moment, people leave at once, and servers say how they are called.
    let shell = format!(
        "adept() {{ case $1 in
          train) {adept} \"$@\" --set learn.td.games=60 --set evaluate.every=60 --set evaluate.suites='[\"equity\"]' > /dev/null ;;
          play) echo quit | {adept} \"$@\" > /dev/null ;;
          serve) {adept} serve ggp --help > /dev/null ;;
          *) {adept} \"$@\" ;;
        esac; }}"
    );
    let mut count = 0;
    for name in ["declared.md", "gdl.md"] {
        let page = page(name);
        for block in page.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let script = format!("set -euo pipefail\n{shell}\n{block}");
            let done =
                Command::new("bash").args(["-c", &script]).current_dir(desk.folder.path()).output().unwrap();
            assert!(done.status.success(), "{name}:\n{block}\n{}", String::from_utf8_lossy(&done.stderr));
            count += block.lines().filter(|line| line.starts_with("adept ")).count();
        }
    }
    assert!(count > 12, "{count}");
}
