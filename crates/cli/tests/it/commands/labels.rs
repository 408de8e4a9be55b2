//! Labelled positions of games, and runs that learn from them.

use super::screens::{config, workspace};
use crate::common::Workspace;
use std::fs;

fn build(dir: &Workspace, out: &str, more: &[&str]) -> String {
    let args = [&["data", "build", "--with", "small", "--seed", "3", "--out", out], more].concat();
    dir.text(&args);
    fs::read_to_string(dir.path(out)).unwrap()
}

#[test]
fn a_file_is_the_same_with_any_number_of_threads_and_wherever_it_was_stopped() {
    let dir = workspace();
    let all = build(&dir, "all.csv", &["--count", "1500", "--moves", "2", "--threads", "1"]);
    let two = build(&dir, "two.csv", &["--count", "1500", "--moves", "2", "--threads", "2"]);
    // How often it was written is a matter of time.
    let rows = |text: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with("# games:")).map(String::from).collect()
    };
    assert_eq!(rows(&all), rows(&two));
    assert!(rows(&all).len() > 1500 && all.contains("position,value,loss_backgammon,loss_gammon,loss,win"));

    // Longer than requested at first.
    build(&dir, "grown.csv", &["--count", "100", "--moves", "2"]);
    let refused = dir.fails(&["data", "build", "--with", "small", "--seed", "3", "--out", "grown.csv"], 1);
    assert!(refused.contains("continue it with --resume"), "{refused}");
    let refused =
        dir.fails(&["data", "build", "--with", "small", "--seed", "4", "--out", "grown.csv", "--resume"], 1);
    assert!(refused.contains("was made with other options"), "{refused}");
    let grown = build(&dir, "grown.csv", &["--count", "1500", "--moves", "2", "--resume"]);
    assert_eq!(rows(&grown), rows(&all));

    // A process was killed while writing.
    let first = &grown[..grown.find("# games:").unwrap() + 60];
    assert!(first.len() < grown.len());
    fs::write(dir.path("cut.csv.part"), first).unwrap();
    let cut = build(&dir, "cut.csv", &["--count", "1500", "--moves", "2", "--resume"]);
    assert_eq!(rows(&cut), rows(&all));
    assert!(!fs::exists(dir.path("cut.csv.part")).unwrap());

    // Of one network, equal positions have equal values.
    dir.text(&["data", "check", "all.csv", "--game", "backgammon"]);
}

#[test]
fn a_run_learns_from_labelled_positions() {
    let dir = workspace();
    build(&dir, "values.csv", &["--count", "300", "--starts", "rules,back-game"]);
    let rolled = build(&dir, "rolled.csv", &["--count", "20", "--trials", "36", "--truncate", "2"]);
    // A search gives the probabilities at the end of its principal variation.
    let args =
        ["data", "build", "--with", "search:2,root=2,keep=1:small", "--count", "10", "--out", "searched.csv"];
    dir.text(&args);
    let searched = fs::read_to_string(dir.path("searched.csv")).unwrap();
    let expected = |line: &str| {
        let all: Vec<f64> = line.split(',').skip(1).map(|text| text.parse().unwrap()).collect();
        let utilities = [-1.0, -2.0 / 3.0, -1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];
        (all[0], all[1..].iter().zip(utilities).map(|(p, u)| p * u).sum::<f64>())
    };
    for line in searched.lines().filter(|line| !line.starts_with(['#', 'p'])) {
        let (value, of_classes) = expected(line);
        assert!((value - of_classes).abs() < 1e-4, "{line}");
    }
    let sums = rolled.lines().filter(|line| !line.starts_with(['#', 'p'])).map(|line| {
        let (_, numbers) = line.rsplit_once('"').unwrap_or(line.split_once(',').unwrap());
        let all: Vec<f64> =
            numbers.trim_start_matches(',').split(',').map(|text| text.parse().unwrap()).collect();
        assert_eq!(all.len(), 7, "{line}");
        all[1..].iter().sum::<f64>()
    });
    assert!(sums.inspect(|sum| assert!((sum - 1.0).abs() < 1e-5)).count() >= 20);

    let mut all = Vec::new();
    for (run, examples) in [
        ("none", ""),
        ("half", "examples = { file = \"values.csv\", share = 0.5 }"),
        ("heavy", "examples = { file = \"values.csv\", share = 0.5, weight = 3 }"),
        ("rolled", "examples = { file = \"rolled.csv\", share = 1 }"),
        ("steps", "uses = 2\nstep = 128\nexamples = { file = \"values.csv\", share = 0.5 }"),
        (
            "steps-heavy",
            "uses = 2\nstep = 128\nexamples = { file = \"values.csv\", share = 0.5, weight = 3 }",
        ),
    ] {
        fs::write(dir.path("my.toml"), config("my", 4, examples)).unwrap();
        dir.text(&["config", "check", "my.toml"]);
        dir.text(&["train", "my.toml", "--out", run]);
        let weights = format!("{run}/checkpoints/000000001024/weights.safetensors");
        all.push(fs::read(dir.path(&weights)).unwrap());
    }
    assert!((0..all.len()).all(|i| (0..i).all(|j| all[i] != all[j])));
    // The file must be the same when the run resumes.
    dir.run(&["train", "my.toml", "--out", "run", "--max-seconds", "0.000001"]);
    fs::copy(dir.path("rolled.csv"), dir.path("values.csv")).unwrap();
    let error = dir.fails(&["train", "my.toml", "--out", "run", "--resume"], 1);
    assert!(error.contains("values.csv") && error.contains("changed after this run began"), "{error}");

    for (examples, why) in [
        ("file = \"none.csv\", share = 0.5", "none.csv"),
        ("file = \"values.csv\", share = 0", "above 0 and at most 1, found 0"),
        ("file = \"values.csv\", share = 0.5, weight = -1", "lies above 0 and is at most 1000, found -1"),
        ("file = \"\", share = 0.5", "give the path of a CSV file"),
        ("file = \"bad.csv\", share = 0.5", "must name the columns position and value"),
    ] {
        fs::write(dir.path("bad.csv"), "4HPwATDgc/ABMA\n").unwrap();
        fs::write(dir.path("my.toml"), config("my", 4, &format!("examples = {{ {examples} }}"))).unwrap();
        let error = dir.fails(&["config", "check", "my.toml"], 1);
        assert!(error.contains(why), "{examples}: {error}");
    }
}

#[test]
fn what_cannot_be_labelled_is_refused() {
    let dir = workspace();
    for (args, why) in [
        (&["--with", "small", "--truncate", "3"][..], "--truncate is for rollouts: add --trials"),
        (&["--with", "small", "--starts", "back-gam"], "back-game"),
        (&["--with", "none"], "none"),
        (&["--with", "epsilon:0.1:small"], "does not play by its highest value"),
        (
            &["--with", "P", "--game", "liars-dice:openspiel:1-1:6"],
            "has no labelled positions: information is hidden",
        ),
        (
            &["--with", "playouts:5", "--game", "declared:eight-puzzle"],
            "has no labelled positions: it is not a zero-sum game of two players",
        ),
        (
            &["--with", "playouts:5", "--game", "declared:race"],
            "has no labelled positions: it is not a zero-sum game of two players",
        ),
        (&["--with", "small", "--starts", "rules,play:uct:9"], "no distribution of positions `play:uct:9`"),
    ] {
        let error = dir.fails(&[&["data", "build", "--out", "x.csv"], args].concat(), 1);
        assert!(error.contains(why), "{args:?}: {error}");
        assert!(!fs::exists(dir.path("x.csv.part")).unwrap());
    }
    let error = dir.fails(&["data", "build", "--with", "small", "--count", "0", "--out", "x.csv"], 2);
    assert!(error.contains("--count"), "{error}");
}
