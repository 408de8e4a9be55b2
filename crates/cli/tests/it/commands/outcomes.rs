//! The head `outcomes`: the names of classes, log loss and calibration in every answer, and what is refused.

use crate::common::{Desk, number};
use serde_json::{Value, json};
use std::fs;

const CLASSES: [&str; 3] = ["loss", "draw", "win"];

/// A short run of tic-tac-toe.
const TICTACTOE: &str = r#"name = "outcomes"
about = "of a test"
head = "outcomes"
[game]
rules = "tictactoe"
encoder = "fields"
[architecture.mlp]
hidden = [20]
[learn]
rate = { from = 0.02, to = 0.001 }
[learn.td]
games = 5_000
lambda = 0.5
along = "both"
"#;

/// Connect Four from a file of examples, which line 9 names.
const EXAMPLES: &str = r#"name = "examples"
head = "outcomes"
game = { rules = "connect-four" }
architecture = { mlp = { hidden = [2] } }
evaluate = { games = 10 }
[learn]
rate = 0.01
supervised.samples = 4
supervised.examples = "rows.csv"
"#;

/// A desk with a trained network in the folder `run`.
fn trained() -> Desk {
    let desk = Desk::new();
    fs::write(desk.path("outcomes.toml"), TICTACTOE).unwrap();
    desk.text(&["train", "outcomes.toml", "--out", "run"]);
    desk
}

/// What a run has as its loss is the log loss, which can be drawn.
#[test]
fn the_log_loss_of_a_run_is_drawn() {
    let desk = trained();
    let metrics = fs::read_to_string(desk.path("run/metrics.jsonl")).unwrap();
    let lines = metrics.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let losses: Vec<(u64, f64)> =
        lines.filter_map(|line| Some((line["step"].as_u64()?, line["loss"].as_f64()?))).collect();
    // Below that of equal probabilities, ln 3, and above 0.
    assert!(losses.len() > 1 && losses.iter().all(|(_, loss)| (0.0..3f64.ln()).contains(loss)), "{losses:?}");
    let drawn = desk.json(&["runs", "plot", "run", "--loss", "--out", "loss.svg"]);
    let curve = &drawn["curves"][0];
    assert_eq!(curve["figure"], "loss");
    let points: Vec<(u64, f64)> = curve["points"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| (p["step"].as_u64().unwrap(), number(&p["mean"])))
        .collect();
    assert_eq!(points, losses);
    let svg = fs::read_to_string(desk.path("loss.svg")).unwrap();
    let [curve] = &curves(&svg)[..] else { panic!("{svg}") };
    assert!(svg.contains("log loss on what was learned from") && curve.len() == losses.len(), "{svg}");
    // Losses go down, so points go down in the picture, in which y grows downwards.
    let [first, last] = [losses[0].1, losses[losses.len() - 1].1];
    assert_eq!(last < first, curve[curve.len() - 1].1 > curve[0].1, "{losses:?}");
    assert!(desk.text(&["runs", "plot", "run", "--loss"]).contains("log loss on what was learned from"));
    assert!(!desk.text(&["runs", "plot", "run"]).contains("log loss"));
    desk.fails(&["runs", "plot", "run", "--loss", "--values"], 2);
}

/// The curves of a drawing, in points of the picture: the widest lines of the plot that are not in its legend.
fn curves(svg: &str) -> Vec<Vec<(f64, f64)>> {
    let drawn =
        svg.lines().filter(|line| line.starts_with("<polyline") && line.contains("stroke-width=\"2\""));
    let point = |text: &str| {
        let (x, y) = text.split_once(',').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    let points = |line: &str| line.split("points=\"").nth(1).unwrap().split('"').next().unwrap().to_string();
    drawn.map(|line| points(line).split_whitespace().map(point).collect()).collect()
}

#[test]
fn evaluate_measures_and_draws_calibration() {
    let desk = trained();
    let evaluate = ["evaluate", "run", "--samples", "100", "--calibration", "drawn.svg"];
    let report = desk.json(&evaluate);
    let found = &report["outcomes"];
    let losses = ["log_loss", "log_loss_constant", "log_loss_least"].map(|key| number(&found[key]));
    // Results of games are certain, so their entropy is 0.
    assert!(losses[0] > 0.0 && losses[1] > 0.0 && losses[2] == 0.0, "{found}");
    let rows = found["rows"].as_u64().unwrap();
    let classes = found["classes"].as_array().unwrap();
    assert!(rows > 0 && classes.len() == 3, "{found}");
    for key in ["predicted", "observed"] {
        let sum: f64 = classes.iter().map(|class| number(&class[key])).sum();
        assert!((sum - 1.0).abs() < 1e-4, "{key}: {found}");
    }

    // The text gives the same numbers.
    let text = desk.text(&evaluate);
    assert!(text.contains(&format!("outcomes, by {rows} positions: results of 100 games")), "{text}");
    let line = format!(
        "log loss {:.4}; {:.4} by always the same probabilities, at least {:.4}\n",
        losses[0], losses[1], losses[2]
    );
    assert!(text.contains(&line), "{line}{text}");
    let lines: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let shown = |cells: String| assert!(lines.contains(&cells), "{cells}\n{text}");
    // The file is a drawing, whose diagonal says where 0 and 1 are. Each other curve has a point for each bin.
    let svg = fs::read_to_string(desk.path("drawn.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
    let drawn = curves(&svg);
    let (low, high) = (drawn[0][0], drawn[0][1]);
    assert_eq!((drawn.len(), drawn[0].len()), (4, 2), "{svg}");
    for ((class, name), curve) in classes.iter().zip(CLASSES).zip(&drawn[1..]) {
        assert_eq!(class["name"], name);
        assert!(svg.lines().any(|line| line == name), "{name}: {svg}");
        let four = |value: &Value, key: &str| format!("{:.4}", number(&value[key]));
        let errors = ["predicted", "observed", "rms", "log_loss"].map(|key| four(class, key));
        shown(format!("{name} {}", errors.join(" ")));
        let bins = class["calibration"].as_array().unwrap();
        let of = |bin: &Value| bin["rows"].as_u64().unwrap();
        assert_eq!((bins.iter().map(of).sum::<u64>(), bins.len()), (rows, curve.len()), "{name}");
        let mean: f64 = bins.iter().map(|bin| of(bin) as f64 * number(&bin["predicted"])).sum();
        assert!((mean / rows as f64 - number(&class["predicted"])).abs() < 1e-9, "{class}");
        for (bin, (x, y)) in bins.iter().zip(curve) {
            let (from, to) = (number(&bin["from"]), number(&bin["to"]));
            let [p, observed] = ["predicted", "observed"].map(|key| number(&bin[key]));
            assert!((from..=to).contains(&p), "{bin}");
            let [p_text, observed_text] = ["predicted", "observed"].map(|key| four(bin, key));
            shown(format!("{name} {from:.1} to {to:.1} {} {p_text} {observed_text}", of(bin)));
            let at = |share: f64, low: f64, high: f64| low + share * (high - low);
            let off = (x - at(p, low.0, high.0)).abs().max((y - at(observed, low.1, high.1)).abs());
            assert!(off <= 1.5, "{bin} is drawn at {x},{y}");
        }
    }
}

#[test]
fn values_and_hints_name_the_classes() {
    let desk = trained();
    let found = desk.json(&["value", "run", "X...O....", "XX.OO...."])["values"].clone();
    let moves = found[0]["moves"].as_array().unwrap();
    assert_eq!((&found[0]["class_names"], moves.len()), (&json!(CLASSES), 7));
    for (of, outcomes) in [(&found[0], &moves[0]["outcomes"]), (&moves[2], &moves[2]["outcomes"])] {
        let named = CLASSES.iter().zip(outcomes.as_array().unwrap());
        assert!(
            named.clone().count() == 3 && named.clone().all(|(name, p)| of["classes"][name] == *p),
            "{of}"
        );
    }
    let text = desk.text(&["value", "run", "X...O....", "XX.OO...."]);
    for choice in moves {
        let p: Vec<f64> = choice["outcomes"].as_array().unwrap().iter().map(number).collect();
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-5 && p.len() == 3, "{choice}");
        assert!((p[2] - p[0] - number(&choice["value"])).abs() < 1e-5, "{choice}");
        let shares: String =
            CLASSES.iter().zip(&p).map(|(name, p)| format!("  {name} {:.2} %", 100.0 * p)).collect();
        assert!(text.contains(&format!("{:+.4}{shares}\n", number(&choice["value"]))), "{shares}\n{text}");
    }
    // A move that ends the game is worth its result.
    let wins = found[1]["moves"].as_array().unwrap().iter().find(|choice| choice["action"] == "3").unwrap();
    assert!(number(&wins["value"]) == 1.0 && wins.get("outcomes").is_none(), "{wins}");
    assert_eq!(wins["classes"], json!({ "loss": 0.0, "draw": 0.0, "win": 1.0 }));

    let output = desk.run_with(&["play", "run", "--hints", "--seed", "1"], "5\nquit\n");
    let said = String::from_utf8(output.stdout).unwrap();
    // A move of the person, before anything is played, and the reply of the network.
    let first = &desk.json(&["value", "run", "........."])["values"][0]["moves"];
    let corner = first.as_array().unwrap().iter().find(|choice| choice["action"] == "1").unwrap();
    let shares = |choice: &Value| {
        let share =
            |(k, name): (usize, &&str)| format!("{name} {:.0} %", 100.0 * number(&choice["outcomes"][k]));
        ["loses", "draws", "wins"].iter().enumerate().map(share).collect::<Vec<_>>().join(", ")
    };
    assert!(said.contains(&format!("1{:+.3}  {}", number(&corner["value"]), shares(corner))), "{said}");
    let reply = said.lines().find(|line| line.contains("It moves ")).unwrap();
    let square = reply.split("It moves ").nth(1).unwrap().split('.').next().unwrap();
    let replies = &desk.json(&["value", "run", "....X....@5"])["values"][0]["moves"];
    let reply_of = replies.as_array().unwrap().iter().find(|choice| choice["action"] == square).unwrap();
    let worth = format!("It thinks this is worth {:+.3}, {}.", number(&reply_of["value"]), shares(reply_of));
    assert!(reply.contains(&worth), "{worth}\n{reply}");
}

#[test]
fn cards_and_descriptions_name_the_classes() {
    let desk = trained();
    desk.text(&["publish", "run", "--out", "published"]);
    let card = fs::read_to_string(desk.path("published/card.md")).unwrap();
    assert!(
        card.contains("- gives the probabilities of outcomes: loss (-1), draw (+0), win (+1)\n"),
        "{card}"
    );
    // What the card says is what anybody measures.
    let found = desk.json(&["evaluate", "published"])["outcomes"].clone();
    let from = found["from"].as_str().unwrap();
    let line = format!("Log loss of outcomes, by {from}: {:.4}; ", number(&found["log_loss"]));
    assert!(card.contains(&line), "{line}\n{card}");
    for (class, name) in found["classes"].as_array().unwrap().iter().zip(CLASSES) {
        let cells =
            ["predicted", "observed", "rms", "log_loss"].map(|key| format!("{:.4}", number(&class[key])));
        let row = format!("| {name} | {} |\n", cells.join(" | "));
        assert!(card.contains(&row), "{row}\n{card}");
    }
    assert!(desk.text(&["describe", "published"]).contains("outcomes loss (-1), draw (+0), win (+1)\n"));
    let manifest: Value =
        serde_json::from_slice(&fs::read(desk.path("published/manifest.json")).unwrap()).unwrap();
    let classes = manifest["head"]["outcomes"].as_array().unwrap();
    let of: Vec<_> =
        classes.iter().map(|class| (&class["name"], number(&class["utility"]), &class["mirror"])).collect();
    let expected = [("loss", -1.0, 2), ("draw", 0.0, 1), ("win", 1.0, 0)];
    for (found, (name, utility, mirror)) in of.into_iter().zip(expected) {
        assert_eq!(found, (&json!(name), utility, &json!(mirror)));
    }
}

#[test]
fn what_outcomes_cannot_do_is_refused_before_training() {
    let desk = Desk::new();
    fs::write(desk.path("outcomes.toml"), TICTACTOE).unwrap();
    for (key, line, why) in [
        ("clip = 0.9", "learn.td.clip", "whose softmax is never saturated"),
        ("discount = 0.9", "learn.td.discount", "does not add up to 1"),
    ] {
        fs::write(desk.path("refused.toml"), format!("{TICTACTOE}{key}\n")).unwrap();
        for command in [&["config", "check", "refused.toml"][..], &["train", "refused.toml", "--out", "none"]]
        {
            let said = desk.run(command);
            let said = [said.stdout, said.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
            assert!(said.contains(&format!("refused.toml:15:1: `{line}`: ")) && said.contains(why), "{said}");
        }
        desk.fails(&["train", "refused.toml", "--out", "none"], 1);
    }
    // Games whose results are not a few classes say why, at the line that asks for them.
    let others = TICTACTOE.replace("encoder = \"fields\"\n", "");
    for (game, why) in [
        ("holdem:limit:2", "a deal wins or loses any number of bets, so its results are not a few classes"),
        ("kuhn", "kuhn: "),
    ] {
        fs::write(desk.path("refused.toml"), others.replace("tictactoe", game)).unwrap();
        let said = desk.fails(&["train", "refused.toml", "--out", "none"], 1);
        assert!(said.contains("refused.toml:3:1: `head`: ") && said.contains(why), "{said}");
    }
    assert!(!desk.folder.path().join("none").exists());
    // A network of values has nothing to calibrate.
    let value = desk.trained("single-30.toml", 200);
    let said = desk.fails(&["evaluate", &value, "--calibration", "drawn.svg"], 1);
    assert!(said.contains("--calibration is for networks with `head = \"outcomes\"`"), "{said}");
    assert!(!desk.folder.path().join("drawn.svg").exists());
}

#[test]
fn faults_of_example_files_name_file_and_line() {
    let desk = Desk::new();
    fs::write(desk.path("examples.toml"), EXAMPLES).unwrap();
    let train = ["train", "examples.toml", "--out", "run"];
    for (table, why) in [
        (
            "position,loss,draw,win\n4444,0.5,0.3,0.2\n444,0.5,0.3,0.3\n",
            "rows.csv: line 3: the probabilities of its outcomes add up to 1.1, expected 1",
        ),
        (
            "position,loss,draw,win\n4444,0.5,0.3,0.2\n444,0.5,0.6,-0.1\n",
            "rows.csv: line 3: `-0.1` is not a probability from 0 to 1",
        ),
        (
            "position,loss,gammon,win\n4444,0.5,0.3,0.2\n",
            "rows.csv: it has columns for some outcomes, and none for `draw`",
        ),
        (
            "position,gammon\n4444,0.5\n",
            "rows.csv: the first line is `position,gammon`; it must name the columns position and value (or win, or loss, draw, win)",
        ),
    ] {
        fs::write(desk.path("rows.csv"), table).unwrap();
        let said = desk.fails(&train, 1);
        assert!(
            said.contains("examples.toml:9:12: `learn.supervised.examples`: ") && said.contains(why),
            "{said}"
        );
    }
    assert!(!desk.folder.path().join("run").exists());

    // Columns that no class has are left out, and said to be.
    let rows: String = (1..8).flat_map(|a| (1..8).map(move |b| format!("{a}{b},0.5,0.3,0.2,0\n"))).collect();
    fs::write(desk.path("rows.csv"), format!("position,loss,draw,win,gammon\n{rows}")).unwrap();
    let output = desk.run(&train);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.contains("note: rows.csv: ignores the column gammon"), "{said}");
}
