//! What tests of runs share.

// Each test file compiles its own copy and uses what it needs.
#![allow(dead_code)]

use adept_trainer::config::{Config, Source, parse};
use adept_trainer::run::{Cancel, Event, Init, Observer, Record, Silent, TrainOptions, train};
use std::fs;
use std::path::{Path, PathBuf};

/// A perceptron.
pub(crate) const MLP: &str = "mlp]\nhidden = [20]\nsensitivity = 3.0";

/// Tensors, training state, metrics.
pub(crate) type State = (Vec<adept_model::Tensor>, serde_json::Value, Vec<serde_json::Value>);

pub(crate) fn config(architecture: &str, learn: &str) -> Config {
    let text = format!(
        "name = \"test\"\n[game]\nrules = \"tictactoe\"\n[architecture.{architecture}\n[learn]\nagainst = \"ttt\"\n{learn}\n"
    );
    parse(&Source { file: "test.toml".into(), text, set: vec![] }).unwrap_or_else(|e| panic!("{e}"))
}

pub(crate) fn at(path: impl Into<PathBuf>) -> TrainOptions {
    TrainOptions { out: Some(path.into()), ..Default::default() }
}

/// The weights of that run or checkpoint.
pub(crate) fn from(path: &Path) -> Vec<Init> {
    vec![Init { part: None, path: path.into() }]
}

pub(crate) fn finished(config: &Config, seed: u64, path: &Path) -> Record {
    train(config, seed, &at(path), &Silent, &Cancel::default()).expect("the run ends").1
}

/// Everything that learning decides: tensors of the latest checkpoint, generators and counters, and the metrics
/// without their times.
pub(crate) fn state(run: &Path) -> State {
    let latest = adept_model::checkpoint::locate(run, false).unwrap();
    let checkpoint = adept_model::checkpoint::read(&latest).unwrap();
    let lines = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let metrics = lines
        .lines()
        .map(|line| {
            let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
            line.as_object_mut().unwrap().remove("seconds");
            line
        })
        .collect();
    (checkpoint.tensors, checkpoint.manifest.training.unwrap(), metrics)
}

/// Asks the run to stop when it has played that many games.
pub(crate) struct StopAt(pub(crate) u64, pub(crate) Cancel);

impl Observer for StopAt {
    fn event(&self, _: u64, event: Event<'_>) {
        if let Event::Progress { step, .. } = event
            && step >= self.0
        {
            self.1.cancel();
        }
    }
}
