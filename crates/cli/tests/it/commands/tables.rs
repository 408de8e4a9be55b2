//! Tables that replace networks, and benchmarks of decisions.

use crate::common::{Workspace, number, published};
use std::fs;

#[test]
fn tables_of_races_stand_for_a_network() {
    let dir = Workspace::new();
    let built = dir.json(&["oracle", "build", "--game", "hypergammon", "--points", "8"]);
    assert_eq!((built["sides"].as_u64(), built["checkers"].as_u64()), (Some(165), Some(3)));
    assert!(
        dir.text(&["oracle", "build", "--game", "backgammon:2", "--points", "6", "--no-file"])
            .contains("28 sides")
    );
    let network = published("../hypergammon/td-128-32");
    let race = "8:1 3:2/6:1 3:2";
    let value = |agent: &str| {
        number(&dir.json(&["value", agent, race, "--game", "hypergammon"])["values"][0]["equity"])
    };
    let (plain, known) = (value(&network), value(&format!("known:race-8:{network}")));
    assert!((plain - known).abs() > 1e-4 && (plain - known).abs() < 0.2, "{plain} {known}");
    assert_eq!(value(&format!("known:none:{network}")), plain);
    // The table is a file, and a damaged one is refused.
    let path = dir.path("datasets/hypergammon-race-8.bd");
    let mut bytes = fs::read(&path).unwrap();
    bytes[200] ^= 64;
    fs::write(&path, bytes).unwrap();
    let error = dir.fails(&["value", &format!("known:race-8:{network}"), race], 1);
    assert!(error.contains("race-8.bd") && error.contains("do not sum to 1"), "{error}");
    for (agent, why) in [
        ("known:race-5:X", "race-P with P points, 6 to 10"),
        ("known:oracle:X", "no table `oracle`"),
        ("known:race-8", "write known:TABLES:CHECKPOINT"),
    ] {
        let error = dir.fails(&["value", &agent.replace('X', &network), race], 1);
        assert!(error.contains(why), "{error}");
    }
}

/// Learning games end where a table knows the value, and the checkpoint names the tables.
#[test]
fn tables_are_named_in_a_config() {
    let dir = Workspace::new();
    let config = |method: &str| {
        format!(
            "name = \"known\"\nseed = 1\nhead = \"outcomes\"\n[game]\nrules = \"hypergammon\"\n\
             encoder = \"points+known:bearoff-3+known:race-8\"\n[architecture.mlp]\nhidden = [4]\n[learn]\noptimiser = \"adam\"\nrate = 0.01\nbatch = 256\n{method}"
        )
    };
    for (name, method) in [
        ("td", "[learn.td]\ngames = 30\nlambda = 0.5\nalong = \"both\"\n"),
        ("exp", "[learn.expectation]\nsamples = 256\nstarts = \"rules\"\n"),
    ] {
        fs::write(dir.path("my.toml"), config(method)).unwrap();
        dir.text(&["train", "my.toml", "--set", &format!("name={name}")]);
        let described = dir.json(&["describe", name]);
        assert!(described.to_string().contains("points+known:bearoff-3+known:race-8"), "{described}");
    }
}

#[test]
fn a_benchmark_of_decisions_is_built_and_asked() {
    let dir = Workspace::new();
    let build = [
        "decisions",
        "build",
        "--with",
        "oracle",
        "--game",
        "backgammon:1",
        "--count",
        "3",
        "--trials",
        "36",
        "--truncate",
        "2",
        "--games",
        "400",
        "--gap",
        "6",
        "--out",
        "d.csv",
    ];
    let built = dir.json(&build);
    assert!(built["finished"] == true && built["kinds"]["contact"] == 3, "{built}");
    assert!(built["short"].as_array().unwrap().iter().all(|kind| kind != "contact"), "{built}");
    let whole = fs::read_to_string(dir.path("d.csv")).unwrap();
    assert!(dir.fails(&build, 1).contains("continue it with --resume"));
    // After a truncation, it resumes to the same file.
    let rows: Vec<&str> = whole.lines().collect();
    let first = rows.iter().take_while(|row| !row.starts_with("2,")).map(|row| format!("{row}\n"));
    fs::write(dir.path("d.csv"), first.collect::<String>()).unwrap();
    dir.json(&[&build[..], &["--resume"]].concat());
    assert_eq!(fs::read_to_string(dir.path("d.csv")).unwrap(), whole);
    let other = [&build[..], &["--resume", "--seed", "2"]].concat();
    assert!(dir.fails(&other, 1).contains("was made with other options"));
    // The oracle made it and loses nothing except for the noise of the rollouts.
    let found = dir.json(&["decisions", "run", "d.csv", "oracle", "random", "--game", "backgammon:1"]);
    let all = |agent: usize| found["agents"][agent]["kinds"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(all(0)["kind"], "all");
    assert!(number(&all(0)["loss"]) < 0.01 && number(&all(1)["loss"]) > number(&all(0)["loss"]), "{found}");
    let text = dir.text(&["decisions", "run", "d.csv", "oracle", "--game", "backgammon:1"]);
    assert!(text.contains("points lost") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let broken = |from: &str, to: &str| {
        fs::write(dir.path("b.csv"), whole.replacen(from, to, 1)).unwrap();
        dir.fails(&["decisions", "run", "b.csv", "oracle", "--game", "backgammon:1"], 1)
    };
    assert!(broken("decision,kind", "number,kind").contains("has no column `decision`"));
    let play = rows.iter().find(|row| row.starts_with("1,")).unwrap().split(',').nth(3).unwrap();
    assert!(broken(&format!(",{play},"), ",99/98,").contains("is not a legal move of this position"));
}

/// Values with the cube, solved in memory and from a file.
#[test]
fn hypergammon_is_solved_with_the_cube() {
    let dir = Workspace::new();
    let game = ["--game", "backgammon:1"];
    let ask = |more: &[&str]| dir.json(&[&["oracle"], more, &game].concat());
    let value = |position: &str, more: &[&str]| {
        ask(&[&["value", position, "--cube"], more].concat())["values"][0].clone()
    };
    // The side to roll wins a gammon at once with 27 of 36 rolls, else it loses one.
    let near = |value: &serde_json::Value, expected: f64| (number(value) - expected).abs() < 1e-6;
    let [plain, jacoby] = [&[][..], &["--jacoby"]].map(|more| value("6:1/1:1", more));
    assert!(near(&plain["equity"], 1.0) && plain["jacoby"] == false && jacoby["jacoby"] == true, "{plain}");
    let [centred, own] = [&plain["cube"]["centred"], &plain["cube"]["own"]];
    assert!(near(&centred["no_double"], 1.0) && near(&centred["double_take"], 2.0), "{plain}");
    assert!(near(&own["value"], 1.0) && near(&own["double_pass"], 1.0), "{plain}");
    assert!(plain["cube"]["theirs"]["action"].is_null() && near(&plain["cube"]["theirs"]["value"], 1.0));
    // By the Jacoby rule nothing is won by waiting.
    assert!(near(&jacoby["cube"]["centred"]["no_double"], 0.5), "{jacoby}");
    assert_eq!(jacoby["cube"]["centred"]["action"], "double, pass");

    let built = ask(&["build", "--cube"]);
    assert!(built["positions"] == 601 && number(&built["bound"]) < 1e-6, "{built}");
    assert!(fs::exists(dir.path("datasets/backgammon-1-cube.table")).unwrap());
    assert_eq!(value("6:1/1:1", &[]), plain);
    let text = dir.text(&[&["oracle", "value", "bar:1/18:1", "--cube", "--jacoby"], &game[..]].concat());
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("double/take") && text.contains("by the Jacoby rule"), "{text}");

    // With a roll the equity is that of the best move, which is the first of the list.
    let rolled = value("23:1/11:1 61", &[]);
    for owner in ["centred", "own", "theirs"] {
        let found = ask(&["moves", "23:1/11:1", "61", "--cube", owner]);
        let first = &found["moves"][0];
        assert!(found["cube"] == owner && found["jacoby"] == false, "{found}");
        assert_eq!(
            (&first["value"], &first["play"]),
            (&rolled["cube"][owner]["value"], &rolled["cube"][owner]["move"])
        );
    }
    assert!(number(&rolled["cube"]["theirs"]["value"]) < number(&rolled["cube"]["own"]["value"]), "{rolled}");

    // Three checkers take too long to solve for a question.
    let three = ["oracle", "value", "24:1 23:1 22:1/24:1 23:1 22:1", "--cube", "--game", "hypergammon"];
    let error = dir.fails(&three, 1);
    assert!(error.contains("oracle build --game hypergammon --cube"), "{error}");
    let error = dir.fails(&["oracle", "value", "0,1,0,1,0,0/1,0,0,0,0,0", "--cube", "--jacoby"], 1);
    assert!(error.contains("--jacoby is of hypergammon"), "{error}");
}

/// The last roll of 4 and 2 against 1 wins with 23 of 36 throws.
#[test]
fn bearoffs_are_valued_at_the_score_of_a_match() {
    let dir = Workspace::new();
    let ask = ["oracle", "value", "0,1,0,1,0,0/1,0,0,0,0,0", "--cube", "--match", "7"];
    let value = |more: &[&str]| dir.json(&[&ask, more].concat())["values"][0].clone();
    let near = |found: &serde_json::Value, wanted: f64| (number(found) - wanted).abs() < 1e-6;
    // At 2-away 2-away a double makes this the last game; without one the winner needs one point of two in the Crawford game.
    let found = value(&["--score", "5-5"]);
    let (centred, p) = (&found["cube"]["centred"], 23.0 / 36.0);
    assert_eq!(centred["action"], "double, take", "{found}");
    let chances = &centred["match_chance"];
    assert!(near(&chances["double_take"], p) && near(&chances["double_pass"], 0.67736), "{found}");
    assert!(near(&chances["no_double"], p * 0.67736 + (1.0 - p) * 0.32264), "{found}");
    assert!(near(&centred["no_double"], 2.0 * p - 1.0) && near(&centred["double_pass"], 1.0), "{found}");
    assert_eq!(found["match"], serde_json::json!({ "away": [2, 2], "crawford": false, "cube": 1 }));

    // Nobody doubles in the Crawford game, and a cube of 2 is shown for both owners.
    let crawford = value(&["--score", "6-4", "--crawford"]);
    assert!(crawford["cube"]["centred"].get("action").is_none(), "{crawford}");
    let turned = value(&["--score", "1-2", "--cube-value", "2"]);
    assert!(turned["cube"]["own"].get("action").is_some(), "{turned}");
    assert!(turned["cube"]["theirs"].get("action").is_none(), "{turned}");
    let text = dir.text(&[&ask[..], &["--score", "1-2", "--cube-value", "2"]].concat());
    assert!(text.contains("the side to roll needs 6 and its opponent 5"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    // With a roll, the best move.
    let rolled = dir.json(&["oracle", "value", "0,1,0,1,0,0/1,0,0,0,0,0 41", "--cube", "--match", "3"]);
    let best = &rolled["values"][0]["cube"]["centred"];
    assert!(best["move"].is_string() && number(&best["match_chance"]) < 0.5, "{rolled}");

    for (more, why) in [
        (&["--score", "7-2"][..], "a score of 7 ends a match to 7 points"),
        (&["--score", "5-3", "--crawford"], "one player needs exactly one point"),
        (&["--cube-value", "3"], "not a power of 2"),
        (&["--game", "hypergammon"], "--match is of the bear-off"),
    ] {
        let error = dir.fails(&[&ask[..], more].concat(), 1);
        assert!(error.contains(why), "{error}");
    }
}

/// The best move of a list is that of `oracle value`, at the same score and for the same owner of the cube.
#[test]
fn moves_of_bearoffs_are_listed_at_the_score_of_a_match() {
    let dir = Workspace::new();
    let (position, roll) = ("1,1,1,0,1,0/0,1,1,0,0,0", "41");
    for (owner, score) in [
        ("centred", &["--match", "5", "--score", "2-3"][..]),
        ("own", &["--match", "7", "--score", "1-2", "--cube-value", "2"]),
        ("theirs", &["--match", "7", "--score", "1-2", "--cube-value", "2"]),
        ("centred", &["--match", "3", "--score", "2-0", "--crawford"]),
    ] {
        let listed = dir.json(&[&["oracle", "moves", position, roll, "--cube", owner][..], score].concat());
        let rolled = format!("{position} {roll}");
        let valued = dir.json(&[&["oracle", "value", &rolled, "--cube"][..], score].concat());
        let (first, value) = (&listed["moves"][0], &valued["values"][0]);
        let best = &value["cube"][owner];
        assert_eq!((&first["play"], &listed["match"]), (&best["move"], &value["match"]), "{listed}");
        for name in ["value", "match_chance"] {
            assert_eq!(first[name], best[name], "{listed}");
        }
        let values: Vec<f64> =
            listed["moves"].as_array().unwrap().iter().map(|found| number(&found["value"])).collect();
        assert!(values.len() > 1 && values.is_sorted_by(|a, b| a >= b), "{listed}");
    }
    let ask = ["oracle", "moves", position, roll, "--match", "5", "--cube"];
    let text = dir.text(&[&ask[..], &["centred", "--score", "2-3"]].concat());
    assert!(text.contains("the side that moves needs 3 and its opponent 2 points"), "{text}");
    for (more, why) in [
        (&["own"][..], "a cube of 1 has no owner"),
        (&["centred", "--cube-value", "2"], "a cube of 2 has an owner"),
        (&["centred", "--game", "hypergammon"], "--match is of the bear-off"),
    ] {
        let error = dir.fails(&[&ask[..], more].concat(), 1);
        assert!(error.contains(why), "{error}");
    }
}

/// Models of the cube, and a network, are measured against the exact equities of a small game.
#[test]
fn models_of_the_cube_are_measured() {
    let dir = Workspace::new();
    for (name, head) in [("classes", "head = \"outcomes\"\n"), ("values", "")] {
        let config = format!(
            "name = \"{name}\"\nseed = 1\n{head}[game]\nrules = \"backgammon:1\"\nencoder = \"points\"\n[architecture.mlp]\nhidden = [4]\n\
             [learn]\noptimiser = \"adam\"\nrate = 0.01\nbatch = 64\n[learn.td]\ngames = 30\nlambda = 0.5\nalong = \"both\"\n"
        );
        fs::write(dir.path("my.toml"), config).unwrap();
        dir.text(&["train", "my.toml"]);
    }
    let cube = ["oracle", "cube", "--game", "backgammon:1", "--positions", "400", "--games", "100"];
    let ask = |more: &[&'static str]| [&cube[..], more].concat();
    let found = dir.json(&ask(&["--network", "classes", "--jacoby"]));
    assert!(found["game"] == "backgammon:1" && found["jacoby"] == true && found["positions_fitted"] == 400);
    let model = |name: &str| {
        let models = found["models"].as_array().unwrap();
        models.iter().find(|model| model["name"] == name).unwrap_or_else(|| panic!("{name}: {found}")).clone()
    };
    assert!(model("gnubg's x")["efficiencies"].is_null());
    assert_eq!(model("class, loss")["efficiencies"].as_array().unwrap().len(), 6);
    for name in
        ["dead, x = 0", "gnubg's x", "gnubg's x, classes", "class, RMS, classes", "class, loss, classes"]
    {
        let of = model(name);
        for set in ["positions", "games"] {
            let doubles = &of[set]["centred"]["doubles"];
            let [loss, low, high] =
                [&doubles["loss"], &doubles["loss_ci95"][0], &doubles["loss_ci95"][1]].map(number);
            assert!(low <= loss && loss <= high && number(&doubles["all"]) > 50.0, "{name}: {of}");
        }
        assert_eq!(of["positions"]["own"]["positions"], 400);
    }
    // A network that has hardly learned is worse than the exact chances.
    let rms = |name: &str| number(&model(name)["positions"]["centred"]["rms_error"]);
    assert!(rms("gnubg's x, classes") > rms("gnubg's x"), "{found}");
    assert!(number(&model("gnubg's x, classes")["positions"]["centred"]["doubles"]["excess"]) > 0.0);

    // The table is read from a file too.
    dir.json(&["oracle", "build", "--game", "backgammon:1", "--cube", "--out", "my.table"]);
    let text = dir.text(&ask(&["--table", "my.table"]));
    assert_eq!(text, dir.text(&ask(&[])));
    assert!(text.contains("race < 21") && text.contains("without the Jacoby rule"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let refused = |args: &[&str], why: &str| {
        let error = dir.fails(args, 1);
        assert!(error.contains(why), "{error}");
    };
    refused(&ask(&["--network", "values"]), "has no probabilities of the six results");
    refused(&ask(&["--network", "nothing"]), "`nothing` is not a checkpoint");
    refused(&ask(&["--checkers", "3"]), "--checkers is of the bear-off");
    refused(
        &["oracle", "cube", "--checkers", "2", "--positions", "9"],
        "--positions and --network are of hypergammon",
    );
    refused(&["oracle", "cube", "--jacoby"], "--jacoby is of hypergammon");
    refused(&["oracle", "cube", "--game", "hypergammon"], "oracle build --game hypergammon --cube");

    let bearoff = dir.json(&["oracle", "cube", "--checkers", "2", "--games", "50"]);
    let usual = &bearoff["models"][2];
    assert!(bearoff["checkers"] == 2 && usual["name"] == "gnubg, x = .6", "{bearoff}");
    assert_eq!(number(&usual["efficiencies"][0]["own"]), 0.6);
    assert!(number(&usual["pairs"]["centred"]["positions"]) > 100.0, "{bearoff}");
}
