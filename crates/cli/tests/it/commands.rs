//! Every command once, end to end: output, JSON and exit code.

mod failures;
mod labels;
mod managers;
mod outcomes;
mod positions;
mod reports;
mod reviews;
mod rules;
mod screens;
mod serving;
mod tables;
mod terminal;

use crate::common::{Workspace, configs, number, published};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn train_learns_and_reports() {
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let games = ["--set", "learn.games=40000", "--set", "evaluate.every=4000"];
    let train = [&["train", &config][..], &games].concat();
    let result = dir.json(&train);
    assert_eq!(result["run"], "checkpoints/runs/single-80-1");
    assert_eq!((result["seed"].as_u64(), result["steps"].as_u64()), (Some(1), Some(40_000)));
    assert!(number(&result["final"]["equity"]) > 0.3 && number(&result["seconds"]) > 0.0);
    assert!(number(&result["best"]["equity"]) >= number(&result["final"]["equity"]));
    assert!((number(&result["baseline"]["optimal"]) - 637.0 / 960.0).abs() < 1e-9);
    // A finished run of the same config prints its result again, with and without --resume.
    assert_eq!(dir.json(&train), result);
    assert_eq!(dir.json(&[&train[..], &["--resume"]].concat()), result);
    let text = dir.text(&train);
    assert!(
        text.contains("best possible 0.6635") && text.contains("adept play checkpoints/runs/single-80-1"),
        "{text}"
    );

    // Its curve, with the references.
    let best = number(&result["references"]["best"]["value"]);
    assert!((best - 637.0 / 960.0).abs() < 1e-9 && result["references"]["baseline"]["name"] == "random play");
    let curve = fs::read_to_string(dir.path("checkpoints/runs/single-80-1/curve.svg")).unwrap();
    assert!(curve.contains("equity against ttt") && curve.contains("random play"), "{curve}");
    let drawn = dir.text(&["runs", "plot", "single-80"]);
    assert!(
        drawn.contains('●')
            && drawn.starts_with("distance to the best equity against ttt, 0.6635\n")
            && drawn.lines().all(|l| l.chars().count() <= 80)
    );
    let drawn = dir.text(&["runs", "plot", "single-80", "--values"]);
    assert!(drawn.starts_with("equity against ttt\n") && drawn.contains("best possible 0.6635"), "{drawn}");
    let drawn = dir.text(&["runs", "plot", "single-80", "--mark", "another program=0.5"]);
    assert!(drawn.contains("another program 0.1635"), "{drawn}");
    assert!(dir.fails(&["runs", "plot", "single-80", "--mark", "0.5"], 2).contains("expected NAME=VALUE"));
    let written = dir.json(&["runs", "plot", "single-80-1", "--out", "curves.svg"]);
    assert_eq!(written["curves"][0]["points"].as_array().unwrap().len(), 10);
    assert!(fs::read_to_string(dir.path("curves.svg")).unwrap().starts_with("<svg"));

    // A longer run continues from there.
    let longer = ["train", &config, "--set", "learn.games=50000", "--set", "evaluate.every=4000"];
    assert!(dir.fails(&longer, 1).contains("resume it to make it longer"));
    let result = dir.json(&[&longer[..], &["--resume"]].concat());
    assert_eq!((result["steps"].as_u64(), result["finished"].as_bool()), (Some(50_000), Some(true)));
    let drawn = dir.text(&["runs", "plot", "single-80-1"]);
    assert!(drawn.contains("50000 games"), "{drawn}");

    let listed = dir.json(&["runs", "list"]);
    assert_eq!(listed["runs"][0]["status"], "finished");
    assert!(dir.text(&["runs", "list"]).contains(" 50000 "));
}

#[test]
fn train_runs_several_seeds_and_resumes() {
    let dir = Workspace::new();
    let config = configs().join("lookup.toml").to_string_lossy().into_owned();
    let train = ["train", &config, "--seeds", "2", "--set", "learn.games=4000", "--out", "many"];
    let result = dir.json(&train);
    assert_eq!(result["runs"].as_array().unwrap().len(), 2);
    assert_eq!(result["curve"], "many/lookup.svg");
    assert!(fs::read_to_string(dir.path("many/lookup.svg")).unwrap().contains("mean ± sd of 2 runs"));
    let finals: Vec<f64> = (0..2).map(|i| number(&result["runs"][i]["final"]["equity"])).collect();
    assert!((number(&result["final"]["mean"]) - (finals[0] + finals[1]) / 2.0).abs() < 1e-12);
    assert!(number(&result["final"]["sd"]) > 0.0 && result["best"]["mean"].is_number());

    // Stopped by the time limit, then resumed.
    let run = ["train", &config, "--set", "learn.games=300000", "--out", "one"];
    let stopped = dir.json(&[&run[..], &["--max-seconds", "0.05"]].concat());
    if stopped["finished"] == false {
        assert!(dir.fails(&run, 1).contains("--resume"));
    }
    let whole = dir.json(&[&run[..], &["--resume"]].concat());
    assert_eq!((whole["finished"].as_bool(), whole["steps"].as_u64()), (Some(true), Some(300_000)));
}

#[test]
fn evaluate_measures_exactly_and_times() {
    let dir = Workspace::new();
    let run = dir.trained("hme-2x40-st3.toml", 20_000);
    let report = dir.json(&["evaluate", &run, "--suite", "equity", "--suite", "speed"]);
    let equity = &report["equity"];
    let mean = (number(&equity["first"]) + number(&equity["second"])) / 2.0;
    assert!((number(&equity["equity"]) - mean).abs() < 1e-12 && equity["against"] == "ttt");
    assert_eq!(equity["opponents"].as_array().unwrap().len(), 3, "ttt, random, minimax");
    assert_eq!(equity["usage"]["share"].as_array().unwrap().len(), 2);
    assert!(number(&report["speed"][0]["evaluations_per_second"]) > 1000.0);
    let best = dir.json(&["evaluate", &run, "--best", "--against", "ttt"]);
    assert!(number(&best["equity"]["equity"]) >= number(&equity["equity"]));
    assert!(dir.text(&["evaluate", &run]).contains("experts run on"));
}

#[test]
fn value_shows_moves_gates_and_experts() {
    let dir = Workspace::new();
    let run = dir.trained("hme-2x40.toml", 20_000);
    let values = dir.json(&["value", &run, "XX.OO....", "X...O....@5", "XXXOO...."]);
    let values = values["values"].as_array().unwrap();
    assert_eq!((number(&values[0]["value"]), values[0]["moves"][0]["action"].as_str()), (1.0, Some("3")));
    assert_eq!(values[1]["moves"].as_array().unwrap().len(), 7);
    let gates = values[1]["moves"][0]["gates"].as_array().unwrap();
    assert!((gates.iter().map(number).sum::<f64>() - 1.0).abs() < 1e-5);
    assert_eq!(values[1]["moves"][0]["experts"].as_array().unwrap().len(), 2);
    assert_eq!((number(&values[2]["value"]), values[2]["to_move"].as_u64()), (1.0, None));
    assert!(dir.text(&["value", &run, "X...O...."]).contains("expert 2: weight"));
    assert!(dir.fails(&["value", &run, "XXX"], 1).contains("3 squares instead of nine"));
}

#[test]
fn describe_counts() {
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let described = dir.json(&["describe", &config]);
    // 9·80 + 80 weights and biases, 80 + 1, and a sensitivity for each of the 81 units.
    assert_eq!(described["parameters"], 720 + 80 + 80 + 1 + 81);
    assert_eq!(described["bytes"], 4 * 962);
    assert_eq!(described["multiply_adds"], 720 + 80 + 81);
    let run = dir.trained("symbolic-9x20.toml", 1_000);
    let text = dir.text(&["describe", &run]);
    assert!(text.contains("route to one of 9 by square") && text.contains("1000 games"), "{text}");
}

#[test]
fn reproduce_writes_the_table_beside_the_papers() {
    let dir = Workspace::new();
    let table = dir.json(&["reproduce", "table1", "--quick", "--seeds", "1", "--out", "table1"]);
    let rows = table["rows"].as_array().unwrap();
    assert_eq!(rows.iter().filter(|r| r["paper"].is_number()).count(), 10);
    assert_eq!((rows[2]["name"].as_str(), number(&rows[2]["paper"])), (Some("single-80"), 0.6));
    for key in ["final_mean", "final_sd", "best_mean", "seconds"] {
        assert!(rows.iter().all(|r| r[key].is_number()), "{key}");
    }
    assert!(rows.iter().all(|r| number(&r["final_mean"]) <= 637.0 / 960.0 + 1e-9));
    assert!(table["note"].as_str().unwrap().contains(".614"));
    let read = |file: &str| fs::read_to_string(dir.folder.path().join("table1").join(file)).unwrap();
    assert!(read("table1.md").contains("| HME 2×40, ST .3 |") && read("table1.md").contains("637/960"));
    assert!(read("table1.svg").starts_with("<svg") && read("table1.svg").contains("lookup"));
    assert_eq!(serde_json::from_str::<Value>(&read("table1.json")).unwrap(), table);
    // Another call removes nothing unless it is told to resume.
    let again = dir.fails(&["reproduce", "table1", "--quick", "--seeds", "1", "--out", "table1"], 1);
    assert!(again.contains("--resume"), "{again}");
}

#[test]
fn play_takes_moves_from_the_terminal() {
    let dir = Workspace::new();
    let run = dir.trained("single-30.toml", 2_000);
    // All squares are tried, and occupied ones are refused.
    let moves = "5\nhint\nnonsense\nundo\n5\n1\n2\n3\n4\n6\n7\n8\n9\n1\n2\n3\n4\n6\n7\n8\n9\n";
    let output = dir.run_with(&["play", &run, "--hints", "--seed", "1"], moves);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success() && text.contains("It moves") && text.contains("`nonsense` is not a square"),
        "{text}"
    );
    assert!(["You win.", "You lose.", "A draw."].iter().any(|end| text.contains(end)), "{text}");
    let output = dir.run_with(&["play", "ttt", "--seat", "2", "--seed", "1", "--json"], "quit\n");
    let played: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((played["game"].as_str(), played["moves"].as_array().unwrap().len()), (Some("tictactoe"), 1));
    assert!(dir.fails(&["play", "nobody"], 1).contains("nor an agent of any game: see `adept list agents`"));
}

#[test]
fn config_checks_writes_and_describes_itself() {
    let dir = Workspace::new();
    let new = dir.text(&["config", "new", "tictactoe"]);
    fs::write(dir.path("my.toml"), &new).unwrap();
    assert!(dir.text(&["config", "check", "my.toml"]).contains("my-tictactoe is fine"));
    fs::write(dir.path("bad.toml"), new.replace("lambda", "lamda")).unwrap();
    let error = dir.fails(&["config", "check", "my.toml", "bad.toml"], 1);
    let line = new.lines().position(|line| line.starts_with("lambda")).unwrap() + 1;
    assert!(
        error.contains(&format!("bad.toml:{line}:1")) && error.contains("did you mean `lambda`?"),
        "{error}"
    );
    let output = dir.run(&["config", "check", "bad.toml", "--json"]);
    let checked: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (checked["faults"].as_u64(), checked["files"][0]["line"].as_u64()),
        (Some(1), Some(line as u64))
    );
    assert!(dir.json(&["config", "schema"])["properties"]["learn"].is_object());
    assert!(dir.fails(&["config", "new", "tictacto"], 1).contains("did you mean `tictactoe`?"));
}

/// Learned cells, from training to a drawing and to a card with a rival network.
#[test]
fn the_use_of_experts_is_shown_everywhere() {
    let dir = Workspace::new();
    let head = |name: &str, encoder: &str| {
        format!(
            "name = \"{name}\"\nabout = \"of a test\"\n[game]\nrules = \"bearoff:5\"\nencoder = \"{encoder}\"\n"
        )
    };
    let learn = "[learn]\nrate = 0.01\noptimiser = \"adam\"\n[learn.supervised]\nsamples = 30_000\n[evaluate]\n\
                 positions = 500\nvalidation = 100\n";
    let cells = "[architecture.cells]\nby = [\"pace_moved\", \"pace_to_roll\"]\nexperts = 4\nprobe = 5_000\n\
                 expert.mlp = { hidden = [3] }\n";
    let gate = "[architecture.meta_pi]\nexperts = 4\nthreshold = 0.3\ngate.clusters = 0\nexpert.mlp = { hidden = [3] }\n";
    let single = "[architecture.mlp]\nhidden = [3]\n";
    for (name, encoder, architecture) in
        [("cells", "race+pace", cells), ("gate", "race", gate), ("single", "race", single)]
    {
        let text = format!("{}{architecture}{learn}", head(name, encoder));
        fs::write(dir.path(&format!("{name}.toml")), text).unwrap();
    }
    let result = dir.json(&["train", "cells.toml"]);
    let shares = result["experts"]["shares"].as_array().unwrap();
    assert!(shares.len() == 4 && (shares.iter().map(number).sum::<f64>() - 1.0).abs() < 1e-9, "{result}");
    assert_eq!(number(&result["experts"]["multiply_adds"]), 12.0 * 3.0 + 3.0);
    assert!(dir.text(&["train", "cells.toml"]).contains("experts: 4 of 4 live"));
    let warned = dir.run(&["train", "gate.toml"]);
    let warned = String::from_utf8_lossy(&warned.stderr).into_owned();
    assert!(
        warned.contains("warning: gate.toml: architecture.meta_pi.threshold: 0.3 is at least 1/4"),
        "{warned}"
    );
    assert!(dir.json(&["train", "single.toml"])["experts"].is_null());

    let drawn = dir.text(&["runs", "plot", "--gates", "cells"]);
    assert!(
        drawn.starts_with("4 of 4 experts in 64 × 64 cells; down pace_moved, across pace_to_roll"),
        "{drawn}"
    );
    assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
    dir.text(&["runs", "plot", "--gates", "cells", "--out", "cells.svg"]);
    let drawing = fs::read_to_string(dir.path("cells.svg")).unwrap();
    assert!(drawing.starts_with("<svg") && drawing.contains("pace_to_roll"));
    assert!(dir.fails(&["runs", "plot", "--gates", "single"], 1).contains("has no learned cells"));
    assert!(dir.fails(&["runs", "plot", "cells", "--out", "x.png"], 1).contains(".svg"));

    let found = dir.json(&["publish", "cells", "--rival", "single", "--out", "published"]);
    let card = fs::read_to_string(found["card"].as_str().map(|card| dir.path(card)).unwrap()).unwrap();
    assert!(card.contains("4 of 4 are live") && card.contains("| `single` | 39 | 43 |"), "{card}");
    let report = dir.json(&["evaluate", "published", "--suite", "rms", "--samples", "500"]);
    let single = &report["experts"]["single"];
    assert_eq!((single["hidden"].as_u64(), single["name"].as_str()), (Some(3), Some("single")));
    assert!(number(&single["rms"]) > 0.0 && report["experts"]["live"] == 4, "{report}");
    let text = dir.text(&["evaluate", "published", "--suite", "rms", "--samples", "500"]);
    assert!(text.contains("39 multiply-adds a row, like a single network of 3 hidden units: "), "{text}");
}

/// A game with dice, from the starter config to a game in the terminal.
#[test]
fn the_bear_off_is_trained_valued_and_played() {
    let dir = Workspace::new();
    let new = dir.text(&["config", "new", "bearoff:4"]);
    let learn = "[learn]\nrate = 0.01\n\n[learn.td]\ngames = 500\n\n[evaluate]\npositions = 500\n";
    // The starter's method uses exact values; self-play uses them only for measuring.
    let new = format!("{}{learn}", &new[..new.find("[learn]").unwrap()]);
    fs::write(dir.path("my.toml"), new).unwrap();
    let train = ["train", "my.toml", "--out", "run"];
    let result = dir.json(&train);
    assert_eq!((result["steps"].as_u64(), result["finished"].as_bool()), (Some(500), Some(true)));
    assert!(
        (0.0..0.7).contains(&number(&result["final"]["rms"])) && result["final"]["rows"] == 500,
        "{result}"
    );
    assert!(
        ["best", "against", "baseline"].iter().all(|key| result[key].is_null()),
        "no exact value chooses: {result}"
    );
    let text = dir.text(&train);
    assert!(text.contains("adept play") && text.contains("best: none"), "{text}");

    let error = dir.fails(&["evaluate", "run", "--suite", "equity"], 1);
    assert!(error.contains("measure `rms`"), "{error}");
    assert!(dir.fails(&["evaluate", "run", "--best", "--suite", "speed"], 1).contains("leave out --best"));
    let report = dir.json(&["evaluate", "run", "--suite", "speed"]);
    assert!(report["equity"].is_null() && number(&report["speed"][0]["evaluations_per_second"]) > 1000.0);

    let values = dir.json(&["value", "run", "1,1,0,0,0,2/0,0,0,0,1,2", "1,1,0,0,0,2/0,0,0,0,1,2 61"]);
    let values = values["values"].as_array().unwrap();
    assert_eq!(number(&values[0]["value"]), -number(&values[0]["after"]["value"]), "for the player to roll");
    let moves = values[1]["moves"].as_array().unwrap();
    assert!(
        moves.iter().any(|m| m["action"] == "6/5 6/off") || moves.iter().any(|m| m["action"] == "6/off 6/5")
    );
    assert!(dir.fails(&["value", "run", "start"], 1).contains("a chance event comes next"));

    let output = dir.run_with(&["play", "random", "--game", "bearoff", "--seed", "1"], "hello\nquit\n");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("The game begins with") && text.contains("You roll"));
    assert!(text.contains("player 1") && text.contains("`hello` is not a checker move"), "{text}");
    let output = dir.run_with(&["play", "run", "--hints", "--seat", "2", "--seed", "1", "--json"], "quit\n");
    let played: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(played["moves"].as_array().unwrap().len(), 4, "the position, a roll, a move, a roll");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("It rolls") && said.contains("It thinks this is worth"), "{said}");
    assert!(dir.fails(&["play", "minimax", "--game", "bearoff"], 1).contains("bearoff has chance"));
}

/// A network that is worse than a formula is flagged: after training, on its card, and when it is opened for such
/// positions.
#[test]
fn what_a_formula_knows_better_is_said() {
    let dir = Workspace::new();
    let config = r#"
        name = "poor"
        game = { rules = "bearoff:4", encoder = "counts" }
        architecture.mlp = { hidden = [2], init = 0.1 }
        learn = { batch = 32, rate = 0.01, optimiser = "adam", supervised = { samples = 3200 } }
        evaluate.positions = 1000
    "#;
    fs::write(dir.path("my.toml"), config).unwrap();
    let train = ["train", "my.toml", "--out", "run"];
    let result = dir.json(&train);
    assert_eq!(result["references"]["baseline"]["name"], "convolution");
    assert_eq!(result["references"]["naive"]["name"], "always the mean value");
    let places: Vec<&str> =
        result["weak"].as_array().unwrap().iter().map(|w| w["positions"].as_str().unwrap()).collect();
    let expected = ["table", "checkers", "full", "small", "even"].map(|d| format!("the distribution `{d}`"));
    assert_eq!(places[..5], expected);
    assert_eq!(places[5..], ["checkers of the larger side 1 to 4"]);
    let text = dir.text(&train);
    assert!(
        text.contains("│ is convolution") && text.contains("more accurate than this network on"),
        "{text}"
    );

    let output = dir.run(&["publish", "run", "--out", "published"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("its card says so first"), "{said}");
    let card = fs::read_to_string(dir.path("published/card.md")).unwrap();
    let (not_for, figures) = (card.find("## Not for").unwrap(), card.find("## Figures").unwrap());
    assert!(not_for < figures && card.contains("- checkers of the larger side 1 to 4: error"), "{card}");
    assert!(card.contains("That is every distribution"), "{card}");

    // Once for two positions, and again for a distribution.
    for args in [
        &["value", "published", "1,0,0,0,0,0/1,0,0,0,0,0", "1,1,0,0,0,0/0,0,0,1,0,0"][..],
        &["evaluate", "published", "--suite", "rms", "--distribution", "small", "--samples", "300"],
        &["value", "run", "1,0,0,0,0,0/1,0,0,0,0,0"],
    ] {
        let said = String::from_utf8(dir.run(args).stderr).unwrap();
        assert_eq!(said.matches("the formula `convolution` is more accurate").count(), 1, "{args:?}: {said}");
    }
    // Refreshing a card changes neither the checkpoint nor handwritten parts.
    let manifest = fs::read(dir.path("published/manifest.json")).unwrap();
    let edited =
        card.replace("## To repeat", "A note.\n\n## To repeat").replace("1 to 4: error", "1 to 3: error");
    fs::write(dir.path("published/card.md"), edited).unwrap();
    let refreshed = dir.text(&["publish", "--refresh", "published"]);
    assert_eq!(refreshed, card.replace("## To repeat", "A note.\n\n## To repeat"));
    assert_eq!(refreshed, fs::read_to_string(dir.path("published/card.md")).unwrap());
    assert_eq!(manifest, fs::read(dir.path("published/manifest.json")).unwrap());
    assert!(dir.fails(&["publish", "run", "--refresh", "published"], 2).contains("cannot be used with"));
}

/// Learning from the oracle and from a file, and every measurement on positions.
#[test]
fn the_bear_off_is_learned_from_examples_and_measured() {
    let dir = Workspace::new();
    let config = r#"
        name = "examples"
        game = { rules = "bearoff:5", encoder = "one-sided+prior:convolution" }
        architecture.residual.net.mlp = { hidden = [4], output = "linear", init = 0.1 }
        learn = { method = "supervised", examples = 300, samples = 20_000, batch = 8, rate = 0.01, optimiser = "adam" }
        evaluate = { positions = 2000, validation = 500, every = 5000 }
    "#;
    fs::write(dir.path("my.toml"), config).unwrap();
    let result = dir.json(&["train", "my.toml", "--out", "run"]);
    let (last, best) = (&result["final"], &result["best"]);
    assert!(number(&best["validation"]) <= number(&last["validation"]), "{result}");
    assert!(dir.text(&["train", "my.toml", "--out", "run"]).contains("best: the lowest error on validation"));

    let report =
        dir.json(&["evaluate", "run", "--suite", "rms", "--suite", "move-loss", "--samples", "2000"]);
    let rms = &report["rms"];
    let same = (number(&rms["rms"]) / number(&last["rms"]) - 1.0).abs() < 1e-6;
    assert!(same, "the same positions as in training: {rms}, {last}");
    let names: Vec<&str> =
        rms["distributions"].as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["table", "checkers", "full", "small", "even"]);
    let baselines = rms["distributions"][0]["baselines"].as_array().unwrap();
    let of = |name: &str| number(&baselines.iter().find(|b| b[0] == name).unwrap()[1]);
    assert!(of("convolution") < of("normal") && of("normal") < of("constant"), "{rms}");
    assert!(
        number(&rms["rms"]) < of("normal"),
        "better than what it corrects is not asked of so few examples: {rms}"
    );
    assert!(rms["class"] == "checkers of the larger side" && rms["classes"].as_array().unwrap().len() >= 4);
    let moves = &report["move_loss"];
    assert!(moves["decisions"].as_u64().unwrap() > 20_000, "{moves}");
    let lost = |name: &str| {
        let found = moves["baselines"].as_array().unwrap().iter().find(|b| b[0] == name).unwrap();
        number(&found[1]["loss_per_decision"])
    };
    assert!(
        lost("convolution") < 1e-4 && lost("constant") > 0.01 && number(&moves["loss_per_decision"]) < 0.01
    );

    // Published: the chosen weights without training state, and a card.
    let card = dir.json(&["publish", "run", "--best", "--note", "only five checkers", "--out", "published"]);
    assert_eq!(number(&card["mean"]), number(&best["rms"]));
    let card = fs::read_to_string(dir.path("published/card.md")).unwrap();
    for part in
        ["# examples", "lowest error on validation", "| small |", "only five checkers", "samples = 20000"]
    {
        assert!(card.contains(part), "{part}: {card}");
    }
    assert!(!Path::new(&dir.path("published/training.safetensors")).exists());
    let again = dir.json(&["evaluate", "published", "--suite", "rms", "--samples", "2000"]);
    assert!((number(&again["rms"]["rms"]) / number(&best["rms"]) - 1.0).abs() < 1e-6, "{again}");
    assert!(dir.fails(&["publish", "run", "--out", "published"], 1).contains("already exists"));

    let sample = ["--distribution", "table", "--checkers", "5", "--count", "900", "--out", "my.csv"];
    dir.json(&[&["oracle", "sample"][..], &sample].concat());
    let report = dir.json(&["evaluate", "run", "--positions", "my.csv"]);
    assert_eq!(report["positions"]["rows"], 900);
    assert!(report["equity"].is_null() && report["rms"].is_null());
    assert!((number(&report["positions"]["rms"]) / number(&rms["rms"]) - 1.0).abs() < 0.5, "{report}");
    // When a run learns from the file, the file's own rows measure it.
    let from_file = ["train", "my.toml", "--set", "learn.examples=my.csv", "--out", "own"];
    let result = dir.json(&from_file);
    let rows = number(&result["final"]["rows"]) + number(&report["positions"]["for_training"]);
    assert!(number(&result["final"]["rms"]) < 0.1 && (750.0..880.0).contains(&rows), "{result}");
}

#[test]
fn positions_without_values_come_back_with_them() {
    let dir = Workspace::new();
    let checkpoint = published("plain-10");
    let rows = "own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6\n1,1,1,1,1,1,0,0,0,0,0,2\n5,0,0,0,0,0,2,0,2,1,0,0\n";
    fs::write(dir.path("rows.csv"), rows).unwrap();
    let report = dir.json(&["evaluate", &checkpoint, "--positions", "rows.csv"]);
    assert_eq!(
        (report["valued"]["path"].as_str(), report["valued"]["rows"].as_u64()),
        (Some("rows.values.csv"), Some(2))
    );
    let values = dir.json(&["value", &checkpoint, "--positions", "rows.csv", "0,2,0,0,0,0/3,0,0,0,0,0"]);
    assert_eq!(values["values"].as_array().unwrap().len(), 3);
    let written = fs::read_to_string(dir.path("rows.values.csv")).unwrap();
    let lines: Vec<&str> = written.lines().collect();
    assert_eq!(lines[0], format!("{},value", rows.lines().next().unwrap()));
    for (line, i) in lines[1..].iter().zip(1..) {
        let value: f64 = line.rsplit_once(',').unwrap().1.parse().unwrap();
        assert!((value - number(&values["values"][i]["value"])).abs() < 1e-6, "{line}");
    }
    // The written file has values, so a second call compares, and finds no error.
    let again = dir.json(&["evaluate", &checkpoint, "--positions", "rows.values.csv"]);
    assert!(again["valued"].is_null() && number(&again["positions"]["rms"]) < 1e-6, "{again}");

    // Positions with a roll have no CSV columns; every game reads its own text form.
    fs::write(dir.path("rolls.txt"), "# comment\n\n1,1,1,1,1,1/0,0,0,0,0,2 65\n").unwrap();
    let text = dir.text(&["evaluate", &checkpoint, "--positions", "rolls.txt", "--out", "rolls.csv"]);
    assert!(text.contains("1 positions with their values") && text.contains("rolls.csv"), "{text}");
    let rolls = fs::read_to_string(dir.path("rolls.csv")).unwrap();
    assert!(rolls.starts_with("position,value\n\"1,1,1,1,1,1/0,0,0,0,0,2 65\","), "{rolls}");
    fs::write(dir.path("bad.csv"), rows.replace("5,0,0,0,0,0", "5,0,x,0,0,0")).unwrap();
    let fault = dir.fails(&["evaluate", &checkpoint, "--positions", "bad.csv"], 1);
    assert!(fault.contains("bad.csv: line 3, column own3"), "{fault}");
}

#[test]
fn checkpoints_are_exported_and_imported() {
    let dir = Workspace::new();
    let checkpoint = published("hme-4x16");
    let exported = dir.json(&["export", &checkpoint, "--format", "onnx", "--out", "hme.onnx"]);
    let bytes = fs::read(dir.path("hme.onnx")).unwrap();
    assert_eq!(exported["bytes"].as_u64(), Some(bytes.len() as u64));
    let holds = |text: &str| bytes.windows(text.len()).any(|w| w == text.as_bytes());
    assert!(["adept", "expert.3.layer.1.bias", "input.one_sided", "output.gate"].into_iter().all(holds));

    let text = dir.text(&["export", &checkpoint, "--format", "safetensors", "--out", "hme.safetensors"]);
    assert!(text.contains("race+distribution:12"), "{text}");
    let imported = dir.json(&["import", "hme.safetensors", "--out", "again"]);
    assert_eq!(imported["path"], "again");
    let position = "1,1,1,1,1,1/0,0,0,0,0,2 65";
    assert_eq!(dir.json(&["value", "again", position]), dir.json(&["value", &checkpoint, position]));
    assert!(dir.fails(&["import", "hme.safetensors", "--out", "again"], 1).contains("--out"));
    // Another network is refused by name, and leaves no files behind.
    let fault =
        dir.fails(&["import", "hme.safetensors", "--like", &published("plain-10"), "--out", "other"], 1);
    assert!(fault.contains("layer.0.weight") && !Path::new(&dir.path("other")).exists(), "{fault}");
    let config = configs().join("../bearoff/hme-4x16.toml").to_string_lossy().into_owned();
    dir.json(&["import", "hme.safetensors", "--like", &config, "--out", "of-config"]);
    assert_eq!(dir.json(&["value", "of-config", position]), dir.json(&["value", &checkpoint, position]));

    // A table is not a graph, but it has tensors.
    let lookup = configs().join("lookup.toml").to_string_lossy().into_owned();
    dir.json(&["train", &lookup, "--set", "learn.games=500", "--out", "table"]);
    let fault = dir.fails(&["export", "table", "--format", "onnx", "--out", "table.onnx"], 1);
    assert!(fault.contains("safetensors") && !Path::new(&dir.path("table.onnx")).exists(), "{fault}");
    dir.json(&["export", "table", "--format", "safetensors", "--out", "table.safetensors"]);
    dir.json(&["import", "table.safetensors", "--out", "table-again"]);
    assert_eq!(dir.json(&["value", "table-again", "X...O...."]), dir.json(&["value", "table", "X...O...."]));
}

/// Integer networks play like the original, are labelled as such, and cannot be exported again.
#[test]
fn checkpoints_are_quantised() {
    let dir = Workspace::new();
    let network = published("../backgammon/small-88-24");
    let quantise = ["export", &network, "--format", "quantised", "--out", "small-i8"];
    let exported = dir.json(&quantise);
    assert_eq!(exported["path"], "small-i8");
    let error = exported["quantised"]["rms"].as_f64().unwrap();
    assert!(error > 0.0 && error < 0.01, "{exported}");
    assert!(exported["bytes"].as_u64().unwrap() < 60_000, "{exported}");
    assert!(dir.fails(&quantise, 1).contains("small-i8: already exists"));

    // The same bits again, and the card names the original.
    dir.json(&["export", &network, "--format", "quantised", "--out", "again"]);
    let bytes = |name: &str| fs::read(Path::new(&dir.path(name)).join("weights.safetensors")).unwrap();
    assert_eq!(bytes("small-i8"), bytes("again"));
    let described = dir.text(&["describe", "small-i8"]);
    assert!(described.contains("quantised i16-i8 from the checkpoint "), "{described}");
    assert!(described.lines().all(|line| line.chars().count() <= 80), "{described}");

    let position = "4HPwATDgc/ABMA:cIkJAAAAAAAA";
    let value = |path: &str| dir.json(&["value", path, position])["values"][0]["value"].as_f64().unwrap();
    assert!((value("small-i8") - value(&network)).abs() < 0.02);
    // An agent like others, also in a search.
    let played =
        dir.json(&["evaluate", "small-i8", "--suite", "matches", "--against", "random", "--samples", "40"]);
    assert_eq!(played["matches"]["games"], 40, "{played}");
    let moves = dir.json(&["moves", "search:1:small-i8", position]);
    assert!(moves["moves"].as_array().is_some_and(|moves| moves.len() > 5), "{moves}");

    let fails = |args: &[&str], what: &str| {
        let said = dir.fails(args, 1);
        assert!(said.contains(what), "{said}");
    };
    for format in ["onnx", "safetensors", "c", "quantised"] {
        let file = format!("x.{format}");
        fails(
            &["export", "small-i8", "--format", format, "--out", &file],
            "export the checkpoint that it was made from",
        );
        assert!(!Path::new(&dir.path(&file)).exists());
    }
    let config = configs().join("../backgammon/small-88-24.toml").to_string_lossy().into_owned();
    fails(&["train", &config, "--init", "small-i8", "--out", "run"], "is quantised, and does not learn");
    fails(
        &["export", &published("hme-4x16"), "--format", "quantised", "--out", "cells"],
        "only single networks with a hidden layer are quantised",
    );
    assert!(!Path::new(&dir.path("cells")).exists());

    // Damage.
    let weights = Path::new(&dir.path("again")).join("weights.safetensors");
    let mut damaged = bytes("again");
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(&weights, damaged).unwrap();
    fails(&["value", "again", position], "is damaged");
    let manifest = Path::new(&dir.path("small-i8")).join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap().replace("\"i16-i8\"", "\"i4\"");
    fs::write(&manifest, text).unwrap();
    fails(&["value", "small-i8", position], "its checksum does not match");
}

#[test]
fn checkpoints_are_rounded_to_bfloat16() {
    let dir = Workspace::new();
    let network = published("../backgammon/small-88-24");
    let exported = dir.json(&["export", &network, "--format", "bf16", "--out", "small-bf16"]);
    let error = exported["quantised"]["rms"].as_f64().unwrap();
    assert!(error > 0.0 && error < 0.01 && exported["quantised"]["rows"] == 0, "{exported}");
    let described = dir.text(&["describe", "small-bf16"]);
    assert!(described.contains("quantised bf16 from the checkpoint "), "{described}");
    assert!(!described.contains("scales") && described.lines().all(|line| line.chars().count() <= 80));

    let position = "4HPwATDgc/ABMA:cIkJAAAAAAAA";
    let value = |path: &str| dir.json(&["value", path, position])["values"][0]["value"].as_f64().unwrap();
    assert!((value("small-bf16") - value(&network)).abs() < 0.01);
    // Experts too.
    let experts = published("../backgammon/pips-256-16x32");
    dir.json(&["export", &experts, "--format", "bf16", "--out", "pips-bf16"]);
    assert!((value("pips-bf16") - value(&experts)).abs() < 0.01);
    assert_eq!(
        dir.text(&["runs", "plot", "--gates", "pips-bf16"]),
        dir.text(&["runs", "plot", "--gates", &experts])
    );
    assert!(
        dir.json(&["evaluate", "pips-bf16", "--suite", "matches", "--samples", "40"])["experts"].is_object()
    );

    for (args, what) in [
        (
            &["export", "small-bf16", "--format", "onnx", "--out", "x"][..],
            "export the checkpoint that it was",
        ),
        (&["train", "--init", "small-bf16", "--out", "run"], "does not learn"),
        (&["export", &published("plain-10"), "--format", "bf16", "--out", "x"], "at least 32 inputs and 16"),
    ] {
        let config = configs().join("../backgammon/small-88-24.toml").to_string_lossy().into_owned();
        let mut args = args.to_vec();
        if args[0] == "train" {
            args.insert(1, &config);
        }
        let said = dir.fails(&args, 1);
        assert!(said.contains(what), "{said}");
        assert!(!Path::new(&dir.path("x")).exists());
    }
}

#[test]
fn choices_are_measured_beside_those_of_a_peer() {
    let dir = Workspace::new();
    let config = r#"
        name = "peers"
        game = { rules = "bearoff:3", encoder = "one-sided" }
        architecture.mlp = { hidden = [2] }
        learn = { method = "supervised", samples = 2000, batch = 8, rate = 0.01 }
        evaluate = { positions = 200, validation = 100 }
    "#;
    fs::write(dir.path("my.toml"), config).unwrap();
    dir.json(&["train", "my.toml", "--out", "run"]);
    // This many draws cover all of the few pairs of sides.
    let sample = |count: &str, out: &str| {
        let sample = ["oracle", "sample", "--checkers", "3", "--bits", "64", "--count", count, "--out", out];
        dir.json(&sample);
    };
    sample("300", "my.csv");
    sample("150000", "exact.csv");
    let measure = ["evaluate", "run", "--decisions", "my.csv", "--peer", "exact=exact.csv"];
    let report = dir.json(&measure);
    assert!(report["equity"].is_null() && report["rms"].is_null());
    let found = &report["decisions"];
    assert_eq!(found["positions"], 300);
    assert!(found["decisions"].as_u64().unwrap() > 500, "{found}");
    let rows = found["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["name"] == name).unwrap();
    assert_eq!((rows[0]["name"].as_str(), rows.len()), (Some("checkpoint"), 6));
    assert!(number(&row("exact")["rms"]) < 1e-6 && number(&row("exact")["wrong_share"]) == 0.0, "{found}");
    assert!(number(&row("constant")["loss_per_decision"]) > number(&row("convolution")["loss_per_decision"]));
    let text = dir.text(&measure);
    assert!(
        text.contains("value lost per decision") && text.contains("300 positions and all their rolls"),
        "{text}"
    );
    let lacks = dir.fails(&["evaluate", "run", "--decisions", "my.csv", "--peer", "few=my.csv"], 1);
    assert!(lacks.contains("my.csv: lacks the position "), "{lacks}");
    dir.fails(&["evaluate", "run", "--peer", "exact=exact.csv"], 2);
    dir.fails(&["evaluate", "run", "--decisions", "my.csv", "--peer", "exact"], 2);
}

#[test]
fn list_names_what_there_is() {
    let dir = Workspace::new();
    for (what, name) in [
        ("games", "tictactoe"),
        ("encoders", "fields"),
        ("architectures", "mlp"),
        ("agents", "ttt"),
        ("games", "bearoff"),
        ("encoders", "bits"),
    ] {
        let listed = dir.json(&["list", what]);
        assert!(listed[what].as_array().unwrap().iter().any(|e| e["name"] == name), "{what}");
        assert!(dir.text(&["list", what]).contains(name));
    }
}

#[test]
fn completions_and_help_cover_every_command() {
    let dir = Workspace::new();
    let help = dir.text(&["--help"]);
    let completions = dir.text(&["completions", "bash"]);
    assert_eq!(dir.json(&["completions", "bash"])["script"], completions);
    let commands = [
        "train",
        "evaluate",
        "value",
        "rollout",
        "reproduce",
        "describe",
        "play",
        "config",
        "list",
        "runs",
        "completions",
        "oracle",
        "sweep",
        "bench",
        "man",
    ];
    dir.text(&["man", "--out", "pages"]);
    let page = |name: &str| std::fs::read_to_string(dir.path(&format!("pages/{name}.1"))).unwrap();
    assert!(page("adept").contains("adept\\-train(1)") && page("adept-oracle-value").contains("POSITION"));
    for command in commands {
        assert!(help.contains(command) && completions.contains(command), "{command}");
        assert!(page(&format!("adept-{command}")).contains("Example"), "{command}.1 shows an example");
        assert!(dir.text(&[command, "--help"]).contains("Example"), "{command} --help shows an example");
    }
}

#[test]
fn usage_errors_exit_with_2_and_failures_with_1() {
    let dir = Workspace::new();
    dir.fails(&["train"], 2);
    dir.fails(&["fly"], 2);
    dir.fails(&["train", "x.toml", "--seeds", "0"], 2);
    let config = configs().join("single-30.toml").to_string_lossy().into_owned();
    let wide = ["train", &config, "--set", "architecture.mlp.init=3e38"];
    assert!(dir.fails(&wide, 1).contains("cannot be drawn from"));
    assert!(dir.fails(&["train", "x.toml"], 1).contains("file not found"));
    assert!(dir.fails(&["evaluate", "nowhere"], 1).contains("does not exist"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_writes_a_checkpoint_to_go_on_from() {
    let dir = Workspace::new();
    let config = configs().join("single-30.toml").to_string_lossy().into_owned();
    let args = ["train", &config, "--set", "learn.games=400000", "--out", "run"];
    let mut child = Command::new(env!("CARGO_BIN_EXE_adept"))
        .args(args)
        .current_dir(dir.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The run can be interrupted as soon as its folder exists.
    while !dir.folder.path().join("run/metrics.jsonl").exists() && child.try_wait().unwrap().is_none() {
        std::thread::yield_now();
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();
    let record: Value =
        serde_json::from_slice(&fs::read(dir.folder.path().join("run/run.json")).unwrap()).unwrap();
    assert_eq!(status.success(), record["finished"].as_bool().unwrap());
    let whole = dir.json(&[&args[..], &["--resume"]].concat());
    assert_eq!((whole["finished"].as_bool(), whole["steps"].as_u64()), (Some(true), Some(400_000)));
}

/// Drawing ten million test positions takes long; the signal ends it.
#[test]
#[cfg(unix)]
fn an_interrupt_ends_what_does_not_stop_by_itself() {
    use std::io::{BufRead, BufReader};
    let dir = Workspace::new();
    let config = configs().join("../bearoff/plain-10.toml").to_string_lossy().into_owned();
    let long = ["--set", "game.rules=bearoff:8", "--set", "evaluate.positions=10000000", "--json"];
    let mut child = dir
        .command(&[&["train", &config], &long[..]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    assert!(said.by_ref().any(|line| line.unwrap().contains("drawing")));
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let rest: Vec<String> = said.map(Result::unwrap).collect();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{rest:?}");
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["error"]["kind"], "interrupted");
}

/// Unwritable outputs are reported before the work.
#[test]
fn outputs_are_tried_first() {
    let dir = Workspace::new();
    fs::write(dir.path("file"), "").unwrap();
    for args in [
        &["oracle", "build", "--checkers", "15", "--out", "file/x.table"][..],
        &[
            "oracle",
            "sample",
            "--distribution",
            "table",
            "--count",
            "1",
            "--seed",
            "1",
            "--out",
            "file/x.csv",
        ],
        &["reproduce", "table1", "--out", "file"],
    ] {
        let said = dir.fails(args, 1);
        assert!(said.contains("file"), "{args:?}: {said}");
    }
}

#[test]
fn oracle_builds_a_table_of_backgammon() {
    let dir = Workspace::new();
    let built = dir.json(&["oracle", "build", "--game", "backgammon:1"]);
    assert_eq!(built["positions"].as_u64(), Some(601), "{built}");
    assert!(dir.folder.path().join("datasets/backgammon-1.table").exists());
    let value = dir.json(&["value", "oracle", "6:1/6:1", "--game", "backgammon:1"]);
    let score = value["values"][0]["score"].as_f64().unwrap();
    assert!((score - 1.25).abs() < 1e-5, "{value}");
    let error = dir.fails(&["oracle", "build", "--game", "backgammon"], 1);
    assert!(error.contains("hypergammon, backgammon:1 and backgammon:2"), "{error}");

    // One checker each: the first side to bear off wins a gammon.
    let found = dir.json(&["oracle", "value", "6:1/6:1", "--game", "backgammon:1"]);
    let (found, same) = (found["values"][0]["equity"].as_f64().unwrap(), &value["values"][0]["equity"]);
    assert!((found - 1.25).abs() < 1e-6 && (found - same.as_f64().unwrap()).abs() < 1e-6, "{value}");
    assert_eq!(
        dir.json(&["oracle", "value", "1:1/6:1 21", "--game", "backgammon:1"])["values"][0]["value"],
        2.0
    );
    let both = ["value", "moves"]
        .map(|command| dir.fails(&["oracle", command, "1:2/6:1", "--game", "backgammon:1"], 1));
    assert!(both.iter().all(|error| error.contains("1:2/6:1")), "{both:?}");

    // The moves agree with those of the command for all games, best first.
    let moves = dir.json(&["oracle", "moves", "24:1/24:1", "31", "--game", "backgammon:1"]);
    let same = dir.json(&["moves", "oracle", "24:1/24:1", "31", "--game", "backgammon:1"]);
    let list = |found: &Value| -> Vec<(String, f64)> {
        let of = |m: &Value| (m["afterstate"].to_string(), (m["equity"].as_f64().unwrap() * 1e5).round());
        found["moves"].as_array().unwrap().iter().map(of).collect()
    };
    assert_eq!(list(&moves), list(&same));
    assert!(list(&moves).is_sorted_by(|a, b| a.1 >= b.1) && !list(&moves).is_empty());
    assert!(
        dir.fails(&["moves", "oracle", "24:1/24:1", "--game", "backgammon:1"], 1)
            .contains("a chance event comes first")
    );
    assert!(
        dir.fails(&["oracle", "moves", "24:1/24:1 31", "65", "--game", "backgammon:1"], 1)
            .contains("leave one out")
    );

    // Labels as drawn, then as points of the checkers, one of them wrong.
    dir.json(&["oracle", "sample", "--game", "backgammon:1", "--count", "40", "--out", "drawn.csv"]);
    let verified = dir.json(&["oracle", "verify", "--csv", "drawn.csv", "--game", "backgammon:1"]);
    assert!(verified["rows"] == 40 && verified["max_abs_error"].as_f64().unwrap() < 1e-6, "{verified}");
    fs::write(dir.folder.path().join("points.csv"), "# of one checker\nown,opponent,equity\n1,6,2\n6,1,-2\n")
        .unwrap();
    let output = dir.run(&["oracle", "verify", "--csv", "points.csv", "--game", "backgammon:1", "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.code() == Some(1) && found["worst"]["line"] == 4, "{found}");
    fs::write(dir.folder.path().join("points.csv"), "own,opponent,equity\n1 2,6,2\n").unwrap();
    let error = dir.fails(&["oracle", "verify", "--csv", "points.csv", "--game", "backgammon:1"], 1);
    assert!(error.contains("line 2") && error.contains("has 1 checkers, found 2"), "{error}");
}

const FULL: &str = "1,1,1,1,1,1/1,1,1,1,1,1";

#[test]
fn oracle_builds_a_table_and_answers_from_it() {
    let dir = Workspace::new();
    let built = dir.json(&["oracle", "build", "--checkers", "6"]);
    assert_eq!((built["checkers"].as_u64(), built["pairs"].as_u64()), (Some(6), Some(851_929)));
    assert!(built["bytes"].as_u64().unwrap() >= 2 * 851_929);
    for step in ["moves", "memory", "solve", "write"] {
        assert!(built["seconds"][step].is_number() && built["cpu_seconds"][step].is_number(), "{built}");
    }
    assert!(dir.folder.path().join("datasets/bearoff-6.table").exists());

    let output = dir.run(&["oracle", "value", FULL, "VQUAgKoCAAAAAA", "--estimates", "--json"]);
    // A message on stderr says when a table must be solved.
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let values: Value = serde_json::from_slice(&output.stdout).unwrap();
    for value in values["values"].as_array().unwrap() {
        assert_eq!(value["position"], FULL);
        assert!((value["value"].as_f64().unwrap() - 0.401_143_250).abs() < 5e-5, "{value}");
        assert!((value["convolution"].as_f64().unwrap() - 0.4011).abs() < 5e-3, "{value}");
    }

    let verified = dir.json(&["oracle", "verify"]);
    assert_eq!((verified["rows"].as_u64(), verified["max_abs_error"].as_f64()), (Some(851_929), Some(0.0)));
    let path = dir.folder.path().join("datasets/bearoff-6.table");
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    assert!(dir.fails(&["oracle", "verify"], 1).contains("block 1 of 3"));
}

/// Moves and decisions about the cube are compared by rollouts with the same dice, with the cube and without it, to the end of a game.
#[test]
fn rollout_compares_candidates() {
    let dir = Workspace::new();
    let network = published("../backgammon/single-256-32");
    let rollout = ["rollout", "--with", &network, "--trials", "36", "--truncate", "2", "--candidates", "3"];
    let ask = |more: &[&str]| dir.json(&[&rollout[..], more].concat());
    let found = ask(&["4HPwATDgc/ABMA 31", "--out", "sums.json"]);
    let candidates = found["rollouts"].as_array().unwrap();
    assert_eq!(candidates.len(), 3, "{found}");
    assert_eq!((&candidates[0]["action"], number(&candidates[0]["beyond_choice"])), (&"8/5 6/5".into(), 0.0));
    for candidate in candidates {
        let beyond = number(&candidate["equity"]) - number(&candidates[0]["equity"]);
        assert!((beyond - number(&candidate["beyond_choice"])).abs() < 1e-6, "{found}");
        assert!(number(&candidate["classes"]["win"]) > 0.2, "{found}");
    }
    let resumed = ask(&["4HPwATDgc/ABMA 31", "--out", "sums.json", "--resume"]);
    assert_eq!(resumed, found);
    let text = dir.text(&[&rollout[..], &["4HPwATDgc/ABMA 31"]].concat());
    assert!(text.contains("beyond: less 8/5 6/5, the agent's choice"), "{text}");

    // To double or to roll at the score of a match, to the end of the game.
    let position = "XGID=-aA-CCC-B---cC----b-dc-b--:0:0:1:00:2:4:0:7:10";
    let cube = ask(&[position, "--game", "backgammon:match-7", "--one-game"]);
    let actions: Vec<&str> =
        cube["rollouts"].as_array().unwrap().iter().map(|found| found["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["double", "roll"], "{cube}");
    // Without the cube there is nothing to decide, and gammons are not cashed away.
    let plain = ["rollout", position, "--with", &network, "--trials", "36", "--game", "backgammon:match-7"];
    let without = dir.json(&[&plain[..], &["--cubeless", "--one-game", "--truncate", "2"]].concat());
    let value = number(&without["rollouts"][0]["equity"]);
    assert!(value < number(&cube["rollouts"][0]["equity"]), "{without} {cube}");
    let error = dir.fails(&[&plain[..], &["--cubeless", "--candidates", "2"]].concat(), 1);
    assert!(error.contains("nobody decides here"), "{error}");
    let money = ["rollout", "4HPwATDgc/ABMA", "--with", &network, "--game", "backgammon:money", "--one-game"];
    assert!(dir.fails(&money, 1).contains("one game anyway"));
}

/// A rollout has the exact value if the agent plays perfectly, and resumes from its file.
#[test]
fn rollout_plays_positions_out() {
    let dir = Workspace::new();
    let position = "24:1/24:1";
    let rollout = ["rollout", position, "bar:1/6:1 31", "--with", "oracle", "--game", "backgammon:1"];
    let exact = dir.json(&["value", "oracle", position, "--game", "backgammon:1"]);
    let whole = dir.json(&[&rollout[..], &["--trials", "72"]].concat());
    let first = &whole["rollouts"][0];
    assert_eq!((first["position"].as_str(), first["trials"].as_u64()), (Some(position), Some(72)));
    assert_eq!((first["to_move"].as_u64(), first["unit"].as_str()), (Some(1), Some("points")));
    assert!((number(&first["equity"]) - number(&exact["values"][0]["score"])).abs() < 1e-4, "{first}");
    assert!(number(&first["ci95"][1]) - number(&first["ci95"][0]) < 1e-4, "{first}");
    assert!(number(&first["raw_ci95"][1]) - number(&first["raw_ci95"][0]) > 0.1, "{first}");

    // In two parts, the first one shorter.
    let part = |trials: &'static str| [&rollout[..], &["--out", "sums.json", "--trials", trials]].concat();
    assert_eq!(dir.json(&part("36"))["rollouts"][1]["trials"].as_u64(), Some(36));
    assert!(dir.fails(&part("72"), 1).contains("continue it with --resume"));
    assert_eq!(dir.json(&[&part("72")[..], &["--resume", "--threads", "3"]].concat()), whole);
    assert!(
        dir.fails(&[&part("36")[..], &["--resume"]].concat(), 1).contains("holds more games than requested")
    );
    let other = [&part("72")[..], &["--resume", "--seed", "2"]].concat();
    assert!(dir.fails(&other, 1).contains("holds other rollouts (seed 1 2)"), "{}", dir.fails(&other, 1));
    fs::write(dir.path("sums.json"), "{}").unwrap();
    assert!(dir.fails(&part("72"), 1).contains("does not hold rollouts of these positions"));

    let text = dir.text(&[&rollout[..], &["--truncate", "2", "--trials", "36"]].concat());
    assert!(
        text.contains(" points for player 1, 95 % ") && text.contains(", 36 games\n  with luck "),
        "{text}"
    );
    assert!(
        dir.fails(&["rollout", "off:1/1:1", "--with", "oracle", "--game", "backgammon:1"], 1)
            .contains("is over")
    );
    let without = dir.fails(&["rollout", "start", "--with", "pubeval"], 1);
    assert!(without.contains("`pubeval` is an agent without values"), "{without}");
}

#[test]
fn oracle_solves_in_memory_what_is_asked_and_says_so() {
    let dir = Workspace::new();
    let output = dir.run(&["oracle", "moves", "2,0,2,1,0,0/5,0,0,0,0,0", "31", "--json"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("solving the table of 5 checkers in 64 bits"), "{said}");
    let moves: Value = serde_json::from_slice(&output.stdout).unwrap();
    let moves = moves["moves"].as_array().unwrap();
    let afterstates: Vec<&str> = moves.iter().map(|m| m["afterstate"].as_str().unwrap()).collect();
    assert_eq!(afterstates[0], "1,0,1,1,0,0/5,0,0,0,0,0");
    assert_eq!(moves[0]["play"], "3/off 1/off");
    assert!(moves.is_sorted_by(|a, b| a["value"].as_f64() >= b["value"].as_f64()));
    let legal = dir.json(&["oracle", "moves", "2,0,2,1,0,0/5,0,0,0,0,0", "31", "--legal"]);
    assert_eq!(legal["moves"].as_array().unwrap().len(), moves.len());
    let text = dir.text(&["oracle", "moves", "2,0,2,1,0,0/5,0,0,0,0,0", "31"]);
    assert!(text.lines().nth(1).unwrap().contains("+0.435"), "{text}");
}

/// 4 and 2 against 1: the last roll wins with 23 of 36 throws.
#[test]
fn oracle_says_whether_to_double() {
    let dir = Workspace::new();
    let position = "0,1,0,1,0,0/1,0,0,0,0,0";
    let near = |value: &Value, exact: f64| (value.as_f64().unwrap() - exact).abs() < 1e-6;
    let found = dir.json(&["oracle", "value", position, &format!("{position} 31"), "--cube"]);
    let [before, after] = [&found["values"][0], &found["values"][1]];
    assert!(near(&before["value"], 10.0 / 36.0), "{before}");
    for owner in ["centred", "own"] {
        let cube = &before["cube"][owner];
        assert!(near(&cube["value"], 20.0 / 36.0) && near(&cube["double_take"], 20.0 / 36.0), "{cube}");
        assert!(near(&cube["no_double"], 10.0 / 36.0) && near(&cube["double_pass"], 1.0), "{cube}");
        assert_eq!(cube["action"], "double, take");
    }
    assert_eq!(before["cube"]["theirs"]["action"], Value::Null);
    assert!(near(&before["cube"]["theirs"]["value"], 10.0 / 36.0), "{before}");
    // 3-1 leaves a checker behind, and the opponent is off.
    assert!(
        near(&after["cube"]["own"]["value"], -1.0) && after["cube"]["own"]["move"].is_string(),
        "{after}"
    );

    let text = dir.text(&["oracle", "value", position, "--cube"]);
    assert!(text.contains("double, take") && text.contains("+0.555556"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");

    let decision = ["oracle", "moves", "2,0,2,1,0,0/5,0,0,0,0,0", "31", "--cube"];
    for owner in ["centred", "own", "theirs"] {
        let found = dir.json(&[&decision[..], &[owner]].concat());
        assert_eq!(found["cube"], owner);
        let moves = found["moves"].as_array().unwrap();
        assert!(moves.is_sorted_by(|a, b| a["value"].as_f64() >= b["value"].as_f64()), "{found}");
        let situation = format!("{} {}", decision[2], decision[3]);
        let best = &dir.json(&["oracle", "value", &situation, "--cube"])["values"][0]["cube"][owner];
        assert_eq!((&best["value"], &best["move"]), (&moves[0]["value"], &moves[0]["play"]));
    }
    let text = dir.text(&[&decision[..], &["own"]].concat());
    assert!(text.lines().nth(1).unwrap().contains("0.000000"), "{text}");
    assert!(dir.fails(&[&decision[..], &["mine"]].concat(), 2).contains("centred, own or theirs"));
}

/// A model with an efficiency that suits the last rolls loses less than x = .6.
#[test]
fn oracle_measures_models_of_the_cube() {
    let dir = Workspace::new();
    let args = ["oracle", "cube", "--checkers", "3", "--games", "100"];
    let found = dir.json(&args);
    assert_eq!((&found["checkers"], &found["games"], &found["seed"]), (&3.into(), &100.into(), &1.into()));
    let models = found["models"].as_array().unwrap();
    assert_eq!(models.len(), 9);
    let names: Vec<&str> = models.iter().map(|model| model["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["dead, x = 0", "live, x = 1", "gnubg, x = .6"]);
    for model in models {
        let pairs = &model["pairs"]["centred"];
        assert_eq!(pairs["positions"].as_u64().unwrap() + found["pairs_fitted"].as_u64().unwrap(), 83 * 83);
        assert!(pairs["rms_error"].as_f64().unwrap() > 0.0, "{model}");
        assert_eq!(
            model["efficiencies"].as_array().unwrap().len(),
            found["classes"].as_array().unwrap().len()
        );
        assert!(model["games"]["own"]["moves"]["loss"].as_f64().unwrap() >= 0.0, "{model}");
    }
    let loss = |model: &Value| model["pairs"]["centred"]["doubles"]["loss"].as_f64().unwrap();
    assert!(loss(&models[8]) < loss(&models[2]), "{models:?}");
    assert_eq!(found, dir.json(&[&args[..], &["--threads", "1"]].concat()));

    let text = dir.text(&args);
    assert!(text.contains("gnubg, x = .6") && text.contains("cube theirs"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn oracle_samples_and_verifies_labelled_positions() {
    let dir = Workspace::new();
    let args = ["oracle", "sample", "--distribution", "small", "--count", "50", "--seed", "3"];
    let sample = |out: &str, count: &str| {
        let mut args = args.map(str::to_string);
        args[5] = count.into();
        let args: Vec<&str> = args.iter().map(String::as_str).chain(["--out", out]).collect();
        assert_eq!(dir.json(&args)["rows"].to_string(), count);
        fs::read_to_string(dir.folder.path().join(out)).unwrap()
    };
    let (rows, more) = (sample("a.csv", "50"), sample("b.csv", "60"));
    assert!(rows.starts_with("own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6,value\n"));
    assert!(rows.lines().count() == 51 && more.starts_with(&rows));
    let verified = dir.json(&["oracle", "verify", "--csv", "a.csv", "--bits", "64"]);
    assert_eq!(verified["rows"], 50);
    assert!(verified["max_abs_error"].as_f64().unwrap() < 1e-9 && verified["rms_error"].is_number());
    // One wrong value, then one invalid line.
    let wrong = rows.replacen("\n", "\n1,0,0,0,0,0,1,0,0,0,0,0,0.5\n", 1);
    fs::write(dir.folder.path().join("a.csv"), &wrong).unwrap();
    assert!(dir.fails(&["oracle", "verify", "--csv", "a.csv"], 1).contains("above the tolerance 5.0e-5"));
    fs::write(dir.folder.path().join("a.csv"), wrong.replacen(",0.5\n", ",1.5\n", 1)).unwrap();
    let error = dir.fails(&["oracle", "verify", "--csv", "a.csv"], 1);
    assert!(error.contains("a.csv: line 2, column value: `1.5` is not a value from −1 to 1"), "{error}");
    dir.json(&["oracle", "build", "--checkers", "4", "--out", "four.table"]);
    let named = dir.json(&["oracle", "verify", "--exact", "--table", "four.table"]);
    assert_eq!((named["rows"].as_u64(), named["bits"].as_u64()), (Some(209 * 209), Some(16)));
    let exact = dir.json(&["oracle", "verify", "--exact", "--checkers", "5"]);
    assert_eq!(exact["rows"].as_u64(), Some(461 * 461));
    assert!(exact["rms_error"].as_f64().unwrap() < 1.2e-5);
}

/// A file with flipped signs: the check reports it, and a run measures exact values against its labels.
#[test]
fn labels_of_a_file_are_checked() {
    let dir = Workspace::new();
    let sample = ["--distribution", "table", "--checkers", "5", "--count", "600", "--out", "my.csv"];
    dir.json(&[&["oracle", "sample"][..], &sample].concat());
    let right = dir.json(&["data", "check", "my.csv", "--game", "bearoff:5"]);
    assert_eq!(
        (right["data"]["rows"].as_u64(), right["data"]["disagreements"].as_u64()),
        (Some(600), Some(0))
    );
    assert!(number(&right["data"]["max_abs_error"]) < 1e-6, "{right}");

    // Semicolons, decimal commas, and flipped signs.
    let text = fs::read_to_string(dir.path("my.csv")).unwrap();
    let turned = |line: &str| {
        let (position, value) = line.rsplit_once(',').unwrap();
        let value = (-value.parse::<f64>().unwrap()).to_string();
        format!("{};{}\n", position.replace(',', ";"), value.replace('.', ","))
    };
    let header = text.lines().next().unwrap().replace(',', ";");
    let rows: String = text.lines().skip(1).map(turned).collect();
    fs::write(dir.path("turned.csv"), header + "\n" + &rows).unwrap();
    let error = dir.fails(&["data", "check", "turned.csv", "--game", "bearoff:5"], 1);
    assert!(error.contains("rows differ from exact values by more than 0.001"), "{error}");

    let config = "name = \"own\"\n[game]\nrules = \"bearoff:5\"\nencoder = \"one-sided\"\n[architecture.mlp]\nhidden = [5]\n\
                  [learn]\nrate = 0.01\n[learn.supervised]\nsamples = 2000\nexamples = \"turned.csv\"\n";
    fs::write(dir.path("own.toml"), config).unwrap();
    let run = dir.json(&["train", "own.toml", "--out", "own"]);
    let exact = run["references"]["best"]["value"].as_f64().unwrap();
    assert!(exact > 0.5, "exact values are far from these labels: {run}");
}

#[test]
fn oracle_exports_for_gnubg_and_reads_it_back() {
    let dir = Workspace::new();
    let exported = dir.json(&["oracle", "export", "--checkers", "4", "--out", "gnubg_ts.bd"]);
    assert_eq!(exported["bytes"], 88_240);
    let verified =
        dir.json(&["oracle", "verify", "--gnubg", "gnubg_ts.bd", "--bits", "64", "--tolerance", "2e-5"]);
    assert_eq!(verified["rows"].as_u64(), Some(209 * 209));
}

#[test]
fn oracle_refuses_what_makes_no_sense() {
    let dir = Workspace::new();
    dir.fails(&["oracle", "build", "--checkers", "16"], 2);
    for wrong in ["1,1,1/1,1,1,1,1,1", "24:1/x:1"] {
        dir.fails(&["oracle", "value", wrong], 1);
        dir.fails(&["oracle", "moves", wrong, "65"], 1);
    }
    dir.fails(&["oracle", "moves", FULL, "70"], 2);
    dir.fails(&["oracle", "build", "--checkers", "3", "--bits", "8"], 2);
    assert!(dir.fails(&["oracle", "verify"], 1).contains("no table in the working folder (datasets), "));
    let over = dir.fails(&["oracle", "moves", "0,0,0,0,0,0/1,0,0,0,0,0", "21"], 1);
    assert!(over.contains("the game is over"), "{over}");
    dir.json(&["oracle", "build", "--checkers", "3", "--out", "small.table"]);
    let small = dir.fails(&["oracle", "value", FULL, "--table", "small.table"], 1);
    assert!(small.contains("at most 3 checkers and 6 are needed"), "{small}");
}

#[test]
fn the_oracle_plays_in_the_terminal() {
    let dir = Workspace::new();
    fs::create_dir(dir.folder.path().join("datasets")).unwrap();
    let output = dir.run_with(&["play", "convolution", "--game", "bearoff", "--seed", "1"], "quit\n");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("player 1 of 2, against convolution"));
}

#[test]
fn arena_plays_every_pair_and_goes_on() {
    let dir = Workspace::new();
    let config = configs().join("../liars-dice/arena/soar-four.toml").to_string_lossy().into_owned();
    let few = "agents=[{name=\"P\"},{name=\"PH\"},{name=\"E\"}]";
    let arena = ["arena", &config, "--set", "games=40", "--set", few, "--out", "four"];
    let result = dir.json(&arena);
    let pairs = result["pairs"].as_array().expect("pairs");
    assert_eq!((pairs.len(), pairs[0]["a"].as_str(), pairs[0]["b"].as_str()), (3, Some("P"), Some("PH")));
    for pair in pairs {
        let (score, p) = (number(&pair["score"]), number(&pair["p"]));
        assert!((0.0..=1.0).contains(&score) && (0.0..=1.0).contains(&p) && pair["games"] == 40);
        assert!(number(&pair["ci95"][0]) <= score && score <= number(&pair["ci95"][1]));
    }
    assert_eq!(dir.json(&arena)["pairs"], result["pairs"]);
    assert!(dir.text(&arena).contains("| P – PH | 40 |"));
    assert!(dir.fails(&["arena", "no-such.toml"], 1).contains("file not found"));
}

#[test]
fn arena_is_a_gate_for_newcomers() {
    let dir = Workspace::new();
    fs::write(
        dir.path("gate.toml"),
        "name = \"gate\"\ngame = \"tictactoe\"\ngames = 400\nagents = [{ name = \"new\", agent = \"minimax\" }, { name = \"old\", agent = \
         \"random\" }, { name = \"same\", agent = \"random\" }]\n",
    )
    .unwrap();
    let pass = dir.run(&["arena", "gate.toml", "--gate", "new"]);
    let said = String::from_utf8_lossy(&pass.stderr).into_owned();
    assert!(pass.status.success() && said.contains("new is accepted: +"), "{said}");
    // Both have played against it, as the first agent of a pair and as the second; nothing is repeated.
    for name in ["old", "same"] {
        let said = dir.fails(&["arena", "gate.toml", "--gate", name], 1);
        assert!(
            said.contains(&format!("{name} is not accepted: -")) && said.contains("against new"),
            "{said}"
        );
    }
    let said = dir.fails(&["arena", "gate.toml", "--gate", "newer"], 1);
    assert!(said.contains("no agent has the name `newer`; it has new, old, same"), "{said}");
}

#[test]
fn solve_finds_the_value_and_measures_agents() {
    let dir = Workspace::new();
    let result = dir.json(&["solve", "liars-dice:openspiel:1-1:4", "--agent", "P"]);
    assert!((number(&result["value"]) - 0.0625).abs() < 1e-3, "{}", result["value"]);
    assert!(number(&result["exploitability"]) < 1e-4 && result["iterations"] == 1000);
    let agents = result["agents"].as_array().expect("agents");
    assert_eq!((agents[0]["agent"].as_str(), agents[1]["agent"].as_str()), (Some("random"), Some("P")));
    assert!((number(&agents[0]["exploitability"]) - 0.655).abs() < 1e-3);
    let sampled = ["solve", "liars-dice:openspiel:1-1:3", "--method", "mccfr", "--iterations", "5000"];
    assert!(number(&dir.json(&sampled)["exploitability"]) < 0.2);
    assert!(dir.text(&sampled).contains("exploitability"));
    assert!(dir.fails(&["solve", "liars-dice:soar:2x5"], 1).contains("liars-dice:openspiel:1-1:6"));
}

#[test]
fn regret_networks_are_trained_measured_and_played() {
    let dir = Workspace::new();
    let config = configs().join("../liars-dice/regrets-f4.toml").display().to_string();
    let set =
        ["--set", "learn.iterations=12", "--set", "evaluate.every=4", "--set", "learn.regrets.passes=2"];
    let train = [&["train", config.as_str(), "--out", "run"], &set[..]].concat();
    let run = dir.json(&train);
    let found = number(&run["final"]["exploitability"]);
    assert!(found > 0.0 && found < 1.0 && run["best"].is_null() && run["steps"] == 12, "{run}");
    // A finished tournament is shown again.
    let shown = dir.text(&train);
    assert!(shown.contains("exploitability") && shown.contains("12"), "{shown}");
    let report =
        dir.json(&["evaluate", "run", "--suite", "exploitability", "--suite", "matches", "--samples", "100"]);
    assert_eq!(number(&report["exploitability"]["exploitability"]), found);
    assert!((number(&report["exploitability"]["random"]) - 0.655).abs() < 1e-3);
    assert!(report["matches"]["against"] == "random" && report["matches"]["games"] == 100, "{report}");
    let valued = dir.json(&["value", "run", "2/3 @1 1x1"]);
    let moves = valued["values"][0]["moves"].as_array().expect("moves");
    let shares: f64 = moves.iter().map(|m| number(&m["probability"])).sum();
    assert!(moves.len() == 8 && (shares - 1.0).abs() < 1e-9, "{valued}");
    assert!(dir.text(&["value", "run", "2/3 @1 1x1"]).contains("player 2 to move; logits"));
    let said =
        String::from_utf8(dir.run_with(&["play", "run", "--hints", "--seed", "1"], "1x1\nquit\n").stdout)
            .unwrap();
    assert!(said.contains("% of the time"), "{said}");
    // A solver measures it like any agent.
    let agents = dir.json(&["solve", "liars-dice:openspiel:1-1:4", "--iterations", "10", "--agent", "run"]);
    assert!((number(&agents["agents"][1]["exploitability"]) - found).abs() < 1e-6, "{agents}");
}

#[test]
fn people_play_liars_dice_and_see_only_their_own_dice() {
    let dir = Workspace::new();
    let play = ["play", "PMH", "--game", "liars-dice:soar:2x2", "--seed", "3"];
    let said = String::from_utf8(dir.run_with(&play, "hint\n9x9\nquit\n").stdout).unwrap();
    assert!(said.contains("player 2         ? ?") && !said.contains("player 1 (you)   ?"), "{said}");
    assert!(said.contains("is not legal") && said.contains("succeeds "), "{said}");
}

#[test]
fn people_ask_for_rules_and_bid_in_words() {
    let dir = Workspace::new();
    let play = ["play", "P", "--game", "liars-dice:soar:2x2", "--seed", "3"];
    let typed = "rules\nhelp\nfour sixes\nliar\nexact\npass\nchallenge\nquit\n";
    let said = String::from_utf8(dir.run_with(&play, typed).stdout).unwrap();
    for words in [
        "Ones are wild",
        "rules how the game is played",
        "challenges the bid",
        "Are there",
        "a die: one left",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // A prompt precedes the answer to a piped line.
    let lines = said.lines().map(|line| line.trim_start_matches("your move> "));
    assert!(lines.into_iter().all(|line| line.chars().count() <= 80), "{said}");
}

#[test]
fn decisions_of_the_published_agents_are_compared() {
    let dir = Workspace::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../datasets/soar-dice-decisions.csv");
    let found = dir.json(&["evaluate", "PMH", "--recorded", file]);
    assert_eq!((&found["recorded"]["rows"], &found["recorded"]["agree"]), (&600.into(), &600.into()));
    let said = dir.text(&["evaluate", "PMH", "--recorded", file]);
    assert!(said.contains("PMH agrees on 600 of 600"), "{said}");
}

/// With `--json`, a failing command also prints one object on stdout with the kind of error.
#[test]
fn failures_are_objects_with_json() {
    let dir = Workspace::new();
    fs::write(dir.path("bad.toml"), "name = 3").unwrap();
    for (args, code, kind) in [
        (&["train", "bad.toml"][..], 1, "config"),
        (&["train", "no.toml"], 1, "config"),
        (&["describe", "nothing"], 1, "checkpoint"),
        (&["config", "new", "go"], 1, "game"),
        (&["train"], 2, "usage"),
        (&["train", "no.toml", "--threads", "18446744073709551615"], 2, "usage"),
    ] {
        let output = dir.run(&[args, &["--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        let object: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}"));
        assert_eq!(object["error"]["kind"], kind, "{args:?}: {object}");
        let message = object["error"]["message"].as_str().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(message.lines().next().unwrap()), "{args:?}: {said}");
    }
    // A command that reports faults itself prints its own object and no second one.
    let output = dir.run(&["config", "check", "bad.toml", "--json"]);
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["faults"], 1);
}

/// Runs and published networks can be named in every command.
#[test]
fn checkpoints_go_by_name() {
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let train = ["train", &config, "--set", "learn.games=200", "--set", "evaluate.every=100", "--seed"];
    dir.json(&[&train[..], &["7"]].concat());
    let whole = dir.json(&["describe", "checkpoints/runs/single-80-7"]);
    for name in ["single-80-7", "single-80"] {
        assert_eq!(dir.json(&["describe", name]), whole, "{name}");
        dir.json(&["value", name, "X...O...."]);
        dir.json(&["export", name, "--format", "onnx", "--out", &format!("{name}.onnx")]);
    }
    let output = dir.run_with(&["play", "single-80", "--seed", "1", "--json"], "quit\n");
    assert!(output.status.success());
    dir.json(&[&train[..], &["8"]].concat());
    let error = dir.fails(&["describe", "single-80"], 1);
    assert!(error.contains("single-80-7") && error.contains("single-80-8"), "{error}");
    fs::create_dir_all(dir.path("checkpoints/tictactoe")).unwrap();
    fs::rename(
        dir.path("checkpoints/runs/single-80-7/checkpoints/000000000200"),
        dir.path("checkpoints/tictactoe/shared"),
    )
    .unwrap();
    assert_eq!(dir.json(&["describe", "shared"])["game"], "tictactoe");
}

#[test]
fn a_config_of_another_kind_is_named() {
    let dir = Workspace::new();
    let experiment = configs().join("single-80.toml").to_string_lossy().into_owned();
    let tournament = configs().join("../liars-dice/arena/soar-two.toml").to_string_lossy().into_owned();
    for command in [&["train"][..], &["sweep", "--set", "seed=1"], &["describe"]] {
        let said = dir.fails(&[command, &[&tournament]].concat(), 1);
        assert!(said.contains("is a tournament, for `adept arena`"), "{command:?}: {said}");
    }
    assert!(dir.fails(&["arena", &experiment], 1).contains("is an experiment, for `adept train`"));
    for command in ["evaluate", "play"] {
        let said = dir.fails(&[command, &experiment], 1);
        assert!(said.contains("is a config, not a checkpoint"), "{command}: {said}");
    }
}

#[test]
fn a_method_without_a_config_says_why() {
    let dir = Workspace::new();
    for method in ["td", "supervised", "expectation"] {
        let config = dir.text(&["config", "new", "bearoff", "--method", method]);
        assert!(config.contains(&format!("[learn.{method}]")), "{config}");
    }
    let said = dir.fails(&["config", "new", "tictactoe", "--method", "regrets"], 1);
    assert!(
        said.contains("tictactoe has no config for the method `regrets`: `learn.regrets`: needs"),
        "{said}"
    );
}

#[test]
fn lists_fit_a_terminal() {
    let dir = Workspace::new();
    for what in ["games", "encoders", "architectures", "agents", "devices"] {
        let text = dir.text(&["list", what]);
        let long = text.lines().find(|line| line.chars().count() > 80);
        // A command to type stays whole.
        assert!(long.is_none_or(|line| line.contains('`')), "{what}: {long:?}");
    }
}

/// Truncating a table in use ends the program with a message.
#[test]
#[cfg(target_os = "linux")]
fn a_table_that_is_cut_short_in_use_is_an_error() {
    use std::io::{Read, Write};
    let dir = Workspace::new();
    dir.json(&["oracle", "build", "--checkers", "6"]);
    let mut child = dir
        .command(&["play", "oracle", "--game", "bearoff:6", "--seat", "2", "--seed", "1", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The oracle has moved, so its table is open.
    let (mut said, mut screen) = (Vec::new(), child.stderr.take().unwrap());
    while !String::from_utf8_lossy(&said).contains("your move>") {
        let mut more = [0; 256];
        let count = screen.read(&mut more).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&more[..count]);
    }
    let table = fs::OpenOptions::new().write(true).open(dir.path("datasets/bearoff-6.table")).unwrap();
    table.set_len(4096).unwrap();
    child.stdin.take().unwrap().write_all(b"6/off 4/2\n").unwrap();
    screen.read_to_end(&mut said).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&said);
    assert!(said.contains("cut short while it was in use"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["error"]["kind"], "io");
}

/// If one of several seeds cannot start, none does.
#[test]
fn seeds_are_refused_together() {
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let (one, out) = (dir.path("runs/single-80-2"), dir.path("runs"));
    dir.json(&["train", &config, "--set", "learn.games=1000", "--seed", "2", "--out", &one]);
    let several = ["train", &config, "--set", "learn.games=2000", "--seeds", "2", "--out", &out];
    let error = dir.fails(&several, 1);
    assert!(error.contains("seed 2") && error.contains("nothing was run"), "{error}");
    let output = dir.run(&[&several[..], &["--json"]].concat());
    let object: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(object["error"]["kind"], "folder");
    assert!(!dir.folder.path().join("runs/single-80-1").exists());
}

/// A stopped run has a curve up to its end.
#[test]
fn a_stopped_run_has_a_curve() {
    let dir = Workspace::new();
    let config = configs().join("single-80.toml").to_string_lossy().into_owned();
    let run = dir.path("run");
    let args = ["train", &config, "--set", "evaluate.every=100", "--out", &run];
    let long = ["--set", "learn.games=100000000", "--max-seconds", "0.5"];
    let stopped = dir.json(&[&args[..], &long[..]].concat());
    assert_eq!(stopped["finished"], false);
    let curve = fs::read_to_string(dir.folder.path().join("run/curve.svg")).unwrap();
    assert!(curve.contains("polyline"), "{curve}");
}

/// A rule file in the working folder works in every command, in both forms; its errors name file, line and column.
#[test]
fn a_game_in_a_file_is_a_game() {
    let dir = Workspace::new();
    let games = configs().join("../../crates/declared/games");
    for (file, position, action) in [
        ("hexapawn-3x3.game", "2 BBB/W../.WW", "capture(2,3,1)"),
        ("nim.kif", "2 heap(a,3) heap(b,0) heap(c,2) control(second)", "leave(a,2)"),
    ] {
        std::fs::copy(games.join(file), dir.path(file)).unwrap();
        let name = format!("file:{file}");
        let config = dir.text(&["config", "new", &name]);
        std::fs::write(dir.path("my.toml"), config).unwrap();
        dir.text(&["config", "check", "my.toml"]);
        let run = ["--out", "run", "--set", "learn.td.games=2000", "--set", "evaluate.every=1000", "--json"];
        let trained = dir.run(&[&["train", "my.toml"][..], &run].concat());
        let trained: Value = serde_json::from_slice(&trained.stdout).unwrap();
        assert!(trained["final"]["equity"].as_f64().unwrap() > 0.3, "{trained}");
        let value = dir.text(&["value", "run", position]);
        assert!(value.contains(action), "{value}");
        let played = dir.run_with(&["play", "run", "--seed", "3"], "quit\n");
        assert!(String::from_utf8_lossy(&played.stdout).contains(&name));
        std::fs::remove_dir_all(dir.path("run")).unwrap();
    }
    std::fs::write(
        dir.path("bad.game"),
        "game \"bad\"\nobjects s = 1..3\ndynamic on(s)\noperator put(a: s) if not in(a) add on(a)",
    )
    .unwrap();
    let refused = dir.run(&["config", "new", "file:bad.game"]);
    assert_eq!(refused.status.code(), Some(1));
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("file:bad.game: line 4, column 27: there is no relation `in`"), "{text}");
    let refused = dir.run(&["config", "new", "file:nowhere.game"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("nowhere.game: No such file"));
}

#[test]
fn declared_games_are_learned_from_their_rules_and_from_bits_alone() {
    let dir = Workspace::new();
    let config =
        |name: &str| configs().join(format!("../declared/{name}.toml")).to_string_lossy().into_owned();
    let (informed, blind) = (config("informed"), config("blind"));
    let small =
        ["--set", "game.rules=declared:hexapawn-3x3", "--set", "learn.td.games=600", "--out", "small"];
    let trained = dir.json(&[&["train", &informed][..], &small].concat());
    assert!(trained["final"]["grade"]["seats"].as_array().is_some_and(|seats| seats.len() == 2), "{trained}");
    assert!(trained["optimal"].as_u64().is_some_and(|games| games <= 600), "{trained}");
    let graded = dir.json(&["evaluate", "small", "--suite", "grade"]);
    let grade = &graded["grade"];
    assert_eq!(grade["best_response"]["best"], serde_json::json!([0.0, 0.0]));
    let won = grade["random"][0]["win"].as_f64().unwrap();
    assert!((0.3..0.56).contains(&won) && grade["correct"].as_f64().unwrap() > 0.8, "{grade}");
    let text = dir.text(&["evaluate", "small", "--suite", "grade"]);
    assert!(text.contains("against a best response:") && text.contains("a correct move in"), "{text}");
    let value = dir.text(&["value", "small", "1 BBB/.../WWW"]);
    assert!(value.contains("module capture-rules: weight"), "{value}");
    // Modules of the smaller game begin the larger one.
    let large =
        ["--set", "game.rules=declared:hexapawn-4x4", "--set", "learn.td.games=100", "--out", "large"];
    let begun = dir.text(&[&["train", &informed, "--init", "small"][..], &large].concat());
    assert!(begun.contains("(modules alive-rules, alive, capture-rules, ending-win, step-rules)"), "{begun}");
    let refused = dir
        .fails(&["train", &informed, "--init", "small", "--set", "game.rules=declared:nim", "--out", "m"], 1);
    assert!(refused.contains("no module of this checkpoint fits"), "{refused}");
    // The blind learner resumes where it stopped.
    let few = |games: &str| format!("learn.td.games={games}");
    dir.text(&["train", &blind, "--set", &few("400"), "--out", "whole"]);
    let described = dir.text(&["describe", "whole"]);
    assert!(described.contains("9 variables"), "{described}");
    let graded = dir.json(&["evaluate", "whole", "--suite", "grade"]);
    assert!(graded["grade"]["random"][0]["win"].as_f64().unwrap() > 0.6, "{graded}");
    for (set, expected) in [
        ("learn.td.against=\"random\"", "`both` learns from self-play"),
        ("architecture.blind.relations=false", "builds on `relations`"),
        ("learn.td.traces=\"online\"", "learns from returns"),
        ("game.encoder=\"rules\"", "name the bits channel"),
    ] {
        let refused = dir.fails(&["train", &blind, "--set", set, "--out", "no"], 1);
        assert!(refused.contains(expected), "{refused}");
    }
    // Solitaire: moves compared with the shortest solution.
    let alone = [
        "learn.td.along=\"own\"",
        "learn.td.discount=0.95",
        "learn.td.games=300",
        "evaluate.against=[\"random\"]",
    ];
    let mut args = vec!["train", &blind, "--set", "game.rules=declared:hanoi", "--out", "hanoi"];
    alone.iter().for_each(|set| args.extend(["--set", set]));
    let trained = dir.json(&args);
    assert_eq!(trained["final"]["alone"]["optimum"], 7, "{trained}");
    let text = dir.text(&["evaluate", "hanoi", "--suite", "grade"]);
    assert!(text.contains("the shortest solution has 7 moves"), "{text}");
}
