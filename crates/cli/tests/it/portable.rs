//! Networks, configs and printed text that leave their folder: what a checkpoint names goes with it, paths in a config are those
//! beside it, and nothing from outside gives orders to a terminal or a shell.

use crate::common::{Desk, number};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Experiments of the small bear-off: a network alone, and one that corrects the checkpoint `{prior}`.
fn alone(name: &str) -> String {
    format!(
        "name = \"{name}\"\ngame = {{ rules = \"bearoff:3\", encoder = \"one-sided\" }}\narchitecture.mlp = {{ hidden = [2] }}\n\
         learn = {{ batch = 8, rate = 0.01, supervised = {{ samples = 400 }} }}\n\
         evaluate = {{ positions = 100, validation = 100 }}\n"
    )
}

fn corrects(name: &str, prior: &str) -> String {
    let prior = toml_text(&format!("one-sided+prior:{prior}"));
    alone(name).replace("\"one-sided\"", &prior).replace(
        "architecture.mlp = { hidden = [2] }",
        "architecture.residual.net.mlp = { hidden = [2], output = \"linear\" }",
    )
}

/// A text in TOML.
fn toml_text(text: &str) -> String {
    format!("'''{text}'''")
}

const POSITIONS: [&str; 3] =
    ["1,1,0,0,0,0/0,0,0,1,0,0", "0,0,0,0,0,3/0,0,0,0,1,1", "1,0,0,0,0,0/1,0,0,0,0,0"];

fn values(desk: &Desk, checkpoint: &str) -> Vec<f64> {
    let found = desk.json(&[&["value", checkpoint], &POSITIONS[..]].concat());
    found["values"].as_array().unwrap().iter().map(|v| number(&v["value"])).collect()
}

fn manifest(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("manifest.json")).unwrap()).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        match path.is_dir() {
            true => copy(&path, &target),
            false => assert!(fs::copy(&path, &target).is_ok()),
        }
    }
}

/// A network, one that corrects it, and one that corrects that one, each in a folder whose name needs quotes somewhere.
fn chain(desk: &Desk) {
    fs::create_dir(desk.path("my nets, a+b")).unwrap();
    for (name, text) in [
        ("first", alone("first")),
        ("second", corrects("second", "\"my nets, a+b/first\"")),
        ("third", corrects("third", "\"my nets, a+b/second\"")),
    ] {
        fs::write(desk.path("config.toml"), text).unwrap();
        let out = format!("my nets, a+b/{name}");
        desk.text(&["train", "config.toml", "--out", &out]);
    }
}

#[test]
fn a_published_network_takes_its_priors_along() {
    let desk = Desk::new();
    chain(&desk);
    let expected = values(&desk, "my nets, a+b/third");
    // A run is opened from any folder, too: its prior is where it was, above it.
    let elsewhere = Desk::new();
    assert_eq!(values(&elsewhere, &desk.path("my nets, a+b/third")), expected);
    desk.text(&["publish", "my nets, a+b/third", "--out", "published/third"]);
    let out = PathBuf::from(desk.path("published/third"));
    let second = out.join("parts/second");
    let named = |folder: &Path| manifest(folder)["encoder"].as_str().unwrap().to_string();
    let pin = |folder: &Path| manifest(folder)["checksum"].as_str().unwrap()[..12].to_string();
    assert_eq!(named(&out), format!("one-sided+prior:parts/second@{}", pin(&second)));
    assert_eq!(named(&second), format!("one-sided+prior:parts/first@{}", pin(&second.join("parts/first"))));
    assert!(!second.join("training.safetensors").exists());
    let card = fs::read_to_string(out.join("card.md")).unwrap();
    assert!(card.contains("prior:parts/second@") && !card.contains("my nets"), "{card}");
    let left: Vec<String> = fs::read_dir(desk.path("published"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["third"]);

    // Away from everything that it came from.
    copy(&out, Path::new(&elsewhere.path("deep/er/mine")));
    drop(desk);
    for (desk, path) in
        [(&elsewhere, "deep/er/mine".to_string()), (&Desk::new(), elsewhere.path("deep/er/mine"))]
    {
        assert_eq!(values(desk, &path), expected);
        desk.json(&["evaluate", &path, "--suite", "rms", "--samples", "100"]);
        desk.json(&["describe", &path]);
        for (format, file) in [("onnx", "mine.onnx"), ("safetensors", "mine.safetensors")] {
            desk.json(&["export", &path, "--format", format, "--out", file]);
        }
        // And back: an import like it has copies of its own.
        desk.json(&["import", "mine.safetensors", "--like", &path, "--out", "again"]);
        let again = Path::new(&desk.path("again")).to_path_buf();
        assert_eq!(values(desk, "again"), expected);
        let sums =
            [&again, Path::new(&elsewhere.path("deep/er/mine"))].map(|at| pin(&at.join("parts/second")));
        assert_eq!(sums[0], sums[1], "copied to the byte");
    }
    // Damage and exchange are noticed.
    let mine = elsewhere.path("deep/er/mine");
    let part = Path::new(&mine).join("parts/second");
    fs::remove_dir_all(part.join("parts/first")).unwrap();
    let refused = elsewhere.fails(&["value", &mine, POSITIONS[0]], 1);
    assert!(refused.contains("has no prior `parts/first`") && refused.contains("publish"), "{refused}");
    fs::remove_dir_all(&part).unwrap();
    copy(Path::new(&elsewhere.path("again/parts/second/parts/first")), &part);
    let refused = elsewhere.fails(&["value", &mine, POSITIONS[0]], 1);
    assert!(refused.contains("but the prior must be"), "{refused}");
}

#[test]
fn a_published_network_does_not_say_where_it_was_made() {
    let desk = Desk::new();
    let config = |name: &str, against: &str| {
        let text = format!(
            "name = \"{name}\"\ngame.rules = \"tictactoe\"\narchitecture.mlp = {{ hidden = [4] }}\n\
             learn = {{ rate = 0.01, td = {{ games = 20 }} }}\n\
             evaluate = {{ every = 20, suites = [\"matches\"], games = 20, against = [{against:?}, \"random\"] }}\n"
        );
        fs::write(desk.path("config.toml"), text).unwrap();
    };
    config("first", "random");
    desk.text(&["train", "config.toml", "--out", "nets/first"]);
    let first = desk.path("nets/first");
    config("second", &first);
    // From another folder, to which nothing is relative.
    let elsewhere = Desk::new();
    elsewhere.text(&["train", &desk.path("config.toml"), "--init", &first, "--out", &desk.path("second")]);
    desk.text(&["publish", "second", "--out", "published"]);
    let folder = PathBuf::from(desk.path("published"));
    let card = fs::read_to_string(folder.join("card.md")).unwrap();
    let place = desk.path("");
    assert!(!card.contains(&place) && !manifest(&folder).to_string().contains(&place), "{card}");
    assert!(card.contains("--init nets/first/checkpoints/000000000020` with this config"), "{card}");
    assert!(card.contains("\"nets/first\","), "{card}");
    assert_eq!(manifest(&folder)["config"]["evaluate"]["against"][0], "nets/first");
}

/// A manifest that somebody wrote by hand, whose prior is itself.
#[test]
fn a_checkpoint_that_names_itself_is_refused() {
    let desk = Desk::new();
    chain(&desk);
    desk.text(&["publish", "my nets, a+b/second", "--out", "self"]);
    let path = PathBuf::from(desk.path("self/manifest.json"));
    let mut all = manifest(path.parent().unwrap());
    all["encoder"] = "one-sided+prior:.".into();
    let blank = "0".repeat(64);
    all["checksum"] = blank.clone().into();
    let text = serde_json::to_string_pretty(&all).unwrap();
    let sum = adept::model::checkpoint::hex(text.as_bytes());
    fs::write(&path, text.replace(&format!("\"{blank}\""), &format!("\"{sum}\""))).unwrap();
    let refused = desk.fails(&["value", "self", POSITIONS[0]], 1);
    assert!(refused.contains("does a checkpoint name itself?"), "{refused}");
}

/// The rules of a game travel as a prior does.
#[test]
fn a_published_network_takes_its_rule_file_along() {
    let desk = Desk::new();
    let rules = include_str!("../../../declared/games/hexapawn-3x3.game");
    fs::create_dir_all(desk.path("own")).unwrap();
    fs::write(desk.path("own/my pawns.game"), rules).unwrap();
    fs::write(
        desk.path("own/pawns.toml"),
        "name = \"pawns\"\ngame = { rules = \"file:my pawns.game\", encoder = \"bits\" }\narchitecture.mlp = { hidden = [4] }\n\
         learn = { rate = 0.01, td = { games = 50 } }\nevaluate = { every = 50 }\n",
    )
    .unwrap();
    // The file is found beside the config, and from there when the run is continued elsewhere.
    let result = desk.json(&["train", "own/pawns.toml", "--out", "run"]);
    assert_eq!(result["finished"], true);
    let there = PathBuf::from(desk.path("own"));
    let again = Command::new(env!("CARGO_BIN_EXE_adept"))
        .args(["train", "pawns.toml", "--out", "../run"])
        .current_dir(&there)
        .output()
        .unwrap();
    assert!(again.status.success() && said(&again).contains("already finished"), "{}", said(&again));
    desk.text(&["publish", "run", "--out", "published"]);
    let elsewhere = Desk::new();
    copy(Path::new(&desk.path("published")), Path::new(&elsewhere.path("mine")));
    drop(desk);
    assert_eq!(manifest(Path::new(&elsewhere.path("mine")))["game"], "file:parts/my pawns.game");
    elsewhere.json(&["evaluate", "mine", "--suite", "equity"]);
    elsewhere.json(&["evaluate", &elsewhere.path("mine"), "--suite", "speed"]);
    let moved = elsewhere.run_with(&["play", "mine", "--seed", "1"], "quit\n");
    assert!(moved.status.success(), "{}", said(&moved));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Every path in a config leads to what is beside it; what is in the current folder only is taken with a note.
#[test]
fn paths_in_a_config_are_relative_to_it() {
    let desk = Desk::new();
    fs::create_dir_all(desk.path("project/data")).unwrap();
    desk.text(&[
        "oracle",
        "sample",
        "--checkers",
        "3",
        "--distribution",
        "table",
        "--count",
        "40",
        "--seed",
        "1",
        "--out",
        "project/data/my.csv",
    ]);
    let with =
        |file: &str| alone("csv").replace("samples = 400", &format!("samples = 400, examples = \"{file}\""));
    fs::write(desk.path("project/csv.toml"), with("data/my.csv")).unwrap();
    assert!(desk.json(&["config", "check", "project/csv.toml"])["faults"] == 0);
    let first = desk.run(&["train", "project/csv.toml", "--out", "runs/one"]);
    assert!(first.status.success() && !said(&first).contains("note:"), "{}", said(&first));

    // From another folder it is the same run, and so it is by the config that the run has kept.
    let within = |folder: &str, args: &[&str]| run_within(&desk, folder, args);
    for (folder, args) in [
        ("project", ["train", "csv.toml", "--out", "../runs/one"]),
        ("project/data", ["train", "../csv.toml", "--out", "../../runs/one"]),
        ("runs/one", ["train", "config.toml", "--out", "."]),
        ("runs", ["train", "one/config.toml", "--out", "one"]),
        ("", ["train", "runs/one/config.toml", "--out", "runs/one"]),
        ("", ["train", "./project/csv.toml", "--out", "./runs/one"]),
    ] {
        let output = within(folder, &args);
        assert!(
            output.status.success() && said(&output).contains("already finished"),
            "{folder} {args:?}: {}",
            said(&output)
        );
    }
    let kept = fs::read_to_string(desk.path("runs/one/config.toml")).unwrap();
    assert!(kept.contains("\"../../project/data/my.csv\""), "{kept}");

    // What was meant before still works, and says so.
    fs::write(desk.path("project/old.toml"), with("project/data/my.csv")).unwrap();
    for args in
        [&["train", "project/old.toml", "--out", "runs/old"][..], &["config", "check", "project/old.toml"]]
    {
        let output = desk.run(args);
        let said = said(&output);
        assert!(output.status.success() && said.contains("note: project/old.toml: `learn.supervised.examples`: `project/data/my.csv` is not beside the config"), "{said}");
    }
    // Another file of the same name is another experiment.
    fs::create_dir_all(desk.path("other/data")).unwrap();
    fs::copy(desk.path("project/data/my.csv"), desk.path("other/data/my.csv")).unwrap();
    fs::write(desk.path("other/csv.toml"), with("data/my.csv")).unwrap();
    assert!(desk.fails(&["train", "other/csv.toml", "--out", "runs/one"], 1).contains("another config"));
    // On the command line paths are relative to the current folder.
    let set = "learn.supervised.examples=data/my.csv";
    let output = within("project", &["train", "../other/csv.toml", "--set", set, "--out", "../runs/set"]);
    let record: Value =
        serde_json::from_str(&fs::read_to_string(desk.path("runs/set/run.json")).unwrap()).unwrap();
    assert!(
        output.status.success() && record["config"]["learn"]["supervised"]["examples"] == "data/my.csv",
        "{}",
        said(&output)
    );
    // A file that is nowhere is expected beside the config.
    fs::write(desk.path("project/none.toml"), with("none.csv")).unwrap();
    assert!(
        desk.fails(&["train", "project/none.toml", "--out", "runs/none"], 1).contains("project/none.csv")
    );

    a_tournament_and_its_agents(&desk);
    a_sweep_and_its_runs(&desk);
}

/// Runs `adept` in a folder of a desk.
fn run_within(desk: &Desk, folder: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_adept")).args(args).current_dir(desk.path(folder)).output().unwrap()
}

/// A prior beside its config, and the agents of a tournament, which goes on from another folder.
fn a_tournament_and_its_agents(desk: &Desk) {
    let within = |folder: &str, args: &[&str]| run_within(desk, folder, args);
    desk.text(&["publish", "runs/one", "--out", "project/base"]);
    fs::write(desk.path("project/corrects.toml"), corrects("corrects", "base")).unwrap();
    let output = desk.run(&["train", "project/corrects.toml", "--out", "runs/two"]);
    assert!(output.status.success() && !said(&output).contains("note:"), "{}", said(&output));
    let resumed = within("project", &["train", "corrects.toml", "--out", "../runs/two"]);
    assert!(said(&resumed).contains("already finished"), "{}", said(&resumed));
    let agents = "name = \"a\"\ngame = \"bearoff:3\"\ngames = 20\nagents = [{ name = \"base\" }, { name = \"g\", agent = \"epsilon:0.5:base\" }, { name = \"random\" }]\n";
    fs::write(desk.path("project/arena.toml"), agents).unwrap();
    let played = desk.json(&["arena", "project/arena.toml", "--out", "runs/arena"]);
    assert_eq!(played["pairs"].as_array().unwrap().len(), 3);

    // A tournament that stopped goes on from another folder.
    let table = desk.path("runs/arena/arena.json");
    let mut stopped: Value = serde_json::from_str(&fs::read_to_string(&table).unwrap()).unwrap();
    stopped["pairs"].as_array_mut().unwrap().pop();
    stopped["finished"] = false.into();
    for (folder, args) in [
        ("project", ["arena", "arena.toml", "--out", "../runs/arena", "--resume"]),
        ("project/data", ["arena", "../arena.toml", "--out", "../../runs/arena", "--resume"]),
        ("", ["arena", "project/arena.toml", "--out", "runs/arena", "--resume"]),
    ] {
        fs::write(&table, stopped.to_string()).unwrap();
        let output = within(folder, &args);
        assert!(output.status.success(), "{folder}: {}", said(&output));
        let whole: Value = serde_json::from_str(&fs::read_to_string(&table).unwrap()).unwrap();
        assert_eq!(whole["standings"], played["standings"]);
        // The next one goes on from what this one left.
        stopped["tournament"] = whole["tournament"].clone();
        stopped["folder"] = whole["folder"].clone();
    }
    fs::create_dir(desk.path("other/base")).unwrap();
    fs::write(desk.path("other/arena.toml"), agents.replace("base", "../project/csv.toml")).unwrap();
    fs::write(&table, stopped.to_string()).unwrap();
    let refused = within("other", &["arena", "arena.toml", "--out", "../runs/arena", "--resume"]);
    assert!(!refused.status.success());
}

/// A sweep goes on from another folder, and its runs keep their names.
fn a_sweep_and_its_runs(desk: &Desk) {
    let within = |folder: &str, args: &[&str]| run_within(desk, folder, args);
    let set = ["--set", "learn.rate=0.01,0.02", "--seeds", "1"];
    let swept = desk.json(&[&["sweep", "project/csv.toml", "--out", "runs/sweep"][..], &set].concat());
    let figures = |table: &Value| -> Vec<Value> {
        table["rows"].as_array().unwrap().iter().map(|row| row["final_mean"].clone()).collect()
    };
    for (folder, start) in [
        ("project", ["sweep", "csv.toml", "--out", "../runs/sweep"]),
        ("project/data", ["sweep", "../csv.toml", "--out", "../../runs/sweep"]),
    ] {
        fs::remove_dir_all(desk.path("runs/sweep/2-rate-0.02-1")).unwrap();
        let stopped = within(folder, &[&start[..], &set].concat());
        assert!(said(&stopped).contains("stopped after 1 of 2 runs"), "{folder}: {}", said(&stopped));
        let output = within(folder, &[&start[..], &set, &["--resume", "--json"]].concat());
        assert!(output.status.success(), "{folder}: {}", said(&output));
        let again: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(figures(&again), figures(&swept));
    }
    let error = desk.fails(&[&["sweep", "other/csv.toml", "--out", "runs/sweep"][..], &set].concat(), 1);
    assert!(error.contains("holds another sweep"), "{error}");
    // Where paths vary, they are in the names of the runs.
    desk.text(&["publish", "runs/one", "--out", "project/same"]);
    let vary = |folder: &str, back: &str| {
        let paths = format!("game.encoder=one-sided+prior:{back}base,one-sided+prior:{back}same");
        let out = format!("{back}../runs/paths");
        let config = format!("{back}corrects.toml");
        let args = ["sweep", &config, "--set", &paths, "--seeds", "1", "--out", &out, "--resume", "--json"];
        within(folder, &args)
    };
    let one = vary("project", "");
    assert!(one.status.success(), "{}", said(&one));
    let two = vary("project/data", "../");
    assert!(two.status.success() && said(&two).contains("already finished"), "{}", said(&two));
}

/// A run that is stopped goes on from another folder to the same bits.
#[test]
fn a_run_goes_on_from_another_folder() {
    let desk = Desk::new();
    chain(&desk);
    let text = corrects("long", "\"my nets, a+b/first\"")
        .replace("samples = 400", "samples = 4000")
        .replace("evaluate = {", "checkpoints.every = 400\nevaluate = { every = 400,");
    fs::write(desk.path("long.toml"), text).unwrap();
    desk.text(&["train", "long.toml", "--out", "whole"]);
    desk.run(&["train", "long.toml", "--out", "parted", "--max-seconds", "0.000001"]);
    let record = || -> Value {
        serde_json::from_str(&fs::read_to_string(desk.path("parted/run.json")).unwrap()).unwrap()
    };
    assert_eq!(record()["finished"], false);
    fs::create_dir(desk.path("deeper")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_adept"))
        .args(["train", "../long.toml", "--out", "../parted", "--resume"])
        .current_dir(desk.path("deeper"))
        .output()
        .unwrap();
    assert!(output.status.success() && record()["finished"] == true, "{}", said(&output));
    let weights = |run: &str| {
        let latest = record()["latest"].as_str().unwrap().to_string();
        fs::read(Path::new(&desk.path(run)).join("checkpoints").join(latest).join("weights.safetensors"))
            .unwrap()
    };
    assert_eq!(weights("whole"), weights("parted"));
}

/// Commands that are printed can be copied into a shell, whatever the folder is called.
#[cfg(unix)]
#[test]
fn printed_commands_are_quoted() {
    let desk = Desk::new();
    fs::write(desk.path("my.toml"), alone("a")).unwrap();
    let odd = "it's $HOME; a \"run\" & more";
    let text = desk.text(&["train", "my.toml", "--out", odd]);
    let command = text
        .lines()
        .find_map(|line| line.strip_prefix("play against it:"))
        .unwrap_or_else(|| panic!("{text}"));
    let program = Path::new(env!("CARGO_BIN_EXE_adept")).parent().unwrap();
    let shell = format!("PATH='{}':\"$PATH\"; {} < /dev/null", program.display(), command.trim());
    let played = Command::new("sh").args(["-c", &shell]).current_dir(desk.folder.path()).output().unwrap();
    assert!(played.status.success(), "{command}: {}", said(&played));
    let old = alone("a").replace("supervised = { samples = 400 }", "method = \"supervised\", samples = 400");
    fs::write(desk.path("old one.toml"), old).unwrap();
    let note = said(&desk.run(&["config", "check", "old one.toml"]));
    assert!(note.contains("`adept config migrate 'old one.toml'`"), "{note}");
}

/// What a terminal would obey never gets there: in names of files, CSV cells, configs, manifests, notes, rule files, and in what
/// a dealer says.
#[cfg(unix)]
#[test]
fn no_text_from_outside_reaches_the_terminal_raw() {
    const ESCAPE: &str = "\x1b[31m\x1b]0;owned\x07";
    const SHOWN: &str = "\\u{1b}[31m\\u{1b}]0;owned\\u{7}";
    let desk = Desk::new();
    let clean = |output: &Output, expected: &str| {
        let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
        let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!text.contains(obeyed) && text.contains(expected), "{text:?}");
    };
    let name = format!("net{ESCAPE}");
    fs::write(
        desk.path(&format!("{name}.toml")),
        alone("a").replace("name =", "about = \"a\\u001b[31m\\u001b]0;owned\\u0007\"\nname ="),
    )
    .unwrap();
    let config = format!("{name}.toml");
    clean(&desk.run(&["config", "check", &config]), SHOWN);
    clean(&desk.run(&["train", &config, "--out", &name]), SHOWN);
    clean(&desk.run(&["train", &config, "--out", &name, "--set", "seed=2"]), SHOWN);
    clean(&desk.run(&["describe", &name]), "one-sided");
    clean(&desk.run(&["runs", "list", "."]), SHOWN);
    clean(&desk.run(&["evaluate", &format!("none{ESCAPE}")]), SHOWN);
    clean(&desk.run(&["value", &name, &format!("1{ESCAPE}")]), SHOWN);
    desk.text(&["publish", &name, "--out", "published", "--note", &format!("note{ESCAPE}")]);
    let card = fs::read_to_string(desk.path("published/card.md")).unwrap();
    assert!(card.contains(&format!("note{SHOWN}")) && !card.contains('\x1b'), "{card}");
    fs::write(desk.path("bad.csv"), format!("own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6,value\n{ESCAPE},0,0,0,0,0,0,0,0,0,0,1,0\n")).unwrap();
    clean(&desk.run(&["evaluate", &name, "--positions", "bad.csv"]), SHOWN);
    fs::write(desk.path("bad.game"), format!("game x\nwhat{ESCAPE}\n")).unwrap();
    clean(&desk.run(&["config", "new", "file:bad.game"]), "");
    clean(
        &desk.run_with(
            &["play", "random", "--game", "tictactoe", "--seed", "1"],
            &format!("{ESCAPE}\nquit\n"),
        ),
        SHOWN,
    );
    clean(
        &desk.run_with(&["play", "random", "--game", "tictactoe", "--seed", "1", "--seat", "2"], "quit\n"),
        "",
    );

    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = door.local_addr().unwrap().port().to_string();
    let mut command = desk.command(&["serve", "acpc", "127.0.0.1", &port, "random"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut dealer, _) = door.accept().unwrap();
    let mut version = String::new();
    BufReader::new(dealer.try_clone().unwrap()).read_line(&mut version).unwrap();
    dealer.write_all(format!("hello{ESCAPE}\r\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    clean(&output, SHOWN);
}

/// `config check` refuses what no folder can be called, in experiments and tournaments.
#[test]
fn names_that_cannot_be_folders_are_refused() {
    let desk = Desk::new();
    let letters = |n: usize| "n".repeat(n);
    for name in
        ["-x", ".x", "x.", "a/b", "a b", "", "CON", "nul.txt", "com1", "ä", &letters(201), &letters(300)]
    {
        let tournament = format!(
            "name = \"{name}\"\ngame = \"tictactoe\"\ngames = 2\nagents = [{{ name = \"ttt\" }}, {{ name = \"random\" }}]\n"
        );
        for text in [alone(name), tournament] {
            fs::write(desk.path("my.toml"), text).unwrap();
            let refused = desk.fails(&["config", "check", "my.toml"], 1);
            assert!(refused.contains("my.toml:1:1: `name`:"), "{name}: {refused}");
        }
    }
    for name in ["_x", "1", "com", "console", "a-b_c.d", &letters(200)] {
        fs::write(desk.path("my.toml"), alone(name)).unwrap();
        desk.text(&["config", "check", "my.toml"]);
        desk.text(&["train", "my.toml", "--seed", "9223372036854765807"]);
    }
}
