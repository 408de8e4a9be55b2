//! Small networks as move filters for large ones, and games from rare positions.

use crate::common::{Workspace, number};
use std::fs;

/// A config of backgammon with these hidden units and settings of the method.
pub(crate) fn config(name: &str, hidden: u32, method: &str) -> String {
    format!(
        "name = \"{name}\"\nseed = 1\nhead = \"outcomes\"\n[game]\nrules = \"backgammon\"\n[architecture.mlp]\nhidden = [{hidden}]\n\
         [learn]\noptimiser = \"adam\"\nrate = 0.01\nbatch = 512\nshards = 2\n[learn.expectation]\nsamples = 1024\nstarts = \"rules\"\n\
         {method}\n[evaluate]\nsuites = []\n"
    )
}

/// A workspace with a small network `small`.
pub(crate) fn workspace() -> Workspace {
    let dir = Workspace::new();
    fs::write(dir.path("small.toml"), config("small", 4, "")).unwrap();
    dir.text(&["train", "small.toml"]);
    dir
}

#[test]
fn a_screened_run_is_the_same_with_any_number_of_threads_and_goes_on_with_the_same_screen() {
    let dir = workspace();
    fs::write(dir.path("my.toml"), config("my", 8, "screen = { checkpoint = \"small\", keep = 3 }")).unwrap();
    let weights = |run: &str| {
        let latest = dir.path(&format!("{run}/checkpoints/000000001024/weights.safetensors"));
        fs::read(latest).unwrap()
    };
    dir.text(&["train", "my.toml", "--out", "one", "--threads", "1"]);
    dir.text(&["train", "my.toml", "--out", "two", "--threads", "2"]);
    assert!(weights("one") == weights("two"));
    // A filter that keeps all moves changes nothing, and one that keeps few does.
    let keep = |n: u32| format!("learn.expectation.screen.keep={n}");
    dir.text(&["train", "my.toml", "--out", "all", "--set", &keep(10_000)]);
    fs::write(dir.path("plain.toml"), config("my", 8, "")).unwrap();
    dir.text(&["train", "plain.toml", "--out", "plain"]);
    assert!(weights("all") == weights("plain") && weights("one") != weights("plain"));

    // Relative to the config, and recorded with its checksum.
    fs::create_dir(dir.path("near")).unwrap();
    fs::rename(dir.path("checkpoints/runs/small-1"), dir.path("near/little")).unwrap();
    fs::write(dir.path("near/my.toml"), config("my", 8, "screen = { checkpoint = \"little\", keep = 3 }"))
        .unwrap();
    dir.run(&["train", "near/my.toml", "--out", "run", "--max-seconds", "0.000001"]);
    let record: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(dir.path("run/run.json")).unwrap()).unwrap();
    assert_eq!(record["opponents"][0]["setting"], "learn.expectation.screen.checkpoint");
    fs::rename(dir.path("near/little"), dir.path("kept")).unwrap();
    dir.text(&["train", "small.toml", "--seed", "2", "--out", "near/little"]);
    let resume = ["train", "near/my.toml", "--out", "run", "--resume"];
    let error = dir.fails(&resume, 1);
    assert!(error.contains("whose screen `learn.expectation.screen.checkpoint` was"), "{error}");
    fs::remove_dir_all(dir.path("near/little")).unwrap();
    fs::rename(dir.path("kept"), dir.path("near/little")).unwrap();
    dir.text(&resume);
    assert!(weights("run") == weights("one"));
}

#[test]
fn a_screen_that_cannot_be_is_refused() {
    let dir = workspace();
    fs::write(dir.path("ttt.toml"), "name = \"ttt\"\ngame.rules = \"tictactoe\"\narchitecture.mlp = { hidden = [2] }\nlearn = { rate = 1, td = { games = 1 } }\n").unwrap();
    dir.text(&["train", "ttt.toml"]);
    for (screen, why) in [
        (
            "checkpoint = \"small\", keep = 0",
            "`learn.expectation.screen.keep`: must lie in 1..10000, found 0",
        ),
        ("checkpoint = \"smal\", keep = 2", "did you mean `small-1`?"),
        (
            "checkpoint = \"pubeval\", keep = 2",
            "is not a checkpoint or run, whose network picks the candidates",
        ),
        ("checkpoint = \"search:2:small\", keep = 2", "is not a checkpoint or run"),
        ("checkpoint = \"ttt\", keep = 2", "is a checkpoint for game `tictactoe`, expected `backgammon`"),
        ("checkpoint = \"small\"", "`keep`"),
        ("chekpoint = \"small\", keep = 2", "checkpoint"),
    ] {
        fs::write(dir.path("my.toml"), config("my", 8, &format!("screen = {{ {screen} }}"))).unwrap();
        let error = dir.fails(&["config", "check", "my.toml"], 1);
        assert!(error.contains(why), "{screen}: {error}");
        assert!(!dir.run(&["train", "my.toml"]).status.success(), "{screen}");
    }
}

#[test]
fn agents_play_behind_a_screen_and_what_it_loses_is_measured() {
    let dir = workspace();
    fs::write(dir.path("large.toml"), config("large", 8, "")).unwrap();
    dir.text(&["train", "large.toml"]);
    let text = dir.text(&["decisions", "screen", "small", "large", "--count", "100"]);
    assert!(text.contains("best kept %") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let screen = |small: &str, more: &[&str]| {
        let all = [&["decisions", "screen", small, "large", "--count", "100"], more].concat();
        dir.json(&all)["keep"].as_array().unwrap().clone()
    };
    let usual = screen("small", &[]);
    let kept: Vec<u64> = usual.iter().map(|row| row["keep"].as_u64().unwrap()).collect();
    assert_eq!(kept, [2, 3, 5, 8]);
    for pair in usual.windows(2) {
        assert!(number(&pair[0]["found"]) <= number(&pair[1]["found"]));
        assert!(number(&pair[0]["loss"]) >= number(&pair[1]["loss"]));
    }
    assert!(number(&usual[0]["found"]) < 1.0 && number(&usual[0]["loss"]) > 0.0, "{usual:?}");
    // A network as its own filter loses nothing.
    let own = screen("large", &["--keep", "1"]);
    assert_eq!((number(&own[0]["found"]), number(&own[0]["loss"])), (1.0, 0.0));
    assert!(
        dir.fails(&["decisions", "screen", "pubeval", "large"], 1).contains("does not play by its highest")
    );

    let best = |agent: &str| {
        let found = dir.json(&["moves", agent, "4HPwATDgc/ABMA", "31", "--game", "backgammon"]);
        found["moves"][0]["move"].as_str().unwrap().to_string()
    };
    assert_eq!(best("screen:10000:small:large"), best("large"));
    // People see the values of all moves, also of filtered ones.
    assert_eq!(best("screen:1:small:large"), best("large"));
    let scores = |agent: &str| {
        let agents =
            format!("[{{ name = \"a\", agent = \"{agent}\" }}, {{ name = \"b\", agent = \"small\" }}]");
        let text = format!("name = \"t\"\ngame = \"backgammon\"\ngames = 20\nagents = {agents}\n");
        fs::write(dir.path("t.toml"), text).unwrap();
        let out = format!("match-{}", agent.replace(':', "-"));
        number(&dir.json(&["arena", "t.toml", "--out", &out])["pairs"][0]["score"])
    };
    assert!(best("small") != best("large") && scores("large") != 0.0);
    assert_eq!(scores("screen:1:small:large"), 0.0, "it plays as the small one does");
    assert_eq!(best("search:2:screen:10000:small:large"), best("search:2:large"));
    for (agent, why) in [
        ("screen:0:small:large", "screen:K:SMALL:LARGE"),
        ("screen:2:pubeval:large", "`pubeval` is not a checkpoint, which a screen must be"),
        ("screen:2:small:search:2:large", "`search:` comes first"),
    ] {
        let error = dir.fails(&["moves", agent, "4HPwATDgc/ABMA", "31", "--game", "backgammon"], 1);
        assert!(error.contains(why), "{agent}: {error}");
    }
}

#[test]
fn games_begin_at_rare_positions() {
    let dir = Workspace::new();
    let weights = |run: &str| {
        fs::read(dir.path(&format!("{run}/checkpoints/000000001024/weights.safetensors"))).unwrap()
    };
    let mut all = Vec::new();
    for (run, rare) in [
        ("none", ""),
        ("drawn", "rare = { share = 0.5, distributions = [\"back-game\", \"prime\"] }"),
        ("file", "rare = { share = 0.5, file = \"rare.txt\" }"),
        ("both", "rare = { share = 0.5, distributions = [\"crashed\"], file = \"rare.txt\" }"),
    ] {
        fs::write(dir.path("rare.txt"), "4HPwATDgc/ABMA\n24:2 1:13/6:15\n").unwrap();
        fs::write(dir.path("my.toml"), config("my", 4, rare)).unwrap();
        dir.text(&["config", "check", "my.toml"]);
        dir.text(&["train", "my.toml", "--out", run]);
        all.push(weights(run));
    }
    assert!((0..4).all(|i| (0..i).all(|j| all[i] != all[j])));
    // The file must be the same when the run resumes.
    let method = "rare = { share = 0.5, file = \"rare.txt\" }";
    fs::write(dir.path("my.toml"), config("my", 4, method)).unwrap();
    dir.run(&["train", "my.toml", "--out", "run", "--max-seconds", "0.000001"]);
    fs::write(dir.path("rare.txt"), "4HPwATDgc/ABMA\n").unwrap();
    let error = dir.fails(&["train", "my.toml", "--out", "run", "--resume"], 1);
    assert!(error.contains("rare.txt") && error.contains("changed after this run began"), "{error}");

    for (rare, why) in [
        ("share = 0, distributions = [\"prime\"]", "is a share of the games, above 0 and at most 1, found 0"),
        ("share = 1.5, distributions = [\"prime\"]", "above 0 and at most 1, found 1.5"),
        ("share = 0.1", "names no positions: write `distributions`, of random, back-game"),
        ("share = 0.1, distributions = [\"primes\"]", "did you mean `prime`?"),
        ("share = 0.1, distributions = [\"prime\", \"prime\"]", "names `prime` a second time"),
        ("share = 0.1, file = \"none.txt\"", "none.txt"),
        ("share = 0.1, file = \"over.txt\"", "position 2 `off:15/1:15` is over"),
        ("share = 0.1, file = \"rolled.txt\"", "leave out the roll"),
        ("share = 0.1, file = \"empty.txt\"", "empty.txt"),
        ("share = 0.1, file = \"bad.txt\"", "line 1"),
    ] {
        fs::write(dir.path("over.txt"), "4HPwATDgc/ABMA\noff:15/1:15\n").unwrap();
        fs::write(dir.path("rolled.txt"), "4HPwATDgc/ABMA 31\n").unwrap();
        fs::write(dir.path("empty.txt"), "").unwrap();
        fs::write(dir.path("bad.txt"), "hello\n").unwrap();
        fs::write(dir.path("my.toml"), config("my", 4, &format!("rare = {{ {rare} }}"))).unwrap();
        let error = dir.fails(&["config", "check", "my.toml"], 1);
        assert!(error.contains(why), "{rare}: {error}");
    }
}
