//! Portability: a checkpoint carries the files that it names, paths in a config are relative to it, and untrusted text
//! cannot control a terminal or a shell.

use crate::common::{Workspace, copy, number};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Experiments of the small bear-off: a single network, and one that corrects the checkpoint `{prior}`.
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

fn values(dir: &Workspace, checkpoint: &str) -> Vec<f64> {
    let found = dir.json(&[&["value", checkpoint], &POSITIONS[..]].concat());
    found["values"].as_array().unwrap().iter().map(|v| number(&v["value"])).collect()
}

fn manifest(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("manifest.json")).unwrap()).unwrap()
}

/// A chain of three networks that correct each other, in folders whose names need quoting.
fn chain(dir: &Workspace) {
    fs::create_dir(dir.path("my nets, a+b")).unwrap();
    for (name, text) in [
        ("first", alone("first")),
        ("second", corrects("second", "\"my nets, a+b/first\"")),
        ("third", corrects("third", "\"my nets, a+b/second\"")),
    ] {
        fs::write(dir.path("config.toml"), text).unwrap();
        let out = format!("my nets, a+b/{name}");
        dir.text(&["train", "config.toml", "--out", &out]);
    }
}

#[test]
fn a_published_network_takes_its_priors_along() {
    let dir = Workspace::new();
    chain(&dir);
    let expected = values(&dir, "my nets, a+b/third");
    // A run opens from any folder: its prior is still at its path.
    let elsewhere = Workspace::new();
    assert_eq!(values(&elsewhere, &dir.path("my nets, a+b/third")), expected);
    dir.text(&["publish", "my nets, a+b/third", "--out", "published/third"]);
    let out = PathBuf::from(dir.path("published/third"));
    let second = out.join("parts/second");
    let named = |folder: &Path| manifest(folder)["encoder"].as_str().unwrap().to_string();
    let pin = |folder: &Path| manifest(folder)["checksum"].as_str().unwrap()[..12].to_string();
    assert_eq!(named(&out), format!("one-sided+prior:parts/second@{}", pin(&second)));
    assert_eq!(named(&second), format!("one-sided+prior:parts/first@{}", pin(&second.join("parts/first"))));
    assert!(!second.join("training.safetensors").exists());
    let card = fs::read_to_string(out.join("card.md")).unwrap();
    assert!(card.contains("prior:parts/second@") && !card.contains("my nets"), "{card}");
    let left: Vec<String> = fs::read_dir(dir.path("published"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(left, ["third"]);

    // Away from all original files.
    copy(&out, Path::new(&elsewhere.path("deep/er/mine")));
    drop(dir);
    for (dir, path) in
        [(&elsewhere, "deep/er/mine".to_string()), (&Workspace::new(), elsewhere.path("deep/er/mine"))]
    {
        assert_eq!(values(dir, &path), expected);
        dir.json(&["evaluate", &path, "--suite", "rms", "--samples", "100"]);
        dir.json(&["describe", &path]);
        for (format, file) in [("onnx", "mine.onnx"), ("safetensors", "mine.safetensors")] {
            dir.json(&["export", &path, "--format", format, "--out", file]);
        }
        // An import based on it has its own copies.
        dir.json(&["import", "mine.safetensors", "--like", &path, "--out", "again"]);
        let again = Path::new(&dir.path("again")).to_path_buf();
        assert_eq!(values(dir, "again"), expected);
        let sums =
            [&again, Path::new(&elsewhere.path("deep/er/mine"))].map(|at| pin(&at.join("parts/second")));
        assert_eq!(sums[0], sums[1], "copied to the byte");
    }
    // Damage and replacement are detected.
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
    let dir = Workspace::new();
    let config = |name: &str, against: &str| {
        let text = format!(
            "name = \"{name}\"\ngame.rules = \"tictactoe\"\narchitecture.mlp = {{ hidden = [4] }}\n\
             learn = {{ rate = 0.01, td = {{ games = 20 }} }}\n\
             evaluate = {{ every = 20, suites = [\"matches\"], games = 20, against = [{against:?}, \"random\"] }}\n"
        );
        fs::write(dir.path("config.toml"), text).unwrap();
    };
    config("first", "random");
    dir.text(&["train", "config.toml", "--out", "nets/first"]);
    let first = dir.path("nets/first");
    config("second", &first);
    // From another folder, where no relative path resolves.
    let elsewhere = Workspace::new();
    elsewhere.text(&["train", &dir.path("config.toml"), "--init", &first, "--out", &dir.path("second")]);
    dir.text(&["publish", "second", "--out", "published"]);
    let folder = PathBuf::from(dir.path("published"));
    let card = fs::read_to_string(folder.join("card.md")).unwrap();
    let place = dir.path("");
    assert!(!card.contains(&place) && !manifest(&folder).to_string().contains(&place), "{card}");
    assert!(card.contains("--init nets/first/checkpoints/000000000020` with this config"), "{card}");
    assert!(card.contains("\"nets/first\","), "{card}");
    assert_eq!(manifest(&folder)["config"]["evaluate"]["against"][0], "nets/first");
}

/// A handwritten manifest whose prior is itself.
#[test]
fn a_checkpoint_that_names_itself_is_refused() {
    let dir = Workspace::new();
    chain(&dir);
    dir.text(&["publish", "my nets, a+b/second", "--out", "self"]);
    let path = PathBuf::from(dir.path("self/manifest.json"));
    let mut all = manifest(path.parent().unwrap());
    all["encoder"] = "one-sided+prior:.".into();
    let blank = "0".repeat(64);
    all["checksum"] = blank.clone().into();
    let text = serde_json::to_string_pretty(&all).unwrap();
    let sum = adept::model::checkpoint::hex(text.as_bytes());
    fs::write(&path, text.replace(&format!("\"{blank}\""), &format!("\"{sum}\""))).unwrap();
    let refused = dir.fails(&["value", "self", POSITIONS[0]], 1);
    assert!(refused.contains("does a checkpoint name itself?"), "{refused}");
}

/// A game's rule file is packed like a prior.
#[test]
fn a_published_network_takes_its_rule_file_along() {
    let dir = Workspace::new();
    let rules = include_str!("../../../declared/games/hexapawn-3x3.game");
    fs::create_dir_all(dir.path("own")).unwrap();
    fs::write(dir.path("own/my pawns.game"), rules).unwrap();
    fs::write(
        dir.path("own/pawns.toml"),
        "name = \"pawns\"\ngame = { rules = \"file:my pawns.game\", encoder = \"bits\" }\narchitecture.mlp = { hidden = [4] }\n\
         learn = { rate = 0.01, td = { games = 50 } }\nevaluate = { every = 50 }\n",
    )
    .unwrap();
    // The file is relative to the config, also when the run continues elsewhere.
    let result = dir.json(&["train", "own/pawns.toml", "--out", "run"]);
    assert_eq!(result["finished"], true);
    let there = PathBuf::from(dir.path("own"));
    let again = Command::new(env!("CARGO_BIN_EXE_adept"))
        .args(["train", "pawns.toml", "--out", "../run"])
        .current_dir(&there)
        .output()
        .unwrap();
    assert!(again.status.success() && said(&again).contains("already finished"), "{}", said(&again));
    dir.text(&["publish", "run", "--out", "published"]);
    let elsewhere = Workspace::new();
    copy(Path::new(&dir.path("published")), Path::new(&elsewhere.path("mine")));
    drop(dir);
    assert_eq!(manifest(Path::new(&elsewhere.path("mine")))["game"], "file:parts/my pawns.game");
    elsewhere.json(&["evaluate", "mine", "--suite", "equity"]);
    elsewhere.json(&["evaluate", &elsewhere.path("mine"), "--suite", "speed"]);
    let moved = elsewhere.run_with(&["play", "mine", "--seed", "1"], "quit\n");
    assert!(moved.status.success(), "{}", said(&moved));
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Paths in a config are relative to it; a file that exists only in the current folder is accepted with a note.
#[test]
fn paths_in_a_config_are_relative_to_it() {
    let dir = Workspace::new();
    fs::create_dir_all(dir.path("project/data")).unwrap();
    dir.text(&[
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
    fs::write(dir.path("project/csv.toml"), with("data/my.csv")).unwrap();
    assert!(dir.json(&["config", "check", "project/csv.toml"])["faults"] == 0);
    let first = dir.run(&["train", "project/csv.toml", "--out", "runs/one"]);
    assert!(first.status.success() && !said(&first).contains("note:"), "{}", said(&first));

    // From another folder, the same run results, also from the config that the run has stored.
    let within = |folder: &str, args: &[&str]| run_within(&dir, folder, args);
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
    let kept = fs::read_to_string(dir.path("runs/one/config.toml")).unwrap();
    assert!(kept.contains("\"../../project/data/my.csv\""), "{kept}");

    // Paths relative to the current folder still work, with a note.
    fs::write(dir.path("project/old.toml"), with("project/data/my.csv")).unwrap();
    for args in
        [&["train", "project/old.toml", "--out", "runs/old"][..], &["config", "check", "project/old.toml"]]
    {
        let output = dir.run(args);
        let said = said(&output);
        assert!(output.status.success() && said.contains("note: project/old.toml: `learn.supervised.examples`: `project/data/my.csv` is not beside the config"), "{said}");
    }
    // Another file with the same name is another experiment.
    fs::create_dir_all(dir.path("other/data")).unwrap();
    fs::copy(dir.path("project/data/my.csv"), dir.path("other/data/my.csv")).unwrap();
    fs::write(dir.path("other/csv.toml"), with("data/my.csv")).unwrap();
    assert!(dir.fails(&["train", "other/csv.toml", "--out", "runs/one"], 1).contains("another config"));
    // Paths on the command line are relative to the current folder.
    let set = "learn.supervised.examples=data/my.csv";
    let output = within("project", &["train", "../other/csv.toml", "--set", set, "--out", "../runs/set"]);
    let record: Value =
        serde_json::from_str(&fs::read_to_string(dir.path("runs/set/run.json")).unwrap()).unwrap();
    assert!(
        output.status.success() && record["config"]["learn"]["supervised"]["examples"] == "data/my.csv",
        "{}",
        said(&output)
    );
    // A missing file is reported relative to the config.
    fs::write(dir.path("project/none.toml"), with("none.csv")).unwrap();
    assert!(dir.fails(&["train", "project/none.toml", "--out", "runs/none"], 1).contains("project/none.csv"));

    a_tournament_and_its_agents(&dir);
    a_sweep_and_its_runs(&dir);
}

/// Runs `adept` in a folder of a workspace.
fn run_within(dir: &Workspace, folder: &str, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_adept")).args(args).current_dir(dir.path(folder)).output().unwrap()
}

/// A prior relative to its config, and the agents of a tournament, which goes on from another folder.
fn a_tournament_and_its_agents(dir: &Workspace) {
    let within = |folder: &str, args: &[&str]| run_within(dir, folder, args);
    dir.text(&["publish", "runs/one", "--out", "project/base"]);
    fs::write(dir.path("project/corrects.toml"), corrects("corrects", "base")).unwrap();
    let output = dir.run(&["train", "project/corrects.toml", "--out", "runs/two"]);
    assert!(output.status.success() && !said(&output).contains("note:"), "{}", said(&output));
    let resumed = within("project", &["train", "corrects.toml", "--out", "../runs/two"]);
    assert!(said(&resumed).contains("already finished"), "{}", said(&resumed));
    let agents = "name = \"a\"\ngame = \"bearoff:3\"\ngames = 20\nagents = [{ name = \"base\" }, { name = \"g\", agent = \"epsilon:0.5:base\" }, { name = \"random\" }]\n";
    fs::write(dir.path("project/arena.toml"), agents).unwrap();
    let played = dir.json(&["arena", "project/arena.toml", "--out", "runs/arena"]);
    assert_eq!(played["pairs"].as_array().unwrap().len(), 3);

    // A stopped tournament resumes from another folder.
    let table = dir.path("runs/arena/arena.json");
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
        // The next one resumes from the state that this one left.
        stopped["tournament"] = whole["tournament"].clone();
        stopped["folder"] = whole["folder"].clone();
    }
    fs::create_dir(dir.path("other/base")).unwrap();
    fs::write(dir.path("other/arena.toml"), agents.replace("base", "../project/csv.toml")).unwrap();
    fs::write(&table, stopped.to_string()).unwrap();
    let refused = within("other", &["arena", "arena.toml", "--out", "../runs/arena", "--resume"]);
    assert!(!refused.status.success());
}

/// A sweep goes on from another folder, and its runs keep their names.
fn a_sweep_and_its_runs(dir: &Workspace) {
    let within = |folder: &str, args: &[&str]| run_within(dir, folder, args);
    let set = ["--set", "learn.rate=0.01,0.02", "--seeds", "1"];
    let swept = dir.json(&[&["sweep", "project/csv.toml", "--out", "runs/sweep"][..], &set].concat());
    let figures = |table: &Value| -> Vec<Value> {
        table["rows"].as_array().unwrap().iter().map(|row| row["final_mean"].clone()).collect()
    };
    for (folder, start) in [
        ("project", ["sweep", "csv.toml", "--out", "../runs/sweep"]),
        ("project/data", ["sweep", "../csv.toml", "--out", "../../runs/sweep"]),
    ] {
        fs::remove_dir_all(dir.path("runs/sweep/2-rate-0.02-1")).unwrap();
        let stopped = within(folder, &[&start[..], &set].concat());
        assert!(said(&stopped).contains("stopped after 1 of 2 runs"), "{folder}: {}", said(&stopped));
        let output = within(folder, &[&start[..], &set, &["--resume", "--json"]].concat());
        assert!(output.status.success(), "{folder}: {}", said(&output));
        let again: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(figures(&again), figures(&swept));
    }
    let error = dir.fails(&[&["sweep", "other/csv.toml", "--out", "runs/sweep"][..], &set].concat(), 1);
    assert!(error.contains("holds another sweep"), "{error}");
    // Varying paths are part of the runs' names.
    dir.text(&["publish", "runs/one", "--out", "project/same"]);
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

/// A stopped run resumes from another folder with the same bits.
#[test]
fn a_run_goes_on_from_another_folder() {
    let dir = Workspace::new();
    chain(&dir);
    let text = corrects("long", "\"my nets, a+b/first\"")
        .replace("samples = 400", "samples = 4000")
        .replace("evaluate = {", "checkpoints.every = 400\nevaluate = { every = 400,");
    fs::write(dir.path("long.toml"), text).unwrap();
    dir.text(&["train", "long.toml", "--out", "whole"]);
    dir.run(&["train", "long.toml", "--out", "parted", "--max-seconds", "0.000001"]);
    let record = || -> Value {
        serde_json::from_str(&fs::read_to_string(dir.path("parted/run.json")).unwrap()).unwrap()
    };
    assert_eq!(record()["finished"], false);
    fs::create_dir(dir.path("deeper")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_adept"))
        .args(["train", "../long.toml", "--out", "../parted", "--resume"])
        .current_dir(dir.path("deeper"))
        .output()
        .unwrap();
    assert!(output.status.success() && record()["finished"] == true, "{}", said(&output));
    let weights = |run: &str| {
        let latest = record()["latest"].as_str().unwrap().to_string();
        fs::read(Path::new(&dir.path(run)).join("checkpoints").join(latest).join("weights.safetensors"))
            .unwrap()
    };
    assert_eq!(weights("whole"), weights("parted"));
}

/// Printed commands can be copied into a shell, whatever the folder's name.
#[cfg(unix)]
#[test]
fn printed_commands_are_quoted() {
    let dir = Workspace::new();
    fs::write(dir.path("my.toml"), alone("a")).unwrap();
    let odd = "it's $HOME; a \"run\" & more";
    let text = dir.text(&["train", "my.toml", "--out", odd]);
    let command = text
        .lines()
        .find_map(|line| line.strip_prefix("play against it:"))
        .unwrap_or_else(|| panic!("{text}"));
    let program = Path::new(env!("CARGO_BIN_EXE_adept")).parent().unwrap();
    let shell = format!("PATH='{}':\"$PATH\"; {} < /dev/null", program.display(), command.trim());
    let played = Command::new("sh").args(["-c", &shell]).current_dir(dir.folder.path()).output().unwrap();
    assert!(played.status.success(), "{command}: {}", said(&played));
    let old = alone("a").replace("supervised = { samples = 400 }", "method = \"supervised\", samples = 400");
    fs::write(dir.path("old one.toml"), old).unwrap();
    let note = said(&dir.run(&["config", "check", "old one.toml"]));
    assert!(note.contains("`adept config migrate 'old one.toml'`"), "{note}");
}

/// Control sequences never reach the terminal: in names of files, CSV cells, configs, manifests, notes, rule files, and
/// messages of a dealer.
#[cfg(unix)]
#[test]
fn no_text_from_outside_reaches_the_terminal_raw() {
    const ESCAPE: &str = "\x1b[31m\x1b]0;owned\x07";
    const SHOWN: &str = "\\u{1b}[31m\\u{1b}]0;owned\\u{7}";
    let dir = Workspace::new();
    let clean = |output: &Output, expected: &str| {
        let text = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
        let obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
        assert!(!text.contains(obeyed) && text.contains(expected), "{text:?}");
    };
    let name = format!("net{ESCAPE}");
    fs::write(
        dir.path(&format!("{name}.toml")),
        alone("a").replace("name =", "about = \"a\\u001b[31m\\u001b]0;owned\\u0007\"\nname ="),
    )
    .unwrap();
    let config = format!("{name}.toml");
    clean(&dir.run(&["config", "check", &config]), SHOWN);
    clean(&dir.run(&["train", &config, "--out", &name]), SHOWN);
    clean(&dir.run(&["train", &config, "--out", &name, "--set", "seed=2"]), SHOWN);
    clean(&dir.run(&["describe", &name]), "one-sided");
    clean(&dir.run(&["runs", "list", "."]), SHOWN);
    clean(&dir.run(&["evaluate", &format!("none{ESCAPE}")]), SHOWN);
    clean(&dir.run(&["value", &name, &format!("1{ESCAPE}")]), SHOWN);
    dir.text(&["publish", &name, "--out", "published", "--note", &format!("note{ESCAPE}")]);
    let card = fs::read_to_string(dir.path("published/card.md")).unwrap();
    assert!(card.contains(&format!("note{SHOWN}")) && !card.contains('\x1b'), "{card}");
    fs::write(dir.path("bad.csv"), format!("own1,own2,own3,own4,own5,own6,opp1,opp2,opp3,opp4,opp5,opp6,value\n{ESCAPE},0,0,0,0,0,0,0,0,0,0,1,0\n")).unwrap();
    clean(&dir.run(&["evaluate", &name, "--positions", "bad.csv"]), SHOWN);
    fs::write(dir.path("bad.game"), format!("game x\nwhat{ESCAPE}\n")).unwrap();
    clean(&dir.run(&["config", "new", "file:bad.game"]), "");
    clean(
        &dir.run_with(
            &["play", "random", "--game", "tictactoe", "--seed", "1"],
            &format!("{ESCAPE}\nquit\n"),
        ),
        SHOWN,
    );
    clean(
        &dir.run_with(&["play", "random", "--game", "tictactoe", "--seed", "1", "--seat", "2"], "quit\n"),
        "",
    );

    let door = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = door.local_addr().unwrap().port().to_string();
    let mut command = dir.command(&["serve", "acpc", "127.0.0.1", &port, "random"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (mut dealer, _) = door.accept().unwrap();
    let mut version = String::new();
    BufReader::new(dealer.try_clone().unwrap()).read_line(&mut version).unwrap();
    dealer.write_all(format!("hello{ESCAPE}\r\n").as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    clean(&output, SHOWN);
}

/// `config check` refuses invalid folder names in experiments and tournaments.
#[test]
fn names_that_cannot_be_folders_are_refused() {
    let dir = Workspace::new();
    let letters = |n: usize| "n".repeat(n);
    for name in
        ["-x", ".x", "x.", "a/b", "a b", "", "CON", "nul.txt", "com1", "ä", &letters(201), &letters(300)]
    {
        let tournament = format!(
            "name = \"{name}\"\ngame = \"tictactoe\"\ngames = 2\nagents = [{{ name = \"ttt\" }}, {{ name = \"random\" }}]\n"
        );
        for text in [alone(name), tournament] {
            fs::write(dir.path("my.toml"), text).unwrap();
            let refused = dir.fails(&["config", "check", "my.toml"], 1);
            assert!(refused.contains("my.toml:1:1: `name`:"), "{name}: {refused}");
        }
    }
    for name in ["_x", "1", "com", "console", "a-b_c.d", &letters(200)] {
        fs::write(dir.path("my.toml"), alone(name)).unwrap();
        dir.text(&["config", "check", "my.toml"]);
        dir.text(&["train", "my.toml", "--seed", "9223372036854765807"]);
    }
}
