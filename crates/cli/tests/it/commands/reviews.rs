//! Reviews of whole games, written by this program and by others.

use crate::common::{Workspace, number, published};
use std::fs;

/// Two games: one ends by a drop, one by a resignation after a roll.
const MATCH: &str = "; [Site \"x\"]\r\n\r\n 3 point match\r\n\r\n Game 1\r\n Ann : 0      J\u{f6}rgen : 0\r
  1) 31: 24/23 13/10       42: 8/4 6/4\r\n  2) 65: 24/13             Doubles => 2\r\n  3) Drops           Wins 1 point\r\n\r
 Game 2\r\n Ann : 0      J\u{f6}rgen : 1\r\n  1)                     31: 8/5 6/5\r\n  2) Doubles => 2    Takes\r
  3) 52:\r\n                         Wins 4 points and the match\r\n";

#[test]
fn a_person_resigns_and_the_game_is_written_down() {
    let dir = Workspace::new();
    let play = ["play", "pubeval", "--game", "backgammon", "--seed", "3", "--history", "mine.mat"];
    for number in 1..=2 {
        let output = dir.run_with(&play, "help\nresign triple\nresign gammon\n");
        let [out, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        for expected in [
            "resign  lose the game here: resign, resign gammon, resign backgammon\n",
            "`resign triple`: write resign, resign gammon, resign backgammon\n",
            "\nYou resign and lose a gammon (2 points).\n",
        ] {
            assert!(out.contains(expected), "{out}");
        }
        assert!(out.lines().all(|line| line.chars().count() <= 80), "{out}");
        assert!(said.contains(&format!("mine.mat: added as number {number}")), "{said}");
    }
    let found = dir.json(&["review", "mine.mat", "--by", &published("../backgammon/single-256-32")]);
    let player =
        |name: &str| found["players"].as_array().unwrap().iter().find(|p| p["name"] == name).unwrap();
    assert_eq!((number(&player("you")["result"]), number(&player("pubeval")["result"])), (-4.0, 4.0));
    let output = dir.run_with(&[&play[..6], &["--json"]].concat(), "resign\n");
    let played: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((number(&played["outcome"]), played["resigned"].as_str()), (-1.0, Some("loss")), "{played}");
    // A file of something else, and a game without losses that are known.
    fs::write(dir.path("mine.mat"), "hello").unwrap();
    assert!(dir.fails(&play, 1).contains("mine.mat: this file exists and does not hold a money session"));
    let output =
        dir.run_with(&["play", "random", "--game", "liars-dice:soar:2x1", "--seed", "1"], "resign\n");
    assert!(String::from_utf8_lossy(&output.stdout).contains("resignation is not possible in liars-dice"));
}

/// A resignation loses a game of a match, which goes on with the next one.
#[test]
fn a_person_resigns_games_of_a_match() {
    let dir = Workspace::new();
    let play = ["play", "random", "--game", "backgammon:match-3", "--seed", "3", "--history", "match.mat"];
    let output = dir.run_with(&play, "resign triple\nresign gammon\nresign backgammon\n");
    let out = String::from_utf8(output.stdout).unwrap();
    for expected in [
        "`resign triple`: write resign, resign gammon, resign backgammon\n",
        "The score is 0 to 2 of 3, yours first. The Crawford game follows.\n",
        "\nYou lose.\n",
    ] {
        assert!(out.contains(expected), "{out}");
    }
    let file = fs::read_to_string(dir.path("match.mat")).unwrap();
    assert!(file.contains("Wins 2 points\n") && file.contains("Wins 3 points and the match\n"), "{file}");
    let by = published("../backgammon/single-256-32");
    let found = dir.json(&["review", "match.mat", "--by", &by, "--game", "backgammon:match-3"]);
    let you = found["players"].as_array().unwrap().iter().find(|player| player["name"] == "you").unwrap();
    assert!((number(&you["result"]) + 1.0).abs() < 1e-9, "{found}");
}

#[test]
fn how_games_end_is_told() {
    let dir = Workspace::new();
    let config = "name = \"m\"\ngame = \"backgammon\"\ngames = 60\nagents = [{ name = \"pubeval\" }, { name = \"random\" }]\n";
    fs::write(dir.path("m.toml"), config).unwrap();
    // The score is the mean utility of the classes.
    let check = |found: &serde_json::Value| {
        let names = ["loss_backgammon", "loss_gammon", "loss", "win", "win_gammon", "win_backgammon"];
        assert!(found["classes"].as_object().unwrap().keys().eq(names), "{found}");
        let shares = names.map(|name| number(&found["classes"][name]));
        let points: f64 = shares.iter().zip([-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]).map(|(p, n)| p * n).sum();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{found}");
        assert!((points - number(&found["score"])).abs() < 1e-6, "{found}");
    };
    check(&dir.json(&["arena", "m.toml", "--out", "m"])["pairs"][0]);
    let text = dir.text(&["arena", "m.toml", "--out", "m"]);
    assert!(text.contains("How games end for the first agent of each pair, in per cent:"), "{text}");
    let network = published("../backgammon/single-256-32");
    let evaluate = ["evaluate", &network, "--suite", "matches", "--against", "pubeval", "--samples", "40"];
    check(&dir.json(&evaluate)["matches"]);
    let shown = dir.text(&evaluate);
    // The rest of the table is Markdown, which a terminal wraps.
    let text: String =
        text.lines().filter(|line| line.starts_with("| pubeval –")).map(|line| format!("{line}\n")).collect();
    let described = dir.text(&["describe", &network]);
    assert!(described.contains("\noutcomes loss_backgammon (-1), loss_gammon (-0.6666667), "), "{described}");
    let exported = dir.text(&["export", &network, "--format", "onnx", "--out", "x.onnx"]);
    for text in [text, shown, described, exported] {
        // A path is one word.
        let mut lines = text.lines().filter(|line| !line.contains("checkpoints/"));
        assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
    }
}

/// The analysis of another program stands beside a review, and a review is written like it.
#[test]
fn other_judges_stand_beside_a_review() {
    let dir = Workspace::new();
    let analysed = concat!(env!("CARGO_MANIFEST_DIR"), "/../builtin/src/backgammon/mat/analysed.sgf");
    fs::copy(analysed, dir.path("m.sgf")).unwrap();
    let by = published("../backgammon/small-88-24");
    let found = dir.json(&["review", "m.sgf", "--by", &by, "--sgf", "own.sgf"]);
    assert_eq!(found["judges"], serde_json::json!([{ "name": "gnubg 0-ply", "decisions": 11 }]));
    let both = &found["both"];
    assert_eq!(number(&both["decisions"]), 11.0);
    assert!((number(&both["theirs"]["lost_by_moves"]) - 0.0972).abs() < 1e-4, "{both}");
    assert_eq!(number(&both["theirs"]["unforced_moves"]), 5.0);
    let first = &found["disagreements"][0];
    assert!(first["our_best"].is_string() && first["their_loss"].is_number(), "{found}");
    assert!(found["players"][0]["both"].is_object(), "{found}");
    // By the same network, what was written is the same.
    let again = dir.json(&["review", "own.sgf", "--by", &by]);
    let both = &again["both"];
    assert_eq!((number(&both["decisions"]), number(&both["agreed_share"])), (11.0, 1.0), "{again}");
    for key in ["error_rate", "performance_rating", "luck", "unforced_moves", "close_doubles", "answers"] {
        let [ours, theirs] = ["ours", "theirs"].map(|judge| number(&both[judge][key]));
        assert!((ours - theirs).abs() < 0.05, "{key}: {ours} {theirs}");
    }
    let text = dir.text(&["review", "m.sgf", "--by", &by]);
    assert!(text.contains("the analysis in the files, by gnubg 0-ply (11)"), "{text}");
    let mut lines = text.lines().filter(|line| !line.contains(&*by));
    assert!(lines.all(|line| line.chars().count() <= 80), "{text}");
    // A file without analysis says nothing of it, and no file is written over that is reviewed.
    fs::write(
        dir.path("m.mat"),
        " 1 point match\n\n Game 1\n a : 0      b : 0\n  1) 31: 8/5 6/5     42: 8/4 6/4\n",
    )
    .unwrap();
    let plain = dir.json(&["review", "m.mat", "--by", &by, "--sgf", "folder/m.sgf"]);
    assert!(plain.get("both").is_none() && plain.get("disagreements").is_none(), "{plain}");
    assert!(fs::read_to_string(dir.path("folder/m.sgf")).unwrap().contains("\n;W[31"));
    for option in ["--sgf", "--decisions", "--html"] {
        let refused = dir.fails(&["review", "own.sgf", "--by", &by, option, "own.sgf"], 1);
        assert!(refused.contains("would write over it"), "{refused}");
    }
    let twice = ["review", "m.mat", "--by", &by, "--sgf", "x.html", "--html", "x.html"];
    assert!(dir.fails(&twice, 1).contains("two options would write this file"));
}

#[test]
fn a_match_is_reviewed() {
    let dir = Workspace::new();
    let latin: Vec<u8> = MATCH.chars().map(|c| c as u8).collect();
    fs::write(dir.path("m.mat"), latin).unwrap();
    let by = published("../backgammon/small-88-24");
    let review = ["review", "m.mat", "--by", &by, "--game", "backgammon"];
    let found = dir.json(&review);
    // A file counts once, and every named file must exist.
    fs::create_dir(dir.path("folder")).unwrap();
    fs::copy(dir.path("m.mat"), dir.path("folder/m.mat")).unwrap();
    let twice = dir.json(&["review", "folder", "folder/m.mat", "--by", &by, "--game", "backgammon"]);
    assert_eq!(twice["players"], found["players"]);
    assert!(dir.fails(&["review", "m.mat", "nowhere.mat", "--by", &by], 1).contains("nowhere.mat"));
    assert_eq!((found["games"].as_u64(), found["unit"].as_str()), (Some(2), Some("points")), "{found}");
    let [ann, other] = [0, 1].map(|i| &found["players"][i]);
    assert_eq!((ann["name"].as_str(), other["name"].as_str()), (Some("Ann"), Some("J\u{f6}rgen")));
    // A drop costs 1 and a resigned gammon 2 points, without the cube.
    assert_eq!((number(&ann["result"]), number(&other["result"])), (-3.0, 3.0));
    assert!(
        (number(&ann["luck"]) + number(&other["luck"])).abs() < 1e-9 && number(&ann["luck"]).abs() > 0.01
    );
    assert!((number(&ann["adjusted"]) + 3.0 + number(&ann["luck"])).abs() < 1e-9);
    assert_eq!([ann, other].map(|player| player["decisions"].as_u64()), [Some(2), Some(2)]);
    assert_eq!((found["total"]["decisions"].as_u64(), found["finished"].as_bool()), (Some(4), Some(true)));
    // The worst move, compared with the output of `moves` for its position.
    let worst = &found["worst"][0];
    assert_eq!(
        (worst["game"].as_u64(), worst["move"].as_u64(), worst["player"].as_str()),
        (Some(1), Some(2), Some("Ann"))
    );
    let listed = dir.json(&["moves", &by, worst["position"].as_str().unwrap()]);
    let equity = |text: &serde_json::Value| {
        let moves = listed["moves"].as_array().unwrap();
        number(&moves.iter().find(|listed| listed["move"] == *text).unwrap()["equity"])
    };
    assert_eq!(worst["best"], listed["moves"][0]["move"]);
    let lost = equity(&worst["best"]) - equity(&worst["played"]);
    assert!((number(&worst["loss"]) - lost).abs() < 1e-5 && lost > 0.05, "{worst}");
    // With several threads, as text, and for one player.
    assert_eq!(dir.json(&[&review[..], &["--threads", "2"]].concat()), found);
    let text = dir.text(&[&review[..], &["--worst", "1"]].concat());
    assert!(text.contains("game 1, move 2, Ann: mGfwATDgc+IBKA 65\n         played 24/13, best "), "{text}");
    assert!(text.lines().skip(2).all(|line| line.chars().count() <= 80), "{text}");
    let alone = dir.json(&[&review[..], &["--player", "J\u{f6}rgen"]].concat());
    assert_eq!(&alone["players"][0], other);
    assert!(alone["worst"].as_array().unwrap().iter().all(|worst| worst["player"] == other["name"]));
    let error = dir.fails(&[&review[..], &["--player", "An"]].concat(), 1);
    assert!(
        error.contains("no player is named `An`; players are Ann, J\u{f6}rgen; did you mean `Ann`?"),
        "{error}"
    );
    // By the rules of the match, decisions of the cube count too, and the results are shares of the match.
    let with_cube = ["review", "m.mat", "--by", &by];
    let found = dir.json(&with_cube);
    assert_eq!(found, dir.json(&[&with_cube[..], &["--game", "backgammon:match-3"]].concat()));
    assert_eq!(found["game"].as_str(), Some("backgammon:match-3"));
    let errors = &found["players"][0]["errors"];
    assert_eq!(
        [&errors["moves"], &errors["unforced_moves"], &errors["answers"]].map(|n| n.as_u64()),
        [Some(2), Some(2), Some(1)],
        "{found}"
    );
    let lost: f64 =
        ["moves", "doubles", "answers"].map(|by| number(&errors[format!("lost_by_{by}")])).iter().sum();
    let counted = 3 + errors["close_doubles"].as_u64().unwrap();
    assert!((number(&errors["error_rate"]) - 1000.0 * lost / counted as f64).abs() < 1e-6, "{found}");
    let [ann, other] = [0, 1].map(|i| &found["players"][i]);
    assert_eq!([ann, other].map(|player| player["decisions"].as_u64()), [Some(5), Some(5)], "{found}");
    assert_eq!([ann, other].map(|player| player["results"].as_u64()), [Some(2), Some(2)], "{found}");
    assert!((number(&ann["result"]) + 1.0).abs() < 1e-9 && (number(&other["result"]) - 1.0).abs() < 1e-9);
    assert!((number(&ann["luck"]) + number(&other["luck"])).abs() < 1e-9, "{found}");
    assert!(found["faults"].as_array().unwrap().is_empty() && found["unit"].is_null(), "{found}");
    let text = dir.text(&with_cube);
    assert!(
        text.contains("of m.mat, in % of the chance to win the match") && text.contains("XGID="),
        "{text}"
    );
    // As a page too: one file with every decision, which loads nothing.
    let with_page = [&with_cube[..], &["--html", "page.html"]].concat();
    assert_eq!(dir.json(&with_page), found);
    let html = fs::read_to_string(dir.path("page.html")).unwrap();
    assert!(html.contains("\"kind\":\"answer\"") && html.contains("J\u{f6}rgen"), "{html}");
    assert!(!html.contains("src=") && html.contains("adept review m.mat --by "), "{html}");
    assert!(dir.text(&with_page).contains("\nwritten: page.html ("));
    let error = dir.fails(&[&with_cube[..], &["--html", "page.txt"]].concat(), 1);
    assert!(error.contains("page.txt: reports are written as HTML: end the name in .html"), "{error}");
    let hint = dir.run_with(&review, "").stderr;
    let hint = String::from_utf8(hint).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(hint.contains("--game backgammon:match-3 judges the cube too"), "{hint}");
    let error = dir.fails(&[&with_cube[..], &["--game", "backgammon:match-5"]].concat(), 1);
    assert!(error.contains("a match to 3 points"), "{error}");
    // What cannot be reviewed.
    let error = dir.fails(&["review", "m.mat", "--by", "oracle", "--game", "hypergammn"], 1);
    assert!(error.contains("no game named `hypergammn`: did you mean `hypergammon`?"), "{error}");
    let error = dir.fails(&["review", "m.mat", "--by", "pubeval", "--game", "backgammon"], 1);
    assert!(error.contains("`pubeval` is an agent without values"), "{error}");
    let error = dir.fails(&["review", "m.mat", "--by", "oracle", "--game", "backgammon:1"], 1);
    assert!(error.contains("hold games with 15 checkers a side"), "{error}");
    fs::write(dir.path("note.games"), "no match").unwrap();
    let error = dir.fails(&["review", "note.games", "--by", "minimax", "--game", "tictactoe"], 1);
    assert!(error.contains("note.games: line 1: not a game as `--histories` writes it"), "{error}");
    let error = dir.fails(&["review", "m.mat", "--by", "random", "--game", "leduc"], 1);
    assert!(error.contains("without hidden information can be reviewed"), "{error}");
    // An illegal move ends its game. The others are read, also from other files and folders.
    fs::create_dir_all(dir.path("more/deep")).unwrap();
    fs::write(dir.path("more/deep/bad.mat"), MATCH.replace("8/4 6/4", "8/4 6/3")).unwrap();
    fs::write(dir.path("more/empty.MAT"), "").unwrap();
    fs::write(dir.path("more/note.txt"), "no match").unwrap();
    let many = ["review", "m.mat", "more", "--by", &by, "--game", "backgammon"];
    let found = dir.json(&many);
    assert_eq!((found["games"].as_u64(), found["files"].as_array().unwrap().len()), (Some(4), 3), "{found}");
    let faults = found["faults"].as_array().unwrap();
    let illegal = "line 7: game 1, move 1: `42: 8/4 6/3` of J\u{f6}rgen: ";
    assert_eq!(
        (faults.len(), faults[0]["game"].as_u64(), &faults[1]["game"]),
        (2, Some(1), &serde_json::Value::Null)
    );
    assert!(faults[0]["why"].as_str().unwrap().starts_with(illegal), "{found}");
    assert!(faults[1]["why"].as_str().unwrap().contains("the file is empty"), "{found}");
    assert!(found["references"].as_array().unwrap().len() == 2, "{found}");
    let text = dir.text(&many);
    assert!(text.contains("4 games of 3 files") && text.contains("\n2 faults: "), "{text}");
    assert!(text.contains("bad.mat: line 7: game 1, move 1: `42: 8/4 6/3` of"), "{text}");
    assert!(text.lines().skip(2).all(|line| line.chars().count() <= 80), "{text}");
    // A single file that cannot be read at all is an error.
    assert!(dir.fails(&["review", "more/empty.MAT", "--by", &by], 1).contains("the file is empty"));
    assert!(dir.fails(&["review", "more/note.txt", "--by", &by], 1).contains("does not begin with a line"));
    fs::create_dir(dir.path("none")).unwrap();
    assert!(dir.fails(&["review", "none", "--by", &by], 1).contains("in folders files `.mat` are read"));
    // Names longer than a terminal.
    fs::write(dir.path("long.mat"), MATCH.replace("Ann", &"x".repeat(150))).unwrap();
    let text = dir.text(&["review", "long.mat", "--by", &by]);
    assert!(text.lines().skip(2).all(|line| line.chars().count() <= 80), "{text}");
    fs::write(dir.path("long.mat"), MATCH.replace("Ann", &"x".repeat(65_536))).unwrap();
    let text = dir.text(&["review", "long.mat", "m.mat", "--by", &by]);
    assert!(text.contains("long.mat: line 6: game 1: a name has more than 200 letters"), "{text}");
}

/// Three matches of Ann, two of them against the same opponent, in another order than their dates.
fn session(dir: &Workspace) {
    fs::create_dir(dir.path("session")).unwrap();
    for (name, date, opponent) in
        [("a", "2024.03.01", "J\u{f6}rgen"), ("b", "2024.01.05", "J\u{f6}rgen"), ("c", "2024.02.01", "Cy")]
    {
        let text = MATCH.replace("[Site \"x\"]", &format!("[EventDate \"{date}\"]"));
        fs::write(dir.path(&format!("session/{name}.mat")), text.replace("J\u{f6}rgen", opponent)).unwrap();
    }
}

#[test]
fn a_session_is_broken_down() {
    let dir = Workspace::new();
    session(&dir);
    let by = published("../backgammon/small-88-24");
    let review = ["review", "session", "--by", &by];
    let found = dir.json(&review);
    let list = |key: &str| found[key].as_array().unwrap().clone();
    let files: Vec<String> =
        list("matches").iter().map(|one| one["file"].as_str().unwrap().replace('\\', "/")).collect();
    assert_eq!(files, ["session/b.mat", "session/c.mat", "session/a.mat"]);
    assert_eq!(
        (found["subject"].as_str(), found["matches"][0]["date"].as_str()),
        (Some("Ann"), Some("2024-01-05"))
    );
    let met: Vec<(&str, u64)> = found["opponents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["opponent"].as_str().unwrap(), one["games"].as_u64().unwrap()))
        .collect();
    assert_eq!(met, [("J\u{f6}rgen", 4), ("Cy", 2)]);
    assert_eq!(list("over_time").len(), 3);
    assert!(list("over_time").iter().all(|one| number(&one["performance_ci95"]) >= 0.0), "{found}");
    // Ann lost each match, with the same luck: nothing varies.
    let ann = list("spread").into_iter().find(|one| one["player"] == "Ann").unwrap();
    assert!((number(&ann["mean"]) + 1.0).abs() < 1e-9 && number(&ann["sd"]) < 1e-9, "{ann}");
    assert!(number(&ann["adjusted_sd"]) < 1e-6, "{ann}");
    // The kinds of decisions add up to all of them.
    let kinds = list("kinds");
    let of = |player: &serde_json::Value, key: &str| -> f64 {
        kinds.iter().filter(|one| one["player"] == *player).map(|one| number(&one[key])).sum()
    };
    for player in found["players"].as_array().unwrap() {
        let decisions = number(&player["decisions"]);
        assert_eq!(of(&player["name"], "decisions"), decisions, "{player}");
        let lost = decisions * number(&player["loss_per_decision"]);
        assert!((of(&player["name"], "lost") - lost).abs() < 1e-6, "{player}");
    }
    assert_eq!(of(&serde_json::Value::Null, "decisions"), number(&found["total"]["decisions"]));
    assert!(kinds.iter().any(|one| one["decision"] == "answer" && one["position"] == "contact"), "{found}");
    let text = dir.text(&review);
    for title in [
        "errors of Ann by kind of position and decision",
        "Ann by match, in % of the chance to win the match",
        "Ann by opponent",
        "Ann over time, by date",
        "results of matches, in % of the chance to win the match",
    ] {
        assert!(text.contains(title), "{title}: {text}");
    }
    assert!(text.lines().skip(2).all(|line| line.chars().count() <= 80), "{text}");
    // A single match has the kinds alone.
    let text = dir.text(&["review", "session/a.mat", "--by", &by]);
    assert!(text.contains("errors of Ann by kind") && !text.contains("by match"), "{text}");
    assert_eq!(dir.json(&["review", "session/a.mat", "--by", &by])["matches"].as_array().unwrap().len(), 1);
}

#[test]
fn the_worst_decisions_are_a_benchmark() {
    let dir = Workspace::new();
    fs::write(dir.path("m.mat"), MATCH).unwrap();
    let by = published("../backgammon/small-88-24");
    let review = ["review", "m.mat", "--by", &by, "--game", "backgammon"];
    let found = dir.json(&[&review[..], &["--worst", "2", "--decisions", "worst.csv"]].concat());
    let worst = found["worst"].as_array().unwrap();
    assert_eq!((worst.len(), worst[0]["decision"].as_str()), (2, Some("move")), "{found}");
    // The judge makes no error by its own values, and what was played is in the file.
    let graded = dir.json(&["decisions", "run", "worst.csv", &by, "random", "--game", "backgammon"]);
    let all = |agent: usize| graded["agents"][agent]["kinds"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((all(0)["decisions"].as_u64(), number(&all(0)["loss"])), (Some(2), 0.0), "{graded}");
    let file = fs::read_to_string(dir.path("worst.csv")).unwrap();
    for one in worst {
        let row = format!("{},{},", one["position"].as_str().unwrap(), one["played"].as_str().unwrap());
        assert!(file.contains(&row), "{row}: {file}");
    }
    // Of other rules.
    let other = "# Decisions of backgammon:money that lost most\ndecision,kind,position,move,equity\n1,contact,here,roll,0\n";
    fs::write(dir.path("money.csv"), other).unwrap();
    let error = dir.fails(&["decisions", "run", "money.csv", &by, "--game", "backgammon"], 1);
    assert!(
        error.contains("these are decisions of backgammon:money: add `--game backgammon:money`"),
        "{error}"
    );
    // Rolled out, and continued.
    let build = ["decisions", "build", "--from", "worst.csv", "--with", &by, "--game", "backgammon"];
    let build = [&build[..], &["--trials", "2", "--truncate", "1", "--out", "rolled.csv"]].concat();
    let built = dir.json(&build);
    assert_eq!((built["finished"].as_bool(), built["short"].as_array().unwrap().len()), (Some(true), 0));
    let moves = |name: &str| -> Vec<String> {
        let text = fs::read_to_string(dir.path(name)).unwrap();
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        rows.map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            [0, 1, 3].map(|cell| cells[cell]).join(",")
        })
        .collect()
    };
    assert_eq!(moves("worst.csv"), moves("rolled.csv"));
    fs::write(dir.path("worst.csv"), file.lines().take(6).collect::<Vec<_>>().join("\n")).unwrap();
    let error = dir.fails(&[&build[..], &["--resume"]].concat(), 1);
    assert!(error.contains("holds other decisions"), "{error}");
    // Cube decisions of a match too.
    dir.json(&["review", "m.mat", "--by", &by, "--decisions", "cube.csv"]);
    let graded = dir.json(&["decisions", "run", "cube.csv", &by, "--game", "backgammon:match-3"]);
    assert!(number(&graded["agents"][0]["kinds"][0]["loss"]) < 1e-4, "{graded}");
}

#[test]
fn a_person_is_asked_about_errors() {
    let dir = Workspace::new();
    fs::write(dir.path("m.mat"), MATCH).unwrap();
    let by = published("../backgammon/small-88-24");
    let quiz = ["quiz", "m.mat", "--by", &by, "--game", "backgammon", "--player", "Ann"];
    let output = dir.run_with(&quiz, "help\nnonsense\n24/13\n");
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{out}");
    for expected in [
        "game 1, move 2, Ann to decide",
        "to move 6-5",
        "quit  end the quiz",
        "yours, in the game",
        "  best\n",
    ] {
        assert!(out.contains(expected), "{expected}: {out}");
    }
    assert!(out.contains("24/13 loses ") && out.contains("\n1 answer, 0 of them the best: "), "{out}");
    // In a terminal, what is typed ends the line of the question.
    let mut lines = out.lines().map(|line| line.strip_prefix("your move> ").unwrap_or(line));
    assert!(lines.all(|line| line.chars().count() <= 80), "{out}");
    // The best move, as the review names it; and an action that the list does not have.
    let best =
        dir.json(&["review", "m.mat", "--by", &by, "--game", "backgammon"])["worst"][0]["best"].clone();
    let ask = |typed: &str| -> serde_json::Value {
        let output = dir.run_with(&[&quiz[..], &["--json"]].concat(), typed);
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let found = ask(&format!("{}\n", best.as_str().unwrap()));
    assert_eq!((found["best"].as_u64(), number(&found["lost"])), (Some(1), 0.0), "{found}");
    assert!(number(&found["lost_in_games"]) > 0.05, "{found}");
    let found = ask("8/3 8/2\nq\n");
    assert!(number(&found["answers"][0]["loss"]) > 0.1, "{found}");
    let found = ask("");
    assert!(found["answers"].as_array().unwrap().is_empty(), "{found}");
    // Decisions about the cube, by the rules of the match.
    let output = dir.run_with(&["quiz", "m.mat", "--by", &by], "q\n");
    assert!(String::from_utf8_lossy(&output.stdout).contains("Question 1 of "));
    let error = dir.fails(&[&quiz[..], &["--player", "An"]].concat(), 2);
    assert!(error.contains("cannot be used multiple times"), "{error}");
}
