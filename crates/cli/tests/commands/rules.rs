//! `rules`, and games in GDL by the other commands.

use crate::common::Desk;
use serde_json::Value;
use std::fs;

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
