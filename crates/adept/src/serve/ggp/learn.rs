//! What plays a game that has just been told: a run that knows its rules, a network that learns them now, or random games.

use super::play::{Chooser, Terms};
use adept_builtin::gdl::Described;
use adept_console::output::say;
use adept_game::{Game, Kit};
use adept_ground::files::{FileError, Files};
use adept_lab::template::template;
use adept_trainer::config::{One, Source, parse};
use adept_trainer::run::{Cancel, Silent, TrainOptions, record_of, train};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Where rules are kept for runs that learned them.
const RULES: &str = "checkpoints/ggp";
/// Where runs are.
const RUNS: &str = "checkpoints/runs";
/// Seconds of the start clock without which nothing is learned.
const LEAST: f64 = 2.0;
/// Share of the time that is left for learning: the rest is for the last checkpoint.
const SHARE: f64 = 0.85;
/// What differs from the starter config. How many games there will be is not known, so nothing changes along the run.
const SETTINGS: [&str; 6] = [
    "learn.rate=0.002",
    "learn.td.games=100_000_000",
    "learn.td.explore=0.2",
    "evaluate.every=100_000_000",
    "evaluate.suites=[\"matches\"]",
    "evaluate.games=2",
];

/// The best that there is for a game whose rules have just been read.
///
/// # Errors
/// If what was found or learned cannot be opened.
pub(super) fn best(game: &Described, rules: &str, terms: &Terms, until: Instant) -> Result<Chooser, String> {
    let print = game.fingerprint().unwrap_or_default();
    if let Some((run, name)) = known(&print) {
        say(format!("plays by {}, which knows these rules", run.display()));
        return by_run(&name, rules, &run);
    }
    let left = until.saturating_duration_since(Instant::now()).as_secs_f64() * SHARE;
    if !terms.learn || left < LEAST {
        return Chooser::clock(game);
    }
    match learned(&print, rules, terms.seed, left) {
        Ok((run, name)) => by_run(&name, rules, &run),
        Err(why) => {
            say(format!("nothing was learned: {why}"));
            Chooser::clock(game)
        }
    }
}

/// A run that learned these rules, and the name that the game has there.
fn known(print: &str) -> Option<(PathBuf, String)> {
    let runs = std::fs::read_dir(RUNS).ok()?.flatten().map(|entry| entry.path());
    let mut runs: Vec<(PathBuf, String)> = runs
        .filter_map(|run| {
            let record = record_of(&run).ok()??;
            let knows = record.rules.as_deref() == Some(print) && record.latest.is_some();
            knows.then_some((run, record.config.game.rules))
        })
        .collect();
    runs.sort();
    runs.pop()
}

/// Looks ahead by the network of a run, or plays by it where one cannot look ahead.
fn by_run(name: &str, rules: &str, run: &Path) -> Result<Chooser, String> {
    let game = Described::read(name, rules).map_err(|e| e.to_string())?;
    let run = run.display().to_string();
    let prefix = if game.hides() || game.players() > 2 { "" } else { "search:clock:" };
    Chooser::named(&game, &format!("{prefix}{run}"))
}

/// Learns for so many seconds.
fn learned(print: &str, rules: &str, seed: u64, seconds: f64) -> Result<(PathBuf, String), String> {
    let short = &print[..print.len().min(12)];
    let path = format!("{RULES}/{short}.kif");
    keep(Path::new(&path), rules).map_err(|e| e.to_string())?;
    let name = format!("file:{path}");
    let games = One(Described::read(&name, rules).map_err(|e| e.to_string())?);
    let text = template(&name, None, &games).map_err(|e| e.to_string())?;
    let settings = SETTINGS.iter().map(|set| set.to_string()).chain([format!("name=\"ggp-{short}\"")]);
    let source = Source { file: "the config of the run".into(), text, set: settings.collect() };
    let config = parse(&source, &games).map_err(|e| e.to_string())?;
    let options = TrainOptions { max_seconds: Some(seconds), resume: true, ..TrainOptions::default() };
    let (run, record) =
        train(&games.0, &config, seed, &options, &Silent, &Cancel::default()).map_err(|e| e.to_string())?;
    say(format!("learned from {} games in {:.0} s: {}", record.step, record.seconds, run.display()));
    Ok((run, name))
}

/// Writes rules to a file, in a folder that need not exist yet.
fn keep(path: &Path, rules: &str) -> Result<(), FileError> {
    let files = Files::default();
    if let Some(folder) = path.parent() {
        files.create_folder(folder)?;
    }
    files.replace(path, rules.as_bytes())
}
