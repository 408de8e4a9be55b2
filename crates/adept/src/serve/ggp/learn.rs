//! Chooses a player for new rules: a run that learned them before, a network that learns them now, or random games.

use super::chooser::{Chooser, Stop};
use adept_builtin::gdl::Described;
use adept_console::output::say;
use adept_game::Game;
use adept_ground::files::{FileError, Files};
use adept_lab::template::template;
use adept_trainer::config::{One, Source, parse};
use adept_trainer::run::{Record, Silent, TrainOptions, record_of, train};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Folder of rules that runs have learned.
const RULES: &str = "checkpoints/ggp";
/// Folder of runs.
const RUNS: &str = "checkpoints/runs";
/// Shortest start clock, in seconds, that allows learning.
const LEAST: f64 = 2.0;
/// Share of the remaining time for learning: the rest is for the last checkpoint.
const SHARE: f64 = 0.85;
/// Seconds of learning, over all matches, after which a network that still learns is preferred to random games.
const ENOUGH: f64 = 5.0;
/// Changes to the starter config. The number of games is not known in advance, so no setting depends on progress, and
/// nothing is measured before the end.
const SETTINGS: [&str; 5] = [
    "learn.td.games=100_000_000",
    "learn.td.explore=0.2",
    "evaluate.every=100_000_000",
    "evaluate.suites=[\"matches\"]",
    "evaluate.games=2",
];

/// The best player for new rules: the run that has learned these rules longest, with `learn` until `until`. Without
/// `learn` only finished runs count: a network trained for seconds is worse than tree search. None if random games are
/// best.
pub(super) fn best(
    game: &Described,
    rules: &str,
    (learn, seed): (bool, u64),
    until: Instant,
    stop: &Stop,
) -> Option<Chooser> {
    let print = adept_game::fingerprint(game).unwrap_or_default();
    let left = until.saturating_duration_since(Instant::now()).as_secs_f64() * SHARE;
    if learn && left >= LEAST {
        match learned(&print, rules, seed, left, stop) {
            Ok(record) => {
                let run = record.0.display();
                say(format!("learned from {} games in {:.0} s: {run}", record.1.step, record.1.seconds));
            }
            Err(why) => say(format!("nothing was learned: {why}")),
        }
    }
    if stop.thought.load(Ordering::Relaxed) {
        return None;
    }
    // The run that has learned longest comes first. One that cannot be opened must not lose the match.
    known(&print, learn).into_iter().find_map(|(run, record)| match by_run(&record, rules, &run, stop) {
        Ok(chooser) => {
            say(format!("plays by {}, which knows these rules", run.display()));
            Some(chooser)
        }
        Err(why) => {
            say(format!("{}: {why}", run.display()));
            None
        }
    })
}

/// The runs that learned these rules, longest first; with `learn`, including unfinished ones.
fn known(print: &str, learn: bool) -> Vec<(PathBuf, Record)> {
    let runs = std::fs::read_dir(RUNS).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut runs: Vec<(PathBuf, Record)> = runs
        .filter_map(|run| {
            let record = record_of(&run).ok()??;
            let knows = record.rules.as_deref() == Some(print) && record.latest.is_some();
            let is_fit = record.finished || learn && record.seconds >= ENOUGH;
            (knows && is_fit).then_some((run, record))
        })
        .collect();
    runs.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds).then_with(|| a.0.cmp(&b.0)));
    runs
}

/// Searches with the network of a run, or plays without a search where none is possible.
fn by_run(record: &Record, rules: &str, run: &Path, stop: &Stop) -> Result<Chooser, String> {
    // Checkpoints are opened by the game's name in their run.
    let game =
        Described::read_until(&record.config.game.rules, rules, &stop.thought).map_err(|e| e.to_string())?;
    let run = run.display().to_string();
    let looks_ahead = !game.hides() && (game.zero_sum() || game.players() == 1);
    Chooser::named(&game, &format!("{}{run}", if looks_ahead { "search:clock:" } else { "" }))
}

/// Learns for the given number of seconds, resuming an earlier run.
fn learned(
    print: &str,
    rules: &str,
    seed: u64,
    seconds: f64,
    stop: &Stop,
) -> Result<(PathBuf, Record), String> {
    let short = &print[..print.len().min(12)];
    let path = format!("{RULES}/{short}.kif");
    keep(Path::new(&path), rules).map_err(|e| e.to_string())?;
    let name = format!("file:{path}");
    let games = One(Described::read_until(&name, rules, &stop.thought).map_err(|e| e.to_string())?);
    let text = template(&name, None, &games).map_err(|e| e.to_string())?;
    let mut settings: Vec<String> = SETTINGS.iter().map(|set| set.to_string()).collect();
    settings.push(format!("name=\"ggp-{short}\""));
    if text.contains("optimiser") {
        settings.push("learn.rate=0.002".into());
    }
    if games.0.players() > 1 {
        settings.push("evaluate.against=[\"random\"]".into());
    }
    let source = Source { file: "the config of the run".into(), text, set: settings };
    let config = parse(&source, &games).map_err(|e| e.to_string())?;
    let options = TrainOptions { max_seconds: Some(seconds), resume: true, ..TrainOptions::default() };
    train(&games.0, &config, seed, &options, &Silent, &stop.learning).map_err(|e| e.to_string())
}

/// Writes rules to a file and creates its folder.
fn keep(path: &Path, rules: &str) -> Result<(), FileError> {
    let files = Files::default();
    if let Some(folder) = path.parent() {
        files.create_folder(folder)?;
    }
    files.replace(path, rules.as_bytes())
}
