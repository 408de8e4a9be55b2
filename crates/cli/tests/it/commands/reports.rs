//! The command `report`: one file with all that runs recorded, and what is refused.

use crate::common::{Desk, configs, number};
use serde_json::Value;
use std::fs;

/// The data in a report.
fn data(html: &str) -> Value {
    let begin = "<script type=\"application/json\" id=\"data\">";
    let (_, rest) = html.split_once(begin).expect("a script with data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    serde_json::from_str(data).unwrap_or_else(|e| panic!("{e}\n{data}"))
}

/// Two experiments of tic-tac-toe, one of two seeds; a description tries to end the script.
#[test]
fn a_report_holds_curves_figures_and_how_to_repeat_them() {
    let desk = Desk::new();
    let config = configs().join("hme-2x40-st3.toml").to_string_lossy().into_owned();
    let about = "about=\"</script><b>bold</b>\"";
    let short = ["--set", "learn.td.games=2000", "--set", "evaluate.every=500", "--set", about];
    let seeds = ["train", &config, "--seeds", "2", "--out", "my runs"];
    desk.json(&[&seeds[..], &short].concat());
    let outcomes = "name = \"classes\"\nhead = \"outcomes\"\ngame = { rules = \"tictactoe\", encoder = \"fields\" }\n\
                    architecture = { mlp = { hidden = [8] } }\nlearn = { rate = 0.01, td.games = 1000, td.lambda = 0.5 }\n";
    fs::write(desk.path("classes.toml"), outcomes).unwrap();
    desk.json(&["train", "classes.toml"]);

    let written = desk.json(&["report", "my runs", "classes", "--mark", "tic=0.5", "--out", "report.html"]);
    assert_eq!((&written["file"], &written["runs"]), (&"report.html".into(), &3.into()), "{written}");
    let html = fs::read_to_string(desk.path("report.html")).unwrap();
    assert_eq!(written["bytes"].as_u64(), Some(html.len() as u64));
    assert!(!html.contains("<b>bold") && html.contains("\\u003cb>bold"));
    let found = data(&html);

    // The mean of two seeds with its band, and both seeds.
    let picture = &found["pictures"][0];
    assert_eq!(picture["up"], "equity against ttt");
    let [mean, rest @ ..] = &picture["series"].as_array().unwrap()[..] else { panic!("{picture}") };
    assert_eq!((&mean["name"], &mean["faint"], rest.len()), (&"hme-2x40-st3".into(), &false.into(), 2));
    let points = mean["points"].as_array().unwrap();
    assert!(points.len() >= 4 && mean["band"].as_array().unwrap().len() == points.len(), "{mean}");
    let last = |series: &Value| number(&series["points"].as_array().unwrap().last().unwrap()[1]);
    assert!((last(mean) - (last(&rest[0]) + last(&rest[1])) / 2.0).abs() < 1e-5, "{picture}");
    let marks = format!("{}{}", picture["marks"], picture["outside"]);
    assert!(marks.contains("random play") && marks.contains("best possible") && marks.contains("tic 0.5"));

    // The same figure in the table, over both seeds.
    let row = &found["table"]["main"][0];
    assert_eq!(row["name"], "equity against ttt, at the end");
    assert!((number(&row["cells"][0]["mean"]) - last(mean)).abs() < 1e-5 && row["cells"][0]["n"] == 2);

    let [hme, classes] = &found["experiments"].as_array().unwrap()[..] else { panic!("{found}") };
    assert_eq!(hme["experts"]["ends"].as_array().unwrap().len(), 2);
    assert!(hme["outcomes"].is_null() && classes["outcomes"].is_null() && classes["experts"].is_null());
    assert_eq!(hme["commands"][0], "adept train hme-2x40-st3.toml --seed 1 --seeds 2");
    assert_eq!(found["command"], "adept report 'my runs' classes --mark 'tic=0.5' --out report.html");
    let left_out = found["left_out"].as_array().unwrap();
    assert_eq!(left_out[1], "calibration: not measured; --measure does that", "{left_out:?}");

    // The config repeats the runs.
    fs::write(desk.path("again.toml"), hme["config"].as_str().unwrap()).unwrap();
    desk.json(&["train", "again.toml", "--seed", "1", "--out", "again"]);
    let metrics = |run: &str| fs::read_to_string(desk.path(run)).unwrap();
    let numbers = |text: String| -> Vec<Value> {
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["equity"].clone()).collect()
    };
    let first = numbers(metrics("my runs/hme-2x40-st3-1/metrics.jsonl"));
    assert_eq!(numbers(metrics("again/metrics.jsonl")), first);

    // Seeds that are given one by one are one experiment, and each run counts once.
    let seeds = ["my runs/hme-2x40-st3-2", "my runs/hme-2x40-st3-1", "my runs"];
    let joined = desk.json(&[&["report"], &seeds[..], &["--out", "joined.html"]].concat());
    assert_eq!((&joined["experiments"], &joined["runs"]), (&1.into(), &2.into()), "{joined}");

    // What is measured now, in place of an earlier report.
    desk.json(&["report", "classes", "--measure", "--out", "report.html"]);
    let found = data(&fs::read_to_string(desk.path("report.html")).unwrap());
    let classes = found["experiments"][0]["outcomes"]["classes"].as_array().unwrap();
    assert_eq!(classes.iter().map(|class| &class["name"]).collect::<Vec<_>>(), ["loss", "draw", "win"]);
    assert!(number(&classes[0]["bins"][0]["count"]) > 0.0);
    assert!(!found["table"]["measured"].as_array().unwrap().is_empty());
}

#[test]
fn a_report_of_no_runs_is_refused() {
    let desk = Desk::new();
    fs::write(desk.path("report.html"), "mine").unwrap();
    let error = desk.fails(&["report", "nothing", "--out", "report.html"], 1);
    assert!(error.contains("nothing: names no runs"), "{error}");
    assert!(desk.fails(&["report", "nothing", "--out", "report.svg"], 1).contains(".html"));
    desk.fails(&["report", "--out", "report.html"], 2);
    assert_eq!(fs::read_to_string(desk.path("report.html")).unwrap(), "mine");
}
