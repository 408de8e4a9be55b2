//! The head `outcomes`: learning, resumption, readout and refusals.

use crate::common::measure::{EvaluateOptions, Report};
use crate::common::{StopAt, at, evaluate, finished, parse, state, train, value};
use adept_model::checkpoint::{self, locate};
use adept_trainer::config::{Config, Source};
use adept_trainer::run::{Cancel, Silent, TrainOptions};
use std::fs;
use std::path::Path;

/// Tic-tac-toe by self-play.
const TICTACTOE: &str = r#"
name = "outcomes"
head = "outcomes"
[game]
rules = "tictactoe"
encoder = "fields"
[architecture.mlp]
hidden = [40]
[learn]
rate = { from = 0.02, to = 0.001 }
[learn.td]
games = 40_000
lambda = 0.5
explore = 0.2
"#;

/// A small bear-off by exact expectation, from a formula that a network corrects.
const BEAROFF: &str = r#"
name = "outcomes"
head = "outcomes"
[game]
rules = "bearoff:3"
encoder = "race+bits+prior:convolution"
[architecture.residual.net.mlp]
hidden = [8]
output = "linear"
init = 0.1
[learn]
batch = 32
optimiser = "adam"
rate = { from = 0.003, to = 0.0001 }
"#;

fn config(text: &str, set: &[&str]) -> Config {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    parse(&Source { file: "test.toml".into(), text: text.into(), set }).unwrap_or_else(|e| panic!("{e}"))
}

fn refusal(text: &str, set: &[&str]) -> String {
    let set = set.iter().map(|s| (*s).to_string()).collect();
    parse(&Source { file: "test.toml".into(), text: text.into(), set }).unwrap_err().to_string()
}

fn report(run: &Path) -> Report {
    evaluate(run, false, &EvaluateOptions { samples: Some(300), ..Default::default() }).unwrap()
}

#[test]
fn a_learner_that_looks_ahead_learns_and_repeats() {
    let folder = tempfile::tempdir().unwrap();
    for (name, head, search) in [("plies", "outcomes", "3"), ("positions", "value", "60n")] {
        let head = format!("head=\"{head}\"");
        let search = format!("learn.td.search=\"{search}\"");
        let set = [
            head.as_str(),
            "learn.td.games=4000",
            "learn.batch=8",
            "learn.td.workers=2",
            "learn.rate=0.01",
            &search,
        ];
        let config = config(TICTACTOE, &set);
        let whole = folder.path().join(name);
        let figure = finished(&config, 1, &whole).r#final.unwrap().figure();
        assert!(figure > 0.3, "{name}: equity {figure}");
        let parts = folder.path().join(format!("{name}-parts"));
        let cancel = Cancel::default();
        train(&config, 1, &at(&parts), &StopAt(1000, cancel.clone()), &cancel).unwrap();
        let resumed = TrainOptions { resume: true, threads: 1, ..at(&parts) };
        train(&config, 1, &resumed, &Silent, &Cancel::default()).unwrap();
        assert!(state(&parts) == state(&whole), "{name}: another network");
    }
}

#[test]
fn a_search_that_cannot_be_is_refused() {
    for (set, reason) in [
        ("learn.td.search=\"100ms\"", "must not depend on the machine"),
        ("learn.td.search=\"0\"", "a search takes 1 to"),
        ("learn.td.search=\"deep\"", "write `search:4:AGENT`"),
        ("learn.td.search=\"100n\"", "searched to a fixed depth"),
    ] {
        let error = refusal(TICTACTOE, &[set]);
        assert!(error.contains("learn.td.search") && error.contains(reason), "{error}");
    }
    for other in ["discount=0.9", "rewards=\"steps\""] {
        let method = format!("learn.td={{games=9,search=\"2\",{other}}}");
        let error = refusal(TICTACTOE, &["head=\"value\"", &method]);
        assert!(
            error.contains("learn.td.search") && error.contains("a search values results of games"),
            "{error}"
        );
    }
    let hidden = [
        "game.rules=\"leduc\"",
        "head=\"value\"",
        "evaluate.suites=[\"exploitability\"]",
        "learn.td.search=\"2\"",
    ];
    let text = TICTACTOE.replace("encoder = \"fields\"", "");
    let error = refusal(&text, &hidden);
    assert!(error.contains("learn.td.search") && error.contains("hides information"), "{error}");
}

#[test]
fn self_play_learns_how_games_end() {
    let folder = tempfile::tempdir().unwrap();
    for along in ["own", "both"] {
        let run = folder.path().join(along);
        let record = finished(&config(TICTACTOE, &[&format!("learn.td.along=\"{along}\"")]), 1, &run);
        // Equity against random play; an untrained network has about 0.3.
        let figure = record.r#final.unwrap().figure();
        assert!(figure > 0.8, "{along}: equity {figure}");
        let manifest = checkpoint::manifest(&locate(&run, false).unwrap()).unwrap();
        let names: Vec<&str> = manifest.head.classes().unwrap().iter().map(|c| &*c.name).collect();
        assert_eq!(names, ["loss", "draw", "win"]);
        assert_eq!(manifest.range(), Some([-1.0, 1.0]));
        let found = report(&run).outcomes.expect("a report of outcomes");
        // Returns along one player's decisions learn the results of games in which the opponent errs.
        assert!(along == "own" || found.log_loss < found.log_loss_constant, "{along}: {found:?}");
        assert!((found.classes.iter().map(|c| c.predicted).sum::<f64>() - 1.0).abs() < 1e-4);
        let position = &value(&run, false, &["XX.OO....".into()], None).unwrap()[0];
        assert_eq!(position.classes, ["loss", "draw", "win"]);
        let waiting = position.moves.iter().find(|m| !m.explanation.outcomes.is_empty()).unwrap();
        let p = &waiting.explanation.outcomes;
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!((p[2] - p[0] - waiting.explanation.value).abs() < 1e-5, "{p:?}");
    }
}

#[test]
fn every_architecture_learns_outcomes_of_games() {
    let folder = tempfile::tempdir().unwrap();
    let expert = "expert.mlp = { hidden = [10] }";
    for (name, architecture) in [
        ("hme", format!("architecture.hme = {{ experts = 2, {expert} }}")),
        ("meta_pi", format!("architecture.meta_pi = {{ experts = 2, {expert} }}")),
        ("lookup", "architecture.lookup = { by = \"position\" }".into()),
    ] {
        let (head, rest) = TICTACTOE.split_once("[game]").unwrap();
        let (game, learn) = rest.split_once("[architecture.mlp]\nhidden = [40]").unwrap();
        let text = format!("{head}{architecture}\n[game]{game}{learn}");
        let rate = if name == "lookup" { "learn.rate=0.1" } else { "learn.rate=0.02" };
        let run = folder.path().join(name);
        let record =
            finished(&config(&text, &["learn.td.games=20000", "learn.td.along=\"both\"", rate]), 1, &run);
        let figure = record.r#final.unwrap().figure();
        assert!(figure > 0.7, "{name}: equity {figure}");
        let found = report(&run).outcomes.expect("a report of outcomes");
        // A table is certain after a single visit, so its log loss is large.
        assert!(name == "lookup" || found.log_loss < found.log_loss_constant, "{name}: {found:?}");
        assert!(found.classes.iter().all(|c| (0.0..1.0).contains(&c.predicted)), "{name}: {found:?}");
    }
}

#[test]
fn expectation_and_exact_values_give_distributions() {
    let folder = tempfile::tempdir().unwrap();
    for (name, method) in [
        ("expectation", "[learn.expectation]\nsamples = 30_000\nself_play = 0.5\n"),
        ("supervised", "[learn.supervised]\nsamples = 30_000\n"),
        ("drawn", "[learn.supervised]\nsamples = 30_000\nexamples = 2_000\n"),
    ] {
        let run = folder.path().join(name);
        let config = config(&format!("{BEAROFF}{method}"), &["evaluate.suites=[\"rms\"]"]);
        let mut untrained = config.clone();
        untrained.learn.set_length(32);
        let before = finished(&untrained, 1, &folder.path().join(format!("{name}-before")));
        let after = finished(&config, 1, &run);
        let (before, after) = (before.r#final.unwrap().figure(), after.r#final.unwrap().figure());
        assert!(after < 0.6 * before, "{name}: RMS {before}, then {after}");
        let found = report(&run).outcomes.expect("a report of outcomes");
        assert!(found.from.contains("exact values"), "{}", found.from);
        assert!(found.log_loss - found.log_loss_least < 0.02, "{name}: {found:?}");
    }
}

#[test]
fn a_file_may_give_probabilities() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("examples.csv");
    let game = adept::connect_four::ConnectFour;
    let start = "position,loss,draw,win\n";
    let read = |row: &str| {
        fs::write(&file, format!("{start}{row}\n")).unwrap();
        adept::prelude::Kit::files(&game).read_examples(&game, &file)
    };
    let moves = "4444";
    let found = &read(&format!("{moves},0.5,0.3,0.2")).unwrap()[0];
    // The file is for the player to move; this is for the one who has just moved.
    assert_eq!(found.outcomes, [0.2, 0.3, 0.5]);
    assert!((found.value - 0.3).abs() < 1e-12);
    for (row, why) in [("0.5,0.3,0.3", "add up to 1.1"), ("0.5,0.6,-0.1", "not a probability")] {
        let error = read(&format!("{moves},{row}")).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    // A column of values remains the value, with some or all class columns.
    for (columns, known) in [("value,draw", 0), ("value,loss,draw,win", 3)] {
        let rest = if known == 0 { "0.3" } else { "0.5,0.3,0.2" };
        fs::write(&file, format!("position,{columns}\n{moves},-0.25,{rest}\n")).unwrap();
        let found = &adept::prelude::Kit::files(&game).read_examples(&game, &file).unwrap()[0];
        assert_eq!((found.value, found.outcomes.len()), (0.25, known));
    }
}

/// A run that is killed and resumed, with samples played ahead, gives the same bits.
#[test]
fn runs_resume_exactly() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(
        TICTACTOE,
        &["learn.td.games=6000", "learn.batch=16", "learn.td.workers=2", "learn.td.overlap=true"],
    );
    let (whole, parted) = (folder.path().join("whole"), folder.path().join("parted"));
    finished(&config, 3, &whole);
    let cancel = Cancel::default();
    let stopped = train(&config, 3, &at(&parted), &StopAt(2_000, cancel.clone()), &cancel).unwrap();
    assert!(!stopped.1.finished);
    let resume = TrainOptions { resume: true, ..at(&parted) };
    assert!(train(&config, 3, &resume, &Silent, &Cancel::default()).unwrap().1.finished);
    assert!(state(&whole) == state(&parted));
}

#[test]
fn what_outcomes_cannot_do_is_refused_with_the_reason() {
    let said = |set: &[&str], words: &[&str]| {
        let error = refusal(TICTACTOE, set);
        assert!(words.iter().all(|word| error.contains(word)), "{set:?}: {error}");
    };
    said(&["learn.td.rewards=\"steps\""], &["learn.td.rewards", "no class"]);
    said(&["learn.td.discount=0.9"], &["learn.td.discount", "add up to 1"]);
    said(&["learn.td.clip=0.9"], &["learn.td.clip", "softmax"]);
    said(&["learn.td.traces=\"online\""], &["learn.td.traces", "backward"]);
    said(&["architecture.mlp.output=\"sigmoid\""], &["architecture.mlp.output", "softmax"]);
    said(&["head=\"outcome\""], &["outcomes"]);
    for game in ["kuhn", "liars-dice", "holdem:limit:2"] {
        let text = TICTACTOE.replace("encoder = \"fields\"\n", "");
        let error = refusal(&text, &[&format!("game.rules=\"{game}\"")]);
        assert!(error.contains("head") && error.contains(':'), "{game}: {error}");
    }
}
