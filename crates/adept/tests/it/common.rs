//! Helpers for tests of runs: the functions behind commands, with the built-in games.

pub(crate) mod measure;

use adept::{Builtin, Catalogue};
use adept_lab::files::Kind;
use adept_lab::seeds::{SeedResult, Seeds};
use adept_lab::sweep::{Grid, Sweep, SweepError, SweepOptions, SweepWatch};
use adept_lab::tournament::{self, Standings, Tournament, TournamentOptions};
use adept_trainer::config::{self, Config, ConfigError, Source};
use adept_trainer::run::{
    Cancel, Event, Init, Observer, Record, RunEstimate, Silent, TrainError, TrainOptions,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(crate) use measure::{evaluate, value};

pub(crate) fn parse(source: &Source) -> Result<Config, ConfigError> {
    config::parse(source, &Builtin)
}

pub(crate) fn load_any(path: &Path, set: &[String]) -> Result<Kind, ConfigError> {
    adept_lab::files::load_any(path, set, &Builtin)
}

pub(crate) fn template(game: &str) -> Option<String> {
    adept::lab::template::template(game, None, &Builtin).ok()
}

pub(crate) fn train(
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Result<(PathBuf, Record), TrainError> {
    Builtin.find(&config.game.rules)?.train(config, seed, options, observer, cancel)
}

pub(crate) fn estimate(
    config: &Config,
    seed: u64,
    options: &TrainOptions,
    trial: Duration,
) -> Result<RunEstimate, TrainError> {
    Builtin.find(&config.game.rules)?.estimate(config, seed, options, trial)
}

pub(crate) fn train_seeds(
    config: &Config,
    seeds: Seeds,
    options: &TrainOptions,
    observer: &dyn Observer,
    cancel: &Cancel,
) -> Vec<SeedResult> {
    let game = Builtin.find(&config.game.rules).expect("a built-in game");
    adept_lab::seeds::train_seeds(&*game, config, seeds, options, observer, cancel)
}

pub(crate) fn sweep(
    grid: &Grid,
    seeds: Seeds,
    options: &SweepOptions,
    watch: &SweepWatch<'_>,
    cancel: &Cancel,
) -> Result<Sweep, SweepError> {
    adept_lab::sweep::sweep(&Builtin, grid, seeds, options, watch, cancel)
}

pub(crate) fn tournament(
    plan: &Tournament,
    options: &TournamentOptions,
    watch: &dyn Fn(tournament::TournamentEvent<'_>),
    cancel: &Cancel,
) -> Result<Standings, TrainError> {
    tournament::tournament(&Builtin, plan, options, watch, cancel)
}

/// Self-play of the bear-off.
pub(crate) const BEAROFF_BY_SELF_PLAY: &str = r#"
name = "my-bearoff"
[game]
rules = "bearoff"
encoder = "bits"
[architecture.mlp]
hidden = [80]
[learn]
rate = { from = 0.01, to = 0.0001 }
[learn.td]
games = 100_000
lambda = 0.7
explore = { from = 0.2, to = 0.02 }
"#;

/// A multilayer perceptron.
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

/// Initial weights from this run or checkpoint.
pub(crate) fn from(path: &Path) -> Vec<Init> {
    vec![Init { part: None, path: path.into() }]
}

pub(crate) fn finished(config: &Config, seed: u64, path: &Path) -> Record {
    train(config, seed, &at(path), &Silent, &Cancel::default()).expect("the run ends").1
}

/// The complete learning state: tensors of the latest checkpoint, generators and counters, and the metrics without
/// times.
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

/// Stops the run after this many games.
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
