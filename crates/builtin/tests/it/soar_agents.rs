//! Compares the published agents of the dice game with their decisions recorded in Soar.

use adept_builtin::liars_dice::LiarsDice;
use adept_game::{Found, Kit, Recorded};
use std::path::{Path, PathBuf};

fn game() -> LiarsDice {
    LiarsDice::named("liars-dice:soar:2x5").expect("a game")
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/soar-dice-decisions.csv")
}

/// The agent's agreement with a file, if there are records of it.
fn compared(agent: &str, file: &Path) -> Found<Recorded> {
    game().agents().deliberators.open(agent)?.expect(agent).recorded(file)
}

fn recorded(agent: &str, file: &Path) -> Recorded {
    compared(agent, file).expect(agent).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn every_published_agent_decides_as_recorded() {
    for (agent, rows) in [
        ("P", 600),
        ("PM", 600),
        ("PH", 600),
        ("PMH", 600),
        ("E", 600),
        ("EM", 600),
        ("EH", 600),
        ("EMH", 600),
        ("soar-old:P", 110),
        ("soar-old:PM", 110),
        ("soar-old:PH", 110),
        ("soar-old:PMH", 110),
    ] {
        let found = recorded(agent, &file());
        assert_eq!((found.rows, found.agree), (rows, rows), "{agent}: {:?}", found.differences.first());
    }
}

/// The app's agents have other values for passes, so the comparison finds differences.
#[test]
fn other_agents_differ() {
    let found = recorded("soar-app:P", &file());
    assert!(found.agree < 600 && found.agree > 300, "{}", found.agree);
    let first = &found.differences[0];
    assert!(!first.position.is_empty() && first.recorded != first.chosen, "{first:?}");
    assert!(compared("paper:P", &file()).is_none());
    assert!(compared("soar:E", &file()).is_none());
}

#[test]
fn faults_in_a_record_are_named() {
    let text = std::fs::read_to_string(file()).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let (columns, rows) = rest.split_once('\n').unwrap();
    let row = rows.lines().next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, fault, says) in [
        ("none", String::new(), "has no decisions of P"),
        ("seat", row.replacen(",0,0,1,", ",0,7,1,", 1), "line 3, `7` is not a seat"),
        ("cup", row.replacen("44446/-", "447/-", 1), "`7` is not a face"),
        ("value", row.replacen("3333 2099", "x 2099", 1), "`x` is not a value"),
        ("act", row.replacen("0:pass", "0-pass", 1), "column acts: `0-pass`"),
        ("count", row.replacen("1:3x6", "1:200x6", 1), "is not a bid of at most"),
        ("special", row.replacen("1,0,0,1,", "1,9,0,1,", 1), "`9` is not 0 or 1"),
        ("turn", "1,0,0,1,4/- 2/-,0:2x1,2x1,0,f,0,f,a,a,a,a,,,,,".into(), "is not to move"),
        ("cand", row.replacen("2x1 4x5", "2y1 4x5", 1), "`2y1` is not an action"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{header}\n{columns}\n{fault}\n")).unwrap();
        let error = compared("P", &path).expect("P").expect_err(name).to_string();
        assert!(error.contains(says), "{name}: {error}");
    }
}
