//! `sweep` and `runs compare`, end to end, as a user calls them.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_adept")).args(args).current_dir(folder).output().unwrap()
}

fn text(folder: &Path, args: &[&str]) -> String {
    let output = run(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Exactly one JSON object on stdout.
fn json(folder: &Path, args: &[&str]) -> Value {
    let text = text(folder, &[args, &["--json"]].concat());
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}\n{text}"))
}

fn fails(folder: &Path, args: &[&str], code: i32) -> String {
    let output = run(folder, args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {error}");
    error
}

fn config(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../configs/tictactoe").join(name);
    path.to_string_lossy().into_owned()
}

#[test]
fn sweep_ranks_a_grid() {
    let folder = tempfile::tempdir().unwrap();
    let desk = folder.path();
    let config = config("single-30.toml");
    let games = ["--set", "learn.games=300", "--seeds", "2", "--threads", "2"];
    let grid = ["--set", "learn.rate=0.01,{from=0.02,to=0.001}", "--set", "architecture.mlp.hidden=[4],[5]"];
    let sweep = [&["sweep", &config][..], &games, &grid].concat();
    let result = json(desk, &sweep);
    assert_eq!(result["sweep"], "checkpoints/runs/sweep-single-30");
    assert_eq!((&result["metric"], &result["against"]), (&"equity".into(), &"ttt".into()));
    let rows = result["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert!(row["settings"]["learn.rate"].is_number() || row["settings"]["learn.rate"]["from"] == 0.02);
        assert_eq!(row["seeds"], 2);
        for key in ["final_mean", "final_sd", "best_mean", "seconds"] {
            assert!(row[key].is_number(), "{key}: {row}");
        }
        let run = row["runs"][0].as_str().unwrap();
        assert!(desk.join(run).join("run.json").exists() && row["failed"] == Value::Array(vec![]));
    }
    assert!(rows[0]["final_mean"].as_f64() >= rows[3]["final_mean"].as_f64());
    // The same again gives the result; the table shows what varies, and what to think of the winner.
    assert_eq!(json(desk, &sweep), result);
    let table = text(desk, &sweep);
    let header: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["learn.rate", "architecture.mlp.hidden", "final", "best", "seconds", "seeds"]);
    assert!(table.contains("{ from = 0.02, to = 0.001 }") && table.contains("--seed 3 on"), "{table}");
    assert!(desk.join("checkpoints/runs/sweep-single-30/sweep.md").exists());
    assert_eq!(json(desk, &["runs", "list"])["runs"].as_array().unwrap().len(), 8);

    // Divergence is a finding, not a failure, unless nothing is left.
    let linear = ["--set", "architecture={mlp={hidden=[4],output=\"linear\"}}", "--seeds", "1"];
    let wild =
        |rate, out| [&["sweep", &config, "--set", rate, "--out", out][..], &games[..2], &linear].concat();
    let result = json(desk, &wild("learn.rate=1e6,0.01", "one"));
    assert!(result["rows"][1]["failed"][0]["reason"].as_str().unwrap().contains("diverged"));
    assert!(result["rows"][1]["final_mean"].is_null());
    assert!(fails(desk, &wild("learn.rate=1e6,1e7", "all"), 1).contains("all diverged"));

    let other = fails(desk, &["sweep", &config, "--set", "learn.games=300"], 1);
    assert!(other.contains("holds another sweep") && other.contains("--out"), "{other}");
    let fault = fails(desk, &["sweep", &config, "--set", "learn.rate=0.1,fast"], 1);
    assert!(fault.contains("learn.rate=fast"), "{fault}");
    fails(desk, &["sweep", &config, "--seeds", "0"], 2);
}

#[test]
fn runs_compare_tells_settings_and_significance() {
    let folder = tempfile::tempdir().unwrap();
    let desk = folder.path();
    let config = config("single-30.toml");
    let train = ["train", &config, "--set", "learn.games=300", "--seeds", "3"];
    json(desk, &train);
    json(desk, &[&train[..], &["--set", "learn.rate=0.02", "--out", "fast"]].concat());
    let compare = ["runs", "compare", "single-30", "fast"];
    let found = json(desk, &compare);
    let keys: Vec<&str> =
        found["config"].as_array().unwrap().iter().map(|d| d["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["learn.rate"]);
    assert_eq!(
        (&found["config"][0]["a"]["from"].is_number(), &found["config"][0]["b"]),
        (&true, &0.02.into())
    );
    assert_eq!(found["runs"]["a"][0], "checkpoints/runs/single-30-1");
    assert_eq!(found["runs"]["b"].as_array().unwrap().len(), 3);
    let metrics = found["metrics"].as_array().unwrap();
    assert_eq!(metrics[0]["metric"], "final_equity");
    assert_eq!(metrics[0]["a"]["n"], 3);
    assert!(metrics[0]["difference"].is_number() && metrics[0]["b"]["sd"].is_number());
    assert!(metrics[0]["ci95"][1].is_number() && metrics[0]["p"].is_number());
    // Games are the same in all runs: nothing to test, and no NaN.
    assert!(metrics[4]["metric"] == "games" && metrics[4]["difference"] == 0.0);
    assert!(metrics[4]["ci95"].is_null() && metrics[4]["p"].is_null());
    let table = text(desk, &compare);
    assert!(
        table.contains("learn.rate") && !table.contains("learn.games") && !table.contains("NaN"),
        "{table}"
    );
    assert!(table.contains("final equity") && table.contains("(3)") && table.contains('–'), "{table}");

    let one = text(desk, &["runs", "compare", "checkpoints/runs/single-30-1", "fast/single-30-2"]);
    assert!(one.contains("each side has one seed"), "{one}");
    assert!(fails(desk, &["runs", "compare", "single-31", "fast"], 1).contains("names no runs"));
    fails(desk, &["runs", "compare", "single-30"], 2);
}
