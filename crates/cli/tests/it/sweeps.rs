//! `sweep` and `runs compare`, end to end, as a user calls them.

use crate::common::{Desk, configs};
use serde_json::Value;

fn config(name: &str) -> String {
    configs().join(name).to_string_lossy().into_owned()
}

#[test]
fn sweep_ranks_a_grid() {
    let desk = Desk::new();
    let config = config("single-30.toml");
    let games = ["--set", "learn.games=300", "--seeds", "2", "--threads", "2"];
    let grid = ["--set", "learn.rate=0.01,{from=0.02,to=0.001}", "--set", "architecture.mlp.hidden=[4],[5]"];
    let sweep = [&["sweep", &config][..], &games, &grid].concat();
    let result = desk.json(&sweep);
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
        assert!(
            desk.folder.path().join(run).join("run.json").exists() && row["failed"] == Value::Array(vec![])
        );
    }
    assert!(rows[0]["final_mean"].as_f64() >= rows[3]["final_mean"].as_f64());
    // A second call gives the same result. The table shows what varies, and a caution about the winner.
    assert_eq!(desk.json(&sweep), result);
    let table = desk.text(&sweep);
    let header: Vec<&str> = table.lines().next().unwrap().split_whitespace().collect();
    assert_eq!(header, ["learn.rate", "architecture.mlp.hidden", "final", "best", "seconds", "seeds"]);
    assert!(table.contains("{ from = 0.02, to = 0.001 }") && table.contains("--seed 3"), "{table}");
    assert!(desk.folder.path().join("checkpoints/runs/sweep-single-30/sweep.md").exists());
    assert_eq!(desk.json(&["runs", "list"])["runs"].as_array().unwrap().len(), 8);

    // Divergence is a result, not a failure, unless no run is left.
    let linear = ["--set", "architecture={mlp={hidden=[4],output=\"linear\"}}", "--seeds", "1"];
    let wild =
        |rate, out| [&["sweep", &config, "--set", rate, "--out", out][..], &games[..2], &linear].concat();
    let result = desk.json(&wild("learn.rate=1e6,0.01", "one"));
    assert!(result["rows"][1]["failed"][0]["reason"].as_str().unwrap().contains("diverged"));
    assert!(result["rows"][1]["final_mean"].is_null());
    assert!(desk.fails(&wild("learn.rate=1e6,1e7", "all"), 1).contains("all diverged"));

    let other = desk.fails(&["sweep", &config, "--set", "learn.games=300"], 1);
    assert!(other.contains("holds another sweep") && other.contains("--out"), "{other}");
    let fault = desk.fails(&["sweep", &config, "--set", "learn.rate=0.1,fast"], 1);
    assert!(fault.contains("learn.rate=fast"), "{fault}");
    desk.fails(&["sweep", &config, "--seeds", "0"], 2);
}

#[test]
fn runs_compare_tells_settings_and_significance() {
    let desk = Desk::new();
    let config = config("single-30.toml");
    let train = ["train", &config, "--set", "learn.games=300", "--seeds", "3"];
    desk.json(&train);
    desk.json(&[&train[..], &["--set", "learn.rate=0.02", "--out", "fast"]].concat());
    let compare = ["runs", "compare", "single-30", "fast"];
    let found = desk.json(&compare);
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
    // All runs have the same number of games: nothing to test, and no NaN.
    assert!(metrics[4]["metric"] == "games" && metrics[4]["difference"] == 0.0);
    assert!(metrics[4]["ci95"].is_null() && metrics[4]["p"].is_null());
    let table = desk.text(&compare);
    assert!(
        table.contains("learn.rate") && !table.contains("learn.games") && !table.contains("NaN"),
        "{table}"
    );
    assert!(table.contains("final equity") && table.contains("(3)") && table.contains('–'), "{table}");

    let one = desk.text(&["runs", "compare", "checkpoints/runs/single-30-1", "fast/single-30-2"]);
    assert!(one.contains("each side has one seed"), "{one}");
    assert!(desk.fails(&["runs", "compare", "single-31", "fast"], 1).contains("names no runs"));
    desk.fails(&["runs", "compare", "single-30"], 2);
}
