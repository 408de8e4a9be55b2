//! Regret networks: results, exact resumption, and refusals.

use crate::common::{StopAt, at, evaluate, finished, parse, state, train, value};
use adept_arena::cfr::{Decisions, Policy, Tree};
use adept_arena::{Decision, open};
use adept_builtin::liars_dice::LiarsDice;
use adept_game::Game;
use adept_lab::measure::{EvaluateOptions, Suite};
use adept_model::Head;
use adept_trainer::config::{Config, Source};
use adept_trainer::run::{Cancel, Silent, TrainOptions};
use std::path::Path;
use std::sync::Arc;

/// A game with one three-sided die each: 384 decisions.
const SMALL: &str = r#"
name = "small"
[game]
rules = "liars-dice:openspiel:1-1:3"
encoder = "bids:1-1:3"
[architecture.mlp]
hidden = [32]
activation = "relu"
output = "linear"
[learn]
rate = { from = 0.004, to = 0.0001 }
optimiser = "adam"

[learn.regrets]
passes = 20
rows = 256
steps = 20
batch = 64
keep = 200
memory = 20_000
iterations = 60
[evaluate]
every = 20
"#;

fn fault(text: &str, set: &[&str]) -> Result<Config, String> {
    let set = set.iter().map(|s| s.to_string()).collect();
    parse(&Source { file: "small.toml".into(), text: text.into(), set }).map_err(|e| e.message)
}

fn config(set: &[&str]) -> Config {
    fault(SMALL, set).unwrap_or_else(|e| panic!("{e}"))
}

/// Best responses win .49 against uniform play. A run, `evaluate`, and the checkpoint as an agent measure the same
/// exploitability.
#[test]
fn networks_that_learn_regrets_come_near_an_equilibrium() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let record = finished(&config(&[]), 1, &run);
    let found = record.r#final.and_then(|score| score.exploitability).expect("it is measured");
    assert!(found < 0.05, "{found}");
    // A suite that is only measured does not select a checkpoint.
    assert!(record.best.is_none());
    let again =
        evaluate(&run, false, &EvaluateOptions::default()).unwrap().exploitability.expect("the usual suite");
    assert_eq!(again.exploitability, found);
    assert!(again.random > 5.0 * found, "{again:?}");

    let game = LiarsDice::named("liars-dice:openspiel:1-1:3").unwrap();
    let tree = Arc::new(Tree::new(&game).unwrap());
    let path = run.to_str().unwrap();
    let mut agent = open::agent(&game, path).unwrap();
    let policy = Policy::of_agent(&game, &tree, &mut *agent).unwrap();
    assert!((policy.exploitability() - found).abs() < 1e-6);
    assert_eq!(open::open(&game, &run, false).unwrap().1.head, Head::Policy);

    // The explanation is independent of hidden information, and its probabilities are those of its play.
    let thought = |position: &str| value(&run, false, &[position.to_string()], None).unwrap().remove(0);
    let (one, other) = (thought("1/2 @1 1x1"), thought("3/2 @1 1x1"));
    assert!(one.moves.len() == 6 && one.after.is_none() && one.to_move == Some(2));
    for (a, b) in one.moves.iter().zip(&other.moves) {
        assert_eq!((&a.action, &a.explanation, a.probability), (&b.action, &b.explanation, b.probability));
    }
    let shares: Vec<f64> = one.moves.iter().filter_map(|m| m.probability).collect();
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9 && shares.is_sorted_by(|a, b| a >= b));
    let (state, _) = game.parse_position("1/2 @1 1x1").unwrap();
    let (mut actions, mut policy) = (Vec::new(), Vec::new());
    game.actions(&state, &mut actions);
    agent.policy(Decision::new(&game, &state, 1), &actions, &mut policy);
    policy.sort_by(|a, b| b.total_cmp(a));
    shares.iter().zip(&policy).for_each(|(a, b)| assert!((a - b).abs() < 1e-6));
    let file = folder.path().join("positions.txt");
    std::fs::write(&file, "1/2 @1 1x1\n").unwrap();
    let options = EvaluateOptions { positions: Some(file), ..Default::default() };
    let error = evaluate(&run, false, &options).expect_err("logits are not values").to_string();
    assert!(error.contains("policy logits"), "{error}");

    let options = EvaluateOptions { suites: vec![Suite::Matches], samples: Some(2000), ..Default::default() };
    let matches = evaluate(&run, false, &options).unwrap().matches.expect("it was asked for");
    assert!(matches.first.against == "random" && matches.first.score > 0.55, "{matches:?}");
}

#[test]
fn a_run_that_is_stopped_goes_on_to_the_same_bits() {
    let folder = tempfile::tempdir().unwrap();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    // The memory is full long before the end.
    let config = config(&["learn.iterations=30", "learn.regrets.memory=2000", "evaluate.every=10"]);
    finished(&config, 3, &whole);
    for stop in [7, 19, u64::MAX] {
        let cancel = Cancel::default();
        let options = TrainOptions { resume: true, ..at(&parts) };
        train(&config, 3, &options, &StopAt(stop, cancel.clone()), &cancel).expect("it goes on");
    }
    assert_eq!(state(&parts), state(&whole));
    let table = self::config(&["learn.iterations=30", "learn.regrets.table=true", "evaluate.every=10"]);
    let (whole_table, parts) = (folder.path().join("table"), folder.path().join("table parts"));
    finished(&table, 3, &whole_table);
    for stop in [11, u64::MAX] {
        let cancel = Cancel::default();
        let options = TrainOptions { resume: true, ..at(&parts) };
        train(&table, 3, &options, &StopAt(stop, cancel.clone()), &cancel).expect("it goes on");
    }
    assert_eq!(state(&parts), state(&whole_table));
    finished(&config, 4, &folder.path().join("other"));
    assert_ne!(state(&folder.path().join("other")).0, state(&whole).0);
}

#[test]
fn what_cannot_work_is_refused() {
    for (set, says) in [
        (&["learn.iterations=0"][..], "`learn.regrets.iterations`: must lie in 1.."),
        (&["learn.games=100"], "`games` belongs to the section [learn.td]"),
        (&["learn.batch=4"], "`learn.batch`: steps are set in `learn.regrets`"),
        (&["learn.against=random"], "`against` belongs to the section [learn.td]"),
        (&["learn.regrets.reach=1.5"], "`learn.regrets.reach`: must lie in 0..1"),
        (&["architecture.mlp.output=tanh"], "`architecture`: ends in tanh"),
        (&["learn.regrets.steps=0"], "`learn.regrets.steps`: must lie in 1..100000000"),
        (
            &["game.encoder=bids:1-1:4"],
            "`game.encoder`: the encoder `bids:1-1:4` is for games with other dice: write `bids:1-1:3`",
        ),
        (
            &["game.encoder=soar", "evaluate.suites=[\"matches\"]", "game.rules=liars-dice:soar:2x5"],
            "`learn.regrets`: needs a small two-player game",
        ),
        (&["evaluate.suites=[\"equity\"]"], "has no best play to compare with"),
    ] {
        let message = fault(SMALL, set).expect_err(says);
        assert!(message.contains(says), "{message}");
    }
    let lookup = SMALL.replace(
        "[architecture.mlp]\nhidden = [32]\nactivation = \"relu\"\noutput = \"linear\"",
        "[architecture.hme]\nexperts = 2\nexpert.mlp = { hidden = [3] }",
    );
    let message = fault(&lookup, &[]).expect_err("an HME learns by likelihood");
    assert!(message.contains("an architecture `hme`"), "{message}");
    let folder = tempfile::tempdir().unwrap();
    let large = config(&["game.rules=liars-dice:openspiel:3-3:6", "game.encoder=bids:3-3:6"]);
    let error =
        train(&large, 1, &at(folder.path().join("run")), &Silent, &Cancel::default()).expect_err("too large");
    assert!(error.to_string().contains("too many to measure exactly"), "{error}");
}

fn decisions(encoder: &str) -> Result<Decisions, open::OpenError> {
    let game = LiarsDice::named("liars-dice:openspiel:1-1:3").expect("a game");
    Decisions::of(&game, &*open::encoder(&game, Some(encoder))?)
}

/// Another method on the same rows, with the same measurement: greedy play is far from an equilibrium.
#[test]
fn exploitability_measures_any_run_in_a_small_game() {
    let folder = tempfile::tempdir().unwrap();
    let (before, _) = SMALL.split_once("[learn.regrets]").unwrap();
    let text = format!("{before}[learn.td]\ngames = 2000\n");
    let config = fault(&text, &["evaluate.every=1000", "learn.lambda=1.0"]).unwrap_or_else(|e| panic!("{e}"));
    let record = finished(&config, 1, &folder.path().join("run"));
    let found = record.r#final.and_then(|score| score.exploitability).expect("the usual suite");
    let all = decisions("bids:1-1:3").unwrap();
    assert_eq!(all.len(), 3 * (1 << 6));
    assert!(found > 0.1 && found <= 1.0, "{found}");
    let bad = decisions("bids:1-1:5").err().expect("another game");
    assert!(bad.to_string().contains("bids:1-1:3"), "{bad}");
    assert!(Path::new(&folder.path().join("run/config.toml")).exists());
}
